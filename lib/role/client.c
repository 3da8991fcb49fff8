/*
 * The client: create, start, stop, destroy; submit, wait, cancel.  API threads never touch the core:
 * they append to the front and post, so that under load one turn carries many submits.
 */
#include "client.h"

#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "nested.h"
#include "sc_assert.h"

#define MEMORY_NAP (5 * SC_MS)

/* ---- life ------------------------------------------------------------------------------------------------- */

static int take_text(char *out, const char *text, const char *what, scaler_error *err)
{
        if (text && strlen(text) > SC_NAME_MAX)
                return sc_error_set(err, SC_E_INVALID, "client: the %s is longer than %d bytes", what, SC_NAME_MAX);
        snprintf(out, SC_NAME_MAX + 1, "%s", text ? text : "");
        return 0;
}

static int take_options(struct scaler_client *c, const scaler_client_options *o, scaler_error *err)
{
        if (!o->scheduler || !*o->scheduler || strlen(o->scheduler) > SC_URL_MAX)
                return sc_error_set(err, SC_E_INVALID, "client: scheduler must be an address of 1 to %d bytes",
                                    SC_URL_MAX);
        snprintf(c->url, sizeof c->url, "%s", o->scheduler);
        if (o->pending_max < 0 || o->pending_max > UINT32_MAX)
                return sc_error_set(err, SC_E_INVALID, "client: pending_max %lld is out of range",
                                    (long long)o->pending_max);
        if (o->reconnect_ms < 0 && o->reconnect_ms != SCALER_UNLIMITED)
                return sc_error_set(err, SC_E_INVALID, "client: reconnect_ms %lld is negative",
                                    (long long)o->reconnect_ms);
        if (o->weight < 0 || o->weight > SC_WEIGHT_MAX)
                return sc_error_set(err, SC_E_INVALID, "client: weight %lld is not within 0 and %d",
                                    (long long)o->weight, SC_WEIGHT_MAX);
        if (o->running_max < 0 || o->running_max > UINT32_MAX)
                return sc_error_set(err, SC_E_INVALID, "client: running_max %lld is not within 0 and %lu",
                                    (long long)o->running_max, (unsigned long)UINT32_MAX);
        if (o->admin && (o->weight || o->running_max))
                return sc_error_set(err, SC_E_INVALID, "client: an admin has neither weight nor running_max");
        c->weight      = (uint32_t)o->weight;
        c->running_max = (uint32_t)o->running_max;
        c->pending_max = o->pending_max ? (uint64_t)o->pending_max : 1000000;
        c->give_up     = o->reconnect_ms == SCALER_UNLIMITED ? SC_NEVER : sc_ns_from_ms(o->reconnect_ms);
        c->admin       = o->admin;
        int status     = take_text(c->name, o->name, "name", err);
        if (!status)
                status = take_text(c->tenant, o->tenant, "tenant", err);
        if (!status && !o->name)
                sc_machine_name(c->name, sizeof c->name);
        return status ? status : sc_access_init(&c->access, c->mem, o->security, err);
}

static int make_shell(struct scaler_client *c, scaler_error *err)
{
        const struct sc_cli_options core = {
                .id          = c->id,
                .role        = c->admin ? SC_ROLE_ADMIN : SC_ROLE_CLIENT,
                .pending_max = UINT32_MAX,
                .give_up     = c->give_up,
                .now         = sc_clock_now(),
                .name        = { c->name, strlen(c->name) },
                .tenant      = { c->tenant, strlen(c->tenant) },
                .token       = { c->access.token, c->access.token_len },
                .weight      = c->weight,
                .running_max = c->running_max,
        };
        const struct sc_station_options station = { .mem  = c->mem,
                                                    .self = c->admin ? SC_ROLE_ADMIN : SC_ROLE_CLIENT,
                                                    .seed = sc_random_id() };
        const int status = sc_cli_shell_create(c->mem, &core, &station, sc_client_upcalls(), c, &c->shell);
        if (status)
                return sc_error_set(err, status, "client: %s", sc_status_text(status));
        sc_nets_init(&c->nets, c->rt, &c->access, sc_cli_shell_station(c->shell));
        return 0;
}

int sc_client_make(const scaler_client_options *options, uint64_t nested, struct scaler_client **out,
                   scaler_error *err)
{
        scaler_client_options o;
        if (!options || !out || !sc_sized_in(&o, sizeof o, options))
                return sc_error_set(err, SC_E_INVALID, "client: no options, without their size, or no out pointer");
        struct scaler_runtime *rt;
        bool                   owned;
        int                    status = sc_runtime_take(o.runtime, &rt, &owned, err);
        if (status)
                return status;
        struct scaler_client *c = sc_mem_zalloc(rt->mem, sizeof *c);
        if (!c) {
                sc_runtime_give_back(rt, owned);
                return sc_error_set(err, SC_E_NOMEM, "client: out of memory");
        }
        c->rt           = rt;
        c->owns_runtime = owned;
        c->mem          = rt->mem;
        c->id           = nested ? nested : sc_random_id();
        c->nested       = nested != 0;
        c->front.run    = sc_client_run_front;
        c->batch.until  = SC_NEVER;
        sc_list_init(&c->front.link);
        sc_list_init(&c->submits);
        sc_list_init(&c->todo);
        sc_list_init(&c->requests);
        sc_list_init(&c->ended);
        sc_map_init(&c->futures, c->mem);
        c->gate = sc_gate_create(c->mem);
        status  = c->gate ? take_options(c, &o, err) : sc_error_set(err, SC_E_NOMEM, "client: out of memory");
        if (!status) {
                c->gate->client = c;
                c->gate->loop   = rt->loop;
                status          = make_shell(c, err);
        }
        if (status)
                sc_client_unmake(c);
        else
                *out = c;
        return status;
}

int scaler_client_create(const scaler_client_options *options, scaler_client **out, scaler_error *err)
{
        return sc_client_make(options, 0, out, err);
}

int scaler_client_start(scaler_client *c, scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        if (!c || c->state != SC_CLIENT_NEW || sc_loop_in_callback(c->rt->loop))
                return sc_error_set(err, c ? SC_E_STATE : SC_E_INVALID, "client: started before, or from a callback");
        struct sc_net *net;
        sc_loop_hold(c->rt->loop);
        int status = c->joined ? 0 : sc_loop_join(c->rt->loop, &c->member, sc_client_member_ops(), c);
        if (status)
                sc_error_set(err, status, "client: %s", sc_status_text(status));
        c->joined |= !status;
        if (!status)
                status = sc_access_may_dial(&c->access, c->url, err);
        if (!status)
                status = sc_nets_dialable(&c->nets, c->url, &net, err);
        if (!status && (status = sc_station_dial(sc_cli_shell_station(c->shell), net, c->url, sc_clock_now())) != 0)
                sc_error_set(err, status, "client: %s: %s", c->url, sc_status_text(status));
        if (c->joined)
                sc_loop_touch(c->rt->loop, &c->member);
        sc_loop_release(c->rt->loop);
        if (status)
                return status;
        sc_gate_lock(c->gate);
        c->state = SC_CLIENT_STARTED;
        sc_gate_unlock(c->gate);
        return 0;
}

/* ---- waiting for the client itself ------------------------------------------------------------------------- */

int scaler_client_wait_ready(scaler_client *c, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!c)
                return SC_E_INVALID;
        if (timeout_ms != 0 && sc_loop_in_callback(c->rt->loop))
                return SC_E_STATE;
        const sc_ns until  = sc_until(timeout_ms);
        int         status = 0;
        sc_gate_lock(c->gate);
        while (!c->linked && !status) {
                if (c->given_up)
                        status = c->given_up;
                else if (c->state != SC_CLIENT_STARTED)
                        status = SC_E_STATE;
                else if (timeout_ms == 0 || !sc_gate_wait(c->gate, until))
                        status = SC_E_TIMEOUT;
        }
        sc_gate_unlock(c->gate);
        return status;
}

int scaler_client_wait_all(scaler_client *c, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!c)
                return SC_E_INVALID;
        if (timeout_ms != 0 && sc_loop_in_callback(c->rt->loop))
                return SC_E_STATE;
        const sc_ns until  = sc_until(timeout_ms);
        int         status = 0;
        struct sc_family *family = sc_family_here();
        sc_gate_lock(c->gate);
        if (family && family->gate == c->gate)
                status = timeout_ms == 0 && family->pending > 0 ? SC_E_TIMEOUT : sc_family_await(family, NULL, until);
        else
                while (c->pending && !status)
                        if (timeout_ms == 0 || !sc_gate_wait_away(c->gate, until))
                                status = SC_E_TIMEOUT;
        sc_gate_unlock(c->gate);
        return sc_family_back(status);
}

int scaler_client_stats_get(scaler_client *c, scaler_client_stats *out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!c || !out)
                return SC_E_INVALID;
        scaler_client_stats s;
        scaler_init(&s, sizeof s);
        sc_gate_lock(c->gate);
        s.pending   = c->pending;
        s.submitted = c->submitted;
        s.succeeded = c->succeeded;
        s.failed    = c->failed;
        s.cancelled = c->cancelled;
        s.connected = c->linked;
        s.status    = c->given_up;
        sc_gate_unlock(c->gate);
        return sc_sized_out(out, &s, sizeof s) ? 0 : SC_E_INVALID;
}

/* ---- submitting ---------------------------------------------------------------------------------------------- */

/* Whether memory is kept back for what is under way, so that a submit has to wait. */
static bool is_tight(const struct scaler_client *c)
{
        return sc_mem_beyond(c->mem, SC_MEM_ASKED, 0);
}

/* Before anything is allocated for it. */
int sc_client_knock(const struct scaler_client *c, scaler_error *err)
{
        if (c->nested && !is_tight(c))
                return sc_family_knock(c, err);
        if (!is_tight(c))
                return 0;
        return sc_error_set(err, SC_E_FULL, "client: three quarters of its runtime's %zu bytes of memory are in use",
                            c->mem->budget);
}

/* Locked. */
int sc_client_may_submit(const struct scaler_client *c, size_t count, scaler_error *err)
{
        if (c->admin)
                return sc_error_set(err, SC_E_DENIED, "client: an admin client does not submit");
        if (c->given_up)
                return sc_error_set(err, c->given_up, "client: has given up: %s", c->given_up_text);
        if (c->state != SC_CLIENT_STARTED)
                return sc_error_set(err, SC_E_STATE, "client: not started, or stopped");
        if (count > c->pending_max)
                return sc_error_set(err, SC_E_TOO_BIG, "client: %zu tasks at once, pending_max is %llu", count,
                                    (unsigned long long)c->pending_max);
        if (c->pending + count > c->pending_max)
                return sc_error_set(err, SC_E_FULL, "client: %llu tasks pending, the most is %llu",
                                    (unsigned long long)c->pending, (unsigned long long)c->pending_max);
        return 0;
}

static void unref_all(struct scaler_future **futures, size_t count)
{
        for (size_t i = 0; i < count; i++)
                scaler_future_unref(futures[i]);
}

/* Locked: ids are given here, so that they go up in the order of the front. */
static void line_up(struct scaler_client *c, struct scaler_future **futures, size_t count, bool wanted)
{
        for (size_t i = 0; i < count; i++) {
                struct scaler_future *f = futures[i];
                f->id                   = (struct sc_id){ c->id, ++c->sequence };
                if (wanted) /* one reference for the map, one for the caller */
                        atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
                f->at_front = true;
                sc_list_add_tail(&c->submits, &f->work);
                if (f->family)
                        sc_family_add(f->family, f, 1);
        }
        c->pending += count;
        c->submitted += count;
}

static int submit_futures(struct scaler_client *c, struct scaler_future **futures, size_t count, bool wanted,
                          scaler_error *err)
{
        sc_gate_lock(c->gate);
        const int status = sc_client_may_submit(c, count, err);
        bool      first  = false;
        if (!status) {
                line_up(c, futures, count, wanted);
                first = sc_client_mark_posted(c);
        }
        sc_gate_unlock(c->gate);
        if (first)
                sc_loop_post_and_turn(c->rt->loop, &c->front);
        return status;
}

int scaler_client_submit(scaler_client *c, const scaler_spec *spec, scaler_future **out, scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        if (!c || !spec)
                return sc_error_set(err, SC_E_INVALID, "submit: no client or no spec");
        struct scaler_future *f;
        int                   status = sc_client_knock(c, err);
        if (!status)
                status = sc_client_make_future(c, spec, 0, &f, err);
        if (status)
                return status;
        status = submit_futures(c, &f, 1, out != NULL, err);
        if (status)
                scaler_future_unref(f);
        else if (out)
                *out = f;
        return status;
}

int scaler_client_submit_many(scaler_client *c, const scaler_spec *specs, size_t count, scaler_future **out,
                              scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        if (!c || (!specs && count))
                return sc_error_set(err, SC_E_INVALID, "submit: no client or no specs");
        if (count == 0)
                return 0;
        int status = sc_client_knock(c, err);
        if (status)
                return status;
        struct scaler_future **futures = sc_mem_array(c->mem, count, sizeof *futures);
        if (!futures)
                return sc_error_set(err, SC_E_NOMEM, "submit: out of memory");
        size_t made = 0;
        for (; made < count && !status; made += !status) {
                const scaler_spec *spec = (const scaler_spec *)(const void *)((const char *)specs + made * specs->size);
                if (spec->size != specs->size)
                        status = sc_error_set(err, SC_E_INVALID, "spec %zu: its size differs from that of spec 0",
                                              made);
                else
                        status = sc_client_make_future(c, spec, made, &futures[made], err);
        }
        if (!status)
                status = submit_futures(c, futures, count, out != NULL, err);
        if (status)
                unref_all(futures, made);
        else if (out)
                memcpy(out, futures, count * sizeof *futures);
        sc_mem_release(c->mem, futures, count * sizeof *futures);
        return status;
}

/* Locked.  False: there was none until then.  Memory comes back without a word, so that is looked for. */
static bool wait_for_room(struct scaler_client *c, sc_ns until)
{
        while ((c->pending >= c->pending_max || is_tight(c)) && !c->given_up && c->state == SC_CLIENT_STARTED) {
                const sc_ns now = sc_clock_now();
                if (until <= now)
                        return false;
                if (sc_family_must_return())
                        return false;
                sc_gate_wait_away(c->gate, is_tight(c) ? sc_ns_min(until, sc_ns_add(now, MEMORY_NAP)) : until);
        }
        return true;
}

static int back(int status, scaler_error *err)
{
        const int now = sc_family_back(status);
        return now == status ? now : sc_error_set(err, now, "submit: %s", sc_status_text(now));
}

int scaler_client_submit_wait(scaler_client *c, const scaler_spec *spec, int64_t timeout_ms, scaler_future **out,
                              scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        if (!c || !spec)
                return sc_error_set(err, SC_E_INVALID, "submit: no client or no spec");
        if (timeout_ms != 0 && sc_loop_in_callback(c->rt->loop))
                return sc_error_set(err, SC_E_STATE, "submit: a blocking call from a callback");
        const sc_ns until = sc_until(timeout_ms);
        for (;;) {
                int status = scaler_client_submit(c, spec, out, err);
                if (status != SC_E_FULL)
                        return back(status, err);
                sc_gate_lock(c->gate);
                const bool room = wait_for_room(c, timeout_ms == 0 ? 0 : until);
                sc_gate_unlock(c->gate);
                if (!room)
                        return back(sc_error_set(err, SC_E_TIMEOUT, "submit: no room within %lld ms",
                                                 (long long)timeout_ms), err);
        }
}

/* ---- cancelling, asking ----------------------------------------------------------------------------------------- */

int sc_client_ask(struct scaler_client *c, struct sc_request *r, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        enum { SOON_MS = 1000 };
        const bool  asks_only = r->drains && timeout_ms == 0; /* it need not be answered, but is to be said */
        const sc_ns until     = sc_until(asks_only ? SOON_MS : timeout_ms);
        int         status    = 0;
        if (sc_loop_in_callback(c->rt->loop))
                return SC_E_STATE;
        sc_list_init(&r->link);
        sc_gate_lock(c->gate);
        if (c->state != SC_CLIENT_STARTED)
                status = c->given_up ? c->given_up : SC_E_STATE;
        bool first = false;
        if (!status) {
                r->query.ticket       = ++c->tickets;
                r->cancel_many.ticket = c->tickets;
                r->drain.ticket       = c->tickets;
                r->cancel_many.up_to  = c->sequence; /* what is submitted later is none of its */
                sc_list_add_tail(&c->requests, &r->link);
                first = sc_client_mark_posted(c);
        }
        sc_gate_unlock(c->gate);
        if (first)
                sc_loop_post_and_turn(c->rt->loop, &c->front);
        if (status)
                return status;
        sc_gate_lock(c->gate);
        while (!r->done && !status)
                if ((timeout_ms == 0 && (!r->drains || r->asked)) || !sc_gate_wait_away(c->gate, until))
                        status = SC_E_TIMEOUT;
        sc_list_remove(&r->link);
        sc_gate_unlock(c->gate);
        return sc_family_back(status);
}

int scaler_client_cancel(scaler_client *c, scaler_id task, uint32_t flags, int64_t timeout_ms)
{
        if (!c || (flags & ~(uint32_t)SCALER_CANCEL_FORCE) || scaler_id_is_nil(task))
                return SC_E_INVALID;
        if (task.hi == 0 || task.lo == 0)
                return SCALER_CANCEL_NOT_FOUND; /* no client mints such an id */
        struct sc_request r = { .cancel = true, .task = { task.hi, task.lo }, .force = flags & SCALER_CANCEL_FORCE };
        const int         status = sc_client_ask(c, &r, timeout_ms);
        return status ? status : r.status;
}

static int take_selector(const scaler_client *c, const scaler_selector *selector, struct sc_request *r)
{
        scaler_selector s;
        scaler_init(&s, sizeof s);
        if (selector && !sc_sized_in(&s, sizeof s, selector))
                return SC_E_INVALID;
        if (s.client.hi != 0 || (s.tag && strlen(s.tag) > SC_NAME_MAX))
                return SC_E_INVALID;
        if (!c->admin && s.client.lo != 0 && s.client.lo != c->id)
                return SC_E_DENIED;
        snprintf(r->tag, sizeof r->tag, "%s", s.tag ? s.tag : "");
        r->cancel_many.client = s.client.lo;
        return 0;
}

int scaler_client_cancel_many(scaler_client *c, const scaler_selector *selector, uint32_t flags, int64_t timeout_ms,
                              uint64_t *count_out)
{
        struct sc_request r = { .many = true, .cancel_many = { .force = flags & SCALER_CANCEL_FORCE } };
        if (!c || (flags & ~(uint32_t)SCALER_CANCEL_FORCE))
                return SC_E_INVALID;
        int status = take_selector(c, selector, &r);
        if (!status)
                status = sc_client_ask(c, &r, timeout_ms);
        if (!status)
                status = r.status;
        if (!status && count_out)
                *count_out = r.next;
        return status;
}

/* The client of a future, or NULL when it is gone; the caller promises (scaler.h) not to destroy it meanwhile. */
static struct scaler_client *client_of(struct scaler_future *f)
{
        sc_gate_lock(f->gate);
        struct scaler_client *c = f->gate->client;
        sc_gate_unlock(f->gate);
        return c;
}

int scaler_future_cancel(scaler_future *f, uint32_t flags)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!f || (flags & ~(uint32_t)SCALER_CANCEL_FORCE))
                return SC_E_INVALID;
        sc_gate_lock(f->gate);
        struct scaler_client *c = f->gate->client;
        if (c && !f->ended) {
                f->cancel_force |= flags & SCALER_CANCEL_FORCE;
                sc_client_wants_turn(c, f, SC_FUTURE_CANCEL);
        }
        sc_gate_unlock(f->gate);
        return 0;
}

int scaler_future_cancel_wait(scaler_future *f, uint32_t flags, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!f)
                return SC_E_INVALID;
        struct scaler_client *c = client_of(f);
        if (!c)
                return SCALER_CANCEL_NOT_FOUND;
        return scaler_client_cancel(c, (scaler_id){ f->id.hi, f->id.lo }, flags, timeout_ms);
}

/* ---- the end --------------------------------------------------------------------------------- */

void sc_client_leave(struct scaler_client *c)
{
        const sc_ns now = sc_clock_now();
        sc_gate_lock(c->gate);
        const bool leaves = c->state == SC_CLIENT_STARTED;
        if (leaves)
                c->state = SC_CLIENT_STOPPED;
        sc_gate_unlock(c->gate);
        if (!leaves)
                return;
        sc_cli_shell_begin(c->shell, now, 0);
        sc_cli_shell_close(c->shell, now);
        c->leaving = true;
        sc_station_hang_up(sc_cli_shell_station(c->shell), now);
        sc_loop_touch(c->rt->loop, &c->member);
}

static int stop(struct scaler_client *c, int64_t timeout_ms)
{
        if (sc_loop_in_callback(c->rt->loop))
                return SC_E_STATE;
        sc_gate_lock(c->gate);
        const enum sc_client_state was = c->state;
        sc_gate_unlock(c->gate);
        if (was == SC_CLIENT_NEW)
                return 0;
        if (was == SC_CLIENT_STARTED) {
                sc_loop_hold(c->rt->loop);
                sc_client_leave(c);
                sc_loop_release(c->rt->loop);
        }
        const sc_ns until  = sc_until(timeout_ms);
        int         status = 0;
        sc_gate_lock(c->gate);
        while ((!c->closed || !c->left || c->pending) && !status)
                if (timeout_ms == 0 || !sc_gate_wait(c->gate, until))
                        status = SC_E_TIMEOUT;
        sc_gate_unlock(c->gate);
        return status;
}

int scaler_client_stop(scaler_client *c, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!c)
                return SC_E_INVALID;
        return c->nested ? SC_E_STATE : stop(c, timeout_ms);
}

static void leave_loop(struct scaler_client *c)
{
        sc_loop_hold(c->rt->loop);
        sc_loop_unpost(c->rt->loop, &c->front);
        sc_loop_leave(c->rt->loop, &c->member);
        sc_cli_shell_destroy(c->shell); /* its links close over nets that are still there */
        c->shell = NULL;
        sc_nets_fini(&c->nets);
        sc_client_end_all(c, "the client was destroyed");
        sc_loop_release(c->rt->loop);
}

void scaler_client_destroy(scaler_client *c)
{
        if (c && !sc_forked() && !c->nested)
                sc_client_unmake(c);
}

void sc_client_unmake(struct scaler_client *c)
{
        enum { GOODBYE_MS = 1000 };
        if (c->state == SC_CLIENT_STARTED || c->leaving)
                stop(c, GOODBYE_MS);
        if (c->joined)
                leave_loop(c);
        sc_cli_shell_destroy(c->shell);
        sc_map_fini(&c->futures);
        if (c->gate) {
                sc_gate_lock(c->gate);
                c->gate->client = NULL;
                c->gate->loop   = NULL;
                sc_gate_unlock(c->gate);
        }
        sc_gate_unref(c->gate);
        sc_access_fini(&c->access, c->mem);
        struct scaler_runtime *rt    = c->rt;
        const bool             owned = c->owns_runtime;
        sc_mem_release(c->mem, c, sizeof *c);
        sc_runtime_give_back(rt, owned);
}
