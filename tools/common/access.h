/*
 * access: where the cluster is and what lets one in: SCALER_URL, SCALER_TOKEN, --token-file.
 */
#ifndef TOOLS_ACCESS_H
#define TOOLS_ACCESS_H

#include <scaler.h>

#include "option.h"

struct access {
        const char     *token_file; /* options from here */
        const char     *cert_file, *key_file, *ca_file, *server_name;
        bool            unverified, mutual, insecure;
        char           *token; /* owned, or NULL */
};

enum { ACCESS_ROWS = 6 };

/* What the command line of a program that listens, or dials, says about access: rows to share. */
void access_rows(struct access *a, bool listens, struct option_row rows[ACCESS_ROWS]);

/* Whether the options suit the addresses.  PROGRAM_GOES_ON, or the exit code after a line on stderr. */
int  access_suits(const struct access *a, const struct program *p, const char *const *urls, size_t count);
/* Reads the token.  PROGRAM_GOES_ON, or the exit code after a line on stderr. */
int  access_read(struct access *a, const struct program *p, scaler_security *out);
/* The options that would have helped against `status`, " (...)"; "": none.  url: what was dialled; NULL: it listens. */
const char *access_hint(const struct access *a, const char *url, int status);
void access_fini(struct access *a);

const char *access_url(void); /* SCALER_URL, or NULL when unset or empty */

#endif
