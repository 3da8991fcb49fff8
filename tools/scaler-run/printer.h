/*
 * printer: turns ended tasks into bytes on stdout and stderr, one task after the other.  Only one of the
 * two sinks holds bytes at a time, so on a terminal both keep the order of the tasks.
 */
#ifndef RUN_PRINTER_H
#define RUN_PRINTER_H

#include "joblog.h"
#include "progress.h"
#include "report.h"
#include "sink.h"

struct printer {
        const struct settings *settings;
        struct window         *window;
        struct progress       *progress;
        struct joblog         *joblog;
        struct sink            sinks[2];
        bool                   live;  /* the next task may print while it runs: it never starts over */
        struct text            chunk; /* made, not yet in a sink */
        size_t                 chunk_start;
        int                    chunk_sink;
        struct text            tag;
        uint64_t               tag_number; /* whose tag it is */
        bool                   in_line[2]; /* of the task that prints: something stands on the line */
        struct report          report;
        bool                   more; /* there was more to do than one pump does */
        int                    failed; /* errno, 0: fine */
        const char            *failed_what, *failed_file; /* file: NULL, none to name */
};

void printer_init(struct printer *p, const struct settings *s, struct window *w, struct progress *progress,
                  struct joblog *joblog);
void printer_fini(struct printer *p);

/* Prints what can be printed without waiting, a bounded part of it, so that signals are seen in the middle of whatever
 * it is; `more` says that there is more.  true: nothing is left in the buffers. */
bool printer_pump(struct printer *p);

#endif
