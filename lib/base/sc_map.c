/*
 * id -> pointer by open addressing with linear probing.  No key stands behind an empty slot of its
 * own probe path: removal shifts the followers back instead of leaving a mark, so lookups stay
 * short however long the map lives.
 */
#include "sc_map.h"

#include <stdint.h>

#include "sc_assert.h"
#include "sc_mem.h"

#define CAP_MIN 16

void sc_map_init(struct sc_map *map, struct sc_mem *mem)
{
        *map = (struct sc_map){ .mem = mem };
}

void sc_map_fini(struct sc_map *map)
{
        if (map->slot)
                sc_mem_release(map->mem, map->slot, map->cap * sizeof *map->slot);
        *map = (struct sc_map){ .mem = NULL };
}

static size_t room(size_t cap)
{
        return cap - cap / 4;
}

static size_t home(const struct sc_map *map, struct sc_id key)
{
        return (size_t)sc_id_hash(key) & (map->cap - 1);
}

static size_t next(const struct sc_map *map, size_t at)
{
        return (at + 1) & (map->cap - 1);
}

/* Where the key is, or the empty slot where it would go.  Needs cap > 0. */
static size_t find(const struct sc_map *map, struct sc_id key)
{
        size_t at = home(map, key);
        while (map->slot[at].value && !sc_id_equal(map->slot[at].key, key))
                at = next(map, at);
        return at;
}

static bool grow(struct sc_map *map, size_t cap)
{
        struct sc_map fresh = { .mem = map->mem, .len = map->len, .cap = cap };
        fresh.slot          = sc_mem_zalloc(map->mem, cap * sizeof *fresh.slot);
        if (!fresh.slot)
                return false;
        for (size_t i = 0; i < map->cap; i++) {
                if (map->slot[i].value)
                        fresh.slot[find(&fresh, map->slot[i].key)] = map->slot[i];
        }
        sc_map_fini(map);
        *map = fresh;
        return true;
}

bool sc_map_reserve(struct sc_map *map, size_t total)
{
        if (total <= room(map->cap))
                return true;
        if (total > SIZE_MAX / 4 / sizeof *map->slot)
                return false;
        size_t cap = map->cap > 0 ? map->cap : CAP_MIN;
        while (room(cap) < total)
                cap *= 2;
        return grow(map, cap);
}

void sc_map_put(struct sc_map *map, struct sc_id key, void *value)
{
        SC_ASSERT(value != NULL);
        SC_ASSERT(map->len < room(map->cap));
        struct sc_map_slot *slot = &map->slot[find(map, key)];
        SC_ASSERT(slot->value == NULL);
        slot->key   = key;
        slot->value = value;
        map->len++;
}

void *sc_map_get(const struct sc_map *map, struct sc_id key)
{
        return map->cap > 0 ? map->slot[find(map, key)].value : NULL;
}

/* Fills the hole with the next follower that may stand there, and so on until the run ends.  A
 * follower may move to the hole unless its home lies behind the hole, up to where it stands. */
static void close_hole(struct sc_map *map, size_t hole)
{
        size_t mask = map->cap - 1;
        for (size_t at = next(map, hole); map->slot[at].value; at = next(map, at)) {
                size_t from_home = (at - home(map, map->slot[at].key)) & mask;
                size_t from_hole = (at - hole) & mask;
                if (from_home < from_hole)
                        continue;
                map->slot[hole] = map->slot[at];
                hole            = at;
        }
        map->slot[hole].value = NULL;
}

void *sc_map_remove(struct sc_map *map, struct sc_id key)
{
        if (map->cap == 0)
                return NULL;
        size_t at    = find(map, key);
        void  *value = map->slot[at].value;
        if (!value)
                return NULL;
        close_hole(map, at);
        map->len--;
        return value;
}

void *sc_map_each(const struct sc_map *map, size_t *cursor)
{
        while (*cursor < map->cap) {
                void *value = map->slot[(*cursor)++].value;
                if (value)
                        return value;
        }
        return NULL;
}
