/*
 * Where connections come from: listeners, which accept one after the other and pause when
 * descriptors run out, and dials, each with a dialer of its own that is buried when it has ended.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net_nng_impl.h"
#include "net_url.h"
#include "sc_mem.h"
#include "sc_status.h"

struct meeting { /* a listener or a dial */
        struct sc_listener    base; /* listeners only */
        struct sc_nng_net    *net;
        struct sc_list        link;
        struct sc_nng_remains remains; /* aio[0]: accepts or dials; stream: what came of it and nobody has taken yet */
        struct sc_post        met;
        int                   result;
        bool                  tls;
        struct sc_nng_timer   timer;        /* listeners only: accept again */
        sc_ns                 silent_until; /* listeners only: no more words about that before */
        uint64_t              ticket;       /* dials only */
};

/* inproc: names over nng: Linux's abstract names are the machine's, so ours carry the process. */
static void real_url(const char *url, char real[SC_URL_MAX + 1])
{
        if (sc_url_scheme(url) == SC_SCHEME_INPROC)
                snprintf(real, SC_URL_MAX + 1, "abstract://scaler-inproc-%ld-%s", (long)getpid(), sc_url_rest(url));
        else
                snprintf(real, SC_URL_MAX + 1, "%s", url);
}

static bool is_tls(const char *url)
{
        return sc_url_scheme(url) == SC_SCHEME_TLS;
}

/* ---- both ------------------------------------------------------------------------------------------ */

/* Called by nng. */
static void met_callback(void *arg)
{
        struct meeting *meeting = arg;
        meeting->result         = nng_aio_result(meeting->remains.aio[0]);
        if (meeting->result == 0)
                meeting->remains.stream = nng_aio_get_output(meeting->remains.aio[0], 0);
        sc_loop_post_and_turn(meeting->net->loop, &meeting->met);
}

static void meeting_free(struct meeting *meeting)
{
        struct sc_nng_net *net = meeting->net;
        sc_loop_unpost(net->loop, &meeting->met);
        sc_loop_unpost(net->loop, &meeting->remains.buried);
        if (meeting->base.net)
                net->timed--;
        sc_list_remove(&meeting->link);
        sc_mem_release(net->mem, meeting, sizeof *meeting);
}

static void on_buried(struct sc_post *post, sc_ns now)
{
        (void)now;
        meeting_free(SC_CONTAINER(post, struct meeting, remains.buried));
}

static struct meeting *meeting_create(struct sc_nng_net *net, const char *url, void (*run)(struct sc_post *, sc_ns))
{
        struct meeting *meeting = sc_mem_zalloc(net->mem, sizeof *meeting);
        if (!meeting)
                return NULL;
        *meeting = (struct meeting){
                .net     = net,
                .met     = { .run = run },
                .remains = { .buried = { .run = on_buried } },
                .tls     = is_tls(url),
        };
        sc_list_init(&meeting->link);
        if (nng_aio_alloc(&meeting->remains.aio[0], met_callback, meeting) == 0)
                return meeting;
        sc_mem_release(net->mem, meeting, sizeof *meeting);
        return NULL;
}

/* One that nng never knew, or whose operation never began. */
static void meeting_drop(struct meeting *meeting)
{
        nng_stream_listener_free(meeting->remains.listener);
        nng_stream_dialer_free(meeting->remains.dialer);
        nng_aio_free(meeting->remains.aio[0]);
        sc_mem_release(meeting->net->mem, meeting, sizeof *meeting);
}

static nng_stream *take_stream(struct meeting *meeting)
{
        nng_stream *stream      = meeting->remains.stream;
        meeting->remains.stream = NULL;
        return stream;
}

/* ---- listeners ------------------------------------------------------------------------------------- */

static void accept_next(struct meeting *meeting, sc_ns now)
{
        const sc_ns at = meeting->net->pace - SC_NNG_BURST * SC_NNG_PACE_MS * SC_MS;
        if (at > now)
                sc_nng_set_timer(meeting->net, &meeting->timer, at);
        else
                nng_stream_listener_accept(meeting->remains.listener, meeting->remains.aio[0]);
}

static void tell_deaf(struct meeting *meeting, sc_ns now)
{
        const struct sc_net *base = &meeting->net->base;
        if (!base->upcalls->accept_failed || now < meeting->silent_until)
                return;
        meeting->silent_until = sc_ns_add(now, SC_NNG_SAY_S * SC_S);
        base->upcalls->accept_failed(base->ctx, sc_nng_words(meeting->result));
}

static void on_accepted(struct sc_post *post, sc_ns now)
{
        struct meeting    *meeting = SC_CONTAINER(post, struct meeting, met);
        struct sc_nng_net *net     = meeting->net;
        if (meeting->remains.given)
                return;
        if (meeting->result != 0) {
                sc_nng_set_timer(net, &meeting->timer, sc_ns_add(now, SC_NNG_RETRY_MS * SC_MS));
                tell_deaf(meeting, now);
                return;
        }
        struct sc_nng_conn *conn = sc_nng_conn_create(net, take_stream(meeting), meeting->tls);
        if (conn)
                sc_nng_conn_up(conn, &meeting->base, 0);
        if (!meeting->remains.given) /* up() may have said unlisten() */
                accept_next(meeting, now);
}

static void on_retry(struct sc_nng_timer *timer, sc_ns now)
{
        accept_next(SC_CONTAINER(timer, struct meeting, timer), now);
}

static void unlisten(struct meeting *meeting)
{
        sc_nng_set_timer(meeting->net, &meeting->timer, SC_NEVER);
        sc_nng_bury(&meeting->net->reaper, &meeting->remains);
}

void sc_nng_unlisten(struct sc_net *base, struct sc_listener *listener)
{
        (void)base;
        unlisten((struct meeting *)listener);
}

/* nng takes whatever is at the path and does not answer for a dead socket, and removes it. */
static bool is_in_the_way(const char *url)
{
        struct stat about;
        return sc_url_scheme(url) == SC_SCHEME_IPC && lstat(sc_url_rest(url), &about) == 0 && !S_ISSOCK(about.st_mode);
}

static void tell_bound(nng_stream_listener *listener, const char *url, char bound[SC_URL_MAX + 1])
{
        const char *const colon = strrchr(url, ':');
        nng_sockaddr      addr;
        int               port;
        snprintf(bound, SC_URL_MAX + 1, "%s", url);
        if ((sc_url_scheme(url) == SC_SCHEME_TCP || is_tls(url)) &&
            nng_stream_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, &port) == 0)
                snprintf(bound, SC_URL_MAX + 1, "%.*s:%d", (int)(colon - url), url, port);
        if (sc_url_scheme(url) == SC_SCHEME_ABSTRACT && *sc_url_rest(url) == '\0' &&
            nng_stream_listener_get_addr(listener, NNG_OPT_LOCADDR, &addr) == 0)
                snprintf(bound, SC_URL_MAX + 1, "abstract://%.*s", (int)addr.s_abstract.sa_len,
                         (const char *)addr.s_abstract.sa_name);
}

static int secure_listener(struct meeting *meeting, const char *url, struct sc_why *why)
{
        nng_tls_config *config;
        if (!meeting->tls)
                return SC_OK;
        const int status = sc_nng_tls_config(&meeting->net->tls, url, true, &config, why);
        if (status != SC_OK)
                return status;
        nng_stream_listener_set_ptr(meeting->remains.listener, NNG_OPT_TLS_CONFIG, config);
        nng_tls_config_free(config); /* the listener has its own hold on it */
        return SC_OK;
}

static int open_listener(struct meeting *meeting, const char *url, char bound[SC_URL_MAX + 1], struct sc_why *why)
{
        char real[SC_URL_MAX + 1];
        if (is_in_the_way(url)) {
                sc_why_set(why, url, "is a file, and not a socket");
                return SC_E_ADDRESS;
        }
        real_url(url, real);
        int result = nng_stream_listener_alloc(&meeting->remains.listener, real);
        int status = result == 0 ? secure_listener(meeting, url, why) : SC_OK;
        if (status != SC_OK)
                return status;
        if (result == 0)
                result = nng_stream_listener_listen(meeting->remains.listener);
        if (result != 0) {
                sc_why_set(why, url, sc_nng_words(result));
                return result == NNG_ENOMEM ? SC_E_NOMEM : SC_E_ADDRESS;
        }
        tell_bound(meeting->remains.listener, url, bound);
        return SC_OK;
}

int sc_nng_listen(struct sc_net *base, const char *url, struct sc_listener **out, char bound[SC_URL_MAX + 1],
                  struct sc_why *why)
{
        struct sc_nng_net *net    = (struct sc_nng_net *)base;
        int                status = sc_url_check(url, true, why);
        if (status != SC_OK)
                return status;
        struct meeting *meeting = meeting_create(net, url, on_accepted);
        if (!meeting || !sc_nng_reserve_timer(net, &meeting->timer, on_retry) ||
            sc_nng_reaper_start(&net->reaper) != SC_OK) {
                sc_why_set(why, url, "needs more memory than there is");
                status = SC_E_NOMEM;
        } else {
                status = open_listener(meeting, url, bound, why);
        }
        if (status != SC_OK) {
                if (meeting)
                        meeting_drop(meeting);
                return status;
        }
        meeting->base.net = base;
        net->timed++;
        sc_list_add_tail(&net->listeners, &meeting->link);
        nng_stream_listener_accept(meeting->remains.listener, meeting->remains.aio[0]);
        *out = &meeting->base;
        return SC_OK;
}

/* ---- dials ----------------------------------------------------------------------------------------- */

static void on_dialled(struct sc_post *post, sc_ns now)
{
        (void)now;
        struct meeting      *meeting = SC_CONTAINER(post, struct meeting, met);
        struct sc_nng_net   *net     = meeting->net;
        const struct sc_net *base    = &net->base;
        if (meeting->remains.given)
                return;
        nng_stream         *stream = take_stream(meeting);
        struct sc_nng_conn *conn   = meeting->result == 0 ? sc_nng_conn_create(net, stream, meeting->tls) : NULL;
        const int           result = meeting->result == 0 ? NNG_ENOMEM : meeting->result;
        const uint64_t      ticket = meeting->ticket;
        sc_nng_bury(&net->reaper, &meeting->remains);
        if (conn)
                sc_nng_conn_up(conn, NULL, ticket);
        else
                base->upcalls->dial_failed(base->ctx, ticket, sc_nng_status(result), sc_nng_words(result));
}

static int secure_dialer(struct meeting *meeting, const char *url, struct sc_why *why)
{
        nng_tls_config *config;
        if (!meeting->tls)
                return SC_OK;
        const int status = sc_nng_tls_config(&meeting->net->tls, url, false, &config, why);
        if (status != SC_OK)
                return status;
        nng_stream_dialer_set_ptr(meeting->remains.dialer, NNG_OPT_TLS_CONFIG, config);
        nng_tls_config_free(config);
        return SC_OK;
}

static int open_dialer(struct meeting *meeting, const char *url, struct sc_why *why)
{
        char real[SC_URL_MAX + 1];
        real_url(url, real);
        const int result = nng_stream_dialer_alloc(&meeting->remains.dialer, real);
        if (result == 0)
                return secure_dialer(meeting, url, why);
        sc_why_set(why, url, sc_nng_words(result));
        return result == NNG_ENOMEM ? SC_E_NOMEM : SC_E_ADDRESS;
}

int sc_nng_dial(struct sc_net *base, const char *url, uint64_t ticket, struct sc_why *why)
{
        struct sc_nng_net *net    = (struct sc_nng_net *)base;
        int                status = sc_url_check(url, false, why);
        if (status != SC_OK)
                return status;
        struct meeting *meeting = meeting_create(net, url, on_dialled);
        if (!meeting || sc_nng_reaper_start(&net->reaper) != SC_OK) {
                sc_why_set(why, url, "needs more memory than there is");
                if (meeting)
                        meeting_drop(meeting);
                return SC_E_NOMEM;
        }
        status = open_dialer(meeting, url, why);
        if (status != SC_OK) {
                meeting_drop(meeting);
                return status;
        }
        meeting->ticket = ticket;
        sc_list_add_tail(&net->dials, &meeting->link);
        nng_stream_dialer_dial(meeting->remains.dialer, meeting->remains.aio[0]);
        return SC_OK;
}

void sc_nng_dial_cancel(struct sc_net *base, uint64_t ticket)
{
        struct sc_nng_net *net = (struct sc_nng_net *)base;
        for (struct sc_list *link = net->dials.next; link != &net->dials; link = link->next) {
                struct meeting *meeting = SC_CONTAINER(link, struct meeting, link);
                if (meeting->ticket == ticket && !meeting->remains.given)
                        sc_nng_bury(&net->reaper, &meeting->remains);
        }
}

/* ---- the end of the net ------------------------------------------------------------------------------ */

void sc_nng_meet_bury(struct sc_nng_net *net)
{
        struct sc_list *link;
        for (link = net->listeners.next; link != &net->listeners; link = link->next)
                unlisten(SC_CONTAINER(link, struct meeting, link));
        for (link = net->dials.next; link != &net->dials; link = link->next)
                sc_nng_bury(&net->reaper, &SC_CONTAINER(link, struct meeting, link)->remains);
}

void sc_nng_meet_free(struct sc_nng_net *net)
{
        struct sc_list *link;
        while ((link = net->listeners.next) != &net->listeners)
                meeting_free(SC_CONTAINER(link, struct meeting, link));
        while ((link = net->dials.next) != &net->dials)
                meeting_free(SC_CONTAINER(link, struct meeting, link));
}
