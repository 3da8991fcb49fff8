/*
 * sink: stdout or stderr with a buffer of our own.  Writing never waits for a reader: a sink says it is
 * stuck, and goes on when poll() finds it writable.  The descriptor's flags are left alone, they belong
 * to whoever shares it.
 */
#ifndef RUN_SINK_H
#define RUN_SINK_H

#include <stdbool.h>
#include <stddef.h>

#define SINK_BYTES 65536

struct sink {
        int    fd;
        bool   never_waits; /* a regular file */
        bool   stuck;       /* poll for POLLOUT */
        int    broken;      /* errno of the write that failed; what comes later is dropped */
        size_t start, size;
        char   bytes[SINK_BYTES];
};

void   sink_init(struct sink *s, int fd);
size_t sink_add(struct sink *s, const void *bytes, size_t size); /* what there was room for */
bool   sink_flush(struct sink *s);                               /* true: empty */
size_t sink_room(const struct sink *s);

#endif
