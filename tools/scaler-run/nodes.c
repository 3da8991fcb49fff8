/*
 * nodes: a node's own words and numbers in the place of the command line's.
 */
#include <string.h>

#include "run.h"

static void put(int64_t own, int64_t *out)
{
        if (own != GRAPH_UNSAID)
                *out = own;
}

static void put_small(int64_t own, int32_t *out)
{
        if (own != GRAPH_UNSAID)
                *out = (int32_t)own;
}

static void put_text(const struct graph *g, size_t own, const char **out)
{
        if (own)
                *out = graph_text(g, own);
}

/* Without a tag of its own or the command line's the scheduler knows a node by its name. */
static void fill_spec(const struct graph *g, const struct node *node, scaler_spec *spec)
{
        put_small(node->priority, &spec->priority);
        put_small(node->retries, &spec->retries);
        put(node->timeout_ms, &spec->timeout_ms);
        put(node->not_before_ms, &spec->not_before_ms);
        put(node->queue_timeout_ms, &spec->queue_timeout_ms);
        put(node->deadline_ms, &spec->deadline_ms);
        put(node->backoff_ms, &spec->backoff_ms);
        put(node->backoff_max_ms, &spec->backoff_max_ms);
        put_text(g, node->needs, &spec->needs);
        put_text(g, node->retry_on, &spec->retry_on);
        put_text(g, node->tag, &spec->tag);
        if (!spec->tag)
                spec->tag = graph_text(g, node->name);
}

static void fill_env(struct run *r, const struct node *node, scaler_command *command)
{
        const struct option_list *asked = &r->settings->env_asked;
        const char               *pair  = graph_text(r->graph, node->env);
        const size_t              count = asked->count + node->env_count;
        if (node->env_count == 0)
                return;
        if (count + 1 > r->node_env_room) {
                r->node_env_room = (count + 1) * 2;
                r->node_env      = memory_grow(r->node_env, r->node_env_room * sizeof *r->node_env);
        }
        for (size_t i = 0; i < asked->count; i++)
                r->node_env[i] = r->settings->env[i];
        for (size_t i = asked->count; i < count; i++, pair += strlen(pair) + 1)
                r->node_env[i] = pair;
        r->node_env[count] = NULL;
        command->env       = r->node_env;
}

static void fill_cwd(struct run *r, const struct node *node, scaler_command *command)
{
        const char *own = graph_text(r->graph, node->workdir);
        if (!own)
                return;
        text_clear(&r->node_cwd);
        if (*own != '/' && r->cwd)
                text_print(&r->node_cwd, "%s/", r->cwd);
        text_add_string(&r->node_cwd, own);
        command->cwd = r->node_cwd.data;
}

void nodes_fill(struct run *r, const struct task *task, scaler_command *command, scaler_spec *spec)
{
        const struct node *node = &r->graph->nodes[task->number - 1];
        fill_spec(r->graph, node, spec);
        fill_env(r, node, command);
        fill_cwd(r, node, command);
        put_small(node->nice, &command->nice);
}

static const char *after_colon(const char *text)
{
        static const char begin[] = "spec 0: ";
        return strncmp(text, begin, sizeof begin - 1) == 0 ? text + sizeof begin - 1 : text;
}

/* As much of it as an error has room for. */
static void say(scaler_error *err, const char *file, uint32_t line, const char *name, const char *why)
{
        struct text words = { 0 };
        text_print(&words, "%s:%u: node '%s': %s", file, line, name, why);
        const size_t size = words.size < sizeof err->text ? words.size : sizeof err->text - 1;
        memcpy(err->text, words.data, size);
        err->text[size] = '\0';
        text_free(&words);
}

int nodes_check(scaler_client *client, const struct settings *s, const struct graph *g, scaler_error *err)
{
        const char *const argv[] = { "true", NULL };
        scaler_command    command;
        scaler_init(&command, sizeof command);
        command.argv = argv;
        for (uint32_t i = 0; i < g->count; i++) {
                const struct node *node = &g->nodes[i];
                scaler_spec        spec;
                scaler_error       why;
                settings_fill_spec(s, &spec);
                fill_spec(g, node, &spec);
                spec.command = &command;
                if (scaler_client_submit(client, &spec, NULL, &why) != SCALER_E_INVALID)
                        continue;
                say(err, s->graph, node->line, graph_name(g, i), after_colon(why.text));
                return SCALER_E_INVALID;
        }
        return 0;
}
