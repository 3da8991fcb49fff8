/*
 * A binary heap in an array: the children of position p are at 2p + 1 and 2p + 2.  An item is
 * lifted out, the others slide into the hole, and each item is told its place once it has one.
 */
#include "sc_heap.h"

#include <stdint.h>

#include "sc_assert.h"
#include "sc_mem.h"

#define CAP_MIN 16

void sc_heap_init(struct sc_heap *heap, struct sc_mem *mem, sc_heap_before_fn before, sc_heap_moved_fn moved)
{
        *heap = (struct sc_heap){ .mem = mem, .before = before, .moved = moved };
}

void sc_heap_fini(struct sc_heap *heap)
{
        if (heap->at)
                sc_mem_release(heap->mem, heap->at, heap->cap * sizeof *heap->at);
        *heap = (struct sc_heap){ .mem = NULL };
}

bool sc_heap_reserve(struct sc_heap *heap, size_t total)
{
        if (total <= heap->cap)
                return true;
        if (total > SIZE_MAX / 2 / sizeof *heap->at)
                return false;
        size_t cap = heap->cap * 2;
        if (cap < CAP_MIN)
                cap = CAP_MIN;
        if (cap < total)
                cap = total;
        void **at = sc_mem_resize(heap->mem, heap->at, heap->cap * sizeof *at, cap * sizeof *at);
        if (!at)
                return false;
        heap->at  = at;
        heap->cap = cap;
        return true;
}

static void place(struct sc_heap *heap, size_t position, void *item)
{
        heap->at[position] = item;
        heap->moved(item, position);
}

static void sift_up(struct sc_heap *heap, size_t hole, void *item)
{
        while (hole > 0) {
                size_t parent = (hole - 1) / 2;
                if (!heap->before(item, heap->at[parent]))
                        break;
                place(heap, hole, heap->at[parent]);
                hole = parent;
        }
        place(heap, hole, item);
}

static void sift_down(struct sc_heap *heap, size_t hole, void *item)
{
        for (;;) {
                size_t child = 2 * hole + 1;
                if (child >= heap->len)
                        break;
                if (child + 1 < heap->len && heap->before(heap->at[child + 1], heap->at[child]))
                        child++;
                if (!heap->before(heap->at[child], item))
                        break;
                place(heap, hole, heap->at[child]);
                hole = child;
        }
        place(heap, hole, item);
}

static void sift(struct sc_heap *heap, size_t hole, void *item)
{
        if (hole > 0 && heap->before(item, heap->at[(hole - 1) / 2]))
                sift_up(heap, hole, item);
        else
                sift_down(heap, hole, item);
}

void sc_heap_push(struct sc_heap *heap, void *item)
{
        SC_ASSERT(heap->len < heap->cap);
        sift_up(heap, heap->len++, item);
}

void *sc_heap_top(const struct sc_heap *heap)
{
        return heap->len > 0 ? heap->at[0] : NULL;
}

void *sc_heap_pop(struct sc_heap *heap)
{
        void *top = sc_heap_top(heap);
        if (top)
                sc_heap_remove(heap, 0);
        return top;
}

void sc_heap_remove(struct sc_heap *heap, size_t position)
{
        SC_ASSERT(position < heap->len);
        void *item = heap->at[position];
        void *last = heap->at[--heap->len];
        if (position < heap->len)
                sift(heap, position, last);
        heap->moved(item, SC_HEAP_NOWHERE);
}

void sc_heap_fix(struct sc_heap *heap, size_t position)
{
        SC_ASSERT(position < heap->len);
        sift(heap, position, heap->at[position]);
}
