/* alone_l2.h -- what a transaction takes alone of an L2 that is empty. */
#ifndef ALONE_L2_H
#define ALONE_L2_H
#include "machine/alone.h"

/*
 * From its arrival at the L2 to its end: its children go their ways, of which the course is the
 * first one, to memories that are idle. They do not wait for each other. INT64_MIN: there was no
 * memory for the answer.
 */
struct alone alone_in_l2(struct idle *idle, const struct alone_of *of);

#endif
