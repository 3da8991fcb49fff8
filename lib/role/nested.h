/*
 * Tasks that submit tasks.  A task's thread that blocks in this library, on behalf of what it has submitted, gives its
 * slot away meanwhile: it asks for that in a turn of its worker's runtime, and goes on only when the worker's core says
 * so.  What such a thread and the turns share is a *family*: of one run, counted, since futures may outlive it.
 */
#ifndef SC_NESTED_H
#define SC_NESTED_H

#include "future.h"

struct scaler_task;
struct scaler_worker;

struct sc_family {
        _Atomic uint32_t      refs; /* its task, and each future of its tasks */
        struct sc_mem        *mem;
        struct sc_gate       *gate; /* of the client that all tasks of the worker submit with */
        struct scaler_worker *worker;
        const struct scaler_task *task; /* the task's thread's */
        struct sc_id          id;
        uint64_t              handle;
        _Atomic bool          refused; /* too many wait */
        pthread_cond_t        changed; /* with the gate's lock */
        /* the gate's lock */
        uint64_t                    pending;   /* of what it submitted */
        struct sc_list              futures;   /* of that, by their `kin` */
        bool                        wants;     /* to wait, rather than to go on */
        bool                        resumed;   /* it may, and `status` says how it came to that */
        bool                        posted;
        int                         status;
        const struct scaler_future *awaits;    /* wakes the turn's way, with its slot; NULL: ... */
        bool                        awaits_all; /* ... all of its tasks, or it is asleep elsewhere: */
        struct sc_gate             *at_gate;
        struct scaler_queue        *at_queue;
        /* the turn's */
        struct sc_post post;
        bool           told, ripe; /* what the worker's core has been told */
        bool           parked;
        bool           over;       /* its task is */
};

/* ---- on any thread ---------------------------------------------------------------------------------------------- */

struct sc_family *sc_family_ref(struct sc_family *f); /* NULL is fine, here and below */
void              sc_family_unref(struct sc_family *f);
/* Whose task this thread is in; gives what it was.  NULL: none. */
struct scaler_task *sc_task_swap_current(struct scaler_task *t);
/* The family of that task if it has one; NULL: nothing is given away by waiting. */
struct sc_family *sc_family_here(void);
/* For a submit with a worker's client: SC_E_STATE outside of its tasks, SC_E_NOMEM. */
int sc_family_knock(const struct scaler_client *c, scaler_error *err);

/* The family's gate is locked.  0 when the future, or with NULL all of its tasks, has ended; SC_E_TIMEOUT, SC_E_FULL,
 * SC_E_CANCELLED when its own task is to stop. */
int sc_family_await(struct sc_family *f, const struct scaler_future *future, sc_ns until);
/* Any gate or queue is locked: waits as that does, without the slot if this is a task's thread.  After the last of
 * them, and with no lock held, sc_family_back() takes the slot again and says what has become of `status`. */
bool sc_gate_wait_away(struct sc_gate *gate, sc_ns until);
bool sc_family_leaves(struct sc_gate *gate, struct scaler_queue *q, pthread_mutex_t *lock); /* true: look again first */
bool sc_family_must_return(void); /* whoever is away is to stop waiting */
int  sc_family_back(int status);
/* Locked.  It is submitted, and counts as so many. */
void sc_family_add(struct sc_family *f, struct scaler_future *future, uint64_t count);

/* ---- in a turn -------------------------------------------------------------------------------------------------- */

void sc_family_ended(struct sc_family *f, struct scaler_future *future, uint64_t count); /* locked */
void sc_family_stop(struct sc_family *f);   /* its task is to stop */
void sc_family_over(struct sc_family *f);   /* its task has returned */
void sc_family_park(struct sc_family *f);
void sc_family_resume(struct sc_family *f, int status);
/* Says in whose name a task is submitted; `room` keeps the name.  False: nobody's any more. */
bool sc_family_sign(const struct sc_family *f, uint8_t room[SC_PARENT_SIZE], struct sc_plan *plan);

/* queue.c */
void sc_queue_stir(struct scaler_queue *q); /* whoever waits there looks again */

#endif
