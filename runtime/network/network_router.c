/* network_router.c -- a router: output ports that let one segment go at a time.
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
 * When a candidate may go is a time that can be computed: so one pass over the inputs finds what
 * goes now, and if nothing does, when to look again. router_inside.h has why that is exact. A hop
 * without contention is one event.
 *
 * Invariants
 *   - A buffer never holds more than buffer_bytes: a port counts credits down before it sends.
 *   - A VC is owned by one packet from its first grant to the end of its last segment, so the
 *     segments of a packet are in a buffer one behind the other.
 */
#include "base/larger.h"
#include "network/component_node.h"
#include "network/router_inside.h"

/* What may go by a port. */
struct offer {
    const struct segment *segment; /* in its buffer, or `own` */
    const struct way_row *row;     /* of its way, that leads by this port */
    uint64_t turn;                 /* round robin: its place behind what went last */
    uint32_t input;
    uint8_t vc;
};

/* The best so far, and where the next one is written: nothing is copied. */
struct offers {
    struct offer rows[2], *best, *next;
    struct segment own; /* of the port's source */
};

/* -- when it may go ------------------------------------------------------------------------- */

/*
 * When `vc` has room for `nbytes`, as far as is known. Credits are counted when they are needed,
 * not when they come: mostly all segments have one size, and the first credit is that of this
 * segment.
 */
static ALWAYS_INLINE uint64_t room_at(const struct vc *vc, int64_t nbytes)
{
    int64_t room = vc->credits;

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

/* A segment takes its room. */
static ALWAYS_INLINE void take_room(struct vc *vc, int64_t nbytes)
{
    for (; vc->credits < nbytes; vc->n_due--) {
        vc->credits += (int64_t)vc->due[vc->due_first].nbytes;
        vc->due_first = (vc->due_first + 1) & (vc->due_room - 1);
    }
    vc->credits -= nbytes;
}

/* When the owner of `vc` has left it, and the offer's packet can have it: from a buffer an
 * allocation later. */
static ALWAYS_INLINE uint64_t free_at(const struct router *r, const struct vc *vc, uint32_t input)
{
    uint64_t at = vc->owned_until;

    if (r->alloc_fs && input != NO_INPUT && at && at != ROUTER_NEVER)
        at = after(at, r->alloc_fs);
    return at;
}

/* The first of a packet: the VC that it takes at `t`, and when it has one. */
static uint64_t new_vc_at(struct router *r, uint32_t index, uint64_t t, struct offers *offers,
                          int64_t nbytes)
{
    const struct way_row *row = offers->next->row;
    struct vc *vcs = &r->vcs[index * r->n_vcs];
    uint64_t least = ROUTER_NEVER;

    for (uint32_t i = row->vc; i < row->vc + (uint32_t)row->n_vcs; i++) {
        uint64_t at = row->endless ? 0 : room_at(&vcs[i], nbytes);

        if (at > t)
            r->ports[index].starved = true;
        at = larger(at, free_at(r, &vcs[i], offers->next->input));
        if (at <= t && offers->next->vc == NO_VC)
            offers->next->vc = (uint8_t)i;
        least = at < least ? at : least;
    }
    return least;
}

/* The VC that the next offer takes at `t`, and when it has one. */
static ALWAYS_INLINE uint64_t vc_at(struct router *r, uint32_t index, uint64_t t, uint8_t owned,
                                    struct offers *offers)
{
    struct offer *offer = offers->next;
    int64_t nbytes = offer->segment->nbytes;
    uint64_t at;

    offer->vc = owned;
    if (owned == NO_VC)
        return new_vc_at(r, index, t, offers, nbytes);
    at = offer->row->endless ? 0 : room_at(&r->vcs[index * r->n_vcs + owned], nbytes);
    if (at > t)
        r->ports[index].starved = true;
    return at;
}

/* -- what comes first ----------------------------------------------------------------------- */

static bool older(const struct kb_sim *s, const struct segment *a, const struct segment *b)
{
    const struct txn *x = &s->txns[a->slot], *y = &s->txns[b->slot];
    bool answers;

    if (x->prio != y->prio)
        return x->prio > y->prio;
    if (a->ready_fs != b->ready_fs)
        return a->ready_fs < b->ready_fs;
    answers = s->router->flights[a->slot].answers;
    if (answers != s->router->flights[b->slot].answers)
        return answers;
    if (x != y)
        return comes_before(s, x, y);
    return a->number < b->number;
}

/* Round robin: inputs and VCs in order, those behind the last that went before the others. */
static uint64_t turn_of(const struct router *r, const struct out_port *port, uint32_t rank,
                        uint32_t vc)
{
    uint64_t turn = (uint64_t)rank * r->n_vcs + vc + 1;

    return turn > port->last ? turn : turn + (UINT64_C(1) << 32);
}

static inline bool goes_before(const struct kb_sim *s, const struct offer *a, const struct offer *b)
{
    return s->router->by_turns ? a->turn < b->turn : older(s, a->segment, b->segment);
}

/* -- a pass over the inputs ----------------------------------------------------------------- */

/* When the first segment of `input` may go by a port, as far as is known at `t`. */
static ALWAYS_INLINE uint64_t offer_of_input(struct router *r, uint32_t index, uint64_t t,
                                             uint32_t input, struct offers *offers)
{
    struct offer *offer = offers->next;
    const struct vc *vc = &r->vcs[input];
    const struct segment *segment = front_of(vc);
    const struct out_port *from = &r->ports[vc->port];
    uint64_t at = larger(larger(segment->ready_fs, vc->from_fs), server_free(r, from));

    if (at > t) /* then its VC is looked at */
        return at;
    offer->segment = segment;
    offer->row = segment->row + 1;
    offer->input = input;
    if (r->by_turns)
        offer->turn = turn_of(r, &r->ports[index], from->rank, input - vc->port * r->n_vcs);
    return vc_at(r, index, t, vc->out_vc, offers);
}

static ALWAYS_INLINE uint64_t offer_of_source(struct router *r, uint32_t index, uint64_t t,
                                              struct offers *offers)
{
    struct offer *offer = offers->next;
    struct segment *own = &offers->own;
    const struct out_port *port = &r->ports[index];
    const struct parcel *parcel = &r->parcels[port->source];
    const struct flight *flight = &r->flights[parcel->slot];
    uint64_t at;

    own->ready_fs = parcel->ready_fs;
    if (parcel->gated)
        own->ready_fs = parcel->sent < parcel->in ? parcel->rows[parcel->sent] : ROUTER_NEVER;
    at = larger(own->ready_fs, port->source_from_fs);
    if (at > t)
        return at;
    own->slot = parcel->slot;
    own->number = parcel->first + parcel->sent;
    own->nbytes = bytes_of(r, flight, own->number);
    offer->segment = own;
    offer->row = &flight->way->rows[parcel->hop];
    offer->input = NO_INPUT;
    if (r->by_turns)
        offer->turn = turn_of(r, port, 0, 0);
    return vc_at(r, index, t, port->source_vc, offers);
}

static ALWAYS_INLINE void compare(const struct kb_sim *s, struct offers *offers)
{
    struct offer *offer = offers->next;

    if (offers->best && !goes_before(s, offer, offers->best))
        return;
    offers->next = offers->best ? offers->best : &offers->rows[1];
    offers->best = offer;
}

/* What goes at `t`; returns when to look again if nothing does. */
static ALWAYS_INLINE uint64_t look(struct kb_sim *s, uint32_t index, uint64_t t,
                                   struct offers *offers)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    uint64_t least = ROUTER_NEVER, at;

    offers->best = NULL;
    offers->next = &offers->rows[0];
    port->starved = false;
    for (uint32_t input = port->inputs; input != NO_INPUT; input = r->vcs[input].next) {
        at = offer_of_input(r, index, t, input, offers);
        if (at <= t)
            compare(s, offers);
        least = at < least ? at : least;
    }
    if (port->source != NO_PARCEL) {
        at = offer_of_source(r, index, t, offers);
        if (at <= t)
            compare(s, offers);
        least = at < least ? at : least;
    }
    return least;
}

/* -- a grant -------------------------------------------------------------------------------- */

/* The port finds the input in its list no more. */
static ALWAYS_INLINE void unlink_input(struct router *r, struct out_port *port, uint32_t input)
{
    uint32_t *link = &port->inputs;

    while (*link != input)
        link = &r->vcs[*link].next;
    *link = r->vcs[input].next;
}

/* An input server of the port is busy until then. */
static ALWAYS_INLINE void take_server(const struct router *r, struct out_port *port, uint64_t until)
{
    uint32_t server = 0;

    for (uint32_t i = 1; i < r->speedup; i++)
        if (port->server_fs[i] < port->server_fs[server])
            server = i;
    port->server_fs[server] = until;
}

/* A segment has left the front of a buffer at `t`, and is gone at `until`: when the next one can
 * follow. The first of a packet gets its VC then. */
static ALWAYS_INLINE uint64_t next_from(const struct router *r, bool ends, uint64_t t,
                                        uint64_t until)
{
    return ends && r->alloc_fs ? after(until, r->alloc_fs) : t + 1;
}

/*
 * The first segment of the input has gone at `t` by port `out`, by an input server that is busy
 * until `until`. The next one is mostly of the same packet, and waits for the same port: which
 * looks at all that wait for it when it is free.
 */
static ALWAYS_INLINE void take_from_buffer(struct kb_sim *s, int how, uint32_t input, uint32_t out,
                                           uint64_t t, uint64_t until)
{
    struct router *r = s->router;
    struct vc *vc = &r->vcs[input];
    struct out_port *port = &r->ports[vc->port];
    uint64_t nbytes = front_of(vc)->nbytes;

    vc->from_fs = next_from(r, front_of(vc)->ends, t, until);
    take_server(r, port, until);
    vc->first = (vc->first + 1) & (vc->room - 1);
    vc->n--;
    port->held--;
    r->ports[out].coming--;
    if (--vc->run == 0)
        vc->run = run_of(vc, 0);
    give_credit(s, how, input, false, until + (uint64_t)port->wire_fs + (uint64_t)T->credit_fs,
                nbytes);
    if (router_is_hop(how))
        router_post_note(s, until, &(struct note){.kind = NOTE_SERVER, .port = vc->port});
    else if (vc->n && next_port(front_of(vc)) == out)
        return;
    unlink_input(r, &r->ports[out], input);
    if (vc->n)
        wait_for_port(s, how, input);
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
    if (router_is_hop(how) && port->source != NO_PARCEL)
        changes(s, how, index, t + 1);
}

/* It is at the end of its channel at `t`, with its tail `taken` later. */
static ALWAYS_INLINE void reach(struct kb_sim *s, int how, uint64_t t, uint64_t taken,
                                uint32_t input, const struct segment *segment)
{
    switch (segment->row->end) {
    case END_NODE:
    case END_ROUTER:
        if (segment->row->end == END_ROUTER && !router_is_hop(how)) {
            put(s, how, input, segment);
            break;
        }
        router_post_note(s, t,
                         &(struct note){.kind = segment->row->end == END_NODE && segment->begins
                                                    ? NOTE_HEAD
                                                    : NOTE_ARRIVE,
                                        .port = input,
                                        .segment = *segment});
        break;
    case END_M_CPU:
        come_to_m_cpu(s, input, segment);
        break;
    case END_MEMORY:
        come_in(s, t, taken, input, segment);
        break;
    default:
        come_back(s, t, taken, segment);
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

/* For how long it takes port and input server: at the narrower of both edges. */
static ALWAYS_INLINE uint64_t time_taken(const struct router *r, const struct segment *segment)
{
    uint64_t fs = segment->row->segment_fs;

    if (__builtin_expect(fs && segment->nbytes == r->segment_bytes, true))
        return fs;
    fs = (uint64_t)part_fs((uint64_t)segment->number * r->segment_bytes, segment->nbytes,
                           segment->row->gbs);
    return fs ? fs : 1; /* costs left out */
}

/* To what watches: an observer, the counts of buffers, a fingerprint. */
static __attribute__((noinline)) void tell_grant(struct kb_sim *s, uint32_t index, uint64_t t,
                                                 const struct offer *offer, uint64_t taken)
{
    uint32_t slot = offer->segment->slot;
    const struct way_row *first = s->router->flights[slot].way->rows;
    const struct router_grant told = {.port = index,
                                      .input = offer->input,
                                      .slot = slot,
                                      .number = offer->segment->number,
                                      .hop = (uint32_t)(offer->row - first),
                                      .vc = offer->vc,
                                      .taken_fs = taken};
    int how = s->router->how;

    seen(s, how, t, EV_ARBITER, record_id(s, slot));
    if (is_told(s, how))
        OBSERVE(s, grant, t, &told);
    if (s->router->tally && !router_tally_grant(s, t, &told))
        fail(s, KB_NO_MEMORY);
}

/* Returns whether its packet has just begun, and will go on. */
static ALWAYS_INLINE bool grant(struct kb_sim *s, int how, uint32_t index, uint64_t t,
                                const struct offer *offer)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    uint32_t there = index * r->n_vcs + offer->vc;
    struct vc *vc = &r->vcs[there];
    struct segment segment = *offer->segment;
    uint64_t arrives = after(t, channel_fs(port->wire_fs)), taken, until;

    segment.row = offer->row;
    taken = time_taken(r, &segment);
    until = after(t, (int64_t)taken);
    port->free_fs = until;
    port->busy_fs += taken;
    if (!segment.row->endless)
        take_room(vc, segment.nbytes);
    if (r->by_turns)
        port->last = (uint32_t)offer->turn;
    if (__builtin_expect(how || r->tally, false))
        tell_grant(s, index, t, offer, taken);
    if (offer->input == NO_INPUT) {
        const struct flight *flight = &r->flights[segment.slot];

        segment.begins = begins_packet(r, segment.number);
        segment.ends = segment.number + 1 == flight->n || begins_packet(r, segment.number + 1);
        own_vc(vc, &port->source_vc, offer->vc, segment.ends, until);
        take_from_source(s, how, index, t);
    } else {
        own_vc(vc, &r->vcs[offer->input].out_vc, offer->vc, segment.ends, until);
        take_from_buffer(s, how, offer->input, index, t, until);
    }
    segment.ready_fs =
        after(arrives, segment.begins ? segment.row->ready_fs : segment.row->next_fs);
    reach(s, how, arrives, taken, there, &segment);
    if (router_is_hop(how))
        changes(s, how, index, until);
    if (router_is_hop(how) && segment.ends && r->alloc_fs)
        changes(s, how, index, after(until, r->alloc_fs));
    return segment.begins && !segment.ends;
}

#include "network/router_train.h"

/* A port decides. */
static ALWAYS_INLINE void decide(struct kb_sim *s, int how, uint64_t t, uint32_t index)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    struct offers offers;
    uint64_t least;

    if (port->asked_fs != t)
        return;
    port->asked_fs = ROUTER_NEVER;
    if (port->free_fs > t) {
        least = port->free_fs;
    } else if ((least = train(s, index, t)) == NO_TRAIN) {
        least = look(s, index, t, &offers);
        if (offers.best)
            least = grant(s, how, index, t, offers.best) ? train(s, index, t) : NO_TRAIN;
        if (least == NO_TRAIN)
            least = is_wanted(port) ? port->free_fs : ROUTER_NEVER;
    }
    if (is_told(s, how))
        OBSERVE(s, decide, t, index);
    if (least != ROUTER_NEVER && !router_is_hop(how))
        ask(s, index, larger(least, port->free_fs));
}

/* -- an instant ----------------------------------------------------------------------------- */

/* hop hears of the next one. */
static inline uint32_t leave_instant(struct kb_sim *s)
{
    struct router *r = s->router;

    if (r->has_wakes) {
        r->wake_fs = ROUTER_NEVER;
        if (router_next_fs(r) != ROUTER_NEVER)
            wake(s, router_next_fs(r));
    }
    return NO_CHANNEL;
}

uint64_t router_run_until(struct kb_sim *s, uint64_t until, uint64_t most)
{
    struct router *r = s->router;
    uint64_t n;

    r->until_fs = until;
    for (n = 0; n < most; n++) {
        const struct asked *first = agenda_first(&r->agenda);
        uint64_t t = ev_time_fs(first->key);
        uint32_t index = first->index;

        if (t >= r->until_fs)
            break;
        agenda_take(&r->agenda, first);
        decide(s, 0, t, index);
    }
    return n;
}

uint32_t router_run(struct kb_sim *s, uint64_t t)
{
    struct router *r = s->router;
    const struct asked *first;

    if (r->has_wakes && r->wake_fs != t)
        return NO_CHANNEL; /* an event that is out of date */
    while (first = agenda_first(&r->agenda), ev_time_fs(first->key) == t) {
        uint32_t index = first->index;

        if (__builtin_expect(r->how & HOW_COUNTED, false) && sim_has_counted_all(s))
            break;
        agenda_take(&r->agenda, first);
        if (__builtin_expect(is_wake_of_memory(index), false))
            return index;
        decide(s, r->how, t, index);
    }
    return leave_instant(s);
}

void router_ask_as(struct kb_sim *s, uint64_t t, uint64_t order, uint32_t index)
{
    ask_agenda(s, t, order, index);
}

/* -- hop: events of class 1 ----------------------------------------------------------------- */

/* An input server is free: whatever waits at that port may go. */
static void ask_for_inputs(struct kb_sim *s, uint64_t t, uint32_t port)
{
    const struct router *r = s->router;

    for (uint32_t vc = 0; vc < r->n_vcs; vc++) {
        const struct vc *input = &r->vcs[port * r->n_vcs + vc];

        if (input->n)
            ask(s, next_port(front_of(input)), t);
    }
}

/* The note of the first head that comes at `t`, of the transaction in `slot`; it is free now. */
static struct note take_head(struct router *r, uint64_t t, uint32_t slot)
{
    uint32_t *link = NULL, row;

    for (uint32_t *at = &r->flights[slot].heads; *at != NO_NOTE; at = &r->notes[*at].next)
        if (r->notes[*at].at_fs == t &&
            (!link || r->notes[*at].segment.number < r->notes[*link].segment.number))
            link = at;
    row = *link;
    *link = r->notes[row].next;
    r->notes[row].next = r->free_note;
    r->free_note = row;
    return r->notes[row];
}

/* A component says when a packet goes on whose head is there at `t`. */
static void ask_for_packet(struct kb_sim *s, uint64_t t, const struct note *note)
{
    struct router *r = s->router;
    struct vc *vc = &r->vcs[note->port];
    const struct segment *head = &note->segment;
    const struct flight *flight = &r->flights[head->slot];
    int64_t overhead_fs = flight->way->overheads[head->row - flight->way->rows];

    vc->node_never = true;
    vc->node_fs = ask_node_of(s, t, head->slot, r->ports[vc->port].end_node,
                              bytes_of_packet(r, flight->nbytes, head->number), overhead_fs);
    if (vc->node_fs == NODE_NEVER)
        return;
    vc->node_fs -= overhead_fs;
    if (head->number == 0)
        s->instances.served[head->slot].delay_fs += vc->node_fs;
    vc->node_never = false;
}

/* A segment comes to a buffer at `t`: at a component when that lets its packet go on. */
static void arrive(struct kb_sim *s, uint64_t t, const struct note *note)
{
    struct vc *vc = &s->router->vcs[note->port];
    struct segment segment = note->segment;
    uint64_t before = vc->n ? vc->rows[(vc->first + vc->n - 1) & (vc->room - 1)].ready_fs : 0;

    if (segment.row->end == END_NODE) {
        if (note->kind == NOTE_HEAD)
            ask_for_packet(s, t, note);
        segment.ready_fs =
            vc->node_never ? ROUTER_NEVER : larger(after(segment.ready_fs, vc->node_fs), before);
    }
    put(s, s->router->how, note->port, &segment);
}

void router_take_note(struct kb_sim *s, ev e)
{
    struct router *r = s->router;
    uint64_t t = ev_time_fs(e);
    uint32_t row = ev_slot(e);
    struct note note;

    if (ev_id(e) == NOTE_ID) {
        note = r->notes[row];
        r->notes[row].next = r->free_note;
        r->free_note = row;
    } else {
        note = take_head(r, t, row);
    }
    if (note.kind == NOTE_ARRIVE || note.kind == NOTE_HEAD)
        arrive(s, t, &note);
    else if (note.kind == NOTE_SERVER)
        ask_for_inputs(s, t, note.port);
    else
        ask(s, note.port, t);
}
