/*
 * The lock "future completion": one per client, counted, so that a future may be waited for and read
 * when its client is long gone.
 */
#include <time.h>

#include "future.h"
#include "sc_assert.h"

enum { HOST_NAP_MS = 100 };

struct sc_gate *sc_gate_create(struct sc_mem *mem)
{
        struct sc_gate *gate = sc_mem_zalloc(mem, sizeof *gate);
        if (!gate)
                return NULL;
        pthread_condattr_t attr;
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&gate->changed, &attr);
        pthread_condattr_destroy(&attr);
        pthread_mutex_init(&gate->lock, NULL);
        gate->mem = mem;
        atomic_init(&gate->refs, 1);
        return gate;
}

struct sc_gate *sc_gate_ref(struct sc_gate *gate)
{
        atomic_fetch_add_explicit(&gate->refs, 1, memory_order_relaxed);
        return gate;
}

void sc_gate_unref(struct sc_gate *gate)
{
        if (!gate || atomic_fetch_sub_explicit(&gate->refs, 1, memory_order_acq_rel) != 1)
                return;
        pthread_mutex_destroy(&gate->lock);
        pthread_cond_destroy(&gate->changed);
        sc_mem_release(gate->mem, gate, sizeof *gate);
}

void sc_gate_lock(struct sc_gate *gate)
{
        pthread_mutex_lock(&gate->lock);
}

void sc_gate_unlock(struct sc_gate *gate)
{
        pthread_mutex_unlock(&gate->lock);
}

/* Whoever is woken while the lock is held runs into it and sleeps again. */
void sc_gate_unlock_changed(struct sc_gate *gate)
{
        const bool host  = gate->loop && sc_loop_host_driven(gate->loop);
        const bool alone = gate->waiting == 0;
        if (!alone && host)
                sc_loop_wake(gate->loop);
        pthread_mutex_unlock(&gate->lock);
        if (!alone)
                pthread_cond_broadcast(&gate->changed);
}

void sc_gate_changed(struct sc_gate *gate)
{
        if (gate->waiting == 0)
                return;
        if (gate->loop && sc_loop_host_driven(gate->loop))
                sc_loop_wake(gate->loop);
        pthread_cond_broadcast(&gate->changed);
}

/* A blocking call on a host-driven runtime turns it.  Another thread may turn it past what we wait for
 * while we sleep in its descriptor, so the sleep is bounded. */
static void turn_host(struct sc_gate *gate, sc_ns until)
{
        const sc_ns           left = until == SC_NEVER ? SC_NEVER : until - sc_clock_now();
        struct sc_loop *const loop = gate->loop;
        sc_gate_unlock(gate);
        sc_loop_turn(loop, sc_ns_min(left < 0 ? 0 : left, HOST_NAP_MS * SC_MS));
        sc_gate_lock(gate);
}

bool sc_gate_wait(struct sc_gate *gate, sc_ns until)
{
        if (until != SC_NEVER && sc_clock_now() >= until)
                return false;
        gate->waiting++;
        if (gate->loop && sc_loop_host_driven(gate->loop)) {
                turn_host(gate, until);
        } else if (until == SC_NEVER) {
                pthread_cond_wait(&gate->changed, &gate->lock);
        } else {
                const struct timespec at = { .tv_sec = (time_t)(until / SC_S), .tv_nsec = (long)(until % SC_S) };
                pthread_cond_timedwait(&gate->changed, &gate->lock, &at);
        }
        gate->waiting--;
        return true;
}

bool sc_gate_in_callback(const struct sc_gate *gate)
{
        return gate->loop && sc_loop_in_callback(gate->loop);
}
