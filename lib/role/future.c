/*
 * What a future tells: state, result, failure, output.  Reads are under the gate's lock; a blocking
 * read from inside a callback of the library is refused, since the callback holds up the turn that
 * would end the wait.
 */
#include "future.h"
#include "nested.h"

#include <stdio.h>

#include <string.h>

#include "sc_assert.h"

scaler_future *scaler_future_ref(scaler_future *f)
{
        if (f)
                atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
        return f;
}

static void drop_chunks(struct scaler_future *f)
{
        struct sc_list *node;
        while ((node = sc_list_take(&f->chunks)) != NULL) {
                struct sc_chunk *chunk = SC_CONTAINER(node, struct sc_chunk, link);
                sc_mem_release(f->mem, chunk, sizeof *chunk + chunk->size);
        }
}

void scaler_future_unref(scaler_future *f)
{
        if (!f || sc_forked() || atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) != 1)
                return;
        drop_chunks(f);
        sc_blob_unref(f->result);
        sc_blob_unref(f->errors);
        sc_blob_unref(f->body);
        sc_job_destroy(f->job);
        if (f->text)
                sc_mem_release(f->mem, f->text, f->text_len + 1);
        sc_queue_unref(f->queue);
        sc_family_unref(f->family);
        struct sc_gate *gate = f->gate;
        sc_mem_release(f->mem, f, sizeof *f);
        sc_gate_unref(gate);
}

static struct sc_gate *gate_of(const scaler_future *f)
{
        return f->gate;
}

scaler_id scaler_future_id(const scaler_future *f)
{
        return f ? (scaler_id){ f->id.hi, f->id.lo } : (scaler_id){ 0, 0 };
}

uint64_t scaler_future_user_data(const scaler_future *f)
{
        return f ? f->user_data : 0;
}

scaler_task_state scaler_future_state(const scaler_future *f)
{
        if (!f)
                return SCALER_TASK_PENDING;
        if (sc_forked())
                return (scaler_task_state)f->state;
        sc_gate_lock(gate_of(f));
        const scaler_task_state state = (scaler_task_state)f->state;
        sc_gate_unlock(gate_of(f));
        return state;
}

/* ---- written by the turn ---------------------------------------------------------------------------- */

static struct sc_blob *keep(struct scaler_future *f, struct sc_view bytes)
{
        if (bytes.len == 0)
                return NULL;
        struct sc_blob *blob = sc_blob_copy(f->mem, bytes.ptr, bytes.len);
        f->unkept |= !blob;
        return blob;
}

static void keep_text(struct scaler_future *f, const char *text, size_t len)
{
        f->text     = len ? sc_mem_text(f->mem, text, len) : NULL;
        f->text_len = f->text ? len : 0;
}

/* Whose doing it was says more than that it was another's. */
static void keep_root(struct scaler_future *f, const struct sc_result *r)
{
        char               text[SC_TEXT_MAX + 1], id[SC_ID_TEXT];
        const struct sc_id root = { f->id.hi, r->root };
        sc_id_format(root, id);
        const int len = snprintf(text, sizeof text, "%s %s, which ended as %s",
                                 f->graph ? "the first to fail was" : "it depends on", id,
                                 sc_reason_name((int)r->root_reason));
        keep_text(f, text, (size_t)len);
}

static void announce(struct scaler_future *f)
{
        struct sc_adding adding = { 0 };
        sc_gate_changed(f->gate);
        sc_queue_add(&adding, f);
        sc_queue_added(&adding);
}

static uint8_t state_for(int reason)
{
        if (reason == SC_REASON_SUCCESS)
                return SCALER_TASK_DONE;
        return reason == SC_REASON_CANCELLED ? SCALER_TASK_CANCELLED : SCALER_TASK_FAILED;
}

void sc_future_keep(struct scaler_future *f, const struct sc_result *r)
{
        f->kept        = true;
        f->outcome     = r->outcome;
        f->attempts    = r->attempts;
        f->losses      = r->losses;
        f->root        = r->root;
        f->root_reason = r->root_reason;
        f->result      = keep(f, r->outcome.result);
        f->errors      = keep(f, r->outcome.errors);
        if (r->root != 0)
                keep_root(f, r);
        else
                keep_text(f, r->outcome.text.ptr, r->outcome.text.len);
}

void sc_future_keep_here(struct scaler_future *f, int reason, const char *text)
{
        const struct sc_result r = { .outcome = { .reason = (uint8_t)reason, .text = { text, strlen(text) } } };
        sc_future_keep(f, &r);
}

void sc_future_end(struct scaler_future *f)
{
        SC_ASSERT(!f->ended);
        f->ended = true;
        f->broken |= f->unkept;
        f->state = state_for(f->outcome.reason);
}

void sc_future_deliver(struct scaler_future *f, const struct sc_output *output, bool restart)
{
        if (restart) {
                drop_chunks(f);
                f->restarted = true;
        }
        if (output->bytes.len == 0)
                return;
        struct sc_chunk *chunk = sc_mem_alloc(f->mem, sizeof *chunk + output->bytes.len);
        if (!chunk) {
                f->broken = true;
        } else {
                chunk->size   = output->bytes.len;
                chunk->taken  = 0;
                chunk->stream = output->stream;
                memcpy(chunk->bytes, output->bytes.ptr, output->bytes.len);
                sc_list_init(&chunk->link);
                sc_list_add_tail(&f->chunks, &chunk->link);
        }
        announce(f);
}

/* ---- waiting ------------------------------------------------------------------------------------------ */

/* Locked: 0 when it has ended. */
static int wait_ended(struct scaler_future *f, int64_t timeout_ms)
{
        struct sc_gate *gate = f->gate;
        if (f->ended)
                return 0;
        if (timeout_ms == 0)
                return SC_E_TIMEOUT;
        if (sc_gate_in_callback(gate))
                return SC_E_STATE;
        const sc_ns       until  = sc_until(timeout_ms);
        struct sc_family *family = sc_family_here();
        if (family && f->family == family)
                return sc_family_await(family, f, until);
        while (!f->ended)
                if (!sc_gate_wait_away(gate, until))
                        return SC_E_TIMEOUT;
        return 0;
}

int scaler_future_wait(scaler_future *f, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!f)
                return SC_E_INVALID;
        sc_gate_lock(f->gate);
        const int status = wait_ended(f, timeout_ms);
        sc_gate_unlock(f->gate);
        return sc_family_back(status);
}

static int status_for(const struct scaler_future *f)
{
        switch ((enum sc_reason)f->outcome.reason) {
        case SC_REASON_SUCCESS:
                return f->broken ? SC_E_NOMEM : 0;
        case SC_REASON_WORKER_DIED:
                return SC_E_WORKER_LOST;
        case SC_REASON_RUN_TIMEOUT:
        case SC_REASON_QUEUE_TIMEOUT:
        case SC_REASON_DEADLINE:
        case SC_REASON_LIMIT:
        case SC_REASON_WOULD_DEADLOCK:
                return SC_E_LIMIT;
        case SC_REASON_CANCELLED:
                return SC_E_CANCELLED;
        case SC_REASON_CLIENT:
                return SC_E_UNREACHABLE;
        case SC_REASON_KEY:
                return SC_E_EXISTS;
        case SC_REASON_TASK:
        case SC_REASON_DEPENDENCY:
        case SC_REASON_OBJECT_LOST:
        case SC_REASON_NOT_STARTED:
        case SC_REASONS:
                break;
        }
        return SC_E_TASK;
}

/* Locked.  NULL becomes an empty blob, so that a caller always has something to unref. */
static int give(struct scaler_future *f, struct sc_blob *blob, scaler_blob **out)
{
        struct sc_blob *given = blob ? sc_blob_ref(blob) : sc_blob_copy(f->mem, "", 0);
        if (!given)
                return SC_E_NOMEM;
        *out = (scaler_blob *)(void *)given;
        return 0;
}

int scaler_future_result(scaler_future *f, int64_t timeout_ms, scaler_blob **out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!f)
                return SC_E_INVALID;
        sc_gate_lock(f->gate);
        int status = wait_ended(f, timeout_ms);
        if (!status)
                status = status_for(f);
        if (!status && out)
                status = give(f, f->result, out);
        sc_gate_unlock(f->gate);
        return sc_family_back(status);
}

int scaler_future_detail(scaler_future *f, scaler_blob **out)
{
        return scaler_future_output(f, 1, out);
}

int scaler_future_output(scaler_future *f, int stream, scaler_blob **out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!f || !out || stream < 1 || stream > 2)
                return SC_E_INVALID;
        sc_gate_lock(f->gate);
        const int status = f->ended ? give(f, stream == 1 ? f->result : f->errors, out) : SC_E_STATE;
        sc_gate_unlock(f->gate);
        return status;
}

/* What the end brought never changes after it was told. */
static bool has_ended(const struct scaler_future *f)
{
        sc_gate_lock(gate_of(f));
        const bool ended = f->ended;
        sc_gate_unlock(gate_of(f));
        return ended;
}

int scaler_future_failure(const scaler_future *f, scaler_failure *out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!f || !out)
                return SC_E_INVALID;
        scaler_failure failure;
        scaler_init(&failure, sizeof failure);
        if (!has_ended(f))
                return SC_E_STATE;
        failure.reason   = f->outcome.reason;
        failure.code     = f->outcome.code;
        failure.attempts = f->attempts;
        failure.losses   = f->losses;
        if (f->root != 0) {
                failure.root        = (scaler_id){ f->id.hi, f->root };
                failure.root_reason = (int32_t)f->root_reason;
        }
        if (f->text) {
                const size_t len = f->text_len < sizeof failure.text - 1 ? f->text_len : sizeof failure.text - 1;
                memcpy(failure.text, f->text, len);
        }
        return sc_sized_out(out, &failure, sizeof failure) ? 0 : SC_E_INVALID;
}

int scaler_future_exit(const scaler_future *f, scaler_exit *out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!f || !out)
                return SC_E_INVALID;
        scaler_exit e;
        scaler_init(&e, sizeof e);
        if (!has_ended(f))
                return SC_E_STATE;
        e.how        = f->outcome.how;
        e.code       = f->outcome.code;
        e.wall_us    = f->outcome.wall_us;
        e.user_us    = f->outcome.user_us;
        e.sys_us     = f->outcome.sys_us;
        e.peak_bytes = f->outcome.peak_kib * 1024;
        e.attempts   = f->attempts;
        return sc_sized_out(out, &e, sizeof e) ? 0 : SC_E_INVALID;
}

int scaler_future_graph(const scaler_future *f, scaler_graph_counts *out)
{
        if (sc_forked())
                return SC_E_STATE;
        if (!f || !out || !f->graph)
                return SC_E_INVALID;
        scaler_graph_counts counts;
        scaler_init(&counts, sizeof counts);
        sc_gate_lock(gate_of(f));
        const bool ended = f->ended;
        counts.succeeded = f->counts.succeeded;
        counts.failed    = f->counts.failed;
        counts.cancelled = f->counts.cancelled;
        counts.skipped   = f->counts.skipped;
        sc_gate_unlock(gate_of(f));
        if (!ended)
                return SC_E_STATE;
        return sc_sized_out(out, &counts, sizeof counts) ? 0 : SC_E_INVALID;
}

/* ---- streamed output ------------------------------------------------------------------------------------ */

static size_t take_blob(const struct sc_blob *blob, size_t *taken, void *buffer, size_t cap)
{
        const size_t left = sc_blob_size(blob) - *taken, n = left < cap ? left : cap;
        if (n)
                memcpy(buffer, (const char *)sc_blob_data(blob) + *taken, n);
        *taken += n;
        return n;
}

/* Output that was small enough to come with the end. */
static size_t take_end(struct scaler_future *f, void *buffer, size_t cap, int *stream_out)
{
        *stream_out = 1;
        size_t n    = f->result ? take_blob(f->result, &f->result_read, buffer, cap) : 0;
        if (n)
                return n;
        *stream_out = 2;
        return f->errors ? take_blob(f->errors, &f->errors_read, buffer, cap) : 0;
}

static size_t take_chunk(struct scaler_future *f, void *buffer, size_t cap, int *stream_out)
{
        struct sc_chunk *chunk = SC_CONTAINER(f->chunks.next, struct sc_chunk, link);
        const size_t     left = chunk->size - chunk->taken, n = left < cap ? left : cap;
        memcpy(buffer, chunk->bytes + chunk->taken, n);
        chunk->taken += n;
        *stream_out = chunk->stream;
        if (chunk->taken == chunk->size) {
                sc_list_remove(&chunk->link);
                sc_mem_release(f->mem, chunk, sizeof *chunk + chunk->size);
        }
        f->consumed += n;
        if (f->gate->client && !f->ended)
                sc_client_wants_turn(f->gate->client, f, SC_FUTURE_CONSUMED);
        return n;
}

/* Locked.  A count, 0 at the end, SC_E_TIMEOUT when there is none yet. */
static int read_some(struct scaler_future *f, void *buffer, size_t cap, int *stream_out)
{
        if (f->restarted) {
                f->restarted = false;
                return SC_E_GAP;
        }
        if (!sc_list_empty(&f->chunks))
                return (int)take_chunk(f, buffer, cap, stream_out);
        if (f->broken)
                return SC_E_NOMEM;
        if (!f->ended)
                return SC_E_TIMEOUT;
        return f->outcome.streamed ? 0 : (int)take_end(f, buffer, cap, stream_out);
}

int scaler_future_read(scaler_future *f, void *buffer, size_t cap, int *stream_out, int64_t timeout_ms)
{
        if (sc_forked())
                return SC_E_STATE;
        enum { READ_MAX = 1 << 30 };
        int ignored;
        if (!stream_out)
                stream_out = &ignored;
        if (!f || !buffer || cap == 0 || !f->stream)
                return SC_E_INVALID;
        struct sc_gate *gate  = f->gate;
        const sc_ns     until = timeout_ms == 0 ? 0 : sc_until(timeout_ms);
        if (cap > READ_MAX)
                cap = READ_MAX;
        sc_gate_lock(gate);
        int n;
        while ((n = read_some(f, buffer, cap, stream_out)) == SC_E_TIMEOUT && timeout_ms != 0) {
                if (sc_gate_in_callback(gate))
                        n = SC_E_STATE;
                if (n == SC_E_STATE || !sc_gate_wait_away(gate, until))
                        break;
        }
        sc_gate_unlock(gate);
        return sc_family_back(n);
}
