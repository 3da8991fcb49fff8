/*
 * The allocator of tests.  Each block carries its size and a mark in front, so that a release is
 * checked against what was given; memory is filled with garbage both ways.
 */
#include "fail_mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sc_assert.h"

#define MARK UINT64_C(0x5ca1ab1e0ddba115)

struct block {
        _Alignas(max_align_t) uint64_t mark;
        size_t size;
};

static bool refuse(struct fail_mem *fail)
{
        return ++fail->asked == fail->fail_at;
}

static struct block *block_of(void *ptr, size_t size)
{
        struct block *block = (struct block *)ptr - 1;
        SC_ASSERT(block->mark == MARK);
        SC_ASSERT(block->size == size);
        return block;
}

static void *fail_alloc(void *ctx, size_t size)
{
        struct fail_mem *fail = ctx;
        SC_ASSERT(size > 0);
        struct block *block = refuse(fail) ? NULL : malloc(sizeof *block + size);
        if (!block)
                return NULL;
        block->mark = MARK;
        block->size = size;
        fail->blocks++;
        fail->bytes += size;
        return memset(block + 1, 0xa5, size);
}

static void fail_release(void *ctx, void *ptr, size_t size)
{
        struct fail_mem *fail  = ctx;
        struct block    *block = block_of(ptr, size);
        block->mark            = 0;
        memset(ptr, 0x5a, size);
        free(block);
        fail->blocks--;
        fail->bytes -= size;
}

/* Always moves, so that a pointer kept over a resize is found out. */
static void *fail_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
        void *fresh = fail_alloc(ctx, new_size);
        if (!fresh)
                return NULL;
        memcpy(fresh, ptr, old_size < new_size ? old_size : new_size);
        fail_release(ctx, ptr, old_size);
        return fresh;
}

void fail_mem_init(struct fail_mem *fail, size_t fail_at)
{
        memset(fail, 0, sizeof *fail);
        sc_mem_init_libc(&fail->mem);
        fail->mem.ctx     = fail;
        fail->mem.alloc   = fail_alloc;
        fail->mem.resize  = fail_resize;
        fail->mem.release = fail_release;
        fail->fail_at     = fail_at;
}

bool fail_mem_hit(const struct fail_mem *fail)
{
        return fail->fail_at > 0 && fail->asked >= fail->fail_at;
}

size_t fail_mem_leaks(const struct fail_mem *fail)
{
        SC_ASSERT(atomic_load(&fail->mem.used) == fail->bytes);
        return fail->blocks;
}
