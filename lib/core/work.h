/*
 * The worker's core: what it was assigned, which run has which slot, what it printed and is owed,
 * DONEs not yet confirmed, cancel, recall, time limits, the return after a lost link.
 * One scheduler, one link at a time.
 *
 * The numbers of runs in SC_FX_RUN (msg.assign.run), SC_FX_STOP, SC_FX_READ_MORE, SC_EV_RAN and
 * SC_EV_OUTPUT are the worker's own and stay the same for a run's life, while a KEEP may change the
 * scheduler's.  They are those of the ASSIGN unless a run kept from another epoch has that number.
 * Every SC_FX_RUN is answered by exactly one SC_EV_RAN, also after SC_FX_CLOSED, or by SC_EV_BACK.
 *
 * A run whose thread waits for others gives its slot and its cpu to them, and nothing else (work_wait.c).  What can go
 * on does so before anything new is started.
 *
 * When runs are short, the next ones are told to the shell before there is a slot for them.  It has as many slots as
 * the core, begins runs in the order in which it was told, each as soon as a slot is free, and tells ends in the order
 * in which they came; so the core knows which have begun.  What has not may be taken back: it is nobody's but the
 * worker's, and no slot's.
 */
#ifndef SC_WORK_H
#define SC_WORK_H

#include "core.h"

struct sc_mem;
struct sc_work;

enum { SC_OFFERED_MAX = 128 }; /* runs told to the shell ahead of their slots */

struct sc_work_options {
        uint64_t       id; /* random, not 0 */
        uint32_t       slots;         /* 1 .. SC_SLOTS_MAX */
        int32_t        prefetch;      /* 0: adaptive 1 .. SC_PREFETCH_MAX; > 0: so many; -1: none */
        uint64_t       output_window; /* bytes one run may have sent and not confirmed, or held; 0: 256 KiB */
        sc_ns          keep;          /* how long running tasks outlive a lost link; 0: 60 s */
        sc_ns          kill_grace;    /* between SIGTERM and SIGKILL, asked and abandoned; 0: 5 s */
        sc_ns          give_up;       /* without a scheduler for so long: GIVE_UP; 0 or SC_NEVER: never */
        sc_ns          now;
        struct sc_view name, tenant, token;
        struct sc_view offers;        /* canonical, a cpu in it with an amount; copied */
        const struct sc_view *functions; /* copied */
        uint32_t              function_count;
};

struct sc_held { /* by a run that says what it needs */
        struct sc_view name;
        uint64_t       thousandths; /* 0: a capability */
        uint64_t       indices;     /* bit set; 0: it has none */
};

struct sc_work_stats {
        uint32_t slots, running, queued, unconfirmed, abandoned;
        uint32_t waiting; /* of those that run, for others */
        uint64_t done, failed, cancelled;
        uint64_t released; /* runs that had begun and were given back, to leave without them */
};

struct sc_work *sc_work_create(struct sc_mem *mem, const struct sc_work_options *options);
void            sc_work_destroy(struct sc_work *w);
void            sc_work_step(struct sc_work *w, const struct sc_event *ev, struct sc_out *out);
sc_ns           sc_work_deadline(const struct sc_work *w);
/* The HELLO for a new link, and the credit that rides with it; lent until the next step. */
void            sc_work_hello(struct sc_work *w, struct sc_hello *out, uint32_t *grant_tasks);
/* Of the run of an SC_FX_RUN whose spec has a plan, until its SC_EV_RAN. */
uint32_t        sc_work_held(const struct sc_work *w, uint64_t run, struct sc_held out[SC_AMOUNTS_MAX]);
bool            sc_work_brisk(const struct sc_work *w);  /* its runs have been so short that the next are told ahead */
uint32_t        sc_work_queued(const struct sc_work *w); /* runs that wait for a slot */
uint32_t        sc_work_to_park(const struct sc_work *w); /* runs that wait for others, not yet known to have begun */
bool            sc_work_waited_for(const struct sc_work *w); /* some run waits for others */
/* What the scheduler calls a run that goes on: its number; 0 as long as nobody has claimed it.  False: nobody waits for
 * it any more. */
bool            sc_work_names(const struct sc_work *w, uint64_t run, uint64_t *number);
void            sc_work_stats(const struct sc_work *w, struct sc_work_stats *out);
void            sc_work_check(const struct sc_work *w);

#endif
