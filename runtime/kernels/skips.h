/*
 * skips.h -- ids of commands that a kernel knows and does not simulate: tl_skip().
 *
 * Ids are drawn in order of (time, PE), as the events of kernels run. Which of several ways a
 * transaction takes may follow from its id. So where a kernel leaps over commands that it knows,
 * their ids are left free: each draw of a command that is simulated first passes all that would
 * have been before it.
 *
 * Example: PE 3 draws at 10 ns, and PE 1 would have drawn 2 ids at 10 ns, and PE 4 one: the command
 * of PE 3 gets the id behind the two.
 */
#ifndef SKIPS_H
#define SKIPS_H
#include "kernels/kernels.h"

/* Passes the ids of those that draw before PE `pe` at t. */
void skips_pass(struct kernels *k, int64_t t, uint32_t pe);

/* False: no memory. */
bool skips_add(struct kernels *k, const struct skip *skip);

#endif
