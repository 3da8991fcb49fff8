/*
 * input: cuts what a descriptor gives into inputs.  The descriptor stays as it was given to us (its flags
 * belong to whoever shares it): it is read only when poll() says that a read will not wait.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES 65536

int inputs_open(struct inputs *in, const struct settings *settings)
{
        *in = (struct inputs){ .settings = settings, .fd = -1, .delimiter = settings->null_separated ? '\0' : '\n' };
        if (settings->source_count > 0) {
                in->total       = settings->sources[0].count;
                in->total_known = true;
                return 0;
        }
        /* A FIFO without a writer must not stop us here; poll() waits for the writer. */
        in->fd = settings->input_file ? open(settings->input_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
        return in->fd < 0 ? -1 : 0;
}

void inputs_close(struct inputs *in)
{
        if (in->fd > STDIN_FILENO)
                close(in->fd);
        text_free(&in->ahead);
}

static size_t waiting(const struct inputs *in)
{
        return in->ahead.size - in->start;
}

static void count_rest(struct inputs *in)
{
        const char *at    = in->ahead.data + in->start;
        size_t      left  = waiting(in);
        uint64_t    count = 0;
        while (left > 0) {
                const char *end  = memchr(at, in->delimiter, left);
                size_t      size = end ? (size_t)(end - at) + 1 : left;
                at += size;
                left -= size;
                count++;
        }
        in->total       = in->given + count + (in->skipped && waiting(in) == 0 ? 1 : 0);
        in->total_known = true;
}

static void compact(struct inputs *in)
{
        if (in->start < READ_BYTES && in->start < in->ahead.size)
                return;
        size_t left = waiting(in);
        if (left)
                memmove(in->ahead.data, in->ahead.data + in->start, left);
        in->ahead.size = left;
        in->looked -= in->start;
        in->start = 0;
}

/* INPUT_IS_HERE: there is more to look at, perhaps the end. */
static enum input_answer fill(struct inputs *in)
{
        struct pollfd ready = { .fd = in->fd, .events = POLLIN };
        char          bytes[READ_BYTES];
        if (poll(&ready, 1, 0) <= 0)
                return INPUT_WAITS;
        ssize_t got = read(in->fd, bytes, sizeof bytes);
        if (got < 0)
                return errno == EAGAIN || errno == EINTR ? INPUT_WAITS : INPUT_BREAKS;
        compact(in);
        text_add(&in->ahead, bytes, (size_t)got);
        if (got == 0) {
                in->ended = true;
                count_rest(in);
        }
        return INPUT_IS_HERE;
}

static void hand_out(struct inputs *in, struct input *out, size_t size, size_t delimiter_size)
{
        *out = (struct input){ .data = in->ahead.data + in->start, .size = size, .number = ++in->given };
        in->start += size + delimiter_size;
        in->looked = in->start;
        if (in->skipped) {
                out->long_size = in->skipped + size;
                out->data      = in->skipped_head;
                out->size      = sizeof in->skipped_head;
                in->skipped    = 0;
        }
}

/* Drops what is kept of a line that is too long, but for its head. */
static void skip(struct inputs *in)
{
        size_t size = waiting(in);
        if (in->skipped == 0)
                memcpy(in->skipped_head, in->ahead.data + in->start, sizeof in->skipped_head);
        in->skipped += size;
        in->start  = in->ahead.size;
        in->looked = in->ahead.size;
        compact(in);
}

/* An input that is complete in `ahead`. */
static bool cut(struct inputs *in, struct input *out)
{
        const char *from = in->ahead.data ? in->ahead.data + in->looked : NULL;
        const char *end  = from ? memchr(from, in->delimiter, in->ahead.size - in->looked) : NULL;
        if (end) {
                hand_out(in, out, (size_t)(end - in->ahead.data) - in->start, 1);
                return true;
        }
        in->looked = in->ahead.size;
        if (in->ended && (waiting(in) > 0 || in->skipped)) {
                hand_out(in, out, waiting(in), 0);
                return true;
        }
        if (waiting(in) > INPUT_BYTES_MAX)
                skip(in);
        return false;
}

static enum input_answer next_argument(struct inputs *in, struct input *out)
{
        const struct source_words *source = &in->settings->sources[0];
        if (in->given == source->count)
                return INPUT_ENDS;
        const char *word = source->words[in->given++];
        *out             = (struct input){ .data = word, .size = strlen(word), .number = in->given };
        return INPUT_IS_HERE;
}

enum input_answer inputs_next(struct inputs *in, struct input *out)
{
        if (in->fd < 0)
                return next_argument(in, out);
        while (!cut(in, out)) {
                if (in->ended)
                        return INPUT_ENDS;
                enum input_answer answer = fill(in);
                if (answer != INPUT_IS_HERE)
                        return answer;
        }
        return INPUT_IS_HERE;
}

bool inputs_want_ahead(const struct inputs *in)
{
        return in->fd >= 0 && !in->ended && waiting(in) < INPUT_AHEAD_MAX && !in->skipped;
}

void inputs_read_ahead(struct inputs *in)
{
        if (inputs_want_ahead(in))
                fill(in);
}
