/*
 * The birth of a child: clone with shared memory, then exec.  Between the two the child runs on a
 * stack of its own in the parent's memory while the spawning thread waits, so what this costs does
 * not grow with the size of the host.  The child makes raw system calls and nothing else: no lock, no
 * allocation, no handler of the host's can run (all signals are blocked until every disposition is
 * the default one).  It tells its failure through the struct it shares with the parent.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sc_status.h"
#include "spawn_posix_private.h"

/* The child must not touch the shadow of the parent's thread, whose thread-local data it shares. */
#define CHILD_SIDE __attribute__((no_sanitize("address", "thread", "undefined")))

/* ThreadSanitizer takes every clone for a fork, and would forget in the child what the parent's threads do; its
 * wrapper is passed by. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
int __clone(int (*run)(void *), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

#define FOUND_FOR (1 * SC_S)

enum { STACK_SIZE = 64 * 1024, SIGNALS = 64, FDS_CLOSED_MAX = 1 << 20, NAME_LEN_MAX = 255 };

int sc_nest_init(struct sc_nest *nest)
{
        const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
        nest->stack_size   = STACK_SIZE + guard;
        const int flags    = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK;
        char     *stack    = mmap(NULL, nest->stack_size, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (stack == MAP_FAILED)
                return SC_E_NOMEM;
        nest->stack = stack;
        if (mprotect(stack, guard, PROT_NONE) == 0)
                return SC_OK;
        sc_nest_fini(nest);
        return SC_E_NOMEM;
}

void sc_nest_fini(struct sc_nest *nest)
{
        if (nest->stack)
                munmap(nest->stack, nest->stack_size);
        nest->stack = NULL;
}

int sc_fd_above_stdio(int fd)
{
        if (fd < 0 || fd > STDERR_FILENO)
                return fd;
        const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        const int error = errno;
        close(fd);
        errno = error;
        return moved;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
        while (len > 0) {
                const ssize_t wrote = write(fd, bytes, len);
                if (wrote < 0 && errno != EINTR)
                        return false;
                if (wrote > 0) {
                        bytes += wrote;
                        len -= (size_t)wrote;
                }
        }
        return true;
}

int sc_fd_of_bytes(const void *bytes, size_t len)
{
        const int fd = sc_fd_above_stdio(memfd_create("scaler-stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        if (fd < 0)
                return -1;
        if (write_all(fd, bytes, len) && lseek(fd, 0, SEEK_SET) == 0 &&
            fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
                return fd;
        const int error = errno;
        close(fd);
        errno = error;
        return -1;
}

/* ---- the child's side ---------------------------------------------------------------------------- */

static CHILD_SIDE bool failed(struct sc_birth *birth, enum sc_birth_step step)
{
        birth->step  = step;
        birth->error = errno;
        return false;
}

/* The kernel's sigaction is no longer than this, and all zero is SIG_DFL on every machine. */
static CHILD_SIDE void reset_signals(void)
{
        const unsigned long none[8] = { 0 };
        for (long signal = 1; signal <= SIGNALS; signal++)
                if (signal != SIGKILL && signal != SIGSTOP)
                        syscall(SYS_rt_sigaction, signal, none, NULL, (long)SIGNALS / 8);
}

static CHILD_SIDE void unblock_signals(void)
{
        const unsigned long none[2] = { 0 };
        syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, none, NULL, (long)SIGNALS / 8);
}

static CHILD_SIDE void close_others(void)
{
#ifdef SYS_close_range
        if (syscall(SYS_close_range, 3L, (long)~0u, 0L) == 0)
                return;
#endif
        struct rlimit limit;
        long          end = FDS_CLOSED_MAX;
        if (syscall(SYS_prlimit64, 0L, (long)RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur < (rlim_t)end)
                end = (long)limit.rlim_cur;
        for (long fd = 3; fd < end; fd++)
                syscall(SYS_close, fd);
}

static CHILD_SIDE bool take_descriptors(struct sc_birth *birth)
{
        for (long fd = 0; fd < 3; fd++)
                if (syscall(SYS_dup3, (long)birth->fds[fd], fd, 0L) < 0)
                        return failed(birth, SC_BIRTH_DESCRIPTORS);
        close_others();
        return true;
}

/* A file without "#!" that the kernel does not know is a script for sh, as execvp has it. */
static CHILD_SIDE void try_file(const struct sc_exec *exec, char *file)
{
        static const char shell[] = "/bin/sh";
        syscall(SYS_execve, file, exec->argv, exec->env);
        if (errno != ENOEXEC)
                return;
        char **argv = exec->argv - 1;
        char  *name = exec->argv[0];
        argv[0]     = (char *)(uintptr_t)shell;
        argv[1]     = file;
        syscall(SYS_execve, shell, argv, exec->env);
        argv[1] = name;
        errno   = ENOEXEC;
}

/* Writes "directory/file" for the directory before `end`; nothing, which is never found, when that is too long. */
static CHILD_SIDE void write_candidate(char out[SC_CANDIDATE_MAX], const char *path, const char *end, const char *file)
{
        if (end - path < SC_CANDIDATE_MAX - NAME_LEN_MAX - 2) {
                const bool here = path == end;
                while (path < end)
                        *out++ = *path++;
                if (!here)
                        *out++ = '/';
                while (*file)
                        *out++ = *file++;
        }
        *out = '\0';
}

static CHILD_SIDE bool goes_on(int error)
{
        return error == ENOENT || error == ENOTDIR || error == EACCES || error == ESTALE || error == ENODEV ||
               error == ETIMEDOUT;
}

static CHILD_SIDE void try_path(struct sc_birth *birth)
{
        const struct sc_exec *exec   = birth->exec;
        bool                  denied = false;
        size_t                len    = 0;
        while (exec->file[len])
                len++;
        errno = len > NAME_LEN_MAX ? ENAMETOOLONG : ENOENT;
        const char *path = len == 0 || len > NAME_LEN_MAX ? NULL : exec->path;
        if (birth->found)
                try_file(exec, birth->nest->found);
        while (path) {
                const char *end = path;
                while (*end && *end != ':')
                        end++;
                write_candidate(birth->nest->candidate, path, end, exec->file);
                /* looking first is cheaper than an exec that fails */
                if (syscall(SYS_faccessat, (long)AT_FDCWD, birth->nest->candidate, (long)F_OK) == 0)
                        try_file(exec, birth->nest->candidate);
                if (!goes_on(errno))
                        return;
                denied = denied || errno == EACCES;
                path   = *end ? end + 1 : NULL;
        }
        if (denied)
                errno = EACCES;
}

/* The kernel tells 20 minus the niceness, which is never negative, and stops at 19 by itself. */
static CHILD_SIDE bool add_niceness(long nice)
{
        if (nice == 0)
                return true;
        const long told = syscall(SYS_getpriority, (long)PRIO_PROCESS, 0L);
        return told >= 0 && syscall(SYS_setpriority, (long)PRIO_PROCESS, 0L, 20 - told + nice) == 0;
}

static CHILD_SIDE int live(void *arg)
{
        struct sc_birth      *birth = arg;
        const struct sc_exec *exec  = birth->exec;
        reset_signals();
        if (syscall(SYS_setpgid, 0L, 0L) != 0) {
                failed(birth, SC_BIRTH_GROUP);
        } else if (exec->cwd && syscall(SYS_chdir, exec->cwd) != 0) {
                failed(birth, SC_BIRTH_CWD);
        } else if (!add_niceness(exec->nice)) {
                failed(birth, SC_BIRTH_NICE);
        } else if (take_descriptors(birth)) {
                unblock_signals();
                if (exec->path)
                        try_path(birth);
                else
                        try_file(exec, exec->file);
                failed(birth, SC_BIRTH_EXEC);
        }
        syscall(SYS_exit_group, 127L);
        return 127;
}

/* ---- the parent's side --------------------------------------------------------------------------- */

/*
 * A directory of the path costs each child a system call, so for a second what was found there is tried first, as
 * shells do for as long as they live.  Only absolute names: others depend on where the child is.
 */
static const char *found_before(struct sc_nest *nest, const struct sc_exec *exec, sc_ns now)
{
        const bool same = exec->path && now < nest->found_until && strcmp(nest->found_file, exec->file) == 0 &&
                          strcmp(nest->found_path, exec->path) == 0;
        return same ? nest->found : NULL;
}

static void note_found(struct sc_birth *birth, sc_ns now)
{
        struct sc_nest       *nest = birth->nest;
        const struct sc_exec *exec = birth->exec;
        if (birth->found || !exec->path || nest->candidate[0] != '/' || strlen(exec->path) >= SC_FOUND_PATH_MAX ||
            strlen(exec->file) >= SC_FOUND_FILE_MAX)
                return;
        memcpy(nest->found, nest->candidate, strlen(nest->candidate) + 1);
        memcpy(nest->found_path, exec->path, strlen(exec->path) + 1);
        memcpy(nest->found_file, exec->file, strlen(exec->file) + 1);
        nest->found_until = now + FOUND_FOR;
}

bool sc_birth_give(struct sc_birth *birth, sc_ns now)
{
        birth->error = 0;
        birth->pidfd = -1;
        birth->found = found_before(birth->nest, birth->exec, now);
        char *top    = birth->nest->stack + birth->nest->stack_size;
        birth->pid   = clone(live, top, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, birth, &birth->pidfd);
        if (birth->pid < 0)
                return failed(birth, SC_BIRTH_CLONE);
        const int pidfd = sc_fd_above_stdio(birth->pidfd);
        if (birth->error == 0 && pidfd >= 0) {
                birth->pidfd = pidfd;
                note_found(birth, now);
                return true;
        }
        if (birth->error == 0) {
                failed(birth, SC_BIRTH_WATCH);
                kill(birth->pid, SIGKILL);
        }
        if (pidfd >= 0)
                close(pidfd);
        siginfo_t info;
        while (waitid(P_PID, (id_t)birth->pid, &info, WEXITED) != 0 && errno == EINTR)
                ;
        return false;
}
