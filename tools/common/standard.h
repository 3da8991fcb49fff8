/*
 * standard: descriptors 0, 1 and 2, which a tool may find closed.  Whatever it opens next would be taken
 * for stdin, stdout or stderr, and a line of the log would go into a socket.
 */
#ifndef TOOLS_STANDARD_H
#define TOOLS_STANDARD_H

#include <stdbool.h>

/* Fills what is closed with what refuses: reading from a closed stdin, writing to a closed stdout stays an error. */
bool standard_fill(void);

#endif
