/* A descriptor that somebody else may poll: readable while it is set. */
#ifndef SC_WAKE_FD_H
#define SC_WAKE_FD_H

#include <stdbool.h>

int  sc_wake_fd_open(bool set);        /* a descriptor, or SC_E_IO */
void sc_wake_fd_set(int fd, bool set); /* at most one change each way in turn; keeps errno */
void sc_wake_fd_close(int fd);         /* accepts negative ones */

#endif
