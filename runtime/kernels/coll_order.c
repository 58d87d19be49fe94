/* coll_order.c -- in which order rings visit the members of a group: found once for each group.
 *
 * A ring is as fast as its ways are short. So its members stand in it either by rank, or as a lap
 * of the machine has their PEs: SIP by SIP, cube by cube, each beside the one before
 * (machine/lap.h; cubes that are no grid: the nearest that has not been visited), and in a cube by
 * number, or the first half of the PEs there and the second half back. The order whose ways are the
 * shortest in all is taken; of equals the one whose longest is, then the first of these.
 */
#include "base/larger.h"
#include "kernels/coll.h"
#include "base/text.h"
#include "kernels/kernels.h"
#include "machine/lap.h"
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* NEAREST_MOST: in more cubes it would take too long to look for the nearest. */
enum { NEAREST_MOST = 128, TURNS_MOST = 8, BUCKETS_FIRST = 64 };
#define FAR_FS (INT64_C(1) << 50) /* of a way that there is not */

void coll_bad(const struct coll *c, const char *format, ...)
{
    char text[256];
    va_list args;
    int n = text_format(text, sizeof text, "%s: ", c->name);

    va_start(args, format);
    text_vformat(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    tl_fail_at(c->here, c->tl, text);
    __builtin_unreachable();
}

/*
 * A block of what is being made. Where there is no memory for the next one the kernel is left from
 * within, and nothing returns: then those made so far are freed with the launch.
 */
static void *room(const struct coll *c, size_t n, size_t bytes)
{
    struct coll_orders *o = c->tl->launch->orders;
    void *made = kernels_room(c->here, c->tl, n, bytes);

    assert(o->n_making < COLL_MAKING);
    return o->making[o->n_making++] = made;
}

/* Frees a block that was for the making alone. */
static void drop_block(const struct coll *c, void *made)
{
    struct coll_orders *o = c->tl->launch->orders;
    int i = 0;

    while (o->making[i] != made)
        i++;
    o->making[i] = o->making[--o->n_making];
    free(made);
}

/* -- ways ------------------------------------------------------------------------------------- */

bool coll_way_cost(const struct kb_topology *t, uint32_t from, uint32_t to, kb_cost *cost)
{
    kb_endpoint pe, tcm;

    kb_pe_get(t, from, &pe);
    kb_pe_get(t, to, &tcm);
    tcm.kind = KB_TCM;
    return kb_route_cost(t, KB_WRITE, &pe, &tcm, SAMPLE, cost, NULL) == KB_OK;
}

int64_t coll_way_fs(const struct kb_topology *t, uint32_t from, uint32_t to)
{
    kb_cost cost;

    return coll_way_cost(t, from, to, &cost) ? cost.wire_fs + cost.overhead_fs : FAR_FS;
}

/* Of messages from each place to the one above, or from there to it. */
static struct coll_ways ways_of(const struct kb_topology *t, const uint32_t *pes,
                                const uint32_t *ranks, int64_t n, bool up)
{
    struct coll_ways w = {0};

    for (int64_t i = 0; i < n; i++) {
        uint32_t at = pes[ranks[i]], above = pes[ranks[(i + 1) % n]];

        w.last_fs = up ? coll_way_fs(t, at, above) : coll_way_fs(t, above, at);
        w.sum_fs += w.last_fs;
        if (i < n - 1 && w.last_fs > w.longest_fs)
            w.longest_fs = w.last_fs;
    }
    return w;
}

/* -- laps ------------------------------------------------------------------------------------- */

/* Ways between all cubes of SIP 0; FAR_FS if one has no PEs. */
static int64_t *ways_between_cubes(const struct coll *c)
{
    const struct kb_topology *t = tl_topology(c->tl);
    int64_t *fs = room(c, (size_t)t->cubes * t->cubes, sizeof *fs);

    for (uint32_t i = 0; i < t->cubes; i++)
        for (uint32_t k = 0; k < t->cubes; k++) {
            bool ends = i != k && cube_pe_count(t, i) > 0 && cube_pe_count(t, k) > 0;

            fs[i * t->cubes + k] =
                ends ? coll_way_fs(t, cube_first_pe(t, i), cube_first_pe(t, k)) : FAR_FS;
        }
    return fs;
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t was = *a;

    *a = *b;
    *b = was;
}

/* Each cube is followed by the nearest of those behind it. */
static void go_to_nearest(uint32_t *lap, uint32_t n, const int64_t *fs)
{
    for (uint32_t i = 0; i + 2 < n; i++)
        for (uint32_t k = i + 2; k < n; k++)
            if (fs[lap[i] * n + lap[k]] < fs[lap[i] * n + lap[i + 1]])
                swap(&lap[i + 1], &lap[k]);
}

/* What is saved if places i + 1 to k are visited the other way round. */
static int64_t saved_fs(const uint32_t *lap, uint32_t n, const int64_t *fs, uint32_t i, uint32_t k)
{
    uint32_t a = lap[i], b = lap[i + 1], c = lap[k], d = lap[(k + 1) % n];

    return fs[a * n + b] + fs[c * n + d] - fs[a * n + c] - fs[b * n + d];
}

/* Turns parts of the lap round while that makes it shorter. False: nothing does. */
static bool turn_parts(uint32_t *lap, uint32_t n, const int64_t *fs)
{
    bool turned = false;

    for (uint32_t i = 0; i + 2 < n; i++)
        for (uint32_t k = i + 2; k < n; k++)
            if (saved_fs(lap, n, fs, i, k) > 0) {
                for (uint32_t a = i + 1, b = k; a < b; a++, b--)
                    swap(&lap[a], &lap[b]);
                turned = true;
            }
    return turned;
}

static void place_by_way(const struct coll *c, uint32_t *place)
{
    uint32_t n = tl_topology(c->tl)->cubes;
    uint32_t *lap = room(c, n, sizeof *lap);
    int64_t *fs = ways_between_cubes(c);

    for (uint32_t i = 0; i < n; i++)
        lap[i] = i;
    go_to_nearest(lap, n, fs);
    for (int i = 0; i < TURNS_MOST && turn_parts(lap, n, fs); i++)
        ;
    for (uint32_t i = 0; i < n; i++)
        place[lap[i]] = i;
    drop_block(c, fs);
    drop_block(c, lap);
}

/* The places of the cubes of a SIP; in a large one that is no grid, by number. */
static void place_cubes(const struct coll *c, const kb_info *info, uint32_t *place)
{
    const struct kb_topology *t = tl_topology(c->tl);
    struct lap lap = lap_of_cubes(t, info);

    if (lap.w == t->cubes && t->cubes <= NEAREST_MOST)
        place_by_way(c, place);
    else
        for (uint32_t i = 0; i < t->cubes; i++)
            place[lap_at(&lap, i)] = i;
}

/* On a lap of all cubes, SIP by SIP. */
static uint32_t *places_of_cubes(const struct coll *c)
{
    const struct kb_topology *t = tl_topology(c->tl);
    uint32_t *of_sip = room(c, t->cubes, sizeof *of_sip);
    uint32_t *place = room(c, sim_cubes(t), sizeof *place);
    struct lap sips;
    kb_info info;

    kb_topology_info(t, &info);
    sips = lap_of_sips(&info);
    place_cubes(c, &info, of_sip);
    for (uint32_t i = 0; i < t->sips; i++)
        for (uint32_t cube = 0; cube < t->cubes; cube++)
            place[lap_at(&sips, i) * t->cubes + cube] = i * t->cubes + of_sip[cube];
    drop_block(c, of_sip);
    return place;
}

/* -- orders ----------------------------------------------------------------------------------- */

enum by { BY_RANK, BY_LAP, BY_LAP_AND_BACK, N_ORDERS };

/* A member by where it stands on the lap. */
struct standing {
    uint64_t at;
    uint32_t rank;
};

static int by_place(const void *a, const void *b)
{
    const struct standing *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static struct standing standing_of(const struct kb_topology *t, const uint32_t *place, uint32_t pe,
                                   uint32_t rank, enum by by)
{
    uint32_t cube = pe_cube(t, pe), half = (cube_pe_count(t, cube) + 1) / 2;
    uint32_t at = pe - cube_first_pe(t, cube);

    if (by == BY_LAP_AND_BACK && at >= half)
        at = half + cube_pe_count(t, cube) - 1 - at;
    return (struct standing){(uint64_t)place[cube] << 32 | at, rank};
}

static uint32_t *ordered(const struct coll *c, const uint32_t *place, const uint32_t *pes,
                         enum by by)
{
    int64_t n = c->group.n;
    uint32_t *ranks = room(c, (size_t)n, sizeof *ranks);
    struct standing *s = room(c, (size_t)n, sizeof *s);

    for (int64_t i = 0; i < n; i++)
        s[i] = standing_of(tl_topology(c->tl), place, pes[i], (uint32_t)i, by);
    if (by != BY_RANK)
        qsort(s, (size_t)n, sizeof *s, by_place);
    for (int64_t i = 0; i < n; i++)
        ranks[i] = s[i].rank;
    drop_block(c, s);
    return ranks;
}

static bool is_shorter(struct coll_ways a, struct coll_ways b)
{
    return a.sum_fs != b.sum_fs ? a.sum_fs < b.sum_fs : a.longest_fs < b.longest_fs;
}

static void choose_order(const struct coll *c, const uint32_t *place, struct coll_order *order)
{
    const struct kb_topology *t = tl_topology(c->tl);

    for (enum by by = BY_RANK; by < N_ORDERS; by++) {
        uint32_t *ranks = ordered(c, place, order->pes, by);
        bool is_same =
            order->ranks && !memcmp(ranks, order->ranks, (size_t)order->n * sizeof *ranks);
        struct coll_ways up = is_same ? order->up : ways_of(t, order->pes, ranks, order->n, true);

        if (by == BY_RANK || is_shorter(up, order->up)) {
            if (order->ranks)
                drop_block(c, order->ranks);
            order->ranks = ranks;
            order->up = up;
        } else
            drop_block(c, ranks);
    }
    order->down = ways_of(t, order->pes, order->ranks, order->n, false);
}

/* -- what else is known of a group ------------------------------------------------------------ */

/* Do members stand in two SIPs, or in two cubes where these are what pays? */
static bool spans_units(const struct kb_topology *t, const struct coll_order *order)
{
    uint32_t of = t->software_unit == UNIT_CUBE ? 1 : t->cubes;

    for (int64_t i = 1; i < order->n; i++)
        if (pe_cube(t, order->pes[i]) / of != pe_cube(t, order->pes[0]) / of)
            return true;
    return false;
}

/* The longest way between members of a small group. */
static int64_t farthest_fs(const struct kb_topology *t, const struct coll_order *order)
{
    int64_t n = order->n, farthest = 0;

    for (int64_t i = 0; n <= NEAR_MOST && i < n * n; i++) {
        int64_t fs = i / n == i % n ? 0 : coll_way_fs(t, order->pes[i / n], order->pes[i % n]);

        farthest = fs > farthest ? fs : farthest;
    }
    return farthest;
}

/* What a byte takes on the slowest way between some neighbours. */
static double byte_fs(const struct kb_topology *t, const struct coll_order *order)
{
    double slowest_fs = 0;
    kb_cost cost;

    for (int64_t i = 0; i + 1 < smaller(order->n, NEAR_MOST); i++)
        if (coll_way_cost(t, order->pes[order->ranks[i]], order->pes[order->ranks[i + 1]], &cost) &&
            (double)cost.drain_fs / SAMPLE > slowest_fs)
            slowest_fs = (double)cost.drain_fs / SAMPLE;
    return slowest_fs;
}

/* Commands of a piece, or, where memories are far, the load of it, with others on further channels;
 * and what memories take for a byte, which all PEs share. */
static void find_memory(const struct kb_topology *t, struct coll_order *order)
{
    double sharing = (double)kb_pe_count(t) / fmax(1, kb_slice_count(t));
    kb_endpoint pe, slice;
    kb_limits limits;
    kb_cost cost;

    order->piece_fs = PIECE_FS;
    kb_topology_limits(t, &limits);
    if (kb_pe_get(t, order->pes[0], &pe) || kb_pe_slice(t, order->pes[0], &slice) ||
        kb_route_cost(t, KB_READ, &pe, &slice, SAMPLE, &cost, NULL))
        return;
    order->piece_fs =
        fmax(PIECE_FS, (double)(cost.wire_fs + cost.overhead_fs) / limits.read_channels);
    order->memory_fs = (double)cost.drain_fs / SAMPLE * sharing;
}

/* Leaves the kernel if the group is none. */
static void check_group(const struct coll *c)
{
    const kb_group *g = &c->group;
    uint32_t n_pes = (uint32_t)tl_all(c->tl).n;
    bool ascends = true, *seen;

    for (int64_t i = 0; i < g->n; i++) {
        if (pe_of(g, i) >= n_pes)
            coll_bad(c, "PE %u of the group does not exist", pe_of(g, i));
        ascends = ascends && (i == 0 || pe_of(g, i) > pe_of(g, i - 1));
    }
    if (ascends)
        return; /* no PE comes twice */
    seen = tl_alloc_host_at(c->here, c->tl, n_pes);
    for (int64_t i = 0; i < g->n; i++) {
        if (seen[pe_of(g, i)])
            coll_bad(c, "PE %u of the group comes twice", pe_of(g, i));
        seen[pe_of(g, i)] = true;
    }
}

static void count_hop(void *arg, const kb_hop *hop)
{
    (void)hop;
    ++*(uint64_t *)arg;
}

static uint64_t hops(const struct kb_topology *t, uint32_t from, uint32_t to)
{
    kb_endpoint pe, tcm;
    uint64_t n = 0;

    kb_pe_get(t, from, &pe);
    kb_pe_get(t, to, &tcm);
    tcm.kind = KB_TCM;
    kb_route_walk(t, &pe, &tcm, count_hop, &n, NULL);
    return n;
}

/* Of some ways; where the times are alike, they are. */
static double hops_ratio(const struct kb_topology *t, const struct coll_order *order)
{
    int64_t looked = smaller(order->n - 1, NEAR_MOST);
    uint64_t up = 1, down = 1;

    if (order->down.sum_fs <= order->up.sum_fs / 8 * 9)
        return 1;
    for (int64_t i = 0; i < looked; i++) {
        int64_t at = share(order->n - 1, i, looked);
        uint32_t below = order->pes[order->ranks[at]], above = order->pes[order->ranks[at + 1]];

        up += hops(t, below, above);
        down += hops(t, above, below);
    }
    return down > up ? (double)down / (double)up : 1;
}

/* Are its PEs a row in equal strides? */
static void find_row(struct coll_order *order)
{
    const uint32_t *pes = order->pes;

    order->first = pes[0];
    order->stride = order->n > 1 ? pes[1] - pes[0] : 1;
    order->is_row = order->n == 1 || pes[1] > pes[0];
    for (int64_t i = 2; i < order->n && order->is_row; i++)
        order->is_row = pes[i] - pes[i - 1] == order->stride && pes[i] > pes[i - 1];
}

static struct coll_order *order_new(const struct coll *c, const uint32_t *place)
{
    const struct kb_topology *t = tl_topology(c->tl);
    struct coll_order *order;

    check_group(c);
    order = room(c, 1, sizeof *order);
    order->n = c->group.n;
    order->pes = room(c, (size_t)order->n, sizeof *order->pes);
    order->outs = room(c, (size_t)order->n, sizeof *order->outs);
    for (int64_t i = 0; i < order->n; i++)
        order->pes[i] = pe_of(&c->group, i);
    find_row(order);
    order->placed = room(c, (size_t)order->n, sizeof *order->placed);
    order->places = room(c, (size_t)order->n, sizeof *order->places);
    choose_order(c, place, order);
    for (int64_t i = 0; i < order->n; i++) {
        order->placed[i] = order->pes[order->ranks[i]];
        order->places[order->ranks[i]] = (uint32_t)i;
    }
    order->spans_units = spans_units(t, order);
    order->hops_ratio = hops_ratio(t, order);
    order->farthest_fs = farthest_fs(t, order);
    order->near = order->n > 3 && order->n <= NEAR_MOST && /* of three all are neighbours */
                  order->farthest_fs <= order->up.longest_fs;
    order->byte_fs = byte_fs(t, order);
    find_memory(t, order);
    return order;
}

/* -- finding it ------------------------------------------------------------------------------- */

static bool is_order_of(const struct coll_order *order, const kb_group *g)
{
    int64_t i = 0;

    if (order->n != g->n)
        return false;
    if (!g->pes && g->stride > 0 && order->is_row)
        return order->first == g->first && (g->n == 1 || order->stride == g->stride);
    while (i < g->n && order->pes[i] == pe_of(g, i))
        i++;
    return i == g->n;
}

static struct coll_order **bucket_of(struct coll_orders *o, const kb_group *g)
{
    uint32_t hash = (uint32_t)g->n;

    for (int64_t i = 0; i < smaller(g->n, 4); i++)
        hash = (hash ^ pe_of(g, i)) * 0x9e3779b1U;
    return &o->bucket[(hash ^ hash >> 16) % o->n_buckets];
}

/* Room for one more: as many buckets as orders, at least. Rows of a large mesh are 50,000. */
static void grow_buckets(const struct coll *c, struct coll_orders *o)
{
    struct coll_order **old = o->bucket, *next;
    uint32_t n = o->n_buckets;

    if (o->n < n)
        return;
    o->bucket = kernels_room(c->here, c->tl, n ? 2 * (size_t)n : BUCKETS_FIRST, sizeof *old);
    o->n_buckets = n ? 2 * n : BUCKETS_FIRST;
    for (uint32_t i = 0; i < n; i++)
        for (struct coll_order *order = old[i]; order; order = next) {
            const kb_group group = {.pes = order->pes, .stride = 1, .n = order->n};
            struct coll_order **bucket = bucket_of(o, &group);

            next = order->next;
            order->next = *bucket;
            *bucket = order;
        }
    free(old);
}

struct coll_order *coll_order_of(const struct coll *c)
{
    struct launch *l = c->tl->launch;
    struct coll_order **bucket, *order;

    if (!l->orders)
        l->orders = kernels_room(c->here, c->tl, 1, sizeof *l->orders);
    if (!l->orders->place) {
        l->orders->place = places_of_cubes(c);
        l->orders->n_making = 0;
    }
    grow_buckets(c, l->orders);
    bucket = bucket_of(l->orders, &c->group);
    order = *bucket;
    while (order && !is_order_of(order, &c->group))
        order = order->next;
    if (!order) {
        order = order_new(c, l->orders->place);
        l->orders->n_making = 0;
        l->orders->n++;
        order->next = *bucket;
        *bucket = order;
    }
    return order;
}

int64_t coll_place(const struct coll *c, int64_t rank)
{
    return c->order->places[rank];
}

int64_t coll_rank(const struct coll_order *order, uint32_t pe)
{
    uint32_t off = pe - order->first;
    int64_t rank = 0;

    if (order->is_row)
        return pe >= order->first && off % order->stride == 0 && off / order->stride < order->n
                   ? off / order->stride
                   : order->n;
    while (rank < order->n && order->pes[rank] != pe)
        rank++;
    return rank;
}

const uint32_t *kb_coll_order_at(tl_here here, tl_ctx *tl, kb_group group)
{
    struct coll c = {.here = here, .tl = tl, .group = group, .name = "kb_coll_order"};

    return coll_order_of(&c)->placed;
}
