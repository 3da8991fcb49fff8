/*
 * cluster: where the tasks run: a scheduler and a worker of our own on one runtime, or a running cluster.
 * The worker is an object of ours rather than a local cluster's because an interrupt asks it to finish
 * what runs and to give back the rest.
 */
#ifndef RUN_CLUSTER_H
#define RUN_CLUSTER_H

#include <scaler.h>

#include "graph.h"
#include "log.h"
#include "settings.h"

struct cluster {
        scaler_runtime   *runtime;
        scaler_scheduler *scheduler; /* NULL: a running cluster */
        scaler_worker    *worker;
        scaler_client    *client;
        scaler_queue     *queue;
        struct log_kept   log;
};

/* g: a graph whose nodes are checked, or NULL. */
int  cluster_open(struct cluster *c, const struct settings *s, const scaler_security *security, const struct graph *g,
                  scaler_error *err);
void cluster_close(struct cluster *c);

/* Asks again until true: nothing runs any more and nothing will start.  On a running cluster at once true. */
bool cluster_is_drained(struct cluster *c);

/* 0: linked, or not yet; else why the client has given up. */
int cluster_status(const struct cluster *c, bool *linked_out);

#endif
