/* Transcripts of the worker's core: runs that wait for others, and give their slot and cpu away meanwhile. */
#include "test_work_kit.h"

#include "run_tests.h"

enum { WARM = 16, FIRST = 101 };

static struct sc_plan plan;

static void begin_with(struct sc_work_options options)
{
        ck_assert(setup_work(&options, 0));
        up();
}

static void begin(uint32_t slots)
{
        begin_with((struct sc_work_options){ .slots = slots });
}

static void assign_needing(uint64_t run, const char *needs)
{
        struct sc_spec spec = { .function = { "f", 1 }, .body = { "body", 4 } };
        plan                = (struct sc_plan){ .needs = { needs, strlen(needs) } };
        spec.plan           = &plan;
        assign_spec(run, &spec);
}

static void waits(uint64_t run)
{
        step((struct sc_event){ .kind = SC_EV_WAITS, .run = run });
}

static void wakes(uint64_t run)
{
        step((struct sc_event){ .kind = SC_EV_WAKES, .run = run });
}

/* Short runs, so that the next ones are told ahead. */
static void begin_warm(uint32_t slots)
{
        begin(slots);
        for (uint64_t run = 1; run <= WARM; run++) {
                assign(run);
                ran_for(run, SC_REASON_SUCCESS, 1);
        }
        acked(WARM);
}

static bool resumed(uint64_t run)
{
        for (uint32_t i = 0; i < out.len; i++)
                if (out.at[i].kind == SC_FX_RESUME && out.at[i].run == run && out.at[i].status == SC_OK)
                        return true;
        return false;
}

START_TEST(who_waits_gives_its_slot_to_the_next)
{
        begin(1);
        assign(1);
        assign(2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        waits(1);
        ck_assert_uint_eq(effect(SC_FX_PARK)->run, 1);
        ck_assert_uint_eq(sent(SC_MSG_WAITING)->about.run, 1);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, 2);
        ck_assert_uint_eq(stats().running, 2);
        ck_assert_uint_eq(stats().waiting, 1);
        teardown_work();
}
END_TEST

START_TEST(who_can_go_on_does_before_anything_new)
{
        begin(1);
        assign(1);
        assign(2);
        waits(1);
        assign(3);
        wakes(1);
        ck_assert_uint_eq(effects(SC_FX_RESUME), 0); /* there is no slot */
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(2, SC_REASON_SUCCESS);
        ck_assert(resumed(1));
        ck_assert_uint_eq(sent(SC_MSG_RESUMED)->about.run, 1);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, 3);
        teardown_work();
}
END_TEST

START_TEST(they_go_on_in_the_order_in_which_they_could)
{
        begin(1);
        for (uint64_t run = 1; run <= 4; run++) {
                assign(run);
                if (run < 4)
                        waits(run);
        }
        wakes(3);
        wakes(1);
        wakes(2);
        ran(4, SC_REASON_SUCCESS);
        ck_assert(resumed(3) && !resumed(1) && !resumed(2));
        ran(3, SC_REASON_SUCCESS);
        ck_assert(resumed(1) && !resumed(2));
        waits(1); /* again */
        ck_assert(resumed(2));
        teardown_work();
}
END_TEST

START_TEST(a_free_slot_is_taken_at_once)
{
        begin(1);
        assign(1);
        waits(1);
        wakes(1);
        ck_assert(resumed(1));
        ck_assert_uint_eq(sends(SC_MSG_RESUMED), 1);
        teardown_work();
}
END_TEST

START_TEST(a_run_that_becomes_ready_to_go_on_is_not_passed_by_an_assign)
{
        begin_with((struct sc_work_options){ .slots = 2, .offers = { "cpu=1000", 8 } });
        assign(1);
        waits(1);
        assign(2);
        wakes(1); /* a slot is free, cpu is not */
        ck_assert_uint_eq(effects(SC_FX_RESUME), 0);
        assign_needing(3, "cpu=1");
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(2, SC_REASON_SUCCESS);
        ck_assert(resumed(1));
        teardown_work();
}
END_TEST

START_TEST(it_gives_cpu_back_and_nothing_else)
{
        begin_with((struct sc_work_options){ .slots = 3, .offers = { "cpu=2000,gpu=1000", 17 } });
        assign_needing(1, "cpu=2000,gpu=1000");
        assign_needing(2, "gpu=1000");
        assign(3);
        waits(1);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, 3); /* cpu is free, gpu is not */
        wakes(1);
        ck_assert_uint_eq(effects(SC_FX_RESUME), 0);
        ran(3, SC_REASON_SUCCESS);
        ck_assert(resumed(1));
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, 2);
        teardown_work();
}
END_TEST

START_TEST(a_wait_is_no_start_that_must_still_be_told)
{
        begin(1);
        assign(1);
        waits(1);
        tick(SC_S);
        ck_assert_uint_eq(sends(SC_MSG_STARTED), 0);
        teardown_work();
}
END_TEST

START_TEST(one_too_many_is_told_so_and_keeps_its_slot)
{
        begin(1);
        for (uint64_t run = 1; run <= SC_WAITING_MAX; run++) {
                assign(run);
                waits(run);
                ck_assert_uint_eq(effects(SC_FX_PARK), 1);
        }
        assign(5000);
        waits(5000);
        ck_assert_uint_eq(effects(SC_FX_PARK), 0);
        ck_assert_int_eq(effect(SC_FX_RESUME)->status, SC_E_FULL);
        ck_assert_uint_eq(sends(SC_MSG_WAITING), 0);
        wakes(1);
        ck_assert_uint_eq(effects(SC_FX_RESUME), 0);
        ran(5000, SC_REASON_SUCCESS);
        ck_assert(resumed(1));
        waits(1); /* there is room for one again */
        ck_assert_uint_eq(effects(SC_FX_PARK), 1);
        teardown_work();
}
END_TEST

START_TEST(nothing_is_told_ahead_while_somebody_waits)
{
        begin_warm(1);
        assign(FIRST);
        waits(FIRST);
        assign(FIRST + 1);
        assign(FIRST + 2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        wakes(FIRST);
        ran_for(FIRST + 1, SC_REASON_SUCCESS, 1);
        ck_assert(resumed(FIRST));
        ck_assert_uint_eq(effects(SC_FX_RUN), 1); /* from now on */
        teardown_work();
}
END_TEST

START_TEST(what_was_told_ahead_of_a_wait_begins_with_it)
{
        begin_warm(1);
        assign(FIRST);
        assign(FIRST + 1);
        assign(FIRST + 2);
        waits(FIRST);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0); /* it knows of it */
        ck_assert_uint_eq(stats().running, 2);
        ck_assert_uint_eq(stats().queued, 1);
        teardown_work();
}
END_TEST

START_TEST(what_was_told_ahead_is_asked_back_before_anybody_goes_on)
{
        begin_warm(1);
        for (uint64_t run = FIRST; run < FIRST + 4; run++)
                assign(run);
        waits(FIRST); /* the second has begun */
        wakes(FIRST);
        ck_assert_uint_eq(effects(SC_FX_TAKE_BACK), 2);
        back(FIRST + 3);
        back(FIRST + 2);
        ck_assert_uint_eq(effects(SC_FX_RESUME), 0);
        ran_for(FIRST + 1, SC_REASON_SUCCESS, 1);
        ck_assert(resumed(FIRST));
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, FIRST + 2); /* ahead again */
        teardown_work();
}
END_TEST

START_TEST(what_has_begun_meanwhile_keeps_its_slot)
{
        begin_warm(1);
        for (uint64_t run = FIRST; run < FIRST + 3; run++)
                assign(run);
        waits(FIRST);
        wakes(FIRST); /* the third is asked back, and does not come: the second had ended */
        ck_assert_uint_eq(effect(SC_FX_TAKE_BACK)->run, FIRST + 2);
        ran_for(FIRST + 1, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(effects(SC_FX_RESUME), 0);
        ran_for(FIRST + 2, SC_REASON_SUCCESS, 1);
        ck_assert(resumed(FIRST));
        teardown_work();
}
END_TEST

START_TEST(a_wait_of_what_is_not_known_to_have_begun_is_one_later)
{
        begin_warm(1);
        assign(FIRST);
        assign(FIRST + 1);
        waits(FIRST + 1); /* the news of the first one's end comes after it */
        ck_assert_uint_eq(effects(SC_FX_PARK), 0);
        ck_assert_uint_eq(sc_work_to_park(rig.w), 1);
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(effect(SC_FX_PARK)->run, FIRST + 1);
        ck_assert_uint_eq(sent(SC_MSG_WAITING)->about.run, FIRST + 1);
        assign(FIRST + 2);
        assign(FIRST + 3);
        waits(FIRST + 2);
        wakes(FIRST + 2);
        teardown_work();
}
END_TEST

START_TEST(it_may_go_on_before_it_was_known_to_have_begun)
{
        begin_warm(1);
        assign(FIRST);
        assign(FIRST + 1);
        waits(FIRST + 1);
        wakes(FIRST + 1);
        ck_assert(resumed(FIRST + 1));
        ran_for(FIRST, SC_REASON_SUCCESS, 1);
        ck_assert_uint_eq(effects(SC_FX_PARK), 0);
        ran_for(FIRST + 1, SC_REASON_SUCCESS, 1);
        teardown_work();
}
END_TEST

START_TEST(less_is_fetched_ahead_while_somebody_waits)
{
        begin_with((struct sc_work_options){ .slots = 2, .prefetch = 200 });
        assign(1);
        waits(1);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 4);
        wakes(1);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 202);
        teardown_work();
}
END_TEST

START_TEST(a_hello_says_who_waits)
{
        struct sc_hello hello;
        uint32_t        grant;
        begin(1);
        assign(1);
        waits(1);
        assign(2);
        down();
        wakes(1);
        sc_work_hello(rig.w, &hello, &grant);
        ck_assert_uint_eq(hello.hold_count, 2);
        for (uint32_t i = 0; i < 2; i++)
                ck_assert_uint_eq(hello.holds[i].flags,
                                  hello.holds[i].run == 1 ? SC_HOLD_RUNNING | SC_HOLD_WAITING : SC_HOLD_RUNNING);
        ck_assert_uint_eq(hello.free_slots, 0);
        teardown_work();
}
END_TEST

START_TEST(what_changed_since_the_hello_is_said_once_it_is_kept)
{
        begin(1);
        assign(1);
        waits(1);
        assign(2);
        down();
        up(); /* its hello said that 1 waits */
        wakes(1);
        ran(2, SC_REASON_SUCCESS);
        ck_assert(resumed(1));
        ck_assert_uint_eq(sends(SC_MSG_RESUMED), 0);
        answer_hold(SC_MSG_KEEP, 1, 100, 7);
        ck_assert_uint_eq(sent(SC_MSG_RESUMED)->about.run, 7);
        teardown_work();
}
END_TEST

START_TEST(a_run_that_is_dropped_while_it_waits_takes_a_slot_once_more)
{
        begin(1);
        assign(1);
        waits(1);
        down();
        up();
        answer_hold(SC_MSG_DROP, 1, 100, 0);
        ck_assert_uint_eq(effect(SC_FX_STOP)->run, 1);
        assign(2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        wakes(1);
        ran(2, SC_REASON_SUCCESS);
        ck_assert(resumed(1));
        ck_assert_uint_eq(sends(SC_MSG_RESUMED), 0);
        assign(3);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, 3);
        teardown_work();
}
END_TEST

START_TEST(a_limit_counts_waiting)
{
        const struct sc_spec spec = { .function = { "f", 1 }, .body = { "body", 4 }, .timeout_ms = 10 };
        begin(1);
        assign_spec(1, &spec);
        waits(1);
        tick(10 * SC_MS);
        ck_assert_uint_eq(effect(SC_FX_STOP)->run, 1);
        wakes(1);
        ran(1, SC_REASON_TASK);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_RUN_TIMEOUT);
        teardown_work();
}
END_TEST

START_TEST(one_that_is_given_up_has_no_slot_until_it_goes_on)
{
        begin(1);
        assign(1);
        waits(1);
        about(SC_MSG_STOP, 1, true);
        tick(5 * SC_S);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 1);
        assign(2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        wakes(1);
        ran(2, SC_REASON_SUCCESS);
        ck_assert(resumed(1));
        ran(1, SC_REASON_TASK);
        teardown_work();
}
END_TEST

START_TEST(a_worker_that_leaves_lets_go_on_whoever_waits)
{
        begin(1);
        assign(1);
        waits(1);
        assign(2);
        assign(3);
        step((struct sc_event){ .kind = SC_EV_DRAIN });
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 3);
        wakes(1);
        ran(2, SC_REASON_SUCCESS);
        ck_assert(resumed(1));
        ran(1, SC_REASON_SUCCESS);
        acked(2);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

START_TEST(so_does_one_that_has_left_by_force)
{
        begin(1);
        assign(1);
        waits(1);
        assign(2);
        step((struct sc_event){ .kind = SC_EV_RELEASE });
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        wakes(1);
        ck_assert_uint_eq(effects(SC_FX_RESUME), 0);
        ran(2, SC_REASON_TASK);
        ck_assert(resumed(1));
        ran(1, SC_REASON_TASK);
        teardown_work();
}
END_TEST

START_TEST(a_run_has_a_name_as_long_as_somebody_waits_for_it)
{
        uint64_t number = 9;
        begin(1);
        ck_assert(!sc_work_names(rig.w, 1, &number));
        assign(1);
        ck_assert(sc_work_names(rig.w, 1, &number));
        ck_assert_uint_eq(number, 1);
        down();
        ck_assert(sc_work_names(rig.w, 1, &number));
        ck_assert_uint_eq(number, 0); /* until it is kept */
        up();
        answer_hold(SC_MSG_KEEP, 1, 100, 7);
        ck_assert(sc_work_names(rig.w, 1, &number));
        ck_assert_uint_eq(number, 7);
        down();
        up();
        answer_hold(SC_MSG_DROP, 1, 100, 0);
        const struct sc_msg drop = { .kind = SC_MSG_DROP,
                                     .about = { .task = task_of(1), .held_epoch = 100, .held_run = 7 } };
        say(&drop);
        ck_assert(!sc_work_names(rig.w, 1, &number));
        teardown_work();
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("wait");
        tcase_add_test(t, who_waits_gives_its_slot_to_the_next);
        tcase_add_test(t, who_can_go_on_does_before_anything_new);
        tcase_add_test(t, they_go_on_in_the_order_in_which_they_could);
        tcase_add_test(t, a_free_slot_is_taken_at_once);
        tcase_add_test(t, a_run_that_becomes_ready_to_go_on_is_not_passed_by_an_assign);
        tcase_add_test(t, it_gives_cpu_back_and_nothing_else);
        tcase_add_test(t, a_wait_is_no_start_that_must_still_be_told);
        tcase_add_test(t, one_too_many_is_told_so_and_keeps_its_slot);
        tcase_add_test(t, nothing_is_told_ahead_while_somebody_waits);
        tcase_add_test(t, what_was_told_ahead_of_a_wait_begins_with_it);
        tcase_add_test(t, what_was_told_ahead_is_asked_back_before_anybody_goes_on);
        tcase_add_test(t, what_has_begun_meanwhile_keeps_its_slot);
        tcase_add_test(t, a_wait_of_what_is_not_known_to_have_begun_is_one_later);
        tcase_add_test(t, it_may_go_on_before_it_was_known_to_have_begun);
        tcase_add_test(t, less_is_fetched_ahead_while_somebody_waits);
        tcase_add_test(t, a_hello_says_who_waits);
        tcase_add_test(t, what_changed_since_the_hello_is_said_once_it_is_kept);
        tcase_add_test(t, a_run_that_is_dropped_while_it_waits_takes_a_slot_once_more);
        tcase_add_test(t, a_limit_counts_waiting);
        tcase_add_test(t, one_that_is_given_up_has_no_slot_until_it_goes_on);
        tcase_add_test(t, a_worker_that_leaves_lets_go_on_whoever_waits);
        tcase_add_test(t, so_does_one_that_has_left_by_force);
        tcase_add_test(t, a_run_has_a_name_as_long_as_somebody_waits_for_it);
        return run_tests("work_wait", t);
}
