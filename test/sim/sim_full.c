/*
 * Worlds whose queues are always full: a few clients of one or two tenants, each with far more tasks than get
 * their turn.  Nothing fails in them.  When the one with the smallest share has had 100 times the longest task,
 * the slot-time that each has had must be its share of the whole, within one in twenty.
 */
#include "sim.h"

enum { TIMES = 100, MARGIN = 80 };

static uint64_t weight_of(uint32_t weight)
{
        return weight == 0 ? 1000 : weight;
}

/* Of tenants that have clients, and of clients within their tenant. */
static double fair(const struct sim *w, uint32_t client)
{
        const struct sim_node *own = &w->nodes[client];
        double                 mine = 0, all = 0;
        bool                   counted[SIM_TENANTS_MAX] = { false };
        for (uint32_t i = 1; i <= w->config.clients; i++) {
                const struct sim_node *n = &w->nodes[i];
                mine += n->tenant == own->tenant ? (double)weight_of(n->weight) : 0;
                all += counted[n->tenant] ? 0 : (double)weight_of(w->tenants[n->tenant].weight);
                counted[n->tenant] = true;
        }
        return (double)weight_of(w->tenants[own->tenant].weight) / all * (double)weight_of(own->weight) / mine;
}

static uint32_t slots(const struct sim *w)
{
        uint32_t sum = 0;
        for (uint32_t i = 0; i < w->node_count; i++)
                sum += w->nodes[i].kind == SIM_WORKER ? w->nodes[i].slots : 0;
        return sum;
}

/* ---- the plan ---------------------------------------------------------------------------------------------- */

void sim_full_config(struct sim *w)
{
        struct sim_config *c = &w->config;
        *c                   = (struct sim_config){ .shared = true, .calm = true, .full = true };
        c->allocate          = (uint8_t)sim_below(w, 2);
}

void sim_full_shape(struct sim *w)
{
        struct sim_config *c = &w->config;
        c->clients           = 2 + (uint32_t)sim_below(w, 3);
        c->workers           = 1 + (uint32_t)sim_below(w, 2);
        c->admins = c->tasks = c->tasks_max = c->client_tasks_max = 0;
        w->longest      = sim_between(w, 20 * SC_MS, 2 * SC_S);
        c->delay_max    = sim_between(w, 10 * SC_US, w->longest / 20);
        c->faults_until = SC_S;
        c->client_grace = 0;
}

static void add_tasks(struct sim *w, uint32_t client, uint32_t count)
{
        static const uint32_t low[] = { 4, 2, 2 }, high[] = { 8, 8, 4 }; /* eighths of the longest */
        const uint64_t        span = sim_below(w, 3), unit = (uint64_t)w->longest / 8;
        const uint32_t        function = (uint32_t)sim_below(w, SIM_FUNCTIONS);
        for (uint32_t i = 0; i < count; i++)
                w->tasks[w->task_count++] = (struct sim_task){
                        .client     = client,
                        .kind       = SC_TASK_FUNCTION,
                        .function   = function,
                        .duration   = (sc_ns)(unit * low[span] + sim_below(w, unit * (high[span] - low[span]))),
                        .body_len   = 4,
                        .result_len = 8,
                };
}

/* Who they are and, at last, what they do: enough for all to be busy for so long that the smallest share comes to
 * what is to be judged, if all their tasks were as short as any. */
void sim_full_plan(struct sim *w)
{
        static const uint32_t weights[] = { 0, 500, 1500 }; /* 0: 1,000 */
        double                least = 1, counts[1 + SIM_TENANTS_MAX];
        for (uint32_t i = 0; i < SIM_TENANTS_MAX; i++)
                w->tenants[i].weight = weights[sim_below(w, 3)];
        for (uint32_t i = 1; i <= w->config.clients; i++) {
                w->nodes[i].tenant = (uint32_t)sim_below(w, 2);
                w->nodes[i].weight = weights[sim_below(w, 3)];
        }
        for (uint32_t i = 1; i <= w->config.clients; i++)
                least = fair(w, i) < least ? fair(w, i) : least;
        for (uint32_t i = 1; i <= w->config.clients; i++) {
                counts[i] = fair(w, i) / least * TIMES * 8 / 3 * 1.1 + MARGIN;
                w->config.tasks += (uint32_t)counts[i];
        }
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == SIM_WORKER)
                        w->nodes[i].slots = 1 + (uint32_t)sim_below(w, 3);
        w->full_for = (sc_ns)(TIMES * (double)w->longest / least / slots(w));
        w->tasks    = sc_mem_zalloc(&w->mem, w->config.tasks * sizeof *w->tasks);
        SC_ASSERT(w->tasks != NULL);
        for (uint32_t i = 1; i <= w->config.clients; i++)
                add_tasks(w, i, (uint32_t)counts[i]);
        SC_ASSERT(w->task_count == w->config.tasks);
}

/* ---- the judge ----------------------------------------------------------------------------------------------- */

void sim_full_ran(struct sim *w, uint32_t client, sc_ns began_at)
{
        if (w->full_from != 0 && !w->full_judged)
                w->used[client] += w->now - sc_ns_max(began_at, w->full_from);
}

static bool has_ready(const struct sim *w, uint32_t client)
{
        for (uint32_t i = 0; i < w->task_count; i++)
                if (w->tasks[i].client == client && w->tasks[i].standing == SIM_READY)
                        return true;
        return false;
}

static void judge_event(struct sim *w, struct sim_event *ev)
{
        double all = 0;
        (void)ev;
        for (uint32_t i = 0; i < w->node_count; i++)
                for (int k = 0; w->nodes[i].kind == SIM_WORKER && k < SIM_RUNS_MAX; k++)
                        if (w->nodes[i].run[k].run != 0 && w->nodes[i].run[k].begun)
                                sim_full_ran(w, w->tasks[w->nodes[i].run[k].task].client, w->nodes[i].run[k].began_at);
        w->full_judged = true;
        for (uint32_t i = 1; i <= w->config.clients; i++)
                all += (double)w->used[i];
        for (uint32_t i = 1; i <= w->config.clients; i++) {
                const double share = (double)w->used[i] / all, due = fair(w, i);
                sim_trace(w, "share", i, (uint64_t)(share * 10000), (uint64_t)(due * 10000));
                if (!has_ready(w, i))
                        sim_fail(w, "client %u has nothing left to do, in the simulator", i);
                if (share < due * 0.95 || share > due * 1.05)
                        sim_fail(w, "client %u has had %.2f %% of the slot-time and should have %.2f %%", i,
                                 share * 100, due * 100);
        }
}

/* Once everybody is there, it counts. */
void sim_full_heard(struct sim *w)
{
        if (!w->config.full || w->full_from != 0)
                return;
        for (uint32_t i = 0; i < w->node_count; i++) {
                const struct sim_node *n = &w->nodes[i];
                if ((n->kind == SIM_WORKER && n->joined_at == 0) || (n->kind == SIM_CLIENT && !has_ready(w, i)))
                        return;
        }
        w->full_from = w->now;
        sim_at(w, w->now + w->full_for, judge_event);
}
