/*
 * The client that the tasks of one worker share.  It is made when the first of them asks for it, dials where the worker
 * does and with what that shows, has the worker's id, so that the scheduler knows whose runs submit with it, and goes
 * with the worker.
 */
#include "nested.h"
#include "worker.h"

static scaler_security security_of(const struct sc_access *access)
{
        scaler_security s;
        scaler_init(&s, sizeof s);
        s.token          = access->token;
        s.insecure       = access->insecure;
        s.cert_file      = access->tls.cert_file;
        s.key_file       = access->tls.key_file;
        s.ca_file        = access->tls.ca_file;
        s.server_name    = access->tls.server_name;
        s.tls_unverified = access->tls.unverified;
        s.tls_mutual     = access->tls.mutual;
        return s;
}

static int make(struct scaler_worker *w, struct scaler_client **out, scaler_error *err)
{
        const scaler_security security = security_of(&w->access);
        scaler_client_options o;
        scaler_init(&o, sizeof o);
        o.runtime      = w->rt;
        o.scheduler    = w->url;
        o.name         = w->name;
        o.security     = &security;
        o.reconnect_ms = w->core.give_up > 0 ? w->core.give_up / SC_MS : SCALER_UNLIMITED;
        int status     = sc_client_make(&o, w->core.id, out, err);
        if (!status && (status = scaler_client_start(*out, err)) != 0)
                sc_client_unmake(*out);
        return status;
}

/* One thread makes it, the others wait for that. */
static int take(struct scaler_worker *w, scaler_error *err)
{
        int status = 0;
        sc_gate_lock(w->gate);
        while (w->making)
                sc_gate_wait(w->gate, SC_NEVER);
        const bool there = w->inner != NULL;
        w->making        = !there;
        sc_gate_unlock(w->gate);
        if (there)
                return 0;
        struct scaler_client *made = NULL;
        status                     = make(w, &made, err);
        sc_gate_lock(w->gate);
        w->making = false;
        if (!status)
                w->inner = made;
        sc_gate_unlock_changed(w->gate);
        return status;
}

int scaler_task_client(scaler_task *t, scaler_client **out, scaler_error *err)
{
        if (sc_forked())
                return sc_refuse_forked(err);
        if (!t || !out)
                return sc_error_set(err, SC_E_INVALID, "task client: no task or no out pointer");
        struct scaler_task *here = sc_task_swap_current(NULL);
        sc_task_swap_current(here);
        if (here != t)
                return sc_error_set(err, SC_E_STATE, "task client: this is not the task's own thread");
        int status = take(t->worker, err);
        if (!status)
                status = sc_family_knock(t->worker->inner, err);
        if (!status)
                *out = t->worker->inner;
        return status;
}
