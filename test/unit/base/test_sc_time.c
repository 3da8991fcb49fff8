/*
 * Time: additions stop at never, and the milliseconds of the public header become nanoseconds.
 */
#include "run_tests.h"
#include "sc_time.h"

START_TEST(sums_that_fit_are_exact)
{
        ck_assert_int_eq(sc_ns_add(5, 7), 12);
        ck_assert_int_eq(sc_ns_add(-5, 3), -2);
        ck_assert_int_eq(sc_ns_add(INT64_MIN, 1), INT64_MIN + 1);
        ck_assert_int_eq(sc_ns_add(0, SC_NEVER - 1), SC_NEVER - 1);
        ck_assert_int_eq(sc_ns_add(SC_NEVER - 2, 1), SC_NEVER - 1);
}
END_TEST

START_TEST(sums_that_do_not_fit_are_never)
{
        ck_assert_int_eq(sc_ns_add(SC_NEVER - 1, 1), SC_NEVER);
        ck_assert_int_eq(sc_ns_add(SC_NEVER - 1, SC_NEVER - 1), SC_NEVER);
        ck_assert_int_eq(sc_ns_add(1, SC_NEVER - 1), SC_NEVER);
}
END_TEST

START_TEST(never_plus_anything_and_anything_plus_never_is_never)
{
        ck_assert_int_eq(sc_ns_add(SC_NEVER, 0), SC_NEVER);
        ck_assert_int_eq(sc_ns_add(SC_NEVER, SC_S), SC_NEVER);
        ck_assert_int_eq(sc_ns_add(0, SC_NEVER), SC_NEVER);
        ck_assert_int_eq(sc_ns_add(-SC_S, SC_NEVER), SC_NEVER);
        ck_assert_int_eq(sc_ns_add(SC_NEVER, SC_NEVER), SC_NEVER);
}
END_TEST

START_TEST(the_lesser_and_the_greater)
{
        ck_assert_int_eq(sc_ns_min(1, SC_NEVER), 1);
        ck_assert_int_eq(sc_ns_min(2, -1), -1);
        ck_assert_int_eq(sc_ns_max(1, SC_NEVER), SC_NEVER);
        ck_assert_int_eq(sc_ns_max(2, -1), 2);
}
END_TEST

START_TEST(milliseconds_become_nanoseconds_and_negative_means_for_ever)
{
        ck_assert_int_eq(sc_ns_from_ms(0), 0);
        ck_assert_int_eq(sc_ns_from_ms(1500), SC_S + 500 * SC_MS);
        ck_assert_int_eq(sc_ns_from_ms(-1), SC_NEVER);
        ck_assert_int_eq(sc_ns_from_ms(INT64_MIN), SC_NEVER);
        ck_assert_int_eq(sc_ns_from_ms(INT64_MAX), SC_NEVER);
        ck_assert_int_lt(sc_ns_from_ms(SC_NEVER / SC_MS - 1), SC_NEVER);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_time");
        tcase_add_test(tests, sums_that_fit_are_exact);
        tcase_add_test(tests, sums_that_do_not_fit_are_never);
        tcase_add_test(tests, never_plus_anything_and_anything_plus_never_is_never);
        tcase_add_test(tests, the_lesser_and_the_greater);
        tcase_add_test(tests, milliseconds_become_nanoseconds_and_negative_means_for_ever);
        return run_tests("sc_time", tests);
}
