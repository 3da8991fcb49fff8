/*
 * option: the command line of every tool as one table, from which parsing, range checks and --help come.
 * A row names where its value goes; rows are read, never written.  Mistakes are told in one line that
 * names the option, on stderr.  --help and --version are known to every tool.
 */
#ifndef TOOLS_OPTION_H
#define TOOLS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
        OPTION_FLAG,  /* bool */
        OPTION_TEXT,  /* const char * */
        OPTION_LIST,  /* struct option_list: may be given again */
        OPTION_COUNT, /* int64_t */
        OPTION_SIGNED, /* int64_t, which may be negative */
        OPTION_BYTES, /* int64_t; K M G T */
        OPTION_TIME,  /* int64_t milliseconds; seconds unless ms s m h follows */
        OPTION_LEVEL  /* int32_t, a scaler_log_level */
};

enum option_word {                            /* words a number may be replaced by */
                   OPTION_WORD_NONE      = 1, /* "none": SCALER_NONE */
                   OPTION_WORD_UNLIMITED = 2  /* "unlimited": SCALER_UNLIMITED */
};

struct option_list {
        const char **items; /* the owner frees this array only */
        size_t       count;
};

struct option_row {
        const char      *name;
        char             letter; /* 0: none */
        enum option_kind kind;
        void            *target;
        int64_t          min;
        int64_t          max;
        unsigned         words;
        const char      *value; /* its name in --help */
        const char      *help;
};

struct program {
        const char              *name;
        const char              *usage; /* what follows the name */
        const char              *about;
        const char              *after; /* NULL, or words after the options in --help */
        const struct option_row *rows;
        size_t                   row_count;
        const struct option_row *shared; /* further rows, those that several programs have; NULL: none */
        size_t                   shared_count;
        int                      usage_exit;
        bool                     first_word_ends; /* options end at the first word: the rest is a command */
};

#define PROGRAM_GOES_ON (-1)

/* PROGRAM_GOES_ON, or the exit code.  words: what is not an option, in order; lends argv. */
int program_parse(const struct program *p, int argc, char *const *argv, struct option_list *words);

/* One line on stderr: "NAME: ...".  Gives the code, so that a mistake is `return program_refuse(...)`. */
int program_refuse(const struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

void option_list_add(struct option_list *list, const char *item);
void option_list_free(struct option_list *list);

bool option_read_count(const char *text, int64_t *out);
bool option_read_signed(const char *text, int64_t *out);
bool option_read_bytes(const char *text, int64_t *out);
bool option_read_time(const char *text, int64_t *ms_out);

#endif
