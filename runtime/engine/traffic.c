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

#define TXNS_MOST    UINT64_C(4000000000)
#define HORIZON_MOST 0x1p61
#define IDS_MOST                                                                                   \
    0x1p32 /* of k n + i for the k-th of PE i of n; PEs may draw a few more than is to be expected \
            */

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

/* The square root of `n`, rounded down. */
static uint32_t root_of(uint32_t n)
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
        side = root_of(n);
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
    if (!(fs < HORIZON_MOST))
        return (int64_t)HORIZON_MOST;
    whole = (int64_t)fs;
    src->rest_fs = fs - (double)whole;
    return whole;
}

bool traffic_draw(struct traffic *tr, uint32_t source)
{
    struct source *src = &tr->sources[source];
    uint32_t pe = source / tr->kinds;

    if (src->next_fs >= tr->last_fs)
        return false;
    src->next_fs += interval_fs(tr, src, source);
    if (src->next_fs >= tr->last_fs)
        return false;
    src->next_dst = tr->request.pattern == KB_MATRIX ? matrix_target(tr, pe, &src->rng)
                                                     : target_of(tr, pe, &src->rng);
    src->n++;
    return true;
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

/* Bytes of the smallest slice. */
static uint64_t smallest_slice(const struct kb_topology *t)
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
        tr->to_all ? smallest_slice(s->topo) : cost_memory(s->topo, dst, false)->nbytes;
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

/* Transaction `k` of a source, in `slot`, goes to its memory, or in parts, for which it takes
 * slots. False: there are none left. */
static bool place_parts(struct kb_sim *s, uint32_t source, uint32_t k, uint32_t slot)
{
    const struct kb_topology *t = s->topo;
    struct traffic *tr = s->traffic;
    bool by_address = traffic_walks(tr) && t->granule;
    uint64_t at =
        by_address ? walk_address(t, tr, source, k) : offset_of(s, source, k, s->txns[slot].dst);
    const struct bytes_at bytes = {.by_address = by_address,
                                   .at = at,
                                   .targets = tr->to_all ? cast_targets(tr, source / tr->kinds, at)
                                                         : NULL};
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
    if (!s->splits && (s->banks || s->instances.served))
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

    if (!sim_keeps_order(s, x->dst) && !txn_queues(s, x)) /* else counted */
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

/* -- made ----------------------------------------------------------------------------------- */

void traffic_free(struct traffic *tr)
{
    if (!tr)
        return;
    free(tr->sources);
    free(tr->home_of);
    free(tr->slice_of);
    free(tr->targets);
    free(tr->first_target);
    free(tr->actual_fs);
    free(tr->part_of);
    free(tr->buckets);
    free(tr->part_slots);
    free(tr->reached);
    free(tr);
}

/* Channels of the kind of cubes that has most. */
static uint32_t servers_of(const struct kb_topology *t, kb_transaction_op op)
{
    uint32_t most = 0;

    for (uint32_t kind = 0; kind < t->n_kinds; kind++) {
        const struct kind_row *k = &t->kinds[kind];
        uint32_t n = op == KB_WRITE ? k->write_channels : k->read_channels;

        most = n > most ? n : most;
    }
    return most;
}

/* Bandwidth of the edge from a PE's DMA to its crossbar: its own cube.xbar.pe_gbs. */
static double pe_gbs(const struct kb_topology *t, uint32_t pe)
{
    return kind_at(t, pe_cube(t, pe))->pe_gbs;
}

/* What a machine with multicasts must have, and how many targets there may be. */
static kb_status check_cast(const struct kb_topology *t, const struct traffic *tr, kb_error *why)
{
    const struct kb_traffic *r = &tr->request;
    uint32_t most = tr->n_pes - 1 < KB_TARGETS_MAX ? tr->n_pes - 1 : KB_TARGETS_MAX;
    const char *refused = branches_refused(t, false);

    if (r->pattern != KB_MULTICAST)
        return KB_OK;
    if (refused)
        return endpoint_error(why, "%s", refused);
    if (r->op != KB_WRITE && r->writes < 1)
        return endpoint_error(why, "multicasts of traffic are writes, and this reads");
    if (r->copies < 1 || r->copies > most)
        return endpoint_error(why, "multicasts go to 1 to %u PEs here, not %u", most, r->copies);
    return KB_OK;
}

static kb_status check_pattern(const struct traffic *tr, kb_error *why)
{
    const struct kb_traffic *r = &tr->request;
    uint32_t n = tr->n_pes;

    if ((unsigned)r->pattern > KB_MULTICAST)
        return endpoint_error(why, "there is no pattern %d", (int)r->pattern);
    if (r->pattern == KB_TRANSPOSE && root_of(n) * root_of(n) != n)
        return endpoint_error(why, "transpose needs a square number of PEs, this machine has %u",
                              n);
    if (r->pattern == KB_BITCOMP && (n & (n - 1)))
        return endpoint_error(why, "bitcomp needs a power of two of PEs, this machine has %u", n);
    if (!(r->writes >= 0 && r->writes <= 1) || (r->writes > 0 && r->op != KB_READ))
        return endpoint_error(why, "the share of writes is not within 0..1, or all write");
    if (r->pattern == KB_HOTSPOT && !(r->hotspot >= 0 && r->hotspot <= 1))
        return endpoint_error(why, "the share of the hot spot is not within 0..1");
    if (r->pattern == KB_MATRIX && !r->n_matrix)
        return endpoint_error(why, "the matrix is empty");
    for (size_t i = 0; r->pattern == KB_MATRIX && i < r->n_matrix; i++)
        if (r->matrix[i].pe >= n || r->matrix[i].slice >= tr->n_slices ||
            !(r->matrix[i].weight > 0 && r->matrix[i].weight <= 1e12))
            return endpoint_error(why,
                                  "row %zu of the matrix: no such PE or slice, or a bad weight", i);
    return KB_OK;
}

/* Patterns that go to slices of PEs need one for each. */
static bool has_homes(const struct kb_topology *t, const kb_traffic *r)
{
    bool any = r->pattern == KB_UNIFORM || r->pattern == KB_HOTSPOT || r->pattern == KB_MATRIX;

    for (uint32_t pe = 0; !any && pe < pe_count(t); pe++)
        if (pe_slice(t, pe_src(t, pe)) == NO_SLICE)
            return false;
    return true;
}

static kb_status check_traffic(const struct kb_sim *s, const struct traffic *tr, kb_error *why)
{
    const struct kb_traffic *r = &tr->request;

    if (tr->n_pes == 0)
        return endpoint_error(why, "traffic needs PEs, this topology has none");
    if (tr->n_slices == 0)
        return endpoint_error(why, "traffic goes to slices, this topology has none");
    if (!has_homes(s->topo, r))
        return endpoint_error(why, "this pattern goes to the slice of each PE, and some have none: "
                                   "no cube of their SIP with slices has a way to them");
    if (s->started || s->n_txns || s->kernels || s->host || s->traffic || s->status != KB_OK)
        return endpoint_error(why, "traffic needs a new simulation of its own");
    if (sim_counts(s))
        return endpoint_error(why, "traffic has no fingerprint, and does not end early");
    if (r->op != KB_READ && r->op != KB_WRITE)
        return endpoint_error(why, "traffic reads or writes");
    if (r->nbytes == 0 || r->nbytes > smallest_slice(s->topo))
        return endpoint_error(why, "%llu bytes are %s %llu", (unsigned long long)r->nbytes,
                              r->nbytes ? "more than a slice holds, which is" : "not 1 to",
                              (unsigned long long)smallest_slice(s->topo));
    if (!(r->rate > 0 && r->rate <= 1e6))
        return endpoint_error(why, "the rate is not within 0..1e6");
    if (r->txns == 0 || r->txns > TXNS_MOST)
        return endpoint_error(why, "the number of transactions is not within 1..%llu",
                              (unsigned long long)TXNS_MOST);
    return check_pattern(tr, why) == KB_OK ? check_cast(s->topo, tr, why) : KB_BAD_REQUEST;
}

/* The weights of each PE, summed; and where they lead. False without memory. */
static bool make_targets(struct traffic *tr, double *weight)
{
    const struct kb_traffic *r = &tr->request;
    uint32_t at = 0;

    tr->targets = calloc(r->n_matrix, sizeof *tr->targets);
    tr->first_target = calloc(tr->n_pes + 1, sizeof *tr->first_target);
    if (!tr->targets || !tr->first_target)
        return false;
    for (size_t i = 0; i < r->n_matrix; i++)
        tr->first_target[r->matrix[i].pe]++;
    for (uint32_t pe = 0; pe <= tr->n_pes; pe++) { /* counts become places */
        uint32_t n = tr->first_target[pe];

        tr->first_target[pe] = at;
        at += n;
    }
    for (size_t i = 0; i < r->n_matrix; i++) {
        const struct kb_matrix_row *row = &r->matrix[i];

        weight[row->pe] += row->weight;
        tr->targets[tr->first_target[row->pe]++] =
            (struct target){weight[row->pe], tr->slice_of[row->slice]};
    }
    memmove(tr->first_target + 1, tr->first_target, tr->n_pes * sizeof *tr->first_target);
    tr->first_target[0] = 0;
    return true;
}

/* A PE issues every `fs` on average, some of it reads and the rest writes. */
static void set_means(struct traffic *tr, uint32_t pe, double fs)
{
    struct source *first = &tr->sources[pe * tr->kinds];

    first->mean_fs = fs;
    if (tr->kinds == 1)
        return;
    first[0].mean_fs = fs / (1 - tr->request.writes);
    first[1].mean_fs = fs / tr->request.writes;
}

/* How often each PE issues, and until when all do. `weight` is each one's share of the largest. */
static kb_status set_times(const struct kb_topology *t, struct traffic *tr, const double *weight,
                           kb_error *why)
{
    const struct kb_traffic *r = &tr->request;
    double gbs = pe_gbs(t, 0), fs = (double)r->nbytes * 1e6 / (r->rate * gbs), all = 0, most = 0;
    double horizon;

    for (uint32_t pe = 0; pe < tr->n_pes; pe++)
        most = weight[pe] > most ? weight[pe] : most;
    for (uint32_t pe = 0; pe < tr->n_pes; pe++) {
        double share = weight[pe] / most * (pe_gbs(t, pe) / gbs);

        all += share;
        set_means(tr, pe, fs / share); /* a PE of weight 0: never */
    }
    horizon = fs * (double)r->txns / all;
    if (!(horizon < HORIZON_MOST))
        return endpoint_error(why, "traffic of %llu transactions would last too long",
                              (unsigned long long)r->txns);
    if ((horizon / fs + 10 * sqrt(horizon / fs) + 10) * tr->n_pes * tr->kinds >= IDS_MOST)
        return endpoint_error(
            why, "the busiest of %u PEs would issue too many transactions for ids of 32 bits",
            tr->n_pes);
    tr->horizon_fs = (int64_t)horizon + 1;
    tr->last_fs = tr->horizon_fs;
    if (r->fixed) /* the one that would be due at the horizon itself is one too many */
        tr->last_fs = (int64_t)(horizon - fs / (2.0 * tr->n_pes * tr->kinds));
    tr->parts_per_fs = TRAFFIC_PARTS / (double)tr->horizon_fs;
    return KB_OK;
}

/* The slices that are there, in the order of SIP, cube and slice. */
static void list_slices(const struct kb_topology *t, uint32_t *list)
{
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        for (uint32_t slice = 0; slice < cube_slice_count(t, cube); slice++)
            *list++ = dst_pack(t, cube, slice);
}

static kb_status make_sources(const struct kb_topology *t, struct traffic *tr, kb_error *why)
{
    double *weight = calloc(tr->n_pes, sizeof *weight);
    kb_status status = KB_NO_MEMORY;

    tr->sources = calloc((size_t)tr->n_pes * tr->kinds, sizeof *tr->sources);
    tr->home_of = calloc(tr->n_pes, sizeof *tr->home_of);
    tr->slice_of = calloc(tr->n_slices, sizeof *tr->slice_of);
    if (!weight || !tr->sources || !tr->home_of || !tr->slice_of)
        goto out;
    list_slices(t, tr->slice_of);
    for (uint32_t pe = 0; pe < tr->n_pes; pe++) {
        for (uint32_t i = pe * tr->kinds; i < (pe + 1) * tr->kinds; i++)
            tr->sources[i].rng = rng_of_number(tr->request.seed, i);
        tr->home_of[pe] = pe_slice(t, pe_src(t, pe));
        weight[pe] = tr->request.pattern != KB_MATRIX;
    }
    if (tr->request.pattern == KB_MATRIX && !make_targets(tr, weight))
        goto out;
    status = set_times(t, tr, weight, why);
out:
    free(weight);
    return status;
}

/* The most parts of one transaction, and room for their slots. */
static kb_status make_parts(const struct kb_topology *t, struct traffic *tr, kb_error *why)
{
    uint64_t most = 0, nbytes = tr->request.nbytes;

    for (uint32_t kind = 0; t->splits && kind < t->n_kinds; kind++) {
        uint64_t packet = t->kinds[kind].packet_bytes ? t->kinds[kind].packet_bytes : nbytes, n;

        packet = packet < nbytes ? packet : nbytes;
        n = (nbytes + packet - 1) / packet;
        if (traffic_walks(tr) && t->granule)
            n *= packet / t->granule + 2;
        most = n > most ? n : most;
    }
    if (tr->request.pattern == KB_MULTICAST)
        most = tr->request.copies;
    if (most > SPLIT_PARTS_MAX)
        return endpoint_error(why, "%llu bytes have more than %d parts", (unsigned long long)nbytes,
                              SPLIT_PARTS_MAX);
    tr->most_parts = most > 1 ? (uint32_t)most : 0;
    if (tr->most_parts)
        tr->part_slots = calloc(most, sizeof *tr->part_slots);
    return tr->part_slots || !tr->most_parts ? KB_OK : KB_NO_MEMORY;
}

/*
 * The most that can be in flight: for each PE its channels, one that waits, and one that takes the
 * place of another just ending; or all that are made, if these are fewer, or channels are off.
 */
static uint64_t slots_needed(const struct kb_sim *s, const struct traffic *tr)
{
    double all = (double)tr->request.txns;
    uint64_t rows = 1 + tr->most_parts; /* of a transaction */
    uint64_t made = (uint64_t)(all + 10 * sqrt(all)) + 10 * (uint64_t)tr->n_pes * tr->kinds;
    uint64_t held = 2 * tr->kinds; /* by a PE */

    if (s->options.costs_off & KB_COST_CHANNELS)
        return rows * made;
    if (tr->kinds == 2 || tr->request.op == KB_READ)
        held += servers_of(s->topo, KB_READ);
    if (tr->kinds == 2 || tr->request.op == KB_WRITE)
        held += servers_of(s->topo, KB_WRITE);
    held *= tr->n_pes;
    return rows * (held < made ? held : made);
}

/* Slots, all free. False without memory. */
static bool make_slots(struct kb_sim *s, struct traffic *tr)
{
    uint64_t n = slots_needed(s, tr);

    if (!sim_room(s, (uint32_t)n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        s->txns[i].next = i + 1 < n ? i + 1 : TXN_NONE;
    tr->free_slot = 0;
    tr->actual_fs = malloc(TRAFFIC_EXACT * sizeof *tr->actual_fs);
    tr->part_of = malloc(TRAFFIC_EXACT * sizeof *tr->part_of);
    return tr->actual_fs && tr->part_of;
}

kb_status kb_sim_traffic(kb_sim *s, const kb_traffic *request, kb_error *why)
{
    REFUSE_NULL(s && request, "sim, traffic", why);
    const struct kb_topology *t = s->topo;
    struct traffic *tr = calloc(1, sizeof *tr);
    kb_status status;

    if (!tr)
        return KB_NO_MEMORY;
    tr->request = *request;
    tr->n_pes = pe_count(t);
    tr->kinds = request->writes > 0 && request->writes < 1 ? 2 : 1;
    tr->n_slices = slice_count(t);
    status = check_traffic(s, tr, why);
    if (request->writes == 1)
        tr->request.op = KB_WRITE;
    if (status == KB_OK && traffic_walks(tr))
        status = walk_init(tr, t, why);
    if (status == KB_OK)
        status = make_parts(t, tr, why);
    if (status == KB_OK)
        status = make_sources(t, tr, why);
    if (status == KB_OK && request->pattern == KB_MULTICAST)
        status = cast_init(s, tr, why);
    if (status == KB_OK && slots_needed(s, tr) >= EV_MAX_SLOTS)
        status = endpoint_error(why, "%llu transactions may be under way at once, more than %u",
                                (unsigned long long)slots_needed(s, tr), EV_MAX_SLOTS);
    if (status == KB_OK && !make_slots(s, tr))
        status = KB_NO_MEMORY;
    if (status != KB_OK) {
        traffic_free(tr);
        return status;
    }
    s->traffic = tr;
    s->ways = tr->request.op == KB_WRITE ? WAY_WRITES : tr->kinds == 2 ? WAY_BOTH : WAY_READS;
    for (uint32_t i = 0; i < tr->n_pes * tr->kinds; i++)
        traffic_next(s, 0, pe_src(t, i / tr->kinds), i / tr->kinds,
                     tr->kinds == 2 ? i % 2 : tr->request.op == KB_WRITE);
    return s->status == KB_BAD_REQUEST ? endpoint_error(why, TRAFFIC_NO_WAY) : s->status;
}
