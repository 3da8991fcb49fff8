/*
 * Lists of amounts in their two forms.  What people write is taken with blanks around its parts and in any
 * order; what peers write must be the canonical form to the byte, so that equal lists are equal texts.
 */
#include "amounts.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_status.h"

#define MOST_THOUSANDTHS (UINT64_C(1) << 53)

/* ---- parts of a list -----------------------------------------------------------------------------*/

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_of_name(char c)
{
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '.' || c == '-';
}

static bool is_name(struct sc_view name)
{
        const char *at = name.ptr;
        if (name.len < 1 || name.len > SC_AMOUNT_NAME_MAX || is_digit(at[0]))
                return false;
        for (size_t i = 0; i < name.len; i++)
                if (!is_of_name(at[i]))
                        return false;
        return true;
}

static int compare(struct sc_view a, struct sc_view b)
{
        const size_t len   = a.len < b.len ? a.len : b.len;
        const int    order = memcmp(a.ptr, b.ptr, len);
        return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static struct sc_view part(const char *from, const char *to)
{
        return (struct sc_view){ .ptr = from, .len = (size_t)(to - from) };
}

/* Where the first `c` is, or the end. */
static const char *find(const char *at, const char *end, char c)
{
        const char *found = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
        return found ? found : end;
}

static struct sc_view without_blanks(struct sc_view text)
{
        const char *at = text.ptr, *end = at + text.len;
        while (at < end && *at == ' ')
                at++;
        while (at < end && end[-1] == ' ')
                end--;
        return part(at, end);
}

/* ---- people's form ------------------------------------------------------------------------------ */

/* The power of two of K, M, G, T and P; 0: none of them. */
static unsigned suffix_bits(char c)
{
        static const char suffixes[] = { 'K', 'M', 'G', 'T', 'P' };
        const char       *found      = memchr(suffixes, c, sizeof suffixes);
        return found ? 10 * (unsigned)(found - suffixes + 1) : 0;
}

/* Digits as a number; what is too large stays so, whatever it is. */
static const char *read_digits(const char *at, const char *end, uint64_t *value)
{
        for (*value = 0; at < end && is_digit(*at); at++)
                *value = *value <= MOST_THOUSANDTHS ? *value * 10 + (uint64_t)(*at - '0') : *value;
        return at;
}

/* Up to three digits behind a point, as thousandths. */
static const char *read_fraction(const char *at, const char *end, uint64_t *thousandths)
{
        uint64_t scale = 100;
        *thousandths   = 0;
        for (; at < end && is_digit(*at) && scale > 0; at++, scale /= 10)
                *thousandths += scale * (uint64_t)(*at - '0');
        return at;
}

static const char *read_amount(struct sc_view text, uint64_t *out)
{
        static const char not_a_number[] = "the amount is not a number like 8, 0.5 or 64G";
        static const char too_large[]    = "the amount is too large";
        const char       *from = text.ptr, *end = from + text.len;
        uint64_t          whole, fraction = 0;
        const char       *at = read_digits(from, end, &whole);
        if (at == from)
                return not_a_number;
        if (at < end && *at == '.') {
                const char *point = at++;
                at                = read_fraction(at, end, &fraction);
                if (at == point + 1)
                        return not_a_number;
                if (at < end && is_digit(*at))
                        return "the amount has more than three digits behind its point";
        }
        const unsigned bits = at < end ? suffix_bits(*at) : 0;
        at += bits > 0;
        if (at != end)
                return not_a_number;
        if (whole > MOST_THOUSANDTHS / 1000 || whole * 1000 + fraction > MOST_THOUSANDTHS >> bits)
                return too_large;
        *out = (whole * 1000 + fraction) << bits;
        return *out > 0 ? NULL : "the amount is zero";
}

static const char *read_item(struct sc_view item, struct sc_amount *out)
{
        const char *from = item.ptr, *end = from + item.len;
        const char *equals = find(from, end, '=');
        *out               = (struct sc_amount){ .name = without_blanks(part(from, equals)) };
        if (!is_name(out->name))
                return "a name has 1 to 31 letters, digits, _, . and -, and does not start with a digit";
        return equals < end ? read_amount(without_blanks(part(equals + 1, end)), &out->thousandths) : NULL;
}

/* Puts it where it belongs among `count` sorted ones, or says why it cannot be there. */
static const char *insert(struct sc_amount *sorted, uint32_t count, const struct sc_amount *amount)
{
        uint32_t at = count;
        while (at > 0 && compare(sorted[at - 1].name, amount->name) > 0)
                at--;
        if (at > 0 && compare(sorted[at - 1].name, amount->name) == 0)
                return "a name comes twice";
        memmove(&sorted[at + 1], &sorted[at], (count - at) * sizeof *sorted);
        sorted[at] = *amount;
        return NULL;
}

int sc_amounts_read(struct sc_view text, struct sc_amount out[SC_AMOUNTS_MAX], uint32_t *count, const char **why)
{
        struct sc_amount sorted[SC_AMOUNTS_MAX], amount;
        uint32_t         n     = 0;
        const char      *wrong = NULL, *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
        for (bool more = text.len > 0; more && !wrong; n++) {
                const char *comma = find(at, end, ',');
                wrong             = read_item(part(at, comma), &amount);
                if (!wrong && n == SC_AMOUNTS_MAX)
                        wrong = "there are more than 32 names";
                if (!wrong)
                        wrong = insert(sorted, n, &amount);
                more = comma < end;
                at   = comma + more;
        }
        if (wrong) {
                *why = wrong;
                return SC_E_INVALID;
        }
        if (n > 0)
                memcpy(out, sorted, n * sizeof *out);
        *count = n;
        return 0;
}

/* ---- the canonical form ------------------------------------------------------------------------- */

static size_t number_length(uint64_t number)
{
        size_t len = 1;
        while (number >= 10) {
                number /= 10;
                len++;
        }
        return len;
}

static char *write_number(char *at, uint64_t number)
{
        char *end = at + number_length(number);
        for (char *digit = end; digit > at; number /= 10)
                *--digit = (char)('0' + number % 10);
        return end;
}

static size_t item_length(const struct sc_amount *amount)
{
        return amount->name.len + (amount->thousandths > 0 ? 1 + number_length(amount->thousandths) : 0);
}

static size_t list_length(const struct sc_amount *amounts, uint32_t count)
{
        size_t len = count > 0 ? count - 1 : 0;
        for (uint32_t i = 0; i < count; i++)
                len += item_length(&amounts[i]);
        return len;
}

size_t sc_amounts_write(const struct sc_amount *amounts, uint32_t count, char text[SC_AMOUNTS_TEXT + 1])
{
        SC_ASSERT(count <= SC_AMOUNTS_MAX);
        const size_t len = list_length(amounts, count);
        if (len > SC_AMOUNTS_TEXT)
                return SIZE_MAX;
        char *at = text;
        for (uint32_t i = 0; i < count; i++) {
                SC_ASSERT(i == 0 || compare(amounts[i - 1].name, amounts[i].name) < 0);
                SC_ASSERT(amounts[i].thousandths <= MOST_THOUSANDTHS);
                if (i > 0)
                        *at++ = ',';
                memcpy(at, amounts[i].name.ptr, amounts[i].name.len);
                at += amounts[i].name.len;
                if (amounts[i].thousandths == 0)
                        continue;
                *at++ = '=';
                at    = write_number(at, amounts[i].thousandths);
        }
        *at = '\0';
        SC_ASSERT((size_t)(at - text) == len);
        return len;
}

/* Digits alone, the first of which is not 0. */
static bool parse_number(struct sc_view text, uint64_t *out)
{
        const char *from = text.ptr, *end = from + text.len;
        return text.len > 0 && *from != '0' && read_digits(from, end, out) == end && *out <= MOST_THOUSANDTHS;
}

static bool parse_item(struct sc_view item, struct sc_amount *out)
{
        const char *from = item.ptr, *end = from + item.len;
        const char *equals = find(from, end, '=');
        *out               = (struct sc_amount){ .name = part(from, equals) };
        return is_name(out->name) && (equals == end || parse_number(part(equals + 1, end), &out->thousandths));
}

int sc_amounts_parse(struct sc_view text, struct sc_amount out[SC_AMOUNTS_MAX], uint32_t *count)
{
        const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
        uint32_t    n = 0;
        if (text.len > SC_AMOUNTS_TEXT)
                return SC_E_PROTOCOL;
        for (bool more = text.len > 0; more; n++) {
                const char *comma = find(at, end, ',');
                if (n == SC_AMOUNTS_MAX || !parse_item(part(at, comma), &out[n]) ||
                    (n > 0 && compare(out[n - 1].name, out[n].name) >= 0))
                        return SC_E_PROTOCOL;
                more = comma < end;
                at   = comma + more;
        }
        *count = n;
        return 0;
}
