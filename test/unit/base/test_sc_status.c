/*
 * Statuses: every one has a name and a sentence of its own, and strangers are survived.
 */
#include <limits.h>
#include <string.h>

#include "run_tests.h"
#include "sc_status.h"

static const int all[] = {
#define VALUE(name, value, text) SC_##name,
        SC_STATUS_LIST(VALUE)
#undef VALUE
};
static const int count = sizeof all / sizeof *all;

START_TEST(values_count_down_from_zero_without_a_gap)
{
        for (int i = 0; i < count; i++)
                ck_assert_int_eq(all[i], -i);
}
END_TEST

START_TEST(names_and_sentences_are_the_lists)
{
        ck_assert_str_eq(sc_status_name(SC_OK), "SCALER_OK");
        ck_assert_str_eq(sc_status_name(SC_E_FULL), "SCALER_E_FULL");
        ck_assert_str_eq(sc_status_text(SC_OK), "no error");
        ck_assert_str_eq(sc_status_text(SC_E_NOMEM), "out of memory");
}
END_TEST

START_TEST(no_two_statuses_share_a_name_or_a_sentence)
{
        for (int i = 0; i < count; i++) {
                for (int j = 0; j < i; j++) {
                        ck_assert_str_ne(sc_status_name(all[i]), sc_status_name(all[j]));
                        ck_assert_str_ne(sc_status_text(all[i]), sc_status_text(all[j]));
                }
        }
}
END_TEST

START_TEST(sentences_have_no_full_stop)
{
        for (int i = 0; i < count; i++) {
                const char *text = sc_status_text(all[i]);
                ck_assert(strlen(text) > 0 && text[strlen(text) - 1] != '.');
        }
}
END_TEST

START_TEST(a_stranger_is_named_as_one)
{
        static const int strangers[] = { 1, INT_MAX, INT_MIN, -1000 };
        for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
                ck_assert_str_eq(sc_status_name(strangers[i]), "SCALER_E_?");
                ck_assert_str_eq(sc_status_text(strangers[i]), "unknown status");
        }
        ck_assert_str_eq(sc_status_name(-count), "SCALER_E_?");
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("sc_status");
        tcase_add_test(tests, values_count_down_from_zero_without_a_gap);
        tcase_add_test(tests, names_and_sentences_are_the_lists);
        tcase_add_test(tests, no_two_statuses_share_a_name_or_a_sentence);
        tcase_add_test(tests, sentences_have_no_full_stop);
        tcase_add_test(tests, a_stranger_is_named_as_one);
        return run_tests("sc_status", tests);
}
