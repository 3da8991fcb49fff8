/*
 * Plain sockets.
 */
#include "raw.h"

#include <arpa/inet.h>
#include <check.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "loop.h"

int raw_socket(const char *bound)
{
        int fd = socket(strncmp(bound, "tcp://", 6) == 0 ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_ge(fd, 0);
        return fd;
}

static void join_tcp(int fd, const char *bound)
{
        struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
        in.sin_port           = htons((uint16_t)atoi(strrchr(bound, ':') + 1));
        ck_assert_int_eq(connect(fd, (const struct sockaddr *)&in, sizeof in), 0);
}

static void join_unix(int fd, const char *name, bool abstract)
{
        struct sockaddr_un un  = { .sun_family = AF_UNIX };
        const size_t       len = strlen(name);
        ck_assert_uint_lt(len + 1, sizeof un.sun_path);
        memcpy(un.sun_path + (abstract ? 1 : 0), name, len);
        const size_t all = offsetof(struct sockaddr_un, sun_path) + len + 1;
        ck_assert_int_eq(connect(fd, (const struct sockaddr *)&un, (socklen_t)all), 0);
}

void raw_join(int fd, const char *bound)
{
        if (strncmp(bound, "tcp://", 6) == 0)
                join_tcp(fd, bound);
        else if (strncmp(bound, "ipc://", 6) == 0)
                join_unix(fd, bound + 6, false);
        else
                join_unix(fd, bound + strlen("abstract://"), true);
}

int raw_connect(const char *bound)
{
        int fd = raw_socket(bound);
        raw_join(fd, bound);
        return fd;
}

bool raw_write(int fd, const void *bytes, size_t len)
{
        const char *at = bytes;
        while (len > 0) {
                ssize_t put = send(fd, at, len, MSG_NOSIGNAL);
                if (put <= 0)
                        return false;
                at += put;
                len -= (size_t)put;
        }
        return true;
}

bool raw_ended(int fd, int seconds)
{
        const sc_ns   until = sc_clock_now() + seconds * SC_S;
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        char          bytes[4096];
        while (sc_clock_now() < until) {
                if (poll(&ready, 1, 100) == 1 && recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0)
                        return true;
        }
        return false;
}

void raw_reset(int fd)
{
        const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fd);
}

size_t open_descriptors(void)
{
        size_t count = 0;
        DIR   *dir   = opendir("/proc/self/fd");
        ck_assert_ptr_nonnull(dir);
        while (readdir(dir))
                count++;
        closedir(dir);
        return count;
}

bool wait_descriptors(size_t at_most, int seconds)
{
        const sc_ns until = sc_clock_now() + seconds * SC_S;
        while (open_descriptors() > at_most && sc_clock_now() < until)
                poll(NULL, 0, 10);
        return open_descriptors() <= at_most;
}
