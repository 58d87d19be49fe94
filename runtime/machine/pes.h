/*
 * pes.h -- the numbers of PEs: 0, 1, ... in the order of SIP, cube and PE, of those that are there.
 *
 * Users, kernels and records count PEs by number; the engines use packed sources (cost.h), which
 * have gaps. Where every cube has all its PEs (`alike`, a constant to the compiler) a number is
 * cube * pes + pe. Elsewhere cube_rows has the PEs of the cubes before, and which PEs are there:
 * the rank of a PE in its cube is the number of bits below its own.
 *
 * Example: cube8 without c0.pe[1-2]. c0.pe3 is number 1, as its mask is 11111001; c1.pe0 is 6.
 */
#ifndef PES_H
#define PES_H
#include "machine/cost.h"

/* Is PE `pe` of the cube there? */
static inline bool cube_has_pe(const struct kb_topology *t, uint32_t cube, uint32_t pe)
{
    return t->alike ? pe < t->pes : pe_set_has(&t->cube_rows[cube].pes, pe);
}

static inline uint32_t cube_pe_count(const struct kb_topology *t, uint32_t cube)
{
    return t->alike ? t->pes : pe_set_count(&t->cube_rows[cube].pes);
}

/* The number of the first PE of `cube`; of the one past the last cube: how many there are. */
static inline uint32_t cube_first_pe(const struct kb_topology *t, uint32_t cube)
{
    return t->alike ? cube * t->pes : t->cube_rows[cube].first_pe;
}

static inline uint32_t pe_count(const struct kb_topology *t)
{
    return cube_first_pe(t, sim_cubes(t));
}

/* The number of the first slice of `cube`, in the same order; past the last, how many there are. */
static inline uint32_t cube_first_slice(const struct kb_topology *t, uint32_t cube)
{
    return t->alike ? cube * t->slices : t->cube_rows[cube].first_slice;
}

static inline uint32_t cube_slice_count(const struct kb_topology *t, uint32_t cube)
{
    return cube_first_slice(t, cube + 1) - cube_first_slice(t, cube);
}

static inline uint32_t slice_count(const struct kb_topology *t)
{
    return cube_first_slice(t, sim_cubes(t));
}

/* How many cubes before `cube` have PEs. */
static inline uint32_t cube_rank(const struct kb_topology *t, uint32_t cube)
{
    if (t->alike)
        return t->pes ? cube : 0;
    return t->cube_rows[cube].rank;
}

/* Cubes of a SIP that have PEs; SIPs before `sip` that have some. */
static inline uint32_t cubes_with_pes(const struct kb_topology *t, uint32_t sip)
{
    return cube_rank(t, (sip + 1) * t->cubes) - cube_rank(t, sip * t->cubes);
}

static inline uint32_t sip_rank(const struct kb_topology *t, uint32_t sip)
{
    uint32_t rank = 0;

    if (t->alike)
        return sip;
    for (uint32_t i = 0; i < sip; i++)
        rank += cubes_with_pes(t, i) > 0;
    return rank;
}

/* The rank in its cube of the PE with this packed source. */
static inline uint32_t pe_rank(const struct kb_topology *t, uint32_t src)
{
    return t->alike ? src_pe(t, src)
                    : pe_set_below(&t->cube_rows[src_cube(t, src)].pes, src_pe(t, src));
}

static inline uint32_t pe_number(const struct kb_topology *t, uint32_t src)
{
    return cube_first_pe(t, src_cube(t, src)) + pe_rank(t, src);
}

/* The last cube whose first PE is `number` or before it: the one that has that PE. */
static inline uint32_t pe_cube(const struct kb_topology *t, uint32_t number)
{
    uint32_t low = 0, high = sim_cubes(t);

    if (t->alike)
        return number / t->pes;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;

        if (t->cube_rows[middle].first_pe <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The packed source of PE `number`. */
static inline uint32_t pe_src(const struct kb_topology *t, uint32_t number)
{
    uint32_t cube = pe_cube(t, number), rank = number - cube_first_pe(t, cube);
    const uint64_t *words = t->alike ? NULL : t->cube_rows[cube].pes.words;
    uint32_t first = 0;
    uint64_t pes;

    if (t->alike)
        return src_pack(t, cube, rank);
    for (; rank >= (uint32_t)__builtin_popcountll(words[first / 64]); first += 64)
        rank -= (uint32_t)__builtin_popcountll(words[first / 64]);
    for (pes = words[first / 64]; rank > 0; rank--)
        pes &= pes - 1;
    return src_pack(t, cube, first + (uint32_t)__builtin_ctzll(pes));
}

/* The TCM of the PE `src`, packed. */
static inline uint32_t pe_tcm(const struct kb_topology *t, uint32_t src)
{
    return dst_pack(t, src_cube(t, src), unit_of_tcm(t, src_pe(t, src)));
}

/* The PE of a packed TCM, as a packed source. */
static inline uint32_t src_of_tcm(const struct kb_topology *t, uint32_t tcm)
{
    return src_pack(t, dst_cube(t, tcm), unit_pe(t, dst_unit(t, tcm)));
}

/* The home slice of the PE `src`, packed; NO_SLICE: it has none. */
#define NO_SLICE UINT32_MAX
static inline uint32_t pe_slice(const struct kb_topology *t, uint32_t src)
{
    uint32_t cube = src_cube(t, src);
    const struct cube_row *row = t->alike ? NULL : &t->cube_rows[cube];

    if (kind_at(t, cube)->slices)
        return dst_pack(t, cube, home_slice(t, cube, src_pe(t, src)));
    if (!row || row->home == NO_SLICE)
        return NO_SLICE;
    return dst_pack(t, row->home,
                    (row->home_rank + pe_rank(t, src)) % cube_slice_count(t, row->home));
}

/* Slices of all cubes in one row, with gaps where a cube has fewer than others. */
static inline uint32_t slice_index(const struct kb_topology *t, uint32_t dst)
{
    return dst_cube(t, dst) * t->slices + dst_unit(t, dst);
}

static inline uint32_t slice_indices(const struct kb_topology *t)
{
    return sim_cubes(t) * t->slices;
}

/* Products and elements that its engines can do at most, of a product's type with the rate 1. */
static inline double pe_gemm_macs_per_ns(const struct pe_row *pe)
{
    return (double)pe->mac[0] * pe->mac[1] * pe->mac[2] * pe->gemm_clock_ghz;
}

static inline double pe_math_elements_per_ns(const struct pe_row *pe)
{
    return pe->lanes * pe->math_clock_ghz;
}

#endif
