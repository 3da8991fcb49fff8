/*
 * source: several lists of inputs at once.  Linked lists go along with each other and form a group, as long
 * as its shortest list; every combination of the groups is a row, the last group changing fastest.  Lists
 * are in memory: those of files are read whole.
 */
#ifndef RUN_SOURCE_H
#define RUN_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"
#include "text.h"

struct source {
        struct text  text; /* of a file: what the items lie in */
        struct span *items;
        size_t       count, room;
        bool         linked;
};

struct sources {
        struct source *items;
        size_t         count;
        size_t        *places; /* of each list: where its group stands */
        bool           ended;
        uint64_t       total; /* UINT64_MAX: as many, or more */
};

/* 0, or -1 and errno; *name_out is the file that cannot be read. */
int  sources_open(struct sources *s, const struct settings *settings, const char **name_out);
void sources_close(struct sources *s);

/* The next row as s->count spans, lent until close; false: there are no more. */
bool sources_next(struct sources *s, struct span *row);

#endif
