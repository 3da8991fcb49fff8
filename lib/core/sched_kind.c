/*
 * Kinds of workers.  Those that know the same functions and offer the same amounts are of one kind, so
 * who serves what is worked out once for all of them: when the first one joins, or when a class comes
 * to be.  The workers of a kind that have room stand in a heap by load, and the kinds with such
 * workers in another one, by their best.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

/* ---- room --------------------------------------------------------------------------------------*/

bool sc_sched_kind_roomier(const void *a, const void *b)
{
        const struct sched_kind *x = a, *y = b;
        return sc_sched_roomier(sc_sched_top(&x->roomy), sc_sched_top(&y->roomy));
}

void sc_sched_kind_moved(void *item, size_t position)
{
        ((struct sched_kind *)item)->position = position;
}

/* A kind is out of the heap of kinds while it has nobody with room: its key is its best worker. */
void sc_sched_kind_changed(struct sc_sched *s, struct sched_kind *kind)
{
        if (kind->position == SC_HEAP_NOWHERE) {
                if (kind->roomy.len > 0)
                        sc_heap_push(&s->roomy, kind);
        } else {
                SC_ASSERT(kind->roomy.len > 0);
                sc_heap_fix(&s->roomy, kind->position);
        }
}

/* ---- who serves what ---------------------------------------------------------------------------*/

bool sc_sched_kind_knows(const struct sched_kind *kind, uint32_t function)
{
        uint32_t low = 0, high = kind->function_count;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                if (kind->functions[middle] < function)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < kind->function_count && kind->functions[low] == function;
}

bool sc_sched_kind_serves(const struct sched_kind *kind, const struct sched_class *c)
{
        return sc_sched_serves(kind, c->set->self, c->function->self);
}

void sc_sched_kind_live(struct sc_sched *s, struct sched_kind *kind, bool joins)
{
        kind->live += joins ? 1 : UINT32_MAX;
        if (kind->live != (joins ? 1 : 0))
                return;
        for (uint32_t i = 0; i < kind->function_count; i++) {
                const struct sched_function *f = s->functions.at[kind->functions[i]];
                for (struct sched_class *c = f->first; c; c = c->next) {
                        const uint32_t set = c->set->self;
                        if (kind->sets[set / 64] >> set % 64 & 1)
                                sc_sched_class_kind(s, c, joins);
                }
        }
}

/* ---- coming and going --------------------------------------------------------------------------*/

static size_t kind_size(uint32_t function_count, uint32_t offer_count)
{
        return sizeof(struct sched_kind) + offer_count * sizeof(struct sched_amount) +
               function_count * sizeof(uint32_t);
}

/* The functions of a hello as indices, ascending and each only once; on their way to a kind. */
struct profile {
        uint32_t           *functions;
        uint32_t            len, cap, offer_count;
        struct sched_amount offers[SC_AMOUNTS_MAX + 1];
};

static void profile_add(struct sc_sched *s, struct profile *p, struct sched_function *f)
{
        uint32_t at = p->len;
        while (at > 0 && p->functions[at - 1] > f->self)
                at--;
        if (at > 0 && p->functions[at - 1] == f->self) {
                sc_sched_function_drop(s, f);
                return;
        }
        memmove(&p->functions[at + 1], &p->functions[at], (p->len - at) * sizeof *p->functions);
        p->functions[at] = f->self;
        p->len++;
}

static void profile_drop(struct sc_sched *s, struct profile *p, bool functions)
{
        for (uint32_t i = 0; functions && i < p->len; i++)
                sc_sched_function_drop(s, s->functions.at[p->functions[i]]);
        sc_mem_release(s->mem, p->functions, p->cap * sizeof *p->functions);
}

/* Its functions, and commands, which every worker can run. */
static bool profile_make(struct sc_sched *s, struct profile *p, const struct sc_hello *hello)
{
        bool canonical = sc_sched_offers(hello, p->offers, &p->offer_count);
        SC_ASSERT(canonical);
        p->len       = 0;
        p->cap       = hello->function_count + 1;
        p->functions = sc_mem_array(s->mem, p->cap, sizeof *p->functions);
        if (!p->functions)
                return false;
        for (uint32_t i = 0; i < p->cap; i++) {
                struct sc_view         name = i == 0 ? (struct sc_view){ "", 0 } : hello->functions[i - 1];
                struct sched_function *f    = sc_sched_function_take(s, name);
                if (!f) {
                        profile_drop(s, p, true);
                        return false;
                }
                profile_add(s, p, f);
        }
        return true;
}

static struct sc_id profile_key(const struct sc_sched *s, const struct profile *p)
{
        struct sc_id a = sc_sched_hash(s, (struct sc_view){ p->functions, p->len * sizeof *p->functions });
        struct sc_id b = sc_sched_hash(s, (struct sc_view){ p->offers, p->offer_count * sizeof *p->offers });
        return (struct sc_id){ a.hi ^ sc_id_hash(b), a.lo + b.hi };
}

static bool is_kind(const struct sched_kind *kind, const struct profile *p)
{
        return kind->function_count == p->len && kind->offer_count == p->offer_count &&
               memcmp(kind->functions, p->functions, p->len * sizeof *p->functions) == 0 &&
               memcmp(kind->offers, p->offers, p->offer_count * sizeof *p->offers) == 0;
}

static bool is_even(const struct sc_hello *hello, const struct profile *p)
{
        static const char cpu[8] = "cpu";
        uint64_t          name;
        memcpy(&name, cpu, sizeof name);
        for (uint32_t i = 0; i < p->offer_count; i++) {
                if (p->offers[i].name[0] == name && p->offers[i].name[1] == 0)
                        return p->offers[i].thousandths >= hello->slots * UINT64_C(1000);
        }
        return false;
}

static void sets_learn(const struct sc_sched *s, struct sched_kind *kind)
{
        for (uint32_t i = 0; i < s->sets.len; i++) {
                if (s->sets.at[i] && sc_sched_fulfils(s, kind, sc_sched_set(s, i)))
                        kind->sets[i / 64] |= UINT64_C(1) << i % 64;
        }
}

/* Takes the profile's functions over. */
static struct sched_kind *kind_new(struct sc_sched *s, struct sc_id key, const struct sc_hello *hello,
                                   const struct profile *p)
{
        if (!sc_sched_table_reserve(&s->kinds, s->mem) || !sc_map_reserve(&s->kind_map, s->kind_map.len + 1) ||
            !sc_heap_reserve(&s->roomy, s->kinds.len - s->kinds.free_len + 1u))
                return NULL;
        struct sched_kind *kind = sc_mem_zalloc(s->mem, kind_size(p->len, p->offer_count));
        if (!kind)
                return NULL;
        kind->key            = key;
        kind->function_count = p->len;
        kind->offer_count    = p->offer_count;
        kind->even           = is_even(hello, p);
        kind->offers         = (struct sched_amount *)(void *)(kind + 1);
        kind->functions      = (uint32_t *)(void *)(kind->offers + p->offer_count);
        kind->position       = SC_HEAP_NOWHERE;
        memcpy(kind->offers, p->offers, p->offer_count * sizeof *p->offers);
        memcpy(kind->functions, p->functions, p->len * sizeof *p->functions);
        sc_heap_init(&kind->roomy, s->mem, sc_sched_roomier, sc_sched_roomy_moved);
        sets_learn(s, kind);
        for (uint32_t i = 0; i < p->len && p->functions[i] < SCHED_BITS; i++)
                kind->known[p->functions[i] / 64] |= UINT64_C(1) << p->functions[i] % 64;
        kind->same = sc_map_remove(&s->kind_map, key);
        sc_map_put(&s->kind_map, key, kind);
        kind->self = sc_sched_table_put(&s->kinds, kind);
        return kind;
}

struct sched_kind *sc_sched_kind_take(struct sc_sched *s, const struct sc_hello *hello)
{
        struct profile profile;
        if (!profile_make(s, &profile, hello))
                return NULL;
        const struct sc_id key  = profile_key(s, &profile);
        struct sched_kind *kind = sc_map_get(&s->kind_map, key);
        while (kind && !(is_kind(kind, &profile) && kind->even == is_even(hello, &profile)))
                kind = kind->same;
        bool made = !kind;
        if (made)
                kind = kind_new(s, key, hello, &profile);
        profile_drop(s, &profile, !made || !kind);
        if (kind)
                kind->refs++;
        if (kind && !sc_heap_reserve(&kind->roomy, kind->refs)) {
                sc_sched_kind_drop(s, kind);
                return NULL;
        }
        return kind;
}

void sc_sched_kind_drop(struct sc_sched *s, struct sched_kind *kind)
{
        SC_ASSERT(kind->refs > 0);
        if (--kind->refs > 0)
                return;
        SC_ASSERT(kind->live == 0 && kind->roomy.len == 0 && kind->position == SC_HEAP_NOWHERE);
        struct sched_kind *first = sc_map_remove(&s->kind_map, kind->key);
        if (first != kind) {
                struct sched_kind *before = first;
                while (before->same != kind)
                        before = before->same;
                before->same = kind->same;
        } else {
                first = kind->same;
        }
        if (first)
                sc_map_put(&s->kind_map, kind->key, first);
        for (uint32_t i = 0; i < kind->function_count; i++)
                sc_sched_function_drop(s, s->functions.at[kind->functions[i]]);
        sc_sched_table_drop(&s->kinds, kind->self);
        sc_heap_fini(&kind->roomy);
        sc_mem_release(s->mem, kind, kind_size(kind->function_count, kind->offer_count));
}
