/*
 * stop: the first signal lets running tasks finish, the second kills them; a closed stdout and a broken
 * cluster kill at once.  --halt does what a first signal does, or stops running tasks and prints the rest.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "signals.h"
#include "unstarted.h"

static void say(struct run *r, const char *text)
{
        progress_hide(&r->progress);
        program_refuse(r->program, "%s", text);
}

static void kill_all(struct run *r)
{
        if (r->mode == RUN_KILLS)
                return;
        r->mode = RUN_KILLS;
        run_cancel_all(r, SCALER_CANCEL_FORCE);
}

void run_break(struct run *r, const char *format, ...)
{
        if (!r->broken && r->mode != RUN_KILLS) {
                struct text line = { 0 };
                va_list     args;
                va_start(args, format);
                text_print_va(&line, format, args);
                va_end(args);
                say(r, line.data);
                text_free(&line);
                r->broken = true;
        }
        kill_all(r);
}

void run_take_signal(struct run *r)
{
        int number = signals_take(r->signals);
        if (number == 0)
                return;
        if (r->signal_number == 0 && r->mode != RUN_KILLS) {
                r->mode          = RUN_FINISHES;
                r->signal_number = number;
                say(r, "interrupted: starting nothing more, finishing what runs (again to kill it)");
                return;
        }
        if (r->mode == RUN_FINISHES)
                say(r, "interrupted again: killing what runs");
        kill_all(r);
}

void run_look_at_halt(struct run *r)
{
        const struct window *w    = &r->window;
        const struct halt   *halt = &r->settings->halt;
        if (r->mode != RUN_GOES || !halt_is_reached(halt, w->done, w->failed, run_total(r)))
                return;
        r->mode = RUN_FINISHES;
        if (!r->settings->quiet)
                say(r, halt->when == HALT_NOW ? "halt: starting nothing more, stopping what runs"
                                              : "halt: starting nothing more, finishing what runs");
        if (halt->when == HALT_SOON)
                return;
        r->drained = true;
        run_drop_unsent(r);
        run_cancel_all(r, 0);
}

static void break_unlinked(struct run *r)
{
        char why[LOG_KEPT_MAX + 4];
        log_kept_read(&r->cluster.log, why);
        run_break(r, "no scheduler at %s%s", r->settings->url, why);
}

static void look_at_link(struct run *r)
{
        int64_t now    = clock_ms();
        int     status = cluster_status(&r->cluster, &r->linked);
        if (status < 0)
                run_break(r, "gave up on %s: %s%s", r->settings->url, scaler_strerror(status),
                          access_hint(&r->settings->access, r->settings->url, status));
        if (r->linked)
                r->unlinked_since_ms = 0;
        else if (r->unlinked_since_ms == 0)
                r->unlinked_since_ms = now;
        else if (now - r->unlinked_since_ms > r->settings->scheduler_timeout_ms)
                break_unlinked(r);
}

/* What has been given back to the scheduler never ran: it is cancelled. */
static void look_at_drain(struct run *r)
{
        if (r->drained || !cluster_is_drained(&r->cluster))
                return;
        r->drained = true;
        run_drop_unsent(r); /* they have nobody to end them */
        if (r->cluster.worker)
                run_cancel_all(r, 0);
        else
                unstarted_cancel(r);
}

static void break_by_file(struct run *r)
{
        const struct printer *p = &r->printer;
        if (p->failed_file)
                run_break(r, "%s: '%s': %s", p->failed_what, p->failed_file, strerror(p->failed));
        else
                run_break(r, "%s: %s", p->failed_what, strerror(p->failed));
}

static void look_at_outputs(struct run *r)
{
        int broken = r->printer.sinks[0].broken;
        if (broken == EPIPE) {
                r->pipe_closed = true;
                kill_all(r);
        } else if (broken) {
                run_break(r, "stdout: %s", strerror(broken));
        }
        if (r->printer.failed)
                break_by_file(r);
}

void run_look(struct run *r)
{
        if (r->settings->url && r->mode != RUN_KILLS)
                look_at_link(r);
        if (r->mode == RUN_FINISHES)
                look_at_drain(r);
        look_at_outputs(r);
}
