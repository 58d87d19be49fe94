/*
 * router_order.h -- in which order ports decide at one instant, and inputs of one port have turns.
 *
 * The number of a port among all ports of the machine follows from the nodes at both ends of its
 * channel: node by node, at a node in order of the far end.
 */
#ifndef ROUTER_ORDER_H
#define ROUTER_ORDER_H
#include "machine/machine_channels.h"

/* The nodes of the edge of a station: from, to. */
void router_edge_nodes(const struct kb_topology *t, size_t station, size_t node[2]);

/* That of the port of `lane` of a channel. */
uint64_t router_order_of(const struct kb_topology *t, const struct channel_row *row, uint32_t lane);

/* The place of the first channel of slice `dst` among all that decide at one instant: behind the
 * ports of its node, and the next channel is the next place. */
uint64_t router_order_of_channels(const struct kb_topology *t, uint32_t dst);

/* The place of an input port at its node, of round robin: E, W, S, N or the ports of a net by their
 * number, then the others; of one link by lanes. */
uint32_t router_rank_of_input(const struct kb_topology *t, size_t station, uint32_t lane);

#endif
