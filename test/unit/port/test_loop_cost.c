/*
 * What the loop's own thread costs its host: it is not woken for a turn that another thread takes, nor each
 * time that a deadline comes and goes, and takes none of the host's signals.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "loop.h"
#include "run_tests.h"
#include "sc_mem.h"
#include "sc_status.h"

static struct sc_mem   mem;
static struct sc_loop *loop;

/* The status line `key` of the loop's thread, found by its name. */
static long long loop_thread_status(const char *key, int base)
{
        long long      value = -1;
        DIR           *tasks = opendir("/proc/self/task");
        struct dirent *task;
        ck_assert_ptr_nonnull(tasks);
        while (value < 0 && (task = readdir(tasks)) != NULL) {
                char path[300], line[256];
                bool ours = false;
                snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
                FILE *status = fopen(path, "re");
                while (status && fgets(line, sizeof line, status)) {
                        ours = ours || strcmp(line, "Name:\tscaler:loop\n") == 0;
                        if (ours && strncmp(line, key, strlen(key)) == 0)
                                value = (long long)strtoull(line + strlen(key), NULL, base);
                }
                if (status)
                        fclose(status);
        }
        closedir(tasks);
        return value;
}

static long long switches(void)
{
        const long long count = loop_thread_status("voluntary_ctxt_switches:", 10);
        ck_assert_int_ge(count, 0);
        return count;
}

/* Its state is a letter, S when it sleeps: a digit of base 36. */
static void wait_until_it_sleeps(void)
{
        while (loop_thread_status("State:", 36) != 'S' - 'A' + 10)
                sched_yield();
}

static void start(void)
{
        sc_mem_init_libc(&mem);
        const struct sc_loop_options options = { .mem = &mem };
        ck_assert_int_eq(sc_loop_create(&options, &loop), 0);
        wait_until_it_sleeps();
}

static void finish(void)
{
        sc_loop_destroy(loop);
        ck_assert_uint_eq(atomic_load(&mem.used), 0);
}

/* A member whose deadline the test sets. */
struct clock_member {
        struct sc_member member;
        sc_ns            due;
        atomic_int       ticks;
};

static sc_ns member_deadline(void *ctx)
{
        return ((struct clock_member *)ctx)->due;
}

static void member_tick(void *ctx, sc_ns now)
{
        struct clock_member *m = ctx;
        (void)now;
        m->due = SC_NEVER;
        m->ticks++;
}

static const struct sc_member_ops member_ops = { .deadline = member_deadline, .tick = member_tick };

static void join(struct clock_member *m, sc_ns due)
{
        *m = (struct clock_member){ .due = due };
        sc_loop_hold(loop);
        ck_assert_int_eq(sc_loop_join(loop, &m->member, &member_ops, m), 0);
        sc_loop_release(loop);
        wait_until_it_sleeps();
}

static void leave(struct clock_member *m)
{
        sc_loop_hold(loop);
        sc_loop_leave(loop, &m->member);
        sc_loop_release(loop);
}

static void set_due(struct clock_member *m, sc_ns due)
{
        sc_loop_hold(loop);
        m->due = due;
        sc_loop_touch(loop, &m->member);
        sc_loop_release(loop);
}

struct count {
        struct sc_post post;
        int            runs;
};

static void run_count(struct sc_post *post, sc_ns now)
{
        (void)now;
        SC_CONTAINER(post, struct count, post)->runs++;
}

START_TEST(a_foreign_turn_does_not_wake_the_loops_thread)
{
        struct clock_member m;
        struct count        count = { .post = { .run = run_count } };
        start();
        join(&m, sc_clock_now() + 3600 * SC_S);
        const long long before = switches();
        for (int i = 0; i < 10000; i++)
                sc_loop_post_and_turn(loop, &count.post);
        ck_assert_int_eq(count.runs, 10000);
        ck_assert_int_le(switches() - before, 3); /* lying down after the last wake-up, at most */
        leave(&m);
        finish();
}
END_TEST

START_TEST(deadlines_that_come_and_go_do_not_wake_the_loops_thread_each_time)
{
        const sc_ns         near = 500 * SC_MS, far = 3600 * SC_S;
        struct clock_member m;
        start();
        join(&m, sc_clock_now() + far);
        const sc_ns     began  = sc_clock_now();
        const long long before = switches();
        for (int i = 0; i < 100; i++) {
                set_due(&m, sc_clock_now() + near);
                set_due(&m, sc_clock_now() + far);
                wait_until_it_sleeps();
        }
        ck_assert_int_eq(m.ticks, 0);
        ck_assert_int_le(switches() - before, 10 + 10 * ((sc_clock_now() - began) / near));
        set_due(&m, sc_clock_now() + SC_MS);
        while (m.ticks == 0) /* it still gets up when there is something to do */
                sched_yield();
        leave(&m);
        finish();
}
END_TEST

START_TEST(no_signal_is_delivered_to_the_loops_thread)
{
        start();
        const unsigned long long blocked = (unsigned long long)loop_thread_status("SigBlk:", 16);
        ck_assert((blocked & 1ull << (SIGINT - 1)) && (blocked & 1ull << (SIGTERM - 1)) &&
                  (blocked & 1ull << (SIGCHLD - 1)));
        finish();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("loop_cost");
        tcase_add_test(tests, a_foreign_turn_does_not_wake_the_loops_thread);
        tcase_add_test(tests, deadlines_that_come_and_go_do_not_wake_the_loops_thread_each_time);
        tcase_add_test(tests, no_signal_is_delivered_to_the_loops_thread);
        return run_tests("loop_cost", tests);
}
