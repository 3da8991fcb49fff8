/*
 * Who may come in: the token, what TLS goes by, and which addresses may be listened on without either.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#include "msg.h"

static int take_text(struct sc_mem *mem, const char *text, const char **out)
{
        if (!text)
                return 0;
        *out = sc_mem_text(mem, text, strlen(text));
        return *out ? 0 : SC_E_NOMEM;
}

static void drop_text(struct sc_mem *mem, const char *text)
{
        if (text)
                sc_mem_release(mem, (void *)(uintptr_t)text, strlen(text) + 1);
}

static int take_tls(struct sc_tls *tls, struct sc_mem *mem, const scaler_security *s)
{
        tls->unverified = s->tls_unverified;
        tls->mutual     = s->tls_mutual;
        int status      = take_text(mem, s->cert_file, &tls->cert_file);
        if (!status)
                status = take_text(mem, s->key_file, &tls->key_file);
        if (!status)
                status = take_text(mem, s->ca_file, &tls->ca_file);
        if (!status)
                status = take_text(mem, s->server_name, &tls->server_name);
        return status;
}

static int take_token(struct sc_access *access, struct sc_mem *mem, const char *token, scaler_error *err)
{
        const size_t len = strlen(token);
        if (len == 0 || len > SC_TOKEN_MAX)
                return sc_error_set(err, SC_E_INVALID, "security: a token of %zu bytes; 1 to %d it must have", len,
                                    SC_TOKEN_MAX);
        access->token = sc_mem_text(mem, token, len);
        if (!access->token)
                return sc_error_set(err, SC_E_NOMEM, "security: out of memory");
        access->token_len = len;
        return 0;
}

int sc_access_init(struct sc_access *access, struct sc_mem *mem, const scaler_security *security, scaler_error *err)
{
        *access = (struct sc_access){ .token = NULL };
        scaler_security s;
        if (!security)
                return 0;
        if (!sc_sized_in(&s, sizeof s, security))
                return sc_error_set(err, SC_E_INVALID, "security: without its size");
        access->insecure = s.insecure;
        int status       = s.token ? take_token(access, mem, s.token, err) : 0;
        if (!status && take_tls(&access->tls, mem, &s) != 0)
                status = sc_error_set(err, SC_E_NOMEM, "security: out of memory");
        if (status)
                sc_access_fini(access, mem);
        return status;
}

void sc_access_fini(struct sc_access *access, struct sc_mem *mem)
{
        if (access->token) {
                volatile char *at = access->token;
                for (size_t i = 0; i < access->token_len; i++)
                        at[i] = 0;
                sc_mem_release(mem, access->token, access->token_len + 1);
        }
        drop_text(mem, access->tls.cert_file);
        drop_text(mem, access->tls.key_file);
        drop_text(mem, access->tls.ca_file);
        drop_text(mem, access->tls.server_name);
        *access = (struct sc_access){ .token = NULL };
}

bool sc_access_token_is(const struct sc_access *access, const void *token, size_t len)
{
        const unsigned char *given = token, *ours = (const unsigned char *)access->token;
        size_t               differ = len ^ access->token_len;
        for (size_t i = 0; i < access->token_len; i++)
                differ |= (size_t)(ours[i] ^ (i < len ? given[i] : 0));
        return differ == 0;
}

bool sc_url_is_local(const char *url)
{
        static const char *const local[] = { "inproc://", "ipc://", "abstract://", "unix://" };
        for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
                if (strncmp(url, local[i], strlen(local[i])) == 0)
                        return true;
        const char *host = strstr(url, "://");
        if (!host)
                return false;
        host += 3;
        const size_t             len        = strcspn(host, "/");
        static const char *const loopback[] = { "127.0.0.1:", "localhost:", "[::1]:" };
        for (size_t i = 0; i < sizeof loopback / sizeof loopback[0]; i++)
                if (len > strlen(loopback[i]) && strncmp(host, loopback[i], strlen(loopback[i])) == 0)
                        return true;
        int a, b, c, used = 0; /* the rest of 127/8 */
        return sscanf(host, "127.%3d.%3d.%3d:%n", &a, &b, &c, &used) == 3 && used > 0;
}

static bool is_tls(const char *url)
{
        return strncmp(url, "tls+tcp://", 10) == 0;
}

int sc_access_may_listen(const struct sc_access *access, const char *url, scaler_error *err)
{
        const bool network = strncmp(url, "tcp://", 6) == 0 || is_tls(url); /* what is no address the net refuses */
        const bool plain   = !is_tls(url) && (network || sc_url_is_local(url)) && strncmp(url, "inproc://", 9) != 0;
        if (access->tls.mutual && plain)
                return sc_error_set(err, SC_E_INVALID,
                                    "%s: nobody shows a certificate there: mutual TLS needs tls+tcp://", url);
        const bool known   = access->token || (is_tls(url) && access->tls.mutual);
        if (known || access->insecure || !network || sc_url_is_local(url))
                return 0;
        return sc_error_set(err, SC_E_DENIED,
                            "%s: anybody could come in: give a token, mutual TLS, or say that insecure is meant", url);
}

int sc_access_may_dial(const struct sc_access *access, const char *url, scaler_error *err)
{
        if (!is_tls(url) || access->tls.ca_file || access->tls.unverified)
                return 0;
        return sc_error_set(err, SC_E_INVALID,
                            "%s: nobody can be believed: give the CA to trust, or say that unverified is meant", url);
}
