/* Transcripts of the scheduler's core with workers of several kinds: who can run it, and of those the least loaded. */
#include "test_sched_kit.h"

#include "run_tests.h"

enum { C = 1, FIRST = 10, MANY = 200 };

static const struct sc_view words[] = { { "f", 1 }, { "g", 1 }, { "h", 1 } };

/* Offers `count` of the words from the at-th on. */
static void kind_up(sc_link_id link, uint32_t credit, uint32_t at, uint32_t count)
{
        struct sc_hello hello = hello_of(SC_ROLE_WORKER, WORKER + link);
        hello.slots = hello.free_slots = 1;
        hello.functions      = &words[at];
        hello.function_count = count;
        up(link, hello, credit);
}

static void begin(void)
{
        setup((struct sc_sched_options){ .tasks_max = 0 });
        client_up(C, CLIENT);
}

static void submit_word(uint64_t seq, uint32_t word)
{
        struct sc_spec spec = spec_f();
        spec.function       = words[word];
        submit_spec(C, CLIENT, seq, spec);
}

static void succeed(sc_link_id link, uint64_t seq)
{
        done(link, task(CLIENT, seq), run_of(CLIENT, seq), SC_REASON_SUCCESS);
}

START_TEST(the_least_loaded_of_those_that_can_run_it_gets_it)
{
        begin();
        kind_up(FIRST, 4, 0, 1);     /* f */
        kind_up(FIRST + 1, 4, 1, 1); /* g */
        kind_up(FIRST + 2, 4, 0, 2); /* f and g */
        submit_word(1, 0);
        ck_assert_uint_eq(sends(FIRST, SC_MSG_ASSIGN), 1);
        submit_word(2, 0);
        ck_assert_uint_eq(sends(FIRST + 2, SC_MSG_ASSIGN), 1);
        submit_word(3, 1);
        ck_assert_uint_eq(sends(FIRST + 1, SC_MSG_ASSIGN), 1);
        submit_word(4, 0);
        ck_assert_uint_eq(sends(FIRST, SC_MSG_ASSIGN), 1);
        submit_word(5, 2);
        ck_assert_uint_eq(stats().tasks_ready, 1);
        teardown();
}
END_TEST

START_TEST(who_is_done_is_filled_again_beside_idle_ones_of_another_kind)
{
        begin();
        kind_up(FIRST, 2, 0, 1);
        for (uint32_t i = 1; i <= MANY; i++)
                kind_up(FIRST + i, 2, 1, 1);
        for (uint64_t seq = 1; seq <= 5; seq++)
                submit_word(seq, 0);
        for (uint64_t seq = 1; seq <= 3; seq++) {
                succeed(FIRST, seq);
                ck_assert_uint_eq(sent(FIRST, SC_MSG_ASSIGN)->assign.task.lo, seq + 2);
        }
        teardown();
}
END_TEST

START_TEST(one_that_can_help_is_found_behind_many_that_cannot)
{
        begin();
        kind_up(FIRST, 4, 0, 1);
        for (uint32_t i = 1; i <= MANY; i++)
                kind_up(FIRST + i, 4, 1, 1);
        for (uint64_t seq = 1; seq <= 3; seq++)
                submit_word(seq, 0);
        tick(2 * SC_S);
        kind_up(FIRST + MANY + 1, 4, 0, 1);
        uint32_t asked = sends(FIRST, SC_MSG_RECALL);
        for (int i = 0; i < 3; i++) {
                tick(SC_S);
                asked += sends(FIRST, SC_MSG_RECALL);
        }
        ck_assert_uint_eq(asked, 1);
        teardown();
}
END_TEST

/* The names of functions come and go with those that offer them, so an index may stand for another name later. */
START_TEST(kinds_come_and_go)
{
        begin();
        for (int round = 0; round < 3; round++) {
                for (uint32_t i = 0; i < 3; i++)
                        kind_up(FIRST + i, 1, (i + (uint32_t)round) % 3, 1);
                for (uint32_t i = 0; i < 3; i++) {
                        submit_word((uint64_t)round * 3 + i + 1, i);
                        ck_assert_uint_eq(effects(SC_FX_SEND), 1);
                        const uint32_t link = FIRST + (i + 3 - (uint32_t)round) % 3;
                        ck_assert_uint_eq(sends(link, SC_MSG_ASSIGN), 1);
                        succeed(link, (uint64_t)round * 3 + i + 1);
                }
                down(FIRST);
                bye(FIRST + 1);
                down(FIRST + 2);
                ck_assert_uint_eq(stats().workers, 0);
        }
        teardown();
}
END_TEST

/* Whichever allocation fails, the worker that could not be taken in is sent away, and the next one is taken in. */
START_TEST(a_worker_for_whom_there_is_no_memory_leaves_nothing_behind)
{
        bool refused = true;
        for (size_t at = 1; refused; at++) {
                begin();
                kind_up(FIRST, 1, 0, 1);
                rig.fail.fail_at = rig.fail.asked + at;
                kind_up(FIRST + 1, 1, 0, 3);
                refused = stats().workers == 1;
                ck_assert_uint_eq(effects(SC_FX_CLOSE), refused);
                rig.fail.fail_at = 0;
                if (refused)
                        kind_up(FIRST + 2, 1, 0, 3);
                submit_word(1, 2);
                ck_assert_uint_eq(stats().tasks_assigned, 1);
                teardown();
        }
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("crew");
        tcase_add_test(tests, the_least_loaded_of_those_that_can_run_it_gets_it);
        tcase_add_test(tests, who_is_done_is_filled_again_beside_idle_ones_of_another_kind);
        tcase_add_test(tests, one_that_can_help_is_found_behind_many_that_cannot);
        tcase_add_test(tests, kinds_come_and_go);
        tcase_add_test(tests, a_worker_for_whom_there_is_no_memory_leaves_nothing_behind);
        return run_tests("sched crew", tests);
}
