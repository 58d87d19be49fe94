/* destination.c -- global addresses as targets: what lies there, and in how many parts. */
#include "sim/destination.h"
#include "engine/split.h"
#include "machine/endpoint.h"

typedef unsigned long long ull;

/* How many there are of a range, or one more than the most. */
static uint64_t count_range(const struct kb_topology *t, struct address_range range)
{
    uint64_t n = 0;

    for (; range.nbytes && n <= SPLIT_PARTS_MAX; n++)
        address_part(t, &range);
    return n;
}

/* Of interleaved addresses. */
static uint64_t count_parts(const struct kb_topology *t, uint64_t address, uint64_t nbytes,
                            kb_error *why)
{
    struct address_range range;
    bool there = address_range(t, address, nbytes, &range);
    uint64_t n = there ? count_range(t, range) : 0;

    if (n > SPLIT_PARTS_MAX)
        endpoint_error(why, "0x%llx + %llu bytes have more than %d parts", (ull)address,
                       (ull)nbytes, SPLIT_PARTS_MAX);
    if (!there)
        endpoint_error(why, "0x%llx + %llu bytes pass the end of the addresses of the %s",
                       (ull)address, (ull)nbytes, t->address_over == OVER_SIP ? "SIP" : "cube");
    return n > SPLIT_PARTS_MAX ? 0 : n;
}

/* In one memory, from byte `offset` of it on. */
static bool fits(const struct kb_topology *t, const kb_endpoint *memory, uint64_t offset,
                 uint64_t nbytes, kb_error *why)
{
    uint64_t size = kb_memory_bytes(t, memory);
    char name[KB_ENDPOINT_BYTES];

    if (nbytes <= size - offset)
        return true;
    kb_endpoint_name(memory, name);
    endpoint_error(why, "offset %llu + %llu bytes pass the end of %s, which holds %llu",
                   (ull)offset, (ull)nbytes, name, (ull)size);
    return false;
}

uint64_t kb_address_parts(const kb_topology *t, uint64_t address, uint64_t nbytes, kb_error *why)
{
    kb_endpoint memory;
    uint64_t offset;

    if (kb_address_find(t, address, &memory, &offset) != KB_OK) {
        endpoint_error(why, "0x%llx is the address of no byte of this topology", (ull)address);
        return 0;
    }
    if (address_is_interleaved(t, address))
        return count_parts(t, address, nbytes ? nbytes : 1, why);
    return fits(t, &memory, offset, nbytes, why);
}

kb_status destination_tile(const struct kb_topology *t, const kb_endpoint *src, uint32_t rows,
                           uint64_t stride, struct destination *to, kb_error *why)
{
    uint64_t row = rows ? to->nbytes / rows : to->nbytes, reach;

    if (rows < 2 && !stride)
        return KB_OK;
    if (rows > TILE_RUNS_MAX || rows == 0 || to->nbytes % rows)
        return endpoint_error(why, "%llu bytes are not cut into %u rows: 1 to %d, all alike",
                              (ull)to->nbytes, rows, TILE_RUNS_MAX);
    if (stride < row)
        return endpoint_error(why, "rows of %llu bytes, %llu apart: they overlap", (ull)row,
                              (ull)stride);
    if (__builtin_mul_overflow(stride, rows - 1, &reach) ||
        __builtin_add_overflow(reach, to->nbytes, &reach))
        return endpoint_error(why, "%u rows, %llu bytes apart, pass the end of all memories", rows,
                              (ull)stride);
    if (src->kind != KB_PE)
        return endpoint_error(why, "rows are moved by a PE, not by a host");
    to->tile = tile_of_rows(rows, to->nbytes, stride);
    if (to->tile.n > 1 && kind_at(t, src->sip * t->cubes + src->cube)->tiles != TILES_RUNS)
        return endpoint_error(why, "rows need a PE whose DMA moves them: set "
                                   "cube.pe.pe_dma.tiles to runs");
    return KB_OK;
}

kb_status destination_find(const struct kb_topology *t, struct destination *to, kb_error *why)
{
    uint64_t n;

    if (!to->by_address)
        return KB_OK;
    n = kb_address_parts(t, to->address, destination_reach(to), why);
    if (n == 0)
        return KB_BAD_REQUEST;
    to->interleaved = address_is_interleaved(t, to->address);
    return kb_address_find(t, to->address, &to->dst, &to->offset);
}

kb_status destination_parts(struct kb_sim *s, const struct txn *of, struct destination *to,
                            kb_error *why)
{
    const struct bytes_at bytes = destination_bytes(to);
    kb_status status = split_cut(s, of, &bytes);

    to->splits = split_goes_in_parts(s, &bytes);
    if (status == KB_NO_MEMORY)
        endpoint_error(why, "out of memory to cut a transaction into parts");
    if (status != KB_BAD_REQUEST)
        return status;
    if (s->parts.n)
        return endpoint_error(why, "%llu bytes have more than %d parts, by packets of %llu",
                              (ull)of->nbytes, SPLIT_PARTS_MAX,
                              (ull)kind_at(s->topo, src_cube(s->topo, of->src))->packet_bytes);
    return endpoint_error(why, "a row passes the end of the addresses");
}
