/*
 * graph: commands that wait for each other, and how far each of them has come.  Nodes are numbered from 1 in the order
 * of the file; inside they are found by their index.  A node is READY once all it waits for has succeeded; one that
 * waits for what has failed is SKIPPED, however far away that is.  Each node is taken once and ends once.
 */
#ifndef RUN_GRAPH_H
#define RUN_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

#define GRAPH_NODES_MAX 1000000
#define GRAPH_EDGES_MAX 16000000
#define GRAPH_BYTES_MAX ((size_t)1024 * 1024 * 1024) /* of all words of all nodes */
#define GRAPH_NAME_MAX  127
#define GRAPH_NOBODY    UINT32_MAX
#define GRAPH_UNSAID    INT64_MIN /* the node does not say: what the command line says holds */

enum node_state { NODE_WAITS = 0, NODE_TAKEN, NODE_DONE, NODE_GIVEN_UP, NODE_FAILED, NODE_SKIPPED };

/* Words are places in the graph's text; 0: not said. */
struct node {
        size_t          name;
        size_t          command; /* words one behind the other, or a script */
        size_t          env;     /* NAME=VALUE one behind the other */
        size_t          workdir, needs, retry_on, tag;
        int64_t         timeout_ms, retries, backoff_ms, backoff_max_ms, priority, not_before_ms, queue_timeout_ms,
                deadline_ms, nice;
        uint32_t        line; /* of the file */
        uint32_t        command_count, env_count;
        bool            script;
        uint32_t        first, count; /* of the edges to what it waits for: edges[first] ... */
        uint32_t        left;         /* of them have not succeeded */
        uint32_t        unsent;       /* of them have not even been taken */
        uint32_t        place;        /* while it is taken: whoever runs it knows it by this */
        uint32_t        root;         /* not 0: index + 1 of the node whose failure it must be skipped for */
        enum node_state state;
};

struct node_queue {
        uint32_t *items; /* room for all nodes: nobody is in it twice */
        uint32_t  first, count;
};

struct graph {
        struct text       text;
        struct node      *nodes;
        uint32_t          count, room;
        size_t           *after; /* names of what is waited for, places in text; as long as edges are made of them */
        uint32_t         *edges;
        uint32_t          edge_count, edge_room;
        uint32_t         *reader_first, *readers; /* who waits for node i */
        uint32_t         *slots;                  /* index + 1 by name */
        size_t            slot_count;
        struct node_queue ready, early, skipped;
        uint32_t         *stack;
        uint32_t          early_count; /* taken, and something they wait for has not succeeded */
        uint32_t          untold;   /* nodes that have neither been taken nor left out */
        uint32_t          left_out; /* they had succeeded before */
};

const char *graph_text(const struct graph *g, size_t place); /* NULL: not said */
const char *graph_name(const struct graph *g, uint32_t index);

/* Makes edges of names.  False: words in error, about a name that is there twice, that is nobody's, or a circle. */
bool graph_connect(struct graph *g, const char *file, struct text *error);
void graph_fini(struct graph *g); /* of one that is all zero, too */

uint32_t graph_find(const struct graph *g, const char *name); /* GRAPH_NOBODY: no such node */

/* What has succeeded in an earlier run; all before graph_begin(). */
void graph_leave_out(struct graph *g, uint32_t index);
void graph_begin(struct graph *g);

/* The next one to run: one that is ready; else, if asked for, one that waits for nothing but what is taken.
 * GRAPH_NOBODY: none now. */
uint32_t graph_take(struct graph *g, bool early);
/* The next of those that nobody will run, to be told; GRAPH_NOBODY: none now. */
uint32_t graph_take_skipped(struct graph *g);
bool     graph_is_taken(const struct graph *g); /* there is nothing more to take, now or later */

void graph_succeeded(struct graph *g, uint32_t index);
void graph_failed(struct graph *g, uint32_t index);
void graph_gave_up(struct graph *g, uint32_t index); /* it was taken, and cancelled by our own wish */
/* One that was taken ended because root had failed. */
void graph_skipped(struct graph *g, uint32_t index, uint32_t root);

#endif
