/* bank_alone.h -- what a transaction takes of a slice with banks when it is alone. */
#ifndef BANK_ALONE_H
#define BANK_ALONE_H
#include "machine/bank_map.h"

struct cost_mask;

/*
 * From its arrival at closed banks to its end, without a refresh; overhead and latency come on top.
 * `drain_fs`: of its route. -1: there was no memory.
 */
int64_t bank_alone_fs(const struct cost_mask *m, const struct bank_row *row, bool writes,
                      struct bank_range range, int64_t drain_fs);

#endif
