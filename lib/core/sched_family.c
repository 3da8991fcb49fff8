/*
 * What runs submit.  A nested task belongs to the run that submitted it: it is in that run's family until it ends,
 * and is cancelled when the run is over or told to stop.  It comes over the link of its worker's own client, which has
 * the worker's id; so the run is the one that this worker has.  While the worker's link is lost its families are, too,
 * until the run is kept or its task goes on otherwise; after a restart nested tasks stray until the workers have
 * claimed what they have.  Errands in families are run in bounded steps.
 */
#include "sched_state.h"

#include "after.h"
#include "sc_assert.h"

static struct sched_family *family_at(const struct sc_sched *s, uint32_t index)
{
        return index != SCHED_NONE ? s->families.at[index] : NULL;
}

/* ---- nests -------------------------------------------------------------------------------------*/

struct sched_nest *sc_sched_nest(const struct sched_task *t)
{
        if (!(t->spec_flags & SCHED_CHILD) || !t->block || t->state == SC_STATE_ENDED || t->state == SC_STATE_KEPT)
                return NULL;
        const size_t node = t->flags & SCHED_NODE ? sizeof(struct sched_node) : 0;
        return (struct sched_nest *)(void *)(t->block + node);
}

static bool is_nested(const struct sc_spec *spec)
{
        return spec->plan && spec->plan->parent.len > 0;
}

const char *sc_sched_parent_fault(const struct sc_spec *spec)
{
        if (!is_nested(spec))
                return spec->plan && spec->plan->parent_run != 0 ? "a run of no task" : NULL;
        return spec->plan->parent.len == SC_PARENT_SIZE ? NULL : "a parent that is no task";
}

/* A graph is its nodes. */
size_t sc_sched_nest_size(const struct sc_spec *spec)
{
        return is_nested(spec) && spec->kind != SC_TASK_GRAPH ? sizeof(struct sched_nest) : 0;
}

static uint32_t *chain_of(struct sc_sched *s, const struct sched_nest *nest)
{
        struct sched_family *f = family_at(s, nest->family);
        return f ? &f->first : &s->stray;
}

static void list(struct sc_sched *s, struct sched_task *t, uint32_t family)
{
        struct sched_nest *nest = sc_sched_nest(t);
        nest->family            = family;
        nest->listed            = true;
        uint32_t *chain         = chain_of(s, nest);
        nest->prev              = SCHED_NONE;
        nest->next              = *chain;
        if (*chain != SCHED_NONE)
                sc_sched_nest(sc_sched_row(s, *chain))->prev = t->self;
        *chain = t->self;
}

static void unlist(struct sc_sched *s, struct sched_task *t, struct sched_nest *nest)
{
        struct sched_family *f = family_at(s, nest->family);
        if (!nest->listed)
                return;
        nest->listed = false;
        if (f && f->cursor == t->self)
                f->cursor = nest->next;
        if (nest->prev == SCHED_NONE)
                *chain_of(s, nest) = nest->next;
        else
                sc_sched_nest(sc_sched_row(s, nest->prev))->next = nest->next;
        if (nest->next != SCHED_NONE)
                sc_sched_nest(sc_sched_row(s, nest->next))->prev = nest->prev;
}

/* ---- families ----------------------------------------------------------------------------------*/

static struct sc_id limbo_key(uint32_t row)
{
        return (struct sc_id){ 0, (uint64_t)row + 1 };
}

static struct sched_family *family_new(struct sc_sched *s, uint32_t row, uint64_t worker)
{
        const size_t most = s->families.len - s->families.free_len + 1;
        if (!sc_sched_table_reserve(&s->families, s->mem) || !sc_map_reserve(&s->limbo, most))
                return NULL;
        struct sched_family *f = sc_mem_alloc(s->mem, sizeof *f);
        if (!f)
                return NULL;
        *f = (struct sched_family){ .row = row, .worker = worker, .since = s->now, .first = SCHED_NONE,
                                    .cursor = SCHED_NONE };
        sc_list_init(&f->todo);
        f->self = sc_sched_table_put(&s->families, f);
        return f;
}

static void errand(struct sc_sched *s, struct sched_family *f, enum sched_errand what)
{
        f->errand = (uint8_t)what;
        f->cursor = f->first;
        if (sc_list_empty(&f->todo))
                sc_list_add_tail(&s->families_todo, &f->todo);
}

static void dissolve(struct sc_sched *s, struct sched_family *f)
{
        if (f->lost)
                sc_map_remove(&s->limbo, limbo_key(f->row));
        f->lost  = false;
        f->row   = SCHED_NONE;
        f->force = true;
        errand(s, f, SCHED_DISSOLVE);
}

void sc_sched_family_inspect(struct sc_sched *s, struct sched_family *f)
{
        if (f->errand != SCHED_DISSOLVE)
                errand(s, f, SCHED_INSPECT);
}

void sc_sched_families_inspect(struct sc_sched *s)
{
        for (uint32_t i = 0; s->waiting_needy > 0 && i < s->families.len; i++) {
                struct sched_family *f = s->families.at[i];
                if (f && f->row != SCHED_NONE && !f->lost && sc_sched_row(s, f->row)->waits == SCHED_HOLDS)
                        sc_sched_family_inspect(s, f);
        }
}

void sc_sched_families_fini(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->families.len; i++)
                sc_mem_release(s->mem, s->families.at[i], s->families.at[i] ? sizeof(struct sched_family) : 0);
        sc_sched_table_fini(&s->families, s->mem);
        sc_map_fini(&s->limbo);
}

/* ---- where the run goes ------------------------------------------------------------------------*/

/* The worker does not have it any more.  If that is because nobody can hear the worker, it may be kept. */
void sc_sched_family_leaves(struct sc_sched *s, struct sched_task *t, enum sc_task_state to)
{
        struct sched_family       *f = family_at(s, t->child);
        const struct sched_worker *w = sc_sched_worker(s, t->worker);
        t->child                     = SCHED_NONE;
        const bool waits = to == SC_STATE_READY || to == SC_STATE_WAITING;
        if (!w->gone || w->orderly || !waits) {
                dissolve(s, f);
                return;
        }
        f->lost = true;
        sc_map_put(&s->limbo, limbo_key(t->self), f);
}

/* Its row goes on: with the very run that was lost, or otherwise. */
void sc_sched_family_moved(struct sc_sched *s, struct sched_task *t, enum sc_task_move move)
{
        struct sched_family *f = sc_map_get(&s->limbo, limbo_key(t->self));
        const bool           held = sc_task_is_held(t->state);
        if (!f || (!held && t->state != SC_STATE_ENDED && t->state != SC_STATE_FREE))
                return;
        if (move != SC_MOVE_KEEP || sc_sched_worker(s, t->worker)->id != f->worker) {
                dissolve(s, f);
                return;
        }
        sc_map_remove(&s->limbo, limbo_key(t->self));
        f->lost = f->blamed = false;
        t->child            = f->self;
}

/* The run goes on under another row. */
void sc_sched_family_pass(struct sc_sched *s, struct sched_task *from, struct sched_task *to)
{
        struct sched_family *f = sc_task_is_held(from->state) ? family_at(s, from->child) : NULL;
        if (f) {
                from->child = SCHED_NONE;
                f->row      = to->self;
                return;
        }
        f = s->limbo.len > 0 ? sc_map_remove(&s->limbo, limbo_key(from->self)) : NULL;
        if (!f)
                return;
        f->row = to->self;
        sc_map_put(&s->limbo, limbo_key(to->self), f);
}

void sc_sched_family_stop(struct sc_sched *s, struct sched_task *t, bool force)
{
        struct sched_family *f = family_at(s, t->child);
        f->force               = f->force || force;
        errand(s, f, SCHED_DISSOLVE);
}

/* ---- who is it that submits --------------------------------------------------------------------*/

static bool may_be_kept(const struct sched_task *t)
{
        return (t->state == SC_STATE_READY || t->state == SC_STATE_BACKOFF || t->state == SC_STATE_WAITING) &&
               !(t->flags & SCHED_ANSWERED) && t->run != 0;
}

/* The family of the row's run at that worker; NULL, and *none: there is no such run. */
static struct sched_family *family_of(struct sc_sched *s, struct sched_task *t, uint64_t worker, bool *none)
{
        const bool held  = sc_task_is_held(t->state) && t->state != SC_STATE_CANCELLING;
        const bool there = held && sc_sched_worker(s, t->worker)->id == worker;
        *none            = false;
        if (there && t->child != SCHED_NONE)
                return family_at(s, t->child);
        if (there) {
                struct sched_family *f = family_new(s, t->self, worker);
                if (f)
                        t->child = f->self;
                return f;
        }
        struct sched_family *lost = sc_map_get(&s->limbo, limbo_key(t->self));
        *none = lost ? lost->worker != worker : t->last_worker != worker || !may_be_kept(t);
        if (*none || lost)
                return *none ? NULL : lost;
        struct sched_family *f = family_new(s, t->self, worker);
        if (f) {
                f->lost = true;
                sc_map_put(&s->limbo, limbo_key(t->self), f);
        }
        return f;
}

static bool is_older(const struct sc_sched *s, const struct sc_spec *spec)
{
        return (spec->flags & SC_SPEC_RESUBMITTED) && s->now < s->claim_end;
}

static void take_after(const struct sc_sched *s, const struct sched_task *t, struct sched_parent *out)
{
        if (t->lane == SCHED_NONE || t->state == SC_STATE_ENDED || t->state == SC_STATE_KEPT)
                return;
        const uint8_t depth = (uint8_t)(UINT8_MAX - (t->order >> 56));
        out->owner          = sc_sched_lane(s, t->lane)->client;
        out->depth          = depth < UINT8_MAX ? depth + 1 : depth;
}

bool sc_sched_parent_find(struct sc_sched *s, struct sched_client *c, const struct sc_spec *spec,
                          struct sched_parent *out)
{
        *out = (struct sched_parent){ .owner = c, .family = SCHED_NONE };
        if (!is_nested(spec))
                return true;
        const struct sc_view parent = spec->plan->parent;
        const struct sc_id   id     = { sc_after_get(parent, 0), sc_after_get(parent, 1) };
        const uint64_t       run    = spec->flags & SC_SPEC_RESUBMITTED ? 0 : spec->plan->parent_run;
        struct sched_task   *t      = sc_sched_work(s, id);
        bool                 none   = true;
        out->nested = true;
        out->depth  = 1;
        struct sched_family *f = NULL;
        if (t && t->kind != SC_TASK_GRAPH && (run == 0 || run == t->run))
                f = family_of(s, t, c->id, &none);
        if (!f && !none)
                return false;
        out->stray = !f && is_older(s, spec);
        if (f)
                take_after(s, t, out);
        if (f)
                out->family = f->self;
        return true;
}

/* ---- the child's life --------------------------------------------------------------------------*/

void sc_sched_nest_fill(struct sc_sched *s, struct sched_task *t, const struct sc_spec *spec,
                        const struct sched_parent *parent)
{
        t->spec_flags |= SCHED_CHILD;
        struct sched_nest *nest = sc_sched_nest(t);
        *nest = (struct sched_nest){ .family = SCHED_NONE, .next = SCHED_NONE, .prev = SCHED_NONE };
        nest->parent = (struct sc_id){ sc_after_get(spec->plan->parent, 0), sc_after_get(spec->plan->parent, 1) };
        if (parent->owner->self != t->client && t->lane != SCHED_NONE)
                parent->owner->guests++;
        if (parent->family != SCHED_NONE || parent->stray)
                list(s, t, parent->family);
}

static void cancel(struct sc_sched *s, struct sched_task *t, bool force, struct sc_out *out)
{
        (void)sc_sched_part(s, t);
        if (sc_task_is_held(t->state))
                sc_sched_stop(s, t, force, out);
        else
                sc_sched_end_plainly(s, t, SC_MOVE_CANCEL, SC_REASON_CANCELLED, SCHED_WORDS_PARENT, out);
}

void sc_sched_nest_admitted(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        const struct sched_nest *nest = sc_sched_nest(t);
        if (nest && !nest->listed)
                cancel(s, t, true, out);
        else if (nest && t->state == SC_STATE_JOINED && sc_sched_joins_above(s, t))
                sc_sched_end_plainly(s, t, SC_MOVE_CANCEL, SC_REASON_WOULD_DEADLOCK, SCHED_WORDS_OWN_KEY, out);
        else if (nest)
                sc_sched_would_deadlock(s, t, out);
}

static void family_drop(struct sc_sched *s, struct sched_family *f)
{
        if (f->row != SCHED_NONE || f->first != SCHED_NONE || !sc_list_empty(&f->todo))
                return;
        sc_sched_table_drop(&s->families, f->self);
        sc_mem_release(s->mem, f, sizeof *f);
}

void sc_sched_nest_drop(struct sc_sched *s, struct sched_task *t)
{
        SC_ASSERT(t->spec_flags & SCHED_CHILD);
        struct sched_nest   *nest =
                (struct sched_nest *)(void *)(t->block + (t->flags & SCHED_NODE ? sizeof(struct sched_node) : 0));
        struct sched_family *f    = family_at(s, nest->family);
        unlist(s, t, nest);
        if (f)
                family_drop(s, f);
}

void sc_sched_nest_back(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        if (sc_sched_nest(t))
                sc_sched_would_deadlock(s, t, out);
}

void sc_sched_guest_left(struct sc_sched *s, struct sched_client *owner)
{
        SC_ASSERT(owner->guests > 0);
        owner->guests--;
        if (owner->guests == 0 && owner->mine.len == 0 && owner->link == 0 && sc_list_empty(&owner->todo))
                sc_list_add_tail(&s->todo_clients, &owner->todo);
}

/* ---- errands -----------------------------------------------------------------------------------*/

static void run_errand(struct sc_sched *s, const struct sched_family *f, struct sched_task *t, struct sc_out *out)
{
        if (f->errand == SCHED_DISSOLVE) {
                cancel(s, t, f->force, out);
                return;
        }
        if (sc_sched_would_deadlock(s, t, out))
                return;
        struct sched_family *below = sc_task_is_held(t->state) ? family_at(s, t->child) : NULL;
        if (below)
                sc_sched_family_inspect(s, below);
}

void sc_sched_families_todo(struct sc_sched *s, struct sc_out *out)
{
        while (!sc_list_empty(&s->families_todo)) {
                struct sched_family *f = SC_CONTAINER(s->families_todo.next, struct sched_family, todo);
                while (f->cursor != SCHED_NONE) {
                        if (!sc_sched_bulk(s, out))
                                return;
                        struct sched_task *t = sc_sched_row(s, f->cursor);
                        f->cursor            = sc_sched_nest(t)->next;
                        run_errand(s, f, t, out);
                }
                sc_list_remove(&f->todo);
                f->errand = SCHED_NO_ERRAND;
                family_drop(s, f);
        }
}

/* All workers that are here have said what they have. */
void sc_sched_strays_claimed(struct sc_sched *s, struct sc_out *out)
{
        while (s->stray != SCHED_NONE && sc_sched_bulk(s, out)) {
                struct sched_task   *t    = sc_sched_row(s, s->stray);
                struct sched_nest   *nest = sc_sched_nest(t);
                struct sched_task   *parent = sc_sched_work(s, nest->parent);
                bool                 none   = true;
                struct sched_family *f = NULL;
                if (parent && parent->kind != SC_TASK_GRAPH)
                        f = family_of(s, parent, sc_sched_client(s, t->client)->id, &none);
                unlist(s, t, nest);
                if (f)
                        list(s, t, f->self);
                else
                        cancel(s, t, true, out); /* also for want of memory */
        }
}

/* ---- check -------------------------------------------------------------------------------------*/

static uint32_t chain_check(const struct sc_sched *s, uint32_t first, uint32_t family, uint32_t cursor)
{
        uint32_t before = SCHED_NONE, count = 0;
        bool     found  = cursor == SCHED_NONE;
        for (uint32_t at = first; at != SCHED_NONE; count++) {
                const struct sched_task *t    = sc_sched_row(s, at);
                const struct sched_nest *nest = sc_sched_nest(t);
                SC_ASSERT(nest && nest->listed && nest->family == family && nest->prev == before);
                found  = found || cursor == at;
                before = at;
                at     = nest->next;
        }
        SC_ASSERT(found);
        return count;
}

static void guests_check(const struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->client_at.len; i++) {
                const struct sched_client *c = sc_sched_client(s, i);
                uint32_t                   guests = 0;
                for (uint32_t k = 0; c && k < s->made; k++) {
                        const struct sched_task *t = sc_sched_row(s, k);
                        guests += t->state != SC_STATE_FREE && t->client != SCHED_NONE && t->client != i &&
                                  t->lane != SCHED_NONE && sc_sched_lane(s, t->lane)->client == c;
                }
                SC_ASSERT(!c || c->guests == guests);
        }
}

void sc_sched_families_check(const struct sc_sched *s)
{
        uint32_t listed = chain_check(s, s->stray, SCHED_NONE, SCHED_NONE), nests = 0, lost = 0, waiting = 0, needy = 0;
        for (uint32_t i = 0; i < s->families.len; i++) {
                const struct sched_family *f = s->families.at[i];
                if (!f)
                        continue;
                SC_ASSERT(f->self == i && (f->row != SCHED_NONE || f->first != SCHED_NONE || s->more));
                SC_ASSERT(sc_list_empty(&f->todo) || s->more);
                listed += chain_check(s, f->first, i, f->cursor);
                lost += f->lost;
                const struct sched_task *t = f->row != SCHED_NONE ? sc_sched_row(s, f->row) : NULL;
                SC_ASSERT(!f->lost || sc_map_get(&s->limbo, limbo_key(f->row)) == f);
                SC_ASSERT(f->lost || !t || (t->child == i && sc_task_is_held(t->state)));
        }
        for (uint32_t i = 0; i < s->made; i++) {
                const struct sched_task *t = sc_sched_row(s, i);
                if (t->state == SC_STATE_FREE)
                        continue;
                const struct sched_nest *nest = sc_sched_nest(t);
                nests += nest && nest->listed;
                const bool held = sc_task_is_held(t->state);
                SC_ASSERT(!held || t->child == SCHED_NONE || family_at(s, t->child)->row == i);
                waiting += held && t->waits != SCHED_AWAKE;
                needy += held && t->waits == SCHED_HOLDS;
        }
        SC_ASSERT(listed == nests && lost == s->limbo.len && waiting == s->waiting && needy == s->waiting_needy);
        guests_check(s);
}
