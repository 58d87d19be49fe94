/* stall.c -- a run without events in which segments still wait: a mistake of ours, and its circle.
 *
 * kbgen refuses machines whose packets could wait for each other, so this cannot happen. If it does
 * it must not look like a run that has ended: it is KB_INTERNAL, with the VCs that wait.
 *
 * A segment that waits does so for room in the VC behind its port, or for that VC's owner, whose
 * next segment is in turn at the front of a buffer or at a source. So there is a way from VC to VC:
 * from the buffer of a VC to the one that its first segment wants. It comes back to a VC where it
 * has been, since nothing moves.
 */
#include "base/text.h"
#include "engine/inorder.h"
#include "engine/router.h"
#include "machine/place.h"
#include "sim/sim.h"
#include <stdlib.h>

enum { SHOWN_MAX = 6 };

/* The VC that the first segment of the buffer in `input` waits for. */
static uint32_t waits_for(const struct kb_sim *s, uint32_t input)
{
    const struct router *r = s->router;
    const struct vc *vc = &r->vcs[input];
    const struct segment *segment = &vc->rows[vc->first];
    const struct way_row *row = segment->row + 1;

    return row->port * r->n_vcs + (vc->out_vc == NO_VC ? row->vc : vc->out_vc);
}

/* Appends "link VC 1". */
static void tell(const struct kb_sim *s, uint32_t input, bool first, kb_error *why)
{
    char name[KB_PLACE_BYTES], text[sizeof why->text];

    kb_place_name(s->topo, place_of(KB_AT_LINK, s->router->ports[input / s->router->n_vcs].link),
                  name);
    text_format(text, sizeof text, "%s%s%s VC %u", why->text, first ? "" : ", ", name,
                input % s->router->n_vcs);
    text_format(why->text, sizeof why->text, "%s", text);
}

static void tell_more(uint32_t n, kb_error *why)
{
    char text[sizeof why->text];

    text_format(text, sizeof text, "%s, and %u more", why->text, n);
    text_format(why->text, sizeof why->text, "%s", text);
}

/* A VC whose segments wait; UINT32_MAX: none. */
static uint32_t find_waiting(const struct kb_sim *s)
{
    for (size_t port = 0; port < s->router->n_ports; port++)
        if (s->router->ports[port].inputs != NO_INPUT)
            return s->router->ports[port].inputs;
    return UINT32_MAX;
}

static bool has_flights(const struct kb_sim *s)
{
    for (uint32_t i = 0; i < s->router->n_flights; i++)
        if (s->router->flights[i].way)
            return true;
    return false;
}

kb_status sim_check_stall(const struct kb_sim *s, kb_status status, kb_error *why)
{
    kb_error told = {"packets wait for each other: "};
    uint32_t at, first, n = 0;

    if (status != KB_OK && status != KB_STOPPED && status != KB_DEADLOCK)
        return status; /* it has failed, perhaps before an event was made */
    if (!s->router || !s->over || !has_flights(s))
        return status;
    at = find_waiting(s);
    if (at == UINT32_MAX && s->instances.never)
        return status; /* a memory that is a component has not ended what came to it */
    for (size_t i = 0; at != UINT32_MAX && i < s->router->n_ports * s->router->n_vcs; i++) {
        if (s->router->vcs[at].n == 0)
            break;
        at = waits_for(s, at);
    }
    first = at;
    for (bool more = at != UINT32_MAX; more; n++) {
        if (n < SHOWN_MAX)
            tell(s, at, n == 0, &told);
        more = s->router->vcs[at].n && (at = waits_for(s, at)) != first;
    }
    if (n > SHOWN_MAX)
        tell_more(n - SHOWN_MAX, &told);
    if (why)
        *why = told;
    return KB_INTERNAL;
}
