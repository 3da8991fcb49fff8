/*
 * Growable bytes.  The capacity doubles until it would pass the maximum, and then is the maximum;
 * a failed growth leaves the buffer as it was.
 */
#include "sc_buf.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_mem.h"

#define CAP_MIN 64

void sc_buf_init(struct sc_buf *buf, struct sc_mem *mem, size_t max)
{
        *buf = (struct sc_buf){ .mem = mem, .max = max };
}

void sc_buf_fini(struct sc_buf *buf)
{
        if (buf->data)
                sc_mem_release(buf->mem, buf->data, buf->cap);
        *buf = (struct sc_buf){ .mem = NULL };
}

static size_t next_cap(const struct sc_buf *buf, size_t need)
{
        size_t cap = buf->cap <= buf->max / 2 ? buf->cap * 2 : buf->max;
        if (cap < CAP_MIN)
                cap = CAP_MIN;
        if (cap < need)
                cap = need;
        return cap < buf->max ? cap : buf->max;
}

bool sc_buf_reserve(struct sc_buf *buf, size_t more)
{
        if (more <= buf->cap - buf->len)
                return true;
        if (more > buf->max - buf->len)
                return false;
        size_t   cap  = next_cap(buf, buf->len + more);
        uint8_t *data = sc_mem_resize(buf->mem, buf->data, buf->cap, cap);
        if (!data)
                return false;
        buf->data = data;
        buf->cap  = cap;
        return true;
}

bool sc_buf_add(struct sc_buf *buf, const void *bytes, size_t len)
{
        if (!sc_buf_reserve(buf, len))
                return false;
        if (len > 0)
                memcpy(buf->data + buf->len, bytes, len);
        buf->len += len;
        return true;
}

void sc_buf_reset(struct sc_buf *buf)
{
        buf->len = 0;
}

void sc_buf_shrink(struct sc_buf *buf, size_t cap)
{
        if (buf->cap <= cap || buf->len > cap)
                return;
        uint8_t *data = sc_mem_resize(buf->mem, buf->data, buf->cap, cap);
        if (!data && cap > 0)
                return; /* the larger block stays good */
        buf->data = data;
        buf->cap  = cap;
}

void sc_buf_drop_front(struct sc_buf *buf, size_t n)
{
        SC_ASSERT(n <= buf->len);
        if (n == 0)
                return;
        buf->len -= n;
        memmove(buf->data, buf->data + n, buf->len);
}

void sc_buf_swap(struct sc_buf *a, struct sc_buf *b)
{
        struct sc_buf kept = *a;
        *a                 = *b;
        *b                 = kept;
}
