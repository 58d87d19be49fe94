/* reference_product.c -- c += a b in doubles, to the bit what three plain loops compute, but
 * faster.
 *
 * A reference must be simple, since results are held to it:
 *
 *     for i, for p, for j:    c[i,j] += a[i,p] * b[p,j]
 *
 * Here the same products are added to the same sums in the same order; only the order in which
 * different sums take turns is another one. It shares nothing with gemm.c and BLIS, whose results
 * it is there to judge.
 *
 * Why it is the same to the bit. An element of c is a chain of roundings that meets no other
 * element: c0 = c[i,j], then c1 = round(c0 + round(a[i,0] * b[0,j])), and so on up to k. So the
 * result is the same if, for each element alone,
 *   - p goes from 0 up, without a gap: panels of DEPTH are done one after the other, and within
 *     a panel the tile counts up;
 *   - there is one sum, which begins with c, not with 0 (else -0 + -0 would become 0): the tile
 * loads c and stores it, and storing a double loses nothing;
 *   - a product is rounded before it is added: -ffp-contract=off, as for all of the project, so
 *     that no fused multiply-add is made of the two.
 * A vector holds eight elements of one row, never eight terms of one sum. Of a NaN only that it is
 * one is the same: which of two NaNs a sum keeps is the compiler's choice in the plain loops, too.
 *
 * How it is fast. The plain loops load and store an element of c for each term. A tile keeps 8 x 8
 * elements in registers while p goes over a panel: of 8 columns of b, which are packed side by side
 * first (16 KiB, so that they stay in the L1 cache), and 8 rows of a. At the right and lower edges
 * of c the missing rows and columns are zeros, in copies, and what comes of them is dropped.
 *
 * Threads take chunks of 128 x 256 elements of c, one after the other. Each chunk has its sums for
 * itself, so nothing depends on which thread takes it, or when. Small products stay on the caller's
 * thread, and it does all work that no other thread could be started for. No memory is allocated:
 * a product cannot fail.
 *
 * Example: 2048 x 2048 x 2048 is 128 chunks, each of 8 panels of 32 tiles by 16. On one core of an
 * AMD EPYC with AVX-512 it takes 0.3 s, where the plain loops take 4.8 s.
 */
#include "base/larger.h"
#include "phase2/reference_product.h"
#include "kernbench.h"
#include "phase2/reference_parallel.h"

enum { ROWS = 8, COLUMNS = 8, DEPTH = 256 };
enum { CHUNK_ROWS = 128, CHUNK_COLUMNS = 256, WIDEST = 64 };

/* A thread takes some 30 us to start, in which this many terms are added. */
static const double terms_per_thread = 1 << 21;

/* -- tiles ---------------------------------------------------------------------------------- */

/* ROWS x COLUMNS elements of c and one panel of terms. */
struct tile {
    const double *a; /* ROWS rows of `depth`, `row_a` apart */
    const double *b; /* `depth` rows of COLUMNS, side by side */
    double *c;       /* ROWS rows of COLUMNS, `row_c` apart */
    int64_t row_a, row_c, depth;
};

typedef void tile_run(const struct tile *t);

#define EACH_SUM                                                                                   \
    _Pragma("GCC unroll 8") for (int i = 0; i < n_rows; i++)                                       \
        _Pragma("GCC unroll 8") for (int j = 0; j < n_vectors; j++)

/* HIGH rows at a time, as many as the registers of a processor with such vectors hold. */
#define TILE(NAME, TARGET, BYTES, HIGH)                                                            \
    typedef double NAME##_vector __attribute__((vector_size(BYTES), aligned(8), may_alias));       \
    TARGET static void NAME(const struct tile *t)                                                  \
    {                                                                                              \
        enum { n_rows = HIGH, lanes = BYTES / 8, n_vectors = COLUMNS / lanes };                    \
                                                                                                   \
        for (int row = 0; row < ROWS; row += HIGH) {                                               \
            const double *a = &t->a[row * t->row_a], *b = t->b;                                    \
            double *c = &t->c[row * t->row_c];                                                     \
            NAME##_vector sums[n_rows][n_vectors];                                                 \
                                                                                                   \
            EACH_SUM sums[i][j] = *(const NAME##_vector *)&c[i * t->row_c + j * lanes];            \
            for (int64_t p = 0; p < t->depth; p++, b += COLUMNS) {                                 \
                EACH_SUM sums[i][j] +=                                                             \
                    a[i * t->row_a + p] * *(const NAME##_vector *)&b[j * lanes];                   \
            }                                                                                      \
            EACH_SUM *(NAME##_vector *)&c[i * t->row_c + j * lanes] = sums[i][j];                  \
        }                                                                                          \
    }

TILE(tile_16, , 16, 2)
#ifdef __x86_64__
TILE(tile_32, __attribute__((target("avx2"))), 32, 4)
TILE(tile_64, __attribute__((target("avx512f"))), 64, 8)
#endif

static tile_run *tile_of(unsigned vector_bytes)
{
#ifdef __x86_64__
    if (vector_bytes >= 64 && __builtin_cpu_supports("avx512f"))
        return tile_64;
    if (vector_bytes >= 32 && __builtin_cpu_supports("avx2"))
        return tile_32;
#endif
    (void)vector_bytes;
    return tile_16;
}

/* -- chunks --------------------------------------------------------------------------------- */

struct work {
    const struct reference_product *product;
    tile_run *tile;
    int64_t chunks_across;
};

/* `rows` x `columns` elements, in rows `row_from` apart, to rows `row_to` apart. */
static void copy_block(double *to, int64_t row_to, const double *from, int64_t row_from,
                       int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[i * row_to + j] = from[i * row_from + j];
}

/* The tile of c from row `i`, column `j`, which ends beyond c: it is computed in a copy. */
static void run_edge(const struct work *w, const struct tile *t, int64_t i, int64_t j)
{
    int64_t rows = smaller(ROWS, w->product->m - i), columns = smaller(COLUMNS, w->product->n - j);
    double a[ROWS * DEPTH] = {0}, c[ROWS * COLUMNS] = {0};
    struct tile whole = {a, t->b, c, DEPTH, COLUMNS, t->depth};

    copy_block(a, DEPTH, t->a, t->row_a, rows, t->depth);
    copy_block(c, COLUMNS, t->c, t->row_c, rows, columns);
    w->tile(&whole);
    copy_block(t->c, t->row_c, c, COLUMNS, rows, columns);
}

/* Terms `p` to `p` + `depth` of all elements in columns `j` to `j` + COLUMNS, rows `i` to `end`. */
static void run_columns(const struct work *w, int64_t i, int64_t end, int64_t j, int64_t p,
                        int64_t depth)
{
    const struct reference_product *x = w->product;
    double packed[DEPTH * COLUMNS] = {0};

    copy_block(packed, COLUMNS, &x->b[p * x->n + j], x->n, depth, smaller(COLUMNS, x->n - j));
    for (; i < end; i += ROWS) {
        struct tile t = {&x->a[i * x->k + p], packed, &x->c[i * x->n + j], x->k, x->n, depth};

        if (i + ROWS <= x->m && j + COLUMNS <= x->n)
            w->tile(&t);
        else
            run_edge(w, &t, i, j);
    }
}

static void run_chunk(void *arg, int64_t chunk)
{
    const struct work *w = arg;
    const struct reference_product *x = w->product;
    int64_t i = chunk / w->chunks_across * CHUNK_ROWS, end_i = smaller(i + CHUNK_ROWS, x->m);
    int64_t j = chunk % w->chunks_across * CHUNK_COLUMNS, end_j = smaller(j + CHUNK_COLUMNS, x->n);

    for (int64_t p = 0; p < x->k; p += DEPTH)
        for (int64_t column = j; column < end_j; column += COLUMNS)
            run_columns(w, i, end_i, column, p, smaller(DEPTH, x->k - p));
}

/* -- the whole ------------------------------------------------------------------------------ */

/* No more threads than have work for the time that they take to start. */
static unsigned useful_threads(const struct reference_product *x, unsigned threads)
{
    double most = 1 + (double)x->m * (double)x->n * (double)x->k / terms_per_thread;

    return threads > most ? (unsigned)most : threads;
}

void reference_product(const struct reference_product *product, unsigned threads,
                       unsigned vector_bytes)
{
    int64_t down = (product->m + CHUNK_ROWS - 1) / CHUNK_ROWS;
    int64_t across = (product->n + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS;
    struct work w = {product, tile_of(vector_bytes), across};

    if (product->m > 0 && product->n > 0 && product->k > 0)
        reference_parallel(down * across, useful_threads(product, threads), run_chunk, &w);
}

void kb_reference_product(const double *a, const double *b, double *c, int64_t m, int64_t n,
                          int64_t k)
{
    reference_product(&(struct reference_product){a, b, c, m, n, k}, reference_processors(),
                      WIDEST);
}
