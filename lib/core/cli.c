/*
 * The client's core: events to rows, and after each event whatever may be sent is sent.  A client is
 * open, then closing or giving up (its futures end, a thousand a step), then over.
 */
#include "cli.h"

#include <string.h>

#include "cli_own.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

static void say_end(struct sc_cli *c, enum sc_cli_phase phase, int status, const char *text, size_t len)
{
        len = len < SC_TEXT_MAX ? len : SC_TEXT_MAX;
        if (len > 0)
                memcpy(c->end_text, text, len);
        c->end_text[len] = '\0';
        c->end_status    = status;
        c->phase         = (uint8_t)phase;
}

/* ---- what the scheduler says ---------------------------------------------------------------------- */

static void nonsense(struct sc_cli *c, const char *what, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_CLOSE);
        effect->link             = c->link;
        effect->status           = SC_E_PROTOCOL;
        effect->text             = what;
        sc_cli_down(c, out);
}

static void on_result(struct sc_cli *c, const struct sc_result *result, struct sc_out *out)
{
        struct sc_cli_row *row = sc_cli_find(c, result->task);
        if (!row || row->state == SC_CLI_HELD)
                return; /* a repetition */
        if (row->inner || row->spec.kind == SC_TASK_GRAPH) {
                nonsense(c, "a result came of a task that has none", out);
                return;
        }
        if (row->state == SC_CLI_UNSENT && !row->resubmitted) {
                nonsense(c, "a result came of a task that was never sent", out);
                return;
        }
        sc_cli_output_ends(row, result, out);
        sc_cli_complete(c, row, result, out);
}

static void on_bye(struct sc_cli *c, const struct sc_bye *bye, struct sc_out *out)
{
        if (bye->status != SC_E_DENIED && bye->status != SC_E_UNSUPPORTED)
                return; /* the link goes down by itself */
        sc_cli_down(c, out);
        say_end(c, SC_CLI_GIVING_UP, bye->status, bye->why.ptr, bye->why.len);
}

static void on_message(struct sc_cli *c, const struct sc_msg *msg, struct sc_out *out)
{
        switch (msg->kind) {
        case SC_MSG_RESULT:
                on_result(c, &msg->result, out);
                break;
        case SC_MSG_GRAPH_DONE:
                sc_cli_graph_done(c, &msg->graph_done);
                break;
        case SC_MSG_CONFIRM:
                sc_cli_confirmed(c, &msg->confirm, out);
                break;
        case SC_MSG_CONFIRM_MANY:
                sc_cli_many_confirmed(c, &msg->confirm_many, out);
                break;
        case SC_MSG_OUTPUT:
                sc_cli_output(c, &msg->output, out);
                break;
        case SC_MSG_STATUS_ROW:
        case SC_MSG_WORKER_ROW:
        case SC_MSG_CLIENT_ROW:
        case SC_MSG_TASK_ROW:
        case SC_MSG_TASK_WHY:
        case SC_MSG_ATTEMPT_ROW:
        case SC_MSG_WORKER_WHY:
        case SC_MSG_QUERY_END:
        case SC_MSG_DRAINED:
                sc_cli_reply(c, msg, out);
                break;
        case SC_MSG_BYE:
                on_bye(c, &msg->bye, out);
                break;
        default:
                nonsense(c, "a message that is not for clients", out);
                break;
        }
}

static void on_up(struct sc_cli *c, const struct sc_event *ev, struct sc_out *out)
{
        if (c->phase == SC_CLI_OPEN) {
                sc_cli_up(c, ev, out);
                return;
        }
        struct sc_effect *effect = sc_out_add(out, SC_FX_CLOSE);
        effect->link             = ev->link;
        effect->text             = "the client has ended";
}

static void on_link_event(struct sc_cli *c, const struct sc_event *ev, struct sc_out *out)
{
        if (c->link == 0 || ev->link != c->link)
                return; /* of a link we have closed */
        if (ev->kind == SC_EV_MSG) {
                on_message(c, ev->msg, out);
        } else if (ev->kind == SC_EV_GRANT) {
                sc_cli_granted(c, ev->tasks, ev->kib);
        } else if (ev->kind == SC_EV_DOWN) {
                sc_cli_down(c, out);
        }
}

/* ---- what the application says ------------------------------------------------------------------- */

static void on_submit(struct sc_cli *c, const struct sc_submit *submit)
{
        SC_ASSERT(c->phase == SC_CLI_OPEN);
        SC_ASSERT(submit->task.lo == c->next);
        (void)sc_cli_admit(c, submit);
        c->submitted++;
}

static void on_close(struct sc_cli *c, struct sc_out *out)
{
        static const char why[] = "the client was closed";
        if (c->phase != SC_CLI_OPEN)
                return;
        if (c->link != 0)
                sc_out_send(out, c->link, SC_MSG_BYE)->bye.why = (struct sc_view){ .ptr = why, .len = sizeof why - 1 };
        sc_cli_down(c, out);
        say_end(c, SC_CLI_CLOSING, SC_E_CANCELLED, why, sizeof why - 1);
}

static void on_application(struct sc_cli *c, const struct sc_event *ev, struct sc_out *out)
{
        if (ev->kind == SC_EV_SUBMIT)
                on_submit(c, &ev->msg->submit);
        else if (ev->kind == SC_EV_CANCEL)
                sc_cli_cancel(c, &ev->msg->cancel, out);
        else if (ev->kind == SC_EV_CANCEL_MANY)
                sc_cli_cancel_many(c, &ev->msg->cancel_many, out);
        else if (ev->kind == SC_EV_CONSUMED)
                sc_cli_consumed(c, ev->task, ev->count, out);
        else if (ev->kind == SC_EV_QUERY)
                sc_cli_query(c, ev->msg, out);
        else
                on_close(c, out);
}

/* ---- the step -------------------------------------------------------------------------------------- */

static void dispatch(struct sc_cli *c, const struct sc_event *ev, struct sc_out *out)
{
        switch (ev->kind) {
        case SC_EV_TICK:
        case SC_EV_ACKED: /* nothing we send is kept for that */
                break;
        case SC_EV_UP:
                on_up(c, ev, out);
                break;
        case SC_EV_DOWN:
        case SC_EV_MSG:
        case SC_EV_GRANT:
                if (c->phase == SC_CLI_OPEN)
                        on_link_event(c, ev, out);
                break;
        case SC_EV_SUBMIT:
        case SC_EV_CANCEL:
        case SC_EV_CANCEL_MANY:
        case SC_EV_CONSUMED:
        case SC_EV_QUERY:
        case SC_EV_CLOSE:
                on_application(c, ev, out);
                break;
        case SC_EV_BACK:
        case SC_EV_WAITS:
        case SC_EV_WAKES:
        case SC_EV_RAN:
        case SC_EV_OUTPUT:
        case SC_EV_DRAIN:
        case SC_EV_RELEASE:
                SC_UNREACHABLE();
        }
}

void sc_cli_step(struct sc_cli *c, const struct sc_event *ev, struct sc_out *out)
{
        static const char late[] = "no scheduler could be reached for too long";
        SC_ASSERT(ev->now >= c->now);
        c->now            = ev->now;
        c->more_comes     = c->more_comes && ev->kind != SC_EV_TICK;
        c->waits_for_more = false;
        c->tight  = false;
        c->saying = 0;
        dispatch(c, ev, out);
        if (c->phase == SC_CLI_OPEN && c->link == 0 && c->now >= sc_ns_add(c->lost_at, c->give_up))
                say_end(c, SC_CLI_GIVING_UP, SC_E_UNREACHABLE, late, sizeof late - 1);
        if (c->phase == SC_CLI_OPEN) {
                sc_cli_timers(c, out);
                sc_cli_graphs_run(c, out); /* before anything is sent: it frees rows */
                sc_cli_pump(c, out);
        }
        if (c->phase == SC_CLI_CLOSING || c->phase == SC_CLI_GIVING_UP)
                sc_cli_end_all(c, out);
}

void sc_cli_expect_more(struct sc_cli *c)
{
        c->more_comes = true;
}

sc_ns sc_cli_deadline(const struct sc_cli *c)
{
        if (c->phase == SC_CLI_OVER)
                return SC_NEVER;
        if (c->phase != SC_CLI_OPEN || sc_cli_work_left(c) || !sc_list_empty(&c->graphs_over))
                return c->now;
        sc_ns at = sc_cli_timers_at(c);
        if (c->link == 0)
                return sc_ns_min(at, sc_ns_add(c->lost_at, c->give_up));
        if (c->waits_for_more)
                return c->now;
        if (c->tight)
                at = sc_ns_min(at, sc_ns_add(c->now, SC_CLI_TIGHT_REST));
        return sc_ns_min(at, sc_cli_idle_at(c));
}

/* ---- life ------------------------------------------------------------------------------------------ */

static struct sc_view put(unsigned char **at, struct sc_view words)
{
        const struct sc_view copy = { .ptr = *at, .len = words.len };
        if (words.len > 0)
                memcpy(*at, words.ptr, words.len);
        *at += words.len;
        return copy;
}

static bool copy_words(struct sc_cli *c, const struct sc_cli_options *options)
{
        const size_t size = 1 + options->name.len + options->tenant.len + options->token.len;
        c->words          = sc_mem_alloc(c->mem, size);
        if (!c->words)
                return false;
        c->words_size     = size;
        unsigned char *at = c->words;
        c->name           = put(&at, options->name);
        c->tenant         = put(&at, options->tenant);
        c->token          = put(&at, options->token);
        return true;
}

static void set_options(struct sc_cli *c, const struct sc_cli_options *options)
{
        c->id            = options->id;
        c->role          = options->role;
        c->pending_max   = options->pending_max > 0 ? options->pending_max : 1000000;
        c->output_window = options->output_window > 0 ? options->output_window : 256u << 10;
        c->give_up       = options->give_up > 0 ? options->give_up : 120 * SC_S;
        c->now           = options->now;
        c->lost_at       = options->now;
        c->next          = 1;
        c->weight        = options->weight;
        c->running_max   = options->running_max;
}

struct sc_cli *sc_cli_create(struct sc_mem *mem, const struct sc_cli_options *options)
{
        SC_ASSERT(options->id != 0);
        SC_ASSERT(options->role == SC_ROLE_CLIENT || options->role == SC_ROLE_ADMIN);
        struct sc_cli *c = sc_mem_zalloc(mem, sizeof *c);
        if (!c)
                return NULL;
        c->mem = mem;
        sc_map_init(&c->pages, mem);
        sc_list_init(&c->unsent);
        sc_list_init(&c->sent);
        sc_list_init(&c->cancels_due);
        sc_list_init(&c->cancels_sent);
        sc_list_init(&c->streams_due);
        sc_list_init(&c->streams);
        sc_list_init(&c->cancels_early);
        sc_list_init(&c->held);
        sc_list_init(&c->graphs_over);
        sc_list_init(&c->overdue);
        sc_heap_init(&c->timed, mem, sc_cli_plan_before, sc_cli_plan_position);
        set_options(c, options);
        if (copy_words(c, options))
                return c;
        sc_cli_destroy(c);
        return NULL;
}

void sc_cli_destroy(struct sc_cli *c)
{
        if (!c)
                return;
        sc_cli_free_rows(c);
        sc_mem_release(c->mem, c->words, c->words_size);
        sc_mem_release(c->mem, c, sizeof *c);
}

void sc_cli_skip_to(struct sc_cli *c, uint64_t sequence)
{
        SC_ASSERT(sequence >= c->next);
        c->next = sequence;
}

uint64_t sc_cli_next_sequence(const struct sc_cli *c)
{
        return c->next;
}

void sc_cli_hello(struct sc_cli *c, struct sc_hello *out)
{
        *out = (struct sc_hello){
                .version_min = SC_VERSION_MIN,
                .version_max = SC_VERSION_MAX,
                .features    = c->role == SC_ROLE_CLIENT ? SC_FEATURE_AFTER : 0,
                .role        = c->role,
                .id          = c->id,
                .incarnation = ++c->incarnation,
                .epoch       = c->epoch,
                .token       = c->token,
                .name        = c->name,
                .tenant      = c->tenant,
                .weight      = c->weight,
                .running_max = c->running_max,
        };
}

void sc_cli_stats(const struct sc_cli *c, struct sc_cli_stats *out)
{
        *out = (struct sc_cli_stats){
                .pending     = c->pending - c->told,
                .unsent      = c->unsent_count,
                .grant_tasks = c->grant_tasks,
                .grant_kib   = c->grant_kib,
                .submitted   = c->submitted,
                .succeeded   = c->succeeded,
                .failed      = c->failed,
                .cancelled   = c->cancelled,
                .connected   = c->link != 0,
        };
}
