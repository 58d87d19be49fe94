/* count_slots.h -- counts and waits of a run whose transactions keep their slots: of a replay. */
#ifndef EXPLAIN_COUNT_SLOTS_H
#define EXPLAIN_COUNT_SLOTS_H

struct kb_sim;

/* Forgets what a call before has counted: the run may have gone on since. */
void count_slots(struct kb_sim *s);

#endif
