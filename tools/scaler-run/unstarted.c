/*
 * unstarted: a second client, with the right to look, reads the scheduler's table of tasks.  A task that a
 * worker takes between the look and the cancel is stopped; it has only just begun.
 */
#include "unstarted.h"

#define PAGE 256

static int open_looker(const struct run *r, scaler_client **out)
{
        scaler_client_options options;
        scaler_error          err;
        scaler_init(&options, sizeof options);
        options.runtime   = r->cluster.runtime;
        options.scheduler = r->settings->url;
        options.name      = "scaler-run";
        options.security  = &r->security;
        options.admin     = true;
        int status        = scaler_client_create(&options, out, &err);
        if (status == 0)
                status = scaler_client_start(*out, &err);
        return status == 0 ? scaler_client_wait_ready(*out, UNSTARTED_MS) : status;
}

static void cancel_by_id(struct run *r, scaler_id id)
{
        for (uint32_t i = 0; i < WINDOW_TASKS; i++) {
                const struct task *task = &r->window.tasks[i];
                if (task->stage == TASK_PENDING && task->future && scaler_id_equal(scaler_future_id(task->future), id))
                        scaler_future_cancel(task->future, 0);
        }
}

/* All tasks of one client share the upper half of their ids. */
static bool is_ours(const struct run *r, scaler_id id)
{
        for (uint32_t i = 0; i < WINDOW_TASKS; i++)
                if (r->window.tasks[i].future)
                        return scaler_future_id(r->window.tasks[i].future).hi == id.hi;
        return false;
}

static bool is_waiting(const scaler_task_info *task)
{
        return scaler_id_is_nil(task->worker) && strcmp(scaler_task_info_state_name(task->state), "inactive") == 0;
}

static void cancel_page(struct run *r, const scaler_task_info *rows, int count)
{
        for (int i = 0; i < count; i++)
                if (is_waiting(&rows[i]) && is_ours(r, rows[i].id))
                        cancel_by_id(r, rows[i].id);
}

void unstarted_cancel(struct run *r)
{
        scaler_client *looker   = NULL;
        int64_t        deadline = clock_ms() + UNSTARTED_MS;
        uint64_t       cursor   = 0;
        int            count    = open_looker(r, &looker);
        while (count >= 0 && clock_ms() < deadline) {
                scaler_task_info rows[PAGE];
                scaler_init(&rows[0], sizeof rows[0]);
                count = scaler_client_tasks(looker, &cursor, deadline - clock_ms(), rows, PAGE);
                cancel_page(r, rows, count);
                if (cursor == 0)
                        break;
        }
        scaler_client_destroy(looker);
}
