/*
 * record: what one task is about.  Rows of inputs are cut into columns and put together to as many as a
 * command takes; what a joblog has is left out or, to be run again, comes from there.  Numbers count from 1
 * and do not depend on what is left out.
 */
#ifndef RUN_RECORD_H
#define RUN_RECORD_H

#include <regex.h>

#include "input.h"
#include "log_read.h"
#include "source.h"

struct record {
        const char *data; /* the values with a NUL between each two; lent until the next call */
        size_t      size;
        uint32_t    count; /* of values */
        uint64_t    number;
        uint64_t    long_size; /* not 0: an input was so long, and data is only a beginning */
        bool        has_nul;   /* an input has a NUL: no command can be given it, and count is 1 */
        bool        script;    /* data is the whole command, from a joblog */
};

struct records {
        const struct settings *settings;
        struct inputs          inputs; /* of one list */
        struct sources         sources;
        struct span           *row; /* of several lists */
        regex_t                colsep;
        bool                   has_colsep;
        bool                   ended;
        struct joblog_past     past;
        struct joblog_past     failed; /* the same log's failures, where it matters which of its tasks succeeded */
        size_t                 retried; /* of past.failed */
        uint64_t               given;   /* numbers given away, left out or not */
        uint64_t               left_out;
        struct text            values; /* of the record that is being put together */
        uint32_t               value_count;
        uint32_t               row_count;
        uint64_t               long_size;
        bool                   has_nul;
};

/* PROGRAM_GOES_ON, or the exit code after having said why. */
int  records_open(struct records *r, const struct settings *s, const struct program *p);
void records_close(struct records *r);

enum input_answer records_next(struct records *r, struct record *out);

/* Whether the joblog has this task already, or (failed_out) says that it has failed and is not to be run again. */
bool record_is_over(const struct records *r, uint64_t number, bool *failed_out);

/* How many tasks there will have been; 0: not known yet. */
uint64_t records_total(const struct records *r);

/* The regular expression of --colsep: extended, and \t is a tab.  0, or regcomp's error. */
int record_compile(regex_t *out, const char *pattern);

#endif
