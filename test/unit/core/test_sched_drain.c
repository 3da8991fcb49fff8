/* Transcripts of the scheduler's core: workers that leave, who asked for it, and a scheduler that stops. */
#include "test_sched_plan_kit.h"

#include "run_tests.h"

enum { A2 = 31, WORKER2 = WORKER + 1 };

static void admin_up(sc_link_id link)
{
        up(link, hello_of(SC_ROLE_ADMIN, ADMIN + link), 0);
}

static void leaver_up(sc_link_id link, uint64_t id, uint32_t slots, uint32_t credit)
{
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, id);
        hello.slots = hello.free_slots = slots;
        hello.functions      = functions_fg;
        hello.function_count = 2;
        hello.features       = SC_FEATURE_LEAVE;
        up(link, hello, credit);
        ck_assert_uint_eq(sent(link, SC_MSG_WELCOME)->welcome.features, SC_FEATURE_LEAVE);
}

static void drain(sc_link_id link, uint32_t ticket, uint64_t worker, uint64_t deadline_ms)
{
        say(link, &(struct sc_msg){
                          .kind  = SC_MSG_DRAIN,
                          .drain = { .ticket = ticket, .worker = worker, .deadline_ms = deadline_ms },
                  });
}

static void returned_as(sc_link_id link, uint64_t seq, bool released)
{
        say(link, &(struct sc_msg){
                          .kind  = SC_MSG_RETURNED,
                          .about = { .task = task(CLIENT, seq), .run = run_of(CLIENT, seq), .released = released },
                  });
}

static struct sc_drained drained(sc_link_id link, uint32_t ticket, int32_t status)
{
        ck_assert_uint_eq(sends(link, SC_MSG_DRAINED), 1);
        const struct sc_drained answer = sent(link, SC_MSG_DRAINED)->drained;
        ck_assert_uint_eq(answer.ticket, ticket);
        ck_assert_int_eq(answer.status, status);
        return answer;
}

static bool is_draining(uint64_t worker)
{
        say(A, &(struct sc_msg){ .kind = SC_MSG_QUERY, .query = { .what = SC_QUERY_WORKERS, .rows_max = 256 } });
        for (uint32_t i = 0; i < sends(A, SC_MSG_WORKER_ROW); i++) {
                const struct sc_worker_row *row = &sent_nth(A, SC_MSG_WORKER_ROW, i)->worker_row;
                if (row->worker == worker)
                        return row->draining;
        }
        ck_abort_msg("no such worker");
        return false;
}

/* One slot and one place behind it; a client with two tasks, both there; an admin. */
static void begin_leaving(void)
{
        begin();
        admin_up(A);
        leaver_up(W, WORKER, 1, 2);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        started(W, 1);
}

/* ---- a worker --------------------------------------------------------------------------------------------- */

START_TEST(a_worker_that_is_asked_to_leave_is_told_so_and_gets_nothing_more)
{
        begin_leaving();
        ck_assert(!is_draining(WORKER));
        drain(A, 7, WORKER, 1500);
        ck_assert_uint_eq(sent(W, SC_MSG_LEAVE)->leave.deadline_ms, 1500);
        ck_assert_uint_eq(sends(A, SC_MSG_DRAINED), 0);
        ck_assert(is_draining(WORKER));
        returned_as(W, 2, false);
        submit(C, CLIENT, 3);
        ck_assert_uint_eq(effects(SC_FX_SEND), 0);
        ck_assert_uint_eq(stats().tasks_ready, 2);
        leaver_up(W2, WORKER2, 1, 2); /* they are not lost in a queue of the other one's */
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 2);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 2);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.attempt, 1);
        end(W, 1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        ck_assert_uint_eq(sends(A, SC_MSG_DRAINED), 0);
        rig.now += 2 * SC_S;
        bye(W);
        const struct sc_drained answer = drained(A, 7, 0);
        ck_assert_uint_eq(answer.worker, WORKER);
        ck_assert_uint_eq(answer.finished, 1);
        ck_assert_uint_eq(answer.returned, 1);
        ck_assert_uint_eq(answer.released + answer.lost, 0);
        ck_assert_uint_eq(answer.took_ms, 2000);
        ck_assert_str_eq(text_of(answer.name), "peer");
        ck_assert_uint_eq(stats().runs_lost, 0);
        teardown();
}
END_TEST

START_TEST(each_of_whom_nobody_can_wait_for_has_its_answer_at_once)
{
        begin_leaving();
        worker_up(W2, WORKER2, 1, 2);
        drain(A, 1, WORKER + 9, 0);
        drained(A, 1, SC_E_NOT_FOUND);
        drain(A, 2, CLIENT, 0);
        drained(A, 2, SC_E_NOT_FOUND);
        drain(A, 3, WORKER2, 0); /* it would close its link at a word that it does not know */
        drained(A, 3, SC_E_UNSUPPORTED);
        ck_assert_uint_eq(effects(SC_FX_SEND), 1);
        ck_assert(!is_draining(WORKER2));
        rig.fail.fail_at = rig.fail.asked + 1;
        drain(A, 4, WORKER, 0);
        drained(A, 4, SC_E_NOMEM);
        ck_assert(!is_draining(WORKER));
        rig.fail.fail_at = rig.fail.asked + 1;
        drain(A, 5, 0, 0);
        drained(A, 5, SC_E_NOMEM);
        submit(C, CLIENT, 3);
        down(W);
        drain(A, 6, WORKER, 0);
        drained(A, 6, SC_E_NOT_FOUND);
        teardown();
}
END_TEST

START_TEST(all_who_ask_are_told_and_who_asks_again_once)
{
        begin_leaving();
        admin_up(A2);
        drain(A, 1, WORKER, 0);
        drain(A2, 1, WORKER, 5000);
        ck_assert_uint_eq(sends(A, SC_MSG_DRAINED), 0);
        ck_assert_uint_eq(sent(W, SC_MSG_LEAVE)->leave.deadline_ms, 5000);
        drain(A, 2, WORKER, 0);
        ck_assert_uint_eq(sent(A, SC_MSG_DRAINED)->drained.ticket, 1);
        ck_assert_int_eq(sent(A, SC_MSG_DRAINED)->drained.status, SC_E_EXISTS);
        bye(W);
        drained(A, 2, 0);
        drained(A2, 1, 0);
        teardown();
}
END_TEST

START_TEST(a_worker_that_dies_while_it_drains_is_told_of_with_what_it_had)
{
        begin_leaving();
        drain(A, 1, WORKER, 0);
        down(W);
        const struct sc_drained answer = drained(A, 1, SC_E_UNREACHABLE);
        ck_assert_uint_eq(answer.lost, 2);
        ck_assert_uint_eq(stats().runs_lost, 1); /* as of any death: that which ran */
        ck_assert_uint_eq(stats().tasks_ready, 2);
        teardown();
}
END_TEST

/* Whoever has it is to leave, and lets go of it: more often than losses or retries would allow. */
START_TEST(a_released_run_is_made_again_elsewhere_and_costs_nothing)
{
        begin();
        admin_up(A);
        submit_retried(1, 1, (struct sc_plan){ .backoff_ms = 1000 });
        for (uint32_t i = 0; i < 5; i++) {
                leaver_up(100 + i, WORKER + i, 1, 1);
                ck_assert_uint_eq(sent(100 + i, SC_MSG_ASSIGN)->assign.attempt, 1);
                ck_assert_uint_eq(sent(100 + i, SC_MSG_ASSIGN)->assign.spec.retries, 1);
                started(100 + i, 1);
                drain(A, i, WORKER + i, 1);
                returned_as(100 + i, 1, true);
                ck_assert_uint_eq(stats().tasks_ready, 1); /* at once, without a wait */
                bye(100 + i);
                ck_assert_uint_eq(drained(A, i, 0).released, 1);
        }
        leaver_up(W, WORKER + 9, 1, 1);
        end(W, 1, SC_REASON_TASK);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0); /* its retry is still there */
        tick(2 * SC_S);
        end(W, 1, SC_REASON_TASK);
        ended_as(SC_REASON_TASK);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 2);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.losses, 0);
        ck_assert_uint_eq(stats().runs_lost, 0);
        teardown();
}
END_TEST

START_TEST(a_released_run_that_was_being_cancelled_ends_cancelled)
{
        begin_leaving();
        drain(A, 1, WORKER, 1);
        cancel(C, task(CLIENT, 1), false);
        returned_as(W, 1, true);
        ended_as(SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(a_released_run_past_its_deadline_is_not_made_again)
{
        begin();
        admin_up(A);
        leaver_up(W, WORKER, 1, 1);
        submit_plan(1, (struct sc_plan){ .deadline_ms = 5000 });
        started(W, 1);
        drain(A, 1, WORKER, 5000);
        rig.now += 5 * SC_S;
        returned_as(W, 1, true);
        ended_as(SC_REASON_DEADLINE);
        teardown();
}
END_TEST

START_TEST(a_worker_that_leaves_by_itself_is_seen_to)
{
        begin_leaving();
        say(W, &(struct sc_msg){ .kind = SC_MSG_LEAVE });
        ck_assert(said_nothing());
        ck_assert(is_draining(WORKER));
        returned_as(W, 2, false);
        end(W, 1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        say(W, &(struct sc_msg){ .kind = SC_MSG_LEAVE }); /* again, and nothing of it */
        drain(A, 1, WORKER, 0); /* who asks now waits for the same end */
        bye(W);
        ck_assert_uint_eq(drained(A, 1, 0).finished, 1);
        teardown();
}
END_TEST

/* Two losses each; the third would be the last, which is had alone. */
static void lose_twice(uint64_t seq)
{
        for (int i = 0; i < 2; i++) {
                leaver_up(50, WORKER + 50, 1, 1);
                started(50, seq);
                down(50);
        }
}

START_TEST(a_worker_that_was_being_emptied_for_a_last_chance_is_let_go_when_it_leaves)
{
        begin();
        admin_up(A);
        submit(C, CLIENT, 1);
        lose_twice(1);
        leaver_up(W, WORKER, 1, 0);
        submit(C, CLIENT, 2);
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 1 });
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        drain(A, 1, WORKER, 0);
        leaver_up(W2, WORKER2, 1, 1);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

START_TEST(an_admin_that_goes_is_not_waited_for)
{
        begin_leaving();
        drain(A, 1, WORKER, 0);
        drain(A, 2, 0, 0);
        down(A);
        bye(W);
        ck_assert_uint_eq(sends(A, SC_MSG_DRAINED), 0);
        teardown();
}
END_TEST

START_TEST(who_waits_when_it_is_destroyed_is_forgotten)
{
        begin_leaving();
        drain(A, 1, WORKER, 0);
        drain(A, 2, 0, 0);
        teardown();
}
END_TEST

/* ---- the scheduler ---------------------------------------------------------------------------------------- */

static void stop(uint64_t deadline_ms)
{
        step((struct sc_event){ .kind = SC_EV_DRAIN, .count = deadline_ms });
}

static uint32_t granted(sc_link_id link)
{
        for (uint32_t i = 0; i < out.len; i++)
                if (out.at[i].kind == SC_FX_GRANT && out.at[i].link == link)
                        return out.at[i].tasks;
        ck_abort_msg("it is told of no grant");
        return 0;
}

static void all_told(void)
{
        ck_assert_int_eq(sent(C, SC_MSG_BYE)->bye.status, SC_E_UNREACHABLE);
        ck_assert_int_eq(sent(W, SC_MSG_BYE)->bye.status, SC_E_UNREACHABLE);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        ck_assert_int_eq((int)out.at[out.len - 1].kind, (int)SC_FX_CLOSED);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
}

START_TEST(a_scheduler_that_stops_ends_what_runs_and_keeps_nobody_else_busy)
{
        begin_leaving();
        stop(0);
        ck_assert_uint_eq(granted(C), 0);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 1);
        ck_assert_uint_eq(sent(W, SC_MSG_RECALL)->about.task.lo, 2);
        submit(C, CLIENT, 3); /* was under way */
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        returned_as(W, 2, false);
        ck_assert_uint_eq(stats().tasks_ready, 2);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        end(W, 1, SC_REASON_SUCCESS);
        ended_as(SC_REASON_SUCCESS);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        acked(C, 1);
        all_told();
        stop(1); /* it is over */
        tick(SC_S);
        ck_assert_uint_eq(out.len, 0);
        teardown();
}
END_TEST

START_TEST(a_scheduler_without_runs_stops_at_once)
{
        begin();
        submit(C, CLIENT, 1);
        leaver_up(W, WORKER, 1, 0);
        stop(0);
        all_told();
        teardown();
}
END_TEST

START_TEST(a_scheduler_waits_no_longer_than_its_deadline)
{
        begin_leaving();
        stop(0);
        returned_as(W, 2, false);
        stop(3000);
        stop(9000);
        quiet_until(3 * SC_S);
        all_told();
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0); /* what runs is the worker's to keep */
        teardown();
        begin_leaving();
        stop(0);
        step((struct sc_event){ .kind = SC_EV_RELEASE });
        all_told();
        teardown();
}
END_TEST

START_TEST(a_failure_is_not_tried_again_by_a_scheduler_that_stops)
{
        begin();
        leaver_up(W, WORKER, 1, 1);
        submit_retried(1, 3, (struct sc_plan){ .tag = { "t", 1 } });
        stop(0);
        end(W, 1, SC_REASON_TASK);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        all_told();
        ck_assert_uint_eq(stats().tasks_ready, 1); /* its client has it for the next one */
        teardown();
}
END_TEST

START_TEST(nobody_is_granted_anything_by_a_scheduler_that_stops)
{
        begin_leaving();
        stop(0);
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 100000, .kib = 100000 } });
        ck_assert_uint_eq(effects(SC_FX_GRANT), 0);
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 1, .kib = 1 } });
        ck_assert_uint_eq(granted(C), 0);
        client_up(C2, CLIENT + 1);
        ck_assert_uint_eq(granted(C2), 0);
        down(C);
        client_up(C, CLIENT);
        ck_assert_uint_eq(granted(C), 0);
        ck_assert_uint_eq(sent(C, SC_MSG_WELCOME)->welcome.known_up_to, 2);
        teardown();
}
END_TEST

START_TEST(a_run_that_was_lost_comes_back_to_a_scheduler_that_stops)
{
        begin_leaving();
        leaver_up(W2, WORKER2, 1, 1);
        submit(C, CLIENT, 3);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        const struct sc_hold held = {
                .task = task(CLIENT, 1), .epoch = EPOCH, .run = run_of(CLIENT, 1), .flags = SC_HOLD_RUNNING
        };
        stop(0);
        returned_as(W, 2, false);
        down(W);
        ck_assert_uint_eq(stats().runs_lost, 1);
        worker_up_holding(W, WORKER, 1, 1, &held, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_KEEP), 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        end(W2, 3, SC_REASON_SUCCESS);
        acked(C, 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        end(W, 1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.losses, 0);
        acked(C, 1);
        all_told();
        teardown();
}
END_TEST

START_TEST(results_of_a_client_that_is_away_are_kept_for_it_as_long_as_ever)
{
        begin_leaving();
        stop(0);
        returned_as(W, 2, false);
        down(C);
        end(W, 1, SC_REASON_SUCCESS);
        tick(59 * SC_S);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        client_up(C, CLIENT);
        settle();
        acked(C, 1);
        all_told();
        teardown();
        begin_leaving();
        stop(0);
        returned_as(W, 2, false);
        down(C);
        end(W, 1, SC_REASON_SUCCESS);
        tick(60 * SC_S); /* it does not come back */
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown();
}
END_TEST

START_TEST(an_admin_that_asked_is_told_before_the_links_close)
{
        begin_leaving();
        drain(A, 9, 0, 0);
        ck_assert_uint_eq(sends(A, SC_MSG_DRAINED), 0);
        drain(A, 10, 0, 4000);
        drained(A, 9, SC_E_EXISTS);
        tick(4 * SC_S);
        ck_assert_uint_eq(drained(A, 10, 0).took_ms, 4000);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        ck_assert_uint_eq(sends(A, SC_MSG_BYE), 0);
        teardown();
}
END_TEST

START_TEST(thousands_are_told_in_bounded_steps)
{
        enum { MANY = 5000 };
        setup((struct sc_sched_options){ .tasks_max = 0 });
        rig.unchecked = true;
        for (uint32_t i = 0; i < MANY; i++)
                client_up(1000 + i, CLIENT + i);
        for (uint32_t i = 0; i < MANY; i++)
                leaver_up(10000 + i, WORKER + i, 1, 1);
        stop(0);
        uint32_t byes = sends(0, 0), steps = 0;
        for (;;) {
                for (uint32_t i = 0; i < out.len; i++)
                        byes += out.at[i].kind == SC_FX_SEND && out.at[i].msg.kind == SC_MSG_BYE;
                if (effects(SC_FX_CLOSED) > 0)
                        break;
                ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now);
                ck_assert_uint_lt(++steps, 100);
                tick(0);
        }
        ck_assert_uint_eq(byes, 2 * MANY);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sched_drain");
        tcase_add_test(tests, a_worker_that_is_asked_to_leave_is_told_so_and_gets_nothing_more);
        tcase_add_test(tests, each_of_whom_nobody_can_wait_for_has_its_answer_at_once);
        tcase_add_test(tests, all_who_ask_are_told_and_who_asks_again_once);
        tcase_add_test(tests, a_worker_that_dies_while_it_drains_is_told_of_with_what_it_had);
        tcase_add_test(tests, a_released_run_is_made_again_elsewhere_and_costs_nothing);
        tcase_add_test(tests, a_released_run_that_was_being_cancelled_ends_cancelled);
        tcase_add_test(tests, a_released_run_past_its_deadline_is_not_made_again);
        tcase_add_test(tests, a_worker_that_leaves_by_itself_is_seen_to);
        tcase_add_test(tests, a_worker_that_was_being_emptied_for_a_last_chance_is_let_go_when_it_leaves);
        tcase_add_test(tests, an_admin_that_goes_is_not_waited_for);
        tcase_add_test(tests, who_waits_when_it_is_destroyed_is_forgotten);
        tcase_add_test(tests, a_scheduler_that_stops_ends_what_runs_and_keeps_nobody_else_busy);
        tcase_add_test(tests, a_scheduler_without_runs_stops_at_once);
        tcase_add_test(tests, a_scheduler_waits_no_longer_than_its_deadline);
        tcase_add_test(tests, a_failure_is_not_tried_again_by_a_scheduler_that_stops);
        tcase_add_test(tests, nobody_is_granted_anything_by_a_scheduler_that_stops);
        tcase_add_test(tests, a_run_that_was_lost_comes_back_to_a_scheduler_that_stops);
        tcase_add_test(tests, results_of_a_client_that_is_away_are_kept_for_it_as_long_as_ever);
        tcase_add_test(tests, an_admin_that_asked_is_told_before_the_links_close);
        tcase_add_test(tests, thousands_are_told_in_bounded_steps);
        return run_tests("sched_drain", tests);
}
