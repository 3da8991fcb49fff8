/*
 * A function's run: its arguments are copied out of the ASSIGN, it runs on a slot thread, and its end
 * comes back by the post in its job.  A deferred one has a second post; whichever of the two comes
 * last ends the run.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "body.h"
#include "nested.h"
#include "sc_assert.h"
#include "sc_blob.h"
#include "worker.h"

static const struct scaler_function *find_function(const struct scaler_worker *w, struct sc_view name)
{
        for (size_t i = 0; i < w->function_count; i++)
                if (strlen(w->functions[i].name) == name.len && memcmp(w->functions[i].name, name.ptr, name.len) == 0)
                        return &w->functions[i];
        return NULL;
}

/* ---- the end, in a turn ----------------------------------------------------------------------------------- */

static void free_task(struct scaler_task *t)
{
        struct sc_mem *mem = t->worker->mem;
        sc_mem_release(mem, t->held, t->held_size);
        sc_mem_release(mem, t, t->size);
}

static void end(struct scaler_task *t, sc_ns now)
{
        struct scaler_worker *w       = t->worker;
        const int32_t         code    = t->failed ? t->code : t->returned;
        struct sc_outcome     outcome = {
                    .reason  = t->failed || code != 0 ? SC_REASON_TASK : SC_REASON_SUCCESS,
                    .code    = code,
                    .wall_us = (uint64_t)((t->deferred ? now : t->job.returned) - t->job.began) / 1000,
                    .result  = { scaler_blob_data(t->result), scaler_blob_size(t->result) },
                    .text    = { t->text, strlen(t->text) },
        };
        sc_map_remove(&w->tasks, (struct sc_id){ 0, t->handle });
        if (t->deferred)
                sc_slots_free(w->slots); /* before the core gives its slot to one that waits */
        sc_work_shell_ran(w->shell, t->handle, &outcome, now);
        w->batch.records++;
        w->batch.urgent |= sc_work_waited_for(sc_work_shell_core(w->shell));
        scaler_blob_unref(t->result);
        sc_family_over(t->family);
        free_task(t);
        sc_loop_touch(w->rt->loop, &w->member);
        sc_run_gone(w);
}

static void on_returned(struct sc_job *job, sc_ns now)
{
        struct scaler_task *t = SC_CONTAINER(job, struct scaler_task, job);
        t->waits += t->deferred ? 0 : -1; /* no completion will come */
        if (--t->waits == 0)
                end(t, now);
}

static void on_completed(struct sc_post *post, sc_ns now)
{
        struct scaler_task *t = SC_CONTAINER(post, struct scaler_task, completed);
        if (--t->waits == 0)
                end(t, now);
}

/* ---- on a slot thread --------------------------------------------------------------------------------------- */

/* A deferred one keeps its slot until it is completed, which may be before its function returns. */
static bool work(struct sc_job *job)
{
        struct scaler_task *t        = SC_CONTAINER(job, struct scaler_task, job);
        sc_task_swap_current(t);
        const int returned = t->function->fn(t, t->function->ctx);
        sc_task_swap_current(NULL);
        if (!t->deferred)
                t->returned = returned; /* else whoever completes it writes that, and may have done so */
        return !t->deferred;
}

/* ---- the beginning ------------------------------------------------------------------------------------------- */

/* Room for the arguments behind their views, each aligned for whatever a function takes it for. */
static size_t room_for(uint32_t arg_count, size_t body)
{
        return sizeof(struct scaler_task) + arg_count * (sizeof(struct sc_view) + _Alignof(max_align_t)) + body;
}

static unsigned char *align(unsigned char *at)
{
        const uintptr_t grain = _Alignof(max_align_t);
        return at + (grain - (uintptr_t)at % grain) % grain;
}

/* The views, which point into the lent body, come to point to copies. */
static void copy_args(struct scaler_task *t)
{
        unsigned char *at = (unsigned char *)&t->args[t->arg_count];
        for (uint32_t i = 0; i < t->arg_count; i++) {
                at = align(at);
                if (t->args[i].len)
                        memcpy(at, t->args[i].ptr, t->args[i].len);
                t->args[i].ptr = at;
                at += t->args[i].len;
        }
}

/* Arguments that are results of other tasks come beside the body; false: not as many as it leaves open. */
static bool take_results(struct scaler_task *t, const struct sc_assign *a)
{
        const struct sc_plan *plan  = a->spec.plan;
        const uint32_t        count = plan ? plan->results.count : 0;
        uint32_t              next  = 0;
        for (uint32_t i = 0; i < t->arg_count; i++) {
                if (!sc_arg_is_result(t->args[i]))
                        continue;
                if (next == count)
                        return false;
                t->args[i] = plan->results.at[next++];
        }
        return next == count;
}

static size_t result_bytes(const struct sc_assign *a)
{
        size_t size = 0;
        for (uint32_t i = 0; a->spec.plan && i < a->spec.plan->results.count; i++)
                size += a->spec.plan->results.at[i].len;
        return size;
}

static struct scaler_task *new_task(struct scaler_worker *w, const struct sc_assign *a, uint32_t arg_count)
{
        const size_t        size = room_for(arg_count, a->spec.body.len + result_bytes(a));
        struct scaler_task *t    = sc_mem_alloc(w->mem, size);
        if (!t)
                return NULL;
        memset(t, 0, sizeof *t);
        t->worker        = w;
        t->size          = size;
        t->handle        = a->run;
        t->id            = a->task;
        t->attempt       = a->attempt;
        t->waits         = 2;
        t->arg_count     = arg_count;
        t->job.work      = work;
        t->job.ended     = on_returned;
        t->completed.run = on_completed;
        sc_list_init(&t->job.link);
        sc_list_init(&t->completed.link);
        uint32_t  count;
        const int status = sc_body_unpack_args(a->spec.body, t->args, arg_count, &count);
        SC_ASSERT(status == 0 && count == arg_count);
        t->complete = take_results(t, a);
        if (t->complete)
                copy_args(t);
        return t;
}

/* Most runs hold a cpu, and that is all there is to say. */
static bool keep_held(struct scaler_task *t, const struct sc_assign *a)
{
        struct sc_held held[SC_AMOUNTS_MAX];
        if (!a->spec.plan)
                return true;
        t->held_count = sc_work_held(sc_work_shell_core(t->worker->shell), a->run, held);
        size_t size   = t->held_count * sizeof *held;
        for (uint32_t i = 0; i < t->held_count; i++)
                size += held[i].name.len;
        t->held = sc_mem_alloc(t->worker->mem, size);
        if (!t->held)
                return size == 0;
        t->held_size = size;
        char *at     = (char *)&t->held[t->held_count];
        for (uint32_t i = 0; i < t->held_count; i++) {
                t->held[i] = held[i];
                memcpy(at, held[i].name.ptr, held[i].name.len);
                t->held[i].name.ptr = at;
                at += held[i].name.len;
        }
        return true;
}

void sc_task_run(struct scaler_worker *w, const struct sc_assign *a)
{
        uint32_t                      arg_count = 0;
        const struct scaler_function *function  = find_function(w, a->spec.function);
        if (!function) {
                sc_run_refused(w, a->run, 0, "this worker has no such function");
                return;
        }
        if (sc_body_unpack_args(a->spec.body, NULL, 0, &arg_count) != 0) {
                sc_run_refused(w, a->run, 0, "its arguments cannot be decoded");
                return;
        }
        struct scaler_task *t = sc_map_reserve(&w->tasks, w->tasks.len + 1) ? new_task(w, a, arg_count) : NULL;
        if (t && !keep_held(t, a)) {
                free_task(t);
                t = NULL;
        }
        if (!t) {
                sc_run_refused(w, a->run, 0, "out of memory in the worker");
                return;
        }
        if (!t->complete) {
                sc_mem_release(w->mem, t, t->size);
                sc_run_refused(w, a->run, 0, "the results it reads are not those its arguments leave open");
                return;
        }
        t->function = function;
        sc_map_put(&w->tasks, (struct sc_id){ 0, t->handle }, t);
        t->starting = true;
        sc_list_add_tail(&w->starting, &t->job.link);
        w->starting_count++;
        sc_run_born(w);
}

/* It never began. */
static void forget(struct scaler_task *t)
{
        struct scaler_worker *w = t->worker;
        sc_map_remove(&w->tasks, (struct sc_id){ 0, t->handle });
        free_task(t);
        sc_run_gone(w);
}

void sc_task_start_all(struct scaler_worker *w)
{
        if (sc_list_empty(&w->starting))
                return;
        w->starting_count = 0;
        for (struct sc_list *at = w->starting.next; at != &w->starting; at = at->next)
                SC_CONTAINER(at, struct scaler_task, job.link)->starting = false;
        if (sc_slots_submit(w->slots, &w->starting) == 0)
                return;
        struct sc_list *refused;
        while ((refused = sc_list_take(&w->starting)) != NULL) {
                struct scaler_task *t      = SC_CONTAINER(refused, struct scaler_task, job.link);
                const uint64_t      handle = t->handle;
                forget(t);
                sc_run_refused(w, handle, 0, "no thread could be started for it");
        }
}

bool sc_task_take_back(struct scaler_task *t)
{
        if (t->starting) {
                sc_list_remove(&t->job.link);
                t->worker->starting_count--;
        } else if (!sc_slots_take_back(t->worker->slots, &t->job)) {
                return false;
        }
        forget(t);
        return true;
}

void sc_task_stop(struct scaler_task *t)
{
        atomic_store_explicit(&t->cancelled, true, memory_order_relaxed);
        sc_family_stop(t->family);
}

/* ---- the public functions, on the task's thread ---------------------------------------------------------------- */

scaler_id scaler_task_id(const scaler_task *t)
{
        return (scaler_id){ t->id.hi, t->id.lo };
}

uint32_t scaler_task_attempt(const scaler_task *t)
{
        return t->attempt;
}

size_t scaler_task_arg_count(const scaler_task *t)
{
        return t->arg_count;
}

const void *scaler_task_arg(const scaler_task *t, size_t index, size_t *size_out)
{
        if (index >= t->arg_count)
                return NULL;
        if (size_out)
                *size_out = t->args[index].len;
        return t->args[index].ptr;
}

static bool is_named(struct sc_view name, const char *text)
{
        return name.len == strlen(text) && memcmp(name.ptr, text, name.len) == 0;
}

int scaler_task_resource(const scaler_task *t, const char *name, int64_t *thousandths_out, uint64_t *indices_out)
{
        static const struct sc_held one_cpu = { .name = { "cpu", 3 }, .thousandths = 1000 };
        if (!t || !name)
                return SC_E_INVALID;
        const struct sc_held *held  = t->held ? t->held : &one_cpu;
        const uint32_t        count = t->held ? t->held_count : 1;
        for (uint32_t i = 0; i < count; i++) {
                if (!is_named(held[i].name, name))
                        continue;
                if (thousandths_out)
                        *thousandths_out = (int64_t)held[i].thousandths;
                if (indices_out)
                        *indices_out = held[i].indices;
                return 0;
        }
        return SC_E_NOT_FOUND;
}

int scaler_task_return(scaler_task *t, scaler_blob *result)
{
        if (scaler_blob_size(result) > SC_RESULT_MAX)
                return SC_E_TOO_BIG;
        scaler_blob_unref(t->result);
        t->result = result;
        return 0;
}

int scaler_task_return_copy(scaler_task *t, const void *data, size_t size)
{
        scaler_blob *blob;
        if (size > SC_RESULT_MAX)
                return SC_E_TOO_BIG;
        const int status = scaler_blob_copy(t->worker->rt, data, size, &blob);
        return status ? status : scaler_task_return(t, blob);
}

int scaler_task_fail(scaler_task *t, int code, const char *text, scaler_blob *detail)
{
        const int status = scaler_task_return(t, detail);
        if (status)
                return status;
        t->failed = true;
        t->code   = code;
        snprintf(t->text, sizeof t->text, "%s", text ? text : "");
        return 0;
}

bool scaler_task_cancelled(const scaler_task *t)
{
        return atomic_load_explicit(&t->cancelled, memory_order_relaxed);
}

int scaler_task_log(scaler_task *t, int32_t level, const char *line)
{
        char id[SC_ID_TEXT];
        if (!line || level <= SCALER_LOG_NONE || level > SCALER_LOG_DEBUG)
                return SC_E_INVALID;
        sc_id_format(t->id, id);
        sc_log(t->worker->rt, level, "task", "%s: %s", id, line);
        return 0;
}

int scaler_task_defer(scaler_task *t)
{
        if (t->deferred)
                return SC_E_STATE;
        t->deferred = true;
        return 0;
}

void scaler_task_complete(scaler_task *t, int code)
{
        if (!t->deferred) {
                sc_log(t->worker->rt, SCALER_LOG_ERROR, "task", "completed though it was not deferred: ignored");
                return;
        }
        if (sc_forked())
                return;
        t->returned = code;
        sc_loop_post_and_turn(t->worker->rt->loop, &t->completed);
}
