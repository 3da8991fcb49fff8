/*
 * printer: makes one chunk at a time from the task whose turn it is and moves it to its sink.
 */
#include "printer.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#define INPUT_SHOWN_MAX 64
#define TAG_SHOWN_MAX   256

void printer_init(struct printer *p, const struct settings *s, struct window *w, struct progress *progress, bool live)
{
        memset(p, 0, sizeof *p);
        p->settings = s;
        p->window   = w;
        p->progress = progress;
        p->live     = live && w->ordered && !s->json;
        sink_init(&p->sinks[0], STDOUT_FILENO);
        sink_init(&p->sinks[1], STDERR_FILENO);
}

void printer_fini(struct printer *p)
{
        text_free(&p->chunk);
        text_free(&p->tag);
}

static void make_tag(struct printer *p, const struct task *task)
{
        if (p->tag_number == task->number)
                return;
        text_clear(&p->tag);
        text_add_shown(&p->tag, task->input, task->input_size, TAG_SHOWN_MAX);
        text_add_char(&p->tag, '\t');
        p->tag_number = task->number;
}

static void add_tagged(struct printer *p, int stream, const char *bytes, size_t size)
{
        while (size > 0) {
                const char *end  = memchr(bytes, '\n', size);
                size_t      part = end ? (size_t)(end - bytes) + 1 : size;
                if (!p->in_line[stream])
                        text_add(&p->chunk, p->tag.data, p->tag.size);
                text_add(&p->chunk, bytes, part);
                p->in_line[stream] = !end;
                bytes += part;
                size -= part;
        }
}

/* One piece of the task's output: 1, 0 when there is none now, -1. */
static int make_output(struct printer *p, struct task *task, int stream)
{
        const char *bytes;
        int         size = spool_peek(&p->window->pool, &task->output[stream], &task->printed[stream], &bytes);
        if (size <= 0)
                return size;
        p->chunk_sink = stream;
        if (p->settings->tag) {
                make_tag(p, task);
                add_tagged(p, stream, bytes, (size_t)size);
        } else {
                text_add(&p->chunk, bytes, (size_t)size);
        }
        spool_pass(&p->window->pool, &task->output[stream], &task->printed[stream], (size_t)size, true);
        return 1;
}

static void make_complaint(struct printer *p, const struct task *task)
{
        if (task->state != SCALER_TASK_FAILED || p->settings->quiet || p->settings->json)
                return;
        p->chunk_sink = 1;
        text_print(&p->chunk, "scaler-run: task %" PRIu64 " (", task->number);
        text_add_shown(&p->chunk, task->input, task->input_size, INPUT_SHOWN_MAX);
        text_add_string(&p->chunk, "): ");
        task_describe(task, &p->chunk);
        text_add_char(&p->chunk, '\n');
}

static void leave(struct printer *p, struct task *task)
{
        window_remove(p->window, task);
        p->in_line[0] = false;
        p->in_line[1] = false;
}

static int make_json(struct printer *p, struct task *task)
{
        p->chunk_sink = 0;
        int more      = report_next(&p->report, p->window, task, &p->chunk);
        if (more == 0)
                leave(p, task);
        return more < 0 ? -1 : 1;
}

static int make_plain(struct printer *p, struct task *task)
{
        for (int stream = 0; stream < 2; stream++) {
                int made = make_output(p, task, stream);
                if (made != 0)
                        return made;
        }
        if (task->stage != TASK_ENDED)
                return 0;
        make_complaint(p, task);
        leave(p, task);
        return 1;
}

/* 1: a chunk was made or a task left; 0: nobody has anything to print; -1: errno. */
static int make(struct printer *p)
{
        struct task *task = window_next(p->window);
        if (!task || (task->stage != TASK_ENDED && !p->live))
                return 0;
        if (task->stage == TASK_ENDED && task->state == SCALER_TASK_CANCELLED) {
                leave(p, task);
                return 1;
        }
        return p->settings->json ? make_json(p, task) : make_plain(p, task);
}

/* true: the chunk is in its sink. */
static bool move_chunk(struct printer *p)
{
        struct sink *sink = &p->sinks[p->chunk_sink], *other = &p->sinks[1 - p->chunk_sink];
        if (p->chunk.size > p->chunk_start)
                progress_hide(p->progress);
        if (!sink_flush(other))
                return false;
        for (;;) {
                size_t left = p->chunk.size - p->chunk_start;
                p->chunk_start += sink_add(sink, p->chunk.data + p->chunk_start, left);
                if (p->chunk_start == p->chunk.size)
                        break;
                if (!sink_flush(sink))
                        return false;
        }
        text_clear(&p->chunk);
        p->chunk_start = 0;
        return true;
}

bool printer_pump(struct printer *p)
{
        int made = 1;
        while (made > 0 && !p->failed) {
                if (p->chunk.size > 0 && !move_chunk(p))
                        return false;
                made = make(p);
                if (made < 0)
                        p->failed = errno;
        }
        bool out = sink_flush(&p->sinks[0]);
        return sink_flush(&p->sinks[1]) && out;
}
