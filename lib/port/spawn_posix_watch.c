/*
 * One child from its birth to its end, on the spawner's thread.  A chunk of output is read only
 * when the turn can take one, its streams in turns; the end is told when both outputs are at theirs
 * and the process has been reaped.  Until then an ended process is left a zombie on purpose: it
 * keeps the number of its group from being given to strangers, so a group can still be killed.
 *
 * The peak is what the kernel counts, and the kernel counts in what a child shared with its parent
 * before the exec.  A figure that is not above our own is therefore not the child's: 0, not known.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sc_assert.h"
#include "spawn_posix_private.h"

#define PATIENCE (500 * SC_MS) /* so long after the last of ours has ended, others may still give something back */

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* ---- birth -------------------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

/* Off the list first: a copy of the descriptor that the host took along in a fork would keep it there. */
static void close_watched(struct sc_child *child, int *fd)
{
        if (*fd >= 0)
                epoll_ctl(child->spawner->epoll_fd, EPOLL_CTL_DEL, *fd, NULL);
        close_fd(fd);
}

static void close_streams(struct sc_child *child)
{
        for (int i = 0; i < SC_CHILD_STREAMS; i++)
                close_watched(child, &child->streams[i].fd);
}

/* What epoll gives back: the child, and in the low bits which of its descriptors it is. */
static bool watch(struct sc_child *child, int fd, uint32_t events, unsigned which)
{
        struct epoll_event event = { .events = events, .data = { .u64 = (uint64_t)(uintptr_t)child | which } };
        return epoll_ctl(child->spawner->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Our end never blocks; the child's, which is another open file, does as programs expect. */
static bool open_stream(struct sc_child *child, int stream, int *child_end)
{
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
                return false;
        child->streams[stream].fd = sc_fd_above_stdio(ends[0]);
        *child_end                = sc_fd_above_stdio(ends[1]);
        const int fd              = child->streams[stream].fd;
        return fd >= 0 && *child_end >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
               watch(child, fd, EPOLLIN | EPOLLET, 1u + (unsigned)stream);
}

static bool open_fds(struct sc_child *child, struct sc_birth *birth)
{
        birth->step   = SC_BIRTH_INPUT;
        birth->fds[0] = child->exec.input ? sc_fd_of_bytes(child->exec.input, child->exec.input_len)
                                          : child->spawner->null_fd;
        if (birth->fds[0] < 0)
                return false;
        birth->step = SC_BIRTH_PIPE;
        if (!open_stream(child, SC_CHILD_OUT, &birth->fds[1]))
                return false;
        if (child->merge)
                birth->fds[2] = birth->fds[1];
        return child->merge || open_stream(child, SC_CHILD_ERR, &birth->fds[2]);
}

static void close_child_ends(const struct sc_child *child, struct sc_birth *birth)
{
        if (birth->fds[0] != child->spawner->null_fd)
                close_fd(&birth->fds[0]);
        if (birth->fds[2] != birth->fds[1])
                close_fd(&birth->fds[2]);
        close_fd(&birth->fds[1]);
}

static void kill_group(struct sc_child *child, int signal);

/* Born, but nobody would hear of its end. */
static bool watch_end(struct sc_child *child, struct sc_birth *birth)
{
        child->pid   = birth->pid;
        child->pidfd = birth->pidfd;
        if (watch(child, child->pidfd, EPOLLIN | EPOLLONESHOT, 0))
                return true;
        birth->step  = SC_BIRTH_WATCH;
        birth->error = errno;
        kill_group(child, SIGKILL);
        siginfo_t info;
        while (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED) != 0 && errno == EINTR)
                ;
        close_watched(child, &child->pidfd);
        return false;
}

static bool give_birth(struct sc_child *child, struct sc_birth *birth)
{
        if (!open_fds(child, birth)) {
                birth->error = errno;
                return false;
        }
        child->born = sc_clock_now();
        return sc_birth_give(birth, child->born) && watch_end(child, birth);
}

static void note_not_started(struct sc_child *child, enum sc_birth_step step, int error)
{
        close_streams(child);
        child->known = child->reaped = true;
        child->outcome               = (struct sc_outcome){
                .reason = SC_REASON_NOT_STARTED, .how = SC_HOW_NOT_STARTED, .code = error
        };
        sc_words_not_started(child->text, &child->exec, step, error);
}

static uint64_t own_peak_kib(void)
{
        struct rusage usage;
        return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss : 0;
}

/*
 * Descriptors, processes and memory are this process's trouble and not the command's, and come back as other
 * commands end.
 */
static bool is_scarcity(const struct sc_birth *birth)
{
        const bool ours = birth->step == SC_BIRTH_PIPE || birth->step == SC_BIRTH_INPUT ||
                          birth->step == SC_BIRTH_CLONE || birth->step == SC_BIRTH_WATCH;
        return ours && (birth->error == EMFILE || birth->error == ENFILE || birth->error == EAGAIN ||
                        birth->error == ENOMEM);
}

/* Others of ours that still run will give back what is short; without any it is soon hopeless, and false. */
static bool wait_for_better(struct sc_child *child)
{
        const sc_ns now = sc_clock_now();
        if (child->patience == 0 || child->spawner->alive > 0)
                child->patience = now + PATIENCE;
        if (now >= child->patience)
                return false;
        close_streams(child);
        sc_list_add_tail(&child->spawner->waiting, &child->waiting);
        return true;
}

void sc_child_begin(struct sc_child *child)
{
        SC_ASSERT(!child->started && !child->known);
        if (child->killed) {
                note_not_started(child, SC_BIRTH_UNWANTED, ECANCELED);
                return;
        }
        struct sc_birth birth = { .exec = &child->exec, .nest = &child->spawner->nest, .fds = { -1, -1, -1 } };
        child->started        = give_birth(child, &birth);
        close_child_ends(child, &birth);
        if (child->started) {
                child->spawner->alive++;
                child->own_peak_kib = own_peak_kib();
        }
        else if (!is_scarcity(&birth) || !wait_for_better(child))
                note_not_started(child, birth.step, birth.error);
}

/* ---- end ---------------------------------------------------------------------------------------- */

static uint64_t microseconds(const struct timeval *time)
{
        return (uint64_t)time->tv_sec * 1000000u + (uint64_t)time->tv_usec;
}

static void note_stolen(struct sc_child *child)
{
        child->reaped  = true;
        child->outcome = (struct sc_outcome){ .reason = SC_REASON_TASK, .how = SC_HOW_STOLEN };
        snprintf(child->text, sizeof child->text,
                 "exit status stolen: this process ignores SIGCHLD or waits for children it did not start");
}

static void note_end(struct sc_child *child, const siginfo_t *info, const struct rusage *usage)
{
        const bool     exited = info->si_code == CLD_EXITED;
        const uint64_t peak   = (uint64_t)usage->ru_maxrss;
        child->outcome        = (struct sc_outcome){
                .reason   = exited && info->si_status == 0 ? SC_REASON_SUCCESS : SC_REASON_TASK,
                .how      = exited ? SC_HOW_EXITED : SC_HOW_SIGNALLED,
                .code     = info->si_status,
                .user_us  = microseconds(&usage->ru_utime),
                .sys_us   = microseconds(&usage->ru_stime),
                .peak_kib = peak > child->own_peak_kib ? peak : 0,
        };
        if (!exited)
                sc_words_signal(child->text, info->si_status);
        else if (info->si_status != 0)
                snprintf(child->text, sizeof child->text, "exit code %d", info->si_status);
}

/* Asks for the end without waiting: 1 here it is, 0 not yet, -1 somebody else has taken it. */
static int ask_end(const struct sc_child *child, int options, siginfo_t *info, struct rusage *usage)
{
        memset(info, 0, sizeof *info);
        memset(usage, 0, sizeof *usage);
        if (syscall(SYS_waitid, P_PIDFD, child->pidfd, info, WEXITED | WNOHANG | options, usage) != 0)
                return -1;
        return info->si_pid != 0;
}

static void rearm_end(struct sc_child *child)
{
        struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data = { .u64 = (uint64_t)(uintptr_t)child } };
        SC_ASSERT(epoll_ctl(child->spawner->epoll_fd, EPOLL_CTL_MOD, child->pidfd, &event) == 0);
        child->exited = false;
}

static void take_end(struct sc_child *child, int options)
{
        siginfo_t     info;
        struct rusage usage;
        const int     there = ask_end(child, options, &info, &usage);
        if (there == 0) {
                rearm_end(child);
                return;
        }
        child->known  = true;
        child->reaped = there < 0 || (options & WNOWAIT) == 0;
        if (there > 0)
                note_end(child, &info, &usage);
        else
                note_stolen(child);
        const sc_ns lived      = sc_clock_now() - child->born;
        child->outcome.wall_us = (uint64_t)(lived / SC_US);
}

static bool outputs_at_end(const struct sc_child *child)
{
        return child->streams[SC_CHILD_OUT].fd < 0 && child->streams[SC_CHILD_ERR].fd < 0;
}

/* The process has ended: its figures now, its zombie when its group is of no more interest. */
static void look_at_end(struct sc_child *child)
{
        const bool last = outputs_at_end(child);
        if (child->exited && !child->known)
                take_end(child, last ? 0 : WNOWAIT);
        if (child->known && !child->reaped && last) {
                siginfo_t     info;
                struct rusage usage;
                ask_end(child, 0, &info, &usage); /* stolen since: it makes no difference any more */
                child->reaped = true;
        }
        if (child->reaped)
                close_watched(child, &child->pidfd);
}

/* ---- signals ------------------------------------------------------------------------------------ */

/* While the leader runs or is our zombie, no stranger has its number or that of its group. */
static bool number_is_ours(const struct sc_child *child)
{
        siginfo_t     info;
        struct rusage usage;
        if (!child->started || child->reaped)
                return false;
        return ask_end(child, WNOWAIT, &info, &usage) >= 0;
}

static void kill_group(struct sc_child *child, int signal)
{
        const int rc = kill(-child->pid, signal);
        /* A leader may have left for a group or session of its own. */
        if (rc != 0 || signal == SIGKILL)
                syscall(SYS_pidfd_send_signal, child->pidfd, signal, NULL, 0);
}

void sc_child_send_signal(struct sc_child *child, int signal)
{
        if (number_is_ours(child))
                kill_group(child, signal);
}

void sc_child_end_it(struct sc_child *child)
{
        child->killed = true;
        sc_child_send_signal(child, SIGKILL);
}

/* ---- output ------------------------------------------------------------------------------------- */

/* Gives a chunk, or 0 when there is none now. */
static size_t read_stream(struct sc_child *child, struct sc_stream *stream)
{
        const size_t  max = child->draining && stream->left < SC_OUTPUT_CHUNK ? stream->left : SC_OUTPUT_CHUNK;
        const ssize_t got = read(stream->fd, child->chunk, max);
        if (got > 0) {
                stream->left -= child->draining ? (size_t)got : 0;
                return (size_t)got;
        }
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                stream->readable = errno == EINTR;
        else
                close_watched(child, &stream->fd); /* its end; a failing read is no other */
        return 0;
}

static size_t read_some(struct sc_child *child)
{
        for (int i = 0; i < SC_CHILD_STREAMS; i++) {
                const uint8_t     at     = (uint8_t)((child->turn_to + i) % SC_CHILD_STREAMS);
                struct sc_stream *stream = &child->streams[at];
                if (stream->fd < 0 || !stream->readable)
                        continue;
                const size_t got = read_stream(child, stream);
                if (got > 0) {
                        child->turn_to      = (uint8_t)((at + 1) % SC_CHILD_STREAMS);
                        child->chunk_stream = (uint8_t)(at + 1);
                        return got;
                }
        }
        return 0;
}

/* Counts; what is over the limit is cut off, and ends the child. */
static size_t count_output(struct sc_child *child, size_t got)
{
        const uint64_t room = child->output_max > 0 ? child->output_max - child->output_bytes : UINT64_MAX;
        if (got > room) {
                got               = (size_t)room;
                child->over_limit = true;
                close_streams(child);
                sc_child_end_it(child);
        }
        child->output_bytes += got;
        return got;
}

/* A killed child has ended: what it said before is in the pipes, and whoever holds them now is not waited for. */
static void begin_draining(struct sc_child *child)
{
        child->draining = true;
        for (int i = 0; i < SC_CHILD_STREAMS; i++) {
                struct sc_stream *stream = &child->streams[i];
                int               left   = 0;
                if (stream->fd >= 0 && ioctl(stream->fd, FIONREAD, &left) != 0)
                        left = 0;
                stream->left     = (size_t)left;
                stream->readable = left > 0;
        }
}

static void close_drained(struct sc_child *child)
{
        const bool given_up = !child->wanted && !child->undelivered; /* the turn has a chunk, and wants no other */
        for (int i = 0; i < SC_CHILD_STREAMS; i++)
                if (given_up || child->streams[i].left == 0)
                        close_watched(child, &child->streams[i].fd);
}

static void tell_end(struct sc_child *child)
{
        if (child->over_limit) {
                child->outcome.reason = SC_REASON_LIMIT;
                snprintf(child->text, sizeof child->text, "output passed its limit of %llu bytes",
                         (unsigned long long)child->output_max);
        }
        child->outcome.text = (struct sc_view){ .ptr = child->text, .len = strlen(child->text) };
        child->spawner->alive -= child->started;
        child->finished     = true;
        child->posted       = true;
        sc_loop_post_and_turn(child->spawner->loop, &child->post);
}

static void tell_output(struct sc_child *child, size_t len)
{
        child->chunk_len   = len;
        child->undelivered = true;
        child->wanted      = false;
        child->posted      = true;
        sc_loop_post_and_turn(child->spawner->loop, &child->post);
}

void sc_child_advance(struct sc_child *child)
{
        size_t len = 0;
        if (child->killed && (child->exited || child->known))
                look_at_end(child);
        if (child->killed && child->known && !child->draining)
                begin_draining(child);
        if (child->wanted && !child->undelivered)
                len = count_output(child, read_some(child));
        if (len > 0) {
                look_at_end(child); /* the turn may be slow to take this */
                tell_output(child, len);
                return;
        }
        if (child->draining)
                close_drained(child);
        look_at_end(child);
        if (child->reaped && outputs_at_end(child) && !child->undelivered)
                tell_end(child);
}

/* ---- without telling ---------------------------------------------------------------------------- */

void sc_child_drop(struct sc_child *child, sc_ns deadline)
{
        close_streams(child);
        sc_child_send_signal(child, SIGKILL);
        while (child->started && !child->reaped) {
                const sc_ns   left = deadline - sc_clock_now();
                struct pollfd end  = { .fd = child->pidfd, .events = POLLIN };
                siginfo_t     info;
                struct rusage usage;
                /* A process the kernel cannot end (a dead disk) is left to it. */
                child->reaped = ask_end(child, 0, &info, &usage) != 0 || left <= 0;
                if (!child->reaped)
                        poll(&end, 1, (int)(left / SC_MS) + 1);
        }
        close_watched(child, &child->pidfd);
}
