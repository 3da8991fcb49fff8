/*
 * The scheduler's step: what an event is about, whose it is, and in which order the rest of the work
 * is done - first what an earlier step left over, then placing, then balance.  Links are here too:
 * every word of a peer comes over one, and goes to the noun it concerns.
 */
#include "sched_drain.h"
#include "sched_explain.h"

#include <string.h>

#include "sc_assert.h"

/* ---- texts and notes ---------------------------------------------------------------------------*/

static void text_add(struct sched_text *text, char c)
{
        if (text->len < text->max)
                text->at[text->len++] = c;
}

void sc_sched_text(struct sched_text *text, const char *words)
{
        while (*words)
                text_add(text, *words++);
}

void sc_sched_text_name(struct sched_text *text, const char *name, size_t len)
{
        for (size_t i = 0; i < len; i++)
                text_add(text, (unsigned char)name[i] >= ' ' && name[i] != 0x7f ? name[i] : '?');
}

void sc_sched_text_number(struct sched_text *text, uint64_t number)
{
        char   digits[20];
        size_t len = 0;
        do {
                digits[len++] = (char)('0' + number % 10);
                number /= 10;
        } while (number > 0);
        while (len > 0)
                text_add(text, digits[--len]);
}

/* The buffer starts zeroed and its last byte stays so: the line is always terminated. */
bool sc_sched_note(struct sc_sched *s, struct sc_out *out, struct sc_id id, struct sched_text *text)
{
        if (s->note_len == SCHED_NOTES_MAX || out->len >= SC_EFFECTS_MAX - SCHED_ROOM_PLACE)
                return false;
        char *line = s->note[s->note_len++];
        memset(line, 0, SCHED_NOTE_SIZE);
        *text = (struct sched_text){ .at = line, .max = SCHED_NOTE_SIZE - 1 };
        char hex[SC_ID_TEXT];
        sc_id_format(id, hex);
        sc_sched_text(text, hex);
        sc_sched_text(text, " ");
        struct sc_effect *effect = sc_out_add(out, SC_FX_NOTE);
        effect->status           = SC_NOTE_WARN;
        effect->text             = line;
        return true;
}

bool sc_sched_bulk(struct sc_sched *s, const struct sc_out *out)
{
        if (s->visits < SC_ROWS_MAX && out->len < SC_EFFECTS_MAX - SCHED_ROOM_BULK) {
                s->visits++;
                return true;
        }
        s->more = true;
        return false;
}

bool sc_sched_tight(struct sc_sched *s)
{
        s->tight = s->tight || sc_mem_beyond(s->mem, SC_MEM_BEGUN, s->saying);
        return s->tight;
}

/* ---- links -------------------------------------------------------------------------------------*/

struct sched_link *sc_sched_link(const struct sc_sched *s, sc_link_id link)
{
        return sc_map_get(&s->links, (struct sc_id){ 0, link });
}

static void link_remove(struct sc_sched *s, struct sched_link *l)
{
        if (l->bulks > 0)
                sc_sched_bulks_drop(s, l->id);
        if (l->role == SC_ROLE_ADMIN)
                sc_sched_drains_drop(s, l->id);
        sc_map_remove(&s->links, (struct sc_id){ 0, l->id });
        sc_map_remove(&s->peers, (struct sc_id){ l->role, l->peer });
        sc_mem_release(s->mem, l, sizeof *l);
}

/* Left in order: then nobody is charged and nothing is waited for. */
static void link_down(struct sc_sched *s, struct sched_link *l, enum sched_parting how, struct sc_out *out)
{
        uint8_t  role  = l->role;
        uint32_t index = l->index;
        link_remove(s, l);
        if (role == SC_ROLE_WORKER)
                sc_sched_worker_down(s, sc_sched_worker(s, index), how, out);
        else if (role == SC_ROLE_CLIENT)
                sc_sched_client_down(s, sc_sched_client(s, index), how == SCHED_LEFT);
        else
                s->admin_links--;
}

static void close_send(struct sc_out *out, sc_link_id link, int status, const char *text)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_CLOSE);
        effect->link             = link;
        effect->status           = status;
        effect->text             = text;
}

/* Where memory was wanting, on either side, the peer did nothing wrong and will be back. */
static enum sched_parting lost_or_spared(int status)
{
        return status == SC_E_NOMEM ? SCHED_SPARED : SCHED_LOST;
}

void sc_sched_close(struct sc_sched *s, struct sched_link *l, int status, const char *text, struct sc_out *out)
{
        close_send(out, l->id, status, text);
        link_down(s, l, lost_or_spared(status), out);
}

void sc_sched_nonsense(struct sc_sched *s, struct sched_link *l, int status, const char *text, struct sc_out *out)
{
        struct sched_text line;
        if (sc_sched_note(s, out, (struct sc_id){ l->peer, 0 }, &line)) {
                sc_sched_text(&line, sc_role_name((enum sc_role)l->role));
                sc_sched_text(&line, " closed: it sent ");
                sc_sched_text(&line, text);
        }
        sc_sched_close(s, l, status, text, out);
}

/* ---- hello -------------------------------------------------------------------------------------*/

static const char *worker_fault(const struct sc_hello *h)
{
        if (h->slots == 0 || h->slots > SC_SLOTS_MAX || h->free_slots > h->slots)
                return "a number of slots out of bounds";
        if (h->function_count > SC_FUNCTIONS_MAX || h->hold_count > SC_HOLDS_MAX)
                return "too many functions or held runs";
        struct sched_amount offers[SC_AMOUNTS_MAX + 1];
        uint32_t            count;
        if (!sc_sched_offers(h, offers, &count))
                return "offers that are not canonical";
        for (uint32_t i = 0; i < h->function_count; i++) {
                if (h->functions[i].len == 0 || h->functions[i].len > SC_NAME_MAX)
                        return "a function's name out of bounds";
        }
        return NULL;
}

static const char *hello_fault(const struct sc_hello *h)
{
        if (h->role != SC_ROLE_CLIENT && h->role != SC_ROLE_WORKER && h->role != SC_ROLE_ADMIN)
                return "a role that does not come here";
        if (h->id == 0)
                return "no id";
        if (h->version_min > SC_VERSION_MAX || h->version_max < SC_VERSION_MIN)
                return "a protocol version that is not spoken here";
        if (h->name.len > SC_NAME_MAX || h->tenant.len > SC_NAME_MAX)
                return "a name that is too long";
        if (h->weight > SC_WEIGHT_MAX)
                return "a weight out of bounds";
        return h->role == SC_ROLE_WORKER ? worker_fault(h) : NULL;
}

static struct sched_link *link_new(struct sc_sched *s, sc_link_id id, const struct sc_hello *hello)
{
        if (!sc_map_reserve(&s->links, s->links.len + 1) || !sc_map_reserve(&s->peers, s->peers.len + 1))
                return NULL;
        struct sched_link *l = sc_mem_alloc(s->mem, sizeof *l);
        if (!l)
                return NULL;
        *l = (struct sched_link){ .id = id, .peer = hello->id, .index = SCHED_NONE, .role = hello->role };
        sc_map_put(&s->links, (struct sc_id){ 0, id }, l);
        sc_map_put(&s->peers, (struct sc_id){ l->role, l->peer }, l);
        return l;
}

static bool admin_up(struct sc_sched *s, struct sched_link *l, struct sc_out *out)
{
        s->admin_links++;
        sc_sched_welcome(s, l, 0, out);
        return true;
}

static bool role_up(struct sc_sched *s, struct sched_link *l, const struct sc_event *ev, struct sc_out *out)
{
        if (l->role == SC_ROLE_WORKER)
                return sc_sched_worker_up(s, l, ev, out);
        if (l->role == SC_ROLE_CLIENT)
                return sc_sched_client_up(s, l, ev, out);
        return admin_up(s, l, out);
}

static void on_up(struct sc_sched *s, const struct sc_event *ev, struct sc_out *out)
{
        const struct sc_hello *hello = &ev->msg->hello;
        struct sched_link     *same  = sc_sched_link(s, ev->link);
        if (same) {
                sc_sched_nonsense(s, same, SC_E_PROTOCOL, "a second hello", out);
                return;
        }
        const char *fault = hello_fault(hello);
        if (fault) {
                close_send(out, ev->link, SC_E_PROTOCOL, fault);
                return;
        }
        struct sched_link *older = sc_map_get(&s->peers, (struct sc_id){ hello->role, hello->id });
        if (older)
                sc_sched_close(s, older, SC_E_EXISTS, "the same peer came on a newer link", out);
        if (s->links.len >= s->opt.peers_max) {
                close_send(out, ev->link, SC_E_FULL, "the scheduler has as many peers as it may have");
                return;
        }
        struct sched_link *l = link_new(s, ev->link, hello);
        if (l && role_up(s, l, ev, out))
                return;
        if (l)
                link_remove(s, l);
        close_send(out, ev->link, SC_E_NOMEM, "the scheduler has no memory for another peer");
}

/* ---- words of peers ----------------------------------------------------------------------------*/

static void on_worker_msg(struct sc_sched *s, struct sched_link *l, const struct sc_msg *m, struct sc_out *out)
{
        struct sched_worker *w = sc_sched_worker(s, l->index);
        switch (m->kind) {
        case SC_MSG_STARTED: sc_sched_on_started(s, w, &m->about); break;
        case SC_MSG_RETURNED: sc_sched_on_returned(s, w, &m->about, out); break;
        case SC_MSG_DONE: sc_sched_on_done(s, l, &m->done, out); break;
        case SC_MSG_WAITING: sc_sched_on_waiting(s, l, &m->about, out); break;
        case SC_MSG_RESUMED: sc_sched_on_resumed(s, w, &m->about); break;
        case SC_MSG_OUTPUT: sc_sched_on_output(s, w, &m->output, out); break;
        case SC_MSG_LEAVE: sc_sched_leaves(s, w); break;
        default: SC_UNREACHABLE();
        }
}

static void on_client_msg(struct sc_sched *s, struct sched_link *l, const struct sc_msg *m, struct sc_out *out)
{
        if (l->role == SC_ROLE_CLIENT)
                s->speaking = l->index;
        switch (m->kind) {
        case SC_MSG_SUBMIT: sc_sched_on_submit(s, l, &m->submit, out); break;
        case SC_MSG_CANCEL: sc_sched_on_cancel(s, l, &m->cancel, out); break;
        case SC_MSG_CANCEL_MANY: sc_sched_on_cancel_many(s, l, &m->cancel_many, out); break;
        case SC_MSG_WANT: sc_sched_on_want(s, sc_sched_client(s, l->index), &m->want, out); break;
        case SC_MSG_OUTPUT_ACK: sc_sched_on_output_ack(s, l, &m->output_ack, out); break;
        case SC_MSG_QUERY: sc_sched_on_query(s, l, &m->query, out); break;
        case SC_MSG_DRAIN: sc_sched_on_drain(s, l, &m->drain, out); break;
        default: SC_UNREACHABLE();
        }
}

static void on_msg(struct sc_sched *s, const struct sc_event *ev, struct sc_out *out)
{
        struct sched_link   *l = sc_sched_link(s, ev->link);
        const struct sc_msg *m = ev->msg;
        if (!l) {
                s->stale++; /* said before the link was closed on our side */
        } else if (m->kind == SC_MSG_HELLO || !sc_msg_may_send((enum sc_role)l->role, m->kind)) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, "a message that its role may not send", out);
        } else if (m->kind == SC_MSG_BYE) {
                close_send(out, l->id, SC_OK, "bye");
                /* With a status it is the link that was given up, and its peer may be here on another one. */
                link_down(s, l, m->bye.status == SC_OK ? SCHED_LEFT : lost_or_spared(m->bye.status), out);
        } else if (!l->welcomed) {
                sc_sched_nonsense(s, l, SC_E_PROTOCOL, "words before it was welcomed", out);
        } else if (l->role == SC_ROLE_WORKER) {
                on_worker_msg(s, l, m, out);
        } else {
                on_client_msg(s, l, m, out);
        }
}

static void on_down(struct sc_sched *s, const struct sc_event *ev, struct sc_out *out)
{
        struct sched_link *l = sc_sched_link(s, ev->link);
        if (l)
                link_down(s, l, lost_or_spared(ev->status), out);
}

static void on_acked(struct sc_sched *s, const struct sc_event *ev, struct sc_out *out)
{
        struct sched_link *l = sc_sched_link(s, ev->link);
        if (!l || l->role != SC_ROLE_CLIENT)
                return;
        s->speaking = l->index;
        sc_sched_client_acked(s, l, ev->count, out);
}

static void on_grant(struct sc_sched *s, const struct sc_event *ev)
{
        const struct sched_link *l = sc_sched_link(s, ev->link);
        if (l && l->role == SC_ROLE_WORKER)
                sc_sched_worker_grant(s, sc_sched_worker(s, l->index), ev->tasks);
}

/* ---- the step ----------------------------------------------------------------------------------*/

static void bury(struct sc_sched *s)
{
        for (struct sc_list *at; (at = sc_list_take(&s->dead_workers)) != NULL;)
                sc_sched_worker_free(s, SC_CONTAINER(at, struct sched_worker, todo));
        for (struct sc_list *at; (at = sc_list_take(&s->dead_clients)) != NULL;)
                sc_sched_client_free(s, SC_CONTAINER(at, struct sched_client, todo));
        sc_sched_drains_bury(s);
}

static void handle(struct sc_sched *s, const struct sc_event *ev, struct sc_out *out)
{
        switch (ev->kind) {
        case SC_EV_TICK: break;
        case SC_EV_UP: on_up(s, ev, out); break;
        case SC_EV_DOWN: on_down(s, ev, out); break;
        case SC_EV_MSG: on_msg(s, ev, out); break;
        case SC_EV_ACKED: on_acked(s, ev, out); break;
        case SC_EV_GRANT: on_grant(s, ev); break;
        case SC_EV_DRAIN: sc_sched_stop_begin(s, ev->count); break;
        case SC_EV_RELEASE: sc_sched_stop_now(s); break;
        case SC_EV_SUBMIT:
        case SC_EV_CANCEL:
        case SC_EV_CANCEL_MANY:
        case SC_EV_CONSUMED:
        case SC_EV_QUERY:
        case SC_EV_CLOSE:
        case SC_EV_BACK:
        case SC_EV_WAITS:
        case SC_EV_WAKES:
        case SC_EV_RAN:
        case SC_EV_OUTPUT: SC_UNREACHABLE();
        }
}

bool sc_sched_passes_on(const struct sc_sched *s)
{
        return s->marked_first != SCHED_NONE || s->release != SCHED_NONE || !sc_list_empty(&s->graphs);
}

/* What the ends of this step mean for tasks that depend on them, and with those for clients that are gone. */
static void pass_on(struct sc_sched *s, struct sc_out *out)
{
        if (!sc_sched_passes_on(s))
                return;
        sc_sched_graphs_todo(s, out);
        sc_sched_clients_todo(s, out);
        s->more = s->more || sc_sched_passes_on(s);
}

void sc_sched_step(struct sc_sched *s, const struct sc_event *ev, struct sc_out *out)
{
        SC_ASSERT(ev->now >= s->now);
        s->now      = ev->now;
        s->life_ms  = (uint32_t)((s->now - s->start) / SC_MS);
        s->visits   = 0;
        s->inputs_used = s->plans_told = 0;
        s->note_len = 0;
        s->more     = false;
        s->speaking = SCHED_NONE;
        s->tight    = false;
        s->saying   = 0;
        bury(s);
        sc_sched_reply_drop(s);
        handle(s, ev, out);
        sc_sched_plans_run(s, out);
        sc_sched_clients_expire(s);
        sc_sched_workers_todo(s, out);
        sc_sched_clients_todo(s, out);
        sc_sched_bulks_run(s, out);
        sc_sched_orphans_expire(s, out);
        sc_sched_claims_wake(s, out);
        sc_sched_plans_run(s, out); /* what has come back too late is not placed again */
        sc_sched_families_todo(s, out);
        sc_sched_keys_run(s, out);
        pass_on(s, out);
        sc_sched_place(s, out);
        sc_sched_balance(s, out);
        sc_sched_grants_round(s, out);
        sc_sched_drains_run(s, out);
        s->more = s->more || !sc_list_empty(&s->families_todo);
}

sc_ns sc_sched_deadline(const struct sc_sched *s)
{
        if (s->more)
                return s->now;
        sc_ns                    at   = SC_NEVER;
        const struct sched_plan *plan = sc_heap_top(&s->plans);
        if (plan)
                at = sc_ns_min(at, plan->at);
        if (!sc_list_empty(&s->lost_clients))
                at = sc_ns_min(at, SC_CONTAINER(s->lost_clients.next, struct sched_client, lost)->grace_at);
        if (s->claims.head != SCHED_NONE)
                at = sc_ns_min(at, s->claim_end);
        if (s->stray != SCHED_NONE)
                at = sc_ns_min(at, s->claim_end);
        if (s->orphans.head != SCHED_NONE)
                at = sc_ns_min(at, sc_ns_add(sc_sched_row(s, s->orphans.head)->since, s->opt.client_grace));
        at = sc_ns_min(at, sc_sched_balance_deadline(s));
        at = sc_ns_min(at, sc_sched_stop_deadline(s));
        at = sc_ns_min(at, sc_sched_keys_deadline(s));
        if (s->tight)
                at = sc_ns_min(at, sc_ns_add(s->now, SCHED_TIGHT_REST));
        return sc_ns_max(at, s->now);
}

/* ---- create and destroy ------------------------------------------------------------------------*/

static void options_complete(struct sc_sched_options *o)
{
        o->tasks_max        = o->tasks_max > 0 ? o->tasks_max : 10000000;
        o->bytes_max        = o->bytes_max > 0 ? o->bytes_max : UINT64_C(1) << 30;
        o->peers_max        = o->peers_max > 0 ? o->peers_max : 65536;
        o->client_tasks_max = o->client_tasks_max > 0 ? o->client_tasks_max : o->tasks_max;
        o->losses_max       = o->losses_max > 0 ? o->losses_max : 3;
        o->losses_max       = o->losses_max < UINT8_MAX ? o->losses_max : UINT8_MAX;
        o->silent_ms        = o->silent_ms > 0 ? o->silent_ms : 10000;
        o->client_grace     = o->client_grace > 0 ? o->client_grace : 60 * SC_S;
        o->claim_delay      = o->claim_delay > 0 ? o->claim_delay : SC_S;
        o->aging             = o->aging > 0 ? o->aging : 60 * SC_S;
        if (o->aging != SC_NEVER && o->aging > SCHED_AGING_MAX)
                o->aging = SCHED_AGING_MAX;
        o->keys_kept         = o->keys_kept > 0 ? o->keys_kept : SCHED_KEYS_KEPT;
        o->keys_kept         = o->keys_kept < SC_KEYS_NONE ? o->keys_kept : 0;
        o->keys_age          = o->keys_age > 0 ? o->keys_age : SCHED_KEYS_AGE;
        o->name[SC_NAME_MAX] = '\0';
}

/* Of a budget rows may take an eighth, arguments and results a quarter: what is granted is there.  Frames, which hold
 * bytes once more while they leave, buffers of links and the reserve are the rest. */
static void options_fit(struct sc_sched_options *o, size_t budget)
{
        if (budget == SIZE_MAX)
                return;
        const uint64_t rows  = budget / 8 / (sizeof(struct sched_page) / SCHED_PAGE) + 1;
        const uint64_t bytes = budget / 4 > 2 * SC_BODY_MAX ? budget / 4 : 2 * SC_BODY_MAX;
        o->tasks_max         = o->tasks_max < rows ? o->tasks_max : (uint32_t)rows;
        o->client_tasks_max  = o->client_tasks_max < rows ? o->client_tasks_max : (uint32_t)rows;
        o->bytes_max         = o->bytes_max < bytes ? o->bytes_max : bytes;
}

static void lists_init(struct sc_sched *s)
{
        struct sc_list *const lists[] = {
                &s->touched, &s->todo_workers, &s->todo_clients, &s->lost_clients,
                &s->hungry,  &s->dead_workers, &s->dead_clients, &s->idle_tallies, &s->bulks,
                &s->lowering,
                &s->families_todo,
        };
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
                sc_list_init(lists[i]);
}

struct sc_sched *sc_sched_create(struct sc_mem *mem, const struct sc_sched_options *options)
{
        SC_ASSERT(options->epoch != 0);
        struct sc_sched *s = sc_mem_zalloc(mem, sizeof *s);
        if (!s)
                return NULL;
        s->mem = mem;
        s->opt = *options;
        options_complete(&s->opt);
        options_fit(&s->opt, mem->budget);
        s->now = s->start = options->now;
        s->claim_end      = sc_ns_add(s->start, s->opt.claim_delay);
        lists_init(s);
        sc_map_init(&s->function_map, mem);
        sc_map_init(&s->set_map, mem);
        sc_map_init(&s->crew_map, mem);
        sc_map_init(&s->parts, mem);
        sc_map_init(&s->tenant_map, mem);
        sc_map_init(&s->links, mem);
        sc_map_init(&s->peers, mem);
        sc_map_init(&s->clients, mem);
        sc_map_init(&s->tallies, mem);
        sc_map_init(&s->attempts, mem);
        sc_heap_init(&s->roomy, mem, sc_sched_crew_roomier, sc_sched_crew_moved);
        s->rested_at = SC_NEVER;
        s->stray     = SCHED_NONE;
        sc_map_init(&s->limbo, mem);
        sc_sched_drains_init(s);
        sc_sched_tasks_init(s);
        if (sc_sched_sets_init(s) && sc_sched_tenants_init(s))
                return s;
        sc_sched_destroy(s);
        return NULL;
}

static void peers_destroy(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                struct sched_worker *w = sc_sched_worker(s, i);
                if (!w)
                        continue;
                sc_sched_worker_leaves_room(s, w);
                if (!w->gone)
                        sc_sched_crew_live(s, w->crew, false);
                sc_sched_worker_free(s, w);
        }
        for (uint32_t i = 0; i < s->client_at.len; i++) {
                if (s->client_at.at[i])
                        sc_sched_client_free(s, sc_sched_client(s, i));
        }
        size_t cursor = 0;
        for (struct sched_link *l; (l = sc_map_each(&s->links, &cursor)) != NULL;)
                sc_mem_release(s->mem, l, sizeof *l);
}

void sc_sched_destroy(struct sc_sched *s)
{
        if (!s)
                return;
        bury(s);
        sc_sched_reply_drop(s);
        sc_sched_bulks_fini(s);
        sc_sched_attempts_fini(s);
        sc_sched_drains_fini(s);
        sc_sched_keys_fini(s);
        sc_sched_rows_fini(s);
        sc_sched_families_fini(s);
        sc_sched_edges_fini(s);
        sc_mem_release(s->mem, s->inputs, s->inputs_cap * sizeof *s->inputs);
        sc_mem_release(s->mem, s->told, s->told ? SC_EFFECTS_MAX * sizeof *s->told : 0);
        sc_sched_lanes_fini(s);
        peers_destroy(s);
        sc_sched_tallies_fini(s);
        sc_sched_sets_fini(s);
        sc_sched_tenants_fini(s);
        sc_sched_table_fini(&s->functions, s->mem);
        sc_sched_table_fini(&s->crews, s->mem);
        sc_sched_table_fini(&s->client_at, s->mem);
        sc_sched_table_fini(&s->worker_at, s->mem);
        sc_mem_release(s->mem, s->active, s->active_cap * sizeof *s->active);
        sc_mem_release(s->mem, s->ask, s->ask_cap * sizeof *s->ask);
        sc_heap_fini(&s->plans);
        sc_heap_fini(&s->roomy);
        sc_map_fini(&s->function_map);
        sc_map_fini(&s->crew_map);
        sc_map_fini(&s->links);
        sc_map_fini(&s->peers);
        sc_map_fini(&s->clients);
        sc_mem_release(s->mem, s, sizeof *s);
}

uint32_t sc_sched_rows(const struct sc_sched *s)
{
        return s->rows;
}

uint64_t sc_sched_run_of(const struct sc_sched *s, struct sc_id task)
{
        const struct sched_task *t = sc_sched_find(s, task);
        return t && t->state != SC_STATE_ORPHAN ? t->run : 0;
}
