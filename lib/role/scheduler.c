/*
 * The scheduler as an object: a shell on a runtime, listening.
 */
#include <stdio.h>
#include <string.h>

#include "client.h" /* sc_stats_from_row */
#include "machine.h"
#include "tenants.h"

enum { LISTEN_MAX = 64 };

struct address {
        char                url[SC_URL_MAX + 1], bound[SC_URL_MAX + 1];
        struct sc_net      *net;
        struct sc_listener *listener;
};

struct scaler_scheduler {
        struct scaler_runtime *rt;
        bool                   owns_runtime;
        struct sc_mem         *mem;
        struct sc_access       access;
        char                   name[SC_NAME_MAX + 1];
        struct address        *address;
        size_t                 address_count;
        struct sc_gate        *gate; /* for stop: all links have left */
        struct sc_sched_shell *shell;
        struct sc_nets         nets;
        struct sc_member       member;
        enum sc_client_state   state;
        bool                   joined, leaving, left;
};

/* ---- in a turn ----------------------------------------------------------------------------------------- */

static void on_enter(void *role)
{
        struct scaler_scheduler *s = role;
        sc_sched_shell_begin(s->shell, sc_loop_now(s->rt->loop), sc_loop_lateness(s->rt->loop));
        sc_loop_touch(s->rt->loop, &s->member);
}

static void on_note(void *role, int level, const char *line)
{
        struct scaler_scheduler *s = role;
        sc_log(s->rt, level, "scheduler", "%s: %s", s->name, line);
}

static int on_admit(void *role, const struct sc_hello *hello)
{
        const struct scaler_scheduler *s = role;
        if (!s->access.token)
                return 0;
        return sc_access_token_is(&s->access, hello->token.ptr, hello->token.len) ? 0 : SC_E_DENIED;
}

static void unlisten_all(struct scaler_scheduler *s)
{
        for (size_t i = 0; i < s->address_count; i++)
                if (s->address[i].listener) {
                        s->address[i].net->ops->unlisten(s->address[i].net, s->address[i].listener);
                        s->address[i].listener = NULL;
                }
}

/* Goodbye is said to all; until it has left, the links are still there. */
static void on_closed(void *role)
{
        struct scaler_scheduler *s = role;
        s->leaving                 = true;
        unlisten_all(s);
        sc_station_hang_up(sc_sched_shell_station(s->shell), sc_loop_now(s->rt->loop));
        sc_loop_touch(s->rt->loop, &s->member);
}

static const struct sc_sched_shell_upcalls shell_upcalls = {
        .enter = on_enter, .note = on_note, .admit = on_admit, .closed = on_closed
};

static sc_ns member_deadline(void *ctx)
{
        return sc_sched_shell_deadline(((struct scaler_scheduler *)ctx)->shell);
}

static void member_tick(void *ctx, sc_ns now)
{
        struct scaler_scheduler *s = ctx;
        sc_sched_shell_begin(s->shell, now, sc_loop_lateness(s->rt->loop));
        sc_sched_shell_tick(s->shell, now);
}

static void member_flush(void *ctx, sc_ns now)
{
        struct scaler_scheduler *s = ctx;
        sc_sched_shell_flush(s->shell, now);
        if (!s->leaving || s->left || sc_station_links(sc_sched_shell_station(s->shell)) > 0)
                return;
        sc_gate_lock(s->gate);
        s->left = true;
        sc_gate_changed(s->gate);
        sc_gate_unlock(s->gate);
}

static const struct sc_member_ops member_ops = { .deadline = member_deadline,
                                                 .tick     = member_tick,
                                                 .flush    = member_flush };

/* ---- life ------------------------------------------------------------------------------------------------ */

static int in_range(int64_t value, int64_t most, const char *what, scaler_error *err)
{
        if (value >= 0 && value <= most)
                return 0;
        return sc_error_set(err, SC_E_INVALID, "scheduler: %s %lld is not within 0 and %lld", what, (long long)value,
                            (long long)most);
}

static int check_limits(const scaler_scheduler_options *o, scaler_error *err)
{
        enum { DAY_MS = 86400000 };
        int status = in_range(o->tasks_max, UINT32_MAX / 4, "tasks_max", err);
        if (!status)
                status = in_range(o->bytes_max, INT64_MAX / 2, "bytes_max", err);
        if (!status)
                status = in_range(o->peers_max, 1 << 20, "peers_max", err);
        if (!status)
                status = in_range(o->client_tasks_max, UINT32_MAX / 4, "client_tasks_max", err);
        if (!status)
                status = in_range(o->losses_max, 1000, "losses_max", err);
        if (!status)
                status = in_range(o->silent_ms, DAY_MS, "silent_ms", err);
        if (!status && o->client_grace_ms != SCALER_UNLIMITED)
                status = in_range(o->client_grace_ms, INT64_MAX / SC_MS, "client_grace_ms", err);
        if (!status && o->aging_ms != SCALER_NONE)
                status = in_range(o->aging_ms, INT64_MAX / SC_MS, "aging_ms", err);
        if (!status && o->keys_kept != SCALER_NONE)
                status = in_range(o->keys_kept, UINT32_MAX / 4, "keys_kept", err);
        if (!status && o->keys_age_ms != SCALER_UNLIMITED)
                status = in_range(o->keys_age_ms, INT64_MAX / SC_MS, "keys_age_ms", err);
        if (!status && o->silent_ms && o->silent_ms < 100)
                status = sc_error_set(err, SC_E_INVALID, "scheduler: silent_ms %lld is below 100",
                                      (long long)o->silent_ms);
        const int64_t grace  = o->client_grace_ms ? o->client_grace_ms : 60000,
                      silent = o->silent_ms ? o->silent_ms : 10000;
        if (!status && o->client_grace_ms != SCALER_UNLIMITED && o->silent_ms && o->client_grace_ms &&
            grace < silent / 2)
                status = sc_error_set(err, SC_E_INVALID,
                                      "scheduler: client_grace_ms %lld is below half of silent_ms %lld",
                                      (long long)grace, (long long)silent);
        return status;
}

static int take_addresses(struct scaler_scheduler *s, const scaler_scheduler_options *o, scaler_error *err)
{
        if (!o->listen || o->listen_count == 0 || o->listen_count > LISTEN_MAX)
                return sc_error_set(err, SC_E_INVALID, "scheduler: 1 to %d addresses to listen on it must have",
                                    LISTEN_MAX);
        s->address = sc_mem_zalloc(s->mem, o->listen_count * sizeof *s->address);
        if (!s->address)
                return sc_error_set(err, SC_E_NOMEM, "scheduler: out of memory");
        s->address_count = o->listen_count;
        for (size_t i = 0; i < o->listen_count; i++) {
                const char *url = o->listen[i];
                if (!url || !*url || strlen(url) > SC_URL_MAX)
                        return sc_error_set(err, SC_E_INVALID, "scheduler: address %zu must have 1 to %d bytes", i,
                                            SC_URL_MAX);
                snprintf(s->address[i].url, sizeof s->address[i].url, "%s", url);
        }
        return 0;
}

static int make_shell(struct scaler_scheduler *s, const scaler_scheduler_options *o,
                      const struct sc_tenant_options *tenants, scaler_error *err)
{
        struct sc_sched_options core = {
                .id               = sc_random_id(),
                .epoch            = sc_random_id(),
                .seed             = sc_random_id(),
                .tasks_max        = (uint32_t)o->tasks_max,
                .bytes_max        = o->bytes_max ? (uint64_t)o->bytes_max : sc_physical_memory() / 4,
                .peers_max        = (uint32_t)o->peers_max,
                .client_tasks_max = (uint32_t)o->client_tasks_max,
                .losses_max       = (uint32_t)o->losses_max,
                .silent_ms        = (uint32_t)o->silent_ms,
                .client_grace = o->client_grace_ms == SCALER_UNLIMITED ? SC_NEVER : sc_ns_from_ms(o->client_grace_ms),
                .aging        = o->aging_ms == SCALER_NONE ? SC_NEVER : sc_ns_from_ms(o->aging_ms),
                .keys_kept    = o->keys_kept == SCALER_NONE ? SC_KEYS_NONE : (uint32_t)o->keys_kept,
                .keys_age     = o->keys_age_ms == SCALER_UNLIMITED ? SC_NEVER : sc_ns_from_ms(o->keys_age_ms),
                .tenants      = tenants,
                .tenant_count = (uint32_t)o->tenant_count,
                .now          = sc_clock_now(),
        };
        int status = sc_allocate_read(o->allocate, &core.allocate, err);
        if (status)
                return status;
        snprintf(core.name, sizeof core.name, "%s", s->name);
        const struct sc_station_options station = { .mem       = s->mem,
                                                    .self      = SC_ROLE_SCHEDULER,
                                                    .seed      = sc_random_id(),
                                                    .peers_max = (uint32_t)o->peers_max,
                                                    .silent    = sc_ns_from_ms(o->silent_ms) };
        status = sc_sched_shell_create(s->mem, &core, &station, &shell_upcalls, s, &s->shell);
        if (status)
                return sc_error_set(err, status, "scheduler: %s", sc_status_text(status));
        sc_nets_init(&s->nets, s->rt, &s->access, sc_sched_shell_station(s->shell));
        return 0;
}

static int fill(struct scaler_scheduler *s, const scaler_scheduler_options *o, scaler_error *err)
{
        if (o->name && strlen(o->name) > SC_NAME_MAX)
                return sc_error_set(err, SC_E_INVALID, "scheduler: the name is longer than %d bytes", SC_NAME_MAX);
        if (o->name)
                snprintf(s->name, sizeof s->name, "%s", o->name);
        else
                sc_machine_name(s->name, sizeof s->name);
        int status = check_limits(o, err);
        if (!status)
                status = sc_access_init(&s->access, s->mem, o->security, err);
        if (!status)
                status = take_addresses(s, o, err);
        if (!status && !(s->gate = sc_gate_create(s->mem)))
                status = sc_error_set(err, SC_E_NOMEM, "scheduler: out of memory");
        if (status)
                return status;
        s->gate->loop = s->rt->loop;
        struct sc_tenant_options *tenants;
        status = sc_tenants_read(s->mem, o, &tenants, err);
        if (status)
                return status;
        status = make_shell(s, o, tenants, err);
        sc_mem_release(s->mem, tenants, o->tenant_count * sizeof *tenants);
        return status;
}

int scaler_scheduler_create(const scaler_scheduler_options *options, scaler_scheduler **out, scaler_error *err)
{
        scaler_scheduler_options o;
        if (!options || !out || !sc_sized_in(&o, sizeof o, options))
                return sc_error_set(err, SC_E_INVALID, "scheduler: no options, without their size, or no out pointer");
        struct scaler_runtime *rt;
        bool                   owned;
        int                    status = sc_runtime_take(o.runtime, &rt, &owned, err);
        if (status)
                return status;
        struct scaler_scheduler *s = sc_mem_zalloc(rt->mem, sizeof *s);
        if (!s) {
                sc_runtime_give_back(rt, owned);
                return sc_error_set(err, SC_E_NOMEM, "scheduler: out of memory");
        }
        s->rt           = rt;
        s->owns_runtime = owned;
        s->mem          = rt->mem;
        status          = fill(s, &o, err);
        if (status)
                scaler_scheduler_destroy(s);
        else
                *out = s;
        return status;
}

static void warn_of_readers(const struct scaler_scheduler *s, const struct address *a)
{
        if (s->access.token && strncmp(a->url, "tls+", 4) != 0 && !sc_url_is_local(a->url))
                sc_log(s->rt, SCALER_LOG_WARN, "scheduler",
                       "%s: %s: whoever reads this network reads the token: tls+tcp:// keeps it secret", s->name,
                       a->bound);
}

/* Held. */
static int listen_all(struct scaler_scheduler *s, scaler_error *err)
{
        for (size_t i = 0; i < s->address_count; i++) {
                struct address *a      = &s->address[i];
                int             status = sc_access_may_listen(&s->access, a->url, err);
                if (!status)
                        status = sc_nets_for(&s->nets, a->url, &a->net, err);
                if (status)
                        return status;
                struct sc_why why = { "" };
                status            = a->net->ops->listen(a->net, a->url, &a->listener, a->bound, &why);
                if (status)
                        return sc_error_set(err, status, "%s", why.text[0] ? why.text : sc_status_text(status));
                warn_of_readers(s, a);
        }
        return 0;
}

int scaler_scheduler_start(scaler_scheduler *s, scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        if (!s || s->state != SC_CLIENT_NEW || sc_loop_in_callback(s->rt->loop))
                return sc_error_set(err, s ? SC_E_STATE : SC_E_INVALID,
                                    "scheduler: started before, or from a callback");
        sc_loop_hold(s->rt->loop);
        int status = s->joined ? 0 : sc_loop_join(s->rt->loop, &s->member, &member_ops, s);
        if (status)
                sc_error_set(err, status, "scheduler: %s", sc_status_text(status));
        s->joined |= !status;
        if (!status)
                status = listen_all(s, err);
        if (status)
                unlisten_all(s);
        else
                s->state = SC_CLIENT_STARTED;
        if (s->joined)
                sc_loop_touch(s->rt->loop, &s->member);
        sc_loop_release(s->rt->loop);
        return status;
}

const char *scaler_scheduler_address(const scaler_scheduler *s, size_t index)
{
        return s && s->state != SC_CLIENT_NEW && index < s->address_count ? s->address[index].bound : NULL;
}

int scaler_scheduler_stats_get(scaler_scheduler *s, scaler_scheduler_stats *out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!s || !out)
                return SC_E_INVALID;
        const bool inside = sc_loop_in_turn(s->rt->loop);
        if (!inside)
                sc_loop_hold(s->rt->loop);
        struct sc_status_row row = { .ticket = 0 };
        sc_sched_stats(sc_sched_shell_core(s->shell), sc_clock_now(), &row);
        row.links = sc_station_links(sc_sched_shell_station(s->shell));
        if (!inside)
                sc_loop_release(s->rt->loop);
        scaler_scheduler_stats stats;
        scaler_init(&stats, sizeof stats);
        sc_stats_from_row(&stats, &row);
        return sc_sized_out(out, &stats, sizeof stats) ? 0 : SC_E_INVALID;
}

/* Begins the drain, or `now` ends it. */
static void drain(struct scaler_scheduler *s, uint64_t deadline_ms, bool now)
{
        sc_loop_hold(s->rt->loop);
        if (now)
                sc_sched_shell_release(s->shell, sc_clock_now());
        else
                sc_sched_shell_drain(s->shell, deadline_ms, sc_clock_now());
        sc_loop_touch(s->rt->loop, &s->member);
        sc_loop_release(s->rt->loop);
}

static int wait_left(struct scaler_scheduler *s, int64_t timeout_ms)
{
        const sc_ns until  = sc_until(timeout_ms);
        int         status = 0;
        sc_gate_lock(s->gate);
        while (!s->left && !status)
                if (timeout_ms == 0 || !sc_gate_wait(s->gate, until))
                        status = SC_E_TIMEOUT;
        sc_gate_unlock(s->gate);
        return status;
}

int scaler_scheduler_drain(scaler_scheduler *s, int64_t deadline_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!s || deadline_ms < 0)
                return SC_E_INVALID;
        if (s->state == SC_CLIENT_NEW || sc_loop_in_callback(s->rt->loop))
                return SC_E_STATE;
        s->state = SC_CLIENT_STOPPED;
        drain(s, (uint64_t)deadline_ms, false);
        return 0;
}

int scaler_scheduler_wait_stopped(scaler_scheduler *s, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!s)
                return SC_E_INVALID;
        if (s->state == SC_CLIENT_NEW || (timeout_ms != 0 && sc_loop_in_callback(s->rt->loop)))
                return SC_E_STATE;
        return wait_left(s, timeout_ms);
}

int scaler_scheduler_stop(scaler_scheduler *s, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!s)
                return SC_E_INVALID;
        if (sc_loop_in_callback(s->rt->loop))
                return SC_E_STATE;
        if (s->state == SC_CLIENT_NEW)
                return 0;
        if (s->state == SC_CLIENT_STARTED)
                scaler_scheduler_drain(s, 0);
        return wait_left(s, timeout_ms);
}

void scaler_scheduler_destroy(scaler_scheduler *s)
{
        enum { GOODBYE_MS = 1000 };
        if (!s || sc_forked())
                return;
        if (s->state != SC_CLIENT_NEW && wait_left(s, 0) != 0) {
                drain(s, 0, true);
                wait_left(s, GOODBYE_MS);
        }
        if (s->joined) {
                sc_loop_hold(s->rt->loop);
                sc_loop_leave(s->rt->loop, &s->member);
                sc_sched_shell_destroy(s->shell); /* its links close over nets that are still there */
                s->shell = NULL;
                sc_nets_fini(&s->nets);
                sc_loop_release(s->rt->loop);
        }
        sc_sched_shell_destroy(s->shell);
        sc_gate_unref(s->gate);
        sc_mem_release(s->mem, s->address, s->address_count * sizeof *s->address);
        sc_access_fini(&s->access, s->mem);
        struct scaler_runtime *rt    = s->rt;
        const bool             owned = s->owns_runtime;
        sc_mem_release(s->mem, s, sizeof *s);
        sc_runtime_give_back(rt, owned);
}
