/*
 * log_read: what a joblog says has happened already.  The last line of a number counts.  A last line without
 * its end was cut off by a crash: it is not there.
 */
#ifndef RUN_LOG_READ_H
#define RUN_LOG_READ_H

#include "graph.h"
#include "ranges.h"

#define JOBLOG_HEAD "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"

struct joblog_failed {
        uint64_t number;
        size_t   line;    /* of the log */
        char    *command; /* as a shell reads it, owned; NULL: that line says success */
};

struct joblog_past {
        struct ranges         done; /* numbers that have a line, however they ended */
        struct joblog_failed *failed;
        size_t                failed_count, failed_room;
};

/* 0, or -1 and errno: EINVAL when it is no joblog.  A log that is missing or empty has no past.  Failed ones are
 * read when they are wanted; otherwise the done ones. */
int  joblog_read(struct joblog_past *past, const char *path, bool want_failed);
bool joblog_has_failed(const struct joblog_past *past, uint64_t number); /* of failed ones that were read */
void joblog_past_free(struct joblog_past *past);

/* Nodes whose last line says success are left out.  0, or -1 and errno as above; EBADMSG: *line_out is of no node. */
int joblog_read_nodes(struct graph *g, const char *path, size_t *line_out);

/* One line without its end: false: it is none of a joblog.  command_out points into the line. */
bool joblog_parse(char *line, uint64_t *number_out, bool *failed_out, char **command_out);

/* A command as logged, with its $'\n' as a shell of any kind reads it: a line end in quotes. */
char *joblog_command(const char *logged);

#endif
