/* router_train.h -- segments of one packet that pass a port as one event.
 *
 * Mostly the next segment behind a grant is of the same packet, and nothing else wants the port.
 * Then the port lets it go at once, at a time that is still to come, instead of by an event of its
 * own: as long as nothing else can be a candidate at that time, whatever happens until then.
 *
 *   - What is granted its way to this router from now on is ready lead_fs + 1 from now at the
 *     earliest (out_port.lead_fs): so up to `horizon`, lead_fs from now, all that could want the
 * port is in a buffer of this router by now.
 *   - All segments in buffers that leave by this port are at the front of one VC: out_port.coming.
 *   - No other VC of that input port has any, so its server is this VC's.
 *   - Credits come back in order of time, and those that are known are the first. This does not
 * hold for the room of a memory.
 *   - No way begins at this port.
 *
 * The same of a source: it goes on with the packet that it has begun, and nothing can come before.
 * Where nothing goes on, at a memory, it has no horizon.
 *
 * Grants are told of in order of time, so runs in which they are have no trains. Nor have those in
 * which several segments may leave an input port at once.
 *
 * Example: routers of 4 ns, flits of 1 ns. A packet's next flits come to a router ready at 10, 11,
 * 12 and 13 ns: at 10 all four are granted their way, by one event, and come to the next router by
 * one. Where another packet has a segment in a buffer of that input port, each is an event.
 */
#ifndef NETWORK_ROUTER_TRAIN_H
#define NETWORK_ROUTER_TRAIN_H

enum {
    TRAIN_MOST = 64
}; /* segments: so that events are short, and buffers without a limit small */

#define NO_TRAIN (ROUTER_NEVER - 1)

/* A train: where it comes from, where it goes, and how far it has come. */
struct train {
    struct vc *to; /* the VC that its packet owns */
    const struct way_row *row;
    uint32_t there;            /* its number */
    uint32_t slot, number;     /* of the next segment */
    uint64_t horizon, free_fs; /* free: port and input server */
    uint64_t last_fs;          /* when the last one went */
    uint64_t next_fs;          /* when the next one will, as far as is known */
    uint64_t hand_fs;          /* from a grant until it is there */
    uint32_t n, n_before;      /* gone; in the next buffer before */
    bool ends;                 /* the packet */
};

/* When the next segment goes, ready at `ready`. False: not as far as is known, or too late. */
static ALWAYS_INLINE bool train_goes(struct train *x, uint64_t ready, uint32_t nbytes)
{
    uint64_t room_fs = x->row->endless ? 0 : room_at(x->to, nbytes);

    x->next_fs = larger(larger(ready, x->free_fs), room_fs);
    return x->next_fs <= x->horizon;
}

/* It goes. */
static ALWAYS_INLINE void train_pass(struct kb_sim *s, struct out_port *port, struct train *x,
                                     uint32_t nbytes, bool ends)
{
    struct vc *to = x->to;
    struct segment segment = {
        .row = x->row, .slot = x->slot, .number = x->number, .nbytes = nbytes, .ends = ends};
    uint64_t taken = time_taken(s->router, &segment);
    uint64_t arrives = after(x->next_fs, (int64_t)x->hand_fs);

    x->last_fs = x->next_fs;
    x->free_fs = after(x->next_fs, (int64_t)taken);
    x->ends = ends;
    x->n++;
    x->number++;
    port->busy_fs += taken;
    if (!x->row->endless)
        take_room(to, nbytes);
    segment.ready_fs = after(arrives, x->row->next_fs);
    if (x->row->end != END_ROUTER)
        reach(s, 0, arrives, taken, x->there, &segment);
    else if (to->n < to->room || vc_room(to))
        to->rows[(to->first + to->n++) & (to->room - 1)] = segment;
    else
        fail(s, KB_NO_MEMORY);
}

/* All of it has gone that can: what it leaves behind at the port, and comes to. */
static ALWAYS_INLINE void train_end(struct kb_sim *s, struct out_port *port, struct train *x,
                                    uint8_t *owned)
{
    struct router *r = s->router;
    struct vc *to = x->to;

    port->free_fs = x->free_fs;
    if (x->ends) {
        *owned = NO_VC;
        to->owned_until = x->free_fs;
    }
    if (x->row->end != END_ROUTER)
        return;
    port->held += to->n - x->n_before;
    r->ports[x->row[1].port].coming += to->n - x->n_before;
    if (to->run == x->n_before)
        to->run = run_of(to, to->run);
    if (x->n_before == 0 && to->n) /* without memory it has come to nothing */
        wait_for_port(s, 0, x->there);
}

/* A place in the buffer of `vc` is free, and known to be so at `t`, behind all that were before. */
static ALWAYS_INLINE void train_credit(struct kb_sim *s, struct vc *vc, uint64_t t, uint64_t nbytes)
{
    if (vc->n_due == vc->due_room && !vc_due_room(vc))
        fail(s, KB_NO_MEMORY);
    else
        vc->due[(vc->due_first + vc->n_due++) & (vc->due_room - 1)] = (struct credit){t, nbytes};
}

static ALWAYS_INLINE struct train train_of(struct router *r, const struct out_port *port,
                                           uint32_t index, const struct way_row *row, uint8_t vc)
{
    uint32_t there = index * r->n_vcs + vc;

    return (struct train){.to = &r->vcs[there],
                          .row = row,
                          .there = there,
                          .free_fs = port->free_fs,
                          .hand_fs = (uint64_t)channel_fs(port->wire_fs),
                          .n_before = r->vcs[there].n};
}

/* The input has let a train go. When its port looks again. */
static uint64_t train_left(struct kb_sim *s, uint32_t index, uint32_t input, struct train *x,
                           uint64_t credit_fs)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    struct vc *vc = &r->vcs[input];
    struct out_port *from = &r->ports[vc->port];

    vc->from_fs = next_from(r, x->ends, x->last_fs, x->free_fs);
    vc->first = (vc->first + x->n) & (vc->room - 1);
    vc->n -= x->n;
    vc->run -= x->n;
    from->held -= x->n;
    from->server_fs[0] = x->free_fs;
    port->coming -= x->n;
    if (r->by_turns)
        port->last = from->rank * r->n_vcs + (input - vc->port * r->n_vcs) + 1;
    train_end(s, port, x, &vc->out_vc);
    if (from->starved && !from->endless)
        ask(s, vc->port, credit_fs);
    if (vc->run)
        return larger(x->free_fs, x->n < TRAIN_MOST && !x->ends ? x->next_fs : 0);
    port->inputs = NO_INPUT;
    vc->run = run_of(vc, 0);
    if (vc->n)
        wait_for_port(s, 0, input);
    return ROUTER_NEVER;
}

/* The packet at the front of the only input goes on. When the port looks again; NO_TRAIN: at once.
 */
static uint64_t train_of_input(struct kb_sim *s, uint32_t index, uint64_t t)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    uint32_t input = port->inputs;
    struct vc *vc = &r->vcs[input];
    struct out_port *from = &r->ports[vc->port];
    uint64_t back_fs = (uint64_t)from->wire_fs + (uint64_t)T->credit_fs, credit_fs = 0;
    const struct segment *front = front_of(vc);
    struct train x;

    x = train_of(r, port, index, front->row + 1, vc->out_vc);
    if (!x.row->endless && x.row->end != END_ROUTER)
        return NO_TRAIN;
    x.horizon = after(t, (int64_t)port->lead_fs);
    x.free_fs = larger(larger(x.free_fs, from->server_fs[0]), larger(vc->from_fs, t));
    x.slot = front->slot;
    x.number = front->number;
    while (x.n < TRAIN_MOST && x.n < vc->run && !x.ends) {
        front = &vc->rows[(vc->first + x.n) & (vc->room - 1)];
        if (!train_goes(&x, front->ready_fs, front->nbytes))
            break;
        train_pass(s, port, &x, front->nbytes, front->ends);
        credit_fs = credit_fs ? credit_fs : x.free_fs + back_fs;
        if (!from->endless)
            train_credit(s, vc, x.free_fs + back_fs, front->nbytes);
    }
    return x.n ? train_left(s, index, input, &x, credit_fs) : x.next_fs;
}

/* What a source has begun goes on. */
static uint64_t train_of_source(struct kb_sim *s, uint32_t index, uint64_t t)
{
    struct router *r = s->router;
    struct out_port *port = &r->ports[index];
    uint32_t row = port->source;
    struct parcel *parcel = &r->parcels[row];
    const struct flight *flight = &r->flights[parcel->slot];
    struct train x;
    uint32_t left;

    x = train_of(r, port, index, &flight->way->rows[parcel->hop], port->source_vc);
    if (!x.row->endless && x.row->end != END_ROUTER)
        return NO_TRAIN;
    x.horizon = port->is_end && !s->kernels ? EV_PAST - 1 : after(t, (int64_t)port->lead_fs);
    x.free_fs = larger(larger(x.free_fs, port->source_from_fs), t);
    x.slot = parcel->slot;
    x.number = parcel->first + parcel->sent;
    left = r->packet_segments - x.number % r->packet_segments;
    left = left < parcel->n - parcel->sent ? left : parcel->n - parcel->sent;
    while (x.n < TRAIN_MOST && x.n < left) {
        uint32_t nbytes = bytes_of(r, flight, x.number);
        uint64_t ready;

        parcel = &r->parcels[row]; /* at an m_cpu others are made meanwhile */
        ready = parcel->ready_fs;
        if (parcel->gated)
            ready =
                parcel->sent + x.n < parcel->in ? parcel->rows[parcel->sent + x.n] : ROUTER_NEVER;
        if (!train_goes(&x, ready, nbytes))
            break;
        train_pass(s, port, &x, nbytes, x.n + 1 == left);
    }
    if (x.n == 0)
        return x.next_fs;
    parcel = &r->parcels[row];
    parcel->sent += x.n;
    port->source_from_fs = x.last_fs + 1;
    if (r->by_turns)
        port->last = 1;
    train_end(s, port, &x, &port->source_vc);
    if (parcel->sent < parcel->n)
        return larger(x.free_fs, x.n < TRAIN_MOST && !x.ends ? x.next_fs : 0);
    port->source = parcel->next;
    parcel->next = r->free_parcel;
    r->free_parcel = row;
    return port->source == NO_PARCEL ? ROUTER_NEVER : x.free_fs;
}

/* Is something at the port that will leave by it? */
static inline bool is_wanted(const struct out_port *port)
{
    return port->inputs != NO_INPUT || port->source != NO_PARCEL;
}

/* Is all that could go by the port the packet that has begun at its only input? */
static ALWAYS_INLINE bool is_alone(const struct router *r, const struct out_port *port)
{
    const struct vc *vc = &r->vcs[port->inputs];

    return vc->run == port->coming && vc->out_vc != NO_VC && vc->n == r->ports[vc->port].held &&
           !port->begins;
}

static ALWAYS_INLINE bool goes_in_trains(const struct router *r, const struct out_port *port)
{
    if (!r->has_trains)
        return false;
    if (port->inputs == NO_INPUT)
        return port->source_vc != NO_VC && port->coming == 0;
    return port->source == NO_PARCEL && is_alone(r, port);
}

/*
 * What is under way at the port at `t` goes on, as far as that is known. When the port looks again;
 * NO_TRAIN: it has to look now.
 */
static ALWAYS_INLINE uint64_t train(struct kb_sim *s, uint32_t index, uint64_t t)
{
    struct out_port *port = &s->router->ports[index];
    uint64_t least;

    if (!goes_in_trains(s->router, port))
        return NO_TRAIN;
    least = port->source == NO_PARCEL ? train_of_input(s, index, t) : train_of_source(s, index, t);
    port->starved |= least == ROUTER_NEVER && is_wanted(port);
    return least;
}

#endif
