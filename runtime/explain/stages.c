/* stages.c -- pieces of the time of kernels' stages, made of visits.
 *
 * A command's chain (explain/commands.c) has the pieces of its stages in the order of time, so here
 * a visit does not go into sums, as in explain/visits.c: all pieces of a stage are told.
 *
 *   its channel       the wait, as it takes the channel
 *   links, nodes      waits for links, and times at nodes that are components, are kept
 *   memory, port,     all up to its service: wires and nodes of its way, by the tables, with what
 *   engine            was kept at its places; the wait. Its service, when it leaves
 *
 * A stage that has waited for another one of its command, or of its PE, follows from the end of
 * that one: stations_follow(). The one in front knows which waits next: stage_visits.follower. So a
 * service is told when it is over.
 *
 * Example: two tiles of a composite come to the GEMM engine at 28 and 40 ns, which takes each for
 * 16 ns. The second one's visit is known at 40: it begins at 44. Its wait of 4 ns is told, and it
 * is the follower of the first. That one leaves at 44, and hands its chain on. At 60 the second
 * tells its 16 ns of compute.
 *
 * Invariant: all pieces are the stage's time, which is checked when it leaves.
 */
#include "explain/server_pieces.h"
#include "explain/visits.h"
#include <stdlib.h>
#include <string.h>

/* A place on a way where time passes that is not that of the tables: a link, or a node that is a
 * component. */
struct stop {
    kb_place place, behind;
    uint32_t behind_id;
    int64_t fs;
};

struct stage_visits {
    struct stop *stop; /* owned; in the order of its way */
    uint32_t n, cap;
    uint32_t follower; /* slot + 1 of the next one that waits for its station; 0: none */
    kb_place place;    /* of its memory, port or engine */
    kb_cause service;  /* of the drain: of those inside a PE another one */
    int64_t begin_fs;
    struct stays stays;
};

/* -- memory --------------------------------------------------------------------------------- */

static void no_memory(struct kb_sim *s)
{
    spans_stop(s, KB_NO_MEMORY);
}

/* The stage in `slot`; NULL: no memory, the run ends. */
static struct stage_visits *stage_of(struct kb_sim *s, struct visits *v, uint32_t slot)
{
    struct stage_visits *moved;

    if (slot < v->n_stages)
        return &v->stages[slot];
    moved = realloc(v->stages, s->txns_cap * sizeof *moved);
    if (!moved) {
        no_memory(s);
        return NULL;
    }
    memset(moved + v->n_stages, 0, (s->txns_cap - v->n_stages) * sizeof *moved);
    v->stages = moved;
    v->n_stages = s->txns_cap;
    return &moved[slot];
}

static void keep_stop(struct kb_sim *s, struct stage_visits *stage, struct stop stop)
{
    uint32_t cap = stage->cap ? 2 * stage->cap : 4;
    struct stop *moved;

    if (stage->n == stage->cap) {
        moved = realloc(stage->stop, cap * sizeof *moved);
        if (!moved) {
            no_memory(s);
            return;
        }
        stage->stop = moved;
        stage->cap = cap;
    }
    stage->stop[stage->n++] = stop;
}

/* The visits of the station `i` of `n` of its kind; NULL: no memory. */
static struct visitors *station_at(struct kb_sim *s, struct visitors **all, uint32_t n, size_t i)
{
    if (!*all)
        *all = calloc(n, sizeof **all);
    if (!*all)
        no_memory(s);
    return *all ? &(*all)[i] : NULL;
}

void stages_free(struct visits *v)
{
    for (uint32_t i = 0; i < v->n_stages; i++)
        free(v->stages[i].stop);
    free(v->stages);
    visitors_free(v->channels, v->n_channels);
    visitors_free(v->ports, v->n_ports);
}

/* -- the way -------------------------------------------------------------------------------- */

/* What has been told of the way of a stage: until `at_fs`; `stop` comes next. */
struct walker {
    struct kb_sim *s;
    uint32_t slot;
    const struct stop *stop, *end;
    int64_t at_fs;
    kb_share wires, nodes; /* where no observer hears of each: all, without a place */
};

static void tell(struct walker *w, kb_cause cause, kb_place place, int64_t fs)
{
    if (fs)
        spans_piece(w->s, w->slot, cause, place, w->at_fs, fs);
    w->at_fs += fs;
}

/* What was kept at the place that comes now: a wait for a link comes before its wire. */
static void pass_stop(struct walker *w, kb_place place)
{
    const struct stop *stop = w->stop;

    if (stop == w->end || stop->place != place)
        return;
    w->stop++;
    if (stop->behind != KB_NOWHERE) {
        spans_piece_behind(w->s, w->slot, KB_CAUSE_LINK_WAIT, stop->place, w->at_fs, stop->fs,
                           stop->behind, stop->behind_id);
        w->at_fs += stop->fs;
    } else {
        tell(w, KB_CAUSE_OVERHEAD, stop->place, stop->fs);
    }
}

/* A wire or node. */
static void pass(void *arg, const kb_share *piece)
{
    struct walker *w = arg;

    pass_stop(w, piece->place);
    tell(w, piece->cause, piece->place, piece->sum_fs);
}

/* The same, where no place is heard of. */
static void add_up(void *arg, const kb_share *piece)
{
    struct walker *w = arg;
    kb_share *all = piece->cause == KB_CAUSE_WIRE ? &w->wires : &w->nodes;

    pass_stop(w, piece->place);
    all->count += piece->sum_fs != 0;
    all->sum_fs += piece->sum_fs;
}

static void tell_way(struct kb_sim *s, struct stage_visits *stage, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];
    struct walker w = {.s = s,
                       .slot = slot,
                       .stop = stage->stop,
                       .end = stage->stop + stage->n,
                       .at_fs = x->issue_fs + x->wait_fs,
                       .wires = {.cause = KB_CAUSE_WIRE, .behind_id = KB_NO_ID},
                       .nodes = {.cause = KB_CAUSE_OVERHEAD, .behind_id = KB_NO_ID}};

    ways_pass(s->topo, &s->mask, x, spans_of(s)->n_by_places ? pass : add_up, &w);
    spans_passed(s, slot, &w.wires); /* of no length, if each was told */
    spans_passed(s, slot, &w.nodes);
    stage->n = 0;
}

static void at_link(struct kb_sim *s, struct visits *v, struct stage_visits *stage,
                    const struct visit *visit)
{
    struct visitor behind = visits_join(v, &v->links[visit->number], visit, &s->txns[visit->slot]);
    int64_t wait_fs = visit->begin_fs - visit->arrive_fs;

    if (wait_fs)
        keep_stop(s, stage,
                  (struct stop){.place = place_of(KB_AT_LINK, visit->number),
                                .behind = behind.source,
                                .behind_id = behind.id,
                                .fs = wait_fs});
}

static void at_node(struct kb_sim *s, struct stage_visits *stage, const struct visit *visit)
{
    const struct txn *x = &s->txns[visit->slot];
    const struct trip trip = txn_trip(s->topo, x);
    const struct hop_row *hop = &s->topo->hops[visit->number];

    keep_stop(s, stage,
              (struct stop){.place = ways_node(s->topo, hop, x->step.cube, &trip),
                            .behind = KB_NOWHERE,
                            .fs = visit->begin_fs - visit->arrive_fs});
}

/* -- both ends ------------------------------------------------------------------------------ */

static void at_channel(struct kb_sim *s, struct visits *v, const struct visit *visit)
{
    struct visitors *at = station_at(s, &v->channels, v->n_channels, visit->number);
    int64_t wait_fs = visit->begin_fs - visit->arrive_fs;
    struct visitor behind;

    if (!at)
        return;
    behind = visits_join(v, at, visit, &s->txns[visit->slot]);
    if (!wait_fs)
        return;
    spans_piece_behind(s, visit->slot, KB_CAUSE_CHANNEL_WAIT,
                       place_of(KB_AT_CHANNEL, visit->number), visit->arrive_fs, wait_fs,
                       behind.source, behind.id);
    stations_follow(s, (uint64_t)visit->begin_fs, visit->slot, true);
}

/* The wait for a memory, port or engine that serves in order. What an L2 makes has no chain to hand
 * on, and would never tell its follower: the next row in its slot would. */
static void wait_in_order(struct kb_sim *s, struct visits *v, const struct stage_visits *stage,
                          const struct visit *visit)
{
    bool port = kb_place_kind_of(stage->place) == KB_AT_PORT;
    struct visitors *at = port ? station_at(s, &v->ports, v->n_ports, place_index(stage->place))
                               : &v->memories[visit->number];
    const struct visitor *last = at ? visitors_last(at) : NULL;
    int64_t wait_fs = visit->begin_fs - visit->arrive_fs;
    struct visitor behind;

    if (!at)
        return;
    if (wait_fs && last && !is_child(s, last->slot) &&
        !stations_free_early(s, visit->slot, stage->place))
        v->stages[last->slot].follower = visit->slot + 1;
    behind = visits_join(v, at, visit, &s->txns[visit->slot]);
    if (wait_fs)
        spans_piece_behind(s, visit->slot, stations_wait(stage->place, STATION_MEMORY),
                           stage->place, visit->arrive_fs, wait_fs, behind.source, behind.id);
}

/* Of a visit inside a PE: its wait, its overhead, the rest. */
static struct stays stays_inside(const struct kb_sim *s, const struct visit *visit, kb_cause *rest)
{
    int64_t overhead_fs = stations_inside(s, visit->slot, rest);
    int64_t served_fs = visit->done_fs - visit->begin_fs;

    return (struct stays){
        .fs = {[STAY_OVERHEAD] = overhead_fs, [STAY_DRAIN] = served_fs - overhead_fs}};
}

static void at_memory(struct kb_sim *s, struct visits *v, struct stage_visits *stage,
                      const struct visit *visit)
{
    bool inside = is_inside(s, visit->slot), chooses = stations_chooses(s, visit->slot);

    stage->place = spans_memory(s, visit->slot);
    stage->service = KB_CAUSE_DRAIN;
    stage->stays = chooses  ? server_stays(s, (uint64_t)visit->done_fs, visit->slot)
                   : inside ? stays_inside(s, visit, &stage->service)
                            : visits_in_order(visit);
    if (!inside)
        tell_way(s, stage, visit->slot);
    stage->begin_fs = visit->arrive_fs;
    if (chooses)
        return;
    wait_in_order(s, v, stage, visit);
    stage->stays.fs[STAY_MEMORY] = 0; /* it is told */
    stage->begin_fs = visit->begin_fs;
}

void stages_visit(struct kb_sim *s, struct visits *v, const struct visit *visit)
{
    struct stage_visits *stage = stage_of(s, v, visit->slot);

    if (!stage)
        return;
    switch (visit->station) {
    case STATION_CHANNEL:
        at_channel(s, v, visit);
        break;
    case STATION_LINK:
        at_link(s, v, stage, visit);
        break;
    case STATION_NODE:
        at_node(s, stage, visit);
        break;
    case STATION_MEMORY:
        at_memory(s, v, stage, visit);
        break;
    case STATION_ENGINE: /* hosts alone */
        break;
    }
}

/* -- the end -------------------------------------------------------------------------------- */

static void tell_service(struct kb_sim *s, const struct stage_visits *stage, uint32_t slot)
{
    int64_t at_fs = stage->begin_fs;

    for (unsigned i = STAY_CACHE; i <= STAY_DRAIN; i++) {
        kb_cause cause = i == STAY_DRAIN ? stage->service : stay_cause(i);

        if (stage->stays.fs[i])
            spans_piece(s, slot, cause, stage->place, at_fs, stage->stays.fs[i]);
        at_fs += stage->stays.fs[i];
    }
}

void stages_leave(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct stage_visits *stage = stage_of(s, spans_of(s)->visits, slot);
    const struct progress *at = &spans_of(s)->slots[slot];
    uint32_t follower;

    if (!stage)
        return;
    tell_service(s, stage, slot);
    if (at->told_fs != (int64_t)t - at->issue_fs)
        spans_inconsistent(s, "stage", s->txns[slot].id, at->told_fs, (int64_t)t - at->issue_fs);
    follower = stage->follower;
    stage->follower = 0;
    stations_leaves(s, t, slot);
    if (follower)
        stations_follow(s, t, follower - 1, stage->service == KB_CAUSE_COMPUTE);
}
