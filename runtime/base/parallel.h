/* parallel.h -- work in numbered blocks: several threads do them, one takes the results in order.
 */
#ifndef PARALLEL_H
#define PARALLEL_H
#include <stdbool.h>
#include <stdint.h>

struct parallel {
    uint64_t n;       /* blocks, from 0 */
    unsigned threads; /* at least 1 */
    uint64_t window;  /* blocks that may be begun ahead of the next to be given; at least 1 */
    /* Does block `i`, on the thread of number `thread`. */
    void (*work)(void *arg, unsigned thread, uint64_t i);
    /* Takes block `i`, which is done, in order, on the caller's thread. False: no more. */
    bool (*give)(void *arg, uint64_t i);
    /* Called a few times a second on the caller's thread. May be NULL. */
    void (*wait)(void *arg);
    /* Called on the caller's thread; true ends the run early. May be NULL. */
    bool (*stop)(void);
    void *arg;
};

/*
 * Does and gives blocks until all are given, give() returns false, or stop() returns true. After
 * stop() the blocks that are done without a gap are still given, and after them the first that was
 * not done, when its work() has returned. A work() that goes on for PARALLEL_LEAVE_MS after stop()
 * is not waited for: PARALLEL_LEFT. Its thread uses `arg` and what it leads to until the process
 * ends, so the caller frees none of it.
 */
enum parallel_end {
    PARALLEL_NO_THREAD, /* none could be started, and nothing was done */
    PARALLEL_ENDED,
    PARALLEL_LEFT,
};
enum { PARALLEL_LEAVE_MS = 300 };
enum parallel_end parallel_run(const struct parallel *b);

/*
 * What the calling thread works for; NULL: nothing in particular. The threads of parallel_run()
 * have that of its caller.
 */
extern _Thread_local void *parallel_owner;

/* The number of threads that this process may run at the same time. */
unsigned parallel_threads(void);

#endif
