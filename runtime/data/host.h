/* host.h -- what the hosts of a simulation hold: its memories' content, and tensors in its HBM. */
#ifndef HOST_H
#define HOST_H
#include "data/mem.h"
#include "engine/state.h"

struct host;

/* The memories of a simulation, area dst_pack(), made when first asked for; NULL: no memory. */
struct mem *host_mem(struct kb_sim *s);

/*
 * The tensor that lies at a global address, and the index of the element there; NULL: none.
 */
const struct kb_tensor *host_tensor_at(const struct kb_sim *s, uint64_t address,
                                       int64_t index[KB_RANK_MAX]);

/* Bytes of a PE's slice, from its first on, that tensors take. */
uint64_t host_slice_used(const struct kb_sim *s, uint32_t pe);

void host_free(struct host *h);

#endif
