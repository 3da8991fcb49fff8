/*
 * The frame header, byte by byte, so that it is the same on every machine.  sc_frame_get refuses
 * whatever no well-behaved peer can send, before anybody allocates for it.
 */
#include "frame.h"

#include "msg.h"
#include "sc_status.h"

enum { RECORD_MIN = 3 }; /* [kind, {}] */

static void put16(uint8_t *at, uint32_t value)
{
        at[0] = (uint8_t)value;
        at[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *at, uint32_t value)
{
        put16(at, value);
        put16(at + 2, value >> 16);
}

static uint32_t get16(const uint8_t *at)
{
        return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t get32(const uint8_t *at)
{
        return get16(at) | get16(at + 2) << 16;
}

void sc_frame_put(const struct sc_frame_head *head, uint8_t out[SC_FRAME_HEAD])
{
        put32(out, head->length);
        out[4] = head->type;
        out[5] = head->flags;
        put16(out + 6, head->count);
        put32(out + 8, head->seq);
        put32(out + 12, head->ack);
        put32(out + 16, head->grant_tasks);
        put32(out + 20, head->grant_kib);
}

/* NULL, or what is wrong with a header as such. */
static const char *complaint(const struct sc_frame_head *head)
{
        if (head->length < SC_FRAME_HEAD)
                return "the frame is shorter than its header";
        if (head->length > SC_FRAME_MAX)
                return "the frame is longer than allowed";
        if (head->type < SC_FRAME_HELLO || head->type > SC_FRAME_PING)
                return "the type of the frame is unknown";
        if (head->flags != 0)
                return "the frame has unknown flags";
        if (head->type == SC_FRAME_HELLO && head->count != 1)
                return "a hello frame holds one record";
        if (head->type == SC_FRAME_PING && head->count != 0)
                return "a ping holds no records";
        if (head->count == 0 && head->length != SC_FRAME_HEAD)
                return "the frame has bytes but no records";
        if ((uint32_t)head->count * RECORD_MIN > head->length - SC_FRAME_HEAD)
                return "the frame is too short for its records";
        return NULL;
}

int sc_frame_get(const uint8_t in[SC_FRAME_HEAD], struct sc_frame_head *out, const char **why)
{
        const struct sc_frame_head head  = { .length      = get32(in),
                                             .type        = in[4],
                                             .flags       = in[5],
                                             .count       = (uint16_t)get16(in + 6),
                                             .seq         = get32(in + 8),
                                             .ack         = get32(in + 12),
                                             .grant_tasks = get32(in + 16),
                                             .grant_kib   = get32(in + 20) };
        const char                *wrong = complaint(&head);
        if (wrong) {
                *why = wrong;
                return SC_E_PROTOCOL;
        }
        *out = head;
        return 0;
}

uint32_t sc_frame_length(const uint8_t *bytes, size_t len)
{
        return len < 4 ? 0 : get32(bytes);
}
