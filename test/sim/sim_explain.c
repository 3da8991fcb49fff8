/*
 * Answers to "why" are true.  After a scheduler's turn one task and one worker are asked about, and what it
 * says is compared with what the ledger knows from frames and with what workers and tasks are here: stage,
 * worker, since when, and the kind of reason.  Only while nothing of what it said waits to leave, and nothing
 * is left for it to do; which ones are asked is drawn without a seed's own chance, so histories stay as they are.
 */
#include "sim.h"

#include "sc_sched.h"
#include "task_fsm.h"

#define BIT(why) (UINT64_C(1) << (why))
#define NEVER_FIT (BIT(SC_WHY_NO_OFFER) | BIT(SC_WHY_TOO_MUCH) | BIT(SC_WHY_NO_MATCH))

struct joined { /* scheduler's ends of workers that it has welcomed */
        const struct sim_conn *at[SIM_NODES_MAX];
        uint32_t               len;
};

static struct joined joined_of(const struct sim *w)
{
        struct joined j = { .len = 0 };
        for (const struct sim_conn *c = w->conns; c != NULL; c = c->next)
                if (c->node == 0 && !c->closed && c->other->welcomed_at != 0 && j.len < SIM_NODES_MAX &&
                    c->generation == w->nodes[0].generation && w->nodes[c->other->node].kind == SIM_WORKER)
                        j.at[j.len++] = c;
        return j;
}

/* All that it decided has left it, so the ledger knows it; and it has the workers that are seen here, none of which is
 * on its way out or has been started anew without its knowledge. */
static bool is_settled(const struct sim *w)
{
        const struct sim_node *n = &w->nodes[0];
        const struct joined    j = joined_of(w);
        struct sc_status_row   row;
        sc_sched_stats(sc_sched_shell_core(n->sched), sim_node_now(w, 0), &row);
        for (uint32_t i = 0; i < j.len; i++)
                if (j.at[i]->other->generation != w->nodes[j.at[i]->other->node].generation)
                        return false;
        if (row.workers != j.len)
                return false;
        for (const struct sim_conn *c = w->conns; c != NULL; c = c->next)
                if (c->node == 0 && !c->closed && (c->busy || c->stuck))
                        return false;
        return sc_sched_deadline(sc_sched_shell_core(n->sched)) > sim_node_now(w, 0);
}

static const struct sim_node *node_of(const struct sim *w, const struct sim_conn *at)
{
        return &w->nodes[at->other->node];
}

static uint32_t placed_at(const struct sim *w, const struct sim_conn *at)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < w->task_count; i++)
                count += w->tasks[i].standing == SIM_PLACED && w->tasks[i].at == at;
        return count;
}

/* ---- what should be said -------------------------------------------------------------------------------------- */

static bool knows(const struct sim_node *n, const struct sim_task *t)
{
        return t->kind == SC_TASK_COMMAND || (n->functions >> t->function & 1);
}

static bool could_run(const struct sim *w, const struct sim_node *n, const struct sim_task *t)
{
        return knows(n, t) &&
               sim_amounts_within(&t->needs, &n->offers, w->config.allocate == SC_ALLOCATE_CAPABILITY);
}

static uint32_t running(const struct sim *w, const struct sim_task *t, bool of_tenant)
{
        const uint32_t tenant = w->nodes[t->client].tenant;
        uint32_t       count  = 0;
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *o = &w->tasks[i];
                if (o->standing == SIM_PLACED &&
                    (of_tenant ? w->nodes[o->client].tenant == tenant : o->id.hi == t->id.hi))
                        count++;
        }
        return count;
}

static bool is_capped(const struct sim *w, const struct sim_task *t, bool of_tenant)
{
        const struct sim_node *n    = &w->nodes[t->client];
        const uint32_t         most = of_tenant ? w->tenants[n->tenant].running_max : n->running_max;
        return most > 0 && running(w, t, of_tenant) >= most;
}

static bool names_missing(const struct sim *w, const struct joined *j, const struct sim_task *t)
{
        uint32_t offered = 0;
        for (uint32_t i = 0; i < j->len; i++)
                if (knows(node_of(w, j->at[i]), t))
                        offered |= node_of(w, j->at[i])->offers.names;
        return (t->needs.names & ~offered) != 0;
}

/* The kinds of reasons that a ready task may have, from what is known here. */
static uint64_t reasons(const struct sim *w, const struct joined *j, const struct sim_task *t, uint32_t *able)
{
        bool known = false;
        *able      = 0;
        for (uint32_t i = 0; i < j->len; i++) {
                known = known || knows(node_of(w, j->at[i]), t);
                *able += could_run(w, node_of(w, j->at[i]), t);
        }
        if (j->len == 0)
                return BIT(SC_WHY_NO_WORKER);
        if (!known)
                return BIT(SC_WHY_NO_FUNCTION);
        if (*able == 0)
                return names_missing(w, j, t) ? BIT(SC_WHY_NO_OFFER)
                                              : BIT(SC_WHY_TOO_MUCH) | BIT(SC_WHY_NO_MATCH);
        if (is_capped(w, t, false))
                return BIT(SC_WHY_CLIENT_CAP);
        if (is_capped(w, t, true))
                return BIT(SC_WHY_TENANT_CAP);
        uint64_t set = BIT(SC_WHY_ALL_FULL) | BIT(SC_WHY_MEMORY);
        if (!w->config.calm)
                set |= BIT(SC_WHY_LAST_CHANCE);
        if (w->config.needs && w->config.allocate != SC_ALLOCATE_CAPABILITY)
                set |= BIT(SC_WHY_WITHHELD);
        return set;
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

static bool has_ended_run(const struct sim *w, const struct sim_node *n)
{
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run != 0 && w->tasks[n->run[i].task].standing != SIM_PLACED)
                        return true;
        return false;
}

/* A worker that has nothing and could run it is no worker that is full. */
static void judge_full(struct sim *w, const struct joined *j, const struct sim_task *t, uint32_t task)
{
        for (uint32_t i = 0; w->config.calm && i < j->len; i++) {
                const struct sim_node *n = node_of(w, j->at[i]);
                if (could_run(w, n, t) && j->at[i]->credit > 0 && placed_at(w, j->at[i]) == 0 && !has_ended_run(w, n))
                        sim_fail(w, "task %u is told that all are full, and worker %u has nothing", task,
                                 j->at[i]->other->node);
        }
}

static void judge_ready(struct sim *w, uint32_t task, const struct sc_task_why *why)
{
        const struct sim_task *t = &w->tasks[task];
        const struct joined    j = joined_of(w);
        uint32_t               able;
        const uint64_t         may = reasons(w, &j, t, &able);
        if (!(may >> why->why & 1))
                sim_fail(w, "task %u waits, and is told %s: %.*s", task, sc_why_name(why->why), (int)why->text.len,
                         (const char *)why->text.ptr);
        if (why->why == SC_WHY_ALL_FULL && why->number != able)
                sim_fail(w, "task %u is told that %llu workers fit, and it is %u", task,
                         (unsigned long long)why->number, able);
        if (why->why == SC_WHY_ALL_FULL)
                judge_full(w, &j, t, task);
}

static bool is_near(uint64_t ms, sc_ns span)
{
        const sc_ns told = (sc_ns)ms * SC_MS;
        return told <= span + 2 * SC_MS && span <= told + 2 * SC_MS;
}

static void judge_times(struct sim *w, uint32_t task, const struct sc_task_why *why)
{
        const struct sim_task *t = &w->tasks[task];
        const bool held = sc_task_is_held((enum sc_task_state)why->stage); /* perhaps before its client came back */
        if (!held && why->since_ms > why->age_ms)
                sim_fail(w, "task %u is in its stage for longer than it is there", task);
        if (w->config.skew || !w->config.calm || t->spoilt)
                return;
        if (!is_near(why->age_ms, w->now - t->heard_at))
                sim_fail(w, "task %u is told to be %llu ms old, and it is %.6f s", task,
                         (unsigned long long)why->age_ms, (double)(w->now - t->heard_at) / 1e9);
        if (why->stage == SC_STATE_READY && t->not_before_ms == 0 && !is_near(why->since_ms, w->now - t->ready_at))
                sim_fail(w, "task %u is told to be ready for %llu ms, and it is %.6f s", task,
                         (unsigned long long)why->since_ms, (double)(w->now - t->ready_at) / 1e9);
}

static void judge_waiting(struct sim *w, uint32_t task, const struct sc_task_why *why)
{
        const struct sim_task *t = &w->tasks[task];
        if (why->stage != SC_STATE_READY && why->stage != SC_STATE_BACKOFF)
                sim_fail(w, "task %u waits for a worker, and is told to be %s", task,
                         sc_task_state_name((enum sc_task_state)why->stage));
        if ((why->why == SC_WHY_NOT_BEFORE && t->not_before_ms == 0) ||
            (why->why == SC_WHY_BACKOFF && (t->backoff_ms == 0 || why->attempts == 0)))
                sim_fail(w, "task %u has no such time, and is told %s", task, sc_why_name(why->why));
        if (why->stage == SC_STATE_BACKOFF && why->until_ms == 0)
                sim_fail(w, "task %u waits for a time, and is not told which", task);
        if (why->stage == SC_STATE_READY)
                judge_ready(w, task, why);
}

static void judge_placed(struct sim *w, uint32_t task, const struct sc_task_why *why)
{
        const struct sim_task *t    = &w->tasks[task];
        const bool             over = why->stage == SC_STATE_ENDED && (t->deadline_ms > 0 || t->spoilt);
        if (!over && !sc_task_is_held((enum sc_task_state)why->stage))
                sim_fail(w, "task %u is at a worker, and is told to be %s", task,
                         sc_task_state_name((enum sc_task_state)why->stage));
        if (!over && why->worker != node_of(w, t->at)->id)
                sim_fail(w, "task %u is told to be at another worker than %u", task, t->at->other->node);
        if (why->why == SC_WHY_RUNNING && t->starts == 0)
                sim_fail(w, "task %u is told to run, and never has", task);
}

/* The scheduler has heard of the end of a run of it, which was not the task's. */
static void judge_answered(struct sim *w, uint32_t task, const struct sc_task_why *why)
{
        const struct sim_task *t = &w->tasks[task];
        if (!w->config.calm || t->failures == 0 || why->stage != SC_STATE_BACKOFF)
                return;
        if (why->why != SC_WHY_BACKOFF || why->attempts == 0 || why->attempts > t->failures)
                sim_fail(w, "task %u has failed %u times, and is told %s and of %u attempts", task, t->failures,
                         sc_why_name(why->why), why->attempts);
        if (!w->config.skew && !is_near(why->since_ms, w->now - t->answered_at))
                sim_fail(w, "task %u is told to wait for %llu ms, and it is %.6f s", task,
                         (unsigned long long)why->since_ms, (double)(w->now - t->answered_at) / 1e9);
}

static void ask_task(struct sim *w, uint32_t task, bool settled)
{
        const struct sim_task *t    = &w->tasks[task];
        const struct sc_sched *core = sc_sched_shell_core(w->nodes[0].sched);
        struct sc_task_why     why;
        char                   room[SC_SCHED_EXPLAIN_ROOM];
        const sc_ns            now   = sim_node_now(w, 0);
        const bool             known = t->submitted && sc_sched_explain_task(core, now, t->id, room, &why);
        if (known && (why.text.len == 0 || ((const char *)why.text.ptr)[why.text.len - 1] != '.'))
                sim_fail(w, "task %u is told no sentence", task);
        if (known && settled && t->standing == SIM_ANSWERED)
                judge_answered(w, task, &why);
        if (!settled || t->standing == SIM_UNKNOWN || t->standing == SIM_ANSWERED)
                return;
        if (!known && t->standing != SIM_OVER)
                sim_fail(w, "task %u is not known to the scheduler that has it", task);
        if (!known)
                return;
        if (t->standing == SIM_OVER && why.stage != SC_STATE_ENDED)
                sim_fail(w, "task %u is over, and is told to be %s", task,
                         sc_task_state_name((enum sc_task_state)why.stage));
        if (t->standing == SIM_READY && !t->spoilt)
                judge_waiting(w, task, &why);
        if (t->standing == SIM_PLACED)
                judge_placed(w, task, &why);
        if (t->standing != SIM_OVER)
                judge_times(w, task, &why);
}

/* ---- workers --------------------------------------------------------------------------------------------------- */

/* Of what is ready for sure: the first task that this worker could run, or with any the first at all; task_count: there
 * is none. */
static uint32_t waiting_for(const struct sim *w, const struct sim_node *n, bool any)
{
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (t->standing != SIM_READY || t->spoilt || t->not_before_ms != 0)
                        continue;
                if (any || could_run(w, n, t))
                        return i;
        }
        return w->task_count;
}

static void judge_idle(struct sim *w, const struct sim_conn *at, const struct sc_worker_why *why)
{
        const struct sim_node *n     = node_of(w, at);
        const uint32_t         node  = at->other->node;
        const uint32_t         some  = waiting_for(w, n, true);
        const uint32_t         fits  = waiting_for(w, n, false);
        const uint32_t         count = placed_at(w, at);
        if (why->slots != n->slots || (w->config.calm && !w->config.times && why->assigned != count))
                sim_fail(w, "worker %u is told to have %u runs for %u slots, and has %u for %u", node, why->assigned,
                         why->slots, count, n->slots);
        if (why->why == SC_IDLE_PLACING)
                sim_fail(w, "worker %u is told to get something, and gets nothing", node);
        if ((why->why == SC_IDLE_FULL && why->assigned < at->credit) || (why->why == SC_IDLE_STUCK && at->credit > 0))
                sim_fail(w, "worker %u is told to be full with %u of %u", node, why->assigned, at->credit);
        if (w->config.calm && why->why == SC_IDLE_NOTHING_READY && some < w->task_count)
                sim_fail(w, "worker %u is told that nothing is ready, and task %u is", node, some);
        if (w->config.calm && why->why == SC_IDLE_NOTHING_FITS && why->assigned == 0 && fits < w->task_count)
                sim_fail(w, "worker %u, which has nothing, is told that nothing fits, and task %u does", node, fits);
        if (why->why == SC_IDLE_CAPPED && !w->config.caps)
                sim_fail(w, "worker %u is told of limits that nobody has", node);
}

static void ask_worker(struct sim *w, uint32_t pick)
{
        const struct joined j = joined_of(w);
        if (j.len == 0)
                return;
        const struct sim_conn *at   = j.at[pick % j.len];
        const struct sc_sched *core = sc_sched_shell_core(w->nodes[0].sched);
        struct sc_worker_why   why;
        char                   room[SC_SCHED_EXPLAIN_ROOM];
        if (!sc_sched_explain_worker(core, sim_node_now(w, 0), node_of(w, at)->id, room, &why))
                sim_fail(w, "worker %u is not known to the scheduler that welcomed it", at->other->node);
        judge_idle(w, at, &why);
}

/* Mostly one that waits, as there is most to be said of those. */
static uint32_t pick(const struct sim *w, struct sc_rng *own)
{
        const uint32_t from = (uint32_t)sc_rng_below(own, w->task_count);
        if (sc_rng_below(own, 4) == 0)
                return from;
        for (uint32_t i = 0; i < w->task_count; i++) {
                const uint32_t task = (from + i) % w->task_count;
                if (w->tasks[task].standing == SIM_READY || w->tasks[task].standing == SIM_ANSWERED)
                        return task;
        }
        return from;
}

void sim_explain(struct sim *w)
{
        struct sc_rng own = { w->seed ^ w->turns * UINT64_C(0x9e3779b97f4a7c15) };
        if (w->nodes[0].sched == NULL || w->task_count == 0)
                return;
        const struct sim_config *c = &w->config;
        /* What nobody offered is offered then, by those who have come anew. */
        const bool told    = !c->refused_functions || !w->healed;
        const bool known   = c->shared && !c->hostile && !c->memory && c->budget == 0 && told;
        const bool settled = known && is_settled(w);
        ask_task(w, pick(w, &own), settled);
        if (settled)
                ask_worker(w, (uint32_t)sc_rng_below(&own, SIM_NODES_MAX));
}
