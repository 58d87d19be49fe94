/*
 * test_llm_values.c -- experts in numbers: what the kernel of a model computes beside plain loops.
 *
 * Scores, activations and weights are random; each rank has its parts of them where the kernel
 * looks for them. Choices of experts are those of the scores, by the judge here; the sum of a
 * token's experts must be the judge's in every rank.
 */
#include "support/llm_bed.h"
#include <math.h>

/* -- a layer ------------------------------------------------------------------------------------
 */

struct layer {
    int64_t tp, ep, p, tokens, experts, chosen, hidden, inter, shared; /* tokens: of a copy of the
                                                                    model; inter: of its ranks */
    const struct numbers *n;
};

static int64_t copies_of(const struct layer *l)
{
    return l->ep > l->tp ? l->ep / l->tp : 1;
}

static int64_t all_tokens(const struct layer *l)
{
    return copies_of(l) * l->tokens;
}

/* Numbers of the whole model. */
struct numbers {
    float *x, *scores;        /* [token][hidden], [token][expert] */
    float *up, *down;         /* [expert][hidden][2 inter], gates first; [expert][inter][hidden] */
    float *all_up, *all_down; /* the same of what all tokens take: `shared` experts as one */
};

static struct numbers draw_numbers(const struct layer *l)
{
    struct rng r = rng_new(5, "experts");
    int64_t wide = l->shared * l->inter;

    return (struct numbers){.x = random_floats(&r, all_tokens(l) * l->hidden),
                            .scores = random_floats(&r, all_tokens(l) * l->experts),
                            .up = random_floats(&r, l->experts * l->hidden * 2 * l->inter),
                            .down = random_floats(&r, l->experts * l->inter * l->hidden),
                            .all_up = random_floats(&r, l->hidden * 2 * wide),
                            .all_down = random_floats(&r, wide * l->hidden)};
}

static void free_numbers(struct numbers *n)
{
    float *const all[] = {n->x, n->scores, n->up, n->down, n->all_up, n->all_down};

    for (size_t i = 0; i < LENGTH(all); i++)
        free(all[i]);
}

/* -- the judge ----------------------------------------------------------------------------------
 */

/* The best experts of a token, the best first. */
static void judge_choices(const struct layer *l, const struct numbers *n, int64_t t,
                          uint16_t *expert)
{
    for (int64_t i = 0; i < l->chosen; i++) {
        int64_t best = -1;

        for (int64_t e = 0; e < l->experts; e++) {
            bool taken = false;

            for (int64_t k = 0; k < i; k++)
                taken = taken || expert[k] == e;
            if (!taken &&
                (best < 0 || n->scores[t * l->experts + e] > n->scores[t * l->experts + best]))
                best = e;
        }
        expert[i] = (uint16_t)best;
    }
}

/* y += share * down(silu(gate x) up x) */
static void judge_mlp(const float *x, const float *up, const float *down, int64_t hidden,
                      int64_t inter, double share, double *y)
{
    for (int64_t f = 0; f < inter; f++) {
        double gate = 0, other = 0;

        for (int64_t k = 0; k < hidden; k++) {
            gate += (double)x[k] * (double)up[k * 2 * inter + f];
            other += (double)x[k] * (double)up[k * 2 * inter + inter + f];
        }
        for (int64_t k = 0; k < hidden; k++)
            y[k] += share * gate / (1 + exp(-gate)) * other * (double)down[f * hidden + k];
    }
}

static void judge_token(const struct layer *l, const struct numbers *n, const uint16_t *expert,
                        int64_t t, double *y)
{
    double sum = 0;

    memset(y, 0, (size_t)l->hidden * sizeof *y);
    for (int64_t i = 0; i < l->chosen; i++)
        sum += exp((double)n->scores[t * l->experts + expert[i]]);
    for (int64_t i = 0; i < l->chosen; i++)
        judge_mlp(n->x + t * l->hidden, n->up + expert[i] * l->hidden * 2 * l->inter,
                  n->down + expert[i] * l->inter * l->hidden, l->hidden, l->inter,
                  exp((double)n->scores[t * l->experts + expert[i]]) / sum, y);
    judge_mlp(n->x + t * l->hidden, n->all_up, n->all_down, l->hidden, l->shared * l->inter, 1, y);
}

/* -- the kernel ---------------------------------------------------------------------------------
 */

static const struct layer *layer_of(const struct bed *b)
{
    return b->of;
}

static void make_graph(struct bed *b, const struct llm_routing *routing)
{
    const struct layer *l = layer_of(b);
    const struct model m = {.family = MODEL_MIXTRAL,
                            .hidden = l->hidden,
                            .layers = 1,
                            .heads = l->tp,
                            .kv_heads = l->tp,
                            .head_dim = 8,
                            .inter = l->inter,
                            .vocab = 64,
                            .norms = 2,
                            .experts = l->experts,
                            .chosen = l->chosen,
                            .expert_inter = l->inter,
                            .shared_experts = l->shared,
                            .dtype = KB_F32};

    b->s = (struct shape){.tp = l->tp,
                          .ep = l->ep,
                          .batch = l->tokens,
                          .q = 1,
                          .kv = 16,
                          .page = 16,
                          .weights = KB_F32,
                          .act = KB_F32,
                          .kv_dtype = KB_F32};
    graph_of_model(&m, &b->s, &b->g);
    take_ops(&b->g, "route", "norm");
    graph_place(&b->g, &b->s, (uint32_t)l->p, b->chip.unit_pes / (uint32_t)l->p);
    graph_route(&b->g, routing);
}

/* Part (r, c) of columns `first` to `first` + n of gates, then of as many others, of `inter`. */
static void fill_up(struct bed *b, float *to, const float *from, int64_t first, int64_t n,
                    int64_t inter, int64_t r, int64_t c)
{
    int64_t p = b->step.p, q = b->step.q, hidden = layer_of(b)->hidden;

    for (int64_t k = share(hidden, r, p); k < share(hidden, r + 1, p); k++)
        for (int64_t half = 0; half < 2; half++)
            for (int64_t f = share(n, c, q); f < share(n, c + 1, q); f++)
                *to++ = from[k * 2 * inter + half * inter + first + f];
}

static void fill_down(struct bed *b, float *to, const float *from, int64_t first, int64_t n,
                      int64_t r, int64_t c)
{
    int64_t p = b->step.p, q = b->step.q, hidden = layer_of(b)->hidden;

    for (int64_t f = share(n, r, p); f < share(n, r + 1, p); f++)
        for (int64_t k = share(hidden, c, q); k < share(hidden, c + 1, q); k++)
            *to++ = from[(first + f) * hidden + k];
}

static void fill_experts(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct layer *l = layer_of(b);
    int64_t own = l->experts / l->ep, n = l->inter / (l->tp * copies_of(l) / l->ep);
    int64_t first = rank / l->ep * n;
    const struct llm_op *up = op_of(&b->g, "experts_up"), *down = op_of(&b->g, "experts_down");

    for (int64_t e = 0; e < own; e++) {
        int64_t expert = rank % l->ep * own + e;

        fill_up(b, room_at(b, rank, r, c, up->weight + (uint64_t)e * up->expert_bytes),
                layer_of(b)->n->up + expert * l->hidden * 2 * l->inter, first, n, l->inter, r, c);
        fill_down(b, room_at(b, rank, r, c, down->weight + (uint64_t)e * down->expert_bytes),
                  layer_of(b)->n->down + expert * l->inter * l->hidden, first, n, r, c);
    }
}

static void fill_pe(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct llm_op *x = op_of(&b->g, layer_of(b)->ep > 1 ? "dispatch" : "experts_up");
    const struct layer *l = layer_of(b);
    int64_t wide = l->shared * l->inter, n = wide / l->tp;
    int64_t token = rank / l->tp * l->tokens, part = rank % l->tp;

    fill_rows(b, &x->x, l->n->x + token * l->hidden, rank, r, c);
    fill_rows(b, &op_of(&b->g, "route")->x, l->n->scores + token * l->experts, rank, r, c);
    fill_experts(b, rank, r, c);
    if (wide == 0)
        return;
    fill_up(b, room_at(b, rank, r, c, op_of(&b->g, "shared_up")->weight), layer_of(b)->n->all_up,
            part * n, n, wide, r, c);
    fill_down(b, room_at(b, rank, r, c, op_of(&b->g, "shared_down")->weight),
              layer_of(b)->n->all_down, part * n, n, r, c);
}

/* The columns of the sum that PE (r, c) has. */
static void hold_pe(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct llm_op *sum = op_of(&b->g, "combine");
    const float *y = room_at(b, rank, r, c, sum->y.at);
    const struct layer *l = layer_of(b);
    int64_t first = rank / l->tp * l->tokens;
    double *judged = calloc((size_t)l->hidden, sizeof *judged);

    assert_non_null(judged);
    for (int64_t t = share(l->tokens, r, b->step.p); t < share(l->tokens, r + 1, b->step.p); t++) {
        judge_token(l, layer_of(b)->n, sum->routing->expert + (first + t) * l->chosen, first + t,
                    judged);
        for (int64_t k = share(l->hidden, c, b->step.q); k < share(l->hidden, c + 1, b->step.q);
             k++, y++)
            if (fabs((double)*y - judged[k]) > 1e-4)
                fail_msg("token %d, column %d of rank %d: %g, not %g", (int)t, (int)k, (int)rank,
                         (double)*y, judged[k]);
    }
    free(judged);
}

static void hold_layer(const kb_topology *topo, struct layer *l)
{
    const struct cli cli = cli_of(topo, KB_FUSED);
    struct numbers n = draw_numbers(l);
    uint16_t *expert = calloc((size_t)(all_tokens(l) * l->chosen), sizeof *expert);
    const struct llm_routing routing = {l->experts, l->chosen, all_tokens(l),
                                        expert,     0,         copies_of(l)};
    struct bed b = {.of = l};

    assert_non_null(expert);
    l->n = &n;
    for (int64_t t = 0; t < all_tokens(l); t++)
        judge_choices(l, &n, t, expert + t * l->chosen);
    assert_int_equal(chip_of(&cli, &b.chip), EXIT_OK);
    make_graph(&b, &routing);
    make_bed(&b, l->tp * copies_of(l), l->p);
    b.step.copies = (uint32_t)copies_of(l);
    each_pe(&b, fill_pe);
    run_bed(&b);
    each_pe(&b, hold_pe);
    free_bed(&b);
    free(expert);
    free_numbers(&n);
}

/* tp, ep, p, tokens, experts, chosen, hidden, inter, shared, numbers: drawn */
static struct layer layers[] = {
    {1, 1, 1, 7, 8, 2, 24, 20, 0, NULL},  /* all in one rank, parts that are not equal */
    {4, 1, 1, 5, 4, 1, 24, 16, 0, NULL},  /* a part of each expert in each rank */
    {4, 1, 2, 9, 8, 3, 24, 16, 1, NULL},  /* two rows of PEs; what all tokens take */
    {4, 4, 1, 6, 8, 2, 24, 16, 0, NULL},  /* experts are divided: 2, 2, 1, 1 tokens of each rank */
    {4, 4, 2, 11, 8, 2, 24, 16, 1, NULL}, /* the same in two rows */
    {4, 2, 1, 7, 4, 3, 24, 16, 2, NULL},  /* two groups, in each a half of all experts' columns */
    {4, 4, 1, 1, 4, 2, 3, 16, 0, NULL},   /* ranks without a token, a PE without a column */
    {1, 4, 1, 3, 8, 2, 24, 16, 1, NULL},  /* four copies share experts */
    {2, 4, 2, 5, 8, 3, 24, 16, 1, NULL},  /* two, each of two ranks with rows of its own */
    {2, 4, 1, 1, 4, 2, 24, 16, 0, NULL},  /* of each copy one rank has no token */
};

static void sums_of_experts_are_those_of_plain_loops(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: four\nsip: {cube_mesh: {w: 2, h: 2}}\ncube: {pes: 4}\n");

    (void)state;
    for (size_t i = 0; i < LENGTH(layers); i++)
        hold_layer(topo, &layers[i]);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_experts_are_those_of_plain_loops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
