/*
 * Where memory comes from: an allocator handle with a byte budget, passed down, never global.
 * Threads: any.  `used` is exact, counts what callers asked for, and never passes `budget`.
 * Every function accepts size 0 (alloc gives NULL) and NULL pointers for release.
 */
#ifndef SC_MEM_H
#define SC_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct sc_mem {
        void *ctx;
        void *(*alloc)(void *ctx, size_t size);
        void *(*resize)(void *ctx, void *ptr, size_t old_size, size_t new_size);
        void (*release)(void *ctx, void *ptr, size_t size);
        size_t         budget; /* bytes; SIZE_MAX: none */
        _Atomic size_t used;
};

/* malloc, realloc and free, without a budget. */
void sc_mem_init_libc(struct sc_mem *mem);

/* NULL when the budget or the allocator says no.  Release with the size that was asked for. */
void *sc_mem_alloc(struct sc_mem *mem, size_t size);
void *sc_mem_zalloc(struct sc_mem *mem, size_t size);
void *sc_mem_resize(struct sc_mem *mem, void *ptr, size_t old_size, size_t new_size);
void  sc_mem_release(struct sc_mem *mem, void *ptr, size_t size);

/*
 * A budget is kept for what is under way: whoever asks for more is put off while SC_MEM_ASKED eighths of it are in use,
 * what was asked for begins while SC_MEM_BEGUN are not, and the rest is for what has begun and for links.  `more` bytes
 * are about to be taken.  False without a budget.
 */
enum { SC_MEM_ASKED = 6, SC_MEM_BEGUN = 7 };
bool sc_mem_beyond(const struct sc_mem *mem, unsigned eighths, size_t more);
/* Whether the budget has room for so many bytes just now. */
bool sc_mem_has(const struct sc_mem *mem, size_t size);

/* count * each, or NULL when that overflows. */
void *sc_mem_array(struct sc_mem *mem, size_t count, size_t each);

/* A terminated copy of `len` bytes; release with len + 1. */
char *sc_mem_text(struct sc_mem *mem, const char *text, size_t len);

#endif
