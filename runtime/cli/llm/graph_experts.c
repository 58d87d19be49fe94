/*
 * graph_experts.c -- the operations of a layer's experts.
 *
 * A gate, which each rank has whole, scores the experts for each token, and `route` takes the best.
 * What every token takes (shared experts) is an MLP as ever. With ep = 1 each rank has a part of
 * every expert: products of all rows, each by the matrix of its expert, and their sum by token.
 * With ep ranks that divide experts among them, each of tp / ep groups of neighbours has all
 * experts; a rank has experts / ep of them, cut over the groups, sends its own tokens there, and
 * gets them back. What ranks have of a token's sum is added by the all_reduce behind it.
 *
 * Where ep is more than tp, copies of the model share experts, which are not cut: ep / tp copies,
 * each with tokens of its own. A rank gets rows of the tokens of all of them.
 *
 * Example: 8 experts, tp 8, ep 4: ranks 0 .. 3 have experts 0 1, 2 3, 4 5, 6 7, of each the first
 * half of its columns, and ranks 4 .. 7 the same with the second half.
 */
#include "cli/llm/graph_flow.h"

/* The last operation becomes one on rows of experts. */
static struct llm_op *of_experts(struct flow *f)
{
    struct llm_op *op = &f->g->op[f->g->n - 1];

    op->experts = f->m->experts;
    op->chosen = f->m->chosen;
    op->ep = f->s->ep > 1 ? f->s->ep : 1;
    return op;
}

/* Room for so many rows of each token. */
static struct llm_matrix expert_matrix(const struct flow *f, int64_t each, int64_t cols,
                                       int64_t unit, uint64_t at)
{
    struct llm_matrix m = flow_matrix(f->s, shape_copies(f->s) * f->tokens * each, cols, unit);

    m.at = at;
    m.each = each;
    return m;
}

static void route(struct flow *f)
{
    struct llm_matrix scores = flow_matrix(f->s, f->tokens, f->m->experts, 1);
    struct llm_matrix routes = {f->tokens,    2 * f->m->chosen, 2 * f->m->chosen,
                                GRAPH_ROUTES, KB_I32,           0};

    scores.at = GRAPH_SCORES;
    flow_gemm(f, "gate", f->normed, scores);
    f->g->op[f->g->n - 1].weight_dtype = flow_plain_weights(f);
    flow_rows(f, "route", LLM_ROUTE, scores, routes); /* routes.cols: of a PE: graph_place() */
    of_experts(f);
}

/* x by way of what is sent to y. */
static void exchange(struct flow *f, const char *id, enum llm_kind kind, struct llm_matrix x,
                     struct llm_matrix y)
{
    int64_t owners = f->s->ep / shape_copies(f->s), own = (f->tokens + owners - 1) / owners;

    flow_rows(f, id, kind, x, y);
    struct llm_op *op = of_experts(f);
    op->z = y;
    op->z.at = GRAPH_SENT;
    op->bytes = own * f->m->chosen * x.cols * (int64_t)kb_dtype_bytes(x.dtype);
}

void flow_experts(struct flow *f, struct llm_matrix out)
{
    static const char *const shared[] = {"shared_up", "shared_act", "shared_down"};
    const struct model *m = f->m;
    int64_t ep = f->s->ep > 1 ? f->s->ep : 1, own = m->experts / ep;
    int64_t inter = m->expert_inter * ep / shape_ranks(f->s);
    int64_t each = ep > 1 && own < m->chosen ? own : m->chosen; /* rows of a token in a rank */
    struct llm_matrix x = f->normed, result;

    route(f);
    if (m->shared_experts)
        flow_mlp(f, shared, m->shared_experts * m->expert_inter / f->s->tp, out);
    if (ep > 1) {
        x = expert_matrix(f, each, m->hidden, 1, GRAPH_RECEIVED);
        exchange(f, "dispatch", LLM_DISPATCH, f->normed, x);
    }
    struct llm_matrix up = expert_matrix(f, each, 2 * inter, 2, GRAPH_EXPERTS_UP);
    struct llm_matrix act = expert_matrix(f, each, inter, 1, GRAPH_EXPERTS_ACT);
    result = expert_matrix(f, each, m->hidden, 1, GRAPH_EXPERTS_DOWN);
    flow_gemm(f, "experts_up", x, up);
    of_experts(f)->gathers = true;
    flow_rows(f, "experts_act", LLM_SILU, up, act);
    of_experts(f);
    flow_gemm(f, "experts_down", act, result);
    of_experts(f);
    if (ep > 1) {
        struct llm_matrix down = result;

        result.at = GRAPH_RETURNED;
        exchange(f, "collect", LLM_COLLECT, down, result);
    }
    flow_rows(f, "combine", LLM_COMBINE, result, out);
    struct llm_op *op = of_experts(f);
    op->has_z = m->shared_experts > 0;
    op->z = out;
}
