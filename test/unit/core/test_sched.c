/* Transcripts of the scheduler's core: the way of a task, the fence, cancels, clients, output, questions. */
#include "test_sched_kit.h"

#include "run_tests.h"

enum { C = 1, W = 2, W2 = 3, A = 4, C2 = 5 };

static void pair_up(uint32_t slots, uint32_t credit)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, slots, credit);
}

START_TEST(a_task_travels_to_a_worker_and_its_result_back)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        const struct sc_assign *a = &sent(W, SC_MSG_ASSIGN)->assign;
        ck_assert_uint_eq(a->attempt, 1);
        ck_assert_uint_eq(a->spec.body.len, 16);
        ck_assert_int_eq(memcmp(a->spec.body.ptr, "0123456789abcdef", 16), 0);
        ck_assert_int_eq(memcmp(a->spec.function.ptr, "f", a->spec.function.len), 0);
        done(W, task(CLIENT, 1), a->run, SC_REASON_SUCCESS);
        const struct sc_result *r = &sent(C, SC_MSG_RESULT)->result;
        ck_assert_uint_eq(r->worker, WORKER);
        ck_assert_uint_eq(r->attempts, 1);
        ck_assert_int_eq(r->outcome.code, 42);
        ck_assert_int_eq(memcmp(r->outcome.result.ptr, "ok", r->outcome.result.len), 0);
        acked(C, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        ck_assert_uint_eq(stats().bytes_used, 0);
        teardown();
}
END_TEST

START_TEST(an_end_brings_the_result_and_the_next_run_in_one_step)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        ck_assert(said_nothing());
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 2);
        teardown();
}
END_TEST

START_TEST(credit_is_never_exceeded_and_may_change)
{
        pair_up(2, 3);
        for (uint64_t i = 1; i <= 10; i++)
                submit(C, CLIENT, i);
        ck_assert_uint_eq(stats().tasks_assigned, 3);
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 5 });
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 2);
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 1 });
        for (uint64_t i = 1; i <= 4; i++) {
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
                ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        }
        done(W, task(CLIENT, 5), run_of(CLIENT, 5), SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

static void submit_needing(uint64_t seq, const char *needs)
{
        const struct sc_plan plan = { .needs = { needs, strlen(needs) } };
        struct sc_spec       spec = spec_f();
        spec.plan                 = needs[0] != '\0' ? &plan : NULL;
        submit_spec(1, CLIENT, seq, spec);
}

START_TEST(what_waits_behind_its_like_leaves_the_free_slots_their_credit)
{
        setup((struct sc_sched_options){ .tasks_max = 100 });
        client_up(1, CLIENT);
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, WORKER);
        hello.slots = hello.free_slots = 3;
        hello.functions                = functions_fg;
        hello.function_count           = 2;
        hello.offers                   = (struct sc_view){ "cpu=3000,gpu=1000", 17 };
        up(2, hello, 4);
        submit_needing(1, "gpu=1000");
        ck_assert_uint_eq(sends(2, SC_MSG_ASSIGN), 1);
        submit_needing(2, "gpu=1000");
        ck_assert_uint_eq(sends(2, SC_MSG_ASSIGN), 1); /* it waits there, as the fourth of three slots */
        submit_needing(3, "gpu=1000");
        ck_assert_uint_eq(sends(2, SC_MSG_ASSIGN), 0);
        submit_needing(4, "");
        ck_assert_uint_eq(sends(2, SC_MSG_ASSIGN), 1);
        submit_needing(5, "");
        ck_assert_uint_eq(sends(2, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

START_TEST(a_word_about_another_run_or_from_another_worker_falls_at_the_fence)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        worker_up(W2, WORKER + 1, 1, 1);
        uint64_t run = run_of(CLIENT, 1);
        done(W2, task(CLIENT, 1), run, SC_REASON_SUCCESS);
        ck_assert(said_nothing());
        done(W, task(CLIENT, 1), run + 1, SC_REASON_SUCCESS);
        about(W2, SC_MSG_STARTED, task(CLIENT, 1), run);
        about(W2, SC_MSG_RETURNED, task(CLIENT, 1), run);
        done(W, task(CLIENT, 9), run, SC_REASON_SUCCESS);
        ck_assert_uint_eq(stats().stale_dropped, 5);
        done(W, task(CLIENT, 1), run, SC_REASON_SUCCESS);
        done(W, task(CLIENT, 1), run, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        ck_assert_uint_eq(stats().stale_dropped, 6);
        teardown();
}
END_TEST

START_TEST(a_function_that_nobody_has_waits_and_blocks_nobody)
{
        pair_up(1, 1);
        struct sc_spec spec = spec_f();
        spec.function       = (struct sc_view){ "nobody's", 8 };
        submit_spec(C, CLIENT, 1, spec);
        ck_assert(said_nothing());
        submit(C, CLIENT, 2);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 2);
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, WORKER + 1);
        hello.slots = hello.free_slots = 1;
        hello.functions      = &spec.function;
        hello.function_count = 1;
        up(W2, hello, 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 1);
        teardown();
}
END_TEST

START_TEST(commands_go_to_any_worker)
{
        pair_up(1, 1);
        submit_spec(C, CLIENT, 1, (struct sc_spec){ .kind = SC_TASK_COMMAND, .body = { "x", 1 } });
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.spec.kind, SC_TASK_COMMAND);
        teardown();
}
END_TEST

START_TEST(the_oldest_goes_first_across_functions)
{
        pair_up(1, 1);
        struct sc_spec g = spec_f();
        g.function       = (struct sc_view){ "g", 1 };
        submit(C, CLIENT, 1);
        submit_spec(C, CLIENT, 2, g);
        submit(C, CLIENT, 3);
        submit_spec(C, CLIENT, 4, g);
        for (uint64_t i = 1; i < 4; i++) {
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
                ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, i + 1);
        }
        teardown();
}
END_TEST

START_TEST(a_shallow_queue_is_spread_and_a_deep_one_goes_out_in_runs)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 2, 200);
        worker_up(W2, WORKER + 1, 2, 200);
        submit(C, CLIENT, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        submit(C, CLIENT, 2);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        bye(W);
        bye(W2);
        for (uint64_t i = 3; i <= 300; i++)
                submit(C, CLIENT, i);
        worker_up(W + 10, WORKER + 5, 2, 40);
        ck_assert_uint_eq(sends(W + 10, SC_MSG_ASSIGN), 40);
        for (uint32_t i = 0; i < 40; i++)
                ck_assert_uint_eq(sent_nth(W + 10, SC_MSG_ASSIGN, i)->assign.task.lo, i + 1);
        teardown();
}
END_TEST

START_TEST(an_own_failure_is_run_again_only_on_request)
{
        pair_up(1, 1);
        struct sc_spec spec = spec_f();
        spec.retries        = 2;
        submit_spec(C, CLIENT, 1, spec);
        submit(C, CLIENT, 2);
        for (uint32_t attempt = 2; attempt <= 3; attempt++) {
                done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_TASK);
                ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
                ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 1);
                ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.attempt, attempt);
        }
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_TASK);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 3);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.losses, 0);
        done(W, task(CLIENT, 2), run_of(CLIENT, 2), SC_REASON_TASK);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_TASK);
        teardown();
}
END_TEST

/* ---- cancel ------------------------------------------------------------------------------------*/

START_TEST(a_queued_task_is_cancelled_at_once)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        cancel(C, task(CLIENT, 2), false);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
        cancel(C, task(CLIENT, 2), false);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_NOT_FOUND);
        cancel(C, task(CLIENT, 77), false);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_NOT_FOUND);
        teardown();
}
END_TEST

START_TEST(a_running_task_is_stopped_and_every_request_is_confirmed_once)
{
        pair_up(1, 1);
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
        submit(C, CLIENT, 1);
        uint64_t run = run_of(CLIENT, 1);
        cancel(C, task(CLIENT, 1), false);
        ck_assert(!sent(W, SC_MSG_STOP)->about.force);
        cancel(C, task(CLIENT, 1), false);
        ck_assert(said_nothing());
        cancel(A, task(CLIENT, 1), true);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        cancel(A, task(CLIENT, 1), true);
        ck_assert(said_nothing());
        done(W, task(CLIENT, 1), run, SC_REASON_TASK);
        ck_assert_uint_eq(sends(C, SC_MSG_CONFIRM), 2);
        ck_assert_uint_eq(sends(A, SC_MSG_CONFIRM), 2);
        ck_assert_uint_eq(sent(A, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(a_success_that_beats_the_cancel_stays_one)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        cancel(C, task(CLIENT, 1), true);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_FAILED);
        teardown();
}
END_TEST

START_TEST(a_cancelled_run_that_comes_back_or_is_lost_is_cancelled)
{
        pair_up(1, 2);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        cancel(C, task(CLIENT, 1), false);
        cancel(C, task(CLIENT, 2), false);
        about(W, SC_MSG_RETURNED, task(CLIENT, 2), run_of(CLIENT, 2));
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        down(W);
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(stats().runs_lost, 0);
        teardown();
}
END_TEST

START_TEST(only_the_owner_and_admins_may_cancel)
{
        pair_up(1, 1);
        client_up(C2, CLIENT + 1);
        submit(C, CLIENT, 1);
        cancel(C2, task(CLIENT, 1), true);
        ck_assert(is_closed(C2, SC_E_DENIED));
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
        teardown();
}
END_TEST

START_TEST(asking_over_and_over_closes_the_asker)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        for (int i = 0; i < 16; i++)
                cancel(C, task(CLIENT, 1), true);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        cancel(C, task(CLIENT, 1), true);
        ck_assert(is_closed(C, SC_E_PROTOCOL));
        client_up(C2, CLIENT);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_TASK);
        ck_assert_uint_eq(sends(C2, SC_MSG_RESULT), 1);
        ck_assert_uint_eq(sends(C2, SC_MSG_CONFIRM), 0);
        teardown();
}
END_TEST

START_TEST(only_so_many_links_may_wait_for_one_cancel)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        for (uint64_t i = 0; i < 9; i++)
                up(100 + i, hello_of(SC_ROLE_ADMIN, ADMIN + i), 0);
        for (uint64_t i = 0; i < 8; i++)
                cancel(100 + i, task(CLIENT, 1), true);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        cancel(108, task(CLIENT, 1), true);
        ck_assert(is_closed(108, SC_E_FULL));
        down(100);
        up(109, hello_of(SC_ROLE_ADMIN, ADMIN + 20), 0);
        cancel(109, task(CLIENT, 1), true);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_TASK);
        ck_assert_uint_eq(sends(109, SC_MSG_CONFIRM), 1);
        ck_assert_uint_eq(sends(100, SC_MSG_CONFIRM), 0);
        teardown();
}
END_TEST

/* ---- clients -----------------------------------------------------------------------------------*/

START_TEST(a_client_that_comes_back_gets_what_it_has_not_confirmed)
{
        pair_up(3, 3);
        for (uint64_t i = 1; i <= 3; i++)
                submit(C, CLIENT, i);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        done(W, task(CLIENT, 2), run_of(CLIENT, 2), SC_REASON_SUCCESS);
        acked(C, 1);
        down(C);
        done(W, task(CLIENT, 3), run_of(CLIENT, 3), SC_REASON_SUCCESS);
        client_up(C2, CLIENT);
        ck_assert_uint_eq(sent(C2, SC_MSG_WELCOME)->welcome.known_up_to, 3);
        ck_assert_uint_eq(sent(C2, SC_MSG_WELCOME)->welcome.epoch, EPOCH);
        ck_assert_uint_eq(sends(C2, SC_MSG_RESULT), 2);
        ck_assert_uint_eq(sent_nth(C2, SC_MSG_RESULT, 0)->result.task.lo, 2);
        ck_assert_uint_eq(sent_nth(C2, SC_MSG_RESULT, 1)->result.task.lo, 3);
        acked(C2, 2);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_grant_goes_before_the_welcome)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        ck_assert_int_eq(out.at[0].kind, SC_FX_GRANT);
        ck_assert_uint_eq(out.at[0].tasks, 1024);
        ck_assert_int_eq(out.at[1].msg.kind, SC_MSG_WELCOME);
        teardown();
}
END_TEST

START_TEST(a_client_of_another_epoch_is_told_that_nothing_is_known)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        struct sc_hello hello = hello_of(SC_ROLE_CLIENT, CLIENT);
        hello.epoch           = EPOCH - 1;
        up(C2, hello, 0);
        ck_assert(is_closed(C, SC_E_EXISTS));
        ck_assert_uint_eq(sent(C2, SC_MSG_WELCOME)->welcome.known_up_to, 0);
        submit(C2, CLIENT, 1);
        ck_assert(said_nothing());
        ck_assert_uint_eq(sc_sched_rows(rig.s), 1);
        teardown();
}
END_TEST

START_TEST(a_task_said_twice_is_one_task)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 1);
        ck_assert(said_nothing());
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        submit(C, CLIENT, 1);
        ck_assert(said_nothing());
        acked(C, 1);
        submit(C, CLIENT, 1);
        ck_assert(said_nothing());
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_bye_cancels_everything_of_a_client)
{
        pair_up(1, 1);
        for (uint64_t i = 1; i <= 3; i++)
                submit(C, CLIENT, i);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        uint64_t run = run_of(CLIENT, 2);
        bye(C);
        ck_assert(is_closed(C, SC_OK));
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 1);
        done(W, task(CLIENT, 2), run, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        teardown();
}
END_TEST

START_TEST(a_lost_client_is_given_up_after_its_grace)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        down(C);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now + 60 * SC_S);
        tick(60 * SC_S - 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 2);
        tick(1);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 1);
        /* It comes back before all is over: it is welcomed as a stranger once it is. */
        client_up(C2, CLIENT);
        ck_assert(said_nothing());
        about(W, SC_MSG_RETURNED, task(CLIENT, 1), run_of(CLIENT, 1));
        ck_assert_uint_eq(sent(C2, SC_MSG_WELCOME)->welcome.known_up_to, 0);
        submit(C2, CLIENT, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

START_TEST(resubmitted_tasks_wait_for_claims_at_the_start_of_an_epoch)
{
        setup((struct sc_sched_options){ .claim_delay = 11 * SC_S });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 4, 4);
        struct sc_spec spec = spec_f();
        spec.flags          = SC_SPEC_RESUBMITTED;
        submit_spec(C, CLIENT, 5, spec);
        ck_assert(said_nothing());
        submit(C, CLIENT, 6);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now + SC_S);
        tick(SC_S);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 5);
        submit_spec(C, CLIENT, 7, spec);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

START_TEST(more_confirmations_than_results_close_the_client)
{
        pair_up(1, 1);
        acked(C, 1);
        ck_assert(is_closed(C, SC_E_PROTOCOL));
        ck_assert_uint_eq(warnings(), 1);
        ck_assert_str_eq(effect(SC_FX_NOTE)->text,
                         "00000000000003e80000000000000000 client closed: it sent more confirmations than results");
        teardown();
}
END_TEST

/* ---- output ------------------------------------------------------------------------------------*/

START_TEST(output_passes_both_ways_while_the_run_is_current)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        uint64_t         run = run_of(CLIENT, 1);
        struct sc_output o   = { .task = task(CLIENT, 1), .run = run, .stream = 1, .bytes = { "hi", 2 } };
        say(W, &(struct sc_msg){ .kind = SC_MSG_OUTPUT, .output = o });
        ck_assert_uint_eq(sent(C, SC_MSG_OUTPUT)->output.bytes.len, 2);
        struct sc_output_ack ack = { .task = task(CLIENT, 1), .run = run, .received = 2, .limit = 100 };
        say(C, &(struct sc_msg){ .kind = SC_MSG_OUTPUT_ACK, .output_ack = ack });
        ck_assert_uint_eq(sent(W, SC_MSG_OUTPUT_ACK)->output_ack.limit, 100);
        ack.run++;
        say(C, &(struct sc_msg){ .kind = SC_MSG_OUTPUT_ACK, .output_ack = ack });
        o.run++;
        say(W, &(struct sc_msg){ .kind = SC_MSG_OUTPUT, .output = o });
        ck_assert(said_nothing());
        ck_assert_uint_eq(stats().stale_dropped, 2);
        ack.task.hi++;
        say(C, &(struct sc_msg){ .kind = SC_MSG_OUTPUT_ACK, .output_ack = ack });
        ck_assert(is_closed(C, SC_E_DENIED));
        o.run = run;
        say(W, &(struct sc_msg){ .kind = SC_MSG_OUTPUT, .output = o });
        ck_assert(said_nothing());
        teardown();
}
END_TEST

/* ---- questions ---------------------------------------------------------------------------------*/

static void query(sc_link_id link, uint8_t what, uint64_t cursor, uint32_t rows)
{
        struct sc_query_msg q = { .ticket = 9, .what = what, .cursor = cursor, .rows_max = rows };
        say(link, &(struct sc_msg){ .kind = SC_MSG_QUERY, .query = q });
}

START_TEST(questions_are_answered_in_pages)
{
        pair_up(1, 1);
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
        for (uint64_t i = 1; i <= 5; i++)
                submit(C, CLIENT, i);
        query(A, SC_QUERY_STATUS, 0, 1);
        ck_assert_uint_eq(sent(A, SC_MSG_STATUS_ROW)->status_row.tasks_ready, 4);
        ck_assert_uint_eq(sent(A, SC_MSG_STATUS_ROW)->status_row.ticket, 9);
        query(A, SC_QUERY_WORKERS, 0, 10);
        ck_assert_uint_eq(sent(A, SC_MSG_WORKER_ROW)->worker_row.functions, 2);
        query(A, SC_QUERY_CLIENTS, 0, 10);
        ck_assert_uint_eq(sent(A, SC_MSG_CLIENT_ROW)->client_row.tasks, 5);
        ck_assert_uint_eq(sent(A, SC_MSG_CLIENT_ROW)->client_row.name.len, 4);
        ck_assert_int_eq(memcmp(sent(A, SC_MSG_CLIENT_ROW)->client_row.name.ptr, "peer", 4), 0);
        uint32_t rows = 0;
        uint64_t next = 0;
        do {
                query(A, SC_QUERY_TASKS, next, 2);
                rows += sends(A, SC_MSG_TASK_ROW);
                next = sent(A, SC_MSG_QUERY_END)->query_end.next;
        } while (next != 0);
        ck_assert_uint_eq(rows, 5);
        query(A, SC_QUERIES, 0, 1);
        ck_assert_int_eq(sent(A, SC_MSG_QUERY_END)->query_end.status, SC_E_INVALID);
        query(A, SC_QUERY_TASKS, 0, 257);
        ck_assert_int_eq(sent(A, SC_MSG_QUERY_END)->query_end.status, SC_E_INVALID);
        query(A, SC_QUERY_TASKS, UINT64_MAX, 256);
        ck_assert_uint_eq(sent(A, SC_MSG_QUERY_END)->query_end.next, 0);
        teardown();
}
END_TEST

START_TEST(a_client_sees_its_own_rows_only)
{
        pair_up(1, 1);
        client_up(C2, CLIENT + 1);
        submit(C, CLIENT, 1);
        submit(C2, CLIENT + 1, 1);
        query(C2, SC_QUERY_TASKS, 0, 256);
        ck_assert_uint_eq(sends(C2, SC_MSG_TASK_ROW), 1);
        ck_assert_uint_eq(sent(C2, SC_MSG_TASK_ROW)->task_row.task.hi, CLIENT + 1);
        query(C2, SC_QUERY_CLIENTS, 0, 256);
        ck_assert_uint_eq(sends(C2, SC_MSG_CLIENT_ROW), 1);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sched");
        tcase_add_test(tests, a_task_travels_to_a_worker_and_its_result_back);
        tcase_add_test(tests, an_end_brings_the_result_and_the_next_run_in_one_step);
        tcase_add_test(tests, credit_is_never_exceeded_and_may_change);
        tcase_add_test(tests, what_waits_behind_its_like_leaves_the_free_slots_their_credit);
        tcase_add_test(tests, a_word_about_another_run_or_from_another_worker_falls_at_the_fence);
        tcase_add_test(tests, a_function_that_nobody_has_waits_and_blocks_nobody);
        tcase_add_test(tests, commands_go_to_any_worker);
        tcase_add_test(tests, the_oldest_goes_first_across_functions);
        tcase_add_test(tests, a_shallow_queue_is_spread_and_a_deep_one_goes_out_in_runs);
        tcase_add_test(tests, an_own_failure_is_run_again_only_on_request);
        tcase_add_test(tests, a_queued_task_is_cancelled_at_once);
        tcase_add_test(tests, a_running_task_is_stopped_and_every_request_is_confirmed_once);
        tcase_add_test(tests, a_success_that_beats_the_cancel_stays_one);
        tcase_add_test(tests, a_cancelled_run_that_comes_back_or_is_lost_is_cancelled);
        tcase_add_test(tests, only_the_owner_and_admins_may_cancel);
        tcase_add_test(tests, asking_over_and_over_closes_the_asker);
        tcase_add_test(tests, only_so_many_links_may_wait_for_one_cancel);
        tcase_add_test(tests, a_client_that_comes_back_gets_what_it_has_not_confirmed);
        tcase_add_test(tests, a_grant_goes_before_the_welcome);
        tcase_add_test(tests, a_client_of_another_epoch_is_told_that_nothing_is_known);
        tcase_add_test(tests, a_task_said_twice_is_one_task);
        tcase_add_test(tests, a_bye_cancels_everything_of_a_client);
        tcase_add_test(tests, a_lost_client_is_given_up_after_its_grace);
        tcase_add_test(tests, resubmitted_tasks_wait_for_claims_at_the_start_of_an_epoch);
        tcase_add_test(tests, more_confirmations_than_results_close_the_client);
        tcase_add_test(tests, output_passes_both_ways_while_the_run_is_current);
        tcase_add_test(tests, questions_are_answered_in_pages);
        tcase_add_test(tests, a_client_sees_its_own_rows_only);
        return run_tests("sched", tests);
}
