/*
 * source: reads the lists and counts through them as an odometer does.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES 65536

static void add_item(struct source *s, const char *data, size_t size)
{
        if (s->count == s->room) {
                s->room  = s->room ? s->room * 2 : 16;
                s->items = memory_grow(s->items, s->room * sizeof *s->items);
        }
        s->items[s->count++] = (struct span){ data, size };
}

static int read_whole(const char *file, struct text *out)
{
        char    bytes[READ_BYTES];
        bool    is_stdin = strcmp(file, "-") == 0;
        int     fd       = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
        ssize_t got      = fd < 0 ? -1 : 1;
        while (fd >= 0 && got != 0) {
                got = read(fd, bytes, sizeof bytes);
                if (got < 0 && errno != EINTR)
                        break;
                if (got > 0)
                        text_add(out, bytes, (size_t)got);
        }
        int error = errno;
        if (fd >= 0 && !is_stdin)
                close(fd);
        errno = error;
        return got < 0 ? -1 : 0;
}

static void cut_lines(struct source *s, char delimiter)
{
        const char *at   = s->text.data;
        size_t      left = s->text.size;
        while (left > 0) {
                const char *end  = memchr(at, delimiter, left);
                size_t      size = end ? (size_t)(end - at) : left;
                add_item(s, at, size);
                left -= end ? size + 1 : size;
                at += end ? size + 1 : size;
        }
}

static int open_source(struct source *s, const struct source_words *words, char delimiter)
{
        *s = (struct source){ .linked = words->linked };
        for (size_t i = 0; i < words->count; i++)
                add_item(s, words->words[i], strlen(words->words[i]));
        if (!words->file)
                return 0;
        if (read_whole(words->file, &s->text) < 0)
                return -1;
        cut_lines(s, delimiter);
        return 0;
}

/* One past the last list of the group that begins at first. */
static size_t group_end(const struct sources *s, size_t first)
{
        size_t end = first + 1;
        while (end < s->count && s->items[end].linked)
                end++;
        return end;
}

static size_t group_length(const struct sources *s, size_t first)
{
        size_t end = group_end(s, first), length = s->items[first].count;
        for (size_t i = first + 1; i < end; i++)
                if (s->items[i].count < length)
                        length = s->items[i].count;
        return length;
}

static uint64_t count_rows(const struct sources *s)
{
        uint64_t total = 1;
        for (size_t i = 0; i < s->count; i = group_end(s, i)) {
                uint64_t length = group_length(s, i);
                if (length == 0)
                        return 0;
                total = total > UINT64_MAX / length ? UINT64_MAX : total * length;
        }
        return total;
}

int sources_open(struct sources *s, const struct settings *settings, const char **name_out)
{
        size_t count = settings->source_count;
        char   end   = settings->null_separated ? '\0' : '\n';
        *s           = (struct sources){ .items  = memory_grow(NULL, count * sizeof *s->items),
                                         .places = memory_grow(NULL, count * sizeof *s->places) };
        for (; s->count < count; s->count++) {
                s->places[s->count] = 0;
                if (open_source(&s->items[s->count], &settings->sources[s->count], end) < 0) {
                        *name_out = settings->sources[s->count++].file;
                        return -1;
                }
        }
        s->total = count_rows(s);
        s->ended = s->total == 0;
        return 0;
}

void sources_close(struct sources *s)
{
        for (size_t i = 0; i < s->count; i++) {
                text_free(&s->items[i].text);
                free(s->items[i].items);
        }
        free(s->items);
        free(s->places);
        *s = (struct sources){ 0 };
}

static size_t group_start(const struct sources *s, size_t last)
{
        while (last > 0 && s->items[last].linked)
                last--;
        return last;
}

/* Moves the last group on; one that has come to its end starts again and moves the one before it. */
static void step(struct sources *s)
{
        for (size_t end = s->count; end > 0;) {
                size_t first = group_start(s, end - 1);
                size_t place = s->places[first] + 1;
                if (place == group_length(s, first))
                        place = 0;
                for (size_t i = first; i < end; i++)
                        s->places[i] = place;
                if (place > 0)
                        return;
                end = first;
        }
        s->ended = true;
}

bool sources_next(struct sources *s, struct span *row)
{
        if (s->ended)
                return false;
        for (size_t i = 0; i < s->count; i++)
                row[i] = s->items[i].items[s->places[i]];
        step(s);
        return true;
}
