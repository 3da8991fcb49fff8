/*
 * What must hold.  The judge reads every frame that a scheduler or an honest peer sends, so it knows
 * which run of a task was made last and who executes it; it never asks a core what to expect.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

bool sim_honest(const struct sim *w, uint32_t node)
{
        return w->nodes[node].kind != SIM_HOSTILE;
}

/* ---- frames on their way ----------------------------------------------------------------------------- */

static void see_assign(struct sim *w, const struct sim_conn *from, const struct sc_assign *assign)
{
        struct sim_task *t = sim_task_of(w, assign->task, NULL);
        if (t == NULL)
                return;
        if (assign->run <= t->last_run && t->last_epoch == w->nodes[from->node].epoch)
                sim_fail(w, "task %u: run %llu is assigned after %llu", (unsigned)(t - w->tasks),
                         (unsigned long long)assign->run, (unsigned long long)t->last_run);
        sim_trace(w, "assign", (uint64_t)(t - w->tasks), from->other->node, assign->run);
        t->assigns++;
        t->last_epoch = t->last_held_epoch = w->nodes[from->node].epoch;
        t->last_run = t->last_held_run = assign->run;
}

/* What is kept may itself have been kept under another number before. */
static struct sim_alias alias_of(const struct sim *w, uint32_t task, uint64_t epoch, uint64_t run)
{
        for (uint64_t i = w->aliases_count; i-- > 0;) {
                const struct sim_alias *a = &w->aliases[i];
                if (a->task == task && a->epoch == epoch && a->run == run)
                        return *a;
        }
        return (struct sim_alias){ task, epoch, run, epoch, run };
}

static void add_alias(struct sim *w, const struct sim_alias *alias)
{
        if (w->aliases_count == w->aliases_cap) {
                const uint64_t    cap   = w->aliases_cap == 0 ? 64 : 2 * w->aliases_cap;
                struct sim_alias *grown = sc_mem_resize(&w->mem, w->aliases, w->aliases_cap * sizeof *grown,
                                                        cap * sizeof *grown);
                SC_ASSERT(grown != NULL);
                w->aliases     = grown;
                w->aliases_cap = cap;
        }
        w->aliases[w->aliases_count++] = *alias;
}

static void see_keep(struct sim *w, const struct sim_conn *from, const struct sc_about_run *keep)
{
        struct sim_task *t = sim_task_of(w, keep->task, NULL);
        if (t == NULL)
                return;
        sim_trace(w, "keep", (uint64_t)(t - w->tasks), from->other->node, keep->run);
        const struct sim_alias kept = alias_of(w, (uint32_t)(t - w->tasks), keep->held_epoch, keep->held_run);
        t->last_held_epoch          = kept.made_epoch;
        t->last_held_run            = kept.made_run;
        add_alias(w, &(struct sim_alias){ kept.task, w->nodes[from->node].epoch, keep->run, kept.made_epoch,
                                          kept.made_run });
        t->last_epoch = w->nodes[from->node].epoch;
        t->last_run   = keep->run;
}

static void see_result(struct sim *w, const struct sc_result *result)
{
        uint32_t               task;
        const struct sim_task *t = sim_task_of(w, result->task, &task);
        if (t == NULL || result->outcome.reason != SC_REASON_SUCCESS)
                return;
        uint64_t exec;
        if (result->outcome.result.len < sizeof exec)
                sim_fail(w, "task %u: its result has %zu bytes", task, result->outcome.result.len);
        memcpy(&exec, result->outcome.result.ptr, sizeof exec);
        if (exec == 0 || exec > w->execs_count || w->execs[exec - 1].task != t->canon)
                sim_fail(w, "task %u: its result is another one's", task);
}

/* A confirm goes out for each cancel that came in, and not one more. */
static void see_cancel(struct sim *w, const struct sim_conn *from, const struct sc_msg *msg)
{
        uint32_t         task;
        struct sim_task *t = sim_task_of(w, msg->kind == SC_MSG_CANCEL ? msg->cancel.task : msg->confirm.task, &task);
        if (t == NULL)
                return;
        if (msg->kind == SC_MSG_CANCEL)
                t->wire_cancels++;
        else if (++t->wire_confirms > t->wire_cancels && sim_honest(w, from->other->node))
                sim_fail(w, "task %u: %u confirms are sent for %u cancels", task, t->wire_confirms, t->wire_cancels);
}

static void see(struct sim *w, struct sim_conn *from, const struct sc_msg *msg)
{
        sim_drain_see(w, from, msg);
        const bool scheduler = w->nodes[from->node].kind == SIM_SCHEDULER;
        if (w->config.keys)
                sim_keys_said(w, from, msg);
        if (scheduler && w->config.shared)
                sim_ledger_said(w, from, msg);
        if (msg->kind == SC_MSG_CANCEL || msg->kind == SC_MSG_CONFIRM)
                see_cancel(w, from, msg);
        if (msg->kind == SC_MSG_WANT)
                sim_trace(w, "want", from->node, msg->want.tasks, msg->want.kib);
        if (scheduler && msg->kind == SC_MSG_ASSIGN)
                see_assign(w, from, &msg->assign);
        else if (scheduler && msg->kind == SC_MSG_KEEP)
                see_keep(w, from, &msg->about);
        else if (scheduler && msg->kind == SC_MSG_RESULT)
                see_result(w, &msg->result);
        else if (msg->kind == SC_MSG_BYE && msg->bye.status < 0 && sim_honest(w, from->other->node) &&
                 !w->config.memory && msg->bye.status != SC_E_TIMEOUT && msg->bye.status != SC_E_EXISTS &&
                 !(w->config.restarts && msg->bye.status == SC_E_UNREACHABLE) &&
                 (w->config.budget == 0 || msg->bye.status != SC_E_NOMEM))
                sim_fail(w, "node %u tells honest node %u goodbye: %d %.*s", from->node, from->other->node,
                         msg->bye.status, (int)msg->bye.why.len, (const char *)msg->bye.why.ptr);
}

static void keep_for_replay(struct sim *w, const uint8_t *bytes, size_t len)
{
        if (!w->config.hostile || len > 4096 || !sim_chance(w, 5))
                return;
        const uint32_t at = w->replay_count++ % 64;
        free(w->replay[at]);
        w->replay[at] = malloc(len);
        if (w->replay[at] == NULL)
                abort();
        memcpy(w->replay[at], bytes, len);
        w->replay_len[at] = len;
}

void sim_judge_frames(struct sim *w, struct sim_conn *from, const uint8_t *bytes, size_t len)
{
        size_t at = 0;
        while (at < len) {
                struct sc_frame_head head;
                const char          *why = "";
                if (sc_frame_get(bytes + at, &head, &why) != 0 || head.length > len - at)
                        sim_fail(w, "node %u sends a broken frame: %s", from->node, why);
                keep_for_replay(w, bytes + at, head.length);
                sim_trace(w, "grant", from->other->node, head.grant_tasks, head.grant_kib);
                sim_drain_granted(w, from, head.grant_tasks);
                sim_links_frame(w, from, &head);
                size_t cursor = 0;
                for (uint32_t i = 0; i < head.count; i++) {
                        struct sc_msg msg;
                        const int     got = sc_codec_unpack(bytes + at + SC_FRAME_HEAD, head.length - SC_FRAME_HEAD,
                                                            &cursor, &w->arena, &msg, &why);
                        if (got != 1)
                                sim_fail(w, "node %u sends a broken record: %s", from->node, why);
                        see(w, from, &msg);
                        sim_links_record(w, from, head.seq, &msg);
                }
                at += head.length;
        }
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

static void judge_success(struct sim *w, uint32_t task, const struct sc_outcome *outcome)
{
        const struct sim_task *t = &w->tasks[task];
        uint64_t               number;
        memcpy(&number, outcome->result.ptr, sizeof number);
        if (number == 0 || number > w->execs_count)
                sim_fail(w, "task %u: a result of nobody's", task);
        const struct sim_exec *exec  = &w->execs[number - 1];
        const uint8_t         *bytes = outcome->result.ptr;
        if (exec->task != t->canon || !exec->finished || !exec->success)
                sim_fail(w, "task %u succeeded by an execution that did not", task);
        if (outcome->result.len != t->result_len || outcome->errors.len != t->result_len % 100)
                sim_fail(w, "task %u: its result has %zu bytes", task, outcome->result.len);
        const bool valued = w->config.graphs;
        if (valued && memcmp(bytes + sizeof number, &t->value, sizeof t->value) != 0)
                sim_fail(w, "task %u: its result has another value than a sequential evaluation gives", task);
        for (size_t i = valued ? 2 * sizeof number : sizeof number; i < outcome->result.len; i++)
                if (bytes[i] != sim_byte(w, number, i - sizeof number))
                        sim_fail(w, "task %u: its result is wrong at byte %zu", task, i);
        const struct sim_task *work = &w->tasks[t->canon]; /* one that is forgotten, or its client gone, runs again */
        const bool again = t->key[0] != '\0' && (!w->config.keys_quiet || w->config.keys_forget);
        if (!again && (exec->run != work->last_held_run || exec->epoch != work->last_held_epoch))
                sim_fail(w, "task %u: the answer is of run %llu, the last one made is %llu", task,
                         (unsigned long long)exec->run, (unsigned long long)work->last_held_run);
        const uint64_t streamed = exec->brief ? 0 : t->stream_len;
        if (t->stream && (outcome->streamed != streamed || t->got != streamed ||
                          (t->got > 0 && t->exec_of_stream != number)))
                sim_fail(w, "task %u: %llu of %llu bytes of output, of execution %llu for %llu", task,
                         (unsigned long long)t->got, (unsigned long long)streamed,
                         (unsigned long long)t->exec_of_stream, (unsigned long long)number);
}

static bool losses_possible(const struct sim *w)
{
        const struct sim_config *c = &w->config;
        return c->breaks || c->half_open || c->worker_crashes || c->pauses || c->clogs || c->memory ||
               c->scheduler_crashes || c->refused_functions;
}

static void judge_failure(struct sim *w, uint32_t task, const struct sc_result *result)
{
        const struct sim_task *t      = &w->tasks[task];
        const uint8_t          reason = result->outcome.reason;
        if (w->config.memory)
                return; /* whoever had no memory says so in its own way */
        if (reason == SC_REASON_CANCELLED && t->cancels == 0 && !t->swept && !sim_nested_may_be_cancelled(w, task))
                sim_fail(w, "task %u was cancelled by nobody", task);
        if (reason == SC_REASON_TASK && t->end != SIM_FAILS && t->fails_first == 0 && t->timeout_ms == 0)
                sim_fail(w, "task %u failed and should not", task);
        if (reason == SC_REASON_TASK && t->end == SIM_FAILS && t->cancels == 0 && !t->swept && t->timeout_ms == 0 &&
            sim_times_retries(t, reason) &&
            result->attempts < t->retries + 1)
                sim_fail(w, "task %u was tried %u times and wanted %u retries", task, result->attempts, t->retries);
        if (reason == SC_REASON_RUN_TIMEOUT && !w->config.pauses && !w->config.clogs && !t->stream &&
            (t->timeout_ms == 0 || (sc_ns)t->timeout_ms * SC_MS > t->duration * 4 + SC_S))
                sim_fail(w, "task %u timed out and had time", task);
        if (reason == SC_REASON_WORKER_DIED && result->losses != 3)
                sim_fail(w, "task %u lost its worker %u times in %u runs", task, result->losses, t->assigns);
        if (reason == SC_REASON_WORKER_DIED && t->end != SIM_POISON && !losses_possible(w))
                sim_fail(w, "task %u was ended by another one's poison", task);
        if (reason == SC_REASON_KEY && t->key[0] != '\0')
                return;
        if (reason != SC_REASON_CANCELLED && reason != SC_REASON_TASK && reason != SC_REASON_RUN_TIMEOUT &&
            reason != SC_REASON_WORKER_DIED && reason != SC_REASON_QUEUE_TIMEOUT && reason != SC_REASON_DEADLINE)
                sim_fail(w, "task %u ended for reason %u (%.*s)", task, reason, (int)result->outcome.text.len,
                         (const char *)result->outcome.text.ptr);
}

void sim_judge_result(struct sim *w, uint32_t task, const struct sc_result *result)
{
        const struct sim_task *t = &w->tasks[task];
        w->tasks[task].losses    = result->losses;
        w->tasks[task].attempts  = result->attempts;
        if (!w->config.memory)
                sim_times_ended(w, task, result);
        if (w->config.keys)
                sim_keys_ended(w, task, result);
        if (sim_graph_ended(w, task, result))
                return;
        if (result->outcome.reason != SC_REASON_SUCCESS) {
                judge_failure(w, task, result);
                return;
        }
        if (t->hopeless)
                sim_fail(w, "task %u succeeded, and nobody could do it", task);
        if (t->end != SIM_SUCCEEDS)
                sim_fail(w, "task %u succeeded and cannot", task);
        judge_success(w, task, &result->outcome);
}

/* ---- the end of the world -------------------------------------------------------------------------------- */

static void judge_confirm(struct sim *w, uint32_t task)
{
        const struct sim_task *t = &w->tasks[task];
        if (t->cancels == 0)
                return;
        if (t->confirms == 0 || (t->confirms != t->cancels && t->cancels == 1))
                sim_fail(w, "task %u: %u confirms for %u cancels", task, t->confirms, t->cancels);
        const bool cancelled = t->reason == SC_REASON_CANCELLED;
        if (w->config.graphs && t->confirm == SC_CANCEL_NOT_FOUND && t->ended_at <= t->cancelled_at)
                return; /* whatever it depended on had been cancelled before */
        if (t->cancels == 1 && !t->swept && ((t->confirm == SC_CANCEL_CANCELED) != cancelled))
                sim_fail(w, "task %u: confirm %u, reason %u", task, t->confirm, t->reason);
}

static void judge_runs_once(struct sim *w, uint32_t task)
{
        const struct sim_task *t = &w->tasks[task];
        if (w->config.blips_only && t->starts > 1 && t->retries == 0)
                sim_fail(w, "task %u was started %u times over short breaks", task, t->starts);
        const bool faultless = w->config.calm || w->config.rolling;
        if (faultless && t->starts > t->retries + 1 + t->released)
                sim_fail(w, "task %u was started %u times, and nothing ever failed", task, t->starts);
        if (faultless && t->losses > 0)
                sim_fail(w, "task %u was lost %u times, and nothing ever failed", task, t->losses);
        /* An ASSIGN that was written and not yet sent when its link broke was never seen, but it was a run. */
        if (w->config.blips_only && t->assigns == 1 && t->attempts == 1 && t->losses > 0)
                sim_fail(w, "task %u was kept, and charged for %u losses", task, t->losses);
}

/* Where nothing but poison ends workers, each of their ends is charged to about as many runs as had slots: a
 * report that dies with its worker makes one more. */
void sim_judge_losses(struct sim *w)
{
        struct sc_status_row row;
        if (!w->config.poison_only && w->config.budget == 0)
                return;
        sc_sched_stats(sc_sched_shell_core(w->nodes[0].sched), sim_node_now(w, 0), &row);
        if (row.runs_lost > w->lost_slots)
                sim_fail(w, "%llu runs are charged for workers with %llu slots", (unsigned long long)row.runs_lost,
                         (unsigned long long)w->lost_slots);
}

/* Long after the world has healed, no cancel that a task minds is still without an answer. */
void sim_judge_cancels(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t     = &w->tasks[i];
                const bool             minds = !t->ignores_cancel && !t->stream && t->end != SIM_POISON &&
                                   t->kind != SC_TASK_GRAPH; /* some node of it may not */
                const bool             said  = t->head == 0 || (t->said_at != 0 && w->now > t->said_at + 45 * SC_S);
                if (t->cancels > 0 && t->confirms == 0 && !t->orphaned && minds && said &&
                    w->now > t->cancelled_at + 45 * SC_S && w->now > w->healed_at + 45 * SC_S)
                        sim_fail(w, "task %u waits for the answer to its cancel", i);
        }
}

void sim_judge_end(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (t->orphaned)
                        continue;
                if (!t->submitted || !t->ended)
                        sim_fail(w, "task %u never ended", i);
                judge_confirm(w, i);
                judge_runs_once(w, i);
        }
        sim_keys_end(w);
}
