/* Transcripts of the scheduler's core: tasks that runs submit, and runs that wait for them. */
#include "test_sched_kit.h"

#include "after.h"
#include "run_tests.h"

enum { C = 1, W = 2, N = 3, W2 = 4, N2 = 5, A = 6, W3 = 7 };

static struct sc_plan plan;
static uint8_t        parent_of[SC_PARENT_SIZE];

static struct sc_spec needing(const char *needs)
{
        struct sc_spec spec = spec_f();
        plan                = (struct sc_plan){ .needs = { needs, strlen(needs) } };
        spec.plan           = &plan;
        return spec;
}

static struct sc_spec child_of(struct sc_id parent, uint64_t run, const char *needs)
{
        struct sc_spec spec = needing(needs);
        sc_after_put(parent_of, 0, parent.hi);
        sc_after_put(parent_of, 1, parent.lo);
        plan.parent     = (struct sc_view){ parent_of, SC_PARENT_SIZE };
        plan.parent_run = run;
        return spec;
}

/* The tasks of the worker submit as a client with its id. */
static void submit_child(uint64_t seq, struct sc_id parent)
{
        submit_spec(N, WORKER, seq, child_of(parent, sc_sched_run_of(rig.s, parent), ""));
}

static void submit_child_needing(uint64_t seq, struct sc_id parent, const char *needs)
{
        submit_spec(N, WORKER, seq, child_of(parent, sc_sched_run_of(rig.s, parent), needs));
}

static void offering(sc_link_id link, uint64_t id, uint32_t slots, uint32_t credit, const char *offers)
{
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, id);
        hello.slots = hello.free_slots = slots;
        hello.functions      = functions_fg;
        hello.function_count = 2;
        hello.offers         = (struct sc_view){ offers, strlen(offers) };
        up(link, hello, credit);
}

static void begin_with(struct sc_sched_options options, uint32_t slots, uint32_t credit, const char *offers)
{
        setup(options);
        client_up(C, CLIENT);
        offering(W, WORKER, slots, credit, offers);
        client_up(N, WORKER);
}

static void begin(uint32_t slots, uint32_t credit)
{
        begin_with((struct sc_sched_options){ .tasks_max = 0 }, slots, credit, "");
}

static struct sc_id root(void)
{
        return task(CLIENT, 1);
}

static struct sc_id kid(uint64_t seq)
{
        return task(WORKER, seq);
}

static void waits(sc_link_id link, struct sc_id id)
{
        about(link, SC_MSG_WAITING, id, sc_sched_run_of(rig.s, id));
}

static void resumes(sc_link_id link, struct sc_id id)
{
        about(link, SC_MSG_RESUMED, id, sc_sched_run_of(rig.s, id));
}

static void succeed(sc_link_id link, struct sc_id id)
{
        done(link, id, sc_sched_run_of(rig.s, id), SC_REASON_SUCCESS);
}

static bool is_assigned(sc_link_id link, struct sc_id id)
{
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_effect *e = &out.at[i];
                if (e->kind == SC_FX_SEND && e->link == link && e->msg.kind == SC_MSG_ASSIGN &&
                    sc_id_equal(e->msg.assign.task, id))
                        return true;
        }
        return false;
}

static uint8_t reason_sent(sc_link_id link, struct sc_id id)
{
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_effect *e = &out.at[i];
                if (e->kind == SC_FX_SEND && e->link == link && e->msg.kind == SC_MSG_RESULT &&
                    sc_id_equal(e->msg.result.task, id))
                        return e->msg.result.outcome.reason;
        }
        return SC_REASONS;
}

START_TEST(who_waits_makes_room_for_what_it_waits_for)
{
        begin(1, 1);
        submit(C, CLIENT, 1);
        submit_child(1, root());
        ck_assert(!is_assigned(W, kid(1)));
        waits(W, root());
        ck_assert(is_assigned(W, kid(1)));
        succeed(W, kid(1));
        ck_assert_uint_eq(reason_sent(N, kid(1)), SC_REASON_SUCCESS);
        submit(C, CLIENT, 2);
        ck_assert(is_assigned(W, task(CLIENT, 2))); /* it has not said that it goes on */
        resumes(W, root());
        succeed(W, root());
        ck_assert_uint_eq(reason_sent(C, root()), SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(deeper_ones_go_before_their_elders)
{
        begin(1, 1);
        for (uint64_t seq = 1; seq <= 3; seq++)
                submit(C, CLIENT, seq);
        submit_child(1, root());
        waits(W, root());
        ck_assert(is_assigned(W, kid(1)));
        submit_child(2, root());
        submit_child(3, kid(1));
        waits(W, kid(1));
        ck_assert(is_assigned(W, kid(3)));
        succeed(W, kid(3));
        ck_assert(is_assigned(W, kid(2)));
        teardown();
}
END_TEST

START_TEST(what_a_run_has_submitted_is_cancelled_when_it_ends)
{
        begin(1, 2);
        submit(C, CLIENT, 1);
        submit_child(1, root()); /* behind it */
        submit_child(2, root());
        ck_assert(!is_assigned(W, kid(2)));
        succeed(W, root());
        ck_assert_uint_eq(reason_sent(N, kid(2)), SC_REASON_CANCELLED);
        ck_assert_str_eq(text_of(sent(N, SC_MSG_RESULT)->result.outcome.text),
                         "cancelled: the run that submitted it is over");
        ck_assert_uint_eq(sent(W, SC_MSG_STOP)->about.task.hi, WORKER);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        about(W, SC_MSG_RETURNED, kid(1), sc_sched_run_of(rig.s, kid(1)));
        ck_assert_uint_eq(reason_sent(N, kid(1)), SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(it_is_asked_to_stop_when_the_run_is_and_killed_when_it_has_ended)
{
        begin(2, 2);
        submit(C, CLIENT, 1);
        submit_child(1, root());
        waits(W, root());
        cancel(C, root(), false);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 2);
        ck_assert(!sent_nth(W, SC_MSG_STOP, 1)->about.force);
        done(W, root(), sc_sched_run_of(rig.s, root()), SC_REASON_CANCELLED);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        ck_assert(sc_id_equal(sent(W, SC_MSG_STOP)->about.task, kid(1)));
        teardown();
}
END_TEST

START_TEST(a_run_that_is_over_submits_nothing)
{
        begin(1, 1);
        submit(C, CLIENT, 1);
        const uint64_t run = run_of(CLIENT, 1);
        submit_spec(N, WORKER, 1, child_of(root(), run + 1, "")); /* never was */
        ck_assert_uint_eq(reason_sent(N, kid(1)), SC_REASON_CANCELLED);
        submit_spec(N, WORKER, 2, child_of(task(CLIENT, 9), 1, ""));
        ck_assert_uint_eq(reason_sent(N, kid(2)), SC_REASON_CANCELLED);
        succeed(W, root());
        submit_spec(N, WORKER, 3, child_of(root(), run, ""));
        ck_assert_uint_eq(reason_sent(N, kid(3)), SC_REASON_CANCELLED);
        submit(C, CLIENT, 2);
        cancel(C, task(CLIENT, 2), false);
        submit_child(4, task(CLIENT, 2));
        ck_assert_uint_eq(reason_sent(N, kid(4)), SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(nobody_submits_for_the_run_of_another_worker)
{
        begin(1, 1);
        submit(C, CLIENT, 1);
        client_up(N2, WORKER + 1);
        submit_spec(N2, WORKER + 1, 1, child_of(root(), run_of(CLIENT, 1), ""));
        ck_assert_uint_eq(reason_sent(N2, task(WORKER + 1, 1)), SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(limits_of_its_owner_do_not_lock_it_out)
{
        struct sc_hello hello = hello_of(SC_ROLE_CLIENT, CLIENT);
        setup((struct sc_sched_options){ .tasks_max = 0 });
        hello.running_max = 1;
        up(C, hello, 0);
        worker_up(W, WORKER, 4, 4);
        client_up(N, WORKER);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        submit_child(1, root());
        submit_child(2, root());
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0); /* its owner has one running */
        waits(W, root());
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        ck_assert(is_assigned(W, kid(1)));
        succeed(W, kid(1));
        ck_assert(is_assigned(W, kid(2)));
        resumes(W, root());
        succeed(W, kid(2));
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        succeed(W, root());
        ck_assert(is_assigned(W, task(CLIENT, 2)));
        teardown();
}
END_TEST

START_TEST(a_run_that_is_kept_keeps_what_it_has_submitted)
{
        begin(1, 1);
        submit(C, CLIENT, 1);
        submit_child(1, root());
        waits(W, root());
        const struct sc_hold holds[] = {
                { root(), EPOCH, run_of(CLIENT, 1), SC_HOLD_RUNNING | SC_HOLD_WAITING },
                { kid(1), EPOCH, run_of(WORKER, 1), SC_HOLD_RUNNING },
        };
        down(W);
        submit_child(2, root()); /* over its own link, which is up */
        ck_assert_uint_eq(sends(N, SC_MSG_RESULT), 0);
        worker_up_holding(W2, WORKER, 1, 1, holds, 2);
        ck_assert_uint_eq(sends(W2, SC_MSG_KEEP), 2);
        ck_assert_uint_eq(sends(N, SC_MSG_RESULT), 0);
        succeed(W2, kid(1));
        ck_assert(is_assigned(W2, kid(2))); /* so it is known to wait */
        succeed(W2, root());
        ck_assert(sc_id_equal(sent(W2, SC_MSG_STOP)->about.task, kid(2)));
        teardown();
}
END_TEST

START_TEST(a_run_that_is_made_again_loses_it)
{
        begin(1, 1);
        submit(C, CLIENT, 1);
        submit_child(1, root());
        submit_child(2, root());
        down(W);
        offering(W2, WORKER + 1, 3, 3, "");
        ck_assert(is_assigned(W2, root()));
        settle();
        ck_assert_uint_eq(sends(W2, SC_MSG_STOP), 2);
        done(W2, kid(1), run_of(WORKER, 1), SC_REASON_CANCELLED);
        ck_assert_uint_eq(reason_sent(N, kid(1)), SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(a_run_that_waits_for_nothing_there_is_nobodys_end)
{
        begin(1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        submit_child(1, root());
        waits(W, root());
        succeed(W, kid(1));
        ck_assert(is_assigned(W, task(CLIENT, 2)));
        about(W, SC_MSG_STARTED, task(CLIENT, 2), run_of(CLIENT, 2));
        down(W);
        ck_assert_uint_eq(stats().runs_lost, 1);
        teardown();
}
END_TEST

/* Or it would submit the same again, for ever. */
START_TEST(a_run_that_waits_for_what_kills_its_worker_is_as_suspect)
{
        for (int reported = 0; reported < 2; reported++) {
                begin_with((struct sc_sched_options){ .losses_max = 1 }, 1, 1, "");
                submit(C, CLIENT, 1);
                submit_child(1, root());
                waits(W, root());
                submit_child(2, kid(1));
                waits(W, kid(1));
                ck_assert(is_assigned(W, kid(2)));
                if (reported)
                        about(W, SC_MSG_STARTED, kid(2), run_of(WORKER, 2));
                down(W);
                settle();
                ck_assert_uint_eq(stats().runs_lost, 3);
                ck_assert_uint_eq(reason_sent(C, root()), SC_REASON_WORKER_DIED);
                teardown();
        }
}
END_TEST

START_TEST(an_orderly_leave_takes_it_along)
{
        begin(1, 1);
        submit(C, CLIENT, 1);
        submit_child(1, root());
        bye(W);
        settle();
        ck_assert_uint_eq(stats().tasks_cancelled, 1);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        teardown();
}
END_TEST

static void begin_epoch(void)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        rig.now -= 10 * SC_S; /* its first second */
        client_up(C, CLIENT);
        client_up(N, WORKER);
}

static struct sc_spec again(struct sc_spec spec)
{
        spec.flags |= SC_SPEC_RESUBMITTED;
        return spec;
}

START_TEST(after_a_restart_it_waits_for_its_run_to_be_claimed)
{
        begin_epoch();
        submit_spec(N, WORKER, 1, again(child_of(root(), 44, "")));
        submit_spec(N, WORKER, 2, again(child_of(task(CLIENT, 2), 45, "")));
        ck_assert_uint_eq(sends(N, SC_MSG_RESULT), 0);
        const struct sc_hold holds[] = { { root(), 9, 44, SC_HOLD_RUNNING | SC_HOLD_WAITING } };
        worker_up_holding(W, WORKER, 1, 1, holds, 1);
        submit_spec(C, CLIENT, 1, again(spec_f()));
        ck_assert_uint_eq(sends(W, SC_MSG_KEEP), 1);
        tick(SC_S);
        ck_assert_uint_eq(reason_sent(N, kid(2)), SC_REASON_CANCELLED); /* nobody has its run */
        ck_assert(is_assigned(W, kid(1)));
        succeed(W, kid(1));
        ck_assert_uint_eq(reason_sent(N, kid(1)), SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(after_a_restart_it_may_be_claimed_before_its_parent)
{
        begin_epoch();
        const struct sc_hold holds[] = { { root(), 9, 44, SC_HOLD_RUNNING | SC_HOLD_WAITING },
                                         { kid(1), 9, 45, SC_HOLD_RUNNING } };
        worker_up_holding(W, WORKER, 1, 1, holds, 2);
        submit_spec(N, WORKER, 1, again(child_of(root(), 44, "")));
        ck_assert(sc_id_equal(sent(W, SC_MSG_KEEP)->about.task, kid(1)));
        submit_spec(C, CLIENT, 1, again(spec_f()));
        ck_assert(sc_id_equal(sent(W, SC_MSG_KEEP)->about.task, root()));
        succeed(W, kid(1));
        resumes(W, root());
        succeed(W, root());
        ck_assert_uint_eq(reason_sent(C, root()), SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(an_orphan_that_nobody_claims_takes_it_along)
{
        setup((struct sc_sched_options){ .client_grace = 2 * SC_S });
        rig.now -= 10 * SC_S;
        client_up(N, WORKER);
        const struct sc_hold holds[] = { { root(), 9, 44, SC_HOLD_RUNNING | SC_HOLD_WAITING } };
        worker_up_holding(W, WORKER, 1, 1, holds, 1);
        submit_spec(N, WORKER, 1, again(child_of(root(), 44, "")));
        tick(SC_S);
        ck_assert(is_assigned(W, kid(1)));
        tick(2 * SC_S);
        settle();
        ck_assert_uint_eq(stats().orphans, 0);
        ck_assert(sc_sched_run_of(rig.s, kid(1)) != 0);
        done(W, kid(1), run_of(WORKER, 1), SC_REASON_TASK);
        ck_assert_uint_eq(reason_sent(N, kid(1)), SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(its_owner_stays_as_long_as_it_does)
{
        begin(2, 2);
        submit(C, CLIENT, 1);
        submit_child(1, root());
        waits(W, root());
        bye(C);
        settle();
        done(W, root(), run_of(CLIENT, 1), SC_REASON_CANCELLED);
        settle();
        done(W, kid(1), run_of(WORKER, 1), SC_REASON_CANCELLED);
        acked(N, 1);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(more_than_a_step_can_do_is_done_in_several)
{
        enum { MANY = 5000 };
        begin(1, 1);
        submit(C, CLIENT, 1);
        rig.unchecked = true;
        struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = MANY, .kib = 1000 } };
        say(N, &want);
        for (uint64_t seq = 1; seq <= MANY; seq++)
                submit_child(seq, root());
        rig.unchecked = false;
        succeed(W, root());
        ck_assert_uint_le(out.len, SC_EFFECTS_MAX);
        ck_assert_uint_gt(stats().tasks_ready, 0);
        ck_assert_uint_gt(settle(), 1);
        ck_assert_uint_ge(stats().tasks_cancelled, MANY - 1);
        ck_assert_uint_eq(stats().tasks_ready, 0);
        teardown();
}
END_TEST

/* ---- what else it holds ------------------------------------------------------------------------*/

static void submit_needing(uint64_t seq, const char *needs)
{
        submit_spec(C, CLIENT, seq, needing(needs));
}

START_TEST(who_waits_gives_back_cpu_and_keeps_the_rest)
{
        begin_with((struct sc_sched_options){ .tasks_max = 0 }, 2, 4, "cpu=2000,gpu=1000");
        submit_needing(1, "cpu=2000,gpu=1000");
        submit_needing(2, "gpu=1000");
        submit(C, CLIENT, 3);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        waits(W, root());
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        ck_assert(is_assigned(W, task(CLIENT, 3)));
        succeed(W, task(CLIENT, 3));
        resumes(W, root());
        submit(C, CLIENT, 4);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        succeed(W, root());
        ck_assert(is_assigned(W, task(CLIENT, 2)));
        ck_assert(is_assigned(W, task(CLIENT, 4)));
        teardown();
}
END_TEST

START_TEST(what_fits_only_into_what_its_parent_holds_ends_when_that_waits)
{
        char id[SC_ID_TEXT];
        begin_with((struct sc_sched_options){ .tasks_max = 0 }, 2, 4, "gpu=1000");
        submit_needing(1, "gpu=1000");
        submit_child_needing(1, root(), "gpu=1000");
        ck_assert(is_assigned(W, kid(1))); /* behind it */
        submit_child_needing(2, root(), "gpu=500");
        ck_assert_uint_eq(sends(N, SC_MSG_RESULT), 0);
        waits(W, root());
        ck_assert_uint_eq(reason_sent(N, kid(2)), SC_REASON_WOULD_DEADLOCK);
        sc_id_format(root(), id);
        ck_assert_ptr_nonnull(strstr(text_of(sent(N, SC_MSG_RESULT)->result.outcome.text), id));
        ck_assert(sc_id_equal(sent(W, SC_MSG_RECALL)->about.task, kid(1)));
        about(W, SC_MSG_RETURNED, kid(1), run_of(WORKER, 1));
        ck_assert_uint_eq(reason_sent(N, kid(1)), SC_REASON_WOULD_DEADLOCK);
        submit_child_needing(3, root(), "gpu=1");
        ck_assert_uint_eq(reason_sent(N, kid(3)), SC_REASON_WOULD_DEADLOCK); /* at once */
        submit_child_needing(4, root(), "");
        ck_assert(is_assigned(W, kid(4)));
        teardown();
}
END_TEST

START_TEST(so_does_what_a_grandparent_keeps_from_it)
{
        begin_with((struct sc_sched_options){ .tasks_max = 0 }, 2, 4, "gpu=2000");
        submit_needing(1, "gpu=1000");
        submit_child(1, root());
        submit_child_needing(2, kid(1), "gpu=2000");
        waits(W, kid(1));
        ck_assert_uint_eq(sends(N, SC_MSG_RESULT), 0); /* its grandparent may end */
        waits(W, root());
        ck_assert_uint_eq(reason_sent(N, kid(2)), SC_REASON_WOULD_DEADLOCK);
        submit_child_needing(3, kid(1), "gpu=1000");
        ck_assert(is_assigned(W, kid(3)));
        teardown();
}
END_TEST

START_TEST(what_another_worker_could_run_waits_until_that_goes)
{
        begin_with((struct sc_sched_options){ .tasks_max = 0 }, 2, 4, "gpu=1000");
        submit_needing(1, "gpu=1000");
        offering(W2, WORKER + 1, 1, 1, "gpu=1000");
        submit_needing(2, "gpu=1000"); /* there */
        submit_child_needing(1, root(), "gpu=1000");
        waits(W, root());
        settle();
        ck_assert_uint_eq(stats().tasks_failed, 0);
        bye(W2);
        settle();
        ck_assert_uint_eq(stats().tasks_failed + stats().tasks_assigned, 2); /* it was behind its parent, or ended */
        teardown();
}
END_TEST

START_TEST(what_has_the_key_of_its_parent_would_wait_for_itself)
{
        struct sc_spec spec = needing("");
        begin(1, 1);
        plan.key = (struct sc_view){ "same", 4 };
        submit_spec(C, CLIENT, 1, spec);
        const struct sc_assign assign = sent(W, SC_MSG_ASSIGN)->assign; /* its worker has another name for it */
        spec     = child_of(assign.task, assign.run, "");
        plan.key = (struct sc_view){ "same", 4 };
        submit_spec(N, WORKER, 1, spec);
        ck_assert_uint_eq(reason_sent(N, kid(1)), SC_REASON_WOULD_DEADLOCK);
        submit_spec(N, WORKER, 2, child_of(assign.task, assign.run, ""));
        about(W, SC_MSG_WAITING, assign.task, assign.run);
        ck_assert(is_assigned(W, kid(2)));
        teardown();
}
END_TEST

START_TEST(a_run_keeps_what_it_has_submitted_when_another_owner_takes_it_over)
{
        struct sc_spec spec = needing("");
        begin(1, 1);
        plan.key = (struct sc_view){ "same", 4 };
        submit_spec(C, CLIENT, 1, spec);
        const struct sc_assign assign = sent(W, SC_MSG_ASSIGN)->assign;
        submit_spec(C, CLIENT, 2, spec);
        submit_spec(N, WORKER, 1, child_of(assign.task, assign.run, ""));
        about(W, SC_MSG_WAITING, assign.task, assign.run);
        ck_assert(is_assigned(W, kid(1)));
        cancel(C, root(), false);
        settle();
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
        ck_assert_uint_eq(stats().tasks_assigned, 2);
        succeed(W, kid(1));
        about(W, SC_MSG_RESUMED, assign.task, assign.run);
        submit_spec(N, WORKER, 2, child_of(assign.task, assign.run, ""));
        done(W, assign.task, assign.run, SC_REASON_SUCCESS);
        ck_assert_uint_eq(reason_sent(C, task(CLIENT, 2)), SC_REASON_SUCCESS);
        settle();
        ck_assert_uint_eq(stats().tasks_cancelled, 2);
        teardown();
}
END_TEST

START_TEST(a_run_whose_slot_was_given_away_makes_one_wait_that_can_be_asked_back)
{
        begin_with((struct sc_sched_options){ .tasks_max = 0 }, 1, 2, "gpu=1000");
        submit_needing(1, "gpu=1000");
        submit_child(1, root());
        submit_child(2, root());
        waits(W, root());
        ck_assert(is_assigned(W, kid(1)));
        resumes(W, root()); /* before that has begun */
        tick(SC_S);
        offering(W2, WORKER + 1, 2, 2, "");
        settle();
        tick(SC_S);
        ck_assert_uint_ge(stats().tasks_assigned, 2);
        teardown();
}
END_TEST

/* ---- last chances, nonsense, memory ------------------------------------------------------------*/

START_TEST(a_last_chance_may_wait_for_what_it_has_submitted)
{
        begin_with((struct sc_sched_options){ .losses_max = 2 }, 2, 2, "");
        submit(C, CLIENT, 1);
        about(W, SC_MSG_STARTED, root(), run_of(CLIENT, 1));
        down(W);
        worker_up(W2, WORKER, 2, 2);
        ck_assert(is_assigned(W2, root()));
        submit_child(1, root());
        ck_assert(!is_assigned(W2, kid(1))); /* nothing joins it */
        waits(W2, root());
        ck_assert(is_assigned(W2, kid(1)));
        submit(C, CLIENT, 2);
        resumes(W2, root());
        submit(C, CLIENT, 3);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        succeed(W2, kid(1));
        succeed(W2, root());
        ck_assert_uint_eq(reason_sent(C, root()), SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(a_parent_that_is_none_closes_the_link)
{
        begin(1, 1);
        struct sc_spec spec = child_of(root(), 1, "");
        plan.parent.len     = 8;
        submit_spec(N, WORKER, 1, spec);
        ck_assert(is_closed(N, SC_E_PROTOCOL));
        client_up(N, WORKER);
        spec        = needing("");
        plan.parent_run = 3;
        submit_spec(N, WORKER, 1, spec);
        ck_assert(is_closed(N, SC_E_PROTOCOL));
        teardown();
}
END_TEST

START_TEST(a_worker_of_which_too_many_wait_is_closed)
{
        begin(1, SC_WAITING_MAX + 2);
        const struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = 2000, .kib = 1000 } };
        say(C, &want);
        for (uint64_t seq = 1; seq <= SC_WAITING_MAX + 1; seq++)
                submit(C, CLIENT, seq);
        rig.unchecked = true;
        for (uint64_t seq = 1; seq <= SC_WAITING_MAX; seq++) {
                waits(W, task(CLIENT, seq));
                ck_assert(!is_closed(W, SC_E_PROTOCOL));
        }
        rig.unchecked = false;
        waits(W, root()); /* once more changes nothing */
        ck_assert(said_nothing());
        waits(W, task(CLIENT, SC_WAITING_MAX + 1));
        ck_assert(is_closed(W, SC_E_PROTOCOL));
        teardown();
}
END_TEST

START_TEST(words_of_runs_that_it_does_not_have_change_nothing)
{
        begin(1, 1);
        submit(C, CLIENT, 1);
        about(W, SC_MSG_WAITING, root(), run_of(CLIENT, 1) + 1);
        about(W, SC_MSG_RESUMED, root(), run_of(CLIENT, 1) + 1);
        about(W, SC_MSG_WAITING, task(CLIENT, 2), 1);
        ck_assert_uint_eq(stats().stale_dropped, 3);
        resumes(W, root()); /* it does not wait */
        submit(C, CLIENT, 2);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        teardown();
}
END_TEST

static bool once(size_t fail_at)
{
        if (!setup_at(&(struct sc_sched_options){ .tasks_max = 0 }, fail_at))
                return fail_mem_hit(&rig.fail);
        client_up(C, CLIENT);
        offering(W, WORKER, 2, 4, "gpu=1000");
        client_up(N, WORKER);
        submit_needing(1, "gpu=1000");
        if (run_of(CLIENT, 1) != 0 && !effects(SC_FX_CLOSE)) {
                submit_child(1, root());
                submit_child_needing(2, root(), "gpu=1000");
                waits(W, root());
                succeed(W, root());
        }
        settle();
        return fail_mem_hit(&rig.fail);
}

START_TEST(every_allocation_may_fail)
{
        for (size_t at = 1;; at++) {
                const bool failed = once(at);
                sc_sched_destroy(rig.s);
                rig.s = NULL;
                ck_assert_uint_eq(fail_mem_leaks(&rig.fail), 0);
                if (!failed)
                        break;
        }
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("nested");
        tcase_add_test(t, who_waits_makes_room_for_what_it_waits_for);
        tcase_add_test(t, deeper_ones_go_before_their_elders);
        tcase_add_test(t, what_a_run_has_submitted_is_cancelled_when_it_ends);
        tcase_add_test(t, it_is_asked_to_stop_when_the_run_is_and_killed_when_it_has_ended);
        tcase_add_test(t, a_run_that_is_over_submits_nothing);
        tcase_add_test(t, nobody_submits_for_the_run_of_another_worker);
        tcase_add_test(t, limits_of_its_owner_do_not_lock_it_out);
        tcase_add_test(t, a_run_that_is_kept_keeps_what_it_has_submitted);
        tcase_add_test(t, a_run_that_is_made_again_loses_it);
        tcase_add_test(t, a_run_that_waits_for_nothing_there_is_nobodys_end);
        tcase_add_test(t, a_run_that_waits_for_what_kills_its_worker_is_as_suspect);
        tcase_add_test(t, an_orderly_leave_takes_it_along);
        tcase_add_test(t, after_a_restart_it_waits_for_its_run_to_be_claimed);
        tcase_add_test(t, after_a_restart_it_may_be_claimed_before_its_parent);
        tcase_add_test(t, an_orphan_that_nobody_claims_takes_it_along);
        tcase_add_test(t, its_owner_stays_as_long_as_it_does);
        tcase_add_test(t, more_than_a_step_can_do_is_done_in_several);
        tcase_add_test(t, who_waits_gives_back_cpu_and_keeps_the_rest);
        tcase_add_test(t, what_fits_only_into_what_its_parent_holds_ends_when_that_waits);
        tcase_add_test(t, so_does_what_a_grandparent_keeps_from_it);
        tcase_add_test(t, what_another_worker_could_run_waits_until_that_goes);
        tcase_add_test(t, what_has_the_key_of_its_parent_would_wait_for_itself);
        tcase_add_test(t, a_run_keeps_what_it_has_submitted_when_another_owner_takes_it_over);
        tcase_add_test(t, a_run_whose_slot_was_given_away_makes_one_wait_that_can_be_asked_back);
        tcase_add_test(t, a_last_chance_may_wait_for_what_it_has_submitted);
        tcase_add_test(t, a_parent_that_is_none_closes_the_link);
        tcase_add_test(t, a_worker_of_which_too_many_wait_is_closed);
        tcase_add_test(t, words_of_runs_that_it_does_not_have_change_nothing);
        tcase_add_test(t, every_allocation_may_fail);
        return run_tests("sched_nested", t);
}
