/*
 * The loop.  `lock` guards the inbox, the token and who sleeps; everything else belongs to whoever
 * has the token.  Giving the token back and looking at the inbox for the last time happen under one
 * lock, and posting looks at the token under the same lock: so no post is ever left with nobody to
 * run it.  The loop's thread sleeps until the earliest deadline it knew when it lay down, and is
 * woken only for an earlier one, or for a post that nobody else turns.
 */
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "loop_wait.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

struct sc_loop {
        struct sc_mem *mem;
        bool           host_driven, started;
        pthread_t      thread;

        pthread_mutex_t lock;
        pthread_cond_t  work;      /* the loop's thread sleeps here */
        pthread_cond_t  free;      /* those who wait for the token */
        struct sc_list  inbox;
        bool            taken;     /* the token */
        bool            held;      /* ... by sc_loop_hold */
        uint32_t        holders;   /* threads waiting for it; nobody overtakes them */
        bool            sleeping;  /* the loop's thread, until `wakes_at`, and not told to get up yet */
        sc_ns           wakes_at;
        sc_ns           nap;       /* a deadline that woke it and may have gone again: it sleeps no longer */
        bool            rung;      /* host driven: the eventfd is readable */
        bool            stop;

        /* of the token's holder */
        struct sc_list      batch; /* posts of this pass that have not run yet */
        struct sc_list      dirty, resting;
        struct sc_member   *flushing; /* NULL again when it leaves in its own flush */
        struct sc_heap      deadlines;
        size_t              members;
        sc_ns               now, lateness;
        struct sc_loop_wait wait;
};

/* Which loop's token this thread holds: a fact about the thread, not shared state. */
static _Thread_local const struct sc_loop *turning;
/* In whose callback it is, beside a turn. */
static _Thread_local const struct sc_loop *calling;

static bool due_before(const void *a, const void *b)
{
        return ((const struct sc_member *)a)->due < ((const struct sc_member *)b)->due;
}

static void due_moved(void *item, size_t position)
{
        ((struct sc_member *)item)->position = position;
}

/* ---- a pass -------------------------------------------------------------------------------------- */

static sc_ns next_due(const struct sc_loop *loop)
{
        const struct sc_member *first = sc_heap_top(&loop->deadlines);
        return first ? first->due : SC_NEVER;
}

static void forget_deadline(struct sc_loop *loop, struct sc_member *member)
{
        if (member->position != SC_HEAP_NOWHERE)
                sc_heap_remove(&loop->deadlines, member->position);
        member->due = SC_NEVER;
}

static void read_deadline(struct sc_loop *loop, struct sc_member *member)
{
        sc_ns due = member->ops->deadline ? member->ops->deadline(member->ctx) : SC_NEVER;
        due       = sc_ns_max(due, loop->now); /* in the past means now, and is not late yet */
        if (due == member->due)
                return;
        if (due == SC_NEVER) {
                forget_deadline(loop, member);
                return;
        }
        member->due = due;
        if (member->position == SC_HEAP_NOWHERE)
                sc_heap_push(&loop->deadlines, member); /* join reserved the room */
        else
                sc_heap_fix(&loop->deadlines, member->position);
}

static int run_posts(struct sc_loop *loop)
{
        int             count = 0;
        struct sc_list *link;
        while ((link = sc_list_take(&loop->batch)) != NULL) {
                struct sc_post *post = SC_CONTAINER(link, struct sc_post, link);
                post->run(post, loop->now);
                count++;
        }
        return count;
}

/* Each due member once: its next deadline is read when it has been flushed. */
static int tick_due(struct sc_loop *loop)
{
        int               count = 0;
        struct sc_member *member;
        while ((member = sc_heap_top(&loop->deadlines)) != NULL && member->due <= loop->now) {
                forget_deadline(loop, member);
                sc_loop_touch(loop, member);
                member->ops->tick(member->ctx, loop->now);
                count++;
        }
        return count;
}

/* Those touched before now; who is touched by a flush has its turn in the next pass. */
static void flush_dirty(struct sc_loop *loop)
{
        struct sc_list  touched;
        struct sc_list *link;
        sc_list_init(&touched);
        sc_list_splice(&touched, &loop->dirty);
        while ((link = sc_list_take(&touched)) != NULL) {
                struct sc_member *member = SC_CONTAINER(link, struct sc_member, dirty);
                loop->flushing           = member;
                if (member->ops->flush)
                        member->ops->flush(member->ctx, loop->now);
                if (loop->flushing)
                        read_deadline(loop, member);
        }
        loop->flushing = NULL;
}

static void rest(struct sc_loop *loop)
{
        struct sc_list *link;
        while ((link = sc_list_take(&loop->resting)) != NULL) {
                struct sc_member *member = SC_CONTAINER(link, struct sc_member, resting);
                member->ops->rest(member->ctx, loop->now);
        }
}

static int pass(struct sc_loop *loop)
{
        loop->now      = sc_clock_now();
        sc_ns due      = next_due(loop);
        loop->lateness = due < loop->now ? loop->now - due : 0;
        int count      = run_posts(loop);
        count += tick_due(loop);
        flush_dirty(loop);
        return count;
}

/* ---- the token ------------------------------------------------------------------------------------ */

static void take_token(struct sc_loop *loop)
{
        SC_ASSERT(!turning);
        SC_ASSERT(!loop->taken);
        loop->taken = true;
        turning     = loop;
}

/* Locked.  Sees to it that somebody will do what there is to do now, or at the next deadline. */
static void alert(struct sc_loop *loop, sc_ns due)
{
        if (loop->host_driven) {
                if (!loop->rung && !sc_list_empty(&loop->inbox)) {
                        loop->rung = true;
                        sc_loop_wait_ring(&loop->wait);
                }
                return;
        }
        if (loop->sleeping && (due < loop->wakes_at || !sc_list_empty(&loop->inbox))) {
                loop->sleeping = false;
                loop->nap      = sc_ns_min(loop->nap, due);
                pthread_cond_signal(&loop->work);
        }
}

/* Locked. */
static void give_token(struct sc_loop *loop)
{
        sc_ns due = sc_list_empty(&loop->dirty) ? next_due(loop) : loop->now;
        SC_ASSERT(sc_list_empty(&loop->batch));
        turning     = NULL;
        loop->taken = false;
        if (loop->host_driven)
                sc_loop_wait_arm(&loop->wait, due);
        if (loop->holders > 0)
                pthread_cond_signal(&loop->free);
        alert(loop, due);
}

/* Locked, with the token. */
static bool goes_on(const struct sc_loop *loop)
{
        return !sc_list_empty(&loop->inbox) || !sc_list_empty(&loop->dirty) || next_due(loop) <= loop->now;
}

/* Locked, with the token; the lock is open meanwhile. */
static void rest_unlocked(struct sc_loop *loop)
{
        if (sc_list_empty(&loop->resting))
                return;
        pthread_mutex_unlock(&loop->lock);
        rest(loop);
        pthread_mutex_lock(&loop->lock);
}

/* Locked, token free; the lock is open during the passes. */
static int turn(struct sc_loop *loop)
{
        int  count = 0, passes = 0;
        bool again;
        take_token(loop);
        do {
                sc_list_splice(&loop->batch, &loop->inbox);
                pthread_mutex_unlock(&loop->lock);
                count += pass(loop);
                pthread_mutex_lock(&loop->lock);
                if (!goes_on(loop) || passes + 1 == SC_LOOP_PASSES || loop->holders > 0)
                        rest_unlocked(loop);
                again = goes_on(loop);
        } while (again && ++passes < SC_LOOP_PASSES && loop->holders == 0);
        give_token(loop);
        return count;
}

/* Locked.  Waits for the token without being overtaken by those who only want to turn. */
static void wait_for_token(struct sc_loop *loop)
{
        loop->holders++;
        while (loop->taken)
                pthread_cond_wait(&loop->free, &loop->lock);
        loop->holders--;
}

static bool turnable(const struct sc_loop *loop)
{
        return !loop->taken && loop->holders == 0;
}

/* ---- the loop's own thread ----------------------------------------------------------------------- */

/* Locked.  While somebody else has the token, its giving back wakes us when there is work. */
static void sleep_until(struct sc_loop *loop, sc_ns due)
{
        struct timespec at = { .tv_sec = (time_t)(due / SC_S), .tv_nsec = (long)(due % SC_S) };
        loop->sleeping     = true;
        loop->wakes_at     = due;
        if (due == SC_NEVER)
                pthread_cond_wait(&loop->work, &loop->lock);
        else
                pthread_cond_timedwait(&loop->work, &loop->lock, &at);
        loop->sleeping = false;
}

static void *loop_thread(void *arg)
{
        struct sc_loop *loop = arg;
        pthread_mutex_lock(&loop->lock);
        while (!loop->stop) {
                if (!turnable(loop)) {
                        sleep_until(loop, SC_NEVER);
                        continue;
                }
                const sc_ns due = sc_list_empty(&loop->dirty) ? next_due(loop) : 0;
                const sc_ns now = sc_clock_now();
                if (loop->nap <= now)
                        loop->nap = SC_NEVER;
                if (!sc_list_empty(&loop->inbox) || due <= now)
                        turn(loop);
                else /* a deadline like the last one comes with the next task, and need not wake us then */
                        sleep_until(loop, sc_ns_min(due, loop->nap));
        }
        pthread_mutex_unlock(&loop->lock);
        return NULL;
}

/* The host's signals are the host's: none is ever delivered to a thread of ours. */
static int start_thread(struct sc_loop *loop)
{
        sigset_t all, kept;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &kept);
        int status = pthread_create(&loop->thread, NULL, loop_thread, loop);
        pthread_sigmask(SIG_SETMASK, &kept, NULL);
        if (status != 0)
                return SC_E_IO;
        pthread_setname_np(loop->thread, "scaler:loop");
        loop->started = true;
        return SC_OK;
}

/* ---- create and destroy --------------------------------------------------------------------------- */

static void init_locks(struct sc_loop *loop)
{
        pthread_condattr_t monotonic;
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_mutex_init(&loop->lock, NULL);
        pthread_cond_init(&loop->work, &monotonic);
        pthread_cond_init(&loop->free, NULL);
        pthread_condattr_destroy(&monotonic);
}

int sc_loop_create(const struct sc_loop_options *options, struct sc_loop **out)
{
        struct sc_loop *loop = sc_mem_zalloc(options->mem, sizeof *loop);
        if (!loop)
                return SC_E_NOMEM;
        loop->mem         = options->mem;
        loop->host_driven = options->host_driven;
        loop->wait        = (struct sc_loop_wait){ .epoll = -1, .event = -1, .timer = -1, .armed = SC_NEVER };
        init_locks(loop);
        sc_list_init(&loop->inbox);
        sc_list_init(&loop->batch);
        sc_list_init(&loop->dirty);
        sc_list_init(&loop->resting);
        sc_heap_init(&loop->deadlines, loop->mem, due_before, due_moved);
        loop->now  = sc_clock_now();
        int status = loop->host_driven ? sc_loop_wait_init(&loop->wait) : start_thread(loop);
        if (status != SC_OK)
                sc_loop_destroy(loop);
        else
                *out = loop;
        return status;
}

void sc_loop_destroy(struct sc_loop *loop)
{
        if (!loop)
                return;
        SC_ASSERT(turning != loop);
        if (loop->started) {
                pthread_mutex_lock(&loop->lock);
                loop->stop = true;
                pthread_cond_signal(&loop->work);
                pthread_mutex_unlock(&loop->lock);
                pthread_join(loop->thread, NULL);
        }
        SC_ASSERT(loop->members == 0);
        SC_ASSERT(sc_list_empty(&loop->inbox));
        SC_ASSERT(!loop->taken);
        sc_loop_wait_fini(&loop->wait);
        sc_heap_fini(&loop->deadlines);
        pthread_cond_destroy(&loop->free);
        pthread_cond_destroy(&loop->work);
        pthread_mutex_destroy(&loop->lock);
        sc_mem_release(loop->mem, loop, sizeof *loop);
}

/* ---- members -------------------------------------------------------------------------------------- */

int sc_loop_join(struct sc_loop *loop, struct sc_member *member, const struct sc_member_ops *ops, void *ctx)
{
        SC_ASSERT(turning == loop);
        if (!sc_heap_reserve(&loop->deadlines, loop->members + 1))
                return SC_E_NOMEM;
        loop->members++;
        *member = (struct sc_member){ .ops = ops, .ctx = ctx, .position = SC_HEAP_NOWHERE, .due = SC_NEVER };
        sc_list_init(&member->dirty);
        sc_list_init(&member->resting);
        sc_loop_touch(loop, member);
        return SC_OK;
}

void sc_loop_leave(struct sc_loop *loop, struct sc_member *member)
{
        SC_ASSERT(turning == loop);
        SC_ASSERT(member->ops);
        forget_deadline(loop, member);
        sc_list_remove(&member->dirty);
        sc_list_remove(&member->resting);
        if (loop->flushing == member)
                loop->flushing = NULL;
        member->ops = NULL;
        loop->members--;
}

void sc_loop_touch(struct sc_loop *loop, struct sc_member *member)
{
        SC_ASSERT(turning == loop);
        SC_ASSERT(member->ops);
        if (sc_list_empty(&member->dirty))
                sc_list_add_tail(&loop->dirty, &member->dirty);
}

void sc_loop_ask_rest(struct sc_loop *loop, struct sc_member *member)
{
        SC_ASSERT(turning == loop);
        SC_ASSERT(member->ops->rest);
        if (sc_list_empty(&member->resting))
                sc_list_add_tail(&loop->resting, &member->resting);
}

/* ---- posts ---------------------------------------------------------------------------------------- */

/* Locked. */
static void append(struct sc_loop *loop, struct sc_post *post)
{
        SC_ASSERT(!post->link.next || sc_list_empty(&post->link));
        sc_list_add_tail(&loop->inbox, &post->link);
}

void sc_loop_post(struct sc_loop *loop, struct sc_post *post)
{
        pthread_mutex_lock(&loop->lock);
        append(loop, post);
        if (!loop->taken)
                alert(loop, SC_NEVER);
        pthread_mutex_unlock(&loop->lock);
}

void sc_loop_post_and_turn(struct sc_loop *loop, struct sc_post *post)
{
        pthread_mutex_lock(&loop->lock);
        append(loop, post);
        if (!loop->host_driven && !turning && !calling && turnable(loop))
                turn(loop);
        else if (!loop->taken)
                alert(loop, SC_NEVER);
        pthread_mutex_unlock(&loop->lock);
}

void sc_loop_unpost(struct sc_loop *loop, struct sc_post *post)
{
        SC_ASSERT(turning == loop);
        pthread_mutex_lock(&loop->lock);
        if (post->link.next)
                sc_list_remove(&post->link);
        pthread_mutex_unlock(&loop->lock);
}

void sc_loop_hold(struct sc_loop *loop)
{
        SC_ASSERT(!turning);
        pthread_mutex_lock(&loop->lock);
        wait_for_token(loop);
        take_token(loop);
        loop->held = true;
        pthread_mutex_unlock(&loop->lock);
        loop->now      = sc_clock_now();
        loop->lateness = 0;
}

/* Posts that came meanwhile are left to the loop's thread or host: the holder may be in a hurry, or in a destroy. */
void sc_loop_release(struct sc_loop *loop)
{
        SC_ASSERT(turning == loop);
        loop->now = sc_clock_now();
        flush_dirty(loop);
        rest(loop);
        pthread_mutex_lock(&loop->lock);
        loop->held = false;
        give_token(loop);
        pthread_mutex_unlock(&loop->lock);
}

/* ---- host driven ---------------------------------------------------------------------------------- */

int sc_loop_turn(struct sc_loop *loop, sc_ns timeout)
{
        if (turning || !loop->host_driven)
                return SC_E_STATE;
        if (timeout > 0)
                sc_loop_wait_until(&loop->wait, sc_ns_add(sc_clock_now(), timeout));
        pthread_mutex_lock(&loop->lock);
        if (loop->taken)
                wait_for_token(loop);
        if (loop->rung)
                sc_loop_wait_clear(&loop->wait);
        loop->rung = false;
        int count  = turn(loop);
        pthread_mutex_unlock(&loop->lock);
        return count;
}

int sc_loop_fd(struct sc_loop *loop)
{
        return loop->host_driven ? loop->wait.epoll : -1;
}

void sc_loop_wake(struct sc_loop *loop)
{
        if (!loop->host_driven)
                return;
        pthread_mutex_lock(&loop->lock);
        if (!loop->rung) {
                loop->rung = true;
                sc_loop_wait_ring(&loop->wait);
        }
        pthread_mutex_unlock(&loop->lock);
}

/* ---- facts ---------------------------------------------------------------------------------------- */

bool sc_loop_in_turn(const struct sc_loop *loop)
{
        return turning == loop;
}

const struct sc_loop *sc_loop_swap_callback(const struct sc_loop *loop)
{
        const struct sc_loop *before = calling;
        calling                      = loop;
        return before;
}

bool sc_loop_in_callback(const struct sc_loop *loop)
{
        return turning == loop || calling == loop;
}

bool sc_loop_in_any_turn(void)
{
        return turning != NULL;
}

bool sc_loop_held(const struct sc_loop *loop)
{
        SC_ASSERT(turning == loop);
        return loop->held;
}

bool sc_loop_host_driven(const struct sc_loop *loop)
{
        return loop->host_driven;
}

sc_ns sc_loop_now(const struct sc_loop *loop)
{
        return loop->now;
}

sc_ns sc_loop_lateness(const struct sc_loop *loop)
{
        return loop->lateness;
}
