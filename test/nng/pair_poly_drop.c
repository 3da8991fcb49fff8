/*
 * A polyamorous PAIR1 socket drops messages without a word when the addressed peer's queue is full
 * (nng issues 995 and 1274; two messages deep in 1.5.2).  The peer does not read while 20,000 messages
 * are sent; then it reads all there is.
 */
#include <nng/nng.h>
#include <nng/protocol/pair1/pair.h>

#include "verdict.h"

enum { MESSAGES = 20000, BYTES = 1000 };

int main(void)
{
        char       url[64], told[100];
        nng_socket poly, mono;
        nng_msg   *msg;
        int        accepted = 0, delivered = 0;
        snprintf(url, sizeof url, "ipc:///tmp/scaler-poly-drop-%ld", (long)getpid());
        need("poly", nng_pair1_open_poly(&poly));
        need("mono", nng_pair1_open(&mono));
        need("limit", nng_socket_set_ms(poly, NNG_OPT_SENDTIMEO, 200));
        need("limit", nng_socket_set_ms(poly, NNG_OPT_RECVTIMEO, 3000));
        need("limit", nng_socket_set_ms(mono, NNG_OPT_RECVTIMEO, 500));
        need("listen", nng_listen(poly, url, NULL, 0));
        need("dial", nng_dial(mono, url, NULL, 0));
        need("message", nng_msg_alloc(&msg, 8));
        need("hello", nng_sendmsg(mono, msg, 0));
        need("hello", nng_recvmsg(poly, &msg, 0));
        const nng_pipe pipe = nng_msg_get_pipe(msg);
        nng_msg_free(msg);
        for (int i = 0; i < MESSAGES; i++) {
                need("message", nng_msg_alloc(&msg, BYTES));
                nng_msg_set_pipe(msg, pipe);
                if (nng_sendmsg(poly, msg, 0) != 0) {
                        nng_msg_free(msg);
                        break; /* back-pressure, as it should be */
                }
                accepted++;
        }
        for (; nng_recvmsg(mono, &msg, 0) == 0; delivered++)
                nng_msg_free(msg);
        unlink(url + 6);
        snprintf(told, sizeof told, "a poly PAIR1 socket accepted %d messages and delivered %d", accepted, delivered);
        verdict(delivered < accepted, told);
}
