/* Transcripts of the scheduler's core: tasks with times of their own, and how failures are tried again.  Every time is
 * looked at a nanosecond before it, when it comes, and together with whatever else may happen just then. */
#include "test_sched_plan_kit.h"

#include "run_tests.h"

/* ---- not before --------------------------------------------------------------------------------*/

START_TEST(a_task_is_not_placed_before_its_time)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_plan(1, (struct sc_plan){ .not_before_ms = 1000 });
        ck_assert_uint_eq(stats().tasks_waiting, 1);
        quiet_until(SC_S);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.attempt, 1);
        end(W, 1, SC_REASON_SUCCESS);
        ended_as(SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(a_task_that_waits_for_its_time_can_be_cancelled)
{
        begin();
        submit_plan(1, (struct sc_plan){ .not_before_ms = 1000 });
        cancel(C, task(CLIENT, 1), false);
        ended_as(SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        teardown();
}
END_TEST

START_TEST(a_time_too_far_to_count_never_comes)
{
        begin();
        submit_plan(1, (struct sc_plan){ .queue_ms = UINT64_MAX, .deadline_ms = UINT64_MAX });
        submit_plan(2, (struct sc_plan){ .queue_ms = INT64_MAX / 2, .deadline_ms = INT64_MAX });
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        submit_plan(3, (struct sc_plan){ .not_before_ms = UINT64_MAX });
        tick(SC_NEVER / 2);
        ck_assert_uint_eq(stats().tasks_ready, 2);
        ck_assert_uint_eq(stats().tasks_waiting, 1);
        teardown();
}
END_TEST

/* ---- the time in the queue ---------------------------------------------------------------------*/

START_TEST(who_waits_in_the_queue_for_too_long_ends_so)
{
        begin();
        submit_plan(1, (struct sc_plan){ .queue_ms = 1000 });
        quiet_until(SC_S);
        ended_as(SC_REASON_QUEUE_TIMEOUT);
        ck_assert_str_eq(text_of(sent(C, SC_MSG_RESULT)->result.outcome.text),
                         "it was not started within its time in the queue");
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 0);
        ck_assert_uint_eq(stats().tasks_failed, 1);
        teardown();
}
END_TEST

START_TEST(waiting_for_its_time_counts_as_time_in_the_queue)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_plan(1, (struct sc_plan){ .queue_ms = 1000, .not_before_ms = 1000 });
        submit_plan(2, (struct sc_plan){ .queue_ms = 1001, .not_before_ms = 1000 });
        tick(SC_S);
        ended_as(SC_REASON_QUEUE_TIMEOUT);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.task.lo, 1);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 2);
        teardown();
}
END_TEST

START_TEST(a_started_run_has_met_its_time_in_the_queue)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_plan(1, (struct sc_plan){ .queue_ms = 1000 });
        tick(SC_S - 1);
        started(W, 1);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        tick(SC_S);
        down(W); /* and once started it may be started again at any time */
        tick(SC_S);
        ck_assert(said_nothing());
        worker_up(W2, WORKER, 1, 1);
        end(W2, 1, SC_REASON_SUCCESS);
        ended_as(SC_REASON_SUCCESS);
        teardown();
}
END_TEST

/* A worker has it and has not said that it runs: it is asked, and what it answers decides. */
static void asked_back(uint32_t retries)
{
        begin();
        worker_up(W, WORKER, 1, 2);
        submit_retried(1, retries, (struct sc_plan){ .queue_ms = 1000 });
        quiet_until(SC_S);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 1);
        ck_assert_uint_eq(out.len, 1);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
}

START_TEST(a_run_given_back_unstarted_after_its_time_ends_its_task)
{
        asked_back(0);
        tick(SC_S);
        returned(W, 1);
        ended_as(SC_REASON_QUEUE_TIMEOUT);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 0);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        teardown();
}
END_TEST

START_TEST(a_run_that_was_running_after_all_goes_on)
{
        asked_back(0);
        started(W, 1);
        tick(10 * SC_S);
        ck_assert(said_nothing());
        end(W, 1, SC_REASON_SUCCESS);
        ended_as(SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(a_run_that_was_over_after_all_counts)
{
        asked_back(0);
        end(W, 1, SC_REASON_SUCCESS);
        ended_as(SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(a_run_that_had_failed_after_all_is_tried_again_as_asked)
{
        asked_back(1);
        end(W, 1, SC_REASON_TASK);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.attempt, 2);
        tick(10 * SC_S);
        ck_assert(said_nothing());
        end(W, 1, SC_REASON_TASK);
        ended_as(SC_REASON_TASK);
        teardown();
}
END_TEST

START_TEST(a_run_asked_back_too_late_whose_worker_is_lost_was_not_started)
{
        asked_back(0);
        down(W);
        ended_as(SC_REASON_QUEUE_TIMEOUT);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.losses, 0);
        teardown();
}
END_TEST

START_TEST(a_run_asked_back_too_late_can_be_cancelled)
{
        asked_back(0);
        cancel(C, task(CLIENT, 1), true);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 1);
        returned(W, 1);
        ended_as(SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(a_lost_run_counts_as_started_only_if_it_is_charged)
{
        begin();
        worker_up(W, WORKER, 1, 2);
        submit_plan(1, (struct sc_plan){ .queue_ms = 1000 });
        submit_plan(2, (struct sc_plan){ .queue_ms = 1000 });
        down(W);
        quiet_until(SC_S);
        ended_as(SC_REASON_QUEUE_TIMEOUT);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.task.lo, 2);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        teardown();
}
END_TEST

START_TEST(what_balance_asked_back_before_its_time_is_judged_when_it_comes)
{
        begin();
        worker_up(W, WORKER, 1, 3);
        for (uint64_t i = 1; i <= 3; i++)
                submit_plan(i, (struct sc_plan){ .queue_ms = 1000 });
        started(W, 1);
        tick(SC_S / 2);
        worker_up(W2, WORKER + 1, 1, 1);
        ck_assert_uint_eq(sent(W, SC_MSG_RECALL)->about.task.lo, 3);
        tick(SC_S / 2);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 1); /* the second; the third is asked already */
        ck_assert_uint_eq(sent(W, SC_MSG_RECALL)->about.task.lo, 2);
        returned(W, 3);
        ended_as(SC_REASON_QUEUE_TIMEOUT);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        returned(W, 2);
        ended_as(SC_REASON_QUEUE_TIMEOUT);
        teardown();
}
END_TEST

/* ---- tried again -------------------------------------------------------------------------------*/

/* Fails the run and gives how long the task waits for the next one. */
static sc_ns wait_after_failure(void)
{
        end(W, 1, SC_REASON_TASK);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        ck_assert_uint_eq(stats().tasks_waiting, 1);
        const sc_ns wait = sc_sched_deadline(rig.s) - rig.now;
        quiet_until(wait);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        return wait;
}

START_TEST(waits_between_tries_double_with_a_quarter_of_chance)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_retried(1, 9, (struct sc_plan){ .backoff_ms = 100, .backoff_max_ms = 1000 });
        bool  varied = false;
        sc_ns base   = 100 * SC_MS;
        for (int i = 0; i < 9; i++) {
                const sc_ns wait = wait_after_failure();
                const sc_ns most = base < SC_S ? base : SC_S;
                ck_assert_int_ge(wait, most / 4 * 3);
                ck_assert_int_le(wait, most / 4 * 5 < SC_S ? most / 4 * 5 : SC_S);
                varied = varied || wait != most;
                base *= 2;
        }
        ck_assert(varied);
        end(W, 1, SC_REASON_TASK);
        ended_as(SC_REASON_TASK);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 10);
        teardown();
}
END_TEST

START_TEST(the_chance_in_a_wait_is_of_seed_and_run)
{
        sc_ns first[3];
        for (int i = 0; i < 3; i++) {
                begin();
                worker_up(W, WORKER, 1, 1);
                if (i == 2) { /* another run */
                        submit(C, CLIENT, 2);
                        end(W, 2, SC_REASON_SUCCESS);
                }
                submit_retried(i == 2 ? 3 : 1, 1, (struct sc_plan){ .backoff_ms = 1000 });
                end(W, i == 2 ? 3 : 1, SC_REASON_TASK);
                first[i] = sc_sched_deadline(rig.s) - rig.now;
                teardown();
        }
        ck_assert_int_eq(first[0], first[1]);
        ck_assert_int_ne(first[0], first[2]);
}
END_TEST

START_TEST(the_longest_wait_is_a_minute_unless_it_is_said)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_retried(1, 3, (struct sc_plan){ .backoff_ms = UINT32_MAX });
        for (int i = 0; i < 3; i++) {
                const sc_ns wait = wait_after_failure();
                ck_assert_int_ge(wait, 45 * SC_S);
                ck_assert_int_le(wait, 60 * SC_S);
        }
        submit_retried(2, 3, (struct sc_plan){ .backoff_ms = UINT32_MAX, .backoff_max_ms = UINT32_MAX });
        end(W, 1, SC_REASON_SUCCESS);
        for (int i = 0; i < 3; i++) {
                end(W, 2, SC_REASON_TASK);
                const sc_ns wait = sc_sched_deadline(rig.s) - rig.now;
                ck_assert_int_ge(wait, UINT32_MAX / 4 * 3 * SC_MS);
                ck_assert_int_le(wait, UINT32_MAX * SC_MS);
                tick(wait);
        }
        teardown();
}
END_TEST

START_TEST(a_failure_that_waits_for_its_time_can_be_cancelled_and_meets_its_deadline)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_retried(1, 9, (struct sc_plan){ .backoff_ms = 10000 });
        end(W, 1, SC_REASON_TASK);
        cancel(C, task(CLIENT, 1), false);
        ended_as(SC_REASON_CANCELLED);
        submit_retried(2, 9, (struct sc_plan){ .backoff_ms = 10000, .deadline_ms = 1000, .queue_ms = 500 });
        end(W, 2, SC_REASON_TASK);
        quiet_until(SC_S); /* not its time in the queue: it has been tried */
        ended_as(SC_REASON_DEADLINE);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 1);
        teardown();
}
END_TEST

START_TEST(a_failure_tried_again_regains_its_place)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_retried(1, 1, (struct sc_plan){ .backoff_ms = 1000 });
        submit(C, CLIENT, 2);
        submit(C, CLIENT, 3);
        end(W, 1, SC_REASON_TASK);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 2);
        tick(2 * SC_S);
        end(W, 2, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 1);
        teardown();
}
END_TEST

START_TEST(only_listed_failures_are_tried_again)
{
        static const struct {
                const char       *list;
                struct sc_outcome outcome;
                bool              again;
        } cases[] = {
                { "", { .reason = SC_REASON_TASK, .code = -9 }, true },
                { "", { .reason = SC_REASON_RUN_TIMEOUT }, true },
                { "", { .reason = SC_REASON_NOT_STARTED }, true },
                { "", { .reason = SC_REASON_LIMIT }, false },
                { "1,70-79", { .reason = SC_REASON_TASK, .how = SC_HOW_EXITED, .code = 1 }, true },
                { "1,70-79", { .reason = SC_REASON_TASK, .how = SC_HOW_EXITED, .code = 2 }, false },
                { "1,70-79", { .reason = SC_REASON_TASK, .how = SC_HOW_EXITED, .code = 69 }, false },
                { "1,70-79", { .reason = SC_REASON_TASK, .how = SC_HOW_EXITED, .code = 70 }, true },
                { "1,70-79", { .reason = SC_REASON_TASK, .how = SC_HOW_EXITED, .code = 79 }, true },
                { "1,70-79", { .reason = SC_REASON_TASK, .how = SC_HOW_EXITED, .code = 80 }, false },
                { "9", { .reason = SC_REASON_TASK, .how = SC_HOW_SIGNALLED, .code = 9 }, false },
                { "signal", { .reason = SC_REASON_TASK, .how = SC_HOW_SIGNALLED, .code = 9 }, true },
                { "signal", { .reason = SC_REASON_RUN_TIMEOUT, .how = SC_HOW_SIGNALLED }, false },
                { "timeout", { .reason = SC_REASON_RUN_TIMEOUT, .how = SC_HOW_SIGNALLED }, true },
                { "timeout", { .reason = SC_REASON_TASK }, false },
                { "limit", { .reason = SC_REASON_LIMIT }, true },
                { "not_started", { .reason = SC_REASON_NOT_STARTED }, true },
                { "not_started", { .reason = SC_REASON_TASK }, false },
                { "1,not_started", { .reason = SC_REASON_TASK, .code = 1 }, true },
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                begin();
                worker_up(W, WORKER, 1, 1);
                submit_retried(1, 1, (struct sc_plan){ .retry_on = { cases[i].list, strlen(cases[i].list) } });
                done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), cases[i].outcome);
                ck_assert_msg(sends(W, SC_MSG_ASSIGN) == cases[i].again, "case %zu", i);
                ck_assert_msg(sends(C, SC_MSG_RESULT) == !cases[i].again, "case %zu", i);
                teardown();
        }
}
END_TEST

/* ---- a new epoch -------------------------------------------------------------------------------*/

static void begin_epoch(void)
{
        setup((struct sc_sched_options){ .claim_delay = 11 * SC_S }); /* the rig starts 10 s in */
        client_up(C, CLIENT);
}

static void resubmit(uint64_t seq, struct sc_plan plan)
{
        struct sc_spec spec = spec_f();
        spec.plan           = &plan;
        spec.flags          = SC_SPEC_RESUBMITTED;
        submit_spec(C, CLIENT, seq, spec);
}

static struct sc_hold hold_of(uint64_t seq, uint8_t flags)
{
        return (struct sc_hold){ .task = task(CLIENT, seq), .epoch = 5, .run = 50 + seq, .flags = flags };
}

START_TEST(times_do_not_count_before_workers_have_claimed_but_for_the_deadline)
{
        begin_epoch();
        resubmit(1, (struct sc_plan){ .queue_ms = 1 });
        resubmit(2, (struct sc_plan){ .not_before_ms = 1 });
        resubmit(3, (struct sc_plan){ .not_before_ms = 2000 });
        resubmit(4, (struct sc_plan){ .deadline_ms = 500 });
        quiet_until(SC_S / 2);
        ended_as(SC_REASON_DEADLINE);
        tick(SC_S / 2 - 1);
        ck_assert(said_nothing());
        ck_assert_uint_eq(stats().tasks_waiting, 3);
        tick(1);
        ended_as(SC_REASON_QUEUE_TIMEOUT);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        tick(SC_S - 1);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        tick(1);
        ck_assert_uint_eq(stats().tasks_ready, 2);
        teardown();
}
END_TEST

START_TEST(a_claimed_run_has_been_started)
{
        begin_epoch();
        resubmit(1, (struct sc_plan){ .queue_ms = 1, .not_before_ms = 1, .deadline_ms = 5000 });
        const struct sc_hold hold = hold_of(1, SC_HOLD_RUNNING);
        tick(SC_S - 1);
        worker_up_holding(W, WORKER, 1, 1, &hold, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_KEEP), 1);
        quiet_until(4 * SC_S + 1);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        end(W, 1, SC_REASON_SUCCESS);
        ended_as(SC_REASON_DEADLINE);
        teardown();
}
END_TEST

START_TEST(an_adopted_run_has_the_times_of_its_task)
{
        begin_epoch();
        const struct sc_hold holds[] = { hold_of(1, SC_HOLD_RUNNING), hold_of(2, SC_HOLD_DONE) };
        worker_up_holding(W, WORKER, 2, 2, holds, 2);
        resubmit(1, (struct sc_plan){ .queue_ms = 10, .deadline_ms = 3000 });
        ck_assert_uint_eq(sends(W, SC_MSG_KEEP), 1);
        resubmit(2, (struct sc_plan){ .queue_ms = 10 });
        ck_assert_uint_eq(sends(W, SC_MSG_KEEP), 1);
        quiet_until(SC_S); /* what is over, but not yet said to be, is asked for */
        ck_assert_uint_eq(sent(W, SC_MSG_RECALL)->about.task.lo, 2);
        end(W, 2, SC_REASON_SUCCESS);
        ended_as(SC_REASON_SUCCESS);
        quiet_until(2 * SC_S);
        ck_assert_uint_eq(sent(W, SC_MSG_STOP)->about.task.lo, 1);
        teardown();
}
END_TEST

START_TEST(a_hold_of_a_task_past_its_deadline_is_dropped)
{
        begin_epoch();
        resubmit(1, (struct sc_plan){ .deadline_ms = 500 });
        tick(SC_S / 2);
        ended_as(SC_REASON_DEADLINE);
        const struct sc_hold hold = hold_of(1, SC_HOLD_RUNNING);
        worker_up_holding(W, WORKER, 1, 1, &hold, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_DROP), 1);
        teardown();
}
END_TEST

START_TEST(a_failed_run_is_not_kept_while_its_task_waits_to_be_tried_again)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_retried(1, 1, (struct sc_plan){ .backoff_ms = 10000 });
        const struct sc_hold hold = { .task = task(CLIENT, 1), .epoch = EPOCH, .run = run_of(CLIENT, 1),
                                      .flags = SC_HOLD_DONE };
        end(W, 1, SC_REASON_TASK);
        worker_up_holding(W2, WORKER, 1, 1, &hold, 1); /* the word that its DONE had come was lost */
        ck_assert_uint_eq(sends(W2, SC_MSG_DROP), 1);
        ck_assert_uint_eq(stats().tasks_waiting, 1);
        teardown();
}
END_TEST

/* ---- limits ------------------------------------------------------------------------------------*/

START_TEST(a_plan_out_of_bounds_closes_the_client)
{
        static char          tag[SC_NAME_MAX + 1], list[SC_RETRY_ON_MAX + 1];
        const struct sc_plan good = { .tag = { tag, SC_NAME_MAX }, .retry_on = { list, SC_RETRY_ON_MAX } };
        struct sc_plan       bad[4] = { good, good, good, good };
        memset(tag, 't', sizeof tag);
        for (size_t i = 0; i < sizeof list; i++)
                list[i] = i % 2 ? ',' : '1';
        bad[0].tag.len++;
        bad[1].retry_on = (struct sc_view){ "9-1", 3 };
        bad[2].retry_on.len++;
        bad[3].retry_on = (struct sc_view){ "sometimes", 9 };
        for (size_t i = 0; i < 4; i++) {
                begin();
                submit_plan(1, good);
                ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
                submit_plan(2, bad[i]);
                ck_assert(is_closed(C, SC_E_PROTOCOL));
                ck_assert_uint_eq(sc_sched_rows(rig.s), 1);
                teardown();
        }
}
END_TEST

START_TEST(a_plan_without_memory_closes_the_link_and_may_be_said_again)
{
        const struct sc_plan plan = { .tag = { "night", 5 }, .deadline_ms = 9, .queue_ms = 8, .backoff_ms = 7 };
        for (size_t nth = 1; nth < 40; nth++) {
                begin();
                rig.fail.fail_at = rig.fail.asked + nth;
                submit_plan(1, plan);
                if (effects(SC_FX_CLOSE) == 0) {
                        ck_assert_uint_gt(nth, 2);
                        teardown();
                        return;
                }
                ck_assert(is_closed(C, SC_E_NOMEM));
                client_up(C, CLIENT);
                submit_plan(1, plan);
                ck_assert_uint_eq(sc_sched_rows(rig.s), 1);
                teardown();
        }
        ck_abort_msg("it never succeeds");
}
END_TEST

START_TEST(ten_thousand_deadlines_pass_in_bounded_steps)
{
        begin();
        rig.unchecked = true;
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 20000, .kib = 1 << 16 } });
        worker_up(W, WORKER, 64, 5000);
        for (uint64_t i = 1; i <= 10000; i++)
                submit_plan(i, (struct sc_plan){ .deadline_ms = 1000 });
        tick(SC_S);
        uint64_t results = 0, stops = 0, steps = 1;
        for (;; steps++) {
                ck_assert_uint_le(out.len, SC_EFFECTS_MAX);
                results += sends(C, SC_MSG_RESULT);
                stops += sends(W, SC_MSG_STOP);
                if (sc_sched_deadline(rig.s) > rig.now)
                        break;
                tick(0);
        }
        ck_assert_uint_eq(results, 5000);
        ck_assert_uint_eq(stops, 5000);
        ck_assert_uint_gt(steps, 10);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("plans");
        tcase_add_test(tests, a_task_is_not_placed_before_its_time);
        tcase_add_test(tests, a_task_that_waits_for_its_time_can_be_cancelled);
        tcase_add_test(tests, a_time_too_far_to_count_never_comes);
        tcase_add_test(tests, who_waits_in_the_queue_for_too_long_ends_so);
        tcase_add_test(tests, waiting_for_its_time_counts_as_time_in_the_queue);
        tcase_add_test(tests, a_started_run_has_met_its_time_in_the_queue);
        tcase_add_test(tests, a_run_given_back_unstarted_after_its_time_ends_its_task);
        tcase_add_test(tests, a_run_that_was_running_after_all_goes_on);
        tcase_add_test(tests, a_run_that_was_over_after_all_counts);
        tcase_add_test(tests, a_run_that_had_failed_after_all_is_tried_again_as_asked);
        tcase_add_test(tests, a_run_asked_back_too_late_whose_worker_is_lost_was_not_started);
        tcase_add_test(tests, a_run_asked_back_too_late_can_be_cancelled);
        tcase_add_test(tests, a_lost_run_counts_as_started_only_if_it_is_charged);
        tcase_add_test(tests, what_balance_asked_back_before_its_time_is_judged_when_it_comes);
        tcase_add_test(tests, waits_between_tries_double_with_a_quarter_of_chance);
        tcase_add_test(tests, the_chance_in_a_wait_is_of_seed_and_run);
        tcase_add_test(tests, the_longest_wait_is_a_minute_unless_it_is_said);
        tcase_add_test(tests, a_failure_that_waits_for_its_time_can_be_cancelled_and_meets_its_deadline);
        tcase_add_test(tests, a_failure_tried_again_regains_its_place);
        tcase_add_test(tests, only_listed_failures_are_tried_again);
        tcase_add_test(tests, times_do_not_count_before_workers_have_claimed_but_for_the_deadline);
        tcase_add_test(tests, a_claimed_run_has_been_started);
        tcase_add_test(tests, an_adopted_run_has_the_times_of_its_task);
        tcase_add_test(tests, a_hold_of_a_task_past_its_deadline_is_dropped);
        tcase_add_test(tests, a_failed_run_is_not_kept_while_its_task_waits_to_be_tried_again);
        tcase_add_test(tests, a_plan_out_of_bounds_closes_the_client);
        tcase_add_test(tests, a_plan_without_memory_closes_the_link_and_may_be_said_again);
        tcase_add_test(tests, ten_thousand_deadlines_pass_in_bounded_steps);
        return run_tests("sched plans", tests);
}
