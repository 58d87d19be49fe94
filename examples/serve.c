/* serve.c -- launches side by side: the prompt of one user beside the words of another.
 *
 *     kernbench cc serve.c
 *     kernbench run ./serve.so:serve --verify
 *     kernbench run ./serve.so:serve streams=1
 *
 * The first half of the PEs multiplies the rows of a prompt, x, by the weights: one launch, the
 * prefill. The other half multiplies one row, u, at a time: a launch for each step, the decode,
 * whose PEs share the columns. All PEs have x, u and w in their slices. The decode is a stream of
 * its own, so that it does not wait for the prefill; with streams=1 it does.
 */
#include <tl.h>

static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};
static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

enum { STEPS_MOST = 64 };

/* What a launch of the decode is told. */
struct step {
    int64_t row;
    uint32_t first, n; /* its PEs */
};

static struct step steps[STEPS_MOST];

static uint64_t row_address(tl_ctx *tl, const kb_tensor *y, int64_t row)
{
    for (uint32_t pe = 0; pe < kb_pe_count(tl_topology(tl)); pe++) {
        kb_shard s = kb_tensor_shard(y, pe);

        if (row >= s.first[0] && row < s.first[0] + s.shape.dim[0])
            return s.address + (uint64_t)((row - s.first[0]) * s.shape.dim[1] * 2);
    }
    return 0;
}

static void prefill(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard w = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    int64_t n = kb_pe_count(tl_topology(tl)) / 2, rows = x.shape.dim[0], d = x.shape.dim[1];
    tl_tensor *weights = tl_load(tl, w.address, KB_F16, w.shape);

    for (int64_t i = tl_pe(tl); i < rows; i += n) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *row = tl_load(tl, x.address + (uint64_t)(i * d * 2), KB_F16, KB_SHAPE(1, d));

        tl_store(tl, row_address(tl, args->tensors[3], i), tl_dot(tl, row, weights));
        tl_release(tl, mark);
    }
}

/* One row, of which each PE makes some columns. */
static void decode(tl_ctx *tl, const kb_args *args)
{
    const struct step *step = args->user;
    kb_shard u = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard w = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    int64_t d = u.shape.dim[1], rank = tl_pe(tl) - step->first;
    int64_t from = rank * d / step->n, n = (rank + 1) * d / step->n - from;
    int64_t strides[] = {2 * d, 2};
    uint64_t to = row_address(tl, args->tensors[4], step->row) + (uint64_t)(from * 2);

    if (n == 0)
        return;
    tl_tensor *row = tl_load(tl, u.address + (uint64_t)(step->row * d * 2), KB_F16, KB_SHAPE(1, d));
    tl_tensor *columns =
        tl_load_strided(tl, w.address + (uint64_t)(from * 2), KB_F16, KB_SHAPE(d, n), strides);

    tl_store(tl, to, tl_dot(tl, row, columns));
}

static void setup(kb_bench_run *run)
{
    static uint32_t pes[8192];
    int64_t tokens = kb_bench_int(run, "tokens"), n = kb_bench_int(run, "steps"), d = 128;
    uint32_t all = kb_pe_count(kb_bench_topology(run)), half = all / 2;

    if (half == 0 || all > 8192) {
        kb_bench_refuse(run, "serve: 2 to 8192 PEs");
        return;
    }
    for (uint32_t i = 0; i < all; i++)
        pes[i] = i;
    kb_bench_input(run, "x", KB_F16, KB_SHAPE(tokens, d), everywhere, 1);
    kb_bench_input(run, "u", KB_F16, KB_SHAPE(n, d), everywhere, 1);
    kb_bench_input(run, "w", KB_F16, KB_SHAPE(d, d), everywhere, 0.1);
    kb_bench_output(run, "y", KB_F16, KB_SHAPE(tokens, d), by_rows);
    kb_bench_output(run, "z", KB_F16, KB_SHAPE(n, d), by_rows);
    kb_bench_launch(run, "prefill", prefill, pes, half);
    for (int64_t i = 0; i < n; i++) {
        steps[i] = (struct step){i, half, all - half};
        kb_bench_launch_request(
            run, &(kb_launch_request){.name = "decode",
                                      .kernel = decode,
                                      .args.user = &steps[i],
                                      .pes = pes + half,
                                      .n_pes = all - half,
                                      .stream = (uint32_t)kb_bench_int(run, "streams") - 1});
    }
}

static void reference(const kb_bench_run *run, double *const *t)
{
    kb_reference_product(t[0], t[2], t[3], kb_bench_int(run, "tokens"), 128, 128);
    kb_reference_product(t[1], t[2], t[4], kb_bench_int(run, "steps"), 128, 128);
}

static const kb_bench_arg args_of_serve[] = {
    {"tokens", KB_ARG_INT, "256", 1, 4096, NULL, "rows of the prompt"},
    {"steps", KB_ARG_INT, "3", 1, STEPS_MOST, NULL, "launches of the decode"},
    {"streams", KB_ARG_INT, "2", 1, 2, NULL, "1: the decode waits for the prefill"},
};

static const kb_bench bench_serve = {
    .name = "serve",
    .summary = "a prefill on half of the PEs beside a decode on the others",
    .args = args_of_serve,
    .n_args = sizeof args_of_serve / sizeof *args_of_serve,
    .setup = setup,
    .reference = reference,
};

KB_BENCHES(&bench_serve);
