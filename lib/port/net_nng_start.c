/*
 * nng's start, once per process.  The first use of nng starts all its threads, and it has no way back from
 * half of that: too little address space or too few threads end in a crash or in a process that hangs.  So
 * as many threads as it will want are started here before, alive at once and with some memory beside them,
 * and only when that went well is nng asked.  What somebody else takes in the moment between, nobody can see.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net_nng_impl.h"
#include "sc_assert.h"
#include "sc_status.h"

/* nng 1.5.2: tasks take two threads a CPU, timeouts one a CPU; names, polling, the clock and the reaper seven. */
enum { TASKS_MAX = 16, TIMEOUTS_MAX = 8, OTHERS = 7, SPARE = 2, MOST = TASKS_MAX + TIMEOUTS_MAX + OTHERS + SPARE };
enum { BESIDE = 8 << 20 }; /* bytes: nng's own structures, and malloc's rounding up */

struct probe {
        pthread_mutex_t lock;
        pthread_cond_t  done;
        bool            over;
        pthread_t       thread[MOST];
};

static pthread_mutex_t nng_lock = PTHREAD_MUTEX_INITIALIZER;
static bool            nng_started;

static long at_most(long wanted, long most)
{
        return wanted < most ? wanted : most;
}

static long threads_of_nng(void)
{
        const long known = sysconf(_SC_NPROCESSORS_ONLN);
        const long cpus  = known > 0 ? known : 1;
        return at_most(2 * cpus, TASKS_MAX) + at_most(cpus, TIMEOUTS_MAX) + OTHERS + SPARE;
}

static void *stay(void *ctx)
{
        struct probe *probe = ctx;
        pthread_mutex_lock(&probe->lock);
        while (!probe->over)
                pthread_cond_wait(&probe->done, &probe->lock);
        pthread_mutex_unlock(&probe->lock);
        return NULL;
}

static bool has_room_beside(void)
{
        void *room = mmap(NULL, BESIDE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED)
                return false;
        munmap(room, BESIDE);
        return true;
}

static bool has_what_nng_wants(void)
{
        struct probe probe  = { .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };
        const long   wanted = threads_of_nng();
        long         alive  = 0;
        sigset_t     all, before;
        sigfillset(&all); /* a signal is for the program's own threads */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        while (alive < wanted && pthread_create(&probe.thread[alive], NULL, stay, &probe) == 0)
                alive++;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        const bool enough = alive == wanted && has_room_beside();
        pthread_mutex_lock(&probe.lock);
        probe.over = true;
        pthread_cond_broadcast(&probe.done);
        pthread_mutex_unlock(&probe.lock);
        for (long i = 0; i < alive; i++)
                SC_ASSERT(pthread_join(probe.thread[i], NULL) == 0);
        pthread_cond_destroy(&probe.done);
        pthread_mutex_destroy(&probe.lock);
        return enough;
}

static int start(void)
{
        nng_aio *first;
        if (!has_what_nng_wants())
                return SC_E_IO;
        const int result = nng_aio_alloc(&first, NULL, NULL);
        if (result != 0)
                return result == NNG_ENOMEM ? SC_E_NOMEM : SC_E_IO;
        nng_aio_free(first);
        nng_started = true;
        return SC_OK;
}

int sc_nng_start(void)
{
        pthread_mutex_lock(&nng_lock);
        const int status = nng_started ? SC_OK : start();
        pthread_mutex_unlock(&nng_lock);
        return status;
}
