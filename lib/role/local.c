/*
 * A whole cluster in this process: a scheduler, workers and a client on one runtime, joined by memory.
 */
#include <stdio.h>
#include <string.h>

#include "sc_assert.h"
#include "worker.h"

enum { WORKERS_MAX = 1024, LISTEN_MAX = 63, READY_MS = 10000 };

struct scaler_local {
        struct scaler_runtime *rt;
        bool                   owns_runtime;
        struct sc_mem         *mem;
        scaler_scheduler      *scheduler;
        scaler_worker        **workers;
        size_t                 worker_count;
        scaler_client         *client;
        char                   url[64];
        size_t                 begun; /* roles that were started: scheduler, workers, client */
};

static int make_scheduler(struct scaler_local *l, const scaler_local_options *o, scaler_error *err)
{
        if (o->listen_count > LISTEN_MAX || (o->listen_count && !o->listen))
                return sc_error_set(err, SC_E_INVALID, "local: listen_count %zu without addresses, or above %d",
                                    o->listen_count, LISTEN_MAX);
        const char *listen[LISTEN_MAX + 1] = { l->url };
        for (size_t i = 0; i < o->listen_count; i++)
                listen[i + 1] = o->listen[i];
        scaler_scheduler_options s;
        scaler_init(&s, sizeof s);
        s.runtime      = l->rt;
        s.name         = "local";
        s.listen       = listen;
        s.listen_count = o->listen_count + 1;
        s.security     = o->security;
        return scaler_scheduler_create(&s, &l->scheduler, err);
}

static int make_workers(struct scaler_local *l, const scaler_local_options *o, scaler_error *err)
{
        if (o->workers < 0 || o->workers > WORKERS_MAX)
                return sc_error_set(err, SC_E_INVALID, "local: %d workers; 0 to %d it may have", (int)o->workers,
                                    WORKERS_MAX);
        const size_t count = o->workers ? (size_t)o->workers : 1;
        l->workers         = sc_mem_zalloc(l->mem, count * sizeof(scaler_worker *));
        if (!l->workers)
                return sc_error_set(err, SC_E_NOMEM, "local: out of memory");
        l->worker_count = count;
        for (size_t i = 0; i < count; i++) {
                char name[32];
                snprintf(name, sizeof name, "local-%zu", i + 1);
                scaler_worker_options w;
                scaler_init(&w, sizeof w);
                w.runtime        = l->rt;
                w.scheduler      = l->url;
                w.name           = name;
                w.slots          = o->slots;
                w.security       = o->security;
                const int status = scaler_worker_create(&w, &l->workers[i], err);
                if (status)
                        return status;
        }
        return 0;
}

static int make_client(struct scaler_local *l, const scaler_local_options *o, scaler_error *err)
{
        scaler_client_options c;
        scaler_init(&c, sizeof c);
        c.runtime   = l->rt;
        c.scheduler = l->url;
        c.name      = "local";
        c.security  = o->security;
        return scaler_client_create(&c, &l->client, err);
}

int scaler_local_create(const scaler_local_options *options, scaler_local **out, scaler_error *err)
{
        scaler_local_options o;
        scaler_init(&o, sizeof o);
        if (!out || (options && !sc_sized_in(&o, sizeof o, options)))
                return sc_error_set(err, SC_E_INVALID, "local: no out pointer, or options without their size");
        struct scaler_runtime *rt;
        bool                   owned;
        int                    status = sc_runtime_take(o.runtime, &rt, &owned, err);
        if (status)
                return status;
        struct scaler_local *l = sc_mem_zalloc(rt->mem, sizeof *l);
        if (!l) {
                sc_runtime_give_back(rt, owned);
                return sc_error_set(err, SC_E_NOMEM, "local: out of memory");
        }
        l->rt           = rt;
        l->owns_runtime = owned;
        l->mem          = rt->mem;
        snprintf(l->url, sizeof l->url, "inproc://local-%016llx", (unsigned long long)sc_random_id());
        status = make_scheduler(l, &o, err);
        if (!status)
                status = make_workers(l, &o, err);
        if (!status)
                status = make_client(l, &o, err);
        if (status)
                scaler_local_destroy(l);
        else
                *out = l;
        return status;
}

int scaler_local_register(scaler_local *l, const scaler_function *function)
{
        if (!l || !function)
                return SC_E_INVALID;
        scaler_function f;
        if (l->begun > 0)
                return SC_E_STATE;
        if (!sc_sized_in(&f, sizeof f, function))
                return SC_E_INVALID;
        for (size_t i = 0; i < l->worker_count; i++) {
                const int status = scaler_worker_register(l->workers[i], &f);
                for (size_t had = i; status && had > 0; had--)
                        sc_worker_forget_last(l->workers[had - 1]); /* all or none */
                if (status)
                        return status;
                f.destroy = NULL; /* the first worker's to call, once */
        }
        return 0;
}

static int start_next(struct scaler_local *l, scaler_error *err)
{
        if (l->begun == 0)
                return scaler_scheduler_start(l->scheduler, err);
        if (l->begun <= l->worker_count)
                return scaler_worker_start(l->workers[l->begun - 1], err);
        return scaler_client_start(l->client, err);
}

int scaler_local_start(scaler_local *l, scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        const size_t roles = l ? l->worker_count + 2 : 0;
        if (!l || l->begun == roles)
                return sc_error_set(err, l ? SC_E_STATE : SC_E_INVALID, "local: started before");
        int status = 0;
        while (l->begun < roles && (status = start_next(l, err)) == 0)
                l->begun++;
        return status;
}

scaler_client *scaler_local_client(scaler_local *l)
{
        return l ? l->client : NULL;
}

scaler_scheduler *scaler_local_scheduler(scaler_local *l)
{
        return l ? l->scheduler : NULL;
}

void scaler_local_destroy(scaler_local *l)
{
        if (!l || sc_forked())
                return;
        scaler_client_destroy(l->client);
        for (size_t i = l->worker_count; i > 0; i--)
                scaler_worker_destroy(l->workers[i - 1]);
        scaler_scheduler_destroy(l->scheduler);
        sc_mem_release(l->mem, l->workers, l->worker_count * sizeof(scaler_worker *));
        struct scaler_runtime *rt    = l->rt;
        const bool             owned = l->owns_runtime;
        sc_mem_release(l->mem, l, sizeof *l);
        sc_runtime_give_back(rt, owned);
}
