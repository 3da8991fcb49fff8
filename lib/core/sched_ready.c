/*
 * Ready rows, in the queues of their lane.  A row that comes with the highest order goes to the end of
 * a plain queue; one that regains an older place goes into a pairing heap, which needs no memory of its
 * own; one that has its last chance waits apart, because it needs an empty worker.  The head of a lane
 * is the older of the first two heads.
 */
#include "sched_state.h"

#include "sc_assert.h"

/* ---- pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986) -----------------------------------*/

static uint32_t meld(struct sc_sched *s, uint32_t a, uint32_t b)
{
        if (a == SCHED_NONE || b == SCHED_NONE)
                return a == SCHED_NONE ? b : a;
        struct sched_task *top = sc_sched_row(s, a);
        struct sched_task *sub = sc_sched_row(s, b);
        if (sub->order < top->order) {
                struct sched_task *swap = top;
                top                     = sub;
                sub                     = swap;
        }
        sub->link[SCHED_AT] = (struct sched_pair){ .next = top->child, .prev = top->self };
        if (top->child != SCHED_NONE)
                sc_sched_row(s, top->child)->link[SCHED_AT].prev = sub->self;
        top->child          = sub->self;
        top->link[SCHED_AT] = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        return top->self;
}

/* Takes the first of a chain of siblings off; *first becomes the second. */
static uint32_t unchain(struct sc_sched *s, uint32_t *first)
{
        uint32_t at = *first;
        if (at == SCHED_NONE)
                return SCHED_NONE;
        struct sched_task *t = sc_sched_row(s, at);
        *first               = t->link[SCHED_AT].next;
        t->link[SCHED_AT]    = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        s->visits++;
        return at;
}

/* Melds siblings in pairs from left to right, then the pairs from right to left. */
static uint32_t meld_all(struct sc_sched *s, uint32_t first)
{
        uint32_t pairs = SCHED_NONE;
        while (first != SCHED_NONE) {
                uint32_t a                             = unchain(s, &first);
                uint32_t both                          = meld(s, a, unchain(s, &first));
                sc_sched_row(s, both)->link[SCHED_AT].next = pairs;
                pairs                                  = both;
        }
        uint32_t root = SCHED_NONE;
        while (pairs != SCHED_NONE)
                root = meld(s, root, unchain(s, &pairs));
        return root;
}

static void heap_add(struct sc_sched *s, uint32_t *root, struct sched_task *t)
{
        t->child          = SCHED_NONE;
        t->link[SCHED_AT] = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        *root             = meld(s, *root, t->self);
}

static void heap_remove(struct sc_sched *s, uint32_t *root, struct sched_task *t)
{
        struct sched_pair at  = t->link[SCHED_AT];
        uint32_t          sub = meld_all(s, t->child);
        t->child              = SCHED_NONE;
        t->link[SCHED_AT]     = (struct sched_pair){ SCHED_NONE, SCHED_NONE };
        if (*root == t->self) {
                *root = sub;
                return;
        }
        struct sched_task *before = sc_sched_row(s, at.prev); /* parent or left neighbour */
        if (before->child == t->self)
                before->child = at.next;
        else
                before->link[SCHED_AT].next = at.next;
        if (at.next != SCHED_NONE)
                sc_sched_row(s, at.next)->link[SCHED_AT].prev = at.prev;
        *root = meld(s, *root, sub);
}

/* ---- ready rows --------------------------------------------------------------------------------*/

bool sc_sched_is_last_chance(const struct sc_sched *s, const struct sched_task *t)
{
        return t->losses > 0 && t->losses + 1u >= s->opt.losses_max;
}

static bool goes_last(const struct sc_sched *s, const struct sched_lane *lane, const struct sched_task *t)
{
        return lane->fifo.tail == SCHED_NONE || sc_sched_row(s, lane->fifo.tail)->order < t->order;
}

static void alone_add(struct sc_sched *s, struct sched_lane *lane, struct sched_task *t)
{
        t->flags |= SCHED_IN_ALONE;
        if (lane->alone == SCHED_NONE)
                sc_list_add_tail(&lane->class->alone, &lane->last);
        heap_add(s, &lane->alone, t);
        lane->class->ready_alone++;
        s->alone_ready++;
}

static void alone_remove(struct sc_sched *s, struct sched_lane *lane, struct sched_task *t)
{
        heap_remove(s, &lane->alone, t);
        if (lane->alone == SCHED_NONE)
                sc_list_remove(&lane->last);
        lane->class->ready_alone--;
        s->alone_ready--;
}

static void queue_add(struct sc_sched *s, struct sched_lane *lane, struct sched_task *t)
{
        if (goes_last(s, lane, t)) {
                sc_sched_queue_add(s, &lane->fifo, SCHED_AT, t);
        } else {
                t->flags |= SCHED_IN_HEAP;
                heap_add(s, &lane->heap, t);
        }
        lane->ready++;
        if (lane->standing == SCHED_OUT)
                sc_sched_lane_enter(s, lane);
        else
                sc_sched_lane_older(s, lane, t->order);
}

void sc_sched_ready_add(struct sc_sched *s, struct sched_task *t)
{
        struct sched_lane   *lane   = sc_sched_lane(s, t->lane);
        struct sched_client *c      = lane->client;
        struct sched_tenant *tenant = c->tenant;
        if (tenant->share.ready++ == 0)
                sc_sched_share_enter(&tenant->share, s->clock);
        if (c->share.ready++ == 0)
                sc_sched_share_enter(&c->share, tenant->clock);
        lane->class->ready++;
        sc_sched_activate(s, lane->class);
        if (sc_sched_is_last_chance(s, t))
                alone_add(s, lane, t);
        else
                queue_add(s, lane, t);
}

void sc_sched_ready_remove(struct sc_sched *s, struct sched_task *t)
{
        struct sched_lane *lane = sc_sched_lane(s, t->lane);
        if (t->flags & SCHED_IN_ALONE) {
                alone_remove(s, lane, t);
        } else {
                if (t->flags & SCHED_IN_HEAP)
                        heap_remove(s, &lane->heap, t);
                else
                        sc_sched_queue_remove(s, &lane->fifo, SCHED_AT, t);
                lane->ready--;
        }
        t->flags &= (uint16_t)~(SCHED_IN_ALONE | SCHED_IN_HEAP);
        lane->client->share.ready--;
        lane->client->tenant->share.ready--;
        lane->class->ready--;
        sc_sched_activate(s, lane->class);
}

uint32_t sc_sched_ready_head(const struct sc_sched *s, const struct sched_lane *lane)
{
        if (lane->heap == SCHED_NONE || lane->fifo.head == SCHED_NONE)
                return lane->heap == SCHED_NONE ? lane->fifo.head : lane->heap;
        const bool heap = sc_sched_row(s, lane->heap)->order < sc_sched_row(s, lane->fifo.head)->order;
        return heap ? lane->heap : lane->fifo.head;
}
