/* better.h -- numbers of a machine made better by a factor: bandwidths larger, overheads smaller.
 */
#ifndef BETTER_H
#define BETTER_H
#include "spec.h"
#include "machine/tables.h"

/* Calls `each` for every number of `spec` that `factor` makes better, in the order of keys.def. */
void better_each(const struct spec *spec, double factor,
                 void (*each)(void *arg, const kb_better *number), void *arg);

/*
 * Makes `n` of them better, also where some cubes have them for themselves: each value once. False
 * after messages: one is unknown, cannot be better, or leaves its range.
 */
bool better_make(struct spec *spec, const char *const *names, size_t n, double factor);

#endif
