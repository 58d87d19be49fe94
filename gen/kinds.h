/* kinds.h -- the tables of all kinds of cubes, each made by itself and then put one behind another.
 */
#ifndef KINDS_H
#define KINDS_H
#include "cubes.h"
#include "routes.h"

/* Sets the sizes of `r` that all kinds share: those of the kinds that have most. */
void set_strides(struct routes *r, const struct cubes *cubes);

/* Fills the tables of `r`. False after a message: they are larger than can be counted. */
bool make_kinds(struct routes *r, const struct cubes *cubes);

#endif
