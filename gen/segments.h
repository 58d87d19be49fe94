/* segments.h -- the pieces that every route is put together from, hop by hop and merged. */
#ifndef SEGMENTS_H
#define SEGMENTS_H
#include "routes.h"

/* Fills the tables of segments, hops and legs, from those of nodes and links. */
void make_segments(struct routes *r);

/* Puts the hops of a way over the NoC, from one node of the cube to another, behind the last hop of
 * all, where the next ones overwrite them. Returns how many there are, without that of `to`. */
uint32_t try_noc(struct routes *r, uint32_t plane, uint32_t from, uint32_t to);

/* The node of `hop`. */
const struct node_row *node_at(const struct routes *r, const struct hop_row *hop);

#endif
