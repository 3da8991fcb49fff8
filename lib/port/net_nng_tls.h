/*
 * TLS under tls+tcp: addresses.  What files held is kept as text, and each listener and each dial makes
 * its own configuration of it, because the name that a certificate must bear differs from dial to dial.
 */
#ifndef SC_NET_NNG_TLS_H
#define SC_NET_NNG_TLS_H

#include <nng/nng.h>
#include <nng/supplemental/tls/tls.h>

#include "net_nng.h"
#include "sc_mem.h"

struct sc_nng_tls { /* part of a net; all texts of mem, NULL: none */
        struct sc_mem *mem;
        char          *cert, *key, *ca; /* PEM; the key is wiped before it is freed */
        size_t         cert_size, key_size, ca_size;
        char           name[SC_TLS_NAME_MAX + 1]; /* empty: the host of the URL */
        bool           given, unverified, mutual;
};

/* 0; SC_E_INVALID, SC_E_IO, SC_E_NOMEM, SC_E_UNSUPPORTED with words.  *tls is as before when it fails. */
int  sc_nng_tls_init(struct sc_nng_tls *tls, struct sc_mem *mem, const struct sc_tls *from, struct sc_why *why);
void sc_nng_tls_fini(struct sc_nng_tls *tls);

/* A configuration for one listener or one dial of `url`; the caller frees it. */
int  sc_nng_tls_config(const struct sc_nng_tls *tls, const char *url, bool listening, nng_tls_config **out,
                       struct sc_why *why);

/* Bytes that begin as TLS would and no frame of ours: its greeting, or its alert. */
bool sc_nng_tls_is_here(const uint8_t *bytes, size_t len);

#endif
