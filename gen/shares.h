/* shares.h -- which virtual channels the hops of routes may own: machine/vcs.h */
#ifndef SHARES_H
#define SHARES_H
#include "routes.h"

/* Which packets are kept apart, besides those on rings. */
struct share_plan {
    /* In machines with meshes: 1 none, 2 those in the cube of their source, 3 and of their target,
     * 4 and those on their way along x from those along y. */
    uint32_t stages;
    uint32_t detours;      /* 1: detours have a part of their own */
    enum routes_by routes; /* of a net; with it the others are 1 and 0 */
};

/* Parts that a plan cuts a group of VCs into; at least these. */
uint32_t shares_parts(const struct routes *r, const struct share_plan *plan);

/* The same, with the halves of crossbars, which only a class of two VCs and more has. */
uint32_t shares_parts_of_all(const struct routes *r, const struct share_plan *plan);

/* Fills request_shares and answer_shares of `r`. */
void make_shares(struct routes *r, const struct share_plan *plan);

/* Are there meshes inside cubes, and more than one cube? */
bool has_meshes(const struct routes *r);

/* Do rows, or columns, of cubes wrap? Those of SIPs? */
bool wraps(const struct kb_topology *t, bool y);
bool wraps_sips(const struct kb_topology *t);

#endif
