/*
 * The calls, in the order of scaler.h, and their table.  Those that cannot allocate come in groups: the sweep proves it
 * for each group as a whole.
 */
#include "allocs_scene.h"

enum { PAGE = 4 };

/* What is given is written on success only. */
static int given(int status, const void *out)
{
        sure(status != 0 || out != NULL, "nothing was given on success");
        sure(status == 0 || out == NULL, "an out pointer was written without success");
        return status;
}

/* ---- words, ids ---------------------------------------------------------------------------------------------- */

static int words(struct scene *s)
{
        (void)s;
        sure(scaler_version() == SCALER_VERSION_NUMBER, "scaler_version");
        sure(scaler_version_string() != NULL, "scaler_version_string");
        sure(scaler_strerror(SCALER_E_FULL) != NULL, "scaler_strerror");
        sure(scaler_status_name(SCALER_E_FULL) != NULL, "scaler_status_name");
        sure(scaler_reason_name(SCALER_REASON_TASK) != NULL, "scaler_reason_name");
        sure(scaler_task_info_state_name(0) != NULL, "scaler_task_info_state_name");
        sure(scaler_stage_name(SCALER_STAGE_READY) != NULL, "scaler_stage_name");
        sure(scaler_why_name(SCALER_WHY_PLACING) != NULL, "scaler_why_name");
        sure(scaler_idle_name(SCALER_IDLE_FULL) != NULL, "scaler_idle_name");
        return 0;
}

static int ids(struct scene *s)
{
        char      text[SCALER_ID_TEXT_MAX];
        scaler_id id = { 1, 2 }, same;
        (void)s;
        sure(!scaler_id_is_nil(id), "scaler_id_is_nil");
        sure(scaler_id_parse(scaler_id_format(id, text), &same) == 0, "scaler_id_parse");
        sure(scaler_id_equal(id, same), "scaler_id_equal");
        return 0;
}

/* ---- runtime ------------------------------------------------------------------------------------------------- */

static int runtime_create(struct scene *s)
{
        const int status = make_runtime(s);
        return given(status, s->rt);
}

static int runtime_turn(struct scene *s)
{
        for (int i = 0; i < 20 && scaler_future_wait(s->future, 0) == SCALER_E_TIMEOUT; i++) {
                const int status = scaler_runtime_turn(s->rt, s->wait_ms / 10);
                if (status < 0)
                        return status;
        }
        return 0;
}

static int runtime_others(struct scene *s)
{
        sure(scaler_runtime_fd(s->rt) >= 0, "scaler_runtime_fd");
        scaler_runtime_wake(s->rt);
        scaler_runtime_set_log_level(s->rt, SCALER_LOG_WARN);
        return 0;
}

static int runtime_destroy(struct scene *s)
{
        scaler_runtime_destroy(s->rt);
        s->rt = NULL;
        return 0;
}

/* ---- blobs --------------------------------------------------------------------------------------------------- */

static int blob_alloc(struct scene *s)
{
        void     *data   = NULL;
        const int status = scaler_blob_alloc(s->rt, 100, &data, &s->blob);
        (void)given(status, s->blob);
        return given(status, data);
}

static int blob_copy(struct scene *s)
{
        const int status = scaler_blob_copy(s->rt, "bytes", 5, &s->blob);
        return given(status, s->blob);
}

static int blob_wrap(struct scene *s)
{
        static char data[4];
        const int status = scaler_blob_wrap(s->rt, data, sizeof data, NULL, NULL, &s->blob);
        return given(status, s->blob);
}

static int blob_others(struct scene *s)
{
        scaler_blob *same = scaler_blob_ref(s->blob);
        sure(scaler_blob_data(same) != NULL, "scaler_blob_data");
        sure(scaler_blob_size(same) == 5, "scaler_blob_size");
        scaler_blob_unref(same);
        return 0;
}

/* ---- scheduler ----------------------------------------------------------------------------------------------- */

static int scheduler_create(struct scene *s)
{
        const int status = make_scheduler(s);
        return given(status, s->scheduler);
}

static int scheduler_address(struct scene *s)
{
        sure(strcmp(scaler_scheduler_address(s->scheduler, 0), s->url) == 0, "scaler_scheduler_address");
        return 0;
}

static int scheduler_stats(struct scene *s)
{
        scaler_scheduler_stats stats;
        scaler_init(&stats, sizeof stats);
        return scaler_scheduler_stats_get(s->scheduler, &stats);
}

static int scheduler_stop(struct scene *s)
{
        s->scheduler_gone = true;
        return scaler_scheduler_stop(s->scheduler, s->wait_ms);
}

static int scheduler_drain(struct scene *s)
{
        s->scheduler_gone = true;
        return scaler_scheduler_drain(s->scheduler, 1000);
}

static void stage_scheduler_stopping(struct scene *s)
{
        stage_up(s);
        sure(scaler_scheduler_drain(s->scheduler, 0) == 0, "drain of the scheduler");
        s->scheduler_gone = true;
}

static int scheduler_wait_stopped(struct scene *s)
{
        return scaler_scheduler_wait_stopped(s->scheduler, s->wait_ms);
}

static int scheduler_destroy(struct scene *s)
{
        scaler_scheduler_destroy(s->scheduler);
        s->scheduler    = NULL;
        s->scheduler_on = false;
        return 0;
}

/* ---- worker -------------------------------------------------------------------------------------------------- */

static int worker_create(struct scene *s)
{
        const int status = make_worker(s);
        return given(status, s->worker);
}

static int worker_register(struct scene *s)
{
        return add_function(s, "more");
}

static void stage_worker_dialling(struct scene *s)
{
        stage_listening(s);
        sure(start_worker(s) == 0, "start of the worker");
}

static int worker_wait_ready(struct scene *s)
{
        return scaler_worker_wait_ready(s->worker, s->wait_ms);
}

static void stage_worker_stopping(struct scene *s)
{
        stage_up(s);
        (void)scaler_worker_stop(s->worker, 0);
        s->worker_gone = true;
}

static int worker_wait_stopped(struct scene *s)
{
        return scaler_worker_wait_stopped(s->worker, s->wait_ms);
}

static int worker_stats(struct scene *s)
{
        scaler_worker_stats stats;
        scaler_init(&stats, sizeof stats);
        return scaler_worker_stats_get(s->worker, &stats);
}

static int worker_stop(struct scene *s)
{
        s->worker_gone = true;
        return scaler_worker_stop(s->worker, s->wait_ms);
}

static int worker_drain(struct scene *s)
{
        s->worker_gone = true;
        return scaler_worker_drain(s->worker, 1000);
}

static int worker_destroy(struct scene *s)
{
        scaler_worker_destroy(s->worker);
        s->worker    = NULL;
        s->worker_on = s->functions = false;
        return 0;
}

/* ---- inside a task ------------------------------------------------------------------------------------------- */

static int probe(struct scene *s)
{
        scaler_future *f      = NULL;
        int            status = submit_one(s, "probe", &f);
        if (!status)
                status = scaler_future_wait(f, WAIT_MS);
        scaler_future_unref(f);
        return status;
}

static int task_others(scaler_task *t, struct scene *s)
{
        size_t size = 0;
        (void)s;
        sure(!scaler_id_is_nil(scaler_task_id(t)), "scaler_id_is_nil");
        sure(scaler_task_attempt(t) == 1, "scaler_task_attempt");
        sure(scaler_task_arg_count(t) == 2, "scaler_task_arg_count");
        sure(scaler_task_arg(t, 1, &size) != NULL, "scaler_task_arg");
        sure(!scaler_task_cancelled(t), "scaler_task_cancelled");
        sure(scaler_task_log(t, SCALER_LOG_DEBUG, "a line") == 0, "scaler_task_log");
        sure(scaler_task_return(t, NULL) == 0, "scaler_task_return");
        int64_t held = 0;
        sure(scaler_task_resource(t, "cpu", &held, NULL) == 0 && held == 1000, "scaler_task_resource");
        return scaler_task_fail(t, 0, "not really", NULL);
}

static int task_return_copy(scaler_task *t, struct scene *s)
{
        (void)s;
        return scaler_task_return_copy(t, "result", 6);
}

static int task_defer(scaler_task *t, struct scene *s)
{
        (void)s;
        const int status = scaler_task_defer(t);
        scaler_task_complete(t, 0);
        return status;
}

static int task_client(scaler_task *t, struct scene *s)
{
        scaler_client *c      = NULL;
        const int      status = scaler_task_client(t, &c, NULL);
        (void)s;
        return given(status, c);
}

/* ---- client -------------------------------------------------------------------------------------------------- */

static int client_create(struct scene *s)
{
        const int status = make_client(s, false, &s->client);
        return given(status, s->client);
}

static void stage_client_dialling(struct scene *s)
{
        stage_listening(s);
        sure(start_client(s) == 0, "start of the client");
}

static int client_wait_ready(struct scene *s)
{
        return scaler_client_wait_ready(s->client, s->wait_ms);
}

static int client_stats(struct scene *s)
{
        scaler_client_stats stats;
        scaler_init(&stats, sizeof stats);
        return scaler_client_stats_get(s->client, &stats);
}

static int client_submit(struct scene *s)
{
        const int status = submit_one(s, "echo", &s->future);
        return given(status, s->future);
}

static int client_submit_many(struct scene *s)
{
        static scaler_arg arg[20]; /* more than are kept on the stack */
        scaler_spec       specs[2];
        scaler_future    *f[2] = { NULL, NULL };
        for (int i = 0; i < 2; i++) {
                scaler_init(&specs[i], sizeof specs[i]);
                specs[i].function  = "echo";
                specs[i].args      = arg;
                specs[i].arg_count = sizeof arg / sizeof arg[0];
        }
        const int status = scaler_client_submit_many(s->client, specs, 2, f, NULL);
        for (int i = 0; i < 2; i++)
                scaler_future_unref(given(status, f[i]) == 0 ? f[i] : NULL);
        return status;
}

/* Two that read a future, directly and behind each other. */
static int client_submit_graph(struct scene *s)
{
        scaler_arg     first     = scaler_arg_future(s->future);
        scaler_arg     second[2] = { scaler_arg_result(0), scaler_arg_named("a") };
        const char    *names[2] = { "a", "b" };
        scaler_spec    specs[2];
        scaler_graph   graph;
        scaler_id      id;
        scaler_future *f = NULL, *whole = NULL;
        scaler_init(&graph, sizeof graph);
        graph.names = names;
        graph.whole = &whole;
        for (int i = 0; i < 2; i++) {
                scaler_init(&specs[i], sizeof specs[i]);
                specs[i].function  = "echo";
                specs[i].args      = i == 0 ? &first : second;
                specs[i].arg_count = i == 0 ? 1 : 2;
        }
        const int status = scaler_client_submit_graph(s->client, specs, 2, &graph, &f, &id, NULL);
        sure((status == 1) == (f != NULL) && (status == 1) == (whole != NULL), "futures are given on success only");
        scaler_future_unref(f);
        scaler_future_unref(whole);
        return status < 0 ? status : 0;
}

static void stage_graph(struct scene *s)
{
        scaler_spec  spec;
        scaler_graph graph;
        stage_up(s);
        scaler_init(&spec, sizeof spec);
        scaler_init(&graph, sizeof graph);
        spec.function = "echo";
        graph.whole   = &s->future;
        sure(scaler_client_submit_graph(s->client, &spec, 1, &graph, NULL, NULL, NULL) == 1, "a graph");
        sure(scaler_future_wait(s->future, WAIT_MS) == 0, "the end of a graph");
}

static int future_graph(struct scene *s)
{
        scaler_graph_counts counts;
        scaler_init(&counts, sizeof counts);
        return scaler_future_graph(s->future, &counts);
}

static int client_submit_wait(struct scene *s)
{
        const char *const argv[] = { "true", NULL };
        scaler_command    command;
        scaler_spec       spec;
        scaler_init(&command, sizeof command);
        scaler_init(&spec, sizeof spec);
        command.argv     = argv;
        spec.command     = &command;
        const int status = scaler_client_submit_wait(s->client, &spec, s->wait_ms, &s->future, NULL);
        return given(status, s->future);
}

static int client_wait_all(struct scene *s)
{
        return scaler_client_wait_all(s->client, s->wait_ms);
}

static int client_stop(struct scene *s)
{
        s->client_gone = true;
        return scaler_client_stop(s->client, s->wait_ms);
}

static int client_destroy(struct scene *s)
{
        scaler_client_destroy(s->client);
        s->client    = NULL;
        s->client_on = false;
        return 0;
}

static int client_cancel(struct scene *s)
{
        return scaler_client_cancel(s->admin, scaler_future_id(s->future), 0, s->wait_ms);
}

static int client_cancel_many(struct scene *s)
{
        uint64_t  count = 0;
        const int status = scaler_client_cancel_many(s->admin, NULL, 0, s->wait_ms, &count);
        return status < 0 ? status : 0;
}

/* ---- futures ------------------------------------------------------------------------------------------------- */

static int future_others(struct scene *s)
{
        scaler_failure failure;
        scaler_exit    e;
        scaler_future *same = scaler_future_ref(s->future);
        scaler_init(&failure, sizeof failure);
        scaler_init(&e, sizeof e);
        sure(!scaler_id_is_nil(scaler_future_id(same)), "scaler_id_is_nil");
        sure(scaler_future_user_data(same) == 0, "scaler_future_user_data");
        sure(scaler_future_state(same) == SCALER_TASK_DONE, "scaler_future_state");
        sure(scaler_future_failure(same, &failure) == 0, "scaler_future_failure");
        sure(scaler_future_exit(same, &e) == 0, "scaler_future_exit");
        sure(scaler_future_cancel(same, 0) == 0, "scaler_future_cancel");
        scaler_future_unref(same);
        return 0;
}

static int future_wait(struct scene *s)
{
        return scaler_future_wait(s->future, s->wait_ms);
}

static int future_result(struct scene *s)
{
        scaler_blob *blob   = NULL;
        const int    status = scaler_future_result(s->future, s->wait_ms, &blob);
        (void)given(status, blob);
        scaler_blob_unref(blob);
        return status;
}

static int future_detail(struct scene *s)
{
        const int status = scaler_future_detail(s->future, &s->blob);
        return given(status, s->blob);
}

static int future_output(struct scene *s)
{
        const int status = scaler_future_output(s->future, 2, &s->blob);
        return given(status, s->blob);
}

static int future_read(struct scene *s)
{
        char buffer[16];
        int  stream = 0;
        return scaler_future_read(s->future, buffer, sizeof buffer, &stream, s->wait_ms);
}

static int future_cancel(struct scene *s)
{
        return scaler_future_cancel(s->future, SCALER_CANCEL_FORCE);
}

static int future_cancel_wait(struct scene *s)
{
        return scaler_future_cancel_wait(s->future, 0, s->wait_ms);
}

/* ---- queues -------------------------------------------------------------------------------------------------- */

static int queue_create(struct scene *s)
{
        const int status = make_queue(s);
        return given(status, s->queue);
}

static int queue_next(struct scene *s)
{
        scaler_future *f      = NULL;
        const int      status = scaler_queue_next(s->queue, s->wait_ms, &f);
        (void)given(status, f);
        scaler_future_unref(f);
        return status;
}

static int queue_others(struct scene *s)
{
        sure(scaler_queue_fd(s->queue) >= 0, "scaler_queue_fd");
        scaler_queue_wake(s->queue);
        scaler_queue_destroy(s->queue);
        s->queue = NULL;
        return 0;
}

/* ---- looking ------------------------------------------------------------------------------------------------- */

static int look_scheduler(struct scene *s)
{
        scaler_scheduler_stats stats;
        scaler_init(&stats, sizeof stats);
        return scaler_client_scheduler_stats(s->admin, s->wait_ms, &stats);
}

static int look_workers(struct scene *s)
{
        uint64_t           cursor = 0;
        scaler_worker_info rows[PAGE];
        scaler_init(&rows[0], sizeof rows[0]);
        return scaler_client_workers(s->admin, &cursor, s->wait_ms, rows, PAGE);
}

/* Whoever is there is to leave. */
static int client_drain(struct scene *s)
{
        uint64_t           cursor = 0;
        scaler_worker_info rows[PAGE];
        scaler_drained     drained;
        scaler_init(&rows[0], sizeof rows[0]);
        scaler_init(&drained, sizeof drained);
        const int count = scaler_client_workers(s->admin, &cursor, s->wait_ms, rows, PAGE);
        if (count <= 0)
                return count;
        s->worker_gone = true;
        return scaler_client_drain(s->admin, rows[0].id, 1000, s->wait_ms, &drained);
}

static int look_clients(struct scene *s)
{
        uint64_t           cursor = 0;
        scaler_client_info rows[PAGE];
        scaler_init(&rows[0], sizeof rows[0]);
        return scaler_client_clients(s->admin, &cursor, s->wait_ms, rows, PAGE);
}

static int look_tasks(struct scene *s)
{
        uint64_t         cursor = 0;
        scaler_task_info rows[PAGE];
        scaler_init(&rows[0], sizeof rows[0]);
        return scaler_client_tasks(s->admin, &cursor, s->wait_ms, rows, PAGE);
}

/* Before a client has its link, or has it again, the scheduler does not know its task. */
static int explained(int told)
{
        return told < 0 && told != SCALER_E_NOT_FOUND ? told : 0;
}

static int explain_task(struct scene *s)
{
        scaler_explanation why;
        scaler_attempt     attempts[2];
        scaler_init(&why, sizeof why);
        scaler_init(&attempts[0], sizeof attempts[0]);
        return explained(scaler_client_explain(s->admin, scaler_future_id(s->future), s->wait_ms, &why, attempts, 2));
}

static int explain_future(struct scene *s)
{
        scaler_explanation why;
        scaler_init(&why, sizeof why);
        return explained(scaler_future_explain(s->future, s->wait_ms, &why, NULL, 0));
}

static int explain_workers(struct scene *s)
{
        uint64_t                  cursor = 0;
        scaler_worker_explanation rows[2];
        scaler_init(&rows[0], sizeof rows[0]);
        return explained(scaler_client_explain_workers(s->admin, &cursor, s->wait_ms, rows, 2));
}

static int explain_worker(struct scene *s)
{
        uint64_t                  cursor = 0;
        scaler_worker_explanation why;
        scaler_init(&why, sizeof why);
        const int status = scaler_client_explain_workers(s->admin, &cursor, s->wait_ms, &why, 1);
        return status < 0 ? status : scaler_client_explain_worker(s->admin, why.id, s->wait_ms, &why);
}

static int look_some_tasks(struct scene *s)
{
        uint64_t           cursor = 0;
        scaler_task_filter filter;
        scaler_task_info   rows[PAGE];
        scaler_init(&filter, sizeof filter);
        scaler_init(&rows[0], sizeof rows[0]);
        filter.client = (scaler_id){ 0, scaler_future_id(s->future).hi };
        filter.newest = true;
        return explained(scaler_client_tasks_select(s->admin, &filter, &cursor, s->wait_ms, rows, PAGE));
}

/* ---- a local cluster ----------------------------------------------------------------------------------------- */

static int local_create(struct scene *s)
{
        const int status = make_local(s);
        return given(status, s->local);
}

static int local_register(struct scene *s)
{
        return add_function(s, "more");
}

static int local_start(struct scene *s)
{
        const int status = scaler_local_start(s->local, NULL);
        s->local_on      = status == 0;
        return status;
}

static int local_others(struct scene *s)
{
        sure(scaler_local_client(s->local) != NULL, "scaler_local_client");
        sure(scaler_local_scheduler(s->local) != NULL, "scaler_local_scheduler");
        return 0;
}

static int local_destroy(struct scene *s)
{
        scaler_local_destroy(s->local);
        s->local    = NULL;
        s->local_on = s->functions = false;
        return 0;
}

static void stage_local_up(struct scene *s)
{
        stage_local(s);
        scene_works(s);
}

/* ---- the table ----------------------------------------------------------------------------------------------- */

enum { NEVER = ALLOCS_NEVER, WAITS = ALLOCS_WAITS, FINAL = ALLOCS_FINAL, HOST = ALLOCS_HOST, RUNTIME = ALLOCS_RUNTIME };

/* How a task may end when somebody on its way had no memory for it. */
#define ENDS (ALLOCS_MAY(SCALER_E_UNREACHABLE) | ALLOCS_MAY(SCALER_E_TASK) | ALLOCS_MAY(SCALER_E_LIMIT))

#define UNLINKED ALLOCS_MAY(SCALER_E_UNREACHABLE)

#define CALL(function, stage, call, flags, may) { #function, stage, call, NULL, flags, may }
#define TASK(function, inside, flags)           { #function, stage_up, probe, inside, flags, 0 }

const struct allocs_row allocs_rows[] = {
        CALL(scaler_version, stage_none, words, NEVER, 0),
        CALL(scaler_version_string, stage_none, words, NEVER, 0),
        CALL(scaler_strerror, stage_none, words, NEVER, 0),
        CALL(scaler_status_name, stage_none, words, NEVER, 0),
        CALL(scaler_id_is_nil, stage_none, ids, NEVER, 0),
        CALL(scaler_id_equal, stage_none, ids, NEVER, 0),
        CALL(scaler_id_format, stage_none, ids, NEVER, 0),
        CALL(scaler_id_parse, stage_none, ids, NEVER, 0),

        CALL(scaler_runtime_create, stage_none, runtime_create, RUNTIME, 0),
        CALL(scaler_runtime_turn, stage_running, runtime_turn, HOST, 0),
        CALL(scaler_runtime_fd, stage_runtime, runtime_others, NEVER | HOST, 0),
        CALL(scaler_runtime_wake, stage_runtime, runtime_others, NEVER | HOST, 0),
        CALL(scaler_runtime_set_log_level, stage_runtime, runtime_others, NEVER | HOST, 0),
        CALL(scaler_runtime_destroy, stage_runtime, runtime_destroy, NEVER | RUNTIME, 0),

        CALL(scaler_blob_alloc, stage_runtime, blob_alloc, 0, 0),
        CALL(scaler_blob_copy, stage_runtime, blob_copy, 0, 0),
        CALL(scaler_blob_wrap, stage_runtime, blob_wrap, 0, 0),
        CALL(scaler_blob_ref, stage_blob, blob_others, NEVER, 0),
        CALL(scaler_blob_unref, stage_blob, blob_others, NEVER, 0),
        CALL(scaler_blob_data, stage_blob, blob_others, NEVER, 0),
        CALL(scaler_blob_size, stage_blob, blob_others, NEVER, 0),

        CALL(scaler_scheduler_create, stage_runtime, scheduler_create, 0, 0),
        CALL(scaler_scheduler_start, stage_made, start_scheduler, 0, 0),
        CALL(scaler_scheduler_address, stage_listening, scheduler_address, NEVER, 0),
        CALL(scaler_scheduler_stats_get, stage_up, scheduler_stats, 0, 0),
        CALL(scaler_scheduler_drain, stage_up, scheduler_drain, 0, 0),
        CALL(scaler_scheduler_wait_stopped, stage_scheduler_stopping, scheduler_wait_stopped, WAITS, 0),
        CALL(scaler_scheduler_stop, stage_up, scheduler_stop, WAITS, 0),
        CALL(scaler_scheduler_destroy, stage_up, scheduler_destroy, 0, 0),

        CALL(scaler_worker_create, stage_runtime, worker_create, 0, 0),
        CALL(scaler_worker_register, stage_made, worker_register, 0, 0),
        CALL(scaler_worker_start, stage_listening, start_worker, 0, 0),
        CALL(scaler_worker_wait_ready, stage_worker_dialling, worker_wait_ready, WAITS, 0),
        CALL(scaler_worker_wait_stopped, stage_worker_stopping, worker_wait_stopped, WAITS, 0),
        CALL(scaler_worker_stats_get, stage_up, worker_stats, 0, 0),
        CALL(scaler_worker_drain, stage_up, worker_drain, 0, 0),
        CALL(scaler_worker_stop, stage_up, worker_stop, WAITS, 0),
        CALL(scaler_worker_destroy, stage_up, worker_destroy, 0, 0),

        TASK(scaler_task_id, task_others, NEVER),
        TASK(scaler_task_attempt, task_others, NEVER),
        TASK(scaler_task_arg_count, task_others, NEVER),
        TASK(scaler_task_arg, task_others, NEVER),
        TASK(scaler_task_return, task_others, NEVER),
        TASK(scaler_task_return_copy, task_return_copy, 0),
        TASK(scaler_task_fail, task_others, NEVER),
        TASK(scaler_task_cancelled, task_others, NEVER),
        TASK(scaler_task_log, task_others, NEVER),
        TASK(scaler_task_resource, task_others, NEVER),
        TASK(scaler_task_client, task_client, 0),
        TASK(scaler_task_defer, task_defer, NEVER),
        TASK(scaler_task_complete, task_defer, NEVER),

        CALL(scaler_reason_name, stage_none, words, NEVER, 0),
        CALL(scaler_client_create, stage_runtime, client_create, 0, 0),
        CALL(scaler_client_start, stage_listening, start_client, 0, 0),
        CALL(scaler_client_wait_ready, stage_client_dialling, client_wait_ready, WAITS, 0),
        CALL(scaler_client_stats_get, stage_up, client_stats, NEVER, 0),
        CALL(scaler_client_submit, stage_up, client_submit, 0, 0),
        CALL(scaler_client_submit_many, stage_up, client_submit_many, 0, 0),
        CALL(scaler_client_submit_graph, stage_ended, client_submit_graph, 0, 0),
        CALL(scaler_client_submit_wait, stage_up, client_submit_wait, 0, 0),
        CALL(scaler_client_wait_all, stage_running, client_wait_all, WAITS, 0),
        CALL(scaler_client_stop, stage_running, client_stop, WAITS, 0),
        CALL(scaler_client_destroy, stage_running, client_destroy, 0, 0),
        CALL(scaler_client_cancel, stage_waiting, client_cancel, WAITS, 0),
        CALL(scaler_client_cancel_many, stage_waiting, client_cancel_many, WAITS, UNLINKED),

        CALL(scaler_future_ref, stage_ended, future_others, NEVER, 0),
        CALL(scaler_future_unref, stage_ended, future_others, NEVER, 0),
        CALL(scaler_future_id, stage_ended, future_others, NEVER, 0),
        CALL(scaler_future_user_data, stage_ended, future_others, NEVER, 0),
        CALL(scaler_future_state, stage_ended, future_others, NEVER, 0),
        CALL(scaler_future_wait, stage_running, future_wait, WAITS, 0),
        CALL(scaler_future_result, stage_ended, future_result, 0, 0),
        CALL(scaler_future_result, stage_running, future_result, WAITS | FINAL, ENDS),
        CALL(scaler_future_failure, stage_ended, future_others, NEVER, 0),
        CALL(scaler_future_graph, stage_graph, future_graph, NEVER, 0),
        CALL(scaler_future_exit, stage_ended, future_others, NEVER, 0),
        CALL(scaler_future_detail, stage_ended, future_detail, 0, 0),
        CALL(scaler_future_output, stage_ended, future_output, 0, 0),
        CALL(scaler_future_read, stage_streaming, future_read, WAITS | FINAL, ALLOCS_MAY(SCALER_E_GAP)),
        CALL(scaler_future_cancel, stage_waiting, future_cancel, NEVER, 0),
        CALL(scaler_future_cancel_wait, stage_waiting, future_cancel_wait, WAITS, 0),

        CALL(scaler_queue_create, stage_runtime, queue_create, 0, 0),
        CALL(scaler_queue_next, stage_queued, queue_next, WAITS, 0),
        CALL(scaler_queue_fd, stage_queue, queue_others, NEVER, 0),
        CALL(scaler_queue_wake, stage_queue, queue_others, NEVER, 0),
        CALL(scaler_queue_destroy, stage_queue, queue_others, NEVER, 0),

        CALL(scaler_task_info_state_name, stage_none, words, NEVER, 0),
        CALL(scaler_client_scheduler_stats, stage_up, look_scheduler, WAITS, UNLINKED),
        CALL(scaler_client_workers, stage_up, look_workers, WAITS, UNLINKED),
        CALL(scaler_client_drain, stage_up, client_drain, WAITS, UNLINKED | ALLOCS_MAY(SCALER_E_NOT_FOUND)),
        CALL(scaler_client_clients, stage_up, look_clients, WAITS, UNLINKED),
        CALL(scaler_client_tasks, stage_waiting, look_tasks, WAITS, UNLINKED),

        CALL(scaler_stage_name, stage_none, words, NEVER, 0),
        CALL(scaler_why_name, stage_none, words, NEVER, 0),
        CALL(scaler_idle_name, stage_none, words, NEVER, 0),
        CALL(scaler_client_explain, stage_waiting, explain_task, WAITS, UNLINKED),
        CALL(scaler_future_explain, stage_waiting, explain_future, WAITS, 0),
        CALL(scaler_client_explain_worker, stage_up, explain_worker, WAITS, UNLINKED),
        CALL(scaler_client_explain_workers, stage_up, explain_workers, WAITS, UNLINKED),
        CALL(scaler_client_tasks_select, stage_waiting, look_some_tasks, WAITS, UNLINKED),

        CALL(scaler_local_create, stage_runtime, local_create, 0, 0),
        CALL(scaler_local_register, stage_local, local_register, 0, 0),
        CALL(scaler_local_start, stage_local, local_start, 0, 0),
        CALL(scaler_local_client, stage_local, local_others, NEVER, 0),
        CALL(scaler_local_scheduler, stage_local, local_others, NEVER, 0),
        CALL(scaler_local_destroy, stage_local_up, local_destroy, 0, 0),
};
const size_t allocs_count = sizeof allocs_rows / sizeof allocs_rows[0];
