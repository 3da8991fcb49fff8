/*
 * Worlds with idempotency keys: groups of tasks of one tenant with one key, most of them alike in what defines the
 * work, some not; cancelled, out of time and submitted as the seed will have it.  The first of those that are alike
 * stands for the work: workers run that one, and it keeps what is known of runs.  Half of these worlds are quiet:
 * no fault ever happens in them, and so it is known who owns what when.
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define DECIDED (50 * SC_MS) /* a turn that comes late, and a send before it */

/* ---- the plan ------------------------------------------------------------------------------------------- */

void sim_keys_config(struct sim *w)
{
        struct sim_config *c = &w->config;
        if (w->seed % 11 != 5 && w->seed % 11 != 9)
                return;
        c->keys        = true;
        c->keys_quiet  = sim_chance(w, 50);
        c->keys_forget = sim_chance(w, 30);
        if (!c->keys_quiet)
                return;
        c->breaks = c->half_open = c->clogs = c->pauses = c->skew = c->hostile = c->memory = false;
        c->worker_crashes = c->client_crashes = c->scheduler_crashes = c->refused_functions = false;
}

static uint32_t tenant_of(const struct sim *w, const struct sim_task *t)
{
        return w->nodes[t->client].tenant;
}

static bool has_its_key(const struct sim *w, const struct sim_task *a, const struct sim_task *b)
{
        return a->key[0] != '\0' && strcmp(a->key, b->key) == 0 && tenant_of(w, a) == tenant_of(w, b);
}

static struct sim_task *first_alike(struct sim *w, const struct sim_task *t)
{
        for (struct sim_task *first = w->tasks; first < t; first++)
                if (has_its_key(w, first, t) && first->variant == t->variant)
                        return first;
        return NULL;
}

/* All that is not an owner's own affair. */
static void make_alike(struct sim_task *t, const struct sim_task *first)
{
        t->kind           = first->kind;
        t->function       = first->function;
        t->end            = first->end;
        t->duration       = first->duration;
        t->retries        = first->retries;
        t->timeout_ms     = first->timeout_ms;
        t->body_len       = first->body_len;
        t->result_len     = first->result_len;
        t->inline_end     = first->inline_end;
        t->ignores_cancel = first->ignores_cancel;
        t->backoff_ms     = first->backoff_ms;
        t->canon          = first->canon;
}

static void plan_key(struct sim *w, struct sim_task *t, uint64_t keys)
{
        snprintf(t->key, sizeof t->key, "k%u", (unsigned)sim_below(w, keys));
        t->variant  = sim_chance(w, 6);
        t->priority = (int32_t)sim_below(w, 5);
        if (sim_chance(w, 10))
                t->deadline_ms = (uint64_t)(sim_between(w, SC_MS, 60 * SC_S) / SC_MS);
        if (sim_chance(w, 10))
                t->queue_ms = (uint64_t)(sim_between(w, SC_MS, 20 * SC_S) / SC_MS);
        if (sim_chance(w, 20) && t->cancel_at[0] == 0)
                t->cancel_at[0] = sim_between(w, SC_US, 2 * t->duration + SC_S);
        t->stream      = false;
        t->stream_len  = 0;
        t->fails_first = 0;
        t->end         = t->end == SIM_POISON ? SIM_SUCCEEDS : t->end;
        const struct sim_task *first = first_alike(w, t);
        if (first != NULL)
                make_alike(t, first);
        else if (sim_chance(w, 20))
                t->backoff_ms = (uint32_t)(sim_between(w, SC_MS, SC_S) / SC_MS);
}

void sim_keys_plan(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count; i++)
                w->tasks[i].canon = i;
        if (!w->config.keys)
                return;
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == SIM_CLIENT && sim_chance(w, 30))
                        w->nodes[i].tenant = 1;
        const uint64_t keys = 1 + sim_below(w, w->task_count / 4 + 1);
        for (uint32_t i = 0; i < w->task_count; i++)
                if (sim_chance(w, 70))
                        plan_key(w, &w->tasks[i], keys);
}

/* ---- names ---------------------------------------------------------------------------------------------- */

/* A work is called what it is called, whoever leads it and whichever scheduler gives it out; the body tells which. */
static void learn_name(struct sim *w, const struct sc_assign *assign)
{
        uint32_t task;
        if (!(assign->task.lo & SC_SEQUENCE_KEY))
                return;
        if (assign->spec.body.len < sizeof task)
                sim_fail(w, "a work is assigned without its body");
        memcpy(&task, assign->spec.body.ptr, sizeof task);
        if (task >= w->task_count || w->tasks[task].canon != task || w->tasks[task].key[0] == '\0')
                sim_fail(w, "a work is assigned with the body of task %u", task);
        struct sim_task *t = &w->tasks[task];
        if (!sc_id_is_nil(t->work) && !sc_id_equal(t->work, assign->task))
                sim_fail(w, "the work of task %u has two names", task);
        if (!sc_id_is_nil(t->work))
                return;
        t->work = assign->task;
        SC_ASSERT(sc_map_reserve(&w->by_id, w->by_id.len + 1) && sc_map_get(&w->by_id, t->work) == NULL);
        sc_map_put(&w->by_id, t->work, t);
}

/* ---- one at a time ---------------------------------------------------------------------------------------- */

static bool may_be_released(const struct sim *w, const struct sim_task *work)
{
        for (uint32_t i = 0; i < w->task_count; i++)
                if (&w->tasks[w->tasks[i].canon] == work && w->tasks[i].deadline_ms > 0 &&
                    (!w->config.keys_quiet || work->ignores_cancel))
                        return true;
        return false;
}

static void hold(struct sim *w, struct sim_task *work, const struct sim_conn *at, uint64_t run)
{
        const struct sim_conn *before = work->holder;
        if (before != NULL && !before->closed && before->generation == w->nodes[before->node].generation &&
            !may_be_released(w, work) && w->nodes[before->other->node].kind == SIM_WORKER)
                sim_fail(w, "the work of task %u is given to node %u as run %llu, and node %u has it",
                         (unsigned)(work - w->tasks), at->other->node, (unsigned long long)run, before->other->node);
        work->holder = at;
}

/* Whoever has a run from before says so in the first second of a scheduler's life; clocks may be wrong. */
static void judge_claims(struct sim *w, const struct sim_task *work)
{
        if (w->now < w->epoch_at + 900 * SC_MS)
                sim_fail(w, "the work of task %u is given out %.3f s after its scheduler began",
                         (unsigned)(work - w->tasks), (double)(w->now - w->epoch_at) / 1e9);
}

static void answer(struct sim_task *work, const struct sim_conn *from, uint64_t run)
{
        if (work->holder != NULL && work->holder->other == from && work->last_run == run)
                work->holder = NULL;
}

/* ---- who owns it ------------------------------------------------------------------------------------------ */

static bool is_owner(const struct sim_task *t)
{
        return t->heard_at != 0 && !t->answered && t->cancel_heard_at == 0 && t->deadline_ms == 0;
}

/* Stopped because its last owner wants it: nobody who was there before that wish is left. */
static void judge_stop(struct sim *w, const struct sim_task *work)
{
        sc_ns latest = 0;
        if (work->timeout_ms > 0)
                return; /* a run past its limit is stopped, too */
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (&w->tasks[t->canon] != work || t->heard_at == 0)
                        continue;
                latest = sc_ns_max(latest, t->cancel_heard_at);
                if (t->deadline_ms > 0)
                        latest = sc_ns_max(latest, sc_ns_min(w->now, t->heard_at + (sc_ns)t->deadline_ms * SC_MS));
        }
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *t = &w->tasks[i];
                if (&w->tasks[t->canon] == work && is_owner(t) && t->heard_at + DECIDED < latest)
                        sim_fail(w, "the work of task %u is stopped, and task %u wants it", (unsigned)(work - w->tasks),
                                 i);
        }
}

void sim_keys_said(struct sim *w, const struct sim_conn *from, const struct sc_msg *msg)
{
        const bool scheduler = w->nodes[from->node].kind == SIM_SCHEDULER;
        if (scheduler && msg->kind == SC_MSG_ASSIGN)
                learn_name(w, &msg->assign);
        const bool about = msg->kind == SC_MSG_KEEP || msg->kind == SC_MSG_STOP || msg->kind == SC_MSG_RETURNED;
        if (!about && msg->kind != SC_MSG_ASSIGN && msg->kind != SC_MSG_DONE && msg->kind != SC_MSG_RESULT)
                return;
        const struct sc_id id = about                          ? msg->about.task
                                : msg->kind == SC_MSG_ASSIGN ? msg->assign.task
                                : msg->kind == SC_MSG_DONE   ? msg->done.task
                                                             : msg->result.task;
        struct sim_task   *t  = sim_task_of(w, id, NULL);
        if (t == NULL || t->key[0] == '\0')
                return;
        if (msg->kind == SC_MSG_RESULT)
                t->answered = true;
        else if (!(id.lo & SC_SEQUENCE_KEY))
                sim_fail(w, "the work of task %u has that one's name", (unsigned)(t - w->tasks));
        else if (scheduler && msg->kind == SC_MSG_STOP && w->config.keys_quiet)
                judge_stop(w, t);
        else if (scheduler && msg->kind == SC_MSG_ASSIGN)
                judge_claims(w, t);
        if (scheduler && (msg->kind == SC_MSG_ASSIGN || msg->kind == SC_MSG_KEEP))
                hold(w, t, from, msg->kind == SC_MSG_KEEP ? msg->about.run : msg->assign.run);
        else if (!scheduler && msg->kind == SC_MSG_DONE)
                answer(t, from, msg->done.run);
        else if (!scheduler && msg->kind == SC_MSG_RETURNED)
                answer(t, from, msg->about.run);
}

/* A frame reaches the scheduler. */
void sim_keys_heard(struct sim *w, const uint8_t *frame, size_t len)
{
        struct sc_frame_head head;
        const char          *why;
        size_t               cursor = 0;
        if (sc_frame_get(frame, &head, &why) != 0)
                return;
        for (uint32_t i = 0; i < head.count; i++) {
                struct sc_msg msg;
                if (sc_codec_unpack(frame + SC_FRAME_HEAD, len - SC_FRAME_HEAD, &cursor, &w->arena, &msg, &why) != 1)
                        return;
                struct sim_task *t = NULL;
                if (msg.kind == SC_MSG_SUBMIT && (t = sim_task_of(w, msg.submit.task, NULL)) != NULL)
                        t->heard_at = w->now;
                else if (msg.kind == SC_MSG_CANCEL && (t = sim_task_of(w, msg.cancel.task, NULL)) != NULL)
                        t->cancel_heard_at = w->now;
        }
}

/* ---- ends -------------------------------------------------------------------------------------------------- */

void sim_keys_ended(struct sim *w, uint32_t task, const struct sc_result *result)
{
        const struct sim_task *t    = &w->tasks[task];
        struct sim_task       *work = &w->tasks[t->canon];
        uint64_t               exec;
        if (result->outcome.reason == SC_REASON_KEY) {
                for (uint32_t i = 0; i < w->task_count; i++)
                        if (has_its_key(w, &w->tasks[i], t) && w->tasks[i].variant != t->variant &&
                            w->tasks[i].submitted)
                                return;
                sim_fail(w, "task %u is refused, and nobody else has its key", task);
        }
        if (!w->config.keys_quiet || w->config.keys_forget || result->outcome.reason != SC_REASON_SUCCESS)
                return;
        memcpy(&exec, result->outcome.result.ptr, sizeof exec);
        if (work->answer != 0 && work->answer != exec)
                sim_fail(w, "task %u has the result of execution %llu, and others of its key of %llu", task,
                         (unsigned long long)exec, (unsigned long long)work->answer);
        work->answer = exec;
}

/* Where nothing fails: once, and again only because somebody gave it up meanwhile. */
void sim_keys_end(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count; i++) {
                const struct sim_task *work  = &w->tasks[i];
                uint32_t               given = 0;
                if (!w->config.keys_quiet || w->config.keys_forget || work->key[0] == '\0' || work->canon != i ||
                    work->timeout_ms > 0)
                        continue;
                for (uint32_t k = 0; k < w->task_count; k++) {
                        const struct sim_task *t = &w->tasks[k];
                        given += t->canon == i && (t->cancels > 0 || t->deadline_ms > 0);
                }
                if (work->starts > (work->retries + 1) * (1 + given))
                        sim_fail(w, "the work of task %u was started %u times, and given up at most %u times", i,
                                 work->starts, given);
        }
}
