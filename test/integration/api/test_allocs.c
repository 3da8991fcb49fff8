/*
 * Every public call with its 1st, 2nd, ... n-th allocation failing: a clear status, nothing written to an out pointer,
 * no crash, no leak, no hang, and the same call right after succeeds and a task runs to its end.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "allocs.h"

enum { SOON_MS = 30, ROUNDS_MAX = 400, FUNCTIONS_MAX = 256, NAME_MAX_HERE = 64 };

struct sweep { /* one way to let allocations fail */
        enum allocs_runtime kind;
        enum ledger_how     how;
        bool                every_thread;
};

static bool may(const struct allocs_row *row, int status)
{
        return status >= 0 || status == SCALER_E_NOMEM || (row->may & ALLOCS_MAY(status));
}

static bool skipped(const struct allocs_row *row, const struct sweep *sweep)
{
        if ((row->flags & ALLOCS_HOST) && sweep->kind != ALLOCS_HOST_DRIVEN)
                return true;
        return (row->flags & ALLOCS_RUNTIME) && sweep->kind == ALLOCS_PRIVATE;
}

/* The call, with the at-th allocation failing; gives how many it asked for. */
static long call(struct scene *s, const struct allocs_row *row, const struct sweep *sweep, long at, int *status)
{
        s->wait_ms = sweep->how == LEDGER_ONCE ? WAIT_MS : SOON_MS;
        if (row->inside) {
                s->fail_at = at;
                s->how     = sweep->how;
                *status    = row->call(s);
                sure(*status == 0, "%s: the task that calls it: %s", row->name, scaler_status_name(*status));
                *status = s->inside;
                return s->asked;
        }
        ledger_arm(at, sweep->how, sweep->every_thread);
        *status = row->call(s);
        return ledger_disarm();
}

/* What was refused is given right after; or, when it has ended for want of memory, ends so again. */
static void call_again(struct scene *s, const struct allocs_row *row, int first)
{
        s->wait_ms = WAIT_MS;
        if (first == SCALER_E_UNREACHABLE && s->admin_on)
                sure(scaler_client_wait_ready(s->admin, WAIT_MS) == 0, "%s: no link afterwards", row->name);
        const int status = row->inside ? s->again : row->call(s);
        const bool same  = (row->flags & ALLOCS_FINAL) && may(row, status);
        sure(status >= 0 || same, "%s: %s, and then again %s", row->name, scaler_status_name(first),
                      scaler_status_name(status));
}

static void check_status(const struct allocs_row *row, const struct sweep *sweep, bool failed, long at, int status)
{
        const bool late = status == SCALER_E_TIMEOUT && (row->flags & ALLOCS_WAITS) && sweep->how != LEDGER_ONCE;
        const bool fine = failed ? may(row, status) : status >= 0;
        sure(fine || late, "%s, allocation %ld: %s", row->name, at, scaler_status_name(status));
}

/* False: the call does not allocate so often. */
static bool round_of(const struct allocs_row *row, const struct sweep *sweep, long at)
{
        struct scene s      = { .kind = sweep->kind, .row = row };
        const long   blocks = ledger_blocks(), bytes = ledger_bytes();
        int          status;
        row->stage(&s);
        const long asked = call(&s, row, sweep, at, &status);
        check_status(row, sweep, asked >= at, at, status);
        if (row->flags & ALLOCS_NEVER)
                sure(asked == 0 || sweep->every_thread, "%s allocates %ld times", row->name, asked);
        if (status < 0)
                call_again(&s, row, status);
        scene_works(&s);
        scene_down(&s);
        sure(ledger_blocks() == blocks && ledger_bytes() == bytes, "%s, allocation %ld: %ld blocks are left",
                      row->name, at, ledger_blocks() - blocks);
        return asked >= at;
}

static void sweep_row(const struct allocs_row *row, const struct sweep *sweep)
{
        if (skipped(row, sweep))
                return;
        for (long at = 1; at <= ROUNDS_MAX; at++)
                if (!round_of(row, sweep, at))
                        return;
        sure((row->flags & ALLOCS_WAITS) != 0, "%s allocates without end", row->name);
}

/* Under sanitizers, which take their time, each sweep takes every third row, and which one depends on the sweep. */
static void sweep_all(const struct sweep *sweep)
{
        const char  *only  = getenv("ALLOCS_ONLY");
        const char  *pace  = getenv("SCALER_TEST_PACE");
        const size_t step  = pace && strcmp(pace, "slow") == 0 && !only ? 3 : 1;
        const size_t first = ((size_t)sweep->how + (size_t)sweep->kind) % step;
        for (size_t i = first; i < allocs_count; i += step)
                if (!only || strcmp(only, allocs_rows[i].name) == 0)
                        sweep_row(&allocs_rows[i], sweep);
}

START_TEST(each_allocation_of_a_call_fails_once)
{
        sweep_all(&(struct sweep){ .kind = ALLOCS_HOST_DRIVEN, .how = LEDGER_ONCE });
}
END_TEST

START_TEST(all_allocations_of_a_call_fail_from_one_on)
{
        sweep_all(&(struct sweep){ .kind = ALLOCS_HOST_DRIVEN, .how = LEDGER_FROM_THEN_ON });
}
END_TEST

START_TEST(an_allocation_of_any_thread_fails_during_a_call)
{
        sweep_all(&(struct sweep){ .kind = ALLOCS_THREADED, .how = LEDGER_ONCE, .every_thread = true });
}
END_TEST

START_TEST(malloc_fails_during_a_call_without_a_runtime)
{
        sweep_all(&(struct sweep){ .kind = ALLOCS_PRIVATE, .how = LEDGER_ONCE });
}
END_TEST

/* ---- the table against the header ---------------------------------------------------------------------------- */

static bool is_word(char c)
{
        return isalnum((unsigned char)c) || c == '_';
}

/* The name before the first '(' that follows SCALER_API at the beginning of a line. */
static int functions_of_header(char name[][NAME_MAX_HERE])
{
        static char text[1 << 18];
        FILE       *file = fopen(SCALER_HEADER, "r");
        ck_assert_msg(file != NULL, "%s cannot be read", SCALER_HEADER);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        int count = 0;
        for (const char *at = text; (at = strstr(at, "\nSCALER_API ")) != NULL; at++) {
                const char *end   = strchr(at, '(');
                const char *begin = end;
                ck_assert_ptr_nonnull(end);
                while (is_word(begin[-1]))
                        begin--;
                ck_assert_int_lt(count, FUNCTIONS_MAX);
                snprintf(name[count++], NAME_MAX_HERE, "%.*s", (int)(end - begin), begin);
        }
        return count;
}

static bool has_row(const char *function)
{
        for (size_t i = 0; i < allocs_count; i++)
                if (strcmp(allocs_rows[i].name, function) == 0)
                        return true;
        return false;
}

START_TEST(every_function_of_the_header_is_called)
{
        static char name[FUNCTIONS_MAX][NAME_MAX_HERE];
        const int   count = functions_of_header(name);
        ck_assert_int_gt(count, 80);
        for (int i = 0; i < count; i++)
                ck_assert_msg(has_row(name[i]), "%s has no row in allocs_calls.c", name[i]);
        for (size_t r = 0; r < allocs_count; r++) {
                bool known = false;
                for (int i = 0; i < count && !known; i++)
                        known = strcmp(name[i], allocs_rows[r].name) == 0;
                ck_assert_msg(known, "%s is not in scaler.h", allocs_rows[r].name);
        }
}
END_TEST

int main(void)
{
        TCase *t = tcase_create("allocs");
        tcase_set_timeout(t, 600);
        tcase_add_test(t, every_function_of_the_header_is_called);
        tcase_add_test(t, each_allocation_of_a_call_fails_once);
        tcase_add_test(t, all_allocations_of_a_call_fail_from_one_on);
        tcase_add_test(t, an_allocation_of_any_thread_fails_during_a_call);
        tcase_add_test(t, malloc_fails_during_a_call_without_a_runtime);
        return run_suite("allocs", t);
}
