/*
 * The worker's core on its station, and the runs it starts.  A run may end, print, or be drained from
 * inside an upcall; what it says then is copied into a place that was reserved at creation (a run has
 * one end and one chunk of output on the way at a time) and stepped after the effects in hand; runs that were
 * taken back come before all else.  read_more is called after those too, since it invites the next chunk at once.
 */
#include <string.h>

#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "shell.h"

enum { TICKS_MAX = 16 };

enum said_kind { SAID_RAN, SAID_OUTPUT };

struct said { /* by a run, from inside an upcall */
        enum said_kind    kind;
        uint8_t           stream;
        uint64_t          run;
        struct sc_outcome outcome;
        uint8_t          *copy; /* of all bytes that the event points to; NULL: none */
        size_t            size, output_len;
};

struct sc_work_shell {
        struct sc_mem     *mem;
        struct sc_work    *core;
        struct sc_station *station;
        struct sc_work_shell_upcalls upcalls;
        void              *role;
        sc_ns              now;
        sc_link_id         link;
        uint32_t           slots;
        struct said       *said;       /* a ring of said_max: each run with a slot may say two things, others end */
        uint32_t           said_first, said_count, said_max;
        uint64_t          *back;       /* runs taken back; a ring of SC_OFFERED_MAX */
        uint32_t           back_first, back_count;
        uint64_t          *more;       /* runs whose read_more is due; slots */
        uint32_t           more_count;
        uint64_t          *spoiled;    /* runs of which output was lost for want of memory; slots */
        uint32_t           spoiled_count;
        bool               stepping, drain, release;
        uint64_t           drain_ms;
        struct sc_out      out;
};

static void set_link(struct sc_work_shell *x, sc_link_id link)
{
        const bool was = x->link != 0;
        x->link = link;
        if (was != (link != 0) && x->upcalls.linked != NULL)
                x->upcalls.linked(x->role, link != 0);
}

static void add_more(struct sc_work_shell *x, uint64_t run)
{
        SC_ASSERT(x->more_count < x->slots);
        x->more[x->more_count++] = run;
}

static void add_back(struct sc_work_shell *x, uint64_t run)
{
        SC_ASSERT(x->back_count < SC_OFFERED_MAX);
        x->back[(x->back_first + x->back_count++) % SC_OFFERED_MAX] = run;
}

static void carry_out(struct sc_work_shell *x, const struct sc_effect *fx)
{
        switch (fx->kind) {
        case SC_FX_SEND:
                sc_station_send(x->station, fx->link, &fx->msg);
                break;
        case SC_FX_CLOSE:
                sc_station_close(x->station, fx->link, fx->status, fx->text);
                if (fx->link == x->link)
                        set_link(x, 0);
                break;
        case SC_FX_GRANT:
                sc_station_grant(x->station, fx->link, fx->tasks, fx->kib);
                break;
        case SC_FX_NOTE:
                if (x->upcalls.note != NULL)
                        x->upcalls.note(x->role, fx->status, fx->text);
                break;
        case SC_FX_GIVE_UP:
                if (x->upcalls.give_up != NULL)
                        x->upcalls.give_up(x->role, fx->status, fx->text);
                break;
        case SC_FX_CLOSED:
                if (x->upcalls.closed != NULL)
                        x->upcalls.closed(x->role);
                break;
        case SC_FX_RUN:
                x->upcalls.run(x->role, &fx->msg.assign);
                break;
        case SC_FX_TAKE_BACK:
                if (x->upcalls.take_back(x->role, fx->run))
                        add_back(x, fx->run);
                break;
        case SC_FX_STOP:
                x->upcalls.stop(x->role, fx->run, (enum sc_stop_how)fx->status);
                break;
        case SC_FX_READ_MORE:
                add_more(x, fx->run);
                break;
        case SC_FX_PARK:
                x->upcalls.park(x->role, fx->run);
                break;
        case SC_FX_RESUME:
                x->upcalls.resume(x->role, fx->run, fx->status);
                break;
        case SC_FX_COMPLETE:
        case SC_FX_CONFIRM:
        case SC_FX_GRAPH:
        case SC_FX_DELIVER:
        case SC_FX_REPLY:
        case SC_FX_ROOM:
                SC_UNREACHABLE();
        }
}

static void step_once(struct sc_work_shell *x, struct sc_event *ev)
{
        SC_ASSERT(!x->stepping);
        x->stepping = true;
        x->out.len  = 0;
        ev->now     = x->now;
        sc_work_step(x->core, ev, &x->out);
        for (uint32_t i = 0; i < x->out.len; i++)
                carry_out(x, &x->out.at[i]);
        x->stepping = false;
}

/* One thing that was said from inside an upcall. */
static void step_said(struct sc_work_shell *x)
{
        struct said said = x->said[x->said_first];
        x->said_first = (x->said_first + 1) % x->said_max;
        x->said_count--;
        struct sc_event ev = {.kind = SC_EV_RAN, .run = said.run, .outcome = &said.outcome};
        if (said.kind == SAID_OUTPUT)
                ev = (struct sc_event){.kind = SC_EV_OUTPUT, .run = said.run, .stream = said.stream,
                                       .bytes = {said.copy, said.output_len}};
        step_once(x, &ev);
        sc_mem_release(x->mem, said.copy, said.size);
}

static void step_back(struct sc_work_shell *x)
{
        struct sc_event ev = {.kind = SC_EV_BACK, .run = x->back[x->back_first]};
        x->back_first = (x->back_first + 1) % SC_OFFERED_MAX;
        x->back_count--;
        step_once(x, &ev);
}

static void step_drain(struct sc_work_shell *x)
{
        struct sc_event ev = {.kind = x->release ? SC_EV_RELEASE : SC_EV_DRAIN, .count = x->drain_ms};
        x->drain = false;
        step_once(x, &ev);
}

static void catch_up(struct sc_work_shell *x)
{
        while (x->back_count > 0 || x->said_count > 0 || x->drain || x->more_count > 0) {
                if (x->back_count > 0) {
                        step_back(x);
                } else if (x->said_count > 0) {
                        step_said(x);
                } else if (x->drain) {
                        step_drain(x);
                } else {
                        const uint64_t run = x->more[--x->more_count];
                        x->stepping = true; /* what it says now comes back here */
                        x->upcalls.read_more(x->role, run);
                        x->stepping = false;
                }
        }
}

static void step(struct sc_work_shell *x, struct sc_event *ev)
{
        step_once(x, ev);
        catch_up(x);
}

/* ---- the station's upcalls ------------------------------------------------------------------------ */

static void on_enter(void *role)
{
        struct sc_work_shell *x = role;
        if (x->upcalls.enter != NULL)
                x->upcalls.enter(x->role);
}

static void on_greet(void *role, struct sc_hello *out, uint32_t *tasks, uint32_t *kib)
{
        struct sc_work_shell *x = role;
        *kib = 0;
        sc_work_hello(x->core, out, tasks);
}

static void on_up(void *role, sc_link_id link, const struct sc_msg *welcome, uint32_t tasks, uint32_t kib)
{
        struct sc_work_shell *x = role;
        set_link(x, link);
        struct sc_event ev = {.kind = SC_EV_UP, .link = link, .msg = welcome, .tasks = tasks, .kib = kib};
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
        struct sc_work_shell *x = role;
        (void)status;
        (void)why;
        if (link == x->link)
                set_link(x, 0);
        struct sc_event ev = {.kind = SC_EV_DOWN, .link = link};
        step(x, &ev);
}

static void on_note(void *role, int level, const char *line)
{
        struct sc_work_shell *x = role;
        if (x->upcalls.note != NULL)
                x->upcalls.note(x->role, level, line);
}

static void on_refused(void *role, int status, const char *why)
{
        struct sc_work_shell *x = role;
        if (x->upcalls.give_up != NULL)
                x->upcalls.give_up(x->role, status, why);
}

/* ---- the role's calls ------------------------------------------------------------------------------- */

static bool reserve(struct sc_work_shell *x)
{
        x->said    = sc_mem_array(x->mem, x->said_max, sizeof *x->said);
        x->back    = sc_mem_array(x->mem, SC_OFFERED_MAX, sizeof *x->back);
        x->more    = sc_mem_array(x->mem, x->slots, sizeof *x->more);
        x->spoiled = sc_mem_array(x->mem, x->slots, sizeof *x->spoiled);
        return x->said != NULL && x->back != NULL && x->more != NULL && x->spoiled != NULL;
}

int sc_work_shell_create(struct sc_mem *mem, const struct sc_work_options *core,
                         const struct sc_station_options *station, const struct sc_work_shell_upcalls *upcalls,
                         void *role, struct sc_work_shell **out)
{
        static const struct sc_station_upcalls from_station = {
                .enter   = on_enter,
                .greet   = on_greet,
                .up      = on_up,
                .message = on_message,
                .acked   = on_acked,
                .grant   = on_grant,
                .down    = on_down,
                .note    = on_note,
                .refused = on_refused,
        };
        struct sc_work_shell *x = sc_mem_zalloc(mem, sizeof *x);
        if (x == NULL)
                return SC_E_NOMEM;
        x->mem     = mem;
        x->upcalls = *upcalls;
        x->role    = role;
        x->now     = core->now;
        x->slots    = core->slots;
        x->said_max = 2 * core->slots + SC_OFFERED_MAX;
        x->core    = sc_work_create(mem, core);
        struct sc_station_options options = *station;
        options.mem     = mem;
        options.self    = SC_ROLE_WORKER;
        options.upcalls = &from_station;
        options.role    = x;
        if (x->core == NULL || !reserve(x) || sc_station_create(&options, &x->station) != 0) {
                sc_work_shell_destroy(x);
                return SC_E_NOMEM;
        }
        *out = x;
        return 0;
}

void sc_work_shell_destroy(struct sc_work_shell *x)
{
        if (x == NULL)
                return;
        SC_ASSERT(x->said_count == 0);
        sc_station_destroy(x->station);
        sc_work_destroy(x->core);
        sc_mem_release(x->mem, x->said, x->said_max * sizeof *x->said);
        sc_mem_release(x->mem, x->back, SC_OFFERED_MAX * sizeof *x->back);
        sc_mem_release(x->mem, x->more, x->slots * sizeof *x->more);
        sc_mem_release(x->mem, x->spoiled, x->slots * sizeof *x->spoiled);
        sc_mem_release(x->mem, x, sizeof *x);
}

struct sc_station *sc_work_shell_station(struct sc_work_shell *x)
{
        return x->station;
}

struct sc_work *sc_work_shell_core(struct sc_work_shell *x)
{
        return x->core;
}

void sc_work_shell_begin(struct sc_work_shell *x, sc_ns now, sc_ns lateness)
{
        x->now = sc_ns_max(x->now, now);
        sc_station_begin(x->station, now, lateness);
}

sc_ns sc_work_shell_deadline(const struct sc_work_shell *x)
{
        return sc_ns_min(sc_work_deadline(x->core), sc_station_deadline(x->station));
}

static void tick_core(struct sc_work_shell *x)
{
        for (int i = 0; i < TICKS_MAX && sc_work_deadline(x->core) <= x->now; i++) {
                struct sc_event ev = {.kind = SC_EV_TICK};
                step(x, &ev);
        }
}

void sc_work_shell_tick(struct sc_work_shell *x, sc_ns now)
{
        sc_work_shell_begin(x, now, 0);
        sc_station_tick(x->station, now);
        tick_core(x);
}

void sc_work_shell_flush(struct sc_work_shell *x, sc_ns now)
{
        sc_work_shell_begin(x, now, 0);
        tick_core(x);
        sc_station_flush(x->station, now);
}

static struct said *add_said(struct sc_work_shell *x, enum said_kind kind, uint64_t run)
{
        SC_ASSERT(x->said_count < x->said_max);
        struct said *said = &x->said[(x->said_first + x->said_count++) % x->said_max];
        memset(said, 0, sizeof *said);
        said->kind = kind;
        said->run  = run;
        return said;
}

/* Copies a view to `at` and makes it point there. */
static uint8_t *move_view(struct sc_view *view, uint8_t *at)
{
        if (view->len > 0)
                memcpy(at, view->ptr, view->len);
        view->ptr = at;
        return at + view->len;
}

static const struct sc_outcome no_memory = {
        .reason = SC_REASON_TASK,
        .code   = SC_E_NOMEM,
        .text   = {"the worker had no memory for what the task produced", 51},
};

/* The outcome it will have, and no trace that it was spoiled. */
static const struct sc_outcome *outcome_of(struct sc_work_shell *x, uint64_t run, const struct sc_outcome *outcome)
{
        for (uint32_t i = 0; i < x->spoiled_count; i++)
                if (x->spoiled[i] == run) {
                        x->spoiled[i] = x->spoiled[--x->spoiled_count];
                        return &no_memory;
                }
        return outcome;
}

static void queue_ran(struct sc_work_shell *x, uint64_t run, const struct sc_outcome *outcome)
{
        struct said *said = add_said(x, SAID_RAN, run);
        said->size = outcome->result.len + outcome->errors.len + outcome->text.len;
        said->copy = sc_mem_alloc(x->mem, said->size);
        if (said->size > 0 && said->copy == NULL) {
                said->size    = 0;
                said->outcome = no_memory;
                said->outcome.streamed = outcome->streamed;
                return;
        }
        said->outcome = *outcome;
        if (said->size == 0)
                return;
        uint8_t *at = move_view(&said->outcome.result, said->copy);
        at = move_view(&said->outcome.errors, at);
        move_view(&said->outcome.text, at);
}

/* What a run says may be the first word of a late turn: the role knows how late. */
static void hear_run(struct sc_work_shell *x, sc_ns now)
{
        if (x->upcalls.enter != NULL)
                x->upcalls.enter(x->role);
        sc_work_shell_begin(x, now, 0);
}

void sc_work_shell_ran(struct sc_work_shell *x, uint64_t run, const struct sc_outcome *outcome, sc_ns now)
{
        hear_run(x, now);
        outcome = outcome_of(x, run, outcome);
        if (x->stepping) {
                queue_ran(x, run, outcome);
                return;
        }
        struct sc_event ev = {.kind = SC_EV_RAN, .run = run, .outcome = outcome};
        step(x, &ev);
}

static bool is_spoiled(const struct sc_work_shell *x, uint64_t run)
{
        for (uint32_t i = 0; i < x->spoiled_count; i++)
                if (x->spoiled[i] == run)
                        return true;
        return false;
}

static void queue_output(struct sc_work_shell *x, uint64_t run, uint8_t stream, struct sc_view bytes)
{
        uint8_t *copy = is_spoiled(x, run) ? NULL : sc_mem_alloc(x->mem, bytes.len);
        if (copy == NULL) {
                if (!is_spoiled(x, run)) {
                        SC_ASSERT(x->spoiled_count < x->slots);
                        x->spoiled[x->spoiled_count++] = run;
                }
                add_more(x, run);
                return;
        }
        struct said *said = add_said(x, SAID_OUTPUT, run);
        said->stream     = stream;
        said->size       = bytes.len;
        said->output_len = bytes.len;
        said->copy       = copy;
        move_view(&bytes, copy);
}

void sc_work_shell_output(struct sc_work_shell *x, uint64_t run, uint8_t stream, struct sc_view bytes, sc_ns now)
{
        hear_run(x, now);
        if (bytes.len == 0)
                return;
        if (x->stepping) {
                queue_output(x, run, stream, bytes);
                return;
        }
        if (is_spoiled(x, run)) {
                add_more(x, run);
                catch_up(x);
                return;
        }
        struct sc_event ev = {.kind = SC_EV_OUTPUT, .run = run, .stream = stream, .bytes = bytes};
        step(x, &ev);
}

static void step_wait(struct sc_work_shell *x, enum sc_event_kind kind, uint64_t run, sc_ns now)
{
        hear_run(x, now);
        struct sc_event ev = {.kind = kind, .run = run};
        step(x, &ev);
}

void sc_work_shell_waits(struct sc_work_shell *x, uint64_t run, sc_ns now)
{
        step_wait(x, SC_EV_WAITS, run, now);
}

void sc_work_shell_wakes(struct sc_work_shell *x, uint64_t run, sc_ns now)
{
        step_wait(x, SC_EV_WAKES, run, now);
}

static void drain(struct sc_work_shell *x, sc_ns now)
{
        sc_work_shell_begin(x, now, 0);
        x->drain = true;
        if (!x->stepping)
                catch_up(x);
}

void sc_work_shell_drain(struct sc_work_shell *x, uint64_t deadline_ms, sc_ns now)
{
        if (!x->drain || x->drain_ms == 0 || (deadline_ms > 0 && deadline_ms < x->drain_ms))
                x->drain_ms = deadline_ms; /* else an earlier one waits to be stepped */
        drain(x, now);
}

void sc_work_shell_release(struct sc_work_shell *x, sc_ns now)
{
        x->release = true;
        drain(x, now);
}
