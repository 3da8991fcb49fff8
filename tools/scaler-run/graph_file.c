/*
 * graph_file: a document of libyaml becomes nodes.  The document knows the line of everything in it, resolves anchors,
 * and is as deep as it likes: what is looked at here has a fixed depth.
 */
#include "graph_file.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "option.h"

#define YEAR_MS   INT64_C(31536000000)
#define DAY_MS    86400000
#define SHOWN_MAX 60
#define TEXT_MAX  1000
#define DEPTH_MAX 1000

struct reading {
        struct graph    *graph;
        const char      *file; /* for people */
        struct text     *error;
        yaml_document_t *document;
        const char      *node;  /* its name, or NULL: none is known yet */
        bool             named; /* by a key before it */
        size_t           after_room;
};

enum field_kind {
        FIELD_COMMAND,
        FIELD_AFTER,
        FIELD_ENV,
        FIELD_TEXT,
        FIELD_TIME,
        FIELD_COUNT,
        FIELD_SIGNED,
        FIELD_NAME
};

struct field {
        const char     *name;
        enum field_kind kind;
        size_t          offset; /* in struct node */
        int64_t         min, max;
};

#define AT(member) offsetof(struct node, member)
static const struct field fields[] = {
        { "name", FIELD_NAME, AT(name), 0, 0 },
        { "command", FIELD_COMMAND, AT(command), 0, 0 },
        { "after", FIELD_AFTER, AT(first), 0, 0 },
        { "env", FIELD_ENV, AT(env), 0, 0 },
        { "workdir", FIELD_TEXT, AT(workdir), 0, 0 },
        { "needs", FIELD_TEXT, AT(needs), 0, 0 },
        { "tag", FIELD_TEXT, AT(tag), 0, 0 },
        { "priority", FIELD_SIGNED, AT(priority), -1000, 1000 },
        { "nice", FIELD_COUNT, AT(nice), 0, 19 },
        { "timeout", FIELD_TIME, AT(timeout_ms), 1, YEAR_MS },
        { "retries", FIELD_COUNT, AT(retries), 0, 1000 },
        { "retry-on", FIELD_TEXT, AT(retry_on), 0, 0 },
        { "backoff", FIELD_TIME, AT(backoff_ms), 0, DAY_MS },
        { "backoff-max", FIELD_TIME, AT(backoff_max_ms), 1, DAY_MS },
        { "deadline", FIELD_TIME, AT(deadline_ms), 1, YEAR_MS },
        { "queue-timeout", FIELD_TIME, AT(queue_timeout_ms), 1, YEAR_MS },
        { "not-before", FIELD_TIME, AT(not_before_ms), 0, YEAR_MS },
};
#undef AT
#define FIELDS (sizeof fields / sizeof fields[0])

/* ---- what is wrong ---- */

/* FILE:LINE: node 'NAME': , and then words. */
static bool wrong(struct reading *r, const yaml_node_t *at, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static bool wrong(struct reading *r, const yaml_node_t *at, const char *format, ...)
{
        va_list args;
        text_print(r->error, "%s:%zu: ", r->file, at ? at->start_mark.line + 1 : 1);
        if (r->node)
                text_print(r->error, "node '%s': ", r->node);
        va_start(args, format);
        text_print_va(r->error, format, args);
        va_end(args);
        return false;
}

static const char *scalar(const yaml_node_t *at)
{
        return (const char *)at->data.scalar.value;
}

/* What was found, at the end of words. */
static bool wrong_value(struct reading *r, const yaml_node_t *at, const char *field, const char *words)
{
        wrong(r, at, "%s: '", field);
        text_add_shown(r->error, scalar(at), at->data.scalar.length, SHOWN_MAX);
        text_print(r->error, "' %s", words);
        return false;
}

/* ---- pieces of a document ---- */

static yaml_node_t *get(const struct reading *r, int index)
{
        return yaml_document_get_node(r->document, index);
}

static bool is_null(const yaml_node_t *at)
{
        const char *value = scalar(at);
        return at->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
               (!*value || strcmp(value, "~") == 0 || strcmp(value, "null") == 0);
}

/* A text that a command can be given. */
static bool is_word(struct reading *r, const yaml_node_t *at, const char *field, const char *wanted)
{
        if (at->type != YAML_SCALAR_NODE)
                return wrong(r, at, "%s: %s is wanted, this is a %s", field, wanted,
                             at->type == YAML_MAPPING_NODE ? "mapping" : "list");
        if (is_null(at))
                return wrong(r, at, "%s: there is nothing", field);
        if (memchr(scalar(at), '\0', at->data.scalar.length))
                return wrong(r, at, "%s: there is a NUL byte in it", field);
        return true;
}

static bool put_bytes(struct reading *r, const yaml_node_t *at, const char *bytes, size_t size)
{
        if (r->graph->text.size + size > GRAPH_BYTES_MAX)
                return wrong(r, at, "the words of all nodes have more than 1 GiB");
        text_add(&r->graph->text, bytes, size);
        return true;
}

/* With its terminator. */
static bool put_word(struct reading *r, const yaml_node_t *at)
{
        return put_bytes(r, at, scalar(at), at->data.scalar.length + 1);
}

/* ---- fields ---- */

static bool read_text(struct reading *r, const yaml_node_t *at, const char *field, size_t *out)
{
        if (!is_word(r, at, field, "a text"))
                return false;
        if (!*scalar(at) || at->data.scalar.length > TEXT_MAX)
                return wrong_value(r, at, field, "is empty or too long");
        *out = r->graph->text.size;
        return put_word(r, at);
}

static bool read_name(struct reading *r, const yaml_node_t *at, size_t *out)
{
        if (!is_word(r, at, "name", "a text"))
                return false;
        const char *name = scalar(at);
        if (!*name || at->data.scalar.length > GRAPH_NAME_MAX)
                return wrong_value(r, at, "name", "is empty or longer than 127 bytes");
        for (const char *c = name; *c; c++)
                if ((unsigned char)*c < ' ' || *c == '\x7f')
                        return wrong_value(r, at, "name", "has a control character");
        *out = r->graph->text.size;
        return put_word(r, at);
}

static bool read_number(struct reading *r, const yaml_node_t *at, const struct field *field, int64_t *out)
{
        char    range[80];
        int64_t value = 0;
        bool    fine;
        if (!is_word(r, at, field->name, field->kind == FIELD_TIME ? "a time" : "a number"))
                return false;
        if (field->kind == FIELD_TIME)
                fine = option_read_time(scalar(at), &value);
        else if (field->kind == FIELD_SIGNED)
                fine = option_read_signed(scalar(at), &value);
        else
                fine = option_read_count(scalar(at), &value);
        *out = value;
        if (fine && value >= field->min && value <= field->max)
                return true;
        if (field->kind == FIELD_TIME)
                snprintf(range, sizeof range, "is not a time from %lld ms to %lld s, as 30, 1.5, 200ms or 2h",
                         (long long)field->min, (long long)field->max / 1000);
        else
                snprintf(range, sizeof range, "is not a whole number from %lld to %lld", (long long)field->min,
                         (long long)field->max);
        return wrong_value(r, at, field->name, range);
}

static bool read_command(struct reading *r, const yaml_node_t *at, struct node *node)
{
        node->command = r->graph->text.size;
        node->script  = at->type == YAML_SCALAR_NODE;
        if (at->type == YAML_MAPPING_NODE)
                return wrong(r, at, "command: a text (for a shell) or a list of words is wanted, this is a mapping");
        if (node->script) {
                node->command_count = 1;
                if (!is_word(r, at, "command", "a text"))
                        return false;
                return *scalar(at) ? put_word(r, at) : wrong(r, at, "command: it is empty");
        }
        const yaml_node_item_t *item = at->data.sequence.items.start, *end = at->data.sequence.items.top;
        if (item == end)
                return wrong(r, at, "command: the list is empty");
        if (end - item > INT_MAX)
                return wrong(r, at, "command: the list is too long");
        node->command_count = (uint32_t)(end - item);
        for (; item < end; item++) {
                const yaml_node_t *word = get(r, *item);
                if (!is_word(r, word, "command", "a word"))
                        return false;
                if (item == at->data.sequence.items.start && !*scalar(word))
                        return wrong(r, word, "command: its first word is empty");
                if (!put_word(r, word))
                        return false;
        }
        return true;
}

static bool add_after(struct reading *r, const yaml_node_t *at, struct node *node)
{
        struct graph *g = r->graph;
        if (!is_word(r, at, "after", "the name of a node"))
                return false;
        if (g->edge_count >= GRAPH_EDGES_MAX)
                return wrong(r, at, "after: all nodes together wait for more than %d", GRAPH_EDGES_MAX);
        if (g->edge_count == r->after_room) {
                r->after_room = r->after_room ? r->after_room * 2 : 64;
                g->after      = memory_grow(g->after, r->after_room * sizeof *g->after);
        }
        g->after[g->edge_count++] = g->text.size;
        node->count++;
        return put_word(r, at);
}

static bool read_after(struct reading *r, const yaml_node_t *at, struct node *node)
{
        node->first = r->graph->edge_count;
        node->count = 0;
        if (at->type == YAML_SCALAR_NODE)
                return add_after(r, at, node);
        if (at->type == YAML_MAPPING_NODE)
                return wrong(r, at, "after: a name or a list of names is wanted, this is a mapping");
        const yaml_node_item_t *end = at->data.sequence.items.top;
        for (const yaml_node_item_t *item = at->data.sequence.items.start; item < end; item++)
                if (!add_after(r, get(r, *item), node))
                        return false;
        return true;
}

/* NAME: VALUE. */
static bool add_pair(struct reading *r, const yaml_node_pair_t *pair, struct node *node)
{
        const yaml_node_t *name = get(r, pair->key), *value = get(r, pair->value);
        if (!is_word(r, name, "env", "the name of a variable"))
                return false;
        if (!*scalar(name) || strchr(scalar(name), '='))
                return wrong_value(r, name, "env", "is not the name of a variable");
        const bool empty = value->type == YAML_SCALAR_NODE && is_null(value);
        if (!empty && !is_word(r, value, "env", "a text"))
                return false;
        node->env_count++;
        return put_bytes(r, name, scalar(name), name->data.scalar.length) && put_bytes(r, name, "=", 1) &&
               (empty ? put_bytes(r, name, "", 1) : put_word(r, value));
}

/* "NAME=VALUE". */
static bool add_assignment(struct reading *r, const yaml_node_t *at, struct node *node)
{
        if (!is_word(r, at, "env", "NAME=VALUE"))
                return false;
        const char *equals = strchr(scalar(at), '=');
        if (!equals || equals == scalar(at))
                return wrong_value(r, at, "env", "is not NAME=VALUE");
        node->env_count++;
        return put_word(r, at);
}

static bool read_env(struct reading *r, const yaml_node_t *at, struct node *node)
{
        bool fine       = true;
        node->env       = r->graph->text.size;
        node->env_count = 0;
        if (at->type == YAML_SCALAR_NODE)
                return wrong(r, at, "env: a mapping of names to values, or a list of NAME=VALUE, is wanted");
        if (at->type == YAML_MAPPING_NODE) {
                const yaml_node_pair_t *end = at->data.mapping.pairs.top;
                for (const yaml_node_pair_t *pair = at->data.mapping.pairs.start; pair < end && fine; pair++)
                        fine = add_pair(r, pair, node);
                return fine;
        }
        const yaml_node_item_t *end = at->data.sequence.items.top;
        for (const yaml_node_item_t *item = at->data.sequence.items.start; item < end && fine; item++)
                fine = add_assignment(r, get(r, *item), node);
        return fine;
}

static bool read_field(struct reading *r, const yaml_node_t *at, const struct field *field, struct node *node)
{
        void *target = (unsigned char *)node + field->offset;
        switch (field->kind) {
        case FIELD_NAME:
                return true; /* has been read before all others */
        case FIELD_COMMAND:
                return read_command(r, at, node);
        case FIELD_AFTER:
                return read_after(r, at, node);
        case FIELD_ENV:
                return read_env(r, at, node);
        case FIELD_TEXT:
                return read_text(r, at, field->name, target);
        case FIELD_TIME:
        case FIELD_COUNT:
        case FIELD_SIGNED:
                break;
        }
        return read_number(r, at, field, target);
}

/* ---- nodes ---- */

static bool is_merge(const yaml_node_t *key)
{
        return key->type == YAML_SCALAR_NODE && key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
               strcmp(scalar(key), "<<") == 0;
}

static const struct field *field_of(struct reading *r, const yaml_node_t *key)
{
        if (!is_word(r, key, "a key", "a text"))
                return NULL;
        for (size_t i = 0; i < FIELDS; i++)
                if (strcmp(scalar(key), fields[i].name) == 0)
                        return &fields[i];
        wrong(r, key, "unknown key '");
        text_add_shown(r->error, scalar(key), key->data.scalar.length, SHOWN_MAX);
        text_add_string(r->error, "'; there are");
        for (size_t i = 0; i < FIELDS; i++)
                text_print(r->error, "%s %s", i > 0 ? "," : "", fields[i].name);
        return NULL;
}

static bool read_pairs(struct reading *r, const yaml_node_t *at, struct node *node, bool merged)
{
        uint32_t                seen = 0;
        const yaml_node_pair_t *end  = at->data.mapping.pairs.top;
        for (const yaml_node_pair_t *pair = at->data.mapping.pairs.start; pair < end; pair++) {
                const yaml_node_t *key = get(r, pair->key);
                if (is_merge(key) && merged)
                        return wrong(r, key, "<<: what is merged cannot merge in turn");
                if (is_merge(key))
                        continue;
                const struct field *field = field_of(r, key);
                if (!field)
                        return false;
                const uint32_t bit = UINT32_C(1) << (field - fields);
                if (seen & bit)
                        return wrong(r, key, "%s is given twice", field->name);
                seen |= bit;
                if (field->kind == FIELD_NAME && (merged || r->named))
                        return wrong(r, key, "a name does not belong here");
                if (!read_field(r, get(r, pair->value), field, node))
                        return false;
        }
        return true;
}

/* The keys of YAML's "<<": what the node itself says goes before. */
static bool merge(struct reading *r, const yaml_node_t *at, struct node *node)
{
        const yaml_node_pair_t *end = at->data.mapping.pairs.top;
        for (const yaml_node_pair_t *pair = at->data.mapping.pairs.start; pair < end; pair++) {
                const yaml_node_t *from = get(r, pair->value);
                if (!is_merge(get(r, pair->key)))
                        continue;
                if (from->type != YAML_MAPPING_NODE)
                        return wrong(r, from, "<<: a mapping is wanted");
                if (!read_pairs(r, from, node, true))
                        return false;
        }
        return true;
}

/* So that mistakes are told with the name of their node. */
static const yaml_node_t *own_name(const struct reading *r, const yaml_node_t *at)
{
        const yaml_node_pair_t *end = at->data.mapping.pairs.top;
        for (const yaml_node_pair_t *pair = at->data.mapping.pairs.start; pair < end; pair++) {
                const yaml_node_t *key = get(r, pair->key);
                if (key->type == YAML_SCALAR_NODE && strcmp(scalar(key), "name") == 0)
                        return get(r, pair->value);
        }
        return NULL;
}

static struct node *add_node(struct reading *r, const yaml_node_t *at)
{
        struct graph *g = r->graph;
        if (g->count == g->room) {
                g->room  = g->room ? g->room * 2 : 64;
                g->nodes = memory_grow(g->nodes, g->room * sizeof *g->nodes);
        }
        struct node *node = &g->nodes[g->count++];
        *node             = (struct node){ .line = (uint32_t)at->start_mark.line + 1 };
        int64_t *numbers[] = { &node->timeout_ms, &node->retries, &node->backoff_ms, &node->backoff_max_ms,
                               &node->priority, &node->not_before_ms, &node->queue_timeout_ms, &node->deadline_ms,
                               &node->nice };
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
                *numbers[i] = GRAPH_UNSAID;
        return node;
}

/* key: its name stands before the node; NULL: it is among its own keys. */
static bool read_node(struct reading *r, const yaml_node_t *key, const yaml_node_t *at)
{
        const yaml_node_t *name = key;
        r->node                 = NULL;
        r->named                = key != NULL;
        if (r->graph->count >= GRAPH_NODES_MAX)
                return wrong(r, at, "there are more than %d nodes", GRAPH_NODES_MAX);
        struct node *node = add_node(r, key ? key : at);
        if (!key && at->type == YAML_MAPPING_NODE)
                name = own_name(r, at);
        if (name && !read_name(r, name, &node->name))
                return false;
        r->node = name ? scalar(name) : NULL; /* not in the text, which moves as it grows */
        if (at->type != YAML_MAPPING_NODE)
                return wrong(r, at, "a node is a mapping with a command, this is a %s",
                             at->type == YAML_SCALAR_NODE ? "text" : "list");
        if (!name)
                return wrong(r, at, "the node has no name");
        if (!merge(r, at, node) || !read_pairs(r, at, node, false))
                return false;
        return node->command != 0 || wrong(r, at, "it has no command");
}

static bool read_nodes(struct reading *r, const yaml_node_t *at)
{
        bool fine = true;
        if (at->type == YAML_SCALAR_NODE)
                return wrong(r, at, "nodes: a mapping of names to nodes, or a list of nodes, is wanted");
        if (at->type == YAML_MAPPING_NODE) {
                const yaml_node_pair_t *end = at->data.mapping.pairs.top;
                for (const yaml_node_pair_t *pair = at->data.mapping.pairs.start; pair < end && fine; pair++)
                        fine = read_node(r, get(r, pair->key), get(r, pair->value));
        } else {
                const yaml_node_item_t *end = at->data.sequence.items.top;
                for (const yaml_node_item_t *item = at->data.sequence.items.start; item < end && fine; item++)
                        fine = read_node(r, NULL, get(r, *item));
        }
        r->node = NULL;
        return fine && r->graph->count == 0 ? wrong(r, at, "there are no nodes") : fine;
}

/* Keys that begin with x- are nobody's business: a place for what is merged. */
static bool read_root(struct reading *r, const yaml_node_t *root)
{
        const yaml_node_t *nodes = NULL;
        if (!root || (root->type == YAML_SCALAR_NODE && is_null(root)))
                return wrong(r, root, "the file is empty: 'nodes' is wanted");
        if (root->type != YAML_MAPPING_NODE)
                return wrong(r, root, "a mapping with the key 'nodes' is wanted");
        const yaml_node_pair_t *end = root->data.mapping.pairs.top;
        for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < end; pair++) {
                const yaml_node_t *key = get(r, pair->key);
                if (!is_word(r, key, "a key", "a text"))
                        return false;
                if (strncmp(scalar(key), "x-", 2) == 0)
                        continue;
                if (strcmp(scalar(key), "nodes") != 0) {
                        wrong(r, key, "unknown key '");
                        text_add_shown(r->error, scalar(key), key->data.scalar.length, SHOWN_MAX);
                        text_add_string(r->error, "'; there are nodes, and x-...");
                        return false;
                }
                if (nodes)
                        return wrong(r, key, "nodes is given twice");
                nodes = get(r, pair->value);
        }
        return nodes ? read_nodes(r, nodes) : wrong(r, root, "the key 'nodes' is missing");
}

/* ---- the file ---- */

struct stream {
        FILE                *file;
        const yaml_parser_t *parser;
        int                  error; /* errno, 0: fine */
        bool                 deep;
};

/* What the parser does costs the square of the depth, so how deep it is by now is looked at here. */
static int read_more(void *data, unsigned char *buffer, size_t size, size_t *size_read)
{
        struct stream *s = data;
        s->deep          = s->parser->flow_level > DEPTH_MAX;
        errno            = 0;
        *size_read       = s->deep ? 0 : fread(buffer, 1, size, s->file);
        s->error         = *size_read == 0 && !s->deep && ferror(s->file) ? errno : 0;
        return !s->deep && s->error == 0;
}

static bool say_syntax(struct reading *r, const yaml_parser_t *parser, const struct stream *stream)
{
        if (stream->deep)
                text_print(r->error, "%s:%zu: lists and mappings are nested too deep", r->file, parser->mark.line + 1);
        else if (stream->error)
                text_print(r->error, "%s: %s", r->file, strerror(stream->error));
        else if (parser->error == YAML_READER_ERROR)
                text_print(r->error, "%s: byte %zu: %s", r->file, parser->problem_offset, parser->problem);
        else if (parser->error == YAML_MEMORY_ERROR)
                text_print(r->error, "%s: out of memory", r->file);
        else
                text_print(r->error, "%s:%zu: %s", r->file, parser->problem_mark.line + 1,
                           parser->problem ? parser->problem : "it is not YAML");
        return false;
}

/* There is one document, and nothing behind it. */
static bool read_end(struct reading *r, yaml_parser_t *parser, const struct stream *stream)
{
        yaml_document_t more;
        if (!yaml_parser_load(parser, &more))
                return say_syntax(r, parser, stream);
        const yaml_node_t *root = yaml_document_get_root_node(&more);
        const bool         fine = !root || wrong(r, root, "there is a second document");
        yaml_document_delete(&more);
        return fine;
}

static bool read_document(struct reading *r, FILE *file)
{
        yaml_parser_t   parser;
        yaml_document_t document;
        if (!yaml_parser_initialize(&parser)) {
                text_print(r->error, "%s: out of memory", r->file);
                return false;
        }
        struct stream stream = { .file = file, .parser = &parser };
        yaml_parser_set_input(&parser, read_more, &stream);
        bool fine = yaml_parser_load(&parser, &document);
        if (!fine) {
                say_syntax(r, &parser, &stream);
        } else {
                r->document = &document;
                fine        = read_root(r, yaml_document_get_root_node(&document)) && read_end(r, &parser, &stream);
                yaml_document_delete(&document);
        }
        yaml_parser_delete(&parser);
        return fine;
}

bool graph_read(struct graph *g, const char *file, struct text *error)
{
        const bool     is_stdin = strcmp(file, "-") == 0;
        struct reading r        = { .graph = g, .file = is_stdin ? "stdin" : file, .error = error };
        FILE          *stream   = is_stdin ? stdin : fopen(file, "re");
        *g                      = (struct graph){ .count = 0 };
        if (!stream) {
                text_print(error, "%s: %s", file, strerror(errno));
                return false;
        }
        text_add_char(&g->text, '\0'); /* so that no word is at 0 */
        const bool fine = read_document(&r, stream) && graph_connect(g, r.file, error);
        if (!is_stdin)
                fclose(stream);
        return fine;
}
