/*
 * The scheduler's core on its station.  A station makes no upcall from inside send, grant or close, and
 * the role calls nothing from inside note and admit, so no step ever begins inside another.
 */
#include <stdio.h>

#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "shell.h"

enum { TICKS_MAX = 16 }; /* steps of leftover work in one turn, so that links are served between */

struct sc_sched_shell {
        struct sc_mem     *mem;
        struct sc_sched   *core;
        struct sc_station *station;
        struct sc_sched_shell_upcalls upcalls;
        void              *role;
        sc_ns              now;
        bool               stepping;
        struct sc_out      out;
};

static void carry_out(struct sc_sched_shell *x, const struct sc_effect *fx)
{
        switch (fx->kind) {
        case SC_FX_SEND:
                sc_station_send(x->station, fx->link, &fx->msg);
                break;
        case SC_FX_CLOSE:
                sc_station_close(x->station, fx->link, fx->status, fx->text);
                break;
        case SC_FX_GRANT:
                sc_station_grant(x->station, fx->link, fx->tasks, fx->kib);
                break;
        case SC_FX_NOTE:
                if (x->upcalls.note != NULL)
                        x->upcalls.note(x->role, fx->status, fx->text);
                break;
        case SC_FX_CLOSED:
                if (x->upcalls.closed != NULL)
                        x->upcalls.closed(x->role);
                break;
        case SC_FX_COMPLETE:
        case SC_FX_CONFIRM:
        case SC_FX_GRAPH:
        case SC_FX_DELIVER:
        case SC_FX_REPLY:
        case SC_FX_ROOM:
        case SC_FX_GIVE_UP:
        case SC_FX_TAKE_BACK:
        case SC_FX_RUN:
        case SC_FX_STOP:
        case SC_FX_READ_MORE:
        case SC_FX_PARK:
        case SC_FX_RESUME:
                SC_UNREACHABLE();
        }
}

static void step(struct sc_sched_shell *x, struct sc_event *ev)
{
        SC_ASSERT(!x->stepping);
        x->stepping = true;
        x->out.len  = 0;
        ev->now     = x->now;
        sc_sched_step(x->core, ev, &x->out);
        for (uint32_t i = 0; i < x->out.len; i++)
                carry_out(x, &x->out.at[i]);
        x->stepping = false;
}

/* ---- the station's upcalls ----------------------------------------------------------------------- */

static void on_enter(void *role)
{
        struct sc_sched_shell *x = role;
        if (x->upcalls.enter != NULL)
                x->upcalls.enter(x->role);
}

/* A guesser of tokens shows in the log. */
static void deny(struct sc_sched_shell *x, sc_link_id link, const struct sc_hello *hello)
{
        char line[SC_NAME_MAX + 96];
        snprintf(line, sizeof line, "link %llu: refused: the token is not good for %s '%.*s'", (unsigned long long)link,
                 sc_role_name((enum sc_role)hello->role), (int)hello->name.len, (const char *)hello->name.ptr);
        if (x->upcalls.note != NULL)
                x->upcalls.note(x->role, SC_NOTE_WARN, line);
        sc_station_close(x->station, link, SC_E_DENIED, "the token is not good for this role");
}

static void on_up(void *role, sc_link_id link, const struct sc_msg *hello, uint32_t tasks, uint32_t kib)
{
        struct sc_sched_shell *x = role;
        if (x->upcalls.admit != NULL && x->upcalls.admit(x->role, &hello->hello) != 0) {
                deny(x, link, &hello->hello);
                return;
        }
        struct sc_event ev = {.kind = SC_EV_UP, .link = link, .msg = hello, .tasks = tasks, .kib = kib};
        step(x, &ev);
}

static void on_message(void *role, sc_link_id link, const struct sc_msg *msg)
{
        struct sc_event ev = {.kind = SC_EV_MSG, .link = link, .msg = msg};
        step(role, &ev);
}

static void on_acked(void *role, sc_link_id link, uint32_t count)
{
        struct sc_event ev = {.kind = SC_EV_ACKED, .link = link, .count = count};
        step(role, &ev);
}

static void on_grant(void *role, sc_link_id link, uint32_t tasks, uint32_t kib)
{
        struct sc_event ev = {.kind = SC_EV_GRANT, .link = link, .tasks = tasks, .kib = kib};
        step(role, &ev);
}

static void on_down(void *role, sc_link_id link, int status, const char *why)
{
        (void)why;
        struct sc_event ev = {.kind = SC_EV_DOWN, .link = link, .status = status};
        step(role, &ev);
}

static void on_note(void *role, int level, const char *line)
{
        struct sc_sched_shell *x = role;
        if (x->upcalls.note != NULL)
                x->upcalls.note(x->role, level, line);
}

/* ---- the role's calls ------------------------------------------------------------------------------ */

int sc_sched_shell_create(struct sc_mem *mem, const struct sc_sched_options *core,
                          const struct sc_station_options *station, const struct sc_sched_shell_upcalls *upcalls,
                          void *role, struct sc_sched_shell **out)
{
        static const struct sc_station_upcalls from_station = {
                .enter   = on_enter,
                .up      = on_up,
                .message = on_message,
                .acked   = on_acked,
                .grant   = on_grant,
                .down    = on_down,
                .note    = on_note,
        };
        struct sc_sched_shell *x = sc_mem_zalloc(mem, sizeof *x);
        if (x == NULL)
                return SC_E_NOMEM;
        x->mem     = mem;
        x->upcalls = *upcalls;
        x->role    = role;
        x->now     = core->now;
        x->core    = sc_sched_create(mem, core);
        struct sc_station_options options = *station;
        options.mem     = mem;
        options.self    = SC_ROLE_SCHEDULER;
        options.upcalls = &from_station;
        options.role    = x;
        if (core->silent_ms != 0 && options.silent == 0)
                options.silent = sc_ns_from_ms(core->silent_ms);
        if (x->core == NULL || sc_station_create(&options, &x->station) != 0) {
                sc_sched_shell_destroy(x);
                return SC_E_NOMEM;
        }
        *out = x;
        return 0;
}

void sc_sched_shell_destroy(struct sc_sched_shell *x)
{
        if (x == NULL)
                return;
        sc_station_destroy(x->station);
        sc_sched_destroy(x->core);
        sc_mem_release(x->mem, x, sizeof *x);
}

struct sc_station *sc_sched_shell_station(struct sc_sched_shell *x)
{
        return x->station;
}

struct sc_sched *sc_sched_shell_core(struct sc_sched_shell *x)
{
        return x->core;
}

void sc_sched_shell_begin(struct sc_sched_shell *x, sc_ns now, sc_ns lateness)
{
        x->now = sc_ns_max(x->now, now);
        sc_station_begin(x->station, now, lateness);
}

sc_ns sc_sched_shell_deadline(const struct sc_sched_shell *x)
{
        return sc_ns_min(sc_sched_deadline(x->core), sc_station_deadline(x->station));
}

static void tick_core(struct sc_sched_shell *x)
{
        for (int i = 0; i < TICKS_MAX && sc_sched_deadline(x->core) <= x->now; i++) {
                struct sc_event ev = {.kind = SC_EV_TICK};
                step(x, &ev);
        }
}

void sc_sched_shell_tick(struct sc_sched_shell *x, sc_ns now)
{
        sc_sched_shell_begin(x, now, 0);
        sc_station_tick(x->station, now);
        tick_core(x);
}

void sc_sched_shell_flush(struct sc_sched_shell *x, sc_ns now)
{
        sc_sched_shell_begin(x, now, 0);
        tick_core(x);
        sc_station_flush(x->station, now);
}

void sc_sched_shell_drain(struct sc_sched_shell *x, uint64_t deadline_ms, sc_ns now)
{
        sc_sched_shell_begin(x, now, 0);
        struct sc_event ev = {.kind = SC_EV_DRAIN, .count = deadline_ms};
        step(x, &ev);
}

void sc_sched_shell_release(struct sc_sched_shell *x, sc_ns now)
{
        sc_sched_shell_begin(x, now, 0);
        struct sc_event ev = {.kind = SC_EV_RELEASE};
        step(x, &ev);
}
