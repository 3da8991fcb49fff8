/* Transcripts of the worker's core: slots, links, KEEP and DROP, cancels, limits, bounds. */
#include "test_work_kit.h"

#include "run_tests.h"

static void begin(uint32_t slots)
{
        const struct sc_work_options options = { .slots = slots };
        ck_assert(setup_work(&options, 0));
        up();
}

START_TEST(a_run_starts_at_once_when_a_slot_is_free)
{
        begin(2);
        assign(1);
        const struct sc_effect *run = effect(SC_FX_RUN);
        ck_assert_uint_eq(run->msg.assign.run, 1);
        ck_assert_uint_eq(run->msg.assign.spec.body.len, 4);
        assign(2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        assign(3);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ck_assert_uint_eq(stats().queued, 1);
        teardown_work();
}
END_TEST

START_TEST(done_and_the_next_run_leave_in_one_step)
{
        begin(1);
        assign(1);
        char                 body[5] = "abcd";
        const struct sc_spec spec    = { .function = { "g", 1 }, .body = { body, 4 }, .timeout_ms = 9 };
        assign_spec(2, &spec);
        memset(body, 'x', 4);
        ran(1, SC_REASON_SUCCESS);
        const struct sc_msg *done = sent(SC_MSG_DONE);
        ck_assert_uint_eq(done->done.run, 1);
        ck_assert_int_eq(memcmp(done->done.outcome.result.ptr, "result", 6), 0);
        const struct sc_effect *run = effect(SC_FX_RUN);
        ck_assert_uint_eq(run->msg.assign.run, 2);
        ck_assert_int_eq(memcmp(run->msg.assign.spec.body.ptr, "abcd", 4), 0);
        ck_assert_int_eq(memcmp(run->msg.assign.spec.function.ptr, "g", 1), 0);
        ck_assert_uint_eq(stats().unconfirmed, 1);
        acked(1);
        ck_assert_uint_eq(stats().unconfirmed, 0);
        teardown_work();
}
END_TEST

START_TEST(an_assign_past_every_possible_grant_closes_the_link)
{
        begin(1);
        for (uint64_t run = 1; run <= 1 + SC_PREFETCH_MAX; run++) {
                assign(run);
                ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        }
        assign(1000);
        ck_assert_int_eq(effect(SC_FX_CLOSE)->status, SC_E_PROTOCOL);
        ck_assert_uint_eq(stats().queued, 0);
        assign(1001); /* what follows on that link is not heard */
        ck_assert_uint_eq(out.len, 0);
        teardown_work();
}
END_TEST

START_TEST(a_run_assigned_twice_closes_the_link)
{
        begin(1);
        assign(1);
        assign(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 1);
        teardown_work();
}
END_TEST

START_TEST(only_a_run_still_going_after_five_milliseconds_is_reported)
{
        begin(2);
        assign(1);
        assign(2);
        ck_assert_int_eq(sc_work_deadline(rig.w), rig.now + 5 * SC_MS);
        rig.now += 4 * SC_MS;
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_STARTED), 0);
        tick(SC_MS);
        ck_assert_uint_eq(sends(SC_MSG_STARTED), 1);
        ck_assert_uint_eq(sent(SC_MSG_STARTED)->about.run, 2);
        tick(5 * SC_MS);
        ck_assert_uint_eq(sends(SC_MSG_STARTED), 0);
        ck_assert_int_eq(sc_work_deadline(rig.w), SC_NEVER);
        teardown_work();
}
END_TEST

START_TEST(a_recall_returns_what_waits_and_reports_what_runs)
{
        begin(1);
        assign(1);
        assign(2);
        about(SC_MSG_RECALL, 2, false);
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 2);
        about(SC_MSG_RECALL, 1, false);
        ck_assert_uint_eq(sent(SC_MSG_STARTED)->about.run, 1);
        about(SC_MSG_RECALL, 1, false);
        about(SC_MSG_RECALL, 77, false);
        ck_assert_uint_eq(out.len, 0);
        teardown_work();
}
END_TEST

/* ---- links ------------------------------------------------------------------------------------- */

static uint32_t hello(struct sc_hello *got)
{
        uint32_t grant;
        sc_work_hello(rig.w, got, &grant);
        return grant;
}

START_TEST(a_lost_link_drops_what_waits_and_the_hello_lists_the_rest)
{
        begin(2);
        assign(1);
        assign(2);
        assign(3);
        ran(1, SC_REASON_TASK);
        assign(4);
        down();
        ck_assert_uint_eq(stats().queued, 0);
        struct sc_hello got;
        ck_assert_uint_eq(hello(&got), 0); /* both slots may turn out to be orphans */
        ck_assert_uint_eq(got.hold_count, 3);
        ck_assert_uint_eq(got.free_slots, 0);
        ck_assert_uint_eq(got.holds[0].run, 2);
        ck_assert_uint_eq(got.holds[0].flags, SC_HOLD_RUNNING);
        ck_assert_uint_eq(got.holds[1].run, 3);
        ck_assert_uint_eq(got.holds[2].run, 1);
        ck_assert_uint_eq(got.holds[2].flags, SC_HOLD_DONE);
        ck_assert_uint_eq(got.holds[2].epoch, 100);
        teardown_work();
}
END_TEST

START_TEST(a_kept_run_goes_on_under_its_new_number)
{
        begin(1);
        assign(5);
        down();
        up();
        ck_assert_uint_eq(out.len, 0);
        answer_hold(SC_MSG_KEEP, 5, 100, 60);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 2);
        const struct sc_msg stop = { .kind = SC_MSG_STOP, .about = { .task = task_of(5), .run = 60 } };
        say(&stop);
        ck_assert_uint_eq(effect(SC_FX_STOP)->run, 5);
        ran(5, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.run, 60);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_SUCCESS);
        teardown_work();
}
END_TEST

START_TEST(a_hello_while_the_old_link_seems_alive_lists_what_runs)
{
        struct sc_hello hello;
        uint32_t        grant;
        begin(1);
        assign(5);
        assign(6);
        sc_work_hello(rig.w, &hello, &grant);
        ck_assert_uint_eq(hello.hold_count, 1);
        ck_assert_uint_eq(hello.holds[0].run, 5);
        ck_assert_uint_eq(stats().queued, 0);
        ran(5, SC_REASON_SUCCESS); /* kept for the next link */
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        teardown_work();
}
END_TEST

START_TEST(a_run_kept_under_no_number_closes_the_link)
{
        begin(1);
        assign(5);
        down();
        up();
        answer_hold(SC_MSG_KEEP, 5, 100, 0);
        ck_assert_int_eq(effect(SC_FX_CLOSE)->status, SC_E_PROTOCOL);
        up();
        answer_hold(SC_MSG_KEEP, 5, 100, 5);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        teardown_work();
}
END_TEST

START_TEST(a_kept_done_is_sent_again_and_a_dropped_one_is_forgotten)
{
        begin(2);
        assign(1);
        assign(2);
        ran(1, SC_REASON_SUCCESS);
        ran(2, SC_REASON_SUCCESS);
        acked(0);
        down();
        up();
        answer_hold(SC_MSG_KEEP, 2, 100, 9);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.run, 9);
        ck_assert_int_eq(memcmp(sent(SC_MSG_DONE)->done.outcome.result.ptr, "result", 6), 0);
        answer_hold(SC_MSG_DROP, 1, 100, 0);
        ck_assert_uint_eq(out.len, 0);
        acked(1);
        ck_assert_uint_eq(stats().unconfirmed, 0);
        ck_assert_int_eq(sc_work_deadline(rig.w), SC_NEVER);
        teardown_work();
}
END_TEST

START_TEST(a_run_that_ends_without_a_link_is_told_when_it_is_kept)
{
        begin(1);
        assign(1);
        down();
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(out.len, 0);
        up();
        answer_hold(SC_MSG_KEEP, 1, 100, 1);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.run, 1);
        teardown_work();
}
END_TEST

START_TEST(a_dropped_run_is_killed_and_its_slot_stays_taken_until_it_returns)
{
        begin(1);
        assign(1);
        down();
        up();
        answer_hold(SC_MSG_DROP, 1, 100, 0);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        assign(2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ck_assert_uint_eq(stats().abandoned, 1);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        ck_assert_uint_eq(effect(SC_FX_RUN)->msg.assign.run, 2);
        teardown_work();
}
END_TEST

/* The scheduler ended their tasks as cancelled when it lost the link. */
START_TEST(a_run_that_was_told_to_stop_is_not_offered_again_but_killed)
{
        struct sc_hello hello;
        uint32_t        grant;
        begin(6);
        for (uint64_t run = 1; run <= 7; run++)
                assign(run);
        about(SC_MSG_STOP, 1, false);
        about(SC_MSG_STOP, 2, false);
        ran(2, SC_REASON_TASK); /* its DONE says cancelled */
        about(SC_MSG_STOP, 3, false);
        ran(3, SC_REASON_SUCCESS); /* in time */
        about(SC_MSG_STOP, 4, true);
        tick(5 * SC_S); /* answered for, and running on */
        ran(5, SC_REASON_TASK);
        down();
        sc_work_hello(rig.w, &hello, &grant);
        ck_assert_uint_eq(hello.hold_count, 4);
        for (uint32_t i = 0; i < hello.hold_count; i++)
                ck_assert(hello.holds[i].run == 3 || hello.holds[i].run >= 5);
        up();
        ck_assert_uint_eq(effects(SC_FX_STOP), 1);
        ck_assert_uint_eq(effect(SC_FX_STOP)->run, 1);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        ck_assert_uint_eq(stats().abandoned, 2);
        ran(1, SC_REASON_TASK);
        ran(4, SC_REASON_TASK);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        ck_assert_uint_eq(stats().abandoned, 0);
        teardown_work();
}
END_TEST

START_TEST(what_nobody_claims_in_time_is_killed_and_forgotten)
{
        begin(2);
        assign(1);
        assign(2);
        ran(2, SC_REASON_SUCCESS);
        down();
        ck_assert_int_eq(sc_work_deadline(rig.w), rig.now + 60 * SC_S);
        tick(59 * SC_S);
        up();
        tick(SC_S - 1);
        ck_assert_uint_eq(out.len, 0);
        tick(1);
        ck_assert_uint_eq(effect(SC_FX_STOP)->run, 1);
        ck_assert_uint_eq(stats().unconfirmed, 0);
        answer_hold(SC_MSG_KEEP, 1, 100, 8); /* too late */
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 8);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        teardown_work();
}
END_TEST

START_TEST(a_new_epoch_may_reuse_the_number_of_a_held_run)
{
        begin(2);
        assign(1);
        down();
        rig.epoch = 200;
        up();
        const struct sc_spec spec = { .function = { "f", 1 } };
        const struct sc_msg  msg  = {
                .kind = SC_MSG_ASSIGN, .assign = { .task = task_of(50), .run = 1, .attempt = 1, .spec = spec }
        };
        say(&msg);
        const uint64_t handle = effect(SC_FX_RUN)->msg.assign.run;
        ck_assert_uint_ne(handle, 1);
        answer_hold(SC_MSG_KEEP, 1, 100, 2);
        ran(handle, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.run, 1);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.task.lo, task_of(50).lo);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.run, 2);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.task.lo, task_of(1).lo);
        teardown_work();
}
END_TEST

START_TEST(the_newest_link_wins)
{
        begin(1);
        assign(1);
        assign(2);
        const struct sc_msg welcome = { .kind = SC_MSG_WELCOME, .welcome = { .epoch = 100 } };
        step((struct sc_event){ .kind = SC_EV_UP, .link = 5, .msg = &welcome });
        ck_assert_uint_eq(effect(SC_FX_CLOSE)->link, 1);
        ck_assert_uint_eq(stats().queued, 0); /* that one is the scheduler's again */
        down(); /* of link 1: nobody listens */
        rig.link = 5;
        answer_hold(SC_MSG_KEEP, 1, 100, 1);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(out.at[0].link, 5);
        teardown_work();
}
END_TEST

START_TEST(without_a_scheduler_for_too_long_it_gives_up_once)
{
        const struct sc_work_options options = { .slots = 1, .give_up = 10 * SC_S };
        ck_assert(setup_work(&options, 0));
        ck_assert_int_eq(sc_work_deadline(rig.w), rig.now + 10 * SC_S);
        tick(10 * SC_S - 1);
        ck_assert_uint_eq(out.len, 0);
        tick(1);
        ck_assert_int_eq(effect(SC_FX_GIVE_UP)->status, SC_E_UNREACHABLE);
        tick(SC_S);
        ck_assert_uint_eq(out.len, 0);
        ck_assert_int_eq(sc_work_deadline(rig.w), SC_NEVER);
        teardown_work();
}
END_TEST

START_TEST(a_refusal_is_final_and_tells_why)
{
        begin(1);
        const struct sc_msg bye = { .kind = SC_MSG_BYE, .bye = { .status = SC_E_DENIED, .why = { "no token", 8 } } };
        say(&bye);
        ck_assert_int_eq(effect(SC_FX_GIVE_UP)->status, SC_E_DENIED);
        ck_assert_str_eq(effect(SC_FX_GIVE_UP)->text, "no token");
        teardown_work();
}
END_TEST

/* ---- cancel and limits -------------------------------------------------------------------------- */

START_TEST(a_waiting_run_is_cancelled_at_once_and_never_starts)
{
        begin(1);
        assign(1);
        assign(2);
        about(SC_MSG_STOP, 2, false);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_CANCELLED);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ck_assert_uint_eq(stats().cancelled, 1);
        teardown_work();
}
END_TEST

START_TEST(after_an_unforced_stop_a_success_stays_and_all_else_is_cancelled)
{
        begin(2);
        assign(1);
        assign(2);
        about(SC_MSG_STOP, 1, false);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_ASK);
        about(SC_MSG_STOP, 1, false);
        ck_assert_uint_eq(out.len, 0);
        about(SC_MSG_STOP, 2, false);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_SUCCESS);
        ran(2, SC_REASON_TASK);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.code, 3);
        teardown_work();
}
END_TEST

START_TEST(a_run_that_survives_the_kill_is_answered_for_and_keeps_its_slot)
{
        begin(1);
        assign(1);
        about(SC_MSG_STOP, 1, false);
        about(SC_MSG_STOP, 1, true);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        tick(5 * SC_S - 1);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        tick(1);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 0);
        ck_assert_uint_eq(effects(SC_FX_NOTE), 1);
        assign(2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        acked(1);
        ck_assert_uint_eq(stats().abandoned, 1);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 1);
        teardown_work();
}
END_TEST

START_TEST(a_run_given_up_may_return_before_its_done_is_acked)
{
        begin(1);
        assign(1);
        about(SC_MSG_STOP, 1, true);
        tick(5 * SC_S);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        ck_assert_uint_eq(stats().abandoned, 0);
        ck_assert_uint_eq(stats().unconfirmed, 1);
        acked(1);
        ck_assert_uint_eq(stats().unconfirmed, 0);
        teardown_work();
}
END_TEST

START_TEST(a_time_limit_asks_then_kills_then_gives_up)
{
        begin(1);
        const struct sc_spec spec = { .kind = SC_TASK_COMMAND, .timeout_ms = 1500 };
        assign_spec(1, &spec);
        tick(1500 * SC_MS - 1);
        ck_assert_uint_eq(effects(SC_FX_STOP), 0);
        tick(1);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_ASK);
        tick(5 * SC_S);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        tick(5 * SC_S);
        const struct sc_outcome *outcome = &sent(SC_MSG_DONE)->done.outcome;
        ck_assert_int_eq(outcome->reason, SC_REASON_RUN_TIMEOUT);
        static const char text[] = "ran longer than its limit of 1500 ms";
        ck_assert_uint_eq(outcome->text.len, sizeof text - 1);
        ck_assert_int_eq(memcmp(outcome->text.ptr, text, sizeof text - 1), 0);
        ck_assert_uint_eq(outcome->wall_us, 11500000);
        teardown_work();
}
END_TEST

START_TEST(the_end_after_a_time_limit_keeps_its_usage_and_says_timeout)
{
        begin(1);
        const struct sc_spec spec = { .timeout_ms = 1 };
        assign_spec(1, &spec);
        tick(SC_MS);
        const struct sc_outcome outcome = { .reason = SC_REASON_SUCCESS, .user_us = 42 };
        step((struct sc_event){ .kind = SC_EV_RAN, .run = 1, .outcome = &outcome });
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_RUN_TIMEOUT);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.outcome.user_us, 42);
        teardown_work();
}
END_TEST

/* ---- outcomes ----------------------------------------------------------------------------------- */

static void ran_with(uint64_t handle, size_t result, size_t text)
{
        static char              bytes[SC_RESULT_MAX + 1];
        const struct sc_outcome outcome = { .result = { bytes, result }, .text = { bytes, text } };
        step((struct sc_event){ .kind = SC_EV_RAN, .run = handle, .outcome = &outcome });
}

START_TEST(a_result_may_be_as_large_as_the_limit_and_no_larger)
{
        begin(2);
        assign(1);
        assign(2);
        ran_with(1, SC_RESULT_MAX, SC_TEXT_MAX);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.outcome.result.len, SC_RESULT_MAX);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.outcome.text.len, SC_TEXT_MAX);
        /* What stands behind the text is not looked at. */
        static char text[SC_TEXT_MAX + 1];
        memset(text, 0x80, sizeof text);
        assign(3);
        const struct sc_outcome longest = { .text = { text, SC_TEXT_MAX } };
        step((struct sc_event){ .kind = SC_EV_RAN, .run = 3, .outcome = &longest });
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.outcome.text.len, SC_TEXT_MAX);
        ran_with(2, SC_RESULT_MAX + 1, SC_TEXT_MAX + 1);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_LIMIT);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.outcome.result.len, 0);
        teardown_work();
}
END_TEST

START_TEST(a_result_there_is_no_memory_for_ends_the_run_with_words)
{
        begin(1);
        assign(1);
        rig.fail.fail_at = rig.fail.asked + 1;
        ran_with(1, 1000, 0);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_LIMIT);
        const struct sc_view text = sent(SC_MSG_DONE)->done.outcome.text;
        ck_assert_uint_eq(text.len, strlen("the worker has no memory for the result"));
        ck_assert_int_eq(memcmp(text.ptr, "the worker has no memory for the result", text.len), 0);
        teardown_work();
}
END_TEST

START_TEST(a_run_whose_arguments_find_no_memory_ends_and_the_next_goes_on)
{
        begin(1);
        assign(1);
        rig.fail.fail_at = rig.fail.asked + 1;
        assign(2);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_LIMIT);
        assign(3);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effect(SC_FX_RUN)->msg.assign.run, 3);
        teardown_work();
}
END_TEST

START_TEST(when_the_table_is_full_of_unconfirmed_ends_more_runs_are_returned)
{
        begin(1);
        for (uint64_t run = 1; run <= SC_HOLDS_MAX; run++) {
                assign(run);
                ck_assert_uint_eq(sends(SC_MSG_RETURNED), 0);
                ran(run, SC_REASON_SUCCESS);
        }
        assign(9999);
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 1);
        down();
        struct sc_hello got;
        (void)hello(&got);
        ck_assert_uint_eq(got.hold_count, SC_HOLDS_MAX);
        tick(60 * SC_S);
        ck_assert_uint_eq(stats().unconfirmed, 0);
        teardown_work();
}
END_TEST

/* ---- grants --------------------------------------------------------------------------------------*/

START_TEST(prefetch_follows_the_run_time)
{
        begin(1);
        assign(1);
        rig.now += 2 * SC_US;
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 1 + 100);
        assign(2);
        ran(2, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 0); /* a little more is not worth a word */
        assign(3);
        tick(5 * SC_MS); /* a long one shows before it ends */
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 2);
        for (uint64_t run = 4; run < 100; run++) {
                assign(run);
                ran(run == 4 ? 3 : run - 1, SC_REASON_SUCCESS);
        }
        uint32_t grant;
        struct sc_hello got;
        sc_work_hello(rig.w, &got, &grant);
        ck_assert_uint_le(grant, 1 + SC_PREFETCH_MAX);
        teardown_work();
}
END_TEST

START_TEST(a_given_prefetch_is_not_adapted)
{
        const struct sc_work_options options = { .slots = 3, .prefetch = -1 };
        struct sc_hello              got;
        ck_assert(setup_work(&options, 0));
        ck_assert_uint_eq(hello(&got), 3);
        ck_assert_uint_eq(got.slots, 3);
        teardown_work();
        const struct sc_work_options ten = { .slots = 3, .prefetch = 10 };
        ck_assert(setup_work(&ten, 0));
        ck_assert_uint_eq(hello(&got), 13);
        ck_assert_uint_eq(got.incarnation, 1);
        teardown_work();
}
END_TEST

/* ---- bounds -----------------------------------------------------------------------------------------*/

START_TEST(what_is_let_go_of_is_freed_by_the_next_step)
{
        static char text[1000];
        begin(1);
        size_t blocks = 0;
        for (uint64_t run = 1; run <= 300; run++) {
                assign(run);
                const struct sc_outcome outcome = { .result = { text, sizeof text } };
                step((struct sc_event){ .kind = SC_EV_RAN, .run = run, .outcome = &outcome });
                acked(1);
                tick(0);
                if (run == 2)
                        blocks = rig.fail.blocks;
        }
        ck_assert_uint_eq(rig.fail.blocks, blocks);
        teardown_work();
}
END_TEST

START_TEST(limits_are_met_in_the_order_of_time)
{
        begin(4);
        for (uint64_t run = 1; run <= 4; run++) {
                const struct sc_spec spec = { .function = { "f", 1 }, .timeout_ms = 1000 * (5 - run) };
                assign_spec(run, &spec);
        }
        for (uint64_t run = 4; run >= 1; run--) {
                const sc_ns due = (sc_ns)(5 - run) * SC_S + SC_S; /* the rig starts at a second */
                tick(due - 1 - rig.now);
                ck_assert_uint_eq(effects(SC_FX_STOP), 0);
                tick(1);
                ck_assert_uint_eq(effect(SC_FX_STOP)->run, run);
                ran(run, SC_REASON_TASK);
        }
        teardown_work();
}
END_TEST

START_TEST(bulk_work_is_spread_over_bounded_steps)
{
        begin(SC_SLOTS_MAX);
        for (uint64_t run = 1; run <= SC_SLOTS_MAX + SC_PREFETCH_MAX; run++)
                assign(run);
        step((struct sc_event){ .kind = SC_EV_DRAIN });
        uint32_t returned = sends(SC_MSG_RETURNED);
        ck_assert_uint_eq(returned, SC_PREFETCH_MAX);
        step((struct sc_event){ .kind = SC_EV_RELEASE });
        returned = sends(SC_MSG_RETURNED);
        for (int turns = 0; effects(SC_FX_CLOSED) == 0; turns++) {
                ck_assert_int_lt(turns, 10);
                ck_assert_int_eq(sc_work_deadline(rig.w), rig.now);
                tick(0);
                returned += sends(SC_MSG_RETURNED);
        }
        ck_assert_uint_eq(returned, SC_SLOTS_MAX);
        teardown_work();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("work");
        tcase_add_test(tests, a_run_starts_at_once_when_a_slot_is_free);
        tcase_add_test(tests, done_and_the_next_run_leave_in_one_step);
        tcase_add_test(tests, an_assign_past_every_possible_grant_closes_the_link);
        tcase_add_test(tests, a_run_assigned_twice_closes_the_link);
        tcase_add_test(tests, only_a_run_still_going_after_five_milliseconds_is_reported);
        tcase_add_test(tests, a_recall_returns_what_waits_and_reports_what_runs);
        tcase_add_test(tests, a_lost_link_drops_what_waits_and_the_hello_lists_the_rest);
        tcase_add_test(tests, a_kept_run_goes_on_under_its_new_number);
        tcase_add_test(tests, a_hello_while_the_old_link_seems_alive_lists_what_runs);
        tcase_add_test(tests, a_run_kept_under_no_number_closes_the_link);
        tcase_add_test(tests, a_kept_done_is_sent_again_and_a_dropped_one_is_forgotten);
        tcase_add_test(tests, a_run_that_ends_without_a_link_is_told_when_it_is_kept);
        tcase_add_test(tests, a_dropped_run_is_killed_and_its_slot_stays_taken_until_it_returns);
        tcase_add_test(tests, a_run_that_was_told_to_stop_is_not_offered_again_but_killed);
        tcase_add_test(tests, what_nobody_claims_in_time_is_killed_and_forgotten);
        tcase_add_test(tests, a_new_epoch_may_reuse_the_number_of_a_held_run);
        tcase_add_test(tests, the_newest_link_wins);
        tcase_add_test(tests, without_a_scheduler_for_too_long_it_gives_up_once);
        tcase_add_test(tests, a_refusal_is_final_and_tells_why);
        tcase_add_test(tests, a_waiting_run_is_cancelled_at_once_and_never_starts);
        tcase_add_test(tests, after_an_unforced_stop_a_success_stays_and_all_else_is_cancelled);
        tcase_add_test(tests, a_run_that_survives_the_kill_is_answered_for_and_keeps_its_slot);
        tcase_add_test(tests, a_run_given_up_may_return_before_its_done_is_acked);
        tcase_add_test(tests, a_time_limit_asks_then_kills_then_gives_up);
        tcase_add_test(tests, the_end_after_a_time_limit_keeps_its_usage_and_says_timeout);
        tcase_add_test(tests, a_result_may_be_as_large_as_the_limit_and_no_larger);
        tcase_add_test(tests, a_result_there_is_no_memory_for_ends_the_run_with_words);
        tcase_add_test(tests, a_run_whose_arguments_find_no_memory_ends_and_the_next_goes_on);
        tcase_add_test(tests, when_the_table_is_full_of_unconfirmed_ends_more_runs_are_returned);
        tcase_add_test(tests, prefetch_follows_the_run_time);
        tcase_add_test(tests, a_given_prefetch_is_not_adapted);
        tcase_add_test(tests, what_is_let_go_of_is_freed_by_the_next_step);
        tcase_add_test(tests, limits_are_met_in_the_order_of_time);
        tcase_add_test(tests, bulk_work_is_spread_over_bounded_steps);
        return run_tests("work", tests);
}
