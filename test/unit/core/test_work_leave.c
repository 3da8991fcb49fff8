/* A worker that leaves: what it gives back, finishes, waits for and lets go of. */
#include "run_tests.h"
#include "test_work_kit.h"

static void begin(uint32_t slots)
{
        const struct sc_work_options options = { .slots = slots };
        ck_assert(setup_work(&options, 0));
        up();
}

static void drain(uint64_t deadline_ms)
{
        step((struct sc_event){ .kind = SC_EV_DRAIN, .count = deadline_ms });
}

static void release(void)
{
        step((struct sc_event){ .kind = SC_EV_RELEASE });
}

START_TEST(a_drained_worker_returns_finishes_and_leaves)
{
        begin(1);
        assign(1);
        assign(2);
        drain(0);
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 2);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 0); /* or they would come back at once */
        assign(3);
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 3);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        acked(1);
        ck_assert_uint_eq(sends(SC_MSG_BYE), 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        ck_assert_int_eq(sc_work_deadline(rig.w), SC_NEVER);
        teardown_work();
}
END_TEST

START_TEST(a_drained_worker_waits_five_seconds_for_its_last_acknowledgement)
{
        begin(1);
        assign(1);
        drain(0);
        ran(1, SC_REASON_SUCCESS);
        tick(5 * SC_S - 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        tick(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        up();
        ck_assert_uint_eq(effects(SC_FX_CLOSE), 1);
        teardown_work();
}
END_TEST

START_TEST(a_release_gives_running_ones_back_and_kills_them)
{
        begin(1);
        assign(1);
        drain(0);
        release();
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 1);
        ck_assert(sent(SC_MSG_RETURNED)->about.released);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        ran(1, SC_REASON_TASK);
        ck_assert_uint_eq(out.len, 0);
        teardown_work();
}
END_TEST

START_TEST(a_release_kills_what_a_lost_link_has_left)
{
        begin(2);
        assign(1);
        assign(2);
        down();
        drain(0);
        ck_assert_uint_eq(effects(SC_FX_STOP), 0);
        release();
        ck_assert_uint_eq(effects(SC_FX_STOP), 2);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        ran(1, SC_REASON_TASK);
        ran(2, SC_REASON_TASK);
        ck_assert_uint_eq(stats().abandoned, 0);
        teardown_work();
}
END_TEST

START_TEST(what_still_runs_at_the_deadline_is_given_back_with_a_mark)
{
        begin(2);
        assign(1);
        assign(2);
        assign(3);
        drain(1500);
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 3);
        ck_assert(!sent(SC_MSG_RETURNED)->about.released);
        ran(2, SC_REASON_SUCCESS);
        acked(1);
        ck_assert_int_eq(sc_work_deadline(rig.w), rig.now + 5 * SC_MS); /* to say that it has started */
        tick(1500 * SC_MS - 1);
        ck_assert_int_eq(sc_work_deadline(rig.w), rig.now + 1);
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 0);
        tick(1);
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 1);
        ck_assert(sent(SC_MSG_RETURNED)->about.released);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        ck_assert_int_eq(out.at[0].kind, SC_FX_SEND); /* in one step, so the one is done before the other leaves */
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        ck_assert_uint_eq(stats().released, 1);
        ck_assert_uint_eq(stats().abandoned, 1);
        ran(1, SC_REASON_SUCCESS); /* too late to be anybody's */
        ck_assert_uint_eq(out.len, 0);
        ck_assert_uint_eq(stats().abandoned, 0);
        teardown_work();
}
END_TEST

START_TEST(the_earliest_deadline_counts)
{
        begin(1);
        assign(1);
        drain(0);
        drain(9000);
        drain(3000);
        drain(UINT64_MAX);
        drain(0);
        tick(3 * SC_S - 1);
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 0);
        tick(1);
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 1);
        ran(1, SC_REASON_TASK);
        teardown_work();
}
END_TEST

START_TEST(a_deadline_beyond_all_time_is_none)
{
        begin(1);
        assign(1);
        drain(UINT64_MAX);
        tick(300 * 86400 * SC_S);
        ck_assert_uint_eq(sends(SC_MSG_RETURNED), 0);
        ran(1, SC_REASON_SUCCESS);
        acked(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

static void told_to_leave(uint64_t deadline_ms)
{
        say(&(struct sc_msg){ .kind = SC_MSG_LEAVE, .leave = { .deadline_ms = deadline_ms } });
}

START_TEST(the_schedulers_leave_is_the_same_drain)
{
        begin(1);
        assign(1);
        assign(2);
        told_to_leave(2000);
        ck_assert_uint_eq(sent(SC_MSG_RETURNED)->about.run, 2);
        ck_assert_uint_eq(effect(SC_FX_GRANT)->tasks, 0);
        drain(0); /* a signal besides kills nothing */
        ck_assert_uint_eq(effects(SC_FX_STOP), 0);
        tick(2 * SC_S);
        ck_assert(sent(SC_MSG_RETURNED)->about.released);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        ran(1, SC_REASON_TASK);
        teardown_work();
}
END_TEST

static void up_to_one_that_knows(void)
{
        struct sc_hello     hello;
        uint32_t            grant;
        const struct sc_msg welcome = {
                .kind    = SC_MSG_WELCOME,
                .welcome = { .version = 1, .epoch = rig.epoch, .features = SC_FEATURE_LEAVE },
        };
        sc_work_hello(rig.w, &hello, &grant);
        ck_assert_uint_eq(hello.features, SC_FEATURE_LEAVE);
        rig.link++;
        step((struct sc_event){ .kind = SC_EV_UP, .link = rig.link, .msg = &welcome });
}

START_TEST(a_worker_that_leaves_says_so_on_every_link_and_before_all_else)
{
        begin(1);
        up_to_one_that_knows();
        assign(1);
        assign(2);
        drain(0);
        ck_assert_int_eq(out.at[0].msg.kind, SC_MSG_LEAVE);
        ck_assert_uint_eq(sends(SC_MSG_LEAVE), 1);
        drain(0);
        ck_assert_uint_eq(sends(SC_MSG_LEAVE), 0);
        down();
        ck_assert_uint_eq(out.len, 0);
        up_to_one_that_knows();
        ck_assert_uint_eq(sends(SC_MSG_LEAVE), 1);
        answer_hold(SC_MSG_KEEP, 1, 100, 1);
        ran(1, SC_REASON_SUCCESS);
        acked(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

START_TEST(who_does_not_know_the_word_is_not_told)
{
        begin(1);
        assign(1);
        drain(0);
        ck_assert_uint_eq(sends(SC_MSG_LEAVE), 0);
        ran(1, SC_REASON_SUCCESS);
        teardown_work();
}
END_TEST

START_TEST(results_wait_for_the_next_link_before_a_worker_leaves)
{
        begin(1);
        assign(1);
        ran(1, SC_REASON_SUCCESS);
        down();
        drain(0);
        tick(30 * SC_S);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        up();
        answer_hold(SC_MSG_KEEP, 1, 100, 1);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 1);
        tick(4 * SC_S); /* it has five from here on */
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        acked(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

START_TEST(nobody_to_take_the_results_is_waited_for_no_longer_than_they_are_kept)
{
        begin(1);
        assign(1);
        ran(1, SC_REASON_SUCCESS);
        down();
        drain(0);
        tick(60 * SC_S - 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        ck_assert_int_eq(sc_work_deadline(rig.w), rig.now + 1);
        tick(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

START_TEST(nor_any_longer_than_the_deadline)
{
        begin(1);
        assign(1);
        ran(1, SC_REASON_SUCCESS);
        down();
        drain(1000);
        tick(SC_S - 1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 0);
        ck_assert_int_eq(sc_work_deadline(rig.w), rig.now + 1);
        tick(1);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

START_TEST(an_idle_worker_leaves_at_once_linked_or_not)
{
        begin(1);
        drain(0);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
        begin(1);
        down();
        drain(5000);
        ck_assert_uint_eq(effects(SC_FX_CLOSED), 1);
        teardown_work();
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("work_leave");
        tcase_add_test(tests, a_drained_worker_returns_finishes_and_leaves);
        tcase_add_test(tests, a_drained_worker_waits_five_seconds_for_its_last_acknowledgement);
        tcase_add_test(tests, a_release_gives_running_ones_back_and_kills_them);
        tcase_add_test(tests, a_release_kills_what_a_lost_link_has_left);
        tcase_add_test(tests, what_still_runs_at_the_deadline_is_given_back_with_a_mark);
        tcase_add_test(tests, the_earliest_deadline_counts);
        tcase_add_test(tests, a_deadline_beyond_all_time_is_none);
        tcase_add_test(tests, the_schedulers_leave_is_the_same_drain);
        tcase_add_test(tests, a_worker_that_leaves_says_so_on_every_link_and_before_all_else);
        tcase_add_test(tests, who_does_not_know_the_word_is_not_told);
        tcase_add_test(tests, results_wait_for_the_next_link_before_a_worker_leaves);
        tcase_add_test(tests, nobody_to_take_the_results_is_waited_for_no_longer_than_they_are_kept);
        tcase_add_test(tests, nor_any_longer_than_the_deadline);
        tcase_add_test(tests, an_idle_worker_leaves_at_once_linked_or_not);
        return run_tests("work_leave", tests);
}
