/*
 * Processes: an inbox, a clock that may be wrong in offset and rate, memory that is counted and may run
 * out, and turns as the runtime has them: drain the inbox, tick what is due, flush, sleep until the
 * deadline.  A paused process takes no turn; when it goes on, it learns by how much it is late.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* ---- memory ---------------------------------------------------------------------------------------- */

static bool refuse(struct sim_node *n)
{
        n->allocations++;
        if (n->fail_at == 0 || n->allocations < n->fail_at || n->allocations >= n->fail_at + n->fail_count)
                return false;
        return true;
}

static void *node_alloc(void *ctx, size_t size)
{
        struct sim_node *n   = ctx;
        void            *ptr = refuse(n) ? NULL : malloc(size);
        n->blocks += ptr != NULL;
        return ptr;
}

static void *node_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
        struct sim_node *n = ctx;
        if (new_size > old_size && refuse(n))
                return NULL;
        return realloc(ptr, new_size);
}

static void node_release(void *ctx, void *ptr, size_t size)
{
        struct sim_node *n = ctx;
        (void)size;
        n->blocks--;
        free(ptr);
}

static void node_mem_init(struct sim_node *n)
{
        memset(&n->mem, 0, sizeof n->mem);
        n->mem.ctx     = n;
        n->mem.alloc   = node_alloc;
        n->mem.resize  = node_resize;
        n->mem.release = node_release;
        n->mem.budget  = SIZE_MAX;
}

/* ---- clock ----------------------------------------------------------------------------------------- */

sc_ns sim_node_now(const struct sim *w, uint32_t node)
{
        const struct sim_node *n = &w->nodes[node];
        return n->clock_offset + w->now + w->now / 1000000 * n->clock_ppm;
}

/* The world's time at which that node's clock shows `at`, or a little later. */
static sc_ns world_time(const struct sim_node *n, sc_ns at)
{
        if (at == SC_NEVER)
                return SC_NEVER;
        const sc_ns local = at - n->clock_offset;
        if (local <= 0)
                return 0;
        const sc_ns rate = 1000000 + n->clock_ppm;
        return local / rate * 1000000 + local % rate * 1000000 / rate + 1000001;
}

/* ---- turns ------------------------------------------------------------------------------------------ */

static sc_ns node_deadline(const struct sim_node *n)
{
        if (n->sched != NULL)
                return sc_sched_shell_deadline(n->sched);
        if (n->work != NULL)
                return sc_work_shell_deadline(n->work);
        return n->cli != NULL ? sc_cli_shell_deadline(n->cli) : SC_NEVER;
}

static void node_begin(struct sim_node *n, sc_ns now, sc_ns lateness)
{
        if (n->sched != NULL)
                sc_sched_shell_begin(n->sched, now, lateness);
        else if (n->work != NULL)
                sc_work_shell_begin(n->work, now, lateness);
        else if (n->cli != NULL)
                sc_cli_shell_begin(n->cli, now, lateness);
}

static void node_tick(struct sim_node *n, sc_ns now)
{
        if (n->sched != NULL)
                sc_sched_shell_tick(n->sched, now);
        else if (n->work != NULL)
                sc_work_shell_tick(n->work, now);
        else if (n->cli != NULL)
                sc_cli_shell_tick(n->cli, now);
}

static void node_flush(struct sim_node *n, sc_ns now)
{
        if (n->sched != NULL)
                sc_sched_shell_flush(n->sched, now);
        else if (n->work != NULL)
                sc_work_shell_flush(n->work, now);
        else if (n->cli != NULL)
                sc_cli_shell_flush(n->cli, now);
}

void sim_node_check(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        if (w->config.full && w->turns % 32 != 0)
                return; /* with so many tasks it takes long */
        if (n->sched != NULL)
                sc_sched_check(sc_sched_shell_core(n->sched));
        if (n->work != NULL)
                sc_work_check(sc_work_shell_core(n->work));
        if (n->cli != NULL)
                sc_cli_check(sc_cli_shell_core(n->cli));
}

static void turn_event(struct sim *w, struct sim_event *ev);

static void schedule_turn(struct sim *w, uint32_t node, sc_ns at)
{
        struct sim_node *n = &w->nodes[node];
        if (at == SC_NEVER)
                return;
        struct sim_event *ev = sim_at_node(w, sc_ns_max(at, n->paused_until), node, turn_event);
        ev->a                = ++n->turn_order;
}

static void take_inbox(struct sim *w, struct sim_node *n)
{
        const uint32_t  generation = n->generation;
        struct sc_list *node;
        while (n->alive && n->generation == generation && (node = sc_list_take(&n->inbox)) != NULL) {
                struct sim_post *post = SC_CONTAINER(node, struct sim_post, link);
                post->run(w, post);
                sim_post_free(w, post);
        }
}

static void turn_event(struct sim *w, struct sim_event *ev)
{
        struct sim_node *n = &w->nodes[ev->node];
        if (sim_event_stale(w, ev) || ev->a != n->turn_order)
                return;
        if (n->paused_until > w->now) {
                schedule_turn(w, ev->node, n->paused_until);
                return;
        }
        n->turn_due = false;
        w->turns++;
        const sc_ns now  = sim_node_now(w, ev->node);
        const sc_ns late = n->deadline < now ? now - n->deadline : 0;
        node_begin(n, now, late);
        take_inbox(w, n);
        if (sim_event_stale(w, ev))
                return; /* it died of what it read */
        if (node_deadline(n) <= now)
                node_tick(n, now);
        node_flush(n, now);
        if (sim_event_stale(w, ev))
                return;
        sim_node_check(w, ev->node);
        if (ev->node == 0)
                sim_explain(w);
        n->deadline = node_deadline(n);
        if (n->turn_due)
                return;
        if (!sc_list_empty(&n->inbox) || n->deadline <= now)
                sim_node_wake(w, ev->node);
        else
                schedule_turn(w, ev->node, world_time(n, n->deadline));
}

void sim_node_wake(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        if (!n->alive || n->turn_due)
                return;
        n->turn_due = true;
        schedule_turn(w, node, w->now + sim_between(w, 500, sim_chance(w, 1) ? 20 * SC_MS : 30 * SC_US));
}

struct sim_post *sim_post(struct sim *w, uint32_t node, void (*run)(struct sim *w, struct sim_post *post))
{
        struct sim_post *post = calloc(1, sizeof *post);
        if (post == NULL)
                abort();
        post->run  = run;
        post->node = node;
        sc_list_add_tail(&w->nodes[node].inbox, &post->link);
        sim_node_wake(w, node);
        return post;
}

void sim_post_free(struct sim *w, struct sim_post *post)
{
        (void)w;
        sc_list_remove(&post->link);
        if (post->packet != NULL) {
                free(post->packet->bytes);
                free(post->packet);
        }
        free(post);
}

/* ---- birth and death --------------------------------------------------------------------------------- */

static struct sc_view view(const char *text)
{
        return (struct sc_view){ text, strlen(text) };
}

static int start_scheduler(struct sim *w, uint32_t node, const struct sc_station_options *station)
{
        struct sim_node         *n = &w->nodes[node];
        struct sc_tenant_options tenants[SIM_TENANTS_MAX];
        for (uint32_t i = 0; i < SIM_TENANTS_MAX; i++)
                tenants[i] = (struct sc_tenant_options){ .name        = view(w->tenants[i].name),
                                                         .weight      = w->tenants[i].weight,
                                                         .queued_max  = w->tenants[i].queued_max,
                                                         .running_max = w->tenants[i].running_max };
        const struct sc_sched_options options = {
                .id               = sc_rng_next(&w->rng) | 1,
                .epoch            = sc_rng_next(&w->rng) | 1,
                .seed             = sc_rng_next(&w->rng),
                .tasks_max        = w->config.tasks_max,
                .client_tasks_max = w->config.client_tasks_max,
                .client_grace     = w->config.client_grace,
                .aging            = w->config.aging,
                .allocate         = w->config.allocate,
                .keys_kept        = w->config.keys_forget ? 2 : 0,
                .keys_age         = w->config.keys_forget ? 10 * SC_S : 0,
                .tenants          = tenants,
                .tenant_count     = w->config.shared ? SIM_TENANTS_MAX : 0,
                .now              = sim_node_now(w, node),
                .name             = "scheduler",
        };
        n->epoch = options.epoch;
        w->epoch_at = w->now;
        sim_ledger_new(w);
        return sc_sched_shell_create(&n->mem, &options, station, &sim_sched_upcalls, n, &n->sched);
}

static int start_worker(struct sim *w, uint32_t node, const struct sc_station_options *station)
{
        static const char *const names[SIM_FUNCTIONS] = { "f0", "f1", "f2", "f3" };
        struct sim_node         *n                    = &w->nodes[node];
        struct sc_view           functions[SIM_FUNCTIONS];
        uint32_t                 count = 0;
        for (uint32_t i = 0; i < SIM_FUNCTIONS; i++)
                if (n->functions & 1u << i)
                        functions[count++] = view(names[i]);
        struct sc_work_options options = {
                .id             = n->id,
                .slots          = n->slots,
                .now            = sim_node_now(w, node),
                .name           = view("worker"),
                .offers         = view(n->offers.text),
                .functions      = functions,
                .function_count = count,
                .prefetch       = sim_chance(w, 30) ? (int32_t)sim_below(w, 5) - 1 : 0,
        };
        if (w->config.nested && w->seed / 48 % 2 == 0)
                options.prefetch = -1; /* a slot that is taken for used is missed */
        memset(n->run, 0, sizeof n->run);
        return sc_work_shell_create(&n->mem, &options, station, &sim_work_upcalls, n, &n->work);
}

static int start_client(struct sim *w, uint32_t node, const struct sc_station_options *station)
{
        struct sim_node            *n       = &w->nodes[node];
        const struct sc_cli_options options = {
                .id          = n->id,
                .role        = n->kind == SIM_ADMIN ? SC_ROLE_ADMIN : SC_ROLE_CLIENT,
                .give_up     = SC_NEVER,
                .now         = sim_node_now(w, node),
                .name        = view("client"),
                .tenant      = view(w->tenants[n->tenant].name),
                .weight      = n->weight,
                .running_max = n->running_max,
                .pending_max = sim_chance(w, 20) && !w->config.graphs ? 8 : 0,
        };
        return sc_cli_shell_create(&n->mem, &options, station, &sim_client_upcalls, n, &n->cli);
}

static void begin_dial(struct sim *w, struct sim_post *post)
{
        struct sim_node   *n       = &w->nodes[post->node];
        struct sc_station *station = n->work != NULL ? sc_work_shell_station(n->work) : sc_cli_shell_station(n->cli);
        const int status = sc_station_dial(station, &n->net.base, "sim:scheduler", sim_node_now(w, post->node));
        if (status != 0)
                sim_fail(w, "node %u cannot dial: %d", post->node, status);
        if (n->kind == SIM_CLIENT)
                sim_client_begin(w, post->node);
}

static void start_event(struct sim *w, struct sim_event *ev)
{
        if (!w->nodes[ev->node].alive && !sim_nested_is_inner(w, ev->node))
                sim_node_start(w, ev->node);
}

void sim_node_restart_at(struct sim *w, uint32_t node, sc_ns at)
{
        sim_at_node(w, at, node, start_event);
}

static int start_role(struct sim *w, uint32_t node)
{
        struct sim_node                *n       = &w->nodes[node];
        const struct sc_station_options station = { .seed = sc_rng_next(&w->rng), .hellos_max = 64 };
        if (n->kind == SIM_SCHEDULER)
                return start_scheduler(w, node, &station);
        return n->kind == SIM_WORKER ? start_worker(w, node, &station) : start_client(w, node, &station);
}

void sim_node_start(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        n->generation++;
        n->id           = sim_nested_is_inner(w, node) ? w->nodes[n->pair].id : sc_rng_next(&w->rng) | 1;
        n->paused_until = 0;
        n->deadline     = SC_NEVER;
        n->turn_due = n->gave_up = n->closing = n->closed = n->full = false;
        n->drains = n->told = false;
        n->untimed          = true;
        n->gone_by          = 0;
        n->asked = n->answered = 0;
        n->allocations = n->fail_at = 0;
        node_mem_init(n);
        if (w->config.budget != 0 && n->kind == SIM_SCHEDULER)
                n->mem.budget = w->config.budget;
        sim_net_init(w, node);
        n->alive = true;
        sim_trace(w, "start", node, n->generation, n->id);
        if (n->kind == SIM_HOSTILE) {
                sim_hostile_begin(w, node);
                return;
        }
        if (w->config.memory && !w->healed && sim_chance(w, 10)) {
                n->fail_at    = 1 + sim_below(w, 40);
                n->fail_count = 1;
        }
        if (start_role(w, node) != 0) {
                n->alive = false;
                if (n->blocks != 0)
                        sim_fail(w, "a node that could not be made left %zu blocks", n->blocks);
                sim_node_restart_at(w, node, w->now + SC_S);
                return;
        }
        n->door.station = n->sched != NULL  ? sc_sched_shell_station(n->sched)
                          : n->work != NULL ? sc_work_shell_station(n->work)
                                            : sc_cli_shell_station(n->cli);
        if (n->kind != SIM_SCHEDULER)
                sim_post(w, node, begin_dial);
        else
                sim_node_wake(w, node);
        if (n->kind == SIM_WORKER && n->pair != 0)
                sim_node_start(w, n->pair);
}

void sim_node_stop(struct sim *w, uint32_t node)
{
        struct sim_node *n = &w->nodes[node];
        if (!n->alive)
                return;
        sim_trace(w, "stop", node, n->generation, 0);
        sim_net_gone(w, node);
        n->alive     = false;
        n->joined_at = 0;
        struct sc_list *post;
        while ((post = sc_list_take(&n->inbox)) != NULL)
                sim_post_free(w, SC_CONTAINER(post, struct sim_post, link));
        sc_sched_shell_destroy(n->sched);
        sc_work_shell_destroy(n->work);
        sc_cli_shell_destroy(n->cli);
        n->sched = NULL;
        n->work  = NULL;
        n->cli   = NULL;
        if (n->blocks != 0 || n->mem.used != 0)
                sim_fail(w, "node %u left %zu blocks of %zu bytes", node, n->blocks, (size_t)n->mem.used);
        sim_nested_stopped(w, node);
}

void sim_node_pause(struct sim *w, uint32_t node, sc_ns until)
{
        sim_trace(w, "pause", node, (uint64_t)(until - w->now), 0);
        w->nodes[node].paused_until = until;
}

void sim_nodes_free(struct sim *w)
{
        for (uint32_t i = 0; i < w->node_count; i++)
                sim_node_stop(w, i);
}
