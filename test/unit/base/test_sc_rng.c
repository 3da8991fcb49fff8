/*
 * Chance: the published sequence, the same again from the same seed, and the bound.
 */
#include "run_tests.h"
#include "sc_rng.h"

START_TEST(the_sequence_is_that_of_splitmix64)
{
        static const uint64_t known[] = {
                UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),  UINT64_C(9817491932198370423),
                UINT64_C(4593380528125082431), UINT64_C(16408922859458223821),
        };
        struct sc_rng rng = { .state = 1234567 };
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                ck_assert_uint_eq(sc_rng_next(&rng), known[i]);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_numbers_and_another_does_not)
{
        struct sc_rng a = { .state = 1 }, b = { .state = 1 }, c = { .state = 2 };
        for (int i = 0; i < 100; i++) {
                uint64_t number = sc_rng_next(&a);
                ck_assert_uint_eq(number, sc_rng_next(&b));
                ck_assert_uint_ne(number, sc_rng_next(&c));
        }
}
END_TEST

START_TEST(numbers_stay_below_their_bound_and_reach_all_of_it)
{
        struct sc_rng rng     = { .state = 0 };
        unsigned      seen[7] = { 0 };
        for (int i = 0; i < 7000; i++)
                seen[sc_rng_below(&rng, 7)]++;
        for (size_t i = 0; i < 7; i++)
                ck_assert(seen[i] > 800 && seen[i] < 1200);
        ck_assert_uint_eq(sc_rng_below(&rng, 1), 0);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_rng");
        tcase_add_test(tests, the_sequence_is_that_of_splitmix64);
        tcase_add_test(tests, the_same_seed_gives_the_same_numbers_and_another_does_not);
        tcase_add_test(tests, numbers_stay_below_their_bound_and_reach_all_of_it);
        return run_tests("sc_rng", tests);
}
