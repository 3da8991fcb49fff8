/* Transcripts of the client's core: submits within the grant, endings, cancels, links, the end. */
#include "test_cli_kit.h"

#include "run_tests.h"

static void begin(uint32_t tasks)
{
        const struct sc_cli_options options = { .role = SC_ROLE_CLIENT };
        ck_assert(setup_cli(&options, 0));
        up_known(0, tasks, 1000);
}

START_TEST(a_task_is_sent_at_once_and_ends_exactly_once)
{
        begin(10);
        submit(1);
        const struct sc_msg *msg = sent(SC_MSG_SUBMIT);
        ck_assert_uint_eq(msg->submit.task.lo, 1);
        ck_assert_int_eq(memcmp(msg->submit.spec.body.ptr, "body", 4), 0);
        ck_assert_int_eq(memcmp(msg->submit.spec.function.ptr, "f", 1), 0);
        ck_assert_uint_eq(msg->submit.spec.flags, 0);
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effect(SC_FX_COMPLETE)->msg.result.task.lo, 1);
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(out.len, 0);
        ck_assert_uint_eq(stats().pending, 0);
        ck_assert_uint_eq(stats().succeeded, 1);
        teardown_cli();
}
END_TEST

START_TEST(no_more_tasks_are_sent_than_granted_and_more_is_wanted_once)
{
        begin(2);
        submit(2);
        ck_assert_uint_eq(sends(SC_MSG_WANT), 0);
        submit(1);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.tasks, 4);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.kib, 1000); /* less would give some back */
        submit(1);
        ck_assert_uint_eq(sends(SC_MSG_WANT), 0);
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.task.lo, 3);
        granted(4, 1000);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.task.lo, 4);
        teardown_cli();
}
END_TEST

START_TEST(no_more_bytes_are_sent_than_granted)
{
        static char body[1024];
        begin(0);
        granted(10, 2);
        ck_assert_int_eq(submit_body(body, 1023), 0);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        ck_assert_int_eq(submit_body(body, 1023), 0);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        ck_assert_int_eq(submit_body(body, 1), 0);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.kib, 4);
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        teardown_cli();
}
END_TEST

START_TEST(a_big_grant_goes_back_when_idle_and_a_late_raise_does_not_count)
{
        begin(5000);
        tick(SC_S - 1);
        ck_assert_uint_eq(out.len, 0);
        ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now + 1);
        tick(1);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.tasks, 1024);
        ck_assert_int_eq(sc_cli_deadline(rig.c), SC_NEVER);
        granted(6000, 1000);
        ck_assert_uint_eq(stats().grant_tasks, 1024);
        granted(1024, 16);
        submit(1025);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.tasks, 2048);
        teardown_cli();
}
END_TEST

START_TEST(wishes_are_powers_of_two_and_no_more_than_that)
{
        begin(1);
        submit(2);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.tasks, 2);
        submit(1);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.tasks, 4);
        submit(1);
        ck_assert_uint_eq(out.len, 0);
        submit(1);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.tasks, 8);
        teardown_cli();
}
END_TEST

START_TEST(an_idle_client_keeps_a_usual_grant)
{
        const struct sc_cli_options options = { .pending_max = 10 };
        ck_assert(setup_cli(&options, 0));
        up_known(0, 1024, 1024);
        tick(SC_S);
        ck_assert_uint_eq(out.len, 0);
        granted(1023, 1024); /* at a scheduler that has not even that, others may wait for it */
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.tasks, 1);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.kib, 1024);
        granted(1, 1023);
        ck_assert_uint_eq(out.len, 0); /* not the moment after it has said so */
        tick(SC_S);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.kib, 16);
        down();
        up_known(0, 1024, 1023); /* more than usual came later, for a large task: none of it is kept either */
        granted(1024, 4096);
        tick(SC_S);
        ck_assert_uint_eq(sent(SC_MSG_WANT)->want.kib, 16);
        teardown_cli();
}
END_TEST

START_TEST(at_pending_max_submit_is_full_and_room_is_told_once)
{
        const struct sc_cli_options options = { .pending_max = 2 };
        ck_assert(setup_cli(&options, 0));
        submit(2);
        ck_assert_int_eq(submit_body("", 0), SC_E_FULL);
        up_known(0, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 2);
        result(2, SC_REASON_TASK);
        ck_assert_uint_eq(effects(SC_FX_ROOM), 1);
        result(1, SC_REASON_TASK);
        ck_assert_uint_eq(effects(SC_FX_ROOM), 0);
        submit(2);
        teardown_cli();
}
END_TEST

START_TEST(no_memory_is_told_at_the_door_and_costs_nothing)
{
        begin(10);
        for (size_t n = 1; n <= 3; n++) {
                rig.fail.fail_at = rig.fail.asked + n;
                const int status = sc_cli_admissible(rig.c, &(struct sc_spec){ .body = { "", 100 } });
                ck_assert(status == SC_E_NOMEM || status == 0);
        }
        rig.fail.fail_at = 0;
        submit(1);
        ck_assert_int_eq(sc_cli_admissible(rig.c, &(struct sc_spec){ .body = { "", SC_BODY_MAX + 1 } }), SC_E_TOO_BIG);
        teardown_cli();
}
END_TEST

START_TEST(a_result_of_a_task_never_sent_closes_the_link)
{
        begin(1);
        submit(2);
        result(2, SC_REASON_SUCCESS);
        ck_assert_int_eq(effect(SC_FX_CLOSE)->status, SC_E_PROTOCOL);
        ck_assert_uint_eq(stats().pending, 2);
        teardown_cli();
}
END_TEST

/* ---- links ------------------------------------------------------------------------------------- */

START_TEST(in_the_same_epoch_only_what_is_unknown_is_sent_again)
{
        begin(10);
        submit(5);
        down();
        submit(1);
        up_known(3, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 3);
        ck_assert_uint_eq(out.at[0].msg.submit.task.lo, 4);
        ck_assert_uint_eq(out.at[2].msg.submit.task.lo, 6);
        ck_assert_uint_eq(out.at[0].msg.submit.spec.flags, 0);
        teardown_cli();
}
END_TEST

START_TEST(in_a_new_epoch_all_is_resubmitted_in_order_within_the_grant)
{
        begin(10);
        submit(5);
        result(2, SC_REASON_SUCCESS);
        down();
        rig.epoch = 200;
        up_known(0, 3, 10);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 3);
        ck_assert_uint_eq(out.at[0].msg.submit.task.lo, 1);
        ck_assert_uint_eq(out.at[1].msg.submit.task.lo, 3);
        ck_assert_uint_eq(out.at[2].msg.submit.task.lo, 4);
        ck_assert_uint_eq(out.at[2].msg.submit.spec.flags, SC_SPEC_RESUBMITTED);
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.task.lo, 5);
        submit(1);
        result(3, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.spec.flags, 0);
        teardown_cli();
}
END_TEST

START_TEST(a_scheduler_that_forgot_us_gets_all_again)
{
        begin(10);
        submit(2);
        down();
        up_known(0, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 2);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.spec.flags, SC_SPEC_RESUBMITTED);
        teardown_cli();
}
END_TEST

START_TEST(in_a_new_epoch_a_task_whose_cancel_was_asked_ends_cancelled)
{
        begin(10);
        submit(2);
        cancel(1, false);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL), 1);
        down();
        rig.epoch = 200;
        up_known(0, 10, 10);
        ck_assert_int_eq(effect(SC_FX_COMPLETE)->msg.result.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_CANCELED);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        teardown_cli();
}
END_TEST

START_TEST(thousands_of_cancels_are_sent_again_in_bounded_steps)
{
        begin(3000);
        submit(3000);
        for (uint64_t i = 1; i <= 3000; i++)
                cancel(i, false);
        down();
        up_known(3000, 3000, 3000);
        uint32_t again = sends(SC_MSG_CANCEL);
        while (sc_cli_deadline(rig.c) <= rig.now) {
                tick(0);
                again += sends(SC_MSG_CANCEL);
        }
        ck_assert_uint_eq(again, 3000);
        teardown_cli();
}
END_TEST

START_TEST(unconfirmed_cancels_are_sent_again)
{
        begin(10);
        submit(3);
        cancel(1, true);
        cancel(2, false);
        confirm(task(2), SC_CANCEL_CANCELED);
        down();
        cancel(3, false);
        ck_assert_uint_eq(out.len, 0);
        up_known(3, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL), 2);
        ck_assert(out.at[0].msg.cancel.force);
        ck_assert_uint_eq(out.at[0].msg.cancel.task.lo, 1);
        ck_assert_uint_eq(out.at[1].msg.cancel.task.lo, 3);
        teardown_cli();
}
END_TEST

START_TEST(bulk_work_is_spread_over_bounded_steps)
{
        const struct sc_cli_options options = { .role = SC_ROLE_CLIENT };
        ck_assert(setup_cli(&options, 0));
        submit(9000);
        up_known(0, 20000, 20000);
        uint32_t total = sends(SC_MSG_SUBMIT);
        for (; total < 9000; total += sends(SC_MSG_SUBMIT)) {
                ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now);
                tick(0);
        }
        down();
        rig.epoch = 200;
        up_known(0, 20000, 20000);
        ck_assert_uint_eq(out.len, 0); /* three steps of rewinding first */
        down();                        /* and once more from the beginning */
        up_known(0, 20000, 20000);
        for (total = sends(SC_MSG_SUBMIT); total < 9000; total += sends(SC_MSG_SUBMIT)) {
                ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now);
                tick(0);
        }
        ck_assert_uint_eq(total, 9000);
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.spec.flags, SC_SPEC_RESUBMITTED);
        teardown_cli();
}
END_TEST

START_TEST(the_newest_link_wins)
{
        begin(10);
        submit(1);
        up_known(1, 10, 10);
        ck_assert_uint_eq(effect(SC_FX_CLOSE)->link, 1);
        up_known(1, 0, 0); /* and nothing is granted until it says so */
        ck_assert_uint_eq(stats().grant_tasks, 0);
        const struct sc_msg old = { .kind = SC_MSG_RESULT, .result = { .task = task(1) } };
        step((struct sc_event){ .kind = SC_EV_MSG, .link = 1, .msg = &old });
        ck_assert_uint_eq(out.len, 0);
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 1);
        teardown_cli();
}
END_TEST

/* ---- cancel ------------------------------------------------------------------------------------- */

START_TEST(a_task_not_yet_sent_is_cancelled_here)
{
        begin(1);
        submit(2);
        cancel(2, false);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL), 0);
        ck_assert_int_eq(effect(SC_FX_COMPLETE)->msg.result.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_CANCELED);
        cancel(2, false);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_NOT_FOUND);
        teardown_cli();
}
END_TEST

START_TEST(force_after_unforced_is_sent_and_the_same_again_is_not)
{
        begin(1);
        submit(1);
        cancel(1, false);
        ck_assert(!sent(SC_MSG_CANCEL)->cancel.force);
        cancel(1, false);
        ck_assert_uint_eq(out.len, 0);
        cancel(1, true);
        ck_assert(sent(SC_MSG_CANCEL)->cancel.force);
        cancel(1, false);
        ck_assert_uint_eq(out.len, 0);
        confirm(task(1), SC_CANCEL_CANCELED);
        ck_assert_uint_eq(effects(SC_FX_CONFIRM), 1);
        confirm(task(1), SC_CANCEL_CANCELED);
        ck_assert_uint_eq(out.len, 0);
        teardown_cli();
}
END_TEST

START_TEST(a_task_that_ends_first_answers_its_cancel_once)
{
        begin(2);
        submit(2);
        cancel(1, false);
        cancel(2, false);
        result(1, SC_REASON_SUCCESS);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_FAILED);
        confirm(task(1), SC_CANCEL_FAILED);
        ck_assert_uint_eq(out.len, 0);
        result(2, SC_REASON_CANCELLED);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_CANCELED);
        teardown_cli();
}
END_TEST

START_TEST(a_task_whose_cancel_failed_is_resubmitted)
{
        begin(2);
        submit(1);
        cancel(1, false);
        confirm(task(1), SC_CANCEL_FAILED);
        down();
        rig.epoch = 200;
        up_known(0, 2, 2);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        teardown_cli();
}
END_TEST

START_TEST(an_admin_cancels_any_task_and_hears_the_answer)
{
        const struct sc_cli_options options = { .role = SC_ROLE_ADMIN };
        const struct sc_id          other   = { .hi = 5, .lo = 6 };
        const struct sc_msg         msg     = { .kind = SC_MSG_CANCEL, .cancel = { .task = other } };
        const struct sc_event       ev      = { .kind = SC_EV_CANCEL, .msg = &msg };
        ck_assert(setup_cli(&options, 0));
        ck_assert_int_eq(sc_cli_admissible(rig.c, &(struct sc_spec){ .body = { "", 0 } }), SC_E_STATE);
        step(ev);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_FAILED);
        up_known(0, 0, 0);
        step(ev);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL), 1);
        confirm(other, SC_CANCEL_CANCELED);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_CANCELED);
        for (int i = 0; i < 256; i++) {
                step(ev);
                ck_assert_uint_eq(sends(SC_MSG_CANCEL), 1);
        }
        step(ev);
        ck_assert_uint_eq(effects(SC_FX_CONFIRM), 1);
        down();
        ck_assert_uint_eq(effects(SC_FX_CONFIRM), 256);
        teardown_cli();
}
END_TEST

/* ---- queries and the end ------------------------------------------------------------------------- */

static void query(uint32_t ticket)
{
        const struct sc_query_msg ask = { .ticket = ticket, .what = SC_QUERY_TASKS, .rows_max = 9 };
        const struct sc_msg       msg = { .kind = SC_MSG_QUERY, .query = ask };
        step((struct sc_event){ .kind = SC_EV_QUERY, .msg = &msg });
}

START_TEST(every_query_is_answered_even_without_a_scheduler)
{
        begin(1);
        query(1);
        ck_assert_uint_eq(sent(SC_MSG_QUERY)->query.rows_max, 9);
        const struct sc_msg row = { .kind = SC_MSG_TASK_ROW, .task_row = { .ticket = 1, .attempt = 4 } };
        say(&row);
        ck_assert_uint_eq(effect(SC_FX_REPLY)->msg.task_row.attempt, 4);
        const struct sc_msg end = { .kind = SC_MSG_QUERY_END, .query_end = { .ticket = 1 } };
        say(&end);
        ck_assert_uint_eq(effects(SC_FX_REPLY), 1);
        say(&row);
        ck_assert_uint_eq(out.len, 0);
        query(2);
        down();
        ck_assert_uint_eq(effects(SC_FX_REPLY), 1);
        ck_assert_int_eq(effect(SC_FX_REPLY)->msg.query_end.status, SC_E_UNREACHABLE);
        query(3);
        ck_assert_int_eq(effect(SC_FX_REPLY)->msg.query_end.status, SC_E_UNREACHABLE);
        up_known(0, 1, 1);
        for (uint32_t i = 0; i < 256; i++)
                query(10 + i);
        query(9);
        ck_assert_int_eq(effect(SC_FX_REPLY)->msg.query_end.status, SC_E_FULL);
        teardown_cli();
}
END_TEST

START_TEST(without_a_scheduler_for_too_long_all_futures_end)
{
        begin(2);
        submit(2500);
        down();
        ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now + 120 * SC_S);
        tick(120 * SC_S - 1);
        ck_assert_uint_eq(out.len, 0);
        tick(1);
        uint32_t ended = effects(SC_FX_COMPLETE);
        ck_assert_int_eq(effect(SC_FX_COMPLETE)->msg.result.outcome.reason, SC_REASON_CLIENT);
        ck_assert_int_eq(sc_cli_admissible(rig.c, &(struct sc_spec){ .body = { "", 0 } }), SC_E_STATE);
        while (effects(SC_FX_GIVE_UP) == 0) {
                ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now);
                tick(0);
                ended += effects(SC_FX_COMPLETE);
        }
        ck_assert_uint_eq(ended, 2500);
        ck_assert_int_eq(effect(SC_FX_GIVE_UP)->status, SC_E_UNREACHABLE);
        up_known(0, 1, 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 1);
        ck_assert_int_eq(sc_cli_deadline(rig.c), SC_NEVER);
        teardown_cli();
}
END_TEST

START_TEST(a_closed_client_says_bye_and_ends_its_futures)
{
        begin(2);
        submit(3);
        cancel(1, false);
        step((struct sc_event){ .kind = SC_EV_CLOSE });
        ck_assert_uint_eq(sends(SC_MSG_BYE), 1);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 3);
        ck_assert_uint_eq(effects(SC_FX_CONFIRM), 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        result(1, SC_REASON_SUCCESS);
        step((struct sc_event){ .kind = SC_EV_CLOSE });
        ck_assert_uint_eq(out.len, 0);
        cancel(1, false);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_NOT_FOUND);
        teardown_cli();
}
END_TEST

START_TEST(a_refusal_ends_all_with_its_reason)
{
        begin(2);
        submit(1);
        const struct sc_msg bye = {
                .kind = SC_MSG_BYE, .bye = { .status = SC_E_UNSUPPORTED, .why = { "too old", 7 } }
        };
        say(&bye);
        ck_assert_int_eq(effect(SC_FX_COMPLETE)->msg.result.outcome.code, SC_E_UNSUPPORTED);
        ck_assert_str_eq(effect(SC_FX_GIVE_UP)->text, "too old");
        teardown_cli();
}
END_TEST

START_TEST(while_memory_is_short_one_task_at_a_time_is_sent)
{
        begin(10);
        down();
        submit(3);
        const size_t used   = atomic_load(&rig.fail.mem.used);
        rig.fail.mem.budget = used + used / 8;
        up_known(0, 10, 100);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now + 10 * SC_MS);
        tick(10 * SC_MS);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        rig.fail.mem.budget = atomic_load(&rig.fail.mem.used);
        result(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        rig.fail.mem.budget = SIZE_MAX;
        tick(10 * SC_MS);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        ck_assert_int_ne(sc_cli_deadline(rig.c), rig.now + 10 * SC_MS);
        teardown_cli();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("cli");
        tcase_add_test(tests, while_memory_is_short_one_task_at_a_time_is_sent);
        tcase_add_test(tests, a_task_is_sent_at_once_and_ends_exactly_once);
        tcase_add_test(tests, no_more_tasks_are_sent_than_granted_and_more_is_wanted_once);
        tcase_add_test(tests, no_more_bytes_are_sent_than_granted);
        tcase_add_test(tests, a_big_grant_goes_back_when_idle_and_a_late_raise_does_not_count);
        tcase_add_test(tests, wishes_are_powers_of_two_and_no_more_than_that);
        tcase_add_test(tests, an_idle_client_keeps_a_usual_grant);
        tcase_add_test(tests, at_pending_max_submit_is_full_and_room_is_told_once);
        tcase_add_test(tests, no_memory_is_told_at_the_door_and_costs_nothing);
        tcase_add_test(tests, a_result_of_a_task_never_sent_closes_the_link);
        tcase_add_test(tests, in_the_same_epoch_only_what_is_unknown_is_sent_again);
        tcase_add_test(tests, in_a_new_epoch_all_is_resubmitted_in_order_within_the_grant);
        tcase_add_test(tests, a_scheduler_that_forgot_us_gets_all_again);
        tcase_add_test(tests, in_a_new_epoch_a_task_whose_cancel_was_asked_ends_cancelled);
        tcase_add_test(tests, thousands_of_cancels_are_sent_again_in_bounded_steps);
        tcase_add_test(tests, unconfirmed_cancels_are_sent_again);
        tcase_add_test(tests, bulk_work_is_spread_over_bounded_steps);
        tcase_add_test(tests, the_newest_link_wins);
        tcase_add_test(tests, a_task_not_yet_sent_is_cancelled_here);
        tcase_add_test(tests, force_after_unforced_is_sent_and_the_same_again_is_not);
        tcase_add_test(tests, a_task_that_ends_first_answers_its_cancel_once);
        tcase_add_test(tests, a_task_whose_cancel_failed_is_resubmitted);
        tcase_add_test(tests, an_admin_cancels_any_task_and_hears_the_answer);
        tcase_add_test(tests, every_query_is_answered_even_without_a_scheduler);
        tcase_add_test(tests, without_a_scheduler_for_too_long_all_futures_end);
        tcase_add_test(tests, a_closed_client_says_bye_and_ends_its_futures);
        tcase_add_test(tests, a_refusal_ends_all_with_its_reason);
        return run_tests("cli", tests);
}
