/*
 * printer: makes one chunk at a time from the task whose turn it is and moves it to its sink.
 */
#include "printer.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "results.h"

#define INPUT_SHOWN_MAX 64
#define TAG_SHOWN_MAX   256
#define PUMP_CHUNKS     256

void printer_init(struct printer *p, const struct settings *s, struct window *w, struct progress *progress,
                  struct joblog *joblog)
{
        memset(p, 0, sizeof *p);
        p->settings = s;
        p->window   = w;
        p->progress = progress;
        p->joblog   = joblog;
        p->live     = !s->url && s->retries == 0 && w->ordered && !s->json;
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
        text_add_shown(&p->tag, task->input, task->values_size, TAG_SHOWN_MAX);
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

static void add_chunk(struct printer *p, const struct task *task, int stream, const char *bytes, size_t size)
{
        p->chunk_sink = stream;
        if (p->settings->tag) {
                make_tag(p, task);
                add_tagged(p, stream, bytes, size);
        } else {
                text_add(&p->chunk, bytes, size);
        }
}

/* One piece of the task's output: 1, 0 when there is none now, -1.  A task that runs while others print has
 * only its whole lines printed. */
static int make_output(struct printer *p, struct task *task, int stream)
{
        const char *bytes;
        bool        lines = p->settings->line_buffer && task->stage != TASK_ENDED;
        if (lines && task->lines[stream] == 0)
                return 0;
        int size = spool_peek(&p->window->pool, &task->output[stream], &task->printed[stream], &bytes);
        if (size <= 0)
                return size;
        if (lines && (size_t)size > task->lines[stream])
                size = (int)task->lines[stream];
        if (lines)
                task->lines[stream] -= (size_t)size;
        add_chunk(p, task, stream, bytes, (size_t)size);
        spool_pass(&p->window->pool, &task->output[stream], &task->printed[stream], (size_t)size, true);
        return 1;
}

/* 1: the command that stands before the outputs. */
static int make_announcement(struct printer *p, struct task *task)
{
        bool speaks = task->output[0].count > 0 || task->output[1].count > 0;
        if (!p->settings->verbose || task->announced || !task->command || (!speaks && task->stage != TASK_ENDED))
                return 0;
        struct text line = { 0 };
        text_print(&line, "%s\n", task->command);
        add_chunk(p, task, 0, line.data, line.size);
        text_free(&line);
        task->announced = true;
        return 1;
}

static void make_complaint(struct printer *p, const struct task *task)
{
        const bool node = p->settings->graph != NULL;
        if (task->state != SCALER_TASK_FAILED || p->settings->quiet || p->settings->json)
                return;
        if (node && task_is_skipped(task))
                return; /* the summary tells */
        p->chunk_sink = 1;
        if (node)
                text_add_string(&p->chunk, "scaler-run: node ");
        else
                text_print(&p->chunk, "scaler-run: task %" PRIu64 " (", task->number);
        text_add_shown(&p->chunk, task->input, task->values_size, node ? GRAPH_NAME_MAX : INPUT_SHOWN_MAX);
        if (task->step > 0)
                text_print(&p->chunk, ", step %u", task->step);
        text_add_string(&p->chunk, node ? ": " : "): ");
        if (task_is_skipped(task))
                text_add_string(&p->chunk, "skipped: ");
        task_describe(task, &p->chunk);
        text_add_char(&p->chunk, '\n');
}

static void leave(struct printer *p, struct task *task)
{
        if (task->state != SCALER_TASK_CANCELLED)
                joblog_add(p->joblog, task);
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

/* 1: a tagged line that the task left open is ended, or the next tag would stand in it. */
static int end_line(struct printer *p)
{
        const int stream = p->in_line[0] ? 0 : 1;
        if (!p->in_line[stream])
                return 0;
        p->in_line[stream] = false;
        p->chunk_sink      = stream;
        text_add_char(&p->chunk, '\n');
        return 1;
}

static int make_plain(struct printer *p, struct task *task)
{
        int made = make_announcement(p, task);
        for (int stream = 0; stream < 2 && made == 0 && !p->settings->results; stream++)
                made = make_output(p, task, stream);
        if (made != 0)
                return made;
        if (task->stage != TASK_ENDED) {
                if (!p->window->ordered)
                        window_leave_turn(p->window, task);
                return p->window->ordered ? 0 : 1;
        }
        if (end_line(p))
                return 1;
        make_complaint(p, task);
        leave(p, task);
        return 1;
}

static bool is_ready(const struct printer *p, const struct task *task)
{
        return task && (task->stage == TASK_ENDED || p->live || p->settings->line_buffer);
}

static int store(struct printer *p, struct task *task)
{
        if (!p->settings->results || task->stage != TASK_ENDED || task->stored)
                return 0;
        task->stored   = true;
        p->failed_what = "--results";
        p->failed_file = p->settings->results;
        return results_write(p->settings->results, &p->window->pool, task);
}

/* 1: a chunk was made or a task left; 0: nobody has anything to print; -1: errno. */
static int make(struct printer *p)
{
        struct task *task = window_next(p->window);
        if (!is_ready(p, task))
                return 0;
        if (task->stage == TASK_ENDED && task->state == SCALER_TASK_CANCELLED) {
                leave(p, task);
                return 1;
        }
        if (store(p, task) < 0)
                return -1;
        p->failed_what = "outputs cannot be read back from TMPDIR";
        p->failed_file = NULL;
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

/* Both sinks as empty as they can be, and what the joblog says of what has left.  true: they are empty. */
static bool flush(struct printer *p)
{
        bool out = sink_flush(&p->sinks[0]);
        bool all = sink_flush(&p->sinks[1]) && out;
        if (all && !p->sinks[0].broken && joblog_flush(p->joblog) < 0 && !p->failed) {
                p->failed_what = "--joblog";
                p->failed_file = p->settings->joblog;
                p->failed      = errno;
        }
        return all;
}

bool printer_pump(struct printer *p)
{
        int made = 1;
        p->more  = false;
        for (int i = 0; made > 0 && !p->failed; i++) {
                if (p->chunk.size > 0 && !move_chunk(p))
                        return false;
                if (joblog_is_full(p->joblog) && !flush(p))
                        return false;
                if (i >= PUMP_CHUNKS) {
                        p->more = true;
                        break;
                }
                made = make(p);
                if (made < 0)
                        p->failed = errno;
        }
        return flush(p);
}
