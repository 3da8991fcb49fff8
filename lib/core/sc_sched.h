/*
 * The scheduler's core: admission, ready queues, placement, workers' joins and leaves, fence,
 * losses and last chance, KEEP and DROP, client epochs, cancel, output relay, queries.
 * States and moves are in task_fsm.h; doc/architecture.md has the pictures.
 */
#ifndef SC_SCHED_H
#define SC_SCHED_H

#include "core.h"

struct sc_mem;
struct sc_sched;

/* One tenant's share and limits.  "" is who names none; "*" every tenant that is not listed, each by itself. */
struct sc_tenant_options {
        struct sc_view name;        /* copied */
        uint32_t       weight;      /* 0: 1,000 */
        uint32_t       queued_max;  /* rows; 0: tasks_max */
        uint32_t       running_max; /* runs at workers; 0: no limit */
};

/* Who gets a task.  SPREAD: the least loaded worker that fits, in runs when the queue is deep and its tasks are short.
 * EVEN_LOAD: strictly the one with the fewest tasks for its slots, one task at a time.  CAPABILITY: the one with the
 * fewest tasks among those that offer what is needed, one at a time, as the names say: amounts are not counted. */
enum sc_allocate { SC_ALLOCATE_SPREAD, SC_ALLOCATE_EVEN_LOAD, SC_ALLOCATE_CAPABILITY };

#define SC_KEYS_NONE UINT32_MAX

struct sc_sched_options {
        uint64_t id, epoch, seed; /* random; epoch != 0 */
        uint32_t tasks_max;       /* rows; 0: 10,000,000 */
        uint64_t bytes_max;       /* of arguments and results held; 0: 1 GiB */
        uint32_t peers_max;       /* links past their hello; 0: 65,536 */
        uint32_t client_tasks_max;/* most rows one client is ever granted; 0: tasks_max */
        uint32_t losses_max;      /* the n-th lost run ends the task; 0: 3 */
        uint32_t silent_ms;       /* told in WELCOME; 0: 10,000 */
        sc_ns    client_grace;    /* how long a client's tasks outlive its link; 0: 60 s; SC_NEVER: for ever */
        sc_ns    claim_delay;     /* resubmitted tasks are not placed in the first part of an epoch; 0: 1 s */
        sc_ns    aging;           /* waiting so long is worth one priority; 0: 60 s; SC_NEVER: nothing is */
        uint32_t keys_kept;       /* ended keys remembered; 0: 100,000; SC_KEYS_NONE: none */
        sc_ns    keys_age;        /* for so long; 0: an hour; SC_NEVER: for ever */
        uint8_t  allocate;        /* enum sc_allocate */
        const struct sc_tenant_options *tenants; /* copied */
        uint32_t tenant_count;    /* at most 1,024 */
        sc_ns    now;
        char     name[SC_NAME_MAX + 1];
};

/* NULL: out of memory. */
struct sc_sched *sc_sched_create(struct sc_mem *mem, const struct sc_sched_options *options);
void             sc_sched_destroy(struct sc_sched *s);
void             sc_sched_step(struct sc_sched *s, const struct sc_event *ev, struct sc_out *out);
sc_ns            sc_sched_deadline(const struct sc_sched *s);
void             sc_sched_stats(const struct sc_sched *s, sc_ns now, struct sc_status_row *out);
/* Walks everything and asserts every invariant; for tests and the simulator. */
void             sc_sched_check(const struct sc_sched *s);
/* For judges: rows that are not free, and the current run of a task (0: none). */
uint32_t         sc_sched_rows(const struct sc_sched *s);
uint64_t         sc_sched_run_of(const struct sc_sched *s, struct sc_id task);
/* Why a task is where it is at that time, and why a worker gets nothing; what the answer lends is in the room.  False:
 * unknown. */
enum { SC_SCHED_EXPLAIN_ROOM = 2048 };
bool sc_sched_explain_task(const struct sc_sched *s, sc_ns now, struct sc_id task, char room[SC_SCHED_EXPLAIN_ROOM],
                           struct sc_task_why *out);
bool sc_sched_explain_worker(const struct sc_sched *s, sc_ns now, uint64_t worker, char room[SC_SCHED_EXPLAIN_ROOM],
                             struct sc_worker_why *out);

#endif
