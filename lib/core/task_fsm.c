/*
 * The table.  A cell holds the state to go to, counted from 1, so that an empty cell is "no such
 * move" and every cell that is not written down here is one.
 */
#include "task_fsm.h"

#include "sc_assert.h"

#define TO(state) (unsigned char)(SC_STATE_##state + 1)

static const unsigned char table[SC_STATES][SC_MOVES] = {
        [SC_STATE_FREE] = {
                [SC_MOVE_ADMIT] = TO(READY),
                [SC_MOVE_BLOCK] = TO(WAITING),
                [SC_MOVE_DELAY] = TO(BACKOFF),
                [SC_MOVE_HOLD]  = TO(ORPHAN),
                [SC_MOVE_JOIN]  = TO(JOINED),
        },
        [SC_STATE_WAITING] = {
                [SC_MOVE_UNBLOCK]  = TO(READY),
                [SC_MOVE_DELAY]    = TO(BACKOFF),  /* unblocked before its time */
                [SC_MOVE_KEEP]     = TO(ASSIGNED), /* a run over our restart: it was unblocked before */
                [SC_MOVE_FINISH]   = TO(ENDED),    /* a graph, all of whose nodes have ended */
                [SC_MOVE_FAIL]     = TO(ENDED),
                [SC_MOVE_CANCEL]   = TO(ENDED),
                [SC_MOVE_TIME_OUT] = TO(ENDED),
        },
        [SC_STATE_READY] = {
                [SC_MOVE_PLACE]    = TO(ASSIGNED),
                [SC_MOVE_JOIN]     = TO(JOINED),
                [SC_MOVE_KEEP]     = TO(ASSIGNED),
                [SC_MOVE_FAIL]     = TO(ENDED), /* nobody can ever run it */
                [SC_MOVE_CANCEL]   = TO(ENDED),
                [SC_MOVE_TIME_OUT] = TO(ENDED),
        },
        [SC_STATE_ASSIGNED] = {
                [SC_MOVE_RECALL]    = TO(RECALLING),
                [SC_MOVE_START]     = TO(ASSIGNED),
                [SC_MOVE_RETURN]    = TO(READY),
                [SC_MOVE_RETRY]     = TO(READY),
                [SC_MOVE_DELAY]     = TO(BACKOFF),
                [SC_MOVE_LOSE]      = TO(READY),
                [SC_MOVE_LOSE_LAST] = TO(ENDED),
                [SC_MOVE_FINISH]    = TO(ENDED),
                [SC_MOVE_CANCEL]    = TO(CANCELLING),
                [SC_MOVE_JOIN]      = TO(JOINED), /* the run goes on as another one's */
        },
        [SC_STATE_RECALLING] = {
                [SC_MOVE_START]  = TO(ASSIGNED), /* not returned: it is already running */
                [SC_MOVE_RETURN] = TO(READY),
                [SC_MOVE_RETRY]  = TO(READY),
                [SC_MOVE_DELAY]  = TO(BACKOFF),
                [SC_MOVE_LOSE]   = TO(READY),
                [SC_MOVE_FINISH] = TO(ENDED),
                [SC_MOVE_CANCEL] = TO(CANCELLING),
                [SC_MOVE_JOIN]   = TO(JOINED),
        },
        [SC_STATE_CANCELLING] = {
                [SC_MOVE_START]   = TO(CANCELLING),
                [SC_MOVE_RETURN]  = TO(ENDED),
                [SC_MOVE_LOSE]    = TO(ENDED),
                [SC_MOVE_FINISH]  = TO(ENDED),
                [SC_MOVE_CANCEL]  = TO(CANCELLING),
                [SC_MOVE_RELEASE] = TO(ENDED),
        },
        [SC_STATE_BACKOFF] = {
                [SC_MOVE_WAKE]     = TO(READY),
                [SC_MOVE_JOIN]     = TO(JOINED),
                [SC_MOVE_KEEP]     = TO(ASSIGNED),
                [SC_MOVE_FAIL]     = TO(ENDED),
                [SC_MOVE_CANCEL]   = TO(ENDED),
                [SC_MOVE_TIME_OUT] = TO(ENDED),
        },
        [SC_STATE_ORPHAN] = {
                [SC_MOVE_KEEP]   = TO(ASSIGNED),
                [SC_MOVE_LOSE]   = TO(FREE),
                [SC_MOVE_EXPIRE] = TO(FREE),
        },
        [SC_STATE_ENDED] = {
                [SC_MOVE_RETAIN] = TO(KEPT),
                [SC_MOVE_FORGET] = TO(FREE),
        },
        [SC_STATE_KEPT] = {
                [SC_MOVE_FORGET] = TO(FREE),
        },
        [SC_STATE_JOINED] = { /* it may come to do the work, wherever that stands */
                [SC_MOVE_UNBLOCK]  = TO(READY),
                [SC_MOVE_DELAY]    = TO(BACKOFF),
                [SC_MOVE_KEEP]     = TO(ASSIGNED),
                [SC_MOVE_FINISH]   = TO(ENDED),
                [SC_MOVE_CANCEL]   = TO(ENDED),
                [SC_MOVE_TIME_OUT] = TO(ENDED),
        },
};

bool sc_task_may(enum sc_task_state from, enum sc_task_move move)
{
        return from < SC_STATES && move < SC_MOVES && table[from][move] != 0;
}

enum sc_task_state sc_task_next(enum sc_task_state from, enum sc_task_move move)
{
        SC_ASSERT(sc_task_may(from, move));
        return (enum sc_task_state)(table[from][move] - 1);
}

bool sc_task_is_held(enum sc_task_state state)
{
        return state == SC_STATE_ASSIGNED || state == SC_STATE_RECALLING || state == SC_STATE_CANCELLING ||
               state == SC_STATE_ORPHAN;
}

const char *sc_task_state_name(enum sc_task_state state)
{
        static const char *const names[] = {
#define NAME(name, text) text,
                SC_STATE_LIST(NAME)
#undef NAME
        };
        return state < SC_STATES ? names[state] : "?";
}

const char *sc_task_move_name(enum sc_task_move move)
{
        static const char *const names[] = {
#define NAME(name, text) text,
                SC_MOVE_LIST(NAME)
#undef NAME
        };
        return move < SC_MOVES ? names[move] : "?";
}
