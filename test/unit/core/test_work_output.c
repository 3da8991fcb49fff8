/*
 * Streamed output of the worker's core, and two sweeps over all of it: every allocation failing
 * once, and long random histories.
 */
#include "test_work_kit.h"

#include "run_tests.h"
#include "sc_rng.h"

#define WINDOW 1000

static void begin(void)
{
        const struct sc_work_options options = { .slots = 1, .output_window = WINDOW };
        const struct sc_spec         spec    = { .kind = SC_TASK_COMMAND, .flags = SC_SPEC_STREAM };
        ck_assert(setup_work(&options, 0));
        up();
        assign_spec(1, &spec);
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
}

static char bytes[300000];

START_TEST(output_goes_out_at_once_and_more_is_read)
{
        begin();
        printed(1, "hello", 5);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.offset, 0);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.bytes.len, 5);
        ck_assert_uint_eq(effects(SC_FX_READ_MORE), 1);
        printed(1, "world", 5);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.offset, 5);
        ck_assert_int_eq(memcmp(sent(SC_MSG_OUTPUT)->output.bytes.ptr, "world", 5), 0);
        teardown_work();
}
END_TEST

START_TEST(nothing_is_sent_past_the_limit_and_nothing_read_past_the_window)
{
        begin();
        printed(1, bytes, WINDOW + 500);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.bytes.len, WINDOW);
        ck_assert_uint_eq(effects(SC_FX_READ_MORE), 0);
        output_ack(1, 300, WINDOW + 100, false);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.bytes.len, 100);
        ck_assert_uint_eq(effects(SC_FX_READ_MORE), 0);
        output_ack(1, 600, WINDOW + 100, false);
        ck_assert_uint_eq(sends(SC_MSG_OUTPUT), 0);
        ck_assert_uint_eq(effects(SC_FX_READ_MORE), 1);
        teardown_work();
}
END_TEST

START_TEST(big_output_travels_in_records_of_at_most_64_kib)
{
        begin();
        output_ack(1, 0, sizeof bytes, false);
        printed(1, bytes, sizeof bytes);
        uint64_t at = 0;
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_output *output = &out.at[i].msg.output;
                if (out.at[i].kind != SC_FX_SEND)
                        continue;
                ck_assert_uint_eq(output->offset, at);
                ck_assert_uint_le(output->bytes.len, SC_OUTPUT_CHUNK);
                at += output->bytes.len;
        }
        ck_assert_uint_eq(at, sizeof bytes);
        teardown_work();
}
END_TEST

START_TEST(done_waits_until_all_output_is_confirmed)
{
        begin();
        printed(1, "hello", 5);
        ran(1, SC_REASON_SUCCESS);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        assign(2); /* its slot is free meanwhile */
        ck_assert_uint_eq(effects(SC_FX_RUN), 1);
        output_ack(1, 4, WINDOW, false);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        output_ack(1, 5, WINDOW, false);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.outcome.streamed, 5);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_SUCCESS);
        teardown_work();
}
END_TEST

START_TEST(a_forced_cancel_does_not_wait_for_output)
{
        begin();
        printed(1, bytes, WINDOW + 1);
        about(SC_MSG_STOP, 1, true);
        ran(1, SC_REASON_TASK);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_CANCELLED);
        ck_assert_uint_eq(sent(SC_MSG_DONE)->done.outcome.streamed, WINDOW);
        teardown_work();
}
END_TEST

START_TEST(a_cancel_ends_a_run_that_only_waits_for_its_output)
{
        begin();
        printed(1, "x", 1);
        ran(1, SC_REASON_SUCCESS);
        about(SC_MSG_STOP, 1, false);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_CANCELLED);
        teardown_work();
}
END_TEST

START_TEST(after_a_time_limit_output_has_the_grace_to_arrive)
{
        const struct sc_spec spec = { .kind = SC_TASK_COMMAND, .flags = SC_SPEC_STREAM, .timeout_ms = 10 };
        begin();
        ran(1, SC_REASON_SUCCESS);
        assign_spec(2, &spec);
        printed(2, "x", 1);
        tick(10 * SC_MS);
        ran(2, SC_REASON_TASK);
        ck_assert_uint_eq(sends(SC_MSG_DONE), 0);
        tick(5 * SC_S);
        ck_assert_int_eq(sent(SC_MSG_DONE)->done.outcome.reason, SC_REASON_RUN_TIMEOUT);
        teardown_work();
}
END_TEST

START_TEST(output_is_sent_again_on_request)
{
        begin();
        printed(1, "hello", 5);
        output_ack(1, 2, WINDOW, true);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.offset, 2);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.bytes.len, 3);
        teardown_work();
}
END_TEST

START_TEST(output_that_nobody_confirms_is_sent_again_less_and_less_often)
{
        begin();
        printed(1, "hello", 5);
        tick(SC_S);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.offset, 0);
        tick(SC_S);
        ck_assert_uint_eq(sends(SC_MSG_OUTPUT), 0);
        tick(SC_S);
        ck_assert_uint_eq(sends(SC_MSG_OUTPUT), 1);
        output_ack(1, 5, WINDOW, false);
        ck_assert_int_eq(sc_work_deadline(rig.w), SC_NEVER);
        teardown_work();
}
END_TEST

START_TEST(after_keep_all_that_is_not_confirmed_goes_again_under_the_new_number)
{
        begin();
        printed(1, bytes, WINDOW);
        output_ack(1, WINDOW - 10, WINDOW, false); /* a client that takes no more for now */
        printed(1, bytes, 500);
        down();
        printed(1, bytes, 1);
        ck_assert_uint_eq(sends(SC_MSG_OUTPUT), 0);
        up();
        answer_hold(SC_MSG_KEEP, 1, 100, 8);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.offset, WINDOW - 10);
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.run, 8);
        /* even past the limit: the client could not name run 8 to raise it */
        ck_assert_uint_eq(sent(SC_MSG_OUTPUT)->output.bytes.len, 511);
        teardown_work();
}
END_TEST

START_TEST(confirming_output_never_printed_closes_the_link)
{
        begin();
        printed(1, "hello", 5);
        output_ack(1, 6, WINDOW, false);
        ck_assert_int_eq(effect(SC_FX_CLOSE)->status, SC_E_PROTOCOL);
        teardown_work();
}
END_TEST

START_TEST(output_there_is_no_memory_for_kills_the_run)
{
        begin();
        rig.fail.fail_at = rig.fail.asked + 1;
        printed(1, "hello", 5);
        ck_assert_int_eq(effect(SC_FX_STOP)->status, SC_STOP_KILL);
        ck_assert_uint_eq(effects(SC_FX_READ_MORE), 1);
        ran(1, SC_REASON_TASK);
        const struct sc_outcome *outcome = &sent(SC_MSG_DONE)->done.outcome;
        ck_assert_int_eq(outcome->reason, SC_REASON_LIMIT);
        ck_assert_int_eq(memcmp(outcome->text.ptr, "no memory for output", outcome->text.len), 0);
        teardown_work();
}
END_TEST

START_TEST(tiny_writes_share_memory)
{
        begin();
        output_ack(1, 0, 1 << 20, false);
        for (int i = 0; i < 900; i++)
                printed(1, "x", 1);
        ck_assert_uint_lt(rig.fail.blocks, 20);
        teardown_work();
}
END_TEST

/* ---- sweeps -------------------------------------------------------------------------------------- */

static void scenario(void)
{
        const struct sc_spec stream = { .kind = SC_TASK_COMMAND, .flags = SC_SPEC_STREAM, .timeout_ms = 50 };
        const struct sc_spec plain  = { .function = { "f", 1 }, .body = { "body", 4 } };
        up();
        assign_spec(1, &stream);
        const bool runs = effects(SC_FX_RUN) == 1;
        assign_spec(2, &plain);
        assign_spec(3, &stream);
        if (runs) {
                printed(1, bytes, 5000);
                output_ack(1, 100, 9000, false);
                down();
                up();
                answer_hold(SC_MSG_KEEP, 1, 100, 1);
                tick(100 * SC_MS);
                const struct sc_outcome outcome = { .result = { bytes, 500 }, .errors = { bytes, 1 } };
                step((struct sc_event){ .kind = SC_EV_RAN, .run = 1, .outcome = &outcome });
        }
        step((struct sc_event){ .kind = SC_EV_RELEASE });
}

START_TEST(any_allocation_may_fail_and_nothing_leaks)
{
        const struct sc_view         functions[2] = { { "f", 1 }, { "g", 1 } };
        const struct sc_work_options options = {
                .slots = 1, .functions = functions, .function_count = 2, .name = { "w", 1 }
        };
        for (size_t n = 1;; n++) {
                if (setup_work(&options, n))
                        scenario();
                const bool hit = fail_mem_hit(&rig.fail);
                teardown_work();
                if (!hit)
                        break;
        }
}
END_TEST

struct world {
        struct sc_rng rng;
        uint64_t      next, running[64];
        uint32_t      count, owed;
        bool          linked, gone;
};

static uint64_t roll(struct world *world, uint64_t n)
{
        return sc_rng_below(&world->rng, n);
}

static void note_effects(struct world *world)
{
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_effect *fx = &out.at[i];
                if (fx->kind == SC_FX_RUN)
                        world->running[world->count++] = fx->msg.assign.run;
                if (fx->kind == SC_FX_SEND && fx->msg.kind == SC_MSG_DONE)
                        world->owed++;
                if (fx->kind == SC_FX_CLOSE)
                        world->linked = false;
                if (fx->kind == SC_FX_CLOSED)
                        world->gone = true;
        }
        if (!world->linked)
                world->owed = 0;
        ck_assert_uint_le(world->count, 3);
}

static void from_scheduler(struct world *world)
{
        const uint64_t       run  = 1 + roll(world, world->next);
        const struct sc_spec spec = {
                .flags      = roll(world, 2) ? SC_SPEC_STREAM : 0,
                .timeout_ms = roll(world, 3) * 700,
                .body       = { bytes, roll(world, 99) },
        };
        switch (roll(world, 7)) {
        case 0:
        case 1:
                assign_spec(world->next++, &spec);
                break;
        case 2:
                about(SC_MSG_STOP, run, roll(world, 2));
                break;
        case 3:
                about(SC_MSG_RECALL, run, false);
                break;
        case 4:
                answer_hold(SC_MSG_KEEP, run, 100 + roll(world, 3), world->next++);
                break;
        case 5:
                answer_hold(SC_MSG_DROP, run, 100 + roll(world, 3), 0);
                break;
        default:
                output_ack(run, roll(world, 3000), roll(world, 6000), roll(world, 2));
                break;
        }
}

static void from_shell(struct world *world)
{
        if (world->count == 0)
                return;
        const uint32_t at = (uint32_t)roll(world, world->count);
        if (roll(world, 2)) {
                printed(world->running[at], bytes, roll(world, 2000) + 1);
                return;
        }
        const uint64_t run = world->running[at];
        world->running[at] = world->running[--world->count];
        ran(run, roll(world, 2) ? SC_REASON_SUCCESS : SC_REASON_TASK);
}

static void one_event(struct world *world)
{
        const uint64_t what = roll(world, 40);
        out.len             = 0;
        if (what == 0 && world->linked) {
                world->linked = false;
                down();
        } else if (what < 4 && !world->linked) {
                rig.epoch     = 100 + roll(world, 3);
                world->linked = true;
                world->owed   = 0;
                up();
        } else if (what < 8 && world->owed > 0) {
                const uint32_t count = 1 + (uint32_t)roll(world, world->owed);
                world->owed -= count;
                acked(count);
        } else if (what < 22) {
                from_scheduler(world);
        } else if (what < 36) {
                from_shell(world);
        } else {
                tick((sc_ns)roll(world, 4) * 500 * SC_MS);
        }
        note_effects(world);
}

START_TEST(no_history_breaks_an_invariant_and_a_drain_always_ends)
{
        const struct sc_work_options options = { .slots = 3, .output_window = 1000 };
        for (uint64_t seed = 1; seed <= 60; seed++) {
                struct world world = { .next = 1, .linked = true, .rng = { seed } };
                ck_assert(setup_work(&options, 0));
                up();
                for (int i = 0; i < 2000; i++)
                        one_event(&world);
                step((struct sc_event){ .kind = SC_EV_DRAIN });
                note_effects(&world);
                step((struct sc_event){ .kind = SC_EV_RELEASE });
                note_effects(&world);
                for (int i = 0; !world.gone && i < 100; i++) {
                        tick(SC_S);
                        note_effects(&world);
                }
                ck_assert(world.gone);
                while (world.count > 0)
                        ran(world.running[--world.count], SC_REASON_SUCCESS);
                ck_assert_uint_eq(stats().abandoned + stats().unconfirmed + stats().running, 0);
                teardown_work();
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("work_output");
        tcase_add_test(tests, output_goes_out_at_once_and_more_is_read);
        tcase_add_test(tests, nothing_is_sent_past_the_limit_and_nothing_read_past_the_window);
        tcase_add_test(tests, big_output_travels_in_records_of_at_most_64_kib);
        tcase_add_test(tests, done_waits_until_all_output_is_confirmed);
        tcase_add_test(tests, a_forced_cancel_does_not_wait_for_output);
        tcase_add_test(tests, a_cancel_ends_a_run_that_only_waits_for_its_output);
        tcase_add_test(tests, after_a_time_limit_output_has_the_grace_to_arrive);
        tcase_add_test(tests, output_is_sent_again_on_request);
        tcase_add_test(tests, output_that_nobody_confirms_is_sent_again_less_and_less_often);
        tcase_add_test(tests, after_keep_all_that_is_not_confirmed_goes_again_under_the_new_number);
        tcase_add_test(tests, confirming_output_never_printed_closes_the_link);
        tcase_add_test(tests, output_there_is_no_memory_for_kills_the_run);
        tcase_add_test(tests, tiny_writes_share_memory);
        tcase_add_test(tests, any_allocation_may_fail_and_nothing_leaks);
        tcase_add_test(tests, no_history_breaks_an_invariant_and_a_drain_always_ends);
        return run_tests("work_output", tests);
}
