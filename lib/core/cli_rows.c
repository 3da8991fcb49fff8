/*
 * The table of tasks by sequence, and the one function that writes a row's state.  What a SUBMIT
 * needs is allocated by sc_cli_admissible() and waits as `spare` for the step.
 */
#include "cli_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

#define NEVER_MOVES SC_CLI_STATES

static const uint8_t moves[SC_CLI_STATES][SC_CLI_MOVES] = {
        /*                   ADMIT          SEND         REWIND         HOLD         END */
        [SC_CLI_FREE]   = { SC_CLI_UNSENT, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES },
        [SC_CLI_UNSENT] = { NEVER_MOVES, SC_CLI_SENT, NEVER_MOVES, SC_CLI_HELD, SC_CLI_FREE },
        [SC_CLI_SENT]   = { NEVER_MOVES, NEVER_MOVES, SC_CLI_UNSENT, SC_CLI_HELD, SC_CLI_FREE },
        [SC_CLI_HELD]   = { NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, NEVER_MOVES, SC_CLI_FREE },
};

static struct sc_id page_key(uint64_t sequence)
{
        return (struct sc_id){ .lo = sequence / SC_CLI_PAGE };
}

static struct sc_cli_page *page_of(const struct sc_cli *c, uint64_t sequence)
{
        return sc_map_get(&c->pages, page_key(sequence));
}

struct sc_cli_row *sc_cli_find(const struct sc_cli *c, struct sc_id task)
{
        if (task.hi != c->id)
                return NULL;
        const struct sc_cli_page *page = page_of(c, task.lo);
        return page ? page->row[task.lo % SC_CLI_PAGE] : NULL;
}

static void drop_spare(struct sc_cli *c)
{
        if (c->spare)
                sc_mem_release(c->mem, c->spare, c->spare->size);
        c->spare = NULL;
}

static bool reserve_page(struct sc_cli *c)
{
        if (c->spare_page || page_of(c, c->next))
                return true;
        if (!sc_map_reserve(&c->pages, c->pages.len + 1))
                return false;
        c->spare_page = sc_mem_zalloc(c->mem, sizeof *c->spare_page);
        return c->spare_page != NULL;
}

static size_t row_size(const struct sc_spec *spec)
{
        return sizeof(struct sc_cli_row) + sc_cli_plan_size(spec->plan) + spec->body.len + spec->function.len;
}

static bool reserve_row(struct sc_cli *c, const struct sc_spec *spec)
{
        const size_t size = row_size(spec);
        if (spec->plan && !sc_heap_reserve(&c->timed, (size_t)c->planned + 1))
                return false;
        if (c->spare && c->spare->size == size)
                return true;
        drop_spare(c);
        c->spare = sc_mem_alloc(c->mem, size);
        if (!c->spare)
                return false;
        c->spare->size = size;
        return true;
}

int sc_cli_admissible(struct sc_cli *c, const struct sc_spec *spec)
{
        SC_ASSERT(spec->function.len <= SC_NAME_MAX);
        if (c->phase != SC_CLI_OPEN || c->role != SC_ROLE_CLIENT)
                return SC_E_STATE;
        if (spec->body.len > SC_BODY_MAX)
                return SC_E_TOO_BIG;
        int status = c->pending < c->pending_max ? 0 : SC_E_FULL;
        if (!status && (!reserve_page(c) || !reserve_row(c, spec)))
                status = SC_E_NOMEM;
        c->want_room = c->want_room || status != 0;
        return status;
}

static void place(struct sc_cli *c, struct sc_cli_row *row)
{
        struct sc_cli_page *page = page_of(c, row->sequence);
        if (!page) {
                SC_ASSERT(c->spare_page != NULL);
                page          = c->spare_page;
                c->spare_page = NULL;
                sc_map_put(&c->pages, page_key(row->sequence), page);
        }
        page->row[row->sequence % SC_CLI_PAGE] = row;
        page->used++;
}

struct sc_cli_row *sc_cli_admit(struct sc_cli *c, const struct sc_submit *submit)
{
        const struct sc_spec *spec = &submit->spec;
        struct sc_cli_row    *row  = c->spare;
        c->spare                   = NULL;
        SC_ASSERT(row != NULL);
        SC_ASSERT(row->size == row_size(spec));
        *row = (struct sc_cli_row){ .sequence = c->next++, .size = row->size, .spec = *spec };
        sc_list_init(&row->link);
        sc_list_init(&row->cancel);
        sc_list_init(&row->output);
        if (spec->plan)
                sc_cli_plan_keep(c, row, spec->plan);
        unsigned char *at = row->bytes + sc_cli_plan_size(spec->plan);
        if (spec->body.len > 0)
                memcpy(at, spec->body.ptr, spec->body.len);
        if (spec->function.len > 0)
                memcpy(at + spec->body.len, spec->function.ptr, spec->function.len);
        row->spec.body.ptr     = at;
        row->spec.function.ptr = at + spec->body.len;
        c->planned += spec->plan != NULL;
        place(c, row);
        sc_cli_move_row(c, row, SC_CLI_ADMIT);
        return row;
}

static void free_row(struct sc_cli *c, struct sc_cli_row *row)
{
        struct sc_cli_page *page = page_of(c, row->sequence);
        c->planned -= row->spec.plan != NULL;
        if (row->spec.plan && sc_cli_plan(row)->graph)
                sc_list_remove(&sc_cli_plan(row)->graph->over);
        c->told -= row->told;
        page->row[row->sequence % SC_CLI_PAGE] = NULL;
        if (--page->used == 0) {
                (void)sc_map_remove(&c->pages, page_key(row->sequence));
                if (!c->spare_page && row->sequence / SC_CLI_PAGE == c->next / SC_CLI_PAGE) {
                        c->spare_page = page; /* one task at a time shall not allocate a page each */
                } else {
                        sc_mem_release(c->mem, page, sizeof *page);
                }
        }
        sc_list_remove(&row->cancel);
        sc_list_remove(&row->output);
        sc_mem_release(c->mem, row, row->size);
}

static bool is_live(enum sc_cli_state state)
{
        return state == SC_CLI_UNSENT || state == SC_CLI_SENT;
}

static void count_move(struct sc_cli *c, enum sc_cli_state from, enum sc_cli_state next, size_t weight)
{
        c->pending += (uint32_t)is_live(next) - (uint32_t)is_live(from);
        c->unsent_count += (next == SC_CLI_UNSENT) - (uint32_t)(from == SC_CLI_UNSENT);
        c->bytes += from == SC_CLI_FREE ? weight : 0;
        c->bytes -= is_live(from) && !is_live(next) ? weight : 0;
        c->sent_bytes += next == SC_CLI_SENT ? weight : 0;
        c->sent_bytes -= from == SC_CLI_SENT ? weight : 0;
}

void sc_cli_move_row(struct sc_cli *c, struct sc_cli_row *row, enum sc_cli_move move)
{
        const enum sc_cli_state from = row->state, next = moves[row->state][move];
        SC_ASSERT(next != NEVER_MOVES);
        sc_cli_many_leave(c, row);
        sc_list_remove(&row->link);
        row->state          = (uint8_t)next;
        const size_t weight = sc_cli_weight(row);
        count_move(c, from, next, weight);
        sc_cli_plan_retime(c, row);
        if (next == SC_CLI_SENT)
                sc_list_add_tail(&c->sent, &row->link);
        else if (next == SC_CLI_HELD)
                sc_list_add_tail(&c->held, &row->link);
        else if (move == SC_CLI_REWIND)
                sc_list_add_head(&c->unsent, &row->link);
        else if (next == SC_CLI_UNSENT)
                sc_list_add_tail(&c->unsent, &row->link);
        if (row->spec.plan || row->held || row->refs > 0)
                sc_cli_graph_moved(c, row, from, weight);
        if (next == SC_CLI_HELD) {
                sc_list_remove(&row->cancel);
                sc_list_remove(&row->output);
                row->unconfirmed = false;
                c->told -= row->told;
                row->told = false;
        }
        if (next == SC_CLI_FREE)
                free_row(c, row);
}

static void free_list(struct sc_cli *c, struct sc_list *list)
{
        while (!sc_list_empty(list))
                sc_cli_move_row(c, SC_CONTAINER(list->next, struct sc_cli_row, link), SC_CLI_END);
}

void sc_cli_free_rows(struct sc_cli *c)
{
        free_list(c, &c->unsent);
        free_list(c, &c->sent);
        free_list(c, &c->held);
        drop_spare(c);
        sc_mem_release(c->mem, c->spare_page, sizeof *c->spare_page);
        sc_map_fini(&c->pages);
        sc_heap_fini(&c->timed);
}
