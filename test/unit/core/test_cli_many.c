/* The client's core: cancels of many tasks, over the rows here, at the scheduler, and over breaks. */
#include "test_cli_kit.h"

#include "run_tests.h"

static void begin(uint32_t tasks)
{
        const struct sc_cli_options options = { .role = SC_ROLE_CLIENT };
        ck_assert(setup_cli(&options, 0));
        up_known(0, tasks, 1 << 16);
}

static void submit_tagged(const char *tag)
{
        const struct sc_plan plan = { .tag = { tag, strlen(tag) } };
        ck_assert_int_eq(submit_plan(&plan, "body", 4), 0);
}

static void cancel_many(uint32_t ticket, const char *tag, uint64_t up_to)
{
        const struct sc_msg msg = {
                .kind        = SC_MSG_CANCEL_MANY,
                .cancel_many = { .ticket = ticket, .tag = { tag, strlen(tag) }, .up_to = up_to, .force = true },
        };
        step((struct sc_event){ .kind = SC_EV_CANCEL_MANY, .msg = &msg });
}

static void confirm_many(uint32_t ticket, uint64_t count)
{
        const struct sc_msg msg = { .kind = SC_MSG_CONFIRM_MANY, .confirm_many = { .ticket = ticket, .count = count } };
        say(&msg);
}

static void answered(uint32_t ticket, uint64_t count, int32_t status)
{
        ck_assert_uint_eq(effects(SC_FX_REPLY), 1);
        const struct sc_msg *m = &effect(SC_FX_REPLY)->msg;
        ck_assert_int_eq(m->kind, SC_MSG_CONFIRM_MANY);
        ck_assert_uint_eq(m->confirm_many.ticket, ticket);
        ck_assert_uint_eq(m->confirm_many.count, count);
        ck_assert_int_eq(m->confirm_many.status, status);
}

START_TEST(what_was_not_sent_ends_here_and_the_scheduler_is_asked_for_the_rest)
{
        begin(2);
        submit(5);
        cancel_many(7, "", 0);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 3);
        ck_assert_str_eq(effect(SC_FX_COMPLETE)->msg.result.outcome.text.ptr, "cancelled before it was sent");
        const struct sc_cancel_many *m = &sent(SC_MSG_CANCEL_MANY)->cancel_many;
        ck_assert_uint_eq(m->ticket, 7);
        ck_assert_uint_eq(m->up_to, 5);
        ck_assert(m->force);
        ck_assert_uint_eq(effects(SC_FX_REPLY), 0);
        submit(1); /* is none of its */
        confirm_many(8, 9); /* of another one */
        ck_assert_uint_eq(out.len, 0);
        confirm_many(7, 2);
        answered(7, 5, 0);
        confirm_many(7, 2);
        ck_assert_uint_eq(out.len, 0);
        ck_assert_uint_eq(stats().pending, 3);
        teardown_cli();
}
END_TEST

START_TEST(nothing_to_cancel_is_answered_at_once_with_and_without_a_link)
{
        begin(10);
        submit(2);
        down();
        cancel_many(1, "night", 0);
        answered(1, 0, 0);
        up_known(2, 10, 10);
        cancel_many(2, "night", 0);
        answered(2, 0, 0);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL_MANY), 0);
        teardown_cli();
}
END_TEST

START_TEST(only_tasks_with_the_tag_are_cancelled)
{
        begin(3);
        submit_tagged("night");
        submit_tagged("nigh");
        submit(1);
        submit_tagged("nights");
        submit_tagged("night");
        cancel_many(1, "night", 0);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 1);
        ck_assert_uint_eq(effect(SC_FX_COMPLETE)->msg.result.task.lo, 5);
        ck_assert_uint_eq(sent(SC_MSG_CANCEL_MANY)->cancel_many.tag.len, 5);
        confirm_many(1, 1);
        answered(1, 2, 0);
        teardown_cli();
}
END_TEST

START_TEST(it_is_asked_again_after_a_break_until_it_is_answered)
{
        begin(10);
        submit(3);
        cancel_many(1, "", 0);
        down();
        submit(1);
        cancel_many(2, "", 2);
        up_known(3, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL_MANY), 2);
        ck_assert_uint_eq(sent(SC_MSG_CANCEL_MANY)->cancel_many.up_to, 3); /* the fourth came later */
        ck_assert_uint_eq(sent(SC_MSG_SUBMIT)->submit.task.lo, 4);
        confirm_many(1, 0); /* they had ended meanwhile as far as it knows */
        answered(1, 3, 0);
        up_known(4, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL_MANY), 1);
        ck_assert_uint_eq(sent(SC_MSG_CANCEL_MANY)->cancel_many.ticket, 2);
        confirm_many(2, 0);
        answered(2, 2, 0);
        up_known(4, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL_MANY), 0);
        teardown_cli();
}
END_TEST

START_TEST(a_scheduler_that_knows_nothing_is_not_sent_what_was_cancelled)
{
        begin(10);
        submit(3);
        cancel_many(1, "", 0);
        submit(1);
        rig.epoch++;
        up_known(0, 10, 10);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 3);
        ck_assert_uint_eq(sends(SC_MSG_CANCEL_MANY), 0);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        answered(1, 3, 0);
        teardown_cli();
}
END_TEST

START_TEST(what_was_told_to_stop_is_not_run_by_a_new_scheduler_though_the_old_one_had_answered)
{
        begin(10);
        submit(2);
        cancel_many(1, "", 0);
        confirm_many(1, 2);
        answered(1, 2, 0);
        rig.epoch++;
        up_known(0, 10, 10);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 2);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        teardown_cli();
}
END_TEST

START_TEST(thousands_are_gone_over_in_bounded_steps_and_nothing_is_sent_meanwhile)
{
        const struct sc_cli_options options = { .role = SC_ROLE_CLIENT };
        ck_assert(setup_cli(&options, 0));
        submit(9000);
        up_known(0, 6000, 1 << 16);
        while (stats().unsent > 3000)
                tick(0);
        cancel_many(1, "", 8999);
        submit(1);
        uint32_t ended = effects(SC_FX_COMPLETE), steps = 0;
        for (; sends(SC_MSG_CANCEL_MANY) == 0; steps++) {
                ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
                ck_assert_int_eq(sc_cli_deadline(rig.c), rig.now);
                const uint64_t oldest = 6000 - steps; /* and results come meanwhile, under the cursor too */
                result(steps % 2 ? oldest : 1 + steps, SC_REASON_SUCCESS);
                ended += effects(SC_FX_COMPLETE);
        }
        ck_assert_uint_gt(steps, 2);
        ck_assert_uint_eq(ended, 2999 + steps);
        ck_assert_uint_eq(stats().pending, 9001 - ended);
        teardown_cli();
}
END_TEST

START_TEST(eight_wait_and_a_ninth_is_refused)
{
        begin(10);
        submit(1);
        for (uint32_t i = 1; i <= 8; i++)
                cancel_many(i, "", 0);
        ck_assert_uint_eq(effects(SC_FX_REPLY), 0);
        cancel_many(9, "", 0);
        answered(9, 0, SC_E_FULL);
        for (uint32_t i = 8; i >= 1; i--) {
                confirm_many(i, 1);
                answered(i, 1, 0);
        }
        teardown_cli();
}
END_TEST

START_TEST(the_end_of_the_client_answers_what_waits)
{
        begin(10);
        submit(2);
        cancel_many(1, "", 0);
        step((struct sc_event){ .kind = SC_EV_CLOSE });
        answered(1, 2, SC_E_CANCELLED);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        cancel_many(2, "", 0);
        answered(2, 0, SC_E_STATE);
        teardown_cli();
}
END_TEST

START_TEST(an_admin_asks_at_once_and_not_over_a_break)
{
        const struct sc_cli_options options = { .role = SC_ROLE_ADMIN };
        ck_assert(setup_cli(&options, 0));
        cancel_many(1, "", 0);
        answered(1, 0, SC_E_UNREACHABLE);
        up_known(0, 0, 0);
        cancel_many(2, "night", 0);
        ck_assert_uint_eq(sent(SC_MSG_CANCEL_MANY)->cancel_many.up_to, 0);
        confirm_many(2, 1234);
        answered(2, 1234, 0);
        cancel_many(3, "", 0);
        down();
        answered(3, 0, SC_E_UNREACHABLE);
        up_known(0, 0, 0);
        ck_assert_uint_eq(out.len, 0);
        teardown_cli();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("many");
        tcase_add_test(tests, what_was_not_sent_ends_here_and_the_scheduler_is_asked_for_the_rest);
        tcase_add_test(tests, nothing_to_cancel_is_answered_at_once_with_and_without_a_link);
        tcase_add_test(tests, only_tasks_with_the_tag_are_cancelled);
        tcase_add_test(tests, it_is_asked_again_after_a_break_until_it_is_answered);
        tcase_add_test(tests, a_scheduler_that_knows_nothing_is_not_sent_what_was_cancelled);
        tcase_add_test(tests, what_was_told_to_stop_is_not_run_by_a_new_scheduler_though_the_old_one_had_answered);
        tcase_add_test(tests, thousands_are_gone_over_in_bounded_steps_and_nothing_is_sent_meanwhile);
        tcase_add_test(tests, eight_wait_and_a_ninth_is_refused);
        tcase_add_test(tests, the_end_of_the_client_answers_what_waits);
        tcase_add_test(tests, an_admin_asks_at_once_and_not_over_a_break);
        return run_tests("cli many", tests);
}
