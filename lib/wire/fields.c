/*
 * The tables.  Keys are for ever: a new field takes a new key, an old one is never used again.
 * Fields that several kinds share have the same keys in all of them: a task is 1 and 2, a run 3,
 * a specification or an outcome starts at 10.
 */
#include "fields.h"

#define AT(member) offsetof(struct sc_msg, member)
#define FIELD(key_, name_, type_, offset_, min_, max_) \
        { .key    = (key_), \
          .name   = (name_), \
          .type   = SC_FIELD_##type_, \
          .offset = (uint16_t)(offset_), \
          .min    = (min_), \
          .max    = (max_) }

#define TASK(member) \
        FIELD(1, "client", U64, AT(member.hi), 1, 0), \
        FIELD(2, "sequence", U64, AT(member.lo), 1, 0)

#define SPEC(member) \
        FIELD(10, "kind", U8, AT(member.kind), 0, SC_TASK_KINDS - 1), \
        FIELD(11, "flags", U8, AT(member.flags), 0, SC_SPEC_STREAM | SC_SPEC_RESUBMITTED), \
        FIELD(12, "priority", I32, AT(member.priority), 0, SC_PRIORITY_MAX), \
        FIELD(13, "retries", U32, AT(member.retries), 0, UINT32_MAX), \
        FIELD(14, "timeout_ms", U64, AT(member.timeout_ms), 0, 0), \
        FIELD(15, "function", TEXT, AT(member.function), 0, SC_NAME_MAX), \
        FIELD(16, "body", BYTES, AT(member.body), 0, SC_BODY_MAX), \
        FIELD(17, "plan", PLAN, AT(member.plan), 0, 0)

#define OUTCOME(member) \
        FIELD(10, "reason", U8, AT(member.reason), 0, SC_REASONS - 1), \
        FIELD(11, "how", U8, AT(member.how), 0, SC_HOWS - 1), \
        FIELD(12, "code", I32, AT(member.code), 0, 0), \
        FIELD(13, "wall_us", U64, AT(member.wall_us), 0, 0), \
        FIELD(14, "user_us", U64, AT(member.user_us), 0, 0), \
        FIELD(15, "sys_us", U64, AT(member.sys_us), 0, 0), \
        FIELD(16, "peak_kib", U64, AT(member.peak_kib), 0, 0), \
        FIELD(17, "streamed", U64, AT(member.streamed), 0, 0), \
        FIELD(18, "result", BYTES, AT(member.result), 0, SC_RESULT_MAX), \
        FIELD(19, "errors", BYTES, AT(member.errors), 0, SC_RESULT_MAX), \
        FIELD(20, "text", TEXT, AT(member.text), 0, SC_TEXT_MAX)

#define RUN \
        TASK(about.task), \
        FIELD(3, "run", U64, AT(about.run), 1, 0)

/* KEEP gives a held run its number in this epoch; a run that is dropped may have none. */
#define HELD(run_min) \
        TASK(about.task), \
        FIELD(3, "run", U64, AT(about.run), run_min, 0), \
        FIELD(4, "held_epoch", U64, AT(about.held_epoch), 1, 0), \
        FIELD(5, "held_run", U64, AT(about.held_run), 1, 0)

#define NUMBER32(key_, name_, member) FIELD(key_, name_, U32, AT(member), 0, UINT32_MAX)
#define NUMBER64(key_, name_, member) FIELD(key_, name_, U64, AT(member), 0, 0)

static const struct sc_field hello[] = {
        FIELD(1, "magic", MAGIC, 0, 1, 0),
        FIELD(2, "version_min", U32, AT(hello.version_min), 1, UINT32_MAX),
        FIELD(3, "version_max", U32, AT(hello.version_max), 1, UINT32_MAX),
        NUMBER64(4, "features", hello.features),
        FIELD(5, "role", U8, AT(hello.role), SC_ROLE_CLIENT, SC_ROLE_ADMIN),
        FIELD(6, "id", U64, AT(hello.id), 1, 0),
        FIELD(7, "incarnation", U64, AT(hello.incarnation), 1, 0),
        NUMBER64(8, "epoch", hello.epoch),
        FIELD(9, "slots", U32, AT(hello.slots), 0, SC_SLOTS_MAX),
        FIELD(10, "free_slots", U32, AT(hello.free_slots), 0, SC_SLOTS_MAX),
        FIELD(11, "token", BYTES, AT(hello.token), 0, SC_TOKEN_MAX),
        FIELD(12, "name", TEXT, AT(hello.name), 0, SC_NAME_MAX),
        FIELD(13, "tenant", TEXT, AT(hello.tenant), 0, SC_NAME_MAX),
        FIELD(14, "functions", NAMES, AT(hello.functions), 0, SC_FUNCTIONS_MAX),
        FIELD(15, "holds", HOLDS, AT(hello.holds), 0, SC_HOLDS_MAX),
        FIELD(16, "weight", U32, AT(hello.weight), 0, SC_WEIGHT_MAX),
        NUMBER32(17, "running_max", hello.running_max),
        FIELD(18, "offers", TEXT, AT(hello.offers), 0, SC_AMOUNTS_TEXT),
};

static const struct sc_field hold[] = {
        FIELD(1, "client", U64, offsetof(struct sc_hold, task.hi), 1, 0),
        FIELD(2, "sequence", U64, offsetof(struct sc_hold, task.lo), 1, 0),
        FIELD(3, "run", U64, offsetof(struct sc_hold, run), 1, 0),
        FIELD(4, "epoch", U64, offsetof(struct sc_hold, epoch), 1, 0),
        FIELD(5, "flags", U8, offsetof(struct sc_hold, flags), 0,
              SC_HOLD_RUNNING | SC_HOLD_DONE | SC_HOLD_WAITING),
};

static const struct sc_field plan[] = {
        FIELD(1, "not_before_ms", U64, offsetof(struct sc_plan, not_before_ms), 0, 0),
        FIELD(2, "queue_ms", U64, offsetof(struct sc_plan, queue_ms), 0, 0),
        FIELD(3, "deadline_ms", U64, offsetof(struct sc_plan, deadline_ms), 0, 0),
        FIELD(4, "backoff_ms", U32, offsetof(struct sc_plan, backoff_ms), 0, UINT32_MAX),
        FIELD(5, "backoff_max_ms", U32, offsetof(struct sc_plan, backoff_max_ms), 0, UINT32_MAX),
        FIELD(6, "needs", TEXT, offsetof(struct sc_plan, needs), 0, SC_AMOUNTS_TEXT),
        FIELD(7, "tag", TEXT, offsetof(struct sc_plan, tag), 0, SC_NAME_MAX),
        FIELD(8, "retry_on", TEXT, offsetof(struct sc_plan, retry_on), 0, SC_RETRY_ON_MAX),
        FIELD(9, "after", BYTES, offsetof(struct sc_plan, after), 0, 8 * SC_AFTER_MAX),
        FIELD(10, "results", BLOBS, offsetof(struct sc_plan, results), 0, SC_AFTER_MAX),
        FIELD(11, "nodes", U32, offsetof(struct sc_plan, nodes), 0, UINT32_MAX),
        FIELD(12, "graph", U64, offsetof(struct sc_plan, graph), 0, 0),
        FIELD(13, "graph_flags", U32, offsetof(struct sc_plan, graph_flags), 0, SC_GRAPH_INNER | SC_GRAPH_FAIL_FAST),
        FIELD(14, "root", U64, offsetof(struct sc_plan, root), 0, 0),
        FIELD(15, "root_reason", U32, offsetof(struct sc_plan, root_reason), 0, SC_REASONS - 1),
        FIELD(16, "parent", BYTES, offsetof(struct sc_plan, parent), 0, SC_PARENT_SIZE),
        FIELD(17, "parent_run", U64, offsetof(struct sc_plan, parent_run), 0, 0),
        FIELD(18, "key", TEXT, offsetof(struct sc_plan, key), 0, SC_NAME_MAX),
};

static const struct sc_field welcome[] = {
        FIELD(1, "magic", MAGIC, 0, 1, 0),
        FIELD(2, "version", U32, AT(welcome.version), 1, UINT32_MAX),
        NUMBER64(3, "features", welcome.features),
        FIELD(4, "id", U64, AT(welcome.id), 1, 0),
        FIELD(5, "epoch", U64, AT(welcome.epoch), 1, 0),
        NUMBER64(6, "known_up_to", welcome.known_up_to),
        NUMBER32(7, "silent_ms", welcome.silent_ms),
        FIELD(8, "name", TEXT, AT(welcome.name), 0, SC_NAME_MAX),
        NUMBER32(9, "tasks_most", welcome.tasks_most),
        NUMBER32(10, "kib_most", welcome.kib_most),
};

static const struct sc_field bye[] = {
        FIELD(1, "status", I32, AT(bye.status), 0, 0),
        FIELD(2, "why", TEXT, AT(bye.why), 0, SC_TEXT_MAX),
};

static const struct sc_field submit[] = { TASK(submit.task), SPEC(submit.spec) };

static const struct sc_field cancel[] = {
        TASK(cancel.task),
        FIELD(3, "force", BOOL, AT(cancel.force), 0, 0),
};

static const struct sc_field cancel_many[] = {
        NUMBER32(1, "ticket", cancel_many.ticket),
        NUMBER64(2, "client", cancel_many.client),
        NUMBER64(3, "up_to", cancel_many.up_to),
        FIELD(4, "force", BOOL, AT(cancel_many.force), 0, 0),
        FIELD(5, "tag", TEXT, AT(cancel_many.tag), 0, SC_NAME_MAX),
};

static const struct sc_field drain[] = {
        NUMBER32(1, "ticket", drain.ticket),
        NUMBER64(2, "worker", drain.worker),
        NUMBER64(3, "deadline_ms", drain.deadline_ms),
};

static const struct sc_field drained[] = {
        NUMBER32(1, "ticket", drained.ticket),
        NUMBER64(2, "worker", drained.worker),
        FIELD(3, "status", I32, AT(drained.status), 0, 0),
        NUMBER32(4, "finished", drained.finished),
        NUMBER32(5, "returned", drained.returned),
        NUMBER32(6, "released", drained.released),
        NUMBER32(7, "lost", drained.lost),
        NUMBER64(8, "took_ms", drained.took_ms),
        FIELD(9, "name", TEXT, AT(drained.name), 0, SC_NAME_MAX),
};

static const struct sc_field leave[] = { NUMBER64(1, "deadline_ms", leave.deadline_ms) };

static const struct sc_field want[] = {
        NUMBER32(1, "tasks", want.tasks),
        NUMBER32(2, "kib", want.kib),
        NUMBER32(3, "least_tasks", want.least_tasks),
        NUMBER32(4, "least_kib", want.least_kib),
};

static const struct sc_field result[] = {
        TASK(result.task),
        NUMBER32(3, "attempts", result.attempts),
        NUMBER32(4, "losses", result.losses),
        NUMBER64(5, "worker", result.worker),
        NUMBER64(6, "root", result.root),
        FIELD(7, "root_reason", U8, AT(result.root_reason), 0, SC_REASONS - 1),
        OUTCOME(result.outcome),
};

static const struct sc_field graph_done[] = {
        TASK(graph_done.task),
        NUMBER32(3, "succeeded", graph_done.succeeded),
        NUMBER32(4, "failed", graph_done.failed),
        NUMBER32(5, "cancelled", graph_done.cancelled),
        NUMBER32(6, "skipped", graph_done.skipped),
        NUMBER64(7, "root", graph_done.root),
        FIELD(8, "root_reason", U8, AT(graph_done.root_reason), 0, SC_REASONS - 1),
        FIELD(10, "reason", U8, AT(graph_done.reason), 0, SC_REASONS - 1),
};

static const struct sc_field confirm[] = {
        TASK(confirm.task),
        FIELD(3, "outcome", U8, AT(confirm.outcome), 0, SC_CANCEL_NOT_FOUND),
};

static const struct sc_field confirm_many[] = {
        NUMBER32(1, "ticket", confirm_many.ticket),
        NUMBER64(2, "count", confirm_many.count),
        FIELD(3, "status", I32, AT(confirm_many.status), 0, 0),
};

static const struct sc_field assign[] = {
        TASK(assign.task),
        FIELD(3, "run", U64, AT(assign.run), 1, 0),
        NUMBER32(4, "attempt", assign.attempt),
        SPEC(assign.spec),
};

static const struct sc_field stop[] = { RUN, FIELD(4, "force", BOOL, AT(about.force), 0, 0) };
static const struct sc_field recall[]   = { RUN };
static const struct sc_field keep[]     = { HELD(1) };
static const struct sc_field drop[]     = { HELD(0) };
static const struct sc_field started[]  = { RUN };
static const struct sc_field returned[] = { RUN, FIELD(4, "released", BOOL, AT(about.released), 0, 0) };
static const struct sc_field waiting[]  = { RUN };
static const struct sc_field resumed[]  = { RUN };

static const struct sc_field done[] = {
        TASK(done.task),
        FIELD(3, "run", U64, AT(done.run), 1, 0),
        OUTCOME(done.outcome),
};

static const struct sc_field output[] = {
        TASK(output.task),
        FIELD(3, "run", U64, AT(output.run), 1, 0),
        FIELD(4, "stream", U8, AT(output.stream), 1, 2),
        NUMBER64(5, "offset", output.offset),
        FIELD(6, "bytes", BYTES, AT(output.bytes), 1, SC_OUTPUT_CHUNK),
};

static const struct sc_field output_ack[] = {
        TASK(output_ack.task),
        FIELD(3, "run", U64, AT(output_ack.run), 1, 0),
        NUMBER64(4, "received", output_ack.received),
        NUMBER64(5, "limit", output_ack.limit),
        FIELD(6, "again", BOOL, AT(output_ack.again), 0, 0),
};

static const struct sc_field query[] = {
        NUMBER32(1, "ticket", query.ticket),
        FIELD(2, "what", U8, AT(query.what), SC_QUERY_STATUS, SC_QUERIES - 1),
        NUMBER64(3, "cursor", query.cursor),
        FIELD(4, "rows_max", U32, AT(query.rows_max), 1, SC_QUERY_ROWS_MAX),
        NUMBER64(5, "client", query.client),
        NUMBER64(6, "sequence", query.sequence),
        NUMBER64(7, "worker", query.worker),
        FIELD(8, "states", U32, AT(query.states), 0, (1 << SC_PUBLIC_STATES) - 1),
        FIELD(9, "stages", U32, AT(query.stages), 0, (1 << SC_STAGES) - 1),
        NUMBER64(10, "first", query.first),
        NUMBER64(11, "last", query.last),
        FIELD(12, "newest", BOOL, AT(query.newest), 0, 0),
        FIELD(13, "tag", TEXT, AT(query.tag), 0, SC_NAME_MAX),
};

static const struct sc_field status_row[] = {
        NUMBER32(1, "ticket", status_row.ticket),
        NUMBER64(2, "epoch", status_row.epoch),
        NUMBER64(3, "uptime_ms", status_row.uptime_ms),
        NUMBER32(4, "clients", status_row.clients),
        NUMBER32(5, "workers", status_row.workers),
        NUMBER32(6, "admins", status_row.admins),
        NUMBER32(7, "links", status_row.links),
        NUMBER32(8, "tasks_waiting", status_row.tasks_waiting),
        NUMBER32(9, "tasks_ready", status_row.tasks_ready),
        NUMBER32(10, "tasks_assigned", status_row.tasks_assigned),
        NUMBER32(11, "tasks_ended_unacked", status_row.tasks_ended_unacked),
        NUMBER32(12, "orphans", status_row.orphans),
        NUMBER32(13, "slots_total", status_row.slots_total),
        NUMBER32(14, "slots_busy", status_row.slots_busy),
        NUMBER64(15, "tasks_submitted", status_row.tasks_submitted),
        NUMBER64(16, "tasks_done", status_row.tasks_done),
        NUMBER64(17, "tasks_failed", status_row.tasks_failed),
        NUMBER64(18, "tasks_cancelled", status_row.tasks_cancelled),
        NUMBER64(19, "runs_lost", status_row.runs_lost),
        NUMBER64(20, "runs_kept", status_row.runs_kept),
        NUMBER64(21, "stale_dropped", status_row.stale_dropped),
        NUMBER64(22, "bytes_used", status_row.bytes_used),
        NUMBER64(23, "bytes_max", status_row.bytes_max),
        NUMBER32(24, "tasks_max", status_row.tasks_max),
        FIELD(25, "version", TEXT, AT(status_row.version), 0, SC_NAME_MAX),
        NUMBER32(26, "tasks_kept", status_row.tasks_kept),
};

static const struct sc_field worker_row[] = {
        NUMBER32(1, "ticket", worker_row.ticket),
        NUMBER64(2, "worker", worker_row.worker),
        NUMBER32(3, "slots", worker_row.slots),
        NUMBER32(4, "credit", worker_row.credit),
        NUMBER32(5, "assigned", worker_row.assigned),
        NUMBER32(6, "started", worker_row.started),
        NUMBER32(7, "functions", worker_row.functions),
        NUMBER64(8, "done", worker_row.done),
        NUMBER64(9, "failed", worker_row.failed),
        NUMBER64(10, "lost", worker_row.lost),
        NUMBER64(11, "connected_ms", worker_row.connected_ms),
        FIELD(12, "name", TEXT, AT(worker_row.name), 0, SC_NAME_MAX),
        FIELD(13, "draining", BOOL, AT(worker_row.draining), 0, 0),
};

static const struct sc_field client_row[] = {
        NUMBER32(1, "ticket", client_row.ticket),
        NUMBER64(2, "client", client_row.client),
        FIELD(3, "connected", BOOL, AT(client_row.connected), 0, 0),
        NUMBER32(4, "tasks", client_row.tasks),
        NUMBER32(5, "grant_tasks", client_row.grant_tasks),
        NUMBER64(6, "submitted", client_row.submitted),
        NUMBER64(7, "connected_ms", client_row.connected_ms),
        FIELD(8, "name", TEXT, AT(client_row.name), 0, SC_NAME_MAX),
        FIELD(9, "tenant", TEXT, AT(client_row.tenant), 0, SC_NAME_MAX),
};

static const struct sc_field task_row[] = {
        TASK(task_row.task),
        NUMBER32(3, "ticket", task_row.ticket),
        FIELD(4, "state", U8, AT(task_row.state), 0, SC_PUBLIC_STATES - 1),
        FIELD(5, "kind", U8, AT(task_row.kind), 0, SC_TASK_KINDS - 1),
        NUMBER32(6, "attempt", task_row.attempt),
        NUMBER32(7, "losses", task_row.losses),
        NUMBER64(8, "worker", task_row.worker),
        NUMBER64(9, "age_ms", task_row.age_ms),
        FIELD(10, "function", TEXT, AT(task_row.function), 0, SC_NAME_MAX),
        FIELD(11, "stage", U8, AT(task_row.stage), 0, SC_STAGES - 1),
        FIELD(12, "tag", TEXT, AT(task_row.tag), 0, SC_NAME_MAX),
};

static const struct sc_field query_end[] = {
        NUMBER32(1, "ticket", query_end.ticket),
        NUMBER64(2, "next", query_end.next),
        FIELD(3, "status", I32, AT(query_end.status), 0, 0),
};

static const struct sc_field task_why[] = {
        TASK(task_why.task),
        NUMBER32(3, "ticket", task_why.ticket),
        FIELD(4, "state", U8, AT(task_why.state), 0, SC_PUBLIC_STATES - 1),
        FIELD(5, "stage", U8, AT(task_why.stage), 0, SC_STAGES - 1),
        FIELD(6, "kind", U8, AT(task_why.kind), 0, SC_TASK_KINDS - 1),
        FIELD(7, "why", U8, AT(task_why.why), 0, SC_WHYS - 1),
        FIELD(8, "reason", U8, AT(task_why.reason), 0, SC_REASONS - 1),
        NUMBER64(9, "since_ms", task_why.since_ms),
        NUMBER64(10, "age_ms", task_why.age_ms),
        NUMBER64(11, "until_ms", task_why.until_ms),
        NUMBER64(12, "number", task_why.number),
        NUMBER32(13, "attempt", task_why.attempt),
        NUMBER32(14, "losses", task_why.losses),
        NUMBER32(15, "attempts", task_why.attempts),
        FIELD(16, "priority", I32, AT(task_why.priority), 0, SC_PRIORITY_MAX),
        NUMBER64(17, "worker", task_why.worker),
        FIELD(18, "text", TEXT, AT(task_why.text), 0, SC_TEXT_MAX),
        FIELD(19, "worker_name", TEXT, AT(task_why.worker_name), 0, SC_NAME_MAX),
        FIELD(20, "function", TEXT, AT(task_why.function), 0, SC_NAME_MAX),
        FIELD(21, "needs", TEXT, AT(task_why.needs), 0, SC_AMOUNTS_TEXT),
        FIELD(22, "tag", TEXT, AT(task_why.tag), 0, SC_NAME_MAX),
        FIELD(23, "tenant", TEXT, AT(task_why.tenant), 0, SC_NAME_MAX),
};

static const struct sc_field attempt_row[] = {
        NUMBER32(1, "ticket", attempt_row.ticket),
        NUMBER32(2, "attempt", attempt_row.attempt),
        NUMBER64(3, "worker", attempt_row.worker),
        NUMBER64(4, "began_ms", attempt_row.began_ms),
        NUMBER64(5, "ended_ms", attempt_row.ended_ms),
        FIELD(6, "reason", U8, AT(attempt_row.reason), 0, SC_REASONS - 1),
        FIELD(7, "how", U8, AT(attempt_row.how), 0, SC_HOWS - 1),
        FIELD(8, "code", I32, AT(attempt_row.code), 0, 0),
        NUMBER64(9, "wall_us", attempt_row.wall_us),
        NUMBER64(10, "user_us", attempt_row.user_us),
        NUMBER64(11, "sys_us", attempt_row.sys_us),
        NUMBER64(12, "peak_kib", attempt_row.peak_kib),
        FIELD(13, "worker_name", TEXT, AT(attempt_row.worker_name), 0, SC_NAME_MAX),
        FIELD(14, "text", TEXT, AT(attempt_row.text), 0, SC_TEXT_MAX),
};

static const struct sc_field worker_why[] = {
        NUMBER32(1, "ticket", worker_why.ticket),
        NUMBER64(2, "worker", worker_why.worker),
        FIELD(3, "why", U8, AT(worker_why.why), 0, SC_IDLES - 1),
        NUMBER32(4, "slots", worker_why.slots),
        NUMBER32(5, "credit", worker_why.credit),
        NUMBER32(6, "assigned", worker_why.assigned),
        NUMBER32(7, "started", worker_why.started),
        NUMBER32(8, "held", worker_why.held),
        NUMBER32(9, "functions", worker_why.functions),
        NUMBER64(10, "done", worker_why.done),
        NUMBER64(11, "failed", worker_why.failed),
        NUMBER64(12, "lost", worker_why.lost),
        NUMBER64(13, "connected_ms", worker_why.connected_ms),
        FIELD(14, "name", TEXT, AT(worker_why.name), 0, SC_NAME_MAX),
        FIELD(15, "text", TEXT, AT(worker_why.text), 0, SC_TEXT_MAX),
        FIELD(16, "offers", TEXT, AT(worker_why.offers), 0, SC_AMOUNTS_TEXT),
        FIELD(17, "used", TEXT, AT(worker_why.used), 0, SC_AMOUNTS_TEXT),
};

#define BIT(key) (UINT64_C(1) << (key))
#define LAYOUT(table, views_, size_, required_) LAYOUT_WITH(table, 0, views_, size_, required_)
#define LAYOUT_WITH(table, plans_, views_, size_, required_) \
        { .fields   = (table), \
          .count    = sizeof(table) / sizeof((table)[0]), \
          .plain    = sizeof(table) / sizeof((table)[0]) - (plans_), \
          .views    = (views_), \
          .size     = (uint16_t)(size_), \
          .required = (required_) }
#define KIND(table, member, views_, required_) \
        KIND_WITH(table, member, 0, views_, required_)
#define KIND_WITH(table, member, plans_, views_, required_) \
        LAYOUT_WITH(table, plans_, views_, AT(member) + sizeof(((struct sc_msg *)0)->member), required_)

#define A_TASK (BIT(1) | BIT(2))
#define A_RUN  (A_TASK | BIT(3))

const struct sc_layout sc_layout_hold = LAYOUT(hold, 5, sizeof(struct sc_hold), A_RUN | BIT(4));
const struct sc_layout sc_layout_plan = LAYOUT(plan, 5, sizeof(struct sc_plan), 0);

static const struct sc_layout layouts[] = {
        [SC_MSG_HELLO]        = KIND(hello, hello, 10, BIT(1) | BIT(2) | BIT(3) | BIT(5) | BIT(6) | BIT(7)),
        [SC_MSG_WELCOME]      = KIND(welcome, welcome, 7, BIT(1) | BIT(2) | BIT(4) | BIT(5)),
        [SC_MSG_BYE]          = KIND(bye, bye, 1, 0),
        [SC_MSG_SUBMIT]       = KIND_WITH(submit, submit, 1, 7, A_TASK),
        [SC_MSG_CANCEL]       = KIND(cancel, cancel, 3, A_TASK),
        [SC_MSG_WANT]         = KIND(want, want, 4, 0),
        [SC_MSG_CANCEL_MANY]  = KIND(cancel_many, cancel_many, 4, 0),
        [SC_MSG_DRAIN]        = KIND(drain, drain, 3, 0),
        [SC_MSG_RESULT]       = KIND(result, result, 15, A_TASK),
        [SC_MSG_CONFIRM]      = KIND(confirm, confirm, 3, A_TASK),
        [SC_MSG_CONFIRM_MANY] = KIND(confirm_many, confirm_many, 3, 0),
        [SC_MSG_GRAPH_DONE]   = KIND(graph_done, graph_done, 9, A_TASK),
        [SC_MSG_DRAINED]      = KIND(drained, drained, 8, 0),
        [SC_MSG_ASSIGN]       = KIND_WITH(assign, assign, 1, 9, A_RUN),
        [SC_MSG_STOP]         = KIND(stop, about, 4, A_RUN),
        [SC_MSG_RECALL]       = KIND(recall, about, 3, A_RUN),
        [SC_MSG_KEEP]         = KIND(keep, about, 5, A_RUN | BIT(4) | BIT(5)),
        [SC_MSG_DROP]         = KIND(drop, about, 5, A_TASK | BIT(4) | BIT(5)),
        [SC_MSG_LEAVE]        = KIND(leave, leave, 1, 0),
        [SC_MSG_STARTED]      = KIND(started, about, 3, A_RUN),
        [SC_MSG_DONE]         = KIND(done, done, 11, A_RUN),
        [SC_MSG_RETURNED]     = KIND(returned, about, 4, A_RUN),
        [SC_MSG_WAITING]      = KIND(waiting, about, 3, A_RUN),
        [SC_MSG_RESUMED]      = KIND(resumed, about, 3, A_RUN),
        [SC_MSG_OUTPUT]       = KIND(output, output, 5, A_RUN | BIT(4) | BIT(6)),
        [SC_MSG_OUTPUT_ACK]   = KIND(output_ack, output_ack, 6, A_RUN),
        [SC_MSG_QUERY]        = KIND(query, query, 12, BIT(2) | BIT(4)),
        [SC_MSG_STATUS_ROW]   = KIND(status_row, status_row, 24, 0),
        [SC_MSG_WORKER_ROW]   = KIND(worker_row, worker_row, 11, 0),
        [SC_MSG_CLIENT_ROW]   = KIND(client_row, client_row, 7, 0),
        [SC_MSG_TASK_ROW]     = KIND(task_row, task_row, 9, A_TASK),
        [SC_MSG_QUERY_END]    = KIND(query_end, query_end, 3, 0),
        [SC_MSG_TASK_WHY]     = KIND(task_why, task_why, 17, A_TASK),
        [SC_MSG_ATTEMPT_ROW]  = KIND(attempt_row, attempt_row, 12, 0),
        [SC_MSG_WORKER_WHY]   = KIND(worker_why, worker_why, 13, 0),
};

const struct sc_layout *sc_layout_of(uint64_t kind)
{
        if (kind >= sizeof(layouts) / sizeof(layouts[0]) || !layouts[kind].fields)
                return NULL;
        return &layouts[kind];
}
