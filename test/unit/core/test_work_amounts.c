/*
 * What runs hold of a worker's offers: who may start beside whom, which indices each gets, and that all of it
 * comes back, however a run ends.
 */
#include "run_tests.h"
#include "test_work_kit.h"

static void begin(const char *offers, uint32_t slots)
{
        const struct sc_work_options options = { .slots = slots, .prefetch = 64, .offers = { offers, strlen(offers) } };
        ck_assert(setup_work(&options, 0));
        up();
}

static void assign_needs(uint64_t run, const char *needs)
{
        const struct sc_plan plan = { .needs = { needs, strlen(needs) } };
        const struct sc_spec spec = { .function = { "f", 1 }, .body = { "body", 4 }, .plan = &plan };
        assign_spec(run, &spec);
}

static void starts(uint64_t run)
{
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, run);
}

static void holds(uint64_t run, const char *name, uint64_t thousandths, uint64_t indices)
{
        struct sc_held held[SC_AMOUNTS_MAX];
        const uint32_t count = sc_work_held(rig.w, run, held);
        for (uint32_t i = 0; i < count; i++) {
                if (held[i].name.len != strlen(name) || memcmp(held[i].name.ptr, name, held[i].name.len) != 0)
                        continue;
                ck_assert_uint_eq(held[i].thousandths, thousandths);
                ck_assert_uint_eq(held[i].indices, indices);
                return;
        }
        ck_abort_msg("it does not hold that");
}

START_TEST(a_worker_offers_a_cpu_for_each_slot_unless_it_says_otherwise)
{
        begin("", 2);
        assign_needs(1, "cpu=2000");
        starts(1);
        assign(2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(1, SC_REASON_SUCCESS);
        starts(2);
        teardown_work();
        begin("cpu=1000", 2);
        assign(1);
        starts(1);
        assign(2);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(1, SC_REASON_SUCCESS);
        starts(2);
        teardown_work();
}
END_TEST

START_TEST(a_run_that_does_not_fit_blocks_nobody_behind_it)
{
        begin("gpu=1000", 4);
        assign_needs(1, "gpu=1000");
        starts(1);
        assign_needs(2, "gpu=1000");
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        assign(3);
        starts(3);
        assign_needs(4, "gpu=1000");
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ck_assert_int_gt(sc_work_deadline(rig.w), rig.now); /* nobody turns in circles for it */
        ran(1, SC_REASON_SUCCESS);
        starts(2);
        ran(3, SC_REASON_SUCCESS);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(2, SC_REASON_SUCCESS);
        starts(4);
        teardown_work();
}
END_TEST

START_TEST(never_more_run_than_there_are_slots)
{
        begin("cpu=64000,gpu=8000", 2);
        for (uint64_t run = 1; run <= 3; run++)
                assign_needs(run, "gpu=1");
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(1, SC_REASON_SUCCESS);
        starts(3);
        teardown_work();
}
END_TEST

START_TEST(whole_units_have_indices_of_their_own)
{
        begin("gpu=4000", 8);
        assign_needs(1, "gpu=2000");
        holds(1, "gpu", 2000, 3);
        assign_needs(2, "gpu=1000");
        holds(2, "gpu", 1000, 4);
        ran(1, SC_REASON_SUCCESS);
        assign_needs(3, "gpu=3000");
        starts(3);
        holds(3, "gpu", 3000, 11);
        ran(3, SC_REASON_TASK);
        ran(2, SC_REASON_TASK);
        assign_needs(4, "gpu=4000");
        holds(4, "gpu", 4000, 15);
        teardown_work();
}
END_TEST

START_TEST(fractions_share_the_index_with_most_room)
{
        begin("gpu=2000", 8);
        assign_needs(1, "gpu=500");
        holds(1, "gpu", 500, 1);
        assign_needs(2, "gpu=250");
        holds(2, "gpu", 250, 2);
        assign_needs(3, "gpu=500");
        holds(3, "gpu", 500, 2);
        assign_needs(4, "gpu=500");
        holds(4, "gpu", 500, 1);
        assign_needs(5, "gpu=500"); /* 250 are free */
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(3, SC_REASON_SUCCESS);
        starts(5);
        holds(5, "gpu", 500, 2);
        teardown_work();
}
END_TEST

START_TEST(a_unit_of_which_a_part_is_held_is_not_a_whole_one)
{
        begin("gpu=2000", 8);
        assign_needs(1, "gpu=1");
        holds(1, "gpu", 1, 1);
        assign_needs(2, "gpu=1000");
        starts(2);
        holds(2, "gpu", 1000, 2);
        assign_needs(3, "gpu=999");
        starts(3);
        holds(3, "gpu", 999, 1);
        ran(1, SC_REASON_SUCCESS);
        assign_needs(4, "gpu=1000");
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(3, SC_REASON_SUCCESS);
        starts(4);
        teardown_work();
}
END_TEST

START_TEST(free_parts_of_two_units_are_not_one)
{
        begin("gpu=2000", 8);
        assign_needs(1, "gpu=500");
        assign_needs(2, "gpu=600");
        holds(2, "gpu", 600, 2);
        assign_needs(3, "gpu=600"); /* 900 are free, 500 here and 400 there */
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(2, SC_REASON_SUCCESS);
        starts(3);
        holds(3, "gpu", 600, 2);
        ran(1, SC_REASON_SUCCESS);
        assign_needs(4, "gpu=1400"); /* a whole one, and 400 beside those 600 */
        starts(4);
        holds(4, "gpu", 1400, 3);
        teardown_work();
}
END_TEST

START_TEST(more_than_64_units_or_parts_of_one_have_no_indices)
{
        begin("disk=1500,mem=65000,net=64000", 4);
        assign_needs(1, "disk=500,mem=1000,net=1000");
        holds(1, "disk", 500, 0);
        holds(1, "mem", 1000, 0);
        holds(1, "net", 1000, 1);
        assign_needs(2, "net=63000");
        starts(2);
        holds(2, "net", 63000, ~UINT64_C(1));
        teardown_work();
}
END_TEST

START_TEST(a_capability_is_held_by_everybody)
{
        begin("gpu=1000,linux", 4);
        assign_needs(1, "gpu,linux");
        starts(1);
        holds(1, "linux", 0, 0);
        holds(1, "gpu", 0, 0);
        assign_needs(2, "gpu=1000,linux");
        starts(2);
        teardown_work();
}
END_TEST

START_TEST(a_need_beyond_the_offer_runs_alone)
{
        begin("gpu=2000", 4);
        assign_needs(1, "gpu=1000");
        assign_needs(2, "gpu=4000,tpu=1000");
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(1, SC_REASON_SUCCESS);
        starts(2);
        holds(2, "gpu", 2000, 3);
        holds(2, "tpu", 0, 0);
        teardown_work();
}
END_TEST

START_TEST(a_run_that_does_not_return_keeps_what_it_holds)
{
        begin("gpu=1000", 4);
        assign_needs(1, "gpu=1000");
        assign_needs(2, "gpu=1000");
        about(SC_MSG_STOP, 1, true);
        tick(5 * SC_S);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 1); /* given up, but still there */
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        acked(1);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(1, SC_REASON_SUCCESS);
        starts(2);
        teardown_work();
}
END_TEST

START_TEST(a_run_kept_over_a_lost_link_keeps_what_it_holds)
{
        begin("gpu=1000", 4);
        assign_needs(1, "gpu=1000");
        assign_needs(2, "gpu=1000");
        down();
        up();
        answer_hold(SC_MSG_KEEP, 1, rig.epoch, 1);
        assign_needs(3, "gpu=1000");
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran(1, SC_REASON_SUCCESS);
        starts(3);
        teardown_work();
}
END_TEST

START_TEST(a_run_that_waits_for_its_amounts_can_be_recalled_and_cancelled)
{
        begin("gpu=1000", 4);
        for (uint64_t run = 1; run <= 4; run++)
                assign_needs(run, "gpu=1000");
        about(SC_MSG_RECALL, 2, false);
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 1);
        about(SC_MSG_STOP, 3, false);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 1);
        ran(1, SC_REASON_SUCCESS);
        starts(4);
        teardown_work();
}
END_TEST

START_TEST(a_run_that_waited_is_told_what_it_holds_and_its_arguments)
{
        begin("gpu=1000", 4);
        assign_needs(1, "gpu=1000");
        assign_needs(2, "gpu=1000");
        ran(1, SC_REASON_SUCCESS);
        starts(2);
        const struct sc_spec *spec = &effect(SC_FX_RUN)->msg.assign.spec;
        ck_assert_uint_eq(spec->plan->needs.len, 8);
        ck_assert_mem_eq(spec->plan->needs.ptr, "gpu=1000", 8);
        ck_assert_mem_eq(spec->body.ptr, "body", 4);
        ran(2, SC_REASON_SUCCESS);
        assign(3);
        ck_assert_ptr_null(effect(SC_FX_RUN)->msg.assign.spec.plan);
        struct sc_held held[SC_AMOUNTS_MAX];
        ck_assert_uint_eq(sc_work_held(rig.w, 3, held), 0);
        ck_assert_uint_eq(sc_work_held(rig.w, 999, held), 0);
        teardown_work();
}
END_TEST

START_TEST(a_hello_says_what_is_offered)
{
        struct sc_hello hello;
        uint32_t        grant;
        begin("gpu=2000,linux", 4);
        sc_work_hello(rig.w, &hello, &grant);
        ck_assert_uint_eq(hello.offers.len, 14);
        ck_assert_mem_eq(hello.offers.ptr, "gpu=2000,linux", 14);
        teardown_work();
}
END_TEST

START_TEST(no_memory_for_needs_ends_that_run_alone)
{
        begin("gpu=1000", 4);
        rig.fail.fail_at = rig.fail.asked + 1;
        assign_needs(1, "gpu=1000");
        rig.fail.fail_at = 0;
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_LIMIT);
        assign_needs(2, "gpu=1000");
        starts(2);
        teardown_work();
}
END_TEST

START_TEST(a_drained_worker_gives_back_what_waits_for_amounts)
{
        begin("gpu=1000", 4);
        assign_needs(1, "gpu=1000");
        assign_needs(2, "gpu=1000");
        step((struct sc_event){ .kind = SC_EV_DRAIN });
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 1);
        ran(1, SC_REASON_SUCCESS);
        acked(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

/* ---- beside runs that are told ahead ------------------------------------------------------------- */

static void begin_warm(const char *offers)
{
        begin(offers, 2);
        for (uint64_t run = 1; run <= 20; run++) {
                assign(run);
                ran_for(run, SC_REASON_SUCCESS, 1);
        }
        acked(20);
        assign(101);
        assign(102);
        assign(103);
}

START_TEST(what_names_its_needs_is_never_told_ahead)
{
        begin_warm("gpu=1000");
        ck_assert_uint_eq(effect(SC_FX_RUN)->run, 103); /* both slots are taken: it is */
        assign_needs(104, "gpu=1000");
        assign(105);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran_for(101, SC_REASON_SUCCESS, 1);
        ran_for(102, SC_REASON_SUCCESS, 1);
        starts(104);
        holds(104, "gpu", 1000, 1);
        teardown_work();
}
END_TEST

START_TEST(nothing_is_told_ahead_beside_a_run_that_names_its_needs)
{
        begin_warm("gpu=1000");
        ran_for(101, SC_REASON_SUCCESS, 1);
        ran_for(102, SC_REASON_SUCCESS, 1);
        assign_needs(104, "gpu=1000");
        starts(104);
        assign(105);
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran_for(104, SC_REASON_SUCCESS, 1);
        starts(105);
        teardown_work();
}
END_TEST

START_TEST(nothing_is_told_ahead_where_slots_are_more_than_cpus)
{
        begin_warm("cpu=1000");
        ck_assert_uint_eq(effects(SC_FX_RUN), 0);
        ran_for(101, SC_REASON_SUCCESS, 1);
        starts(102);
        teardown_work();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("work amounts");
        tcase_add_test(tests, a_worker_offers_a_cpu_for_each_slot_unless_it_says_otherwise);
        tcase_add_test(tests, a_run_that_does_not_fit_blocks_nobody_behind_it);
        tcase_add_test(tests, never_more_run_than_there_are_slots);
        tcase_add_test(tests, whole_units_have_indices_of_their_own);
        tcase_add_test(tests, fractions_share_the_index_with_most_room);
        tcase_add_test(tests, a_unit_of_which_a_part_is_held_is_not_a_whole_one);
        tcase_add_test(tests, free_parts_of_two_units_are_not_one);
        tcase_add_test(tests, more_than_64_units_or_parts_of_one_have_no_indices);
        tcase_add_test(tests, a_capability_is_held_by_everybody);
        tcase_add_test(tests, a_need_beyond_the_offer_runs_alone);
        tcase_add_test(tests, a_run_that_does_not_return_keeps_what_it_holds);
        tcase_add_test(tests, a_run_kept_over_a_lost_link_keeps_what_it_holds);
        tcase_add_test(tests, a_run_that_waits_for_its_amounts_can_be_recalled_and_cancelled);
        tcase_add_test(tests, a_run_that_waited_is_told_what_it_holds_and_its_arguments);
        tcase_add_test(tests, a_hello_says_what_is_offered);
        tcase_add_test(tests, no_memory_for_needs_ends_that_run_alone);
        tcase_add_test(tests, a_drained_worker_gives_back_what_waits_for_amounts);
        tcase_add_test(tests, what_names_its_needs_is_never_told_ahead);
        tcase_add_test(tests, nothing_is_told_ahead_beside_a_run_that_names_its_needs);
        tcase_add_test(tests, nothing_is_told_ahead_where_slots_are_more_than_cpus);
        return run_tests("work amounts", tests);
}
