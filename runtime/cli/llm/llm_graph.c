/*
 * llm_graph.c -- one layer of a model, tensor-parallel over tp ranks, as a list of operations.
 *
 * Llama's family: norm, qkv, rope, attention, o, all_reduce, norm, gate_up, act, down, all_reduce.
 * With experts graph_experts.c has what is behind norm2. Falcon: attention and MLP side by side
 * from one norm (two in models with two), their sum, one all_reduce. Before the layers the
 * embedding; behind them norm, head, topk, all_gather for the last token of each request, if the
 * prompt ends here. A norm adds what the all_reduce before it has left to the residual.
 */
#include "cli/llm/graph_flow.h"
#include <stdio.h>
#include <string.h>

enum { ALIGN = 256 };

/* qkv, rope, attention and o; the result is partial sums in `out`. */
static void attention(struct flow *f, struct llm_matrix out)
{
    int64_t e = f->m->head_dim;
    struct llm_matrix qkv = flow_matrix(f->s, f->tokens, (f->heads + 2 * f->kv_heads) * e, 1);
    struct llm_matrix o = flow_matrix(f->s, f->tokens, f->heads * e, 1);

    if (model_has_latent(f->m)) {
        flow_latent(f, out);
        return;
    }
    qkv.at = GRAPH_QKV;
    o.at = GRAPH_HEADS;
    flow_gemm(f, "qkv", f->normed, qkv);
    if (f->m->qk_norm)
        flow_heads(f, "qk_norm", LLM_QK_NORM, qkv, qkv);
    flow_heads(f, "rope", LLM_ROPE, qkv, qkv);
    flow_heads(f, "attention", LLM_ATTENTION, qkv, o);
    flow_gemm(f, "o", o, out);
}

static void mlp(struct flow *f, struct llm_matrix out)
{
    const char *const id[] = {f->m->layernorm ? "up" : "gate_up", "act", "down"};

    if (f->m->experts)
        flow_experts(f, out);
    else
        flow_mlp(f, id, f->m->inter / f->s->tp, out);
}

static void layer(struct flow *f)
{
    struct llm_matrix other = f->delta;

    flow_norm(f, "norm1", true, true);
    if (f->m->parallel) {
        other.at = GRAPH_OTHER;
        attention(f, other);
        if (f->m->norms == 2)
            flow_norm(f, "norm2", true, false);
        mlp(f, f->delta);
        flow_rows(f, "add", LLM_ADD, f->delta, f->delta);
        f->g->op[f->g->n - 1].z = other;
        flow_all_reduce(f, "all_reduce1", true, f->delta);
        return;
    }
    attention(f, f->delta);
    flow_all_reduce(f, "all_reduce1", true, f->delta);
    flow_norm(f, "norm2", true, true);
    mlp(f, f->delta);
    flow_all_reduce(f, "all_reduce2", true, f->delta);
}

static void head(struct flow *f)
{
    int64_t vocab = (f->m->vocab + f->s->tp - 1) / f->s->tp;
    struct llm_matrix last = flow_matrix(f->s, shape_heads(f->s), f->m->hidden, 1);
    struct llm_matrix logits = flow_matrix(f->s, shape_heads(f->s), vocab, 1), best = logits;

    last.at = GRAPH_LAST;
    logits.at = GRAPH_LOGITS;
    best.at = GRAPH_BEST;
    best.dtype = KB_I64;
    best.cols = 1; /* of a PE: graph_place() */
    flow_norm(f, "norm", false, true);
    f->g->op[f->g->n - 1].y = last;
    f->g->op[f->g->n - 1].requests = f->s->requests;
    flow_gemm(f, "head", last, logits);
    f->g->op[f->g->n - 1].is_layer = false;
    f->g->op[f->g->n - 1].weight_dtype = flow_plain_weights(f);
    flow_rows(f, "topk", LLM_TOPK, logits, best);
    f->g->op[f->g->n - 1].is_layer = false;
    struct llm_op *op = flow_add(f->g, "all_gather", LLM_ALL_GATHER, false);
    op->x = op->y = best;
    op->bytes = 8 * shape_heads(f->s) * f->s->tp;
}

/* What the next stage of a pipeline gets: graph_stage.c. */
static void send(struct flow *f)
{
    struct llm_op *op = flow_add(f->g, "send", LLM_SEND, false);

    op->x = op->y = f->x;
    op->z = f->delta;
    op->bytes = f->x.rows * f->x.cols * (int64_t)kb_dtype_bytes(f->x.dtype);
}

/* Layers before those that repeat, which have no experts: each has a name, and is done once. */
static void dense_layers(struct flow *f)
{
    const struct model *m = f->m;
    struct model dense = *m;

    dense.experts = 0;
    f->m = &dense;
    for (int64_t i = 0; i < m->dense_layers; i++) {
        size_t first = f->g->n;

        layer(f);
        for (size_t k = first; k < f->g->n; k++) {
            struct llm_op *op = &f->g->op[k];
            char id[sizeof op->id];

            snprintf(id, sizeof id, "%s", op->id);
            snprintf(op->id, sizeof op->id, "%d.%.13s", (int)i, id);
            op->is_layer = false;
            op->kv_layer = i;
        }
    }
    f->m = m;
}

int64_t graph_kv_heads(const struct model *m, int64_t tp)
{
    return m->kv_heads > tp && !model_has_latent(m) ? m->kv_heads / tp : 1;
}

void graph_of_model(const struct model *m, const struct shape *s, struct graph *out)
{
    struct flow f = {.m = m,
                     .s = s,
                     .g = out,
                     .tokens = shape_tokens(s),
                     .heads = m->heads / s->tp,
                     .kv_heads = graph_kv_heads(m, s->tp)};

    memset(out, 0, sizeof *out);
    out->layers = m->layers - m->dense_layers;
    out->dense_layers = m->dense_layers;
    f.x = f.delta = f.normed = flow_matrix(s, f.tokens, m->hidden, 1);
    f.x.at = GRAPH_X;
    f.delta.at = GRAPH_DELTA;
    f.normed.at = GRAPH_NORMED;
    struct llm_op *op = flow_add(out, "embed", LLM_EMBED, false);
    op->x = flow_matrix(s, f.tokens, (m->vocab + s->tp - 1) / s->tp, 1);
    op->y = f.x;
    flow_all_reduce(&f, "all_reduce0", false, f.x);
    dense_layers(&f);
    size_t first = out->n;
    layer(&f);
    for (size_t i = first; i < out->n; i++)
        out->op[i].kv_layer = m->dense_layers;
    if (s->pp > 1)
        send(&f);
    if (shape_heads(s) > 0)
        head(&f);
}

/* -- places ----------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Bytes of the own part of the weight of a layer. */
static uint64_t weight_part(const struct llm_op *op, uint32_t p, uint32_t q)
{
    struct llm_matrix w = {.rows = op->depth > 0 ? op->depth : op->x.cols,
                           .cols = op->y.cols,
                           .unit = op->y.unit,
                           .dtype = op->weight_dtype};

    switch (op->kind) {
    case LLM_EMBED:
        w.dtype = op->y.dtype;
        return llm_part_bytes(&w, p, q);
    case LLM_GEMM:
        return llm_part_bytes(&w, p, q);
    case LLM_NORM:
    case LLM_LAYERNORM:
        w.rows = 1;
        w.dtype = op->y.dtype;
        return llm_part_bytes(&w, 1, q);
    default:
        return 0;
    }
}

/* What depends on the grid: of what each PE has of its own, and of room for the most rows that may
 * come from other ranks. */
static void fit_to_grid(struct llm_op *op, uint32_t p, uint32_t q)
{
    struct llm_matrix *const all[] = {&op->x, &op->y, &op->z};

    if (op->kind == LLM_TOPK || op->kind == LLM_ALL_GATHER)
        op->y.cols = q;
    if (op->kind == LLM_ALL_GATHER)
        op->x = op->y;
    if (op->kind == LLM_MOVE && !op->of_host) /* a share for each PE */
        op->z = (struct llm_matrix){
            p, q * ((op->bytes + p * q - 1) / (p * q)), 1, GRAPH_MOVED, KB_U8, 0};
    if (op->kind == LLM_ROPE)
        op->z = (struct llm_matrix){op->x.rows, op->dim * q, op->dim, GRAPH_TURNED, KB_F32, 0};
    if (op->kind == LLM_Q_ROPE || op->kind == LLM_LATENT)
        op->z =
            (struct llm_matrix){op->x.rows, op->turned * q, op->turned, GRAPH_TURNED, KB_F32, 0};
    if (op->kind == LLM_ROUTE)
        op->y.cols = op->y.unit * q;
    for (size_t i = 0; i < 3 && op->ep > 1; i++)
        if (all[i]->each > 0)
            all[i]->rows = all[i]->each * p * op->ep *
                           ((all[i]->rows / all[i]->each + p * op->ep - 1) / (p * op->ep));
}

/* Until graph_place() has run, `at` of a matrix is its number. */
struct places {
    uint64_t at[GRAPH_MATRICES], bytes[GRAPH_MATRICES];
};

static void note(struct places *places, const struct llm_matrix *m, uint32_t p, uint32_t q)
{
    uint64_t bytes = m->rows > 0 ? aligned(llm_part_bytes(m, p, q)) : 0;

    if (bytes > places->bytes[m->at])
        places->bytes[m->at] = bytes;
}

static int64_t most_rows(const struct graph *g)
{
    int64_t most = 0;

    for (size_t i = 0; i < g->n; i++)
        most = g->op[i].y.rows > most ? g->op[i].y.rows : most;
    return most;
}

/* Where addresses are interleaved, layers a round apart lie alike in the same slices. */
static uint64_t of_layer(const struct graph *g, const struct llm_op *op, uint64_t bytes)
{
    uint64_t round = op->is_layer && g->round > 0 ? g->round : 1;

    return (bytes + round - 1) / round * round;
}

void graph_place(struct graph *g, const struct shape *s, uint32_t p, uint32_t q)
{
    struct places places = {{0}, {0}};
    struct llm_step step = {.pes = p * q, .page = s->page, .kv_dtype = s->kv_dtype};
    uint64_t at = 0, kv_layers = 0;

    for (size_t i = 0; i < g->n; i++) {
        struct llm_op *op = &g->op[i];

        fit_to_grid(op, p, q);
        note(&places, &op->x, p, q);
        note(&places, &op->y, p, q);
        note(&places, &op->z, p, q);
        note(&places, &op->keys, p, q);
    }
    places.bytes[0] = 0; /* the number of no matrix: the table of the embedding */
    for (int i = 0; i < GRAPH_MATRICES; i++) {
        places.at[i] = at;
        at += places.bytes[i];
    }
    g->scratch = at;
    at += aligned((uint64_t)(most_rows(g) * 8));
    for (size_t i = 0; i < g->n; i++) {
        struct llm_op *op = &g->op[i];

        op->x.at = places.at[op->x.at];
        op->y.at = places.at[op->y.at];
        op->z.at = places.at[op->z.at];
        op->keys.at = places.at[op->keys.at];
        op->weight = at;
        op->routes = op->experts > 0 ? places.at[GRAPH_ROUTES] : 0;
        op->expert_bytes = op->weight_bytes = aligned(weight_part(op, p, q));
        if (op->experts > 0)
            op->weight_bytes *= (uint64_t)(op->experts / op->ep);
        op->weight_bytes = of_layer(g, op, op->weight_bytes);
        at += op->weight_bytes * (uint64_t)(op->is_layer ? g->layers : 1);
        if (op->kind == LLM_ATTENTION && op->requests)
            llm_lay_pages(op, &step);
        if (op->kind == LLM_KEPT || (op->kind == LLM_ATTENTION && !op->has_made))
            g->kv_bytes = of_layer(g, op, aligned(llm_kv_bytes(op, &step)));
        if (op->kind == LLM_ATTENTION)
            kv_layers += (uint64_t)(op->is_layer ? g->layers : 1);
    }
    g->kv_at = at;
    g->room = at + g->kv_bytes * kv_layers * (uint64_t)count_of(s->micro);
}

void graph_route(struct graph *g, const struct llm_routing *routing)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->op[i].experts > 0)
            g->op[i].routing = routing;
}

/* -- numbers of ranks ------------------------------------------------------------------------- */

/* Can layers be cut into so many ranks? */
static bool divides(const struct model *m, int64_t tp)
{
    int64_t inter = m->dense_layers || !m->experts ? m->inter : tp;
    bool latent = model_has_latent(m);

    return m->heads % tp == 0 && inter % tp == 0 &&
           (latent || m->kv_heads % tp == 0 || tp % m->kv_heads == 0) &&
           (m->shared_experts * m->expert_inter) % tp == 0;
}

const char *graph_refuse(const struct model *m, int64_t tp, int64_t most, char why[256])
{
    size_t at = (size_t)snprintf(why, 256, "possible are");

    if (divides(m, tp))
        return NULL;
    for (int64_t n = 1; n <= m->heads && n <= most && at < 240; n++)
        if (divides(m, n))
            at += (size_t)snprintf(why + at, 256 - at, " %lld", (long long)n);
    return why;
}

/* Over a part of the ranks of a copy, each of which has a part of every expert of another; or over
 * several copies. */
static bool divides_experts(const struct model *m, int64_t tp, int64_t dp, int64_t ep)
{
    bool fits = ep <= tp ? tp % ep == 0 && m->expert_inter % (tp / ep) == 0
                         : ep % tp == 0 && tp * dp % ep == 0;

    return fits && m->experts % ep == 0;
}

const char *graph_refuse_ep(const struct model *m, int64_t tp, int64_t dp, int64_t ep,
                            char why[256])
{
    size_t at = (size_t)snprintf(why, 256, "possible are"), none = at;

    if (divides_experts(m, tp, dp, ep))
        return NULL;
    for (int64_t n = 1; n <= tp * dp && at < 240; n++)
        if (divides_experts(m, tp, dp, n))
            at += (size_t)snprintf(why + at, 256 - at, " %lld", (long long)n);
    if (at == none)
        snprintf(why, 256, "no number is possible");
    return why;
}
