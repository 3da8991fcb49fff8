/*
 * The invariants of what is ready and of what is used: queues, heaps and counts of lanes and all above
 * them, shares and limits, holders and offers, and that nothing which somebody takes is left lying.
 */
#include "sched_state.h"

#include "sc_assert.h"

/* ---- lanes -------------------------------------------------------------------------------------*/

/* Rows under a root, by following child and next without recursion: a row's parent is found over prev. */
static uint32_t heap_walk(const struct sc_sched *s, uint32_t root)
{
        uint32_t len = 0, at = root;
        while (at != SCHED_NONE) {
                const struct sched_task *t = sc_sched_row(s, at);
                len++;
                if (t->child != SCHED_NONE) {
                        SC_ASSERT(sc_sched_row(s, t->child)->link[SCHED_AT].prev == at);
                        SC_ASSERT(sc_sched_row(s, t->child)->order > t->order);
                        at = t->child;
                        continue;
                }
                while (at != root && sc_sched_row(s, at)->link[SCHED_AT].next == SCHED_NONE) {
                        uint32_t up = sc_sched_row(s, at)->link[SCHED_AT].prev;
                        while (sc_sched_row(s, up)->child != at) {
                                at = up;
                                up = sc_sched_row(s, at)->link[SCHED_AT].prev;
                        }
                        at = up;
                }
                at = at == root ? SCHED_NONE : sc_sched_row(s, at)->link[SCHED_AT].next;
        }
        return len;
}

static void lane_rows_check(const struct sc_sched *s, const struct sched_lane *lane)
{
        uint64_t before = 0;
        for (uint32_t at = lane->fifo.head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_AT].next) {
                const struct sched_task *t = sc_sched_row(s, at);
                SC_ASSERT(t->state == SC_STATE_READY && t->lane == lane->self && t->order > before);
                before = t->order;
        }
        uint32_t refs = lane->client->lane == lane;
        for (uint32_t i = 0; i < s->made && s->lanes.len <= 64; i++)
                refs += sc_sched_row(s, i)->state != SC_STATE_FREE && sc_sched_row(s, i)->lane == lane->self;
        SC_ASSERT(s->lanes.len > 64 || lane->refs == refs);
        SC_ASSERT(lane->refs > 0);
}

/* Keys are never above what they stand for: else somebody would be passed over. */
static void lane_check(const struct sc_sched *s, const struct sched_lane *lane)
{
        const struct sched_group *g = lane->group;
        uint32_t                  ready = sc_sched_queue_check(s, &lane->fifo, SCHED_AT) + heap_walk(s, lane->heap);
        lane_rows_check(s, lane);
        SC_ASSERT(lane->ready == ready);
        SC_ASSERT(lane->class == g->level->class && lane->priority == g->level->priority);
        SC_ASSERT(lane->client->tenant == g->tenant);
        SC_ASSERT((lane->alone == SCHED_NONE) == sc_list_empty(&lane->last));
        SC_ASSERT(lane->standing != SCHED_OUT || ready == 0);
        SC_ASSERT((lane->standing == SCHED_CAPPED) != sc_list_empty(&lane->capped));
        SC_ASSERT(lane->standing != SCHED_CAPPED || sc_sched_share_capped(&lane->client->share));
        if (lane->standing != SCHED_IN)
                return;
        SC_ASSERT(g->shares.at[lane->position[0]] == lane && g->ages.at[lane->position[1]] == lane);
        if (ready == 0)
                return;
        SC_ASSERT(lane->share <= lane->client->share.time);
        SC_ASSERT(lane->order <= sc_sched_row(s, sc_sched_ready_head(s, lane))->order);
        SC_ASSERT(g->standing != SCHED_OUT);
        if (g->standing == SCHED_CAPPED) {
                SC_ASSERT(sc_sched_share_capped(&g->tenant->share));
                return;
        }
        const struct sched_level *level = g->level;
        SC_ASSERT(level->shares.at[g->position[0]] == g && level->ages.at[g->position[1]] == g);
        SC_ASSERT(g->share <= g->tenant->share.time && g->order <= lane->order);
        SC_ASSERT(level->in && level->class->tops.at[level->position[0]] == level);
        SC_ASSERT(level->class->ages.at[level->position[1]] == level);
        SC_ASSERT(level->class->active == SCHED_NONE || sc_sched_share_capped(&lane->client->share) ||
                  !s->active[level->class->active].dry);
}

static void group_heaps_check(const struct sched_group *g)
{
        SC_ASSERT(g->shares.len == g->ages.len && g->shares.len <= g->lanes);
        sc_sched_heap_check(&g->shares);
        sc_sched_heap_check(&g->ages);
        sc_sched_heap_check(&g->level->shares);
        sc_sched_heap_check(&g->level->ages);
        sc_sched_heap_check(&g->level->class->tops);
        sc_sched_heap_check(&g->level->class->ages);
}

/* ---- classes -----------------------------------------------------------------------------------*/

static uint32_t class_crews(const struct sc_sched *s, const struct sched_class *c)
{
        uint32_t crews = 0;
        for (uint32_t i = 0; i < s->crews.len; i++) {
                const struct sched_crew *crew = s->crews.at[i];
                crews += crew && crew->live > 0 && sc_sched_crew_serves(crew, c);
        }
        return crews;
}

/* Work-conserving: what somebody with room could start is not left lying, unless a limit of its owner says so. */
static void placed_check(const struct sc_sched *s, const struct sched_class *c)
{
        const bool blocked = s->more || s->tight || sc_sched_is_stopping(s) ||
                             (s->bytes > s->opt.bytes_max && s->ended_bytes > 0);
        bool       waits   = false;
        for (uint32_t i = 0; i < s->lanes.len; i++) {
                const struct sched_lane *lane = s->lanes.at[i];
                waits = waits || (lane && lane->class == c && lane->ready > 0 &&
                                  !sc_sched_share_capped(&lane->client->share) &&
                                  !sc_sched_share_capped(&lane->client->tenant->share));
        }
        for (uint32_t i = 0; i < s->worker_at.len && waits && !blocked; i++) {
                const struct sched_worker *w = sc_sched_worker(s, i);
                if (!w)
                        continue;
                const enum sched_takes takes = sc_sched_takes(s, w, c);
                SC_ASSERT(takes != SCHED_NOW);
                SC_ASSERT(takes == SCHED_NOT || s->needy_active > 0 || s->long_active > 0);
        }
}

static uint32_t class_check(const struct sc_sched *s, const struct sched_class *c)
{
        uint32_t ready = 0, alone = 0;
        for (uint32_t i = 0; i < s->lanes.len; i++) {
                const struct sched_lane *lane = s->lanes.at[i];
                if (!lane || lane->class != c)
                        continue;
                const uint32_t last = heap_walk(s, lane->alone);
                ready += lane->ready + last;
                alone += last;
        }
        SC_ASSERT(c->ready == ready && c->ready_alone == alone && c->levels > 0);
        SC_ASSERT(c->crews == class_crews(s, c));
        SC_ASSERT((c->active != SCHED_NONE) == (c->ready > 0 && c->crews > 0));
        SC_ASSERT(c->active == SCHED_NONE || s->active[c->active].class == c);
        placed_check(s, c);
        return ready;
}

static void entries_check(const struct sc_sched *s)
{
        uint32_t loose = 0, stuck = 0, needy = 0, longs = 0;
        for (uint32_t i = 0; i < s->active_len; i++) {
                const struct sched_entry *e = &s->active[i];
                SC_ASSERT(e->class->active == i);
                loose += !e->dry && !e->stuck;
                stuck += e->stuck;
                needy += e->class->set->self != 0;
                longs += e->class->function->expected >= SCHED_LONG;
        }
        SC_ASSERT(loose == s->loose && stuck == s->stuck && needy == s->needy_active && longs == s->long_active);
}

/* ---- shares ------------------------------------------------------------------------------------*/

static void share_check(const struct sched_share *share, uint32_t ready, uint32_t running)
{
        SC_ASSERT(share->ready == ready && share->running == running && share->weight > 0);
        SC_ASSERT(sc_list_empty(&share->capped) || sc_sched_share_capped(share));
}

static void client_share_check(const struct sc_sched *s, const struct sched_client *c, uint32_t *ready,
                               uint32_t *running)
{
        uint32_t waiting = 0, held = 0;
        for (uint32_t i = 0; i < s->made && c->guests > 0; i++) { /* those of others too */
                const struct sched_task *t = sc_sched_row(s, i);
                if (t->state == SC_STATE_FREE || t->lane == SCHED_NONE || sc_sched_lane(s, t->lane)->client != c ||
                    t->client == c->self)
                        continue;
                waiting += t->state == SC_STATE_READY;
                held += sc_task_is_held(t->state) && t->waits == SCHED_AWAKE;
        }
        for (uint32_t at = c->mine.head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_MINE].next) {
                const struct sched_task *t = sc_sched_row(s, at);
                if (t->lane != SCHED_NONE && sc_sched_lane(s, t->lane)->client != c)
                        continue;
                waiting += t->state == SC_STATE_READY;
                held += sc_task_is_held(t->state) && t->waits == SCHED_AWAKE;
        }
        share_check(&c->share, waiting, held);
        *ready += waiting;
        *running += held;
}

static void shares_check(const struct sc_sched *s)
{
        for (uint32_t t = 0; t < s->tenants.len; t++) {
                const struct sched_tenant *tenant = s->tenants.at[t];
                uint32_t                   ready = 0, running = 0;
                uint64_t                   granted = 0;
                for (uint32_t i = 0; tenant && i < s->client_at.len; i++) {
                        const struct sched_client *c = sc_sched_client(s, i);
                        if (!c || c->tenant != tenant)
                                continue;
                        client_share_check(s, c, &ready, &running);
                        granted += c->grant;
                }
                if (!tenant)
                        continue;
                share_check(&tenant->share, ready, running);
                SC_ASSERT(tenant->granted == granted);
                SC_ASSERT(tenant->queued_max == 0 || granted <= tenant->queued_max);
        }
}

void sc_sched_check_lanes(const struct sc_sched *s)
{
        uint32_t ready = 0;
        for (uint32_t i = 0; i < s->lanes.len; i++) {
                const struct sched_lane *lane = s->lanes.at[i];
                if (!lane)
                        continue;
                SC_ASSERT(lane->self == i);
                lane_check(s, lane);
                group_heaps_check(lane->group);
        }
        uint32_t needy = 0;
        for (uint32_t i = 0; i < s->classes.len; i++) {
                const struct sched_class *c = s->classes.at[i];
                if (!c)
                        continue;
                SC_ASSERT(c->self == i);
                ready += class_check(s, c);
                needy += c->set->self != 0;
        }
        SC_ASSERT(ready == s->count[SC_STATE_READY] && needy == s->needy && needy <= SCHED_NEEDY_MAX);
        SC_ASSERT(s->sets.len <= SCHED_SETS_MAX);
        SC_ASSERT(s->lanes.len > s->lanes.free_len || s->lane_bytes == 0);
        entries_check(s);
        shares_check(s);
}

/* ---- what is used ------------------------------------------------------------------------------*/

static void runs_check(const struct sc_sched *s, const struct sched_worker *w, const struct sched_runs *runs)
{
        const struct sched_queue *const queues[] = { &w->started, &w->unstarted };
        uint32_t                        assigned = 0, recalling = 0, started = 0, parked = 0;
        for (size_t q = 0; q < 2; q++) {
                for (uint32_t at = queues[q]->head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_AT].next) {
                        const struct sched_task *t    = sc_sched_row(s, at);
                        const bool               mine = sc_sched_set_of(s, t)->self == runs->set;
                        assigned += mine && t->waits != SCHED_PARKED;
                        parked += mine && t->waits == SCHED_HOLDS;
                        recalling += mine && t->state == SC_STATE_RECALLING;
                        started += mine && q == 0 && t->waits != SCHED_PARKED;
                }
        }
        assigned += runs->set == 0 ? w->kept : 0; /* what those need whose task has ended is not known any more */
        SC_ASSERT(runs->started == started + (runs->set == 0 ? w->kept : 0));
        SC_ASSERT(runs->parked == parked && parked <= runs->holders);
        SC_ASSERT(runs->assigned == assigned && runs->recalling == recalling && runs->holders <= assigned);
        SC_ASSERT(runs->assigned == runs->holders || !sc_sched_fits(s, w, sc_sched_set(s, runs->set)));
        SC_ASSERT(assigned > 0 || runs == w->runs);
}

/* What holders of all sets need of one offer. */
static uint64_t used_of(const struct sc_sched *s, const struct sched_worker *w, const struct sched_amount *offer)
{
        uint64_t used = 0;
        for (uint32_t i = 0; i < w->runs_len; i++) {
                const struct sched_set *set = sc_sched_set(s, w->runs[i].set);
                for (uint32_t k = 0; k < set->count; k++) {
                        bool same = true;
                        for (int n = 0; n < 4; n++)
                                same = same && set->amount[k].name[n] == offer->name[n];
                        const uint32_t hold = w->runs[i].holders - (sc_sched_is_cpu(offer) ? w->runs[i].parked : 0);
                        used += same ? hold * set->amount[k].thousandths : 0;
                }
        }
        return used;
}

static void worker_check(const struct sc_sched *s, const struct sched_worker *w)
{
        uint32_t held = 0;
        for (uint32_t i = 0; i < w->runs_len; i++) {
                runs_check(s, w, &w->runs[i]);
                held += w->runs[i].holders - w->runs[i].parked;
        }
        SC_ASSERT(w->held == held && (held <= w->slots || w->has_waited));
        SC_ASSERT(w->runs_len <= w->runs_cap && w->runs[0].set == 0);
        for (uint32_t i = 0; i < w->crew->offer_count; i++) {
                const bool counted = s->opt.allocate != SC_ALLOCATE_CAPABILITY;
                SC_ASSERT(w->used[i] == (counted ? used_of(s, w, &w->crew->offers[i]) : 0));
                SC_ASSERT(w->used[i] <= w->crew->offers[i].thousandths || w->has_waited);
        }
}

static void crew_check(const struct sc_sched *s, const struct sched_crew *crew)
{
        uint32_t live = 0, mixed = 0, roomy = 0;
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                const struct sched_worker *w = sc_sched_worker(s, i);
                if (!w || w->crew != crew)
                        continue;
                live += !w->gone;
                mixed += w->runs_len > 1;
                roomy += w->position != SC_HEAP_NOWHERE;
        }
        SC_ASSERT(crew->live == live && crew->mixed == mixed && crew->roomy.len == roomy && crew->refs >= live);
        SC_ASSERT((crew->position == SC_HEAP_NOWHERE) == (roomy == 0));
        SC_ASSERT(roomy == 0 || s->roomy.at[crew->position] == crew);
        sc_sched_heap_check(&crew->roomy);
        for (uint32_t i = 1; i < crew->function_count; i++)
                SC_ASSERT(crew->functions[i - 1] < crew->functions[i]);
}

void sc_sched_check_amounts(const struct sc_sched *s)
{
        uint32_t roomy = 0;
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                if (!sc_sched_worker(s, i))
                        continue;
                worker_check(s, sc_sched_worker(s, i));
                roomy += sc_sched_worker(s, i)->position != SC_HEAP_NOWHERE;
        }
        SC_ASSERT(roomy == s->room_count);
        for (uint32_t i = 0; i < s->crews.len; i++) {
                if (s->crews.at[i])
                        crew_check(s, s->crews.at[i]);
        }
}
