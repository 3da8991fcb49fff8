/*
 * The ipc listener of an SP socket of nng 1.5.2 dies for good when one visitor connects and closes before
 * the protocol's greeting was sent to it (nng issue 1518, fixed in 1.6).  A hundred such visitors come,
 * since each may be a moment too slow, and then a proper peer.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <nng/supplemental/util/platform.h>

#include "verdict.h"

static void visit(const char *path)
{
        struct sockaddr_un un = { .sun_family = AF_UNIX };
        int                fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        memcpy(un.sun_path, path, strlen(path));
        if (fd < 0 || (connect(fd, (const struct sockaddr *)&un, sizeof un) != 0 && errno != EAGAIN))
                need("visit", NNG_ECONNREFUSED); /* EAGAIN: a queue that nobody empties any more */
        close(fd);
}

int main(void)
{
        char       url[64];
        nng_socket rep, req;
        nng_msg   *msg;
        snprintf(url, sizeof url, "ipc:///tmp/scaler-ipc-death-%ld", (long)getpid());
        need("rep", nng_rep0_open(&rep));
        need("listen", nng_listen(rep, url, NULL, 0));
        for (int i = 0; i < 100; i++)
                visit(url + 6);
        nng_msleep(200); /* until they have been accepted: nothing tells */
        need("req", nng_req0_open(&req));
        need("limit", nng_socket_set_ms(req, NNG_OPT_SENDTIMEO, 3000));
        need("limit", nng_socket_set_ms(rep, NNG_OPT_RECVTIMEO, 3000));
        need("dial", nng_dial(req, url, NULL, NNG_FLAG_NONBLOCK));
        need("message", nng_msg_alloc(&msg, 8));
        const bool sent   = nng_sendmsg(req, msg, 0) == 0;
        const bool served = sent && nng_recvmsg(rep, &msg, 0) == 0;
        unlink(url + 6);
        verdict(!served, served ? "an ipc listener serves after visitors that connected and closed"
                                : "an ipc listener serves nobody after visitors that connected and closed");
}
