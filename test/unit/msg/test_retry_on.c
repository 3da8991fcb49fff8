/* Lists of failures that are worth a retry: which texts are lists, and which outcomes are on them. */
#include "retry_on.h"

#include <check.h>
#include <string.h>

#include "run_tests.h"

static struct sc_view view(const char *text)
{
        return (struct sc_view){ text, strlen(text) };
}

static void is_list(const char *text)
{
        ck_assert_msg(sc_retry_on_is_good(view(text), NULL), "\"%s\"", text);
}

static void is_none(const char *text, const char *part)
{
        struct sc_view wrong = { NULL, 0 };
        ck_assert_msg(!sc_retry_on_is_good(view(text), &wrong), "\"%s\"", text);
        ck_assert_msg(wrong.len == strlen(part) && memcmp(wrong.ptr, part, wrong.len) == 0, "\"%s\": %.*s", text,
                      (int)wrong.len, (const char *)wrong.ptr);
}

START_TEST(parts_are_numbers_ranges_and_words)
{
        is_list("");
        is_list("1");
        is_list("1,70-79,timeout,signal");
        is_list("limit,not_started");
        is_list("-1");
        is_list("-5--3");
        is_list("-5-5");
        is_list("7-7");
        is_list("0007");
        is_list("-2147483648-2147483647");
        is_none("-2147483649", "-2147483649");
        is_none("1,2147483648", "2147483648");
        is_none("1-2147483648", "1-2147483648");
        is_none("1,99999999999999999999", "99999999999999999999");
        is_none("79-70", "79-70");
        is_none("1,,2", "");
        is_none(",1", "");
        is_none("1,", "");
        is_none(",", "");
        is_none(" 1", " 1");
        is_none("1, 2", " 2");
        is_none("-", "-");
        is_none("1-", "1-");
        is_none("1-2-3", "1-2-3");
        is_none("1,2x", "2x");
        is_none("+1", "+1");
        is_none("Timeout", "Timeout");
        is_none("timeout,timeouts", "timeouts");
        is_none("success", "success");
}
END_TEST

START_TEST(a_list_has_at_most_127_bytes)
{
        char text[SC_RETRY_ON_MAX + 2];
        for (size_t i = 0; i <= SC_RETRY_ON_MAX; i++)
                text[i] = i % 2 ? ',' : '7';
        text[SC_RETRY_ON_MAX] = '\0';
        is_list(text);
        memcpy(text + SC_RETRY_ON_MAX, "7", 2);
        is_none(text, text);
}
END_TEST

static bool has(const char *text, enum sc_reason reason, enum sc_how how, int32_t code)
{
        const struct sc_outcome outcome = { .reason = (uint8_t)reason, .how = (uint8_t)how, .code = code };
        return sc_retry_on_has(view(text), &outcome);
}

START_TEST(a_number_is_an_exit_code_or_what_a_function_failed_with)
{
        ck_assert(has("1,70-79", SC_REASON_TASK, SC_HOW_EXITED, 1));
        ck_assert(has("1,70-79", SC_REASON_TASK, SC_HOW_EXITED, 70));
        ck_assert(has("1,70-79", SC_REASON_TASK, SC_HOW_NONE, 79));
        ck_assert(!has("1,70-79", SC_REASON_TASK, SC_HOW_EXITED, 69));
        ck_assert(!has("1,70-79", SC_REASON_TASK, SC_HOW_EXITED, 80));
        ck_assert(!has("1,70-79", SC_REASON_TASK, SC_HOW_EXITED, 2));
        ck_assert(has("-5--3", SC_REASON_TASK, SC_HOW_NONE, -4));
        ck_assert(has("-2147483648", SC_REASON_TASK, SC_HOW_NONE, INT32_MIN));
        ck_assert(!has("9", SC_REASON_TASK, SC_HOW_SIGNALLED, 9));
        ck_assert(!has("1", SC_REASON_RUN_TIMEOUT, SC_HOW_EXITED, 1));
        ck_assert(!has("2", SC_REASON_NOT_STARTED, SC_HOW_NOT_STARTED, 2));
}
END_TEST

START_TEST(words_are_the_other_ways_to_fail)
{
        ck_assert(has("timeout", SC_REASON_RUN_TIMEOUT, SC_HOW_SIGNALLED, 15));
        ck_assert(!has("timeout", SC_REASON_TASK, SC_HOW_SIGNALLED, 15));
        ck_assert(has("1,signal", SC_REASON_TASK, SC_HOW_SIGNALLED, 11));
        ck_assert(!has("signal", SC_REASON_TASK, SC_HOW_EXITED, 11));
        ck_assert(has("limit", SC_REASON_LIMIT, SC_HOW_NONE, 0));
        ck_assert(!has("timeout,signal,not_started", SC_REASON_LIMIT, SC_HOW_NONE, 0));
        ck_assert(has("not_started", SC_REASON_NOT_STARTED, SC_HOW_NOT_STARTED, 2));
}
END_TEST

START_TEST(an_empty_list_has_them_all)
{
        ck_assert(has("", SC_REASON_TASK, SC_HOW_EXITED, 3));
        ck_assert(has("", SC_REASON_RUN_TIMEOUT, SC_HOW_NONE, 0));
        ck_assert(sc_retry_on_has((struct sc_view){ NULL, 0 }, &(struct sc_outcome){ .reason = SC_REASON_LIMIT }));
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("retry on");
        tcase_add_test(tests, parts_are_numbers_ranges_and_words);
        tcase_add_test(tests, a_list_has_at_most_127_bytes);
        tcase_add_test(tests, a_number_is_an_exit_code_or_what_a_function_failed_with);
        tcase_add_test(tests, words_are_the_other_ways_to_fail);
        tcase_add_test(tests, an_empty_list_has_them_all);
        return run_tests("retry on", tests);
}
