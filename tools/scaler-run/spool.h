/*
 * spool: outputs that wait for their turn.  A spool is a list of blocks; a pool keeps all blocks together
 * within SPOOL_MEMORY_MAX and puts the rest into one unlinked file in TMPDIR, whose blocks are used
 * again.  Reading goes by a cursor; what lies before a cursor may be given back early.
 */
#ifndef RUN_SPOOL_H
#define RUN_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_BLOCK_BYTES 65536
#define SPOOL_MEMORY_MAX  ((size_t)64 * 1024 * 1024)

struct spool_pool {
        size_t    memory_used;
        size_t    memory_max;
        int       fd; /* -1: nothing has been too much so far */
        uint32_t  file_blocks;
        uint32_t *free_blocks; /* of the file */
        size_t    free_count, free_room;
        char      scratch[SPOOL_BLOCK_BYTES];
};

struct spool_block {
        char    *data; /* NULL: in the file */
        uint32_t number;
        uint32_t size, room;
};

struct spool {
        struct spool_block *blocks;
        size_t              first, count, room; /* blocks before first are given back */
};

struct spool_cursor {
        size_t block;
        size_t offset;
};

void spool_pool_init(struct spool_pool *pool, size_t memory_max);
void spool_pool_fini(struct spool_pool *pool);

/* 0, or -1 and errno: the file cannot be made or is full. */
int spool_add(struct spool_pool *pool, struct spool *s, const void *bytes, size_t size);

/* Bytes at the cursor, 0: none there (yet), or -1 and errno.  Lent until the next call on the pool. */
int  spool_peek(struct spool_pool *pool, const struct spool *s, const struct spool_cursor *at, const char **bytes_out);
void spool_pass(struct spool_pool *pool, struct spool *s, struct spool_cursor *at, size_t size, bool give_back);

void spool_clear(struct spool_pool *pool, struct spool *s);

#endif
