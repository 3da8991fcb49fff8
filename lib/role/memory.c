/*
 * The one allocator that belongs to no runtime: malloc and free.  It backs private runtimes and blobs
 * made without one, which may outlive every role.  Its byte count is a statistic, never a decision,
 * and is the only mutable thing in the library that no object owns.
 */
#include <stdlib.h>

#include "runtime.h"

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

struct sc_mem *sc_libc_mem(void)
{
        static struct sc_mem mem = {
                .alloc = libc_alloc, .resize = libc_resize, .release = libc_release, .budget = SIZE_MAX
        };
        return &mem;
}
