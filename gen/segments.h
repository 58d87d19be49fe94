/* segments.h -- the pieces that every route is put together from, hop by hop and merged. */
#ifndef SEGMENTS_H
#define SEGMENTS_H
#include "routes.h"

/* Fills the tables of segments, hops and legs, from those of nodes and links. */
void make_segments(struct routes *r);

/* The wire across the NoC, from where one node of the cube meets it to where the other does. */
int64_t cross_noc_fs(const struct routes *r, uint32_t from, uint32_t to);

/* The node of `hop`. */
const struct node_row *node_at(const struct routes *r, const struct hop_row *hop);

#endif
