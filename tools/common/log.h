/*
 * log: where the tools' lines go.  Each line leaves in one write(2), so lines of threads and processes
 * sharing stderr do not mix.  Holds no state; any thread may log.
 */
#ifndef TOOLS_LOG_H
#define TOOLS_LOG_H

#include <scaler.h>

/* A scaler_log_fn: "2026-01-31T10:00:00.000Z INFO scheduler: line"; ctx is not used. */
void log_to_stderr(void *ctx, const scaler_log_record *record);

/* A line of the tool itself, in the same form. */
void log_line(const char *role, int32_t level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
