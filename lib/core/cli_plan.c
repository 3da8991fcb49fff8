/*
 * Plans of the client's tasks: kept with the row, their times as absolute ones, and told as what is left of them
 * whenever the task is sent.
 *
 * Whose clock ends a task.  One that no scheduler has seen is ended here when it is not started or not ended in
 * time.  One that was sent is the scheduler's to end, unless there is no link at its deadline; then its future ends
 * here, and the row stays, told, until the RESULT comes or the scheduler shows that it does not know the task: it
 * counts in the grant as long as the scheduler may have it, and its RESULT is not news.
 */
#include "cli_own.h"

#include <string.h>

#include "sc_assert.h"

_Static_assert(offsetof(struct sc_cli_row, bytes) % _Alignof(struct sc_cli_plan) == 0, "a plan heads the bytes");

/* Whoever has a task sent before still running needs the time to say so; SC_SPEC_RESUBMITTED. */
#define CLAIM_MS 2000

static struct sc_cli_row *row_of(struct sc_cli_plan *plan)
{
        return SC_CONTAINER((unsigned char *)plan, struct sc_cli_row, bytes);
}

/* ---- kept ---------------------------------------------------------------------------------------- */

size_t sc_cli_plan_size(const struct sc_plan *plan)
{
        return plan ? sizeof(struct sc_cli_plan) + sc_cli_graph_size(plan) + plan->needs.len + plan->tag.len +
                              plan->retry_on.len + plan->parent.len + plan->key.len
                    : 0;
}

static struct sc_view keep(unsigned char **at, struct sc_view text)
{
        const struct sc_view kept = { .ptr = *at, .len = text.len };
        if (text.len > 0)
                memcpy(*at, text.ptr, text.len);
        *at += text.len;
        return kept;
}

static sc_ns later(const struct sc_cli *c, uint64_t ms)
{
        return sc_ns_add(c->now, ms < INT64_MAX ? sc_ns_from_ms((int64_t)ms) : SC_NEVER);
}

void sc_cli_plan_keep(const struct sc_cli *c, struct sc_cli_row *row, const struct sc_plan *plan)
{
        struct sc_cli_plan *kept = sc_cli_plan(row);
        unsigned char      *at   = (unsigned char *)(kept + 1);
        *kept                    = (struct sc_cli_plan){
                                   .plan          = *plan,
                                   .position      = SC_HEAP_NOWHERE,
                                   .not_before_at = later(c, plan->not_before_ms),
                                   .queue_at      = plan->queue_ms > 0 ? later(c, plan->queue_ms) : SC_NEVER,
                                   .deadline_at   = plan->deadline_ms > 0 ? later(c, plan->deadline_ms) : SC_NEVER,
        };
        sc_list_init(&kept->overdue);
        row->spec.plan      = &kept->plan;
        sc_cli_graph_keep(row, plan, &at);
        kept->plan.needs    = keep(&at, plan->needs);
        kept->plan.tag      = keep(&at, plan->tag);
        kept->plan.retry_on = keep(&at, plan->retry_on);
        kept->plan.parent   = keep(&at, plan->parent);
        kept->plan.key      = keep(&at, plan->key);
}

/* ---- told ---------------------------------------------------------------------------------------- */

static uint64_t left_ms(sc_ns at, sc_ns now)
{
        return at > now ? (uint64_t)(at - now - 1) / SC_MS + 1 : 0;
}

/* Of a limit, of which 0 would say that there is none. */
static uint64_t limit_ms(sc_ns at, sc_ns now, uint64_t least)
{
        if (at == SC_NEVER)
                return 0;
        const uint64_t left = left_ms(at, now);
        return left > least ? left : least;
}

const struct sc_plan *sc_cli_plan_now(const struct sc_cli *c, struct sc_cli_row *row)
{
        if (!row->spec.plan)
                return NULL;
        struct sc_cli_plan *kept = sc_cli_plan(row);
        if (kept->graph)
                kept->plan.nodes = kept->graph->live;
        kept->plan.not_before_ms = left_ms(kept->not_before_at, c->now);
        kept->plan.queue_ms      = limit_ms(kept->queue_at, c->now, row->resubmitted ? CLAIM_MS : 1);
        kept->plan.deadline_ms   = limit_ms(kept->deadline_at, c->now, 1);
        return &kept->plan;
}

/* ---- timers -------------------------------------------------------------------------------------- */

bool sc_cli_plan_before(const void *a, const void *b)
{
        const struct sc_cli_plan *left = a, *right = b;
        return left->due < right->due;
}

void sc_cli_plan_position(void *item, size_t position)
{
        ((struct sc_cli_plan *)item)->position = position;
}

static bool is_new(const struct sc_cli_row *row)
{
        return row->state == SC_CLI_UNSENT && !row->resubmitted;
}

/* The times of a graph's node are the scheduler's, which counts it, as long as there is a link. */
static sc_ns due(const struct sc_cli_row *row, const struct sc_cli_plan *plan)
{
        if (row->state == SC_CLI_FREE || row->state == SC_CLI_HELD || row->told)
                return SC_NEVER;
        if (plan->plan.graph != 0)
                return row->state == SC_CLI_SENT && !row->inner ? plan->deadline_at : SC_NEVER;
        return is_new(row) ? sc_ns_min(plan->queue_at, plan->deadline_at) : plan->deadline_at;
}

void sc_cli_plan_retime(struct sc_cli *c, struct sc_cli_row *row)
{
        if (!row->spec.plan)
                return;
        struct sc_cli_plan *plan = sc_cli_plan(row);
        sc_list_remove(&plan->overdue);
        plan->due = due(row, plan);
        if (plan->position != SC_HEAP_NOWHERE && plan->due == SC_NEVER)
                sc_heap_remove(&c->timed, plan->position);
        else if (plan->position != SC_HEAP_NOWHERE)
                sc_heap_fix(&c->timed, plan->position);
        else if (plan->due != SC_NEVER)
                sc_heap_push(&c->timed, plan);
}

bool sc_cli_plan_expire(struct sc_cli *c, struct sc_cli_row *row, struct sc_out *out)
{
        if (!row->spec.plan || row->told || (row->spec.plan->graph != 0 && row->state == SC_CLI_UNSENT))
                return false;
        const struct sc_cli_plan *plan = sc_cli_plan(row);
        const bool                late = plan->deadline_at <= c->now;
        const bool stuck = is_new(row) && plan->queue_at <= c->now && plan->queue_at < plan->deadline_at;
        if (row->state == SC_CLI_SENT && late)
                sc_cli_tell(c, row, SC_REASON_DEADLINE, "its deadline has passed, and no scheduler could be reached",
                            out);
        else if (stuck)
                sc_cli_end(c, row, SC_REASON_QUEUE_TIMEOUT, 0, "no scheduler took it in time", out);
        else if (late)
                sc_cli_end(c, row, SC_REASON_DEADLINE, 0, "its deadline has passed before a scheduler took it", out);
        else
                return false;
        return true;
}

/* Its link may go before the scheduler has said that it ended it. */
static void fire(struct sc_cli *c, struct sc_cli_plan *plan, struct sc_out *out)
{
        struct sc_cli_row *row = row_of(plan);
        if (row->state == SC_CLI_SENT && c->link != 0) {
                sc_heap_remove(&c->timed, plan->position);
                sc_list_add_tail(&c->overdue, &plan->overdue);
        } else {
                const bool ended = sc_cli_plan_expire(c, row, out);
                SC_ASSERT(ended);
        }
}

static struct sc_cli_plan *first_overdue(const struct sc_cli *c)
{
        if (c->link != 0 || sc_list_empty(&c->overdue))
                return NULL;
        return SC_CONTAINER(c->overdue.next, struct sc_cli_plan, overdue);
}

void sc_cli_timers(struct sc_cli *c, struct sc_out *out)
{
        for (uint32_t visits = 0; visits < SC_ROWS_MAX && sc_cli_room(out) > 2; visits++) {
                struct sc_cli_plan *plan = first_overdue(c);
                if (!plan)
                        plan = sc_heap_top(&c->timed);
                if (!plan || plan->due > c->now)
                        return;
                fire(c, plan, out);
        }
}

sc_ns sc_cli_timers_at(const struct sc_cli *c)
{
        const struct sc_cli_plan *top = sc_heap_top(&c->timed);
        if (first_overdue(c))
                return c->now;
        return top ? top->due : SC_NEVER;
}
