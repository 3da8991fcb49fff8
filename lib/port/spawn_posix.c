/*
 * The spawner: its thread, and what turns ask of it.  A turn puts a child on the list of those who
 * want something and wakes the thread if it sleeps; when the turn runs on that very thread, it does not.
 * The thread posts a child back with a chunk of output or its end.  Memory is taken and given back in
 * turns only.
 */
#include "spawn_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "spawn_posix_private.h"

enum { SPARES_MAX = 16, EVENTS_MAX = 64, SIGNAL_MAX = 64, RETRY_MS = 20 };
#define DROP_TIME (5 * SC_S)

/* ---- the thread --------------------------------------------------------------------------------- */

struct request {
        struct sc_child *child;
        unsigned         wants;
        uint64_t         signals;
};

/* The next child that wants something.  False: none does. */
static bool take_request(struct sc_spawner *spawner, struct request *out, bool *quit)
{
        pthread_mutex_lock(&spawner->lock);
        spawner->asleep      = false;
        *quit                = spawner->quit;
        struct sc_list *node = *quit ? NULL : sc_list_take(&spawner->asked);
        if (node) {
                struct sc_child *child = SC_CONTAINER(node, struct sc_child, asked);
                *out = (struct request){ .child = child, .wants = child->wants, .signals = child->signals };
                child->wants   = 0;
                child->signals = 0;
                if (child->finished) /* its end is on the way: it may be gone when the lock is */
                        *out = (struct request){ .child = NULL };
        }
        pthread_mutex_unlock(&spawner->lock);
        return node != NULL;
}

static void make_busy(struct sc_child *child)
{
        sc_list_remove(&child->busy);
        sc_list_add_tail(&child->spawner->busy, &child->busy);
}

static void serve(const struct request *request)
{
        struct sc_child *child = request->child;
        if (!child)
                return;
        if ((request->wants & SC_WANT_KILL) && !child->started)
                child->killed = true;
        const bool unwanted = child->killed && !sc_list_empty(&child->waiting);
        if (unwanted)
                sc_list_remove(&child->waiting);
        if ((request->wants & SC_WANT_START) || unwanted)
                sc_child_begin(child);
        for (int signal = 1; signal <= SIGNAL_MAX; signal++)
                if (request->signals & (UINT64_C(1) << (signal - 1)))
                        sc_child_send_signal(child, signal);
        if ((request->wants & SC_WANT_KILL) && child->started)
                sc_child_end_it(child);
        if (request->wants & SC_WANT_MORE)
                child->wanted = true;
        if (request->wants & SC_WANT_DELIVERED)
                child->undelivered = false;
        make_busy(child);
}

static void advance_busy(struct sc_spawner *spawner)
{
        for (struct sc_list *node; (node = sc_list_take(&spawner->busy)) != NULL;)
                sc_child_advance(SC_CONTAINER(node, struct sc_child, busy));
}

/* In order: when the first still cannot be started, nor can the others. */
static void start_waiting(struct sc_spawner *spawner)
{
        struct sc_list *node;
        while ((node = sc_list_take(&spawner->waiting)) != NULL) {
                struct sc_child *child = SC_CONTAINER(node, struct sc_child, waiting);
                sc_child_begin(child);
                if (!child->started && !child->known) {
                        sc_list_remove(node);
                        sc_list_add_head(&spawner->waiting, node);
                        return;
                }
                make_busy(child);
        }
}

/* True: nobody wants anything, and whoever does from now on will write to wake_fd. */
static bool fall_asleep(struct sc_spawner *spawner)
{
        pthread_mutex_lock(&spawner->lock);
        spawner->asleep   = sc_list_empty(&spawner->asked) && !spawner->quit;
        const bool asleep = spawner->asleep;
        pthread_mutex_unlock(&spawner->lock);
        return asleep;
}

static void note_event(const struct epoll_event *event)
{
        const unsigned which = (unsigned)(event->data.u64 & 3u);
        if (event->data.u64 == 0)
                return; /* wake_fd, which nobody has to read: its edge is the message */
        struct sc_child *child = (struct sc_child *)(uintptr_t)(event->data.u64 & ~UINT64_C(3));
        if (which == 0)
                child->exited = true;
        else
                child->streams[which - 1].readable = true;
        make_busy(child);
}

static void collect_events(struct sc_spawner *spawner)
{
        struct epoll_event events[EVENTS_MAX];
        const int          patient    = sc_list_empty(&spawner->waiting) ? -1 : RETRY_MS;
        const int          timeout_ms = fall_asleep(spawner) ? patient : 0;
        const int          count      = epoll_wait(spawner->epoll_fd, events, EVENTS_MAX, timeout_ms);
        /* All are noted before any child is advanced, which may free it. */
        for (int i = 0; i < count; i++)
                note_event(&events[i]);
}

static void *run(void *arg)
{
        struct sc_spawner *spawner = arg;
        struct request     request;
        bool               quit = false;
        for (;;) {
                while (take_request(spawner, &request, &quit))
                        serve(&request);
                if (quit)
                        return NULL;
                start_waiting(spawner);
                advance_busy(spawner);
                collect_events(spawner);
        }
}

/* ---- what turns ask ----------------------------------------------------------------------------- */

static void wake(struct sc_spawner *spawner)
{
        const uint64_t one   = 1;
        const int      saved = errno;
        const ssize_t  wrote = write(spawner->wake_fd, &one, sizeof one);
        SC_ASSERT(wrote == (ssize_t)sizeof one);
        errno = saved;
}

static void ask(struct sc_child *child, unsigned wants, uint64_t signals)
{
        struct sc_spawner *spawner = child->spawner;
        pthread_mutex_lock(&spawner->lock);
        child->wants |= wants;
        child->signals |= signals;
        if (sc_list_empty(&child->asked))
                sc_list_add_tail(&spawner->asked, &child->asked);
        const bool asleep = spawner->asleep;
        spawner->asleep   = false;
        pthread_mutex_unlock(&spawner->lock);
        if (asleep)
                wake(spawner);
}

void sc_child_read_more(struct sc_child *child)
{
        if (child->telling)
                child->more = true;
        else
                ask(child, SC_WANT_MORE, 0);
}

void sc_child_signal(struct sc_child *child, int signal)
{
        SC_ASSERT(signal >= 1 && signal <= SIGNAL_MAX);
        ask(child, 0, UINT64_C(1) << (signal - 1));
}

void sc_child_ask(struct sc_child *child)
{
        sc_child_signal(child, SIGTERM);
}

void sc_child_kill(struct sc_child *child)
{
        ask(child, SC_WANT_KILL, 0);
}

/* ---- chunks and children ------------------------------------------------------------------------ */

static uint8_t *take_chunk(struct sc_spawner *spawner)
{
        uint8_t *chunk = spawner->spare;
        if (!chunk)
                return sc_mem_alloc(spawner->mem, SC_OUTPUT_CHUNK);
        memcpy(&spawner->spare, chunk, sizeof spawner->spare);
        spawner->spares--;
        return chunk;
}

static void give_chunk(struct sc_spawner *spawner, uint8_t *chunk)
{
        if (spawner->spares == SPARES_MAX) {
                sc_mem_release(spawner->mem, chunk, SC_OUTPUT_CHUNK);
                return;
        }
        memcpy(chunk, &spawner->spare, sizeof spawner->spare);
        spawner->spare = chunk;
        spawner->spares++;
}

static void free_child(struct sc_child *child)
{
        struct sc_spawner *spawner = child->spawner;
        if (child->chunk)
                give_chunk(spawner, child->chunk);
        sc_exec_fini(&child->exec, spawner->mem);
        sc_mem_release(spawner->mem, child, sizeof *child);
}

static void deliver_output(struct sc_child *child)
{
        struct sc_spawner *spawner = child->spawner;
        child->posted              = false;
        child->telling             = true;
        child->more                = false;
        spawner->upcalls->output(child->ctx, child, child->chunk_stream, child->chunk, child->chunk_len);
        child->telling = false;
        ask(child, SC_WANT_DELIVERED | (child->more ? (unsigned)SC_WANT_MORE : 0), 0);
}

static void deliver_end(struct sc_child *child)
{
        struct sc_spawner *spawner = child->spawner;
        spawner->upcalls->ended(child->ctx, child, &child->outcome);
        sc_list_remove(&child->all);
        pthread_mutex_lock(&spawner->lock); /* what was asked too late is not answered any more */
        sc_list_remove(&child->asked);
        pthread_mutex_unlock(&spawner->lock);
        free_child(child);
}

static void deliver(struct sc_post *post, sc_ns now)
{
        (void)now;
        struct sc_child *child = SC_CONTAINER(post, struct sc_child, post);
        if (child->finished)
                deliver_end(child);
        else
                deliver_output(child);
}

int sc_child_start(struct sc_spawner *spawner, const struct sc_command *command, void *ctx, struct sc_child **out)
{
        struct sc_child *child = sc_mem_zalloc(spawner->mem, sizeof *child);
        if (!child)
                return SC_E_NOMEM;
        child->post.run = deliver;
        child->spawner  = spawner;
        child->ctx      = ctx;
        sc_list_init(&child->post.link);
        sc_list_init(&child->all);
        sc_list_init(&child->asked);
        sc_list_init(&child->busy);
        sc_list_init(&child->waiting);
        child->output_max = command->output_max;
        child->merge      = (command->flags & SC_COMMAND_MERGE) != 0;
        child->wanted     = true;
        child->pidfd      = -1;
        for (int i = 0; i < SC_CHILD_STREAMS; i++)
                child->streams[i].fd = -1;
        child->chunk = take_chunk(spawner);
        if (!child->chunk || sc_exec_init(&child->exec, spawner->mem, &spawner->environment, command) != SC_OK) {
                free_child(child);
                return SC_E_NOMEM;
        }
        sc_list_add_tail(&spawner->all, &child->all);
        *out = child;
        ask(child, SC_WANT_START, 0);
        return SC_OK;
}

/* ---- the spawner -------------------------------------------------------------------------------- */

static void close_fd(int fd)
{
        if (fd >= 0)
                close(fd);
}

static void release(struct sc_spawner *spawner)
{
        while (spawner->spare)
                sc_mem_release(spawner->mem, take_chunk(spawner), SC_OUTPUT_CHUNK);
        close_fd(spawner->epoll_fd);
        close_fd(spawner->wake_fd);
        close_fd(spawner->null_fd);
        sc_nest_fini(&spawner->nest);
        sc_environment_fini(&spawner->environment, spawner->mem);
        pthread_mutex_destroy(&spawner->lock);
        sc_mem_release(spawner->mem, spawner, sizeof *spawner);
}

static int open_fds(struct sc_spawner *spawner)
{
        struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data = { .u64 = 0 } };
        spawner->epoll_fd        = sc_fd_above_stdio(epoll_create1(EPOLL_CLOEXEC));
        spawner->wake_fd         = sc_fd_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        spawner->null_fd         = sc_fd_above_stdio(open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (spawner->epoll_fd < 0 || spawner->wake_fd < 0 || spawner->null_fd < 0)
                return SC_E_IO;
        return epoll_ctl(spawner->epoll_fd, EPOLL_CTL_ADD, spawner->wake_fd, &event) == 0 ? SC_OK : SC_E_IO;
}

/* Every signal is blocked in the thread, so the host's handlers do not run there; children get an empty mask. */
static int start_thread(struct sc_spawner *spawner)
{
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        const int error = pthread_create(&spawner->thread, NULL, run, spawner);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return error == 0 ? SC_OK : error == ENOMEM ? SC_E_NOMEM : SC_E_IO;
}

int sc_spawner_create(struct sc_mem *mem, struct sc_loop *loop, const struct sc_child_upcalls *upcalls,
                      struct sc_spawner **out)
{
        struct sc_spawner *spawner = sc_mem_zalloc(mem, sizeof *spawner);
        if (!spawner)
                return SC_E_NOMEM;
        spawner->mem      = mem;
        spawner->loop     = loop;
        spawner->upcalls  = upcalls;
        spawner->epoll_fd = spawner->wake_fd = spawner->null_fd = -1;
        sc_list_init(&spawner->all);
        sc_list_init(&spawner->asked);
        sc_list_init(&spawner->busy);
        sc_list_init(&spawner->waiting);
        SC_ASSERT(pthread_mutex_init(&spawner->lock, NULL) == 0);
        int status = sc_environment_copy(&spawner->environment, mem);
        if (status == SC_OK)
                status = sc_nest_init(&spawner->nest);
        if (status == SC_OK)
                status = open_fds(spawner);
        if (status == SC_OK)
                status = start_thread(spawner);
        if (status != SC_OK) {
                release(spawner);
                return status;
        }
        *out = spawner;
        return SC_OK;
}

static void stop_thread(struct sc_spawner *spawner)
{
        SC_ASSERT(!pthread_equal(spawner->thread, pthread_self()));
        pthread_mutex_lock(&spawner->lock);
        spawner->quit = true;
        pthread_mutex_unlock(&spawner->lock);
        wake(spawner);
        pthread_join(spawner->thread, NULL);
}

void sc_spawner_destroy(struct sc_spawner *spawner)
{
        if (!spawner)
                return;
        stop_thread(spawner);
        const sc_ns deadline = sc_ns_add(sc_clock_now(), DROP_TIME);
        for (struct sc_list *node; (node = sc_list_take(&spawner->all)) != NULL;) {
                struct sc_child *child = SC_CONTAINER(node, struct sc_child, all);
                if (!child->finished)
                        sc_child_drop(child, deadline);
                if (child->posted)
                        sc_loop_unpost(spawner->loop, &child->post);
                free_child(child);
        }
        release(spawner);
}
