/*
 * Lanes: the ready rows of one client in one class and of one priority, and above them the groups of
 * a tenant and the levels of a priority.  Each of these stands in two heaps of its parent's: by whose
 * turn it is, and by the age of its oldest row.  Keys are looked at again only when they come to the
 * top, which is right because virtual times never fall and heads only get younger; where something
 * gets older or comes back, its key is put right at once.  A lane lives as long as its last row.
 */
#include "sched_state.h"

#include <string.h>

#include "sc_assert.h"

enum { BY_TURN, BY_AGE };
enum { HEAPS_SIZE = 2 * 16 * sizeof(void *) }; /* what two small heaps take, as the bill counts it */

static uint64_t head_order(const struct sc_sched *s, const struct sched_lane *lane)
{
        return sc_sched_row(s, sc_sched_ready_head(s, lane))->order;
}

/* When the head came; for each step of priority that counts as if it had come one `aging` earlier. */
static int64_t head_age(const struct sc_sched *s, const struct sched_lane *lane)
{
        const sc_ns step = s->opt.aging != SC_NEVER ? s->opt.aging : 0;
        return sc_sched_row(s, sc_sched_ready_head(s, lane))->since - lane->priority * step;
}

/* ---- orders ------------------------------------------------------------------------------------*/

static bool higher(const void *a, const void *b)
{
        return ((const struct sched_level *)a)->priority > ((const struct sched_level *)b)->priority;
}

static bool level_older(const void *a, const void *b)
{
        const struct sched_level *x = a, *y = b;
        return x->age != y->age ? x->age < y->age : x->priority > y->priority;
}

static bool group_sooner(const void *a, const void *b)
{
        const struct sched_group *x = a, *y = b;
        return x->share != y->share ? x->share < y->share : x->order < y->order;
}

static bool group_older(const void *a, const void *b)
{
        return ((const struct sched_group *)a)->order < ((const struct sched_group *)b)->order;
}

static bool lane_sooner(const void *a, const void *b)
{
        const struct sched_lane *x = a, *y = b;
        return x->share != y->share ? x->share < y->share : x->order < y->order;
}

static bool lane_older(const void *a, const void *b)
{
        return ((const struct sched_lane *)a)->order < ((const struct sched_lane *)b)->order;
}

static void level_moved_by_turn(void *item, size_t position)
{
        ((struct sched_level *)item)->position[BY_TURN] = position;
}

static void level_moved_by_age(void *item, size_t position)
{
        ((struct sched_level *)item)->position[BY_AGE] = position;
}

static void group_moved_by_turn(void *item, size_t position)
{
        ((struct sched_group *)item)->position[BY_TURN] = position;
}

static void group_moved_by_age(void *item, size_t position)
{
        ((struct sched_group *)item)->position[BY_AGE] = position;
}

static void lane_moved_by_turn(void *item, size_t position)
{
        ((struct sched_lane *)item)->position[BY_TURN] = position;
}

static void lane_moved_by_age(void *item, size_t position)
{
        ((struct sched_lane *)item)->position[BY_AGE] = position;
}

/* ---- into the heaps and out of them ------------------------------------------------------------*/

static void level_out(struct sched_level *level)
{
        sc_heap_remove(&level->class->tops, level->position[BY_TURN]);
        sc_heap_remove(&level->class->ages, level->position[BY_AGE]);
        level->in = false;
}

static void level_older_now(struct sched_level *level, int64_t age)
{
        if (!level->in) {
                level->in  = true;
                level->age = age;
                sc_heap_push(&level->class->tops, level);
                sc_heap_push(&level->class->ages, level);
        } else if (age < level->age) {
                level->age = age;
                sc_heap_fix(&level->class->ages, level->position[BY_AGE]);
        }
}

static void group_out(struct sched_group *g, enum sched_standing standing)
{
        sc_heap_remove(&g->level->shares, g->position[BY_TURN]);
        sc_heap_remove(&g->level->ages, g->position[BY_AGE]);
        g->standing = (uint8_t)standing;
        if (standing == SCHED_CAPPED)
                sc_list_add_tail(&g->tenant->share.capped, &g->capped);
}

static void group_fix(struct sched_group *g)
{
        sc_heap_fix(&g->level->shares, g->position[BY_TURN]);
        sc_heap_fix(&g->level->ages, g->position[BY_AGE]);
}

static void group_in(struct sched_group *g, uint64_t order)
{
        g->standing = SCHED_IN;
        g->share    = g->tenant->share.time;
        g->order    = order;
        sc_heap_push(&g->level->shares, g);
        sc_heap_push(&g->level->ages, g);
}

static void lane_out(struct sched_lane *lane, enum sched_standing standing)
{
        sc_heap_remove(&lane->group->shares, lane->position[BY_TURN]);
        sc_heap_remove(&lane->group->ages, lane->position[BY_AGE]);
        lane->standing = (uint8_t)standing;
        if (standing == SCHED_CAPPED)
                sc_list_add_tail(&lane->client->share.capped, &lane->capped);
}

static void lane_fix(struct sched_lane *lane)
{
        sc_heap_fix(&lane->group->shares, lane->position[BY_TURN]);
        sc_heap_fix(&lane->group->ages, lane->position[BY_AGE]);
}

/* The lane's head has come to be as it is; those above it are to know. */
static void tell_above(struct sc_sched *s, struct sched_lane *lane)
{
        struct sched_group *g = lane->group;
        if (g->standing == SCHED_CAPPED)
                return;
        if (g->standing == SCHED_OUT) {
                group_in(g, lane->order);
        } else if (lane->order < g->order) {
                g->order = lane->order;
                group_fix(g);
        }
        level_older_now(g->level, head_age(s, lane));
        sc_sched_entry_forget(s, lane->class);
}

void sc_sched_lane_enter(struct sc_sched *s, struct sched_lane *lane)
{
        SC_ASSERT(lane->standing == SCHED_OUT && lane->ready > 0);
        lane->standing = SCHED_IN;
        lane->share    = lane->client->share.time;
        lane->order    = head_order(s, lane);
        sc_heap_push(&lane->group->shares, lane);
        sc_heap_push(&lane->group->ages, lane);
        tell_above(s, lane);
}

void sc_sched_lane_older(struct sc_sched *s, struct sched_lane *lane, uint64_t order)
{
        if (lane->standing != SCHED_IN || order >= lane->order)
                return;
        lane->order = order;
        lane_fix(lane);
        tell_above(s, lane);
}

static void group_uncap(struct sc_sched *s, struct sched_group *g)
{
        g->standing                   = SCHED_OUT;
        const struct sched_lane *lane = sc_sched_top(&g->ages);
        if (!lane)
                return;
        group_in(g, lane->order);
        level_older_now(g->level, INT64_MIN);
        sc_sched_entry_forget(s, g->level->class);
}

void sc_sched_uncap(struct sc_sched *s, struct sched_share *share, bool of_tenant)
{
        for (struct sc_list *at; (at = sc_list_take(&share->capped)) != NULL;) {
                if (of_tenant) {
                        group_uncap(s, SC_CONTAINER(at, struct sched_group, capped));
                        continue;
                }
                struct sched_lane *lane = SC_CONTAINER(at, struct sched_lane, capped);
                lane->standing          = SCHED_OUT;
                if (lane->ready > 0)
                        sc_sched_lane_enter(s, lane);
        }
}

/* ---- who is next -------------------------------------------------------------------------------*/

/* True: the lane stands where it belongs, with keys as they are now.  False: it is to be looked for again. */
static bool lane_stands(struct sc_sched *s, struct sched_lane *lane)
{
        const struct sched_share *share = &lane->client->share;
        if (lane->ready == 0 || sc_sched_share_capped(share)) {
                lane_out(lane, lane->ready == 0 ? SCHED_OUT : SCHED_CAPPED);
                return false;
        }
        const uint64_t order = head_order(s, lane);
        if (lane->share == share->time && lane->order == order)
                return true;
        lane->share = share->time;
        lane->order = order;
        lane_fix(lane);
        return false;
}

static struct sched_lane *group_top(struct sc_sched *s, const struct sched_group *g, const struct sc_heap *heap)
{
        struct sched_lane *lane;
        SC_ASSERT(heap == &g->shares || heap == &g->ages);
        while ((lane = sc_sched_top(heap)) != NULL && !lane_stands(s, lane))
                s->visits++;
        return lane;
}

static bool group_stands(struct sc_sched *s, struct sched_group *g)
{
        const struct sched_share *share = &g->tenant->share;
        const struct sched_lane  *lane  = group_top(s, g, &g->ages);
        if (!lane || sc_sched_share_capped(share)) {
                group_out(g, lane ? SCHED_CAPPED : SCHED_OUT);
                return false;
        }
        if (g->share == share->time && g->order == lane->order)
                return true;
        g->share = share->time;
        g->order = lane->order;
        group_fix(g);
        return false;
}

static struct sched_group *level_top(struct sc_sched *s, const struct sched_level *level, const struct sc_heap *heap)
{
        struct sched_group *g;
        SC_ASSERT(heap == &level->shares || heap == &level->ages);
        while ((g = sc_sched_top(heap)) != NULL && !group_stands(s, g))
                s->visits++;
        return g;
}

/* The only lane of its class, if there is but one and it may be placed: no heap has to be asked. */
static struct sched_lane *only_lane(const struct sc_sched *s, const struct sched_class *c)
{
        if (c->tops.len != 1)
                return NULL;
        const struct sched_level *level = c->tops.at[0];
        if (level->shares.len != 1)
                return NULL;
        const struct sched_group *g = level->shares.at[0];
        if (g->shares.len != 1 || sc_sched_share_capped(&g->tenant->share))
                return NULL;
        struct sched_lane *lane = g->shares.at[0];
        if (lane->ready == 0 || sc_sched_share_capped(&lane->client->share))
                return NULL;
        lane->share = lane->client->share.time;
        lane->order = head_order(s, lane);
        return lane;
}

struct sched_lane *sc_sched_class_pick(struct sc_sched *s, struct sched_class *c)
{
        struct sched_lane *only = only_lane(s, c);
        if (only)
                return only;
        for (struct sched_level *level; (level = sc_sched_top(&c->tops)) != NULL; level_out(level)) {
                struct sched_group *g = level_top(s, level, &level->shares);
                if (g)
                        return group_top(s, g, &g->shares);
        }
        return NULL;
}

/* The oldest row's lane, if the level stands where it belongs in the heap of ages; else NULL. */
static struct sched_lane *level_stands(struct sc_sched *s, struct sched_level *level)
{
        struct sched_group *g = level_top(s, level, &level->ages);
        if (!g) {
                level_out(level);
                return NULL;
        }
        struct sched_lane *lane = group_top(s, g, &g->ages);
        const int64_t      age  = head_age(s, lane);
        if (level->age == age)
                return lane;
        level->age = age;
        sc_heap_fix(&level->class->ages, level->position[BY_AGE]);
        return NULL;
}

/* The top of the heap, or the better one of its children if the top is not below: no two levels are as high. */
static struct sched_level *old_level(const struct sc_heap *ages, int32_t below)
{
        struct sched_level *best = ages->at[0];
        if (best->priority < below)
                return best;
        best = NULL;
        for (size_t i = 1; i <= 2 && i < ages->len; i++) {
                struct sched_level *level = ages->at[i];
                if (level->priority < below && (!best || level_older(level, best)))
                        best = level;
        }
        return best;
}

struct sched_lane *sc_sched_class_oldest(struct sc_sched *s, struct sched_class *c, int32_t below, int64_t *age)
{
        while (c->ages.len > 0) {
                struct sched_level *level = old_level(&c->ages, below);
                if (!level)
                        return NULL;
                struct sched_lane *lane = level_stands(s, level);
                *age                    = level->age;
                if (lane)
                        return lane;
                s->visits++;
        }
        return NULL;
}

/* ---- levels, groups and lanes come to be -------------------------------------------------------*/

static struct sc_id part_key(const struct sched_class *c, enum sched_part part, uint32_t of, int32_t priority)
{
        return (struct sc_id){ (uint64_t)c->self << 32 | of, (uint64_t)part << 32 | (uint32_t)priority };
}

void sc_sched_lane_bytes(struct sc_sched *s, size_t size, bool more)
{
        s->lane_bytes += more ? size + HEAPS_SIZE : 0 - (uint64_t)(size + HEAPS_SIZE);
}

void sc_sched_levels_init(struct sc_sched *s, struct sched_class *c)
{
        sc_heap_init(&c->tops, s->mem, higher, level_moved_by_turn);
        sc_heap_init(&c->ages, s->mem, level_older, level_moved_by_age);
}

static void level_drop(struct sc_sched *s, struct sched_level *level)
{
        struct sched_class *c = level->class;
        if (level->groups > 0)
                return;
        if (level->in)
                level_out(level);
        sc_map_remove(&s->parts, part_key(c, SCHED_PART_LEVEL, 0, level->priority));
        s->uneven -= level->priority != 0;
        c->levels--;
        sc_heap_fini(&level->shares);
        sc_heap_fini(&level->ages);
        sc_sched_lane_bytes(s, sizeof *level, false);
        sc_mem_release(s->mem, level, sizeof *level);
        sc_sched_class_drop(s, c);
}

static struct sched_level *level_of(struct sc_sched *s, struct sched_class *c, int32_t priority)
{
        const struct sc_id  key   = part_key(c, SCHED_PART_LEVEL, 0, priority);
        struct sched_level *level = sc_map_get(&s->parts, key);
        if (level)
                return level;
        if (!sc_map_reserve(&s->parts, s->parts.len + 1) || !sc_heap_reserve(&c->tops, c->levels + 1u) ||
            !sc_heap_reserve(&c->ages, c->levels + 1u))
                return NULL;
        level = sc_mem_zalloc(s->mem, sizeof *level);
        if (!level)
                return NULL;
        level->class    = c;
        level->priority = priority;
        sc_heap_init(&level->shares, s->mem, group_sooner, group_moved_by_turn);
        sc_heap_init(&level->ages, s->mem, group_older, group_moved_by_age);
        sc_map_put(&s->parts, key, level);
        c->levels++;
        s->uneven += priority != 0;
        sc_sched_lane_bytes(s, sizeof *level, true);
        return level;
}

static void group_drop(struct sc_sched *s, struct sched_group *g)
{
        struct sched_level *level = g->level;
        if (g->lanes > 0)
                return;
        if (g->standing == SCHED_IN)
                group_out(g, SCHED_OUT);
        sc_list_remove(&g->capped);
        sc_map_remove(&s->parts, part_key(level->class, SCHED_PART_GROUP, g->tenant->self, level->priority));
        level->groups--;
        sc_heap_fini(&g->shares);
        sc_heap_fini(&g->ages);
        sc_sched_lane_bytes(s, sizeof *g, false);
        sc_mem_release(s->mem, g, sizeof *g);
        level_drop(s, level);
}

static struct sched_group *group_of(struct sc_sched *s, struct sched_level *level, struct sched_tenant *tenant)
{
        const struct sc_id  key = part_key(level->class, SCHED_PART_GROUP, tenant->self, level->priority);
        struct sched_group *g   = sc_map_get(&s->parts, key);
        if (g)
                return g;
        if (!sc_map_reserve(&s->parts, s->parts.len + 1) || !sc_heap_reserve(&level->shares, level->groups + 1u) ||
            !sc_heap_reserve(&level->ages, level->groups + 1u))
                return NULL;
        g = sc_mem_zalloc(s->mem, sizeof *g);
        if (!g)
                return NULL;
        g->level  = level;
        g->tenant = tenant;
        sc_list_init(&g->capped);
        sc_heap_init(&g->shares, s->mem, lane_sooner, lane_moved_by_turn);
        sc_heap_init(&g->ages, s->mem, lane_older, lane_moved_by_age);
        sc_map_put(&s->parts, key, g);
        level->groups++;
        sc_sched_lane_bytes(s, sizeof *g, true);
        return g;
}

static struct sched_lane *lane_new(struct sc_sched *s, struct sched_group *g, struct sched_client *c)
{
        const struct sched_level *level = g->level;
        if (!sc_sched_table_reserve(&s->lanes, s->mem) || !sc_map_reserve(&s->parts, s->parts.len + 1) ||
            !sc_heap_reserve(&g->shares, g->lanes + 1u) || !sc_heap_reserve(&g->ages, g->lanes + 1u))
                return NULL;
        struct sched_lane *lane = sc_mem_zalloc(s->mem, sizeof *lane);
        if (!lane)
                return NULL;
        lane->group    = g;
        lane->class    = level->class;
        lane->client   = c;
        lane->priority = level->priority;
        lane->heap = lane->alone = SCHED_NONE;
        sc_sched_queue_init(&lane->fifo);
        sc_list_init(&lane->capped);
        sc_list_init(&lane->last);
        sc_map_put(&s->parts, part_key(lane->class, SCHED_PART_LANE, c->self, lane->priority), lane);
        lane->self = sc_sched_table_put(&s->lanes, lane);
        g->lanes++;
        sc_sched_lane_bytes(s, sizeof *lane, true);
        return lane;
}

static bool is_full(const struct sc_sched *s)
{
        const uint64_t share = s->opt.bytes_max / SCHED_LANES_SHARE;
        return s->lane_bytes >= (share > SCHED_LANES_LEAST ? share : SCHED_LANES_LEAST);
}

/* What was made on the way to a lane that could not be made goes again: each drops only what is empty. */
static struct sched_lane *lane_make(struct sc_sched *s, struct sched_client *c, struct sched_class *class,
                                    int32_t priority)
{
        struct sched_level *level = level_of(s, class, priority);
        if (!level) {
                sc_sched_class_drop(s, class);
                return NULL;
        }
        struct sched_group *g = group_of(s, level, c->tenant);
        if (!g) {
                level_drop(s, level);
                return NULL;
        }
        struct sched_lane *lane = lane_new(s, g, c);
        if (!lane)
                group_drop(s, g);
        return lane;
}

static bool is_like(const struct sched_lane *lane, const struct sc_spec *spec, struct sc_view needs)
{
        const struct sched_function *f    = lane->class->function;
        const struct sc_view         text = sc_sched_set_text(lane->class->set);
        return lane->priority == spec->priority && f->name_len == spec->function.len && text.len == needs.len &&
               (f->name_len == 0 || memcmp(f->name, spec->function.ptr, f->name_len) == 0) &&
               (text.len == 0 || memcmp(text.ptr, needs.ptr, text.len) == 0);
}

struct sched_lane *sc_sched_lane_take(struct sc_sched *s, struct sched_client *c, const struct sc_spec *spec,
                                      struct sc_view needs, bool *full)
{
        if (c->lane && is_like(c->lane, spec, needs)) {
                c->lane->refs++;
                return c->lane;
        }
        struct sched_class *class = sc_sched_class_of(s, spec->function, needs, full);
        if (!class)
                return NULL;
        struct sched_lane *lane = sc_map_get(&s->parts, part_key(class, SCHED_PART_LANE, c->self, spec->priority));
        if (!lane && is_full(s)) {
                *full = true;
                sc_sched_class_drop(s, class);
                return NULL;
        }
        if (!lane)
                lane = lane_make(s, c, class, spec->priority);
        if (!lane)
                return NULL;
        lane->refs += 2;
        if (c->lane)
                sc_sched_lane_drop(s, c->lane);
        c->lane = lane;
        return lane;
}

void sc_sched_lane_drop(struct sc_sched *s, struct sched_lane *lane)
{
        SC_ASSERT(lane->refs > 0);
        if (--lane->refs > 0)
                return;
        struct sched_group *g = lane->group;
        SC_ASSERT(lane->ready == 0 && lane->alone == SCHED_NONE);
        if (lane->standing == SCHED_IN)
                lane_out(lane, SCHED_OUT);
        sc_list_remove(&lane->capped);
        sc_sched_entry_forget(s, lane->class);
        sc_map_remove(&s->parts, part_key(lane->class, SCHED_PART_LANE, lane->client->self, lane->priority));
        sc_sched_table_drop(&s->lanes, lane->self);
        g->lanes--;
        sc_sched_lane_bytes(s, sizeof *lane, false);
        sc_mem_release(s->mem, lane, sizeof *lane);
        group_drop(s, g);
}

/* At the end of the scheduler, when no rows are left: each lane takes with it what is above it. */
void sc_sched_lanes_fini(struct sc_sched *s)
{
        for (uint32_t i = 0; i < s->lanes.len; i++) {
                struct sched_lane *lane = s->lanes.at[i];
                if (!lane)
                        continue;
                lane->refs  = 1;
                lane->ready = 0;
                lane->alone = SCHED_NONE;
                sc_list_remove(&lane->last);
                lane->class->ready = 0;
                sc_sched_activate(s, lane->class);
                sc_sched_lane_drop(s, lane);
        }
        sc_sched_table_fini(&s->lanes, s->mem);
        sc_sched_table_fini(&s->classes, s->mem);
        sc_map_fini(&s->parts);
}
