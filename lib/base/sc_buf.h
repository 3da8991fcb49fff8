/*
 * Growable bytes with a maximum named at init.  Appending either stores everything or changes
 * nothing.  `len` bytes of `data` are valid; capacity is kept over a reset.
 */
#ifndef SC_BUF_H
#define SC_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_mem;

struct sc_buf {
        struct sc_mem *mem;
        uint8_t       *data;
        size_t         len, cap, max;
};

void sc_buf_init(struct sc_buf *buf, struct sc_mem *mem, size_t max);
void sc_buf_fini(struct sc_buf *buf);                 /* accepts a zeroed or finished one */

/* Room for `more` bytes past len, without changing len; false: over max or out of memory. */
bool sc_buf_reserve(struct sc_buf *buf, size_t more);
bool sc_buf_add(struct sc_buf *buf, const void *bytes, size_t len);
void sc_buf_reset(struct sc_buf *buf);                /* len = 0, capacity kept */
void sc_buf_shrink(struct sc_buf *buf, size_t cap);   /* gives memory above cap back when len <= cap */
void sc_buf_drop_front(struct sc_buf *buf, size_t n); /* moves the rest to the front */
void sc_buf_swap(struct sc_buf *a, struct sc_buf *b);

#endif
