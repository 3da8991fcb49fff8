/*
 * A command's run: a child of the spawner, whose output is collected for its outcome, or streamed.
 * Streamed output is held back at first: when all of it is small and the command short, it travels
 * with the end and costs no message of its own.  Beyond that pieces go to the core one at a time, and
 * the child is read again only when all of them are gone, so a run holds little memory however much
 * it prints.
 */
#include <stdio.h>
#include <string.h>

#include "body.h"
#include "command_env.h"
#include "sc_assert.h"
#include "worker.h"

static void finish(struct sc_command_run *c);

/* ---- output: pieces and what is collected ------------------------------------------------------------------- */

static bool add_piece(struct sc_command_run *c, uint8_t stream, const void *bytes, size_t len)
{
        struct sc_piece *piece = sc_mem_alloc(c->worker->mem, sizeof *piece + len);
        if (!piece)
                return false;
        piece->size   = len;
        piece->stream = stream;
        memcpy(piece->bytes, bytes, len);
        sc_list_init(&piece->link);
        sc_list_add_tail(&c->pieces, &piece->link);
        c->piece_bytes += len;
        return true;
}

static struct sc_piece *take_piece(struct sc_command_run *c)
{
        struct sc_list *node = sc_list_take(&c->pieces);
        if (!node)
                return NULL;
        struct sc_piece *piece = SC_CONTAINER(node, struct sc_piece, link);
        c->piece_bytes -= piece->size;
        return piece;
}

static void drop_piece(struct sc_command_run *c, struct sc_piece *piece)
{
        sc_mem_release(c->worker->mem, piece, sizeof *piece + piece->size);
}

static void read_child(struct sc_command_run *c)
{
        if (c->reading && c->child)
                sc_child_read_more(c->child);
        c->reading = false;
}

/* The next piece to the core, or the child's next output, or the end. */
static void feed(struct sc_command_run *c)
{
        if (c->asking && !c->forsaken)
                return;
        struct sc_piece *piece = c->forsaken ? NULL : take_piece(c);
        if (piece) {
                struct scaler_worker *w = c->worker;
                c->asking               = true;
                sc_work_shell_output(w->shell, c->handle, piece->stream, (struct sc_view){ piece->bytes, piece->size },
                                     sc_loop_now(w->rt->loop));
                drop_piece(c, piece);
        } else if (c->ended) {
                finish(c);
        } else {
                read_child(c);
        }
}

static void start_streaming(struct sc_command_run *c)
{
        sc_list_remove(&c->early);
        c->streaming = true;
        feed(c);
}

/* A run that cannot keep what was printed is over; its end says why. */
static void give_up(struct sc_command_run *c, bool no_memory)
{
        c->no_memory |= no_memory;
        c->over |= !no_memory;
        sc_child_kill(c->child);
        read_child(c);
}

static void hold_back(struct sc_command_run *c, sc_ns now)
{
        if (c->piece_bytes > SC_EARLY_MAX) {
                start_streaming(c);
                return;
        }
        if (sc_list_empty(&c->early)) {
                c->early_since = now;
                sc_list_add_tail(&c->worker->early, &c->early);
        }
        read_child(c);
}

static void on_output(void *ctx, struct sc_child *child, uint8_t stream, const void *bytes, size_t len)
{
        struct sc_command_run *c   = ctx;
        const sc_ns            now = sc_loop_now(c->worker->rt->loop);
        (void)child;
        c->reading = true;
        sc_loop_touch(c->worker->rt->loop, &c->worker->member);
        if (c->over || c->no_memory || c->forsaken) {
                read_child(c);
        } else if (!c->stream) {
                struct sc_buf *buf = &c->collected[stream - 1];
                if (buf->len + len > buf->max)
                        give_up(c, false);
                else if (!sc_buf_add(buf, bytes, len))
                        give_up(c, true);
                else
                        read_child(c);
        } else if (!add_piece(c, stream, bytes, len)) {
                give_up(c, true);
        } else if (c->streaming) {
                feed(c);
        } else {
                hold_back(c, now);
        }
}

void sc_command_read_more(struct sc_command_run *c)
{
        c->asking = false;
        feed(c);
}

void sc_command_flush_early(struct scaler_worker *w, sc_ns now)
{
        while (!sc_list_empty(&w->early)) {
                struct sc_command_run *c = SC_CONTAINER(w->early.next, struct sc_command_run, early);
                if (c->early_since + SC_EARLY_DELAY > now)
                        return;
                start_streaming(c);
        }
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

/* What cannot start here may well start elsewhere, so its words name the worker. */
static void name_worker(struct sc_command_run *c)
{
        char words[sizeof c->text];
        memcpy(words, c->text, sizeof words);
        snprintf(c->text, sizeof c->text, "worker %.64s: %.120s", c->worker->name, words);
}

static void judge(struct sc_command_run *c)
{
        if (!c->over && !c->no_memory)
                return;
        c->outcome.reason = SC_REASON_LIMIT;
        if (c->no_memory)
                snprintf(c->text, sizeof c->text, "no memory in the worker for what it printed");
        else
                snprintf(c->text, sizeof c->text, "printed more than the %d bytes that may be collected",
                         SC_RESULT_MAX);
}

/* What was held back, by stream. */
static void collect_pieces(struct sc_command_run *c)
{
        struct sc_piece *piece;
        while ((piece = take_piece(c)) != NULL) {
                c->no_memory |= !sc_buf_add(&c->collected[piece->stream - 1], piece->bytes, piece->size);
                drop_piece(c, piece);
        }
}

static void release(struct sc_command_run *c)
{
        struct scaler_worker *w = c->worker;
        struct sc_piece      *piece;
        while ((piece = take_piece(c)) != NULL)
                drop_piece(c, piece);
        sc_list_remove(&c->early);
        sc_buf_fini(&c->collected[0]);
        sc_buf_fini(&c->collected[1]);
        sc_map_remove(&w->commands_by_handle, (struct sc_id){ 0, c->handle });
        sc_mem_release(w->mem, c, sizeof *c);
}

static void finish(struct sc_command_run *c)
{
        struct scaler_worker *w = c->worker;
        if (!c->streaming)
                collect_pieces(c);
        judge(c);
        if (c->outcome.reason == SC_REASON_NOT_STARTED)
                name_worker(c);
        c->outcome.text   = (struct sc_view){ c->text, strlen(c->text) };
        c->outcome.result = (struct sc_view){ c->collected[0].data, c->collected[0].len };
        c->outcome.errors = (struct sc_view){ c->collected[1].data, c->collected[1].len };
        sc_work_shell_ran(w->shell, c->handle, &c->outcome, sc_loop_now(w->rt->loop));
        release(c);
        sc_run_gone(w);
}

static void on_ended(void *ctx, struct sc_child *child, const struct sc_outcome *outcome)
{
        struct sc_command_run *c = ctx;
        (void)child;
        c->child   = NULL;
        c->ended   = true;
        c->reading = false;
        c->outcome = *outcome;
        snprintf(c->text, sizeof c->text, "%.*s", (int)outcome->text.len,
                 outcome->text.len ? (const char *)outcome->text.ptr : "");
        sc_loop_touch(c->worker->rt->loop, &c->worker->member);
        if (c->streaming)
                feed(c);
        else
                finish(c);
}

const struct sc_child_upcalls *sc_command_upcalls(void)
{
        static const struct sc_child_upcalls upcalls = { .output = on_output, .ended = on_ended };
        return &upcalls;
}

void sc_command_stop(struct sc_command_run *c, enum sc_stop_how how)
{
        if (!c->child)
                return;
        if (how == SC_STOP_KILL)
                sc_child_kill(c->child);
        else
                sc_child_ask(c->child);
}

void sc_command_forsake(struct sc_command_run *c)
{
        c->forsaken = true;
        if (c->child)
                sc_child_kill(c->child);
        feed(c);
}

/* ---- the beginning ---------------------------------------------------------------------------------------------- */

static struct sc_command_run *new_run(struct scaler_worker *w, const struct sc_assign *a)
{
        if (!sc_map_reserve(&w->commands_by_handle, w->commands_by_handle.len + 1))
                return NULL;
        struct sc_command_run *c = sc_mem_zalloc(w->mem, sizeof *c);
        if (!c)
                return NULL;
        c->worker = w;
        c->handle = a->run;
        c->stream = a->spec.flags & SC_SPEC_STREAM;
        sc_list_init(&c->pieces);
        sc_list_init(&c->early);
        sc_buf_init(&c->collected[0], w->mem, SC_RESULT_MAX);
        sc_buf_init(&c->collected[1], w->mem, SC_RESULT_MAX);
        sc_map_put(&w->commands_by_handle, (struct sc_id){ 0, c->handle }, c);
        return c;
}

/* The next spawner in turn; the first ones are made as commands come, one for each slot, up to the usable CPUs. */
static int choose_spawner(struct scaler_worker *w, struct sc_spawner **out)
{
        const uint32_t most = w->core.slots < w->spawners_max ? w->core.slots : w->spawners_max;
        if (w->spawners < most) {
                const int status =
                        sc_spawner_create(w->mem, w->rt->loop, sc_command_upcalls(), &w->spawner[w->spawners]);
                if (status == 0)
                        w->spawners++;
                else if (w->spawners == 0)
                        return status;
        }
        *out = w->spawner[w->spawned++ % w->spawners];
        return 0;
}

static int start(struct scaler_worker *w, struct sc_command_run *c, const struct sc_command *command)
{
        struct sc_spawner *spawner;
        const int          status = choose_spawner(w, &spawner);
        return status ? status : sc_child_start(spawner, command, c, &c->child);
}

/* Decodes the body into views that live while the child is being started. */
static int decode_and_start(struct scaler_worker *w, struct sc_command_run *c, struct sc_view body,
                            const struct sc_command_env *env)
{
        struct sc_command command;
        int               status = sc_body_unpack_command(body, &command, NULL, NULL);
        if (status)
                return status;
        const size_t    count = (size_t)command.argc + command.envc + env->count;
        struct sc_view *views = sc_mem_array(w->mem, count, sizeof *views);
        if (!views)
                return SC_E_NOMEM;
        status = sc_body_unpack_command(body, &command, views, views + command.argc);
        if (!status) {
                memcpy(views + command.argc + command.envc, env->view, env->count * sizeof *views);
                command.env = views + command.argc;
                command.envc += env->count;
                status = start(w, c, &command);
        }
        sc_mem_release(w->mem, views, count * sizeof *views);
        return status;
}

/* Most runs hold no devices. */
static int start_with_devices(struct scaler_worker *w, struct sc_command_run *c, const struct sc_assign *a)
{
        struct sc_held        held[SC_AMOUNTS_MAX];
        struct sc_command_env env;
        const uint32_t count = a->spec.plan ? sc_work_held(sc_work_shell_core(w->shell), a->run, held) : 0;
        if (!sc_command_env_init(&env, w->mem, held, count))
                return SC_E_NOMEM;
        const int status = decode_and_start(w, c, a->spec.body, &env);
        sc_command_env_fini(&env);
        return status;
}

void sc_command_run(struct scaler_worker *w, const struct sc_assign *a)
{
        if (!w->commands) {
                sc_run_refused(w, a->run, 0, "this worker runs no commands");
                return;
        }
        struct sc_command_run *c = new_run(w, a);
        if (!c) {
                sc_run_refused(w, a->run, 0, "out of memory in the worker");
                return;
        }
        const int status = start_with_devices(w, c, a);
        if (!status) {
                sc_run_born(w);
                return;
        }
        release(c);
        const char *const why = status == SC_E_PROTOCOL ? "its command cannot be decoded"
                                : status == SC_E_IO     ? "the worker has no descriptor or thread left for commands"
                                                        : sc_status_text(status);
        sc_run_refused(w, a->run, 0, why);
}
