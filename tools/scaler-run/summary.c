/*
 * summary: a line for each branch that failed, and one of counts.
 */
#include "summary.h"

#include <stdlib.h>

#define LINE_BEGIN "scaler-run: "

void summary_note(struct summary *s, uint32_t index, const struct task *task)
{
        struct text words = { 0 };
        if (s->count++ >= SUMMARY_FAILED_MAX)
                return;
        task_describe(task, &words);
        s->failed[s->count - 1].index = index;
        s->failed[s->count - 1].words = words.data;
}

static uint32_t count_skipped(const struct graph *g, uint32_t root)
{
        uint32_t count = 0;
        for (uint32_t i = 0; i < g->count; i++)
                count += g->nodes[i].state == NODE_SKIPPED && g->nodes[i].root == root + 1;
        return count;
}

static void add_skipped(const struct graph *g, uint32_t root, struct text *out)
{
        const uint32_t count = count_skipped(g, root);
        uint32_t       shown = 0;
        if (count > 0)
                text_print(out, "; skipped after it (%u): ", count);
        for (uint32_t i = 0; i < g->count && shown < count && shown < SUMMARY_SKIPPED_MAX; i++) {
                if (g->nodes[i].state != NODE_SKIPPED || g->nodes[i].root != root + 1)
                        continue;
                text_print(out, "%s%s", shown > 0 ? ", " : "", graph_name(g, i));
                shown++;
        }
        if (shown < count)
                text_add_string(out, ", ...");
}

static void add_counts(const struct graph *g, struct text *out)
{
        uint32_t counts[NODE_SKIPPED + 1] = { 0 };
        for (uint32_t i = 0; i < g->count; i++)
                counts[g->nodes[i].state]++;
        text_print(out, LINE_BEGIN "of %u nodes %u succeeded", g->count, counts[NODE_DONE]);
        if (g->left_out > 0)
                text_print(out, " (%u of them before)", g->left_out);
        text_print(out, ", %u failed, %u were skipped", counts[NODE_FAILED], counts[NODE_SKIPPED]);
        const uint32_t rest = counts[NODE_WAITS] + counts[NODE_TAKEN] + counts[NODE_GIVEN_UP];
        if (rest > 0)
                text_print(out, ", %u were not run", rest);
        text_add_char(out, '\n');
}

void summary_make(const struct summary *s, const struct graph *g, struct text *out)
{
        bool all = true;
        for (uint32_t i = 0; i < g->count; i++)
                all &= g->nodes[i].state == NODE_DONE;
        if (all)
                return;
        for (uint32_t i = 0; i < s->count && i < SUMMARY_FAILED_MAX; i++) {
                text_print(out, LINE_BEGIN "node %s: %s", graph_name(g, s->failed[i].index), s->failed[i].words);
                add_skipped(g, s->failed[i].index, out);
                text_add_char(out, '\n');
        }
        if (s->count > SUMMARY_FAILED_MAX)
                text_print(out, LINE_BEGIN "and %u more nodes failed\n", s->count - SUMMARY_FAILED_MAX);
        add_counts(g, out);
}

void summary_free(struct summary *s)
{
        for (uint32_t i = 0; i < s->count && i < SUMMARY_FAILED_MAX; i++)
                free(s->failed[i].words);
}
