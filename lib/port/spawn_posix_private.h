/*
 * What the files of the spawner share.  spawn_posix.c has the object, its thread and what turns ask
 * of it; spawn_posix_watch.c one child from its birth to its end, on that thread; spawn_posix_exec.c
 * the birth itself; spawn_posix_args.c a command as execve wants it; spawn_posix_words.c the sentences.
 */
#ifndef SC_SPAWN_POSIX_PRIVATE_H
#define SC_SPAWN_POSIX_PRIVATE_H

#include <pthread.h>
#include <sys/types.h>

#include "spawn_posix.h"

/* ---- a command as execve wants it -------------------------------------------------------------- */

struct sc_environment { /* a copy of the process's, made once: the host may change its own at any time */
        char **entries; /* ends with NULL */
        size_t count, bytes;
        void  *block;
        size_t block_size;
};

struct sc_exec {
        char      **argv; /* argv[-1] is a spare place, for the interpreter of a file that has none */
        char *const *env;
        char       *file;
        const char *path;  /* where to look for `file`; NULL: as it stands */
        const char *cwd;   /* NULL: ours */
        const char *input; /* NULL: /dev/null */
        size_t      input_len;
        long        nice; /* added to ours */
        void       *block; /* all of the above is in it, but for an unchanged env */
        size_t      block_size;
};

int  sc_environment_copy(struct sc_environment *environment, struct sc_mem *mem); /* 0, SC_E_NOMEM */
void sc_environment_fini(struct sc_environment *environment, struct sc_mem *mem);
int  sc_exec_init(struct sc_exec *exec, struct sc_mem *mem, const struct sc_environment *environment,
                  const struct sc_command *command); /* 0, SC_E_NOMEM */
void sc_exec_fini(struct sc_exec *exec, struct sc_mem *mem);

/* ---- its birth ---------------------------------------------------------------------------------- */

enum sc_birth_step {
        SC_BIRTH_PIPE,
        SC_BIRTH_INPUT,
        SC_BIRTH_CLONE,
        SC_BIRTH_WATCH,
        SC_BIRTH_GROUP,
        SC_BIRTH_DESCRIPTORS,
        SC_BIRTH_CWD,
        SC_BIRTH_NICE,
        SC_BIRTH_EXEC,
        SC_BIRTH_UNWANTED /* killed before it was started */
};

enum { SC_CANDIDATE_MAX = 4096 + 256, SC_FOUND_PATH_MAX = 4096, SC_FOUND_FILE_MAX = 256 };

struct sc_nest { /* memory for one birth at a time */
        char  *stack; /* of the child until its exec, with a guard page below */
        size_t stack_size;
        char   candidate[SC_CANDIDATE_MAX]; /* after a birth: what was executed, if it was looked for */
        /* where `file` was found in `path`, and until when that is believed */
        sc_ns  found_until;
        char   found[SC_CANDIDATE_MAX], found_path[SC_FOUND_PATH_MAX], found_file[SC_FOUND_FILE_MAX];
};

struct sc_birth { /* shared by parent and child until the exec */
        const struct sc_exec *exec;
        struct sc_nest       *nest;
        int                   fds[3]; /* the child's 0, 1 and 2; above 2 here */
        const char           *found;  /* to be tried first; NULL: nothing */
        pid_t                 pid;
        int                   pidfd;
        enum sc_birth_step    step;   /* on failure: where, */
        int                   error;  /* and why */
};

int  sc_nest_init(struct sc_nest *nest); /* 0, SC_E_NOMEM */
void sc_nest_fini(struct sc_nest *nest);
/* True: pid and pidfd are there.  False: step and error are, and no process is left. */
bool sc_birth_give(struct sc_birth *birth, sc_ns now);
/* A descriptor above 2 for the same file, closing `fd` when it has to move; -1 stays -1. */
int  sc_fd_above_stdio(int fd);
/* A sealed file that holds `bytes`, at its start; -1: see errno. */
int  sc_fd_of_bytes(const void *bytes, size_t len);

/* ---- words -------------------------------------------------------------------------------------- */

void sc_words_not_started(char text[SC_TEXT_MAX + 1], const struct sc_exec *exec, enum sc_birth_step step, int error);
void sc_words_signal(char text[SC_TEXT_MAX + 1], int signal);

/* ---- a child ------------------------------------------------------------------------------------ */

enum { SC_CHILD_OUT, SC_CHILD_ERR, SC_CHILD_STREAMS };

enum { /* what turns ask of the thread */
        SC_WANT_START     = 1,
        SC_WANT_MORE      = 2, /* another chunk of output */
        SC_WANT_DELIVERED = 4, /* output() has returned: the chunk is free again */
        SC_WANT_KILL      = 8
};

struct sc_stream {
        int    fd;       /* -1: closed */
        bool   readable; /* epoll said so, and no read has said otherwise since */
        size_t left;     /* of a killed child: bytes to take before it is closed */
};

struct sc_child {
        struct sc_post     post;
        struct sc_spawner *spawner;
        void              *ctx;
        struct sc_list     all;     /* turns: every child that has not been told its end */
        struct sc_list     asked;   /* lock: on the spawner's list while it wants something */
        unsigned           wants;   /* lock */
        uint64_t           signals; /* lock: bit (number - 1) */
        uint8_t           *chunk;   /* the thread's, or that of the turn between post and DELIVERED */
        bool               posted;  /* in an inbox; set by the thread, cleared by the turn */
        bool               telling, more; /* turns: inside output(), which has asked for more */
        struct sc_exec     exec;

        /* the thread's own from here on, what a post tells lent to the turn */
        struct sc_list     busy;
        struct sc_list     waiting;     /* for descriptors or processes to be had */
        sc_ns              patience;    /* until when; 0: it has not waited yet */
        uint64_t           output_max, output_bytes;
        bool               merge;
        bool               started;
        bool               undelivered; /* a chunk is with the turn */
        bool               wanted;      /* the turn can take a chunk */
        bool               killed;
        bool               over_limit;
        bool               exited;      /* the pidfd says so */
        bool               known;       /* `outcome` has its end, or that it was stolen */
        bool               reaped;      /* no zombie is ours */
        bool               draining;
        bool               finished;    /* ENDED is posted: hands off */
        pid_t              pid;
        int                pidfd;
        struct sc_stream   streams[SC_CHILD_STREAMS];
        uint8_t            turn_to;     /* the stream that is looked at first */
        uint8_t            chunk_stream;
        size_t             chunk_len;
        sc_ns              born;
        uint64_t           own_peak_kib; /* of this process when the child was born, see spawn_posix_watch.c */
        struct sc_outcome  outcome;
        char               text[SC_TEXT_MAX + 1];
};

struct sc_spawner {
        struct sc_mem                  *mem;
        struct sc_loop                 *loop;
        const struct sc_child_upcalls  *upcalls;
        struct sc_environment           environment;

        struct sc_list                  all;   /* turns */
        uint8_t                        *spare; /* turns: chunks to be used again, each begins with the next one */
        uint32_t                        spares;

        pthread_mutex_t                 lock;
        struct sc_list                  asked; /* lock */
        bool                            asleep, quit; /* lock */

        pthread_t                       thread;
        int                             epoll_fd, wake_fd, null_fd;
        struct sc_list                  busy;  /* the thread's: children with news */
        uint32_t                        alive; /* the thread's: children that started and have not finished */
        struct sc_list                  waiting; /* the thread's: children not started yet, oldest first */
        struct sc_nest                  nest;
};

/* All on the thread. */
/* Spawns it, or notes why not, or lets it wait while this process is short of what a spawn needs. */
void sc_child_begin(struct sc_child *child);
void sc_child_send_signal(struct sc_child *child, int signal);
void sc_child_end_it(struct sc_child *child);                   /* kill -9, and no waiting for who holds its outputs */
/* reads, reaps, tells; the child may be gone afterwards */
void sc_child_advance(struct sc_child *child);
/* destroy: kills, reaps, closes; tells nobody */
void sc_child_drop(struct sc_child *child, sc_ns deadline);

#endif
