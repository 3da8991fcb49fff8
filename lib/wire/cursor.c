/*
 * The wide and the rare forms of msgpack.  Lengths and counts are compared with what is left before
 * they are believed; a skipped value is walked with a stack of fixed depth, never by recursion.
 */
#include "cursor.h"

static const char cut_short[]  = "a value is cut short";
static const char wrong_type[] = "a value has the wrong type";
static const char too_large[]  = "a number is out of range";

/* ---- sizes ------------------------------------------------------------------------------------- */

size_t sc_size_uint(uint64_t value)
{
        if (value < 0x80)
                return 1;
        if (value <= UINT8_MAX)
                return 2;
        if (value <= UINT16_MAX)
                return 3;
        return value <= UINT32_MAX ? 5 : 9;
}

size_t sc_size_count(uint32_t count)
{
        if (count < 16)
                return 1;
        return count <= UINT16_MAX ? 3 : 5;
}

size_t sc_size_bytes(size_t len)
{
        if (len <= UINT8_MAX)
                return 2 + len;
        return len <= UINT16_MAX ? 3 + len : 5 + len;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

/* `width` bytes, big endian, that the caller has found to be there. */
static uint64_t take_be(struct sc_cursor *c, size_t width)
{
        uint64_t value = 0;
        for (size_t i = 0; i < width; i++)
                value = value << 8 | c->at[i];
        c->at += width;
        return value;
}

/* The tag of the next value, which is there. */
static bool take_tag(struct sc_cursor *c, uint8_t *tag)
{
        if (c->at == c->end)
                return sc_get_fail(c, cut_short);
        *tag = *c->at++;
        return true;
}

/* A signed form (0xd0 to 0xd3) of `width` bytes, or a negative fixint. */
static int64_t extend(uint64_t value, size_t width)
{
        const uint64_t sign = UINT64_C(1) << (width * 8 - 1);
        return value < sign ? (int64_t)value : -(int64_t)(sign - 1 - (value - sign)) - 1;
}

/* Any integer but a fixint whose tag is taken: unsigned in *bits, or two's complement with *negative. */
static bool wide_number(struct sc_cursor *c, uint8_t tag, uint64_t *bits, bool *negative)
{
        if (tag < 0xcc || tag > 0xd3)
                return sc_get_fail(c, wrong_type);
        const bool   is_signed = tag >= 0xd0;
        const size_t width     = (size_t)1 << (tag & 3);
        if (sc_get_left(c) < width)
                return sc_get_fail(c, cut_short);
        uint64_t value = take_be(c, width);
        *negative      = is_signed && extend(value, width) < 0;
        *bits          = *negative ? (uint64_t)extend(value, width) : value;
        return true;
}

bool sc_get_uint_wide(struct sc_cursor *c, uint64_t *out)
{
        uint8_t tag;
        if (!take_tag(c, &tag))
                return false;
        if (tag < 0x80) {
                *out = tag;
                return true;
        }
        bool negative = tag >= 0xe0;
        if (!negative && !wide_number(c, tag, out, &negative))
                return false;
        return !negative || sc_get_fail(c, too_large);
}

bool sc_get_int32(struct sc_cursor *c, int32_t *out)
{
        uint8_t tag;
        if (!take_tag(c, &tag))
                return false;
        if (tag < 0x80 || tag >= 0xe0) {
                *out = tag < 0x80 ? tag : tag - 256;
                return true;
        }
        uint64_t bits;
        bool     negative;
        if (!wide_number(c, tag, &bits, &negative))
                return false;
        if (negative ? (int64_t)bits < INT32_MIN : bits > INT32_MAX)
                return sc_get_fail(c, too_large);
        *out = (int32_t)(int64_t)bits;
        return true;
}

bool sc_get_bool(struct sc_cursor *c, bool *out)
{
        uint8_t tag;
        if (!take_tag(c, &tag))
                return false;
        if (tag != 0xc2 && tag != 0xc3)
                return sc_get_fail(c, wrong_type);
        *out = tag == 0xc3;
        return true;
}

/* ---- counted things ---------------------------------------------------------------------------- */

/* A length of `width` bytes that follows its tag. */
static bool take_length(struct sc_cursor *c, size_t width, uint32_t *out)
{
        if (sc_get_left(c) < width)
                return sc_get_fail(c, cut_short);
        *out = (uint32_t)take_be(c, width);
        return true;
}

/* Elements of `each` bytes or more: a count that cannot be true is not believed. */
static bool take_count(struct sc_cursor *c, uint8_t fix, uint8_t wide, size_t each, uint32_t *count)
{
        uint8_t  tag;
        uint32_t n;
        if (!take_tag(c, &tag))
                return false;
        if ((tag & 0xf0) == fix)
                n = tag & 0x0f;
        else if (tag != wide && tag != wide + 1)
                return sc_get_fail(c, wrong_type);
        else if (!take_length(c, tag == wide ? 2 : 4, &n))
                return false;
        if (n > sc_get_left(c) / each)
                return sc_get_fail(c, cut_short);
        *count = n;
        return true;
}

bool sc_get_array(struct sc_cursor *c, uint32_t *count)
{
        return take_count(c, 0x90, 0xdc, 1, count);
}

bool sc_get_map(struct sc_cursor *c, uint32_t *count)
{
        return take_count(c, 0x80, 0xde, 2, count);
}

static bool take_view(struct sc_cursor *c, uint32_t len, struct sc_view *out)
{
        if (len > sc_get_left(c))
                return sc_get_fail(c, cut_short);
        *out = (struct sc_view){ .ptr = c->at, .len = len };
        c->at += len;
        return true;
}

/* Bytes behind a length of one, two or four bytes: tag8, tag8 + 1, tag8 + 2. */
static bool take_counted(struct sc_cursor *c, uint8_t tag, uint8_t tag8, struct sc_view *out)
{
        uint32_t len;
        if (tag < tag8 || tag > tag8 + 2)
                return sc_get_fail(c, wrong_type);
        return take_length(c, (size_t)1 << (tag - tag8), &len) && take_view(c, len, out);
}

bool sc_get_text(struct sc_cursor *c, struct sc_view *out)
{
        uint8_t tag;
        if (!take_tag(c, &tag))
                return false;
        if ((tag & 0xe0) == 0xa0)
                return take_view(c, tag & 0x1f, out);
        return take_counted(c, tag, 0xd9, out);
}

bool sc_get_bytes(struct sc_cursor *c, struct sc_view *out)
{
        uint8_t tag;
        return take_tag(c, &tag) && take_counted(c, tag, 0xc4, out);
}

/* ---- values that nobody reads ------------------------------------------------------------------ */

/* How a value with that tag goes on: a length of `width` bytes, `body` bytes, `inside` more values. */
struct form {
        uint8_t width;  /* bytes of a length field; 0: none */
        uint8_t body;   /* fixed bytes; with a length field: bytes beside those it counts */
        uint8_t nested; /* 1: the length counts elements; 2: pairs */
};

/* 0xc0 to 0xdf. */
static const struct form forms[32] = {
        [0x00] = { 0, 0, 0 },  [0x02] = { 0, 0, 0 }, [0x03] = { 0, 0, 0 },                       /* nil false true */
        [0x04] = { 1, 0, 0 },  [0x05] = { 2, 0, 0 }, [0x06] = { 4, 0, 0 },                       /* bin */
        [0x07] = { 1, 1, 0 },  [0x08] = { 2, 1, 0 }, [0x09] = { 4, 1, 0 },                       /* ext */
        [0x0a] = { 0, 4, 0 },  [0x0b] = { 0, 8, 0 },                                             /* float */
        [0x0c] = { 0, 1, 0 },  [0x0d] = { 0, 2, 0 }, [0x0e] = { 0, 4, 0 }, [0x0f] = { 0, 8, 0 }, /* uint */
        [0x10] = { 0, 1, 0 },  [0x11] = { 0, 2, 0 }, [0x12] = { 0, 4, 0 }, [0x13] = { 0, 8, 0 }, /* int */
        [0x14] = { 0, 2, 0 },  [0x15] = { 0, 3, 0 }, [0x16] = { 0, 5, 0 }, [0x17] = { 0, 9, 0 }, /* fixext */
        [0x18] = { 0, 17, 0 }, [0x19] = { 1, 0, 0 }, [0x1a] = { 2, 0, 0 }, [0x1b] = { 4, 0, 0 }, /* str */
        [0x1c] = { 2, 0, 1 },  [0x1d] = { 4, 0, 1 },                                             /* array */
        [0x1e] = { 2, 0, 2 },  [0x1f] = { 4, 0, 2 },                                             /* map */
};

/* Passes one value without what is nested in it, and tells how many values that is. */
static bool skip_one(struct sc_cursor *c, uint64_t *nested)
{
        uint8_t tag;
        *nested = 0;
        if (!take_tag(c, &tag))
                return false;
        if (tag < 0x80 || tag >= 0xe0)
                return true;
        if (tag < 0xa0) {
                *nested = (uint64_t)(tag & 0x0f) << (tag < 0x90); /* pairs count twice */
                return true;
        }
        struct sc_view skipped;
        if (tag < 0xc0)
                return take_view(c, tag & 0x1f, &skipped);
        if (tag == 0xc1)
                return sc_get_fail(c, "a value has a type that msgpack does not have");
        const struct form *form = &forms[tag & 0x1f];
        uint32_t           len  = 0;
        if (form->width > 0 && !take_length(c, form->width, &len))
                return false;
        if (form->nested > 0)
                *nested = (uint64_t)len * form->nested;
        else if (!take_view(c, len, &skipped))
                return false;
        return take_view(c, form->body, &skipped);
}

bool sc_get_skip(struct sc_cursor *c)
{
        uint64_t left[SC_SKIP_DEPTH + 1] = { 1 }; /* values still to come, per level */
        size_t   depth                   = 0;
        for (;;) {
                while (left[depth] == 0) {
                        if (depth == 0)
                                return true;
                        depth--;
                }
                left[depth]--;
                uint64_t nested;
                if (!skip_one(c, &nested))
                        return false;
                if (nested == 0)
                        continue;
                if (depth == SC_SKIP_DEPTH)
                        return sc_get_fail(c, "values are nested too deep");
                left[++depth] = nested;
        }
}
