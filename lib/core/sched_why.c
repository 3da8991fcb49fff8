/*
 * Why a task is where it is.  One table says which reasons a state may have; every state gives one of
 * them, whatever else holds, which is asserted: so nothing ever waits without a reason.
 */
#include "sched_explain.h"

#include <string.h>

#include "sc_assert.h"

/* ---- the table ---------------------------------------------------------------------------------*/

#define BIT(why) (UINT64_C(1) << SC_WHY_##why)

static const uint64_t table[SC_STATES] = {
        [SC_STATE_WAITING]    = BIT(DEPENDENCIES) | BIT(BROKEN) | BIT(GRAPH) | BIT(LEAVING),
        [SC_STATE_READY]      = BIT(PLACING) | BIT(STOPPING) | BIT(NO_WORKER) | BIT(NO_FUNCTION) | BIT(NO_OFFER) |
                                BIT(TOO_MUCH) | BIT(NO_MATCH) | BIT(ALL_FULL) | BIT(WITHHELD) | BIT(CLIENT_CAP) |
                                BIT(TENANT_CAP) | BIT(LAST_CHANCE) | BIT(MEMORY) | BIT(LEAVING),
        [SC_STATE_ASSIGNED]   = BIT(AT_WORKER) | BIT(RUNNING) | BIT(NESTED) | BIT(WORKER_GONE) | BIT(LEAVING),
        [SC_STATE_RECALLING]  = BIT(RECALLING) | BIT(WORKER_GONE) | BIT(LEAVING),
        [SC_STATE_CANCELLING] = BIT(CANCELLING) | BIT(OVERDUE) | BIT(WORKER_GONE),
        [SC_STATE_BACKOFF]    = BIT(CLAIM) | BIT(NOT_BEFORE) | BIT(BACKOFF) | BIT(LEAVING),
        [SC_STATE_ORPHAN]     = BIT(ORPHAN) | BIT(WORKER_GONE),
        [SC_STATE_ENDED]      = BIT(UNCONFIRMED) | BIT(CLIENT_AWAY) | BIT(LEAVING),
        [SC_STATE_KEPT]       = BIT(KEPT),
        [SC_STATE_JOINED]     = BIT(JOINED) | BIT(LEAVING),
};

bool sc_sched_why_fits(enum sc_task_state state, enum sc_cause why)
{
        return state < SC_STATES && why < SC_WHYS && (table[state] >> why & 1) != 0;
}

/* ---- pieces ------------------------------------------------------------------------------------*/

static struct sched_reason reason(enum sc_cause why, uint64_t number)
{
        return (struct sched_reason){ .why = why, .number = number, .until = SC_NEVER };
}

static void text_worker(struct sched_text *text, const struct sched_worker *w)
{
        sc_sched_text_view(text, w->name, w->name_len);
}

static void text_left(const struct sc_sched *s, struct sched_text *text, sc_ns until)
{
        sc_sched_text_seconds(text, until > s->now ? until - s->now : 0);
}

/* ---- who waits ---------------------------------------------------------------------------------*/

static struct sched_reason why_graph(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        const struct sched_graph *g    = sc_sched_graph(t);
        const uint32_t            left = g->live + (g->nodes - g->admitted);
        (void)s;
        sc_sched_text_number(text, left);
        sc_sched_text(text, " of the ");
        sc_sched_text_number(text, g->nodes);
        sc_sched_text(text, " tasks of this graph have not ended");
        if (g->admitted < g->nodes) {
                sc_sched_text(text, "; its client is still submitting ");
                sc_sched_text_number(text, g->nodes - g->admitted);
                sc_sched_text(text, " of them");
        }
        sc_sched_text(text, ".");
        return reason(SC_WHY_GRAPH, left);
}

static struct sched_reason why_waiting(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        if (t->kind == SC_TASK_GRAPH)
                return why_graph(s, t, text);
        const struct sched_node *node = sc_sched_node(t);
        if (node->root_reason != 0) {
                sc_sched_text(text, "It is about to end, since a task that it depends on did not succeed.");
                return reason(SC_WHY_BROKEN, 1);
        }
        sc_sched_text(text, "It waits for ");
        sc_sched_text_count(text, node->waiting, "task");
        sc_sched_text(text, " that it depends on.");
        return reason(SC_WHY_DEPENDENCIES, node->waiting);
}

static struct sched_reason why_backoff(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        const struct sched_plan *plan = sc_sched_plan(t);
        struct sched_reason      r    = reason(SC_WHY_CLAIM, 0);
        if (!plan || plan->wake_at == SC_NEVER) {
                r.until = s->claim_end;
                sc_sched_text(text, "The scheduler has only just started, and a worker may still say that it has it; "
                                    "it is placed in ");
        } else if (plan->retried > 0) {
                r.why   = SC_WHY_BACKOFF;
                r.until = plan->wake_at;
                sc_sched_text(text, "It failed and is tried again in ");
        } else {
                r.why   = SC_WHY_NOT_BEFORE;
                r.until = plan->wake_at;
                sc_sched_text(text, "It is not to start before its time, which comes in ");
        }
        text_left(s, text, r.until);
        sc_sched_text(text, ".");
        return r;
}

/* Whose that is is not said: only the tenant is the same for sure. */
static struct sched_reason why_joined(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        const struct sched_task *leader = sc_sched_joined_to(s, t);
        sc_sched_text(text, "Another task with the same key does the work for both");
        if (leader) {
                sc_sched_text(text, ", and is ");
                sc_sched_text(text, sc_task_state_name((enum sc_task_state)leader->state));
        }
        sc_sched_text(text, ".");
        return reason(SC_WHY_JOINED, 0);
}

/* ---- what a worker has -------------------------------------------------------------------------*/

static struct sched_reason why_gone(const struct sched_worker *w, struct sched_text *text)
{
        sc_sched_text(text, "Worker ");
        text_worker(text, w);
        sc_sched_text(text, ", which had it, is gone; what becomes of it is decided in a moment.");
        return reason(SC_WHY_WORKER_GONE, 0);
}

static struct sched_reason why_assigned(const struct sc_sched *s, const struct sched_task *t,
                                        const struct sched_worker *w, struct sched_text *text)
{
        if (t->waits != SCHED_AWAKE) {
                sc_sched_text(text, "It waits at worker ");
                text_worker(text, w);
                sc_sched_text(text, " for tasks that it has submitted, and has given its slot back; ");
                sc_sched_text_count(text, w->waiting, "run");
                sc_sched_text(text, w->waiting == 1 ? " waits so there." : " wait so there.");
                return reason(SC_WHY_NESTED, w->waiting);
        }
        if (t->flags & SCHED_STARTED) {
                sc_sched_text(text, "It has been running at worker ");
                text_worker(text, w);
                sc_sched_text(text, " for ");
                sc_sched_text_seconds(text, s->now - t->held_since);
                sc_sched_text(text, ".");
                return reason(SC_WHY_RUNNING, w->started.len);
        }
        sc_sched_text(text, "Worker ");
        text_worker(text, w);
        sc_sched_text(text, " has it and has not said that it started; there are ");
        sc_sched_text_count(text, w->assigned, "run");
        sc_sched_text(text, " for ");
        sc_sched_text_count(text, w->slots, "slot");
        sc_sched_text(text, " there.");
        return reason(SC_WHY_AT_WORKER, w->assigned);
}

static struct sched_reason why_recalling(const struct sched_worker *w, struct sched_text *text)
{
        sc_sched_text(text, "It has been asked back from worker ");
        text_worker(text, w);
        sc_sched_text(text, ", unless it has started there; the answer is on its way.");
        return reason(SC_WHY_RECALLING, 0);
}

static struct sched_reason why_cancelling(const struct sc_sched *s, const struct sched_task *t,
                                          const struct sched_worker *w, struct sched_text *text)
{
        const bool          overdue = sc_sched_overdue(s, t);
        struct sched_reason r       = reason(overdue ? SC_WHY_OVERDUE : SC_WHY_CANCELLING, 0);
        sc_sched_text(text, overdue ? "Its deadline has passed, and worker " : "It is being cancelled, and worker ");
        text_worker(text, w);
        sc_sched_text(text, t->flags & SCHED_FORCED ? " was told to kill it" : " was asked to stop it");
        sc_sched_text(text, "; the answer is awaited.");
        const struct sched_plan *plan = sc_sched_plan(t);
        if (plan && plan->release_at != SC_NEVER)
                r.until = plan->release_at;
        return r;
}

static struct sched_reason why_orphan(const struct sc_sched *s, const struct sched_task *t,
                                      const struct sched_worker *w, struct sched_text *text)
{
        struct sched_reason r = reason(SC_WHY_ORPHAN, 0);
        r.until               = sc_ns_add(t->since, s->opt.client_grace);
        sc_sched_text(text, "Worker ");
        text_worker(text, w);
        sc_sched_text(text, " has had it since before this scheduler started");
        if (r.until == SC_NEVER) {
                sc_sched_text(text, ", and its client has not come yet.");
                return r;
        }
        sc_sched_text(text, "; its client has ");
        text_left(s, text, r.until);
        sc_sched_text(text, " left to come for it.");
        return r;
}

static struct sched_reason why_held(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        const struct sched_worker *w = sc_sched_worker(s, t->worker);
        if (w->gone)
                return why_gone(w, text);
        if (t->state == SC_STATE_RECALLING)
                return why_recalling(w, text);
        if (t->state == SC_STATE_CANCELLING)
                return why_cancelling(s, t, w, text);
        if (t->state == SC_STATE_ORPHAN)
                return why_orphan(s, t, w, text);
        return why_assigned(s, t, w, text);
}

/* ---- what has ended ----------------------------------------------------------------------------*/

static struct sched_reason why_ended(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        const struct sched_client *c = sc_sched_client(s, t->client);
        struct sched_reason        r = reason(c->link == 0 ? SC_WHY_CLIENT_AWAY : SC_WHY_UNCONFIRMED, c->ended.len);
        sc_sched_text(text, "It has ended as ");
        sc_sched_text(text, sc_reason_name(t->reason));
        if (c->link != 0) {
                sc_sched_text(text, ", and its client has not confirmed yet that it knows.");
                return r;
        }
        r.until = c->grace_at;
        sc_sched_text(text, "; its client is away");
        if (r.until != SC_NEVER) {
                sc_sched_text(text, " and has ");
                text_left(s, text, r.until);
                sc_sched_text(text, " left to come back");
        }
        sc_sched_text(text, ".");
        return r;
}

static struct sched_reason why_kept(const struct sched_task *t, struct sched_text *text)
{
        sc_sched_text(text, "It has ended as ");
        sc_sched_text(text, sc_reason_name(t->reason));
        if (t->refs > 0)
                sc_sched_text(text, ", and tasks that depend on it are still to be dealt with.");
        else
                sc_sched_text(text, ", and its graph, in which others may read it, is still being submitted.");
        return reason(SC_WHY_KEPT, t->refs);
}

/* ---- the answer --------------------------------------------------------------------------------*/

static bool is_leaving(const struct sc_sched *s, const struct sched_task *t)
{
        const bool bound = t->state == SC_STATE_CANCELLING || t->state == SC_STATE_KEPT || t->state == SC_STATE_ORPHAN;
        if (bound || t->kind == SC_TASK_GRAPH || !sc_sched_client(s, t->client)->doomed)
                return false;
        return !sc_task_is_held(t->state) || !sc_sched_worker(s, t->worker)->gone;
}

static struct sched_reason find(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        if (is_leaving(s, t)) {
                sc_sched_text(text, "Its client has left for good, so it is about to end.");
                return reason(SC_WHY_LEAVING, 0);
        }
        switch ((enum sc_task_state)t->state) {
        case SC_STATE_WAITING: return why_waiting(s, t, text);
        case SC_STATE_READY: return sc_sched_why_ready(s, t, text);
        case SC_STATE_BACKOFF: return why_backoff(s, t, text);
        case SC_STATE_ASSIGNED:
        case SC_STATE_RECALLING:
        case SC_STATE_CANCELLING:
        case SC_STATE_ORPHAN: return why_held(s, t, text);
        case SC_STATE_ENDED: return why_ended(s, t, text);
        case SC_STATE_KEPT: return why_kept(t, text);
        case SC_STATE_JOINED: return why_joined(s, t, text);
        case SC_STATE_FREE:
        case SC_STATES: break;
        }
        SC_UNREACHABLE();
}

struct sched_reason sc_sched_why(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        const size_t              from = text->len;
        const struct sched_reason r    = find(s, t, text);
        SC_ASSERT(sc_sched_why_fits(t->state, r.why));
        SC_ASSERT(text->len > from);
        return r;
}

/* What is kept in milliseconds is rounded, and so may be one more than the age. */
static uint64_t since_ms(const struct sc_sched *s, const struct sched_task *t, uint64_t age_ms)
{
        uint32_t ms;
        if (!sc_task_is_held(t->state))
                ms = s->life_ms - t->state_ms;
        else if (t->state == SC_STATE_RECALLING)
                ms = s->life_ms - t->recalled_ms;
        else
                return (uint64_t)((s->now - t->held_since) / SC_MS);
        return ms < age_ms ? ms : age_ms;
}

/* Rounded up: what goes on in less than a millisecond does not go on at a time that is not known. */
static uint64_t until_ms(const struct sc_sched *s, sc_ns until)
{
        if (until == SC_NEVER)
                return 0;
        return until > s->now ? (uint64_t)((until - s->now + SC_MS - 1) / SC_MS) : 1;
}

static void owner(const struct sc_sched *s, const struct sched_task *t, struct sched_text *room,
                  struct sc_task_why *out)
{
        const struct sc_view tag = sc_sched_plan_tag(t);
        out->tag                 = sc_sched_say(room, tag.ptr, tag.len);
        if (t->client != SCHED_NONE) {
                const struct sched_tenant *tenant = sc_sched_client(s, t->client)->tenant;
                out->tenant                       = sc_sched_say(room, tenant->name, tenant->name_len);
        }
        if (t->lane == SCHED_NONE)
                return;
        const struct sched_lane     *lane  = sc_sched_lane(s, t->lane);
        const struct sched_function *f     = lane->class->function;
        const struct sched_set      *set   = lane->class->set;
        struct sched_text            needs = { .at = room->at + room->len, .max = SC_AMOUNTS_TEXT };
        out->priority                      = lane->priority;
        out->function                      = sc_sched_say(room, f->name, f->name_len);
        needs.at                           = room->at + room->len;
        if (set->self != 0)
                sc_sched_text_needs(&needs, set->amount, set->count);
        room->len += needs.len;
        out->needs = (struct sc_view){ needs.at, needs.len };
}

void sc_sched_task_why(const struct sc_sched *s, const struct sched_task *t, struct sched_text *room,
                       struct sc_task_why *out)
{
        struct sched_text text = { .at = room->at + room->len, .max = SC_TEXT_MAX };
        SC_ASSERT(t->state != SC_STATE_FREE && room->max - room->len >= SCHED_WHY_TASK_ROOM);
        const struct sched_reason r      = sc_sched_why(s, t, &text);
        const uint64_t            age_ms = (uint64_t)((s->now - t->since) / SC_MS);
        room->len += text.len;
        *out = (struct sc_task_why){
                .task = t->id, .state = (uint8_t)sc_sched_public_state(s, t), .stage = t->state, .kind = t->kind,
                .why = (uint8_t)r.why, .since_ms = since_ms(s, t, age_ms), .age_ms = age_ms,
                .until_ms = until_ms(s, r.until), .number = r.number, .attempt = t->attempt, .losses = t->losses,
                .attempts = sc_sched_attempts_count(s, t), .text = { text.at, text.len },
        };
        if (t->state == SC_STATE_ENDED || t->state == SC_STATE_KEPT)
                out->reason = t->reason;
        owner(s, t, room, out);
        if (!sc_task_is_held(t->state))
                return;
        const struct sched_worker *w = sc_sched_worker(s, t->worker);
        out->worker                  = w->id;
        out->worker_name             = sc_sched_say(room, w->name, w->name_len);
}

/* A copy that is looked at alone: nothing of it is followed that leads back to the original's own lists. */
struct sc_sched sc_sched_at(const struct sc_sched *s, sc_ns now)
{
        struct sc_sched then = *s;
        then.now             = sc_ns_max(s->now, now);
        then.life_ms         = (uint32_t)((then.now - s->start) / SC_MS);
        return then;
}

bool sc_sched_explain_task(const struct sc_sched *s, sc_ns now, struct sc_id task, char room[SC_SCHED_EXPLAIN_ROOM],
                           struct sc_task_why *out)
{
        const struct sched_task *t    = sc_sched_find(s, task);
        struct sched_text        text = { .at = room, .max = SC_SCHED_EXPLAIN_ROOM };
        if (!t)
                return false;
        const struct sc_sched then = sc_sched_at(s, now);
        sc_sched_task_why(&then, t, &text, out);
        return true;
}
