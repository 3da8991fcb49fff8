/*
 * Drains: workers that leave and come back as new ones, by a signal of their own or because an admin asks, with
 * a deadline or without; and in some worlds schedulers that stop and are replaced.  A quarter of the worlds have
 * them beside everything else; one in sixteen has nothing but a rolling restart of all, and is judged most
 * strictly: nothing is lost, charged or made twice, but what was let go of at a deadline.
 */
#include <string.h>

#include "sim.h"

enum { LOOK_AGAIN_MS = 10, DRAIN_TICKET = 1 << 30 };

static uint32_t index_of(const struct sim *w, const struct sim_node *n)
{
        return (uint32_t)(n - w->nodes);
}

static bool is_faultless(const struct sim *w)
{
        return w->config.rolling || w->config.calm;
}

/* ---- the plan ---------------------------------------------------------------------------------------------- */

void sim_drain_config(struct sim *w)
{
        struct sim_config *c     = &w->config;
        const uint64_t     which = w->seed % 16;
        /* Those ask a question of their own. */
        if (c->poison_only || c->blips_only || c->full || c->graphs || c->keys || c->nested)
                return;
        c->drains   = which == 2 || which == 5 || which == 8 || which == 13;
        c->restarts = c->drains && !c->shared && w->seed % 3 != 0;
        if (which != 11 || c->shared)
                return;
        const bool streams = c->streams, cancels = c->cancels, big = c->big;
        *c = (struct sim_config){ .streams = streams, .cancels = cancels, .big = big, .rolling = true, .drains = true,
                                  .restarts = true };
}

/* After all else has its shape. */
void sim_drain_shape(struct sim *w)
{
        if (w->config.budget != 0 && w->config.calm)
                w->config.drains = false; /* links are closed in it, and judges take it for one without drains */
        if (w->config.budget != 0)
                w->config.restarts = false; /* what is charged is counted over one scheduler's life */
        if (w->config.rolling) {
                w->config.tasks += 100;
                /* So a new scheduler has room for what was made. */
                w->config.tasks_max = w->config.client_tasks_max = 0;
                w->config.budget                                 = 0;
        }
        if (w->config.drains)
                w->config.admins = 1;
}

static bool is_some(const struct sim_node *n, enum sim_kind kind)
{
        return n->kind == kind && n->alive && !n->closing && !n->closed;
}

static struct sim_node *some(struct sim *w, enum sim_kind kind)
{
        uint64_t count = 0;
        for (uint32_t i = 0; i < w->node_count; i++)
                count += is_some(&w->nodes[i], kind);
        uint64_t pick = count > 0 ? sim_below(w, count) : 0;
        for (uint32_t i = 0; i < w->node_count; i++)
                if (is_some(&w->nodes[i], kind) && pick-- == 0)
                        return &w->nodes[i];
        return NULL;
}

/* ---- asking ------------------------------------------------------------------------------------------------- */

static void leaves(struct sim *w, struct sim_node *n)
{
        n->drains = true;
        if (w->config.shared)
                sim_idle_told(w, index_of(w, n));
}

static void be_done_by(struct sim *w, struct sim_node *n, uint64_t deadline_ms)
{
        const sc_ns most = (sc_ns)deadline_ms * SC_MS + 6 * SC_S + 10 * (w->config.delay_max + 30 * SC_MS);
        if (deadline_ms > 0 && (n->gone_by == 0 || w->now + most < n->gone_by))
                n->gone_by = w->now + most;
}

static void post_signal(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        if (n->closing || n->closed)
                return;
        sim_trace(w, "drain", post->node, post->a, 0);
        n->told    = true;
        n->told_at = w->now;
        be_done_by(w, n, post->a);
        n->untimed = n->untimed && post->a == 0;
        if (n->sched != NULL) {
                sc_sched_shell_drain(n->sched, post->a, sim_node_now(w, post->node));
                return;
        }
        leaves(w, n);
        sc_work_shell_drain(n->work, post->a, sim_node_now(w, post->node));
}

static void post_ask(struct sim *w, struct sim_post *post)
{
        struct sim_node      *n     = &w->nodes[post->node];
        struct sim_node      *who   = &w->nodes[post->b];
        const struct sc_drain drain = { .ticket      = (uint32_t)++n->raw_seq | DRAIN_TICKET,
                                        .worker      = who->kind == SIM_WORKER ? who->id : 0,
                                        .deadline_ms = post->a };
        if (n->closing || n->closed)
                return;
        sim_trace(w, "ask", post->b, post->a, drain.ticket);
        n->asked++;
        who->untimed = who->untimed && post->a == 0;
        if (who->kind == SIM_WORKER)
                leaves(w, who);
        if (sc_cli_shell_drain(n->cli, &drain, sim_node_now(w, post->node)) != 0)
                n->asked--;
}

static void drain_some(struct sim *w)
{
        const bool       stop  = w->config.restarts && sim_chance(w, w->config.rolling ? 40 : 20);
        const uint64_t   ms    = sim_chance(w, 40) ? 0 : (uint64_t)sim_between(w, 1, 20000);
        struct sim_node *who   = some(w, stop ? SIM_SCHEDULER : SIM_WORKER);
        struct sim_node *admin = some(w, SIM_ADMIN);
        if (who == NULL || (who->paused_until > w->now && !sim_chance(w, 20)))
                return;
        if (admin != NULL && sim_chance(w, 50)) {
                struct sim_post *post = sim_post(w, index_of(w, admin), post_ask);
                post->a               = ms;
                post->b               = index_of(w, who);
        } else {
                sim_post(w, index_of(w, who), post_signal)->a = ms;
        }
}

static void drain_event(struct sim *w, struct sim_event *ev)
{
        (void)ev;
        if (w->healed)
                return;
        drain_some(w);
        sim_at(w, w->now + sim_between(w, 10 * SC_MS, w->config.faults_until / 4 + SC_S), drain_event);
}

void sim_drain_begin(struct sim *w)
{
        if (w->config.drains)
                sim_at(w, sim_between(w, SC_MS, w->config.faults_until), drain_event);
}

/* ---- leaving ------------------------------------------------------------------------------------------------ */

static uint32_t links_of(const struct sim_node *n)
{
        return sc_station_links(n->sched != NULL ? sc_sched_shell_station(n->sched) : sc_work_shell_station(n->work));
}

/* The process ends when its links are closed, and another one takes its place. */
static void gone_event(struct sim *w, struct sim_event *ev)
{
        struct sim_node *n = &w->nodes[ev->node];
        if (sim_event_stale(w, ev) || n->closing)
                return;
        if (links_of(n) > 0) {
                sim_at_node(w, w->now + LOOK_AGAIN_MS * SC_MS, ev->node, gone_event);
                return;
        }
        sim_node_stop(w, ev->node);
        sim_node_restart_at(w, ev->node, w->now + sim_between(w, SC_MS, 3 * SC_S));
}

/* Late and without a link it can tell nobody what it lets go of, or what had come of the rest. */
static void count_untold(struct sim *w, uint32_t node)
{
        const struct sim_node *n = &w->nodes[node];
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run != 0 && n->run[i].begun && !n->run[i].returned)
                        w->tasks[n->run[i].task].released++;
        for (uint64_t i = 0; i < w->execs_count; i++)
                if (w->execs[i].finished && w->execs[i].node == node && w->execs[i].generation == n->generation)
                        w->tasks[w->execs[i].task].released++;
}

void sim_drain_left(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        if (n->closing)
                return; /* for good */
        if (!n->drains && !n->told && n->kind == SIM_WORKER)
                sim_fail(w, "worker %u leaves, and nobody asked it to", node);
        if (is_faultless(w) && n->gone_by != 0 && w->now > n->gone_by)
                sim_fail(w, "node %u leaves %.3f s too late", node, (double)(w->now - n->gone_by) / 1e9);
        if (n->kind == SIM_WORKER && !n->untimed)
                count_untold(w, node);
        sim_at_node(w, w->now + LOOK_AGAIN_MS * SC_MS, node, gone_event);
}

void sim_drain_stopped(struct sim *w, uint32_t node)
{
        struct sim_node     *n = &w->nodes[node];
        struct sc_status_row row;
        n->closed = true;
        sc_sched_stats(sc_sched_shell_core(n->sched), sim_node_now(w, node), &row);
        sim_trace(w, "stopped", row.tasks_assigned, row.tasks_ended_unacked, n->untimed);
        if (n->untimed && row.tasks_assigned + row.tasks_ended_unacked > 0)
                sim_fail(w, "the scheduler stops with %u runs and %u results, and has time", row.tasks_assigned,
                         row.tasks_ended_unacked);
        sc_station_hang_up(sc_sched_shell_station(n->sched), sim_node_now(w, node));
        sim_drain_left(w, node);
}

/* ---- judges --------------------------------------------------------------------------------------------------- */

/* Of each question one answer. */
void sim_drain_answered(struct sim *w, uint32_t node, const struct sc_msg *row)
{
        struct sim_node *n       = &w->nodes[node];
        const bool       drained = row->kind == SC_MSG_DRAINED;
        if (!drained && (row->kind != SC_MSG_QUERY_END || !(row->query_end.ticket & DRAIN_TICKET)))
                return;
        if (++n->answered > n->asked)
                sim_fail(w, "admin %u has more answers than it asked for drains", node);
        if (!drained || !is_faultless(w))
                return;
        const struct sc_drained *d = &row->drained;
        if (d->lost > 0 || (d->status != 0 && d->status != SC_E_EXISTS && d->status != SC_E_NOT_FOUND))
                sim_fail(w, "a drain ends with %d and %u runs lost, and nothing ever failed", d->status, d->lost);
}

void sim_drain_judge_end(struct sim *w)
{
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == SIM_ADMIN && w->nodes[i].answered < w->nodes[i].asked && !w->config.memory)
                        sim_fail(w, "admin %u waits for %u answers about drains", i,
                                 w->nodes[i].asked - w->nodes[i].answered);
}

/* The scheduler hears that a worker leaves, or that it is to stop itself. */
void sim_drain_heard(struct sim *w, struct sim_conn *at, const uint8_t *frame, size_t len)
{
        struct sc_frame_head head;
        const char          *why;
        size_t               cursor = 0;
        const enum sim_kind  from   = w->nodes[at->other->node].kind;
        struct sim_node     *n      = &w->nodes[at->node];
        if (!w->config.drains || from == SIM_HOSTILE || sc_frame_get(frame, &head, &why) != 0)
                return;
        for (uint32_t i = 0; i < head.count; i++) {
                struct sc_msg msg;
                if (sc_codec_unpack(frame + SC_FRAME_HEAD, len - SC_FRAME_HEAD, &cursor, &w->arena, &msg, &why) != 1)
                        return;
                if (msg.kind == SC_MSG_LEAVE && at->leaves_at == 0)
                        at->leaves_at = w->now;
                if (msg.kind == SC_MSG_DRAIN && msg.drain.worker == 0 && from == SIM_ADMIN && !n->told) {
                        n->told    = true;
                        n->told_at = w->now;
                }
        }
}

static bool was_made(const struct sim *w, uint32_t task, const struct sim_node *n, uint64_t run)
{
        for (uint64_t i = w->execs_count; i-- > 0;)
                if (w->execs[i].task == task && w->execs[i].run == run && w->execs[i].epoch == n->epoch)
                        return w->execs[i].begun;
        return false;
}

/* What has begun is given back with a mark, and then alone; what was kept over a link has another number. */
static void see_returned(struct sim *w, const struct sim_conn *from, const struct sc_about_run *about)
{
        struct sim_node *n = &w->nodes[from->node];
        uint32_t         task;
        struct sim_task *t = sim_task_of(w, about->task, &task);
        if (t == NULL || n->kind != SIM_WORKER)
                return;
        t->released += about->released;
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (about->released && n->run[i].run == about->run)
                        n->run[i].returned = true;
        if (about->released && !n->drains && !n->closing)
                sim_fail(w, "worker %u lets go of task %u, and does not leave", from->node, task);
        if (is_faultless(w) && !w->config.restarts && about->released != was_made(w, task, n, about->run))
                sim_fail(w, "worker %u gives task %u back as %s", from->node, task,
                         about->released ? "begun, and it was not" : "not begun, and it was");
}

/* What was placed before may wait for its link. */
static bool is_long_since(const struct sim *w, sc_ns at)
{
        return at != 0 && is_faultless(w) && w->now > at + 2 * (w->config.delay_max + 30 * SC_MS);
}

void sim_drain_see(struct sim *w, struct sim_conn *from, const struct sc_msg *msg)
{
        struct sim_node *n = &w->nodes[from->node];
        if (msg->kind == SC_MSG_RETURNED)
                see_returned(w, from, &msg->about);
        if (n->kind != SIM_SCHEDULER)
                return;
        if (msg->kind == SC_MSG_ASSIGN && (from->leaves || is_long_since(w, from->leaves_at)))
                sim_fail(w, "a task is sent to worker %u, which leaves", from->other->node);
        if (msg->kind == SC_MSG_ASSIGN && n->told && is_long_since(w, n->told_at))
                sim_fail(w, "a task is placed by a scheduler that stops");
        if (msg->kind == SC_MSG_LEAVE)
                from->leaves = true;
}

/* Limits are written into a frame when it leaves; a link that was closed before still has its old ones. */
void sim_drain_granted(struct sim *w, const struct sim_conn *from, uint32_t tasks)
{
        const struct sim_node *n = &w->nodes[from->node];
        if (!is_faultless(w) || n->kind != SIM_SCHEDULER)
                return;
        if (n->told && tasks > 0 && w->nodes[from->other->node].kind == SIM_CLIENT)
                sim_fail(w, "client %u is granted %u tasks by a scheduler that stops", from->other->node, tasks);
}

void sim_drain_runs(struct sim *w, uint32_t node, uint32_t task)
{
        if (w->nodes[node].told)
                sim_fail(w, "worker %u begins task %u, and leaves", node, task);
}
