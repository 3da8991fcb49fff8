/*
 * Requirement sets and what runs hold of a worker's offers.  Tasks with the same needs share one set.
 * Of the runs of a set at a worker the first ones hold its amounts, as many as fit; what comes behind
 * them holds nothing and takes over what one of them gives back.  What is used of an offer is at any
 * time the sum of what holders need, and never more than is offered.
 */
#include "sched_state.h"

#include <string.h>

#include "amounts.h"
#include "sc_assert.h"

static const char default_need[] = "cpu=1000";
enum { DEFAULT_LEN = sizeof default_need - 1 };

/* ---- amounts -----------------------------------------------------------------------------------*/

static struct sched_amount amount_of(struct sc_view name, uint64_t thousandths)
{
        struct sched_amount amount = { .thousandths = thousandths };
        SC_ASSERT(name.len <= sizeof amount.name);
        memcpy(amount.name, name.ptr, name.len);
        return amount;
}

static bool is_same_name(const struct sched_amount *a, const struct sched_amount *b)
{
        return a->name[0] == b->name[0] && a->name[1] == b->name[1] && a->name[2] == b->name[2] &&
               a->name[3] == b->name[3];
}

/* A copy of parsed amounts, sorted by name, and among them so much cpu unless they name it. */
static bool amounts_with_cpu(struct sc_view text, uint64_t cpu, struct sched_amount out[SC_AMOUNTS_MAX + 1],
                             uint32_t *count)
{
        static const struct sc_view name = { "cpu", 3 };
        struct sc_amount            read[SC_AMOUNTS_MAX];
        uint32_t                    len = 0, at = 0;
        if (text.len > 0 && sc_amounts_parse(text, read, &len) != 0)
                return false;
        bool named = false;
        for (uint32_t i = 0; i < len; i++) {
                size_t shorter = read[i].name.len < name.len ? read[i].name.len : name.len;
                int    order   = memcmp(read[i].name.ptr, name.ptr, shorter);
                order          = order != 0 ? order : (read[i].name.len > name.len) - (read[i].name.len < name.len);
                if (!named && order > 0)
                        out[at++] = amount_of(name, cpu);
                named     = named || order >= 0;
                out[at++] = amount_of(read[i].name, read[i].thousandths);
        }
        if (!named)
                out[at++] = amount_of(name, cpu);
        *count = at;
        return true;
}

bool sc_sched_offers(const struct sc_hello *h, struct sched_amount out[SC_AMOUNTS_MAX + 1], uint32_t *count)
{
        return amounts_with_cpu(h->offers, h->slots * UINT64_C(1000), out, count);
}

/* Leaves "cpu=1000" out, so that who says it and who does not are the same. */
static struct sc_view without_default(struct sc_view needs, char text[SC_AMOUNTS_TEXT + 1])
{
        const char *at = needs.ptr, *end = at + needs.len;
        while (end - at >= DEFAULT_LEN) {
                const char *comma = memchr(at, ',', (size_t)(end - at));
                const char *stop  = comma ? comma : end;
                if (stop - at == DEFAULT_LEN && memcmp(at, default_need, DEFAULT_LEN) == 0) {
                        const char *first = needs.ptr;
                        size_t      head  = (size_t)(at - first);
                        size_t      tail  = comma ? (size_t)(end - comma) - 1 : 0;
                        memcpy(text, first, head);
                        if (comma)
                                memcpy(text + head, comma + 1, tail);
                        else if (head > 0)
                                head--; /* the comma before it */
                        return (struct sc_view){ text, head + tail };
                }
                if (!comma)
                        break;
                at = comma + 1;
        }
        return needs;
}

bool sc_sched_needs(const struct sc_spec *spec, char text[SC_AMOUNTS_TEXT + 1], struct sc_view *needs)
{
        struct sc_amount read[SC_AMOUNTS_MAX];
        uint32_t         count;
        *needs = (struct sc_view){ "", 0 };
        if (!spec->plan || spec->plan->needs.len == 0)
                return true;
        if (spec->plan->needs.len > SC_AMOUNTS_TEXT || sc_amounts_parse(spec->plan->needs, read, &count) != 0)
                return false;
        *needs = without_default(spec->plan->needs, text);
        return true;
}

/* ---- sets --------------------------------------------------------------------------------------*/

static size_t set_size(uint32_t count, size_t text_len)
{
        return sizeof(struct sched_set) + count * sizeof(struct sched_amount) + text_len;
}

struct sc_view sc_sched_set_text(const struct sched_set *set)
{
        return (struct sc_view){ &set->amount[set->count], set->text_len };
}

static bool is_set(const struct sched_set *set, struct sc_view needs)
{
        return set->text_len == needs.len &&
               (needs.len == 0 || memcmp(&set->amount[set->count], needs.ptr, needs.len) == 0);
}

static void crews_learn(struct sc_sched *s, const struct sched_set *set)
{
        for (uint32_t i = 0; i < s->crews.len; i++) {
                struct sched_crew *crew = s->crews.at[i];
                if (!crew)
                        continue;
                const uint64_t bit = UINT64_C(1) << set->self % 64;
                if (sc_sched_fulfils(s, crew, set))
                        crew->sets[set->self / 64] |= bit;
                else
                        crew->sets[set->self / 64] &= ~bit;
        }
}

static struct sched_set *set_new(struct sc_sched *s, struct sc_id key, struct sc_view needs)
{
        struct sched_amount amounts[SC_AMOUNTS_MAX + 1];
        uint32_t            count;
        if (!sc_sched_table_reserve(&s->sets, s->mem) || !sc_map_reserve(&s->set_map, s->set_map.len + 1))
                return NULL;
        bool canonical = amounts_with_cpu(needs, 1000, amounts, &count);
        SC_ASSERT(canonical);
        struct sched_set *set = sc_mem_alloc(s->mem, set_size(count, needs.len));
        if (!set)
                return NULL;
        *set = (struct sched_set){ .key = key, .count = count, .text_len = (uint32_t)needs.len };
        memcpy(set->amount, amounts, count * sizeof *amounts);
        if (needs.len > 0) {
                memcpy(&set->amount[count], needs.ptr, needs.len);
                set->said.needs = sc_sched_set_text(set);
                set->plan       = &set->said;
        }
        set->same = sc_map_remove(&s->set_map, key);
        sc_map_put(&s->set_map, key, set);
        set->self = sc_sched_table_put(&s->sets, set);
        crews_learn(s, set);
        return set;
}

struct sched_set *sc_sched_set_take(struct sc_sched *s, struct sc_view needs, bool *full)
{
        struct sc_id      key = sc_sched_hash(s, needs);
        struct sched_set *set = sc_map_get(&s->set_map, key);
        while (set && !is_set(set, needs))
                set = set->same;
        if (!set && s->sets.len - s->sets.free_len >= SCHED_SETS_MAX) {
                *full = true;
                return NULL;
        }
        if (!set)
                set = set_new(s, key, needs);
        if (set)
                set->refs++;
        return set;
}

void sc_sched_set_drop(struct sc_sched *s, struct sched_set *set)
{
        SC_ASSERT(set->refs > 0);
        if (--set->refs > 0)
                return;
        struct sched_set *first = sc_map_remove(&s->set_map, set->key);
        if (first != set) {
                struct sched_set *before = first;
                while (before->same != set)
                        before = before->same;
                before->same = set->same;
        } else {
                first = set->same;
        }
        if (first)
                sc_map_put(&s->set_map, set->key, first);
        sc_sched_table_drop(&s->sets, set->self);
        sc_mem_release(s->mem, set, set_size(set->count, set->text_len));
}

/* The first set is there for ever. */
bool sc_sched_sets_init(struct sc_sched *s)
{
        bool              full  = false;
        struct sched_set *first = sc_sched_set_take(s, (struct sc_view){ "", 0 }, &full);
        SC_ASSERT(!first || first->self == 0);
        return first != NULL;
}

void sc_sched_sets_fini(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->sets.len; i++) {
                struct sched_set *set = s->sets.at[i];
                if (set)
                        sc_mem_release(s->mem, set, set_size(set->count, set->text_len));
        }
        sc_sched_table_fini(&s->sets, s->mem);
        sc_map_fini(&s->set_map);
}

/* ---- what fits ---------------------------------------------------------------------------------*/

/* Where the offer of that name stands, looked for from `from` on, since both lists are sorted. */
static uint32_t offer_of(const struct sched_crew *crew, const struct sched_amount *need, uint32_t from)
{
        while (from < crew->offer_count && !is_same_name(&crew->offers[from], need))
                from++;
        return from;
}

bool sc_sched_fulfils(const struct sc_sched *s, const struct sched_crew *crew, const struct sched_set *set)
{
        uint32_t at = 0;
        for (uint32_t i = 0; i < set->count; i++) {
                at = offer_of(crew, &set->amount[i], at);
                if (at == crew->offer_count)
                        return false;
                bool enough = set->amount[i].thousandths <= crew->offers[at].thousandths;
                if (!enough && s->opt.allocate != SC_ALLOCATE_CAPABILITY)
                        return false;
        }
        return true;
}

bool sc_sched_fits(const struct sc_sched *s, const struct sched_worker *w, const struct sched_set *set)
{
        if (w->held >= w->slots)
                return false;
        if (s->opt.allocate == SC_ALLOCATE_CAPABILITY || (set->self == 0 && w->crew->even && w->runs_len == 1))
                return true;
        uint32_t at = 0;
        for (uint32_t i = 0; i < set->count; i++) {
                at = offer_of(w->crew, &set->amount[i], at);
                if (at == w->crew->offer_count ||
                    w->used[at] + set->amount[i].thousandths > w->crew->offers[at].thousandths)
                        return false;
        }
        return true;
}

bool sc_sched_fits_without(const struct sc_sched *s, const struct sched_worker *w, const struct sched_set *set,
                           const struct sched_set *without)
{
        const struct sched_runs *runs    = sc_sched_runs(w, without->self);
        const uint64_t           holders = runs ? runs->holders - runs->parked : 0;
        if (w->held - holders >= w->slots)
                return false;
        if (s->opt.allocate == SC_ALLOCATE_CAPABILITY)
                return true;
        uint32_t at = 0;
        for (uint32_t i = 0; i < set->count; i++) {
                at = offer_of(w->crew, &set->amount[i], at);
                uint64_t free_of = 0;
                for (uint32_t k = 0; k < without->count; k++) {
                        if (is_same_name(&without->amount[k], &set->amount[i]))
                                free_of = holders * without->amount[k].thousandths;
                }
                if (at == w->crew->offer_count ||
                    w->used[at] - free_of + set->amount[i].thousandths > w->crew->offers[at].thousandths)
                        return false;
        }
        return true;
}

/* ---- runs of a set at a worker -----------------------------------------------------------------*/

struct sched_runs *sc_sched_runs(const struct sched_worker *w, uint32_t set)
{
        if (set == 0)
                return w->runs;
        for (uint32_t i = 1; i < w->runs_len; i++) {
                if (w->runs[i].set == set)
                        return &w->runs[i];
        }
        return NULL;
}

struct sched_set *sc_sched_set_of(const struct sc_sched *s, const struct sched_task *t)
{
        if (t->lane == SCHED_NONE || s->opt.allocate == SC_ALLOCATE_CAPABILITY)
                return sc_sched_set(s, 0);
        return sc_sched_lane(s, t->lane)->class->set;
}

void sc_sched_claim(const struct sc_sched *s, struct sched_worker *w, const struct sched_set *set, bool more)
{
        w->held += more ? 1 : UINT32_MAX;
        if (s->opt.allocate == SC_ALLOCATE_CAPABILITY)
                return;
        uint32_t at = 0;
        for (uint32_t i = 0; i < set->count; i++) {
                at = offer_of(w->crew, &set->amount[i], at);
                w->used[at] += more ? set->amount[i].thousandths : 0 - set->amount[i].thousandths;
        }
}

static void hold(const struct sc_sched *s, struct sched_worker *w, struct sched_runs *runs, bool more)
{
        runs->holders += more ? 1 : UINT32_MAX;
        sc_sched_claim(s, w, sc_sched_set(s, runs->set), more);
}

/* What has come free goes to those that wait here, before anybody else is sent. */
static void promote(const struct sc_sched *s, struct sched_worker *w)
{
        for (uint32_t i = 0; i < w->runs_len && w->held < w->slots; i++) {
                struct sched_runs *runs = &w->runs[i];
                while (runs->assigned > runs->holders && sc_sched_fits(s, w, sc_sched_set(s, runs->set)))
                        hold(s, w, runs, true);
        }
}

static uint32_t waiting(const struct sched_worker *w)
{
        return w->assigned - w->held;
}

void sc_sched_runs_join(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set, bool started)
{
        struct sched_runs *runs   = sc_sched_runs(w, set->self);
        const uint32_t     before = waiting(w);
        if (!runs) {
                SC_ASSERT(w->runs_len < w->runs_cap);
                runs  = &w->runs[w->runs_len++];
                *runs = (struct sched_runs){ .set = set->self };
                w->there |= UINT64_C(1) << set->self % 64;
                if (w->runs_len == 2)
                        w->crew->mixed++;
        }
        runs->assigned++;
        runs->started += started;
        w->assigned++;
        if (sc_sched_fits(s, w, set))
                hold(s, w, runs, true);
        if (!w->gone)
                s->excess += waiting(w) - before;
}

/* ---- runs that wait ----------------------------------------------------------------------------*/

bool sc_sched_is_cpu(const struct sched_amount *amount)
{
        const struct sched_amount cpu = amount_of((struct sc_view){ "cpu", 3 }, 0);
        return is_same_name(amount, &cpu);
}

uint64_t sc_sched_offered(const struct sched_crew *crew, const struct sched_amount *need)
{
        const uint32_t at = offer_of(crew, need, 0);
        return at < crew->offer_count ? crew->offers[at].thousandths : 0;
}

static void move_cpu(struct sched_worker *w, const struct sched_set *set, bool more)
{
        for (uint32_t i = 0; i < set->count; i++) {
                if (!sc_sched_is_cpu(&set->amount[i]))
                        continue;
                const uint32_t at  = offer_of(w->crew, &set->amount[i], 0);
                const uint64_t cpu = set->amount[i].thousandths;
                w->used[at] += more ? cpu : 0 - cpu;
        }
}

void sc_sched_runs_park(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set)
{
        struct sched_runs *runs   = sc_sched_runs(w, set->self);
        const uint32_t     before = waiting(w);
        SC_ASSERT(runs && runs->assigned > runs->parked);
        if (runs->holders == runs->parked)
                hold(s, w, runs, true); /* whoever waits has begun, whatever we thought */
        runs->parked++;
        w->assigned--;
        w->held--;
        move_cpu(w, set, false);
        if (w->held < w->assigned)
                promote(s, w);
        if (!w->gone)
                s->excess += waiting(w) - before;
}

/* Its slot may have been given to another that we thought would begin there, and which goes on waiting. */
void sc_sched_runs_unpark(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set)
{
        struct sched_runs *runs   = sc_sched_runs(w, set->self);
        const uint32_t     before = waiting(w);
        SC_ASSERT(runs && runs->parked > 0);
        runs->parked--;
        w->assigned++;
        w->held++;
        move_cpu(w, set, true);
        if (w->held > w->slots && w->runs->holders > 0)
                hold(s, w, w->runs, false);
        if (!w->gone)
                s->excess += waiting(w) - before;
}

void sc_sched_runs_leave(struct sc_sched *s, struct sched_worker *w, const struct sched_set *set, bool started)
{
        struct sched_runs *runs   = sc_sched_runs(w, set->self);
        const uint32_t     before = waiting(w);
        SC_ASSERT(runs && runs->assigned > 0);
        w->assigned--;
        runs->started -= started;
        bool released = --runs->assigned < runs->holders;
        if (released)
                hold(s, w, runs, false);
        if (runs->assigned == 0 && runs != w->runs) {
                *runs    = w->runs[--w->runs_len];
                w->there = 1;
                for (uint32_t i = 1; i < w->runs_len; i++)
                        w->there |= UINT64_C(1) << w->runs[i].set % 64;
                if (w->runs_len == 1)
                        w->crew->mixed--;
        }
        if (released && w->held < w->assigned)
                promote(s, w);
        if (!w->gone)
                s->excess += waiting(w) - before;
}
