/*
 * From a caller's spec to what travels: checks every rule of scaler.h, then encodes the body once.
 * Plan, function name and body lie in one blob, which the future keeps until the turn has taken it.
 */
#include <string.h>

#include "body.h"
#include "client.h"
#include "job.h"
#include "nested.h"
#include "plan.h"
#include "sc_buf.h"

enum { COLLECT_MAX = SC_RESULT_MAX };

static int invalid(scaler_error *err, size_t index, const char *what)
{
        return sc_error_set(err, SC_E_INVALID, "spec %zu: %s", index, what);
}

static size_t count_of(const char *const *list)
{
        size_t n = 0;
        while (list && list[n])
                n++;
        return n;
}

static int check_common(const scaler_spec *s, size_t index, scaler_error *err)
{
        if (!s->function == !s->command)
                return invalid(err, index, "exactly one of function and command it must have");
        if (s->retries < 0)
                return invalid(err, index, "retries is negative");
        if (s->timeout_ms < 0)
                return invalid(err, index, "timeout_ms is negative");
        if (s->function && (!*s->function || strlen(s->function) > SC_NAME_MAX))
                return invalid(err, index, "the function's name must have 1 to 127 bytes");
        if (s->arg_count > SC_ARGS_MAX)
                return invalid(err, index, "more than 131,072 arguments");
        if (s->arg_count && (!s->args || s->command))
                return invalid(err, index, s->command ? "a command has argv, not args" : "arg_count without args");
        return 0;
}

static int view_of(const scaler_arg *arg, struct sc_view *out)
{
        if (arg->reserved || arg->reserved2[0] || arg->reserved2[1])
                return SC_E_INVALID;
        if (arg->kind == SCALER_ARG_BLOB && arg->blob)
                *out = (struct sc_view){ scaler_blob_data(arg->blob), scaler_blob_size(arg->blob) };
        else if (arg->kind == SCALER_ARG_BYTES && (arg->data || !arg->data_size))
                *out = (struct sc_view){ arg->data, arg->data_size };
        else
                return SC_E_INVALID;
        return 0;
}

static int too_big(scaler_error *err, size_t index, int status)
{
        if (status == SC_E_TOO_BIG)
                return sc_error_set(err, status, "spec %zu: more than %d bytes when encoded", index, SC_BODY_MAX);
        return sc_error_set(err, status, "spec %zu: %s", index, sc_status_text(status));
}

/* The bytes of an argument, or a place for the result of another task. */
static int take_arg(struct sc_wiring *w, const scaler_arg *arg, size_t index, size_t position, struct sc_view *out,
                    scaler_error *err)
{
        const bool refers = arg->kind >= SCALER_ARG_RESULT && arg->kind <= SCALER_ARG_FUTURE && !arg->reserved &&
                            !arg->reserved2[0] && !arg->reserved2[1];
        if (refers) {
                *out = SC_ARG_RESULT;
                return sc_wiring_arg(w, arg, index, position, err);
        }
        if (view_of(arg, out) == 0)
                return 0;
        return sc_error_set(err, SC_E_INVALID,
                            "spec %zu: argument %zu: unknown kind, no bytes, or reserved room in use", index, position);
}

static int encode_args(struct sc_mem *mem, struct sc_buf *buf, const scaler_spec *s, size_t index, struct sc_wiring *w,
                       scaler_error *err)
{
        struct sc_view  few[16];
        struct sc_view *views = few;
        if (s->arg_count > 16 && !(views = sc_mem_array(mem, s->arg_count, sizeof *views)))
                return too_big(err, index, SC_E_NOMEM);
        int status = 0;
        for (size_t i = 0; i < s->arg_count && !status; i++)
                status = take_arg(w, &s->args[i], index, i, &views[i], err);
        if (!status && (status = sc_body_pack_args(buf, views, (uint32_t)s->arg_count)) != 0)
                too_big(err, index, status);
        if (views != few)
                sc_mem_release(mem, views, s->arg_count * sizeof *views);
        return status;
}

static int check_command(const scaler_command *c, size_t argc, size_t envc, size_t index, scaler_error *err)
{
        const uint32_t known = SCALER_COMMAND_STREAM | SCALER_COMMAND_CLEAR_ENV | SCALER_COMMAND_SHELL |
                               SCALER_COMMAND_MERGE;
        if (argc == 0 || !*c->argv[0])
                return invalid(err, index, "a command needs argv[0]");
        if (argc > SC_ARGV_MAX || envc > SC_ENV_MAX)
                return sc_error_set(err, SC_E_TOO_BIG, "spec %zu: more than %d arguments or %d environment entries",
                                    index, SC_ARGV_MAX, SC_ENV_MAX);
        if (c->flags & ~known)
                return invalid(err, index, "unknown command flags");
        if (c->input_size && !c->input)
                return invalid(err, index, "input_size without input");
        if (c->output_max < 0 && c->output_max != SCALER_UNLIMITED)
                return invalid(err, index, "output_max is negative");
        if (!(c->flags & SCALER_COMMAND_STREAM) && (c->output_max > COLLECT_MAX || c->output_max == SCALER_UNLIMITED))
                return invalid(err, index, "output_max above 1 MiB needs SCALER_COMMAND_STREAM");
        if (c->nice < 0 || c->nice > SC_NICE_MAX)
                return invalid(err, index, "nice is not 0 to 19");
        for (size_t i = 0; i < envc; i++)
                if (c->env[i][0] == '=' || c->env[i][0] == '\0')
                        return invalid(err, index, "an environment entry without a name");
        return 0;
}

static uint32_t command_flags(uint32_t flags)
{
        return (flags & SCALER_COMMAND_CLEAR_ENV ? SC_COMMAND_CLEAR_ENV : 0u) |
               (flags & SCALER_COMMAND_SHELL ? SC_COMMAND_SHELL : 0u) |
               (flags & SCALER_COMMAND_MERGE ? SC_COMMAND_MERGE : 0u);
}

static int encode_command(struct sc_mem *mem, struct sc_buf *buf, const scaler_command *given, size_t index,
                          scaler_error *err, bool *stream)
{
        scaler_command c;
        if (!sc_sized_in(&c, sizeof c, given))
                return invalid(err, index, "command without its size");
        const size_t argc = count_of(c.argv), envc = count_of(c.env);
        int          status = check_command(&c, argc, envc, index, err);
        if (status)
                return status;
        struct sc_view *views = sc_mem_array(mem, argc + envc, sizeof *views);
        if (!views)
                return too_big(err, index, SC_E_NOMEM);
        for (size_t i = 0; i < argc + envc; i++) {
                const char *text = i < argc ? c.argv[i] : c.env[i - argc];
                views[i]         = (struct sc_view){ text, strlen(text) };
        }
        const struct sc_command command = {
                .flags      = command_flags(c.flags),
                .output_max = c.output_max > 0 ? (uint64_t)c.output_max : 0,
                .cwd        = { c.cwd, c.cwd ? strlen(c.cwd) : 0 },
                .input      = { c.input, c.input_size },
                .argv       = views,
                .argc       = (uint32_t)argc,
                .env        = views + argc,
                .envc       = (uint32_t)envc,
                .nice       = (uint32_t)c.nice,
        };
        *stream = c.flags & SCALER_COMMAND_STREAM;
        status  = sc_body_pack_command(buf, &command);
        sc_mem_release(mem, views, (argc + envc) * sizeof *views);
        return status ? too_big(err, index, status) : 0;
}

static struct scaler_future *new_future(struct scaler_client *c, const scaler_spec *s)
{
        struct scaler_future *f = sc_mem_zalloc(c->mem, sizeof *f);
        if (!f)
                return NULL;
        atomic_init(&f->refs, 1);
        f->mem       = c->mem;
        f->gate      = sc_gate_ref(c->gate);
        f->queue     = sc_queue_ref(s->queue);
        f->user_data = s->user_data;
        f->family    = c->nested ? sc_family_ref(sc_family_here()) : NULL;
        sc_list_init(&f->work);
        sc_list_init(&f->chunks);
        sc_list_init(&f->ready);
        sc_list_init(&f->turn);
        sc_list_init(&f->kin);
        return f;
}

/* One blob: the plan if there is one, the function's name, then the body. */
static bool keep_spec(struct sc_mem *mem, const scaler_spec *s, bool stream, const struct sc_plan *plan,
                      const struct sc_buf *body, struct sc_item *item)
{
        const size_t first = sc_plan_size(plan), name = s->function ? strlen(s->function) : 0;
        void        *data;
        item->body = sc_blob_alloc(mem, first + name + body->len, &data);
        if (!item->body)
                return false;
        char *at = (char *)data + first;
        if (name)
                memcpy(at, s->function, name);
        if (body->len)
                memcpy(at + name, body->data, body->len);
        item->spec = (struct sc_spec){
                .kind       = s->command ? SC_TASK_COMMAND : SC_TASK_FUNCTION,
                .flags      = stream ? SC_SPEC_STREAM : 0,
                .priority   = s->priority,
                .retries    = (uint32_t)s->retries,
                .timeout_ms = (uint64_t)s->timeout_ms,
                .function   = { at, name },
                .body       = { at + name, body->len },
                .plan       = plan ? sc_plan_keep(plan, data) : NULL,
        };
        return true;
}

/* What several wait for must be the same for all of them. */
static int check_key(const scaler_spec *s, const struct sc_wiring *w, const struct sc_item *item, bool stream,
                     size_t index, scaler_error *err)
{
        if (!s->key)
                return 0;
        if (w->nodes > 0)
                return invalid(err, index, "a node of a graph has no idempotency key");
        if (item->count > 0)
                return invalid(err, index, "a task with an idempotency key depends on nothing");
        return stream ? invalid(err, index, "a task with an idempotency key does not stream its output") : 0;
}

static int encode(struct scaler_client *c, const scaler_spec *s, size_t index, struct sc_wiring *w,
                  const struct sc_plan *plan, struct sc_item *item, scaler_error *err)
{
        struct sc_buf buf;
        bool          stream = false;
        sc_buf_init(&buf, c->mem, SC_BODY_MAX);
        item->first = w->count;
        int status  = s->command ? encode_command(c->mem, &buf, s->command, index, err, &stream)
                                 : encode_args(c->mem, &buf, s, index, w, err);
        if (!status)
                status = sc_wiring_after(w, s, index, err);
        item->count = w->count - item->first;
        if (!status && item->count > SC_AFTER_MAX)
                status = sc_error_set(err, SC_E_TOO_BIG, "spec %zu: more than %d dependencies", index, SC_AFTER_MAX);
        if (!status)
                status = check_key(s, w, item, stream, index, err);
        if (!status && !keep_spec(c->mem, s, stream, plan, &buf, item))
                status = too_big(err, index, SC_E_NOMEM);
        sc_buf_fini(&buf);
        return status;
}

int sc_spec_take(struct scaler_client *c, const scaler_spec *spec, size_t index, struct sc_wiring *w,
                 scaler_spec *copy, struct sc_item *item, scaler_error *err)
{
        if (!sc_sized_in(copy, sizeof *copy, spec))
                return invalid(err, index, "without its size");
        struct sc_plan_draft draft;
        int                  status = check_common(copy, index, err);
        if (!status)
                status = sc_plan_read(copy, index, &draft, err);
        return status ? status : encode(c, copy, index, w, draft.asked ? &draft.plan : NULL, item, err);
}

struct scaler_future *sc_spec_future(struct scaler_client *c, const scaler_spec *s, const struct sc_item *item)
{
        struct scaler_future *f = new_future(c, s);
        if (!f)
                return NULL;
        f->command = item->spec.kind == SC_TASK_COMMAND;
        f->stream  = (item->spec.flags & SC_SPEC_STREAM) != 0;
        return f;
}

/* A task that depends on others is a job of one item. */
static bool give_job(struct scaler_client *c, struct scaler_future *f, struct sc_wiring *w, struct sc_item *item)
{
        f->job = sc_job_create(c->mem, w, 1);
        if (!f->job)
                return false;
        item->future         = f;
        f->job->items[0]     = *item;
        f->job->item_count   = 1;
        item->body           = NULL;
        return sc_job_make_room(f->job);
}

int sc_client_make_future(struct scaler_client *c, const scaler_spec *spec, size_t index, struct scaler_future **out,
                          scaler_error *err)
{
        scaler_spec      s;
        struct sc_wiring w;
        struct sc_item   item = { .body = NULL };
        sc_wiring_init(&w, c);
        int                   status = sc_spec_take(c, spec, index, &w, &s, &item, err);
        struct scaler_future *f      = status ? NULL : sc_spec_future(c, &s, &item);
        bool                  good   = f != NULL;
        if (good && item.count > 0) {
                good = give_job(c, f, &w, &item);
        } else if (good) {
                f->spec   = item.spec;
                f->body   = item.body;
                item.body = NULL;
        }
        if (!status && !good) {
                scaler_future_unref(f);
                status = too_big(err, index, SC_E_NOMEM);
        }
        sc_blob_unref(item.body);
        sc_wiring_fini(&w);
        if (!status)
                *out = f;
        return status;
}
