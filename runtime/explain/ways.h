/* ways.h -- the parts of routes that transactions have taken, and the pieces of time on them. */
#ifndef WAYS_H
#define WAYS_H
#include "engine/txn.h"
#include "machine/cost.h"

/* Pieces of a way that take time: wires and crossings, and nodes. */
struct way_pieces {
    uint32_t wires, nodes;
};

/* A part of a route, from where a request enters a cube to where it leaves it. */
struct way_part {
    uint32_t cube, to; /* `to`: the target's packed memory where the part depends on it, or 0 */
    uint16_t segment;
    uint8_t writes;
    uint8_t chiplet; /* of its host */
    struct way_pieces pieces;
    uint64_t count; /* transactions; 0: a free row */
};

/* Without a part yet only `topo` and `mask` are set. */
struct ways {
    const struct kb_topology *topo; /* borrowed */
    struct cost_mask mask;
    struct way_part *part; /* owned: an open table, `cap` a power of two */
    size_t n, cap;
};

/* Counts the parts of the way of `x`, and adds up their pieces. False without memory. */
bool ways_add(struct ways *w, const struct txn *x, struct way_pieces *sum);

/* What ways_each() calls: a piece of a wire or node, and how often it was passed. */
typedef void way_told(void *arg, const kb_share *piece, uint64_t times);

void ways_each(const struct ways *w, way_told *each, void *arg);

/* Calls `each` for the wires and nodes of the way of `x` alone; of `w` only topo and mask count. */
void ways_pass(const struct ways *w, const struct txn *x, way_told *each, void *arg);

void ways_free(struct ways *w);

/* The place of a node of a route, passed in `cube`. */
kb_place ways_node(const struct kb_topology *t, const struct hop_row *hop, uint32_t cube,
                   const struct trip *trip);

#endif
