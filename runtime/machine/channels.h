/* channels.h -- the channels of a route: what lies between two routers (contention.links: router).
 *
 * A node where ways meet or part is a router, and has buffers. A node that every edge into it
 * leaves by one edge, and every edge out of it is entered from one, only delays: the edges before
 * and behind it are one channel, with the sum of wires, of overheads and of crossings between, and
 * the smallest bandwidth. docs/network.md.
 *
 * Which node is a router is a matter of all routes, not of one; channels_stops() says it:
 *
 *     noc, pe_dma    always. A pe_dma is the source of writes and the sink of answers, too
 *     m_cpu          the end of one way of a host's, and the source of the next
 *     xbar           but where a cube has one of them, and one slice: then it leads there alone
 *     ucie           on a shore, where it also has a link to a cube: a machine that wraps
 *     bridge, io_cpu never
 *     io_noc         with several cubes on its shore, or where other SIPs are behind its pcie_ep
 *     pcie_ep        where other SIPs are; else it is an end
 *     switch         with three SIPs or more
 *
 * Example: three cubes in a row, c0.pe0 -> c2.slice0. Four channels: pe_dma > noc of c0; noc >
 * ucie-E > ucie-W > noc of c1, the same to c2, and noc > hbm_ctrl, past the one xbar.
 *
 * The way back of an answer has the same channels, from the last to the first, each backwards. So a
 * row names its stations of both directions: the station of an edge walked backwards is ^ 1.
 */
#ifndef CHANNELS_H
#define CHANNELS_H
#include "machine/walk.h"

/* What is at the end of a channel. */
enum channel_end { END_ROUTER, END_M_CPU, END_MEMORY, END_SINK };

/* Which VCs of its group a packet owns there: rings would close a circle of waits. */
enum channel_half { HALF_ALL, HALF_LOWER, HALF_UPPER };

struct channel_row {
    size_t first, last; /* the stations of its first edge, and of its last one: walk_link() */
    int64_t wire_fs;    /* with overheads and crossings of the nodes between its edges */
    int64_t node_fs;    /* of the node at its end: overhead and crossing; 0 of a memory */
    int64_t back_fs;    /* the same, come to from there: SIPs in a grid pay for their direction */
    double gbs;
    uint8_t end;           /* enum channel_end */
    uint8_t half;          /* enum channel_half */
    uint8_t rings, closes; /* rings that it is part of; those that its step closes */
    bool leaves_sip;
};

/* A route in channels. */
struct channels {
    struct channel_row *rows; /* owned; [n] of cap */
    uint32_t n, cap;
    uint32_t n_to_m_cpu; /* of a host's: channels to the m_cpu; else 0 */
    int64_t source_fs;   /* overhead of the node where it begins */
};

/* The channels of a trip, from requester to memory; `writes`: its data go that way. False: no
 * memory. `c` begins as zeros, and is used again. */
bool channels_find(struct channels *c, const struct kb_topology *t, const struct cost_mask *m,
                   const struct trip *trip, bool writes);

/* The same in the other direction, in place: from memory to requester. */
void channels_reverse(struct channels *c);

void channels_free(struct channels *c);

/* What a hand-over costs: no channel is passed in no time. */
static inline int64_t channel_fs(int64_t wire_fs)
{
    return wire_fs > 1 ? wire_fs : 1;
}

#endif
