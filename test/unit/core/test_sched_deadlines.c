/* Transcripts of the scheduler's core: deadlines, and whatever else may happen to a task just before them, at them and
 * after them. */
#include "test_sched_plan_kit.h"

#include "run_tests.h"

START_TEST(a_deadline_ends_what_waits)
{
        begin();
        submit_plan(1, (struct sc_plan){ .deadline_ms = 1000 });
        quiet_until(SC_S);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_str_eq(text_of(sent(C, SC_MSG_RESULT)->result.outcome.text),
                         "its deadline came while it waited for a worker");
        submit_plan(2, (struct sc_plan){ .deadline_ms = 1000, .not_before_ms = 1000 });
        quiet_until(SC_S);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_str_eq(text_of(sent(C, SC_MSG_RESULT)->result.outcome.text),
                         "its deadline came while it waited for its time");
        submit_plan(3, (struct sc_plan){ .deadline_ms = 1000, .queue_ms = 1000 });
        quiet_until(SC_S);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(stats().tasks_failed, 3);
        teardown();
}
END_TEST

static void running_with_deadline(uint32_t slots, uint32_t credit)
{
        begin();
        worker_up(W, WORKER, slots, credit);
        submit_retried(1, 5, (struct sc_plan){ .deadline_ms = 1000 });
        started(W, 1);
}

START_TEST(a_run_that_ends_before_its_deadline_counts_and_one_at_it_does_not)
{
        for (int late = 0; late < 2; late++) {
                running_with_deadline(1, 1);
                rig.now += SC_S - 1 + late;
                end(W, 1, SC_REASON_SUCCESS);
                ended_as(late ? SC_REASON_DEADLINE : SC_REASON_SUCCESS);
                ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
                teardown();
        }
}
END_TEST

START_TEST(a_run_past_its_deadline_is_killed_and_its_result_falls)
{
        running_with_deadline(1, 1);
        quiet_until(SC_S);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        end(W, 1, SC_REASON_SUCCESS);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_str_eq(text_of(sent(C, SC_MSG_RESULT)->result.outcome.text),
                         "its deadline came while a worker had it");
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 1);
        teardown();
}
END_TEST

START_TEST(a_failure_at_the_deadline_is_not_tried_again)
{
        running_with_deadline(1, 1);
        rig.now += SC_S;
        end(W, 1, SC_REASON_TASK);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        teardown();
}
END_TEST

START_TEST(a_task_ends_without_a_worker_that_does_not_answer_its_deadline)
{
        running_with_deadline(1, 1);
        submit(C, CLIENT, 2);
        tick(SC_S);
        quiet_until(6 * SC_S);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0); /* its slot is as taken as before */
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        ck_assert_uint_eq(stats().slots_busy, 1);
        acked(C, 1);
        done(W, task(CLIENT, 1), 1, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 2);
        done(W, task(CLIENT, 1), 1, SC_REASON_CANCELLED); /* once is enough */
        ck_assert_uint_eq(stats().slots_busy, 1);
        teardown();
}
END_TEST

START_TEST(runs_that_tasks_ended_without_go_with_their_worker)
{
        begin();
        worker_up(W, WORKER, 1, 4);
        for (uint64_t i = 1; i <= 4; i++)
                submit_plan(i, (struct sc_plan){ .deadline_ms = 1000 * i });
        tick(SC_S);
        tick(6 * SC_S); /* the second, third and fourth are stopped now */
        ended_as(SC_REASON_DEADLINE);
        down(W);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 3);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_DEADLINE);
        ck_assert_uint_eq(stats().workers, 0);
        teardown();
}
END_TEST

START_TEST(a_deadline_outruns_a_cancel_that_is_not_answered)
{
        running_with_deadline(1, 1);
        cancel(C, task(CLIENT, 1), false);
        ck_assert(!sent(W, SC_MSG_STOP)->about.force);
        quiet_until(SC_S);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        end(W, 1, SC_REASON_CANCELLED);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_FAILED);
        teardown();
}
END_TEST

START_TEST(a_cancel_after_the_deadline_changes_nothing)
{
        running_with_deadline(1, 1);
        tick(SC_S);
        cancel(C, task(CLIENT, 1), true);
        ck_assert(said_nothing());
        tick(6 * SC_S);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_FAILED);
        teardown();
}
END_TEST

START_TEST(a_cancel_just_before_the_deadline_is_a_cancel)
{
        running_with_deadline(1, 1);
        tick(SC_S - 1);
        cancel(C, task(CLIENT, 1), true);
        end(W, 1, SC_REASON_CANCELLED);
        ended_as(SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        teardown();
}
END_TEST

START_TEST(a_worker_lost_after_the_deadline_answers_it)
{
        running_with_deadline(1, 1);
        tick(SC_S);
        down(W);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(stats().runs_lost, 0);
        teardown();
}
END_TEST

START_TEST(a_worker_lost_before_the_deadline_leaves_the_task_its_time)
{
        running_with_deadline(1, 1);
        tick(SC_S / 2);
        down(W);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        quiet_until(SC_S / 2);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.losses, 1);
        teardown();
}
END_TEST

START_TEST(a_worker_lost_at_the_deadline_leaves_it_nothing)
{
        running_with_deadline(1, 1);
        worker_up(W2, WORKER + 1, 1, 1);
        rig.now += SC_S;
        down(W);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        teardown();
}
END_TEST

START_TEST(a_recalled_run_past_its_deadline_is_stopped)
{
        begin();
        worker_up(W, WORKER, 1, 2);
        submit(C, CLIENT, 1);
        submit_plan(2, (struct sc_plan){ .deadline_ms = 1000 });
        worker_up(W2, WORKER + 1, 1, 1);
        ck_assert_uint_eq(sent(W, SC_MSG_RECALL)->about.task.lo, 2);
        tick(SC_S);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        returned(W, 2);
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        teardown();
}
END_TEST

START_TEST(a_deadline_and_a_time_limit_do_not_close_a_worker_between_them)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        struct sc_plan plan = { .deadline_ms = 2000 };
        struct sc_spec spec = spec_f();
        spec.plan           = &plan;
        spec.timeout_ms     = 1000;
        submit_spec(C, CLIENT, 1, spec);
        started(W, 1);
        quiet_until(2 * SC_S);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 1);
        quiet_until(6 * SC_S);
        ended_as(SC_REASON_DEADLINE);
        tick(60 * SC_S);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        ck_assert_uint_eq(stats().workers, 1);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("deadlines");
        tcase_add_test(tests, a_deadline_ends_what_waits);
        tcase_add_test(tests, a_run_that_ends_before_its_deadline_counts_and_one_at_it_does_not);
        tcase_add_test(tests, a_run_past_its_deadline_is_killed_and_its_result_falls);
        tcase_add_test(tests, a_failure_at_the_deadline_is_not_tried_again);
        tcase_add_test(tests, a_task_ends_without_a_worker_that_does_not_answer_its_deadline);
        tcase_add_test(tests, runs_that_tasks_ended_without_go_with_their_worker);
        tcase_add_test(tests, a_deadline_outruns_a_cancel_that_is_not_answered);
        tcase_add_test(tests, a_cancel_after_the_deadline_changes_nothing);
        tcase_add_test(tests, a_cancel_just_before_the_deadline_is_a_cancel);
        tcase_add_test(tests, a_worker_lost_after_the_deadline_answers_it);
        tcase_add_test(tests, a_worker_lost_before_the_deadline_leaves_the_task_its_time);
        tcase_add_test(tests, a_worker_lost_at_the_deadline_leaves_it_nothing);
        tcase_add_test(tests, a_recalled_run_past_its_deadline_is_stopped);
        tcase_add_test(tests, a_deadline_and_a_time_limit_do_not_close_a_worker_between_them);
        return run_tests("sched deadlines", tests);
}
