/*
 * Nodes and graphs.  A graph is a row of its own, which waits for all the nodes that name it, counts how they
 * end, and ends when the last of them has; it runs nothing.  Nodes come after it and in an order in which
 * everything is submitted before it is named.  As long as nodes are missing nothing that has ended is forgotten, since
 * one to come may read it.
 */
#include "sched_state.h"

#include <string.h>

#include "after.h"
#include "sc_assert.h"

struct sched_node *sc_sched_node(const struct sched_task *t)
{
        if (!(t->flags & SCHED_NODE) || t->kind == SC_TASK_GRAPH)
                return NULL;
        return (struct sched_node *)(void *)t->block;
}

struct sched_graph *sc_sched_graph(const struct sched_task *t)
{
        SC_ASSERT(t->kind == SC_TASK_GRAPH);
        return (struct sched_graph *)(void *)t->block;
}

static struct sched_graph *graph_at(const struct sc_sched *s, uint32_t row)
{
        return sc_sched_graph(sc_sched_row(s, row));
}

/* ---- what a client may say ---------------------------------------------------------------------*/

static bool is_node(const struct sc_spec *spec)
{
        const struct sc_plan *p = spec->plan;
        return p && (p->after.len > 0 || p->graph != 0 || p->root_reason != 0);
}

/* Every dependency is older and there, or ended with a constant for each that is read; reads come first. */
static const char *after_fault(const struct sc_sched *s, const struct sc_submit *m)
{
        const struct sc_plan *p     = m->spec.plan;
        uint32_t              known = 0;
        bool                  reads = true;
        if (p->after.len % 8 != 0 || p->after.len / 8 > SC_AFTER_MAX)
                return "a list of dependencies that is none";
        for (uint32_t i = 0; i < p->after.len / 8; i++) {
                const uint64_t entry = sc_after_get(p->after, i);
                const bool     read  = (entry & SC_AFTER_READ) != 0;
                if (read && !reads)
                        return "a read after other dependencies";
                reads = read;
                if (entry & SC_AFTER_ENDED) {
                        known += read;
                        continue;
                }
                const struct sc_id id = { m->task.hi, entry & SC_AFTER_SEQUENCE };
                const struct sched_task *t = id.lo < m->task.lo ? sc_sched_find(s, id) : NULL;
                if (!t || t->state == SC_STATE_ORPHAN || t->kind == SC_TASK_GRAPH)
                        return "a dependency that is not there";
        }
        return known == p->results.count ? NULL : "not one constant for each read that has ended";
}

static const char *member_fault(const struct sc_sched *s, const struct sc_submit *m)
{
        const struct sched_task *g = sc_sched_find(s, (struct sc_id){ m->task.hi, m->spec.plan->graph });
        if (!g || g->kind != SC_TASK_GRAPH || g->state != SC_STATE_WAITING)
                return "a graph that is not there";
        const struct sched_graph *graph = sc_sched_graph(g);
        return graph->admitted < graph->nodes ? NULL : "more nodes than its graph has";
}

static const char *graph_fault(const struct sc_spec *spec)
{
        if (!spec->plan || spec->plan->nodes == 0)
                return "a graph without nodes";
        if (is_node(spec))
                return "a graph that depends on something";
        const struct sc_plan *p = spec->plan;
        if (spec->function.len > 0 || spec->body.len > 0 || spec->timeout_ms > 0 || p->not_before_ms > 0 ||
            p->queue_ms > 0 || p->deadline_ms > 0 || p->results.count > 0 || p->key.len > 0)
                return "a graph that runs something";
        return NULL;
}

const char *sc_sched_node_fault(const struct sc_sched *s, const struct sc_submit *m)
{
        const struct sc_plan *p = m->spec.plan;
        if (m->spec.kind == SC_TASK_GRAPH)
                return graph_fault(&m->spec);
        if (!p)
                return NULL;
        if (p->key.len > 0 && (is_node(&m->spec) || (m->spec.flags & SC_SPEC_STREAM)))
                return "a task with a key that depends on something, is in a graph, or streams";
        if (p->nodes != 0 || p->root_reason >= SC_REASONS || (p->graph == 0 && (p->graph_flags & SC_GRAPH_INNER)))
                return "a plan that does not belong to its kind of task";
        const char *fault = after_fault(s, m);
        return !fault && p->graph != 0 ? member_fault(s, m) : fault;
}

/* ---- admission ---------------------------------------------------------------------------------*/

size_t sc_sched_node_size(const struct sc_spec *spec)
{
        if (spec->kind == SC_TASK_GRAPH)
                return sizeof(struct sched_graph);
        return is_node(spec) ? sizeof(struct sched_node) : 0;
}

size_t sc_sched_constants_size(const struct sc_spec *spec)
{
        size_t size = 0;
        for (uint32_t i = 0; spec->plan && i < spec->plan->results.count; i++)
                size += spec->plan->results.at[i].len;
        return size;
}

static uint32_t edge_count(const struct sc_spec *spec)
{
        return spec->plan ? (uint32_t)(spec->plan->after.len / 8) : 0;
}

/* Edges, and room to hand what they read to a worker beside a step's other inputs. */
bool sc_sched_node_reserve(struct sc_sched *s, const struct sc_spec *spec)
{
        uint32_t count = edge_count(spec), need = count + SCHED_INPUTS_STEP;
        if (!sc_sched_edges_reserve(s, count))
                return false;
        if (count > 0 && !s->told)
                s->told = sc_mem_array(s->mem, SC_EFFECTS_MAX, sizeof *s->told);
        if (count > 0 && !s->told)
                return false;
        if (count == 0 || need <= s->inputs_cap)
                return true;
        SC_ASSERT(s->inputs_used == 0);
        struct sc_view *inputs = sc_mem_array(s->mem, need, sizeof *inputs);
        if (!inputs)
                return false;
        sc_mem_release(s->mem, s->inputs, s->inputs_cap * sizeof *inputs);
        s->inputs     = inputs;
        s->inputs_cap = need;
        return true;
}

static void graph_fill(struct sched_task *t, const struct sc_plan *plan)
{
        struct sched_graph *g = sc_sched_graph(t);
        *g = (struct sched_graph){ .self = t->self, .nodes = plan->nodes, .flags = (uint8_t)plan->graph_flags,
                                   .cursor = SCHED_NONE };
        sc_sched_queue_init(&g->open);
        sc_list_init(&g->todo);
}

static void constants_fill(struct sched_task *t, const struct sc_plan *plan)
{
        uint8_t *at = (uint8_t *)(uintptr_t)sc_sched_constants(t).ptr;
        for (uint32_t i = 0; i < plan->results.count; i++) {
                if (plan->results.at[i].len > 0)
                        memcpy(at, plan->results.at[i].ptr, plan->results.at[i].len);
                at += plan->results.at[i].len;
        }
}

/* The block is there, with a plan in it if it has one; of the node nothing is written yet. */
void sc_sched_node_fill(struct sc_sched *s, struct sched_task *t, const struct sc_spec *spec)
{
        const struct sc_plan *plan = spec->plan;
        t->flags |= SCHED_NODE;
        if (t->kind == SC_TASK_GRAPH) {
                graph_fill(t, plan);
                return;
        }
        struct sched_node *node = sc_sched_node(t);
        *node = (struct sched_node){ .graph = SCHED_NONE, .edges = SCHED_NONE };
        node->constants = (uint32_t)sc_sched_constants_size(spec);
        node->weight    = node->constants + (uint32_t)plan->after.len;
        if (node->constants > 0)
                constants_fill(t, plan);
        if (plan->graph != 0) {
                struct sched_task *head = sc_sched_find(s, (struct sc_id){ t->id.hi, plan->graph });
                node->graph             = head->self;
                t->flags |= SCHED_IN_GRAPH | (plan->graph_flags & SC_GRAPH_INNER ? SCHED_INNER : 0u);
        }
        sc_sched_edges_add(s, t, plan);
        if (plan->root_reason != 0)
                sc_sched_break(node, plan->root, (uint8_t)plan->root_reason);
        if (node->graph != SCHED_NONE && graph_at(s, node->graph)->dead)
                sc_sched_break(node, plan->graph, SC_REASON_CANCELLED);
        if (node->root_reason == 0 && node->waiting == 0 && sc_sched_node_is_too_big(t, node))
                sc_sched_break(node, t->id.lo, SC_REASON_LIMIT);
        if (node->waiting > 0 || node->root_reason != 0)
                t->flags |= SCHED_BLOCKED;
}

/* It waits, perhaps once more: for nothing if it is broken. */
void sc_sched_node_waits(struct sc_sched *s, struct sched_task *t)
{
        const struct sched_node *node = sc_sched_node(t);
        if (node && node->root_reason != 0)
                sc_sched_mark(s, t);
}

static void todo(struct sc_sched *s, struct sched_graph *g)
{
        if (sc_list_empty(&g->todo))
                sc_list_add_tail(&s->graphs, &g->todo);
}

void sc_sched_node_admitted(struct sc_sched *s, struct sched_task *t, struct sc_out *out)
{
        const struct sched_node *node = sc_sched_node(t);
        if (!node)
                return;
        if (node->graph == SCHED_NONE)
                return;
        struct sched_graph *g = graph_at(s, node->graph);
        g->live++;
        if (++g->admitted == g->nodes)
                todo(s, g);
        if (g->dead && sc_task_is_held(t->state))
                sc_sched_stop(s, t, g->force, out);
}

/* ---- a run's inputs ----------------------------------------------------------------------------*/

bool sc_sched_node_is_too_big(const struct sched_task *t, const struct sched_node *node)
{
        return node->inputs > 0 && node->input_bytes + sc_sched_body(t).len > SC_BODY_MAX;
}

void sc_sched_inputs(struct sc_sched *s, const struct sched_task *t, struct sc_spec *spec)
{
        const struct sched_node *node = sc_sched_node(t);
        if (node->inputs == 0)
                return;
        SC_ASSERT(s->inputs_used + node->inputs <= s->inputs_cap && s->plans_told < SC_EFFECTS_MAX);
        const uint8_t  *constant = sc_sched_constants(t).ptr;
        struct sc_view *view     = s->inputs + s->inputs_used;
        struct sc_plan *plan     = &s->told[s->plans_told++];
        *plan                    = (struct sc_plan){ .results = { view, node->inputs } };
        if (spec->plan)
                plan->needs = spec->plan->needs;
        spec->plan = plan;
        s->inputs_used += node->inputs;
        for (uint32_t i = 0, at = node->edges; i < node->inputs; i++) {
                const struct sched_edge *e = sc_sched_edge(s, at);
                struct sc_outcome        outcome = { .result = { constant, e->prev } };
                if (e->of != SCHED_NONE)
                        sc_sched_outcome(sc_sched_row(s, e->of), &outcome);
                else
                        constant += e->prev;
                view[i] = outcome.result;
                at      = e->sibling;
        }
}

/* ---- ends --------------------------------------------------------------------------------------*/

bool sc_sched_graph_is_open(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_graph *g = graph_at(s, t->graph);
        return g->admitted < g->nodes;
}

static void count(struct sched_graph *g, const struct sched_task *t)
{
        if (t->reason == SC_REASON_SUCCESS)
                g->succeeded++;
        else if (t->reason == SC_REASON_CANCELLED)
                g->cancelled++;
        else if (t->reason == SC_REASON_DEPENDENCY)
                g->skipped++;
        else
                g->failed++;
}

/* A node has ended, and its block is its outcome's already. */
void sc_sched_graph_count(struct sc_sched *s, struct sched_task *t)
{
        struct sched_graph *g      = graph_at(s, t->graph);
        const bool          failed = t->reason != SC_REASON_SUCCESS && t->reason != SC_REASON_CANCELLED;
        SC_ASSERT(g->live > 0);
        g->live--;
        count(g, t);
        if (g->admitted < g->nodes)
                t->flags |= SCHED_OPEN;
        if (failed && g->root_reason == 0) {
                const bool other = t->words >= SCHED_WORDS_DEPENDENCY;
                g->root          = other ? t->order : t->id.lo;
                g->root_reason   = other ? (uint8_t)t->root_reason : t->reason;
                if (g->flags & SC_GRAPH_FAIL_FAST)
                        sc_sched_graph_cancel(s, sc_sched_row(s, g->self), false, false);
        }
        if (g->live == 0)
                todo(s, g);
}

void sc_sched_graph_done(const struct sched_task *t, struct sc_graph_done *out)
{
        const struct sched_graph *g = sc_sched_graph(t);
        *out = (struct sc_graph_done){
                .task = t->id, .reason = t->reason, .root_reason = g->root_reason, .root = g->root,
                .succeeded = g->succeeded, .failed = g->failed, .cancelled = g->cancelled, .skipped = g->skipped,
        };
}

static enum sc_reason reason_of(const struct sched_graph *g)
{
        if (g->failed + g->cancelled + g->skipped == 0)
                return SC_REASON_SUCCESS;
        return g->root_reason == 0 || (g->asked && g->cancelled > 0) ? SC_REASON_CANCELLED : SC_REASON_DEPENDENCY;
}

/* ---- cancel ------------------------------------------------------------------------------------*/

static void sweep_end(struct sc_sched *s, struct sched_graph *g)
{
        s->sweeps -= g->sweeping;
        g->sweeping = false;
        g->cursor   = SCHED_NONE;
}

void sc_sched_graph_cancel(struct sc_sched *s, struct sched_task *t, bool force, bool asked)
{
        struct sched_graph *g = sc_sched_graph(t);
        g->dead               = true;
        g->asked              = g->asked || asked;
        g->force              = g->force || force;
        s->sweeps += !g->sweeping;
        g->sweeping = true;
        g->cursor   = t->link[SCHED_MINE].next;
        todo(s, g);
}

void sc_sched_graph_abandon(struct sc_sched *s, struct sched_task *t)
{
        struct sched_graph *g = sc_sched_graph(t);
        g->dead               = true;
        sweep_end(s, g); /* all rows of the client are being gone through anyhow */
        if (g->live == 0)
                todo(s, g);
}

void sc_sched_graph_passes(struct sc_sched *s, const struct sched_task *t)
{
        for (struct sc_list *at = s->graphs.next; at != &s->graphs; at = at->next) {
                struct sched_graph *g = SC_CONTAINER(at, struct sched_graph, todo);
                if (g->cursor == t->self)
                        g->cursor = t->link[SCHED_MINE].next;
        }
}

static void sweep_one(struct sc_sched *s, const struct sched_graph *g, struct sched_task *t, struct sc_out *out)
{
        const struct sched_node *node = sc_sched_node(t);
        if (!node || node->graph != g->self)
                return;
        if (sc_task_is_held(t->state))
                sc_sched_stop(s, t, g->force, out);
        else
                sc_sched_end_cancelled(s, t, SC_MOVE_CANCEL, out);
}

static bool sweep(struct sc_sched *s, struct sched_graph *g, struct sc_out *out)
{
        while (g->cursor != SCHED_NONE) {
                if (!sc_sched_bulk(s, out))
                        return false;
                struct sched_task *t = sc_sched_row(s, g->cursor);
                g->cursor            = t->link[SCHED_MINE].next;
                sweep_one(s, g, t, out);
        }
        sweep_end(s, g);
        return true;
}

/* ---- what is left to do ------------------------------------------------------------------------*/

/* All nodes are here: what nobody of them reads may go. */
static bool close_it(struct sc_sched *s, struct sched_graph *g, struct sc_out *out)
{
        while (g->open.head != SCHED_NONE) {
                if (!sc_sched_bulk(s, out))
                        return false;
                struct sched_task *t = sc_sched_row(s, g->open.head);
                sc_sched_queue_remove(s, &g->open, SCHED_AT, t);
                t->flags &= (uint16_t)~SCHED_OPEN;
                if (t->refs == 0)
                        sc_sched_move(s, t, SC_MOVE_FORGET);
        }
        return true;
}

/* True: nothing can be done for it now. */
static bool todo_one(struct sc_sched *s, struct sched_graph *g, struct sc_out *out)
{
        struct sched_task *t        = sc_sched_row(s, g->self);
        const bool         doomed   = sc_sched_client(s, t->client)->doomed;
        const bool         complete = g->admitted == g->nodes || doomed;
        if (g->sweeping && !sweep(s, g, out))
                return false;
        if (complete && !close_it(s, g, out))
                return false;
        if (!complete || g->live > 0)
                return true;
        sweep_end(s, g);
        sc_list_remove(&g->todo);
        sc_sched_end_graph(s, t, reason_of(g), out);
        return true;
}

void sc_sched_graphs_todo(struct sc_sched *s, struct sc_out *out)
{
        bool finished = sc_sched_edges_todo(s, out);
        while (finished && !sc_list_empty(&s->graphs)) {
                struct sched_graph *g = SC_CONTAINER(s->graphs.next, struct sched_graph, todo);
                struct sc_list     *at = &g->todo;
                if (!sc_sched_bulk(s, out) || !todo_one(s, g, out))
                        return;
                if (s->graphs.next == at)
                        sc_list_remove(at);
                finished = sc_sched_edges_todo(s, out);
        }
}
