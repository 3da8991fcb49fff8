/* Dependencies and graphs in the scheduler's core: waiting, reading, failing along edges, and what is kept how long. */
#include "test_sched_graph_kit.h"

#include "run_tests.h"

/* ---- one task after another ---------------------------------------------------------------------*/

START_TEST(a_task_waits_for_what_it_reads_and_gets_it_in_order)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        const uint64_t entries[] = { reads(2), reads(1), reads(2) };
        submit_after(3, entries, 3, 0, 0);
        ck_assert_uint_eq(stats().tasks_waiting, 1);
        succeed(1, "one");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        succeed(2, "two!");
        const struct sc_assign *a = assign_of(3);
        ck_assert_uint_eq(input_count(a), 3);
        expect_input(a, 0, "two!");
        expect_input(a, 1, "one");
        expect_input(a, 2, "two!");
        ck_assert_uint_eq(a->spec.body.len, 16);
        teardown();
}
END_TEST

START_TEST(a_task_that_is_only_to_come_later_reads_nothing)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        submit_after_one(2, 1);
        succeed(1, "one");
        ck_assert_uint_eq(input_count(assign_of(2)), 0);
        acked(C, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 1);
        teardown();
}
END_TEST

START_TEST(a_result_is_kept_until_its_last_reader_has_ended)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        submit_after_one(2, reads(1));
        submit_after_one(3, reads(1));
        succeed(1, "one");
        acked(C, 1);
        ck_assert_uint_eq(stats().tasks_kept, 1);
        ck_assert_uint_eq(stats().tasks_ended_unacked, 0);
        submit_after_one(4, reads(1));
        expect_input(assign_of(4), 0, "one");
        succeed(2, "");
        succeed(3, "");
        ck_assert_uint_eq(stats().tasks_kept, 1);
        succeed(4, "");
        ck_assert_uint_eq(stats().tasks_kept, 0);
        acked(C, 3);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        ck_assert_uint_eq(stats().bytes_used, 0);
        teardown();
}
END_TEST

START_TEST(a_task_may_come_after_one_that_has_ended_and_is_not_confirmed)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        succeed(1, "one");
        submit_after_one(2, reads(1));
        expect_input(assign_of(2), 0, "one");
        submit_after_one(3, 1);
        ck_assert_uint_eq(input_count(assign_of(3)), 0);
        teardown();
}
END_TEST

START_TEST(a_run_that_is_made_again_gets_its_inputs_again)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        submit_after_one(2, reads(1));
        succeed(1, "one");
        acked(C, 1);
        down(W);
        settle();
        worker_up(W, WORKER, 1, 1);
        expect_input(assign_of(2), 0, "one");
        succeed(2, "");
        ck_assert_uint_eq(stats().tasks_kept, 0);
        teardown();
}
END_TEST

START_TEST(constants_come_with_the_task_in_their_places)
{
        pair_up(4, 4);
        submit(C, CLIENT, 5);
        const uint64_t       entries[]   = { reads(1) | SC_AFTER_ENDED, reads(5), reads(3) | SC_AFTER_ENDED,
                                             2 | SC_AFTER_ENDED };
        const struct sc_view constants[] = { { "first", 5 }, { "", 0 } };
        const struct sc_plan plan = { .after = after_of(entries, 4), .results = { constants, 2 } };
        submit_plan(6, &plan, SC_TASK_FUNCTION);
        succeed(5, "mine");
        const struct sc_assign *a = assign_of(6);
        ck_assert_uint_eq(input_count(a), 3);
        expect_input(a, 0, "first");
        expect_input(a, 1, "mine");
        expect_input(a, 2, "");
        succeed(6, "");
        acked(C, 2);
        ck_assert_uint_eq(stats().bytes_used, 0);
        teardown();
}
END_TEST

START_TEST(not_before_counts_from_the_submit_even_if_its_dependencies_end_first)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        const uint64_t       entry = 1;
        const struct sc_plan plan  = { .after = after_of(&entry, 1), .not_before_ms = 1000 };
        submit_plan(2, &plan, SC_TASK_FUNCTION);
        submit_plan(3, &plan, SC_TASK_FUNCTION);
        succeed(1, "");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        tick(1000 * SC_MS);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 2);
        teardown();
}
END_TEST

START_TEST(a_deadline_ends_a_task_that_waits_and_frees_what_it_would_have_read)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        const uint64_t       entries[] = { reads(1), reads(2) };
        const struct sc_plan plan      = { .after = after_of(entries, 2), .deadline_ms = 1000 };
        submit_plan(3, &plan, SC_TASK_FUNCTION);
        submit_after_one(4, 3);
        succeed(1, "one");
        acked(C, 1);
        tick(1000 * SC_MS);
        ck_assert_uint_eq(result_of(3)->outcome.reason, SC_REASON_DEADLINE);
        ck_assert_uint_eq(result_of(4)->outcome.reason, SC_REASON_DEPENDENCY);
        ck_assert_uint_eq(result_of(4)->root, 3);
        ck_assert_uint_eq(result_of(4)->root_reason, SC_REASON_DEADLINE);
        ck_assert_uint_eq(stats().tasks_kept, 0);
        teardown();
}
END_TEST

/* ---- failing ------------------------------------------------------------------------------------*/

START_TEST(a_failure_ends_all_that_comes_after_it_once_and_names_the_root)
{
        pair_up(4, 4);
        for (uint64_t i = 1; i <= 2; i++)
                submit(C, CLIENT, i);
        const uint64_t both[] = { reads(3), 4 };
        submit_after_one(3, reads(1));
        submit_after_one(4, 1);
        submit_after(5, both, 2, 0, 0);
        submit_after_one(6, reads(2));
        fail_it(1);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 4);
        ck_assert_uint_eq(result_of(1)->outcome.reason, SC_REASON_TASK);
        ck_assert_uint_eq(result_of(1)->root, 0);
        for (uint64_t i = 3; i <= 5; i++) {
                ck_assert_uint_eq(result_of(i)->outcome.reason, SC_REASON_DEPENDENCY);
                ck_assert_uint_eq(result_of(i)->root, 1);
                ck_assert_uint_eq(result_of(i)->root_reason, SC_REASON_TASK);
                ck_assert_uint_gt(result_of(i)->outcome.text.len, 0);
        }
        succeed(2, "two"); /* the other branch runs on */
        expect_input(assign_of(6), 0, "two");
        acked(C, 5);
        succeed(6, "");
        acked(C, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(whoever_names_a_failed_task_ends_at_once)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        submit_after_one(2, reads(1));
        fail_it(1);
        submit_after_one(3, reads(2));
        ck_assert_uint_eq(result_of(3)->outcome.reason, SC_REASON_DEPENDENCY);
        ck_assert_uint_eq(result_of(3)->root, 1);
        const struct sc_plan plan = { .root = 1, .root_reason = SC_REASON_TASK };
        submit_plan(4, &plan, SC_TASK_FUNCTION);
        ck_assert_uint_eq(result_of(4)->outcome.reason, SC_REASON_DEPENDENCY);
        ck_assert_uint_eq(result_of(4)->root, 1);
        teardown();
}
END_TEST

START_TEST(cancelling_a_task_cancels_what_comes_after_it)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        submit_after_one(2, reads(1));
        submit_after_one(3, reads(2));
        submit_after_one(4, 1);
        cancel(C, task(CLIENT, 2), false);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        ck_assert_uint_eq(result_of(2)->outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(result_of(3)->outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(result_of(3)->root, 2);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 2);
        succeed(1, "one");
        ck_assert_uint_eq(input_count(assign_of(4)), 0);
        cancel(C, task(CLIENT, 1), false);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_NOT_FOUND);
        teardown();
}
END_TEST

static char big[SC_RESULT_MAX];

START_TEST(results_and_arguments_of_one_mebibyte_fit_and_a_byte_more_does_not)
{
        for (int more = 0; more < 2; more++) {
                pair_up(4, 4);
                submit(C, CLIENT, 1);
                submit(C, CLIENT, 2);
                const uint64_t entries[] = { reads(1), reads(2) };
                submit_after(3, entries, 2, 0, 0);
                memset(big, 'x', sizeof big);
                struct sc_outcome outcome = { .reason = SC_REASON_SUCCESS, .result = { big, SC_BODY_MAX - 16 - 3 } };
                done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), outcome);
                succeed(2, more ? "four" : "two");
                if (more) {
                        const struct sc_outcome *o = &result_of(3)->outcome;
                        ck_assert_uint_eq(o->reason, SC_REASON_LIMIT);
                        ck_assert_ptr_nonnull(strstr(text_of(o->text), "1048577"));
                        ck_assert_ptr_nonnull(strstr(text_of(o->text), "1048576"));
                        ck_assert_uint_eq(result_of(3)->root, 0);
                } else {
                        ck_assert_uint_eq(assign_of(3)->spec.plan->results.at[0].len, SC_BODY_MAX - 16 - 3);
                }
                teardown();
        }
}
END_TEST

/* ---- graphs -------------------------------------------------------------------------------------*/

/* 1 the graph; 2 -> 3, 4 -> 5, which is wanted. */
static void submit_diamond(uint8_t flags)
{
        const uint64_t both[] = { reads(3), reads(4) }, top = reads(2);
        submit_graph(1, 4, flags);
        submit_inner(2, 1);
        submit_after(3, &top, 1, 1, SC_GRAPH_INNER);
        submit_after(4, &top, 1, 1, SC_GRAPH_INNER);
        submit_after(5, both, 2, 1, 0);
}

START_TEST(a_diamond_runs_and_leaves_nothing_behind)
{
        pair_up(4, 4);
        submit_diamond(0);
        ck_assert_uint_eq(stats().tasks_assigned, 1);
        succeed(2, "top");
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        expect_input(assign_of(3), 0, "top");
        expect_input(assign_of(4), 0, "top");
        succeed(3, "left");
        ck_assert_uint_eq(stats().tasks_kept, 2);
        succeed(4, "right");
        ck_assert_uint_eq(stats().tasks_kept, 2); /* top has gone with its last reader */
        const struct sc_assign *a = assign_of(5);
        expect_input(a, 0, "left");
        expect_input(a, 1, "right");
        succeed(5, "all");
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        const struct sc_graph_done *g = &sent(C, SC_MSG_GRAPH_DONE)->graph_done;
        ck_assert_uint_eq(g->task.lo, 1);
        ck_assert_uint_eq(g->reason, SC_REASON_SUCCESS);
        ck_assert_uint_eq(g->succeeded, 4);
        ck_assert_uint_eq(g->failed + g->cancelled + g->skipped, 0);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 2);
        acked(C, 2);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        ck_assert_uint_eq(stats().bytes_used, 0);
        teardown();
}
END_TEST

START_TEST(what_ends_before_its_readers_have_come_is_kept_until_the_graph_is_whole)
{
        pair_up(4, 4);
        submit_graph(1, 3, 0);
        submit_inner(2, 1);
        submit_inner(3, 1);
        succeed(2, "two");
        succeed(3, "three");
        ck_assert_uint_eq(stats().tasks_kept, 2);
        const uint64_t entry = reads(2);
        submit_after(4, &entry, 1, 1, 0);
        expect_input(assign_of(4), 0, "two");
        ck_assert_uint_eq(stats().tasks_kept, 1);
        succeed(4, "");
        ck_assert_uint_eq(sent(C, SC_MSG_GRAPH_DONE)->graph_done.succeeded, 3);
        acked(C, 2);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_target_that_is_confirmed_before_the_graph_is_whole_can_be_read_all_the_same)
{
        pair_up(4, 4);
        const struct sc_plan target = { .graph = 1 };
        const uint64_t       entry  = reads(2);
        submit_graph(1, 2, 0);
        submit_plan(2, &target, SC_TASK_FUNCTION);
        succeed(2, "two");
        acked(C, 1);
        ck_assert_uint_eq(stats().tasks_kept, 1);
        submit_after(3, &entry, 1, 1, 0);
        expect_input(assign_of(3), 0, "two");
        succeed(3, "");
        ck_assert_uint_eq(stats().tasks_kept, 0);
        teardown();
}
END_TEST

START_TEST(a_failed_node_skips_what_comes_after_it_and_the_rest_runs_on)
{
        pair_up(4, 4);
        submit_diamond(0);
        succeed(2, "top");
        fail_it(3);
        ck_assert_uint_eq(result_of(5)->outcome.reason, SC_REASON_DEPENDENCY);
        ck_assert_uint_eq(result_of(5)->root, 3);
        ck_assert_uint_eq(sends(C, SC_MSG_GRAPH_DONE), 0);
        succeed(4, "right");
        const struct sc_graph_done *g = &sent(C, SC_MSG_GRAPH_DONE)->graph_done;
        ck_assert_uint_eq(g->reason, SC_REASON_DEPENDENCY);
        ck_assert_uint_eq(g->root, 3);
        ck_assert_uint_eq(g->root_reason, SC_REASON_TASK);
        ck_assert_uint_eq(g->succeeded, 2);
        ck_assert_uint_eq(g->failed, 1);
        ck_assert_uint_eq(g->skipped, 1);
        acked(C, 2);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(fail_fast_cancels_what_has_not_ended)
{
        pair_up(4, 4);
        submit_diamond(SC_GRAPH_FAIL_FAST);
        submit_graph(6, 1, 0);
        submit_inner(7, 6);
        succeed(2, "top");
        fail_it(3);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 1);
        ck_assert_uint_eq(sent(W, SC_MSG_STOP)->about.task.lo, 4);
        done(W, task(CLIENT, 4), run_of(CLIENT, 4), SC_REASON_CANCELLED);
        const struct sc_graph_done *g = &sent(C, SC_MSG_GRAPH_DONE)->graph_done;
        ck_assert_uint_eq(g->reason, SC_REASON_DEPENDENCY);
        ck_assert_uint_eq(g->root, 3);
        ck_assert_uint_eq(g->failed, 1);
        ck_assert_uint_eq(g->cancelled + g->skipped, 2);
        succeed(7, "");
        ck_assert_uint_eq(sent(C, SC_MSG_GRAPH_DONE)->graph_done.succeeded, 1);
        teardown();
}
END_TEST

START_TEST(cancelling_a_graph_cancels_all_of_it_and_is_answered_when_that_is_done)
{
        pair_up(4, 4);
        submit_diamond(0);
        succeed(2, "top");
        cancel(C, task(CLIENT, 1), true);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 2);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        ck_assert_uint_eq(result_of(5)->outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sends(C, SC_MSG_CONFIRM), 0);
        done(W, task(CLIENT, 4), run_of(CLIENT, 4), SC_REASON_CANCELLED);
        done(W, task(CLIENT, 3), run_of(CLIENT, 3), SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        const struct sc_graph_done *g = &sent(C, SC_MSG_GRAPH_DONE)->graph_done;
        ck_assert_uint_eq(g->reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(g->cancelled, 3);
        ck_assert_uint_eq(g->succeeded, 1);
        cancel(C, task(CLIENT, 1), true);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_NOT_FOUND);
        acked(C, 2);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(nodes_that_come_to_a_cancelled_graph_end_cancelled)
{
        pair_up(4, 4);
        submit_graph(1, 3, 0);
        submit_inner(2, 1);
        cancel(C, task(CLIENT, 1), false);
        done(W, task(CLIENT, 2), run_of(CLIENT, 2), SC_REASON_CANCELLED);
        ck_assert_uint_eq(sends(C, SC_MSG_CONFIRM), 0);
        const struct sc_plan target = { .graph = 1 };
        submit_plan(3, &target, SC_TASK_FUNCTION);
        ck_assert_uint_eq(result_of(3)->outcome.reason, SC_REASON_CANCELLED);
        const uint64_t entry = reads(2);
        submit_after(4, &entry, 1, 1, SC_GRAPH_INNER);
        ck_assert_uint_eq(sends(C, SC_MSG_CONFIRM), 1);
        ck_assert_uint_eq(sent(C, SC_MSG_GRAPH_DONE)->graph_done.cancelled, 3);
        teardown();
}
END_TEST

START_TEST(a_later_task_may_read_a_target_and_keeps_nothing_else)
{
        pair_up(4, 4);
        submit_diamond(0);
        submit_after_one(6, reads(5));
        for (uint64_t i = 2; i <= 5; i++)
                succeed(i, "x");
        acked(C, 2);
        ck_assert_uint_eq(stats().tasks_kept, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 2);
        succeed(6, "");
        acked(C, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_lost_link_brings_the_summary_again)
{
        pair_up(4, 4);
        submit_graph(1, 1, 0);
        submit_inner(2, 1);
        succeed(2, "");
        ck_assert_uint_eq(sends(C, SC_MSG_GRAPH_DONE), 1);
        down(C);
        client_up(C2, CLIENT);
        ck_assert_uint_eq(sent(C2, SC_MSG_WELCOME)->welcome.known_up_to, 2);
        ck_assert_uint_eq(sends(C2, SC_MSG_GRAPH_DONE), 1);
        acked(C2, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_client_that_goes_takes_its_graphs_with_it)
{
        for (int running = 0; running < 2; running++) {
                pair_up(4, 4);
                submit_diamond(0);
                if (running)
                        succeed(2, "top");
                submit_graph(6, 5, 0); /* and never sends the rest */
                submit_inner(7, 6);
                succeed(7, "kept");
                bye(C);
                settle();
                for (uint64_t i = 2; i <= 4; i++)
                        if (run_of(CLIENT, i))
                                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_CANCELLED);
                settle();
                ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
                ck_assert_uint_eq(stats().bytes_used, 0);
                teardown();
        }
}
END_TEST

START_TEST(a_client_that_comes_back_before_its_graph_is_gone_is_welcomed_after)
{
        pair_up(4, 4);
        submit_diamond(0);
        succeed(2, "top");
        bye(C);
        client_up(C2, CLIENT);
        ck_assert_uint_eq(sends(C2, SC_MSG_WELCOME), 0);
        done(W, task(CLIENT, 3), run_of(CLIENT, 3), SC_REASON_CANCELLED);
        done(W, task(CLIENT, 4), run_of(CLIENT, 4), SC_REASON_CANCELLED);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

/* ---- nonsense -----------------------------------------------------------------------------------*/

static void expect_nonsense(uint64_t seq, const struct sc_plan *plan, uint8_t kind)
{
        submit_plan(seq, plan, kind);
        ck_assert(is_closed(C, SC_E_PROTOCOL));
        client_up(C, CLIENT);
}

START_TEST(dependencies_and_graphs_that_are_not_there_close_the_link)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        submit_graph(2, 2, 0);
        submit_inner(3, 2);
        const uint64_t bad[][2] = { { 9, 0 }, { 0, 0 }, { reads(8), 0 }, { 1, reads(1) }, { 2, 0 }, { reads(5), 0 } };
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
                const struct sc_plan plan = { .after = after_of(bad[i], bad[i][1] ? 2 : 1) };
                expect_nonsense(5, &plan, SC_TASK_FUNCTION);
        }
        const struct sc_view one     = { "x", 1 };
        const uint64_t       entry   = reads(1) | SC_AFTER_ENDED;
        const struct sc_plan plans[] = {
                { .after = { "1234567", 7 } },
                { .graph = 4 },
                { .graph = 1 },
                { .graph_flags = SC_GRAPH_INNER },
                { .nodes = 1 },
                { .results = { &one, 1 } },
                { .after = after_of(&entry, 1) },
                { .root_reason = SC_REASONS, .root = 1 },
        };
        for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
                expect_nonsense(5, &plans[i], SC_TASK_FUNCTION);
        const struct sc_plan graphs[] = { { .nodes = 0, .tag = { "t", 1 } }, { .nodes = 1, .graph = 2 },
                                          { .nodes = 1, .deadline_ms = 5 },
                                          { .nodes = 1, .after = after_of(&entry, 1) } };
        for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++)
                expect_nonsense(5, &graphs[i], SC_TASK_GRAPH);
        submit_inner(4, 2);
        const struct sc_plan more = { .graph = 2, .graph_flags = SC_GRAPH_INNER };
        expect_nonsense(5, &more, SC_TASK_FUNCTION);
        teardown();
}
END_TEST

START_TEST(somebody_elses_task_is_no_dependency)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        client_up(C2, CLIENT + 1);
        const uint64_t       entry = 1;
        const struct sc_plan plan  = { .after = after_of(&entry, 1) };
        struct sc_spec       spec  = spec_f();
        spec.plan                  = &plan;
        submit_spec(C2, CLIENT + 1, 2, spec);
        ck_assert(is_closed(C2, SC_E_PROTOCOL));
        teardown();
}
END_TEST

START_TEST(a_submit_said_again_is_passed_over_whatever_has_become_of_its_dependencies)
{
        pair_up(4, 4);
        submit(C, CLIENT, 1);
        submit_after_one(2, reads(1));
        succeed(1, "");
        succeed(2, "");
        acked(C, 2);
        submit_after_one(2, reads(1));
        ck_assert(said_nothing());
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("graphs");
        tcase_add_test(tests, a_task_waits_for_what_it_reads_and_gets_it_in_order);
        tcase_add_test(tests, a_task_that_is_only_to_come_later_reads_nothing);
        tcase_add_test(tests, a_result_is_kept_until_its_last_reader_has_ended);
        tcase_add_test(tests, a_task_may_come_after_one_that_has_ended_and_is_not_confirmed);
        tcase_add_test(tests, a_run_that_is_made_again_gets_its_inputs_again);
        tcase_add_test(tests, constants_come_with_the_task_in_their_places);
        tcase_add_test(tests, not_before_counts_from_the_submit_even_if_its_dependencies_end_first);
        tcase_add_test(tests, a_deadline_ends_a_task_that_waits_and_frees_what_it_would_have_read);
        tcase_add_test(tests, a_failure_ends_all_that_comes_after_it_once_and_names_the_root);
        tcase_add_test(tests, whoever_names_a_failed_task_ends_at_once);
        tcase_add_test(tests, cancelling_a_task_cancels_what_comes_after_it);
        tcase_add_test(tests, results_and_arguments_of_one_mebibyte_fit_and_a_byte_more_does_not);
        tcase_add_test(tests, a_diamond_runs_and_leaves_nothing_behind);
        tcase_add_test(tests, what_ends_before_its_readers_have_come_is_kept_until_the_graph_is_whole);
        tcase_add_test(tests, a_target_that_is_confirmed_before_the_graph_is_whole_can_be_read_all_the_same);
        tcase_add_test(tests, a_failed_node_skips_what_comes_after_it_and_the_rest_runs_on);
        tcase_add_test(tests, fail_fast_cancels_what_has_not_ended);
        tcase_add_test(tests, cancelling_a_graph_cancels_all_of_it_and_is_answered_when_that_is_done);
        tcase_add_test(tests, nodes_that_come_to_a_cancelled_graph_end_cancelled);
        tcase_add_test(tests, a_later_task_may_read_a_target_and_keeps_nothing_else);
        tcase_add_test(tests, a_lost_link_brings_the_summary_again);
        tcase_add_test(tests, a_client_that_goes_takes_its_graphs_with_it);
        tcase_add_test(tests, a_client_that_comes_back_before_its_graph_is_gone_is_welcomed_after);
        tcase_add_test(tests, dependencies_and_graphs_that_are_not_there_close_the_link);
        tcase_add_test(tests, somebody_elses_task_is_no_dependency);
        tcase_add_test(tests, a_submit_said_again_is_passed_over_whatever_has_become_of_its_dependencies);
        return run_tests("sched graphs", tests);
}
