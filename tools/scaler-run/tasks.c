/*
 * tasks: submits the inputs while the window has room and moves what futures bring into the window.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

#define EVENTS_AT_ONCE 256
#define READ_BYTES     65536

static scaler_command make_command(struct run *r)
{
        const struct settings *s = r->settings;
        scaler_command         command;
        scaler_init(&command, sizeof command);
        command.argv       = r->expansion.argv;
        command.env        = (const char *const *)s->env;
        command.cwd        = r->cwd;
        command.output_max = 0;
        command.nice       = (int32_t)s->nice;
        command.flags      = SCALER_COMMAND_STREAM | (r->expansion.shell ? (uint32_t)SCALER_COMMAND_SHELL : 0);
        return command;
}

/* The command as --joblog and --verbose tell it. */
static void describe_command(struct run *r, struct task *task)
{
        struct text line = { 0 };
        if (task->command || (!r->settings->verbose && r->joblog.fd < 0))
                return;
        expansion_show(&r->expansion, task->script, &line);
        task->command = line.data;
}

/* false: the client has no room now. */
static bool submit(struct run *r, struct task *task)
{
        expansion_make(&r->expansion, r->settings, task);
        describe_command(r, task);
        scaler_command command = make_command(r);
        scaler_spec    spec;
        scaler_error   err;
        settings_fill_spec(r->settings, &spec);
        spec.command   = &command;
        spec.user_data = window_place(&r->window, task);
        spec.queue     = r->cluster.queue;
        int status     = scaler_client_submit(r->cluster.client, &spec, &task->future, &err);
        if (status == SCALER_E_FULL)
                return false;
        if (status == SCALER_E_TOO_BIG || status == SCALER_E_INVALID) {
                window_end_unsent(&r->window, task, SCALER_REASON_NOT_STARTED, err.text);
        } else if (status < 0) {
                window_end_unsent(&r->window, task, SCALER_REASON_CANCELLED, err.text);
                run_break(r, "a task cannot be submitted: %s", err.text);
        }
        return true;
}

/* What no command can be given is a failed task at once. */
static bool is_unfit(struct run *r, struct task *task, const struct record *record)
{
        char words[SCALER_ERROR_TEXT_MAX];
        if (record->long_size)
                snprintf(words, sizeof words, "the input has %" PRIu64 " bytes: too long for a command",
                         record->long_size);
        else if (record->has_nul)
                snprintf(words, sizeof words, "the input has a NUL byte: no command can be given it");
        else if (record->script && record->size == 0)
                snprintf(words, sizeof words, "the joblog has no command for it");
        else
                return false;
        window_end_unsent(&r->window, task, SCALER_REASON_NOT_STARTED, words);
        return true;
}

static bool has_room(const struct run *r)
{
        if (r->in_flight_max > 0 && r->window.pending >= r->in_flight_max)
                return false;
        return window_has_room(&r->window) && pace_wait_ms(&r->pace, clock_us()) == 0;
}

/* The next input as a task; false: none can be had now. */
static bool take_input(struct run *r)
{
        struct record     record;
        enum input_answer answer = records_next(&r->records, &record);
        r->inputs_wait           = answer == INPUT_WAITS;
        if (answer == INPUT_ENDS)
                r->inputs_ended = true;
        if (answer == INPUT_BREAKS)
                run_break(r, "%s: %s", r->settings->input_file ? r->settings->input_file : "stdin", strerror(errno));
        if (answer != INPUT_IS_HERE)
                return false;
        struct task *task = window_add(&r->window, &record);
        pace_started(&r->pace, clock_us());
        if (!is_unfit(r, task, &record) && !submit(r, task))
                r->held = task;
        return true;
}

void run_submit(struct run *r)
{
        if (r->held && submit(r, r->held))
                r->held = NULL;
        r->inputs_wait = false;
        while (r->mode == RUN_GOES && !r->held && !r->inputs_ended && has_room(r))
                if (!take_input(r))
                        break;
}

static void count_lines(struct run *r, struct task *task, int index, const char *bytes, size_t size)
{
        size_t behind = 0;
        while (behind < size && bytes[size - 1 - behind] != '\n')
                behind++;
        if (behind == size) {
                task->piece[index] += size;
                return;
        }
        task->lines[index] += task->piece[index] + size - behind;
        task->piece[index] = behind;
        window_enter_turn(&r->window, task);
}

static void keep(struct run *r, struct task *task, int stream, const char *bytes, size_t size)
{
        int index = stream == 2;
        if (r->mode == RUN_KILLS)
                return;
        if (spool_add(&r->window.pool, &task->output[index], bytes, size) < 0)
                run_break(r, "outputs cannot be kept in TMPDIR: %s", strerror(errno));
        if (index == 0)
                task->received += size;
        if (r->settings->line_buffer)
                count_lines(r, task, index, bytes, size);
}

/* Takes what there is; true: there will be no more. */
static bool read_output(struct run *r, struct task *task)
{
        char bytes[READ_BYTES];
        for (;;) {
                int stream = 1;
                int got    = scaler_future_read(task->future, bytes, sizeof bytes, &stream, 0);
                if (got > 0)
                        keep(r, task, stream, bytes, (size_t)got);
                else if (got == SCALER_E_GAP)
                        task_forget_output(&r->window, task);
                else
                        return got != SCALER_E_TIMEOUT;
        }
}

/* The queue may name a future again whose end was seen already; its place may have a new task by then. */
static void take_event(struct run *r, scaler_future *future)
{
        struct task *task = &r->window.tasks[scaler_future_user_data(future) % WINDOW_TASKS];
        if (task->stage != TASK_PENDING || task->future != future)
                return;
        if (!read_output(r, task) || scaler_future_state(future) == SCALER_TASK_PENDING)
                return;
        window_end(&r->window, task, r->mode != RUN_GOES);
        if (task->failure.reason == SCALER_REASON_CLIENT && r->mode == RUN_GOES)
                run_break(r, "lost the scheduler%s%s: %s", r->settings->url ? " at " : "",
                          r->settings->url ? r->settings->url : "", task->failure.text);
}

void run_collect(struct run *r)
{
        scaler_future *future = NULL;
        for (int i = 0; i < EVENTS_AT_ONCE && scaler_queue_next(r->cluster.queue, 0, &future) == 0; i++) {
                take_event(r, future);
                scaler_future_unref(future);
        }
        run_look_at_halt(r);
}

void run_cancel_all(struct run *r, uint32_t flags)
{
        for (uint32_t i = 0; i < WINDOW_TASKS; i++)
                if (r->window.tasks[i].stage == TASK_PENDING && r->window.tasks[i].future)
                        scaler_future_cancel(r->window.tasks[i].future, flags);
}
