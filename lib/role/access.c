/*
 * Who may come in: the token, and which addresses may be listened on without one.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#include "msg.h"

int sc_access_init(struct sc_access *access, struct sc_mem *mem, const scaler_security *security, scaler_error *err)
{
        *access = (struct sc_access){ .token = NULL };
        scaler_security s;
        if (!security)
                return 0;
        if (!sc_sized_in(&s, sizeof s, security))
                return sc_error_set(err, SC_E_INVALID, "security: without its size");
        access->insecure = s.insecure;
        if (!s.token)
                return 0;
        const size_t len = strlen(s.token);
        if (len == 0 || len > SC_TOKEN_MAX)
                return sc_error_set(err, SC_E_INVALID, "security: a token of %zu bytes; 1 to %d it must have", len,
                                    SC_TOKEN_MAX);
        access->token = sc_mem_text(mem, s.token, len);
        if (!access->token)
                return sc_error_set(err, SC_E_NOMEM, "security: out of memory");
        access->token_len = len;
        return 0;
}

void sc_access_fini(struct sc_access *access, struct sc_mem *mem)
{
        if (access->token)
                sc_mem_release(mem, access->token, access->token_len + 1);
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

int sc_access_may_listen(const struct sc_access *access, const char *url, scaler_error *err)
{
        const bool network = strncmp(url, "tcp://", 6) == 0; /* what is no address at all is the net's to refuse */
        if (access->token || access->insecure || !network || sc_url_is_local(url))
                return 0;
        return sc_error_set(err, SC_E_DENIED, "%s: anybody could come in: give a token, or say that insecure is meant",
                            url);
}
