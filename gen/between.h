/* between.h -- the cubes between any two, of a machine that is not regular. */
#ifndef GEN_BETWEEN_H
#define GEN_BETWEEN_H
#include "routes.h"

/* Makes the tables of runtime/machine/machine_between.h. All others are there, and in the topology.
 */
void make_between(struct routes *r);

#endif
