/*
 * report: an output that is UTF-8 is a JSON string under "stdout" or "stderr"; any other is null there and
 * base64 under "stdout_base64" or "stderr_base64".
 */
#include "report.h"

#include <stdio.h>

#include "json.h"

#define CARRY_MAX 3

static const char *const stream_keys[] = { "stdout", "stderr" };

static bool is_utf8(const char *bytes, size_t size)
{
        for (size_t i = 0; i < size;) {
                size_t length = utf8_length((const unsigned char *)bytes + i, size - i);
                if (length == 0)
                        return false;
                i += length;
        }
        return true;
}

static const char *state_name(const struct task *task)
{
        if (task_is_skipped(task))
                return "skipped";
        switch (task->state) {
        case SCALER_TASK_DONE:
                return "done";
        case SCALER_TASK_FAILED:
                return "failed";
        case SCALER_TASK_CANCELLED:
                return "cancelled";
        case SCALER_TASK_PENDING:
                break;
        }
        return "pending";
}

static void add_code(struct text *out, const char *key, const struct task *task, int32_t how)
{
        json_key(out, key);
        if (task->exit.how == how)
                text_print(out, "%d", (int)task->exit.code);
        else
                text_add_string(out, "null");
}

/* The values one by one, where there are several. */
static void add_values(struct text *out, const struct task *task)
{
        const char *at = task->values, *end = task->values + task->values_size;
        json_key(out, "inputs");
        text_add_char(out, '[');
        for (uint32_t i = 0; i < task->value_count && at <= end; i++) {
                size_t size = strlen(at);
                if (i > 0)
                        text_add_char(out, ',');
                json_string(out, at, size);
                at += size + 1;
        }
        text_add_char(out, ']');
}

static void add_head(struct text *out, const struct task *task)
{
        bool binary = !is_utf8(task->input, task->values_size);
        text_add_char(out, '{');
        json_add_uint(out, "seq", task->number);
        json_key(out, "input");
        if (binary) {
                text_add_string(out, "null,\"input_base64\":\"");
                json_base64(out, task->input, task->values_size);
                text_add_char(out, '"');
        } else {
                json_string(out, task->input, task->values_size);
        }
        if (task->value_count > 1)
                add_values(out, task);
        if (task->step > 0)
                json_add_uint(out, "step", task->step);
        json_add_string(out, "state", state_name(task));
        json_add_string(out, "reason", scaler_reason_name(task->failure.reason));
        add_code(out, "exit", task, SCALER_EXIT_EXITED);
        add_code(out, "signal", task, SCALER_EXIT_SIGNALLED);
        json_add_uint(out, "attempts", task->failure.attempts);
        json_key(out, "seconds");
        text_print(out, "%u.%06u", (unsigned)(task->exit.wall_us / 1000000), (unsigned)(task->exit.wall_us % 1000000));
        if (task->root > 0)
                json_add_uint(out, "root_seq", task->root);
        if (task->root_name)
                json_add_string(out, "root", task->root_name);
        if (task->failure.text[0])
                json_add_string(out, "error", task->failure.text);
}

/* How many bytes at the end begin something that goes on in the next piece. */
static size_t unfinished(const struct report *r, const char *bytes, size_t size)
{
        if (r->binary)
                return size % 3;
        size_t back = 0;
        while (back < size && back < CARRY_MAX && ((unsigned char)bytes[size - 1 - back] & 0xc0) == 0x80)
                back++;
        if (back >= size || back == CARRY_MAX)
                return 0;
        return utf8_length((const unsigned char *)bytes + size - 1 - back, back + 1) ? 0 : back + 1;
}

/* A piece with what was carried before it.  A carry is never longer than CARRY_MAX. */
static void join(struct report *r, const char *bytes, size_t size, struct text *piece)
{
        text_add(piece, r->carry, r->carry_size);
        text_add(piece, bytes, size);
        size_t keep = unfinished(r, piece->data, piece->size);
        memcpy(r->carry, piece->data + piece->size - keep, keep);
        r->carry_size = keep;
        piece->size -= keep;
}

static void open_stream(struct report *r, bool is_text, struct text *out)
{
        *r = (struct report){ .stage = REPORT_BODY, .stream = r->stream, .binary = !is_text };
        text_print(out, r->binary ? ",\"%s\":null,\"%s_base64\":\"" : ",\"%s\":\"", stream_keys[r->stream],
                   stream_keys[r->stream]);
}

/* Whether the output is text shows at its end, or at the first piece that is none. */
static int look(struct report *r, struct window *w, struct task *task, struct text *out)
{
        const char   *bytes;
        struct text   piece = { 0 };
        struct spool *spool = &task->output[r->stream];
        const int     size  = spool_peek(&w->pool, spool, &r->at, &bytes);
        if (size < 0)
                return -1;
        if (size == 0) {
                open_stream(r, r->carry_size == 0, out);
                return 1;
        }
        join(r, bytes, (size_t)size, &piece);
        const bool fine = is_utf8(piece.data, piece.size);
        text_free(&piece);
        spool_pass(&w->pool, spool, &r->at, (size_t)size, false);
        if (!fine)
                open_stream(r, false, out);
        return 1;
}

static void encode(const struct report *r, const char *bytes, size_t size, struct text *out)
{
        if (r->binary)
                json_base64(out, bytes, size);
        else
                json_escaped(out, bytes, size);
}

static int add_body(struct report *r, struct window *w, struct task *task, struct text *out)
{
        const char   *bytes;
        struct spool *spool = &task->output[r->stream];
        int           size  = spool_peek(&w->pool, spool, &r->at, &bytes);
        if (size < 0)
                return -1;
        if (size > 0) {
                struct text piece = { 0 };
                join(r, bytes, (size_t)size, &piece);
                encode(r, piece.data, piece.size, out);
                text_free(&piece);
                spool_pass(&w->pool, spool, &r->at, (size_t)size, true);
                return 1;
        }
        encode(r, r->carry, r->carry_size, out);
        text_add_char(out, '"');
        if (r->stream == 0) {
                *r = (struct report){ .stage = REPORT_LOOK, .stream = 1 };
                return 1;
        }
        text_add_string(out, "}\n");
        *r = (struct report){ 0 };
        return 0;
}

int report_next(struct report *r, struct window *w, struct task *task, struct text *out)
{
        switch (r->stage) {
        case REPORT_HEAD:
                add_head(out, task);
                r->stage = REPORT_LOOK;
                return 1;
        case REPORT_LOOK:
                return look(r, w, task, out);
        case REPORT_BODY:
                break;
        }
        return add_body(r, w, task, out);
}
