/* Dependencies and graphs in the client's core: sent whole, held results, restarts, ends. */
#include "test_cli_kit.h"

#include "after.h"
#include "run_tests.h"

static struct sc_view after_of(const uint64_t *entries, uint32_t count)
{
        static uint8_t bytes[64 * 8];
        ck_assert_uint_le(count, 64);
        for (uint32_t i = 0; i < count; i++)
                sc_after_put(bytes, i, entries[i]);
        return (struct sc_view){ bytes, 8 * (size_t)count };
}

static int give(const struct sc_plan *plan, uint8_t kind)
{
        struct sc_spec spec = { .kind = kind, .function = { "f", 1 }, .body = { "body", 4 }, .plan = plan };
        if (kind == SC_TASK_GRAPH)
                spec.function = spec.body = (struct sc_view){ "", 0 };
        const int status = sc_cli_admissible(rig.c, &spec);
        if (status)
                return status;
        const struct sc_msg msg = { .kind   = SC_MSG_SUBMIT,
                                    .submit = { .task = task(sc_cli_next_sequence(rig.c)), .spec = spec } };
        step((struct sc_event){ .kind = SC_EV_SUBMIT, .msg = &msg });
        return 0;
}

static void submit_after(const uint64_t *entries, uint32_t count, uint64_t graph, uint32_t flags)
{
        const struct sc_plan plan = { .after = after_of(entries, count), .graph = graph, .graph_flags = flags };
        ck_assert_int_eq(give(&plan, SC_TASK_FUNCTION), 0);
}

static void submit_reader(uint64_t of)
{
        const uint64_t entry = of | SC_AFTER_READ;
        submit_after(&entry, 1, 0, 0);
}

static void submit_graph(uint32_t nodes)
{
        const struct sc_plan plan = { .nodes = nodes };
        ck_assert_int_eq(give(&plan, SC_TASK_GRAPH), 0);
}

/* 1 the graph; 2 inner; 3 reads it and is wanted; 4 inner; 5 reads 3 and 4 and is wanted. */
static void submit_small_graph(void)
{
        const uint64_t two = 2 | SC_AFTER_READ, both[] = { 3 | SC_AFTER_READ, 4 | SC_AFTER_READ };
        submit_graph(4);
        submit_after(NULL, 0, 1, SC_GRAPH_INNER);
        submit_after(&two, 1, 1, 0);
        submit_after(NULL, 0, 1, SC_GRAPH_INNER);
        submit_after(both, 2, 1, 0);
}

static const struct sc_spec *sent_spec(uint64_t sequence)
{
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_effect *fx = &out.at[i];
                if (fx->kind == SC_FX_SEND && fx->msg.kind == SC_MSG_SUBMIT && fx->msg.submit.task.lo == sequence)
                        return &fx->msg.submit.spec;
        }
        return NULL;
}

static void answer(uint64_t sequence, enum sc_reason reason, const char *bytes)
{
        const struct sc_msg msg = {
                .kind   = SC_MSG_RESULT,
                .result = { .task    = task(sequence),
                            .outcome = { .reason = (uint8_t)reason, .result = { bytes, strlen(bytes) } } },
        };
        say(&msg);
}

static void graph_done(uint64_t sequence, struct sc_graph_done done)
{
        done.task               = task(sequence);
        const struct sc_msg msg = { .kind = SC_MSG_GRAPH_DONE, .graph_done = done };
        say(&msg);
}

static void linked(uint32_t tasks)
{
        ck_assert(setup_cli(&(struct sc_cli_options){ .pending_max = 0 }, 0));
        up_known(0, tasks, 1000);
}

static void new_epoch(uint32_t tasks)
{
        down();
        rig.epoch++;
        up_known(0, tasks, 1000);
}

/* ---- graphs -------------------------------------------------------------------------------------*/

START_TEST(a_graph_is_sent_whole_or_not_at_all)
{
        linked(4);
        submit_small_graph();
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        const struct sc_want *want = &sent(SC_MSG_WANT)->want;
        ck_assert_uint_eq(want->least_tasks, 5);
        ck_assert_uint_ge(want->tasks, 5);
        ck_assert_uint_eq(want->least_kib, 1);
        granted(5, 1000);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 5);
        ck_assert_uint_eq(sent_spec(1)->plan->nodes, 4);
        ck_assert_uint_eq(sent_spec(5)->plan->after.len, 16);
        ck_assert_uint_eq(sent_spec(5)->plan->results.count, 0);
        teardown_cli();
}
END_TEST

START_TEST(nothing_of_a_graph_is_sent_before_all_of_it_is_there)
{
        linked(100);
        submit_graph(2);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        submit_after(NULL, 0, 1, 0);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        submit_after(NULL, 0, 1, 0);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 3);
        teardown_cli();
}
END_TEST

START_TEST(a_graph_ends_when_the_scheduler_says_so_and_takes_its_nodes_along)
{
        linked(100);
        submit_small_graph();
        answer(3, SC_REASON_SUCCESS, "three");
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 1);
        answer(5, SC_REASON_SUCCESS, "five");
        ck_assert_uint_eq(stats().pending, 3);
        graph_done(1, (struct sc_graph_done){ .succeeded = 4 });
        ck_assert_uint_eq(effects(SC_FX_GRAPH), 1);
        ck_assert_uint_eq(effect(SC_FX_GRAPH)->msg.graph_done.succeeded, 4);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 1);
        ck_assert_uint_eq(effect(SC_FX_COMPLETE)->msg.result.task.lo, 1);
        ck_assert_uint_eq(stats().pending, 0);
        graph_done(1, (struct sc_graph_done){ .succeeded = 4 });
        ck_assert_uint_eq(out.len, 0);
        teardown_cli();
}
END_TEST

START_TEST(a_graph_that_no_grant_can_cover_ends_as_a_limit)
{
        ck_assert(setup_cli(&(struct sc_cli_options){ .pending_max = 0 }, 0));
        const struct sc_msg welcome = { .kind    = SC_MSG_WELCOME,
                                        .welcome = { .epoch = 5, .tasks_most = 4, .kib_most = 9 } };
        rig.link++;
        step((struct sc_event){ .kind = SC_EV_UP, .link = rig.link, .msg = &welcome, .tasks = 4, .kib = 9 });
        submit_small_graph();
        tick(0);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 3); /* two targets and the whole */
        for (uint32_t i = 0; i < out.len; i++) {
                if (out.at[i].kind != SC_FX_COMPLETE)
                        continue;
                ck_assert_uint_eq(out.at[i].msg.result.outcome.reason, SC_REASON_LIMIT);
                ck_assert_ptr_nonnull(strstr(out.at[i].msg.result.outcome.text.ptr, "4 nodes"));
        }
        ck_assert_uint_eq(stats().pending, 0);
        submit(1);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        teardown_cli();
}
END_TEST

START_TEST(twenty_thousand_nodes_end_in_bounded_steps)
{
        enum { MANY = 20000 };
        ck_assert(setup_cli(&(struct sc_cli_options){ .pending_max = 0 }, 0));
        up_known(0, MANY + 1, 100000);
        const struct sc_plan head = { .nodes = MANY }, node = { .graph = 1, .graph_flags = SC_GRAPH_INNER };
        rig.unchecked = true;
        ck_assert_int_eq(give(&head, SC_TASK_GRAPH), 0);
        for (int i = 0; i < MANY; i++)
                ck_assert_int_eq(give(&node, SC_TASK_FUNCTION), 0);
        while (sc_cli_deadline(rig.c) <= rig.now)
                tick(0);
        graph_done(1, (struct sc_graph_done){ .succeeded = MANY });
        uint32_t steps = 0;
        for (; effects(SC_FX_GRAPH) == 0; steps++)
                tick(0);
        ck_assert_uint_ge(steps, MANY / SC_ROWS_MAX);
        ck_assert_uint_eq(stats().pending, 0);
        sc_cli_check(rig.c);
        teardown_cli();
}
END_TEST

/* ---- restarts -----------------------------------------------------------------------------------*/

START_TEST(a_new_epoch_gets_what_unanswered_targets_need_with_results_as_constants)
{
        linked(100);
        submit_small_graph();
        answer(3, SC_REASON_SUCCESS, "three");
        new_epoch(100);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 3);
        ck_assert_uint_eq(sent_spec(1)->plan->nodes, 2);
        ck_assert_ptr_null(sent_spec(2)); /* only 3 needed it, and that is answered */
        ck_assert_ptr_nonnull(sent_spec(4));
        const struct sc_plan *five = sent_spec(5)->plan;
        ck_assert_uint_eq(five->results.count, 1);
        ck_assert_uint_eq(five->results.at[0].len, 5);
        ck_assert_mem_eq(five->results.at[0].ptr, "three", 5);
        ck_assert(sc_after_get(five->after, 0) & SC_AFTER_ENDED);
        ck_assert(!(sc_after_get(five->after, 1) & SC_AFTER_ENDED));
        ck_assert(sent_spec(5)->flags & SC_SPEC_RESUBMITTED);
        answer(5, SC_REASON_SUCCESS, "five");
        graph_done(1, (struct sc_graph_done){ .succeeded = 2 });
        ck_assert_uint_eq(effect(SC_FX_GRAPH)->msg.graph_done.succeeded, 4);
        ck_assert_uint_eq(effect(SC_FX_COMPLETE)->msg.result.outcome.reason, SC_REASON_SUCCESS);
        teardown_cli();
}
END_TEST

START_TEST(a_graph_all_of_whose_targets_are_answered_ends_by_itself_in_a_new_epoch)
{
        linked(100);
        submit_small_graph();
        answer(3, SC_REASON_TASK, "");
        answer(5, SC_REASON_DEPENDENCY, "");
        new_epoch(100);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        tick(0);
        const struct sc_graph_done *done = &effect(SC_FX_GRAPH)->msg.graph_done;
        ck_assert_uint_eq(done->reason, SC_REASON_DEPENDENCY);
        ck_assert_uint_eq(done->failed, 1);
        ck_assert_uint_eq(done->skipped, 3);
        ck_assert_uint_eq(done->root, 3);
        ck_assert_uint_eq(stats().pending, 0);
        teardown_cli();
}
END_TEST

START_TEST(a_failure_of_before_is_told_to_the_next_scheduler)
{
        linked(100);
        submit_small_graph();
        answer(3, SC_REASON_TASK, "");
        new_epoch(100);
        ck_assert_uint_eq(sent_spec(5)->plan->root, 3);
        ck_assert_uint_eq(sent_spec(5)->plan->root_reason, SC_REASON_TASK);
        ck_assert_uint_eq(sent_spec(5)->plan->results.count, 1);
        ck_assert_uint_eq(sent_spec(5)->plan->results.at[0].len, 0);
        teardown_cli();
}
END_TEST

START_TEST(a_broken_link_of_the_same_epoch_goes_on_where_it_was)
{
        linked(100);
        submit_small_graph();
        down();
        up_known(3, 100, 1000);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 2);
        ck_assert_ptr_nonnull(sent_spec(4));
        ck_assert_ptr_nonnull(sent_spec(5));
        teardown_cli();
}
END_TEST

/* ---- single dependencies --------------------------------------------------------------------------*/

START_TEST(a_result_is_held_for_those_that_wait_and_counts_while_the_scheduler_has_it)
{
        linked(2);
        submit(1);
        submit_reader(1);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        answer(1, SC_REASON_SUCCESS, "one");
        submit(1);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0); /* 1 is kept there, 2 waits: that is all there may be */
        answer(2, SC_REASON_SUCCESS, "");
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 1);
        teardown_cli();
}
END_TEST

START_TEST(who_is_sent_after_what_it_reads_has_ended_takes_the_result_along)
{
        linked(1);
        submit(1);
        submit_reader(1);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
        answer(1, SC_REASON_SUCCESS, "one");
        const struct sc_plan *plan = sent_spec(2)->plan;
        ck_assert_uint_eq(plan->results.count, 1);
        ck_assert_mem_eq(plan->results.at[0].ptr, "one", 3);
        answer(2, SC_REASON_SUCCESS, "");
        ck_assert_uint_eq(stats().pending, 0);
        teardown_cli();
}
END_TEST

START_TEST(results_given_with_a_task_stay_in_their_places_beside_held_ones)
{
        linked(1);
        submit(1);
        const uint64_t       given_one = SC_AFTER_READ | SC_AFTER_ENDED;
        const uint64_t       entries[] = { given_one, 1 | SC_AFTER_READ, given_one };
        const struct sc_view given[]   = { { "first", 5 }, { "last", 4 } };
        const struct sc_plan plan      = { .after = after_of(entries, 3), .results = { given, 2 } };
        ck_assert_int_eq(give(&plan, SC_TASK_FUNCTION), 0);
        answer(1, SC_REASON_SUCCESS, "middle");
        const struct sc_views *told = &sent_spec(2)->plan->results;
        ck_assert_uint_eq(told->count, 3);
        ck_assert_mem_eq(told->at[0].ptr, "first", 5);
        ck_assert_mem_eq(told->at[1].ptr, "middle", 6);
        ck_assert_mem_eq(told->at[2].ptr, "last", 4);
        teardown_cli();
}
END_TEST

START_TEST(what_it_reads_and_its_arguments_beyond_a_mebibyte_are_told_as_a_limit)
{
        static char bytes[SC_RESULT_MAX];
        for (int more = 0; more < 2; more++) {
                ck_assert(setup_cli(&(struct sc_cli_options){ .pending_max = 0 }, 0));
                up_known(0, 1, 100000);
                submit(1);
                submit_reader(1);
                const struct sc_msg msg = {
                        .kind   = SC_MSG_RESULT,
                        .result = { .task    = task(1),
                                    .outcome = { .result = { bytes, SC_BODY_MAX - 4 + (size_t)more } } },
                };
                say(&msg);
                ck_assert_uint_eq(sent_spec(2)->plan->root_reason, more ? SC_REASON_LIMIT : 0);
                ck_assert_uint_eq(sent_spec(2)->plan->root, more ? 2 : 0);
                teardown_cli();
        }
}
END_TEST

/* ---- ends ---------------------------------------------------------------------------------------*/

START_TEST(an_unsent_graph_is_cancelled_here)
{
        linked(1);
        submit_small_graph();
        cancel(1, false);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 3);
        ck_assert_int_eq(effect(SC_FX_CONFIRM)->msg.confirm.outcome, SC_CANCEL_CANCELED);
        ck_assert_uint_eq(effect(SC_FX_GRAPH)->msg.graph_done.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(effect(SC_FX_GRAPH)->msg.graph_done.cancelled, 4);
        ck_assert_uint_eq(stats().pending, 0);
        teardown_cli();
}
END_TEST

START_TEST(the_cancel_of_a_node_waits_until_its_graph_is_sent)
{
        linked(1);
        submit_small_graph();
        cancel(5, true);
        ck_assert_uint_eq(out.len, 0);
        granted(5, 1000);
        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 5);
        tick(0);
        ck_assert_uint_eq(sent(SC_MSG_CANCEL)->cancel.task.lo, 5);
        ck_assert(sent(SC_MSG_CANCEL)->cancel.force);
        teardown_cli();
}
END_TEST

START_TEST(a_cancel_asked_for_before_a_restart_is_carried_out_here)
{
        for (uint64_t which = 1; which <= 5; which += 4) {
                linked(100);
                submit_small_graph();
                cancel(which, false);
                new_epoch(100);
                if (which == 1) {
                        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 0);
                        tick(0);
                        ck_assert_uint_eq(stats().pending, 0);
                } else {
                        ck_assert_uint_eq(sends(SC_MSG_SUBMIT), 3); /* 3 and what it needs are left */
                        ck_assert_uint_eq(sent_spec(1)->plan->nodes, 2);
                        ck_assert_ptr_null(sent_spec(4));
                }
                teardown_cli();
        }
}
END_TEST

START_TEST(closing_ends_graphs_and_what_is_held)
{
        linked(100);
        submit_small_graph();
        submit_reader(3);
        answer(3, SC_REASON_SUCCESS, "three");
        step((struct sc_event){ .kind = SC_EV_CLOSE });
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 3);
        ck_assert_uint_eq(effects(SC_FX_GRAPH), 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_cli();
}
END_TEST

START_TEST(results_of_nodes_that_have_none_are_nonsense)
{
        linked(100);
        submit_small_graph();
        answer(2, SC_REASON_SUCCESS, "");
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 1);
        teardown_cli();
}
END_TEST

static bool memory_story(size_t fail_at)
{
        if (!setup_cli(&(struct sc_cli_options){ .pending_max = 0 }, fail_at))
                return false;
        up_known(0, 100, 1000);
        const struct sc_plan head = { .nodes = 2 }, inner = { .graph = 1, .graph_flags = SC_GRAPH_INNER };
        const uint64_t       two  = 2 | SC_AFTER_READ;
        const struct sc_plan last = { .graph = 1, .after = after_of(&two, 1) };
        bool good = give(&head, SC_TASK_GRAPH) == 0 && give(&inner, SC_TASK_FUNCTION) == 0 &&
                    give(&last, SC_TASK_FUNCTION) == 0;
        if (good) {
                const uint64_t       three = 3 | SC_AFTER_READ;
                const struct sc_plan plan  = { .after = after_of(&three, 1) };
                good                       = give(&plan, SC_TASK_FUNCTION) == 0;
                answer(3, SC_REASON_SUCCESS, "three"); /* without memory it cannot be held */
                new_epoch(100);
                tick(0);
                const struct sc_spec *four = sent_spec(4);
                ck_assert(!good || four);
                const struct sc_plan *told = good ? four->plan : NULL;
                ck_assert(!told || told->root_reason == 0 || told->root_reason == SC_REASON_CLIENT);
        }
        return good;
}

START_TEST(each_allocation_may_fail_once)
{
        bool whole = false;
        for (size_t n = 1; !whole && n < 100; n++) {
                const bool good = memory_story(n);
                whole           = !fail_mem_hit(&rig.fail);
                ck_assert(good || !whole);
                sc_cli_destroy(rig.c);
                ck_assert_uint_eq(fail_mem_leaks(&rig.fail), 0);
        }
        ck_assert(whole);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("graphs");
        tcase_add_test(tests, a_graph_is_sent_whole_or_not_at_all);
        tcase_add_test(tests, nothing_of_a_graph_is_sent_before_all_of_it_is_there);
        tcase_add_test(tests, a_graph_ends_when_the_scheduler_says_so_and_takes_its_nodes_along);
        tcase_add_test(tests, a_graph_that_no_grant_can_cover_ends_as_a_limit);
        tcase_add_test(tests, twenty_thousand_nodes_end_in_bounded_steps);
        tcase_add_test(tests, a_new_epoch_gets_what_unanswered_targets_need_with_results_as_constants);
        tcase_add_test(tests, a_graph_all_of_whose_targets_are_answered_ends_by_itself_in_a_new_epoch);
        tcase_add_test(tests, a_failure_of_before_is_told_to_the_next_scheduler);
        tcase_add_test(tests, a_broken_link_of_the_same_epoch_goes_on_where_it_was);
        tcase_add_test(tests, a_result_is_held_for_those_that_wait_and_counts_while_the_scheduler_has_it);
        tcase_add_test(tests, who_is_sent_after_what_it_reads_has_ended_takes_the_result_along);
        tcase_add_test(tests, results_given_with_a_task_stay_in_their_places_beside_held_ones);
        tcase_add_test(tests, what_it_reads_and_its_arguments_beyond_a_mebibyte_are_told_as_a_limit);
        tcase_add_test(tests, an_unsent_graph_is_cancelled_here);
        tcase_add_test(tests, the_cancel_of_a_node_waits_until_its_graph_is_sent);
        tcase_add_test(tests, a_cancel_asked_for_before_a_restart_is_carried_out_here);
        tcase_add_test(tests, closing_ends_graphs_and_what_is_held);
        tcase_add_test(tests, results_of_nodes_that_have_none_are_nonsense);
        tcase_add_test(tests, each_allocation_may_fail_once);
        return run_tests("cli graphs", tests);
}
