/*
 * Identifiers as text: 32 hexadecimal digits, the high half first, written in lower case and read
 * in either.
 */
#include "sc_id.h"

static void format_half(uint64_t half, char *text)
{
        for (unsigned i = 0; i < 16; i++)
                text[i] = "0123456789abcdef"[(half >> (60 - 4 * i)) & 15];
}

void sc_id_format(struct sc_id id, char text[SC_ID_TEXT])
{
        format_half(id.hi, text);
        format_half(id.lo, text + 16);
        text[32] = '\0';
}

static int digit_value(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        if (c >= 'A' && c <= 'F')
                return c - 'A' + 10;
        return -1;
}

/* Stops at the first character that is no digit, so it never reads past the end of the text. */
static bool parse_half(const char *text, uint64_t *out)
{
        uint64_t half = 0;
        for (unsigned i = 0; i < 16; i++) {
                int value = digit_value(text[i]);
                if (value < 0)
                        return false;
                half = half << 4 | (uint64_t)value;
        }
        *out = half;
        return true;
}

bool sc_id_parse(const char *text, struct sc_id *out)
{
        struct sc_id id;
        if (!parse_half(text, &id.hi) || !parse_half(text + 16, &id.lo) || text[32] != '\0')
                return false;
        *out = id;
        return true;
}
