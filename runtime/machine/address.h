/*
 * address.h -- global addresses: a memory and a byte in it, and the map that interleaves slices.
 *
 * Bits 59..52 of an address are the SIP, 51..38 the cube, 37..36 the region (HBM, SRAM, TCM), 35..0
 * the offset; in version 3 of the keys all lie 4 bits higher, and the offset has 40 bits. Where
 * slices are contiguous (addressing.granule 0), slice s begins at offset s times its size. With a
 * granule, blocks of that size go round the slices. Let o be the offset, or with `over: sip` k *
 * size + offset, where k is the rank of the cube in its SIP and size the bytes of the slices of a
 * cube; n the slices of a cube, C the cubes of the SIP that have some:
 *
 *     block    b = o / granule
 *     over: cube     r = b / n                       over: sip     q = b / n, cube q mod C, r = q /
 * C slice    b mod n; with hash: xor (b mod n) ^ (r mod n) byte     r * granule + o mod granule
 *
 * So r numbers the blocks inside a slice, and the map is a bijection: address_of() goes back.
 *
 * Example: cube8 with granule 4096. 0x8000 is block 8, r = 1: slice 0, byte 4096. With hash xor it
 * is slice 0 ^ 1 = 1. With over: sip it is q = 1: slice 0 of cube 1, byte 0; 0x40000 is block 64, q
 * = 8, cube 0 again, r = 1: c0.slice0, byte 4096.
 *
 * A range is cut into parts: first into packets, if it has some, then each packet into one part for
 * each run of blocks in one slice: address_part().
 */
#ifndef ADDRESS_H
#define ADDRESS_H
#include "machine/pes.h"

/* The lowest bits of the parts of an address. */
static inline uint32_t address_region_bit(const struct kb_topology *t)
{
    return t->offset_bits;
}

static inline uint32_t address_cube_bit(const struct kb_topology *t)
{
    return t->offset_bits + 2u;
}

static inline uint32_t address_sip_bit(const struct kb_topology *t)
{
    return t->offset_bits + 16u;
}

/* Bytes that offsets count. */
static inline uint64_t address_region_bytes(const struct kb_topology *t)
{
    return UINT64_C(1) << t->offset_bits;
}

/* Bytes of one memory of that kind of `cube`. */
static inline uint64_t address_memory_bytes(const struct kb_topology *t, uint32_t cube,
                                            enum space space)
{
    const struct kind_row *kind = kind_at(t, cube);

    return space == SPACE_HBM    ? kind->hbm.nbytes
           : space == SPACE_SRAM ? kind->sram.nbytes
                                 : kind->tcm_read.nbytes;
}

static inline enum space address_space(const struct kb_topology *t, uint64_t address)
{
    return (enum space)(address >> address_region_bit(t) & 3);
}

static inline uint64_t address_offset(const struct kb_topology *t, uint64_t address)
{
    return address & (address_region_bytes(t) - 1);
}

/* Bytes of all slices of a cube. */
static inline uint64_t address_cube_bytes(const struct kb_topology *t, uint32_t cube)
{
    return cube_slice_count(t, cube) * kind_at(t, cube)->hbm.nbytes;
}

/* Cubes before `cube` that are there, over all SIPs: each has slices. */
static inline uint32_t address_cubes_before(const struct kb_topology *t, uint32_t cube)
{
    return t->alike ? cube : t->cube_rows[cube].before;
}

/* Cubes of the SIP of `cube` that are there; its rank among them, and the one of a rank. */
static inline uint32_t address_cubes(const struct kb_topology *t, uint32_t cube)
{
    uint32_t first = cube / t->cubes * t->cubes;

    return address_cubes_before(t, first + t->cubes) - address_cubes_before(t, first);
}

static inline uint32_t address_rank(const struct kb_topology *t, uint32_t cube)
{
    return address_cubes_before(t, cube) - address_cubes_before(t, cube / t->cubes * t->cubes);
}

static inline uint32_t address_cube_of_rank(const struct kb_topology *t, uint32_t sip,
                                            uint32_t rank)
{
    uint32_t low = sip * t->cubes, high = low + t->cubes, wanted;

    if (t->alike)
        return low + rank;
    wanted = address_cubes_before(t, low) + rank;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;

        if (address_cubes_before(t, middle) <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The address of a cube (over all SIPs). */
static inline uint64_t address_base(const struct kb_topology *t, uint32_t cube)
{
    return (uint64_t)(cube / t->cubes) << address_sip_bit(t) | (uint64_t)(cube % t->cubes)
                                                                   << address_cube_bit(t);
}

/* -- interleaved slices --------------------------------------------------------------------- */

/* Bytes without a gap: of one cube, or of all cubes of a SIP one after the other. */
struct interleaved {
    uint32_t cube;  /* the first, over all SIPs */
    uint64_t bytes; /* of all */
};

static inline struct interleaved interleaved_of(const struct kb_topology *t, uint32_t cube)
{
    if (t->address_over == OVER_CUBE)
        return (struct interleaved){cube, address_cube_bytes(t, cube)};
    return (struct interleaved){address_cube_of_rank(t, cube / t->cubes, 0),
                                address_cubes(t, cube) * address_cube_bytes(t, cube)};
}

/* The byte of that space at offset `offset` of a cube's HBM. */
static inline uint64_t address_linear(const struct kb_topology *t, uint32_t cube, uint64_t offset)
{
    if (t->address_over == OVER_CUBE)
        return offset;
    return address_rank(t, cube) * address_cube_bytes(t, cube) + offset;
}

/* The slice of byte `o` of the space of `cube`, and the byte in it. */
static inline uint32_t address_map(const struct kb_topology *t, uint32_t cube, uint64_t o,
                                   uint64_t *byte)
{
    uint64_t block = o / t->granule, n = cube_slice_count(t, cube), row = block / n;
    uint32_t slice = (uint32_t)(block % n);

    if (t->address_over == OVER_SIP) {
        uint32_t cubes = address_cubes(t, cube);

        cube = address_cube_of_rank(t, cube / t->cubes, (uint32_t)(row % cubes));
        row /= cubes;
    }
    if (t->address_hash == HASH_XOR)
        slice ^= (uint32_t)(row % n);
    *byte = row * t->granule + o % t->granule;
    return dst_pack(t, cube, slice);
}

/* And back: the address of byte `byte` of a slice. */
static inline uint64_t address_unmap(const struct kb_topology *t, uint32_t dst, uint64_t byte)
{
    uint32_t cube = dst_cube(t, dst), slice = dst_unit(t, dst);
    uint64_t row = byte / t->granule, n = cube_slice_count(t, cube);
    uint64_t o;

    if (t->address_hash == HASH_XOR)
        slice ^= (uint32_t)(row % n);
    if (t->address_over == OVER_SIP)
        row = row * address_cubes(t, cube) + address_rank(t, cube);
    o = (row * n + slice) * t->granule + byte % t->granule;
    if (t->address_over == OVER_SIP) {
        uint64_t bytes = address_cube_bytes(t, cube);

        cube = address_cube_of_rank(t, cube / t->cubes, (uint32_t)(o / bytes));
        o %= bytes;
    }
    return address_base(t, cube) + o;
}

/* -- all memories --------------------------------------------------------------------------- */

/* The address of byte `offset` of memory `dst` (packed). */
static inline uint64_t address_of(const struct kb_topology *t, uint32_t dst, uint64_t offset)
{
    uint32_t cube = dst_cube(t, dst), unit = dst_unit(t, dst);
    uint64_t base = address_base(t, cube);

    if (unit_is_slice(t, unit))
        return t->granule ? address_unmap(t, dst, offset)
                          : base + unit * kind_at(t, cube)->hbm.nbytes + offset;
    if (!unit_is_tcm(t, unit))
        return base + ((uint64_t)SPACE_SRAM << address_region_bit(t)) + offset;
    return base + ((uint64_t)SPACE_TCM << address_region_bit(t)) +
           unit_pe(t, unit) * kind_at(t, cube)->tcm_read.nbytes + offset;
}

/* The cube of `address`, over all SIPs; false: there is none. */
static inline bool address_cube(const struct kb_topology *t, uint64_t address, uint32_t *cube)
{
    uint64_t sip = address >> address_sip_bit(t), number = address >> address_cube_bit(t) & 0x3fff;

    *cube = (uint32_t)(sip * t->cubes + number);
    return sip < t->sips && number < t->cubes && cube_is_there(t, *cube);
}

/* The memory of `address` and the byte in it; false: there is none. */
static inline bool address_find(const struct kb_topology *t, uint64_t address, uint32_t *dst,
                                uint64_t *offset)
{
    uint64_t bytes = address_offset(t, address), unit;
    const struct kind_row *kind;
    uint32_t cube;

    if (!address_cube(t, address, &cube))
        return false;
    kind = kind_at(t, cube);
    switch (address_space(t, address)) {
    case SPACE_HBM:
        if (bytes >= address_cube_bytes(t, cube))
            return false;
        if (t->granule) {
            *dst = address_map(t, cube, address_linear(t, cube, bytes), offset);
            return true;
        }
        unit = bytes / kind->hbm.nbytes;
        *offset = bytes - unit * kind->hbm.nbytes;
        break;
    case SPACE_SRAM:
        unit = unit_of_sram(t);
        *offset = bytes;
        if (bytes >= kind->sram.nbytes)
            return false;
        break;
    case SPACE_TCM:
        unit = bytes / kind->tcm_read.nbytes;
        *offset = bytes - unit * kind->tcm_read.nbytes;
        if (unit >= kind->pes || !cube_has_pe(t, cube, (uint32_t)unit))
            return false;
        unit = unit_of_tcm(t, (uint32_t)unit);
        break;
    default:
        return false;
    }
    *dst = dst_pack(t, cube, (uint32_t)unit);
    return true;
}

/* Do the addresses of this memory go round slices? SRAMs and TCMs are not interleaved. */
static inline bool address_is_interleaved(const struct kb_topology *t, uint64_t address)
{
    return t->granule && address_space(t, address) == SPACE_HBM;
}

/*
 * The area of an address: addresses without a gap, whose bytes are kept together. It is a memory;
 * of interleaved addresses all slices of a cube, and named by the first of them.
 */
static inline bool address_find_area(const struct kb_topology *t, uint64_t address, uint32_t *area,
                                     uint64_t *offset)
{
    uint32_t cube;

    if (!address_is_interleaved(t, address))
        return address_find(t, address, area, offset);
    *offset = address_offset(t, address);
    if (!address_cube(t, address, &cube) || *offset >= address_cube_bytes(t, cube))
        return false;
    *area = dst_pack(t, cube, 0);
    return true;
}

/* Bytes of one area of that kind of `cube`. */
static inline uint64_t address_area_bytes(const struct kb_topology *t, uint32_t cube,
                                          enum space space)
{
    return space == SPACE_HBM && t->granule ? address_cube_bytes(t, cube)
                                            : address_memory_bytes(t, cube, space);
}

/* -- parts of a range ----------------------------------------------------------------------- */

/* Bytes of a range that are still to be cut: of interleaved addresses, or of one memory. */
struct address_range {
    bool in_memory;
    uint32_t of; /* the memory; of addresses the cube of the space */
    uint64_t at, nbytes;
    uint64_t packet, left; /* bytes of a packet, and those that this one lacks */
};

/* Bytes of a range that lie together in one memory. */
struct address_part {
    uint32_t dst;
    bool begins; /* a packet */
    uint64_t offset, nbytes;
};

#define ADDRESS_WHOLE UINT64_MAX /* a packet that holds any range */

/* `nbytes` from byte `offset` of a memory on, not cut. */
static inline struct address_range address_in_memory(uint32_t dst, uint64_t offset, uint64_t nbytes)
{
    return (struct address_range){true, dst, offset, nbytes, ADDRESS_WHOLE, ADDRESS_WHOLE};
}

/*
 * The range of `nbytes` that begins at an interleaved address, one packet; false: part of it is no
 * address. A range may go on from one cube to the next if its SIP is interleaved.
 */
static inline bool address_range(const struct kb_topology *t, uint64_t address, uint64_t nbytes,
                                 struct address_range *range)
{
    uint64_t offset = address_offset(t, address);
    struct interleaved space;
    uint32_t cube;

    if (!address_cube(t, address, &cube) || offset >= address_cube_bytes(t, cube))
        return false;
    space = interleaved_of(t, cube);
    *range = (struct address_range){.of = space.cube,
                                    .at = address_linear(t, cube, offset),
                                    .nbytes = nbytes,
                                    .packet = ADDRESS_WHOLE,
                                    .left = ADDRESS_WHOLE};
    return nbytes <= space.bytes - range->at;
}

/* How many of the first `most` bytes of a range of addresses follow in the slice of the first. */
static inline uint64_t address_run(const struct kb_topology *t, const struct address_range *range,
                                   uint64_t most, uint32_t dst)
{
    uint64_t n = t->granule - range->at % t->granule, byte;

    if (interleaved_of(t, range->of).bytes == kind_at(t, range->of)->hbm.nbytes)
        return most; /* there is no other */
    while (n < most && address_map(t, range->of, range->at + n, &byte) == dst)
        n += t->granule;
    return n < most ? n : most;
}

/* Takes the first part off a range that has bytes left: what follows of its packet in one memory.
 */
static inline struct address_part address_part(const struct kb_topology *t,
                                               struct address_range *range)
{
    struct address_part part = {range->of, range->left == range->packet, range->at, range->nbytes};

    if (part.nbytes > range->left)
        part.nbytes = range->left;
    if (!range->in_memory) {
        part.dst = address_map(t, range->of, range->at, &part.offset);
        part.nbytes = address_run(t, range, part.nbytes, part.dst);
    }
    range->at += part.nbytes;
    range->nbytes -= part.nbytes;
    range->left -= part.nbytes;
    if (range->left == 0)
        range->left = range->packet;
    return part;
}

#endif
