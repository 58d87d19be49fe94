/*
 * parallel.c -- work cut into numbered blocks: threads or processes do them, one thread takes them
 * in order.
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
 * With pack() processes do the blocks (workers.c): the caller's thread hands them out from the same
 * `next`, in the same window, and takes what comes back.
 *
 * The caller does no work itself: it waits for blocks, calls wait() ten times a second (for the
 * progress line) and looks at stop(). Threads block the signals that end programs, so that these
 * arrive at the caller. After stop() the threads finish their blocks, and what is finished without
 * a gap is still given. A block that is not finished soon after stop() is left to its thread: a
 * Ctrl-C ends a run within a second, whatever the block computes. The state of the run then belongs
 * to that thread, and is not freed.
 */
#include "base/workers.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    WAIT_MS = 100, /* between two calls of wait() */
    STACK_BYTES = 8 << 20,
};

_Thread_local void *parallel_owner;

/* `lock` guards all but `b` and `owner`; `given` changes on the thread of the caller alone. */
struct parallel_run {
    struct parallel b;
    void *owner; /* of the caller */
    pthread_mutex_t lock;
    pthread_cond_t done_one, given_one;
    uint64_t next;          /* to be begun */
    uint64_t given;         /* so many */
    bool *done;             /* owned; of block i at i % window */
    struct thread *threads; /* owned */
    unsigned n_threads, n_working;
    struct workers *workers; /* owned: processes in place of threads; NULL: none */
    bool ended;              /* nothing is begun any more */
};

struct thread {
    struct parallel_run *run;
    unsigned number;
    pthread_t thread;
};

/* May a block be begun now? The results that are there already count as done. */
static bool may_begin(struct parallel_run *r)
{
    while (r->next < r->b.n && r->next - r->given < r->b.window && r->b.have &&
           r->b.have(r->b.arg, r->next)) {
        r->done[r->next++ % r->b.window] = true;
        pthread_cond_signal(&r->done_one);
    }
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
    const struct thread *t = arg;
    struct parallel_run *r = t->run;
    uint64_t i;

    parallel_owner = r->owner;
    pthread_mutex_lock(&r->lock);
    while (begin(r, &i)) {
        pthread_mutex_unlock(&r->lock);
        r->b.work(r->b.arg, t->number, i);
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
static void start_threads(struct parallel_run *r)
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
    while (r->n_threads < r->b.threads && r->n_threads < r->b.n) {
        struct thread *t = &r->threads[r->n_threads];

        *t = (struct thread){.run = r, .number = r->n_threads};
        if (pthread_create(&t->thread, &large, work, t) != 0)
            break;
        r->n_threads++;
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

/* For workers.c, on the caller's thread, which is the only one then. */
static bool take(void *run, uint64_t *i)
{
    struct parallel_run *r = run;

    if (r->ended || !may_begin(r))
        return false;
    *i = r->next++;
    return true;
}

static void put(void *run, uint64_t i)
{
    struct parallel_run *r = run;

    r->done[i % r->b.window] = true;
}

/* Until something was done, or WAIT_MS have passed; the lock is held. */
static void wait_for_any(struct parallel_run *r)
{
    if (r->workers) {
        workers_hand_out(r->workers, take, r);
        bool due = r->done[r->given % r->b.window];
        r->ended = !workers_receive(r->workers, put, r, due ? 0 : WAIT_MS);
    } else {
        wait_for_done(r, WAIT_MS);
    }
    pthread_mutex_unlock(&r->lock);
    if (r->b.wait)
        r->b.wait(r->b.arg);
    pthread_mutex_lock(&r->lock);
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
        wait_for_any(r);
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
    for (unsigned i = 0; i < r->n_threads; i++)
        pthread_join(r->threads[i].thread, NULL);
    pthread_mutex_lock(&r->lock);
    return true;
}

/* False: there is neither a thread nor a process. */
static bool start(struct parallel_run *r)
{
    if (r->b.pack)
        return (r->workers = workers_begin(&r->b)) != NULL;
    start_threads(r);
    r->n_working = r->n_threads;
    return r->n_threads > 0;
}

static enum parallel_end run(struct parallel_run *r)
{
    pthread_mutex_lock(&r->lock);
    bool started = start(r), more = started && give_all(r);
    r->ended = true;
    pthread_cond_broadcast(&r->given_one);
    bool joined = join(r);
    if (r->workers)
        workers_end(r->workers);
    if (more) /* interrupted: what was in work is done now */
        give_all(r);
    pthread_mutex_unlock(&r->lock);
    return !joined ? PARALLEL_LEFT : started ? PARALLEL_ENDED : PARALLEL_NO_THREAD;
}

static void release(struct parallel_run *r)
{
    if (!r)
        return;
    free(r->threads);
    free(r->done);
    free(r);
}

enum parallel_end parallel_run(const struct parallel *b)
{
    pthread_condattr_t monotonic;
    enum parallel_end end;

    struct parallel_run *r = calloc(1, sizeof *r);
    if (r)
        *r = (struct parallel_run){.b = *b,
                                   .owner = parallel_owner,
                                   .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .given_one = PTHREAD_COND_INITIALIZER,
                                   .done = calloc(b->window, sizeof *r->done),
                                   .threads = calloc(b->threads, sizeof *r->threads)};
    if (!r || !r->done || !r->threads) {
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
    cpu_set_t set;
    long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (unsigned)n : 1;
}
