/*
 * Work is conserved: no worker idles for longer than a round trip while a task waits that it could begin.  What
 * workers run is known here first, so this needs no frames but those by which a task comes to wait.  For each
 * waiting task and each worker the moment is kept since when it could have begun there; whenever that ends,
 * it is judged how long it was.  Only worlds in which nothing fails are judged.
 *
 * And what runs hold is never more than their worker offers.
 */
#include "sim.h"

/* The end of a run is told, a task asked back, given back, and sent: four ways with a turn at each end, of which each
 * may be late and find its link busy. */
static sc_ns patience(const struct sim *w, const struct sim_task *t)
{
        const sc_ns trip = 5 * (w->config.delay_max + 30 * SC_MS);
        return t->recalled_at != 0 ? trip + SC_S + 10 * SC_MS : trip; /* it rests between two recalls */
}

/* Who sends each task to whoever has fewest, whatever they can do at once, does not conserve work. */
static bool is_judged(const struct sim *w)
{
        return w->config.calm && !w->config.full && w->config.allocate != SC_ALLOCATE_CAPABILITY;
}

static uint32_t place_of(const struct sim *w, uint32_t node)
{
        return node - 1 - w->config.clients;
}

/* ---- what runs hold ---------------------------------------------------------------------------------------- */

/* As the worker counts: it does with what it has, where it is sent more. */
static struct sim_amounts at_most(const struct sim_amounts *needs, const struct sim_amounts *offers)
{
        struct sim_amounts a = { .names = needs->names & offers->names };
        for (int i = 0; i < SIM_AMOUNTS; i++)
                a.of[i] = needs->of[i] < offers->of[i] ? needs->of[i] : offers->of[i];
        return a;
}

struct stock { /* what is taken of what a worker offers */
        struct sim_amounts sum;
        uint32_t           count;
};

static struct stock held(const struct sim *w, const struct sim_node *n)
{
        struct stock stock = { .count = 0 };
        for (int i = 0; i < SIM_RUNS_MAX; i++) {
                if (n->run[i].run == 0 || !n->run[i].begun)
                        continue;
                const struct sim_amounts one = at_most(&w->tasks[n->run[i].task].needs, &n->offers);
                sim_amounts_add(&stock.sum, &one);
                stock.count++;
        }
        return stock;
}

/* Whole units are a run's own, and what shares one is no more than it. */
static void judge_units(struct sim *w, uint32_t node, uint32_t unit)
{
        const struct sim_node *n   = &w->nodes[node];
        uint64_t               sum = 0;
        for (int i = 0; i < SIM_RUNS_MAX; i++) {
                const struct sim_run *r = &n->run[i];
                if (r->run == 0 || !r->begun || !(r->gpus >> unit & 1))
                        continue;
                const uint64_t needs = w->tasks[r->task].needs.of[SIM_GPU];
                sum += needs < 1000 ? needs : 1000;
        }
        if (sum > 1000)
                sim_fail(w, "worker %u has given gpu %u to runs that need %llu thousandths of it", node, unit,
                         (unsigned long long)sum);
}

static void judge_gpus(struct sim *w, uint32_t node, struct sim_run *run)
{
        const struct sim_task *t = &w->tasks[run->task];
        struct sc_held         parts[SC_AMOUNTS_MAX];
        const struct sim_node *n     = &w->nodes[node];
        const uint32_t         count = sc_work_held(sc_work_shell_core(n->work), run->run, parts);
        const uint64_t         most  = at_most(&t->needs, &n->offers).of[SIM_GPU];
        for (uint32_t i = 0; i < count; i++)
                if (parts[i].name.len == 3 && ((const char *)parts[i].name.ptr)[0] == 'g')
                        run->gpus = parts[i].indices;
        uint64_t units = 0;
        for (uint32_t unit = 0; unit < 64; unit++) {
                units += run->gpus >> unit & 1;
                judge_units(w, node, unit);
        }
        if (units != (most + 999) / 1000)
                sim_fail(w, "task %u needs %s and is given %llu gpus", run->task, t->needs.text,
                         (unsigned long long)units);
}

void sim_judge_held(struct sim *w, uint32_t node, struct sim_run *run)
{
        const struct sim_node *n = &w->nodes[node];
        if (!w->config.shared)
                return;
        const struct stock stock = held(w, n);
        if (!sim_amounts_within(&stock.sum, &n->offers, false))
                sim_fail(w, "worker %u begins task %u that needs %s, and all it offers is %s", node, run->task,
                         w->tasks[run->task].needs.text, n->offers.text);
        judge_gpus(w, node, run);
}

/* ---- who waits, and where it could be ---------------------------------------------------------------------------- */

static bool is_at(const struct sim *w, const struct sim_task *t, const struct sim_node *n)
{
        return t->standing == SIM_PLACED && &w->nodes[t->at->other->node] == n;
}

/* The worker has answered for it already, and the task is over or tried again. */
static bool is_given_up(const struct sim *w, const struct sim_node *n, const struct sim_run *r)
{
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run != 0 && n->run[i].task == r->task && n->run[i].order > r->order)
                        return true;
        return !is_at(w, &w->tasks[r->task], n);
}

/* A run goes on that was told to stop, after its worker has answered for it: what it holds is the worker's to know, and
 * no message tells of it.  So the scheduler takes what waits there for begun. */
static bool is_stuck(const struct sim *w, const struct sim_node *n)
{
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run != 0 && n->run[i].begun && is_given_up(w, n, &n->run[i]))
                        return true;
        return false;
}

static bool waits(const struct sim *w, const struct sim_task *t)
{
        const struct sim_node *n = &w->nodes[t->client];
        if (t->standing == SIM_PLACED && is_stuck(w, &w->nodes[t->at->other->node]))
                return false;
        return (t->standing == SIM_READY || t->standing == SIM_PLACED) && t->starts == 0 && !t->spoilt &&
               t->not_before_ms == 0 && n->running_max == 0 && w->tenants[n->tenant].running_max == 0;
}

static bool has_begun(const struct sim_node *n, const struct sim_task *tasks, const struct sim_task *t)
{
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run != 0 && n->run[i].begun && &tasks[n->run[i].task] == t)
                        return true;
        return false;
}

static bool has_like(const struct sim *w, const struct sim_node *n, const struct sim_task *t)
{
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run != 0 && n->run[i].begun &&
                    sim_amounts_same(&w->tasks[n->run[i].task].needs, &t->needs))
                        return true;
        return false;
}

/* What waits there behind a run that has just ended takes over what that one held, as far as the scheduler knows, while
 * the worker has begun something else with it.  So where nothing of its like runs, it is counted as if it did.
 * A worker that has more than it has come to want is sent nothing, unless so few of them run that slots are free. */
static struct stock promised(const struct sim *w, const struct sim_node *n, struct stock stock)
{
        const bool stuck  = is_stuck(w, n);
        uint32_t   there  = 0, credit = 0;
        bool       enough = false;
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t    = &w->tasks[i];
                const bool             runs = stuck ? has_begun(n, w->tasks, t) : has_like(w, n, t);
                bool                   like = runs || !is_at(w, t, n);
                if (is_at(w, t, n)) {
                        credit = t->at->credit;
                        enough = ++there >= credit && t->at->less;
                }
                for (uint32_t k = 0; k < i && !like && !stuck; k++)
                        like = is_at(w, &w->tasks[k], n) && sim_amounts_same(&w->tasks[k].needs, &t->needs);
                if (like)
                        continue;
                sim_amounts_add(&stock.sum, &t->needs);
                stock.count++;
        }
        if (enough && stock.count + 1 >= credit)
                stock.count = n->slots;
        return stock;
}

static void note(const struct sim *w, struct sim_task *t, const struct sim_node *n, struct stock taken)
{
        sc_ns *since = &t->fits_at[place_of(w, (uint32_t)(n - w->nodes))];
        sim_amounts_add(&taken.sum, &t->needs);
        const bool fits = n->joined_at != 0 && !n->closing && waits(w, t) && taken.count < n->slots &&
                          sim_amounts_within(&taken.sum, &n->offers, false);
        if (!fits)
                *since = 0;
        else if (*since == 0)
                *since = w->now;
}

static void judge(struct sim *w, uint32_t task, uint32_t node)
{
        const struct sim_task *t     = &w->tasks[task];
        const sc_ns            since = t->fits_at[place_of(w, node)];
        if (since != 0 && w->now - since > patience(w, t))
                sim_fail(w, "worker %u idles from %.6f s on while task %u (%s) waits, %s", node, (double)since / 1e9,
                         task, t->needs.text, t->standing == SIM_READY ? "ready" : "at a worker");
}

/* What the worker has has changed. */
static void look(struct sim *w, uint32_t node)
{
        const struct sim_node *n    = &w->nodes[node];
        const struct stock     here = held(w, n), all = promised(w, n, here);
        for (uint32_t i = 0; i < w->task_count; i++) {
                judge(w, i, node);
                note(w, &w->tasks[i], n, is_at(w, &w->tasks[i], n) ? here : all);
        }
}

/* The task has come to wait, or does no more. */
static void look_all(struct sim *w, uint32_t task)
{
        for (uint32_t i = 0; i < w->node_count; i++) {
                const struct sim_node *n = &w->nodes[i];
                if (n->kind != SIM_WORKER)
                        continue;
                const struct stock here = held(w, n);
                judge(w, task, i);
                note(w, &w->tasks[task], n, is_at(w, &w->tasks[task], n) ? here : promised(w, n, here));
        }
}

void sim_idle_changed(struct sim *w, uint32_t node, uint32_t task)
{
        if (!is_judged(w))
                return;
        look_all(w, task);
        look(w, node);
}

void sim_idle_waits(struct sim *w, uint32_t task)
{
        if (is_judged(w))
                look_all(w, task);
}

void sim_idle_told(struct sim *w, uint32_t node)
{
        if (is_judged(w))
                look(w, node);
}

void sim_idle_joined(struct sim *w, uint32_t node)
{
        w->nodes[node].joined_at = w->now;
        sim_full_heard(w);
        if (is_judged(w))
                look(w, node);
}
