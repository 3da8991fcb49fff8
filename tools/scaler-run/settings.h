/*
 * settings: what the command line of scaler-run asks for, read once and not changed afterwards.
 * Strings are lent by argv; the lists are owned.
 */
#ifndef RUN_SETTINGS_H
#define RUN_SETTINGS_H

#include <scaler.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access.h"
#include "halt.h"
#include "option.h"

enum { RUN_EXIT_FAILED_MAX = 101, RUN_EXIT_BROKEN = 255 };

#define MAX_ARGS_MAX 65536
#define RATE_MAX     1000000
#define STEPS_MAX    100

/* One command of a chain: what runs for an input when the one before it has succeeded for that input. */
struct step {
        const char *const *command;
        size_t             count;
};

/* One list of inputs on the command line: words, or the lines of a file. */
struct source_words {
        const char *const *words;
        size_t             count;
        const char        *file;   /* not NULL: its lines instead */
        bool               linked; /* goes along with the list before it */
};

struct settings {
        const char *const   *command; /* command and its arguments, templates */
        size_t               command_count;
        struct step         *steps; /* --after: the chain, of which command is the first; NULL: it is all */
        size_t               step_count;
        const char          *graph; /* the file of a graph instead of command and inputs */
        struct source_words *sources; /* ::: and its kin; none: input_file */
        size_t               source_count;
        struct option_list   arg_files;
        const char          *input_file; /* the only list, by its lines; NULL: stdin */
        bool                 null_separated;
        const char          *colsep;   /* NULL: an input is one value */
        int64_t              max_args; /* inputs per command; 0: none of the one it is run for */
        bool                 shell;
        bool                 no_append;
        int64_t              jobs; /* 0: usable CPUs, or what a running cluster takes */
        bool                 unordered;
        bool                 group;
        bool                 line_buffer;
        bool                 tag;
        bool                 verbose;
        bool                 json;
        const char          *results;
        const char          *joblog;
        bool                 resume;
        bool                 retry_failed;
        bool                 dry_run;
        bool                 quiet;
        bool                 no_progress;
        bool                 eta;
        const char          *halt_asked;
        struct halt          halt;
        int64_t              delay_ms;
        const char          *rate_asked;
        int64_t              rate_gap_us; /* between two starts, by --max-rate; 0: no limit */
        int64_t              timeout_ms;
        int64_t              retries;
        const char          *retry_on;
        int64_t              backoff_ms;
        int64_t              backoff_max_ms;
        int64_t              not_before_ms;
        int64_t              queue_timeout_ms;
        int64_t              deadline_ms;
        int64_t              priority;
        const char          *needs;
        const char          *task_tag;
        const char          *tenant;
        int64_t              max_running;
        const char          *workdir;
        int64_t              nice;
        int64_t              kill_grace_ms;
        int64_t              scheduler_timeout_ms;
        const char          *url; /* NULL: a cluster of our own */
        struct access        access;
        struct option_list   env_asked; /* NAME or NAME=VALUE */
        char               **env;       /* NULL-terminated NAME=VALUE; NULL: nothing asked */
        int32_t              log_level;
        struct option_list   words; /* what command and inputs point into */
};

/* How many commands there are for each input, at least 1. */
size_t settings_steps(const struct settings *s);

/* PROGRAM_GOES_ON, or the exit code. */
int  settings_read(struct settings *s, int argc, char **argv, struct program *p);
void settings_fini(struct settings *s);

/* "N/s" "N/m" "N/h" or "N": microseconds between two starts.  False: none of these, or beyond RATE_MAX. */
bool settings_read_rate(const char *text, int64_t *gap_us_out);

/* What every task asks for, but for its command. */
void settings_fill_spec(const struct settings *s, scaler_spec *spec);

/* options.c: the table of options; fills s and s->words. */
int options_parse(struct settings *s, int argc, char **argv, struct program *p);

#endif
