/*
 * msgpack by hand.  Writing goes to room that the caller has reserved and always takes the shortest
 * form.  Reading takes every form of a number or length that msgpack knows, never looks past `end`,
 * and on the first failure leaves a static sentence in `why`.  What is small and frequent is inline.
 */
#ifndef SC_CURSOR_H
#define SC_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "msg.h"

enum {
        SC_PUT_NUMBER_MAX = 9,  /* bytes of the longest number */
        SC_PUT_HEAD_MAX   = 5,  /* bytes of the longest head of a string, array or map */
        SC_SKIP_DEPTH     = 16  /* nested arrays and maps in a value that is skipped */
};

/* ---- writing: each gives where the next byte goes ---------------------------------------------- */

static inline uint8_t *sc_put_be16(uint8_t *at, uint32_t value)
{
        at[0] = (uint8_t)(value >> 8);
        at[1] = (uint8_t)value;
        return at + 2;
}

static inline uint8_t *sc_put_be32(uint8_t *at, uint32_t value)
{
        at[0] = (uint8_t)(value >> 24);
        at[1] = (uint8_t)(value >> 16);
        at[2] = (uint8_t)(value >> 8);
        at[3] = (uint8_t)value;
        return at + 4;
}

static inline uint8_t *sc_put_uint(uint8_t *at, uint64_t value)
{
        if (value < 0x80) {
                *at = (uint8_t)value;
                return at + 1;
        }
        if (value > UINT32_MAX) {
                *at = 0xcf;
                return sc_put_be32(sc_put_be32(at + 1, (uint32_t)(value >> 32)), (uint32_t)value);
        }
        if (value > UINT16_MAX) {
                *at = 0xce;
                return sc_put_be32(at + 1, (uint32_t)value);
        }
        if (value > UINT8_MAX) {
                *at = 0xcd;
                return sc_put_be16(at + 1, (uint32_t)value);
        }
        at[0] = 0xcc;
        at[1] = (uint8_t)value;
        return at + 2;
}

static inline uint8_t *sc_put_int32(uint8_t *at, int32_t value)
{
        if (value >= 0)
                return sc_put_uint(at, (uint64_t)value);
        if (value >= -32) {
                *at = (uint8_t)value;
                return at + 1;
        }
        if (value >= INT8_MIN) {
                at[0] = 0xd0;
                at[1] = (uint8_t)value;
                return at + 2;
        }
        if (value >= INT16_MIN) {
                *at = 0xd1;
                return sc_put_be16(at + 1, (uint32_t)value);
        }
        *at = 0xd2;
        return sc_put_be32(at + 1, (uint32_t)value);
}

static inline uint8_t *sc_put_true(uint8_t *at)
{
        *at = 0xc3;
        return at + 1;
}

static inline uint8_t *sc_put_nil(uint8_t *at)
{
        *at = 0xc0;
        return at + 1;
}

/* The head of `count` elements or pairs: `fix` with the count in its low four bits, else wide, wide + 1. */
static inline uint8_t *sc_put_count(uint8_t *at, uint8_t fix, uint8_t wide, uint32_t count)
{
        if (count < 16) {
                *at = (uint8_t)(fix | count);
                return at + 1;
        }
        if (count <= UINT16_MAX) {
                *at = wide;
                return sc_put_be16(at + 1, count);
        }
        *at = (uint8_t)(wide + 1);
        return sc_put_be32(at + 1, count);
}

static inline uint8_t *sc_put_array(uint8_t *at, uint32_t count)
{
        return sc_put_count(at, 0x90, 0xdc, count);
}

static inline uint8_t *sc_put_map(uint8_t *at, uint32_t count)
{
        return sc_put_count(at, 0x80, 0xde, count);
}

static inline uint8_t *sc_put_counted(uint8_t *at, uint8_t tag8, struct sc_view view)
{
        if (view.len <= UINT8_MAX) {
                at[0] = tag8;
                at[1] = (uint8_t)view.len;
                at += 2;
        } else if (view.len <= UINT16_MAX) {
                *at = (uint8_t)(tag8 + 1);
                at  = sc_put_be16(at + 1, (uint32_t)view.len);
        } else {
                *at = (uint8_t)(tag8 + 2);
                at  = sc_put_be32(at + 1, (uint32_t)view.len);
        }
        if (view.len > 0)
                memcpy(at, view.ptr, view.len);
        return at + view.len;
}

static inline uint8_t *sc_put_bytes(uint8_t *at, struct sc_view view)
{
        return sc_put_counted(at, 0xc4, view);
}

static inline uint8_t *sc_put_text(uint8_t *at, struct sc_view view)
{
        if (view.len >= 32)
                return sc_put_counted(at, 0xd9, view);
        *at = (uint8_t)(0xa0 | view.len);
        if (view.len > 0)
                memcpy(at + 1, view.ptr, view.len);
        return at + 1 + view.len;
}

/* How many bytes those write. */
size_t sc_size_uint(uint64_t value);
size_t sc_size_count(uint32_t count);
size_t sc_size_bytes(size_t len);

/* ---- reading: false with `why` set, and nothing more may be read -------------------------------- */

struct sc_cursor {
        const uint8_t *at, *end;
        const char    *why;
};

static inline bool sc_get_fail(struct sc_cursor *c, const char *why)
{
        c->why = why;
        return false;
}

static inline size_t sc_get_left(const struct sc_cursor *c)
{
        return (size_t)(c->end - c->at);
}

bool sc_get_uint_wide(struct sc_cursor *c, uint64_t *out);
bool sc_get_int32(struct sc_cursor *c, int32_t *out);
bool sc_get_bool(struct sc_cursor *c, bool *out);
bool sc_get_array(struct sc_cursor *c, uint32_t *count);
bool sc_get_map(struct sc_cursor *c, uint32_t *count);
bool sc_get_text(struct sc_cursor *c, struct sc_view *out);
bool sc_get_bytes(struct sc_cursor *c, struct sc_view *out);
/* Passes over one value of any type. */
bool sc_get_skip(struct sc_cursor *c);

/* Takes a nil if there is one next; nothing has failed if not. */
static inline bool sc_get_nil(struct sc_cursor *c)
{
        if (c->at == c->end || *c->at != 0xc0)
                return false;
        c->at++;
        return true;
}

static inline uint32_t sc_be32(const uint8_t *at)
{
        return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The forms that a packer writes, as long as they do not end the bytes; the rest goes the long way. */
static inline bool sc_get_uint(struct sc_cursor *c, uint64_t *out)
{
        const uint8_t *at = c->at;
        if (at < c->end && *at < 0x80) {
                *out  = *at;
                c->at = at + 1;
                return true;
        }
        if (sc_get_left(c) < 1 + 8)
                return sc_get_uint_wide(c, out);
        if (*at == 0xcf) {
                *out  = (uint64_t)sc_be32(at + 1) << 32 | sc_be32(at + 5);
                c->at = at + 9;
                return true;
        }
        if (*at == 0xce) {
                *out  = sc_be32(at + 1);
                c->at = at + 5;
                return true;
        }
        if (*at == 0xcd) {
                *out  = (uint64_t)at[1] << 8 | at[2];
                c->at = at + 3;
                return true;
        }
        return sc_get_uint_wide(c, out);
}

/* The keys of one map: small numbers from 1, each at most once, in any order. */
enum { SC_KEY_MAX = 127 };
struct sc_keys {
        uint64_t low, high; /* bit sets: 1 to 63, 64 to 127 */
};
static inline bool sc_get_key(struct sc_cursor *c, struct sc_keys *keys, uint8_t *out)
{
        uint64_t key;
        if (!sc_get_uint(c, &key))
                return false;
        if (key == 0 || key > SC_KEY_MAX)
                return sc_get_fail(c, "a key is not a number from 1 to 127");
        const uint64_t low = key < 64 ? UINT64_C(1) << key : 0, high = key < 64 ? 0 : UINT64_C(1) << (key - 64);
        if ((keys->low & low) | (keys->high & high))
                return sc_get_fail(c, "a key comes twice");
        keys->low |= low;
        keys->high |= high;
        *out = (uint8_t)key;
        return true;
}

#endif
