/*
 * signals: SIGINT, SIGTERM and SIGHUP as a descriptor.  They are blocked before the first thread is made
 * and read by the tool's main thread, so nothing runs in signal context.  SIGPIPE is blocked too: a
 * closed reader shows as EPIPE.  A signal that was ignored when the tool started (nohup) stays ignored.
 */
#ifndef TOOLS_SIGNALS_H
#define TOOLS_SIGNALS_H

#include <stdint.h>

int  signals_open(void);                       /* a descriptor for poll(), or -1; the owner closes it */
int  signals_take(int fd);                     /* the next signal, or 0 */
int  signals_wait(int fd, int64_t timeout_ms); /* the next signal, or 0 after the time; -1: for ever */
void signals_die_by(int signal_number);        /* as if it had never been blocked */

#endif
