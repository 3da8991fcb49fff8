/*
 * Dependencies as they travel: eight bytes each, little endian, a sequence with SC_AFTER_* in its highest bits.
 */
#ifndef SC_AFTER_H
#define SC_AFTER_H

#include "msg.h"

static inline uint32_t sc_after_count(struct sc_view after)
{
        return (uint32_t)(after.len / 8);
}

static inline uint64_t sc_after_get(struct sc_view after, uint32_t index)
{
        const uint8_t *at    = (const uint8_t *)after.ptr + 8 * (size_t)index;
        uint64_t       value = 0;
        for (int i = 8; i-- > 0;)
                value = value << 8 | at[i];
        return value;
}

static inline void sc_after_put(uint8_t *after, uint32_t index, uint64_t entry)
{
        uint8_t *at = after + 8 * (size_t)index;
        for (int i = 0; i < 8; i++)
                at[i] = (uint8_t)(entry >> (8 * i));
}

#endif
