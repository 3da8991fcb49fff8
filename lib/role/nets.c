/*
 * The nets of one role: memory for inproc: addresses, nng for all others, made when first needed.
 */
#include <stdlib.h>
#include <string.h>

#include "net_mem.h"
#include "net_url.h"
#include "runtime.h"

/* inproc: goes by memory, unless the build or SCALER_INPROC=nng wants nng under it, too. */
static bool by_memory(const char *url)
{
        const char *wish = getenv("SCALER_INPROC");
        const bool  nng  = wish ? strcmp(wish, "nng") == 0 : SC_INPROC_NNG;
        return strncmp(url, "inproc://", 9) == 0 && !nng;
}

void sc_nets_init(struct sc_nets *nets, struct scaler_runtime *rt, const struct sc_access *access,
                  struct sc_station *station)
{
        *nets = (struct sc_nets){ .rt = rt, .access = access };
        for (int i = 0; i < SC_NETS_MAX; i++)
                nets->door[i].station = station;
}

static int secure(struct sc_nets *nets, const char *url, struct sc_net *net, scaler_error *err)
{
        if (nets->secured || strncmp(url, "tls+tcp://", 10) != 0)
                return 0;
        struct sc_why why    = { "" };
        const int     status = sc_net_nng_secure(net, &nets->access->tls, &why);
        if (status)
                return sc_error_set(err, status, "%s", why.text[0] ? why.text : sc_status_text(status));
        nets->secured = true;
        return 0;
}

int sc_nets_for(struct sc_nets *nets, const char *url, struct sc_net **out, scaler_error *err)
{
        const bool              memory = by_memory(url);
        struct sc_station_door *door   = &nets->door[memory ? 0 : 1];
        if (!door->net) {
                const struct sc_net_upcalls *upcalls = sc_station_door_upcalls();
                struct sc_mem               *mem     = nets->rt->mem;
                const int status = memory ? sc_net_mem_create(mem, nets->rt->loop, upcalls, door, &door->net)
                                          : sc_net_nng_create(mem, nets->rt->loop, upcalls, door, &door->net);
                if (status)
                        return sc_error_set(err, status, "%s: %s", url,
                                            status == SC_E_IO ? "no memory, threads or descriptors for nng"
                                                              : sc_status_text(status));
        }
        *out = door->net;
        return memory ? 0 : secure(nets, url, door->net, err);
}

int sc_nets_dialable(struct sc_nets *nets, const char *url, struct sc_net **out, scaler_error *err)
{
        struct sc_why why    = { "" };
        const int     status = sc_url_check(url, false, &why);
        if (status)
                return sc_error_set(err, status, "%s", why.text[0] ? why.text : sc_status_text(status));
        return sc_nets_for(nets, url, out, err);
}

void sc_nets_fini(struct sc_nets *nets)
{
        for (int i = 0; i < SC_NETS_MAX; i++)
                if (nets->door[i].net) {
                        nets->door[i].net->ops->destroy(nets->door[i].net);
                        nets->door[i].net = NULL;
                }
}
