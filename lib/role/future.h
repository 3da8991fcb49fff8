/*
 * Futures, queues and the gate they share with their client.  Everything a future tells is under its
 * gate's lock; the turn writes it, any thread reads it.  A future outlives its client and its queue.
 */
#ifndef SC_FUTURE_H
#define SC_FUTURE_H

#include <pthread.h>

#include "msg.h"
#include "runtime.h"
#include "sc_blob.h"
#include "sc_list.h"

struct scaler_client;
struct sc_family;
struct sc_job;

void sc_job_destroy(struct sc_job *job); /* job.h */

struct sc_gate { /* counted: the client and each of its futures hold it */
        struct sc_mem        *mem;
        pthread_mutex_t       lock;
        pthread_cond_t        changed;
        _Atomic uint32_t      refs;
        uint32_t              waiting; /* threads inside a wait */
        struct scaler_client *client;  /* NULL once it is destroyed */
        struct sc_loop       *loop;    /* the client's; NULL once it is destroyed.  Host driven: who waits turns it */
};

struct sc_gate *sc_gate_create(struct sc_mem *mem);
struct sc_gate *sc_gate_ref(struct sc_gate *gate);
void            sc_gate_unref(struct sc_gate *gate);
void            sc_gate_lock(struct sc_gate *gate);
void            sc_gate_unlock(struct sc_gate *gate);
void            sc_gate_changed(struct sc_gate *gate); /* locked: wakes whoever waits */
void            sc_gate_unlock_changed(struct sc_gate *gate); /* the same, once the lock is away */
/* Locked: waits for a change or the time; false: the time has come.  The lock is away meanwhile. */
bool sc_gate_wait(struct sc_gate *gate, sc_ns until);
/* Locked: would a wait here be one from inside a callback of the library? */
bool sc_gate_in_callback(const struct sc_gate *gate);

struct sc_chunk { /* of streamed output, not yet read */
        struct sc_list link;
        size_t         size, taken;
        uint8_t        stream;
        uint8_t        bytes[];
};

enum { SC_FUTURE_CONSUMED = 1, SC_FUTURE_CANCEL = 2 }; /* what the client's next turn must do for it */

struct scaler_future {
        _Atomic uint32_t     refs;
        struct sc_gate      *gate;
        struct scaler_queue *queue;
        struct sc_mem       *mem;
        struct sc_id         id;
        uint64_t             user_data;
        struct sc_family    *family; /* of the run that submits it; NULL: no run does */
        struct sc_list       kin;    /* locked: among those of its family that have not ended */
        struct sc_list       turn; /* the turn's: to be submitted, or ended and not yet told */
        /* what the end brought: written by the turn before `ended` is told, read after it */
        uint32_t          attempts, losses;
        struct sc_outcome outcome; /* its views are not used */
        struct sc_blob   *result, *errors;
        char             *text;    /* of text_len + 1 bytes, or NULL */
        size_t            text_len;
        uint64_t          root;    /* whose end this one's was; 0: its own */
        uint32_t          root_reason;
        bool              unkept;  /* for want of memory */
        bool              kept;    /* the turn's: all this is written */
        /* locked from here */
        struct sc_list    work; /* on its client's list of things to do in a turn */
        uint8_t           todo; /* SC_FUTURE_* */
        bool              cancel_force;
        bool              at_front; /* not yet taken by a turn: `work` is that list's */
        bool              stream, command, ended, restarted, broken;
        uint8_t           state; /* scaler_task_state */
        struct sc_list    chunks;
        uint64_t          consumed; /* read since the client's core was told */
        size_t            result_read, errors_read; /* small streamed output comes with the end */
        /* the queue's lock */
        struct sc_list ready; /* on its queue */
        bool           queued;
        /* the client's, until the task is submitted */
        struct sc_blob *body;
        struct sc_spec  spec;
        struct sc_job  *job; /* it depends on others, or is a graph; NULL: neither */
        /* graphs */
        uint64_t             graph_at; /* sequence of the graph that it is a target of; 0: none */
        bool                 graph;    /* it stands for a whole graph: */
        uint32_t             inner;    /* nodes without a future */
        struct sc_graph_done counts;   /* locked: of all its nodes ... */
        struct sc_graph_done told;     /* the turn's: ... and of its targets */
};

/* An end has two halves.  In the turn, without the lock: takes the outcome's bytes.  Locked: from now on it has ended;
 * the caller tells waiters and the queue, of many futures at a time. */
void sc_future_keep(struct scaler_future *f, const struct sc_result *result);
void sc_future_keep_here(struct scaler_future *f, int reason, const char *text); /* without the scheduler */
void sc_future_end(struct scaler_future *f);
void sc_future_deliver(struct scaler_future *f, const struct sc_output *output, bool restart); /* locked */

/* Adds futures to their queues, each once until it is taken.  The queue stays locked between adds to the same one;
 * whoever waits is woken when it is left.  NULL: none. */
struct sc_adding { /* zeroed */
        struct scaler_queue *queue;
        uint32_t             count;
};
void                 sc_queue_add(struct sc_adding *adding, struct scaler_future *f);
void                 sc_queue_added(struct sc_adding *adding); /* the last one was added */
struct scaler_queue *sc_queue_ref(struct scaler_queue *q);
void                 sc_queue_unref(struct scaler_queue *q);

/* Locked: the client's next turn does `todo` for this future. */
void sc_client_wants_turn(struct scaler_client *c, struct scaler_future *f, uint8_t todo);

#endif
