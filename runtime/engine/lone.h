/* lone.h -- what a transaction takes behind routers where components are asked for each packet: it
 * runs by itself, on an idle machine of the same kind.
 *
 * Answers are kept: mostly the next transaction is like one before.
 */
#ifndef LONE_H
#define LONE_H
#include "engine/txn.h"

struct kb_sim;
struct lone_runs;

struct lone {
    int64_t fs;        /* from its issue to its end; INT64_MAX: it never ends */
    int64_t memory_fs; /* of that what a memory that queues adds to the drain */
};

/* Is it so of the transaction? */
bool lone_is_run(const struct kb_sim *s, const struct txn *txn);

/* Of the transaction in `slot`. Its fs is COST_NO_MEMORY if there was none. */
struct lone lone_of(const struct kb_sim *s, uint32_t slot);

/* What lone_of() keeps. NULL without memory. */
struct lone_runs *lone_new(void);
void lone_free(struct lone_runs *runs);

#endif
