/*
 * scaler.h - an embeddable distributed task runtime.
 *
 * Clients submit tasks, a scheduler places them, workers run them: registered functions on slot
 * threads, or commands as child processes.  Every role is an object in this header; any mix of
 * roles may live in one process, on one runtime or on several, and find each other by URL.
 *
 * Delivery.  Every task ends exactly once, and its future says how.  Executions are at least once:
 *            a task whose worker was lost runs again, up to the scheduler's losses_max.
 * Threads.   A role lives on one runtime, and one thread at a time turns a runtime.  [any] functions
 *            may be called from any thread.  [setup] functions must not race with each other on one
 *            object and end with *_start(), which is one of them.  [task] functions belong to the thread
 *            running that task.  [host] functions belong to the one thread that turns a host-driven
 *            runtime.  [last] functions are the last call on their object and race with none.  A callback
 *            of this library may call [any] functions that do not block; blocking ones give SCALER_E_STATE
 *            where they would hold up the turn they wait for.  [setup] and [last] ones are not for callbacks.
 * Blocking.  Only functions taking timeout_ms block, and *_start, *_stop and *_destroy briefly.
 *            0 polls, SCALER_FOREVER waits.
 * Ownership. "takes"    the library owns the argument when the call succeeds.
 *            "borrows"  the library uses it during the call only.
 *            "gives"    the caller owns what was written to the out pointer.
 *            "lends"    the pointer is valid as long as the object it came from.
 *            Out pointers are written on success only.  Every unref and destroy accepts NULL.
 * Errors.    int results: 0 or a count on success, a negative scaler_status on failure.  Details are
 *            text in a caller-owned scaler_error, which may be NULL.  Each function says after "Errors:"
 *            what it can give; SCALER_E_INVALID stands for an argument that breaks this header's rules,
 *            a missing size or a NULL where none may be.
 * Growth.    Structs starting with `size` may gain fields at the end: set size to sizeof the struct and
 *            zero the rest (scaler_init); zero always means "default".  Arrays of such structs have the
 *            stride array[0].size.  For out structs the caller sets size and the library writes no more.
 *            New enum values may appear: treat unknown ones as the generic case.
 * Limits.    0: the default.  SCALER_NONE: none at all.  SCALER_UNLIMITED: no limit.
 * Manners.   The library installs no signal handlers, changes no locale, never exits the process, prints
 *            nothing, and keeps errno.  Its threads block all signals.
 * Forks.     A child made by fork() may exec() or end as it likes, and takes no descriptor of the library's
 *            along over exec().  In it, once its parent has had a runtime, whatever gives a status gives
 *            SCALER_E_STATE, and unref, wake and destroy do nothing; the parent is not harmed.  A child
 *            that was forked inside a callback or a task must not return from it.
 */
#ifndef SCALER_H
#define SCALER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define SCALER_API      __attribute__((visibility("default")))
#define SCALER_MUST_USE __attribute__((warn_unused_result))
#else
#define SCALER_API
#define SCALER_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. Version -------------------------------------------------------------------------------- */

#define SCALER_VERSION_MAJOR  0
#define SCALER_VERSION_MINOR  1
#define SCALER_VERSION_PATCH  0
#define SCALER_VERSION_NUMBER (SCALER_VERSION_MAJOR * 10000 + SCALER_VERSION_MINOR * 100 + SCALER_VERSION_PATCH)

/* [any] The version of the library linked, as SCALER_VERSION_NUMBER is made.  Never fails. */
SCALER_API int scaler_version(void);
/* [any] The same in words: "0.1.0".  Lends, forever. */
SCALER_API const char *scaler_version_string(void);

/* ---- 2. Status and error ----------------------------------------------------------------------- */

typedef enum scaler_status {
        SCALER_OK            = 0,
        SCALER_E_INVALID     = -1, /* an argument breaks this header's rules */
        SCALER_E_NOMEM       = -2,
        SCALER_E_STATE       = -3, /* not now: not started, already stopped, inside a callback ... */
        SCALER_E_TIMEOUT     = -4,
        SCALER_E_CANCELLED   = -5,
        SCALER_E_FULL        = -6, /* a configured limit is reached; try later */
        SCALER_E_TOO_BIG     = -7,
        SCALER_E_NOT_FOUND   = -8,
        SCALER_E_EXISTS      = -9,
        SCALER_E_ADDRESS     = -10, /* malformed, unresolvable or in use */
        SCALER_E_UNREACHABLE = -11, /* peer gone and reconnection given up */
        SCALER_E_PROTOCOL    = -12, /* peer spoke nonsense or another version */
        SCALER_E_TASK        = -13, /* the task itself failed */
        SCALER_E_WORKER_LOST = -14, /* the task's runs all lost their worker */
        SCALER_E_IO          = -15,
        SCALER_E_UNSUPPORTED = -16,
        SCALER_E_DENIED      = -17, /* wrong token, or a role without that right */
        SCALER_E_LIMIT       = -18, /* a limit of the task was hit: time, output */
        SCALER_E_GAP         = -19  /* output started again because the task did */
} scaler_status;

#define SCALER_FOREVER   INT64_C(-1) /* timeouts */
#define SCALER_NONE      (-1)        /* limits: none at all */
#define SCALER_UNLIMITED (-2)        /* limits: no limit */

#define SCALER_ERROR_TEXT_MAX 200

typedef struct scaler_error { /* frozen */
        int  status;
        char text[SCALER_ERROR_TEXT_MAX]; /* always terminated, never empty on failure */
} scaler_error;

/* [any] A sentence for people, for any number.  Lends, forever. */
SCALER_API const char *scaler_strerror(int status);
/* [any] The name in this header, "SCALER_E_FULL".  Lends, forever. */
SCALER_API const char *scaler_status_name(int status);

/* Zeroes any sized struct and sets its size: scaler_init(&options, sizeof options). */
static inline void scaler_init(void *sized_struct, size_t size)
{
        memset(sized_struct, 0, size);
        memcpy(sized_struct, &size, sizeof size);
}

/* ---- 3. Identifiers ---------------------------------------------------------------------------- */

typedef struct scaler_id { /* frozen */
        uint64_t hi;
        uint64_t lo;
} scaler_id;

#define SCALER_ID_TEXT_MAX 33

/* [any] Whether all of it is zero: no thing has such an id. */
SCALER_API bool scaler_id_is_nil(scaler_id id);
/* [any] Whether both name the same thing. */
SCALER_API bool scaler_id_equal(scaler_id a, scaler_id b);
/* [any] Writes 32 hexadecimal digits and a zero byte, and returns text. */
SCALER_API const char *scaler_id_format(scaler_id id, char text[SCALER_ID_TEXT_MAX]);
/* [any] Reads what scaler_id_format() writes.  Borrows text.  Errors: SCALER_E_INVALID. */
SCALER_API int scaler_id_parse(const char *text, scaler_id *out);

/* ---- 4. Runtime: memory, log and the thread that turns ------------------------------------------- */

typedef struct scaler_runtime scaler_runtime;

typedef struct scaler_allocator { /* all functions: any thread, must not call into this library */
        size_t size;
        void  *ctx;
        void *(*alloc)(void *ctx, size_t size); /* NULL: none left */
        void *(*resize)(void *ctx, void *ptr, size_t old_size, size_t new_size);
        void (*release)(void *ctx, void *ptr, size_t size);
} scaler_allocator;

typedef enum scaler_log_level {
        SCALER_LOG_DEFAULT = 0, /* info */
        SCALER_LOG_NONE    = 1,
        SCALER_LOG_ERROR   = 2,
        SCALER_LOG_WARN    = 3,
        SCALER_LOG_INFO    = 4,
        SCALER_LOG_DEBUG   = 5
} scaler_log_level;

typedef struct scaler_log_record {
        size_t      size;
        int32_t     level;   /* scaler_log_level */
        int64_t     time_ms; /* since 1970 */
        const char *role;    /* "scheduler" "worker" "client" "runtime" "task" */
        const char *line;    /* one line without its end; subject first */
} scaler_log_record;

/* Runs on whichever thread has something to say, inside the library: it must not block for long, and
 * blocking calls from it give SCALER_E_STATE. */
typedef void (*scaler_log_fn)(void *ctx, const scaler_log_record *record);

typedef struct scaler_runtime_options {
        size_t                  size;
        const scaler_allocator *allocator; /* borrows; copied.  NULL: malloc */
        scaler_log_fn           log;       /* NULL: silence */
        void                   *log_ctx;
        int32_t                 log_level;   /* scaler_log_level */
        bool                    host_driven; /* no thread: the host calls scaler_runtime_turn() */
        int64_t                 memory_max;  /* bytes this runtime may hold; 0: no limit.  A quarter is kept for what is
                                              * under way: submits are SCALER_E_FULL while the rest is in use.  Of a
                                              * runtime with a scheduler at least 4 MiB */
} scaler_runtime_options;

/* [any] Makes a runtime and, unless it is host driven, its thread.  Borrows options (NULL: all defaults), gives.
 * Errors: SCALER_E_INVALID, SCALER_E_NOMEM, SCALER_E_IO (no descriptor or thread to be had). */
SCALER_API int scaler_runtime_create(const scaler_runtime_options *options, scaler_runtime **out,
                                     scaler_error *err) SCALER_MUST_USE;
/* [host] Waits for work, does it, and returns the number of things done, which may be 0.  Blocks up to timeout_ms.
 * Errors: SCALER_E_INVALID, SCALER_E_STATE (a runtime with its own thread, or inside a callback). */
SCALER_API int scaler_runtime_turn(scaler_runtime *rt, int64_t timeout_ms);
/* [any] A descriptor that is readable when a turn has work; poll it, never read it.  Lends; it stays the runtime's.
 * Errors: SCALER_E_INVALID, SCALER_E_STATE (not host driven). */
SCALER_API int scaler_runtime_fd(scaler_runtime *rt);
/* [any] A turn that waits returns, or the next one does not wait. */
SCALER_API void scaler_runtime_wake(scaler_runtime *rt);
/* [any] From now on; a level that is not one changes nothing. */
SCALER_API void scaler_runtime_set_log_level(scaler_runtime *rt, int32_t level);
/* [last] After every role and queue on it was destroyed and every blob of it let go.  Blocks briefly. */
SCALER_API void scaler_runtime_destroy(scaler_runtime *rt);

/* ---- 5. Blobs: immutable, counted bytes ----------------------------------------------------------- */

typedef struct scaler_blob scaler_blob;
typedef void (*scaler_release_fn)(void *ctx, void *data, size_t size); /* any thread */

/* Of all that make one: rt says whose memory it is; NULL: malloc's. */

/* [any] Room for size bytes at *data_out, to be filled before the blob is shared.  Gives; lends the room.
 * Errors: SCALER_E_INVALID, SCALER_E_NOMEM. */
SCALER_API int scaler_blob_alloc(scaler_runtime *rt, size_t size, void **data_out, scaler_blob **out);
/* [any] A copy of the bytes.  Borrows data, gives.  Errors: SCALER_E_INVALID, SCALER_E_NOMEM. */
SCALER_API int scaler_blob_copy(scaler_runtime *rt, const void *data, size_t size, scaler_blob **out);
/* [any] The caller's bytes as they lie; release is called with them when the last reference goes, on whichever
 * thread that is.  Takes data, gives; release NULL: data outlives the blob.  Errors: SCALER_E_INVALID,
 * SCALER_E_NOMEM. */
SCALER_API int scaler_blob_wrap(scaler_runtime *rt, void *data, size_t size, scaler_release_fn release, void *ctx,
                                scaler_blob **out);
/* [any] Gives one more reference, to the same blob. */
SCALER_API scaler_blob *scaler_blob_ref(scaler_blob *blob);
/* [any] Takes one reference; the bytes go with the last. */
SCALER_API void scaler_blob_unref(scaler_blob *blob);
/* [any] The bytes, never NULL.  Lends. */
SCALER_API const void *scaler_blob_data(const scaler_blob *blob);
/* [any] How many bytes; 0 for NULL. */
SCALER_API size_t scaler_blob_size(const scaler_blob *blob);

/* ---- 6. Who may come in ---------------------------------------------------------------------------- */

typedef struct scaler_security {
        size_t      size;
        const char *token;    /* shared secret that every peer must say; NULL: none.  At most 1,024 bytes */
        bool        insecure; /* listen beyond loopback without a token or mutual TLS all the same */
        /* tls+tcp: addresses.  Files are PEM and read by start; 1 to 255 bytes for the name. */
        const char *cert_file;      /* ours, then those that signed it; listeners must have one */
        const char *key_file;       /* without a password; NULL: it is in cert_file */
        const char *ca_file;        /* whose signature is believed; revocation lists in it are heeded */
        const char *server_name;    /* whoever dials wants the certificate to be for it; NULL: the host of the URL */
        bool        tls_unverified; /* whoever dials believes everybody: no protection against one in the middle */
        bool        tls_mutual;     /* listeners let in only whom ca_file has signed; all are tls+tcp: or inproc: */
} scaler_security;

/* ---- 7. Scheduler ---------------------------------------------------------------------------------- */

typedef struct scaler_scheduler scaler_scheduler;

/* Clients say which tenant they are of; slot-time is shared among tenants by weight, then among a tenant's clients. */
typedef struct scaler_tenant { /* an array's stride is the first one's size */
        size_t      size;
        const char *name;        /* at most 127 bytes; "": who names none; "*": every other one, each by itself */
        int64_t     weight;      /* 1 to 1,000,000; 0: 1,000 */
        int64_t     queued_max;  /* tasks held for it; 0: tasks_max */
        int64_t     running_max; /* tasks of it with workers at once; 0: no limit */
} scaler_tenant;

typedef struct scaler_scheduler_options {
        size_t             size;
        scaler_runtime    *runtime; /* NULL: a private one */
        const char        *name;    /* for people; NULL: host name and pid */
        const char *const *listen;  /* "tcp://127.0.0.1:7700" "tls+tcp://..." "ipc:///run/scaler" "inproc://name" */
        size_t             listen_count;         /* at least 1; port 0 picks a free one */
        const scaler_security *security;         /* borrows; NULL: no token, loopback only */
        int64_t                tasks_max;        /* tasks held; 0: 10,000,000 */
        int64_t                bytes_max;        /* of arguments and results held; 0: a quarter of RAM */
        int64_t                peers_max;        /* 0: 65,536 */
        int64_t                client_tasks_max; /* of one client; 0: tasks_max */
        int32_t                losses_max;       /* the n-th lost run ends the task; 0: 3 */
        int64_t                silent_ms;        /* a peer silent for so long is lost; 0: 10,000 */
        int64_t                client_grace_ms;  /* a lost client's tasks wait so long; 0: 60,000; SCALER_UNLIMITED */
        /* not in 0.1.0 */
        const scaler_tenant   *tenants;          /* those with a share or limits of their own; borrows */
        size_t                 tenant_count;     /* at most 1,024 */
        int64_t                aging_ms;         /* waiting so long is worth one priority; 0: 60,000; SCALER_NONE */
        const char            *allocate;         /* "spread" (NULL), "even_load" or "capability": who gets a task */
        int64_t                keys_kept;        /* ended idempotency keys remembered; 0: 100,000; SCALER_NONE */
        int64_t                keys_age_ms;      /* for so long; 0: 3,600,000; SCALER_UNLIMITED; a restart forgets */
} scaler_scheduler_options;

typedef struct scaler_scheduler_stats {
        size_t   size;
        uint32_t clients, workers, links;
        uint32_t tasks_waiting, tasks_ready, tasks_assigned, tasks_unacknowledged, orphans;
        uint32_t slots_total, slots_busy;
        uint64_t tasks_submitted, tasks_done, tasks_failed, tasks_cancelled;
        uint64_t runs_lost;     /* with their worker */
        uint64_t runs_kept;     /* over a lost link */
        uint64_t stale_dropped; /* messages that the fence refused */
        uint64_t bytes_used, bytes_max;
        uint64_t tasks_max;
        uint64_t uptime_ms;
        uint64_t epoch; /* random, of this scheduler object */
        /* not in 0.1.0 */
        uint32_t tasks_kept; /* ended, and kept for others that will read the result */
} scaler_scheduler_stats;

/* [any] Checks the options and makes a scheduler that does not listen yet.  Borrows options, gives.
 * Errors: SCALER_E_INVALID, SCALER_E_NOMEM, SCALER_E_IO. */
SCALER_API int scaler_scheduler_create(const scaler_scheduler_options *options, scaler_scheduler **out,
                                       scaler_error *err) SCALER_MUST_USE;
/* [setup] Listens on every address, or on none: after a failure it may be tried again.  Blocks briefly.
 * Errors: SCALER_E_INVALID, SCALER_E_STATE (started before, inside a callback), SCALER_E_ADDRESS, SCALER_E_DENIED
 * (beyond loopback without a token), SCALER_E_UNSUPPORTED (no such kind of address), SCALER_E_NOMEM, SCALER_E_IO (no
 * descriptor or thread to be had). */
SCALER_API int scaler_scheduler_start(scaler_scheduler *s, scaler_error *err) SCALER_MUST_USE;
/* [any] The index-th address as it was bound, port 0 resolved; NULL before start and beyond the last.  Lends. */
SCALER_API const char *scaler_scheduler_address(const scaler_scheduler *s, size_t index);
/* [any] Counts of this moment.  Errors: SCALER_E_INVALID. */
SCALER_API int scaler_scheduler_stats_get(scaler_scheduler *s, scaler_scheduler_stats *out);
/* [any] Begins to stop: takes no new tasks and starts none, lets running ones end and results arrive.  Then, or after
 * deadline_ms (0: however long it takes, and for ever while a task waits for one of its own that has not started), it
 * listens no more and says goodbye; clients keep their unfinished tasks and
 * workers what still runs, and both dial on, so that the next scheduler at this address goes on with them.  Called
 * again, the earlier deadline counts.
 * Errors: SCALER_E_INVALID, SCALER_E_STATE (not started, inside a callback). */
SCALER_API int scaler_scheduler_drain(scaler_scheduler *s, int64_t deadline_ms);
/* [any] Waits until it has stopped, whoever asked for that.  Blocks up to timeout_ms.
 * Errors: SCALER_E_INVALID, SCALER_E_TIMEOUT, SCALER_E_STATE (not started, inside a callback). */
SCALER_API int scaler_scheduler_wait_stopped(scaler_scheduler *s, int64_t timeout_ms);
/* [any] scaler_scheduler_drain() without a deadline, unless that was begun before, and waits until all is said and
 * every link is closed.  Blocks up to timeout_ms; may be called again to wait on.  Errors: SCALER_E_INVALID,
 * SCALER_E_TIMEOUT (tasks still run, or some link has not closed yet), SCALER_E_STATE (inside a callback). */
SCALER_API int scaler_scheduler_stop(scaler_scheduler *s, int64_t timeout_ms);
/* [last] Waits for no task: says goodbye when that was not done, and lets bytes leave for at most a second. */
SCALER_API void scaler_scheduler_destroy(scaler_scheduler *s);

/* ---- 8. Worker and the tasks it runs ----------------------------------------------------------------- */

typedef struct scaler_worker scaler_worker;
typedef struct scaler_task   scaler_task;
typedef struct scaler_client scaler_client; /* see 9 */

/* Return 0 when the task succeeded, anything else to fail it with that code.  Runs on a slot thread. */
typedef int (*scaler_task_fn)(scaler_task *task, void *ctx);

typedef struct scaler_function {
        size_t         size;
        const char    *name; /* at most 127 bytes */
        scaler_task_fn fn;
        void          *ctx;
        void (*destroy)(void *ctx); /* NULL, or called when the worker is destroyed */
} scaler_function;

typedef struct scaler_worker_options {
        size_t                 size;
        scaler_runtime        *runtime;
        const char            *scheduler; /* where to dial; redialled for as long as it takes */
        const char            *name;      /* for people; NULL: host name and pid */
        const scaler_security *security;
        int32_t                slots;                /* tasks run at once, at most 1,024; 0: usable CPUs */
        int32_t                prefetch;             /* tasks kept near beyond the slots; 0: adaptive; SCALER_NONE */
        int32_t                commands;             /* 0: runs commands; SCALER_NONE: functions only */
        int64_t                keep_ms;              /* running tasks outlive a lost link so long; 0: 60,000 */
        int64_t                kill_grace_ms;        /* from SIGTERM to SIGKILL; 0: 5,000 */
        int64_t                scheduler_timeout_ms; /* gives up after; 0: never */
        /* not in 0.1.0 */
        const char            *offers;               /* "gpu=2,mem=64G,linux"; cpu as many as slots unless named */
} scaler_worker_options;

typedef struct scaler_worker_stats {
        size_t   size;
        uint32_t slots, running, queued;
        uint32_t abandoned; /* cancelled functions that have not returned yet */
        uint64_t done, failed, cancelled;
        bool     connected;
        int32_t  status; /* 0, or why it has given up */
        /* not in 0.1.0 */
        uint64_t released; /* runs given back at the deadline of a drain */
        uint32_t waiting; /* of those running: they wait for tasks of their own, without a slot */
} scaler_worker_stats;

/* [any] Checks the options and makes a worker that does not dial yet.  Borrows options, gives.
 * Errors: SCALER_E_INVALID, SCALER_E_NOMEM, SCALER_E_IO. */
SCALER_API int scaler_worker_create(const scaler_worker_options *options, scaler_worker **out,
                                    scaler_error *err) SCALER_MUST_USE;
/* [setup] Offers a function by its name, at most 4,096 of them.  Borrows function and its name; takes ctx when there is
 * a destroy.  Errors: SCALER_E_INVALID, SCALER_E_EXISTS, SCALER_E_FULL, SCALER_E_STATE (started), SCALER_E_NOMEM. */
SCALER_API int scaler_worker_register(scaler_worker *w, const scaler_function *function);
/* [setup] Starts the slot threads and dials in the background; after a failure it may be tried again.  Blocks briefly.
 * Errors: SCALER_E_INVALID, SCALER_E_STATE (started before, inside a callback), SCALER_E_ADDRESS,
 * SCALER_E_UNSUPPORTED (no such kind of address), SCALER_E_NOMEM, SCALER_E_IO. */
SCALER_API int scaler_worker_start(scaler_worker *w, scaler_error *err) SCALER_MUST_USE;
/* [any] Waits until it is linked.  Blocks up to timeout_ms.
 * Errors: SCALER_E_INVALID, SCALER_E_TIMEOUT, SCALER_E_STATE (not started, inside a callback), or why it gave up:
 * SCALER_E_UNREACHABLE, SCALER_E_DENIED, SCALER_E_PROTOCOL, SCALER_E_UNSUPPORTED. */
SCALER_API int scaler_worker_wait_ready(scaler_worker *w, int64_t timeout_ms);
/* [any] Waits until it was stopped (0) or gave up (why).  Blocks up to timeout_ms.
 * Errors: as scaler_worker_wait_ready(). */
SCALER_API int scaler_worker_wait_stopped(scaler_worker *w, int64_t timeout_ms);
/* [any] Counts of this moment.  Errors: SCALER_E_INVALID. */
SCALER_API int scaler_worker_stats_get(scaler_worker *w, scaler_worker_stats *out);
/* [any] Begins to leave: takes no new tasks, gives queued ones back, lets running ones finish and their results arrive.
 * What still runs after deadline_ms (0: however long it takes) is given back too: commands are killed, functions are
 * told that they are cancelled and not waited for; those tasks run again elsewhere, which costs them neither a loss nor
 * a retry.  Called again, the earlier deadline counts.  The scheduler may ask a worker for the same; see
 * scaler_client_drain().
 * Errors: SCALER_E_INVALID, SCALER_E_STATE (not started, inside a callback). */
SCALER_API int scaler_worker_drain(scaler_worker *w, int64_t deadline_ms);
/* [any] scaler_worker_drain() without a deadline, unless that was begun before, and waits.  Blocks up to timeout_ms.
 * Errors: SCALER_E_INVALID, SCALER_E_TIMEOUT (they have not, and it may be asked again), SCALER_E_STATE (inside a
 * callback), or why it had given up. */
SCALER_API int scaler_worker_stop(scaler_worker *w, int64_t timeout_ms);
/* [last] Stops at once: gives back what still runs, kills commands, waits for functions for as long as they take. */
SCALER_API void scaler_worker_destroy(scaler_worker *w);

/* [task] The id that its client's future has too. */
SCALER_API scaler_id scaler_task_id(const scaler_task *t);
/* [task] Which run this is: 1 at first, more after a loss or a retry. */
SCALER_API uint32_t scaler_task_attempt(const scaler_task *t);
/* [task] How many arguments came with it. */
SCALER_API size_t scaler_task_arg_count(const scaler_task *t);
/* [task] The bytes of one argument, aligned for any type, and their number when size_out is not NULL; NULL beyond the
 * last.  Lends. */
SCALER_API const void *scaler_task_arg(const scaler_task *t, size_t index, size_t *size_out);
/* [task] How much it holds of what its spec needs, in thousandths (0: a capability), and which of the worker's units,
 * as a bit set: bit 0 is the first; 0 where they have no numbers.  Who named no needs holds a cpu.  Either out
 * pointer may be NULL.  Borrows name.  Errors: SCALER_E_INVALID, SCALER_E_NOT_FOUND (it holds no such thing). */
SCALER_API int scaler_task_resource(const scaler_task *t, const char *name, int64_t *thousandths_out,
                                    uint64_t *indices_out);
/* [task] What the future's result will be; the last call counts, NULL is an empty one.  Takes.
 * Errors: SCALER_E_TOO_BIG (above 1 MiB; then it stays the caller's). */
SCALER_API int scaler_task_return(scaler_task *t, scaler_blob *result);
/* [task] The same with a copy of the bytes.  Borrows.  Errors: SCALER_E_INVALID, SCALER_E_TOO_BIG, SCALER_E_NOMEM. */
SCALER_API int scaler_task_return_copy(scaler_task *t, const void *data, size_t size);
/* [task] Fails the task whatever fn returns: code, words for people (NULL: none) and, perhaps, bytes for programs.
 * Borrows text, takes detail (NULL: none).  Errors: SCALER_E_TOO_BIG (detail above 1 MiB). */
SCALER_API int scaler_task_fail(scaler_task *t, int code, const char *text, scaler_blob *detail);
/* [task] Whether somebody wants it to end, or its time is up; long loops ask now and then. */
SCALER_API bool scaler_task_cancelled(const scaler_task *t);
/* [task] One line for the runtime's log, with the task's id before it.  Borrows.  Errors: SCALER_E_INVALID. */
SCALER_API int scaler_task_log(scaler_task *t, int32_t level, const char *line);
/* [task] The task goes on after fn has returned, keeping its slot, until scaler_task_complete().
 * Errors: SCALER_E_STATE (deferred before). */
SCALER_API int scaler_task_defer(scaler_task *t);
/* [any] Ends a deferred task with that code, once; the last call on it.  Until then [task] functions belong to
 * whoever finishes the task. */
SCALER_API void scaler_task_complete(scaler_task *t, int code);

/* [task] Nested tasks: the client to submit others with, on the same cluster.  All tasks of a worker share it, and it
 * stays the library's: stop gives SCALER_E_STATE and destroy does nothing.  It is submitted to on the threads that run
 * tasks only (else SCALER_E_STATE).  What is submitted belongs to that run and is cancelled when the run ends, is told
 * to stop, or is lost; for priority and fairness it counts as its owner's, deeper nested ones first.  Futures may be
 * waited for anywhere.  Once it has asked for this client, a task's own thread that blocks in this library gives its
 * slot and its cpu to others meanwhile; scaler_client_wait_all() waits for what that task has submitted.  It goes on
 * when a slot is free, before any new task; limits of time go on all the while.  Such a call gives SCALER_E_CANCELLED
 * when this task is to stop, and SCALER_E_FULL at once when 1,024 tasks of this worker wait already.  Tasks that are
 * started meanwhile may have a stack of 256 KiB.  Lends; *out is written on success.
 * Errors: SCALER_E_INVALID, SCALER_E_STATE (another thread than the task's own), SCALER_E_NOMEM, and as
 * scaler_client_start(). */
SCALER_API int scaler_task_client(scaler_task *t, scaler_client **out, scaler_error *err);

/* What `scaler-worker --plugin FILE.so` looks up and calls once before start, on the main thread.
 * Return 0, or a negative status to refuse to start. */
typedef int (*scaler_plugin_init_fn)(scaler_worker *worker);
#define SCALER_PLUGIN_INIT "scaler_plugin_init"

/* ---- 9. Client, tasks to run, futures ----------------------------------------------------------------- */

typedef struct scaler_future scaler_future;
typedef struct scaler_queue  scaler_queue;

typedef struct scaler_client_options {
        size_t                 size;
        scaler_runtime        *runtime;
        const char            *scheduler;
        const char            *name;
        const char            *tenant; /* whom the tasks are accounted to; NULL: nobody in particular */
        const scaler_security *security;
        int64_t                pending_max; /* tasks not yet ended; 0: 1,000,000 */
        int64_t reconnect_ms; /* without a scheduler for so long all futures fail; 0: 120,000; SCALER_UNLIMITED */
        bool    admin;        /* may look at everything and cancel everybody's tasks, may not submit */
        /* not in 0.1.0 */
        int64_t weight;       /* its share among the clients of its tenant, 1 to 1,000,000; 0: 1,000 */
        int64_t running_max;  /* at most so many of its tasks with workers at once; 0: no limit */
} scaler_client_options;

typedef enum scaler_arg_kind {
        SCALER_ARG_BYTES  = 0, /* data and size, borrowed */
        SCALER_ARG_BLOB   = 1, /* blob, borrowed */
        /* not in 0.1.0: results of other tasks, which are waited for; see the functions below that make them */
        SCALER_ARG_RESULT = 2, /* in a graph: of the spec whose index is data_size */
        SCALER_ARG_NAMED  = 3, /* in a graph: of the spec whose name is data, a text, borrowed */
        SCALER_ARG_FUTURE = 4  /* data is a future of the same client, borrowed */
} scaler_arg_kind;

typedef struct scaler_arg { /* frozen: an array element; reserved must be zero */
        int32_t      kind;
        uint32_t     reserved;
        const void  *data;
        size_t       data_size;
        scaler_blob *blob;
        uint64_t     reserved2[2];
} scaler_arg;

enum {                               /* scaler_command.flags */
       SCALER_COMMAND_STREAM    = 1, /* output comes while it runs, by scaler_future_read(); else it is collected */
       SCALER_COMMAND_CLEAR_ENV = 2, /* start from an empty environment instead of the worker's */
       SCALER_COMMAND_SHELL     = 4, /* argv[0] is a script for /bin/sh; argv[1] on are its $1 ... */
       SCALER_COMMAND_MERGE     = 8  /* stderr goes where stdout goes */
};

typedef struct scaler_command {
        size_t             size;
        const char *const *argv;  /* NULL-terminated, at least one; no shell unless asked */
        const char *const *env;   /* NULL-terminated or NULL; "NAME=value" sets, "NAME" removes */
        const char        *cwd;   /* NULL: the worker's */
        const void        *input; /* bytes on stdin; NULL: /dev/null */
        size_t             input_size;
        int64_t output_max; /* bytes of both outputs; 0: 1 MiB each collected, unlimited streamed */
        uint32_t flags;
        uint32_t reserved; /* padding in 0.1.0, so whatever it holds is passed over */
        int32_t  nice;     /* added to the worker's niceness, 0 to 19 */
} scaler_command;

typedef struct scaler_spec {
        size_t                size;
        const char           *function;   /* this, */
        const scaler_command *command;    /* or this */
        const scaler_arg     *args;       /* functions; together at most 1 MiB encoded */
        size_t                arg_count;  /* at most 131,072 */
        int32_t               priority;   /* -1,000 to 1,000, higher first; 0 is normal */
        int32_t               retries;    /* re-runs when it fails by itself; 0: none */
        int64_t               timeout_ms; /* wall time per run; 0: none */
        uint64_t              user_data;  /* handed back by the future */
        scaler_queue         *queue;      /* where the future appears when it ends (or has output); NULL: nowhere */
        /* not in 0.1.0 */
        const char *needs;            /* amounts it holds while it runs, "gpu=1,mem=2G,linux"; NULL: cpu=1 */
        const char *tag;              /* for people, and for cancels in bulk; at most 127 bytes */
        int64_t     not_before_ms;    /* from now; is not placed earlier */
        int64_t     queue_timeout_ms; /* from now; ends as queue_timeout unless it has been started by then; 0: none */
        int64_t     deadline_ms;      /* from now; ends as deadline when it has not ended by then; 0: none */
        int64_t     backoff_ms;       /* before the first retry, then doubled each time, +-25 %; 0: at once */
        int64_t     backoff_max_ms;   /* the longest such wait; 0: 60,000 */
        const char *retry_on;         /* failures worth a retry, "1,70-79,timeout,signal"; NULL: all of its own */
        /* It starts when all these have succeeded, and ends as `dependency` when one of them does not.  Together with
         * the results it reads at most 131,072. */
        scaler_future *const *after;  /* of the same client; borrows */
        size_t                after_count;
        const size_t         *after_nodes; /* in a graph: indices of specs; borrows */
        size_t                after_node_count;
        /* Idempotency key, 1 to 127 bytes; NULL: none.  Tasks of a tenant with the same key are one: the work is
         * done once, and each of their futures ends with what came of it.  function, command, args, needs, retries
         * and what goes with those, and timeout_ms must be the same, else the later one fails with
         * SCALER_E_EXISTS; priority (the highest counts), tag and times are each one's own.  It is cancelled when
         * the last one is, or its client goes.  A success or failure of its own is remembered for a while
         * (scaler_scheduler_options): who comes then ends so at once.  Not with dependencies, in graphs (whose
         * names are another matter), or with SCALER_COMMAND_STREAM.  The work has an id of its own:
         * scaler_task_id() is not that of any of the futures. */
        const char *key;
} scaler_spec;

typedef enum scaler_task_state {
        SCALER_TASK_PENDING   = 0,
        SCALER_TASK_DONE      = 1,
        SCALER_TASK_FAILED    = 2,
        SCALER_TASK_CANCELLED = 3
} scaler_task_state;

typedef enum scaler_reason {
        SCALER_REASON_SUCCESS = 0,
        SCALER_REASON_TASK    = 1, /* the function failed, the command exited with another code than 0 or by a signal */
        SCALER_REASON_WORKER_DIED   = 2, /* losses_max runs lost their worker */
        SCALER_REASON_RUN_TIMEOUT   = 3, /* ran longer than timeout_ms */
        SCALER_REASON_QUEUE_TIMEOUT = 4,
        SCALER_REASON_DEADLINE      = 5,
        SCALER_REASON_DEPENDENCY    = 6,
        SCALER_REASON_OBJECT_LOST   = 7,
        SCALER_REASON_LIMIT         = 8, /* another limit of the task */
        SCALER_REASON_CANCELLED     = 9,
        SCALER_REASON_CLIENT        = 10, /* the client was closed or gave up on its scheduler */
        SCALER_REASON_NOT_STARTED   = 11, /* the command could not be started; code is the errno */
        /* not in 0.1.0 */
        SCALER_REASON_KEY           = 12, /* another task has its key, and is not the same; code is SCALER_E_EXISTS */
        SCALER_REASON_WOULD_DEADLOCK = 13 /* it fits only into what its waiting ancestors hold; the text names them */
} scaler_reason;

/* [any] The name in small letters: "worker_died".  Lends, forever. */
SCALER_API const char *scaler_reason_name(int reason);

typedef struct scaler_failure {
        size_t   size;
        int32_t  reason;                      /* scaler_reason */
        int32_t  code;                        /* what the function returned or failed with; exit code; signal; errno */
        uint32_t attempts;                    /* runs made */
        uint32_t losses;                      /* of them with a lost worker */
        char     text[SCALER_ERROR_TEXT_MAX]; /* words; empty on success */
        /* not in 0.1.0 */
        scaler_id root;        /* the task whose end ended this one; nil: its own doing */
        int32_t   root_reason; /* scaler_reason: how that one ended */
} scaler_failure;

typedef enum scaler_exit_how {
        SCALER_EXIT_NONE        = 0, /* not a command, or never ran */
        SCALER_EXIT_EXITED      = 1, /* code is the exit code */
        SCALER_EXIT_SIGNALLED   = 2, /* code is the signal */
        SCALER_EXIT_NOT_STARTED = 3, /* code is the errno */
        SCALER_EXIT_STOLEN      = 4  /* somebody else in the worker's process took its status */
} scaler_exit_how;

typedef struct scaler_exit {
        size_t   size;
        int32_t  how; /* scaler_exit_how */
        int32_t  code;
        uint64_t wall_us, user_us, sys_us; /* of the last run */
        uint64_t peak_bytes;
        uint32_t attempts;
} scaler_exit;

/* [any] Checks the options and makes a client that does not dial yet.  Borrows options, gives.
 * Errors: SCALER_E_INVALID, SCALER_E_NOMEM, SCALER_E_IO. */
SCALER_API int scaler_client_create(const scaler_client_options *options, scaler_client **out,
                                    scaler_error *err) SCALER_MUST_USE;
/* [setup] Dials in the background; from now on tasks may be submitted, linked or not.  After a failure it may be tried
 * again.  Blocks briefly.
 * Errors: SCALER_E_INVALID, SCALER_E_STATE (started before, inside a callback), SCALER_E_ADDRESS,
 * SCALER_E_UNSUPPORTED (no such kind of address), SCALER_E_NOMEM, SCALER_E_IO (no descriptor or thread to be had). */
SCALER_API int scaler_client_start(scaler_client *c, scaler_error *err) SCALER_MUST_USE;
/* [any] Waits until it is linked, which nobody has to.  Blocks up to timeout_ms.
 * Errors: SCALER_E_INVALID, SCALER_E_TIMEOUT, SCALER_E_STATE (not started, stopped, inside a callback), or why it gave
 * up: SCALER_E_UNREACHABLE, SCALER_E_DENIED, SCALER_E_PROTOCOL, SCALER_E_UNSUPPORTED. */
SCALER_API int scaler_client_wait_ready(scaler_client *c, int64_t timeout_ms);

typedef struct scaler_client_stats {
        size_t   size;
        uint64_t pending, submitted, succeeded, failed, cancelled;
        bool     connected;
        int32_t  status; /* 0, or why it has given up */
} scaler_client_stats;
/* [any] Counts of this moment.  Errors: SCALER_E_INVALID. */
SCALER_API int scaler_client_stats_get(scaler_client *c, scaler_client_stats *out);

/* [any] Hands a task over and waits for nobody.  Borrows spec and all it points to; gives; out NULL: only the queue
 * will tell.  Errors: SCALER_E_FULL (pending_max, memory_max), SCALER_E_TOO_BIG, SCALER_E_INVALID, SCALER_E_DENIED (an
 * admin client), SCALER_E_STATE (not started, stopped), SCALER_E_NOMEM, or why the client gave up; err says what and
 * where. */
SCALER_API int scaler_client_submit(scaler_client *c, const scaler_spec *spec, scaler_future **out, scaler_error *err);
/* [any] All or none of count specs.  Borrows specs, gives; out NULL, or count places.
 * Errors: as scaler_client_submit(), SCALER_E_TOO_BIG also for more than pending_max at once. */
SCALER_API int scaler_client_submit_many(scaler_client *c, const scaler_spec *specs, size_t count, scaler_future **out,
                                         scaler_error *err);
/* [any] As scaler_client_submit(), but waits for room while it is SCALER_E_FULL.  Blocks up to timeout_ms.  Borrows
 * spec, gives.  Errors: as there, SCALER_E_TIMEOUT, SCALER_E_STATE (inside a callback). */
SCALER_API int scaler_client_submit_wait(scaler_client *c, const scaler_spec *spec, int64_t timeout_ms,
                                         scaler_future **out, scaler_error *err);
/* A graph: specs that depend on each other, by SCALER_ARG_RESULT, SCALER_ARG_NAMED and after_nodes. */
typedef struct scaler_graph {
        size_t             size;
        const size_t      *targets;      /* indices of the specs whose results are wanted; NULL: those nobody reads */
        size_t             target_count;
        const char *const *names;        /* one for each spec, NULL for none; NULL: nothing is named */
        const char        *tag;          /* of the whole, for people and for cancels in bulk; at most 127 bytes */
        bool               fail_fast;    /* the first failure cancels what has not ended; else other branches go on */
        scaler_queue      *queue;        /* where the whole appears when it ends; NULL: nowhere */
        uint64_t           user_data;    /* handed back by the whole's future */
        scaler_future    **whole;        /* gives a future that ends when all nodes have; NULL: not wanted */
} scaler_graph;
typedef struct scaler_graph_counts {
        size_t   size;
        uint32_t succeeded, failed, cancelled;
        uint32_t skipped; /* because something they depended on did not succeed */
} scaler_graph_counts;
/* [any] Hands a whole graph over, checked, and waits for nobody; what no target needs is left out.  Returns how many
 * targets there are; futures (NULL, or with room for that many, at most count) gets one for each, in the order of
 * targets or of specs.  graph_out (NULL: not wanted) is what to cancel for the whole.  Borrows specs, options (NULL:
 * all defaults) and all they point to; gives.  Only targets tell a queue.  What a node reads and its arguments have at
 * most 1 MiB together, else it ends as `limit`.  Errors: as scaler_client_submit_many(); SCALER_E_INVALID also for a
 * reference to nothing, to itself, in a circle (err names the specs), or a name given twice. */
SCALER_API int scaler_client_submit_graph(scaler_client *c, const scaler_spec *specs, size_t count,
                                          const scaler_graph *options, scaler_future **futures, scaler_id *graph_out,
                                          scaler_error *err);
/* [any] How the nodes of an ended graph ended, asked of the future of the whole.  Errors: SCALER_E_INVALID (also
 * another future), SCALER_E_STATE (pending). */
SCALER_API int scaler_future_graph(const scaler_future *f, scaler_graph_counts *out);
/* [any] Waits until nothing is pending.  Blocks up to timeout_ms.  Errors: SCALER_E_INVALID, SCALER_E_TIMEOUT,
 * SCALER_E_STATE (inside a callback). */
SCALER_API int scaler_client_wait_all(scaler_client *c, int64_t timeout_ms);
/* [any] Cancels what is unfinished and says goodbye.  Blocks up to timeout_ms; may be called again to wait on.
 * Errors: SCALER_E_INVALID, SCALER_E_TIMEOUT, SCALER_E_STATE (inside a callback). */
SCALER_API int scaler_client_stop(scaler_client *c, int64_t timeout_ms);
/* [last] Stops first when that was not done, for at most a second.  Its futures stay valid, and have all ended. */
SCALER_API void scaler_client_destroy(scaler_client *c);

/* SCALER_CANCEL_FORCE kills what runs. */
enum { SCALER_CANCEL_FORCE = 1 };
typedef enum scaler_cancel_outcome {
        SCALER_CANCEL_DONE      = 0, /* ends, or has ended, as cancelled */
        SCALER_CANCEL_FAILED    = 1, /* finished first, or would not stop */
        SCALER_CANCEL_NOT_FOUND = 2  /* unknown or long ended */
} scaler_cancel_outcome;
/* [any] Cancels one task, anybody's for an admin client, and waits for the answer: a scaler_cancel_outcome.
 * Blocks up to timeout_ms.  Errors: SCALER_E_INVALID, SCALER_E_TIMEOUT, SCALER_E_STATE (not started, stopped, inside
 * a callback), SCALER_E_DENIED, or why the client gave up. */
SCALER_API int scaler_client_cancel(scaler_client *c, scaler_id task, uint32_t flags, int64_t timeout_ms);

/* Which tasks: those that everything said here is true of.  Of a zeroed one: all. */
typedef struct scaler_selector {
        size_t      size;
        const char *tag;    /* that have this tag, at most 127 bytes; NULL: with any tag or none */
        scaler_id   client; /* of this client, as scaler_client_clients() has it; nil: one's own, an admin's: all */
} scaler_selector;
/* [any] Cancels all unfinished tasks that fit, as scaler_client_cancel() does one, and waits until the scheduler has
 * gone over them; those that run end when they do.  What is submitted afterwards is left alone.  Futures end as usual.
 * Of a scaler_task_client() all are what the tasks of that worker have submitted.
 * Borrows selector (NULL: all) and its tag; *count_out (NULL: not wanted) becomes how many tasks it was for, an
 * admin's without those that were being cancelled already.  Blocks up to timeout_ms.
 * Errors: SCALER_E_INVALID, SCALER_E_DENIED (another client's), SCALER_E_TIMEOUT (it may still be carried out),
 * SCALER_E_FULL (too many such requests at once), SCALER_E_STATE (not started, stopped, inside a callback),
 * SCALER_E_UNREACHABLE (an admin's, and the link broke: part may be done), or why the client gave up. */
SCALER_API int scaler_client_cancel_many(scaler_client *c, const scaler_selector *selector, uint32_t flags,
                                         int64_t timeout_ms, uint64_t *count_out);

/* [any] Gives one more reference, to the same future. */
SCALER_API scaler_future *scaler_future_ref(scaler_future *f);
/* [any] Takes one reference.  Forgetting the last one does not cancel the task. */
SCALER_API void scaler_future_unref(scaler_future *f);
/* [any] The id of its task. */
SCALER_API scaler_id scaler_future_id(const scaler_future *f);
/* [any] What the spec had in user_data. */
SCALER_API uint64_t scaler_future_user_data(const scaler_future *f);
/* [any] Where its task stands at this moment. */
SCALER_API scaler_task_state scaler_future_state(const scaler_future *f);
/* [any] Waits until it has ended, however.  Blocks up to timeout_ms.
 * Errors: SCALER_E_INVALID, SCALER_E_TIMEOUT, SCALER_E_STATE (inside a callback). */
SCALER_API int scaler_future_wait(scaler_future *f, int64_t timeout_ms);
/* [any] Waits; then the bytes that a function returned or a command printed on stdout (collected).  Blocks up to
 * timeout_ms.  Gives; out NULL: not wanted.  Errors: why it did not succeed: SCALER_E_TASK, SCALER_E_WORKER_LOST,
 * SCALER_E_LIMIT, SCALER_E_CANCELLED, SCALER_E_UNREACHABLE; or SCALER_E_TIMEOUT, SCALER_E_INVALID, SCALER_E_STATE
 * (inside a callback), SCALER_E_NOMEM. */
SCALER_API int scaler_future_result(scaler_future *f, int64_t timeout_ms, scaler_blob **out);
/* [any] What is known of an ended task, successful or not.  Errors: SCALER_E_STATE (pending), SCALER_E_INVALID. */
SCALER_API int scaler_future_failure(const scaler_future *f, scaler_failure *out);
/* [any] How an ended command ended and what it used.  Errors: SCALER_E_STATE (pending), SCALER_E_INVALID. */
SCALER_API int scaler_future_exit(const scaler_future *f, scaler_exit *out);
/* [any] A failed function's detail; an empty blob when there is none.  Gives.
 * Errors: SCALER_E_STATE (pending), SCALER_E_INVALID, SCALER_E_NOMEM. */
SCALER_API int scaler_future_detail(scaler_future *f, scaler_blob **out);
/* [any] A command's collected output, stream 1 stdout, 2 stderr; an empty blob when there is none.  Gives.
 * Errors: SCALER_E_STATE (pending), SCALER_E_INVALID, SCALER_E_NOMEM. */
SCALER_API int scaler_future_output(scaler_future *f, int stream, scaler_blob **out);
/* [any] SCALER_COMMAND_STREAM: takes output in order as it comes, at most cap bytes; *stream_out (NULL: not wanted)
 * says which, 1 or 2.  Returns how many bytes, 0 at the end.  Blocks up to timeout_ms.  Borrows buffer.
 * Errors: SCALER_E_TIMEOUT (none yet), SCALER_E_GAP (once: a new run started over, forget what was read),
 * SCALER_E_INVALID (also a task that does not stream), SCALER_E_STATE (inside a callback), SCALER_E_NOMEM (output was
 * lost for want of memory). */
SCALER_API int scaler_future_read(scaler_future *f, void *buffer, size_t cap, int *stream_out, int64_t timeout_ms);
/* [any] A request, which waits for nobody: the future still ends exactly once.  Errors: SCALER_E_INVALID. */
SCALER_API int scaler_future_cancel(scaler_future *f, uint32_t flags);
/* [any] The same, and waits for the answer: a scaler_cancel_outcome.  Blocks up to timeout_ms.  Not to race with the
 * destruction of its client.  Errors: as scaler_client_cancel(): SCALER_E_INVALID, SCALER_E_TIMEOUT, SCALER_E_STATE, or
 * why the client gave up. */
SCALER_API int scaler_future_cancel_wait(scaler_future *f, uint32_t flags, int64_t timeout_ms);

/* A queue: futures as they end, each once; and streamed ones whenever they have output again (state PENDING). */

/* [any] rt NULL: memory of malloc's.  A queue used by a host-driven client names that runtime.  Gives.
 * Errors: SCALER_E_INVALID, SCALER_E_NOMEM. */
SCALER_API int scaler_queue_create(scaler_runtime *rt, scaler_queue **out, scaler_error *err) SCALER_MUST_USE;
/* [any] The next future.  Blocks up to timeout_ms.  Gives a reference.  Errors: SCALER_E_TIMEOUT, SCALER_E_CANCELLED
 * (woken), SCALER_E_INVALID, SCALER_E_STATE (inside a callback). */
SCALER_API int scaler_queue_next(scaler_queue *q, int64_t timeout_ms, scaler_future **out);
/* [any] A descriptor that is readable while scaler_queue_next() would give one; poll it, never read it.  Lends.
 * Errors: SCALER_E_INVALID, SCALER_E_IO (none to be had). */
SCALER_API int scaler_queue_fd(scaler_queue *q);
/* [any] One scaler_queue_next(), waiting or to come, gives SCALER_E_CANCELLED. */
SCALER_API void scaler_queue_wake(scaler_queue *q);
/* [last] Futures named to it stay valid and simply do not appear any more. */
SCALER_API void scaler_queue_destroy(scaler_queue *q);

static inline scaler_arg scaler_arg_bytes(const void *data, size_t size)
{
        scaler_arg arg;
        memset(&arg, 0, sizeof arg);
        arg.kind      = SCALER_ARG_BYTES;
        arg.data      = data;
        arg.data_size = size;
        return arg;
}

static inline scaler_arg scaler_arg_blob(scaler_blob *blob)
{
        scaler_arg arg;
        memset(&arg, 0, sizeof arg);
        arg.kind = SCALER_ARG_BLOB;
        arg.blob = blob;
        return arg;
}

/* The result of another spec of the graph, by its index in the array. */
static inline scaler_arg scaler_arg_result(size_t index)
{
        scaler_arg arg;
        memset(&arg, 0, sizeof arg);
        arg.kind      = SCALER_ARG_RESULT;
        arg.data_size = index;
        return arg;
}

/* The same by its name; see scaler_graph.names. */
static inline scaler_arg scaler_arg_named(const char *name)
{
        scaler_arg arg;
        memset(&arg, 0, sizeof arg);
        arg.kind = SCALER_ARG_NAMED;
        arg.data = name;
        return arg;
}

/* The result of a task that was submitted to the same client before, ended or not. */
static inline scaler_arg scaler_arg_future(scaler_future *f)
{
        scaler_arg arg;
        memset(&arg, 0, sizeof arg);
        arg.kind = SCALER_ARG_FUTURE;
        arg.data = f;
        return arg;
}

/* ---- 10. Looking at a cluster -------------------------------------------------------------------------- */

#define SCALER_NAME_MAX 128

typedef struct scaler_worker_info {
        size_t    size;
        scaler_id id; /* hi 0 */
        char      name[SCALER_NAME_MAX];
        uint32_t  slots, credit, assigned, started, functions;
        uint64_t  done, failed, lost;
        uint64_t  connected_ms;
        /* not in 0.1.0 */
        bool draining; /* it is to leave, and gets nothing more */
} scaler_worker_info;

typedef struct scaler_drained {
        size_t    size;
        scaler_id worker;   /* nil: the scheduler */
        uint32_t  finished; /* runs that ended since it was to leave, */
        uint32_t  returned; /* were given back before they had begun, */
        uint32_t  released; /* or at the deadline; */
        uint32_t  lost;     /* or were lost with it */
        uint64_t  took_ms;
        char      name[SCALER_NAME_MAX];
} scaler_drained;

typedef struct scaler_client_info {
        size_t    size;
        scaler_id id; /* hi 0 */
        char      name[SCALER_NAME_MAX];
        char      tenant[SCALER_NAME_MAX];
        bool      connected;
        uint32_t  tasks, grant;
        uint64_t  submitted;
        uint64_t  connected_ms;
} scaler_client_info;

typedef struct scaler_task_info {
        size_t    size;
        scaler_id id;
        scaler_id worker; /* nil: none */
        int32_t   state;  /* see scaler_task_info_state_name() */
        uint32_t  attempt, losses;
        uint64_t  age_ms;
        char      function[SCALER_NAME_MAX]; /* empty: a command */
        int32_t   stage;                     /* scaler_stage */
        char      tag[SCALER_NAME_MAX];      /* of one that has not ended */
} scaler_task_info;

/* [any] The state in words: "inactive" "running" "canceling" ...  Lends, forever. */
SCALER_API const char *scaler_task_info_state_name(int32_t state);

/* For admin clients.  Each asks the scheduler and waits.  Those that give rows give a page: *cursor is 0 at first and
 * 0 again after the last; rows[0].size is set; at most `count` (<= 256) rows are written, and their number returned. */

/* [any] Counts of the scheduler.  Blocks up to timeout_ms.  Errors: SCALER_E_DENIED (not an admin), SCALER_E_INVALID,
 * SCALER_E_TIMEOUT, SCALER_E_STATE (not started, inside a callback), SCALER_E_UNREACHABLE (no link, or it broke; ask
 * again), SCALER_E_FULL (256 asked at once), SCALER_E_PROTOCOL, or why the client gave up. */
SCALER_API int scaler_client_scheduler_stats(scaler_client *c, int64_t timeout_ms, scaler_scheduler_stats *out);
/* [any] A page of workers.  Blocks up to timeout_ms.  Errors: as scaler_client_scheduler_stats(). */
SCALER_API int scaler_client_workers(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_worker_info *rows,
                                     size_t count);
/* [any] A page of clients.  Blocks up to timeout_ms.  Errors: as scaler_client_scheduler_stats(). */
SCALER_API int scaler_client_clients(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_client_info *rows,
                                     size_t count);
/* [any] A page of tasks.  Blocks up to timeout_ms.  Errors: as scaler_client_scheduler_stats(). */
SCALER_API int scaler_client_tasks(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_task_info *rows,
                                   size_t count);

/* Why things are as they are.  Whatever is known of a task or a worker is said with a code and a sentence for people.
 * A client may ask about its own tasks, an admin about all and about workers. */

#define SCALER_SENTENCE_MAX 200
#define SCALER_NEEDS_MAX    512

/* Where a task stands with its scheduler. */
typedef enum scaler_stage {
        SCALER_STAGE_NONE       = 0, /* the scheduler does not know it: it has not been sent, or is forgotten */
        SCALER_STAGE_WAITING    = 1, /* for tasks that it depends on; a graph, for its nodes */
        SCALER_STAGE_READY      = 2, /* to be given to a worker */
        SCALER_STAGE_ASSIGNED   = 3, /* a worker has it, and runs it or will */
        SCALER_STAGE_RECALLING  = 4, /* a worker is to give it back */
        SCALER_STAGE_CANCELLING = 5, /* a worker is to stop it */
        SCALER_STAGE_BACKOFF    = 6, /* for a time that comes */
        SCALER_STAGE_ORPHAN     = 7, /* a worker has it, and its client has not come yet */
        SCALER_STAGE_ENDED      = 8, /* the client has not confirmed its result */
        SCALER_STAGE_KEPT       = 9, /* ended, and others will read its result */
        SCALER_STAGE_JOINED     = 10 /* another task with its key does the work */
} scaler_stage;

typedef enum scaler_why {
        SCALER_WHY_PLACING      = 1,  /* ready, and somebody takes it as soon as its turn comes */
        SCALER_WHY_NO_WORKER    = 2,  /* there is none at all */
        SCALER_WHY_NO_FUNCTION  = 3,  /* no worker has it */
        SCALER_WHY_NO_OFFER     = 4,  /* it needs a name that no worker offers */
        SCALER_WHY_TOO_MUCH     = 5,  /* it needs more of a name than any worker offers */
        SCALER_WHY_NO_MATCH     = 6,  /* each need is offered, but no worker offers them all */
        SCALER_WHY_ALL_FULL     = 7,  /* workers fit, and none of them has room */
        SCALER_WHY_WITHHELD     = 8,  /* it could only wait behind its like, and lets others go first */
        SCALER_WHY_CLIENT_CAP   = 9,  /* its client has as many runs as it may */
        SCALER_WHY_TENANT_CAP   = 10, /* its tenant has */
        SCALER_WHY_LAST_CHANCE  = 11, /* it is to be alone on a worker, and none is empty */
        SCALER_WHY_MEMORY       = 12, /* the scheduler is short of it */
        SCALER_WHY_CLAIM        = 13, /* workers may still say that they have it */
        SCALER_WHY_NOT_BEFORE   = 14, /* it is not to start before its time */
        SCALER_WHY_BACKOFF      = 15, /* it failed and is tried again later */
        SCALER_WHY_DEPENDENCIES = 16, /* it waits for other tasks */
        SCALER_WHY_BROKEN       = 17, /* one of those did not succeed, and it is about to end */
        SCALER_WHY_GRAPH        = 18, /* a graph whose nodes have not all ended */
        SCALER_WHY_AT_WORKER    = 19, /* a worker has it and has not said that it runs */
        SCALER_WHY_RUNNING      = 20, /* a worker has said that it runs */
        SCALER_WHY_RECALLING    = 21, /* it is asked back from a worker */
        SCALER_WHY_CANCELLING   = 22, /* a worker is to stop it */
        SCALER_WHY_OVERDUE      = 23, /* a worker is to stop it, its deadline is past */
        SCALER_WHY_WORKER_GONE  = 24, /* its worker is lost, and it is about to be dealt with */
        SCALER_WHY_ORPHAN       = 25, /* a worker has it, and its client has not come yet */
        SCALER_WHY_UNCONFIRMED  = 26, /* it has ended, and the client has not confirmed that it knows */
        SCALER_WHY_CLIENT_AWAY  = 27, /* it has ended, and the client is not here */
        SCALER_WHY_KEPT         = 28, /* it has ended, and others will read its result */
        SCALER_WHY_STOPPING     = 29, /* the scheduler is about to stop */
        SCALER_WHY_NESTED       = 30, /* it waits for tasks that it has submitted, without a slot */
        SCALER_WHY_LEAVING      = 31, /* its client has left for good, and it is about to end */
        SCALER_WHY_AT_CLIENT    = 32, /* it has not been sent yet */
        SCALER_WHY_FORGOTTEN    = 33, /* it has ended, and the client has its result */
        SCALER_WHY_JOINED       = 34  /* another task with its key does the work for both */
} scaler_why;

typedef enum scaler_idle { /* why a worker gets nothing */
        SCALER_IDLE_PLACING       = 1,  /* it will be given something as soon as it is looked at */
        SCALER_IDLE_JOINING       = 2,  /* what it brought with it is being gone through */
        SCALER_IDLE_FULL          = 3,  /* it has as many runs as it takes */
        SCALER_IDLE_STUCK         = 4,  /* it takes none at all */
        SCALER_IDLE_RESERVED      = 5,  /* it is being emptied for somebody's last chance */
        SCALER_IDLE_ALONE         = 6,  /* it has a last chance, which nothing joins */
        SCALER_IDLE_NOTHING_READY = 7,  /* nothing waits */
        SCALER_IDLE_NOTHING_FITS  = 8,  /* something waits, and nothing of it fits */
        SCALER_IDLE_CAPPED        = 9,  /* what fits is over somebody's limit */
        SCALER_IDLE_LAST_CHANCES  = 10, /* what fits is to be alone on an empty worker */
        SCALER_IDLE_MEMORY        = 11, /* the scheduler is short of it */
        SCALER_IDLE_WITHHELD      = 12, /* what fits could only wait, and lets others go first */
        SCALER_IDLE_DRAINING      = 13, /* it is leaving */
        SCALER_IDLE_STOPPING      = 14  /* the scheduler is about to stop */
} scaler_idle;

/* [any] "ready" "assigned" ...; "?" for a stranger.  Lends, forever. */
SCALER_API const char *scaler_stage_name(int32_t stage);
/* [any] "all-full" "dependencies" ...; "?" for a stranger.  Lends, forever. */
SCALER_API const char *scaler_why_name(int32_t why);
/* [any] "full" "nothing-ready" ...; "?" for a stranger.  Lends, forever. */
SCALER_API const char *scaler_idle_name(int32_t idle);

typedef struct scaler_explanation {
        size_t    size;
        scaler_id id;
        int32_t   stage;    /* scaler_stage */
        int32_t   state;    /* see scaler_task_info_state_name() */
        int32_t   why;      /* scaler_why */
        int32_t   reason;   /* of one that has ended: scaler_reason */
        char      text[SCALER_SENTENCE_MAX]; /* a sentence that says why, with its numbers */
        uint64_t  since_ms; /* for so long in this stage or, running, under way */
        uint64_t  age_ms;   /* since it was submitted */
        uint64_t  until_ms; /* goes on in so long at the latest; 0: not known */
        uint64_t  number;   /* what the reason counts: tasks it waits for, workers that fit ... */
        uint32_t  attempt, losses;
        uint32_t  attempts; /* earlier ones that are remembered, at most 8 */
        int32_t   priority;
        scaler_id worker;   /* that has it; nil: none */
        char      worker_name[SCALER_NAME_MAX];
        char      function[SCALER_NAME_MAX]; /* empty: a command, or a graph */
        char      needs[SCALER_NEEDS_MAX];   /* empty: cpu=1 */
        char      tag[SCALER_NAME_MAX];      /* of one that has not ended */
        char      tenant[SCALER_NAME_MAX];
        bool      graph;
} scaler_explanation;

typedef struct scaler_attempt { /* one that did not end its task; an array's stride is the first one's size */
        size_t    size;
        uint32_t  attempt;  /* which one, from 1 */
        scaler_id worker;
        char      worker_name[SCALER_NAME_MAX];
        uint64_t  began_ms, ended_ms; /* so long ago */
        int32_t   reason;   /* scaler_reason */
        int32_t   how;      /* scaler_exit_how */
        int32_t   code;     /* what a function failed with; exit code, signal or errno */
        uint64_t  wall_us, user_us, sys_us, peak_kib; /* 0: not known */
        char      text[SCALER_SENTENCE_MAX];
} scaler_attempt;

typedef struct scaler_worker_explanation {
        size_t    size;
        scaler_id id; /* hi 0 */
        char      name[SCALER_NAME_MAX];
        int32_t   why; /* scaler_idle: why it gets nothing */
        char      text[SCALER_SENTENCE_MAX];
        uint32_t  slots, credit, assigned, started, functions;
        uint32_t  held; /* runs that have a slot and what they need */
        uint64_t  done, failed, lost;
        uint64_t  connected_ms;
        char      offers[SCALER_NEEDS_MAX]; /* "cpu=8,gpu=2,linux" */
        char      used[SCALER_NEEDS_MAX];   /* of those */
} scaler_worker_explanation;

/* Which tasks: those that everything said here is true of.  Of a zeroed one: all. */
typedef struct scaler_task_filter {
        size_t      size;
        scaler_id   client; /* of this client, as scaler_client_clients() has it; nil: one's own, an admin's: all */
        const char *tag;    /* unfinished ones with this tag, at most 127 bytes; NULL: with any tag or none */
        uint32_t    states; /* bit set of 1 << state as in scaler_task_info ... */
        uint32_t    stages; /* ... or of 1 << scaler_stage; both 0: any */
        uint64_t    first, last; /* sequences, which are id.lo; last 0: no end */
        bool        newest; /* of one client: the newest first, otherwise in no order that is promised */
} scaler_task_filter;

/* [any] Asks where a task stands and why; nil: the newest that is known, {client, 0}: that of one client.  Up to count
 * of its earlier attempts, the oldest first, go to attempts (NULL: not wanted), whose size is set; returns how many.
 * Blocks up to timeout_ms.  Errors: as scaler_client_scheduler_stats(), but SCALER_E_DENIED for another client's task;
 * and SCALER_E_NOT_FOUND: the scheduler does not know it, or not any more. */
SCALER_API int scaler_client_explain(scaler_client *c, scaler_id task, int64_t timeout_ms, scaler_explanation *out,
                                     scaler_attempt *attempts, size_t count);
/* [any] The same of a future's task, also while it is still with its client, and when the scheduler has forgotten it.
 * Blocks up to timeout_ms.  Not to race with the destruction of its client.  Errors: SCALER_E_INVALID (also when its
 * client is gone), SCALER_E_TIMEOUT, SCALER_E_STATE, SCALER_E_FULL, or why the client gave up. */
SCALER_API int scaler_future_explain(scaler_future *f, int64_t timeout_ms, scaler_explanation *out,
                                     scaler_attempt *attempts, size_t count);
/* [any] Why a worker gets nothing.  Blocks up to timeout_ms.  Errors: as scaler_client_scheduler_stats(), and
 * SCALER_E_NOT_FOUND. */
SCALER_API int scaler_client_explain_worker(scaler_client *c, scaler_id worker, int64_t timeout_ms,
                                            scaler_worker_explanation *out);
/* [any] A page of the same of all workers.  Blocks up to timeout_ms.  Errors: as scaler_client_scheduler_stats(). */
SCALER_API int scaler_client_explain_workers(scaler_client *c, uint64_t *cursor, int64_t timeout_ms,
                                             scaler_worker_explanation *rows, size_t count);
/* [any] A page of the tasks that fit; any client may ask, about its own.  A page may be empty and not the last: *cursor
 * says.  Borrows filter (NULL: all) and its tag.  Blocks up to timeout_ms.  Errors: as scaler_client_scheduler_stats(),
 * but SCALER_E_DENIED for another client's tasks; SCALER_E_INVALID also for the newest first of all clients. */
SCALER_API int scaler_client_tasks_select(scaler_client *c, const scaler_task_filter *filter, uint64_t *cursor,
                                          int64_t timeout_ms, scaler_task_info *rows, size_t count);
/* [any] Asks a worker to leave, as scaler_worker_drain() does, or with a nil id the scheduler itself, as
 * scaler_scheduler_drain(), and waits until it has: 0.  *out (NULL: not wanted) is what came of the worker's runs,
 * also with SCALER_E_UNREACHABLE; nobody's worker stands in it when the scheduler's link was lost.  Asked again after
 * SCALER_E_TIMEOUT, it waits on.  Blocks up to timeout_ms; with 0 until it is asked.
 * Errors: SCALER_E_INVALID, SCALER_E_DENIED (not an admin client), SCALER_E_NOT_FOUND (no such worker),
 * SCALER_E_UNREACHABLE (its link was lost before it had left, or the scheduler's was), SCALER_E_TIMEOUT (it is
 * leaving), SCALER_E_UNSUPPORTED (a worker too old for that), SCALER_E_EXISTS (this client asked again meanwhile),
 * SCALER_E_FULL (256 questions at once), SCALER_E_NOMEM, SCALER_E_STATE (not started, stopped, inside a callback), or
 * why the client gave up. */
SCALER_API int scaler_client_drain(scaler_client *c, scaler_id worker, int64_t deadline_ms, int64_t timeout_ms,
                                   scaler_drained *out);

/* ---- 11. A whole cluster in this process ------------------------------------------------------------------ */

typedef struct scaler_local scaler_local;

typedef struct scaler_local_options {
        size_t                 size;
        scaler_runtime        *runtime; /* NULL: a private one, with one thread for all roles beside the slots */
        int32_t                workers; /* 0: 1 */
        int32_t                slots;   /* of each worker; 0: usable CPUs */
        const char *const     *listen;  /* further addresses, so that others can join */
        size_t                 listen_count;
        const scaler_security *security;
} scaler_local_options;

/* [any] A scheduler, its workers and a client, none of them started; options NULL: all defaults.  Borrows options,
 * gives.  Errors: SCALER_E_INVALID, SCALER_E_NOMEM, SCALER_E_IO. */
SCALER_API int scaler_local_create(const scaler_local_options *options, scaler_local **out,
                                   scaler_error *err) SCALER_MUST_USE;
/* [setup] With every worker, as scaler_worker_register().  Borrows.  Errors: SCALER_E_INVALID, SCALER_E_EXISTS,
 * SCALER_E_FULL, SCALER_E_STATE (started), SCALER_E_NOMEM. */
SCALER_API int scaler_local_register(scaler_local *l, const scaler_function *function);
/* [setup] Starts all of them; after a failure it may be tried again, which goes on where it ended.  Blocks briefly.
 * Errors: as scaler_scheduler_start(), scaler_worker_start() and scaler_client_start(). */
SCALER_API int scaler_local_start(scaler_local *l, scaler_error *err) SCALER_MUST_USE;
/* [any] Its client; never to be destroyed by the caller.  Lends. */
SCALER_API scaler_client *scaler_local_client(scaler_local *l);
/* [any] Its scheduler, for addresses and counts.  Lends. */
SCALER_API scaler_scheduler *scaler_local_scheduler(scaler_local *l);
/* [last] Cancels what is unfinished and waits for functions for as long as they take. */
SCALER_API void scaler_local_destroy(scaler_local *l);

#ifdef __cplusplus
}
#endif

#endif /* SCALER_H */
