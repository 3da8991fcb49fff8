/*
 * One loop over the table to pack, one over the map to unpack; then what a table cannot say of needs and of
 * the list of failures.
 */
#include "plan_map.h"

#include "amounts.h"
#include "fields.h"
#include "retry_on.h"
#include "sc_assert.h"

const char sc_not_canonical[] = "amounts are not in their canonical form";

bool sc_amounts_are_canonical(struct sc_view text)
{
        struct sc_amount parsed[SC_AMOUNTS_MAX];
        uint32_t         count;
        return sc_amounts_parse(text, parsed, &count) == 0;
}

/* ---- fields of the struct ----------------------------------------------------------------------- */

static uint64_t load_number(const struct sc_field *f, const void *plan)
{
        uint64_t wide   = 0;
        uint32_t narrow = 0;
        if (f->type == SC_FIELD_U64)
                memcpy(&wide, (const uint8_t *)plan + f->offset, sizeof(wide));
        else
                memcpy(&narrow, (const uint8_t *)plan + f->offset, sizeof(narrow));
        return wide + narrow;
}

static void store_number(const struct sc_field *f, void *plan, uint64_t value)
{
        const uint32_t narrow = (uint32_t)value;
        if (f->type == SC_FIELD_U64)
                memcpy((uint8_t *)plan + f->offset, &value, sizeof(value));
        else
                memcpy((uint8_t *)plan + f->offset, &narrow, sizeof(narrow));
}

static struct sc_view load_text(const struct sc_field *f, const void *plan)
{
        struct sc_view text;
        memcpy(&text, (const uint8_t *)plan + f->offset, sizeof(text));
        return text;
}

static bool is_view(const struct sc_field *f)
{
        return f->type == SC_FIELD_TEXT || f->type == SC_FIELD_BYTES;
}

static bool has(const struct sc_plan *plan, const struct sc_field *f)
{
        if (f->type == SC_FIELD_BLOBS)
                return plan->results.count > 0;
        return is_view(f) ? load_text(f, plan).len > 0 : load_number(f, plan) > 0;
}

static uint32_t field_count(const struct sc_plan *plan)
{
        uint32_t count = 0;
        for (size_t i = 0; i < sc_layout_plan.count; i++)
                count += has(plan, &sc_layout_plan.fields[i]);
        return count;
}

bool sc_plan_map_is_empty(const struct sc_plan *plan)
{
        return !plan || field_count(plan) == 0;
}

/* ---- packing ------------------------------------------------------------------------------------ */

size_t sc_plan_map_bound(const struct sc_plan *plan)
{
        size_t bound = SC_PUT_HEAD_MAX + (size_t)sc_layout_plan.count * (1 + SC_PUT_NUMBER_MAX) + plan->needs.len +
                       plan->tag.len + plan->retry_on.len + plan->after.len + plan->key.len + plan->parent.len;
        for (uint32_t i = 0; i < plan->results.count; i++)
                bound += SC_PUT_HEAD_MAX + plan->results.at[i].len;
        return bound;
}

static uint8_t *put_blobs(uint8_t *at, const struct sc_field *f, const struct sc_views *blobs)
{
        SC_ASSERT(blobs->count <= f->max);
        at = sc_put_array(at, blobs->count);
        for (uint32_t i = 0; i < blobs->count; i++) {
                SC_ASSERT(blobs->at[i].len <= SC_RESULT_MAX);
                at = sc_put_bytes(at, blobs->at[i]);
        }
        return at;
}

static uint8_t *put_text(uint8_t *at, const struct sc_field *f, struct sc_view text)
{
        SC_ASSERT(text.len <= f->max);
        return f->type == SC_FIELD_TEXT ? sc_put_text(at, text) : sc_put_bytes(at, text);
}

uint8_t *sc_plan_map_put(uint8_t *at, const struct sc_plan *plan)
{
        at = sc_put_map(at, field_count(plan));
        for (size_t i = 0; i < sc_layout_plan.count; i++) {
                const struct sc_field *f = &sc_layout_plan.fields[i];
                if (!has(plan, f))
                        continue;
                *at++ = f->key;
                if (f->type == SC_FIELD_BLOBS)
                        at = put_blobs(at, f, &plan->results);
                else
                        at = is_view(f) ? put_text(at, f, load_text(f, plan)) : sc_put_uint(at, load_number(f, plan));
        }
        return at;
}

/* ---- unpacking ---------------------------------------------------------------------------------- */

static bool get_text(struct sc_cursor *c, const struct sc_field *f, struct sc_plan *plan)
{
        struct sc_view text;
        if (!(f->type == SC_FIELD_TEXT ? sc_get_text(c, &text) : sc_get_bytes(c, &text)))
                return false;
        if (text.len > f->max)
                return sc_get_fail(c, "a length is out of range");
        memcpy((uint8_t *)plan + f->offset, &text, sizeof(text));
        return true;
}

static bool get_number(struct sc_cursor *c, const struct sc_field *f, struct sc_plan *plan)
{
        uint64_t value;
        if (!sc_get_uint(c, &value))
                return false;
        if (f->type != SC_FIELD_U64 && value > f->max)
                return sc_get_fail(c, "a number is out of range");
        store_number(f, plan, value);
        return true;
}

/* Passed over, and read when there is room for the views. */
static bool get_span(struct sc_cursor *c, struct sc_view *span)
{
        const uint8_t *from = c->at;
        if (!sc_get_skip(c))
                return false;
        *span = (struct sc_view){ from, (size_t)(c->at - from) };
        return true;
}

static bool get_field(struct sc_cursor *c, uint8_t key, struct sc_plan *plan, struct sc_view *results)
{
        for (size_t i = 0; i < sc_layout_plan.count; i++) {
                const struct sc_field *f = &sc_layout_plan.fields[i];
                if (f->key != key)
                        continue;
                if (f->type == SC_FIELD_BLOBS)
                        return get_span(c, results);
                return is_view(f) ? get_text(c, f, plan) : get_number(c, f, plan);
        }
        return sc_get_skip(c);
}

bool sc_plan_map_get(struct sc_cursor *c, struct sc_plan *plan, struct sc_view *results)
{
        uint32_t       count;
        struct sc_keys keys = { 0, 0 };
        *plan               = (struct sc_plan){ .not_before_ms = 0 };
        *results            = (struct sc_view){ NULL, 0 };
        if (!sc_get_map(c, &count))
                return false;
        for (uint32_t i = 0; i < count; i++) {
                uint8_t key;
                if (!sc_get_key(c, &keys, &key) || !get_field(c, key, plan, results))
                        return false;
        }
        if (plan->after.len % 8 != 0)
                return sc_get_fail(c, "a list of dependencies is not made of whole ones");
        if (!sc_amounts_are_canonical(plan->needs))
                return sc_get_fail(c, sc_not_canonical);
        return sc_retry_on_is_good(plan->retry_on, NULL) ||
               sc_get_fail(c, "a list of failures to try again after is not one");
}

bool sc_plan_results_count(struct sc_cursor *c, uint32_t *count)
{
        if (!sc_get_array(c, count))
                return false;
        return *count <= SC_AFTER_MAX || sc_get_fail(c, "a plan has too many results");
}

bool sc_plan_results_get(struct sc_cursor *c, struct sc_view *out, uint32_t count)
{
        for (uint32_t i = 0; i < count; i++) {
                if (!sc_get_bytes(c, &out[i]))
                        return false;
                if (out[i].len > SC_RESULT_MAX)
                        return sc_get_fail(c, "a length is out of range");
        }
        return true;
}
