/*
 * The client's side of a turn: what the shell reports, and what API threads left at the front.  Everything
 * a future or a request tells is written here, under the gate's lock.
 */
#include "client.h"
#include "job.h"
#include "nested.h"

#include <stdio.h>

enum {
        BUSY_TASKS = 64, /* so many unanswered: a submit may wait for company */
        TELL_MAX   = 64  /* so many ends are told under one lock */
};

/* ---- upcalls of the shell, in a turn ------------------------------------------------------------------ */

static struct scaler_future *known(struct scaler_client *c, uint64_t sequence)
{
        return sc_map_get(&c->futures, (struct sc_id){ 0, sequence });
}

/* Locked.  What nodes without a future came to, now that their graph has ended. */
static void count_inner(struct scaler_client *c, const struct scaler_future *f)
{
        const uint32_t good = f->counts.succeeded > f->told.succeeded ? f->counts.succeeded - f->told.succeeded : 0;
        const uint32_t gone = f->counts.cancelled > f->told.cancelled ? f->counts.cancelled - f->told.cancelled : 0;
        const uint32_t most = f->inner, done = good < most ? good : most;
        const uint32_t left = most - done, cancelled = gone < left ? gone : left;
        c->pending -= most;
        c->succeeded += done;
        c->cancelled += cancelled;
        c->failed += left - cancelled;
}

/* Locked. */
static void count_end(struct scaler_client *c, struct scaler_future *f, int reason)
{
        c->pending--;
        if (f->family)
                sc_family_ended(f->family, f, 1u + (f->graph ? f->inner : 0));
        if (f->graph)
                count_inner(c, f);
        else if (reason == SC_REASON_SUCCESS)
                c->succeeded++;
        else if (reason == SC_REASON_CANCELLED)
                c->cancelled++;
        else
                c->failed++;
}

/* The graph ends after all of its nodes: so it is still there. */
static void count_in_graph(struct scaler_client *c, const struct scaler_future *f, int reason)
{
        struct scaler_future *graph = f->graph_at != 0 ? known(c, f->graph_at) : NULL;
        if (!graph)
                return;
        graph->told.succeeded += reason == SC_REASON_SUCCESS;
        graph->told.cancelled += reason == SC_REASON_CANCELLED;
}

/* At the end of a pass, or when many have come together: under one lock, and with one call to whoever waits, since
 * who is woken for each of them would sleep again before the next. */
static void tell_ended(struct scaler_client *c)
{
        struct sc_adding adding = { 0 };
        struct sc_list   told;
        struct sc_list  *node;
        if (sc_list_empty(&c->ended))
                return;
        sc_list_init(&told);
        sc_list_splice(&told, &c->ended);
        c->ended_count = 0;
        sc_gate_lock(c->gate);
        for (node = told.next; node != &told; node = node->next) {
                struct scaler_future *f = SC_CONTAINER(node, struct scaler_future, turn);
                sc_future_end(f);
                sc_queue_add(&adding, f);
                count_end(c, f, f->outcome.reason);
                sc_list_remove(&f->work);
        }
        sc_queue_added(&adding);
        sc_gate_unlock_changed(c->gate);
        while ((node = sc_list_take(&told)) != NULL)
                scaler_future_unref(SC_CONTAINER(node, struct scaler_future, turn));
}

/* Its end is kept, and told soon; the map's reference goes with it. */
static void end_later(struct scaler_client *c, struct scaler_future *f)
{
        sc_list_add_tail(&c->ended, &f->turn);
        if (++c->ended_count >= TELL_MAX)
                tell_ended(c);
}

static void on_complete(void *role, const struct sc_result *result)
{
        struct scaler_client *c = role;
        struct scaler_future *f = sc_map_remove(&c->futures, (struct sc_id){ 0, result->task.lo });
        if (!f)
                return; /* the front ended it already: it could not be admitted */
        count_in_graph(c, f, result->outcome.reason);
        sc_future_keep(f, result);
        end_later(c, f);
}

static void on_graph(void *role, const struct sc_graph_done *done)
{
        struct scaler_client *c = role;
        struct scaler_future *f = known(c, done->task.lo);
        if (!f)
                return;
        sc_gate_lock(c->gate);
        f->counts = *done;
        sc_gate_unlock(c->gate);
}

static void on_confirm(void *role, const struct sc_confirm *confirm)
{
        struct scaler_client *c = role;
        tell_ended(c); /* an end that came before this must not be seen after it */
        sc_gate_lock(c->gate);
        for (struct sc_list *n = c->requests.next; n != &c->requests; n = n->next) {
                struct sc_request *r = SC_CONTAINER(n, struct sc_request, link);
                if (!r->cancel || !r->asked || r->done || !sc_id_equal(r->task, confirm->task))
                        continue;
                r->done   = true;
                r->status = confirm->outcome;
                sc_gate_changed(c->gate);
                break;
        }
        sc_gate_unlock(c->gate);
}

static void on_deliver(void *role, const struct sc_output *output, bool restart)
{
        struct scaler_client *c = role;
        struct scaler_future *f = known(c, output->task.lo);
        if (!f)
                return;
        sc_gate_lock(c->gate);
        sc_future_deliver(f, output, restart);
        sc_gate_unlock(c->gate);
}

static uint32_t ticket_of(const struct sc_msg *row)
{
        switch (row->kind) {
        case SC_MSG_STATUS_ROW:
                return row->status_row.ticket;
        case SC_MSG_WORKER_ROW:
                return row->worker_row.ticket;
        case SC_MSG_CLIENT_ROW:
                return row->client_row.ticket;
        case SC_MSG_TASK_ROW:
                return row->task_row.ticket;
        case SC_MSG_TASK_WHY:
                return row->task_why.ticket;
        case SC_MSG_ATTEMPT_ROW:
                return row->attempt_row.ticket;
        case SC_MSG_WORKER_WHY:
                return row->worker_why.ticket;
        case SC_MSG_QUERY_END:
                return row->query_end.ticket;
        case SC_MSG_CONFIRM_MANY:
                return row->confirm_many.ticket;
        case SC_MSG_DRAINED:
                return row->drained.ticket;
        default:
                return 0;
        }
}

/* The last word to a request. */
static void finish(struct scaler_client *c, struct sc_request *r, int status, uint64_t next)
{
        r->done   = true;
        r->status = status;
        r->next   = next;
        sc_gate_changed(c->gate);
}

static void on_reply(void *role, const struct sc_msg *row)
{
        struct scaler_client *c      = role;
        const uint32_t        ticket = ticket_of(row);
        sc_gate_lock(c->gate);
        for (struct sc_list *n = c->requests.next; n != &c->requests; n = n->next) {
                struct sc_request *r = SC_CONTAINER(n, struct sc_request, link);
                if (r->cancel || r->query.ticket != ticket)
                        continue;
                if (row->kind == SC_MSG_QUERY_END)
                        finish(c, r, row->query_end.status, row->query_end.next);
                else if (row->kind == SC_MSG_CONFIRM_MANY)
                        finish(c, r, row->confirm_many.status, row->confirm_many.count);
                else if (r->count < r->capacity)
                        r->take(r, row);
                if (row->kind == SC_MSG_DRAINED)
                        finish(c, r, row->drained.status, 0);
                break;
        }
        sc_gate_unlock(c->gate);
}

static void on_room(void *role)
{
        (void)role; /* the front counts for itself: see admit() */
}

static void on_note(void *role, int level, const char *line)
{
        struct scaler_client *c = role;
        sc_log(c->rt, level, "client", "%s: %s", c->name, line);
}

static void on_closed(void *role)
{
        struct scaler_client *c = role;
        tell_ended(c);
        sc_gate_lock(c->gate);
        c->closed = true;
        sc_gate_changed(c->gate);
        sc_gate_unlock(c->gate);
}

void sc_client_give_up(struct scaler_client *c, int status, const char *why)
{
        if (c->given_up)
                return; /* it has said so */
        sc_gate_lock(c->gate);
        c->given_up = status;
        snprintf(c->given_up_text, sizeof c->given_up_text, "%s", why ? why : sc_status_text(status));
        sc_gate_changed(c->gate);
        sc_gate_unlock(c->gate);
        sc_client_end_all(c, c->given_up_text);
        sc_cli_shell_close(c->shell, sc_loop_now(c->rt->loop));
        sc_station_hang_up(sc_cli_shell_station(c->shell), sc_loop_now(c->rt->loop));
        sc_log(c->rt, SCALER_LOG_ERROR, "client", "%s: gives up on %s: %s", c->name, c->url,
               why ? why : sc_status_text(status));
}

static void on_give_up(void *role, int status, const char *why)
{
        sc_client_give_up(role, status, why);
}

static void on_linked(void *role, bool up)
{
        struct scaler_client *c = role;
        sc_gate_lock(c->gate);
        c->linked = up;
        sc_gate_changed(c->gate);
        sc_gate_unlock(c->gate);
}

static void on_enter(void *role)
{
        struct scaler_client *c = role;
        sc_cli_shell_begin(c->shell, sc_loop_now(c->rt->loop), sc_loop_lateness(c->rt->loop));
        sc_loop_touch(c->rt->loop, &c->member);
}

const struct sc_cli_shell_upcalls *sc_client_upcalls(void)
{
        static const struct sc_cli_shell_upcalls upcalls = {
                .enter    = on_enter,
                .complete = on_complete,
                .graph    = on_graph,
                .confirm  = on_confirm,
                .deliver  = on_deliver,
                .reply    = on_reply,
                .room     = on_room,
                .note     = on_note,
                .closed   = on_closed,
                .give_up  = on_give_up,
                .linked   = on_linked,
        };
        return &upcalls;
}

/* ---- the front, in a turn --------------------------------------------------------------------------------- */

void sc_client_end_unadmitted(struct scaler_client *c, struct scaler_future *f, int status)
{
        static const char over[] = "cancelled: the run that submitted it is over";
        const int reason = status == SC_E_CANCELLED ? SC_REASON_CANCELLED : SC_REASON_CLIENT;
        count_in_graph(c, f, reason);
        sc_future_keep_here(f, reason,
                            status == SC_E_CANCELLED ? over
                            : status == SC_E_STATE   ? "the client is closed"
                                                     : "out of memory in the client");
        end_later(c, f);
        tell_ended(c);
}

void sc_client_end_all(struct scaler_client *c, const char *why)
{
        size_t                cursor = 0;
        struct scaler_future *f;
        while ((f = sc_map_each(&c->futures, &cursor)) != NULL) {
                sc_future_keep_here(f, SC_REASON_CLIENT, why);
                end_later(c, f);
        }
        tell_ended(c);
        sc_map_fini(&c->futures);
        sc_map_init(&c->futures, c->mem);
        for (;;) {
                sc_gate_lock(c->gate);
                struct sc_list *node = sc_list_take(&c->submits);
                if (node)
                        SC_CONTAINER(node, struct scaler_future, work)->at_front = false;
                sc_gate_unlock(c->gate);
                if (!node)
                        return;
                f = SC_CONTAINER(node, struct scaler_future, work);
                if (f->graph)
                        sc_job_end_targets(c, f->job, SC_E_STATE);
                sc_client_end_unadmitted(c, f, SC_E_STATE);
        }
}

/* In the name of the run that its thread was in. */
static int give_nested(struct scaler_client *c, struct scaler_future *f, sc_ns now)
{
        uint8_t        room[SC_PARENT_SIZE];
        struct sc_plan name = { .parent_run = 0 };
        if (!sc_family_sign(f->family, room, &name))
                return SC_E_CANCELLED;
        if (f->job) {
                f->job->name = &name;
                return sc_job_submit_one(c, f, now);
        }
        struct sc_spec spec = f->spec;
        struct sc_plan plan = spec.plan ? *spec.plan : (struct sc_plan){ .graph = 0 };
        plan.parent         = name.parent;
        plan.parent_run     = name.parent_run;
        spec.plan           = &plan;
        return sc_cli_shell_submit(c->shell, &spec, f->id.lo, now);
}

static int give(struct scaler_client *c, struct scaler_future *f, sc_ns now)
{
        if (f->family)
                return give_nested(c, f, now);
        return f->job ? sc_job_submit_one(c, f, now) : sc_cli_shell_submit(c->shell, &f->spec, f->id.lo, now);
}

static void submit_one(struct scaler_client *c, struct scaler_future *f, sc_ns now)
{
        int status = sc_map_reserve(&c->futures, c->futures.len + 1) ? 0 : SC_E_NOMEM;
        if (!status)
                sc_map_put(&c->futures, (struct sc_id){ 0, f->id.lo }, f);
        if (!status && (status = give(c, f, now)) != 0)
                sc_map_remove(&c->futures, (struct sc_id){ 0, f->id.lo });
        if (status)
                sc_client_end_unadmitted(c, f, status);
}

static void leave(struct scaler_client *c, struct scaler_future *f)
{
        f->at_front = false;
        if (f->todo)
                sc_list_add_tail(&c->todo, &f->work);
}

/* Locked.  What was asked of it while it stood at the front is done after it is submitted. */
static void leave_front(struct scaler_client *c, struct sc_list *submits)
{
        struct sc_list *node;
        while ((node = sc_list_take(&c->submits)) != NULL) {
                struct scaler_future *f = SC_CONTAINER(node, struct scaler_future, work);
                sc_list_add_tail(submits, &f->turn);
                leave(c, f);
                for (size_t i = 0; f->graph && i < f->job->order_count; i++)
                        if (f->job->items[f->job->order[i]].future)
                                leave(c, f->job->items[f->job->order[i]].future);
        }
}

static void submit_graph(struct scaler_client *c, struct scaler_future *f, sc_ns now)
{
        uint8_t        room[SC_PARENT_SIZE];
        struct sc_plan name = { .parent_run = 0 };
        if (f->family && !sc_family_sign(f->family, room, &name)) {
                sc_job_end_targets(c, f->job, SC_E_CANCELLED);
                sc_client_end_unadmitted(c, f, SC_E_CANCELLED);
                return;
        }
        f->job->name = f->family ? &name : NULL;
        sc_job_submit_graph(c, f, now);
}

/* The job is done with when it is submitted, which the future may not outlive. */
static void submit_job(struct scaler_client *c, struct scaler_future *f, sc_ns now)
{
        scaler_future_ref(f);
        if (f->graph)
                submit_graph(c, f, now);
        else
                submit_one(c, f, now);
        sc_job_destroy(f->job);
        f->job = NULL;
        scaler_future_unref(f);
}

static void submit_all(struct scaler_client *c, struct sc_list *submits, sc_ns now)
{
        struct sc_list *node;
        while ((node = sc_list_take(submits)) != NULL) {
                struct scaler_future *f    = SC_CONTAINER(node, struct scaler_future, turn);
                struct sc_blob       *body = f->body; /* the core has its copy when submit_one returns */
                f->body                    = NULL;
                c->batch.records++;
                if (f->job)
                        submit_job(c, f, now);
                else
                        submit_one(c, f, now);
                sc_blob_unref(body);
        }
}

/* Futures with output consumed or a cancel wanted; each is looked at under the lock, acted on without. */
static void do_todo(struct scaler_client *c, sc_ns now)
{
        for (;;) {
                sc_gate_lock(c->gate);
                struct sc_list *node = sc_list_take(&c->todo);
                if (!node) {
                        sc_gate_unlock(c->gate);
                        return;
                }
                struct scaler_future *f        = SC_CONTAINER(node, struct scaler_future, work);
                const struct sc_id    task     = f->id;
                const uint8_t         todo     = f->todo;
                const uint64_t        consumed = f->consumed;
                const bool            force    = f->cancel_force;
                f->todo                        = 0;
                f->consumed                    = 0;
                sc_gate_unlock(c->gate);
                c->batch.urgent = true;
                if (todo & SC_FUTURE_CONSUMED)
                        sc_cli_shell_consumed(c->shell, task, consumed, now);
                if (todo & SC_FUTURE_CANCEL)
                        sc_cli_shell_cancel(c->shell, task, force, now);
        }
}

/* Locked: a cancel of many waits for the submits that were before it and came to the front after this turn began. */
static bool is_early(const struct scaler_client *c, const struct sc_request *r)
{
        if (!r->many || sc_list_empty(&c->submits))
                return false;
        return SC_CONTAINER(c->submits.next, struct scaler_future, work)->id.lo <= r->cancel_many.up_to;
}

static struct sc_request *unasked(struct scaler_client *c)
{
        for (struct sc_list *n = c->requests.next; n != &c->requests; n = n->next) {
                struct sc_request *r = SC_CONTAINER(n, struct sc_request, link);
                if (!r->asked && !is_early(c, r))
                        return r;
        }
        return NULL;
}

static void ask_all(struct scaler_client *c, sc_ns now)
{
        for (;;) {
                sc_gate_lock(c->gate);
                struct sc_request *r = unasked(c);
                if (!r) {
                        sc_gate_unlock(c->gate);
                        return;
                }
                r->asked                       = true;
                if (r->drains)
                        sc_gate_changed(c->gate);
                struct sc_request copied       = *r; /* whoever waits may be gone once the lock is */
                copied.query.tag               = (struct sc_view){ copied.tag, strlen(copied.tag) };
                sc_gate_unlock(c->gate);
                c->batch.urgent = true;
                if (copied.cancel)
                        sc_cli_shell_cancel(c->shell, copied.task, copied.force, now);
                else if (copied.many)
                        sc_cli_shell_cancel_many(c->shell, &copied.cancel_many, copied.tag, now);
                else if (copied.drains)
                        sc_cli_shell_drain(c->shell, &copied.drain, now);
                else
                        sc_cli_shell_query(c->shell, &copied.query, now);
        }
}

void sc_client_run_front(struct sc_post *post, sc_ns now)
{
        struct scaler_client *c = SC_CONTAINER(post, struct scaler_client, front);
        struct sc_list        submits;
        sc_list_init(&submits);
        sc_gate_lock(c->gate);
        c->posted = false;
        leave_front(c, &submits);
        const bool asked = !sc_list_empty(&c->todo) || !sc_list_empty(&c->requests);
        sc_gate_unlock(c->gate);
        sc_cli_shell_begin(c->shell, now, sc_loop_lateness(c->rt->loop));
        submit_all(c, &submits, now);
        if (asked) {
                do_todo(c, now);
                ask_all(c, now);
        }
        sc_loop_touch(c->rt->loop, &c->member);
}

static sc_ns member_deadline(void *ctx)
{
        struct scaler_client *c = ctx;
        return sc_ns_min(c->batch.until, sc_cli_shell_deadline(c->shell));
}

static void member_tick(void *ctx, sc_ns now)
{
        struct scaler_client *c = ctx;
        sc_cli_shell_begin(c->shell, now, sc_loop_lateness(c->rt->loop));
        sc_cli_shell_tick(c->shell, now);
}

static void member_flush(void *ctx, sc_ns now)
{
        struct scaler_client *c = ctx;
        if (c->futures.len < BUSY_TASKS || c->leaving)
                tell_ended(c);
        else if (c->ended_count > 0)
                sc_loop_ask_rest(c->rt->loop, &c->member);
        if (sc_batch_wait(&c->batch, c->futures.len >= BUSY_TASKS && !c->leaving, now))
                return;
        sc_cli_shell_flush(c->shell, now);
        if (!c->leaving || c->left || sc_station_links(sc_cli_shell_station(c->shell)) > 0)
                return;
        sc_gate_lock(c->gate);
        c->left = true;
        sc_gate_changed(c->gate);
        sc_gate_unlock(c->gate);
}

static void member_rest(void *ctx, sc_ns now)
{
        (void)now;
        tell_ended(ctx);
}

const struct sc_member_ops *sc_client_member_ops(void)
{
        static const struct sc_member_ops ops = { .deadline = member_deadline,
                                                  .tick     = member_tick,
                                                  .flush    = member_flush,
                                                  .rest     = member_rest };
        return &ops;
}

/* Locked. */
bool sc_client_mark_posted(struct scaler_client *c)
{
        const bool first = !c->posted;
        c->posted        = true;
        return first;
}

void sc_client_wants_turn(struct scaler_client *c, struct scaler_future *f, uint8_t todo)
{
        if (!f->at_front && sc_list_empty(&f->work) && !f->ended)
                sc_list_add_tail(&c->todo, &f->work);
        f->todo |= todo;
        if (sc_client_mark_posted(c))
                sc_loop_post(c->rt->loop, &c->front);
}
