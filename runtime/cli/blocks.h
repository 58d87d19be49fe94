/* blocks.h -- work cut into numbered blocks: several threads do them, one takes them in order. */
#ifndef BLOCKS_H
#define BLOCKS_H
#include <stdbool.h>
#include <stdint.h>

struct blocks {
    uint64_t n;       /* blocks, from 0 */
    unsigned threads; /* at least 1 */
    uint64_t window;  /* no block is begun so far ahead of the one to be given; at least 1 */
    /* On any thread, `thread` being its number: does block `i`. */
    void (*work)(void *arg, unsigned thread, uint64_t i);
    /* On the caller's thread, in order, once block `i` is done. False: no more. */
    bool (*give)(void *arg, uint64_t i);
    /* On the caller's thread, a few times a second. May be NULL. */
    void (*wait)(void *arg);
    void *arg;
};

/*
 * Does and gives blocks until all are given, give() says no more, or stop_asked(), in which case
 * those that are done in a row are given still, and the first that is not is asked for with give()
 * once its work() has come back. False if no thread could be started: nothing was done.
 */
bool blocks_run(const struct blocks *b);

/* As many threads as this process may run at once. */
unsigned blocks_threads(void);

#endif
