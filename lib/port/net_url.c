/*
 * Addresses.  Nothing is looked up here.
 */
#include "net_url.h"

#include <stdio.h>
#include <string.h>

#include "sc_status.h"

enum { IPC_PATH_MAX = 107, ABSTRACT_MAX = 106, INPROC_MAX = 100 };

/* The words matter more than the end of a long subject. */
void sc_why_set(struct sc_why *why, const char *subject, const char *words)
{
        if (why)
                snprintf(why->text, sizeof why->text, "%.100s %.90s", subject, words);
}

const char *sc_url_rest(const char *url)
{
        const char *mark = strstr(url, "://");
        return mark ? mark + 3 : NULL;
}

enum sc_scheme sc_url_scheme(const char *url)
{
        static const struct {
                const char    *text;
                enum sc_scheme scheme;
        } known[] = {
                { "tcp", SC_SCHEME_TCP },     { "ipc", SC_SCHEME_IPC }, { "abstract", SC_SCHEME_ABSTRACT },
                { "inproc", SC_SCHEME_INPROC }, { "tls+tcp", SC_SCHEME_TLS }, { "ws", SC_SCHEME_WS },
                { "wss", SC_SCHEME_WS },
        };
        const char *mark = strstr(url, "://");
        size_t      len  = mark ? (size_t)(mark - url) : 0;
        for (size_t i = 0; mark && i < sizeof known / sizeof known[0]; i++) {
                if (strlen(known[i].text) == len && memcmp(known[i].text, url, len) == 0)
                        return known[i].scheme;
        }
        return SC_SCHEME_NONE;
}

/* -1: not a decimal port. */
static int port_of(const char *text)
{
        size_t digits = strspn(text, "0123456789");
        int    port   = 0;
        if (digits == 0 || digits > 5 || text[digits] != '\0')
                return -1;
        for (size_t i = 0; i < digits; i++)
                port = port * 10 + (text[i] - '0');
        return port <= 65535 ? port : -1;
}

/* NULL, or what is wrong with HOST:PORT. */
static const char *tcp_complaint(const char *rest, bool listening)
{
        const char *colon = strrchr(rest, ':');
        if (!colon || colon == rest)
                return "wants HOST:PORT after ://";
        if (rest[0] == '[' ? colon[-1] != ']' || colon == rest + 2 : strchr(rest, ':') != colon)
                return "wants an IPv6 address in brackets, as in tcp://[::1]:PORT";
        if (strcspn(rest, "/?#@ ") != strlen(rest))
                return "wants nothing but HOST:PORT after ://";
        int port = port_of(colon + 1);
        if (port < 0)
                return "wants a port between 0 and 65535";
        if (port == 0 && !listening)
                return "has port 0, which nobody can be reached at";
        if (!listening && rest[0] == '*')
                return "has host *, which nobody can be reached at";
        return NULL;
}

static const char *name_complaint(const char *rest, size_t max, bool may_be_empty)
{
        size_t len = strlen(rest);
        if (len == 0 && !may_be_empty)
                return "wants a name after ://";
        if (len > max)
                return "is too long for its kind";
        return strpbrk(rest, "?#% ") ? "has a character in its name that is not allowed" : NULL;
}

static const char *ipc_complaint(const char *rest)
{
        if (rest[0] != '/')
                return "wants an absolute path, as in ipc:///tmp/name";
        return strlen(rest) > IPC_PATH_MAX ? "is too long: the system allows a path of 107 bytes" : NULL;
}

static const char *complaint(enum sc_scheme scheme, const char *rest, bool listening)
{
        switch (scheme) {
        case SC_SCHEME_TCP:
        case SC_SCHEME_TLS:
                return tcp_complaint(rest, listening);
        case SC_SCHEME_IPC:
                return ipc_complaint(rest);
        case SC_SCHEME_ABSTRACT:
                return name_complaint(rest, ABSTRACT_MAX, listening);
        case SC_SCHEME_INPROC:
                return name_complaint(rest, INPROC_MAX, false);
        case SC_SCHEME_NONE:
        case SC_SCHEME_WS:
                break;
        }
        return "starts with no scheme known here: tcp:// tls+tcp:// ipc:// abstract:// inproc://";
}

int sc_url_check(const char *url, bool listening, struct sc_why *why)
{
        if (strlen(url) > SC_URL_MAX) {
                sc_why_set(why, url, "... is longer than the 255 bytes that an address may have");
                return SC_E_ADDRESS;
        }
        enum sc_scheme scheme = sc_url_scheme(url);
        if (scheme == SC_SCHEME_WS) {
                sc_why_set(why, url, "cannot be used: ws:// and wss:// are not supported yet");
                return SC_E_UNSUPPORTED;
        }
        const char *wrong = complaint(scheme, scheme == SC_SCHEME_NONE ? url : sc_url_rest(url), listening);
        if (!wrong)
                return SC_OK;
        sc_why_set(why, url, wrong);
        return SC_E_ADDRESS;
}
