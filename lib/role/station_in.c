/*
 * A frame comes in: its place in the sequence, what it confirms, its grants, then its records, each of
 * which must be one that the other side's role may send.  Nonsense ends the link with words for the peer
 * and a line for our log; nothing a peer sends can end more than its own link.
 */
#include <stdio.h>
#include <string.h>

#include "station_impl.h"

static bool alive(const struct sc_peer *peer)
{
        return peer->state == SC_PEER_GREETING || peer->state == SC_PEER_UP;
}

/* The scheduler's side. */
static void take_hello(struct sc_station *st, struct sc_peer *peer, const struct sc_msg *msg)
{
        const struct sc_hello *hello = &msg->hello;
        if (hello->version_min > SC_VERSION_MAX || hello->version_max < SC_VERSION_MIN) {
                char why[SC_TEXT_MAX + 1];
                snprintf(why, sizeof why, "you speak protocol %u to %u, this scheduler speaks %d to %d",
                         (unsigned)hello->version_min, (unsigned)hello->version_max, SC_VERSION_MIN, SC_VERSION_MAX);
                sc_peer_refuse(st, peer, SC_E_UNSUPPORTED, why);
                return;
        }
        if (hello->role == SC_ROLE_NONE || hello->role >= SC_ROLES || hello->role == SC_ROLE_SCHEDULER ||
            hello->id == 0) {
                sc_peer_refuse(st, peer, SC_E_PROTOCOL, "a hello must name a client, worker or admin and its id");
                return;
        }
        peer->role  = (enum sc_role)hello->role;
        peer->state = SC_PEER_UP;
        peer->up_at = st->now;
        st->greeting--;
        sc_link_up(&peer->link, st->options.silent);
        st->options.upcalls->up(st->options.role, peer->id, msg, peer->link.in_tasks, peer->link.in_kib);
}

/* The dialling side: refused, in the other side's words. */
static void take_refusal(struct sc_station *st, struct sc_peer *peer, const struct sc_bye *bye)
{
        char why[SC_TEXT_MAX + 1];
        const size_t len = bye->why.len < SC_TEXT_MAX ? bye->why.len : SC_TEXT_MAX;
        if (len > 0)
                memcpy(why, bye->why.ptr, len);
        why[len] = '\0';
        sc_station_note(st, peer->id, "refused by the scheduler: ", why, len);
        const int status = bye->status;
        sc_peer_linger(st, peer, 0);
        const bool permanent = status == SC_E_DENIED || status == SC_E_UNSUPPORTED || status == SC_E_PROTOCOL;
        if (permanent && st->options.upcalls->refused != NULL)
                st->options.upcalls->refused(st->options.role, status, why);
}

static void take_welcome(struct sc_station *st, struct sc_peer *peer, const struct sc_msg *msg)
{
        if (msg->welcome.version < SC_VERSION_MIN || msg->welcome.version > SC_VERSION_MAX) {
                sc_peer_refuse(st, peer, SC_E_UNSUPPORTED, "it welcomes in a protocol version that was not offered");
                if (st->options.upcalls->refused != NULL)
                        st->options.upcalls->refused(st->options.role, SC_E_UNSUPPORTED, "protocol version");
                return;
        }
        const sc_ns silent = msg->welcome.silent_ms != 0 ? sc_ns_from_ms(msg->welcome.silent_ms) : st->options.silent;
        st->dial.told   = false;
        peer->role  = SC_ROLE_SCHEDULER;
        peer->state = SC_PEER_UP;
        peer->up_at = st->now;
        st->greeting--;
        sc_link_up(&peer->link, silent);
        st->options.upcalls->up(st->options.role, peer->id, msg, peer->link.in_tasks, peer->link.in_kib);
}

static void take_first(struct sc_station *st, struct sc_peer *peer, const struct sc_msg *msg)
{
        const bool accepts = st->options.self == SC_ROLE_SCHEDULER;
        if (accepts && msg->kind == SC_MSG_HELLO)
                take_hello(st, peer, msg);
        else if (!accepts && msg->kind == SC_MSG_WELCOME)
                take_welcome(st, peer, msg);
        else if (!accepts && msg->kind == SC_MSG_BYE)
                take_refusal(st, peer, &msg->bye);
        else
                sc_peer_refuse(st, peer, SC_E_PROTOCOL, "the first frame must say hello");
}

static void take_record(struct sc_station *st, struct sc_peer *peer, const struct sc_msg *msg)
{
        if (peer->state == SC_PEER_GREETING) {
                take_first(st, peer, msg);
                return;
        }
        if (msg->kind == SC_MSG_HELLO || msg->kind == SC_MSG_WELCOME || !sc_msg_may_send(peer->role, msg->kind)) {
                char why[SC_TEXT_MAX + 1];
                snprintf(why, sizeof why, "a %s may not send %s here", sc_role_name(peer->role),
                         sc_msg_name(msg->kind));
                sc_peer_refuse(st, peer, SC_E_PROTOCOL, why);
                return;
        }
        st->options.upcalls->message(st->options.role, peer->id, msg);
        peer->parted = msg->kind == SC_MSG_BYE;
        if (peer->parted && alive(peer))
                sc_peer_lose(st, peer, msg->bye.status, "it said goodbye");
}

static void take_records(struct sc_station *st, struct sc_peer *peer, const struct sc_frame_head *head,
                         const uint8_t *bytes, size_t len)
{
        size_t      cursor = 0;
        uint32_t    kept   = 0;
        const char *why    = "";
        for (uint32_t i = 0; i < head->count; i++) {
                struct sc_msg msg;
                const int got = sc_codec_unpack(bytes, len, &cursor, &st->arena, &msg, &why);
                if (got < 0) {
                        sc_peer_refuse(st, peer, got, why);
                        return;
                }
                if (got == 0)
                        continue;
                st->stats.records_in++;
                kept += sc_msg_is_acked(msg.kind);
                take_record(st, peer, &msg);
                if (!alive(peer))
                        return;
        }
        if (cursor != len) {
                sc_peer_refuse(st, peer, SC_E_PROTOCOL, "bytes are left over after the last record");
                return;
        }
        sc_link_stepped(&peer->link, kept, st->now);
}

static const char *misplaced(const struct sc_peer *peer, const struct sc_frame_head *head)
{
        const bool first = peer->state == SC_PEER_GREETING;
        if (first != (head->type == SC_FRAME_HELLO))
                return first ? "the first frame must say hello" : "hello was said already";
        if (head->type == SC_FRAME_HELLO && head->count != 1)
                return "a hello is one record";
        if (head->type == SC_FRAME_PING && head->count != 0)
                return "a ping has no records";
        return NULL;
}

void sc_peer_frame(struct sc_station *st, struct sc_peer *peer, const uint8_t *bytes, size_t len)
{
        const char *why = "a frame's length is not its length";
        struct sc_frame_head head;
        if (len < SC_FRAME_HEAD || sc_frame_get(bytes, &head, &why) != 0 || head.length != len) {
                sc_peer_refuse(st, peer, SC_E_PROTOCOL, why);
                return;
        }
        st->stats.frames_in++;
        st->stats.bytes_in += len;
        uint32_t confirmed = 0;
        why = misplaced(peer, &head);
        if (why != NULL || sc_link_hear(&peer->link, head.seq, head.ack, st->now, &confirmed, &why) != 0) {
                sc_peer_refuse(st, peer, SC_E_PROTOCOL, why);
                return;
        }
        if (confirmed > 0)
                st->options.upcalls->acked(st->options.role, peer->id, confirmed);
        if (!alive(peer))
                return;
        if (sc_link_granted(&peer->link, head.grant_tasks, head.grant_kib) && peer->state == SC_PEER_UP)
                st->options.upcalls->grant(st->options.role, peer->id, head.grant_tasks, head.grant_kib);
        if (!alive(peer))
                return;
        if (head.type == SC_FRAME_PING)
                peer->speak = true;
        take_records(st, peer, &head, bytes + SC_FRAME_HEAD, len - SC_FRAME_HEAD);
        if (alive(peer))
                sc_peer_touch(st, peer);
}
