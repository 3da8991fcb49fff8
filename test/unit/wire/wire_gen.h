/*
 * Messages made up for tests, from the tables of lib/wire/fields.h: random ones, ones with every field
 * at its limit, ones with nothing but what is required.  What they point to lives in the generator.
 */
#ifndef WIRE_GEN_H
#define WIRE_GEN_H

#include "fields.h"
#include "sc_rng.h"

enum { GEN_HOLDS = SC_HOLDS_MAX, GEN_POOL = 1 << 20, GEN_PLANS = 64, GEN_RESULTS = 20 };

struct wire_plan {
        struct sc_plan plan;
        char           needs[SC_AMOUNTS_TEXT + 1], retry_on[SC_RETRY_ON_MAX + 1];
        struct sc_view results[GEN_RESULTS];
};

struct wire_gen {
        struct sc_rng  rng;
        uint8_t        pool[GEN_POOL];
        struct sc_view functions[SC_FUNCTIONS_MAX];
        struct sc_hold holds[GEN_HOLDS];
        char           offers[SC_AMOUNTS_TEXT + 1];
        struct wire_plan plans[GEN_PLANS]; /* of the last so many messages */
        uint32_t         next_plan;
};

struct wire_gen *wire_gen_create(uint64_t seed);
void             wire_gen_destroy(struct wire_gen *gen);

void wire_gen_random(struct wire_gen *gen, int kind, struct sc_msg *out);
void wire_gen_smallest(struct wire_gen *gen, int kind, struct sc_msg *out); /* required fields, each at its minimum */
void wire_gen_largest(struct wire_gen *gen, int kind, struct sc_msg *out);  /* every field at its maximum */

bool     wire_same(const struct sc_msg *a, const struct sc_msg *b);
uint64_t wire_number(const struct sc_field *f, const void *base); /* U8, U32, U64, I32 (sign-extended) or BOOL */
void     wire_set_number(const struct sc_field *f, void *base, uint64_t value);
const struct sc_plan *wire_plan(const struct sc_field *f, const void *base);
struct sc_view wire_view(const struct sc_field *f, const void *base);
void     wire_set_view(const struct sc_field *f, void *base, struct sc_view view);

/* Every kind there is: 0 at the end. */
extern const int wire_kinds[];

#endif
