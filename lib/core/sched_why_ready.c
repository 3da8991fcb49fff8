/*
 * Why a ready task is not placed.  First what can never be, as things are: no worker, none with its
 * function, none that offers what it needs; then whose limit it waits for; then what each worker that
 * would fit has against it.
 */
#include "sched_explain.h"

#include "sc_assert.h"

static struct sched_reason reason(enum sc_cause why, uint64_t number)
{
        return (struct sched_reason){ .why = why, .number = number, .until = SC_NEVER };
}

/* ---- never, as things are ----------------------------------------------------------------------*/

/* How much of it a worker that has the function offers at most. */
struct most {
        uint64_t thousandths;
        bool     named; /* somebody offers it at all */
};

static struct most most_of(const struct sc_sched *s, const struct sched_class *c, const struct sched_amount *need)
{
        struct most most = { 0, false };
        for (uint32_t i = 0; i < s->crews.len; i++) {
                const struct sched_crew *crew = s->crews.at[i];
                if (!crew || crew->live == 0 || !sc_sched_crew_knows(crew, c->function->self))
                        continue;
                const uint32_t at = sc_sched_offer_at(crew, need);
                if (at == crew->offer_count)
                        continue;
                most.named = true;
                if (crew->offers[at].thousandths > most.thousandths)
                        most.thousandths = crew->offers[at].thousandths;
        }
        return most;
}

static bool is_known(const struct sc_sched *s, const struct sched_class *c)
{
        for (uint32_t i = 0; i < s->crews.len; i++) {
                const struct sched_crew *crew = s->crews.at[i];
                if (crew && crew->live > 0 && sc_sched_crew_knows(crew, c->function->self))
                        return true;
        }
        return false;
}

static void text_whose(const struct sched_class *c, struct sched_text *text)
{
        if (c->function->name_len == 0)
                return;
        sc_sched_text(text, " that has function ");
        sc_sched_text_view(text, c->function->name, c->function->name_len);
}

static struct sched_reason no_offer(const struct sched_class *c, const struct sched_amount *need,
                                    struct sched_text *text)
{
        sc_sched_text(text, "It needs ");
        sc_sched_text_need(text, need);
        sc_sched_text(text, ", and no worker");
        text_whose(c, text);
        sc_sched_text(text, " offers ");
        sc_sched_text_name_of(text, need);
        sc_sched_text(text, ".");
        return reason(SC_WHY_NO_OFFER, 0);
}

static struct sched_reason too_much(const struct sched_class *c, const struct sched_amount *need, uint64_t most,
                                    struct sched_text *text)
{
        sc_sched_text(text, "It needs ");
        sc_sched_text_need(text, need);
        sc_sched_text(text, ", and the most that any worker");
        text_whose(c, text);
        sc_sched_text(text, " offers is ");
        sc_sched_text_amount(text, most);
        sc_sched_text(text, ".");
        return reason(SC_WHY_TOO_MUCH, most / 1000);
}

/* A worker of a crew has the function, and none fulfils the set. */
static struct sched_reason no_match(const struct sc_sched *s, const struct sched_class *c, struct sched_text *text)
{
        const struct sched_set *set = c->set;
        for (uint32_t i = 0; i < set->count; i++) {
                if (!most_of(s, c, &set->amount[i]).named)
                        return no_offer(c, &set->amount[i], text);
        }
        for (uint32_t i = 0; i < set->count; i++) {
                const struct most most = most_of(s, c, &set->amount[i]);
                if (most.thousandths < set->amount[i].thousandths && s->opt.allocate != SC_ALLOCATE_CAPABILITY)
                        return too_much(c, &set->amount[i], most.thousandths, text);
        }
        sc_sched_text(text, "It needs ");
        sc_sched_text_needs(text, set->amount, set->count);
        sc_sched_text(text, ", and no worker offers all of that together.");
        return reason(SC_WHY_NO_MATCH, 0);
}

static struct sched_reason no_function(const struct sched_class *c, struct sched_text *text)
{
        sc_sched_text(text, "No worker has its function, ");
        sc_sched_text_view(text, c->function->name, c->function->name_len);
        sc_sched_text(text, ".");
        return reason(SC_WHY_NO_FUNCTION, 0);
}

/* ---- limits ------------------------------------------------------------------------------------*/

static struct sched_reason capped(const struct sched_lane *lane, struct sched_text *text)
{
        const struct sched_tenant *tenant = lane->client->tenant;
        const bool                 own    = sc_sched_share_capped(&lane->client->share);
        const struct sched_share  *share  = own ? &lane->client->share : &tenant->share;
        sc_sched_text(text, own ? "Its client" : "Its tenant ");
        if (!own)
                sc_sched_text_view(text, tenant->name, tenant->name_len);
        sc_sched_text(text, " has ");
        sc_sched_text_count(text, share->running, "task");
        sc_sched_text(text, " with workers, and may have ");
        sc_sched_text_number(text, share->running_max);
        sc_sched_text(text, ".");
        return reason(own ? SC_WHY_CLIENT_CAP : SC_WHY_TENANT_CAP, share->running_max);
}

static struct sched_reason last_chance(const struct sched_task *t, struct sched_text *text)
{
        sc_sched_text(text, "It lost its worker ");
        sc_sched_text_count(text, t->losses, "time");
        sc_sched_text(text, " and gets its last chance alone, on a worker that has nothing else.");
        return reason(SC_WHY_LAST_CHANCE, t->losses);
}

bool sc_sched_is_short(const struct sc_sched *s)
{
        const uint32_t busy = s->count[SC_STATE_ASSIGNED] + s->count[SC_STATE_RECALLING] +
                              s->count[SC_STATE_CANCELLING] + s->count[SC_STATE_ENDED];
        return (busy > 0 && sc_mem_beyond(s->mem, SC_MEM_BEGUN, s->saying)) ||
               (s->bytes > s->opt.bytes_max && s->ended_bytes > 0);
}

/* ---- what each worker has against it -----------------------------------------------------------*/

enum against { FULL, BUSY, STUCK, JOINING, RESERVED, LEAVES, BEHIND, NOW, AGAINST };

static enum against against(const struct sc_sched *s, const struct sched_worker *w, const struct sched_class *c)
{
        if (w->draining)
                return LEAVES;
        if (w->joining)
                return JOINING;
        if (w->alone || w->reserved != SCHED_NONE)
                return RESERVED;
        if (w->credit == 0)
                return STUCK;
        if (w->assigned >= w->credit)
                return FULL;
        const enum sched_takes takes = sc_sched_takes(s, w, c);
        if (takes == SCHED_NOT)
                return w->held >= w->slots ? FULL : BUSY;
        return takes == SCHED_NOW ? NOW : BEHIND;
}

struct survey {
        uint32_t able, count[AGAINST];
};

static struct survey survey_of(const struct sc_sched *s, const struct sched_class *c)
{
        struct survey survey = { .able = 0 };
        for (uint32_t i = 0; i < s->worker_at.len; i++) {
                const struct sched_worker *w = sc_sched_worker(s, i);
                if (!w || w->gone || !sc_sched_crew_serves(w->crew, c))
                        continue;
                survey.able++;
                survey.count[against(s, w, c)]++;
        }
        return survey;
}

static void text_full(const struct survey *survey, struct sched_text *text)
{
        static const char *const words[] = {
                [FULL]     = " full",
                [BUSY]     = " with too little free of what it needs",
                [STUCK]    = " that takes nothing just now",
                [JOINING]  = " just joining",
                [RESERVED] = " kept for a task's last chance",
                [LEAVES]   = " leaving",
        };
        sc_sched_text_count(text, survey->able, "worker");
        sc_sched_text(text, survey->able == 1 ? " fits" : " fit");
        if (survey->count[FULL] == survey->able) {
                sc_sched_text(text, survey->able == 1 ? ", and it is full." : ", and all are full.");
                return;
        }
        sc_sched_text(text, survey->able == 1 ? ", and it has no room: " : ", and none has room: ");
        bool any = false;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
                if (survey->count[i] == 0)
                        continue;
                sc_sched_text(text, any ? ", " : "");
                sc_sched_text_number(text, survey->count[i]);
                sc_sched_text(text, words[i]);
                any = true;
        }
        sc_sched_text(text, ".");
}

static struct sched_reason why_not_now(const struct sc_sched *s, const struct sched_class *c, struct sched_text *text)
{
        const struct survey survey = survey_of(s, c);
        SC_ASSERT(survey.able > 0);
        if (survey.count[NOW] + survey.count[BEHIND] == 0) {
                text_full(&survey, text);
                return reason(SC_WHY_ALL_FULL, survey.able);
        }
        if (sc_sched_is_short(s)) {
                sc_sched_text(text, "The scheduler is short of memory, and hands out more when it has some again.");
                return reason(SC_WHY_MEMORY, 0);
        }
        if (survey.count[NOW] == 0) {
                sc_sched_text(text, "It could only wait behind its like, at ");
                sc_sched_text_count(text, survey.count[BEHIND], "worker");
                sc_sched_text(text, ", where others come before it that wait for a slot or for what those hold.");
                return reason(SC_WHY_WITHHELD, survey.count[BEHIND]);
        }
        sc_sched_text_count(text, survey.count[NOW], "worker");
        sc_sched_text(text, survey.count[NOW] == 1 ? " has" : " have");
        sc_sched_text(text, " room for it, so it is placed in a moment.");
        return reason(SC_WHY_PLACING, survey.count[NOW]);
}

struct sched_reason sc_sched_why_ready(const struct sc_sched *s, const struct sched_task *t, struct sched_text *text)
{
        const struct sched_lane  *lane = sc_sched_lane(s, t->lane);
        const struct sched_class *c    = lane->class;
        if (sc_sched_is_stopping(s)) {
                sc_sched_text(text, "The scheduler is about to stop, and hands out nothing more.");
                return reason(SC_WHY_STOPPING, 0);
        }
        if (s->worker_count == 0) {
                sc_sched_text(text, "There is no worker.");
                return reason(SC_WHY_NO_WORKER, 0);
        }
        if (c->crews == 0)
                return is_known(s, c) ? no_match(s, c, text) : no_function(c, text);
        if (sc_sched_share_capped(&lane->client->share) || sc_sched_share_capped(&lane->client->tenant->share))
                return capped(lane, text);
        if (sc_sched_is_last_chance(s, t))
                return last_chance(t, text);
        return why_not_now(s, c, text);
}
