/* parallel.h -- work in numbered blocks: several threads do them, one takes the results in order.
 */
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
    /* NULL, or both: the result of block `i`, which work() has done in this process, as bytes; and
     * the same result from bytes of another process, put where work() would have left it. */
    void (*pack)(void *arg, uint64_t i, struct packed *to);
    void (*unpack)(void *arg, uint64_t i, struct packed *from);
    void *arg;
};

/*
 * Other processes that do blocks, too. `poll` is called every millisecond on the caller's thread,
 * between begin and end; it hands blocks out by parallel_take() and brings them back by
 * parallel_put(), after unpack().
 */
struct parallel_run;
struct parallel_ranks {
    unsigned n; /* processes, this one included */
    void (*begin)(const struct parallel *b);
    void (*poll)(const struct parallel *b, struct parallel_run *r);
    void (*end)(const struct parallel *b); /* nothing is handed out any more */
    /* This process ends at once, and has said why: the one that hands out hears it first. The exit
     * code of the whole. */
    int (*leave)(int code);
    /* In a process that does what another hands out: all of the run. NULL in that other. */
    enum parallel_end (*serve)(const struct parallel *b);
};
extern const struct parallel_ranks *parallel_ranks; /* NULL: there is this process only */

/* A block for another process; false: none may be begun now. */
bool parallel_take(struct parallel_run *r, uint64_t *i);
void parallel_put(struct parallel_run *r, uint64_t i);

/* Is this a process that does blocks of another, and prints nothing? */
static inline bool parallel_serves(void)
{
    return parallel_ranks && parallel_ranks->serve;
}

/* To be called before exit(), with what that is given by this. */
static inline int parallel_leave(int code)
{
    return parallel_ranks ? parallel_ranks->leave(code) : code;
}

/* The window of a run: `n` for each process. */
static inline unsigned parallel_window(unsigned n)
{
    return parallel_ranks ? n * parallel_ranks->n : n;
}

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
