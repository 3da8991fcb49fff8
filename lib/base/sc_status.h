/*
 * Every status of the library: one list gives value, name and sentence.  The values are those of
 * scaler.h, which a test compares line by line.
 */
#ifndef SC_STATUS_H
#define SC_STATUS_H

#define SC_STATUS_LIST(X) \
        X(OK, 0, "no error") \
        X(E_INVALID, -1, "invalid argument") \
        X(E_NOMEM, -2, "out of memory") \
        X(E_STATE, -3, "not possible in this state") \
        X(E_TIMEOUT, -4, "timed out") \
        X(E_CANCELLED, -5, "cancelled") \
        X(E_FULL, -6, "a configured limit is reached") \
        X(E_TOO_BIG, -7, "too big") \
        X(E_NOT_FOUND, -8, "not found") \
        X(E_EXISTS, -9, "already exists") \
        X(E_ADDRESS, -10, "address malformed, unresolvable or in use") \
        X(E_UNREACHABLE, -11, "peer unreachable") \
        X(E_PROTOCOL, -12, "protocol violated") \
        X(E_TASK, -13, "the task failed") \
        X(E_WORKER_LOST, -14, "every attempt lost its worker") \
        X(E_IO, -15, "input or output failed") \
        X(E_UNSUPPORTED, -16, "not supported") \
        X(E_DENIED, -17, "not allowed") \
        X(E_LIMIT, -18, "a limit of the task was hit") \
        X(E_GAP, -19, "output was restarted or left out")

enum sc_status {
#define SC_STATUS_ENUM(name, value, text) SC_##name = (value),
        SC_STATUS_LIST(SC_STATUS_ENUM)
#undef SC_STATUS_ENUM
};

const char *sc_status_name(int status); /* "SCALER_E_FULL"; "SCALER_E_?" for a stranger */
const char *sc_status_text(int status); /* a sentence without a full stop */

#endif
