/*
 * Drain, of a worker and of the scheduler itself: what is remembered of it, and the calls.  A worker
 * that drains gets nothing more; `draining` of its row says so to whoever asks.
 */
#ifndef SC_SCHED_DRAIN_H
#define SC_SCHED_DRAIN_H

#include "core.h"
#include "sc_list.h"

enum { SCHED_DRAINS_KEPT = 1024 }; /* workers that have left, of which is known how, for who asks again */

struct sc_sched;
struct sched_link;
struct sched_worker;

/* An admin that waits until a worker has left, or the scheduler stops. */
struct sched_drain {
        struct sc_list    link;
        sc_link_id        admin;
        struct sc_drained answer; /* so far its ticket and worker, then all */
        char              name[SC_NAME_MAX + 1];
};

enum sched_leave_count { SCHED_FINISHED, SCHED_RETURNED, SCHED_RELEASED, SCHED_LEAVE_COUNTS };

struct sched_leave { /* of a worker that drains */
        struct sc_list asks;
        sc_ns          since;
        uint32_t       count[SCHED_LEAVE_COUNTS]; /* runs */
};

/* SERVES -begin-> DRAINS -nothing is left, or late-> PARTS -all are told-> OVER */
enum sched_stop_phase { SCHED_SERVES, SCHED_DRAINS, SCHED_PARTS, SCHED_OVER };

struct sched_stop { /* of the scheduler */
        struct sc_list asks, answers, told; /* answers: to be sent; told: sent in this step, */
        struct sc_list kept;                /* or before, about workers, the latest last */
        sc_ns          since, late_at;
        uint32_t       kept_count;
        uint32_t       client, worker; /* places in the tables up to which grants are taken back, and runs asked back */
        uint8_t        phase;
};

void sc_sched_drains_init(struct sc_sched *s);
void sc_sched_drains_fini(struct sc_sched *s);
void sc_sched_drains_bury(struct sc_sched *s); /* what this step's effects no longer lend */
void sc_sched_drains_drop(struct sc_sched *s, sc_link_id admin);
void sc_sched_drains_run(struct sc_sched *s, struct sc_out *out); /* at the end of a step */

void sc_sched_on_drain(struct sc_sched *s, struct sched_link *l, const struct sc_drain *m, struct sc_out *out);
void sc_sched_leaves(struct sc_sched *s, struct sched_worker *w); /* it is to, or says so itself */
void sc_sched_left(struct sc_sched *s, struct sched_worker *w, bool in_order);
void sc_sched_leave_count(struct sched_worker *w, enum sched_leave_count what);

void  sc_sched_stop_begin(struct sc_sched *s, uint64_t deadline_ms); /* 0: none */
void  sc_sched_stop_now(struct sc_sched *s);
bool  sc_sched_is_stopping(const struct sc_sched *s); /* admits and places nothing more */
sc_ns sc_sched_stop_deadline(const struct sc_sched *s);
void  sc_sched_drains_check(const struct sc_sched *s);

#endif
