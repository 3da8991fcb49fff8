/*
 * Pieces of sentences: names in quotes, counts with their nouns, spans of time, amounts as people write
 * them.  What does not fit into a text is left out.
 */
#include "sched_explain.h"

#include <string.h>

#include "sc_assert.h"

enum { NAME_SHOWN = 40, NEEDS_SHOWN = 120 };

struct sc_view sc_sched_say(struct sched_text *room, const void *bytes, size_t len)
{
        SC_ASSERT(room->max - room->len >= len);
        char *at = room->at + room->len;
        if (len > 0)
                memcpy(at, bytes, len);
        room->len += len;
        return (struct sc_view){ at, len };
}

void sc_sched_text_view(struct sched_text *text, const char *name, size_t len)
{
        size_t shown = len <= NAME_SHOWN ? len : NAME_SHOWN;
        while (shown < len && shown > 0 && ((unsigned char)name[shown] & 0xc0) == 0x80)
                shown--; /* not in the middle of a character */
        sc_sched_text(text, "'");
        sc_sched_text_name(text, name, shown);
        sc_sched_text(text, shown < len ? "...'" : "'");
}

void sc_sched_text_seconds(struct sched_text *text, sc_ns span)
{
        const uint64_t tenths = span > 0 ? (uint64_t)span / (uint64_t)(SC_S / 10) : 0;
        sc_sched_text_number(text, tenths / 10);
        sc_sched_text(text, ".");
        sc_sched_text_number(text, tenths % 10);
        sc_sched_text(text, " s");
}

void sc_sched_text_count(struct sched_text *text, uint64_t count, const char *noun)
{
        sc_sched_text_number(text, count);
        sc_sched_text(text, " ");
        sc_sched_text(text, noun);
        if (count != 1)
                sc_sched_text(text, "s");
}

/* Whole mebibytes and more with their suffix, as such numbers are mostly bytes. */
static void whole(struct sched_text *text, uint64_t number)
{
        static const char *const suffixes[] = { "", "K", "M", "G", "T", "P" };
        size_t                   times      = 0;
        while (times < 5 && number > 0 && number % 1024 == 0 && (times > 0 || number >= 1 << 20)) {
                number /= 1024;
                times++;
        }
        sc_sched_text_number(text, number);
        sc_sched_text(text, suffixes[times]);
}

void sc_sched_text_amount(struct sched_text *text, uint64_t thousandths)
{
        uint64_t rest = thousandths % 1000;
        if (rest == 0) {
                whole(text, thousandths / 1000);
                return;
        }
        sc_sched_text_number(text, thousandths / 1000);
        sc_sched_text(text, ".");
        for (uint64_t unit = 100; rest > 0; unit /= 10) {
                sc_sched_text_number(text, rest / unit);
                rest %= unit;
        }
}

void sc_sched_text_name_of(struct sched_text *text, const struct sched_amount *amount)
{
        const char *name = (const char *)amount->name;
        const char *end  = memchr(name, 0, sizeof amount->name);
        sc_sched_text_name(text, name, end ? (size_t)(end - name) : sizeof amount->name);
}

void sc_sched_text_need(struct sched_text *text, const struct sched_amount *amount)
{
        sc_sched_text_name_of(text, amount);
        if (amount->thousandths == 0)
                return;
        sc_sched_text(text, "=");
        sc_sched_text_amount(text, amount->thousandths);
}

static bool goes_without_saying(const struct sched_amount *amount)
{
        static const char cpu[sizeof amount->name] = "cpu";
        return amount->thousandths == 1000 && memcmp(amount->name, cpu, sizeof cpu) == 0;
}

void sc_sched_text_needs(struct sched_text *text, const struct sched_amount *amount, uint32_t count)
{
        const size_t from = text->len;
        bool         any  = false;
        for (uint32_t i = 0; i < count; i++) {
                if (goes_without_saying(&amount[i]) && (any || count > 1))
                        continue;
                if (any)
                        sc_sched_text(text, ",");
                if (text->len - from > NEEDS_SHOWN) {
                        sc_sched_text(text, "...");
                        return;
                }
                sc_sched_text_need(text, &amount[i]);
                any = true;
        }
}

uint32_t sc_sched_offer_at(const struct sched_crew *crew, const struct sched_amount *need)
{
        uint32_t at = 0;
        while (at < crew->offer_count && memcmp(crew->offers[at].name, need->name, sizeof need->name) != 0)
                at++;
        return at;
}
