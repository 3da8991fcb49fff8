/*
 * The generator.  Numbers favour the edges of msgpack's widths, lengths favour the edges of its heads.
 */
#include "wire_gen.h"

#include <stdlib.h>
#include <string.h>

#include "amounts.h"
#include "sc_assert.h"

const int wire_kinds[] = {
#define KIND(name, number, from) number,
        SC_MSG_LIST(KIND)
#undef KIND
                0
};

enum shape { RANDOM, SMALLEST, LARGEST };

struct wire_gen *wire_gen_create(uint64_t seed)
{
        struct wire_gen *gen = calloc(1, sizeof(*gen));
        SC_ASSERT(gen);
        gen->rng.state = seed;
        for (size_t i = 0; i < GEN_POOL; i++)
                gen->pool[i] = (uint8_t)sc_rng_next(&gen->rng);
        return gen;
}

void wire_gen_destroy(struct wire_gen *gen)
{
        free(gen);
}

static bool is_view(const struct sc_field *f)
{
        return f->type == SC_FIELD_TEXT || f->type == SC_FIELD_BYTES;
}

static bool is_number(const struct sc_field *f)
{
        return f->type <= SC_FIELD_BOOL;
}

/* ---- fields ------------------------------------------------------------------------------------- */

uint64_t wire_number(const struct sc_field *f, const void *base)
{
        const uint8_t *at = (const uint8_t *)base + f->offset;
        uint32_t       narrow;
        uint64_t       wide;
        if (f->type == SC_FIELD_U8)
                return *at;
        if (f->type == SC_FIELD_BOOL)
                return *(const bool *)at;
        if (f->type == SC_FIELD_U64) {
                memcpy(&wide, at, sizeof(wide));
                return wide;
        }
        memcpy(&narrow, at, sizeof(narrow));
        return f->type == SC_FIELD_I32 ? (uint64_t)(int64_t)(int32_t)narrow : narrow;
}

void wire_set_number(const struct sc_field *f, void *base, uint64_t value)
{
        uint8_t       *at     = (uint8_t *)base + f->offset;
        const uint32_t narrow = (uint32_t)value;
        if (f->type == SC_FIELD_U8)
                *at = (uint8_t)value;
        else if (f->type == SC_FIELD_BOOL)
                *(bool *)at = value != 0;
        else if (f->type == SC_FIELD_U64)
                memcpy(at, &value, sizeof(value));
        else
                memcpy(at, &narrow, sizeof(narrow));
}

struct sc_view wire_view(const struct sc_field *f, const void *base)
{
        struct sc_view view;
        memcpy(&view, (const uint8_t *)base + f->offset, sizeof(view));
        return view;
}

void wire_set_view(const struct sc_field *f, void *base, struct sc_view view)
{
        memcpy((uint8_t *)base + f->offset, &view, sizeof(view));
}

const struct sc_plan *wire_plan(const struct sc_field *f, const void *base)
{
        const struct sc_plan *plan;
        memcpy(&plan, (const uint8_t *)base + f->offset, sizeof(plan));
        return plan;
}

/* ---- values ------------------------------------------------------------------------------------- */

static uint64_t upper(const struct sc_field *f)
{
        if (f->type == SC_FIELD_BOOL)
                return 1;
        return f->type == SC_FIELD_U64 ? UINT64_MAX : f->max;
}

static uint64_t random_number(struct wire_gen *gen, const struct sc_field *f)
{
        const uint64_t edge = (UINT64_C(1) << sc_rng_below(&gen->rng, 64)) + sc_rng_below(&gen->rng, 3) - 1;
        if (f->type == SC_FIELD_I32) {
                const int32_t value = (int32_t)(sc_rng_below(&gen->rng, 2) ? edge : 0 - edge);
                return (uint64_t)(int64_t)(f->max ? value % ((int32_t)f->max + 1) : value);
        }
        const uint64_t max = upper(f);
        if (sc_rng_below(&gen->rng, 3) == 0)
                return f->min;
        return edge >= f->min && edge <= max ? edge : f->min + sc_rng_below(&gen->rng, max - f->min + 1);
}

static uint64_t number_of(struct wire_gen *gen, const struct sc_field *f, enum shape shape)
{
        if (shape == RANDOM)
                return random_number(gen, f);
        if (shape == SMALLEST)
                return f->min;
        if (f->type == SC_FIELD_I32)
                return f->max ? (uint64_t) - (int64_t)f->max : (uint64_t)INT64_C(-2147483648);
        return upper(f);
}

static size_t random_length(struct wire_gen *gen, uint32_t min, uint32_t max)
{
        static const uint32_t edges[] = { 0, 1, 31, 32, 127, 255, 256, 65535, 65536 };
        uint64_t              len     = edges[sc_rng_below(&gen->rng, 9)];
        if (sc_rng_below(&gen->rng, 2))
                len = sc_rng_below(&gen->rng, 40);
        if (len > 256 && sc_rng_below(&gen->rng, 16))
                len = 7;
        return len < min ? min : len > max ? max : (size_t)len;
}

static struct sc_view view_of(struct wire_gen *gen, uint32_t min, uint32_t max, enum shape shape)
{
        const size_t len = shape == RANDOM ? random_length(gen, min, max) : shape == SMALLEST ? min : max;
        return (struct sc_view){ .ptr = gen->pool + sc_rng_below(&gen->rng, GEN_POOL - len + 1), .len = len };
}

static uint32_t array_count(struct wire_gen *gen, uint32_t max, enum shape shape)
{
        if (shape == RANDOM)
                return (uint32_t)sc_rng_below(&gen->rng, sc_rng_below(&gen->rng, 8) ? 5 : 100);
        return shape == SMALLEST ? 0 : max;
}

static void fill_arrays(struct wire_gen *gen, enum shape shape, struct sc_hello *hello)
{
        hello->functions      = gen->functions;
        hello->function_count = array_count(gen, SC_FUNCTIONS_MAX, shape);
        hello->holds          = gen->holds;
        hello->hold_count     = array_count(gen, SC_HOLDS_MAX, shape);
        for (uint32_t i = 0; i < hello->function_count; i++)
                gen->functions[i] = view_of(gen, 1, SC_NAME_MAX, shape);
        for (uint32_t i = 0; i < hello->hold_count; i++)
                for (size_t k = 0; k < sc_layout_hold.count; k++) {
                        const struct sc_field *f = &sc_layout_hold.fields[k];
                        wire_set_number(f, &gen->holds[i], number_of(gen, f, shape));
                }
}

/* ---- amounts and plans -------------------------------------------------------------------------- */

/* A few amounts; at the limit, 16 names of 31 bytes, which are as long as a list may be. */
static struct sc_view amounts_of(struct wire_gen *gen, enum shape shape, char text[SC_AMOUNTS_TEXT + 1])
{
        char             names[16][SC_AMOUNT_NAME_MAX];
        struct sc_amount amounts[16];
        const uint32_t   count = shape == RANDOM ? (uint32_t)sc_rng_below(&gen->rng, 5) : shape == SMALLEST ? 0 : 16;
        for (uint32_t i = 0; i < count; i++) {
                memset(names[i], 'x', sizeof(names[i]));
                names[i][0] = (char)('a' + i);
                amounts[i]  = (struct sc_amount){ .name = { names[i], SC_AMOUNT_NAME_MAX } };
                if (shape != RANDOM)
                        continue;
                amounts[i].name.len    = 1 + sc_rng_below(&gen->rng, SC_AMOUNT_NAME_MAX);
                amounts[i].thousandths = sc_rng_below(&gen->rng, UINT64_C(1) << sc_rng_below(&gen->rng, 54));
        }
        const size_t len = sc_amounts_write(amounts, count, text);
        SC_ASSERT(len <= SC_AMOUNTS_TEXT && (shape != LARGEST || len == SC_AMOUNTS_TEXT));
        return (struct sc_view){ text, len };
}

static struct sc_view retry_on_of(struct wire_gen *gen, enum shape shape, char text[SC_RETRY_ON_MAX + 1])
{
        static const char *parts[] = { "1",      "70-79", "-5--3",       "timeout",
                                       "signal", "limit", "not_started", "-2147483648" };
        size_t             len     = 0;
        const size_t       count   = shape == RANDOM ? sc_rng_below(&gen->rng, 6) : 0;
        for (size_t i = 0; i < count; i++) {
                const char *part = parts[sc_rng_below(&gen->rng, 8)];
                if (i > 0)
                        text[len++] = ',';
                memcpy(text + len, part, strlen(part));
                len += strlen(part);
        }
        for (; shape == LARGEST && len < SC_RETRY_ON_MAX; len++)
                text[len] = len % 2 ? ',' : '7';
        return (struct sc_view){ text, len };
}

/* Of the largest plan one of a mebibyte: more would not fit into a frame with the rest. */
static struct sc_views results_of(struct wire_gen *gen, enum shape shape, struct sc_view *room)
{
        const uint32_t count = shape == RANDOM ? (uint32_t)sc_rng_below(&gen->rng, GEN_RESULTS + 1) : 1;
        for (uint32_t i = 0; i < count; i++)
                room[i] = view_of(gen, 0, shape == RANDOM ? 300 : SC_RESULT_MAX, shape);
        return (struct sc_views){ count > 0 ? room : NULL, count };
}

static const struct sc_plan *plan_of(struct wire_gen *gen, enum shape shape)
{
        struct wire_plan *room = &gen->plans[gen->next_plan++ % GEN_PLANS];
        struct sc_plan   *plan = &room->plan;
        if (shape == SMALLEST || (shape == RANDOM && sc_rng_below(&gen->rng, 2)))
                return NULL;
        for (size_t i = 0; i < sc_layout_plan.count; i++) {
                const struct sc_field *f = &sc_layout_plan.fields[i];
                if (is_number(f))
                        wire_set_number(f, plan, number_of(gen, f, shape));
                else if (f->type != SC_FIELD_BLOBS)
                        wire_set_view(f, plan, view_of(gen, f->min, f->max, shape));
        }
        plan->after.len &= ~(size_t)7;
        plan->results = results_of(gen, shape, room->results);
        plan->deadline_ms += plan->deadline_ms == 0; /* a plan that asks for nothing is none */
        plan->needs    = amounts_of(gen, shape, room->needs);
        plan->retry_on = retry_on_of(gen, shape, room->retry_on);
        return plan;
}

/* What a table cannot say of a HELLO. */
static void mend_hello(struct wire_gen *gen, enum shape shape, struct sc_hello *hello)
{
        if (hello->version_max < hello->version_min)
                hello->version_max = hello->version_min;
        if (shape == LARGEST)
                hello->role = SC_ROLE_WORKER;
        hello->offers = (struct sc_view){ NULL, 0 };
        if (hello->role != SC_ROLE_WORKER)
                hello->slots = 0;
        else
                fill_arrays(gen, shape, hello);
        if (hello->role == SC_ROLE_WORKER)
                hello->offers = amounts_of(gen, shape, gen->offers);
        if (hello->role != SC_ROLE_CLIENT)
                hello->weight = hello->running_max = 0;
        if (hello->free_slots > hello->slots)
                hello->free_slots = hello->slots;
}

static void set_plan(const struct sc_field *f, struct sc_msg *msg, const struct sc_plan *plan)
{
        memcpy((uint8_t *)msg + f->offset, &plan, sizeof(plan));
}

static void fill(struct wire_gen *gen, int kind, enum shape shape, struct sc_msg *out)
{
        const struct sc_layout *layout = sc_layout_of((uint64_t)kind);
        *out                           = (struct sc_msg){ .kind = kind };
        for (size_t i = 0; i < layout->count; i++) {
                const struct sc_field *f = &layout->fields[i];
                if (is_number(f))
                        wire_set_number(f, out, number_of(gen, f, shape));
                else if (is_view(f))
                        wire_set_view(f, out, view_of(gen, f->min, f->max, shape));
                else if (f->type == SC_FIELD_PLAN)
                        set_plan(f, out, plan_of(gen, shape));
        }
        if (kind == SC_MSG_HELLO)
                mend_hello(gen, shape, &out->hello);
}

void wire_gen_random(struct wire_gen *gen, int kind, struct sc_msg *out)
{
        fill(gen, kind, RANDOM, out);
}

void wire_gen_smallest(struct wire_gen *gen, int kind, struct sc_msg *out)
{
        fill(gen, kind, SMALLEST, out);
}

void wire_gen_largest(struct wire_gen *gen, int kind, struct sc_msg *out)
{
        fill(gen, kind, LARGEST, out);
}

/* ---- comparing ---------------------------------------------------------------------------------- */

static bool same_view(struct sc_view a, struct sc_view b)
{
        return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool same_arrays(const struct sc_hello *a, const struct sc_hello *b)
{
        if (a->function_count != b->function_count || a->hold_count != b->hold_count)
                return false;
        for (uint32_t i = 0; i < a->function_count; i++)
                if (!same_view(a->functions[i], b->functions[i]))
                        return false;
        for (uint32_t i = 0; i < a->hold_count; i++)
                for (size_t k = 0; k < sc_layout_hold.count; k++) {
                        const struct sc_field *f = &sc_layout_hold.fields[k];
                        if (wire_number(f, &a->holds[i]) != wire_number(f, &b->holds[i]))
                                return false;
                }
        return true;
}

static bool same_fields(const struct sc_layout *layout, const void *a, const void *b)
{
        for (size_t i = 0; i < layout->count; i++) {
                const struct sc_field *f = &layout->fields[i];
                if (is_number(f) && wire_number(f, a) != wire_number(f, b))
                        return false;
                if (is_view(f) && !same_view(wire_view(f, a), wire_view(f, b)))
                        return false;
        }
        return true;
}

static bool same_plans(const struct sc_layout *layout, const struct sc_msg *a, const struct sc_msg *b)
{
        for (size_t i = 0; i < layout->count; i++) {
                const struct sc_field *f = &layout->fields[i];
                if (f->type != SC_FIELD_PLAN)
                        continue;
                const struct sc_plan *left = wire_plan(f, a), *right = wire_plan(f, b);
                if (!left != !right || (left && !same_fields(&sc_layout_plan, left, right)))
                        return false;
        }
        return true;
}

bool wire_same(const struct sc_msg *a, const struct sc_msg *b)
{
        const struct sc_layout *layout = sc_layout_of((uint64_t)a->kind);
        if (a->kind != b->kind || !same_fields(layout, a, b) || !same_plans(layout, a, b))
                return false;
        return a->kind != SC_MSG_HELLO || same_arrays(&a->hello, &b->hello);
}
