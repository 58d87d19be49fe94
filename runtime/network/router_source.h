/* router_source.h -- where packets begin: pe_dma, pcie_ep, a memory, an m_cpu.
 *
 * It holds        parcels in a queue without end, one for each port by which packets leave
 * For how long    until their last segment is granted its way
 * Goes first      the smallest (ready, id, part, packet); a packet that has begun is finished first
 * Wait counted    queue_link
 *
 * A parcel is all that a transaction sends from there; at an m_cpu it is one packet, whose segments
 * come one by one. Its server is always free.
 */
#ifndef NETWORK_ROUTER_SOURCE_H
#define NETWORK_ROUTER_SOURCE_H
#include "network/router_buffer.h"

/* -- segments and packets ------------------------------------------------------------------- */

static ALWAYS_INLINE uint32_t segments_of(const struct kb_sim *s, uint64_t nbytes)
{
    (void)s;
    return (uint32_t)((nbytes + T->segment_bytes - 1) / T->segment_bytes);
}

/* Segments of a packet; of a whole transaction there are never so many. */
static ALWAYS_INLINE uint32_t packet_segments(const struct kb_sim *s)
{
    (void)s;
    return T->packet_bytes ? T->packet_bytes / T->segment_bytes : UINT32_MAX;
}

static ALWAYS_INLINE uint32_t packets_of(const struct kb_sim *s, uint64_t nbytes)
{
    (void)s;
    return T->packet_bytes ? (uint32_t)((nbytes + T->packet_bytes - 1) / T->packet_bytes) : 1;
}

static ALWAYS_INLINE uint32_t packet_of(const struct kb_sim *s, uint32_t number)
{
    return T->packet_bytes ? number / packet_segments(s) : 0;
}

static ALWAYS_INLINE bool begins_packet(const struct kb_sim *s, uint32_t number)
{
    return T->packet_bytes ? number % packet_segments(s) == 0 : number == 0;
}

static ALWAYS_INLINE bool ends_packet(const struct kb_sim *s, const struct flight *flight,
                                      uint32_t number)
{
    return number + 1 == flight->n || begins_packet(s, number + 1);
}

static ALWAYS_INLINE uint32_t bytes_of(const struct kb_sim *s, const struct flight *flight,
                                       uint32_t number)
{
    (void)s;
    uint64_t left = flight->nbytes - (uint64_t)number * T->segment_bytes;

    return left < T->segment_bytes ? (uint32_t)left : T->segment_bytes;
}

/* Segment `number` of a flight, over row `row` of its way. */
static ALWAYS_INLINE struct segment segment_of(const struct kb_sim *s, uint32_t slot,
                                               uint32_t number, const struct way_row *row)
{
    const struct flight *flight = &s->router->flights[slot];

    return (struct segment){.row = row,
                            .slot = slot,
                            .number = number,
                            .nbytes = bytes_of(s, flight, number),
                            .begins = begins_packet(s, number),
                            .ends = ends_packet(s, flight, number)};
}

/* -- parcels -------------------------------------------------------------------------------- */

/* Does parcel `a` come before `b` at a source? */
static ALWAYS_INLINE bool parcel_before(const struct kb_sim *s, const struct parcel *a,
                                        const struct parcel *b)
{
    const struct txn *x = &s->txns[a->slot], *y = &s->txns[b->slot];

    if (a->ready_fs != b->ready_fs)
        return a->ready_fs < b->ready_fs;
    if (x != y)
        return comes_before(s, x, y);
    return a->first < b->first;
}

/* Joins the queue of its port. */
static inline void queue_parcel(struct kb_sim *s, int how, uint32_t row)
{
    struct router *r = s->router;
    struct parcel *parcel = &r->parcels[row];
    uint32_t index = r->flights[parcel->slot].way->rows[parcel->hop].port;
    struct out_port *port = &r->ports[index];
    uint32_t *link = &port->source;

    if (*link != NO_PARCEL && !parcel_before(s, parcel, &r->parcels[port->source_last]))
        link = &r->parcels[port->source_last].next;
    else if (*link != NO_PARCEL && r->parcels[*link].sent > 0)
        link = &r->parcels[*link].next;
    while (*link != NO_PARCEL && !parcel_before(s, parcel, &r->parcels[*link]))
        link = &r->parcels[*link].next;
    parcel->next = *link;
    *link = row;
    if (parcel->next == NO_PARCEL)
        port->source_last = row;
    if (port->source == row || how & HOW_HOP)
        changes(s, how, index, parcel->ready_fs);
}

/* Something begins at row `hop` of the way of `slot`; NO_PARCEL: no memory. */
static inline uint32_t make_parcel(struct kb_sim *s, uint32_t slot, uint32_t hop, uint64_t ready_fs)
{
    struct router *r = s->router;
    uint32_t row = router_new_parcel(r);

    if (row == NO_PARCEL) {
        fail(s, KB_NO_MEMORY);
        return row;
    }
    r->parcels[row] = (struct parcel){.ready_fs = ready_fs,
                                      .rows = r->parcels[row].rows,
                                      .room = r->parcels[row].room,
                                      .slot = slot,
                                      .hop = hop,
                                      .n = r->flights[slot].n,
                                      .in = r->flights[slot].n};
    return row;
}

/* All of its segments are ready at `t` at the begin of its way. */
static inline void send_all(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    uint32_t row = make_parcel(s, slot, 0, t);

    if (row != NO_PARCEL)
        queue_parcel(s, how, row);
}

/* The next segment of a source has gone at `t`. */
static ALWAYS_INLINE void take_from_source(struct kb_sim *s, int how, uint32_t index, uint64_t t)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    struct parcel *parcel = &r->parcels[port->source];

    port->source_from_fs = t + 1;
    if (++parcel->sent == parcel->n) {
        uint32_t row = port->source;

        port->source = parcel->next;
        parcel->next = r->free_parcel;
        r->free_parcel = row;
    }
    if (how & HOW_HOP && port->source != NO_PARCEL)
        changes(s, how, index, t + 1);
}

#endif
