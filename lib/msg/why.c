/*
 * The words of the codes.
 */
#include "why.h"

const char *sc_why_name(int why)
{
        switch (why) {
#define NAME(name, number, word) \
        case number: return word;
                SC_WHY_LIST(NAME)
                SC_WHY_CLIENT_LIST(NAME)
#undef NAME
        default: return "?";
        }
}

const char *sc_idle_name(int idle)
{
        switch (idle) {
#define NAME(name, number, word) \
        case number: return word;
                SC_IDLE_LIST(NAME)
#undef NAME
        default: return "?";
        }
}
