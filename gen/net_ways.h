/* net_ways.h -- the ways of pairs of cubes of a net, where a pair may have several. */
#ifndef NET_WAYS_H
#define NET_WAYS_H
#include "routes.h"

/* Does a way of the least weight to `to` lead on from `from` over `port`? */
typedef bool (*net_leads)(const void *of, uint32_t from, uint32_t port, uint32_t to);

/* What is found among cubes that are counted from `first` on, those of a SIP or all. */
struct net_ways {
    struct routes *r;
    net_leads leads;
    const void *of;
    uint32_t first, to;
    uint8_t *ports;                              /* of the way that is looked at */
    uint32_t n;                                  /* ways that are found */
    uint32_t *lists, *after, n_after, after_cap; /* of pairs before, by what they have: same_as() */
};

struct net_ways net_ways_make(struct routes *r, net_leads leads, const void *of);

/*
 * Finds the ways from `from` to `to`, `sip.paths` of them at most, and if there are several adds
 * them to r->path_rows and r->path_ports, unless another pair has the same. The number of the
 * first, from 1; 0: there is one at most.
 */
uint32_t net_ways_add(struct net_ways *w, uint32_t from, uint32_t to);

/* False after a message: the ways of all pairs take more room than there is for them. */
bool net_ways_fit(const struct routes *r);

#endif
