/*
 * Questions about the present: one row for the whole, or pages of workers, clients and tasks.  A
 * cursor is the place in a table to go on from, so a page costs the same wherever it starts, and a
 * table that changes meanwhile may show a row twice or not at all, but never a wrong one.
 */
#include "sched_explain.h"

#include <string.h>

#include "sc_assert.h"

enum { WHY_ROWS_MAX = 64 }; /* workers explained in one page */

static uint64_t ms_since(const struct sc_sched *s, sc_ns then)
{
        return (uint64_t)((s->now - then) / SC_MS);
}

static void slots_count(const struct sc_sched *s, struct sc_status_row *row)
{
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                const struct sched_worker *w = sc_sched_worker(s, i);
                if (!w || w->gone)
                        continue;
                row->slots_total += w->slots;
                row->slots_busy += w->assigned < w->slots ? w->assigned : w->slots;
        }
}

void sc_sched_stats(const struct sc_sched *s, sc_ns now, struct sc_status_row *out)
{
        static const char version[] = "0.1.0";
        *out = (struct sc_status_row){
                .epoch               = s->opt.epoch,
                .uptime_ms           = now > s->start ? (uint64_t)((now - s->start) / SC_MS) : 0,
                .clients             = s->client_links,
                .workers             = s->worker_count,
                .admins              = s->admin_links,
                .links               = (uint32_t)s->links.len,
                .tasks_waiting       = s->count[SC_STATE_WAITING] + s->count[SC_STATE_BACKOFF] +
                                       s->count[SC_STATE_JOINED],
                .tasks_ready         = s->count[SC_STATE_READY],
                .tasks_assigned      = s->count[SC_STATE_ASSIGNED] + s->count[SC_STATE_RECALLING] +
                                       s->count[SC_STATE_CANCELLING],
                .tasks_ended_unacked = s->count[SC_STATE_ENDED],
                .orphans             = s->count[SC_STATE_ORPHAN],
                .tasks_submitted     = s->submitted,
                .tasks_done          = s->succeeded,
                .tasks_failed        = s->failed,
                .tasks_cancelled     = s->cancelled,
                .runs_lost           = s->lost,
                .runs_kept           = s->kept,
                .stale_dropped       = s->stale,
                .bytes_used          = s->bytes,
                .bytes_max           = s->opt.bytes_max,
                .tasks_max           = s->opt.tasks_max,
                .tasks_kept          = s->count[SC_STATE_KEPT],
                .version             = { version, sizeof version - 1 },
        };
        slots_count(s, out);
}

static enum sc_public_state public_end(const struct sched_task *t)
{
        if (t->reason == SC_REASON_SUCCESS)
                return SC_PUBLIC_SUCCESS;
        if (t->reason == SC_REASON_CANCELLED)
                return SC_PUBLIC_CANCELED;
        return t->reason == SC_REASON_WORKER_DIED ? SC_PUBLIC_FAILED_WORKER_DIED : SC_PUBLIC_FAILED;
}

enum sc_public_state sc_sched_public_state(const struct sc_sched *s, const struct sched_task *t)
{
        const struct sched_task *leader = sc_sched_joined_to(s, t);
        t                               = leader ? leader : t;
        enum sc_task_state state        = t->state;
        if (state == SC_STATE_ENDED || state == SC_STATE_KEPT)
                return public_end(t);
        if (!sc_task_is_held(state))
                return SC_PUBLIC_INACTIVE;
        if (sc_sched_worker(s, t->worker)->gone)
                return SC_PUBLIC_WORKER_DISCONNECTING;
        if (state == SC_STATE_CANCELLING)
                return SC_PUBLIC_CANCELING;
        return state == SC_STATE_RECALLING ? SC_PUBLIC_BALANCE_CANCELING : SC_PUBLIC_RUNNING;
}

/* Each of these appends a row if the place `at` has one that `l` may see. */
static bool worker_row(struct sc_sched *s, const struct sched_link *l, uint32_t ticket, uint32_t at, struct sc_out *out)
{
        const struct sched_worker *w = sc_sched_worker(s, at);
        if (!w || w->gone)
                return false;
        sc_out_send(out, l->id, SC_MSG_WORKER_ROW)->worker_row = (struct sc_worker_row){
                .ticket = ticket, .worker = w->id, .name = { w->name, w->name_len }, .slots = w->slots,
                .credit = w->credit, .assigned = w->assigned, .started = w->started.len,
                .functions = w->crew->function_count - 1, .done = w->tally->done, .failed = w->tally->failed,
                .lost = w->tally->lost, .connected_ms = ms_since(s, w->since), .draining = w->draining,
        };
        return true;
}

static bool client_row(struct sc_sched *s, const struct sched_link *l, uint32_t ticket, uint32_t at, struct sc_out *out)
{
        const struct sched_client *c = sc_sched_client(s, at);
        if (!c || (l->role == SC_ROLE_CLIENT && c->id != l->peer))
                return false;
        sc_out_send(out, l->id, SC_MSG_CLIENT_ROW)->client_row = (struct sc_client_row){
                .ticket = ticket, .client = c->id, .name = { c->name, c->name_len },
                .tenant = { c->tenant->name, c->tenant->name_len }, .connected = c->link != 0, .tasks = c->mine.len,
                .grant_tasks = c->grant, .submitted = c->submitted, .connected_ms = ms_since(s, c->since),
        };
        return true;
}

/* ---- why ---------------------------------------------------------------------------------------*/

static void attempt_row(const struct sc_sched *s, const struct sched_link *l, uint32_t ticket,
                        const struct sched_attempt *a, struct sched_text *room, struct sc_out *out)
{
        struct sc_attempt_row *row = &sc_out_send(out, l->id, SC_MSG_ATTEMPT_ROW)->attempt_row;
        *row = (struct sc_attempt_row){
                .ticket = ticket, .attempt = a->attempt, .worker = a->worker, .began_ms = ms_since(s, a->began),
                .ended_ms = ms_since(s, a->ended), .reason = a->reason, .how = a->how, .code = a->code,
                .wall_us = a->wall_us, .user_us = a->user_us, .sys_us = a->sys_us, .peak_kib = a->peak_kib,
        };
        row->worker_name = sc_sched_say(room, a->words, a->name_len);
        row->text        = sc_sched_say(room, a->words + a->name_len, a->text_len);
}

static void attempt_rows(const struct sc_sched *s, const struct sched_link *l, uint32_t ticket,
                         const struct sched_task *t, struct sched_text *room, struct sc_out *out)
{
        const struct sched_attempt *at[SC_ATTEMPTS_MAX];
        uint32_t                    count = 0;
        for (const struct sched_attempt *a = sc_sched_attempts(s, t); a; a = a->older)
                at[count++] = a;
        while (count > 0)
                attempt_row(s, l, ticket, at[--count], room, out);
}

/* A client sees its own tasks, and of others not even that they are there. */
static int32_t task_why(const struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m,
                        struct sched_text *room, struct sc_out *out)
{
        const struct sched_task *t = m->sequence == 0 ? sc_sched_newest(s, m->client)
                                                      : sc_sched_find(s, (struct sc_id){ m->client, m->sequence });
        if (!t || (l->role == SC_ROLE_CLIENT && t->id.hi != l->peer))
                return SC_E_NOT_FOUND;
        struct sc_task_why *row = &sc_out_send(out, l->id, SC_MSG_TASK_WHY)->task_why;
        sc_sched_task_why(s, t, room, row);
        row->ticket = m->ticket;
        attempt_rows(s, l, m->ticket, t, room, out);
        return SC_OK;
}

static void worker_why(const struct sc_sched *s, const struct sched_link *l, uint32_t ticket,
                       const struct sched_worker *w, struct sched_text *room, struct sc_out *out)
{
        struct sc_worker_why *row = &sc_out_send(out, l->id, SC_MSG_WORKER_WHY)->worker_why;
        sc_sched_worker_why(s, w, room, row);
        row->ticket = ticket;
}

/* What waits is said there, too, which is no business of clients. */
static int32_t workers_why(struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m,
                           struct sched_text *room, uint64_t *next, struct sc_out *out)
{
        if (l->role == SC_ROLE_CLIENT)
                return SC_E_DENIED;
        if (m->worker != 0) {
                const struct sched_link *of = sc_map_get(&s->peers, (struct sc_id){ SC_ROLE_WORKER, m->worker });
                if (!of)
                        return SC_E_NOT_FOUND;
                worker_why(s, l, m->ticket, sc_sched_worker(s, of->index), room, out);
                return SC_OK;
        }
        uint32_t at = m->cursor < s->worker_at.len ? (uint32_t)m->cursor : s->worker_at.len;
        for (uint32_t found = 0; at < s->worker_at.len && found < m->rows_max && found < WHY_ROWS_MAX; at++) {
                const struct sched_worker *w = sc_sched_worker(s, at);
                if (!w || w->gone)
                        continue;
                worker_why(s, l, m->ticket, w, room, out);
                found++;
        }
        *next = at < s->worker_at.len ? at : 0;
        return SC_OK;
}

/* ---- the answer --------------------------------------------------------------------------------*/

void sc_sched_reply_drop(struct sc_sched *s)
{
        if (!s->reply)
                return;
        sc_mem_release(s->mem, s->reply, s->reply_size);
        s->reply      = NULL;
        s->reply_size = 0;
}

/* Names and texts of an answer are copies: what they are of may be gone by the end of this step. */
static bool room_for(struct sc_sched *s, const struct sc_query_msg *m, struct sched_text *room)
{
        size_t size = 0;
        if (m->what == SC_QUERY_TASKS)
                size = m->rows_max * (size_t)(2 * SC_NAME_MAX);
        if (m->what == SC_QUERY_TASK_WHY)
                size = SCHED_WHY_TASK_ROOM + SC_ATTEMPTS_MAX * SCHED_WHY_ATTEMPT_ROOM;
        if (m->what == SC_QUERY_WORKER_WHY)
                size = (m->rows_max < WHY_ROWS_MAX ? m->rows_max : WHY_ROWS_MAX) * (size_t)SCHED_WHY_WORKER_ROOM;
        SC_ASSERT(!s->reply);
        s->reply      = size > 0 ? sc_mem_alloc(s->mem, size) : NULL;
        s->reply_size = s->reply ? size : 0;
        *room          = (struct sched_text){ .at = s->reply, .max = s->reply_size };
        return size == 0 || s->reply;
}

/* Gives where the next page starts; 0: nowhere. */
static uint64_t page(struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m, struct sc_out *out)
{
        const bool     workers = m->what == SC_QUERY_WORKERS;
        const uint32_t end     = workers ? s->worker_at.len : s->client_at.len;
        if (m->cursor >= end)
                return 0;
        uint32_t at    = (uint32_t)m->cursor;
        uint32_t found = 0;
        for (; at < end && found < m->rows_max && s->visits < SC_ROWS_MAX; at++, s->visits++)
                found += workers ? worker_row(s, l, m->ticket, at, out) : client_row(s, l, m->ticket, at, out);
        return at < end ? at : 0;
}

static bool is_query(const struct sc_query_msg *m)
{
        return m->what > 0 && m->what < SC_QUERIES && m->rows_max > 0 && m->rows_max <= SC_QUERY_ROWS_MAX &&
               m->tag.len <= SC_NAME_MAX;
}

static void answer(struct sc_sched *s, const struct sched_link *l, const struct sc_query_msg *m,
                   struct sc_query_end *end, struct sc_out *out)
{
        struct sched_text room;
        if (!room_for(s, m, &room)) {
                end->status = SC_E_NOMEM;
                return;
        }
        switch ((enum sc_query)m->what) {
        case SC_QUERY_STATUS: {
                struct sc_status_row *row = &sc_out_send(out, l->id, SC_MSG_STATUS_ROW)->status_row;
                sc_sched_stats(s, s->now, row);
                row->ticket = m->ticket;
                return;
        }
        case SC_QUERY_WORKERS:
        case SC_QUERY_CLIENTS: end->next = page(s, l, m, out); return;
        case SC_QUERY_TASKS: end->next = sc_sched_list(s, l, m, &room, out); return;
        case SC_QUERY_TASK_WHY: end->status = task_why(s, l, m, &room, out); return;
        case SC_QUERY_WORKER_WHY: end->status = workers_why(s, l, m, &room, &end->next, out); return;
        case SC_QUERIES: break;
        }
        SC_UNREACHABLE();
}

/* Whatever a client asks of tasks, it asks of its own. */
void sc_sched_on_query(struct sc_sched *s, struct sched_link *l, const struct sc_query_msg *m, struct sc_out *out)
{
        struct sc_query_end end = { .ticket = m->ticket };
        struct sc_query_msg own = *m;
        if (l->role == SC_ROLE_CLIENT && own.client == 0)
                own.client = l->peer;
        if (!is_query(m) || (m->newest && own.client == 0))
                end.status = SC_E_INVALID;
        else if (l->role == SC_ROLE_CLIENT && own.client != l->peer)
                end.status = SC_E_NOT_FOUND;
        else
                answer(s, l, &own, &end, out);
        sc_out_send(out, l->id, SC_MSG_QUERY_END)->query_end = end;
}
