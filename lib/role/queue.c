/*
 * A queue of futures that have ended or have output: two users of one client do not steal from each
 * other.  Its lock is taken after a gate's, never before one.
 */
#include <time.h>

#include "future.h"
#include "nested.h"
#include "wake_fd.h"

struct scaler_queue {
        struct sc_mem         *mem;
        struct scaler_runtime *rt;   /* NULL: none */
        _Atomic uint32_t       refs; /* the handle, and each future named to it */
        pthread_mutex_t        lock;
        pthread_cond_t         some;
        struct sc_list         ready;
        uint32_t               waiting, woken;
        int                    fd; /* an eventfd once asked for; -1 */
        bool                   destroyed;
};

int scaler_queue_create(scaler_runtime *rt, scaler_queue **out, scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        struct sc_mem *mem = rt ? rt->mem : sc_libc_mem();
        if (!out)
                return sc_error_set(err, SC_E_INVALID, "queue: no out pointer");
        struct scaler_queue *q = sc_mem_zalloc(mem, sizeof *q);
        if (!q)
                return sc_error_set(err, SC_E_NOMEM, "queue: out of memory");
        q->mem = mem;
        q->rt  = rt;
        q->fd  = -1;
        atomic_init(&q->refs, 1);
        pthread_condattr_t attr;
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&q->some, &attr);
        pthread_condattr_destroy(&attr);
        pthread_mutex_init(&q->lock, NULL);
        sc_list_init(&q->ready);
        if (rt)
                atomic_fetch_add(&rt->users, 1);
        *out = q;
        return 0;
}

struct scaler_queue *sc_queue_ref(struct scaler_queue *q)
{
        if (q)
                atomic_fetch_add_explicit(&q->refs, 1, memory_order_relaxed);
        return q;
}

void sc_queue_unref(struct scaler_queue *q)
{
        if (!q || atomic_fetch_sub_explicit(&q->refs, 1, memory_order_acq_rel) != 1)
                return;
        sc_wake_fd_close(q->fd);
        pthread_mutex_destroy(&q->lock);
        pthread_cond_destroy(&q->some);
        sc_mem_release(q->mem, q, sizeof *q);
}

/* Locked. */
static void show(struct scaler_queue *q, bool readable)
{
        if (q->fd >= 0)
                sc_wake_fd_set(q->fd, readable);
}

void sc_queue_added(struct sc_adding *adding)
{
        struct scaler_queue *q = adding->queue;
        if (!q)
                return;
        const uint32_t woken = adding->count < q->waiting ? adding->count : q->waiting;
        if (woken && q->rt && sc_loop_host_driven(q->rt->loop))
                sc_loop_wake(q->rt->loop);
        pthread_mutex_unlock(&q->lock); /* first: who is woken wants it */
        for (uint32_t i = 0; i < woken; i++)
                pthread_cond_signal(&q->some);
        sc_queue_unref(q);
        *adding = (struct sc_adding){ 0 };
}

void sc_queue_add(struct sc_adding *adding, struct scaler_future *f)
{
        struct scaler_queue *q = f->queue;
        if (!q)
                return;
        if (adding->queue != q) {
                sc_queue_added(adding);
                adding->queue = sc_queue_ref(q);
                pthread_mutex_lock(&q->lock);
        }
        if (f->queued || q->destroyed)
                return;
        if (sc_list_empty(&q->ready))
                show(q, true);
        atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
        f->queued = true;
        sc_list_add_tail(&q->ready, &f->ready);
        adding->count++;
}

static struct scaler_future *take(struct scaler_queue *q)
{
        struct sc_list *node = sc_list_take(&q->ready);
        if (!node)
                return NULL;
        struct scaler_future *f = SC_CONTAINER(node, struct scaler_future, ready);
        f->queued               = false;
        if (sc_list_empty(&q->ready))
                show(q, false);
        return f;
}

/* Locked.  As a gate waits: on the condition, or by turning a host-driven runtime. */
static void wait_some(struct scaler_queue *q, sc_ns until)
{
        enum { HOST_NAP_MS = 100 };
        q->waiting++;
        if (q->rt && sc_loop_host_driven(q->rt->loop)) {
                const sc_ns left = until == SC_NEVER ? SC_NEVER : sc_ns_max(until - sc_clock_now(), 0);
                pthread_mutex_unlock(&q->lock);
                sc_loop_turn(q->rt->loop, sc_ns_min(left, HOST_NAP_MS * SC_MS));
                pthread_mutex_lock(&q->lock);
        } else if (until == SC_NEVER) {
                pthread_cond_wait(&q->some, &q->lock);
        } else {
                const struct timespec at = { .tv_sec = (time_t)(until / SC_S), .tv_nsec = (long)(until % SC_S) };
                pthread_cond_timedwait(&q->some, &q->lock, &at);
        }
        q->waiting--;
}

int scaler_queue_next(scaler_queue *q, int64_t timeout_ms, scaler_future **out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!q || !out)
                return SC_E_INVALID;
        if (timeout_ms != 0 && q->rt && sc_loop_in_callback(q->rt->loop))
                return SC_E_STATE;
        sc_ns until  = 0; /* not read from the clock before there is something to wait for */
        int   status = SC_E_TIMEOUT;
        pthread_mutex_lock(&q->lock);
        for (;;) {
                struct scaler_future *f = take(q);
                if (f) {
                        *out   = f;
                        status = 0;
                        break;
                }
                if (q->woken) {
                        q->woken--;
                        status = SC_E_CANCELLED;
                        break;
                }
                if (timeout_ms == 0)
                        break;
                if (until == 0)
                        until = sc_until(timeout_ms);
                else if (until != SC_NEVER && sc_clock_now() >= until)
                        break;
                if (sc_family_leaves(NULL, q, &q->lock))
                        continue;
                if (sc_family_must_return())
                        break;
                wait_some(q, until);
        }
        pthread_mutex_unlock(&q->lock);
        return sc_family_back(status);
}

void sc_queue_stir(struct scaler_queue *q)
{
        pthread_mutex_lock(&q->lock);
        pthread_cond_broadcast(&q->some);
        if (q->rt && sc_loop_host_driven(q->rt->loop))
                sc_loop_wake(q->rt->loop);
        pthread_mutex_unlock(&q->lock);
}

int scaler_queue_fd(scaler_queue *q)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!q)
                return SC_E_INVALID;
        pthread_mutex_lock(&q->lock);
        if (q->fd < 0)
                q->fd = sc_wake_fd_open(!sc_list_empty(&q->ready));
        const int fd = q->fd;
        pthread_mutex_unlock(&q->lock);
        return fd;
}

void scaler_queue_wake(scaler_queue *q)
{
        if (!q || sc_forked())
                return;
        pthread_mutex_lock(&q->lock);
        q->woken++;
        pthread_cond_signal(&q->some);
        if (q->rt && sc_loop_host_driven(q->rt->loop))
                sc_loop_wake(q->rt->loop);
        pthread_mutex_unlock(&q->lock);
}

void scaler_queue_destroy(scaler_queue *q)
{
        if (!q || sc_forked())
                return;
        pthread_mutex_lock(&q->lock);
        q->destroyed = true;
        struct scaler_future *f;
        struct sc_list        left;
        sc_list_init(&left);
        while ((f = take(q)) != NULL)
                sc_list_add_tail(&left, &f->ready);
        struct scaler_runtime *rt = q->rt;
        q->rt                     = NULL;
        pthread_mutex_unlock(&q->lock);
        struct sc_list *node;
        while ((node = sc_list_take(&left)) != NULL)
                scaler_future_unref(SC_CONTAINER(node, struct scaler_future, ready));
        if (rt)
                atomic_fetch_sub(&rt->users, 1);
        sc_queue_unref(q);
}
