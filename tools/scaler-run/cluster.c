/*
 * cluster: builds the roles, in the order in which they need each other, and takes them down in the other.
 */
#include "run.h"

#include <stdio.h>
#include <string.h>
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

/* "spec 0: needs ..." by the name of the option that it came from. */
static void name_option(scaler_error *err)
{
        static const char *const options[][2] = { { "spec 0: needs", "--needs" },
                                                  { "spec 0: retry_on", "--retry-on" },
                                                  { "spec 0: tag", "--task-tag" } };
        for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
                const size_t size = strlen(options[i][0]);
                if (strncmp(err->text, options[i][0], size) != 0)
                        continue;
                char words[sizeof err->text];
                snprintf(words, sizeof words, "%s%s", options[i][1], err->text + size);
                memcpy(err->text, words, sizeof words);
                return;
        }
}

/* What all tasks ask for is refused here once, not with each of them: a client that is not started only checks. */
static int check_spec(struct cluster *c, const struct settings *s, scaler_error *err)
{
        const char *const argv[] = { "true", NULL };
        scaler_command    command;
        scaler_spec       spec;
        scaler_init(&command, sizeof command);
        command.argv = argv;
        settings_fill_spec(s, &spec);
        spec.command = &command;
        if (scaler_client_submit(c->client, &spec, NULL, err) != SCALER_E_INVALID)
                return 0;
        name_option(err);
        return SCALER_E_INVALID;
}

static int open_client(struct cluster *c, const struct settings *s, const char *url, const scaler_security *security,
                       const struct graph *g, scaler_error *err)
{
        scaler_client_options client;
        scaler_init(&client, sizeof client);
        client.runtime     = c->runtime;
        client.scheduler   = url;
        client.name        = "scaler-run";
        client.security    = security;
        client.tenant      = s->tenant;
        client.running_max = s->max_running;
        int status         = scaler_client_create(&client, &c->client, err);
        if (status == 0)
                status = check_spec(c, s, err);
        if (status == 0 && g)
                status = nodes_check(c->client, s, g, err);
        return status == 0 ? scaler_client_start(c->client, err) : status;
}

int cluster_open(struct cluster *c, const struct settings *s, const scaler_security *security, const struct graph *g,
                 scaler_error *err)
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
                status = open_client(c, s, s->url ? s->url : own, s->url ? security : NULL, g, err);
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
