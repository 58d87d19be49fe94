/* router_ask.h -- when the port of a router decides next.
 *
 * A decision of a port reads times (engine/router.h), so it is known beforehand when the next one
 * can grant anything. The fused engines ask for an event at that time alone; what happens later,
 * and might make it earlier, asks again. A port has one time for which it is asked, asked_fs: at
 * other instants that it was asked for it does nothing. engine/agenda.h has the instants.
 *
 * The hop engine computes nothing beforehand. Each of these times has an event of class 1, a note,
 * which asks the ports concerned at that instant. So if the fused engine thinks that nothing can go
 * and is wrong, the engines differ.
 */
#ifndef NETWORK_ROUTER_ASK_H
#define NETWORK_ROUTER_ASK_H
#include "engine/how.h"
#include "engine/router.h"

/* Events of class 1 whose id is this are notes: no transaction has it. */
#define NOTE_ID UINT32_MAX

/* The first port asks for this instant. */
static inline uint32_t new_instant(struct kb_sim *s, uint64_t t)
{
    uint32_t row = agenda_new_instant(&s->router->agenda, t);

    if (row == NO_INSTANT || !ev_push(&s->queue, ev_make(t, EV_ARBITER, 0, row)))
        fail(s, KB_NO_MEMORY);
    return row;
}

/* What has the place `order` among all decides at `t`. */
static ALWAYS_INLINE void ask_agenda(struct kb_sim *s, uint64_t t, uint64_t order, uint32_t index)
{
    struct agenda *agenda = &s->router->agenda;
    uint32_t row = agenda_find(agenda, t);

    if (row == NO_INSTANT)
        row = new_instant(s, t);
    if (row == NO_INSTANT || !agenda_add(&agenda->instants[row], order, index))
        fail(s, KB_NO_MEMORY);
}

/* The port decides at `t`, unless it does so before. */
static ALWAYS_INLINE void ask(struct kb_sim *s, uint32_t index, uint64_t t)
{
    struct out_port *port = &s->router->ports[index];

    if (t >= port->asked_fs)
        return;
    port->asked_fs = t;
    ask_agenda(s, t < EV_PAST ? t : EV_PAST, port->order, index);
}

/* hop: an event of class 1 at `t`. */
static inline void post_note(struct kb_sim *s, uint64_t t, struct note note)
{
    uint32_t row = router_new_note(s->router);

    if (row == NO_NOTE) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    s->router->notes[row] = note;
    if (!ev_push(&s->queue, ev_make(t < EV_PAST ? t : EV_PAST, EV_HOP, NOTE_ID, row)))
        fail(s, KB_NO_MEMORY);
}

/* At `t` something changes that the port reads. */
static ALWAYS_INLINE void changes(struct kb_sim *s, int how, uint32_t index, uint64_t t)
{
    if (how & HOW_HOP)
        post_note(s, t, (struct note){.kind = NOTE_ASK, .port = index});
    else
        ask(s, index, t);
}

#endif
