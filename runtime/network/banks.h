/* banks.h -- hbm_ctrl with `model: banks`: what engines call of network/banks.c. */
#ifndef NETWORK_BANKS_H
#define NETWORK_BANKS_H
#include "network/router_banks.h"
#include "network/server.h"

/* As those of network/server.h. */
void banks_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot);
bool banks_expect(struct kb_sim *s, uint64_t t, int64_t drain_fs, uint32_t slot);
void banks_wake(struct kb_sim *s, int how, uint64_t t, struct bank_slice *slice);

/* What comes to the banks of memory `dst` behind a component: a transaction, unless `slot` is
 * TXN_NONE, or a request of its own. */
struct bank_request {
    uint32_t dst, slot;
    uint64_t id, offset, bytes;
    int64_t drain_fs;
    bool writes;
};

void banks_arrive_at_back(struct kb_sim *s, int how, uint64_t t, const struct bank_request *r);

/* Behind routers a part of it has arrived: a packet of a write, a read. */
void banks_part_arrives(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                        const struct delivery *part);

#endif
