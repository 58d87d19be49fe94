/* router_inside.h -- what the parts of a network of routers share: asking a port to decide, the
 * buffers at input ports, and what comes to them.
 *
 * A buffer
 * It holds        segments of one VC, first in, first out, in buffer_bytes
 * For how long    until the first of them is granted its way: its place is free when it has left,
 *                 and the port that sends here knows it a wire and credit_ns later
 * Goes first      the first alone: what is behind it waits, though its own port may be free
 * Wait counted    queue_link
 *
 * The first of a buffer is in the list of inputs of the port by which it leaves.
 *
 * Asking. A decision of a port reads times (engine/router.h), so it is known beforehand when the
 * next one can grant anything. A port is asked to decide at that time alone; what happens later,
 * and might make it earlier, asks again. A port has one time for which it is asked, asked_fs: at
 * other instants that it was asked for it does nothing.
 *
 * The hop engine computes nothing beforehand. Each of these times has an event of class 1, a note,
 * which asks the ports concerned at that instant. So if the others think that nothing can go and
 * are wrong, the engines differ.
 */
#ifndef NETWORK_ROUTER_INSIDE_H
#define NETWORK_ROUTER_INSIDE_H
#include "base/larger.h"
#include "engine/serving.h"
#include "engine/inorder_lists.h"
#include "engine/router_tally.h"
#include "network/network_router.h"

/* `how` of the run: a constant where it is that of no run that is counted. */
static ALWAYS_INLINE bool router_is_hop(int how)
{
    return __builtin_expect(how & HOW_HOP, false);
}

/* -- asking --------------------------------------------------------------------------------- */

/* hop has an event at the first instant of the agenda. */
static inline void wake(struct kb_sim *s, uint64_t t)
{
    s->router->wake_fs = t;
    post_else(s, ev_make(t, EV_ARBITER, UINT32_MAX, 0)); /* memories that queue wake before */
}

static inline void ask_agenda(struct kb_sim *s, uint64_t t, uint64_t order, uint32_t index)
{
    uint64_t at = t < EV_PAST ? t : EV_PAST;

    if (!agenda_add(&s->router->agenda, agenda_key(at, order), index))
        fail(s, KB_NO_MEMORY);
    if (s->router->has_wakes && at < s->router->wake_fs)
        wake(s, at);
}

/* The port decides at `t`, unless it does so before. */
static ALWAYS_INLINE void ask(struct kb_sim *s, uint32_t index, uint64_t t)
{
    struct out_port *port = &s->router->ports[index];

    if (t >= port->asked_fs)
        return;
    port->asked_fs = t;
    ask_agenda(s, t, port->order, index);
}

/*
 * An event of class 1 at `t`. Heads that come to a component at one instant do so in the order of
 * their transactions: they have the event of that, which finds its note in its flight.
 */
static inline void router_post_note(struct kb_sim *s, uint64_t t, const struct note *note)
{
    struct router *r = s->router;
    uint32_t row = router_new_note(r), slot = note->segment.slot;
    uint64_t at = t < EV_PAST ? t : EV_PAST;

    if (row == NO_NOTE) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    r->notes[row] = *note;
    if (t < r->until_fs)
        r->until_fs = t;
    if (note->kind != NOTE_HEAD) {
        post_else(s, ev_make(at, EV_HOP, NOTE_ID, row));
        return;
    }
    r->notes[row].at_fs = at;
    r->notes[row].next = r->flights[slot].heads;
    r->flights[slot].heads = row;
    post_else(s, ev_make(at, EV_HOP, s->txns[slot].id, slot));
}

/* At `t` something changes that the port reads. */
static ALWAYS_INLINE void changes(struct kb_sim *s, int how, uint32_t index, uint64_t t)
{
    if (router_is_hop(how))
        router_post_note(s, t, &(struct note){.kind = NOTE_ASK, .port = index});
    else
        ask(s, index, t);
}

/* An event of the row in `slot`. */
static inline void post_row(struct kb_sim *s, uint64_t t, enum ev_class class, uint32_t slot)
{
    post(s, t, class, slot);
    if (t < s->router->until_fs)
        s->router->until_fs = t;
}

/* -- buffers -------------------------------------------------------------------------------- */

static inline struct segment *front_of(const struct vc *vc)
{
    return &vc->rows[vc->first];
}

/* The port by which a segment leaves the router where it is. */
static inline uint32_t next_port(const struct segment *segment)
{
    return segment->row[1].port;
}

/* When a server of an input port is free. */
static inline uint64_t server_free(const struct router *r, const struct out_port *port)
{
    uint64_t least = port->server_fs[0];

    for (uint32_t i = 1; i < r->speedup; i++)
        if (port->server_fs[i] < least)
            least = port->server_fs[i];
    return least;
}

/* The input has a first segment: it waits for its port. */
static ALWAYS_INLINE void wait_for_port(struct kb_sim *s, int how, uint32_t input)
{
    struct router *r = s->router;
    struct vc *vc = &r->vcs[input];
    const struct segment *segment = front_of(vc);
    uint32_t index = next_port(segment);
    struct out_port *port = &r->ports[index];
    uint64_t ready = larger(segment->ready_fs, vc->from_fs);

    vc->next = port->inputs;
    port->inputs = input;
    if (!router_is_hop(how))
        ready = larger(larger(ready, port->free_fs), server_free(r, &r->ports[vc->port]));
    changes(s, how, index, ready);
}

/* Segments at the front of a buffer that leave by the same port, from the one at `from` on. */
static inline uint32_t run_of(const struct vc *vc, uint32_t from)
{
    uint32_t run = from;

    while (run < vc->n &&
           next_port(&vc->rows[(vc->first + run) & (vc->room - 1)]) == next_port(front_of(vc)))
        run++;
    return run;
}

/* A segment comes to a buffer. */
static ALWAYS_INLINE void put(struct kb_sim *s, int how, uint32_t input,
                              const struct segment *segment)
{
    struct vc *vc = &s->router->vcs[input];

    if (vc->n == vc->room && !vc_room(vc)) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    vc->rows[(vc->first + vc->n++) & (vc->room - 1)] = *segment;
    s->router->ports[vc->port].held++;
    s->router->ports[next_port(segment)].coming++;
    if (vc->run == vc->n - 1)
        vc->run = run_of(vc, vc->run);
    if (vc->n == 1)
        wait_for_port(s, how, input);
}

/* A place of `nbytes` in the buffer of `input` is free, and known to be so at `t`. */
static ALWAYS_INLINE void give_credit(struct kb_sim *s, int how, uint32_t input, bool of_memory,
                                      uint64_t t, uint64_t nbytes)
{
    struct vc *vc = &s->router->vcs[input];
    struct out_port *port = &s->router->ports[vc->port];
    uint32_t i;

    if (port->endless)
        return;
    if (__builtin_expect(s->router->tally != NULL, false) &&
        !router_tally_credit(s, input, of_memory, t, nbytes))
        fail(s, KB_NO_MEMORY);
    if (vc->n_due == vc->due_room && !vc_due_room(vc)) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    for (i = vc->n_due++; i > 0; i--) {
        struct credit *before = &vc->due[(vc->due_first + i - 1) & (vc->due_room - 1)];

        if (before->at_fs <= t)
            break;
        vc->due[(vc->due_first + i) & (vc->due_room - 1)] = *before;
    }
    vc->due[(vc->due_first + i) & (vc->due_room - 1)] = (struct credit){t, nbytes};
    if (port->starved || router_is_hop(how))
        changes(s, how, vc->port, t);
}

/* -- segments and packets ------------------------------------------------------------------- */

static inline uint32_t segments_of(const struct router *r, uint64_t nbytes)
{
    return (uint32_t)((nbytes + r->segment_bytes - 1) / r->segment_bytes);
}

static inline bool begins_packet(const struct router *r, uint32_t number)
{
    return number % r->packet_segments == 0; /* of a whole transaction there are never so many */
}

static inline uint32_t bytes_of_segment(const struct router *r, uint64_t nbytes, uint32_t number)
{
    uint64_t left = nbytes - (uint64_t)number * r->segment_bytes;

    return left < r->segment_bytes ? (uint32_t)left : r->segment_bytes;
}

static inline uint32_t bytes_of(const struct router *r, const struct flight *flight,
                                uint32_t number)
{
    return bytes_of_segment(r, flight->nbytes, number);
}

/* Of the packet that begins with segment `number`. */
static inline uint64_t bytes_of_packet(const struct router *r, uint64_t nbytes, uint32_t number)
{
    uint64_t left = nbytes - (uint64_t)number * r->segment_bytes;
    uint64_t most = (uint64_t)r->packet_segments * r->segment_bytes;

    return left < most ? left : most;
}

/* -- sources and ends: router_source.c, router_end.c ------------------------------------------ */

/* All segments of the transaction in `slot` are ready at `t` at the begin of its way. */
void send_all(struct kb_sim *s, uint64_t t, uint32_t slot);

/* A parcel that begins at row `hop` of the way of `slot`; NO_PARCEL: no memory. */
uint32_t make_parcel(struct kb_sim *s, uint32_t slot, uint32_t hop, uint64_t ready_fs);

/* Segment `number` of its way back, or the next of a packet, joins a parcel. */
bool parcel_append(struct kb_sim *s, uint32_t row, uint64_t ready_fs);

/* A segment comes to the m_cpu by VC `input`, and is ready then. */
void come_to_m_cpu(struct kb_sim *s, uint32_t input, const struct segment *segment);

/* A segment comes to the memory by `input` at `t`, its tail `taken` later. */
void come_in(struct kb_sim *s, uint64_t t, uint64_t taken, uint32_t input,
             const struct segment *segment);

/* A segment of an answer comes to its requester. */
void come_back(struct kb_sim *s, uint64_t t, uint64_t taken, const struct segment *segment);

#endif
