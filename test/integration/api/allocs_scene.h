/* Stages of a scene: each asserts that it came about, and may stand on any earlier one. */
#ifndef ALLOCS_SCENE_H
#define ALLOCS_SCENE_H

#include "allocs.h"

int make_runtime(struct scene *s);
int make_scheduler(struct scene *s);
int make_worker(struct scene *s);
int make_client(struct scene *s, bool admin, scaler_client **out);
int make_queue(struct scene *s);
int make_local(struct scene *s);
int add_function(struct scene *s, const char *name);
int start_scheduler(struct scene *s);
int start_worker(struct scene *s);
int start_client(struct scene *s);
int submit_one(struct scene *s, const char *function, scaler_future **out);

void stage_none(struct scene *s);
void stage_runtime(struct scene *s);
void stage_blob(struct scene *s);
void stage_made(struct scene *s);      /* scheduler, worker, client, admin: not started */
void stage_listening(struct scene *s); /* the scheduler alone is started */
void stage_up(struct scene *s);
void stage_queue(struct scene *s);
void stage_ended(struct scene *s);     /* s->future: a function's, ended with nothing */
void stage_queued(struct scene *s);    /* the same, on s->queue */
void stage_waiting(struct scene *s);   /* s->future: of a function that nobody has */
void stage_running(struct scene *s);   /* s->future: of a function, submitted and on its way */
void stage_streaming(struct scene *s); /* s->future: a command's that prints as it goes */
void stage_local(struct scene *s);

#endif
