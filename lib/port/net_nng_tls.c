/*
 * Certificates and keys, from files to what nng wants.  nng 1.5 with mbedTLS 2.28 checks no name at all
 * when it is given none, or one that is too long, and says nothing: so a name is always set, and bounded
 * here.  It speaks TLS 1.2 and knows no addresses in a certificate's alternative names: an address is
 * compared with the common name.
 */
#include "net_nng_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net_url.h"
#include "sc_status.h"

enum { PEM_MAX = 1024 * 1024 };

/* ---- files ---------------------------------------------------------------------------------------- */

static int cannot_read(const char *path, int why_not, struct sc_why *why)
{
        sc_why_set(why, path,
                   why_not == ENOENT   ? "cannot be read: there is no such file"
                   : why_not == EACCES ? "cannot be read: this user may not"
                   : why_not == EFBIG  ? "cannot be read: it is too big for certificates and keys"
                                       : "cannot be read");
        return SC_E_IO;
}

/* Reads until the end or until `room` is full: how much, or -1 with errno. */
static ssize_t read_all(int fd, char *bytes, size_t room)
{
        size_t  have = 0;
        ssize_t got  = 1;
        while (got != 0 && have < room) {
                got = read(fd, bytes + have, room - have);
                if (got < 0 && errno != EINTR)
                        return -1;
                have += got > 0 ? (size_t)got : 0;
        }
        return (ssize_t)have;
}

/* The text of a file with its final zero, of mem, *size with it. */
static int read_text(struct sc_mem *mem, int fd, char **out, size_t *size)
{
        const off_t end = lseek(fd, 0, SEEK_END);
        if (end < 0 || end > PEM_MAX || lseek(fd, 0, SEEK_SET) != 0)
                return end > PEM_MAX ? EFBIG : ESPIPE;
        char *text = sc_mem_zalloc(mem, (size_t)end + 1);
        if (!text)
                return ENOMEM;
        if (read_all(fd, text, (size_t)end) < 0) {
                const int failed = errno;
                sc_mem_release(mem, text, (size_t)end + 1);
                return failed;
        }
        *out  = text;
        *size = (size_t)end + 1;
        return 0;
}

static int read_pem(struct sc_mem *mem, const char *path, char **out, size_t *size, struct sc_why *why)
{
        if (!path)
                return SC_OK;
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return cannot_read(path, errno, why);
        const int failed = read_text(mem, fd, out, size);
        close(fd);
        if (failed == ENOMEM)
                return SC_E_NOMEM;
        return failed ? cannot_read(path, failed, why) : SC_OK;
}

/* ---- are they any good? --------------------------------------------------------------------------- */

static int scratch(nng_tls_config **out, struct sc_why *why)
{
        const int result = nng_tls_config_alloc(out, NNG_TLS_MODE_SERVER);
        if (result == NNG_ENOTSUP)
                sc_why_set(why, "tls+tcp://", "cannot be used: this nng was built without TLS");
        return result == 0 ? SC_OK : result == NNG_ENOTSUP ? SC_E_UNSUPPORTED : SC_E_NOMEM;
}

static int refuse(const char *path, const char *words, struct sc_why *why)
{
        sc_why_set(why, path, words);
        return SC_E_INVALID;
}

static int check_pems(const struct sc_nng_tls *tls, const struct sc_tls *from, nng_tls_config *config,
                      struct sc_why *why)
{
        const char *const crl = tls->ca ? strstr(tls->ca, "-----BEGIN X509 CRL-----") : NULL;
        if (tls->ca && nng_tls_config_ca_chain(config, tls->ca, crl ? tls->ca : NULL) != 0)
                return refuse(from->ca_file, "holds something else than certificates (PEM) to trust", why);
        if (!tls->cert)
                return SC_OK;
        if (nng_tls_config_ca_chain(config, tls->cert, NULL) != 0)
                return refuse(from->cert_file, "holds no certificate (PEM) that can be read", why);
        if (nng_tls_config_own_cert(config, tls->cert, tls->key ? tls->key : tls->cert, NULL) != 0)
                return refuse(from->key_file ? from->key_file : from->cert_file,
                              "holds no private key (PEM, without a password) that can be read", why);
        return SC_OK;
}

static int check(const struct sc_nng_tls *tls, const struct sc_tls *from, struct sc_why *why)
{
        nng_tls_config *config;
        if (from->key_file && !from->cert_file)
                return refuse(from->key_file, "is a key without a certificate", why);
        if (from->mutual && !from->ca_file)
                return refuse("mutual TLS", "needs the certificates (CA) that the others' are to be signed by", why);
        int status = scratch(&config, why);
        if (status != SC_OK)
                return status;
        status = check_pems(tls, from, config, why);
        nng_tls_config_free(config);
        return status;
}

/* ---- the texts ------------------------------------------------------------------------------------- */

static void forget(struct sc_mem *mem, char **text, size_t size)
{
        if (!*text)
                return;
        explicit_bzero(*text, size);
        sc_mem_release(mem, *text, size);
        *text = NULL;
}

void sc_nng_tls_fini(struct sc_nng_tls *tls)
{
        forget(tls->mem, &tls->cert, tls->cert_size);
        forget(tls->mem, &tls->key, tls->key_size);
        forget(tls->mem, &tls->ca, tls->ca_size);
        *tls = (struct sc_nng_tls){ .given = false };
}

static int take_name(struct sc_nng_tls *tls, const char *name, struct sc_why *why)
{
        if (!name)
                return SC_OK;
        const size_t len = strlen(name);
        if (len == 0 || len > SC_TLS_NAME_MAX)
                return refuse("TLS", "wants a server name of 1 to 255 bytes", why);
        memcpy(tls->name, name, len + 1);
        return SC_OK;
}

int sc_nng_tls_init(struct sc_nng_tls *tls, struct sc_mem *mem, const struct sc_tls *from, struct sc_why *why)
{
        struct sc_nng_tls made = { .mem        = mem,
                                   .given      = true,
                                   .unverified = from->unverified,
                                   .mutual     = from->mutual };
        int               status = take_name(&made, from->server_name, why);
        if (status == SC_OK)
                status = read_pem(mem, from->cert_file, &made.cert, &made.cert_size, why);
        if (status == SC_OK)
                status = read_pem(mem, from->key_file, &made.key, &made.key_size, why);
        if (status == SC_OK)
                status = read_pem(mem, from->ca_file, &made.ca, &made.ca_size, why);
        if (status == SC_OK)
                status = check(&made, from, why);
        if (status == SC_OK)
                *tls = made;
        else
                sc_nng_tls_fini(&made);
        return status;
}

/* ---- a configuration ------------------------------------------------------------------------------- */

/* The host of tls+tcp://HOST:PORT, without the brackets of an IPv6 address. */
static void host_of(const char *url, char host[SC_TLS_NAME_MAX + 1])
{
        const char  *rest  = sc_url_rest(url);
        const char  *colon = strrchr(rest, ':');
        const bool   six   = *rest == '[';
        const size_t len   = (size_t)(colon - rest) - (six ? 2 : 0);
        snprintf(host, SC_TLS_NAME_MAX + 1, "%.*s", (int)len, rest + six);
}

static nng_tls_auth_mode auth_mode(const struct sc_nng_tls *tls, bool listening)
{
        const bool wanted = listening ? tls->mutual : !tls->unverified;
        return wanted ? NNG_TLS_AUTH_MODE_REQUIRED : NNG_TLS_AUTH_MODE_NONE;
}

static int fill(const struct sc_nng_tls *tls, const char *url, bool listening, nng_tls_config *config)
{
        char              host[SC_TLS_NAME_MAX + 1] = "";
        const char *const crl    = tls->ca ? strstr(tls->ca, "-----BEGIN X509 CRL-----") : NULL;
        int               result = nng_tls_config_auth_mode(config, auth_mode(tls, listening));
        if (!listening)
                host_of(url, host);
        if (result == 0 && !listening)
                result = nng_tls_config_server_name(config, tls->name[0] ? tls->name : host);
        if (result == 0 && tls->ca)
                result = nng_tls_config_ca_chain(config, tls->ca, crl ? tls->ca : NULL);
        if (result == 0 && tls->cert)
                result = nng_tls_config_own_cert(config, tls->cert, tls->key ? tls->key : tls->cert, NULL);
        return result;
}

int sc_nng_tls_config(const struct sc_nng_tls *tls, const char *url, bool listening, nng_tls_config **out,
                      struct sc_why *why)
{
        nng_tls_config *config;
        if (listening && !tls->cert) {
                sc_why_set(why, url, "cannot be listened on without a certificate and its key");
                return SC_E_INVALID;
        }
        if (!listening && !tls->unverified && !tls->ca) {
                sc_why_set(why, url, "cannot be verified without the certificate (CA) to trust");
                return SC_E_INVALID;
        }
        int result = nng_tls_config_alloc(&config, listening ? NNG_TLS_MODE_SERVER : NNG_TLS_MODE_CLIENT);
        if (result == 0 && (result = fill(tls, url, listening, config)) != 0)
                nng_tls_config_free(config);
        if (result != 0) {
                sc_why_set(why, url, "needs more memory than there is");
                return SC_E_NOMEM;
        }
        *out = config;
        return SC_OK;
}

/* A hello of ours has one record, where TLS has the third byte of a length that is never that great; an alert is two
 * bytes long, where ours has a length of 197 kB and a type that no first frame has. */
bool sc_nng_tls_is_here(const uint8_t *bytes, size_t len)
{
        enum { ALERT = 0x15, HANDSHAKE = 0x16, MAJOR = 3, MINOR_MAX = 4, CLIENT_HELLO = 1 };
        if (len < 7 || bytes[1] != MAJOR || bytes[2] > MINOR_MAX)
                return false;
        if (bytes[0] == ALERT)
                return bytes[3] == 0 && bytes[4] == 2;
        return bytes[0] == HANDSHAKE && bytes[5] == CLIENT_HELLO && bytes[6] == 0;
}
