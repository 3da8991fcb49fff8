/*
 * The list of effects a step appends to.  It has a fixed size: a core that asks for more than the
 * contract allows is broken, and stops here.
 */
#include "core.h"

#include <string.h>

#include "sc_assert.h"

struct sc_effect *sc_out_add(struct sc_out *out, enum sc_effect_kind kind)
{
        SC_ASSERT(out->len < SC_EFFECTS_MAX);
        struct sc_effect *effect = &out->at[out->len++];
        memset(effect, 0, sizeof *effect);
        effect->kind = kind;
        return effect;
}

struct sc_msg *sc_out_send(struct sc_out *out, sc_link_id link, enum sc_msg_kind kind)
{
        struct sc_effect *effect = sc_out_add(out, SC_FX_SEND);
        effect->link             = link;
        effect->msg.kind         = (int)kind;
        return &effect->msg;
}
