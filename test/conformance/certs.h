/*
 * Certificates of this run: test/certificates.py makes them in a temporary folder, whose name child processes
 * find in their environment.
 */
#ifndef CERTS_H
#define CERTS_H

#include "net_nng.h"

void certs_make(void);   /* in main, before any test */
void certs_remove(void); /* by the process that made them */

enum { CERT_PATH_MAX = 120 };
/* The path of a file that test/certificates.py names; returns path. */
const char *cert_path(const char *name, char path[CERT_PATH_MAX]);

/* What a node goes by that listens as 127.0.0.1 and dials its like. */
void certs_secure(struct sc_net *net);

#endif
