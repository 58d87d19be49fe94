/* bank_alone.h -- what a transaction takes of a slice with banks when it is alone. */
#ifndef BANK_ALONE_H
#define BANK_ALONE_H
#include "machine/bank_map.h"

struct bank_segment;
struct cost_mask;

enum { BANK_ALONE_QUEUE = 128 }; /* segments: a queue up to this needs no memory */

struct bank_alone {
    int64_t fs; /* from its arrival at closed banks to its end; -1: there was no memory */
    int64_t
        row_fs; /* of the segment that ends last: from when it is its bank's until it is ready */
};

/*
 * Without refreshes; overhead and latency come on top. `drain_fs`: of its route. `room`: for as
 * many segments as the queue takes; NULL: it makes its own, which may fail with a longer queue than
 * above.
 */
struct bank_alone bank_alone(const struct cost_mask *m, const struct bank_row *row, bool writes,
                             struct bank_range range, int64_t drain_fs, struct bank_segment *room);

#endif
