/* router_buffer.h -- the buffers at the input ports of a router, and what comes to them.
 *
 * It holds        segments of one VC, first in, first out, in buffer_bytes
 * For how long    until the first of them is granted its way: its place is free when it has left,
 *                 and the port that sends here knows it a wire and credit_ns later
 * Goes first      the first alone: what is behind it waits, though its own port may be free
 * Wait counted    queue_link
 *
 * The first of a buffer is in the list of inputs of the port by which it leaves.
 */
#ifndef NETWORK_ROUTER_BUFFER_H
#define NETWORK_ROUTER_BUFFER_H
#include "engine/router_tally.h"
#include "network/router_ask.h"

static ALWAYS_INLINE uint32_t vcs_of(const struct kb_sim *s)
{
    (void)s; /* T names it only where any topology runs */
    return T->request_vcs + (uint32_t)T->answer_vcs;
}

/* An input: VC `vc` of port `port`. */
static ALWAYS_INLINE uint32_t input_of(const struct kb_sim *s, uint32_t port, uint32_t vc)
{
    return port * vcs_of(s) + vc;
}

static ALWAYS_INLINE struct segment *front_of(const struct vc *vc)
{
    return &vc->rows[vc->first];
}

/* The port by which a segment leaves the router where it is. */
static ALWAYS_INLINE uint32_t next_port(const struct segment *segment)
{
    return segment->row[1].port;
}

/* When a server of an input port is free. */
static ALWAYS_INLINE uint64_t server_free(const struct kb_sim *s, const struct out_port *port)
{
    uint64_t least = port->server_fs[0];

    (void)s;
    for (uint32_t i = 1; i < T->input_speedup; i++)
        if (port->server_fs[i] < least)
            least = port->server_fs[i];
    return least;
}

/* The input has a first segment, since `t`: it waits for its port. */
static ALWAYS_INLINE void wait_for_port(struct kb_sim *s, int how, uint32_t input, uint64_t t)
{
    struct vc *vc = &s->router->vcs[input];
    const struct segment *segment = front_of(vc);
    uint32_t index = next_port(segment);
    struct out_port *port = &s->router->ports[index];
    uint64_t ready = segment->ready_fs > t ? segment->ready_fs : t;

    vc->from_fs = t;
    vc->next = port->inputs;
    port->inputs = input;
    if (!(how & HOW_HOP)) {
        uint64_t server = server_free(s, &s->router->ports[input / vcs_of(s)]);

        ready = port->free_fs > ready ? port->free_fs : ready;
        ready = server > ready ? server : ready;
    }
    changes(s, how, index, ready);
}

/* A segment comes to a buffer. */
static ALWAYS_INLINE void put(struct kb_sim *s, int how, uint32_t input, struct segment segment)
{
    struct vc *vc = &s->router->vcs[input];

    if (vc->n == vc->room && !vc_room(vc)) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    vc->rows[(vc->first + vc->n++) & (vc->room - 1)] = segment;
    if (vc->n == 1)
        wait_for_port(s, how, input, 0);
}

/* A place of `nbytes` in the buffer of `vc` of `port` is free, and known to be so at `t`. */
static ALWAYS_INLINE void give_credit(struct kb_sim *s, int how, uint32_t port, uint32_t vc_number,
                                      bool of_memory, uint64_t t, uint64_t nbytes)
{
    struct vc *vc = &s->router->vcs[input_of(s, port, vc_number)];
    uint32_t i;

    if (s->router->ports[port].endless)
        return;
    if (__builtin_expect(s->router->tally != NULL, 0) &&
        !router_tally_credit(s, input_of(s, port, vc_number), of_memory, t, nbytes))
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
    if (how & HOW_HOP || s->router->ports[port].starved)
        changes(s, how, port, t);
}

/* The port finds the input in its list no more. */
static ALWAYS_INLINE void unlink_input(struct kb_sim *s, struct out_port *port, uint32_t input)
{
    uint32_t *link = &port->inputs;

    while (*link != input)
        link = &s->router->vcs[*link].next;
    *link = s->router->vcs[input].next;
}

/*
 * The first segment of the input has gone at `t` by port `out`, by an input server that is busy
 * until `until`. The next one is mostly of the same packet, and waits for the same port: which
 * looks at all that wait for it when it is free.
 */
static ALWAYS_INLINE void take_from_buffer(struct kb_sim *s, int how, uint32_t input, uint32_t out,
                                           uint64_t t, uint64_t until)
{
    struct vc *vc = &s->router->vcs[input];
    uint32_t index = input / vcs_of(s), server = 0;
    struct out_port *port = &s->router->ports[index];
    uint64_t nbytes = front_of(vc)->nbytes;

    if (T->input_speedup > 1) {
        uint64_t free_fs = server_free(s, port);

        while (port->server_fs[server] != free_fs)
            server++;
    }
    port->server_fs[server] = until;
    vc->first = (vc->first + 1) & (vc->room - 1);
    vc->n--;
    give_credit(s, how, index, input % vcs_of(s), false,
                until + (uint64_t)port->wire_fs + (uint64_t)T->credit_fs, nbytes);
    if (how & HOW_HOP)
        post_note(s, until, (struct note){.kind = NOTE_SERVER, .port = index});
    if (!(how & HOW_HOP) && vc->n && next_port(front_of(vc)) == out) {
        vc->from_fs = t + 1;
        return;
    }
    unlink_input(s, &s->router->ports[out], input);
    if (vc->n)
        wait_for_port(s, how, input, t + 1);
}

#endif
