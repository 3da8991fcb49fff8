/* See job.h. */
#include "job.h"

#include <string.h>

#include "after.h"
#include "graph_names.h"
#include "sc_assert.h"

/* ---- wiring: in the caller's thread ------------------------------------------------------------------------ */

void sc_wiring_init(struct sc_wiring *w, struct scaler_client *c)
{
        *w = (struct sc_wiring){ .mem = c->mem, .gate = c->gate };
}

void sc_wiring_fini(struct sc_wiring *w)
{
        for (size_t i = 0; i < w->future_count; i++)
                scaler_future_unref(w->futures[i]);
        sc_mem_release(w->mem, w->futures, w->future_cap * sizeof *w->futures);
        sc_mem_release(w->mem, w->entries, w->cap * sizeof *w->entries);
        *w = (struct sc_wiring){ .mem = w->mem, .gate = w->gate };
}

static bool grow(struct sc_mem *mem, void **at, size_t *cap, size_t count, size_t each)
{
        if (count < *cap)
                return true;
        const size_t more   = *cap > 0 ? 2 * *cap : 16;
        void        *bigger = sc_mem_resize(mem, *at, *cap * each, more * each);
        if (!bigger)
                return false;
        *at  = bigger;
        *cap = more;
        return true;
}

static int no_memory(size_t index, scaler_error *err)
{
        return sc_error_set(err, SC_E_NOMEM, "spec %zu: %s", index, sc_status_text(SC_E_NOMEM));
}

static int add(struct sc_wiring *w, uint64_t entry, size_t index, scaler_error *err)
{
        void *entries = w->entries;
        if (!grow(w->mem, &entries, &w->cap, w->count, sizeof *w->entries))
                return no_memory(index, err);
        w->entries             = entries;
        w->entries[w->count++] = entry;
        return 0;
}

static int add_node(struct sc_wiring *w, uint64_t read, size_t node, size_t index, scaler_error *err)
{
        if (w->nodes == 0)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: it refers to another spec, and this is no graph",
                                    index);
        if (node >= w->nodes)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: it refers to spec %zu, and the last one is %zu",
                                    index, node, w->nodes - 1);
        if (node == index)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: it refers to itself", index);
        return add(w, read | node, index, err);
}

static int add_future(struct sc_wiring *w, uint64_t read, struct scaler_future *f, size_t index, scaler_error *err)
{
        if (!f)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: it refers to a future that is NULL", index);
        if (f->gate != w->gate)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: it refers to a future of another client", index);
        if (f->graph && read)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: it reads a whole graph, which has no result", index);
        if (f->graph)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: it comes after a whole graph, not a task", index);
        void *futures = w->futures;
        if (!grow(w->mem, &futures, &w->future_cap, w->future_count, sizeof *w->futures))
                return no_memory(index, err);
        w->futures           = futures;
        const uint64_t entry = read | SC_WIRE_FUTURE | w->future_count;
        w->futures[w->future_count++] = scaler_future_ref(f);
        return add(w, entry, index, err);
}

int sc_wiring_arg(struct sc_wiring *w, const scaler_arg *arg, size_t index, size_t position, scaler_error *err)
{
        if (arg->kind == SCALER_ARG_RESULT)
                return add_node(w, SC_WIRE_READ, arg->data_size, index, err);
        if (arg->kind == SCALER_ARG_FUTURE) /* taken as what it was given for: a reference to a future */
                return add_future(w, SC_WIRE_READ, (struct scaler_future *)(uintptr_t)arg->data, index, err);
        const char *name = arg->data;
        if (!name)
                return sc_error_set(err, SC_E_INVALID, "spec %zu: argument %zu: its name is NULL", index, position);
        size_t node;
        if (!w->names || !sc_names_find(w->names, name, &node))
                return sc_error_set(err, SC_E_INVALID, "spec %zu: argument %zu: nothing is named \"%.60s\"", index,
                                    position, name);
        return add_node(w, SC_WIRE_READ, node, index, err);
}

int sc_wiring_after(struct sc_wiring *w, const scaler_spec *s, size_t index, scaler_error *err)
{
        if ((s->after_count > 0 && !s->after) || (s->after_node_count > 0 && !s->after_nodes))
                return sc_error_set(err, SC_E_INVALID, "spec %zu: a count of dependencies without them", index);
        int status = 0;
        for (size_t i = 0; i < s->after_count && !status; i++)
                status = add_future(w, 0, s->after[i], index, err);
        for (size_t i = 0; i < s->after_node_count && !status; i++)
                status = add_node(w, 0, s->after_nodes[i], index, err);
        return status;
}

/* ---- jobs -------------------------------------------------------------------------------------------------- */

struct sc_job *sc_job_create(struct sc_mem *mem, struct sc_wiring *w, size_t items)
{
        struct sc_job *job = sc_mem_zalloc(mem, sizeof *job);
        if (!job)
                return NULL;
        job->mem           = mem;
        job->wiring.mem    = mem;
        job->items         = sc_mem_zalloc(mem, items * sizeof *job->items);
        if (!job->items) {
                sc_mem_release(mem, job, sizeof *job);
                return NULL;
        }
        job->item_cap = items;
        job->wiring   = *w;
        *w            = (struct sc_wiring){ .mem = w->mem, .gate = w->gate };
        return job;
}

void sc_job_destroy(struct sc_job *job)
{
        if (!job)
                return;
        struct sc_mem *mem = job->mem;
        for (size_t i = 0; i < job->item_count; i++)
                sc_blob_unref(job->items[i].body);
        sc_wiring_fini(&job->wiring);
        sc_mem_release(mem, job->items, job->item_cap * sizeof *job->items);
        sc_mem_release(mem, job->order, job->order ? job->item_cap * sizeof *job->order : 0);
        sc_mem_release(mem, job->after, job->after ? job->after_most * 8 : 0);
        sc_mem_release(mem, job->results, job->results ? job->after_most * sizeof *job->results : 0);
        sc_mem_release(mem, job, sizeof *job);
}

bool sc_job_make_room(struct sc_job *job)
{
        for (size_t i = 0; i < job->item_count; i++)
                if (job->items[i].count > job->after_most)
                        job->after_most = job->items[i].count;
        if (job->after_most == 0)
                return true;
        job->after   = sc_mem_alloc(job->mem, job->after_most * 8);
        job->results = sc_mem_array(job->mem, job->after_most, sizeof *job->results);
        return job->after && job->results;
}

/* ---- in a turn --------------------------------------------------------------------------------------------- */

/* What has become of a future: still on its way, or ended; its bytes are lent by the reference that the job has. */
static uint64_t look(struct scaler_future *f, uint64_t read, struct sc_plan *plan, struct sc_view *result)
{
        if (!f->kept)
                return read | f->id.lo;
        sc_gate_lock(f->gate);
        const bool broken = f->broken || f->unkept;
        sc_gate_unlock(f->gate);
        const uint32_t reason = broken ? SC_REASON_CLIENT : f->outcome.reason;
        const uint64_t root   = f->root != 0 ? f->root : f->id.lo;
        const uint32_t first  = f->root != 0 ? f->root_reason : reason;
        *result = (struct sc_view){ "", 0 };
        if (reason == SC_REASON_SUCCESS && f->result)
                *result = (struct sc_view){ sc_blob_data(f->result), sc_blob_size(f->result) };
        if (reason != SC_REASON_SUCCESS && plan->root_reason == 0) {
                plan->root        = root;
                plan->root_reason = first;
        }
        return read | SC_AFTER_ENDED;
}

static void fill(const struct sc_job *job, const struct sc_item *item, uint64_t graph, struct sc_plan *plan)
{
        uint32_t known = 0;
        for (size_t i = 0; i < item->count; i++) {
                const uint64_t entry = job->wiring.entries[item->first + i];
                const uint64_t read  = entry & SC_WIRE_READ ? SC_AFTER_READ : 0;
                const size_t   index = (size_t)(entry & SC_WIRE_INDEX);
                struct sc_view result = { NULL, 0 };
                uint64_t       told;
                if (entry & SC_WIRE_FUTURE)
                        told = look(job->wiring.futures[index], read, plan, &result);
                else
                        told = read | (graph + job->items[index].place);
                if (result.ptr && read)
                        job->results[known++] = result;
                sc_after_put(job->after, (uint32_t)i, told);
        }
        plan->after   = (struct sc_view){ job->after, 8 * item->count };
        plan->results = (struct sc_views){ job->results, known };
}

static void sign(const struct sc_job *job, struct sc_plan *plan)
{
        if (!job->name)
                return;
        plan->parent     = job->name->parent;
        plan->parent_run = job->name->parent_run;
}

static int submit_item(struct scaler_client *c, const struct sc_job *job, const struct sc_item *item, uint64_t graph,
                       uint64_t sequence, sc_ns now)
{
        struct sc_spec spec = item->spec;
        struct sc_plan plan = spec.plan ? *spec.plan : (struct sc_plan){ .graph = 0 };
        fill(job, item, graph, &plan);
        sign(job, &plan);
        plan.graph       = graph;
        plan.graph_flags = item->future ? 0 : SC_GRAPH_INNER;
        spec.plan        = &plan;
        if (graph == 0)
                plan.graph_flags = 0;
        return sc_cli_shell_submit(c->shell, &spec, sequence, now);
}

int sc_job_submit_one(struct scaler_client *c, struct scaler_future *f, sc_ns now)
{
        SC_ASSERT(f->job->item_count == 1);
        return submit_item(c, f->job, &f->job->items[0], 0, f->id.lo, now);
}

static int submit_head(struct scaler_client *c, const struct scaler_future *head, sc_ns now)
{
        const struct sc_job *job  = head->job;
        struct sc_plan       plan = head->spec.plan ? *head->spec.plan : (struct sc_plan){ .graph = 0 };
        plan.nodes                = (uint32_t)job->order_count;
        plan.graph_flags          = job->graph_flags;
        sign(job, &plan);
        const struct sc_spec spec = { .kind = SC_TASK_GRAPH, .plan = &plan };
        return sc_cli_shell_submit(c->shell, &spec, head->id.lo, now);
}

static int take_in(struct scaler_client *c, struct scaler_future *f)
{
        if (!sc_map_reserve(&c->futures, c->futures.len + 1))
                return SC_E_NOMEM;
        sc_map_put(&c->futures, (struct sc_id){ 0, f->id.lo }, f);
        return 0;
}

static int submit_node(struct scaler_client *c, const struct sc_job *job, const struct sc_item *item, uint64_t graph,
                       sc_ns now)
{
        int status = item->future ? take_in(c, item->future) : 0;
        if (status)
                return status;
        status = submit_item(c, job, item, graph, graph + item->place, now);
        if (status && item->future)
                sc_map_remove(&c->futures, (struct sc_id){ 0, item->future->id.lo });
        return status;
}

static void end_targets(struct scaler_client *c, const struct sc_job *job, size_t from, int status)
{
        for (size_t i = from; i < job->order_count; i++) {
                struct scaler_future *f = job->items[job->order[i]].future;
                if (f)
                        sc_client_end_unadmitted(c, f, status);
        }
}

void sc_job_end_targets(struct scaler_client *c, const struct sc_job *job, int status)
{
        end_targets(c, job, 0, status);
}

/* All of it, or it is cancelled before anything of it is sent. */
void sc_job_submit_graph(struct scaler_client *c, struct scaler_future *head, sc_ns now)
{
        struct sc_job *job    = head->job;
        int            status = take_in(c, head);
        size_t         done   = 0;
        if (!status && (status = submit_head(c, head, now)) != 0)
                sc_map_remove(&c->futures, (struct sc_id){ 0, head->id.lo });
        const bool there = status == 0;
        for (; done < job->order_count && !status; done += !status)
                status = submit_node(c, job, &job->items[job->order[done]], head->id.lo, now);
        end_targets(c, job, done, status);
        if (status && there)
                sc_cli_shell_cancel(c->shell, head->id, true, now);
        else if (status)
                sc_client_end_unadmitted(c, head, status);
}
