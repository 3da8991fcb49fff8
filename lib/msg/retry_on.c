/* The list of failures that are worth a retry: is it one, and is an outcome on it. */
#include "retry_on.h"

#include <string.h>

enum word { NO_WORD, TIMEOUT, SIGNAL, LIMIT, NOT_STARTED };

struct item {
        enum word word;
        int64_t   least, most; /* NO_WORD */
};

static bool is_text(struct sc_view view, const char *text)
{
        return view.len == strlen(text) && memcmp(view.ptr, text, view.len) == 0;
}

static enum word word_of(struct sc_view part)
{
        if (is_text(part, "timeout"))
                return TIMEOUT;
        if (is_text(part, "signal"))
                return SIGNAL;
        if (is_text(part, "limit"))
                return LIMIT;
        return is_text(part, "not_started") ? NOT_STARTED : NO_WORD;
}

/* A number of 32 bits, perhaps negative: where it ends, or NULL. */
static const char *read_number(const char *at, const char *end, int64_t *out)
{
        const bool  negative = at < end && *at == '-';
        const char *from     = at += negative;
        int64_t     value    = 0;
        for (; at < end && *at >= '0' && *at <= '9' && value <= INT32_MAX; at++)
                value = value * 10 + (*at - '0');
        if (at == from || value > (int64_t)INT32_MAX + negative)
                return NULL;
        *out = negative ? -value : value;
        return at;
}

static bool read_item(struct sc_view part, struct item *out)
{
        const char *at = part.ptr, *end = at + part.len;
        out->word = word_of(part);
        if (out->word != NO_WORD)
                return true;
        at = read_number(at, end, &out->least);
        if (!at)
                return false;
        out->most = out->least;
        if (at < end && *at == '-')
                at = read_number(at + 1, end, &out->most);
        return at == end && out->least <= out->most;
}

/* Takes the first part and its comma; false: it was the last. */
static bool take_part(struct sc_view *text, struct sc_view *part)
{
        const char *at    = text->ptr;
        const char *comma = text->len > 0 ? memchr(at, ',', text->len) : NULL;
        *part             = (struct sc_view){ .ptr = at, .len = comma ? (size_t)(comma - at) : text->len };
        if (comma)
                *text = (struct sc_view){ .ptr = comma + 1, .len = text->len - part->len - 1 };
        return comma != NULL;
}

bool sc_retry_on_is_good(struct sc_view text, struct sc_view *wrong)
{
        struct sc_view part = text;
        struct item    item;
        bool           good = text.len <= SC_RETRY_ON_MAX;
        for (bool more = text.len > 0; more && good;) {
                more = take_part(&text, &part);
                good = read_item(part, &item);
        }
        if (!good && wrong)
                *wrong = part;
        return good;
}

static bool matches(const struct item *item, const struct sc_outcome *outcome)
{
        switch (item->word) {
        case TIMEOUT:
                return outcome->reason == SC_REASON_RUN_TIMEOUT;
        case LIMIT:
                return outcome->reason == SC_REASON_LIMIT;
        case NOT_STARTED:
                return outcome->reason == SC_REASON_NOT_STARTED;
        case SIGNAL:
                return outcome->reason == SC_REASON_TASK && outcome->how == SC_HOW_SIGNALLED;
        case NO_WORD:
                break;
        }
        return outcome->reason == SC_REASON_TASK && outcome->how != SC_HOW_SIGNALLED &&
               outcome->code >= item->least && outcome->code <= item->most;
}

bool sc_retry_on_has(struct sc_view text, const struct sc_outcome *outcome)
{
        struct sc_view part;
        struct item    item;
        if (text.len == 0)
                return true;
        for (bool more = true; more;) {
                more = take_part(&text, &part);
                if (read_item(part, &item) && matches(&item, outcome))
                        return true;
        }
        return false;
}
