/* queueing.h -- a memory that is a queueing component: what network/server.c calls of it. */
#ifndef NETWORK_QUEUEING_H
#define NETWORK_QUEUEING_H
#include "engine/state.h"

/* As those of network/server.h. */
void queue_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot);
void queue_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst);
/* Behind the component of memory `dst`, banks are done with a request at `t`: with its own `id`,
 * or, unless `slot` is TXN_NONE, with that transaction. */
void queue_behind_ends(struct kb_sim *s, uint32_t dst, uint32_t slot, uint64_t id, uint64_t t);

void queue_leave(struct kb_sim *s, uint64_t t, uint32_t dst);

#endif
