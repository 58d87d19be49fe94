/* router_tally.h -- counts of buffers and credits of a network of routers, where they are wanted.
 *
 * Whatever a row of kb_sim_utilization() says of a VC follows from times that are known when a
 * segment is granted its way: when it came, since when it could go, when it is gone. So both
 * engines count the same at the same grants, though the fused one knows of arrivals before they
 * happen.
 *
 *   held      a segment holds its bytes of a buffer from its arrival until its last byte has left;
 *             in the queue of a memory until its room is free. Mean: their sum over time. The most
 *             is found behind each arrival, and is computed when the segment goes: then all that
 *             was before it in the buffer has gone, at times that are known.
 *   stalled   between two grants into a VC its credits only grow. What goes next had no credit from
 *             the first grant, or from when it was ready in front, until enough were back. These
 *             times do not overlap, so their sum is a share of the run.
 *
 * Example: docs/network.md "A packet in the way of another". A goes from router 1 to router 2 at
 * 28 ns. B went there at 4, and its credit is back at 28; A is ready in front from 8 on: 20 ns.
 */
#ifndef ROUTER_TALLY_H
#define ROUTER_TALLY_H
#include "engine/router.h"
#include "engine/station.h"

/* Bytes from, or until, a time. */
struct tally_part {
    uint64_t at_fs, nbytes;
};

struct tally_parts {
    struct tally_part *rows; /* owned; a ring of `room`, a power of two */
    uint32_t first, n, room;
};

/* One VC: what went into it, and the buffer at its end. */
struct vc_tally {
    struct tally_parts in;   /* segments in the buffer, as they came */
    struct tally_parts left; /* that were in it with them, and when they were gone */
    struct tally_parts due;  /* credits to come, in order of time */
    uint64_t room;           /* of the buffer, in bytes; 0: without limit, or none */
    uint64_t went_fs;        /* the last grant into it, and the credits behind that */
    int64_t credits;
    uint64_t count, nbytes, busy_fs, stall_fs, most;
    wait_sum held; /* bytes times fs */
};

struct router_tally {
    struct vc_tally *vcs; /* owned; [port][vc] */
    uint8_t *last_vc;     /* owned; [port]: by which the last segment went */
    size_t n;
};

struct router_tally *router_tally_new(const struct kb_sim *s); /* NULL: no memory */
void router_tally_free(struct router_tally *tally);
void router_tally_clear(struct router_tally *tally); /* nothing has gone yet */

/* The port of a grant at `t` is as it was before it. False: no memory. */
bool router_tally_grant(struct kb_sim *s, uint64_t t, const struct router_grant *grant);

/* A place in the buffer of a VC is known to be free at `t`. False: no memory. */
bool router_tally_credit(struct kb_sim *s, uint32_t vc, bool of_memory, uint64_t t,
                         uint64_t nbytes);

/* What a VC has counted up to `now_fs`: those that are in the buffer then have no end yet. */
struct vc_tally router_tally_until(const struct vc_tally *vc, uint64_t now_fs);

#endif
