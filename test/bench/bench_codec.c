/*
 * What one record of a hot kind costs, packed and unpacked, by the codec and by msgpack-c's packer and
 * objects.  Prints nanoseconds per record, the median of interleaved rounds, and the raw rounds with -v.
 */
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codec.h"
#include "fields.h"
#include "sc_buf.h"
#include "sc_mem.h"

enum { ROUNDS = 9, RECORDS = 1000, REPEATS = 100 };

static double now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct sc_view text(const char *words)
{
        return (struct sc_view){ words, strlen(words) };
}

static void fill(int kind, uint64_t n, struct sc_msg *m)
{
        const struct sc_id      task    = { UINT64_C(0x8123456789abcdef), n + 1 };
        const struct sc_spec    spec    = { .function = text("square"), .body = text("sixteen bytes ok") };
        const struct sc_outcome outcome = { .wall_us = 12 + n % 100, .user_us = 9, .result = text("8 bytes.") };
        *m                              = (struct sc_msg){ .kind = kind };
        switch (kind) {
        case SC_MSG_SUBMIT:
                m->submit = (struct sc_submit){ .task = task, .spec = spec };
                break;
        case SC_MSG_ASSIGN:
                m->assign = (struct sc_assign){ .task = task, .run = n + 70000, .attempt = 1, .spec = spec };
                break;
        case SC_MSG_STARTED:
                m->about = (struct sc_about_run){ .task = task, .run = n + 70000 };
                break;
        case SC_MSG_DONE:
                m->done = (struct sc_done){ .task = task, .run = n + 70000, .outcome = outcome };
                break;
        case SC_MSG_RESULT:
                m->result = (struct sc_result){ .task = task, .attempts = 1, .worker = task.hi, .outcome = outcome };
                break;
        default:
                m->output = (struct sc_output){
                        .task   = task,
                        .run    = n + 70000,
                        .stream = 1,
                        .offset = n * 64,
                        .bytes  = text("a line of output, sixty-four bytes long with what ends it here.")
                };
        }
}

static double pack_ours(struct sc_buf *buf, const struct sc_msg *msgs)
{
        const double from = now_ns();
        for (int r = 0; r < REPEATS; r++) {
                sc_buf_reset(buf);
                for (int i = 0; i < RECORDS; i++)
                        if (sc_codec_pack(buf, &msgs[i]) != 0)
                                abort();
        }
        return (now_ns() - from) / (REPEATS * RECORDS);
}

static double unpack_ours(const struct sc_buf *buf, struct sc_codec_arena *arena)
{
        const double from = now_ns();
        for (int r = 0; r < REPEATS; r++)
                for (size_t cursor = 0; cursor < buf->len;) {
                        struct sc_msg msg;
                        const char   *why;
                        if (sc_codec_unpack(buf->data, buf->len, &cursor, arena, &msg, &why) != 1)
                                abort();
                }
        return (now_ns() - from) / (REPEATS * RECORDS);
}

static void repack(msgpack_packer *pk, const msgpack_object *map, int kind)
{
        msgpack_pack_array(pk, 2);
        msgpack_pack_int(pk, kind);
        msgpack_pack_map(pk, map->via.map.size);
        for (uint32_t i = 0; i < map->via.map.size; i++) {
                msgpack_pack_object(pk, map->via.map.ptr[i].key);
                msgpack_pack_object(pk, map->via.map.ptr[i].val);
        }
}

static double pack_theirs(const struct sc_buf *buf, int kind)
{
        msgpack_sbuffer  out;
        msgpack_packer   pk;
        msgpack_unpacked got;
        size_t           offset = 0;
        msgpack_unpacked_init(&got);
        if (msgpack_unpack_next(&got, (const char *)buf->data, buf->len, &offset) != MSGPACK_UNPACK_SUCCESS)
                abort();
        msgpack_sbuffer_init(&out);
        msgpack_packer_init(&pk, &out, msgpack_sbuffer_write);
        const double from = now_ns();
        for (int r = 0; r < REPEATS; r++) {
                msgpack_sbuffer_clear(&out);
                for (int i = 0; i < RECORDS; i++)
                        repack(&pk, &got.data.via.array.ptr[1], kind);
        }
        const double spent = now_ns() - from;
        msgpack_sbuffer_destroy(&out);
        msgpack_unpacked_destroy(&got);
        return spent / (REPEATS * RECORDS);
}

static double unpack_theirs(const struct sc_buf *buf)
{
        msgpack_unpacked got;
        msgpack_unpacked_init(&got);
        const double from = now_ns();
        for (int r = 0; r < REPEATS; r++)
                for (size_t offset = 0; offset < buf->len;)
                        if (msgpack_unpack_next(&got, (const char *)buf->data, buf->len, &offset) !=
                            MSGPACK_UNPACK_SUCCESS)
                                abort();
        const double spent = now_ns() - from;
        msgpack_unpacked_destroy(&got);
        return spent / (REPEATS * RECORDS);
}

static int ascending(const void *a, const void *b)
{
        const double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

static double median(double *rounds, const char *what, bool verbose)
{
        if (verbose) {
                printf("  %-14s", what);
                for (int i = 0; i < ROUNDS; i++)
                        printf(" %6.1f", rounds[i]);
                printf("\n");
        }
        qsort(rounds, ROUNDS, sizeof(*rounds), ascending);
        return rounds[ROUNDS / 2];
}

static void measure(int kind, const char *name, struct sc_buf *buf, struct sc_codec_arena *arena, bool verbose)
{
        static struct sc_msg msgs[RECORDS];
        double               rounds[4][ROUNDS], middle[4];
        static const char   *what[4] = { "pack", "unpack", "msgpack pack", "msgpack unpack" };
        for (uint64_t i = 0; i < RECORDS; i++)
                fill(kind, i, &msgs[i]);
        for (int i = 0; i < ROUNDS; i++) {
                rounds[0][i] = pack_ours(buf, msgs);
                rounds[1][i] = unpack_ours(buf, arena);
                rounds[2][i] = pack_theirs(buf, kind);
                rounds[3][i] = unpack_theirs(buf);
        }
        for (int i = 0; i < 4; i++)
                middle[i] = median(rounds[i], what[i], verbose);
        printf("%-8s %5.1f bytes   pack %6.1f ns (msgpack-c %6.1f)   unpack %6.1f ns (msgpack-c %6.1f)\n", name,
               (double)buf->len / RECORDS, middle[0], middle[2], middle[1], middle[3]);
}

int main(int argc, char **argv)
{
        const bool            verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
        struct sc_mem         mem;
        struct sc_buf         buf;
        struct sc_codec_arena arena;
        sc_mem_init_libc(&mem);
        sc_buf_init(&buf, &mem, SC_FRAME_MAX);
        sc_codec_arena_init(&arena, &mem);
        measure(SC_MSG_SUBMIT, "SUBMIT", &buf, &arena, verbose);
        measure(SC_MSG_ASSIGN, "ASSIGN", &buf, &arena, verbose);
        measure(SC_MSG_STARTED, "STARTED", &buf, &arena, verbose);
        measure(SC_MSG_DONE, "DONE", &buf, &arena, verbose);
        measure(SC_MSG_RESULT, "RESULT", &buf, &arena, verbose);
        measure(SC_MSG_OUTPUT, "OUTPUT", &buf, &arena, verbose);
        sc_codec_arena_fini(&arena);
        sc_buf_fini(&buf);
        return 0;
}
