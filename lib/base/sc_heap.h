/*
 * A binary heap of pointers that tells each item where it stands, so that any item can be
 * removed.  Room is reserved beforehand; push never fails.
 */
#ifndef SC_HEAP_H
#define SC_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct sc_mem;

#define SC_HEAP_NOWHERE ((size_t)-1)

typedef bool (*sc_heap_before_fn)(const void *a, const void *b);   /* a strictly before b */
typedef void (*sc_heap_moved_fn)(void *item, size_t position);     /* SC_HEAP_NOWHERE: taken out */

struct sc_heap {
        struct sc_mem    *mem;
        sc_heap_before_fn before;
        sc_heap_moved_fn  moved;
        void            **at;
        size_t            len, cap;
};

void  sc_heap_init(struct sc_heap *heap, struct sc_mem *mem, sc_heap_before_fn before, sc_heap_moved_fn moved);
void  sc_heap_fini(struct sc_heap *heap);
bool  sc_heap_reserve(struct sc_heap *heap, size_t total); /* room for `total` items in all */
void  sc_heap_push(struct sc_heap *heap, void *item);      /* asserts that there is room */
void *sc_heap_top(const struct sc_heap *heap);             /* NULL when empty */
void *sc_heap_pop(struct sc_heap *heap);                   /* NULL when empty */
void  sc_heap_remove(struct sc_heap *heap, size_t position);
void  sc_heap_fix(struct sc_heap *heap, size_t position);  /* after the item's key changed */

#endif
