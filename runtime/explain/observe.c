/* observe.c -- kb_sim_observe(): gives the hop engine the calls by which it tells of a run.
 *
 * The first kb_observer makes struct spans: its first member is the table of functions that the
 * engine knows as s->observer, and switches the simulation to the hop engine. Further ones, up to
 * KB_OBSERVERS_MAX, hear the same. They cannot be added once the run has begun: the pieces of time
 * of a transaction must be known from its issue on.
 */
#include "explain/server_pieces.h"
#include "explain/router_paths.h"
#include "explain/spans.h"
#include "explain/visits.h"
#include "engine/inorder.h"
#include <stdlib.h>
#include "machine/endpoint.h"
#include "machine/walk.h"

static kb_status error(const struct observer *o, kb_error *why)
{
    const struct spans *w = (const struct spans *)o;

    if (!w->failed)
        return KB_OK;
    if (why)
        *why = w->error;
    return KB_INTERNAL;
}

static void spans_free(struct spans *w)
{
    for (uint32_t i = 0; i < w->n_slots; i++)
        chain_free(&w->slots[i].chain);
    free(w->slots);
    chain_free(&w->leaving.chain);
    free(w->channel_id);
    free(w->engine_id);
    visitors_free(w->links, w->n_links);
    visitors_free(w->early, w->n_early);
    visitors_free(w->ports, w->n_ports);
    net_free(w->net);
    free(w->pes);
    free(w);
}

static void free_observer(struct observer *o)
{
    spans_free((struct spans *)o);
}

static void split_by_visits(struct kb_sim *s, uint32_t whole, uint32_t part)
{
    if (s->kernels)
        spans_split(s, whole, part);
    else
        visits_split(s, whole, part);
}

/*
 * Sums need no piece of a way as it begins: visits of stations will do, if the engine of arrivals
 * serves the run. So do those that hear of commands alone, beside the sums. All else needs every
 * node.
 */
static void begin(struct kb_sim *s)
{
    struct spans *w = spans_of(s);

    w->calls.by_visits =
        w->visits && w->n_by_pieces == w->n_by_visits && !w->hop_asked && !sim_counts(s) && !w->net;
    if (!w->calls.by_visits)
        return;
    w->calls.leave = stages_leave;
    w->calls.split = split_by_visits;
    s->options.engine = KB_FUSED;
}

static void split(struct kb_sim *s, uint32_t whole, uint32_t part)
{
    spans_split(s, whole, part);
    if (spans_of(s)->net && part < spans_of(s)->n_slots)
        net_begin(s, part);
}

static const struct observer calls = {
    .free = free_observer,
    .begin = begin,
    .error = error,
    .issue = commands_stage,
    .split = split,
    .command = commands_issue,
    .operands = commands_late,
    .finish = commands_finish,
    .start = commands_start,
    .stop = commands_stop,
    .resume = commands_resume,
    .room = commands_room,
    .go_on = commands_go_on,
    .node = spans_node,
    .cross = spans_cross,
    .wire = spans_wire,
    .end = spans_end,
    .come = stations_come,
    .take = stations_take,
    .leave = stations_leave,
    .left = stations_left,
    .visit = visits_visit,
    .visited = visits_visited,
    .bus = bank_pieces_bus,
    .release = stations_release,
    .taken = messages_taken,
    .credit = messages_credit,
    .release_word = messages_release_word,
    .word = messages_word,
    .wait = messages_wait,
    .grant = net_grant,
    .decide = net_decide,
    .serve = net_serve,
};

static struct spans *spans_new(const struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    struct spans *w = calloc(1, sizeof *w);
    size_t cubes = (size_t)t->sips * t->cubes;

    if (!w)
        return NULL;
    w->calls = calls;
    w->leaving.chain.command = KB_NO_ID;
    w->channel_id = calloc(2 * cubes << t->pe_bits, sizeof *w->channel_id);
    w->engine_id = calloc(2 * cubes, sizeof *w->engine_id);
    w->n_links = t->links == MODE_FIFO ? walk_n_links(t) : 1;
    w->n_early = t->early ? cubes << t->unit_bits : 1;
    w->n_ports = N_PORTS * pe_count(t);
    w->links = calloc(w->n_links, sizeof *w->links);
    w->early = calloc(w->n_early, sizeof *w->early);
    w->ports = calloc(w->n_ports, sizeof *w->ports);
    w->net = s->router ? net_new(s) : NULL;
    if (w->channel_id && w->engine_id && w->links && w->early && w->ports && (w->net || !s->router))
        return w;
    spans_free(w);
    return NULL;
}

static bool hears_pieces(const kb_observer *watch)
{
    return watch->open || watch->close || watch->take || watch->release || watch->end;
}

static bool hears_shares(const kb_observer *watch)
{
    return watch->finish || watch->stretch;
}

static bool has_begun(const struct kb_sim *s)
{
    return s->started || (s->kernels && s->kernels->n_sent > 0);
}

kb_status kb_sim_observe(kb_sim *s, const kb_observer *watch, kb_error *why)
{
    REFUSE_NULL(s && watch, "sim, watch", why);
    struct spans *w;

    if (has_begun(s))
        return endpoint_error(why, "the simulation has begun, it cannot be watched any more");
    if (!s->observer)
        s->observer = (struct observer *)spans_new(s);
    if (!s->observer)
        return KB_NO_MEMORY;
    w = spans_of(s);
    if (w->n == 0)
        w->hop_asked = s->options.engine == KB_HOP;
    if (w->n == KB_OBSERVERS_MAX)
        return endpoint_error(why, "a simulation is watched by at most %d", KB_OBSERVERS_MAX);
    w->to[w->n++] = *watch;
    w->n_by_pieces += hears_pieces(watch);
    w->n_by_places += hears_pieces(watch) || hears_shares(watch);
    w->opens |= watch->open != NULL;
    w->closes |= watch->close != NULL;
    w->services |= watch->take || watch->release;
    s->options.engine = KB_HOP;
    return KB_OK;
}
