/*
 * template: placeholders mean what they mean to GNU parallel.
 */
#include "template.h"

#include <inttypes.h>
#include <stdlib.h>

#define POSITION_DIGITS 6

static struct span whole(struct span s)
{
        return s;
}

static struct span base_name(struct span s)
{
        for (size_t i = s.size; i > 0; i--)
                if (s.data[i - 1] == '/')
                        return (struct span){ s.data + i, s.size - i };
        return s;
}

static struct span without_extension(struct span s)
{
        for (size_t i = s.size; i > 0 && s.data[i - 1] != '/'; i--)
                if (s.data[i - 1] == '.')
                        return (struct span){ s.data, i - 1 };
        return s;
}

static struct span base_without_extension(struct span s)
{
        return without_extension(base_name(s));
}

static size_t without_slashes(struct span s, size_t size)
{
        while (size > 0 && s.data[size - 1] == '/')
                size--;
        return size;
}

/* As dirname(1): trailing slashes do not count. */
static struct span directory(struct span s)
{
        size_t size = without_slashes(s, s.size);
        if (size == 0)
                return s.size ? (struct span){ "/", 1 } : (struct span){ ".", 1 };
        while (size > 0 && s.data[size - 1] != '/')
                size--;
        if (size == 0)
                return (struct span){ ".", 1 };
        size = without_slashes(s, size);
        return size ? (struct span){ s.data, size } : (struct span){ "/", 1 };
}

/* What stands between the braces: a position, perhaps, and a part; 0 is all values. */
struct placeholder {
        bool number; /* {#} */
        long position;
        struct span (*part)(struct span value);
        size_t size; /* of it all; 0: there is none */
};

static const struct {
        const char *name;
        struct span (*part)(struct span value);
} parts[] = {
        { "}", whole }, { ".}", without_extension }, { "/}", base_name }, { "//}", directory },
        { "/.}", base_without_extension },
};

/* Reads digits after an optional minus; 0 and no progress when there are none, or more than a position has. */
static long read_position(const char **at)
{
        const char *digits   = **at == '-' ? *at + 1 : *at;
        size_t      count    = strspn(digits, "0123456789");
        long        position = 0;
        if (count == 0 || count > POSITION_DIGITS)
                return 0;
        for (size_t i = 0; i < count; i++)
                position = position * 10 + (digits[i] - '0');
        if (position == 0)
                return 0;
        position = **at == '-' ? -position : position;
        *at      = digits + count;
        return position;
}

static struct placeholder read_placeholder(const char *word)
{
        if (strncmp(word, "{#}", 3) == 0)
                return (struct placeholder){ .number = true, .size = 3 };
        const char        *at    = word + 1;
        struct placeholder found = { .position = read_position(&at) };
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
                if (strncmp(at, parts[i].name, strlen(parts[i].name)) == 0) {
                        found.part = parts[i].part;
                        found.size = (size_t)(at - word) + strlen(parts[i].name);
                        break;
                }
        }
        return found;
}

static void add_part(struct text *out, const struct placeholder *p, struct span value)
{
        struct span part = p->part(value);
        text_add(out, part.data, part.size);
}

/* A position that there is no value for is empty. */
static void add_placeholder(struct text *out, const struct placeholder *p, const struct values *v)
{
        long count = (long)v->count;
        long index = p->position > 0 ? p->position - 1 : count + p->position;
        if (p->number) {
                text_print(out, "%" PRIu64, v->number);
        } else if (p->position != 0) {
                if (index >= 0 && index < count)
                        add_part(out, p, v->items[index]);
        } else {
                for (long i = 0; i < count; i++) {
                        if (i > 0)
                                text_add_char(out, ' ');
                        add_part(out, p, v->items[i]);
                }
        }
}

bool template_add(struct text *out, const char *word, const struct values *v)
{
        bool replaced = false;
        while (*word) {
                size_t plain = strcspn(word, "{");
                text_add(out, word, plain);
                word += plain;
                if (*word == '\0')
                        break;
                struct placeholder found = read_placeholder(word);
                if (found.size > 0)
                        add_placeholder(out, &found, v);
                else
                        text_add_char(out, *word);
                replaced |= found.size > 0;
                word += found.size ? found.size : 1;
        }
        return replaced;
}

static void values_cut(struct values *v, const struct task *task)
{
        const char *at = task->values;
        if (task->value_count > v->room) {
                v->room  = task->value_count;
                v->items = memory_grow(v->items, v->room * sizeof *v->items);
        }
        v->count  = task->value_count;
        v->number = task->input_number;
        for (size_t i = 0; i < v->count; i++) {
                v->items[i] = (struct span){ at, strlen(at) };
                at += v->items[i].size + 1;
        }
}

void expansion_fini(struct expansion *e)
{
        text_free(&e->bytes);
        free(e->offsets);
        free(e->argv);
        free(e->values.items);
}

static void begin_word(struct expansion *e)
{
        if (e->count + 1 >= e->room) {
                e->room    = e->room ? e->room * 2 : 16;
                e->offsets = memory_grow(e->offsets, e->room * sizeof *e->offsets);
                e->argv    = memory_grow(e->argv, e->room * sizeof *e->argv);
        }
        e->offsets[e->count++] = e->bytes.size;
}

static void add_words_of_values(struct expansion *e, const struct placeholder *p)
{
        for (size_t i = 0; i < e->values.count; i++) {
                begin_word(e);
                add_part(&e->bytes, p, e->values.items[i]);
                text_add_char(&e->bytes, '\0');
        }
}

/* A word that is nothing but all the values is as many words. */
static bool add_word(struct expansion *e, const char *word)
{
        bool               replaced = true;
        struct placeholder alone    = { .size = 0 };
        if (*word == '{')
                alone = read_placeholder(word);
        if (alone.size > 0 && !word[alone.size] && alone.part && alone.position == 0) {
                add_words_of_values(e, &alone);
        } else {
                begin_word(e);
                replaced = template_add(&e->bytes, word, &e->values);
                text_add_char(&e->bytes, '\0');
        }
        return replaced;
}

static bool add_words(struct expansion *e, const struct step *step, size_t first)
{
        bool replaced = false;
        for (size_t i = first; i < step->count; i++)
                replaced |= add_word(e, step->command[i]);
        return replaced;
}

static struct step step_of(const struct settings *s, const struct task *task)
{
        return task->step > 0 ? s->steps[task->step - 1] : (struct step){ s->command, s->command_count };
}

static void conclude(struct expansion *e)
{
        for (size_t i = 0; i < e->count; i++)
                e->argv[i] = e->bytes.data + e->offsets[i];
        e->argv[e->count] = NULL;
}

void expansion_make(struct expansion *e, const struct settings *s, const struct task *task)
{
        static const struct placeholder all = { .part = whole };
        const struct step               step = step_of(s, task);
        e->count                            = 0;
        e->shell                            = s->shell || task->script;
        text_clear(&e->bytes);
        values_cut(&e->values, task);
        if (task->script) {
                add_words_of_values(e, &all);
        } else if (s->shell) {
                begin_word(e);
                text_add(&e->bytes, step.command[0], strlen(step.command[0]) + 1);
                add_words_of_values(e, &all);
                add_words(e, &step, 1);
        } else if (!add_words(e, &step, 0) && !s->no_append) {
                add_words_of_values(e, &all);
        }
        if (e->count == 0) {
                begin_word(e);
                text_add_char(&e->bytes, '\0');
        }
        conclude(e);
}

void expansion_make_node(struct expansion *e, const struct graph *g, const struct node *node)
{
        const char *word = graph_text(g, node->command);
        e->count         = 0;
        e->shell         = node->script;
        text_clear(&e->bytes);
        for (uint32_t i = 0; i < node->command_count; i++, word += strlen(word) + 1) {
                begin_word(e);
                text_add(&e->bytes, word, strlen(word) + 1);
        }
        conclude(e);
}

void template_add_quoted(struct text *out, const char *word)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^";
        if (*word && word[strspn(word, plain)] == '\0') {
                text_add_string(out, word);
                return;
        }
        text_add_char(out, '\'');
        for (; *word; word++) {
                if (*word == '\'')
                        text_add_string(out, "'\"'\"'");
                else
                        text_add_char(out, *word);
        }
        text_add_char(out, '\'');
}

void expansion_show(const struct expansion *e, bool script, struct text *out)
{
        if (script) {
                text_add_string(out, e->argv[0]);
                return;
        }
        if (e->shell)
                text_add_string(out, "/bin/sh -c ");
        for (size_t i = 0; i < e->count; i++) {
                if (i > 0)
                        text_add_char(out, ' ');
                template_add_quoted(out, e->argv[i]);
                if (e->shell && i == 0)
                        text_add_string(out, " sh");
        }
}
