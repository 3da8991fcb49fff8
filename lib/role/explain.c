/*
 * Why a task is where it is and why a worker gets nothing, as the public header tells it.  The scheduler
 * says it; of a future also its client knows something, before it is sent and after it is forgotten.
 */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "sc_assert.h"
#include "task_fsm.h"

_Static_assert((int)SCALER_STAGE_WAITING == SC_STATE_WAITING && (int)SCALER_STAGE_READY == SC_STATE_READY &&
               (int)SCALER_STAGE_ASSIGNED == SC_STATE_ASSIGNED && (int)SCALER_STAGE_RECALLING == SC_STATE_RECALLING &&
               (int)SCALER_STAGE_CANCELLING == SC_STATE_CANCELLING && (int)SCALER_STAGE_BACKOFF == SC_STATE_BACKOFF &&
               (int)SCALER_STAGE_ORPHAN == SC_STATE_ORPHAN && (int)SCALER_STAGE_ENDED == SC_STATE_ENDED &&
               (int)SCALER_STAGE_KEPT == SC_STATE_KEPT && (int)SCALER_STAGE_JOINED == SC_STATE_JOINED &&
               (int)SC_STATES <= (int)SC_STAGES,
               "stages are the states of the core");
_Static_assert(SCALER_SENTENCE_MAX == SC_TEXT_MAX + 1 && SCALER_NEEDS_MAX == SC_AMOUNTS_TEXT + 1, "all fits");

/* ---- tasks -------------------------------------------------------------------------------------- */

struct task_answer { /* on the stack of whoever asks: out pointers are written on success only */
        scaler_explanation explanation;
        scaler_attempt     attempts[SC_ATTEMPTS_MAX];
        size_t             count;
};

static void take_why(scaler_explanation *e, const struct sc_task_why *row)
{
        e->id       = (scaler_id){ row->task.hi, row->task.lo };
        e->stage    = row->stage;
        e->state    = row->state;
        e->why      = row->why;
        e->reason   = row->reason;
        e->since_ms = row->since_ms;
        e->age_ms   = row->age_ms;
        e->until_ms = row->until_ms;
        e->number   = row->number;
        e->attempt  = row->attempt;
        e->losses   = row->losses;
        e->attempts = row->attempts;
        e->priority = row->priority;
        e->worker   = (scaler_id){ 0, row->worker };
        e->graph    = row->kind == SC_TASK_GRAPH;
        sc_put_text(e->text, sizeof e->text, row->text);
        sc_put_text(e->worker_name, sizeof e->worker_name, row->worker_name);
        sc_put_text(e->function, sizeof e->function, row->function);
        sc_put_text(e->needs, sizeof e->needs, row->needs);
        sc_put_text(e->tag, sizeof e->tag, row->tag);
        sc_put_text(e->tenant, sizeof e->tenant, row->tenant);
}

static void take_attempt(scaler_attempt *a, const struct sc_attempt_row *row)
{
        a->attempt  = row->attempt;
        a->worker   = (scaler_id){ 0, row->worker };
        a->began_ms = row->began_ms;
        a->ended_ms = row->ended_ms;
        a->reason   = row->reason;
        a->how      = row->how;
        a->code     = row->code;
        a->wall_us  = row->wall_us;
        a->user_us  = row->user_us;
        a->sys_us   = row->sys_us;
        a->peak_kib = row->peak_kib;
        sc_put_text(a->worker_name, sizeof a->worker_name, row->worker_name);
        sc_put_text(a->text, sizeof a->text, row->text);
}

static void take_task_why(struct sc_request *r, const struct sc_msg *m)
{
        struct task_answer *answer = r->rows;
        if (m->kind == SC_MSG_TASK_WHY) {
                take_why(&answer->explanation, &m->task_why);
                r->count++;
        } else if (m->kind == SC_MSG_ATTEMPT_ROW && answer->count < SC_ATTEMPTS_MAX) {
                take_attempt(&answer->attempts[answer->count++], &m->attempt_row);
        }
}

static void answer_init(struct task_answer *answer)
{
        memset(answer, 0, sizeof *answer);
        scaler_init(&answer->explanation, sizeof answer->explanation);
        for (size_t i = 0; i < SC_ATTEMPTS_MAX; i++)
                scaler_init(&answer->attempts[i], sizeof answer->attempts[i]);
}

static bool has_size(const void *sized)
{
        size_t size = 0;
        if (sized)
                memcpy(&size, sized, sizeof size);
        return size >= sizeof size;
}

/* The newest of the remembered ones are told when there is room for fewer; gives how many. */
static int give(const struct task_answer *answer, scaler_explanation *out, scaler_attempt *attempts, size_t count)
{
        const size_t told = !attempts ? 0 : answer->count < count ? answer->count : count;
        sc_sized_out(out, &answer->explanation, sizeof answer->explanation);
        if (told == 0)
                return 0;
        size_t stride;
        memcpy(&stride, attempts, sizeof stride);
        for (size_t i = 0; i < told; i++) {
                char *at = (char *)attempts + i * stride;
                memcpy(at, &stride, sizeof stride);
                sc_sized_out(at, &answer->attempts[answer->count - told + i], sizeof answer->attempts[0]);
        }
        return (int)told;
}

static int ask_task(scaler_client *c, struct sc_id task, int64_t timeout_ms, struct task_answer *answer)
{
        struct sc_request r = {
                .query    = { .what = SC_QUERY_TASK_WHY, .client = task.hi, .sequence = task.lo, .rows_max = 1 },
                .take     = take_task_why,
                .rows     = answer,
                .capacity = 1 + SC_ATTEMPTS_MAX,
        };
        answer_init(answer);
        const int status = sc_client_ask_query(c, &r, timeout_ms);
        return status ? status : r.count == 1 ? 0 : SC_E_PROTOCOL;
}

int scaler_client_explain(scaler_client *c, scaler_id task, int64_t timeout_ms, scaler_explanation *out,
                          scaler_attempt *attempts, size_t count)
{
        struct task_answer answer;
        if (!c || !has_size(out) || (attempts && count > 0 && !has_size(attempts)) || (task.hi == 0 && task.lo != 0))
                return SC_E_INVALID;
        if (!c->admin && task.hi != 0 && task.hi != c->id)
                return SC_E_DENIED;
        const int status = ask_task(c, (struct sc_id){ task.hi, task.lo }, timeout_ms, &answer);
        return status ? status : give(&answer, out, count > 0 ? attempts : NULL, count);
}

/* ---- futures ------------------------------------------------------------------------------------ */

/* The scheduler does not know it, or cannot be asked. */
static void tell_own(struct scaler_future *f, const struct scaler_client *c, scaler_explanation *e)
{
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        e->id = (scaler_id){ f->id.hi, f->id.lo };
        if (scaler_future_failure(f, &failure) == 0) {
                e->why      = SC_WHY_FORGOTTEN;
                e->reason   = failure.reason;
                e->attempt  = (uint32_t)failure.attempts;
                snprintf(e->text, sizeof e->text, "It has ended as %s, which its client knows and the scheduler has "
                         "forgotten.", sc_reason_name(failure.reason));
                return;
        }
        sc_gate_lock(c->gate);
        const bool linked = c->linked;
        sc_gate_unlock(c->gate);
        e->why = SC_WHY_AT_CLIENT;
        snprintf(e->text, sizeof e->text, "%s", linked ? "It has not reached the scheduler yet, or waits at its client "
                                                         "until the scheduler takes more tasks."
                                                       : "It is with its client, which has no link to the scheduler.");
}

int scaler_future_explain(scaler_future *f, int64_t timeout_ms, scaler_explanation *out, scaler_attempt *attempts,
                          size_t count)
{
        struct task_answer answer;
        if (sc_forked())
                return SC_E_STATE;
        if (!f || !has_size(out) || (attempts && count > 0 && !has_size(attempts)))
                return SC_E_INVALID;
        sc_gate_lock(f->gate);
        struct scaler_client *c = f->gate->client;
        sc_gate_unlock(f->gate);
        if (!c)
                return SC_E_INVALID;
        const int status = ask_task(c, f->id, timeout_ms, &answer);
        if (status == SC_E_NOT_FOUND || status == SC_E_UNREACHABLE) {
                answer_init(&answer);
                tell_own(f, c, &answer.explanation);
        } else if (status) {
                return status;
        }
        return give(&answer, out, count > 0 ? attempts : NULL, count);
}

/* ---- workers ------------------------------------------------------------------------------------ */

static void take_worker_why(struct sc_request *r, const struct sc_msg *m)
{
        const struct sc_worker_why *row = &m->worker_why;
        scaler_worker_explanation   e;
        scaler_init(&e, sizeof e);
        e.id           = (scaler_id){ 0, row->worker };
        e.why          = row->why;
        e.slots        = row->slots;
        e.credit       = row->credit;
        e.assigned     = row->assigned;
        e.started      = row->started;
        e.functions    = row->functions;
        e.held         = row->held;
        e.done         = row->done;
        e.failed       = row->failed;
        e.lost         = row->lost;
        e.connected_ms = row->connected_ms;
        sc_put_text(e.name, sizeof e.name, row->name);
        sc_put_text(e.text, sizeof e.text, row->text);
        sc_put_text(e.offers, sizeof e.offers, row->offers);
        sc_put_text(e.used, sizeof e.used, row->used);
        sc_sized_out(sc_request_place(r), &e, sizeof e);
        r->count++;
}

int scaler_client_explain_worker(scaler_client *c, scaler_id worker, int64_t timeout_ms,
                                 scaler_worker_explanation *out)
{
        struct sc_request r      = { .query = { .what = SC_QUERY_WORKER_WHY, .worker = worker.lo },
                                     .take  = take_worker_why };
        uint64_t          cursor = 0;
        if (!c || !out || worker.hi != 0 || worker.lo == 0)
                return SC_E_INVALID;
        if (!c->admin)
                return SC_E_DENIED;
        const int got = sc_client_page(c, &r, &cursor, timeout_ms, out, 1);
        return got < 0 ? got : got == 1 ? 0 : SC_E_PROTOCOL;
}

int scaler_client_explain_workers(scaler_client *c, uint64_t *cursor, int64_t timeout_ms,
                                  scaler_worker_explanation *rows, size_t count)
{
        struct sc_request r = { .query = { .what = SC_QUERY_WORKER_WHY }, .take = take_worker_why };
        if (!c || !rows)
                return SC_E_INVALID;
        return c->admin ? sc_client_page(c, &r, cursor, timeout_ms, rows, count) : SC_E_DENIED;
}

/* ---- lists -------------------------------------------------------------------------------------- */

static int take_filter(const scaler_client *c, const scaler_task_filter *filter, struct sc_request *r)
{
        enum { STATES = (1 << SC_PUBLIC_STATES) - 1, STAGES = (1 << SC_STATES) - 2 };
        scaler_task_filter f;
        scaler_init(&f, sizeof f);
        if (filter && !sc_sized_in(&f, sizeof f, filter))
                return SC_E_INVALID;
        if (f.client.hi != 0 || (f.tag && strlen(f.tag) > SC_NAME_MAX))
                return SC_E_INVALID;
        if ((f.states & ~(uint32_t)STATES) || (f.stages & ~(uint32_t)STAGES) || (f.last != 0 && f.last < f.first))
                return SC_E_INVALID;
        if (!c->admin && f.client.lo != 0 && f.client.lo != c->id)
                return SC_E_DENIED;
        if (f.newest && c->admin && f.client.lo == 0)
                return SC_E_INVALID;
        snprintf(r->tag, sizeof r->tag, "%s", f.tag ? f.tag : "");
        r->query.client = f.client.lo;
        r->query.states = f.states;
        r->query.stages = f.stages;
        r->query.first  = f.first;
        r->query.last   = f.last;
        r->query.newest = f.newest;
        return 0;
}

int scaler_client_tasks_select(scaler_client *c, const scaler_task_filter *filter, uint64_t *cursor,
                               int64_t timeout_ms, scaler_task_info *rows, size_t count)
{
        struct sc_request r = { .query = { .what = SC_QUERY_TASKS }, .take = sc_take_task };
        if (!c)
                return SC_E_INVALID;
        const int status = take_filter(c, filter, &r);
        return status ? status : sc_client_page(c, &r, cursor, timeout_ms, rows, count);
}
