/*
 * A digest of bytes that come in pieces: SipHash-2-4 with 128 bits (Aumasson, Bernstein 2012), the same on every
 * machine and in every process.  It tells apart what nobody forges on purpose; it is no secret, and no signature.
 */
#ifndef SC_DIGEST_H
#define SC_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "sc_id.h"

struct sc_digest {
        uint64_t v[4];
        uint64_t tail; /* bytes that do not make a word yet */
        uint64_t len;
};

void         sc_digest_init(struct sc_digest *d, struct sc_id key);
void         sc_digest_add(struct sc_digest *d, const void *bytes, size_t len);
void         sc_digest_number(struct sc_digest *d, uint64_t number); /* as its eight bytes, the least first */
/* With its length before it: then what follows cannot be taken for a part of it. */
void         sc_digest_text(struct sc_digest *d, const void *bytes, size_t len);
struct sc_id sc_digest_end(const struct sc_digest *d); /* of what was added so far; more may follow */

#endif
