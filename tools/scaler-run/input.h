/*
 * input: one list of inputs as a stream, from the command line or from a descriptor that may be slow.  Nothing
 * here blocks: who is told INPUT_WAITS polls the descriptor.  A line longer than INPUT_BYTES_MAX cannot
 * be an argument of any command; it is counted, not kept.
 */
#ifndef RUN_INPUT_H
#define RUN_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"
#include "text.h"

#define INPUT_BYTES_MAX (1024 * 1024)
#define INPUT_AHEAD_MAX (4 * 1024 * 1024)

enum input_answer { INPUT_IS_HERE, INPUT_WAITS, INPUT_ENDS, INPUT_BREAKS /* errno */ };

struct input {
        const char *data; /* lent until the next call */
        size_t      size;
        uint64_t    number;    /* from 1 */
        uint64_t    long_size; /* not 0: it was so long, and data is its beginning */
};

struct inputs {
        const struct settings *settings;
        int                    fd; /* -1: the command line */
        char                   delimiter;
        uint64_t               given;   /* inputs handed out */
        struct text            ahead;   /* read, not handed out */
        size_t                 start;   /* of the next input in ahead */
        size_t                 looked;  /* no delimiter before this place */
        uint64_t               skipped; /* bytes dropped of a line that is too long */
        char                   skipped_head[64];
        bool                   ended; /* the descriptor has no more */
        uint64_t               total; /* known when not 0 or `total_known` */
        bool                   total_known;
};

/* 0, or -1 and errno. */
int  inputs_open(struct inputs *in, const struct settings *settings);
void inputs_close(struct inputs *in);

enum input_answer inputs_next(struct inputs *in, struct input *out);

/* Reads on although nobody wants an input yet, so that the number of inputs is known early. */
void inputs_read_ahead(struct inputs *in);
bool inputs_want_ahead(const struct inputs *in);

#endif
