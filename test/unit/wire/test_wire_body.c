/*
 * Bodies: arguments and commands there and back, at their limits and past them, and what no command
 * may hold.
 */
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "fail_mem.h"
#include "run_tests.h"
#include "sc_buf.h"
#include "sc_rng.h"
#include "sc_status.h"

static struct fail_mem fail;
static struct sc_buf   buf;
static uint8_t        *pool; /* SC_BODY_MAX + 1 bytes, none of them NUL */

static void start(void)
{
        fail_mem_init(&fail, 0);
        sc_buf_init(&buf, &fail.mem, SC_FRAME_MAX);
        pool = malloc(SC_BODY_MAX + 1);
        memset(pool, 'x', SC_BODY_MAX + 1);
}

static void finish(void)
{
        free(pool);
        sc_buf_fini(&buf);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}

static struct sc_view text(const char *words)
{
        return (struct sc_view){ words, strlen(words) };
}

static struct sc_view body(void)
{
        return (struct sc_view){ buf.data, buf.len };
}

static bool same(struct sc_view a, struct sc_view b)
{
        return a.len == b.len && (a.len == 0 || !a.ptr || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static void all_same(const struct sc_view *a, const struct sc_view *b, uint32_t count)
{
        for (uint32_t i = 0; i < count; i++)
                if (!same(a[i], b[i]))
                        ck_abort_msg("item %u came back different", (unsigned)i);
}

/* ---- arguments ---------------------------------------------------------------------------------- */

START_TEST(no_arguments_are_no_bytes)
{
        uint32_t count = 7;
        ck_assert_int_eq(sc_body_pack_args(&buf, NULL, 0), 0);
        ck_assert_uint_eq(buf.len, 0);
        ck_assert_int_eq(sc_body_unpack_args((struct sc_view){ NULL, 0 }, NULL, 0, &count), 0);
        ck_assert_uint_eq(count, 0);
        ck_assert_int_eq(sc_body_unpack_args((struct sc_view){ "\x80", 1 }, NULL, 0, &count), 0);
        ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(arguments_come_back_the_same_up_to_their_limit)
{
        static struct sc_view in[SC_ARGS_MAX + 1], out[SC_ARGS_MAX];
        uint32_t              count = 0;
        for (uint32_t i = 0; i <= SC_ARGS_MAX; i++)
                in[i] = i % 7 == 3 ? SC_ARG_RESULT : (struct sc_view){ pool, i % 5 };
        ck_assert_int_eq(sc_body_pack_args(&buf, in, SC_ARGS_MAX), 0);
        ck_assert_int_eq(sc_body_unpack_args(body(), out, SC_ARGS_MAX, &count), 0);
        ck_assert_uint_eq(count, SC_ARGS_MAX);
        all_same(in, out, count);
        ck_assert_int_eq(sc_body_pack_args(&buf, in, SC_ARGS_MAX + 1), SC_E_TOO_BIG);
        ck_assert_int_eq(sc_body_unpack_args((struct sc_view){ "\x81\x01\xdd\x00\x02\x00\x01", 7 }, NULL, 0, &count),
                         SC_E_PROTOCOL);
}
END_TEST

START_TEST(arguments_can_be_counted_or_taken_in_part)
{
        const struct sc_view in[3]  = { text("a"), text("bb"), text("") };
        struct sc_view       out[3] = { { NULL, 0 } };
        uint32_t             count  = 0;
        ck_assert_int_eq(sc_body_pack_args(&buf, in, 3), 0);
        ck_assert_int_eq(sc_body_unpack_args(body(), NULL, 0, &count), 0);
        ck_assert_uint_eq(count, 3);
        ck_assert_int_eq(sc_body_unpack_args(body(), out, 2, &count), 0);
        ck_assert_uint_eq(count, 3);
        all_same(in, out, 2);
        ck_assert_ptr_null(out[2].ptr);
}
END_TEST

START_TEST(the_largest_body_is_a_megabyte_to_the_byte)
{
        const struct sc_view fits = { pool, SC_BODY_MAX - 8 }, over = { pool, SC_BODY_MAX - 7 };
        const struct sc_view huge = { pool, SIZE_MAX };
        uint32_t             count;
        ck_assert_int_eq(sc_body_pack_args(&buf, &over, 1), SC_E_TOO_BIG);
        ck_assert_int_eq(sc_body_pack_args(&buf, &huge, 1), SC_E_TOO_BIG);
        ck_assert_uint_eq(buf.len, 0);
        ck_assert_int_eq(sc_body_pack_args(&buf, &fits, 1), 0);
        ck_assert_uint_eq(buf.len, SC_BODY_MAX);
        ck_assert_int_eq(sc_body_unpack_args(body(), NULL, 0, &count), 0);
        ck_assert_int_eq(sc_body_unpack_args((struct sc_view){ buf.data, SC_BODY_MAX + 1 }, NULL, 0, &count),
                         SC_E_PROTOCOL);
}
END_TEST

static int args_of(const char *bytes, size_t len)
{
        uint32_t count;
        return sc_body_unpack_args((struct sc_view){ bytes, len }, NULL, 0, &count);
}

START_TEST(arguments_of_nonsense_are_refused)
{
        ck_assert_int_eq(args_of("\x81\x09\xc0", 3), 0); /* a key of tomorrow */
        ck_assert_int_eq(args_of("\x90", 1), SC_E_PROTOCOL);
        ck_assert_int_eq(args_of("\x80\x80", 2), SC_E_PROTOCOL); /* something behind */
        ck_assert_int_eq(args_of("\x82\x01\x90\x01\x90", 5), SC_E_PROTOCOL);
        ck_assert_int_eq(args_of("\x81\x01\x91\xa1x", 5), SC_E_PROTOCOL);
        ck_assert_int_eq(args_of("\x81\x01\x91\xc4\x05x", 6), SC_E_PROTOCOL);
        ck_assert_int_eq(args_of("\x81\x01\xdd\xff\xff\xff\xff", 7), SC_E_PROTOCOL);
}
END_TEST

/* ---- commands ----------------------------------------------------------------------------------- */

static int unpack(struct sc_command *out, struct sc_view *argv, struct sc_view *env)
{
        struct sc_command counted;
        const int         status = sc_body_unpack_command(body(), &counted, NULL, NULL);
        if (status != 0)
                return status;
        ck_assert_ptr_null(counted.argv);
        ck_assert_int_eq(sc_body_unpack_command(body(), out, argv, env), 0);
        ck_assert_uint_eq(out->argc, counted.argc);
        ck_assert_uint_eq(out->envc, counted.envc);
        ck_assert_ptr_eq(out->argv, argv);
        return 0;
}

START_TEST(a_command_comes_back_the_same)
{
        const struct sc_view argv[] = { text("sh"), text(""), text("-c") },
                             env[]  = { text("A=b=c"), text("HOME"), text("E=") };
        const struct sc_command k   = { .flags      = SC_COMMAND_CLEAR_ENV | SC_COMMAND_SHELL | SC_COMMAND_MERGE,
                                        .output_max = UINT64_MAX,
                                        .cwd        = text("/tmp"),
                                        .input      = { "a\0b", 3 },
                                        .argv       = argv,
                                        .argc       = 3,
                                        .env        = env,
                                        .envc       = 3,
                                        .nice       = 7 };
        struct sc_view          argv_back[3], env_back[3];
        struct sc_command       back;
        ck_assert_int_eq(sc_body_pack_command(&buf, &k), 0);
        ck_assert_int_eq(unpack(&back, argv_back, env_back), 0);
        ck_assert_uint_eq(back.flags, k.flags);
        ck_assert_uint_eq(back.output_max, k.output_max);
        ck_assert_uint_eq(back.nice, 7);
        ck_assert(same(back.cwd, k.cwd) && same(back.input, k.input));
        ck_assert_uint_eq(back.argc, 3);
        ck_assert_uint_eq(back.envc, 3);
        all_same(argv, argv_back, 3);
        all_same(env, env_back, 3);
}
END_TEST

START_TEST(the_smallest_command_is_one_word)
{
        const struct sc_view    argv[] = { text("true") };
        const struct sc_command k      = { .argv = argv, .argc = 1 };
        struct sc_view          back_argv[1];
        struct sc_command       back;
        ck_assert_int_eq(sc_body_pack_command(&buf, &k), 0);
        ck_assert_uint_eq(buf.len, 9);
        ck_assert_int_eq(unpack(&back, back_argv, NULL), 0);
        ck_assert_uint_eq(back.argc, 1);
        ck_assert_uint_eq(back.envc, 0);
        ck_assert_uint_eq(back.cwd.len, 0);
}
END_TEST

static int packed(struct sc_command k)
{
        const int status = sc_body_pack_command(&buf, &k);
        if (status != 0)
                ck_assert_uint_eq(buf.len, 0);
        return status;
}

START_TEST(what_no_command_may_hold_is_not_packed)
{
        const struct sc_view good[] = { text("a") }, nul[] = { text("a"), { "x\0y", 3 } };
        const struct sc_view no_name[] = { text("=x") }, empty[] = { text("") };
        ck_assert_int_eq(packed((struct sc_command){ .argv = good, .argc = 0 }), SC_E_INVALID);
        ck_assert_int_eq(packed((struct sc_command){ .argv = nul, .argc = 2 }), SC_E_INVALID);
        ck_assert_int_eq(packed((struct sc_command){ .argv = good, .argc = 1, .cwd = nul[1] }), SC_E_INVALID);
        ck_assert_int_eq(packed((struct sc_command){ .argv = good, .argc = 1, .env = nul, .envc = 2 }), SC_E_INVALID);
        ck_assert_int_eq(packed((struct sc_command){ .argv = good, .argc = 1, .env = no_name, .envc = 1 }),
                         SC_E_INVALID);
        ck_assert_int_eq(packed((struct sc_command){ .argv = good, .argc = 1, .env = empty, .envc = 1 }), SC_E_INVALID);
        ck_assert_int_eq(packed((struct sc_command){ .argv = good, .argc = 1, .flags = 8 }), SC_E_INVALID);
        ck_assert_int_eq(packed((struct sc_command){ .argv = good, .argc = 1, .input = nul[1] }), 0);
}
END_TEST

static int command_of(const char *bytes, size_t len)
{
        struct sc_command k      = { .argc = 77 };
        const int         status = sc_body_unpack_command((struct sc_view){ bytes, len }, &k, NULL, NULL);
        ck_assert(status == 0 || k.argc == 77);
        return status;
}

START_TEST(what_no_command_may_hold_is_refused)
{
        ck_assert_int_eq(command_of("\x81\x05\x91\xc4\x01x", 6), 0);
        ck_assert_int_eq(command_of("\x82\x05\x91\xc4\x01x\x7f\xc0", 8), 0);
        ck_assert_int_eq(command_of("", 0), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x80", 1), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x81\x05\x90", 3), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x81\x05\x91\xc4\x01\x00", 6), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x81\x05\x91\xc4\x01x\x00", 7), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x82\x05\x91\xc4\x01x\x01\x08", 8), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x82\x05\x91\xc4\x01x\x03\xc4\x01\x00", 10), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x82\x05\x91\xc4\x01x\x06\x91\xc4\x01=", 11), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x82\x05\x91\xc4\x01x\x06\x91\xc4\x00", 10), SC_E_PROTOCOL);
        ck_assert_int_eq(command_of("\x82\x05\x91\xc4\x01x\x06\x91\xc4\x01N", 11), 0);
}
END_TEST

START_TEST(the_longest_command_line_comes_back_and_one_more_is_refused)
{
        struct sc_view *argv = calloc(SC_ARGV_MAX + 1, sizeof(*argv)), *back = calloc(SC_ARGV_MAX, sizeof(*back));
        struct sc_view *env = calloc(SC_ENV_MAX + 1, sizeof(*env)), *env_back = calloc(SC_ENV_MAX, sizeof(*env_back));
        for (uint32_t i = 0; i <= SC_ARGV_MAX; i++)
                argv[i] = (struct sc_view){ pool, i % 4 };
        for (uint32_t i = 0; i <= SC_ENV_MAX; i++)
                env[i] = (struct sc_view){ pool, 1 + i % 4 };
        struct sc_command k = { .argv = argv, .argc = SC_ARGV_MAX + 1, .env = env, .envc = SC_ENV_MAX }, out;
        ck_assert_int_eq(packed(k), SC_E_TOO_BIG);
        k.argc = SC_ARGV_MAX;
        k.envc = SC_ENV_MAX + 1;
        ck_assert_int_eq(packed(k), SC_E_TOO_BIG);
        k.envc = SC_ENV_MAX;
        ck_assert_int_eq(packed(k), 0);
        ck_assert_int_eq(unpack(&out, back, env_back), 0);
        all_same(argv, back, SC_ARGV_MAX);
        all_same(env, env_back, SC_ENV_MAX);
        ck_assert_int_eq(command_of("\x81\x05\xdd\x00\x02\x00\x01", 7), SC_E_PROTOCOL);
        free(env_back);
        free(env);
        free(back);
        free(argv);
}
END_TEST

START_TEST(niceness_ends_at_nineteen)
{
        const struct sc_view argv[] = { text("x") };
        struct sc_command    k      = { .argv = argv, .argc = 1, .nice = SC_NICE_MAX }, out;
        struct sc_view       back[1];
        ck_assert_int_eq(packed(k), 0);
        ck_assert_int_eq(unpack(&out, back, NULL), 0);
        ck_assert_uint_eq(out.nice, SC_NICE_MAX);
        sc_buf_reset(&buf);
        k.nice++;
        ck_assert_int_eq(packed(k), SC_E_INVALID);
        ck_assert_int_eq(command_of("\x82\x05\x91\xc4\x01x\x07\x13", 8), 0);
        ck_assert_int_eq(command_of("\x82\x05\x91\xc4\x01x\x07\x14", 8), SC_E_PROTOCOL);
}
END_TEST

START_TEST(a_command_fills_a_body_to_the_byte)
{
        const struct sc_view argv[] = { text("cat") };
        struct sc_command    k      = { .argv = argv, .argc = 1, .input = { pool, SC_BODY_MAX - 14 } };
        ck_assert_int_eq(packed(k), 0);
        ck_assert_uint_eq(buf.len, SC_BODY_MAX);
        sc_buf_reset(&buf);
        k.nice = 1;
        ck_assert_int_eq(packed(k), SC_E_TOO_BIG);
        k.nice = 0;
        k.input.len++;
        ck_assert_int_eq(packed(k), SC_E_TOO_BIG);
}
END_TEST

/* ---- both --------------------------------------------------------------------------------------- */

START_TEST(a_body_cut_or_changed_anywhere_does_no_harm)
{
        const struct sc_view    items[] = { text("alpha"), text("B=2"), text("c") };
        const struct sc_command k       = { .flags      = 2,
                                            .output_max = 9,
                                            .cwd        = text("/"),
                                            .input      = text("in"),
                                            .argv       = items,
                                            .argc       = 3,
                                            .env        = items,
                                            .envc       = 3 };
        ck_assert_int_eq(packed(k), 0);
        for (size_t len = 0; len < buf.len; len++) {
                uint8_t *copy = malloc(len + 1);
                memcpy(copy, buf.data, len);
                ck_assert_int_eq(command_of((const char *)copy, len), SC_E_PROTOCOL);
                free(copy);
        }
        for (size_t at = 0; at < buf.len; at++) {
                const uint8_t was = buf.data[at];
                for (int value = 0; value < 256; value++) {
                        uint8_t *copy = malloc(buf.len);
                        buf.data[at]  = (uint8_t)value;
                        memcpy(copy, buf.data, buf.len);
                        (void)command_of((const char *)copy, buf.len);
                        (void)args_of((const char *)copy, buf.len);
                        free(copy);
                }
                buf.data[at] = was;
        }
}
END_TEST

START_TEST(a_small_or_failing_buffer_takes_nothing_of_a_body)
{
        const struct sc_view    items[] = { text("alpha"), text("B=2"), text("c") };
        const struct sc_command k       = { .argv = items, .argc = 3 };
        struct sc_buf           small;
        sc_buf_init(&small, &fail.mem, 20);
        ck_assert_int_eq(sc_body_pack_args(&small, items, 3), 0);
        ck_assert_uint_eq(small.len, 18);
        ck_assert_int_eq(sc_body_pack_args(&small, items, 3), SC_E_TOO_BIG);
        ck_assert_int_eq(sc_body_pack_command(&small, &k), SC_E_TOO_BIG);
        ck_assert_uint_eq(small.len, 18);
        sc_buf_fini(&small);
        struct fail_mem tight;
        fail_mem_init(&tight, 1);
        sc_buf_init(&small, &tight.mem, 20);
        ck_assert_int_eq(sc_body_pack_args(&small, items, 3), SC_E_NOMEM);
        ck_assert_int_eq(sc_body_pack_command(&small, &k), 0);
        sc_buf_fini(&small);
        fail_mem_init(&tight, 1);
        sc_buf_init(&small, &tight.mem, 20);
        ck_assert_int_eq(sc_body_pack_command(&small, &k), SC_E_NOMEM);
        sc_buf_fini(&small);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("body");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, no_arguments_are_no_bytes);
        tcase_add_test(tests, arguments_come_back_the_same_up_to_their_limit);
        tcase_add_test(tests, arguments_can_be_counted_or_taken_in_part);
        tcase_add_test(tests, the_largest_body_is_a_megabyte_to_the_byte);
        tcase_add_test(tests, arguments_of_nonsense_are_refused);
        tcase_add_test(tests, a_command_comes_back_the_same);
        tcase_add_test(tests, the_smallest_command_is_one_word);
        tcase_add_test(tests, what_no_command_may_hold_is_not_packed);
        tcase_add_test(tests, what_no_command_may_hold_is_refused);
        tcase_add_test(tests, the_longest_command_line_comes_back_and_one_more_is_refused);
        tcase_add_test(tests, niceness_ends_at_nineteen);
        tcase_add_test(tests, a_command_fills_a_body_to_the_byte);
        tcase_add_test(tests, a_body_cut_or_changed_anywhere_does_no_harm);
        tcase_add_test(tests, a_small_or_failing_buffer_takes_nothing_of_a_body);
        return run_tests("wire body", tests);
}
