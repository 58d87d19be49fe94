/*
 * parallel.c -- work cut into numbered blocks: several threads do them, one takes them in order.
 *
 * The caller has n blocks. Any thread may do a block (work()); the caller's own thread takes the
 * finished blocks in the order 0, 1, 2, ... (give()). So what give() sees does not depend on the
 * number of threads or on their speed. That is how `sweep` prints rows in order, and how `load`
 * adds up simulations so that sums of doubles come out the same with any -j.
 *
 *     next      the first block that no thread has begun
 *     given     the first block that was not given
 *     done[]    of the blocks in between: is it finished?
 *
 *     given <= next <= given + window
 *
 * A thread that would go beyond the window, or finds that full() is true, waits (given_one). So a
 * slow block 0 does not let the others run ahead without bound, and block i may use the resources
 * of slot i % window: they are free once block i - window was given.
 *
 * Example: 5 blocks, 2 threads, a window of 2. Thread A does block 0, which is slow; B does block
 * 1, then waits: block 2 would be 2 ahead of block 0. A finishes; the caller gives 0 and 1, in this
 * order, which lets A and B begin 2 and 3.
 *
 * One lock guards all of it. It is taken twice per block, and blocks last milliseconds, so that it
 * is never busy; a lock-free queue would gain nothing. work(), give() and wait() run without it.
 *
 * With parallel_ranks other processes do blocks, too: they are handed out from the same `next`, in
 * the same window, and look like those of one more thread.
 *
 * The caller does no work itself: it waits for blocks, calls wait() ten times a second (for the
 * progress line) and looks at stop(). Threads block the signals that end programs, so that these
 * arrive at the caller. After stop() the threads finish their blocks, and what is finished without
 * a gap is still given. A block that is not finished soon after stop() is left to its thread: a
 * Ctrl-C ends a run within a second, whatever the block computes. The state of the run then belongs
 * to that thread, and is not freed.
 */
#include "base/parallel.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    WAIT_MS = 100, /* between two calls of wait() */
    POLL_MS = 1,   /* between two looks at other processes */
    STACK_BYTES = 8 << 20,
};

_Thread_local void *parallel_owner;

const struct parallel_ranks *parallel_ranks;

/* `lock` guards all but `b` and `owner`; `given` changes on the thread of the caller alone. */
struct parallel_run {
    struct parallel b;
    void *owner; /* of the caller */
    pthread_mutex_t lock;
    pthread_cond_t done_one, given_one;
    uint64_t next;          /* to be begun */
    uint64_t given;         /* so many */
    bool *done;             /* owned; of block i at i % window */
    struct worker *workers; /* owned */
    unsigned n_workers, n_working;
    bool ended;                         /* nothing is begun any more */
    const struct parallel_ranks *ranks; /* NULL: no other process does any */
    uint64_t looked;                    /* at them, so many times */
};

struct worker {
    struct parallel_run *run;
    unsigned number;
    pthread_t thread;
};

/* May a block be begun now? The results that are there already count as done. */
static bool may_begin(struct parallel_run *r)
{
    while (r->next < r->b.n && r->next - r->given < r->b.window && r->b.have &&
           r->b.have(r->b.arg, r->next))
        r->done[r->next++ % r->b.window] = true;
    if (r->next > r->given && r->b.full && r->b.full(r->b.arg))
        return false;
    return r->next < r->b.n && r->next - r->given < r->b.window;
}

/* The next block to be done; false if there is none. */
static bool begin(struct parallel_run *r, uint64_t *i)
{
    while (!r->ended && !may_begin(r) && r->next < r->b.n)
        pthread_cond_wait(&r->given_one, &r->lock);
    if (r->ended || r->next >= r->b.n)
        return false;
    *i = r->next++;
    return true;
}

static void *work(void *arg)
{
    const struct worker *w = arg;
    struct parallel_run *r = w->run;
    uint64_t i;

    parallel_owner = r->owner;
    pthread_mutex_lock(&r->lock);
    while (begin(r, &i)) {
        pthread_mutex_unlock(&r->lock);
        r->b.work(r->b.arg, w->number, i);
        pthread_mutex_lock(&r->lock);
        r->done[i % r->b.window] = true;
        pthread_cond_signal(&r->done_one);
    }
    r->n_working--;
    pthread_cond_signal(&r->done_one);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* Signals are the main thread's: only it waits in a way that they interrupt. Stacks do not depend
 * on `ulimit -s`. */
static void start(struct parallel_run *r)
{
    sigset_t ours, before;
    pthread_attr_t large;

    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGALRM);
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, STACK_BYTES);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    while (r->n_workers < r->b.threads && r->n_workers < r->b.n) {
        struct worker *w = &r->workers[r->n_workers];

        *w = (struct worker){.run = r, .number = r->n_workers};
        if (pthread_create(&w->thread, &large, work, w) != 0)
            break;
        r->n_workers++;
    }
    pthread_attr_destroy(&large);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wait_for_done(struct parallel_run *r, int ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&r->done_one, &r->lock, &until);
}

bool parallel_take(struct parallel_run *r, uint64_t *i)
{
    bool any;

    pthread_mutex_lock(&r->lock);
    any = !r->ended && may_begin(r);
    if (any)
        *i = r->next++;
    pthread_mutex_unlock(&r->lock);
    return any;
}

void parallel_put(struct parallel_run *r, uint64_t i)
{
    pthread_mutex_lock(&r->lock);
    r->done[i % r->b.window] = true;
    pthread_mutex_unlock(&r->lock);
}

/* What is between two waits: other processes each time, wait() ten times a second. */
static void look_around(struct parallel_run *r)
{
    if (r->ranks)
        r->ranks->poll(&r->b, r);
    if (r->b.wait && (!r->ranks || r->looked++ % (WAIT_MS / POLL_MS) == 0))
        r->b.wait(r->b.arg);
}

/* Gives the block that is due. False if give() wants no more. */
static bool give_one(struct parallel_run *r)
{
    pthread_mutex_unlock(&r->lock);
    bool more = r->b.give(r->b.arg, r->given);
    pthread_mutex_lock(&r->lock);
    r->done[r->given % r->b.window] = false;
    r->given++;
    pthread_cond_broadcast(&r->given_one);
    return more;
}

/* Gives blocks as they come. False if give() wants no more. */
static bool give_all(struct parallel_run *r)
{
    while (r->given < r->b.n) {
        if (r->done[r->given % r->b.window]) {
            if (!give_one(r))
                return false;
            continue;
        }
        if ((r->b.stop && r->b.stop()) || r->ended)
            return true;
        wait_for_done(r, r->ranks ? POLL_MS : WAIT_MS);
        pthread_mutex_unlock(&r->lock);
        look_around(r);
        pthread_mutex_lock(&r->lock);
    }
    return true;
}

/* Waits for the threads; false: one is still in its work() long after stop(). */
static bool join(struct parallel_run *r)
{
    bool stopped = r->b.stop && r->b.stop();

    for (int ms = 0; stopped && r->n_working > 0 && ms < PARALLEL_LEAVE_MS; ms += WAIT_MS)
        wait_for_done(r, WAIT_MS);
    if (stopped && r->n_working > 0)
        return false;
    pthread_mutex_unlock(&r->lock);
    for (unsigned i = 0; i < r->n_workers; i++)
        pthread_join(r->workers[i].thread, NULL);
    pthread_mutex_lock(&r->lock);
    return true;
}

static enum parallel_end run(struct parallel_run *r)
{
    if (r->ranks)
        r->ranks->begin(&r->b);
    pthread_mutex_lock(&r->lock);
    start(r);
    r->n_working = r->n_workers;
    bool more = r->n_workers > 0 && give_all(r);
    r->ended = true;
    pthread_cond_broadcast(&r->given_one);
    if (r->ranks)
        r->ranks->end(&r->b);
    bool joined = join(r);
    if (more) /* interrupted: what was in work is done now */
        give_all(r);
    pthread_mutex_unlock(&r->lock);
    return !joined ? PARALLEL_LEFT : r->n_workers > 0 ? PARALLEL_ENDED : PARALLEL_NO_THREAD;
}

static void release(struct parallel_run *r)
{
    if (!r)
        return;
    free(r->workers);
    free(r->done);
    free(r);
}

enum parallel_end parallel_run(const struct parallel *b)
{
    pthread_condattr_t monotonic;
    enum parallel_end end;

    if (parallel_serves() && b->pack)
        return parallel_ranks->serve(b);
    struct parallel_run *r = calloc(1, sizeof *r);
    if (r)
        *r = (struct parallel_run){.b = *b,
                                   .owner = parallel_owner,
                                   .ranks = b->pack ? parallel_ranks : NULL,
                                   .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .given_one = PTHREAD_COND_INITIALIZER,
                                   .done = calloc(b->window, sizeof *r->done),
                                   .workers = calloc(b->threads, sizeof *r->workers)};
    if (!r || !r->done || !r->workers) {
        release(r);
        return PARALLEL_NO_THREAD;
    }
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->done_one, &monotonic);
    pthread_condattr_destroy(&monotonic);
    end = b->n == 0 ? PARALLEL_ENDED : run(r);
    if (end != PARALLEL_LEFT) {
        pthread_cond_destroy(&r->done_one);
        release(r);
    }
    return end;
}

unsigned parallel_threads(void)
{
    if (parallel_ranks) /* one for each process: they are as many as there are cores */
        return 1;
    cpu_set_t set;
    long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (unsigned)n : 1;
}
