/*
 * The floor under commands: two children of /bin/true at a time, as cheaply as the C library starts them.
 *
 *     floor_spawn2 bare|duties|args [N]
 *
 * `bare` starts and waits.  `duties` is what a task runner cannot leave out: a process group, stdin from
 * /dev/null, two pipes read to their ends, and an end that is noticed among many by a pidfd.  `args` is the same with
 * the number of the command as its argument, which costs /bin/true a third more than having none.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_tools.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum { LANES = 2 };

struct lane {
        struct pollfd *end, *out, *err;
        int            open; /* of these three */
};

static posix_spawnattr_t group;
static int               null_fd;
static bool              with_args;
static long              started;

static pid_t start(const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr)
{
        static char name[] = "true";
        char        number[24];
        snprintf(number, sizeof number, "%ld", ++started);
        char *argv[] = { name, with_args ? number : NULL, NULL };
        pid_t pid;
        errno = posix_spawn(&pid, "/bin/true", actions, attr, argv, environ);
        if (errno != 0)
                bench_die("posix_spawn /bin/true");
        return pid;
}

static void bare(long count)
{
        long begun = 0;
        for (; begun < LANES && begun < count; begun++)
                start(NULL, NULL);
        for (long ended = 0; ended < count; ended++) {
                int status = -1;
                if (wait(&status) < 0 || status != 0)
                        bench_die("wait");
                if (begun++ < count)
                        start(NULL, NULL);
        }
}

static void open_lane(struct lane *lane)
{
        posix_spawn_file_actions_t actions;
        int                        out[2], err[2];
        if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
                bench_die("pipe2");
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, null_fd, 0);
        posix_spawn_file_actions_adddup2(&actions, out[1], 1);
        posix_spawn_file_actions_adddup2(&actions, err[1], 2);
        const pid_t pid = start(&actions, &group);
        posix_spawn_file_actions_destroy(&actions);
        close(out[1]);
        close(err[1]);
        lane->out->fd = out[0];
        lane->err->fd = err[0];
        lane->end->fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (lane->end->fd < 0)
                bench_die("pidfd_open");
        lane->open = 3;
}

static void shut(struct lane *lane, struct pollfd *watched)
{
        close(watched->fd);
        watched->fd = -1; /* poll skips it */
        lane->open--;
}

static void hear_end(struct lane *lane)
{
        siginfo_t info;
        if (waitid(P_PIDFD, (id_t)lane->end->fd, &info, WEXITED) != 0 || info.si_status != 0)
                bench_die("waitid");
        shut(lane, lane->end);
}

static void hear_output(struct lane *lane, struct pollfd *watched)
{
        char bytes[4096];
        if (read(watched->fd, bytes, sizeof bytes) <= 0)
                shut(lane, watched);
}

static void look(struct lane *lane)
{
        if (lane->out->fd >= 0 && lane->out->revents)
                hear_output(lane, lane->out);
        if (lane->err->fd >= 0 && lane->err->revents)
                hear_output(lane, lane->err);
        if (lane->end->fd >= 0 && lane->end->revents)
                hear_end(lane);
}

static void duties(long count)
{
        struct pollfd watched[3 * LANES];
        struct lane   lanes[LANES];
        long          begun = 0, ended = 0;
        null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        posix_spawnattr_init(&group);
        posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&group, 0);
        for (int i = 0; i < 3 * LANES; i++)
                watched[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
        for (int i = 0; i < LANES; i++)
                lanes[i] = (struct lane){ watched + 3 * i, watched + 3 * i + 1, watched + 3 * i + 2, 0 };
        for (int i = 0; i < LANES && begun < count; i++, begun++)
                open_lane(&lanes[i]);
        while (ended < count) {
                if (poll(watched, 3 * LANES, -1) < 0)
                        bench_die("poll");
                for (int i = 0; i < LANES; i++) {
                        if (lanes[i].open == 0)
                                continue;
                        look(&lanes[i]);
                        if (lanes[i].open > 0)
                                continue;
                        ended++;
                        if (begun < count) {
                                open_lane(&lanes[i]);
                                begun++;
                        }
                }
        }
        posix_spawnattr_destroy(&group);
        close(null_fd);
}

int main(int argc, char **argv)
{
        const char *mode  = argc > 1 ? argv[1] : "";
        const long  count = bench_number(argc, argv, 2, 2000, 1);
        with_args         = strcmp(mode, "args") == 0;
        if (strcmp(mode, "bare") != 0 && strcmp(mode, "duties") != 0 && !with_args) {
                fprintf(stderr, "usage: floor_spawn2 bare|duties|args [N]\n");
                return 2;
        }
        const uint64_t begin = bench_now_ns();
        if (strcmp(mode, "bare") == 0)
                bare(count);
        else
                duties(count);
        const double each_ns = (double)(bench_now_ns() - begin) / (double)count;
        printf("floor_spawn2 mode=%s n=%ld rate=%.0f us_each=%.1f\n", mode, count, 1e9 / each_ns, each_ns / 1e3);
        return 0;
}
