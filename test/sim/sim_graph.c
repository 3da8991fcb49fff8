/*
 * Tasks that depend on tasks: in worlds of their own some of a client's tasks come after earlier ones of it, or read
 * their results, and some are graphs, whose nodes are handed over in one go as the client's role does it.  What a task
 * makes of its arguments is a number that depends on nothing else, so a sequential evaluation knows it when the
 * task is submitted.
 */
#include <stdlib.h>
#include <string.h>

#include "after.h"
#include "sim.h"

enum { NODES_MAX = 40, LONG_AGO = 20, VALUE_AT = 8 };

/* ---- the world ------------------------------------------------------------------------------------------- */

static struct sc_rng swap(struct sim *w, struct sc_rng rng)
{
        const struct sc_rng before = w->rng;
        w->rng                     = rng;
        return before;
}

/* Some five of every 27 seeds, if they are nothing special otherwise; none of those that had failed before there were
 * graphs is among them. */
void sim_graph_config(struct sim *w)
{
        struct sim_config *c     = &w->config;
        const bool         asked = w->seed % 11 == 0 || w->seed % 17 == 13 || w->seed % 17 == 15;
        const bool         other = c->shared || c->full || c->keys || c->nested || c->poison_only || c->blips_only;
        if (!asked || other || w->seed % 13 == 6)
                return;
        const struct sc_rng before = swap(w, (struct sc_rng){ ~w->seed * UINT64_C(0xa0761d6478bd642f) });
        c->graphs                  = true;
        c->calm                    = sim_chance(w, 40);
        if (c->calm) {
                c->breaks = c->half_open = c->clogs = c->pauses = c->skew = c->hostile = c->memory = false;
                c->worker_crashes = c->client_crashes = c->scheduler_crashes = c->refused_functions = false;
                c->slow_readers = false;
        }
        swap(w, before);
}

static bool has_future(const struct sim_task *t)
{
        return t->kind != SC_TASK_GRAPH && !t->inner;
}

static void depend(struct sim *w, uint32_t task, uint32_t on, bool read)
{
        struct sim_task *t = &w->tasks[task];
        for (uint32_t i = 0; i < t->dep_count; i++)
                if (t->deps[i].task == on)
                        return;
        if (t->dep_count == SIM_DEPS_MAX)
                return;
        t->deps[t->dep_count++] = (struct sim_dep){ .task = on, .read = read };
        if (!read)
                return;
        t->kind   = SC_TASK_FUNCTION;
        t->stream = false;
}

/* Reads come first. */
static void put_in_order(struct sim_task *t)
{
        for (uint32_t i = 1; i < t->dep_count; i++)
                for (uint32_t k = i; k > 0 && t->deps[k].read && !t->deps[k - 1].read; k--) {
                        const struct sim_dep dep = t->deps[k];
                        t->deps[k]               = t->deps[k - 1];
                        t->deps[k - 1]           = dep;
                }
}

/* On some of those that the client has submitted not long before; own: its tasks, in order. */
static void depend_on_earlier(struct sim *w, const uint32_t *own, uint32_t at, uint32_t task)
{
        for (uint64_t left = 1 + sim_below(w, 3); left > 0 && at > 0; left--) {
                const uint64_t back = 1 + sim_below(w, at < LONG_AGO ? at : LONG_AGO);
                const bool     read = sim_chance(w, 60);
                if (has_future(&w->tasks[own[at - back]]))
                        depend(w, task, own[at - back], read);
        }
}

enum shape { CHAIN, FAN_OUT, FAN_IN, LAYERS, RANDOM, SHAPES };

/* The node at place k (from 1) of those that follow `own[0]`. */
static void depend_on_nodes(struct sim *w, const uint32_t *own, uint32_t k, uint32_t nodes, enum shape shape)
{
        const bool read = sim_chance(w, 70);
        if (shape == CHAIN && k > 1)
                depend(w, own[k], own[k - 1], read);
        if (shape == FAN_OUT && k > 1)
                depend(w, own[k], own[1], read);
        for (uint32_t i = 1; shape == FAN_IN && k == nodes && i < k; i++)
                depend(w, own[k], own[i], sim_chance(w, 70));
        for (uint32_t i = 1; shape == LAYERS && i <= 3; i++)
                if ((k - 1) / 3 > 0)
                        depend(w, own[k], own[((k - 1) / 3 - 1) * 3 + i], read);
        for (uint64_t left = sim_below(w, 5); shape == RANDOM && left > 0 && k > 1; left--)
                depend(w, own[k], own[1 + sim_below(w, k - 1)], sim_chance(w, 70));
}

static void make_head(struct sim *w, uint32_t task, uint32_t nodes)
{
        struct sim_task *t = &w->tasks[task];
        t->kind            = SC_TASK_GRAPH;
        t->nodes           = nodes;
        t->end             = SIM_SUCCEEDS;
        t->fail_fast       = sim_chance(w, 30);
        t->body_len        = 0;
        t->stream = t->inline_end = t->ignores_cancel = false;
        t->retries = t->fails_first = 0;
        t->timeout_ms               = 0;
        t->duration                 = 0;
        if (sim_chance(w, 60))
                t->cancel_at[0] = t->cancel_at[1] = 0;
}

/* Nobody has a future for a node that others depend on, mostly. */
static void choose_targets(struct sim *w, const uint32_t *own, uint32_t nodes)
{
        bool needed[NODES_MAX + 1] = { false };
        for (uint32_t k = nodes; k > 0; k--) {
                struct sim_task *t = &w->tasks[own[k]];
                t->inner           = needed[k] && sim_chance(w, 75);
                for (uint32_t i = 0; i < t->dep_count; i++)
                        for (uint32_t n = 1; n < k; n++)
                                needed[n] = needed[n] || own[n] == t->deps[i].task;
                if (!t->inner)
                        continue;
                t->stream       = false;
                t->cancel_at[0] = t->cancel_at[1] = 0;
        }
}

static void make_graph(struct sim *w, const uint32_t *own, uint32_t at, uint32_t nodes)
{
        const enum shape shape = (enum shape)sim_below(w, SHAPES);
        make_head(w, own[at], nodes);
        for (uint32_t k = 1; k <= nodes; k++) {
                struct sim_task *t = &w->tasks[own[at + k]];
                t->head            = own[at] + 1;
                t->submit_at       = w->tasks[own[at]].submit_at;
                depend_on_nodes(w, own + at, k, nodes, shape);
                if (at > 0 && sim_chance(w, 10))
                        depend_on_earlier(w, own, at, own[at + k]);
                put_in_order(t);
        }
        choose_targets(w, own + at, nodes);
}

/* Others keep room for one task each, whatever they do: what leaves none for them is either refused or not asked. */
static uint32_t fitting(const struct sim *w, uint32_t nodes)
{
        const struct sim_config *c    = &w->config;
        const uint32_t           most = c->tasks_max - c->tasks_max / 16;
        const uint32_t           kept = c->clients + 1;
        if (c->tasks_max == 0 || nodes + 1 > most || nodes + 1 + kept <= most)
                return nodes;
        return most > kept + 1 ? most - kept - 1 : 0;
}

static void plan_client(struct sim *w, const uint32_t *own, uint32_t count)
{
        for (uint32_t at = 0; at < count;) {
                const uint32_t left  = count - at - 1;
                const uint32_t most  = left < NODES_MAX ? left : NODES_MAX;
                uint32_t       nodes = 0;
                if (most > 0 && sim_chance(w, 35))
                        nodes = fitting(w, 1 + (uint32_t)sim_below(w, most));
                if (nodes > 0) {
                        make_graph(w, own, at, nodes);
                } else if (sim_chance(w, 50)) {
                        depend_on_earlier(w, own, at, own[at]);
                        put_in_order(&w->tasks[own[at]]);
                }
                at += nodes + 1;
        }
}

void sim_graph_plan(struct sim *w)
{
        uint32_t *own = malloc((w->task_count + 1) * sizeof *own);
        if (own == NULL)
                abort();
        const struct sc_rng before = swap(w, (struct sc_rng){ w->seed * UINT64_C(0xe7037ed1a0b428db) });
        for (uint32_t client = 1; w->config.graphs && client <= w->config.clients; client++) {
                uint32_t count = 0;
                for (uint32_t i = 0; i < w->task_count; i++) {
                        struct sim_task *t = &w->tasks[i];
                        if (t->client != client)
                                continue;
                        own[count++]  = i;
                        t->result_len = t->result_len < 2 * VALUE_AT ? 2 * VALUE_AT : t->result_len;
                        if (w->config.calm && sim_chance(w, 70))
                                t->timeout_ms = 0;
                }
                plan_client(w, own, count);
        }
        swap(w, before);
        free(own);
}

/* ---- submitting -------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
        a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
        return (a ^ a >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void evaluate(struct sim *w, uint32_t task)
{
        struct sim_task *t = &w->tasks[task];
        t->value           = mix(w->seed, task);
        for (uint32_t i = 0; i < t->dep_count; i++)
                if (t->deps[i].used && t->deps[i].read)
                        t->value = mix(t->value, w->tasks[t->deps[i].task].value);
}

/* As an execution of the task gives it. */
void sim_graph_result(const struct sim *w, uint32_t task, uint64_t exec, uint8_t *bytes)
{
        const struct sim_task *t = &w->tasks[task];
        memcpy(bytes, &exec, sizeof exec);
        for (size_t i = VALUE_AT; i < t->result_len; i++)
                bytes[i] = sim_byte(w, exec, i - VALUE_AT);
        memcpy(bytes + VALUE_AT, &t->value, sizeof t->value);
}

static void tell_ended(struct sim *w, const struct sim_task *of, struct sim_deps *d, bool read)
{
        struct sc_view *result = &d->results[d->plan.results.count];
        if (of->reason != SC_REASON_SUCCESS && d->plan.root_reason == 0) {
                d->plan.root        = of->root != 0 ? of->root : of->id.lo;
                d->plan.root_reason = of->root != 0 ? of->root_reason : of->reason;
        }
        if (!read)
                return;
        *result = (struct sc_view){ "", 0 };
        if (of->reason == SC_REASON_SUCCESS) {
                uint8_t *bytes = malloc(of->result_len);
                if (bytes == NULL)
                        abort();
                sim_graph_result(w, (uint32_t)(of - w->tasks), of->final_exec, bytes);
                d->bytes[d->plan.results.count] = bytes;
                *result                         = (struct sc_view){ bytes, of->result_len };
        }
        d->plan.results.count++;
}

/* What of its dependencies is still ours: a client that was started anew knows nothing of what was before. */
void sim_graph_fill(struct sim *w, uint32_t task, struct sim_deps *d)
{
        struct sim_task *t     = &w->tasks[task];
        uint32_t         count = 0;
        const uint64_t   owner = w->nodes[t->client].id;
        for (uint32_t i = 0; i < t->dep_count; i++) {
                const struct sim_task *of = &w->tasks[t->deps[i].task];
                uint64_t               entry = of->id.lo;
                t->deps[i].used              = of->submitted && !of->orphaned && of->id.hi == owner;
                if (!t->deps[i].used)
                        continue;
                if (of->ended && !of->inner) {
                        entry = SC_AFTER_ENDED;
                        tell_ended(w, of, d, t->deps[i].read);
                }
                sc_after_put(d->after, count++, entry | (t->deps[i].read ? SC_AFTER_READ : 0));
        }
        evaluate(w, task);
        d->plan.after       = (struct sc_view){ d->after, 8 * count };
        d->plan.results.at  = d->results;
        d->plan.nodes       = t->nodes;
        d->plan.graph       = t->head != 0 ? w->tasks[t->head - 1].id.lo : 0;
        d->plan.graph_flags = (t->inner ? SC_GRAPH_INNER : 0u) | (t->fail_fast ? SC_GRAPH_FAIL_FAST : 0u);
}

void sim_deps_free(struct sim_deps *d)
{
        for (uint32_t i = 0; i < SIM_DEPS_MAX; i++)
                free(d->bytes[i]);
}

/* ---- running ------------------------------------------------------------------------------------------------- */

static void check_input(struct sim *w, uint32_t task, uint32_t of, const struct sc_view *input)
{
        const struct sim_task *dep   = &w->tasks[of];
        const uint8_t         *bytes = input->ptr;
        uint64_t               exec, value;
        if (input->len != dep->result_len)
                sim_fail(w, "task %u reads %zu bytes of task %u, which gives %zu", task, input->len, of,
                         dep->result_len);
        memcpy(&exec, bytes, sizeof exec);
        memcpy(&value, bytes + VALUE_AT, sizeof value);
        if (exec == 0 || exec > w->execs_count || w->execs[exec - 1].task != of)
                sim_fail(w, "task %u reads something else for task %u", task, of);
        if (!w->execs[exec - 1].finished || !w->execs[exec - 1].success)
                sim_fail(w, "task %u reads what execution %llu of task %u did not give", task, (unsigned long long)exec,
                         of);
        if (value != dep->value)
                sim_fail(w, "task %u reads another value of task %u than a sequential evaluation gives", task, of);
        for (size_t i = 2 * VALUE_AT; i < input->len; i++)
                if (bytes[i] != sim_byte(w, exec, i - VALUE_AT))
                        sim_fail(w, "task %u: what it reads of task %u is wrong at byte %zu", task, of, i);
}

/* A run reaches its worker: all it waits for has succeeded, and it has all it reads, in order. */
void sim_graph_assigned(struct sim *w, uint32_t task, const struct sc_plan *plan)
{
        const struct sim_task *t     = &w->tasks[task];
        uint32_t               count = 0;
        if (t->kind == SC_TASK_GRAPH)
                sim_fail(w, "task %u is a graph, and a worker is to run it", task);
        for (uint32_t i = 0; i < t->dep_count; i++) {
                if (!t->deps[i].used)
                        continue;
                if (!w->tasks[t->deps[i].task].good)
                        sim_fail(w, "task %u runs before task %u has succeeded", task, t->deps[i].task);
                if (!t->deps[i].read)
                        continue;
                if (plan == NULL || count == plan->results.count)
                        sim_fail(w, "task %u lacks what it reads of task %u", task, t->deps[i].task);
                check_input(w, task, t->deps[i].task, &plan->results.at[count++]);
        }
        if (plan != NULL && count != plan->results.count)
                sim_fail(w, "task %u is given %u results and reads %u", task, plan->results.count, count);
}

/* An execution of it has ended well. */
void sim_graph_ran(struct sim *w, uint32_t task)
{
        struct sim_task *t = &w->tasks[task];
        t->good_at         = t->good ? t->good_at : w->now;
        t->good            = true;
}
