/*
 * Slot threads: run functions one at a time each, away from the turn.  A job is handed over when
 * the worker's core has a slot for it; when it returns, the slot thread posts it back (and may turn).
 * A job that such a turn hands over is taken by that same thread without a sleep in between.
 * All signals are blocked in slot threads, so the host's handlers never run there.
 */
#ifndef SC_RUN_THREADS_H
#define SC_RUN_THREADS_H

#include "loop.h"

struct sc_slots;

struct sc_job { /* embedded in the worker's task object */
        struct sc_post post;               /* its run() is called in a turn after work() has returned */
        void (*work)(struct sc_job *job);  /* on a slot thread */
        struct sc_list link;
};

/* `threads` are started as jobs need them and joined by destroy; `stack` bytes each, 0: the system's.
 * 0, SC_E_NOMEM; SC_E_INVALID for no threads at all. */
int  sc_slots_create(struct sc_mem *mem, struct sc_loop *loop, uint32_t threads, size_t stack, struct sc_slots **out);
/* Waits for running jobs, whose posts may still be in the loop's inbox afterwards (sc_loop_unpost).  Jobs that have
 * not begun are dropped: neither run nor posted, they are their owner's again.  Not on a slot thread. */
void sc_slots_destroy(struct sc_slots *slots);
/* 0, or SC_E_NOMEM/SC_E_IO when no thread could be started.  More jobs than threads wait their turn. */
int  sc_slots_submit(struct sc_slots *slots, struct sc_job *job);

#endif
