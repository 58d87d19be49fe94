/* network.h -- routers, and the channels between them: what links of a machine with routers are. */
#ifndef JUDGE_NETWORK_H
#define JUDGE_NETWORK_H
#include "judge.h"

/*
 * An edge in the direction of what travels: 2 * edge, or 2 * edge + 1 where answers go back along
 * an edge that has no opposite.
 */
typedef size_t judge_way_edge;

/* What stands between two routers, or a router and an end: edges that merge to one. */
struct judge_channel {
    judge_way_edge *edges;
    size_t *nodes; /* one more than edges */
    size_t n_edges;
    size_t lane;     /* of its link */
    int64_t wire_fs; /* and the overheads between */
    double gbs;
    size_t number;              /* of its output port among all, in the order of class 5 */
    struct judge_channel *same; /* another that begins with the same edge */
    void *port;                 /* the simulation's */
};

/* Which of the VCs of its class and priority a packet may own: a part of so many; below 2: all. */
struct judge_share {
    uint32_t part, parts;
};

/* One channel of a path, and how long a segment waits at its begin before it is ready. */
struct judge_link {
    struct judge_channel *channel;
    int64_t delay_fs; /* 0 at the source */
    size_t node;      /* where it begins */
    struct judge_share share;
};

/* The channels from an end to an end. */
struct judge_path {
    struct judge_link *links;
    size_t n;
    int64_t head_fs; /* when the first byte is there, after it has left the source alone */
};

/* Nodes and edges in the order in which something passes them. */
struct judge_way_nodes {
    size_t *nodes;
    judge_way_edge *edges;
    size_t n; /* nodes */
};

/* What has been passed so far. */
struct judge_passed {
    bool bridge, dateline[2]; /* of x, y */
    bool grid[2];             /* of the SIPs */
    uint32_t sip;
    bool backwards; /* an answer, or what goes the way of one */
    /* of a net: links passed and all of them, those that hop classes count and whether the last
     * one is one, the ring of the last one, and whether it lies behind the closing link of that */
    uint32_t links, all_links, counted, ring;
    bool last_counted;
    bool behind, closing;
};

enum { JUDGE_WAY_MOST = 512 }; /* cubes */

/* shares.c: the VCs on edge `i` of a way, whose edges are asked for one after the other. */
struct judge_share judge_share_of(const struct judge_topo *t, struct judge_passed *p,
                                  const struct judge_way_nodes *w, size_t i);

/* A packet has gone over the link of a net that begins at `out`. */
void judge_pass_link(struct judge_passed *p, const struct judge_port *out);

/* The port of a net on node `node`; NULL: it is none, or leads to an IO chiplet. */
const struct judge_port *judge_port_at(const struct judge_topo *t, size_t node);

/* From pcie_ep to pcie_ep? */
bool judge_is_fabric_step(const struct judge_topo *t, const struct judge_way_nodes *w, size_t i);

/* All zero is an empty network; give its insides back with judge_network_clear(). */
struct judge_network {
    struct judge_channel **channels, **by_edge;
    size_t n, room;
    size_t *order; /* of nodes, as class 5 counts them */
};

/* Hops `from` to `to` of a route, in its direction or `backwards`; give its insides back. */
struct judge_way_nodes judge_way_of(const struct judge_route *r, size_t from, size_t to,
                                    bool backwards);
void judge_clear_way(struct judge_way_nodes *w);

/* Calls `way` for the route of each request, and of each answer, which is `backwards`: from PEs and
 * hosts to all memories, by all ways. */
typedef void judge_visit(const struct judge_topo *t, const struct judge_route *r, bool backwards,
                         void *arg);
void judge_each_way(const struct judge_topo *t, judge_visit *way, void *arg);

/* proof.c: chooses how packets of a net are kept from waiting in a circle: t->datelines, t->hops,
 * t->up_down. */
void judge_choose_channels(struct judge_topo *t);

/* The VCs [*low, result) of a group of `size` that a packet of this share may own. */
uint32_t judge_vcs_of(const struct judge_topo *t, struct judge_share share, uint32_t size,
                      uint32_t *low);

/* Fills `is_router` of a topology. */
void judge_find_routers(struct judge_topo *t);

/*
 * The path along hops `from` to `to` of a route, in the direction of the route or `backwards`,
 * which is from `to` to `from`; of a transaction with that number. Give `links` back with free().
 */
struct judge_path judge_find_path(const struct judge_topo *t, struct judge_network *net,
                                  const struct judge_route *r, size_t from, size_t to,
                                  bool backwards, uint64_t number);

/* Numbers all channels that paths have: when the last one is found. */
void judge_number_channels(const struct judge_topo *t, struct judge_network *net);

/* The place of an input port at its node when arbiters take turns: smaller ones first. */
size_t judge_turn(const struct judge_topo *t, const struct judge_network *net,
                  const struct judge_channel *c);

void judge_network_clear(struct judge_network *net);
#endif
