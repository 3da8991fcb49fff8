/*
 * What a scheduler knows, kept from the frames that reach it and those it sends: who waits, which run is at
 * which worker, what workers offer.  By it every ASSIGN is judged: offers, limits, priorities, aging, first
 * come.  An ASSIGN may be seen a little later than it was decided, when its link was busy: who has been waiting
 * for no longer than that is not counted, and who seems to be passed over is asked about when its own turn comes.
 */
#include "sim.h"

#define DECIDED (50 * SC_MS) /* a turn that comes late, and a send before it */

static uint32_t number(const struct sim *w, const struct sim_task *t)
{
        return (uint32_t)(t - w->tasks);
}

static void stand(struct sim *w, struct sim_task *t, enum sim_standing standing, struct sim_conn *at)
{
        struct sim_tenant *tenant = &w->tenants[w->nodes[t->client].tenant];
        const bool         was    = t->standing != SIM_UNKNOWN && t->standing != SIM_OVER;
        const bool         is     = standing != SIM_UNKNOWN && standing != SIM_OVER;
        tenant->rows += (uint32_t)is - (uint32_t)was;
        t->standing = (uint8_t)standing;
        t->at       = at;
}

/* ---- offers ------------------------------------------------------------------------------------------------ */

static bool is_other_set(const struct sim_task *a, const struct sim_task *b)
{
        return !sim_amounts_same(&a->needs, &b->needs);
}

static bool is_at(const struct sim_task *t, const struct sim_conn *at)
{
        return t->standing == SIM_PLACED && t->at == at;
}

/* Runs with the same needs may wait behind one that holds them; so of each set one holds, whoever it is.  What was kept
 * is there whether it fits or not. */
static struct sim_amounts least_held(const struct sim *w, const struct sim_conn *at, uint32_t *count)
{
        struct sim_amounts sum = { .names = 0 };
        *count                 = 0;
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (!is_at(t, at) || t->kept)
                        continue;
                bool again = false;
                for (uint32_t k = 0; k < i && !again; k++)
                        again = is_at(&w->tasks[k], at) && !w->tasks[k].kept && !is_other_set(&w->tasks[k], t);
                if (again)
                        continue;
                sim_amounts_add(&sum, &t->needs);
                (*count)++;
        }
        return sum;
}

/* True: all that is there holds what it needs, so nothing waits. */
static bool all_fits(const struct sim *w, const struct sim_conn *at)
{
        const struct sim_node *n     = &w->nodes[at->other->node];
        struct sim_amounts     sum   = { .names = 0 };
        uint32_t               count = 0;
        for (uint32_t i = 0; i < w->task_count; i++)
                if (is_at(&w->tasks[i], at)) {
                        sim_amounts_add(&sum, &w->tasks[i].needs);
                        count++;
                }
        return count <= n->slots &&
               sim_amounts_within(&sum, &n->offers, w->config.allocate == SC_ALLOCATE_CAPABILITY);
}

static void judge_offers(struct sim *w, const struct sim_task *t, const struct sim_conn *at)
{
        const struct sim_node *n = &w->nodes[at->other->node];
        const bool             names_only = w->config.allocate == SC_ALLOCATE_CAPABILITY;
        uint32_t               sets;
        if (!sim_amounts_within(&t->needs, &n->offers, names_only))
                sim_fail(w, "task %u needs %s and is sent to worker %u, which offers %s", number(w, t), t->needs.text,
                         at->other->node, n->offers.text);
        if (names_only)
                return; /* and it may wait there for what others hold */
        const struct sim_amounts held = least_held(w, at, &sets);
        if (sets > n->slots)
                sim_fail(w, "worker %u is sent runs with %u different needs, for %u slots", at->other->node, sets,
                         n->slots);
        if (!sim_amounts_within(&held, &n->offers, false))
                sim_fail(w, "worker %u is sent task %u that needs %s, beyond what it offers: %s", at->other->node,
                         number(w, t), t->needs.text, n->offers.text);
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

/* Runs that were kept are there whatever the limit; while there is one, nothing is said. */
static bool above(const struct sim *w, const struct sim_task *t, bool of_tenant, uint32_t most)
{
        const struct sim_node *own   = &w->nodes[t->client];
        uint32_t               count = 0;
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *other = &w->tasks[i];
                const struct sim_node *n    = &w->nodes[other->client];
                const bool             same = of_tenant ? n->tenant == own->tenant : other->id.hi == t->id.hi;
                if (!same || other->standing != SIM_PLACED)
                        continue;
                if (other->kept)
                        return false;
                count++;
        }
        return count > most;
}

static bool is_above(const struct sim *w, const struct sim_task *t)
{
        const struct sim_node   *n      = &w->nodes[t->client];
        const struct sim_tenant *tenant = &w->tenants[n->tenant];
        return (n->running_max > 0 && above(w, t, false, n->running_max)) ||
               (tenant->running_max > 0 && above(w, t, true, tenant->running_max));
}

static void limits_event(struct sim *w, struct sim_event *ev)
{
        const struct sim_task *t = &w->tasks[ev->a];
        if (is_above(w, t))
                sim_fail(w, "with task %u its client, or tenant %u, has more runs at workers than it may have",
                         number(w, t), w->nodes[t->client].tenant);
}

/* Where links are lost, the one to a worker that is given up is closed after others have been used. */
static void judge_limits(struct sim *w, const struct sim_task *t)
{
        if (is_above(w, t))
                sim_at(w, w->now + (w->config.calm ? 0 : DECIDED), limits_event)->a = number(w, t);
}

static void judge_queued(struct sim *w, uint32_t which)
{
        const struct sim_tenant *tenant = &w->tenants[which];
        if (tenant->queued_max > 0 && tenant->rows > tenant->queued_max)
                sim_fail(w, "tenant %u has %u tasks at the scheduler, and may have %u", which, tenant->rows,
                         tenant->queued_max);
}

/* ---- order --------------------------------------------------------------------------------------------------- */

static bool may_be_capped(const struct sim *w, const struct sim_task *t)
{
        const struct sim_node *n = &w->nodes[t->client];
        return n->running_max > 0 || w->tenants[n->tenant].running_max > 0;
}

static bool is_alike(const struct sim_task *a, const struct sim_task *b)
{
        const bool same_function = a->kind == b->kind && (a->kind == SC_TASK_COMMAND || a->function == b->function);
        return same_function && !is_other_set(a, b);
}

/* How far the priorities of two are apart, in time; SC_NEVER: farther than waiting goes. */
static sc_ns apart(const struct sim *w, const struct sim_task *higher, const struct sim_task *lower)
{
        const sc_ns aging = w->config.aging == 0 ? 60 * SC_S : w->config.aging;
        return aging == SC_NEVER ? SC_NEVER : (higher->priority - lower->priority) * aging;
}

/* Whether `waits` should have come before `t`, which is placed now. */
static bool comes_before(const struct sim *w, const struct sim_task *waits, const struct sim_task *t)
{
        if (waits->priority > t->priority) {
                const sc_ns waited = w->now - t->heard_at;
                return waited + DECIDED < apart(w, waits, t);
        }
        if (waits->priority < t->priority) {
                const sc_ns later = apart(w, t, waits);
                return later != SC_NEVER && t->heard_at > sc_ns_add(waits->heard_at, later) + SC_MS;
        }
        const bool one_by_one = w->config.allocate == SC_ALLOCATE_EVEN_LOAD; /* and not in runs of what is alike */
        const bool older      = waits->heard_at < t->heard_at || w->config.aging == SC_NEVER; /* they age alike */
        const bool in_order   = is_alike(waits, t) || (one_by_one && older);
        return waits->client == t->client && in_order && waits->id.lo < t->id.lo && !t->spoilt;
}

/* It waits for nothing but its turn, and nobody was placed before it yet. */
static bool may_be_passed(const struct sim *w, const struct sim_task *t)
{
        return t->standing == SIM_READY && t->passed_at == 0 && !t->spoilt && t->not_before_ms == 0 &&
               !may_be_capped(w, t);
}

static void judge_order(struct sim *w, struct sim_task *t, const struct sim_conn *at)
{
        if (t->passed_at != 0 && w->now > t->passed_at + DECIDED)
                sim_fail(w, "task %u (priority %d) was placed before task %u (priority %d)", t->passed_by,
                         w->tasks[t->passed_by].priority, number(w, t), t->priority);
        t->passed_at      = 0;
        const bool starts = w->config.full || all_fits(w, at);
        for (uint32_t i = 0; i < w->task_count; i++) {
                struct sim_task *other = &w->tasks[i];
                if (!may_be_passed(w, other) || w->now < other->ready_at + DECIDED || !comes_before(w, other, t))
                        continue;
                /* It could do with what this one gets, or wait behind the same runs. */
                if (is_alike(other, t) || (starts && sim_amounts_within(&other->needs, &t->needs, false))) {
                        other->passed_at = w->now;
                        other->passed_by = number(w, t);
                }
        }
}

/* ---- what the scheduler says --------------------------------------------------------------------------------- */

static void see_assign(struct sim *w, const struct sim_conn *from, const struct sc_assign *assign, bool kept)
{
        struct sim_task *t = sim_task_of(w, assign->task, NULL);
        if (t == NULL)
                return;
        stand(w, t, SIM_PLACED, from->other->other);
        t->at->less = false;
        t->kept = kept;
        t->spoilt |= kept;
        if (!kept)
                sim_times_again(w, number(w, t));
        sim_idle_waits(w, number(w, t));
        if (kept || w->config.memory || w->nodes[from->other->node].kind != SIM_WORKER)
                return;
        if (t->hopeless)
                sim_fail(w, "task %u is assigned, and nobody can do it", number(w, t));
        if (w->config.needs)
                judge_offers(w, t, from);
        judge_limits(w, t);
        if (w->config.calm)
                judge_order(w, t, from);
}

void sim_ledger_said(struct sim *w, const struct sim_conn *from, const struct sc_msg *msg)
{
        struct sim_task *t;
        if (msg->kind == SC_MSG_ASSIGN) {
                see_assign(w, from, &msg->assign, false);
        } else if (msg->kind == SC_MSG_KEEP) {
                see_assign(w, from, &(struct sc_assign){ .task = msg->about.task }, true);
        } else if (msg->kind == SC_MSG_RESULT && (t = sim_task_of(w, msg->result.task, NULL)) != NULL) {
                stand(w, t, SIM_OVER, NULL);
                sim_idle_waits(w, number(w, t));
        } else if (msg->kind == SC_MSG_RECALL && (t = sim_task_of(w, msg->about.task, NULL)) != NULL) {
                t->recalled_at = w->now;
        } else if (msg->kind == SC_MSG_WELCOME && w->nodes[from->other->node].kind == SIM_WORKER) {
                sim_idle_joined(w, from->other->node);
        }
}

/* ---- what it is told ------------------------------------------------------------------------------------------- */

static void hear_submit(struct sim *w, const struct sc_submit *submit)
{
        struct sim_task *t = sim_task_of(w, submit->task, NULL);
        if (t == NULL || t->standing != SIM_UNKNOWN)
                return;
        stand(w, t, SIM_READY, NULL);
        t->heard_at = t->ready_at = w->now;
        sim_idle_waits(w, number(w, t));
        judge_queued(w, w->nodes[t->client].tenant);
        sim_full_heard(w);
}

static void hear_cancel(struct sim *w, struct sc_id id)
{
        struct sim_task *t = sim_task_of(w, id, NULL);
        if (t == NULL)
                return;
        t->spoilt = true;
        sim_idle_waits(w, number(w, t));
}

static void hear_back(struct sim *w, struct sim_conn *at, struct sc_id id, uint64_t run,
                      const struct sc_outcome *outcome)
{
        const bool       returned = outcome == NULL;
        struct sim_task *t = sim_task_of(w, id, NULL);
        if (t == NULL || !is_at(t, at) || t->last_run != run)
                return;
        stand(w, t, returned ? SIM_READY : t->spoilt ? SIM_UNKNOWN : SIM_ANSWERED, NULL);
        t->ready_at = w->now;
        t->spoilt |= !returned;
        t->kept = false;
        if (outcome != NULL)
                sim_times_answered(w, number(w, t), outcome);
}

static void hear(struct sim *w, struct sim_conn *at, const struct sc_msg *msg)
{
        switch (msg->kind) {
        case SC_MSG_SUBMIT:
                hear_submit(w, &msg->submit);
                break;
        case SC_MSG_CANCEL:
                hear_cancel(w, msg->cancel.task);
                break;
        case SC_MSG_RETURNED:
                hear_back(w, at, msg->about.task, msg->about.run, NULL);
                break;
        case SC_MSG_DONE:
                hear_back(w, at, msg->done.task, msg->done.run, &msg->done.outcome);
                break;
        default:
                break;
        }
}

/* A frame reaches the scheduler. */
void sim_ledger_heard(struct sim *w, struct sim_conn *at, const uint8_t *frame, size_t len)
{
        struct sc_frame_head head;
        const char          *why;
        size_t               cursor = 0;
        if (w->config.keys && sim_honest(w, at->other->node))
                sim_keys_heard(w, frame, len);
        const bool listens = sim_honest(w, at->other->node) || w->config.liars; /* a liar gives back what it took */
        if (!w->config.shared || !listens || sc_frame_get(frame, &head, &why) != 0)
                return;
        const bool changes = head.grant_tasks != at->credit;
        at->less           = at->less || head.grant_tasks < at->credit;
        at->credit         = head.grant_tasks;
        if (changes && w->nodes[at->other->node].kind == SIM_WORKER)
                sim_idle_told(w, at->other->node);
        for (uint32_t i = 0; i < head.count; i++) {
                struct sc_msg msg;
                if (sc_codec_unpack(frame + SC_FRAME_HEAD, len - SC_FRAME_HEAD, &cursor, &w->arena, &msg, &why) != 1)
                        return;
                hear(w, at, &msg);
        }
}

/* What was at that worker is to be placed again or over, as may be. */
static void lose_worker(struct sim *w, const struct sim_conn *at)
{
        for (uint32_t i = 0; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                if (!is_at(t, at))
                        continue;
                stand(w, t, t->spoilt ? SIM_UNKNOWN : SIM_ANSWERED, NULL);
                t->spoilt = true;
                t->kept   = false;
        }
}

/* It may be given up, and then nobody is told of its tasks; what is placed is known to be there. */
static void lose_client(struct sim *w, uint32_t client)
{
        for (uint32_t i = 0; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                if (t->client != client)
                        continue;
                t->spoilt = true;
                if (t->standing != SIM_PLACED)
                        stand(w, t, SIM_UNKNOWN, NULL);
        }
}

/* The scheduler has lost that link, or closed it. */
void sim_ledger_gone(struct sim *w, const struct sim_conn *at)
{
        if (!w->config.shared || at->node != 0)
                return;
        lose_worker(w, at);
        if (w->nodes[at->other->node].kind == SIM_CLIENT)
                lose_client(w, at->other->node);
}

/* A scheduler that knows nothing. */
void sim_ledger_new(struct sim *w)
{
        for (uint32_t i = 0; w->config.shared && i < w->task_count; i++) {
                stand(w, &w->tasks[i], SIM_UNKNOWN, NULL);
                w->tasks[i].kept = false;
        }
}
