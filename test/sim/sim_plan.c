/*
 * What a third of the worlds ask of the order among tasks: workers that offer different things, tasks that need
 * some of it or what nobody has, priorities, tenants and clients with weights and limits, aging, and a policy.
 * It is drawn from a generator of its own, so that every other world is what it would be without.  Half of
 * these worlds are calm: nothing ever fails in them, and the judges of order are at their strictest.
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

static const char *const names[SIM_AMOUNTS] = { "cpu", "gpu", "linux", "mem", "nowhere" };

enum { PALETTE_MAX = 8 };

/* ---- amounts ------------------------------------------------------------------------------------------ */

static void set(struct sim_amounts *a, int name, uint64_t thousandths)
{
        a->names |= 1u << name;
        a->of[name] = thousandths;
}

/* The canonical form, as it travels. */
static void write_text(struct sim_amounts *a)
{
        size_t at  = 0;
        a->text[0] = '\0';
        for (int i = 0; i < SIM_AMOUNTS; i++) {
                if (!(a->names & 1u << i))
                        continue;
                const char *comma = at > 0 ? "," : "";
                int         len;
                if (a->of[i] > 0)
                        len = snprintf(a->text + at, sizeof a->text - at, "%s%s=%llu", comma, names[i],
                                       (unsigned long long)a->of[i]);
                else
                        len = snprintf(a->text + at, sizeof a->text - at, "%s%s", comma, names[i]);
                SC_ASSERT(len > 0 && (size_t)len < sizeof a->text - at);
                at += (size_t)len;
        }
}

/* Says it, and then counts the cpu that goes without saying. */
static void complete(struct sim_amounts *a, uint64_t cpu)
{
        write_text(a);
        if (!(a->names & 1u << SIM_CPU))
                set(a, SIM_CPU, cpu);
}

bool sim_amounts_same(const struct sim_amounts *a, const struct sim_amounts *b)
{
        return a->names == b->names && memcmp(a->of, b->of, sizeof a->of) == 0;
}

bool sim_amounts_within(const struct sim_amounts *needs, const struct sim_amounts *offers, bool names_only)
{
        if (needs->names & ~offers->names)
                return false;
        for (int i = 0; i < SIM_AMOUNTS && !names_only; i++)
                if (needs->of[i] > offers->of[i])
                        return false;
        return true;
}

void sim_amounts_add(struct sim_amounts *sum, const struct sim_amounts *more)
{
        sum->names |= more->names;
        for (int i = 0; i < SIM_AMOUNTS; i++)
                sum->of[i] += more->of[i];
}

/* ---- workers and what tasks need of them ----------------------------------------------------------------- */

static void plan_offers(struct sim *w, struct sim_node *n)
{
        struct sim_amounts *a = &n->offers;
        *a                    = (struct sim_amounts){ .names = 0 };
        if (w->config.needs && sim_chance(w, 80)) {
                set(a, SIM_CPU, n->slots * UINT64_C(1000));
                if (sim_chance(w, 40))
                        set(a, SIM_CPU, 1000 + 500 * sim_below(w, 4u * n->slots));
                if (sim_chance(w, 60))
                        set(a, SIM_GPU, 1000 * (1 + sim_below(w, 4)));
                if (sim_chance(w, 50))
                        set(a, SIM_LINUX, 0);
                if (sim_chance(w, 50))
                        set(a, SIM_MEM, 65001 + sim_below(w, 64000)); /* more than units have indices for */
        }
        complete(a, n->slots * UINT64_C(1000));
}

static uint64_t some_of(struct sim *w, uint64_t most, uint64_t unit)
{
        return unit * (1 + sim_below(w, most / unit));
}

/* Fractions of units that have indices may be scattered over those, so that a whole one is not to be had: nothing
 * for worlds in which no worker may idle. */
static uint64_t some_units(struct sim *w, uint64_t most)
{
        if (!w->config.calm && sim_chance(w, 50))
                return 300 + 100 * sim_below(w, 7);
        return some_of(w, most, 1000);
}

static const struct sim_node *some_worker(const struct sim *w, uint64_t pick)
{
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == SIM_WORKER && pick-- == 0)
                        return &w->nodes[i];
        return NULL;
}

/* Of what some worker offers, so that there is one that can do it. */
static struct sim_amounts some_needs(struct sim *w)
{
        const struct sim_amounts *offers = &some_worker(w, sim_below(w, w->config.workers))->offers;
        struct sim_amounts        a      = { .names = 0 };
        if (sim_chance(w, 40))
                set(&a, SIM_CPU, some_units(w, offers->of[SIM_CPU]));
        if ((offers->names & 1u << SIM_GPU) && sim_chance(w, 50))
                set(&a, SIM_GPU, sim_chance(w, 20) ? 0 : some_units(w, offers->of[SIM_GPU]));
        if ((offers->names & 1u << SIM_LINUX) && sim_chance(w, 50))
                set(&a, SIM_LINUX, 0);
        if ((offers->names & 1u << SIM_MEM) && sim_chance(w, 50))
                set(&a, SIM_MEM, some_of(w, offers->of[SIM_MEM], sim_chance(w, 50) ? 1 : 5000));
        return a;
}

static bool is_offered(const struct sim *w, const struct sim_amounts *needs)
{
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == SIM_WORKER &&
                    sim_amounts_within(needs, &w->nodes[i].offers, w->config.allocate == SC_ALLOCATE_CAPABILITY))
                        return true;
        return false;
}

/* What nobody has, or more than anybody has; it is cancelled in the end, and must harm nobody until then. */
static void make_hopeless(struct sim *w, struct sim_task *t)
{
        if (sim_chance(w, 50))
                set(&t->needs, SIM_NOWHERE, sim_chance(w, 50) ? 0 : 1000);
        else
                set(&t->needs, SIM_GPU, 4001 + sim_below(w, 100000));
        t->end         = SIM_SUCCEEDS;
        t->fails_first = 0;
        if (t->cancel_at[0] == 0)
                t->cancel_at[0] = w->config.faults_until + sim_between(w, SC_MS, 20 * SC_S);
}

static void plan_needs(struct sim *w)
{
        struct sim_amounts palette[PALETTE_MAX];
        const uint64_t     size = 1 + sim_below(w, sim_chance(w, 60) ? 2 : PALETTE_MAX);
        const bool         many = sim_chance(w, 15);
        for (uint64_t i = 0; i < size; i++)
                palette[i] = some_needs(w);
        for (uint32_t i = 0; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                if (w->config.needs && sim_chance(w, 60))
                        t->needs = many ? some_needs(w) : palette[sim_below(w, size)];
                if (w->config.needs && sim_chance(w, 5))
                        make_hopeless(w, t);
                complete(&t->needs, 1000);
                t->hopeless = !is_offered(w, &t->needs);
        }
}

/* ---- who has how much of it ---------------------------------------------------------------------------------- */

static void plan_tenants(struct sim *w)
{
        const struct sim_config *c = &w->config;
        for (uint32_t i = 0; i < SIM_TENANTS_MAX; i++) {
                struct sim_tenant *tenant = &w->tenants[i];
                if (c->shares && sim_chance(w, 60))
                        tenant->weight = (uint32_t)sim_between(w, 1, SC_WEIGHT_MAX);
                if (c->caps && sim_chance(w, 40))
                        tenant->running_max = 1 + (uint32_t)sim_below(w, 6);
                if (c->caps && sim_chance(w, 40)) /* a client that has nothing to say keeps room for one */
                        tenant->queued_max = c->clients + 1 + (uint32_t)sim_below(w, 30);
        }
}

static void plan_clients(struct sim *w)
{
        const struct sim_config *c = &w->config;
        for (uint32_t i = 0; i < w->node_count; i++) {
                struct sim_node *n = &w->nodes[i];
                if (n->kind != SIM_CLIENT)
                        continue;
                n->tenant = c->shares ? (uint32_t)sim_below(w, SIM_TENANTS_MAX) : 0;
                if (c->shares && sim_chance(w, 60))
                        n->weight = (uint32_t)sim_between(w, 1, SC_WEIGHT_MAX);
                if (c->caps && sim_chance(w, 40))
                        n->running_max = 1 + (uint32_t)sim_below(w, 4);
        }
}

static void plan_priorities(struct sim *w)
{
        const uint32_t span = sim_chance(w, 30) ? 2 * SC_PRIORITY_MAX + 1 : 1 + (uint32_t)sim_below(w, 5);
        for (uint32_t i = 0; i < w->task_count; i++)
                w->tasks[i].priority = (int32_t)sim_below(w, span) - (int32_t)(span / 2);
}

/* ---- the world ------------------------------------------------------------------------------------------------- */

static struct sc_rng swap(struct sim *w, struct sc_rng rng)
{
        const struct sc_rng before = w->rng;
        w->rng                     = rng;
        return before;
}

static void choose(struct sim *w)
{
        struct sim_config *c = &w->config;
        c->shared            = true;
        c->calm              = sim_chance(w, 50);
        c->needs             = sim_chance(w, 75);
        c->shares            = sim_chance(w, 50);
        c->caps              = sim_chance(w, 40);
        c->times             = sim_chance(w, 50);
        const uint64_t policy = sim_below(w, 100);
        c->allocate           = policy < 50   ? SC_ALLOCATE_SPREAD
                                : policy < 85 ? SC_ALLOCATE_EVEN_LOAD
                                              : SC_ALLOCATE_CAPABILITY;
        c->aging             = sim_chance(w, 30) ? 0 : sim_between(w, 10 * SC_MS, 60 * SC_S);
        if (sim_chance(w, 20))
                c->aging = SC_NEVER;
        if (!c->calm)
                return;
        c->breaks = c->half_open = c->clogs = c->pauses = c->skew = c->hostile = c->memory = false;
        c->worker_crashes = c->client_crashes = c->scheduler_crashes = c->refused_functions = false;
        c->streams = c->big = c->slow_readers = false;
}

static bool is_full(const struct sim *w)
{
        return w->seed % 50 == 37;
}

/* Of every twelve seeds four, and of every fifty one; none of those that failed once is among them. */
void sim_plan_config(struct sim *w)
{
        const uint64_t which  = w->seed % 12;
        const bool     asked  = which == 1 || which == 4 || which == 7 || which == 9;
        const bool     single = w->config.poison_only || w->config.blips_only; /* they ask one question alone */
        const struct sc_rng before = swap(w, (struct sc_rng){ ~w->seed * UINT64_C(0x9e3779b97f4a7c15) });
        if (is_full(w))
                sim_full_config(w);
        else if (asked && !single)
                choose(w);
        else if (!single && w->seed % 13 != 6)
                sim_keys_config(w);
        swap(w, before);
}

static void plan_order(struct sim *w)
{
        plan_priorities(w);
        plan_tenants(w);
        plan_clients(w);
}

/* When clients cancel all that has a tag; 0 is any. */
static void plan_sweeps(struct sim *w)
{
        for (uint32_t i = 1; i <= w->config.clients; i++)
                for (uint32_t k = 0; k < 2; k++) {
                        if (!sim_chance(w, 60))
                                continue;
                        w->nodes[i].sweep_at[k]  = 1 + (sc_ns)sim_below(w, (uint64_t)w->config.faults_until);
                        w->nodes[i].sweep_tag[k] = (uint32_t)sim_below(w, 3);
                }
}

static void tell_task(uint32_t i, const struct sim_task *t)
{
        printf("task %u: client %u, priority %d, needs %s, %s, from %llu ms, by %llu ms, to %llu ms, retries %u (%s)\n",
               i, t->client, t->priority, t->needs.text, t->tag, (unsigned long long)t->not_before_ms,
               (unsigned long long)t->queue_ms, (unsigned long long)t->deadline_ms, t->retries, t->retry_on);
}

static void tell(const struct sim *w)
{
        static const char *const policies[] = { "spread", "even load", "capability" };
        printf("%s world, %s, aging %.3f s, delays to %.6f s\n", w->config.calm ? "calm" : "faulty",
               policies[w->config.allocate], (double)w->config.aging / 1e9, (double)w->config.delay_max / 1e9);
        for (uint32_t i = 0; i < SIM_TENANTS_MAX; i++)
                printf("tenant %u: weight %u, at most %u tasks and %u runs\n", i, w->tenants[i].weight,
                       w->tenants[i].queued_max, w->tenants[i].running_max);
        for (uint32_t i = 0; i < w->node_count; i++) {
                const struct sim_node *n = &w->nodes[i];
                if (n->kind == SIM_WORKER)
                        printf("worker %u: %u slots, offers %s\n", i, n->slots, n->offers.text);
                else if (n->kind == SIM_CLIENT)
                        printf("client %u: tenant %u, weight %u, at most %u runs\n", i, n->tenant, n->weight,
                               n->running_max);
        }
        for (uint32_t i = 0; i < w->task_count; i++)
                tell_task(i, &w->tasks[i]);
}

void sim_plan(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count; i++)
                w->tasks[i].priority = (int32_t)(i % 3);
        if (w->config.full)
                sim_full_plan(w);
        const struct sc_rng before = swap(w, (struct sc_rng){ w->seed * UINT64_C(0xd1342543de82ef95) });
        for (uint32_t i = 1; i < SIM_TENANTS_MAX; i++)
                snprintf(w->tenants[i].name, sizeof w->tenants[i].name, "t%u", i);
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == SIM_WORKER)
                        plan_offers(w, &w->nodes[i]);
        plan_needs(w);
        if (w->config.shared && !w->config.full)
                plan_order(w);
        sim_times_plan(w);
        sim_keys_plan(w);
        plan_sweeps(w);
        swap(w, before);
        if (w->trace && w->config.shared)
                tell(w);
}
