/* parts.h -- which components stand for the boxes of a cube, by its keys. */
#ifndef PARTS_H
#define PARTS_H
#include "components.h"

/*
 * The part of `k`, which is an `impl`, in cubes with the keys of `spec`; NULL: the box is built in.
 */
const struct part *part_of_key(const struct spec *spec, enum key k);

/*
 * What stands in place of each box in cubes with the keys of `spec`: 0 is what is built in, another
 * number that of the part, from 1 on.
 */
void parts_of_boxes(const struct spec *spec, uint16_t numbers[N_BOXES]);

/* "{trp_ns: 14.0, banks: 16}" */
const char *part_values_text(struct arena *a, const struct part *p);

#endif
