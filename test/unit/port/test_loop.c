/*
 * The loop: who turns, in which order, and when deadlines are due.  The stress test is for the thread
 * sanitizer as well.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fail_mem.h"
#include "loop.h"
#include "run_tests.h"
#include "sc_status.h"

static struct sc_mem   mem;
static struct sc_loop *loop;

static void start_as(bool host_driven)
{
        sc_mem_init_libc(&mem);
        const struct sc_loop_options options = { .mem = &mem, .host_driven = host_driven };
        ck_assert_int_eq(sc_loop_create(&options, &loop), 0);
}

static void start(void)
{
        start_as(false);
}

static void finish(void)
{
        sc_loop_destroy(loop);
        loop = NULL;
        ck_assert_uint_eq(atomic_load(&mem.used), 0);
}

/* ---- a post that notes what happened, and somebody to wait for it --------------------------------------- */

struct note {
        struct sc_post post;
        pthread_t      ran_on;
        int            runs, again; /* posts itself `again` times more */
        sc_ns          now;
};

static struct {
        pthread_mutex_t lock;
        pthread_cond_t  changed;
        int             count;
        int             order[64];
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void see(int what)
{
        pthread_mutex_lock(&seen.lock);
        if (seen.count < 64)
                seen.order[seen.count] = what;
        seen.count++;
        pthread_cond_broadcast(&seen.changed);
        pthread_mutex_unlock(&seen.lock);
}

static void wait_seen(int count)
{
        struct timespec at;
        int             status = 0;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_sec += 20;
        pthread_mutex_lock(&seen.lock);
        while (seen.count < count && status == 0)
                status = pthread_cond_timedwait(&seen.changed, &seen.lock, &at);
        ck_assert_int_ge(seen.count, count);
        pthread_mutex_unlock(&seen.lock);
}

static int seen_now(void)
{
        pthread_mutex_lock(&seen.lock);
        const int count = seen.count;
        pthread_mutex_unlock(&seen.lock);
        return count;
}

static void run_note(struct sc_post *post, sc_ns now)
{
        struct note *note = SC_CONTAINER(post, struct note, post);
        ck_assert(sc_loop_in_turn(loop));
        ck_assert(sc_loop_in_any_turn());
        ck_assert(!sc_loop_held(loop));
        ck_assert_int_eq(now, sc_loop_now(loop));
        note->ran_on = pthread_self();
        note->now    = now;
        note->runs++;
        if (note->again-- > 0)
                sc_loop_post_and_turn(loop, post);
        see(note->runs);
}

#define NOTE \
        { \
                .post = {.run = run_note } \
        }

/* ---- a member whose deadline the test sets -------------------------------------------------------------- */

struct clock_member {
        struct sc_member member;
        sc_ns            due, period; /* period: the next deadline after a tick, in the past: at once */
        int              ticks, flushes, rests;
        sc_ns            lateness, early;
        bool             leaves;
};

static sc_ns member_deadline(void *ctx)
{
        return ((struct clock_member *)ctx)->due;
}

static void member_tick(void *ctx, sc_ns now)
{
        struct clock_member *m = ctx;
        m->early               = m->due - now;
        m->lateness            = sc_loop_lateness(loop);
        m->due                 = m->period == SC_NEVER ? SC_NEVER : now + m->period;
        m->ticks++;
        if (m->leaves)
                sc_loop_leave(loop, &m->member);
        see(100 + m->ticks);
}

static void member_flush(void *ctx, sc_ns now)
{
        struct clock_member *m = ctx;
        (void)now;
        m->flushes++;
        if (m->leaves)
                sc_loop_leave(loop, &m->member);
}

static void member_rest(void *ctx, sc_ns now)
{
        ck_assert_int_eq(now, sc_loop_now(loop));
        ((struct clock_member *)ctx)->rests++;
}

static const struct sc_member_ops member_ops = { member_deadline, member_tick, member_flush, member_rest };

static void join(struct clock_member *m, sc_ns due, sc_ns period)
{
        *m = (struct clock_member){ .due = due, .period = period };
        sc_loop_hold(loop);
        ck_assert_int_eq(sc_loop_join(loop, &m->member, &member_ops, m), 0);
        sc_loop_release(loop);
}

static void leave(struct clock_member *m)
{
        sc_loop_hold(loop);
        sc_loop_leave(loop, &m->member);
        sc_loop_release(loop);
}

/* ---- posts ------------------------------------------------------------------------------------------------ */

START_TEST(a_post_is_run_by_the_loops_own_thread)
{
        struct note note = NOTE;
        start();
        sc_loop_post(loop, &note.post);
        wait_seen(1);
        ck_assert(!pthread_equal(note.ran_on, pthread_self()));
        finish();
        ck_assert_int_eq(note.runs, 1);
}
END_TEST

START_TEST(a_thread_that_finds_the_token_free_turns_itself)
{
        struct note note = NOTE;
        start();
        sc_loop_post_and_turn(loop, &note.post);
        ck_assert_int_eq(note.runs, 1);
        ck_assert(pthread_equal(note.ran_on, pthread_self()));
        ck_assert(!sc_loop_in_any_turn());
        finish();
}
END_TEST

START_TEST(posts_run_in_the_order_they_came)
{
        struct note notes[20] = { NOTE };
        start();
        sc_loop_hold(loop);
        for (int i = 0; i < 20; i++) {
                notes[i] = (struct note){ .post = { .run = run_note }, .runs = i };
                sc_loop_post(loop, &notes[i].post);
        }
        ck_assert_int_eq(seen_now(), 0);
        sc_loop_release(loop);
        wait_seen(20);
        for (int i = 0; i < 20; i++)
                ck_assert_int_eq(seen.order[i], i + 1);
        finish();
}
END_TEST

/* ---- rest --------------------------------------------------------------------------------------------- */

struct asker { /* a post that asks for its member's rest */
        struct note          note;
        struct clock_member *member;
        int                  rests_then;
};

static void run_asker(struct sc_post *post, sc_ns now)
{
        struct asker *asker = SC_CONTAINER(post, struct asker, note.post);
        sc_loop_ask_rest(loop, &asker->member->member);
        sc_loop_ask_rest(loop, &asker->member->member);
        asker->rests_then = asker->member->rests;
        run_note(post, now);
}

START_TEST(rest_comes_once_when_all_posts_are_done_with)
{
        struct clock_member member;
        start();
        join(&member, SC_NEVER, SC_NEVER);
        struct asker asker = { .note = { .post = { .run = run_asker }, .again = 9 }, .member = &member };
        sc_loop_post_and_turn(loop, &asker.note.post);
        ck_assert_int_eq(asker.note.runs, 10);
        ck_assert_int_eq(asker.rests_then, 0);
        ck_assert_int_eq(member.rests, 1);
        struct note other = NOTE;
        sc_loop_post_and_turn(loop, &other.post);
        ck_assert_int_eq(member.rests, 1); /* nobody asked */
        leave(&member);
        finish();
}
END_TEST

START_TEST(rest_does_not_wait_for_posts_without_end)
{
        struct clock_member member;
        start();
        join(&member, SC_NEVER, SC_NEVER);
        struct asker asker = { .note  = { .post = { .run = run_asker }, .again = 2 * SC_LOOP_PASSES },
                               .member = &member };
        sc_loop_post_and_turn(loop, &asker.note.post);
        wait_seen(2 * SC_LOOP_PASSES + 1);
        ck_assert_int_ge(asker.rests_then, 1);
        leave(&member);
        finish();
}
END_TEST

START_TEST(whoever_holds_the_token_rests_when_giving_it_back)
{
        struct clock_member member, gone;
        start();
        join(&member, SC_NEVER, SC_NEVER);
        join(&gone, SC_NEVER, SC_NEVER);
        sc_loop_hold(loop);
        sc_loop_ask_rest(loop, &member.member);
        sc_loop_ask_rest(loop, &gone.member);
        sc_loop_leave(loop, &gone.member);
        ck_assert_int_eq(member.rests, 0);
        sc_loop_release(loop);
        ck_assert_int_eq(member.rests, 1);
        ck_assert_int_eq(gone.rests, 0);
        leave(&member);
        finish();
}
END_TEST

START_TEST(a_post_that_was_taken_back_does_not_run)
{
        struct note one = NOTE, two = NOTE;
        start();
        sc_loop_hold(loop);
        sc_loop_unpost(loop, &one.post);
        sc_loop_post(loop, &one.post);
        sc_loop_post(loop, &two.post);
        sc_loop_unpost(loop, &one.post);
        sc_loop_release(loop);
        wait_seen(1);
        sc_loop_post_and_turn(loop, &one.post);
        wait_seen(2);
        ck_assert_int_eq(one.runs, 1);
        finish();
}
END_TEST

START_TEST(a_foreign_thread_is_not_captured_for_ever)
{
        struct note note = { .post = { .run = run_note }, .again = 1000 };
        start();
        sc_loop_post_and_turn(loop, &note.post);
        wait_seen(1001);
        ck_assert(!pthread_equal(note.ran_on, pthread_self())); /* the loop's thread has taken over */
        finish();
}
END_TEST

START_TEST(whoever_holds_the_token_turns_alone)
{
        struct note note = NOTE;
        start();
        sc_loop_hold(loop);
        ck_assert(sc_loop_held(loop));
        sc_loop_post_and_turn(loop, &note.post);
        ck_assert_int_eq(seen_now(), 0);
        sc_loop_release(loop);
        ck_assert(!sc_loop_in_turn(loop));
        wait_seen(1);
        finish();
}
END_TEST

/* ---- deadlines --------------------------------------------------------------------------------------------- */

START_TEST(a_deadline_is_ticked_once_and_never_early)
{
        struct clock_member m;
        start();
        join(&m, sc_clock_now() + 20 * SC_MS, SC_NEVER);
        wait_seen(1);
        leave(&m);
        ck_assert_int_eq(m.ticks, 1);
        ck_assert_int_le(m.early, 0);
        ck_assert_int_ge(m.flushes, 2); /* joined, ticked */
        finish();
}
END_TEST

START_TEST(an_earlier_deadline_wakes_the_sleeping_thread)
{
        struct clock_member far, near;
        start();
        join(&far, sc_clock_now() + 3600 * SC_S, SC_NEVER);
        join(&near, sc_clock_now() + 10 * SC_MS, SC_NEVER);
        wait_seen(1);
        leave(&near);
        leave(&far);
        ck_assert_int_eq(near.ticks, 1);
        ck_assert_int_eq(far.ticks, 0);
        finish();
}
END_TEST

START_TEST(deadlines_come_in_their_order)
{
        struct clock_member m[5];
        start();
        sc_loop_hold(loop);
        const sc_ns now = sc_clock_now();
        for (int i = 0; i < 5; i++) {
                m[i] = (struct clock_member){ .due = now + (5 - i) * SC_MS, .period = SC_NEVER, .ticks = i * 10 };
                ck_assert_int_eq(sc_loop_join(loop, &m[i].member, &member_ops, &m[i]), 0);
        }
        sc_loop_release(loop);
        wait_seen(5);
        for (int i = 0; i < 5; i++) {
                ck_assert_int_eq(seen.order[i], 100 + (4 - i) * 10 + 1);
                leave(&m[i]);
        }
        finish();
}
END_TEST

/* A core with a to-do list: its deadline is always now. */
START_TEST(a_member_that_is_always_due_lets_others_turn)
{
        struct clock_member m;
        struct note         note = NOTE;
        start();
        join(&m, 1, 0);
        wait_seen(1000);
        for (int i = 0; i < 100; i++) {
                const int runs = i;
                sc_loop_post(loop, &note.post);
                while (true) {
                        sc_loop_hold(loop);
                        const bool ran = note.runs > runs;
                        sc_loop_release(loop);
                        if (ran)
                                break;
                }
        }
        leave(&m);
        ck_assert_int_eq(m.lateness < SC_S, 1); /* a deadline long past means now, not late */
        finish();
}
END_TEST

START_TEST(a_turn_that_comes_late_says_by_how_much)
{
        struct clock_member m;
        start();
        join(&m, sc_clock_now() + 5 * SC_MS, SC_NEVER);
        sc_loop_hold(loop);
        const sc_ns until = sc_clock_now() + 60 * SC_MS;
        while (sc_clock_now() < until)
                sc_loop_wake(loop); /* what a starved process does not even do */
        sc_loop_release(loop);
        wait_seen(1);
        leave(&m);
        ck_assert_int_gt(m.lateness, 40 * SC_MS);
        ck_assert_int_lt(m.lateness, 10 * SC_S);
        finish();
}
END_TEST

START_TEST(a_member_may_leave_in_its_own_tick)
{
        struct clock_member m;
        start();
        sc_loop_hold(loop);
        m = (struct clock_member){ .due = sc_clock_now() + SC_MS };
        ck_assert_int_eq(sc_loop_join(loop, &m.member, &member_ops, &m), 0);
        sc_loop_release(loop);
        sc_loop_hold(loop);
        if (m.ticks == 0)
                m.leaves = true;
        else
                sc_loop_leave(loop, &m.member);
        sc_loop_release(loop);
        wait_seen(1);
        finish();
}
END_TEST

static struct clock_member flushed;

static void touch_and_let_go(struct sc_post *post, sc_ns now)
{
        (void)post;
        (void)now;
        flushed.leaves = true;
        sc_loop_touch(loop, &flushed.member);
        sc_loop_touch(loop, &flushed.member);
}

START_TEST(a_member_may_leave_in_its_own_flush)
{
        struct sc_post post = { .run = touch_and_let_go };
        start();
        join(&flushed, SC_NEVER, SC_NEVER);
        const int before = flushed.flushes;
        sc_loop_post_and_turn(loop, &post);
        ck_assert_int_eq(flushed.flushes, before + 1);
        finish();
}
END_TEST

/* ---- host driven ------------------------------------------------------------------------------------------------ */

static bool readable(int timeout_ms)
{
        struct pollfd fd = { .fd = sc_loop_fd(loop), .events = POLLIN };
        return poll(&fd, 1, timeout_ms) == 1;
}

START_TEST(the_fd_is_readable_while_there_is_work)
{
        struct note note = NOTE;
        start_as(true);
        ck_assert(!readable(0));
        sc_loop_post_and_turn(loop, &note.post);
        ck_assert_int_eq(note.runs, 0); /* the host's thread turns, and nobody else */
        ck_assert(readable(0));
        ck_assert_int_eq(sc_loop_turn(loop, 0), 1);
        ck_assert_int_eq(note.runs, 1);
        ck_assert(!readable(0));
        ck_assert_int_eq(sc_loop_turn(loop, 0), 0);
        finish();
}
END_TEST

START_TEST(the_fd_is_readable_when_a_deadline_is_due)
{
        struct clock_member m;
        start_as(true);
        join(&m, sc_clock_now() + 20 * SC_MS, SC_NEVER);
        ck_assert_int_eq(sc_loop_turn(loop, 0), 0);
        ck_assert(readable(10000));
        ck_assert_int_ge(sc_clock_now(), m.due);
        ck_assert_int_eq(sc_loop_turn(loop, 0), 1);
        ck_assert_int_eq(m.ticks, 1);
        ck_assert(!readable(0));
        leave(&m);
        finish();
}
END_TEST

START_TEST(a_turn_waits_for_a_deadline_and_not_longer_than_told)
{
        struct clock_member m;
        start_as(true);
        const sc_ns begun = sc_clock_now();
        ck_assert_int_eq(sc_loop_turn(loop, 20 * SC_MS), 0);
        ck_assert_int_ge(sc_clock_now() - begun, 20 * SC_MS);
        join(&m, sc_clock_now() + 20 * SC_MS, SC_NEVER);
        ck_assert_int_eq(sc_loop_turn(loop, SC_NEVER), 1);
        leave(&m);
        finish();
}
END_TEST

static void *wake_it(void *arg)
{
        (void)arg;
        sc_loop_wake(loop);
        return NULL;
}

START_TEST(a_waiting_turn_can_be_woken)
{
        pthread_t thread;
        start_as(true);
        ck_assert_int_eq(pthread_create(&thread, NULL, wake_it, NULL), 0);
        ck_assert_int_eq(sc_loop_turn(loop, SC_NEVER), 0);
        pthread_join(thread, NULL);
        finish();
}
END_TEST

START_TEST(more_work_than_a_turn_takes_keeps_the_fd_readable)
{
        struct note note  = { .post = { .run = run_note }, .again = 2 * SC_LOOP_PASSES };
        int         turns = 0;
        start_as(true);
        sc_loop_post(loop, &note.post);
        while (readable(0)) {
                ck_assert_int_le(sc_loop_turn(loop, 0), SC_LOOP_PASSES);
                turns++;
        }
        ck_assert_int_eq(note.runs, 2 * SC_LOOP_PASSES + 1);
        ck_assert_int_eq(turns, 3);
        finish();
}
END_TEST

static void turn_inside(struct sc_post *post, sc_ns now)
{
        (void)post;
        (void)now;
        ck_assert_int_eq(sc_loop_turn(loop, 0), SC_E_STATE);
        see(1);
}

START_TEST(only_a_host_driven_loop_is_turned_and_never_inside_a_turn)
{
        struct sc_post post = { .run = turn_inside };
        start();
        ck_assert_int_eq(sc_loop_turn(loop, 0), SC_E_STATE);
        ck_assert_int_eq(sc_loop_fd(loop), -1);
        ck_assert(!sc_loop_host_driven(loop));
        finish();
        start_as(true);
        ck_assert(sc_loop_host_driven(loop));
        sc_loop_post(loop, &post);
        ck_assert_int_eq(sc_loop_turn(loop, 0), 1);
        finish();
}
END_TEST

/* ---- many threads, and no memory -------------------------------------------------------------------------------- */

enum { STRESS_THREADS = 6, STRESS_POSTS = 3000 };

struct stress_post {
        struct sc_post        post;
        uint64_t             *total; /* of the turn: a race on it shows in the sum, and in the thread sanitizer */
        struct stress_thread *owner;
};

struct stress_thread {
        pthread_t          thread;
        uint64_t           seed;
        struct stress_post posts[STRESS_POSTS];
};

static uint64_t             stress_total;
static struct clock_member  stress_member;
static struct stress_thread stress[STRESS_THREADS];

static void run_stress(struct sc_post *post, sc_ns now)
{
        struct stress_post *p = SC_CONTAINER(post, struct stress_post, post);
        ++*p->total;
        stress_member.due = now + (sc_ns)(*p->total % 7) * 100 * SC_US;
        sc_loop_touch(loop, &stress_member.member);
}

static void *stress_posts(void *arg)
{
        struct stress_thread *self = arg;
        for (int i = 0; i < STRESS_POSTS; i++) {
                self->posts[i] = (struct stress_post){ .post = { .run = run_stress }, .total = &stress_total };
                switch ((self->seed + (uint64_t)i * 7) % 5) {
                case 0:
                        sc_loop_hold(loop);
                        sc_loop_post_and_turn(loop, &self->posts[i].post);
                        sc_loop_touch(loop, &stress_member.member);
                        sc_loop_release(loop);
                        break;
                case 1:
                case 2:
                        sc_loop_post(loop, &self->posts[i].post);
                        break;
                default:
                        sc_loop_post_and_turn(loop, &self->posts[i].post);
                }
        }
        return NULL;
}

static void *host_turns(void *arg)
{
        (void)arg;
        uint64_t total = 0;
        while (total < (uint64_t)STRESS_THREADS * STRESS_POSTS) {
                ck_assert_int_ge(sc_loop_turn(loop, SC_S), 0);
                sc_loop_hold(loop);
                total = stress_total;
                sc_loop_release(loop);
        }
        return NULL;
}

/* The member's ticks are seen, too, so seeing something does not mean that all posts have run. */
static void await_total(void)
{
        const sc_ns until = sc_clock_now() + 60 * SC_S;
        uint64_t    total = 0;
        while (total < (uint64_t)STRESS_THREADS * STRESS_POSTS && sc_clock_now() < until) {
                sc_loop_hold(loop);
                total = stress_total;
                sc_loop_release(loop);
        }
}

START_TEST(no_post_is_lost_among_many_threads)
{
        pthread_t host;
        seen.count   = 0;
        stress_total = 0;
        start_as(_i == 1);
        sc_loop_hold(loop);
        stress_member = (struct clock_member){ .due = SC_NEVER, .period = SC_NEVER, .ticks = 1000 };
        ck_assert_int_eq(sc_loop_join(loop, &stress_member.member, &member_ops, &stress_member), 0);
        sc_loop_release(loop);
        if (_i == 1)
                ck_assert_int_eq(pthread_create(&host, NULL, host_turns, NULL), 0);
        for (int i = 0; i < STRESS_THREADS; i++) {
                stress[i].seed = (uint64_t)i;
                ck_assert_int_eq(pthread_create(&stress[i].thread, NULL, stress_posts, &stress[i]), 0);
        }
        for (int i = 0; i < STRESS_THREADS; i++)
                pthread_join(stress[i].thread, NULL);
        if (_i == 1)
                pthread_join(host, NULL);
        await_total();
        leave(&stress_member);
        ck_assert_uint_eq(stress_total, (uint64_t)STRESS_THREADS * STRESS_POSTS);
        finish();
}
END_TEST

START_TEST(a_loop_without_memory_is_refused_and_leaves_nothing)
{
        for (size_t n = 1;; n++) {
                struct fail_mem     fail;
                struct clock_member m = { .due = SC_NEVER };
                fail_mem_init(&fail, n);
                int status = sc_loop_create(&(struct sc_loop_options){ .mem = &fail.mem, .host_driven = n % 2 }, &loop);
                if (status == 0) {
                        sc_loop_hold(loop);
                        status = sc_loop_join(loop, &m.member, &member_ops, &m);
                        if (status == 0)
                                sc_loop_leave(loop, &m.member);
                        sc_loop_release(loop);
                        sc_loop_destroy(loop);
                }
                ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
                ck_assert_int_eq(status, fail_mem_hit(&fail) ? SC_E_NOMEM : 0);
                if (!fail_mem_hit(&fail))
                        break;
        }
        sc_loop_destroy(NULL);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("loop");
        tcase_add_test(tests, a_post_is_run_by_the_loops_own_thread);
        tcase_add_test(tests, a_thread_that_finds_the_token_free_turns_itself);
        tcase_add_test(tests, posts_run_in_the_order_they_came);
        tcase_add_test(tests, rest_comes_once_when_all_posts_are_done_with);
        tcase_add_test(tests, rest_does_not_wait_for_posts_without_end);
        tcase_add_test(tests, whoever_holds_the_token_rests_when_giving_it_back);
        tcase_add_test(tests, a_post_that_was_taken_back_does_not_run);
        tcase_add_test(tests, a_foreign_thread_is_not_captured_for_ever);
        tcase_add_test(tests, whoever_holds_the_token_turns_alone);
        tcase_add_test(tests, a_deadline_is_ticked_once_and_never_early);
        tcase_add_test(tests, an_earlier_deadline_wakes_the_sleeping_thread);
        tcase_add_test(tests, deadlines_come_in_their_order);
        tcase_add_test(tests, a_member_that_is_always_due_lets_others_turn);
        tcase_add_test(tests, a_turn_that_comes_late_says_by_how_much);
        tcase_add_test(tests, a_member_may_leave_in_its_own_tick);
        tcase_add_test(tests, a_member_may_leave_in_its_own_flush);
        tcase_add_test(tests, the_fd_is_readable_while_there_is_work);
        tcase_add_test(tests, the_fd_is_readable_when_a_deadline_is_due);
        tcase_add_test(tests, a_turn_waits_for_a_deadline_and_not_longer_than_told);
        tcase_add_test(tests, a_waiting_turn_can_be_woken);
        tcase_add_test(tests, more_work_than_a_turn_takes_keeps_the_fd_readable);
        tcase_add_test(tests, only_a_host_driven_loop_is_turned_and_never_inside_a_turn);
        tcase_add_loop_test(tests, no_post_is_lost_among_many_threads, 0, 2);
        tcase_add_test(tests, a_loop_without_memory_is_refused_and_leaves_nothing);
        return run_tests("loop", tests);
}
