/*
 * How scaler-run cuts a stream into inputs, and what its placeholders make of one.
 */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "input.h"
#include "template.h"

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

int main(void)
{
        const TTest *const tests[] = {
                a_slow_writer_never_blocks_the_reader,
                nul_ends_inputs_when_asked,
                a_line_that_is_too_long_is_counted_not_kept,
                the_longest_line_is_an_input,
                reading_ahead_tells_the_total_early,
                placeholders_mean_what_gnu_parallel_means,
                other_braces_are_left_alone,
        };
        Suite *suite = suite_create("run inputs");
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
