/*
 * What the worker offers and what its runs hold of it.  A run holds its needs from its start until its slot is
 * free again: also while nobody waits for it any more.  Who names no cpu holds one.  Of an amount that is a whole
 * number up to 64 each unit has an index: whole parts of a need get indices of their own, the rest of it shares
 * the one with most room.
 *
 * A need of more than is offered is cut to what is offered, so that every run can start when nothing else runs;
 * whether it should be here is the scheduler's to say.
 */
#include "work_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_mem.h"

enum { UNIT = 1000 };
#define NO_OFFER UINT32_MAX

static const struct sc_view cpu = { "cpu", 3 };

static bool same(struct sc_view a, struct sc_view b)
{
        return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* ---- what is offered ------------------------------------------------------------------------------ */

static void add_offer(struct sc_work *w, struct sc_view name, uint64_t thousandths)
{
        struct sc_work_offer *offer = &w->offer[w->offer_count++];
        const bool            whole = thousandths % UNIT == 0 && thousandths / UNIT <= SC_INDICES_MAX;
        *offer                      = (struct sc_work_offer){
                                     .name    = name,
                                     .amount  = thousandths,
                                     .free    = thousandths,
                                     .indices = whole ? (uint32_t)(thousandths / UNIT) : 0,
        };
        for (uint32_t i = 0; i < offer->indices; i++)
                offer->room[i] = UNIT;
}

static uint32_t find_offer(const struct sc_work *w, struct sc_view name)
{
        for (uint32_t i = 0; i < w->offer_count; i++)
                if (same(w->offer[i].name, name))
                        return i;
        return NO_OFFER;
}

bool sc_work_amounts_init(struct sc_work *w)
{
        struct sc_amount amounts[SC_AMOUNTS_MAX];
        uint32_t         count;
        const int        status = sc_amounts_parse(w->offers, amounts, &count);
        SC_ASSERT(status == 0);
        w->offer_size = (count + 1) * sizeof *w->offer;
        w->offer      = sc_mem_alloc(w->mem, w->offer_size);
        if (!w->offer)
                return false;
        for (uint32_t i = 0; i < count; i++)
                add_offer(w, amounts[i].name, amounts[i].thousandths);
        w->cpu = find_offer(w, cpu);
        if (w->cpu == NO_OFFER) {
                w->cpu = w->offer_count;
                add_offer(w, cpu, (uint64_t)w->slots * UNIT);
        }
        w->cpu_each = smaller(w->offer[w->cpu].amount, UNIT);
        return true;
}

void sc_work_amounts_fini(struct sc_work *w)
{
        sc_mem_release(w->mem, w->offer, w->offer_size);
}

/* ---- what a run asks for -------------------------------------------------------------------------- */

bool sc_run_share_open(struct sc_work *w, struct sc_run *run, const struct sc_plan *plan)
{
        if (!plan || plan->needs.len == 0)
                return true;
        struct sc_amount     amounts[SC_AMOUNTS_MAX];
        uint32_t             count;
        const int            first = sc_amounts_parse(plan->needs, amounts, &count);
        SC_ASSERT(first == 0);
        const size_t         parts = count * sizeof(struct sc_run_part);
        struct sc_run_share *share = sc_work_get(w, sizeof *share + parts + plan->needs.len);
        if (!share)
                return false;
        char *text = (char *)&share->part[count];
        memcpy(text, plan->needs.ptr, plan->needs.len);
        share->plan  = (struct sc_plan){ .needs = { text, plan->needs.len } };
        share->count = count;
        share->cpu   = w->cpu_each;
        const int again = sc_amounts_parse(share->plan.needs, amounts, &count); /* names in the copy */
        SC_ASSERT(again == 0);
        for (uint32_t i = 0; i < count; i++) {
                const uint32_t offer = find_offer(w, amounts[i].name);
                const uint64_t most  = offer == NO_OFFER ? 0 : w->offer[offer].amount;
                share->cpu           = offer == w->cpu ? 0 : share->cpu;
                share->part[i]       = (struct sc_run_part){
                              .name = amounts[i].name, .offer = offer, .amount = smaller(amounts[i].thousandths, most)
                };
        }
        run->share = share;
        return true;
}

void sc_run_share_drop(struct sc_work *w, struct sc_run *run)
{
        if (run->share)
                sc_work_discard(w, &run->share->scrap);
        run->share = NULL;
}

/* ---- indices -------------------------------------------------------------------------------------- */

/* The index that a rest of `thousandths` shares, not one of `taken`: the one with most room, the lowest of those. */
static uint32_t index_for_rest(const struct sc_work_offer *offer, uint64_t taken, uint64_t thousandths)
{
        uint32_t best = SC_INDICES_MAX;
        for (uint32_t i = 0; i < offer->indices; i++) {
                const bool fits = !(taken >> i & 1) && offer->room[i] >= thousandths;
                if (fits && (best == SC_INDICES_MAX || offer->room[i] > offer->room[best]))
                        best = i;
        }
        return best;
}

/* The lowest free ones, as a bit set; fewer than `count` when there are no more. */
static uint64_t free_indices(const struct sc_work_offer *offer, uint64_t count)
{
        uint64_t set = 0;
        for (uint32_t i = 0; i < offer->indices && count > 0; i++) {
                if (offer->room[i] < UNIT)
                        continue;
                set |= UINT64_C(1) << i;
                count--;
        }
        return count == 0 ? set : 0;
}

/* Which indices it would get; false: they are not to be had now. */
static bool choose_indices(const struct sc_work_offer *offer, const struct sc_run_part *part, uint64_t *whole,
                           uint32_t *shared)
{
        const uint64_t count = part->amount / UNIT, rest = part->amount % UNIT;
        *whole  = free_indices(offer, count);
        *shared = SC_INDICES_MAX;
        if (count > 0 && *whole == 0)
                return false;
        if (rest > 0)
                *shared = index_for_rest(offer, *whole, rest);
        return rest == 0 || *shared < SC_INDICES_MAX;
}

/* ---- fitting, holding, giving back ---------------------------------------------------------------- */

static bool part_fits(const struct sc_work *w, const struct sc_run_part *part)
{
        uint64_t whole;
        uint32_t shared;
        if (part->amount == 0)
                return true;
        const struct sc_work_offer *offer = &w->offer[part->offer];
        return part->amount <= offer->free && (offer->indices == 0 || choose_indices(offer, part, &whole, &shared));
}

bool sc_run_share_fits(const struct sc_work *w, const struct sc_run_share *share)
{
        if (w->offer[w->cpu].free < share->cpu)
                return false;
        for (uint32_t i = 0; i < share->count; i++)
                if (!part_fits(w, &share->part[i]))
                        return false;
        return true;
}

static void take(struct sc_work *w, struct sc_run_part *part)
{
        if (part->amount == 0)
                return;
        struct sc_work_offer *offer = &w->offer[part->offer];
        SC_ASSERT(part->amount <= offer->free);
        offer->free -= part->amount;
        if (offer->indices == 0)
                return;
        const bool there = choose_indices(offer, part, &part->whole, &part->shared);
        SC_ASSERT(there);
        for (uint32_t i = 0; i < offer->indices; i++)
                if (part->whole >> i & 1)
                        offer->room[i] = 0;
        if (part->shared < SC_INDICES_MAX)
                offer->room[part->shared] = (uint16_t)(offer->room[part->shared] - part->amount % UNIT);
}

static void give(struct sc_work *w, const struct sc_run_part *part)
{
        if (part->amount == 0)
                return;
        struct sc_work_offer *offer = &w->offer[part->offer];
        offer->free += part->amount;
        SC_ASSERT(offer->free <= offer->amount);
        for (uint32_t i = 0; i < offer->indices; i++)
                if (part->whole >> i & 1)
                        offer->room[i] = UNIT;
        if (offer->indices > 0 && part->shared < SC_INDICES_MAX)
                offer->room[part->shared] = (uint16_t)(offer->room[part->shared] + part->amount % UNIT);
}

/* Of cpu, without having named it. */
static uint64_t unnamed(const struct sc_work *w, const struct sc_run *run)
{
        return run->share ? run->share->cpu : w->cpu_each;
}

void sc_run_share_take(struct sc_work *w, struct sc_run *run)
{
        SC_ASSERT(unnamed(w, run) <= w->offer[w->cpu].free);
        w->offer[w->cpu].free -= unnamed(w, run);
        w->shares += run->share != NULL;
        for (uint32_t i = 0; run->share && i < run->share->count; i++)
                take(w, &run->share->part[i]);
}

void sc_run_share_give(struct sc_work *w, struct sc_run *run)
{
        w->offer[w->cpu].free += unnamed(w, run);
        w->shares -= run->share != NULL;
        for (uint32_t i = 0; run->share && i < run->share->count; i++)
                give(w, &run->share->part[i]);
}

/* ---- the cpu of a run that waits ------------------------------------------------------------------ */

static struct sc_run_part *cpu_part(const struct sc_work *w, const struct sc_run *run)
{
        for (uint32_t i = 0; run->share && i < run->share->count; i++)
                if (run->share->part[i].offer == w->cpu)
                        return &run->share->part[i];
        return NULL;
}

bool sc_run_cpu_fits(const struct sc_work *w, const struct sc_run *run)
{
        const struct sc_run_part *part = cpu_part(w, run);
        return part ? part_fits(w, part) : w->offer[w->cpu].free >= unnamed(w, run);
}

void sc_run_cpu_take(struct sc_work *w, struct sc_run *run)
{
        struct sc_run_part *part = cpu_part(w, run);
        if (part)
                take(w, part);
        else
                w->offer[w->cpu].free -= unnamed(w, run);
}

void sc_run_cpu_give(struct sc_work *w, struct sc_run *run)
{
        const struct sc_run_part *part = cpu_part(w, run);
        if (part)
                give(w, part);
        else
                w->offer[w->cpu].free += unnamed(w, run);
}

struct sc_run *sc_work_next(const struct sc_work *w)
{
        const struct sc_list *queue = &w->list[SC_RUN_QUEUED];
        for (struct sc_list *at = queue->next; at != queue; at = at->next) {
                struct sc_run *run = SC_CONTAINER(at, struct sc_run, link);
                if (sc_run_fits(w, run))
                        return run;
        }
        return NULL;
}

/* ---- telling and checking ------------------------------------------------------------------------- */

uint32_t sc_work_held(const struct sc_work *w, uint64_t handle, struct sc_held out[SC_AMOUNTS_MAX])
{
        const struct sc_run *run = sc_map_get(&w->by_handle, (struct sc_id){ .lo = handle });
        if (!run || !run->share)
                return 0;
        for (uint32_t i = 0; i < run->share->count; i++) {
                const struct sc_run_part *part    = &run->share->part[i];
                const bool                indexed = part->amount > 0 && w->offer[part->offer].indices > 0;
                const uint64_t rest = indexed && part->shared < SC_INDICES_MAX ? UINT64_C(1) << part->shared : 0;
                out[i]              = (struct sc_held){ .name        = part->name,
                                                        .thousandths = part->amount,
                                                        .indices     = indexed ? part->whole | rest : 0 };
        }
        return run->share->count;
}

/* What runs hold of one offer. */
static uint64_t held_of(const struct sc_work *w, uint32_t offer)
{
        uint64_t held = 0;
        for (uint32_t i = 0; i < w->pages * SC_RUN_PAGE; i++) {
                const struct sc_run *run = &w->page[i / SC_RUN_PAGE][i % SC_RUN_PAGE];
                if (!sc_run_has_slot(run->state) || (offer == w->cpu && run->parked))
                        continue;
                held += offer == w->cpu ? unnamed(w, run) : 0;
                for (uint32_t k = 0; run->share && k < run->share->count; k++)
                        held += run->share->part[k].offer == offer ? run->share->part[k].amount : 0;
        }
        return held;
}

/* What runs hold of one index of an offer. */
static uint64_t held_of_index(const struct sc_work *w, uint32_t offer, uint32_t index)
{
        uint64_t held = 0;
        for (uint32_t i = 0; i < w->pages * SC_RUN_PAGE; i++) {
                const struct sc_run *run = &w->page[i / SC_RUN_PAGE][i % SC_RUN_PAGE];
                for (uint32_t k = 0; sc_run_has_slot(run->state) && run->share && k < run->share->count; k++) {
                        const struct sc_run_part *part = &run->share->part[k];
                        if (part->offer != offer || part->amount == 0 || (offer == w->cpu && run->parked))
                                continue;
                        held += (part->whole >> index & 1) * UNIT;
                        held += part->shared == index ? part->amount % UNIT : 0;
                }
        }
        return held;
}

void sc_work_amounts_check(const struct sc_work *w)
{
        uint32_t shares = 0;
        for (uint32_t i = 0; i < w->pages * SC_RUN_PAGE; i++) {
                const struct sc_run *run = &w->page[i / SC_RUN_PAGE][i % SC_RUN_PAGE];
                shares += run->share != NULL && sc_run_has_slot(run->state);
                SC_ASSERT(run->share == NULL || run->state != SC_RUN_OFFERED);
        }
        SC_ASSERT(shares == w->shares);
        SC_ASSERT(w->count[SC_RUN_OFFERED] == 0 || sc_work_cpu_to_spare(w));
        for (uint32_t i = 0; i < w->offer_count; i++) {
                const struct sc_work_offer *offer = &w->offer[i];
                SC_ASSERT(offer->free <= offer->amount);
                SC_ASSERT(held_of(w, i) == offer->amount - offer->free);
                for (uint32_t k = 0; k < offer->indices; k++)
                        SC_ASSERT(offer->room[k] + held_of_index(w, i, k) == UNIT);
        }
}
