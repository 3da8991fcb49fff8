/*
 * A folder of certificates.
 */
#include "certs.h"

#include <dirent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sc_assert.h"

static const char variable[] = "SCALER_TEST_CERTIFICATES";

extern char **environ;

void certs_make(void)
{
        char  folder[] = "/tmp/scaler-certificates-XXXXXX", script[] = SC_CERTIFICATES, python[] = "python3";
        char  bare[] = "-B", *argv[] = { python, bare, script, folder, NULL };
        pid_t pid;
        int   status;
        SC_ASSERT(mkdtemp(folder));
        SC_ASSERT(posix_spawnp(&pid, python, NULL, NULL, argv, environ) == 0);
        SC_ASSERT(waitpid(pid, &status, 0) == pid);
        SC_ASSERT(status == 0);
        SC_ASSERT(setenv(variable, folder, 1) == 0);
}

void certs_remove(void)
{
        const char    *folder = getenv(variable);
        char           path[CERT_PATH_MAX + 256];
        DIR           *dir = opendir(folder);
        struct dirent *entry;
        while (dir && (entry = readdir(dir)) != NULL) {
                snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
                unlink(path); /* "." and ".." stay by themselves */
        }
        if (dir)
                closedir(dir);
        rmdir(folder);
}

const char *cert_path(const char *name, char path[CERT_PATH_MAX])
{
        snprintf(path, CERT_PATH_MAX, "%s/%s", getenv(variable), name);
        return path;
}

void certs_secure(struct sc_net *net)
{
        char                cert[CERT_PATH_MAX], key[CERT_PATH_MAX], ca[CERT_PATH_MAX];
        struct sc_why       why = { "" };
        const struct sc_tls tls = { .cert_file = cert_path("address.pem", cert),
                                    .key_file  = cert_path("address.key", key),
                                    .ca_file   = cert_path("ca.pem", ca) };
        const int           status = sc_net_nng_secure(net, &tls, &why);
        if (status != 0)
                fprintf(stderr, "%s\n", why.text);
        SC_ASSERT(status == 0);
}
