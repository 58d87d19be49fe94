/* host_fill.c -- fills tensors of the host: by bytes, or by a rule whose numbers are made when they
 * are read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "data/cast.h"
#include "data/dtype.h"
#include "data/host_parts.h"
#include "data/npy.h"
#include "machine/endpoint.h"

/* What a tensor is written from: bytes of the whole, or a fill. */
struct source {
    const void *bytes;
    struct fill *fill; /* NULL: bytes */
};

/* The part of `pe`, as a new version; NULL without memory. */
static struct version *version_of_part(const struct kb_tensor *tensor, uint32_t pe,
                                       const struct source *from)
{
    struct part p = host_part_of(tensor, pe);
    struct version *v;

    if (from->fill) {
        v = version_new_fill(host_part_bytes(tensor, &p), &from->fill->base, pe);
        from->fill->versions[pe] = v;
        from->fill->users += v != NULL;
        return v;
    }
    v = version_new_bytes(host_part_bytes(tensor, &p));
    if (v)
        host_copy_part(tensor, &p, (unsigned char *)(uintptr_t)from->bytes, v->bytes, true);
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

    for (uint32_t pe = 0; pe < host_pes_of(tensor->host); pe++) {
        if (tensor->offsets[pe] == NO_ADDRESS)
            continue;
        if (host_first_with_part(tensor, pe) == pe)
            versions[pe] = version_of_part(tensor, pe, from);
        if (!versions[host_first_with_part(tensor, pe)] ||
            mem_reserve(m, host_area_of(tensor, pe), host_address_in(tensor, pe)) != MEM_OK)
            return false;
    }
    return true;
}

static kb_status write_from(kb_tensor *tensor, const struct source *from, kb_error *why)
{
    uint32_t n = host_pes_of(tensor->host);
    struct version **versions = calloc(n, sizeof *versions); /* [PE]: owned */
    bool ok = versions && prepare_write(tensor, from, versions);

    for (uint32_t pe = 0; ok && pe < n; pe++) {
        struct version *v = versions[host_first_with_part(tensor, pe)];

        if (tensor->offsets[pe] != NO_ADDRESS)
            ok = mem_write(tensor->host->mem, host_area_of(tensor, pe), host_address_in(tensor, pe),
                           v->nbytes, (struct view){v, 0}, OP_NONE) == MEM_OK;
    }
    for (uint32_t pe = 0; versions && pe < n; pe++)
        version_drop(versions[pe]);
    free(versions);
    return ok ? KB_OK : host_no_memory(tensor->name, why);
}

kb_status kb_tensor_write(kb_tensor *tensor, const void *bytes, kb_error *why)
{
    REFUSE_NULL(tensor && bytes, "tensor, bytes", why);
    if (host_check_idle(tensor->host, why) != KB_OK)
        return KB_BAD_REQUEST;
    return write_from(tensor, &(struct source){bytes, NULL}, why);
}

static double random_element(kb_dtype dtype, struct rng *r, double scale)
{
    switch (dtype) {
    case KB_F16:
    case KB_BF16:
    case KB_F8E4M3:
    case KB_F8E5M2:
    case KB_F32:
    case KB_F64:
        if (scale == 0)
            return ((double)(rng_next(r) >> 62) - 1.5) / 2;
        return (2 * rng_unit(r) - 1) * scale;
    case KB_I4:
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
    return tensor->nbytes / dtype_cell(tensor->dtype) * dtype_of_cell(tensor->dtype);
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

    for (uint32_t pe = 0; ok && pe < host_pes_of(f->tensor->host); pe++) {
        if (f->versions[pe])
            ok = (parts[pe] = malloc(f->versions[pe]->nbytes)) != NULL;
    }
    return ok;
}

/* Gives all versions their bytes, or none of them, without memory. Then the fill is no more. */
static bool fill_make(struct version_fill *base)
{
    struct fill *f = (struct fill *)base;
    uint32_t n = host_pes_of(f->tensor->host);
    unsigned char *whole = malloc(f->tensor->nbytes);
    unsigned char **parts = calloc(n, sizeof *parts); /* [PE]: owned */
    bool ok = whole && parts && parts_alloc(f, parts);

    if (ok)
        make_elements(f->tensor, &f->rule, whole);
    for (uint32_t pe = 0; parts && pe < n; pe++) {
        struct part p = host_part_of(f->tensor, pe);

        if (!ok) {
            free(parts[pe]);
        } else if (parts[pe]) {
            host_copy_part(f->tensor, &p, whole, parts[pe], true);
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
    size_t n = host_pes_of(tensor->host);
    struct fill *f = calloc(1, sizeof *f + n * sizeof *f->versions);
    kb_status status;

    if (!f)
        return host_no_memory(tensor->name, why);
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
        return host_no_memory(tensor->name, why);
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

kb_status host_fill_by(kb_tensor *tensor, const struct rule *rule, kb_error *why)
{
    if (host_check_idle(tensor->host, why) != KB_OK)
        return KB_BAD_REQUEST;
    return tensor->host->fills_now ? fill_now(tensor, rule, why) : fill_later(tensor, rule, why);
}

kb_status kb_tensor_fill_random(kb_tensor *tensor, uint64_t seed, double scale, kb_error *why)
{
    REFUSE_NULL(tensor, "tensor", why);
    return host_fill_by(tensor, &(struct rule){.random = true, .seed = seed, .scale = scale}, why);
}

kb_status kb_tensor_fill_arange(kb_tensor *tensor, double start, double step, kb_error *why)
{
    REFUSE_NULL(tensor, "tensor", why);
    return host_fill_by(tensor, &(struct rule){.start = start, .step = step}, why);
}

static bool is_integer(kb_dtype d)
{
    return (d >= KB_I8 && d <= KB_U64) || d == KB_I4;
}

/* Is the one the bits of the other, which numpy has not? Of i4 that goes by the shape. */
static bool is_bits_of(kb_dtype to, kb_dtype from)
{
    return (to == KB_BF16 && from == KB_U16) || (dtype_is_f8(to) && from == KB_U8);
}

/* May a tensor of type `to` be filled from elements of type `from`? */
static bool fills(kb_dtype to, kb_dtype from)
{
    if (is_bits_of(to, from))
        return true;
    if (dtype_is_float(to))
        return from == to || from == KB_F32 || from == KB_F64;
    return from == to || (is_integer(to) && is_integer(from));
}

/* Is the integer `value` one of type `to`? One of type u64 comes as its bits. */
static bool integer_fits(kb_dtype to, kb_dtype from, int64_t value)
{
    bool negative = value < 0 && from != KB_U64;
    uint64_t rest = negative ? ~(uint64_t)value : (uint64_t)value;
    unsigned bits = to == KB_I4 ? 3 : 8 * (unsigned)kb_dtype_bytes(to) - dtype_is_signed(to);

    return !(negative && !dtype_is_signed(to)) && (bits == 64 || rest >> bits == 0);
}

/* Refuses the first integer of a file that the tensor's type does not have. */
static kb_status check_integers(const kb_tensor *tensor, const struct npy *npy, const char *path,
                                kb_error *why)
{
    size_t size = kb_dtype_bytes(npy->dtype);

    for (uint64_t i = 0; i < npy->nbytes / size; i++) {
        int64_t value;

        cast_elements(KB_I64, &value, npy->dtype, npy->bytes + i * size, 1);
        if (integer_fits(tensor->dtype, npy->dtype, value))
            continue;
        if (npy->dtype == KB_U64)
            return endpoint_error(
                why,
                "%.240s: its element %" PRIu64 " is %" PRIu64 ", which is no %s of tensor '%.64s'",
                path, i, (uint64_t)value, kb_dtype_name(tensor->dtype), tensor->name);
        return endpoint_error(
            why, "%.240s: its element %" PRIu64 " is %" PRId64 ", which is no %s of tensor '%.64s'",
            path, i, value, kb_dtype_name(tensor->dtype), tensor->name);
    }
    return KB_OK;
}

/* Does a file have the bytes of a tensor of i4, two elements in each? */
static bool is_packed(const struct kb_tensor *tensor, const struct npy *npy)
{
    char has[NPY_SHAPE_BYTES], wants[NPY_SHAPE_BYTES];
    kb_shape cells = npy_cells(tensor->dtype, tensor->shape);

    npy_put_shape(has, &npy->shape);
    npy_put_shape(wants, &cells);
    return tensor->dtype == KB_I4 && npy->dtype == KB_U8 && strcmp(has, wants) == 0;
}

/* Do shape, type and integers of a file fit the tensor? */
static kb_status check_npy(const kb_tensor *tensor, const struct npy *npy, const char *path,
                           kb_error *why)
{
    char has[NPY_SHAPE_BYTES], wants[NPY_SHAPE_BYTES];

    if (!fills(tensor->dtype, npy->dtype))
        return endpoint_error(why, "%.240s: its elements are %s, those of tensor '%.64s' %s", path,
                              kb_dtype_name(npy->dtype), tensor->name,
                              kb_dtype_name(tensor->dtype));
    npy_put_shape(has, &npy->shape);
    npy_put_shape(wants, &tensor->shape);
    if (is_packed(tensor, npy))
        return KB_OK;
    if (strcmp(has, wants) != 0)
        return endpoint_error(why, "%.240s: its shape %s is not that of tensor '%.64s', %s", path,
                              has, tensor->name, wants);
    return is_integer(tensor->dtype) ? check_integers(tensor, npy, path, why) : KB_OK;
}

/* Rounds floats, once, to the tensor's type; integers are known to fit. */
static kb_status write_npy(kb_tensor *tensor, const struct npy *npy, kb_error *why)
{
    unsigned char *bytes;
    kb_status status;

    if (npy->dtype == tensor->dtype || is_bits_of(tensor->dtype, npy->dtype) ||
        is_packed(tensor, npy))
        return kb_tensor_write(tensor, npy->bytes, why);
    bytes = malloc(tensor->nbytes);
    if (!bytes)
        return host_no_memory(tensor->name, why);
    cast_elements(tensor->dtype, bytes, npy->dtype, npy->bytes, element_count(tensor));
    status = kb_tensor_write(tensor, bytes, why);
    free(bytes);
    return status;
}

kb_status kb_tensor_fill_npy(kb_tensor *tensor, const char *path, kb_error *why)
{
    REFUSE_NULL(tensor && path, "tensor, path", why);
    struct npy npy;
    kb_status status = npy_read(path, &npy, why);

    if (status == KB_OK)
        status = check_npy(tensor, &npy, path, why);
    if (status == KB_OK)
        status = write_npy(tensor, &npy, why);
    npy_free(&npy);
    return status;
}
