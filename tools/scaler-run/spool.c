/*
 * spool: blocks grow in memory up to their full size; only whole file blocks are ever allocated, and a
 * file block is filled up before the next is taken.
 */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#define FIRST_ROOM 256

void spool_pool_init(struct spool_pool *pool, size_t memory_max)
{
        *pool = (struct spool_pool){ .memory_max = memory_max, .fd = -1 };
}

void spool_pool_fini(struct spool_pool *pool)
{
        if (pool->fd >= 0)
                close(pool->fd);
        free(pool->free_blocks);
}

static int open_file(struct spool_pool *pool)
{
        if (pool->fd >= 0)
                return 0;
        const char *folder = getenv("TMPDIR");
        struct text path   = { 0 };
        text_print(&path, "%s/scaler-run.XXXXXX", folder && *folder ? folder : "/tmp");
        pool->fd = mkostemp(path.data, O_CLOEXEC);
        if (pool->fd >= 0)
                unlink(path.data);
        text_free(&path);
        return pool->fd < 0 ? -1 : 0;
}

static uint32_t take_file_block(struct spool_pool *pool)
{
        return pool->free_count ? pool->free_blocks[--pool->free_count] : pool->file_blocks++;
}

static void free_file_block(struct spool_pool *pool, uint32_t number)
{
        if (pool->free_count == pool->free_room) {
                pool->free_room   = pool->free_room ? pool->free_room * 2 : 64;
                pool->free_blocks = memory_grow(pool->free_blocks, pool->free_room * sizeof *pool->free_blocks);
        }
        pool->free_blocks[pool->free_count++] = number;
}

static void give_back(struct spool_pool *pool, struct spool_block *block)
{
        if (block->data) {
                pool->memory_used -= block->room;
                free(block->data);
        } else {
                free_file_block(pool, block->number);
        }
}

static struct spool_block *add_block(struct spool *s)
{
        if (s->count == s->room) {
                s->room   = s->room ? s->room * 2 : 4;
                s->blocks = memory_grow(s->blocks, s->room * sizeof *s->blocks);
        }
        struct spool_block *block = &s->blocks[s->count++];
        *block                    = (struct spool_block){ 0 };
        return block;
}

static bool has_memory(const struct spool_pool *pool, size_t more)
{
        return pool->memory_used + more <= pool->memory_max;
}

/* Makes room for at least one more byte in a memory block; false: it is full, or memory is. */
static bool grow(struct spool_pool *pool, struct spool_block *block, size_t wanted)
{
        if (block->size < block->room)
                return true;
        if (block->room == SPOOL_BLOCK_BYTES)
                return false;
        uint32_t room = block->room ? block->room * 2 : FIRST_ROOM;
        while (room < block->size + wanted && room < SPOOL_BLOCK_BYTES)
                room *= 2;
        if (!has_memory(pool, room - block->room))
                return false;
        block->data = memory_grow(block->data, room);
        pool->memory_used += room - block->room;
        block->room = room;
        return true;
}

/* The last block when it can take a byte, else a new one; NULL and errno. */
static struct spool_block *writable_block(struct spool_pool *pool, struct spool *s, size_t wanted)
{
        struct spool_block *last = s->count > s->first ? &s->blocks[s->count - 1] : NULL;
        if (last && (last->data ? grow(pool, last, wanted) : last->size < last->room))
                return last;
        if (has_memory(pool, SPOOL_BLOCK_BYTES)) {
                last = add_block(s);
                grow(pool, last, wanted);
                return last;
        }
        if (open_file(pool) < 0)
                return NULL;
        last         = add_block(s);
        last->number = take_file_block(pool);
        last->room   = SPOOL_BLOCK_BYTES;
        return last;
}

static off_t place(const struct spool_block *block, size_t offset)
{
        return (off_t)block->number * SPOOL_BLOCK_BYTES + (off_t)offset;
}

static int write_block(struct spool_pool *pool, struct spool_block *block, const char *bytes, size_t size)
{
        size_t done = 0;
        while (done < size) {
                ssize_t put = pwrite(pool->fd, bytes + done, size - done, place(block, block->size + done));
                if (put < 0 && errno != EINTR)
                        return -1;
                done += put > 0 ? (size_t)put : 0;
        }
        return 0;
}

int spool_add(struct spool_pool *pool, struct spool *s, const void *bytes, size_t size)
{
        const char *at = bytes;
        while (size > 0) {
                struct spool_block *block = writable_block(pool, s, size);
                if (!block)
                        return -1;
                size_t part = block->room - block->size < size ? block->room - block->size : size;
                if (block->data)
                        memcpy(block->data + block->size, at, part);
                else if (write_block(pool, block, at, part) < 0)
                        return -1;
                block->size += (uint32_t)part;
                at += part;
                size -= part;
        }
        return 0;
}

int spool_peek(struct spool_pool *pool, const struct spool *s, const struct spool_cursor *at, const char **bytes_out)
{
        size_t block_at = at->block, offset = at->offset;
        if (block_at < s->count && offset == s->blocks[block_at].size && block_at + 1 < s->count) {
                block_at++;
                offset = 0;
        }
        if (block_at >= s->count)
                return 0;
        const struct spool_block *block = &s->blocks[block_at];
        size_t                    size  = block->size - offset;
        if (block->data) {
                *bytes_out = block->data + offset;
                return (int)size;
        }
        ssize_t got = pread(pool->fd, pool->scratch, size, place(block, offset));
        if (got < 0 || (got == 0 && size > 0)) {
                errno = got == 0 ? EIO : errno;
                return -1;
        }
        *bytes_out = pool->scratch;
        return (int)got;
}

void spool_pass(struct spool_pool *pool, struct spool *s, struct spool_cursor *at, size_t size, bool give_back_passed)
{
        while (at->block + 1 < s->count && at->offset + size >= s->blocks[at->block].size) {
                size -= s->blocks[at->block].size - at->offset;
                at->block++;
                at->offset = 0;
        }
        at->offset += size;
        while (give_back_passed && s->first < at->block)
                give_back(pool, &s->blocks[s->first++]);
}

void spool_clear(struct spool_pool *pool, struct spool *s)
{
        while (s->first < s->count)
                give_back(pool, &s->blocks[s->first++]);
        free(s->blocks);
        *s = (struct spool){ 0 };
}
