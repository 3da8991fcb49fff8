/*
 * access: where the cluster is and what lets one in: SCALER_URL, SCALER_TOKEN, --token-file.
 */
#ifndef TOOLS_ACCESS_H
#define TOOLS_ACCESS_H

#include <scaler.h>

#include "option.h"

struct access {
        const char *token_file; /* option */
        bool        insecure;   /* option */
        char       *token;      /* owned, or NULL */
};

/* Reads the token.  PROGRAM_GOES_ON, or the exit code after a line on stderr. */
int  access_read(struct access *a, const struct program *p, scaler_security *out);
void access_fini(struct access *a);

const char *access_url(void); /* SCALER_URL, or NULL when unset or empty */

#endif
