/* banks.h -- hbm_ctrl with `model: banks`: what engines call of network/banks.c. */
#ifndef NETWORK_BANKS_H
#define NETWORK_BANKS_H
#include "network/router_banks.h"
#include "network/server.h"

/* What they are to network/server.h. A component in front passes parts on by banks_arrive(). */
extern const struct memory_server banks_server;
void banks_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                  const struct delivery *part);

/* A request of its own that the component in front of banks `memory` sends comes to these. */
void banks_arrive_of_front(struct kb_sim *s, int how, uint32_t memory, const struct due *due,
                           int64_t drain_fs);

#endif
