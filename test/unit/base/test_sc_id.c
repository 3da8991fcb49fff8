/*
 * Identifiers: what text they become, which text is one, and that their hash spreads.
 */
#include <string.h>

#include "run_tests.h"
#include "sc_id.h"

START_TEST(equality_needs_both_halves)
{
        struct sc_id a = { .hi = 1, .lo = 2 };
        ck_assert(sc_id_equal(a, (struct sc_id){ .hi = 1, .lo = 2 }));
        ck_assert(!sc_id_equal(a, (struct sc_id){ .hi = 1, .lo = 3 }));
        ck_assert(!sc_id_equal(a, (struct sc_id){ .hi = 3, .lo = 2 }));
}
END_TEST

START_TEST(only_zero_in_both_halves_is_nil)
{
        ck_assert(sc_id_is_nil((struct sc_id){ .hi = 0, .lo = 0 }));
        ck_assert(!sc_id_is_nil((struct sc_id){ .hi = 1, .lo = 0 }));
        ck_assert(!sc_id_is_nil((struct sc_id){ .hi = 0, .lo = 1 }));
}
END_TEST

START_TEST(the_text_is_the_high_half_then_the_low)
{
        char text[SC_ID_TEXT];
        sc_id_format((struct sc_id){ .hi = UINT64_C(0x0123456789abcdef), .lo = 255 }, text);
        ck_assert_str_eq(text, "0123456789abcdef00000000000000ff");
}
END_TEST

START_TEST(a_formatted_id_parses_to_itself_in_either_case)
{
        struct sc_id out = { .hi = 0, .lo = 0 }, id = { .hi = UINT64_MAX, .lo = UINT64_C(0xfedcba9876543210) };
        char         text[SC_ID_TEXT];
        sc_id_format(id, text);
        ck_assert(sc_id_parse(text, &out));
        ck_assert(sc_id_equal(id, out));
        ck_assert(sc_id_parse("FFFFFFFFFFFFFFFFFEDCBA9876543210", &out));
        ck_assert(sc_id_equal(id, out));
}
END_TEST

START_TEST(anything_but_32_digits_is_refused_and_writes_nothing)
{
        static const char *const wrong[] = {
                "",
                "0",
                "0123456789abcdef",
                "0123456789abcdef0123456789abcde",
                "0123456789abcdef0123456789abcdef0",
                "0123456789abcdef0123456789abcdeg",
                "0123456789ABCDEF0123456789ABCDEG",
                " 0123456789abcdef0123456789abcde",
                "0x23456789abcdef0123456789abcdef",
                "0123456789abcdef-123456789abcdef",
        };
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                struct sc_id out = { .hi = 5, .lo = 6 };
                ck_assert(!sc_id_parse(wrong[i], &out));
                ck_assert(out.hi == 5 && out.lo == 6);
        }
}
END_TEST

START_TEST(ids_of_one_client_spread_over_all_buckets)
{
        unsigned bucket[64] = { 0 };
        for (uint64_t lo = 0; lo < 64 * 100; lo++)
                bucket[sc_id_hash((struct sc_id){ .hi = 0x1234, .lo = lo }) % 64]++;
        for (size_t i = 0; i < 64; i++)
                ck_assert(bucket[i] > 50 && bucket[i] < 150);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_id");
        tcase_add_test(tests, equality_needs_both_halves);
        tcase_add_test(tests, only_zero_in_both_halves_is_nil);
        tcase_add_test(tests, the_text_is_the_high_half_then_the_low);
        tcase_add_test(tests, a_formatted_id_parses_to_itself_in_either_case);
        tcase_add_test(tests, anything_but_32_digits_is_refused_and_writes_nothing);
        tcase_add_test(tests, ids_of_one_client_spread_over_all_buckets);
        return run_tests("sc_id", tests);
}
