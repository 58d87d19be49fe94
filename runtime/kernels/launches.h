/* launches.h -- when launches set out, and what begins and ends with one. */
#ifndef LAUNCHES_H
#define LAUNCHES_H
#include "kernels/kernels.h"

/* Has `before` room for one more follower? False: no memory. */
KERNELS_OWN bool launch_has_room(struct launch *before);
/* `follower` sets out no sooner than the last response of `before`, which has room for it. */
KERNELS_OWN void launch_follow(struct launch *follower, struct launch *before);

/* All that wait for no other launch set out. */
KERNELS_OWN void launches_send(struct kb_sim *s);
/* The kernel of a PE is about to begin: the first of a launch clears TCMs and queues for all. */
KERNELS_OWN void launch_begins(struct tl_ctx *pe);
/* The kernel of a PE has ended at `t`, with its commands: the last one ends the launch. */
KERNELS_OWN void launch_leaves(struct tl_ctx *pe, uint64_t t);

KERNELS_OWN void launch_free(struct launch *l);

#endif
