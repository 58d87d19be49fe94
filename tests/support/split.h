/* split.h -- random machines with interleaved addresses, and rows that are split over slices. */
#ifndef SUPPORT_SPLIT_H
#define SUPPORT_SPLIT_H
#include "judge/kernel.h"
#include "support/rig.h"

enum { MOST_PARTS = 24 }; /* of a row */

/* Not inlined, as gcc 12 takes what open_memstream() sets for dangling then. */
static __attribute__((noinline, unused)) char *plain_topo(void (*machine)(FILE *, uint64_t),
                                                          uint64_t seed)
{
    return printed(machine, seed);
}

/* Which interleavings a machine may have: docs/formats.md "Topology YAML". */
struct splits {
    bool over_sip, hash;
};

static inline struct splits splits_of(const struct judge_topo *t)
{
    uint32_t slices = judge_count(t, "cube.hbm.slices"), pes = judge_count(t, "cube.pes");
    uint32_t size_gb = 0, n = 0, base = slices ? slices : pes;
    struct splits can = {.over_sip = true, .hash = !(base & (base - 1))};

    for (uint32_t i = 0; i < t->sips * t->cubes; i++) {
        uint32_t sip = i / t->cubes, cube = i % t->cubes, mine, gb;

        if (!judge_has_cube(t, sip, cube))
            continue;
        mine = judge_slices(t, sip, cube);
        gb = judge_cube_count(t, sip, cube, "cube.hbm.size_gb");
        can.hash = can.hash && !(mine & (mine - 1));
        can.over_sip = can.over_sip && (n == 0 || (mine == n && gb == size_gb));
        n = mine;
        size_gb = gb;
    }
    return can;
}

/* The YAML of a random machine, with interleaved addresses. */
static __attribute__((noinline, unused)) char *random_split_topo(void (*machine)(FILE *, uint64_t),
                                                                 uint64_t seed, uint64_t *dice)
{
    static const uint64_t granules[] = {64, 128, 4096, 4096, 65536};
    char *plain = plain_topo(machine, seed), *space, *yaml = NULL;
    struct judge_topo *t = judge_load_text(plain);
    struct splits can = splits_of(t);
    const char *over = draw(dice) % 2 && can.over_sip ? "sip" : "cube";
    const char *hash = draw(dice) % 2 && can.hash ? "xor" : "none";
    uint64_t granule = granules[draw(dice) % LENGTH(granules)];

    judge_free(t);
    assert_true(asprintf(&yaml, "%saddressing: {granule: %" PRIu64 ", over: %s, hash: %s}\n", plain,
                         granule, over, hash) > 0);
    if (draw(dice) % 2 && strncmp(yaml, "kernbench: 1", 12) == 0)
        yaml[11] = '2'; /* memories that are free early */
    space = strstr(yaml, "space: hbm");
    if (space)
        memcpy(space, "space: tcm", strlen("space: tcm"));
    free(plain);
    return yaml;
}

/* Gives many rows the address of a byte in the cube of their target, and several parts. */
static inline void use_addresses(const struct judge_topo *t, struct judge_row *rows, size_t n,
                                 uint64_t *dice)
{
    uint64_t granule = judge_count(t, "addressing.granule"), most = MOST_PARTS * granule;

    for (size_t i = 0; i < n; i++) {
        struct judge_row *row = &rows[i];
        uint64_t nbytes = 1 + draw(dice) % most, offset, room;
        struct judge_end any;

        if (row->dst.kind != JUDGE_SLICE || draw(dice) % 4 == 0)
            continue;
        room = judge_memory_bytes(t, &row->dst) * judge_slices(t, row->dst.sip, row->dst.cube);
        if (draw(dice) % 2)
            nbytes = (nbytes + granule - 1) / granule * granule;
        row->nbytes = nbytes;
        offset = draw(dice) % 4 ? draw(dice) % 8 * granule : draw(dice) % room;
        if (offset > room - nbytes)
            offset = room - nbytes;
        row->rows = 0; /* no tile any more */
        row->stride = 0;
        row->by_address = true;
        row->n_targets = 0;
        row->address = judge_base(t, row->dst.sip, row->dst.cube, 0) | offset;
        row->offset = 0;
        assert_true(judge_memory_at(t, row->address, &any, &offset));
        row->dst = any;
    }
}

#endif
