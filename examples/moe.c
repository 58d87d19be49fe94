/* moe.c -- a bench of your own: a mixture of experts, each token multiplied by the two that fit it.
 *
 *     kernbench cc moe.c
 *     kernbench run ./moe.so:moe tokens=256 --verify
 *     kernbench run ./moe.so:moe tokens=256 how=dispatch --verify
 *
 * Rows of x, expert and y, one for each token, are spread over all PEs, and so are the experts'
 * matrices; every PE has the gate. For each of its tokens a PE multiplies the row by the gate:
 * these are the scores of the experts. The two best are asked for: tl_values(). The result is the
 * sum of both products, in shares that are the softmax of both scores.
 *
 * how=fetch: a PE loads the matrices that its tokens want, from whichever memory has them.
 * how=dispatch: matrices stay, and rows go to them and back, by the collectives of kb_coll.h. An
 * all-gather tells all PEs what has been chosen, so that each knows how many rows go from which PE
 * to which; an all-to-all brings the rows to the PEs of their experts, another the products back.
 *
 * Example of dispatch: PEs 0 and 1 have tokens 0 and 1, and experts 0 and 1. Token 0 chose 1, 0 and
 * token 1 chose 1, 0, too. PE 0 sends its row to itself as row 0 and to PE 1 as row 1. PE 1 gets
 * two rows for expert 1, that of token 0 before that of token 1: one product of two rows.
 */
#include <math.h>
#include <string.h>
#include <kb_coll.h>
#include <tl.h>

static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};
static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

enum { X, GATE, W, EXPERT, Y, SHARES, CHOICES, SENT, GOT, MADE, BACK }; /* tensors */
enum how { FETCH, DISPATCH };

/* Where expert `e` is: row e of w is its matrix. */
static uint64_t expert_address(tl_ctx *tl, const kb_tensor *w, int64_t e)
{
    for (uint32_t pe = 0; pe < kb_pe_count(tl_topology(tl)); pe++) {
        kb_shard shard = kb_tensor_shard(w, pe);

        if (e >= shard.first[0] && e < shard.first[0] + shard.shape.dim[0])
            return shard.address + (uint64_t)((e - shard.first[0]) * shard.shape.dim[1] * 2);
    }
    return 0;
}

/* The numbers of the two experts of a token, which are stored as well; *shares, [1, 2] in f32. */
static tl_tensor *choose(tl_ctx *tl, tl_tensor *row, tl_tensor *gate, uint64_t to,
                         tl_tensor **shares)
{
    tl_tensor *indices, *scores = tl_dot(tl, row, gate, .dtype_out = KB_F32);

    *shares = tl_softmax(tl, tl_topk(tl, scores, 2, &indices), -1);
    tl_store(tl, to, indices);
    return indices;
}

/* Stores the sum of both products of a token, in their shares. */
static void store_sum(tl_ctx *tl, uint64_t to, tl_tensor *const part[2])
{
    tl_store(tl, to, tl_cast(tl, tl_add(tl, part[0], part[1]), KB_F16));
}

/* -- matrices come to tokens ----------------------------------------------------------------- */

static void moe(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[X], tl_pe(tl));
    kb_shard gate = kb_tensor_shard(args->tensors[GATE], tl_pe(tl));
    kb_shard expert = kb_tensor_shard(args->tensors[EXPERT], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[Y], tl_pe(tl));
    int64_t tokens = x.shape.dim[0], depth = x.shape.dim[1], columns = y.shape.dim[1];

    if (tokens == 0)
        return;
    tl_tensor *scores_of = tl_load(tl, gate.address, KB_F16, gate.shape);

    for (int64_t i = 0; i < tokens; i++) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *w[2], *part[2], *shares;
        tl_tensor *row =
            tl_load(tl, x.address + (uint64_t)(i * depth * 2), KB_F16, KB_SHAPE(1, depth));
        const int32_t *chosen =
            tl_values(tl, choose(tl, row, scores_of, expert.address + (uint64_t)(i * 8), &shares));

        for (int k = 0; k < 2; k++)
            w[k] = tl_load_async(tl, expert_address(tl, args->tensors[W], chosen[k]), KB_F16,
                                 KB_SHAPE(depth, columns));
        for (int k = 0; k < 2; k++) {
            tl_wait(tl, w[k]);
            part[k] = tl_mul(tl, tl_dot(tl, row, w[k], .dtype_out = KB_F32),
                             tl_slice(tl, shares, 1, k, 1));
        }
        store_sum(tl, y.address + (uint64_t)(i * columns * 2), part);
        tl_release(tl, mark);
    }
}

/* -- tokens go to matrices ------------------------------------------------------------------- */

/* Rows of one product; PEs, each of which has a table of all pairs. */
enum { ROWS_MOST = 64, PES_MOST = 256 };

struct dispatch {
    tl_ctx *tl;
    const kb_args *args;
    int64_t n, me, all; /* PEs, the own one; tokens of all */
    int64_t depth, columns;
    const int32_t *chosen; /* of all tokens, two each */
    int64_t *owner;        /* of each expert: the PE that has it */
    int64_t *table;        /* [n][n] elements that go from PE to PE */
    int64_t *slot;         /* of both choices of the own tokens: which row it is that is sent */
};

static kb_shard own(const struct dispatch *d, int tensor)
{
    return kb_tensor_shard(d->args->tensors[tensor], (uint32_t)d->me);
}

/* Row `i` of `columns` of a part. */
static uint64_t row_at(const struct dispatch *d, int tensor, int64_t i, int64_t columns)
{
    kb_dtype dtype = kb_tensor_dtype(d->args->tensors[tensor]);

    return own(d, tensor).address + (uint64_t)(i * columns) * kb_dtype_bytes(dtype);
}

static int64_t tokens_of(const struct dispatch *d, int64_t pe)
{
    return kb_tensor_shard(d->args->tensors[X], (uint32_t)pe).shape.dim[0];
}

static int64_t *numbers(const struct dispatch *d, int64_t n)
{
    return tl_alloc_host(d->tl, (size_t)n * sizeof(int64_t));
}

/* The experts of the own tokens, and the shares of both. */
static void choose_own(const struct dispatch *d)
{
    tl_ctx *tl = d->tl;
    kb_shard of_gate = own(d, GATE);
    tl_tensor *gate = tl_load(tl, of_gate.address, KB_F16, of_gate.shape);

    for (int64_t i = 0; i < tokens_of(d, d->me); i++) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *shares,
            *row = tl_load(tl, row_at(d, X, i, d->depth), KB_F16, KB_SHAPE(1, d->depth));

        choose(tl, row, gate, row_at(d, EXPERT, i, 2), &shares);
        tl_store(tl, row_at(d, SHARES, i, 2), shares);
        tl_release(tl, mark);
    }
}

/* What all have chosen. */
static void tell_all(struct dispatch *d)
{
    uint64_t all = own(d, CHOICES).address;
    int64_t *counts = numbers(d, d->n);

    for (int64_t pe = 0; pe < d->n; pe++)
        counts[pe] = 2 * tokens_of(d, pe);
    kb_all_gather(d->tl, kb_group_all(d->tl), .in = own(d, EXPERT).address, .out = all,
                  .count = 2 * d->all, .dtype = KB_I32, .counts = counts);
    d->chosen = tl_values(d->tl, tl_load(d->tl, all, KB_I32, KB_SHAPE(2 * d->all)));
}

static void find_owners(struct dispatch *d, int64_t experts)
{
    d->owner = numbers(d, experts);
    for (int64_t pe = 0; pe < d->n; pe++) {
        kb_shard has = kb_tensor_shard(d->args->tensors[W], (uint32_t)pe);

        for (int64_t e = 0; e < has.shape.dim[0]; e++)
            d->owner[has.first[0] + e] = pe;
    }
}

/* `elements` for each row, from the PEs of tokens to those of experts, or back. */
static void fill_table(struct dispatch *d, int64_t elements, bool back)
{
    memset(d->table, 0, (size_t)(d->n * d->n) * sizeof *d->table);
    for (int64_t pe = 0, j = 0; pe < d->n; pe++)
        for (int64_t end = j + 2 * tokens_of(d, pe); j < end; j++) {
            int64_t to = d->owner[d->chosen[j]];

            d->table[back ? to * d->n + pe : pe * d->n + to] += elements;
        }
}

/* Puts the own rows in the order of the PEs that get them. */
static void pack(struct dispatch *d)
{
    int64_t *next = numbers(d, d->n), tokens = tokens_of(d, d->me);
    const int32_t *chosen = d->chosen;

    for (int64_t pe = 0; pe < d->me; pe++)
        chosen += 2 * tokens_of(d, pe);
    for (int64_t pe = 1; pe < d->n; pe++)
        next[pe] = next[pe - 1] + d->table[d->me * d->n + pe - 1] / d->depth;
    d->slot = numbers(d, 2 * tokens + 1);
    for (int64_t i = 0; i < tokens; i++) {
        tl_tensor *row = tl_load(d->tl, row_at(d, X, i, d->depth), KB_F16, KB_SHAPE(1, d->depth));

        for (int64_t j = 2 * i; j < 2 * i + 2; j++) {
            d->slot[j] = next[d->owner[chosen[j]]]++;
            tl_store(d->tl, row_at(d, SENT, d->slot[j], d->depth), row);
        }
        tl_free(d->tl, row);
    }
}

/* The products of `n` of the rows that came with one matrix; each goes to the place of its row. */
static void multiply_rows(const struct dispatch *d, tl_tensor *w, const int64_t *rows, int64_t n)
{
    uint64_t mark = tl_mark(d->tl);
    tl_tensor *x = tl_load_rows(d->tl, own(d, GOT).address, KB_F16, KB_SHAPE(d->depth),
                                d->depth * 2, rows, (uint32_t)n);
    tl_tensor *y = tl_dot(d->tl, x, w, .dtype_out = KB_F32);

    for (int64_t i = 0; i < n; i++)
        tl_store(d->tl, row_at(d, MADE, rows[i], d->columns), tl_slice(d->tl, y, 0, i, 1));
    tl_release(d->tl, mark);
}

/* Those of one of the own experts. */
static void multiply_all(const struct dispatch *d, int64_t expert)
{
    int64_t rows[ROWS_MOST], n = 0, came = 0;
    uint64_t mark = tl_mark(d->tl);
    tl_tensor *w = NULL;

    for (int64_t j = 0; j < 2 * d->all; j++) {
        if (d->chosen[j] == expert)
            rows[n++] = came;
        came += d->owner[d->chosen[j]] == d->me;
        if (n < ROWS_MOST && (n == 0 || j + 1 < 2 * d->all))
            continue;
        if (!w)
            w = tl_load(d->tl, expert_address(d->tl, d->args->tensors[W], expert), KB_F16,
                        KB_SHAPE(d->depth, d->columns));
        multiply_rows(d, w, rows, n);
        n = 0;
    }
    tl_release(d->tl, mark);
}

/* y of the own tokens, from products that have come back. */
static void combine(const struct dispatch *d)
{
    tl_ctx *tl = d->tl;

    for (int64_t i = 0; i < tokens_of(d, d->me); i++) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *part[2], *shares = tl_load(tl, row_at(d, SHARES, i, 2), KB_F32, KB_SHAPE(1, 2));

        for (int k = 0; k < 2; k++)
            part[k] = tl_mul(tl,
                             tl_load(tl, row_at(d, BACK, d->slot[2 * i + k], d->columns), KB_F32,
                                     KB_SHAPE(1, d->columns)),
                             tl_slice(tl, shares, 1, k, 1));
        store_sum(tl, row_at(d, Y, i, d->columns), part);
        tl_release(tl, mark);
    }
}

static void moe_dispatch(tl_ctx *tl, const kb_args *args)
{
    kb_group all = kb_group_all(tl);
    struct dispatch d = {.tl = tl, .args = args, .n = all.n, .me = tl_pe(tl)};
    kb_shard w = own(&d, W);

    d.all = kb_tensor_shape(args->tensors[X]).dim[0];
    d.depth = kb_tensor_shape(args->tensors[X]).dim[1];
    d.columns = kb_tensor_shape(args->tensors[Y]).dim[1];
    d.table = numbers(&d, d.n * d.n);
    choose_own(&d);
    tell_all(&d);
    find_owners(&d, kb_tensor_shape(args->tensors[W]).dim[0]);
    fill_table(&d, d.depth, false);
    pack(&d);
    kb_all_to_all(tl, all, .in = own(&d, SENT).address, .out = own(&d, GOT).address,
                  .dtype = KB_F16, .counts = d.table);
    for (int64_t e = 0; e < w.shape.dim[0]; e++)
        multiply_all(&d, w.first[0] + e);
    fill_table(&d, d.columns, true);
    kb_all_to_all(tl, all, .in = own(&d, MADE).address, .out = own(&d, BACK).address,
                  .dtype = KB_F32, .counts = d.table);
    combine(&d);
}

/* -- the bench ------------------------------------------------------------------------------- */

/* What goes between PEs: a PE may get all rows. */
static void setup_dispatch(kb_bench_run *run, int64_t tokens, int64_t depth, int64_t columns)
{
    int64_t n = kb_pe_count(kb_bench_topology(run));

    if (n > PES_MOST) {
        kb_bench_refuse(run,
                        "moe: how=dispatch is for 256 PEs at most: each has a table of all pairs");
        return;
    }
    kb_bench_scratch(run, "shares", KB_F32, KB_SHAPE(tokens, 2), by_rows);
    kb_bench_scratch(run, "choices", KB_I32, KB_SHAPE(n, 2 * tokens), by_rows);
    kb_bench_scratch(run, "sent", KB_F16, KB_SHAPE(tokens, 2 * depth), by_rows);
    kb_bench_scratch(run, "got", KB_F16, KB_SHAPE(n, 2 * tokens * depth), by_rows);
    kb_bench_scratch(run, "made", KB_F32, KB_SHAPE(n, 2 * tokens * columns), by_rows);
    kb_bench_scratch(run, "back", KB_F32, KB_SHAPE(tokens, 2 * columns), by_rows);
    kb_bench_launch(run, "moe_dispatch", moe_dispatch, NULL, 0);
}

static void setup(kb_bench_run *run)
{
    int64_t tokens = kb_bench_int(run, "tokens"), experts = kb_bench_int(run, "experts");
    int64_t depth = kb_bench_int(run, "D"), columns = kb_bench_int(run, "N");

    kb_bench_input(run, "x", KB_F16, KB_SHAPE(tokens, depth), by_rows, 1);
    kb_bench_input(run, "gate", KB_F16, KB_SHAPE(depth, experts), everywhere, 1);
    kb_bench_input(run, "w", KB_F16, KB_SHAPE(experts, depth * columns), by_rows, 0.125);
    kb_bench_output(run, "expert", KB_I32, KB_SHAPE(tokens, 2), by_rows);
    kb_bench_output(run, "y", KB_F16, KB_SHAPE(tokens, columns), by_rows);
    if (kb_bench_choice(run, "how") == DISPATCH)
        setup_dispatch(run, tokens, depth, columns);
    else
        kb_bench_launch(run, "moe", moe, NULL, 0);
}

/* The score of expert `e`, rounded as the engine rounds: in f32, after each term. */
static float score_of(const double *row, const double *gate, int64_t depth, int64_t experts,
                      int64_t e)
{
    float sum = 0;

    for (int64_t k = 0; k < depth; k++)
        sum = (float)(sum + row[k] * gate[k * experts + e]);
    return sum;
}

/* The two best experts of a row, of equal ones the first, and the share of the second. */
static double two_best(const double *row, const double *gate, int64_t depth, int64_t experts,
                       double best[2])
{
    float top[2] = {0, 0};

    for (int64_t e = 0; e < experts; e++) {
        float score = score_of(row, gate, depth, experts, e);
        int place = e == 0 || score > top[0] ? 0 : 1;

        if (place == 1 && e > 1 && score <= top[1])
            continue;
        if (place == 0 && e > 0)
            top[1] = top[0], best[1] = best[0];
        top[place] = score;
        best[place] = (double)e;
    }
    return 1 / (1 + exp((double)top[0] - top[1]));
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t depth = kb_bench_int(run, "D"), columns = kb_bench_int(run, "N");
    int64_t experts = kb_bench_int(run, "experts");

    for (int64_t i = 0; i < kb_bench_int(run, "tokens"); i++) {
        double *best = t[3] + 2 * i, *y = t[4] + i * columns, *row = t[0] + i * depth;
        double second = two_best(row, t[1], depth, experts, best);

        for (int64_t j = 0; j < columns; j++)
            for (int64_t k = 0; k < depth; k++)
                for (int b = 0; b < 2; b++)
                    y[j] += (b ? second : 1 - second) * row[k] *
                            t[2][((int64_t)best[b] * depth + k) * columns + j];
    }
}

static const kb_bench_arg args_of_moe[] = {
    {"tokens", KB_ARG_INT, "128", 1, 65536, NULL, "rows of x, expert and y"},
    {"experts", KB_ARG_INT, "16", 2, 4096, NULL, "matrices"},
    {"D", KB_ARG_INT, "32", 1, 256, NULL, "columns of x, rows of a matrix"},
    {"N", KB_ARG_INT, "32", 1, 256, NULL, "columns of y and of a matrix"},
    {"how", KB_ARG_CHOICE, "fetch", 0, 0, "fetch dispatch", "what goes: matrices, or rows"},
};

const kb_bench bench_moe = {
    .name = "moe",
    .summary = "each token is multiplied by the matrices of the two experts that fit it",
    .args = args_of_moe,
    .n_args = sizeof args_of_moe / sizeof *args_of_moe,
    .setup = setup,
    .reference = reference,
};

KB_BENCHES(&bench_moe);
