/*
 * log_read: reads a joblog of ours or of GNU parallel line by line.
 */
#include "log_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "option.h"
#include "text.h"

enum { COLUMN_SEQ = 0, COLUMN_EXITVAL = 6, COLUMN_SIGNAL = 7, COLUMN_COMMAND = 8, COLUMNS = 9 };

bool joblog_parse(char *line, uint64_t *number_out, bool *failed_out, char **command_out)
{
        char   *columns[COLUMNS];
        int64_t number = 0;
        columns[0]     = line;
        for (int i = 1; i < COLUMNS; i++) {
                char *tab = strchr(columns[i - 1], '\t');
                if (!tab)
                        return false;
                *tab       = '\0';
                columns[i] = tab + 1;
        }
        if (!option_read_count(columns[COLUMN_SEQ], &number) || number == 0)
                return false;
        *number_out  = (uint64_t)number;
        *failed_out  = strcmp(columns[COLUMN_EXITVAL], "0") != 0 || strcmp(columns[COLUMN_SIGNAL], "0") != 0;
        *command_out = columns[COLUMN_COMMAND];
        return true;
}

char *joblog_command(const char *logged)
{
        static const char line_end[] = "$'\\n'";
        struct text       out        = { 0 };
        char              quote      = '\0';
        text_add(&out, "", 0);
        for (const char *at = logged; *at; at++) {
                if (!quote && strncmp(at, line_end, sizeof line_end - 1) == 0) {
                        text_add_string(&out, "'\n'");
                        at += sizeof line_end - 2;
                        continue;
                }
                if (*at == '\\' && quote != '\'' && at[1])
                        text_add_char(&out, *at++);
                else if (quote ? *at == quote : *at == '\'' || *at == '"')
                        quote = quote ? '\0' : *at;
                text_add_char(&out, *at);
        }
        return out.data;
}

/* A success is kept only when there is a failure that it may take back. */
static void keep(struct joblog_past *past, uint64_t number, size_t line, const char *command)
{
        if (!command && past->failed_count == 0)
                return;
        if (past->failed_count == past->failed_room) {
                past->failed_room = past->failed_room ? past->failed_room * 2 : 16;
                past->failed      = memory_grow(past->failed, past->failed_room * sizeof *past->failed);
        }
        past->failed[past->failed_count++] = (struct joblog_failed){
                .number  = number,
                .line    = line,
                .command = command ? joblog_command(command) : NULL,
        };
}

static int compare(const void *a, const void *b)
{
        const struct joblog_failed *left = a, *right = b;
        if (left->number != right->number)
                return left->number > right->number ? 1 : -1;
        return (left->line > right->line) - (left->line < right->line);
}

static void keep_last_failures(struct joblog_past *past)
{
        size_t kept = 0;
        if (past->failed_count > 1)
                qsort(past->failed, past->failed_count, sizeof *past->failed, compare);
        for (size_t i = 0; i < past->failed_count; i++) {
                struct joblog_failed *this = &past->failed[i];
                bool is_last = i + 1 == past->failed_count || past->failed[i + 1].number != this->number;
                if (is_last && this->command)
                        past->failed[kept++] = *this;
                else
                        free(this->command);
        }
        past->failed_count = kept;
}

/* A line of a command that has line ends of its own, as GNU parallel logs it, is none: it is passed by. */
static int read_lines(struct joblog_past *past, FILE *file, bool want_failed)
{
        char   *line = NULL;
        size_t  room = 0, count = 0;
        ssize_t size;
        int     status = 0;
        while (status == 0 && (size = getline(&line, &room, file)) > 0) {
                uint64_t number;
                bool     failed;
                char    *command;
                if (count++ == 0) {
                        status = strncmp(line, JOBLOG_HEAD, (size_t)size) == 0 ? 0 : -1;
                        continue;
                }
                if (line[size - 1] != '\n')
                        break;
                line[size - 1] = '\0';
                if (!joblog_parse(line, &number, &failed, &command))
                        continue;
                if (want_failed)
                        keep(past, number, count, failed ? command : NULL);
                else
                        ranges_add(&past->done, number);
        }
        if (status < 0)
                errno = EINVAL;
        else if (ferror(file))
                status = -1;
        free(line);
        return status;
}

int joblog_read(struct joblog_past *past, const char *path, bool want_failed)
{
        FILE *file = fopen(path, "re");
        *past      = (struct joblog_past){ .failed = NULL };
        if (!file)
                return errno == ENOENT && !want_failed ? 0 : -1;
        int status = read_lines(past, file, want_failed);
        int error  = errno;
        fclose(file);
        ranges_settle(&past->done);
        keep_last_failures(past);
        errno = error;
        return status;
}

void joblog_past_free(struct joblog_past *past)
{
        for (size_t i = 0; i < past->failed_count; i++)
                free(past->failed[i].command);
        free(past->failed);
        ranges_free(&past->done);
        *past = (struct joblog_past){ .failed = NULL };
}
