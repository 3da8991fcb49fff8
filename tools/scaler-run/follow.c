/*
 * follow: chains by their places in the window, graphs by the states of their nodes.
 */
#include "follow.h"

#include <inttypes.h>
#include <stdio.h>

#define EARLY_MAX (WINDOW_TASKS / 2)

/* What is handed over early starts by itself: not where something may have been decided by then. */
static bool goes_early(const struct run *r)
{
        return r->settings->halt.when == HALT_NEVER && !pace_is_on(&r->pace);
}

static uint32_t index_of(const struct task *task)
{
        return (uint32_t)task->number - 1;
}

/* ---- chains ---- */

static void say_root(struct task *task)
{
        if (task->root_name)
                snprintf(task->failure.text, sizeof task->failure.text, "node '%s' has not succeeded", task->root_name);
        else
                snprintf(task->failure.text, sizeof task->failure.text, "task %" PRIu64 " has not succeeded",
                         task->root);
}

static void skip_step(struct run *r, struct task *task, uint64_t root)
{
        task->root = root;
        run_describe(r, task);
        run_end_unsent(r, task, SCALER_REASON_DEPENDENCY, "");
        say_root(task);
}

static struct task *add_step(struct run *r, const struct record *record, uint32_t step, uint64_t number)
{
        struct task *task = window_add(&r->window, record);
        task->number      = number;
        task->step        = step;
        return task;
}

static void join(struct run *r, struct task *before, struct task *task)
{
        if (!before)
                return;
        before->followed_by = window_place(&r->window, task);
        window_block(&r->window, task, window_place(&r->window, before));
}

void follow_add_steps(struct run *r, const struct record *record)
{
        const uint32_t steps  = (uint32_t)settings_steps(r->settings);
        struct task   *before = NULL;
        uint64_t       lost   = 0; /* the step that has failed by the joblog */
        for (uint32_t step = 1; step <= steps; step++) {
                const uint64_t number = (record->number - 1) * steps + step;
                bool           failed;
                if (steps == 1) {
                        run_take(r, window_add(&r->window, record), record);
                        return;
                }
                if (record_is_over(&r->records, number, &failed)) {
                        lost = failed && lost == 0 ? number : lost;
                        r->records.left_out++;
                        continue;
                }
                struct task *task = add_step(r, record, step, number);
                if (before && before->stage == TASK_ENDED)
                        lost = before->number;
                if (lost > 0) {
                        skip_step(r, task, lost);
                        continue;
                }
                join(r, before, task);
                if (!before || goes_early(r))
                        run_take(r, task, record);
                before = task;
        }
}

/* The next step may go, or never will.  A step that was handed over early ends by itself. */
static void step_ended(struct run *r, struct task *task)
{
        if (task_is_skipped(task) && task->root == 0)
                task->root = task->number - 1;
        if (task_is_skipped(task))
                say_root(task);
        while (task->followed_by != WINDOW_NOBODY) {
                struct task *next = &r->window.tasks[task->followed_by];
                task->followed_by = WINDOW_NOBODY;
                next->root        = task->state == SCALER_TASK_DONE ? 0 : task->root ? task->root : task->number;
                window_unblock(&r->window, next);
                if (next->future || next->stage != TASK_PENDING)
                        return;
                if (task->state == SCALER_TASK_DONE) {
                        run_enqueue(r, next);
                        return;
                }
                if (task->state == SCALER_TASK_FAILED)
                        skip_step(r, next, next->root);
                else
                        run_end_unsent(r, next, SCALER_REASON_CANCELLED, "not started");
                task = next;
        }
}

/* ---- graphs ---- */

static struct task *add_node(struct run *r, uint32_t index)
{
        const char         *name   = graph_name(r->graph, index);
        const struct record record = { .data = name, .size = strlen(name), .count = 1, .number = index + 1 };
        struct task        *task   = window_add(&r->window, &record);
        r->graph->nodes[index].place = window_place(&r->window, task);
        return task;
}

/* What the scheduler tells goes by ids. */
static uint32_t find_root(const struct run *r, scaler_id id)
{
        for (uint32_t i = 0; i < WINDOW_TASKS; i++) {
                const struct task *task = &r->window.tasks[i];
                if (task->stage == TASK_PENDING && task->future && scaler_id_equal(scaler_future_id(task->future), id))
                        return index_of(task);
        }
        return GRAPH_NOBODY;
}

static void name_root(struct run *r, struct task *task)
{
        struct node *node = &r->graph->nodes[index_of(task)];
        if (node->root == 0)
                node->root = find_root(r, task->failure.root) + 1;
        if (node->root == 0)
                return;
        task->root      = node->root;
        task->root_name = graph_name(r->graph, node->root - 1);
        say_root(task);
}

static void node_ended(struct run *r, struct task *task)
{
        const uint32_t index = index_of(task);
        if (task->state == SCALER_TASK_DONE)
                graph_succeeded(r->graph, index);
        else if (task->state == SCALER_TASK_CANCELLED)
                graph_gave_up(r->graph, index);
        else if (!task_is_skipped(task))
                graph_failed(r->graph, index);
        if (task->state == SCALER_TASK_FAILED && !task_is_skipped(task))
                summary_note(&r->summary, index, task);
        if (!task_is_skipped(task))
                return;
        name_root(r, task);
        graph_skipped(r->graph, index, task->root ? (uint32_t)task->root - 1 : index);
}

static void skip_node(struct run *r, struct task *task)
{
        run_describe(r, task);
        run_end_unsent(r, task, SCALER_REASON_DEPENDENCY, "");
        node_ended(r, task);
}

void follow_add_nodes(struct run *r)
{
        struct graph *g = r->graph;
        while (r->mode == RUN_GOES && window_has_room(&r->window, 1)) {
                uint32_t index = graph_take_skipped(g);
                if (index != GRAPH_NOBODY) {
                        skip_node(r, add_node(r, index));
                        continue;
                }
                if (!run_has_room(r) || r->unsent_first != WINDOW_NOBODY)
                        break;
                index = graph_take(g, goes_early(r) && r->in_flight_max == 0 && g->early_count < EARLY_MAX);
                r->inputs_wait = index == GRAPH_NOBODY;
                if (r->inputs_wait)
                        break;
                run_take(r, add_node(r, index), NULL);
        }
        r->inputs_ended = graph_is_taken(g);
}

static bool fill_node(struct run *r, struct task *task, scaler_spec *spec)
{
        const struct graph *g    = r->graph;
        const struct node  *node = &g->nodes[index_of(task)];
        if (node->root != 0) {
                skip_node(r, task);
                return false;
        }
        for (uint32_t k = node->first; k < node->first + node->count; k++) {
                const struct node *of = &g->nodes[g->edges[k]];
                if (of->state != NODE_TAKEN)
                        continue;
                if (spec->after_count == r->after_room) {
                        r->after_room = r->after_room ? r->after_room * 2 : 16;
                        r->after      = memory_grow(r->after, r->after_room * sizeof *r->after);
                }
                r->after[spec->after_count++] = r->window.tasks[of->place].future;
        }
        spec->after = r->after;
        return true;
}

/* ---- both ---- */

bool follow_fill(struct run *r, struct task *task, scaler_spec *spec)
{
        if (r->graph)
                return fill_node(r, task, spec);
        if (task->waits_for == WINDOW_NOBODY)
                return true;
        spec->after       = &r->window.tasks[task->waits_for].future;
        spec->after_count = 1;
        return true;
}

void follow_ended(struct run *r, struct task *task)
{
        if (r->graph)
                node_ended(r, task);
        else
                step_ended(r, task);
}
