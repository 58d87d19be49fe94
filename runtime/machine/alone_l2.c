/* alone_l2.c -- what a transaction takes alone of an empty L2: one child for each slice. */
#include "base/larger.h"
#include "machine/alone_l2.h"
#include "machine/address.h"
#include "machine/bank_tile.h"
#include "machine/pieces.h"
#include "machine/walk.h"
#include <stdlib.h>

/* What is read of one slice. */
struct leg {
    uint32_t dst;
    uint64_t offset, low, nbytes, asked;
    struct moved moved;
    struct pieces *pieces;  /* owned; at a cache */
    struct bank_tile *tile; /* owned; at banks */
};

struct legs {
    struct leg *rows; /* owned */
    uint32_t n, cap;
    uint64_t asked; /* bytes that are wanted, of all */
};

static struct leg *leg_to(struct legs *legs, uint32_t dst)
{
    uint32_t cap = legs->cap ? 2 * legs->cap : 4;
    struct leg *moved;

    for (uint32_t i = legs->n; i-- > 0;)
        if (legs->rows[i].dst == dst)
            return &legs->rows[i];
    if (legs->n == legs->cap) {
        moved = realloc(legs->rows, cap * sizeof *moved);
        if (!moved)
            return NULL;
        legs->rows = moved;
        legs->cap = cap;
    }
    legs->rows[legs->n] = (struct leg){.dst = dst, .low = UINT64_MAX};
    return &legs->rows[legs->n++];
}

static bool is_banked(const struct kb_topology *t, uint32_t dst)
{
    return kind_at(t, dst_cube(t, dst))->hbm.model == MEMORY_BANKS;
}

/* Bytes of a line in one slice. */
static bool add_to_leg(const struct kb_topology *t, struct leg *leg, uint64_t address,
                       uint64_t offset, uint64_t nbytes)
{
    const struct kind_row *kind = kind_at(t, dst_cube(t, leg->dst));

    if (!leg->nbytes)
        leg->offset = offset;
    leg->low = address < leg->low ? address : leg->low;
    leg->nbytes += nbytes;
    moved_add(&leg->moved, kind->hbm.access_bytes, offset, nbytes);
    if (kind->hbm.model == MEMORY_CACHE)
        return pieces_add(&leg->pieces, offset, nbytes);
    if (!is_banked(t, leg->dst))
        return true;
    if (!leg->tile)
        leg->tile = bank_tile_new();
    return leg->tile &&
           bank_tile_add(leg->tile, &kind->banks, bank_range(&kind->banks, offset, nbytes));
}

/* A line, slice by slice. False: no memory. */
static bool add_line(const struct kb_topology *t, struct legs *legs, uint64_t at, uint64_t nbytes,
                     uint64_t asked)
{
    uint64_t end = at + nbytes, offset, room;
    struct leg *leg;
    uint32_t dst;

    for (; at != end && address_find(t, at, &dst, &offset); at += room) {
        room = t->granule ? t->granule - offset % t->granule
                          : kind_at(t, dst_cube(t, dst))->hbm.nbytes - offset;
        room = end - at < room ? end - at : room;
        leg = leg_to(legs, dst);
        if (!leg || !add_to_leg(t, leg, at, offset, room))
            return false;
        leg->asked += asked < room ? asked : room;
    }
    return true;
}

static bool add_all(const struct alone_of *of, struct legs *legs)
{
    unsigned bits = kind_at(of->t, src_cube(of->t, of->trip.src))->l2_cache.line_bits;
    const struct run one = {.at = of->offset, .nbytes = of->nbytes};
    struct lines_walk walk =
        of->pieces ? lines_walk(of->pieces->of, of->pieces->n, bits) : lines_walk(&one, 1, bits);
    uint64_t number, asked;

    legs->asked = of->nbytes;
    while (lines_next(&walk, &number, &asked))
        if (!add_line(of->t, legs, number << bits, UINT64_C(1) << bits, asked))
            return false;
    return true;
}

/* When a child ends that sets out at 0; `*drain`: the last of that. */
static int64_t end_of_leg(struct idle *idle, const struct alone_of *of, const struct leg *leg,
                          struct kb_cost *c, int64_t *drain)
{
    const struct kb_topology *t = of->t;
    const struct memory_row *memory = cost_memory(t, leg->dst, false);
    uint32_t course = t->plane_choice == PLANE_BY_HASH ? 0 : of->trip.plane;
    struct trip trip = walk_trip(t, src_pack(t, src_cube(t, of->trip.src), t->pes), leg->dst,
                                 course, false, 0, true);
    double gbs, first = cost_last_gbs(of->m, cost_memory(t, of->trip.dst, false));
    struct alone_of child = {.t = t,
                             .m = of->m,
                             .op = KB_READ,
                             .trip = trip,
                             .nbytes = leg->nbytes,
                             .offset = leg->offset,
                             .own_bytes = memory->access_bytes ? leg->moved.bytes : 0,
                             .tile = leg->tile,
                             .pieces = leg->pieces};

    trip.way = child.trip.way = 0;
    *drain = 0;
    *c = (struct kb_cost){0};
    if (!t->regular && t->plane_rows[trip.plane].in_parts && !walk_has_way(t, &trip))
        return 0; /* the run will not go on, either */
    *c = cost_by_tables(t, of->m, KB_READ, &trip, leg->nbytes);
    gbs = c->bottleneck_gbs < first ? c->bottleneck_gbs : first;
    *drain = drain_fs(leg->asked, gbs);
    if (memory->model == MEMORY_SERVER && memory->hold == HOLD_OWN)
        *drain = larger(*drain, drain_fs(leg->moved.bytes, cost_own_gbs(of->m, memory)));
    c->drain_fs = child.drain_fs = *drain;
    child.leg_gbs = gbs;
    cost_add_alone(idle, &child, c);
    return c->wire_fs + c->overhead_fs + c->drain_fs;
}

static void free_legs(struct legs *legs)
{
    for (uint32_t i = 0; i < legs->n; i++) {
        free(legs->rows[i].pieces);
        bank_tile_free(legs->rows[i].tile);
    }
    free(legs->rows);
}

/* The last end of all children; the wires and overheads of the lowest of these are those of all. */
static struct alone last_of(struct idle *idle, const struct alone_of *of, const struct legs *legs)
{
    const struct memory_row *l2 = cost_memory(of->t, of->trip.dst, false);
    int64_t last = 0, first = INT64_MAX, drain, end;
    uint64_t low = 0;
    struct alone alone = {0};
    struct kb_cost c;

    for (uint32_t i = 0; i < legs->n; i++) {
        const struct leg *leg = &legs->rows[i];

        if (leg->tile)
            bank_tile_end(leg->tile, &kind_at(of->t, dst_cube(of->t, leg->dst))->banks);
        end = end_of_leg(idle, of, leg, &c, &drain);
        first = end - drain < first ? end - drain : first;
        if (i == 0 || end > last || (end == last && leg->low < low)) {
            alone.wire_fs = c.wire_fs;
            low = leg->low;
        }
        last = larger(last, end);
    }
    alone.fs = larger(last, first + drain_fs(legs->asked, cost_last_gbs(of->m, l2)));
    return alone;
}

struct alone alone_in_l2(struct idle *idle, const struct alone_of *of)
{
    const struct memory_row *l2 = cost_memory(of->t, of->trip.dst, false);
    struct legs legs = {0};
    struct alone alone = {0};

    if (of->op == KB_READ && !add_all(of, &legs))
        alone.fs = INT64_MIN;
    else if (of->op == KB_READ)
        alone = last_of(idle, of, &legs);
    free_legs(&legs);
    if (alone.fs != INT64_MIN)
        alone.fs = cost_in_memory_fs(of->m, l2) + larger(alone.fs, of->drain_fs);
    return alone;
}
