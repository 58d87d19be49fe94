/* router_tally.c -- counts of buffers and credits of a network of routers. */
#include "engine/router_tally.h"
#include <stdlib.h>
#include "base/rows.h"

/* -- rings ---------------------------------------------------------------------------------- */

static struct tally_part *part_at(const struct tally_parts *parts, uint32_t i)
{
    return &parts->rows[(parts->first + i) & (parts->room - 1)];
}

/* Behind all that is there. */
static bool append(struct tally_parts *parts, uint64_t at_fs, uint64_t nbytes)
{
    if (parts->n == parts->room &&
        !ring_grow(&parts->rows, &parts->room, parts->first, parts->n, sizeof *parts->rows))
        return false;
    *part_at(parts, parts->n++) = (struct tally_part){at_fs, nbytes};
    return true;
}

/* Behind all that is not later. */
static bool insert(struct tally_parts *parts, uint64_t at_fs, uint64_t nbytes)
{
    uint32_t i;

    if (!append(parts, at_fs, nbytes))
        return false;
    for (i = parts->n - 1; i > 0 && part_at(parts, i - 1)->at_fs > at_fs; i--)
        *part_at(parts, i) = *part_at(parts, i - 1);
    *part_at(parts, i) = (struct tally_part){at_fs, nbytes};
    return true;
}

static struct tally_part take(struct tally_parts *parts)
{
    struct tally_part part = *part_at(parts, 0);

    parts->first = (parts->first + 1) & (parts->room - 1);
    parts->n--;
    return part;
}

/* -- buffers -------------------------------------------------------------------------------- */

/* Bytes that have left, but not by `t`. */
static uint64_t still_there(const struct tally_parts *left, uint64_t t)
{
    uint64_t nbytes = 0;

    for (uint32_t i = 0; i < left->n; i++)
        nbytes += part_at(left, i)->at_fs > t ? part_at(left, i)->nbytes : 0;
    return nbytes;
}

/* The first of a buffer is gone at `t`. */
static bool leave(struct vc_tally *vc, uint64_t t)
{
    struct tally_part part = take(&vc->in);
    uint64_t held;

    while (vc->left.n && part_at(&vc->left, 0)->at_fs <= part.at_fs)
        take(&vc->left);
    held = part.nbytes + still_there(&vc->left, part.at_fs);
    vc->most = held > vc->most ? held : vc->most;
    vc->held += (wait_sum)part.nbytes * (t - part.at_fs);
    return append(&vc->left, t, part.nbytes);
}

/* Bytes that are in the buffer at `now_fs`, or will leave only then, hold it until now. */
static void add_rest(struct vc_tally *vc, uint64_t now_fs)
{
    uint64_t before = 0;

    for (uint32_t i = 0; i < vc->left.n; i++)
        if (part_at(&vc->left, i)->at_fs > now_fs)
            vc->held -=
                (wait_sum)part_at(&vc->left, i)->nbytes * (part_at(&vc->left, i)->at_fs - now_fs);
    for (uint32_t i = 0; i < vc->in.n && part_at(&vc->in, i)->at_fs <= now_fs; i++) {
        const struct tally_part *part = part_at(&vc->in, i);
        uint64_t held;

        before += part->nbytes;
        held = before + still_there(&vc->left, part->at_fs);
        vc->most = held > vc->most ? held : vc->most;
        vc->held += (wait_sum)part->nbytes * (now_fs - part->at_fs);
    }
}

struct vc_tally router_tally_until(const struct vc_tally *vc, uint64_t now_fs)
{
    struct vc_tally sum = *vc;

    add_rest(&sum, now_fs);
    return sum;
}

/* -- credits -------------------------------------------------------------------------------- */

/* `nbytes` go at `t`, which have been ready in front since `from`. */
static void spend(struct vc_tally *vc, uint64_t t, uint64_t from, uint64_t nbytes)
{
    uint64_t enough = vc->went_fs;

    from = from > vc->went_fs ? from : vc->went_fs;
    while (vc->due.n && part_at(&vc->due, 0)->at_fs <= t) {
        bool short_of = vc->credits < (int64_t)nbytes;
        struct tally_part part = take(&vc->due);

        vc->credits += (int64_t)part.nbytes;
        enough = short_of ? part.at_fs : enough;
    }
    vc->stall_fs += enough > from ? enough - from : 0;
    vc->credits -= (int64_t)nbytes;
    vc->went_fs = t;
}

/* -- what the engine calls ------------------------------------------------------------------ */

/* Since when the segment of a grant could have gone, as far as it and its buffer go. */
static uint64_t ready_from(const struct router *r, const struct router_grant *g)
{
    const struct out_port *port = &r->ports[g->port];
    const struct vc *vc = &r->vcs[g->input];
    const struct parcel *parcel;
    uint64_t ready;

    if (g->input != NO_INPUT)
        return vc->rows[vc->first].ready_fs > vc->from_fs ? vc->rows[vc->first].ready_fs
                                                          : vc->from_fs;
    parcel = &r->parcels[port->source];
    ready = parcel->gated ? parcel->rows[parcel->sent] : parcel->ready_fs;
    return ready > port->source_from_fs ? ready : port->source_from_fs;
}

static uint64_t bytes_of(const struct kb_sim *s, const struct router_grant *g)
{
    uint64_t segment_bytes = s->topo->segment_bytes;
    uint64_t left = s->router->flights[g->slot].nbytes - g->number * segment_bytes;

    return left < segment_bytes ? left : segment_bytes;
}

bool router_tally_grant(struct kb_sim *s, uint64_t t, const struct router_grant *g)
{
    struct router *r = s->router;
    const struct out_port *port = &r->ports[g->port];
    const struct way_row *row = &r->flights[g->slot].way->rows[g->hop];
    struct vc_tally *to = &r->tally->vcs[g->port * r->n_vcs + g->vc];
    uint64_t nbytes = bytes_of(s, g);
    bool limited = !port->endless && row->end != END_SINK;

    if (to->count++ == 0) /* all of them, without those of this segment */
        to->credits = r->vcs[g->port * r->n_vcs + g->vc].credits + (limited ? (int64_t)nbytes : 0);
    if (to->count == 1)
        to->room = (uint64_t)to->credits;
    r->tally->last_vc[g->port] = g->vc;
    to->nbytes += nbytes;
    to->busy_fs += g->taken_fs;
    spend(to, t, ready_from(r, g), limited ? nbytes : 0); /* an answer is taken as it comes */
    if ((row->end <= END_NODE || (limited && row->end == END_MEMORY)) &&
        !append(&to->in, t + (uint64_t)channel_fs(port->wire_fs), nbytes))
        return false;
    return g->input == NO_INPUT || leave(&r->tally->vcs[g->input], t + g->taken_fs);
}

bool router_tally_credit(struct kb_sim *s, uint32_t vc, bool of_memory, uint64_t t, uint64_t nbytes)
{
    struct vc_tally *tally = &s->router->tally->vcs[vc];

    return insert(&tally->due, t, nbytes) && (!of_memory || leave(tally, t));
}

/* -- the whole ------------------------------------------------------------------------------ */

struct router_tally *router_tally_new(const struct kb_sim *s)
{
    struct router_tally *tally = calloc(1, sizeof *tally);

    if (!tally)
        return NULL;
    tally->n = s->router->n_ports * s->router->n_vcs;
    tally->vcs = rows_new(tally->n, sizeof *tally->vcs);
    tally->last_vc = calloc(s->router->n_ports, 1);
    if (tally->vcs && tally->last_vc)
        return tally;
    free(tally->vcs);
    free(tally->last_vc);
    free(tally);
    return NULL;
}

void router_tally_clear(struct router_tally *tally)
{
    for (size_t i = 0; i < tally->n; i++) {
        free(tally->vcs[i].in.rows);
        free(tally->vcs[i].left.rows);
        free(tally->vcs[i].due.rows);
        tally->vcs[i] = (struct vc_tally){0};
    }
}

void router_tally_free(struct router_tally *tally)
{
    if (!tally)
        return;
    router_tally_clear(tally);
    free(tally->vcs);
    free(tally->last_vc);
    free(tally);
}
