/* machine_channels.h -- the channels of a route: what lies between two routers (contention.links:
 * router).
 *
 * A node where ways meet or part is a router, and has buffers. A node that every edge into it
 * leaves by one edge, and every edge out of it is entered from one, only delays: the edges before
 * and behind it are one channel, with the sum of wires, of overheads and of crossings between, and
 * the smallest bandwidth. docs/network.md.
 *
 * Which node is a router is a matter of all routes, not of one; channels_stops() says it:
 *
 *     in a cube      what the generator found: gen/stops.c. A noc nearly always; a pe_dma, which is
 *                    the source of writes and the sink of answers; most crossbar nodes; a ucie on a
 *                    shore, where it also has a link to a cube: a machine that wraps
 *     m_cpu          the end of one way of a host's, and the source of the next
 *     io_noc         always. An io_cpu never
 *     pcie_ep        where other SIPs are; else it is an end
 *     switch         with three SIPs or more
 *     a component    in place of one of these: always
 *
 * Example: three cubes in a row, c0.pe0 -> c2.slice0. Four channels: pe_dma > noc of c0; noc >
 * ucie-E > ucie-W > noc of c1, the same to c2, and noc > hbm_ctrl, past the one xbar.
 *
 * The way back of an answer has the same channels, from the last to the first, each backwards. So a
 * row names its stations of both directions: the station of an edge walked backwards is ^ 1.
 */
#ifndef CHANNELS_H
#define CHANNELS_H
#include "machine/vcs.h"

/* What is at the end of a channel: a router, one that is a component and says how long packets take
 * there, or an end of the way. */
enum channel_end { END_ROUTER, END_NODE, END_M_CPU, END_MEMORY, END_SINK };

struct channel_row {
    size_t port; /* its number: the station of its first edge; of a memory with one crossbar node
                    its last */
    size_t first, last; /* the stations of its first edge, and of its last one: walk_link() */
    int64_t wire_fs;    /* with overheads and crossings of the nodes between its edges */
    int64_t node_fs;    /* of the node at its end: overhead and crossing; 0 of a memory */
    int64_t cross_fs;   /* of that the crossing, which takes wire */
    int64_t back_fs;    /* the same, come to from there: SIPs in a grid pay for their direction */
    double gbs;
    uint8_t end;                          /* enum channel_end */
    uint32_t first_hop, last_hop;         /* that say which VCs a request may own, an answer */
    uint32_t first_segment, last_segment; /* where these are on the route */
    uint8_t share, crossed;               /* which VCs a packet may own there: machine/vcs.h */
    bool detour;
};

/* A route in channels. */
struct channels {
    struct channel_row *rows; /* owned; [n] of cap */
    uint32_t n, cap;
    struct route_place *places; /* owned; [n_places] of places_room */
    uint32_t n_places, places_room;
    uint32_t n_to_m_cpu; /* of a host's: channels to the m_cpu; else 0 */
    int64_t source_fs;   /* overhead of the node where it begins */
};

/*
 * The channels of a trip, from requester to memory, or the way of its answers, from memory to
 * requester. `writes`: its data go to the memory. False: no memory. `c` begins as zeros, and is
 * used again.
 */
bool channels_find(struct channels *c, const struct kb_topology *t, const struct cost_mask *m,
                   const struct trip *trip, bool writes, bool answers);

void channels_free(struct channels *c);

/* What a hand-over costs: no channel is passed in no time. */
static inline int64_t channel_fs(int64_t wire_fs)
{
    return wire_fs > 1 ? wire_fs : 1;
}

#endif
