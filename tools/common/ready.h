/*
 * ready: the --ready-file.  It appears whole, by rename, when the tool is ready; one left over from an
 * earlier run is removed first, so whoever waits for it never meets a stale one.
 */
#ifndef TOOLS_READY_H
#define TOOLS_READY_H

#include <stdbool.h>

void ready_forget(const char *path);                     /* NULL: nothing to do */
bool ready_write(const char *path, const char *content); /* false: errno says why; path NULL: true */

#endif
