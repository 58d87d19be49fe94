/* router_end.h -- where packets end: memories, and pe_dma and pcie_ep for answers.
 *
 * A memory
 * It holds        one packet at a time, or one read; for the overhead, which the first packet of a
 *                 transaction pays, and for the packet's part of the transaction's own time
 *                 (hold: own) or of the drain of its route (hold: route)
 * Goes first      the smallest (arrival of the first segment, id, packet)
 * Wait counted    queue_memory: of the first packet
 * Golden number   docs/network.md
 *
 * A write is done when its last tail is in, its last packet has been served, and its drain has
 * passed since service began. A read's data are ready at the memory's port an overhead and a
 * latency after its service began, and it is done when the last tail is in at the requester.
 */
#ifndef NETWORK_ROUTER_END_H
#define NETWORK_ROUTER_END_H
#include "network/banks.h"
#include "network/component_behind.h"

static ALWAYS_INLINE const struct memory_row *sink_row_of(const struct kb_sim *s,
                                                          const struct txn *txn)
{
    (void)s;
    return cost_memory(T, txn->dst, txn_writes(txn));
}

/* For how long bytes from `from` on hold the memory, without the overhead. */
static ALWAYS_INLINE int64_t service_fs(const struct kb_sim *s, const struct txn *txn,
                                        const struct memory_row *memory, uint64_t from,
                                        uint64_t nbytes)
{
    double gbs = memory->hold == HOLD_OWN ? cost_own_gbs(&s->mask, memory)
                                          : s->router->flights[(size_t)(txn - s->txns)].way->gbs;

    return part_fs(from, nbytes, gbs);
}

/* When the memory of a transaction is free: a TCM has two ports. */
static ALWAYS_INLINE uint64_t *free_of(struct kb_sim *s, const struct txn *txn)
{
    uint32_t port = unit_is_tcm(T, dst_unit(T, txn->dst)) && txn_writes(txn);

    return &s->router->sinks[txn->dst].free_fs[port];
}

/* Statistics of a memory, in the station of its kind: engine/station.h. */
static ALWAYS_INLINE void count_service(struct kb_sim *s, uint32_t dst, uint64_t wait,
                                        uint64_t hold, uint64_t free_fs)
{
    if (!s->early) {
        s->memories[dst].busy_fs += hold;
        return;
    }
    s->early[dst].busy_fs += hold;
    s->early[dst].free_fs = (int64_t)free_fs;
    if (STATS)
        s->early[dst].wait_fs += wait;
}

/* A turn at a memory: when it begins, and for how long it keeps others away. */
struct turn {
    uint64_t start_fs, hold_fs;
};

/* The memory takes what has come at `t`, from `from` on. */
static ALWAYS_INLINE struct turn serve_part(struct kb_sim *s, int how, uint32_t slot, uint64_t t,
                                            uint64_t from, uint64_t nbytes)
{
    struct txn *txn = &s->txns[slot];
    const struct memory_row *memory = sink_row_of(s, txn);
    uint64_t *free_fs = free_of(s, txn);
    uint64_t start = *free_fs > t ? *free_fs : t;
    int64_t hold;

    if (is_served(s, how, slot))
        hold = hold_behind(s, slot, start, from, nbytes);
    else
        hold = service_fs(s, txn, memory, from, nbytes) +
               (from == 0 ? memory->overhead_fs & s->mask.overhead : 0);
    *free_fs = after(start, hold);
    count_service(s, txn->dst, from == 0 ? start - t : 0, (uint64_t)hold, *free_fs);
    return (struct turn){start, (uint64_t)hold};
}

static ALWAYS_INLINE uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* All of a write is in, and has been served. */
static inline void finish_write(struct kb_sim *s, int how, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct flight *flight = &s->router->flights[slot];
    const struct memory_row *memory = sink_row_of(s, txn);
    int64_t latency_fs = memory->latency_fs & s->mask.overhead;
    uint64_t drained;

    if (is_served(s, how, slot)) { /* what it has answered has latency and drain in it */
        int64_t memory_fs = s->instances.served[slot].memory_fs;

        if (flight->served_fs == ROUTER_NEVER)
            return;
        latency_fs = latency_fs < memory_fs ? latency_fs : memory_fs;
        flight->done_fs = latest(after(flight->tail_fs, latency_fs), flight->served_fs);
    } else {
        drained = after(flight->start_fs, (memory->overhead_fs & s->mask.overhead) +
                                              drain_fs(txn->nbytes, flight->way->gbs));
        flight->done_fs =
            after(latest(latest(flight->tail_fs, flight->served_fs), drained), latency_fs);
    }
    post(s, flight->done_fs, EV_DONE, slot);
}

/* -- room in a memory, cube.hbm.queue_bytes -------------------------------------------------- */

/*
 * Room comes back when a segment is in and has been served. When that will be is known once the
 * service of its packet has begun: until then the parcel of the packet keeps the tails.
 */

/* Where the packet that begins at `from` ends. */
static ALWAYS_INLINE uint64_t packet_end(const struct kb_sim *s, const struct flight *flight,
                                         uint64_t from)
{
    uint64_t left = flight->nbytes - from;

    (void)s; /* T names it only where any topology runs */
    return T->packet_bytes && left > T->packet_bytes ? from + T->packet_bytes : flight->nbytes;
}

/* For how long the memory has bytes `from` to `end`, the last of the packet in `parcel`. A
 * component that is held for the drain at least has them at the pace of the route, another at its
 * own. */
static inline int64_t last_bytes_fs(const struct kb_sim *s, int how, const struct parcel *parcel,
                                    uint64_t from, uint64_t end)
{
    const struct txn *txn = &s->txns[parcel->slot];
    const struct memory_row *memory = sink_row_of(s, txn);
    double gbs = s->router->flights[parcel->slot].way->gbs;
    uint64_t first = (uint64_t)parcel->first * T->segment_bytes;
    int64_t hold_fs = (int64_t)parcel->hold_fs;

    if (!is_served(s, how, parcel->slot))
        return service_fs(s, txn, memory, from, end - from);
    hold_fs -= first ? 0 : memory->overhead_fs & s->mask.overhead;
    if (hold_fs < part_fs(first, end - first, gbs))
        gbs = cost_own_gbs(&s->mask, memory);
    return part_fs(from, end - from, gbs);
}

/* Segment `number`, whose tail is in at `tail`, will have been served: its room comes back. */
static inline void give_room(struct kb_sim *s, int how, uint32_t input, const struct parcel *parcel,
                             uint32_t number, uint64_t tail)
{
    const struct txn *txn = &s->txns[parcel->slot];
    const struct flight *flight = &s->router->flights[parcel->slot];
    uint32_t nbytes = bytes_of(s, flight, number);
    uint64_t from = (uint64_t)number * T->segment_bytes + nbytes;
    uint64_t end = packet_end(s, flight, (uint64_t)parcel->first * T->segment_bytes);
    int64_t served = 0;

    if (txn_writes(txn))
        served = (int64_t)parcel->hold_fs - last_bytes_fs(s, how, parcel, from, end);
    give_credit(s, how, input / vcs_of(s), input % vcs_of(s), true,
                latest(tail, after(parcel->ready_fs, served > 0 ? served : 0)), nbytes);
}

/* The packet that comes to `input` has its first segment in. */
static inline void open_packet(struct kb_sim *s, uint32_t input, const struct segment *segment)
{
    struct router *r = s->router;
    uint32_t row = make_parcel(s, segment->slot, input, ROUTER_NEVER);

    r->vcs[input].parcel = row;
    r->arrivals[r->flights[segment->slot].last_arrival].parcel = row;
    if (row == NO_PARCEL)
        return;
    r->parcels[row].first = segment->number;
    r->parcels[row].in = 0;
}

static inline void close_packet(struct router *r, uint32_t row)
{
    r->parcels[row].next = r->free_parcel;
    r->free_parcel = row;
}

/* A segment of it comes, its tail at `tail`. Its parcel ends when it is whole, and is served. */
static inline void keep_room(struct kb_sim *s, int how, uint32_t input,
                             const struct segment *segment, uint64_t tail)
{
    struct router *r = s->router;
    uint32_t row = r->vcs[input].parcel;
    struct parcel *parcel = &r->parcels[row];

    if (parcel->ready_fs != ROUTER_NEVER) {
        give_room(s, how, input, parcel, segment->number, tail);
        if (segment->ends)
            close_packet(r, row);
        return;
    }
    if (parcel->in == parcel->room && !parcel_room(parcel)) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    parcel->rows[parcel->in++] = tail;
    parcel->gated = segment->ends;
}

/* The packet in parcel `row` has its turn. */
static inline void serve_room(struct kb_sim *s, int how, uint32_t row, struct turn turn)
{
    struct parcel *parcel = &s->router->parcels[row];

    parcel->ready_fs = turn.start_fs;
    parcel->hold_fs = turn.hold_fs;
    for (uint32_t i = 0; i < parcel->in; i++)
        give_room(s, how, parcel->hop, parcel, parcel->first + i, parcel->rows[i]);
    if (parcel->gated)
        close_packet(s->router, row);
}

/* -- segments that come to their end --------------------------------------------------------- */

/* The first segment of a packet comes to the memory at `t`. */
static ALWAYS_INLINE bool announce(struct kb_sim *s, uint64_t t, uint32_t slot, uint32_t packet)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[slot];
    uint32_t row = router_new_arrival(r);

    if (row == UINT32_MAX) {
        fail(s, KB_NO_MEMORY);
        return false;
    }
    r->arrivals[row] = (struct arrival){.next = UINT32_MAX, .packet = packet, .parcel = NO_PARCEL};
    *(flight->arrivals == UINT32_MAX ? &flight->arrivals
                                     : &r->arrivals[flight->last_arrival].next) = row;
    flight->last_arrival = row;
    s->txns[slot].stage = TXN_TO_MEMORY;
    post(s, t, EV_ARRIVE, slot);
    return true;
}

/* A segment comes to the memory by `input` at `t`, its tail `taken` later. */
static ALWAYS_INLINE void come_in(struct kb_sim *s, int how, uint64_t t, uint64_t taken,
                                  uint32_t input, const struct segment *segment)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[segment->slot];
    bool limited = !r->ports[input / vcs_of(s)].endless;

    if (segment->begins) {
        if (!announce(s, t, segment->slot, packet_of(s, segment->number)))
            return;
        if (limited)
            open_packet(s, input, segment);
    }
    if (limited && r->vcs[input].parcel != NO_PARCEL)
        keep_room(s, how, input, segment, t + taken);
    if (!txn_writes(&s->txns[segment->slot]))
        return;
    flight->tail_fs = latest(flight->tail_fs, t + taken);
    if (++flight->in < flight->n || flight->packets_left > 0)
        return;
    if (is_banked(s, &s->txns[segment->slot]))
        finish_write_in_banks(s, segment->slot);
    else
        finish_write(s, how, segment->slot);
}

/* A segment of an answer comes to its requester at `t`. */
static ALWAYS_INLINE void come_back(struct kb_sim *s, uint64_t t, uint64_t taken,
                                    const struct segment *segment)
{
    struct flight *flight = &s->router->flights[segment->slot];

    if (segment->number == 0)
        flight->first_fs = t;
    flight->tail_fs = latest(flight->tail_fs, t + taken);
    if (++flight->in < flight->n)
        return;
    flight->done_fs = latest(flight->tail_fs,
                             after(flight->first_fs, drain_fs(flight->nbytes, flight->way->gbs)));
    post(s, flight->done_fs, EV_DONE, segment->slot);
}

/* -- events of class 2 at a memory ---------------------------------------------------------- */

/* Takes the first of the packets that are announced; returns its parcel. */
static ALWAYS_INLINE uint32_t take_arrival(struct router *r, struct flight *flight)
{
    uint32_t row = flight->arrivals;

    flight->arrivals = r->arrivals[row].next;
    r->arrivals[row].next = r->free_arrival;
    r->free_arrival = row;
    return r->arrivals[row].parcel;
}

/* The first segment of a packet has come to the memory. */
static inline void serve_packet(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct router *r = s->router;
    struct txn *txn = &s->txns[slot];
    struct flight *flight = &r->flights[slot];
    uint32_t packet = r->arrivals[flight->arrivals].packet;
    uint64_t from = (uint64_t)packet * T->packet_bytes;
    uint64_t nbytes = packet_end(s, flight, from) - from;
    uint32_t parcel = take_arrival(r, flight);
    struct turn turn;

    if (is_banked(s, txn)) {
        if (is_told(s, how))
            observe_serve(s, t, t, slot, packet);
        banks_arrive_behind(s, how, t, slot, from, nbytes);
        return;
    }
    turn = serve_part(s, how, slot, t, from, nbytes);
    if (is_told(s, how))
        observe_serve(s, t, turn.start_fs, slot, packet);
    if (from == 0) {
        txn->arrive_fs = (int64_t)t;
        txn->service_fs = (int64_t)turn.start_fs;
        flight->start_fs = turn.start_fs;
    }
    if (parcel != NO_PARCEL)
        serve_room(s, how, parcel, turn);
    if (!is_served(s, how, slot))
        flight->served_fs = latest(flight->served_fs, *free_of(s, txn));
    if (--flight->packets_left == 0 && flight->in == flight->n)
        finish_write(s, how, slot);
}

/* The data of the flight in `slot` are to go back. */
static inline bool turn_back(struct kb_sim *s, uint32_t slot)
{
    struct flight *flight = &s->router->flights[slot];

    router_leave_way(flight->way);
    flight->way = router_way(s, slot, true);
    if (!flight->way) {
        fail(s, KB_NO_MEMORY);
        return false;
    }
    flight->answers = true;
    flight->nbytes = s->txns[slot].nbytes;
    flight->n = segments_of(s, flight->nbytes);
    flight->in = 0;
    return true;
}

/* A read, or its command, has come to the memory. */
static inline void serve_read(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct router *r = s->router;
    struct txn *txn = &s->txns[slot];
    struct flight *flight = &r->flights[slot];
    const struct memory_row *memory = sink_row_of(s, txn);
    uint32_t parcel = flight->arrivals == UINT32_MAX ? NO_PARCEL : take_arrival(r, flight);
    int64_t memory_fs = cost_in_memory_fs(&s->mask, memory);
    struct turn turn;

    if (is_banked(s, txn)) {
        if (is_told(s, how))
            observe_serve(s, t, t, slot, 0);
        if (turn_back(s, slot))
            banks_arrive_behind(s, how, t, slot, 0, txn->nbytes);
        return;
    }
    turn = serve_part(s, how, slot, t, 0, txn->nbytes);
    txn->arrive_fs = (int64_t)t;
    txn->service_fs = (int64_t)turn.start_fs;
    flight->start_fs = turn.start_fs;
    if (is_told(s, how))
        observe_serve(s, t, turn.start_fs, slot, 0);
    if (parcel != NO_PARCEL)
        serve_room(s, how, parcel, turn);
    if (is_served(s, how, slot)) {
        if (flight->served_fs == ROUTER_NEVER)
            return;
        memory_fs = s->instances.served[slot].memory_fs;
    }
    if (how & HOW_KERNELS) { /* its content is that at the end of its service */
        txn->stage = TXN_SERVED;
        post(s, *free_of(s, txn), EV_DONE, slot);
    }
    if (turn_back(s, slot))
        send_all(s, how, after(turn.start_fs, memory_fs), slot);
}

/* It is done: it needs its way no more. */
static ALWAYS_INLINE void leave_network(struct kb_sim *s, uint32_t slot)
{
    struct flight *flight = &s->router->flights[slot];

    router_leave_way(flight->way);
    flight->way = NULL;
}

static ALWAYS_INLINE void come_to_sink(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    if (txn_writes(&s->txns[slot]))
        serve_packet(s, how, t, slot);
    else
        serve_read(s, how, t, slot);
}

#endif
