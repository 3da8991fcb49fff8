/*
 * The worker as an object: a shell on a runtime, a table of functions, slot threads and a spawner.
 */
#include "worker.h"

#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "nested.h"
#include "plan.h"
#include "sc_assert.h"

enum { START_MAX = 64 }; /* so many short tasks do not wait for more before slot threads get them */

/* ---- upcalls of the shell, in a turn ------------------------------------------------------------------------ */

static void on_enter(void *role)
{
        struct scaler_worker *w = role;
        sc_work_shell_begin(w->shell, sc_loop_now(w->rt->loop), sc_loop_lateness(w->rt->loop));
        sc_loop_touch(w->rt->loop, &w->member);
}

static void on_run(void *role, const struct sc_assign *assign)
{
        if (assign->spec.kind == SC_TASK_COMMAND)
                sc_command_run(role, assign);
        else
                sc_task_run(role, assign);
}

static bool on_take_back(void *role, uint64_t run)
{
        struct scaler_worker *w = role;
        struct scaler_task   *t = sc_map_get(&w->tasks, (struct sc_id){ 0, run });
        return t && sc_task_take_back(t);
}

static void on_stop(void *role, uint64_t run, enum sc_stop_how how)
{
        struct scaler_worker *w = role;
        struct scaler_task   *t = sc_map_get(&w->tasks, (struct sc_id){ 0, run });
        if (t)
                sc_task_stop(t);
        struct sc_command_run *c = sc_map_get(&w->commands_by_handle, (struct sc_id){ 0, run });
        if (c)
                sc_command_stop(c, how);
}

static void on_read_more(void *role, uint64_t run)
{
        struct scaler_worker  *w = role;
        struct sc_command_run *c = sc_map_get(&w->commands_by_handle, (struct sc_id){ 0, run });
        if (c)
                sc_command_read_more(c);
}

static void on_park(void *role, uint64_t run)
{
        struct scaler_worker     *w = role;
        const struct scaler_task *t = sc_map_get(&w->tasks, (struct sc_id){ 0, run });
        SC_ASSERT(t != NULL && t->family != NULL);
        sc_family_park(t->family);
}

static void on_resume(void *role, uint64_t run, int status)
{
        struct scaler_worker     *w = role;
        const struct scaler_task *t = sc_map_get(&w->tasks, (struct sc_id){ 0, run });
        SC_ASSERT(t != NULL && t->family != NULL);
        sc_family_resume(t->family, status);
}

static struct scaler_client *inner_of(struct scaler_worker *w)
{
        sc_gate_lock(w->gate);
        struct scaler_client *inner = w->inner;
        sc_gate_unlock(w->gate);
        return inner;
}

static void on_note(void *role, int level, const char *line)
{
        struct scaler_worker *w = role;
        sc_log(w->rt, level, "worker", "%s: %s", w->name, line);
}

static void on_closed(void *role)
{
        struct scaler_worker *w = role;
        sc_gate_lock(w->gate);
        w->closed = true;
        sc_gate_changed(w->gate);
        sc_gate_unlock(w->gate);
        w->leaving = true;
        if (inner_of(w))
                sc_client_leave(inner_of(w));
        sc_station_hang_up(sc_work_shell_station(w->shell), sc_loop_now(w->rt->loop));
        sc_loop_touch(w->rt->loop, &w->member);
}

static void on_give_up(void *role, int status, const char *why)
{
        struct scaler_worker *w = role;
        if (w->given_up)
                return; /* it has said so */
        sc_station_hang_up(sc_work_shell_station(w->shell), sc_loop_now(w->rt->loop));
        sc_log(w->rt, SCALER_LOG_ERROR, "worker", "%s: gives up on %s: %s", w->name, w->url,
               why ? why : sc_status_text(status));
        if (inner_of(w))
                sc_client_give_up(inner_of(w), status, why);
        sc_gate_lock(w->gate);
        w->given_up = status;
        sc_gate_changed(w->gate);
        sc_gate_unlock(w->gate);
}

static void on_linked(void *role, bool up)
{
        struct scaler_worker *w = role;
        sc_gate_lock(w->gate);
        w->linked = up;
        sc_gate_changed(w->gate);
        sc_gate_unlock(w->gate);
}

static const struct sc_work_shell_upcalls shell_upcalls = {
        .enter     = on_enter,
        .run       = on_run,
        .take_back = on_take_back,
        .stop      = on_stop,
        .read_more = on_read_more,
        .park      = on_park,
        .resume    = on_resume,
        .note      = on_note,
        .closed    = on_closed,
        .give_up   = on_give_up,
        .linked    = on_linked,
};

void sc_run_refused(struct scaler_worker *w, uint64_t handle, int code, const char *text)
{
        const struct sc_outcome outcome = {
                .reason = SC_REASON_NOT_STARTED, .how = SC_HOW_NONE, .code = code, .text = { text, strlen(text) }
        };
        sc_work_shell_ran(w->shell, handle, &outcome, sc_loop_now(w->rt->loop));
}

static void show_lives(struct scaler_worker *w)
{
        sc_gate_lock(w->gate);
        w->lives = w->live > 0;
        sc_gate_unlock_changed(w->gate);
}

void sc_run_born(struct scaler_worker *w)
{
        if (w->live++ == 0)
                show_lives(w);
}

void sc_run_gone(struct scaler_worker *w)
{
        if (--w->live == 0)
                show_lives(w);
}

static sc_ns member_deadline(void *ctx)
{
        struct scaler_worker *w     = ctx;
        sc_ns                 early = w->batch.until;
        if (!sc_list_empty(&w->early))
                early = sc_ns_min(early, SC_CONTAINER(w->early.next, struct sc_command_run, early)->early_since +
                                                 SC_EARLY_DELAY);
        return sc_ns_min(early, sc_work_shell_deadline(w->shell));
}

static void member_tick(void *ctx, sc_ns now)
{
        struct scaler_worker *w = ctx;
        sc_work_shell_begin(w->shell, now, sc_loop_lateness(w->rt->loop));
        sc_command_flush_early(w, now);
        sc_work_shell_tick(w->shell, now);
}

static void member_flush(void *ctx, sc_ns now)
{
        struct scaler_worker *w = ctx;
        if (w->starting_count < START_MAX && sc_work_brisk(sc_work_shell_core(w->shell)))
                sc_loop_ask_rest(w->rt->loop, &w->member);
        else
                sc_task_start_all(w);
        if (sc_batch_wait(&w->batch, !w->leaving && sc_work_queued(sc_work_shell_core(w->shell)) > 0, now))
                return;
        sc_work_shell_begin(w->shell, now, sc_loop_lateness(w->rt->loop)); /* whoever touched it may not have */
        sc_work_shell_flush(w->shell, now);
        if (!w->leaving || w->left || sc_station_links(sc_work_shell_station(w->shell)) > 0)
                return;
        sc_gate_lock(w->gate);
        w->left = true;
        sc_gate_changed(w->gate);
        sc_gate_unlock(w->gate);
}

static void member_rest(void *ctx, sc_ns now)
{
        (void)now;
        sc_task_start_all(ctx);
}

static const struct sc_member_ops member_ops = { .deadline = member_deadline,
                                                 .tick     = member_tick,
                                                 .flush    = member_flush,
                                                 .rest     = member_rest };

/* ---- life -------------------------------------------------------------------------------------------------------- */

static int check_options(const scaler_worker_options *o, scaler_error *err)
{
        if (!o->scheduler || !*o->scheduler || strlen(o->scheduler) > SC_URL_MAX)
                return sc_error_set(err, SC_E_INVALID, "worker: scheduler must be an address of 1 to %d bytes",
                                    SC_URL_MAX);
        if (o->name && strlen(o->name) > SC_NAME_MAX)
                return sc_error_set(err, SC_E_INVALID, "worker: the name is longer than %d bytes", SC_NAME_MAX);
        if (o->slots < 0 || o->slots > SC_SLOTS_MAX)
                return sc_error_set(err, SC_E_INVALID, "worker: %d slots; 0 to %d it may have", (int)o->slots,
                                    SC_SLOTS_MAX);
        if (o->prefetch < SCALER_NONE || o->prefetch > SC_PREFETCH_MAX)
                return sc_error_set(err, SC_E_INVALID, "worker: prefetch %d is not within -1 and %d", (int)o->prefetch,
                                    SC_PREFETCH_MAX);
        if (o->commands != 0 && o->commands != SCALER_NONE)
                return sc_error_set(err, SC_E_INVALID, "worker: commands is neither 0 nor SCALER_NONE");
        if (o->keep_ms < 0 || o->kill_grace_ms < 0 || o->scheduler_timeout_ms < 0)
                return sc_error_set(err, SC_E_INVALID, "worker: a negative time");
        return 0;
}

/* Runs that name no needs hold a cpu, so it must be known how many there are. */
static int take_offers(struct scaler_worker *w, const char *offers, scaler_error *err)
{
        struct sc_amount amounts[SC_AMOUNTS_MAX];
        uint32_t         count  = 0;
        int              status = sc_amounts_take(offers, "worker: offers", w->offers, &w->core.offers, err);
        if (!status)
                status = sc_amounts_parse(w->core.offers, amounts, &count);
        for (uint32_t i = 0; !status && i < count; i++)
                if (amounts[i].name.len == 3 && memcmp(amounts[i].name.ptr, "cpu", 3) == 0 && !amounts[i].thousandths)
                        status = sc_error_set(err, SC_E_INVALID, "worker: offers \"cpu\": it must say how many");
        return status;
}

static int fill(struct scaler_worker *w, const scaler_worker_options *o, scaler_error *err)
{
        int status = check_options(o, err);
        if (status)
                return status;
        snprintf(w->url, sizeof w->url, "%s", o->scheduler);
        if (o->name)
                snprintf(w->name, sizeof w->name, "%s", o->name);
        else
                sc_machine_name(w->name, sizeof w->name);
        uint32_t slots = o->slots ? (uint32_t)o->slots : sc_usable_cpus();
        w->core        = (struct sc_work_options){
                       .id         = sc_random_id(),
                       .slots      = slots > SC_SLOTS_MAX ? SC_SLOTS_MAX : slots,
                       .prefetch   = o->prefetch,
                       .keep       = sc_ns_from_ms(o->keep_ms),
                       .kill_grace = sc_ns_from_ms(o->kill_grace_ms),
                       .give_up    = sc_ns_from_ms(o->scheduler_timeout_ms),
                       .name       = { w->name, strlen(w->name) },
        };
        w->commands     = o->commands == 0;
        w->spawners_max = sc_usable_cpus() < SC_SPAWNERS_MAX ? sc_usable_cpus() : SC_SPAWNERS_MAX;
        status          = take_offers(w, o->offers, err);
        if (!status)
                status = sc_access_init(&w->access, w->mem, o->security, err);
        if (!status && !(w->gate = sc_gate_create(w->mem)))
                status = sc_error_set(err, SC_E_NOMEM, "worker: out of memory");
        if (status)
                return status;
        w->gate->loop = w->rt->loop;
        w->core.token = (struct sc_view){ w->access.token, w->access.token_len };
        return 0;
}

int scaler_worker_create(const scaler_worker_options *options, scaler_worker **out, scaler_error *err)
{
        scaler_worker_options o;
        if (!options || !out || !sc_sized_in(&o, sizeof o, options))
                return sc_error_set(err, SC_E_INVALID, "worker: no options, without their size, or no out pointer");
        struct scaler_runtime *rt;
        bool                   owned;
        int                    status = sc_runtime_take(o.runtime, &rt, &owned, err);
        if (status)
                return status;
        struct scaler_worker *w = sc_mem_zalloc(rt->mem, sizeof *w);
        if (!w) {
                sc_runtime_give_back(rt, owned);
                return sc_error_set(err, SC_E_NOMEM, "worker: out of memory");
        }
        w->rt           = rt;
        w->owns_runtime = owned;
        w->mem          = rt->mem;
        sc_map_init(&w->tasks, w->mem);
        sc_map_init(&w->commands_by_handle, w->mem);
        sc_list_init(&w->early);
        sc_list_init(&w->starting);
        w->batch.until = SC_NEVER;
        status         = fill(w, &o, err);
        if (status)
                scaler_worker_destroy(w);
        else
                *out = w;
        return status;
}

static bool reserve_function(struct scaler_worker *w)
{
        if (w->function_count < w->function_cap)
                return true;
        const size_t     cap  = w->function_cap ? 2 * w->function_cap : 4;
        scaler_function *more = sc_mem_resize(w->mem, w->functions, w->function_cap * sizeof *more, cap * sizeof *more);
        if (!more)
                return false;
        w->functions    = more;
        w->function_cap = cap;
        return true;
}

int scaler_worker_register(scaler_worker *w, const scaler_function *function)
{
        if (sc_forked())
                return SC_E_STATE;
        scaler_function f;
        if (!w || !function || !sc_sized_in(&f, sizeof f, function) || !f.fn || !f.name || !*f.name ||
            strlen(f.name) > SC_NAME_MAX)
                return SC_E_INVALID;
        if (w->state != SC_CLIENT_NEW)
                return SC_E_STATE;
        if (w->function_count >= SC_FUNCTIONS_MAX)
                return SC_E_FULL;
        for (size_t i = 0; i < w->function_count; i++)
                if (strcmp(w->functions[i].name, f.name) == 0)
                        return SC_E_EXISTS;
        char *name = reserve_function(w) ? sc_mem_text(w->mem, f.name, strlen(f.name)) : NULL;
        if (!name)
                return SC_E_NOMEM;
        f.name                            = name;
        w->functions[w->function_count++] = f;
        return 0;
}

static void drop_name(struct scaler_worker *w, size_t index)
{
        char *name = (char *)(uintptr_t)w->functions[index].name;
        sc_mem_release(w->mem, name, strlen(name) + 1);
}

void sc_worker_forget_last(struct scaler_worker *w)
{
        SC_ASSERT(w->function_count > 0 && w->state == SC_CLIENT_NEW);
        drop_name(w, --w->function_count);
}

static int make_shell(struct scaler_worker *w)
{
        struct sc_view *names = sc_mem_array(w->mem, w->function_count + 1, sizeof *names);
        if (!names)
                return SC_E_NOMEM;
        for (size_t i = 0; i < w->function_count; i++)
                names[i] = (struct sc_view){ w->functions[i].name, strlen(w->functions[i].name) };
        w->core.functions                       = names;
        w->core.function_count                  = (uint32_t)w->function_count;
        w->core.now                             = sc_clock_now();
        const struct sc_station_options station = { .mem = w->mem, .self = SC_ROLE_WORKER, .seed = sc_random_id() };
        const int status = sc_work_shell_create(w->mem, &w->core, &station, &shell_upcalls, w, &w->shell);
        sc_mem_release(w->mem, names, (w->function_count + 1) * sizeof *names);
        return status;
}

/* Held. */
static int dial(struct scaler_worker *w, scaler_error *err)
{
        struct sc_net *net;
        sc_nets_init(&w->nets, w->rt, &w->access, sc_work_shell_station(w->shell));
        int status = sc_loop_join(w->rt->loop, &w->member, &member_ops, w);
        if (status)
                return sc_error_set(err, status, "worker: %s", sc_status_text(status));
        w->joined = true;
        status    = sc_access_may_dial(&w->access, w->url, err);
        if (!status)
                status = sc_nets_dialable(&w->nets, w->url, &net, err);
        if (!status && (status = sc_station_dial(sc_work_shell_station(w->shell), net, w->url, sc_clock_now())) != 0)
                sc_error_set(err, status, "worker: %s: %s", w->url, sc_status_text(status));
        sc_loop_touch(w->rt->loop, &w->member);
        return status;
}

static void leave_loop(struct scaler_worker *w)
{
        sc_slots_destroy(w->slots);
        w->slots = NULL;
        if (w->joined) {
                sc_loop_hold(w->rt->loop);
                for (uint32_t i = 0; i < w->spawners; i++)
                        sc_spawner_destroy(w->spawner[i]);
                sc_loop_leave(w->rt->loop, &w->member);
                sc_work_shell_destroy(w->shell); /* its links close over nets that are still there */
                w->shell = NULL;
                sc_nets_fini(&w->nets);
                sc_loop_release(w->rt->loop);
        }
        w->joined = false;
        sc_work_shell_destroy(w->shell);
        w->shell = NULL;
}

int scaler_worker_start(scaler_worker *w, scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        if (!w || w->state != SC_CLIENT_NEW || sc_loop_in_callback(w->rt->loop))
                return sc_error_set(err, w ? SC_E_STATE : SC_E_INVALID, "worker: started before, or from a callback");
        int status = make_shell(w);
        if (!status)
                status = sc_slots_create(w->mem, w->rt->loop, w->core.slots, 0, SC_WAITING_MAX, &w->slots);
        if (status) {
                leave_loop(w);
                return sc_error_set(err, status, "worker: %s", sc_status_text(status));
        }
        sc_loop_hold(w->rt->loop);
        status = dial(w, err);
        sc_loop_release(w->rt->loop);
        if (status)
                leave_loop(w); /* it may be tried again */
        else
                w->state = SC_CLIENT_STARTED;
        return status;
}

static int wait_for(struct scaler_worker *w, const bool *what, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (timeout_ms != 0 && sc_loop_in_callback(w->rt->loop))
                return SC_E_STATE;
        const sc_ns until  = sc_until(timeout_ms);
        int         status = 0;
        sc_gate_lock(w->gate);
        while (!*what && !w->given_up && !status)
                if (timeout_ms == 0 || !sc_gate_wait(w->gate, until))
                        status = SC_E_TIMEOUT;
        if (!*what && !status)
                status = w->given_up;
        sc_gate_unlock(w->gate);
        return status;
}

int scaler_worker_wait_ready(scaler_worker *w, int64_t timeout_ms)
{
        if (!w)
                return SC_E_INVALID;
        return w->state == SC_CLIENT_NEW ? SC_E_STATE : wait_for(w, &w->linked, timeout_ms);
}

int scaler_worker_wait_stopped(scaler_worker *w, int64_t timeout_ms)
{
        if (!w)
                return SC_E_INVALID;
        return w->state == SC_CLIENT_NEW ? SC_E_STATE : wait_for(w, &w->left, timeout_ms);
}

int scaler_worker_stats_get(scaler_worker *w, scaler_worker_stats *out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!w || !out)
                return SC_E_INVALID;
        scaler_worker_stats s;
        scaler_init(&s, sizeof s);
        s.slots = w->core.slots;
        if (w->shell) {
                const bool inside = sc_loop_in_turn(w->rt->loop);
                if (!inside)
                        sc_loop_hold(w->rt->loop);
                struct sc_work_stats core;
                sc_work_stats(sc_work_shell_core(w->shell), &core);
                if (!inside)
                        sc_loop_release(w->rt->loop);
                s.running   = core.running;
                s.queued    = core.queued;
                s.abandoned = core.abandoned;
                s.done      = core.done;
                s.failed    = core.failed;
                s.cancelled = core.cancelled;
                s.released  = core.released;
                s.waiting   = core.waiting;
        }
        sc_gate_lock(w->gate);
        s.connected = w->linked;
        s.status    = w->given_up;
        sc_gate_unlock(w->gate);
        return sc_sized_out(out, &s, sizeof s) ? 0 : SC_E_INVALID;
}

/* Begins the drain, or `at_once` ends it. */
static void drain(struct scaler_worker *w, uint64_t deadline_ms, bool at_once)
{
        sc_loop_hold(w->rt->loop);
        const sc_ns now = sc_clock_now();
        if (at_once)
                sc_work_shell_release(w->shell, now);
        else
                sc_work_shell_drain(w->shell, deadline_ms, now);
        sc_loop_touch(w->rt->loop, &w->member);
        sc_loop_release(w->rt->loop);
}

int scaler_worker_drain(scaler_worker *w, int64_t deadline_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!w || deadline_ms < 0)
                return SC_E_INVALID;
        if (w->state == SC_CLIENT_NEW || sc_loop_in_callback(w->rt->loop))
                return SC_E_STATE;
        w->state = SC_CLIENT_STOPPED;
        drain(w, (uint64_t)deadline_ms, false);
        return 0;
}

int scaler_worker_stop(scaler_worker *w, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!w)
                return SC_E_INVALID;
        if (sc_loop_in_callback(w->rt->loop))
                return SC_E_STATE;
        if (w->state == SC_CLIENT_NEW)
                return 0;
        if (w->state == SC_CLIENT_STARTED)
                scaler_worker_drain(w, 0);
        return wait_for(w, &w->left, timeout_ms);
}

/* Commands are killed, functions told; then all that lives has to end, however long functions take. */
static void end_runs(struct scaler_worker *w)
{
        sc_loop_hold(w->rt->loop);
        size_t                 cursor = 0;
        struct scaler_task    *t;
        struct sc_command_run *c;
        while ((t = sc_map_each(&w->tasks, &cursor)) != NULL)
                sc_task_stop(t);
        for (cursor = 0; (c = sc_map_each(&w->commands_by_handle, &cursor)) != NULL;) {
                const size_t count = w->commands_by_handle.len;
                sc_command_forsake(c);
                if (w->commands_by_handle.len < count)
                        cursor = 0; /* it is gone, and others have moved up */
        }
        sc_loop_release(w->rt->loop);
        sc_gate_lock(w->gate);
        while (w->lives)
                sc_gate_wait(w->gate, SC_NEVER);
        sc_gate_unlock(w->gate);
}

static bool lives(struct scaler_worker *w)
{
        sc_gate_lock(w->gate);
        const bool any = w->lives;
        sc_gate_unlock(w->gate);
        return any;
}

static void end_life(struct scaler_worker *w)
{
        enum { GOODBYE_MS = 1000 };
        const bool stopped = w->state == SC_CLIENT_STOPPED;
        if (!stopped || lives(w))
                drain(w, 0, true); /* gives back what runs */
        w->state = SC_CLIENT_STOPPED;
        end_runs(w);
        if (!w->given_up)
                wait_for(w, &w->left, GOODBYE_MS);
}

void scaler_worker_destroy(scaler_worker *w)
{
        if (!w || sc_forked())
                return;
        if (w->state != SC_CLIENT_NEW)
                end_life(w);
        if (w->inner)
                sc_client_unmake(w->inner); /* nobody is left who could submit with it */
        leave_loop(w);
        for (size_t i = 0; i < w->function_count; i++) {
                if (w->functions[i].destroy)
                        w->functions[i].destroy(w->functions[i].ctx);
                drop_name(w, i);
        }
        sc_mem_release(w->mem, w->functions, w->function_cap * sizeof *w->functions);
        sc_map_fini(&w->tasks);
        sc_map_fini(&w->commands_by_handle);
        sc_gate_unref(w->gate);
        sc_access_fini(&w->access, w->mem);
        struct scaler_runtime *rt    = w->rt;
        const bool             owned = w->owns_runtime;
        sc_mem_release(w->mem, w, sizeof *w);
        sc_runtime_give_back(rt, owned);
}
