/* vclock.h -- vector clocks: a count for each PE, in trees that share equal parts. */
#ifndef VCLOCK_H
#define VCLOCK_H
#include <stdbool.h>
#include <stdint.h>

/*
 * NULL is all zeros. A vclock that is shared does not change, so after a barrier its members need
 * only references to one and the same vclock.
 */
struct vclock;

/* The level of a tree over `n` PEs. */
uint32_t vclock_level(uint32_t n);

uint32_t vclock_of(const struct vclock *c, uint32_t pe);

/* Add and drop a reference. Both take NULL. */
struct vclock *vclock_keep(struct vclock *c);
void vclock_drop(struct vclock *c);

/*
 * Replace *c, a reference: by a vclock that has `count` for `pe`, or by one that has the larger
 * count of both for every PE. False: no memory.
 */
bool vclock_set(struct vclock **c, uint32_t level, uint32_t pe, uint32_t count);
bool vclock_join(struct vclock **c, struct vclock *other);

#endif
