/*
 * Immutable, counted bytes.  Bytes that the blob owns lie behind its header in the same allocation;
 * wrapped bytes lie elsewhere.  Whoever drops the last reference sees everything that every other
 * holder did before letting go.
 */
#include "sc_blob.h"

#include <stdatomic.h>
#include <string.h>

#include "sc_assert.h"
#include "sc_mem.h"

struct sc_blob {
        struct sc_mem     *mem;
        void              *data;
        size_t             size;
        sc_blob_release_fn release;
        void              *release_ctx;
        _Atomic size_t     refs;
        _Alignas(max_align_t) unsigned char own[];
};

static struct sc_blob *new_blob(struct sc_mem *mem, size_t own_size)
{
        if (own_size > SIZE_MAX - sizeof(struct sc_blob))
                return NULL;
        struct sc_blob *blob = sc_mem_alloc(mem, sizeof *blob + own_size);
        if (!blob)
                return NULL;
        blob->mem         = mem;
        blob->data        = blob->own;
        blob->size        = own_size;
        blob->release     = NULL;
        blob->release_ctx = NULL;
        atomic_init(&blob->refs, 1);
        return blob;
}

struct sc_blob *sc_blob_alloc(struct sc_mem *mem, size_t size, void **data_out)
{
        struct sc_blob *blob = new_blob(mem, size);
        if (blob)
                *data_out = blob->own;
        return blob;
}

struct sc_blob *sc_blob_copy(struct sc_mem *mem, const void *data, size_t size)
{
        struct sc_blob *blob = new_blob(mem, size);
        if (blob && size > 0)
                memcpy(blob->own, data, size);
        return blob;
}

struct sc_blob *sc_blob_wrap(struct sc_mem *mem, void *data, size_t size, sc_blob_release_fn release, void *ctx)
{
        struct sc_blob *blob = new_blob(mem, 0);
        if (!blob)
                return NULL;
        blob->data        = data;
        blob->size        = size;
        blob->release     = release;
        blob->release_ctx = ctx;
        return blob;
}

struct sc_blob *sc_blob_ref(struct sc_blob *blob)
{
        if (blob) {
                size_t refs = atomic_fetch_add_explicit(&blob->refs, 1, memory_order_relaxed);
                SC_ASSERT(refs > 0);
        }
        return blob;
}

static void destroy(struct sc_blob *blob)
{
        size_t own_size = blob->data == blob->own ? blob->size : 0;
        if (blob->release)
                blob->release(blob->release_ctx, blob->data, blob->size);
        sc_mem_release(blob->mem, blob, sizeof *blob + own_size);
}

void sc_blob_unref(struct sc_blob *blob)
{
        if (!blob)
                return;
        size_t refs = atomic_fetch_sub_explicit(&blob->refs, 1, memory_order_acq_rel);
        SC_ASSERT(refs > 0);
        if (refs == 1)
                destroy(blob);
}

const void *sc_blob_data(const struct sc_blob *blob)
{
        return blob ? blob->data : "";
}

size_t sc_blob_size(const struct sc_blob *blob)
{
        return blob ? blob->size : 0;
}

size_t sc_blob_footprint(const struct sc_blob *blob)
{
        return blob ? sizeof *blob + blob->size : 0;
}
