/*
 * joblog: makes and writes the lines.
 */
#include "joblog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_note.h"
#include "log_read.h"

enum { EXIT_UNKNOWN = -1, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* Where the last whole line ends; -1 and errno. */
static off_t whole_end(int fd)
{
        char        last = '\0';
        struct stat status;
        if (fstat(fd, &status) < 0)
                return -1;
        if (!S_ISREG(status.st_mode))
                return 0;
        for (off_t end = status.st_size; end > 0; end--) {
                ssize_t got = pread(fd, &last, 1, end - 1);
                if (got < 0)
                        return -1;
                if (got == 1 && last == '\n')
                        return end;
        }
        return 0;
}

/* At the beginning the head; a past that ends in the middle of a line loses that piece. */
static int go_on(int fd)
{
        off_t       end = whole_end(fd);
        struct stat status;
        if (end < 0 || fstat(fd, &status) < 0)
                return -1;
        if (S_ISREG(status.st_mode) && status.st_size > end && ftruncate(fd, end) < 0)
                return -1;
        return end > 0 || write(fd, JOBLOG_HEAD, sizeof JOBLOG_HEAD - 1) == sizeof JOBLOG_HEAD - 1 ? 0 : -1;
}

int joblog_open(struct joblog *log, const struct settings *s)
{
        *log = (struct joblog){ .fd = -1, .host = s->url ? s->url : ":", .nodes = s->graph != NULL };
        if (!s->joblog)
                return 0;
        bool goes_on = s->resume || s->retry_failed;
        log->fd      = open(s->joblog, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | (goes_on ? 0 : O_TRUNC), 0666);
        return log->fd < 0 ? -1 : go_on(log->fd);
}

void joblog_close(struct joblog *log)
{
        if (log->fd >= 0)
                close(log->fd);
        text_free(&log->waiting);
}

void joblog_codes(const struct task *task, int *exit_out, int *signal_out)
{
        bool failed = task->state != SCALER_TASK_DONE;
        *exit_out   = failed ? EXIT_UNKNOWN : 0;
        *signal_out = 0;
        switch (task->exit.how) {
        case SCALER_EXIT_EXITED:
                *exit_out = failed && task->exit.code == 0 ? EXIT_UNKNOWN : (int)task->exit.code;
                break;
        case SCALER_EXIT_SIGNALLED:
                *exit_out   = task->failure.reason == SCALER_REASON_TASK ? 0 : EXIT_UNKNOWN;
                *signal_out = (int)task->exit.code;
                break;
        case SCALER_EXIT_NOT_STARTED:
                *exit_out = task->exit.code == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
                break;
        default:
                break;
        }
}

/* One line for one task, whatever its command holds. */
static void add_command(struct text *out, const char *command)
{
        for (; *command; command++) {
                if (*command == '\n')
                        text_add_string(out, "'$'\\n''");
                else
                        text_add_char(out, *command);
        }
}

void joblog_add(struct joblog *log, const struct task *task)
{
        int exit_code, signal_number;
        if (log->fd < 0)
                return;
        joblog_codes(task, &exit_code, &signal_number);
        int64_t start_ms = task->ended_ms - (int64_t)(task->exit.wall_us / 1000);
        text_print(&log->waiting, "%" PRIu64 "\t%s\t%" PRId64 ".%03d\t%6" PRIu64 ".%03u\t0\t%" PRIu64 "\t%d\t%d\t",
                   task->number, log->host, start_ms / 1000, (int)(start_ms % 1000), task->exit.wall_us / 1000000,
                   (unsigned)(task->exit.wall_us / 1000 % 1000), task->received, exit_code, signal_number);
        log_note_add(&log->waiting, log->nodes ? task->input : NULL, task);
        add_command(&log->waiting, task->command ? task->command : "");
        text_add_char(&log->waiting, '\n');
}

bool joblog_is_full(const struct joblog *log)
{
        return log->waiting.size > JOBLOG_WAITING_MAX;
}

int joblog_flush(struct joblog *log)
{
        if (log->fd < 0 || log->waiting.size == 0)
                return 0;
        ssize_t put = write(log->fd, log->waiting.data, log->waiting.size);
        if (put != (ssize_t)log->waiting.size) {
                errno = put < 0 ? errno : ENOSPC;
                return -1;
        }
        text_clear(&log->waiting);
        return 0;
}
