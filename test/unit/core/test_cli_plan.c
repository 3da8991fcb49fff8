/*
 * Plans in the client's core: kept and told as what is left of their times; and who ends a task at its deadline,
 * which is one of client and scheduler, never both and never nobody.
 */
#include "run_tests.h"
#include "test_cli_kit.h"

static void begin(uint32_t grant)
{
        const struct sc_cli_options options = { .give_up = 1000 * SC_S };
        ck_assert(setup_cli(&options, 0));
        up_known(0, grant, 1000);
}

static void planned(struct sc_plan plan)
{
        ck_assert_int_eq(submit_plan(&plan, "body", 4), 0);
}

static const struct sc_plan *told_plan(void)
{
        return sent(SC_MSG_SUBMIT)->submit.spec.plan;
}

static void is_text(struct sc_view view, const char *text)
{
        ck_assert_uint_eq(view.len, strlen(text));
        ck_assert_mem_eq(view.ptr, text, view.len);
}

static void ended(uint64_t sequence, enum sc_reason reason)
{
        const struct sc_result *result = &effect(SC_FX_COMPLETE)->msg.result;
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 1);
        ck_assert_uint_eq(result->task.lo, sequence);
        ck_assert_int_eq(result->outcome.reason, reason);
        ck_assert_uint_gt(result->outcome.text.len, 0);
}

/* ---- kept and told ------------------------------------------------------------------------------ */

START_TEST(a_plan_is_kept_whole_and_a_plain_task_has_none)
{
        begin(10);
        char                 needs[] = "gpu=1000", tag[] = "nightly", list[] = "1,timeout", key[] = "once";
        const struct sc_plan plan    = { .backoff_ms     = 5,
                                         .backoff_max_ms = 70000,
                                         .needs          = { needs, strlen(needs) },
                                         .tag            = { tag, strlen(tag) },
                                         .retry_on       = { list, strlen(list) },
                                         .key            = { key, strlen(key) } };
        down();
        planned(plan);
        memset(needs, 'x', sizeof needs);
        memset(tag, 'x', sizeof tag);
        memset(list, 'x', sizeof list);
        memset(key, 'x', sizeof key);
        submit(1);
        up_known(0, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 2);
        is_text(told_plan()->needs, "gpu=1000");
        is_text(told_plan()->tag, "nightly");
        is_text(told_plan()->retry_on, "1,timeout");
        is_text(told_plan()->key, "once");
        is_text(sent(SC_MSG_SUBMIT)->submit.spec.body, "body");
        is_text(sent(SC_MSG_SUBMIT)->submit.spec.function, "f");
        ck_assert_uint_eq(told_plan()->backoff_ms, 5);
        ck_assert_uint_eq(told_plan()->backoff_max_ms, 70000);
        ck_assert_uint_eq(told_plan()->not_before_ms + told_plan()->queue_ms + told_plan()->deadline_ms, 0);
        ck_assert_ptr_null(out.at[1].msg.submit.spec.plan);
        teardown_cli();
}
END_TEST

START_TEST(what_is_left_of_the_times_is_told_whenever_a_task_is_sent)
{
        begin(0);
        planned((struct sc_plan){ .not_before_ms = 1000, .queue_ms = 5000, .deadline_ms = 10000 });
        tick(400 * SC_MS + 1);
        granted(1, 10);
        ck_assert_uint_eq(told_plan()->not_before_ms, 600);
        ck_assert_uint_eq(told_plan()->queue_ms, 4600);
        ck_assert_uint_eq(told_plan()->deadline_ms, 9600);
        down();
        tick(600 * SC_MS);
        rig.epoch = 200;
        up_known(0, 1, 10);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.spec.flags, SC_SPEC_RESUBMITTED);
        ck_assert_uint_eq(told_plan()->not_before_ms, 0);
        ck_assert_uint_eq(told_plan()->queue_ms, 4000);
        ck_assert_uint_eq(told_plan()->deadline_ms, 9000);
        teardown_cli();
}
END_TEST

START_TEST(times_beyond_all_clocks_stay_far_away)
{
        begin(1);
        planned((struct sc_plan){ .not_before_ms = UINT64_MAX, .queue_ms = UINT64_MAX, .deadline_ms = UINT64_MAX });
        ck_assert_uint_gt(told_plan()->not_before_ms, UINT64_C(1) << 42);
        ck_assert_uint_eq(told_plan()->queue_ms, 0);
        ck_assert_uint_eq(told_plan()->deadline_ms, 0);
        ck_assert_int_gt(sc_cli_deadline(rig.c), rig.now);
        teardown_cli();
}
END_TEST

/* Whoever runs it still needs the time to say so before the new scheduler takes it for never started. */
START_TEST(a_task_sent_before_gets_two_seconds_of_queue_time_at_least)
{
        begin(1);
        planned((struct sc_plan){ .queue_ms = 100 });
        down();
        tick(SC_S);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 0);
        rig.epoch = 200;
        up_known(0, 1, 10);
        ck_assert_uint_eq(told_plan()->queue_ms, 2000);
        teardown_cli();
}
END_TEST

/* ---- what no scheduler has seen ------------------------------------------------------------------ */

START_TEST(a_task_not_yet_sent_ends_by_its_own_clock)
{
        begin(0);
        planned((struct sc_plan){ .queue_ms = 100, .deadline_ms = 200 });
        planned((struct sc_plan){ .queue_ms = 400, .deadline_ms = 200 });
        planned((struct sc_plan){ .queue_ms = 300, .deadline_ms = 300 });
        ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now + 100 * SC_MS);
        tick(100 * SC_MS - 1);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 0);
        tick(1);
        ended(1, SC_REASON_QUEUE_TIMEOUT);
        tick(100 * SC_MS);
        ended(2, SC_REASON_DEADLINE);
        tick(SC_S);
        ended(3, SC_REASON_DEADLINE);
        ck_assert_uint_eq(stats().pending, 0);
        ck_assert_uint_eq(stats().failed, 3);
        granted(10, 10);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        teardown_cli();
}
END_TEST

START_TEST(a_task_never_seen_ends_without_a_link_as_well)
{
        begin(0);
        down();
        planned((struct sc_plan){ .queue_ms = 100 });
        planned((struct sc_plan){ .deadline_ms = 200 });
        tick(100 * SC_MS);
        ended(1, SC_REASON_QUEUE_TIMEOUT);
        tick(100 * SC_MS);
        ended(2, SC_REASON_DEADLINE);
        teardown_cli();
}
END_TEST

START_TEST(a_task_that_got_lost_on_its_way_is_one_never_seen)
{
        begin(10);
        planned((struct sc_plan){ .queue_ms = 100 });
        planned((struct sc_plan){ .deadline_ms = 100 });
        planned((struct sc_plan){ .queue_ms = 500 });
        down();
        tick(50 * SC_MS);
        up_known(0, 0, 0); /* known 0 in the same epoch: a scheduler that forgot us, so no task is new */
        tick(50 * SC_MS);
        ended(2, SC_REASON_DEADLINE);
        teardown_cli();
        begin(10);
        submit(1);
        planned((struct sc_plan){ .queue_ms = 100 });
        planned((struct sc_plan){ .queue_ms = 500 });
        down();
        tick(200 * SC_MS);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 0);
        up_known(1, 10, 10);
        ended(2, SC_REASON_QUEUE_TIMEOUT);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        ck_assert_uint_eq(told_plan()->queue_ms, 300);
        teardown_cli();
}
END_TEST

/* ---- what was sent ------------------------------------------------------------------------------- */

START_TEST(a_task_that_was_sent_is_the_schedulers_to_end)
{
        begin(1);
        planned((struct sc_plan){ .queue_ms = 100, .deadline_ms = 200 });
        tick(10 * SC_S);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 0);
        ck_assert_int_gt(sc_cli_deadline(rig.c), rig.now); /* and nobody turns in circles meanwhile */
        result(1, SC_REASON_DEADLINE);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 1);
        teardown_cli();
}
END_TEST

START_TEST(without_a_link_its_future_ends_at_the_deadline_and_its_result_is_not_news)
{
        begin(2);
        planned((struct sc_plan){ .deadline_ms = 200 });
        submit(1);
        down();
        ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now + 200 * SC_MS);
        tick(200 * SC_MS);
        ended(1, SC_REASON_DEADLINE);
        ck_assert_uint_eq(stats().pending, 1);
        tick(SC_S);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 0);
        up_known(2, 2, 10);
        submit(1);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0); /* the scheduler still counts the first */
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 0);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.task.lo, 3);
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(out.len, 0);
        ck_assert_uint_eq(stats().failed, 1);
        ck_assert_uint_eq(stats().succeeded, 0);
        teardown_cli();
}
END_TEST

START_TEST(a_task_past_its_deadline_ends_when_the_link_goes)
{
        begin(3);
        planned((struct sc_plan){ .deadline_ms = 100 });
        planned((struct sc_plan){ .deadline_ms = 100 });
        planned((struct sc_plan){ .deadline_ms = 5000 });
        tick(200 * SC_MS);
        result(1, SC_REASON_SUCCESS);
        down();
        ended(2, SC_REASON_DEADLINE);
        tick(SC_S);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 0);
        teardown_cli();
}
END_TEST

START_TEST(another_scheduler_is_not_sent_what_has_ended)
{
        begin(3);
        planned((struct sc_plan){ .deadline_ms = 100 });
        planned((struct sc_plan){ .deadline_ms = 300 });
        planned((struct sc_plan){ .deadline_ms = 9000 });
        down();
        tick(100 * SC_MS);
        ended(1, SC_REASON_DEADLINE);
        rig.now += 300 * SC_MS; /* the link comes before anybody looked at the clock */
        rig.epoch = 200;
        up_known(0, 3, 10);
        ended(2, SC_REASON_DEADLINE);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.task.lo, 3);
        ck_assert_uint_eq(stats().pending, 1);
        teardown_cli();
}
END_TEST

START_TEST(a_cancel_under_way_is_answered_by_the_end_at_the_deadline)
{
        begin(1);
        planned((struct sc_plan){ .deadline_ms = 100 });
        cancel(1, false);
        down();
        tick(100 * SC_MS);
        ended(1, SC_REASON_DEADLINE);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_FAILED);
        cancel(1, true);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_NOT_FOUND);
        up_known(1, 1, 10);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL), 0);
        confirm(task(1), SC_CANCEL_CANCELED);
        ck_assert_uint_eq(effects(SC_FX_CONFIRM), 0);
        result(1, SC_REASON_CANCELLED);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 0);
        teardown_cli();
}
END_TEST

START_TEST(output_of_a_task_whose_future_has_ended_is_passed_over)
{
        begin(1);
        planned((struct sc_plan){ .deadline_ms = 100 });
        output(1, 5, 0, "one");
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 1);
        down();
        tick(100 * SC_MS);
        ended(1, SC_REASON_DEADLINE);
        up_known(1, 1, 10);
        ck_assert_uint_eq(sends(SC_MSG_OUTPUT_ACK), 0);
        output(1, 5, 3, "two");
        consumed(1, 3);
        ck_assert_uint_eq(out.len, 0);
        teardown_cli();
}
END_TEST

START_TEST(a_client_that_closes_ends_no_future_twice)
{
        begin(2);
        planned((struct sc_plan){ .deadline_ms = 100 });
        submit(1);
        down();
        tick(100 * SC_MS);
        ended(1, SC_REASON_DEADLINE);
        step((struct sc_event){ .kind = SC_EV_CLOSE });
        ended(2, SC_REASON_CANCELLED);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_cli();
}
END_TEST

START_TEST(thousands_of_deadlines_at_once_take_bounded_steps)
{
        enum { MANY = 3000 };
        begin(MANY / 2);
        for (int i = 0; i < MANY; i++)
                planned((struct sc_plan){ .deadline_ms = 100 });
        tick(100 * SC_MS); /* half of them were sent, which are the scheduler's */
        uint32_t count = effects(SC_FX_COMPLETE);
        ck_assert_uint_gt(count, 0);
        while (sc_cli_deadline(rig.c) <= rig.now) {
                tick(0);
                count += effects(SC_FX_COMPLETE);
        }
        ck_assert_uint_eq(count, MANY / 2);
        down();
        for (count += effects(SC_FX_COMPLETE); sc_cli_deadline(rig.c) <= rig.now; count += effects(SC_FX_COMPLETE))
                tick(0);
        ck_assert_uint_eq(count, MANY);
        ck_assert_uint_eq(stats().pending, 0);
        teardown_cli();
}
END_TEST

START_TEST(no_memory_for_a_plan_is_told_at_the_door)
{
        const struct sc_plan plan = { .deadline_ms = 100, .tag = { "nightly", 7 } };
        begin(10);
        for (size_t n = 1; n <= 4; n++) {
                rig.fail.fail_at = rig.fail.asked + n;
                const int status = sc_cli_admissible(rig.c, &(struct sc_spec){ .body = { "", 100 }, .plan = &plan });
                ck_assert(status == SC_E_NOMEM || status == 0);
        }
        rig.fail.fail_at = 0;
        planned(plan);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        teardown_cli();
}
END_TEST

START_TEST(a_hello_tells_the_clients_share)
{
        const struct sc_cli_options options = { .weight = 500, .running_max = 7 };
        struct sc_hello             hello;
        ck_assert(setup_cli(&options, 0));
        sc_cli_hello(rig.c, &hello);
        ck_assert_uint_eq(hello.weight, 500);
        ck_assert_uint_eq(hello.running_max, 7);
        teardown_cli();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("cli plan");
        tcase_add_test(tests, a_plan_is_kept_whole_and_a_plain_task_has_none);
        tcase_add_test(tests, what_is_left_of_the_times_is_told_whenever_a_task_is_sent);
        tcase_add_test(tests, times_beyond_all_clocks_stay_far_away);
        tcase_add_test(tests, a_task_sent_before_gets_two_seconds_of_queue_time_at_least);
        tcase_add_test(tests, a_task_not_yet_sent_ends_by_its_own_clock);
        tcase_add_test(tests, a_task_never_seen_ends_without_a_link_as_well);
        tcase_add_test(tests, a_task_that_got_lost_on_its_way_is_one_never_seen);
        tcase_add_test(tests, a_task_that_was_sent_is_the_schedulers_to_end);
        tcase_add_test(tests, without_a_link_its_future_ends_at_the_deadline_and_its_result_is_not_news);
        tcase_add_test(tests, a_task_past_its_deadline_ends_when_the_link_goes);
        tcase_add_test(tests, another_scheduler_is_not_sent_what_has_ended);
        tcase_add_test(tests, a_cancel_under_way_is_answered_by_the_end_at_the_deadline);
        tcase_add_test(tests, output_of_a_task_whose_future_has_ended_is_passed_over);
        tcase_add_test(tests, a_client_that_closes_ends_no_future_twice);
        tcase_add_test(tests, thousands_of_deadlines_at_once_take_bounded_steps);
        tcase_add_test(tests, no_memory_for_a_plan_is_told_at_the_door);
        tcase_add_test(tests, a_hello_tells_the_clients_share);
        return run_tests("cli plan", tests);
}
