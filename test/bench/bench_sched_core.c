/*
 * What the scheduler's core alone costs: nanoseconds per task on the way SUBMIT, ASSIGN, DONE, RESULT,
 * acknowledged, with 1,000 tasks in flight; and bytes per queued task at 1,000,000 queued.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_sched.h"

enum { CLIENT_LINK = 1, WORKER_LINK = 2, CLIENT = 11, IN_FLIGHT = 1000, ROUNDS = 2000, QUEUED = 1000000, SAMPLES = 5 };

static struct sc_out out;
static sc_ns         now;

static void step(struct sc_sched *s, struct sc_event ev)
{
        out.len = 0;
        ev.now  = now;
        sc_sched_step(s, &ev, &out);
}

static double seconds(void)
{
        struct timespec at;
        clock_gettime(CLOCK_MONOTONIC, &at);
        return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void submit(struct sc_sched *s, uint64_t seq)
{
        struct sc_msg m = { .kind = SC_MSG_SUBMIT };
        m.submit.task   = (struct sc_id){ CLIENT, seq };
        m.submit.spec   = (struct sc_spec){ .function = { "noop", 4 }, .body = { "0123456789abcdef", 16 } };
        step(s, (struct sc_event){ .kind = SC_EV_MSG, .link = CLIENT_LINK, .msg = &m });
}

static void done(struct sc_sched *s, struct sc_id task, uint64_t run)
{
        struct sc_msg m = { .kind = SC_MSG_DONE, .done = { .task = task, .run = run } };
        m.done.outcome.result = (struct sc_view){ "01234567", 8 };
        step(s, (struct sc_event){ .kind = SC_EV_MSG, .link = WORKER_LINK, .msg = &m });
}

static struct sc_sched *begin(struct sc_mem *mem)
{
        sc_mem_init_libc(mem);
        struct sc_sched *s = sc_sched_create(mem, &(struct sc_sched_options){ .id = 1, .epoch = 1, .seed = 1 });
        SC_ASSERT(s != NULL);
        struct sc_msg hello = { .kind = SC_MSG_HELLO };
        hello.hello = (struct sc_hello){ .version_min = 1, .version_max = 1, .role = SC_ROLE_CLIENT, .id = CLIENT };
        step(s, (struct sc_event){ .kind = SC_EV_UP, .link = CLIENT_LINK, .msg = &hello });
        struct sc_msg want = { .kind = SC_MSG_WANT, .want = { .tasks = 2 * QUEUED, .kib = 1u << 19 } };
        step(s, (struct sc_event){ .kind = SC_EV_MSG, .link = CLIENT_LINK, .msg = &want });
        return s;
}

static void worker_up(struct sc_sched *s, uint32_t credit)
{
        const struct sc_view function = { "noop", 4 };
        struct sc_msg        hello    = { .kind = SC_MSG_HELLO };
        hello.hello = (struct sc_hello){
                .version_min = 1, .version_max = 1, .role = SC_ROLE_WORKER, .id = 7,
                .slots = 2, .functions = &function, .function_count = 1 };
        step(s, (struct sc_event){ .kind = SC_EV_UP, .link = WORKER_LINK, .msg = &hello, .tasks = credit });
}

/* Every DONE brings the next ASSIGN; the client confirms and submits as many again in batches of 64. */
static double hot_path(void)
{
        struct sc_mem    mem;
        struct sc_sched *s   = begin(&mem);
        uint64_t         seq = 0;
        static struct { struct sc_id task; uint64_t run; } ring[2048];
        uint32_t head = 0, tail = 0;
        worker_up(s, 256);
        const double from = seconds();
        for (; seq < IN_FLIGHT;) {
                submit(s, ++seq);
                for (uint32_t i = 0; i < out.len; i++) {
                        ring[tail % 2048].task  = out.at[i].msg.assign.task;
                        ring[tail++ % 2048].run = out.at[i].msg.assign.run;
                }
        }
        for (uint64_t n = 1; n <= (uint64_t)IN_FLIGHT * ROUNDS; n++) {
                done(s, ring[head % 2048].task, ring[head % 2048].run);
                head++;
                for (uint32_t i = 0; i < out.len; i++) {
                        if (out.at[i].kind == SC_FX_SEND && out.at[i].msg.kind == SC_MSG_ASSIGN) {
                                ring[tail % 2048].task  = out.at[i].msg.assign.task;
                                ring[tail++ % 2048].run = out.at[i].msg.assign.run;
                        }
                }
                if (n % 64 != 0)
                        continue;
                step(s, (struct sc_event){ .kind = SC_EV_ACKED, .link = CLIENT_LINK, .count = 64 });
                for (int k = 0; k < 64; k++)
                        submit(s, ++seq);
                now += 50 * SC_US;
        }
        const double each = (seconds() - from) / ((double)IN_FLIGHT * ROUNDS) * 1e9;
        sc_sched_destroy(s);
        return each;
}

static void queue_deep(void)
{
        struct sc_mem    mem;
        struct sc_sched *s      = begin(&mem);
        const size_t     before = mem.used;
        const double     from   = seconds();
        for (uint64_t seq = 1; seq <= QUEUED; seq++)
                submit(s, seq);
        SC_ASSERT(sc_sched_rows(s) == QUEUED);
        printf("queued %d: %.1f bytes and %.0f ns per task\n", QUEUED, (double)(mem.used - before) / QUEUED,
               (seconds() - from) / QUEUED * 1e9);
        sc_sched_destroy(s);
}

int main(void)
{
        for (int i = 0; i < SAMPLES; i++)
                printf("in flight %d: %.0f ns per task\n", IN_FLIGHT, hot_path());
        queue_deep();
        return EXIT_SUCCESS;
}
