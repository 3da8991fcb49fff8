/*
 * settings: what the command line of scaler-run asks for, read once and not changed afterwards.
 * Strings are lent by argv; the lists are owned.
 */
#ifndef RUN_SETTINGS_H
#define RUN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access.h"
#include "option.h"

enum { RUN_EXIT_FAILED_MAX = 101, RUN_EXIT_BROKEN = 255 };

struct settings {
        const char *const *command; /* command and its arguments, templates */
        size_t             command_count;
        const char *const *inputs; /* after ::: */
        size_t             input_count;
        bool               inputs_given;
        const char        *input_file; /* NULL: stdin */
        bool               null_separated;
        bool               shell;
        bool               no_append;
        int64_t            jobs; /* 0: usable CPUs, or what a running cluster takes */
        bool               unordered;
        bool               tag;
        bool               json;
        bool               dry_run;
        bool               quiet;
        bool               no_progress;
        int64_t            timeout_ms;
        int64_t            retries;
        int64_t            kill_grace_ms;
        int64_t            scheduler_timeout_ms;
        const char        *url; /* NULL: a cluster of our own */
        struct access      access;
        struct option_list env_asked; /* NAME or NAME=VALUE */
        char             **env;       /* NULL-terminated NAME=VALUE; NULL: nothing asked */
        int32_t            log_level;
        struct option_list words; /* what command and inputs point into */
};

/* PROGRAM_GOES_ON, or the exit code. */
int  settings_read(struct settings *s, int argc, char **argv, struct program *p);
void settings_fini(struct settings *s);

#endif
