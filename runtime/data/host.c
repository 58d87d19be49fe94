/* host.c -- tensors of the host: placed over HBM slices, filled, read back, compared.
 *
 * A tensor is cut twice: over all cubes, then each cube's part over its PEs. Part i of n of an axis
 * of D elements is [i * D / n, (i + 1) * D / n), rounded down. For example, on 8 cubes of 8 PEs, a
 * tensor of 10 rows, row-wise both times: cube 3 has rows 3 and 4, of which its PE 3 has row 3 and
 * its PE 7 row 4. The other PEs of the cube have no part.
 *
 * Each PE's part is contiguous in its slice, at the next free multiple of 256 bytes. Writing a
 * tensor makes one version for each different part: PEs with copies of a part share its version.
 * All versions, and the room for them in the maps of the memories, are made before the first is
 * written, so that a write without memory changes nothing.
 *
 * What a tensor is filled with by a rule (random numbers, a range) is made when it is first read,
 * by a kernel or by the host: most runs read none of it. With Phase 2, which computes from it in
 * several threads, it is made at once; if the run may end early, by a bound on its events, just
 * before Phase 2: `run gemm M=16384 N=16384 K=16384 --verify --max-events 1000` need not make 2^29
 * numbers.
 *
 * Addresses, in `run softmax` on cube8, whose slices have 6442450944 bytes each. x is 256 x 256 in
 * f16, row-wise over cubes and PEs, so each PE has 4 rows of 512 bytes: PE 3 of cube 0 has rows 12
 * to 15, at 3 * 6442450944 = 19327352832, the beginning of its slice. y lies behind x: its part
 * begins at offset 2048 of every slice.
 *
 * If slices are interleaved (addressing.granule), a part is contiguous in addresses instead, and
 * may lie in several slices: at the next free multiple of 256 among the addresses of the PE's cube,
 * or with `over: sip` of its SIP. A *space* is what such parts share: a slice, the slices of a
 * cube, or those of a SIP. No part goes on from one cube to the next.
 *
 * Invariants:
 *   - An offset is the same in memory and in tensor->offsets for the life of the simulation:
 *     tensors are placed in the order in which they are made, and none is removed.
 *   - The host waits while kernels run: it neither makes, nor writes tensors then
 * (host_check_idle()).
 *   - Reading needs every byte of every part: a byte that was never written is an error with its
 *     address, and a result that Phase 2 has not computed is KB_PENDING.
 */
#include "data/host.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "data/dtype.h"
#include "data/host_parts.h"
#include "machine/address.h"
#include "machine/endpoint.h"

/* -- global addresses ----------------------------------------------------------------------- */

/* An offset has so many bits, and the TCMs of a cube together must not be larger. */
static bool has_address(const struct kb_topology *t, const kb_endpoint *m, uint64_t offset)
{
    uint64_t nbytes = kb_memory_bytes(t, m), units = m->kind == KB_SRAM    ? 1
                                                     : m->kind == KB_SLICE ? t->slices
                                                                           : t->pes;

    return m->sip < t->sips && m->cube < t->cubes && m->unit < units && offset < nbytes &&
           m->unit * nbytes + offset < address_region_bytes(t);
}

uint64_t kb_address(const kb_topology *t, const kb_endpoint *m, uint64_t offset)
{
    uint32_t cube = m->sip * t->cubes + m->cube, unit = m->unit;

    if (!has_address(t, m, offset))
        return NO_ADDRESS;
    if (m->kind != KB_SLICE)
        unit = m->kind == KB_SRAM ? unit_of_sram(t) : unit_of_tcm(t, m->unit);
    return address_of(t, dst_pack(t, cube, unit), offset);
}

kb_status kb_address_find(const kb_topology *t, uint64_t address, kb_endpoint *memory,
                          uint64_t *offset)
{
    REFUSE_NULL(t && memory && offset, "topo, memory, offset", NULL);
    uint32_t dst;

    if (!address_find(t, address, &dst, offset))
        return KB_BAD_REQUEST;
    *memory = endpoint_unpack_memory(t, dst);
    return KB_OK;
}

/* -- the host ------------------------------------------------------------------------------- */

enum { TENSOR_ALIGNMENT = 256 };

uint32_t host_pes_of(const struct host *h)
{
    return pe_count(h->topo);
}

static void host_tensor_free(struct kb_tensor *tensor)
{
    for (size_t i = 0; i < tensor->n_shown; i++)
        version_drop(tensor->shown[i]);
    free(tensor->shown);
    free(tensor->name);
    free(tensor->offsets);
    free(tensor);
}

void host_free(struct host *h)
{
    if (!h)
        return;
    while (h->tensors) {
        struct kb_tensor *tensor = h->tensors;

        h->tensors = tensor->next;
        host_tensor_free(tensor);
    }
    mem_free(h->mem);
    free(h->used);
    free(h);
}

void host_wait(struct host *h, bool waits)
{
    h->waits = waits;
}

void host_fill_now(struct host *h)
{
    h->fills_now = true;
}

uint64_t host_slice_used(const struct host *h, uint32_t slice)
{
    return h ? h->used[slice_index(h->topo, slice)] : 0;
}

/* -- spaces: a slice of a PE, or interleaved addresses -------------------------------------- */

/* The cube of its home slice. */
static uint32_t home_cube(const struct kb_topology *t, uint32_t pe)
{
    return dst_cube(t, pe_slice(t, pe_src(t, pe)));
}

/* The space in which the parts of `pe` lie: its home slice, or the first slice of the addresses. */
static uint32_t space_of(const struct kb_topology *t, uint32_t pe)
{
    if (!t->granule)
        return pe_slice(t, pe_src(t, pe));
    return dst_pack(t, interleaved_of(t, home_cube(t, pe)).cube, 0);
}

/* The PEs of a space are among these: those of its cube, or of its SIP. */
static uint32_t first_pe_of_space(const struct kb_topology *t, uint32_t space)
{
    return cube_first_pe(t, dst_cube(t, space));
}

static uint32_t end_pe_of_space(const struct kb_topology *t, uint32_t space)
{
    bool of_sip = t->granule && t->address_over == OVER_SIP;
    uint32_t cube = dst_cube(t, space);

    return cube_first_pe(t, of_sip || !cube_pe_count(t, cube) ? (cube / t->cubes + 1) * t->cubes
                                                              : cube + 1);
}

/* Its bytes without a gap in addresses, and how many such pieces it has. */
static uint64_t piece_bytes(const struct kb_topology *t, uint32_t cube)
{
    return t->granule ? address_cube_bytes(t, cube) : kind_at(t, cube)->hbm.nbytes;
}

static uint64_t pieces_of(const struct kb_topology *t, uint32_t cube)
{
    return t->granule && t->address_over == OVER_SIP ? address_cubes(t, cube) : 1;
}

/* The address of byte `offset` of the space of `pe`; its area in the MemoryStore. */
static uint64_t space_address(const struct kb_topology *t, uint32_t pe, uint64_t offset)
{
    uint32_t cube = home_cube(t, pe);

    if (!t->granule)
        return address_of(t, space_of(t, pe), offset);
    if (t->address_over == OVER_SIP) {
        uint64_t bytes = piece_bytes(t, cube);

        cube = address_cube_of_rank(t, cube / t->cubes, (uint32_t)(offset / bytes));
        offset %= bytes;
    }
    return address_base(t, cube) + offset;
}

static uint32_t area_at(const struct kb_topology *t, uint64_t address)
{
    uint64_t offset;
    uint32_t area = 0;

    address_find_area(t, address, &area, &offset);
    return area;
}

static uint64_t aligned(uint64_t offset)
{
    return (offset + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
}

/* The first place for `nbytes` in a space of which `used` bytes are taken; NO_ADDRESS: none. */
static uint64_t next_place(const struct kb_topology *t, uint32_t cube, uint64_t used,
                           uint64_t nbytes)
{
    uint64_t room = piece_bytes(t, cube), piece = used / room, offset = aligned(used % room);

    if (piece < pieces_of(t, cube) && (offset > room || nbytes > room - offset)) {
        piece++;
        offset = 0;
    }
    if (piece >= pieces_of(t, cube) || nbytes > room)
        return NO_ADDRESS;
    return piece * room + offset;
}

static struct host *host_new(const struct kb_topology *topo)
{
    struct host *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->topo = topo;
    h->mem = mem_new(sim_cubes(topo) << topo->unit_bits);
    h->used = calloc(slice_indices(topo), sizeof *h->used);
    if (h->mem && h->used)
        return h;
    host_free(h);
    return NULL;
}

/* *host, made if there is none; NULL without memory. */
static struct host *host_of(struct host **host, const struct kb_topology *topo)
{
    if (!*host)
        *host = host_new(topo);
    return *host;
}

struct mem *host_mem(struct host **host, const struct kb_topology *topo)
{
    struct host *h = host_of(host, topo);

    return h ? h->mem : NULL;
}

/* -- parts of a tensor ---------------------------------------------------------------------- */

/*
 * Replaces `p` by part `i` of `n` of it. Cutting rounds down at both ends, so that parts never
 * overlap and leave no gap: 10 rows over 8 cubes are 1, 1, 1, 2, 1, 1, 1, 2 rows. Row-wise cuts
 * the first axis, column-wise the last one. The last one is cut at whole cells: 10 columns of i4
 * over 2 are 4 and 6.
 */
static void part_cut(const struct kb_tensor *tensor, struct part *p, kb_placement_split split,
                     uint32_t i, uint32_t n)
{
    int64_t axis, cell, d, each, rest, first, end;

    if (split == KB_REPLICATE)
        return;
    axis = split == KB_ROW_WISE ? 0 : p->shape.rank - 1;
    cell = axis == p->shape.rank - 1 ? dtype_of_cell(tensor->dtype) : 1;
    d = p->shape.dim[axis] / cell;
    each = d / n;
    rest = d - each * n;
    first = end = each * i;
    end += each;
    if (rest) { /* i * d / n without overflow */
        first += rest * i / n;
        end += rest * (i + 1) / n;
    }
    p->first[axis] += first * cell;
    p->shape.dim[axis] = (end - first) * cell;
}

struct part host_part_of(const struct kb_tensor *tensor, uint32_t pe)
{
    const struct kb_topology *t = tensor->host->topo;
    struct part p = {.shape = tensor->shape};

    uint32_t cube = pe_cube(t, pe);

    part_cut(tensor, &p, tensor->placement.cubes, cube_rank(t, cube), cube_rank(t, sim_cubes(t)));
    part_cut(tensor, &p, tensor->placement.pes, pe - cube_first_pe(t, cube),
             cube_pe_count(t, cube));
    return p;
}

/* The first PE that has the same part as `pe`: replicated parts share one version. */
uint32_t host_first_with_part(const struct kb_tensor *tensor, uint32_t pe)
{
    const struct kb_topology *t = tensor->host->topo;
    bool cut = tensor->placement.pes != KB_REPLICATE;
    uint32_t own = pe_cube(t, pe), cube = own, n = cube_pe_count(t, own);

    if (tensor->placement.cubes == KB_REPLICATE)
        for (cube = 0; cut ? cube_pe_count(t, cube) != n : cube_pe_count(t, cube) == 0;)
            cube++;
    return cube_first_pe(t, cube) + (cut ? pe - cube_first_pe(t, own) : 0);
}

/* Whether another PE, before this one, has all of its part. */
bool host_is_copy(const struct kb_tensor *tensor, uint32_t pe)
{
    const struct kb_topology *t = tensor->host->topo;
    uint32_t cube = pe_cube(t, pe);

    return (tensor->placement.cubes == KB_REPLICATE && cube_rank(t, cube) > 0) ||
           (tensor->placement.pes == KB_REPLICATE && pe > cube_first_pe(t, cube));
}

/* The bytes of a tensor; false if they are more than 2^63. */
static bool shape_bytes(kb_dtype dtype, const kb_shape *shape, uint64_t *nbytes)
{
    int64_t n = (int64_t)dtype_cell(dtype);

    for (int64_t i = 0; i < shape->rank; i++)
        if (__builtin_mul_overflow(n, shape->dim[i], &n))
            return false;
    *nbytes = (uint64_t)n / dtype_of_cell(dtype);
    return true;
}

uint64_t host_part_bytes(const struct kb_tensor *tensor, const struct part *p)
{
    uint64_t nbytes = 0;

    shape_bytes(tensor->dtype, &p->shape, &nbytes); /* not more than the whole: no overflow */
    return nbytes;
}

/*
 * Copies a part that is not empty out of the whole tensor or into it, row by row: a row, along the
 * last axis, is contiguous in both. `at` counts the other axes like an odometer, and `whole` moves
 * with it by the strides of the whole tensor.
 */
void host_copy_part(const struct kb_tensor *tensor, const struct part *p, unsigned char *whole,
                    unsigned char *part, bool out)
{
    uint64_t stride[KB_RANK_MAX], line;
    int64_t last = tensor->shape.rank - 1, axis, at[KB_RANK_MAX] = {0};
    uint64_t row = dtype_size(tensor->dtype, (uint64_t)p->shape.dim[last]);

    line = dtype_size(tensor->dtype, (uint64_t)tensor->shape.dim[last]);
    whole += dtype_size(tensor->dtype, (uint64_t)p->first[last]);
    for (axis = last - 1; axis >= 0; line *= (uint64_t)tensor->shape.dim[axis--]) {
        stride[axis] = line;
        whole += line * (uint64_t)p->first[axis];
    }
    do {
        memcpy(out ? part : whole, out ? whole : part, row);
        part += row;
        for (axis = last - 1; axis >= 0; axis--) {
            whole += stride[axis];
            if (++at[axis] < p->shape.dim[axis])
                break;
            whole -= stride[axis] * (uint64_t)at[axis];
            at[axis] = 0;
        }
    } while (axis >= 0);
}

/* -- making a tensor ------------------------------------------------------------------------ */

kb_status host_no_memory(const char *name, kb_error *why)
{
    endpoint_error(why, "out of memory for tensor '%.64s'", name);
    return KB_NO_MEMORY;
}

/* While kernels run the host waits: it neither makes nor writes tensors. */
kb_status host_check_idle(const struct host *h, kb_error *why)
{
    return h && h->waits ? endpoint_error(why, "a launch is under way") : KB_OK;
}

static kb_status check_tensor(const char *name, kb_dtype dtype, const kb_shape *shape,
                              kb_placement placement, kb_error *why)
{
    if (!dtype_cell(dtype))
        return endpoint_error(why, "tensor '%.64s' has no type", name);
    if (shape->rank < 1 || shape->rank > KB_RANK_MAX)
        return endpoint_error(why, "tensor '%.64s' has rank %" PRId64 "; 1 to %d are possible",
                              name, shape->rank, KB_RANK_MAX);
    for (int64_t i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 1)
            return endpoint_error(why, "tensor '%.64s' has an extent of %" PRId64, name,
                                  shape->dim[i]);
    if (shape->dim[shape->rank - 1] % dtype_of_cell(dtype))
        return endpoint_error(
            why, "tensor '%.64s' has rows of %" PRId64 " elements: the last extent of i4 is even",
            name, shape->dim[shape->rank - 1]);
    if ((unsigned)placement.cubes > KB_COLUMN_WISE || (unsigned)placement.pes > KB_COLUMN_WISE)
        return endpoint_error(why, "tensor '%.64s' has a placement that does not exist", name);
    return KB_OK;
}

static kb_status space_is_full(const struct kb_tensor *tensor, uint32_t pe, uint64_t used,
                               uint64_t nbytes, kb_error *why)
{
    const struct kb_topology *t = tensor->host->topo;
    char name[KB_ENDPOINT_BYTES];

    endpoint_area_name(t, area_at(t, space_address(t, pe, 0)), name);
    return endpoint_error(why,
                          "tensor '%.64s' does not fit: %s holds %" PRIu64 " bytes, %" PRIu64
                          " are taken, its part has %" PRIu64,
                          tensor->name, name, piece_bytes(t, home_cube(t, pe)), used, nbytes);
}

/* Finds room for every part, and takes it in `used`. */
static kb_status place_parts(struct kb_tensor *tensor, uint64_t *used, kb_error *why)
{
    const struct kb_topology *t = tensor->host->topo;

    for (uint32_t pe = 0; pe < host_pes_of(tensor->host); pe++) {
        struct part p = host_part_of(tensor, pe);
        uint64_t nbytes = host_part_bytes(tensor, &p);

        if (pe_slice(t, pe_src(t, pe)) == NO_SLICE)
            return endpoint_error(why,
                                  "tensor '%.64s' has a part for PE %" PRIu32
                                  ", and no cube of its SIP has slices",
                                  tensor->name, pe);
        uint64_t *end = &used[slice_index(t, space_of(t, pe))];

        tensor->offsets[pe] = nbytes ? next_place(t, home_cube(t, pe), *end, nbytes) : NO_ADDRESS;
        if (nbytes && tensor->offsets[pe] == NO_ADDRESS)
            return space_is_full(tensor, pe, *end, nbytes, why);
        if (nbytes)
            *end = tensor->offsets[pe] + nbytes;
    }
    return KB_OK;
}

/* Places a tensor; what is used changes only if all of it has room. */
static kb_status place_tensor(struct kb_tensor *tensor, kb_error *why)
{
    struct host *h = tensor->host;
    size_t bytes = slice_indices(h->topo) * sizeof *h->used;
    uint64_t *used = malloc(bytes);
    kb_status status;

    if (!used)
        return host_no_memory(tensor->name, why);
    memcpy(used, h->used, bytes);
    status = place_parts(tensor, used, why);
    if (status == KB_OK)
        memcpy(h->used, used, bytes);
    free(used);
    return status;
}

/* NULL without memory. */
static struct kb_tensor *tensor_alloc(struct host *h, const char *name)
{
    struct kb_tensor *tensor = calloc(1, sizeof *tensor);
    size_t length = strlen(name) + 1;

    if (!tensor)
        return NULL;
    tensor->host = h;
    tensor->name = malloc(length);
    tensor->offsets = malloc(host_pes_of(h) * sizeof *tensor->offsets);
    if (tensor->name && tensor->offsets) {
        memcpy(tensor->name, name, length);
        return tensor;
    }
    host_tensor_free(tensor);
    return NULL;
}

kb_status host_tensor_new(struct host **host, const struct kb_topology *topo, const char *name,
                          kb_dtype dtype, kb_shape shape, kb_placement placement, kb_tensor **out,
                          kb_error *why)
{
    kb_status idle = host_check_idle(*host, why);
    kb_status status = idle ? idle : check_tensor(name, dtype, &shape, placement, why);
    struct host *h = status == KB_OK ? host_of(host, topo) : NULL;
    struct kb_tensor *tensor = h ? tensor_alloc(h, name) : NULL;

    if (status != KB_OK)
        return status;
    if (!tensor)
        return host_no_memory(name, why);
    tensor->dtype = dtype;
    tensor->shape = shape;
    tensor->placement = placement;
    if (shape_bytes(dtype, &shape, &tensor->nbytes))
        status = place_tensor(tensor, why);
    else
        status = endpoint_error(why, "tensor '%.64s' has more than 2^63 bytes", name);
    if (status != KB_OK) {
        host_tensor_free(tensor);
        return status;
    }
    tensor->next = h->tensors;
    h->tensors = tensor;
    *out = tensor;
    return KB_OK;
}

const char *kb_tensor_name(const kb_tensor *tensor)
{
    return tensor->name;
}

kb_dtype kb_tensor_dtype(const kb_tensor *tensor)
{
    return tensor->dtype;
}

kb_shape kb_tensor_shape(const kb_tensor *tensor)
{
    return tensor->shape;
}

/* The global address of the part of `pe`, which has one. */
uint64_t host_address_in(const struct kb_tensor *tensor, uint32_t pe)
{
    return space_address(tensor->host->topo, pe, tensor->offsets[pe]);
}

uint32_t host_area_of(const struct kb_tensor *tensor, uint32_t pe)
{
    return area_at(tensor->host->topo, host_address_in(tensor, pe));
}

kb_shard kb_tensor_shard(const kb_tensor *tensor, uint32_t pe)
{
    kb_shard shard = {.address = NO_ADDRESS};

    if (pe < host_pes_of(tensor->host)) {
        struct part p = host_part_of(tensor, pe);

        shard.shape = p.shape;
        memcpy(shard.first, p.first, sizeof shard.first);
        if (tensor->offsets[pe] != NO_ADDRESS)
            shard.address = host_address_in(tensor, pe);
    }
    return shard;
}

/* -- what lies where ------------------------------------------------------------------------ */

/* Element `i` of a part, in the whole tensor. */
static void whole_index(const struct part *p, uint64_t i, int64_t index[KB_RANK_MAX])
{
    for (int64_t axis = p->shape.rank - 1; axis >= 0; axis--) {
        uint64_t extent = (uint64_t)p->shape.dim[axis];

        index[axis] = p->first[axis] + (int64_t)(i % extent);
        i /= extent;
    }
}

/* The element at an address, if it lies in the part of `pe`. */
static bool find_element(const struct kb_tensor *tensor, uint32_t pe, uint64_t address,
                         int64_t index[KB_RANK_MAX])
{
    struct part p = host_part_of(tensor, pe);
    uint64_t from;

    if (tensor->offsets[pe] == NO_ADDRESS)
        return false;
    from = host_address_in(tensor, pe);
    if (address < from || address - from >= host_part_bytes(tensor, &p))
        return false;
    whole_index(&p, (address - from) / dtype_cell(tensor->dtype) * dtype_of_cell(tensor->dtype),
                index);
    return true;
}

/*
 * The way back: which element lies at an address? 19327352832 is x[12,0] in the example above. For
 * messages and --inspect, so a search over all tensors, and over all PEs of a space, is fast
 * enough.
 */
const struct kb_tensor *host_tensor_at(const struct host *h, uint64_t address,
                                       int64_t index[KB_RANK_MAX])
{
    const struct kb_topology *t;
    uint64_t offset;
    uint32_t dst, space;

    if (!h)
        return NULL;
    t = h->topo;
    if (!address_find(t, address, &dst, &offset) || !unit_is_slice(t, dst_unit(t, dst)))
        return NULL;
    space = t->granule ? dst_pack(t, interleaved_of(t, dst_cube(t, dst)).cube, 0) : dst;
    for (const struct kb_tensor *tensor = h->tensors; tensor; tensor = tensor->next)
        for (uint32_t pe = first_pe_of_space(t, space); pe < end_pe_of_space(t, space); pe++)
            if (space_of(t, pe) == space && find_element(tensor, pe, address, index))
                return tensor;
    return NULL;
}
