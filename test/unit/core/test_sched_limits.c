/* Transcripts of the scheduler's core: every limit at the limit, and what is beyond it. */
#include "test_sched_kit.h"

#include "run_tests.h"

enum { C = 1, W = 2, C2 = 3, C3 = 4 };

static void want(sc_link_id link, uint32_t tasks, uint32_t kib)
{
        say(link, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = tasks, .kib = kib } });
}

START_TEST(a_client_may_fill_its_grant_and_not_one_more)
{
        setup((struct sc_sched_options){ .client_tasks_max = 8 });
        client_up(C, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 8);
        for (uint64_t i = 1; i <= 8; i++)
                submit(C, CLIENT, i);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        want(C, 100, 0);
        ck_assert_uint_eq(effects(SC_FX_GRANT) == 0 || effect(SC_FX_GRANT)->tasks == 8, 1);
        submit(C, CLIENT, 9);
        ck_assert(is_closed(C, SC_E_FULL));
        ck_assert_uint_eq(sc_sched_rows(rig.s), 8);
        teardown();
}
END_TEST

START_TEST(grants_never_sum_above_the_limit_and_a_sixteenth_is_kept_back)
{
        setup((struct sc_sched_options){ .tasks_max = 160, .client_grace = SC_S });
        client_up(C, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 150);
        client_up(C2, CLIENT + 1);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 0);
        submit(C2, CLIENT + 1, 1);
        ck_assert(is_closed(C2, SC_E_FULL));
        client_up(C3, CLIENT + 2);
        want(C3, 100, 100);
        ck_assert(effects(SC_FX_GRANT) == 0 || effect(SC_FX_GRANT)->tasks == 0);
        want(C, 50, 100); /* whoever wants less is bound at once, and the others get half of what is free */
        for (uint32_t i = 0; i < out.len; i++) {
                if (out.at[i].kind == SC_FX_GRANT)
                        ck_assert_uint_eq(out.at[i].tasks, 50);
        }
        ck_assert_uint_eq(effects(SC_FX_GRANT), 2);
        want(C3, 100, 100);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 75);
        bye(C);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 100);
        teardown();
}
END_TEST

START_TEST(a_small_scheduler_gives_no_client_what_it_would_keep_when_idle)
{
        setup((struct sc_sched_options){ .tasks_max = 2000 });
        client_up(C, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 1023); /* with 1,024 it would keep them all */
        teardown();
        setup((struct sc_sched_options){ .tasks_max = 2400 });
        client_up(C, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 1024);
        teardown();
}
END_TEST

START_TEST(where_several_wait_for_room_for_a_large_task_one_is_lent_it)
{
        enum { LARGEST = SC_BODY_MAX / 1024 + 1 };
        setup((struct sc_sched_options){ .bytes_max = 2 << 20 });
        client_up(C, CLIENT);
        client_up(C2, CLIENT + 1);
        client_up(C3, CLIENT + 2);
        want(C, 2000, 4096);
        ck_assert_uint_ge(effect(SC_FX_GRANT)->kib, LARGEST);
        want(C2, 2000, 4096); /* the limit is reached, and this one is lent beyond it */
        ck_assert_uint_ge(effect(SC_FX_GRANT)->kib, LARGEST);
        want(C3, 2000, 4096);
        ck_assert_uint_lt(effects(SC_FX_GRANT) > 0 ? effect(SC_FX_GRANT)->kib : 0, LARGEST); /* one at a time */
        want(C, 2000, 16);
        ck_assert_uint_eq(sc_sched_deadline(rig.s) > rig.now, 1);
        uint32_t got = 0;
        for (uint32_t i = 0; i < out.len; i++)
                got = out.at[i].kind == SC_FX_GRANT && out.at[i].link == C3 ? out.at[i].kib : got;
        ck_assert_uint_ge(got, LARGEST);
        teardown();
}
END_TEST

START_TEST(a_client_that_fills_its_grant_is_given_more_unasked)
{
        setup((struct sc_sched_options){ .tasks_max = 4096 });
        client_up(C, CLIENT);
        want(C, 4000, 0);
        uint32_t grant = effect(SC_FX_GRANT)->tasks;
        ck_assert_uint_gt(grant, 1024);
        ck_assert_uint_lt(grant, 3840);
        uint64_t seq = 0;
        while (seq < 3840) {
                ck_assert_uint_gt(grant, seq);
                submit(C, CLIENT, ++seq);
                if (effects(SC_FX_GRANT) > 0)
                        grant = effect(SC_FX_GRANT)->tasks;
        }
        ck_assert_uint_eq(grant, 3840);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 3840);
        teardown();
}
END_TEST

/* It waits for that before it asks for more. */
START_TEST(who_wants_less_than_its_rows_need_is_told_so_when_they_are_gone)
{
        setup((struct sc_sched_options){ .tasks_max = 160 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 8, 8);
        for (uint64_t i = 1; i <= 7; i++)
                submit(C, CLIENT, i);
        for (uint64_t i = 1; i <= 7; i++)
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
        want(C, 5, 16); /* it has all seven results, and none is confirmed */
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 7);
        acked(C, 1);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 6);
        acked(C, 3);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 5);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->kib, 16);
        acked(C, 3);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 0);
        client_up(C2, CLIENT + 1);
        want(C2, 1000, 16);
        ck_assert_uint_gt(effect(SC_FX_GRANT)->tasks, 140); /* the rest is there for others */
        teardown();
}
END_TEST

START_TEST(who_wants_more_again_is_not_lowered_any_further)
{
        setup((struct sc_sched_options){ .tasks_max = 160 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 8, 8);
        for (uint64_t i = 1; i <= 7; i++)
                submit(C, CLIENT, i);
        for (uint64_t i = 1; i <= 7; i++)
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
        want(C, 5, 16);
        want(C, 50, 16);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 50);
        acked(C, 7);
        ck_assert_uint_eq(effects(SC_FX_GRANT), 0);
        want(C, 0, 0);
        down(C);
        client_up(C, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 150);
        teardown();
}
END_TEST

START_TEST(a_client_without_a_link_holds_only_what_its_rows_need)
{
        setup((struct sc_sched_options){ .tasks_max = 160 });
        client_up(C, CLIENT);
        submit(C, CLIENT, 1);
        down(C);
        client_up(C2, CLIENT + 1);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 149);
        client_up(C3, CLIENT);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 1);
        teardown();
}
END_TEST

START_TEST(bytes_beyond_the_grant_close_the_client)
{
        static char body[SC_BODY_MAX];
        setup((struct sc_sched_options){ .bytes_max = 2 << 20 });
        client_up(C, CLIENT);
        uint32_t kib = effect(SC_FX_GRANT)->kib;
        ck_assert_uint_gt(kib, 0);
        ck_assert_uint_le(kib, 2048 / 2);
        struct sc_spec spec = spec_f();
        spec.body           = (struct sc_view){ body, sizeof body };
        /* One body more than granted is let pass: the two sides may weigh differently. */
        submit_spec(C, CLIENT, 1, spec);
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 0);
        submit_spec(C, CLIENT, 2, spec);
        ck_assert(is_closed(C, SC_E_FULL));
        teardown();
}
END_TEST

START_TEST(above_the_limit_of_bytes_results_go_first)
{
        static char result[SC_RESULT_MAX];
        setup((struct sc_sched_options){ .bytes_max = 1 << 20 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        submit(C, CLIENT, 2);
        done_as(W, task(CLIENT, 1), run_of(CLIENT, 1), (struct sc_outcome){ .result = { result, sizeof result } });
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        acked(C, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

START_TEST(there_are_only_so_many_peers)
{
        setup((struct sc_sched_options){ .peers_max = 2 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 1);
        up(9, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
        ck_assert(is_closed(9, SC_E_FULL));
        client_up(C2, CLIENT); /* the same peer again is no peer more */
        ck_assert(!is_closed(C2, SC_E_FULL));
        ck_assert_uint_eq(stats().links, 2);
        teardown();
}
END_TEST

static void refused(struct sc_hello hello)
{
        up(50, hello, 1);
        ck_assert(is_closed(50, SC_E_PROTOCOL));
        ck_assert_uint_eq(stats().links, 0);
}

START_TEST(a_hello_out_of_bounds_is_refused)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        refused(hello_of(SC_ROLE_CLIENT, 0));
        refused(hello_of(SC_ROLE_SCHEDULER, 1));
        refused(hello_of(SC_ROLE_NONE, 1));
        struct sc_hello worker = hello_of(SC_ROLE_WORKER, WORKER);
        refused(worker);
        worker.slots = SC_SLOTS_MAX + 1;
        refused(worker);
        worker.slots      = 1;
        worker.free_slots = 2;
        refused(worker);
        worker.free_slots     = 1;
        worker.function_count = SC_FUNCTIONS_MAX + 1;
        refused(worker);
        worker.function_count = 1;
        worker.functions      = &(const struct sc_view){ "", 0 };
        refused(worker);
        struct sc_hello version = hello_of(SC_ROLE_CLIENT, CLIENT);
        version.version_min     = SC_VERSION_MAX + 1;
        refused(version);
        teardown();
}
END_TEST

START_TEST(names_may_be_as_long_as_the_limit_and_no_longer)
{
        static char          name[SC_NAME_MAX + 1];
        const struct sc_view fits = { name, SC_NAME_MAX }, too_long = { name, SC_NAME_MAX + 1 };
        memset(name, 'n', sizeof name);
        setup((struct sc_sched_options){ .tasks_max = 0 });
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, WORKER);
        hello.slots = hello.free_slots = SC_SLOTS_MAX;
        hello.name = hello.tenant = fits;
        hello.functions           = &fits;
        hello.function_count      = 1;
        up(W, hello, 1);
        ck_assert_uint_eq(sends(W, SC_MSG_WELCOME), 1);
        bye(W);
        hello.functions = &too_long;
        refused(hello);
        hello.functions = &fits;
        hello.tenant    = too_long;
        refused(hello);
        hello.tenant = fits;
        hello.name   = too_long;
        refused(hello);
        teardown();
}
END_TEST

START_TEST(nonsense_in_a_submit_closes_the_client)
{
        static char    big[SC_BODY_MAX + 1], name[SC_NAME_MAX + 1];
        struct sc_spec specs[] = { spec_f(), spec_f(), spec_f(), spec_f(), spec_f() };
        specs[0].kind          = SC_TASK_KINDS;
        specs[1].function      = (struct sc_view){ "", 0 };
        specs[2].kind          = SC_TASK_COMMAND;
        specs[3].body          = (struct sc_view){ big, sizeof big };
        specs[4].function      = (struct sc_view){ name, sizeof name };
        setup((struct sc_sched_options){ .tasks_max = 0 });
        for (uint64_t i = 0; i < 5; i++) {
                client_up(10 + i, CLIENT);
                submit_spec(10 + i, CLIENT, 1, specs[i]);
                ck_assert(is_closed(10 + i, SC_E_PROTOCOL));
        }
        client_up(20, CLIENT);
        submit(20, CLIENT, 0);
        ck_assert(is_closed(20, SC_E_PROTOCOL));
        client_up(21, CLIENT);
        submit(21, CLIENT + 1, 1);
        ck_assert(is_closed(21, SC_E_PROTOCOL));
        client_up(22, CLIENT);
        client_up(22, CLIENT);
        ck_assert(is_closed(22, SC_E_PROTOCOL));
        client_up(23, CLIENT);
        about(23, SC_MSG_STARTED, task(CLIENT, 1), 1);
        ck_assert(is_closed(23, SC_E_PROTOCOL));
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_result_that_cannot_be_kept_still_ends_its_task)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        worker_up(W, WORKER, 1, 1);
        submit(C, CLIENT, 1);
        rig.fail.fail_at = rig.fail.asked + 1;
        done(W, task(CLIENT, 1), run_of(CLIENT, 1), SC_REASON_SUCCESS);
        const struct sc_outcome *o = &sent(C, SC_MSG_RESULT)->result.outcome;
        ck_assert_uint_eq(o->reason, SC_REASON_LIMIT);
        ck_assert_str_eq(text_of(o->text), "the scheduler had no memory for the result");
        acked(C, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        teardown();
}
END_TEST

START_TEST(a_submit_without_memory_closes_the_link_and_may_be_said_again)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
        rig.fail.fail_at = rig.fail.asked + 1;
        submit(C, CLIENT, 1);
        ck_assert(is_closed(C, SC_E_NOMEM));
        client_up(C2, CLIENT);
        ck_assert_uint_eq(sent(C2, SC_MSG_WELCOME)->welcome.known_up_to, 0);
        submit(C2, CLIENT, 1);
        ck_assert_uint_eq(sc_sched_rows(rig.s), 1);
        teardown();
}
END_TEST

START_TEST(ten_thousand_results_are_resent_and_confirmed_in_bounded_steps)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        rig.unchecked = true;
        client_up(C, CLIENT);
        want(C, 20000, 1 << 16);
        worker_up(W, WORKER, 64, 10000);
        for (uint64_t i = 1; i <= 10000; i++) {
                submit(C, CLIENT, i);
                done(W, task(CLIENT, i), run_of(CLIENT, i), SC_REASON_SUCCESS);
        }
        client_up(C2, CLIENT);
        uint64_t next = 1, most = 0;
        for (;;) {
                for (uint32_t i = 0; i < sends(C2, SC_MSG_RESULT); i += 97)
                        ck_assert_uint_eq(sent_nth(C2, SC_MSG_RESULT, i)->result.task.lo, next + i);
                next += sends(C2, SC_MSG_RESULT);
                most = out.len > most ? out.len : most;
                if (sc_sched_deadline(rig.s) > rig.now)
                        break;
                tick(0);
        }
        ck_assert_uint_eq(next, 10001);
        ck_assert_uint_le(most, SC_EFFECTS_MAX);
        acked(C2, 10000);
        ck_assert_uint_gt(sc_sched_rows(rig.s), 0);
        settle();
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("limits");
        tcase_add_test(tests, a_client_may_fill_its_grant_and_not_one_more);
        tcase_add_test(tests, grants_never_sum_above_the_limit_and_a_sixteenth_is_kept_back);
        tcase_add_test(tests, a_small_scheduler_gives_no_client_what_it_would_keep_when_idle);
        tcase_add_test(tests, where_several_wait_for_room_for_a_large_task_one_is_lent_it);
        tcase_add_test(tests, a_client_that_fills_its_grant_is_given_more_unasked);
        tcase_add_test(tests, who_wants_less_than_its_rows_need_is_told_so_when_they_are_gone);
        tcase_add_test(tests, who_wants_more_again_is_not_lowered_any_further);
        tcase_add_test(tests, a_client_without_a_link_holds_only_what_its_rows_need);
        tcase_add_test(tests, bytes_beyond_the_grant_close_the_client);
        tcase_add_test(tests, above_the_limit_of_bytes_results_go_first);
        tcase_add_test(tests, there_are_only_so_many_peers);
        tcase_add_test(tests, a_hello_out_of_bounds_is_refused);
        tcase_add_test(tests, names_may_be_as_long_as_the_limit_and_no_longer);
        tcase_add_test(tests, nonsense_in_a_submit_closes_the_client);
        tcase_add_test(tests, a_result_that_cannot_be_kept_still_ends_its_task);
        tcase_add_test(tests, a_submit_without_memory_closes_the_link_and_may_be_said_again);
        tcase_add_test(tests, ten_thousand_results_are_resent_and_confirmed_in_bounded_steps);
        return run_tests("sched limits", tests);
}
