/*
 * Where a failed assertion ends.  The line is put together in a local array and written with one
 * call, because the heap and stdio may be what is broken.
 */
#include "sc_assert.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

struct line {
        char   text[512];
        size_t len;
};

static void add(struct line *line, const char *text)
{
        while (*text && line->len < sizeof line->text - 1)
                line->text[line->len++] = *text++;
}

static void add_number(struct line *line, int number)
{
        char  digits[16];
        char *at = digits + sizeof digits;
        *--at    = '\0';
        do {
                *--at = (char)('0' + number % 10);
                number /= 10;
        } while (number > 0);
        add(line, at);
}

_Noreturn void sc_assert_failed(const char *file, int line, const char *what)
{
        struct line out = { .len = 0 };
        add(&out, file);
        add(&out, ":");
        add_number(&out, line);
        add(&out, ": ");
        add(&out, what);
        out.text[out.len++] = '\n';

        ssize_t written = write(STDERR_FILENO, out.text, out.len);
        (void)written; /* there is nobody left to tell */
        abort();
}
