/*
 * What few tasks ask for in time: not before, started by, ended by, how long one run may take, and how
 * they are tried again.  A plan heads the block of its row and is in the heap of plans while one of its
 * times is pending in the state that the row is in; when the earliest comes, what is due is worked out
 * from the state, so nothing has to be disarmed.  Whatever ends at its deadline or later ends as that.
 */
#include "sched_state.h"

#include <string.h>

#include "retry_on.h"
#include "sc_assert.h"
#include "sc_rng.h"

static bool fires_before(const void *a, const void *b)
{
        const struct sched_plan *x = a, *y = b;
        return x->at != y->at ? x->at < y->at : x->row < y->row;
}

static void plan_moved(void *item, size_t position)
{
        ((struct sched_plan *)item)->position = position;
}

void sc_sched_plans_init(struct sc_sched *s)
{
        sc_heap_init(&s->plans, s->mem, fires_before, plan_moved);
}

struct sched_plan *sc_sched_plan(const struct sched_task *t)
{
        return t->flags & SCHED_PLANNED ? (struct sched_plan *)(void *)(t->block + sc_sched_head_size(t)) : NULL;
}

struct sc_view sc_sched_plan_tag(const struct sched_task *t)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        return plan ? (struct sc_view){ plan->words, plan->tag_len } : (struct sc_view){ "", 0 };
}

struct sc_view sc_sched_plan_retry_on(const struct sched_plan *plan)
{
        return (struct sc_view){ plan->words + plan->tag_len, plan->retry_len };
}

/* ---- admission ---------------------------------------------------------------------------------*/

const char *sc_sched_plan_fault(const struct sc_plan *plan)
{
        if (!plan)
                return NULL;
        if (plan->tag.len > SC_NAME_MAX)
                return "a task's tag that is too long";
        if (plan->key.len > SC_NAME_MAX)
                return "a task's key that is too long";
        if (!sc_retry_on_is_good(plan->retry_on, NULL))
                return "a list of failures to be tried again that is none";
        return NULL;
}

static bool is_wanted(const struct sc_spec *spec)
{
        const struct sc_plan *p = spec->plan;
        return spec->timeout_ms > 0 ||
               (p && (p->not_before_ms > 0 || p->queue_ms > 0 || p->deadline_ms > 0 || p->backoff_ms > 0 ||
                      p->tag.len > 0 || p->retry_on.len > 0 || p->key.len > 0));
}

size_t sc_sched_plan_size(const struct sc_spec *spec)
{
        if (!is_wanted(spec))
                return 0;
        const size_t words = spec->plan ? spec->plan->tag.len + spec->plan->retry_on.len : 0;
        return sizeof(struct sched_plan) + words;
}

static sc_ns from_ms(uint64_t ms)
{
        return ms < (uint64_t)INT64_MAX ? sc_ns_from_ms((int64_t)ms) : SC_NEVER;
}

/* 0: no such time. */
static sc_ns time_in(const struct sc_sched *s, uint64_t ms)
{
        return ms > 0 ? sc_ns_add(s->now, from_ms(ms)) : SC_NEVER;
}

static uint8_t words_add(struct sched_plan *plan, size_t at, struct sc_view words)
{
        if (words.len > 0)
                memcpy(plan->words + at, words.ptr, words.len);
        return (uint8_t)words.len;
}

/* Nothing is said about time before the workers have had their chance to claim it. */
static sc_ns not_unclaimed(const struct sc_sched *s, const struct sc_spec *spec, sc_ns at)
{
        return (spec->flags & SC_SPEC_RESUBMITTED) ? sc_ns_max(at, s->claim_end) : at;
}

/* Even a time that is too far to count is waited for. */
static sc_ns wake_time(const struct sc_sched *s, const struct sc_spec *spec, uint64_t not_before_ms)
{
        if (not_before_ms == 0)
                return SC_NEVER;
        return not_unclaimed(s, spec, sc_ns_min(time_in(s, not_before_ms), SC_NEVER - 1));
}

void sc_sched_plan_fill(struct sc_sched *s, struct sched_task *t, const struct sc_spec *spec)
{
        static const struct sc_plan none;
        const struct sc_plan       *p    = spec->plan ? spec->plan : &none;
        t->flags |= SCHED_PLANNED;
        struct sched_plan *plan = sc_sched_plan(t);
        *plan                   = (struct sched_plan){
                .row         = t->self,
                .position    = SC_HEAP_NOWHERE,
                .at          = SC_NEVER,
                .wake_at     = wake_time(s, spec, p->not_before_ms),
                .queue_at    = not_unclaimed(s, spec, time_in(s, p->queue_ms)),
                .deadline_at = time_in(s, p->deadline_ms),
                .limit_at    = SC_NEVER,
                .release_at  = SC_NEVER,
                .timeout_ms  = spec->timeout_ms,
                .backoff_ms  = p->backoff_ms,
                .backoff_max_ms = p->backoff_max_ms > 0 ? p->backoff_max_ms : SCHED_BACKOFF_MAX_MS,
        };
        plan->tag_len   = words_add(plan, 0, p->tag);
        plan->retry_len = words_add(plan, plan->tag_len, p->retry_on);
        s->plan_count++;
}

/* ---- when it is looked at next -----------------------------------------------------------------*/

static sc_ns next_at(const struct sched_task *t, const struct sched_plan *plan)
{
        sc_ns at = plan->release_at != SC_NEVER ? plan->release_at : plan->deadline_at;
        switch ((enum sc_task_state)t->state) {
        case SC_STATE_BACKOFF:
                at = sc_ns_min(at, plan->wake_at);
                return sc_ns_min(at, plan->queue_at);
        case SC_STATE_WAITING:
        case SC_STATE_READY:
        case SC_STATE_ASSIGNED:
                at = sc_ns_min(at, plan->queue_at);
                return sc_ns_min(at, plan->limit_at);
        case SC_STATE_RECALLING: /* its answer decides */
        case SC_STATE_CANCELLING:
                return sc_ns_min(at, plan->limit_at);
        case SC_STATE_JOINED:
                return sc_ns_min(at, plan->queue_at);
        case SC_STATE_FREE:
        case SC_STATE_ORPHAN:
        case SC_STATE_ENDED:
        case SC_STATE_KEPT:
        case SC_STATES:
                break;
        }
        return SC_NEVER;
}

static void retime(struct sc_sched *s, const struct sched_task *t, struct sched_plan *plan)
{
        const sc_ns at = next_at(t, plan);
        if (at == plan->at)
                return;
        if (plan->position != SC_HEAP_NOWHERE)
                sc_heap_remove(&s->plans, plan->position);
        plan->at = at;
        if (at != SC_NEVER)
                sc_heap_push(&s->plans, plan);
}

void sc_sched_plan_moved(struct sc_sched *s, struct sched_task *t, enum sc_task_state from)
{
        struct sched_plan *plan = sc_sched_plan(t);
        if (!plan)
                return;
        if (from == SC_STATE_BACKOFF || from == SC_STATE_ORPHAN)
                plan->wake_at = SC_NEVER;
        if (sc_task_is_held(from) && !sc_task_is_held(t->state))
                plan->limit_at = plan->release_at = SC_NEVER;
        retime(s, t, plan);
        if (plan->owner && (t->state == SC_STATE_READY || t->state == SC_STATE_BACKOFF))
                sc_sched_joined_due(s, plan->owner->key);
}

void sc_sched_plan_wake(struct sc_sched *s, struct sched_task *t, sc_ns at)
{
        struct sched_plan *plan = sc_sched_plan(t);
        SC_ASSERT(t->state == SC_STATE_BACKOFF && plan->wake_at != SC_NEVER);
        plan->wake_at = at;
        retime(s, t, plan);
}

/* The worker enforces the limit of a run; this is the backstop. */
void sc_sched_plan_started(struct sc_sched *s, struct sched_task *t)
{
        struct sched_plan *plan = sc_sched_plan(t);
        if (!plan)
                return;
        plan->queue_at = SC_NEVER;
        if (plan->timeout_ms > 0 && plan->limit_at == SC_NEVER) {
                plan->limit_at = sc_ns_add(sc_ns_add(s->now, from_ms(plan->timeout_ms)),
                                           SCHED_KILL_GRACE + SCHED_BACKSTOP);
                plan->told     = false;
        }
        retime(s, t, plan);
}

/* It has been tried, whatever came of it: the limit of its time in the queue is met. */
void sc_sched_plan_tried(struct sc_sched *s, struct sched_task *t)
{
        struct sched_plan *plan = sc_sched_plan(t);
        if (!plan)
                return;
        plan->queue_at = SC_NEVER;
        retime(s, t, plan);
}

/* ---- tried again -------------------------------------------------------------------------------*/

static bool is_own_failure(uint8_t reason)
{
        return reason == SC_REASON_TASK || reason == SC_REASON_NOT_STARTED || reason == SC_REASON_RUN_TIMEOUT;
}

bool sc_sched_plan_retries(const struct sched_task *t, const struct sc_outcome *outcome)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        if (t->retries == 0)
                return false;
        if (plan && plan->retry_len > 0)
                return sc_retry_on_has(sc_sched_plan_retry_on(plan), outcome);
        return is_own_failure(outcome->reason);
}

/* Drawn between three and five quarters of the doubled wait, but never above the longest. */
static sc_ns backoff_wait(const struct sc_sched *s, const struct sched_task *t, const struct sched_plan *plan)
{
        const uint64_t most = plan->backoff_max_ms;
        uint64_t       base = plan->backoff_ms;
        for (uint32_t i = 1; i < plan->retried && base < most; i++)
                base *= 2;
        base = base < most ? base : most;
        const uint64_t unit = (uint64_t)SC_MS;
        const uint64_t low  = base * unit / 4 * 3;
        const uint64_t high = base + base / 4 < most ? base * unit / 4 * 5 : most * unit;
        struct sc_rng  rng  = { s->opt.seed ^ t->run };
        return (sc_ns)(low + sc_rng_below(&rng, high - low + 1));
}

enum sc_task_move sc_sched_plan_unblock(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        return plan && plan->wake_at != SC_NEVER && plan->wake_at > s->now ? SC_MOVE_DELAY : SC_MOVE_UNBLOCK;
}

enum sc_task_move sc_sched_plan_retry(struct sc_sched *s, struct sched_task *t)
{
        struct sched_plan *plan = sc_sched_plan(t);
        if (!plan)
                return SC_MOVE_RETRY;
        plan->retried += plan->retried < UINT32_MAX;
        plan->queue_at = SC_NEVER;
        if (plan->backoff_ms == 0)
                return SC_MOVE_RETRY;
        plan->wake_at = sc_ns_add(s->now, backoff_wait(s, t, plan));
        return SC_MOVE_DELAY;
}

/* ---- what is due -------------------------------------------------------------------------------*/

bool sc_sched_overdue(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        return plan && plan->deadline_at <= s->now;
}

void sc_sched_end_overdue(struct sc_sched *s, struct sched_task *t, enum sc_task_move move, struct sc_out *out)
{
        enum sched_words         words  = SCHED_WORDS_OVERDUE_QUEUED;
        const struct sched_task *leader = sc_sched_joined_to(s, t);
        if (sc_task_is_held(leader ? leader->state : t->state))
                words = SCHED_WORDS_OVERDUE_RUN;
        else if (t->state == SC_STATE_BACKOFF)
                words = SCHED_WORDS_OVERDUE_BACKOFF;
        sc_sched_end_plainly(s, t, move, SC_REASON_DEADLINE, words, out);
}

/* The first time it is stopped; if the worker does not answer for longer than it may, the task ends without it. */
static void pass_deadline(struct sc_sched *s, struct sched_task *t, struct sched_plan *plan, struct sc_out *out)
{
        (void)sc_sched_part(s, t);
        if (!sc_task_is_held(t->state)) {
                sc_sched_end_overdue(s, t, SC_MOVE_TIME_OUT, out);
                return;
        }
        if (plan->release_at == SC_NEVER) {
                plan->release_at = sc_ns_add(s->now, SCHED_RELEASE_AFTER);
                sc_sched_stop(s, t, true, out);
                retime(s, t, plan);
                return;
        }
        struct sched_worker *w = sc_sched_worker(s, t->worker);
        sc_sched_end_overdue(s, t, SC_MOVE_RELEASE, out);
        sc_sched_worker_keeps(s, w);
}

/* Work that several wait for is not asked back because one of them has waited for too long: once a worker has it, or
 * had it, the limit is met. */
static bool is_met(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_task *leader = sc_sched_joined_to(s, t);
        if (!leader && !sc_sched_has_others(t))
                return false;
        leader = leader ? leader : t;
        return sc_task_is_held(leader->state) || leader->attempt > 0 || leader->losses > 0;
}

/* A run whose start is not reported may be running all the same: it is asked back, and the answer decides. */
static void pass_queue_limit(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        if (is_met(s, t)) {
                sc_sched_plan_tried(s, t);
                return;
        }
        (void)sc_sched_part(s, t);
        if (sc_task_is_held(t->state))
                sc_sched_recall(s, t, out);
        else
                sc_sched_end_plainly(s, t, SC_MOVE_TIME_OUT, SC_REASON_QUEUE_TIMEOUT, SCHED_WORDS_NOT_STARTED, out);
}

/* The worker enforces the limit.  If it does not, the run is to be killed; if that changes nothing
 * either, the worker is as good as lost. */
static void pass_limit(struct sc_sched *s, struct sched_task *t, struct sched_plan *plan, struct sc_out *out)
{
        if (plan->told) {
                const struct sched_worker *w = sc_sched_worker(s, t->worker);
                plan->limit_at               = SC_NEVER;
                retime(s, t, plan);
                sc_sched_close(s, sc_sched_link(s, w->link), SC_E_TIMEOUT, "a run went on past its limit", out);
                return;
        }
        plan->told     = true;
        plan->limit_at = sc_ns_add(s->now, SCHED_BACKSTOP);
        sc_sched_stop_send(s, t, true, out);
        retime(s, t, plan);
}

static void fire(struct sc_sched *s, struct sched_plan *plan, struct sc_out *out)
{
        struct sched_task *t    = sc_sched_row(s, plan->row);
        const bool         held = sc_task_is_held(t->state);
        if (held && sc_sched_worker(s, t->worker)->gone) {
                sc_heap_remove(&s->plans, plan->position); /* it is on the list of what its worker loses */
                plan->at = SC_NEVER;
                return;
        }
        const sc_ns overdue_at = plan->release_at != SC_NEVER ? plan->release_at : plan->deadline_at;
        if (overdue_at <= s->now)
                pass_deadline(s, t, plan, out);
        else if (plan->queue_at <= s->now && t->state != SC_STATE_RECALLING && t->state != SC_STATE_CANCELLING)
                pass_queue_limit(s, t, out);
        else if (t->state == SC_STATE_BACKOFF)
                sc_sched_move(s, t, SC_MOVE_WAKE);
        else
                pass_limit(s, t, plan, out);
}

void sc_sched_plans_run(struct sc_sched *s, struct sc_out *out)
{
        for (;;) {
                struct sched_plan *plan = sc_heap_top(&s->plans);
                if (!plan || plan->at > s->now || !sc_sched_bulk(s, out))
                        return;
                fire(s, plan, out);
        }
}
