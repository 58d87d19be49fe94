/*
 * phase2.c -- what Phase 2 takes, beside bare BLIS in the same run.
 *
 * GEMMs of 64..2048 in f32; 1024^3 in f16 from tiles, as a kernel would do it; 10,000 of 64^3, all
 * operands different; f16 of 128x256x128; one thread and two. GFLOP/s in processor time, with two
 * threads in wall time.
 *
 * usage: phase2 ROUNDS; samples go to stdout (bench.h)
 */
#include "products.h"
#include "cube8.h"
#include "phase2/exec.h"
#include "phase2/gemm.h"
#include <blis-serial/blis.h>

enum { SMALL = 64, MANY = 10000 };

/* In the configuration that BLIS finds by itself, and in that of AVX-512, if there is that. */
static cntx_t *blis_cntx[2];
static int n_blis = 1;

static void find_blis(void)
{
    bli_init();
    blis_cntx[0] = bli_gks_lookup_nat_cntx(BLIS_ARCH_HASWELL);
    if (__builtin_cpu_supports("avx512dq"))
        blis_cntx[n_blis++] = bli_gks_lookup_nat_cntx(BLIS_ARCH_SKX);
}

static void blis(int which, dim_t m, dim_t n, dim_t k, struct version *a, struct version *b,
                 struct version *c)
{
    float one = 1, zero = 0;

    bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, m, n, k, &one, (float *)(void *)a->bytes, k,
                 1, (float *)(void *)b->bytes, n, 1, &zero, (float *)(void *)c->bytes, n, 1,
                 blis_cntx[which], NULL);
}

static const char *const blis_names[] = {"blis haswell", "blis skx"};

static void ours(const struct op *op, struct gemm_memory *room)
{
    for (uint32_t part = 0, n = gemm_parts(op); part < n; part++)
        if (!gemm_part(op, part, op->out.view.v->bytes, room))
            must_have(NULL);
}

static void sample(const char *name, const char *what, int round, double flop, double ns)
{
    bench_sample(name, what, "GFLOP/s", round, flop / ns);
}

/* -- one product ---------------------------------------------------------------------------- */

struct square {
    struct version *a, *b, *c;
    struct op op;
    int times;
};

static struct square square_new(uint32_t n)
{
    size_t elements = (size_t)n * n;
    struct square s = {.times = 1 + (int)(4e8 / (2.0 * n * n * n))};

    s.a = random_matrix(KB_F32, elements, 1);
    s.b = random_matrix(KB_F32, elements, 2);
    s.c = random_matrix(KB_F32, elements, 3);
    s.op = product(matrix(s.a, 0, KB_F32, n, n), matrix(s.b, 0, KB_F32, n, n),
                   matrix(s.c, 0, KB_F32, n, n));
    return s;
}

/* `keep`: operands stay packed, as those of tiles do that are used again. */
static double time_ours(const struct square *s, struct gemm_memory *room, bool keep)
{
    double begin = bench_processor_ns();

    for (int i = 0; i < s->times; i++) {
        ours(&s->op, room);
        if (!keep) {
            gemm_forget(s->a);
            gemm_forget(s->b);
        }
    }
    return bench_processor_ns() - begin;
}

static double time_blis(const struct square *s, int which)
{
    double begin = bench_processor_ns();

    for (int i = 0; i < s->times; i++)
        blis(which, s->op.m, s->op.n, s->op.k, s->a, s->b, s->c);
    return bench_processor_ns() - begin;
}

static void one_product(uint32_t n, int rounds)
{
    struct square s = square_new(n);
    struct gemm_memory room = {.pool = must_have(gemm_pool_new())};
    double flop = 2.0 * n * n * n * s.times;
    char what[32];

    snprintf(what, sizeof what, "n=%u", n);
    for (int round = 1; round <= rounds; round++) {
        for (int w = 0; w < n_blis; w++)
            sample(blis_names[w], what, round, flop, time_blis(&s, w));
        sample("ours", what, round, flop, time_ours(&s, &room, false));
        sample("ours packed", what, round, flop, time_ours(&s, &room, true));
        gemm_forget(s.a);
        gemm_forget(s.b);
    }
    gemm_pool_free(room.pool);
    version_drop(s.a);
    version_drop(s.b);
    version_drop(s.c);
}

/* -- graphs --------------------------------------------------------------------------------- */

/* Logs `op`, and gives its operands back; returns its result, owned. */
static struct op_tensor logged(struct op_log *log, struct op *op, uint32_t *id)
{
    op->out.view.v = must_have(version_new_result(
        dims_elements(&op->out.shape) * kb_dtype_bytes((kb_dtype)op->out.dtype), *id));
    op->id = (*id)++;
    if (!op_log_add(log, op, 0, 0))
        must_have(NULL);
    for (uint32_t i = 0; i < op->n_in; i++)
        version_drop(op->in[i].view.v);
    return op->out;
}

static struct op_tensor logged_product(struct op_log *log, struct version *a, struct version *b,
                                       const uint32_t tile[3], kb_dtype in, kb_dtype out,
                                       uint32_t *id)
{
    struct op op = product(matrix(version_keep(a), 0, in, tile[0], tile[1]),
                           matrix(version_keep(b), 0, in, tile[1], tile[2]),
                           matrix(NULL, 0, out, tile[0], tile[2]));

    return logged(log, &op, id);
}

static struct op_tensor logged_math(struct op_log *log, enum tl_op math, struct op_tensor x,
                                    struct op_tensor y, kb_dtype out, uint32_t *id)
{
    struct op op = {.kind = OP_MATH, .math = (uint8_t)math, .n_in = math_rows[math].operands};

    op.in[0] = x;
    op.in[1] = y;
    op.out = x;
    op.out.dtype = (uint8_t)out;
    return logged(log, &op, id);
}

static struct version **tiles_new(uint32_t n, kb_dtype dtype, size_t elements, uint64_t seed)
{
    struct version **tiles = must_have(malloc(n * sizeof *tiles));

    for (uint32_t i = 0; i < n; i++)
        tiles[i] = random_matrix(dtype, elements, seed + i);
    return tiles;
}

static void tiles_free(struct version **tiles, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        version_drop(tiles[i]);
    free(tiles);
}

static double time_exec(struct op_log *log, unsigned threads, double (*clock)(void))
{
    double begin = clock();
    kb_error why;

    if (exec_run(log, NULL, &(kb_compute_options){.threads = threads, .verify_ops = false}, &why) !=
        KB_OK) {
        fprintf(stderr, "phase2: %s\n", why.text);
        exit(6);
    }
    return clock() - begin;
}

/* One tile of the result: partial sums stay f32, and are rounded once. docs/kernels.md, "Two
 * phases" */
static void log_tile(struct op_log *log, struct version *const *a, struct version *const *b,
                     uint32_t steps, uint32_t columns, const uint32_t tile[3], uint32_t *id)
{
    struct op_tensor sum, part, none = {.address = 0};

    for (uint32_t k = 0; k < steps; k++) {
        part = logged_product(log, a[k], b[k * columns], tile, KB_F16, KB_F32, id);
        sum = k ? logged_math(log, TL_ADD, sum, part, KB_F32, id) : part;
    }
    sum = logged_math(log, TL_CAST, sum, none, KB_F16, id);
    version_drop(sum.view.v);
}

static double tiled(const uint32_t tile[3], unsigned threads, double (*clock)(void))
{
    uint32_t rows = 1024 / tile[0], steps = 1024 / tile[1], columns = 1024 / tile[2], id = 0;
    struct version **a = tiles_new(rows * steps, KB_F16, (size_t)tile[0] * tile[1], 1);
    struct version **b = tiles_new(steps * columns, KB_F16, (size_t)tile[1] * tile[2], 1000);
    struct op_log *log = must_have(op_log_new(&cube8_topology, 0, true));
    double ns;

    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++)
            log_tile(log, a + i * steps, b + j, steps, columns, tile, &id);
    ns = time_exec(log, threads, clock);
    op_log_free(log);
    tiles_free(a, rows * steps);
    tiles_free(b, steps * columns);
    return ns;
}

static void all_tiled(int rounds)
{
    static const uint32_t tiles[][3] = {{32, 64, 32}, {64, 64, 64}, {128, 128, 128}};
    struct square s = square_new(1024);
    char what[48];

    for (int round = 1; round <= rounds; round++) {
        sample(blis_names[n_blis - 1], "whole 1024", round, 2e-9 * 1024 * 1024 * 1024 * s.times,
               time_blis(&s, n_blis - 1) / 1e9);
        for (size_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++) {
            snprintf(what, sizeof what, "f16 1024 tiles %ux%ux%u", tiles[t][0], tiles[t][1],
                     tiles[t][2]);
            sample("ours", what, round, 2.0 * 1024 * 1024 * 1024,
                   tiled(tiles[t], 1, bench_processor_ns));
        }
        for (unsigned threads = 1; threads <= 2; threads++)
            bench_sample(threads == 1 ? "one thread" : "two threads", "f16 1024 tiles", "ms", round,
                         tiled(tiles[2], threads, bench_wall_ns) / 1e6);
    }
    version_drop(s.a);
    version_drop(s.b);
    version_drop(s.c);
}

/* -- many small ones ------------------------------------------------------------------------ */

static double many_ours(struct version *const *a, struct version *const *b)
{
    static const uint32_t tile[3] = {SMALL, SMALL, SMALL};
    struct op_log *log = must_have(op_log_new(&cube8_topology, 0, true));
    struct version **results = must_have(malloc(MANY * sizeof *results));
    uint32_t id = 0;
    double ns;

    for (uint32_t i = 0; i < MANY; i++)
        results[i] = logged_product(log, a[i], b[i], tile, KB_F32, KB_F32, &id).view.v;
    ns = time_exec(log, 1, bench_processor_ns);
    op_log_free(log);
    tiles_free(results, MANY);
    return ns;
}

static double many_blis(int which, struct version *const *a, struct version *const *b)
{
    double begin = bench_processor_ns(), ns;
    struct version **c = must_have(malloc(MANY * sizeof *c));

    for (uint32_t i = 0; i < MANY; i++) { /* results are new memory, as ours are */
        c[i] = must_have(version_new_bytes(SMALL * SMALL * sizeof(float)));
        blis(which, SMALL, SMALL, SMALL, a[i], b[i], c[i]);
    }
    ns = bench_processor_ns() - begin;
    tiles_free(c, MANY);
    return ns;
}

/* The same where results have memory already: what remains is the reading, computing, writing. */
static double many_in_place(int which, struct version *const *a, struct version *const *b,
                            struct version *const *c)
{
    double begin = bench_processor_ns();

    for (uint32_t i = 0; i < MANY; i++)
        blis(which, SMALL, SMALL, SMALL, a[i], b[i], c[i]);
    return bench_processor_ns() - begin;
}

static struct gemm_ahead whole(const struct version *v)
{
    return (struct gemm_ahead){v->bytes, v->bytes + v->nbytes};
}

static double many_ours_in_place(struct version *const *a, struct version *const *b,
                                 struct version *const *c)
{
    struct gemm_memory room = {.pool = must_have(gemm_pool_new())};
    double begin = bench_processor_ns(), ns;

    for (uint32_t i = 0; i < MANY; i++) {
        struct op op =
            product(matrix(a[i], 0, KB_F32, SMALL, SMALL), matrix(b[i], 0, KB_F32, SMALL, SMALL),
                    matrix(c[i], 0, KB_F32, SMALL, SMALL));

        if (i + 1 < MANY) {
            room.ahead[0] = whole(a[i + 1]);
            room.ahead[1] = whole(b[i + 1]);
            room.ahead[2] = whole(c[i + 1]);
        }
        ours(&op, &room);
        gemm_forget(a[i]);
        gemm_forget(b[i]);
    }
    ns = bench_processor_ns() - begin;
    gemm_memory_free(&room);
    gemm_pool_free(room.pool);
    return ns;
}

static void many_small(int rounds)
{
    struct version **a = tiles_new(MANY, KB_F32, SMALL * SMALL, 1);
    struct version **b = tiles_new(MANY, KB_F32, SMALL * SMALL, 1 + MANY);
    struct version **c = tiles_new(MANY, KB_F32, SMALL * SMALL, 1 + 2 * MANY);
    double flop = 2.0 * SMALL * SMALL * SMALL * MANY;

    for (int round = 1; round <= rounds; round++) {
        for (int w = 0; w < n_blis; w++) {
            sample(blis_names[w], "10000 of 64 new", round, flop, many_blis(w, a, b));
            sample(blis_names[w], "10000 of 64", round, flop, many_in_place(w, a, b, c));
        }
        sample("ours", "10000 of 64 new", round, flop, many_ours(a, b));
        sample("ours", "10000 of 64", round, flop, many_ours_in_place(a, b, c));
    }
    tiles_free(a, MANY);
    tiles_free(b, MANY);
    tiles_free(c, MANY);
}

/* -- f16, and threads ----------------------------------------------------------------------- */

static void one_f16(int rounds)
{
    struct version *a = random_matrix(KB_F16, 128 * 256, 1),
                   *b = random_matrix(KB_F16, 256 * 128, 2);
    struct version *c = random_matrix(KB_F16, 128 * 128, 3);
    struct op op = product(matrix(a, 0, KB_F16, 128, 256), matrix(b, 0, KB_F16, 256, 128),
                           matrix(c, 0, KB_F16, 128, 128));
    struct gemm_memory room = {.pool = must_have(gemm_pool_new())};

    for (int round = 1; round <= rounds; round++) {
        double begin = bench_processor_ns();

        for (int i = 0; i < 500; i++) {
            ours(&op, &room);
            gemm_forget(a);
            gemm_forget(b);
        }
        bench_sample("ours", "f16 128x256x128", "us", round, (bench_processor_ns() - begin) / 5e5);
    }
    gemm_memory_free(&room);
    gemm_pool_free(room.pool);
    version_drop(a);
    version_drop(b);
    version_drop(c);
}

static double shared_product(unsigned threads, uint32_t n, struct version *a, struct version *b)
{
    const uint32_t tile[3] = {n, n, n};
    struct op_log *log = must_have(op_log_new(&cube8_topology, 0, true));
    uint32_t id = 0;
    double ns;

    version_drop(logged_product(log, a, b, tile, KB_F32, KB_F32, &id).view.v);
    ns = time_exec(log, threads, bench_wall_ns);
    op_log_free(log);
    return ns;
}

static void two_threads(int rounds)
{
    enum { N = 1536 };
    struct version *a = random_matrix(KB_F32, N * N, 1), *b = random_matrix(KB_F32, N * N, 2);

    for (int round = 1; round <= rounds; round++)
        for (unsigned threads = 1; threads <= 2; threads++)
            bench_sample(threads == 1 ? "one thread" : "two threads", "one of 1536", "ms", round,
                         shared_product(threads, N, a, b) / 1e6);
    version_drop(a);
    version_drop(b);
}

int main(int argc, char **argv)
{
    int rounds = argc == 2 ? atoi(argv[1]) : 0;

    if (rounds < 1) {
        fprintf(stderr, "usage: phase2 ROUNDS\n");
        return 2;
    }
    find_blis();
    fprintf(stderr, "%s\n", kb_compute_backend());
    for (uint32_t n = 64; n <= 2048; n *= 2)
        one_product(n, rounds);
    all_tiled(rounds);
    many_small(rounds);
    one_f16(rounds);
    two_threads(rounds);
    return 0;
}
