/*
 * Named amounts: what a worker offers and what a task needs, "cpu=8,gpu=2,linux,mem=64G".  People's
 * form allows fractions of up to three digits and the suffixes K M G T P (powers of 1,024); the
 * canonical form, which travels and names ready queues, is sorted by name, each name once, amounts as whole
 * thousandths: "cpu=8000,gpu=2000,linux,mem=68719476736000".  A name without an amount is a capability: a need
 * for it is met by whoever offers the name, with or without an amount.
 */
#ifndef SC_AMOUNTS_H
#define SC_AMOUNTS_H

#include "msg.h"

struct sc_amount {
        struct sc_view name;        /* 1 .. 31 bytes of [A-Za-z0-9_.-], not starting with a digit; lent by the text */
        uint64_t       thousandths; /* 0: a capability; at most 2^53 */
};

enum { SC_AMOUNT_NAME_MAX = 31 };

/* People's form: 0 with *count amounts, sorted by name; SC_E_INVALID with a static sentence in *why. */
int sc_amounts_read(struct sc_view text, struct sc_amount out[SC_AMOUNTS_MAX], uint32_t *count, const char **why);
/* Writes the canonical form of sorted amounts and gives its length; SIZE_MAX: longer than SC_AMOUNTS_TEXT. */
size_t sc_amounts_write(const struct sc_amount *amounts, uint32_t count, char text[SC_AMOUNTS_TEXT + 1]);
/* The canonical form, from a peer: 0 or SC_E_PROTOCOL, unless it is canonical to the byte. */
int sc_amounts_parse(struct sc_view text, struct sc_amount out[SC_AMOUNTS_MAX], uint32_t *count);

#endif
