/*
 * One connection as arithmetic; see link.h.  Sequences are compared by their signed difference, so
 * that they may wrap.
 */
#include "link.h"

#include <string.h>

#include "sc_assert.h"
#include "sc_status.h"

void sc_link_init(struct sc_link *link, bool dialled, sc_ns now, sc_ns hello_limit, sc_ns silent)
{
        memset(link, 0, sizeof *link);
        link->dialled  = dialled;
        link->heard_at = now;
        link->silent   = silent;
        link->hello_by = sc_ns_add(now, hello_limit);
        link->ack_by   = SC_NEVER;
}

void sc_link_up(struct sc_link *link, sc_ns silent)
{
        SC_ASSERT(!link->up);
        link->up     = true;
        link->silent = silent;
}

static bool after(uint32_t a, uint32_t b)
{
        return (int32_t)(a - b) > 0;
}

static uint32_t confirm(struct sc_link *link, uint32_t ack)
{
        uint32_t records = 0;
        while (link->count > 0 && !after(link->ring[link->first].seq, ack)) {
                records += link->ring[link->first].count;
                link->first = (link->first + 1) % SC_LINK_RING;
                link->count--;
        }
        link->confirmed = ack;
        return records;
}

int sc_link_hear(struct sc_link *link, uint32_t seq, uint32_t ack, sc_ns now, uint32_t *confirmed_out, const char **why)
{
        if (seq != link->heard + 1) {
                *why = "a frame is missing or came twice";
                return SC_E_PROTOCOL;
        }
        if (after(ack, link->sent) || after(link->confirmed, ack)) {
                *why = "it acknowledges frames that were never sent, or fewer than before";
                return SC_E_PROTOCOL;
        }
        link->heard    = seq;
        link->heard_at = now;
        link->pinged   = false;
        *confirmed_out = confirm(link, ack);
        return 0;
}

void sc_link_stepped(struct sc_link *link, uint32_t records, sc_ns now)
{
        link->owed_frames++;
        if (records == 0)
                return;
        link->owed_records += records;
        if (link->ack_by == SC_NEVER)
                link->ack_by = sc_ns_add(now, SC_LINK_ACK_DELAY);
}

bool sc_link_granted(struct sc_link *link, uint32_t tasks, uint32_t kib)
{
        if (link->in_tasks == tasks && link->in_kib == kib)
                return false;
        link->in_tasks = tasks;
        link->in_kib   = kib;
        return true;
}

bool sc_link_grant(struct sc_link *link, uint32_t tasks, uint32_t kib)
{
        if (link->out_tasks == tasks && link->out_kib == kib)
                return false;
        link->out_tasks = tasks;
        link->out_kib   = kib;
        return true;
}

uint32_t sc_link_seal(struct sc_link *link, uint32_t records, bool acknowledges)
{
        link->sent++;
        if (acknowledges) {
                link->owed_frames = link->owed_records = 0;
                link->ack_by      = SC_NEVER;
        }
        if (records == 0)
                return link->sent;
        if (link->count < SC_LINK_RING)
                link->ring[(link->first + link->count++) % SC_LINK_RING] = (struct sc_link_sent){.count = 0};
        struct sc_link_sent *last = &link->ring[(link->first + link->count - 1) % SC_LINK_RING];
        last->seq = link->sent;
        last->count += records;
        return link->sent;
}

bool sc_link_ack_urgent(const struct sc_link *link)
{
        return link->owed_records >= SC_LINK_ACK_RECORDS ||
               (link->owed_records > 0 && link->owed_frames >= SC_LINK_ACK_FRAMES);
}

/*
 * The side that accepted asks first, so that an idle link costs one exchange and not two, and a scheduler
 * can ask many peers in one turn.
 */
static sc_ns ping_at(const struct sc_link *link)
{
        if (link->pinged)
                return SC_NEVER;
        return sc_ns_add(link->heard_at, link->silent / 10 * (link->dialled ? 6 : 4));
}

enum sc_link_due sc_link_due(const struct sc_link *link, sc_ns now)
{
        if (!link->up)
                return now >= link->hello_by ? SC_LINK_HELLO_LATE : SC_LINK_NOT_DUE;
        if (now >= sc_ns_add(link->heard_at, link->silent))
                return SC_LINK_DEAD;
        if (now >= ping_at(link))
                return SC_LINK_PING;
        return now >= link->ack_by ? SC_LINK_ACK : SC_LINK_NOT_DUE;
}

void sc_link_pinged(struct sc_link *link)
{
        link->pinged = true;
}

void sc_link_ack_taken(struct sc_link *link)
{
        link->ack_by = SC_NEVER;
}

sc_ns sc_link_deadline(const struct sc_link *link)
{
        if (!link->up)
                return link->hello_by;
        const sc_ns dead = sc_ns_add(link->heard_at, link->silent);
        return sc_ns_min(link->ack_by, sc_ns_min(ping_at(link), dead));
}
