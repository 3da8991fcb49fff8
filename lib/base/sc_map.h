/*
 * id -> pointer.  Open addressing with backward-shift deletion; grows by doubling at three
 * quarters full.  Room is reserved beforehand, so put never fails.  Iteration goes by slot:
 * with the same history the same order on every machine, but callers whose answers depend on
 * order keep a list of their own.
 */
#ifndef SC_MAP_H
#define SC_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "sc_id.h"

struct sc_mem;

struct sc_map_slot {
        struct sc_id key;
        void        *value; /* NULL: empty */
};

struct sc_map {
        struct sc_mem      *mem;
        struct sc_map_slot *slot;
        size_t              len, cap; /* cap: 0 or a power of two */
};

void  sc_map_init(struct sc_map *map, struct sc_mem *mem);
void  sc_map_fini(struct sc_map *map);
bool  sc_map_reserve(struct sc_map *map, size_t total);              /* room for `total` keys in all */
void  sc_map_put(struct sc_map *map, struct sc_id key, void *value); /* asserts room, a new key, value != NULL */
void *sc_map_get(const struct sc_map *map, struct sc_id key);        /* NULL: not there */
void *sc_map_remove(struct sc_map *map, struct sc_id key);           /* what was there, or NULL */
/* The next value at or after *cursor (start with 0), or NULL at the end.  No changes meanwhile. */
void *sc_map_each(const struct sc_map *map, size_t *cursor);

#endif
