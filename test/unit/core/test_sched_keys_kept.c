/* Transcripts of the scheduler's core: what is remembered of keys, times of owners, restarts, and limits. */
#include "test_sched_key_kit.h"

#include "run_tests.h"

/* ---- remembered --------------------------------------------------------------------------------*/

static void once(sc_link_id link, uint64_t seq, const char *key, uint8_t reason)
{
        submit_keyed(link, seq, key);
        assigned(W);
        work_done(W, reason);
        got(link, seq, reason);
        acked(link, 1);
}

START_TEST(successes_and_own_failures_are_remembered)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        once(C, 1, "good", SC_REASON_SUCCESS);
        once(C, 2, "bad", SC_REASON_TASK);
        submit_keyed(D, 1, "good");
        const struct sc_result *m = got(D, 1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        ck_assert_str_eq(text_of(m->outcome.result), "ok");
        ck_assert_uint_eq(m->attempts, 1);
        ck_assert_uint_eq(m->worker, WORKER);
        submit_keyed(D, 2, "bad");
        ck_assert_int_eq(got(D, 2, SC_REASON_TASK)->outcome.code, 42);
        ck_assert_uint_eq(stats().tasks_done, 2);
        acked(D, 2);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(other_ends_are_not_remembered)
{
        static const uint8_t reasons[] = { SC_REASON_RUN_TIMEOUT, SC_REASON_LIMIT, SC_REASON_NOT_STARTED };
        begin();
        worker_up(W, WORKER, 1, 1);
        for (size_t i = 0; i < sizeof reasons; i++)
                once(C, i + 1, "k", reasons[i]);
        submit_keyed(D, 1, "k");
        assigned(W);
        teardown();
}
END_TEST

START_TEST(another_task_with_a_key_that_is_remembered_is_refused)
{
        struct sc_spec spec = spec_f();
        spec.body           = (struct sc_view){ "else", 4 };
        begin();
        worker_up(W, WORKER, 1, 1);
        once(C, 1, "k", SC_REASON_SUCCESS);
        submit_keyed_spec(D, 1, "k", spec, (struct sc_plan){ .queue_ms = 0 });
        const struct sc_outcome *outcome = &got(D, 1, SC_REASON_KEY)->outcome;
        ck_assert_int_eq(outcome->code, SC_E_EXISTS);
        ck_assert_str_eq(text_of(outcome->text), "the key \"k\" was another task's, and this one is not the same");
        teardown();
}
END_TEST

START_TEST(what_is_remembered_is_forgotten_when_it_is_too_old)
{
        begin_with((struct sc_sched_options){ .keys_age = 10 * SC_S });
        worker_up(W, WORKER, 1, 1);
        once(C, 1, "k", SC_REASON_SUCCESS);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now + 10 * SC_S);
        tick(10 * SC_S - 1);
        submit_keyed(D, 1, "k");
        got(D, 1, SC_REASON_SUCCESS);
        tick(1);
        submit_keyed(D, 2, "k");
        assigned(W);
        teardown();
        begin_with((struct sc_sched_options){ .keys_age = 10 * SC_S }); /* asked for in the very step */
        worker_up(W, WORKER, 1, 1);
        once(C, 1, "k", SC_REASON_SUCCESS);
        rig.now += 10 * SC_S;
        submit_keyed(D, 1, "k");
        assigned(W);
        teardown();
}
END_TEST

START_TEST(the_oldest_is_forgotten_when_there_are_too_many)
{
        begin_with((struct sc_sched_options){ .keys_kept = 2 });
        worker_up(W, WORKER, 1, 1);
        once(C, 1, "a", SC_REASON_SUCCESS);
        once(C, 2, "b", SC_REASON_SUCCESS);
        submit_keyed(D, 1, "a");
        got(D, 1, SC_REASON_SUCCESS);
        once(C, 3, "c", SC_REASON_SUCCESS);
        submit_keyed(D, 2, "b");
        got(D, 2, SC_REASON_SUCCESS);
        submit_keyed(D, 3, "a");
        assigned(W);
        teardown();
}
END_TEST

START_TEST(nothing_is_remembered_where_nothing_is_to_be)
{
        begin_with((struct sc_sched_options){ .keys_kept = SC_KEYS_NONE });
        worker_up(W, WORKER, 1, 1);
        once(C, 1, "k", SC_REASON_SUCCESS);
        ck_assert_uint_eq(stats().bytes_used, 0);
        submit_keyed(D, 1, "k");
        assigned(W);
        teardown();
}
END_TEST

static void once_with(uint64_t seq, const char *key, size_t size)
{
        static char bytes[SC_RESULT_MAX];
        submit_keyed(C, seq, key);
        assigned(W);
        done_as(W, work, run, (struct sc_outcome){ .reason = SC_REASON_SUCCESS, .result = { bytes, size } });
        acked(C, 1);
}

static bool is_remembered(uint64_t seq, const char *key)
{
        submit_keyed(D, seq, key);
        const bool known = sends(D, SC_MSG_RESULT) == 1;
        cancel(D, task(CD, seq), true);
        if (sends(W, SC_MSG_STOP) > 0) {
                const struct sc_about_run stop = sent(W, SC_MSG_STOP)->about;
                done(W, stop.task, stop.run, SC_REASON_CANCELLED);
        }
        acked(D, 1);
        return known;
}

START_TEST(what_is_remembered_has_an_eighth_of_the_bytes)
{
        enum { MOST = 64 << 10 };
        begin_with((struct sc_sched_options){ .bytes_max = 8 * MOST });
        worker_up(W, WORKER, 1, 1);
        once_with(1, "a", MOST / 2);
        once_with(2, "b", MOST / 4);
        ck_assert(is_remembered(1, "a"));
        once_with(3, "c", MOST / 2);
        ck_assert(!is_remembered(2, "a"));
        ck_assert(is_remembered(3, "b"));
        once_with(4, "d", MOST);
        ck_assert(!is_remembered(4, "d"));
        ck_assert(!is_remembered(5, "b"));
        ck_assert_uint_eq(stats().bytes_used, 0);
        teardown();
}
END_TEST

START_TEST(what_is_remembered_goes_first_when_memory_is_wanted)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        once_with(1, "a", 1 << 16);
        const size_t used   = atomic_load(&rig.fail.mem.used);
        rig.fail.mem.budget = used + used / 4;
        tick(0);
        rig.fail.mem.budget = SIZE_MAX;
        ck_assert_uint_eq(stats().bytes_used, 0);
        ck_assert(!is_remembered(1, "a"));
        teardown();
}
END_TEST

START_TEST(an_end_is_kept_for_those_who_wait_even_if_it_is_forgotten_at_once)
{
        begin_with((struct sc_sched_options){ .keys_kept = 1 });
        worker_up(W, WORKER, 1, 1);
        down(D);
        tenant_up(D, CD, "t");
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
        down(D); /* its result waits for it */
        work_done(W, SC_REASON_SUCCESS);
        got(C, 1, SC_REASON_SUCCESS);
        acked(C, 1);
        once(C, 2, "other", SC_REASON_SUCCESS);
        tenant_up(9, CD, "t");
        ck_assert_str_eq(text_of(got(9, 1, SC_REASON_SUCCESS)->outcome.result), "ok");
        teardown();
}
END_TEST

/* ---- times of owners ---------------------------------------------------------------------------*/

START_TEST(each_owner_has_its_own_deadline)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .deadline_ms = 1000 });
        assigned(W);
        submit_planned(D, 1, (struct sc_plan){ .deadline_ms = 2000 });
        submit_planned(D, 2, (struct sc_plan){ .deadline_ms = 0 });
        tick(SC_S);
        got(C, 1, SC_REASON_DEADLINE); /* it led: the run goes on for the others */
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
        tick(SC_S);
        ck_assert_str_eq(text_of(got(D, 1, SC_REASON_DEADLINE)->outcome.text),
                         "its deadline came while a worker had it");
        work_done(W, SC_REASON_SUCCESS);
        got(D, 2, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(the_deadline_of_the_last_owner_stops_the_run)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .deadline_ms = 2000 });
        assigned(W);
        submit_planned(D, 1, (struct sc_plan){ .deadline_ms = 1000 });
        tick(SC_S);
        got(D, 1, SC_REASON_DEADLINE);
        tick(SC_S);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        submit_keyed(D, 2, "k"); /* waits for what is being stopped */
        ck_assert(said_nothing());
        work_done(W, SC_REASON_TASK);
        got(C, 1, SC_REASON_DEADLINE);
        assigned(W);
        work_done(W, SC_REASON_SUCCESS);
        got(D, 2, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(what_comes_at_the_deadline_of_one_is_in_time_for_another)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .deadline_ms = 1000 });
        assigned(W);
        submit_planned(D, 1, (struct sc_plan){ .deadline_ms = 1001 });
        submit_planned(E - 1, 2, (struct sc_plan){ .deadline_ms = 1000 });
        rig.now += SC_S;
        work_done(W, SC_REASON_SUCCESS);
        got(C, 1, SC_REASON_DEADLINE);
        ck_assert_uint_eq(sends(D, SC_MSG_RESULT), 2);
        ck_assert_uint_eq(sent_nth(D, SC_MSG_RESULT, 0)->result.outcome.reason, SC_REASON_DEADLINE);
        ck_assert_uint_eq(sent_nth(D, SC_MSG_RESULT, 1)->result.outcome.reason, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(a_limit_of_the_queue_ends_an_owner_while_the_work_waits)
{
        begin();
        submit_planned(C, 1, (struct sc_plan){ .queue_ms = 2000 });
        submit_planned(D, 1, (struct sc_plan){ .queue_ms = 1000 });
        submit_planned(D, 2, (struct sc_plan){ .queue_ms = 3000 });
        tick(SC_S);
        got(D, 1, SC_REASON_QUEUE_TIMEOUT);
        tick(SC_S);
        got(C, 1, SC_REASON_QUEUE_TIMEOUT);
        worker_up(W, WORKER, 1, 1);
        assigned(W);
        submit_planned(C, 2, (struct sc_plan){ .queue_ms = 1 });
        tick(2 * SC_S); /* a worker has it: that will do for all */
        ck_assert(said_nothing());
        work_done(W, SC_REASON_SUCCESS);
        got(C, 2, SC_REASON_SUCCESS);
        got(D, 2, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(the_work_begins_as_early_as_any_owner_wants_it)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .not_before_ms = 9000 });
        submit_planned(D, 1, (struct sc_plan){ .not_before_ms = 5000 });
        tick(4 * SC_S);
        ck_assert(said_nothing());
        tick(SC_S);
        assigned(W);
        teardown();
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .not_before_ms = 9000 });
        submit_planned(D, 1, (struct sc_plan){ .tag = { "now", 3 } });
        assigned(W);
        teardown();
}
END_TEST

START_TEST(whoever_leads_next_waits_for_its_own_time)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .not_before_ms = 5000 });
        submit_planned(D, 1, (struct sc_plan){ .not_before_ms = 9000 });
        cancel(C, task(CLIENT, 1), false);
        tick(8 * SC_S);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        tick(SC_S);
        assigned(W);
        teardown();
}
END_TEST

START_TEST(an_owner_of_a_higher_priority_brings_no_delay)
{
        struct sc_spec spec = spec_f();
        spec.priority       = 3;
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .not_before_ms = 5000 });
        submit_keyed_spec(D, 1, "k", spec, (struct sc_plan){ .not_before_ms = 9000 });
        tick(5 * SC_S);
        assigned(W);
        ck_assert_int_eq(sent(W, SC_MSG_ASSIGN)->assign.spec.priority, 3);
        teardown();
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_planned(C, 1, (struct sc_plan){ .not_before_ms = 5000 });
        submit_keyed_spec(D, 1, "k", spec, (struct sc_plan){ .not_before_ms = 9000 });
        cancel(D, task(CD, 1), false); /* C leads again, and waits as before */
        tick(4 * SC_S);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        tick(SC_S);
        assigned(W);
        teardown();
}
END_TEST

/* ---- restarts ----------------------------------------------------------------------------------*/

/* Another scheduler, which has just begun. */
static void restart(void)
{
        struct sc_sched_options options = { .id = 6, .epoch = EPOCH + 1, .seed = 999, .now = rig.now };
        sc_sched_destroy(rig.s);
        rig.s = sc_sched_create(&rig.fail.mem, &options);
        ck_assert_ptr_nonnull(rig.s);
        tenant_up(C, CLIENT, "t");
        tenant_up(D, CD, "t");
}

static void run_before_restart(void)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
}

static void hold_up(void)
{
        const struct sc_hold hold = { .task = work, .epoch = EPOCH, .run = run, .flags = SC_HOLD_RUNNING };
        worker_up_holding(W, WORKER, 1, 1, &hold, 1);
}

static void kept_and_done(void)
{
        const struct sc_about_run keep = sent(W, SC_MSG_KEEP)->about;
        ck_assert(sc_id_equal(keep.task, work));
        ck_assert_uint_eq(keep.held_run, run);
        run = keep.run;
}

START_TEST(owners_find_each_other_and_their_run_after_a_restart)
{
        for (int order = 0; order < 3; order++) {
                run_before_restart();
                restart();
                if (order == 0)
                        hold_up();
                submit_keyed(D, 1, "k"); /* the one that only joined may well come first */
                if (order == 1)
                        hold_up();
                if (order == 0 || order == 1)
                        kept_and_done();
                submit_keyed(C, 1, "k");
                if (order == 2) {
                        hold_up();
                        kept_and_done();
                }
                tick(2 * SC_S);
                ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
                work_done(W, SC_REASON_SUCCESS);
                got(C, 1, SC_REASON_SUCCESS);
                got(D, 1, SC_REASON_SUCCESS);
                teardown();
        }
}
END_TEST

START_TEST(a_new_task_with_a_key_waits_for_claims_as_well)
{
        run_before_restart();
        restart();
        worker_up(W2, WORKER + 1, 1, 1);
        submit_keyed(D, 2, "k"); /* not sent before, but a worker may have a run of it */
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        hold_up();
        kept_and_done();
        work_done(W, SC_REASON_SUCCESS);
        got(D, 2, SC_REASON_SUCCESS);
        submit_keyed(C, 1, "k");
        got(C, 1, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(nobody_waits_for_claims_for_longer_than_others)
{
        run_before_restart();
        restart();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        submit_keyed(D, 1, "k");
        cancel(C, task(CLIENT, 1), false);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        tick(SC_S);
        assigned(W);
        teardown();
}
END_TEST

START_TEST(a_run_of_something_else_with_that_key_is_not_adopted)
{
        struct sc_spec spec = spec_f();
        spec.body           = (struct sc_view){ "else", 4 };
        run_before_restart();
        restart();
        hold_up();
        submit_keyed_spec(C, 2, "k", spec, (struct sc_plan){ .queue_ms = 0 });
        ck_assert_uint_eq(sends(W, SC_MSG_KEEP), 0);
        ck_assert_uint_eq(stats().orphans, 1);
        tick(60 * SC_S); /* nobody wants it */
        ck_assert_uint_eq(sends(W, SC_MSG_DROP), 1);
        teardown();
}
END_TEST

START_TEST(a_held_run_of_a_work_that_is_over_is_dropped)
{
        run_before_restart();
        restart();
        tick(SC_S);
        worker_up(W2, WORKER + 1, 1, 1);
        submit_keyed(C, 1, "k");
        const struct sc_id held = work;
        const uint64_t     held_run = run;
        assigned(W2);
        work_done(W2, SC_REASON_SUCCESS);
        work = held;
        run  = held_run;
        hold_up();
        ck_assert_uint_eq(sends(W, SC_MSG_DROP), 1);
        ck_assert_uint_eq(stats().orphans, 0);
        teardown();
}
END_TEST

START_TEST(an_orphan_by_a_tasks_own_name_is_not_its_run)
{
        begin();
        const struct sc_hold hold = { .task = task(CLIENT, 1), .epoch = EPOCH + 9, .run = 5 };
        worker_up_holding(W, WORKER, 1, 1, &hold, 1);
        ck_assert_uint_eq(stats().orphans, 1);
        submit_keyed(C, 1, "k");
        ck_assert_uint_eq(sends(W, SC_MSG_DROP), 1);
        ck_assert_uint_eq(stats().orphans, 0);
        worker_up_holding(W2, WORKER + 1, 1, 1, &hold, 1); /* nor when it comes later */
        ck_assert_uint_eq(sends(W2, SC_MSG_DROP), 1);
        teardown();
}
END_TEST

/* ---- dependencies, memory, many ----------------------------------------------------------------*/

static void submit_after(sc_link_id link, uint64_t seq, uint64_t of)
{
        const uint64_t entry = SC_AFTER_READ | of;
        uint8_t        after[8];
        for (unsigned i = 0; i < 8; i++)
                after[i] = (uint8_t)(entry >> 8 * i);
        struct sc_plan plan = { .after = { after, 8 } };
        struct sc_spec spec = spec_f();
        spec.plan           = &plan;
        submit_spec(link, client_of(link), seq, spec);
}

START_TEST(what_has_joined_may_be_depended_on)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
        submit_after(D, 2, 1);
        submit_after(C, 2, 1);
        work_done(W, SC_REASON_SUCCESS);
        const struct sc_assign *m = &sent(W, SC_MSG_ASSIGN)->assign;
        ck_assert_uint_eq(m->spec.plan->results.count, 1);
        ck_assert_str_eq(text_of(m->spec.plan->results.at[0]), "ok");
        acked(C, 1);
        acked(D, 1);
        done(W, m->task, m->run, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(what_depends_on_an_owner_that_cancels_ends_with_it)
{
        begin();
        submit_keyed(C, 1, "k");
        submit_keyed(D, 1, "k");
        submit_after(D, 2, 1);
        cancel(D, task(CD, 1), false);
        ck_assert_uint_eq(sends(D, SC_MSG_RESULT), 2);
        ck_assert_uint_eq(sent_nth(D, SC_MSG_RESULT, 1)->result.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        teardown();
}
END_TEST

static void keyed_life(void)
{
        tenant_up(C, CLIENT, "t");
        tenant_up(D, CD, "t");
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        submit_keyed(D, 1, "k");
        if (sends(W, SC_MSG_ASSIGN) > 0)
                assigned(W);
        cancel(C, task(CLIENT, 1), false);
        work_done(W, SC_REASON_SUCCESS);
        submit_keyed(D, 2, "k");
        tick(SC_S);
}

START_TEST(any_allocation_may_fail)
{
        struct sc_sched_options options = { .tasks_max = 0 };
        size_t                  most    = 0;
        ck_assert(setup_at(&options, 0));
        keyed_life();
        most = rig.fail.asked;
        teardown();
        for (size_t at = 1; at <= most; at++) {
                if (setup_at(&options, at))
                        keyed_life();
                teardown();
        }
        ck_assert_uint_gt(most, 20);
}
END_TEST

START_TEST(without_memory_for_the_answer_all_owners_are_told_so)
{
        begin();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        submit_keyed(D, 1, "k");
        rig.fail.fail_at = rig.fail.asked + 1;
        work_done(W, SC_REASON_SUCCESS);
        ck_assert_str_eq(text_of(got(C, 1, SC_REASON_LIMIT)->outcome.text),
                         "the scheduler had no memory for the result");
        got(D, 1, SC_REASON_LIMIT);
        submit_keyed(D, 2, "k");
        assigned(W);
        teardown();
}
END_TEST

START_TEST(owners_count_as_tasks_and_their_bodies_as_bytes)
{
        begin_with((struct sc_sched_options){ .tasks_max = 32 });
        uint64_t count = 0;
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 32, .kib = 64 } });
        while (effects(SC_FX_CLOSE) == 0 && count < 40)
                submit_keyed(C, ++count, "k");
        ck_assert(is_closed(C, SC_E_FULL));
        ck_assert_uint_gt(count, 2);
        ck_assert_uint_eq(sc_sched_rows(rig.s), count - 1);
        teardown();
        const struct sc_tenant_options tenant = { .name = { "t", 1 }, .queued_max = 3 };
        begin_with((struct sc_sched_options){ .tenants = &tenant, .tenant_count = 1 });
        for (count = 0; effects(SC_FX_CLOSE) == 0 && count < 9;)
                submit_keyed(C, ++count, "k");
        ck_assert(is_closed(C, SC_E_FULL));
        ck_assert_uint_le(count, 4);
        teardown();
}
END_TEST

START_TEST(a_running_max_holds_for_works_as_well)
{
        struct sc_hello hello = hello_of(SC_ROLE_CLIENT, CLIENT + 9);
        setup((struct sc_sched_options){ .tasks_max = 0 });
        hello.epoch       = EPOCH;
        hello.running_max = 1;
        up(C, hello, 0);
        worker_up(W, WORKER, 4, 4);
        for (uint64_t i = 1; i <= 3; i++) {
                const char    *keys[] = { "a", "b", "a" };
                struct sc_plan plan   = { .key = { keys[i - 1], 1 } };
                struct sc_spec spec   = spec_f();
                spec.plan             = &plan;
                submit_spec(C, CLIENT + 9, i, spec);
                ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), i == 1);
                if (i == 1)
                        assigned(W);
        }
        work_done(W, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 2);
        assigned(W);
        teardown();
}
END_TEST

enum { MANY = 100000 };

START_TEST(a_hundred_thousand_that_joined_are_answered_in_bounded_steps)
{
        begin();
        rig.unchecked   = true;
        struct sc_msg m = { .kind = SC_MSG_WANT, .want = { .tasks = MANY + 1, .kib = 8192 } };
        say(C, &m);
        settle();
        worker_up(W, WORKER, 1, 1);
        submit_keyed(C, 1, "k");
        assigned(W);
        const uint64_t bytes = stats().bytes_used;
        for (uint64_t i = 2; i <= MANY + 1; i++)
                submit_keyed(C, i, "k");
        ck_assert_uint_eq(stats().tasks_waiting, MANY);
        ck_assert_uint_lt((stats().bytes_used - bytes) / MANY, 300);
        work_done(W, SC_REASON_SUCCESS);
        uint64_t told = sends(C, SC_MSG_RESULT), steps = 1;
        ck_assert_uint_lt(out.len, SC_EFFECTS_MAX);
        while (sc_sched_deadline(rig.s) <= rig.now) {
                tick(0);
                told += sends(C, SC_MSG_RESULT);
                steps++;
        }
        ck_assert_uint_eq(told, MANY + 1);
        ck_assert_uint_gt(steps, MANY / SC_EFFECTS_MAX);
        ck_assert_uint_lt(steps, MANY / 100);
        acked(C, MANY + 1);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(a_million_different_keys_leave_room_again)
{
        char key[24];
        begin_with((struct sc_sched_options){ .keys_kept = 1000 });
        rig.unchecked = true;
        worker_up(W, WORKER, 1, 1);
        for (uint64_t i = 1; i <= 1000000; i++) {
                snprintf(key, sizeof key, "%llu", (unsigned long long)i);
                once(C, i, key, SC_REASON_SUCCESS);
        }
        const uint64_t full = stats().bytes_used;
        ck_assert_uint_lt(full, 1000 * 600);
        sc_sched_check(rig.s);
        submit_keyed(D, 1, "1000000");
        got(D, 1, SC_REASON_SUCCESS);
        submit_keyed(D, 2, "999000");
        assigned(W);
        work_done(W, SC_REASON_SUCCESS);
        tick(3600 * SC_S);
        settle();
        ck_assert_uint_lt(stats().bytes_used, 1000); /* a lane is kept for the next task */
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("keys kept");
        tcase_add_test(tests, successes_and_own_failures_are_remembered);
        tcase_add_test(tests, other_ends_are_not_remembered);
        tcase_add_test(tests, another_task_with_a_key_that_is_remembered_is_refused);
        tcase_add_test(tests, what_is_remembered_is_forgotten_when_it_is_too_old);
        tcase_add_test(tests, the_oldest_is_forgotten_when_there_are_too_many);
        tcase_add_test(tests, nothing_is_remembered_where_nothing_is_to_be);
        tcase_add_test(tests, what_is_remembered_has_an_eighth_of_the_bytes);
        tcase_add_test(tests, what_is_remembered_goes_first_when_memory_is_wanted);
        tcase_add_test(tests, an_end_is_kept_for_those_who_wait_even_if_it_is_forgotten_at_once);
        tcase_add_test(tests, each_owner_has_its_own_deadline);
        tcase_add_test(tests, the_deadline_of_the_last_owner_stops_the_run);
        tcase_add_test(tests, what_comes_at_the_deadline_of_one_is_in_time_for_another);
        tcase_add_test(tests, a_limit_of_the_queue_ends_an_owner_while_the_work_waits);
        tcase_add_test(tests, the_work_begins_as_early_as_any_owner_wants_it);
        tcase_add_test(tests, whoever_leads_next_waits_for_its_own_time);
        tcase_add_test(tests, an_owner_of_a_higher_priority_brings_no_delay);
        tcase_add_test(tests, owners_find_each_other_and_their_run_after_a_restart);
        tcase_add_test(tests, a_new_task_with_a_key_waits_for_claims_as_well);
        tcase_add_test(tests, nobody_waits_for_claims_for_longer_than_others);
        tcase_add_test(tests, a_run_of_something_else_with_that_key_is_not_adopted);
        tcase_add_test(tests, a_held_run_of_a_work_that_is_over_is_dropped);
        tcase_add_test(tests, an_orphan_by_a_tasks_own_name_is_not_its_run);
        tcase_add_test(tests, what_has_joined_may_be_depended_on);
        tcase_add_test(tests, what_depends_on_an_owner_that_cancels_ends_with_it);
        tcase_add_test(tests, any_allocation_may_fail);
        tcase_add_test(tests, without_memory_for_the_answer_all_owners_are_told_so);
        tcase_add_test(tests, owners_count_as_tasks_and_their_bodies_as_bytes);
        tcase_add_test(tests, a_running_max_holds_for_works_as_well);
        tcase_add_test(tests, a_hundred_thousand_that_joined_are_answered_in_bounded_steps);
        tcase_add_test(tests, a_million_different_keys_leave_room_again);
        return run_tests("sched keys kept", tests);
}
