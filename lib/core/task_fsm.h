/*
 * The life of one task as the scheduler sees it: states x moves, one table.  A move that the table
 * does not have is our bug and asserts; what a peer says is judged before it becomes a move.
 */
#ifndef SC_TASK_FSM_H
#define SC_TASK_FSM_H

#include <stdbool.h>

/* X(name, text) */
#define SC_STATE_LIST(X) \
        X(FREE, "free")              /* no task: the row waits for one */ \
        X(WAITING, "waiting")        /* for what it depends on */ \
        X(READY, "ready")            /* in a ready queue */ \
        X(ASSIGNED, "assigned")      /* a worker holds its run */ \
        X(RECALLING, "recalling")    /* a worker holds its run and is asked to give it back unstarted */ \
        X(CANCELLING, "cancelling")  /* a worker holds its run and is told to stop it */ \
        X(BACKOFF, "backoff")        /* not before a time: submitted so, or failed and to be tried again */ \
        X(ORPHAN, "orphan")          /* a worker holds a run that no client has claimed in this epoch */ \
        X(ENDED, "ended")            /* its one ending is decided; the result is not yet confirmed */ \
        X(KEPT, "kept")              /* ended and confirmed; somebody will still read the result */ \
        X(JOINED, "joined")          /* another task with its key does the work for both */

enum sc_task_state {
#define SC_STATE_ENUM(name, text) SC_STATE_##name,
        SC_STATE_LIST(SC_STATE_ENUM)
#undef SC_STATE_ENUM
        SC_STATES
};

#define SC_MOVE_LIST(X) \
        X(ADMIT, "admit")         /* a client submits it */ \
        X(BLOCK, "block")         /* submitted, and something it needs is not there yet */ \
        X(JOIN, "join")           /* another task with its key does the work, from now on */ \
        X(DELAY, "delay")         /* submitted or failed by itself, and not to be placed yet */ \
        X(HOLD, "hold")           /* a worker's hello names a run of a task nobody knows */ \
        X(UNBLOCK, "unblock")     /* all it needs is there */ \
        X(WAKE, "wake")           /* its time has come */ \
        X(PLACE, "place")         /* given to a worker */ \
        X(KEEP, "keep")           /* a worker's held run becomes the task's run */ \
        X(RECALL, "recall")       /* asked back for another worker */ \
        X(START, "start")         /* the worker reports that it runs */ \
        X(RETURN, "return")       /* the worker gives it back unstarted */ \
        X(RETRY, "retry")         /* it failed by itself and its spec asks for another run */ \
        X(LOSE, "lose")           /* the worker is gone */ \
        X(LOSE_LAST, "lose last") /* the worker is gone, and that was one loss too many */ \
        X(FINISH, "finish")       /* the worker reports its end */ \
        X(FAIL, "fail")           /* something it needs cannot come */ \
        X(CANCEL, "cancel")       /* somebody who may wants it gone */ \
        X(TIME_OUT, "time out")   /* no worker has it, and the time it was to be started or ended by is past */ \
        X(RELEASE, "release")     /* past its deadline and stopped, and the worker does not answer */ \
        X(EXPIRE, "expire")       /* nobody claimed it */ \
        X(RETAIN, "retain")       /* the result is confirmed, or nobody wants it, but somebody will read it */ \
        X(FORGET, "forget")       /* the result is confirmed, or nobody wants it, and nobody will read it */

enum sc_task_move {
#define SC_MOVE_ENUM(name, text) SC_MOVE_##name,
        SC_MOVE_LIST(SC_MOVE_ENUM)
#undef SC_MOVE_ENUM
        SC_MOVES
};

bool               sc_task_may(enum sc_task_state from, enum sc_task_move move);
enum sc_task_state sc_task_next(enum sc_task_state from, enum sc_task_move move); /* asserts sc_task_may */
bool               sc_task_is_held(enum sc_task_state state); /* a worker has a run of it */
const char        *sc_task_state_name(enum sc_task_state state);
const char        *sc_task_move_name(enum sc_task_move move);

#endif
