/*
 * sink: after POLLOUT a pipe, a terminal and a socket take at least PIPE_BUF bytes without waiting, so
 * that is how much is written at a time to what may wait.
 */
#include "sink.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sink_init(struct sink *s, int fd)
{
        struct stat status;
        memset(s, 0, sizeof *s);
        s->fd          = fd;
        s->never_waits = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

size_t sink_room(const struct sink *s)
{
        return s->broken ? SINK_BYTES : SINK_BYTES - (s->size - s->start);
}

size_t sink_add(struct sink *s, const void *bytes, size_t size)
{
        if (s->broken)
                return size;
        if (s->start > 0 && SINK_BYTES - s->size < size) {
                memmove(s->bytes, s->bytes + s->start, s->size - s->start);
                s->size -= s->start;
                s->start = 0;
        }
        size_t part = SINK_BYTES - s->size < size ? SINK_BYTES - s->size : size;
        memcpy(s->bytes + s->size, bytes, part);
        s->size += part;
        return part;
}

static bool can_write(const struct sink *s)
{
        struct pollfd ready = { .fd = s->fd, .events = POLLOUT };
        return s->never_waits || poll(&ready, 1, 0) > 0;
}

static void write_part(struct sink *s)
{
        size_t part = s->size - s->start;
        if (!s->never_waits && part > PIPE_BUF)
                part = PIPE_BUF;
        ssize_t put = write(s->fd, s->bytes + s->start, part);
        if (put > 0)
                s->start += (size_t)put;
        else if (put < 0 && errno == EAGAIN)
                s->stuck = true;
        else if (put < 0 && errno != EINTR)
                s->broken = errno;
}

bool sink_flush(struct sink *s)
{
        s->stuck = false;
        while (s->start < s->size && !s->stuck && !s->broken) {
                if (can_write(s))
                        write_part(s);
                else
                        s->stuck = true;
        }
        if (s->stuck)
                return false;
        s->start = 0;
        s->size  = 0;
        return true;
}
