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
 *   - The host waits while kernels run: it neither makes, nor writes tensors then (check_idle()).
 *   - Reading needs every byte of every part: a byte that was never written is an error with its
 *     address, and a result that Phase 2 has not computed is KB_PENDING.
 */
#include "data/host.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "data/cast.h"
#include "data/dtype.h"
#include "data/npy.h"
#include "machine/address.h"
#include "machine/endpoint.h"
#include "machine/pes.h"

#define NO_ADDRESS UINT64_MAX

/* -- global addresses ----------------------------------------------------------------------- */

/* An offset is 36 bits, so the TCMs of a cube together must not be larger than 64 GiB. */
static bool has_address(const struct kb_topology *t, const kb_endpoint *m, uint64_t offset)
{
    uint64_t nbytes = kb_memory_bytes(t, m), units = m->kind == KB_SRAM    ? 1
                                                     : m->kind == KB_SLICE ? t->slices
                                                                           : t->pes;

    return m->sip < t->sips && m->cube < t->cubes && m->unit < units && offset < nbytes &&
           m->unit * nbytes + offset < ADDRESS_REGION_BYTES;
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

struct kb_tensor {
    struct kb_tensor *next;
    struct host *host; /* borrowed: it owns the tensor */
    char *name;        /* owned */
    kb_dtype dtype;
    kb_shape shape;
    uint64_t nbytes;
    kb_placement placement;
    uint64_t *offsets; /* owned; [PE over all]: of its part in its space; NO_ADDRESS: no part */
    struct version **shown; /* owned, the versions too: those that kb_tensor_part() gave out */
    size_t n_shown;
};

struct host {
    const struct kb_topology *topo; /* borrowed */
    struct mem *mem;                /* owned */
    uint64_t *used;                 /* owned; [slice_index() of a space]: bytes taken */
    struct kb_tensor *tensors;      /* owned */
    bool waits;                     /* for kernels that run */
    bool fills_now;                 /* Phase 2 reads what tensors are filled with */
    struct fill *fills;             /* those that are not made */
};

static uint32_t pes_of(const struct host *h)
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

/* The space in which the parts of `pe` lie: its home slice, or the first slice of the addresses. */
static uint32_t space_of(const struct kb_topology *t, uint32_t pe)
{
    if (!t->granule)
        return pe_slice(t, pe_src(t, pe));
    return dst_pack(t, interleaved_of(t, pe_cube(t, pe)).cube, 0);
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

    return cube_first_pe(t, of_sip ? (cube / t->cubes + 1) * t->cubes : cube + 1);
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
    uint32_t cube = pe_cube(t, pe);

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

/* A box inside a tensor. */
struct part {
    kb_shape shape;
    int64_t first[KB_RANK_MAX];
};

/* i * d / n without overflow. */
static int64_t share(int64_t d, int64_t i, int64_t n)
{
    return d / n * i + d % n * i / n;
}

/*
 * Replaces `p` by part `i` of `n` of it. Cutting rounds down at both ends, so that parts never
 * overlap and leave no gap: 10 rows over 8 cubes are 1, 1, 1, 2, 1, 1, 1, 2 rows. Row-wise cuts
 * the first axis, column-wise the last one.
 */
static void part_cut(struct part *p, kb_placement_split split, uint32_t i, uint32_t n)
{
    int64_t axis = split == KB_ROW_WISE ? 0 : p->shape.rank - 1, d = p->shape.dim[axis];

    if (split == KB_REPLICATE)
        return;
    p->first[axis] += share(d, i, n);
    p->shape.dim[axis] = share(d, i + 1, n) - share(d, i, n);
}

static struct part part_of(const struct kb_tensor *tensor, uint32_t pe)
{
    const struct kb_topology *t = tensor->host->topo;
    struct part p = {.shape = tensor->shape};

    uint32_t cube = pe_cube(t, pe);

    part_cut(&p, tensor->placement.cubes, cube_rank(t, cube), cube_rank(t, sim_cubes(t)));
    part_cut(&p, tensor->placement.pes, pe - cube_first_pe(t, cube), cube_pe_count(t, cube));
    return p;
}

/* The first PE that has the same part as `pe`: replicated parts share one version. */
static uint32_t first_with_part(const struct kb_tensor *tensor, uint32_t pe)
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
static bool is_copy(const struct kb_tensor *tensor, uint32_t pe)
{
    const struct kb_topology *t = tensor->host->topo;
    uint32_t cube = pe_cube(t, pe);

    return (tensor->placement.cubes == KB_REPLICATE && cube_rank(t, cube) > 0) ||
           (tensor->placement.pes == KB_REPLICATE && pe > cube_first_pe(t, cube));
}

/* The bytes of a tensor; false if they are more than 2^63. */
static bool shape_bytes(kb_dtype dtype, const kb_shape *shape, uint64_t *nbytes)
{
    int64_t n = (int64_t)kb_dtype_bytes(dtype);

    for (int64_t i = 0; i < shape->rank; i++)
        if (__builtin_mul_overflow(n, shape->dim[i], &n))
            return false;
    *nbytes = (uint64_t)n;
    return true;
}

static uint64_t part_bytes(const struct kb_tensor *tensor, const struct part *p)
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
static void copy_part(const struct kb_tensor *tensor, const struct part *p, unsigned char *whole,
                      unsigned char *part, bool out)
{
    uint64_t elem = kb_dtype_bytes(tensor->dtype), stride[KB_RANK_MAX];
    int64_t last = tensor->shape.rank - 1, axis, at[KB_RANK_MAX] = {0};
    uint64_t row = elem * (uint64_t)p->shape.dim[last];

    for (axis = last; axis >= 0; axis--) {
        stride[axis] =
            axis == last ? elem : stride[axis + 1] * (uint64_t)tensor->shape.dim[axis + 1];
        whole += stride[axis] * (uint64_t)p->first[axis];
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

static kb_status no_memory(const char *name, kb_error *why)
{
    endpoint_error(why, "out of memory for tensor '%.64s'", name);
    return KB_NO_MEMORY;
}

/* While kernels run the host waits: it neither makes nor writes tensors. */
static kb_status check_idle(const struct host *h, kb_error *why)
{
    return h && h->waits ? endpoint_error(why, "a launch is under way") : KB_OK;
}

static kb_status check_tensor(const char *name, kb_dtype dtype, const kb_shape *shape,
                              kb_placement placement, kb_error *why)
{
    if (!kb_dtype_bytes(dtype))
        return endpoint_error(why, "tensor '%.64s' has no type", name);
    if (shape->rank < 1 || shape->rank > KB_RANK_MAX)
        return endpoint_error(why, "tensor '%.64s' has rank %" PRId64 "; 1 to %d are possible",
                              name, shape->rank, KB_RANK_MAX);
    for (int64_t i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 1)
            return endpoint_error(why, "tensor '%.64s' has an extent of %" PRId64, name,
                                  shape->dim[i]);
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
                          tensor->name, name, piece_bytes(t, pe_cube(t, pe)), used, nbytes);
}

/* Finds room for every part, and takes it in `used`. */
static kb_status place_parts(struct kb_tensor *tensor, uint64_t *used, kb_error *why)
{
    const struct kb_topology *t = tensor->host->topo;

    for (uint32_t pe = 0; pe < pes_of(tensor->host); pe++) {
        struct part p = part_of(tensor, pe);
        uint64_t nbytes = part_bytes(tensor, &p);
        uint64_t *end = &used[slice_index(t, space_of(t, pe))];

        tensor->offsets[pe] = nbytes ? next_place(t, pe_cube(t, pe), *end, nbytes) : NO_ADDRESS;
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
        return no_memory(tensor->name, why);
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
    tensor->offsets = malloc(pes_of(h) * sizeof *tensor->offsets);
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
    kb_status idle = check_idle(*host, why);
    kb_status status = idle ? idle : check_tensor(name, dtype, &shape, placement, why);
    struct host *h = status == KB_OK ? host_of(host, topo) : NULL;
    struct kb_tensor *tensor = h ? tensor_alloc(h, name) : NULL;

    if (status != KB_OK)
        return status;
    if (!tensor)
        return no_memory(name, why);
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
static uint64_t address_in(const struct kb_tensor *tensor, uint32_t pe)
{
    return space_address(tensor->host->topo, pe, tensor->offsets[pe]);
}

static uint32_t area_of(const struct kb_tensor *tensor, uint32_t pe)
{
    return area_at(tensor->host->topo, address_in(tensor, pe));
}

kb_shard kb_tensor_shard(const kb_tensor *tensor, uint32_t pe)
{
    kb_shard shard = {.address = NO_ADDRESS};

    if (pe < pes_of(tensor->host)) {
        struct part p = part_of(tensor, pe);

        shard.shape = p.shape;
        memcpy(shard.first, p.first, sizeof shard.first);
        if (tensor->offsets[pe] != NO_ADDRESS)
            shard.address = address_in(tensor, pe);
    }
    return shard;
}

/* -- filling -------------------------------------------------------------------------------- */

/* The elements of a tensor as a function of their number, and of its name. */
struct rule {
    bool random;
    uint64_t seed;
    double scale;       /* random */
    double start, step; /* else */
};

/*
 * A fill: the bytes of all parts, to be made by a rule. A stream of random numbers cannot begin in
 * the middle, so all are made at once. A version that is dropped before that leaves the fill, and
 * the last one frees it.
 */
struct fill {
    struct version_fill base;       /* first */
    struct fill *next, **link;      /* of all fills of the host that are not made */
    const struct kb_tensor *tensor; /* borrowed */
    struct rule rule;
    uint32_t users;             /* versions, and the write that makes them */
    struct version *versions[]; /* [PE], borrowed: as of prepare_write() */
};

/* What a tensor is written from: bytes of the whole, or a fill. */
struct source {
    const void *bytes;
    struct fill *fill; /* NULL: bytes */
};

/* The part of `pe`, as a new version; NULL without memory. */
static struct version *version_of_part(const struct kb_tensor *tensor, uint32_t pe,
                                       const struct source *from)
{
    struct part p = part_of(tensor, pe);
    struct version *v;

    if (from->fill) {
        v = version_new_fill(part_bytes(tensor, &p), &from->fill->base, pe);
        from->fill->versions[pe] = v;
        from->fill->users += v != NULL;
        return v;
    }
    v = version_new_bytes(part_bytes(tensor, &p));
    if (v)
        copy_part(tensor, &p, (unsigned char *)(uintptr_t)from->bytes, v->bytes, true);
    return v;
}

/*
 * Makes a version of each part, at the first PE that has it, and room to write all of them. This
 * is all of a write that may fail. A tensor that is replicated over 64 PEs is one version with 64
 * references, and not 64 copies.
 */
static bool prepare_write(const struct kb_tensor *tensor, const struct source *from,
                          struct version **versions)
{
    struct mem *m = tensor->host->mem;

    for (uint32_t pe = 0; pe < pes_of(tensor->host); pe++) {
        if (tensor->offsets[pe] == NO_ADDRESS)
            continue;
        if (first_with_part(tensor, pe) == pe)
            versions[pe] = version_of_part(tensor, pe, from);
        if (!versions[first_with_part(tensor, pe)] ||
            mem_reserve(m, area_of(tensor, pe), address_in(tensor, pe)) != MEM_OK)
            return false;
    }
    return true;
}

static kb_status write_from(kb_tensor *tensor, const struct source *from, kb_error *why)
{
    uint32_t n = pes_of(tensor->host);
    struct version **versions = calloc(n, sizeof *versions); /* [PE]: owned */
    bool ok = versions && prepare_write(tensor, from, versions);

    for (uint32_t pe = 0; ok && pe < n; pe++) {
        struct version *v = versions[first_with_part(tensor, pe)];

        if (tensor->offsets[pe] != NO_ADDRESS)
            ok = mem_write(tensor->host->mem, area_of(tensor, pe), address_in(tensor, pe),
                           v->nbytes, (struct view){v, 0}, OP_NONE) == MEM_OK;
    }
    for (uint32_t pe = 0; versions && pe < n; pe++)
        version_drop(versions[pe]);
    free(versions);
    return ok ? KB_OK : no_memory(tensor->name, why);
}

kb_status kb_tensor_write(kb_tensor *tensor, const void *bytes, kb_error *why)
{
    REFUSE_NULL(tensor && bytes, "tensor, bytes", why);
    if (check_idle(tensor->host, why) != KB_OK)
        return KB_BAD_REQUEST;
    return write_from(tensor, &(struct source){bytes, NULL}, why);
}

static double random_element(kb_dtype dtype, struct rng *r, double scale)
{
    switch (dtype) {
    case KB_F16:
    case KB_BF16:
    case KB_F32:
    case KB_F64:
        return (2 * rng_unit(r) - 1) * scale;
    case KB_I8:
    case KB_I16:
    case KB_I32:
    case KB_I64:
        return (double)(rng_next(r) >> 60) - 8;
    case KB_BOOL:
        return (double)(rng_next(r) >> 63);
    case KB_U8:
    case KB_U16:
    case KB_U32:
    case KB_U64:
        return (double)(rng_next(r) >> 60);
    case KB_DEFAULT:
        break;
    }
    return 0;
}

static uint64_t element_count(const struct kb_tensor *tensor)
{
    return tensor->nbytes / kb_dtype_bytes(tensor->dtype);
}

static void make_elements(const struct kb_tensor *tensor, const struct rule *rule,
                          unsigned char *bytes)
{
    struct rng r = rng_new(rule->seed, tensor->name);
    uint64_t n = element_count(tensor);

    for (uint64_t i = 0; rule->random && i < n; i++)
        kb_element_set(tensor->dtype, bytes, i, random_element(tensor->dtype, &r, rule->scale));
    for (uint64_t i = 0; !rule->random && i < n; i++)
        kb_element_set(tensor->dtype, bytes, i, rule->start + (double)i * rule->step);
}

static void fill_free(struct fill *f)
{
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    free(f);
}

static void fill_leave(struct fill *f)
{
    if (--f->users == 0)
        fill_free(f);
}

static void fill_forget(struct version_fill *base, uint32_t number)
{
    struct fill *f = (struct fill *)base;

    f->versions[number] = NULL;
    fill_leave(f);
}

/* Room for each part that is still used. */
static bool parts_alloc(const struct fill *f, unsigned char **parts)
{
    bool ok = true;

    for (uint32_t pe = 0; ok && pe < pes_of(f->tensor->host); pe++) {
        if (f->versions[pe])
            ok = (parts[pe] = malloc(f->versions[pe]->nbytes)) != NULL;
    }
    return ok;
}

/* Gives all versions their bytes, or none of them, without memory. Then the fill is no more. */
static bool fill_make(struct version_fill *base)
{
    struct fill *f = (struct fill *)base;
    uint32_t n = pes_of(f->tensor->host);
    unsigned char *whole = malloc(f->tensor->nbytes);
    unsigned char **parts = calloc(n, sizeof *parts); /* [PE]: owned */
    bool ok = whole && parts && parts_alloc(f, parts);

    if (ok)
        make_elements(f->tensor, &f->rule, whole);
    for (uint32_t pe = 0; parts && pe < n; pe++) {
        struct part p = part_of(f->tensor, pe);

        if (!ok) {
            free(parts[pe]);
        } else if (parts[pe]) {
            copy_part(f->tensor, &p, whole, parts[pe], true);
            version_set_bytes(f->versions[pe], parts[pe]);
        }
    }
    free(parts);
    free(whole);
    if (ok) /* all versions have their bytes, so none needs it any more */
        fill_free(f);
    return ok;
}

static kb_status fill_later(kb_tensor *tensor, const struct rule *rule, kb_error *why)
{
    size_t n = pes_of(tensor->host);
    struct fill *f = calloc(1, sizeof *f + n * sizeof *f->versions);
    kb_status status;

    if (!f)
        return no_memory(tensor->name, why);
    f->base = (struct version_fill){fill_make, fill_forget};
    f->tensor = tensor;
    f->rule = *rule;
    f->users = 1;
    f->next = tensor->host->fills;
    f->link = &tensor->host->fills;
    if (f->next)
        f->next->link = &f->next;
    tensor->host->fills = f;
    status = write_from(tensor, &(struct source){NULL, f}, why);
    fill_leave(f);
    return status;
}

static kb_status fill_now(kb_tensor *tensor, const struct rule *rule, kb_error *why)
{
    unsigned char *bytes = malloc(tensor->nbytes);
    kb_status status;

    if (!bytes)
        return no_memory(tensor->name, why);
    make_elements(tensor, rule, bytes);
    status = write_from(tensor, &(struct source){bytes, NULL}, why);
    free(bytes);
    return status;
}

bool host_make_fills(struct host *h)
{
    while (h->fills)
        if (!fill_make(&h->fills->base))
            return false;
    return true;
}

static kb_status fill(kb_tensor *tensor, const struct rule *rule, kb_error *why)
{
    if (check_idle(tensor->host, why) != KB_OK)
        return KB_BAD_REQUEST;
    return tensor->host->fills_now ? fill_now(tensor, rule, why) : fill_later(tensor, rule, why);
}

kb_status kb_tensor_fill_random(kb_tensor *tensor, uint64_t seed, double scale, kb_error *why)
{
    REFUSE_NULL(tensor, "tensor", why);
    return fill(tensor, &(struct rule){.random = true, .seed = seed, .scale = scale}, why);
}

kb_status kb_tensor_fill_arange(kb_tensor *tensor, double start, double step, kb_error *why)
{
    REFUSE_NULL(tensor, "tensor", why);
    return fill(tensor, &(struct rule){.start = start, .step = step}, why);
}

static bool same_shape(const kb_shape *a, const kb_shape *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0;
}

kb_status kb_tensor_fill_npy(kb_tensor *tensor, const char *path, kb_error *why)
{
    REFUSE_NULL(tensor && path, "tensor, path", why);
    struct npy npy;
    kb_status status = npy_read(path, &npy, why);
    kb_dtype want = tensor->dtype == KB_BF16 ? KB_U16 : tensor->dtype;

    if (status != KB_OK)
        return status;
    if (npy.dtype != want)
        status =
            endpoint_error(why, "%.240s: its elements are %s, those of tensor '%.64s' %s", path,
                           kb_dtype_name(npy.dtype), tensor->name, kb_dtype_name(tensor->dtype));
    else if (!same_shape(&npy.shape, &tensor->shape))
        status = endpoint_error(why, "%.240s: its shape is not that of tensor '%.64s'", path,
                                tensor->name);
    else
        status = kb_tensor_write(tensor, npy.bytes, why);
    npy_free(&npy);
    return status;
}

/* -- reading back --------------------------------------------------------------------------- */

static kb_status never_written(const struct kb_tensor *tensor, const uint64_t absent[2],
                               kb_error *why)
{
    return endpoint_error(why,
                          "tensor '%.64s': addresses %" PRIu64 " to %" PRIu64 " were never written",
                          tensor->name, absent[0], absent[1] - 1);
}

/* Reads the part of `pe`, whose bytes must be known, into *out. */
static kb_status read_part(const struct kb_tensor *tensor, uint32_t pe, struct view *out,
                           kb_error *why)
{
    struct part p = part_of(tensor, pe);
    uint64_t absent[2];
    enum mem_err err = mem_read(tensor->host->mem, area_of(tensor, pe), address_in(tensor, pe),
                                part_bytes(tensor, &p), out, NULL, absent);

    if (err == MEM_ABSENT)
        return never_written(tensor, absent, why);
    if (err != MEM_OK)
        return no_memory(tensor->name, why);
    if (!version_ready(out->v)) {
        endpoint_error(why, "tensor '%.64s' holds results that are not computed", tensor->name);
        return KB_PENDING;
    }
    return version_bytes(out->v) ? KB_OK : no_memory(tensor->name, why);
}

/* Reads each part once, from the first PE that has it. The caller owns `views`, also after a
 * failure. */
static kb_status read_parts(const struct kb_tensor *tensor, struct view *views, kb_error *why)
{
    kb_status status = KB_OK;

    for (uint32_t pe = 0; status == KB_OK && pe < pes_of(tensor->host); pe++)
        if (tensor->offsets[pe] != NO_ADDRESS && !is_copy(tensor, pe))
            status = read_part(tensor, pe, &views[pe], why);
    return status;
}

kb_status kb_tensor_read(const kb_tensor *tensor, void *bytes, kb_error *why)
{
    REFUSE_NULL(tensor && bytes, "tensor, bytes", why);
    uint32_t n = pes_of(tensor->host);
    struct view *views = calloc(n, sizeof *views);
    kb_status status = views ? read_parts(tensor, views, why) : no_memory(tensor->name, why);

    for (uint32_t pe = 0; views && pe < n; pe++) {
        struct view *view = &views[pe];

        if (status == KB_OK && view->v) {
            struct part p = part_of(tensor, pe);

            copy_part(tensor, &p, bytes, view->v->bytes + view->offset, false);
        }
        version_drop(view->v);
    }
    free(views);
    return status;
}

/* Keeps the version of `view`, which is owned, for the life of the tensor. */
static bool keep_shown(struct kb_tensor *tensor, struct view view)
{
    struct version **shown = realloc(tensor->shown, (tensor->n_shown + 1) * sizeof *shown);

    if (!shown)
        return false;
    tensor->shown = shown;
    shown[tensor->n_shown++] = view.v;
    return true;
}

kb_status kb_tensor_part(kb_tensor *tensor, uint32_t pe, const void **bytes, kb_error *why)
{
    REFUSE_NULL(tensor && bytes, "tensor, bytes", why);
    struct view view = {0};

    if (pe >= pes_of(tensor->host) || tensor->offsets[pe] == NO_ADDRESS)
        return endpoint_error(why, "tensor '%.64s' has no part on PE %" PRIu32, tensor->name, pe);
    kb_status status = read_part(tensor, pe, &view, why);
    if (!status && !keep_shown(tensor, view))
        status = no_memory(tensor->name, why);
    if (!status)
        *bytes = view.v->bytes + view.offset;
    else
        version_drop(view.v);
    return status;
}

/* Is the copy that `pe` has of a part what `bytes` have there? If not, writes it to them. */
static kb_status take_copy(const struct kb_tensor *tensor, uint32_t pe, unsigned char *bytes,
                           unsigned char *part, bool *differs, kb_error *why)
{
    struct part p = part_of(tensor, pe);
    struct view view = {0};
    kb_status status = read_part(tensor, pe, &view, why);

    if (status == KB_OK) {
        unsigned char *own = view.v->bytes + view.offset;

        copy_part(tensor, &p, bytes, part, true);
        *differs = memcmp(part, own, part_bytes(tensor, &p)) != 0;
        if (*differs)
            copy_part(tensor, &p, bytes, own, false);
    }
    version_drop(view.v);
    return status;
}

kb_status host_next_copy(const kb_tensor *tensor, uint32_t *next, void *bytes, kb_endpoint *of,
                         bool *found, kb_error *why)
{
    const struct kb_topology *t = tensor->host->topo;
    unsigned char *part = malloc(tensor->nbytes);
    kb_status status = part ? KB_OK : no_memory(tensor->name, why);

    *found = false;
    while (status == KB_OK && !*found && *next < pes_of(tensor->host)) {
        uint32_t pe = (*next)++;

        *of = endpoint_unpack_source(t, pe_src(t, pe), false, 0);
        if (tensor->offsets[pe] != NO_ADDRESS && is_copy(tensor, pe))
            status = take_copy(tensor, pe, bytes, part, found, why);
    }
    free(part);
    return status;
}

kb_status kb_tensor_save_npy(const kb_tensor *tensor, const char *path, kb_error *why)
{
    REFUSE_NULL(tensor && path, "tensor, path", why);
    unsigned char *bytes = malloc(tensor->nbytes);
    kb_status status;

    if (!bytes)
        return no_memory(tensor->name, why);
    status = kb_tensor_read(tensor, bytes, why);
    if (status == KB_OK)
        status = npy_write(path, tensor->dtype, tensor->shape, bytes, why);
    free(bytes);
    return status;
}

/* -- comparing ------------------------------------------------------------------------------ */

enum { COMPARED = 1024 }; /* converted at a time */

/* The distance of two elements; 0 if they are the same, also for NaN and infinity. */
static double distance(double got, double want)
{
    if (got == want || (isnan(got) && isnan(want)))
        return 0;
    return isfinite(got) && isfinite(want) ? fabs(got - want) : INFINITY;
}

/*
 * An integer of 64 bits may differ although it becomes the same double: above 2^53 a double cannot
 * tell neighbours apart. So it is compared as an integer as well.
 */
static bool same_integer(kb_dtype dtype, const void *bytes, uint64_t i, double want)
{
    uint64_t n;

    if (dtype != KB_I64 && dtype != KB_U64)
        return true;
    memcpy(&n, (const unsigned char *)bytes + 8 * i, sizeof n);
    if (dtype == KB_I64)
        return want < 0x1p63 ? (int64_t)n == (int64_t)want : false;
    return want < 0x1p64 ? n == (uint64_t)want : false;
}

/* `n` elements from `first` on. A cast needs them aligned. */
static void read_values(kb_dtype dtype, const void *bytes, uint64_t first, uint64_t n,
                        double *values)
{
    const unsigned char *from = (const unsigned char *)bytes + first * kb_dtype_bytes(dtype);

    if (dtype_is_float(dtype) && (uintptr_t)from % kb_dtype_bytes(dtype) == 0)
        cast_elements(KB_F64, values, dtype, from, n);
    else
        for (uint64_t i = 0; i < n; i++)
            values[i] = kb_element(dtype, from, i);
}

/*
 * Each element that is wrong counts, and the first of them is told. `max_abs_err` is over all
 * elements, also those that are right. The reference computes in f64 (`want`), so a result is
 * compared with a value that is not rounded to its own type.
 */
kb_status kb_compare(kb_dtype dtype, const void *got, const double *want, uint64_t n,
                     kb_difference *out)
{
    REFUSE_NULL(got && want && out, "got, want, out", NULL);
    double tol = dtype_tolerance(dtype), values[COMPARED];
    kb_difference d = {0};

    for (uint64_t i = 0; i < n; i++) {
        double value, err;

        if (i % COMPARED == 0)
            read_values(dtype, got, i, n - i < COMPARED ? n - i : COMPARED, values);
        value = values[i % COMPARED];
        err = distance(value, want[i]);

        if (err == 0 && !same_integer(dtype, got, i, want[i]))
            err = 1;

        if (err > d.max_abs_err)
            d.max_abs_err = err;
        if (err == 0 || (isfinite(err) && err <= tol + tol * fabs(want[i])))
            continue;
        if (d.n_bad++ == 0) {
            d.index = i;
            d.got = value;
            d.want = want[i];
        }
    }
    *out = d;
    return d.n_bad ? KB_DIFFERENT : KB_OK;
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
    struct part p = part_of(tensor, pe);
    uint64_t from;

    if (tensor->offsets[pe] == NO_ADDRESS)
        return false;
    from = address_in(tensor, pe);
    if (address < from || address - from >= part_bytes(tensor, &p))
        return false;
    whole_index(&p, (address - from) / kb_dtype_bytes(tensor->dtype), index);
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
