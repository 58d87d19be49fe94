/* router_end.c -- where packets end: memories, and pe_dma and pcie_ep for answers.
 *
 * The end of a way holds nothing; what comes to a memory is a part of a transaction, of which that
 * is known when its first segment is there. A write is done when all of its parts have been served
 * and its last tail is in, a read when the last tail is in at the requester, but not before its
 * first segment and its drain.
 *
 * Room in a memory, cube.hbm.queue_bytes. Room comes back when a segment is in and has been served.
 * When that will be is known once the service of its packet has begun: until then the parcel of the
 * packet keeps the tails.
 */
#include "base/larger.h"
#include "network/router_inside.h"

/* -- room ----------------------------------------------------------------------------------- */

/* Where the packet that begins at `from` ends. */
static uint64_t packet_end(const struct kb_sim *s, uint64_t nbytes, uint64_t from)
{
    uint64_t left = nbytes - from;

    return T->packet_bytes && left > T->packet_bytes ? from + T->packet_bytes : nbytes;
}

/* Segment `number`, whose tail is in at `tail`, will have been served: its room comes back. */
static void give_room(struct kb_sim *s, uint32_t input, const struct parcel *parcel,
                      uint32_t number, uint64_t tail)
{
    struct router *r = s->router;
    uint32_t nbytes = bytes_of_segment(r, parcel->nbytes, number);
    uint64_t from = (uint64_t)number * r->segment_bytes + nbytes;
    uint64_t end = packet_end(s, parcel->nbytes, (uint64_t)parcel->first * r->segment_bytes);
    int64_t served = 0;

    if (txn_writes(&s->txns[parcel->slot]))
        served = (int64_t)parcel->hold_fs - part_fs(from, end - from, parcel->gbs);
    give_credit(s, s->router->how, input, true,
                larger(tail, after(parcel->ready_fs, served > 0 ? served : 0)), nbytes);
}

/* The packet that comes to `input` has its first segment in. */
static void open_packet(struct kb_sim *s, uint32_t input, const struct segment *segment)
{
    struct router *r = s->router;
    uint32_t row = make_parcel(s, segment->slot, input, ROUTER_NEVER);

    r->vcs[input].parcel = row;
    r->arrivals[r->flights[segment->slot].last_arrival].parcel = row;
    if (row == NO_PARCEL)
        return;
    r->parcels[row].first = segment->number;
    r->parcels[row].nbytes = r->flights[segment->slot].nbytes;
    r->parcels[row].in = 0;
}

static void close_packet(struct router *r, uint32_t row)
{
    r->parcels[row].next = r->free_parcel;
    r->free_parcel = row;
}

/* A segment of it comes, its tail at `tail`. Its parcel ends when it is whole, and is served. */
static void keep_room(struct kb_sim *s, uint32_t input, const struct segment *segment,
                      uint64_t tail)
{
    struct router *r = s->router;
    uint32_t row = r->vcs[input].parcel;
    struct parcel *parcel = &r->parcels[row];

    if (parcel->ready_fs == ROUTER_NEVER) {
        if (parcel_append(s, row, tail))
            parcel->gated = segment->ends;
        return;
    }
    give_room(s, input, parcel, segment->number, tail);
    if (segment->ends)
        close_packet(r, row);
}

void router_serve(struct kb_sim *s, const struct delivery *part, const struct turn *turn)
{
    struct parcel *parcel = &s->router->parcels[part->parcel];

    parcel->ready_fs = turn->start_fs;
    parcel->hold_fs = turn->hold_fs;
    parcel->gbs = turn->gbs;
    for (uint32_t i = 0; i < parcel->in; i++)
        give_room(s, parcel->hop, parcel, parcel->first + i, parcel->rows[i]);
    if (parcel->gated)
        close_packet(s->router, part->parcel);
}

/* -- parts that come to a memory ------------------------------------------------------------- */

/* The row of the transaction has an event for the first of those that are to come. */
static void announce_first(struct kb_sim *s, uint32_t slot)
{
    const struct router *r = s->router;

    post_row(s, r->arrivals[r->flights[slot].arrivals].at_fs, EV_ARRIVE, slot);
}

/* The first segment of a packet comes to the memory at `t`. */
static bool announce(struct kb_sim *s, uint64_t t, uint32_t slot, uint32_t packet)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[slot];
    uint32_t row = router_new_arrival(r);

    if (row == UINT32_MAX) {
        fail(s, KB_NO_MEMORY);
        return false;
    }
    r->arrivals[row] =
        (struct arrival){.at_fs = t, .next = UINT32_MAX, .packet = packet, .parcel = NO_PARCEL};
    if (flight->arrivals != UINT32_MAX) {
        r->arrivals[flight->last_arrival].next = row;
        flight->last_arrival = row;
        return true;
    }
    flight->arrivals = flight->last_arrival = row;
    s->txns[slot].stage = TXN_TO_MEMORY;
    announce_first(s, slot);
    return true;
}

struct delivery router_part(struct kb_sim *s, uint32_t slot)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[slot];
    uint32_t row = flight->arrivals;
    struct delivery part = {.nbytes = s->txns[slot].nbytes, .parcel = NO_PARCEL};

    if (row == UINT32_MAX)
        return part; /* a read, whose request took no link */
    part.parcel = r->arrivals[row].parcel;
    flight->arrivals = r->arrivals[row].next;
    r->arrivals[row].next = r->free_arrival;
    r->free_arrival = row;
    if (!txn_writes(&s->txns[slot]))
        return part;
    part.number = r->arrivals[row].packet;
    part.from = (uint64_t)part.number * T->packet_bytes;
    part.nbytes = packet_end(s, flight->nbytes, part.from) - part.from;
    if (flight->arrivals != UINT32_MAX)
        announce_first(s, slot);
    return part;
}

/* All of a write is in, and it is known what its memory takes. */
static void finish_write(struct kb_sim *s, uint32_t slot)
{
    struct flight *flight = &s->router->flights[slot];

    if (flight->least_fs == ROUTER_NEVER)
        return;
    flight->done_fs = larger(after(flight->tail_fs, flight->behind_fs), flight->least_fs);
    post_row(s, flight->done_fs, EV_DONE, slot);
}

void router_part_ends(struct kb_sim *s, uint32_t slot, uint64_t end_fs, int64_t behind_fs)
{
    struct flight *flight = &s->router->flights[slot];

    flight->least_fs = larger(flight->least_fs, end_fs);
    flight->behind_fs = behind_fs > flight->behind_fs ? behind_fs : flight->behind_fs;
    if (--flight->packets_left == 0 && flight->in == flight->n)
        finish_write(s, slot);
}

void come_in(struct kb_sim *s, uint64_t t, uint64_t taken, uint32_t input,
             const struct segment *segment)
{
    struct router *r = s->router;
    struct flight *flight = &r->flights[segment->slot];
    bool limited = !r->ports[r->vcs[input].port].endless;

    if (segment->begins) {
        if (!announce(s, t, segment->slot, segment->number / r->packet_segments))
            return;
        if (limited)
            open_packet(s, input, segment);
    }
    if (limited && r->vcs[input].parcel != NO_PARCEL)
        keep_room(s, input, segment, t + taken);
    if (!txn_writes(&s->txns[segment->slot]))
        return;
    flight->tail_fs = larger(flight->tail_fs, t + taken);
    if (++flight->in == flight->n && !flight->packets_left)
        finish_write(s, segment->slot);
}

/* -- answers -------------------------------------------------------------------------------- */

void come_back(struct kb_sim *s, uint64_t t, uint64_t taken, const struct segment *segment)
{
    struct flight *flight = &s->router->flights[segment->slot];

    if (segment->number == 0)
        flight->first_fs = t;
    flight->tail_fs = larger(flight->tail_fs, t + taken);
    if (++flight->in < flight->n)
        return;
    flight->done_fs =
        larger(flight->tail_fs, after(flight->first_fs, way_drain_fs(s, segment->slot)));
    post_row(s, flight->done_fs, EV_DONE, segment->slot);
}

bool router_turn_back(struct kb_sim *s, uint32_t slot)
{
    struct flight *flight = &s->router->flights[slot];

    router_leave_way(flight->way);
    flight->way = router_way(s, slot, true);
    if (!flight->way) {
        fail(s, KB_NO_MEMORY);
        return false;
    }
    flight->return_fs = flight->way->return_fs;
    flight->answers = true;
    flight->nbytes = s->txns[slot].nbytes;
    flight->n = segments_of(s->router, flight->nbytes);
    flight->in = 0;
    return true;
}

void router_answer(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (router_turn_back(s, slot))
        send_all(s, t, slot);
}
