/* completed.h -- the rows of a live run that have completed, until they are asked for. */
#ifndef COMPLETED_H
#define COMPLETED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of rows in the order in which they have completed. */
struct completed {
    uint32_t *ids; /* owned */
    uint32_t n, room, taken;
};

/* One more; false without memory. */
bool completed_add(struct completed *c, uint32_t id);

/* Moves those that were not taken yet to `ids`, `room` at most; how many. */
size_t completed_take(struct completed *c, uint64_t *ids, size_t room);

#endif
