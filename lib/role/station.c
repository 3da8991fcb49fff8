/*
 * The table of links, their deadlines, and the words between role, net and links.  A deadline's place
 * in the heap is never later than the real one and is set right when it comes up, so a frame costs no
 * heap work.  All times inside are awake time: what we slept is taken off.
 */
#include <stdio.h>
#include <string.h>

#include "station_impl.h"

#define LATE (1 * SC_S) /* a turn that comes later than this judges nobody by the time it missed */

static sc_ns or_default(sc_ns value, sc_ns fallback)
{
        return value != 0 ? value : fallback;
}

static bool sooner(const void *a, const void *b)
{
        const struct sc_peer *left = a, *right = b;
        return left->key != right->key ? left->key < right->key : left->id < right->id;
}

static void moved(void *item, size_t position)
{
        ((struct sc_peer *)item)->position = position;
}

int sc_station_create(const struct sc_station_options *options, struct sc_station **out)
{
        struct sc_station *st = sc_mem_zalloc(options->mem, sizeof *st);
        if (st == NULL)
                return SC_E_NOMEM;
        st->options = *options;
        st->options.peers_max   = options->peers_max != 0 ? options->peers_max : 65536;
        st->options.hellos_max  = options->hellos_max != 0 ? options->hellos_max : 256;
        st->options.hello_limit = or_default(options->hello_limit, 5 * SC_S);
        st->options.silent      = or_default(options->silent, 10 * SC_S);
        st->options.redial_min  = or_default(options->redial_min, 10 * SC_MS);
        st->options.redial_max  = sc_ns_max(or_default(options->redial_max, 1 * SC_S), st->options.redial_min);
        st->rng.state = options->seed;
        st->late_at   = INT64_MIN / 2;
        sc_map_init(&st->peers, options->mem);
        sc_heap_init(&st->due, options->mem, sooner, moved);
        sc_list_init(&st->touched);
        sc_list_init(&st->spare);
        sc_codec_arena_init(&st->arena, options->mem);
        *out = st;
        return 0;
}

void sc_station_destroy(struct sc_station *st)
{
        if (st == NULL)
                return;
        sc_dial_off(st);
        struct sc_peer *peer;
        while ((peer = sc_heap_top(&st->due)) != NULL)
                sc_peer_drop(st, peer, true);
        while (st->spare_count > 0)
                sc_spare_drop(st);
        sc_codec_arena_fini(&st->arena);
        sc_heap_fini(&st->due);
        sc_map_fini(&st->peers);
        sc_mem_release(st->options.mem, st, sizeof *st);
}

static void note_at(struct sc_station *st, int level, sc_link_id id, const char *text, const char *more,
                    size_t more_len)
{
        if (st->options.upcalls->note == NULL)
                return;
        if (st->notes == 0 || st->now - st->notes_since >= SC_S) {
                st->notes_since = st->now;
                st->notes       = 0;
        }
        if (st->notes++ >= SC_NOTES_MAX)
                return;
        char line[64 + 2 * SC_TEXT_MAX];
        const int len = more_len < SC_TEXT_MAX ? (int)more_len : SC_TEXT_MAX;
        snprintf(line, sizeof line, "link %llu: %.*s%.*s", (unsigned long long)id,
                 SC_TEXT_MAX, text, len, more);
        st->options.upcalls->note(st->options.role, level, line);
}

void sc_station_note(struct sc_station *st, sc_link_id id, const char *text, const char *more, size_t more_len)
{
        note_at(st, SC_NOTE_WARN, id, text, more, more_len);
}

/* ---- links --------------------------------------------------------------------------------------- */

static struct sc_id key_of(sc_link_id id)
{
        return (struct sc_id){.hi = 0, .lo = id};
}

struct sc_peer *sc_peer_find(struct sc_station *st, sc_link_id id)
{
        if (id != st->last_id) {
                st->last    = sc_map_get(&st->peers, key_of(id));
                st->last_id = id;
        }
        return st->last;
}

void sc_peer_touch(struct sc_station *st, struct sc_peer *peer)
{
        if (sc_list_empty(&peer->touched))
                sc_list_add_tail(&st->touched, &peer->touched);
}

void sc_peer_rearm(struct sc_station *st, struct sc_peer *peer)
{
        const sc_ns real = peer->state == SC_PEER_LINGERING ? peer->linger_by : sc_link_deadline(&peer->link);
        if (real >= peer->key)
                return;
        peer->key = real;
        sc_heap_fix(&st->due, peer->position);
}

void sc_peer_drop(struct sc_station *st, struct sc_peer *peer, bool close)
{
        sc_peer_forget_queue(st, peer);
        sc_list_remove(&peer->touched);
        sc_heap_remove(&st->due, peer->position);
        sc_map_remove(&st->peers, key_of(peer->id));
        st->last_id = 0;
        st->last    = NULL;
        if (close)
                peer->net->ops->close(peer->conn);
        sc_mem_release(st->options.mem, peer, sizeof *peer);
}

/* The link stops being one that greets or is up. */
static void leave(struct sc_station *st, struct sc_peer *peer)
{
        if (peer->state != SC_PEER_GREETING && peer->state != SC_PEER_UP)
                return;
        if (peer->state == SC_PEER_GREETING)
                st->greeting--;
        const bool lasted = peer->state == SC_PEER_UP && st->now - peer->up_at >= st->options.redial_max;
        if (peer->link.dialled)
                sc_dial_again(st, lasted);
}

void sc_peer_linger(struct sc_station *st, struct sc_peer *peer, sc_ns limit)
{
        leave(st, peer);
        peer->state     = SC_PEER_LINGERING;
        peer->linger_by = sc_ns_add(st->now, limit);
        sc_peer_touch(st, peer);
        sc_peer_rearm(st, peer);
}

void sc_peer_lose(struct sc_station *st, struct sc_peer *peer, int status, const char *why)
{
        sc_peer_touch(st, peer);
        if (peer->state == SC_PEER_LINGERING) {
                sc_peer_forget_queue(st, peer); /* nobody waits to hear of it */
                return;
        }
        if (peer->state == SC_PEER_LOST)
                return;
        leave(st, peer);
        peer->state  = SC_PEER_LOST;
        peer->status = status;
        peer->why    = why;
}

void sc_peer_refuse(struct sc_station *st, struct sc_peer *peer, int status, const char *why)
{
        sc_station_note(st, peer->id, "closed: ", why, strlen(why));
        st->stats.refused++;
        const bool tell = peer->state == SC_PEER_UP;
        sc_peer_forget_queue(st, peer);
        sc_peer_linger(st, peer, SC_LINGER_REFUSED);
        sc_peer_bye(st, peer, status, why);
        if (tell)
                st->options.upcalls->down(st->options.role, peer->id, status, why);
}

/* ---- what the net says --------------------------------------------------------------------------- */

/* Every word of a net comes through here. */
static struct sc_station *enter(const struct sc_station_door *door)
{
        struct sc_station *st = door->station;
        if (st->options.upcalls->enter != NULL)
                st->options.upcalls->enter(st->options.role);
        return st;
}

static bool welcome_here(struct sc_station *st, bool dialled, uint64_t ticket)
{
        if (dialled)
                return st->dial.state == SC_DIAL_CONNECTING && ticket == st->dial.ticket;
        if (st->options.self == SC_ROLE_SCHEDULER && !st->hung_up && st->greeting < st->options.hellos_max &&
            st->peers.len < st->options.peers_max)
                return true;
        st->stats.refused++;
        return false;
}

static struct sc_peer *add_peer(struct sc_station *st, struct sc_conn *conn, struct sc_net *net, bool dialled)
{
        if (!sc_map_reserve(&st->peers, st->peers.len + 1) || !sc_heap_reserve(&st->due, st->due.len + 1))
                return NULL;
        struct sc_peer *peer = sc_mem_zalloc(st->options.mem, sizeof *peer);
        if (peer == NULL)
                return NULL;
        sc_link_init(&peer->link, dialled, st->now, st->options.hello_limit, st->options.silent);
        peer->id   = ++st->link_ids;
        peer->conn = conn;
        peer->net  = net;
        peer->key  = sc_link_deadline(&peer->link);
        sc_list_init(&peer->touched);
        sc_list_init(&peer->queue);
        sc_map_put(&st->peers, key_of(peer->id), peer);
        sc_heap_push(&st->due, peer);
        st->last_id = 0;
        st->greeting++;
        return peer;
}

static void say_hello(struct sc_station *st, struct sc_peer *peer)
{
        struct sc_msg msg = {.kind = SC_MSG_HELLO};
        uint32_t tasks = 0, kib = 0;
        st->options.upcalls->greet(st->options.role, &msg.hello, &tasks, &kib);
        sc_link_grant(&peer->link, tasks, kib);
        sc_peer_enqueue(st, peer, &msg);
}

static void *net_up(void *ctx, struct sc_conn *conn, struct sc_listener *listener, uint64_t ticket)
{
        const struct sc_station_door *door = ctx;
        struct sc_station *st = enter(door);
        const bool dialled = listener == NULL;
        if (!welcome_here(st, dialled, ticket))
                return NULL;
        struct sc_peer *peer = add_peer(st, conn, door->net, dialled);
        if (peer == NULL) {
                if (dialled)
                        sc_dial_again(st, false);
                return NULL;
        }
        sc_peer_touch(st, peer);
        if (dialled) {
                st->dial.state = SC_DIAL_LINKED;
                say_hello(st, peer);
        }
        return (void *)(uintptr_t)peer->id;
}

static void net_frame(void *ctx, void *user, const uint8_t *bytes, size_t len)
{
        struct sc_station *st = enter(ctx);
        struct sc_peer *peer = sc_peer_find(st, (sc_link_id)(uintptr_t)user);
        if (peer != NULL && (peer->state == SC_PEER_GREETING || peer->state == SC_PEER_UP))
                sc_peer_frame(st, peer, bytes, len);
}

static void net_writable(void *ctx, void *user)
{
        struct sc_station *st = enter(ctx);
        struct sc_peer *peer = sc_peer_find(st, (sc_link_id)(uintptr_t)user);
        if (peer == NULL)
                return;
        peer->busy = false;
        sc_peer_touch(st, peer);
}

/* Why a dial brought no link: once until there is one. */
static void tell_once(struct sc_station *st, sc_link_id id, const char *why)
{
        if (!st->dial.told)
                note_at(st, SC_NOTE_WARN, id, "not up yet: ", why, strlen(why));
        st->dial.told = true;
}

/* Before a hello: what the net says of it is all that anybody will know.  It may be somebody's mistake in the
 * settings, or a scheduler that was killed just now; what cannot get better ends the dialling. */
static void greeting_failed(struct sc_station *st, sc_link_id id, int status, const char *why)
{
        const bool final   = status == SC_E_DENIED || status == SC_E_PROTOCOL;
        const bool dialled = st->options.self != SC_ROLE_SCHEDULER;
        if (final && !dialled)
                sc_station_note(st, id, "never up: ", why, strlen(why));
        else if (!final && dialled)
                tell_once(st, id, why);
        st->stats.refused += final;
        if (final && dialled && st->options.upcalls->refused != NULL)
                st->options.upcalls->refused(st->options.role, status, why);
}

/* The net knows no such connection any more; neither do we, before the role is told. */
static void net_down(void *ctx, void *user, int status, const char *why)
{
        struct sc_station *st = enter(ctx);
        const sc_link_id id = (sc_link_id)(uintptr_t)user;
        struct sc_peer *peer = sc_peer_find(st, id);
        if (peer == NULL)
                return;
        const bool tell  = peer->link.up && peer->state != SC_PEER_LINGERING;
        const bool early = peer->state == SC_PEER_GREETING;
        leave(st, peer);
        sc_peer_drop(st, peer, false);
        if (tell)
                st->options.upcalls->down(st->options.role, id, status, why);
        if (early)
                greeting_failed(st, id, status, why);
}

static void net_dial_failed(void *ctx, uint64_t ticket, int status, const char *why)
{
        struct sc_station *st = enter(ctx);
        (void)status; /* it is tried again; the core's give_up says when that is hopeless */
        if (st->dial.state != SC_DIAL_CONNECTING || st->dial.ticket != ticket)
                return;
        sc_dial_again(st, false);
        tell_once(st, 0, why);
}

static void net_accept_failed(void *ctx, const char *why)
{
        sc_station_note(enter(ctx), 0, "cannot accept: ", why, strlen(why));
}

const struct sc_net_upcalls *sc_station_door_upcalls(void)
{
        static const struct sc_net_upcalls upcalls = {
                .up            = net_up,
                .frame         = net_frame,
                .writable      = net_writable,
                .down          = net_down,
                .dial_failed   = net_dial_failed,
                .accept_failed = net_accept_failed,
        };
        return &upcalls;
}

/* ---- what the role says -------------------------------------------------------------------------- */

/*
 * Within one late turn this may be called often; its lateness counts once.  Who slept does not judge: not by the
 * time it slept, and not before it has had a moment to hear what came meanwhile, as the deadline that it slept
 * through may be somebody's last.
 */
void sc_station_begin(struct sc_station *st, sc_ns now, sc_ns lateness)
{
        if (lateness > LATE && now - st->late_at >= lateness) {
                st->slept += lateness + st->options.silent / 8;
                st->late_at = now;
        }
        st->now = sc_ns_max(st->now, now - st->slept);
}

void sc_station_send(struct sc_station *st, sc_link_id link, const struct sc_msg *msg)
{
        struct sc_peer *peer = sc_peer_find(st, link);
        if (peer != NULL && peer->state == SC_PEER_UP)
                sc_peer_enqueue(st, peer, msg);
}

void sc_station_grant(struct sc_station *st, sc_link_id link, uint32_t tasks, uint32_t kib)
{
        struct sc_peer *peer = sc_peer_find(st, link);
        if (peer == NULL || peer->state != SC_PEER_UP || !sc_link_grant(&peer->link, tasks, kib))
                return;
        peer->speak = true;
        sc_peer_touch(st, peer);
}

void sc_station_close(struct sc_station *st, sc_link_id link, int status, const char *why)
{
        struct sc_peer *peer = sc_peer_find(st, link);
        if (peer == NULL || peer->state != SC_PEER_UP)
                return;
        sc_peer_forget_queue(st, peer);
        sc_peer_linger(st, peer, SC_LINGER_REFUSED);
        sc_peer_bye(st, peer, status, why != NULL ? why : "");
}

void sc_station_hang_up(struct sc_station *st, sc_ns now)
{
        sc_station_begin(st, now, 0);
        st->hung_up = true;
        sc_dial_off(st);
        for (size_t i = 0; i < st->due.len; i++) {
                struct sc_peer *peer = st->due.at[i];
                leave(st, peer);
                peer->state     = SC_PEER_LINGERING;
                peer->linger_by = sc_ns_add(st->now, SC_LINGER_ORDERLY);
                sc_peer_touch(st, peer);
        }
}

/* A link of which the role must not hear any more, once all of its queue has left or its time is over. */
static void finish(struct sc_station *st, struct sc_peer *peer)
{
        const bool empty = sc_list_empty(&peer->queue);
        if (!empty && st->now < peer->linger_by) {
                sc_peer_rearm(st, peer);
                return;
        }
        if (empty)
                peer->net->ops->close_after(peer->conn, SC_LINGER_REFUSED);
        sc_peer_drop(st, peer, !empty);
}

/* We had no memory for it: the other side is told so, and does not take us for dead.  What was queued made room. */
static void excuse(struct sc_station *st, struct sc_peer *peer, const char *why)
{
        sc_peer_forget_queue(st, peer);
        sc_peer_linger(st, peer, SC_LINGER_REFUSED);
        sc_peer_bye(st, peer, SC_E_NOMEM, why);
}

static void settle(struct sc_station *st, sc_link_id id)
{
        struct sc_peer *peer = sc_peer_find(st, id);
        if (peer == NULL)
                return;
        if (peer->state == SC_PEER_LOST) {
                const int   status = peer->status;
                const char *why    = peer->why;
                const bool  tell   = peer->link.up;
                if (tell && status == SC_E_NOMEM && !peer->parted)
                        excuse(st, peer, why);
                else
                        sc_peer_drop(st, peer, true);
                if (tell)
                        st->options.upcalls->down(st->options.role, id, status, why);
                return;
        }
        if (peer->state == SC_PEER_LINGERING)
                finish(st, peer);
        else
                sc_peer_rearm(st, peer);
}

void sc_station_flush(struct sc_station *st, sc_ns now)
{
        sc_station_begin(st, now, 0);
        struct sc_list *node;
        while ((node = sc_list_take(&st->touched)) != NULL) {
                struct sc_peer *peer = SC_CONTAINER(node, struct sc_peer, touched);
                const sc_link_id id = peer->id;
                if (peer->state != SC_PEER_LOST)
                        sc_peer_flush(st, peer);
                settle(st, id);
        }
}

sc_ns sc_station_deadline(const struct sc_station *st)
{
        sc_ns due = SC_NEVER;
        if (st->due.len > 0)
                due = ((const struct sc_peer *)sc_heap_top(&st->due))->key;
        if (st->dial.state == SC_DIAL_WAITING || st->dial.state == SC_DIAL_CONNECTING)
                due = sc_ns_min(due, st->dial.due);
        return sc_ns_add(due, st->slept);
}

static void ask_for_life(struct sc_station *st, struct sc_peer *peer)
{
        sc_link_pinged(&peer->link);
        peer->ping = true;
        st->asked  = true;
        sc_peer_touch(st, peer);
}

static void expire(struct sc_station *st, struct sc_peer *peer)
{
        switch (sc_link_due(&peer->link, st->now)) {
        case SC_LINK_HELLO_LATE:
                sc_peer_refuse(st, peer, SC_E_TIMEOUT, "no hello within the limit");
                break;
        case SC_LINK_DEAD:
                st->stats.died_silent++;
                sc_station_note(st, peer->id, "lost: silent for too long", "", 0);
                sc_peer_lose(st, peer, SC_E_TIMEOUT, "silent for too long");
                break;
        case SC_LINK_PING:
                ask_for_life(st, peer);
                break;
        case SC_LINK_ACK:
                sc_link_ack_taken(&peer->link);
                peer->speak = true;
                sc_peer_touch(st, peer);
                break;
        case SC_LINK_NOT_DUE:
                break;
        }
}

/* Its place in the heap becomes the real deadline again. */
static void look_after(struct sc_station *st, struct sc_peer *peer)
{
        if (peer->state == SC_PEER_LINGERING && st->now >= peer->linger_by)
                sc_peer_touch(st, peer);
        else if (peer->state == SC_PEER_UP || peer->state == SC_PEER_GREETING)
                expire(st, peer);
        sc_ns real = SC_NEVER; /* a lost one, or one at its end, is touched: the flush drops it */
        if (peer->state == SC_PEER_UP || peer->state == SC_PEER_GREETING)
                real = sc_link_deadline(&peer->link);
        else if (peer->state == SC_PEER_LINGERING && st->now < peer->linger_by)
                real = peer->linger_by;
        peer->key = real;
        sc_heap_fix(&st->due, peer->position);
}

/* Who is to be asked soon is asked now: one wake-up of this process for many links, and of its timer for all. */
static void ask_early(struct sc_station *st)
{
        const sc_ns     soon = sc_ns_add(st->now, st->options.silent / 16);
        struct sc_peer *peer;
        while ((peer = sc_heap_top(&st->due)) != NULL && peer->key <= soon) {
                if (peer->state == SC_PEER_UP && sc_link_due(&peer->link, soon) == SC_LINK_PING)
                        ask_for_life(st, peer);
                const sc_ns key = peer->key;
                look_after(st, peer);
                if (peer->key == key)
                        return;
        }
}

void sc_station_tick(struct sc_station *st, sc_ns now)
{
        sc_station_begin(st, now, 0);
        sc_dial_tick(st);
        struct sc_peer *peer;
        st->asked = false;
        while ((peer = sc_heap_top(&st->due)) != NULL && peer->key <= st->now)
                look_after(st, peer);
        if (st->asked)
                ask_early(st);
}

uint32_t sc_station_links(const struct sc_station *st)
{
        return (uint32_t)st->peers.len;
}

void sc_station_stats(const struct sc_station *st, struct sc_station_stats *out)
{
        *out = st->stats;
}
