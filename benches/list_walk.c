/* list_walk.c -- one PE follows a list through the HBM of all PEs: path[i] = next[path[i-1]].
 *
 * Pointer chasing, the latency of the machine without any parallelism. The list `next` is one
 * random cycle through all N nodes, which are spread over all slices. PE 0 alone runs: it loads an
 * element of 8 bytes, whose value is the number of the next node, so no two loads overlap. It
 * stores every element to the next place of `path`, which is spread over the slices as well.
 *
 * On cube8 with the initial values 256 steps take 5162.48 ns, 20.17 ns each on average. Of these 6
 * are the issue of two commands, and the rest is two routes to slices near and far.
 *
 * Arguments: N nodes, L steps; the cycle is drawn from --seed.
 */
#include "bench_tile.h"

static void list_walk(tl_ctx *tl, const kb_args *args)
{
    const kb_tensor *next = args->tensors[0], *path = args->tensors[1];
    int64_t steps = kb_tensor_shape(path).dim[0], node = 0;

    for (int64_t i = 0; i < steps; i++) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *x = tl_load(tl, row_address(tl, next, node), KB_I64, KB_SHAPE(1));

        node = *(const int64_t *)tl_data(tl, x);
        tl_store(tl, row_address(tl, path, i), x);
        tl_release(tl, mark);
    }
}

/* A single cycle through all nodes, by Sattolo's shuffle. */
static void fill_next(kb_bench_run *run, double *next, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        next[i] = (double)i;
    for (uint64_t i = n - 1; i > 0; i--) {
        uint64_t j = kb_bench_random(run, i);
        double was = next[i];

        next[i] = next[j];
        next[j] = was;
    }
}

static void setup(kb_bench_run *run)
{
    static const uint32_t first_pe[] = {0};

    kb_bench_input_by(run, "next", KB_I64, KB_SHAPE(kb_bench_int(run, "N")), BY_ROWS, fill_next);
    kb_bench_output(run, "path", KB_I64, KB_SHAPE(kb_bench_int(run, "L")), BY_ROWS);
    kb_bench_launch(run, "list_walk", list_walk, first_pe, 1);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t node = 0;

    for (int64_t i = 0; i < kb_bench_int(run, "L"); i++) {
        t[1][i] = t[0][node];
        node = (int64_t)t[1][i];
    }
}

static const kb_bench_arg args_of_list_walk[] = {
    SIZE_ARG("N", "1024", "nodes of the list"),
    SIZE_ARG("L", "256", "steps"),
};

const kb_bench bench_list_walk = {
    .name = "list_walk",
    .summary = "path[i] = next[path[i-1]]: one PE chases a list through all slices",
    .args = args_of_list_walk,
    .n_args = sizeof args_of_list_walk / sizeof *args_of_list_walk,
    .setup = setup,
    .reference = reference,
};
