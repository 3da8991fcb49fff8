/*
 * window: places for tasks and the two orders they are printed in.
 */
#include "window.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void window_init(struct window *w, bool ordered)
{
        memset(w, 0, sizeof *w);
        w->ordered      = ordered;
        w->next_printed = 1;
        w->first_ended  = WINDOW_NOBODY;
        w->last_ended   = WINDOW_NOBODY;
        w->free_count   = WINDOW_TASKS;
        for (uint32_t i = 0; i < WINDOW_TASKS; i++) {
                w->free_places[i] = WINDOW_TASKS - 1 - i;
                w->by_order[i]   = WINDOW_NOBODY;
        }
        spool_pool_init(&w->pool, SPOOL_MEMORY_MAX);
}

void window_fini(struct window *w)
{
        for (uint32_t i = 0; i < WINDOW_TASKS; i++)
                if (w->tasks[i].stage != TASK_FREE)
                        window_remove(w, &w->tasks[i]);
        spool_pool_fini(&w->pool);
}

bool window_has_room(const struct window *w, uint32_t count)
{
        return w->free_count >= count && (!w->ordered || w->added + count < w->next_printed + WINDOW_TASKS);
}

bool window_is_empty(const struct window *w)
{
        return w->free_count == WINDOW_TASKS;
}

uint32_t window_place(const struct window *w, const struct task *task)
{
        return (uint32_t)(task - w->tasks);
}

/* What no command can be given has NULs of its own, which are shown. */
static char *copy_for_people(const struct record *record)
{
        char *copy = memory_copy(record->data, record->size);
        for (size_t i = 0; i < record->size && !record->has_nul; i++)
                if (copy[i] == '\0')
                        copy[i] = ' ';
        return copy;
}

struct task *window_add(struct window *w, const struct record *record)
{
        uint32_t     place = w->free_places[--w->free_count];
        struct task *task  = &w->tasks[place];
        *task              = (struct task){
                             .stage       = TASK_PENDING,
                             .number       = record->number,
                             .input_number = record->number,
                             .waits_for    = WINDOW_NOBODY,
                             .followed_by  = WINDOW_NOBODY,
                             .next_unsent  = WINDOW_NOBODY,
                             .order       = ++w->added,
                             .values      = memory_copy(record->data, record->size),
                             .values_size = record->size,
                             .value_count = record->count,
                             .script      = record->script,
                             .next_ended  = WINDOW_NOBODY,
        };
        task->input = record->count > 1 ? copy_for_people(record) : task->values;
        scaler_init(&task->failure, sizeof task->failure);
        scaler_init(&task->exit, sizeof task->exit);
        if (w->ordered)
                w->by_order[task->order % WINDOW_TASKS] = place;
        w->pending++;
        return task;
}

void window_block(struct window *w, struct task *task, uint32_t place)
{
        task->waits_for = place;
        w->blocked++;
}

void window_unblock(struct window *w, struct task *task)
{
        w->blocked -= task->waits_for != WINDOW_NOBODY;
        task->waits_for = WINDOW_NOBODY;
}

void window_enter_turn(struct window *w, struct task *task)
{
        uint32_t place = window_place(w, task);
        if (task->in_turn)
                return;
        task->in_turn = true;
        if (w->last_ended == WINDOW_NOBODY)
                w->first_ended = place;
        else
                w->tasks[w->last_ended].next_ended = place;
        w->last_ended = place;
}

void window_leave_turn(struct window *w, struct task *task)
{
        w->first_ended   = task->next_ended;
        task->next_ended = WINDOW_NOBODY;
        task->in_turn    = false;
        if (w->first_ended == WINDOW_NOBODY)
                w->last_ended = WINDOW_NOBODY;
}

static void enter_ended(struct window *w, struct task *task)
{
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        task->ended_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
        task->stage    = TASK_ENDED;
        window_unblock(w, task);
        w->pending--;
        if (task->state == SCALER_TASK_DONE)
                w->done++;
        else if (task->state == SCALER_TASK_CANCELLED)
                w->cancelled++;
        else if (task_is_skipped(task))
                w->skipped++;
        else
                w->failed++;
        if (!w->ordered)
                window_enter_turn(w, task);
}

void window_end(struct window *w, struct task *task, bool cancel_asked)
{
        task->state = scaler_future_state(task->future);
        scaler_future_failure(task->future, &task->failure);
        scaler_future_exit(task->future, &task->exit);
        scaler_future_unref(task->future);
        task->future = NULL;
        if (task->state == SCALER_TASK_CANCELLED && !cancel_asked) {
                task->state = SCALER_TASK_FAILED;
                if (!scaler_id_is_nil(task->failure.root))
                        task->failure.reason = SCALER_REASON_DEPENDENCY;
        }
        enter_ended(w, task);
}

void window_end_unsent(struct window *w, struct task *task, int32_t reason, const char *text)
{
        task->state          = reason == SCALER_REASON_CANCELLED ? SCALER_TASK_CANCELLED : SCALER_TASK_FAILED;
        task->failure.reason = reason;
        snprintf(task->failure.text, sizeof task->failure.text, "%s", text);
        enter_ended(w, task);
}

struct task *window_next(struct window *w)
{
        uint32_t place = w->ordered ? w->by_order[w->next_printed % WINDOW_TASKS] : w->first_ended;
        return place == WINDOW_NOBODY ? NULL : &w->tasks[place];
}

static void leave_order(struct window *w, struct task *task)
{
        if (w->ordered) {
                w->by_order[task->order % WINDOW_TASKS] = WINDOW_NOBODY;
                w->next_printed                          = task->order + 1;
        } else if (task->in_turn) {
                window_leave_turn(w, task);
        }
}

void task_forget_output(struct window *w, struct task *task)
{
        for (int i = 0; i < 2; i++) {
                spool_clear(&w->pool, &task->output[i]);
                task->printed[i] = (struct spool_cursor){ 0 };
                task->lines[i]   = 0;
                task->piece[i]   = 0;
        }
        task->received = 0;
}

void window_remove(struct window *w, struct task *task)
{
        leave_order(w, task);
        task_forget_output(w, task);
        scaler_future_unref(task->future);
        if (task->input != task->values)
                free(task->input);
        free(task->values);
        free(task->command);
        uint32_t place                  = window_place(w, task);
        *task                           = (struct task){ .stage = TASK_FREE };
        w->free_places[w->free_count++] = place;
}

bool task_is_skipped(const struct task *task)
{
        return task->state == SCALER_TASK_FAILED && task->failure.reason == SCALER_REASON_DEPENDENCY;
}

static void describe_reason(const struct task *task, struct text *out)
{
        const scaler_failure *failure = &task->failure;
        if (failure->reason == SCALER_REASON_RUN_TIMEOUT)
                text_add_string(out, "timed out");
        else if (failure->reason == SCALER_REASON_TASK && task->exit.how == SCALER_EXIT_EXITED)
                text_print(out, "exit %d", (int)task->exit.code);
        else if (failure->reason == SCALER_REASON_TASK && task->exit.how == SCALER_EXIT_SIGNALLED)
                text_print(out, "killed by signal %d (%s)", (int)task->exit.code, strsignal((int)task->exit.code));
        else if (failure->text[0])
                text_add_shown(out, failure->text, strlen(failure->text), sizeof failure->text);
        else if (failure->reason == SCALER_REASON_NOT_STARTED)
                text_print(out, "could not be started: %s", strerror((int)failure->code));
        else
                text_add_string(out, scaler_reason_name(failure->reason));
}

void task_describe(const struct task *task, struct text *out)
{
        describe_reason(task, out);
        if (task->failure.attempts > 1)
                text_print(out, " (%u runs)", task->failure.attempts);
}
