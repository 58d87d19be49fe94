/* lone_runs.h -- transactions by themselves, on an idle simulation: what engine/lone.h is of.
 *
 * Answers are kept: mostly the next transaction is like one before.
 */
#ifndef LONE_RUNS_H
#define LONE_RUNS_H
#include "engine/lone.h"
#include "engine/txn.h"

struct kb_sim;
struct lone_runs;

/* Is it so of the transaction? */
bool lone_is_run(const struct kb_sim *s, const struct txn *txn);

/* Of the transaction in `slot`, or of a part of one. s->idle says if there was no memory for it. */
struct lone lone_of(const struct kb_sim *s, uint32_t slot);

/* Makes what lone_of() keeps, if the machine needs it, and lets the engine ask it. False without
 * memory. */
bool lone_begin(struct kb_sim *s);
void lone_free(struct lone_runs *runs);

#endif
