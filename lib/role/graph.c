/*
 * Graphs in the caller's thread: what refers to what, whether that makes sense, what the targets need, and in which
 * order it is submitted.  Nothing here is recursive: a graph may be as deep as it has nodes.
 */
#include <stdio.h>
#include <string.h>

#include "graph_names.h"
#include "job.h"
#include "nested.h"

struct work { /* what one call builds */
        struct scaler_client *c;
        const scaler_spec    *specs;
        size_t                count;
        scaler_graph          o;
        struct sc_names       names;
        struct sc_job        *job;
        scaler_spec          *copies; /* of targets only what makes a future: queue and user_data */
        uint8_t              *marks;
        uint32_t             *left;   /* dependencies of each that are not in order yet */
        uint32_t             *first, *readers; /* who depends on i: readers[first[i]] to readers[first[i + 1]] */
        uint32_t             *stack;
        struct scaler_future *head;
};

enum { TARGET = 1, NEEDED = 2, DEPENDED = 4 };

static int no_memory(scaler_error *err)
{
        return sc_error_set(err, SC_E_NOMEM, "graph: out of memory");
}

/* ---- options ----------------------------------------------------------------------------------------------- */

static int check_options(struct work *w, scaler_error *err)
{
        const scaler_graph *o = &w->o;
        if (o->target_count > 0 && !o->targets)
                return sc_error_set(err, SC_E_INVALID, "graph: target_count without targets");
        if (o->tag && strlen(o->tag) > SC_NAME_MAX)
                return sc_error_set(err, SC_E_INVALID, "graph: tag is longer than 127 bytes");
        for (size_t i = 0; i < o->target_count; i++) {
                if (o->targets[i] >= w->count)
                        return sc_error_set(err, SC_E_INVALID, "graph: target %zu is spec %zu, and the last one is %zu",
                                            i, o->targets[i], w->count - 1);
                if (w->marks[o->targets[i]] & TARGET)
                        return sc_error_set(err, SC_E_INVALID, "graph: spec %zu is a target twice", o->targets[i]);
                w->marks[o->targets[i]] |= TARGET;
        }
        return 0;
}

static int take_names(struct work *w, scaler_error *err)
{
        size_t twice[2];
        if (!w->o.names)
                return 0;
        const int status = sc_names_init(&w->names, w->c->mem, w->o.names, w->count, twice);
        if (status == SC_E_EXISTS)
                return sc_error_set(err, SC_E_INVALID, "graph: specs %zu and %zu have the same name \"%.60s\"",
                                    twice[0], twice[1], w->o.names[twice[0]]);
        return status ? no_memory(err) : 0;
}

/* ---- specs ------------------------------------------------------------------------------------------------- */

static int take_specs(struct work *w, scaler_error *err)
{
        struct sc_wiring wiring;
        sc_wiring_init(&wiring, w->c);
        wiring.nodes = w->count;
        wiring.names = w->o.names ? &w->names : NULL;
        w->job       = sc_job_create(w->c->mem, &wiring, w->count);
        if (!w->job)
                return no_memory(err);
        struct sc_job *job    = w->job;
        int            status = 0;
        for (size_t i = 0; i < w->count && !status; i++) {
                const char        *at   = (const char *)w->specs + i * w->specs->size;
                const scaler_spec *spec = (const scaler_spec *)(const void *)at;
                scaler_spec        copy;
                if (spec->size != w->specs->size)
                        return sc_error_set(err, SC_E_INVALID, "spec %zu: its size differs from that of spec 0", i);
                status = sc_spec_take(w->c, spec, i, &job->wiring, &copy, &job->items[i], err);
                job->item_count += job->items[i].body != NULL;
                w->copies[i].queue     = status ? NULL : copy.queue;
                w->copies[i].user_data = status ? 0 : copy.user_data;
        }
        return status;
}

static const uint64_t *entries_of(const struct work *w, size_t i)
{
        return w->job->wiring.entries + w->job->items[i].first;
}

static bool is_node(uint64_t entry, size_t *index)
{
        *index = (size_t)(entry & SC_WIRE_INDEX);
        return (entry & SC_WIRE_FUTURE) == 0;
}

/* ---- who depends on whom, and in which order ------------------------------------------------------------------ */

static bool invert(struct work *w)
{
        size_t edges = 0, at;
        for (size_t i = 0; i < w->count; i++) {
                for (size_t k = 0; k < w->job->items[i].count; k++) {
                        if (!is_node(entries_of(w, i)[k], &at))
                                continue;
                        w->marks[at] |= DEPENDED;
                        w->first[at]++;
                        w->left[i]++;
                        edges++;
                }
        }
        w->readers = sc_mem_array(w->c->mem, edges + 1, sizeof *w->readers);
        if (!w->readers)
                return false;
        uint32_t sum = 0;
        for (size_t i = 0; i <= w->count; i++) { /* first[i] becomes where those of i end, and then where they begin */
                sum += i < w->count ? w->first[i] : 0;
                w->first[i] = sum;
        }
        for (size_t i = w->count; i-- > 0;)
                for (size_t k = w->job->items[i].count; k-- > 0;)
                        if (is_node(entries_of(w, i)[k], &at))
                                w->readers[--w->first[at]] = (uint32_t)i;
        return true;
}

/* Each after all it depends on; among those that may be next, first come first: gives how many came. */
static size_t sort(struct work *w)
{
        uint32_t *order = w->job->order;
        size_t    tail  = 0;
        for (size_t i = 0; i < w->count; i++)
                if (w->left[i] == 0)
                        order[tail++] = (uint32_t)i;
        for (size_t head = 0; head < tail; head++) {
                const uint32_t i = order[head];
                for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
                        if (--w->left[w->readers[k]] == 0)
                                order[tail++] = w->readers[k];
        }
        return tail;
}

/* What could not be put in order depends on something that could not either: so some way leads back. */
static uint32_t before(const struct work *w, uint32_t i)
{
        size_t at;
        for (size_t k = 0; k < w->job->items[i].count; k++)
                if (is_node(entries_of(w, i)[k], &at) && w->left[at] > 0)
                        return (uint32_t)at;
        return i;
}

static int name_circle(const struct work *w, scaler_error *err)
{
        uint32_t slow = 0;
        while (w->left[slow] == 0)
                slow++;
        uint32_t fast = slow;
        do {
                slow = before(w, slow);
                fast = before(w, before(w, fast));
        } while (slow != fast);
        char   text[160];
        size_t len = 0;
        do { /* each needs the next one */
                len += (size_t)snprintf(text + len, sizeof text - len, "%u -> ", (unsigned)slow);
                slow = before(w, slow);
        } while (slow != fast && len < sizeof text - 30);
        snprintf(text + len, sizeof text - len, slow == fast ? "%u" : "...", (unsigned)fast);
        return sc_error_set(err, SC_E_INVALID, "graph: specs depend on each other in a circle: %s", text);
}

/* ---- what is needed --------------------------------------------------------------------------------------------- */

static void need(struct work *w, uint32_t i, size_t *depth)
{
        if (w->marks[i] & NEEDED)
                return;
        w->marks[i] |= NEEDED;
        w->stack[(*depth)++] = i;
}

static void cull(struct work *w)
{
        size_t depth = 0, at, kept = 0;
        for (size_t i = 0; i < w->count; i++) {
                if (w->o.target_count == 0 && !(w->marks[i] & DEPENDED))
                        w->marks[i] |= TARGET;
                if (w->marks[i] & TARGET)
                        need(w, (uint32_t)i, &depth);
        }
        while (depth > 0) {
                const uint32_t i = w->stack[--depth];
                for (size_t k = 0; k < w->job->items[i].count; k++)
                        if (is_node(entries_of(w, i)[k], &at))
                                need(w, (uint32_t)at, &depth);
        }
        struct sc_job *job = w->job;
        for (size_t i = 0; i < w->count; i++) {
                if (!(w->marks[job->order[i]] & NEEDED))
                        continue;
                job->order[kept++]                       = job->order[i];
                job->items[job->order[kept - 1]].place = (uint32_t)kept;
        }
        job->order_count = kept;
}

/* Nobody would read what it prints. */
static int check_streams(const struct work *w, scaler_error *err)
{
        for (size_t k = 0; k < w->job->order_count; k++) {
                const uint32_t i = w->job->order[k];
                if ((w->job->items[i].spec.flags & SC_SPEC_STREAM) && !(w->marks[i] & TARGET))
                        return sc_error_set(err, SC_E_INVALID, "spec %u: a command that streams must be a target",
                                            (unsigned)i);
        }
        return 0;
}

static bool make_arrays(struct work *w)
{
        struct sc_mem *mem = w->c->mem;
        const size_t   n   = w->count;
        if (n > SIZE_MAX / sizeof *w->copies)
                return false;
        w->marks  = sc_mem_zalloc(mem, n);
        w->copies = sc_mem_zalloc(mem, n * sizeof *w->copies);
        w->left   = sc_mem_zalloc(mem, n * sizeof *w->left);
        w->first  = sc_mem_zalloc(mem, (n + 1) * sizeof *w->first);
        w->stack  = sc_mem_array(mem, n, sizeof *w->stack);
        return w->marks && w->copies && w->left && w->first && w->stack;
}

static int build(struct work *w, scaler_error *err)
{
        if (w->count == 0 || w->count > UINT32_MAX - 1)
                return sc_error_set(err, SC_E_INVALID, "graph: it has no specs, or too many");
        if (!make_arrays(w))
                return no_memory(err);
        int status = check_options(w, err);
        if (!status)
                status = take_names(w, err);
        if (!status)
                status = take_specs(w, err);
        if (status)
                return status;
        w->job->order = sc_mem_array(w->c->mem, w->count, sizeof *w->job->order);
        if (!w->job->order || !invert(w))
                return no_memory(err);
        if (sort(w) < w->count)
                return name_circle(w, err);
        cull(w);
        status = check_streams(w, err);
        if (status)
                return status;
        return sc_job_make_room(w->job) ? 0 : no_memory(err);
}

/* ---- futures --------------------------------------------------------------------------------------------------- */

static size_t target_at(const struct work *w, size_t nth, size_t *from)
{
        if (w->o.target_count > 0)
                return w->o.targets[nth];
        while (!(w->marks[*from] & TARGET))
                ++*from;
        return (*from)++;
}

static size_t target_count(const struct work *w)
{
        size_t count = w->o.target_count;
        for (size_t i = 0; i < w->count && w->o.target_count == 0; i++)
                count += (w->marks[i] & TARGET) != 0;
        return count;
}

static int make_head(struct work *w, scaler_error *err)
{
        const size_t         len  = w->o.tag ? strlen(w->o.tag) : 0;
        const scaler_spec    like = { .queue = w->o.queue, .user_data = w->o.user_data };
        const struct sc_item item = { .spec = { .kind = SC_TASK_GRAPH } };
        void                *data;
        w->head = sc_spec_future(w->c, &like, &item);
        if (!w->head)
                return no_memory(err);
        w->head->graph = true;
        w->head->body  = sc_blob_alloc(w->c->mem, sizeof(struct sc_plan) + len, &data);
        if (!w->head->body)
                return no_memory(err);
        struct sc_plan *plan = data;
        char           *tag  = (char *)(plan + 1);
        if (len > 0)
                memcpy(tag, w->o.tag, len);
        *plan               = (struct sc_plan){ .tag = { tag, len } };
        w->head->spec       = (struct sc_spec){ .kind = SC_TASK_GRAPH, .plan = plan };
        w->job->graph_flags = w->o.fail_fast ? SC_GRAPH_FAIL_FAST : 0;
        return 0;
}

static int make_futures(struct work *w, size_t targets, scaler_error *err)
{
        size_t from   = 0;
        int    status = make_head(w, err);
        for (size_t i = 0; i < targets && !status; i++) {
                const size_t    at   = target_at(w, i, &from);
                struct sc_item *item = &w->job->items[at];
                item->future         = sc_spec_future(w->c, &w->copies[at], item);
                if (!item->future)
                        status = no_memory(err);
        }
        if (!status)
                w->head->inner = (uint32_t)(w->job->order_count - targets);
        return status;
}

/* Locked: the graph's id is followed by those of its nodes. */
static void line_up(struct work *w, bool wanted)
{
        struct scaler_client *c    = w->c;
        struct scaler_future *head = w->head;
        head->id                   = (struct sc_id){ c->id, ++c->sequence };
        for (size_t i = 0; i < w->job->order_count; i++) {
                struct scaler_future *f = w->job->items[w->job->order[i]].future;
                ++c->sequence;
                if (!f)
                        continue;
                f->id       = (struct sc_id){ c->id, c->sequence };
                f->graph_at = head->id.lo;
                f->at_front = true;
                if (f->family)
                        sc_family_add(f->family, f, 1);
                if (wanted)
                        scaler_future_ref(f);
        }
        if (w->o.whole)
                scaler_future_ref(head);
        head->job      = w->job;
        head->at_front = true;
        sc_list_add_tail(&c->submits, &head->work);
        c->pending += w->job->order_count + 1;
        c->submitted += w->job->order_count;
        if (head->family)
                sc_family_add(head->family, head, 1 + head->inner);
}

/* ---- the call -------------------------------------------------------------------------------------------------- */

static void give_futures(const struct work *w, size_t targets, scaler_future **futures)
{
        size_t from = 0;
        for (size_t i = 0; futures && i < targets; i++)
                futures[i] = w->job->items[target_at(w, i, &from)].future;
}

/* Once the lock is away a turn may have taken all of it: so what is given is given before. */
static int submit(struct work *w, size_t targets, scaler_future **futures, scaler_id *graph_out, scaler_error *err)
{
        struct scaler_client *c = w->c;
        sc_gate_lock(c->gate);
        const int status = sc_client_may_submit(c, w->job->order_count + 1, err);
        bool      first  = false;
        if (!status) {
                line_up(w, futures != NULL);
                give_futures(w, targets, futures);
                if (w->o.whole)
                        *w->o.whole = w->head;
                if (graph_out)
                        *graph_out = (scaler_id){ w->head->id.hi, w->head->id.lo };
                first = sc_client_mark_posted(c);
        }
        sc_gate_unlock(c->gate);
        if (first)
                sc_loop_post_and_turn(c->rt->loop, &c->front);
        return status;
}

static void give_up(struct work *w)
{
        for (size_t i = 0; w->job && i < w->job->item_count; i++)
                scaler_future_unref(w->job->items[i].future);
        scaler_future_unref(w->head);
        sc_job_destroy(w->job);
}

static void free_arrays(struct work *w)
{
        struct sc_mem *mem = w->c->mem;
        size_t         edges = w->readers ? w->first[w->count] : 0;
        sc_names_fini(&w->names);
        sc_mem_release(mem, w->readers, w->readers ? (edges + 1) * sizeof *w->readers : 0);
        sc_mem_release(mem, w->marks, w->marks ? w->count : 0);
        sc_mem_release(mem, w->copies, w->copies ? w->count * sizeof *w->copies : 0);
        sc_mem_release(mem, w->left, w->left ? w->count * sizeof *w->left : 0);
        sc_mem_release(mem, w->first, w->first ? (w->count + 1) * sizeof *w->first : 0);
        sc_mem_release(mem, w->stack, w->stack ? w->count * sizeof *w->stack : 0);
}

int scaler_client_submit_graph(scaler_client *c, const scaler_spec *specs, size_t count, const scaler_graph *options,
                               scaler_future **futures, scaler_id *graph_out, scaler_error *err)
{
        struct work w = { .c = c, .specs = specs, .count = count };
        if (sc_forked())
                return sc_refuse_forked(err);
        if (!c || !specs || (options && !sc_sized_in(&w.o, sizeof w.o, options)))
                return sc_error_set(err, SC_E_INVALID, "graph: no client, no specs, or options without their size");
        int          status  = sc_client_knock(c, err);
        if (!status)
                status = build(&w, err);
        const size_t targets = status ? 0 : target_count(&w);
        if (!status)
                status = make_futures(&w, targets, err);
        if (!status)
                status = submit(&w, targets, futures, graph_out, err);
        if (status)
                give_up(&w);
        free_arrays(&w);
        return status ? status : (int)targets;
}
