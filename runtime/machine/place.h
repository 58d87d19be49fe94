/*
 * place.h -- components and endpoints as one number: kb_place.
 *
 * The results of a run (shares of a latency, counters, lanes of a timeline) name places by numbers,
 * which can be compared and sorted and cost nothing to make. kb_place_name() makes the text, when
 * it is printed. Bits 63..56 are the kind, the rest is the number that the engine has
 * anyway:
 *
 *     kind               number                                example on cube8
 *     KB_AT_PE, _HOST    packed source                         0x01, 1: c0.pe1
 *     KB_AT_MEMORY       packed memory                         0x03, 163: c5.slice3
 *     KB_AT_NODE         chiplet, its owner, node inside it    0x04, 32: sip0.cube0.pe1.pe_cpu
 *     KB_AT_LINK         link station (walk.h)                 0x05, 454: ucie-S of cube 1 -> ...
 *     KB_AT_CHANNEL      packed source * 2, + 1 to write       0x06, 3: pe1.pe_dma.write
 *     KB_AT_ENGINE       cube * 2, + 1 to write                0x07, 10: cube5.m_cpu.read
 *     KB_AT_PORT         PE * 4 + enum port                    0x08, 6: pe1.pe_gemm
 *     KB_AT_BANKS        packed memory * 128 + channel         0x09, 130: channel 2 of c0.slice1
 *     KB_AT_VC           link station * 64 + VC                0x0A, 29057: VC 1 of that link
 *     KB_AT_CACHE        packed memory                         0x0B, 163: of c5.slice3
 */
#ifndef PLACE_H
#define PLACE_H
#include "machine/cost.h"

enum { PLACE_KIND = 56, PLACE_CHIPLET = 48, PLACE_OWNER = 16, PLACE_BANKS = 7 };

static inline kb_place place_of(kb_place_kind kind, uint64_t index)
{
    return (kb_place)kind << PLACE_KIND | index;
}

static inline uint64_t place_index(kb_place place)
{
    return place & ((UINT64_C(1) << PLACE_KIND) - 1);
}

/* The host of an IO chiplet of the SIP of `src` (packed), and back: which chiplet. */
static inline kb_place place_host(uint32_t src, uint32_t chiplet)
{
    return place_of(KB_AT_HOST, (uint64_t)chiplet << PLACE_CHIPLET | src);
}

static inline uint32_t place_chiplet(kb_place place)
{
    return (uint32_t)(place_index(place) >> PLACE_CHIPLET);
}

/* Node `node` of a chiplet: of cube `owner` over all SIPs, or of IO chiplet `owner` over all. */
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

/* A channel with banks of a packed memory. */
static inline kb_place place_banks(uint32_t memory, uint32_t channel)
{
    return place_of(KB_AT_BANKS, (uint64_t)memory << PLACE_BANKS | channel);
}

enum { PLACE_VCS = 64 };

/* Virtual channel `vc` of the port that begins at a link station. */
static inline kb_place place_vc(uint64_t link, uint32_t vc)
{
    return place_of(KB_AT_VC, link * PLACE_VCS + vc);
}

/* A node of a packed PE, by its kind. */
kb_place place_pe_node(const struct kb_topology *t, uint32_t src, enum node_kind kind);

#endif
