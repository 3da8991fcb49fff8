/*
 * Runs that wait for tasks of their own.  Such a run has given back its slot and its cpu; it is neither assigned nor
 * running as far as limits, load and shares go.  One that needs nothing else is as good as gone until it resumes; any
 * other goes on holding the rest.  A task that fits only into what its waiting ancestors hold never comes to run: it
 * ends, and names them.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

/* ---- slots and cpu -----------------------------------------------------------------------------*/

/* Unless it is one that the worker could never have been given, and has kept over our restart. */
static bool counts_in_place(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_set *set = sc_sched_set_of(s, t);
        return set->self != 0 && sc_sched_fulfils(s, sc_sched_worker(s, t->worker)->crew, set);
}

static void count(struct sc_sched *s, struct sched_task *t, enum sched_waits waits)
{
        struct sched_worker *w    = sc_sched_worker(s, t->worker);
        const bool           more = waits != SCHED_AWAKE;
        const uint32_t       one  = more ? 1 : UINT32_MAX;
        w->waiting += one;
        s->waiting += one;
        s->waiting_needy += (t->waits | waits) == SCHED_HOLDS ? one : 0;
        t->waits = (uint8_t)waits;
        if (t->client != SCHED_NONE && t->lane != SCHED_NONE)
                sc_sched_running(s, sc_sched_lane(s, t->lane)->client, !more);
}

static struct sched_family *family_of(const struct sc_sched *s, const struct sched_task *t)
{
        return t->child != SCHED_NONE ? s->families.at[t->child] : NULL;
}

void sc_sched_park(struct sc_sched *s, struct sched_task *t)
{
        struct sched_worker    *w   = sc_sched_worker(s, t->worker);
        const struct sched_set *set = sc_sched_set_of(s, t);
        SC_ASSERT(t->waits == SCHED_AWAKE && sc_task_is_held(t->state));
        const bool in_place = counts_in_place(s, t);
        if (in_place)
                sc_sched_runs_park(s, w, set);
        else
                sc_sched_runs_leave(s, w, set, true);
        count(s, t, in_place ? SCHED_HOLDS : SCHED_PARKED);
        w->has_waited = true;
        if (t->flags & SCHED_ALONE)
                w->alone--;
        struct sched_family *f = family_of(s, t);
        if (f)
                f->since = s->now;
        if (!w->gone)
                sc_sched_worker_gained(s, w);
}

static void wake(struct sc_sched *s, struct sched_task *t)
{
        struct sched_worker    *w   = sc_sched_worker(s, t->worker);
        const struct sched_set *set = sc_sched_set_of(s, t);
        struct sched_family    *f   = family_of(s, t);
        if (t->waits == SCHED_HOLDS)
                sc_sched_runs_unpark(s, w, set);
        else
                sc_sched_runs_join(s, w, set, true);
        count(s, t, SCHED_AWAKE);
        if (t->flags & SCHED_ALONE)
                w->alone++;
        if (f)
                f->waited += s->now - f->since;
        if (!w->gone)
                sc_sched_worker_changed(s, w);
}

void sc_sched_unpark(struct sc_sched *s, struct sched_task *t)
{
        if (t->waits != SCHED_AWAKE)
                wake(s, t);
}

sc_ns sc_sched_waited(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_family *f = family_of(s, t);
        if (!f)
                return 0;
        return f->waited + (t->waits != SCHED_AWAKE ? s->now - f->since : 0);
}

/* ---- what workers say --------------------------------------------------------------------------*/

/* Its set keeps its entry, and somebody of another set takes its slot. */
static bool entries_reserve(struct sc_sched *s, struct sched_worker *w, const struct sched_task *t)
{
        const uint32_t need = w->runs_base + w->waiting + 1;
        if (sc_sched_set_of(s, t)->self == 0 || need <= w->runs_cap)
                return true;
        const uint32_t     cap  = 2 * need;
        struct sched_runs *runs = sc_mem_resize(s->mem, w->runs, w->runs_cap * sizeof *runs, cap * sizeof *runs);
        if (!runs)
                return false;
        w->runs     = runs;
        w->runs_cap = cap;
        return true;
}

void sc_sched_on_waiting(struct sc_sched *s, struct sched_link *l, const struct sc_about_run *m, struct sc_out *out)
{
        struct sched_worker *w = sc_sched_worker(s, l->index);
        struct sched_task   *t = sc_sched_held(s, w, m->task, m->run);
        if (!t || t->waits != SCHED_AWAKE)
                return;
        if (w->waiting >= SC_WAITING_MAX) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, "of too many runs that they wait", out);
                return;
        }
        if (!entries_reserve(s, w, t)) {
                sc_sched_close(s, l, SC_E_NOMEM, "the scheduler has no memory for a run that waits", out);
                return;
        }
        sc_sched_move(s, t, SC_MOVE_START);
        sc_sched_mark_started(s, t);
        sc_sched_park(s, t);
        struct sched_family *f = family_of(s, t);
        if (f && t->waits == SCHED_HOLDS)
                sc_sched_family_inspect(s, f);
}

void sc_sched_on_resumed(struct sc_sched *s, struct sched_worker *w, const struct sc_about_run *m)
{
        struct sched_task *t = sc_sched_held(s, w, m->task, m->run);
        if (t && t->waits != SCHED_AWAKE)
                wake(s, t);
}

/* ---- would deadlock ----------------------------------------------------------------------------*/

/* The run that submitted it, as long as a worker has that. */
static struct sched_task *parent_of(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_nest *nest = sc_sched_nest(t);
        if (!nest || nest->family == SCHED_NONE)
                return NULL;
        const struct sched_family *f = s->families.at[nest->family];
        return f->row != SCHED_NONE && !f->lost ? sc_sched_row(s, f->row) : NULL;
}

bool sc_sched_joins_above(struct sc_sched *s, struct sched_task *t)
{
        const struct sched_task *leader = sc_sched_joined_to(s, t);
        for (const struct sched_task *at = t; leader && (at = parent_of(s, at)) != NULL; s->visits++)
                if (at == leader)
                        return true;
        return false;
}

/* Whoever is blamed already has had those above it blamed. */
static void blame_above(struct sc_sched *s, struct sched_task *t, const struct sched_worker *w)
{
        while ((t = parent_of(s, t)) != NULL) {
                struct sched_family *f = family_of(s, t);
                if (t->worker != w->self || t->waits == SCHED_AWAKE || !f)
                        continue;
                if (f->blamed)
                        return;
                f->blamed = true;
        }
}

void sc_sched_blame(struct sc_sched *s, const struct sched_worker *w)
{
        if (w->waiting == 0)
                return;
        for (uint32_t at = w->started.head; at != SCHED_NONE; at = sc_sched_row(s, at)->link[SCHED_AT].next)
                if (sc_sched_row(s, at)->waits == SCHED_AWAKE)
                        blame_above(s, sc_sched_row(s, at), w);
        uint32_t at = w->unstarted.head;
        for (uint32_t i = 0; i < w->suspects && at != SCHED_NONE; i++, at = sc_sched_row(s, at)->link[SCHED_AT].next)
                blame_above(s, sc_sched_row(s, at), w);
}

bool sc_sched_is_blamed(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_family *f = family_of(s, t);
        return f && f->blamed;
}

/* The next one up that waits and holds something; its step is counted. */
static struct sched_task *holder_above(struct sc_sched *s, struct sched_task *t)
{
        while ((t = parent_of(s, t)) != NULL) {
                s->visits++;
                if (t->waits == SCHED_HOLDS)
                        return t;
        }
        return NULL;
}

static bool is_same(const struct sched_amount *a, const struct sched_amount *b)
{
        return memcmp(a->name, b->name, sizeof a->name) == 0;
}

/* What its waiting ancestors hold of one thing at that worker; they have given cpu back. */
static uint64_t held_above(struct sc_sched *s, struct sched_task *t, const struct sched_worker *w,
                           const struct sched_amount *need)
{
        uint64_t held = 0;
        while ((t = holder_above(s, t)) != NULL) {
                const struct sched_set *set = sc_sched_set_of(s, t);
                for (uint32_t i = 0; t->worker == w->self && i < set->count; i++)
                        held += is_same(&set->amount[i], need) ? set->amount[i].thousandths : 0;
        }
        return sc_sched_is_cpu(need) ? 0 : held;
}

static bool is_blocked_at(struct sc_sched *s, struct sched_task *t, const struct sched_worker *w)
{
        const struct sched_set *set = sc_sched_set_of(s, t);
        for (uint32_t i = 0; i < set->count; i++) {
                const struct sched_amount *need = &set->amount[i];
                if (held_above(s, t, w, need) + need->thousandths > sc_sched_offered(w->crew, need))
                        return true;
        }
        return false;
}

static bool is_first_at(struct sc_sched *s, struct sched_task *t, const struct sched_task *holder)
{
        while ((t = holder_above(s, t)) != holder)
                if (t->worker == holder->worker)
                        return false;
        return true;
}

/* Everybody who could ever run it is one at which its ancestors hold too much of what it needs. */
static bool is_hopeless(struct sc_sched *s, struct sched_task *t)
{
        const struct sched_class *c    = sc_sched_lane(s, t->lane)->class;
        uint32_t                  live = 0;
        for (uint32_t i = 0; i < s->crews.len; i++) {
                const struct sched_crew *crew = s->crews.at[i];
                live += crew && sc_sched_crew_serves(crew, c) ? crew->live : 0;
        }
        if (live == 0)
                return false;
        for (struct sched_task *at = t; (at = holder_above(s, at)) != NULL;) {
                const struct sched_worker *w = sc_sched_worker(s, at->worker);
                if (!w->gone && sc_sched_crew_serves(w->crew, c) && is_first_at(s, t, at))
                        live -= is_blocked_at(s, t, w);
        }
        return live == 0;
}

static void end(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        enum { NAMED_MAX = 4 };
        char              words[SC_TEXT_MAX];
        struct sched_text text  = { .at = words, .max = sizeof words };
        uint32_t          named = 0, more = 0;
        sc_sched_text(&text, "would deadlock: what it needs is held by who waits for it:");
        for (struct sched_task *at = t; (at = holder_above(s, at)) != NULL;) {
                char id[SC_ID_TEXT];
                if (named++ >= NAMED_MAX - 1) {
                        more++;
                        continue;
                }
                sc_id_format(at->id, id);
                sc_sched_text(&text, " ");
                sc_sched_text(&text, id);
        }
        if (more > 0) {
                sc_sched_text(&text, " and ");
                sc_sched_text_number(&text, more);
                sc_sched_text(&text, " more");
        }
        const struct sc_outcome outcome = { .reason = SC_REASON_WOULD_DEADLOCK, .text = { words, text.len } };
        sc_sched_end(s, t, SC_MOVE_FAIL, &outcome, out);
}

/* One that a worker has is asked back first; the answer brings it here again. */
bool sc_sched_would_deadlock(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        const bool asked = t->state == SC_STATE_ASSIGNED && !(t->flags & SCHED_STARTED);
        const bool waits = t->state == SC_STATE_READY || t->state == SC_STATE_BACKOFF || t->state == SC_STATE_WAITING;
        if (s->waiting_needy == 0 || t->lane == SCHED_NONE || !(asked || waits) || sc_sched_set_of(s, t)->self == 0)
                return false;
        if (asked && sc_sched_worker(s, t->worker)->gone)
                return false;
        if (!is_hopeless(s, t) || (waits && sc_sched_part(s, t)))
                return false;
        if (waits)
                end(s, t, out);
        else
                sc_sched_recall(s, t, out);
        return true;
}
