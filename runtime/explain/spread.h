/* spread.h -- the traffic of every node and edge, from the traffic by route. */
#ifndef SPREAD_H
#define SPREAD_H
#include "engine/state.h"

/* Data of a read pass the edges of its route the other way. */
struct spread {
    const struct kb_topology *topo; /* borrowed */
    struct flow_sum *nodes, *edges; /* owned; [node], [link station] (machine/walk.h) */
};

static inline void flow_add(struct flow *sum, const struct flow *flow)
{
    flow_sum_add(&sum->by[0], &flow->by[0]);
    flow_sum_add(&sum->by[1], &flow->by[1]);
}

/* Between a PE and a memory of its cube. */
struct flow spread_local(const struct kb_sim *s, uint32_t pe, uint32_t unit);

/* From a PE to other cubes. */
struct flow spread_out(const struct kb_sim *s, uint32_t pe);

/* To a memory from other cubes, and from hosts. */
struct flow spread_in(const struct kb_sim *s, uint32_t dst);

/* Fills `sp`, which is zeroed. False without memory; spread_free() in any case. */
bool spread_all(struct spread *sp, const struct kb_sim *s);
void spread_free(struct spread *sp);

/* The traffic of packed memory `dst`: from PEs of its cube, and from elsewhere. */
struct flow_sum spread_served(const struct kb_sim *s, uint32_t dst);

#endif
