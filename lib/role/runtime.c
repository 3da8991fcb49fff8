/*
 * The runtime as an object: its memory, its log, its loop.  Roles take it and give it back; those
 * without one make a private one with defaults.
 */
#include "runtime.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "sc_assert.h"

enum { SIZED_MAX = 65536 }; /* no struct of ours will be larger: a bigger size is an uninitialised one */

int sc_error_set(scaler_error *err, int status, const char *format, ...)
{
        if (!err)
                return status;
        err->status = status;
        va_list args;
        va_start(args, format);
        int written = vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        if (written <= 0)
                snprintf(err->text, sizeof err->text, "%s", sc_status_text(status));
        return status;
}

int sc_refuse_forked(scaler_error *err)
{
        return sc_error_set(err, SC_E_STATE, "this is a forked child of a process with a runtime: only exec is left");
}

void sc_log(struct scaler_runtime *rt, int level, const char *role, const char *format, ...)
{
        if (!rt->log || level > atomic_load_explicit(&rt->log_level, memory_order_relaxed))
                return;
        int     saved = errno;
        char    line[512];
        va_list args;
        va_start(args, format);
        vsnprintf(line, sizeof line, format, args);
        va_end(args);
        for (char *at = line; *at; at++) /* names and texts are other people's bytes */
                if ((unsigned char)*at < ' ' || *at == 0x7f)
                        *at = '?';
        const scaler_log_record record = {
                .size = sizeof record, .level = level, .time_ms = sc_clock_wall() / SC_MS, .role = role, .line = line
        };
        const struct sc_loop *before = sc_loop_swap_callback(rt->loop);
        rt->log(rt->log_ctx, &record);
        sc_loop_swap_callback(before);
        errno = saved;
}

bool sc_sized_in(void *ours, size_t our_size, const void *theirs)
{
        size_t size;
        memcpy(&size, theirs, sizeof size);
        if (size < sizeof size || size > SIZED_MAX)
                return false;
        memset(ours, 0, our_size);
        memcpy(ours, theirs, size < our_size ? size : our_size);
        return true;
}

bool sc_sized_out(void *theirs, const void *ours, size_t our_size)
{
        size_t size;
        memcpy(&size, theirs, sizeof size);
        if (size < sizeof size || size > SIZED_MAX)
                return false;
        const size_t end = size < our_size ? size : our_size;
        memcpy((char *)theirs + sizeof size, (const char *)ours + sizeof size, end - sizeof size);
        return true;
}

sc_ns sc_until(int64_t timeout_ms)
{
        return timeout_ms < 0 ? SC_NEVER : sc_ns_add(sc_clock_now(), sc_ns_from_ms(timeout_ms));
}

uint64_t sc_random_id(void)
{
        uint64_t id = 0;
        while (id == 0)
                sc_random_bytes(&id, sizeof id);
        return id;
}

static int check_options(const scaler_runtime_options *o, scaler_error *err)
{
        if (o->log_level < SCALER_LOG_DEFAULT || o->log_level > SCALER_LOG_DEBUG)
                return sc_error_set(err, SC_E_INVALID, "runtime: log_level %d is not one", (int)o->log_level);
        if (o->memory_max < 0)
                return sc_error_set(err, SC_E_INVALID, "runtime: memory_max %lld is negative",
                                    (long long)o->memory_max);
        if (!o->allocator)
                return 0;
        scaler_allocator a;
        if (!sc_sized_in(&a, sizeof a, o->allocator) || !a.alloc || !a.resize || !a.release)
                return sc_error_set(err, SC_E_INVALID, "runtime: the allocator lacks its size or a function");
        return 0;
}

static void choose_memory(struct scaler_runtime *rt, const scaler_runtime_options *o)
{
        if (!o->allocator && o->memory_max == 0) {
                rt->mem = sc_libc_mem();
                return;
        }
        sc_mem_init_libc(&rt->own);
        if (o->allocator) {
                scaler_allocator a;
                sc_sized_in(&a, sizeof a, o->allocator);
                rt->own.ctx     = a.ctx;
                rt->own.alloc   = a.alloc;
                rt->own.resize  = a.resize;
                rt->own.release = a.release;
        }
        rt->own.budget = o->memory_max > 0 ? (size_t)o->memory_max : SIZE_MAX;
        rt->mem        = &rt->own;
}

int scaler_runtime_create(const scaler_runtime_options *options, scaler_runtime **out, scaler_error *err)
{
        scaler_runtime_options o;
        scaler_init(&o, sizeof o);
        if (!out || (options && !sc_sized_in(&o, sizeof o, options)))
                return sc_error_set(err, SC_E_INVALID, "runtime: no out pointer, or options without their size");
        int status = check_options(&o, err);
        if (status)
                return status;
        if (sc_forked())
                return sc_refuse_forked(err);
        sc_fork_watch();
        /* The handle itself comes from malloc: the allocator handle lives inside it. */
        struct scaler_runtime *rt = sc_mem_zalloc(sc_libc_mem(), sizeof *rt);
        if (!rt)
                return sc_error_set(err, SC_E_NOMEM, "runtime: out of memory");
        choose_memory(rt, &o);
        rt->log     = o.log;
        rt->log_ctx = o.log_ctx;
        atomic_init(&rt->log_level, o.log_level == SCALER_LOG_DEFAULT ? SCALER_LOG_INFO : o.log_level);
        atomic_init(&rt->users, 0);
        const struct sc_loop_options loop = { .mem = rt->mem, .host_driven = o.host_driven };
        status                            = sc_loop_create(&loop, &rt->loop);
        if (status) {
                sc_mem_release(sc_libc_mem(), rt, sizeof *rt);
                return sc_error_set(err, status, "runtime: %s", sc_status_text(status));
        }
        *out = rt;
        return 0;
}

void scaler_runtime_destroy(scaler_runtime *rt)
{
        if (!rt || sc_forked())
                return;
        SC_ASSERT(atomic_load(&rt->users) == 0); /* a role or queue still lives on it */
        sc_loop_destroy(rt->loop);
        sc_mem_release(sc_libc_mem(), rt, sizeof *rt);
}

int scaler_runtime_turn(scaler_runtime *rt, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!rt)
                return SC_E_INVALID;
        if (!sc_loop_host_driven(rt->loop) || sc_loop_in_callback(rt->loop))
                return SC_E_STATE;
        return sc_loop_turn(rt->loop, sc_ns_from_ms(timeout_ms));
}

int scaler_runtime_fd(scaler_runtime *rt)
{
        if (!rt)
                return SC_E_INVALID;
        return sc_loop_host_driven(rt->loop) ? sc_loop_fd(rt->loop) : SC_E_STATE;
}

void scaler_runtime_wake(scaler_runtime *rt)
{
        if (rt && !sc_forked())
                sc_loop_wake(rt->loop);
}

void scaler_runtime_set_log_level(scaler_runtime *rt, int32_t level)
{
        if (rt && level >= SCALER_LOG_DEFAULT && level <= SCALER_LOG_DEBUG)
                atomic_store(&rt->log_level, level == SCALER_LOG_DEFAULT ? SCALER_LOG_INFO : level);
}

int sc_runtime_take(struct scaler_runtime *given, struct scaler_runtime **out, bool *owned, scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        *owned = given == NULL;
        if (given) {
                *out = given;
        } else {
                int status = scaler_runtime_create(NULL, out, err);
                if (status)
                        return status;
        }
        atomic_fetch_add(&(*out)->users, 1);
        return 0;
}

void sc_runtime_give_back(struct scaler_runtime *rt, bool owned)
{
        if (!rt)
                return;
        atomic_fetch_sub(&rt->users, 1);
        if (owned)
                scaler_runtime_destroy(rt);
}

bool sc_batch_wait(struct sc_batch *batch, bool busy, sc_ns now)
{
        const bool wait = busy && !batch->urgent && batch->records > 0 && batch->records < SC_BATCH_RECORDS &&
                          now < batch->flushed + SC_BATCH_WAIT;
        if (wait)
                batch->until = batch->flushed + SC_BATCH_WAIT;
        else
                *batch = (struct sc_batch){ .flushed = now, .until = SC_NEVER };
        return wait;
}
