/*
 * doc/protocol.md says what the code does: each kind has its section, with the roles that send it and a
 * table whose rows are those of lib/wire/fields.h; the worked hello is read as the page says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "frame.h"
#include "run_tests.h"
#include "sc_mem.h"
#include "wire_gen.h"

static char *page;

static void start(void)
{
        FILE *file = fopen(SOURCE_ROOT "/doc/protocol.md", "r");
        ck_assert_ptr_nonnull(file);
        page           = calloc(1, 1 << 18);
        const size_t n = fread(page, 1, (1 << 18) - 1, file);
        ck_assert(n > 0 && feof(file));
        fclose(file);
}

static void finish(void)
{
        free(page);
}

/* ---- the tables --------------------------------------------------------------------------------- */

static void number_bounds(const struct sc_field *f, char *text, size_t size)
{
        const bool open = f->type == SC_FIELD_U64 || f->max == UINT32_MAX;
        if (open && f->min == 0)
                snprintf(text, size, "any");
        else if (open)
                snprintf(text, size, "%u..", (unsigned)f->min);
        else
                snprintf(text, size, "%u..%u", (unsigned)f->min, (unsigned)f->max);
}

static void bounds(const struct sc_field *f, char *text, size_t size)
{
        if (f->type <= SC_FIELD_U64)
                number_bounds(f, text, size);
        else if (f->type == SC_FIELD_I32 && f->max > 0)
                snprintf(text, size, "-%u..%u", (unsigned)f->max, (unsigned)f->max);
        else if (f->type == SC_FIELD_I32 || f->type == SC_FIELD_BOOL)
                snprintf(text, size, "any");
        else if (f->type == SC_FIELD_PLAN)
                snprintf(text, size, "a plan");
        else if (f->type == SC_FIELD_MAGIC)
                snprintf(text, size, "`%s`", SC_MAGIC);
        else
                snprintf(text, size, "%u..%u %s", (unsigned)f->min, (unsigned)f->max,
                         f->type >= SC_FIELD_NAMES ? "elements" : "bytes");
}

static void check_row(const char **at, const struct sc_field *f, const char *name)
{
        static const char *types[SC_FIELD_TYPES] = { "u8",  "u32", "u64",   "i32",   "bool", "str",
                                                     "str", "bin", "[str]", "[map]", "[bin]", "map" };
        char               range[40], row[160];
        bounds(f, range, sizeof(range));
        snprintf(row, sizeof(row), "\n| %u | `%s` | %s | %s | ", (unsigned)f->key, f->name, types[f->type], range);
        ck_assert_msg(strncmp(*at, row, strlen(row)) == 0, "%s: the page does not say%s", name, row);
        *at = strchr(*at + 1, '\n');
        ck_assert_ptr_nonnull(*at);
}

/* The first table behind `from`, row by row. */
static void check_table(const char *from, const struct sc_layout *layout, const char *name)
{
        static const char head[] = "\n| key | field | type | bounds | meaning |\n|---|---|---|---|---|";
        const char       *at     = strstr(from, head);
        ck_assert_msg(at != NULL, "%s has no table", name);
        at += sizeof(head) - 1;
        for (size_t i = 0; i < layout->count; i++)
                check_row(&at, &layout->fields[i], name);
        ck_assert_msg(strncmp(at, "\n|", 2) != 0, "%s: the page has a row too many", name);
}

static const char *section_of(const char *name, int kind)
{
        char   heading[200];
        size_t len = (size_t)snprintf(heading, sizeof(heading), "\n### %s (%d): from ", name, kind);
        for (enum sc_role role = SC_ROLE_CLIENT; role <= SC_ROLE_SCHEDULER; role++) {
                if (!sc_msg_may_send(role, kind))
                        continue;
                const char *comma = heading[len - 2] == 'm' ? "" : ", ";
                len += (size_t)snprintf(heading + len, sizeof(heading) - len, "%s%s", comma, sc_role_name(role));
        }
        snprintf(heading + len, sizeof(heading) - len, "\n");
        const char *at = strstr(page, heading);
        ck_assert_msg(at != NULL, "the page has no%s", heading);
        return at;
}

START_TEST(every_kind_has_its_section_and_the_table_of_the_code)
{
        for (const int *kind = wire_kinds; *kind; kind++) {
                const char *name = sc_msg_name(*kind);
                check_table(section_of(name, *kind), sc_layout_of((uint64_t)*kind), name);
        }
        const char *holds = strstr(page, "Each hold is a map:");
        ck_assert_ptr_nonnull(holds);
        check_table(holds, &sc_layout_hold, "hold");
        const char *plans = strstr(page, "\n### Plans\n");
        ck_assert_ptr_nonnull(plans);
        check_table(plans, &sc_layout_plan, "plan");
}
END_TEST

START_TEST(the_page_has_no_kind_that_the_code_lacks)
{
        size_t kinds = 0, sections = 0;
        while (wire_kinds[kinds])
                kinds++;
        for (const char *at = page; (at = strstr(at, "): from ")); at++)
                sections++;
        ck_assert_uint_eq(sections, kinds);
}
END_TEST

START_TEST(the_words_for_numbers_are_those_of_the_code)
{
        for (int reason = 0; reason < SC_REASONS; reason++)
                ck_assert_ptr_nonnull(sc_reason_name(reason));
        for (int state = 0; state < SC_PUBLIC_STATES; state++) {
                char words[64];
                snprintf(words, sizeof(words), "%d %s", state, sc_public_state_name(state));
                ck_assert_msg(strstr(page, words) != NULL, "the page does not say %s", words);
        }
        char limit[64];
        snprintf(limit, sizeof(limit), "24..%u,%03u,%03u", SC_FRAME_MAX / 1000000, SC_FRAME_MAX / 1000 % 1000,
                 SC_FRAME_MAX % 1000);
        ck_assert_ptr_nonnull(strstr(page, limit));
}
END_TEST

/* ---- the worked hello ---------------------------------------------------------------------------- */

/* The bytes of one line of hexadecimal pairs with gaps, up to the words behind them. */
static size_t line_bytes(const char *line, size_t line_len, uint8_t *out)
{
        size_t len = 0, i = 0;
        while (i + 1 < line_len) {
                const bool pair = strspn(line + i, "0123456789abcdef") == 2;
                if (!pair && line[i] != ' ')
                        break;
                if (pair)
                        out[len++] = (uint8_t)strtoul(line + i, NULL, 16);
                i += pair ? 2 : 1;
        }
        return len;
}

/* The frame in the first block behind `from`. */
static size_t example(const char *from, uint8_t out[128], const char **end)
{
        size_t      len  = 0;
        const char *line = strstr(strstr(from, "\n```\n") + 1, "\n") + 1;
        while (strncmp(line, "```", 3) != 0) {
                const size_t line_len = strcspn(line, "\n");
                len += line_bytes(line, line_len, out + len);
                ck_assert_uint_lt(len, 100);
                line += line_len + 1;
        }
        *end = line + 3;
        return len;
}

static void read_example(const uint8_t *bytes, size_t len, struct sc_frame_head *head, struct sc_msg *msg)
{
        struct sc_mem         mem;
        struct sc_codec_arena arena;
        const char           *why    = "";
        size_t                cursor = 0;
        sc_mem_init_libc(&mem);
        sc_codec_arena_init(&arena, &mem);
        ck_assert_int_eq(sc_frame_get(bytes, head, &why), 0);
        ck_assert_uint_eq(head->length, len);
        ck_assert_uint_eq(head->type, SC_FRAME_HELLO);
        ck_assert_msg(sc_codec_unpack(bytes + 24, len - 24, &cursor, &arena, msg, &why) == 1, "%s", why);
        ck_assert_uint_eq(cursor, len - 24);
        sc_codec_arena_fini(&arena);
}

START_TEST(the_worked_hello_is_what_the_page_says)
{
        uint8_t              bytes[128];
        struct sc_frame_head head;
        struct sc_msg        msg;
        const char          *at = strstr(page, "### A worked hello");
        ck_assert_ptr_nonnull(at);
        size_t len = example(at, bytes, &at);
        read_example(bytes, len, &head, &msg);
        ck_assert_int_eq(msg.kind, SC_MSG_HELLO);
        ck_assert(msg.hello.id == UINT64_C(0x1122334455667788) && msg.hello.role == SC_ROLE_CLIENT);
        len = example(at, bytes, &at);
        read_example(bytes, len, &head, &msg);
        ck_assert_int_eq(msg.kind, SC_MSG_WELCOME);
        ck_assert(msg.welcome.id == 77 && msg.welcome.epoch == 0x0a0b && msg.welcome.silent_ms == 10000);
        ck_assert(head.ack == 1 && head.grant_tasks == 1000 && head.grant_kib == 4096);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("doc");
        tcase_add_checked_fixture(tests, start, finish);
        tcase_add_test(tests, every_kind_has_its_section_and_the_table_of_the_code);
        tcase_add_test(tests, the_page_has_no_kind_that_the_code_lacks);
        tcase_add_test(tests, the_words_for_numbers_are_those_of_the_code);
        tcase_add_test(tests, the_worked_hello_is_what_the_page_says);
        return run_tests("wire doc", tests);
}
