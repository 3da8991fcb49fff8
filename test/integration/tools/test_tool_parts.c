/*
 * The parts of the tools that need no cluster: numbers on the command line, outputs that are put aside, JSON
 * made piece by piece, and the order of printing.
 */
#include <check.h>
#include <stdlib.h>

#include "json.h"
#include "option.h"
#include "report.h"
#include "spool.h"

/* ---- options ---- */

START_TEST(numbers_are_read_strictly)
{
        int64_t                  value = -7;
        static const char *const bad[] = { "", "-1", "+1", " 1", "1 ", "1x", "0x10", "9223372036854775808", "1e3" };
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
                ck_assert_msg(!option_read_count(bad[i], &value), "'%s'", bad[i]);
        ck_assert_int_eq(value, -7);
        ck_assert(option_read_count("9223372036854775807", &value));
        ck_assert_int_eq(value, INT64_MAX);
}
END_TEST

START_TEST(sizes_know_their_units)
{
        int64_t value = 0;
        ck_assert(option_read_bytes("3K", &value));
        ck_assert_int_eq(value, 3072);
        ck_assert(option_read_bytes("2T", &value));
        ck_assert_int_eq(value, INT64_C(2) << 40);
        ck_assert(!option_read_bytes("8388608T", &value));
        ck_assert(!option_read_bytes("1KB", &value));
        ck_assert(!option_read_bytes("K", &value));
}
END_TEST

START_TEST(times_know_their_units)
{
        static const struct {
                const char *text;
                int64_t     ms;
        } good[]                       = { { "1", 1000 }, { "0.25", 250 },  { "1.5s", 1500 },
                                           { "7ms", 7 },  { "2m", 120000 }, { "1.5h", 5400000 } };
        static const char *const bad[] = { "", ".5", "1.", "1d", "-1", "1.1234567", "9223372036854775807h" };
        int64_t                  ms    = 0;
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
                ck_assert(option_read_time(good[i].text, &ms));
                ck_assert_int_eq(ms, good[i].ms);
        }
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
                ck_assert_msg(!option_read_time(bad[i], &ms), "'%s'", bad[i]);
}
END_TEST

/* ---- outputs put aside ---- */

static void fill(char *bytes, size_t size, unsigned seed)
{
        for (size_t i = 0; i < size; i++)
                bytes[i] = (char)(seed + i * 31 + i / 251);
}

static void expect_spool(struct spool_pool *pool, struct spool *s, const char *bytes, size_t size)
{
        struct spool_cursor at   = { 0 };
        size_t              seen = 0;
        const char         *part;
        int                 got;
        while ((got = spool_peek(pool, s, &at, &part)) > 0) {
                ck_assert_uint_le(seen + (size_t)got, size);
                ck_assert_mem_eq(part, bytes + seen, (size_t)got);
                seen += (size_t)got;
                spool_pass(pool, s, &at, (size_t)got, false);
        }
        ck_assert_int_eq(got, 0);
        ck_assert_uint_eq(seen, size);
}

START_TEST(what_exceeds_memory_goes_to_a_file_and_comes_back)
{
        struct spool_pool *pool = malloc(sizeof *pool);
        struct spool       a = { 0 }, b = { 0 };
        size_t             size  = 1000000;
        char              *bytes = malloc(size), *other = malloc(size);
        fill(bytes, size, 1);
        fill(other, size, 77);
        spool_pool_init(pool, 2 * SPOOL_BLOCK_BYTES);
        for (size_t at = 0; at < size; at += 10000) {
                ck_assert_int_eq(spool_add(pool, &a, bytes + at, 10000), 0);
                ck_assert_int_eq(spool_add(pool, &b, other + at, 10000), 0);
                ck_assert_uint_le(pool->memory_used, pool->memory_max);
        }
        ck_assert_int_ge(pool->fd, 0);
        expect_spool(pool, &a, bytes, size);
        expect_spool(pool, &b, other, size);
        uint32_t blocks = pool->file_blocks;
        spool_clear(pool, &a);
        for (size_t at = 0; at < size; at += 10000)
                ck_assert_int_eq(spool_add(pool, &a, other + at, 10000), 0);
        expect_spool(pool, &a, other, size);
        ck_assert_uint_le(pool->file_blocks, blocks);
        spool_clear(pool, &a);
        spool_clear(pool, &b);
        ck_assert_uint_eq(pool->memory_used, 0);
        spool_pool_fini(pool);
        free(pool);
        free(bytes);
        free(other);
}
END_TEST

START_TEST(small_outputs_take_little_memory)
{
        struct spool_pool *pool  = malloc(sizeof *pool);
        struct spool       s[64] = { { 0 } };
        spool_pool_init(pool, SPOOL_MEMORY_MAX);
        for (int i = 0; i < 64; i++)
                ck_assert_int_eq(spool_add(pool, &s[i], "x\n", 2), 0);
        ck_assert_uint_le(pool->memory_used, 64 * 256);
        for (int i = 0; i < 64; i++)
                spool_clear(pool, &s[i]);
        spool_pool_fini(pool);
        free(pool);
}
END_TEST

START_TEST(a_file_that_cannot_be_made_is_an_error)
{
        struct spool_pool *pool = malloc(sizeof *pool);
        struct spool       s    = { 0 };
        setenv("TMPDIR", "/nowhere/at/all", 1);
        spool_pool_init(pool, 0);
        ck_assert_int_eq(spool_add(pool, &s, "x", 1), -1);
        spool_clear(pool, &s);
        spool_pool_fini(pool);
        free(pool);
}
END_TEST

/* ---- JSON ---- */

static char *make_report(struct window *w, const char *bytes, size_t size, size_t step)
{
        struct report       r    = { 0 };
        struct text         out  = { 0 };
        const struct record in   = { .data = "in\"put", .size = 6, .count = 1, .number = 1 };
        struct task        *task = window_add(w, &in);
        for (size_t at = 0; at < size; at += step)
                ck_assert_int_eq(spool_add(&w->pool, &task->output[0], bytes + at, size - at < step ? size - at : step),
                                 0);
        window_end_unsent(w, task, SCALER_REASON_NOT_STARTED, "");
        int more = 1;
        while (more > 0)
                more = report_next(&r, w, task, &out);
        ck_assert_int_eq(more, 0);
        window_remove(w, task);
        return out.data;
}

START_TEST(utf8_across_blocks_stays_text)
{
        struct window *w     = malloc(sizeof *w);
        size_t         size  = 3 * SPOOL_BLOCK_BYTES + 1;
        char          *bytes = malloc(size);
        window_init(w, false);
        bytes[0] = 'x';
        for (size_t i = 1; i < size; i += 3)
                memcpy(bytes + i, "\xe2\x82\xac", 3);
        char *line = make_report(w, bytes, size, 999);
        ck_assert_ptr_nonnull(strstr(line, "\"stdout\":\"x\xe2\x82\xac"));
        ck_assert_ptr_null(strstr(line, "\\ufffd"));
        ck_assert_ptr_null(strstr(line, "base64"));
        free(line);
        bytes[size - 1] = 'y';
        line            = make_report(w, bytes, size, 999);
        ck_assert_ptr_nonnull(strstr(line, "\"stdout\":null,\"stdout_base64\":\""));
        free(line);
        window_fini(w);
        free(w);
        free(bytes);
}
END_TEST

START_TEST(base64_has_padding_only_at_its_end)
{
        struct window *w     = malloc(sizeof *w);
        size_t         size  = 2 * SPOOL_BLOCK_BYTES + 2;
        char          *bytes = malloc(size);
        window_init(w, false);
        memset(bytes, 0xff, size);
        char *line = make_report(w, bytes, size, 1000);
        char *at   = strchr(line, '=');
        ck_assert_ptr_nonnull(at);
        ck_assert_int_eq(memcmp(at, "==\",\"stderr\":\"\"}\n", 17), 0);
        free(line);
        window_fini(w);
        free(w);
        free(bytes);
}
END_TEST

START_TEST(strings_are_escaped)
{
        struct text out = { 0 };
        json_string(&out, "a\"\\\n\x01\x7f\xff\xc3\xa9", 9);
        ck_assert_str_eq(out.data, "\"a\\\"\\\\\\n\\u0001\\u007f\\ufffd\xc3\xa9\"");
        text_free(&out);
}
END_TEST

/* ---- order ---- */

static struct task *add(struct window *w, uint64_t number)
{
        const struct record in = { .data = "", .size = 0, .count = 1, .number = number };
        return window_add(w, &in);
}

START_TEST(nobody_gets_further_ahead_than_the_window)
{
        struct window *w = malloc(sizeof *w);
        window_init(w, true);
        for (uint64_t n = 1; n <= WINDOW_TASKS; n++) {
                ck_assert(window_has_room(w, 1));
                struct task *task = add(w, n);
                if (n > 1)
                        window_end_unsent(w, task, SCALER_REASON_TASK, "");
        }
        ck_assert(!window_has_room(w, 1));
        struct task *oldest = window_next(w);
        ck_assert_uint_eq(oldest->number, 1);
        ck_assert_int_eq(oldest->stage, TASK_PENDING);
        window_end_unsent(w, oldest, SCALER_REASON_TASK, "");
        for (uint64_t n = 1; n <= WINDOW_TASKS; n++) {
                ck_assert_uint_eq(window_next(w)->number, n);
                window_remove(w, window_next(w));
        }
        ck_assert(window_is_empty(w));
        ck_assert_ptr_null(window_next(w));
        ck_assert_uint_eq(w->failed, WINDOW_TASKS);
        window_fini(w);
        free(w);
}
END_TEST

START_TEST(without_order_the_first_to_end_comes_first)
{
        struct window *w = malloc(sizeof *w);
        window_init(w, false);
        struct task *a = add(w, 1), *b = add(w, 2);
        window_end_unsent(w, b, SCALER_REASON_TASK, "");
        window_end_unsent(w, a, SCALER_REASON_TASK, "");
        ck_assert_ptr_eq(window_next(w), b);
        window_remove(w, b);
        ck_assert_ptr_eq(window_next(w), a);
        window_remove(w, a);
        ck_assert_ptr_null(window_next(w));
        window_fini(w);
        free(w);
}
END_TEST

int main(void)
{
        const TTest *const tests[] = {
                numbers_are_read_strictly,
                sizes_know_their_units,
                times_know_their_units,
                what_exceeds_memory_goes_to_a_file_and_comes_back,
                small_outputs_take_little_memory,
                a_file_that_cannot_be_made_is_an_error,
                utf8_across_blocks_stays_text,
                base64_has_padding_only_at_its_end,
                strings_are_escaped,
                nobody_gets_further_ahead_than_the_window,
                without_order_the_first_to_end_comes_first,
        };
        Suite *suite = suite_create("tool parts");
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
