/*
 * An allocator for tests: it counts what is out, and can be told to refuse its Nth allocation.
 * Releasing with a wrong size, or something that was never given out, aborts the test.  One
 * thread at a time.
 *
 *     for (size_t n = 1;; n++) {
 *             fail_mem_init(&fm, n);
 *             bool done = try_it(&fm.mem);
 *             ck_assert_uint_eq(fail_mem_leaks(&fm), 0);
 *             if (!fail_mem_hit(&fm)) { ck_assert(done); break; }
 *     }
 */
#ifndef FAIL_MEM_H
#define FAIL_MEM_H

#include <stdbool.h>
#include <stddef.h>

#include "sc_mem.h"

struct fail_mem {
        struct sc_mem mem;     /* hand out &fail.mem */
        size_t        fail_at; /* 1: the first; 0: none */
        size_t        asked;   /* allocations and growing or moving resizes so far */
        size_t        blocks, bytes;
};

void   fail_mem_init(struct fail_mem *fail, size_t fail_at);
bool   fail_mem_hit(const struct fail_mem *fail);   /* the Nth was asked for, and refused */
size_t fail_mem_leaks(const struct fail_mem *fail); /* blocks still out; asserts that the budget agrees */

#endif
