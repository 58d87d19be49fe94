/* router_m_cpu.h -- m_cpu, where a host's packets end and begin again.
 *
 * It holds        packets of hosts, without limit, until their transaction has its engine and they
 *                 have gone on
 * For how long    its overhead; then they wait for the engine (network/m_cpu.h), then as at any
 *                 source
 * Goes first      the smallest (ready and engine taken, id, packet)
 * Wait counted    queue_engine, then queue_link
 *
 * Each packet is a parcel of its own, as its segments come one by one.
 */
#ifndef NETWORK_ROUTER_M_CPU_H
#define NETWORK_ROUTER_M_CPU_H
#include "network/router_source.h"

/* The row of its way by which it has come. */
static inline uint32_t hop_of(const struct kb_sim *s, const struct segment *segment)
{
    return (uint32_t)(segment->row - s->router->flights[segment->slot].way->rows);
}

/* A packet comes to the m_cpu, over row `hop` of its way; NO_PARCEL: no memory. */
static inline uint32_t begin_parcel(struct kb_sim *s, int how, const struct segment *segment,
                                    uint64_t ready_fs)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[segment->slot];
    uint32_t row = make_parcel(s, segment->slot, hop_of(s, segment) + 1, ready_fs), n;

    if (row == NO_PARCEL)
        return row;
    n = flight->n - segment->number;
    r->parcels[row].first = segment->number;
    r->parcels[row].n = n < packet_segments(s) ? n : packet_segments(s);
    r->parcels[row].in = 0;
    r->parcels[row].gated = true;
    if (flight->answers || flight->has_engine) {
        queue_parcel(s, how, row);
        return row;
    }
    r->parcels[row].next = NO_PARCEL;
    *(flight->held == NO_PARCEL ? &flight->held : &r->parcels[flight->last_held].next) = row;
    flight->last_held = row;
    return row;
}

/* A segment comes to the m_cpu by VC `input`, and is ready at `ready_fs`. */
static inline void come_to_m_cpu(struct kb_sim *s, int how, uint32_t input,
                                 const struct segment *segment, uint64_t ready_fs)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[segment->slot];
    struct parcel *parcel;
    uint32_t index;

    if (!flight->answers && !flight->told_engine) {
        flight->told_engine = true;
        s->txns[segment->slot].stage = TXN_TO_ENGINE;
        post(s, ready_fs, EV_ARRIVE, segment->slot);
    }
    if (segment->begins)
        r->vcs[input].parcel = begin_parcel(s, how, segment, ready_fs);
    if (r->vcs[input].parcel == NO_PARCEL)
        return;
    parcel = &r->parcels[r->vcs[input].parcel];
    if (parcel->in == parcel->room && !parcel_room(parcel)) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    parcel->rows[parcel->in++] = ready_fs;
    index = flight->way->rows[parcel->hop].port;
    if (how & HOW_HOP || r->ports[index].source == r->vcs[input].parcel)
        changes(s, how, index, ready_fs);
}

/* It has its engine at `t`: what has come goes on. */
static inline void leave_m_cpu_by_router(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[slot];

    flight->has_engine = true;
    for (uint32_t row = flight->held, next; row != NO_PARCEL; row = next) {
        struct parcel *parcel = &r->parcels[row];

        next = parcel->next;
        parcel->ready_fs = parcel->ready_fs > t ? parcel->ready_fs : t;
        for (uint32_t i = 0; i < parcel->in; i++)
            parcel->rows[i] = parcel->rows[i] > t ? parcel->rows[i] : t;
        queue_parcel(s, how, row);
    }
    flight->held = NO_PARCEL;
}

#endif
