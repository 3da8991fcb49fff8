/*
 * What the tests of the spawner share: a loop, a spawner, and runs that remember all that was told of a
 * command.  Memory of the spawner comes from fail_mem, which the token keeps to one thread at a time.
 */
#ifndef SPAWN_WORLD_H
#define SPAWN_WORLD_H

#include <pthread.h>

#include "fail_mem.h"
#include "loop.h"
#include "run_tests.h"
#include "sc_buf.h"
#include "sc_status.h"
#include "spawn_posix.h"

enum { ARGS_MAX = 16, KEEP_MAX = 4 << 20 };

struct run {
        struct sc_child  *child;
        struct sc_buf     said[2]; /* the first KEEP_MAX bytes of each stream */
        uint64_t          bytes[2];
        uint32_t          chunks, switches; /* chunks, and how often the stream was another than before */
        uint8_t           last_stream;
        bool              patient; /* does not ask for more by itself */
        bool              done;
        uint32_t          ends;
        struct sc_outcome outcome; /* `text` points to words */
        char              words[SC_TEXT_MAX + 1];
        void            (*then)(struct run *run); /* in the turn of the end */
};

extern struct fail_mem    spawn_mem;
extern struct sc_loop    *spawn_loop;
extern struct sc_spawner *spawner;

void world_start(void);  /* fixture: loop and spawner */
void world_finish(void); /* fixture: destroys them, and finds nothing left: memory, descriptors, children */

struct sc_view view(const char *text);
struct sc_command command_of(struct sc_view argv[ARGS_MAX], const char *file, ...); /* arguments end with NULL */

int  start(struct run *run, const struct sc_command *command); /* with the token */
void start_sh(struct run *run, const char *script);
void wait_chunks(struct run *run, uint32_t chunks); /* until so many have come */
void wait_end(struct run *run);
void read_more(struct run *run);
void send_signal(struct run *run, int signal);
void kill_run(struct run *run);
void forget(struct run *run); /* its buffers */

void run_command(struct run *run, const struct sc_command *command); /* start and wait */
void run_sh(struct run *run, const char *script);
const char *said(struct run *run, int stream); /* as text, of stream 1 or 2 */

int open_descriptors(void);

#endif
