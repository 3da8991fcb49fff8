/*
 * One connection over an nng stream: whole frames out of the bytes that come, and one send in flight.
 * A receive is always under way, except while upcalls go on or the connection is paused.  The receive
 * buffer grows with what really arrives, never with what a peer announces.
 */
#include "fork.h"
#include "frame.h"
#include "msg.h"
#include "net_nng_impl.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

enum { TLS_RECORD_MAX = 16384 };

/* ---- the end -------------------------------------------------------------------------------------- */

/* Whoever floods a listener with connections to no purpose pays by waiting, so that those who are in need not. */
static void count_brief_one(const struct sc_nng_conn *conn)
{
        struct sc_nng_net *net = conn->net;
        const sc_ns        now = sc_loop_now(net->loop);
        if (conn->accepted && now - conn->born < SC_NNG_BRIEF_MS * SC_MS)
                net->pace = sc_ns_add(sc_ns_max(net->pace, now), SC_NNG_PACE_MS * SC_MS);
}

static void bury(struct sc_nng_conn *conn)
{
        count_brief_one(conn);
        conn->state = SC_NNG_CLOSED;
        sc_list_remove(&conn->rearm);
        sc_nng_set_timer(conn->net, &conn->timer, SC_NEVER);
        sc_nng_bury(&conn->net->reaper, &conn->remains);
}

/* The down upcall, if anybody is still to be told. */
static void lose(struct sc_nng_conn *conn, int status, const char *why)
{
        bool told = conn->state != SC_NNG_OPEN;
        bury(conn);
        if (!told)
                conn->net->base.upcalls->down(conn->net->base.ctx, conn->user, status, why);
}

void sc_nng_conn_close(struct sc_conn *base)
{
        struct sc_nng_conn *conn = (struct sc_nng_conn *)base;
        if (conn->state != SC_NNG_CLOSED)
                bury(conn);
}

/* Under TLS what has left us may still be in a buffer of nng, and nothing says when it is not: a moment for that. */
static void let_drain(struct sc_nng_conn *conn)
{
        const sc_ns soon = sc_ns_add(sc_loop_now(conn->net->loop), SC_NNG_DRAIN_MS * SC_MS);
        sc_nng_set_timer(conn->net, &conn->timer, sc_ns_min(soon, conn->timer.due));
}

void sc_nng_conn_close_after(struct sc_conn *base, sc_ns linger)
{
        struct sc_nng_conn *conn = (struct sc_nng_conn *)base;
        if (conn->state != SC_NNG_OPEN)
                return;
        const bool left = !conn->sending || conn->out_at == conn->out.len;
        if (conn->broken || (left && !conn->tls)) {
                bury(conn);
                return;
        }
        conn->state  = SC_NNG_LINGERING;
        conn->in.len = 0; /* nobody will read it: what comes is received and forgotten, so that the peer can go on */
        sc_nng_set_timer(conn->net, &conn->timer, sc_ns_add(sc_loop_now(conn->net->loop), linger));
        if (left)
                let_drain(conn);
        sc_nng_conn_pause(base, false);
}

void sc_nng_conn_free(struct sc_nng_conn *conn)
{
        struct sc_nng_net *net = conn->net;
        sc_loop_unpost(net->loop, &conn->received);
        sc_loop_unpost(net->loop, &conn->sent);
        sc_loop_unpost(net->loop, &conn->remains.buried);
        sc_list_remove(&conn->rearm);
        sc_list_remove(&conn->link);
        net->timed--;
        sc_buf_fini(&conn->in);
        sc_buf_fini(&conn->out);
        sc_mem_release(net->mem, conn, sizeof *conn);
}

static void on_buried(struct sc_post *post, sc_ns now)
{
        (void)now;
        sc_nng_conn_free(SC_CONTAINER(post, struct sc_nng_conn, remains.buried));
}

/* ---- receiving ------------------------------------------------------------------------------------ */

static void want_rearm(struct sc_nng_conn *conn)
{
        if (conn->receiving || conn->end != 0 || !sc_list_empty(&conn->rearm))
                return;
        sc_list_add_tail(&conn->net->rearm, &conn->rearm);
        sc_loop_touch(conn->net->loop, &conn->net->member);
}

/* Called by nng.  The stream is not touched again until the turn has run the post. */
static void received_callback(void *arg)
{
        struct sc_nng_conn *conn = arg;
        conn->receive_result     = nng_aio_result(conn->remains.aio[0]);
        conn->receive_count      = nng_aio_count(conn->remains.aio[0]);
        sc_loop_post_and_turn(conn->net->loop, &conn->received);
}

static const char tls_words[] = "it speaks TLS and we do not: the address wants to be tls+tcp:// on both sides";

/* Bytes of the whole frame at `at`: 0 when it is not all there. */
static size_t whole_frame(struct sc_nng_conn *conn, size_t at)
{
        const size_t left = conn->in.len - at;
        if (left < sizeof(uint32_t))
                return 0;
        if (!conn->tls && !conn->heard && sc_nng_tls_is_here(conn->in.data + at, left)) {
                lose(conn, SC_E_PROTOCOL, tls_words);
                return 0;
        }
        const size_t length = sc_frame_length(conn->in.data + at, left);
        if (length < SC_FRAME_HEAD || length > SC_FRAME_MAX) {
                lose(conn, SC_E_PROTOCOL, "what it sent is not a frame: the length is out of bounds");
                return 0;
        }
        return length <= left ? length : 0;
}

static void deliver(struct sc_nng_conn *conn)
{
        const struct sc_net *base = &conn->net->base;
        size_t               at   = 0, length;
        while (conn->state == SC_NNG_OPEN && !conn->paused && (length = whole_frame(conn, at)) > 0) {
                conn->heard = true;
                base->upcalls->frame(base->ctx, conn->user, conn->in.data + at, length);
                at += length;
        }
        if (conn->state == SC_NNG_OPEN)
                sc_buf_drop_front(&conn->in, at);
        if (conn->state == SC_NNG_LINGERING)
                conn->in.len = 0;
}

/* Memory is kept back for what must be: buffers are small. */
static bool is_tight(const struct sc_nng_conn *conn)
{
        return sc_mem_beyond(conn->net->mem, SC_MEM_ASKED, 0);
}

static void shrink(struct sc_nng_conn *conn)
{
        sc_buf_shrink(&conn->in, conn->in.len > SC_NNG_READ_MIN ? conn->in.len : SC_NNG_READ_MIN);
        if (!conn->sending)
                sc_buf_shrink(&conn->out, 0);
}

static void watch_idleness(struct sc_nng_conn *conn)
{
        if (conn->state == SC_NNG_OPEN && conn->timer.due == SC_NEVER)
                sc_nng_set_timer(conn->net, &conn->timer, sc_ns_add(conn->busy_at, SC_NNG_IDLE_MS * SC_MS));
}

/* nng has one word for a certificate that was not accepted and for all else that can go wrong with TLS; but whether it
 * was verified can be asked. */
static int how_it_ended(const struct sc_nng_conn *conn)
{
        bool verified = true;
        if (conn->end == NNG_ECRYPTO && conn->verifies)
                nng_stream_get_bool(conn->remains.stream, NNG_OPT_TLS_VERIFIED, &verified);
        return verified ? conn->end : NNG_EPEERAUTH;
}

/* A side that does not accept the other's certificate may be gone before it could say so. */
static const char *end_words(const struct sc_nng_conn *conn)
{
        const bool cut = conn->end == NNG_ECONNSHUT || conn->end == NNG_ECLOSED || conn->end == NNG_ECONNRESET ||
                         conn->end == NNG_ECONNREFUSED;
        if (conn->heard || !cut)
                return sc_nng_words(how_it_ended(conn));
        if (!conn->tls)
                return "closed before a word was said: it wants to be tls+tcp:// there, or it is full";
        return "closed before a word was said: it speaks no TLS, or does not accept our side's certificate";
}

static int end_status(const struct sc_nng_conn *conn)
{
        if (conn->end == NNG_ENOMEM || (conn->tls && !conn->heard))
                return sc_nng_status(how_it_ended(conn));
        return SC_E_UNREACHABLE;
}

static void on_end(struct sc_nng_conn *conn)
{
        if (conn->paused && conn->state == SC_NNG_OPEN)
                return; /* frames before the end may still wait for their reader */
        lose(conn, end_status(conn), end_words(conn));
}

static void on_received(struct sc_post *post, sc_ns now)
{
        struct sc_nng_conn *conn = SC_CONTAINER(post, struct sc_nng_conn, received);
        conn->receiving          = false;
        if (conn->state == SC_NNG_CLOSED)
                return;
        if (conn->receive_result == NNG_ECANCELED) {
                shrink(conn); /* the idle timer asked for the buffer */
        } else if (conn->receive_result != 0) {
                conn->end = conn->receive_result;
                deliver(conn); /* what a pause has kept waiting comes before the end */
                if (conn->state != SC_NNG_CLOSED)
                        on_end(conn);
                return;
        } else {
                conn->in.len += conn->receive_count;
                conn->busy_at = now;
                deliver(conn);
                const size_t much = is_tight(conn) ? SC_NNG_READ_MIN : 4 * TLS_RECORD_MAX;
                if ((conn->tls || is_tight(conn)) && conn->state != SC_NNG_CLOSED && conn->in.cap > much &&
                    conn->in.len == 0)
                        shrink(conn); /* idle ones of TLS cannot be asked to: see on_timer() */
        }
        if (conn->state != SC_NNG_CLOSED && !conn->paused)
                want_rearm(conn);
}

/* Doubles the buffer when it is full of one unfinished frame, or when more could have been received at once. */
static bool make_room(struct sc_nng_conn *conn)
{
        struct sc_buf *in   = &conn->in;
        const bool     full = in->len == in->cap;
        const bool     busy = in->cap < SC_NNG_READ_MAX && conn->asked > 0 && conn->receive_count == conn->asked &&
                          !is_tight(conn);
        if (full || busy || in->cap == 0)
                sc_buf_reserve(in, in->cap == 0 ? SC_NNG_READ_MIN : in->cap - in->len + 1);
        return in->len < in->cap;
}

static void wait_for_memory(struct sc_nng_conn *conn, sc_ns now)
{
        if (conn->hungry_since == 0)
                conn->hungry_since = now;
        if (now - conn->hungry_since >= SC_NNG_STARVED_MS * SC_MS)
                lose(conn, SC_E_NOMEM, "no memory for what it sends");
        else
                sc_nng_set_timer(conn->net, &conn->timer, sc_ns_add(now, SC_NNG_HUNGRY_MS * SC_MS));
}

static bool is_gone(const struct sc_nng_conn *conn)
{
        nng_sockaddr addr;
        return nng_stream_get_addr(conn->remains.stream, NNG_OPT_REMADDR, &addr) != 0;
}

/* nng 1.5 forgets how a TLS stream ended when nobody was receiving just then, and lets whoever receives next wait for
 * ever.  So we look whether the other side is still there: now, and once more when it has been quiet. */
static void watch_for_the_end(struct sc_nng_conn *conn, sc_ns now)
{
        const sc_ns look = is_gone(conn) ? SC_NNG_GONE_MS * SC_MS : SC_NNG_IDLE_MS * SC_MS;
        sc_nng_set_timer(conn->net, &conn->timer, sc_ns_min(conn->timer.due, sc_ns_add(now, look)));
}

void sc_nng_conn_rearm(struct sc_nng_conn *conn, sc_ns now)
{
        if (sc_forked())
                return;
        if (conn->state == SC_NNG_OPEN)
                deliver(conn); /* frames that came before a pause */
        if (conn->state == SC_NNG_CLOSED || conn->paused || conn->receiving)
                return;
        if (conn->end != 0) {
                on_end(conn);
                return;
        }
        if (!make_room(conn)) {
                wait_for_memory(conn, now);
                return;
        }
        conn->hungry_since = 0;
        const size_t room = conn->in.cap - conn->in.len;
        conn->asked       = room < SC_NNG_READ_MAX ? room : SC_NNG_READ_MAX;
        nng_iov into      = { .iov_buf = conn->in.data + conn->in.len, .iov_len = conn->asked };
        conn->receiving   = true;
        if (conn->tls)
                watch_for_the_end(conn, now);
        else if (conn->in.cap > SC_NNG_READ_MIN)
                watch_idleness(conn);
        nng_aio_set_iov(conn->remains.aio[0], 1, &into);
        nng_stream_recv(conn->remains.stream, conn->remains.aio[0]);
}

void sc_nng_conn_pause(struct sc_conn *base, bool paused)
{
        struct sc_nng_conn *conn = (struct sc_nng_conn *)base;
        if (conn->state == SC_NNG_CLOSED || conn->paused == paused)
                return;
        conn->paused = paused;
        if (paused || !sc_list_empty(&conn->rearm))
                return;
        sc_list_add_tail(&conn->net->rearm, &conn->rearm);
        sc_loop_touch(conn->net->loop, &conn->net->member);
}

/* ---- sending -------------------------------------------------------------------------------------- */

/* The stream may have bytes for us still, and its end will tell; but not for ever. */
static void broken(struct sc_nng_conn *conn)
{
        conn->broken = true;
        sc_ns wait   = conn->state == SC_NNG_OPEN && !conn->paused ? SC_NNG_BROKEN_MS * SC_MS : 0;
        sc_nng_set_timer(conn->net, &conn->timer, sc_ns_add(sc_loop_now(conn->net->loop), wait));
}

static nng_iov next_piece(const struct sc_nng_conn *conn)
{
        const size_t left = conn->out.len - conn->out_at;
        return (nng_iov){ .iov_buf = conn->out.data + conn->out_at,
                          .iov_len = left < SC_NNG_READ_MAX ? left : SC_NNG_READ_MAX };
}

/* What the kernel takes at once: bytes; 0: nothing just now; -1: it is broken.  An aio without a callback
 * costs no other thread a wake-up; if the operation has not ended by itself, aborting ends it untouched. */
static long send_quickly(struct sc_nng_conn *conn)
{
        nng_aio *aio   = conn->net->quick;
        nng_iov  piece = next_piece(conn);
        nng_aio_set_iov(aio, 1, &piece);
        nng_stream_send(conn->remains.stream, aio);
        nng_aio_abort(aio, NNG_ECANCELED);
        nng_aio_wait(aio);
        const int result = nng_aio_result(aio);
        if (result == NNG_ECANCELED)
                return 0;
        return result == 0 ? (long)nng_aio_count(aio) : -1;
}

/* Sends until all has left, the kernel takes no more, or it breaks.  Aborting an operation of TLS would end the whole
 * connection, so there every send goes the long way. */
static void push(struct sc_nng_conn *conn)
{
        if (sc_forked())
                return; /* a fork of the host, made inside a callback: the socket is the parent's */
        while (conn->out_at < conn->out.len) {
                long took = conn->tls ? 0 : send_quickly(conn);
                if (took < 0) {
                        broken(conn);
                        return;
                }
                conn->out_at += (size_t)took;
                if (took > 0)
                        continue;
                nng_iov piece = next_piece(conn);
                conn->waiting = true;
                nng_aio_set_iov(conn->remains.aio[1], 1, &piece);
                nng_stream_send(conn->remains.stream, conn->remains.aio[1]);
                return;
        }
}

/* Called by nng. */
static void sent_callback(void *arg)
{
        struct sc_nng_conn *conn = arg;
        conn->send_result        = nng_aio_result(conn->remains.aio[1]);
        conn->send_count         = nng_aio_count(conn->remains.aio[1]);
        sc_loop_post_and_turn(conn->net->loop, &conn->sent);
}

static void all_left(struct sc_nng_conn *conn)
{
        const struct sc_net *base = &conn->net->base;
        conn->sending             = false;
        conn->busy_at             = sc_loop_now(conn->net->loop);
        sc_buf_reset(&conn->out);
        sc_buf_shrink(&conn->out, is_tight(conn) ? 0 : SC_NNG_READ_MAX);
        if (conn->state == SC_NNG_LINGERING) {
                if (conn->tls)
                        let_drain(conn);
                else
                        bury(conn);
                return;
        }
        if (conn->out.cap > SC_NNG_READ_MIN)
                watch_idleness(conn);
        base->upcalls->writable(base->ctx, conn->user);
}

/* The callback's, or send()'s own when all had left at once: writable() never comes inside send(). */
static void on_sent(struct sc_post *post, sc_ns now)
{
        (void)now;
        struct sc_nng_conn *conn = SC_CONTAINER(post, struct sc_nng_conn, sent);
        const bool          told = conn->waiting;
        conn->waiting            = false;
        if (conn->state == SC_NNG_CLOSED || conn->broken)
                return;
        if (told && conn->send_result != 0) {
                broken(conn);
                return;
        }
        if (told) {
                conn->out_at += conn->send_count;
                push(conn);
        }
        if (conn->out_at == conn->out.len)
                all_left(conn);
}

void sc_nng_conn_send(struct sc_conn *base, struct sc_buf *frames)
{
        struct sc_nng_conn *conn = (struct sc_nng_conn *)base;
        SC_ASSERT(conn->state == SC_NNG_OPEN);
        SC_ASSERT(!conn->sending);
        sc_buf_swap(&conn->out, frames);
        conn->out_at  = 0;
        conn->sending = true;
        if (!conn->broken)
                push(conn);
        if (conn->out_at == conn->out.len)
                sc_loop_post(conn->net->loop, &conn->sent);
}

/* ---- the beginning -------------------------------------------------------------------------------- */

static void on_timer(struct sc_nng_timer *timer, sc_ns now)
{
        struct sc_nng_conn *conn = SC_CONTAINER(timer, struct sc_nng_conn, timer);
        if (conn->state == SC_NNG_LINGERING) {
                bury(conn);
        } else if (conn->broken) {
                conn->end = conn->tls && conn->send_result != 0 ? conn->send_result : NNG_ECONNSHUT;
                lose(conn, end_status(conn), end_words(conn));
        } else if (conn->hungry_since != 0 && !conn->receiving) {
                want_rearm(conn);
        } else if (conn->tls && conn->receiving && is_gone(conn)) {
                conn->end = NNG_ECONNSHUT;
                on_end(conn);
        } else if (now - conn->busy_at < SC_NNG_IDLE_MS * SC_MS) {
                watch_idleness(conn);
        } else if (!conn->tls && conn->receiving && conn->in.cap > SC_NNG_READ_MIN + 2 * conn->in.len) {
                nng_aio_abort(conn->remains.aio[0], NNG_ECANCELED);
        } else if (!conn->sending) {
                sc_buf_shrink(&conn->out, 0);
        }
}

static void discard(nng_stream *stream)
{
        nng_stream_close(stream);
        nng_stream_free(stream);
}

struct sc_nng_conn *sc_nng_conn_create(struct sc_nng_net *net, nng_stream *stream, bool tls)
{
        struct sc_nng_conn *conn = sc_mem_zalloc(net->mem, sizeof *conn);
        if (!conn) {
                discard(stream);
                return NULL;
        }
        *conn = (struct sc_nng_conn){
                .base     = { .net = &net->base },
                .net      = net,
                .tls      = tls,
                .received = { .run = on_received },
                .sent     = { .run = on_sent },
                .remains  = { .stream = stream, .buried = { .run = on_buried } },
                .busy_at  = sc_loop_now(net->loop),
                .born     = sc_loop_now(net->loop),
        };
        sc_list_init(&conn->rearm);
        sc_list_init(&conn->link);
        sc_buf_init(&conn->in, net->mem, SC_FRAME_MAX);
        sc_buf_init(&conn->out, net->mem, SIZE_MAX);
        if (!sc_nng_reserve_timer(net, &conn->timer, on_timer) || !sc_buf_reserve(&conn->in, SC_NNG_READ_MIN) ||
            nng_aio_alloc(&conn->remains.aio[0], received_callback, conn) != 0 ||
            nng_aio_alloc(&conn->remains.aio[1], sent_callback, conn) != 0) {
                discard(stream);
                nng_aio_free(conn->remains.aio[0]);
                sc_buf_fini(&conn->in);
                sc_mem_release(net->mem, conn, sizeof *conn);
                return NULL;
        }
        nng_stream_set_bool(stream, NNG_OPT_TCP_NODELAY, true); /* refused where there is no TCP */
        net->timed++;
        sc_list_add_tail(&net->conns, &conn->link);
        return conn;
}

void sc_nng_conn_up(struct sc_nng_conn *conn, struct sc_listener *listener, uint64_t ticket)
{
        const struct sc_net *base = &conn->net->base;
        conn->verifies            = conn->tls && (listener ? conn->net->tls.mutual : !conn->net->tls.unverified);
        conn->accepted            = listener != NULL;
        conn->user                = base->upcalls->up(base->ctx, &conn->base, listener, ticket);
        if (!conn->user)
                sc_nng_conn_close(&conn->base);
        else if (conn->state != SC_NNG_CLOSED)
                want_rearm(conn);
}
