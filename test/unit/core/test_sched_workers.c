/* Transcripts of the scheduler's core: losses and last chances, KEEP and DROP, orphans, recall, limits of time. */
#include "test_sched_kit.h"

#include "run_tests.h"

enum { C = 1, W = 2, W2 = 3, W3 = 4 };

static void begin(struct sc_sched_options options)
{
        setup(options);
        client_up(C, CLIENT);
}

static void submit_many(uint64_t from, uint64_t to)
{
        for (uint64_t i = from; i <= to; i++)
                submit(C, CLIENT, i);
}

static void started(sc_link_id link, uint64_t seq)
{
        about(link, SC_MSG_STARTED, task(CLIENT, seq), run_of(CLIENT, seq));
}

static void succeed(sc_link_id link, uint64_t seq)
{
        done(link, task(CLIENT, seq), run_of(CLIENT, seq), SC_REASON_SUCCESS);
}

static struct sc_hold hold_of(uint64_t seq, uint64_t epoch, uint64_t run)
{
        return (struct sc_hold){ .task = task(CLIENT, seq), .epoch = epoch, .run = run, .flags = SC_HOLD_RUNNING };
}

START_TEST(only_what_may_have_been_running_is_charged)
{
        begin((struct sc_sched_options){ .losses_max = 1 });
        worker_up(W, WORKER, 2, 10);
        submit_many(1, 10);
        started(W, 4);
        down(W);
        /* The one reported, and the oldest unreported one for the other slot. */
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 2);
        ck_assert_uint_eq(sent_nth(C, SC_MSG_RESULT, 0)->result.task.lo, 4);
        ck_assert_uint_eq(sent_nth(C, SC_MSG_RESULT, 1)->result.task.lo, 1);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_WORKER_DIED);
        ck_assert_uint_eq(stats().runs_lost, 2);
        ck_assert_uint_eq(stats().tasks_ready, 8);
        teardown();
}
END_TEST

START_TEST(attempts_are_runs_made)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 1, 3);
        submit_many(1, 3);
        started(W, 1);
        about(W, SC_MSG_RETURNED, task(CLIENT, 3), run_of(CLIENT, 3));
        down(W);
        worker_up(W2, WORKER + 1, 1, 4);
        for (uint32_t i = 0; i < 3; i++) {
                const struct sc_assign *assign = &sent_nth(W2, SC_MSG_ASSIGN, i)->assign;
                ck_assert_uint_eq(assign->attempt, assign->task.lo == 1 ? 2 : 1);
        }
        teardown();
}
END_TEST

START_TEST(what_a_lost_worker_had_regains_its_old_place)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 1, 4);
        submit_many(1, 8);
        down(W);
        worker_up(W2, WORKER + 1, 1, 8);
        for (uint32_t i = 0; i < 8; i++)
                ck_assert_uint_eq(sent_nth(W2, SC_MSG_ASSIGN, i)->assign.task.lo, i + 1);
        ck_assert_uint_eq(sent_nth(W2, SC_MSG_ASSIGN, 0)->assign.attempt, 2);
        ck_assert_uint_eq(sent_nth(W2, SC_MSG_ASSIGN, 7)->assign.attempt, 1);
        teardown();
}
END_TEST

START_TEST(an_orderly_leave_charges_nobody)
{
        begin((struct sc_sched_options){ .losses_max = 1 });
        worker_up(W, WORKER, 2, 4);
        submit_many(1, 4);
        started(W, 1);
        bye(W);
        ck_assert_uint_eq(stats().runs_lost, 0);
        ck_assert_uint_eq(stats().tasks_ready, 4);
        ck_assert_uint_eq(warnings(), 0);
        down(W);
        ck_assert(said_nothing());
        teardown();
}
END_TEST

START_TEST(the_third_loss_ends_a_task_with_evidence)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        submit(C, CLIENT, 1);
        for (uint64_t i = 0; i < 3; i++) {
                worker_up(W + i, WORKER + i, 1, 1);
                ck_assert_uint_eq(sent(W + i, SC_MSG_ASSIGN)->assign.attempt, i + 1);
                down(W + i);
                ck_assert_uint_eq(sends(C, SC_MSG_RESULT), i == 2);
        }
        const struct sc_result *r = &sent(C, SC_MSG_RESULT)->result;
        ck_assert_uint_eq(r->outcome.reason, SC_REASON_WORKER_DIED);
        ck_assert_uint_eq(r->losses, 3);
        ck_assert_uint_eq(r->worker, WORKER + 2);
        ck_assert_str_eq(text_of(r->outcome.text), "3 of 3 runs lost their worker; last: peer");
        ck_assert_uint_eq(warnings(), 2);
        teardown();
}
END_TEST

START_TEST(the_last_chance_is_had_alone)
{
        begin((struct sc_sched_options){ .losses_max = 2 });
        submit(C, CLIENT, 1);
        worker_up(W, WORKER, 2, 8);
        down(W);
        submit_many(2, 9);
        worker_up(W2, WORKER + 1, 2, 8);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 1);
        submit(C, CLIENT, 10);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        succeed(W2, 1);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 8);
        teardown();
}
END_TEST

START_TEST(a_busy_worker_is_emptied_for_a_last_chance)
{
        begin((struct sc_sched_options){ .losses_max = 2 });
        worker_up(W, WORKER, 1, 1);
        worker_up(W2, WORKER + 1, 1, 2);
        submit_many(1, 5);
        uint32_t held = 0;
        for (uint64_t i = 1; i <= 5; i++)
                held += run_of(CLIENT, i) != 0;
        ck_assert_uint_eq(held, 3);
        down(W); /* task 1 has one loss; only W2 is there, and it is busy */
        ck_assert_uint_eq(stats().tasks_ready, 3);
        succeed(W2, 2);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        succeed(W2, 3);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 1);
        succeed(W2, 1);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 2);
        teardown();
}
END_TEST

/* Everybody's worker dies as soon as a poison task is among its first two runs. */
START_TEST(poison_tasks_never_end_another_one)
{
        static bool poison[54], ended[54];
        memset(ended, 0, sizeof ended);
        begin((struct sc_sched_options){ .tasks_max = 0 });
        poison[7] = poison[23] = poison[24] = true;
        submit_many(1, 53);
        uint32_t done_count = 0;
        for (uint64_t round = 0; done_count < 53; round++) {
                ck_assert_uint_lt(round, 100);
                sc_link_id link = 10 + round;
                uint64_t   queue[600];
                uint32_t   head = 0, tail = 0;
                worker_up(link, WORKER + round, 2, 6);
                for (bool alive = true; alive;) {
                        for (uint32_t i = 0; i < out.len; i++) {
                                if (out.at[i].kind != SC_FX_SEND)
                                        continue;
                                if (out.at[i].msg.kind == SC_MSG_ASSIGN)
                                        queue[tail++] = out.at[i].msg.assign.task.lo;
                                if (out.at[i].msg.kind != SC_MSG_RESULT)
                                        continue;
                                const struct sc_result *r = &out.at[i].msg.result;
                                ck_assert(!ended[r->task.lo]);
                                ck_assert_uint_eq(r->outcome.reason == SC_REASON_WORKER_DIED, poison[r->task.lo]);
                                ended[r->task.lo] = true;
                                done_count++;
                        }
                        if (head == tail)
                                break;
                        uint64_t first = queue[head], second = head + 1 < tail ? queue[head + 1] : 0;
                        if (poison[first] || poison[second]) {
                                down(link);
                                alive = false;
                                for (uint32_t i = 0; i < out.len; i++) {
                                        if (out.at[i].kind != SC_FX_SEND || out.at[i].msg.kind != SC_MSG_RESULT)
                                                continue;
                                        ck_assert(poison[out.at[i].msg.result.task.lo]);
                                        ended[out.at[i].msg.result.task.lo] = true;
                                        done_count++;
                                }
                        } else {
                                head++;
                                succeed(link, first);
                        }
                }
                if (done_count < 53 && head == tail)
                        down(link);
        }
        teardown();
}
END_TEST

START_TEST(a_lost_worker_with_thousands_of_runs_is_cleared_in_bounded_steps)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        rig.unchecked = true;
        worker_up(W, WORKER, 1024, 20000);
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 20000, .kib = 1 << 16 } });
        submit_many(1, 10000);
        ck_assert_uint_eq(stats().tasks_assigned, 10000);
        down(W);
        sc_sched_check(rig.s);
        ck_assert_uint_ge(stats().tasks_assigned, 5000);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now);
        worker_up(W2, WORKER, 2, 10); /* the same peer, before all is cleared */
        uint32_t steps = settle();
        ck_assert_uint_ge(steps, 1);
        ck_assert_uint_eq(stats().tasks_ready, 10000 - 10);
        ck_assert_uint_eq(stats().runs_lost, 1024);
        sc_sched_check(rig.s);
        /* And a bye with all of them, likewise. */
        bye(C);
        ck_assert_uint_le(out.len, SC_EFFECTS_MAX);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 10);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

/* ---- KEEP and DROP -----------------------------------------------------------------------------*/

START_TEST(a_run_kept_over_a_break_is_kept_and_not_charged)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 2, 4);
        submit_many(1, 2);
        uint64_t run = run_of(CLIENT, 1);
        started(W, 1);
        down(W);
        ck_assert_uint_eq(stats().runs_lost, 2);
        const struct sc_hold holds[] = { hold_of(1, EPOCH, run), hold_of(9, EPOCH, 70), hold_of(1, EPOCH, run) };
        worker_up_holding(W2, WORKER, 2, 4, holds, 3);
        ck_assert_uint_eq(sends(W2, SC_MSG_KEEP), 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_KEEP)->about.run, run);
        ck_assert_uint_eq(sent(W2, SC_MSG_KEEP)->about.held_run, run);
        ck_assert_uint_eq(sent(W2, SC_MSG_KEEP)->about.held_epoch, EPOCH);
        ck_assert_uint_eq(sends(W2, SC_MSG_DROP), 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_DROP)->about.held_run, 70);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 2);
        succeed(W2, 1);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.losses, 0);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 1);
        teardown();
}
END_TEST

START_TEST(a_run_whose_failure_was_counted_is_not_kept_to_fail_again)
{
        for (uint32_t assigned_again = 0; assigned_again < 2; assigned_again++) {
                begin((struct sc_sched_options){ .tasks_max = 0 });
                worker_up(W, WORKER, 1, 1);
                struct sc_spec spec = spec_f();
                spec.retries        = 2;
                submit_spec(C, CLIENT, 1, spec);
                uint64_t run = run_of(CLIENT, 1);
                if (!assigned_again) /* no room for it after its end */
                        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W });
                done(W, task(CLIENT, 1), run, SC_REASON_TASK);
                down(W); /* before the worker knew that its DONE had arrived */
                struct sc_hold hold = hold_of(1, EPOCH, run);
                hold.flags          = SC_HOLD_DONE;
                worker_up_holding(W2, WORKER, 1, 1, &hold, 1);
                ck_assert_uint_eq(sends(W2, SC_MSG_KEEP), 0);
                ck_assert_uint_eq(sends(W2, SC_MSG_DROP), 1);
                for (uint32_t tries = 2; tries <= 3; tries++) {
                        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
                        done(W2, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_TASK);
                }
                ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
                teardown();
        }
}
END_TEST

START_TEST(a_run_that_was_given_to_another_worker_is_dropped)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        uint64_t run = run_of(CLIENT, 1);
        worker_up(W2, WORKER + 1, 1, 1);
        down(W);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        const struct sc_hold hold = hold_of(1, EPOCH, run);
        worker_up_holding(W3, WORKER, 1, 1, &hold, 1);
        ck_assert_uint_eq(sends(W3, SC_MSG_DROP), 1);
        done(W3, task(CLIENT, 1), run, SC_REASON_SUCCESS);
        ck_assert_uint_eq(stats().stale_dropped, 1);
        teardown();
}
END_TEST

START_TEST(a_newer_hello_closes_the_older_link_first)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        uint64_t             run  = run_of(CLIENT, 1);
        const struct sc_hold hold = hold_of(1, EPOCH, run);
        worker_up_holding(W2, WORKER, 1, 1, &hold, 1);
        ck_assert(is_closed(W, SC_E_EXISTS));
        ck_assert_uint_eq(sent(W2, SC_MSG_KEEP)->about.run, run);
        done(W, task(CLIENT, 1), run, SC_REASON_SUCCESS);
        ck_assert(said_nothing());
        succeed(W2, 1);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        teardown();
}
END_TEST

START_TEST(an_orphan_is_adopted_when_its_client_resubmits)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        const struct sc_hold holds[] = { hold_of(3, EPOCH - 1, 55), hold_of(4, EPOCH - 1, 56) };
        worker_up_holding(W, WORKER, 2, 2, holds, 2);
        ck_assert_uint_eq(sends(W, SC_MSG_KEEP) + sends(W, SC_MSG_DROP), 0);
        ck_assert_uint_eq(stats().orphans, 2);
        client_up(C, CLIENT);
        submit(C, CLIENT, 3);
        const struct sc_about_run *keep = &sent(W, SC_MSG_KEEP)->about;
        ck_assert_uint_eq(keep->held_epoch, EPOCH - 1);
        ck_assert_uint_eq(keep->held_run, 55);
        ck_assert_uint_eq(keep->run, run_of(CLIENT, 3));
        done(W, task(CLIENT, 3), 55, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), keep->run == 55);
        succeed(W, 3);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        /* Nobody claims the other one. */
        tick(60 * SC_S);
        ck_assert_uint_eq(sent(W, SC_MSG_DROP)->about.held_run, 56);
        ck_assert_uint_eq(stats().orphans, 0);
        teardown();
}
END_TEST

START_TEST(a_worker_claims_what_was_resubmitted_before_it_came)
{
        setup((struct sc_sched_options){ .claim_delay = 11 * SC_S });
        client_up(C, CLIENT);
        struct sc_spec spec = spec_f();
        spec.flags          = SC_SPEC_RESUBMITTED;
        submit_spec(C, CLIENT, 3, spec);
        worker_up(W, WORKER, 1, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        const struct sc_hold hold = hold_of(3, EPOCH - 1, 55);
        worker_up_holding(W2, WORKER + 1, 1, 1, &hold, 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_KEEP)->about.run, run_of(CLIENT, 3));
        succeed(W2, 3);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.worker, WORKER + 1);
        teardown();
}
END_TEST

START_TEST(an_orphan_goes_with_its_worker)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        const struct sc_hold hold = hold_of(3, EPOCH - 1, 55);
        worker_up_holding(W, WORKER, 2, 2, &hold, 1);
        down(W);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(four_thousand_holds_are_answered_in_bounded_steps)
{
        static struct sc_hold holds[SC_HOLDS_MAX];
        setup((struct sc_sched_options){ .tasks_max = 0 });
        for (uint64_t i = 0; i < SC_HOLDS_MAX; i++)
                holds[i] = hold_of(i + 1, EPOCH, i + 1);
        worker_up_holding(W, WORKER, 4, 4, holds, SC_HOLDS_MAX);
        uint32_t drops = sends(W, SC_MSG_DROP);
        ck_assert_uint_lt(drops, SC_EFFECTS_MAX);
        while (sc_sched_deadline(rig.s) <= rig.now) {
                tick(0);
                drops += sends(W, SC_MSG_DROP);
        }
        ck_assert_uint_eq(drops, SC_HOLDS_MAX);
        teardown();
}
END_TEST

/* ---- recall ------------------------------------------------------------------------------------*/

START_TEST(an_idle_worker_gets_what_another_has_queued_newest_first)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 1, 6);
        submit_many(1, 6);
        started(W, 1);
        worker_up(W2, WORKER + 1, 2, 6);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 2);
        ck_assert_uint_eq(sent_nth(W, SC_MSG_RECALL, 0)->about.task.lo, 6);
        ck_assert_uint_eq(sent_nth(W, SC_MSG_RECALL, 1)->about.task.lo, 5);
        tick(SC_MS * 2);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 0);
        uint64_t run = run_of(CLIENT, 6);
        about(W, SC_MSG_RETURNED, task(CLIENT, 6), run);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 6);
        ck_assert_uint_gt(sent(W2, SC_MSG_ASSIGN)->assign.run, run);
        /* The other one had begun already. */
        started(W, 5);
        ck_assert_uint_eq(stats().tasks_assigned, 6);
        succeed(W, 5);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        teardown();
}
END_TEST

START_TEST(a_recalled_run_whose_worker_is_lost_is_not_charged)
{
        begin((struct sc_sched_options){ .losses_max = 1 });
        worker_up(W, WORKER, 1, 2);
        submit_many(1, 2);
        started(W, 1);
        worker_up(W2, WORKER + 1, 1, 2);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 1);
        down(W);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.task.lo, 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 2);
        ck_assert_uint_eq(stats().runs_lost, 1);
        teardown();
}
END_TEST

START_TEST(a_recalled_run_can_be_cancelled_and_can_end)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 1, 3);
        submit_many(1, 3);
        started(W, 1);
        worker_up(W2, WORKER + 1, 2, 2);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 2);
        cancel(C, task(CLIENT, 3), false);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 1);
        about(W, SC_MSG_RETURNED, task(CLIENT, 3), run_of(CLIENT, 3));
        ck_assert_uint_eq(sent(C, SC_MSG_CONFIRM)->confirm.outcome, SC_CANCEL_CANCELED);
        succeed(W, 2);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        teardown();
}
END_TEST

START_TEST(a_task_is_recalled_at_most_once_a_second)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 1, 2);
        submit_many(1, 2);
        started(W, 1);
        worker_up(W2, WORKER + 1, 1, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 1);
        started(W, 2);
        tick(10 * SC_MS);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 0);
        bye(W2);
        teardown();
}
END_TEST

static void credit(sc_link_id link, uint32_t tasks)
{
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = link, .tasks = tasks });
}

START_TEST(a_task_that_comes_back_to_the_queue_it_was_recalled_from_rests_there)
{
        static const sc_ns ages[] = { 0, 49 * 86400 * SC_S, 50 * 86400 * SC_S, ((INT64_C(1) << 32) - 1) * SC_MS };
        for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
                begin((struct sc_sched_options){ .tasks_max = 0 });
                tick(ages[i] > 10 * SC_S ? ages[i] - 10 * SC_S : 0);
                worker_up(W, WORKER, 1, 2);
                submit_many(1, 2);
                started(W, 1);
                worker_up(W2, WORKER + 1, 1, 1);
                ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 1);
                credit(W2, 0);
                about(W, SC_MSG_RETURNED, task(CLIENT, 2), run_of(CLIENT, 2));
                ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
                credit(W2, 1);
                tick(10 * SC_MS);
                ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 0);
                tick(SC_S);
                ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 1);
                teardown();
        }
}
END_TEST

/* ---- limits of time ----------------------------------------------------------------------------*/

START_TEST(a_run_past_its_limit_is_killed_and_then_its_worker_closed)
{
        begin((struct sc_sched_options){ .losses_max = 1 });
        worker_up(W, WORKER, 1, 2);
        struct sc_spec spec = spec_f();
        spec.timeout_ms     = 1000;
        submit_spec(C, CLIENT, 1, spec);
        submit_spec(C, CLIENT, 2, spec);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.spec.timeout_ms, 1000);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        started(W, 1);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now + 16 * SC_S);
        tick(16 * SC_S);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now + 10 * SC_S);
        tick(10 * SC_S);
        ck_assert(is_closed(W, SC_E_TIMEOUT));
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_WORKER_DIED);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        teardown();
}
END_TEST

START_TEST(a_run_stopped_by_the_backstop_ran_out_of_time)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 1, 2);
        struct sc_spec spec = spec_f();
        spec.timeout_ms     = 1000;
        submit_spec(C, CLIENT, 1, spec);
        started(W, 1);
        tick(16 * SC_S);
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_RUN_TIMEOUT);
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
        teardown();
}
END_TEST

START_TEST(an_outcome_out_of_bounds_closes_the_worker)
{
        static char             bytes[SC_RESULT_MAX + 1];
        const struct sc_outcome wrong[] = {
                { .reason = SC_REASONS },
                { .how = SC_HOWS },
                { .text = { bytes, SC_TEXT_MAX + 1 } },
                { .result = { bytes, SC_RESULT_MAX + 1 } },
                { .errors = { bytes, SC_RESULT_MAX + 1 } },
        };
        const struct sc_outcome most = {
                .reason = SC_REASONS - 1, .how = SC_HOWS - 1, .text = { bytes, SC_TEXT_MAX },
                .result = { bytes, SC_RESULT_MAX }, .errors = { bytes, SC_RESULT_MAX },
        };
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                begin((struct sc_sched_options){ .tasks_max = 0 });
                worker_up(W, WORKER, 1, 1);
                submit(C, CLIENT, 1);
                done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), wrong[i]);
                ck_assert(is_closed(W, SC_E_PROTOCOL));
                ck_assert_uint_eq(stats().workers, 0);
                ck_assert_uint_eq(stats().tasks_ready, 1);
                worker_up(W2, WORKER, 1, 1);
                done_as(W2, task(CLIENT, 1), run_of(CLIENT, 1), most);
                ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
                teardown();
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("workers");
        tcase_add_test(tests, only_what_may_have_been_running_is_charged);
        tcase_add_test(tests, attempts_are_runs_made);
        tcase_add_test(tests, what_a_lost_worker_had_regains_its_old_place);
        tcase_add_test(tests, an_orderly_leave_charges_nobody);
        tcase_add_test(tests, the_third_loss_ends_a_task_with_evidence);
        tcase_add_test(tests, the_last_chance_is_had_alone);
        tcase_add_test(tests, a_busy_worker_is_emptied_for_a_last_chance);
        tcase_add_test(tests, poison_tasks_never_end_another_one);
        tcase_add_test(tests, a_lost_worker_with_thousands_of_runs_is_cleared_in_bounded_steps);
        tcase_add_test(tests, a_run_kept_over_a_break_is_kept_and_not_charged);
        tcase_add_test(tests, a_run_whose_failure_was_counted_is_not_kept_to_fail_again);
        tcase_add_test(tests, a_run_that_was_given_to_another_worker_is_dropped);
        tcase_add_test(tests, a_newer_hello_closes_the_older_link_first);
        tcase_add_test(tests, an_orphan_is_adopted_when_its_client_resubmits);
        tcase_add_test(tests, a_worker_claims_what_was_resubmitted_before_it_came);
        tcase_add_test(tests, an_orphan_goes_with_its_worker);
        tcase_add_test(tests, four_thousand_holds_are_answered_in_bounded_steps);
        tcase_add_test(tests, an_idle_worker_gets_what_another_has_queued_newest_first);
        tcase_add_test(tests, a_recalled_run_whose_worker_is_lost_is_not_charged);
        tcase_add_test(tests, a_recalled_run_can_be_cancelled_and_can_end);
        tcase_add_test(tests, a_task_is_recalled_at_most_once_a_second);
        tcase_add_test(tests, a_task_that_comes_back_to_the_queue_it_was_recalled_from_rests_there);
        tcase_add_test(tests, a_run_past_its_limit_is_killed_and_then_its_worker_closed);
        tcase_add_test(tests, a_run_stopped_by_the_backstop_ran_out_of_time);
        tcase_add_test(tests, an_outcome_out_of_bounds_closes_the_worker);
        return run_tests("sched workers", tests);
}
