/*
 * summary: what is said of a graph at the end, branch by branch: which node failed and why, and what was skipped
 * because of it.  Of very many only the first are told.
 */
#ifndef RUN_SUMMARY_H
#define RUN_SUMMARY_H

#include "graph.h"
#include "window.h"

#define SUMMARY_FAILED_MAX  20
#define SUMMARY_SKIPPED_MAX 10

struct summary {
        struct {
                uint32_t index;
                char    *words; /* why */
        } failed[SUMMARY_FAILED_MAX];
        uint32_t count; /* beyond what is kept, too */
};

void summary_note(struct summary *s, uint32_t index, const struct task *task);

/* Lines for stderr; nothing when everything succeeded. */
void summary_make(const struct summary *s, const struct graph *g, struct text *out);
void summary_free(struct summary *s);

#endif
