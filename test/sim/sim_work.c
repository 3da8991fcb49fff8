/*
 * What workers run: for a time, printing or not, ending well or not, minding a stop or not.  A poison
 * task ends its worker's process.
 */
#include <string.h>

#include "sim.h"

static struct sim *world_of(struct sim_node *n)
{
        return n->net.w;
}

static uint32_t index_of(const struct sim_node *n)
{
        return n->net.node;
}

uint8_t sim_byte(const struct sim *w, uint64_t key, uint64_t offset)
{
        return w->pattern[(key * 7919 + offset) % (1 << 20)];
}

static void fill(const struct sim *w, uint64_t key, uint64_t offset, uint8_t *out, size_t len)
{
        for (size_t i = 0; i < len; i++)
                out[i] = sim_byte(w, key, offset + i);
}

/* A body says whose it is, then has bytes to be found unchanged. */
size_t sim_task_body(const struct sim *w, uint32_t task, uint8_t *out)
{
        const size_t len = w->tasks[task].body_len;
        memcpy(out, &task, sizeof task);
        fill(w, task, 0, out + sizeof task, len - sizeof task);
        return len;
}

static struct sim_run *find_run(struct sim_node *n, uint64_t run)
{
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run == run)
                        return &n->run[i];
        return NULL;
}

static uint64_t new_exec(struct sim *w, uint32_t task, uint64_t run)
{
        if (w->execs_count == w->execs_cap) {
                const uint64_t   cap   = w->execs_cap == 0 ? 256 : 2 * w->execs_cap;
                struct sim_exec *grown = sc_mem_resize(&w->mem, w->execs, w->execs_cap * sizeof *grown,
                                                       cap * sizeof *grown);
                SC_ASSERT(grown != NULL);
                w->execs     = grown;
                w->execs_cap = cap;
        }
        w->execs[w->execs_count++] = (struct sim_exec){ .task = task, .run = run };
        return w->execs_count;
}

/* ---- ending ------------------------------------------------------------------------------------------ */

static void begin_next(struct sim *w, struct sim_node *n);

static void end_run(struct sim *w, struct sim_node *n, struct sim_run *r, bool asked)
{
        static uint8_t         bytes[SC_RESULT_MAX];
        const struct sim_task *t       = &w->tasks[r->task];
        struct sim_exec       *exec    = &w->execs[r->exec - 1];
        struct sc_outcome      outcome = { .streamed = r->printed };
        const bool             fails   = asked || t->end == SIM_FAILS || t->starts <= t->fails_first;
        outcome.wall_us                = (uint64_t)((w->now - r->began_at) / SC_US);
        exec->finished                 = true;
        exec->success                  = !fails;
        memcpy(bytes, &r->exec, sizeof r->exec);
        if (fails) {
                outcome.reason = SC_REASON_TASK;
                outcome.code   = 7;
                outcome.how    = t->kind == SC_TASK_COMMAND ? (asked ? SC_HOW_SIGNALLED : SC_HOW_EXITED) : SC_HOW_NONE;
                outcome.text   = (struct sc_view){ "it failed", 9 };
        } else {
                outcome.how = t->kind == SC_TASK_COMMAND ? SC_HOW_EXITED : SC_HOW_NONE;
                if (w->config.graphs)
                        sim_graph_result(w, r->task, r->exec, bytes);
                else
                        fill(w, r->exec, 0, bytes + sizeof r->exec, t->result_len - sizeof r->exec);
                outcome.result = (struct sc_view){ bytes, t->result_len };
                outcome.errors = (struct sc_view){ bytes, t->result_len % 100 };
        }
        if (!fails)
                sim_graph_ran(w, r->task);
        const uint64_t run = r->run;
        sim_trace(w, "ran", index_of(n), r->exec, fails);
        r->run = 0;
        r->life++;
        sim_full_ran(w, t->client, r->began_at);
        sim_idle_changed(w, index_of(n), r->task);
        begin_next(w, n);
        sc_work_shell_ran(n->work, run, &outcome, sim_node_now(w, index_of(n)));
}

static void post_end(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        struct sim_run  *r = &n->run[post->a & 0xff];
        if (r->run != 0 && r->life == post->a >> 8)
                end_run(w, n, r, post->b != 0);
}

static void end_event(struct sim *w, struct sim_event *ev)
{
        if (sim_event_stale(w, ev))
                return;
        struct sim_post *post = sim_post(w, ev->node, post_end);
        post->a               = ev->a;
        post->b               = ev->b;
}

static uint64_t place_of(const struct sim_node *n, const struct sim_run *r)
{
        return (uint64_t)(r - n->run) | r->life << 8;
}

static void end_at(struct sim *w, struct sim_node *n, const struct sim_run *r, sc_ns at, bool asked)
{
        struct sim_event *ev = sim_at_node(w, at, index_of(n), end_event);
        ev->a                = place_of(n, r);
        ev->b                = asked;
}

static void crash_event(struct sim *w, struct sim_event *ev)
{
        if (sim_event_stale(w, ev))
                return;
        w->lost_slots += w->nodes[ev->node].slots;
        sim_node_stop(w, ev->node);
        sim_node_restart_at(w, ev->node, w->now + sim_between(w, SC_MS, 2 * SC_S));
}

/* ---- printing ------------------------------------------------------------------------------------------ */

/* The stream begins with the number of the execution, so that a mixture of two would show. */
static void print(struct sim *w, struct sim_node *n, struct sim_run *r)
{
        static uint8_t         bytes[SC_OUTPUT_CHUNK];
        const struct sim_task *t   = &w->tasks[r->task];
        size_t                 len = 8 + sim_below(w, SC_OUTPUT_CHUNK - 8);
        if (len > t->stream_len - r->printed)
                len = t->stream_len - r->printed;
        fill(w, r->exec, r->printed, bytes, len);
        if (r->printed == 0)
                memcpy(bytes, &r->exec, sizeof r->exec);
        r->printed += len;
        r->may_print          = false;
        const uint64_t run    = r->run;
        const uint8_t  stream = (uint8_t)(1 + sim_below(w, 2));
        sc_work_shell_output(n->work, run, stream, (struct sc_view){ bytes, len }, sim_node_now(w, index_of(n)));
}

static void go_on_printing(struct sim *w, struct sim_node *n, struct sim_run *r);

static void post_print(struct sim *w, struct sim_post *post)
{
        struct sim_node *n = &w->nodes[post->node];
        struct sim_run  *r = &n->run[post->a & 0xff];
        if (r->run != 0 && r->life == post->a >> 8 && r->may_print)
                print(w, n, r);
}

static void print_event(struct sim *w, struct sim_event *ev)
{
        if (!sim_event_stale(w, ev))
                sim_post(w, ev->node, post_print)->a = ev->a;
}

static void go_on_printing(struct sim *w, struct sim_node *n, struct sim_run *r)
{
        const struct sim_task *t = &w->tasks[r->task];
        r->may_print             = true;
        if (r->printed == t->stream_len)
                end_at(w, n, r, w->now + sim_between(w, SC_US, t->duration / 4 + 2), false);
        else
                sim_at_node(w, w->now + sim_between(w, SC_US, t->duration / 8 + 2), index_of(n), print_event)->a =
                        place_of(n, r);
}

/* ---- the shell's upcalls ---------------------------------------------------------------------------------- */

/* One cpu goes without saying, so it may be left out. */
static void check_needs(struct sim *w, uint32_t task, struct sc_view needs)
{
        static const char usual[] = "cpu=1000";
        const char       *said    = w->tasks[task].needs.text;
        const size_t      len     = sizeof usual - 1;
        if (strncmp(said, usual, len) == 0 && (said[len] == ',' || said[len] == '\0'))
                said += said[len] == ',' ? len + 1 : len;
        if (needs.len != strlen(said) || (needs.len > 0 && memcmp(needs.ptr, said, needs.len) != 0))
                sim_fail(w, "task %u reached its worker with other needs: %.*s", task, (int)needs.len,
                         (const char *)needs.ptr);
}

static void check_assign(struct sim *w, const struct sc_assign *assign, uint32_t *task_out)
{
        static uint8_t         expected[SC_BODY_MAX];
        uint32_t               task;
        const struct sim_task *t = sim_task_of(w, assign->task, &task);
        if (t == NULL)
                sim_fail(w, "a worker runs a task that nobody submitted");
        const size_t len = sim_task_body(w, task, expected);
        if (assign->spec.body.len != len || memcmp(assign->spec.body.ptr, expected, len) != 0)
                sim_fail(w, "task %u reached its worker with other bytes", task);
        check_needs(w, task, assign->spec.plan != NULL ? assign->spec.plan->needs : (struct sc_view){ "", 0 });
        if (w->config.graphs)
                sim_graph_assigned(w, task, assign->spec.plan);
        if (assign->spec.kind != t->kind || assign->spec.timeout_ms != t->timeout_ms)
                sim_fail(w, "task %u reached its worker with another spec", task);
        *task_out = task;
}

static uint32_t count_runs(const struct sim_node *n, bool begun)
{
        uint32_t count = 0;
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                count += n->run[i].run != 0 && n->run[i].begun == begun && !n->run[i].parked;
        return count;
}

static bool prints(const struct sim *w, const struct sim_run *r)
{
        const struct sim_task *t = &w->tasks[r->task];
        return t->stream && t->stream_len > 0 && !w->execs[r->exec - 1].brief;
}

/* It is over as soon as it has begun; poison takes its time. */
static bool ends_inside(const struct sim *w, const struct sim_run *r)
{
        const struct sim_task *t = &w->tasks[r->task];
        return t->inline_end && t->end != SIM_POISON && !prints(w, r);
}

static void begin(struct sim *w, struct sim_node *n, struct sim_run *r)
{
        struct sim_task *t = &w->tasks[r->task];
        r->begun           = true;
        r->began_at        = w->now;
        t->starts++;
        w->execs[r->exec - 1].begun = true;
        w->execs[r->exec - 1].brief = t->starts > 1 && r->exec % 2 == 0;
        sim_trace(w, "run", index_of(n), r->task, r->exec);
        sim_judge_held(w, index_of(n), r);
        sim_times_began(w, r->task);
        sim_idle_changed(w, index_of(n), r->task);
        if (t->end == SIM_POISON)
                sim_at_node(w, w->now + sim_between(w, SC_US, t->duration), index_of(n), crash_event);
        else if (prints(w, r))
                go_on_printing(w, n, r);
        else if (t->children > 0)
                sim_nested_begin(w, n, r, place_of(n, r));
        else if (!t->inline_end)
                end_at(w, n, r, w->now + t->duration, false);
}

/* Its children are done with, or it is told to stop. */
void sim_work_goes_on(struct sim *w, struct sim_node *n, const struct sim_run *r)
{
        const sc_ns most = r->stopped ? SC_MS : w->tasks[r->task].duration;
        end_at(w, n, r, w->now + most, r->stopped);
}

/* What was told beyond the slots begins in its order, each when a slot comes free; the worker hears of it later. */
static void begin_next(struct sim *w, struct sim_node *n)
{
        struct sim_run *next = NULL;
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (n->run[i].run != 0 && !n->run[i].begun && (next == NULL || n->run[i].order < next->order))
                        next = &n->run[i];
        if (next == NULL || count_runs(n, true) >= n->slots)
                return;
        begin(w, n, next);
        if (ends_inside(w, next))
                end_at(w, n, next, w->now, false);
}

static void check_place(struct sim *w, struct sim_node *n, const struct sim_task *t, uint64_t run)
{
        const uint32_t busy = count_runs(n, true), waiting = count_runs(n, false);
        if (find_run(n, run) != NULL)
                sim_fail(w, "worker %u was told to run a run twice", index_of(n));
        if (waiting >= SC_OFFERED_MAX)
                sim_fail(w, "worker %u was told of more runs than may be offered", index_of(n));
        if (busy >= n->slots && (t->kind == SC_TASK_COMMAND || t->stream))
                sim_fail(w, "worker %u was told to run more than its %u slots", index_of(n), n->slots);
        for (int i = 0; i < SIM_RUNS_MAX; i++)
                if (busy >= n->slots && n->run[i].begun && n->run[i].run != 0 &&
                    w->tasks[n->run[i].task].kind == SC_TASK_COMMAND)
                        sim_fail(w, "worker %u was offered a run ahead while a command has a slot", index_of(n));
}

static void on_run(void *role, const struct sc_assign *assign)
{
        struct sim_node *n = role;
        struct sim      *w = world_of(n);
        uint32_t         task;
        check_assign(w, assign, &task);
        sim_drain_runs(w, index_of(n), task);
        const struct sim_task *t = &w->tasks[task];
        if (t->kind == SC_TASK_FUNCTION && !(n->functions & 1u << t->function))
                sim_fail(w, "task %u runs where its function is not known", task);
        check_place(w, n, t, assign->run);
        struct sim_run *r    = find_run(n, 0);
        const uint64_t  life = r->life;
        memset(r, 0, sizeof *r);
        r->run                      = assign->run;
        r->task                     = task;
        r->life                     = life + 1;
        r->order                    = ++w->runs_told;
        r->exec                     = new_exec(w, task, assign->run);
        w->execs[r->exec - 1].epoch = n->epoch;
        w->execs[r->exec - 1].node       = index_of(n);
        w->execs[r->exec - 1].generation = n->generation;
        if (assign->run >> 63 &&
            t->last_epoch == n->epoch) /* a name of the worker's own, where two epochs' runs meet */
                w->execs[r->exec - 1].run = t->last_run;
        if (count_runs(n, true) >= n->slots) {
                sim_trace(w, "offered", index_of(n), task, r->exec);
                return;
        }
        begin(w, n, r);
        if (ends_inside(w, r))
                end_run(w, n, r, false);
}

static bool on_take_back(void *role, uint64_t run)
{
        struct sim_node *n = role;
        struct sim_run  *r = find_run(n, run);
        if (run == 0 || r == NULL || r->begun)
                return false;
        sim_trace(world_of(n), "back", index_of(n), r->exec, 0);
        r->run = 0;
        r->life++;
        return true;
}

static void on_stop(void *role, uint64_t run, enum sc_stop_how how)
{
        struct sim_node *n = role;
        struct sim      *w = world_of(n);
        struct sim_run  *r = find_run(n, run);
        if (run == 0 || r == NULL)
                return; /* it ended a moment ago */
        if (!r->begun)
                sim_fail(w, "worker %u stops a run that it could have taken back", index_of(n));
        const struct sim_task *t = &w->tasks[r->task];
        sim_trace(w, "halt", index_of(n), r->exec, how);
        const bool dies = how == SC_STOP_KILL && t->kind == SC_TASK_COMMAND;
        if (t->ignores_cancel && t->end != SIM_POISON && how == SC_STOP_KILL && !dies && prints(w, r))
                end_at(w, n, r, w->now + t->duration, true); /* nobody reads on, and it does not wait for that */
        if (t->end == SIM_POISON || (t->ignores_cancel && !dies) || (r->stopped && !dies))
                return;
        if (r->nests) {
                sim_nested_stop(w, n, r, place_of(n, r));
                return;
        }
        r->stopped = true;
        end_at(w, n, r, w->now + sim_between(w, SC_US, dies ? 10 * SC_MS : SC_S), true);
}

static void on_park(void *role, uint64_t run)
{
        struct sim_node *n = role;
        struct sim_run  *r = find_run(n, run);
        if (run == 0 || r == NULL || !r->waits || r->parked)
                sim_fail(world_of(n), "worker %u parks a run that does not wait", index_of(n));
        r->parked = true;
        begin_next(world_of(n), n);
}

static void on_resume(void *role, uint64_t run, int status)
{
        struct sim_node *n = role;
        struct sim      *w = world_of(n);
        struct sim_run  *r = find_run(n, run);
        if (run == 0 || r == NULL || !r->waits)
                sim_fail(w, "worker %u lets a run go on that does not wait", index_of(n));
        r->parked = r->waits = r->woken = r->nests = false;
        sim_trace(w, "resume", index_of(n), r->task, r->exec);
        sim_nested_resumed(w, n, status);
        sim_work_goes_on(w, n, r);
}

static void on_read_more(void *role, uint64_t run)
{
        struct sim_node *n = role;
        struct sim      *w = world_of(n);
        struct sim_run  *r = find_run(n, run);
        if (run == 0 || r == NULL || r->may_print)
                return;
        if (sim_chance(w, 30) && r->printed < w->tasks[r->task].stream_len)
                print(w, n, r);
        else
                go_on_printing(w, n, r);
}

static void on_closed(void *role)
{
        struct sim_node *n = role;
        n->closed          = true;
        sc_station_hang_up(sc_work_shell_station(n->work), sim_node_now(world_of(n), index_of(n)));
        sim_drain_left(world_of(n), index_of(n));
}

static void on_give_up(void *role, int status, const char *why)
{
        struct sim_node *n = role;
        sim_fail(world_of(n), "worker %u gives up: %d %s", index_of(n), status, why);
}

const struct sc_work_shell_upcalls sim_work_upcalls = {
        .run       = on_run,
        .take_back = on_take_back,
        .stop      = on_stop,
        .read_more = on_read_more,
        .park      = on_park,
        .resume    = on_resume,
        .closed    = on_closed,
        .give_up   = on_give_up,
};
