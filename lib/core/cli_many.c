/*
 * Cancels of many tasks.  Such a request first goes over the rows, some thousand a step: what was never
 * sent ends here, what was sent is marked, so that it is not sent again to a scheduler that forgot it.
 * Then the scheduler is asked, on every new link until it has answered.  Nothing else is sent before the
 * rows are gone over.  An admin has no rows; its requests go out at once and not over a break.
 */
#include "cli_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_status.h"

static void answer(uint32_t ticket, uint64_t count, int32_t status, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_REPLY);
        effect->msg.kind         = SC_MSG_CONFIRM_MANY;
        effect->msg.confirm_many = (struct sc_confirm_many){ .ticket = ticket, .count = count, .status = status };
}

static void forget(struct sc_cli *c, uint32_t at)
{
        c->many_count--;
        memmove(&c->many[at], &c->many[at + 1], (c->many_count - at) * sizeof c->many[0]);
}

static void finish(struct sc_cli *c, uint32_t at, int32_t status, struct sc_out *out)
{
        answer(c->many[at].ticket, c->many[at].count, status, out);
        forget(c, at);
}

/* ---- going over the rows ---------------------------------------------------------------------------- */

static struct sc_cli_row *first_of(const struct sc_list *list)
{
        return sc_list_empty(list) ? NULL : SC_CONTAINER(list->next, struct sc_cli_row, link);
}

static struct sc_cli_row *first_row(const struct sc_cli *c)
{
        return sc_list_empty(&c->sent) ? first_of(&c->unsent) : first_of(&c->sent);
}

static struct sc_cli_row *row_after(const struct sc_cli *c, const struct sc_cli_row *row)
{
        if (row->link.next == &c->sent)
                return first_of(&c->unsent);
        return row->link.next == &c->unsent ? NULL : SC_CONTAINER(row->link.next, struct sc_cli_row, link);
}

void sc_cli_many_leave(struct sc_cli *c, const struct sc_cli_row *row)
{
        if (c->sweep == row)
                c->sweep = row_after(c, row);
}

static uint32_t find_state(const struct sc_cli *c, enum sc_cli_many_state state)
{
        uint32_t at = 0;
        while (at < c->many_count && c->many[at].state != state)
                at++;
        return at;
}

bool sc_cli_sweeping(const struct sc_cli *c)
{
        return c->sweep_count > 0;
}

static bool is_its(const struct sc_cli_many *many, const struct sc_cli_row *row)
{
        const struct sc_plan *plan = row->spec.plan;
        if (many->tag_len == 0)
                return true;
        return plan && plan->tag.len == many->tag_len && memcmp(plan->tag.ptr, many->tag, many->tag_len) == 0;
}

static void sweep_row(struct sc_cli *c, struct sc_cli_many *many, struct sc_cli_row *row, struct sc_out *out)
{
        const uint8_t how = many->force ? SC_CLI_CANCEL_FORCED : SC_CLI_CANCEL_ASKED;
        if (row->told || !is_its(many, row))
                return;
        many->count++;
        if (row->state == SC_CLI_UNSENT) {
                sc_cli_end(c, row, SC_REASON_CANCELLED, SC_E_CANCELLED, "cancelled before it was sent", out);
                return;
        }
        many->asks = true;
        if (row->cancelling < how)
                row->cancelling = how;
}

/* True: the request has been over all its rows. */
static bool sweep_one(struct sc_cli *c, struct sc_cli_many *many, uint32_t *visits, struct sc_out *out)
{
        while (c->sweep && c->sweep->sequence <= many->up_to) {
                if (++*visits > SC_ROWS_MAX || sc_cli_room(out) <= SC_CLI_ROOM)
                        return false;
                struct sc_cli_row *row = c->sweep;
                c->sweep               = row_after(c, row);
                sweep_row(c, many, row, out);
        }
        return true;
}

void sc_cli_many_sweep(struct sc_cli *c, struct sc_out *out)
{
        uint32_t visits = 0;
        while (sc_cli_sweeping(c)) {
                const uint32_t      at   = find_state(c, SC_CLI_MANY_SWEEP);
                struct sc_cli_many *many = &c->many[at];
                SC_ASSERT(at < c->many_count);
                if (!sweep_one(c, many, &visits, out))
                        return;
                c->sweep_count--;
                c->sweep = sc_cli_sweeping(c) ? first_row(c) : NULL;
                if (many->asks)
                        many->state = SC_CLI_MANY_DUE;
                else
                        finish(c, at, 0, out);
        }
}

/* ---- asking ------------------------------------------------------------------------------------------ */

void sc_cli_cancel_many(struct sc_cli *c, const struct sc_cancel_many *ask, struct sc_out *out)
{
        const bool admin = c->role == SC_ROLE_ADMIN;
        SC_ASSERT(ask->tag.len <= SC_NAME_MAX);
        if (c->phase != SC_CLI_OPEN || (admin && c->link == 0)) {
                answer(ask->ticket, 0, c->phase == SC_CLI_OPEN ? SC_E_UNREACHABLE : SC_E_STATE, out);
                return;
        }
        if (c->many_count == SC_CLI_MANY_MAX) {
                answer(ask->ticket, 0, SC_E_FULL, out);
                return;
        }
        struct sc_cli_many *many = &c->many[c->many_count++];
        *many                    = (struct sc_cli_many){
                .ticket = ask->ticket, .client = ask->client, .force = ask->force, .state = SC_CLI_MANY_DUE,
                .up_to = ask->up_to, .tag_len = (uint8_t)ask->tag.len,
        };
        if (ask->tag.len > 0)
                memcpy(many->tag, ask->tag.ptr, ask->tag.len);
        if (admin)
                return;
        if (many->up_to == 0 || many->up_to >= c->next)
                many->up_to = c->next - 1;
        many->state = SC_CLI_MANY_SWEEP;
        if (c->sweep_count++ == 0)
                c->sweep = first_row(c);
}

/* After a rewind for a scheduler that knows nothing: all that was marked has ended here. */
static void finish_over(struct sc_cli *c, struct sc_out *out)
{
        for (uint32_t at; (at = find_state(c, SC_CLI_MANY_OVER)) < c->many_count;)
                finish(c, at, 0, out);
}

void sc_cli_many_send(struct sc_cli *c, struct sc_out *out)
{
        finish_over(c, out);
        for (uint32_t at; (at = find_state(c, SC_CLI_MANY_DUE)) < c->many_count && sc_cli_room(out) > 0;) {
                struct sc_cli_many *many = &c->many[at];
                many->state              = SC_CLI_MANY_SENT;
                sc_out_send(out, c->link, SC_MSG_CANCEL_MANY)->cancel_many = (struct sc_cancel_many){
                        .ticket = many->ticket, .client = many->client, .up_to = many->up_to, .force = many->force,
                        .tag = { many->tag, many->tag_len },
                };
        }
}

bool sc_cli_many_left(const struct sc_cli *c)
{
        return find_state(c, SC_CLI_MANY_DUE) < c->many_count || find_state(c, SC_CLI_MANY_OVER) < c->many_count;
}

void sc_cli_many_confirmed(struct sc_cli *c, const struct sc_confirm_many *confirm, struct sc_out *out)
{
        uint32_t at = 0;
        while (at < c->many_count && c->many[at].ticket != confirm->ticket)
                at++;
        if (at == c->many_count || c->many[at].state != SC_CLI_MANY_SENT)
                return; /* not asked on this link */
        if (c->role == SC_ROLE_ADMIN)
                c->many[at].count = confirm->count;
        finish(c, at, confirm->status, out);
}

/* ---- links ------------------------------------------------------------------------------------------- */

void sc_cli_many_up(struct sc_cli *c, bool strange)
{
        for (uint32_t i = 0; i < c->many_count; i++) {
                if (c->many[i].state == SC_CLI_MANY_SENT || c->many[i].state == SC_CLI_MANY_DUE)
                        c->many[i].state = strange ? SC_CLI_MANY_OVER : SC_CLI_MANY_DUE;
        }
}

void sc_cli_many_down(struct sc_cli *c, struct sc_out *out)
{
        while (c->role == SC_ROLE_ADMIN && c->many_count > 0)
                finish(c, 0, SC_E_UNREACHABLE, out);
}

void sc_cli_many_end(struct sc_cli *c, struct sc_out *out)
{
        while (c->many_count > 0)
                finish(c, 0, c->end_status, out);
        c->sweep_count = 0;
        c->sweep       = NULL;
}
