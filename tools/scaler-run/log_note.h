/*
 * log_note: what stands before a command in the joblog, as a shell's `: WORDS;`, which does nothing: the name of a
 * node, and that it, or a step of a chain, was skipped.  So a line of the log can still be run.
 */
#ifndef RUN_LOG_NOTE_H
#define RUN_LOG_NOTE_H

#include "window.h"

struct log_note {
        struct text name; /* empty: none */
        bool        skipped;
};

/* Nothing when there is nothing to note. */
void log_note_add(struct text *out, const char *node, const struct task *task);

/* False: the command begins with no note.  The caller frees the name. */
bool log_note_read(struct log_note *note, const char *command);

#endif
