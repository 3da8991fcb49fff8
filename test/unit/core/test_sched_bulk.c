/* Transcripts of the scheduler's core: cancels of many tasks, what they find, and who is served meanwhile. */
#include "test_sched_plan_kit.h"

#include "run_tests.h"

static struct sc_view words(const char *text)
{
        return (struct sc_view){ text, strlen(text) };
}

static void submit_tagged(uint64_t seq, const char *tag)
{
        submit_plan(seq, (struct sc_plan){ .tag = words(tag) });
}

static void confirmed(sc_link_id link, uint32_t ticket, uint64_t count)
{
        const struct sc_confirm_many *m = &sent(link, SC_MSG_CONFIRM_MANY)->confirm_many;
        ck_assert_uint_eq(m->ticket, ticket);
        ck_assert_uint_eq(m->count, count);
        ck_assert_int_eq(m->status, 0);
}

/* Two clients with three tasks each, the second of them tagged; an admin. */
static void begin_two(void)
{
        begin();
        for (uint64_t i = 1; i <= 3; i++)
                submit_tagged(i, i == 2 ? "night" : i == 3 ? "nigh" : "");
        client_up(C2, CLIENT + 1);
        for (uint64_t i = 1; i <= 3; i++)
                submit(C2, CLIENT + 1, i);
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
}

START_TEST(a_client_cancels_all_its_tasks_and_nobody_elses)
{
        begin_two();
        cancel_many(C, (struct sc_cancel_many){ .ticket = 7 });
        confirmed(C, 7, 3);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 3);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(stats().tasks_ready, 3);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 8, .client = CLIENT });
        confirmed(C, 8, 0);
        cancel_many(C2, (struct sc_cancel_many){ .ticket = 9, .client = CLIENT });
        ck_assert(is_closed(C2, SC_E_DENIED));
        teardown();
}
END_TEST

START_TEST(a_tag_is_met_exactly)
{
        begin_two();
        cancel_many(C, (struct sc_cancel_many){ .tag = words("nig") });
        confirmed(C, 0, 0);
        cancel_many(C, (struct sc_cancel_many){ .tag = words("night") });
        confirmed(C, 0, 1);
        ck_assert_uint_eq(sent(C, SC_MSG_RESULT)->result.task.lo, 2);
        teardown();
}
END_TEST

START_TEST(an_admin_cancels_a_clients_or_everybodys)
{
        begin_two();
        cancel_many(A, (struct sc_cancel_many){ .ticket = 1, .client = CLIENT + 7 });
        confirmed(A, 1, 0);
        cancel_many(A, (struct sc_cancel_many){ .ticket = 2, .client = CLIENT + 1 });
        confirmed(A, 2, 3);
        ck_assert_uint_eq(sends(C2, SC_MSG_RESULT), 3);
        cancel_many(A, (struct sc_cancel_many){ .ticket = 3, .tag = words("night") });
        confirmed(A, 3, 1);
        cancel_many(A, (struct sc_cancel_many){ .ticket = 4 });
        confirmed(A, 4, 2);
        ck_assert_uint_eq(stats().tasks_cancelled, 6);
        teardown();
}
END_TEST

START_TEST(tasks_above_a_sequence_are_left)
{
        begin_two();
        cancel_many(C, (struct sc_cancel_many){ .up_to = 2 });
        confirmed(C, 0, 2);
        ck_assert_uint_eq(stats().tasks_ready, 4);
        teardown();
}
END_TEST

START_TEST(what_waits_for_its_time_and_what_runs_is_cancelled_too)
{
        begin();
        worker_up(W, WORKER, 1, 2);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        submit_plan(3, (struct sc_plan){ .not_before_ms = 9000 });
        started(W, 1);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 1 });
        confirmed(C, 1, 3);
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 2);
        ck_assert(!sent(W, SC_MSG_STOP)->about.force);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 2 });
        confirmed(C, 2, 0);
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 0);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 3, .force = true });
        ck_assert_uint_eq(sends(W, SC_MSG_STOP), 2);
        ck_assert(sent(W, SC_MSG_STOP)->about.force);
        end(W, 1, SC_REASON_SUCCESS); /* a success that beats it stays one */
        ended_as(SC_REASON_SUCCESS);
        returned(W, 2);
        ended_as(SC_REASON_CANCELLED);
        teardown();
}
END_TEST

START_TEST(a_tag_out_of_bounds_closes_the_link)
{
        static char tag[SC_NAME_MAX + 1];
        memset(tag, 't', sizeof tag);
        begin();
        submit_plan(1, (struct sc_plan){ .tag = { tag, SC_NAME_MAX } });
        cancel_many(C, (struct sc_cancel_many){ .tag = { tag, SC_NAME_MAX } });
        confirmed(C, 0, 1);
        cancel_many(C, (struct sc_cancel_many){ .tag = { tag, sizeof tag } });
        ck_assert(is_closed(C, SC_E_PROTOCOL));
        teardown();
}
END_TEST

START_TEST(a_cancel_of_many_without_memory_closes_the_link)
{
        begin();
        submit(C, CLIENT, 1);
        rig.fail.fail_at = rig.fail.asked + 1;
        cancel_many(C, (struct sc_cancel_many){ .ticket = 1 });
        ck_assert(is_closed(C, SC_E_NOMEM));
        client_up(C, CLIENT);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 1 });
        confirmed(C, 1, 1);
        teardown();
}
END_TEST

/* ---- slices ------------------------------------------------------------------------------------*/

enum { MANY = 20000, SCHED_BULKS = 16 };

static void begin_many(void)
{
        begin();
        rig.unchecked = true;
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 2 * MANY, .kib = 1 << 16 } });
        for (uint64_t i = 1; i <= MANY; i++)
                submit(C, CLIENT, i);
        up(A, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
}

START_TEST(twenty_thousand_go_in_slices_and_others_are_served_in_between)
{
        begin_many();
        worker_up(W, WORKER, 1, 1);
        client_up(C2, CLIENT + 1);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 1 });
        uint64_t results = sends(C, SC_MSG_RESULT), seq = 0, steps = 0;
        ck_assert_uint_gt(results, 100);
        while (sends(C, SC_MSG_CONFIRM_MANY) == 0) {
                ck_assert_uint_le(out.len, SC_EFFECTS_MAX / 2 + 192);
                ck_assert_int_eq(sc_sched_deadline(rig.s), rig.now);
                if (seq == 0) /* the worker goes on with what the cancel has not come to yet */
                        end(W, 1, SC_REASON_CANCELLED);
                else
                        submit(C2, CLIENT + 1, seq);
                results += sends(C, SC_MSG_RESULT);
                seq++;
                if (++steps % 5 == 0)
                        sc_sched_check(rig.s);
        }
        seq--;
        confirmed(C, 1, MANY);
        ck_assert_uint_eq(results, MANY - 1);
        ck_assert_uint_eq(stats().tasks_assigned, 1); /* that is told to stop */
        ck_assert_uint_gt(steps, 20);
        ck_assert_uint_eq(sc_sched_rows(rig.s), MANY + seq);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(only_what_was_there_when_it_came_is_its)
{
        begin_many();
        cancel_many(A, (struct sc_cancel_many){ .ticket = 1 });
        submit(C, CLIENT, MANY + 1);
        acked(C, 100); /* and rows it has passed become free, and others come into them */
        for (uint64_t i = 2; i <= 20; i++)
                submit(C, CLIENT, MANY + i);
        while (sends(A, SC_MSG_CONFIRM_MANY) == 0)
                tick(0);
        confirmed(A, 1, MANY);
        ck_assert_uint_eq(stats().tasks_ready, 20);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(rows_that_end_under_the_cursor_move_it_on)
{
        begin_many();
        submit(C, CLIENT, MANY + 1);
        cancel_many(A, (struct sc_cancel_many){ .ticket = 1, .client = CLIENT, .tag = words("none has it") });
        for (uint64_t i = 1; i <= MANY; i++) { /* oldest first, faster than the slices */
                cancel(C, task(CLIENT, i), false);
                if (sends(A, SC_MSG_CONFIRM_MANY) > 0)
                        break;
                acked(C, 1);
                if (i % 4096 == 0)
                        sc_sched_check(rig.s);
        }
        while (sends(A, SC_MSG_CONFIRM_MANY) == 0)
                tick(0);
        confirmed(A, 1, 0);
        bye(C);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_client_that_goes_meanwhile_ends_what_walks_it)
{
        begin_many();
        cancel_many(A, (struct sc_cancel_many){ .ticket = 1, .client = CLIENT });
        ck_assert_uint_eq(sends(A, SC_MSG_CONFIRM_MANY), 0);
        bye(C);
        while (sends(A, SC_MSG_CONFIRM_MANY) == 0)
                tick(0);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(it_goes_with_the_link_that_asked)
{
        begin_many();
        cancel_many(A, (struct sc_cancel_many){ .ticket = 1 });
        cancel_many(A, (struct sc_cancel_many){ .ticket = 2, .client = CLIENT });
        down(A);
        settle();
        ck_assert_uint_gt(stats().tasks_ready, MANY / 2);
        sc_sched_check(rig.s);
        cancel_many(C, (struct sc_cancel_many){ .ticket = 3 });
        client_up(C2, CLIENT);
        cancel_many(C2, (struct sc_cancel_many){ .ticket = 3, .up_to = MANY });
        while (sends(C2, SC_MSG_CONFIRM_MANY) == 0)
                tick(0);
        settle();
        ck_assert_uint_eq(stats().tasks_cancelled, MANY);
        teardown();
}
END_TEST

START_TEST(several_take_turns_and_a_seventeenth_is_too_many)
{
        begin_many();
        for (uint32_t i = 0; i < SCHED_BULKS; i++)
                cancel_many(A, (struct sc_cancel_many){ .ticket = i, .tag = words("none has it") });
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        up(9, hello_of(SC_ROLE_ADMIN, ADMIN + 1), 0);
        cancel_many(9, (struct sc_cancel_many){ .ticket = 99, .client = 5 });
        uint32_t steps = 0;
        while (sends(9, SC_MSG_CONFIRM_MANY) == 0 && ++steps < 40)
                tick(0);
        confirmed(9, 99, 0); /* one round, though all the others have much to go over */
        cancel_many(A, (struct sc_cancel_many){ .ticket = 17 });
        ck_assert(is_closed(A, SC_E_PROTOCOL));
        settle();
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("bulk");
        tcase_add_test(tests, a_client_cancels_all_its_tasks_and_nobody_elses);
        tcase_add_test(tests, a_tag_is_met_exactly);
        tcase_add_test(tests, an_admin_cancels_a_clients_or_everybodys);
        tcase_add_test(tests, tasks_above_a_sequence_are_left);
        tcase_add_test(tests, what_waits_for_its_time_and_what_runs_is_cancelled_too);
        tcase_add_test(tests, a_tag_out_of_bounds_closes_the_link);
        tcase_add_test(tests, a_cancel_of_many_without_memory_closes_the_link);
        tcase_add_test(tests, twenty_thousand_go_in_slices_and_others_are_served_in_between);
        tcase_add_test(tests, only_what_was_there_when_it_came_is_its);
        tcase_add_test(tests, rows_that_end_under_the_cursor_move_it_on);
        tcase_add_test(tests, a_client_that_goes_meanwhile_ends_what_walks_it);
        tcase_add_test(tests, it_goes_with_the_link_that_asked);
        tcase_add_test(tests, several_take_turns_and_a_seventeenth_is_too_many);
        return run_tests("sched bulk", tests);
}
