/*
 * 128-bit identifiers.  A task's id is its client's 64-bit id (hi) and that client's sequence
 * number (lo), so it is minted without asking anybody.  Zero in both is nil.
 */
#ifndef SC_ID_H
#define SC_ID_H

#include <stdbool.h>
#include <stdint.h>

struct sc_id {
        uint64_t hi, lo;
};

static inline bool sc_id_equal(struct sc_id a, struct sc_id b)
{
        return a.hi == b.hi && a.lo == b.lo;
}

static inline bool sc_id_is_nil(struct sc_id id)
{
        return id.hi == 0 && id.lo == 0;
}

/* A well mixed 64-bit hash (the finalizer of splitmix64 over both halves). */
static inline uint64_t sc_id_hash(struct sc_id id)
{
        uint64_t x = id.hi * UINT64_C(0x9e3779b97f4a7c15) ^ id.lo;
        x          = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x          = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        return x ^ (x >> 31);
}

#define SC_ID_TEXT 33 /* 32 hexadecimal digits and the end */
void sc_id_format(struct sc_id id, char text[SC_ID_TEXT]);
bool sc_id_parse(const char *text, struct sc_id *out); /* exactly 32 hexadecimal digits */

#endif
