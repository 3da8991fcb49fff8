/*
 * The parts of scaler-run that decide what runs and what is remembered: values, lists, joblogs, halting, pace.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "joblog.h"
#include "log_read.h"
#include "pace.h"
#include "record.h"
#include "results.h"
#include "template.h"

static const struct program program = { .name = "test", .usage_exit = 255 };

/* ---- placeholders of several values ---- */

START_TEST(positions_count_from_both_ends)
{
        struct span         items[] = { { "a/b.c", 5 }, { "", 0 }, { "d.e", 3 } };
        const struct values v       = { .items = items, .count = 3, .number = 9 };
        struct text         out     = { 0 };
        ck_assert(template_add(&out, "{1}|{2}|{3}|{4}|{-1}|{-3}|{-4}|{1.}|{1/}|{1//}|{1/.}|{-1.}", &v));
        ck_assert_str_eq(out.data, "a/b.c||d.e||d.e|a/b.c||a/b|b.c|a|b|d");
        text_clear(&out);
        ck_assert(template_add(&out, "<{}> <{.}> <{/}> {#} {999999}", &v));
        ck_assert_str_eq(out.data, "<a/b.c  d.e> <a/b  d> <b.c  d.e> 9 ");
        text_free(&out);
}
END_TEST

static void expect_words(const char *const *command, size_t count, bool no_append, const char *values, size_t size,
                         uint32_t value_count, const char *expected)
{
        const struct settings s    = { .command = command, .command_count = count, .no_append = no_append };
        const struct task     task = { .values = (char *)(uintptr_t)values, .values_size = size,
                                       .value_count = value_count, .number = 1 };
        struct expansion      e    = { .count = 0 };
        struct text           line = { 0 };
        expansion_make(&e, &s, &task);
        ck_assert_ptr_null(e.argv[e.count]);
        expansion_show(&e, false, &line);
        ck_assert_str_eq(line.data, expected);
        text_free(&line);
        expansion_fini(&e);
}

START_TEST(all_values_alone_are_as_many_words)
{
        static const char *const plain[] = { "x" }, *const alone[] = { "x", "{}", "-{/}-" }, *const only[] = { "{}" };
        expect_words(plain, 1, false, "a b\0c", 5, 2, "x 'a b' c");
        expect_words(plain, 1, true, "a b\0c", 5, 2, "x");
        expect_words(plain, 1, false, "", 0, 0, "x");
        expect_words(alone, 3, false, "a b\0c/d", 7, 2, "x 'a b' c/d '-a b d-'");
        expect_words(alone, 3, false, "", 0, 0, "x --");
        expect_words(only, 1, false, "", 0, 0, "''");
        expect_words(only, 1, false, "\0", 1, 2, "'' ''");
}
END_TEST

/* ---- records ---- */

#define LIST(...)                                                                                                      \
        {                                                                                                              \
                .words = (const char *const[]){ __VA_ARGS__ },                                                         \
                .count = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)                           \
        }

/* All records as "1:a,b 2:c,d". */
static void expect_records(struct settings *s, const char *expected, uint64_t total)
{
        struct records r;
        struct record  record;
        struct text    out = { 0 };
        text_add(&out, "", 0);
        ck_assert_int_eq(records_open(&r, s, &program), PROGRAM_GOES_ON);
        while (records_next(&r, &record) == INPUT_IS_HERE) {
                text_print(&out, out.size ? " %d:" : "%d:", (int)record.number);
                const char *at = record.data;
                for (uint32_t i = 0; i < record.count; i++, at += strlen(at) + 1)
                        text_print(&out, i ? ",%s" : "%s", at);
        }
        ck_assert_str_eq(out.data, expected);
        ck_assert_uint_eq(records_total(&r), total);
        ck_assert_int_eq(records_next(&r, &record), INPUT_ENDS);
        text_free(&out);
        records_close(&r);
}

START_TEST(lists_make_every_combination_the_last_fastest)
{
        struct source_words two[]   = { LIST("a", "b"), LIST("x", "y", "z") };
        struct source_words empty[] = { LIST("a", "b"), { .words = NULL } };
        struct settings     s       = { .sources = two, .source_count = 2, .max_args = 1 };
        expect_records(&s, "1:a,x 2:a,y 3:a,z 4:b,x 5:b,y 6:b,z", 6);
        s.sources = empty;
        expect_records(&s, "", 0);
}
END_TEST

START_TEST(linked_lists_go_together_as_far_as_the_shortest)
{
        struct source_words lists[] = { LIST("p", "q"), LIST("a", "b", "c"), LIST("1", "2"), LIST("x", "y") };
        struct settings     s       = { .sources = lists, .source_count = 4, .max_args = 1 };
        lists[2].linked             = true;
        expect_records(&s, "1:p,a,1,x 2:p,a,1,y 3:p,b,2,x 4:p,b,2,y 5:q,a,1,x 6:q,a,1,y 7:q,b,2,x 8:q,b,2,y", 8);
        lists[1].linked = true;
        expect_records(&s, "1:p,a,1,x 2:p,a,1,y 3:q,b,2,x 4:q,b,2,y", 4);
}
END_TEST

START_TEST(as_many_inputs_as_asked_go_together)
{
        struct source_words list[]  = { LIST("1", "2", "3", "4", "5") };
        struct source_words pairs[] = { LIST("a", "b", "c"), LIST("x") };
        struct settings     s       = { .sources = list, .source_count = 1, .max_args = 2 };
        expect_records(&s, "1:1,2 2:3,4 3:5", 3);
        s.max_args = MAX_ARGS_MAX;
        expect_records(&s, "1:1,2,3,4,5", 1);
        s.max_args = 0;
        expect_records(&s, "1: 2: 3: 4: 5:", 5);
        s          = (struct settings){ .sources = pairs, .source_count = 2, .max_args = 2 };
        expect_records(&s, "1:a,x,b,x 2:c,x", 2);
}
END_TEST

START_TEST(columns_are_cut_by_a_regular_expression)
{
        struct source_words list[] = { LIST("a,b", "", ",", "c", "d,,e,") };
        struct settings     s      = { .sources = list, .source_count = 1, .max_args = 1, .colsep = "," };
        expect_records(&s, "1:a,b 2: 3:, 4:c 5:d,,e,", 5);
        struct source_words tabs[] = { LIST("a \t b", "c|d", "^e") };
        s                          = (struct settings){ .sources = tabs, .source_count = 1, .max_args = 1 };
        s.colsep                   = " *\\t *";
        expect_records(&s, "1:a,b 2:c|d 3:^e", 3);
        s.colsep = "\\|";
        expect_records(&s, "1:a \t b 2:c,d 3:^e", 3);
        s.colsep = "x*";
        expect_records(&s, "1:a \t b 2:c|d 3:^e", 3);
        s.colsep = "^[a^]";
        expect_records(&s, "1:, \t b 2:c|d 3:,e", 3);
        s.colsep = "$";
        expect_records(&s, "1:a \t b 2:c|d 3:^e", 3);
}
END_TEST

START_TEST(inputs_that_are_too_much_together_are_counted_not_kept)
{
        char *half = memory_grow(NULL, INPUT_BYTES_MAX);
        memset(half, 'x', INPUT_BYTES_MAX);
        half[INPUT_BYTES_MAX - 1]  = '\0';
        struct source_words list[] = { LIST(half, half, half, "a") };
        struct settings     s      = { .sources = list, .source_count = 1, .max_args = 3 };
        struct records      r;
        struct record       record;
        ck_assert_int_eq(records_open(&r, &s, &program), PROGRAM_GOES_ON);
        ck_assert_int_eq(records_next(&r, &record), INPUT_IS_HERE);
        ck_assert_uint_gt(record.long_size, INPUT_BYTES_MAX);
        ck_assert_uint_lt(record.size, INPUT_BYTES_MAX);
        ck_assert_int_eq(records_next(&r, &record), INPUT_IS_HERE);
        ck_assert_uint_eq(record.long_size, 0);
        ck_assert_str_eq(record.data, "a");
        records_close(&r);
        free(half);
}
END_TEST

/* ---- what has been done ---- */

START_TEST(ranges_join_whatever_the_order)
{
        static const uint64_t numbers[] = { 5, 6, 7, 2, 1, 9, 6, 3, UINT64_MAX, 9 };
        struct ranges         r         = { 0 };
        ck_assert(!ranges_have(&r, 1));
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
                ranges_add(&r, numbers[i]);
        ranges_settle(&r);
        ck_assert_uint_eq(r.count, 4);
        for (uint64_t n = 0; n < 12; n++)
                ck_assert_int_eq(ranges_have(&r, n), (n >= 1 && n <= 3) || (n >= 5 && n <= 7) || n == 9);
        ck_assert(ranges_have(&r, UINT64_MAX));
        ranges_free(&r);
        for (uint64_t n = 1; n <= 100000; n++)
                ranges_add(&r, n);
        ck_assert_uint_eq(r.count, 1);
        ranges_free(&r);
}
END_TEST

START_TEST(lines_that_are_none_are_told)
{
        static const char *const bad[] = { "", "1", "x\t:\t1\t1\t0\t0\t0\t0\tc", "0\t:\t1\t1\t0\t0\t0\t0\tc",
                                           "-1\t:\t1\t1\t0\t0\t0\t0\tc", "1\t:\t1\t1\t0\t0\t0\t0" };
        char     line[64];
        uint64_t number;
        bool     failed;
        char    *command;
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
                snprintf(line, sizeof line, "%s", bad[i]);
                ck_assert_msg(!joblog_parse(line, &number, &failed, &command), "'%s'", bad[i]);
        }
        snprintf(line, sizeof line, "12\t:\t1.5\t 1.0\t0\t0\t-1\t15\ta\tb");
        ck_assert(joblog_parse(line, &number, &failed, &command));
        ck_assert_uint_eq(number, 12);
        ck_assert(failed);
        ck_assert_str_eq(command, "a\tb");
}
END_TEST

START_TEST(a_logged_line_end_comes_back_in_quotes)
{
        static const char *const rows[][2] = {
                { "echo 'a'$'\\n''b'", "echo 'a''\n''b'" }, { "echo '$'\\n''", "echo '$'\\n''" },
                { "echo \"$'\\n'\"", "echo \"$'\\n'\"" },   { "echo \\$'\\n'", "echo \\$'\\n'" },
                { "echo \\'$'\\n'", "echo \\''\n'" },       { "", "" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                char *command = joblog_command(rows[i][0]);
                ck_assert_str_eq(command, rows[i][1]);
                free(command);
        }
}
END_TEST

START_TEST(exit_codes_are_those_of_a_shell)
{
        static const struct {
                scaler_task_state state;
                int               reason, how, code, exit, signal;
        } rows[] = {
                { SCALER_TASK_DONE, SCALER_REASON_SUCCESS, SCALER_EXIT_EXITED, 0, 0, 0 },
                { SCALER_TASK_FAILED, SCALER_REASON_TASK, SCALER_EXIT_EXITED, 7, 7, 0 },
                { SCALER_TASK_FAILED, SCALER_REASON_TASK, SCALER_EXIT_SIGNALLED, 9, 0, 9 },
                { SCALER_TASK_FAILED, SCALER_REASON_RUN_TIMEOUT, SCALER_EXIT_SIGNALLED, 15, -1, 15 },
                { SCALER_TASK_FAILED, SCALER_REASON_RUN_TIMEOUT, SCALER_EXIT_EXITED, 0, -1, 0 },
                { SCALER_TASK_FAILED, SCALER_REASON_NOT_STARTED, SCALER_EXIT_NOT_STARTED, ENOENT, 127, 0 },
                { SCALER_TASK_FAILED, SCALER_REASON_NOT_STARTED, SCALER_EXIT_NOT_STARTED, EACCES, 126, 0 },
                { SCALER_TASK_FAILED, SCALER_REASON_WORKER_DIED, SCALER_EXIT_NONE, 0, -1, 0 },
        };
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                struct task task = { .state = rows[i].state };
                int         exit_code, signal_number;
                task.failure.reason = rows[i].reason;
                task.exit.how       = rows[i].how;
                task.exit.code      = rows[i].code;
                joblog_codes(&task, &exit_code, &signal_number);
                ck_assert_int_eq(exit_code, rows[i].exit);
                ck_assert_int_eq(signal_number, rows[i].signal);
        }
}
END_TEST

/* ---- halting, pace, names ---- */

START_TEST(conditions_to_halt_are_read_strictly)
{
        static const char *const good[] = { "never", "now,fail=1", "soon,success=1000000000", "soon,done=100%" };
        static const char *const bad[] = { "", "now", "now,fail", "now,fail=", "now,fail=0", "soon,done=0%", "x,fail=1",
                                           "soon,done=101%", "soon,fail=1000000001", "soon,fail=1 ", "soon,fail=-1",
                                           "soon,fail=%", "NOW,fail=1", "soon,fail=1%%", "never,fail=1" };
        struct halt h;
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
                ck_assert_msg(halt_read(good[i], &h), "'%s'", good[i]);
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
                ck_assert_msg(!halt_read(bad[i], &h), "'%s'", bad[i]);
        ck_assert(halt_read("now,success=3", &h));
        ck_assert(h.when == HALT_NOW && h.what == HALT_SUCCESS && h.count == 3 && !h.percent);
        ck_assert(!halt_is_reached(&h, 2, 50, 100) && halt_is_reached(&h, 3, 0, 0));
        ck_assert(halt_read("soon,fail=20%", &h));
        ck_assert(!halt_is_reached(&h, 50, 1, 10) && halt_is_reached(&h, 0, 2, 10) && !halt_is_reached(&h, 0, 2, 0));
        ck_assert(halt_read("soon,done=2", &h));
        ck_assert(!halt_is_reached(&h, 1, 0, 0) && halt_is_reached(&h, 1, 1, 0));
        ck_assert(halt_read("never", &h) && !halt_is_reached(&h, 9, 9, 9));
}
END_TEST

START_TEST(rates_have_units_and_limits)
{
        static const char *const bad[] = { "", "0", "1000001", "1/", "1/d", "/s", "1.5", "-1", "1/s ", "1000001/s" };
        int64_t gap = 0;
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
                ck_assert_msg(!settings_read_rate(bad[i], &gap), "'%s'", bad[i]);
        ck_assert(settings_read_rate("4", &gap) && gap == 250000);
        ck_assert(settings_read_rate("1000000/s", &gap) && gap == 1);
        ck_assert(settings_read_rate("6/m", &gap) && gap == 10000000);
        ck_assert(settings_read_rate("1/h", &gap) && gap == 3600000000);
}
END_TEST

START_TEST(a_rate_makes_up_for_late_looks_and_for_nothing_more)
{
        struct pace p;
        pace_init(&p, 0, 1000);
        ck_assert_int_eq(pace_wait_ms(&p, 5000000), 0);
        int started = 0;
        for (int64_t now = 5000000; now < 6000000; now += 3500)
                for (; pace_wait_ms(&p, now) == 0; started++)
                        pace_started(&p, now);
        ck_assert_int_ge(started, 990);
        ck_assert_int_le(started, 1001);
        started = 0;
        for (; pace_wait_ms(&p, 9000000) == 0; started++)
                pace_started(&p, 9000000);
        ck_assert_int_le(started, PACE_SLACK_US / 1000 + 1);
        pace_init(&p, 100, 0);
        pace_started(&p, 5000000);
        ck_assert_int_eq(pace_wait_ms(&p, 5000000), 100);
        ck_assert_int_eq(pace_wait_ms(&p, 5099001), 1);
        ck_assert_int_eq(pace_wait_ms(&p, 5100000), 0);
        pace_init(&p, 0, 0);
        pace_started(&p, 5000000);
        ck_assert(!pace_is_on(&p) && pace_wait_ms(&p, 5000000) == 0);
}
END_TEST

START_TEST(values_become_names_of_directories)
{
        static const char *const rows[][2] = { { "a", "a" },     { "a/b", "a\\_b" }, { "..", "\\.." }, { ".", "\\." },
                                               { "...", "..." }, { "\\\t", "\\\\\\t" }, { "", "" } };
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                struct text out = { 0 };
                text_add(&out, "", 0);
                results_name(&out, rows[i][0]);
                ck_assert_str_eq(out.data, rows[i][1]);
                text_free(&out);
        }
}
END_TEST

int main(void)
{
        const TTest *const tests[] = {
                positions_count_from_both_ends,
                all_values_alone_are_as_many_words,
                lists_make_every_combination_the_last_fastest,
                linked_lists_go_together_as_far_as_the_shortest,
                as_many_inputs_as_asked_go_together,
                columns_are_cut_by_a_regular_expression,
                inputs_that_are_too_much_together_are_counted_not_kept,
                ranges_join_whatever_the_order,
                lines_that_are_none_are_told,
                a_logged_line_end_comes_back_in_quotes,
                exit_codes_are_those_of_a_shell,
                conditions_to_halt_are_read_strictly,
                rates_have_units_and_limits,
                a_rate_makes_up_for_late_looks_and_for_nothing_more,
                values_become_names_of_directories,
        };
        Suite *suite = suite_create("run parts");
        TCase *tcase = tcase_create("all");
        for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
                tcase_add_test(tcase, tests[i]);
        suite_add_tcase(suite, tcase);
        SRunner *runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed != 0;
}
