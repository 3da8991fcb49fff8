/*
 * Looking at a cluster: each call is one query, whose rows are copied to the caller's as they come.
 */
#include <string.h>

#include "client.h"
#include "sc_mem.h"

void sc_put_text(char *out, size_t size, struct sc_view text)
{
        const size_t n = text.len < size - 1 ? text.len : size - 1;
        if (n)
                memcpy(out, text.ptr, n);
        out[n] = '\0';
}

/* Places are the caller's, with the stride that its first one names. */
void *sc_request_place(const struct sc_request *r)
{
        size_t stride;
        memcpy(&stride, r->rows, sizeof stride);
        char *at = (char *)r->rows + r->count * stride;
        memcpy(at, &stride, sizeof stride);
        return at;
}

static void take_status(struct sc_request *r, const struct sc_msg *m)
{
        const struct sc_status_row *row = &m->status_row;
        scaler_scheduler_stats      s;
        scaler_init(&s, sizeof s);
        sc_stats_from_row(&s, row);
        sc_sized_out(r->rows, &s, sizeof s);
        r->count = 1;
}

void sc_stats_from_row(scaler_scheduler_stats *s, const struct sc_status_row *row)
{
        s->clients              = row->clients;
        s->workers              = row->workers;
        s->links                = row->links;
        s->tasks_waiting        = row->tasks_waiting;
        s->tasks_ready          = row->tasks_ready;
        s->tasks_assigned       = row->tasks_assigned;
        s->tasks_unacknowledged = row->tasks_ended_unacked;
        s->orphans              = row->orphans;
        s->slots_total          = row->slots_total;
        s->slots_busy           = row->slots_busy;
        s->tasks_submitted      = row->tasks_submitted;
        s->tasks_done           = row->tasks_done;
        s->tasks_failed         = row->tasks_failed;
        s->tasks_cancelled      = row->tasks_cancelled;
        s->runs_lost            = row->runs_lost;
        s->runs_kept            = row->runs_kept;
        s->stale_dropped        = row->stale_dropped;
        s->bytes_used           = row->bytes_used;
        s->bytes_max            = row->bytes_max;
        s->tasks_max            = row->tasks_max;
        s->uptime_ms            = row->uptime_ms;
        s->epoch                = row->epoch;
        s->tasks_kept           = row->tasks_kept;
}

static void take_worker(struct sc_request *r, const struct sc_msg *m)
{
        const struct sc_worker_row *row = &m->worker_row;
        scaler_worker_info          info;
        scaler_init(&info, sizeof info);
        info.id           = (scaler_id){ 0, row->worker };
        info.slots        = row->slots;
        info.credit       = row->credit;
        info.assigned     = row->assigned;
        info.started      = row->started;
        info.functions    = row->functions;
        info.done         = row->done;
        info.failed       = row->failed;
        info.lost         = row->lost;
        info.connected_ms = row->connected_ms;
        info.draining     = row->draining;
        sc_put_text(info.name, sizeof info.name, row->name);
        sc_sized_out(sc_request_place(r), &info, sizeof info);
        r->count++;
}

static void take_client(struct sc_request *r, const struct sc_msg *m)
{
        const struct sc_client_row *row = &m->client_row;
        scaler_client_info          info;
        scaler_init(&info, sizeof info);
        info.id           = (scaler_id){ 0, row->client };
        info.connected    = row->connected;
        info.tasks        = row->tasks;
        info.grant        = row->grant_tasks;
        info.submitted    = row->submitted;
        info.connected_ms = row->connected_ms;
        sc_put_text(info.name, sizeof info.name, row->name);
        sc_put_text(info.tenant, sizeof info.tenant, row->tenant);
        sc_sized_out(sc_request_place(r), &info, sizeof info);
        r->count++;
}

void sc_take_task(struct sc_request *r, const struct sc_msg *m)
{
        const struct sc_task_row *row = &m->task_row;
        scaler_task_info          info;
        scaler_init(&info, sizeof info);
        info.id      = (scaler_id){ row->task.hi, row->task.lo };
        info.worker  = (scaler_id){ 0, row->worker };
        info.state   = row->state;
        info.attempt = row->attempt;
        info.losses  = row->losses;
        info.age_ms  = row->age_ms;
        sc_put_text(info.function, sizeof info.function, row->function);
        info.stage = row->stage;
        sc_put_text(info.tag, sizeof info.tag, row->tag);
        sc_sized_out(sc_request_place(r), &info, sizeof info);
        r->count++;
}

int sc_client_ask_query(scaler_client *c, struct sc_request *r, int64_t timeout_ms)
{
        const int status = sc_client_ask(c, r, timeout_ms);
        return status ? status : r->status;
}

/* Rows arrive while the lock is held, so a caller that timed out is never written to. */
int sc_client_page(scaler_client *c, struct sc_request *r, uint64_t *cursor, int64_t timeout_ms, void *rows,
                   size_t count)
{
        size_t size = 0;
        if (c && rows)
                memcpy(&size, rows, sizeof size);
        if (!c || !rows || !cursor || count == 0 || size < sizeof size)
                return SC_E_INVALID;
        r->rows           = rows;
        r->capacity       = count < SC_QUERY_ROWS_MAX ? count : SC_QUERY_ROWS_MAX;
        r->query.cursor   = *cursor;
        r->query.rows_max = (uint32_t)r->capacity;
        const int status  = sc_client_ask_query(c, r, timeout_ms);
        if (status)
                return status;
        *cursor = r->next;
        return (int)r->count;
}

static int check(const scaler_client *c, const void *rows)
{
        if (!c || !rows)
                return SC_E_INVALID;
        if (!c->admin)
                return SC_E_DENIED;
        size_t size;
        memcpy(&size, rows, sizeof size);
        return size < sizeof size ? SC_E_INVALID : 0;
}

static int page(scaler_client *c, uint8_t what, uint64_t *cursor, int64_t timeout_ms, void *rows, size_t count,
                void (*take)(struct sc_request *, const struct sc_msg *))
{
        struct sc_request r      = { .query = { .what = what }, .take = take };
        const int         status = check(c, rows);
        return status ? status : sc_client_page(c, &r, cursor, timeout_ms, rows, count);
}

int scaler_client_workers(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_worker_info *rows,
                          size_t count)
{
        return page(c, SC_QUERY_WORKERS, cursor, timeout_ms, rows, count, take_worker);
}

int scaler_client_clients(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_client_info *rows,
                          size_t count)
{
        return page(c, SC_QUERY_CLIENTS, cursor, timeout_ms, rows, count, take_client);
}

int scaler_client_tasks(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_task_info *rows, size_t count)
{
        return page(c, SC_QUERY_TASKS, cursor, timeout_ms, rows, count, sc_take_task);
}

int scaler_client_scheduler_stats(scaler_client *c, int64_t timeout_ms, scaler_scheduler_stats *out)
{
        uint64_t  cursor = 0;
        const int got    = page(c, SC_QUERY_STATUS, &cursor, timeout_ms, out, 1, take_status);
        if (got < 0)
                return got;
        return got == 1 ? 0 : SC_E_PROTOCOL;
}

static void take_drained(struct sc_request *r, const struct sc_msg *m)
{
        const struct sc_drained *row = &m->drained;
        scaler_drained           d;
        scaler_init(&d, sizeof d);
        d.worker   = (scaler_id){ 0, row->worker };
        d.finished = row->finished;
        d.returned = row->returned;
        d.released = row->released;
        d.lost     = row->lost;
        d.took_ms  = row->took_ms;
        sc_put_text(d.name, sizeof d.name, row->name);
        sc_sized_out(r->rows, &d, sizeof d);
        r->count = 1;
}

int scaler_client_drain(scaler_client *c, scaler_id worker, int64_t deadline_ms, int64_t timeout_ms,
                        scaler_drained *out)
{
        scaler_drained own;
        scaler_init(&own, sizeof own);
        if (deadline_ms < 0)
                return SC_E_INVALID;
        int status = check(c, out ? out : &own);
        if (status)
                return status;
        if (worker.hi != 0)
                return SC_E_NOT_FOUND; /* no worker has such an id */
        struct sc_request r = { .drains   = true,
                                .drain    = { .worker = worker.lo, .deadline_ms = (uint64_t)deadline_ms },
                                .take     = take_drained,
                                .rows     = out ? out : &own,
                                .capacity = 1 };
        status              = sc_client_ask(c, &r, timeout_ms);
        return status ? status : r.status;
}
