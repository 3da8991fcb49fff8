/*
 * How a task's thread waits.  It says that it wants to wait, in a turn, and sleeps; the turn tells the worker's core,
 * which parks the run or refuses.  What is awaited makes the turn want it to go on: the end of the very future, so that
 * the thread is woken once and with its slot; or the thread itself, when it slept elsewhere, its time is up or its task
 * is to stop.  Whether it wants to wait or to go on is one word under the gate's lock, which the turn makes true.
 */
#include "nested.h"

#include <time.h>

#include "after.h"
#include "client.h"
#include "sc_assert.h"
#include "worker.h"

enum { NAP_MS = 100 }; /* of whoever turns a host-driven runtime */

static _Thread_local struct scaler_task *current;
static _Thread_local bool                away; /* its slot is, or is about to be */

struct scaler_task *sc_task_swap_current(struct scaler_task *t)
{
        struct scaler_task *before = current;
        current                    = t;
        return before;
}

struct sc_family *sc_family_here(void)
{
        return current ? current->family : NULL;
}

/* ---- life --------------------------------------------------------------------------------------------------- */

struct sc_family *sc_family_ref(struct sc_family *f)
{
        if (f)
                atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
        return f;
}

void sc_family_unref(struct sc_family *f)
{
        if (!f || atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) != 1)
                return;
        pthread_cond_destroy(&f->changed);
        sc_gate_unref(f->gate);
        sc_mem_release(f->mem, f, sizeof *f);
}

static void turn(struct sc_post *post, sc_ns now);

static struct sc_family *family_new(struct scaler_task *t, const struct scaler_client *c)
{
        struct sc_family *f = sc_mem_zalloc(c->mem, sizeof *f);
        if (!f)
                return NULL;
        pthread_condattr_t attr;
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&f->changed, &attr);
        pthread_condattr_destroy(&attr);
        atomic_init(&f->refs, 1);
        atomic_init(&f->refused, false);
        f->mem      = c->mem;
        f->gate     = sc_gate_ref(c->gate);
        f->worker   = t->worker;
        f->task     = t;
        f->id       = t->id;
        f->handle   = t->handle;
        f->post.run = turn;
        sc_list_init(&f->futures);
        return f;
}

int sc_family_knock(const struct scaler_client *c, scaler_error *err)
{
        struct scaler_task *t = current;
        if (!t || t->worker->inner != c)
                return sc_error_set(err, SC_E_STATE, "submit: a task's client, and this is no thread of a task");
        if (!t->family)
                t->family = family_new(t, c);
        return t->family ? 0 : sc_error_set(err, SC_E_NOMEM, "submit: out of memory");
}

/* ---- on the task's thread ------------------------------------------------------------------------------------ */

/* Locked; the lock is away while a turn does it, which may be this thread's. */
static void want(struct sc_family *f, bool wait)
{
        f->wants         = wait;
        const bool first = !f->posted;
        f->posted        = true;
        if (!first)
                return;
        struct sc_loop *loop = f->worker->rt->loop;
        sc_gate_unlock(f->gate);
        sc_loop_post_and_turn(loop, &f->post);
        sc_gate_lock(f->gate);
}

static bool must_stop(const struct sc_family *f)
{
        return scaler_task_cancelled(f->task);
}

/* Locked.  False: the time has come. */
static bool doze(struct sc_family *f, sc_ns until)
{
        struct sc_loop *loop = f->worker->rt->loop;
        const sc_ns     now  = until == SC_NEVER && !sc_loop_host_driven(loop) ? 0 : sc_clock_now();
        if (until <= now)
                return false;
        if (sc_loop_host_driven(loop)) {
                const sc_ns left = until == SC_NEVER ? SC_NEVER : until - now;
                sc_gate_unlock(f->gate);
                sc_loop_turn(loop, sc_ns_min(left, NAP_MS * SC_MS));
                sc_gate_lock(f->gate);
        } else if (until == SC_NEVER) {
                pthread_cond_wait(&f->changed, &f->gate->lock);
        } else {
                const struct timespec at = { .tv_sec = (time_t)(until / SC_S), .tv_nsec = (long)(until % SC_S) };
                pthread_cond_timedwait(&f->changed, &f->gate->lock, &at);
        }
        return true;
}

/* Locked.  From now on until it is resumed its slot may be given away. */
static void begin(struct sc_family *f)
{
        f->resumed = false;
        f->status  = 0;
        atomic_store_explicit(&f->refused, false, memory_order_relaxed);
        want(f, true);
}

static bool has_come(const struct sc_family *f, const struct scaler_future *future)
{
        return future ? future->ended : f->pending == 0;
}

int sc_family_await(struct sc_family *f, const struct scaler_future *future, sc_ns until)
{
        if (has_come(f, future))
                return 0;
        if (must_stop(f))
                return SC_E_CANCELLED;
        f->awaits     = future;
        f->awaits_all = !future;
        begin(f);
        while (!f->resumed)
                if (f->wants && (must_stop(f) || !doze(f, until)))
                        want(f, false);
                else if (!f->wants && !f->resumed)
                        doze(f, SC_NEVER);
        f->awaits     = NULL;
        f->awaits_all = false;
        if (must_stop(f)) /* first: what it has submitted is cancelled with it */
                return SC_E_CANCELLED;
        if (has_come(f, future))
                return 0;
        return f->status ? f->status : SC_E_TIMEOUT;
}

/* ---- asleep elsewhere ---------------------------------------------------------------------------------------- */

bool sc_family_leaves(struct sc_gate *gate, struct scaler_queue *q, pthread_mutex_t *lock)
{
        struct sc_family *f = sc_family_here();
        if (!f || away)
                return false;
        away = true;
        pthread_mutex_unlock(lock);
        sc_gate_lock(f->gate);
        f->at_gate  = gate;
        f->at_queue = q;
        begin(f);
        sc_gate_unlock(f->gate);
        pthread_mutex_lock(lock);
        return true;
}

bool sc_family_must_return(void)
{
        const struct sc_family *f = away ? sc_family_here() : NULL;
        return f && (must_stop(f) || atomic_load_explicit(&f->refused, memory_order_relaxed));
}

bool sc_gate_wait_away(struct sc_gate *gate, sc_ns until)
{
        if (sc_family_leaves(gate, NULL, &gate->lock))
                return true;
        return !sc_family_must_return() && sc_gate_wait(gate, until);
}

int sc_family_back(int status)
{
        if (!away)
                return status;
        struct sc_family *f = sc_family_here();
        away                = false;
        sc_gate_lock(f->gate);
        f->at_gate  = NULL;
        f->at_queue = NULL;
        if (!f->resumed && f->wants)
                want(f, false);
        while (!f->resumed)
                doze(f, SC_NEVER);
        const int refused = f->status;
        sc_gate_unlock(f->gate);
        if (status != SC_E_TIMEOUT)
                return status;
        if (refused)
                return refused;
        return must_stop(f) ? SC_E_CANCELLED : status;
}

/* In a turn: it may be asleep anywhere, and looks again. */
static void stir(struct sc_family *f)
{
        sc_gate_lock(f->gate);
        pthread_cond_signal(&f->changed);
        struct sc_gate      *gate = f->at_gate ? sc_gate_ref(f->at_gate) : NULL;
        struct scaler_queue *q    = sc_queue_ref(f->at_queue);
        sc_gate_unlock(f->gate);
        if (gate) {
                sc_gate_lock(gate);
                sc_gate_changed(gate);
                sc_gate_unlock(gate);
                sc_gate_unref(gate);
        }
        if (q) {
                sc_queue_stir(q);
                sc_queue_unref(q);
        }
}

/* ---- in a turn ----------------------------------------------------------------------------------------------- */

static void answer(struct sc_family *f, int status)
{
        sc_gate_lock(f->gate);
        f->wants   = false;
        f->resumed = true;
        f->status  = status;
        if (sc_loop_host_driven(f->worker->rt->loop))
                sc_loop_wake(f->worker->rt->loop);
        pthread_cond_signal(&f->changed);
        sc_gate_unlock(f->gate);
        if (status == 0)
                return;
        atomic_store_explicit(&f->refused, true, memory_order_relaxed);
        stir(f);
}

/* Somebody has to be there for the slot that is given away. */
static bool may_wait(const struct scaler_worker *w)
{
        return sc_slots_may_park(w->slots, sc_work_to_park(sc_work_shell_core(w->shell)));
}

static void turn(struct sc_post *post, sc_ns now)
{
        struct sc_family     *f = SC_CONTAINER(post, struct sc_family, post);
        struct scaler_worker *w = f->worker;
        sc_gate_lock(f->gate);
        f->posted       = false;
        const bool wait = f->wants, resumed = f->resumed;
        sc_gate_unlock(f->gate);
        if (resumed)
                return;
        w->batch.urgent = true;
        if (wait && !f->told) {
                f->told = may_wait(w);
                if (f->told)
                        sc_work_shell_waits(w->shell, f->handle, now);
                else
                        answer(f, SC_E_FULL);
                w->inner->batch.urgent = true; /* what it waits for must leave first */
                sc_loop_touch(w->rt->loop, &w->inner->member);
        } else if (!wait && !f->told) {
                answer(f, 0);
        } else if (!wait && !f->ripe) {
                f->ripe = true;
                sc_work_shell_wakes(w->shell, f->handle, now);
        }
        sc_loop_touch(w->rt->loop, &w->member);
}

void sc_family_park(struct sc_family *f)
{
        f->parked = true;
        sc_slots_park(f->worker->slots);
}

void sc_family_resume(struct sc_family *f, int status)
{
        if (f->parked)
                sc_slots_unpark(f->worker->slots);
        f->parked = f->told = f->ripe = false;
        answer(f, status);
}

void sc_family_add(struct sc_family *f, struct scaler_future *future, uint64_t count)
{
        f->pending += count;
        sc_list_add_tail(&f->futures, &future->kin);
}

void sc_family_ended(struct sc_family *f, struct scaler_future *future, uint64_t count)
{
        SC_ASSERT(f->pending >= count);
        f->pending -= count;
        sc_list_remove(&future->kin);
        const bool come = f->awaits == future || (f->awaits_all && f->pending == 0);
        if (!come || !f->wants)
                return;
        f->wants = false;
        if (f->posted)
                return;
        f->posted = true;
        sc_loop_post(f->worker->rt->loop, &f->post);
}

/* Whoever waits needs a slot to stop, and its own tasks may have them all. */
void sc_family_stop(struct sc_family *f)
{
        if (!f)
                return;
        sc_gate_lock(f->gate);
        for (struct sc_list *at = f->futures.next; at != &f->futures; at = at->next)
                sc_client_wants_turn(f->worker->inner, SC_CONTAINER(at, struct scaler_future, kin), SC_FUTURE_CANCEL);
        sc_gate_unlock(f->gate);
        stir(f);
}

void sc_family_over(struct sc_family *f)
{
        if (!f)
                return;
        f->over = true;
        sc_loop_unpost(f->worker->rt->loop, &f->post);
        f->task = NULL;
        sc_family_unref(f);
}

bool sc_family_sign(const struct sc_family *f, uint8_t room[SC_PARENT_SIZE], struct sc_plan *plan)
{
        uint64_t run;
        if (f->over || !sc_work_names(sc_work_shell_core(f->worker->shell), f->handle, &run))
                return false;
        sc_after_put(room, 0, f->id.hi);
        sc_after_put(room, 1, f->id.lo);
        plan->parent     = (struct sc_view){ room, SC_PARENT_SIZE };
        plan->parent_run = run;
        return true;
}
