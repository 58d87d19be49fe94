/* net_grid.h -- how far the cubes of a whole mesh or torus are from one of them. */
#ifndef NET_GRID_H
#define NET_GRID_H
#include "net_search.h"

struct net_grid;

/* The grid that the cubes of a search and their steps are, whose weights are known. NULL: none. */
struct net_grid *net_grid_find(const struct search *s);

/* What a search from cube `to` would find. False: not all cubes have a way to it, so search. */
bool net_grid_measure(struct search *s, struct net_grid *g, uint32_t to);

#endif
