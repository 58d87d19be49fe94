/* reference_parallel.h -- work of references in several threads. */
#ifndef REFERENCE_PARALLEL_H
#define REFERENCE_PARALLEL_H
#include <stdint.h>

/* Calls work(arg, i) for each i in 0..n-1, in at most `threads` threads and in any order. */
void reference_parallel(int64_t n, unsigned threads, void (*work)(void *arg, int64_t i), void *arg);

unsigned reference_processors(void);

#endif
