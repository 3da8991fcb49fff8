/*
 * The one link that a dialling role keeps up: it dials, waits for the answer at most as long as for a
 * hello, and after a loss dials again, each time later up to a limit and with jitter, so that a thousand
 * workers do not come back in step.
 */
#include <string.h>

#include "station_impl.h"

static bool start(struct sc_station *st, struct sc_why *why, int *status)
{
        struct sc_dial *dial = &st->dial;
        dial->ticket++;
        dial->state = SC_DIAL_CONNECTING;
        dial->due   = sc_ns_add(st->now, st->options.hello_limit);
        *status = dial->net->ops->dial(dial->net, dial->url, dial->ticket, why);
        return *status == 0;
}

static void wait(struct sc_station *st)
{
        struct sc_dial *dial = &st->dial;
        const sc_ns half = dial->delay / 2;
        const sc_ns pause = half + (sc_ns)sc_rng_below(&st->rng, (uint64_t)half + 1);
        dial->state = SC_DIAL_WAITING;
        dial->due   = sc_ns_add(st->now, pause);
        dial->delay = sc_ns_min(dial->delay * 2, st->options.redial_max);
}

int sc_station_dial(struct sc_station *st, struct sc_net *net, const char *url, sc_ns now)
{
        SC_ASSERT(st->options.self != SC_ROLE_SCHEDULER);
        struct sc_dial *dial = &st->dial;
        if (dial->state != SC_DIAL_OFF || st->hung_up)
                return SC_E_STATE;
        const size_t len = strlen(url);
        if (len == 0 || len > SC_URL_MAX)
                return SC_E_ADDRESS;
        memcpy(dial->url, url, len + 1);
        dial->net   = net;
        dial->delay = st->options.redial_min;
        sc_station_begin(st, now, 0);
        struct sc_why why = {.text = ""};
        int status;
        if (start(st, &why, &status))
                return 0;
        if (status == SC_E_NOMEM) {
                wait(st);
                return 0;
        }
        dial->state = SC_DIAL_OFF;
        return status;
}

void sc_dial_again(struct sc_station *st, bool fresh)
{
        if (st->hung_up) {
                st->dial.state = SC_DIAL_OFF;
                return;
        }
        if (fresh)
                st->dial.delay = st->options.redial_min;
        wait(st);
}

void sc_dial_off(struct sc_station *st)
{
        struct sc_dial *dial = &st->dial;
        if (dial->state == SC_DIAL_CONNECTING)
                dial->net->ops->dial_cancel(dial->net, dial->ticket);
        dial->state = SC_DIAL_OFF;
}

void sc_dial_tick(struct sc_station *st)
{
        struct sc_dial *dial = &st->dial;
        if ((dial->state != SC_DIAL_WAITING && dial->state != SC_DIAL_CONNECTING) || st->now < dial->due)
                return;
        if (dial->state == SC_DIAL_CONNECTING) {
                dial->net->ops->dial_cancel(dial->net, dial->ticket);
                wait(st);
                return;
        }
        struct sc_why why = {.text = ""};
        int status;
        if (start(st, &why, &status))
                return;
        sc_station_note(st, 0, "cannot dial: ", why.text, strlen(why.text));
        wait(st);
}
