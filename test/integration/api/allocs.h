/*
 * Every function of scaler.h as a call that can be made with one of its allocations failing: what must stand before it,
 * the call, what it may answer then.  A scene is one small cluster, with or without runtimes of the host's.
 */
#ifndef ALLOCS_H
#define ALLOCS_H

#include "cluster.h"
#include "ledger.h"

enum allocs_runtime {
        ALLOCS_HOST_DRIVEN, /* one runtime with the ledger's allocator: nothing but the call allocates */
        ALLOCS_THREADED,    /* the same with a thread of its own */
        ALLOCS_PRIVATE      /* none of the host's: malloc's memory */
};

struct scene {
        enum allocs_runtime kind;
        int64_t             wait_ms; /* for calls that block */
        char                url[64];
        scaler_runtime     *rt;
        scaler_scheduler   *scheduler;
        scaler_worker      *worker;
        scaler_client      *client, *admin;
        scaler_local       *local;
        scaler_queue       *queue;
        scaler_future      *future;
        scaler_blob        *blob;
        bool                scheduler_on, worker_on, client_on, admin_on, local_on;
        bool                functions;    /* the worker, or the local cluster, has them */
        bool                scheduler_gone, worker_gone, client_gone; /* stopped: a new one is to be made */
        /* a [task] function: called, and armed, by the task "probe" */
        const struct allocs_row *row;
        long                     fail_at, asked;
        enum ledger_how          how;
        int                      inside, again;
};

enum {                     /* of a row, beside `may` */
       ALLOCS_NEVER   = 1, /* it allocates nothing: the sweep proves it */
       ALLOCS_WAITS   = 2, /* blocks: may time out while nothing can be had */
       ALLOCS_FINAL   = 4, /* what failed stays so: the same call gives the same answer */
       ALLOCS_HOST    = 8, /* for host-driven runtimes alone */
       ALLOCS_RUNTIME = 16 /* for runtimes of the host's alone */
};

struct allocs_row {
        const char *name;
        void (*stage)(struct scene *s);
        int (*call)(struct scene *s); /* the answer; 0 for functions that have none */
        int (*inside)(scaler_task *t, struct scene *s);
        uint32_t flags;
        uint32_t may; /* bit set of -status beside SCALER_E_NOMEM */
};

#define ALLOCS_MAY(status) (UINT32_C(1) << -(status))

extern const struct allocs_row allocs_rows[];
extern const size_t            allocs_count;

/* As ck_assert_msg(), which allocates even when all is well. */
void sure(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Builds what is missing for a task to run, runs one to its end, and checks the answer. */
void scene_works(struct scene *s);
void scene_down(struct scene *s);

#endif
