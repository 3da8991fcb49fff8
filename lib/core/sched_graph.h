/*
 * Tasks that depend on others, and graphs: what heads their blocks, and the calls to the two files that know how they
 * hang together.  Included by sched_rows.h only.
 */
#ifndef SC_SCHED_GRAPH_H
#define SC_SCHED_GRAPH_H

#include "msg.h"
#include "sc_list.h"
#include "sched_queue.h"

struct sc_out;
struct sc_sched;
struct sched_task;

/* One dependency of one task; found from both its ends. */
struct sched_edge {
        uint32_t reader;     /* the row that depends */
        uint32_t of;         /* on this one; SCHED_NONE: on nothing any more, or a constant */
        uint32_t next, prev; /* in the chain of `of` until that ends; a constant: where it lies, how long it is */
        uint32_t sibling;    /* the next of the same reader */
        uint8_t  read, chained;
};

/* Heads the block of a task that depends on others or belongs to a graph. */
struct sched_node {
        uint64_t input_bytes; /* of what it reads, as far as that is known */
        uint64_t root;        /* if broken: why */
        uint32_t graph;       /* row, or SCHED_NONE */
        uint32_t edges;       /* the first of its own, in the order of `after` */
        uint32_t waiting;     /* how many of them are chained */
        uint32_t inputs;      /* how many are read: the first ones */
        uint32_t constants;   /* bytes of constants, behind the plan */
        uint32_t weight;      /* bytes it counts for its client beside the body */
        uint8_t  root_reason; /* not 0: broken, and to be ended where it waits */
};

/* Is the block of a graph's row, before and after its end. */
struct sched_graph {
        struct sc_list     todo;
        uint64_t           root;   /* sequence of the first that failed; 0: none */
        uint32_t           self, nodes, admitted, live, succeeded, failed, cancelled, skipped;
        uint32_t           cursor; /* sweeping: the next row of its client to be looked at */
        struct sched_queue open;   /* rows kept because the graph was still coming in */
        uint8_t            root_reason, flags;
        bool               sweeping, dead, force, asked;
};

/* ---- sched_edge.c: who depends on whom ---------------------------------------------------------*/

bool sc_sched_edges_reserve(struct sc_sched *s, uint32_t count);
void sc_sched_edges_add(struct sc_sched *s, struct sched_task *t, const struct sc_plan *plan);
/* It ends: what it depends on is let go, at once or in steps. */
void sc_sched_edges_release(struct sc_sched *s, struct sched_task *t, struct sched_node *node);
/* What waits for it, or it itself if it is broken, is dealt with before this step's end or in the next ones. */
void sc_sched_mark(struct sc_sched *s, struct sched_task *t);
bool sc_sched_edges_todo(struct sc_sched *s, struct sc_out *out); /* false: not finished */
void sc_sched_edges_fini(struct sc_sched *s);
void sc_sched_break(struct sched_node *node, uint64_t root, uint8_t reason);

/* ---- sched_graph.c: nodes and graphs -----------------------------------------------------------*/

struct sched_node  *sc_sched_node(const struct sched_task *t);  /* NULL: it depends on nothing */
struct sched_graph *sc_sched_graph(const struct sched_task *t); /* of a row of that kind */
const char *sc_sched_node_fault(const struct sc_sched *s, const struct sc_submit *m);
size_t sc_sched_node_size(const struct sc_spec *spec); /* what heads the block; 0: nothing */
size_t sc_sched_constants_size(const struct sc_spec *spec);
bool   sc_sched_node_reserve(struct sc_sched *s, const struct sc_spec *spec);
void   sc_sched_node_fill(struct sc_sched *s, struct sched_task *t, const struct sc_spec *spec);
void   sc_sched_node_waits(struct sc_sched *s, struct sched_task *t);
/* It is in its first state: what is to follow at once from what it is part of. */
void   sc_sched_node_admitted(struct sc_sched *s, struct sched_task *t, struct sc_out *out);
bool   sc_sched_node_is_too_big(const struct sched_task *t, const struct sched_node *node);
void   sc_sched_inputs(struct sc_sched *s, const struct sched_task *t, struct sc_spec *spec); /* of an ASSIGN */
void   sc_sched_graph_count(struct sc_sched *s, struct sched_task *t);
bool   sc_sched_graph_is_open(const struct sc_sched *s, const struct sched_task *t); /* of an ended node of it */
void   sc_sched_graph_cancel(struct sc_sched *s, struct sched_task *t, bool force, bool asked);
void   sc_sched_graph_abandon(struct sc_sched *s, struct sched_task *t); /* its client is gone for good */
void   sc_sched_graph_done(const struct sched_task *t, struct sc_graph_done *out);
void   sc_sched_graph_passes(struct sc_sched *s, const struct sched_task *t); /* a row leaves its client */
void   sc_sched_graphs_todo(struct sc_sched *s, struct sc_out *out);
void   sc_sched_graph_check(const struct sc_sched *s);

#endif
