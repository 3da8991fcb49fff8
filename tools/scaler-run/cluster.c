/*
 * cluster: builds the roles, in the order in which they need each other, and takes them down in the other.
 */
#include "cluster.h"

#include <stdio.h>
#include <unistd.h>

#define URL_BYTES 64
#define STOP_MS   2000

static int open_own(struct cluster *c, const struct settings *s, const char *url, scaler_error *err)
{
        scaler_scheduler_options scheduler;
        scaler_worker_options    worker;
        scaler_init(&scheduler, sizeof scheduler);
        scheduler.runtime      = c->runtime;
        scheduler.listen       = &url;
        scheduler.listen_count = 1;
        scaler_init(&worker, sizeof worker);
        worker.runtime       = c->runtime;
        worker.scheduler     = url;
        worker.slots         = (int32_t)s->jobs;
        worker.kill_grace_ms = s->kill_grace_ms;
        int status           = scaler_scheduler_create(&scheduler, &c->scheduler, err);
        if (status == 0)
                status = scaler_scheduler_start(c->scheduler, err);
        if (status == 0)
                status = scaler_worker_create(&worker, &c->worker, err);
        return status == 0 ? scaler_worker_start(c->worker, err) : status;
}

static int open_client(struct cluster *c, const char *url, const scaler_security *security, scaler_error *err)
{
        scaler_client_options client;
        scaler_init(&client, sizeof client);
        client.runtime   = c->runtime;
        client.scheduler = url;
        client.name      = "scaler-run";
        client.security  = security;
        int status       = scaler_client_create(&client, &c->client, err);
        return status == 0 ? scaler_client_start(c->client, err) : status;
}

int cluster_open(struct cluster *c, const struct settings *s, const scaler_security *security, scaler_error *err)
{
        *c = (struct cluster){ 0 };
        char own[URL_BYTES];
        snprintf(own, sizeof own, "inproc://scaler-run-%ld", (long)getpid());
        scaler_runtime_options runtime;
        scaler_init(&runtime, sizeof runtime);
        runtime.log       = log_or_keep;
        runtime.log_ctx   = &c->log;
        runtime.log_level = log_kept_init(&c->log, s->log_level);
        int status        = scaler_runtime_create(&runtime, &c->runtime, err);
        if (status == 0 && !s->url)
                status = open_own(c, s, own, err);
        if (status == 0)
                status = open_client(c, s->url ? s->url : own, s->url ? security : NULL, err);
        if (status == 0)
                status = scaler_queue_create(c->runtime, &c->queue, err);
        if (status == 0 && (status = scaler_queue_fd(c->queue)) < 0)
                snprintf(err->text, sizeof err->text, "queue: no descriptor to be had");
        return status < 0 ? status : 0;
}

void cluster_close(struct cluster *c)
{
        if (c->client)
                scaler_client_stop(c->client, STOP_MS);
        scaler_client_destroy(c->client);
        scaler_queue_destroy(c->queue);
        scaler_worker_destroy(c->worker);
        scaler_scheduler_destroy(c->scheduler);
        scaler_runtime_destroy(c->runtime);
}

bool cluster_is_drained(struct cluster *c)
{
        return !c->worker || scaler_worker_stop(c->worker, 0) != SCALER_E_TIMEOUT;
}

int cluster_status(const struct cluster *c, bool *linked_out)
{
        scaler_client_stats stats;
        scaler_init(&stats, sizeof stats);
        *linked_out = scaler_client_stats_get(c->client, &stats) == 0 && stats.connected;
        return stats.status;
}
