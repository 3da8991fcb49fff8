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
 *            may be called from any thread.  [setup] functions must not race with each other and end
 *            when *_start() is called.  [task] functions belong to the thread running that task.
 *            *_destroy() must be the last call on its object.  A callback of this library may call
 *            [any] functions that do not block; blocking ones give SCALER_E_STATE there.
 * Blocking.  Only functions taking timeout_ms block, and *_start, *_stop and *_destroy briefly.
 *            0 polls, SCALER_FOREVER waits.
 * Ownership. "takes"    the library owns the argument when the call succeeds.
 *            "borrows"  the library uses it during the call only.
 *            "gives"    the caller owns what was written to the out pointer.
 *            "lends"    the pointer is valid as long as the object it came from.
 *            Out pointers are written on success only.  Every unref and destroy accepts NULL.
 * Errors.    int results: 0 or a count on success, a negative scaler_status on failure.  Details are
 *            text in a caller-owned scaler_error, which may be NULL.
 * Growth.    Structs starting with `size` may gain fields at the end: set size to sizeof the struct and
 *            zero the rest (scaler_init); zero always means "default".  Arrays of such structs have the
 *            stride array[0].size.  For out structs the caller sets size and the library writes no more.
 *            New enum values may appear: treat unknown ones as the generic case.
 * Limits.    0: the default.  SCALER_NONE: none at all.  SCALER_UNLIMITED: no limit.
 * Manners.   The library installs no signal handlers, changes no locale, never exits the process, prints
 *            nothing, and keeps errno.  Its threads block all signals.  It is not usable in a child after
 *            fork() without exec(); the parent is not harmed by one.
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

SCALER_API int         scaler_version(void);        /* [any] of the library linked, as a number */
SCALER_API const char *scaler_version_string(void); /* [any] "0.1.0"; lends, forever */

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

SCALER_API const char *scaler_strerror(int status);    /* [any] a sentence; lends, forever */
SCALER_API const char *scaler_status_name(int status); /* [any] "SCALER_E_FULL"; lends, forever */

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

SCALER_API bool scaler_id_is_nil(scaler_id id);
SCALER_API bool scaler_id_equal(scaler_id a, scaler_id b);
/* 32 hexadecimal digits; returns text */
SCALER_API const char *scaler_id_format(scaler_id id, char text[SCALER_ID_TEXT_MAX]);
SCALER_API int         scaler_id_parse(const char *text, scaler_id *out); /* SCALER_E_INVALID */

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
        int64_t                 memory_max;  /* bytes this runtime may hold; 0: no limit */
} scaler_runtime_options;

/* options NULL: all defaults.  SCALER_E_NOMEM, SCALER_E_IO (no descriptor or thread to be had). */
SCALER_API int scaler_runtime_create(const scaler_runtime_options *options, scaler_runtime **out,
                                     scaler_error *err) SCALER_MUST_USE; /* gives */
/* Host driven only, one thread at a time: waits for work, does it, returns the number of things done.
 * SCALER_E_STATE on a runtime with its own thread, or from a callback. */
SCALER_API int  scaler_runtime_turn(scaler_runtime *rt, int64_t timeout_ms);
SCALER_API int  scaler_runtime_fd(scaler_runtime *rt);   /* host driven only; lends.  Readable when a turn has work */
SCALER_API void scaler_runtime_wake(scaler_runtime *rt); /* [any] a waiting turn returns */
SCALER_API void scaler_runtime_set_log_level(scaler_runtime *rt, int32_t level); /* [any] */
SCALER_API void scaler_runtime_destroy(scaler_runtime *rt); /* after every role, queue and blob on it */

/* ---- 5. Blobs: immutable, counted bytes ----------------------------------------------------------- */

typedef struct scaler_blob scaler_blob;
typedef void (*scaler_release_fn)(void *ctx, void *data, size_t size); /* any thread */

/* rt says whose memory it is; NULL: malloc's.  SCALER_E_NOMEM. */
SCALER_API int scaler_blob_alloc(scaler_runtime *rt, size_t size, void **data_out,
                                 scaler_blob **out); /* [any] gives; fill *data_out before sharing */
/* [any] borrows, gives */
SCALER_API int scaler_blob_copy(scaler_runtime *rt, const void *data, size_t size, scaler_blob **out);
SCALER_API int scaler_blob_wrap(scaler_runtime *rt, void *data, size_t size, scaler_release_fn release, void *ctx,
                                scaler_blob **out); /* [any] takes data, gives; release NULL: data outlives the blob */
SCALER_API scaler_blob *scaler_blob_ref(scaler_blob *blob);        /* [any] gives one more reference */
SCALER_API void         scaler_blob_unref(scaler_blob *blob);      /* [any] */
SCALER_API const void  *scaler_blob_data(const scaler_blob *blob); /* [any] lends; never NULL */
SCALER_API size_t       scaler_blob_size(const scaler_blob *blob); /* [any] bytes; 0 for NULL */

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
        bool        tls_mutual;     /* listeners let in only whom ca_file has signed */
} scaler_security;

/* ---- 7. Scheduler ---------------------------------------------------------------------------------- */

typedef struct scaler_scheduler scaler_scheduler;

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
} scaler_scheduler_stats;

SCALER_API int scaler_scheduler_create(const scaler_scheduler_options *options, scaler_scheduler **out,
                                       scaler_error *err) SCALER_MUST_USE; /* gives */
/* SCALER_E_ADDRESS, SCALER_E_DENIED */
SCALER_API int scaler_scheduler_start(scaler_scheduler *s, scaler_error *err) SCALER_MUST_USE;
/* [any] after start; the bound one; lends */
SCALER_API const char *scaler_scheduler_address(const scaler_scheduler *s, size_t index);
SCALER_API int         scaler_scheduler_stats_get(scaler_scheduler *s, scaler_scheduler_stats *out); /* [any] */
/* no new links; says goodbye; lets bytes leave */
SCALER_API int  scaler_scheduler_stop(scaler_scheduler *s, int64_t timeout_ms);
SCALER_API void scaler_scheduler_destroy(scaler_scheduler *s);

/* ---- 8. Worker and the tasks it runs ----------------------------------------------------------------- */

typedef struct scaler_worker scaler_worker;
typedef struct scaler_task   scaler_task;

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
} scaler_worker_options;

typedef struct scaler_worker_stats {
        size_t   size;
        uint32_t slots, running, queued;
        uint32_t abandoned; /* cancelled functions that have not returned yet */
        uint64_t done, failed, cancelled;
        bool     connected;
        int32_t  status; /* 0, or why it has given up */
} scaler_worker_stats;

SCALER_API int scaler_worker_create(const scaler_worker_options *options, scaler_worker **out,
                                    scaler_error *err) SCALER_MUST_USE; /* gives */
/* [setup] borrows; SCALER_E_EXISTS */
SCALER_API int scaler_worker_register(scaler_worker *w, const scaler_function *function);
SCALER_API int scaler_worker_start(scaler_worker *w, scaler_error *err) SCALER_MUST_USE; /* dials in the background */
SCALER_API int scaler_worker_wait_ready(scaler_worker *w, int64_t timeout_ms);           /* [any] until linked */
/* [any] until it gave up or was stopped; gives why */
SCALER_API int scaler_worker_wait_stopped(scaler_worker *w, int64_t timeout_ms);
SCALER_API int scaler_worker_stats_get(scaler_worker *w, scaler_worker_stats *out); /* [any] */
/* Gives queued tasks back, lets running ones finish and their results arrive; SCALER_E_TIMEOUT: they have
 * not, and may be asked again.  destroy kills commands that still run and waits for functions. */
SCALER_API int  scaler_worker_stop(scaler_worker *w, int64_t timeout_ms);
SCALER_API void scaler_worker_destroy(scaler_worker *w);

SCALER_API scaler_id scaler_task_id(const scaler_task *t);        /* [task] */
SCALER_API uint32_t  scaler_task_attempt(const scaler_task *t);   /* [task] 1 at first */
SCALER_API size_t    scaler_task_arg_count(const scaler_task *t); /* [task] */
/* [task] lends; NULL beyond the last */
SCALER_API const void *scaler_task_arg(const scaler_task *t, size_t index, size_t *size_out);
/* [task] takes.  SCALER_E_TOO_BIG above 1 MiB */
SCALER_API int scaler_task_return(scaler_task *t, scaler_blob *result);
SCALER_API int scaler_task_return_copy(scaler_task *t, const void *data, size_t size); /* [task] borrows */
/* Fails the task whatever fn returns: code, words for people and, perhaps, bytes for programs. */
/* [task] borrows text, takes detail */
SCALER_API int  scaler_task_fail(scaler_task *t, int code, const char *text, scaler_blob *detail);
SCALER_API bool scaler_task_cancelled(const scaler_task *t); /* [task] poll it in loops */
/* [task] borrows; to the runtime's log */
SCALER_API int scaler_task_log(scaler_task *t, int32_t level, const char *line);
/* The task goes on after fn has returned, keeping its slot, and ends at scaler_task_complete() from any thread. */
SCALER_API int scaler_task_defer(scaler_task *t); /* [task] */
/* [any] deferred tasks only, once, the last call */
SCALER_API void scaler_task_complete(scaler_task *t, int code);

/* What `scaler-worker --plugin FILE.so` looks up and calls once before start, on the main thread.
 * Return 0, or a negative status to refuse to start. */
typedef int (*scaler_plugin_init_fn)(scaler_worker *worker);
#define SCALER_PLUGIN_INIT "scaler_plugin_init"

/* ---- 9. Client, tasks to run, futures ----------------------------------------------------------------- */

typedef struct scaler_client scaler_client;
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
} scaler_client_options;

typedef enum scaler_arg_kind {
        SCALER_ARG_BYTES = 0, /* data and size, borrowed */
        SCALER_ARG_BLOB  = 1  /* blob, borrowed */
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
} scaler_command;

typedef struct scaler_spec {
        size_t                size;
        const char           *function;   /* this, */
        const scaler_command *command;    /* or this */
        const scaler_arg     *args;       /* functions; together at most 1 MiB encoded */
        size_t                arg_count;  /* at most 1,024 */
        int32_t               priority;   /* higher first; 0 is normal */
        int32_t               retries;    /* re-runs when it fails by itself; 0: none */
        int64_t               timeout_ms; /* wall time per run; 0: none */
        uint64_t              user_data;  /* handed back by the future */
        scaler_queue         *queue;      /* where the future appears when it ends (or has output); NULL: nowhere */
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
        SCALER_REASON_NOT_STARTED   = 11  /* the command could not be started; code is the errno */
} scaler_reason;

SCALER_API const char *scaler_reason_name(int reason); /* [any] "worker_died"; lends, forever */

typedef struct scaler_failure {
        size_t   size;
        int32_t  reason;                      /* scaler_reason */
        int32_t  code;                        /* what the function returned or failed with; exit code; signal; errno */
        uint32_t attempts;                    /* runs made */
        uint32_t losses;                      /* of them with a lost worker */
        char     text[SCALER_ERROR_TEXT_MAX]; /* words; empty on success */
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

SCALER_API int scaler_client_create(const scaler_client_options *options, scaler_client **out,
                                    scaler_error *err) SCALER_MUST_USE;                  /* gives */
SCALER_API int scaler_client_start(scaler_client *c, scaler_error *err) SCALER_MUST_USE; /* dials in the background */
/* [any] optional; SCALER_E_TIMEOUT, or why it gave up */
SCALER_API int scaler_client_wait_ready(scaler_client *c, int64_t timeout_ms);

typedef struct scaler_client_stats {
        size_t   size;
        uint64_t pending, submitted, succeeded, failed, cancelled;
        bool     connected;
        int32_t  status; /* 0, or why it has given up */
} scaler_client_stats;
SCALER_API int scaler_client_stats_get(scaler_client *c, scaler_client_stats *out); /* [any] */

/* Does not wait for anybody.  out NULL: only the queue will tell.  SCALER_E_FULL beyond pending_max, SCALER_E_TOO_BIG,
 * SCALER_E_INVALID, SCALER_E_DENIED, SCALER_E_STATE, SCALER_E_NOMEM; err says what and where. */
/* [any] borrows, gives */
SCALER_API int scaler_client_submit(scaler_client *c, const scaler_spec *spec, scaler_future **out, scaler_error *err);
/* All or none; out NULL or count places. */
SCALER_API int scaler_client_submit_many(scaler_client *c, const scaler_spec *specs, size_t count, scaler_future **out,
                                         scaler_error *err); /* [any] */
/* As submit, but waits for room while it is SCALER_E_FULL. */
SCALER_API int scaler_client_submit_wait(scaler_client *c, const scaler_spec *spec, int64_t timeout_ms,
                                         scaler_future **out, scaler_error *err); /* [any] */
SCALER_API int scaler_client_wait_all(scaler_client *c, int64_t timeout_ms);      /* [any] until nothing is pending */
/* unfinished tasks are cancelled; says goodbye */
SCALER_API int  scaler_client_stop(scaler_client *c, int64_t timeout_ms);
SCALER_API void scaler_client_destroy(scaler_client *c); /* futures stay valid */

/* The most that may be cancelled by one call is one task here; SCALER_CANCEL_FORCE kills what runs. */
enum { SCALER_CANCEL_FORCE = 1 };
typedef enum scaler_cancel_outcome {
        SCALER_CANCEL_DONE      = 0, /* ends, or has ended, as cancelled */
        SCALER_CANCEL_FAILED    = 1, /* finished first, or would not stop */
        SCALER_CANCEL_NOT_FOUND = 2  /* unknown or long ended */
} scaler_cancel_outcome;
/* [any] an outcome or a status */
SCALER_API int scaler_client_cancel(scaler_client *c, scaler_id task, uint32_t flags, int64_t timeout_ms);

SCALER_API scaler_future    *scaler_future_ref(scaler_future *f);             /* [any] gives one more reference */
SCALER_API void              scaler_future_unref(scaler_future *f);           /* [any] forgets; does not cancel */
SCALER_API scaler_id         scaler_future_id(const scaler_future *f);        /* [any] */
SCALER_API uint64_t          scaler_future_user_data(const scaler_future *f); /* [any] */
SCALER_API scaler_task_state scaler_future_state(const scaler_future *f);     /* [any] */
/* [any] 0 once it has ended, however; SCALER_E_TIMEOUT */
SCALER_API int scaler_future_wait(scaler_future *f, int64_t timeout_ms);
/* Waits; 0 and the bytes a function returned or a command printed on stdout (collected), or why it did not
 * succeed: SCALER_E_TASK, _WORKER_LOST, _LIMIT, _CANCELLED, _UNREACHABLE ...  out NULL: not wanted. */
SCALER_API int scaler_future_result(scaler_future *f, int64_t timeout_ms, scaler_blob **out); /* [any] gives */
/* What is known of an ended task, successful or not; SCALER_E_STATE while pending. */
SCALER_API int scaler_future_failure(const scaler_future *f, scaler_failure *out); /* [any] */
SCALER_API int scaler_future_exit(const scaler_future *f, scaler_exit *out);       /* [any] */
/* A failed function's detail, or a command's collected output (1 stdout, 2 stderr); empty blob when there is none. */
/* [any] gives; SCALER_E_STATE while pending */
SCALER_API int scaler_future_detail(scaler_future *f, scaler_blob **out);
/* [any] gives; SCALER_E_STATE while pending */
SCALER_API int scaler_future_output(scaler_future *f, int stream, scaler_blob **out);
/* SCALER_COMMAND_STREAM: takes output in order as it comes, at most cap bytes; *stream_out (NULL: not wanted) says
 * which, 1 or 2.
 * A count; 0 at the end; SCALER_E_TIMEOUT: none yet; SCALER_E_GAP once: a new run started over, forget what was
 * read. */
/* [any] */
SCALER_API int scaler_future_read(scaler_future *f, void *buffer, size_t cap, int *stream_out, int64_t timeout_ms);
/* A request: the future still ends exactly once.  The wait form waits for the answer: a scaler_cancel_outcome, or a
 * status. */
SCALER_API int scaler_future_cancel(scaler_future *f, uint32_t flags);                          /* [any] */
SCALER_API int scaler_future_cancel_wait(scaler_future *f, uint32_t flags, int64_t timeout_ms); /* [any] */

/* Futures as they end, each once; and streamed ones whenever they have output again (state PENDING). */
/* gives; rt NULL: malloc */
SCALER_API int scaler_queue_create(scaler_runtime *rt, scaler_queue **out, scaler_error *err) SCALER_MUST_USE;
/* [any] gives a reference; SCALER_E_TIMEOUT */
SCALER_API int scaler_queue_next(scaler_queue *q, int64_t timeout_ms, scaler_future **out);
/* [any] lends; readable while next would give one.  SCALER_E_IO: none to be had */
SCALER_API int scaler_queue_fd(scaler_queue *q);
/* [any] one waiting or coming next() returns SCALER_E_CANCELLED */
SCALER_API void scaler_queue_wake(scaler_queue *q);
SCALER_API void scaler_queue_destroy(scaler_queue *q); /* after it only: futures named to it simply do not appear */

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

/* ---- 10. Looking at a cluster -------------------------------------------------------------------------- */

#define SCALER_NAME_MAX 128

typedef struct scaler_worker_info {
        size_t    size;
        scaler_id id; /* hi 0 */
        char      name[SCALER_NAME_MAX];
        uint32_t  slots, credit, assigned, started, functions;
        uint64_t  done, failed, lost;
        uint64_t  connected_ms;
} scaler_worker_info;

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
} scaler_task_info;

/* [any] "inactive" "running" "canceling" ...; lends, forever */
SCALER_API const char *scaler_task_info_state_name(int32_t state);

/* Admin clients.  Each asks the scheduler and waits.  SCALER_E_DENIED for the others. */
/* [any] */
SCALER_API int scaler_client_scheduler_stats(scaler_client *c, int64_t timeout_ms, scaler_scheduler_stats *out);
/* A page: *cursor 0 at first, 0 again after the last.  rows[0].size set; at most `count` (<= 256) rows; gives how
 * many. */
/* [any] */
SCALER_API int scaler_client_workers(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_worker_info *rows,
                                     size_t count);
/* [any] */
SCALER_API int scaler_client_clients(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_client_info *rows,
                                     size_t count);
/* [any] */
SCALER_API int scaler_client_tasks(scaler_client *c, uint64_t *cursor, int64_t timeout_ms, scaler_task_info *rows,
                                   size_t count);

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

SCALER_API int scaler_local_create(const scaler_local_options *options, scaler_local **out,
                                   scaler_error *err) SCALER_MUST_USE; /* gives; options NULL: all defaults */
SCALER_API int scaler_local_register(scaler_local *l, const scaler_function *function); /* [setup] with every worker */
SCALER_API int scaler_local_start(scaler_local *l, scaler_error *err) SCALER_MUST_USE;
SCALER_API scaler_client    *scaler_local_client(scaler_local *l);    /* [any] lends */
SCALER_API scaler_scheduler *scaler_local_scheduler(scaler_local *l); /* [any] lends */
SCALER_API void scaler_local_destroy(scaler_local *l); /* cancels what is unfinished, waits for functions */

#ifdef __cplusplus
}
#endif

#endif /* SCALER_H */
