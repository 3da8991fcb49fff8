/*
 * A crew is all workers that know exactly the same functions and offer the same amounts, so who serves
 * what is worked out once for all of them: when the first one joins, or when a class comes to be.  Its
 * workers with room stand in a heap by load, and the crews with such workers in another one, by their
 * best.  There are as many crews as there are kinds of workers; a crew lives while a worker is in it.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

/* ---- room --------------------------------------------------------------------------------------*/

bool sc_sched_crew_roomier(const void *a, const void *b)
{
        const struct sched_crew *x = a, *y = b;
        return sc_sched_roomier(sc_sched_top(&x->roomy), sc_sched_top(&y->roomy));
}

void sc_sched_crew_moved(void *item, size_t position)
{
        ((struct sched_crew *)item)->position = position;
}

/* A crew is out of the heap of crews while it has nobody with room: its key is its best worker. */
void sc_sched_crew_changed(struct sc_sched *s, struct sched_crew *crew)
{
        if (crew->position == SC_HEAP_NOWHERE) {
                if (crew->roomy.len > 0)
                        sc_heap_push(&s->roomy, crew);
        } else {
                SC_ASSERT(crew->roomy.len > 0);
                sc_heap_fix(&s->roomy, crew->position);
        }
}

/* ---- who serves what ---------------------------------------------------------------------------*/

bool sc_sched_crew_knows(const struct sched_crew *crew, uint32_t function)
{
        uint32_t low = 0, high = crew->function_count;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                if (crew->functions[middle] < function)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < crew->function_count && crew->functions[low] == function;
}

bool sc_sched_crew_serves(const struct sched_crew *crew, const struct sched_class *c)
{
        return sc_sched_serves(crew, c->set->self, c->function->self);
}

void sc_sched_crew_live(struct sc_sched *s, struct sched_crew *crew, bool joins)
{
        crew->live += joins ? 1 : UINT32_MAX;
        if (crew->live != (joins ? 1 : 0))
                return;
        for (uint32_t i = 0; i < crew->function_count; i++) {
                const struct sched_function *f = s->functions.at[crew->functions[i]];
                for (struct sched_class *c = f->first; c; c = c->next) {
                        const uint32_t set = c->set->self;
                        if (crew->sets[set / 64] >> set % 64 & 1)
                                sc_sched_class_crew(s, c, joins);
                }
        }
}

/* ---- coming and going --------------------------------------------------------------------------*/

static size_t crew_size(uint32_t function_count, uint32_t offer_count)
{
        return sizeof(struct sched_crew) + offer_count * sizeof(struct sched_amount) +
               function_count * sizeof(uint32_t);
}

/* The functions of a hello as indices, ascending and each only once; on their way to a crew. */
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

static bool is_crew(const struct sched_crew *crew, const struct profile *p)
{
        return crew->function_count == p->len && crew->offer_count == p->offer_count &&
               memcmp(crew->functions, p->functions, p->len * sizeof *p->functions) == 0 &&
               memcmp(crew->offers, p->offers, p->offer_count * sizeof *p->offers) == 0;
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

static void sets_learn(const struct sc_sched *s, struct sched_crew *crew)
{
        for (uint32_t i = 0; i < s->sets.len; i++) {
                if (s->sets.at[i] && sc_sched_fulfils(s, crew, sc_sched_set(s, i)))
                        crew->sets[i / 64] |= UINT64_C(1) << i % 64;
        }
}

/* Takes the profile's functions over. */
static struct sched_crew *crew_new(struct sc_sched *s, struct sc_id key, const struct sc_hello *hello,
                                   const struct profile *p)
{
        if (!sc_sched_table_reserve(&s->crews, s->mem) || !sc_map_reserve(&s->crew_map, s->crew_map.len + 1) ||
            !sc_heap_reserve(&s->roomy, s->crews.len - s->crews.free_len + 1u))
                return NULL;
        struct sched_crew *crew = sc_mem_zalloc(s->mem, crew_size(p->len, p->offer_count));
        if (!crew)
                return NULL;
        crew->key            = key;
        crew->function_count = p->len;
        crew->offer_count    = p->offer_count;
        crew->even           = is_even(hello, p);
        crew->offers         = (struct sched_amount *)(void *)(crew + 1);
        crew->functions      = (uint32_t *)(void *)(crew->offers + p->offer_count);
        crew->position       = SC_HEAP_NOWHERE;
        memcpy(crew->offers, p->offers, p->offer_count * sizeof *p->offers);
        memcpy(crew->functions, p->functions, p->len * sizeof *p->functions);
        sc_heap_init(&crew->roomy, s->mem, sc_sched_roomier, sc_sched_roomy_moved);
        sets_learn(s, crew);
        for (uint32_t i = 0; i < p->len && p->functions[i] < SCHED_BITS; i++)
                crew->known[p->functions[i] / 64] |= UINT64_C(1) << p->functions[i] % 64;
        crew->same = sc_map_remove(&s->crew_map, key);
        sc_map_put(&s->crew_map, key, crew);
        crew->self = sc_sched_table_put(&s->crews, crew);
        return crew;
}

struct sched_crew *sc_sched_crew_take(struct sc_sched *s, const struct sc_hello *hello)
{
        struct profile profile;
        if (!profile_make(s, &profile, hello))
                return NULL;
        const struct sc_id key  = profile_key(s, &profile);
        struct sched_crew *crew = sc_map_get(&s->crew_map, key);
        while (crew && !(is_crew(crew, &profile) && crew->even == is_even(hello, &profile)))
                crew = crew->same;
        bool made = !crew;
        if (made)
                crew = crew_new(s, key, hello, &profile);
        profile_drop(s, &profile, !made || !crew);
        if (crew)
                crew->refs++;
        if (crew && !sc_heap_reserve(&crew->roomy, crew->refs)) {
                sc_sched_crew_drop(s, crew);
                return NULL;
        }
        return crew;
}

void sc_sched_crew_drop(struct sc_sched *s, struct sched_crew *crew)
{
        SC_ASSERT(crew->refs > 0);
        if (--crew->refs > 0)
                return;
        SC_ASSERT(crew->live == 0 && crew->roomy.len == 0 && crew->position == SC_HEAP_NOWHERE);
        struct sched_crew *first = sc_map_remove(&s->crew_map, crew->key);
        if (first != crew) {
                struct sched_crew *before = first;
                while (before->same != crew)
                        before = before->same;
                before->same = crew->same;
        } else {
                first = crew->same;
        }
        if (first)
                sc_map_put(&s->crew_map, crew->key, first);
        for (uint32_t i = 0; i < crew->function_count; i++)
                sc_sched_function_drop(s, s->functions.at[crew->functions[i]]);
        sc_sched_table_drop(&s->crews, crew->self);
        sc_heap_fini(&crew->roomy);
        sc_mem_release(s->mem, crew, crew_size(crew->function_count, crew->offer_count));
}
