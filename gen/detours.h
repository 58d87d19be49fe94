/* detours.h -- routes between the cubes of a SIP around what is missing or broken. */
#ifndef DETOURS_H
#define DETOURS_H
#include "route_table.h"

/* Is there a step from `cube`, numbered over all SIPs, to `side`: a link and both its ports? */
bool detours_has_step(const struct kb_topology *t, uint32_t plane, uint32_t cube, uint32_t side);

/*
 * Makes r->detours and r->shores; the edges of cubes are made. no_way[plane] becomes the number of
 * ordered pairs of cubes of one SIP without a way. `table` gives the exits, if it has any.
 */
void find_detours(struct routes *r, const struct route_table *table, uint64_t no_way[PLANES_MAX]);

#endif
