/*
 * The frame: 24 bytes, little endian, then `count` msgpack records (doc/protocol.md).
 *
 *     u32 length   bytes of the whole frame, header included: 24 .. SC_FRAME_MAX
 *     u8  type     enum sc_frame_type
 *     u8  flags    0; a receiver refuses bits it does not know
 *     u16 count    records that follow
 *     u32 seq      counts the frames of this direction from 1, modulo 2^32; the hello is 1
 *     u32 ack      highest seq whose records the sender of this frame has stepped; 0: none yet
 *     u32 grant_tasks, grant_kib   limits for the receiver, each the latest word, not a difference
 */
#ifndef SC_FRAME_H
#define SC_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum { SC_FRAME_HEAD = 24 };

enum sc_frame_type {
        SC_FRAME_HELLO = 1, /* one record: HELLO or WELCOME (or BYE, when refused) */
        SC_FRAME_DATA  = 2, /* 0 or more records; none: a bare ack or a sign of life */
        SC_FRAME_PING  = 3  /* no records; the receiver answers with any frame before its turn ends */
};

struct sc_frame_head {
        uint32_t length;
        uint8_t  type, flags;
        uint16_t count;
        uint32_t seq, ack, grant_tasks, grant_kib;
};

void sc_frame_put(const struct sc_frame_head *head, uint8_t out[SC_FRAME_HEAD]);
/* 0, or SC_E_PROTOCOL with a static sentence in *why: length or type or flags out of bounds. */
int  sc_frame_get(const uint8_t in[SC_FRAME_HEAD], struct sc_frame_head *out, const char **why);
/* Bytes of the frame that starts here: 0 when fewer than 4 bytes are there, else its length, unchecked. */
uint32_t sc_frame_length(const uint8_t *bytes, size_t len);

#endif
