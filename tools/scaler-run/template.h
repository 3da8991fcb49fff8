/*
 * template: one command line from the words of the user and the values of one task.  The expansion is reused
 * from task to task and lent until the next one.
 */
#ifndef RUN_TEMPLATE_H
#define RUN_TEMPLATE_H

#include "graph.h"
#include "settings.h"
#include "window.h"

struct values {
        struct span *items;
        size_t       count, room;
        uint64_t     number; /* of the task */
};

struct expansion {
        struct values values;
        struct text   bytes;   /* all words, each with its terminator */
        size_t       *offsets; /* of the words in bytes */
        const char  **argv;    /* NULL-terminated */
        size_t        count, room;
        bool          shell; /* argv[0] is a script for /bin/sh */
};

void expansion_fini(struct expansion *e); /* of one that is all zero at first */
void expansion_make(struct expansion *e, const struct settings *s, const struct task *task);
void expansion_make_node(struct expansion *e, const struct graph *g, const struct node *node);

/* Adds the command as a shell would read it; one from a joblog, a script, stands as it is. */
void expansion_show(const struct expansion *e, bool script, struct text *out);

/* A word as a shell of any kind reads it. */
void template_add_quoted(struct text *out, const char *word);

/* Adds word with its placeholders replaced; true when it had any. */
bool template_add(struct text *out, const char *word, const struct values *values);

#endif
