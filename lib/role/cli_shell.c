/*
 * The client's core on its station.  What the application asks from inside an upcall waits in a list
 * of its own until the effects in hand are carried out; room() is called after those too, so that it
 * may submit.
 */
#include <string.h>

#include "sc_assert.h"
#include "sc_list.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "shell.h"

enum { TICKS_MAX = 16 };

struct asked { /* from inside an upcall */
        struct sc_list link;
        struct sc_event ev;
        struct sc_msg   msg;
        char            tag[SC_NAME_MAX];
};

struct sc_cli_shell {
        struct sc_mem     *mem;
        struct sc_cli     *core;
        struct sc_station *station;
        struct sc_cli_shell_upcalls upcalls;
        void              *role;
        sc_ns              now;
        sc_link_id         link;
        uint64_t           id;
        struct sc_list     asked;
        bool               stepping, room, close;
        struct sc_out      out;
};

static void set_link(struct sc_cli_shell *x, sc_link_id link)
{
        const bool was = x->link != 0;
        x->link = link;
        if (was != (link != 0) && x->upcalls.linked != NULL)
                x->upcalls.linked(x->role, link != 0);
}

static void carry_out_link(struct sc_cli_shell *x, const struct sc_effect *fx)
{
        if (fx->kind == SC_FX_SEND) {
                sc_station_send(x->station, fx->link, &fx->msg);
        } else if (fx->kind == SC_FX_GRANT) {
                sc_station_grant(x->station, fx->link, fx->tasks, fx->kib);
        } else {
                SC_ASSERT(fx->kind == SC_FX_CLOSE);
                sc_station_close(x->station, fx->link, fx->status, fx->text);
                if (fx->link == x->link)
                        set_link(x, 0);
        }
}

static void carry_out(struct sc_cli_shell *x, const struct sc_effect *fx)
{
        const struct sc_cli_shell_upcalls *up = &x->upcalls;
        switch (fx->kind) {
        case SC_FX_SEND:
        case SC_FX_CLOSE:
        case SC_FX_GRANT:
                carry_out_link(x, fx);
                break;
        case SC_FX_NOTE:
                if (up->note != NULL)
                        up->note(x->role, fx->status, fx->text);
                break;
        case SC_FX_COMPLETE:
                up->complete(x->role, &fx->msg.result);
                break;
        case SC_FX_GRAPH:
                if (up->graph != NULL)
                        up->graph(x->role, &fx->msg.graph_done);
                break;
        case SC_FX_CONFIRM:
                if (up->confirm != NULL)
                        up->confirm(x->role, &fx->msg.confirm);
                break;
        case SC_FX_DELIVER:
                if (up->deliver != NULL)
                        up->deliver(x->role, &fx->msg.output, fx->status != 0);
                break;
        case SC_FX_REPLY:
                if (up->reply != NULL)
                        up->reply(x->role, &fx->msg);
                break;
        case SC_FX_ROOM:
                x->room = true;
                break;
        case SC_FX_GIVE_UP:
                if (up->give_up != NULL)
                        up->give_up(x->role, fx->status, fx->text);
                break;
        case SC_FX_CLOSED:
                if (up->closed != NULL)
                        up->closed(x->role);
                break;
        case SC_FX_TAKE_BACK:
        case SC_FX_RUN:
        case SC_FX_STOP:
        case SC_FX_READ_MORE:
        case SC_FX_PARK:
        case SC_FX_RESUME:
                SC_UNREACHABLE();
        }
}

static void step_once(struct sc_cli_shell *x, struct sc_event *ev)
{
        SC_ASSERT(!x->stepping);
        x->stepping = true;
        x->out.len  = 0;
        ev->now     = x->now;
        sc_cli_step(x->core, ev, &x->out);
        for (uint32_t i = 0; i < x->out.len; i++)
                carry_out(x, &x->out.at[i]);
        x->stepping = false;
}

static void step_asked(struct sc_cli_shell *x)
{
        struct sc_list *node;
        while ((node = sc_list_take(&x->asked)) != NULL) {
                struct asked *asked = SC_CONTAINER(node, struct asked, link);
                step_once(x, &asked->ev);
                sc_mem_release(x->mem, asked, sizeof *asked);
        }
        if (!x->close)
                return;
        x->close = false;
        struct sc_event ev = {.kind = SC_EV_CLOSE};
        step_once(x, &ev);
}

static void step(struct sc_cli_shell *x, struct sc_event *ev)
{
        step_once(x, ev);
        step_asked(x);
        /* A submit from inside room() steps in its turn; the one that began calls room() again. */
        while (x->room) {
                x->room = false;
                if (x->upcalls.room != NULL)
                        x->upcalls.room(x->role);
        }
}

/* Steps now, or after the effects in hand. */
static int ask(struct sc_cli_shell *x, const struct sc_event *ev, const struct sc_msg *msg)
{
        if (!x->stepping) {
                struct sc_event now = *ev;
                now.msg = msg;
                step(x, &now);
                return 0;
        }
        struct asked *asked = sc_mem_zalloc(x->mem, sizeof *asked);
        if (asked == NULL)
                return SC_E_NOMEM;
        asked->ev = *ev;
        if (msg != NULL) {
                asked->msg    = *msg;
                asked->ev.msg = &asked->msg;
        }
        if (msg != NULL && msg->kind == SC_MSG_CANCEL_MANY) {
                memcpy(asked->tag, msg->cancel_many.tag.ptr, msg->cancel_many.tag.len);
                asked->msg.cancel_many.tag.ptr = asked->tag;
        }
        sc_list_add_tail(&x->asked, &asked->link);
        return 0;
}

/* ---- the station's upcalls -------------------------------------------------------------------------- */

static void on_enter(void *role)
{
        struct sc_cli_shell *x = role;
        if (x->upcalls.enter != NULL)
                x->upcalls.enter(x->role);
}

static void on_greet(void *role, struct sc_hello *out, uint32_t *tasks, uint32_t *kib)
{
        struct sc_cli_shell *x = role;
        *tasks = *kib = 0;
        sc_cli_hello(x->core, out);
}

static void on_up(void *role, sc_link_id link, const struct sc_msg *welcome, uint32_t tasks, uint32_t kib)
{
        struct sc_cli_shell *x = role;
        set_link(x, link);
        struct sc_event ev = {.kind = SC_EV_UP, .link = link, .msg = welcome, .tasks = tasks, .kib = kib};
        step(x, &ev);
}

/* Of a frame that is being taken in; flush() ticks. */
static void on_message(void *role, sc_link_id link, const struct sc_msg *msg)
{
        sc_cli_expect_more(((struct sc_cli_shell *)role)->core);
        struct sc_event ev = {.kind = SC_EV_MSG, .link = link, .msg = msg};
        step(role, &ev);
}

static void on_acked(void *role, sc_link_id link, uint32_t count)
{
        struct sc_event ev = {.kind = SC_EV_ACKED, .link = link, .count = count};
        sc_cli_expect_more(((struct sc_cli_shell *)role)->core);
        step(role, &ev);
}

static void on_grant(void *role, sc_link_id link, uint32_t tasks, uint32_t kib)
{
        struct sc_event ev = {.kind = SC_EV_GRANT, .link = link, .tasks = tasks, .kib = kib};
        sc_cli_expect_more(((struct sc_cli_shell *)role)->core);
        step(role, &ev);
}

static void on_down(void *role, sc_link_id link, int status, const char *why)
{
        struct sc_cli_shell *x = role;
        (void)status;
        (void)why;
        if (link == x->link)
                set_link(x, 0);
        struct sc_event ev = {.kind = SC_EV_DOWN, .link = link};
        step(x, &ev);
}

static void on_note(void *role, int level, const char *line)
{
        struct sc_cli_shell *x = role;
        if (x->upcalls.note != NULL)
                x->upcalls.note(x->role, level, line);
}

static void on_refused(void *role, int status, const char *why)
{
        struct sc_cli_shell *x = role;
        if (x->upcalls.give_up != NULL)
                x->upcalls.give_up(x->role, status, why);
}

/* ---- the role's calls --------------------------------------------------------------------------------- */

int sc_cli_shell_create(struct sc_mem *mem, const struct sc_cli_options *core,
                        const struct sc_station_options *station, const struct sc_cli_shell_upcalls *upcalls,
                        void *role, struct sc_cli_shell **out)
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
        struct sc_cli_shell *x = sc_mem_zalloc(mem, sizeof *x);
        if (x == NULL)
                return SC_E_NOMEM;
        x->mem     = mem;
        x->upcalls = *upcalls;
        x->role    = role;
        x->now     = core->now;
        x->id      = core->id;
        sc_list_init(&x->asked);
        x->core = sc_cli_create(mem, core);
        struct sc_station_options options = *station;
        options.mem     = mem;
        options.self    = core->role == SC_ROLE_ADMIN ? SC_ROLE_ADMIN : SC_ROLE_CLIENT;
        options.upcalls = &from_station;
        options.role    = x;
        if (x->core == NULL || sc_station_create(&options, &x->station) != 0) {
                sc_cli_shell_destroy(x);
                return SC_E_NOMEM;
        }
        *out = x;
        return 0;
}

void sc_cli_shell_destroy(struct sc_cli_shell *x)
{
        if (x == NULL)
                return;
        SC_ASSERT(sc_list_empty(&x->asked));
        sc_station_destroy(x->station);
        sc_cli_destroy(x->core);
        sc_mem_release(x->mem, x, sizeof *x);
}

struct sc_station *sc_cli_shell_station(struct sc_cli_shell *x)
{
        return x->station;
}

struct sc_cli *sc_cli_shell_core(struct sc_cli_shell *x)
{
        return x->core;
}

void sc_cli_shell_begin(struct sc_cli_shell *x, sc_ns now, sc_ns lateness)
{
        x->now = sc_ns_max(x->now, now);
        sc_station_begin(x->station, now, lateness);
}

sc_ns sc_cli_shell_deadline(const struct sc_cli_shell *x)
{
        return sc_ns_min(sc_cli_deadline(x->core), sc_station_deadline(x->station));
}

static void tick_core(struct sc_cli_shell *x)
{
        for (int i = 0; i < TICKS_MAX && sc_cli_deadline(x->core) <= x->now; i++) {
                struct sc_event ev = {.kind = SC_EV_TICK};
                step(x, &ev);
        }
}

void sc_cli_shell_tick(struct sc_cli_shell *x, sc_ns now)
{
        sc_cli_shell_begin(x, now, 0);
        sc_station_tick(x->station, now);
        tick_core(x);
}

void sc_cli_shell_flush(struct sc_cli_shell *x, sc_ns now)
{
        sc_cli_shell_begin(x, now, 0);
        tick_core(x);
        sc_station_flush(x->station, now);
}

int sc_cli_shell_submit(struct sc_cli_shell *x, const struct sc_spec *spec, uint64_t sequence, sc_ns now)
{
        if (x->stepping)
                return SC_E_STATE;
        sc_cli_shell_begin(x, now, 0);
        sc_cli_skip_to(x->core, sequence);
        const int status = sc_cli_admissible(x->core, spec);
        if (status != 0)
                return status;
        const struct sc_msg msg = {.kind = SC_MSG_SUBMIT, .submit = {.task = {x->id, sequence}, .spec = *spec}};
        struct sc_event     ev  = {.kind = SC_EV_SUBMIT, .msg = &msg};
        step(x, &ev);
        return 0;
}

int sc_cli_shell_cancel(struct sc_cli_shell *x, struct sc_id task, bool force, sc_ns now)
{
        sc_cli_shell_begin(x, now, 0);
        const struct sc_msg   msg = {.kind = SC_MSG_CANCEL, .cancel = {.task = task, .force = force}};
        const struct sc_event ev  = {.kind = SC_EV_CANCEL, .task = task};
        return ask(x, &ev, &msg);
}

int sc_cli_shell_cancel_many(struct sc_cli_shell *x, const struct sc_cancel_many *many, const char *tag, sc_ns now)
{
        sc_cli_shell_begin(x, now, 0);
        struct sc_msg         msg = {.kind = SC_MSG_CANCEL_MANY, .cancel_many = *many};
        const struct sc_event ev  = {.kind = SC_EV_CANCEL_MANY};
        msg.cancel_many.tag       = (struct sc_view){tag, strlen(tag)};
        return ask(x, &ev, &msg);
}

int sc_cli_shell_consumed(struct sc_cli_shell *x, struct sc_id task, uint64_t bytes, sc_ns now)
{
        sc_cli_shell_begin(x, now, 0);
        const struct sc_event ev = {.kind = SC_EV_CONSUMED, .task = task, .count = bytes};
        return ask(x, &ev, NULL);
}

int sc_cli_shell_query(struct sc_cli_shell *x, const struct sc_query_msg *query, sc_ns now)
{
        sc_cli_shell_begin(x, now, 0);
        const struct sc_msg   msg = {.kind = SC_MSG_QUERY, .query = *query};
        const struct sc_event ev  = {.kind = SC_EV_QUERY};
        return ask(x, &ev, &msg);
}

int sc_cli_shell_drain(struct sc_cli_shell *x, const struct sc_drain *drain, sc_ns now)
{
        sc_cli_shell_begin(x, now, 0);
        const struct sc_msg   msg = {.kind = SC_MSG_DRAIN, .drain = *drain};
        const struct sc_event ev  = {.kind = SC_EV_QUERY};
        return ask(x, &ev, &msg);
}

void sc_cli_shell_close(struct sc_cli_shell *x, sc_ns now)
{
        sc_cli_shell_begin(x, now, 0);
        x->close = true;
        if (x->stepping)
                return;
        struct sc_event ev = {.kind = SC_EV_TICK};
        step(x, &ev);
}
