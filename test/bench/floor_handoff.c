/*
 * The floor under a hand-over between threads: there and back, both asleep while it is the other's turn.
 *
 *     floor_handoff [N]      by mutex and condition variable, then by futex
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench_tools.h"

struct desk {
        long             rounds;
        pthread_mutex_t  lock;
        pthread_cond_t   asked, answered;
        long             question, answer; /* rounds asked and answered so far */
        _Atomic uint32_t asked_word, answered_word; /* the same, for futexes */
};

static void *answer_by_cond(void *arg)
{
        struct desk *desk = arg;
        pthread_mutex_lock(&desk->lock);
        while (desk->answer < desk->rounds) {
                while (desk->question == desk->answer)
                        pthread_cond_wait(&desk->asked, &desk->lock);
                desk->answer++;
                pthread_cond_signal(&desk->answered);
        }
        pthread_mutex_unlock(&desk->lock);
        return NULL;
}

static void ask_by_cond(struct desk *desk)
{
        pthread_mutex_lock(&desk->lock);
        desk->question++;
        pthread_cond_signal(&desk->asked);
        while (desk->answer < desk->question)
                pthread_cond_wait(&desk->answered, &desk->lock);
        pthread_mutex_unlock(&desk->lock);
}

static void bump(_Atomic uint32_t *word)
{
        atomic_fetch_add(word, 1);
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void wait_past(_Atomic uint32_t *word, uint32_t seen)
{
        while (atomic_load(word) == seen)
                syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void *answer_by_futex(void *arg)
{
        struct desk *desk = arg;
        for (uint32_t round = 0; round < (uint32_t)desk->rounds; round++) {
                wait_past(&desk->asked_word, round);
                bump(&desk->answered_word);
        }
        return NULL;
}

static void ask_by_futex(struct desk *desk)
{
        const uint32_t seen = atomic_load(&desk->answered_word);
        bump(&desk->asked_word);
        wait_past(&desk->answered_word, seen);
}

static void measure(struct desk *desk, void *(*answer)(void *), void (*ask)(struct desk *), uint64_t *took_ns)
{
        pthread_t thread;
        if (pthread_create(&thread, NULL, answer, desk) != 0)
                bench_die("pthread_create");
        for (long i = 0; i < desk->rounds; i++) {
                const uint64_t begin = bench_now_ns();
                ask(desk);
                took_ns[i] = bench_now_ns() - begin;
        }
        pthread_join(thread, NULL);
        bench_sort(took_ns, (size_t)desk->rounds);
}

int main(int argc, char **argv)
{
        const long  rounds = bench_number(argc, argv, 1, 50000, 1);
        struct desk desk   = { .rounds   = rounds,
                               .lock     = PTHREAD_MUTEX_INITIALIZER,
                               .asked    = PTHREAD_COND_INITIALIZER,
                               .answered = PTHREAD_COND_INITIALIZER };
        uint64_t   *took_ns = calloc((size_t)rounds, sizeof *took_ns);
        if (!took_ns)
                bench_die("calloc");
        const size_t count = (size_t)rounds;
        measure(&desk, answer_by_cond, ask_by_cond, took_ns);
        printf("floor_handoff n=%ld p50_us=%.2f p99_us=%.2f", rounds, bench_percentile(took_ns, count, 50),
               bench_percentile(took_ns, count, 99));
        measure(&desk, answer_by_futex, ask_by_futex, took_ns);
        printf(" futex_p50_us=%.2f futex_p99_us=%.2f\n", bench_percentile(took_ns, count, 50),
               bench_percentile(took_ns, count, 99));
        free(took_ns);
        return 0;
}
