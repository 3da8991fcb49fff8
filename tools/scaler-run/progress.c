/*
 * progress: bar, counts, rate and the time left.
 */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

#define DRAW_MS         100
#define LINE_MS         1000
#define BAR_CELLS       24
#define COLUMNS_DEFAULT 80

int64_t clock_ms(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_us(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool is_set(const char *name)
{
        const char *value = getenv(name);
        return value && *value;
}

void progress_init(struct progress *p, const struct settings *s)
{
        const char *terminal = getenv("TERM");
        bool        dumb     = !terminal || strcmp(terminal, "dumb") == 0;
        bool        terminal_line = !dumb && isatty(STDERR_FILENO);
        *p                        = (struct progress){
                                  .enabled  = s->eta || (!s->no_progress && !s->quiet && terminal_line),
                                  .lines    = s->eta && !terminal_line,
                                  .eta      = s->eta,
                                  .colour   = !is_set("NO_COLOR"),
                                  .start_ms = clock_ms(),
        };
}

void progress_set(struct progress *p, uint64_t ended, uint64_t failed, uint64_t total)
{
        p->changed |= ended != p->ended || failed != p->failed || total != p->total;
        p->ended  = ended;
        p->failed = failed;
        p->total  = total;
}

static void put(const char *bytes, size_t size)
{
        ssize_t ignored = write(STDERR_FILENO, bytes, size);
        (void)ignored;
}

void progress_hide(struct progress *p)
{
        static const char erase[] = "\r\033[K";
        if (!p->shown)
                return;
        put(erase, sizeof erase - 1);
        p->shown   = false;
        p->changed = true;
}

static void add_bar(struct text *line, const struct progress *p)
{
        uint64_t ended = p->ended < p->total ? p->ended : p->total;
        uint64_t full  = ended * BAR_CELLS / p->total;
        text_add_char(line, '[');
        for (uint64_t i = 0; i < BAR_CELLS; i++)
                text_add_char(line, i < full ? '#' : '.');
        text_print(line, "] %3u%% ", (unsigned)(ended * 100 / p->total));
}

static void add_time(struct text *line, uint64_t seconds)
{
        if (seconds >= 3600)
                text_print(line, "%" PRIu64 ":%02u:%02u", seconds / 3600, (unsigned)(seconds / 60 % 60),
                           (unsigned)(seconds % 60));
        else
                text_print(line, "%u:%02u", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
}

static void add_rate(struct text *line, const struct progress *p, int64_t now_ms)
{
        double seconds = (double)(now_ms - p->start_ms) / 1000;
        double rate    = seconds > 0 ? (double)p->ended / seconds : 0;
        text_print(line, "  %.*f/s", rate < 10 ? 1 : 0, rate);
        if (p->total > p->ended && rate > 0) {
                text_add_string(line, "  ETA ");
                add_time(line, (uint64_t)((double)(p->total - p->ended) / rate + 0.5));
        } else if (p->eta && p->total != p->ended) {
                text_add_string(line, "  ETA -:--");
        }
}

static size_t columns(void)
{
        struct winsize size;
        return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS_DEFAULT;
}

static void draw(struct progress *p, int64_t now_ms)
{
        struct text line = { 0 }, out = { 0 };
        if (p->total > 0 && !p->lines)
                add_bar(&line, p);
        text_print(&line, "%" PRIu64, p->ended);
        if (p->total > 0)
                text_print(&line, "/%" PRIu64, p->total);
        add_rate(&line, p, now_ms);
        if (p->failed > 0)
                text_print(&line, "  %" PRIu64 " failed", p->failed);
        bool red = p->colour && p->failed > 0;
        if (p->lines)
                text_print(&out, "scaler-run: %s\n", line.data);
        else
                text_print(&out, "\r%s%.*s%s\033[K", red ? "\033[31m" : "", (int)columns() - 1, line.data,
                           red ? "\033[0m" : "");
        put(out.data, out.size);
        text_free(&out);
        text_free(&line);
        p->shown    = !p->lines;
        p->changed  = false;
        p->drawn_ms = now_ms;
}

void progress_draw(struct progress *p, int64_t now_ms)
{
        if (progress_wait_ms(p, now_ms) == 0)
                draw(p, now_ms);
}

void progress_finish(struct progress *p)
{
        if (p->lines && p->changed)
                draw(p, clock_ms());
        progress_hide(p);
}

int64_t progress_wait_ms(const struct progress *p, int64_t now_ms)
{
        if (!p->enabled || !p->changed)
                return -1;
        int64_t left = p->drawn_ms + (p->lines ? LINE_MS : DRAW_MS) - now_ms;
        return p->drawn_ms == 0 || left < 0 ? 0 : left;
}
