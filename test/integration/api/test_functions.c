/* Functions end to end, in one process: results, failures, queues, limits, cancels, time limits. */
#include <poll.h>
#include <stdlib.h>

#include "cluster.h"

static struct cluster c;

static void up(void)
{
        cluster_up(&c, 2);
}

static void down(void)
{
        cluster_down(&c);
}

START_TEST(a_function_returns_what_it_computed)
{
        expect_text(submit(c.client, "echo", "hello", 5), "hello");
        expect_text(submit(c.client, "echo", "", 0), "");
}
END_TEST

START_TEST(a_failing_function_tells_code_words_and_detail)
{
        scaler_future *f = submit(c.client, "fail", "why", 3);
        expect_failure(f, SCALER_E_TASK, SCALER_REASON_TASK, 7);
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_str_eq(failure.text, "as asked");
        ck_assert_uint_eq(failure.attempts, 1);
        scaler_blob *detail = NULL;
        ck_assert_int_eq(scaler_future_detail(f, &detail), 0);
        ck_assert_uint_eq(scaler_blob_size(detail), 3);
        ck_assert_mem_eq(scaler_blob_data(detail), "why", 3);
        scaler_blob_unref(detail);
        ck_assert_int_eq(scaler_future_state(f), SCALER_TASK_FAILED);
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_code_other_than_0_is_a_failure_with_that_code)
{
        const int32_t codes[] = { 1, -1, INT32_MAX, INT32_MIN };
        for (size_t i = 0; i < 4; i++) {
                scaler_future *f = submit(c.client, "code", &codes[i], sizeof codes[i]);
                expect_failure(f, SCALER_E_TASK, SCALER_REASON_TASK, codes[i]);
                scaler_future_unref(f);
        }
}
END_TEST

START_TEST(ten_thousand_tasks_are_each_answered_once_with_their_own_answer)
{
        enum { N = 10000 };
        scaler_queue *q;
        ck_assert_int_eq(scaler_queue_create(c.rt, &q, NULL), 0);
        for (uint32_t i = 0; i < N; i++) {
                const scaler_arg a = scaler_arg_bytes(&i, sizeof i);
                scaler_spec      spec;
                scaler_init(&spec, sizeof spec);
                spec.function  = "echo";
                spec.args      = &a;
                spec.arg_count = 1;
                spec.user_data = i;
                spec.queue     = q;
                ck_assert_int_eq(scaler_client_submit(c.client, &spec, NULL, NULL), 0);
        }
        static unsigned char seen[N];
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < N; i++) {
                scaler_future *f;
                ck_assert_int_eq(scaler_queue_next(q, WAIT_MS, &f), 0);
                const uint32_t which = (uint32_t)scaler_future_user_data(f);
                ck_assert_uint_eq(seen[which]++, 0);
                expect_bytes(f, &which, sizeof which);
        }
        scaler_future *f;
        ck_assert_int_eq(scaler_queue_next(q, 0, &f), SCALER_E_TIMEOUT);
        ck_assert_int_eq(scaler_client_wait_all(c.client, 0), 0);
        scaler_queue_destroy(q);
}
END_TEST

static bool readable(int fd)
{
        struct pollfd p = { .fd = fd, .events = POLLIN };
        return poll(&p, 1, 0) == 1;
}

START_TEST(a_queues_descriptor_is_readable_while_it_holds_something)
{
        scaler_queue *q;
        ck_assert_int_eq(scaler_queue_create(c.rt, &q, NULL), 0);
        const int fd = scaler_queue_fd(q);
        ck_assert_int_ge(fd, 0);
        ck_assert(!readable(fd));
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "echo";
        spec.queue    = q;
        ck_assert_int_eq(scaler_client_submit(c.client, &spec, NULL, NULL), 0);
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
        scaler_future *f;
        ck_assert_int_eq(scaler_queue_next(q, 0, &f), 0);
        ck_assert(!readable(fd));
        scaler_future_unref(f);
        scaler_queue_wake(q);
        ck_assert_int_eq(scaler_queue_next(q, WAIT_MS, &f), SCALER_E_CANCELLED);
        scaler_queue_destroy(q);
}
END_TEST

START_TEST(a_task_is_cancelled_while_it_waits_for_a_slot)
{
        scaler_future *a = submit(c.client, "block", "", 0), *b = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 2);
        scaler_future *queued = submit(c.client, "echo", "x", 1);
        ck_assert_int_eq(scaler_future_cancel_wait(queued, 0, WAIT_MS), SCALER_CANCEL_DONE);
        expect_failure(queued, SCALER_E_CANCELLED, SCALER_REASON_CANCELLED, 0);
        ck_assert_int_eq(scaler_future_state(queued), SCALER_TASK_CANCELLED);
        ck_assert_int_eq(scaler_future_cancel_wait(queued, 0, WAIT_MS), SCALER_CANCEL_NOT_FOUND);
        cluster_release(&c);
        expect_text(a, "");
        expect_text(b, "");
        scaler_future_unref(queued);
}
END_TEST

START_TEST(a_running_function_that_listens_ends_as_cancelled)
{
        scaler_future *f = submit(c.client, "block", "", 0);
        cluster_await_running(&c, 1);
        ck_assert_int_eq(scaler_future_cancel(f, 0), 0);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_CANCELLED);
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_stubborn_function_is_abandoned_when_cancelled_by_force)
{
        scaler_future *f = submit(c.client, "stubborn", "", 0);
        cluster_await_running(&c, 1);
        ck_assert_int_eq(scaler_future_cancel_wait(f, SCALER_CANCEL_FORCE, WAIT_MS), SCALER_CANCEL_DONE);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_CANCELLED);
        expect_text(submit(c.client, "echo", "slot 2 works on", 15), "slot 2 works on");
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_success_that_beats_the_cancel_stays_a_success)
{
        scaler_future *f = submit(c.client, "stubborn", "", 0);
        cluster_await_running(&c, 1);
        ck_assert_int_eq(scaler_future_cancel(f, 0), 0);
        cluster_release(&c);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), 0);
        scaler_future_unref(f);
}
END_TEST

START_TEST(all_tasks_of_a_client_are_cancelled_with_one_call)
{
        enum { QUEUED = 5000 };
        static scaler_future *queued[QUEUED];
        scaler_future        *a = submit(c.client, "block", "", 0), *b = submit(c.client, "stubborn", "", 0);
        uint64_t              count = 0;
        cluster_await_running(&c, 2);
        for (int i = 0; i < QUEUED; i++)
                queued[i] = submit(c.client, "echo", "x", 1);
        ck_assert_int_eq(scaler_client_cancel_many(c.client, NULL, 0, WAIT_MS, &count), 0);
        ck_assert_uint_eq(count, QUEUED + 2);
        for (int i = 0; i < QUEUED; i++) {
                ck_assert_int_eq(scaler_future_result(queued[i], WAIT_MS, NULL), SCALER_E_CANCELLED);
                scaler_future_unref(queued[i]);
        }
        scaler_future *later = submit(c.client, "echo", "later", 5); /* is none of them */
        cluster_release(&c);
        ck_assert_int_eq(scaler_future_result(a, WAIT_MS, NULL), SCALER_E_CANCELLED);
        expect_text(b, ""); /* a success that beats the cancel stays one */
        expect_text(later, "later");
        scaler_future_unref(a);
        ck_assert_int_eq(scaler_client_cancel_many(c.client, NULL, SCALER_CANCEL_FORCE, WAIT_MS, &count), 0);
        ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_selector_that_is_none_is_refused)
{
        char            tag[129];
        scaler_selector s;
        scaler_init(&s, sizeof s);
        memset(tag, 't', 128);
        tag[128] = '\0';
        ck_assert_int_eq(scaler_client_cancel_many(NULL, &s, 0, 0, NULL), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_cancel_many(c.client, &s, 2, WAIT_MS, NULL), SCALER_E_INVALID);
        s.tag = tag;
        ck_assert_int_eq(scaler_client_cancel_many(c.client, &s, 0, WAIT_MS, NULL), SCALER_E_INVALID);
        s.tag = tag + 1;
        ck_assert_int_eq(scaler_client_cancel_many(c.client, &s, 0, WAIT_MS, NULL), 0);
        s.client = (scaler_id){ 1, 2 };
        ck_assert_int_eq(scaler_client_cancel_many(c.client, &s, 0, WAIT_MS, NULL), SCALER_E_INVALID);
        s.client = (scaler_id){ 0, 2 };
        ck_assert_int_eq(scaler_client_cancel_many(c.client, &s, 0, WAIT_MS, NULL), SCALER_E_DENIED);
        s.size = 0;
        ck_assert_int_eq(scaler_client_cancel_many(c.client, &s, 0, WAIT_MS, NULL), SCALER_E_INVALID);
}
END_TEST

START_TEST(a_cancel_right_after_submit_reaches_the_task)
{
        for (int i = 0; i < 200; i++) {
                scaler_future *f = submit(c.client, "block", "", 0);
                ck_assert_int_eq(scaler_future_cancel(f, 0), 0);
                ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_CANCELLED);
                scaler_future_unref(f);
        }
}
END_TEST

START_TEST(a_time_limit_ends_a_run_and_says_so)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function    = "block";
        spec.timeout_ms  = 50;
        scaler_future *f = submit_spec(c.client, &spec);
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, NULL), SCALER_E_LIMIT);
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        ck_assert_int_eq(scaler_future_failure(f, &failure), 0);
        ck_assert_int_eq(failure.reason, SCALER_REASON_RUN_TIMEOUT);
        ck_assert_ptr_nonnull(strstr(failure.text, "50"));
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_task_that_fails_by_itself_runs_again_as_often_as_its_spec_asks)
{
        const int32_t    third = 3;
        const scaler_arg a     = scaler_arg_bytes(&third, sizeof third);
        scaler_spec      spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = "attempt";
        spec.args      = &a;
        spec.arg_count = 1;
        spec.retries   = 2;
        expect_text(submit_spec(c.client, &spec), "3");
        spec.retries     = 1;
        scaler_future *f = submit_spec(c.client, &spec);
        expect_failure(f, SCALER_E_TASK, SCALER_REASON_TASK, 3);
        scaler_future_unref(f);
}
END_TEST

START_TEST(completing_what_was_not_deferred_is_ignored)
{
        expect_text(submit(c.client, "hasty", "", 0), "");
}
END_TEST

START_TEST(a_deferred_task_ends_when_it_is_completed)
{
        const int32_t  codes[] = { 0, 5 };
        scaler_future *good = submit(c.client, "defer", &codes[0], 4), *bad = submit(c.client, "defer", &codes[1], 4);
        expect_text(good, "");
        expect_failure(bad, SCALER_E_TASK, SCALER_REASON_TASK, 5);
        scaler_future_unref(bad);
}
END_TEST

START_TEST(results_are_whole_up_to_their_limit_and_refused_beyond)
{
        const int32_t  most = 1 << 20, more = most + 1;
        scaler_future *f    = submit(c.client, "big", &most, sizeof most);
        scaler_blob   *blob = NULL;
        ck_assert_int_eq(scaler_future_result(f, WAIT_MS, &blob), 0);
        ck_assert_uint_eq(scaler_blob_size(blob), (size_t)most);
        scaler_blob_unref(blob);
        scaler_future_unref(f);
        f = submit(c.client, "big", &more, sizeof more);
        expect_failure(f, SCALER_E_TASK, SCALER_REASON_TASK, SCALER_E_TOO_BIG);
        scaler_future_unref(f);
}
END_TEST

START_TEST(arguments_are_whole_up_to_their_limit_and_refused_beyond)
{
        enum { ROOM = (1 << 20) - 16 };
        char *bytes = malloc(ROOM + 64);
        ck_assert_ptr_nonnull(bytes);
        memset(bytes, 'a', ROOM + 64);
        expect_bytes(submit(c.client, "echo", bytes, ROOM), bytes, ROOM);
        const scaler_arg a = scaler_arg_bytes(bytes, ROOM + 64);
        scaler_spec      spec;
        scaler_error     err = { .status = 0 };
        scaler_init(&spec, sizeof spec);
        spec.function  = "echo";
        spec.args      = &a;
        spec.arg_count = 1;
        ck_assert_int_eq(scaler_client_submit(c.client, &spec, NULL, &err), SCALER_E_TOO_BIG);
        ck_assert_int_eq(err.status, SCALER_E_TOO_BIG);
        ck_assert_str_ne(err.text, "");
        free(bytes);
}
END_TEST

START_TEST(arguments_are_aligned_for_every_type)
{
        const char *const bytes = "0123456789abcdef0123456789abcdef";
        scaler_arg        args[20];
        scaler_spec       spec;
        scaler_init(&spec, sizeof spec);
        for (size_t i = 0; i < 20; i++)
                args[i] = scaler_arg_bytes(bytes, i);
        spec.function  = "aligned";
        spec.args      = args;
        spec.arg_count = 20;
        expect_text(submit_spec(c.client, &spec), "");
}
END_TEST

START_TEST(a_task_for_a_function_nobody_has_waits_and_blocks_nobody)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function    = "nobody has this";
        scaler_future *f = submit_spec(c.client, &spec);
        expect_text(submit(c.client, "echo", "on", 2), "on");
        ck_assert_int_eq(scaler_future_wait(f, 0), SCALER_E_TIMEOUT);
        ck_assert_int_eq(scaler_future_cancel_wait(f, 0, WAIT_MS), SCALER_CANCEL_DONE);
        scaler_future_unref(f);
}
END_TEST

START_TEST(a_spec_that_breaks_the_rules_is_refused_with_words)
{
        const scaler_arg  odd    = { .kind = 9 };
        const char *const argv[] = { "true", NULL };
        scaler_command    command;
        scaler_init(&command, sizeof command);
        command.argv = argv;
        scaler_spec bad[8];
        for (size_t i = 0; i < 8; i++) {
                scaler_init(&bad[i], sizeof bad[i]);
                bad[i].function = "echo";
        }
        bad[0].function   = NULL;
        bad[1].command    = &command;
        bad[2].retries    = -1;
        bad[3].timeout_ms = -1;
        bad[4].function   = "";
        bad[5].arg_count  = 1;
        bad[6].args       = &odd;
        bad[6].arg_count  = 1;
        bad[7].size       = 3;
        for (size_t i = 0; i < 8; i++) {
                scaler_error   err = { .status = 0 };
                scaler_future *f   = NULL;
                ck_assert_int_eq(scaler_client_submit(c.client, &bad[i], &f, &err), SCALER_E_INVALID);
                ck_assert_int_eq(err.status, SCALER_E_INVALID);
                ck_assert_str_ne(err.text, "");
                ck_assert_ptr_null(f);
        }
}
END_TEST

START_TEST(specs_of_a_later_and_larger_struct_are_read_by_their_own_stride)
{
        struct later {
                scaler_spec spec;
                uint64_t    unknown_to_us[3];
        } specs[5];
        scaler_future *futures[5];
        const char     text[] = "abcde";
        scaler_arg     args[5];
        for (size_t i = 0; i < 5; i++) {
                memset(&specs[i], 0xee, sizeof specs[i]);
                scaler_init(&specs[i].spec, sizeof specs[i].spec);
                args[i]                 = scaler_arg_bytes(&text[i], 1);
                specs[i].spec.size      = sizeof specs[i];
                specs[i].spec.function  = "echo";
                specs[i].spec.args      = &args[i];
                specs[i].spec.arg_count = 1;
        }
        ck_assert_int_eq(scaler_client_submit_many(c.client, &specs[0].spec, 5, futures, NULL), 0);
        for (size_t i = 0; i < 5; i++)
                expect_bytes(futures[i], &text[i], 1);
        specs[3].spec.size--; /* all or none */
        ck_assert_int_eq(scaler_client_submit_many(c.client, &specs[0].spec, 5, futures, NULL), SCALER_E_INVALID);
        ck_assert_int_eq(scaler_client_wait_all(c.client, 0), 0);
}
END_TEST

START_TEST(futures_are_good_when_their_client_is_gone)
{
        scaler_error          err;
        scaler_client_options o;
        scaler_client        *mine;
        scaler_init(&o, sizeof o);
        o.runtime   = c.rt;
        o.scheduler = scaler_scheduler_address(scaler_local_scheduler(c.local), 0);
        ck_assert_int_eq(scaler_client_create(&o, &mine, &err), 0);
        ck_assert_int_eq(scaler_client_start(mine, &err), 0);
        scaler_future *ended = submit(mine, "echo", "kept", 4), *open = submit(mine, "block", "", 0);
        ck_assert_int_eq(scaler_future_wait(ended, WAIT_MS), 0);
        scaler_client_destroy(mine);
        expect_text(ended, "kept");
        ck_assert_int_eq(scaler_future_wait(open, WAIT_MS), 0);
        ck_assert_int_ne(scaler_future_result(open, 0, NULL), 0);
        ck_assert_int_eq(scaler_future_cancel(open, 0), 0);
        scaler_future_unref(open);
}
END_TEST

START_TEST(a_client_that_was_stopped_takes_no_more)
{
        scaler_spec  spec;
        scaler_error err = { .status = 0 };
        scaler_init(&spec, sizeof spec);
        spec.function = "echo";
        ck_assert_int_eq(scaler_client_stop(c.client, WAIT_MS), 0);
        ck_assert_int_eq(scaler_client_submit(c.client, &spec, NULL, &err), SCALER_E_STATE);
        ck_assert_int_eq(scaler_client_stop(c.client, WAIT_MS), 0);
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("functions");
        tcase_set_timeout(t, 120);
        tcase_add_checked_fixture(t, up, down);
        tcase_add_test(t, a_function_returns_what_it_computed);
        tcase_add_test(t, a_failing_function_tells_code_words_and_detail);
        tcase_add_test(t, a_code_other_than_0_is_a_failure_with_that_code);
        tcase_add_test(t, ten_thousand_tasks_are_each_answered_once_with_their_own_answer);
        tcase_add_test(t, a_queues_descriptor_is_readable_while_it_holds_something);
        tcase_add_test(t, a_task_is_cancelled_while_it_waits_for_a_slot);
        tcase_add_test(t, a_running_function_that_listens_ends_as_cancelled);
        tcase_add_test(t, a_stubborn_function_is_abandoned_when_cancelled_by_force);
        tcase_add_test(t, a_success_that_beats_the_cancel_stays_a_success);
        tcase_add_test(t, a_cancel_right_after_submit_reaches_the_task);
        tcase_add_test(t, all_tasks_of_a_client_are_cancelled_with_one_call);
        tcase_add_test(t, a_selector_that_is_none_is_refused);
        tcase_add_test(t, a_time_limit_ends_a_run_and_says_so);
        tcase_add_test(t, a_task_that_fails_by_itself_runs_again_as_often_as_its_spec_asks);
        tcase_add_test(t, completing_what_was_not_deferred_is_ignored);
        tcase_add_test(t, a_deferred_task_ends_when_it_is_completed);
        tcase_add_test(t, results_are_whole_up_to_their_limit_and_refused_beyond);
        tcase_add_test(t, arguments_are_whole_up_to_their_limit_and_refused_beyond);
        tcase_add_test(t, arguments_are_aligned_for_every_type);
        tcase_add_test(t, a_task_for_a_function_nobody_has_waits_and_blocks_nobody);
        tcase_add_test(t, a_spec_that_breaks_the_rules_is_refused_with_words);
        tcase_add_test(t, specs_of_a_later_and_larger_struct_are_read_by_their_own_stride);
        tcase_add_test(t, futures_are_good_when_their_client_is_gone);
        tcase_add_test(t, a_client_that_was_stopped_takes_no_more);
        return run_suite("functions", t);
}
