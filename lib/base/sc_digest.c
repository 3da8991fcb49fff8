/*
 * SipHash-2-4-128: words of eight bytes, the least byte first; the last one carries the length.
 */
#include "sc_digest.h"

static uint64_t rotated(uint64_t x, unsigned bits)
{
        return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned count)
{
        while (count-- > 0) {
                v[0] += v[1];
                v[2] += v[3];
                v[1] = rotated(v[1], 13) ^ v[0];
                v[3] = rotated(v[3], 16) ^ v[2];
                v[0] = rotated(v[0], 32);
                v[2] += v[1];
                v[0] += v[3];
                v[1] = rotated(v[1], 17) ^ v[2];
                v[3] = rotated(v[3], 21) ^ v[0];
                v[2] = rotated(v[2], 32);
        }
}

static void word(uint64_t v[4], uint64_t w)
{
        v[3] ^= w;
        rounds(v, 2);
        v[0] ^= w;
}

void sc_digest_init(struct sc_digest *d, struct sc_id key)
{
        *d = (struct sc_digest){
                .v = { key.hi ^ UINT64_C(0x736f6d6570736575), key.lo ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                       key.hi ^ UINT64_C(0x6c7967656e657261), key.lo ^ UINT64_C(0x7465646279746573) },
        };
}

static uint64_t load(const uint8_t *at)
{
        uint64_t w = 0;
        for (unsigned i = 0; i < 8; i++)
                w |= (uint64_t)at[i] << 8 * i;
        return w;
}

static void byte(struct sc_digest *d, uint8_t b)
{
        const unsigned at = (unsigned)(d->len++ % 8);
        d->tail |= (uint64_t)b << 8 * at;
        if (at < 7)
                return;
        word(d->v, d->tail);
        d->tail = 0;
}

void sc_digest_add(struct sc_digest *d, const void *bytes, size_t len)
{
        const uint8_t *at = bytes, *const end = at + len;
        while (at < end && d->len % 8 != 0)
                byte(d, *at++);
        for (; end - at >= 8; at += 8, d->len += 8)
                word(d->v, load(at));
        while (at < end)
                byte(d, *at++);
}

void sc_digest_number(struct sc_digest *d, uint64_t number)
{
        uint8_t bytes[8];
        for (unsigned i = 0; i < 8; i++)
                bytes[i] = (uint8_t)(number >> 8 * i);
        sc_digest_add(d, bytes, sizeof bytes);
}

void sc_digest_text(struct sc_digest *d, const void *bytes, size_t len)
{
        sc_digest_number(d, len);
        if (len > 0)
                sc_digest_add(d, bytes, len);
}

struct sc_id sc_digest_end(const struct sc_digest *d)
{
        uint64_t     v[4] = { d->v[0], d->v[1], d->v[2], d->v[3] };
        struct sc_id out;
        word(v, d->tail | d->len << 56);
        v[2] ^= 0xee;
        rounds(v, 4);
        out.hi = v[0] ^ v[1] ^ v[2] ^ v[3];
        v[1] ^= 0xdd;
        rounds(v, 4);
        out.lo = v[0] ^ v[1] ^ v[2] ^ v[3];
        return out;
}
