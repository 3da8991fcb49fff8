/*
 * Why a task is where it is, and why a worker gets nothing: codes with a word for programs each.  Numbers
 * are the wire's and for ever.  What people read is a sentence that is made with the numbers at hand.
 */
#ifndef SC_WHY_H
#define SC_WHY_H

/* X(name, number, word) */
#define SC_WHY_LIST(X) \
        X(PLACING, 1, "placing")             /* ready, and somebody takes it as soon as its turn comes */ \
        X(NO_WORKER, 2, "no-worker")         /* there is none at all */ \
        X(NO_FUNCTION, 3, "no-function")     /* no worker has it */ \
        X(NO_OFFER, 4, "no-offer")           /* it needs a name that no worker offers */ \
        X(TOO_MUCH, 5, "too-much")           /* it needs more of a name than any worker offers */ \
        X(NO_MATCH, 6, "no-match")           /* each need is offered, but no worker offers them all */ \
        X(ALL_FULL, 7, "all-full")           /* workers fit, and none of them has room */ \
        X(WITHHELD, 8, "withheld")           /* it could only wait behind its like, and lets others go first */ \
        X(CLIENT_CAP, 9, "client-cap")       /* its client has as many runs as it may */ \
        X(TENANT_CAP, 10, "tenant-cap")      /* its tenant has */ \
        X(LAST_CHANCE, 11, "last-chance")    /* it is to be alone on a worker, and none is empty */ \
        X(MEMORY, 12, "memory")              /* the scheduler is short of it */ \
        X(CLAIM, 13, "claim")                /* workers may still say that they have it */ \
        X(NOT_BEFORE, 14, "not-before")      /* it is not to start before its time */ \
        X(BACKOFF, 15, "backoff")            /* it failed and is tried again later */ \
        X(DEPENDENCIES, 16, "dependencies")  /* it waits for other tasks */ \
        X(BROKEN, 17, "broken")              /* one of those did not succeed, and it is about to end */ \
        X(GRAPH, 18, "graph")                /* a graph whose nodes have not all ended */ \
        X(AT_WORKER, 19, "at-worker")        /* a worker has it and has not said that it runs */ \
        X(RUNNING, 20, "running")            /* a worker has said that it runs */ \
        X(RECALLING, 21, "recalling")        /* it is asked back from a worker */ \
        X(CANCELLING, 22, "cancelling")      /* a worker is to stop it */ \
        X(OVERDUE, 23, "overdue")            /* a worker is to stop it, its deadline is past */ \
        X(WORKER_GONE, 24, "worker-gone")    /* its worker is lost, and it is about to be dealt with */ \
        X(ORPHAN, 25, "orphan")              /* a worker has it, and its client has not come yet */ \
        X(UNCONFIRMED, 26, "unconfirmed")    /* it has ended, and the client has not confirmed that it knows */ \
        X(CLIENT_AWAY, 27, "client-away")    /* it has ended, and the client is not here */ \
        X(KEPT, 28, "kept")                  /* it has ended, and others will read its result */ \
        X(STOPPING, 29, "stopping")          /* the scheduler is about to stop */ \
        X(NESTED, 30, "nested")              /* it waits for tasks that it has submitted, without a slot */ \
        X(LEAVING, 31, "leaving")            /* its client has left for good, and it is about to end */ \
        X(JOINED, 34, "joined")              /* another task with its key does the work for both */

/* What a client knows of tasks that the scheduler does not know, or not any more; never on the wire. */
#define SC_WHY_CLIENT_LIST(X) \
        X(AT_CLIENT, 32, "at-client")        /* it has not been sent yet */ \
        X(FORGOTTEN, 33, "forgotten")        /* it has ended, and the client has its result */

enum sc_cause {
#define SC_WHY_ENUM(name, number, word) SC_WHY_##name = (number),
        SC_WHY_LIST(SC_WHY_ENUM)
        SC_WHY_CLIENT_LIST(SC_WHY_ENUM)
#undef SC_WHY_ENUM
        SC_WHYS = 64 /* above all of them */
};

/* X(name, number, word) */
#define SC_IDLE_LIST(X) \
        X(PLACING, 1, "placing")             /* it will be given something as soon as it is looked at */ \
        X(JOINING, 2, "joining")             /* what it brought with it is being gone through */ \
        X(FULL, 3, "full")                   /* it has as many runs as it takes */ \
        X(STUCK, 4, "stuck-slots")           /* it takes none at all */ \
        X(RESERVED, 5, "reserved")           /* it is being emptied for somebody's last chance */ \
        X(ALONE, 6, "alone")                 /* it has a last chance, which nothing joins */ \
        X(NOTHING_READY, 7, "nothing-ready") /* nothing waits */ \
        X(NOTHING_FITS, 8, "nothing-fits")   /* something waits, and nothing of it fits */ \
        X(CAPPED, 9, "capped")               /* what fits is over somebody's limit */ \
        X(LAST_CHANCES, 10, "last-chances")  /* what fits is to be alone on an empty worker */ \
        X(MEMORY, 11, "memory")              /* the scheduler is short of it */ \
        X(WITHHELD, 12, "withheld")          /* what fits could only wait, and lets others go first */ \
        X(DRAINING, 13, "draining")          /* it is leaving */ \
        X(STOPPING, 14, "stopping")          /* the scheduler is about to stop */

enum sc_idle {
#define SC_IDLE_ENUM(name, number, word) SC_IDLE_##name = (number),
        SC_IDLE_LIST(SC_IDLE_ENUM)
#undef SC_IDLE_ENUM
        SC_IDLES = 32
};

const char *sc_why_name(int why);   /* "all-full"; "?" for a stranger */
const char *sc_idle_name(int idle); /* "nothing-ready" */

#endif
