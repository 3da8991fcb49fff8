/*
 * log_read: reads a joblog of ours or of GNU parallel line by line.
 */
#include "log_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "log_note.h"
#include "option.h"
#include "text.h"

typedef int take_line(void *context, uint64_t number, size_t line, bool failed, const char *command);

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
static int read_lines(FILE *file, take_line *take, void *context)
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
                if (joblog_parse(line, &number, &failed, &command))
                        status = take(context, number, count, failed, command);
        }
        const int error = count == 1 && status < 0 ? EINVAL : errno;
        if (ferror(file))
                status = -1;
        free(line);
        errno = error;
        return status;
}

static int read_file(const char *path, bool may_be_missing, take_line *take, void *context)
{
        FILE *file = fopen(path, "re");
        if (!file)
                return errno == ENOENT && may_be_missing ? 0 : -1;
        int status = read_lines(file, take, context);
        int error  = errno;
        fclose(file);
        errno = error;
        return status;
}

static bool was_skipped(const char *command)
{
        struct log_note note;
        const bool      skipped = log_note_read(&note, command) && note.skipped;
        text_free(&note.name);
        return skipped;
}

/* ---- inputs ---- */

static int take_failed(void *context, uint64_t number, size_t line, bool failed, const char *command)
{
        if (!failed || !was_skipped(command))
                keep(context, number, line, failed ? command : NULL);
        return 0;
}

static int take_ended(void *context, uint64_t number, size_t line, bool failed, const char *command)
{
        struct joblog_past *past = context;
        (void)line;
        if (!failed || !was_skipped(command))
                ranges_add(&past->done, number);
        return 0;
}

int joblog_read(struct joblog_past *past, const char *path, bool want_failed)
{
        *past      = (struct joblog_past){ .failed = NULL };
        int status = read_file(path, !want_failed, want_failed ? take_failed : take_ended, past);
        int error  = errno;
        ranges_settle(&past->done);
        keep_last_failures(past);
        errno = error;
        return status;
}

bool joblog_has_failed(const struct joblog_past *past, uint64_t number)
{
        size_t low = 0, high = past->failed_count;
        while (low < high) {
                const size_t middle = low + (high - low) / 2;
                if (past->failed[middle].number < number)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < past->failed_count && past->failed[low].number == number;
}

void joblog_past_free(struct joblog_past *past)
{
        for (size_t i = 0; i < past->failed_count; i++)
                free(past->failed[i].command);
        free(past->failed);
        ranges_free(&past->done);
        *past = (struct joblog_past){ .failed = NULL };
}

/* ---- nodes ---- */

struct node_lines {
        struct graph *graph;
        bool         *succeeded; /* by the last line of each */
        size_t        line;
};

static int take_node(void *context, uint64_t number, size_t line, bool failed, const char *command)
{
        struct node_lines *lines = context;
        struct log_note    note;
        (void)number;
        const bool     named = log_note_read(&note, command) && note.name.data;
        const uint32_t index = named ? graph_find(lines->graph, note.name.data) : GRAPH_NOBODY;
        text_free(&note.name);
        if (index != GRAPH_NOBODY)
                lines->succeeded[index] = !failed;
        if (named)
                return 0;
        lines->line = line;
        errno       = EBADMSG;
        return -1;
}

int joblog_read_nodes(struct graph *g, const char *path, size_t *line_out)
{
        struct node_lines lines = { .graph = g, .succeeded = memory_grow(NULL, g->count) };
        memset(lines.succeeded, 0, g->count);
        int status = read_file(path, true, take_node, &lines);
        int error  = errno;
        for (uint32_t i = 0; i < g->count && status == 0; i++)
                if (lines.succeeded[i])
                        graph_leave_out(g, i);
        free(lines.succeeded);
        *line_out = lines.line;
        errno     = error;
        return status;
}
