/* check_router.h -- mistakes of the keys of a network of routers. */
#ifndef CHECK_ROUTER_H
#define CHECK_ROUTER_H
#include "spec.h"

/* Checks the keys below `contention` with each other. */
void check_router(const struct spec *spec);

/* Checks that slices of a cube with this spec go with the time that VCs take. */
void check_memory_allocation(const struct spec *spec);

/* Checks the queues in front of the slices of a cube with this spec. */
void check_memory_queue(const struct spec *spec);

#endif
