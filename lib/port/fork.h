/*
 * Whether this process is a fork of one that had a runtime: its copies of locks may be held by threads it does not
 * have, its copies of sockets are the parent's, and nng aborts there.  Threads: any.
 */
#ifndef SC_FORK_H
#define SC_FORK_H

#include <stdbool.h>

void sc_fork_watch(void); /* before the first runtime of a process; the second call does nothing */
bool sc_forked(void);

#endif
