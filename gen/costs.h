/* costs.h -- what parts of routes cost, summed beforehand; the memories and the PE as numbers. */
#ifndef COSTS_H
#define COSTS_H
#include "routes.h"

/* Fills the tables of costs, from those of segments. False: a part is longer than can be counted.
 */
bool make_costs(struct routes *r);

#endif
