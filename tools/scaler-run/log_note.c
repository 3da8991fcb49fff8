/*
 * log_note: writes and reads notes.
 */
#include "log_note.h"

#include <inttypes.h>
#include <stdlib.h>

#include "template.h"

static const char skipped_words[] = "skipped after ";

void log_note_add(struct text *out, const char *node, const struct task *task)
{
        const bool skipped = task_is_skipped(task);
        if (!node && !skipped)
                return;
        text_add_string(out, ": ");
        if (node)
                template_add_quoted(out, node);
        if (node && skipped)
                text_add_char(out, ' ');
        if (skipped)
                text_add_string(out, skipped_words);
        if (skipped && task->root_name)
                template_add_quoted(out, task->root_name);
        else if (skipped)
                text_print(out, "%" PRIu64, task->root);
        text_add_string(out, "; ");
}

/* One word as template_add_quoted() has written it; gives what follows. */
static const char *read_quoted(const char *at, struct text *out)
{
        char quote = '\0';
        text_add(out, "", 0);
        for (; *at && (quote || (*at != ' ' && *at != ';')); at++) {
                if (quote ? *at == quote : *at == '\'' || *at == '"')
                        quote = quote ? '\0' : *at;
                else
                        text_add_char(out, *at);
        }
        return at;
}

bool log_note_read(struct log_note *note, const char *command)
{
        *note = (struct log_note){ .skipped = false };
        if (strncmp(command, ": ", 2) != 0)
                return false;
        const char *at = command + 2;
        note->skipped  = strncmp(at, skipped_words, sizeof skipped_words - 1) == 0;
        if (!note->skipped) {
                at            = read_quoted(at, &note->name);
                note->skipped = *at == ' ' && strncmp(at + 1, skipped_words, sizeof skipped_words - 1) == 0;
        }
        return note->skipped || *at == ';';
}
