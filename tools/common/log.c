/*
 * log: formats one record and writes it to stderr at once, on whichever thread has something to say.
 */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024

static const char *level_name(int32_t level)
{
        switch (level) {
        case SCALER_LOG_ERROR:
                return "ERROR";
        case SCALER_LOG_WARN:
                return "WARN";
        case SCALER_LOG_INFO:
                return "INFO";
        default:
                return "DEBUG";
        }
}

/* Names of peers are theirs to choose: what could end the line or command a terminal is not printed. */
static void hide_controls(char *line, size_t size)
{
        for (size_t i = 0; i < size; i++)
                if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
                        line[i] = '?';
}

void log_to_stderr(void *ctx, const scaler_log_record *record)
{
        (void)ctx;
        int       saved   = errno;
        time_t    seconds = (time_t)(record->time_ms / 1000);
        struct tm parts;
        char      when[32] = "-";
        if (gmtime_r(&seconds, &parts))
                strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &parts);
        char line[LINE_MAX_BYTES];
        int  size = snprintf(line, sizeof line, "%s.%03dZ %s %s: %s", when, (int)(record->time_ms % 1000),
                             level_name(record->level), record->role, record->line);
        if (size > 0) {
                size_t end = (size_t)size < sizeof line - 1 ? (size_t)size : sizeof line - 2;
                hide_controls(line, end);
                line[end]       = '\n';
                ssize_t ignored = write(STDERR_FILENO, line, end + 1);
                (void)ignored;
        }
        errno = saved;
}

int32_t log_kept_init(struct log_kept *kept, int32_t level)
{
        *kept = (struct log_kept){ .level = level, .lock = PTHREAD_MUTEX_INITIALIZER };
        return level > SCALER_LOG_WARN ? level : SCALER_LOG_WARN;
}

void log_or_keep(void *ctx, const scaler_log_record *record)
{
        struct log_kept *kept = ctx;
        if (record->level <= kept->level) {
                log_to_stderr(NULL, record);
                return;
        }
        pthread_mutex_lock(&kept->lock);
        snprintf(kept->line, sizeof kept->line, "%s", record->line);
        pthread_mutex_unlock(&kept->lock);
}

void log_kept_read(struct log_kept *kept, char out[LOG_KEPT_MAX + 4])
{
        pthread_mutex_lock(&kept->lock);
        hide_controls(kept->line, strlen(kept->line));
        snprintf(out, LOG_KEPT_MAX + 4, kept->line[0] ? " (%s)" : "%s", kept->line);
        pthread_mutex_unlock(&kept->lock);
}

void log_line(const char *role, int32_t level, const char *format, ...)
{
        char    line[LINE_MAX_BYTES];
        va_list args;
        va_start(args, format);
        vsnprintf(line, sizeof line, format, args);
        va_end(args);
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        scaler_log_record record = {
                .size    = sizeof record,
                .level   = level,
                .time_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
                .role    = role,
                .line    = line,
        };
        log_to_stderr(NULL, &record);
}
