/*
 * The vectors of test/vectors/records.txt, which another program wrote: what it packed is what the codec
 * packs and reads, and what it says is refused is refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "fail_mem.h"
#include "run_tests.h"
#include "sc_buf.h"
#include "sc_status.h"
#include "wire_gen.h"

enum { LINE_MAX_ = 1024, POOL = 8192, BYTES_MAX = 4096 };

/* One paragraph. */
struct vector {
        char           verb[16], name[100], says[200];
        struct sc_msg  msg;
        struct sc_view functions[8];
        struct sc_hold holds[8];
        struct sc_plan plan;
        struct sc_view results[8]; /* of the plan */
        uint8_t        pool[POOL], bytes[BYTES_MAX];
        size_t         pool_len, bytes_len;
};

static struct vector         v;
static struct fail_mem       fail;
static struct sc_buf         buf;
static struct sc_codec_arena arena;

static void start(void)
{
        fail_mem_init(&fail, 0);
        sc_buf_init(&buf, &fail.mem, SC_FRAME_MAX);
        sc_codec_arena_init(&arena, &fail.mem);
}

static void finish(void)
{
        sc_codec_arena_fini(&arena);
        sc_buf_fini(&buf);
}

/* ---- reading the file --------------------------------------------------------------------------- */

static size_t hex(const char *text, uint8_t *out, size_t max)
{
        size_t       len = 0;
        unsigned int byte;
        int          used;
        while (len < max && sscanf(text, " %2x%n", &byte, &used) == 1) {
                out[len++] = (uint8_t)byte;
                text += used;
        }
        return len;
}

/* "text" or <hex> to bytes that stay. */
static struct sc_view bytes_of(char *value)
{
        uint8_t *to  = v.pool + v.pool_len;
        size_t   len = strlen(value);
        ck_assert_uint_lt(v.pool_len + len, POOL);
        if (value[0] == '<') {
                len = hex(value + 1, to, POOL - v.pool_len);
        } else {
                ck_assert(value[0] == '"' && value[len - 1] == '"');
                len -= 2;
                memcpy(to, value + 1, len);
        }
        v.pool_len += len;
        return (struct sc_view){ to, len };
}

static uint64_t number_of(const char *value)
{
        if (strcmp(value, "true") == 0)
                return 1;
        errno                 = 0;
        const uint64_t number = value[0] == '-' ? (uint64_t)strtoll(value, NULL, 10) : strtoull(value, NULL, 10);
        ck_assert_int_eq(errno, 0);
        return number;
}

static void add_hold(const char *value)
{
        unsigned long long part[5];
        struct sc_hello   *hello = &v.msg.hello;
        ck_assert_int_eq(sscanf(value, "%llu %llu %llu %llu %llu", &part[0], &part[1], &part[2], &part[3], &part[4]),
                         5);
        v.holds[hello->hold_count++] = (struct sc_hold){
                .task = { part[0], part[1] }, .run = part[2], .epoch = part[3], .flags = (uint8_t)part[4]
        };
        hello->holds = v.holds;
}

static const struct sc_field *field_of(const struct sc_layout *layout, const char *name)
{
        const struct sc_field *f = layout->fields;
        while (f < layout->fields + layout->count && strcmp(f->name, name) != 0)
                f++;
        ck_assert_msg(f < layout->fields + layout->count, "%s: no field %s", v.name, name);
        return f;
}

/* plan FIELD VALUE */
static void set_plan(char *field)
{
        char *value = strchr(field, ' ');
        ck_assert_ptr_nonnull(value);
        *value++                       = 0;
        const struct sc_field *f       = field_of(&sc_layout_plan, field);
        struct sc_spec        *spec    = v.msg.kind == SC_MSG_SUBMIT ? &v.msg.submit.spec : &v.msg.assign.spec;
        spec->plan                     = &v.plan;
        if (f->type == SC_FIELD_BLOBS) {
                ck_assert_uint_lt(v.plan.results.count, sizeof v.results / sizeof v.results[0]);
                v.results[v.plan.results.count++] = bytes_of(value);
                v.plan.results.at                 = v.results;
        } else if (f->type >= SC_FIELD_TEXT)
                wire_set_view(f, &v.plan, bytes_of(value));
        else
                wire_set_number(f, &v.plan, number_of(value));
}

static void set_field(const char *name, char *value)
{
        const struct sc_field *f = field_of(sc_layout_of((uint64_t)v.msg.kind), name);
        if (f->type == SC_FIELD_HOLDS) {
                add_hold(value);
        } else if (f->type == SC_FIELD_PLAN) {
                set_plan(value);
        } else if (f->type == SC_FIELD_NAMES) {
                v.functions[v.msg.hello.function_count++] = bytes_of(value);
                v.msg.hello.functions                     = v.functions;
        } else if (f->type == SC_FIELD_TEXT || f->type == SC_FIELD_BYTES) {
                wire_set_view(f, &v.msg, bytes_of(value));
        } else {
                wire_set_number(f, &v.msg, number_of(value));
        }
}

static int kind_of(const char *name)
{
#define KIND(word, number, from) \
        if (strcmp(name, #word) == 0) \
                return number;
        SC_MSG_LIST(KIND)
#undef KIND
        ck_abort_msg("no kind %s", name);
        return 0;
}

static void keep(char *to, size_t size, const char *text)
{
        const size_t len = strlen(text);
        ck_assert_uint_lt(len, size);
        memcpy(to, text, len + 1);
}

static void take_line(char *line)
{
        char *value = strchr(line, ' ');
        ck_assert_ptr_nonnull(value);
        *value++ = 0;
        if (!v.verb[0]) {
                keep(v.verb, sizeof(v.verb), line);
                keep(v.name, sizeof(v.name), value);
        } else if (strcmp(line, "is") == 0) {
                v.msg.kind = kind_of(value);
        } else if (strcmp(line, "says") == 0) {
                keep(v.says, sizeof(v.says), value);
        } else if (strcmp(line, "packed") == 0) {
                v.bytes_len += hex(value, v.bytes + v.bytes_len, BYTES_MAX - v.bytes_len);
        } else {
                set_field(line, value);
        }
}

/* The next paragraph into v, or false at the end. */
static bool next_vector(FILE *file)
{
        char line[LINE_MAX_];
        memset(&v, 0, sizeof(v));
        while (fgets(line, sizeof(line), file)) {
                line[strcspn(line, "\n")] = 0;
                if (line[0] == '#')
                        continue;
                if (line[0])
                        take_line(line);
                else if (v.verb[0])
                        return true;
        }
        return v.verb[0] != 0;
}

static FILE *open_vectors(void)
{
        FILE *file = fopen(SOURCE_ROOT "/test/vectors/records.txt", "r");
        ck_assert_ptr_nonnull(file);
        return file;
}

/* ---- checks ------------------------------------------------------------------------------------- */

static bool is(const char *verb)
{
        return strcmp(v.verb, verb) == 0;
}

static void check_packed(void)
{
        sc_buf_reset(&buf);
        ck_assert_int_eq(sc_codec_pack(&buf, &v.msg), 0);
        ck_assert_msg(buf.len == v.bytes_len && memcmp(buf.data, v.bytes, buf.len) == 0, "%s is packed differently",
                      v.name);
}

static void check_unpacked(void)
{
        struct sc_msg msg;
        const char   *why    = "";
        size_t        cursor = 0;
        const int     got    = sc_codec_unpack(v.bytes, v.bytes_len, &cursor, &arena, &msg, &why);
        if (is("refuse")) {
                ck_assert_msg(got == SC_E_PROTOCOL, "%s: %d", v.name, got);
                ck_assert_str_eq(why, v.says);
                return;
        }
        ck_assert_msg(got == !is("skip"), "%s: %d %s", v.name, got, why);
        ck_assert_uint_eq(cursor, v.bytes_len);
        ck_assert_msg(got == 0 || wire_same(&v.msg, &msg), "%s is unpacked differently", v.name);
}

START_TEST(every_vector_holds)
{
        FILE *file  = open_vectors();
        int   count = 0;
        for (; next_vector(file); count++) {
                ck_assert_msg(is("record") || is("accept") || is("skip") || is("refuse"), "%s?", v.verb);
                if (is("record"))
                        check_packed();
                check_unpacked();
        }
        fclose(file);
        ck_assert_int_ge(count, 40);
}
END_TEST

START_TEST(every_kind_has_a_vector)
{
        FILE    *file    = open_vectors();
        uint64_t seen[2] = { 0, 0 };
        while (next_vector(file))
                if (is("record"))
                        seen[v.msg.kind >> 6] |= UINT64_C(1) << (v.msg.kind & 63);
        fclose(file);
        for (const int *kind = wire_kinds; *kind; kind++)
                ck_assert_msg(seen[*kind >> 6] >> (*kind & 63) & 1, "kind %d has none", *kind);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("vectors");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, every_vector_holds);
        tcase_add_test(tests, every_kind_has_a_vector);
        return run_tests("wire vectors", tests);
}
