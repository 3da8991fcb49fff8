/*
 * Who runs what.  Among the classes that somebody with room takes, the highest priority goes first;
 * then the tenant and the client with the least virtual time; then the oldest.  It goes to the least
 * loaded worker that can start it, else to the least loaded one where it waits behind its like.  A
 * class that nobody takes is stuck and not looked at again until somebody gains room: so in the steady
 * state a worker that gives something back is filled again without any search.  Deep queues of short
 * tasks are handed out in runs, which make full frames; everything else is spread.
 */
#include "sched_state.h"

#include "sc_assert.h"

enum { RUN_MIN = 16, RUN_MAX = 64 };

/* ---- room --------------------------------------------------------------------------------------*/

bool sc_sched_roomier(const void *a, const void *b)
{
        const struct sched_worker *x = a, *y = b;
        uint64_t left  = (uint64_t)x->assigned * y->shares;
        uint64_t right = (uint64_t)y->assigned * x->shares;
        return left != right ? left < right : x->serial < y->serial;
}

void sc_sched_roomy_moved(void *item, size_t position)
{
        ((struct sched_worker *)item)->position = position;
}

/* Where others have come to wait for what they need, they must not keep slots idle when it wants fewer than it did.  At
 * least one of its credit is no slot: with as many as that begun all it can still use may be taken. */
static bool may_begin(const struct sched_worker *w)
{
        return w->held < w->slots && w->held + 1 < w->credit && w->assigned < w->credit_most;
}

bool sc_sched_has_room(const struct sched_worker *w)
{
        return !w->gone && !w->joining && !w->draining && !w->alone && w->reserved == SCHED_NONE &&
               (w->assigned < w->credit || may_begin(w));
}

/* Of long runs a slot has at most one waiting, whatever else that is. */
static bool is_too_long(const struct sc_sched *s, const struct sched_worker *w, const struct sched_class *c)
{
        return s->opt.allocate == SC_ALLOCATE_SPREAD && c->function->expected >= SCHED_LONG &&
               w->assigned >= 2 * w->slots;
}

enum sched_takes sc_sched_takes(const struct sc_sched *s, const struct sched_worker *w, const struct sched_class *c)
{
        if (!sc_sched_has_room(w) || !sc_sched_crew_serves(w->crew, c))
                return SCHED_NOT;
        if (s->opt.allocate == SC_ALLOCATE_CAPABILITY)
                return SCHED_NOW;
        if (w->held >= w->slots && c->set->self != 0 && w->runs_len == 1)
                return SCHED_NOT;
        if (sc_sched_fits(s, w, c->set))
                return SCHED_NOW;
        if (is_too_long(s, w, c))
                return SCHED_NOT;
        if (w->assigned - w->held + w->slots >= w->credit)
                return SCHED_NOT; /* the rest of its credit is for the slots that are free */
        const struct sched_runs *runs = sc_sched_runs(w, c->set->self);
        return runs && runs->holders > runs->parked ? SCHED_BEHIND : SCHED_NOT;
}

static void enter_room(struct sc_sched *s, struct sched_worker *w)
{
        sc_heap_push(&w->crew->roomy, w);
        sc_sched_crew_changed(s, w->crew);
        s->room_count++;
}

void sc_sched_worker_leaves_room(struct sc_sched *s, struct sched_worker *w)
{
        struct sched_crew *crew = w->crew;
        if (w->position == SC_HEAP_NOWHERE)
                return;
        s->room_count--;
        if (crew->roomy.len == 1)
                sc_heap_remove(&s->roomy, crew->position);
        sc_heap_remove(&crew->roomy, w->position);
        if (crew->roomy.len > 0)
                sc_sched_crew_changed(s, crew);
}

static void touch(struct sc_sched *s, struct sched_worker *w)
{
        if (w->touched)
                return;
        w->touched = true;
        sc_list_add_tail(&s->touched, &w->touch);
}

/* After anything that room depends on.  Whoever comes to have room is looked at first at the end of the step. */
void sc_sched_worker_changed(struct sc_sched *s, struct sched_worker *w)
{
        s->balance_due = true;
        if (!sc_sched_has_room(w)) {
                sc_sched_worker_leaves_room(s, w);
        } else if (w->position != SC_HEAP_NOWHERE) {
                sc_heap_fix(&w->crew->roomy, w->position);
                sc_sched_crew_changed(s, w->crew);
        } else {
                touch(s, w);
        }
}

/* It has more to give than before: what is stuck may fit. */
void sc_sched_worker_gained(struct sc_sched *s, struct sched_worker *w)
{
        sc_sched_worker_changed(s, w);
        if (s->stuck > 0 && sc_sched_has_room(w))
                touch(s, w);
}

/* ---- one task to one worker --------------------------------------------------------------------*/

/* Something is under way that will free memory by its end. */
static bool is_busy(const struct sc_sched *s)
{
        return s->count[SC_STATE_ASSIGNED] + s->count[SC_STATE_RECALLING] + s->count[SC_STATE_CANCELLING] +
               s->count[SC_STATE_ENDED] > s->waiting;
}

static bool may_place(struct sc_sched *s, const struct sc_out *out)
{
        if (is_busy(s) && sc_sched_tight(s))
                return false; /* one at a time, until there is memory */
        if (s->bytes > s->opt.bytes_max && s->ended_bytes > 0)
                return false; /* results first; with none of them waiting, placing is what frees memory */
        if (out->len < SC_EFFECTS_MAX - SCHED_ROOM_PLACE && s->visits < SC_ROWS_MAX &&
            s->inputs_used <= SCHED_INPUTS_STEP)
                return true;
        s->more = true;
        return false;
}

/* Whose turn it is: the head of a lane, for its share or, if not in turn, for its age.  What is below that level comes
 * before it if it is older than that, as of priority 0. */
struct turn {
        struct sched_lane *lane; /* NULL: nobody's */
        bool               in_turn;
        int32_t            level;
        int64_t            age;
};

static void assign(struct sc_sched *s, struct sched_worker *w, uint32_t row, bool in_turn, struct sc_out *out)
{
        struct sched_task       *t    = sc_sched_row(s, row);
        const struct sched_lane *lane = sc_sched_lane(s, t->lane);
        SC_ASSERT(!sc_sched_share_capped(&lane->client->share));
        SC_ASSERT(!sc_sched_share_capped(&lane->client->tenant->share));
        t->run               = ++s->runs;
        t->attempt++;
        t->worker = w->self;
        t->flags &= (uint16_t)~(SCHED_STARTED | SCHED_CHARGED | SCHED_FORCED | SCHED_ANSWERED);
        sc_sched_charge(s, t, in_turn);
        sc_sched_move(s, t, SC_MOVE_PLACE);
        s->visits++;
        const struct sched_function *f    = lane->class->function;
        const struct sched_plan     *plan = sc_sched_plan(t);
        struct sc_assign *m = &sc_out_send(out, w->link, SC_MSG_ASSIGN)->assign;
        *m = (struct sc_assign){ .task = sc_sched_work_name(t), .run = t->run, .attempt = t->attempt };
        m->spec = (struct sc_spec){
                .kind = t->kind, .flags = t->spec_flags & (uint8_t)~SCHED_CHILD, .priority = lane->priority,
                .retries = t->retries,
                .timeout_ms = plan ? plan->timeout_ms : 0,
                .function = { f->name, f->name_len }, .body = sc_sched_body(t), .plan = lane->class->set->plan,
        };
        s->saying += m->spec.body.len;
        if (t->flags & SCHED_NODE)
                sc_sched_inputs(s, t, &m->spec);
}

/* ---- last chances ------------------------------------------------------------------------------*/

void sc_sched_unreserve(struct sc_sched *s, struct sched_worker *w)
{
        if (w->reserved == SCHED_NONE)
                return;
        sc_sched_class(s, w->reserved)->reserved = SCHED_NONE;
        w->reserved                              = SCHED_NONE;
        s->reservations--;
        sc_sched_worker_gained(s, w);
}

/* The least loaded worker with room that serves the class, or NULL. */
static struct sched_worker *least_loaded(const struct sc_sched *s, const struct sched_class *c)
{
        struct sched_worker *best = NULL;
        for (size_t i = 0; i < s->roomy.len; i++) {
                const struct sched_crew *crew = s->roomy.at[i];
                struct sched_worker     *w    = sc_sched_top(&crew->roomy);
                if ((!best || sc_sched_roomier(w, best)) && sc_sched_crew_serves(crew, c))
                        best = w;
        }
        return best;
}

/* Of those that may be placed: the highest priority, and in that the oldest. */
static struct sched_lane *last_chance(const struct sc_sched *s, struct sched_class *c)
{
        struct sched_lane *best = NULL;
        for (struct sc_list *at = c->alone.next; at != &c->alone; at = at->next) {
                struct sched_lane *lane = SC_CONTAINER(at, struct sched_lane, last);
                if (sc_sched_share_capped(&lane->client->share) || sc_sched_share_capped(&lane->client->tenant->share))
                        continue;
                const bool same = best && lane->priority == best->priority;
                if (!best || lane->priority > best->priority ||
                    (same && sc_sched_row(s, lane->alone)->order < sc_sched_row(s, best->alone)->order))
                        best = lane;
        }
        return best;
}

static void assign_alone(struct sc_sched *s, struct sched_worker *w, const struct sched_lane *lane, struct sc_out *out)
{
        uint32_t row = lane->alone;
        sc_sched_row(s, row)->flags |= SCHED_ALONE;
        w->alone++;
        assign(s, w, row, true, out);
}

/* Among all workers that serve the class, with or without room: the one that will be empty first, as far as we know. */
static struct sched_worker *to_be_emptied(const struct sc_sched *s, const struct sched_class *c)
{
        struct sched_worker *best = NULL;
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (!w || w->gone || w->joining || w->draining || w->alone || w->reserved != SCHED_NONE ||
                    w->credit == 0)
                        continue;
                if ((!best || sc_sched_roomier(w, best)) && sc_sched_crew_serves(w->crew, c))
                        best = w;
        }
        return best;
}

static void reserve(struct sc_sched *s, struct sched_class *c)
{
        uint32_t most = s->worker_count > 2 ? s->worker_count / 2 : 1;
        if (c->reserved != SCHED_NONE || s->reservations >= most)
                return;
        struct sched_worker *w = to_be_emptied(s, c);
        if (!w)
                return;
        c->reserved = w->self;
        w->reserved = c->self;
        s->reservations++;
        sc_sched_worker_changed(s, w);
}

static void place_alone_of(struct sc_sched *s, struct sched_class *c, struct sc_out *out)
{
        const struct sched_lane *lane;
        while ((lane = last_chance(s, c)) != NULL && may_place(s, out)) {
                struct sched_worker *w = least_loaded(s, c);
                if (c->reserved != SCHED_NONE && sc_sched_worker(s, c->reserved)->assigned == 0)
                        w = sc_sched_worker(s, c->reserved);
                if (!w || w->assigned > 0) {
                        reserve(s, c);
                        return;
                }
                if (c->reserved != SCHED_NONE)
                        sc_sched_unreserve(s, sc_sched_worker(s, c->reserved));
                if (w->credit == 0)
                        return;
                assign_alone(s, w, lane, out);
        }
}

static void place_alone(struct sc_sched *s, struct sc_out *out)
{
        if (s->alone_ready == 0 && s->reservations == 0)
                return;
        for (uint32_t i = s->active_len; i-- > 0;)
                place_alone_of(s, s->active[i].class, out);
        for (uint32_t i = 0; s->reservations > 0 && i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (w && w->reserved != SCHED_NONE && !last_chance(s, sc_sched_class(s, w->reserved)))
                        sc_sched_unreserve(s, w);
        }
}

/* ---- whose turn it is --------------------------------------------------------------------------*/

static uint64_t tenant_time(const struct sched_entry *e)
{
        return e->tenant ? e->tenant->share.time : e->tenant_time;
}

static uint64_t client_time(const struct sched_entry *e)
{
        return e->client ? e->client->share.time : e->client_time;
}

static bool goes_before(const struct sched_entry *a, const struct sched_entry *b)
{
        if (a->priority != b->priority)
                return a->priority > b->priority;
        if (tenant_time(a) != tenant_time(b))
                return tenant_time(a) < tenant_time(b);
        if (client_time(a) != client_time(b))
                return client_time(a) < client_time(b);
        return a->order < b->order;
}

/* Fills the keys in as they are now.  False: nothing in it may be placed. */
static bool look(struct sc_sched *s, struct sched_entry *e)
{
        struct sched_lane *lane = sc_sched_class_pick(s, e->class);
        if (!lane) {
                sc_sched_entry_stuck(s, e, false);
                sc_sched_entry_dry(s, e, true);
                return false;
        }
        const struct sched_group *g    = lane->group;
        const bool                only = e->class->tops.len == 1 && g->level->shares.len == 1 && g->shares.len == 1;
        e->known       = true;
        e->lane        = lane;
        e->priority    = lane->priority;
        e->tenant      = only ? g->tenant : NULL;
        e->client      = only ? lane->client : NULL;
        e->tenant_time = g->tenant->share.time;
        e->client_time = lane->client->share.time;
        e->order       = lane->order;
        return true;
}

/* Who asks: a worker, among those that are stuck or among the others; or, without one, anybody among the others. */
struct asker {
        const struct sched_worker *w;
        bool                       stuck;
};

static bool is_asked(const struct sched_entry *e, struct asker who)
{
        return !e->dry && e->stuck == who.stuck;
}

/* How a worker takes it at best, found with little effort: no more than that can come of looking closer. */
static enum sched_takes at_best(const struct sc_sched *s, const struct sched_worker *w, const struct sched_entry *e)
{
        if (!sc_sched_serves(w->crew, e->set, e->function))
                return SCHED_NOT;
        if (w->held < w->slots || s->opt.allocate == SC_ALLOCATE_CAPABILITY)
                return SCHED_NOW;
        return w->there >> e->set % 64 & 1 ? SCHED_BEHIND : SCHED_NOT;
}

static struct sched_entry *first_of(struct sc_sched *s, struct asker who, enum sched_takes *how)
{
        const struct sched_worker *w    = who.w;
        struct sched_entry        *best = NULL;
        *how                            = SCHED_NOT;
        for (uint32_t i = 0; i < s->active_len; i++) {
                struct sched_entry *e = &s->active[i];
                if (!is_asked(e, who))
                        continue;
                enum sched_takes takes  = w ? at_best(s, w, e) : SCHED_NOW;
                const bool       behind = best && e->known && !goes_before(e, best);
                if (takes == SCHED_NOT || takes < *how || (behind && takes == *how))
                        continue;
                takes = w ? sc_sched_takes(s, w, e->class) : SCHED_NOW;
                if (takes == SCHED_NOT || takes < *how || (behind && takes == *how) || !look(s, e))
                        continue;
                if (takes == *how && !goes_before(e, best))
                        continue;
                best = e;
                *how = takes;
        }
        return best;
}

static uint64_t order_of(const struct sc_sched *s, const struct sched_lane *lane)
{
        return sc_sched_row(s, sc_sched_ready_head(s, lane))->order;
}

/* Instead of what is in turn the oldest of a lower priority whose waiting has made it higher than that; of those as old
 * the first that came. */
static void take_aged(struct sc_sched *s, struct asker who, enum sched_takes how, struct turn *turn)
{
        for (uint32_t i = 0; i < s->active_len; i++) {
                const struct sched_entry *e = &s->active[i];
                int64_t                   age;
                if (!is_asked(e, who))
                        continue;
                struct sched_lane *lane = sc_sched_class_oldest(s, e->class, turn->level, &age);
                if (!lane || age > turn->age || (who.w && sc_sched_takes(s, who.w, e->class) < how))
                        continue;
                if (age == turn->age && (turn->in_turn || order_of(s, lane) > order_of(s, turn->lane)))
                        continue;
                turn->lane    = lane;
                turn->in_turn = false;
                turn->age     = age;
        }
}

static bool ages(const struct sc_sched *s)
{
        return s->uneven > 0 && s->opt.aging != SC_NEVER;
}

/* Whether something in it would come before that turn, if both could be placed. */
static bool comes_before(struct sc_sched *s, const struct sched_entry *e, const struct turn *turn,
                         const struct sched_entry *own)
{
        int64_t age;
        if (ages(s) && sc_sched_class_oldest(s, e->class, turn->level, &age) && age < turn->age)
                return true;
        if (turn->in_turn)
                return goes_before(e, own);
        return e->priority > turn->level && turn->age >= s->now - e->priority * s->opt.aging;
}

/* It waits for what runs of the set hold at the worker, or for fewer to wait there. */
static bool is_kept_out(const struct sc_sched *s, const struct sched_worker *w, const struct sched_entry *e,
                        const struct sched_set *set)
{
        if (e->dry || !sc_sched_serves(w->crew, e->set, e->function) || sc_sched_fits(s, w, e->class->set))
                return false;
        return is_too_long(s, w, e->class) ||
               (e->class->set != set && sc_sched_fits_without(s, w, e->class->set, set));
}

/* Whether more may only wait with regard to what others need or how long they take. */
static bool is_mixed(const struct sc_sched *s)
{
        return s->needy_active > 0 || s->long_active > 0;
}

/* Something that would come before it is kept out by its like: then they get no followers at the worker, or that would
 * be kept out for ever. */
static bool is_withheld(struct sc_sched *s, const struct sched_worker *w, const struct turn *turn)
{
        const struct sched_class *c = turn->lane->class;
        if (!is_mixed(s) || c->active == SCHED_NONE || !look(s, &s->active[c->active]))
                return false;
        const struct sched_entry own     = s->active[c->active];
        const bool               by_keys = turn->in_turn && !ages(s); /* which then say at once who comes later */
        for (uint32_t i = 0; i < s->active_len; i++) {
                struct sched_entry *e = &s->active[i];
                if (by_keys && e->known && !goes_before(e, &own))
                        continue;
                if (is_kept_out(s, w, e, c->set) && look(s, e) && comes_before(s, e, turn, &own))
                        return true;
        }
        return false;
}

static struct turn next_turn(struct sc_sched *s, struct asker who)
{
        enum sched_takes          how;
        const struct sched_entry *e = first_of(s, who, &how);
        if (!e)
                return (struct turn){ .lane = NULL };
        struct turn turn = { .lane = e->lane, .in_turn = true, .level = e->priority };
        if (ages(s)) {
                turn.age = s->now - e->priority * s->opt.aging;
                take_aged(s, who, how, &turn);
        }
        if (how == SCHED_BEHIND && is_withheld(s, who.w, &turn))
                turn.lane = NULL;
        return turn;
}

/* ---- and where it goes -------------------------------------------------------------------------*/

/* If load alone says who takes most, the first one is enough to look at. */
static bool load_decides(const struct sc_sched *s, const struct sched_crew *crew, const struct sched_class *c)
{
        return crew->mixed == 0 && crew->even && c->set->self == 0 && s->opt.allocate != SC_ALLOCATE_CAPABILITY;
}

static struct sched_worker *best_of(struct sc_sched *s, const struct sched_crew *crew, const struct sched_class *c,
                                    struct sched_worker *best, enum sched_takes *how)
{
        const size_t most = load_decides(s, crew, c) ? 1 : crew->roomy.len;
        for (size_t i = 0; i < most; i++) {
                struct sched_worker *w     = crew->roomy.at[i];
                enum sched_takes     takes = sc_sched_takes(s, w, c);
                if (takes == SCHED_NOT || takes < *how || (takes == *how && !sc_sched_roomier(w, best)))
                        continue;
                best = w;
                *how = takes;
        }
        s->visits += (uint32_t)(most / 16);
        return best;
}

static struct sched_worker *find_worker(struct sc_sched *s, const struct turn *turn, enum sched_takes *how)
{
        const struct sched_class *c    = turn->lane->class;
        const struct sched_crew *first = sc_sched_top(&s->roomy);
        struct sched_worker     *best  = sc_sched_top(&first->roomy);
        *how                           = sc_sched_takes(s, best, c);
        if (*how == SCHED_NOW)
                return best;
        *how = SCHED_NOT;
        best = NULL;
        for (size_t i = 0; i < s->roomy.len; i++) {
                const struct sched_crew *crew = s->roomy.at[i];
                if (sc_sched_crew_serves(crew, c))
                        best = best_of(s, crew, c, best, how);
        }
        s->visits += (uint32_t)(s->roomy.len / 16);
        return *how == SCHED_BEHIND && is_withheld(s, best, turn) ? NULL : best;
}

static uint32_t run_length(const struct sc_sched *s, const struct sched_class *c)
{
        uint32_t ready = c->ready - c->ready_alone, roomy = 0;
        if (ready < RUN_MIN || s->opt.allocate != SC_ALLOCATE_SPREAD || c->function->expected > SCHED_SHORT)
                return 1;
        for (size_t i = 0; i < s->roomy.len; i++) {
                const struct sched_crew *crew = s->roomy.at[i];
                roomy += sc_sched_crew_serves(crew, c) ? (uint32_t)crew->roomy.len : 0;
        }
        uint32_t share = ready / (roomy > 0 ? roomy : 1);
        if (share < RUN_MIN)
                return 1;
        return share < RUN_MAX ? share : RUN_MAX;
}

/* Several of the class, while they are of the same priority and the worker takes them. */
static void hand_out(struct sc_sched *s, struct sched_worker *w, struct turn turn, uint32_t count, struct sc_out *out)
{
        struct sched_class *c        = turn.lane->class;
        const int32_t       priority = turn.lane->priority;
        for (;;) {
                assign(s, w, sc_sched_ready_head(s, turn.lane), turn.in_turn, out);
                if (--count == 0 || c->ready == c->ready_alone || !may_place(s, out))
                        return;
                const enum sched_takes takes = sc_sched_takes(s, w, c);
                if (takes == SCHED_NOT || (takes == SCHED_BEHIND && is_mixed(s)))
                        return;
                turn.lane = sc_sched_class_pick(s, c);
                if (!turn.lane || turn.lane->priority != priority)
                        return;
        }
}

/* A worker that has gained something is filled again by itself with what nobody else takes. */
static bool refill(struct sc_sched *s, struct sched_worker *w, struct sc_out *out)
{
        while (s->stuck > 0 && sc_sched_has_room(w)) {
                if (!may_place(s, out))
                        return false;
                struct turn turn = next_turn(s, (struct asker){ w, true });
                if (!turn.lane)
                        return true;
                assign(s, w, sc_sched_ready_head(s, turn.lane), turn.in_turn, out);
        }
        return true;
}

static void unstick(struct sc_sched *s, const struct sched_worker *w)
{
        for (uint32_t i = 0; i < s->active_len && s->stuck > 0; i++) {
                struct sched_entry *e = &s->active[i];
                if (e->stuck && sc_sched_takes(s, w, e->class) != SCHED_NOT)
                        sc_sched_entry_stuck(s, e, false);
        }
}

/* Where nobody has room nobody takes anything, and whoever comes to have room looks at all of it. */
static void stick(struct sc_sched *s)
{
        for (uint32_t i = 0; s->room_count == 0 && s->loose > 0 && i < s->active_len; i++) {
                if (!s->active[i].dry)
                        sc_sched_entry_stuck(s, &s->active[i], true);
        }
}

static void place_touched(struct sc_sched *s, struct sc_out *out)
{
        for (struct sc_list *at; (at = sc_list_take(&s->touched)) != NULL;) {
                struct sched_worker *w       = SC_CONTAINER(at, struct sched_worker, touch);
                const bool           through = s->loose == 0 && refill(s, w, out);
                w->touched                   = false;
                if (sc_sched_has_room(w) && w->position == SC_HEAP_NOWHERE)
                        enter_room(s, w);
                if (!through)
                        unstick(s, w);
        }
}

static void place_others(struct sc_sched *s, struct sc_out *out)
{
        while (s->room_count > 0 && s->loose > 0 && may_place(s, out)) {
                struct turn turn = next_turn(s, (struct asker){ NULL, false });
                if (!turn.lane)
                        break;
                enum sched_takes     how;
                struct sched_class  *c = turn.lane->class;
                struct sched_worker *w = find_worker(s, &turn, &how);
                if (w && how == SCHED_BEHIND && s->needy_active > 0)
                        turn = next_turn(s, (struct asker){ w, false }); /* it may have something that need not wait */
                if (w && turn.lane)
                        hand_out(s, w, turn, turn.in_turn ? run_length(s, turn.lane->class) : 1, out);
                else
                        sc_sched_entry_stuck(s, &s->active[c->active], true);
        }
        stick(s);
}

void sc_sched_place(struct sc_sched *s, struct sc_out *out)
{
        if (sc_sched_is_stopping(s))
                return;
        place_alone(s, out);
        place_touched(s, out);
        place_others(s, out);
        if (s->alone_ready > 0)
                place_alone(s, out); /* who has just turned out to have room may be empty */
        if (!sc_list_empty(&s->touched)) {
                place_touched(s, out);
                place_others(s, out);
        }
}
