/*
 * scaler-run: runs a command once per input, in parallel, on a cluster of its own or on a running one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"
#include "signals.h"

/* No descriptor of ours may become 0, 1 or 2; writing to a closed stdout stays an error. */
static bool fill_standard_descriptors(void)
{
        for (int fd = 0; fd < 3; fd++)
                if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
                        return false;
        return true;
}

static int refuse(const struct program *p, const char *what)
{
        return program_refuse(p, "%s: %s", what, strerror(errno));
}

static void wait_for_input(const struct inputs *in)
{
        struct pollfd ready = { .fd = in->fd, .events = POLLIN };
        poll(&ready, 1, -1);
}

/* ---- --dry-run ---- */

static int show_commands(const struct settings *s, const struct program *p, struct inputs *inputs)
{
        struct expansion  e;
        struct text       line = { 0 };
        struct input      in;
        enum input_answer answer;
        expansion_init(&e, s);
        while ((answer = inputs_next(inputs, &in)) == INPUT_IS_HERE || answer == INPUT_WAITS) {
                if (answer == INPUT_WAITS) {
                        wait_for_input(inputs);
                        continue;
                }
                expansion_make(&e, s, &in);
                text_clear(&line);
                expansion_show(&e, s, &line);
                fwrite(line.data, 1, line.size, stdout);
        }
        int code = answer == INPUT_BREAKS ? refuse(p, "inputs") : 0;
        if (fflush(stdout) != 0)
                code = refuse(p, "stdout");
        text_free(&line);
        expansion_fini(&e);
        return code;
}

/* ---- running ---- */

static int run_tasks(struct run *r, struct settings *s)
{
        scaler_error err;
        r->signals = signals_open();
        if (r->signals < 0)
                return refuse(r->program, "signals");
        r->cwd = s->url ? getcwd(NULL, 0) : NULL;
        if (s->url && !r->cwd)
                return refuse(r->program, "the current directory");
        int code = access_read(&s->access, r->program, &r->security);
        if (code != PROGRAM_GOES_ON)
                return code;
        window_init(&r->window, !s->unordered);
        progress_init(&r->progress, s);
        printer_init(&r->printer, s, &r->window, &r->progress, !s->url && s->retries == 0);
        expansion_init(&r->expansion, s);
        if (cluster_open(&r->cluster, s, &r->security, &err) < 0) {
                code = program_refuse(r->program, "%s", err.text);
        } else {
                run_loop(r);
                code = run_exit_code(r);
        }
        expansion_fini(&r->expansion);
        printer_fini(&r->printer);
        window_fini(&r->window);
        cluster_close(&r->cluster);
        return code;
}

static int run(struct settings *s, const struct program *p)
{
        struct run *r = memory_grow(NULL, sizeof *r);
        memset(r, 0, sizeof *r);
        r->settings = s;
        r->program  = p;
        r->signals  = -1;
        int code    = 0;
        if (inputs_open(&r->inputs, s) < 0)
                code = refuse(p, s->input_file);
        else
                code = s->dry_run ? show_commands(s, p, &r->inputs) : run_tasks(r, s);
        bool pipe_closed = r->pipe_closed;
        inputs_close(&r->inputs);
        free(r->cwd);
        if (r->signals >= 0)
                close(r->signals);
        free(r);
        if (pipe_closed)
                signals_die_by(SIGPIPE);
        return code;
}

int main(int argc, char **argv)
{
        struct settings settings = { 0 };
        struct program  program;
        if (!fill_standard_descriptors())
                return RUN_EXIT_BROKEN;
        int code = settings_read(&settings, argc, argv, &program);
        if (code == PROGRAM_GOES_ON)
                code = run(&settings, &program);
        settings_fini(&settings);
        return code;
}
