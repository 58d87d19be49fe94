/* place.h -- components and endpoints as one number: kb_place. */
#ifndef PLACE_H
#define PLACE_H
#include "machine/cost.h"

enum { PLACE_KIND = 56, PLACE_CHIPLET = 48, PLACE_OWNER = 16 };

static inline kb_place place_of(kb_place_kind kind, uint64_t index)
{
    return (kb_place)kind << PLACE_KIND | index;
}

static inline uint64_t place_index(kb_place place)
{
    return place & ((UINT64_C(1) << PLACE_KIND) - 1);
}

/* Node `node` of a chiplet: of cube `owner` over all SIPs, or of the IO chiplet of SIP `owner`. */
static inline kb_place place_node(enum chiplet chiplet, uint32_t owner, uint32_t node)
{
    return place_of(KB_AT_NODE,
                    (uint64_t)chiplet << PLACE_CHIPLET | (uint64_t)owner << PLACE_OWNER | node);
}

/* Port `port` (enum port) of the PE with that number over all SIPs and cubes. */
static inline kb_place place_port(uint32_t pe, uint32_t port)
{
    return place_of(KB_AT_PORT, (uint64_t)pe << 2 | port);
}

/* A node of that PE, by its kind. */
kb_place place_pe_node(const struct kb_topology *t, uint32_t pe, enum node_kind kind);

#endif
