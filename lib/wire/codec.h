/*
 * Messages to msgpack records and back.  A record is [kind, {key: value ...}] with small integer
 * keys; unknown keys are skipped; an unknown kind below 128 is refused, one from 128 is skipped.
 * Unpacking gives the whole message or nothing; every length and number is bounded by msg.h, amounts are
 * canonical and lists of failures are lists.
 */
#ifndef SC_CODEC_H
#define SC_CODEC_H

#include "msg.h"

struct sc_buf;
struct sc_mem;

/* Appends one record, all of it or nothing: 0, SC_E_NOMEM, or SC_E_TOO_BIG when the bound below passes the buffer's
 * maximum.  Asserts that the message keeps the limits of msg.h and has its required fields. */
int sc_codec_pack(struct sc_buf *buf, const struct sc_msg *msg);

/* An upper bound of what sc_codec_pack would append. */
size_t sc_codec_bound(const struct sc_msg *msg);

/* Where lives what an unpacked message points to: functions and holds of a HELLO, the plan of a SUBMIT or ASSIGN.  It
 * is good until the next record is unpacked; views stay in the frame. */
struct sc_codec_arena {
        struct sc_mem  *mem;
        struct sc_view *functions;
        struct sc_hold *holds;
        uint32_t        functions_cap, holds_cap;
        struct sc_plan  plan;
        struct sc_view *results; /* of the plan */
        uint32_t        results_cap;
};
void sc_codec_arena_init(struct sc_codec_arena *arena, struct sc_mem *mem);
void sc_codec_arena_fini(struct sc_codec_arena *arena);

/* Takes the next known record at *cursor (0 at first) of `len` bytes: 1 with *out filled and *cursor past it; 0 when a
 * record of an optional unknown kind was skipped; SC_E_PROTOCOL or SC_E_NOMEM with a static sentence in *why. */
int sc_codec_unpack(const uint8_t *bytes, size_t len, size_t *cursor, struct sc_codec_arena *arena, struct sc_msg *out,
                    const char **why);

#endif
