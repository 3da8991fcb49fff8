/*
 * Every invariant of the scheduler, found by walking everything and counting again.  For tests and
 * the simulator: it costs as much as there is.
 */
#include "sched_explain.h"

#include "sc_assert.h"

struct census {
        uint32_t rows, count[SC_STATES], plans, timed, delayed, last_chances;
        uint64_t bytes, ended_bytes;
};

uint32_t sc_sched_queue_check(const struct sc_sched *s, const struct sched_queue *q, enum sched_link_pair pair)
{
        uint32_t len = 0, before = SCHED_NONE;
        for (uint32_t at = q->head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[pair].next) {
                SC_ASSERT(sc_sched_row(s, at)->link[pair].prev == before);
                before = at;
                len++;
        }
        SC_ASSERT(q->tail == before && q->len == len);
        return len;
}

static void row_check(const struct sc_sched *s, const struct sched_task *t)
{
        enum sc_task_state state = t->state;
        bool               held  = sc_task_is_held(state);
        SC_ASSERT(sc_sched_find(s, t->id) == t); /* one row per id */
        SC_ASSERT(held == (t->worker != SCHED_NONE));
        SC_ASSERT((state == SC_STATE_ORPHAN) == (t->client == SCHED_NONE));
        SC_ASSERT(!(t->flags & SCHED_STARTED) || held);
        SC_ASSERT(t->asks == SCHED_NONE || state == SC_STATE_CANCELLING ||
                  (state == SC_STATE_WAITING && t->kind == SC_TASK_GRAPH));
        SC_ASSERT(!held || sc_sched_worker(s, t->worker));
        SC_ASSERT((state == SC_STATE_ORPHAN) <= (t->lane == SCHED_NONE));
        SC_ASSERT(t->lane != SCHED_NONE || state == SC_STATE_ORPHAN || state == SC_STATE_ENDED ||
                  state == SC_STATE_KEPT || t->kind == SC_TASK_GRAPH);
        SC_ASSERT(t->lane == SCHED_NONE || (t->spec_flags & SCHED_CHILD) ||
                  sc_sched_lane(s, t->lane)->client->self == t->client);
        SC_ASSERT(t->child == SCHED_NONE || state == SC_STATE_READY || held || (t->flags & SCHED_MARKED));
        SC_ASSERT(state != SC_STATE_READY || !(t->flags & SCHED_BLOCKED));
        SC_ASSERT(state == SC_STATE_ORPHAN || sc_sched_client(s, t->client)->id == t->id.hi);
        SC_ASSERT(t->losses < s->opt.losses_max || state == SC_STATE_ENDED || state == SC_STATE_KEPT);
}

/* No row waits past its time, and none that has one is forgotten. */
static void plan_check(const struct sc_sched *s, const struct sched_task *t, const struct sched_plan *plan)
{
        const enum sc_task_state state = t->state;
        SC_ASSERT(plan->row == t->self);
        SC_ASSERT((plan->position == SC_HEAP_NOWHERE) == (plan->at == SC_NEVER));
        SC_ASSERT(plan->at == SC_NEVER || s->plans.at[plan->position] == plan);
        SC_ASSERT(plan->at > s->now || s->more);
        SC_ASSERT(state == SC_STATE_BACKOFF || state == SC_STATE_WAITING || state == SC_STATE_JOINED ||
                  plan->wake_at == SC_NEVER);
        const bool held = sc_task_is_held(state);
        SC_ASSERT(held || (plan->limit_at == SC_NEVER && plan->release_at == SC_NEVER));
        SC_ASSERT(plan->release_at == SC_NEVER || state == SC_STATE_CANCELLING);
        SC_ASSERT(plan->queue_at == SC_NEVER || !(t->flags & SCHED_STARTED));
        if (held && sc_sched_worker(s, t->worker)->gone)
                return;
        SC_ASSERT(plan->release_at != SC_NEVER || plan->at <= plan->deadline_at);
        const bool counts = state == SC_STATE_READY || state == SC_STATE_BACKOFF || state == SC_STATE_ASSIGNED ||
                            state == SC_STATE_JOINED;
        SC_ASSERT(!counts || plan->at <= plan->queue_at);
        SC_ASSERT(state == SC_STATE_WAITING || state == SC_STATE_JOINED || plan->at <= plan->wake_at);
        SC_ASSERT(plan->at <= plan->limit_at && plan->at <= plan->release_at);
}

static struct census rows_check(const struct sc_sched *s)
{
        struct census census = { .rows = 0 };
        for (uint32_t i = 0; i < s->made; i++) {
                const struct sched_task *t = sc_sched_row(s, i);
                SC_ASSERT(t->self == i);
                if (t->state == SC_STATE_FREE)
                        continue;
                row_check(s, t);
                census.rows++;
                census.count[t->state]++;
                census.bytes += t->block_size;
                census.ended_bytes += t->state == SC_STATE_ENDED ? t->block_size : 0;
                const struct sched_plan *plan = sc_sched_plan(t);
                if (plan) {
                        plan_check(s, t, plan);
                        census.plans++;
                        census.timed += plan->position != SC_HEAP_NOWHERE;
                        census.delayed += t->state == SC_STATE_BACKOFF && plan->wake_at != SC_NEVER;
                }
                census.last_chances += (t->flags & SCHED_IN_ALONE) != 0;
        }
        return census;
}

static uint32_t held_check(const struct sc_sched *s, const struct sched_worker *w)
{
        const struct sched_queue *const queues[] = { &w->started, &w->unstarted };
        uint32_t                        recalling = 0, alone = 0, waiting = 0;
        for (size_t q = 0; q < 2; q++) {
                sc_sched_queue_check(s, queues[q], SCHED_AT);
                for (uint32_t at = queues[q]->head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_AT].next) {
                        const struct sched_task *t = sc_sched_row(s, at);
                        SC_ASSERT(t->worker == w->self);
                        SC_ASSERT(((t->flags & SCHED_STARTED) != 0) == (q == 0));
                        recalling += t->state == SC_STATE_RECALLING;
                        alone += (t->flags & SCHED_ALONE) && t->waits == SCHED_AWAKE;
                        waiting += t->waits != SCHED_AWAKE;
                }
        }
        SC_ASSERT(w->recalling == recalling);
        SC_ASSERT(w->alone == alone && w->waiting == waiting);
        SC_ASSERT(!w->alone || w->assigned == 1 || w->has_waited);
        SC_ASSERT(w->assigned == w->started.len + w->unstarted.len + w->kept - w->waiting);
        SC_ASSERT(w->kept == 0 || !w->gone);
        return w->assigned - w->kept + w->waiting;
}

static void worker_check(const struct sc_sched *s, const struct sched_worker *w)
{
        SC_ASSERT(w->gone == (w->link == 0));
        SC_ASSERT(w->gone || sc_sched_link(s, w->link)->index == w->self);
        SC_ASSERT(w->gone || sc_sched_link(s, w->link)->welcomed);
        SC_ASSERT(w->tally->id == w->id && w->tally->links > 0);
        SC_ASSERT(w->gone || w->touched || sc_sched_has_room(w) == (w->position != SC_HEAP_NOWHERE));
        SC_ASSERT(w->position == SC_HEAP_NOWHERE || w->crew->roomy.at[w->position] == w);
        SC_ASSERT(!w->touched || s->more || sc_sched_is_stopping(s));
        SC_ASSERT(!(w->gone || w->joining) || !sc_list_empty(&w->todo));
        SC_ASSERT(w->reserved == SCHED_NONE || sc_sched_class(s, w->reserved)->reserved == w->self);
}

static void workers_check(const struct sc_sched *s, const struct census *census)
{
        uint32_t held = 0, live = 0, reserved = 0;
        uint64_t excess = 0;
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                const struct sched_worker *w = sc_sched_worker(s, i);
                if (!w)
                        continue;
                SC_ASSERT(w->self == i);
                worker_check(s, w);
                held += held_check(s, w);
                live += !w->gone;
                reserved += w->reserved != SCHED_NONE;
                excess += w->gone ? 0 : w->assigned - w->held;
        }
        SC_ASSERT(held == census->count[SC_STATE_ASSIGNED] + census->count[SC_STATE_RECALLING] +
                                  census->count[SC_STATE_CANCELLING] + census->count[SC_STATE_ORPHAN]);
        SC_ASSERT(live == s->worker_count && reserved == s->reservations && excess == s->excess);
}

/* A link that said hello is welcomed, or waits for rows that workers are stopping, or stands on the list of
 * those for whom something can be done at once. */
static void welcome_check(const struct sc_sched *s, const struct sched_client *c)
{
        if (c->link == 0)
                return;
        const struct sched_link *l = sc_sched_link(s, c->link);
        SC_ASSERT(l->index == c->self);
        SC_ASSERT(l->welcomed == !c->doomed);
        if (l->welcomed || !sc_list_empty(&c->todo))
                return;
        SC_ASSERT(c->mine.len > 0);
        for (uint32_t at = c->mine.head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_MINE].next) {
                const struct sched_task *t = sc_sched_row(s, at);
                SC_ASSERT(t->state == SC_STATE_CANCELLING || t->state == SC_STATE_KEPT || t->kind == SC_TASK_GRAPH);
        }
}

static void client_check(const struct sc_sched *s, const struct sched_client *c)
{
        sc_sched_queue_check(s, &c->mine, SCHED_MINE);
        sc_sched_queue_check(s, &c->ended, SCHED_AT);
        uint64_t bytes = 0, place = 0, unsent = UINT64_MAX;
        for (uint32_t at = c->mine.head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_MINE].next) {
                const struct sched_task *t = sc_sched_row(s, at);
                SC_ASSERT(t->client == c->self);
                bytes += t->state == SC_STATE_ENDED || t->state == SC_STATE_KEPT ? 0 : sc_sched_weight(t);
        }
        for (uint32_t at = c->ended.head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_AT].next, place++) {
                SC_ASSERT(sc_sched_row(s, at)->state == SC_STATE_ENDED);
                unsent = at == c->unsent ? place : unsent;
        }
        SC_ASSERT(bytes == c->body_bytes);
        SC_ASSERT(c->acks + c->sent <= c->ended.len);
        SC_ASSERT(c->unsent == SCHED_NONE || unsent == c->acks + c->sent);
        bool idle = c->link == 0 || c->resend || c->doomed;
        SC_ASSERT(idle || c->unsent != SCHED_NONE || c->ended.len == c->acks + c->sent);
        SC_ASSERT(c->mine.len <= c->grant + s->releasing + (c->names ? c->acks : 0) && c->grant <= s->opt.tasks_max);
        welcome_check(s, c);
        const bool hungry = c->link != 0 && !c->doomed && (c->want > c->grant || c->want_kib > c->kib);
        SC_ASSERT(hungry == !sc_list_empty(&c->hungry));
}

static void clients_check(const struct sc_sched *s, const struct census *census)
{
        uint64_t grants = 0, kib = 0;
        uint32_t rows = 0, ended = 0, links = 0, hungry = 0;
        for (uint32_t i = 0; i < s->client_at.len; i++) {
                const struct sched_client *c = sc_sched_client(s, i);
                if (!c)
                        continue;
                SC_ASSERT(c->self == i);
                client_check(s, c);
                grants += c->grant;
                kib += c->kib;
                rows += c->mine.len;
                ended += c->ended.len;
                links += c->link != 0;
                hungry += !sc_list_empty(&c->hungry);
        }
        for (const struct sc_list *at = s->hungry.next; at != &s->hungry; at = at->next)
                hungry--;
        SC_ASSERT(hungry == 0);
        SC_ASSERT(grants == s->grant_sum && kib == s->kib_sum && links == s->client_links);
        SC_ASSERT(grants + census->count[SC_STATE_ORPHAN] <= s->opt.tasks_max);
        SC_ASSERT(kib <= s->opt.bytes_max / 1024 + s->client_at.len * (SC_BODY_MAX / 1024 + 1));
        SC_ASSERT(rows + census->count[SC_STATE_ORPHAN] == s->rows && ended == census->count[SC_STATE_ENDED]);
        SC_ASSERT(s->links.len == s->client_links + s->worker_count + s->admin_links);
        SC_ASSERT(s->links.len == s->peers.len && s->links.len <= s->opt.peers_max);
}

/* One that walks a client's queue stands at a row of it, or is at the end. */
static void bulks_check(const struct sc_sched *s)
{
        uint32_t asked = 0, walking = 0;
        for (struct sc_list *at = s->bulks.next; at != &s->bulks; at = at->next) {
                const struct sched_bulk *b = SC_CONTAINER(at, struct sched_bulk, list);
                SC_ASSERT(sc_sched_link(s, b->link)->bulks > 0);
                SC_ASSERT(b->end == SCHED_NONE || b->cursor <= b->end);
                asked++;
                walking += !sc_list_empty(&b->mine);
        }
        size_t cursor = 0;
        for (const struct sched_link *l; (l = sc_map_each(&s->links, &cursor)) != NULL;)
                asked -= l->bulks;
        SC_ASSERT(asked == 0 && (sc_list_empty(&s->bulks) || s->more));
        for (uint32_t i = 0; i < s->client_at.len; i++) {
                const struct sched_client *c = sc_sched_client(s, i);
                for (struct sc_list *at = c ? c->bulks.next : NULL; c && at != &c->bulks; at = at->next) {
                        const struct sched_bulk *b = SC_CONTAINER(at, struct sched_bulk, mine);
                        SC_ASSERT(b->end == SCHED_NONE);
                        SC_ASSERT(b->cursor == SCHED_NONE || sc_sched_row(s, b->cursor)->client == i);
                        walking--;
                }
        }
        SC_ASSERT(walking == 0);
}

void sc_sched_heap_check(const struct sc_heap *heap)
{
        for (size_t i = 1; i < heap->len; i++)
                SC_ASSERT(!heap->before(heap->at[i], heap->at[(i - 1) / 2]));
}

void sc_sched_check(const struct sc_sched *s)
{
        struct census census = rows_check(s);
        sc_sched_key_check(s, &census.bytes, &census.ended_bytes);
        SC_ASSERT(census.rows == s->rows && census.bytes == s->bytes && census.ended_bytes == s->ended_bytes);
        SC_ASSERT(census.plans == s->plan_count && s->plans.len == census.timed);
        SC_ASSERT(census.last_chances == s->alone_ready);
        sc_sched_heap_check(&s->plans);
        sc_sched_heap_check(&s->roomy);
        SC_ASSERT(s->rows <= s->opt.tasks_max && s->made <= s->opt.tasks_max);
        for (int state = 1; state < SC_STATES; state++)
                SC_ASSERT(census.count[state] == s->count[state]);
        SC_ASSERT(sc_sched_queue_check(s, &s->claims, SCHED_AT) + census.delayed == census.count[SC_STATE_BACKOFF]);
        SC_ASSERT(sc_sched_queue_check(s, &s->orphans, SCHED_MINE) == census.count[SC_STATE_ORPHAN]);
        SC_ASSERT(s->more || (sc_list_empty(&s->todo_clients) && sc_list_empty(&s->todo_workers)));
        SC_ASSERT(s->idle_tally_count <= SCHED_TALLIES_MAX && s->idle_tally_count <= s->tallies.len);
        workers_check(s, &census);
        clients_check(s, &census);
        sc_sched_check_lanes(s);
        sc_sched_check_amounts(s);
        bulks_check(s);
        sc_sched_graph_check(s);
        sc_sched_families_check(s);
        sc_sched_attempts_check(s);
        sc_sched_drains_check(s);
}
