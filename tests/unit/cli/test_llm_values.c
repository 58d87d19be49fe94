/*
 * test_llm_values.c -- experts and latents in numbers: what the kernel of a model computes beside
 * plain loops.
 *
 * Scores, activations and weights are random; each rank has its parts of them where the kernel
 * looks for them. Choices of experts are those of the scores, by the judge here; the sum of a
 * token's experts must be the judge's in every rank. Of attention over latents the pages are filled
 * with those of tokens before it.
 */
#include "support/any_limits.h"
#include "support/any_topology.h"
#include "support/rig.h"

#include "base/rng.h"
#include "benches/llm/place.h"
#include "cli/llm/run.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- a layer ------------------------------------------------------------------------------------
 */

struct layer {
    int64_t tp, ep, p, tokens, experts, chosen, hidden, inter, shared; /* inter: of all ranks */
};

/* Numbers of the whole model. */
struct numbers {
    float *x, *scores;        /* [token][hidden], [token][expert] */
    float *up, *down;         /* [expert][hidden][2 inter], gates first; [expert][inter][hidden] */
    float *all_up, *all_down; /* the same of what all tokens take: `shared` experts as one */
};

static float *random_floats(struct rng *r, int64_t n)
{
    float *x = calloc((size_t)n + 1, sizeof *x);

    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(rng_unit(r) - 0.5);
    return x;
}

static struct numbers draw_numbers(const struct layer *l)
{
    struct rng r = rng_new(5, "experts");
    int64_t wide = l->shared * l->inter;

    return (struct numbers){.x = random_floats(&r, l->tokens * l->hidden),
                            .scores = random_floats(&r, l->tokens * l->experts),
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

struct bed {
    const struct layer *l;
    const struct numbers *n;
    const struct latents *latents; /* in place of both */
    struct graph g;
    struct shape s;
    struct chip chip;
    struct llm_step step;
    char *bytes; /* of the rooms of all PEs */
};

static const struct llm_op *op_of(const struct graph *g, const char *id)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->op[i].id, id) == 0)
            return &g->op[i];
    fail_msg("there is no operation %s", id);
    return NULL;
}

/* The operations of a layer from one to another, without that. */
static void take_ops(struct graph *g, const char *from, const char *to)
{
    size_t first = (size_t)(op_of(g, from) - g->op), n = 0;

    while (strcmp(g->op[first + n].id, to) != 0)
        n++;
    memmove(g->op, g->op + first, n * sizeof *g->op);
    g->n = n;
    g->layers = 1;
    for (size_t i = 0; i < n; i++)
        g->op[i].tile = (struct llm_tile){3, 5, 1000};
}

static void make_graph(struct bed *b, const struct llm_routing *routing)
{
    const struct layer *l = b->l;
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

/* The byte of the room of PE (r, c) of a rank, as numbers. */
static float *room_at(const struct bed *b, int64_t rank, int64_t r, int64_t c, uint64_t at)
{
    uint32_t pe = b->step.pe_of[rank * b->step.pes + r * b->step.q + c];

    return (float *)(void *)(b->bytes + pe * b->g.room + at);
}

/* Calls `fill` for each PE. */
static void each_pe(struct bed *b, void (*fill)(struct bed *b, int64_t rank, int64_t r, int64_t c))
{
    for (int64_t rank = 0; rank < b->step.tp; rank++)
        for (int64_t r = 0; r < b->step.p; r++)
            for (int64_t c = 0; c < b->step.q; c++)
                fill(b, rank, r, c);
}

/* Part (r, c) of a matrix of all tokens. */
static void fill_rows(struct bed *b, const struct llm_matrix *m, const float *from, int64_t rank,
                      int64_t r, int64_t c)
{
    float *to = room_at(b, rank, r, c, m->at);

    for (int64_t i = share(m->rows, r, b->step.p); i < share(m->rows, r + 1, b->step.p); i++)
        for (int64_t k = share(m->cols, c, b->step.q); k < share(m->cols, c + 1, b->step.q); k++)
            *to++ = from[i * m->cols + k];
}

/* Part (r, c) of columns `first` to `first` + n of gates, then of as many others, of `inter`. */
static void fill_up(struct bed *b, float *to, const float *from, int64_t first, int64_t n,
                    int64_t inter, int64_t r, int64_t c)
{
    int64_t p = b->step.p, q = b->step.q, hidden = b->l->hidden;

    for (int64_t k = share(hidden, r, p); k < share(hidden, r + 1, p); k++)
        for (int64_t half = 0; half < 2; half++)
            for (int64_t f = share(n, c, q); f < share(n, c + 1, q); f++)
                *to++ = from[k * 2 * inter + half * inter + first + f];
}

static void fill_down(struct bed *b, float *to, const float *from, int64_t first, int64_t n,
                      int64_t r, int64_t c)
{
    int64_t p = b->step.p, q = b->step.q, hidden = b->l->hidden;

    for (int64_t f = share(n, r, p); f < share(n, r + 1, p); f++)
        for (int64_t k = share(hidden, c, q); k < share(hidden, c + 1, q); k++)
            *to++ = from[(first + f) * hidden + k];
}

static void fill_experts(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct layer *l = b->l;
    int64_t own = l->experts / l->ep, n = l->inter / (l->tp / l->ep), first = rank / l->ep * n;
    const struct llm_op *up = op_of(&b->g, "experts_up"), *down = op_of(&b->g, "experts_down");

    for (int64_t e = 0; e < own; e++) {
        int64_t expert = rank % l->ep * own + e;

        fill_up(b, room_at(b, rank, r, c, up->weight + (uint64_t)e * up->expert_bytes),
                b->n->up + expert * l->hidden * 2 * l->inter, first, n, l->inter, r, c);
        fill_down(b, room_at(b, rank, r, c, down->weight + (uint64_t)e * down->expert_bytes),
                  b->n->down + expert * l->inter * l->hidden, first, n, r, c);
    }
}

static void fill_pe(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct llm_op *x = op_of(&b->g, b->l->ep > 1 ? "dispatch" : "experts_up");
    int64_t wide = b->l->shared * b->l->inter, n = wide / b->l->tp;

    fill_rows(b, &x->x, b->n->x, rank, r, c);
    fill_rows(b, &op_of(&b->g, "route")->x, b->n->scores, rank, r, c);
    fill_experts(b, rank, r, c);
    if (wide == 0)
        return;
    fill_up(b, room_at(b, rank, r, c, op_of(&b->g, "shared_up")->weight), b->n->all_up, rank * n, n,
            wide, r, c);
    fill_down(b, room_at(b, rank, r, c, op_of(&b->g, "shared_down")->weight), b->n->all_down,
              rank * n, n, r, c);
}

/* Runs and computes the operations; `bytes` become those that are left. */
static void run(struct bed *b)
{
    static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};
    size_t n = (size_t)b->step.tp * b->step.pes;
    uint32_t *pes = calloc(n, sizeof *pes), n_pes = 0;
    kb_error why = {""};
    kb_tensor *room;
    kb_sim *sim = new_sim(b->chip.topo, (kb_options){.phase2 = true});

    assert_non_null(pes);
    assert_int_equal(kb_tensor_new(sim, "room", KB_U8,
                                   KB_SHAPE(kb_pe_count(b->chip.topo), (int64_t)b->g.room), by_rows,
                                   &room, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_write(room, b->bytes, &why), KB_OK);
    b->step.room = room;
    for (uint32_t pe = 0; pe < kb_pe_count(b->chip.topo); pe++)
        for (size_t i = 0; i < n; i++)
            if (b->step.pe_of[i] == pe)
                pes[n_pes++] = pe;
    if (kb_launch(sim,
                  &(kb_launch_request){.name = "llm",
                                       .kernel = llm_kernel,
                                       .args = {.tensors = &room, .n_tensors = 1, .user = &b->step},
                                       .pes = pes,
                                       .n_pes = n_pes},
                  &why) != KB_OK ||
        kb_sim_run(sim, 0, &why) != KB_OK ||
        kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK ||
        kb_tensor_read(room, b->bytes, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
    free(pes);
}

/* The columns of the sum that PE (r, c) has. */
static void hold_pe(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct llm_op *sum = op_of(&b->g, "combine");
    const float *y = room_at(b, rank, r, c, sum->y.at);
    const struct layer *l = b->l;
    double *judged = calloc((size_t)l->hidden, sizeof *judged);

    assert_non_null(judged);
    for (int64_t t = share(l->tokens, r, b->step.p); t < share(l->tokens, r + 1, b->step.p); t++) {
        judge_token(l, b->n, sum->routing->expert + t * l->chosen, t, judged);
        for (int64_t k = share(l->hidden, c, b->step.q); k < share(l->hidden, c + 1, b->step.q);
             k++, y++)
            if (fabs((double)*y - judged[k]) > 1e-4)
                fail_msg("token %d, column %d of rank %d: %g, not %g", (int)t, (int)k, (int)rank,
                         (double)*y, judged[k]);
    }
    free(judged);
}

/* The bed of a graph that is placed, in pages of 16. */
static void make_bed(struct bed *b, int64_t tp, int64_t p)
{
    static int64_t layers_done;
    static bool wrong;
    static size_t n_done;
    size_t done = b->g.n * (size_t)tp * b->chip.unit_pes;

    b->step = (struct llm_step){.op = b->g.op,
                                .n_ops = b->g.n,
                                .layers = 1,
                                .tp = (uint32_t)tp,
                                .pes = b->chip.unit_pes,
                                .p = (uint32_t)p,
                                .q = b->chip.unit_pes / (uint32_t)p,
                                .pe_of = b->chip.order,
                                .kv_at = b->g.kv_at,
                                .kv_bytes = b->g.kv_bytes,
                                .kv_dtype = KB_F32,
                                .page = 16,
                                .acc_bytes = b->chip.acc_bytes,
                                .tcm_bytes = b->chip.tcm_bytes,
                                .layers_done = &layers_done,
                                .done = &n_done,
                                .is_wrong = &wrong};
    b->step.end_fs = calloc(done, sizeof *b->step.end_fs);
    b->step.came_fs = calloc(done, sizeof *b->step.came_fs);
    b->step.agrees = calloc(2, 1);
    b->bytes = malloc(kb_pe_count(b->chip.topo) * b->g.room);
    assert_true(b->step.end_fs && b->step.came_fs && b->step.agrees && b->bytes);
    memset(b->bytes, 0x41, kb_pe_count(b->chip.topo) * b->g.room); /* that no one has written */
}

static void free_bed(struct bed *b)
{
    free(b->step.end_fs);
    free(b->step.came_fs);
    free(b->step.agrees);
    free(b->bytes);
    chip_free(&b->chip);
}

static void hold_layer(const kb_topology *topo, const struct layer *l)
{
    const struct cli cli = cli_of(topo, KB_FUSED);
    struct numbers n = draw_numbers(l);
    uint16_t *expert = calloc((size_t)(l->tokens * l->chosen), sizeof *expert);
    const struct llm_routing routing = {l->experts, l->chosen, l->tokens, expert, 0};
    struct bed b = {.l = l, .n = &n};

    assert_non_null(expert);
    for (int64_t t = 0; t < l->tokens; t++)
        judge_choices(l, &n, t, expert + t * l->chosen);
    assert_int_equal(chip_of(&cli, &b.chip), EXIT_OK);
    make_graph(&b, &routing);
    make_bed(&b, l->tp, l->p);
    each_pe(&b, fill_pe);
    run(&b);
    each_pe(&b, hold_pe);
    free_bed(&b);
    free(expert);
    free_numbers(&n);
}

/* tp, ep, p, tokens, experts, chosen, hidden, inter, shared */
static const struct layer layers[] = {
    {1, 1, 1, 7, 8, 2, 24, 20, 0},  /* all in one rank, parts that are not equal */
    {4, 1, 1, 5, 4, 1, 24, 16, 0},  /* a part of each expert in each rank */
    {4, 1, 2, 9, 8, 3, 24, 16, 1},  /* two rows of PEs; what all tokens take */
    {4, 4, 1, 6, 8, 2, 24, 16, 0},  /* experts are divided: 2, 2, 1, 1 tokens of each rank */
    {4, 4, 2, 11, 8, 2, 24, 16, 1}, /* the same in two rows */
    {4, 2, 1, 7, 4, 3, 24, 16, 2},  /* two groups, in each a half of all experts' columns */
    {4, 4, 1, 1, 4, 2, 3, 16, 0},   /* ranks without a token, a PE without a column */
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

/* -- latents ------------------------------------------------------------------------------------
 */

/* Of one rank: requests of one token, with `kv` in all; columns of a head of q, before and in what
 * is turned; of a latent and of a value. */
struct latents {
    int64_t p, batch, kv, heads, nope, rope, latent, value;
    float *q, *kept;        /* [request][head][nope + rope], [request][token][latent + rope] */
    float *absorb, *expand; /* [head][nope][latent], [head][latent][value] */
};

static void draw_latents(struct latents *l)
{
    struct rng r = rng_new(6, "latents");

    l->q = random_floats(&r, l->batch * l->heads * (l->nope + l->rope));
    l->kept = random_floats(&r, l->batch * l->kv * (l->latent + l->rope));
    l->absorb = random_floats(&r, l->heads * l->nope * l->latent);
    l->expand = random_floats(&r, l->heads * l->latent * l->value);
}

/* What one head makes of one request: its keys are products of latents, without any absorption. */
static void judge_head(const struct latents *l, int64_t request, int64_t head, double *y)
{
    const float *q = l->q + (request * l->heads + head) * (l->nope + l->rope);
    const float *to_key = l->absorb + head * l->nope * l->latent;
    const float *to_value = l->expand + head * l->latent * l->value;
    double sum = 0;

    memset(y, 0, (size_t)l->value * sizeof *y);
    for (int64_t t = 0; t < l->kv; t++) {
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
    int64_t p = b->step.p, q = b->step.q, all = b->latents->heads * cols;
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
    const struct latents *l = b->latents;
    int64_t pes = b->step.pes, n = l->batch >= pes ? 1 : pes / l->batch, dim = l->latent + l->rope;
    int64_t pages = parts(l->kv / 16, n);

    for (int64_t u = 0; u < l->batch; u++)
        for (int64_t t = 0; t < l->kv; t++) {
            int64_t page = t / 16, pe = l->batch >= pes ? u % pes : u * n + page % n;
            int64_t place = (l->batch >= pes ? u / pes * pages : 0) + page / n;
            float *to = room_at(b, 0, pe / b->step.q, pe % b->step.q,
                                b->step.kv_at + (uint64_t)((place * 16 + t % 16) * dim * 4));

            memcpy(to, l->kept + (u * l->kv + t) * dim, (size_t)dim * 4);
        }
}

static void fill_latents(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct latents *l = b->latents;

    fill_rows(b, &op_of(&b->g, "absorb")->x, l->q, rank, r, c);
    fill_heads(b, op_of(&b->g, "absorb"), l->absorb, l->nope, l->latent, r, c);
    fill_heads(b, op_of(&b->g, "expand"), l->expand, l->latent, l->value, r, c);
}

static void hold_values(struct bed *b, int64_t rank, int64_t r, int64_t c)
{
    const struct latents *l = b->latents;
    const float *y = room_at(b, rank, r, c, op_of(&b->g, "expand")->y.at);
    int64_t all = l->heads * l->value;
    double *judged = calloc((size_t)l->value, sizeof *judged);

    assert_non_null(judged);
    for (int64_t t = share(l->batch, r, b->step.p); t < share(l->batch, r + 1, b->step.p); t++)
        for (int64_t j = share(all, c, b->step.q); j < share(all, c + 1, b->step.q); j++, y++) {
            judge_head(l, t, j / l->value, judged);
            if (fabs((double)*y - judged[j % l->value]) > 1e-4)
                fail_msg("request %d, column %d: %g, not %g", (int)t, (int)j, (double)*y,
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
    struct bed b = {.latents = l};

    draw_latents(l);
    assert_int_equal(chip_of(&cli, &b.chip), EXIT_OK);
    b.s = (struct shape){.tp = 1,
                         .ep = 1,
                         .batch = l->batch,
                         .q = 1,
                         .kv = l->kv,
                         .page = 16,
                         .weights = KB_F32,
                         .act = KB_F32,
                         .kv_dtype = KB_F32};
    graph_of_model(&m, &b.s, &b.g);
    take_ops(&b.g, "absorb", "o");
    graph_place(&b.g, &b.s, (uint32_t)l->p, b.chip.unit_pes / (uint32_t)l->p);
    make_bed(&b, 1, l->p);
    each_pe(&b, fill_latents);
    fill_pages(&b);
    run(&b);
    each_pe(&b, hold_values);
    free_bed(&b);
    free(l->q);
    free(l->kept);
    free(l->absorb);
    free(l->expand);
}

static void attention_over_latents_is_that_of_keys_and_values(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: four\nsip: {cube_mesh: {w: 2, h: 2}}\ncube: {pes: 4}\n");
    /* p, batch, kv, heads, nope, rope, latent, value */
    struct latents cases[] = {
        {.p = 1, .batch = 5, .kv = 16, .heads = 4, .nope = 8, .rope = 4, .latent = 16, .value = 8},
        {.p = 1, .batch = 2, .kv = 80, .heads = 3, .nope = 6, .rope = 2, .latent = 10, .value = 5},
        {.p = 2, .batch = 4, .kv = 32, .heads = 2, .nope = 7, .rope = 3, .latent = 9, .value = 4},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        hold_attention(topo, &cases[i]);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_experts_are_those_of_plain_loops),
        cmocka_unit_test(attention_over_latents_is_that_of_keys_and_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
