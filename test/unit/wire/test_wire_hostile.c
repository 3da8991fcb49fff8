/*
 * Peers that talk nonsense.  Cut anywhere, changed anywhere, nested, doubled, widened or made up: each
 * record is refused with one sentence or read in full, and nothing is ever read outside its bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "amounts.h"
#include "codec.h"
#include "cursor.h"
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
        gen = wire_gen_create(3);
}

static void finish(void)
{
        sc_codec_arena_fini(&arena);
        sc_buf_fini(&buf);
        wire_gen_destroy(gen);
        ck_assert_uint_eq(fail_mem_leaks(&fail), 0);
}

/* A check that costs nothing when it holds: Check reports each of its own assertions to the parent. */
static void require(bool condition)
{
        if (!condition)
                ck_abort_msg("a record was not handled as it should be");
}

/* Views of what was accepted lie within the record. */
static void check_views_of(const struct sc_layout *layout, const void *base, const uint8_t *bytes, size_t len)
{
        for (size_t i = 0; i < layout->count; i++) {
                const struct sc_field *f = &layout->fields[i];
                if (f->type != SC_FIELD_TEXT && f->type != SC_FIELD_BYTES)
                        continue;
                const struct sc_view view = wire_view(f, base);
                const uint8_t       *at   = view.ptr;
                require(view.len <= f->max);
                require(view.len == 0 || (at >= bytes && view.len <= (size_t)(bytes + len - at)));
        }
}

static void check_views(const struct sc_msg *msg, const uint8_t *bytes, size_t len)
{
        const struct sc_layout *layout = sc_layout_of((uint64_t)msg->kind);
        check_views_of(layout, msg, bytes, len);
        for (size_t i = 0; i < layout->count; i++) {
                const struct sc_field *f = &layout->fields[i];
                if (f->type == SC_FIELD_PLAN && wire_plan(f, msg))
                        check_views_of(&sc_layout_plan, wire_plan(f, msg), bytes, len);
        }
}

/* Unpacks from a block of exactly that size, so that a sanitizer sees the first byte too many. */
static int unpack_exact(const uint8_t *bytes, size_t len, size_t *used, const char **why)
{
        struct sc_msg msg;
        uint8_t      *copy   = malloc(len > 0 ? len : 1);
        size_t        cursor = 0;
        memcpy(copy, bytes, len);
        *why             = NULL;
        const int status = sc_codec_unpack(copy, len, &cursor, &arena, &msg, why);
        if (status == 1)
                check_views(&msg, copy, len);
        require(status == 0 || status == 1 || status == SC_E_PROTOCOL);
        require((status < 0) == (*why != NULL));
        require((status < 0) == (cursor == 0));
        require(cursor <= len);
        free(copy);
        *used = cursor;
        return status;
}

static void refused(const void *bytes, size_t len, const char *words)
{
        const char *why;
        size_t      used;
        ck_assert_int_eq(unpack_exact(bytes, len, &used, &why), SC_E_PROTOCOL);
        ck_assert_str_eq(why, words);
}

static void taken(const void *bytes, size_t len, int status)
{
        const char *why;
        size_t      used;
        const int   got = unpack_exact(bytes, len, &used, &why);
        ck_assert_msg(got == status, "%d instead of %d: %s", got, status, why ? why : "");
        ck_assert_uint_eq(used, len);
}

#define REFUSED(literal, words) refused(literal, sizeof(literal) - 1, words)
#define TAKEN(literal, status)  taken(literal, sizeof(literal) - 1, status)

/* ---- cut and changed ---------------------------------------------------------------------------- */

START_TEST(a_record_cut_at_any_byte_is_refused)
{
        struct sc_msg msg;
        for (int round = 0; round < 20; round++)
                for (const int *kind = wire_kinds; *kind; kind++) {
                        const char *why;
                        size_t      used;
                        wire_gen_random(gen, *kind, &msg);
                        sc_buf_reset(&buf);
                        ck_assert_int_eq(sc_codec_pack(&buf, &msg), 0);
                        const size_t step = buf.len > 2000 ? buf.len / 500 : 1;
                        for (size_t len = 0; len < buf.len; len += step)
                                ck_assert_int_eq(unpack_exact(buf.data, len, &used, &why), SC_E_PROTOCOL);
                        ck_assert_int_eq(unpack_exact(buf.data, buf.len, &used, &why), 1);
                }
}
END_TEST

static void change_one_byte(size_t at)
{
        const uint8_t was = buf.data[at];
        for (int value = 0; value < 256; value++) {
                const char *why;
                size_t      used;
                buf.data[at] = (uint8_t)value;
                (void)unpack_exact(buf.data, buf.len, &used, &why);
        }
        buf.data[at] = was;
}

START_TEST(a_record_changed_in_any_byte_does_no_harm)
{
        struct sc_msg msg;
        for (const int *kind = wire_kinds; *kind; kind++) {
                do {
                        wire_gen_random(gen, *kind, &msg);
                        sc_buf_reset(&buf);
                        ck_assert_int_eq(sc_codec_pack(&buf, &msg), 0);
                } while (buf.len > 600);
                for (size_t at = 0; at < buf.len; at++)
                        change_one_byte(at);
        }
}
END_TEST

START_TEST(a_million_records_of_garbage_do_no_harm)
{
        uint8_t bytes[48];
        for (int i = 0; i < 1000000; i++) {
                const char  *why;
                size_t       used;
                const size_t len = sc_rng_below(&gen->rng, sizeof(bytes));
                for (size_t k = 0; k < len; k += 8) {
                        const uint64_t word = sc_rng_next(&gen->rng);
                        memcpy(bytes + k, &word, len - k < 8 ? len - k : 8);
                }
                if (len > 3 && i % 4 != 0) { /* most get past the door */
                        bytes[0] = 0x92;
                        bytes[1] = (uint8_t)wire_kinds[sc_rng_below(&gen->rng, 24)];
                        bytes[2] = (uint8_t)(0x80 | (bytes[2] & 7));
                }
                (void)unpack_exact(bytes, len, &used, &why);
        }
}
END_TEST

/* ---- the shape of a record ---------------------------------------------------------------------- */

START_TEST(a_record_is_an_array_of_kind_and_map)
{
        TAKEN("\x92\x12\x80", 1);
        REFUSED("", "a value is cut short");
        REFUSED("\x80", "a value has the wrong type");
        REFUSED("\x91\x12", "a record is not an array of two");
        REFUSED("\x93\x12\x80\x80", "a record is not an array of two");
        REFUSED("\x92\xa1x\x80", "a value has the wrong type");
        REFUSED("\x92\xff\x80", "a number is out of range");
        REFUSED("\x92\x12\x90", "a value has the wrong type");
        REFUSED("\x92\x12\xc0", "a value has the wrong type");
}
END_TEST

START_TEST(an_unknown_kind_is_refused_below_128_and_skipped_from_there_on)
{
        REFUSED("\x92\x00\x80", "the kind of a record is unknown");
        REFUSED("\x92\x04\x80", "the kind of a record is unknown");
        REFUSED("\x92\x7f\x80", "the kind of a record is unknown");
        TAKEN("\x92\xcc\x80\x80", 0);
        TAKEN("\x92\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x80", 0);
        TAKEN("\x92\xcc\x80\xc0", 0);
        TAKEN("\x92\xcc\x80\x92\x81\x01\xc0\xca\x01\x02\x03\x04", 0);
        REFUSED("\x92\xcc\x80", "a value is cut short");
}
END_TEST

START_TEST(keys_come_in_any_order)
{
        TAKEN("\x92\x12\x82\x02\x05\x01\x06", 1);
        struct sc_msg msg;
        const char   *why;
        size_t        cursor = 0;
        ck_assert_int_eq(
                sc_codec_unpack((const uint8_t *)"\x92\x12\x82\x02\x05\x01\x06", 7, &cursor, &arena, &msg, &why), 1);
        ck_assert_uint_eq(msg.want.tasks, 6);
        ck_assert_uint_eq(msg.want.kib, 5);
}
END_TEST

START_TEST(unknown_keys_are_skipped_whatever_they_hold)
{
        TAKEN("\x92\x12\x81\x7f\xc0", 1);
        TAKEN("\x92\x12\x82\x3e\x82\xa1k\x92\x01\x02\xa1l\xc3\x01\x06", 1);
        TAKEN("\x92\x12\x81\x3e\xc7\x02\x09zz", 1); /* ext 8 */
        TAKEN("\x92\x12\x81\x3e\xd4\x09z", 1);      /* fixext 1 */
        TAKEN("\x92\x12\x81\x3e\xcb\x01\x02\x03\x04\x05\x06\x07\x08", 1);
        REFUSED("\x92\x12\x81\x3e\xc1", "a value has a type that msgpack does not have");
        REFUSED("\x92\x12\x81\x3e\xc6\xff\xff\xff\xff", "a value is cut short");
        REFUSED("\x92\x12\x81\x3e\xdd\xff\xff\xff\xff", "a value is cut short");
}
END_TEST

START_TEST(a_key_is_a_number_from_1_to_127)
{
        REFUSED("\x92\x12\x81\x00\x01", "a key is not a number from 1 to 127");
        REFUSED("\x92\x12\x81\xcc\x80\x01", "a key is not a number from 1 to 127");
        REFUSED("\x92\x12\x81\xff\x01", "a number is out of range");
        REFUSED("\x92\x12\x81\xa1k\x01", "a value has the wrong type");
}
END_TEST

START_TEST(a_key_that_comes_twice_is_refused_known_or_not)
{
        REFUSED("\x92\x12\x82\x01\x05\x01\x05", "a key comes twice");
        REFUSED("\x92\x12\x82\x01\x05\xcc\x01\x05", "a key comes twice");
        REFUSED("\x92\x12\x82\x7e\x05\x7e\x05", "a key comes twice");
        TAKEN("\x92\x12\x82\x3e\x05\x7e\x05", 1);
}
END_TEST

START_TEST(numbers_come_in_any_width)
{
        TAKEN("\x92\x12\x81\x01\x05", 1);
        TAKEN("\xdc\x00\x02\x12\xde\x00\x01\xcc\x01\xcc\x05", 1);
        TAKEN("\xdd\x00\x00\x00\x02\xcd\x00\x12\xdf\x00\x00\x00\x01\xcd\x00\x01\xcd\x00\x05", 1);
        TAKEN("\x92\xce\x00\x00\x00\x12\x81\xce\x00\x00\x00\x01\xce\x00\x00\x00\x05", 1);
        TAKEN("\x92\xd0\x12\x81\xd1\x00\x01\xd2\x00\x00\x00\x05", 1);
        TAKEN("\x92\xd3\x00\x00\x00\x00\x00\x00\x00\x12\x81\x01\xcf\x00\x00\x00\x00\x00\x00\x00\x05", 1);
        TAKEN("\x92\x12\x81\x01\xce\xff\xff\xff\xff", 1);
        REFUSED("\x92\x12\x81\x01\xcf\x00\x00\x00\x01\x00\x00\x00\x00", "a number is out of range");
        REFUSED("\x92\x12\x81\x01\xd0\xff", "a number is out of range");
        REFUSED("\x92\x12\x81\x01\xe0", "a number is out of range");
        REFUSED("\x92\x12\x81\x01\xca\x00\x00\x00\x00", "a value has the wrong type");
}
END_TEST

static void signed_number(const char *bytes, size_t len, int32_t want)
{
        struct sc_msg msg;
        const char   *why;
        uint8_t       record[16] = { 0x92, 0x03, 0x81, 0x01 };
        size_t        cursor     = 0;
        memcpy(record + 4, bytes, len);
        ck_assert_int_eq(sc_codec_unpack(record, 4 + len, &cursor, &arena, &msg, &why), 1);
        ck_assert_int_eq(msg.bye.status, want);
}

START_TEST(signed_numbers_come_in_any_width)
{
        signed_number("\xff", 1, -1);
        signed_number("\xe0", 1, -32);
        signed_number("\xd0\xdf", 2, -33);
        signed_number("\xd1\xff\xff", 3, -1);
        signed_number("\xd2\x80\x00\x00\x00", 5, INT32_MIN);
        signed_number("\xd3\xff\xff\xff\xff\x80\x00\x00\x00", 9, INT32_MIN);
        signed_number("\xcf\x00\x00\x00\x00\x7f\xff\xff\xff", 9, INT32_MAX);
        signed_number("\xd0\x7f", 2, 127);
        REFUSED("\x92\x03\x81\x01\xd3\xff\xff\xff\xff\x7f\xff\xff\xff", "a number is out of range");
        REFUSED("\x92\x03\x81\x01\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "a number is out of range");
        REFUSED("\x92\x03\x81\x01\xce\x80\x00\x00\x00", "a number is out of range");
        REFUSED("\x92\x03\x81\x01\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "a number is out of range");
}
END_TEST

START_TEST(booleans_are_true_or_false)
{
        TAKEN("\x92\x11\x83\x01\x05\x02\x06\x03\xc3", 1);
        TAKEN("\x92\x11\x83\x01\x05\x02\x06\x03\xc2", 1);
        REFUSED("\x92\x11\x83\x01\x05\x02\x06\x03\x01", "a value has the wrong type");
        REFUSED("\x92\x11\x83\x01\x05\x02\x06\x03\xc0", "a value has the wrong type");
}
END_TEST

START_TEST(text_is_not_bytes_and_bytes_are_not_text)
{
        TAKEN("\x92\x03\x81\x02\xa1x", 1);
        TAKEN("\x92\x03\x81\x02\xd9\x01x", 1);
        TAKEN("\x92\x03\x81\x02\xda\x00\x01x", 1);
        TAKEN("\x92\x03\x81\x02\xdb\x00\x00\x00\x01x", 1);
        REFUSED("\x92\x03\x81\x02\xc4\x01x", "a value has the wrong type");
        TAKEN("\x92\x10\x83\x01\x05\x02\x06\x10\xc6\x00\x00\x00\x01x", 1);
        REFUSED("\x92\x10\x83\x01\x05\x02\x06\x10\xa1x", "a value has the wrong type");
}
END_TEST

/* ---- nesting ------------------------------------------------------------------------------------ */

/* WANT with an unknown key that holds `depth` arrays one in the other. */
static size_t nested(uint8_t *bytes, size_t depth)
{
        memcpy(bytes, "\x92\x12\x81\x09", 4);
        memset(bytes + 4, 0x91, depth);
        bytes[4 + depth] = 0xc0;
        return 5 + depth;
}

START_TEST(values_nest_16_deep_and_no_deeper)
{
        uint8_t bytes[64];
        taken(bytes, nested(bytes, SC_SKIP_DEPTH), 1);
        refused(bytes, nested(bytes, SC_SKIP_DEPTH + 1), "values are nested too deep");
}
END_TEST

START_TEST(nesting_a_hundred_thousand_deep_is_refused)
{
        uint8_t *bytes = malloc(100005);
        refused(bytes, nested(bytes, 100000), "values are nested too deep");
        free(bytes);
}
END_TEST

START_TEST(a_wide_value_is_skipped_in_one_go)
{
        const size_t count = 1000000;
        uint8_t     *bytes = malloc(9 + count);
        memcpy(bytes, "\x92\x12\x81\x09\xdd\x00\x0f\x42\x40", 9);
        memset(bytes + 9, 0x90, count);
        taken(bytes, 9 + count, 1);
        free(bytes);
}
END_TEST

/* ---- limits of each field ----------------------------------------------------------------------- */

/* A record with the fields of the smallest message of that kind but one, which gets `value`; no value: not sent. */
static void pack_with(int kind, const struct sc_field *odd, const uint8_t *value, size_t value_len)
{
        const struct sc_layout *layout = sc_layout_of((uint64_t)kind);
        uint8_t                 head[SC_PUT_NUMBER_MAX + 8], *at = head;
        uint32_t                count = 0;
        for (size_t i = 0; i < layout->count; i++)
                count += layout->fields[i].min > 0 && &layout->fields[i] != odd;
        sc_buf_reset(&buf);
        at = sc_put_map(sc_put_uint(sc_put_array(at, 2), (uint64_t)kind), count + (value != NULL));
        ck_assert(sc_buf_add(&buf, head, (size_t)(at - head)));
        for (size_t i = 0; i < layout->count; i++) {
                const struct sc_field *f = &layout->fields[i];
                if (f == odd || f->min == 0)
                        continue;
                at = sc_put_uint(head, f->key);
                if (f->type == SC_FIELD_BYTES)
                        at = sc_put_bytes(at, (struct sc_view){ "x", 1 });
                else if (f->type == SC_FIELD_MAGIC)
                        at = sc_put_text(at, (struct sc_view){ SC_MAGIC, strlen(SC_MAGIC) });
                else
                        at = sc_put_uint(at, f->min);
                ck_assert(sc_buf_add(&buf, head, (size_t)(at - head)));
        }
        if (!value)
                return;
        ck_assert(sc_buf_add(&buf, &odd->key, 1));
        ck_assert(sc_buf_add(&buf, value, value_len));
}

static void check_number_limits(int kind, const struct sc_field *f)
{
        uint8_t bytes[SC_PUT_NUMBER_MAX];
        size_t  len = (size_t)(sc_put_uint(bytes, f->max) - bytes);
        pack_with(kind, f, bytes, len);
        taken(buf.data, buf.len, 1);
        len = (size_t)(sc_put_uint(bytes, (uint64_t)f->max + 1) - bytes);
        pack_with(kind, f, bytes, len);
        refused(buf.data, buf.len, "a number is out of range");
        if (f->min == 0)
                return;
        len = (size_t)(sc_put_uint(bytes, (uint64_t)f->min - 1) - bytes);
        pack_with(kind, f, bytes, len);
        refused(buf.data, buf.len, "a number is out of range");
}

static void pack_long(int kind, const struct sc_field *f, size_t len)
{
        struct sc_view view  = { gen->pool, len };
        uint8_t       *bytes = malloc(len + SC_PUT_HEAD_MAX);
        uint8_t       *end   = f->type == SC_FIELD_TEXT ? sc_put_text(bytes, view) : sc_put_bytes(bytes, view);
        pack_with(kind, f, bytes, (size_t)(end - bytes));
        free(bytes);
}

static void check_length_limits(int kind, const struct sc_field *f)
{
        pack_long(kind, f, f->max);
        taken(buf.data, buf.len, 1);
        if (f->max < GEN_POOL) {
                pack_long(kind, f, f->max + 1);
                refused(buf.data, buf.len, "a length is out of range");
        }
        if (f->min == 0)
                return;
        pack_long(kind, f, f->min - 1);
        refused(buf.data, buf.len, "a length is out of range");
}

START_TEST(every_field_is_taken_at_its_limit_and_refused_past_it)
{
        for (const int *kind = wire_kinds; *kind; kind++) {
                const struct sc_layout *layout = sc_layout_of((uint64_t)*kind);
                for (size_t i = 0; i < layout->count; i++) {
                        const struct sc_field *f = &layout->fields[i];
                        if (*kind == SC_MSG_HELLO && (f->key < 11 || f->key == 18))
                                continue; /* they depend on each other: see below */
                        if (f->type == SC_FIELD_U8 || f->type == SC_FIELD_U32)
                                check_number_limits(*kind, f);
                        if (f->type == SC_FIELD_TEXT || f->type == SC_FIELD_BYTES)
                                check_length_limits(*kind, f);
                }
        }
}
END_TEST

START_TEST(every_required_field_is_missed)
{
        for (const int *kind = wire_kinds; *kind; kind++) {
                const struct sc_layout *layout = sc_layout_of((uint64_t)*kind);
                for (size_t i = 0; i < layout->count; i++) {
                        const struct sc_field *f = &layout->fields[i];
                        if (f->min == 0)
                                continue;
                        pack_with(*kind, f, NULL, 0);
                        refused(buf.data, buf.len, "a required field is missing");
                }
        }
}
END_TEST

START_TEST(bytes_of_a_megabyte_and_one_are_refused)
{
        uint8_t *bytes = malloc(13 + SC_BODY_MAX);
        memcpy(bytes, "\x92\x10\x83\x01\x05\x02\x06\x10\xc6\x00\x10\x00\x01", 13);
        memset(bytes + 13, 0, SC_BODY_MAX);
        refused(bytes, 13 + SC_BODY_MAX, "a value is cut short");
        bytes                   = realloc(bytes, 13 + SC_BODY_MAX + 1);
        bytes[13 + SC_BODY_MAX] = 0;
        refused(bytes, 13 + SC_BODY_MAX + 1, "a length is out of range");
        free(bytes);
}
END_TEST

/* ---- plans and priorities ----------------------------------------------------------------------- */

#define SUBMIT_1 "\x92\x10\x83\x01\x05\x02\x06"

START_TEST(a_priority_lies_within_a_thousand_either_way)
{
        TAKEN(SUBMIT_1 "\x0c\xcd\x03\xe8", 1);
        TAKEN(SUBMIT_1 "\x0c\xd1\xfc\x18", 1);
        REFUSED(SUBMIT_1 "\x0c\xcd\x03\xe9", "a number is out of range");
        REFUSED(SUBMIT_1 "\x0c\xd1\xfc\x17", "a number is out of range");
        REFUSED(SUBMIT_1 "\x0c\xd2\x80\x00\x00\x00", "a number is out of range");
}
END_TEST

START_TEST(a_plan_is_a_map_whose_unknown_keys_are_skipped)
{
        TAKEN(SUBMIT_1 "\x11\x80", 1);
        TAKEN(SUBMIT_1 "\x11\x81\x03\x05", 1);
        TAKEN(SUBMIT_1 "\x11\x82\x3f\x92\xc0\x80\x03\x05", 1);
        REFUSED(SUBMIT_1 "\x11\x90", "a value has the wrong type");
        REFUSED(SUBMIT_1 "\x11\xc0", "a value has the wrong type");
        REFUSED(SUBMIT_1 "\x11\x82\x03\x05\x03\x05", "a key comes twice");
        REFUSED(SUBMIT_1 "\x11\x81\x00\x05", "a key is not a number from 1 to 127");
        REFUSED(SUBMIT_1 "\x11\x81\x03\xa1x", "a value has the wrong type");
        REFUSED(SUBMIT_1 "\x11\x81\x06\xc4\x01x", "a value has the wrong type");
}
END_TEST

START_TEST(the_fields_of_a_plan_keep_their_bounds)
{
        TAKEN(SUBMIT_1 "\x11\x81\x03\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 1);
        TAKEN(SUBMIT_1 "\x11\x81\x04\xce\xff\xff\xff\xff", 1);
        REFUSED(SUBMIT_1 "\x11\x81\x04\xcf\x00\x00\x00\x01\x00\x00\x00\x00", "a number is out of range");
        REFUSED(SUBMIT_1 "\x11\x81\x05\xcf\x00\x00\x00\x01\x00\x00\x00\x00", "a number is out of range");
        REFUSED(SUBMIT_1 "\x11\x81\x05\xff", "a number is out of range");
}
END_TEST

START_TEST(needs_that_are_not_canonical_are_refused)
{
        static const char words[] = "amounts are not in their canonical form";
        TAKEN(SUBMIT_1 "\x11\x81\x06\xa8gpu=1000", 1);
        TAKEN(SUBMIT_1 "\x11\x81\x06\xa9gpu,linux", 1);
        REFUSED(SUBMIT_1 "\x11\x81\x06\xa9linux,gpu", words);
        REFUSED(SUBMIT_1 "\x11\x81\x06\xa7gpu,gpu", words);
        REFUSED(SUBMIT_1 "\x11\x81\x06\xa6gpu=01", words);
        REFUSED(SUBMIT_1 "\x11\x81\x06\xa5gpu=0", words);
        REFUSED(SUBMIT_1 "\x11\x81\x06\xa4gpu=", words);
        REFUSED(SUBMIT_1 "\x11\x81\x06\xa1,", words);
}
END_TEST

START_TEST(a_list_of_failures_must_be_one)
{
        static const char words[] = "a list of failures to try again after is not one";
        TAKEN(SUBMIT_1 "\x11\x81\x08\xa7" "1,70-79", 1);
        REFUSED(SUBMIT_1 "\x11\x81\x08\xa3" "1,,", words);
        REFUSED(SUBMIT_1 "\x11\x81\x08\xa5never", words);
        REFUSED(SUBMIT_1 "\x11\x81\x08\xa5" "79-70", words);
}
END_TEST

static void plan_with(uint8_t key, char filler, size_t len)
{
        uint8_t        head[2048];
        char           text[1024];
        const uint8_t *end;
        memset(text, filler, len);
        memcpy(head, SUBMIT_1 "\x11\x81", 9);
        head[9] = key;
        end     = sc_put_text(head + 10, (struct sc_view){ text, len });
        sc_buf_reset(&buf);
        ck_assert(sc_buf_add(&buf, head, (size_t)(end - head)));
}

START_TEST(the_texts_of_a_plan_keep_their_lengths)
{
        plan_with(7, 't', SC_NAME_MAX);
        taken(buf.data, buf.len, 1);
        plan_with(7, 't', SC_NAME_MAX + 1);
        refused(buf.data, buf.len, "a length is out of range");
        plan_with(18, 'k', SC_NAME_MAX);
        taken(buf.data, buf.len, 1);
        plan_with(18, 'k', SC_NAME_MAX + 1);
        refused(buf.data, buf.len, "a length is out of range");
        plan_with(8, '7', SC_RETRY_ON_MAX + 1);
        refused(buf.data, buf.len, "a length is out of range");
        plan_with(6, 'x', SC_AMOUNTS_TEXT + 1);
        refused(buf.data, buf.len, "a length is out of range");
        plan_with(6, 'x', SC_AMOUNT_NAME_MAX);
        taken(buf.data, buf.len, 1);
        plan_with(6, 'x', SC_AMOUNT_NAME_MAX + 1);
        refused(buf.data, buf.len, "amounts are not in their canonical form");
}
END_TEST

/* ---- hello -------------------------------------------------------------------------------------- */

#define MAGIC_1 "\x01\xa6scaler"

START_TEST(a_hello_needs_the_magic)
{
        TAKEN("\x92\x01\x86" MAGIC_1 "\x02\x01\x03\x01\x05\x01\x06\x07\x07\x01", 1);
        REFUSED("\x92\x01\x86\x01\xa6scaleR\x02\x01\x03\x01\x05\x01\x06\x07\x07\x01",
                "the magic is not that of this protocol");
        REFUSED("\x92\x01\x86\x01\xa7scalers\x02\x01\x03\x01\x05\x01\x06\x07\x07\x01",
                "the magic is not that of this protocol");
        REFUSED("\x92\x01\x85\x02\x01\x03\x01\x05\x01\x06\x07\x07\x01", "a required field is missing");
        REFUSED("\x92\x02\x83\x02\x01\x04\x01\x05\x01", "a required field is missing");
}
END_TEST

START_TEST(a_hello_must_make_sense)
{
        REFUSED("\x92\x01\x86" MAGIC_1 "\x02\x02\x03\x01\x05\x01\x06\x07\x07\x01", "the version range is upside down");
        REFUSED("\x92\x01\x86" MAGIC_1 "\x02\x01\x03\x01\x05\x04\x06\x07\x07\x01", "a number is out of range");
        REFUSED("\x92\x01\x88" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x09\x02\x0a\x03",
                "more slots are free than there are");
        TAKEN("\x92\x01\x88" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x09\xcd\x04\x00\x0a\xcd\x04\x00", 1);
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x09\xcd\x04\x01",
                "a number is out of range");
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x01\x06\x07\x07\x01\x09\x02",
                "only a worker has slots, functions and runs");
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x03\x06\x07\x07\x01\x0e\x91\xa1x",
                "only a worker has slots, functions and runs");
        TAKEN("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x0e\x91\xa1x", 1);
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x0e\x91\xa0",
                "a length is out of range");
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x0e\xa1x",
                "a value has the wrong type");
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x0f\x91\x80",
                "a required field is missing");
        TAKEN("\x92\x01\x87" MAGIC_1
              "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x0f\x91\x85\x01\x01\x02\x01\x03\x01\x04\x01\x09\xc0",
              1);
}
END_TEST

START_TEST(dependencies_and_results_of_a_plan_keep_their_bounds)
{
        TAKEN(SUBMIT_1 "\x11\x81\x09\xc4\x08" "12345678", 1);
        REFUSED(SUBMIT_1 "\x11\x81\x09\xc4\x07" "1234567", "a list of dependencies is not made of whole ones");
        REFUSED(SUBMIT_1 "\x11\x81\x09\xa8" "12345678", "a value has the wrong type");
        TAKEN(SUBMIT_1 "\x11\x81\x0a\x92\xc4\x01x\xc4\x00", 1);
        TAKEN(SUBMIT_1 "\x11\x81\x0a\x90", 1);
        REFUSED(SUBMIT_1 "\x11\x81\x0a\x91\xa1x", "a value has the wrong type");
        REFUSED(SUBMIT_1 "\x11\x81\x0a\xc4\x01x", "a value has the wrong type");
        REFUSED(SUBMIT_1 "\x11\x81\x0d\x04", "a number is out of range");
        REFUSED(SUBMIT_1 "\x11\x81\x0f\x0e", "a number is out of range");
        static uint8_t many[11 + SC_AFTER_MAX * 2 + 64];
        for (uint32_t more = 0; more < 2; more++) {
                const uint32_t count = SC_AFTER_MAX + more;
                size_t         len   = sizeof(SUBMIT_1 "\x11\x81\x0a") - 1;
                memcpy(many, SUBMIT_1 "\x11\x81\x0a", len);
                many[len++] = 0xdd;
                for (int shift = 24; shift >= 0; shift -= 8)
                        many[len++] = (uint8_t)(count >> shift);
                for (uint32_t i = 0; i < count; i++, len += 2)
                        memcpy(many + len, "\xc4", 2);
                if (more)
                        refused(many, len, "a plan has too many results");
                else
                        taken(many, len, 1);
        }
}
END_TEST

START_TEST(a_hello_says_only_what_is_its_roles_to_say)
{
        static const char not_worker[] = "only a worker offers amounts";
        static const char not_client[] = "only a client has a weight and a limit of runs";
        TAKEN("\x92\x01\x88" MAGIC_1 "\x02\x01\x03\x01\x05\x01\x06\x07\x07\x01\x10\xce\x00\x0f\x42\x40\x11\x05", 1);
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x01\x06\x07\x07\x01\x10\xce\x00\x0f\x42\x41",
                "a number is out of range");
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x10\x05", not_client);
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x03\x06\x07\x07\x01\x11\x05", not_client);
        TAKEN("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x12\xa8gpu=2000", 1);
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x01\x06\x07\x07\x01\x12\xa8gpu=2000", not_worker);
        REFUSED("\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01\x12\xa6gpu=2 ",
                "amounts are not in their canonical form");
}
END_TEST

static void hello_with(uint8_t key, uint8_t element, uint32_t count)
{
        uint8_t head[64], *at = head;
        memcpy(at, "\x92\x01\x87" MAGIC_1 "\x02\x01\x03\x01\x05\x02\x06\x07\x07\x01", 21);
        at    = head + 21;
        *at++ = key;
        at    = sc_put_array(at, count);
        sc_buf_reset(&buf);
        ck_assert(sc_buf_add(&buf, head, (size_t)(at - head)));
        for (uint32_t i = 0; i < count; i++)
                ck_assert(sc_buf_add(&buf, &element, 1));
}

START_TEST(arrays_past_their_limit_are_refused_before_memory_is_taken)
{
        const size_t asked = fail.asked;
        hello_with(14, 0xa0, SC_FUNCTIONS_MAX + 1);
        const size_t after = fail.asked;
        refused(buf.data, buf.len, "a worker offers too many functions");
        hello_with(15, 0x80, SC_HOLDS_MAX + 1);
        refused(buf.data, buf.len, "a worker holds too many runs");
        ck_assert_uint_eq(arena.functions_cap + arena.holds_cap, 0);
        ck_assert_uint_ge(after, asked);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("hostile");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, a_record_cut_at_any_byte_is_refused);
        tcase_add_test(tests, a_record_changed_in_any_byte_does_no_harm);
        tcase_add_test(tests, a_million_records_of_garbage_do_no_harm);
        tcase_add_test(tests, a_record_is_an_array_of_kind_and_map);
        tcase_add_test(tests, an_unknown_kind_is_refused_below_128_and_skipped_from_there_on);
        tcase_add_test(tests, keys_come_in_any_order);
        tcase_add_test(tests, unknown_keys_are_skipped_whatever_they_hold);
        tcase_add_test(tests, a_key_is_a_number_from_1_to_127);
        tcase_add_test(tests, a_key_that_comes_twice_is_refused_known_or_not);
        tcase_add_test(tests, numbers_come_in_any_width);
        tcase_add_test(tests, signed_numbers_come_in_any_width);
        tcase_add_test(tests, booleans_are_true_or_false);
        tcase_add_test(tests, text_is_not_bytes_and_bytes_are_not_text);
        tcase_add_test(tests, values_nest_16_deep_and_no_deeper);
        tcase_add_test(tests, nesting_a_hundred_thousand_deep_is_refused);
        tcase_add_test(tests, a_wide_value_is_skipped_in_one_go);
        tcase_add_test(tests, every_field_is_taken_at_its_limit_and_refused_past_it);
        tcase_add_test(tests, every_required_field_is_missed);
        tcase_add_test(tests, bytes_of_a_megabyte_and_one_are_refused);
        tcase_add_test(tests, a_priority_lies_within_a_thousand_either_way);
        tcase_add_test(tests, a_plan_is_a_map_whose_unknown_keys_are_skipped);
        tcase_add_test(tests, the_fields_of_a_plan_keep_their_bounds);
        tcase_add_test(tests, needs_that_are_not_canonical_are_refused);
        tcase_add_test(tests, a_list_of_failures_must_be_one);
        tcase_add_test(tests, the_texts_of_a_plan_keep_their_lengths);
        tcase_add_test(tests, dependencies_and_results_of_a_plan_keep_their_bounds);
        tcase_add_test(tests, a_hello_says_only_what_is_its_roles_to_say);
        tcase_add_test(tests, a_hello_needs_the_magic);
        tcase_add_test(tests, a_hello_must_make_sense);
        tcase_add_test(tests, arrays_past_their_limit_are_refused_before_memory_is_taken);
        return run_tests("wire hostile", tests);
}
