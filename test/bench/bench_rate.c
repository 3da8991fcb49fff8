/*
 * Tasks that do nothing, through a client, a scheduler and one worker of two slots in three processes: this
 * program in three parts, over the public header alone.
 *
 *     bench_rate tcp|ipc [N [WINDOW]]      WINDOW 1: one at a time, with percentiles; more: tasks/s; and the
 *                                          processor time of all three processes, from birth to end, a task
 *     bench_rate tcp|ipc idle SECONDS      after some tasks: processor ticks and voluntary switches per process
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_parts.h"
#include "bench_tools.h"

enum { SLOTS = 2 };

static void run_one_by_one(scaler_client *client, long count, uint64_t *took_ns)
{
        for (long i = 0; i < count; i++) {
                scaler_future *future;
                const uint64_t begin = bench_now_ns();
                bench_submit(client, "noop", NULL, &future);
                bench_check("result", scaler_future_result(future, BENCH_PATIENCE_MS, NULL), NULL);
                took_ns[i] = bench_now_ns() - begin;
                scaler_future_unref(future);
        }
}

/* What it prints is a line without its end. */
static void measure(scaler_client *client, const char *over, long count, long window)
{
        uint64_t *took_ns = calloc((size_t)count, sizeof *took_ns);
        if (!took_ns)
                bench_die("calloc");
        bench_run_window(client, BENCH_WARM_UP, window);
        const uint64_t begin = bench_now_ns();
        if (window == 1)
                run_one_by_one(client, count, took_ns);
        else
                bench_run_window(client, count, window);
        const double seconds = (double)(bench_now_ns() - begin) / 1e9;
        printf("bench_rate over=%s n=%ld window=%ld rate=%.0f", over, count, window, (double)count / seconds);
        if (window == 1) {
                bench_sort(took_ns, (size_t)count);
                printf(" p50_us=%.1f p99_us=%.1f", bench_percentile(took_ns, (size_t)count, 50),
                       bench_percentile(took_ns, (size_t)count, 99));
        }
        free(took_ns);
}

/* ---- idle ----------------------------------------------------------------------------------------- */

struct effort {
        long ticks, switches;
};

static long voluntary_switches(const char *path)
{
        char  line[256];
        long  switches = 0;
        FILE *file     = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
                if (sscanf(line, "voluntary_ctxt_switches: %ld", &switches) == 1)
                        break;
        if (file)
                fclose(file);
        return switches;
}

static long ticks_of(const char *path)
{
        char  line[1024] = "";
        long  user = 0, system = 0;
        FILE *file = fopen(path, "r");
        if (!file || !fgets(line, sizeof line, file))
                bench_die(path);
        fclose(file);
        const char *after_name = strrchr(line, ')');
        static const char fields[] = "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld";
        if (!after_name || sscanf(after_name + 2, fields, &user, &system) != 2)
                bench_die(path);
        return user + system;
}

/* Of all threads of a process. */
static struct effort effort_of(pid_t pid)
{
        char           path[512];
        struct effort  effort = { 0, 0 };
        struct dirent *entry;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        effort.ticks = ticks_of(path);
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        DIR *threads = opendir(path);
        while (threads && (entry = readdir(threads))) {
                if (entry->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)pid, entry->d_name);
                effort.switches += voluntary_switches(path);
        }
        if (threads)
                closedir(threads);
        return effort;
}

static void measure_idle(scaler_client *client, const char *over, long seconds, const struct bench_part *parts)
{
        static const char *const names[] = { "scheduler", "worker", "client" };
        const pid_t              pids[]  = { parts[0].pid, parts[1].pid, getpid() };
        struct effort            before[3];
        bench_run_window(client, BENCH_WARM_UP, 10);
        nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL); /* what is due after work is not idleness */
        for (int i = 0; i < 3; i++)
                before[i] = effort_of(pids[i]);
        nanosleep(&(struct timespec){ .tv_sec = seconds }, NULL);
        printf("bench_rate over=%s idle_s=%ld", over, seconds);
        for (int i = 0; i < 3; i++) {
                const struct effort after = effort_of(pids[i]);
                printf(" %s_ticks=%ld %s_switches=%ld", names[i], after.ticks - before[i].ticks, names[i],
                       after.switches - before[i].switches);
        }
}

static int be_client(int argc, char **argv)
{
        char              url[BENCH_URL_MAX], line[BENCH_URL_MAX];
        struct bench_part parts[2];
        const bool        idle  = argc > 3 && strcmp(argv[2], "idle") == 0;
        const long        count = idle ? bench_number(argc, argv, 3, 10, 1) : bench_number(argc, argv, 2, 20000, 1);
        bench_url(argv[1], url);
        parts[0] = bench_part_start("scheduler", url, NULL, -1, line);
        memcpy(url, line, sizeof url);
        parts[1]              = bench_part_start("worker", url, NULL, -1, line);
        scaler_client *client = bench_connect(url, 0);
        if (idle)
                measure_idle(client, argv[1], count, parts);
        else
                measure(client, argv[1], count, bench_number(argc, argv, 3, 1, 1));
        scaler_client_stop(client, 1000);
        scaler_client_destroy(client);
        uint64_t cpu_ns = bench_part_end(&parts[1]) + bench_part_end(&parts[0]);
        cpu_ns += bench_cpu_ns(getpid());
        if (!idle)
                printf(" cpu_us_each=%.2f", (double)cpu_ns / 1e3 / (double)(count + BENCH_WARM_UP));
        putchar('\n');
        return 0;
}

int main(int argc, char **argv)
{
        const char *role = argc > 1 ? argv[1] : "";
        if (argc == 3 && strcmp(role, "scheduler") == 0)
                bench_be_scheduler(argv[2]);
        else if (argc == 3 && strcmp(role, "worker") == 0)
                bench_be_worker(argv[2], SLOTS);
        else if (strcmp(role, "tcp") == 0 || strcmp(role, "ipc") == 0)
                return be_client(argc, argv);
        else
                fprintf(stderr, "usage: bench_rate tcp|ipc [N [WINDOW]] | bench_rate tcp|ipc idle SECONDS\n");
        return role[0] == '\0' ? 2 : 0;
}
