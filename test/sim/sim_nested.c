/*
 * Worlds in which tasks submit tasks: each worker has a client of its own, with its id, that lives and dies with it.
 * Who has children submits them when it begins, waits for them without a slot, and goes on when they have ended.
 * Nobody else ever submits a child, and none is submitted twice: who is run again goes on without those it had.  Half
 * of these worlds are calm, and in half workers have but one slot.
 */
#include "after.h"
#include "sim.h"

enum { DEPTH_MAX = 6 };

static uint32_t index_of(const struct sim *w, const struct sim_node *n)
{
        return (uint32_t)(n - w->nodes);
}

/* ---- the plan ------------------------------------------------------------------------------------------- */

static bool is_nested(const struct sim *w)
{
        const bool keys = w->seed % 11 == 5 || w->seed % 11 == 9;
        return w->seed % 12 == 5 && w->seed % 13 != 6 && w->seed % 50 != 37 && !keys;
}

/* One slot at each of few workers, and much to do from the start. */
static bool is_narrow(const struct sim *w)
{
        return w->seed / 24 % 2 == 0;
}

void sim_nested_config(struct sim *w)
{
        struct sim_config *c = &w->config;
        if (!is_nested(w) || c->poison_only || c->blips_only)
                return;
        c->nested  = true;
        c->hostile = c->memory = c->client_crashes = c->streams = c->big = c->refused_functions = false;
        c->calm    = w->seed % 24 == 5;
        if (!c->calm)
                return;
        c->breaks = c->half_open = c->clogs = c->pauses = c->skew = c->worker_crashes = c->scheduler_crashes = false;
        c->cancels = false;
}

void sim_nested_shape(struct sim *w)
{
        struct sim_config *c = &w->config;
        if (!c->nested)
                return;
        c->brief     = false;
        c->tasks_max = c->client_tasks_max = 0;
        c->tasks     = 10 + (uint32_t)sim_below(w, 150);
        c->workers   = 1 + (uint32_t)sim_below(w, is_narrow(w) ? 2 : 3);
        c->faults_until = sim_between(w, SC_S, 60 * SC_S);
}

static uint32_t depth_of(const struct sim *w, uint32_t task)
{
        uint32_t depth = 0;
        for (; w->tasks[task].parent != 0; depth++)
                task = w->tasks[task].parent - 1;
        return depth;
}

static void plan_child(struct sim *w, uint32_t i, uint32_t parent)
{
        struct sim_task *t = &w->tasks[i];
        t->parent          = parent + 1;
        t->client          = UINT32_MAX; /* nobody's yet */
        t->cancel_at[0] = t->cancel_at[1] = 0;
        w->tasks[parent].children++;
}

/* In all these worlds tasks succeed, so that whatever ends otherwise has a cause elsewhere. */
void sim_nested_plan(struct sim *w)
{
        if (!w->config.nested)
                return;
        const uint32_t chance = 30 + (uint32_t)sim_below(w, 70);
        for (uint32_t i = 0; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                const uint32_t parent = i > 0 ? (uint32_t)sim_below(w, i) : 0;
                t->end         = SIM_SUCCEEDS;
                t->kind        = SC_TASK_FUNCTION;
                t->retries     = t->fails_first = 0;
                t->timeout_ms  = 0;
                t->inline_end  = false;
                if (t->duration > 20 * SC_S)
                        t->duration = sim_between(w, SC_US, SC_S);
                if (i > 0 && sim_chance(w, chance) && depth_of(w, parent) < DEPTH_MAX)
                        plan_child(w, i, parent);
        }
        for (uint32_t i = 0; i < w->node_count && is_narrow(w); i++)
                if (w->nodes[i].kind == SIM_WORKER)
                        w->nodes[i].slots = 1;
        for (uint32_t i = 0; i < w->task_count && is_narrow(w); i++)
                w->tasks[i].submit_at = 0;
}

void sim_nested_nodes(struct sim *w, struct sim_node *(*add)(struct sim *w, enum sim_kind kind))
{
        for (uint32_t i = 0; w->config.nested && i < w->config.workers; i++) {
                const uint32_t   worker = 1 + w->config.clients + i;
                struct sim_node *inner  = add(w, SIM_CLIENT);
                inner->pair             = worker;
                inner->clock_offset     = w->nodes[worker].clock_offset;
                inner->clock_ppm        = w->nodes[worker].clock_ppm;
                w->nodes[worker].pair   = index_of(w, inner);
        }
}

/* ---- processes ------------------------------------------------------------------------------------------- */

bool sim_nested_is_inner(const struct sim *w, uint32_t node)
{
        return w->nodes[node].kind == SIM_CLIENT && w->nodes[node].pair != 0;
}

static void lose(struct sim *w, struct sim_task *t)
{
        if (t->orphaned || t->ended)
                return;
        t->orphaned = true;
        w->gone_count++;
}

/* Nobody will hear of what it had submitted. */
void sim_nested_stopped(struct sim *w, uint32_t worker)
{
        const uint32_t inner = w->nodes[worker].pair;
        if (inner == 0 || w->nodes[worker].kind != SIM_WORKER)
                return;
        sim_node_stop(w, inner);
        for (uint32_t i = 0; i < w->task_count; i++)
                if (w->tasks[i].client == inner)
                        lose(w, &w->tasks[i]);
}

/* Children that will not be submitted any more, for their parent has ended or is lost. */
void sim_nested_prune(struct sim *w)
{
        for (uint32_t i = 0; w->config.nested && i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                if (t->parent == 0 || t->submitted)
                        continue;
                const struct sim_task *parent = &w->tasks[t->parent - 1];
                if (parent->ended || parent->orphaned)
                        lose(w, t);
        }
}

/* ---- a run ------------------------------------------------------------------------------------------------ */

static struct sim_run *run_at(struct sim *w, const struct sim_post *post)
{
        struct sim_run *r = &w->nodes[post->node].run[post->a & 0xff];
        return r->run != 0 && r->life == post->a >> 8 ? r : NULL;
}

static bool has_unfinished(const struct sim *w, uint32_t parent, uint32_t inner)
{
        for (uint32_t i = parent + 1; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (t->parent == parent + 1 && t->client == inner && t->submitted && !t->ended && !t->orphaned)
                        return true;
        }
        return false;
}

static void post_wake(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        struct sim_run  *r = run_at(w, post);
        if (r == NULL || !r->waits || r->woken)
                return;
        r->woken = true;
        sim_trace(w, "wake", post->node, r->task, r->exec);
        sc_work_shell_wakes(n->work, r->run, sim_node_now(w, post->node));
}

static void post_wait(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        struct sim_run  *r = run_at(w, post);
        if (r == NULL)
                return;
        if (r->stopped || !has_unfinished(w, r->task, n->pair)) {
                r->nests = false;
                sim_work_goes_on(w, n, r);
                return;
        }
        r->waits = true;
        sim_trace(w, "wait", post->node, r->task, r->exec);
        sc_work_shell_waits(n->work, r->run, sim_node_now(w, post->node));
}

/* The run that it is submitted for is the worker's and may be over. */
static void post_submit(struct sim *w, struct sim_post *post)
{
        const uint32_t   worker = w->nodes[post->node].pair;
        struct sim_node *n      = &w->nodes[worker];
        struct sim_run  *r      = &n->run[post->a & 0xff];
        uint64_t         number;
        if (!n->alive || r->run == 0 || r->life != post->a >> 8)
                return;
        for (uint32_t i = r->task + 1; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                if (t->parent != r->task + 1 || t->submitted || t->orphaned || w->nodes[post->node].closing ||
                    !sc_work_names(sc_work_shell_core(n->work), r->run, &number))
                        continue;
                t->client     = post->node;
                t->parent_run = number;
                if (sim_client_submit(w, &w->nodes[post->node], i,
                                      sc_cli_next_sequence(sc_cli_shell_core(w->nodes[post->node].cli))) != 0)
                        t->client = UINT32_MAX;
                else
                        sim_trace(w, "submit", post->node, i, t->id.lo);
        }
        sim_post(w, worker, post_wait)->a = post->a;
}

void sim_nested_begin(struct sim *w, struct sim_node *n, struct sim_run *r, uint64_t place)
{
        r->nests = true;
        sim_post(w, n->pair, post_submit)->a = place;
}

void sim_nested_stop(struct sim *w, struct sim_node *n, struct sim_run *r, uint64_t place)
{
        r->stopped = true;
        sim_post(w, index_of(w, n), post_wake)->a = place;
}

struct sc_plan sim_nested_sign(const struct sim *w, const struct sim_task *t, struct sc_plan plan,
                               uint8_t room[SC_PARENT_SIZE])
{
        const struct sc_id parent = w->tasks[t->parent - 1].id;
        sc_after_put(room, 0, parent.hi);
        sc_after_put(room, 1, parent.lo);
        plan.parent     = (struct sc_view){ room, SC_PARENT_SIZE };
        plan.parent_run = t->parent_run;
        return plan;
}

/* A child has: whoever waits for it alone goes on. */
void sim_nested_ended(struct sim *w, uint32_t task)
{
        const struct sim_task *t = &w->tasks[task];
        if (t->parent == 0 || has_unfinished(w, t->parent - 1, t->client))
                return;
        const uint32_t   worker = w->nodes[t->client].pair;
        struct sim_node *n      = &w->nodes[worker];
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run != 0 && n->run[i].task == t->parent - 1)
                        sim_post(w, worker, post_wake)->a = (uint64_t)i | n->run[i].life << 8;
}

/* ---- judges ----------------------------------------------------------------------------------------------- */

/* Somebody above it was cancelled, or may have been lost. */
bool sim_nested_may_be_cancelled(const struct sim *w, uint32_t task)
{
        const struct sim_task *t = &w->tasks[task];
        return t->parent != 0 && !w->config.calm;
}

void sim_nested_resumed(struct sim *w, struct sim_node *n, int status)
{
        uint32_t busy = 0;
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                busy += n->run[i].run != 0 && n->run[i].begun && !n->run[i].parked;
        if (status == 0 && busy > n->slots)
                sim_fail(w, "worker %u lets %u runs go on with %u slots", index_of(w, n), busy, n->slots);
        if (status != 0)
                sim_fail(w, "worker %u refuses a wait: %d", index_of(w, n), status);
}

/* Where nothing fails, all that could be submitted has succeeded, however deep and on however few slots. */
void sim_nested_judge_end(struct sim *w)
{
        for (uint32_t i = 0; w->config.nested && w->config.calm && i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (!t->orphaned && (!t->ended || t->reason != SC_REASON_SUCCESS))
                        sim_fail(w, "task %u, which is nested %u deep, has not succeeded", i, depth_of(w, i));
        }
}
