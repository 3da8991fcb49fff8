/* Transcripts of the scheduler's core: tasks with keys.  Several tasks are one: who joins, who leads, who is told. */
#include "test_sched_key_kit.h"

#include "run_tests.h"

/* ---- joining -----------------------------------------------------------------------------------*/

START_TEST(a_task_with_the_key_of_another_joins_it_and_ends_as_it_does)
{
        begin();
        worker_up(W, WORKER, 2, 2);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 7, "k");
        ck_assert(said_nothing());
        ck_assert_uint_eq(stats().tasks_waiting, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 2);
        done_as(W, work, run, (struct sc_outcome){ .reason = SC_REASON_SUCCESS, .how = SC_HOW_EXITED, .wall_us = 5,
                                                   .peak_kib = 6, .result = { "out", 3 }, .errors = { "err", 3 } });
        const struct sc_result *first = got(C, 1, SC_REASON_SUCCESS), *second = got(D, 7, SC_REASON_SUCCESS);
        ck_assert_uint_eq(first->attempts, 1);
        ck_assert_uint_eq(second->attempts, 1);
        ck_assert_uint_eq(first->worker, WORKER);
        ck_assert_uint_eq(second->worker, WORKER);
        ck_assert_uint_eq(second->outcome.how, SC_HOW_EXITED);
        ck_assert_uint_eq(second->outcome.wall_us, 5);
        ck_assert_uint_eq(second->outcome.peak_kib, 6);
        ck_assert_str_eq(text_of(second->outcome.result), "out");
        ck_assert_str_eq(text_of(second->outcome.errors), "err");
        ck_assert_uint_eq(stats().tasks_done, 2);
        acked(C, 1);
        acked(D, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(tasks_of_one_client_join_each_other_too)
{
        begin();
        for (uint64_t i = 1; i <= 5; i++)
                submit_keyed(C, i, i == 3 ? "other" : "k");
        worker_up(W, WORKER, 4, 4);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 2);
        assigned(W);
        work_done(W, SC_REASON_TASK);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 4);
        for (uint32_t i = 0; i < 4; i++)
                ck_assert_int_eq(sent_nth(C, SC_MSG_RESULT, i)->result.outcome.code, 42);
        teardown();
}
END_TEST

START_TEST(tenants_do_not_share_keys)
{
        begin();
        worker_up(W, WORKER, 2, 2);
        submit_keyed(C, 1, "k");
        assigned(W);
        const struct sc_id one = work;
        submit_keyed(E, 1, "k");
        assigned(W);
        ck_assert(!sc_id_equal(one, work));
        work_done(W, SC_REASON_SUCCESS);
        got(E, 1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        teardown();
}
END_TEST

START_TEST(the_longest_key_is_a_key_and_a_longer_one_closes_the_link)
{
        char key[SC_NAME_MAX + 2];
        memset(key, 'k', sizeof key);
        key[SC_NAME_MAX + 1] = '\0';
        begin();
        submit_keyed(C, 1, key + 1);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        submit_keyed(C, 2, key);
        ck_assert(is_closed(C, SC_E_PROTOCOL));
        teardown();
}
END_TEST

/* ---- the same key, something else --------------------------------------------------------------*/

static void refused(const char *text)
{
        const struct sc_outcome *outcome = &got(D, 1, SC_REASON_KEY)->outcome;
        ck_assert_int_eq(outcome->code, SC_E_EXISTS);
        ck_assert_str_eq(text_of(outcome->text), text);
}

START_TEST(whatever_defines_the_work_must_be_the_same)
{
        static const struct sc_plan plain;
        struct {
                struct sc_spec spec;
                struct sc_plan plan;
        } others[] = {
                { { .function = { "g", 1 } }, plain },
                { { .body = { "0123456789abcdeF", 16 } }, plain },
                { { .body = { "0123456789abcde", 15 } }, plain },
                { { .body = { "0", 0 } }, plain },
                { { .kind = SC_TASK_COMMAND }, plain },
                { { .retries = 1 }, plain },
                { { .timeout_ms = 1 }, plain },
                { { .kind = 0 }, { .needs = { "gpu", 3 } } },
                { { .kind = 0 }, { .retry_on = { "1", 1 } } },
                { { .kind = 0 }, { .backoff_ms = 1 } },
                { { .kind = 0 }, { .backoff_max_ms = 1 } },
        };
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
                struct sc_spec *spec = &others[i].spec;
                begin();
                submit_keyed(C, 1, "k");
                if (!spec->function.ptr && spec->kind == SC_TASK_FUNCTION)
                        spec->function = spec_f().function;
                if (!spec->body.ptr)
                        spec->body = spec_f().body;
                submit_keyed_spec(D, 1, "k", *spec, others[i].plan);
                refused("another task has the key \"k\", and this one is not the same");
                ck_assert_uint_eq(stats().tasks_ready, 1);
                ck_assert_uint_eq(stats().tasks_waiting, 0);
                acked(D, 1);
                ck_assert_uint_eq(sc_sched_rows(rig.s), 1);
                teardown();
        }
}
END_TEST

START_TEST(what_is_an_owners_own_affair_may_differ)
{
        struct sc_spec spec = spec_f();
        spec.priority       = -5;
        begin();
        submit_keyed(C, 1, "k");
        submit_keyed_spec(D, 1, "k", spec, (struct sc_plan){ .tag = { "t", 1 }, .queue_ms = 1000, .deadline_ms = 2000,
                                                             .not_before_ms = 3000, .needs = { "cpu=1000", 8 },
                                                             .backoff_max_ms = 60000 });
        ck_assert(said_nothing());
        ck_assert_uint_eq(stats().tasks_waiting, 1);
        teardown();
}
END_TEST

START_TEST(a_key_is_told_without_its_control_characters)
{
        struct sc_spec spec = spec_f();
        begin();
        submit_keyed(C, 1, "a\nb");
        spec.retries = 3;
        submit_keyed_spec(D, 1, "a\nb", spec, (struct sc_plan){ .queue_ms = 0 });
        refused("another task has the key \"a?b\", and this one is not the same");
        teardown();
}
END_TEST

START_TEST(a_key_does_not_go_with_graphs_dependencies_and_streams)
{
        static const uint8_t after[8] = { 1 };
        const struct sc_plan plans[] = {
                { .after = { after, 8 } }, { .graph = 1 }, { .root_reason = SC_REASON_TASK, .root = 1 },
        };
        for (size_t i = 0; i < 4; i++) {
                struct sc_spec spec = spec_f();
                begin();
                submit(C, CLIENT, 1);
                spec.flags = i == 3 ? SC_SPEC_STREAM : 0;
                submit_keyed_spec(C, 2, "k", spec, i < 3 ? plans[i] : (struct sc_plan){ .queue_ms = 0 });
                ck_assert(is_closed(C, SC_E_PROTOCOL));
                teardown();
        }
        begin();
        submit_keyed_spec(C, 1, "k", (struct sc_spec){ .kind = SC_TASK_GRAPH }, (struct sc_plan){ .nodes = 1 });
        ck_assert(is_closed(C, SC_E_PROTOCOL));
        teardown();
}
END_TEST

START_TEST(sequences_that_are_names_of_works_are_no_clients)
{
        begin();
        submit(C, CLIENT, SC_SEQUENCE_MAX);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        submit(D, CD, SC_SEQUENCE_MAX + 1);
        ck_assert(is_closed(D, SC_E_PROTOCOL));
        submit(E, CE, SC_SEQUENCE_KEY | 1);
        ck_assert(is_closed(E, SC_E_PROTOCOL));
        teardown();
}
END_TEST

/* ---- owners go ---------------------------------------------------------------------------------*/

static void cancel_own(sc_link_id link, uint64_t seq)
{
        cancel(link, task(client_of(link), seq), false);
        got(link, seq, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(link, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        acked(link, 1);
}

START_TEST(who_has_joined_cancels_for_itself_alone)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
        cancel_own(D, 1);
        work_done(W, SC_REASON_SUCCESS);
        got(C, 1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(D, SC_MSG_RESULT), 0);
        teardown();
}
END_TEST

START_TEST(who_leads_leaves_the_run_to_the_others)
{
        for (int begun = 0; begun < 2; begun++) {
                begin();
                worker_up(W, WORKER, 2, 2);
                submit_keyed(C, 1, "k");
                assigned(W);
                submit(E, CE, 1);
                if (begun)
                        about(W, SC_MSG_STARTED, work, run);
                submit_keyed(D, 1, "k");
                cancel_own(C, 1);
                ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
                ck_assert_uint_eq(stats().tasks_assigned, 2);
                ck_assert_uint_eq(run_of(CD, 1), run);
                work_done(W, SC_REASON_SUCCESS);
                ck_assert_uint_eq(got(D, 1, SC_REASON_SUCCESS)->attempts, 1);
                ck_assert_uint_eq(stats().tasks_done, 1);
                ck_assert_uint_eq(stats().tasks_cancelled, 1);
                teardown();
        }
}
END_TEST

START_TEST(the_last_owner_that_cancels_stops_the_run)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
        cancel_own(C, 1);
        cancel(D, task(CD, 1), false);
        ck_assert_uint_eq(sends(D, SC_MSG_RESULT), 0);
        ck_assert(sc_id_equal(sent(W, SC_MSG_STOP)->about.task, work));
        ck_assert_uint_eq(sent(W, SC_MSG_STOP)->about.run, run);
        work_done(W, SC_REASON_CANCELLED);
        got(D, 1, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(D, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        submit_keyed(C, 2, "k"); /* what was cancelled is not remembered */
        assigned(W);
        teardown();
}
END_TEST

START_TEST(what_waits_in_the_queue_is_left_to_the_others_as_well)
{
        begin();
        submit_keyed(C, 1, "k");
        submit_keyed(D, 1, "k");
        cancel_own(C, 1);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        worker_up(W, WORKER, 1, 1);
        assigned(W);
        work_done(W, SC_REASON_SUCCESS);
        got(D, 1, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(a_cancel_of_many_takes_owners_one_by_one)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .tag = { "a", 1 } });
        assigned(W);
        submit_planned(C, 2, (struct sc_plan){ .tag = { "b", 1 } });
        submit_planned(D, 1, (struct sc_plan){ .tag = { "a", 1 } });
        cancel_many(C, (struct sc_cancel_many){ .ticket = 1, .tag = { "a", 1 } });
        got(C, 1, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM_MANY)->confirm_many.count, 1);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 2 });
        got(C, 2, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
        cancel_many(D, (struct sc_cancel_many){ .ticket = 3, .force = true });
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        work_done(W, SC_REASON_CANCELLED);
        got(D, 1, SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(a_client_that_goes_leaves_the_work_to_the_others)
{
        begin_with((struct sc_sched_options){ .client_grace = 5 * SC_S });
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
        bye(C);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
        down(D);
        tick(5 * SC_S - 1);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
        tick(1); /* the last one is given up */
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 1);
        work_done(W, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_client_that_is_back_in_time_is_an_owner_still)
{
        begin_with((struct sc_sched_options){ .client_grace = 5 * SC_S });
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
        down(C);
        down(D);
        tick(4 * SC_S);
        tenant_up(9, CD, "t");
        tick(2 * SC_S); /* C is given up */
        work_done(W, SC_REASON_SUCCESS);
        got(9, 1, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

/* ---- while it is being stopped -----------------------------------------------------------------*/

START_TEST(who_comes_while_it_is_being_stopped_waits_and_begins_anew)
{
        begin();
        worker_up(W, WORKER, 2, 2);
        submit_keyed(C, 1, "k");
        assigned(W);
        const uint64_t before = run;
        cancel(C, task(CLIENT, 1), false);
        submit_keyed(D, 1, "k");
        ck_assert(said_nothing());
        work_done(W, SC_REASON_CANCELLED);
        got(C, 1, SC_REASON_CANCELLED);
        assigned(W);
        ck_assert_uint_gt(run, before);
        work_done(W, SC_REASON_SUCCESS);
        ck_assert_uint_eq(got(D, 1, SC_REASON_SUCCESS)->attempts, 1);
        teardown();
}
END_TEST

START_TEST(a_success_that_beats_the_cancel_is_everybodys)
{
        begin();
        worker_up(W, WORKER, 2, 2);
        submit_keyed(C, 1, "k");
        assigned(W);
        cancel(C, task(CLIENT, 1), false);
        submit_keyed(D, 1, "k");
        work_done(W, SC_REASON_SUCCESS);
        got(C, 1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_FAILED);
        got(D, 1, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(a_worker_lost_while_it_is_being_stopped_ends_the_one_and_not_the_other)
{
        begin();
        worker_up(W, WORKER, 2, 2);
        submit_keyed(C, 1, "k");
        assigned(W);
        cancel(C, task(CLIENT, 1), false);
        submit_keyed(D, 1, "k");
        down(W);
        got(C, 1, SC_REASON_CANCELLED);
        worker_up(W2, WORKER + 1, 1, 1);
        assigned(W2);
        work_done(W2, SC_REASON_SUCCESS);
        got(D, 1, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

/* ---- priorities --------------------------------------------------------------------------------*/

static void plain_at(uint64_t seq, int32_t priority)
{
        struct sc_spec spec = spec_f();
        spec.priority       = priority;
        submit_spec(E, CE, seq, spec);
}

START_TEST(the_highest_priority_of_its_owners_counts)
{
        begin();
        plain_at(1, 5);
        submit_at(C, 1, 0);
        submit_at(D, 1, 7);
        submit_at(C, 2, 6);
        worker_up(W, WORKER, 1, 1);
        assigned(W);
        ck_assert_int_eq(sent(W, SC_MSG_ASSIGN)->assign.spec.priority, 7);
        about(W, SC_MSG_RETURNED, work, run);
        assigned(W);
        cancel_own(D, 1); /* while it runs */
        about(W, SC_MSG_RETURNED, work, run);
        assigned(W);
        ck_assert_int_eq(sent(W, SC_MSG_ASSIGN)->assign.spec.priority, 6);
        cancel(C, task(CLIENT, 2), false);
        about(W, SC_MSG_RETURNED, work, run);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.hi, CE);
        teardown();
}
END_TEST

START_TEST(a_higher_one_that_joins_a_run_counts_when_it_comes_back)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_at(C, 1, 0);
        assigned(W);
        plain_at(1, 5);
        submit_at(D, 1, 7);
        about(W, SC_MSG_RETURNED, work, run);
        assigned(W);
        ck_assert_int_eq(sent(W, SC_MSG_ASSIGN)->assign.spec.priority, 7);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.attempt, 1);
        teardown();
}
END_TEST

/* ---- the fence ---------------------------------------------------------------------------------*/

START_TEST(what_is_said_of_the_work_by_another_name_is_stale)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        done(W, task(CLIENT, 1), run, SC_REASON_SUCCESS);
        ck_assert(said_nothing());
        ck_assert_uint_eq(stats().stale_dropped, 1);
        done(W, work, run + 1, SC_REASON_SUCCESS);
        done(W, (struct sc_id){ work.hi, work.lo ^ 2 }, run, SC_REASON_SUCCESS);
        ck_assert_uint_eq(stats().stale_dropped, 3);
        work_done(W, SC_REASON_SUCCESS);
        got(C, 1, SC_REASON_SUCCESS);
        work_done(W, SC_REASON_SUCCESS);
        ck_assert_uint_eq(stats().stale_dropped, 4);
        teardown();
}
END_TEST

START_TEST(a_lost_run_is_kept_by_whoever_leads_when_its_worker_is_back)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
        about(W, SC_MSG_STARTED, work, run);
        down(W);
        cancel_own(C, 1);
        const struct sc_hold hold = { .task = work, .epoch = EPOCH, .run = run, .flags = SC_HOLD_RUNNING };
        worker_up_holding(W2, WORKER, 1, 1, &hold, 1);
        ck_assert(sc_id_equal(sent(W2, SC_MSG_KEEP)->about.task, work));
        work_done(W2, SC_REASON_SUCCESS);
        const struct sc_result *result = got(D, 1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(result->losses, 0);
        ck_assert_uint_eq(result->attempts, 1);
        teardown();
}
END_TEST

START_TEST(the_third_loss_ends_all_owners_and_the_key_is_free)
{
        begin();
        submit_keyed(C, 1, "k");
        submit_keyed(D, 1, "k");
        for (uint64_t i = 0; i < 3; i++) {
                worker_up(W, WORKER + i, 1, 1);
                assigned(W);
                about(W, SC_MSG_STARTED, work, run);
                if (i == 1)
                        cancel_own(C, 1); /* the losses stay with the work */
                down(W);
        }
        ck_assert_uint_eq(got(D, 1, SC_REASON_WORKER_DIED)->losses, 3);
        submit_keyed(C, 2, "k");
        worker_up(W, WORKER, 1, 1);
        assigned(W);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.attempt, 1);
        teardown();
}
END_TEST

START_TEST(a_failure_is_tried_again_for_all)
{
        struct sc_spec spec = spec_f();
        spec.retries        = 1;
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_keyed_spec(C, 1, "k", spec, (struct sc_plan){ .backoff_ms = 1000 });
        assigned(W);
        submit_keyed_spec(D, 1, "k", spec, (struct sc_plan){ .backoff_ms = 1000 });
        work_done(W, SC_REASON_TASK);
        ck_assert(said_nothing());
        cancel_own(C, 1); /* the wait stays with the work */
        tick(700 * SC_MS);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        tick(SC_S);
        assigned(W);
        work_done(W, SC_REASON_TASK);
        ck_assert_uint_eq(got(D, 1, SC_REASON_TASK)->attempts, 2);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("keys");
        tcase_add_test(tests, a_task_with_the_key_of_another_joins_it_and_ends_as_it_does);
        tcase_add_test(tests, tasks_of_one_client_join_each_other_too);
        tcase_add_test(tests, tenants_do_not_share_keys);
        tcase_add_test(tests, the_longest_key_is_a_key_and_a_longer_one_closes_the_link);
        tcase_add_test(tests, whatever_defines_the_work_must_be_the_same);
        tcase_add_test(tests, what_is_an_owners_own_affair_may_differ);
        tcase_add_test(tests, a_key_is_told_without_its_control_characters);
        tcase_add_test(tests, a_key_does_not_go_with_graphs_dependencies_and_streams);
        tcase_add_test(tests, sequences_that_are_names_of_works_are_no_clients);
        tcase_add_test(tests, who_has_joined_cancels_for_itself_alone);
        tcase_add_test(tests, who_leads_leaves_the_run_to_the_others);
        tcase_add_test(tests, the_last_owner_that_cancels_stops_the_run);
        tcase_add_test(tests, what_waits_in_the_queue_is_left_to_the_others_as_well);
        tcase_add_test(tests, a_cancel_of_many_takes_owners_one_by_one);
        tcase_add_test(tests, a_client_that_goes_leaves_the_work_to_the_others);
        tcase_add_test(tests, a_client_that_is_back_in_time_is_an_owner_still);
        tcase_add_test(tests, who_comes_while_it_is_being_stopped_waits_and_begins_anew);
        tcase_add_test(tests, a_success_that_beats_the_cancel_is_everybodys);
        tcase_add_test(tests, a_worker_lost_while_it_is_being_stopped_ends_the_one_and_not_the_other);
        tcase_add_test(tests, the_highest_priority_of_its_owners_counts);
        tcase_add_test(tests, a_higher_one_that_joins_a_run_counts_when_it_comes_back);
        tcase_add_test(tests, what_is_said_of_the_work_by_another_name_is_stale);
        tcase_add_test(tests, a_lost_run_is_kept_by_whoever_leads_when_its_worker_is_back);
        tcase_add_test(tests, the_third_loss_ends_all_owners_and_the_key_is_free);
        tcase_add_test(tests, a_failure_is_tried_again_for_all);
        return run_tests("sched keys", tests);
}
