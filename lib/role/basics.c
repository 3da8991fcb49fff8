/*
 * The small public functions: version, status names, identifiers, blobs.
 */
#include "runtime.h"

#include "msg.h"
#include "sc_blob.h"
#include "sc_id.h"
#include "task_fsm.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

int scaler_version(void)
{
        return SCALER_VERSION_NUMBER;
}

const char *scaler_version_string(void)
{
        return TEXT(SCALER_VERSION_MAJOR) "." TEXT(SCALER_VERSION_MINOR) "." TEXT(SCALER_VERSION_PATCH);
}

const char *scaler_strerror(int status)
{
        return sc_status_text(status);
}

const char *scaler_status_name(int status)
{
        return sc_status_name(status);
}

const char *scaler_reason_name(int reason)
{
        return sc_reason_name(reason);
}

const char *scaler_stage_name(int32_t stage)
{
        if (stage == SCALER_STAGE_NONE)
                return "none";
        return stage > 0 && stage < SC_STATES ? sc_task_state_name((enum sc_task_state)stage) : "?";
}

const char *scaler_why_name(int32_t why)
{
        return sc_why_name(why);
}

const char *scaler_idle_name(int32_t idle)
{
        return sc_idle_name(idle);
}

const char *scaler_task_info_state_name(int32_t state)
{
        return sc_public_state_name(state);
}

bool scaler_id_is_nil(scaler_id id)
{
        return id.hi == 0 && id.lo == 0;
}

bool scaler_id_equal(scaler_id a, scaler_id b)
{
        return a.hi == b.hi && a.lo == b.lo;
}

const char *scaler_id_format(scaler_id id, char text[SCALER_ID_TEXT_MAX])
{
        sc_id_format((struct sc_id){ id.hi, id.lo }, text);
        return text;
}

int scaler_id_parse(const char *text, scaler_id *out)
{
        struct sc_id id;
        if (!text || !out || !sc_id_parse(text, &id))
                return SC_E_INVALID;
        *out = (scaler_id){ id.hi, id.lo };
        return 0;
}

/* A scaler_blob is an sc_blob seen from outside. */
static struct sc_blob *inside(scaler_blob *blob)
{
        return (struct sc_blob *)(void *)blob;
}

static const struct sc_blob *inside_const(const scaler_blob *blob)
{
        return (const struct sc_blob *)(const void *)blob;
}

static int give(struct sc_blob *blob, scaler_blob **out)
{
        if (!blob)
                return SC_E_NOMEM;
        *out = (scaler_blob *)(void *)blob;
        return 0;
}

int scaler_blob_alloc(scaler_runtime *rt, size_t size, void **data_out, scaler_blob **out)
{
        if (!data_out || !out)
                return SC_E_INVALID;
        void           *data;
        struct sc_blob *blob = sc_blob_alloc(rt ? rt->mem : sc_libc_mem(), size, &data);
        if (!blob)
                return SC_E_NOMEM;
        *data_out = data;
        return give(blob, out);
}

int scaler_blob_copy(scaler_runtime *rt, const void *data, size_t size, scaler_blob **out)
{
        if ((!data && size) || !out)
                return SC_E_INVALID;
        return give(sc_blob_copy(rt ? rt->mem : sc_libc_mem(), data, size), out);
}

int scaler_blob_wrap(scaler_runtime *rt, void *data, size_t size, scaler_release_fn release, void *ctx,
                     scaler_blob **out)
{
        if ((!data && size) || !out)
                return SC_E_INVALID;
        return give(sc_blob_wrap(rt ? rt->mem : sc_libc_mem(), data, size, release, ctx), out);
}

scaler_blob *scaler_blob_ref(scaler_blob *blob)
{
        return (scaler_blob *)(void *)(blob ? sc_blob_ref(inside(blob)) : NULL);
}

void scaler_blob_unref(scaler_blob *blob)
{
        if (blob)
                sc_blob_unref(inside(blob));
}

const void *scaler_blob_data(const scaler_blob *blob)
{
        return blob ? sc_blob_data(inside_const(blob)) : "";
}

size_t scaler_blob_size(const scaler_blob *blob)
{
        return blob ? sc_blob_size(inside_const(blob)) : 0;
}
