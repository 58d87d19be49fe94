/* bench_verify.c -- the outputs of a bench against its reference.
 *
 * reference() of a bench computes in doubles, by plain loops, from the inputs as they lie in
 * memory. Each output is then compared as its type has it: the expected value is rounded to that
 * type first, and kb_compare() allows the tolerance of docs/kernels.md "Phase 2 in numbers". So an
 * f16 result is not called wrong because f16 is coarse.
 *
 * Of a part that several PEs have, all copies are compared: those that are not the same, byte by
 * byte, as one before. All outputs are compared even after a difference: the message tells of the
 * first, max_abs_err is the largest of all. Example: gemm with M = N = K = 64 and seed 0 on cube8
 * passes with max_abs_err 3.0517578125e-05.
 *
 * Scratch tensors are neither handed to reference() nor compared. An output that no kernel wrote is
 * a difference, not an error: the kernel computed wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data/cast.h"
#include "data/host.h"
#include "machine/endpoint.h"
#include "sim/bench.h"

/* The tensors that outputs are compared with: t[i] as kb_bench.reference has them. */
struct expected {
    double *t[KB_BENCH_TENSORS_MAX]; /* owned */
};

static void expected_free(struct expected *e)
{
    for (size_t i = 0; i < KB_BENCH_TENSORS_MAX; i++)
        free(e->t[i]);
}

/* The whole of `t` as its type has it, to be freed. NULL after *status is set. */
static void *read_bytes(const kb_tensor *t, kb_status *status, kb_error *why)
{
    void *bytes = malloc(kb_dtype_size(kb_tensor_dtype(t), bench_n_elements(kb_tensor_shape(t))));

    *status = bytes ? kb_tensor_read(t, bytes, why) : KB_NO_MEMORY;
    if (!*status)
        return bytes;
    free(bytes);
    return NULL;
}

/* `n` elements in blocks, which several threads convert. */
struct elements {
    kb_dtype dtype;
    const void *bytes;
    double *values;
    uint64_t n;
};

enum { BLOCK = 1 << 16, ROUNDED = 1024 };

static uint64_t end_of_block(const struct elements *e, int64_t block)
{
    uint64_t end = ((uint64_t)block + 1) * BLOCK;

    return end < e->n ? end : e->n;
}

static void read_values(kb_dtype dtype, const void *from, double *values, uint64_t n)
{
    if (dtype_is_float(dtype))
        cast_elements(KB_F64, values, dtype, from, n);
    else
        for (uint64_t i = 0; i < n; i++)
            values[i] = kb_element(dtype, from, i);
}

static void read_block(void *arg, int64_t block)
{
    const struct elements *e = arg;
    uint64_t begin = (uint64_t)block * BLOCK;
    const char *from = (const char *)e->bytes + kb_dtype_size(e->dtype, begin);

    read_values(e->dtype, from, &e->values[begin], end_of_block(e, block) - begin);
}

static kb_status read_input(const kb_tensor *t, double *values, kb_error *why)
{
    kb_status status;
    void *bytes = read_bytes(t, &status, why);
    struct elements e = {kb_tensor_dtype(t), bytes, values, bench_n_elements(kb_tensor_shape(t))};

    if (bytes)
        kb_reference_parallel((int64_t)((e.n + BLOCK - 1) / BLOCK), read_block, &e);
    free(bytes);
    return status;
}

/* Inputs as they are, zeros for outputs. */
static kb_status expected_new(const kb_bench_run *run, struct expected *e, kb_error *why)
{
    kb_status status = KB_OK;

    for (size_t i = 0; i < run->n_tensors && !status; i++) {
        const kb_tensor *t = run->tensors[i];

        if (run->roles[i] == KB_BENCH_SCRATCH)
            continue;
        e->t[i] = calloc(bench_n_elements(kb_tensor_shape(t)), sizeof *e->t[i]);
        if (!e->t[i])
            return KB_NO_MEMORY;
        if (run->roles[i] == KB_BENCH_INPUT)
            status = read_input(t, e->t[i], why);
    }
    return status;
}

/* "c[3,17]": element `index` in C order. */
static void name_element(const kb_tensor *t, uint64_t index, char *text, size_t room)
{
    kb_shape shape = kb_tensor_shape(t);
    uint64_t rest = bench_n_elements(shape);
    size_t n = (size_t)snprintf(text, room, "%s", kb_tensor_name(t));

    for (int64_t i = 0; i < shape.rank && n < room; i++) {
        rest /= (uint64_t)shape.dim[i];
        n += (size_t)snprintf(text + n, room - n, "%c%llu", i > 0 ? ',' : '[',
                              (unsigned long long)(index / rest));
        index %= rest;
    }
    if (n < room)
        snprintf(text + n, room - n, "]");
}

/* `n` values as elements of `dtype`: to nearest even; integers saturate, where a cast cuts off. */
static void round_values(kb_dtype dtype, void *rounded, const double *values, uint64_t n)
{
    if (dtype_is_float(dtype))
        cast_elements(dtype, rounded, KB_F64, values, n);
    else
        for (uint64_t i = 0; i < n; i++)
            kb_element_set(dtype, rounded, i, values[i]);
}

/* An output beside what it should be, in blocks. */
struct blocks {
    struct elements want; /* `bytes`: what it is */
    kb_difference *of;    /* owned; [block] */
};

/* Adds `d`, of elements from `first` on; the first difference of all is the one to tell. */
static void merge(kb_difference *all, const kb_difference *d, uint64_t first)
{
    if (!(d->max_abs_err <= all->max_abs_err))
        all->max_abs_err = d->max_abs_err;
    if (all->n_bad == 0 && d->n_bad > 0) {
        all->index = first + d->index;
        all->got = d->got;
        all->want = d->want;
    }
    all->n_bad += d->n_bad;
}

/* Elements that have the very bytes they should have need no look at each. */
static void compare_block(void *arg, int64_t block)
{
    const struct blocks *c = arg;
    kb_dtype dtype = c->want.dtype;
    kb_difference all = {0}, d;
    double rounded[ROUNDED], want[ROUNDED];
    uint64_t begin = (uint64_t)block * BLOCK, end = end_of_block(&c->want, block);

    for (uint64_t i = begin; i < end; i += ROUNDED) {
        uint64_t n = end - i < ROUNDED ? end - i : ROUNDED;
        const char *got = (const char *)c->want.bytes + kb_dtype_size(dtype, i);

        round_values(dtype, rounded, &c->want.values[i], n);
        if (memcmp(rounded, got, kb_dtype_size(dtype, n)) == 0)
            continue;
        read_values(dtype, rounded, want, n);
        kb_compare(dtype, got, want, n, &d);
        merge(&all, &d, i);
    }
    c->of[block] = all;
}

/* The differences of all blocks as one. */
static kb_difference merged(const struct blocks *c, size_t n_blocks)
{
    kb_difference all = {0};

    for (size_t i = 0; i < n_blocks; i++)
        merge(&all, &c->of[i], 0);
    return all;
}

/* All that is compared. The first difference is the one to tell; the largest is of all. */
struct comparison {
    double max_abs_err; /* NAN: nothing was compared */
    kb_status status;
    kb_error *why;
};

static void add_failure(struct comparison *all, kb_status status, const kb_error *why)
{
    if (all->status == KB_OK && all->why)
        *all->why = *why;
    if (all->status == KB_OK || status != KB_DIFFERENT)
        all->status = status;
}

static void add_difference(const kb_tensor *t, const kb_difference *d, const kb_endpoint *of,
                           struct comparison *all)
{
    uint64_t n = bench_n_elements(kb_tensor_shape(t));
    char name[2 * SHOWN_BYTES], copy[KB_ENDPOINT_BYTES + 32] = "", pe[KB_ENDPOINT_BYTES];
    kb_error why;

    name_element(t, d->index, name, sizeof name);
    if (of) {
        kb_endpoint_name(of, pe);
        snprintf(copy, sizeof copy, " in the copy of %s", pe);
    }
    endpoint_error(&why, "%s is %.12g%s, expected %.12g; %llu of %llu elements differ", name,
                   d->got, copy, d->want, (unsigned long long)d->n_bad, (unsigned long long)n);
    add_failure(all, KB_DIFFERENT, &why);
}

/* Compares the elements of one output, with the copy of PE `of`; NULL: with the first copies. */
static void compare(struct blocks *blocks, const kb_tensor *t, const kb_endpoint *of,
                    struct comparison *all)
{
    size_t n_blocks = (size_t)((blocks->want.n + BLOCK - 1) / BLOCK);
    kb_difference d;

    kb_reference_parallel((int64_t)n_blocks, compare_block, blocks);
    d = merged(blocks, n_blocks);
    if (d.n_bad)
        add_difference(t, &d, of, all);
    if (!(d.max_abs_err <= all->max_abs_err))
        all->max_abs_err = d.max_abs_err;
}

/*
 * Compares one output, and each copy of its parts that is not the same as one before. Its bytes may
 * lack: a kernel that did not write them computed wrong.
 */
static void compare_copies(const kb_tensor *t, double *want, struct comparison *all)
{
    uint64_t n = bench_n_elements(kb_tensor_shape(t));
    kb_status status;
    kb_error why = {""};
    void *got = read_bytes(t, &status, &why);
    struct blocks blocks = {.want = {kb_tensor_dtype(t), got, want, n},
                            .of = calloc(n / BLOCK + 1, sizeof *blocks.of)};
    uint32_t next = 0;
    kb_endpoint of;
    bool more;

    if (!status && !blocks.of)
        status = KB_NO_MEMORY;
    more = !status;
    if (more)
        compare(&blocks, t, NULL, all);
    while (more) {
        status = host_next_copy(t, &next, got, &of, &more, &why);
        if (more)
            compare(&blocks, t, &of, all);
    }
    if (status)
        add_failure(all, status == KB_BAD_REQUEST ? KB_DIFFERENT : status, &why);
    free(blocks.of);
    free(got);
}

struct reference {
    const kb_bench_run *run;
    double *const *t;
};

static void refer(void *arg)
{
    const struct reference *r = arg;

    r->run->bench->reference(r->run, r->t);
}

kb_status kb_bench_verify(const kb_bench_run *run, double *max_abs_err, kb_error *why)
{
    REFUSE_NULL(run && max_abs_err, "run, max_abs_err", why);
    struct expected e = {{NULL}};
    struct comparison all = {NAN, expected_new(run, &e, why), why};

    *max_abs_err = NAN;
    if (!run->bench->reference) {
        expected_free(&e);
        return endpoint_error(why, "bench %s has no reference to verify with", run->bench->name);
    }
    if (!all.status)
        all.status = bench_call(run, "reference()", refer, &(struct reference){run, e.t}, all.why);
    if (all.status == KB_KERNEL_CRASHED)
        return all.status; /* the heap may be damaged: nothing is given back */
    for (size_t i = 0; i < run->n_tensors && (!all.status || all.status == KB_DIFFERENT); i++)
        if (run->roles[i] == KB_BENCH_OUTPUT)
            compare_copies(run->tensors[i], e.t[i], &all);
    *max_abs_err = all.max_abs_err;
    expected_free(&e);
    return all.status;
}
