/* Transcripts of the scheduler's core: what tasks need and workers offer, policies, how many needs there may be. */
#include "test_sched_kit.h"

#include "run_tests.h"

enum { C = 1, W = 2, W2 = 3, W3 = 4, C2 = 5 };

static struct sc_plan plan;

static struct sc_spec needing(const char *needs)
{
        struct sc_spec spec = spec_f();
        plan                = (struct sc_plan){ .needs = { needs, strlen(needs) } };
        spec.plan           = &plan;
        return spec;
}

static void submit_needing(uint64_t seq, const char *needs)
{
        submit_spec(C, CLIENT, seq, needing(needs));
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

static void succeed(sc_link_id link, uint64_t seq)
{
        done(link, task(CLIENT, seq), run_of(CLIENT, seq), SC_REASON_SUCCESS);
}

static void begin(struct sc_sched_options options)
{
        setup(options);
        client_up(C, CLIENT);
}

START_TEST(what_nobody_offers_waits_and_blocks_nobody)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        worker_up(W, WORKER, 2, 4);
        submit_needing(1, "gpu=1000");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        submit(C, CLIENT, 2);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 2);
        offering(W2, WORKER + 1, 2, 4, "gpu=1000");
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 1);
        const struct sc_spec *spec = &sent(W2, SC_MSG_ASSIGN)->assign.spec;
        ck_assert_str_eq(text_of(spec->plan->needs), "gpu=1000");
        teardown();
}
END_TEST

START_TEST(an_amount_that_is_too_small_is_never_enough)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 2, 4, "cpu=500,gpu=999,linux");
        submit_needing(1, "cpu=1,gpu=1000");
        submit(C, CLIENT, 2); /* cpu=1 */
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        submit_needing(3, "cpu=1,gpu,linux");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1); /* a need without an amount is met by any */
        submit_needing(4, "cpu=1,linux=1000");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        teardown();
}
END_TEST

START_TEST(needs_that_are_the_same_are_one_set)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 4, 4, "gpu=4000,mem=1000");
        submit_needing(1, "cpu=1000");
        ck_assert_ptr_null(sent(W, SC_MSG_ASSIGN)->assign.spec.plan);
        submit_needing(2, "cpu=1000,gpu=1000");
        ck_assert_str_eq(text_of(sent(W, SC_MSG_ASSIGN)->assign.spec.plan->needs), "gpu=1000");
        submit_needing(3, "apu,cpu=1000");
        offering(W2, WORKER + 1, 4, 4, "apu");
        ck_assert_str_eq(text_of(sent(W2, SC_MSG_ASSIGN)->assign.spec.plan->needs), "apu");
        submit_needing(4, "cpu=10000");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN) + sends(W2, SC_MSG_ASSIGN), 0);
        teardown();
}
END_TEST

START_TEST(who_finds_the_amount_taken_waits_behind_its_like_only)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 4, 8, "gpu=2000");
        for (uint64_t i = 1; i <= 5; i++)
                submit_needing(i, "gpu=1000");
        for (uint64_t i = 1; i <= 5; i++)
                ck_assert_uint_ne(run_of(CLIENT, i), 0); /* two hold, three wait behind them */
        submit_needing(6, "gpu=500");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        submit(C, CLIENT, 7);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        submit_needing(8, "gpu=1000"); /* younger than the one that waits for what these hold */
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        for (uint64_t i = 1; i <= 3; i++) {
                succeed(W, i);
                ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        }
        succeed(W, 4); /* now a half is free, and nobody waits behind to take it over */
        ck_assert_uint_eq(sent_nth(W, SC_MSG_ASSIGN, 0)->assign.task.lo, 6);
        ck_assert_uint_eq(sent_nth(W, SC_MSG_ASSIGN, 1)->assign.task.lo, 8); /* behind 5 */
        teardown();
}
END_TEST

START_TEST(a_flood_of_one_set_does_not_starve_another_that_waits_for_a_slot)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 2, 10, "linux");
        for (uint64_t i = 1; i <= 10; i++)
                submit(C, CLIENT, i);
        submit_needing(11, "linux");
        for (uint64_t i = 12; i <= 30; i++)
                submit(C, CLIENT, i);
        for (uint64_t i = 1; run_of(CLIENT, 11) == 0; i++) {
                ck_assert_uint_le(i, 10);
                succeed(W, i);
        }
        for (uint64_t i = 12; i <= 30; i++)
                ck_assert(run_of(CLIENT, i) == 0 || run_of(CLIENT, i) > run_of(CLIENT, 11));
        teardown();
}
END_TEST

START_TEST(what_can_start_goes_before_what_would_wait)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 4, 4, "gpu=1000");
        for (uint64_t i = 1; i <= 4; i++)
                submit(C, CLIENT, i);
        for (uint64_t i = 5; i <= 8; i++)
                submit_needing(i, "cpu=1,gpu=1000");
        submit(C, CLIENT, 9);
        for (uint64_t i = 1; i <= 2; i++)
                succeed(W, i);
        ck_assert_uint_ne(run_of(CLIENT, 5), 0);
        ck_assert_uint_eq(run_of(CLIENT, 6), 0); /* it would wait for the gpu, and 9 need not wait */
        ck_assert_uint_ne(run_of(CLIENT, 9), 0);
        teardown();
}
END_TEST

START_TEST(an_idle_worker_gets_back_only_what_it_can_run)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 2, 6, "gpu=1000");
        for (uint64_t i = 1; i <= 4; i++)
                submit_needing(i, "gpu=1000");
        tick(2 * SC_MS);
        worker_up(W2, WORKER + 1, 4, 8);
        tick(2 * SC_MS);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 0);
        offering(W3, WORKER + 2, 4, 8, "gpu=2000");
        tick(2 * SC_MS);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 2); /* as many as it has gpus for, at once */
        ck_assert_uint_eq(sent_nth(W, SC_MSG_RECALL, 0)->about.task.lo, 4);
        ck_assert_uint_eq(sent_nth(W, SC_MSG_RECALL, 1)->about.task.lo, 3);
        about(W, SC_MSG_RETURNED, task(CLIENT, 4), run_of(CLIENT, 4));
        ck_assert_uint_eq(sent(W3, SC_MSG_ASSIGN)->assign.task.lo, 4);
        teardown();
}
END_TEST

/* Its gpu goes to 5, which is first in the worker's queue, while the scheduler counts it as 3's. */
START_TEST(what_waits_because_the_worker_began_something_else_is_asked_back)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 3, 6, "cpu=3000");
        submit_needing(1, "cpu=2000");
        submit(C, CLIENT, 2);
        submit_needing(3, "cpu=2000"); /* behind 1 */
        succeed(W, 2);
        submit(C, CLIENT, 4); /* holds what 2 did */
        ck_assert_uint_ne(run_of(CLIENT, 4), 0);
        about(W, SC_MSG_STARTED, task(CLIENT, 1), run_of(CLIENT, 1));
        tick(2 * SC_MS);
        worker_up(W2, WORKER + 1, 1, 2);
        tick(2 * SC_MS);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 0); /* 3 does not fit there, and 4 has begun as far as we know */
        about(W, SC_MSG_STARTED, task(CLIENT, 3), run_of(CLIENT, 3));
        tick(2 * SC_MS);
        ck_assert_uint_eq(sent(W, SC_MSG_RECALL)->about.task.lo, 4);
        about(W, SC_MSG_RETURNED, task(CLIENT, 4), run_of(CLIENT, 4));
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 4);
        teardown();
}
END_TEST

/* What waits for the gpu is more than the worker has come to want; cpus are free all the same. */
START_TEST(a_worker_that_wants_less_is_still_sent_what_can_begin)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 4, 12, "gpu=1000");
        for (uint64_t i = 1; i <= 8; i++)
                submit_needing(i, "gpu=1000");
        ck_assert_uint_ne(run_of(CLIENT, 8), 0);
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 5 });
        for (uint64_t i = 9; i <= 11; i++) {
                submit(C, CLIENT, i);
                ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 1);
        }
        submit(C, CLIENT, 12); /* there is no slot for this one */
        submit_needing(13, "gpu=1000");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        succeed(W, 9);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 12);
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 3 }); /* two slots do not come free any more */
        succeed(W, 10);
        succeed(W, 11);
        submit(C, CLIENT, 14);
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        teardown();
}
END_TEST

START_TEST(a_kept_run_holds_what_it_needs)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        offering(W, WORKER, 4, 4, "gpu=1000");
        submit_needing(1, "gpu=1000");
        const struct sc_hold hold = { task(CLIENT, 1), EPOCH, run_of(CLIENT, 1), SC_HOLD_RUNNING };
        struct sc_hello      back = hello_of(SC_ROLE_WORKER, WORKER);
        about(W, SC_MSG_STARTED, hold.task, hold.run);
        down(W);
        back.slots = back.free_slots = 4;
        back.functions      = functions_fg;
        back.function_count = 2;
        back.offers         = (struct sc_view){ "gpu=1000", 8 };
        back.holds          = &hold;
        back.hold_count     = 1;
        up(W2, back, 4);
        ck_assert_uint_eq(sends(W2, SC_MSG_KEEP), 1);
        submit_needing(2, "gpu=500");
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        succeed(W2, 1);
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 2);
        teardown();
}
END_TEST

START_TEST(an_orphan_that_is_adopted_holds_what_its_task_needs)
{
        begin((struct sc_sched_options){ .tasks_max = 0 });
        const struct sc_hold hold = { task(CLIENT, 1), EPOCH - 1, 5, SC_HOLD_RUNNING };
        struct sc_hello      old  = hello_of(SC_ROLE_WORKER, WORKER);
        old.slots = old.free_slots = 4;
        old.functions      = functions_fg;
        old.function_count = 2;
        old.offers         = (struct sc_view){ "gpu=1000", 8 };
        old.holds          = &hold;
        old.hold_count     = 1;
        up(W, old, 4);
        submit_needing(1, "gpu=1000");
        ck_assert_uint_eq(sends(W, SC_MSG_KEEP), 1);
        submit_needing(2, "gpu=500");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        succeed(W, 1);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 2);
        teardown();
}
END_TEST

START_TEST(a_last_chance_needs_a_worker_that_offers_what_it_needs)
{
        begin((struct sc_sched_options){ .losses_max = 2 });
        offering(W, WORKER, 2, 4, "gpu=1000");
        submit_needing(1, "gpu=1000");
        down(W);
        worker_up(W2, WORKER + 1, 2, 4);
        ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 0);
        offering(W3, WORKER + 2, 2, 4, "gpu=1000");
        ck_assert_uint_eq(sends(W3, SC_MSG_ASSIGN), 1);
        submit_needing(2, "gpu");
        ck_assert_uint_eq(sends(W3, SC_MSG_ASSIGN), 0);
        succeed(W3, 1);
        ck_assert_uint_eq(sends(W3, SC_MSG_ASSIGN), 1);
        teardown();
}
END_TEST

/* ---- policies ------------------------------------------------------------------------------------*/

START_TEST(even_load_gives_one_at_a_time_to_who_has_least)
{
        begin((struct sc_sched_options){ .allocate = SC_ALLOCATE_EVEN_LOAD });
        for (uint64_t i = 1; i <= 60; i++)
                submit(C, CLIENT, i);
        worker_up(W, WORKER, 1, 0);
        worker_up(W2, WORKER + 1, 3, 0);
        step((struct sc_event){ .kind = SC_EV_GRANT, .link = W, .tasks = 100 });
        uint32_t first = sends(W, SC_MSG_ASSIGN);
        ck_assert_uint_eq(first, 60);
        teardown();
        begin((struct sc_sched_options){ .allocate = SC_ALLOCATE_EVEN_LOAD });
        worker_up(W, WORKER, 1, 100);
        worker_up(W2, WORKER + 1, 3, 100);
        uint32_t small = 0, big = 0;
        for (uint64_t i = 1; i <= 60; i++) {
                submit(C, CLIENT, i);
                small += sends(W, SC_MSG_ASSIGN);
                big += sends(W2, SC_MSG_ASSIGN);
                ck_assert_uint_le(small * 3, big + 3);
                ck_assert_uint_le(big, small * 3 + 3);
        }
        teardown();
}
END_TEST

START_TEST(capability_counts_tasks_and_not_amounts)
{
        begin((struct sc_sched_options){ .allocate = SC_ALLOCATE_CAPABILITY });
        offering(W, WORKER, 4, 100, "gpu=1000");
        offering(W2, WORKER + 1, 1, 100, "gpu=1000");
        offering(W3, WORKER + 2, 1, 100, "linux");
        for (uint64_t i = 1; i <= 20; i++) {
                submit_needing(i, "gpu=8000");
                ck_assert_uint_eq(sends(i % 2 == 1 ? W : W2, SC_MSG_ASSIGN), 1);
        }
        teardown();
}
END_TEST

START_TEST(what_would_come_back_to_where_it_was_is_not_asked_back)
{
        begin((struct sc_sched_options){ .allocate = SC_ALLOCATE_CAPABILITY });
        worker_up(W, WORKER, 1, 8);
        for (uint64_t i = 1; i <= 3; i++)
                submit(C, CLIENT, i);
        worker_up(W2, WORKER + 1, 8, 16);
        for (uint64_t i = 4; i <= 5; i++) {
                submit(C, CLIENT, i);
                ck_assert_uint_eq(sends(W2, SC_MSG_ASSIGN), 1);
        }
        tick(2 * SC_MS);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 0); /* with two left there, it would be the one with fewest */
        succeed(W2, 4);
        tick(2 * SC_MS);
        ck_assert_uint_eq(sends(W, SC_MSG_RECALL), 1);
        about(W, SC_MSG_RETURNED, task(CLIENT, 3), run_of(CLIENT, 3));
        ck_assert_uint_eq(sent(W2, SC_MSG_ASSIGN)->assign.task.lo, 3);
        teardown();
}
END_TEST

/* ---- limits --------------------------------------------------------------------------------------*/

START_TEST(who_has_no_free_slot_takes_what_is_stuck_if_amounts_do_not_count)
{
        begin((struct sc_sched_options){ .allocate = SC_ALLOCATE_CAPABILITY });
        offering(W, WORKER, 2, 3, "gpu=1000");
        submit_needing(1, "gpu=1000");
        submit_needing(2, "gpu=1000");
        submit_needing(3, "gpu=1000");
        submit_needing(4, "gpu=500");
        ck_assert_uint_eq(sends(W, SC_MSG_ASSIGN), 0);
        succeed(W, 1);
        ck_assert_uint_eq(sent(W, SC_MSG_ASSIGN)->assign.task.lo, 4);
        teardown();
}
END_TEST

START_TEST(what_is_not_canonical_closes_the_peer)
{
        static const char *const wrong[] = { "gpu=1", "b,a", "a,a", "a=0", "a=01", "=1", "1a", "a=1.5", "a,", " a" };
        for (size_t i = 1; i < sizeof wrong / sizeof *wrong; i++) {
                begin((struct sc_sched_options){ .tasks_max = 0 });
                submit_needing(1, wrong[i]);
                ck_assert(is_closed(C, SC_E_PROTOCOL));
                offering(W, WORKER, 1, 1, wrong[i]);
                ck_assert(is_closed(W, SC_E_PROTOCOL));
                teardown();
        }
        begin((struct sc_sched_options){ .tasks_max = 0 });
        submit_needing(1, wrong[0]);
        ck_assert(!is_closed(C, SC_E_PROTOCOL));
        teardown();
}
END_TEST

START_TEST(there_are_only_so_many_sets_at_once)
{
        enum { MOST = 4095 }; /* and the one of those that need what most do */
        begin((struct sc_sched_options){ .tasks_max = 0 });
        rig.unchecked = true;
        char needs[32];
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 10000, .kib = 1000 } });
        for (uint64_t i = 1; i <= MOST; i++) {
                snprintf(needs, sizeof needs, "cpu=%u", (unsigned)(1000 + i));
                submit_needing(i, needs);
                ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        }
        submit_needing(MOST + 1, "gpu=1");
        const struct sc_result *r = &sent(C, SC_MSG_RESULT)->result;
        ck_assert_uint_eq(r->outcome.reason, SC_REASON_LIMIT);
        ck_assert_uint_eq(r->attempts, 0);
        ck_assert(!is_closed(C, SC_E_PROTOCOL));
        submit(C, CLIENT, MOST + 2); /* what most need is always there */
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        acked(C, 1);
        cancel(C, task(CLIENT, 1), false);
        acked(C, 1);
        settle();
        submit_needing(MOST + 3, "gpu=1");
        ck_assert_uint_eq(sends(C, SC_MSG_RESULT), 0);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(lanes_have_so_many_bytes_and_no_more)
{
        enum { TRIES = 4000 };
        begin((struct sc_sched_options){ .bytes_max = 1 << 20 });
        rig.unchecked = true;
        char     name[32];
        uint32_t ended = 0;
        say(C, &(struct sc_msg){ .kind = SC_MSG_WANT, .want = { .tasks = 2 * TRIES, .kib = 1000 } });
        const size_t before = rig.fail.mem.used;
        for (uint64_t i = 1; i <= TRIES; i++) {
                struct sc_spec spec = spec_f();
                spec.function       = (struct sc_view){ name, (size_t)snprintf(name, sizeof name, "f%u", (unsigned)i) };
                submit_spec(C, CLIENT, i, spec);
                ended += sends(C, SC_MSG_RESULT);
        }
        ck_assert_uint_gt(ended, 0);
        ck_assert_uint_lt(ended, TRIES);
        ck_assert_uint_lt(rig.fail.mem.used - before, 4 << 20);
        ck_assert_uint_eq(stats().tasks_failed, ended);
        sc_sched_check(rig.s);
        teardown();
}
END_TEST

START_TEST(a_need_of_everything_fails_no_allocation_halfway)
{
        for (size_t fail_at = 1; fail_at < 400; fail_at++) {
                const struct sc_sched_options options = { .tasks_max = 0 };
                if (!setup_at(&options, fail_at)) {
                        ck_assert_uint_eq(fail_mem_leaks(&rig.fail), 0);
                        continue;
                }
                client_up(C, CLIENT);
                offering(W, WORKER, 4, 4, "gpu=2000,linux");
                for (uint64_t i = 1; i <= 4; i++) {
                        struct sc_spec spec = needing(i % 2 ? "gpu=1000" : "linux");
                        spec.priority       = (int32_t)i;
                        submit_spec(C, CLIENT, i, spec);
                }
                teardown();
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("amounts");
        tcase_set_timeout(tests, 60);
        tcase_add_test(tests, what_nobody_offers_waits_and_blocks_nobody);
        tcase_add_test(tests, an_amount_that_is_too_small_is_never_enough);
        tcase_add_test(tests, needs_that_are_the_same_are_one_set);
        tcase_add_test(tests, who_finds_the_amount_taken_waits_behind_its_like_only);
        tcase_add_test(tests, a_flood_of_one_set_does_not_starve_another_that_waits_for_a_slot);
        tcase_add_test(tests, what_can_start_goes_before_what_would_wait);
        tcase_add_test(tests, an_idle_worker_gets_back_only_what_it_can_run);
        tcase_add_test(tests, what_waits_because_the_worker_began_something_else_is_asked_back);
        tcase_add_test(tests, a_worker_that_wants_less_is_still_sent_what_can_begin);
        tcase_add_test(tests, a_kept_run_holds_what_it_needs);
        tcase_add_test(tests, an_orphan_that_is_adopted_holds_what_its_task_needs);
        tcase_add_test(tests, a_last_chance_needs_a_worker_that_offers_what_it_needs);
        tcase_add_test(tests, even_load_gives_one_at_a_time_to_who_has_least);
        tcase_add_test(tests, capability_counts_tasks_and_not_amounts);
        tcase_add_test(tests, what_would_come_back_to_where_it_was_is_not_asked_back);
        tcase_add_test(tests, who_has_no_free_slot_takes_what_is_stuck_if_amounts_do_not_count);
        tcase_add_test(tests, what_is_not_canonical_closes_the_peer);
        tcase_add_test(tests, there_are_only_so_many_sets_at_once);
        tcase_add_test(tests, lanes_have_so_many_bytes_and_no_more);
        tcase_add_test(tests, a_need_of_everything_fails_no_allocation_halfway);
        return run_tests("sched amounts", tests);
}
