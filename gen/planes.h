/* planes.h -- the networks between cubes: planes, rings, broken links, and routes around them. */
#ifndef PLANES_H
#define PLANES_H
#include "routes.h"

/* Sets the fields of the topology that say which networks there are; its counts are set. */
void set_planes(struct routes *r);

/*
 * Finds which edges between cubes are there, and where routes are not in order of dimensions. False
 * after messages: `broken` names what is no link. Warns of planes without a way between cubes.
 */
bool find_ways(struct routes *r);

#endif
