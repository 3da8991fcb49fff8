/*
 * record: puts the values of a task together.
 */
#include "record.h"

#include <errno.h>
#include <stdlib.h>

#define ERROR_TEXT_MAX 200

/* ---- opening ---- */

int record_compile(regex_t *out, const char *pattern)
{
        struct text plain = { 0 };
        for (const char *at = pattern; *at; at++) {
                if (at[0] == '\\' && at[1] == 't') {
                        text_add_char(&plain, '\t');
                        at++;
                } else if (at[0] == '\\' && at[1]) {
                        text_add(&plain, at, 2);
                        at++;
                } else {
                        text_add_char(&plain, *at);
                }
        }
        int status = regcomp(out, plain.data, REG_EXTENDED);
        text_free(&plain);
        return status;
}

static int open_colsep(struct records *r, const struct program *p)
{
        char words[ERROR_TEXT_MAX];
        if (!r->settings->colsep)
                return PROGRAM_GOES_ON;
        int status = record_compile(&r->colsep, r->settings->colsep);
        if (status != 0) {
                regerror(status, &r->colsep, words, sizeof words);
                return program_refuse(p, "--colsep: '%s': %s", r->settings->colsep, words);
        }
        r->has_colsep = true;
        return PROGRAM_GOES_ON;
}

static int open_lists(struct records *r, const struct program *p)
{
        const struct settings *s    = r->settings;
        const char            *name = s->input_file;
        if (s->source_count > 1) {
                if (sources_open(&r->sources, s, &name) < 0)
                        return program_refuse(p, "%s: %s", name, strerror(errno));
                r->row = memory_grow(NULL, s->source_count * sizeof *r->row);
        } else if (inputs_open(&r->inputs, s) < 0) {
                return program_refuse(p, "%s: %s", name, strerror(errno));
        }
        return PROGRAM_GOES_ON;
}

static int open_past(struct records *r, const struct program *p)
{
        const struct settings *s = r->settings;
        if (!s->resume && !s->retry_failed)
                return PROGRAM_GOES_ON;
        const bool only_failed = s->retry_failed && !s->resume;
        int        status      = joblog_read(&r->past, s->joblog, only_failed);
        if (status == 0 && !only_failed && (s->retry_failed || settings_steps(s) > 1))
                status = joblog_read(&r->failed, s->joblog, true);
        if (status == 0 || (errno == ENOENT && !only_failed))
                return PROGRAM_GOES_ON;
        if (errno == EINVAL)
                return program_refuse(p, "--joblog: '%s' is not a joblog", s->joblog);
        return program_refuse(p, "--joblog: %s: %s", s->joblog, strerror(errno));
}

int records_open(struct records *r, const struct settings *s, const struct program *p)
{
        *r       = (struct records){ .settings = s, .inputs = { .fd = -1 } };
        int code = open_colsep(r, p);
        if (code == PROGRAM_GOES_ON)
                code = open_past(r, p);
        return code == PROGRAM_GOES_ON && (!s->retry_failed || s->resume) ? open_lists(r, p) : code;
}

void records_close(struct records *r)
{
        if (r->has_colsep)
                regfree(&r->colsep);
        inputs_close(&r->inputs);
        sources_close(&r->sources);
        joblog_past_free(&r->past);
        joblog_past_free(&r->failed);
        free(r->row);
        text_free(&r->values);
}

/* ---- values ---- */

static void add_value(struct records *r, const char *data, size_t size)
{
        if (r->value_count > 0)
                text_add_char(&r->values, '\0');
        text_add(&r->values, data, size);
        r->value_count++;
}

/* The text has a terminator of its own or is followed by what ended it, so the copy is what regexec reads. */
static void add_columns(struct records *r, const char *data, size_t size)
{
        char      *copy = memory_copy(data, size);
        char      *at   = copy, *from = copy;
        regmatch_t match;
        int        flags = 0;
        while (*from && regexec(&r->colsep, from, 1, &match, flags) == 0) {
                if (match.rm_eo == match.rm_so) {
                        from += match.rm_so + 1;
                        if (from > copy + size)
                                break;
                } else {
                        add_value(r, at, (size_t)(from + match.rm_so - at));
                        from += match.rm_eo;
                        at = from;
                }
                flags = REG_NOTBOL;
        }
        add_value(r, at, (size_t)(copy + size - at));
        free(copy);
}

/* What no command can be given is kept as a beginning, to be shown. */
static void add_input(struct records *r, const struct span in)
{
        if (r->settings->max_args == 0)
                return;
        if (memchr(in.data, '\0', in.size))
                r->has_nul = true;
        if (r->values.size + in.size > INPUT_BYTES_MAX && r->value_count > 0)
                r->long_size = r->values.size + in.size;
        if (r->long_size)
                return;
        if (r->has_colsep && !r->has_nul)
                add_columns(r, in.data, in.size);
        else
                add_value(r, in.data, in.size);
}

static enum input_answer add_row(struct records *r)
{
        if (r->settings->source_count > 1) {
                if (!sources_next(&r->sources, r->row))
                        return INPUT_ENDS;
                for (size_t i = 0; i < r->sources.count; i++)
                        add_input(r, r->row[i]);
                return INPUT_IS_HERE;
        }
        struct input      in;
        enum input_answer answer = inputs_next(&r->inputs, &in);
        if (answer != INPUT_IS_HERE)
                return answer;
        add_input(r, (struct span){ in.data, in.size });
        if (in.long_size && r->settings->max_args != 0)
                r->long_size = in.long_size;
        return INPUT_IS_HERE;
}

/* ---- records ---- */

static void begin_record(struct records *r)
{
        text_clear(&r->values);
        r->value_count = 0;
        r->row_count   = 0;
        r->long_size   = 0;
        r->has_nul     = false;
}

static enum input_answer make_record(struct records *r, struct record *out)
{
        uint32_t wanted = r->settings->max_args > 0 ? (uint32_t)r->settings->max_args : 1;
        while (r->row_count < wanted && !r->ended) {
                enum input_answer answer = add_row(r);
                r->ended                 = answer == INPUT_ENDS;
                if (answer == INPUT_IS_HERE)
                        r->row_count++;
                else if (answer != INPUT_ENDS)
                        return answer;
        }
        if (r->row_count == 0)
                return INPUT_ENDS;
        *out = (struct record){
                .data      = r->values.data ? r->values.data : "",
                .size      = r->values.size,
                .count     = r->has_nul ? 1 : r->value_count,
                .number    = ++r->given,
                .long_size = r->long_size,
                .has_nul   = r->has_nul,
        };
        r->row_count = 0;
        return INPUT_IS_HERE;
}

static enum input_answer next_retry(struct records *r, struct record *out)
{
        if (r->retried == r->past.failed_count)
                return INPUT_ENDS;
        const struct joblog_failed *failed = &r->past.failed[r->retried++];
        *out = (struct record){
                .data   = failed->command,
                .size   = strlen(failed->command),
                .count  = 1,
                .number = failed->number,
                .script = true,
        };
        return INPUT_IS_HERE;
}

bool record_is_over(const struct records *r, uint64_t number, bool *failed_out)
{
        const bool over = ranges_have(&r->past.done, number);
        *failed_out     = over && joblog_has_failed(&r->failed, number);
        return over && !(*failed_out && r->settings->retry_failed);
}

/* All steps of it. */
static bool is_over(const struct records *r, uint64_t record)
{
        const size_t steps = settings_steps(r->settings);
        bool         over = true, failed;
        for (size_t i = 0; i < steps && over; i++)
                over = record_is_over(r, (record - 1) * steps + i + 1, &failed);
        return over;
}

enum input_answer records_next(struct records *r, struct record *out)
{
        if (r->settings->retry_failed && !r->settings->resume)
                return next_retry(r, out);
        for (;;) {
                if (r->row_count == 0)
                        begin_record(r);
                enum input_answer answer = make_record(r, out);
                if (answer != INPUT_IS_HERE || !is_over(r, out->number))
                        return answer;
                r->left_out += settings_steps(r->settings);
        }
}

uint64_t records_total(const struct records *r)
{
        uint64_t wanted = r->settings->max_args > 0 ? (uint64_t)r->settings->max_args : 1;
        uint64_t rows   = 0;
        if (r->settings->retry_failed && !r->settings->resume)
                return r->past.failed_count;
        if (r->settings->source_count > 1)
                rows = r->sources.total == UINT64_MAX ? 0 : r->sources.total;
        else if (r->inputs.total_known)
                rows = r->inputs.total;
        return (rows / wanted + (rows % wanted > 0)) * settings_steps(r->settings);
}
