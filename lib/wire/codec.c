/*
 * Messages to records and back, driven by the tables of fields.h.  Packing trusts its caller, so a
 * message outside its own bounds is an assertion; unpacking trusts nobody, works on a copy, and gives
 * it out only when the whole record is good.
 */
#include "codec.h"

#include <string.h>

#include "cursor.h"
#include "fields.h"
#include "plan_map.h"
#include "sc_assert.h"
#include "sc_buf.h"
#include "sc_mem.h"
#include "sc_status.h"

enum {
        RECORD_HEAD = 2 + SC_PUT_HEAD_MAX,   /* array of two, kind, map of so many */
        NUMBER_MAX  = 1 + SC_PUT_NUMBER_MAX, /* a key and its number, or its string's head */
        HOLD_MAX    = 1 + 5 * NUMBER_MAX
};

static const struct sc_view magic = { SC_MAGIC, sizeof(SC_MAGIC) - 1 };

/* ---- fields in their structs -------------------------------------------------------------------- */

static uint64_t load_number(const struct sc_field *f, const uint8_t *base)
{
        uint32_t narrow;
        uint64_t wide;
        if (f->type == SC_FIELD_U8)
                return base[f->offset];
        if (f->type == SC_FIELD_U32) {
                memcpy(&narrow, base + f->offset, sizeof(narrow));
                SC_ASSERT(narrow <= f->max);
                return narrow;
        }
        memcpy(&wide, base + f->offset, sizeof(wide));
        return wide;
}

static int32_t load_int32(const struct sc_field *f, const uint8_t *base)
{
        int32_t value;
        memcpy(&value, base + f->offset, sizeof(value));
        return value;
}

static bool int32_fits(const struct sc_field *f, int32_t value)
{
        return f->max == 0 || (value >= -(int32_t)f->max && value <= (int32_t)f->max);
}

static bool load_bool(const struct sc_field *f, const uint8_t *base)
{
        bool value;
        memcpy(&value, base + f->offset, sizeof(value));
        return value;
}

static struct sc_view load_view(const struct sc_field *f, const uint8_t *base)
{
        struct sc_view view;
        memcpy(&view, base + f->offset, sizeof(view));
        return view;
}

static const struct sc_plan *load_plan(const struct sc_field *f, const uint8_t *base)
{
        const struct sc_plan *plan;
        memcpy(&plan, base + f->offset, sizeof(plan));
        return plan;
}

static bool has_plan(const struct sc_layout *layout, const struct sc_msg *msg)
{
        return layout->plain < layout->count && load_plan(&layout->fields[layout->plain], (const uint8_t *)msg);
}

/* ---- packing ------------------------------------------------------------------------------------ */

static size_t names_bound(const struct sc_hello *hello)
{
        size_t bound = NUMBER_MAX;
        for (uint32_t i = 0; i < hello->function_count; i++)
                bound += SC_PUT_HEAD_MAX + hello->functions[i].len;
        return bound;
}

size_t sc_codec_bound(const struct sc_msg *msg)
{
        const struct sc_layout *layout = sc_layout_of((uint64_t)msg->kind);
        SC_ASSERT(layout);
        size_t bound = RECORD_HEAD + (size_t)layout->count * NUMBER_MAX;
        for (size_t i = layout->views; i < layout->plain; i++) {
                const struct sc_field *f = &layout->fields[i];
                if (f->type == SC_FIELD_TEXT || f->type == SC_FIELD_BYTES)
                        bound += load_view(f, (const uint8_t *)msg).len;
        }
        if (has_plan(layout, msg))
                bound += sc_plan_map_bound(load_plan(&layout->fields[layout->plain], (const uint8_t *)msg));
        if (msg->kind == SC_MSG_HELLO)
                bound += names_bound(&msg->hello) + NUMBER_MAX + (size_t)msg->hello.hold_count * HOLD_MAX;
        return bound;
}

/* Key and value, or nothing for a value of zero. */
static uint8_t *put_number(uint8_t *at, const struct sc_field *f, uint64_t value)
{
        if (value == 0) {
                SC_ASSERT(f->min == 0);
                return at;
        }
        *at = f->key;
        return sc_put_uint(at + 1, value);
}

static uint8_t *put_view(uint8_t *at, const struct sc_field *f, struct sc_view view)
{
        SC_ASSERT(view.len >= f->min && view.len <= f->max);
        if (view.len == 0)
                return at;
        *at = f->key;
        return f->type == SC_FIELD_TEXT ? sc_put_text(at + 1, view) : sc_put_bytes(at + 1, view);
}

static uint8_t *put_names(uint8_t *at, const struct sc_field *f, const struct sc_hello *hello)
{
        SC_ASSERT(hello->function_count <= f->max);
        if (hello->function_count == 0)
                return at;
        *at = f->key;
        at  = sc_put_array(at + 1, hello->function_count);
        for (uint32_t i = 0; i < hello->function_count; i++) {
                const struct sc_view name = hello->functions[i];
                SC_ASSERT(name.len >= 1 && name.len <= SC_NAME_MAX);
                at = sc_put_text(at, name);
        }
        return at;
}

static uint8_t *put_hold(uint8_t *at, const struct sc_hold *hold)
{
        uint8_t *head  = at++;
        uint8_t  count = 0;
        for (size_t i = 0; i < sc_layout_hold.count; i++) {
                const struct sc_field *f      = &sc_layout_hold.fields[i];
                uint8_t               *before = at;
                at                            = put_number(at, f, load_number(f, (const uint8_t *)hold));
                count                         = (uint8_t)(count + (at != before));
        }
        sc_put_map(head, count);
        return at;
}

static uint8_t *put_holds(uint8_t *at, const struct sc_field *f, const struct sc_hello *hello)
{
        SC_ASSERT(hello->hold_count <= f->max);
        if (hello->hold_count == 0)
                return at;
        *at = f->key;
        at  = sc_put_array(at + 1, hello->hold_count);
        for (uint32_t i = 0; i < hello->hold_count; i++)
                at = put_hold(at, &hello->holds[i]);
        return at;
}

static uint8_t *put_int32(uint8_t *at, const struct sc_field *f, int32_t value)
{
        SC_ASSERT(int32_fits(f, value));
        return sc_put_int32(at, value);
}

static uint8_t *put_field(uint8_t *at, const struct sc_field *f, const struct sc_msg *msg)
{
        const uint8_t *base = (const uint8_t *)msg;
        switch ((enum sc_field_type)f->type) {
        case SC_FIELD_U8:
                SC_ASSERT(base[f->offset] <= f->max);
                return put_number(at, f, base[f->offset]);
        case SC_FIELD_U32:
        case SC_FIELD_U64:
                return put_number(at, f, load_number(f, base));
        case SC_FIELD_I32: {
                const int32_t value = load_int32(f, base);
                *at                 = f->key;
                return value == 0 ? at : put_int32(at + 1, f, value);
        }
        case SC_FIELD_BOOL:
                *at = f->key;
                return load_bool(f, base) ? sc_put_true(at + 1) : at;
        case SC_FIELD_MAGIC:
                *at = f->key;
                return sc_put_text(at + 1, magic);
        case SC_FIELD_TEXT:
        case SC_FIELD_BYTES:
                return put_view(at, f, load_view(f, base));
        case SC_FIELD_NAMES:
                return put_names(at, f, &msg->hello);
        case SC_FIELD_HOLDS:
                return put_holds(at, f, &msg->hello);
        case SC_FIELD_PLAN: /* see put_plan */
        case SC_FIELD_BLOBS: /* of a plan alone */
        case SC_FIELD_TYPES:
                break;
        }
        SC_UNREACHABLE();
}

/* Most have none, and one that asks for nothing is none. */
static uint8_t *put_plan(uint8_t *at, const struct sc_layout *layout, const struct sc_msg *msg, uint32_t *count)
{
        const struct sc_field *f    = &layout->fields[layout->plain];
        const struct sc_plan  *plan = load_plan(f, (const uint8_t *)msg);
        if (sc_plan_map_is_empty(plan))
                return at;
        *at = f->key;
        ++*count;
        return sc_plan_map_put(at + 1, plan);
}

/* The head of the map is written last, for one byte; the rare map of more than 15 fields is moved up for its longer
 * head, which the bound has room for. */
static uint8_t *put_record(uint8_t *at, const struct sc_layout *layout, const struct sc_msg *msg)
{
        at             = sc_put_uint(sc_put_array(at, 2), (uint64_t)msg->kind);
        uint8_t *head  = at++;
        uint32_t count = 0;
        for (size_t i = 0; i < layout->plain; i++) {
                uint8_t *before = at;
                at              = put_field(at, &layout->fields[i], msg);
                count += at != before;
        }
        if (has_plan(layout, msg))
                at = put_plan(at, layout, msg, &count);
        if (count >= 16) {
                memmove(head + 3, head + 1, (size_t)(at - head - 1));
                at += 2;
        }
        sc_put_map(head, count);
        return at;
}

int sc_codec_pack(struct sc_buf *buf, const struct sc_msg *msg)
{
        const struct sc_layout *layout = sc_layout_of((uint64_t)msg->kind);
        SC_ASSERT(layout);
        const size_t bound = sc_codec_bound(msg);
        if (!sc_buf_reserve(buf, bound))
                return bound > buf->max - buf->len ? SC_E_TOO_BIG : SC_E_NOMEM;
        const uint8_t *end = put_record(buf->data + buf->len, layout, msg);
        const size_t   len = (size_t)(end - (buf->data + buf->len));
        SC_ASSERT(len <= bound);
        buf->len += len;
        return 0;
}

/* ---- unpacking ---------------------------------------------------------------------------------- */

/* What is nested is passed over while the record is read, and read when the rest of it is good. */
struct nested {
        struct sc_view names, holds, plan;
};

static const char out_of_range[] = "a number is out of range";
static const char bad_length[]   = "a length is out of range";

static bool get_number(struct sc_cursor *c, const struct sc_field *f, uint8_t *base)
{
        uint64_t value;
        if (!sc_get_uint(c, &value))
                return false;
        if (value < f->min || (f->type != SC_FIELD_U64 && value > f->max))
                return sc_get_fail(c, out_of_range);
        const uint32_t narrow = (uint32_t)value;
        if (f->type == SC_FIELD_U64)
                memcpy(base + f->offset, &value, sizeof(value));
        else if (f->type == SC_FIELD_U32)
                memcpy(base + f->offset, &narrow, sizeof(narrow));
        else
                base[f->offset] = (uint8_t)value;
        return true;
}

static bool get_view(struct sc_cursor *c, const struct sc_field *f, uint8_t *base)
{
        struct sc_view view;
        if (!(f->type == SC_FIELD_TEXT ? sc_get_text(c, &view) : sc_get_bytes(c, &view)))
                return false;
        if (view.len < f->min || view.len > f->max)
                return sc_get_fail(c, bad_length);
        memcpy(base + f->offset, &view, sizeof(view));
        return true;
}

static bool get_magic(struct sc_cursor *c)
{
        struct sc_view text;
        if (!sc_get_text(c, &text))
                return false;
        return (text.len == magic.len && memcmp(text.ptr, magic.ptr, magic.len) == 0) ||
               sc_get_fail(c, "the magic is not that of this protocol");
}

static bool get_span(struct sc_cursor *c, struct sc_view *out)
{
        const uint8_t *from = c->at;
        if (!sc_get_skip(c))
                return false;
        *out = (struct sc_view){ .ptr = from, .len = (size_t)(c->at - from) };
        return true;
}

static bool get_field(struct sc_cursor *c, const struct sc_field *f, uint8_t *base, struct nested *nested)
{
        int32_t number;
        bool    flag;
        switch ((enum sc_field_type)f->type) {
        case SC_FIELD_U8:
        case SC_FIELD_U32:
        case SC_FIELD_U64:
                return get_number(c, f, base);
        case SC_FIELD_I32:
                if (!sc_get_int32(c, &number))
                        return false;
                if (!int32_fits(f, number))
                        return sc_get_fail(c, out_of_range);
                memcpy(base + f->offset, &number, sizeof(number));
                return true;
        case SC_FIELD_BOOL:
                if (!sc_get_bool(c, &flag))
                        return false;
                memcpy(base + f->offset, &flag, sizeof(flag));
                return true;
        case SC_FIELD_MAGIC:
                return get_magic(c);
        case SC_FIELD_TEXT:
        case SC_FIELD_BYTES:
                return get_view(c, f, base);
        case SC_FIELD_NAMES:
                return get_span(c, &nested->names);
        case SC_FIELD_HOLDS:
                return get_span(c, &nested->holds);
        case SC_FIELD_PLAN:
                return get_span(c, &nested->plan);
        case SC_FIELD_BLOBS: /* of a plan alone */
        case SC_FIELD_TYPES:
                break;
        }
        SC_UNREACHABLE();
}

/* Keys mostly ascend, so the search goes on where the last one ended. */
static const struct sc_field *find_field(const struct sc_layout *layout, uint8_t key, size_t *from)
{
        size_t i = *from;
        if (i == layout->count || layout->fields[i].key > key)
                i = 0;
        while (i < layout->count && layout->fields[i].key < key)
                i++;
        *from = i;
        return i < layout->count && layout->fields[i].key == key ? &layout->fields[i] : NULL;
}

/* One map of known and unknown keys; `base` is zeroed. */
static bool get_fields(struct sc_cursor *c, const struct sc_layout *layout, void *base, struct nested *nested)
{
        uint32_t       count;
        struct sc_keys keys = { 0, 0 };
        size_t         from = 0;
        if (!sc_get_map(c, &count))
                return false;
        for (uint32_t i = 0; i < count; i++) {
                uint8_t key;
                if (!sc_get_key(c, &keys, &key))
                        return false;
                const struct sc_field *f = find_field(layout, key, &from);
                if (!(f ? get_field(c, f, base, nested) : sc_get_skip(c)))
                        return false;
        }
        return (keys.low & layout->required) == layout->required || sc_get_fail(c, "a required field is missing");
}

/* ---- the arrays of a HELLO ---------------------------------------------------------------------- */

void sc_codec_arena_init(struct sc_codec_arena *arena, struct sc_mem *mem)
{
        *arena = (struct sc_codec_arena){ .mem = mem };
}

void sc_codec_arena_fini(struct sc_codec_arena *arena)
{
        if (arena->functions)
                sc_mem_release(arena->mem, arena->functions, arena->functions_cap * sizeof(*arena->functions));
        if (arena->holds)
                sc_mem_release(arena->mem, arena->holds, arena->holds_cap * sizeof(*arena->holds));
        if (arena->results)
                sc_mem_release(arena->mem, arena->results, arena->results_cap * sizeof(*arena->results));
        *arena = (struct sc_codec_arena){ .mem = NULL };
}

static int refuse(const char **why, const char *words)
{
        *why = words;
        return SC_E_PROTOCOL;
}

static int no_memory(const char **why)
{
        *why = "no memory for what a worker offers and holds";
        return SC_E_NOMEM;
}

/* Room for `count` elements, whose old contents nobody needs: the new array, or NULL and nothing has changed. */
static void *grown(struct sc_codec_arena *arena, void *array, uint32_t *cap, uint32_t count, size_t each)
{
        if (count <= *cap)
                return array;
        void *bigger = sc_mem_array(arena->mem, count, each);
        if (!bigger)
                return NULL;
        if (array)
                sc_mem_release(arena->mem, array, *cap * each);
        *cap = count;
        return bigger;
}

static int get_names(struct sc_cursor *c, struct sc_codec_arena *arena, struct sc_hello *hello)
{
        uint32_t count;
        if (!sc_get_array(c, &count))
                return SC_E_PROTOCOL;
        if (count > SC_FUNCTIONS_MAX)
                return refuse(&c->why, "a worker offers too many functions");
        struct sc_view *names = grown(arena, arena->functions, &arena->functions_cap, count, sizeof(*names));
        if (!names && count > 0)
                return no_memory(&c->why);
        arena->functions = names;
        for (uint32_t i = 0; i < count; i++) {
                if (!sc_get_text(c, &names[i]))
                        return SC_E_PROTOCOL;
                if (names[i].len < 1 || names[i].len > SC_NAME_MAX)
                        return refuse(&c->why, bad_length);
        }
        hello->functions      = count > 0 ? names : NULL;
        hello->function_count = count;
        return 0;
}

static int get_holds(struct sc_cursor *c, struct sc_codec_arena *arena, struct sc_hello *hello)
{
        uint32_t count;
        if (!sc_get_array(c, &count))
                return SC_E_PROTOCOL;
        if (count > SC_HOLDS_MAX)
                return refuse(&c->why, "a worker holds too many runs");
        struct sc_hold *holds = grown(arena, arena->holds, &arena->holds_cap, count, sizeof(*holds));
        if (!holds && count > 0)
                return no_memory(&c->why);
        arena->holds = holds;
        for (uint32_t i = 0; i < count; i++) {
                holds[i] = (struct sc_hold){ .run = 0 };
                if (!get_fields(c, &sc_layout_hold, &holds[i], NULL))
                        return SC_E_PROTOCOL;
        }
        hello->holds      = count > 0 ? holds : NULL;
        hello->hold_count = count;
        return 0;
}

static const char *hello_complaint(const struct sc_hello *hello)
{
        if (hello->version_min > hello->version_max)
                return "the version range is upside down";
        if (hello->free_slots > hello->slots)
                return "more slots are free than there are";
        if (hello->role != SC_ROLE_WORKER && (hello->slots > 0 || hello->function_count > 0 || hello->hold_count > 0))
                return "only a worker has slots, functions and runs";
        if (hello->role != SC_ROLE_WORKER && hello->offers.len > 0)
                return "only a worker offers amounts";
        if (hello->role != SC_ROLE_CLIENT && (hello->weight > 0 || hello->running_max > 0))
                return "only a client has a weight and a limit of runs";
        return sc_amounts_are_canonical(hello->offers) ? NULL : sc_not_canonical;
}

static int finish_hello(const struct nested *nested, struct sc_codec_arena *arena, struct sc_hello *hello,
                        const char **why)
{
        const uint8_t   *names = nested->names.ptr, *holds = nested->holds.ptr;
        struct sc_cursor c      = { .at = names, .end = names ? names + nested->names.len : NULL };
        int              status = names ? get_names(&c, arena, hello) : 0;
        if (status == 0 && holds) {
                c      = (struct sc_cursor){ .at = holds, .end = holds + nested->holds.len };
                status = get_holds(&c, arena, hello);
        }
        if (status != 0) {
                *why = c.why;
                return status;
        }
        const char *words = hello_complaint(hello);
        return words ? refuse(why, words) : 0;
}

/* ---- the record --------------------------------------------------------------------------------- */

static int get_results(struct sc_view span, struct sc_codec_arena *arena, const char **why)
{
        struct sc_cursor c = { .at = span.ptr, .end = (const uint8_t *)span.ptr + span.len };
        uint32_t         count;
        if (!sc_plan_results_count(&c, &count))
                return refuse(why, c.why);
        struct sc_view *results = grown(arena, arena->results, &arena->results_cap, count, sizeof(*results));
        if (!results && count > 0) {
                *why = "no memory for the results of a plan";
                return SC_E_NOMEM;
        }
        arena->results = results;
        if (!sc_plan_results_get(&c, results, count))
                return refuse(why, c.why);
        arena->plan.results = (struct sc_views){ count > 0 ? results : NULL, count };
        return 0;
}

static int finish_plan(struct sc_view span, struct sc_codec_arena *arena, struct sc_msg *msg, const char **why)
{
        struct sc_cursor c    = { .at = span.ptr, .end = (const uint8_t *)span.ptr + span.len };
        struct sc_spec  *spec = msg->kind == SC_MSG_SUBMIT ? &msg->submit.spec : &msg->assign.spec;
        struct sc_view   results;
        if (!sc_plan_map_get(&c, &arena->plan, &results))
                return refuse(why, c.why);
        const int status = results.ptr ? get_results(results, arena, why) : 0;
        spec->plan       = sc_plan_map_is_empty(&arena->plan) ? NULL : &arena->plan;
        return status;
}

/* The head of a record: its kind, with the map to come. */
static bool get_kind(struct sc_cursor *c, uint64_t *kind)
{
        uint32_t count;
        if (!sc_get_array(c, &count))
                return false;
        if (count != 2)
                return sc_get_fail(c, "a record is not an array of two");
        return sc_get_uint(c, kind);
}

int sc_codec_unpack(const uint8_t *bytes, size_t len, size_t *cursor, struct sc_codec_arena *arena, struct sc_msg *out,
                    const char **why)
{
        SC_ASSERT(*cursor <= len);
        struct sc_cursor c = { .at = bytes + *cursor, .end = bytes + len };
        uint64_t         kind;
        if (!get_kind(&c, &kind))
                return refuse(why, c.why);
        const struct sc_layout *layout = sc_layout_of(kind);
        if (!layout && kind < SC_KIND_OPTIONAL)
                return refuse(why, "the kind of a record is unknown");
        if (!layout) {
                if (!sc_get_skip(&c))
                        return refuse(why, c.why);
                *cursor = (size_t)(c.at - bytes);
                return 0;
        }
        struct sc_msg msg;
        struct nested nested = { .names = { NULL, 0 } };
        memset(&msg, 0, layout->size);
        if (!get_fields(&c, layout, &msg, &nested))
                return refuse(why, c.why);
        if (kind == SC_MSG_HELLO) {
                const int status = finish_hello(&nested, arena, &msg.hello, why);
                if (status != 0)
                        return status;
        }
        msg.kind = (int)kind;
        const int status = nested.plan.ptr ? finish_plan(nested.plan, arena, &msg, why) : 0;
        if (status != 0)
                return status;
        memcpy(out, &msg, layout->size);
        *cursor = (size_t)(c.at - bytes);
        return 1;
}
