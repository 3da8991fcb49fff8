/* See allocs_scene.h and allocs.h. */
#include "allocs_scene.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>


void sure(bool holds, const char *format, ...)
{
        char    words[200];
        va_list args;
        if (holds)
                return;
        ledger_disarm();
        va_start(args, format);
        vsnprintf(words, sizeof words, format, args);
        va_end(args);
        ck_abort_msg("%s", words);
}

static void must(int status, const char *what)
{
        sure(status >= 0, "%s: %s", what, scaler_status_name(status));
}

/* ---- the functions of its worker ----------------------------------------------------------------------------- */

static int fn_echo(scaler_task *t, void *ctx)
{
        size_t      size = 0;
        const void *arg  = scaler_task_arg(t, 0, &size);
        (void)ctx;
        return arg ? scaler_task_return_copy(t, arg, size) : 0;
}

/* Makes the row's call twice: with a failure, and, when that was felt, without. */
static int fn_probe(scaler_task *t, void *ctx)
{
        struct scene *s = ctx;
        ledger_arm(s->fail_at, s->how, false);
        s->inside = s->row->inside(t, s);
        s->asked  = ledger_disarm();
        s->again  = s->inside < 0 ? s->row->inside(t, s) : 0;
        return 0;
}

static scaler_function function(struct scene *s, const char *name)
{
        scaler_function f;
        scaler_init(&f, sizeof f);
        f.name = name;
        f.fn   = strcmp(name, "probe") == 0 ? fn_probe : fn_echo;
        f.ctx  = s;
        return f;
}

/* ---- making and starting ------------------------------------------------------------------------------------- */

int make_runtime(struct scene *s)
{
        const scaler_allocator a = ledger_allocator();
        scaler_runtime_options o;
        scaler_init(&o, sizeof o);
        o.allocator   = &a;
        o.host_driven = s->kind == ALLOCS_HOST_DRIVEN;
        return scaler_runtime_create(&o, &s->rt, NULL);
}

int make_scheduler(struct scene *s)
{
        const char              *listen[] = { s->url };
        scaler_scheduler_options o;
        scaler_init(&o, sizeof o);
        o.runtime      = s->rt;
        o.listen       = listen;
        o.listen_count = 1;
        return scaler_scheduler_create(&o, &s->scheduler, NULL);
}

int make_worker(struct scene *s)
{
        scaler_security       security;
        scaler_worker_options o;
        scaler_init(&security, sizeof security);
        scaler_init(&o, sizeof o);
        security.token = "kept by a copy";
        o.runtime      = s->rt;
        o.scheduler    = s->url;
        o.security     = &security;
        o.slots        = 1;
        return scaler_worker_create(&o, &s->worker, NULL);
}

int make_client(struct scene *s, bool admin, scaler_client **out)
{
        scaler_security       security;
        scaler_client_options o;
        scaler_init(&security, sizeof security);
        scaler_init(&o, sizeof o);
        security.token   = "kept by a copy";
        security.ca_file = "as well";
        o.runtime        = s->rt;
        o.scheduler      = s->url;
        o.security       = &security;
        o.name           = admin ? "admin" : "client";
        o.admin          = admin;
        return scaler_client_create(&o, out, NULL);
}

int make_queue(struct scene *s)
{
        return scaler_queue_create(s->rt, &s->queue, NULL);
}

int make_local(struct scene *s)
{
        scaler_local_options o;
        scaler_init(&o, sizeof o);
        o.runtime = s->rt;
        o.workers = 2;
        o.slots   = 1;
        return scaler_local_create(&o, &s->local, NULL);
}

int add_function(struct scene *s, const char *name)
{
        const scaler_function f = function(s, name);
        return s->local ? scaler_local_register(s->local, &f) : scaler_worker_register(s->worker, &f);
}

static int note(int status, bool *on)
{
        *on |= status == 0;
        return status;
}

int start_scheduler(struct scene *s)
{
        return note(scaler_scheduler_start(s->scheduler, NULL), &s->scheduler_on);
}

int start_worker(struct scene *s)
{
        return note(scaler_worker_start(s->worker, NULL), &s->worker_on);
}

int start_client(struct scene *s)
{
        return note(scaler_client_start(s->client, NULL), &s->client_on);
}

int submit_one(struct scene *s, const char *name, scaler_future **out)
{
        scaler_client   *client = s->local ? scaler_local_client(s->local) : s->client;
        const scaler_arg args[] = { scaler_arg_bytes(NULL, 0), scaler_arg_bytes("second", 6) };
        scaler_spec      spec;
        scaler_init(&spec, sizeof spec);
        spec.function  = name;
        spec.args      = args;
        spec.arg_count = 2;
        spec.queue     = s->queue;
        return scaler_client_submit(client, &spec, out, NULL);
}

/* ---- stages -------------------------------------------------------------------------------------------------- */

void stage_none(struct scene *s)
{
        (void)s;
}

void stage_runtime(struct scene *s)
{
        static _Atomic unsigned names;
        if (!s->url[0])
                snprintf(s->url, sizeof s->url, "inproc://allocs-%u", atomic_fetch_add(&names, 1));
        if (!s->rt && s->kind != ALLOCS_PRIVATE)
                must(make_runtime(s), "runtime");
}

void stage_blob(struct scene *s)
{
        stage_runtime(s);
        must(scaler_blob_copy(s->rt, "bytes", 5, &s->blob), "blob");
}

static void add_functions(struct scene *s)
{
        if (s->functions)
                return;
        must(add_function(s, "echo"), "echo");
        must(add_function(s, "probe"), "probe");
        s->functions = true;
}

void stage_made(struct scene *s)
{
        stage_runtime(s);
        if (!s->scheduler)
                must(make_scheduler(s), "scheduler");
        if (!s->worker)
                must(make_worker(s), "worker");
        add_functions(s);
        if (!s->client)
                must(make_client(s, false, &s->client), "client");
        if (!s->admin)
                must(make_client(s, true, &s->admin), "admin");
}

void stage_listening(struct scene *s)
{
        stage_made(s);
        if (!s->scheduler_on)
                must(start_scheduler(s), "start of the scheduler");
}

void stage_up(struct scene *s)
{
        stage_listening(s);
        if (!s->worker_on)
                must(start_worker(s), "start of the worker");
        if (!s->client_on)
                must(start_client(s), "start of the client");
        if (!s->admin_on)
                must(note(scaler_client_start(s->admin, NULL), &s->admin_on), "start of the admin");
        must(scaler_worker_wait_ready(s->worker, WAIT_MS), "worker ready");
        must(scaler_client_wait_ready(s->client, WAIT_MS), "client ready");
        must(scaler_client_wait_ready(s->admin, WAIT_MS), "admin ready");
}

void stage_queue(struct scene *s)
{
        stage_runtime(s);
        must(make_queue(s), "queue");
}

/* One is through, so that the scheduler knows the client: what a stranger submits again waits for the epoch's first
 * second to be over. */
static void stage_known(struct scene *s)
{
        stage_up(s);
        scene_works(s);
}

static void stage_submitted(struct scene *s, const char *name)
{
        stage_known(s);
        must(submit_one(s, name, &s->future), name);
}

void stage_ended(struct scene *s)
{
        stage_submitted(s, "echo");
        must(scaler_future_wait(s->future, WAIT_MS), "the end");
}

void stage_queued(struct scene *s)
{
        stage_queue(s);
        stage_submitted(s, "echo");
}

void stage_waiting(struct scene *s)
{
        stage_submitted(s, "nobody has it");
}

void stage_running(struct scene *s)
{
        stage_submitted(s, "echo");
}

void stage_streaming(struct scene *s)
{
        const char *const argv[] = { "echo", "as it goes", NULL };
        scaler_command    command;
        scaler_spec       spec;
        stage_known(s);
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv  = argv;
        command.flags = SCALER_COMMAND_STREAM;
        spec.command  = &command;
        must(scaler_client_submit(s->client, &spec, &s->future, NULL), "a command");
}

void stage_local(struct scene *s)
{
        stage_runtime(s);
        must(make_local(s), "local");
        add_functions(s);
}

/* ---- does it work, and the end ------------------------------------------------------------------------------- */

static void finish_local(struct scene *s)
{
        if (!s->functions)
                add_functions(s);
        if (!s->local_on)
                must(note(scaler_local_start(s->local, NULL), &s->local_on), "start of the local cluster");
}

/* What was stopped is replaced. */
static void replace(struct scene *s)
{
        if (s->client_gone) {
                scaler_client_destroy(s->client);
                s->client    = NULL;
                s->client_on = false;
        }
        if (s->worker_gone) {
                scaler_worker_destroy(s->worker);
                s->worker    = NULL;
                s->worker_on = s->functions = false;
        }
        if (s->scheduler_gone) {
                scaler_scheduler_destroy(s->scheduler);
                s->scheduler    = NULL;
                s->scheduler_on = false;
        }
        s->client_gone = s->worker_gone = s->scheduler_gone = false;
}

void scene_works(struct scene *s)
{
        scaler_future *f    = NULL;
        scaler_queue  *kept = s->queue;
        if (s->local) {
                finish_local(s);
        } else {
                replace(s);
                stage_up(s);
        }
        s->queue = NULL;
        must(submit_one(s, "echo", &f), "a submit afterwards");
        s->queue         = kept;
        const int status = scaler_future_result(f, WAIT_MS, NULL);
        sure(status == 0, "a task afterwards: %s", scaler_status_name(status));
        scaler_future_unref(f);
}

void scene_down(struct scene *s)
{
        scaler_future_unref(s->future);
        scaler_blob_unref(s->blob);
        scaler_local_destroy(s->local);
        scaler_client_destroy(s->admin);
        scaler_client_destroy(s->client);
        scaler_worker_destroy(s->worker);
        scaler_scheduler_destroy(s->scheduler);
        scaler_queue_destroy(s->queue);
        scaler_runtime_destroy(s->rt);
}
