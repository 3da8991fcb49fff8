/*
 * template: placeholders mean what they mean to GNU parallel.
 */
#include "template.h"

#include <inttypes.h>
#include <stdlib.h>

struct span {
        const char *data;
        size_t      size;
};

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

static const struct placeholder {
        const char *name;
        struct span (*part)(struct span input);
} placeholders[] = {
        { "{}", whole },       { "{.}", without_extension },       { "{/}", base_name },
        { "{//}", directory }, { "{/.}", base_without_extension },
};

static const struct placeholder *find_placeholder(const char *at)
{
        for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; i++)
                if (strncmp(at, placeholders[i].name, strlen(placeholders[i].name)) == 0)
                        return &placeholders[i];
        return NULL;
}

/* Adds what stands at word for the placeholder there; its length, or 0 when there is none. */
static size_t add_placeholder(struct text *out, const char *at, const struct input *in)
{
        if (strncmp(at, "{#}", 3) == 0) {
                text_print(out, "%" PRIu64, in->number);
                return 3;
        }
        const struct placeholder *found = find_placeholder(at);
        if (!found)
                return 0;
        struct span part = found->part((struct span){ in->data, in->size });
        text_add(out, part.data, part.size);
        return strlen(found->name);
}

bool template_add(struct text *out, const char *word, const struct input *in)
{
        bool replaced = false;
        while (*word) {
                size_t plain = strcspn(word, "{");
                text_add(out, word, plain);
                word += plain;
                if (*word == '\0')
                        break;
                size_t size = add_placeholder(out, word, in);
                if (size == 0)
                        text_add_char(out, *word);
                replaced |= size > 0;
                word += size ? size : 1;
        }
        return replaced;
}

void expansion_init(struct expansion *e, const struct settings *s)
{
        *e = (struct expansion){
                .offsets = memory_grow(NULL, (s->command_count + 1) * sizeof *e->offsets),
                .argv    = memory_grow(NULL, (s->command_count + 2) * sizeof *e->argv),
        };
}

void expansion_fini(struct expansion *e)
{
        text_free(&e->bytes);
        free(e->offsets);
        free(e->argv);
}

static void begin_word(struct expansion *e)
{
        e->offsets[e->count++] = e->bytes.size;
}

static void add_input(struct expansion *e, const struct input *in)
{
        begin_word(e);
        text_add(&e->bytes, in->data, in->size);
        text_add_char(&e->bytes, '\0');
}

static bool add_words(struct expansion *e, const struct settings *s, size_t first, const struct input *in)
{
        bool replaced = false;
        for (size_t i = first; i < s->command_count; i++) {
                begin_word(e);
                replaced |= template_add(&e->bytes, s->command[i], in);
                text_add_char(&e->bytes, '\0');
        }
        return replaced;
}

void expansion_make(struct expansion *e, const struct settings *s, const struct input *in)
{
        e->count = 0;
        text_clear(&e->bytes);
        if (s->shell) {
                begin_word(e);
                text_add(&e->bytes, s->command[0], strlen(s->command[0]) + 1);
                add_input(e, in);
                add_words(e, s, 1, in);
        } else if (!add_words(e, s, 0, in) && !s->no_append) {
                add_input(e, in);
        }
        for (size_t i = 0; i < e->count; i++)
                e->argv[i] = e->bytes.data + e->offsets[i];
        e->argv[e->count] = NULL;
}

static void add_quoted(struct text *out, const char *word)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^";
        if (*word && word[strspn(word, plain)] == '\0') {
                text_add_string(out, word);
                return;
        }
        text_add_char(out, '\'');
        for (; *word; word++) {
                if (*word == '\'')
                        text_add_string(out, "'\\''");
                else
                        text_add_char(out, *word);
        }
        text_add_char(out, '\'');
}

void expansion_show(const struct expansion *e, const struct settings *s, struct text *out)
{
        if (s->shell)
                text_add_string(out, "/bin/sh -c ");
        for (size_t i = 0; i < e->count; i++) {
                if (i > 0)
                        text_add_char(out, ' ');
                add_quoted(out, e->argv[i]);
                if (s->shell && i == 0)
                        text_add_string(out, " sh");
        }
        text_add_char(out, '\n');
}
