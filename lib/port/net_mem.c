/*
 * The net inside one process.  A connection is two ends, each in its own runtime and memory, that
 * point at each other under the names' lock.  An end is freed in a turn of its own loop, when it is
 * closed, nobody reads its buffer, and no peer points at it.
 */
#include "net_mem.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "msg.h"
#include "net_url.h"
#include "sc_assert.h"
#include "sc_buf.h"
#include "sc_mem.h"
#include "sc_status.h"

struct mem_net {
        struct sc_net   base;
        struct sc_mem  *mem;
        struct sc_loop *loop;
        struct sc_list  ends, listeners;
};

struct listener {
        struct sc_listener base;
        struct mem_net    *net;
        struct sc_list     link;  /* the net's */
        struct sc_post     called;
        char               name[SC_URL_MAX + 1];
        /* locked */
        struct sc_list named;     /* in the process's list; on none: unlistened */
        struct sc_list callers;   /* ends that dial */
        bool           posted;    /* called is in the inbox */
};

enum end_state { END_DIALLING, END_OPEN, END_CLOSED };

struct end {
        struct sc_conn  base;
        struct mem_net *net;
        struct sc_list  link; /* the net's */
        struct sc_post  news;
        enum end_state  state;
        void           *user;
        uint64_t        ticket;
        bool            sending, paused;
        size_t          read; /* bytes of the peer's `out` that were delivered */
        /* locked */
        struct sc_list waiting;   /* among the callers of a listener */
        struct end    *peer;
        struct sc_buf  out;       /* sent by us, in our memory */
        bool           full;      /* `out` has not all been read by the peer */
        bool           reading;   /* the peer is in the middle of `out` */
        bool           consumed;  /* the peer has read it all: writable() is due */
        bool           closed;
        bool           linked;    /* the dial was accepted, whatever came of the peer since */
        bool           posted;    /* news is in the inbox */
        int            refused;   /* a status: what became of the dial */
        struct sc_buf  late;      /* what a peer whose net was destroyed had sent; final once peer is NULL */
};

static struct {
        pthread_mutex_t lock;
        pthread_cond_t  read; /* somebody has stopped reading */
        struct sc_list  listeners;
} names = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { &names.listeners, &names.listeners } };

/* ---- ends ------------------------------------------------------------------------------------------ */

/* Locked. */
static void tell(struct end *end)
{
        if (!end->posted)
                sc_loop_post(end->net->loop, &end->news);
        end->posted = true;
}

/* Locked.  The last use of both pointers. */
static void part(struct end *end)
{
        struct end *peer = end->peer;
        end->peer        = NULL;
        peer->peer       = NULL;
        tell(peer);
}

static void shut(struct end *end)
{
        end->state = END_CLOSED;
        pthread_mutex_lock(&names.lock);
        end->closed = true;
        sc_list_remove(&end->waiting);
        if (end->peer && end->peer->closed)
                part(end);
        else if (end->peer)
                tell(end->peer);
        tell(end);
        pthread_mutex_unlock(&names.lock);
}

static void end_close(struct sc_conn *base)
{
        struct end *end = (struct end *)base;
        if (end->state != END_CLOSED)
                shut(end);
}

static void end_close_after(struct sc_conn *base, sc_ns linger)
{
        (void)linger;
        end_close(base);
}

static void lose(struct end *end, int status, const char *why)
{
        const struct sc_net *base = &end->net->base;
        shut(end);
        base->upcalls->down(base->ctx, end->user, status, why);
}

static void end_free(struct end *end)
{
        sc_loop_unpost(end->net->loop, &end->news);
        sc_list_remove(&end->link);
        sc_buf_fini(&end->out);
        sc_buf_fini(&end->late);
        sc_mem_release(end->net->mem, end, sizeof *end);
}

/* Reads whole frames from `from` on and gives how far it came. */
static size_t deliver(struct end *end, const struct sc_buf *buf, size_t from)
{
        const struct sc_net *base = &end->net->base;
        while (end->state == END_OPEN && !end->paused && from < buf->len) {
                const size_t left   = buf->len - from;
                const size_t length = left < SC_FRAME_HEAD ? 0 : sc_frame_length(buf->data + from, left);
                if (length < SC_FRAME_HEAD || length > SC_FRAME_MAX || length > left) {
                        lose(end, SC_E_PROTOCOL, "what it sent is not a frame: the length is out of bounds");
                        break;
                }
                base->upcalls->frame(base->ctx, end->user, buf->data + from, length);
                from += length;
        }
        return from;
}

/* Locked.  What the peer has for us, which stays where it is while we read; NULL: nothing. */
static struct end *begin_reading(struct end *end)
{
        struct end *peer = end->peer;
        if (!peer || !peer->full || end->paused)
                return NULL;
        peer->reading = true;
        return peer;
}

/* Locked.  Even when the peer, or we, have closed meanwhile: `reading` has kept it. */
static void end_reading(struct end *peer, bool all)
{
        peer->reading = false;
        if (all) {
                peer->full     = false;
                peer->consumed = true;
        }
        if (all || peer->closed)
                tell(peer);
        pthread_cond_broadcast(&names.read);
}

static void read_peer(struct end *end)
{
        pthread_mutex_lock(&names.lock);
        struct end *peer = begin_reading(end);
        pthread_mutex_unlock(&names.lock);
        if (!peer)
                return;
        end->read = deliver(end, &peer->out, end->read);
        pthread_mutex_lock(&names.lock);
        const bool all = end->read == peer->out.len;
        if (all)
                end->read = 0;
        end_reading(peer, all);
        pthread_mutex_unlock(&names.lock);
}

/* After everything that was sent has been delivered. */
static bool peer_is_gone(struct end *end)
{
        pthread_mutex_lock(&names.lock);
        const bool parted = !end->peer;
        const bool gone   = parted || (end->peer->closed && !end->peer->full);
        pthread_mutex_unlock(&names.lock);
        if (parted)
                end->read = deliver(end, &end->late, end->read);
        return gone && !end->paused && (!parted || end->read == end->late.len);
}

static void take_up(struct end *end, struct sc_listener *listener)
{
        const struct sc_net *base = &end->net->base;
        end->state                = END_OPEN;
        end->user                 = base->upcalls->up(base->ctx, &end->base, listener, end->ticket);
        if (!end->user)
                end_close(&end->base);
}

static void hear_of_dial(struct end *end, bool linked, int refused)
{
        const struct sc_net *base = &end->net->base;
        if (linked) {
                take_up(end, NULL);
        } else if (refused != SC_OK) {
                const uint64_t ticket = end->ticket;
                shut(end);
                base->upcalls->dial_failed(base->ctx, ticket, refused, sc_status_text(refused));
        }
}

static void on_news(struct sc_post *post, sc_ns now)
{
        (void)now;
        struct end          *end  = SC_CONTAINER(post, struct end, news);
        const struct sc_net *base = &end->net->base;
        pthread_mutex_lock(&names.lock);
        end->posted         = false;
        const bool linked   = end->linked;
        const bool consumed = end->consumed;
        const bool over     = end->closed && !end->peer && !end->reading;
        const int  refused  = end->refused;
        end->consumed       = false;
        pthread_mutex_unlock(&names.lock);
        if (over)
                end_free(end);
        if (over || end->state == END_CLOSED)
                return;
        if (end->state == END_DIALLING)
                hear_of_dial(end, linked, refused);
        if (end->state == END_OPEN && consumed) {
                end->sending = false;
                base->upcalls->writable(base->ctx, end->user);
        }
        if (end->state == END_OPEN)
                read_peer(end);
        if (end->state == END_OPEN && peer_is_gone(end) && end->state == END_OPEN)
                lose(end, SC_E_UNREACHABLE, "the peer closed the connection");
}

static struct end *end_create(struct mem_net *net, enum end_state state)
{
        struct end *end = sc_mem_zalloc(net->mem, sizeof *end);
        if (!end)
                return NULL;
        end->base.net = &net->base;
        end->net      = net;
        end->state    = state;
        end->news.run = on_news;
        sc_list_init(&end->waiting);
        sc_buf_init(&end->out, net->mem, SIZE_MAX);
        sc_buf_init(&end->late, net->mem, SIZE_MAX);
        sc_list_add_tail(&net->ends, &end->link);
        return end;
}

static void end_send(struct sc_conn *base, struct sc_buf *frames)
{
        struct end *end = (struct end *)base;
        SC_ASSERT(end->state == END_OPEN);
        SC_ASSERT(!end->sending);
        end->sending = true;
        pthread_mutex_lock(&names.lock);
        SC_ASSERT(!end->full);
        sc_buf_reset(&end->out);
        if (end->peer && !end->peer->closed) {
                sc_buf_swap(&end->out, frames);
                end->full = true;
                tell(end->peer);
        }
        pthread_mutex_unlock(&names.lock);
        sc_buf_reset(frames);
}

static void end_pause(struct sc_conn *base, bool paused)
{
        struct end *end = (struct end *)base;
        end->paused     = paused;
        if (paused || end->state != END_OPEN)
                return;
        pthread_mutex_lock(&names.lock);
        tell(end);
        pthread_mutex_unlock(&names.lock);
}

/* ---- listeners and dials ----------------------------------------------------------------------------- */

/* Locked. */
static struct listener *find(const char *name)
{
        for (struct sc_list *link = names.listeners.next; link != &names.listeners; link = link->next) {
                struct listener *listener = SC_CONTAINER(link, struct listener, named);
                if (strcmp(listener->name, name) == 0)
                        return listener;
        }
        return NULL;
}

/* Locked.  Whoever called first, off the list. */
static struct end *next_caller(struct listener *listener)
{
        struct sc_list *link = sc_list_take(&listener->callers);
        return link ? SC_CONTAINER(link, struct end, waiting) : NULL;
}

/* A caller may be cancelled by its own runtime until it is linked, so all is ready before it is taken. */
static bool accept_one(struct listener *listener)
{
        struct end *end = end_create(listener->net, END_OPEN);
        pthread_mutex_lock(&names.lock);
        struct end *caller = next_caller(listener);
        if (caller && end) {
                end->peer      = caller;
                caller->peer   = end;
                caller->linked = true;
        } else if (caller) {
                caller->refused = SC_E_NOMEM;
        }
        if (caller)
                tell(caller);
        pthread_mutex_unlock(&names.lock);
        if (caller && end)
                take_up(end, &listener->base);
        else if (end)
                end_free(end);
        return caller != NULL;
}

static void listener_free(struct listener *listener)
{
        sc_loop_unpost(listener->net->loop, &listener->called);
        sc_list_remove(&listener->link);
        sc_mem_release(listener->net->mem, listener, sizeof *listener);
}

static bool is_listening(struct listener *listener)
{
        pthread_mutex_lock(&names.lock);
        const bool named = !sc_list_empty(&listener->named);
        pthread_mutex_unlock(&names.lock);
        return named;
}

/* Locked. */
static void call(struct listener *listener)
{
        if (!listener->posted)
                sc_loop_post(listener->net->loop, &listener->called);
        listener->posted = true;
}

static void on_called(struct sc_post *post, sc_ns now)
{
        (void)now;
        struct listener *listener = SC_CONTAINER(post, struct listener, called);
        pthread_mutex_lock(&names.lock);
        listener->posted = false;
        pthread_mutex_unlock(&names.lock);
        while (is_listening(listener))
                if (!accept_one(listener))
                        return;
        listener_free(listener);
}

static int net_listen(struct sc_net *base, const char *url, struct sc_listener **out, char bound[SC_URL_MAX + 1],
                      struct sc_why *why)
{
        struct mem_net *net    = (struct mem_net *)base;
        int             status = sc_url_check(url, true, why);
        if (status != SC_OK)
                return status;
        SC_ASSERT(sc_url_scheme(url) == SC_SCHEME_INPROC);
        struct listener *listener = sc_mem_zalloc(net->mem, sizeof *listener);
        if (!listener) {
                sc_why_set(why, url, "needs more memory than there is");
                return SC_E_NOMEM;
        }
        *listener = (struct listener){ .base = { .net = base }, .net = net, .called = { .run = on_called } };
        snprintf(listener->name, sizeof listener->name, "%s", url);
        sc_list_init(&listener->callers);
        pthread_mutex_lock(&names.lock);
        const bool taken = find(url) != NULL;
        if (!taken)
                sc_list_add_tail(&names.listeners, &listener->named);
        pthread_mutex_unlock(&names.lock);
        if (taken) {
                sc_mem_release(net->mem, listener, sizeof *listener);
                sc_why_set(why, url, "is in use already");
                return SC_E_ADDRESS;
        }
        sc_list_add_tail(&net->listeners, &listener->link);
        snprintf(bound, SC_URL_MAX + 1, "%s", url);
        *out = &listener->base;
        return SC_OK;
}

static void unname(struct listener *listener)
{
        struct end *caller;
        pthread_mutex_lock(&names.lock);
        SC_ASSERT(!sc_list_empty(&listener->named));
        sc_list_remove(&listener->named);
        while ((caller = next_caller(listener)) != NULL) {
                caller->refused = SC_E_UNREACHABLE;
                tell(caller);
        }
        call(listener);
        pthread_mutex_unlock(&names.lock);
}

/* Freed by its own post: this may be inside its up(). */
static void net_unlisten(struct sc_net *base, struct sc_listener *which)
{
        (void)base;
        unname((struct listener *)which);
}

static int net_dial(struct sc_net *base, const char *url, uint64_t ticket, struct sc_why *why)
{
        struct mem_net *net    = (struct mem_net *)base;
        int             status = sc_url_check(url, false, why);
        if (status != SC_OK)
                return status;
        struct end *end = end_create(net, END_DIALLING);
        if (!end) {
                sc_why_set(why, url, "needs more memory than there is");
                return SC_E_NOMEM;
        }
        end->ticket = ticket;
        pthread_mutex_lock(&names.lock);
        struct listener *listener = find(url);
        if (listener) {
                sc_list_add_tail(&listener->callers, &end->waiting);
                call(listener);
        } else {
                end->refused = SC_E_UNREACHABLE;
                tell(end);
        }
        pthread_mutex_unlock(&names.lock);
        return SC_OK;
}

static void net_dial_cancel(struct sc_net *base, uint64_t ticket)
{
        struct mem_net *net = (struct mem_net *)base;
        for (struct sc_list *link = net->ends.next; link != &net->ends; link = link->next) {
                struct end *end = SC_CONTAINER(link, struct end, link);
                if (end->state == END_DIALLING && end->ticket == ticket)
                        shut(end);
        }
}

/* ---- the end of the net ------------------------------------------------------------------------------ */

/* Locked.  What was sent and not read goes over into the reader's memory, or is lost if there is none. */
static void bequeath(struct end *end)
{
        struct end *peer = end->peer;
        if (end->full && !peer->closed)
                sc_buf_add(&peer->late, end->out.data + peer->read, end->out.len - peer->read);
        peer->read = 0;
        part(end);
}

static void end_destroy(struct end *end)
{
        pthread_mutex_lock(&names.lock);
        end->closed = true;
        sc_list_remove(&end->waiting);
        while (end->reading)
                pthread_cond_wait(&names.read, &names.lock);
        if (end->peer)
                bequeath(end);
        pthread_mutex_unlock(&names.lock);
        end_free(end);
}

static void net_destroy(struct sc_net *base)
{
        struct mem_net *net = (struct mem_net *)base;
        struct sc_list *link;
        SC_ASSERT(sc_loop_held(net->loop));
        while ((link = net->listeners.next) != &net->listeners) {
                struct listener *listener = SC_CONTAINER(link, struct listener, link);
                if (is_listening(listener))
                        unname(listener);
                listener_free(listener);
        }
        while ((link = net->ends.next) != &net->ends)
                end_destroy(SC_CONTAINER(link, struct end, link));
        sc_mem_release(net->mem, net, sizeof *net);
}

static const struct sc_net_ops net_ops = {
        .listen      = net_listen,
        .unlisten    = net_unlisten,
        .dial        = net_dial,
        .dial_cancel = net_dial_cancel,
        .send        = end_send,
        .close       = end_close,
        .close_after = end_close_after,
        .pause       = end_pause,
        .destroy     = net_destroy,
};

int sc_net_mem_create(struct sc_mem *mem, struct sc_loop *loop, const struct sc_net_upcalls *upcalls, void *ctx,
                      struct sc_net **out)
{
        struct mem_net *net = sc_mem_zalloc(mem, sizeof *net);
        if (!net)
                return SC_E_NOMEM;
        net->base = (struct sc_net){ .ops = &net_ops, .upcalls = upcalls, .ctx = ctx };
        net->mem  = mem;
        net->loop = loop;
        sc_list_init(&net->ends);
        sc_list_init(&net->listeners);
        *out = &net->base;
        return SC_OK;
}
