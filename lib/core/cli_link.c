/*
 * What the client sends, and when: rewind after a reconnect, cancels that were not confirmed, output
 * already received, then new tasks in order within the grant, and WANT when the grant does not fit.
 */
#include "cli_own.h"

#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

static void close_link(struct sc_cli *c, int status, const char *text, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_CLOSE);
        effect->link             = c->link;
        effect->status           = status;
        effect->text             = text;
        sc_cli_down(c, out);
}

/* What was confirmed on the old link, or never will be, is to be sent again on the new one. */
static void start_over(struct sc_cli *c, const struct sc_welcome *welcome)
{
        const bool known  = welcome->epoch == c->epoch && welcome->known_up_to > 0;
        c->epoch          = welcome->epoch;
        c->rewind_strange = !known;
        c->rewind_to      = known ? welcome->known_up_to : 0;
        c->rewinding      = !sc_list_empty(&c->sent);
        c->tasks_most     = welcome->tasks_most;
        c->kib_most       = welcome->kib_most;
        sc_list_splice(&c->cancels_sent, &c->cancels_due);
        sc_list_splice(&c->cancels_due, &c->cancels_sent);
        sc_list_splice(&c->streams_due, &c->streams);
        sc_cli_many_up(c, !known);
}

void sc_cli_up(struct sc_cli *c, const struct sc_event *ev, struct sc_out *out)
{
        SC_ASSERT(ev->link != 0);
        SC_ASSERT(ev->msg->kind == SC_MSG_WELCOME);
        if (c->link != 0)
                close_link(c, 0, "a newer link took over", out);
        c->link       = ev->link;
        c->idle_since = c->now;
        if (ev->tasks > 0)
                sc_cli_granted(c, ev->tasks, ev->kib);
        start_over(c, &ev->msg->welcome);
}

void sc_cli_down(struct sc_cli *c, struct sc_out *out)
{
        c->link    = 0;
        c->lost_at = c->now;
        c->granted = c->lowering = false;
        c->grant_tasks = c->grant_kib = 0;
        c->want_tasks = c->want_kib = 0;
        c->want_least = c->want_least_kib = 0;
        sc_cli_queries_down(c, out);
        sc_cli_many_down(c, out);
}

/* ---- rewind -------------------------------------------------------------------------------------- */

/* The scheduler counts on each node of a graph that it knows: one that is to be cancelled is sent all the same. */
static void rewind_node(struct sc_cli *c, struct sc_cli_row *row)
{
        if (row->cancelling == SC_CLI_CANCEL_NONE)
                return;
        sc_list_remove(&row->cancel);
        if (row->unconfirmed)
                sc_list_add_tail(&c->cancels_early, &row->cancel);
}

static void rewind_row(struct sc_cli *c, struct sc_cli_row *row, struct sc_out *out)
{
        const bool node   = row->spec.plan && row->spec.plan->graph != 0;
        row->resubmitted  = row->resubmitted || c->rewind_strange;
        if (node && c->rewind_strange && sc_cli_graph_cull(c, row))
                return;
        sc_cli_move_row(c, row, SC_CLI_REWIND);
        if (row->spec.kind == SC_TASK_GRAPH) {
                rewind_node(c, row);
                if (c->rewind_strange)
                        sc_cli_graph_rewound(c, row);
        } else if (row->told || (row->cancelling != SC_CLI_CANCEL_NONE && !(node && !c->rewind_strange)))
                sc_cli_end(c, row, SC_REASON_CANCELLED, SC_E_CANCELLED, "cancelled", out);
        else if (node)
                rewind_node(c, row);
        else
                (void)sc_cli_plan_expire(c, row, out);
}

static void rewind(struct sc_cli *c, struct sc_out *out)
{
        for (uint32_t visits = 0; visits < SC_ROWS_MAX && sc_cli_room(out) > 2; visits++) {
                struct sc_cli_row *row = SC_CONTAINER(c->sent.prev, struct sc_cli_row, link);
                if (sc_list_empty(&c->sent) || row->sequence <= c->rewind_to) {
                        c->rewinding = false;
                        return;
                }
                rewind_row(c, row, out);
        }
}

/* ---- sending ------------------------------------------------------------------------------------- */

static void send_cancels(struct sc_cli *c, struct sc_out *out)
{
        while (!sc_list_empty(&c->cancels_due) && sc_cli_room(out) > 0) {
                struct sc_cli_row *row = SC_CONTAINER(c->cancels_due.next, struct sc_cli_row, cancel);
                SC_ASSERT(row->state == SC_CLI_SENT);
                sc_list_remove(&row->cancel);
                sc_list_add_tail(&c->cancels_sent, &row->cancel);
                struct sc_msg *msg = sc_out_send(out, c->link, SC_MSG_CANCEL);
                msg->cancel.task   = (struct sc_id){ .hi = c->id, .lo = row->sequence };
                msg->cancel.force  = row->cancelling == SC_CLI_CANCEL_FORCED;
        }
}

static void send_streams(struct sc_cli *c, struct sc_out *out)
{
        while (!sc_list_empty(&c->streams_due) && sc_cli_room(out) > 0) {
                struct sc_cli_row *row = SC_CONTAINER(c->streams_due.next, struct sc_cli_row, output);
                sc_list_remove(&row->output);
                sc_list_add_tail(&c->streams, &row->output);
                sc_cli_output_again(c, row, out);
        }
}

static uint32_t sent_count(const struct sc_cli *c)
{
        return c->pending - c->unsent_count + c->held_counted;
}

static bool fits(const struct sc_cli *c, const struct sc_cli_row *row)
{
        if (row->spec.plan)
                return sc_cli_graph_fits(c, row);
        return sent_count(c) < c->grant_tasks && c->sent_bytes + sc_cli_weight(row) <= (uint64_t)c->grant_kib << 10;
}

static bool may_send(const struct sc_cli *c)
{
        return !sc_list_empty(&c->unsent) && fits(c, SC_CONTAINER(c->unsent.next, struct sc_cli_row, link));
}

/* False: it is not to be sent; the graph is over, or too big for the scheduler. */
static bool make_ready(struct sc_cli *c, struct sc_cli_row *row)
{
        if (sc_cli_plan(row)->graph && (sc_cli_plan(row)->graph->is_over || sc_cli_graph_refuse(c, row)))
                return false;
        sc_cli_graph_prepare(c, row);
        return true;
}

/* A frame holds a task's bytes once more.  While memory is short one task at a time is under way. */
static bool is_tight(struct sc_cli *c)
{
        c->tight = sent_count(c) > 0 && sc_mem_beyond(c->mem, SC_MEM_BEGUN, c->saying);
        return c->tight;
}

static void send_tasks(struct sc_cli *c, struct sc_out *out)
{
        while (!sc_list_empty(&c->unsent) && sc_cli_room(out) > 0 && !is_tight(c)) {
                struct sc_cli_row *row = SC_CONTAINER(c->unsent.next, struct sc_cli_row, link);
                c->waits_for_more = c->more_comes && row->spec.plan && row->spec.plan->after.len > 0;
                if (c->waits_for_more)
                        return;
                if (row->spec.plan && !make_ready(c, row))
                        return;
                if (!fits(c, row))
                        return;
                c->saying += sc_cli_weight(row);
                sc_cli_move_row(c, row, SC_CLI_SEND);
                if (row->cancelling != SC_CLI_CANCEL_NONE && !sc_list_empty(&row->cancel)) {
                        sc_list_remove(&row->cancel);
                        sc_list_add_tail(&c->cancels_due, &row->cancel);
                }
                struct sc_msg *msg    = sc_out_send(out, c->link, SC_MSG_SUBMIT);
                msg->submit.task      = (struct sc_id){ .hi = c->id, .lo = row->sequence };
                msg->submit.spec      = row->spec;
                msg->submit.spec.plan = sc_cli_plan_now(c, row);
                if (row->resubmitted)
                        msg->submit.spec.flags |= SC_SPEC_RESUBMITTED;
        }
}

/* ---- WANT ---------------------------------------------------------------------------------------- */

/* The next power of two, so that a growing queue asks a few times only; and never less than what the
 * scheduler may have granted, because it takes a smaller WANT at its word. */
static uint32_t more_than(uint64_t need, uint32_t granted, uint32_t told)
{
        uint64_t up = 1;
        while (up < need)
                up *= 2;
        up = up < granted ? granted : up;
        up = up < told ? told : up;
        return up < UINT32_MAX ? (uint32_t)up : UINT32_MAX;
}

static void say_want(struct sc_cli *c, struct sc_want want, struct sc_out *out)
{
        c->want_tasks = want.tasks;
        c->want_kib   = want.kib;
        c->want_least = want.least_tasks;
        c->want_least_kib = want.least_kib;
        sc_out_send(out, c->link, SC_MSG_WANT)->want = want;
}

static uint32_t larger(uint64_t a, uint64_t b)
{
        const uint64_t most = a > b ? a : b;
        return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

/* What an idle client keeps.  Who was given less than usual is one of many, at a small scheduler or of a tenant that
 * may have few: others may wait for what it does not use, and be more of them than there are tasks to be had. */
static uint32_t kept_tasks(const struct sc_cli *c)
{
        const uint64_t used = 2 * (uint64_t)c->pending;
        return larger(used, c->grant_tasks >= SC_CLI_IDLE_TASKS ? SC_CLI_IDLE_TASKS : 0);
}

static uint32_t kept_kib(const struct sc_cli *c)
{
        const uint64_t used  = 2 * ((c->bytes + 1023) >> 10);
        const bool     usual = c->first_kib >= SC_CLI_IDLE_KIB && c->grant_kib >= SC_CLI_IDLE_KIB;
        return larger(used, usual ? SC_CLI_IDLE_KIB : SC_CLI_LEAST_KIB);
}

/* A graph comes next that needs more than the grant, so nothing can be sent. */
static bool is_stuck(const struct sc_cli *c)
{
        struct sc_cli_row         *row = SC_CONTAINER(c->unsent.next, struct sc_cli_row, link);
        const struct sc_cli_graph *g   = row->spec.plan ? sc_cli_plan(row)->graph : NULL;
        return g && g->admitted == g->nodes && !g->is_over && !may_send(c);
}

static bool has_surplus(const struct sc_cli *c)
{
        if (!c->granted || c->lowering)
                return false;
        if (c->unsent_count > 0) /* others may have a part of what they need likewise, and all would wait for ever */
                return is_stuck(c) && c->grant_tasks > larger(sent_count(c), 1);
        return c->grant_tasks > kept_tasks(c) || c->grant_kib > kept_kib(c);
}

sc_ns sc_cli_idle_at(const struct sc_cli *c)
{
        return c->link != 0 && has_surplus(c) ? sc_ns_add(c->idle_since, SC_CLI_IDLE_AFTER) : SC_NEVER;
}

/* Between the smaller WANT and its answer a larger grant may still be on its way; it does not count. */
static void give_grant_back(struct sc_cli *c, struct sc_out *out)
{
        const bool     stuck = c->unsent_count > 0;
        const uint32_t tasks = stuck ? larger(sent_count(c), 1) : kept_tasks(c);
        const uint32_t kib   = stuck ? larger((c->sent_bytes + 1023) >> 10, SC_CLI_LEAST_KIB) : kept_kib(c);
        c->lowering   = true;
        c->idle_since = c->now;
        say_want(c, (struct sc_want){ .tasks = tasks < c->grant_tasks ? tasks : c->grant_tasks,
                                      .kib   = kib < c->grant_kib ? kib : c->grant_kib }, out);
        sc_cli_granted(c, c->grant_tasks, c->grant_kib);
}

void sc_cli_granted(struct sc_cli *c, uint32_t tasks, uint32_t kib)
{
        if (!c->granted)
                c->first_kib = kib;
        c->granted = true;
        if (c->lowering && tasks <= c->want_tasks && kib <= c->want_kib)
                c->lowering = false;
        c->grant_tasks = c->lowering && tasks > c->want_tasks ? c->want_tasks : tasks;
        c->grant_kib   = c->lowering && kib > c->want_kib ? c->want_kib : kib;
}

/* What the next row needs, if that is more than a row: a graph is sent whole. */
static void set_least(const struct sc_cli *c, struct sc_want *want)
{
        const struct sc_cli_row *row = SC_CONTAINER(c->unsent.next, struct sc_cli_row, link);
        uint64_t                 tasks, bytes;
        if (!row->spec.plan)
                return;
        sc_cli_graph_need(c, row, &tasks, &bytes);
        if (tasks < 2)
                return;
        want->least_tasks = larger(sent_count(c) + tasks, 0);
        want->least_kib   = larger((c->sent_bytes + bytes + 1023) >> 10, 0);
        want->tasks       = want->tasks > want->least_tasks ? want->tasks : want->least_tasks;
        want->kib         = want->kib > want->least_kib ? want->kib : want->least_kib;
}

/* A graph that is being ended stands in the way of what comes after it, and wants nothing. */
static bool is_over(const struct sc_cli *c)
{
        struct sc_cli_row *row = SC_CONTAINER(c->unsent.next, struct sc_cli_row, link);
        return row->spec.plan && sc_cli_plan(row)->graph && sc_cli_plan(row)->graph->is_over;
}

static void ask_for_more(struct sc_cli *c, struct sc_out *out)
{
        if (is_over(c))
                return;
        const uint64_t kib  = (c->bytes + 1023) >> 10, rows = (uint64_t)c->pending + c->held_counted;
        struct sc_want want = { .tasks = more_than(rows, c->grant_tasks, c->want_tasks),
                                .kib   = more_than(kib, c->grant_kib, c->want_kib) };
        set_least(c, &want);
        const bool least = want.least_tasks != c->want_least || want.least_kib != c->want_least_kib;
        if (rows > c->want_tasks || kib > c->want_kib || least)
                say_want(c, want, out);
}

/* A graph whose nodes are still being admitted: what it needs is not known yet. */
static bool is_partial(const struct sc_cli *c)
{
        struct sc_cli_row         *row = SC_CONTAINER(c->unsent.next, struct sc_cli_row, link);
        const struct sc_cli_graph *g   = row->spec.plan ? sc_cli_plan(row)->graph : NULL;
        return g && g->admitted < g->nodes;
}

static void ask_for_grant(struct sc_cli *c, struct sc_out *out)
{
        if (c->unsent_count > 0 && !is_stuck(c))
                c->idle_since = c->now;
        if (c->now >= sc_cli_idle_at(c))
                give_grant_back(c, out);
        else if (c->unsent_count > 0 && !may_send(c) && !is_partial(c) && c->granted && !c->lowering)
                ask_for_more(c, out);
}

void sc_cli_pump(struct sc_cli *c, struct sc_out *out)
{
        sc_cli_many_sweep(c, out);
        if (c->link == 0 || sc_cli_sweeping(c))
                return;
        if (c->rewinding)
                rewind(c, out);
        if (c->rewinding)
                return;
        send_cancels(c, out);
        sc_cli_many_send(c, out);
        send_streams(c, out);
        send_tasks(c, out);
        if (c->role == SC_ROLE_CLIENT)
                ask_for_grant(c, out);
}

bool sc_cli_work_left(const struct sc_cli *c)
{
        if (sc_cli_sweeping(c))
                return true;
        if (c->link == 0)
                return false;
        return c->rewinding || sc_cli_many_left(c) || !sc_list_empty(&c->cancels_due) ||
               !sc_list_empty(&c->streams_due) || (may_send(c) && !c->tight);
}
