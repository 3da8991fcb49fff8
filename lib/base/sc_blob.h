/*
 * Immutable, counted bytes: the only object shared across threads.  A blob is created with
 * one reference and its bytes never change once a second reference exists.  NULL stands for
 * "no bytes" wherever a blob is optional: size 0, data "".
 */
#ifndef SC_BLOB_H
#define SC_BLOB_H

#include <stddef.h>
#include <stdint.h>

struct sc_mem;
struct sc_blob;

typedef void (*sc_blob_release_fn)(void *ctx, void *data, size_t size);

/* Uninitialised bytes to be filled before the blob is shared; NULL: no memory.  The blob keeps `mem`. */
struct sc_blob *sc_blob_alloc(struct sc_mem *mem, size_t size, void **data_out);
struct sc_blob *sc_blob_copy(struct sc_mem *mem, const void *data, size_t size);
/* Takes `data`; release(ctx, data, size) runs on whichever thread drops the last reference.  NULL
 * release: the bytes outlive the blob. */
struct sc_blob *sc_blob_wrap(struct sc_mem *mem, void *data, size_t size, sc_blob_release_fn release, void *ctx);

struct sc_blob *sc_blob_ref(struct sc_blob *blob); /* returns its argument */
void            sc_blob_unref(struct sc_blob *blob);
const void     *sc_blob_data(const struct sc_blob *blob);
size_t          sc_blob_size(const struct sc_blob *blob);
size_t          sc_blob_footprint(const struct sc_blob *blob); /* bytes with its header, for accounting */

#endif
