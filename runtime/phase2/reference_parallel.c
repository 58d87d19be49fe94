/* reference_parallel.c -- work of references in several threads: each takes the next number. */
#include "phase2/reference_parallel.h"
#include "kernbench.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

struct shared {
    void (*work)(void *arg, int64_t i);
    void *arg;
    int64_t n;
    _Atomic int64_t next; /* the first number that no thread has taken */
};

static void *take_all(void *arg)
{
    struct shared *s = arg;
    int64_t i;

    while ((i = atomic_fetch_add(&s->next, 1)) < s->n)
        s->work(s->arg, i);
    return NULL;
}

/* The caller's thread is one of them, and does all the work if the system refuses others. Signals
 * are for the caller's threads alone. */
void reference_parallel(int64_t n, unsigned threads, void (*work)(void *arg, int64_t i), void *arg)
{
    struct shared s = {.work = work, .arg = arg, .n = n};
    pthread_t others[THREADS_MAX];
    unsigned made = 1;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (made < threads && made < n && made < THREADS_MAX &&
           pthread_create(&others[made], NULL, take_all, &s) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    take_all(&s);
    while (made > 1)
        pthread_join(others[--made], NULL);
}

unsigned reference_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (unsigned)n : 1;
}

void kb_reference_parallel(int64_t n, void (*work)(void *arg, int64_t i), void *arg)
{
    reference_parallel(n, reference_processors(), work, arg);
}
