/*
 * The parts of the tools that need no cluster: numbers on the command line, inputs in pieces, placeholders,
 * outputs that are put aside, and JSON made piece by piece.
 */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "json.h"
#include "option.h"
#include "report.h"
#include "spool.h"
#include "template.h"

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

/* ---- inputs ---- */

struct feed {
        struct inputs   in;
        struct settings settings;
        int             write_fd;
};

static void open_feed(struct feed *f, bool null_separated)
{
        static struct source_words nothing;
        int                        ends[2];
        ck_assert_int_eq(pipe(ends), 0);
        *f                         = (struct feed){ .write_fd = ends[1] };
        f->settings.null_separated = null_separated;
        f->settings.sources        = &nothing; /* opens nothing; the pipe is put in its place */
        f->settings.source_count   = 1;
        ck_assert_int_eq(inputs_open(&f->in, &f->settings), 0);
        f->in.fd          = ends[0];
        f->in.total_known = false;
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
}

static void feed(struct feed *f, const char *bytes, size_t size)
{
        ck_assert_int_eq(write(f->write_fd, bytes, size), (ssize_t)size);
}

static void close_feed(struct feed *f)
{
        inputs_close(&f->in);
}

static void expect_input(struct feed *f, const char *text)
{
        struct input in;
        ck_assert_int_eq(inputs_next(&f->in, &in), INPUT_IS_HERE);
        ck_assert_uint_eq(in.size, strlen(text));
        ck_assert_mem_eq(in.data, text, in.size);
}

START_TEST(a_slow_writer_never_blocks_the_reader)
{
        struct feed  f;
        struct input in;
        open_feed(&f, false);
        ck_assert_int_eq(inputs_next(&f.in, &in), INPUT_WAITS);
        feed(&f, "one\ntw", 6);
        expect_input(&f, "one");
        ck_assert_int_eq(inputs_next(&f.in, &in), INPUT_WAITS);
        feed(&f, "o\r\n\nno end", 10);
        expect_input(&f, "two\r");
        expect_input(&f, "");
        ck_assert_int_eq(inputs_next(&f.in, &in), INPUT_WAITS);
        close(f.write_fd);
        expect_input(&f, "no end");
        ck_assert_int_eq(inputs_next(&f.in, &in), INPUT_ENDS);
        ck_assert(f.in.total_known);
        ck_assert_uint_eq(f.in.total, 4);
        close_feed(&f);
}
END_TEST

START_TEST(nul_ends_inputs_when_asked)
{
        struct feed  f;
        struct input in;
        open_feed(&f, true);
        feed(&f, "a\nb\0\0c", 6);
        close(f.write_fd);
        expect_input(&f, "a\nb");
        expect_input(&f, "");
        expect_input(&f, "c");
        ck_assert_int_eq(inputs_next(&f.in, &in), INPUT_ENDS);
        close_feed(&f);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_counted_not_kept)
{
        struct feed  f;
        struct input in;
        char        *part  = calloc(1, 65536);
        uint64_t     total = 0;
        memset(part, 'x', 65536);
        open_feed(&f, false);
        for (int i = 0; i < 40; i++) {
                feed(&f, part, 65536);
                total += 65536;
                ck_assert_int_eq(inputs_next(&f.in, &in), INPUT_WAITS);
        }
        ck_assert_uint_lt(f.in.ahead.room, 4 * INPUT_BYTES_MAX);
        feed(&f, "\nshort\n", 7);
        ck_assert_int_eq(inputs_next(&f.in, &in), INPUT_IS_HERE);
        ck_assert_uint_eq(in.long_size, total);
        ck_assert_uint_le(in.size, 64);
        expect_input(&f, "short");
        close(f.write_fd);
        close_feed(&f);
        free(part);
}
END_TEST

START_TEST(the_longest_line_is_an_input)
{
        struct feed  f;
        struct input in;
        char        *part = calloc(1, INPUT_BYTES_MAX + 1);
        memset(part, 'x', INPUT_BYTES_MAX);
        part[INPUT_BYTES_MAX] = '\n';
        open_feed(&f, false);
        size_t sent = 0;
        while (sent < INPUT_BYTES_MAX + 1) {
                size_t size = INPUT_BYTES_MAX + 1 - sent < 65536 ? INPUT_BYTES_MAX + 1 - sent : 65536;
                feed(&f, part + sent, size);
                sent += size;
                inputs_read_ahead(&f.in);
        }
        ck_assert_int_eq(inputs_next(&f.in, &in), INPUT_IS_HERE);
        ck_assert_uint_eq(in.size, INPUT_BYTES_MAX);
        ck_assert_uint_eq(in.long_size, 0);
        close(f.write_fd);
        close_feed(&f);
        free(part);
}
END_TEST

START_TEST(reading_ahead_tells_the_total_early)
{
        struct feed f;
        open_feed(&f, false);
        feed(&f, "1\n2\n3", 5);
        expect_input(&f, "1");
        close(f.write_fd);
        inputs_read_ahead(&f.in);
        ck_assert(f.in.total_known);
        ck_assert_uint_eq(f.in.total, 3);
        close_feed(&f);
}
END_TEST

/* ---- placeholders ---- */

START_TEST(placeholders_mean_what_gnu_parallel_means)
{
        static const struct {
                const char *input, *expected;
        } rows[] = {
                { "foo", "[foo] [foo] [foo] [.] [foo] 7" },
                { "foo.tar.gz", "[foo.tar.gz] [foo.tar] [foo.tar.gz] [.] [foo.tar] 7" },
                { "dir.d/file", "[dir.d/file] [dir.d/file] [file] [dir.d] [file] 7" },
                { "dir.d/file.", "[dir.d/file.] [dir.d/file] [file.] [dir.d] [file] 7" },
                { ".x", "[.x] [] [.x] [.] [] 7" },
                { "a/.x", "[a/.x] [a/] [.x] [a] [] 7" },
                { "a/b/", "[a/b/] [a/b/] [] [a] [] 7" },
                { "/a", "[/a] [/a] [a] [/] [a] 7" },
                { "a//b", "[a//b] [a//b] [b] [a] [b] 7" },
                { "/", "[/] [/] [] [/] [] 7" },
                { "", "[] [] [] [.] [] 7" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                struct text         out  = { 0 };
                struct span         item = { rows[i].input, strlen(rows[i].input) };
                const struct values v    = { .items = &item, .count = 1, .number = 7 };
                ck_assert(template_add(&out, "[{}] [{.}] [{/}] [{//}] [{/.}] {#}", &v));
                ck_assert_str_eq(out.data, rows[i].expected);
                text_free(&out);
        }
}
END_TEST

START_TEST(other_braces_are_left_alone)
{
        struct text         out  = { 0 };
        struct span         item = { "{}", 2 };
        const struct values v    = { .items = &item, .count = 1, .number = 1 };
        ck_assert(!template_add(&out, "{ } {x} {/x} {{ {0} {-} {1x} {1234567} {1", &v));
        ck_assert_str_eq(out.data, "{ } {x} {/x} {{ {0} {-} {1x} {1234567} {1");
        text_clear(&out);
        ck_assert(template_add(&out, "{{}}", &v));
        ck_assert_str_eq(out.data, "{{}}");
        text_free(&out);
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
                ck_assert(window_has_room(w));
                struct task *task = add(w, n);
                if (n > 1)
                        window_end_unsent(w, task, SCALER_REASON_TASK, "");
        }
        ck_assert(!window_has_room(w));
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
                a_slow_writer_never_blocks_the_reader,
                nul_ends_inputs_when_asked,
                a_line_that_is_too_long_is_counted_not_kept,
                the_longest_line_is_an_input,
                reading_ahead_tells_the_total_early,
                placeholders_mean_what_gnu_parallel_means,
                other_braces_are_left_alone,
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
