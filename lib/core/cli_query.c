/*
 * Questions to the scheduler.  Each ticket is answered by rows and one QUERY_END, or if it asked for a
 * drain by one DRAINED.  A QUERY_END says unreachable when there is no link, or when it goes before the end.
 */
#include "cli_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_status.h"

static void end_query(uint32_t ticket, int32_t status, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_REPLY);
        effect->msg.kind         = SC_MSG_QUERY_END;
        effect->msg.query_end    = (struct sc_query_end){ .ticket = ticket, .status = status };
}

static uint32_t find(const struct sc_cli *c, uint32_t ticket)
{
        uint32_t at = 0;
        while (at < c->ticket_count && c->ticket[at] != ticket)
                at++;
        return at;
}

static uint32_t ticket_of(const struct sc_msg *msg)
{
        switch (msg->kind) {
        case SC_MSG_QUERY:
                return msg->query.ticket;
        case SC_MSG_DRAIN:
                return msg->drain.ticket;
        case SC_MSG_DRAINED:
                return msg->drained.ticket;
        case SC_MSG_STATUS_ROW:
                return msg->status_row.ticket;
        case SC_MSG_WORKER_ROW:
                return msg->worker_row.ticket;
        case SC_MSG_CLIENT_ROW:
                return msg->client_row.ticket;
        case SC_MSG_TASK_ROW:
                return msg->task_row.ticket;
        case SC_MSG_TASK_WHY:
                return msg->task_why.ticket;
        case SC_MSG_ATTEMPT_ROW:
                return msg->attempt_row.ticket;
        case SC_MSG_WORKER_WHY:
                return msg->worker_why.ticket;
        default:
                return msg->query_end.ticket;
        }
}

void sc_cli_query(struct sc_cli *c, const struct sc_msg *question, struct sc_out *out)
{
        const uint32_t ticket = ticket_of(question);
        if (c->link == 0) {
                end_query(ticket, SC_E_UNREACHABLE, out);
        } else if (c->ticket_count == SC_CLI_ASKS_MAX) {
                end_query(ticket, SC_E_FULL, out);
        } else {
                SC_ASSERT(find(c, ticket) == c->ticket_count);
                c->ticket[c->ticket_count++] = ticket;
                *sc_out_send(out, c->link, (enum sc_msg_kind)question->kind) = *question;
        }
}

void sc_cli_reply(struct sc_cli *c, const struct sc_msg *msg, struct sc_out *out)
{
        const uint32_t at = find(c, ticket_of(msg));
        if (at == c->ticket_count)
                return;
        sc_out_add(out, SC_FX_REPLY)->msg = *msg;
        if (msg->kind != SC_MSG_QUERY_END && msg->kind != SC_MSG_DRAINED)
                return;
        c->ticket_count--;
        memmove(&c->ticket[at], &c->ticket[at + 1], (c->ticket_count - at) * sizeof c->ticket[0]);
}

void sc_cli_queries_down(struct sc_cli *c, struct sc_out *out)
{
        for (uint32_t i = 0; i < c->ticket_count; i++)
                end_query(c->ticket[i], SC_E_UNREACHABLE, out);
        for (uint32_t i = 0; i < c->ask_count; i++)
                sc_cli_confirm(c->ask[i], SC_CANCEL_FAILED, out);
        c->ticket_count = c->ask_count = 0;
}
