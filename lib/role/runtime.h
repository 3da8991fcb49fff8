/*
 * What the public roles share: the runtime behind a handle, errors with words, log lines, the nets
 * of one role.  A role keeps a pointer to its runtime, its own or the caller's, and never outlives it.
 */
#ifndef SC_RUNTIME_H
#define SC_RUNTIME_H

#include <stdatomic.h>

#include "fork.h"
#include "loop.h"
#include "net_nng.h"
#include "port.h"
#include "sc_mem.h"
#include "sc_status.h"
#include "scaler.h"
#include "station.h"

struct scaler_runtime {
        struct sc_mem    own; /* when the caller gave an allocator or a budget */
        struct sc_mem   *mem; /* own, or the process's malloc */
        struct sc_loop  *loop;
        scaler_log_fn    log;
        void            *log_ctx;
        _Atomic int32_t  log_level;
        _Atomic uint32_t users; /* roles and queues on it; destroy asserts that there are none */
};

/* malloc and free for whoever has no runtime.  Its only state is a statistic. */
struct sc_mem *sc_libc_mem(void);

/* err may be NULL.  Returns status, so that `return sc_error_set(...)` reads well. */
int sc_error_set(scaler_error *err, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* In the child of a fork (sc_forked()): SC_E_STATE, with words. */
int sc_refuse_forked(scaler_error *err);
/* One line to the runtime's log, subject first; long ones are cut. */
void sc_log(struct scaler_runtime *rt, int level, const char *role, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

/* The caller's runtime, or a new one that *owned says is ours to destroy. */
int  sc_runtime_take(struct scaler_runtime *given, struct scaler_runtime **out, bool *owned, scaler_error *err);
void sc_runtime_give_back(struct scaler_runtime *rt, bool owned);

/* Copies what the caller's sized struct has of ours and leaves the rest zero; false: size 0 or absurd. */
bool sc_sized_in(void *ours, size_t our_size, const void *theirs);
/* Writes min(ours, theirs->size) bytes but not the size itself; false: size 0 or absurd. */
bool sc_sized_out(void *theirs, const void *ours, size_t our_size);

/* Until when a timeout of the public header lasts, from now. */
sc_ns sc_until(int64_t timeout_ms);

/* ---- batches of a busy role --------------------------------------------------------------------- */

/*
 * A role that has plenty under way lets a small record wait a moment for company: a frame a record would cost
 * every process on its way a wake-up.  Whoever has little under way never waits.
 */
enum { SC_BATCH_RECORDS = 32 };
#define SC_BATCH_WAIT (100 * SC_US)

struct sc_batch {
        uint32_t records;        /* waiting since the last flush */
        bool     urgent;         /* something else wants to leave */
        sc_ns    flushed, until; /* until: SC_NEVER when nothing is held back */
};

/* At a flush: true while it may wait, until batch->until; false: flush now, which this counts as done. */
bool sc_batch_wait(struct sc_batch *batch, bool busy, sc_ns now);

/* ---- who may come in ------------------------------------------------------------------------------ */

struct sc_access {
        char         *token; /* NULL: none; of mem */
        size_t        token_len;
        bool          insecure;
        struct sc_tls tls; /* its texts of mem */
};
int  sc_access_init(struct sc_access *access, struct sc_mem *mem, const scaler_security *security, scaler_error *err);
void sc_access_fini(struct sc_access *access, struct sc_mem *mem);
bool sc_access_token_is(const struct sc_access *access, const void *token, size_t len); /* in constant time */
/* 0, SC_E_DENIED or SC_E_INVALID with words. */
int  sc_access_may_listen(const struct sc_access *access, const char *url, scaler_error *err);
int  sc_access_may_dial(const struct sc_access *access, const char *url, scaler_error *err);
bool sc_url_is_local(const char *url); /* loopback, unix, memory */

/* ---- the nets of one role ----------------------------------------------------------------------- */

enum { SC_NETS_MAX = 2 };
struct sc_nets {
        struct scaler_runtime  *rt;
        const struct sc_access *access;
        struct sc_station_door  door[SC_NETS_MAX]; /* memory, nng; its net is made when first needed */
        bool                    secured;           /* tls+tcp: has been given what it goes by */
};
void sc_nets_init(struct sc_nets *nets, struct scaler_runtime *rt, const struct sc_access *access,
                  struct sc_station *station);
/* In a turn.  The net for this URL, its upcalls going to the station. */
int  sc_nets_for(struct sc_nets *nets, const char *url, struct sc_net **out, scaler_error *err);
/* The same for dialling: an address that cannot be dialled is refused with the net's own words. */
int  sc_nets_dialable(struct sc_nets *nets, const char *url, struct sc_net **out, scaler_error *err);
void sc_nets_fini(struct sc_nets *nets); /* in a turn; closes everything */

uint64_t sc_random_id(void); /* not 0 */

#endif
