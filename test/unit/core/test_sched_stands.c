/*
 * Transcripts of what once brought the scheduler's core down or to a wrong answer: words at the wrong time,
 * limits that end together, work left over from an earlier step.
 */
#include "test_sched_kit.h"

#include "run_tests.h"

enum { C = 1, W = 2, W2 = 3, A = 4, C2 = 5, C3 = 6, MANY = 10000 };

static void pair_up(uint32_t slots, uint32_t credit)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, slots, credit);
}

static void want(sc_link_id link, uint32_t tasks, uint32_t kib)
{
        say(link, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = tasks, .kib = kib } });
}

/* ---- the welcome ---------------------------------------------------------------------------------*/

/* A client that left while a run of its own is still being stopped, and is back on C2. */
static uint64_t come_back_too_early(void)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        const uint64_t run = run_of(CLIENT, 1);
        bye(C);
        client_up(C2, CLIENT);
        ck_assert(said_nothing());
        return run;
}

START_TEST(nothing_is_said_to_a_client_before_its_welcome)
{
        const struct sc_msg early[] = {
                { .kind = SC_MSG_QUERY, .query = { .ticket = 1, .what = SC_QUERY_STATUS, .rows_max = 1 } },
                { .kind = SC_MSG_CANCEL, .cancel = { .task = task(CLIENT, 1) } },
                { .kind = SC_MSG_CANCEL, .cancel = { .task = task(CLIENT, 9) } },
                { .kind = SC_MSG_WANT, .want = { .tasks = 10, .kib = 10 } },
                { .kind = SC_MSG_OUTPUT_ACK, .output_ack = { .task = task(CLIENT, 1), .run = 1 } },
                { .kind = SC_MSG_SUBMIT, .submit = { .task = task(CLIENT, 1), .spec = spec_f() } },
        };
        for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
                const uint64_t run = come_back_too_early();
                say(C2, &early[i]);
                ck_assert(is_closed(C2, SC_E_PROTOCOL));
                for (int kind = 1; kind < 256; kind++)
                        ck_assert_uint_eq(sends(C2, kind), 0);
                done(W, task(CLIENT, 1), run, SC_REASON_CANCELLED);
                ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
                client_up(C3, CLIENT);
                ck_assert_uint_eq(sends(C3, SC_MSG_WELCOME), 1);
                teardown();
        }
}
END_TEST

START_TEST(a_client_back_too_early_is_welcomed_however_its_last_run_ends)
{
        for (int way = 0; way < 4; way++) {
                const uint64_t run = come_back_too_early();
                if (way == 0)
                        done(W, task(CLIENT, 1), run, SC_REASON_SUCCESS);
                else if (way == 1)
                        about(W, SC_MSG_RETURNED, task(CLIENT, 1), run);
                else if (way == 2)
                        down(W);
                else
                        bye(W);
                ck_assert_uint_eq(sent(C2, SC_MSG_WELCOME)->welcome.known_up_to, 0);
                ck_assert_uint_gt(effect(SC_FX_GRANT)->tasks, 0);
                submit(C2, CLIENT, 1);
                ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
                teardown();
        }
}
END_TEST

START_TEST(a_client_that_comes_and_goes_while_it_waits_is_welcomed_once)
{
        const uint64_t run = come_back_too_early();
        down(C2);
        client_up(C3, CLIENT);
        ck_assert(said_nothing());
        client_up(C2 + 10, CLIENT); /* a newer hello */
        ck_assert(is_closed(C3, SC_E_EXISTS));
        ck_assert_uint_eq(sends(C2 + 10, SC_MSG_WELCOME), 0);
        done(W, task(CLIENT, 1), run, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sends(C2 + 10, SC_MSG_WELCOME), 1);
        tick(SC_S);
        ck_assert_uint_eq(sends(C2 + 10, SC_MSG_WELCOME), 0);
        teardown();
}
END_TEST

START_TEST(a_client_with_thousands_of_rows_is_welcomed_when_the_last_is_gone)
{
        setup((struct sc_sched_options){ .client_grace = 20 * SC_S });
        rig.unchecked = true;
        client_up(C, CLIENT);
        want(C, MANY, 1 << 16);
        worker_up(W, WORKER, 4, 300);
        for (uint64_t i = 1; i <= MANY; i++)
                submit(C, CLIENT, i);
        rig.unchecked = false;
        down(C);
        tick(20 * SC_S);
        client_up(C2, CLIENT);
        ck_assert_uint_eq(sends(C2, SC_MSG_WELCOME), 0);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 300);
        down(W);
        uint32_t welcomes = sends(C2, SC_MSG_WELCOME);
        while (sc_sched_deadline(rig.s) <= rig.now) {
                tick(0);
                welcomes += sends(C2, SC_MSG_WELCOME);
        }
        ck_assert_uint_eq(welcomes, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

/* ---- a run that was told to stop -------------------------------------------------------------------*/

START_TEST(a_run_that_was_stopped_for_a_lost_client_does_not_end_the_task_it_submits_again)
{
        pair_up(1, 1);
        submit(C, CLIENT, 1);
        const uint64_t run = run_of(CLIENT, 1);
        down(C);
        tick(60 * SC_S);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        down(W);
        client_up(C2, CLIENT);
        ck_assert_uint_eq(sent(C2, SC_MSG_WELCOME)->welcome.known_up_to, 0);
        submit(C2, CLIENT, 1);
        const struct sc_hold hold = { .task = task(CLIENT, 1), .epoch = EPOCH, .run = run, .flags = SC_HOLD_DONE };
        worker_up_holding(W2, WORKER, 1, 1, &hold, 1);
        done(W2, task(CLIENT, 1), sent(W2, SC_MSG_KEEP)->about.run, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sends(C2, SC_MSG_RESULT), 0);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        done(W2, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(C2, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sent(C2, SC_MSG_RESULT)->result.losses, 0);
        teardown();
}
END_TEST

START_TEST(a_recalled_run_that_nobody_stopped_and_that_says_cancelled_runs_again)
{
        pair_up(1, 4);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        const uint64_t run = run_of(CLIENT, 2);
        worker_up(W2, WORKER + 1, 1, 1);
        ck_assert_uint_eq(sent(W, SC_MSG_RECALL)->about.run, run);
        done(W, task(CLIENT, 2), run, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

/* ---- confirmations that come with submits ------------------------------------------------------------*/

START_TEST(results_that_were_confirmed_make_room_in_the_same_frame)
{
        setup((struct sc_sched_options){ .client_tasks_max = 8 });
        rig.unchecked = true;
        client_up(C, CLIENT);
        worker_up(W, WORKER, 8, 8);
        for (uint64_t i = 1; i <= 8; i++) {
                submit(C, CLIENT, i);
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
        }
        /* Somebody else's holds take all that a step may do. */
        static struct sc_hold holds[SC_HOLDS_MAX];
        for (uint64_t i = 0; i < SC_HOLDS_MAX; i++)
                holds[i] = (struct sc_hold){ .task = task(9, i + 1), .epoch = EPOCH, .run = i + 1 };
        worker_up_holding(W2, WORKER + 1, 1, 1, holds, SC_HOLDS_MAX);
        acked(C, 8);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 8); /* so it is with this one's acknowledgements */
        rig.unchecked = false;
        for (uint64_t i = 9; i <= 16; i++) {
                submit(C, CLIENT, i);
                ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        }
        submit(C, CLIENT, 17);
        ck_assert(is_closed(C, SC_E_FULL));
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 8);
        teardown();
}
END_TEST

START_TEST(ten_thousand_confirmations_and_as_many_submits_come_in_one_frame)
{
        setup((struct sc_sched_options){ .client_tasks_max = MANY });
        rig.unchecked = true;
        client_up(C, CLIENT);
        want(C, MANY, 1 << 16);
        worker_up(W, WORKER, 8, 8);
        for (uint64_t i = 1; i <= MANY; i++) {
                submit(C, CLIENT, i);
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
        }
        acked(C, MANY);
        for (uint64_t i = MANY + 1; i <= 2 * MANY; i++) {
                submit(C, CLIENT, i);
                ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        }
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(results_that_an_old_link_may_have_brought_are_not_granted_twice)
{
        setup((struct sc_sched_options){ .client_tasks_max = 8 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 8, 8);
        for (uint64_t i = 1; i <= 4; i++) {
                submit(C, CLIENT, i);
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
        }
        acked(C, 1);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 0);
        down(C);
        client_up(C2, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 8 - 3);
        acked(C2, 2);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 0);
        acked(C2, 1);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 8);
        teardown();
}
END_TEST

/* ---- limits of time ----------------------------------------------------------------------------------*/

static struct sc_spec limited(void)
{
        struct sc_spec spec = spec_f();
        spec.timeout_ms     = 1000;
        return spec;
}

static void started(sc_link_id link, uint64_t seq)
{
        about(link, SC_MSG_STARTED, task(CLIENT, seq), run_of(CLIENT, seq));
}

START_TEST(two_runs_past_their_limit_close_their_worker_once)
{
        pair_up(2, 2);
        for (uint64_t i = 1; i <= 2; i++) {
                submit_spec(C, CLIENT, i, limited());
                started(W, i);
        }
        tick(16 * SC_S);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 2);
        tick(10 * SC_S);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 1);
        ck_assert(is_closed(W, SC_E_TIMEOUT));
        ck_assert_uint_eq(stats().tasks_ready, 2);
        ck_assert_uint_eq(stats().runs_lost, 2);
        teardown();
}
END_TEST

START_TEST(a_limit_that_ends_while_its_worker_is_being_cleared_means_nothing)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        rig.unchecked = true;
        client_up(C, CLIENT);
        want(C, MANY, 1 << 16);
        worker_up(W, WORKER, 64, MANY);
        for (uint64_t i = 1; i <= MANY; i++) {
                submit_spec(C, CLIENT, i, limited());
                started(W, i);
        }
        down(W);
        ck_assert_uint_gt(stats().tasks_assigned, 0);
        tick(16 * SC_S);
        for (uint32_t i = 0; i < out.len; i++)
                ck_assert(out.at[i].kind != SC_FX_SEND || out.at[i].link != 0);
        settle();
        ck_assert_uint_eq(stats().tasks_ready, MANY);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

/* ---- rest --------------------------------------------------------------------------------------------*/

START_TEST(a_cluster_that_is_evenly_full_wants_no_tick)
{
        pair_up(1, 2);
        worker_up(W2, WORKER + 1, 2, 3);
        for (uint64_t i = 1; i <= 4; i++)
                submit(C, CLIENT, i);
        tick(SC_S);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        down(W2);
        tick(SC_S);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        teardown();
}
END_TEST

START_TEST(a_peer_there_is_no_memory_for_is_told)
{
        for (int role = SC_ROLE_CLIENT; role <= SC_ROLE_ADMIN; role++) {
                for (size_t nth = 1;; nth++) {
                        setup((struct sc_sched_options){ .tasks_max = 0 });
                        const size_t before = rig.fail.blocks;
                        rig.fail.fail_at    = rig.fail.asked + nth;
                        if (role == SC_ROLE_WORKER)
                                worker_up(7, WORKER, 1, 1);
                        else
                                up(7, hello_of((uint8_t)role, CLIENT), 0);
                        const bool refused = is_closed(7, SC_E_NOMEM);
                        ck_assert_uint_eq(sends(7, SC_MSG_WELCOME), !refused);
                        ck_assert_uint_eq(stats().links, !refused);
                        const bool failed = rig.fail.asked >= rig.fail.fail_at;
                        ck_assert_int_eq(refused, failed);
                        ck_assert(failed || rig.fail.blocks > before);
                        teardown();
                        if (!failed)
                                break;
                }
        }
}
END_TEST

START_TEST(a_submit_is_admitted_or_its_client_closed_whichever_allocation_fails)
{
        for (size_t nth = 1;; nth++) {
                setup((struct sc_sched_options){ .tasks_max = 0 });
                client_up(C, CLIENT);
                rig.fail.fail_at = rig.fail.asked + nth;
                struct sc_spec spec = spec_f();
                spec.timeout_ms     = 1000;
                submit_spec(C, CLIENT, 1, spec);
                const bool failed = rig.fail.asked >= rig.fail.fail_at;
                ck_assert_int_eq(is_closed(C, SC_E_NOMEM), failed);
                ck_assert_uint_eq(sc_sched_rows(rig.s), !failed);
                teardown();
                if (!failed)
                        break;
        }
}
END_TEST

START_TEST(orphans_take_no_more_room_than_grants_leave)
{
        static struct sc_hold holds[20];
        for (uint64_t i = 0; i < 20; i++)
                holds[i] = (struct sc_hold){ .task = task(9, i + 1), .epoch = EPOCH - 1, .run = i + 1 };
        setup((struct sc_sched_options){ .tasks_max = 160 });
        client_up(C, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 150);
        worker_up_holding(W, WORKER, 20, 20, holds, 20);
        ck_assert_uint_eq(stats().orphans, 10);
        ck_assert_uint_eq(sends(W, SC_MSG_DROP), 10);
        teardown();
}
END_TEST

START_TEST(whoever_was_not_served_is_served_first_the_next_time)
{
        setup((struct sc_sched_options){ .tasks_max = 160 });
        client_up(10, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 150);
        for (uint64_t i = 1; i <= 4; i++)
                client_up(10 + i, CLIENT + i);
        for (uint32_t left = 149; left >= 146; left--) {
                want(10, left, 1 << 14);
                ck_assert_uint_eq(effects(SC_FX_GRANT), 2);
                for (uint32_t i = 0; i < out.len; i++)
                        ck_assert_uint_eq(out.at[i].link, i == 0 ? 10 : 10 + 150 - left);
        }
        want(10, 145, 1 << 14);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 1); /* nobody waits any more */
        teardown();
}
END_TEST

START_TEST(while_nothing_is_left_to_grant_nobody_is_kept_awake)
{
        setup((struct sc_sched_options){ .tasks_max = 160, .bytes_max = 1 << 16 });
        client_up(10, CLIENT);
        do
                want(10, 150, 64);
        while (effects(SC_FX_GRANT) > 0); /* each time half of what is left */
        for (uint64_t i = 1; i <= 3; i++)
                client_up(10 + i, CLIENT + i);
        want(10, 149, 64);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 2);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        teardown();
}
END_TEST

START_TEST(three_quarters_of_a_grant_in_use_ask_for_more)
{
        setup((struct sc_sched_options){ .tasks_max = 8192 });
        client_up(C, CLIENT);
        client_up(C2, CLIENT + 1);
        want(C2, 7000, 0); /* leaves something to be raised to */
        want(C, 8000, 1 << 14);
        const uint32_t grant = effect(SC_FX_GRANT)->tasks;
        for (uint64_t i = 1; i < grant - grant / 4; i++) {
                submit(C, CLIENT, i);
                ck_assert_uint_eq(effects(SC_FX_GRANT), 0);
        }
        submit(C, CLIENT, grant - grant / 4);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 1);
        teardown();
}
END_TEST

START_TEST(three_quarters_of_the_bytes_in_use_ask_for_more)
{
        static char    body[4096];
        struct sc_spec spec = spec_f();
        spec.body           = (struct sc_view){ body, sizeof body };
        setup((struct sc_sched_options){ .bytes_max = 2 << 20 });
        client_up(C, CLIENT);
        want(C, 1024, 4096);
        const uint32_t kib = effect(SC_FX_GRANT)->kib;
        ck_assert_uint_eq(kib % 16, 0);
        for (uint64_t i = 1; i < kib / 16 * 3; i++) {
                submit_spec(C, CLIENT, i, spec);
                ck_assert_uint_eq(effects(SC_FX_GRANT), 0);
        }
        submit_spec(C, CLIENT, kib / 16 * 3, spec);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 1);
        teardown();
}
END_TEST

START_TEST(above_the_limit_of_bytes_with_no_result_waiting_tasks_are_placed)
{
        static char    body[SC_BODY_MAX];
        struct sc_spec spec = spec_f();
        spec.body           = (struct sc_view){ body, sizeof body };
        setup((struct sc_sched_options){ .bytes_max = SC_BODY_MAX / 2 });
        client_up(C, CLIENT);
        submit_spec(C, CLIENT, 1, spec);
        ck_assert_uint_gt(stats().bytes_used, stats().bytes_max);
        worker_up(W, WORKER, 1, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

/* ---- what is told of workers -------------------------------------------------------------------------*/

static const struct sc_worker_row *worker_row(void)
{
        const struct sc_query_msg query = { .ticket = 1, .what = SC_QUERY_WORKERS, .rows_max = 1 };
        say(A, &(struct sc_msg){ .kind = SC_MSG_QUERY, .query = query });
        return &sent(A, SC_MSG_WORKER_ROW)->worker_row;
}

static uint8_t state_of(uint64_t seq)
{
        const struct sc_query_msg query = { .ticket = 1, .what = SC_QUERY_TASKS, .rows_max = 256 };
        say(A, &(struct sc_msg){ .kind = SC_MSG_QUERY, .query = query });
        for (uint32_t i = 0; i < sends(A, SC_MSG_TASK_ROW); i++) {
                const struct sc_task_row *row = &sent_nth(A, SC_MSG_TASK_ROW, i)->task_row;
                if (row->task.lo == seq)
                        return row->state;
        }
        ck_abort_msg("no such row");
        return 0;
}

START_TEST(tasks_are_told_in_public_words)
{
        setup((struct sc_sched_options){ .losses_max = 1 });
        client_up(C, CLIENT);
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
        worker_up(W, WORKER, 8, 8);
        for (uint64_t i = 1; i <= 6; i++)
                submit(C, CLIENT, i);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        done(W, task(CLIENT, 2), run_of(CLIENT, 2), SC_REASON_TASK);
        cancel(C, task(CLIENT, 3), false);
        ck_assert_uint_eq(state_of(3), SC_PUBLIC_CANCELING);
        ck_assert_uint_eq(state_of(4), SC_PUBLIC_RUNNING);
        down(W);
        submit(C, CLIENT, 7);
        ck_assert_uint_eq(state_of(1), SC_PUBLIC_SUCCESS);
        ck_assert_uint_eq(state_of(2), SC_PUBLIC_FAILED);
        ck_assert_uint_eq(state_of(3), SC_PUBLIC_CANCELED);
        ck_assert_uint_eq(state_of(4), SC_PUBLIC_FAILED_WORKER_DIED);
        ck_assert_uint_eq(state_of(7), SC_PUBLIC_INACTIVE);
        worker_up(W2, WORKER, 1, 3);
        submit(C, CLIENT, 8);
        about(W2, SC_MSG_STARTED, task(CLIENT, 7), run_of(CLIENT, 7));
        worker_up(W, WORKER + 1, 1, 1);
        ck_assert_uint_eq(sends(W2, SC_MSG_RECALL), 1);
        ck_assert_uint_eq(state_of(8), SC_PUBLIC_BALANCE_CANCELING);
        teardown();
}
END_TEST

START_TEST(a_lost_worker_is_noted_with_what_it_had)
{
        pair_up(2, 4);
        for (uint64_t i = 1; i <= 3; i++)
                submit(C, CLIENT, i);
        down(W);
        ck_assert_str_eq(effect(SC_FX_NOTE)->text,
                         "00000000000007d00000000000000000 worker peer lost with 3 runs");
        teardown();
}
END_TEST

START_TEST(a_worker_that_comes_back_is_told_with_what_it_did_and_lost)
{
        pair_up(2, 2);
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
        for (uint64_t i = 1; i <= 4; i++)
                submit(C, CLIENT, i);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        done(W, task(CLIENT, 2), run_of(CLIENT, 2), SC_REASON_TASK);
        ck_assert_uint_eq(worker_row()->lost, 0);
        down(W);
        worker_up(W2, WORKER, 2, 2);
        ck_assert_uint_eq(worker_row()->lost, 2);
        ck_assert_uint_eq(worker_row()->done, 1);
        ck_assert_uint_eq(worker_row()->failed, 1);
        const struct sc_hold hold = { .task = task(CLIENT, 3), .epoch = EPOCH, .run = 3, .flags = SC_HOLD_RUNNING };
        down(W2);
        worker_up_holding(W, WORKER, 2, 2, &hold, 1);
        ck_assert_uint_eq(worker_row()->lost, 4);
        bye(W); /* whoever leaves in order is forgotten */
        worker_up(W2, WORKER, 2, 2);
        ck_assert_uint_eq(worker_row()->lost, 0);
        ck_assert_uint_eq(worker_row()->done, 0);
        teardown();
}
END_TEST

START_TEST(only_so_many_workers_that_are_gone_are_remembered)
{
        pair_up(1, 1);
        rig.unchecked = true;
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
        submit(C, CLIENT, 1);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_TASK);
        acked(C, 1);
        down(W);
        worker_up(W2, WORKER, 1, 0);
        ck_assert_uint_eq(worker_row()->failed, 1);
        down(W2);
        size_t blocks = 0;
        for (uint64_t i = 1; i <= 4096; i++) {
                worker_up(100 + i, WORKER + i, 1, 1);
                submit(C, CLIENT, 1 + i);
                done(100 + i, task(CLIENT, 1 + i), run_of(CLIENT, 1 + i), SC_REASON_TASK);
                acked(C, 1);
                down(100 + i);
                if (i == 2048)
                        blocks = rig.fail.blocks;
                if (i != 1023)
                        continue;
                worker_up(W2, WORKER, 1, 0); /* the last that is remembered */
                ck_assert_uint_eq(worker_row()->failed, 1);
                down(W2);
        }
        ck_assert_uint_eq(rig.fail.blocks, blocks);
        worker_up(W, WORKER, 1, 0);
        ck_assert_uint_eq(worker_row()->failed, 0);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("stands");
        tcase_set_timeout(tests, 60);
        tcase_add_test(tests, nothing_is_said_to_a_client_before_its_welcome);
        tcase_add_test(tests, a_client_back_too_early_is_welcomed_however_its_last_run_ends);
        tcase_add_test(tests, a_client_that_comes_and_goes_while_it_waits_is_welcomed_once);
        tcase_add_test(tests, a_client_with_thousands_of_rows_is_welcomed_when_the_last_is_gone);
        tcase_add_test(tests, a_run_that_was_stopped_for_a_lost_client_does_not_end_the_task_it_submits_again);
        tcase_add_test(tests, a_recalled_run_that_nobody_stopped_and_that_says_cancelled_runs_again);
        tcase_add_test(tests, results_that_were_confirmed_make_room_in_the_same_frame);
        tcase_add_test(tests, ten_thousand_confirmations_and_as_many_submits_come_in_one_frame);
        tcase_add_test(tests, results_that_an_old_link_may_have_brought_are_not_granted_twice);
        tcase_add_test(tests, two_runs_past_their_limit_close_their_worker_once);
        tcase_add_test(tests, a_limit_that_ends_while_its_worker_is_being_cleared_means_nothing);
        tcase_add_test(tests, a_cluster_that_is_evenly_full_wants_no_tick);
        tcase_add_test(tests, a_peer_there_is_no_memory_for_is_told);
        tcase_add_test(tests, a_submit_is_admitted_or_its_client_closed_whichever_allocation_fails);
        tcase_add_test(tests, orphans_take_no_more_room_than_grants_leave);
        tcase_add_test(tests, whoever_was_not_served_is_served_first_the_next_time);
        tcase_add_test(tests, while_nothing_is_left_to_grant_nobody_is_kept_awake);
        tcase_add_test(tests, three_quarters_of_a_grant_in_use_ask_for_more);
        tcase_add_test(tests, three_quarters_of_the_bytes_in_use_ask_for_more);
        tcase_add_test(tests, above_the_limit_of_bytes_with_no_result_waiting_tasks_are_placed);
        tcase_add_test(tests, tasks_are_told_in_public_words);
        tcase_add_test(tests, a_lost_worker_is_noted_with_what_it_had);
        tcase_add_test(tests, a_worker_that_comes_back_is_told_with_what_it_did_and_lost);
        tcase_add_test(tests, only_so_many_workers_that_are_gone_are_remembered);
        return run_tests("sched stands", tests);
}
