/* lone.h -- what a transaction takes behind routers where components are asked for each packet: it
 * runs by itself, on an idle machine of the same kind: sim/lone_runs.h.
 */
#ifndef LONE_H
#define LONE_H
#include <stdint.h>

struct lone {
    int64_t fs;        /* from its issue to its end; INT64_MAX: it never ends */
    int64_t memory_fs; /* of that what a memory that queues adds to the drain */
};

#endif
