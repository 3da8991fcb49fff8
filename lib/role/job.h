/*
 * Submits whose tasks depend on others: one task after futures, or a graph.  What a spec refers to is gathered in
 * the caller's thread (a wiring); the turn that submits it looks what has become of futures meanwhile: those that
 * have ended go along as results, the others by their sequence.
 */
#ifndef SC_JOB_H
#define SC_JOB_H

#include "client.h"

/* Entries of a wiring: an index of a spec or of a future of the wiring, and whether the result is read. */
#define SC_WIRE_READ   (UINT64_C(1) << 63)
#define SC_WIRE_FUTURE (UINT64_C(1) << 62)
#define SC_WIRE_INDEX  (SC_WIRE_FUTURE - 1)

struct sc_wiring {
        struct sc_mem         *mem;
        struct sc_gate        *gate;  /* of the client that all futures must be of */
        size_t                 nodes; /* specs of the graph; 0: no graph */
        const struct sc_names *names; /* NULL: none */
        uint64_t              *entries;
        size_t                 count, cap;
        struct scaler_future **futures; /* one reference each */
        size_t                 future_count, future_cap;
};

struct sc_item { /* one task of a job */
        struct sc_spec        spec; /* in `body`, with a plan there if it asks for one */
        struct sc_blob       *body;
        struct scaler_future *future; /* NULL: an inner node */
        size_t                first, count; /* of its entries, reads first */
        uint32_t              place; /* sequence of a node, less that of its graph */
};

struct sc_job {
        struct sc_mem   *mem;
        struct sc_wiring wiring;
        struct sc_item  *items;
        size_t           item_count, item_cap;
        uint32_t        *order;      /* items in the order in which they are submitted; NULL: as they stand */
        size_t           order_count;
        uint8_t         *after;      /* room for the longest list of dependencies, as it travels ... */
        struct sc_view  *results;    /* ... and for the results of its reads */
        size_t           after_most;
        uint32_t         graph_flags; /* of the graph */
        const struct sc_plan *name;   /* in whose it is submitted: `parent` and `parent_run`; NULL: the client's own */
};

void sc_wiring_init(struct sc_wiring *w, struct scaler_client *c);
void sc_wiring_fini(struct sc_wiring *w);
/* Adds what an argument or a spec's lists refer to: SC_E_INVALID, SC_E_NOMEM with words. */
int  sc_wiring_arg(struct sc_wiring *w, const scaler_arg *arg, size_t index, size_t position, scaler_error *err);
int  sc_wiring_after(struct sc_wiring *w, const scaler_spec *s, size_t index, scaler_error *err);

/* Takes the wiring, which is empty afterwards; room for `items`.  NULL: no memory. */
struct sc_job *sc_job_create(struct sc_mem *mem, struct sc_wiring *w, size_t items);
bool           sc_job_make_room(struct sc_job *job); /* for the longest list of its items */

/* ---- spec.c ---- */

/* Checks a spec and encodes it into an item; what it refers to is added to the wiring. */
int sc_spec_take(struct scaler_client *c, const scaler_spec *spec, size_t index, struct sc_wiring *w, scaler_spec *copy,
                 struct sc_item *item, scaler_error *err);
struct scaler_future *sc_spec_future(struct scaler_client *c, const scaler_spec *s, const struct sc_item *item);

/* In a turn: a task with its dependencies, or a graph whose head is `head`. */
int  sc_job_submit_one(struct scaler_client *c, struct scaler_future *f, sc_ns now);
void sc_job_end_targets(struct scaler_client *c, const struct sc_job *job, int status); /* none was submitted */
void sc_job_submit_graph(struct scaler_client *c, struct scaler_future *head, sc_ns now);

#endif
