/*
 * One queue, one lock, and threads that are started when a job finds nobody free to take it.
 * Every queued job has a claim on a thread, as far as there are threads: either one that was
 * woken for it, or one that has just returned from a job and looks at the queue before it sleeps.
 */
#include "run_threads.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "fork.h"
#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

struct sc_slots {
        struct sc_mem  *mem;
        struct sc_loop *loop;
        size_t          stack;
        uint32_t        threads_max;

        pthread_mutex_t lock;
        pthread_cond_t  wake;
        struct sc_list  queue;
        size_t          queued;
        uint32_t        threads;   /* started, the first so many of `thread` */
        uint32_t        sleeping;  /* waiting for `wake`, `wakes` of them already called */
        uint32_t        wakes;
        uint32_t        returning; /* will look at the queue before they sleep: done with a job, or just started */
        bool            quit;
        pthread_t       thread[];
};

static size_t footprint(uint32_t threads)
{
        return sizeof(struct sc_slots) + threads * sizeof(pthread_t);
}

int sc_slots_create(struct sc_mem *mem, struct sc_loop *loop, uint32_t threads, size_t stack, struct sc_slots **out)
{
        if (threads == 0)
                return SC_E_INVALID;
        struct sc_slots *slots = sc_mem_zalloc(mem, footprint(threads));
        if (!slots)
                return SC_E_NOMEM;
        slots->mem         = mem;
        slots->loop        = loop;
        slots->stack       = stack;
        slots->threads_max = threads;
        sc_list_init(&slots->queue);
        SC_ASSERT(pthread_mutex_init(&slots->lock, NULL) == 0);
        SC_ASSERT(pthread_cond_init(&slots->wake, NULL) == 0);
        *out = slots;
        return SC_OK;
}

/* Lock held.  The next job; sleeps until there is one.  NULL: the pool is closing. */
static struct sc_job *next_job(struct sc_slots *slots)
{
        slots->returning--;
        while (!slots->quit && slots->queued == 0) {
                slots->sleeping++;
                while (!slots->quit && slots->wakes == 0)
                        pthread_cond_wait(&slots->wake, &slots->lock);
                slots->sleeping--;
                if (slots->wakes > 0)
                        slots->wakes--;
        }
        if (slots->quit)
                return NULL;
        slots->queued--;
        return SC_CONTAINER(sc_list_take(&slots->queue), struct sc_job, link);
}

static void *serve(void *arg)
{
        struct sc_slots *slots = arg;
        pthread_mutex_lock(&slots->lock);
        for (struct sc_job *job; (job = next_job(slots)) != NULL;) {
                pthread_mutex_unlock(&slots->lock);
                job->work(job);
                if (sc_forked())
                        return NULL; /* the job forked, and this is the child, with no other thread */
                pthread_mutex_lock(&slots->lock);
                slots->returning++;
                pthread_mutex_unlock(&slots->lock);
                sc_loop_post_and_turn(slots->loop, &job->post); /* from here on the job is the turn's */
                pthread_mutex_lock(&slots->lock);
        }
        pthread_mutex_unlock(&slots->lock);
        return NULL;
}

static int set_stack(pthread_attr_t *attr, size_t stack)
{
        if (stack == 0)
                return 0;
        const long   least = sysconf(_SC_THREAD_STACK_MIN);
        const size_t min   = least > 0 ? (size_t)least : (size_t)PTHREAD_STACK_MIN;
        return pthread_attr_setstacksize(attr, stack > min ? stack : min);
}

/* Lock held.  A thread inherits the mask of its creator, so it is born with every signal blocked. */
static int start_thread(struct sc_slots *slots)
{
        pthread_attr_t attr;
        sigset_t       all, before;
        if (pthread_attr_init(&attr) != 0)
                return SC_E_NOMEM;
        int error = set_stack(&attr, slots->stack);
        if (error == 0) {
                sigfillset(&all);
                pthread_sigmask(SIG_SETMASK, &all, &before);
                error = pthread_create(&slots->thread[slots->threads], &attr, serve, slots);
                pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
        pthread_attr_destroy(&attr);
        if (error != 0)
                return error == ENOMEM ? SC_E_NOMEM : SC_E_IO;
        slots->threads++;
        slots->returning++;
        return SC_OK;
}

/* Lock held, the job is counted.  Sees to it that a thread will come for it, unless all of them are at work. */
static int call_thread(struct sc_slots *slots)
{
        if (slots->queued <= (size_t)slots->returning + slots->wakes)
                return SC_OK;
        if (slots->sleeping > slots->wakes) {
                slots->wakes++;
                pthread_cond_signal(&slots->wake);
                return SC_OK;
        }
        return slots->threads < slots->threads_max ? start_thread(slots) : SC_OK;
}

int sc_slots_submit(struct sc_slots *slots, struct sc_job *job)
{
        pthread_mutex_lock(&slots->lock);
        SC_ASSERT(!slots->quit);
        sc_list_add_tail(&slots->queue, &job->link);
        slots->queued++;
        const int status = call_thread(slots);
        if (status != SC_OK) {
                sc_list_remove(&job->link);
                slots->queued--;
        }
        pthread_mutex_unlock(&slots->lock);
        return status;
}

void sc_slots_destroy(struct sc_slots *slots)
{
        if (!slots)
                return;
        pthread_mutex_lock(&slots->lock);
        slots->quit = true;
        pthread_cond_broadcast(&slots->wake);
        const uint32_t threads = slots->threads; /* no submit comes any more, so no thread either */
        pthread_mutex_unlock(&slots->lock);
        for (uint32_t i = 0; i < threads; i++) {
                SC_ASSERT(!pthread_equal(slots->thread[i], pthread_self()));
                pthread_join(slots->thread[i], NULL);
        }
        while (sc_list_take(&slots->queue) != NULL)
                ;
        pthread_cond_destroy(&slots->wake);
        pthread_mutex_destroy(&slots->lock);
        sc_mem_release(slots->mem, slots, footprint(slots->threads_max));
}
