/*
 * Output of tasks, put together from records that may come twice, with gaps, or from another run
 * than before.
 *
 * A record of a run not seen before has two possible meanings.  At offset 0 the output starts again.
 * At any other offset either the beginning was lost on the way, or the scheduler gave a surviving run
 * a new number and its output goes on.  Then everything from 0 is asked for: a worker can only send
 * what was never confirmed, so the answer, which shows by an offset lower than expected, starts at 0
 * in the first case and where we stopped, or before, in the second.
 */
#include "cli_own.h"

#include "sc_assert.h"

static void send_ack(struct sc_cli *c, struct sc_cli_row *row, uint64_t run, uint64_t received, bool again,
                     struct sc_out *out)
{
        const uint64_t consumed = received > 0 ? row->stream.consumed : 0;
        struct sc_msg *msg      = sc_out_send(out, c->link, SC_MSG_OUTPUT_ACK);
        msg->output_ack         = (struct sc_output_ack){
                .task     = { .hi = c->id, .lo = row->sequence },
                .run      = run,
                .received = received,
                .limit    = consumed + c->output_window,
                .again    = again,
        };
}

static void say_received(struct sc_cli *c, struct sc_cli_row *row, bool again, struct sc_out *out)
{
        struct sc_cli_stream *stream = &row->stream;
        stream->told_limit           = stream->consumed + c->output_window;
        send_ack(c, row, stream->run, stream->received, again, out);
}

static void deliver(struct sc_cli_stream *stream, const struct sc_output *output, bool restart, struct sc_out *out)
{
        const uint64_t    skip   = stream->received - output->offset;
        struct sc_effect *effect = sc_out_add(out, SC_FX_DELIVER);
        effect->status           = restart;
        effect->msg.kind         = SC_MSG_OUTPUT;
        effect->msg.output       = *output;
        effect->msg.output.offset += skip;
        effect->msg.output.bytes.ptr = (const unsigned char *)output->bytes.ptr + skip;
        effect->msg.output.bytes.len -= (size_t)skip;
        stream->received    = output->offset + output->bytes.len;
        stream->asked_again = false;
}

/* Offset and length of the run we follow: duplicate, gap, or news. */
static void take(struct sc_cli *c, struct sc_cli_row *row, const struct sc_output *output, struct sc_out *out)
{
        struct sc_cli_stream *stream = &row->stream;
        if (output->offset > stream->received) {
                if (!stream->asked_again)
                        say_received(c, row, true, out);
                stream->asked_again = true;
                return;
        }
        if (output->offset + output->bytes.len > stream->received)
                deliver(stream, output, false, out);
        say_received(c, row, false, out);
}

static void follow(struct sc_cli *c, struct sc_cli_row *row, uint64_t run)
{
        struct sc_cli_stream *stream = &row->stream;
        stream->run                  = run;
        stream->epoch                = c->epoch;
        stream->strange_run          = 0;
        stream->asked_again          = false;
        if (sc_list_empty(&row->output))
                sc_list_add_tail(&c->streams, &row->output);
}

static void restart(struct sc_cli *c, struct sc_cli_row *row, const struct sc_output *output, struct sc_out *out)
{
        struct sc_cli_stream *stream = &row->stream;
        const bool            again  = stream->received > 0;
        stream->received = stream->consumed = 0;
        follow(c, row, output->run);
        deliver(stream, output, again, out);
        say_received(c, row, false, out);
}

/* Not at offset 0, of a run we do not follow. */
static void wonder(struct sc_cli *c, struct sc_cli_row *row, const struct sc_output *output, struct sc_out *out)
{
        struct sc_cli_stream *stream = &row->stream;
        const uint64_t        end    = output->offset + output->bytes.len;
        if (stream->strange_run == output->run && output->offset < stream->strange_next) {
                follow(c, row, output->run);
                take(c, row, output, out);
                return;
        }
        const bool asked     = stream->strange_run == output->run;
        stream->strange_run  = output->run;
        stream->strange_next = end;
        if (!asked)
                send_ack(c, row, output->run, 0, true, out);
}

void sc_cli_output(struct sc_cli *c, const struct sc_output *output, struct sc_out *out)
{
        struct sc_cli_row *row = sc_cli_find(c, output->task);
        if (!row || row->state != SC_CLI_SENT || row->told || output->bytes.len == 0)
                return;
        const struct sc_cli_stream *stream = &row->stream;
        if (stream->run == output->run && stream->epoch == c->epoch)
                take(c, row, output, out);
        else if (output->offset == 0)
                restart(c, row, output, out);
        else if (stream->received == 0) {
                follow(c, row, output->run);
                take(c, row, output, out);
        } else
                wonder(c, row, output, out);
}

/* The end of a run that streamed nothing brings its output along, if any: what came before is of another run. */
void sc_cli_output_ends(struct sc_cli_row *row, const struct sc_result *result, struct sc_out *out)
{
        struct sc_cli_stream    *stream  = &row->stream;
        const struct sc_outcome *outcome = &result->outcome;
        const bool               of_run  = outcome->reason == SC_REASON_SUCCESS || outcome->how != SC_HOW_NONE;
        if (stream->received == 0 || outcome->streamed > 0 || !of_run)
                return;
        struct sc_effect *effect = sc_out_add(out, SC_FX_DELIVER);
        effect->status           = true;
        effect->msg.kind         = SC_MSG_OUTPUT;
        effect->msg.output       = (struct sc_output){ .task = result->task, .bytes = { "", 0 } };
        stream->consumed = stream->received = 0;
}

/* The limit is raised when half the window has been taken, or all that came. */
void sc_cli_consumed(struct sc_cli *c, struct sc_id task, uint64_t bytes, struct sc_out *out)
{
        struct sc_cli_row *row = sc_cli_find(c, task);
        if (!row || row->stream.run == 0)
                return;
        struct sc_cli_stream *stream = &row->stream;
        const uint64_t        most   = stream->received - stream->consumed;
        stream->consumed += bytes < most ? bytes : most;
        const uint64_t gained = stream->consumed + c->output_window - stream->told_limit;
        const bool     all    = stream->consumed == stream->received;
        if (c->link != 0 && stream->epoch == c->epoch && gained > 0 && (gained >= c->output_window / 2 || all))
                say_received(c, row, false, out);
}

void sc_cli_output_again(struct sc_cli *c, struct sc_cli_row *row, struct sc_out *out)
{
        struct sc_cli_stream *stream = &row->stream;
        stream->strange_run          = 0;
        if (stream->epoch == c->epoch && row->state == SC_CLI_SENT)
                say_received(c, row, true, out);
}
