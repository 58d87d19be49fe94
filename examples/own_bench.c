/* own_bench.c -- a kernel, from its tensors to its verified result: y = max(x w, 0). */
#include <cube8.h>
#include <kernbench.h>
#include <stdio.h>
#include <stdlib.h>
#include <tl.h>

enum { ROWS = 512, DEPTH = 64, COLUMNS = 32 };

/* Runs on every PE: multiplies its rows of x by all of w, of which it has a copy. */
static void relu_of_product(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard w = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[2], tl_pe(tl));

    tl_tensor *a = tl_load_async(tl, x.address, KB_F16, x.shape);
    tl_tensor *b = tl_load_async(tl, w.address, KB_F16, w.shape);
    tl_wait(tl, a);
    tl_wait(tl, b);
    tl_tensor *c = tl_dot(tl, a, b, .dtype_out = KB_F32);
    tl_store(tl, y.address, tl_maximum(tl, c, tl_scalar(tl, 0)));
}

/* Prints why a call has failed, and ends the program. */
static void need(kb_status status, const kb_error *why)
{
    if (status == KB_OK)
        return;
    fprintf(stderr, "own_bench: %s\n", why->text);
    exit(1);
}

static kb_tensor *new_tensor(kb_sim *sim, const char *name, kb_dtype dtype, int64_t rows,
                             int64_t columns, kb_placement_split split)
{
    kb_placement placement = {split, split}; /* over the cubes, and over each cube's PEs */
    kb_error why = {"out of memory"};
    kb_tensor *tensor;

    need(kb_tensor_new(sim, name, dtype, KB_SHAPE(rows, columns), placement, &tensor, &why), &why);
    return tensor;
}

/* The reference: the same by three loops, in double. */
static void compute(const void *x, const void *w, double *y)
{
    for (uint64_t i = 0; i < ROWS; i++)
        for (uint64_t j = 0; j < COLUMNS; j++) {
            double sum = 0;

            for (uint64_t k = 0; k < DEPTH; k++)
                sum +=
                    kb_element(KB_F16, x, i * DEPTH + k) * kb_element(KB_F16, w, k * COLUMNS + j);
            y[i * COLUMNS + j] = sum > 0 ? sum : 0;
        }
}

/* Compares y in the simulated memories with the reference. */
static void check(kb_tensor *const t[3])
{
    static uint16_t x[ROWS * DEPTH], w[DEPTH * COLUMNS];
    static float y[ROWS * COLUMNS];
    static double want[ROWS * COLUMNS];
    kb_error why = {"out of memory"};
    kb_difference difference;

    need(kb_tensor_read(t[0], x, &why), &why);
    need(kb_tensor_read(t[1], w, &why), &why);
    need(kb_tensor_read(t[2], y, &why), &why);
    compute(x, w, want);
    if (kb_compare(KB_F32, y, want, ROWS * COLUMNS, &difference) != KB_OK) {
        fprintf(stderr, "own_bench: element %llu is %g, not %g\n",
                (unsigned long long)difference.index, difference.got, difference.want);
        exit(1);
    }
    printf("all %d elements as they should be\n", ROWS * COLUMNS);
}

int main(void)
{
    kb_options options = {.phase2 = true}; /* not only times, also results */
    kb_error why = {"out of memory"};
    kb_launch_result r;
    kb_sim *sim;

    need(kb_sim_new(&cube8_topology, &options, &sim), &why);
    kb_tensor *tensors[] = {new_tensor(sim, "x", KB_F16, ROWS, DEPTH, KB_ROW_WISE),
                            new_tensor(sim, "w", KB_F16, DEPTH, COLUMNS, KB_REPLICATE),
                            new_tensor(sim, "y", KB_F32, ROWS, COLUMNS, KB_ROW_WISE)};
    kb_launch_request launch = {.name = "relu_of_product",
                                .kernel = relu_of_product,
                                .args = {.tensors = tensors, .n_tensors = 3}};

    need(kb_tensor_fill_random(tensors[0], 0, 1, &why), &why);
    need(kb_tensor_fill_random(tensors[1], 0, 0.125, &why), &why);
    need(kb_launch(sim, &launch, &why), &why);
    need(kb_sim_run(sim, 0, &why), &why);    /* Phase 1: times */
    need(kb_compute(sim, NULL, &why), &why); /* Phase 2: results */
    need(kb_launch_get(sim, 0, &r), &why);
    printf("%u PEs, %.6f ns, %llu bytes read, %llu written, %llu multiplications\n", r.pes,
           (double)(r.last_end_fs - r.start_fs) / KB_FS_PER_NS,
           (unsigned long long)r.dma_read_bytes, (unsigned long long)r.dma_write_bytes,
           (unsigned long long)r.gemm_macs);
    check(tensors);
    kb_sim_free(sim);
    return 0;
}
