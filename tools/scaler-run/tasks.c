/*
 * tasks: submits the inputs while the window has room and moves what futures bring into the window.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "follow.h"

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

static void expand(struct run *r, const struct task *task)
{
        if (r->graph)
                expansion_make_node(&r->expansion, r->graph, &r->graph->nodes[task->number - 1]);
        else
                expansion_make(&r->expansion, r->settings, task);
}

static void describe_command(struct run *r, struct task *task)
{
        struct text line = { 0 };
        if (task->command || (!r->settings->verbose && r->joblog.fd < 0))
                return;
        expansion_show(&r->expansion, task->script, &line);
        task->command = line.data;
}

void run_describe(struct run *r, struct task *task)
{
        expand(r, task);
        describe_command(r, task);
}

/* ---- those that wait to be submitted ---- */

void run_enqueue(struct run *r, struct task *task)
{
        const uint32_t place = window_place(&r->window, task);
        task->unsent         = true;
        task->next_unsent    = WINDOW_NOBODY;
        if (r->unsent_first == WINDOW_NOBODY)
                r->unsent_first = place;
        else
                r->window.tasks[r->unsent_last].next_unsent = place;
        r->unsent_last = place;
}

static void leave_queue(struct run *r, struct task *task)
{
        const uint32_t place  = window_place(&r->window, task);
        uint32_t      *link   = &r->unsent_first;
        uint32_t       before = WINDOW_NOBODY;
        if (!task->unsent)
                return;
        while (*link != place) {
                before = *link;
                link   = &r->window.tasks[before].next_unsent;
        }
        *link = task->next_unsent;
        if (r->unsent_last == place)
                r->unsent_last = before;
        task->unsent = false;
}

void run_end_unsent(struct run *r, struct task *task, int32_t reason, const char *text)
{
        leave_queue(r, task);
        window_end_unsent(&r->window, task, reason, text);
}

void run_drop_unsent(struct run *r)
{
        for (uint32_t i = 0; i < WINDOW_TASKS; i++) {
                struct task *task = &r->window.tasks[i];
                if (task->stage == TASK_PENDING && !task->future)
                        run_end_unsent(r, task, SCALER_REASON_CANCELLED, "not started");
        }
}

/* false: the client has no room now. */
static bool submit(struct run *r, struct task *task)
{
        scaler_spec  spec;
        scaler_error err;
        settings_fill_spec(r->settings, &spec);
        if (!follow_fill(r, task, &spec))
                return true;
        run_describe(r, task);
        scaler_command command = make_command(r);
        spec.command           = &command;
        spec.user_data         = window_place(&r->window, task);
        spec.queue             = r->cluster.queue;
        if (r->graph)
                nodes_fill(r, task, &command, &spec);
        int status = scaler_client_submit(r->cluster.client, &spec, &task->future, &err);
        r->client_full = status == SCALER_E_FULL;
        if (r->client_full)
                return false;
        if (status >= 0) {
                leave_queue(r, task);
                return true;
        }
        const bool its_fault = status == SCALER_E_TOO_BIG || status == SCALER_E_INVALID;
        run_end_unsent(r, task, its_fault ? SCALER_REASON_NOT_STARTED : SCALER_REASON_CANCELLED, err.text);
        if (its_fault)
                follow_ended(r, task);
        else
                run_break(r, "a task cannot be submitted: %s", err.text);
        return true;
}

static void submit_unsent(struct run *r)
{
        while (r->mode == RUN_GOES && r->unsent_first != WINDOW_NOBODY) {
                if (pace_wait_ms(&r->pace, clock_us()) > 0 || !submit(r, &r->window.tasks[r->unsent_first]))
                        return;
                pace_started(&r->pace, clock_us());
        }
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
        run_end_unsent(r, task, SCALER_REASON_NOT_STARTED, words);
        return true;
}

bool run_has_room(const struct run *r)
{
        const struct window *w = &r->window;
        if (r->in_flight_max > 0 && w->pending - w->blocked >= r->in_flight_max)
                return false;
        return pace_wait_ms(&r->pace, clock_us()) == 0;
}

void run_take(struct run *r, struct task *task, const struct record *record)
{
        if (record && is_unfit(r, task, record))
                return;
        run_enqueue(r, task);
        submit_unsent(r);
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
        follow_add_steps(r, &record);
        return true;
}

void run_submit(struct run *r)
{
        const uint32_t steps = (uint32_t)settings_steps(r->settings);
        submit_unsent(r);
        r->inputs_wait = false;
        if (r->graph)
                follow_add_nodes(r);
        while (!r->graph && r->mode == RUN_GOES && r->unsent_first == WINDOW_NOBODY && !r->inputs_ended &&
               window_has_room(&r->window, steps) && run_has_room(r))
                if (!take_input(r))
                        break;
}

uint64_t run_total(const struct run *r)
{
        return r->graph ? r->graph->count : records_total(&r->records);
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
        follow_ended(r, task);
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
