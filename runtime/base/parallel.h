/* parallel.h -- work cut into numbered blocks: several threads do them, one takes them in order. */
#ifndef PARALLEL_H
#define PARALLEL_H
#include <stdbool.h>
#include <stdint.h>

struct parallel {
    uint64_t n;       /* blocks, from 0 */
    unsigned threads; /* at least 1 */
    uint64_t window;  /* no block is begun so far ahead of the one to be given; at least 1 */
    /* On any thread, `thread` being its number: does block `i`. */
    void (*work)(void *arg, unsigned thread, uint64_t i);
    /* On the caller's thread, in order, once block `i` is done. False: no more. */
    bool (*give)(void *arg, uint64_t i);
    /* On the caller's thread, a few times a second. May be NULL. */
    void (*wait)(void *arg);
    /* On the caller's thread: true ends the run early. May be NULL. */
    bool (*stop)(void);
    void *arg;
};

/*
 * Does and gives blocks until all are given, give() says no more, or stop() is true, in which case
 * those that are done in a row are given still, and the first that is not is asked for with give()
 * once its work() has come back. False if no thread could be started: nothing was done.
 */
bool parallel_run(const struct parallel *b);

/* As many threads as this process may run at once. */
unsigned parallel_threads(void);

#endif
