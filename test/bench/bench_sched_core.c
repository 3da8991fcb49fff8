/*
 * What the scheduler's core alone costs, in nanoseconds of CPU per task: the way SUBMIT, ASSIGN, DONE, RESULT,
 * acknowledged, with some tasks in flight, for so many workers, requirement sets, clients and tasks queued
 * behind them; and bytes per queued task.  `bench_sched_core NAME` runs the rows whose name has NAME in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_sched.h"

enum { CLIENT_LINK = 1, CLIENT = 11, CLIENTS_MAX = 64, WORKER_LINK = 1000, SAMPLES = 5, RING = 1 << 16, BATCH = 64 };

/* What a row of the table is about. */
struct shape {
        const char *name;
        uint32_t    workers, slots, credit, sets, clients, flight, queued, tasks, samples;
};

struct run {
        struct sc_id task;
        uint64_t     run;
        sc_link_id   link;
};

static struct sc_out out;
static sc_ns         now;
static struct run    ring[RING];
static uint32_t      head, tail;
static uint64_t      seq[CLIENTS_MAX], acks[CLIENTS_MAX];
static char          needs[128][16];

static void collect(void)
{
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_effect *e = &out.at[i];
                if (e->kind != SC_FX_SEND)
                        continue;
                if (e->msg.kind == SC_MSG_ASSIGN)
                        ring[tail++ % RING] = (struct run){ e->msg.assign.task, e->msg.assign.run, e->link };
                else if (e->msg.kind == SC_MSG_RESULT)
                        acks[e->link - CLIENT_LINK]++;
        }
        SC_ASSERT(tail - head <= RING);
}

static void step(struct sc_sched *s, struct sc_event ev)
{
        do {
                out.len = 0;
                ev.now  = now;
                sc_sched_step(s, &ev, &out);
                collect();
                ev = (struct sc_event){ .kind = SC_EV_TICK };
        } while (sc_sched_deadline(s) <= now);
}

static double seconds(void)
{
        struct timespec at;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
        return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void submit(struct sc_sched *s, uint32_t client, uint32_t set)
{
        struct sc_msg  m    = { .kind = SC_MSG_SUBMIT };
        struct sc_plan plan = { .needs = { needs[set], strlen(needs[set]) } };
        m.submit.task       = (struct sc_id){ CLIENT + client, ++seq[client] };
        m.submit.spec       = (struct sc_spec){ .function = { "noop", 4 }, .body = { "0123456789abcdef", 16 } };
        m.submit.spec.plan  = set > 0 ? &plan : NULL;
        step(s, (struct sc_event){ .kind = SC_EV_MSG, .link = CLIENT_LINK + client, .msg = &m });
}

static void done(struct sc_sched *s, const struct run *run)
{
        struct sc_msg m = { .kind = SC_MSG_DONE, .done = { .task = run->task, .run = run->run } };
        m.done.outcome.result = (struct sc_view){ "01234567", 8 };
        step(s, (struct sc_event){ .kind = SC_EV_MSG, .link = run->link, .msg = &m });
}

static void client_up(struct sc_sched *s, uint32_t client, uint32_t rows)
{
        struct sc_msg hello = { .kind = SC_MSG_HELLO };
        hello.hello         = (struct sc_hello){
                .version_min = 1, .version_max = 1, .role = SC_ROLE_CLIENT, .id = CLIENT + client };
        step(s, (struct sc_event){ .kind = SC_EV_UP, .link = CLIENT_LINK + client, .msg = &hello });
        struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = rows, .kib = 1u << 20 } };
        step(s, (struct sc_event){ .kind = SC_EV_MSG, .link = CLIENT_LINK + client, .msg = &want });
}

/* With more sets than one, each worker offers all of them: none is scarce, all have to be looked at. */
static void worker_up(struct sc_sched *s, uint32_t index, const struct shape *shape)
{
        static const struct sc_view function = { "noop", 4 };
        static char                 offers[SC_AMOUNTS_TEXT + 1];
        struct sc_msg               hello = { .kind = SC_MSG_HELLO };
        int len = snprintf(offers, sizeof offers, "cpu=%u", shape->slots * 1000);
        hello.hello = (struct sc_hello){
                .version_min = 1, .version_max = 1, .role = SC_ROLE_WORKER, .id = 100000 + index,
                .slots = shape->slots, .offers = { offers, (size_t)len },
                .functions = &function, .function_count = 1 };
        step(s, (struct sc_event){
                .kind = SC_EV_UP, .link = WORKER_LINK + index, .msg = &hello, .tasks = shape->credit });
}

static struct sc_sched *begin(struct sc_mem *mem, const struct shape *shape)
{
        sc_mem_init_libc(mem);
        head = tail = 0;
        memset(seq, 0, sizeof seq);
        memset(acks, 0, sizeof acks);
        for (uint32_t i = 1; i < shape->sets; i++)
                snprintf(needs[i], sizeof needs[i], "cpu=%u", 500 + i);
        struct sc_sched *s = sc_sched_create(mem, &(struct sc_sched_options){
                .id = 1, .epoch = 1, .seed = 1, .tasks_max = 30000000, .bytes_max = UINT64_C(8) << 30 });
        SC_ASSERT(s != NULL);
        for (uint32_t i = 0; i < shape->clients; i++)
                client_up(s, i, 2 * (shape->queued + shape->flight) / shape->clients + 10000);
        return s;
}

static void acknowledge(struct sc_sched *s, const struct shape *shape)
{
        for (uint32_t c = 0; c < shape->clients; c++) {
                if (acks[c] == 0)
                        continue;
                const uint64_t count = acks[c];
                acks[c]              = 0;
                step(s, (struct sc_event){ .kind = SC_EV_ACKED, .link = CLIENT_LINK + c, .count = count });
        }
}

/* Every DONE brings the next ASSIGN; clients confirm and submit as many again in batches. */
static double pass_through(struct sc_sched *s, const struct shape *shape)
{
        uint32_t     next = 0;
        const double from = seconds();
        for (uint32_t n = 1; n <= shape->tasks; n++) {
                SC_ASSERT(head != tail);
                const struct run run = ring[head++ % RING];
                done(s, &run);
                if (n % BATCH != 0)
                        continue;
                acknowledge(s, shape);
                for (int k = 0; k < BATCH; k++, next++)
                        submit(s, next % shape->clients, next % shape->sets);
                now += 50 * SC_US;
        }
        return (seconds() - from) / shape->tasks * 1e9;
}

static int compare(const void *a, const void *b)
{
        const double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

static void measure(const struct shape *shape)
{
        double   each[SAMPLES], queue_ns = 0;
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < shape->samples; i++) {
                struct sc_mem    mem;
                struct sc_sched *s = begin(&mem, shape);
                const size_t     before = mem.used;
                const uint32_t   ahead  = shape->queued + shape->flight;
                const double     from   = seconds();
                for (uint32_t k = 0; k < ahead; k++)
                        submit(s, k % shape->clients, k % shape->sets);
                SC_ASSERT(sc_sched_rows(s) == ahead);
                queue_ns = (seconds() - from) / ahead * 1e9;
                bytes    = (mem.used - before) / ahead;
                for (uint32_t k = 0; k < shape->workers; k++)
                        worker_up(s, k, shape);
                each[i] = pass_through(s, shape);
                sc_sched_destroy(s);
        }
        qsort(each, shape->samples, sizeof *each, compare);
        printf("%-28s %7.0f ns per task (%.0f to queue, %" PRIu64 " bytes queued)\n", shape->name,
               each[shape->samples / 2], queue_ns, bytes);
        fflush(stdout);
}

int main(int argc, char **argv)
{
        static const struct shape shapes[] = {
                { "1 worker", 1, 2, 256, 1, 1, 1000, 0, 1000000, 5 },
                { "10 workers", 10, 8, 24, 1, 1, 1000, 1000, 1000000, 5 },
                { "1,000 workers", 1000, 8, 24, 1, 1, 24000, 1000, 1000000, 5 },
                { "1,000 workers, shallow", 1000, 8, 24, 1, 1, 4000, 0, 1000000, 5 },
                { "10 workers, 64 clients", 10, 8, 24, 1, 64, 1000, 1000, 1000000, 5 },
                { "10 workers, 100 sets", 10, 8, 24, 100, 1, 1000, 1000, 300000, 5 },
                { "1,000 workers, 100 sets", 1000, 8, 24, 100, 1, 24000, 10000, 300000, 5 },
                { "64 clients, 100 sets", 10, 8, 24, 100, 64, 1000, 6400, 300000, 5 },
                { "1,000 queued", 10, 8, 24, 1, 1, 240, 1000, 1000000, 3 },
                { "1,000,000 queued", 10, 8, 24, 1, 1, 240, 1000000, 1000000, 3 },
                { "10,000,000 queued", 10, 8, 24, 1, 1, 240, 10000000, 1000000, 1 },
        };
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                if (argc < 2 || strstr(shapes[i].name, argv[1]))
                        measure(&shapes[i]);
        }
        return EXIT_SUCCESS;
}
