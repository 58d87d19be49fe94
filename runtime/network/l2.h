/* l2.h -- an L2 (`cube.l2`): a cache whose children go their own way to their memories. */
#ifndef NETWORK_L2_H
#define NETWORK_L2_H
#include "network/caches.h"

/* A lookup of the transaction in `slot` begins, whose data are there at `ready_fs` and drain. */
void l2_begin(struct kb_sim *s, uint32_t slot, int64_t ready_fs, int64_t drain_fs);

/* A line at that global address is missing, `asked` of whose bytes are wanted. The number of the
 * child that reads it. */
uint32_t l2_reads(struct kb_sim *s, struct cache *c, uint64_t address, uint64_t nbytes,
                  uint64_t asked);

/* Without its L2 the transaction in `slot`, which has come at `t`, is done when all slices are that
 * its bytes lie in. */
void l2_pass_on(struct kb_sim *s, struct cache *c, uint32_t slot, uint64_t t, const struct run *of,
                uint32_t n);

/* A launch begins on PEs of `cube`. */
void l2_launch(struct kb_sim *s, uint32_t cube);

/* kb_sim.child_will_end */
void l2_child_will_end(struct kb_sim *s, uint64_t t, uint32_t slot);

/* Its lookup is over: its children set out. `pending_fs`: the last end of children of others. */
void l2_go_behind(struct kb_sim *s, struct cache *c, uint32_t slot, uint64_t asked,
                  int64_t pending_fs);

#endif
