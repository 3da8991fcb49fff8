/*
 * An eventfd that holds 0 or 1.  Setting it twice would still be one read away from clear, so a lost
 * call cannot wedge it.
 */
#include "wake_fd.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sc_status.h"

int sc_wake_fd_open(bool set)
{
        const int saved = errno;
        const int fd    = eventfd(set ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
        errno           = saved;
        return fd >= 0 ? fd : SC_E_IO;
}

void sc_wake_fd_set(int fd, bool set)
{
        const int saved = errno;
        uint64_t  one   = 1;
        if (set ? write(fd, &one, sizeof one) < 0 : read(fd, &one, sizeof one) < 0)
                errno = saved; /* full or empty already: it is as it should be */
}

void sc_wake_fd_close(int fd)
{
        if (fd >= 0)
                close(fd);
}
