/*
 * Addresses: which scheme, and is it well formed?  Checked here, once, so that every net refuses the
 * same nonsense in the same words.
 */
#ifndef SC_NET_URL_H
#define SC_NET_URL_H

#include <stdbool.h>

#include "port.h"

enum sc_scheme {
        SC_SCHEME_NONE, /* not one of ours */
        SC_SCHEME_TCP,
        SC_SCHEME_IPC,
        SC_SCHEME_ABSTRACT,
        SC_SCHEME_INPROC,
        SC_SCHEME_TLS,
        SC_SCHEME_WS
};

enum sc_scheme sc_url_scheme(const char *url);
const char    *sc_url_rest(const char *url); /* what follows "://"; NULL: there is no such thing */

/* 0, SC_E_ADDRESS or SC_E_UNSUPPORTED with words; `listening`: port 0 and an empty abstract name are good. */
int sc_url_check(const char *url, bool listening, struct sc_why *why);
/* "subject words", cut to fit; NULL: nowhere. */
void sc_why_set(struct sc_why *why, const char *subject, const char *words);

#endif
