/* scatter.h -- an order that soon has some of everywhere, for runs that may not reach the end. */
#ifndef KB_CLI_SCATTER_H
#define KB_CLI_SCATTER_H
#include <stdint.h>

/*
 * The step of a walk through `n` things that comes to each of them once: by about the golden ratio
 * of `n`, and without a common divisor with it. Of 10 it is 3 after 6, 5 and 4: 0 3 6 9 2 5 8 1
 * 4 7. 1 of 0.
 */
uint64_t scatter_stride(uint64_t n);

#endif
