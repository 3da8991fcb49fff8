/*
 * run: turns the loop until everything is printed or killed, and knows the exit code.
 */
#include "run.h"

#include <errno.h>
#include <poll.h>

#define DRAIN_LOOK_MS  20
#define LINK_LOOK_MS   100
#define LINKED_LOOK_MS 1000
#define KILL_WAIT_MS   5000

enum { POLL_QUEUE, POLL_SIGNALS, POLL_INPUT, POLL_STDOUT, POLL_STDERR, POLL_COUNT };

static bool wants_input(const struct run *r)
{
        if (r->mode != RUN_GOES || r->inputs_ended)
                return false;
        bool ahead = r->progress.enabled || r->settings->halt.percent;
        return r->inputs_wait || (ahead && inputs_want_ahead(&r->records.inputs));
}

static int64_t sooner(int64_t a, int64_t b)
{
        if (a < 0 || b < 0)
                return a < 0 ? b : a;
        return a < b ? a : b;
}

/* -1: the pace is not what the next task waits for. */
static int64_t pace_wait(const struct run *r)
{
        const struct window *w    = &r->window;
        const bool           full = r->in_flight_max > 0 && w->pending - w->blocked >= r->in_flight_max;
        if (!pace_is_on(&r->pace))
                return -1;
        const int64_t wait = pace_wait_ms(&r->pace, clock_us());
        if (r->unsent_first != WINDOW_NOBODY)
                return r->client_full ? -1 : wait;
        return full || r->inputs_wait || !window_has_room(w, (uint32_t)settings_steps(r->settings)) ? -1 : wait;
}

static int64_t next_look_ms(const struct run *r)
{
        int64_t wait = r->printer.more ? 0 : progress_wait_ms(&r->progress, clock_ms());
        if (r->settings->url)
                wait = sooner(wait, r->linked ? LINKED_LOOK_MS : LINK_LOOK_MS);
        if (r->mode == RUN_GOES && (!r->inputs_ended || r->unsent_first != WINDOW_NOBODY))
                wait = sooner(wait, pace_wait(r));
        if (r->mode == RUN_FINISHES && !r->drained)
                wait = sooner(wait, DRAIN_LOOK_MS);
        return wait;
}

/* A stdout that nobody reads any more shows as an error even when there is nothing to write. */
static void wait_for_something(struct run *r)
{
        const struct sink *sinks = r->printer.sinks;
        struct pollfd      fds[POLL_COUNT];
        fds[POLL_QUEUE]   = (struct pollfd){ .fd = scaler_queue_fd(r->cluster.queue), .events = POLLIN };
        fds[POLL_SIGNALS] = (struct pollfd){ .fd = r->signals, .events = POLLIN };
        fds[POLL_INPUT]   = (struct pollfd){ .fd = wants_input(r) ? r->records.inputs.fd : -1, .events = POLLIN };
        fds[POLL_STDOUT]  = (struct pollfd){ .fd = sinks[0].never_waits ? -1 : sinks[0].fd };
        fds[POLL_STDERR]  = (struct pollfd){ .fd = sinks[1].stuck ? sinks[1].fd : -1, .events = POLLOUT };
        if (sinks[0].stuck)
                fds[POLL_STDOUT].events = POLLOUT;
        if (poll(fds, POLL_COUNT, (int)next_look_ms(r)) <= 0)
                return;
        if (fds[POLL_SIGNALS].revents)
                run_take_signal(r);
        if (fds[POLL_STDOUT].revents & POLLERR)
                r->printer.sinks[0].broken = EPIPE;
        if (fds[POLL_INPUT].revents && !r->inputs_wait)
                inputs_read_ahead(&r->records.inputs);
}

static bool is_over(const struct run *r, bool flushed)
{
        if (r->mode == RUN_GOES && !r->inputs_ended)
                return false;
        return flushed && !r->printer.more && window_is_empty(&r->window);
}

static void show_progress(struct run *r, bool flushed)
{
        const struct window *w = &r->window;
        if (!r->progress.enabled)
                return;
        const uint64_t left_out = r->graph ? r->graph->left_out : r->records.left_out;
        progress_set(&r->progress, left_out + w->done + w->failed + w->skipped, w->failed, run_total(r));
        if (flushed)
                progress_draw(&r->progress, clock_ms());
}

/* The killed tasks' futures end soon; the cluster is taken down in any case. */
static void wait_killed(struct run *r)
{
        int64_t deadline = clock_ms() + KILL_WAIT_MS;
        run_drop_unsent(r);
        while (r->window.pending > 0) {
                struct pollfd ready = { .fd = scaler_queue_fd(r->cluster.queue), .events = POLLIN };
                int64_t       left  = deadline - clock_ms();
                if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
                        return;
                run_collect(r);
        }
}

void run_loop(struct run *r)
{
        bool over = false;
        while (!over && r->mode != RUN_KILLS) {
                run_collect(r);
                run_submit(r);
                if (r->mode == RUN_KILLS)
                        break;
                bool flushed = printer_pump(&r->printer);
                run_look(r);
                over = is_over(r, flushed);
                show_progress(r, flushed);
                if (!over && r->mode != RUN_KILLS)
                        wait_for_something(r);
        }
        progress_finish(&r->progress);
        if (r->mode == RUN_KILLS)
                wait_killed(r);
}

int run_exit_code(const struct run *r)
{
        uint64_t failed = r->window.failed;
        if (r->broken)
                return RUN_EXIT_BROKEN;
        if (r->signal_number)
                return 128 + r->signal_number;
        if (failed == 0) /* what had failed by the joblog, and is not run again, has skipped it */
                failed = r->window.skipped;
        return failed < RUN_EXIT_FAILED_MAX ? (int)failed : RUN_EXIT_FAILED_MAX;
}
