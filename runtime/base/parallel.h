/* parallel.h -- work in numbered blocks: threads or processes do them, one thread takes the results
 * in order. */
#ifndef PARALLEL_H
#define PARALLEL_H
#include "base/packed.h"
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
    /* Is the result of block `i` there already? Then it is given, and not done. Called on any
     * thread, one at a time. May be NULL. */
    bool (*have)(void *arg, uint64_t i);
    /* Do the blocks that are done and not given hold so much that no other may be begun? Called as
     * have() is. May be NULL. */
    bool (*full)(void *arg);
    /*
     * NULL, or all three: blocks are done by so many processes in place of threads, each a copy of
     * this one as the run began, so that one that dies takes no other with it. enter() is called
     * in a new one; pack() makes bytes of the result of block `i` there, of which unpack() makes
     * the same result here, where work() would have left it.
     */
    void (*enter)(void *arg);
    void (*pack)(void *arg, uint64_t i, struct packed *to);
    void (*unpack)(void *arg, uint64_t i, struct packed *from);
    /* In place of unpack(): the process that did block `i` has died, with the status of waitpid(),
     * after it said `said` on its standard error. */
    void (*died)(void *arg, uint64_t i, int status, const char *said);
    void *arg;
};

/*
 * Does and gives blocks until all are given, give() returns false, or stop() returns true. After
 * stop() the blocks that are done without a gap are still given, and after them the first that was
 * not done, when its work() has returned. A work() that goes on for PARALLEL_LEAVE_MS after stop()
 * is not waited for: PARALLEL_LEFT. Its thread uses `arg` and what it leads to until the process
 * ends, so the caller frees none of it. Processes are killed, and what they did is lost.
 */
enum parallel_end {
    PARALLEL_NO_THREAD, /* none could be started, nor a process, and nothing was done */
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
