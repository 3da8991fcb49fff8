/*
 * template: one command line from the words of the user and one input.  The expansion is reused from
 * task to task and lent until the next one.
 */
#ifndef RUN_TEMPLATE_H
#define RUN_TEMPLATE_H

#include "input.h"
#include "settings.h"

struct expansion {
        struct text  bytes;   /* all words, each with its terminator */
        size_t      *offsets; /* of the words in bytes */
        const char **argv;    /* NULL-terminated */
        size_t       count;
};

void expansion_init(struct expansion *e, const struct settings *s);
void expansion_fini(struct expansion *e);
void expansion_make(struct expansion *e, const struct settings *s, const struct input *in);

/* The command as a shell would read it, for --dry-run. */
void expansion_show(const struct expansion *e, const struct settings *s, struct text *out);

/* Adds word with its placeholders replaced; true when it had any. */
bool template_add(struct text *out, const char *word, const struct input *in);

#endif
