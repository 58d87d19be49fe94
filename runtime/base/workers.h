/* workers.h -- processes that do the blocks of a parallel run, for parallel.c. */
#ifndef WORKERS_H
#define WORKERS_H
#include "base/parallel.h"

struct workers;

/* The exit status of one that cannot hand over a result, with a message: as of a failed command. */
enum { WORKER_FAILED = 5 };

/* Starts one for each thread that `b` asks for; NULL: none could be. */
struct workers *workers_begin(const struct parallel *b);

/* Hands out blocks that `take` has to those that have room. */
void workers_hand_out(struct workers *w, bool (*take)(void *run, uint64_t *i), void *run);

/*
 * Waits `ms` at most for results: each is where unpack() or died() has put it when `put` is called.
 * False: no worker is left, and none can be started.
 */
bool workers_receive(struct workers *w, void (*put)(void *run, uint64_t i), void *run, int ms);

/* Ends them; what they have in work is lost. */
void workers_end(struct workers *w);

#endif
