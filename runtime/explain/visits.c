/* visits.c -- sums of a breakdown, made of the visits of stations.
 *
 * The engine of arrivals (engine/inorder_steps.h) knows a visit as a whole as soon as it comes:
 * arrival, begin, end; that of a memory that chooses as soon as its end is known. With the wires
 * and nodes of the tables that is all of a transaction's time:
 *
 *   wait at a link          its own sums: by source, target, and source in front
 *   other waits, overhead   sums of its way (explain/ways.c); a wait for a memory that serves in
 *   of the memory, drain    order also by the source in front
 *   wires, nodes            of its way, which is counted when it ends; a node that is a component
 *                           says at each visit how long it takes, and is its own sum
 *   response                the same
 *
 * Invariant: visits, way and response add up to the time of each transaction, which is checked when
 * it ends. A difference of one femtosecond ends the run with KB_INTERNAL.
 */
#include "explain/visits.h"
#include "explain/server_pieces.h"
#include <stdlib.h>
#include <string.h>
#include "machine/pes.h"

/* -- what is in front ----------------------------------------------------------------------- */

struct visitor visits_join(struct visits *v, struct visitors *at, const struct visit *visit,
                           const struct txn *x)
{
    int64_t since_fs = visit->station == STATION_CHANNEL ? visit->granted_fs : visit->begin_fs;
    struct visitor next = {since_fs, spans_source(x), x->id, visit->slot}, behind;
    const struct visitor *front = NULL;

    if (visit->begin_fs > visit->arrive_fs)
        front = visitors_front(at, visit->arrive_fs);
    else
        visitors_forget(at);
    behind = front ? *front : (struct visitor){.source = KB_NOWHERE};
    if (!visitors_join(at, next))
        sums_fail(v->sums, KB_NO_MEMORY);
    return behind;
}

/* -- sums ----------------------------------------------------------------------------------- */

/* Adds a piece of a transaction to all sums that have it. */
static void add(struct sums *s, const struct txn *x, const struct term *piece)
{
    struct key target = {.by = KB_BREAKDOWN_TARGET, .of = place_of(KB_AT_MEMORY, x->dst)};
    struct key op = {.by = KB_BREAKDOWN_OP, .of = sums_text(s, spans_op_name(x->op))};

    if (!piece->count)
        return;
    if (piece->behind != KB_NOWHERE)
        sums_part(s, (struct key){.by = KB_BREAKDOWN_WAIT, .of = piece->place}, piece);
    sums_whole(s, piece);
    sums_part(s, (struct key){.by = KB_BREAKDOWN_SOURCE, .of = spans_source(x)}, piece);
    sums_part(s, target, piece);
    sums_part(s, op, piece);
}

/* The way of `x`; NULL: no memory. */
static struct way_sum *way_of(struct visits *v, const struct txn *x)
{
    struct way_sum *way = ways_of(&v->ways, x);

    if (!way)
        sums_fail(v->sums, KB_NO_MEMORY);
    return way;
}

static void stay(struct way_sum *way, enum stay which, int64_t fs)
{
    if (!fs)
        return;
    way->stays[which].count++;
    way->stays[which].fs += fs;
}

/* The wait for a channel or an engine. */
static void at_start(struct visits *v, const struct txn *x, int64_t wait_fs)
{
    struct way_sum *way = wait_fs ? way_of(v, x) : NULL;

    if (way)
        stay(way, STAY_START, wait_fs);
}

static void at_link(struct visits *v, const struct txn *x, const struct visit *visit)
{
    struct term wait = {.cause = KB_CAUSE_LINK_WAIT,
                        .place = place_of(KB_AT_LINK, visit->number),
                        .count = 1,
                        .fs = visit->begin_fs - visit->arrive_fs};

    wait.behind = visits_join(v, &v->links[visit->number], visit, x).source;
    if (wait.fs)
        add(v->sums, x, &wait);
}

struct stays visits_in_order(const struct visit *visit)
{
    int64_t served_fs = visit->done_fs - visit->begin_fs;
    int64_t drain_fs = visit->drain_fs < served_fs ? visit->drain_fs : served_fs;

    return (struct stays){.fs = {[STAY_MEMORY] = visit->begin_fs - visit->arrive_fs,
                                 [STAY_OVERHEAD] = served_fs - drain_fs,
                                 [STAY_DRAIN] = drain_fs}};
}

/* The wait for such a memory, by what is in front. */
static void wait_in_order(struct visits *v, const struct txn *x, const struct visit *visit,
                          int64_t wait_fs)
{
    struct term wait = {.cause = KB_CAUSE_MEMORY_WAIT,
                        .place = place_of(KB_AT_MEMORY, visit->number),
                        .count = 1,
                        .fs = wait_fs};

    wait.behind = visits_join(v, &v->memories[visit->number], visit, x).source;
    if (wait_fs)
        sums_part(v->sums, (struct key){.by = KB_BREAKDOWN_WAIT, .of = wait.place}, &wait);
}

static void at_memory(const struct kb_sim *s, struct visits *v, const struct txn *x,
                      const struct visit *visit)
{
    struct way_sum *way = way_of(v, x);
    struct stays in;

    if (txn_queues(s, x)) {
        in = server_stays(s, (uint64_t)visit->done_fs, visit->slot);
    } else {
        in = visits_in_order(visit);
        wait_in_order(v, x, visit, in.fs[STAY_MEMORY]);
    }
    for (unsigned i = STAY_CACHE; way && i <= STAY_DRAIN; i++)
        stay(way, i, in.fs[i]);
}

/* A node that is a component. Its way counts what the tables have for it. Returns what is more. */
static int64_t at_node(const struct kb_sim *s, struct visits *v, const struct txn *x,
                       const struct visit *visit)
{
    const struct trip trip = txn_trip(s->topo, x);
    const struct hop_row *hop = &s->topo->hops[visit->number];
    struct term piece = {.cause = KB_CAUSE_OVERHEAD,
                         .place = ways_node(s->topo, hop, x->step.cube, &trip),
                         .count = 1,
                         .fs = visit->begin_fs - visit->arrive_fs};

    if (piece.fs)
        add(v->sums, x, &piece);
    return (int64_t)piece.fs - (hop->overhead_fs & s->mask.overhead);
}

/* -- noting visits -------------------------------------------------------------------------- */

static bool room(struct kb_sim *s, struct visits *v, uint32_t slot)
{
    int64_t *moved;

    if (slot < v->n_slots)
        return true;
    moved = realloc(v->spent_fs, s->txns_cap * sizeof *moved);
    if (!moved) {
        spans_stop(s, KB_NO_MEMORY);
        return false;
    }
    memset(moved + v->n_slots, 0, (s->txns_cap - v->n_slots) * sizeof *moved);
    v->spent_fs = moved;
    v->n_slots = s->txns_cap;
    return true;
}

/* What an L2 makes has no sums, but is in the line that others are in. */
static void join_unseen(const struct kb_sim *s, struct visits *v, const struct visit *visit)
{
    const struct txn *x = &s->txns[visit->slot];

    if (visit->station == STATION_LINK)
        visits_join(v, &v->links[visit->number], visit, x);
    else if (visit->station == STATION_MEMORY && !txn_queues(s, x))
        visits_join(v, &v->memories[visit->number], visit, x);
}

/* A channel is of the whole of a transaction, all else of its parts. */
void visits_visit(struct kb_sim *s, const struct visit *visit)
{
    struct visits *v = spans_of(s)->visits;
    const struct txn *x = &s->txns[visit->slot];
    int64_t wait_fs = visit->begin_fs - visit->arrive_fs;

    if (is_child(s, visit->slot)) {
        join_unseen(s, v, visit);
        return;
    }
    if (s->kernels) {
        stages_visit(s, v, visit);
        return;
    }
    if (!room(s, v, visit->slot))
        return;
    switch (visit->station) {
    case STATION_CHANNEL:
        at_start(v, x, wait_fs);
        break;
    case STATION_ENGINE:
        at_start(v, x, wait_fs);
        v->spent_fs[visit->slot] += wait_fs;
        break;
    case STATION_LINK:
        at_link(v, x, visit);
        v->spent_fs[visit->slot] += wait_fs;
        break;
    case STATION_NODE:
        v->spent_fs[visit->slot] += at_node(s, v, x, visit);
        break;
    case STATION_MEMORY:
        at_memory(s, v, x, visit);
        v->spent_fs[visit->slot] += visit->done_fs - visit->arrive_fs;
        break;
    }
}

void visits_split(struct kb_sim *s, uint32_t whole, uint32_t part)
{
    const struct txn *x = &s->txns[part];

    at_start(spans_of(s)->visits, x, x->wait_fs - s->txns[whole].wait_fs);
}

void visits_visited(struct kb_sim *s, uint64_t end, uint32_t slot)
{
    struct visits *v = spans_of(s)->visits;
    const struct txn *x = &s->txns[slot];
    struct way_sum *way = way_of(v, x);
    int64_t told_fs;

    if (!way || slot >= v->n_slots) /* no memory */
        return;
    told_fs = v->spent_fs[slot] + (txn_of_host(x) ? 0 : x->wait_fs);
    v->spent_fs[slot] = 0; /* traffic uses slots again */
    told_fs += way->passed_fs + way->response_fs;
    if (told_fs != (int64_t)end - x->issue_fs)
        spans_inconsistent(s, "transaction", x->id, told_fs, (int64_t)end - x->issue_fs);
    stay(way, STAY_RESPONSE, way->response_fs);
    way->count++;
}

/* -- the ways ------------------------------------------------------------------------------- */

/* The wires and nodes of a way, and those of one transaction until now. */
struct passing {
    struct sums *all;
    uint64_t times;
    struct term wires, nodes;
};

static void add_passed(void *arg, const kb_share *one)
{
    struct passing *p = arg;
    struct term *of = one->cause == KB_CAUSE_WIRE ? &p->wires : &p->nodes;
    struct term piece = {
        .cause = one->cause, .count = p->times, .fs = (wait_sum)one->sum_fs * p->times};

    if (!one->sum_fs)
        return;
    of->count += piece.count;
    of->fs += piece.fs;
    sums_part(p->all, (struct key){.by = KB_BREAKDOWN_PLACE, .of = one->place}, &piece);
}

static void sum_passed(const struct visits *v, const struct way_sum *way, struct sums *all)
{
    const struct txn x = ways_txn(way);
    struct passing p = {.all = all,
                        .times = way->count,
                        .wires.cause = KB_CAUSE_WIRE,
                        .nodes.cause = KB_CAUSE_OVERHEAD};

    if (!way->count)
        return;
    ways_pass(v->ways.topo, &v->ways.mask, &x, add_passed, &p);
    add(all, &x, &p.wires);
    add(all, &x, &p.nodes);
}

static void sum_stay(const struct way_sum *way, enum stay which, struct term piece,
                     struct sums *all)
{
    const struct txn x = ways_txn(way);

    piece.count = way->stays[which].count;
    piece.fs = way->stays[which].fs;
    add(all, &x, &piece);
}

/* A PE's channels, and the engines of an M_CPU, serve one source each. */
static struct term wait_at_start(const struct kb_topology *t, const struct txn *x)
{
    uint64_t channel = 2 * (uint64_t)x->src + txn_writes(x);
    uint64_t engine = 2 * (uint64_t)dst_cube(t, x->dst) + txn_writes(x);

    return txn_of_host(x) ? (struct term){.cause = KB_CAUSE_ENGINE_WAIT,
                                          .place = place_of(KB_AT_ENGINE, engine),
                                          .behind = spans_source(x)}
                          : (struct term){.cause = KB_CAUSE_CHANNEL_WAIT,
                                          .place = place_of(KB_AT_CHANNEL, channel),
                                          .behind = spans_source(x)};
}

static void sum_way(const struct visits *v, const struct way_sum *way, struct sums *all)
{
    const struct txn x = ways_txn(way);
    kb_place memory = place_of(KB_AT_MEMORY, x.dst), source = spans_source(&x);

    sum_passed(v, way, all);
    sum_stay(way, STAY_START, wait_at_start(v->ways.topo, &x), all);
    for (unsigned i = STAY_CACHE; i <= STAY_DRAIN; i++)
        sum_stay(way, i, (struct term){.cause = stay_cause(i), .place = memory}, all);
    sum_stay(way, STAY_RESPONSE, (struct term){.cause = KB_CAUSE_RESPONSE, .place = source}, all);
}

void visits_sum(const struct visits *v, struct sums *all)
{
    for (size_t i = 0; i < v->ways.cap; i++)
        if (v->ways.way[i].how)
            sum_way(v, &v->ways.way[i], all);
}

/* -- all of it ------------------------------------------------------------------------------ */

static size_t n_memories(const struct kb_topology *t)
{
    return (size_t)sim_cubes(t) << t->unit_bits;
}

bool visits_make(struct visits *v, const struct kb_sim *s, struct sums *sums)
{
    const struct kb_topology *t = s->topo;

    *v = (struct visits){.ways = {.topo = t, .mask = s->mask},
                         .sums = sums,
                         .n_channels = 2 * sim_cubes(t) << t->pe_bits,
                         .n_ports = N_PORTS * pe_count(t)};
    v->links = calloc(walk_n_links(t), sizeof *v->links);
    v->memories = calloc(n_memories(t), sizeof *v->memories);
    return v->links && v->memories;
}

void visits_free(struct visits *v)
{
    if (v->ways.topo) {
        visitors_free(v->links, walk_n_links(v->ways.topo));
        visitors_free(v->memories, n_memories(v->ways.topo));
    }
    free(v->spent_fs);
    stages_free(v);
    ways_free(&v->ways);
}
