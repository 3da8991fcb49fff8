/*
 * Every kind goes to bytes and comes back the same, up to its limits and not beyond; what the tables
 * say of themselves is true; buffers and arenas that cannot grow change nothing.
 */
#include <signal.h>
#include <string.h>

#include "codec.h"
#include "fail_mem.h"
#include "run_tests.h"
#include "sc_buf.h"
#include "sc_status.h"
#include "wire_gen.h"

static struct fail_mem       fail;
static struct sc_buf         buf;
static struct sc_codec_arena arena;
static struct wire_gen      *gen;

static void start(void)
{
        fail_mem_init(&fail, 0);
        sc_buf_init(&buf, &fail.mem, SC_FRAME_MAX);
        sc_codec_arena_init(&arena, &fail.mem);
        gen = wire_gen_create(1);
}

static void finish(void)
{
        sc_codec_arena_fini(&arena);
        sc_buf_fini(&buf);
        wire_gen_destroy(gen);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}

static void pack(const struct sc_msg *msg)
{
        const size_t before = buf.len;
        ck_assert_int_eq(sc_codec_pack(&buf, msg), 0);
        ck_assert_uint_le(buf.len - before, sc_codec_bound(msg));
}

static int unpack(struct sc_msg *out, const char **why)
{
        size_t    cursor = 0;
        const int got    = sc_codec_unpack(buf.data, buf.len, &cursor, &arena, out, why);
        if (got >= 0)
                ck_assert_uint_eq(cursor, buf.len);
        return got;
}

static void round_trip(const struct sc_msg *msg)
{
        struct sc_msg back;
        const char   *why = "";
        sc_buf_reset(&buf);
        pack(msg);
        const int got = unpack(&back, &why);
        ck_assert_msg(got == 1, "kind %d: %s", msg->kind, why);
        ck_assert_msg(wire_same(msg, &back), "kind %d came back different", msg->kind);
}

START_TEST(every_kind_of_the_list_has_a_table_and_no_other_has)
{
        const int *next = wire_kinds;
        for (uint64_t kind = 0; kind < 1000; kind++) {
                ck_assert_msg((sc_layout_of(kind) != NULL) == ((uint64_t)*next == kind), "kind %d", (int)kind);
                next += (uint64_t)*next == kind;
        }
        ck_assert_int_eq(*next, 0);
        ck_assert_ptr_null(sc_layout_of(UINT64_MAX));
}
END_TEST

static void check_table(const struct sc_layout *layout)
{
        uint64_t required = 0;
        size_t   views    = layout->count;
        for (size_t i = 0; i < layout->count; i++) {
                const struct sc_field *f = &layout->fields[i];
                ck_assert(f->key >= 1 && f->key < 64 && f->type < SC_FIELD_TYPES);
                ck_assert(i == 0 || f[-1].key < f->key);
                ck_assert(f->type == SC_FIELD_U64 || f->type == SC_FIELD_MAGIC || f->min <= f->max);
                ck_assert(f->type != SC_FIELD_U8 || f->max <= UINT8_MAX);
                required |= f->min > 0 ? UINT64_C(1) << f->key : 0;
                ck_assert((f->type == SC_FIELD_PLAN) == (i >= layout->plain));
                if (f->type >= SC_FIELD_TEXT && i < views)
                        views = i;
        }
        ck_assert_uint_le(layout->count - layout->plain, 1);
        ck_assert_uint_eq(required, layout->required);
        ck_assert_uint_eq(views, layout->views);
}

START_TEST(the_tables_keep_their_own_rules)
{
        for (const int *kind = wire_kinds; *kind; kind++)
                check_table(sc_layout_of((uint64_t)*kind));
        check_table(&sc_layout_hold);
        check_table(&sc_layout_plan);
}
END_TEST

START_TEST(every_kind_comes_back_with_nothing_but_what_is_required)
{
        struct sc_msg msg;
        for (const int *kind = wire_kinds; *kind; kind++) {
                wire_gen_smallest(gen, *kind, &msg);
                round_trip(&msg);
        }
}
END_TEST

START_TEST(every_kind_comes_back_with_every_field_at_its_limit)
{
        struct sc_msg msg;
        for (const int *kind = wire_kinds; *kind; kind++) {
                wire_gen_largest(gen, *kind, &msg);
                round_trip(&msg);
                ck_assert_uint_le(buf.len, SC_FRAME_MAX - 24);
        }
}
END_TEST

START_TEST(random_messages_come_back_the_same)
{
        struct sc_msg msg;
        for (int i = 0; i < 2000; i++)
                for (const int *kind = wire_kinds; *kind; kind++) {
                        wire_gen_random(gen, *kind, &msg);
                        round_trip(&msg);
                }
}
END_TEST

START_TEST(records_of_one_frame_come_one_after_the_other)
{
        struct sc_msg msgs[GEN_PLANS], back;
        for (int i = 0; i < GEN_PLANS; i++) {
                wire_gen_random(gen, SC_MSG_ASSIGN, &msgs[i]);
                pack(&msgs[i]);
        }
        size_t      cursor = 0;
        const char *why;
        for (int i = 0; i < GEN_PLANS; i++) {
                ck_assert_int_eq(sc_codec_unpack(buf.data, buf.len, &cursor, &arena, &back, &why), 1);
                ck_assert(wire_same(&msgs[i], &back));
        }
        ck_assert_uint_eq(cursor, buf.len);
        ck_assert_int_eq(sc_codec_unpack(buf.data, buf.len, &cursor, &arena, &back, &why), SC_E_PROTOCOL);
        ck_assert_str_eq(why, "a value is cut short");
}
END_TEST

START_TEST(views_point_into_the_frame)
{
        struct sc_msg msg, back;
        const char   *why;
        wire_gen_largest(gen, SC_MSG_HELLO, &msg);
        pack(&msg);
        ck_assert_int_eq(unpack(&back, &why), 1);
        for (uint32_t i = 0; i < back.hello.function_count; i++) {
                const uint8_t *at = back.hello.functions[i].ptr;
                ck_assert(at > buf.data && at + back.hello.functions[i].len <= buf.data + buf.len);
        }
}
END_TEST

START_TEST(a_full_buffer_takes_nothing_of_a_record)
{
        struct sc_msg msg;
        struct sc_buf small;
        wire_gen_random(gen, SC_MSG_SUBMIT, &msg);
        sc_buf_init(&small, &fail.mem, sc_codec_bound(&msg));
        ck_assert_int_eq(sc_codec_pack(&small, &msg), 0);
        const size_t len = small.len;
        ck_assert_int_eq(sc_codec_pack(&small, &msg), SC_E_TOO_BIG);
        ck_assert_uint_eq(small.len, len);
        sc_buf_fini(&small);
        sc_buf_init(&small, &fail.mem, sc_codec_bound(&msg) - 1);
        ck_assert_int_eq(sc_codec_pack(&small, &msg), SC_E_TOO_BIG);
        ck_assert_uint_eq(small.len, 0);
        sc_buf_fini(&small);
}
END_TEST

static int pack_and_unpack(struct sc_mem *mem, const struct sc_msg *msg, struct sc_msg *back, const char **why)
{
        struct sc_buf         bytes;
        struct sc_codec_arena room;
        size_t                cursor = 0;
        sc_buf_init(&bytes, mem, SC_FRAME_MAX);
        sc_codec_arena_init(&room, mem);
        int status = sc_codec_pack(&bytes, msg);
        if (status == 0)
                status = sc_codec_unpack(bytes.data, bytes.len, &cursor, &room, back, why);
        sc_codec_arena_fini(&room);
        sc_buf_fini(&bytes);
        return status;
}

START_TEST(a_failing_allocation_is_one_clear_status)
{
        struct fail_mem tight;
        struct sc_msg   msg;
        wire_gen_largest(gen, SC_MSG_HELLO, &msg);
        for (size_t n = 1;; n++) {
                struct sc_msg back = { .kind = -1 };
                const char   *why  = NULL;
                fail_mem_init(&tight, n);
                const int status = pack_and_unpack(&tight.mem, &msg, &back, &why);
                ck_assert_uint_eq(fail_mem_leaks(&tight), 0);
                if (!fail_mem_hit(&tight)) {
                        ck_assert_int_eq(status, 1);
                        break;
                }
                ck_assert_int_eq(status, SC_E_NOMEM);
                ck_assert_int_eq(back.kind, -1);
        }
}
END_TEST

START_TEST(an_arena_that_failed_once_serves_the_next_hello)
{
        struct sc_msg msg, back;
        const char   *why;
        wire_gen_largest(gen, SC_MSG_HELLO, &msg);
        pack(&msg);
        struct fail_mem tight;
        fail_mem_init(&tight, 2); /* functions fit, holds do not */
        struct sc_codec_arena room;
        sc_codec_arena_init(&room, &tight.mem);
        size_t cursor = 0;
        ck_assert_int_eq(sc_codec_unpack(buf.data, buf.len, &cursor, &room, &back, &why), SC_E_NOMEM);
        ck_assert_uint_eq(cursor, 0);
        ck_assert_int_eq(sc_codec_unpack(buf.data, buf.len, &cursor, &room, &back, &why), 1);
        ck_assert(wire_same(&msg, &back));
        sc_codec_arena_fini(&room);
        ck_assert_uint_eq(fail_mem_leaks(&tight), 0);
}
END_TEST

START_TEST(the_arena_keeps_its_room_for_smaller_hellos)
{
        struct sc_msg msg;
        wire_gen_largest(gen, SC_MSG_HELLO, &msg);
        round_trip(&msg);
        const size_t asked = fail.asked;
        for (int i = 0; i < 100; i++) {
                wire_gen_random(gen, SC_MSG_HELLO, &msg);
                round_trip(&msg);
        }
        ck_assert_uint_eq(fail.asked, asked);
}
END_TEST

START_TEST(a_message_past_its_own_limits_is_never_sent)
{
        struct sc_msg msg;
        wire_gen_largest(gen, SC_MSG_BYE, &msg);
        msg.bye.why.len++;
        (void)sc_codec_pack(&buf, &msg);
}
END_TEST

START_TEST(a_message_without_what_is_required_is_never_sent)
{
        struct sc_msg msg;
        wire_gen_largest(gen, SC_MSG_DONE, &msg);
        msg.done.run = 0;
        (void)sc_codec_pack(&buf, &msg);
}
END_TEST

START_TEST(a_priority_past_its_limit_is_never_sent)
{
        struct sc_msg msg;
        wire_gen_smallest(gen, SC_MSG_SUBMIT, &msg);
        msg.submit.spec.priority = SC_PRIORITY_MAX + 1;
        (void)sc_codec_pack(&buf, &msg);
}
END_TEST

START_TEST(a_plan_that_asks_for_nothing_travels_as_none)
{
        const struct sc_plan nothing = { .tag = { "", 0 } };
        struct sc_msg        msg, back;
        const char          *why;
        wire_gen_smallest(gen, SC_MSG_SUBMIT, &msg);
        msg.submit.spec.plan = &nothing;
        pack(&msg);
        ck_assert_int_eq(unpack(&back, &why), 1);
        ck_assert_ptr_null(back.submit.spec.plan);
        msg.submit.spec.plan = NULL;
        ck_assert(wire_same(&msg, &back));
}
END_TEST

START_TEST(a_plan_lives_in_the_arena_until_the_next_record)
{
        struct sc_msg msg, back;
        const char   *why;
        wire_gen_largest(gen, SC_MSG_ASSIGN, &msg);
        pack(&msg);
        ck_assert_int_eq(unpack(&back, &why), 1);
        ck_assert_ptr_eq(back.assign.spec.plan, &arena.plan);
        const uint8_t *needs = back.assign.spec.plan->needs.ptr;
        ck_assert(needs > buf.data && needs < buf.data + buf.len);
        sc_buf_reset(&buf);
        wire_gen_smallest(gen, SC_MSG_ASSIGN, &msg);
        pack(&msg);
        ck_assert_int_eq(unpack(&back, &why), 1);
        ck_assert_ptr_null(back.assign.spec.plan);
}
END_TEST

START_TEST(a_message_of_no_known_kind_is_never_sent)
{
        const struct sc_msg msg = { .kind = 99 };
        (void)sc_codec_pack(&buf, &msg);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("codec");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, every_kind_of_the_list_has_a_table_and_no_other_has);
        tcase_add_test(tests, the_tables_keep_their_own_rules);
        tcase_add_test(tests, every_kind_comes_back_with_nothing_but_what_is_required);
        tcase_add_test(tests, every_kind_comes_back_with_every_field_at_its_limit);
        tcase_add_test(tests, random_messages_come_back_the_same);
        tcase_add_test(tests, records_of_one_frame_come_one_after_the_other);
        tcase_add_test(tests, views_point_into_the_frame);
        tcase_add_test(tests, a_full_buffer_takes_nothing_of_a_record);
        tcase_add_test(tests, a_failing_allocation_is_one_clear_status);
        tcase_add_test(tests, an_arena_that_failed_once_serves_the_next_hello);
        tcase_add_test(tests, the_arena_keeps_its_room_for_smaller_hellos);
        tcase_add_test_raise_signal(tests, a_message_past_its_own_limits_is_never_sent, SIGABRT);
        tcase_add_test_raise_signal(tests, a_message_without_what_is_required_is_never_sent, SIGABRT);
        tcase_add_test_raise_signal(tests, a_message_of_no_known_kind_is_never_sent, SIGABRT);
        tcase_add_test_raise_signal(tests, a_priority_past_its_limit_is_never_sent, SIGABRT);
        tcase_add_test(tests, a_plan_that_asks_for_nothing_travels_as_none);
        tcase_add_test(tests, a_plan_lives_in_the_arena_until_the_next_record);
        return run_tests("wire codec", tests);
}
