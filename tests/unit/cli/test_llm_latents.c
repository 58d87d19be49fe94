/*
 * test_llm_latents.c -- attention over latents in numbers, and what a stage sends: what the kernel
 * computes beside plain loops.
 *
 * Queries, weights and what is kept of each token are random; pages are filled with that. One new
 * token's query is absorbed, of several keys and values are made: the judge makes them for both.
 */
#include "support/llm_bed.h"
#include <math.h>

/* Of one rank: requests of `q` new tokens, with `kv` in all; columns of a head of q, before and in
 * what is turned; of a latent and of a value. */
struct latents {
    int64_t p, batch, q, kv, heads, nope, rope, latent, value;
    float *queries, *kept;  /* [request][new][head][nope + rope], [request][token][latent + rope] */
    float *absorb, *expand; /* [head][nope][latent], [head][latent][value] */
};

static const struct latents *latents_of(const struct bed *b)
{
    return b->of;
}

static void draw_latents(struct latents *l)
{
    struct rng r = rng_new(6, "latents");

    l->queries = random_floats(&r, l->batch * l->q * l->heads * (l->nope + l->rope));
    l->kept = random_floats(&r, l->batch * l->kv * (l->latent + l->rope));
    l->absorb = random_floats(&r, l->heads * l->nope * l->latent);
    l->expand = random_floats(&r, l->heads * l->latent * l->value);
}

/* What one head makes of a new token, of all requests: its keys are products of latents, without
 * any absorption, and it sees those up to its own. */
static void judge_head(const struct latents *l, int64_t row, int64_t head, double *y)
{
    const float *q = l->queries + (row * l->heads + head) * (l->nope + l->rope);
    int64_t request = row / l->q, sees = l->kv - l->q + row % l->q + 1;
    const float *to_key = l->absorb + head * l->nope * l->latent;
    const float *to_value = l->expand + head * l->latent * l->value;
    double sum = 0;

    memset(y, 0, (size_t)l->value * sizeof *y);
    for (int64_t t = 0; t < sees; t++) {
        const float *kept = l->kept + (request * l->kv + t) * (l->latent + l->rope);
        double score = 0;

        for (int64_t n = 0; n < l->nope; n++) {
            double key = 0;

            for (int64_t k = 0; k < l->latent; k++)
                key += (double)kept[k] * (double)to_key[n * l->latent + k];
            score += (double)q[n] * key;
        }
        for (int64_t k = 0; k < l->rope; k++)
            score += (double)q[l->nope + k] * (double)kept[l->latent + k];
        score = exp(score / sqrt((double)(l->nope + l->rope)));
        sum += score;
        for (int64_t v = 0; v < l->value; v++)
            for (int64_t k = 0; k < l->latent; k++)
                y[v] += score * (double)kept[k] * (double)to_value[k * l->value + v];
    }
    for (int64_t v = 0; v < l->value; v++)
        y[v] /= sum;
}

/* Part (r, c) of the matrices of heads, each of `depth` rows and `cols` columns. */
static void fill_heads(struct bed *b, const struct llm_op *op, const float *from, int64_t depth,
                       int64_t cols, int64_t r, int64_t c)
{
    int64_t p = b->step.p, q = b->step.q, all = op->heads * cols;
    float *to = room_at(b, 0, r, c, op->weight);

    for (int64_t col = share(all, c, q), end; col < share(all, c + 1, q); col = end) {
        int64_t head = col / cols;

        end = least((head + 1) * cols, share(all, c + 1, q));
        for (int64_t k = share(depth, r, p); k < share(depth, r + 1, p); k++)
            for (int64_t j = col; j < end; j++)
                *to++ = from[(head * depth + k) * cols + j % cols];
    }
}

/* Page j of a request is on PE j modulo those that the request has, or all are on one. */
static void fill_pages(struct bed *b)
{
    const struct latents *l = latents_of(b);
    int64_t pes = b->step.pes, n = l->batch >= pes ? 1 : pes / l->batch, dim = l->latent + l->rope;
    int64_t pages = parts(parts(l->kv, 16), n);

    for (int64_t u = 0; u < l->batch; u++)
        for (int64_t t = 0; t < l->kv; t++) {
            int64_t page = t / 16, pe = l->batch >= pes ? u % pes : u * n + page % n;
            int64_t place = (l->batch >= pes ? u / pes * pages : 0) + page / n;
            float *to = room_at(b, 0, pe / b->step.q, pe % b->step.q,
                                b->step.kv_at + (uint64_t)((place * 16 + t % 16) * dim * 4));

            memcpy(to, l->kept + (u * l->kv + t) * dim, (size_t)dim * 4);
        }
}

/* The matrix that makes keys and values of all heads: of each `nope` columns, then `value`. */
static void fill_making(struct bed *b, const struct llm_op *op, int64_t r, int64_t c)
{
    const struct latents *l = latents_of(b);
    int64_t wide = l->nope + l->value, all = l->heads * wide;
    float *making = calloc((size_t)(l->latent * all), sizeof *making);

    assert_non_null(making);
    for (int64_t k = 0; k < l->latent; k++)
        for (int64_t col = 0; col < all; col++) {
            int64_t head = col / wide, j = col % wide;

            making[k * all + col] =
                j < l->nope ? l->absorb[(head * l->nope + j) * l->latent + k]
                            : l->expand[(head * l->latent + k) * l->value + j - l->nope];
        }
    fill_heads(b, op, making, l->latent, all, r, c);
    free(making);
}

static void fill_latents(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct latents *l = latents_of(b);

    if (l->q > 1) {
        fill_rows(b, &op_of(&b->g, "attention")->x, l->queries, rank, r, c);
        fill_making(b, op_of(&b->g, "kv_up"), r, c);
        return;
    }
    fill_rows(b, &op_of(&b->g, "absorb")->x, l->queries, rank, r, c);
    fill_heads(b, op_of(&b->g, "absorb"), l->absorb, l->nope, l->latent, r, c);
    fill_heads(b, op_of(&b->g, "expand"), l->expand, l->latent, l->value, r, c);
}

static void hold_values(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct latents *l = latents_of(b);
    const float *y = room_at(b, rank, r, c, b->g.op[b->g.n - 1].y.at);
    int64_t all = l->heads * l->value, rows = l->batch * l->q;
    double *judged = calloc((size_t)l->value, sizeof *judged);

    assert_non_null(judged);
    for (int64_t t = share(rows, r, b->step.p); t < share(rows, r + 1, b->step.p); t++)
        for (int64_t j = share(all, c, b->step.q); j < share(all, c + 1, b->step.q); j++, y++) {
            judge_head(l, t, j / l->value, judged);
            if (fabs((double)*y - judged[j % l->value]) > 1e-4)
                fail_msg("row %d, column %d: %g, not %g", (int)t, (int)j, (double)*y,
                         judged[j % l->value]);
        }
    free(judged);
}

static void hold_attention(const kb_topology *topo, struct latents *l)
{
    const struct cli cli = cli_of(topo, KB_FUSED);
    const struct model m = {.family = MODEL_DEEPSEEK_V3,
                            .hidden = 32,
                            .layers = 1,
                            .heads = l->heads,
                            .kv_heads = l->heads,
                            .head_dim = 8,
                            .inter = 16,
                            .vocab = 64,
                            .norms = 2,
                            .latent = l->latent,
                            .nope_dim = l->nope,
                            .rope_dim = l->rope,
                            .v_dim = l->value,
                            .dtype = KB_F32};
    struct bed b = {.of = l};

    draw_latents(l);
    assert_int_equal(chip_of(&cli, &b.chip), EXIT_OK);
    b.s = (struct shape){.tp = 1,
                         .ep = 1,
                         .batch = l->batch,
                         .q = l->q,
                         .kv = l->kv,
                         .page = 16,
                         .weights = KB_F32,
                         .act = KB_F32,
                         .kv_dtype = KB_F32};
    graph_of_model(&m, &b.s, &b.g);
    take_ops(&b.g, l->q > 1 ? "kv_read" : "absorb", "o");
    graph_place(&b.g, &b.s, (uint32_t)l->p, b.chip.unit_pes / (uint32_t)l->p);
    make_bed(&b, 1, l->p);
    each_pe(&b, fill_latents);
    fill_pages(&b);
    run_bed(&b);
    each_pe(&b, hold_values);
    free_bed(&b);
    free(l->queries);
    free(l->kept);
    free(l->absorb);
    free(l->expand);
}

static void attention_over_latents_is_that_of_keys_and_values(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: four\nsip: {cube_mesh: {w: 2, h: 2}}\ncube: {pes: 4}\n");
    /* p, batch, q, kv, heads, nope, rope, latent, value */
    struct latents cases[] = {
        {1, 5, 1, 16, 4, 8, 4, 16, 8, NULL, NULL, NULL, NULL},
        {1, 2, 1, 80, 3, 6, 2, 10, 5, NULL, NULL, NULL, NULL},
        {2, 4, 1, 32, 2, 7, 3, 9, 4, NULL, NULL, NULL, NULL},
        {1, 1, 20, 20, 4, 8, 4, 16, 8, NULL, NULL, NULL,
         NULL}, /* a prompt, a page that is not full */
        {1, 2, 9, 57, 3, 6, 2, 10, 5, NULL, NULL, NULL, NULL}, /* behind others */
        {2, 3, 33, 40, 2, 7, 3, 9, 4, NULL, NULL, NULL, NULL}, /* two rows of PEs */
        {1, 1, 300, 1100, 1, 4, 2, 6, 3, NULL, NULL, NULL,
         NULL}, /* several blocks of rows and pages */
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        hold_attention(topo, &cases[i]);
    any_topology_free(topo);
}

/* -- what is sent -------------------------------------------------------------------------------
 */

/* x and z of all tokens, in each rank of a stage. */
struct sent {
    int64_t tokens, hidden;
    float *x, *z;
};

static void fill_sums(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct sent *sent = b->of;

    fill_rows(b, &b->g.op[0].x, sent->x, rank, r, c);
    fill_rows(b, &b->g.op[0].z, sent->z, rank, r, c);
}

/* In the ranks of the next stage. */
static void hold_sums(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct sent *sent = b->of;
    const struct llm_op *op = &b->g.op[0];
    const float *y = room_at(b, rank + b->step.ranks, r, c, op->y.at);

    for (int64_t t = share(sent->tokens, r, b->step.p); t < share(sent->tokens, r + 1, b->step.p);
         t++)
        for (int64_t k = share(sent->hidden, c, b->step.q);
             k < share(sent->hidden, c + 1, b->step.q); k++, y++)
            if (*y != sent->x[t * sent->hidden + k] + sent->z[t * sent->hidden + k])
                fail_msg("token %d, column %d: %g", (int)t, (int)k, (double)*y);
}

static void the_next_stage_has_the_sum(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: four\nsip: {cube_mesh: {w: 2, h: 2}}\ncube: {pes: 4}\n");
    const struct cli cli = cli_of(topo, KB_FUSED);
    const struct model m = {.family = MODEL_LLAMA,
                            .hidden = 30,
                            .layers = 2,
                            .heads = 2,
                            .kv_heads = 2,
                            .head_dim = 8,
                            .inter = 16,
                            .vocab = 64,
                            .norms = 2,
                            .dtype = KB_F32};
    struct rng r = rng_new(7, "sums");
    struct sent sent = {.tokens = 7, .hidden = 30};
    struct bed b = {.of = &sent};

    (void)state;
    sent.x = random_floats(&r, sent.tokens * sent.hidden);
    sent.z = random_floats(&r, sent.tokens * sent.hidden);
    assert_int_equal(chip_of(&cli, &b.chip), EXIT_OK);
    b.s = (struct shape){.tp = 2,
                         .pp = 2,
                         .batch = sent.tokens,
                         .q = 1,
                         .kv = 16,
                         .page = 16,
                         .weights = KB_F32,
                         .act = KB_F32,
                         .kv_dtype = KB_F32};
    graph_of_model(&m, &b.s, &b.g);
    take_ops(&b.g, "send", "norm");
    graph_place(&b.g, &b.s, 2, 2);
    make_bed(&b, 2, 2);
    each_pe(&b, fill_sums);
    run_bed(&b);
    each_pe(&b, hold_sums);
    free_bed(&b);
    free(sent.x);
    free(sent.z);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_over_latents_is_that_of_keys_and_values),
        cmocka_unit_test(the_next_stage_has_the_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
