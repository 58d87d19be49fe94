/* vclock.h -- what a PE has seen of all others: a count for each, in trees that share equal parts.
 */
#ifndef VCLOCK_H
#define VCLOCK_H
#include <stdbool.h>
#include <stdint.h>

/*
 * NULL is all zeros. A vclock does not change once it is shared, so whoever has met everybody at a
 * barrier needs no more than a reference to what all have seen.
 */
struct vclock;

/* The level of a tree over `n` PEs. */
uint32_t vclock_level(uint32_t n);

uint32_t vclock_of(const struct vclock *c, uint32_t pe);

/* A reference of one's own; gives it back. Both take NULL. */
struct vclock *vclock_keep(struct vclock *c);
void vclock_drop(struct vclock *c);

/* *c, a reference of one's own, becomes what it was but for one PE, or the larger of both for each
 * PE. False: no memory. */
bool vclock_set(struct vclock **c, uint32_t level, uint32_t pe, uint32_t count);
bool vclock_join(struct vclock **c, struct vclock *other);

#endif
