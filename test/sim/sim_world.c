/*
 * A world from a seed: which faults exist, how many of whom, what the tasks are; then its history, until
 * everybody has left and nothing is left behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static uint64_t running;

uint64_t sim_seed_now(void)
{
        return running;
}

/* ---- the plan ------------------------------------------------------------------------------------------ */

static void choose_faults(struct sim *w)
{
        struct sim_config *c = &w->config;
        c->breaks            = sim_chance(w, 50);
        c->half_open         = sim_chance(w, 30);
        c->clogs             = sim_chance(w, 30);
        c->pauses            = sim_chance(w, 30);
        c->worker_crashes    = sim_chance(w, 40);
        c->client_crashes    = sim_chance(w, 20);
        c->scheduler_crashes = sim_chance(w, 30);
        c->skew              = sim_chance(w, 30);
        c->hostile           = sim_chance(w, 25);
        c->memory            = sim_chance(w, 15);
        c->cancels           = sim_chance(w, 60);
        c->streams           = sim_chance(w, 50);
        c->big               = sim_chance(w, 20);
        c->slow_readers      = sim_chance(w, 30);
        c->refused_functions = sim_chance(w, 15);
}

/* Two kinds of worlds answer one question each: does a poison task harm others, is a run kept over a blip. */
static void choose_kind(struct sim *w)
{
        struct sim_config *c    = &w->config;
        const uint64_t     kind = sim_below(w, 10);
        if (kind > 1)
                return;
        const bool cancels = c->cancels, streams = c->streams, skew = c->skew, hostile = c->hostile;
        memset(c, 0, sizeof *c);
        c->skew        = skew;
        c->poison_only = kind == 0;
        c->blips_only = c->breaks = kind == 1;
        c->streams                = streams;
        c->cancels                = cancels && kind == 0;
        c->hostile                = hostile;
}

/* As little as create allows where tasks are of many kinds; else less than that until the world heals, so that it is
 * short all the time. */
static size_t some_budget(struct sim *w)
{
        const struct sim_config *c = &w->config;
        if (c->shared)
                return (size_t)SC_SCHED_BUDGET_LEAST + (c->big ? (size_t)1 << 20 : 0) + sim_below(w, 4 << 20);
        return c->big ? (size_t)(5 << 20) + sim_below(w, 4 << 20) : (size_t)(640 << 10) + sim_below(w, 512 << 10);
}

/* A third kind asks: a scheduler with little memory and no other trouble, does it lose or charge anything?  Shares are
 * not asked for there: who is granted all there is has it until it needs it no more. */
static void choose_budget(struct sim *w)
{
        struct sim_config *c = &w->config;
        if (w->seed % 13 != 6 || c->poison_only || c->blips_only || c->full)
                return;
        c->breaks = c->half_open = c->clogs = c->pauses = c->hostile = c->memory = false;
        c->worker_crashes = c->client_crashes = c->scheduler_crashes = c->liars = false;
        c->refused_functions = c->calm                               = false; /* links are closed for want of memory */
        c->hostiles = c->tasks_max = c->client_tasks_max = 0;
        c->big                                           = w->seed % 2 == 0;
        c->tasks                                         = 100 + (uint32_t)sim_below(w, 400);
        c->budget = some_budget(w);
}

static void choose_shape(struct sim *w)
{
        struct sim_config *c = &w->config;
        c->clients           = 1 + (uint32_t)sim_below(w, 4);
        c->workers           = 1 + (uint32_t)sim_below(w, 5);
        c->admins            = sim_chance(w, 30);
        c->hostiles          = c->hostile ? 1 + (uint32_t)sim_below(w, 2) : 0;
        c->liars             = c->hostile && !c->poison_only && !c->blips_only && w->seed % 5 == 4;
        c->tasks             = c->poison_only ? 50 : 5 + (uint32_t)sim_below(w, sim_chance(w, 10) ? 500 : 80);
        c->brief = w->seed % 7 == 3;
        if (c->brief && !c->poison_only) {
                c->tasks += 300;
                c->workers = 1 + c->workers % 2;
        }
        if (c->blips_only) {
                c->workers = 1;
                c->clients = 1;
        }
        c->delay_max    = sim_between(w, 10 * SC_US, 200 * SC_MS);
        c->fault_gap    = sim_between(w, 100 * SC_MS, 30 * SC_S);
        c->faults_until = sim_between(w, SC_S, 200 * SC_S);
        c->client_grace = sim_chance(w, 50) ? 0 : sim_between(w, SC_S, 100 * SC_S);
        if (c->blips_only) {
                c->fault_gap    = sim_between(w, 5 * SC_S, 30 * SC_S);
                c->client_grace = 0;
                c->delay_max    = sim_between(w, 10 * SC_US, 20 * SC_MS);
        }
        const bool quiet = c->poison_only || c->blips_only || c->calm || c->keys_quiet;
        if (w->seed % 10 == 0 && !quiet) { /* nothing is ever settled */
                c->breaks       = true;
                c->fault_gap    = 300 * SC_MS;
                c->delay_max    = 200 * SC_MS;
                c->client_grace = SC_S;
        }
        if (sim_chance(w, 20))
                c->tasks_max = 16 + (uint32_t)sim_below(w, 64);
        if (sim_chance(w, 30))
                c->client_tasks_max = 4 + (uint32_t)sim_below(w, 32);
        choose_budget(w);
}

static size_t some_size(struct sim *w, size_t low, size_t high)
{
        return (size_t)sim_between(w, (sc_ns)low, (sc_ns)high);
}

/* Mostly functions, and so short that the next ones are offered ahead; now and then a long one. */
static void make_brief(struct sim *w, struct sim_task *t)
{
        if (sim_chance(w, 97))
                t->kind = SC_TASK_FUNCTION;
        if (sim_chance(w, 80))
                t->submit_at = sim_chance(w, 50) ? 0 : w->config.faults_until / 2;
        t->stream   = t->stream && t->kind == SC_TASK_COMMAND;
        t->duration = sim_chance(w, 2) ? sim_between(w, SC_MS, 10 * SC_S) : sim_between(w, SC_US, 30 * SC_US);
        if (t->cancel_at[0] != 0)
                t->cancel_at[0] = sim_between(w, SC_US, w->config.faults_until);
}

static void plan_task(struct sim *w, uint32_t i)
{
        const struct sim_config *c = &w->config;
        struct sim_task         *t = &w->tasks[i];
        t->client                  = 1 + (uint32_t)sim_below(w, c->clients);
        t->submit_at               = sim_chance(w, 50) ? 0 : (sc_ns)sim_below(w, (uint64_t)c->faults_until);
        t->kind                    = sim_chance(w, 40) ? SC_TASK_COMMAND : SC_TASK_FUNCTION;
        t->function                = (uint32_t)sim_below(w, SIM_FUNCTIONS);
        t->duration                = sim_between(w, SC_US, sim_chance(w, 5) ? 120 * SC_S : 5 * SC_S);
        t->inline_end              = sim_chance(w, 10);
        t->ignores_cancel          = sim_chance(w, 20);
        t->body_len                = some_size(w, 4, c->big && sim_chance(w, 20) ? SC_BODY_MAX : 4096);
        t->result_len              = some_size(w, 8, c->big && sim_chance(w, 20) ? SC_RESULT_MAX : 4096);
        t->stream                  = c->streams && sim_chance(w, 30);
        if (t->stream)
                t->stream_len = sim_chance(w, 10) ? 0 : some_size(w, 8, c->big ? 2 << 20 : 200000);
        if (sim_chance(w, 10))
                t->end = SIM_FAILS;
        else if (c->worker_crashes && sim_chance(w, 3))
                t->end = SIM_POISON;
        if (sim_chance(w, 10))
                t->retries = 1 + (uint32_t)sim_below(w, 3);
        if (t->retries > 0 && t->end == SIM_SUCCEEDS)
                t->fails_first = (uint32_t)sim_below(w, 3);
        if (sim_chance(w, 8))
                t->timeout_ms = 1 + sim_below(w, 5000);
        if (c->cancels && sim_chance(w, 25)) {
                if (sim_chance(w, 20))
                        t->duration = sim_between(w, 20 * SC_S, 120 * SC_S);
                t->cancel_at[0] = sim_between(w, SC_US, 2 * t->duration + SC_S);
                t->force[0]     = sim_chance(w, 50);
                if (sim_chance(w, 30)) {
                        t->cancel_at[1] = t->cancel_at[0] + sim_between(w, SC_US, SC_S);
                        t->force[1]     = true;
                }
        }
        if (c->brief)
                make_brief(w, t);
        if (c->blips_only || c->rolling)
                t->retries = t->fails_first = 0; /* a new scheduler counts anew */
        if (c->blips_only)
                t->timeout_ms = 0;
}

static void plan_poison(struct sim *w)
{
        if (!w->config.poison_only)
                return;
        for (uint64_t left = 1 + sim_below(w, 3); left > 0; left--) {
                struct sim_task *t = &w->tasks[sim_below(w, w->task_count)];
                t->end             = SIM_POISON;
                t->duration        = sim_between(w, SC_US, SC_S);
                t->cancel_at[0] = t->cancel_at[1] = 0;
        }
}

static void plan_tasks(struct sim *w)
{
        w->task_count = w->config.tasks;
        w->tasks      = sc_mem_zalloc(&w->mem, w->task_count * sizeof *w->tasks);
        SC_ASSERT(w->tasks != NULL);
        for (uint32_t i = 0; i < w->task_count; i++)
                plan_task(w, i);
        plan_poison(w);
}

static struct sim_node *add_node(struct sim *w, enum sim_kind kind)
{
        struct sim_node *n = &w->nodes[w->node_count++];
        n->kind            = kind;
        sc_list_init(&n->inbox);
        n->clock_offset = (sc_ns)sim_below(w, (uint64_t)(1000000 * SC_S));
        if (w->config.skew)
                n->clock_ppm = (int64_t)sim_below(w, 40000) - 20000;
        n->slots     = 1 + (uint32_t)sim_below(w, 8);
        n->functions = w->config.refused_functions ? (uint32_t)sim_below(w, 1u << SIM_FUNCTIONS)
                                                   : (1u << SIM_FUNCTIONS) - 1;
        return n;
}

static void plan_nodes(struct sim *w)
{
        const struct sim_config *c = &w->config;
        add_node(w, SIM_SCHEDULER);
        for (uint32_t i = 0; i < c->clients; i++)
                add_node(w, SIM_CLIENT);
        for (uint32_t i = 0; i < c->workers; i++)
                add_node(w, SIM_WORKER);
        for (uint32_t i = 0; i < c->admins; i++)
                add_node(w, SIM_ADMIN);
        for (uint32_t i = 0; i < c->hostiles; i++)
                add_node(w, SIM_HOSTILE);
        sim_nested_nodes(w, add_node);
}

/* ---- its end --------------------------------------------------------------------------------------------- */

static bool all(const struct sim *w, enum sim_kind kind, bool (*holds)(const struct sim_node *n))
{
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == kind && !holds(&w->nodes[i]))
                        return false;
        return true;
}

static bool is_alive(const struct sim_node *n)
{
        return n->alive;
}

static bool has_left(const struct sim_node *n)
{
        const struct sc_station *station = n->cli != NULL ? sc_cli_shell_station(n->cli)
                                                          : sc_work_shell_station(n->work);
        return n->alive && n->closed && sc_station_links(station) == 0;
}

static void leave_all(struct sim *w, enum sim_kind kind)
{
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == kind && w->nodes[i].alive && !w->nodes[i].closing)
                        sim_client_close(w, i);
}

static bool scheduler_is_empty(const struct sim *w, uint32_t links)
{
        const struct sim_node *n = &w->nodes[0];
        return n->alive && sc_sched_rows(sc_sched_shell_core(n->sched)) == 0 &&
               sc_station_links(sc_sched_shell_station(n->sched)) <= links;
}

static void advance(struct sim *w)
{
        if (w->phase == 0) {
                if (w->ended_count + w->gone_count < w->task_count || !all(w, SIM_CLIENT, is_alive) ||
                    !all(w, SIM_WORKER, is_alive) || !all(w, SIM_SCHEDULER, is_alive))
                        return;
                for (uint32_t i = 0; i < w->task_count; i++) /* confirms may still be under way */
                        if (!w->tasks[i].orphaned && w->tasks[i].cancels > 0 && w->tasks[i].confirms == 0)
                                return;
                if (sim_times_unanswered(w) != 0)
                        return;
                if (w->config.graphs && sc_sched_rows(sc_sched_shell_core(w->nodes[0].sched)) > 0)
                        return; /* nobody reads anything any more */
                w->phase = 1;
        }
        if (w->phase >= 1) { /* again, for those that were started anew meanwhile */
                leave_all(w, SIM_CLIENT);
                leave_all(w, SIM_ADMIN);
        }
        if (w->phase >= 2)
                leave_all(w, SIM_WORKER);
        if (w->phase == 1 && all(w, SIM_CLIENT, has_left) && all(w, SIM_ADMIN, has_left) &&
            scheduler_is_empty(w, w->config.workers)) {
                w->phase = 2;
        } else if (w->phase == 2 && all(w, SIM_WORKER, has_left) && scheduler_is_empty(w, 0)) {
                w->phase = 3;
        }
}

static void tell_stats(struct sim *w)
{
        if (w->nodes[0].alive) {
                struct sc_status_row row;
                sc_sched_stats(sc_sched_shell_core(w->nodes[0].sched), sim_node_now(w, 0), &row);
                fprintf(stderr,
                        "scheduler: %u clients, %u workers, waiting %u, ready %u, assigned %u, ended %u, bytes %llu of "
                        "%llu, tasks_max %u\n",
                        row.clients, row.workers, row.tasks_waiting, row.tasks_ready, row.tasks_assigned,
                        row.tasks_ended_unacked, (unsigned long long)row.bytes_used, (unsigned long long)row.bytes_max,
                        row.tasks_max);
        }
        for (uint32_t i = 1; i < w->node_count; i++) {
                const struct sim_node *n = &w->nodes[i];
                struct sc_cli_stats    cli;
                struct sc_work_stats   work;
                if (n->cli != NULL) {
                        sc_cli_stats(sc_cli_shell_core(n->cli), &cli);
                        fprintf(stderr, "client %u: pending %u, unsent %u, grant %u and %u KiB, connected %d\n", i,
                                cli.pending, cli.unsent, cli.grant_tasks, cli.grant_kib, cli.connected);
                } else if (n->work != NULL) {
                        sc_work_stats(sc_work_shell_core(n->work), &work);
                        fprintf(stderr, "worker %u: slots %u, running %u, queued %u, unconfirmed %u, abandoned %u\n", i,
                                work.slots, work.running, work.queued, work.unconfirmed, work.abandoned);
                }
        }
}

static void why_not(struct sim *w)
{
        tell_stats(w);
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (!t->orphaned && (!t->ended || (t->cancels > 0 && t->confirms == 0)))
                        sim_fail(w,
                                 "task %u of client %u (%s%s): submitted %d, started %u, assigned %u, ended %d, "
                                 "cancels %u, confirms %u",
                                 i, t->client, t->kind == SC_TASK_COMMAND ? "command" : "function",
                                 t->stream ? ", stream" : "", t->submitted, t->starts, t->assigns, t->ended, t->cancels,
                                 t->confirms);
        }
        if (sim_times_unanswered(w) != 0)
                sim_fail(w, "client %u waits for the answer to a cancel of many", sim_times_unanswered(w));
        for (uint32_t i = 1; i < w->node_count; i++)
                if (w->nodes[i].kind != SIM_HOSTILE && !has_left(&w->nodes[i]))
                        sim_fail(w, "phase %d: node %u does not leave (alive %d, closed %d)", w->phase, i,
                                 w->nodes[i].alive, w->nodes[i].closed);
        sim_fail(w, "phase %d: the scheduler keeps %u rows and %u links", w->phase,
                 w->nodes[0].alive ? sc_sched_rows(sc_sched_shell_core(w->nodes[0].sched)) : 0,
                 w->nodes[0].alive ? sc_station_links(sc_sched_shell_station(w->nodes[0].sched)) : 0);
}

static void end_event(struct sim *w, struct sim_event *ev)
{
        (void)ev;
        sim_links_cancels(w);
        sim_graph_rows(w);
        sim_nested_prune(w);
        if (w->healed) {
                sim_judge_cancels(w);
                advance(w);
        }
        if (w->phase == 3)
                return;
        if (w->now > w->config.finish_by)
                why_not(w);
        sim_at(w, w->now + SC_S, end_event);
}

static void post_query(struct sim *w, struct sim_post *post)
{
        struct sim_node          *n     = &w->nodes[post->node];
        const struct sc_query_msg query = { .ticket   = (uint32_t)++n->raw_seq,
                                            .what     = (uint8_t)(1 + sim_below(w, 4)),
                                            .rows_max = 1 + (uint32_t)sim_below(w, 256) };
        if (!n->closing)
                sc_cli_shell_query(n->cli, &query, sim_node_now(w, post->node));
}

static void query_event(struct sim *w, struct sim_event *ev)
{
        if (w->healed)
                return;
        if (w->nodes[ev->node].alive)
                sim_post(w, ev->node, post_query);
        sim_at_node(w, w->now + sim_between(w, SC_MS, 5 * SC_S), ev->node, query_event);
}

/* ---- a world ------------------------------------------------------------------------------------------------ */

static bool sooner(const void *a, const void *b)
{
        const struct sim_event *left = a, *right = b;
        return left->at != right->at ? left->at < right->at : left->order < right->order;
}

static void moved(void *item, size_t position)
{
        (void)item;
        (void)position;
}

static void make(struct sim *w)
{
        sc_mem_init_libc(&w->mem);
        sc_heap_init(&w->events, &w->mem, sooner, moved);
        sc_map_init(&w->by_id, &w->mem);
        sc_codec_arena_init(&w->arena, &w->mem);
        w->rng.state = w->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
        choose_faults(w);
        choose_kind(w);
        sim_plan_config(w);
        sim_nested_config(w);
        sim_graph_config(w);
        sim_drain_config(w);
        choose_shape(w);
        sim_nested_shape(w);
        sim_drain_shape(w);
        w->nodes      = sc_mem_zalloc(&w->mem, SIM_NODES_MAX * sizeof *w->nodes);
        w->pattern    = sc_mem_alloc(&w->mem, 1 << 20);
        SC_ASSERT(w->nodes != NULL && w->pattern != NULL);
        for (size_t i = 0; i < 1 << 20; i += 8) {
                const uint64_t bits = sc_rng_next(&w->rng);
                memcpy(w->pattern + i, &bits, 8);
        }
        if (w->config.full) {
                sim_full_shape(w);
                plan_nodes(w);
        } else {
                plan_tasks(w);
                plan_nodes(w);
        }
        sim_plan(w);
        sim_graph_plan(w);
        sim_nested_plan(w);
        sc_ns work = 0;
        for (uint32_t i = 0; i < w->task_count; i++)
                work += w->tasks[i].duration * 2 * (1 + (sc_ns)w->tasks[i].retries) +
                        (w->config.slow_readers && w->tasks[i].stream ? 60 * SC_S : 0);
        w->config.finish_by = w->config.faults_until + 1200 * SC_S + 4 * work;
}

static void unmake(struct sim *w)
{
        sim_nodes_free(w);
        for (struct sim_event *ev; (ev = sc_heap_pop(&w->events)) != NULL; free(ev)) {
                /* Packets on the way are the only things an event owns. */
                struct sim_packet *packet = ev->b == SIM_OWNS_PACKET ? ev->ptr : NULL;
                if (packet != NULL)
                        free(packet->bytes);
                free(packet);
        }
        sim_net_fini(w);
        for (int i = 0; i < 64; i++)
                free(w->replay[i]);
        sc_mem_release(&w->mem, w->execs, w->execs_cap * sizeof *w->execs);
        sc_mem_release(&w->mem, w->aliases, w->aliases_cap * sizeof *w->aliases);
        sc_mem_release(&w->mem, w->owed, w->owed_cap * sizeof *w->owed);
        sc_mem_release(&w->mem, w->tasks, w->task_count * sizeof *w->tasks);
        sc_mem_release(&w->mem, w->nodes, SIM_NODES_MAX * sizeof *w->nodes);
        sc_mem_release(&w->mem, w->pattern, 1 << 20);
        sc_heap_fini(&w->events);
        sc_map_fini(&w->by_id);
        sc_codec_arena_fini(&w->arena);
        if (w->mem.used != 0)
                sim_fail(w, "the simulator itself leaks");
}

uint64_t sim_run(uint64_t seed, bool trace)
{
        struct sim *w = calloc(1, sizeof *w);
        if (w == NULL)
                abort();
        running  = seed;
        w->seed  = seed;
        w->trace = trace;
        make(w);
        for (uint32_t i = 0; i < w->node_count; i++) {
                const bool  at_once = w->config.blips_only || w->config.full;
                const sc_ns at      = at_once ? 0 : (sc_ns)sim_below(w, (uint64_t)SC_S);
                sim_node_restart_at(w, i, at);
                if (w->nodes[i].kind == SIM_ADMIN)
                        sim_at_node(w, at + SC_S, i, query_event);
        }
        sim_faults_begin(w);
        sim_drain_begin(w);
        sim_at(w, SC_S, end_event);
        while (w->phase < 3)
                if (!sim_step(w))
                        sim_fail(w, "nothing left to happen");
        sim_judge_losses(w);
        sim_judge_end(w);
        sim_drain_judge_end(w);
        sim_nested_judge_end(w);
        unmake(w);
        const uint64_t hash = w->hash;
        free(w);
        return hash;
}
