/*
 * option: walks the command line by a table.  Numbers are read by hand: no locale, no sign, no spaces,
 * nothing after the last digit but a unit.
 */
#include "option.h"

#include <inttypes.h>
#include <scaler.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

#define HELP_COLUMN 30

/* One walk over argv. */
struct walk {
        const struct program *program;
        int                   argc;
        char *const          *argv;
        int                   at;
        struct option_list   *words;
        int                   code; /* PROGRAM_GOES_ON, or the walk is over */
};

int program_refuse(const struct program *p, const char *format, ...)
{
        struct text line = { 0 };
        text_print(&line, "%s: ", p->name);
        va_list args;
        va_start(args, format);
        text_print_va(&line, format, args);
        va_end(args);
        text_add_char(&line, '\n');
        fputs(line.data, stderr);
        text_free(&line);
        return p->usage_exit;
}

void option_list_add(struct option_list *list, const char *item)
{
        list->items                = memory_grow(list->items, (list->count + 1) * sizeof *list->items);
        list->items[list->count++] = item;
}

void option_list_free(struct option_list *list)
{
        free(list->items);
        *list = (struct option_list){ 0 };
}

/* ---- numbers ---- */

/* Reads digits; how many, or 0 on overflow too. */
static size_t read_digits(const char *text, int64_t *out)
{
        int64_t value = 0;
        size_t  count = 0;
        for (; text[count] >= '0' && text[count] <= '9'; count++) {
                int digit = text[count] - '0';
                if (value > (INT64_MAX - digit) / 10)
                        return 0;
                value = value * 10 + digit;
        }
        *out = value;
        return count;
}

bool option_read_count(const char *text, int64_t *out)
{
        int64_t value  = 0;
        size_t  digits = read_digits(text, &value);
        if (digits == 0 || text[digits] != '\0')
                return false;
        *out = value;
        return true;
}

bool option_read_bytes(const char *text, int64_t *out)
{
        static const char units[] = "KMGT";
        int64_t           value   = 0;
        size_t            digits  = read_digits(text, &value);
        if (digits == 0)
                return false;
        const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
        if (text[digits] && (!unit || text[digits + 1]))
                return false;
        int64_t scale = unit ? INT64_C(1) << (10 * (unit - units + 1)) : 1;
        if (value > INT64_MAX / scale)
                return false;
        *out = value * scale;
        return true;
}

static int64_t time_unit_ms(const char *unit)
{
        static const struct {
                const char *name;
                int64_t     ms;
        } units[] = { { "", 1000 }, { "s", 1000 }, { "ms", 1 }, { "m", 60000 }, { "h", 3600000 } };
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
                if (strcmp(unit, units[i].name) == 0)
                        return units[i].ms;
        return 0;
}

bool option_read_time(const char *text, int64_t *ms_out)
{
        int64_t whole  = 0;
        size_t  digits = read_digits(text, &whole);
        if (digits == 0)
                return false;
        const char *rest     = text + digits;
        int64_t     fraction = 0, parts = 1;
        if (*rest == '.') {
                size_t places = read_digits(rest + 1, &fraction);
                if (places == 0 || places > 6)
                        return false;
                for (size_t i = 0; i < places; i++)
                        parts *= 10;
                rest += 1 + places;
        }
        int64_t unit = time_unit_ms(rest);
        if (unit == 0 || whole > INT64_MAX / unit - 1)
                return false;
        *ms_out = whole * unit + fraction * unit / parts;
        return true;
}

static bool read_level(const char *text, int32_t *out)
{
        static const char *const names[] = { "none", "error", "warn", "info", "debug" };
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
                if (strcmp(text, names[i]) == 0) {
                        *out = SCALER_LOG_NONE + (int32_t)i;
                        return true;
                }
        }
        return false;
}

/* ---- values ---- */

static void refuse_number(struct walk *w, const struct option_row *row, const char *text)
{
        static const char *const what[] = {
                [OPTION_COUNT] = "a whole number",
                [OPTION_BYTES] = "a size (bytes, or with K M G T)",
                [OPTION_TIME]  = "a time (seconds, or with ms s m h)",
        };
        int64_t     unit  = row->kind == OPTION_TIME ? 1000 : 1;
        const char *words = row->words & OPTION_WORD_NONE ? " or none" : row->words ? " or unlimited" : "";
        struct text min   = { 0 };
        if (row->min % unit)
                text_print(&min, "0.%03d", (int)(row->min % unit));
        else
                text_print(&min, "%" PRId64, row->min / unit);
        w->code = program_refuse(w->program, "--%s: '%s' is not %s from %s to %" PRId64 "%s", row->name, text,
                                 what[row->kind], min.data, row->max / unit, words);
        text_free(&min);
}

static bool read_word(const struct option_row *row, const char *text, int64_t *out)
{
        if ((row->words & OPTION_WORD_NONE) && strcmp(text, "none") == 0)
                *out = SCALER_NONE;
        else if ((row->words & OPTION_WORD_UNLIMITED) && strcmp(text, "unlimited") == 0)
                *out = SCALER_UNLIMITED;
        else
                return false;
        return true;
}

static void set_number(struct walk *w, const struct option_row *row, const char *text)
{
        int64_t value = 0;
        if (read_word(row, text, row->target))
                return;
        bool fine = row->kind == OPTION_BYTES  ? option_read_bytes(text, &value)
                    : row->kind == OPTION_TIME ? option_read_time(text, &value)
                                               : option_read_count(text, &value);
        if (!fine || value < row->min || value > row->max)
                refuse_number(w, row, text);
        else
                *(int64_t *)row->target = value;
}

static void set_value(struct walk *w, const struct option_row *row, const char *text)
{
        switch (row->kind) {
        case OPTION_FLAG:
                *(bool *)row->target = true;
                break;
        case OPTION_TEXT:
                *(const char **)row->target = text;
                break;
        case OPTION_LIST:
                option_list_add(row->target, text);
                break;
        case OPTION_LEVEL:
                if (!read_level(text, row->target))
                        w->code = program_refuse(w->program, "--%s: '%s' is not one of none error warn info debug",
                                                 row->name, text);
                break;
        case OPTION_COUNT:
        case OPTION_BYTES:
        case OPTION_TIME:
                set_number(w, row, text);
                break;
        }
}

/* ---- help ---- */

/* The program's own rows, then the shared ones, then NULL. */
static const struct option_row *row_at(const struct program *p, size_t at)
{
        if (at < p->row_count)
                return &p->rows[at];
        return at - p->row_count < p->shared_count ? &p->shared[at - p->row_count] : NULL;
}

static void print_row(const struct option_row *row)
{
        struct text left = { 0 };
        if (row->letter)
                text_print(&left, "  -%c, --%s", row->letter, row->name);
        else
                text_print(&left, "      --%s", row->name);
        if (row->kind != OPTION_FLAG)
                text_print(&left, " %s", row->value);
        printf("%-*s %s\n", HELP_COLUMN, left.data, row->help);
        text_free(&left);
}

static void print_help(const struct program *p)
{
        printf("usage: %s %s\n\n%s\n\n", p->name, p->usage, p->about);
        const struct option_row *row;
        for (size_t i = 0; (row = row_at(p, i)) != NULL; i++)
                print_row(row);
        print_row(&(struct option_row){ .name = "help", .letter = 'h', .help = "print this and exit" });
        print_row(&(struct option_row){ .name = "version", .letter = 'V', .help = "print the version and exit" });
        if (p->after)
                printf("\n%s\n", p->after);
}

/* ---- the walk ---- */

static const struct option_row *find_name(const struct program *p, const char *name, size_t size)
{
        const struct option_row *row;
        for (size_t i = 0; (row = row_at(p, i)) != NULL; i++)
                if (strlen(row->name) == size && memcmp(row->name, name, size) == 0)
                        return row;
        return NULL;
}

static const struct option_row *find_letter(const struct program *p, char letter)
{
        const struct option_row *row;
        for (size_t i = 0; (row = row_at(p, i)) != NULL; i++)
                if (row->letter && row->letter == letter)
                        return row;
        return NULL;
}

static void end_answer(struct walk *w)
{
        w->code = 0;
        if (fflush(stdout) == 0 && !ferror(stdout))
                return;
        program_refuse(w->program, "stdout cannot be written");
        w->code = 1;
}

static void answer_help(struct walk *w)
{
        print_help(w->program);
        end_answer(w);
}

static void answer_version(struct walk *w)
{
        printf("%s %s\n", w->program->name, scaler_version_string());
        end_answer(w);
}

/* Takes the value from the same word or from the next one. */
static void take_value(struct walk *w, const struct option_row *row, const char *here)
{
        if (!here && w->at >= w->argc) {
                w->code = program_refuse(w->program, "--%s: it needs a value (%s)", row->name, row->value);
                return;
        }
        set_value(w, row, here ? here : w->argv[w->at++]);
}

static void take_long(struct walk *w, const char *name)
{
        const char              *equals = strchr(name, '=');
        size_t                   size   = equals ? (size_t)(equals - name) : strlen(name);
        const struct option_row *row    = find_name(w->program, name, size);
        if (!row && strcmp(name, "help") == 0)
                answer_help(w);
        else if (!row && strcmp(name, "version") == 0)
                answer_version(w);
        else if (!row)
                w->code = program_refuse(w->program, "unknown option '--%.*s' (see --help)", (int)size, name);
        else if (row->kind == OPTION_FLAG && equals)
                w->code = program_refuse(w->program, "--%s: it takes no value", row->name);
        else if (row->kind == OPTION_FLAG)
                set_value(w, row, NULL);
        else
                take_value(w, row, equals ? equals + 1 : NULL);
}

static void take_letters(struct walk *w, const char *letters)
{
        for (; *letters && w->code == PROGRAM_GOES_ON; letters++) {
                const struct option_row *row = find_letter(w->program, *letters);
                if (!row && *letters == 'h') {
                        answer_help(w);
                } else if (!row && *letters == 'V') {
                        answer_version(w);
                } else if (!row) {
                        w->code = program_refuse(w->program, "unknown option '-%c' (see --help)", *letters);
                } else if (row->kind == OPTION_FLAG) {
                        set_value(w, row, NULL);
                } else {
                        take_value(w, row, letters[1] ? letters + 1 : NULL);
                        return;
                }
        }
}

static void take_rest(struct walk *w)
{
        while (w->at < w->argc)
                option_list_add(w->words, w->argv[w->at++]);
}

int program_parse(const struct program *p, int argc, char *const *argv, struct option_list *words)
{
        struct walk w = { .program = p, .argc = argc, .argv = argv, .at = 1, .words = words, .code = PROGRAM_GOES_ON };
        while (w.at < argc && w.code == PROGRAM_GOES_ON) {
                const char *word = argv[w.at];
                if (strcmp(word, "--") == 0) {
                        w.at++;
                        take_rest(&w);
                } else if (word[0] == '-' && word[1] == '-') {
                        w.at++;
                        take_long(&w, word + 2);
                } else if (word[0] == '-' && word[1]) {
                        w.at++;
                        take_letters(&w, word + 1);
                } else if (p->first_word_ends) {
                        take_rest(&w);
                } else {
                        w.at++;
                        option_list_add(words, word);
                }
        }
        return w.code;
}
