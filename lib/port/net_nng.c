/*
 * The net over nng's byte streams: what lives as long as the net does - its seat on the loop, its
 * timers, its reaper - and the words for what nng reports.  Why streams and not nng's sockets:
 * doc/architecture.md; test/nng has the reproducers.
 */
#include "net_nng.h"

#include "net_nng_impl.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

/* ---- timers -------------------------------------------------------------------------------------- */

static bool due_before(const void *a, const void *b)
{
        return ((const struct sc_nng_timer *)a)->due < ((const struct sc_nng_timer *)b)->due;
}

static void due_moved(void *item, size_t position)
{
        ((struct sc_nng_timer *)item)->position = position;
}

bool sc_nng_reserve_timer(struct sc_nng_net *net, struct sc_nng_timer *timer,
                          void (*fire)(struct sc_nng_timer *, sc_ns))
{
        *timer = (struct sc_nng_timer){ .due = SC_NEVER, .position = SC_HEAP_NOWHERE, .fire = fire };
        return sc_heap_reserve(&net->timers, net->timed + 1);
}

void sc_nng_set_timer(struct sc_nng_net *net, struct sc_nng_timer *timer, sc_ns due)
{
        if (timer->position != SC_HEAP_NOWHERE)
                sc_heap_remove(&net->timers, timer->position);
        timer->due = due;
        if (due != SC_NEVER)
                sc_heap_push(&net->timers, timer);
        sc_loop_touch(net->loop, &net->member);
}

/* ---- on the loop --------------------------------------------------------------------------------- */

static sc_ns net_deadline(void *ctx)
{
        const struct sc_nng_net   *net   = ctx;
        const struct sc_nng_timer *first = sc_heap_top(&net->timers);
        return first ? first->due : SC_NEVER;
}

static void net_tick(void *ctx, sc_ns now)
{
        struct sc_nng_net   *net = ctx;
        struct sc_nng_timer *first;
        while ((first = sc_heap_top(&net->timers)) != NULL && first->due <= now) {
                sc_nng_set_timer(net, first, SC_NEVER);
                first->fire(first, now);
        }
}

/* After the roles have sent: what they sent is what somebody waits for. */
static void net_flush(void *ctx, sc_ns now)
{
        struct sc_nng_net *net = ctx;
        struct sc_list    *link;
        struct sc_list     wanting;
        sc_list_init(&wanting);
        sc_list_splice(&wanting, &net->rearm);
        while ((link = sc_list_take(&wanting)) != NULL)
                sc_nng_conn_rearm(SC_CONTAINER(link, struct sc_nng_conn, rearm), now);
}

static const struct sc_member_ops member_ops = { .deadline = net_deadline, .tick = net_tick, .flush = net_flush };

/* ---- what nng says --------------------------------------------------------------------------------- */

int sc_nng_status(int result)
{
        switch (result) {
        case NNG_ENOMEM:
                return SC_E_NOMEM;
        case NNG_EADDRINVAL:
        case NNG_EADDRINUSE:
        case NNG_EPERM:
                return SC_E_ADDRESS;
        case NNG_EPEERAUTH:
                return SC_E_DENIED;
        case NNG_ECRYPTO:
                return SC_E_PROTOCOL;
        case NNG_ENOTSUP:
                return SC_E_UNSUPPORTED;
        default:
                return SC_E_UNREACHABLE;
        }
}

const char *sc_nng_words(int result)
{
        switch (result) {
        case NNG_EADDRINUSE:
                return "is in use already";
        case NNG_EADDRINVAL:
                return "cannot be resolved, or is no address of this machine";
        case NNG_EPERM:
                return "is not permitted to this user";
        case NNG_ENOENT:
                return "is in a directory that does not exist";
        case NNG_ECONNREFUSED:
                return "has nobody listening";
        case NNG_ETIMEDOUT:
                return "did not answer in time";
        case NNG_EUNREACHABLE:
                return "cannot be reached from here";
        case NNG_ECONNSHUT:
                return "the peer closed the connection";
        case NNG_ECONNRESET:
                return "the connection was reset";
        case NNG_EPEERAUTH:
                return "its certificate is not accepted: not of the CA given, out of date, revoked or for another name";
        case NNG_ECRYPTO:
                return "no TLS came about: it speaks none, or does not accept our side's certificate";
        case NNG_ENOFILES:
                return "needs a descriptor, and there are none left";
        default:
                return nng_strerror(result);
        }
}

/* ---- create and destroy ------------------------------------------------------------------------------ */

static void net_free(struct sc_nng_net *net)
{
        nng_aio_free(net->quick);
        sc_nng_tls_fini(&net->tls);
        sc_heap_fini(&net->timers);
        pthread_cond_destroy(&net->reaper.wake);
        pthread_mutex_destroy(&net->reaper.lock);
        sc_mem_release(net->mem, net, sizeof *net);
}

static void net_destroy(struct sc_net *base)
{
        struct sc_nng_net *net = (struct sc_nng_net *)base;
        SC_ASSERT(sc_loop_held(net->loop)); /* a turn may be inside the very callback that the reaper waits for */
        struct sc_list *link;
        for (link = net->conns.next; link != &net->conns; link = link->next)
                sc_nng_conn_close(&SC_CONTAINER(link, struct sc_nng_conn, link)->base);
        sc_nng_meet_bury(net);
        sc_nng_reaper_finish(&net->reaper);
        while ((link = net->conns.next) != &net->conns)
                sc_nng_conn_free(SC_CONTAINER(link, struct sc_nng_conn, link));
        sc_nng_meet_free(net);
        SC_ASSERT(net->timed == 0);
        sc_loop_leave(net->loop, &net->member);
        net_free(net);
}

static const struct sc_net_ops net_ops = {
        .listen      = sc_nng_listen,
        .unlisten    = sc_nng_unlisten,
        .dial        = sc_nng_dial,
        .dial_cancel = sc_nng_dial_cancel,
        .send        = sc_nng_conn_send,
        .close       = sc_nng_conn_close,
        .close_after = sc_nng_conn_close_after,
        .pause       = sc_nng_conn_pause,
        .destroy     = net_destroy,
};

int sc_net_nng_secure(struct sc_net *base, const struct sc_tls *tls, struct sc_why *why)
{
        struct sc_nng_net *net = (struct sc_nng_net *)base;
        struct sc_nng_tls  made;
        SC_ASSERT(sc_loop_held(net->loop));
        const int status = sc_nng_tls_init(&made, net->mem, tls, why);
        if (status != SC_OK)
                return status;
        sc_nng_tls_fini(&net->tls);
        net->tls = made;
        return SC_OK;
}

int sc_net_nng_create(struct sc_mem *mem, struct sc_loop *loop, const struct sc_net_upcalls *upcalls, void *ctx,
                      struct sc_net **out)
{
        const int started = sc_nng_start();
        if (started != SC_OK)
                return started;
        struct sc_nng_net *net = sc_mem_zalloc(mem, sizeof *net);
        if (!net)
                return SC_E_NOMEM;
        net->base        = (struct sc_net){ .ops = &net_ops, .upcalls = upcalls, .ctx = ctx };
        net->mem         = mem;
        net->tls.mem     = mem;
        net->loop        = loop;
        net->reaper.loop = loop;
        pthread_mutex_init(&net->reaper.lock, NULL);
        pthread_cond_init(&net->reaper.wake, NULL);
        sc_list_init(&net->reaper.queue);
        sc_list_init(&net->conns);
        sc_list_init(&net->listeners);
        sc_list_init(&net->dials);
        sc_list_init(&net->rearm);
        sc_heap_init(&net->timers, mem, due_before, due_moved);
        const int result = nng_aio_alloc(&net->quick, NULL, NULL);
        if (result != 0 || sc_loop_join(loop, &net->member, &member_ops, net) != SC_OK) {
                net_free(net);
                return result == 0 || result == NNG_ENOMEM ? SC_E_NOMEM : SC_E_IO;
        }
        *out = &net->base;
        return SC_OK;
}
