/*
 * Endings: each future ends once, by the scheduler's RESULT or by our own word; and cancels, each of
 * which is answered once.  A cancel whose task ends first is answered by that end.
 */
#include "cli_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_status.h"

void sc_cli_confirm(struct sc_id task, enum sc_cancelled outcome, struct sc_out *out)
{
        struct sc_effect *effect    = sc_out_add(out, SC_FX_CONFIRM);
        effect->msg.kind            = SC_MSG_CONFIRM;
        effect->msg.confirm.task    = task;
        effect->msg.confirm.outcome = (uint8_t)outcome;
}

static void count(struct sc_cli *c, uint8_t reason)
{
        if (reason == SC_REASON_SUCCESS)
                c->succeeded++;
        else if (reason == SC_REASON_CANCELLED)
                c->cancelled++;
        else
                c->failed++;
}

static void announce_graph(const struct sc_cli_row *row, const struct sc_result *result, struct sc_out *out,
                           struct sc_result *told)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_GRAPH);
        effect->msg.kind         = SC_MSG_GRAPH_DONE;
        sc_cli_graph_report(row, &effect->msg.graph_done);
        effect->msg.graph_done.task   = result->task;
        effect->msg.graph_done.reason = result->outcome.reason;
        if (result->outcome.reason != SC_REASON_DEPENDENCY)
                return;
        told->root        = effect->msg.graph_done.root;
        told->root_reason = effect->msg.graph_done.root_reason;
}

static void announce(struct sc_cli *c, struct sc_cli_row *row, const struct sc_result *result, struct sc_out *out)
{
        const uint8_t reason = result->outcome.reason;
        const bool    graph  = row->spec.kind == SC_TASK_GRAPH;
        struct sc_result told = *result;
        if (graph)
                announce_graph(row, result, out, &told);
        struct sc_effect *effect = sc_out_add(out, SC_FX_COMPLETE);
        effect->msg.kind         = SC_MSG_RESULT;
        effect->msg.result       = told;
        if (!graph)
                count(c, reason);
        sc_cli_graph_answered(c, row, reason, result->root, result->root_reason);
        if (row->unconfirmed)
                sc_cli_confirm(result->task, reason == SC_REASON_CANCELLED ? SC_CANCEL_CANCELED : SC_CANCEL_FAILED,
                               out);
}

void sc_cli_complete(struct sc_cli *c, struct sc_cli_row *row, const struct sc_result *result, struct sc_out *out)
{
        if (!row->told && !row->inner)
                announce(c, row, result, out);
        if (row->readers == 0 || !sc_cli_graph_hold(c, row, result))
                sc_cli_move_row(c, row, SC_CLI_END);
        if (c->want_room && c->phase == SC_CLI_OPEN) {
                c->want_room = false;
                sc_out_add(out, SC_FX_ROOM);
        }
}

static struct sc_result our_word(const struct sc_cli *c, const struct sc_cli_row *row, enum sc_reason reason,
                                 int32_t code, const char *text)
{
        return (struct sc_result){
                .task    = { .hi = c->id, .lo = row->sequence },
                .outcome = { .reason = (uint8_t)reason, .code = code, .text = { .ptr = text, .len = strlen(text) } },
        };
}

void sc_cli_end(struct sc_cli *c, struct sc_cli_row *row, enum sc_reason reason, int32_t code, const char *text,
                struct sc_out *out)
{
        const struct sc_result result = our_word(c, row, reason, code, text);
        sc_cli_complete(c, row, &result, out);
}

void sc_cli_tell(struct sc_cli *c, struct sc_cli_row *row, enum sc_reason reason, const char *text, struct sc_out *out)
{
        const struct sc_result result = our_word(c, row, reason, 0, text);
        SC_ASSERT(row->state == SC_CLI_SENT);
        SC_ASSERT(!row->told);
        announce(c, row, &result, out);
        row->told        = true;
        row->unconfirmed = false;
        row->stream      = (struct sc_cli_stream){ .run = 0 };
        sc_list_remove(&row->cancel);
        sc_list_remove(&row->output);
        c->told++;
        sc_cli_plan_retime(c, row);
}

/* ---- cancel -------------------------------------------------------------------------------------- */

/* An admin cancels other clients' tasks: asked and relayed, but not kept over a lost link. */
static void cancel_foreign(struct sc_cli *c, const struct sc_cancel *cancel, struct sc_out *out)
{
        if (c->link == 0 || c->ask_count == SC_CLI_ASKS_MAX) {
                sc_cli_confirm(cancel->task, SC_CANCEL_FAILED, out);
                return;
        }
        c->ask[c->ask_count++] = cancel->task;
        sc_out_send(out, c->link, SC_MSG_CANCEL)->cancel = *cancel;
}

static void cancel_own(struct sc_cli *c, struct sc_cli_row *row, bool force, struct sc_out *out)
{
        const uint8_t how  = force ? SC_CLI_CANCEL_FORCED : SC_CLI_CANCEL_ASKED;
        const bool    news = row->cancelling < how || !row->unconfirmed;
        const bool    node = row->spec.plan && row->spec.plan->graph != 0;
        if (row->cancelling < how)
                row->cancelling = how;
        row->unconfirmed = true;
        if (row->state == SC_CLI_UNSENT && row->spec.kind == SC_TASK_GRAPH) {
                sc_list_remove(&row->cancel);
                sc_list_add_tail(&c->cancels_early, &row->cancel);
                sc_cli_graph_end(c, row, SC_REASON_CANCELLED, "cancelled before it was sent");
        } else if (row->state == SC_CLI_UNSENT && node) { /* its graph counts on it */
                sc_list_remove(&row->cancel);
                sc_list_add_tail(&c->cancels_early, &row->cancel);
        } else if (row->state == SC_CLI_UNSENT) {
                sc_cli_end(c, row, SC_REASON_CANCELLED, SC_E_CANCELLED, "cancelled before it was sent", out);
        } else if (news) {
                sc_list_remove(&row->cancel);
                sc_list_add_tail(&c->cancels_due, &row->cancel);
        }
}

void sc_cli_cancel(struct sc_cli *c, const struct sc_cancel *cancel, struct sc_out *out)
{
        struct sc_cli_row *row = sc_cli_find(c, cancel->task);
        if (row && !row->told && row->state != SC_CLI_HELD)
                cancel_own(c, row, cancel->force, out);
        else if (c->role == SC_ROLE_ADMIN)
                cancel_foreign(c, cancel, out);
        else
                sc_cli_confirm(cancel->task, SC_CANCEL_NOT_FOUND, out);
}

static bool take_ask(struct sc_cli *c, struct sc_id task)
{
        for (uint32_t i = 0; i < c->ask_count; i++) {
                if (!sc_id_equal(c->ask[i], task))
                        continue;
                memmove(&c->ask[i], &c->ask[i + 1], (c->ask_count - i - 1) * sizeof c->ask[0]);
                c->ask_count--;
                return true;
        }
        return false;
}

void sc_cli_confirmed(struct sc_cli *c, const struct sc_confirm *confirm, struct sc_out *out)
{
        struct sc_cli_row *row = sc_cli_find(c, confirm->task);
        if (row && row->unconfirmed) {
                row->unconfirmed = false;
                if (confirm->outcome != SC_CANCEL_CANCELED)
                        row->cancelling = SC_CLI_CANCEL_NONE;
                sc_list_remove(&row->cancel);
        } else if (!take_ask(c, confirm->task)) {
                return; /* answered already by the end of its task */
        }
        sc_cli_confirm(confirm->task, (enum sc_cancelled)confirm->outcome, out);
}

/* ---- the end of the client ------------------------------------------------------------------------ */

static struct sc_cli_row *any_row(struct sc_cli *c)
{
        if (!sc_list_empty(&c->sent))
                return SC_CONTAINER(c->sent.next, struct sc_cli_row, link);
        if (!sc_list_empty(&c->unsent))
                return SC_CONTAINER(c->unsent.next, struct sc_cli_row, link);
        if (!sc_list_empty(&c->held))
                return SC_CONTAINER(c->held.next, struct sc_cli_row, link);
        return NULL;
}

void sc_cli_end_all(struct sc_cli *c, struct sc_out *out)
{
        const bool           closing = c->phase == SC_CLI_CLOSING;
        const enum sc_reason reason  = closing ? SC_REASON_CANCELLED : SC_REASON_CLIENT;
        while (sc_cli_room(out) > 3) {
                struct sc_cli_row *row = any_row(c);
                if (row && row->state == SC_CLI_HELD) {
                        sc_cli_move_row(c, row, SC_CLI_END);
                        continue;
                }
                if (row) {
                        sc_cli_end(c, row, reason, c->end_status, c->end_text, out);
                        continue;
                }
                sc_cli_many_end(c, out);
                c->phase                 = SC_CLI_OVER;
                struct sc_effect *effect = sc_out_add(out, closing ? SC_FX_CLOSED : SC_FX_GIVE_UP);
                effect->status           = closing ? 0 : c->end_status;
                effect->text             = closing ? NULL : c->end_text;
                return;
        }
}
