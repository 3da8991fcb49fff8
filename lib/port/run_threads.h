/*
 * Slot threads: run functions one at a time each, away from the turn.  Jobs are handed over many at a time and begin
 * in that order, each as soon as a slot is free; a job's end frees its slot unless it says otherwise.  Ends are told
 * in a turn, in the order in which they came, as many as there are by then; the slot thread that has the first of
 * them posts (and may turn).  A job that such a turn hands over is taken by that same thread without a sleep in
 * between.  A job that waits for others may give its slot to them meanwhile: then there are more threads than slots,
 * with small stacks, which are kept for the next time.  All signals are blocked in slot threads, so the host's handlers
 * never run there.
 */
#ifndef SC_RUN_THREADS_H
#define SC_RUN_THREADS_H

#include "loop.h"

enum { SC_SLOTS_STACK = 256 * 1024 };

struct sc_slots;

struct sc_job { /* embedded in the worker's task object */
        bool (*work)(struct sc_job *job);             /* on a slot thread; false: it keeps its slot, sc_slots_free() */
        void (*ended)(struct sc_job *job, sc_ns now); /* in a turn after work() has returned; the job is its owner's */
        struct sc_list link;                          /* of any list before and after, of the pool's meanwhile */
        sc_ns          began, returned;               /* on the clock; `returned` is there when ended() is called */
};

/* `threads` are started as jobs need them and joined by destroy; `stack` bytes each, 0: the system's.  `parked_max`
 * more for jobs that are parked, with stacks of SC_SLOTS_STACK.  0, SC_E_NOMEM; SC_E_INVALID for no threads at all. */
int  sc_slots_create(struct sc_mem *mem, struct sc_loop *loop, uint32_t threads, size_t stack, uint32_t parked_max,
                     struct sc_slots **out);
/* Waits for running jobs; all ends have been told when it returns.  Jobs that have not begun are dropped: neither run
 * nor told, they are their owner's again.  Not on a slot thread and not in a turn. */
void sc_slots_destroy(struct sc_slots *slots);
/* Takes the jobs off the list.  0, or SC_E_NOMEM/SC_E_IO when no thread could be started: the list has those left that
 * were not taken.  More jobs than slots wait. */
int  sc_slots_submit(struct sc_slots *slots, struct sc_list *jobs);
/* True: the job had not begun and is its owner's again.  In the turn that submitted it, or a later one. */
bool sc_slots_take_back(struct sc_slots *slots, struct sc_job *job);
void sc_slots_free(struct sc_slots *slots); /* a slot that its job had kept */
/* [in a turn] May a job be parked, and somebody be there for its slot?  False: no thread could be started.  `more`
 * others have been told so and are not parked yet. */
bool sc_slots_may_park(struct sc_slots *slots, uint32_t more);
void sc_slots_park(struct sc_slots *slots);   /* [in a turn] a job at work waits: another one may begin */
void sc_slots_unpark(struct sc_slots *slots); /* [in a turn] it goes on: the caller knows that a slot is free */

#endif
