/*
 * What tasks of some worlds ask for in time: not before, begun by, ended by, how they are tried again; and cancels of
 * all that have a tag.  The judges go by when the application submitted, when runs begin, and when the scheduler
 * hears of a failure.  Clocks may be wrong by one in fifty each, so nothing is held to more than one in
 * twenty; that something happens in time is judged where nothing fails.
 */
#include <string.h>

#include "sim.h"

#define STOPS  (SC_S + 10 * SC_MS) /* what is told to stop takes no longer, */
#define GRACE  (10 * SC_S)         /* and what ignores that is waited for, but not for longer */

static const char *const failures[] = { "", "7", "1-9,timeout", "8,signal,timeout", "limit" };
static const char *const tags[]     = { "", "red", "blue" };

/* ---- the plan ------------------------------------------------------------------------------------------- */

static uint64_t some_ms(struct sim *w, sc_ns low, sc_ns high)
{
        return (uint64_t)(sim_between(w, low, high) / SC_MS);
}

void sim_times_plan(struct sim *w)
{
        for (uint32_t i = 0; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                t->retry_on        = "";
                t->tag             = "";
                if (!w->config.times)
                        continue;
                t->tag = tags[sim_below(w, 3)];
                if (sim_chance(w, 15))
                        t->not_before_ms = some_ms(w, SC_MS, 20 * SC_S);
                if (sim_chance(w, 15))
                        t->queue_ms = some_ms(w, SC_MS, 20 * SC_S);
                if (sim_chance(w, 15))
                        t->deadline_ms = some_ms(w, SC_MS, 60 * SC_S);
                if (sim_chance(w, 50))
                        t->backoff_ms = (uint32_t)some_ms(w, SC_MS, 5 * SC_S);
                if (sim_chance(w, 30))
                        t->backoff_max_ms = (uint32_t)some_ms(w, SC_MS, 5 * SC_S);
                if (sim_chance(w, 40))
                        t->retry_on = failures[sim_below(w, 5)];
                if (t->end == SIM_FAILS && sim_chance(w, 50))
                        t->retries = 1 + (uint32_t)sim_below(w, 4);
        }
}

struct sc_plan sim_times_of(const struct sim_task *t)
{
        return (struct sc_plan){
                .not_before_ms  = t->not_before_ms,
                .queue_ms       = t->queue_ms,
                .deadline_ms    = t->deadline_ms,
                .backoff_ms     = t->backoff_ms,
                .backoff_max_ms = t->backoff_max_ms,
                .needs          = { t->needs.text, strlen(t->needs.text) },
                .tag            = { t->tag, strlen(t->tag) },
                .retry_on       = { t->retry_on, strlen(t->retry_on) },
                .key            = { t->key, strlen(t->key) },
        };
}

/* ---- cancels by tag --------------------------------------------------------------------------------------- */

static void post_sweep(struct sim *w, struct sim_post *post)
{
        struct sim_node *n   = &w->nodes[post->node];
        const char      *tag = tags[post->a];
        if (n->closing)
                return;
        const struct sc_cancel_many many = { .ticket = ++n->sweeps, .force = post->b != 0 };
        sim_trace(w, "sweep", post->node, post->a, post->b);
        for (uint32_t i = 0; i < w->task_count; i++) {
                struct sim_task *t = &w->tasks[i];
                if (t->client != post->node || t->id.hi != n->id || !t->submitted || t->ended ||
                    (tag[0] != '\0' && strcmp(tag, t->tag) != 0))
                        continue;
                t->swept_at = t->swept ? t->swept_at : w->now;
                t->swept = t->spoilt = true;
                sim_idle_waits(w, i);
        }
        if (sc_cli_shell_cancel_many(n->cli, &many, tag, sim_node_now(w, post->node)) != 0)
                n->swept++;
}

static void sweep_event(struct sim *w, struct sim_event *ev)
{
        if (sim_event_stale(w, ev))
                return;
        struct sim_post *post = sim_post(w, ev->node, post_sweep);
        post->a               = ev->a;
        post->b               = ev->b;
}

/* One or two of them, or of all that the client has. */
void sim_times_begin(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        n->sweeps = n->swept = 0;
        if (!w->config.times)
                return;
        for (uint32_t i = 0; i < 2; i++) {
                if (n->sweep_at[i] < w->now || n->sweep_at[i] == 0)
                        continue;
                struct sim_event *ev = sim_at_node(w, n->sweep_at[i], node, sweep_event);
                ev->a                = n->sweep_tag[i];
                ev->b                = i;
        }
}

void sim_times_swept(struct sim *w, uint32_t node, const struct sc_confirm_many *confirm)
{
        struct sim_node *n = &w->nodes[node];
        sim_trace(w, "swept", node, confirm->ticket, confirm->count);
        if (++n->swept > n->sweeps)
                sim_fail(w, "client %u has %u answers to %u cancels of many", node, n->swept, n->sweeps);
        if (confirm->count > w->task_count || (confirm->status != 0 && !n->closing && !w->config.memory))
                sim_fail(w, "client %u: a cancel of many ends with %d and %llu tasks", node, confirm->status,
                         (unsigned long long)confirm->count);
}

/* ---- judges of when ---------------------------------------------------------------------------------------- */

static sc_ns least(uint64_t ms)
{
        return (sc_ns)ms * SC_MS / 20 * 19 - SC_MS;
}

static sc_ns trips(const struct sim *w)
{
        return 5 * (w->config.delay_max + 30 * SC_MS);
}

void sim_times_began(struct sim *w, uint32_t task)
{
        const struct sim_task *t      = &w->tasks[task];
        const sc_ns            waited = w->now - t->submitted_at;
        if (t->not_before_ms > 0 && waited < least(t->not_before_ms))
                sim_fail(w, "task %u begins after %.3f s and not before %llu ms", task, (double)waited / 1e9,
                         (unsigned long long)t->not_before_ms);
        if (w->config.calm && t->queue_ms > 0 && t->starts == 1 &&
            waited > (sc_ns)t->queue_ms * SC_MS + trips(w))
                sim_fail(w, "task %u begins after %.3f s and was to begin in %llu ms", task, (double)waited / 1e9,
                         (unsigned long long)t->queue_ms);
        if (w->config.calm && t->deadline_ms > 0 && waited > (sc_ns)t->deadline_ms * SC_MS + trips(w))
                sim_fail(w, "task %u begins after %.3f s and was to end in %llu ms", task, (double)waited / 1e9,
                         (unsigned long long)t->deadline_ms);
}

/* The scheduler has heard how a run ended. */
void sim_times_answered(struct sim *w, uint32_t task, const struct sc_outcome *outcome)
{
        struct sim_task *t = &w->tasks[task];
        t->answered_at     = w->now;
        t->failures += outcome->reason != SC_REASON_SUCCESS;
}

void sim_times_again(struct sim *w, uint32_t task)
{
        struct sim_task *t = &w->tasks[task];
        if (!w->config.calm || t->answered_at == 0 || t->failures == 0 || t->backoff_ms == 0)
                return;
        const uint64_t most = t->backoff_max_ms > 0 ? t->backoff_max_ms : 60000;
        uint64_t       wait = t->backoff_ms;
        for (uint32_t i = 1; i < t->failures && wait < most; i++)
                wait *= 2;
        wait = wait < most ? wait : most;
        if (w->now - t->answered_at < (sc_ns)wait * SC_MS / 4 * 3)
                sim_fail(w, "task %u is tried again %.3f s after failure %u, and was to wait for %llu ms", task,
                         (double)(w->now - t->answered_at) / 1e9, t->failures, (unsigned long long)wait);
        t->answered_at = 0;
}

/* ---- judges of ends ------------------------------------------------------------------------------------------ */

/* As runs fail here: code 7, or out of time, or by a signal when they are stopped. */
bool sim_times_retries(const struct sim_task *t, uint8_t reason)
{
        if (t->retry_on[0] == '\0')
                return true;
        if (reason == SC_REASON_RUN_TIMEOUT)
                return strstr(t->retry_on, "timeout") != NULL;
        return t->retry_on[0] == '7' || t->retry_on[0] == '1';
}

void sim_times_ended(struct sim *w, uint32_t task, const struct sc_result *result)
{
        const struct sim_task *t      = &w->tasks[task];
        const uint8_t          reason = result->outcome.reason;
        const sc_ns            passed = w->now - t->submitted_at;
        if (reason == SC_REASON_QUEUE_TIMEOUT && (t->queue_ms == 0 || passed < least(t->queue_ms)))
                sim_fail(w, "task %u ends as not begun in time, after %.3f s", task, (double)passed / 1e9);
        if (reason == SC_REASON_QUEUE_TIMEOUT && w->config.calm && t->starts > 0)
                sim_fail(w, "task %u ends as not begun in time, and it had begun", task);
        if (reason == SC_REASON_DEADLINE && (t->deadline_ms == 0 || passed < least(t->deadline_ms)))
                sim_fail(w, "task %u ends at its deadline, after %.3f s", task, (double)passed / 1e9);
        if (!w->config.calm)
                return;
        const sc_ns stops = trips(w) + (t->ignores_cancel ? GRACE : STOPS);
        if (t->swept && !t->ignores_cancel && w->now > t->swept_at + stops)
                sim_fail(w, "task %u ends %.3f s after it was cancelled among many", task,
                         (double)(w->now - t->swept_at) / 1e9);
        if (t->deadline_ms > 0 && passed > (sc_ns)t->deadline_ms * SC_MS + stops)
                sim_fail(w, "task %u ends %.3f s after it was submitted, and its deadline was at %llu ms", task,
                         (double)passed / 1e9, (unsigned long long)t->deadline_ms);
        if (reason == SC_REASON_TASK && !sim_times_retries(t, reason) && t->timeout_ms == 0 && t->starts > 1)
                sim_fail(w, "task %u was tried %u times after failures that it does not name: %s", task, t->starts,
                         t->retry_on);
        if (t->swept && t->starts == 0 && reason != SC_REASON_CANCELLED && reason != SC_REASON_DEADLINE &&
            reason != SC_REASON_QUEUE_TIMEOUT)
                sim_fail(w, "task %u was among many that were cancelled, and ends for reason %u", task, reason);
}

/* Each cancel of many is answered, however often its link breaks. */
uint32_t sim_times_unanswered(const struct sim *w)
{
        for (uint32_t i = 0; i < w->node_count; i++)
                if (w->nodes[i].kind == SIM_CLIENT && w->nodes[i].alive && w->nodes[i].swept != w->nodes[i].sweeps)
                        return i;
        return 0;
}
