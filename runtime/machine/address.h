/* address.h -- global addresses: a memory, and an offset in it. */
#ifndef ADDRESS_H
#define ADDRESS_H
#include "machine/pes.h"

/* Bits 59..52 are the SIP, 51..38 the cube, 37..36 the region, 35..0 the offset. */
enum { ADDRESS_SIP = 52, ADDRESS_CUBE = 38, ADDRESS_REGION = 36 };

#define ADDRESS_REGION_BYTES (UINT64_C(1) << ADDRESS_REGION)

/* Bytes of one memory of that kind of `cube`. */
static inline uint64_t address_memory_bytes(const struct kb_topology *t, uint32_t cube,
                                            enum space space)
{
    const struct kind_row *kind = kind_at(t, cube);

    return space == SPACE_HBM    ? kind->hbm.nbytes
           : space == SPACE_SRAM ? kind->sram.nbytes
                                 : kind->tcm_read.nbytes;
}

static inline enum space address_space(uint64_t address)
{
    return (enum space)(address >> ADDRESS_REGION & 3);
}

static inline uint64_t address_offset(uint64_t address)
{
    return address & (ADDRESS_REGION_BYTES - 1);
}

/* The address of byte `offset` of memory `dst` (packed). */
static inline uint64_t address_of(const struct kb_topology *t, uint32_t dst, uint64_t offset)
{
    uint32_t cube = dst_cube(t, dst), unit = dst_unit(t, dst);
    uint64_t base = (uint64_t)(cube / t->cubes) << ADDRESS_SIP | (uint64_t)(cube % t->cubes)
                                                                     << ADDRESS_CUBE;

    if (unit_is_slice(t, unit))
        return base + unit * kind_at(t, cube)->hbm.nbytes + offset;
    if (!unit_is_tcm(t, unit))
        return base + ((uint64_t)SPACE_SRAM << ADDRESS_REGION) + offset;
    return base + ((uint64_t)SPACE_TCM << ADDRESS_REGION) +
           unit_pe(t, unit) * kind_at(t, cube)->tcm_read.nbytes + offset;
}

/* The memory of `address` and the byte in it; false: there is none. */
static inline bool address_find(const struct kb_topology *t, uint64_t address, uint32_t *dst,
                                uint64_t *offset)
{
    uint64_t sip = address >> ADDRESS_SIP, cube = address >> ADDRESS_CUBE & 0x3fff;
    uint64_t bytes = address_offset(address), unit;
    const struct kind_row *kind;

    if (sip >= t->sips || cube >= t->cubes)
        return false;
    cube += sip * t->cubes;
    if (!cube_is_there(t, (uint32_t)cube))
        return false;
    kind = kind_at(t, (uint32_t)cube);
    switch (address_space(address)) {
    case SPACE_HBM:
        unit = bytes / kind->hbm.nbytes;
        *offset = bytes - unit * kind->hbm.nbytes;
        if (unit >= kind->slices)
            return false;
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
        if (unit >= kind->pes || !(cube_pe_mask(t, (uint32_t)cube) >> unit & 1))
            return false;
        unit = unit_of_tcm(t, (uint32_t)unit);
        break;
    default:
        return false;
    }
    *dst = dst_pack(t, (uint32_t)cube, (uint32_t)unit);
    return true;
}

#endif
