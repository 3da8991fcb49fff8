/*
 * Any tool can read the wire: what the codec packs is byte for byte what msgpack-c's packer makes of the
 * same fields, msgpack-c's objects hold the same values, and what msgpack-c packs is unpacked the same.
 */
#include <msgpack.h>
#include <string.h>

#include "body.h"
#include "codec.h"
#include "fail_mem.h"
#include "run_tests.h"
#include "sc_buf.h"
#include "wire_gen.h"

enum { HOT_ROUNDS = 4000, COLD_ROUNDS = 600 };

static const int hot[] = { SC_MSG_SUBMIT, SC_MSG_ASSIGN, SC_MSG_DONE, SC_MSG_RESULT, SC_MSG_STARTED, SC_MSG_OUTPUT, 0 };

static struct fail_mem       fail;
static struct sc_buf         buf;
static struct sc_codec_arena arena;
static struct wire_gen      *gen;
static msgpack_sbuffer       sbuf;

static void start(void)
{
        fail_mem_init(&fail, 0);
        sc_buf_init(&buf, &fail.mem, SC_FRAME_MAX);
        sc_codec_arena_init(&arena, &fail.mem);
        msgpack_sbuffer_init(&sbuf);
        gen = wire_gen_create(2);
}

static void finish(void)
{
        msgpack_sbuffer_destroy(&sbuf);
        sc_codec_arena_fini(&arena);
        sc_buf_fini(&buf);
        wire_gen_destroy(gen);
}

/* ---- the same message by msgpack-c -------------------------------------------------------------- */

static bool is_left_out(const struct sc_field *f, const struct sc_msg *msg)
{
        switch ((enum sc_field_type)f->type) {
        case SC_FIELD_TEXT:
        case SC_FIELD_BYTES:
                return wire_view(f, msg).len == 0;
        case SC_FIELD_NAMES:
                return msg->hello.function_count == 0;
        case SC_FIELD_HOLDS:
                return msg->hello.hold_count == 0;
        case SC_FIELD_BLOBS: /* of a plan alone */
        case SC_FIELD_PLAN:
                return wire_plan(f, msg) == NULL;
        case SC_FIELD_MAGIC:
                return false;
        case SC_FIELD_U8:
        case SC_FIELD_U32:
        case SC_FIELD_U64:
        case SC_FIELD_I32:
        case SC_FIELD_BOOL:
        case SC_FIELD_TYPES:
                break;
        }
        return wire_number(f, msg) == 0;
}

static void model_text(msgpack_packer *pk, struct sc_view view)
{
        msgpack_pack_str(pk, view.len);
        msgpack_pack_str_body(pk, view.ptr, view.len);
}

static void model_hold(msgpack_packer *pk, const struct sc_hold *hold)
{
        size_t count = 0;
        for (size_t i = 0; i < sc_layout_hold.count; i++)
                count += wire_number(&sc_layout_hold.fields[i], hold) != 0;
        msgpack_pack_map(pk, count);
        for (size_t i = 0; i < sc_layout_hold.count; i++) {
                const struct sc_field *f = &sc_layout_hold.fields[i];
                if (wire_number(f, hold) == 0)
                        continue;
                msgpack_pack_uint64(pk, f->key);
                msgpack_pack_uint64(pk, wire_number(f, hold));
        }
}

static void model_arrays(msgpack_packer *pk, const struct sc_field *f, const struct sc_hello *hello)
{
        if (f->type == SC_FIELD_NAMES) {
                msgpack_pack_array(pk, hello->function_count);
                for (uint32_t i = 0; i < hello->function_count; i++)
                        model_text(pk, hello->functions[i]);
                return;
        }
        msgpack_pack_array(pk, hello->hold_count);
        for (uint32_t i = 0; i < hello->hold_count; i++)
                model_hold(pk, &hello->holds[i]);
}

static bool plan_has(const struct sc_plan *plan, const struct sc_field *f)
{
        if (f->type == SC_FIELD_BLOBS)
                return plan->results.count > 0;
        return f->type >= SC_FIELD_TEXT ? wire_view(f, plan).len > 0 : wire_number(f, plan) > 0;
}

static void model_blobs(msgpack_packer *pk, const struct sc_views *blobs)
{
        msgpack_pack_array(pk, blobs->count);
        for (uint32_t i = 0; i < blobs->count; i++)
                msgpack_pack_bin_with_body(pk, blobs->at[i].ptr, blobs->at[i].len);
}

static void model_plan(msgpack_packer *pk, const struct sc_plan *plan)
{
        size_t count = 0;
        for (size_t i = 0; i < sc_layout_plan.count; i++)
                count += plan_has(plan, &sc_layout_plan.fields[i]);
        msgpack_pack_map(pk, count);
        for (size_t i = 0; i < sc_layout_plan.count; i++) {
                const struct sc_field *f = &sc_layout_plan.fields[i];
                if (!plan_has(plan, f))
                        continue;
                msgpack_pack_uint8(pk, f->key);
                if (f->type == SC_FIELD_TEXT)
                        model_text(pk, wire_view(f, plan));
                else if (f->type == SC_FIELD_BYTES)
                        msgpack_pack_bin_with_body(pk, wire_view(f, plan).ptr, wire_view(f, plan).len);
                else if (f->type == SC_FIELD_BLOBS)
                        model_blobs(pk, &plan->results);
                else
                        msgpack_pack_uint64(pk, wire_number(f, plan));
        }
}

static void model_field(msgpack_packer *pk, const struct sc_field *f, const struct sc_msg *msg)
{
        const struct sc_view word = { SC_MAGIC, strlen(SC_MAGIC) };
        msgpack_pack_uint8(pk, f->key);
        if (f->type == SC_FIELD_I32)
                msgpack_pack_int32(pk, (int32_t)wire_number(f, msg));
        else if (f->type == SC_FIELD_BOOL)
                msgpack_pack_true(pk);
        else if (f->type < SC_FIELD_BOOL)
                msgpack_pack_uint64(pk, wire_number(f, msg));
        else if (f->type == SC_FIELD_MAGIC)
                model_text(pk, word);
        else if (f->type == SC_FIELD_TEXT)
                model_text(pk, wire_view(f, msg));
        else if (f->type == SC_FIELD_BYTES)
                msgpack_pack_bin_with_body(pk, wire_view(f, msg).ptr, wire_view(f, msg).len);
        else if (f->type == SC_FIELD_PLAN)
                model_plan(pk, wire_plan(f, msg));
        else
                model_arrays(pk, f, &msg->hello);
}

static void model(const struct sc_msg *msg)
{
        const struct sc_layout *layout = sc_layout_of((uint64_t)msg->kind);
        msgpack_packer          pk;
        size_t                  count = 0;
        msgpack_sbuffer_clear(&sbuf);
        msgpack_packer_init(&pk, &sbuf, msgpack_sbuffer_write);
        for (size_t i = 0; i < layout->count; i++)
                count += !is_left_out(&layout->fields[i], msg);
        msgpack_pack_array(&pk, 2);
        msgpack_pack_int(&pk, msg->kind);
        msgpack_pack_map(&pk, count);
        for (size_t i = 0; i < layout->count; i++)
                if (!is_left_out(&layout->fields[i], msg))
                        model_field(&pk, &layout->fields[i], msg);
}

static void check_bytes(const struct sc_msg *msg)
{
        model(msg);
        sc_buf_reset(&buf);
        ck_assert_int_eq(sc_codec_pack(&buf, msg), 0);
        ck_assert_uint_eq(buf.len, sbuf.size);
        ck_assert_mem_eq(buf.data, sbuf.data, sbuf.size);
}

START_TEST(hot_records_are_byte_for_byte_those_of_msgpack_c)
{
        struct sc_msg msg;
        for (int i = 0; i < HOT_ROUNDS; i++)
                for (const int *kind = hot; *kind; kind++) {
                        wire_gen_random(gen, *kind, &msg);
                        check_bytes(&msg);
                }
}
END_TEST

START_TEST(all_other_records_are_byte_for_byte_those_of_msgpack_c)
{
        struct sc_msg msg;
        for (const int *kind = wire_kinds; *kind; kind++) {
                wire_gen_largest(gen, *kind, &msg);
                check_bytes(&msg);
                wire_gen_smallest(gen, *kind, &msg);
                check_bytes(&msg);
        }
        for (int i = 0; i < COLD_ROUNDS; i++)
                for (const int *kind = wire_kinds; *kind; kind++) {
                        wire_gen_random(gen, *kind, &msg);
                        check_bytes(&msg);
                }
}
END_TEST

/* ---- the same values in msgpack-c's objects ------------------------------------------------------ */

static const msgpack_object *value_of(const msgpack_object_map *map, uint8_t key)
{
        for (uint32_t i = 0; i < map->size; i++)
                if (map->ptr[i].key.type == MSGPACK_OBJECT_POSITIVE_INTEGER && map->ptr[i].key.via.u64 == key)
                        return &map->ptr[i].val;
        return NULL;
}

static void check_blobs(const msgpack_object_array *array, const struct sc_views *blobs)
{
        ck_assert_uint_eq(array->size, blobs->count);
        for (uint32_t i = 0; i < blobs->count; i++) {
                ck_assert_uint_eq(array->ptr[i].via.bin.size, blobs->at[i].len);
                ck_assert_mem_eq(array->ptr[i].via.bin.ptr, blobs->at[i].ptr, blobs->at[i].len);
        }
}

static void check_plan(const msgpack_object_map *map, const struct sc_plan *plan)
{
        uint32_t found = 0;
        for (size_t i = 0; i < sc_layout_plan.count; i++) {
                const struct sc_field *f     = &sc_layout_plan.fields[i];
                const msgpack_object  *value = value_of(map, f->key);
                found += value != NULL;
                ck_assert((value != NULL) == plan_has(plan, f));
                if (!value)
                        continue;
                if (f->type == SC_FIELD_BLOBS)
                        check_blobs(&value->via.array, &plan->results);
                else if (f->type >= SC_FIELD_TEXT)
                        ck_assert_mem_eq(value->via.str.ptr, wire_view(f, plan).ptr, value->via.str.size);
                else
                        ck_assert(value->via.u64 == wire_number(f, plan));
        }
        ck_assert_uint_eq(found, map->size);
}

static void check_value(const struct sc_field *f, const struct sc_msg *back, const msgpack_object *value)
{
        if (f->type == SC_FIELD_BOOL) {
                ck_assert_int_eq(value->type, MSGPACK_OBJECT_BOOLEAN);
                ck_assert(value->via.boolean == (wire_number(f, back) != 0));
        } else if (f->type < SC_FIELD_BOOL) {
                ck_assert(value->type == MSGPACK_OBJECT_POSITIVE_INTEGER ||
                          value->type == MSGPACK_OBJECT_NEGATIVE_INTEGER);
                ck_assert(value->via.u64 == wire_number(f, back));
        } else if (f->type == SC_FIELD_TEXT || f->type == SC_FIELD_BYTES) {
                const struct sc_view view = wire_view(f, back);
                ck_assert_int_eq(value->type, f->type == SC_FIELD_TEXT ? MSGPACK_OBJECT_STR : MSGPACK_OBJECT_BIN);
                ck_assert_uint_eq(value->via.bin.size, view.len);
                ck_assert_mem_eq(value->via.bin.ptr, view.ptr, view.len);
        } else if (f->type == SC_FIELD_PLAN) {
                ck_assert_int_eq(value->type, MSGPACK_OBJECT_MAP);
                check_plan(&value->via.map, wire_plan(f, back));
        }
}

static void check_objects(int kind)
{
        const struct sc_layout *layout = sc_layout_of((uint64_t)kind);
        struct sc_msg           back;
        const char             *why;
        size_t                  cursor = 0;
        msgpack_unpacked        got;
        ck_assert_int_eq(sc_codec_unpack(buf.data, buf.len, &cursor, &arena, &back, &why), 1);
        msgpack_unpacked_init(&got);
        size_t offset = 0;
        ck_assert_int_eq(msgpack_unpack_next(&got, (const char *)buf.data, buf.len, &offset), MSGPACK_UNPACK_SUCCESS);
        ck_assert_uint_eq(offset, buf.len);
        ck_assert_uint_eq(got.data.via.array.size, 2);
        ck_assert_int_eq((int)got.data.via.array.ptr[0].via.u64, kind);
        const msgpack_object_map *map   = &got.data.via.array.ptr[1].via.map;
        uint32_t                  found = 0;
        for (size_t i = 0; i < layout->count; i++) {
                const struct sc_field *f     = &layout->fields[i];
                const msgpack_object  *value = value_of(map, f->key);
                found += value != NULL;
                if (value)
                        check_value(f, &back, value);
                else
                        ck_assert(is_left_out(f, &back));
        }
        ck_assert_uint_eq(found, map->size);
        msgpack_unpacked_destroy(&got);
}

START_TEST(msgpack_c_reads_the_values_that_the_codec_reads)
{
        struct sc_msg msg;
        for (int i = 0; i < COLD_ROUNDS; i++)
                for (const int *kind = wire_kinds; *kind; kind++) {
                        wire_gen_random(gen, *kind, &msg);
                        sc_buf_reset(&buf);
                        ck_assert_int_eq(sc_codec_pack(&buf, &msg), 0);
                        check_objects(*kind);
                }
}
END_TEST

/* ---- bodies ------------------------------------------------------------------------------------- */

static void pack_views(msgpack_packer *pk, int key, const struct sc_view *items, uint32_t count)
{
        msgpack_pack_int(pk, key);
        msgpack_pack_array(pk, count);
        for (uint32_t i = 0; i < count; i++)
                msgpack_pack_bin_with_body(pk, items[i].ptr, items[i].len);
}

START_TEST(bodies_are_byte_for_byte_those_of_msgpack_c)
{
        const struct sc_view    argv[] = { { "sh", 2 }, { "", 0 }, { gen->pool, 0 } };
        const struct sc_view    env[]  = { { "A=1", 3 }, { "HOME", 4 } };
        const struct sc_command k      = { .flags      = 7,
                                           .output_max = 70000,
                                           .cwd        = { "/tmp", 4 },
                                           .input      = { gen->pool, 300 },
                                           .argv       = argv,
                                           .argc       = 3,
                                           .env        = env,
                                           .envc       = 2 };
        msgpack_packer          pk;
        msgpack_packer_init(&pk, &sbuf, msgpack_sbuffer_write);
        msgpack_pack_map(&pk, 1);
        pack_views(&pk, 1, argv, 3);
        msgpack_pack_map(&pk, 6);
        msgpack_pack_int(&pk, 1);
        msgpack_pack_int(&pk, 7);
        msgpack_pack_int(&pk, 2);
        msgpack_pack_int(&pk, 70000);
        msgpack_pack_int(&pk, 3);
        msgpack_pack_bin_with_body(&pk, "/tmp", 4);
        msgpack_pack_int(&pk, 4);
        msgpack_pack_bin_with_body(&pk, gen->pool, 300);
        pack_views(&pk, 5, argv, 3);
        pack_views(&pk, 6, env, 2);
        ck_assert_int_eq(sc_body_pack_args(&buf, argv, 3), 0);
        ck_assert_int_eq(sc_body_pack_command(&buf, &k), 0);
        ck_assert_uint_eq(buf.len, sbuf.size);
        ck_assert_mem_eq(buf.data, sbuf.data, sbuf.size);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("msgpack");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, hot_records_are_byte_for_byte_those_of_msgpack_c);
        tcase_add_test(tests, all_other_records_are_byte_for_byte_those_of_msgpack_c);
        tcase_add_test(tests, msgpack_c_reads_the_values_that_the_codec_reads);
        tcase_add_test(tests, bodies_are_byte_for_byte_those_of_msgpack_c);
        return run_tests("wire msgpack", tests);
}
