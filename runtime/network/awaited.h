/* awaited.h -- what transactions at a cache wait for: children whose ends are not known yet. */
#ifndef NETWORK_AWAITED_H
#define NETWORK_AWAITED_H
#include "network/caches.h"

/* The transaction in `slot` has found a line that child `number`, of another one, will bring. */
void await_line(struct kb_sim *s, struct cache *c, uint32_t number, uint32_t slot);

/* It waits for child `number` of its own. */
void await_own(struct kb_sim *s, struct cache *c, uint32_t number, uint32_t slot);

/* Child `number` ends at `end`: those that wait for it know. */
void awaited_ends(struct kb_sim *s, struct cache *c, uint32_t number, int64_t end);

/* One less of what the transaction in `slot` waits for; at the last one its end is known. */
void awaited_less(struct kb_sim *s, uint32_t slot);

/* Its end, all that it waits for being known. */
int64_t awaited_end(struct kb_sim *s, uint32_t slot);

/* The same, and the engine that runs is told. */
void awaited_all(struct kb_sim *s, uint32_t slot);

#endif
