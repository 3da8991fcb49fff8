/*
 * The bytes as amounts in both forms, and as a list of failures.  What people's form gives has a canonical
 * form that is read back to the same; what is canonical is written back to the same bytes.
 */
#include <string.h>

#include "amounts.h"
#include "fuzz.h"
#include "retry_on.h"
#include "sc_assert.h"

static void check(const struct sc_amount *amounts, uint32_t count)
{
        struct sc_amount back[SC_AMOUNTS_MAX];
        char             text[SC_AMOUNTS_TEXT + 1];
        uint32_t         back_count;
        const size_t     len = sc_amounts_write(amounts, count, text);
        if (len == SIZE_MAX)
                return;
        SC_ASSERT(sc_amounts_parse((struct sc_view){ text, len }, back, &back_count) == 0);
        SC_ASSERT(back_count == count);
        for (uint32_t i = 0; i < count; i++)
                SC_ASSERT(back[i].thousandths == amounts[i].thousandths && back[i].name.len == amounts[i].name.len);
}

static void as_canonical(struct sc_view text)
{
        struct sc_amount amounts[SC_AMOUNTS_MAX];
        char             again[SC_AMOUNTS_TEXT + 1];
        uint32_t         count;
        if (sc_amounts_parse(text, amounts, &count) != 0)
                return;
        SC_ASSERT(sc_amounts_write(amounts, count, again) == text.len);
        SC_ASSERT(text.len == 0 || memcmp(again, text.ptr, text.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
        struct sc_amount     amounts[SC_AMOUNTS_MAX];
        const struct sc_view text = { bytes, len };
        struct sc_view       wrong;
        uint32_t             count;
        const char          *why;
        if (sc_amounts_read(text, amounts, &count, &why) == 0)
                check(amounts, count);
        as_canonical(text);
        if (sc_retry_on_is_good(text, &wrong))
                (void)sc_retry_on_has(text, &(struct sc_outcome){ .reason = SC_REASON_TASK, .code = 7 });
        else
                SC_ASSERT(wrong.len <= len);
        return 0;
}
