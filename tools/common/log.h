/*
 * log: where the tools' lines go.  Each line leaves in one write(2), so lines of threads and processes
 * sharing stderr do not mix.  Any thread may log.
 */
#ifndef TOOLS_LOG_H
#define TOOLS_LOG_H

#include <pthread.h>
#include <scaler.h>

/* A scaler_log_fn: "2026-01-31T10:00:00.000Z INFO scheduler: line"; ctx is not used. */
void log_to_stderr(void *ctx, const scaler_log_record *record);

enum { LOG_KEPT_MAX = 256 };

struct log_kept { /* what there was to say last and was not asked for: perhaps why nothing came of it */
        int32_t         level; /* what is asked for */
        pthread_mutex_t lock;
        char            line[LOG_KEPT_MAX];
};

/* A scaler_log_fn for a runtime at SCALER_LOG_WARN at least; ctx is a struct log_kept. */
void log_or_keep(void *ctx, const scaler_log_record *record);
/* The level of the runtime that such a log is for. */
int32_t log_kept_init(struct log_kept *kept, int32_t level);
/* " (LINE)" of the line kept last, or nothing. */
void log_kept_read(struct log_kept *kept, char out[LOG_KEPT_MAX + 4]);

/* A line of the tool itself, in the same form. */
void log_line(const char *role, int32_t level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
