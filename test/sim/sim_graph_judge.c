/*
 * How tasks that depend on others may end, and what their graphs may say of it.  Reasons are held against the plan and
 * what was asked, rows against who can still read them; no core is asked what to expect.
 */
#include <string.h>

#include "sim.h"

#define PASSED_ON (5 * SC_S) /* ends are passed on and confirmed within so long where nothing fails */

/* ---- who hangs on whom ----------------------------------------------------------------------------------- */

/* Marks all that depend on marked ones, up to that task.  Dependencies are older. */
static void spread(struct sim *w, uint32_t last)
{
        for (uint32_t i = 0; i <= last; i++) {
                struct sim_task *t = &w->tasks[i];
                for (uint32_t k = 0; k < t->dep_count && !t->marked; k++)
                        t->marked = t->deps[k].used && w->tasks[t->deps[k].task].marked;
        }
}

static void clear(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count; i++)
                w->tasks[i].marked = false;
}

static bool hangs_on(struct sim *w, uint32_t task, uint32_t root)
{
        clear(w);
        w->tasks[root].marked = true;
        spread(w, task);
        return w->tasks[task].marked;
}

static bool losses_possible(const struct sim *w)
{
        const struct sim_config *c = &w->config;
        return c->breaks || c->half_open || c->worker_crashes || c->pauses || c->clogs || c->scheduler_crashes ||
               c->refused_functions || c->hostile || c->skew;
}

static size_t read_bytes(const struct sim *w, const struct sim_task *t)
{
        size_t size = 0;
        bool   any  = false;
        for (uint32_t i = 0; i < t->dep_count; i++) {
                if (!t->deps[i].used || !t->deps[i].read)
                        continue;
                size += w->tasks[t->deps[i].task].result_len;
                any = true;
        }
        return any ? size + t->body_len : 0;
}

static bool is_too_big(const struct sim *w, const struct sim_task *t)
{
        return read_bytes(w, t) > SC_BODY_MAX;
}

/* A graph that no client may have as a whole. */
static bool is_too_wide(const struct sim *w, const struct sim_task *t)
{
        const struct sim_config *c     = &w->config;
        const uint32_t           nodes = t->head != 0 ? w->tasks[t->head - 1].nodes : t->nodes;
        return nodes > 0 && ((c->client_tasks_max > 0 && nodes + 1 > c->client_tasks_max) ||
                             (c->tasks_max > 0 && nodes + 1 > c->tasks_max - c->tasks_max / 16));
}

/* By itself, not because of another one. */
static bool may_fail(const struct sim *w, const struct sim_task *t)
{
        return t->end != SIM_SUCCEEDS || t->fails_first > 0 || t->timeout_ms > 0 || losses_possible(w) ||
               is_too_big(w, t) || is_too_wide(w, t);
}

/* Graphs that end with their first failure, and may have had one: in them, or before one of their nodes. */
static void find_those_that_give_up(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count; i++) {
                w->tasks[i].marked   = may_fail(w, &w->tasks[i]);
                w->tasks[i].gives_up = false;
        }
        spread(w, w->task_count - 1);
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (t->marked && t->head != 0 && w->tasks[t->head - 1].fail_fast)
                        w->tasks[t->head - 1].gives_up = true;
        }
}

/* Somebody wanted it: it, its graph, or something before it was cancelled, or its graph gave up. */
static bool was_cancelled(struct sim *w, uint32_t task)
{
        find_those_that_give_up(w);
        for (uint32_t i = 0; i < w->task_count; i++) {
                struct sim_task       *t    = &w->tasks[i];
                const struct sim_task *head = t->head != 0 ? &w->tasks[t->head - 1] : t;
                t->marked                   = t->cancels > 0 || head->cancels > 0 || head->gives_up;
        }
        spread(w, task);
        return w->tasks[task].marked;
}

static uint32_t find_root(struct sim *w, const struct sim_task *t, uint64_t root)
{
        uint32_t found;
        if (sim_task_of(w, (struct sc_id){ t->id.hi, root }, &found) == NULL)
                sim_fail(w, "task %u ended because of %llu, which is nobody", (unsigned)(t - w->tasks),
                         (unsigned long long)root);
        return found;
}

/* ---- ends -------------------------------------------------------------------------------------------------- */

static void judge_dependency(struct sim *w, uint32_t task, const struct sc_result *result)
{
        const struct sim_task *t    = &w->tasks[task];
        const uint32_t         root = find_root(w, t, result->root);
        const struct sim_task *of   = &w->tasks[root];
        if (root == task || !hangs_on(w, task, root))
                sim_fail(w, "task %u ended because of task %u and does not depend on it", task, root);
        if (result->root_reason == SC_REASON_SUCCESS || result->root_reason == SC_REASON_DEPENDENCY ||
            result->root_reason == SC_REASON_CANCELLED)
                sim_fail(w, "task %u ended because task %u had ended for reason %u", task, root, result->root_reason);
        if (!may_fail(w, of))
                sim_fail(w, "task %u ended because of task %u, which cannot fail", task, root);
        if (of->ended && !of->inner && of->reason != result->root_reason)
                sim_fail(w, "task %u ended because of task %u by reason %u, and that ended for reason %u", task, root,
                         result->root_reason, of->reason);
        if (t->starts > 0 && w->config.calm)
                sim_fail(w, "task %u ran, and something that it depends on had failed", task);
}

/* All that it waited for went well, or it would not have run. */
static void judge_success(struct sim *w, uint32_t task)
{
        const struct sim_task *t = &w->tasks[task];
        for (uint32_t i = 0; i < t->dep_count; i++) {
                const struct sim_task *of = &w->tasks[t->deps[i].task];
                if (t->deps[i].used && (!of->good || (of->ended && !of->inner && of->reason != SC_REASON_SUCCESS)))
                        sim_fail(w, "task %u succeeded after task %u, which did not", task, t->deps[i].task);
        }
}

static void count_end(struct sim *w, struct sim_task *t, const struct sc_result *result)
{
        struct sim_task *head = t->head != 0 ? &w->tasks[t->head - 1] : NULL;
        t->root               = result->root;
        t->root_reason        = result->root_reason;
        t->ended_at           = w->now;
        if (result->outcome.reason == SC_REASON_SUCCESS && result->outcome.result.len >= sizeof t->final_exec)
                memcpy(&t->final_exec, result->outcome.result.ptr, sizeof t->final_exec);
        if (head == NULL)
                return;
        if (head->ended)
                sim_fail(w, "task %u ended after its graph", (unsigned)(t - w->tasks));
        head->told[result->outcome.reason == SC_REASON_SUCCESS      ? SIM_TOLD_DONE
                   : result->outcome.reason == SC_REASON_CANCELLED  ? SIM_TOLD_CANCELLED
                   : result->outcome.reason == SC_REASON_DEPENDENCY ? SIM_TOLD_SKIPPED
                                                                    : SIM_TOLD_FAILED]++;
}

/* ---- graphs --------------------------------------------------------------------------------------------------- */

/* Nothing that could end in several ways, so that counts are known beforehand. */
static bool is_certain(const struct sim *w, const struct sim_task *head)
{
        if (!w->config.calm || head->fail_fast || is_too_wide(w, head))
                return false;
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (t->client == head->client &&
                    (t->cancels > 0 || t->cancel_at[0] > 0 || t->timeout_ms > 0 || t->fail_fast))
                        return false;
        }
        return true;
}

static enum sim_told evaluate(const struct sim *w, const struct sim_task *t)
{
        for (uint32_t k = 0; k < t->dep_count; k++) {
                const struct sim_task *of = &w->tasks[t->deps[k].task];
                if (t->deps[k].used && (of->expected != SIM_TOLD_DONE || (of->ended && !of->inner &&
                                                                          of->reason != SC_REASON_SUCCESS)))
                        return SIM_TOLD_SKIPPED;
        }
        if (is_too_big(w, t))
                return SIM_TOLD_FAILED;
        const bool retried = t->fails_first > t->retries;
        return t->end == SIM_SUCCEEDS && !retried ? SIM_TOLD_DONE : SIM_TOLD_FAILED;
}

static void judge_counts(struct sim *w, uint32_t task, const struct sc_graph_done *done)
{
        struct sim_task *head = &w->tasks[task];
        uint32_t         known[SIM_TOLDS] = { 0 };
        const uint32_t   counts[SIM_TOLDS] = { done->succeeded, done->failed, done->cancelled, done->skipped };
        if (done->succeeded + done->failed + done->cancelled + done->skipped != head->nodes)
                sim_fail(w, "graph %u has %u nodes, and %u + %u + %u + %u ended", task, head->nodes, done->succeeded,
                         done->failed, done->cancelled, done->skipped);
        for (uint32_t i = 0; i < SIM_TOLDS; i++)
                if (head->told[i] > counts[i])
                        sim_fail(w, "graph %u: %u of its targets ended in way %u, and it says %u did", task,
                                 head->told[i], i, counts[i]);
        if (!is_certain(w, head))
                return;
        for (uint32_t i = 0; i < w->task_count; i++) { /* in an order in which each comes after what it depends on */
                struct sim_task *t = &w->tasks[i];
                if (t->client != head->client || t->kind == SC_TASK_GRAPH)
                        continue;
                t->expected = (uint8_t)evaluate(w, t);
                known[t->expected] += t->head == task + 1;
        }
        for (uint32_t i = 0; i < SIM_TOLDS; i++)
                if (known[i] != counts[i])
                        sim_fail(w, "graph %u: %u nodes end in way %u by a sequential evaluation, and it says %u", task,
                                 known[i], i, counts[i]);
}

void sim_graph_done(struct sim *w, uint32_t task, const struct sc_graph_done *done)
{
        struct sim_task *head = &w->tasks[task];
        if (head->kind != SC_TASK_GRAPH || head->ended)
                sim_fail(w, "task %u is no graph, or has ended, and its nodes are counted", task);
        head->counted = true;
        if (w->config.memory)
                return;
        judge_counts(w, task, done);
        const bool whole = done->failed + done->cancelled + done->skipped == 0;
        if (whole != (done->reason == SC_REASON_SUCCESS))
                sim_fail(w, "graph %u ends for reason %u with %u of %u nodes done", task, done->reason, done->succeeded,
                         head->nodes);
        if (done->reason == SC_REASON_DEPENDENCY && done->root != 0)
                (void)find_root(w, head, done->root);
}

/* With its graph each node without a future is over. */
static void end_nodes(struct sim *w, uint32_t task)
{
        for (uint32_t i = task + 1; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                if (t->head != task + 1 || t->ended || t->orphaned)
                        continue;
                if (!t->inner)
                        sim_fail(w, "graph %u has ended, and task %u of it has not", task, i);
                t->ended    = true;
                t->ended_at = w->now;
                w->ended_count++;
        }
}

static void judge_graph(struct sim *w, uint32_t task, const struct sc_result *result)
{
        const uint8_t    reason = result->outcome.reason;
        struct sim_task *head   = &w->tasks[task];
        if (!head->counted)
                sim_fail(w, "graph %u ends, and its nodes were not counted", task);
        end_nodes(w, task);
        if (w->config.memory)
                return;
        if (reason == SC_REASON_CANCELLED && head->cancels == 0 && head->told[SIM_TOLD_CANCELLED] == 0 &&
            !was_cancelled(w, task))
                sim_fail(w, "graph %u was cancelled by nobody", task);
        if (reason == SC_REASON_LIMIT && !is_too_wide(w, head))
                sim_fail(w, "graph %u has %u nodes and ends for reason limit: %.*s", task, head->nodes,
                         (int)result->outcome.text.len, (const char *)result->outcome.text.ptr);
        if (reason != SC_REASON_SUCCESS && reason != SC_REASON_CANCELLED && reason != SC_REASON_DEPENDENCY &&
            reason != SC_REASON_LIMIT)
                sim_fail(w, "graph %u ends for reason %u", task, reason);
}

/* True: there is nothing else to be judged of that end. */
bool sim_graph_ended(struct sim *w, uint32_t task, const struct sc_result *result)
{
        struct sim_task *t      = &w->tasks[task];
        const uint8_t    reason = result->outcome.reason;
        if (!w->config.graphs)
                return false;
        if (t->inner)
                sim_fail(w, "task %u has no future, and its end is told", task);
        count_end(w, t, result);
        if (t->kind == SC_TASK_GRAPH) {
                judge_graph(w, task, result);
                return true;
        }
        if (w->config.memory)
                return false;
        if (reason == SC_REASON_SUCCESS)
                judge_success(w, task);
        if (reason == SC_REASON_DEPENDENCY)
                judge_dependency(w, task, result);
        if (reason == SC_REASON_LIMIT && !is_too_big(w, t) && !is_too_wide(w, t))
                sim_fail(w, "task %u ends for reason limit, with %zu bytes: %.*s", task, read_bytes(w, t),
                         (int)result->outcome.text.len, (const char *)result->outcome.text.ptr);
        return reason == SC_REASON_DEPENDENCY || reason == SC_REASON_LIMIT ||
               (reason == SC_REASON_CANCELLED && was_cancelled(w, task));
}

/* ---- what the scheduler keeps -------------------------------------------------------------------------------- */

static bool is_over(const struct sim *w, const struct sim_task *t)
{
        if (!t->submitted || t->orphaned || (t->ended && w->now > t->ended_at + PASSED_ON))
                return true;
        return t->inner && t->good && w->now > t->good_at + PASSED_ON;
}

/* Where nothing fails: rows of those that have ended, or succeeded unseen, and whom nobody reads any more, are gone. */
void sim_graph_rows(struct sim *w)
{
        uint32_t needed = 0;
        if (!w->config.graphs || !w->config.calm || !w->nodes[0].alive)
                return;
        clear(w);
        for (uint32_t i = w->task_count; i-- > 0;) {
                struct sim_task *t = &w->tasks[i];
                if (is_over(w, t) && !t->marked)
                        continue;
                needed++;
                for (uint32_t k = 0; k < t->dep_count && !is_over(w, t); k++)
                        if (t->deps[k].used && t->deps[k].read)
                                w->tasks[t->deps[k].task].marked = true;
        }
        const uint32_t rows = sc_sched_rows(sc_sched_shell_core(w->nodes[0].sched));
        if (rows > needed)
                sim_fail(w, "the scheduler has %u rows, and %u tasks are live or read", rows, needed);
}
