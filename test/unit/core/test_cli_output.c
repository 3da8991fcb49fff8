/* Output in the client's core, and two sweeps over all of it: failing allocations and random histories. */
#include "test_cli_kit.h"

#include "run_tests.h"
#include "sc_rng.h"

#define WINDOW 100

static void begin(void)
{
        const struct sc_cli_options options = { .output_window = WINDOW };
        ck_assert(setup_cli(&options, 0));
        up_known(0, 10, 10);
        submit(1);
}

static void delivered(const char *text, uint64_t offset, bool restart)
{
        const struct sc_effect *fx = effect(SC_FX_DELIVER);
        ck_assert_uint_eq(fx->msg.output.bytes.len, strlen(text));
        ck_assert_int_eq(memcmp(fx->msg.output.bytes.ptr, text, strlen(text)), 0);
        ck_assert_uint_eq(fx->msg.output.offset, offset);
        ck_assert_int_eq(fx->status, restart);
}

static void acknowledged(uint64_t run, uint64_t received, uint64_t limit, bool again)
{
        const struct sc_output_ack *ack = &sent(SC_MSG_OUTPUT_ACK)->output_ack;
        ck_assert_uint_eq(sends(SC_MSG_OUTPUT_ACK), 1);
        ck_assert_uint_eq(ack->run, run);
        ck_assert_uint_eq(ack->received, received);
        ck_assert_uint_eq(ack->limit, limit);
        ck_assert_int_eq(ack->again, again);
}

START_TEST(output_is_delivered_once_and_confirmed)
{
        begin();
        output(1, 5, 0, "hello");
        delivered("hello", 0, false);
        acknowledged(5, 5, WINDOW, false);
        output(1, 5, 0, "hello");
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 0);
        acknowledged(5, 5, WINDOW, false);
        output(1, 5, 3, "lo you");
        delivered(" you", 5, false);
        teardown_cli();
}
END_TEST

START_TEST(a_gap_is_asked_for_once)
{
        begin();
        output(1, 5, 0, "ab");
        output(1, 5, 4, "ef");
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 0);
        acknowledged(5, 2, WINDOW, true);
        output(1, 5, 6, "gh");
        ck_assert_uint_eq(out.len, 0);
        output(1, 5, 2, "cd");
        delivered("cd", 2, false);
        output(1, 5, 4, "ef");
        delivered("ef", 4, false);
        teardown_cli();
}
END_TEST

START_TEST(the_first_record_of_a_run_may_have_been_lost)
{
        begin();
        output(1, 5, 2, "cd");
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 0);
        acknowledged(5, 0, WINDOW, true);
        output(1, 5, 0, "ab");
        delivered("ab", 0, false);
        teardown_cli();
}
END_TEST

START_TEST(a_new_run_starts_its_output_again)
{
        begin();
        output(1, 5, 0, "old");
        output(1, 6, 0, "new");
        delivered("new", 0, true);
        acknowledged(6, 3, WINDOW, false);
        teardown_cli();
}
END_TEST

START_TEST(a_new_epoch_may_reuse_the_number_of_the_old_run)
{
        begin();
        output(1, 5, 0, "old");
        down();
        rig.epoch = 200;
        up_known(0, 10, 10);
        ck_assert_uint_eq(sends(SC_MSG_OUTPUT_ACK), 0); /* nobody knows that run there */
        output(1, 5, 0, "new");
        delivered("new", 0, true);
        teardown_cli();
}
END_TEST

START_TEST(a_surviving_run_goes_on_under_its_new_number)
{
        begin();
        output(1, 5, 0, "abcd");
        output(1, 9, 2, "cd"); /* what was not confirmed comes again */
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 0);
        acknowledged(9, 0, WINDOW, true);
        output(1, 9, 4, "ef");
        ck_assert_uint_eq(out.len, 0);
        output(1, 9, 2, "cdef"); /* the answer starts lower, but not at 0 */
        delivered("ef", 4, false);
        acknowledged(9, 6, WINDOW, false);
        teardown_cli();
}
END_TEST

START_TEST(a_new_run_whose_beginning_was_lost_is_not_taken_for_the_old_one)
{
        begin();
        output(1, 5, 0, "abcd");
        output(1, 9, 3, "xyz");
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 0);
        output(1, 9, 0, "uvw");
        delivered("uvw", 0, true);
        output(1, 9, 3, "xyz");
        delivered("xyz", 3, false);
        teardown_cli();
}
END_TEST

START_TEST(the_limit_rises_when_half_the_window_is_taken_or_all_that_came)
{
        static char text[WINDOW + 1];
        memset(text, 'x', WINDOW);
        begin();
        output(1, 5, 0, text);
        acknowledged(5, WINDOW, WINDOW, false);
        consumed(1, WINDOW / 2 - 1);
        ck_assert_uint_eq(out.len, 0);
        consumed(1, 1);
        acknowledged(5, WINDOW, WINDOW + WINDOW / 2, false);
        consumed(1, WINDOW); /* more than there is */
        acknowledged(5, WINDOW, WINDOW + WINDOW, false);
        output(1, 5, WINDOW, "y");
        consumed(1, 1);
        acknowledged(5, WINDOW + 1, WINDOW + WINDOW + 1, false);
        consumed(1, 1); /* there is nothing left */
        ck_assert_uint_eq(out.len, 0);
        teardown_cli();
}
END_TEST

START_TEST(after_a_reconnect_the_rest_is_asked_for)
{
        begin();
        submit(1);
        output(1, 5, 0, "ab");
        down();
        consumed(1, 2);
        ck_assert_uint_eq(out.len, 0);
        up_known(2, 10, 10);
        acknowledged(5, 2, WINDOW + 2, true);
        teardown_cli();
}
END_TEST

static void end_of_run(uint64_t sequence, enum sc_how how, uint64_t streamed)
{
        const struct sc_msg msg = {
                .kind   = SC_MSG_RESULT,
                .result = { .task    = task(sequence),
                            .outcome = { .reason   = how == SC_HOW_NONE ? SC_REASON_CANCELLED : SC_REASON_TASK,
                                         .how      = (uint8_t)how,
                                         .streamed = streamed,
                                         .result   = { "all", 3 } } },
        };
        say(&msg);
}

/* Small output comes with the end, so the end may be the first that is heard of a new run. */
START_TEST(an_end_that_brings_its_output_along_forgets_that_of_an_earlier_run)
{
        begin();
        output(1, 5, 0, "ab");
        end_of_run(1, SC_HOW_EXITED, 0);
        delivered("", 0, true);
        ck_assert_uint_eq(effects(SC_FX_COMPLETE), 1);
        ck_assert(effect(SC_FX_DELIVER) < effect(SC_FX_COMPLETE));
        teardown_cli();
}
END_TEST

START_TEST(an_end_whose_output_came_before_it_forgets_nothing)
{
        begin();
        submit(2);
        output(1, 5, 0, "ab");
        end_of_run(1, SC_HOW_EXITED, 2);
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 0);
        end_of_run(2, SC_HOW_EXITED, 0);
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 0);
        output(3, 6, 0, "cd");
        end_of_run(3, SC_HOW_NONE, 0); /* by the scheduler's word, without a run that ended */
        ck_assert_uint_eq(effects(SC_FX_DELIVER), 0);
        teardown_cli();
}
END_TEST

START_TEST(output_of_tasks_that_have_ended_is_ignored)
{
        begin();
        output(1, 5, 0, "ab");
        result(1, SC_REASON_SUCCESS);
        output(1, 5, 2, "cd");
        consumed(1, 2);
        ck_assert_uint_eq(out.len, 0);
        teardown_cli();
}
END_TEST

/* ---- sweeps -------------------------------------------------------------------------------------- */

START_TEST(any_allocation_may_fail_and_nothing_leaks)
{
        const struct sc_cli_options options = { .name = { "c", 1 }, .token = { "t", 1 } };
        for (size_t n = 1;; n++) {
                const bool made = setup_cli(&options, n);
                if (made) {
                        up_known(0, 100, 100);
                        for (int i = 0; i < 200; i++) {
                                const int status = submit_body("body", 4);
                                ck_assert(status == 0 || status == SC_E_NOMEM);
                        }
                        for (uint64_t i = 1; i < sc_cli_next_sequence(rig.c); i++)
                                result(i, SC_REASON_SUCCESS);
                        ck_assert_uint_eq(stats().pending, 0);
                }
                const bool hit = fail_mem_hit(&rig.fail);
                teardown_cli();
                if (!hit)
                        break;
        }
}
END_TEST

struct world {
        struct sc_rng rng;
        uint32_t      submitted, completed, cancels, confirms;
        uint64_t      known;
        bool          linked, over;
};

static uint64_t roll(struct world *world, uint64_t n)
{
        return sc_rng_below(&world->rng, n);
}

static void note_effects(struct world *world)
{
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_effect *fx = &out.at[i];
                world->completed += fx->kind == SC_FX_COMPLETE;
                world->confirms += fx->kind == SC_FX_CONFIRM;
                if (fx->kind == SC_FX_SEND && fx->msg.kind == SC_MSG_SUBMIT)
                        world->known = fx->msg.submit.task.lo;
                if (fx->kind == SC_FX_CLOSE)
                        world->linked = false;
                if (fx->kind == SC_FX_CLOSED)
                        world->over = true;
        }
        ck_assert_uint_le(world->confirms, world->cancels);
        ck_assert_uint_le(world->completed, world->submitted);
}

static void reconnect(struct world *world)
{
        if (roll(world, 3) == 0)
                rig.epoch++;
        const uint64_t known = roll(world, 2) ? 0 : world->known - roll(world, world->known + 1);
        world->linked        = true;
        world->known         = known;
        up_known(known, (uint32_t)roll(world, 30), 10);
}

static void from_scheduler(struct world *world)
{
        const uint64_t sequence = 1 + roll(world, world->submitted + 1);
        switch (roll(world, 4)) {
        case 0:
                if (sequence <= world->known)
                        result(sequence, roll(world, 2) ? SC_REASON_SUCCESS : SC_REASON_CANCELLED);
                break;
        case 1:
                confirm(task(sequence), (enum sc_cancelled)roll(world, 3));
                break;
        case 2:
                output(sequence, 1 + roll(world, 3), roll(world, 20), "0123456789");
                break;
        default:
                granted((uint32_t)roll(world, 50), (uint32_t)roll(world, 3));
                break;
        }
}

static void one_event(struct world *world)
{
        const uint64_t what = roll(world, 40);
        out.len             = 0;
        if (what == 0 && world->linked) {
                world->linked = false;
                down();
        } else if (what < 4 && !world->linked) {
                reconnect(world);
        } else if (what < 12) {
                submit(1);
                world->submitted++;
        } else if (what < 16) {
                world->cancels++;
                cancel(1 + roll(world, world->submitted + 1), roll(world, 2));
        } else if (what < 18) {
                consumed(1 + roll(world, world->submitted + 1), roll(world, 20));
        } else if (what < 36) {
                from_scheduler(world);
        } else {
                tick((sc_ns)roll(world, 3) * 500 * SC_MS);
        }
        note_effects(world);
}

START_TEST(no_history_breaks_an_invariant_and_each_future_ends_once)
{
        const struct sc_cli_options options = { .output_window = 15, .give_up = SC_NEVER };
        for (uint64_t seed = 1; seed <= 60; seed++) {
                struct world world = { .rng = { seed } };
                ck_assert(setup_cli(&options, 0));
                for (int i = 0; i < 2000; i++)
                        one_event(&world);
                step((struct sc_event){ .kind = SC_EV_CLOSE });
                note_effects(&world);
                for (int i = 0; !world.over && i < 10; i++) {
                        tick(0);
                        note_effects(&world);
                }
                ck_assert(world.over);
                ck_assert_uint_eq(world.completed, world.submitted);
                teardown_cli();
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("cli_output");
        tcase_add_test(tests, output_is_delivered_once_and_confirmed);
        tcase_add_test(tests, a_gap_is_asked_for_once);
        tcase_add_test(tests, the_first_record_of_a_run_may_have_been_lost);
        tcase_add_test(tests, a_new_run_starts_its_output_again);
        tcase_add_test(tests, a_new_epoch_may_reuse_the_number_of_the_old_run);
        tcase_add_test(tests, a_surviving_run_goes_on_under_its_new_number);
        tcase_add_test(tests, a_new_run_whose_beginning_was_lost_is_not_taken_for_the_old_one);
        tcase_add_test(tests, the_limit_rises_when_half_the_window_is_taken_or_all_that_came);
        tcase_add_test(tests, after_a_reconnect_the_rest_is_asked_for);
        tcase_add_test(tests, an_end_that_brings_its_output_along_forgets_that_of_an_earlier_run);
        tcase_add_test(tests, an_end_whose_output_came_before_it_forgets_nothing);
        tcase_add_test(tests, output_of_tasks_that_have_ended_is_ignored);
        tcase_add_test(tests, any_allocation_may_fail_and_nothing_leaks);
        tcase_add_test(tests, no_history_breaks_an_invariant_and_each_future_ends_once);
        return run_tests("cli_output", tests);
}
