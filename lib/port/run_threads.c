/*
 * One queue, one lock, and threads that are started when a job finds nobody free to take it.
 * Every queued job has a claim on a thread, as far as there are threads: either one that was
 * woken for it, or one that has just returned from a job and looks at the queue before it sleeps.
 * Between jobs a thread takes this lock once, for the end of the one and the begin of the next, and
 * the loop's only when no end is on the list yet.
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
        uint32_t        slots_max;
        uint32_t        threads_max; /* those that may be parked included */
        struct sc_post  news; /* of ends */

        pthread_mutex_t lock;
        pthread_cond_t  wake;
        struct sc_list  queue;
        size_t          queued;
        struct sc_list  ended;     /* not told yet; not empty: `news` is posted, or just about to be */
        uint32_t        kept;      /* slots without a thread at work in them: their jobs have returned and kept them */
        uint32_t        parked;    /* in a job that has given its slot away for a while; part of nothing below */
        uint32_t        threads;   /* started, the first so many of `thread` */
        uint32_t        working;   /* in a job */
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

/* In a turn.  The pool may be destroyed by whoever hears of the last one. */
static void tell_ended(struct sc_post *post, sc_ns now)
{
        struct sc_slots *slots = SC_CONTAINER(post, struct sc_slots, news);
        struct sc_list   ended;
        struct sc_list  *link;
        sc_list_init(&ended);
        pthread_mutex_lock(&slots->lock);
        sc_list_splice(&ended, &slots->ended);
        pthread_mutex_unlock(&slots->lock);
        while ((link = sc_list_take(&ended)) != NULL) {
                struct sc_job *job = SC_CONTAINER(link, struct sc_job, link);
                job->ended(job, now);
        }
}

int sc_slots_create(struct sc_mem *mem, struct sc_loop *loop, uint32_t threads, size_t stack, uint32_t parked_max,
                    struct sc_slots **out)
{
        if (threads == 0)
                return SC_E_INVALID;
        struct sc_slots *slots = sc_mem_zalloc(mem, footprint(threads + parked_max));
        if (!slots)
                return SC_E_NOMEM;
        slots->mem         = mem;
        slots->loop        = loop;
        slots->stack       = stack;
        slots->slots_max   = threads;
        slots->threads_max = threads + parked_max;
        slots->news.run    = tell_ended;
        sc_list_init(&slots->queue);
        sc_list_init(&slots->ended);
        SC_ASSERT(pthread_mutex_init(&slots->lock, NULL) == 0);
        SC_ASSERT(pthread_cond_init(&slots->wake, NULL) == 0);
        *out = slots;
        return SC_OK;
}

static bool may_begin(const struct sc_slots *slots)
{
        return slots->queued > 0 && slots->working + slots->kept < slots->slots_max;
}

/* Lock held.  The next job; sleeps until there is one, and forgets the time.  NULL: the pool is closing. */
static struct sc_job *next_job(struct sc_slots *slots, sc_ns *now)
{
        slots->returning--;
        while (!slots->quit && !may_begin(slots)) {
                *now = 0;
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
        slots->working++;
        return SC_CONTAINER(sc_list_take(&slots->queue), struct sc_job, link);
}

/* Lock held, and away while others are told: whoever puts the first end on the list posts.  It has not asked for the
 * next job then, so that what a turn of its own hands over is not given to a thread that would have to be woken.
 * True: it posted, which may have taken a while. */
static bool put_end(struct sc_slots *slots, struct sc_job *job, bool frees)
{
        const bool first = sc_list_empty(&slots->ended);
        sc_list_add_tail(&slots->ended, &job->link);
        slots->working--;
        slots->kept += !frees;
        slots->returning++;
        if (!first)
                return false;
        pthread_mutex_unlock(&slots->lock);
        sc_loop_post_and_turn(slots->loop, &slots->news);
        pthread_mutex_lock(&slots->lock);
        return true;
}

static void *serve(void *arg)
{
        struct sc_slots *slots = arg;
        sc_ns            now   = 0; /* 0: not just read */
        pthread_mutex_lock(&slots->lock);
        for (struct sc_job *job; (job = next_job(slots, &now)) != NULL;) {
                pthread_mutex_unlock(&slots->lock);
                job->began       = now ? now : sc_clock_now();
                const bool frees = job->work(job);
                if (sc_forked())
                        return NULL; /* the job forked, and this is the child, with no other thread */
                now              = sc_clock_now();
                job->returned    = now;
                pthread_mutex_lock(&slots->lock);
                if (put_end(slots, job, frees))
                        now = 0;
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
        int error = set_stack(&attr, slots->threads < slots->slots_max ? slots->stack : SC_SLOTS_STACK);
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

/* Lock held, the queue is counted.  Sees to it that a thread will come for its last one, unless all are at work; who
 * sleeps is counted into `calls` and woken when the lock is away, or it would run into it and sleep again. */
static int call_thread(struct sc_slots *slots, uint32_t *calls)
{
        if (slots->queued <= (size_t)slots->returning + slots->wakes)
                return SC_OK;
        if (slots->sleeping > slots->wakes) {
                slots->wakes++;
                ++*calls;
                return SC_OK;
        }
        return slots->threads - slots->parked < slots->slots_max ? start_thread(slots) : SC_OK;
}

static void wake(struct sc_slots *slots, uint32_t calls)
{
        for (; calls > 0; calls--)
                pthread_cond_signal(&slots->wake);
}

int sc_slots_submit(struct sc_slots *slots, struct sc_list *jobs)
{
        struct sc_list *link;
        uint32_t        calls  = 0;
        int             status = SC_OK;
        pthread_mutex_lock(&slots->lock);
        SC_ASSERT(!slots->quit);
        while (status == SC_OK && (link = sc_list_take(jobs)) != NULL) {
                sc_list_add_tail(&slots->queue, link);
                slots->queued++;
                status = call_thread(slots, &calls);
        }
        if (status != SC_OK) {
                link = slots->queue.prev;
                sc_list_remove(link);
                slots->queued--;
                sc_list_add_head(jobs, link);
        }
        pthread_mutex_unlock(&slots->lock);
        wake(slots, calls);
        return status;
}

bool sc_slots_take_back(struct sc_slots *slots, struct sc_job *job)
{
        pthread_mutex_lock(&slots->lock);
        struct sc_list *at = slots->queue.prev; /* who takes back many begins with the newest */
        while (at != &slots->queue && at != &job->link)
                at = at->prev;
        const bool waits = at == &job->link;
        if (waits) {
                sc_list_remove(at);
                slots->queued--;
        }
        pthread_mutex_unlock(&slots->lock);
        return waits;
}

void sc_slots_free(struct sc_slots *slots)
{
        pthread_mutex_lock(&slots->lock);
        SC_ASSERT(slots->kept > 0);
        slots->kept--;
        uint32_t calls = 0;
        if (slots->queued > 0)
                (void)call_thread(slots, &calls); /* one that has no thread waits for those there are */
        pthread_mutex_unlock(&slots->lock);
        wake(slots, calls);
}

/* ---- jobs that wait for others ----------------------------------------------------------------------------- */

bool sc_slots_may_park(struct sc_slots *slots, uint32_t more)
{
        pthread_mutex_lock(&slots->lock);
        const uint32_t parked = slots->parked + more + 1;
        const bool     may    = parked < slots->threads ||
                         (slots->threads < slots->threads_max && start_thread(slots) == SC_OK);
        pthread_mutex_unlock(&slots->lock);
        return may;
}

void sc_slots_park(struct sc_slots *slots)
{
        uint32_t calls = 0;
        pthread_mutex_lock(&slots->lock);
        SC_ASSERT(slots->working > 0 && slots->parked < slots->threads_max - slots->slots_max);
        slots->working--;
        slots->parked++;
        if (slots->queued > 0)
                (void)call_thread(slots, &calls);
        pthread_mutex_unlock(&slots->lock);
        wake(slots, calls);
}

void sc_slots_unpark(struct sc_slots *slots)
{
        pthread_mutex_lock(&slots->lock);
        SC_ASSERT(slots->parked > 0 && slots->working + slots->kept < slots->slots_max);
        slots->parked--;
        slots->working++;
        pthread_mutex_unlock(&slots->lock);
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
        sc_loop_hold(slots->loop);
        sc_loop_unpost(slots->loop, &slots->news);
        tell_ended(&slots->news, sc_loop_now(slots->loop));
        sc_loop_release(slots->loop);
        pthread_cond_destroy(&slots->wake);
        pthread_mutex_destroy(&slots->lock);
        sc_mem_release(slots->mem, slots, footprint(slots->threads_max));
}
