/*
 * How a run ends: what its outcome becomes when it was being stopped, the copy that is kept until
 * the scheduler has it, and the DONE.  A run that does not come back is answered for and stays a
 * ghost in its slot.
 */
#include "work_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_status.h"

static struct sc_view words(const char *text)
{
        return (struct sc_view){ .ptr = text, .len = strlen(text) };
}

/* "ran longer than its limit of 1500 ms" into the row. */
static void say_limit(struct sc_run *run)
{
        static const char before[] = "ran longer than its limit of ";
        char              digits[20];
        size_t            count = 0;
        uint64_t          left  = run->timeout_ms;
        do {
                digits[count++] = (char)('0' + left % 10);
                left /= 10;
        } while (left > 0);
        memcpy(run->text, before, sizeof before - 1);
        char *end = run->text + sizeof before - 1;
        while (count > 0)
                *end++ = digits[--count];
        memcpy(end, " ms", 4);
}

/* The words and the reason of a run that was stopped by us or for somebody. */
static void apply_cause(struct sc_run *run, struct sc_outcome *outcome)
{
        switch ((enum sc_run_cause)run->cause) {
        case SC_CAUSE_NONE:
                return;
        case SC_CAUSE_CANCEL:
                if (outcome->reason == SC_REASON_SUCCESS)
                        return;
                outcome->reason = SC_REASON_CANCELLED;
                memcpy(run->text, "cancelled", sizeof "cancelled");
                break;
        case SC_CAUSE_TIMEOUT:
                outcome->reason = SC_REASON_RUN_TIMEOUT;
                say_limit(run);
                break;
        case SC_CAUSE_MEMORY:
                outcome->reason = SC_REASON_LIMIT;
                memcpy(run->text, "no memory for output", sizeof "no memory for output");
                break;
        }
        outcome->text = words(run->text);
}

static void without_bytes(struct sc_outcome *outcome, const char *text)
{
        outcome->result = outcome->errors = (struct sc_view){ .ptr = NULL };
        if (outcome->reason == SC_REASON_SUCCESS || outcome->reason == SC_REASON_TASK) {
                outcome->reason = SC_REASON_LIMIT;
                outcome->text   = words(text);
        }
}

/* Not in the middle of a character of UTF-8. */
static void shorten(struct sc_view *text)
{
        if (text->len <= SC_TEXT_MAX)
                return;
        const unsigned char *at = text->ptr;
        text->len               = SC_TEXT_MAX;
        while (text->len > 0 && (at[text->len] & 0xc0) == 0x80)
                text->len--;
}

static unsigned char *copy(struct sc_view *view, unsigned char *to)
{
        if (view->len > 0)
                memcpy(to, view->ptr, view->len);
        view->ptr = view->len > 0 ? to : NULL;
        return to + view->len;
}

static unsigned char *room_for(struct sc_work *w, struct sc_run *run, size_t bytes)
{
        if (bytes <= sizeof run->small)
                return run->small;
        run->kept = sc_work_get(w, sizeof *run->kept + bytes);
        return run->kept ? (unsigned char *)(run->kept + 1) : NULL;
}

void sc_run_keep_outcome(struct sc_work *w, struct sc_run *run, const struct sc_outcome *outcome)
{
        SC_ASSERT(run->kept == NULL);
        struct sc_outcome *kept = &run->outcome;
        *kept                   = *outcome;
        apply_cause(run, kept);
        shorten(&kept->text);
        if (kept->result.len > SC_RESULT_MAX || kept->errors.len > SC_RESULT_MAX)
                without_bytes(kept, "the result is larger than 1 MiB");
        if (run->output)
                kept->streamed = run->output->end;
        const bool  ours = kept->text.ptr == run->text;
        const size_t text = ours ? 0 : kept->text.len;
        unsigned char *to = room_for(w, run, kept->result.len + kept->errors.len + text);
        if (!to) {
                without_bytes(kept, "the worker has no memory for the result");
                if (kept->text.len >= sizeof run->text)
                        kept->text.len = 0;
                memmove(run->text, kept->text.len > 0 ? kept->text.ptr : "", kept->text.len);
                kept->text.ptr = run->text;
                return;
        }
        to = copy(&kept->result, to);
        to = copy(&kept->errors, to);
        if (!ours)
                (void)copy(&kept->text, to);
}

static void count(struct sc_work *w, uint8_t reason)
{
        if (reason == SC_REASON_SUCCESS)
                w->done++;
        else if (reason == SC_REASON_CANCELLED)
                w->cancelled++;
        else
                w->failed++;
}

void sc_run_answer(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        SC_ASSERT(run->state == SC_RUN_DONE || run->state == SC_RUN_GHOST);
        if (run->held)
                return;
        SC_ASSERT(w->link != 0);
        struct sc_msg *msg = sc_out_send(out, w->link, SC_MSG_DONE);
        msg->done.task     = run->task;
        msg->done.run      = run->run;
        msg->done.outcome  = run->outcome;
}

static void answer_new(struct sc_work *w, struct sc_run *run, enum sc_run_event event, struct sc_out *out)
{
        count(w, run->outcome.reason);
        sc_run_move(w, run, event);
        sc_run_answer(w, run, out);
}

void sc_run_fail(struct sc_work *w, struct sc_run *run, enum sc_reason reason, const char *text, struct sc_out *out)
{
        struct sc_outcome outcome = { .reason = (uint8_t)reason };
        memcpy(run->text, text, strlen(text) + 1);
        outcome.text = words(run->text);
        sc_run_keep_outcome(w, run, &outcome);
        answer_new(w, run, SC_RUN_ANSWER, out);
}

/* A run that nobody stopped waits for its output; one that hit its limit, or succeeded although it
 * was asked to stop, for a while; any other not at all. */
static bool owes(struct sc_work *w, struct sc_run *run)
{
        if (!run->output || run->output->confirmed == run->output->end || run->cause == SC_CAUSE_MEMORY)
                return false;
        if (run->cause == SC_CAUSE_NONE)
                return true;
        const bool success = run->outcome.reason == SC_REASON_SUCCESS && run->stop != SC_STOP_KILL;
        if (run->cause == SC_CAUSE_CANCEL && !success)
                return false;
        run->escalate_at = sc_ns_add(w->now, w->kill_grace);
        return true;
}

/* What has left is all there will be. */
static void cut_output(struct sc_run *run)
{
        if (!run->output || run->output->confirmed == run->output->end)
                return;
        run->outcome.streamed = run->output->sent_most;
        if (run->outcome.reason != SC_REASON_SUCCESS)
                return;
        run->outcome.reason = SC_REASON_CANCELLED;
        memcpy(run->text, "cancelled", sizeof "cancelled");
        run->outcome.text = words(run->text);
}

void sc_run_ended(struct sc_work *w, struct sc_run *run, const struct sc_outcome *outcome, struct sc_out *out)
{
        SC_ASSERT(run->state == SC_RUN_RUNNING || run->state == SC_RUN_OFFERED);
        sc_run_keep_outcome(w, run, outcome);
        run->limit_at = run->escalate_at = SC_NEVER;
        if (owes(w, run)) {
                sc_run_move(w, run, SC_RUN_RETURN_OWING);
                return;
        }
        cut_output(run);
        answer_new(w, run, SC_RUN_RETURN, out);
}

/* The end of patience: with a run that does not return, or with output that nobody takes. */
void sc_run_settle(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        if (run->state == SC_RUN_OWING) {
                cut_output(run);
                answer_new(w, run, SC_RUN_ANSWER, out);
                return;
        }
        const sc_ns             wall    = w->now - run->started;
        const struct sc_outcome outcome = { .reason = SC_REASON_TASK, .wall_us = (uint64_t)(wall / SC_US) };
        sc_run_keep_outcome(w, run, &outcome);
        cut_output(run);
        answer_new(w, run, SC_RUN_ANSWER, out);
}
