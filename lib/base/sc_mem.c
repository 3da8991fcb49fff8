/*
 * The budget in front of an allocator.  Room is taken from the budget before the allocator is
 * asked and given back when it refuses, so `used` never passes `budget`, whichever threads ask.
 */
#include "sc_mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sc_assert.h"

static void *libc_alloc(void *ctx, size_t size)
{
        (void)ctx;
        return malloc(size);
}

static void *libc_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
        (void)ctx;
        (void)old_size;
        return realloc(ptr, new_size);
}

static void libc_release(void *ctx, void *ptr, size_t size)
{
        (void)ctx;
        (void)size;
        free(ptr);
}

void sc_mem_init_libc(struct sc_mem *mem)
{
        mem->ctx     = NULL;
        mem->alloc   = libc_alloc;
        mem->resize  = libc_resize;
        mem->release = libc_release;
        mem->budget  = SIZE_MAX;
        atomic_init(&mem->used, 0);
}

static bool take(struct sc_mem *mem, size_t size)
{
        size_t used = atomic_load_explicit(&mem->used, memory_order_relaxed);
        do {
                if (used > mem->budget || size > mem->budget - used)
                        return false;
        } while (!atomic_compare_exchange_weak_explicit(&mem->used, &used, used + size, memory_order_relaxed,
                                                        memory_order_relaxed));
        return true;
}

static void give_back(struct sc_mem *mem, size_t size)
{
        size_t used = atomic_fetch_sub_explicit(&mem->used, size, memory_order_relaxed);
        SC_ASSERT(used >= size);
}

void *sc_mem_alloc(struct sc_mem *mem, size_t size)
{
        if (size == 0 || !take(mem, size))
                return NULL;
        void *ptr = mem->alloc(mem->ctx, size);
        if (!ptr)
                give_back(mem, size);
        return ptr;
}

void *sc_mem_zalloc(struct sc_mem *mem, size_t size)
{
        void *ptr = sc_mem_alloc(mem, size);
        return ptr ? memset(ptr, 0, size) : NULL;
}

static void *grow(struct sc_mem *mem, void *ptr, size_t old_size, size_t new_size)
{
        if (!take(mem, new_size - old_size))
                return NULL;
        void *fresh = mem->resize(mem->ctx, ptr, old_size, new_size);
        if (!fresh)
                give_back(mem, new_size - old_size);
        return fresh;
}

static void *shrink(struct sc_mem *mem, void *ptr, size_t old_size, size_t new_size)
{
        void *fresh = mem->resize(mem->ctx, ptr, old_size, new_size);
        if (fresh)
                give_back(mem, old_size - new_size);
        return fresh;
}

void *sc_mem_resize(struct sc_mem *mem, void *ptr, size_t old_size, size_t new_size)
{
        if (!ptr) {
                SC_ASSERT(old_size == 0);
                return sc_mem_alloc(mem, new_size);
        }
        if (new_size == 0) {
                sc_mem_release(mem, ptr, old_size);
                return NULL;
        }
        return new_size > old_size ? grow(mem, ptr, old_size, new_size) : shrink(mem, ptr, old_size, new_size);
}

void sc_mem_release(struct sc_mem *mem, void *ptr, size_t size)
{
        if (!ptr)
                return;
        mem->release(mem->ctx, ptr, size);
        give_back(mem, size);
}

bool sc_mem_beyond(const struct sc_mem *mem, unsigned eighths, size_t more)
{
        if (mem->budget == SIZE_MAX)
                return false;
        const size_t most = mem->budget / 8 * eighths;
        const size_t used = atomic_load_explicit(&mem->used, memory_order_relaxed);
        return used > most || more > most - used;
}

bool sc_mem_has(const struct sc_mem *mem, size_t size)
{
        const size_t used = atomic_load_explicit(&mem->used, memory_order_relaxed);
        return used <= mem->budget && size <= mem->budget - used;
}

void *sc_mem_array(struct sc_mem *mem, size_t count, size_t each)
{
        if (each > 0 && count > SIZE_MAX / each)
                return NULL;
        return sc_mem_alloc(mem, count * each);
}

char *sc_mem_text(struct sc_mem *mem, const char *text, size_t len)
{
        char *copy = sc_mem_alloc(mem, len + 1); /* when that overflows: size 0, so NULL */
        if (!copy)
                return NULL;
        if (len > 0)
                memcpy(copy, text, len);
        copy[len] = '\0';
        return copy;
}
