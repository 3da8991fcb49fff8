/*
 * access: a token is the first line of its file, or SCALER_TOKEN; the file wins.  It is wiped when done.
 */
#include "access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#define TOKEN_MAX 1024

const char *access_url(void)
{
        const char *url = getenv("SCALER_URL");
        return url && *url ? url : NULL;
}

void access_rows(struct access *a, bool listens, struct option_row rows[ACCESS_ROWS])
{
        const struct option_row all[] = {
                { "token-file", 0, OPTION_TEXT, &a->token_file, 0, 0, 0, "FILE",
                  "its first line is the secret every peer must say" },
                { "tls-cert", 0, OPTION_TEXT, &a->cert_file, 0, 0, 0, "FILE", "our certificate for tls+tcp:// (PEM)" },
                { "tls-key", 0, OPTION_TEXT, &a->key_file, 0, 0, 0, "FILE", "its private key (in --tls-cert)" },
                { "tls-ca", 0, OPTION_TEXT, &a->ca_file, 0, 0, 0, "FILE", "the certificates to trust (PEM)" },
                { "tls-mutual", 0, OPTION_FLAG, &a->mutual, 0, 0, 0, NULL,
                  "let in only peers with a certificate of --tls-ca" },
                { "insecure", 0, OPTION_FLAG, &a->insecure, 0, 0, 0, NULL,
                  "listen beyond loopback without token and --tls-mutual" },
                { "tls-name", 0, OPTION_TEXT, &a->server_name, 0, 0, 0, "NAME",
                  "whom the scheduler's certificate is for (the URL's host)" },
                { "tls-unverified", 0, OPTION_FLAG, &a->unverified, 0, 0, 0, NULL, "believe any scheduler" },
        };
        enum { BOTH = 4 };
        for (size_t i = 0; i < ACCESS_ROWS; i++)
                rows[i] = all[i < BOTH || listens ? i : i + 2];
}

static bool is_tls(const char *url)
{
        return strncmp(url, "tls+tcp://", strlen("tls+tcp://")) == 0;
}

/* One without TLS; NULL: there is none. */
static const char *plain_one(const char *const *urls, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (!is_tls(urls[i]))
                        return urls[i];
        return NULL;
}

int access_suits(const struct access *a, const struct program *p, const char *const *urls, size_t count)
{
        const struct {
                const char *name;
                bool        given;
        } options[] = { { "tls-cert", a->cert_file },   { "tls-key", a->key_file },     { "tls-ca", a->ca_file },
                        { "tls-name", a->server_name }, { "tls-unverified", a->unverified } };
        const char *plain   = plain_one(urls, count);
        bool        any_tls = false;
        for (size_t i = 0; i < count; i++)
                any_tls |= is_tls(urls[i]);
        if (a->mutual && plain)
                return program_refuse(p, "--tls-mutual: '%s' is no tls+tcp:// address", plain);
        for (size_t i = 0; i < sizeof options / sizeof options[0] && !any_tls; i++)
                if (options[i].given && plain)
                        return program_refuse(p, "--%s: '%s' is no tls+tcp:// address", options[i].name, plain);
                else if (options[i].given)
                        return program_refuse(p, "--%s: there is no tls+tcp:// address", options[i].name);
        return PROGRAM_GOES_ON;
}

const char *access_hint(const struct access *a, const char *url, int status)
{
        if (status == SCALER_E_INVALID && url && is_tls(url) && !a->ca_file && !a->unverified)
                return " (--tls-ca, --tls-unverified)";
        if (status != SCALER_E_DENIED)
                return "";
        if (!url)
                return " (--token-file, --tls-mutual, --insecure)";
        return is_tls(url) ? " (--token-file, --tls-ca)" : " (--token-file)";
}

static ssize_t read_file(const char *path, char *bytes, size_t room)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -1;
        size_t  size = 0;
        ssize_t got  = 1;
        while (size < room && got > 0) {
                got = read(fd, bytes + size, room - size);
                size += got > 0 ? (size_t)got : 0;
        }
        int why = errno;
        close(fd);
        errno = why;
        return got < 0 ? -1 : (ssize_t)size;
}

static int read_token_file(struct access *a, const struct program *p)
{
        char    bytes[TOKEN_MAX + 2];
        ssize_t size = read_file(a->token_file, bytes, sizeof bytes);
        if (size < 0)
                return program_refuse(p, "--token-file: '%s': %s", a->token_file, strerror(errno));
        size_t length = 0;
        while (length < (size_t)size && bytes[length] != '\n')
                length++;
        if (length == 0 || length > TOKEN_MAX || memchr(bytes, '\0', length))
                return program_refuse(p, "--token-file: '%s': the first line must hold 1 to %d bytes, none of them NUL",
                                      a->token_file, TOKEN_MAX);
        a->token = memory_copy(bytes, length);
        return PROGRAM_GOES_ON;
}

int access_read(struct access *a, const struct program *p, scaler_security *out)
{
        const char *named = getenv("SCALER_TOKEN");
        if (a->token_file) {
                int code = read_token_file(a, p);
                if (code != PROGRAM_GOES_ON)
                        return code;
        } else if (named && *named) {
                if (strlen(named) > TOKEN_MAX)
                        return program_refuse(p, "SCALER_TOKEN: more than %d bytes", TOKEN_MAX);
                a->token = memory_copy(named, strlen(named));
        }
        scaler_init(out, sizeof *out);
        out->token          = a->token;
        out->insecure       = a->insecure;
        out->cert_file      = a->cert_file;
        out->key_file       = a->key_file;
        out->ca_file        = a->ca_file;
        out->server_name    = a->server_name;
        out->tls_unverified = a->unverified;
        out->tls_mutual     = a->mutual;
        return PROGRAM_GOES_ON;
}

void access_fini(struct access *a)
{
        if (a->token) {
                volatile char *at = a->token;
                while (*at)
                        *at++ = '\0';
        }
        free(a->token);
        a->token = NULL;
}
