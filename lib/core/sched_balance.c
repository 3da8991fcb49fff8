/*
 * Balance: when somebody idles and nothing ready fits, what others have queued behind their runs is
 * asked back, newest first and never more than the idle worker can start.  What comes back is ready at
 * its old place, and goes to who has least.  A task that was asked back rests for a second before that
 * happens again, so two workers cannot play ball with it.
 */
#include "sched_state.h"

#include "sc_assert.h"

enum { LOOKS_MAX = 64, LOOKS_CREW = 16, DONORS_MAX = 32, CLAIMS_MAX = 64 };

/* ---- who has too much --------------------------------------------------------------------------*/

static uint32_t surplus(const struct sched_worker *w)
{
        uint32_t kept = w->held + w->recalling;
        return !w->gone && !w->draining && w->assigned > kept ? w->assigned - kept : 0;
}

/* The most loaded ones, worst first. */
struct donors {
        struct sched_worker *at[DONORS_MAX];
        uint32_t             len;
        bool                 known;
};

static void donors_add(struct donors *d, struct sched_worker *w)
{
        if (d->len == DONORS_MAX && !sc_sched_roomier(d->at[d->len - 1], w))
                return;
        uint32_t at = d->len < DONORS_MAX ? d->len++ : DONORS_MAX - 1;
        for (; at > 0 && sc_sched_roomier(d->at[at - 1], w); at--)
                d->at[at] = d->at[at - 1];
        d->at[at] = w;
}

static void donors_find(const struct sc_sched *s, struct donors *d)
{
        if (d->known)
                return;
        d->known = true;
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (w && surplus(w) > 0)
                        donors_add(d, w);
        }
}

/* ---- recall ------------------------------------------------------------------------------------*/

/* Of the scheduler's life, modulo 2^32, which is 49 days; never 0. */
static uint32_t life_ms(const struct sc_sched *s)
{
        uint32_t ms = (uint32_t)((s->now - s->start) / SC_MS);
        return ms != 0 ? ms : 1;
}

static bool rested(struct sc_sched *s, const struct sched_task *t)
{
        if (t->recalled_ms == 0 || life_ms(s) - t->recalled_ms >= SCHED_RECALL_REST_MS)
                return true;
        s->rested_at = sc_ns_min(s->rested_at, sc_ns_add(s->now, SCHED_RECALL_REST_MS * SC_MS));
        return false;
}

void sc_sched_recall(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        t->recalled_ms = life_ms(s);
        sc_sched_move(s, t, SC_MOVE_RECALL);
        sc_sched_send_about(s, t, SC_MSG_RECALL, out);
}

/* What the idle worker will hold of what was asked back for it, taken off while more is looked for. */
struct claims {
        const struct sched_set *set[CLAIMS_MAX];
        uint32_t                len, wanted;
};

/* It has begun what was to wait, and so has what was to hold wait: which one of those, it does not say. */
static bool is_out_of_step(const struct sched_worker *w)
{
        for (uint32_t i = 0; i < w->runs_len; i++)
                if (w->runs[i].started > w->runs[i].holders)
                        return true;
        return false;
}

/* Of one that is not reported to run. */
static bool waits(const struct sc_sched *s, const struct sched_worker *from, const struct sched_task *t)
{
        const struct sched_runs *runs = sc_sched_runs(from, sc_sched_set_of(s, t)->self);
        return runs->assigned > runs->holders + runs->recalling || is_out_of_step(from);
}

/* Where only tasks count, what comes back goes to who has fewest: that must not be who it came from. */
static bool would_return(const struct sc_sched *s, const struct sched_worker *from, const struct sched_worker *idle,
                         const struct claims *claims)
{
        return s->opt.allocate == SC_ALLOCATE_CAPABILITY &&
               idle->assigned + claims->len + 1 >= from->assigned - from->recalling;
}

/* False: enough was seen for this step. */
static bool recall_from(struct sc_sched *s, struct sched_worker *from, struct sched_worker *idle,
                        struct claims *claims, struct sc_out *out)
{
        uint32_t at = from->unstarted.tail;
        while (at != SCHED_NONE && claims->len < claims->wanted && surplus(from) > 0 &&
               !would_return(s, from, idle, claims)) {
                struct sched_task *t = sc_sched_row(s, at);
                at                   = t->link[SCHED_AT].prev;
                if (++s->visits >= SC_ROWS_MAX || out->len >= SC_EFFECTS_MAX - SCHED_ROOM_BALANCE)
                        return false;
                if (t->state != SC_STATE_ASSIGNED || !waits(s, from, t))
                        continue;
                const struct sched_class *c = sc_sched_lane(s, t->lane)->class;
                if (!sc_sched_crew_serves(idle->crew, c) || !sc_sched_fits(s, idle, c->set) || !rested(s, t))
                        continue;
                sc_sched_recall(s, t, out);
                sc_sched_claim(s, idle, c->set, true);
                claims->set[claims->len++] = c->set;
        }
        return true;
}

/* Gives how many; *more is false when enough was seen for this step. */
static uint32_t recall_for(struct sc_sched *s, struct sched_worker *idle, uint32_t wanted, struct donors *donors,
                           bool *more, struct sc_out *out)
{
        struct claims claims = { .wanted = wanted < CLAIMS_MAX ? wanted : CLAIMS_MAX };
        for (uint32_t i = 0; *more && i < donors->len && claims.len < claims.wanted; i++)
                *more = recall_from(s, donors->at[i], idle, &claims, out);
        for (uint32_t i = claims.len; i > 0; i--)
                sc_sched_claim(s, idle, claims.set[i - 1], false);
        return claims.len;
}

/* ---- who has too little ------------------------------------------------------------------------*/

static bool somebody_idles(const struct sc_sched *s)
{
        const struct sched_crew *crew = sc_sched_top(&s->roomy);
        if (!crew)
                return false;
        const struct sched_worker *w = sc_sched_top(&crew->roomy);
        return w->assigned < w->slots || s->needy > 0 || s->opt.allocate == SC_ALLOCATE_CAPABILITY;
}

static bool is_due(const struct sc_sched *s)
{
        return s->excess > 0 && s->room_count > 0 && (s->balance_due || s->now >= s->rested_at) && somebody_idles(s);
}

sc_ns sc_sched_balance_deadline(const struct sc_sched *s)
{
        if (s->excess == 0 || sc_sched_is_stopping(s) || !somebody_idles(s))
                return SC_NEVER;
        return s->balance_due ? s->balance_at : sc_ns_max(s->rested_at, s->balance_at);
}

/* What one of a crew cannot use the others cannot either, unless they differ in what they have taken already. */
static uint32_t feed(struct sc_sched *s, const struct sched_crew *crew, struct donors *donors, uint32_t *out_there,
                     bool *more, struct sc_out *out)
{
        uint32_t looks = 0;
        for (bool found = true; *more && (found || crew->mixed > 0) && looks < crew->roomy.len && looks < LOOKS_CREW;) {
                struct sched_worker *idle  = crew->roomy.at[looks++];
                const uint32_t       slots = idle->slots > idle->held ? idle->slots - idle->held : 0;
                const uint32_t       known = slots < *out_there ? slots : *out_there;
                *out_there -= known;
                if (slots == known)
                        continue;
                donors_find(s, donors);
                found = recall_for(s, idle, slots - known, donors, more, out) > 0;
        }
        return looks;
}

/* From crew to crew in turn, going on where it stopped the last time. */
void sc_sched_balance(struct sc_sched *s, struct sc_out *out)
{
        if (sc_sched_is_stopping(s) || !is_due(s) || s->now < s->balance_at)
                return;
        struct donors donors = { .len = 0 };
        bool          more   = true;
        uint32_t      looks = 0, out_there = s->count[SC_STATE_RECALLING];
        s->balance_due = false;
        s->balance_at  = sc_ns_add(s->now, SCHED_BALANCE_REST);
        if (s->now >= s->rested_at)
                s->rested_at = SC_NEVER;
        const size_t crews = s->roomy.len;
        for (size_t i = 0; i < crews; i++) {
                if (!more || looks >= LOOKS_MAX) {
                        s->rested_at = sc_ns_min(s->rested_at, sc_ns_add(s->now, SCHED_LOOK_ON));
                        return;
                }
                const struct sched_crew *crew = s->roomy.at[s->balance_crew++ % crews];
                looks += feed(s, crew, &donors, &out_there, &more, out);
        }
}
