/*
 * Slot threads: every job runs once and is posted back once, no wakeup is lost, a thread goes on with
 * what its own turn hands over, and the pool's end waits for those at work.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fail_mem.h"
#include "run_tests.h"
#include "run_threads.h"
#include "sc_status.h"

enum { JOBS_MAX = 20000, PATIENCE_S = 60 };

struct job {
        struct sc_job job;
        int           runs, posts;
        bool          keeps; /* its slot, after it has returned */
        pthread_t     thread;
        void        (*also)(struct job *job);   /* on the slot thread */
        void        (*posted)(struct job *job); /* in the turn */
};

static struct fail_mem  mem;
static struct sc_mem    plain;
static struct sc_loop  *loop;
static struct sc_slots *slots;
static struct job       jobs[JOBS_MAX];
static pthread_mutex_t  lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t   news = PTHREAD_COND_INITIALIZER;
static int              done;     /* lock: posts that have run */
static int              inside;   /* lock: jobs that wait for the gate */
static bool             gate;     /* lock: open */

static void start_world(void)
{
        sc_mem_init_libc(&plain);
        fail_mem_init(&mem, 0);
        ck_assert_int_eq(sc_loop_create(&(struct sc_loop_options){ .mem = &plain }, &loop), SC_OK);
        memset(jobs, 0, sizeof jobs);
        done = inside = 0;
        gate          = false;
        slots         = NULL;
}

static void finish_world(void)
{
        sc_slots_destroy(slots);
        ck_assert_uint_eq(fail_mem_leaks(&mem), 0);
        sc_loop_destroy(loop);
}

static void create(uint32_t threads)
{
        ck_assert_int_eq(sc_slots_create(&mem.mem, loop, threads, 256 * 1024, 4, &slots), SC_OK);
}

static bool work(struct sc_job *base)
{
        struct job *job = SC_CONTAINER(base, struct job, job);
        job->runs++;
        job->thread = pthread_self();
        if (job->also)
                job->also(job);
        return !job->keeps;
}

static void on_end(struct sc_job *base, sc_ns now)
{
        (void)now;
        struct job *job = SC_CONTAINER(base, struct job, job);
        ck_assert(sc_list_empty(&base->link));
        job->posts++;
        if (job->posted)
                job->posted(job);
        pthread_mutex_lock(&lock);
        done++;
        pthread_cond_broadcast(&news);
        pthread_mutex_unlock(&lock);
}

static void line_up(struct sc_list *list, struct job *job)
{
        job->job.work  = work;
        job->job.ended = on_end;
        sc_list_init(&job->job.link);
        sc_list_add_tail(list, &job->job.link);
}

static int submit(struct job *job)
{
        struct sc_list one;
        sc_list_init(&one);
        line_up(&one, job);
        const int status = sc_slots_submit(slots, &one);
        ck_assert(sc_list_empty(&one) == (status == SC_OK));
        sc_list_remove(&one);
        return status;
}

static void wait_count(const int *count, int least)
{
        struct timespec deadline;
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_sec += PATIENCE_S;
        pthread_mutex_lock(&lock);
        while (*count < least)
                ck_assert_msg(pthread_cond_timedwait(&news, &lock, &deadline) == 0, "%d of %d", *count, least);
        pthread_mutex_unlock(&lock);
}

static void wait_at_gate(struct job *job)
{
        (void)job;
        pthread_mutex_lock(&lock);
        inside++;
        pthread_cond_broadcast(&news);
        while (!gate)
                pthread_cond_wait(&news, &lock);
        pthread_mutex_unlock(&lock);
}

static void open_gate(void)
{
        pthread_mutex_lock(&lock);
        gate = true;
        pthread_cond_broadcast(&news);
        pthread_mutex_unlock(&lock);
}

START_TEST(every_job_runs_once_and_is_told_once)
{
        create(3);
        for (int i = 0; i < JOBS_MAX; i++)
                ck_assert_int_eq(submit(&jobs[i]), SC_OK);
        wait_count(&done, JOBS_MAX);
        for (int i = 0; i < JOBS_MAX; i++) {
                ck_assert_int_eq(jobs[i].runs, 1);
                ck_assert_int_eq(jobs[i].posts, 1);
        }
}
END_TEST

/* Many at a time; all threads take part, none takes two, and ends come in the order in which they happened. */
START_TEST(jobs_handed_over_together_run_once_each)
{
        create(3);
        for (int i = 0; i < JOBS_MAX; i += 100) {
                struct sc_list list;
                sc_list_init(&list);
                for (int k = i; k < i + 100; k++)
                        line_up(&list, &jobs[k]);
                ck_assert_int_eq(sc_slots_submit(slots, &list), SC_OK);
                ck_assert(sc_list_empty(&list));
        }
        wait_count(&done, JOBS_MAX);
        for (int i = 0; i < JOBS_MAX; i++)
                ck_assert(jobs[i].runs == 1 && jobs[i].posts == 1);
}
END_TEST

START_TEST(a_long_job_does_not_hold_up_those_handed_over_with_it)
{
        struct sc_list list;
        create(2);
        sc_list_init(&list);
        jobs[0].also = wait_at_gate;
        for (int i = 0; i < 50; i++)
                line_up(&list, &jobs[i]);
        ck_assert_int_eq(sc_slots_submit(slots, &list), SC_OK);
        wait_count(&done, 49);
        ck_assert_int_eq(jobs[0].posts, 0);
        open_gate();
        wait_count(&done, 50);
}
END_TEST

START_TEST(what_has_not_begun_can_be_taken_back)
{
        create(1);
        jobs[0].also = wait_at_gate;
        for (int i = 0; i < 4; i++)
                ck_assert_int_eq(submit(&jobs[i]), SC_OK);
        wait_count(&inside, 1);
        ck_assert(!sc_slots_take_back(slots, &jobs[0].job));
        ck_assert(sc_slots_take_back(slots, &jobs[2].job));
        ck_assert(sc_list_empty(&jobs[2].job.link));
        ck_assert(!sc_slots_take_back(slots, &jobs[2].job));
        open_gate();
        wait_count(&done, 3);
        ck_assert_int_eq(jobs[2].runs, 0);
        ck_assert_int_eq(submit(&jobs[2]), SC_OK);
        wait_count(&done, 4);
        ck_assert_int_eq(jobs[2].runs, 1);
        ck_assert(!sc_slots_take_back(slots, &jobs[2].job));
}
END_TEST

START_TEST(a_slot_that_was_kept_is_nobodys_until_it_is_freed)
{
        create(2);
        jobs[0].keeps = jobs[1].keeps = true;
        for (int i = 0; i < 4; i++)
                ck_assert_int_eq(submit(&jobs[i]), SC_OK);
        wait_count(&done, 2);
        ck_assert(sc_slots_take_back(slots, &jobs[3].job)); /* it waits, though both threads sleep */
        ck_assert_int_eq(jobs[2].runs, 0);
        sc_slots_free(slots);
        wait_count(&done, 3);
        sc_slots_free(slots);
}
END_TEST

START_TEST(jobs_of_one_thread_run_in_order)
{
        create(1);
        jobs[0].also = wait_at_gate;
        for (int i = 0; i < 100; i++)
                ck_assert_int_eq(submit(&jobs[i]), SC_OK);
        wait_count(&inside, 1);
        ck_assert_int_eq(done, 0);
        open_gate();
        wait_count(&done, 100);
        for (int i = 1; i < 100; i++)
                ck_assert(pthread_equal(jobs[i].thread, jobs[0].thread));
}
END_TEST

START_TEST(jobs_run_at_the_same_time_on_as_many_threads_as_there_are)
{
        create(4);
        for (int i = 0; i < 6; i++) {
                jobs[i].also = wait_at_gate;
                ck_assert_int_eq(submit(&jobs[i]), SC_OK);
        }
        wait_count(&inside, 4);
        open_gate();
        wait_count(&done, 6);
}
END_TEST

static int count_threads(void)
{
        char  line[128];
        int   count = 0;
        FILE *file  = fopen("/proc/self/status", "r");
        while (fgets(line, sizeof line, file))
                if (sscanf(line, "Threads: %d", &count) == 1)
                        break;
        fclose(file);
        return count;
}

START_TEST(threads_are_started_when_jobs_need_them)
{
        const int before = count_threads();
        create(100);
        ck_assert_int_eq(count_threads(), before);
        for (int i = 0; i < 2; i++) {
                jobs[i].also = wait_at_gate;
                ck_assert_int_eq(submit(&jobs[i]), SC_OK);
        }
        wait_count(&inside, 2);
        ck_assert_int_eq(count_threads(), before + 2);
        open_gate();
        wait_count(&done, 2);
}
END_TEST

/* One job at a time, each from outside when the one before is done: a lost wakeup hangs. */
START_TEST(no_wakeup_is_lost)
{
        create(2);
        for (int i = 0; i < 5000; i++) {
                ck_assert_int_eq(submit(&jobs[i]), SC_OK);
                wait_count(&done, i + 1);
        }
}
END_TEST

static void hand_over_next(struct job *job)
{
        if (job + 1 < jobs + 5000)
                ck_assert_int_eq(submit(job + 1), SC_OK);
}

START_TEST(what_a_turn_hands_over_is_taken_by_the_thread_that_turned)
{
        create(2);
        for (int i = 0; i < 5000; i++)
                jobs[i].posted = hand_over_next;
        ck_assert_int_eq(submit(&jobs[0]), SC_OK);
        wait_count(&done, 5000);
        int moved = 0;
        for (int i = 1; i < 5000; i++)
                moved += !pthread_equal(jobs[i].thread, jobs[i - 1].thread);
        ck_assert_int_lt(moved, 500); /* now and then the loop's own thread turns */
}
END_TEST

static void hand_over_two(struct job *job)
{
        const long at = job - jobs;
        for (long next = 2 * at + 1; next <= 2 * at + 2 && next < JOBS_MAX; next++)
                ck_assert_int_eq(submit(&jobs[next]), SC_OK);
}

START_TEST(a_tree_of_jobs_is_finished)
{
        create(4);
        for (int i = 0; i < JOBS_MAX; i++)
                jobs[i].posted = hand_over_two;
        ck_assert_int_eq(submit(&jobs[0]), SC_OK);
        wait_count(&done, JOBS_MAX);
}
END_TEST

static void look_at_mask(struct job *job)
{
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        for (int signal = 1; signal < 32; signal++)
                if (signal != SIGKILL && signal != SIGSTOP && sigismember(&mask, signal) != 1)
                        job->runs = -signal;
}

START_TEST(no_signal_lands_in_a_slot_thread)
{
        sigset_t before, after;
        pthread_sigmask(SIG_SETMASK, NULL, &before);
        create(1);
        jobs[0].also = look_at_mask;
        ck_assert_int_eq(submit(&jobs[0]), SC_OK);
        wait_count(&done, 1);
        ck_assert_int_eq(jobs[0].runs, 1);
        pthread_sigmask(SIG_SETMASK, NULL, &after);
        for (int signal = 1; signal < 32; signal++)
                ck_assert_int_eq(sigismember(&before, signal), sigismember(&after, signal));
}
END_TEST

static void *open_gate_soon(void *arg)
{
        (void)arg;
        /* while destroy waits, or before: both are good */
        nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
        open_gate();
        return NULL;
}

START_TEST(destroy_waits_for_those_at_work_and_drops_the_rest)
{
        pthread_t opener;
        create(2);
        for (int i = 0; i < 10; i++) {
                jobs[i].also = wait_at_gate;
                ck_assert_int_eq(submit(&jobs[i]), SC_OK);
        }
        wait_count(&inside, 2);
        ck_assert_int_eq(pthread_create(&opener, NULL, open_gate_soon, NULL), 0);
        sc_slots_destroy(slots);
        slots = NULL;
        pthread_join(opener, NULL);
        int runs = 0;
        for (int i = 0; i < 10; i++) {
                runs += jobs[i].runs;
                ck_assert(sc_list_empty(&jobs[i].job.link));
        }
        ck_assert_int_ge(runs, 2);
        ck_assert_int_eq(done, runs);
}
END_TEST

START_TEST(destroy_accepts_none_and_an_unused_pool)
{
        sc_slots_destroy(NULL);
        create(8);
}
END_TEST

START_TEST(a_pool_of_nothing_or_without_memory_is_refused)
{
        ck_assert_int_eq(sc_slots_create(&mem.mem, loop, 0, 0, 0, &slots), SC_E_INVALID);
        mem.fail_at = 1;
        ck_assert_int_eq(sc_slots_create(&mem.mem, loop, 2, 0, 0, &slots), SC_E_NOMEM);
        ck_assert_ptr_null(slots);
}
END_TEST

START_TEST(a_job_that_no_thread_can_be_started_for_is_given_back)
{
        /* more stack than an address space has */
        ck_assert_int_eq(sc_slots_create(&mem.mem, loop, 1, (size_t)1 << 47, 0, &slots), SC_OK);
        const int status = submit(&jobs[0]);
        ck_assert(status == SC_E_IO || status == SC_E_NOMEM);
        ck_assert(sc_list_empty(&jobs[0].job.link));
        ck_assert_int_eq(jobs[0].runs, 0);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("slots");
        tcase_add_checked_fixture(tests, start_world, finish_world);
        tcase_add_test(tests, every_job_runs_once_and_is_told_once);
        tcase_add_test(tests, jobs_handed_over_together_run_once_each);
        tcase_add_test(tests, a_long_job_does_not_hold_up_those_handed_over_with_it);
        tcase_add_test(tests, what_has_not_begun_can_be_taken_back);
        tcase_add_test(tests, a_slot_that_was_kept_is_nobodys_until_it_is_freed);
        tcase_add_test(tests, jobs_of_one_thread_run_in_order);
        tcase_add_test(tests, jobs_run_at_the_same_time_on_as_many_threads_as_there_are);
        tcase_add_test(tests, threads_are_started_when_jobs_need_them);
        tcase_add_test(tests, no_wakeup_is_lost);
        tcase_add_test(tests, what_a_turn_hands_over_is_taken_by_the_thread_that_turned);
        tcase_add_test(tests, a_tree_of_jobs_is_finished);
        tcase_add_test(tests, no_signal_lands_in_a_slot_thread);
        tcase_add_test(tests, destroy_waits_for_those_at_work_and_drops_the_rest);
        tcase_add_test(tests, destroy_accepts_none_and_an_unused_pool);
        tcase_add_test(tests, a_pool_of_nothing_or_without_memory_is_refused);
        tcase_add_test(tests, a_job_that_no_thread_can_be_started_for_is_given_back);
        return run_tests("slots", tests);
}
