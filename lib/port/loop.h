/*
 * A runtime's heart: inbox, token, deadlines (doc/architecture.md, "one turn at a time").
 *
 *     turn: one or more passes
 *     pass(now):  1 swap out the inbox (one lock)      2 now = clock, once
 *                 3 run each post                      4 tick members whose deadline is due
 *                 5 flush touched members              6 again while posts arrive, a bounded number of times
 *     rest:           once, before the token is given back: for members that asked
 *
 * One thread at a time turns: the loop's own, or any thread that posted and found the token free.  A
 * foreign thread makes at most SC_LOOP_PASSES passes and then leaves the rest to the loop's own.
 * Threads: sc_loop_post* and sc_loop_wake from any; member functions run inside turns only.
 */
#ifndef SC_LOOP_H
#define SC_LOOP_H

#include <stdbool.h>

#include "sc_heap.h"
#include "sc_list.h"
#include "sc_time.h"

enum { SC_LOOP_PASSES = 32 };

struct sc_loop;
struct sc_mem;

struct sc_post { /* embedded in whatever it is about; on at most one inbox at a time; zeroed before its first use */
        struct sc_list link;
        void (*run)(struct sc_post *post, sc_ns now); /* inside a turn */
};

struct sc_member_ops {
        sc_ns (*deadline)(void *ctx);         /* read after every flush and tick */
        void  (*tick)(void *ctx, sc_ns now);  /* its deadline is due; counts as touched */
        void  (*flush)(void *ctx, sc_ns now); /* at the end of a pass, for members touched in it; may be NULL */
        void  (*rest)(void *ctx, sc_ns now);  /* no pass follows at once, and sc_loop_ask_rest() was called */
};

struct sc_member { /* a role or a port that lives on the loop; storage is the role's */
        const struct sc_member_ops *ops;
        void          *ctx;
        struct sc_list dirty;    /* on the loop's list when touched */
        struct sc_list resting;  /* likewise, when it asked for rest */
        size_t         position; /* in the deadline heap */
        sc_ns          due;
};

struct sc_loop_options {
        struct sc_mem *mem;
        bool           host_driven; /* no thread; sc_loop_turn() is the host's to call */
};

int   sc_loop_create(const struct sc_loop_options *options, struct sc_loop **out); /* 0, SC_E_NOMEM, SC_E_IO */
void  sc_loop_destroy(struct sc_loop *loop); /* after all members left; joins its thread; NULL is fine */

/* [in a turn, or held] 0 or SC_E_NOMEM; a member that joins counts as touched. */
int   sc_loop_join(struct sc_loop *loop, struct sc_member *member, const struct sc_member_ops *ops, void *ctx);
void  sc_loop_leave(struct sc_loop *loop, struct sc_member *member); /* in a turn, or held */
void  sc_loop_touch(struct sc_loop *loop, struct sc_member *member); /* in a turn, or held */
/* [in a turn, or held] For what wakes other threads and gets cheaper in company: rest() comes when all posts are done
 * with, or after so many passes that others must not wait longer. */
void  sc_loop_ask_rest(struct sc_loop *loop, struct sc_member *member);

/* [any] Appends the post.  _post leaves it to whoever turns next (and wakes that one if nobody does);
 * _post_and_turn turns at once on this thread when the token is free, the loop is not host driven and
 * this thread is not inside a turn or callback already. */
void  sc_loop_post(struct sc_loop *loop, struct sc_post *post);
void  sc_loop_post_and_turn(struct sc_loop *loop, struct sc_post *post);
/* [in a turn, or held] A post that has not run yet will not; harmless when it is on no inbox. */
void  sc_loop_unpost(struct sc_loop *loop, struct sc_post *post);

/* [any, not in a turn] Takes the token, waiting for it: the caller is then the one who turns, and may use members
 * directly; release flushes touched members.  For create, start, stop and destroy of roles, not for the hot path. */
void  sc_loop_hold(struct sc_loop *loop);
void  sc_loop_release(struct sc_loop *loop);
bool  sc_loop_in_turn(const struct sc_loop *loop); /* this thread holds this loop's token */
/* [any] Around a callback of the loop's owner that may come outside of its turns: says whose callback this thread is
 * in now, and gives which it was in; NULL: in none. */
const struct sc_loop *sc_loop_swap_callback(const struct sc_loop *loop);
bool  sc_loop_in_callback(const struct sc_loop *loop); /* or in its turn: must not block on it */
bool  sc_loop_in_any_turn(void);                   /* this thread holds the token of some loop */
bool  sc_loop_held(const struct sc_loop *loop);    /* [in a turn, or held] by sc_loop_hold, not by a turn */
bool  sc_loop_host_driven(const struct sc_loop *loop);

sc_ns sc_loop_now(const struct sc_loop *loop); /* in a turn: the pass's time */
sc_ns sc_clock_now(void);                      /* [any] CLOCK_MONOTONIC */
sc_ns sc_clock_wall(void);                     /* [any] CLOCK_REALTIME, for log lines only */
void  sc_random_bytes(void *out, size_t len);  /* [any] getrandom */

/* Host driven: waits up to timeout for work, then turns; gives the number of posts and ticks handled, or a status:
 * SC_E_STATE inside a turn, or when the loop has its own thread. */
int   sc_loop_turn(struct sc_loop *loop, sc_ns timeout);
int   sc_loop_fd(struct sc_loop *loop);  /* readable when a turn has work (also by deadline); -1 unless host driven */
void  sc_loop_wake(struct sc_loop *loop); /* [any] a waiting sc_loop_turn returns */

/* [in a turn] By how much this pass began later than the earliest deadline that it found due: a process that was
 * stopped or starved does not judge others by that time (design: liveness).  The same for the whole pass. */
sc_ns sc_loop_lateness(const struct sc_loop *loop);

#endif
