/*
 * Plain sockets to where a node listens, for peers that do not behave.
 */
#ifndef RAW_H
#define RAW_H

#include <stdbool.h>
#include <stddef.h>

int    raw_connect(const char *bound); /* tcp:, ipc: or abstract:; blocking */
int    raw_socket(const char *bound);  /* the same in two steps */
void   raw_join(int fd, const char *bound);
bool   raw_write(int fd, const void *bytes, size_t len);
bool   raw_ended(int fd, int seconds); /* the other side has closed within that time; what it sent is thrown away */
void   raw_reset(int fd);              /* closes with RST where there is such a thing */
size_t open_descriptors(void);
bool   wait_descriptors(size_t at_most, int seconds); /* nng closes them on a thread of its own, a little later */

#endif
