/*
 * Connections: order is kept per direction, bytes take time, a window fills when nobody reads.  A break
 * loses what was under way from some byte on, and each end hears of it in its own time or not at all.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum { WINDOW = 512 * 1024 };

static struct sim_node *node_of(const struct sim_conn *conn)
{
        return &conn->w->nodes[conn->node];
}

static bool here(const struct sim_conn *conn)
{
        return !conn->closed && node_of(conn)->alive && node_of(conn)->generation == conn->generation;
}

/* ---- inside a process's turn ----------------------------------------------------------------------- */

static const struct sc_net *net_of(const struct sim_conn *conn)
{
        return &node_of(conn)->net.base;
}

static void post_writable(struct sim *w, struct sim_post *post)
{
        struct sim_conn *conn = post->conn;
        (void)w;
        if (conn->closed)
                return;
        conn->busy = false;
        net_of(conn)->upcalls->writable(net_of(conn)->ctx, conn->user);
}

static void writable_event(struct sim *w, struct sim_event *ev)
{
        struct sim_conn *conn = ev->ptr;
        if (here(conn))
                sim_post(w, conn->node, post_writable)->conn = conn;
}

static void writable_soon(struct sim_conn *conn)
{
        sim_at(conn->w, conn->w->now + sim_between(conn->w, 100, SC_MS), writable_event)->ptr = conn;
}

/* A worker's runs are of the scheduler that welcomed it last. */
static void note_epoch(struct sim *w, const struct sim_conn *conn, const uint8_t *frame, size_t len)
{
        struct sc_msg msg;
        const char   *why;
        size_t        cursor = 0;
        if (frame[4] == SC_FRAME_HELLO &&
            sc_codec_unpack(frame + SC_FRAME_HEAD, len - SC_FRAME_HEAD, &cursor, &w->arena, &msg, &why) == 1 &&
            msg.kind == SC_MSG_WELCOME)
                w->nodes[conn->node].epoch = msg.welcome.epoch;
}

static void post_frames(struct sim *w, struct sim_post *post)
{
        struct sim_conn   *conn   = post->conn;
        struct sim_packet *packet = post->packet;
        size_t             at     = 0;
        while (!conn->closed && packet->len - at >= SC_FRAME_HEAD) {
                const uint32_t len = sc_frame_length(packet->bytes + at, packet->len - at);
                if (len < SC_FRAME_HEAD || len > packet->len - at)
                        break;
                sim_trace(w, "frame", conn->id, conn->node, len);
                if (conn->node == 0)
                        sim_ledger_heard(w, conn, packet->bytes + at, len);
                if (w->nodes[conn->node].kind == SIM_WORKER)
                        note_epoch(w, conn, packet->bytes + at, len);
                if (w->nodes[conn->node].kind == SIM_HOSTILE)
                        sim_hostile_frame(w, conn->node, packet->bytes + at, len);
                else
                        net_of(conn)->upcalls->frame(net_of(conn)->ctx, conn->user, packet->bytes + at, len);
                at += len;
        }
        struct sim_conn *from = conn->other;
        from->in_flight -= packet->len;
        if (from->stuck && from->in_flight < WINDOW) {
                from->stuck = false;
                writable_soon(from);
        }
}

static void post_down(struct sim *w, struct sim_post *post)
{
        struct sim_conn *conn = post->conn;
        if (conn->closed)
                return;
        conn->closed = true;
        sim_trace(w, "down", conn->id, conn->node, 0);
        sim_ledger_gone(w, conn);
        if (conn->up && w->nodes[conn->node].kind != SIM_HOSTILE)
                net_of(conn)->upcalls->down(net_of(conn)->ctx, conn->user, SC_E_UNREACHABLE, "connection broke");
}

/* ---- on the way -------------------------------------------------------------------------------------- */

static void free_packet(struct sim_packet *packet)
{
        free(packet->bytes);
        free(packet);
}

/* The packet in which the cut fell arrives up to some byte. */
static void cut_packet(struct sim *w, struct sim_packet *packet)
{
        size_t keep = sim_below(w, packet->len + 1), at = 0;
        while (keep - at >= SC_FRAME_HEAD) {
                const uint32_t len = sc_frame_length(packet->bytes + at, packet->len - at);
                if (len < SC_FRAME_HEAD || len > keep - at)
                        break;
                at += len;
        }
        packet->len = at;
}

static void arrive(struct sim *w, struct sim_event *ev);

static void fly(struct sim *w, struct sim_packet *packet, sc_ns at)
{
        struct sim_event *ev = sim_at(w, at, arrive);
        ev->ptr              = packet;
        ev->b                = SIM_OWNS_PACKET;
}

static void arrive(struct sim *w, struct sim_event *ev)
{
        struct sim_packet *packet = ev->ptr;
        struct sim_conn   *to = packet->to, *from = to->other;
        if (here(to) && from->clog_until > w->now) {
                fly(w, packet, from->clog_until);
                return;
        }
        const bool lost = packet->number > from->cut;
        if (packet->number == from->cut) {
                const size_t len = packet->len;
                cut_packet(w, packet);
                from->in_flight -= len - packet->len;
        }
        if (lost || !here(to) || packet->len == 0) {
                free_packet(packet);
                return;
        }
        struct sim_post *post = sim_post(w, to->node, post_frames);
        post->conn            = to;
        post->packet          = packet;
}

static void down_event(struct sim *w, struct sim_event *ev)
{
        struct sim_conn *conn = ev->ptr;
        if (!here(conn))
                return;
        if (conn->other->clog_until > w->now) {
                sim_at(w, conn->other->clog_until, down_event)->ptr = conn;
                return;
        }
        sim_post(w, conn->node, post_down)->conn = conn;
}

static void tell_down(struct sim_conn *conn, sc_ns at)
{
        sim_at(conn->w, at, down_event)->ptr = conn;
}

static sc_ns next_arrival(struct sim_conn *from)
{
        struct sim *w      = from->w;
        const sc_ns at     = w->now + sim_between(w, SC_US, w->config.delay_max);
        from->last_arrival = sc_ns_max(from->last_arrival, at);
        return from->last_arrival;
}

void sim_net_send_raw(struct sim *w, struct sim_conn *conn, const uint8_t *bytes, size_t len)
{
        conn->sent++;
        conn->in_flight += len;
        if (conn->dead || conn->closed)
                return;
        struct sim_packet *packet = calloc(1, sizeof *packet);
        if (packet == NULL || (packet->bytes = malloc(len)) == NULL)
                abort();
        memcpy(packet->bytes, bytes, len);
        packet->len    = len;
        packet->to     = conn->other;
        packet->number = conn->sent;
        fly(w, packet, next_arrival(conn));
}

/* ---- the net's operations ------------------------------------------------------------------------------ */

static struct sim_conn *conn_of(struct sc_conn *base)
{
        return SC_CONTAINER(base, struct sim_conn, base);
}

static void op_send(struct sc_conn *base, struct sc_buf *frames)
{
        struct sim_conn *conn = conn_of(base);
        struct sim      *w    = conn->w;
        SC_ASSERT(!conn->busy && !conn->closed && frames->len >= SC_FRAME_HEAD);
        conn->busy = true;
        sim_trace(w, "send", conn->id, conn->node, frames->len);
        sim_judge_frames(w, conn, frames->data, frames->len);
        sim_net_send_raw(w, conn, frames->data, frames->len);
        sc_buf_reset(frames);
        if (conn->in_flight < WINDOW)
                writable_soon(conn);
        else
                conn->stuck = true;
}

static void hang_up(struct sim_conn *conn, bool lose)
{
        if (conn->closed)
                return;
        conn->closed = true;
        sim_trace(conn->w, "close", conn->id, conn->node, lose);
        sim_ledger_gone(conn->w, conn);
        if (lose && conn->sent > 0 && sim_chance(conn->w, 50))
                conn->cut = conn->sent < conn->cut ? conn->sent : conn->cut;
        if (!conn->dead)
                tell_down(conn->other, next_arrival(conn));
}

static void op_close(struct sc_conn *conn)
{
        hang_up(conn_of(conn), true);
}

static void op_close_after(struct sc_conn *conn, sc_ns linger)
{
        (void)linger;
        hang_up(conn_of(conn), false);
}

static void op_pause(struct sc_conn *conn, bool paused)
{
        (void)conn;
        (void)paused;
}

static int op_listen(struct sc_net *net, const char *url, struct sc_listener **out, char bound[SC_URL_MAX + 1],
                     struct sc_why *why)
{
        (void)net;
        (void)url;
        (void)out;
        (void)bound;
        (void)why;
        return SC_E_UNSUPPORTED;
}

static void op_unlisten(struct sc_net *net, struct sc_listener *listener)
{
        (void)net;
        (void)listener;
}

static struct sim_conn *add_conn(struct sim *w, uint32_t node)
{
        struct sim_conn *conn = calloc(1, sizeof *conn);
        if (conn == NULL)
                abort();
        conn->base.net   = &w->nodes[node].net.base;
        conn->w          = w;
        conn->id         = ++w->ids;
        conn->node       = node;
        conn->generation = w->nodes[node].generation;
        conn->cut        = UINT64_MAX;
        conn->next       = w->conns;
        w->conns         = conn;
        return conn;
}

static void post_up(struct sim *w, struct sim_post *post)
{
        struct sim_conn *conn = post->conn;
        struct sim_node *n    = node_of(conn);
        if (conn->closed)
                return;
        const bool dialled = post->a != 0;
        if (dialled && n->net.ticket != post->a) { /* cancelled meanwhile */
                hang_up(conn, true);
                return;
        }
        if (dialled)
                n->net.ticket = 0;
        sim_trace(w, "up", conn->id, conn->node, post->a);
        conn->up   = true;
        conn->user = n->kind == SIM_HOSTILE ? sim_hostile_up(w, conn)
                                            : net_of(conn)->upcalls->up(net_of(conn)->ctx, &conn->base,
                                                                        dialled ? NULL : &w->listener, post->a);
        if (conn->user == NULL)
                hang_up(conn, true);
}

static void post_dial_failed(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        if (n->net.ticket != post->a)
                return;
        n->net.ticket = 0;
        if (n->kind != SIM_HOSTILE)
                n->net.base.upcalls->dial_failed(n->net.base.ctx, post->a, SC_E_UNREACHABLE, "nobody listens");
}

static void dialled(struct sim *w, struct sim_event *ev)
{
        if (sim_event_stale(w, ev))
                return;
        if (!w->nodes[0].alive) {
                sim_post(w, ev->node, post_dial_failed)->a = ev->a;
                return;
        }
        struct sim_conn *near = add_conn(w, ev->node), *far = add_conn(w, 0);
        near->other           = far;
        far->other            = near;
        struct sim_post *post = sim_post(w, 0, post_up);
        post->conn            = far;
        post                  = sim_post(w, ev->node, post_up);
        post->conn            = near;
        post->a               = ev->a;
}

static int op_dial(struct sc_net *net, const char *url, uint64_t ticket, struct sc_why *why)
{
        (void)url;
        (void)why;
        struct sim_net *self = SC_CONTAINER(net, struct sim_net, base);
        self->ticket         = ticket;
        struct sim *w        = self->w;
        sim_trace(w, "dial", self->node, ticket, 0);
        sim_at_node(w, w->now + sim_between(w, 10 * SC_US, w->config.delay_max), self->node, dialled)->a = ticket;
        return 0;
}

static void op_dial_cancel(struct sc_net *net, uint64_t ticket)
{
        struct sim_net *self = SC_CONTAINER(net, struct sim_net, base);
        if (self->ticket == ticket)
                self->ticket = 0;
}

static void op_destroy(struct sc_net *net)
{
        (void)net;
}

static const struct sc_net_ops ops = {
        .listen      = op_listen,
        .unlisten    = op_unlisten,
        .dial        = op_dial,
        .dial_cancel = op_dial_cancel,
        .send        = op_send,
        .close       = op_close,
        .close_after = op_close_after,
        .pause       = op_pause,
        .destroy     = op_destroy,
};

void sim_net_init(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        n->net             = (struct sim_net){
                            .base       = { .ops = &ops, .upcalls = sc_station_door_upcalls(), .ctx = &n->door },
                            .w          = w,
                            .node       = node,
                            .generation = n->generation,
        };
        n->door.net = &n->net.base;
}

/* ---- faults ------------------------------------------------------------------------------------------- */

/* From some packet under way on, everything is lost. */
static void cut(struct sim_conn *conn)
{
        if (conn->dead)
                return;
        conn->dead          = true;
        const uint64_t back = sim_below(conn->w, 4);
        conn->cut           = conn->sent > back ? conn->sent - back : 0;
}

void sim_net_break(struct sim *w, struct sim_conn *conn, bool both_hear_soon)
{
        struct sim_conn *ends[2] = { conn, conn->other };
        sim_trace(w, "break", conn->id, conn->node, both_hear_soon);
        for (int i = 0; i < 2; i++)
                cut(ends[i]);
        for (int i = 0; i < 2; i++) {
                sc_ns after = sim_between(w, SC_US, both_hear_soon ? 50 * SC_MS : 20 * SC_S);
                if (both_hear_soon || sim_chance(w, 75))
                        tell_down(ends[i], sc_ns_max(ends[i]->other->last_arrival, w->now + after));
        }
}

void sim_net_half_open(struct sim *w, struct sim_conn *conn)
{
        sim_trace(w, "half-open", conn->id, conn->node, 0);
        cut(conn);
}

void sim_net_clog(struct sim *w, struct sim_conn *conn, sc_ns until)
{
        sim_trace(w, "clog", conn->id, conn->node, (uint64_t)(until - w->now));
        conn->clog_until   = sc_ns_max(conn->clog_until, until); /* what is held up until then stays first */
        conn->last_arrival = sc_ns_max(conn->last_arrival, until + 1);
}

void sim_net_gone(struct sim *w, uint32_t node)
{
        for (struct sim_conn *conn = w->conns; conn != NULL; conn = conn->next) {
                if (conn->node != node || !here(conn))
                        continue;
                conn->closed      = true;
                const bool silent = !w->healed && sim_chance(w, 10);
                if (conn->dead || conn->other->closed)
                        continue;
                cut(conn);
                if (!silent)
                        tell_down(conn->other, sc_ns_max(conn->last_arrival, w->now + sim_between(w, SC_US, SC_S)));
        }
}

struct sim_conn *sim_net_some_conn(struct sim *w)
{
        uint64_t open = 0;
        for (struct sim_conn *conn = w->conns; conn != NULL; conn = conn->next)
                open += conn->up && here(conn) && !conn->dead && sim_honest(w, conn->node);
        if (open == 0)
                return NULL;
        uint64_t pick = sim_below(w, open);
        for (struct sim_conn *conn = w->conns; conn != NULL; conn = conn->next)
                if (conn->up && here(conn) && !conn->dead && sim_honest(w, conn->node) && pick-- == 0)
                        return conn;
        return NULL;
}

void sim_net_fini(struct sim *w)
{
        while (w->conns != NULL) {
                struct sim_conn *conn = w->conns;
                w->conns              = conn->next;
                free(conn);
        }
}
