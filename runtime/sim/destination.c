/* destination.c -- global addresses as targets: what lies there, and in how many parts. */
#include "sim/destination.h"
#include "engine/split.h"
#include "machine/endpoint.h"
#include <stdlib.h>
#include <string.h>

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

    if (offset <= size && nbytes <= size - offset)
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

/* -- multicasts ------------------------------------------------------------------------------- */

/* What does not depend on the targets. */
static kb_status check_multicast(const struct kb_topology *t, const kb_transaction *q,
                                 kb_error *why)
{
    const char *refused = branches_refused(t, q->op == KB_READ);

    if (refused)
        return endpoint_error(why, "%s", refused);
    if (q->op > KB_WRITE || q->src.kind != KB_PE)
        return endpoint_error(why, "a multicast is a write or a read of a PE");
    if (q->n_targets < 2 || q->n_targets > KB_TARGETS_MAX)
        return endpoint_error(why, "a multicast has 2 to %d targets, not %u", KB_TARGETS_MAX,
                              q->n_targets);
    if (q->by_address || q->rows > 1 || q->stride)
        return endpoint_error(why, "a multicast has an offset, the same in all targets, and no "
                                   "rows");
    return KB_OK;
}

static kb_status pack_target(const struct kb_sim *s, const kb_transaction *q, uint64_t id,
                             uint32_t i, struct target_at *target, kb_error *why)
{
    const struct kb_topology *t = s->topo;
    const kb_endpoint *to = &q->targets[i];
    uint32_t src, plane = q->plane ? q->plane - 1 : endpoint_plane(t, q->op, id + i);
    struct trip trip;

    if (!endpoint_pack(t, &q->src, &src, why) || !endpoint_pack(t, to, &target->dst, why))
        return KB_BAD_REQUEST;
    target->offset = q->offset;
    if (to->kind == KB_TCM)
        return endpoint_error(why, "a TCM is reached by kernels only");
    if (to->kind != q->targets[0].kind)
        return endpoint_error(why, "the targets of a multicast are all slices, or all SRAMs");
    if (endpoint_check_route(q->op, &q->src, to, why) != KB_OK ||
        !fits(t, to, q->offset, q->nbytes, why))
        return KB_BAD_REQUEST;
    return t->regular ? KB_OK
                      : endpoint_trip(t, q->op, &q->src, (const uint32_t[]){src, target->dst},
                                      plane, &trip, why);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static kb_status check_twice(const struct kb_topology *t, const struct targets *targets,
                             kb_error *why)
{
    uint32_t sorted[KB_TARGETS_MAX];
    char name[KB_ENDPOINT_BYTES];

    for (uint32_t i = 0; i < targets->n; i++)
        sorted[i] = targets->of[i].dst;
    qsort(sorted, targets->n, sizeof *sorted, by_number);
    for (uint32_t i = 1; i < targets->n; i++) {
        const kb_endpoint twice = endpoint_unpack_memory(t, sorted[i]);

        if (sorted[i] != sorted[i - 1])
            continue;
        kb_endpoint_name(&twice, name);
        return endpoint_error(why, "%s is a target twice", name);
    }
    return KB_OK;
}

kb_status destination_targets(struct kb_sim *s, const kb_transaction *q, uint64_t id,
                              const struct targets **out, kb_error *why)
{
    kb_status status = check_multicast(s->topo, q, why);
    struct targets *targets;

    if (status != KB_OK)
        return status;
    targets = split_begin(s) ? targets_new(s, q->n_targets) : NULL;
    if (!targets) {
        endpoint_error(why, "out of memory for the targets of a multicast");
        return KB_NO_MEMORY;
    }
    for (uint32_t i = 0; i < q->n_targets && status == KB_OK; i++)
        status = pack_target(s, q, id, i, &targets->of[i], why);
    *out = targets;
    return status == KB_OK ? check_twice(s->topo, targets, why) : status;
}

/* -- one -------------------------------------------------------------------------------------- */

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
