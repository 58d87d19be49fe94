/* traffic_make.c -- open-loop traffic before it runs: what is asked is checked, and PEs get their
 * targets, their times and slots for what they have in flight.
 *
 * The work is bounded by what is in flight (engine/traffic.c), so slots are made once:
 * slots_needed().
 */
#include "engine/split.h"
#include "engine/traffic.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "machine/endpoint.h"
#include "machine/walk.h"

#define TXNS_MOST UINT64_C(4000000000)
#define IDS_MOST                                                                                   \
    0x1p32 /* of k n + i for the k-th of PE i of n; PEs may draw a few more than is to be expected \
            */

void traffic_free(struct traffic *tr)
{
    if (!tr)
        return;
    free(tr->sources);
    free(tr->home_of);
    free(tr->rank_of);
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
    if (r->pattern == KB_TRANSPOSE && traffic_root(n) * traffic_root(n) != n)
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
    if (r->nbytes == 0 || r->nbytes > traffic_smallest_slice(s->topo))
        return endpoint_error(why, "%llu bytes are %s %llu", (unsigned long long)r->nbytes,
                              r->nbytes ? "more than a slice holds, which is" : "not 1 to",
                              (unsigned long long)traffic_smallest_slice(s->topo));
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
    if (!(horizon < TRAFFIC_HORIZON_MOST))
        return endpoint_error(why, "traffic of %llu transactions would last too long",
                              (unsigned long long)r->txns);
    if ((horizon / fs + 10 * sqrt(horizon / fs) + 10) * tr->n_pes * tr->kinds + (double)r->warm >=
        IDS_MOST)
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

static kb_status find_homes(const struct kb_topology *t, struct traffic *tr)
{
    tr->home_of = calloc(tr->n_pes, sizeof *tr->home_of);
    for (uint32_t pe = 0; tr->home_of && pe < tr->n_pes; pe++)
        tr->home_of[pe] = pe_slice(t, pe_src(t, pe));
    return tr->home_of ? KB_OK : KB_NO_MEMORY;
}

static kb_status make_sources(const struct kb_topology *t, struct traffic *tr, kb_error *why)
{
    double *weight = calloc(tr->n_pes, sizeof *weight);
    kb_status status = KB_NO_MEMORY;

    tr->sources = calloc((size_t)tr->n_pes * tr->kinds, sizeof *tr->sources);
    tr->slice_of = calloc(tr->n_slices, sizeof *tr->slice_of);
    if (!weight || !tr->sources || !tr->slice_of)
        goto out;
    list_slices(t, tr->slice_of);
    for (uint32_t pe = 0; pe < tr->n_pes; pe++) {
        for (uint32_t i = pe * tr->kinds; i < (pe + 1) * tr->kinds; i++)
            tr->sources[i].rng = rng_of_number(tr->request.seed, i);
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

kb_status traffic_make(struct kb_sim *s, const kb_traffic *request, kb_error *why)
{
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
    if (status == KB_OK)
        status = find_homes(t, tr);
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
    return KB_OK;
}

kb_status traffic_start(struct kb_sim *s, kb_error *why)
{
    const struct traffic *tr = s->traffic;

    for (uint32_t i = 0; i < tr->n_pes * tr->kinds; i++)
        traffic_next(s, 0, pe_src(s->topo, i / tr->kinds), i / tr->kinds, traffic_writes(tr, i));
    return s->status == KB_BAD_REQUEST ? endpoint_error(why, TRAFFIC_NO_WAY) : s->status;
}
