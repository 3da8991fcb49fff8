/*
 * Who leads.  The owner of the highest priority does, of those the oldest: its row stands where the work stands, in
 * its client's lane and at its client's charge.  When it leaves before the work has ended, another one takes over
 * what there is, a run included; when nobody is left, the work is cancelled.  What is due is done before a step
 * places anything, in steps of bounded length.
 */
#include "sched_key.h"

#include "sc_assert.h"
#include "sched_explain.h"

/* ---- those that have joined --------------------------------------------------------------------*/

static bool leads_before(const void *a, const void *b)
{
        const struct sched_owner *x = a, *y = b;
        return x->priority != y->priority ? x->priority > y->priority : x->order < y->order;
}

static void owner_moved(void *item, size_t position)
{
        ((struct sched_owner *)item)->position = position;
}

void sc_sched_joined_init(struct sc_sched *s, struct sched_key *k)
{
        sc_heap_init(&k->joined, s->mem, leads_before, owner_moved);
}

void sc_sched_joined_due(struct sc_sched *s, struct sched_key *k)
{
        if (sc_list_empty(&k->todo))
                sc_list_add_tail(&s->keys_todo, &k->todo);
}

void sc_sched_joined_add(struct sc_sched *s, struct sched_task *t)
{
        struct sched_owner *owner = sc_sched_owner(t);
        sc_heap_push(&owner->key->joined, owner);
        sc_sched_joined_due(s, owner->key);
}

void sc_sched_joined_remove(struct sc_sched *s, struct sched_task *t)
{
        struct sched_owner *owner = sc_sched_owner(t);
        (void)s;
        sc_heap_remove(&owner->key->joined, owner->position);
}

/* The work begins as early as any of its owners wants it to, unless it waits to be tried again. */
void sc_sched_joined_hurry(struct sc_sched *s, struct sched_key *k, const struct sched_task *t)
{
        struct sched_task       *leader = sc_sched_row(s, k->leader);
        const struct sched_plan *mine   = sc_sched_plan(t);
        const struct sched_plan *plan   = sc_sched_plan(leader);
        if (leader->state != SC_STATE_BACKOFF || plan->retried > 0 || plan->wake_at == SC_NEVER)
                return;
        const bool  at_once = mine->wake_at == SC_NEVER;
        const sc_ns wake    = sc_ns_max(at_once ? s->now : mine->wake_at, s->now < s->claim_end ? s->claim_end : 0);
        if (wake < plan->wake_at)
                sc_sched_plan_wake(s, leader, wake);
}

/* ---- handing over ------------------------------------------------------------------------------*/

static bool is_tried(const struct sched_task *t, const struct sched_plan *plan)
{
        return t->attempt > 0 || t->losses > 0 || plan->retried > 0;
}

static enum sc_task_move wait_move(const struct sc_sched *s, struct sched_task *t, struct sched_plan *plan)
{
        if (s->now < s->claim_end)
                return SC_MOVE_DELAY;
        const enum sc_task_move move = sc_sched_plan_unblock(s, t);
        if (move == SC_MOVE_UNBLOCK)
                plan->wake_at = SC_NEVER;
        return move;
}

/* The run goes on under another row: at the same place among those of its worker, with what is known of it. */
static void take_run(struct sc_sched *s, struct sched_task *t, struct sched_plan *plan, uint32_t worker,
                     uint16_t flags, uint32_t next, bool recalling)
{
        struct sched_worker *w = sc_sched_worker(s, worker);
        plan->wake_at = plan->queue_at = SC_NEVER;
        t->worker                      = worker;
        sc_sched_charge(s, t, false);
        sc_sched_move(s, t, SC_MOVE_KEEP);
        if (flags & SCHED_STARTED)
                sc_sched_mark_started(s, t);
        t->flags |= flags & (SCHED_ALONE | SCHED_FORCED);
        if (flags & SCHED_ALONE)
                w->alone++;
        if (next != SCHED_NONE)
                sc_sched_queue_before(s, flags & SCHED_STARTED ? &w->started : &w->unstarted, SCHED_AT, t,
                                      sc_sched_row(s, next));
        if (recalling)
                sc_sched_move(s, t, SC_MOVE_RECALL);
        sc_sched_worker_changed(s, w);
}

/* `to`, which has joined, leads, and `from`, which led, has joined. */
static void hand_over(struct sc_sched *s, struct sched_key *k, struct sched_task *from, struct sched_task *to)
{
        const enum sc_task_state state  = from->state;
        const uint16_t           flags  = from->flags;
        const uint32_t           worker = from->worker, next = from->link[SCHED_AT].next;
        struct sched_plan       *old = sc_sched_plan(from), *plan = sc_sched_plan(to);
        const bool               claim = state == SC_STATE_BACKOFF && old->wake_at == SC_NEVER;
        const uint8_t            waits  = sc_task_is_held(state) ? from->waits : SCHED_AWAKE;
        const uint32_t           family = sc_task_is_held(state) ? from->child : SCHED_NONE;
        const sc_ns              wake = old->wake_at, limit = old->limit_at, held_since = from->held_since;
        SC_ASSERT(k->leader == from->self && to->state == SC_STATE_JOINED);
        sc_sched_family_pass(s, from, to);
        sc_sched_move(s, from, SC_MOVE_JOIN);
        if (state == SC_STATE_BACKOFF && old->retried == 0)
                old->wake_at = wake; /* it may lead again */
        k->leader       = to->self;
        to->run         = from->run;
        to->attempt     = from->attempt;
        to->retries     = from->retries;
        to->losses      = from->losses;
        to->last_worker = from->last_worker;
        to->recalled_ms = from->recalled_ms;
        sc_sched_attempts_move(s, from, to);
        to->flags |= flags & (SCHED_CHARGED | SCHED_ANSWERED);
        from->flags &= (uint16_t)~(SCHED_CHARGED | SCHED_ANSWERED);
        plan->retried  = old->retried;
        plan->told     = old->told;
        plan->limit_at = limit;
        if (is_tried(to, plan))
                plan->queue_at = plan->wake_at = SC_NEVER;
        if (sc_task_is_held(state)) {
                take_run(s, to, plan, worker, flags, next, state == SC_STATE_RECALLING);
                to->child = family;
                if (waits != SCHED_AWAKE)
                        sc_sched_park(s, to);
                to->held_since = held_since;
        } else if (state == SC_STATE_BACKOFF && plan->retried > 0) {
                plan->wake_at = wake;
                sc_sched_move(s, to, SC_MOVE_DELAY);
        } else if (claim) {
                sc_sched_move(s, to, SC_MOVE_DELAY);
        } else {
                sc_sched_move(s, to, wait_move(s, to, plan));
        }
}

static struct sched_task *first_of(const struct sc_sched *s, const struct sched_key *k)
{
        const struct sched_owner *owner = sc_heap_top(&k->joined);
        return owner ? sc_sched_row(s, owner->row) : NULL;
}

bool sc_sched_has_others(const struct sched_task *t)
{
        const struct sched_owner *owner = sc_sched_owner(t);
        return owner && owner->key->leader == t->self && owner->key->joined.len > 0;
}

bool sc_sched_part(struct sc_sched *s, struct sched_task *t)
{
        if (!sc_sched_has_others(t) || t->state == SC_STATE_CANCELLING)
                return false; /* what is being stopped is waited for by those who came later */
        if (sc_task_is_held(t->state) && sc_sched_worker(s, t->worker)->gone)
                return false; /* its run is about to be lost; one of the others begins anew */
        struct sched_key *k = sc_sched_owner(t)->key;
        hand_over(s, k, t, first_of(s, k));
        return true;
}

/* ---- an owner has ended ------------------------------------------------------------------------*/

/* The work was stopped for the owner that led, and is wanted by others: it begins anew. */
static void succeed(struct sc_sched *s, struct sched_key *k, const struct sched_task *from)
{
        struct sched_task *t    = first_of(s, k);
        struct sched_plan *plan = sc_sched_plan(t);
        k->leader               = t->self;
        t->run                  = from->run;
        t->losses               = from->losses;
        t->attempt              = 0;
        t->retries              = k->retries;
        t->flags |= from->flags & (SCHED_CHARGED | SCHED_ANSWERED);
        sc_sched_move(s, t, wait_move(s, t, plan));
}

void sc_sched_owner_leaves(struct sc_sched *s, struct sched_task *t, struct sched_owner *owner)
{
        struct sched_key *k   = owner->key;
        sc_sched_plan(t)->owner = NULL;
        s->bytes -= sizeof *owner;
        sc_mem_release(s->mem, owner, sizeof *owner);
        if (k->leader == t->self) {
                k->leader = SCHED_NONE;
                if (!k->ended && k->joined.len > 0)
                        succeed(s, k, t);
        }
        sc_sched_key_release(s, k);
}

/* ---- what is due -------------------------------------------------------------------------------*/

/* Both stay, so the work begins as early as the one wants that led. */
static void raise(struct sc_sched *s, struct sched_key *k, struct sched_task *leader, struct sched_task *first)
{
        const sc_ns        wake = sc_sched_plan(leader)->wake_at;
        struct sched_plan *plan = sc_sched_plan(first);
        if (plan->wake_at != SC_NEVER && wake < plan->wake_at)
                plan->wake_at = wake;
        hand_over(s, k, leader, first);
}

/* True: nothing is left to be done. */
static bool todo_one(struct sc_sched *s, struct sched_key *k, struct sc_out *out)
{
        if (k->ended) {
                struct sched_task *t    = first_of(s, k);
                const bool         last = k->joined.len <= 1;
                if (last)
                        sc_list_remove(&k->todo); /* the end of the last one may be the end of the key */
                if (t)
                        sc_sched_end_as(s, t, SC_MOVE_FINISH, k, out);
                return last;
        }
        struct sched_task        *leader = sc_sched_row(s, k->leader);
        const struct sched_owner *first  = sc_heap_top(&k->joined);
        const bool waits = leader->state == SC_STATE_READY || leader->state == SC_STATE_BACKOFF;
        if (first && waits && first->priority > sc_sched_owner(leader)->priority)
                raise(s, k, leader, sc_sched_row(s, first->row));
        sc_list_remove(&k->todo);
        return true;
}

void sc_sched_keys_run(struct sc_sched *s, struct sc_out *out)
{
        while (!sc_list_empty(&s->keys_todo)) {
                if (!sc_sched_bulk(s, out))
                        return;
                todo_one(s, SC_CONTAINER(s->keys_todo.next, struct sched_key, todo), out);
        }
        sc_sched_keys_forget(s, out);
}
