/*
 * Seeded pseudo-random numbers (splitmix64: Steele, Lea, Flood, OOPSLA 2014).  Not for secrets.
 */
#ifndef SC_RNG_H
#define SC_RNG_H

#include <stdint.h>

struct sc_rng {
        uint64_t state;
};

static inline uint64_t sc_rng_next(struct sc_rng *rng)
{
        uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
        z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

/* 0 .. bound - 1; bound > 0.  The bias is below bound / 2^64. */
static inline uint64_t sc_rng_below(struct sc_rng *rng, uint64_t bound)
{
        return sc_rng_next(rng) % bound;
}

#endif
