/*
 * A seed that fails ends its process, by an assertion of the library's or of a judge.  Whoever sees that learns which
 * seed it was, and how to run it again; the exit code is 4 for one that took too long, else 2.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"

static void say(const char *words)
{
        if (write(STDERR_FILENO, words, strlen(words)) < 0)
                _exit(3);
}

static void say_number(uint64_t number)
{
        char   digits[21] = "";
        size_t at         = sizeof digits - 1;
        do {
                digits[--at] = (char)('0' + number % 10);
                number /= 10;
        } while (number > 0);
        say(&digits[at]);
}

static void on_end(int signal_number)
{
        say("again: SIM_SEED=");
        say_number(sim_seed_now());
        say(" SIM_TRACE=1 build/test/sim/sim\nseed ");
        say_number(sim_seed_now());
        say(" failed\n");
        _exit(signal_number == SIGALRM ? 4 : 2);
}

void sim_watch(void)
{
        signal(SIGABRT, on_end);
        signal(SIGSEGV, on_end);
        signal(SIGALRM, on_end);
}
