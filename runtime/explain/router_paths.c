/* router_paths.c -- what transactions wait for in a network of routers: follows every segment.
 *
 * A transaction is many segments under way at once, and its breakdown needs one chain of them. As
 * of composites (explain/commands.c) it is not searched afterwards. Each segment has a path, the
 * list of what it has waited for. A segment that follows another one of its own transaction,
 * because that one has had the port until then, goes on with the path of that one, and with the
 * time for which it had the port: whatever it has waited for itself has made nothing later. At the
 * end the path of the segment that was in last says it all: explain/router_pieces.c.
 *
 * The hop engine tells of each grant, and of each decision of a port. Between two decisions nothing
 * changes for a segment that waits at that port: so each decision says behind what it waits until
 * the next one. The first of these that is so:
 *
 *     it came to the front of its buffer late    router_wait, behind what left that before it
 *     another segment has the port               router_wait, behind that
 *     no input server is free                    router_wait, behind what took one last
 *     all VCs that it may take have owners       router_wait, behind what went there last
 *     no VC has room                             credit_wait, behind the front of the buffer there
 *
 * So credit_wait is the time for which nothing but a credit was missing. A wait is at the port, and
 * in the VC by which the segment goes in the end.
 *
 * Example: docs/network.md "A packet in the way of another". A is ready in router 1 at 8 ns, behind
 * B, which has the port until 24, and then has no credit until 28: router_wait 16, credit_wait 4.
 *
 * Invariant: the wires and nodes behind a segment, the waits of its path and what it has got add up
 * to since_fs, less when its transaction set out.
 */
#include "explain/router_paths.h"
#include "network/banks_state.h"
#include <stdlib.h>
#include <string.h>

static struct net *net_of(const struct kb_sim *s)
{
    return spans_of(s)->net;
}

static struct net_other other_of(const struct kb_sim *s, uint32_t slot)
{
    return (struct net_other){spans_source(&s->txns[slot]), slot, s->txns[slot].id};
}

static bool is_same(const struct net_other *a, const struct net_other *b)
{
    return a->slot == b->slot && a->id == b->id && a->source == b->source;
}

static void add_wait(struct kb_sim *s, struct net_path *path, uint32_t mark, kb_cause cause,
                     kb_place place, const struct net_other *other, uint64_t begin, uint64_t end)
{
    const struct net_wait wait = {.cause = (uint8_t)cause,
                                  .place = place,
                                  .behind = other->source,
                                  .behind_id = other->id,
                                  .begin_fs = (int64_t)begin,
                                  .fs = (int64_t)(end - begin)};

    if (!net_path_wait(&net_of(s)->waits, path, mark, &wait))
        spans_stop(s, KB_NO_MEMORY);
}

/* Until `t` the segment has been blocked for the same reason. */
static void end_block(struct kb_sim *s, uint64_t t, struct net_segment *segment)
{
    if (segment->blocked && segment->since_fs < t)
        add_wait(s, &segment->path, segment->mark, (kb_cause)segment->blocked, KB_NOWHERE,
                 &segment->behind, segment->since_fs, t);
    if (segment->blocked)
        segment->since_fs = t;
}

/* -- segments ------------------------------------------------------------------------------- */

static struct net_segment *segment_of(struct kb_sim *s, uint32_t slot, uint32_t number)
{
    enum { FIRST = 16 };
    struct net_flight *f = &net_of(s)->flights[slot];

    if (number >= f->room) {
        uint32_t room = number < FIRST ? FIRST : 2 * number;
        struct net_segment *more = realloc(f->segments, room * sizeof *more);

        if (!more) {
            spans_stop(s, KB_NO_MEMORY);
            return NULL;
        }
        f->segments = more;
        f->room = room;
    }
    while (f->n <= number)
        f->segments[f->n++] = (struct net_segment){.path = {NO_WAIT, 0}, .mark = NO_WAIT};
    return &f->segments[number];
}

static void clear_segments(struct net *net, struct net_flight *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        net_path_clear(&net->waits, &f->segments[i].path);
    f->n = 0;
}

static void clear_flight(struct net *net, struct net_flight *f)
{
    clear_segments(net, f);
    net_path_clear(&net->waits, &f->base);
    net_path_clear(&net->waits, &f->tail);
    net_path_clear(&net->waits, &f->first);
    net_path_clear(&net->waits, &f->served);
    f->tail_fs = f->served_fs = 0;
    f->at_memory = (struct net_other){.id = KB_NO_ID};
}

bool net_begin(struct kb_sim *s, uint32_t slot)
{
    static const struct net_path none = {NO_WAIT, 0};
    struct net *net = net_of(s);
    uint32_t n = spans_of(s)->n_slots;

    if (slot >= net->n_flights) {
        struct net_flight *more = realloc(net->flights, n * sizeof *more);

        if (!more) {
            spans_stop(s, KB_NO_MEMORY);
            return false;
        }
        for (uint32_t i = net->n_flights; i < n; i++)
            more[i] =
                (struct net_flight){.base = none, .tail = none, .first = none, .served = none};
        net->flights = more;
        net->n_flights = n;
    }
    clear_flight(net, &net->flights[slot]);
    return true;
}

/* -- what waits at a port ------------------------------------------------------------------- */

struct waiter {
    uint32_t port, input; /* NO_INPUT: in its source */
    uint32_t slot, number, hop;
    uint64_t ready_fs, from_fs; /* it is a candidate from the later of both on */
};

static struct waiter waiter_in(const struct kb_sim *s, uint32_t port, uint32_t input)
{
    const struct vc *vc = &s->router->vcs[input];
    const struct segment *front = &vc->rows[vc->first];
    const struct way_row *first = s->router->flights[front->slot].way->rows;

    return (struct waiter){.port = port,
                           .input = input,
                           .slot = front->slot,
                           .number = front->number,
                           .hop = (uint32_t)(front->row - first) + 1,
                           .ready_fs = front->ready_fs,
                           .from_fs = vc->from_fs};
}

static struct waiter waiter_at_source(const struct kb_sim *s, uint32_t port)
{
    const struct out_port *out = &s->router->ports[port];
    const struct parcel *parcel = &s->router->parcels[out->source];
    uint64_t ready = parcel->ready_fs;

    if (parcel->gated)
        ready = parcel->sent < parcel->in ? parcel->rows[parcel->sent] : ROUTER_NEVER;
    return (struct waiter){.port = port,
                           .input = NO_INPUT,
                           .slot = parcel->slot,
                           .number = parcel->first + parcel->sent,
                           .hop = parcel->hop,
                           .ready_fs = ready,
                           .from_fs = out->source_from_fs};
}

/* It has come to a source: the begin of its way, or an m_cpu, where it has waited for the engine.
 */
static void begin_at_source(struct kb_sim *s, struct net_segment *segment, const struct waiter *x)
{
    struct net *net = net_of(s);

    const struct txn *txn = &s->txns[x->slot];

    if (x->hop == 0)
        net_path_copy(&net->waits, &segment->path, &net->flights[x->slot].base);
    else
        segment->path.got_fs += (int64_t)(x->ready_fs - segment->since_fs);
    if (x->hop == 0 && s->router->flights[x->slot].answers && txn_queues(s, txn))
        segment->path.got_fs += (int64_t)x->ready_fs - txn->arrive_fs;
    segment->since_fs = x->ready_fs;
}

/* The segment, once it is a candidate; NULL before. */
static struct net_segment *candidate(struct kb_sim *s, uint64_t t, const struct waiter *x)
{
    struct net *net = net_of(s);
    struct net_segment *segment;

    if (x->ready_fs > t || x->from_fs > t)
        return NULL;
    segment = segment_of(s, x->slot, x->number);
    if (!segment || segment->waits)
        return segment;
    segment->waits = true;
    if (x->input == NO_INPUT)
        begin_at_source(s, segment, x);
    segment->mark = segment->path.last;
    if (x->from_fs > x->ready_fs) {
        add_wait(s, &segment->path, segment->mark, KB_CAUSE_ROUTER_WAIT, KB_NOWHERE,
                 x->input == NO_INPUT ? &net->ports[x->port].other : &net->left[x->input].other,
                 x->ready_fs, x->from_fs);
        segment->since_fs = x->from_fs;
    }
    return segment;
}

/* -- behind what it waits ------------------------------------------------------------------- */

/* From `t` on it is blocked for another reason. */
static void block(struct kb_sim *s, uint64_t t, struct net_segment *segment, kb_cause cause,
                  const struct net_other *other)
{
    if (segment->blocked == cause && is_same(&segment->behind, other))
        return;
    end_block(s, t, segment);
    segment->blocked = (uint8_t)cause;
    segment->behind = *other;
}

/* The port has a segment of its own transaction until it is free: it goes on from there. */
static void follow(struct kb_sim *s, struct net_segment *segment, uint32_t port)
{
    struct net *net = net_of(s);
    const struct net_last *last = &net->ports[port];

    net_path_copy(&net->waits, &segment->path, &last->path);
    segment->path.got_fs += last->taken_fs;
    segment->since_fs = s->router->ports[port].free_fs;
    segment->mark = segment->path.last;
    segment->blocked = 0;
}

static bool has_server(const struct kb_sim *s, uint64_t t, uint32_t port)
{
    for (uint32_t i = 0; i < s->topo->input_speedup; i++)
        if (s->router->ports[port].server_fs[i] <= t)
            return true;
    return false;
}

static uint32_t bytes_of(const struct kb_sim *s, const struct waiter *x)
{
    uint64_t segment_bytes = s->topo->segment_bytes;
    uint64_t left = s->router->flights[x->slot].nbytes - x->number * segment_bytes;

    return (uint32_t)(left < segment_bytes ? left : segment_bytes);
}

/* What is in front in the buffer of a VC: its place comes back first. */
static struct net_other front_there(struct kb_sim *s, uint32_t vc)
{
    const struct vc *buffer = &s->router->vcs[vc];
    const struct net *net = net_of(s);

    if (buffer->n)
        return other_of(s, buffer->rows[buffer->first].slot);
    return net->left[vc].other.source ? net->left[vc].other : net->vcs[vc].other;
}

/* The port is free: it has no VC. */
static void block_by_vc(struct kb_sim *s, uint64_t t, struct net_segment *segment,
                        const struct waiter *x)
{
    const struct router *r = s->router;
    const struct out_port *port = &r->ports[x->port];
    const struct way_row *row = &r->flights[x->slot].way->rows[x->hop];
    uint8_t owned = x->input == NO_INPUT ? port->source_vc : r->vcs[x->input].out_vc;
    uint32_t first = x->port * r->n_vcs + (owned == NO_VC ? row->vc : owned);
    uint32_t n = owned == NO_VC ? row->n_vcs : 1;
    struct net_other other;

    for (uint32_t vc = first; vc < first + n; vc++)
        if (port->endless || row->end == END_SINK || vc_room_by(&r->vcs[vc], t) >= bytes_of(s, x)) {
            block(s, t, segment, KB_CAUSE_ROUTER_WAIT, &net_of(s)->vcs[vc].other);
            return;
        }
    other = front_there(s, first);
    block(s, t, segment, KB_CAUSE_CREDIT_WAIT, &other);
}

static void note_block(struct kb_sim *s, uint64_t t, const struct waiter *x)
{
    struct net *net = net_of(s);
    struct net_segment *segment = candidate(s, t, x);
    struct net_other own = other_of(s, x->slot);

    if (!segment || segment->since_fs > t)
        return;
    if (s->router->ports[x->port].free_fs > t) {
        if (is_same(&net->ports[x->port].other, &own) && net->ports[x->port].number < x->number)
            follow(s, segment, x->port);
        else
            block(s, t, segment, KB_CAUSE_ROUTER_WAIT, &net->ports[x->port].other);
    } else if (x->input != NO_INPUT && !has_server(s, t, x->input / s->router->n_vcs)) {
        block(s, t, segment, KB_CAUSE_ROUTER_WAIT, &net->inputs[x->input / s->router->n_vcs].other);
    } else {
        block_by_vc(s, t, segment, x);
    }
}

void net_decide(struct kb_sim *s, uint64_t t, uint32_t port)
{
    const struct router *r = s->router;
    struct waiter x;

    for (uint32_t input = r->ports[port].inputs; input != NO_INPUT; input = r->vcs[input].next) {
        x = waiter_in(s, port, input);
        note_block(s, t, &x);
    }
    if (r->ports[port].source != NO_PARCEL) {
        x = waiter_at_source(s, port);
        note_block(s, t, &x);
    }
}

/* A station has it from `begin` to `end`. */
static void tell_service(struct kb_sim *s, uint32_t slot, kb_place place, uint64_t begin,
                         uint64_t end)
{
    kb_service service;

    if (!spans_of(s)->services)
        return;
    service = spans_service(s, slot, place, (int64_t)begin, (int64_t)end);
    TELL(spans_of(s), take, &service);
}

/* -- a grant -------------------------------------------------------------------------------- */

/* It goes, and is the last that has gone there. */
static void note_last(struct kb_sim *s, const struct net_segment *segment,
                      const struct router_grant *g)
{
    struct net *net = net_of(s);
    struct net_last *port = &net->ports[g->port];
    struct net_other other = other_of(s, g->slot);

    port->other = net->vcs[g->port * s->router->n_vcs + g->vc].other = other;
    net_path_copy(&net->waits, &port->path, &segment->path);
    port->taken_fs = (int64_t)g->taken_fs;
    port->number = g->number;
    if (g->input == NO_INPUT)
        return;
    net->left[g->input].other = other;
    net->inputs[g->input / s->router->n_vcs].other = other;
}

/* It comes to the end of its way, or to an m_cpu, at `t`. */
static void note_end(struct kb_sim *s, uint64_t t, const struct net_segment *segment,
                     const struct router_grant *g, enum channel_end end)
{
    struct net *net = net_of(s);
    struct net_flight *f = &net->flights[g->slot];

    if (end == END_M_CPU)
        return;
    if (g->number == 0)
        net_path_copy(&net->waits, &f->first, &segment->path);
    if ((end == END_MEMORY && !txn_writes(&s->txns[g->slot])) || t + g->taken_fs <= f->tail_fs)
        return;
    net_path_copy(&net->waits, &f->tail, &segment->path);
    f->tail.got_fs += (int64_t)g->taken_fs;
    f->tail_fs = t + g->taken_fs;
}

void net_grant(struct kb_sim *s, uint64_t t, const struct router_grant *g)
{
    const struct out_port *port = &s->router->ports[g->port];
    const struct way_row *row = &s->router->flights[g->slot].way->rows[g->hop];
    struct waiter x =
        g->input == NO_INPUT ? waiter_at_source(s, g->port) : waiter_in(s, g->port, g->input);
    struct net_segment *segment = candidate(s, t, &x);
    uint64_t there = t + (uint64_t)channel_fs(port->wire_fs);
    bool first = g->number % s->router->packet_segments == 0; /* of its packet */

    if (!segment)
        return;
    end_block(s, t, segment);
    net_path_place(&net_of(s)->waits, &segment->path, segment->mark, place_vc(port->link, g->vc));
    note_last(s, segment, g);
    segment->since_fs = there + (uint64_t)(first ? row->ready_fs : row->next_fs);
    segment->path.got_fs -= first ? 0 : row->ready_fs - row->next_fs;
    segment->waits = segment->blocked = 0;
    if (row->end > END_NODE)
        note_end(s, there, segment, g, (enum channel_end)row->end);
    tell_service(s, g->slot, place_of(KB_AT_LINK, port->link), t, t + g->taken_fs);
}

/* -- memories ------------------------------------------------------------------------------- */

static struct net_last *sink_of(struct kb_sim *s, uint32_t dst, bool writes)
{
    return &net_of(s)
                ->sinks[2 * (size_t)dst + (unit_is_tcm(s->topo, dst_unit(s->topo, dst)) && writes)];
}

struct net_other net_take_port(struct kb_sim *s, uint32_t slot, uint32_t dst, bool writes)
{
    struct net_last *sink = sink_of(s, dst, writes);
    struct net_other before = sink->other;

    sink->other = other_of(s, slot);
    net_path_clear(&net_of(s)->waits, &sink->path);
    return before;
}

/* Segments of a packet. */
static uint32_t packet_segments(const struct kb_topology *t)
{
    return t->packet_bytes ? t->packet_bytes / t->segment_bytes : 0;
}

/* It waits for the memory: the first packet for the term of its own, later ones in the network. */
static void wait_for_memory(struct kb_sim *s, struct net_path *path, const struct net_last *sink,
                            uint64_t t, uint64_t start, uint32_t slot, uint32_t packet)
{
    struct net *net = net_of(s);
    struct net_other own = other_of(s, slot);

    if (packet == 0) {
        path->got_fs += (int64_t)(start - t);
        net->flights[slot].at_memory = sink->other;
    } else if (is_same(&sink->other, &own) && sink->number < packet) {
        net_path_copy(&net->waits, path, &sink->path);
    } else {
        add_wait(s, path, path->last, KB_CAUSE_ROUTER_WAIT,
                 place_of(KB_AT_MEMORY, s->txns[slot].dst), &sink->other, t, start);
    }
}

/* A read: what comes next is its answer. */
static void turn_back(struct net *net, struct net_flight *f, const struct net_path *path)
{
    net_path_copy(&net->waits, &f->base, path);
    clear_segments(net, f);
    net_path_clear(&net->waits, &f->first);
}

/* When the memory of a transaction is free, which has just taken a part of it. */
static uint64_t free_fs_of(const struct kb_sim *s, const struct txn *txn)
{
    return unit_is_tcm(s->topo, dst_unit(s->topo, txn->dst))
               ? (uint64_t)link_last_fs(port_of_tcm(s, txn->dst, txn_writes(txn)))
               : s->router->sinks[txn->dst];
}

void net_serve(struct kb_sim *s, uint64_t t, uint64_t start, uint32_t slot, uint32_t packet)
{
    struct net *net = net_of(s);
    struct net_flight *f = &net->flights[slot];
    const struct txn *txn = &s->txns[slot];
    bool writes = txn_writes(txn);
    struct net_last *sink = sink_of(s, txn->dst, writes);
    uint64_t free_fs = free_fs_of(s, txn);
    struct net_path path = {NO_WAIT, 0};

    if (f->n) /* else the request was a delay */
        net_path_copy(&net->waits, &path, &f->segments[packet * packet_segments(s->topo)].path);
    else if (txn_of_host(txn))
        path.got_fs = txn->wait_fs;
    if (txn_queues(s, txn)) { /* it tells of itself: explain/server_pieces.c */
        if (!writes)
            turn_back(net, f, &path);
        net_path_clear(&net->waits, &path);
        return;
    }
    if (start > t)
        wait_for_memory(s, &path, sink, t, start, slot, packet);
    if (!writes)
        turn_back(net, f, &path);
    path.got_fs += (int64_t)(free_fs - start);
    sink->other = other_of(s, slot);
    sink->number = packet;
    net_path_copy(&net->waits, &sink->path, &path);
    if (free_fs >= f->served_fs) {
        net_path_copy(&net->waits, &f->served, &path);
        f->served_fs = free_fs;
    }
    net_path_clear(&net->waits, &path);
    tell_service(s, slot, spans_memory(s, slot), start, free_fs);
}

/* -- the whole ------------------------------------------------------------------------------ */

static struct net_last *lasts_new(size_t n)
{
    struct net_last *rows = malloc(n * sizeof *rows);

    for (size_t i = 0; rows && i < n; i++)
        rows[i] = (struct net_last){.other = {.id = KB_NO_ID}, .path = {NO_WAIT, 0}};
    return rows;
}

struct net *net_new(const struct kb_sim *s)
{
    struct net *net = calloc(1, sizeof *net);
    size_t ports = s->router->n_ports, vcs = ports * s->router->n_vcs;

    if (!net)
        return NULL;
    net->waits.free = NO_WAIT;
    net->ports = lasts_new(ports);
    net->inputs = lasts_new(ports);
    net->vcs = lasts_new(vcs);
    net->left = lasts_new(vcs);
    net->sinks = lasts_new(2 * (size_t)sim_cubes(s->topo) << s->topo->unit_bits);
    if (net->ports && net->inputs && net->vcs && net->left && net->sinks)
        return net;
    net_free(net);
    return NULL;
}

void net_free(struct net *net)
{
    if (!net)
        return;
    for (uint32_t i = 0; i < net->n_flights; i++)
        free(net->flights[i].segments);
    free(net->flights);
    free(net->ports);
    free(net->inputs);
    free(net->vcs);
    free(net->left);
    free(net->sinks);
    free(net->waits.rows);
    free(net);
}
