/* router.h -- a router: output ports that let one segment go at a time.
 *
 * It holds        an output port and an input server: a segment that has been granted its way
 * For how long    its bytes over the narrower of the edges by which it comes and goes
 * Goes first      arbiter `age`: the smallest (-prio, ready, answer before request, id, segment);
 *                 `rr`: the next input and VC behind what went last
 * Wait counted    queue_link
 * Golden number   docs/network.md "A packet in the way of another"
 *
 * A port decides in an event of class 5, behind all else of its instant. Candidates are the first
 * segments of the buffers that lead to it, and of its own source, which are ready, have an input
 * server, and a VC with room at the other end: that of their packet, or for the first of a packet
 * the lowest one that is free. What goes is in the next buffer a wire later; nothing that a grant
 * changes is seen by others before the next femtosecond.
 *
 * When a candidate may go is a time that can be computed (offer_time()): so one pass over the
 * inputs finds what goes now, and if nothing does, when to look again. router_ask.h has why that is
 * exact. A hop without contention is one event.
 *
 * Invariants
 *   - A buffer never holds more than buffer_bytes: a port counts credits down before it sends.
 *   - A VC is owned by one packet from its first grant to the end of its last segment, so the
 *     segments of a packet are in a buffer one behind the other.
 */
#ifndef NETWORK_ROUTER_H
#define NETWORK_ROUTER_H
#include "network/router_end.h"
#include "network/router_m_cpu.h"
#include <string.h>

/* What may go by a port. */
struct offer {
    uint64_t at_fs;    /* not before */
    uint64_t ready_fs; /* its age */
    uint64_t turn;     /* round robin: its place behind what went last */
    uint32_t slot, number, input;
    uint8_t vc;
};

/* -- when it may go ------------------------------------------------------------------------- */

/* When `vc` has room for `nbytes`; what has come back by `t` is counted in. */
static ALWAYS_INLINE uint64_t room_at(struct vc *vc, uint64_t t, int64_t nbytes)
{
    int64_t room;

    while (vc->n_due && vc->due[vc->due_first].at_fs <= t) {
        vc->credits += (int64_t)vc->due[vc->due_first].nbytes;
        vc->due_first = (vc->due_first + 1) & (vc->due_room - 1);
        vc->n_due--;
    }
    room = vc->credits;
    if (room >= nbytes)
        return 0;
    for (uint32_t i = 0; i < vc->n_due; i++) {
        const struct credit *due = &vc->due[(vc->due_first + i) & (vc->due_room - 1)];

        room += (int64_t)due->nbytes;
        if (room >= nbytes)
            return due->at_fs;
    }
    return ROUTER_NEVER;
}

/* The VC that it takes at `t`, and when it has one. */
static ALWAYS_INLINE uint64_t vc_at(struct kb_sim *s, uint32_t index, uint64_t t,
                                    const struct way_row *row, uint8_t owned, int64_t nbytes,
                                    uint8_t *vc_out)
{
    struct vc *vcs = &s->router->vcs[input_of(s, index, 0)];
    uint64_t least = ROUTER_NEVER;

    *vc_out = owned;
    if (owned != NO_VC) {
        least = row->endless ? 0 : room_at(&vcs[owned], t, nbytes);
        if (least > t)
            s->router->ports[index].starved = true;
        return least;
    }
    for (uint32_t i = row->vc; i < row->vc + (uint32_t)row->n_vcs; i++) {
        uint64_t at = row->endless ? 0 : room_at(&vcs[i], t, nbytes);

        if (at > t)
            s->router->ports[index].starved = true;
        at = latest(at, vcs[i].owned_until);
        if (at <= t && *vc_out == NO_VC)
            *vc_out = (uint8_t)i;
        least = at < least ? at : least;
    }
    return least;
}

/* -- what comes first ----------------------------------------------------------------------- */

static ALWAYS_INLINE bool older(const struct kb_sim *s, const struct offer *a,
                                const struct offer *b)
{
    const struct txn *x = &s->txns[a->slot], *y = &s->txns[b->slot];
    bool answers[2] = {s->router->flights[a->slot].answers, s->router->flights[b->slot].answers};

    if (x->prio != y->prio)
        return x->prio > y->prio;
    if (a->ready_fs != b->ready_fs)
        return a->ready_fs < b->ready_fs;
    if (answers[0] != answers[1])
        return answers[0];
    if (x != y)
        return comes_before(s, x, y);
    return a->number < b->number;
}

/* Round robin: inputs and VCs in order, those behind the last that went before the others. */
static ALWAYS_INLINE uint64_t turn_of(const struct kb_sim *s, const struct out_port *port,
                                      uint32_t rank, uint32_t vc)
{
    uint64_t turn = (uint64_t)rank * vcs_of(s) + vc + 1;

    return turn > port->last ? turn : turn + (UINT64_C(1) << 32);
}

static ALWAYS_INLINE bool goes_before(const struct kb_sim *s, const struct offer *a,
                                      const struct offer *b)
{
    return T->arbiter == ARBITER_RR ? a->turn < b->turn : older(s, a, b);
}

/* -- a pass over the inputs ----------------------------------------------------------------- */

static ALWAYS_INLINE struct offer offer_of_input(struct kb_sim *s, uint32_t index, uint64_t t,
                                                 uint32_t input)
{
    struct router *r = s->router;
    const struct vc *vc = &r->vcs[input];
    const struct segment *segment = front_of(vc);
    const struct out_port *from = &r->ports[input / vcs_of(s)];
    struct offer offer = {.ready_fs = segment->ready_fs,
                          .slot = segment->slot,
                          .number = segment->number,
                          .input = input};

    offer.at_fs = latest(latest(segment->ready_fs, vc->from_fs), server_free(s, from));
    offer.at_fs = latest(
        offer.at_fs, vc_at(s, index, t, segment->row + 1, vc->out_vc, segment->nbytes, &offer.vc));
    if (T->arbiter == ARBITER_RR)
        offer.turn = turn_of(s, &r->ports[index], from->rank, input % vcs_of(s));
    return offer;
}

static ALWAYS_INLINE struct offer offer_of_source(struct kb_sim *s, uint32_t index, uint64_t t)
{
    struct router *r = s->router;
    const struct out_port *port = &r->ports[index];
    const struct parcel *parcel = &r->parcels[port->source];
    const struct flight *flight = &r->flights[parcel->slot];
    struct offer offer = {.ready_fs = parcel->ready_fs,
                          .slot = parcel->slot,
                          .number = parcel->first + parcel->sent,
                          .input = NO_INPUT};

    if (parcel->gated)
        offer.ready_fs = parcel->sent < parcel->in ? parcel->rows[parcel->sent] : ROUTER_NEVER;
    offer.at_fs = latest(offer.ready_fs, port->source_from_fs);
    offer.at_fs =
        latest(offer.at_fs, vc_at(s, index, t, &flight->way->rows[parcel->hop], port->source_vc,
                                  bytes_of(s, flight, offer.number), &offer.vc));
    if (T->arbiter == ARBITER_RR)
        offer.turn = turn_of(s, port, 0, 0);
    return offer;
}

/* Takes the better of `offer` and `*best` for `t`; returns the earlier of its time and `least`. */
static ALWAYS_INLINE uint64_t weigh(const struct kb_sim *s, uint64_t t, uint64_t least,
                                    const struct offer *offer, struct offer *best)
{
    if (offer->at_fs <= t && (best->slot == TXN_NONE || goes_before(s, offer, best)))
        *best = *offer;
    return offer->at_fs < least ? offer->at_fs : least;
}

/* What goes at `t`; returns when the first of all offers may go. */
static ALWAYS_INLINE uint64_t look(struct kb_sim *s, uint32_t index, uint64_t t, struct offer *best)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    uint64_t least = ROUTER_NEVER;

    best->slot = TXN_NONE;
    port->starved = false;
    for (uint32_t input = port->inputs; input != NO_INPUT; input = r->vcs[input].next) {
        struct offer offer = offer_of_input(s, index, t, input);

        least = weigh(s, t, least, &offer, best);
    }
    if (port->source != NO_PARCEL) {
        struct offer offer = offer_of_source(s, index, t);

        least = weigh(s, t, least, &offer, best);
    }
    return least;
}

/* -- a grant -------------------------------------------------------------------------------- */

/* It is at the end of its channel at `t`, with its tail `taken` later. */
static ALWAYS_INLINE void reach(struct kb_sim *s, int how, uint64_t t, uint64_t taken,
                                uint32_t input, struct segment segment)
{
    segment.ready_fs = after(t, segment.row->ready_fs);
    switch (segment.row->end) {
    case END_ROUTER:
        if (how & HOW_HOP)
            post_note(s, t, (struct note){.kind = NOTE_ARRIVE, .port = input, .segment = segment});
        else
            put(s, how, input, segment);
        break;
    case END_M_CPU:
        come_to_m_cpu(s, how, input, &segment, segment.ready_fs);
        break;
    case END_MEMORY:
        come_in(s, how, t, taken, input, &segment);
        break;
    default:
        come_back(s, t, taken, &segment);
        break;
    }
}

/* The packet owns its VC until its last segment has gone. */
static ALWAYS_INLINE void own_vc(struct vc *vc, uint8_t *owned, uint8_t number, bool ends,
                                 uint64_t until)
{
    *owned = ends ? NO_VC : number;
    vc->owned_until = ends ? until : ROUTER_NEVER;
}

/* The segment of an offer, over the row of its way that leads by this port. */
static ALWAYS_INLINE struct segment
segment_offered(const struct kb_sim *s, const struct out_port *port, const struct offer *offer)
{
    const struct router *r = s->router;

    if (offer->input == NO_INPUT)
        return segment_of(s, offer->slot, offer->number,
                          &r->flights[offer->slot].way->rows[r->parcels[port->source].hop]);
    struct segment segment = *front_of(&r->vcs[offer->input]);
    segment.row++;
    return segment;
}

/* For how long it takes port and input server: at the narrower of both edges. */
static ALWAYS_INLINE uint64_t time_taken(const struct kb_sim *s, const struct out_port *port,
                                         const struct offer *offer, const struct segment *segment)
{
    const struct out_port *narrow = port;
    uint64_t fs;

    if (offer->input != NO_INPUT) {
        const struct out_port *from = &s->router->ports[offer->input / vcs_of(s)];

        narrow = from->gbs < port->gbs ? from : port;
    }
    if (narrow->segment_fs && segment->nbytes == T->segment_bytes)
        return narrow->segment_fs;
    fs = (uint64_t)part_fs((uint64_t)segment->number * T->segment_bytes, segment->nbytes,
                           narrow->gbs);
    return fs ? fs : 1; /* costs left out */
}

/* To what watches: an observer, and the counts of buffers. */
static __attribute__((noinline)) void tell_grant(struct kb_sim *s, int how, uint32_t index,
                                                 uint64_t t, const struct offer *offer,
                                                 const struct way_row *row, uint64_t taken)
{
    const struct way_row *first = s->router->flights[offer->slot].way->rows;
    const struct router_grant told = {.port = index,
                                      .input = offer->input,
                                      .slot = offer->slot,
                                      .number = offer->number,
                                      .hop = (uint32_t)(row - first),
                                      .vc = offer->vc,
                                      .taken_fs = taken};

    if (is_told(s, how))
        observe_grant(s, t, &told);
    if (s->router->tally && !router_tally_grant(s, t, &told))
        fail(s, KB_NO_MEMORY);
}

static ALWAYS_INLINE void grant(struct kb_sim *s, int how, uint32_t index, uint64_t t,
                                const struct offer *offer)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    struct vc *vc = &r->vcs[input_of(s, index, offer->vc)];
    struct segment segment = segment_offered(s, port, offer);
    uint64_t taken = time_taken(s, port, offer, &segment);
    uint64_t until = after(t, (int64_t)taken);

    port->free_fs = until;
    port->busy_fs += taken;
    if (!segment.row->endless)
        vc->credits -= segment.nbytes;
    if (T->arbiter == ARBITER_RR)
        port->last = (uint32_t)offer->turn;
    seen(s, how, t, EV_ARBITER, how & HOW_COUNTED ? record_id(s, offer->slot) : 0);
    if (is_told(s, how) || __builtin_expect(r->tally != NULL, 0))
        tell_grant(s, how, index, t, offer, segment.row, taken);
    if (offer->input == NO_INPUT) {
        own_vc(vc, &port->source_vc, offer->vc, segment.ends, until);
        take_from_source(s, how, index, t);
    } else {
        own_vc(vc, &r->vcs[offer->input].out_vc, offer->vc, segment.ends, until);
        take_from_buffer(s, how, offer->input, index, t, until);
    }
    reach(s, how, after(t, channel_fs(port->wire_fs)), taken, input_of(s, index, offer->vc),
          segment);
    if (how & HOW_HOP)
        changes(s, how, index, until);
}

/* A port decides. */
static ALWAYS_INLINE void decide(struct kb_sim *s, int how, uint64_t t, uint32_t index)
{
    struct out_port *port = &s->router->ports[index];
    struct offer best = {.slot = TXN_NONE};
    uint64_t least;

    if (port->asked_fs != t)
        return;
    port->asked_fs = ROUTER_NEVER;
    if (how & HOW_HOP && port->free_fs > t) {
        if (is_told(s, how))
            observe_decide(s, t, index);
        return;
    }
    least = port->free_fs > t ? port->free_fs : look(s, index, t, &best);
    if (port->free_fs <= t && best.slot != TXN_NONE) {
        grant(s, how, index, t, &best);
        least = port->inputs == NO_INPUT && port->source == NO_PARCEL ? ROUTER_NEVER : t;
    }
    if (is_told(s, how))
        observe_decide(s, t, index);
    if (!(how & HOW_HOP) && least != ROUTER_NEVER)
        ask(s, index, latest(least, port->free_fs));
}

/* A run that may not count more events ends between two decisions: the others are left. */
static inline void put_off(struct kb_sim *s, uint64_t t, uint32_t row, uint32_t decided)
{
    struct instant *at = &s->router->agenda.instants[row];

    at->n -= decided;
    memmove(at->rows, at->rows + decided, at->n * sizeof *at->rows);
    if (!ev_push(&s->queue, ev_make(t, EV_ARBITER, 0, row)))
        fail(s, KB_NO_MEMORY);
}

/* A port, or a slice with banks. */
static ALWAYS_INLINE void decide_next(struct kb_sim *s, int how, uint64_t t, uint32_t index)
{
    if (T->banked && is_wake_of_memory(index))
        server_wake(s, how, t, memory_of_wake(index));
    else
        decide(s, how, t, index);
}

/* All ports decide that have asked for an instant: an event of class 5. */
static ALWAYS_INLINE void decide_all(struct kb_sim *s, int how, uint64_t t, uint32_t row)
{
    struct agenda *agenda = &s->router->agenda;

    if (agenda->instants[row].n > 1)
        agenda_sort(&agenda->instants[row]);
    for (uint32_t i = 0; i < agenda->instants[row].n; i++) {
        if (how & HOW_COUNTED && sim_has_counted_all(s)) {
            put_off(s, t, row, i);
            return;
        }
        decide_next(s, how, t, agenda->instants[row].rows[i].port);
    }
    agenda_end(agenda, row);
}

/* -- hop: events of class 1 ----------------------------------------------------------------- */

/* An input server is free: whatever waits at that port may go. */
static inline void ask_for_inputs(struct kb_sim *s, uint64_t t, uint32_t port)
{
    for (uint32_t vc = 0; vc < vcs_of(s); vc++) {
        const struct vc *input = &s->router->vcs[input_of(s, port, vc)];

        if (input->n)
            ask(s, next_port(front_of(input)), t);
    }
}

static inline void take_note(struct kb_sim *s, int how, uint64_t t, uint32_t row)
{
    struct router *r = s->router;
    struct note note = r->notes[row];

    r->notes[row].next = r->free_note;
    r->free_note = row;
    if (note.kind == NOTE_ARRIVE)
        put(s, how, note.port, note.segment);
    else if (note.kind == NOTE_SERVER)
        ask_for_inputs(s, t, note.port);
    else
        ask(s, note.port, t);
}

/* -- the begin of a way --------------------------------------------------------------------- */

/* A request that takes no link. */
static inline void set_out_as_delay(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct way *way = s->router->flights[slot].way;

    s->txns[slot].stage = way->n_to_m_cpu ? TXN_TO_ENGINE : TXN_TO_MEMORY;
    post(s, after(t, way->source_fs + way->delay_fs[0]), EV_ARRIVE, slot);
}

/* It leaves its channel at `t`; a host's, its pcie_ep. */
static inline void set_out_router(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct router *r = s->router;
    struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(T, txn);
    bool writes = txn_writes(txn), delay = !writes && (!T->command_bytes || trip.back);
    struct flight *flight = &r->flights[slot];
    uint64_t nbytes = txn->nbytes;

    if (!writes)
        nbytes = T->command_bytes < T->segment_bytes ? T->command_bytes : T->segment_bytes;
    *flight = (struct flight){.way = router_way(s, slot, false),
                              .nbytes = nbytes,
                              .n = segments_of(s, nbytes),
                              .packets_left = packets_of(s, nbytes),
                              .arrivals = UINT32_MAX,
                              .held = NO_PARCEL};
    if (!flight->way) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    if (is_banked(s, txn))
        begin_whole(s, slot);
    flight->extra_fs = flight->way->extra_fs;
    flight->return_fs = writes ? 0 : flight->way->return_fs;
    if (delay)
        set_out_as_delay(s, t, slot);
    else
        send_all(s, how, after(t, flight->way->source_fs), slot);
}

/* A host's has its engine at `t`. */
static inline void leave_engine_router(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    const struct flight *flight = &s->router->flights[slot];

    if (flight->told_engine) {
        leave_m_cpu_by_router(s, how, t, slot);
        return;
    }
    s->txns[slot].stage = TXN_TO_MEMORY;
    post(s, after(t, flight->way->delay_fs[1]), EV_ARRIVE, slot);
}

#endif
