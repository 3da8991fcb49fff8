/*
 * The spawner driven alone: two commands at a time, each started from the end of the one before, as a
 * worker with two slots does it.
 *
 *     bench_spawn [N [RESIDENT_MIB [COMMAND]]]      COMMAND: /bin/true; `true` is searched in the PATH
 *
 * RESIDENT_MIB of touched memory stand for a large host: what a start costs must not grow with it.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "bench_tools.h"
#include "loop.h"
#include "sc_mem.h"
#include "spawn_posix.h"

enum { LANES = 2 };

static struct sc_mem      mem;
static struct sc_loop    *loop;
static struct sc_spawner *spawner;
static struct sc_view     argv0;
static long               count, begun, ended; /* of the token */
static uint64_t           output;
static pthread_mutex_t    lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     all  = PTHREAD_COND_INITIALIZER;
static bool               over; /* lock */

static void start_one(void)
{
        struct sc_child        *child;
        const struct sc_command command = { .argv = &argv0, .argc = 1 };
        if (sc_child_start(spawner, &command, NULL, &child) != 0)
                bench_die("sc_child_start");
        begun++;
}

static void on_output(void *ctx, struct sc_child *child, uint8_t stream, const void *bytes, size_t len)
{
        (void)ctx;
        (void)stream;
        (void)bytes;
        output += len;
        sc_child_read_more(child);
}

static void on_ended(void *ctx, struct sc_child *child, const struct sc_outcome *outcome)
{
        (void)ctx;
        (void)child;
        if (outcome->reason != SC_REASON_SUCCESS) {
                fprintf(stderr, "bench_spawn: %.*s\n", (int)outcome->text.len, (const char *)outcome->text.ptr);
                exit(1);
        }
        ended++;
        if (begun < count)
                start_one();
        if (ended < count)
                return;
        pthread_mutex_lock(&lock);
        over = true;
        pthread_cond_signal(&all);
        pthread_mutex_unlock(&lock);
}

static void be_large(long mib)
{
        const size_t size = (size_t)mib << 20;
        char        *pages =
                size > 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
        if (pages == MAP_FAILED)
                bench_die("mmap");
        for (size_t at = 0; at < size; at += 4096)
                pages[at] = 1;
}

static void run_all(void)
{
        sc_loop_hold(loop);
        for (int i = 0; i < LANES && begun < count; i++)
                start_one();
        sc_loop_release(loop);
        pthread_mutex_lock(&lock);
        while (!over)
                pthread_cond_wait(&all, &lock);
        pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
        static const struct sc_child_upcalls upcalls = { .output = on_output, .ended = on_ended };
        count          = bench_number(argc, argv, 1, 2000, 1);
        const long mib = bench_number(argc, argv, 2, 0, 0);
        argv0.ptr      = argc > 3 ? argv[3] : "/bin/true";
        argv0.len      = strlen(argv0.ptr);
        be_large(mib);
        sc_mem_init_libc(&mem);
        if (sc_loop_create(&(struct sc_loop_options){ .mem = &mem }, &loop) != 0 ||
            sc_spawner_create(&mem, loop, &upcalls, &spawner) != 0)
                bench_die("create");
        const uint64_t begin = bench_now_ns();
        run_all();
        const double each_ns = (double)(bench_now_ns() - begin) / (double)count;
        sc_loop_hold(loop);
        sc_spawner_destroy(spawner);
        sc_loop_release(loop);
        sc_loop_destroy(loop);
        printf("bench_spawn n=%ld resident_mib=%ld rate=%.0f us_each=%.1f\n", count, mib, 1e9 / each_ns, each_ns / 1e3);
        return 0;
}
