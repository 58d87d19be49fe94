/* banks.h -- hbm_ctrl with `model: banks`: what engines call of network/banks.c. */
#ifndef NETWORK_BANKS_H
#define NETWORK_BANKS_H
#include "network/router_banks.h"
#include "network/server.h"

/* As those of network/server.h. A component in front passes parts on by the first, too. */
void banks_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                  const struct delivery *part);
bool banks_expect(struct kb_sim *s, uint64_t t, int64_t drain_fs, uint32_t slot);
void banks_wake(struct kb_sim *s, int how, uint64_t t, struct bank_slice *slice);

/* A request of its own that the component in front of banks `memory` sends comes to these. */
void banks_arrive_of_front(struct kb_sim *s, int how, uint32_t memory, const struct due *due,
                           int64_t drain_fs);

#endif
