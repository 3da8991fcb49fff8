/*
 * A crew is all workers that offer exactly the same functions.  Its workers with room stand in a heap by
 * load, so who is least loaded among those that can run something is found without a look at those that
 * cannot.  There are as many crews as there are kinds of workers; a crew lives while a worker is in it.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

static struct sc_id key_of(const struct sc_sched *s, const uint32_t *classes, uint32_t count)
{
        uint64_t a = s->opt.seed ^ count, b = UINT64_C(0xcbf29ce484222325);
        for (uint32_t i = 0; i < count; i++) {
                a = (a ^ classes[i]) * UINT64_C(0x9e3779b97f4a7c15);
                a ^= a >> 29;
                b = (b ^ classes[i]) * UINT64_C(0x100000001b3);
        }
        return (struct sc_id){ a, b };
}

static bool offers(const struct sched_crew *crew, const uint32_t *classes, uint32_t count)
{
        return crew->class_count == count && memcmp(crew->classes, classes, count * sizeof *classes) == 0;
}

static void place_moved(void *item, size_t position)
{
        ((struct sched_worker *)item)->crew_position = position;
}

static size_t footprint(uint32_t count)
{
        return sizeof(struct sched_crew) + count * sizeof(uint32_t);
}

static struct sched_crew *crew_new(struct sc_sched *s, struct sc_id key, const uint32_t *classes, uint32_t count)
{
        if (!sc_map_reserve(&s->crew_map, s->crew_map.len + 1))
                return NULL;
        struct sched_crew *crew = sc_mem_zalloc(s->mem, footprint(count));
        if (!crew)
                return NULL;
        crew->key         = key;
        crew->class_count = count;
        memcpy(crew->classes, classes, count * sizeof *classes);
        sc_list_init(&crew->open);
        sc_heap_init(&crew->roomy, s->mem, sc_sched_roomier, place_moved);
        crew->same = sc_map_remove(&s->crew_map, key);
        sc_map_put(&s->crew_map, key, crew);
        return crew;
}

static void crew_free(struct sc_sched *s, struct sched_crew *crew)
{
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
        sc_heap_fini(&crew->roomy);
        sc_mem_release(s->mem, crew, footprint(crew->class_count));
}

struct sched_crew *sc_sched_crew_take(struct sc_sched *s, const uint32_t *classes, uint32_t count)
{
        const struct sc_id key  = key_of(s, classes, count);
        struct sched_crew *crew = sc_map_get(&s->crew_map, key);
        while (crew && !offers(crew, classes, count))
                crew = crew->same;
        if (!crew)
                crew = crew_new(s, key, classes, count);
        if (!crew)
                return NULL;
        const bool room = sc_heap_reserve(&crew->roomy, crew->members + 1u);
        if (room)
                crew->members++;
        else if (crew->members == 0)
                crew_free(s, crew);
        return room ? crew : NULL;
}

void sc_sched_crew_drop(struct sc_sched *s, struct sched_crew *crew)
{
        SC_ASSERT(crew->members > 0);
        if (--crew->members > 0)
                return;
        SC_ASSERT(crew->roomy.len == 0);
        crew_free(s, crew);
}

void sc_sched_crew_enter(struct sc_sched *s, struct sched_worker *w)
{
        struct sched_crew *crew = w->crew;
        if (crew->roomy.len == 0)
                sc_list_add_tail(&s->open_crews, &crew->open);
        sc_heap_push(&crew->roomy, w);
}

void sc_sched_crew_leave(struct sched_worker *w)
{
        sc_heap_remove(&w->crew->roomy, w->crew_position);
        if (w->crew->roomy.len == 0)
                sc_list_remove(&w->crew->open);
}

static bool serves(const struct sched_crew *crew, uint32_t class_index)
{
        uint32_t low = 0, high = crew->class_count;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                if (crew->classes[middle] < class_index)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < crew->class_count && crew->classes[low] == class_index;
}

bool sc_sched_serves(const struct sched_worker *w, uint32_t class_index)
{
        return serves(w->crew, class_index);
}

struct sched_worker *sc_sched_least_loaded(const struct sc_sched *s, const struct sched_class *c)
{
        struct sched_worker *best = NULL;
        for (struct sc_list *at = s->open_crews.next; at != &s->open_crews; at = at->next) {
                struct sched_crew   *crew  = SC_CONTAINER(at, struct sched_crew, open);
                struct sched_worker *first = sc_heap_top(&crew->roomy);
                if ((!best || sc_sched_roomier(first, best)) && serves(crew, c->self))
                        best = first;
        }
        return best;
}
