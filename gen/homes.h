/* homes.h -- where PEs have a slice of their own whose cube has none. */
#ifndef HOMES_H
#define HOMES_H
#include "routes.h"

/* Fills `home` and `home_rank` of the rows of cubes; all other tables of routes are made. */
void find_homes(struct routes *r);

#endif
