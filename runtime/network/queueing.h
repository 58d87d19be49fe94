/* queueing.h -- a memory that is a queueing component: what network/server.c calls of it. */
#ifndef NETWORK_QUEUEING_H
#define NETWORK_QUEUEING_H
#include "engine/state.h"

/* As those of network/server.h. */
void queue_arrive(struct kb_sim *s, uint64_t t, uint32_t slot);
void queue_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst);
void queue_leave(struct kb_sim *s, uint64_t t, uint32_t dst);

#endif
