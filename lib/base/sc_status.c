/*
 * Names and sentences of statuses, from the one list in the header.
 */
#include "sc_status.h"

const char *sc_status_name(int status)
{
        switch (status) {
#define NAME(name, value, text) \
        case value: \
                return "SCALER_" #name;
                SC_STATUS_LIST(NAME)
#undef NAME
        default:
                return "SCALER_E_?";
        }
}

const char *sc_status_text(int status)
{
        switch (status) {
#define TEXT(name, value, text) \
        case value: \
                return text;
                SC_STATUS_LIST(TEXT)
#undef TEXT
        default:
                return "unknown status";
        }
}
