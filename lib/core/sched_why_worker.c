/*
 * Why a worker is given nothing: what it says of itself first, then what waits.  Of all that waits the
 * one is named that comes nearest to fitting, with what keeps it away.
 */
#include "sched_explain.h"

#include "sc_assert.h"

enum { LOOKS_MAX = 1024 }; /* kinds of tasks that are looked at */

/* ---- what it says of itself --------------------------------------------------------------------*/

static enum sc_idle own(const struct sc_sched *s, const struct sched_worker *w, struct sched_text *text)
{
        if (w->draining) {
                sc_sched_text(text, "It is leaving, and gets nothing more.");
                return SC_IDLE_DRAINING;
        }
        if (sc_sched_is_stopping(s)) {
                sc_sched_text(text, "The scheduler is about to stop, and hands out nothing more.");
                return SC_IDLE_STOPPING;
        }
        if (w->joining) {
                sc_sched_text(text, "It has just come, and what it brought with it is being gone through.");
                return SC_IDLE_JOINING;
        }
        if (w->alone) {
                sc_sched_text(text, "It has a task that gets its last chance alone, and nothing joins that.");
                return SC_IDLE_ALONE;
        }
        if (w->reserved != SCHED_NONE) {
                sc_sched_text(text, "It is being emptied for a task that gets its last chance alone.");
                return SC_IDLE_RESERVED;
        }
        if (w->credit == 0) {
                sc_sched_text(text, "It takes nothing, since its slots are stuck or it is leaving.");
                return SC_IDLE_STUCK;
        }
        if (w->assigned < w->credit)
                return SC_IDLES;
        sc_sched_text(text, "It is full: it has ");
        sc_sched_text_count(text, w->assigned, "run");
        sc_sched_text(text, " for ");
        sc_sched_text_count(text, w->slots, "slot");
        sc_sched_text(text, " and takes no more than ");
        sc_sched_text_number(text, w->credit);
        sc_sched_text(text, ".");
        return SC_IDLE_FULL;
}

/* ---- what waits --------------------------------------------------------------------------------*/

/* The nearer to being placed, the higher. */
enum nearness { NONE, OTHER_FUNCTION, OTHER_NEEDS, IN_USE, LAST_CHANCES, CAPPED, WITHHELD, PLACING };

static enum nearness nearness(const struct sc_sched *s, const struct sched_worker *w, const struct sched_class *c)
{
        if (!sc_sched_crew_knows(w->crew, c->function->self))
                return OTHER_FUNCTION;
        if (!sc_sched_crew_serves(w->crew, c))
                return OTHER_NEEDS;
        const enum sched_takes takes = sc_sched_takes(s, w, c);
        if (takes == SCHED_NOT)
                return IN_USE;
        if (c->ready == c->ready_alone)
                return LAST_CHANCES;
        SC_ASSERT(c->active != SCHED_NONE);
        if (s->active[c->active].dry)
                return CAPPED;
        return takes == SCHED_NOW ? PLACING : WITHHELD;
}

static const struct sched_class *nearest(const struct sc_sched *s, const struct sched_worker *w, enum nearness *how)
{
        const struct sched_class *best  = NULL;
        uint32_t                  looks = 0;
        *how                            = NONE;
        for (uint32_t i = 0; i < s->classes.len && looks < LOOKS_MAX; i++) {
                const struct sched_class *c = sc_sched_class(s, i);
                if (!c || c->ready == 0)
                        continue;
                looks++;
                const enum nearness this = nearness(s, w, c);
                if (this > *how) {
                        best = c;
                        *how = this;
                }
        }
        return best;
}

static void text_class(const struct sched_class *c, struct sched_text *text)
{
        if (c->function->name_len == 0) {
                sc_sched_text(text, "commands");
        } else {
                sc_sched_text(text, "function ");
                sc_sched_text_view(text, c->function->name, c->function->name_len);
        }
}

/* The first need that is more than is there: of what is offered, or of what is free of it. */
static void text_unmet(const struct sc_sched *s, const struct sched_worker *w, const struct sched_class *c,
                       bool free_only, struct sched_text *text)
{
        for (uint32_t i = 0; i < c->set->count; i++) {
                const struct sched_amount *need = &c->set->amount[i];
                const uint32_t             at   = sc_sched_offer_at(w->crew, need);
                if (at == w->crew->offer_count) {
                        sc_sched_text(text, " needs ");
                        sc_sched_text_need(text, need);
                        sc_sched_text(text, ", and it offers no ");
                        sc_sched_text_name_of(text, need);
                        sc_sched_text(text, ".");
                        return;
                }
                const uint64_t have = w->crew->offers[at].thousandths - (free_only ? w->used[at] : 0);
                if (need->thousandths <= have || s->opt.allocate == SC_ALLOCATE_CAPABILITY)
                        continue;
                sc_sched_text(text, " needs ");
                sc_sched_text_need(text, need);
                sc_sched_text(text, free_only ? ", and it has " : ", and it offers ");
                sc_sched_text_amount(text, have);
                sc_sched_text(text, free_only ? " free." : ".");
                return;
        }
        sc_sched_text(text, " waits for runs that it has to end first.");
}

static enum sc_idle fits_not(const struct sc_sched *s, const struct sched_worker *w, const struct sched_class *c,
                             enum nearness how, struct sched_text *text)
{
        sc_sched_text(text, "What waits does not fit: ");
        text_class(c, text);
        if (how == OTHER_FUNCTION)
                sc_sched_text(text, ", and it does not have that.");
        else
                text_unmet(s, w, c, how == IN_USE, text);
        return SC_IDLE_NOTHING_FITS;
}

static enum sc_idle waits(const struct sc_sched *s, const struct sched_worker *w, struct sched_text *text)
{
        enum nearness             how;
        const struct sched_class *c = nearest(s, w, &how);
        switch (how) {
        case NONE:
                sc_sched_text(text, "Nothing is ready.");
                return SC_IDLE_NOTHING_READY;
        case OTHER_FUNCTION:
        case OTHER_NEEDS:
        case IN_USE:
                return fits_not(s, w, c, how, text);
        case LAST_CHANCES:
                sc_sched_text(text, "What fits gets its last chance, alone on a worker that has nothing else.");
                return SC_IDLE_LAST_CHANCES;
        case CAPPED:
                sc_sched_text(text, "What fits is of clients or tenants that have as many runs as they may.");
                return SC_IDLE_CAPPED;
        case WITHHELD:
        case PLACING:
                break;
        }
        if (sc_sched_is_short(s)) {
                sc_sched_text(text, "The scheduler is short of memory, and hands out more when it has some again.");
                return SC_IDLE_MEMORY;
        }
        if (how == WITHHELD) {
                sc_sched_text(text, "What fits could only wait behind its like, and lets others go first that wait "
                                    "for a slot or for what those hold.");
                return SC_IDLE_WITHHELD;
        }
        sc_sched_text(text, "It is given something in a moment.");
        return SC_IDLE_PLACING;
}

/* ---- the answer --------------------------------------------------------------------------------*/

static struct sc_view amounts(const struct sched_worker *w, bool used, struct sched_text *room)
{
        struct sched_text text = { .at = room->at + room->len, .max = SC_AMOUNTS_TEXT };
        for (uint32_t i = 0; i < w->crew->offer_count; i++) {
                const struct sched_amount *offer = &w->crew->offers[i];
                if (used && w->used[i] == 0)
                        continue;
                sc_sched_text(&text, text.len > 0 ? "," : "");
                sc_sched_text_name_of(&text, offer);
                if (!used && offer->thousandths == 0)
                        continue;
                sc_sched_text(&text, "=");
                sc_sched_text_amount(&text, used ? w->used[i] : offer->thousandths);
        }
        room->len += text.len;
        return (struct sc_view){ text.at, text.len };
}

void sc_sched_worker_why(const struct sc_sched *s, const struct sched_worker *w, struct sched_text *room,
                         struct sc_worker_why *out)
{
        SC_ASSERT(!w->gone && room->max - room->len >= SCHED_WHY_WORKER_ROOM);
        struct sched_text text = { .at = room->at + room->len, .max = SC_TEXT_MAX };
        enum sc_idle      why  = own(s, w, &text);
        if (why == SC_IDLES)
                why = waits(s, w, &text);
        SC_ASSERT(text.len > 0);
        room->len += text.len;
        *out = (struct sc_worker_why){
                .worker = w->id, .why = (uint8_t)why, .slots = w->slots, .credit = w->credit,
                .assigned = w->assigned, .started = w->started.len, .held = w->held,
                .functions = w->crew->function_count - 1, .done = w->tally->done, .failed = w->tally->failed,
                .lost = w->tally->lost, .connected_ms = (uint64_t)((s->now - w->since) / SC_MS),
                .text = { text.at, text.len },
        };
        out->name   = sc_sched_say(room, w->name, w->name_len);
        out->offers = amounts(w, false, room);
        out->used   = amounts(w, true, room);
}

bool sc_sched_explain_worker(const struct sc_sched *s, sc_ns now, uint64_t worker, char room[SC_SCHED_EXPLAIN_ROOM],
                             struct sc_worker_why *out)
{
        struct sched_text        text = { .at = room, .max = SC_SCHED_EXPLAIN_ROOM };
        const struct sched_link *l    = sc_map_get(&s->peers, (struct sc_id){ SC_ROLE_WORKER, worker });
        if (!l)
                return false;
        const struct sc_sched then = sc_sched_at(s, now);
        sc_sched_worker_why(&then, sc_sched_worker(s, l->index), &text, out);
        return true;
}
