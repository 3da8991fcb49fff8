/* Transcripts of the worker's core: short runs that are told to the shell before there is a slot for them. */
#include "test_work_kit.h"

#include "run_tests.h"

enum { WARM = 16, FIRST = 101 };

/* So many short runs have been that the next are offered. */
static void begin_warm(uint32_t slots)
{
        const struct sc_work_options options = { .slots = slots };
        ck_assert(setup_work(&options, 0));
        up();
        for (uint64_t run = 1; run <= WARM; run++) {
                assign(run);
                ck_assert_uint_eq(effects(SC_FX_RUN), 1);
                ran_for(run, SC_REASON_SUCCESS, 1);
        }
        acked(WARM);
}

static void assign_many(uint64_t first, uint64_t last)
{
        for (uint64_t run = first; run <= last; run++)
                assign(run);
}

/* The run that the nth effect of that kind names. */
static uint64_t named(enum sc_effect_kind kind, uint32_t nth)
{
        for (uint32_t i = 0; i < out.len; i++)
                if (out.at[i].kind == kind && nth-- == 0)
                        return out.at[i].run;
        return 0;
}

START_TEST(after_enough_short_runs_the_next_is_told_ahead)
{
        const struct sc_work_options options = { .slots = 1 };
        ck_assert(setup_work(&options, 0));
        up();
        assign_many(1, 40);
        ck_assert_uint_eq(stats().queued, 39);
        for (uint64_t run = 1; run < WARM; run++) {
                ran_for(run, SC_REASON_SUCCESS, 50);
                ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        }
        ran_for(WARM, SC_REASON_SUCCESS, 50);
        ck_assert_uint_gt(effects(SC_FX_RUN), 1);
        teardown_work();
}
END_TEST

START_TEST(what_was_told_ahead_begins_when_a_run_ends)
{
        begin_warm(1);
        assign(FIRST);
        assign(FIRST + 1);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, FIRST + 1);
        ck_assert_uint_eq(effect(SC_FX_RUN)->msg.assign.spec.body.len, 4);
        ck_assert_uint_eq(stats().running, 1);
        ck_assert_uint_eq(stats().queued, 1);
        ck_assert_uint_eq(sc_work_queued(rig.w), 1);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 1);
        ck_assert_uint_eq(stats().running, 1);
        ck_assert_uint_eq(stats().queued, 0);
        tick(4 * SC_MS);
        ck_assert_uint_eq(sends(SC_MSG_STARTED), 0); /* it has run for that long only since the other one ended */
        tick(SC_MS);
        ck_assert_uint_eq(sent(SC_MSG_STARTED)->about.run, FIRST + 1);
        teardown_work();
}
END_TEST

START_TEST(so_many_and_no_more_are_told_ahead)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + SC_OFFERED_MAX);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        assign(FIRST + SC_OFFERED_MAX + 1);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, FIRST + SC_OFFERED_MAX + 1);
        teardown_work();
}
END_TEST

START_TEST(a_long_run_ends_the_telling_ahead)
{
        begin_warm(1);
        assign(FIRST);
        tick(5 * SC_MS);
        assign(FIRST + 1);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        assign(FIRST + 2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        teardown_work();
}
END_TEST

START_TEST(a_limit_counts_from_when_a_run_begins)
{
        const struct sc_spec spec = { .function = { "f", 1 }, .body = { "body", 4 }, .timeout_ms = 2 };
        begin_warm(1);
        assign(FIRST);
        assign_spec(FIRST + 1, &spec);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        tick(3 * SC_MS);
        ck_assert_uint_eq(effects(SC_FX_STOP), 0);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        tick(2 * SC_MS);
        ck_assert_uint_eq(effect(SC_FX_STOP)->run, FIRST + 1);
        teardown_work();
}
END_TEST

START_TEST(a_command_is_never_told_ahead_and_nothing_while_it_runs)
{
        const struct sc_spec command = { .kind = SC_TASK_COMMAND, .body = { "body", 4 } };
        begin_warm(1);
        assign(FIRST);
        assign_spec(FIRST + 1, &command);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        assign(FIRST + 2); /* not past it either */
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, FIRST + 1);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        ran_for(FIRST + 1, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, FIRST + 2);
        teardown_work();
}
END_TEST

START_TEST(a_streaming_run_is_not_told_ahead)
{
        const struct sc_spec spec = { .function = { "f", 1 }, .body = { "body", 4 }, .flags = SC_SPEC_STREAM };
        begin_warm(1);
        assign(FIRST);
        assign_spec(FIRST + 1, &spec);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        teardown_work();
}
END_TEST

/* ---- taking back --------------------------------------------------------------------------------- */

START_TEST(a_recalled_run_is_asked_back_and_returned)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 3);
        about(SC_MSG_RECALL, FIRST + 2, false);
        ck_assert_uint_eq(effect(SC_FX_TAKE_BACK)->run, FIRST + 2);
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 0);
        back(FIRST + 2);
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, FIRST + 2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ck_assert_uint_eq(stats().queued, 2);
        teardown_work();
}
END_TEST

START_TEST(a_recall_that_comes_too_late_is_answered_by_a_report)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 1);
        about(SC_MSG_RECALL, FIRST + 1, false);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(sent(SC_MSG_STARTED)->about.run, FIRST + 1);
        teardown_work();
}
END_TEST

START_TEST(nothing_begins_in_the_step_that_asks_back)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 1);
        step((struct sc_event){ .kind = SC_EV_DRAIN });
        ck_assert_uint_eq(named(SC_FX_TAKE_BACK, 0), FIRST + 1);
        ck_assert_uint_eq(stats().queued, 1);
        back(FIRST + 1);
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, FIRST + 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        acked(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

START_TEST(a_worker_that_leaves_waits_for_what_had_begun_after_all)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 1);
        step((struct sc_event){ .kind = SC_EV_DRAIN });
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        acked(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        ck_assert_uint_eq(stats().running, 1);
        ck_assert_uint_eq(effects(SC_FX_TAKE_BACK), 0);
        ran_for(FIRST + 1, SC_REASON_SUCCESS, 1);
        acked(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

START_TEST(a_cancelled_run_that_came_back_never_starts)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 2);
        about(SC_MSG_STOP, FIRST + 1, false);
        ck_assert_uint_eq(effect(SC_FX_TAKE_BACK)->run, FIRST + 1);
        ck_assert_uint_eq(effects(SC_FX_STOP), 0);
        back(FIRST + 1);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        teardown_work();
}
END_TEST

START_TEST(a_cancel_finds_a_run_that_had_begun)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 1);
        about(SC_MSG_STOP, FIRST + 1, true);
        about(SC_MSG_STOP, FIRST + 1, false); /* the stronger one holds */
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(effect(SC_FX_STOP)->run, FIRST + 1);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        ran_for(FIRST + 1, SC_REASON_TASK, 1);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_CANCELLED);
        teardown_work();
}
END_TEST

START_TEST(a_force_after_a_cancel_is_kept_too)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 1);
        about(SC_MSG_STOP, FIRST + 1, false);
        about(SC_MSG_STOP, FIRST + 1, true);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        teardown_work();
}
END_TEST

START_TEST(a_run_the_shell_refuses_ends_though_it_never_began)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 2);
        about(SC_MSG_RECALL, FIRST + 1, false);
        ran_for(FIRST + 1, SC_REASON_NOT_STARTED, 0);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.run, FIRST + 1);
        ck_assert_uint_eq(stats().running, 1);
        ck_assert_uint_eq(stats().queued, 1);
        teardown_work();
}
END_TEST

/* ---- links ---------------------------------------------------------------------------------------- */

START_TEST(a_lost_link_asks_all_back_the_newest_first)
{
        struct sc_hello got;
        uint32_t        grant;
        begin_warm(1);
        assign_many(FIRST, FIRST + 3);
        down();
        ck_assert_uint_eq(effects(SC_FX_TAKE_BACK), 3);
        ck_assert_uint_eq(named(SC_FX_TAKE_BACK, 0), FIRST + 3);
        ck_assert_uint_eq(named(SC_FX_TAKE_BACK, 2), FIRST + 1);
        back(FIRST + 3);
        back(FIRST + 2);
        ck_assert_uint_eq(out.len, 0); /* the scheduler knows */
        ck_assert_uint_eq(stats().queued, 1);
        ran_for(FIRST, SC_REASON_SUCCESS, 1); /* so the other one had begun */
        ck_assert_uint_eq(stats().running, 1);
        sc_work_hello(rig.w, &got, &grant);
        ck_assert_uint_eq(got.hold_count, 2);
        ck_assert_uint_eq(got.holds[0].run, FIRST + 1);
        ck_assert_uint_eq(got.holds[0].flags, SC_HOLD_RUNNING);
        ck_assert_uint_eq(got.holds[1].run, FIRST);
        teardown_work();
}
END_TEST

START_TEST(a_hello_while_a_link_is_up_has_all_asked_back_at_once)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 1);
        struct sc_hello got;
        uint32_t        grant;
        sc_work_hello(rig.w, &got, &grant);
        ck_assert_uint_eq(got.hold_count, 1);
        ck_assert_int_eq(sc_work_deadline(rig.w), rig.now);
        tick(0);
        ck_assert_uint_eq(effect(SC_FX_TAKE_BACK)->run, FIRST + 1);
        back(FIRST + 1);
        ck_assert_uint_eq(stats().queued, 0);
        ck_assert_int_gt(sc_work_deadline(rig.w), rig.now);
        teardown_work();
}
END_TEST

/* Nobody listed it, so whoever answers for it means another. */
START_TEST(an_answer_for_a_run_that_was_not_listed_changes_nothing)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 1);
        const uint64_t epoch = rig.epoch;
        down();
        rig.epoch = 200;
        up();
        answer_hold(SC_MSG_DROP, FIRST + 1, epoch, 0);
        ck_assert_uint_eq(stats().queued, 1);
        answer_hold(SC_MSG_KEEP, FIRST + 1, epoch, 7);
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 1);
        ck_assert_uint_eq(stats().queued, 1);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ran_for(FIRST + 1, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(stats().running, 0);
        teardown_work();
}
END_TEST

START_TEST(a_link_closed_for_nonsense_has_all_asked_back)
{
        begin_warm(2);
        assign_many(FIRST, FIRST + 3);
        assign(FIRST);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 1);
        ck_assert_uint_eq(effects(SC_FX_TAKE_BACK), 2);
        back(FIRST + 3);
        back(FIRST + 2);
        ck_assert_uint_eq(stats().queued, 0);
        teardown_work();
}
END_TEST

START_TEST(nothing_is_told_ahead_to_a_shell_without_a_free_link)
{
        begin_warm(1);
        assign_many(FIRST, FIRST + 1);
        down();
        back(FIRST + 1);
        up();
        assign(FIRST + 10);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1); /* behind the run that is held */
        teardown_work();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("ahead");
        tcase_add_test(tests, after_enough_short_runs_the_next_is_told_ahead);
        tcase_add_test(tests, what_was_told_ahead_begins_when_a_run_ends);
        tcase_add_test(tests, so_many_and_no_more_are_told_ahead);
        tcase_add_test(tests, a_long_run_ends_the_telling_ahead);
        tcase_add_test(tests, a_limit_counts_from_when_a_run_begins);
        tcase_add_test(tests, a_command_is_never_told_ahead_and_nothing_while_it_runs);
        tcase_add_test(tests, a_streaming_run_is_not_told_ahead);
        tcase_add_test(tests, a_recalled_run_is_asked_back_and_returned);
        tcase_add_test(tests, a_recall_that_comes_too_late_is_answered_by_a_report);
        tcase_add_test(tests, nothing_begins_in_the_step_that_asks_back);
        tcase_add_test(tests, a_worker_that_leaves_waits_for_what_had_begun_after_all);
        tcase_add_test(tests, a_cancelled_run_that_came_back_never_starts);
        tcase_add_test(tests, a_cancel_finds_a_run_that_had_begun);
        tcase_add_test(tests, a_force_after_a_cancel_is_kept_too);
        tcase_add_test(tests, a_run_the_shell_refuses_ends_though_it_never_began);
        tcase_add_test(tests, a_lost_link_asks_all_back_the_newest_first);
        tcase_add_test(tests, a_hello_while_a_link_is_up_has_all_asked_back_at_once);
        tcase_add_test(tests, an_answer_for_a_run_that_was_not_listed_changes_nothing);
        tcase_add_test(tests, a_link_closed_for_nonsense_has_all_asked_back);
        tcase_add_test(tests, nothing_is_told_ahead_to_a_shell_without_a_free_link);
        return run_tests("work_ahead", tests);
}
