/* See ledger.h.  The library's own malloc, realloc and free come here, and so do those of the tests' objects. */
#include "ledger.h"

#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_realloc(void *ptr, size_t size);
void  __real_free(void *ptr);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void  __wrap_free(void *ptr);

static _Atomic long        asked, fail_at, blocks, bytes;
static _Atomic bool        all_later, every;
static _Thread_local bool  mine;

void ledger_arm(long at, enum ledger_how how, bool every_thread)
{
        atomic_store(&asked, 0);
        atomic_store(&fail_at, at);
        atomic_store(&all_later, how == LEDGER_FROM_THEN_ON);
        atomic_store(&every, every_thread);
        mine = true;
}

long ledger_disarm(void)
{
        mine = false;
        atomic_store(&every, false);
        return atomic_load(&asked);
}

long ledger_blocks(void)
{
        return atomic_load(&blocks);
}

long ledger_bytes(void)
{
        return atomic_load(&bytes);
}

static bool refused(void)
{
        if (!mine && !atomic_load(&every))
                return false;
        const long at = atomic_load(&fail_at), now = atomic_fetch_add(&asked, 1) + 1;
        return at > 0 && (now == at || (now > at && atomic_load(&all_later)));
}

static void *count(void *fresh, const void *old)
{
        atomic_fetch_add(&blocks, fresh && !old);
        return fresh;
}

/* ---- of the host's allocator ------------------------------------------------------------------------ */

static void *host_alloc(void *ctx, size_t size)
{
        (void)ctx;
        void *fresh = refused() ? NULL : count(__real_malloc(size), NULL);
        atomic_fetch_add(&bytes, fresh ? (long)size : 0);
        return fresh;
}

static void *host_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
        (void)ctx;
        void *fresh = refused() ? NULL : count(__real_realloc(ptr, new_size), ptr);
        atomic_fetch_add(&bytes, fresh ? (long)new_size - (long)old_size : 0);
        return fresh;
}

static void host_release(void *ctx, void *ptr, size_t size)
{
        (void)ctx;
        atomic_fetch_sub(&blocks, ptr != NULL);
        atomic_fetch_sub(&bytes, ptr ? (long)size : 0);
        __real_free(ptr);
}

scaler_allocator ledger_allocator(void)
{
        scaler_allocator a;
        scaler_init(&a, sizeof a);
        a.alloc   = host_alloc;
        a.resize  = host_resize;
        a.release = host_release;
        return a;
}

/* ---- of malloc ---------------------------------------------------------------------------------------- */

void *__wrap_malloc(size_t size)
{
        return refused() ? NULL : count(__real_malloc(size), NULL);
}

void *__wrap_realloc(void *ptr, size_t size)
{
        return refused() ? NULL : count(__real_realloc(ptr, size), ptr);
}

void __wrap_free(void *ptr)
{
        atomic_fetch_sub(&blocks, ptr != NULL);
        __real_free(ptr);
}
