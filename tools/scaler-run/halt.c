/*
 * halt: reads the condition and compares.
 */
#include "halt.h"

#include <string.h>

#include "option.h"

static const char *const whens[] = { [HALT_SOON] = "soon,", [HALT_NOW] = "now," };
static const char *const whats[] = { [HALT_FAIL] = "fail=", [HALT_SUCCESS] = "success=", [HALT_DONE] = "done=" };

/* Which of the words text begins with, and the rest; -1: none. */
static int take_word(const char **text, const char *const *words, int count)
{
        for (int i = 0; i < count; i++) {
                if (words[i] && strncmp(*text, words[i], strlen(words[i])) == 0) {
                        *text += strlen(words[i]);
                        return i;
                }
        }
        return -1;
}

static bool read_count(const char *text, struct halt *h)
{
        char   digits[16];
        size_t size = strlen(text);
        if (size == 0 || size >= sizeof digits)
                return false;
        h->percent = text[size - 1] == '%';
        memcpy(digits, text, size + 1);
        if (h->percent)
                digits[size - 1] = '\0';
        return option_read_count(digits, &h->count) && h->count >= 1 &&
               h->count <= (h->percent ? 100 : HALT_COUNT_MAX);
}

bool halt_read(const char *text, struct halt *out)
{
        struct halt h = { .when = HALT_NEVER };
        if (strcmp(text, "never") == 0) {
                *out = h;
                return true;
        }
        int when = take_word(&text, whens, sizeof whens / sizeof whens[0]);
        int what = when < 0 ? -1 : take_word(&text, whats, sizeof whats / sizeof whats[0]);
        if (what < 0 || !read_count(text, &h))
                return false;
        h.when = (enum halt_when)when;
        h.what = (enum halt_what)what;
        *out   = h;
        return true;
}

bool halt_is_reached(const struct halt *h, uint64_t succeeded, uint64_t failed, uint64_t total)
{
        uint64_t count = h->what == HALT_FAIL ? failed : h->what == HALT_SUCCESS ? succeeded : succeeded + failed;
        if (h->when == HALT_NEVER)
                return false;
        if (!h->percent)
                return count >= (uint64_t)h->count;
        return total > 0 && count > 0 && (double)count * 100 >= (double)total * (double)h->count;
}
