/* router_source.c -- where packets begin: pe_dma, pcie_ep, a memory, an m_cpu.
 *
 * It holds        parcels in a queue without end, one for each port by which packets leave
 * For how long    until their last segment is granted its way
 * Goes first      the smallest (ready, id, part, packet); a packet that has begun is finished first
 * Wait counted    queue_link
 *
 * A parcel is all that a transaction sends from there; its server is always free. Two kinds have
 * segments that come one by one, each with a time of its own: a packet at an m_cpu, and a packet of
 * the data of a read from a memory with banks.
 *
 * m_cpu, where a host's packets end and begin again
 * It holds        packets of hosts, without limit, until their transaction has its engine and they
 *                 have gone on
 * For how long    its overhead; then they wait for the engine, then as at any source
 * Goes first      the smallest (ready and engine taken, id, packet)
 * Wait counted    queue_engine, then queue_link
 */
#include "base/larger.h"
#include "network/banks.h"
#include "network/component_node.h"
#include "network/router_inside.h"

/* -- parcels -------------------------------------------------------------------------------- */

/* Does parcel `a` come before `b` at a source? */
static bool parcel_before(const struct kb_sim *s, const struct parcel *a, const struct parcel *b)
{
    const struct txn *x = &s->txns[a->slot], *y = &s->txns[b->slot];

    if (a->ready_fs != b->ready_fs)
        return a->ready_fs < b->ready_fs;
    if (x != y)
        return comes_before(s, x, y);
    return a->first < b->first;
}

/* Joins the queue of its port. */
static void queue_parcel(struct kb_sim *s, uint32_t row)
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
    if (port->source == row || router_is_hop(r->how))
        changes(s, r->how, index, parcel->ready_fs);
}

uint32_t make_parcel(struct kb_sim *s, uint32_t slot, uint32_t hop, uint64_t ready_fs)
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

bool parcel_append(struct kb_sim *s, uint32_t row, uint64_t ready_fs)
{
    struct parcel *parcel = &s->router->parcels[row];

    if (parcel->in == parcel->room && !parcel_room(parcel)) {
        fail(s, KB_NO_MEMORY);
        return false;
    }
    parcel->rows[parcel->in++] = ready_fs;
    return true;
}

void send_all(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t row = make_parcel(s, slot, 0, t);

    if (row != NO_PARCEL)
        queue_parcel(s, row);
}

/* One packet, from segment `number` on, which come one by one. NO_PARCEL: no memory. */
static uint32_t make_packet(struct kb_sim *s, uint32_t slot, uint32_t hop, uint32_t number,
                            uint64_t ready_fs)
{
    struct router *r = s->router;
    uint32_t row = make_parcel(s, slot, hop, ready_fs), left = r->flights[slot].n - number;

    if (row == NO_PARCEL)
        return row;
    r->parcels[row].first = number;
    r->parcels[row].n = left < r->packet_segments ? left : r->packet_segments;
    r->parcels[row].in = 0;
    r->parcels[row].gated = true;
    return row;
}

/* A segment has joined a packet: its port may wait for that. */
static void tell_port(struct kb_sim *s, uint32_t row, uint64_t ready_fs)
{
    struct router *r = s->router;
    const struct parcel *parcel = &r->parcels[row];
    uint32_t index = r->flights[parcel->slot].way->rows[parcel->hop].port;

    if (r->ports[index].source == row || router_is_hop(r->how))
        changes(s, r->how, index, ready_fs);
}

void router_send(struct kb_sim *s, uint64_t t, uint32_t slot, uint32_t number, uint32_t *parcel)
{
    bool begins = begins_packet(s->router, number);

    if (begins)
        *parcel = make_packet(s, slot, 0, number, t);
    if (*parcel == NO_PARCEL || !parcel_append(s, *parcel, t))
        return;
    if (begins)
        queue_parcel(s, *parcel);
    else
        tell_port(s, *parcel, t);
}

/* -- m_cpu ---------------------------------------------------------------------------------- */

/* The row of its way by which it has come. */
static uint32_t hop_of(const struct router *r, const struct segment *segment)
{
    return (uint32_t)(segment->row - r->flights[segment->slot].way->rows);
}

/* A packet comes to the m_cpu: it goes on, or waits for the engine. NO_PARCEL: no memory. */
static uint32_t begin_packet(struct kb_sim *s, const struct segment *segment)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[segment->slot];
    uint32_t row =
        make_packet(s, segment->slot, hop_of(r, segment) + 1, segment->number, segment->ready_fs);

    if (row == NO_PARCEL)
        return row;
    if (flight->answers || flight->has_engine) {
        queue_parcel(s, row);
        return row;
    }
    r->parcels[row].next = NO_PARCEL;
    *(flight->held == NO_PARCEL ? &flight->held : &r->parcels[flight->last_held].next) = row;
    flight->last_held = row;
    return row;
}

void come_to_m_cpu(struct kb_sim *s, uint32_t input, const struct segment *segment)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[segment->slot];

    if (!flight->answers && !flight->told_engine) {
        flight->told_engine = true;
        s->txns[segment->slot].stage = TXN_TO_ENGINE;
        post_row(s, segment->ready_fs, EV_ARRIVE, segment->slot);
    }
    if (segment->begins)
        r->vcs[input].parcel = begin_packet(s, segment);
    if (r->vcs[input].parcel != NO_PARCEL &&
        parcel_append(s, r->vcs[input].parcel, segment->ready_fs))
        tell_port(s, r->vcs[input].parcel, segment->ready_fs);
}

/* It has its engine at `t`: what has come goes on. */
static void let_go(struct kb_sim *s, uint64_t t, struct flight *flight)
{
    struct router *r = s->router;

    flight->has_engine = true;
    for (uint32_t row = flight->held, next; row != NO_PARCEL; row = next) {
        struct parcel *parcel = &r->parcels[row];

        next = parcel->next;
        parcel->ready_fs = larger(parcel->ready_fs, t);
        for (uint32_t i = 0; i < parcel->in; i++)
            parcel->rows[i] = larger(parcel->rows[i], t);
        queue_parcel(s, row);
    }
    flight->held = NO_PARCEL;
}

void router_go_on(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct flight *flight = &s->router->flights[slot];

    if (flight->told_engine) {
        let_go(s, t, flight);
        return;
    }
    s->txns[slot].stage = TXN_TO_MEMORY;
    post_row(s, after(t, flight->way->delay_fs[1]), EV_ARRIVE, slot);
}

/* -- the begin of a way --------------------------------------------------------------------- */

/* Of the run's `how`, what concerns the network. */
static int how_of_run(const struct kb_sim *s)
{
    if (s->options.engine == KB_HOP)
        return HOW_HOP | HOW_COUNTED;
    return sim_counts(s) ? HOW_COUNTED : 0;
}

static uint32_t packets_of(const struct kb_sim *s, uint64_t nbytes)
{
    return T->packet_bytes ? (uint32_t)((nbytes + T->packet_bytes - 1) / T->packet_bytes) : 1;
}

/* A request that takes no link. */
static void set_out_as_delay(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct way *way = s->router->flights[slot].way;

    s->txns[slot].stage = way->n_to_m_cpu ? TXN_TO_ENGINE : TXN_TO_MEMORY;
    post_row(s, after(t, way->source_fs + way->delay_fs[0]), EV_ARRIVE, slot);
}

/* The node where it begins is a component, which is asked once for all of it. */
static void send_by_component(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct flight *flight = &s->router->flights[slot];
    const struct way *way = flight->way;
    int64_t fs = ask_node_of(s, t, slot, way->source, flight->nbytes, way->source_fs);

    if (fs == NODE_NEVER)
        return;
    s->instances.served[slot].delay_fs += fs - way->source_fs;
    send_all(s, after(t, fs), slot);
}

void router_set_out(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct router *r = s->router;
    struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(T, txn);
    bool writes = txn_writes(txn), delay = !writes && (!T->command_bytes || trip.back);
    struct flight *flight = &r->flights[slot];
    uint64_t nbytes = txn->nbytes;

    r->how = how_of_run(s);
    r->has_trains = !r->how && !r->tally && r->speedup == 1;
    r->has_wakes = r->how & HOW_HOP;
    if (!writes)
        nbytes = T->command_bytes < T->segment_bytes ? T->command_bytes : T->segment_bytes;
    *flight = (struct flight){.way = router_way(s, slot, false),
                              .nbytes = nbytes,
                              .n = segments_of(r, nbytes),
                              .packets_left = packets_of(s, nbytes),
                              .arrivals = UINT32_MAX,
                              .heads = NO_NOTE,
                              .held = NO_PARCEL};
    if (!flight->way) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    flight->extra_fs = flight->way->extra_fs;
    if (banks_are_behind(s, txn))
        begin_whole(s, slot);
    if (delay)
        set_out_as_delay(s, t, slot);
    else if (flight->way->source != NO_NODE)
        send_by_component(s, t, slot);
    else
        send_all(s, after(t, flight->way->source_fs), slot);
}
