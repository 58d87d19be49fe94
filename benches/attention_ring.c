/* attention_ring.c -- o = softmax(q k^T / sqrt(D)) v: blocks of k and v go round a ring of PEs.
 *
 * Ring attention: rows of q, k and v are spread over all PEs, and each PE computes the rows of o
 * that belong to its rows of q. For each head a PE keeps its rows of q in its TCM, while the blocks
 * of k and v of all PEs pass by: it receives a block from the PE before it, multiplies, and sends
 * it to the PE behind it. After n steps each PE has seen all of k and v. Between blocks it keeps
 * the largest score, the sum of exp(score - largest), and that sum weighted by v (struct partial),
 * and scales the sums down when a later block has a larger score.
 *
 * The traffic is messages to the next PE of the ring, two for each block: k and v. The ring is laid
 * so that neighbours are near: it is that of the collectives, kb_coll_order(). The shift itself is
 * tl_send() and tl_recv_async(), as kb_coll.h has none: kb_send() goes from memory to memory and
 * returns when it is done. A receive of the next block is issued before the present block is sent,
 * so there is no deadlock, and both overlap with the arithmetic.
 *
 * On cube8 with the initial values each PE has 4 rows of q and 8 of k and v. A block of k is 8 * 64
 * f16, 1024 bytes, so 2 heads * 63 steps * 64 PEs * 2 messages move 16.5 MB, in 12691.68 ns: 101 ns
 * for each step. `attention` computes as many products in 4408 ns, without messages.
 *
 * Arguments: H heads, S rows of q and o, T rows of k and v, D columns of each head, dtype. With
 * more than 128 rows of q in a PE, k and v go round once for each 128; blocks have 32 rows at most.
 */
#include "attention.h"
#include "even.h"
#include "kb_coll.h"

/* The largest number of rows of q that a PE works on, and of rows of k and v that travel. */
enum { Q_ROWS = 128, KV_ROWS = 32 };
enum { Q, K, V, O };   /* tensors */
enum { TAG_K, TAG_V }; /* queues to the next PE */

struct plan {
    int64_t heads, s, t, d;
    int64_t q_rows, kv_rows;
    int64_t most_s, most_t; /* the largest number of rows of q, of k and v, of a PE */
    kb_dtype dtype, sums;
};

/* All PEs, each beside the one before, and the own place. */
struct ring {
    const uint32_t *pes;
    int64_t n, place;
};

/* The work of a PE: its place in the ring, and the head and rows of q that it works on. */
struct part {
    const kb_args *args;
    const struct plan *plan;
    struct ring ring;
    int64_t head;
    tl_tensor *q; /* NULL: it has no rows of q, and only passes blocks on */
    struct partial done;
};

/* Rows of k and v of one head. NULL: there are none. */
struct block {
    tl_tensor *k, *v;
};

static struct plan plan_of(const kb_bench_run *run, const kb_topology *topo)
{
    struct plan p = {.heads = kb_bench_int(run, "H"),
                     .s = kb_bench_int(run, "S"),
                     .t = kb_bench_int(run, "T"),
                     .d = kb_bench_int(run, "D"),
                     .dtype = kb_bench_dtype(run, "dtype")};
    int64_t fit = rows_that_fit(topo, p.d * 8, 8), cubes;
    kb_info info = info_of_pes(topo);

    cubes = (int64_t)info.sips * info.cubes_per_sip;
    p.sums = sum_dtype(p.dtype);
    p.q_rows = least(Q_ROWS, fit);
    p.kv_rows = least(KV_ROWS, fit);
    p.most_s = parts(parts(p.s, cubes), info.pes_per_cube);
    p.most_t = parts(parts(p.t, cubes), info.pes_per_cube);
    return p;
}

/* The number of rows of a PE's part of `t` from row `first` on, at most `most`. */
static int64_t rows_of(const kb_tensor *t, uint32_t pe, int64_t first, int64_t most)
{
    int64_t rows = kb_tensor_shard(t, pe).shape.dim[0] - first;

    return rows < 0 ? 0 : least(rows, most);
}

/* The address of the head's columns in row `row` of the PE's own part. */
static uint64_t address_in(tl_ctx *tl, const struct part *x, int tensor, int64_t row)
{
    const kb_tensor *t = x->args->tensors[tensor];
    const struct plan *p = x->plan;

    return kb_tensor_shard(t, tl_pe(tl)).address +
           (uint64_t)((row * p->heads + x->head) * p->d * element_bytes(t));
}

/* Distances of rows and columns, in bytes. */
#define STRIDES(p)                                                                                 \
    ((int64_t[]){(p)->heads * (p)->d * (int64_t)kb_dtype_bytes((p)->dtype),                        \
                 (int64_t)kb_dtype_bytes((p)->dtype)})

static tl_tensor *load_rows(tl_ctx *tl, const struct part *x, int tensor, int64_t row, int64_t rows)
{
    const struct plan *p = x->plan;

    return tl_load_strided_async(tl, address_in(tl, x, tensor, row), p->dtype, KB_SHAPE(rows, p->d),
                                 STRIDES(p));
}

/* Loads the PE's own block, from row `t` of its part on. */
static struct block own_block(tl_ctx *tl, const struct part *x, int64_t t)
{
    int64_t rows = rows_of(x->args->tensors[K], tl_pe(tl), t, x->plan->kv_rows);
    struct block b = {NULL, NULL};

    if (rows > 0) {
        b.k = load_rows(tl, x, K, t, rows);
        b.v = load_rows(tl, x, V, t, rows);
    }
    return b;
}

static struct ring ring_of(tl_ctx *tl)
{
    struct ring r = {kb_coll_order(tl, kb_group_all(tl)), all_pes(tl), 0};

    while (r.pes[r.place] != tl_pe(tl))
        r.place++;
    return r;
}

/* The PE `by` places further on, or back: -n <= by. */
static uint32_t ring_neighbour(const struct ring *r, int64_t by)
{
    return r->pes[(r->place + r->n + by) % r->n];
}

/* Begins to receive a block from the PE before: that of the PE `steps` places back. */
static struct block next_block(tl_ctx *tl, const struct part *x, int64_t t, int64_t steps)
{
    const struct plan *p = x->plan;
    uint32_t from = ring_neighbour(&x->ring, -1), owner = ring_neighbour(&x->ring, -steps);
    int64_t rows = rows_of(x->args->tensors[K], owner, t, p->kv_rows);
    struct block b = {NULL, NULL};

    if (rows > 0) {
        b.k = tl_recv_async(tl, from, TAG_K, p->dtype, KB_SHAPE(rows, p->d));
        b.v = tl_recv_async(tl, from, TAG_V, p->dtype, KB_SHAPE(rows, p->d));
    }
    return b;
}

static void wait_for(tl_ctx *tl, struct block b)
{
    if (b.k) {
        tl_wait(tl, b.k);
        tl_wait(tl, b.v);
    }
}

static void send_on(tl_ctx *tl, const struct part *x, struct block b)
{
    if (b.k) {
        tl_send(tl, ring_neighbour(&x->ring, 1), TAG_K, b.k);
        tl_send(tl, ring_neighbour(&x->ring, 1), TAG_V, b.v);
    }
}

static void free_block(tl_ctx *tl, struct block b)
{
    if (b.k) {
        tl_free(tl, b.k);
        tl_free(tl, b.v);
    }
}

/* x * by + more; frees x and more. */
static tl_tensor *grown(tl_ctx *tl, tl_tensor *x, tl_tensor *by, tl_tensor *more)
{
    tl_tensor *y = tl_fma(tl, x, by, more);

    tl_free(tl, x);
    tl_free(tl, more);
    return y;
}

/* Adds a block. If it has a larger score, the sums so far are scaled down. */
static void take_in(tl_ctx *tl, struct part *x, struct block b)
{
    kb_dtype sums = x->plan->sums;
    struct partial *done = &x->done;
    tl_tensor *weights = scores_of(tl, x->q, b.k, sums);
    struct partial all = {.max = tl_max(tl, weights, 1, true)};

    if (done->max) {
        tl_tensor *max = tl_maximum(tl, done->max, all.max);

        tl_free(tl, all.max);
        all.max = max;
    }
    weights = exp_above(tl, weights, all.max);
    all.sum = tl_sum(tl, weights, 1, true);
    weights = rounded(tl, weights, x->plan->dtype);
    all.acc = tl_dot(tl, weights, b.v, .dtype_out = sums);
    tl_free(tl, weights);
    if (done->max) {
        tl_tensor *by = exp_above(tl, done->max, all.max);

        all.sum = grown(tl, done->sum, by, all.sum);
        all.acc = grown(tl, done->acc, by, all.acc);
        tl_free(tl, by);
    }
    *done = all;
}

/*
 * Passes the block of every PE, from row `t` of its part on, once around the ring. Each PE begins
 * to receive the next block before it sends the present one, so that there is no deadlock, and
 * computes while both are under way.
 */
static void go_round(tl_ctx *tl, struct part *x, int64_t t)
{
    struct block now = own_block(tl, x, t), next = {NULL, NULL};

    wait_for(tl, now);
    for (int64_t step = 1; step <= x->ring.n; step++) {
        if (step < x->ring.n) {
            next = next_block(tl, x, t, step);
            send_on(tl, x, now);
        }
        if (x->q && now.k)
            take_in(tl, x, now);
        free_block(tl, now);
        if (step < x->ring.n)
            wait_for(tl, next);
        now = next;
    }
}

/* Computes the rows of o from row `s` on. All PEs take part, also those without rows. */
static void make_rows(tl_ctx *tl, struct part *x, int64_t s)
{
    const struct plan *p = x->plan;
    int64_t rows = rows_of(x->args->tensors[Q], tl_pe(tl), s, p->q_rows);
    uint64_t mark = tl_mark(tl);

    x->done = (struct partial){NULL, NULL, NULL};
    x->q = rows > 0 ? load_rows(tl, x, Q, s, rows) : NULL;
    if (x->q)
        tl_wait(tl, x->q);
    for (int64_t t = 0; t < p->most_t; t += p->kv_rows)
        go_round(tl, x, t);
    if (x->q) {
        tl_tensor *o = rounded(tl, tl_div(tl, x->done.acc, x->done.sum), p->dtype);

        tl_store_strided(tl, address_in(tl, x, O, s), o, STRIDES(p));
    }
    tl_release(tl, mark);
}

static void attention_ring(tl_ctx *tl, const kb_args *args)
{
    struct plan p = plan_of(args->user, tl_topology(tl));
    struct part x = {.args = args, .plan = &p, .ring = ring_of(tl)};

    for (x.head = 0; x.head < p.heads; x.head++)
        for (int64_t s = 0; s < p.most_s; s += p.q_rows)
            make_rows(tl, &x, s);
}

/* Rows, each with all heads, are spread over the PEs. */
static void setup(kb_bench_run *run)
{
    struct plan p;

    if (!can_talk(run, "attention_ring"))
        return;
    p = plan_of(run, kb_bench_topology(run));
    kb_bench_input(run, "q", p.dtype, KB_SHAPE(p.s, p.heads, p.d), BY_ROWS, 1);
    kb_bench_input(run, "k", p.dtype, KB_SHAPE(p.t, p.heads, p.d), BY_ROWS, 1);
    kb_bench_input(run, "v", p.dtype, KB_SHAPE(p.t, p.heads, p.d), BY_ROWS, 1);
    kb_bench_output(run, "o", p.dtype, KB_SHAPE(p.s, p.heads, p.d), BY_ROWS);
    kb_bench_launch(run, "attention_ring", attention_ring, NULL, 0);
}

struct expected {
    const kb_bench_run *run;
    double *const *t;
};

static struct reference_head head_of(const struct expected *e, int64_t head)
{
    int64_t s = kb_bench_int(e->run, "S"), n = kb_bench_int(e->run, "T");
    int64_t d = kb_bench_int(e->run, "D"), heads = kb_bench_int(e->run, "H");
    double *const *t = e->t;

    return (struct reference_head){
        t[Q] + head * d, t[K] + head * d, t[V] + head * d,  t[O] + head * d, s, n, d,
        heads * d,       heads * d,       reference_loops()};
}

/* Block `i` of all rows of all heads. */
static void reference_of_block(void *arg, int64_t i)
{
    const struct expected *e = arg;
    int64_t blocks = parts(kb_bench_int(e->run, "S"), REFERENCE_ROWS);
    struct reference_head head = head_of(e, i / blocks);

    reference_attention(&head, i % blocks);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    struct expected e = {run, t};
    int64_t blocks = parts(kb_bench_int(run, "S"), REFERENCE_ROWS);

    kb_reference_parallel(kb_bench_int(run, "H") * blocks, reference_of_block, &e);
}

static const kb_bench_arg args_of_attention_ring[] = {
    SIZE_ARG("H", "2", "heads"),
    SIZE_ARG("S", "256", "rows of q and o"),
    SIZE_ARG("T", "512", "rows of k and v"),
    SIZE_ARG("D", "64", "columns of each head"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64"),
};

const kb_bench bench_attention_ring = {
    .name = "attention_ring",
    .summary = "o = softmax(q k^T / sqrt(D)) v, k and v go round a ring of all PEs by messages",
    .args = args_of_attention_ring,
    .n_args = sizeof args_of_attention_ring / sizeof *args_of_attention_ring,
    .setup = setup,
    .reference = reference,
};
