/*
 * Streamed output of a run: one sequence of bytes, kept from the first that is not confirmed to the
 * last that was read, sent below the client's limit.  While much is kept, nothing more is read, so
 * that the program waits instead of our memory growing.
 *
 * Whatever sits between us and the client may lose records when a link breaks, and nobody may notice
 * (the client may never have heard of this run).  So the first unconfirmed record is sent again when
 * no confirmation came for a while; the answer tells where to go on.
 */
#include "work_own.h"

#include <string.h>

#include "sc_assert.h"

bool sc_run_output_open(struct sc_work *w, struct sc_run *run)
{
        struct sc_run_output *output = sc_work_get(w, sizeof *output);
        if (!output)
                return false;
        const struct sc_scrap scrap = output->scrap;
        *output                     = (struct sc_run_output){
                .scrap      = scrap,
                .limit      = w->output_window,
                .probe_at   = SC_NEVER,
                .probe_wait = SC_RUN_PROBE_FIRST,
                .asked_more = true, /* the shell reads the first bytes unasked */
        };
        sc_list_init(&output->chunks);
        run->output = output;
        return true;
}

static void drop_chunk(struct sc_work *w, struct sc_run_output *output, struct sc_chunk *chunk)
{
        sc_list_remove(&chunk->link);
        output->held -= chunk->scrap.size;
        sc_work_discard(w, &chunk->scrap);
}

void sc_run_output_drop(struct sc_work *w, struct sc_run *run)
{
        struct sc_run_output *output = run->output;
        if (!output)
                return;
        while (!sc_list_empty(&output->chunks))
                drop_chunk(w, output, SC_CONTAINER(output->chunks.next, struct sc_chunk, link));
        SC_ASSERT(output->held == 0);
        sc_work_discard(w, &output->scrap);
        run->output = NULL;
}

static void read_more(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        struct sc_run_output *output = run->output;
        if (run->state != SC_RUN_RUNNING || output->asked_more)
                return;
        const uint64_t memory = 2 * (w->output_window + sizeof(struct sc_chunk) + SC_CHUNK_LEAST);
        if (output->end - output->confirmed >= w->output_window || output->held >= memory)
                return;
        output->asked_more = true;
        sc_out_add(out, SC_FX_READ_MORE)->run = run->handle;
}

/* One record from `sent` on, out of the chunk that holds it. */
static void send_piece(struct sc_work *w, struct sc_run *run, const struct sc_chunk *chunk, uint64_t end,
                       struct sc_out *out)
{
        struct sc_run_output *output = run->output;
        const size_t          skip   = (size_t)(output->sent - chunk->offset);
        uint64_t              len    = chunk->len - skip;
        if (len > SC_OUTPUT_CHUNK)
                len = SC_OUTPUT_CHUNK;
        if (len > end - output->sent)
                len = end - output->sent;
        struct sc_msg *msg = sc_out_send(out, w->link, SC_MSG_OUTPUT);
        msg->output        = (struct sc_output){
                .task   = run->task,
                .run    = run->run,
                .stream = chunk->stream,
                .offset = output->sent,
                .bytes  = { .ptr = chunk->bytes + skip, .len = (size_t)len },
        };
        output->sent += len;
        if (output->sent_most < output->sent)
                output->sent_most = output->sent;
}

/* Sends what it may, at most `pieces` records, and sets the time to try again. */
static void send_output(struct sc_work *w, struct sc_run *run, uint32_t pieces, struct sc_out *out)
{
        struct sc_run_output *output = run->output;
        const uint64_t        end    = output->limit < output->end ? output->limit : output->end;
        if (run->held)
                return;
        SC_ASSERT(w->link != 0);
        struct sc_list *at = output->chunks.next;
        while (at != &output->chunks && output->sent < end && pieces > 0 && sc_work_room(out) > SC_SLOTS_MAX / 4) {
                const struct sc_chunk *chunk = SC_CONTAINER(at, struct sc_chunk, link);
                if (chunk->offset + chunk->len <= output->sent) {
                        at = at->next;
                        continue;
                }
                send_piece(w, run, chunk, end, out);
                pieces--;
        }
        if (output->sent > output->confirmed || output->sent < end)
                output->probe_at = sc_ns_add(w->now, output->probe_wait);
        else
                output->probe_at = SC_NEVER;
        sc_run_retime(w, run);
}

static bool append(struct sc_work *w, struct sc_run_output *output, uint8_t stream, struct sc_view bytes)
{
        struct sc_chunk *last = NULL;
        if (!sc_list_empty(&output->chunks))
                last = SC_CONTAINER(output->chunks.prev, struct sc_chunk, link);
        if (!last || last->stream != stream || last->cap - last->len < bytes.len) {
                const size_t cap = bytes.len > SC_CHUNK_LEAST ? bytes.len : SC_CHUNK_LEAST;
                last             = sc_work_get(w, sizeof *last + cap);
                if (!last)
                        return false;
                last->offset = output->end;
                last->len    = 0;
                last->cap    = cap;
                last->stream = stream;
                output->held += last->scrap.size;
                sc_list_add_tail(&output->chunks, &last->link);
        }
        memcpy(last->bytes + last->len, bytes.ptr, bytes.len);
        last->len += bytes.len;
        output->end += bytes.len;
        return true;
}

void sc_run_output_add(struct sc_work *w, struct sc_run *run, uint8_t stream, struct sc_view bytes, struct sc_out *out)
{
        struct sc_run_output *output = run->output;
        if (run->state != SC_RUN_RUNNING || !output || run->cause == SC_CAUSE_MEMORY) {
                sc_out_add(out, SC_FX_READ_MORE)->run = run->handle; /* nobody wants it, but it shall not block */
                return;
        }
        output->asked_more = false;
        if (bytes.len > 0 && !append(w, output, stream, bytes)) {
                run->cause = SC_CAUSE_MEMORY;
                if (run->stop != SC_STOP_KILL)
                        sc_run_tell(w, run, SC_STOP_KILL, out);
                sc_out_add(out, SC_FX_READ_MORE)->run = run->handle;
                return;
        }
        send_output(w, run, SC_EFFECTS_MAX, out);
        read_more(w, run, out);
}

bool sc_run_output_ack(struct sc_work *w, struct sc_run *run, const struct sc_output_ack *ack, struct sc_out *out)
{
        struct sc_run_output *output = run->output;
        if (!output)
                return true;
        if (ack->received > output->end)
                return false;
        if (ack->received > output->confirmed) {
                output->confirmed  = ack->received;
                output->probe_wait = SC_RUN_PROBE_FIRST;
        }
        if (ack->limit > output->limit)
                output->limit = ack->limit;
        if (ack->again || output->sent < output->confirmed)
                output->sent = output->confirmed;
        while (!sc_list_empty(&output->chunks)) {
                struct sc_chunk *chunk = SC_CONTAINER(output->chunks.next, struct sc_chunk, link);
                if (chunk->offset + chunk->len > output->confirmed)
                        break;
                drop_chunk(w, output, chunk);
        }
        send_output(w, run, SC_EFFECTS_MAX, out);
        read_more(w, run, out);
        if (run->state == SC_RUN_OWING && output->confirmed == output->end)
                sc_run_settle(w, run, out); /* nothing is owed any more */
        return true;
}

/* The client may not know the number this run goes by now, and so may be unable to raise the limit:
 * as much as at the start may be sent past what it has confirmed. */
void sc_run_output_again(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        struct sc_run_output *output = run->output;
        if (!output)
                return;
        output->sent       = output->confirmed;
        output->probe_wait = SC_RUN_PROBE_FIRST;
        if (output->limit < output->confirmed + w->output_window)
                output->limit = output->confirmed + w->output_window;
        send_output(w, run, SC_EFFECTS_MAX, out);
}

void sc_run_output_probe(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        struct sc_run_output *output = run->output;
        SC_ASSERT(output != NULL);
        output->probe_at = SC_NEVER;
        if (run->held) {
                sc_run_retime(w, run);
                return;
        }
        if (output->probe_wait < SC_RUN_PROBE_LAST)
                output->probe_wait *= 2;
        output->sent = output->confirmed;
        send_output(w, run, 1, out);
        if (output->probe_at == SC_NEVER)
                sc_run_retime(w, run);
}
