/* Dependencies and graphs at their limits: bounds of a step, of a list, of memory; restarts; and chance. */
#include "test_sched_graph_kit.h"

#include "run_tests.h"
#include "sc_rng.h"

static void grant_much(void)
{
        struct sc_msg m = { .kind = SC_MSG_WANT, .want = { .tasks = 1u << 20, .kib = 1u << 20 } };
        for (int i = 0; i < 12; i++)
                say(C, &m);
}

/* Until no step is wanted; each within the bounds of effects. */
static uint32_t results_while_settling(enum sc_reason reason, uint32_t *steps)
{
        uint32_t results = 0;
        *steps           = 0;
        for (;;) {
                for (uint32_t i = 0; i < out.len; i++)
                        results += out.at[i].kind == SC_FX_SEND && out.at[i].msg.kind == SC_MSG_RESULT &&
                                   out.at[i].msg.result.outcome.reason == reason;
                if (sc_sched_deadline(rig.s) > rig.now)
                        return results;
                tick(0);
                ++*steps;
        }
}

enum { MANY = 20000 };

START_TEST(the_failure_of_one_ends_twenty_thousand_in_bounded_steps)
{
        pair_up(4, 4);
        grant_much();
        rig.unchecked = true;
        submit(C, CLIENT, 1);
        for (uint64_t i = 2; i < MANY + 2; i++)
                submit_after_one(i, i % 2 ? reads(1) : 1);
        ck_assert_uint_eq(stats().tasks_waiting, MANY);
        fail_it(1);
        uint32_t steps, results = results_while_settling(SC_REASON_DEPENDENCY, &steps);
        ck_assert_uint_eq(results, MANY);
        ck_assert_uint_gt(steps, MANY / SC_EFFECTS_MAX);
        sc_sched_check(rig.s);
        acked(C, MANY + 1);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_chain_of_twenty_thousand_is_cancelled_without_depth)
{
        pair_up(4, 4);
        grant_much();
        rig.unchecked = true;
        submit(C, CLIENT, 1);
        for (uint64_t i = 2; i < MANY + 2; i++)
                submit_after_one(i, reads(i - 1));
        cancel(C, task(CLIENT, 2), false);
        uint32_t steps, results = results_while_settling(SC_REASON_CANCELLED, &steps);
        ck_assert_uint_eq(results, MANY);
        ck_assert_uint_gt(steps, MANY / SC_EFFECTS_MAX);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(success_unblocks_twenty_thousand_in_bounded_steps)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 1);
        grant_much();
        rig.unchecked = true;
        submit(C, CLIENT, 1);
        for (uint64_t i = 2; i < MANY + 2; i++)
                submit_after_one(i, 1);
        succeed(1, "");
        ck_assert_uint_gt(stats().tasks_waiting, 0);
        ck_assert_uint_gt(stats().tasks_ready, 0);
        settle();
        ck_assert_uint_eq(stats().tasks_waiting, 0);
        ck_assert_uint_eq(stats().tasks_ready + stats().tasks_assigned, MANY);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

static uint64_t entries[SC_AFTER_MAX + 1];

START_TEST(as_many_dependencies_as_there_may_be_and_not_one_more)
{
        pair_up(1, 1);
        grant_much();
        rig.unchecked = true;
        submit(C, CLIENT, 1);
        for (uint32_t i = 0; i <= SC_AFTER_MAX; i++)
                entries[i] = reads(1);
        submit_after(2, entries, SC_AFTER_MAX, 0, 0);
        sc_sched_check(rig.s);
        succeed(1, "12345678");
        settle();
        ck_assert_uint_eq(stats().tasks_assigned, 0); /* 8 bytes each are too much: see the next one */
        submit(C, CLIENT, 3);
        for (uint32_t i = 0; i < SC_AFTER_MAX; i++)
                entries[i] = reads(3);
        submit_after(4, entries, SC_AFTER_MAX, 0, 0);
        succeed(3, "1234567");
        uint32_t inputs = 0;
        for (int steps = 0; inputs == 0 && steps < 1000; steps++) {
                if (sends(W, SC_MSG_ASSIGN) == 1)
                        inputs = input_count(assign_of(4));
                else
                        tick(0);
        }
        ck_assert_uint_eq(inputs, SC_AFTER_MAX);
        acked(C, 1);
        succeed(4, "");
        ck_assert_uint_gt(settle(), SC_AFTER_MAX / SC_ROWS_MAX - 1); /* they are let go in steps */
        sc_sched_check(rig.s);
        submit_after(5, entries, SC_AFTER_MAX + 1, 0, 0);
        ck_assert(is_closed(C, SC_E_PROTOCOL));
        teardown();
}
END_TEST

START_TEST(a_task_with_many_dependencies_that_is_cancelled_lets_go_of_them_in_steps)
{
        pair_up(1, 1);
        grant_much();
        rig.unchecked = true;
        for (uint64_t i = 1; i <= 30000; i++) {
                submit(C, CLIENT, i);
                entries[i - 1] = i % 3 ? reads(i) : reads(1);
        }
        submit_after(30001, entries, 30000, 0, 0);
        submit_after(30002, entries, 30000, 0, 0);
        cancel(C, task(CLIENT, 30001), false);
        cancel(C, task(CLIENT, 30002), false);
        acked(C, 2);
        sc_sched_check(rig.s);
        ck_assert_uint_gt(settle(), 5);
        sc_sched_check(rig.s);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 30000);
        teardown();
}
END_TEST

START_TEST(a_graph_of_twenty_thousand_is_cancelled_in_bounded_steps)
{
        pair_up(4, 4);
        grant_much();
        rig.unchecked = true;
        submit_graph(1, MANY, 0);
        for (uint64_t i = 2; i < MANY + 2; i++)
                submit_inner(i, 1);
        submit(C, CLIENT, MANY + 2);
        cancel(C, task(CLIENT, 1), false);
        ck_assert_uint_gt(settle(), MANY / SC_ROWS_MAX - 1);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        sc_sched_check(rig.s);
        uint32_t confirmed = 0;
        for (uint64_t i = 2; i <= 5; i++) {
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_CANCELLED);
                confirmed += sends(C, SC_MSG_CONFIRM);
        }
        ck_assert_uint_eq(confirmed, 1);
        ck_assert_uint_eq(sent(C, SC_MSG_GRAPH_DONE)->graph_done.cancelled, MANY);
        teardown();
}
END_TEST

START_TEST(a_graph_that_closes_late_frees_what_nobody_read_in_steps)
{
        pair_up(1, 1);
        grant_much();
        rig.unchecked = true;
        submit_graph(1, 10001, 0);
        for (uint64_t i = 2; i < 10002; i++) {
                submit_inner(i, 1);
                succeed(i, "kept");
        }
        ck_assert_uint_eq(stats().tasks_kept, 10000);
        const uint64_t entry = reads(7);
        submit_after(10002, &entry, 1, 1, 0);
        settle();
        ck_assert_uint_eq(stats().tasks_kept, 1);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(results_that_are_kept_do_not_stop_placing)
{
        setup((struct sc_sched_options){ .bytes_max = 64 << 10 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 1);
        static char bytes[100 << 10];
        submit(C, CLIENT, 1);
        submit_after_one(2, reads(1));
        submit_after_one(3, reads(2));
        const struct sc_outcome outcome = { .reason = SC_REASON_SUCCESS, .result = { bytes, sizeof bytes } };
        done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), outcome);
        ck_assert_uint_eq(stats().tasks_assigned, 0); /* results that only have to be confirmed come first */
        acked(C, 1);
        ck_assert_uint_eq(stats().tasks_kept, 1);
        ck_assert_uint_eq(assign_of(2)->spec.plan->results.at[0].len, sizeof bytes);
        teardown();
}
END_TEST

/* ---- restarts -----------------------------------------------------------------------------------*/

static void submit_again(uint64_t seq, const struct sc_plan *plan, uint8_t kind)
{
        struct sc_spec spec = spec_f();
        spec.plan           = plan;
        spec.kind           = kind;
        spec.flags          = SC_SPEC_RESUBMITTED;
        if (kind == SC_TASK_GRAPH)
                spec.function = spec.body = (struct sc_view){ "", 0 };
        submit_spec(C, CLIENT, seq, spec);
}

static struct sc_hold held_run(uint64_t seq)
{
        return (struct sc_hold){ .task = task(CLIENT, seq), .epoch = EPOCH + 1, .run = 9, .flags = SC_HOLD_RUNNING };
}

static void young(void)
{
        setup((struct sc_sched_options){ .claim_delay = 20 * SC_S });
        client_up(C, CLIENT);
}

START_TEST(a_run_kept_over_a_restart_is_adopted_whatever_its_task_waits_for)
{
        for (int first = 0; first < 2; first++) {
                const struct sc_hold hold = held_run(2);
                const uint64_t       entry = reads(1);
                const struct sc_plan plan  = { .after = after_of(&entry, 1) };
                young();
                if (first)
                        worker_up_holding(W, WORKER, 2, 2, &hold, 1);
                submit_again(1, NULL, SC_TASK_FUNCTION);
                submit_again(2, &plan, SC_TASK_FUNCTION);
                submit_after_one(3, reads(2));
                if (!first)
                        worker_up_holding(W, WORKER, 2, 2, &hold, 1);
                ck_assert_uint_eq(stats().runs_kept, 1);
                succeed(2, "two");
                expect_input(assign_of(3), 0, "two");
                rig.now += 20 * SC_S;
                tick(0);
                succeed(1, "one"); /* for nobody any more */
                acked(C, 2);
                ck_assert_uint_eq(sc_sched_rows(rig.s), 2); /* the last one, and the one that it reads */
                teardown();
        }
}
END_TEST

START_TEST(an_adopted_run_that_is_lost_waits_for_its_dependencies_again)
{
        const struct sc_hold hold  = held_run(2);
        const uint64_t       entry = reads(1);
        const struct sc_plan plan  = { .after = after_of(&entry, 1) };
        for (int fails = 0; fails < 2; fails++) {
                young();
                worker_up_holding(W2, WORKER + 1, 1, 1, &hold, 1);
                submit_again(1, NULL, SC_TASK_FUNCTION);
                submit_again(2, &plan, SC_TASK_FUNCTION);
                worker_up(W, WORKER, 2, 2);
                rig.now += 20 * SC_S;
                tick(0);
                if (fails)
                        fail_it(1);
                down(W2);
                settle();
                ck_assert_uint_eq(stats().tasks_waiting, !fails);
                if (fails) {
                        ck_assert_uint_eq(stats().tasks_failed, 2);
                } else {
                        succeed(1, "one");
                        expect_input(assign_of(2), 0, "one");
                }
                teardown();
        }
}
END_TEST

START_TEST(a_node_sent_again_may_come_before_its_time_to_be_claimed_is_over)
{
        young();
        worker_up(W, WORKER, 2, 2);
        const struct sc_plan graph = { .nodes = 2 }, inner = { .graph = 1, .graph_flags = SC_GRAPH_INNER };
        const uint64_t       entry = reads(2);
        const struct sc_plan last  = { .graph = 1, .after = after_of(&entry, 1) };
        submit_again(1, &graph, SC_TASK_GRAPH);
        submit_again(2, &inner, SC_TASK_FUNCTION);
        submit_again(3, &last, SC_TASK_FUNCTION);
        ck_assert_uint_eq(stats().tasks_assigned, 0);
        rig.now += 20 * SC_S;
        tick(0);
        succeed(2, "two");
        expect_input(assign_of(3), 0, "two");
        succeed(3, "");
        ck_assert_uint_eq(sent(C, SC_MSG_GRAPH_DONE)->graph_done.succeeded, 2);
        teardown();
}
END_TEST

START_TEST(a_worker_cannot_hold_a_graph)
{
        pair_up(1, 1);
        submit_graph(1, 1, 0);
        const struct sc_hold hold = held_run(1);
        worker_up_holding(W2, WORKER + 1, 1, 1, &hold, 1);
        ck_assert_uint_eq(sends(W2, SC_MSG_DROP), 1);
        teardown();
}
END_TEST

/* ---- memory and chance --------------------------------------------------------------------------*/

static void memory_story(void)
{
        client_up(C, CLIENT);
        worker_up(W, WORKER, 4, 4);
        const uint64_t both[] = { reads(2), reads(3) }, top = reads(1);
        submit(C, CLIENT, 1);
        submit_after(2, &top, 1, 0, 0);
        submit_after(3, &top, 1, 0, 0);
        submit_after(4, both, 2, 0, 0);
        if (run_of(CLIENT, 1))
                succeed(1, "one");
        for (uint64_t i = 2; i <= 4; i++)
                if (run_of(CLIENT, i))
                        succeed(i, "more");
}

START_TEST(without_memory_the_link_closes_and_nothing_is_lost)
{
        for (size_t fail_at = 1; fail_at < 200; fail_at++) {
                if (setup_at(&(struct sc_sched_options){ .tasks_max = 0 }, fail_at)) {
                        rig.unchecked = true; /* the check wants memory */
                        bool lost     = false;
                        client_up(C, CLIENT);
                        lost = is_closed(C, SC_E_NOMEM);
                        if (!lost)
                                memory_story();
                        rig.fail.fail_at = 0;
                        sc_sched_check(rig.s);
                }
                teardown();
        }
}
END_TEST

enum { CHANCE_NODES = 60 };

/* A random graph, random ends, a link that comes and goes: it always comes to its end, and leaves nothing. */
static void play(uint64_t seed)
{
        struct sc_rng rng    = { seed };
        const bool    fast   = sc_rng_below(&rng, 4) == 0;
        uint32_t      sent_so_far = 0, results = 0, targets = 0, dones = 0, acks = 0;
        uint8_t       flags[CHANCE_NODES];
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 4, 1 + (uint32_t)sc_rng_below(&rng, 12));
        submit_graph(1, CHANCE_NODES, fast ? SC_GRAPH_FAIL_FAST : 0);
        for (int turn = 0; dones == 0 || acks < results + dones; turn++) {
                ck_assert_int_lt(turn, 2000);
                const uint64_t dice = sc_rng_below(&rng, 100);
                out.len             = 0;
                if (sent_so_far < CHANCE_NODES && dice < 40) {
                        uint64_t list[6];
                        uint32_t count = sent_so_far > 0 ? (uint32_t)sc_rng_below(&rng, 6) : 0, read = count / 2;
                        for (uint32_t i = 0; i < count; i++)
                                list[i] = (i < read ? SC_AFTER_READ : 0) | (2 + sc_rng_below(&rng, sent_so_far));
                        flags[sent_so_far] = sc_rng_below(&rng, 3) ? SC_GRAPH_INNER : 0;
                        targets += flags[sent_so_far] == 0;
                        submit_after(2 + sent_so_far, list, count, 1, flags[sent_so_far]);
                        sent_so_far++;
                } else if (dice < 85) {
                        uint64_t seq = 2 + sc_rng_below(&rng, CHANCE_NODES), run = 0;
                        for (int i = 0; i < CHANCE_NODES && !(run = run_of(CLIENT, seq)); i++)
                                seq = seq < CHANCE_NODES + 1 ? seq + 1 : 2;
                        if (run)
                                done(W, task(CLIENT, seq), run,
                                     sc_rng_below(&rng, 20) ? SC_REASON_SUCCESS : SC_REASON_TASK);
                } else if (dice < 87) {
                        cancel(C, task(CLIENT, 2 + sc_rng_below(&rng, CHANCE_NODES)), sc_rng_below(&rng, 2));
                } else if (dice == 87) {
                        cancel(C, task(CLIENT, 1), true);
                } else if (acks < results + dones) {
                        acks++;
                        acked(C, 1);
                        continue;
                }
                results += sends(C, SC_MSG_RESULT);
                dones += sends(C, SC_MSG_GRAPH_DONE);
        }
        ck_assert_uint_eq(results, targets);
        ck_assert_uint_eq(dones, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        ck_assert_uint_eq(stats().bytes_used, 0);
        teardown();
}

START_TEST(graphs_of_chance_come_to_their_end_and_leave_nothing)
{
        for (uint64_t seed = 1; seed <= 300; seed++)
                play(seed);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("graph limits");
        tcase_add_test(tests, the_failure_of_one_ends_twenty_thousand_in_bounded_steps);
        tcase_add_test(tests, a_chain_of_twenty_thousand_is_cancelled_without_depth);
        tcase_add_test(tests, success_unblocks_twenty_thousand_in_bounded_steps);
        tcase_add_test(tests, as_many_dependencies_as_there_may_be_and_not_one_more);
        tcase_add_test(tests, a_task_with_many_dependencies_that_is_cancelled_lets_go_of_them_in_steps);
        tcase_add_test(tests, a_graph_of_twenty_thousand_is_cancelled_in_bounded_steps);
        tcase_add_test(tests, a_graph_that_closes_late_frees_what_nobody_read_in_steps);
        tcase_add_test(tests, results_that_are_kept_do_not_stop_placing);
        tcase_add_test(tests, a_run_kept_over_a_restart_is_adopted_whatever_its_task_waits_for);
        tcase_add_test(tests, an_adopted_run_that_is_lost_waits_for_its_dependencies_again);
        tcase_add_test(tests, a_node_sent_again_may_come_before_its_time_to_be_claimed_is_over);
        tcase_add_test(tests, a_worker_cannot_hold_a_graph);
        tcase_add_test(tests, without_memory_the_link_closes_and_nothing_is_lost);
        tcase_add_test(tests, graphs_of_chance_come_to_their_end_and_leave_nothing);
        return run_tests("sched graph limits", tests);
}
