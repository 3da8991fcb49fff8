/*
 * A small world that says everything a peer may say, and much that it may not, in random order, with
 * every invariant checked after every step.  In the end all peers behave, and nothing may be left.  The
 * same world runs with every Nth allocation failing.
 */
#include "test_sched_kit.h"

#include "after.h"
#include "run_tests.h"
#include "sc_rng.h"

enum { WORKERS = 4, CLIENTS = 3, RUNS = 4096, TASKS = 400 };

struct run_known {
        struct sc_id task;
        uint64_t     run, epoch;
        uint32_t     worker; /* whose */
        bool         live, started, recalled, kept, waits;
};

struct world {
        struct sc_rng    rng;
        sc_link_id       next_link, client_link[CLIENTS], worker_link[WORKERS], admin_link;
        uint64_t         seq[CLIENTS], unacked[CLIENTS];
        uint8_t          ended[CLIENTS][TASKS + 1]; /* results seen, modulo repeats */
        uint32_t         grant[CLIENTS];
        bool             gone[CLIENTS];
        struct run_known run[RUNS];
        uint32_t         runs, confirms, cancels;
        bool             calm;
        bool             even; /* nobody needs, offers, or is worth more than another */
};

static struct world w;

static uint64_t below(uint64_t n)
{
        return sc_rng_below(&w.rng, n);
}

static int client_of(sc_link_id link)
{
        for (int i = 0; i < CLIENTS; i++) {
                if (link != 0 && w.client_link[i] == link)
                        return i;
        }
        return -1;
}

static int worker_of(sc_link_id link)
{
        for (int i = 0; i < WORKERS; i++) {
                if (link != 0 && w.worker_link[i] == link)
                        return i;
        }
        return -1;
}

static struct run_known *known(uint32_t worker, uint64_t run, uint64_t epoch)
{
        for (uint32_t i = 0; i < w.runs; i++) {
                if (w.run[i].live && w.run[i].worker == worker && w.run[i].run == run && w.run[i].epoch == epoch)
                        return &w.run[i];
        }
        return NULL;
}

static void run_add(uint32_t worker, struct sc_id id, uint64_t run, uint64_t epoch)
{
        uint32_t at = 0;
        while (at < w.runs && w.run[at].live)
                at++;
        ck_assert_uint_lt(at, RUNS);
        if (at == w.runs)
                w.runs++;
        w.run[at] = (struct run_known){ .task = id, .run = run, .epoch = epoch, .worker = worker, .live = true };
}

static void worker_hears(uint32_t i, const struct sc_msg *m)
{
        if (m->kind == SC_MSG_ASSIGN) {
                run_add(i, m->assign.task, m->assign.run, EPOCH);
        } else if (m->kind == SC_MSG_RECALL) {
                struct run_known *r = known(i, m->about.run, EPOCH);
                if (r)
                        r->recalled = true;
        } else if (m->kind == SC_MSG_KEEP || m->kind == SC_MSG_DROP) {
                struct run_known *r = known(i, m->about.held_run, m->about.held_epoch);
                ck_assert_ptr_nonnull(r);
                r->live  = m->kind == SC_MSG_KEEP;
                r->run   = m->about.run;
                r->epoch = EPOCH;
        }
}

static void client_hears(int i, const struct sc_msg *m)
{
        if (m->kind == SC_MSG_RESULT) {
                ck_assert_uint_eq(m->result.task.hi, (uint64_t)(CLIENT + i));
                w.unacked[i]++;
                w.ended[i][m->result.task.lo] = 1;
        }
        w.confirms += m->kind == SC_MSG_CONFIRM;
}

static void link_gone(sc_link_id link)
{
        int c = client_of(link), k = worker_of(link);
        if (c >= 0) {
                w.client_link[c] = 0;
                w.unacked[c]     = 0;
        }
        if (k >= 0)
                w.worker_link[k] = 0;
        if (link == w.admin_link)
                w.admin_link = 0;
        for (uint32_t i = 0; k >= 0 && i < w.runs; i++) {
                if ((int)w.run[i].worker == k && !w.run[i].started)
                        w.run[i].live = false;
        }
}

static void carry_out(void)
{
        ck_assert_uint_le(out.len, SC_EFFECTS_MAX);
        for (uint32_t i = 0; i < out.len; i++) {
                const struct sc_effect *e = &out.at[i];
                int                     c = client_of(e->link), k = worker_of(e->link);
                if (e->kind == SC_FX_GRANT && c >= 0)
                        w.grant[c] = e->tasks;
                if (e->kind == SC_FX_CLOSE)
                        link_gone(e->link);
                if (e->kind == SC_FX_SEND && c >= 0)
                        client_hears(c, &e->msg);
                if (e->kind == SC_FX_SEND && k >= 0)
                        worker_hears((uint32_t)k, &e->msg);
        }
}

/* The tasks of the first workers submit as clients that have their ids. */
static uint64_t worker_id(uint32_t k)
{
        return k + 1 < CLIENTS ? CLIENT + 1 + k : WORKER + k;
}

static struct run_known *some_run(uint32_t k);

/* Mostly of a run that its worker has, now and then of one that nobody has. */
static void name_parent(int i, struct sc_plan *plan, uint8_t room[SC_PARENT_SIZE])
{
        const struct run_known *r = i > 0 ? some_run((uint32_t)i - 1) : NULL;
        if (!r || below(3) == 0)
                return;
        sc_after_put(room, 0, r->task.hi);
        sc_after_put(room, 1, r->task.lo);
        plan->parent     = (struct sc_view){ room, SC_PARENT_SIZE };
        plan->parent_run = below(8) ? r->run : below(20);
}

static struct sc_view some_needs(void)
{
        static const char *const needs[] = { "", "gpu=1000", "gpu=500", "cpu=2000", "cpu=1,linux", "mem", "gpu=9000" };
        const char              *some    = w.even ? "" : needs[below(7)];
        return (struct sc_view){ some, strlen(some) };
}

/* A client's share and limits may be others each time it comes, its tenant only when nothing of its is left. */
static struct sc_hello some_client(int i)
{
        struct sc_hello hello = hello_of(SC_ROLE_CLIENT, (uint64_t)(CLIENT + i));
        hello.epoch           = EPOCH;
        if (w.even)
                return hello;
        hello.tenant      = (struct sc_view){ "t", below(2) };
        hello.weight      = (uint32_t)below(3) * 1000;
        hello.running_max = (uint32_t)below(4);
        return hello;
}

static struct sc_hello some_worker(uint32_t k, const struct sc_hold *holds, uint32_t count)
{
        static const char *const offers[] = { "", "gpu=2000", "cpu=2000,gpu=1000,linux", "cpu=500,mem=1000" };
        struct sc_hello          hello    = hello_of(SC_ROLE_WORKER, worker_id(k));
        const char              *some     = w.even ? "" : offers[below(4)];
        hello.slots = hello.free_slots = 1 + k % 3;
        hello.functions      = functions_fg;
        hello.function_count = 2;
        hello.holds          = holds;
        hello.hold_count     = count;
        hello.offers         = (struct sc_view){ some, strlen(some) };
        return hello;
}

/* Mostly times in the next second, now and then one that has none. */
static struct sc_plan some_plan(void)
{
        static const struct sc_view lists[] = { { "", 0 }, { "42", 2 }, { "1-41,timeout", 12 } };
        return (struct sc_plan){
                .not_before_ms = below(3) == 0 ? below(200) : 0, .queue_ms = below(3) == 0 ? below(400) : 0,
                .deadline_ms = below(3) == 0 ? below(800) : 0, .backoff_ms = (uint32_t)below(3) * 20,
                .backoff_max_ms = (uint32_t)below(2) * 30, .tag = { "red", below(2) * 3 }, .retry_on = lists[below(3)],
        };
}

static void client_acts(int i)
{
        if (w.client_link[i] == 0) {
                w.client_link[i] = ++w.next_link;
                up(w.client_link[i], some_client(i), 0);
                return;
        }
        struct sc_spec spec = spec_f();
        spec.retries        = (uint32_t)below(3);
        spec.timeout_ms     = below(2) * 50;
        spec.flags          = (uint8_t)below(4);
        if (below(8) == 0)
                spec.function = (struct sc_view){ below(2) ? "g" : "unknown", below(2) ? 1 : 7 };
        if (below(8) == 0)
                spec = (struct sc_spec){ .kind = SC_TASK_COMMAND, .body = { "x", 1 } };
        if (spec.function.len == 7)
                spec.function.ptr = "unknown";
        if (!w.even && below(3) == 0)
                spec.priority = (int32_t)below(5) - 2;
        struct sc_plan plan = some_plan();
        uint8_t        room[SC_PARENT_SIZE];
        plan.needs          = some_needs();
        name_parent(i, &plan, room);
        if (below(2))
                spec.plan = &plan;
        struct sc_id some = task((uint64_t)(CLIENT + i), 1 + below(w.seq[i] + 1));
        const struct sc_cancel_many many = { .up_to = below(2) * some.lo, .force = below(2) };
        switch (below(13)) {
        case 0:
                cancel(w.client_link[i], some, below(2));
                break;
        case 1:
                acked(w.client_link[i], below(w.unacked[i] + 1));
                w.unacked[i] -= 0;
                break;
        case 2:
                down(w.client_link[i]);
                carry_out();
                link_gone(w.client_link[i]);
                out.len = 0;
                break;
        case 3:
                say(w.client_link[i], &(struct sc_msg){ .kind = SC_MSG_WANT,
                                                        .want = { .tasks = (uint32_t)below(300), .kib = 100 } });
                break;
        case 4:
                submit_spec(w.client_link[i], (uint64_t)(CLIENT + i), some.lo, spec);
                break;
        case 5:
                if (below(8) == 0)
                        cancel_many(w.client_link[i], many);
                break;
        default:
                if (w.seq[i] < TASKS)
                        submit_spec(w.client_link[i], (uint64_t)(CLIENT + i), ++w.seq[i], spec);
        }
}

/* Confirms what the client has; kept apart so that counts stay right. */
static void client_acks(int i)
{
        uint64_t count = w.unacked[i];
        if (w.client_link[i] == 0 || count == 0)
                return;
        w.unacked[i] = 0;
        acked(w.client_link[i], count);
}

static void worker_joins(uint32_t k)
{
        struct sc_hold holds[64];
        uint32_t       count = 0;
        for (uint32_t i = 0; i < w.runs && count < 64; i++) {
                struct run_known *r = &w.run[i];
                if (r->live && r->worker == k)
                        holds[count++] = (struct sc_hold){ r->task, r->epoch, r->run,
                                                           SC_HOLD_RUNNING | (r->waits ? SC_HOLD_WAITING : 0) };
        }
        w.worker_link[k] = ++w.next_link;
        up(w.worker_link[k], some_worker(k, holds, count), 1 + (uint32_t)below(8));
}

static struct run_known *some_run(uint32_t k)
{
        uint32_t start = w.runs > 0 ? (uint32_t)below(w.runs) : 0;
        for (uint32_t i = 0; i < w.runs; i++) {
                struct run_known *r = &w.run[(start + i) % w.runs];
                if (r->live && r->worker == k)
                        return r;
        }
        return NULL;
}

static void worker_ends(sc_link_id link, struct run_known *r)
{
        static const uint8_t reasons[] = { SC_REASON_SUCCESS, SC_REASON_SUCCESS, SC_REASON_TASK, SC_REASON_CANCELLED };
        struct run_known     it        = *r;
        r->live                        = false;
        if (it.recalled && !it.started && below(2))
                about(link, SC_MSG_RETURNED, it.task, it.run);
        else
                done_as(link, it.task, it.run,
                        (struct sc_outcome){ .reason = reasons[below(4)], .wall_us = below(200000), .code = 42 });
}

static void worker_acts(uint32_t k)
{
        if (w.worker_link[k] == 0) {
                worker_joins(k);
                return;
        }
        sc_link_id        link = w.worker_link[k];
        struct run_known *r    = some_run(k);
        switch (below(w.calm ? 8 : 40)) {
        case 8:
                down(link);
                carry_out();
                link_gone(link);
                out.len = 0;
                break;
        case 9:
                bye(link);
                break;
        case 10:
                step((struct sc_event){ .kind = SC_EV_GRANT, .link = link, .tasks = (uint32_t)below(9) });
                break;
        case 11:
                done(link, task(CLIENT, 1 + below(TASKS)), below(1000), SC_REASON_SUCCESS);
                break;
        case 12:
                done(link, task(CLIENT, 1), 1, SC_REASONS);
                break;
        case 13:
                worker_joins(k);
                break; /* again, on a newer link */
        case 14:
                say(link, &(struct sc_msg){ .kind = SC_MSG_SUBMIT });
                break;
        case 3:
        case 4:
                if (r && r->epoch == EPOCH) {
                        r->started = true;
                        r->waits   = !r->waits;
                        about(link, r->waits ? SC_MSG_WAITING : SC_MSG_RESUMED, r->task, r->run);
                }
                break;
        case 0:
        case 1:
        case 2:
                if (r && !r->started) {
                        r->started = true;
                        about(link, SC_MSG_STARTED, r->task, r->run);
                }
                break;
        default:
                if (r && r->epoch == EPOCH)
                        worker_ends(link, r);
        }
}

static void admin_acts(void)
{
        if (w.admin_link == 0) {
                w.admin_link = ++w.next_link;
                up(w.admin_link, hello_of(SC_ROLE_ADMIN, ADMIN), 0);
                return;
        }
        if (below(10) == 0) {
                const uint64_t whose = below(2) * (CLIENT + below(CLIENTS));
                cancel_many(w.admin_link, (struct sc_cancel_many){ .tag = { "red", below(2) * 3 }, .client = whose });
                return;
        }
        if (below(2)) {
                cancel(w.admin_link, task(CLIENT + below(CLIENTS), 1 + below(TASKS)), below(2));
                return;
        }
        struct sc_query_msg q = { .ticket = 1, .what = (uint8_t)below(6), .cursor = below(50) };
        q.rows_max            = (uint32_t)below(260);
        say(w.admin_link, &(struct sc_msg){ .kind = SC_MSG_QUERY, .query = q });
}

static void act(void)
{
        out.len         = 0;
        uint64_t choice = below(100);
        rig.now += (sc_ns)below(20 * SC_MS);
        if (choice < 40)
                client_acts((int)below(CLIENTS));
        else if (choice < 85)
                worker_acts((uint32_t)below(WORKERS));
        else if (choice < 90)
                client_acks((int)below(CLIENTS));
        else if (choice < 94)
                admin_acts();
        else
                tick(below(100) == 0 ? 10 * SC_S : 0);
        carry_out();
}

static void begin(uint64_t seed)
{
        memset(&w, 0, sizeof w);
        w.rng = (struct sc_rng){ seed };
        /* Runs that workers hold from before this epoch. */
        for (uint32_t k = 0; k < WORKERS; k++) {
                run_add(k, task(CLIENT + k % CLIENTS, 1 + k), 900 + k, EPOCH - 1);
                w.run[w.runs - 1].started = true;
        }
}

static void quit(void)
{
        w.calm = true;
        for (int round = 0; round < 60 && sc_sched_rows(rig.s) > 0; round++) {
                for (int i = 0; i < CLIENTS; i++) {
                        if (w.client_link[i] != 0) {
                                bye(w.client_link[i]);
                                carry_out();
                        }
                }
                for (uint32_t k = 0; k < 50 * WORKERS; k++) {
                        out.len = 0;
                        worker_acts(k % WORKERS);
                        carry_out();
                }
                tick(4 * SC_S);
                carry_out();
        }
        ck_assert_uint_eq(sc_sched_rows(rig.s), 0);
        ck_assert_uint_eq(stats().bytes_used, 0);
        for (uint32_t k = 0; k < WORKERS; k++) {
                if (w.worker_link[k] != 0) {
                        down(w.worker_link[k]);
                        w.worker_link[k] = 0;
                }
        }
        ck_assert_int_eq(sc_sched_deadline(rig.s), SC_NEVER);
}

static void play(uint64_t seed, size_t fail_at, int steps)
{
        static const struct sc_tenant_options tenants[] = {
                { .name = { "t", 1 }, .weight = 3000, .running_max = 5, .queued_max = 300 },
                { .name = { "", 0 }, .running_max = 6 },
        };
        struct sc_sched_options options = {
                .client_grace = 5 * SC_S, .tasks_max = seed % 2 ? 600 : 64, .aging = SC_S,
                .allocate = (uint8_t)(seed / 2 % 3), .tenants = tenants, .tenant_count = seed % 3 ? 2 : 0 };
        if (!setup_at(&options, fail_at)) {
                ck_assert_uint_eq(fail_mem_leaks(&rig.fail), 0);
                return;
        }
        begin(seed);
        w.even = seed % 5 == 0;
        for (int i = 0; i < steps; i++)
                act();
        quit();
        teardown();
}

START_TEST(every_invariant_holds_whatever_the_peers_do)
{
        for (uint64_t seed = 0; seed < 60; seed++)
                play(seed, 0, 1500);
}
END_TEST

START_TEST(an_allocation_that_fails_anywhere_harms_nobody)
{
        for (size_t n = 1; n < 700; n++)
                play(n % 7, n, 300);
}
END_TEST

int main(void)
{
        TCase *tests = tcase_create("scheduler");
        tcase_add_test(tests, every_invariant_holds_whatever_the_peers_do);
        tcase_add_test(tests, an_allocation_that_fails_anywhere_harms_nobody);
        return run_tests("sched chaos", tests);
}
