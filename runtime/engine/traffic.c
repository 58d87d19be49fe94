/* traffic.c -- open-loop traffic: what each PE issues, when and where to, and how long it took.
 *
 * docs/model.md "Traffic" says what is drawn. Open loop: a PE draws its next time of issue from the
 * last one, not from when that transaction ended. Late transactions still count from their own
 * time.
 *
 * The work is bounded by what is in flight. A PE has at most one transaction that no channel has
 * taken: when a channel takes it, the engine calls traffic_next(), which draws the PE's next one.
 * If its time is still to come it is posted as an event; if it has passed, the transaction has
 * waited since, and goes into the channel's queue with its own issue_fs. So each PE needs slots for
 * its channels and two more, whatever the rate, and a queue of a million takes no memory.
 *
 * Example: one channel, service 18.085 ns, issues at 0, 10 and 12. At 0 the channel takes the first
 * one, and the second is drawn: event at 10, which finds the channel busy and queues. At 18.085 the
 * channel takes it, and the third is drawn: 12 has passed, so it queues with issue_fs = 12, and at
 * 36.170 has waited for 24.170 ns. Its wait is exact though it was made late.
 *
 * With a share of writes a PE is two sources, one that reads and one that writes, each with its own
 * channels, times and random numbers; what is said of PEs is then true of these.
 *
 * The id of the k-th transaction of PE i of n is k n + i, so the order at equal times does not
 * depend on the order of drawing, and a replay of the same rows gives the same times.
 *
 * Results are kept by time of issue in TRAFFIC_PARTS parts, so that sim/traffic_result.c can leave
 * out the warm-up afterwards. Up to TRAFFIC_EXACT latencies are kept as they are, then counted in
 * histograms with buckets of 2^-10 of their value.
 */
#include "engine/inorder.h"
#include "engine/split.h"
#include "engine/traffic.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "machine/endpoint.h"
#include "network/banks_state.h"
#include "base/percentiles.h"
#include "engine/observer.h"

/* -- random times and places ---------------------------------------------------------------- */

/*
 * -ln(u) of a uniform u: exponential, mean 1. It uses additions, products and one division only, so
 * that the result is the same on every machine, which no libm promises. Error below 1e-12.
 */
static double exponential(struct rng *rng)
{
    static const double ln2 = 0x1.62e42fefa39efp-1, root = 0x1.6a09e667f3bcdp+0;
    double u = rng_unit(rng), m, s, z;
    uint64_t bits;
    int exponent;

    memcpy(&bits, &u, sizeof bits);
    exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    memcpy(&m, &bits, sizeof m); /* u = m * 2^exponent, 1 <= m < 2 */
    if (m > root) {
        m *= 0.5;
        exponent++;
    }
    s = (m - 1) / (m + 1); /* ln m = 2 artanh s */
    z = s * s;
    return -(exponent * ln2 +
             2 * s * (1 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z / 11))))));
}

static uint32_t below(struct rng *rng, uint32_t n)
{
    __extension__ typedef unsigned __int128 product;

    return (uint32_t)((product)rng_next(rng) * n >> 64);
}

uint32_t traffic_root(uint32_t n)
{
    uint32_t r = (uint32_t)sqrt((double)n);

    while ((uint64_t)r * r > n)
        r--;
    while ((uint64_t)(r + 1) * (r + 1) <= n)
        r++;
    return r;
}

/* Where a matrix sends PE `pe`: the first of its targets with a sum above a random one. */
static uint32_t matrix_target(const struct traffic *tr, uint32_t pe, struct rng *rng)
{
    uint32_t first = tr->first_target[pe], last = tr->first_target[pe + 1] - 1;
    double at = rng_unit(rng) * tr->targets[last].sum;

    while (first < last) {
        uint32_t middle = first + (last - first) / 2;

        if (tr->targets[middle].sum > at)
            last = middle;
        else
            first = middle + 1;
    }
    return tr->targets[first].dst;
}

/* Any slice that is there, packed. */
static uint32_t any_slice(const struct traffic *tr, struct rng *rng)
{
    return tr->slice_of[below(rng, tr->n_slices)];
}

/* The packed slice to which PE `pe` sends next: docs/model.md "Traffic". */
static uint32_t target_of(const struct traffic *tr, uint32_t pe, struct rng *rng)
{
    uint32_t n = tr->n_pes, side;

    switch (tr->request.pattern) {
    case KB_LOCAL:
    case KB_STREAM:  /* of interleaved slices: */
    case KB_STRIDED: /* offset_of() */
    case KB_RANDOM:
        return tr->home_of[pe];
    case KB_NEIGHBOR:
    case KB_MULTICAST: /* the first of cast_targets() */
        return tr->home_of[(pe + 1) % n];
    case KB_TRANSPOSE:
        side = traffic_root(n);
        return tr->home_of[pe % side * side + pe / side];
    case KB_BITCOMP:
        return tr->home_of[~pe & (n - 1)];
    case KB_HOTSPOT:
        if (rng_unit(rng) < tr->request.hotspot)
            return tr->slice_of[0];
        return any_slice(tr, rng);
    case KB_UNIFORM:
    case KB_MATRIX: /* matrix_target() */
        break;
    }
    return any_slice(tr, rng);
}

/* Whole fs until the next transaction; the fraction is added to the interval after it. */
static int64_t interval_fs(const struct traffic *tr, struct source *src, uint32_t source)
{
    double fs = src->mean_fs;
    int64_t whole;

    if (!tr->request.fixed)
        fs *= exponential(&src->rng);
    else if (src->n == 0)
        fs *= (double)source / (double)(tr->n_pes * tr->kinds);
    fs += src->rest_fs;
    if (!(fs < TRAFFIC_HORIZON_MOST))
        return (int64_t)TRAFFIC_HORIZON_MOST;
    whole = (int64_t)fs;
    src->rest_fs = fs - (double)whole;
    return whole;
}

static void draw_target(struct traffic *tr, uint32_t source)
{
    struct source *src = &tr->sources[source];
    uint32_t pe = source / tr->kinds;

    src->next_dst = tr->request.pattern == KB_MATRIX ? matrix_target(tr, pe, &src->rng)
                                                     : target_of(tr, pe, &src->rng);
    src->n++;
}

bool traffic_draw(struct traffic *tr, uint32_t source)
{
    struct source *src = &tr->sources[source];

    if (src->next_fs >= tr->last_fs)
        return false;
    src->next_fs += interval_fs(tr, src, source);
    if (src->next_fs >= tr->last_fs)
        return false;
    draw_target(tr, source);
    return true;
}

bool traffic_draw_any(struct traffic *tr, uint32_t source)
{
    struct source *src = &tr->sources[source];

    if (!(src->mean_fs < TRAFFIC_HORIZON_MOST))
        return false;
    interval_fs(tr, src, source);
    draw_target(tr, source);
    return true;
}

/* Fixed intervals go on as if the last one had ended before 0, each source at its own place. */
void traffic_set_out(struct traffic *tr)
{
    uint32_t n = tr->n_pes * tr->kinds;

    for (uint32_t i = 0; i < n; i++) {
        struct source *src = &tr->sources[i];
        double fs = tr->request.fixed && src->n ? src->mean_fs * ((double)i / n - 1) : 0;

        src->next_fs = (int64_t)floor(fs);
        src->rest_fs = fs - floor(fs);
    }
}

/* -- while it runs -------------------------------------------------------------------------- */

/* Of a machine with planes, ways or gaps. False, and the run ends: no way leads there. */
static bool choose_course(struct kb_sim *s, struct txn *txn)
{
    txn->course =
        endpoint_course(s->topo, (kb_transaction_op)txn->op, txn->src, txn->dst, txn->id, 0) & 63u;
    const struct trip trip = txn_trip(s->topo, txn);

    if (!s->topo->plane_rows[trip.plane].in_parts || walk_has_way(s->topo, &trip))
        return true;
    s->status = KB_BAD_REQUEST;
    s->stop_fs = 0;
    return false;
}

uint64_t traffic_smallest_slice(const struct kb_topology *t)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].slices && t->kinds[kind].hbm.nbytes < least)
            least = t->kinds[kind].hbm.nbytes;
    return least;
}

/*
 * Where in its memory transaction `k` of a source lies: a walk goes on from the one before, else it
 * is one of the places for as many bytes, drawn from its number and the seed. What is too large
 * for that lies at the begin. A multicast has a place that all memories have.
 */
static uint64_t offset_of(const struct kb_sim *s, uint32_t source, uint32_t k, uint32_t dst)
{
    const struct traffic *tr = s->traffic;
    uint64_t bytes =
        tr->to_all ? traffic_smallest_slice(s->topo) : cost_memory(s->topo, dst, false)->nbytes;
    uint64_t n = tr->request.nbytes;
    struct rng rng;

    if (traffic_walks(tr))
        return walk_offset(tr, source, k);
    if (n > bytes)
        return 0;
    rng = random_place(tr, source, k);
    return rng_next(&rng) % (bytes / n) * n;
}

static int by_slot(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

struct bytes_at traffic_place(const struct kb_sim *s, uint32_t source, uint32_t k, uint32_t dst)
{
    struct traffic *tr = s->traffic;
    bool by_address = traffic_walks(tr) && s->topo->granule;
    uint64_t at = by_address ? walk_address(s->topo, tr, source, k) : offset_of(s, source, k, dst);

    return (struct bytes_at){.by_address = by_address,
                             .at = at,
                             .targets =
                                 tr->to_all ? cast_targets(tr, source / tr->kinds, at) : NULL};
}

/* Transaction `k` of a source, in `slot`, goes to its memory, or in parts, for which it takes
 * slots. False: there are none left. */
static bool place_parts(struct kb_sim *s, uint32_t source, uint32_t k, uint32_t slot)
{
    struct traffic *tr = s->traffic;
    const struct bytes_at bytes = traffic_place(s, source, k, s->txns[slot].dst);
    uint32_t n;

    split_none(s, slot);
    if (split_cut(s, &s->txns[slot], &bytes) != KB_OK)
        return false;
    if (s->parts.n == 1) {
        split_place_cut(s, slot);
        return true;
    }
    s->txns[slot].dst = s->parts.rows[0].dst;
    split_place(s, slot, s->parts.rows[0].offset);
    for (n = 0; n < s->parts.n; n++) {
        tr->part_slots[n] = traffic_take_slot(s);
        if (tr->part_slots[n] == TXN_NONE)
            return false;
    }
    qsort(tr->part_slots, n, sizeof *tr->part_slots, by_slot);
    split_make(s, slot, 0, tr->part_slots);
    return true;
}

/*
 * A PE has at most one transaction that no channel has taken: the next is made when that happens.
 * If its time has come before, it has waited since, as those behind it have.
 */
void traffic_next(struct kb_sim *s, uint64_t t, uint32_t src, uint32_t pe, bool writes)
{
    struct traffic *tr = s->traffic;
    uint32_t slot, number = source_of(tr, pe, writes);
    struct source *source = &tr->sources[number];
    struct txn *txn;

    if (!traffic_draw(tr, number))
        return;
    slot = traffic_take_slot(s);
    if (slot == TXN_NONE) {
        traffic_no_memory(s);
        return;
    }
    tr->n_issued++;
    txn = &s->txns[slot];
    *txn = (struct txn){.issue_fs = source->next_fs,
                        .nbytes = tr->request.nbytes & TXN_MAX_BYTES,
                        .op = writes ? KB_WRITE : KB_READ,
                        .stage = TXN_WAITING,
                        .src = src,
                        .dst = source->next_dst,
                        .id = (source->n - 1) * tr->n_pes * tr->kinds + number,
                        .next = TXN_NONE};
    if (!s->topo->regular && !choose_course(s, txn))
        return;
    if (s->splits && !place_parts(s, number, source->n - 1, slot)) {
        traffic_no_memory(s);
        return;
    }
    if (!s->splits && split_asks_where(s))
        split_place(s, slot, offset_of(s, number, source->n - 1, txn->dst));
    if ((uint64_t)source->next_fs < t && !inorder_lists(s)) {
        if (s->observer && !s->observer->by_visits &&
            !observe_late(s, (uint64_t)source->next_fs, slot))
            return;
        station_enqueue(&s->channels[2 * (size_t)src + txn_writes(txn)], s->txns, slot);
    } else if (!inorder_issue(s, slot)) {
        traffic_no_memory(s);
    }
}

/* Too many latencies to keep: from now on histograms count them. False without memory. */
static bool begin_histograms(struct traffic *tr)
{
    tr->buckets = calloc((size_t)TRAFFIC_PARTS * BUCKETS, sizeof *tr->buckets);
    if (!tr->buckets)
        return false;
    for (uint64_t i = 0; i < tr->n_exact; i++)
        tr->buckets[tr->part_of[i] * (size_t)BUCKETS + bucket_of(tr->actual_fs[i])]++;
    free(tr->actual_fs);
    free(tr->part_of);
    tr->actual_fs = NULL;
    tr->part_of = NULL;
    return true;
}

bool traffic_keep(struct traffic *tr, uint32_t part, int64_t actual_fs)
{
    if (!tr->buckets && tr->n_exact == TRAFFIC_EXACT && !begin_histograms(tr))
        return false;
    if (tr->buckets) {
        tr->buckets[part * (size_t)BUCKETS + bucket_of(actual_fs)]++;
        return true;
    }
    tr->actual_fs[tr->n_exact] = actual_fs;
    tr->part_of[tr->n_exact++] = (uint8_t)part;
    return true;
}

/* What one part has taken of its memory and its way. */
static void count_part(struct kb_sim *s, uint32_t part)
{
    const struct txn *x = &s->txns[part];

    if (!sim_counts_waits(s, x->dst) && !txn_queues(s, x)) /* else counted */
        s->memories[x->dst].wait_fs += x->service_fs - x->arrive_fs;
    sim_count(s, x);
    split_count_part(s, part);
}

void traffic_end_parts(struct kb_sim *s, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];
    uint32_t part = s->splits[slot].next, next;

    s->channels[2 * (size_t)x->src + txn_writes(x)].wait_fs += x->wait_fs;
    for (; part != TXN_NONE; part = next) {
        next = s->splits[part].next;
        count_part(s, part);
        s->txns[part].next = s->traffic->free_slot;
        s->traffic->free_slot = part;
    }
}
