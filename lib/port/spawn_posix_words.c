/*
 * The sentences in which a command's end is told.  They are the same in every locale, and fit
 * SC_TEXT_MAX whatever names they quote.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "spawn_posix_private.h"

static const struct {
        int         error;
        const char *words;
} reasons[] = {
        { ENOENT, "no such file or directory" },
        { EACCES, "permission denied" },
        { EPERM, "not permitted" },
        { E2BIG, "argument list too long" },
        { ENOEXEC, "not an executable file" },
        { ENOTDIR, "not a directory" },
        { EISDIR, "is a directory" },
        { ELOOP, "too many symbolic links" },
        { ENAMETOOLONG, "name too long" },
        { ETXTBSY, "the file is being written" },
        { EMFILE, "too many open descriptors in this process" },
        { ENFILE, "too many open files on this machine" },
        { ENOMEM, "out of memory" },
        { EAGAIN, "too many processes" },
        { ENOSPC, "no space left" },
        { ENOSYS, "not supported by this kernel" },
        { EIO, "input/output error" },
        { EINVAL, "invalid argument" },
};

static const char *reason_of(int error, char number[24])
{
        for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
                if (reasons[i].error == error)
                        return reasons[i].words;
        snprintf(number, 24, "error %d", error);
        return number;
}

void sc_words_not_started(char text[SC_TEXT_MAX + 1], const struct sc_exec *exec, enum sc_birth_step step, int error)
{
        char        number[24];
        const char *why = reason_of(error, number);
        const size_t max = SC_TEXT_MAX + 1;
        switch (step) {
        case SC_BIRTH_PIPE:
                snprintf(text, max, "cannot make a pipe for the output of '%.80s': %s", exec->file, why);
                break;
        case SC_BIRTH_INPUT:
                snprintf(text, max, "cannot make the standard input of '%.80s': %s", exec->file, why);
                break;
        case SC_BIRTH_CLONE:
                snprintf(text, max, "cannot make a process for '%.80s': %s", exec->file, why);
                break;
        case SC_BIRTH_WATCH:
                snprintf(text, max, "cannot watch '%.80s': %s", exec->file, why);
                break;
        case SC_BIRTH_GROUP:
                snprintf(text, max, "cannot make a process group for '%.80s': %s", exec->file, why);
                break;
        case SC_BIRTH_DESCRIPTORS:
                snprintf(text, max, "cannot set up descriptors of '%.80s': %s", exec->file, why);
                break;
        case SC_BIRTH_CWD:
                snprintf(text, max, "cannot enter directory '%.120s': %s", exec->cwd, why);
                break;
        case SC_BIRTH_NICE:
                snprintf(text, max, "cannot change the niceness of '%.80s': %s", exec->file, why);
                break;
        case SC_BIRTH_EXEC:
                if (error == ENOENT && exec->path)
                        snprintf(text, max, "command not found: '%.150s'", exec->file);
                else
                        snprintf(text, max, "cannot run '%.120s': %s%s", exec->file, why,
                                 error == ENOENT ? " (the file or its interpreter)" : "");
                break;
        case SC_BIRTH_UNWANTED:
                snprintf(text, max, "killed before it was started");
                break;
        }
}

static const char *signal_name(int signal)
{
        static const struct {
                int         signal;
                const char *name;
        } names[] = {
                { SIGHUP, "HUP" },   { SIGINT, "INT" },   { SIGQUIT, "QUIT" }, { SIGILL, "ILL" },
                { SIGTRAP, "TRAP" }, { SIGABRT, "ABRT" }, { SIGBUS, "BUS" },   { SIGFPE, "FPE" },
                { SIGKILL, "KILL" }, { SIGUSR1, "USR1" }, { SIGSEGV, "SEGV" }, { SIGUSR2, "USR2" },
                { SIGPIPE, "PIPE" }, { SIGALRM, "ALRM" }, { SIGTERM, "TERM" }, { SIGXCPU, "XCPU" },
                { SIGXFSZ, "XFSZ" }, { SIGSYS, "SYS" },
        };
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                if (names[i].signal == signal)
                        return names[i].name;
        return NULL;
}

void sc_words_signal(char text[SC_TEXT_MAX + 1], int signal)
{
        const char *name = signal_name(signal);
        snprintf(text, SC_TEXT_MAX + 1, name ? "killed by signal %d (SIG%s)" : "killed by signal %d", signal, name);
}
