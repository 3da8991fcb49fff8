/*
 * show: what scaler-ctl prints.  Each call asks the scheduler and adds rows for people or JSON lines to
 * `out`: a status, 0 when all was told.
 */
#ifndef TOOLS_CTL_SHOW_H
#define TOOLS_CTL_SHOW_H

#include <scaler.h>

#include "select.h"
#include "text.h"

struct show {
        scaler_client *client;
        int64_t        timeout_ms; /* of each question */
        bool           json;
        struct text   *out;
        const struct selection *selection; /* of tasks */
};

void show_flush(const struct show *s);
void show_json_id(struct text *out, const char *key, scaler_id id);
/* One JSON row; comma: of an array, NULL: a line. */
void show_worker_json(struct text *out, const scaler_worker_explanation *w, bool *comma);

int show_status(const struct show *s);
int show_workers(const struct show *s);
int show_clients(const struct show *s);
int show_tasks(const struct show *s); /* those selected */
int show_dump(const struct show *s); /* all of them; in JSON one object */

#endif
