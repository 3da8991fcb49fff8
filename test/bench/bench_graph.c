/*
 * Graphs of tasks that do nothing, through a client, a scheduler and one worker of two slots in three processes: this
 * program in three parts, over the public header alone.
 *
 *     bench_graph chain [N [ROUNDS]]   N dependent tasks, and as many one at a time
 *     bench_graph tree|fanin|stencil|million [SECONDS]
 *                                      graphs of that shape for so long (million: one), and the scheduler's memory
 */
#include <stdbool.h>
#include <string.h>

#include "bench_parts.h"
#include "bench_tools.h"

enum { SLOTS = 2, PENDING_MAX = 4000000, PATIENCE_MS = 600000, READS = 5 };

static scaler_spec noop_spec(void)
{
        scaler_spec spec;
        scaler_init(&spec, sizeof spec);
        spec.function = "noop";
        return spec;
}

static void run_one_by_one(scaler_client *client, long count)
{
        for (long i = 0; i < count; i++) {
                scaler_future *future;
                bench_submit(client, "noop", NULL, &future);
                bench_check("result", scaler_future_result(future, PATIENCE_MS, NULL), NULL);
                scaler_future_unref(future);
        }
}

/* ---- shapes --------------------------------------------------------------------------------------- */

struct shape {
        scaler_spec *specs;
        scaler_arg  *args;
        size_t       count, arg_count;
};

static struct shape room_for(size_t count, size_t args)
{
        struct shape s = { .specs = calloc(count, sizeof *s.specs), .args = calloc(args + 1, sizeof *s.args) };
        if (!s.specs || !s.args)
                bench_die("calloc");
        return s;
}

static void shape_free(struct shape *s)
{
        free(s->specs);
        free(s->args);
}

/* A task that reads the results of those in `from`. */
static void add(struct shape *s, const size_t *from, size_t reads)
{
        scaler_spec *spec = &s->specs[s->count++];
        *spec             = noop_spec();
        spec->args        = &s->args[s->arg_count];
        spec->arg_count   = reads;
        for (size_t i = 0; i < reads; i++)
                s->args[s->arg_count++] = scaler_arg_result(from[i]);
}

static struct shape chain_of(size_t count)
{
        struct shape s = room_for(count, count);
        for (size_t i = 0; i < count; i++) {
                const size_t before = i - 1;
                add(&s, &before, i > 0);
        }
        return s;
}

/* Leaves, a power of ten of them; each ten become one. */
static struct shape tree_of(size_t leaves)
{
        struct shape s = room_for(2 * leaves, 2 * leaves);
        for (size_t i = 0; i < leaves; i++)
                add(&s, NULL, 0);
        for (size_t begin = 0, level = leaves; level > 1; begin += level, level /= 10) {
                for (size_t i = 0; i < level; i += 10) {
                        size_t from[10];
                        for (size_t k = 0; k < 10; k++)
                                from[k] = begin + i + k;
                        add(&s, from, 10);
                }
        }
        return s;
}

static struct shape fan_in_of(size_t width)
{
        struct shape s    = room_for(width + 1, width);
        size_t      *from = calloc(width, sizeof *from);
        if (!from)
                bench_die("calloc");
        for (size_t i = 0; i < width; i++) {
                from[i] = i;
                add(&s, NULL, 0);
        }
        add(&s, from, width);
        free(from);
        return s;
}

static struct shape stencil_of(size_t wide, size_t deep)
{
        struct shape s = room_for(wide * deep, wide * deep * READS);
        for (size_t i = 0; i < wide * deep; i++) {
                const size_t row = i / wide, col = i % wide;
                size_t       from[READS] = { 0 };
                for (size_t k = 0; k < READS && row > 0; k++)
                        from[k] = (row - 1) * wide + (col + k + wide - 2) % wide;
                add(&s, from, row > 0 ? READS : 0);
        }
        return s;
}

static void run_graph(scaler_client *client, const struct shape *s)
{
        scaler_error   err;
        scaler_graph   options;
        scaler_future *whole;
        scaler_init(&options, sizeof options);
        options.whole = &whole;
        bench_check("graph", scaler_client_submit_graph(client, s->specs, s->count, &options, NULL, NULL, &err), &err);
        bench_check("graph", scaler_future_result(whole, PATIENCE_MS, NULL), NULL);
        scaler_future_unref(whole);
}

/* ---- what is measured ------------------------------------------------------------------------------ */

static double seconds_since(uint64_t begin_ns)
{
        return (double)(bench_now_ns() - begin_ns) / 1e9;
}

static long peak_kib(pid_t pid)
{
        char  path[64], line[256];
        long  kib = 0;
        snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
                if (sscanf(line, "VmHWM: %ld", &kib) == 1)
                        break;
        if (file)
                fclose(file);
        return kib;
}

static void measure_chain(scaler_client *client, long count, long rounds)
{
        struct shape s = chain_of((size_t)count);
        run_one_by_one(client, 1000);
        for (long i = 0; i < rounds; i++) {
                uint64_t begin = bench_now_ns();
                run_one_by_one(client, count);
                const double one = seconds_since(begin);
                begin            = bench_now_ns();
                run_graph(client, &s);
                const double chained = seconds_since(begin);
                printf("bench_graph shape=chain n=%ld rate=%.0f one_by_one=%.0f ratio=%.2f\n", count,
                       (double)count / chained, (double)count / one, one / chained);
        }
        shape_free(&s);
}

static void measure_shape(scaler_client *client, const char *shape, long seconds, pid_t scheduler)
{
        const bool   million = strcmp(shape, "million") == 0;
        struct shape s = million                        ? stencil_of(1000, 1000)
                         : strcmp(shape, "tree") == 0   ? tree_of(100000)
                         : strcmp(shape, "fanin") == 0  ? fan_in_of(100000)
                                                        : stencil_of(1000, 100);
        long           graphs = 0;
        const long     before = peak_kib(scheduler);
        const uint64_t begin  = bench_now_ns();
        do {
                run_graph(client, &s);
                graphs++;
        } while (!million && seconds_since(begin) < (double)seconds);
        const double took = seconds_since(begin);
        printf("bench_graph shape=%s nodes=%zu graphs=%ld rate=%.0f seconds=%.2f scheduler_before_kib=%ld "
               "scheduler_peak_kib=%ld\n",
               shape, s.count, graphs, (double)s.count * (double)graphs / took, took, before, peak_kib(scheduler));
        shape_free(&s);
}

static int be_client(int argc, char **argv)
{
        char url[BENCH_URL_MAX], line[BENCH_URL_MAX];
        bench_url("tcp", url);
        const struct bench_part scheduler = bench_part_start("scheduler", url, NULL, -1, line);
        snprintf(url, sizeof url, "%s", line);
        const struct bench_part worker = bench_part_start("worker", url, NULL, -1, line);
        scaler_client          *client = bench_connect(url, PENDING_MAX);
        if (strcmp(argv[1], "chain") == 0)
                measure_chain(client, bench_number(argc, argv, 2, 10000, 1), bench_number(argc, argv, 3, 1, 1));
        else
                measure_shape(client, argv[1], bench_number(argc, argv, 2, 2, 0), scheduler.pid);
        scaler_client_stop(client, 10000);
        scaler_client_destroy(client);
        bench_part_end(&worker);
        bench_part_end(&scheduler);
        return 0;
}

int main(int argc, char **argv)
{
        static const char *const shapes[] = { "chain", "tree", "fanin", "stencil", "million" };
        const char              *role     = argc > 1 ? argv[1] : "";
        if (argc == 3 && strcmp(role, "scheduler") == 0) {
                bench_be_scheduler(argv[2]);
                return 0;
        }
        if (argc == 3 && strcmp(role, "worker") == 0) {
                bench_be_worker(argv[2], SLOTS);
                return 0;
        }
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
                if (strcmp(role, shapes[i]) == 0)
                        return be_client(argc, argv);
        fprintf(stderr, "usage: bench_graph chain [N [ROUNDS]] | bench_graph tree|fanin|stencil|million [SECONDS]\n");
        return 2;
}
