/*
 * Two or more stations over a net of lists: what is sent waits until the test carries it over.  A test
 * says what time it is and reads what the roles were told from a log.
 */
#ifndef TEST_STATION_KIT_H
#define TEST_STATION_KIT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "fail_mem.h"
#include "frame.h"
#include "run_tests.h"
#include "sc_buf.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "station.h"

enum { KIT_SENDS = 4096, KIT_ENDS = 1024 };

struct kit_end { /* one end of a connection */
        struct sc_conn   base;
        struct kit_end  *other;
        struct kit_side *side;
        void            *user;
        bool             busy, closed, up;
        bool             dropping;        /* what it sends vanishes */
        uint8_t         *sent[KIT_SENDS]; /* what the net took from this end and has not carried over */
        size_t           sent_len[KIT_SENDS];
        uint32_t         first, count;
};

struct kit_side { /* a station with its net and what its role was told */
        struct sc_net          net;
        struct sc_station_door door;
        struct sc_station     *station;
        struct sc_mem         *mem;
        sc_ns                  now;
        uint64_t               ticket, dials, id;
        sc_link_id             link; /* up last */
        uint32_t               ups, downs, messages, acked, grants, notes, refusals;
        int                    note_level; /* of the last one */
        uint32_t               tasks, kib;
        int                    status;
        char                   why[SC_TEXT_MAX + 1];
        char                   log[512]; /* a letter for each upcall, in order */
        uint32_t               version_max;
        uint8_t                role;
};

static struct kit_end kit_ends[KIT_ENDS];
static uint32_t       kit_end_count;

static inline void kit_log(struct kit_side *side, char letter)
{
        const size_t len = strlen(side->log);
        if (len + 1 < sizeof side->log) {
                side->log[len]     = letter;
                side->log[len + 1] = '\0';
        }
}

/* ---- the net ------------------------------------------------------------------------------------- */

static inline struct kit_end *kit_of(struct sc_conn *conn)
{
        return (struct kit_end *)(void *)conn;
}

static void kit_send(struct sc_conn *conn, struct sc_buf *frames)
{
        struct kit_end *end = kit_of(conn);
        ck_assert(!end->busy && !end->closed);
        ck_assert_uint_lt(end->count, KIT_SENDS);
        end->busy         = true;
        const uint32_t at = (end->first + end->count++) % KIT_SENDS;
        end->sent[at]     = malloc(frames->len);
        end->sent_len[at] = frames->len;
        memcpy(end->sent[at], frames->data, frames->len);
        sc_buf_reset(frames);
}

static void kit_close(struct sc_conn *conn)
{
        kit_of(conn)->closed = true;
}

static void kit_close_after(struct sc_conn *conn, sc_ns linger)
{
        (void)linger;
        kit_of(conn)->closed = true;
}

static int kit_dial(struct sc_net *net, const char *url, uint64_t ticket, struct sc_why *why)
{
        struct kit_side *side = (struct kit_side *)(void *)net;
        (void)url;
        (void)why;
        side->ticket = ticket;
        side->dials++;
        return 0;
}

static void kit_dial_cancel(struct sc_net *net, uint64_t ticket)
{
        struct kit_side *side = (struct kit_side *)(void *)net;
        if (side->ticket == ticket)
                side->ticket = 0;
}

static const struct sc_net_ops kit_ops = {
        .send        = kit_send,
        .close       = kit_close,
        .close_after = kit_close_after,
        .dial        = kit_dial,
        .dial_cancel = kit_dial_cancel,
};

/* ---- the role -------------------------------------------------------------------------------------- */

static void kit_greet(void *role, struct sc_hello *out, uint32_t *tasks, uint32_t *kib)
{
        struct kit_side *side = role;
        *out                  = (struct sc_hello){ .version_min = side->version_max,
                                                   .version_max = side->version_max,
                                                   .role        = side->role,
                                                   .id          = side->id,
                                                   .incarnation = side->dials };
        if (side->role == SC_ROLE_WORKER)
                out->slots = out->free_slots = 1;
        *tasks = 3;
        *kib   = 4;
}

static void kit_up(void *role, sc_link_id link, const struct sc_msg *hello, uint32_t tasks, uint32_t kib)
{
        struct kit_side *side = role;
        side->ups++;
        side->link  = link;
        side->tasks = tasks;
        side->kib   = kib;
        kit_log(side, 'u');
        if (hello->kind != SC_MSG_HELLO)
                return;
        const struct sc_msg welcome = { .kind    = SC_MSG_WELCOME,
                                        .welcome = { .version = 1, .id = 1, .epoch = 1, .silent_ms = 8000 } };
        sc_station_grant(side->station, link, 10, 20);
        sc_station_send(side->station, link, &welcome);
}

static void kit_message(void *role, sc_link_id link, const struct sc_msg *msg)
{
        struct kit_side *side = role;
        (void)link;
        (void)msg;
        side->messages++;
        kit_log(side, 'm');
}

static void kit_acked(void *role, sc_link_id link, uint32_t count)
{
        struct kit_side *side = role;
        (void)link;
        side->acked += count;
        kit_log(side, 'a');
}

static void kit_grant(void *role, sc_link_id link, uint32_t tasks, uint32_t kib)
{
        struct kit_side *side = role;
        (void)link;
        side->grants++;
        side->tasks = tasks;
        side->kib   = kib;
        kit_log(side, 'g');
}

static void kit_down(void *role, sc_link_id link, int status, const char *why)
{
        struct kit_side *side = role;
        if (link == side->link)
                side->link = 0;
        side->downs++;
        side->status = status;
        snprintf(side->why, sizeof side->why, "%s", why);
        kit_log(side, 'd');
}

static void kit_note(void *role, int level, const char *line)
{
        struct kit_side *side = role;
        (void)line;
        side->note_level = level;
        side->notes++;
}

static void kit_refused(void *role, int status, const char *why)
{
        struct kit_side *side = role;
        side->refusals++;
        side->status = status;
        snprintf(side->why, sizeof side->why, "%s", why);
}

static const struct sc_station_upcalls kit_upcalls = {
        .greet   = kit_greet,
        .up      = kit_up,
        .message = kit_message,
        .acked   = kit_acked,
        .grant   = kit_grant,
        .down    = kit_down,
        .note    = kit_note,
        .refused = kit_refused,
};

/* ---- what a test does --------------------------------------------------------------------------------- */

static inline bool kit_init(struct kit_side *side, struct sc_mem *mem, enum sc_role self, uint64_t id)
{
        memset(side, 0, sizeof *side);
        side->mem         = mem;
        side->id          = id;
        side->version_max = 1;
        side->role        = (uint8_t)self;
        side->now         = 1000 * SC_S;
        side->net = (struct sc_net){ .ops = &kit_ops, .upcalls = sc_station_door_upcalls(), .ctx = &side->door };
        const struct sc_station_options options = { .mem        = mem,
                                                    .upcalls    = &kit_upcalls,
                                                    .role       = side,
                                                    .self       = self,
                                                    .seed       = id,
                                                    .peers_max  = 40,
                                                    .hellos_max = 8 };
        if (sc_station_create(&options, &side->station) != 0)
                return false;
        side->door = (struct sc_station_door){ .station = side->station, .net = &side->net };
        sc_station_begin(side->station, side->now, 0);
        return true;
}

static inline void kit_fini(struct kit_side *side)
{
        sc_station_destroy(side->station);
        side->station = NULL;
}

static inline void kit_forget_ends(void)
{
        for (uint32_t i = 0; i < kit_end_count; i++)
                for (struct kit_end *end = &kit_ends[i]; end->count > 0; end->count--) {
                        free(end->sent[end->first]);
                        end->first = (end->first + 1) % KIT_SENDS;
                }
        memset(kit_ends, 0, kit_end_count * sizeof *kit_ends);
        kit_end_count = 0;
}

static inline struct kit_end *kit_add_end(struct kit_side *side)
{
        ck_assert_uint_lt(kit_end_count, KIT_ENDS);
        struct kit_end *end = &kit_ends[kit_end_count++];
        end->side           = side;
        end->base.net       = side != NULL ? &side->net : NULL;
        return end;
}

static inline bool kit_tell_up(struct kit_end *end, bool dialled)
{
        static struct sc_listener listener;
        struct kit_side          *side = end->side;
        end->user                      = side->net.upcalls->up(side->net.ctx, &end->base, dialled ? NULL : &listener,
                                          dialled ? side->ticket : 0);
        end->up                        = end->user != NULL;
        if (dialled)
                side->ticket = 0;
        if (!end->up)
                end->closed = true;
        return end->up;
}

/* Connects the dial that `near` has going on; the far end is `far`'s, or the test's own when NULL. */
static inline struct kit_end *kit_connect(struct kit_side *near, struct kit_side *far)
{
        struct kit_end *a = kit_add_end(near), *b = kit_add_end(far);
        a->other = b;
        b->other = a;
        if (far != NULL)
                kit_tell_up(b, false);
        kit_tell_up(a, true);
        return a;
}

/* Somebody that is no station connects to `far`: its end is the test's. */
static inline struct kit_end *kit_visit(struct kit_side *far)
{
        struct kit_end *a = kit_add_end(NULL), *b = kit_add_end(far);
        a->other = b;
        b->other = a;
        kit_tell_up(b, false);
        return a;
}

static inline void kit_turn(struct kit_side *side)
{
        sc_station_begin(side->station, side->now, 0);
        if (sc_station_deadline(side->station) <= side->now)
                sc_station_tick(side->station, side->now);
        sc_station_flush(side->station, side->now);
}

static inline void kit_give(struct kit_end *to, const uint8_t *bytes, size_t len)
{
        struct kit_side *side = to->side;
        if (to->closed || !to->up)
                return;
        sc_station_begin(side->station, side->now, 0);
        side->net.upcalls->frame(side->net.ctx, to->user, bytes, len);
}

/* Carries one send over; false: none waits. */
static inline bool kit_carry(struct kit_end *from)
{
        if (from->count == 0)
                return false;
        uint8_t     *bytes = from->sent[from->first];
        const size_t len   = from->sent_len[from->first];
        from->first        = (from->first + 1) % KIT_SENDS;
        from->count--;
        if (from->side != NULL) {
                from->busy = false;
                if (!from->closed)
                        from->side->net.upcalls->writable(from->side->net.ctx, from->user);
        }
        if (from->other->side != NULL && !from->dropping)
                kit_give(from->other, bytes, len);
        free(bytes);
        return true;
}

/* Until nothing waits to leave anywhere. */
static inline void kit_settle(struct kit_side *a, struct kit_side *b)
{
        for (bool more = true; more;) {
                more = false;
                kit_turn(a);
                kit_turn(b);
                for (uint32_t i = 0; i < kit_end_count; i++)
                        more = (kit_ends[i].side != NULL && kit_carry(&kit_ends[i])) || more;
        }
}

static inline void kit_tell_down_so(struct kit_end *end, int status, const char *why)
{
        struct kit_side *side = end->side;
        if (end->closed)
                return;
        end->closed = true;
        side->net.upcalls->down(side->net.ctx, end->user, status, why);
}

static inline void kit_tell_down(struct kit_end *end)
{
        kit_tell_down_so(end, SC_E_UNREACHABLE, "it broke");
}

/* A frame of the test's own making. */
static inline size_t kit_frame(uint8_t *out, size_t max, uint8_t type, uint32_t seq, uint32_t ack,
                               const struct sc_msg *msg, uint16_t count)
{
        struct sc_mem mem;
        struct sc_buf buf;
        sc_mem_init_libc(&mem);
        sc_buf_init(&buf, &mem, max);
        static const uint8_t room[SC_FRAME_HEAD];
        ck_assert(sc_buf_add(&buf, room, sizeof room));
        for (uint16_t i = 0; i < count; i++)
                ck_assert_int_eq(sc_codec_pack(&buf, msg), 0);
        const struct sc_frame_head head = {
                .length = (uint32_t)buf.len, .type = type, .count = count, .seq = seq, .ack = ack
        };
        sc_frame_put(&head, buf.data);
        memcpy(out, buf.data, buf.len);
        const size_t len = buf.len;
        sc_buf_fini(&buf);
        return len;
}

static inline struct sc_frame_head kit_head(const struct kit_end *end, uint32_t n)
{
        struct sc_frame_head head;
        const char          *why;
        ck_assert_uint_lt(n, end->count);
        ck_assert_int_eq(sc_frame_get(end->sent[(end->first + n) % KIT_SENDS], &head, &why), 0);
        return head;
}

#endif
