/* host_read.c -- reads tensors of the host back, and compares them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "data/cast.h"
#include "data/dtype.h"
#include "data/host_parts.h"
#include "data/npy.h"
#include "machine/endpoint.h"
#include "machine/pes.h"

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
    struct part p = host_part_of(tensor, pe);
    uint64_t absent[2];
    enum mem_err err =
        mem_read(tensor->host->mem, host_area_of(tensor, pe), host_address_in(tensor, pe),
                 host_part_bytes(tensor, &p), out, NULL, absent);

    if (err == MEM_ABSENT)
        return never_written(tensor, absent, why);
    if (err != MEM_OK)
        return host_no_memory(tensor->name, why);
    if (!version_ready(out->v)) {
        endpoint_error(why, "tensor '%.64s' holds results that are not computed", tensor->name);
        return KB_PENDING;
    }
    return version_bytes(out->v) ? KB_OK : host_no_memory(tensor->name, why);
}

/* Reads each part once, from the first PE that has it. The caller owns `views`, also after a
 * failure. */
static kb_status read_parts(const struct kb_tensor *tensor, struct view *views, kb_error *why)
{
    kb_status status = KB_OK;

    for (uint32_t pe = 0; status == KB_OK && pe < host_pes_of(tensor->host); pe++)
        if (tensor->offsets[pe] != NO_ADDRESS && !host_is_copy(tensor, pe))
            status = read_part(tensor, pe, &views[pe], why);
    return status;
}

kb_status kb_tensor_read(const kb_tensor *tensor, void *bytes, kb_error *why)
{
    REFUSE_NULL(tensor && bytes, "tensor, bytes", why);
    uint32_t n = host_pes_of(tensor->host);
    struct view *views = calloc(n, sizeof *views);
    kb_status status = views ? read_parts(tensor, views, why) : host_no_memory(tensor->name, why);

    for (uint32_t pe = 0; views && pe < n; pe++) {
        struct view *view = &views[pe];

        if (status == KB_OK && view->v) {
            struct part p = host_part_of(tensor, pe);

            host_copy_part(tensor, &p, bytes, view->v->bytes + view->offset, false);
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

    if (pe >= host_pes_of(tensor->host) || tensor->offsets[pe] == NO_ADDRESS)
        return endpoint_error(why, "tensor '%.64s' has no part on PE %" PRIu32, tensor->name, pe);
    kb_status status = read_part(tensor, pe, &view, why);
    if (!status && !keep_shown(tensor, view))
        status = host_no_memory(tensor->name, why);
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
    struct part p = host_part_of(tensor, pe);
    struct view view = {0};
    kb_status status = read_part(tensor, pe, &view, why);

    if (status == KB_OK) {
        unsigned char *own = view.v->bytes + view.offset;

        host_copy_part(tensor, &p, bytes, part, true);
        *differs = memcmp(part, own, host_part_bytes(tensor, &p)) != 0;
        if (*differs)
            host_copy_part(tensor, &p, bytes, own, false);
    }
    version_drop(view.v);
    return status;
}

kb_status host_next_copy(const kb_tensor *tensor, uint32_t *next, void *bytes, kb_endpoint *of,
                         bool *found, kb_error *why)
{
    const struct kb_topology *t = tensor->host->topo;
    unsigned char *part = malloc(tensor->nbytes);
    kb_status status = part ? KB_OK : host_no_memory(tensor->name, why);

    *found = false;
    while (status == KB_OK && !*found && *next < host_pes_of(tensor->host)) {
        uint32_t pe = (*next)++;

        *of = endpoint_unpack_source(t, pe_src(t, pe), false, 0);
        if (tensor->offsets[pe] != NO_ADDRESS && host_is_copy(tensor, pe))
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
        return host_no_memory(tensor->name, why);
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
    const unsigned char *from = (const unsigned char *)bytes + dtype_size(dtype, first);

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
