/* Transcripts of the scheduler's core on a budget of memory: what it grants, puts off, and charges nobody for. */
#include "test_sched_kit.h"

#include "run_tests.h"

enum { C = 1, W = 2, W2 = 3, MIB = 1 << 20 };

#define REST (10 * SC_MS)

/* Seven eighths and a little of a budget are in use; or there is none any more. */
static void squeeze(void)
{
        const size_t used        = atomic_load(&rig.fail.mem.used);
        rig.fail.mem.budget = used + used / 8;
}

static void relax(void)
{
        rig.fail.mem.budget = SIZE_MAX;
}

static void setup_with(size_t budget, struct sc_sched_options options)
{
        setup(options);
        sc_sched_destroy(rig.s);
        rig.fail.mem.budget = budget;
        options.id = options.epoch = EPOCH;
        options.now                = rig.now;
        rig.s                      = sc_sched_create(&rig.fail.mem, &options);
        ck_assert_ptr_nonnull(rig.s);
}

START_TEST(grants_are_no_more_than_the_budget_holds)
{
        setup_with(64 * MIB, (struct sc_sched_options){ .bytes_max = UINT64_C(1) << 40 });
        ck_assert_uint_eq(stats().bytes_max, 16 * MIB);
        ck_assert_uint_lt(stats().tasks_max, 8 * MIB / 100);
        ck_assert_uint_gt(stats().tasks_max, 8 * MIB / 400);
        teardown();
        setup_with(64 * MIB, (struct sc_sched_options){ .bytes_max = 5 * MIB, .tasks_max = 100 });
        ck_assert_uint_eq(stats().bytes_max, 5 * MIB);
        ck_assert_uint_eq(stats().tasks_max, 100);
        teardown();
        setup_with(MIB, (struct sc_sched_options){ .losses_max = 0 });
        ck_assert_uint_eq(stats().bytes_max, 2 * SC_BODY_MAX); /* the largest task must be able to come */
        teardown();
}
END_TEST

START_TEST(while_memory_is_short_one_task_at_a_time_is_placed)
{
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        for (uint64_t i = 1; i <= 4; i++)
                submit(C, CLIENT, i);
        squeeze();
        worker_up(W, WORKER, 4, 4);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now + REST);
        tick(REST);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        squeeze();
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0); /* until its result is confirmed */
        acked(C, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        relax();
        tick(REST);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 2);
        teardown();
}
END_TEST

START_TEST(what_a_step_sends_counts_before_it_has_a_frame)
{
        static char    body[65536];
        struct sc_spec spec = spec_f();
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        spec.body = (struct sc_view){ body, sizeof body };
        for (uint64_t i = 1; i <= 8; i++)
                submit_spec(C, CLIENT, i, spec);
        const size_t most   = atomic_load(&rig.fail.mem.used) + 4 * sizeof body;
        rig.fail.mem.budget = most / 7 * 8 + 8;
        worker_up(W, WORKER, 8, 8);
        ck_assert_uint_ge(sends(W, SC_MSG_ASSIGN), 3);
        ck_assert_uint_le(sends(W, SC_MSG_ASSIGN), 5);
        relax();
        tick(REST);
        ck_assert_uint_ge(sends(W, SC_MSG_ASSIGN), 3);
        teardown();
}
END_TEST

START_TEST(while_memory_is_short_one_result_at_a_time_is_sent)
{
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 4, 4);
        for (uint64_t i = 1; i <= 4; i++)
                submit(C, CLIENT, i);
        squeeze();
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        squeeze();
        done(W, task(CLIENT, 2), run_of(CLIENT, 2), SC_REASON_SUCCESS);
        done(W, task(CLIENT, 3), run_of(CLIENT, 3), SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        squeeze();
        acked(C, 1);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.task.lo, 2);
        relax();
        acked(C, 1);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.task.lo, 3);
        teardown();
}
END_TEST

static uint64_t losses_after(const struct sc_event *parting)
{
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 2, 4);
        for (uint64_t i = 1; i <= 3; i++)
                submit(C, CLIENT, i);
        about(W, SC_MSG_STARTED, task(CLIENT, 1), run_of(CLIENT, 1));
        step(*parting);
        ck_assert_uint_eq(warnings(), 1);
        const uint64_t lost = stats().runs_lost;
        ck_assert_uint_eq(stats().tasks_ready, 3);
        worker_up(W2, WORKER + 1, 2, 4);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 3);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.attempt, lost > 0 ? 2 : 1);
        teardown();
        return lost;
}

START_TEST(a_link_that_went_for_want_of_memory_charges_nobody)
{
        const struct sc_msg bye = { .kind = SC_MSG_BYE, .bye = { .status = SC_E_NOMEM } };
        ck_assert_uint_eq(losses_after(&(struct sc_event){ .kind = SC_EV_DOWN, .link = W }), 2);
        ck_assert_uint_eq(losses_after(&(struct sc_event){ .kind = SC_EV_DOWN, .link = W, .status = SC_E_TIMEOUT }), 2);
        ck_assert_uint_eq(losses_after(&(struct sc_event){ .kind = SC_EV_DOWN, .link = W, .status = SC_E_NOMEM }), 0);
        ck_assert_uint_eq(losses_after(&(struct sc_event){ .kind = SC_EV_MSG, .link = W, .msg = &bye }), 0);
}
END_TEST

START_TEST(a_client_without_memory_is_waited_for)
{
        const struct sc_msg bye = { .kind = SC_MSG_BYE, .bye = { .status = SC_E_NOMEM } };
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        submit(C, CLIENT, 1);
        say(C, &bye);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 1);
        client_up(C + 10, CLIENT);
        ck_assert_uint_eq(sent(C + 10, SC_MSG_WELCOME)->welcome.known_up_to, 1);
        teardown();
}
END_TEST

START_TEST(a_result_that_does_not_fit_stays_with_its_worker_until_it_does)
{
        static char             bytes[100000];
        const struct sc_outcome large = { .reason = SC_REASON_SUCCESS, .result = { bytes, sizeof bytes } };
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 2, 2);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        const uint64_t first = run_of(CLIENT, 1), second = run_of(CLIENT, 2);
        done_as(W, task(CLIENT, 1), first, large);
        rig.fail.mem.budget = atomic_load(&rig.fail.mem.used) + 2 * sizeof bytes; /* could be kept, but never told */
        done_as(W, task(CLIENT, 2), second, large);
        ck_assert(is_closed(W, SC_E_NOMEM));
        ck_assert_uint_eq(stats().runs_lost, 0);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        const struct sc_hold hold = { .task = task(CLIENT, 2), .epoch = EPOCH, .run = second, .flags = SC_HOLD_DONE };
        worker_up_holding(W2, WORKER, 2, 2, &hold, 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_KEEP)->about.run, second);
        acked(C, 1);
        rig.fail.mem.budget = atomic_load(&rig.fail.mem.used) + 4 * sizeof bytes;
        done_as(W2, task(CLIENT, 2), second, large);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.attempts, 1);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.result.len, sizeof bytes);
        teardown();
}
END_TEST

START_TEST(a_result_that_can_never_fit_ends_its_task_with_words)
{
        static char             bytes[100000];
        const struct sc_outcome large = { .reason = SC_REASON_SUCCESS, .result = { bytes, sizeof bytes } };
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 2, 2);
        submit(C, CLIENT, 1);
        rig.fail.mem.budget = atomic_load(&rig.fail.mem.used) + sizeof bytes / 2;
        done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), large);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_LIMIT);
        teardown();
}
END_TEST

/* Whatever else holds memory just now: it will be told when that is gone. */
START_TEST(the_only_result_is_kept_though_there_is_no_room_to_tell_it_yet)
{
        static char             bytes[100000];
        const struct sc_outcome large = { .reason = SC_REASON_SUCCESS, .result = { bytes, sizeof bytes } };
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 2, 2);
        submit(C, CLIENT, 1);
        rig.fail.mem.budget = atomic_load(&rig.fail.mem.used) + 2 * sizeof bytes;
        done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), large);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_SUCCESS);
        teardown();
}
END_TEST

START_TEST(grants_are_not_raised_while_memory_is_short_but_a_client_without_tasks_gets_some)
{
        const struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = 5000, .kib = 100 } };
        setup((struct sc_sched_options){ .losses_max = 0 });
        client_up(C, CLIENT);
        submit(C, CLIENT, 1);
        squeeze();
        say(C, &want);
        for (uint32_t i = 0; i < out.len; i++)
                ck_assert(out.at[i].kind != SC_FX_GRANT || out.at[i].tasks <= 1024);
        ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now + REST);
        relax();
        tick(REST);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 5000);
        client_up(C + 1, CLIENT + 1);
        squeeze();
        say(C + 1, &want);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 5000);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("budget");
        tcase_add_test(tests, grants_are_no_more_than_the_budget_holds);
        tcase_add_test(tests, while_memory_is_short_one_task_at_a_time_is_placed);
        tcase_add_test(tests, what_a_step_sends_counts_before_it_has_a_frame);
        tcase_add_test(tests, while_memory_is_short_one_result_at_a_time_is_sent);
        tcase_add_test(tests, a_link_that_went_for_want_of_memory_charges_nobody);
        tcase_add_test(tests, a_client_without_memory_is_waited_for);
        tcase_add_test(tests, a_result_that_does_not_fit_stays_with_its_worker_until_it_does);
        tcase_add_test(tests, a_result_that_can_never_fit_ends_its_task_with_words);
        tcase_add_test(tests, the_only_result_is_kept_though_there_is_no_room_to_tell_it_yet);
        tcase_add_test(tests, grants_are_not_raised_while_memory_is_short_but_a_client_without_tasks_gets_some);
        return run_tests("sched budget", tests);
}
