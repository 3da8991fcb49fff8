/* The world of the spawner's tests: upcalls take notes under a lock, and waits have a deadline. */
#include "spawn_world.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE_S = 60 };

struct fail_mem    spawn_mem;
struct sc_loop    *spawn_loop;
struct sc_spawner *spawner;

static struct sc_mem   plain;
static int             descriptors_before;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  news = PTHREAD_COND_INITIALIZER;

/* ---- upcalls -------------------------------------------------------------------------------------- */

static void on_output(void *ctx, struct sc_child *child, uint8_t stream, const void *bytes, size_t len)
{
        struct run *run = ctx;
        ck_assert(stream == 1 || stream == 2);
        ck_assert(len >= 1 && len <= SC_OUTPUT_CHUNK);
        ck_assert_uint_eq(run->ends, 0);
        pthread_mutex_lock(&lock);
        run->bytes[stream - 1] += len;
        if (run->said[stream - 1].len + len <= KEEP_MAX)
                ck_assert(sc_buf_add(&run->said[stream - 1], bytes, len));
        run->chunks++;
        run->switches += run->last_stream != stream;
        run->last_stream = stream;
        const bool more  = !run->patient;
        pthread_cond_broadcast(&news);
        pthread_mutex_unlock(&lock);
        if (more)
                sc_child_read_more(child);
}

static void on_ended(void *ctx, struct sc_child *child, const struct sc_outcome *outcome)
{
        struct run *run = ctx;
        ck_assert_ptr_eq(run->child, child);
        ck_assert_uint_le(outcome->text.len, SC_TEXT_MAX);
        pthread_mutex_lock(&lock);
        void (*const then)(struct run *) = run->then; /* a run that is done may be gone with the lock */
        run->ends++;
        run->outcome = *outcome;
        memcpy(run->words, outcome->text.ptr, outcome->text.len);
        run->words[outcome->text.len] = '\0';
        run->child                    = NULL;
        run->done                     = true;
        pthread_cond_broadcast(&news);
        pthread_mutex_unlock(&lock);
        if (then)
                then(run);
}

static const struct sc_child_upcalls upcalls = { .output = on_output, .ended = on_ended };

/* ---- fixture -------------------------------------------------------------------------------------- */

int open_descriptors(void)
{
        int  count = 0;
        DIR *dir   = opendir("/proc/self/fd");
        ck_assert_ptr_nonnull(dir);
        while (readdir(dir))
                count++;
        closedir(dir);
        return count;
}

void world_start(void)
{
        sc_mem_init_libc(&plain);
        fail_mem_init(&spawn_mem, 0);
        descriptors_before = open_descriptors();
        ck_assert_int_eq(sc_loop_create(&(struct sc_loop_options){ .mem = &plain }, &spawn_loop), SC_OK);
        sc_loop_hold(spawn_loop);
        ck_assert_int_eq(sc_spawner_create(&spawn_mem.mem, spawn_loop, &upcalls, &spawner), SC_OK);
        sc_loop_release(spawn_loop);
}

void world_finish(void)
{
        sc_loop_hold(spawn_loop);
        sc_spawner_destroy(spawner);
        sc_loop_release(spawn_loop);
        sc_loop_destroy(spawn_loop);
        ck_assert_uint_eq(fail_mem_leaks(&spawn_mem), 0);
        ck_assert_int_eq(open_descriptors(), descriptors_before);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no zombie, no child at all */
        ck_assert_int_eq(errno, ECHILD);
}

/* ---- commands ------------------------------------------------------------------------------------- */

struct sc_view view(const char *text)
{
        return (struct sc_view){ .ptr = text, .len = strlen(text) };
}

struct sc_command command_of(struct sc_view argv[ARGS_MAX], const char *file, ...)
{
        uint32_t    argc = 0;
        va_list     list;
        const char *arg = file;
        va_start(list, file);
        for (; arg; arg = va_arg(list, const char *)) {
                ck_assert_uint_lt(argc, ARGS_MAX);
                argv[argc++] = view(arg);
        }
        va_end(list);
        return (struct sc_command){ .argv = argv, .argc = argc };
}

int start(struct run *run, const struct sc_command *command)
{
        for (int i = 0; i < 2; i++)
                sc_buf_init(&run->said[i], &plain, KEEP_MAX + 1);
        sc_loop_hold(spawn_loop);
        const int status = sc_child_start(spawner, command, run, &run->child);
        sc_loop_release(spawn_loop);
        return status;
}

void start_sh(struct run *run, const char *script)
{
        struct sc_view    argv[ARGS_MAX];
        struct sc_command command = command_of(argv, script, NULL);
        command.flags             = SC_COMMAND_SHELL;
        ck_assert_int_eq(start(run, &command), SC_OK);
}

/* Lock held. */
static void wait_news(const struct run *run)
{
        struct timespec deadline;
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_sec += PATIENCE_S;
        ck_assert_msg(pthread_cond_timedwait(&news, &lock, &deadline) == 0, "no news; chunks %u, said '%.*s' '%.*s'",
                      run->chunks, (int)run->said[0].len, (const char *)run->said[0].data, (int)run->said[1].len,
                      (const char *)run->said[1].data);
}

void wait_chunks(struct run *run, uint32_t chunks)
{
        pthread_mutex_lock(&lock);
        while (run->chunks < chunks)
                wait_news(run);
        pthread_mutex_unlock(&lock);
}

void wait_end(struct run *run)
{
        pthread_mutex_lock(&lock);
        while (!run->done)
                wait_news(run);
        ck_assert_uint_eq(run->ends, 1);
        pthread_mutex_unlock(&lock);
}

static void with_child(struct run *run, void (*act)(struct sc_child *child, int number), int number)
{
        sc_loop_hold(spawn_loop);
        if (run->child)
                act(run->child, number);
        sc_loop_release(spawn_loop);
}

static void act_read(struct sc_child *child, int number)
{
        (void)number;
        sc_child_read_more(child);
}

static void act_kill(struct sc_child *child, int number)
{
        (void)number;
        sc_child_kill(child);
}

void read_more(struct run *run)
{
        with_child(run, act_read, 0);
}

void send_signal(struct run *run, int signal)
{
        with_child(run, sc_child_signal, signal);
}

void kill_run(struct run *run)
{
        with_child(run, act_kill, 0);
}

void forget(struct run *run)
{
        for (int i = 0; i < 2; i++)
                sc_buf_fini(&run->said[i]);
}

void run_command(struct run *run, const struct sc_command *command)
{
        ck_assert_int_eq(start(run, command), SC_OK);
        wait_end(run);
}

void run_sh(struct run *run, const char *script)
{
        start_sh(run, script);
        wait_end(run);
}

const char *said(struct run *run, int stream)
{
        struct sc_buf *buf = &run->said[stream - 1];
        ck_assert(sc_buf_reserve(buf, 1));
        buf->data[buf->len] = '\0';
        return (const char *)buf->data;
}
