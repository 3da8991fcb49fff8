/*
 * Names of messages, roles, reasons and public states, and the rights table: which role may send
 * which message.  All of it comes from the lists in msg.h.
 */
#include "msg.h"

const char *sc_msg_name(int kind)
{
        switch (kind) {
#define NAME(name, number, from) \
        case number: return #name;
                SC_MSG_LIST(NAME)
#undef NAME
        default: return "?";
        }
}

static int senders(int kind)
{
        switch (kind) {
#define SENDERS(name, number, from) \
        case number: return from;
                SC_MSG_LIST(SENDERS)
#undef SENDERS
        default: return 0;
        }
}

bool sc_msg_may_send(enum sc_role from, int kind)
{
        return from > SC_ROLE_NONE && from < SC_ROLES && (senders(kind) >> from & 1) != 0;
}

const char *sc_role_name(enum sc_role role)
{
        switch (role) {
        case SC_ROLE_NONE: return "none";
        case SC_ROLE_CLIENT: return "client";
        case SC_ROLE_WORKER: return "worker";
        case SC_ROLE_ADMIN: return "admin";
        case SC_ROLE_SCHEDULER: return "scheduler";
        case SC_ROLES: break;
        }
        return "?";
}

const char *sc_reason_name(int reason)
{
        switch (reason) {
#define NAME(name, number, text) \
        case number: return text;
                SC_REASON_LIST(NAME)
#undef NAME
        default: return "?";
        }
}

const char *sc_public_state_name(int state)
{
        switch (state) {
#define NAME(name, number, text) \
        case number: return text;
                SC_PUBLIC_STATE_LIST(NAME)
#undef NAME
        default: return "?";
        }
}
