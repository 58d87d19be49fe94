/* net_routes.h -- routes between the cubes of a net: the least weight, then the fewest links. */
#ifndef NET_ROUTES_H
#define NET_ROUTES_H
#include "route_table.h"

/* Makes the rows of ports: which links there are, before any is broken. */
void fill_ports(struct routes *r);

/* If routes are to go up*, then down*: makes r->ranks, and says which links lead down. */
void rank_cubes(struct routes *r);

/*
 * Makes r->detours and r->shores; the nodes and links of all kinds and the rows of ports are made.
 * Returns the number of ordered pairs of cubes of one SIP without a way. `table` gives the exits,
 * if it has any.
 */
uint64_t find_net_exits(struct routes *r, const struct route_table *table);

/*
 * Of a machine with rails: makes r->rails, of pairs of cubes of two SIPs, behind the above. Returns
 * the number of ordered pairs of such cubes without a way.
 */
uint64_t find_rails(struct routes *r);

/* The same routes, but up*, then down*, are `other`: in words, a pair of cubes that has lost its
 * way by that. NULL: none has; or it is no net. */
const char *net_lost_pair(const struct routes *r, const struct routes *other);

#endif
