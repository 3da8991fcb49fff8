/*
 * Faults come one after another until the world heals; which of them exist is the seed's choice.
 */
#include "sim.h"

static uint32_t some_node(struct sim *w, enum sim_kind kind)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < w->node_count; i++)
                count += w->nodes[i].kind == kind;
        uint64_t pick = sim_below(w, count);
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == kind && pick-- == 0)
                        return i;
        return 0;
}

static void crash(struct sim *w, uint32_t node)
{
        if (!w->nodes[node].alive)
                return;
        if (w->nodes[node].kind == SIM_CLIENT)
                for (uint32_t i = 0; i < w->task_count; i++)
                        if (w->tasks[i].client == node && w->tasks[i].submitted && !w->tasks[i].ended &&
                            !w->tasks[i].orphaned) {
                                w->tasks[i].orphaned = true;
                                w->gone_count++;
                        }
        sim_node_stop(w, node);
        sim_node_restart_at(w, node, w->now + sim_between(w, SC_MS, 20 * SC_S));
}

/* Sometimes for long enough to be given up by everybody, sometimes not. */
static void pause_some(struct sim *w)
{
        const uint32_t node = (uint32_t)sim_below(w, w->node_count);
        if (w->nodes[node].alive && sim_honest(w, node))
                sim_node_pause(w, node, w->now + sim_between(w, SC_MS, 150 * SC_S));
}

static void link_fault(struct sim *w, int which)
{
        struct sim_conn *conn = sim_net_some_conn(w);
        if (conn == NULL)
                return;
        if (which == 0)
                sim_net_break(w, conn, w->config.blips_only);
        else if (which == 1)
                sim_net_half_open(w, conn);
        else
                sim_net_clog(w, conn, w->now + sim_between(w, SC_MS, 15 * SC_S));
}

static void memory_fault(struct sim *w)
{
        struct sim_node *n = &w->nodes[sim_below(w, w->node_count)];
        n->fail_at         = n->allocations + 1 + sim_below(w, 20);
        n->fail_count      = sim_chance(w, 70) ? 1 : 1 + sim_below(w, 200);
}

static void fault(struct sim *w, uint64_t kind)
{
        const struct sim_config *c = &w->config;
        if (kind == 0 && c->breaks)
                link_fault(w, 0);
        else if (kind == 1 && c->half_open)
                link_fault(w, 1);
        else if (kind == 2 && c->clogs)
                link_fault(w, 2);
        else if (kind == 3 && c->pauses)
                pause_some(w);
        else if (kind == 4 && c->worker_crashes)
                crash(w, some_node(w, SIM_WORKER));
        else if (kind == 5 && c->client_crashes)
                crash(w, some_node(w, SIM_CLIENT));
        else if (kind == 6 && c->scheduler_crashes)
                crash(w, 0);
        else if (kind == 7 && c->memory)
                memory_fault(w);
}

static void fault_event(struct sim *w, struct sim_event *ev)
{
        (void)ev;
        if (w->healed)
                return;
        fault(w, sim_below(w, 8));
        sim_at(w, w->now + sim_between(w, SC_MS, w->config.fault_gap), fault_event);
}

static void heal_event(struct sim *w, struct sim_event *ev)
{
        (void)ev;
        sim_heal(w);
}

void sim_faults_begin(struct sim *w)
{
        sim_at(w, w->config.faults_until, heal_event);
        sim_at(w, sim_between(w, SC_MS, w->config.fault_gap), fault_event);
}

void sim_heal(struct sim *w)
{
        w->healed    = true;
        w->healed_at = w->now;
        sim_trace(w, "heal", 0, 0, 0);
        if (w->config.budget > 0 && w->config.budget < SC_SCHED_BUDGET_LEAST)
                w->nodes[0].mem.budget = SC_SCHED_BUDGET_LEAST; /* with less it need not come to an end */
        for (uint32_t i = 0; i < w->node_count; i++) {
                struct sim_node *n = &w->nodes[i];
                n->fail_at         = 0;
                n->paused_until    = 0;
                n->turn_due        = false; /* it may be waiting for the end of a pause */
                if (n->kind == SIM_HOSTILE)
                        sim_node_stop(w, i);
                if (n->kind == SIM_WORKER && w->config.refused_functions) { /* what nobody offered is offered at last */
                        n->functions = (1u << SIM_FUNCTIONS) - 1;
                        sim_node_stop(w, i);
                        sim_node_restart_at(w, i, w->now + SC_S);
                }
                if (n->alive)
                        sim_node_wake(w, i);
        }
}
