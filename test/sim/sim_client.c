/*
 * Applications over clients: tasks submitted at planned times, cancelled at planned times, output taken
 * at leisure; everything that comes back is held against what was asked.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum { OUTPUT_WINDOW = 256 * 1024 }; /* the default of sc_cli_options */

static struct sim *world_of(const struct sim_node *n)
{
        return n->net.w;
}

static uint32_t index_of(const struct sim_node *n)
{
        return n->net.node;
}

struct sim_task *sim_task_of(struct sim *w, struct sc_id id, uint32_t *index)
{
        struct sim_task *t = sc_map_get(&w->by_id, id);
        if (t != NULL && index != NULL)
                *index = (uint32_t)(t - w->tasks);
        return t;
}

/* ---- submitting -------------------------------------------------------------------------------------- */

int sim_client_submit(struct sim *w, struct sim_node *n, uint32_t task, uint64_t seq)
{
        static uint8_t           body[SC_BODY_MAX];
        static const char *const names[SIM_FUNCTIONS] = { "f0", "f1", "f2", "f3" };
        struct sim_task         *t                    = &w->tasks[task];
        const struct sc_view     none                 = { "", 0 };
        struct sc_spec           spec                 = { .kind = t->kind };
        struct sim_deps          deps                 = { .plan = sim_times_of(t) };

        spec.flags      = t->stream ? SC_SPEC_STREAM : 0;
        spec.priority   = t->priority;
        spec.retries    = t->retries;
        if (w->config.graphs)
                sim_graph_fill(w, task, &deps);
        uint8_t room[SC_PARENT_SIZE];
        if (t->parent != 0)
                deps.plan = sim_nested_sign(w, t, deps.plan, room);
        const bool planned = deps.plan.needs.len > 0 || deps.plan.key.len > 0 || w->config.times || w->config.graphs ||
                             t->parent != 0;
        spec.plan       = planned ? &deps.plan : NULL;
        spec.timeout_ms = t->timeout_ms;
        spec.function   = t->kind == SC_TASK_FUNCTION ? (struct sc_view){ names[t->function], 2 } : none;
        spec.body       = (struct sc_view){ body, t->kind == SC_TASK_GRAPH ? 0 : sim_task_body(w, t->canon, body) };
        t->id           = (struct sc_id){ n->id, seq };
        /* Known before it is submitted, since it may be over before submit returns. */
        if (!sc_map_reserve(&w->by_id, w->by_id.len + 1))
                abort();
        sc_map_put(&w->by_id, t->id, t);
        t->submitted     = true;
        t->submitted_at  = w->now;
        const int status = sc_cli_shell_submit(n->cli, &spec, seq, sim_node_now(w, index_of(n)));
        sim_deps_free(&deps);
        if (status == 0)
                return 0;
        sc_map_remove(&w->by_id, t->id);
        t->submitted = false;
        return status;
}

/* Those that a graph could not be given, for want of memory: it is cancelled before anything of it is sent. */
static void end_unadmitted(struct sim *w, struct sim_node *n, uint32_t head)
{
        for (uint32_t i = head + 1; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                if (t->head != head + 1 || t->submitted)
                        continue;
                t->submitted = t->ended = true;
                t->reason               = SC_REASON_CLIENT;
                t->id                   = (struct sc_id){ 0, 0 }; /* nobody's: it is not named, nor cancelled */
                w->ended_count++;
        }
        if (w->tasks[head].cancels++ == 0)
                w->tasks[head].cancelled_at = w->now;
        sc_cli_shell_cancel(n->cli, w->tasks[head].id, true, sim_node_now(w, index_of(n)));
}

/* A graph with all its nodes, or nothing of it. */
static int submit_all(struct sim *w, struct sim_node *n, uint32_t task)
{
        const uint64_t seq    = sc_cli_next_sequence(sc_cli_shell_core(n->cli));
        const uint32_t nodes  = w->tasks[task].nodes;
        int            status = sim_client_submit(w, n, task, seq);
        if (status != 0)
                return status;
        uint32_t place = 0;
        for (uint32_t i = task + 1; i < w->task_count && place < nodes && status == 0; i++)
                if (w->tasks[i].head == task + 1)
                        status = sim_client_submit(w, n, i, seq + ++place);
        if (status != 0 && !w->config.memory)
                sim_fail(w, "node %u of graph %u could not be submitted: %d", place, task, status);
        if (status != 0)
                end_unadmitted(w, n, task);
        return 0;
}

static void submit_due(struct sim *w, uint32_t node);

static void post_submit(struct sim *w, struct sim_post *post)
{
        submit_due(w, post->node);
}

static void submit_event(struct sim *w, struct sim_event *ev)
{
        if (!sim_event_stale(w, ev))
                sim_post(w, ev->node, post_submit);
}

static void post_cancel(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        struct sim_task *t = &w->tasks[post->a];
        if (n->closing || t->id.hi != n->id || !t->submitted)
                return;
        if (t->cancels++ == 0)
                t->cancelled_at = w->now;
        sim_trace(w, "cancel", post->node, post->a, post->b);
        sc_cli_shell_cancel(n->cli, t->id, post->b != 0, sim_node_now(w, post->node));
}

static void cancel_event(struct sim *w, struct sim_event *ev)
{
        if (sim_event_stale(w, ev))
                return;
        struct sim_post *post = sim_post(w, ev->node, post_cancel);
        post->a               = ev->a;
        post->b               = ev->b;
}

static void plan_cancels(struct sim *w, uint32_t node, uint32_t task)
{
        const struct sim_task *t = &w->tasks[task];
        for (int i = 0; i < 2; i++) {
                if (t->cancel_at[i] == 0)
                        continue;
                struct sim_event *ev = sim_at_node(w, w->now + t->cancel_at[i], node, cancel_event);
                ev->a                = task;
                ev->b                = t->force[i];
        }
}

static struct sim_task *next_of(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        while (n->next_task < w->task_count &&
               (w->tasks[n->next_task].client != node || w->tasks[n->next_task].submitted))
                n->next_task++;
        return n->next_task < w->task_count ? &w->tasks[n->next_task] : NULL;
}

static void submit_due(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        n->full            = false;
        struct sim_task *t = NULL;
        while (!n->closing && (t = next_of(w, node)) != NULL && t->submit_at <= w->now) {
                const uint32_t task   = (uint32_t)(t - w->tasks);
                const int      status = submit_all(w, n, task);
                if (status == SC_E_FULL) {
                        n->full = true;
                        return; /* room() goes on */
                }
                if (status == SC_E_NOMEM && w->config.memory) {
                        sim_at_node(w, w->now + 10 * SC_MS, node, submit_event);
                        return;
                }
                if (status != 0)
                        sim_fail(w, "task %u could not be submitted: %d", task, status);
                sim_trace(w, "submit", node, task, t->id.lo);
                plan_cancels(w, node, task);
                for (uint32_t i = task + 1; i < w->task_count && t->nodes > 0; i++)
                        if (w->tasks[i].head == task + 1)
                                plan_cancels(w, node, i);
        }
        if (!n->closing && t != NULL)
                sim_at_node(w, t->submit_at, node, submit_event);
}

void sim_client_begin(struct sim *w, uint32_t node)
{
        w->nodes[node].next_task = 0;
        sim_times_begin(w, node);
        submit_due(w, node);
}

static void post_close(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        if (n->closing)
                return;
        n->closing = true;
        sim_trace(w, "leave", post->node, 0, 0);
        if (n->cli != NULL)
                sc_cli_shell_close(n->cli, sim_node_now(w, post->node));
        else if (n->work != NULL)
                sc_work_shell_drain(n->work, 0, sim_node_now(w, post->node));
}

void sim_client_close(struct sim *w, uint32_t node)
{
        sim_post(w, node, post_close);
}

/* ---- what comes back ------------------------------------------------------------------------------------ */

static void on_complete(void *role, const struct sc_result *result)
{
        struct sim_node *n = role;
        struct sim      *w = world_of(n);
        uint32_t         task;
        struct sim_task *t = sim_task_of(w, result->task, &task);
        if (t == NULL || t->id.hi != n->id)
                sim_fail(w, "client %u got the end of a task that it does not have", index_of(n));
        if (t->ended)
                sim_fail(w, "task %u ended twice", task);
        sim_trace(w, "end", task, result->outcome.reason, result->attempts);
        t->ended  = true;
        t->reason = result->outcome.reason;
        w->ended_count++;
        sim_judge_result(w, task, result);
        if (w->config.nested)
                sim_nested_ended(w, task);
}

static void on_graph(void *role, const struct sc_graph_done *done)
{
        struct sim_node *n = role;
        struct sim      *w = world_of(n);
        uint32_t         task;
        if (sim_task_of(w, done->task, &task) == NULL)
                sim_fail(w, "client %u is told of a graph that it does not have", index_of(n));
        sim_trace(w, "graph", task, done->reason, done->succeeded);
        sim_graph_done(w, task, done);
}

static void on_confirm(void *role, const struct sc_confirm *confirm)
{
        struct sim_node *n = role;
        struct sim      *w = world_of(n);
        uint32_t         task;
        struct sim_task *t = sim_task_of(w, confirm->task, &task);
        if (t == NULL || t->id.hi != n->id || t->cancels == 0)
                sim_fail(w, "client %u got a confirm for what it did not cancel", index_of(n));
        sim_trace(w, "confirm", task, confirm->outcome, 0);
        t->confirm = confirm->outcome;
        if (++t->confirms > t->cancels)
                sim_fail(w, "task %u: %u confirms for %u cancels", task, t->confirms, t->cancels);
}

static void post_consume(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        struct sim_task *t = &w->tasks[post->a];
        if (n->closing || t->id.hi != n->id || t->unconsumed == 0)
                return;
        const uint64_t bytes = sim_chance(w, 50) ? t->unconsumed : 1 + sim_below(w, t->unconsumed);
        t->unconsumed -= bytes;
        sc_cli_shell_consumed(n->cli, t->id, bytes, sim_node_now(w, post->node));
        if (t->unconsumed > 0)
                sim_post(w, post->node, post_consume)->a = post->a;
}

static void consume_event(struct sim *w, struct sim_event *ev)
{
        if (!sim_event_stale(w, ev))
                sim_post(w, ev->node, post_consume)->a = ev->a;
}

static void check_bytes(struct sim *w, uint32_t task, const struct sc_output *output)
{
        struct sim_task *t     = &w->tasks[task];
        const uint8_t   *bytes = output->bytes.ptr;
        size_t           at    = 0;
        if (t->got == 0) {
                if (output->bytes.len < sizeof t->exec_of_stream)
                        sim_fail(w, "task %u: its stream begins with %zu bytes", task, output->bytes.len);
                memcpy(&t->exec_of_stream, bytes, sizeof t->exec_of_stream);
                if (t->exec_of_stream == 0 || t->exec_of_stream > w->execs_count ||
                    w->execs[t->exec_of_stream - 1].task != task)
                        sim_fail(w, "task %u: its stream is another one's", task);
                at = sizeof t->exec_of_stream;
        }
        for (; at < output->bytes.len; at++)
                if (bytes[at] != sim_byte(w, t->exec_of_stream, t->got + at))
                        sim_fail(w, "task %u: its stream is wrong at byte %llu", task,
                                 (unsigned long long)(t->got + at));
}

static void on_deliver(void *role, const struct sc_output *output, bool restart)
{
        struct sim_node *n = role;
        struct sim      *w = world_of(n);
        uint32_t         task;
        struct sim_task *t = sim_task_of(w, output->task, &task);
        if (t == NULL || t->id.hi != n->id || !t->stream)
                sim_fail(w, "client %u got output that is not its own", index_of(n));
        if (t->ended)
                sim_fail(w, "task %u printed after its end", task);
        sim_trace(w, "output", task, output->offset, output->bytes.len);
        if (restart) {
                t->got        = 0;
                t->unconsumed = 0;
        }
        if (output->offset != t->got)
                sim_fail(w, "task %u: output at %llu, expected %llu", task, (unsigned long long)output->offset,
                         (unsigned long long)t->got);
        if (output->bytes.len == 0)
                return;
        check_bytes(w, task, output);
        t->got += output->bytes.len;
        t->unconsumed += output->bytes.len;
        if (t->unconsumed > OUTPUT_WINDOW)
                sim_fail(w, "task %u: %llu bytes of output beyond the window", task, (unsigned long long)t->unconsumed);
        const sc_ns pause = sim_between(w, SC_US, w->config.slow_readers ? 2 * SC_S : 20 * SC_MS);
        sim_at_node(w, w->now + pause, index_of(n), consume_event)->a = task;
}

static void on_reply(void *role, const struct sc_msg *row)
{
        struct sim_node *n = role;
        sim_trace(world_of(n), "reply", index_of(n), (uint64_t)row->kind, 0);
        sim_drain_answered(world_of(n), index_of(n), row);
        if (row->kind == SC_MSG_CONFIRM_MANY)
                sim_times_swept(world_of(n), index_of(n), &row->confirm_many);
}

static void on_room(void *role)
{
        struct sim_node *n = role;
        if (n->full)
                submit_due(world_of(n), index_of(n));
}

static void on_closed(void *role)
{
        struct sim_node *n = role;
        n->closed          = true;
        sc_station_hang_up(sc_cli_shell_station(n->cli), sim_node_now(world_of(n), index_of(n)));
}

static void on_give_up(void *role, int status, const char *why)
{
        struct sim_node *n = role;
        sim_fail(world_of(n), "client %u gives up: %d %s", index_of(n), status, why);
}

const struct sc_cli_shell_upcalls sim_client_upcalls = {
        .complete = on_complete,
        .graph    = on_graph,
        .confirm  = on_confirm,
        .deliver  = on_deliver,
        .reply    = on_reply,
        .room     = on_room,
        .closed   = on_closed,
        .give_up  = on_give_up,
};

static void on_stopped(void *role)
{
        struct sim_node *n = role;
        sim_drain_stopped(world_of(n), index_of(n));
}

const struct sc_sched_shell_upcalls sim_sched_upcalls = { .note = NULL, .closed = on_stopped };
