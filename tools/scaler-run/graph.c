/*
 * graph: names become edges, edges become queues.  Nothing here is recursive: a graph may be as deep as it has nodes.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#define CIRCLE_SHOWN_MAX 8

const char *graph_text(const struct graph *g, size_t place)
{
        return place ? g->text.data + place : NULL;
}

const char *graph_name(const struct graph *g, uint32_t index)
{
        return g->text.data + g->nodes[index].name;
}

/* ---- names ---- */

static size_t hash(const char *name)
{
        uint64_t h = UINT64_C(0xcbf29ce484222325);
        for (; *name; name++)
                h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
        return (size_t)(h ^ h >> 32);
}

/* The slot that has it, or the free one where it belongs. */
static uint32_t *slot_of(const struct graph *g, const char *name)
{
        size_t at = hash(name) & (g->slot_count - 1);
        while (g->slots[at] != 0 && strcmp(graph_name(g, g->slots[at] - 1), name) != 0)
                at = (at + 1) & (g->slot_count - 1);
        return &g->slots[at];
}

uint32_t graph_find(const struct graph *g, const char *name)
{
        return *slot_of(g, name) - 1;
}

static void *zeroed(size_t count, size_t size)
{
        void *made = memory_grow(NULL, (count + 1) * size);
        memset(made, 0, (count + 1) * size);
        return made;
}

static void say(struct text *error, const char *file, const struct node *node)
{
        text_print(error, "%s:%u: ", file, node->line);
}

static bool enter_names(struct graph *g, const char *file, struct text *error)
{
        g->slot_count = 4;
        while (g->slot_count < (size_t)g->count * 2)
                g->slot_count *= 2;
        g->slots = zeroed(g->slot_count, sizeof *g->slots);
        for (uint32_t i = 0; i < g->count; i++) {
                uint32_t *slot = slot_of(g, graph_name(g, i));
                if (*slot == 0) {
                        *slot = i + 1;
                        continue;
                }
                say(error, file, &g->nodes[i]);
                text_print(error, "node '%s' is there already, in line %u", graph_name(g, i), g->nodes[*slot - 1].line);
                return false;
        }
        return true;
}

/* ---- edges ---- */

static bool find_edges(struct graph *g, const char *file, struct text *error)
{
        g->edges = zeroed(g->edge_count, sizeof *g->edges);
        for (uint32_t i = 0; i < g->count; i++) {
                const struct node *node = &g->nodes[i];
                for (uint32_t k = node->first; k < node->first + node->count; k++) {
                        const char *name = g->text.data + g->after[k];
                        g->edges[k]      = graph_find(g, name);
                        if (g->edges[k] != GRAPH_NOBODY && g->edges[k] != i)
                                continue;
                        say(error, file, node);
                        text_print(error, g->edges[k] == i ? "node '%s': after: it cannot wait for itself"
                                                           : "node '%s': after: there is no node '",
                                   graph_name(g, i));
                        if (g->edges[k] != i) {
                                text_add_shown(error, name, strlen(name), GRAPH_NAME_MAX);
                                text_add_char(error, '\'');
                        }
                        return false;
                }
        }
        free(g->after);
        g->after = NULL;
        return true;
}

static void invert(struct graph *g)
{
        g->reader_first = zeroed(g->count, sizeof *g->reader_first);
        g->readers      = zeroed(g->edge_count, sizeof *g->readers);
        for (uint32_t k = 0; k < g->edge_count; k++)
                g->reader_first[g->edges[k]]++;
        uint32_t sum = 0;
        for (uint32_t i = 0; i <= g->count; i++) { /* becomes where those of i end, and then where they begin */
                sum += i < g->count ? g->reader_first[i] : 0;
                g->reader_first[i] = sum;
        }
        for (uint32_t i = g->count; i-- > 0;) {
                const struct node *node = &g->nodes[i];
                for (uint32_t k = node->first + node->count; k-- > node->first;)
                        g->readers[--g->reader_first[g->edges[k]]] = i;
        }
}

/* How many nodes can be put in an order; left of those that cannot stays above 0. */
static uint32_t sort(struct graph *g)
{
        uint32_t *order = g->stack, tail = 0;
        for (uint32_t i = 0; i < g->count; i++) {
                g->nodes[i].left = g->nodes[i].count;
                if (g->nodes[i].left == 0)
                        order[tail++] = i;
        }
        for (uint32_t head = 0; head < tail; head++)
                for (uint32_t k = g->reader_first[order[head]]; k < g->reader_first[order[head] + 1]; k++)
                        if (--g->nodes[g->readers[k]].left == 0)
                                order[tail++] = g->readers[k];
        return tail;
}

/* What could not be put in order waits for something that could not either: so some way leads back. */
static uint32_t before(const struct graph *g, uint32_t i)
{
        const struct node *node = &g->nodes[i];
        uint32_t           k    = node->first;
        while (g->nodes[g->edges[k]].left == 0)
                k++;
        return g->edges[k];
}

static void say_circle(const struct graph *g, const char *file, struct text *error)
{
        uint32_t slow = 0;
        while (g->nodes[slow].left == 0)
                slow++;
        uint32_t fast = slow;
        do {
                slow = before(g, slow);
                fast = before(g, before(g, fast));
        } while (slow != fast);
        say(error, file, &g->nodes[slow]);
        text_add_string(error, "nodes wait for each other in a circle: ");
        int shown = 0;
        do { /* each waits for the next one */
                text_print(error, "%s -> ", graph_name(g, slow));
                slow = before(g, slow);
        } while (slow != fast && ++shown < CIRCLE_SHOWN_MAX);
        text_add_string(error, slow == fast ? graph_name(g, fast) : "...");
}

static void queue_init(struct node_queue *q, uint32_t count)
{
        *q = (struct node_queue){ .items = zeroed(count, sizeof *q->items) };
}

bool graph_connect(struct graph *g, const char *file, struct text *error)
{
        if (!enter_names(g, file, error) || !find_edges(g, file, error))
                return false;
        invert(g);
        g->stack = zeroed(g->count, sizeof *g->stack);
        if (sort(g) < g->count) {
                say_circle(g, file, error);
                return false;
        }
        for (uint32_t i = 0; i < g->count; i++) {
                g->nodes[i].left   = g->nodes[i].count;
                g->nodes[i].unsent = g->nodes[i].count;
        }
        queue_init(&g->ready, g->count);
        queue_init(&g->early, g->count);
        queue_init(&g->skipped, g->count);
        g->untold = g->count;
        return true;
}

void graph_fini(struct graph *g)
{
        text_free(&g->text);
        free(g->nodes);
        free(g->after);
        free(g->edges);
        free(g->reader_first);
        free(g->readers);
        free(g->slots);
        free(g->stack);
        free(g->ready.items);
        free(g->early.items);
        free(g->skipped.items);
        *g = (struct graph){ .count = 0 };
}

/* ---- queues ---- */

static void put(struct node_queue *q, uint32_t index)
{
        q->items[q->count++] = index;
}

static uint32_t get(struct node_queue *q)
{
        return q->first < q->count ? q->items[q->first++] : GRAPH_NOBODY;
}

/* One of those it waits for has been taken, or has succeeded before anything began. */
static void sent(struct graph *g, uint32_t index)
{
        for (uint32_t k = g->reader_first[index]; k < g->reader_first[index + 1]; k++) {
                struct node *reader = &g->nodes[g->readers[k]];
                if (--reader->unsent == 0 && reader->state == NODE_WAITS && reader->left > 0)
                        put(&g->early, g->readers[k]);
        }
}

static void take(struct graph *g, uint32_t index)
{
        g->nodes[index].state = NODE_TAKEN;
        g->untold--;
        g->early_count += g->nodes[index].left > 0;
        sent(g, index);
}

void graph_leave_out(struct graph *g, uint32_t index)
{
        if (g->nodes[index].state != NODE_WAITS)
                return;
        g->nodes[index].state = NODE_DONE;
        g->untold--;
        g->left_out++;
}

void graph_begin(struct graph *g)
{
        for (uint32_t i = 0; i < g->count; i++) {
                struct node *node = &g->nodes[i];
                for (uint32_t k = node->first; k < node->first + node->count; k++) {
                        const bool over = g->nodes[g->edges[k]].state == NODE_DONE;
                        node->left -= over;
                        node->unsent -= over;
                }
                if (node->state == NODE_WAITS && node->left == 0)
                        put(&g->ready, i);
        }
}

uint32_t graph_take(struct graph *g, bool early)
{
        uint32_t index = get(&g->ready);
        while (index == GRAPH_NOBODY && early) {
                index = get(&g->early);
                if (index == GRAPH_NOBODY)
                        break;
                if (g->nodes[index].state != NODE_WAITS)
                        index = GRAPH_NOBODY; /* it was ready, or skipped, meanwhile */
        }
        if (index != GRAPH_NOBODY)
                take(g, index);
        return index;
}

uint32_t graph_take_skipped(struct graph *g)
{
        uint32_t index = get(&g->skipped);
        if (index != GRAPH_NOBODY)
                g->untold--;
        return index;
}

bool graph_is_taken(const struct graph *g)
{
        return g->untold == 0;
}

/* ---- ends ---- */

void graph_succeeded(struct graph *g, uint32_t index)
{
        g->nodes[index].state = NODE_DONE;
        for (uint32_t k = g->reader_first[index]; k < g->reader_first[index + 1]; k++) {
                struct node *reader = &g->nodes[g->readers[k]];
                if (--reader->left > 0)
                        continue;
                g->early_count -= reader->state == NODE_TAKEN;
                if (reader->state == NODE_WAITS)
                        put(&g->ready, g->readers[k]);
        }
}

/* It is taken no more, and did not succeed. */
static void leave(struct graph *g, uint32_t index, enum node_state state)
{
        struct node *node = &g->nodes[index];
        g->early_count -= node->state == NODE_TAKEN && node->left > 0;
        node->state = state;
}

/* Those that were taken early end by themselves; what waits for them in turn is found through them all the same. */
static void skip_readers(struct graph *g, uint32_t index, uint32_t root)
{
        uint32_t depth      = 0;
        g->stack[depth++] = index;
        while (depth > 0) {
                const uint32_t at = g->stack[--depth];
                for (uint32_t k = g->reader_first[at]; k < g->reader_first[at + 1]; k++) {
                        struct node *reader = &g->nodes[g->readers[k]];
                        if (reader->root != 0 || reader->state == NODE_DONE)
                                continue;
                        reader->root        = root + 1;
                        g->stack[depth++] = g->readers[k];
                        if (reader->state != NODE_WAITS)
                                continue;
                        reader->state = NODE_SKIPPED;
                        put(&g->skipped, g->readers[k]);
                }
        }
}

void graph_gave_up(struct graph *g, uint32_t index)
{
        leave(g, index, NODE_GIVEN_UP);
}

void graph_failed(struct graph *g, uint32_t index)
{
        leave(g, index, NODE_FAILED);
        skip_readers(g, index, index);
}

void graph_skipped(struct graph *g, uint32_t index, uint32_t root)
{
        leave(g, index, NODE_SKIPPED);
        if (g->nodes[index].root == 0)
                g->nodes[index].root = root + 1;
        skip_readers(g, index, g->nodes[index].root - 1);
}
