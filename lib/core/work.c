/*
 * The worker's core: events to the rows of work_rows.c, and what follows from them: the next run
 * into a free slot, the grant.  One scheduler, one link at a time; the newest link wins.
 */
#include "work_own.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_mem.h"
#include "sc_status.h"

/* Slots that could take a run some day. */
static uint32_t usable(const struct sc_work *w)
{
        if (w->draining)
                return 0;
        return w->slots - w->count[SC_RUN_GHOST] - w->count[SC_RUN_ABANDONED] - w->held[SC_RUN_RUNNING] +
               w->parked_stuck;
}

static uint32_t usual_prefetch(const struct sc_work *w)
{
        if (w->prefetch != 0)
                return w->prefetch < 0 ? 0 : (uint32_t)w->prefetch;
        if (w->mean < 0)
                return 1;
        const sc_ns each = w->mean > 0 ? w->mean : 1;
        const sc_ns runs = SC_RUN_QUEUED_WORK * w->slots / each;
        return runs < 1 ? 1 : runs > SC_PREFETCH_MAX ? SC_PREFETCH_MAX : (uint32_t)runs;
}

/* While runs wait for others, those come one by one: what is fetched ahead would be begun before what they need, and
 * wait as they do. */
static uint32_t wanted_prefetch(const struct sc_work *w)
{
        const uint32_t usual = usual_prefetch(w);
        return w->waiting > 0 && usual > w->slots ? w->slots : usual;
}

/* A worker whose slots are all stuck, or that is leaving, takes nothing. */
static uint32_t credit(uint32_t slots, uint32_t prefetch)
{
        return slots > 0 ? slots + prefetch : 0;
}

/* Small changes of the adaptive prefetch are not worth a word. */
static void grant(struct sc_work *w, struct sc_out *out)
{
        if (w->link == 0)
                return;
        const uint32_t slots    = usable(w);
        const uint32_t prefetch = wanted_prefetch(w);
        const bool     far      = prefetch >= 2 * w->told_prefetch || 2 * prefetch <= w->told_prefetch;
        const bool     changed  = prefetch != w->told_prefetch && far;
        if (w->told && slots == w->told_usable && !changed)
                return;
        if (!w->told || changed)
                w->told_prefetch = prefetch;
        w->told_usable           = slots;
        w->told                  = true;
        struct sc_effect *effect = sc_out_add(out, SC_FX_GRANT);
        effect->link             = w->link;
        effect->tasks            = credit(slots, w->told_prefetch);
}

/* What a run is told beside its specification: what it holds, and the results it reads. */
static struct sc_plan plan_for(const struct sc_run *run, struct sc_views results)
{
        struct sc_plan plan = { .results = results };
        if (run->share)
                plan.needs = run->share->plan.needs;
        return plan;
}

static unsigned char *copy_bytes(unsigned char *at, struct sc_view bytes, struct sc_view *out)
{
        *out = (struct sc_view){ at, bytes.len };
        if (bytes.len > 0)
                memcpy(at, bytes.ptr, bytes.len);
        return at + bytes.len;
}

static struct sc_views results_of(const struct sc_spec *spec)
{
        return spec->plan ? spec->plan->results : (struct sc_views){ NULL, 0 };
}

/* Of its plan the results that it reads; for the rest see run->share. */
static bool copy_spec(struct sc_work *w, struct sc_run *run, const struct sc_spec *spec)
{
        const struct sc_views results = results_of(spec);
        size_t                size    = spec->function.len + spec->body.len + results.count * sizeof(struct sc_view);
        for (uint32_t i = 0; i < results.count; i++)
                size += results.at[i].len;
        struct sc_spec_copy *copy = sc_work_get(w, sizeof *copy + size);
        if (!copy)
                return false;
        struct sc_view *views = (struct sc_view *)(void *)copy->bytes;
        unsigned char  *at    = copy->bytes + results.count * sizeof *views;
        copy->spec            = *spec;
        copy->plan            = plan_for(run, (struct sc_views){ views, results.count });
        copy->spec.plan       = results.count > 0 ? &copy->plan : NULL;
        at                    = copy_bytes(at, spec->function, &copy->spec.function);
        at                    = copy_bytes(at, spec->body, &copy->spec.body);
        for (uint32_t i = 0; i < results.count; i++)
                at = copy_bytes(at, results.at[i], &views[i]);
        run->spec = copy;
        return true;
}

/* Without a copy: the ASSIGN lends it all. */
static void start_at_once(struct sc_work *w, struct sc_run *run, const struct sc_spec *lent, struct sc_out *out)
{
        struct sc_spec spec = *lent;
        w->plan             = plan_for(run, results_of(lent));
        spec.plan           = w->plan.results.count > 0 ? &w->plan : NULL;
        sc_run_start(w, run, &spec, out);
}

/* ---- links ------------------------------------------------------------------------------------- */

void sc_run_hold_all(struct sc_work *w, struct sc_list *list)
{
        while (!sc_list_empty(list)) {
                struct sc_run *run = SC_CONTAINER(list->next, struct sc_run, link);
                sc_run_hold(w, run, true);
        }
}

static void hold_in_place(struct sc_work *w, struct sc_list *list)
{
        for (struct sc_list *at = list->next; at != list; at = at->next) {
                struct sc_run *run = SC_CONTAINER(at, struct sc_run, link);
                sc_list_remove(&run->report);
                if (!run->held)
                        sc_run_hold(w, run, true);
        }
}

/* What has not started is the scheduler's again; the rest waits for the next link. */
static void lose_link(struct sc_work *w)
{
        w->link    = 0;
        w->lost_at = w->now;
        w->told    = false;
        w->leave_at = SC_NEVER;
        while (!sc_list_empty(&w->list[SC_RUN_QUEUED]))
                sc_run_move(w, SC_CONTAINER(w->list[SC_RUN_QUEUED].next, struct sc_run, link), SC_RUN_FORGET);
        w->ask_back = true;
        hold_in_place(w, &w->list[SC_RUN_OFFERED]);
        hold_in_place(w, &w->list[SC_RUN_RUNNING]);
        hold_in_place(w, &w->list[SC_RUN_OWING]);
        sc_run_hold_all(w, &w->list[SC_RUN_DONE]);
}

static void nonsense(struct sc_work *w, const char *what, struct sc_out *out)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_CLOSE);
        effect->link             = w->link;
        effect->status           = SC_E_PROTOCOL;
        effect->text             = what;
        lose_link(w);
}

static void on_up(struct sc_work *w, const struct sc_event *ev, struct sc_out *out)
{
        SC_ASSERT(ev->link != 0);
        SC_ASSERT(ev->msg->kind == SC_MSG_WELCOME);
        if (w->closed || w->link != 0) {
                struct sc_effect *effect = sc_out_add(out, SC_FX_CLOSE);
                effect->link             = w->closed ? ev->link : w->link;
                effect->text             = w->closed ? "the worker has left" : "a newer link took over";
        }
        if (w->closed)
                return;
        if (w->link != 0)
                lose_link(w);
        w->link    = ev->link;
        w->epoch   = ev->msg->welcome.epoch;
        w->gave_up = false;
        w->told_leave = (ev->msg->welcome.features & SC_FEATURE_LEAVE) == 0; /* it would not know the word */
        sc_work_forget_stopped(w, out);
}

/* ---- what the scheduler says -------------------------------------------------------------------- */

static void say_returned(struct sc_work *w, struct sc_id task, uint64_t number, bool released, struct sc_out *out)
{
        struct sc_msg *msg  = sc_out_send(out, w->link, SC_MSG_RETURNED);
        msg->about.task     = task;
        msg->about.run      = number;
        msg->about.released = released;
}

void sc_run_give_back(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        const bool begun = run->state != SC_RUN_QUEUED;
        w->released += begun;
        say_returned(w, run->task, run->run, begun, out);
        sc_run_forget(w, run, out);
}

/* Runs that the scheduler counts as ours. */
static uint32_t credit_used(const struct sc_work *w)
{
        static const uint8_t counted[] = { SC_RUN_QUEUED, SC_RUN_OFFERED, SC_RUN_RUNNING, SC_RUN_OWING };
        uint32_t             used      = 0;
        for (size_t i = 0; i < sizeof counted; i++)
                used += w->count[counted[i]] - w->held[counted[i]];
        return used - (w->parked - w->parked_stuck);
}

static void on_assign(struct sc_work *w, const struct sc_assign *assign, struct sc_out *out)
{
        if (assign->run == 0 || sc_run_find(w, assign->task, w->epoch, assign->run)) {
                nonsense(w, "a run was assigned twice", out);
                return;
        }
        if (credit_used(w) >= w->slots + SC_PREFETCH_MAX + (w->has_waited ? SC_WAITING_MAX : 0)) {
                nonsense(w, "more runs were assigned than were ever granted", out);
                return;
        }
        struct sc_run *run = w->draining ? NULL : sc_run_take(w, assign);
        if (!run) {
                say_returned(w, assign->task, assign->run, false, out);
                return;
        }
        if (run->streams && !sc_run_output_open(w, run)) {
                sc_run_fail(w, run, SC_REASON_LIMIT, "the worker has no memory for output", out);
                return;
        }
        if (!sc_run_share_open(w, run, assign->spec.plan)) {
                sc_run_fail(w, run, SC_REASON_LIMIT, "the worker has no memory for what it needs", out);
                return;
        }
        if (w->count[SC_RUN_QUEUED] == 1 && w->count[SC_RUN_OFFERED] == 0 && sc_work_busy(w) < w->slots &&
            sc_list_empty(&w->ripe) && sc_run_fits(w, run))
                start_at_once(w, run, &assign->spec, out);
        else if (!copy_spec(w, run, &assign->spec))
                sc_run_fail(w, run, SC_REASON_LIMIT, "the worker has no memory for the arguments", out);
}

static struct sc_run *current(struct sc_work *w, struct sc_id task, uint64_t number)
{
        struct sc_run *run = sc_run_find(w, task, w->epoch, number);
        return run && !run->held ? run : NULL;
}

static void on_recall(struct sc_work *w, struct sc_run *run, struct sc_out *out)
{
        if (run->state == SC_RUN_QUEUED)
                sc_run_give_back(w, run, out);
        else if (run->state == SC_RUN_RUNNING)
                sc_run_report(w, run, out);
        else if (run->state == SC_RUN_OFFERED)
                sc_run_ask_back(w, run, out);
        run->recalled = run->state == SC_RUN_OFFERED;
}

static void on_keep(struct sc_work *w, const struct sc_about_run *keep, struct sc_out *out)
{
        struct sc_run *run = sc_run_find(w, keep->task, keep->held_epoch, keep->held_run);
        if (!run || !run->held || run->state == SC_RUN_OFFERED) {
                if (keep->run != 0 && !current(w, keep->task, keep->run))
                        say_returned(w, keep->task, keep->run, false, out); /* it ran out of time meanwhile */
                return;
        }
        struct sc_run *other = current(w, keep->task, keep->run);
        if (keep->run == 0 || (other && other != run)) {
                nonsense(w, "a run was kept under a number that is taken", out);
                return;
        }
        sc_run_rename(w, run, keep->run);
        run->epoch = w->epoch;
        sc_run_hold(w, run, false);
        if (run->state == SC_RUN_DONE || run->state == SC_RUN_GHOST)
                sc_run_answer(w, run, out);
        else
                sc_run_output_again(w, run, out);
        sc_run_say_waiting(w, run, out);
}

static void on_drop(struct sc_work *w, const struct sc_about_run *drop, struct sc_out *out)
{
        struct sc_run *run = sc_run_find(w, drop->task, drop->held_epoch, drop->held_run);
        if (run && run->held && run->state != SC_RUN_OFFERED)
                sc_run_forget(w, run, out);
}

static void on_bye(struct sc_work *w, const struct sc_bye *bye, struct sc_out *out)
{
        if (bye->status != SC_E_DENIED && bye->status != SC_E_UNSUPPORTED)
                return; /* the link goes down by itself */
        const size_t len = bye->why.len < SC_TEXT_MAX ? bye->why.len : SC_TEXT_MAX;
        if (len > 0)
                memcpy(w->text, bye->why.ptr, len);
        w->text[len]             = '\0';
        w->gave_up               = true;
        struct sc_effect *effect = sc_out_add(out, SC_FX_GIVE_UP);
        effect->status           = bye->status;
        effect->text             = w->text;
}

static void on_about(struct sc_work *w, const struct sc_msg *msg, struct sc_out *out)
{
        struct sc_run *run = current(w, msg->about.task, msg->about.run);
        if (!run)
                return;
        if (msg->kind == SC_MSG_STOP)
                sc_run_stop(w, run, msg->about.force, out);
        else
                on_recall(w, run, out);
}

static void on_output_ack(struct sc_work *w, const struct sc_output_ack *ack, struct sc_out *out)
{
        struct sc_run *run = current(w, ack->task, ack->run);
        if (run && !sc_run_output_ack(w, run, ack, out))
                nonsense(w, "output was confirmed that was never sent", out);
}

static void on_message(struct sc_work *w, const struct sc_msg *msg, struct sc_out *out)
{
        switch (msg->kind) {
        case SC_MSG_ASSIGN:
                on_assign(w, &msg->assign, out);
                break;
        case SC_MSG_STOP:
        case SC_MSG_RECALL:
                on_about(w, msg, out);
                break;
        case SC_MSG_KEEP:
                on_keep(w, &msg->about, out);
                break;
        case SC_MSG_DROP:
                on_drop(w, &msg->about, out);
                break;
        case SC_MSG_OUTPUT_ACK:
                on_output_ack(w, &msg->output_ack, out);
                break;
        case SC_MSG_LEAVE:
                sc_work_drain(w, msg->leave.deadline_ms);
                break;
        case SC_MSG_BYE:
                on_bye(w, &msg->bye, out);
                break;
        default:
                nonsense(w, "a message that is not for workers", out);
                break;
        }
}

/* ---- what the shell says ------------------------------------------------------------------------- */

static struct sc_run *by_handle(struct sc_work *w, uint64_t handle)
{
        struct sc_run *run = sc_map_get(&w->by_handle, (struct sc_id){ .lo = handle });
        SC_ASSERT(run != NULL);
        return run;
}

/* How long it had its slot: less than until we heard of it, when we were busy. */
static void learn(struct sc_work *w, const struct sc_run *run, const struct sc_outcome *outcome)
{
        const sc_ns us   = outcome->wall_us < SC_NEVER / SC_US ? (sc_ns)outcome->wall_us * SC_US : SC_NEVER;
        const sc_ns took = sc_ns_min(w->now - run->started, us);
        w->mean = w->mean < 0 ? took : w->mean + (took - w->mean) / 8;
        if (took >= SC_RUN_OFFERED_WORK)
                w->streak = 0;
        else if (w->streak < SC_RUN_STREAK)
                w->streak++;
}

static void on_ran(struct sc_work *w, const struct sc_event *ev, struct sc_out *out)
{
        struct sc_run *run = by_handle(w, ev->run);
        SC_ASSERT(!run->waits);
        if (run->state != SC_RUN_RUNNING && run->state != SC_RUN_OFFERED) {
                sc_run_move(w, run, SC_RUN_RETURN);
                return;
        }
        if (run->state == SC_RUN_RUNNING)
                learn(w, run, ev->outcome);
        run->wanted   = 0; /* the end is the answer */
        run->recalled = false;
        sc_run_ended(w, run, ev->outcome, out);
}

static void on_acked(struct sc_work *w, uint64_t count)
{
        for (; count > 0; count--) {
                SC_ASSERT(!sc_list_empty(&w->list[SC_RUN_DONE]));
                sc_run_move(w, SC_CONTAINER(w->list[SC_RUN_DONE].next, struct sc_run, link), SC_RUN_FORGET);
        }
}

/* ---- the step ------------------------------------------------------------------------------------ */

static void on_link_event(struct sc_work *w, const struct sc_event *ev, struct sc_out *out)
{
        if (w->closed || w->link == 0 || ev->link != w->link)
                return; /* of a link we have closed */
        if (ev->kind == SC_EV_MSG)
                on_message(w, ev->msg, out);
        else if (ev->kind == SC_EV_ACKED)
                on_acked(w, ev->count);
        else if (ev->kind == SC_EV_DOWN)
                lose_link(w);
}

static void dispatch(struct sc_work *w, const struct sc_event *ev, struct sc_out *out)
{
        switch (ev->kind) {
        case SC_EV_TICK:
                break;
        case SC_EV_UP:
                on_up(w, ev, out);
                break;
        case SC_EV_DOWN:
        case SC_EV_MSG:
        case SC_EV_ACKED:
        case SC_EV_GRANT: /* DONEs are owed, not granted */
                on_link_event(w, ev, out);
                break;
        case SC_EV_RAN:
                on_ran(w, ev, out);
                break;
        case SC_EV_OUTPUT:
                sc_run_output_add(w, by_handle(w, ev->run), ev->stream, ev->bytes, out);
                break;
        case SC_EV_BACK:
                sc_run_back(w, by_handle(w, ev->run), out);
                break;
        case SC_EV_WAITS:
                sc_run_waits(w, by_handle(w, ev->run), out);
                break;
        case SC_EV_WAKES:
                sc_run_wakes(w, by_handle(w, ev->run), out);
                break;
        case SC_EV_DRAIN:
                sc_work_drain(w, ev->count);
                break;
        case SC_EV_RELEASE:
                sc_work_release(w);
                break;
        case SC_EV_SUBMIT:
        case SC_EV_CANCEL:
        case SC_EV_CANCEL_MANY:
        case SC_EV_CONSUMED:
        case SC_EV_QUERY:
        case SC_EV_CLOSE:
                SC_UNREACHABLE();
        }
}

void sc_work_step(struct sc_work *w, const struct sc_event *ev, struct sc_out *out)
{
        SC_ASSERT(ev->now >= w->now);
        w->now        = ev->now;
        w->asked_back = false;
        sc_work_sweep(w);
        dispatch(w, ev, out);
        if (w->closed) {
                sc_work_resume(w, out);
                return;
        }
        sc_work_ask_back(w, out);
        sc_work_timers(w, out);
        if (w->draining)
                sc_work_leave(w, out);
        else
                sc_work_fill(w, out);
        grant(w, out);
}

sc_ns sc_work_deadline(const struct sc_work *w)
{
        if (w->closed)
                return SC_NEVER;
        const struct sc_run *first = sc_heap_top(&w->timed);
        sc_ns                at    = first ? first->deadline : SC_NEVER;
        if (!sc_list_empty(&w->report)) {
                const struct sc_run *oldest = SC_CONTAINER(w->report.next, struct sc_run, report);
                at                          = sc_ns_min(at, sc_ns_add(oldest->started, SC_RUN_STARTED_AFTER));
        }
        if (w->held_total > 0)
                at = sc_ns_min(at, sc_ns_add(w->lost_at, w->keep));
        if (w->link == 0 && !w->gave_up)
                at = sc_ns_min(at, sc_ns_add(w->lost_at, w->give_up));
        if (sc_work_fill_due(w))
                return w->now;
        return w->draining ? sc_ns_min(at, sc_work_leave_at(w)) : at;
}

/* ---- life ---------------------------------------------------------------------------------------- */

static struct sc_view put(unsigned char **at, struct sc_view words)
{
        const struct sc_view copy = { .ptr = *at, .len = words.len };
        if (words.len > 0)
                memcpy(*at, words.ptr, words.len);
        *at += words.len;
        return copy;
}

static bool copy_words(struct sc_work *w, const struct sc_work_options *options)
{
        size_t size = 1 + options->name.len + options->tenant.len + options->token.len + options->offers.len;
        for (uint32_t i = 0; i < options->function_count; i++)
                size += options->functions[i].len;
        if (options->function_count > 0) {
                w->functions = sc_mem_array(w->mem, options->function_count, sizeof *w->functions);
                if (!w->functions)
                        return false;
        }
        w->function_count = options->function_count;
        w->words          = sc_mem_alloc(w->mem, size);
        if (!w->words)
                return false;
        w->words_size     = size;
        unsigned char *at = w->words;
        w->name           = put(&at, options->name);
        w->tenant         = put(&at, options->tenant);
        w->token          = put(&at, options->token);
        w->offers         = put(&at, options->offers);
        for (uint32_t i = 0; i < options->function_count; i++)
                w->functions[i] = put(&at, options->functions[i]);
        return true;
}

static bool due_before(const void *a, const void *b)
{
        const struct sc_run *left  = a;
        const struct sc_run *right = b;
        if (left->deadline != right->deadline)
                return left->deadline < right->deadline;
        return left->handle < right->handle;
}

static void moved(void *item, size_t position)
{
        struct sc_run *run = item;
        run->position      = position;
}

static void set_options(struct sc_work *w, const struct sc_work_options *options)
{
        w->id            = options->id;
        w->slots         = options->slots;
        w->prefetch      = options->prefetch > SC_PREFETCH_MAX ? SC_PREFETCH_MAX : options->prefetch;
        w->output_window = options->output_window > 0 ? options->output_window : 256u << 10;
        w->keep          = options->keep > 0 ? options->keep : 60 * SC_S;
        w->kill_grace    = options->kill_grace > 0 ? options->kill_grace : 5 * SC_S;
        w->give_up       = options->give_up > 0 ? options->give_up : SC_NEVER;
        w->now           = options->now;
        w->lost_at       = options->now;
        w->leave_at      = SC_NEVER;
        w->release_at    = SC_NEVER;
        w->mean          = -1;
}

struct sc_work *sc_work_create(struct sc_mem *mem, const struct sc_work_options *options)
{
        SC_ASSERT(options->id != 0);
        SC_ASSERT(options->slots >= 1);
        SC_ASSERT(options->slots <= SC_SLOTS_MAX);
        SC_ASSERT(options->function_count <= SC_FUNCTIONS_MAX);
        struct sc_work *w = sc_mem_zalloc(mem, sizeof *w);
        if (!w)
                return NULL;
        w->mem = mem;
        sc_map_init(&w->by_handle, mem);
        sc_heap_init(&w->timed, mem, due_before, moved);
        for (int state = 0; state < SC_RUN_STATES; state++)
                sc_list_init(&w->list[state]);
        sc_list_init(&w->unsent);
        sc_list_init(&w->report);
        sc_list_init(&w->ripe);
        sc_list_init(&w->renamed);
        set_options(w, options);
        if (copy_words(w, options) && sc_work_amounts_init(w) && sc_run_reserve(w, w->slots + SC_PREFETCH_MAX))
                return w;
        sc_work_destroy(w);
        return NULL;
}

static void free_row(struct sc_work *w, struct sc_run *run)
{
        sc_run_output_drop(w, run);
        if (run->spec)
                sc_work_discard(w, &run->spec->scrap);
        sc_run_share_drop(w, run);
        sc_work_discard(w, run->kept);
}

void sc_work_destroy(struct sc_work *w)
{
        if (!w)
                return;
        for (uint32_t i = 0; i < w->pages * SC_RUN_PAGE; i++)
                free_row(w, &w->page[i / SC_RUN_PAGE][i % SC_RUN_PAGE]);
        sc_work_sweep(w);
        for (uint32_t i = 0; i < w->pages; i++)
                sc_mem_release(w->mem, w->page[i], SC_RUN_PAGE * sizeof *w->page[i]);
        sc_mem_release(w->mem, w->holds, (size_t)w->pages * SC_RUN_PAGE * sizeof *w->holds);
        sc_mem_release(w->mem, w->words, w->words_size);
        sc_mem_release(w->mem, w->functions, w->function_count * sizeof *w->functions);
        sc_work_amounts_fini(w);
        sc_map_fini(&w->by_handle);
        sc_heap_fini(&w->timed);
        sc_mem_release(w->mem, w, sizeof *w);
}

static uint32_t add_holds(struct sc_work *w, struct sc_list *list, uint8_t flags, uint32_t count)
{
        for (struct sc_list *at = list->next; at != list; at = at->next) {
                struct sc_run *run = SC_CONTAINER(at, struct sc_run, link);
                if (!run->held || sc_run_is_stopped(run))
                        continue;
                run->told_waiting = run->parked;
                w->holds[count++] =
                        (struct sc_hold){ .task = run->task, .epoch = run->epoch, .run = run->run, .flags = flags };
                w->holds[count - 1].flags |= run->parked ? SC_HOLD_WAITING : 0;
        }
        return count;
}

/* A link that is still up counts as lost: the scheduler will close it when it sees this hello. */
void sc_work_hello(struct sc_work *w, struct sc_hello *out, uint32_t *grant_tasks)
{
        if (w->link != 0)
                lose_link(w);
        uint32_t count = add_holds(w, &w->list[SC_RUN_RUNNING], SC_HOLD_RUNNING, 0);
        count          = add_holds(w, &w->list[SC_RUN_OWING], SC_HOLD_DONE, count);
        count          = add_holds(w, &w->unsent, SC_HOLD_DONE, count);
        *out           = (struct sc_hello){
                .version_min    = SC_VERSION_MIN,
                .version_max    = SC_VERSION_MAX,
                .features       = SC_FEATURE_LEAVE,
                .role           = SC_ROLE_WORKER,
                .id             = w->id,
                .incarnation    = ++w->incarnation,
                .epoch          = w->epoch,
                .token          = w->token,
                .name           = w->name,
                .tenant         = w->tenant,
                .slots          = w->slots,
                .free_slots     = w->draining ? 0 : w->slots - sc_work_busy(w),
                .offers         = w->offers,
                .functions      = w->functions,
                .function_count = w->function_count,
                .holds          = w->holds,
                .hold_count     = count,
        };
        w->told_usable   = usable(w);
        w->told_prefetch = wanted_prefetch(w);
        w->told          = true;
        *grant_tasks     = credit(w->told_usable, w->told_prefetch);
}

bool sc_work_names(const struct sc_work *w, uint64_t handle, uint64_t *number)
{
        const struct sc_run *run = sc_map_get(&w->by_handle, (struct sc_id){ .lo = handle });
        if (!run || (run->state != SC_RUN_RUNNING && run->state != SC_RUN_OFFERED))
                return false;
        *number = run->held ? 0 : run->run;
        return true;
}

uint32_t sc_work_queued(const struct sc_work *w)
{
        return w->count[SC_RUN_QUEUED] + w->count[SC_RUN_OFFERED];
}

void sc_work_stats(const struct sc_work *w, struct sc_work_stats *out)
{
        *out = (struct sc_work_stats){
                .slots       = w->slots,
                .running     = w->count[SC_RUN_RUNNING],
                .queued      = w->count[SC_RUN_QUEUED] + w->count[SC_RUN_OFFERED],
                .unconfirmed = w->count[SC_RUN_OWING] + w->count[SC_RUN_DONE] + w->count[SC_RUN_GHOST],
                .abandoned   = w->count[SC_RUN_GHOST] + w->count[SC_RUN_ABANDONED],
                .waiting     = w->parked,
                .done        = w->done,
                .failed      = w->failed,
                .cancelled   = w->cancelled,
                .released    = w->released,
        };
}
