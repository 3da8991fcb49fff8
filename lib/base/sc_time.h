/*
 * Time as signed nanoseconds.  The origin is the clock's own; only differences and order
 * mean anything.  SC_NEVER is later than every time, and additions saturate at it.
 */
#ifndef SC_TIME_H
#define SC_TIME_H

#include <stdint.h>

typedef int64_t sc_ns;

#define SC_NEVER INT64_MAX
#define SC_US    INT64_C(1000)
#define SC_MS    INT64_C(1000000)
#define SC_S     INT64_C(1000000000)

/* a + b for b >= 0; SC_NEVER when either is SC_NEVER or the sum does not fit. */
static inline sc_ns sc_ns_add(sc_ns a, sc_ns b)
{
        return b >= SC_NEVER - (a > 0 ? a : 0) ? SC_NEVER : a + b;
}

static inline sc_ns sc_ns_min(sc_ns a, sc_ns b)
{
        return a < b ? a : b;
}

static inline sc_ns sc_ns_max(sc_ns a, sc_ns b)
{
        return a > b ? a : b;
}

/* Milliseconds as the public header has them: negative means for ever. */
static inline sc_ns sc_ns_from_ms(int64_t ms)
{
        return ms < 0 || ms >= SC_NEVER / SC_MS ? SC_NEVER : ms * SC_MS;
}

#endif
