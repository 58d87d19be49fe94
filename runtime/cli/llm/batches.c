/*
 * batches.c -- iterations of requests that are not alike: of a file, or one by one of a program.
 *
 * A server asks for thousands of iterations, of which most have as many tokens as one before, and
 * requests of other lengths. Then only the rotation, attention and the norm before the head take
 * another time. Each is simulated alone on one rank, behind a barrier, and the difference counts
 * once a layer. That is exact where a rank that is alone takes the same whatever it did before, and
 * all ranks take the same (run_alone() says so): all come later to the next collective by as much,
 * so it takes what it took. Still, the first iteration of each number of tokens is simulated whole,
 * and must have these operations as they are alone; and the first CHECKED that are added up are
 * simulated whole, too. A femtosecond off, and all are simulated whole from then on.
 *
 * Example: 16 layers, 4 requests; whole, with 64 tokens each, 232.5 us, of which rope and attention
 * take 0.24 us a layer. With 64, 96, 16 and 640 tokens these take 0.81 us alone: 232.5 + 16 * 0.57
 * = 241.7 us, and as much it is.
 */
#include "cli/llm/batches.h"
#include "cli/llm/llm_iterate.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include <stdlib.h>

enum { CHECKED = 2 };

/* An iteration. */
struct batch {
    struct llm_requests *requests; /* owned */
    struct shape shape;
    struct graph graph;
};

static int64_t heads_here(const struct llm *l)
{
    return graph_kv_heads(&l->model, (int64_t)l->tps.value[0]);
}

/* Its operations, which have no places yet. */
static void make_graph(const struct llm *l, struct batch *b)
{
    graph_of_model(&l->model, &b->shape, &b->graph);
    b->graph.round = l->chip.round;
}

/* Its operations, which lie in their places; bytes of a rank. */
static uint64_t lay(const struct llm *l, struct llm_requests *r, struct batch *b)
{
    uint32_t p, q;

    b->requests = r;
    b->shape = l->shape;
    b->shape.tp = (int64_t)l->tps.value[0];
    b->shape.batch = r->n;
    b->shape.requests = r;
    b->shape.kv = r->longest;
    make_graph(l, b);
    grid_of(&l->chip, r->tokens, &p, &q);
    graph_place(&b->graph, &b->shape, p, q);
    return b->graph.room * l->chip.unit_pes;
}

static enum exit_code refuse(const struct llm *l, int64_t requests, uint64_t bytes)
{
    return cmd_say(l->cli, EXIT_USAGE, "%s with %lld requests needs %.3f GB of %.3f a rank",
                   l->model.name, (long long)requests, (double)bytes / 1e9,
                   (double)l->chip.unit_bytes / 1e9);
}

static uint64_t tries_of(const struct opts *o)
{
    return o->prove ? UINT64_MAX : o->tries;
}

/* Which experts its tokens go to. */
static enum exit_code route(struct llm *l, const struct batch *b,
                            const struct llm_routing **routing)
{
    const struct model *m = &l->model;

    enum exit_code code = llm_check_grid(l, b->requests->tokens);

    if (!code)
        code = llm_check_room(l, &b->graph);
    *routing = NULL;
    if (code || m->experts == 0)
        return code;
    return routes_of(l->cli, &l->routes,
                     &(struct route_extents){.tokens = b->requests->tokens,
                                             .copies = 1,
                                             .experts = m->experts,
                                             .chosen = m->chosen,
                                             .layers = b->graph.layers},
                     routing);
}

/* -- of a file -------------------------------------------------------------------------------- */

static enum exit_code with_rows(struct llm *l, struct batch *b, const char *phase)
{
    struct pipeline *p = memory_new(1, sizeof *p);
    struct simulator sim = {.cli = l->cli,
                            .chip = &l->chip,
                            .known = &l->known,
                            .tries = tries_of(&l->cli->opts),
                            .skips_causes = !llm_tells_causes(&l->cli->opts)};
    const struct llm_routing *routing;
    enum exit_code code = route(l, b, &routing);

    l->told.operations = run_operations(&b->graph);
    l->told.done = 0;
    make_graph(l, b);
    pipeline_begin(p, &b->shape);
    if (!code)
        code = pipeline_run(&sim, &b->graph, &b->shape, routing, p);
    if (!code) {
        pipeline_end(p, true);
        llm_rows_add(&l->rows, &(struct simulated){&b->shape, p, phase});
        l->told.complete++;
    }
    pipeline_free(p);
    free(p);
    return code;
}

enum exit_code batches_of_file(struct llm *l)
{
    struct batch *b = memory_new(1, sizeof *b);
    struct llm_requests *r;
    enum exit_code code = EXIT_OK;
    size_t at = 0;
    int64_t number;

    while (!code && (r = iterations_next(&l->its, &at, heads_here(l), &number))) {
        uint64_t bytes = lay(l, r, b);

        if (bytes > l->chip.unit_bytes)
            code = refuse(l, r->n, bytes);
        else
            code = with_rows(l, b, llm_rows_phase(&l->rows, number));
        llm_requests_free(r);
    }
    free(b);
    return code;
}

/* -- alone ------------------------------------------------------------------------------------ */

/* What operations that depend on lengths take, of one call. */
struct lengths_take {
    int64_t layer_fs, head_fs, attention_fs; /* rope and attention; the norm; attention */
};

/* Does it take another time if requests are as many, with as many new tokens, of other lengths? */
static bool asks_for_lengths(const struct llm_op *op)
{
    return op->kind == LLM_ROPE || op->kind == LLM_ATTENTION ||
           ((op->kind == LLM_NORM || op->kind == LLM_LAYERNORM) && !op->is_layer);
}

/* They alone on one rank, behind a barrier; `slots`: as in the whole. */
static struct graph only_lengths(const struct llm *l, const struct batch *b, uint64_t slots,
                                 struct shape *alone)
{
    struct graph whole, only;
    uint32_t p, q;

    *alone = b->shape;
    graph_of_model(&l->model, alone, &whole);
    only = whole;
    alone->tp = alone->ep = 1;
    only.layers = 1;
    only.op[0] = (struct llm_op){.id = "begin", .kind = LLM_ADD, .y = {0, 1, 1, 0, KB_F32, 0}};
    only.op[0].x = only.op[0].z = only.op[0].y;
    only.n = 1;
    for (size_t i = 0; i < whole.n; i++)
        if (asks_for_lengths(&whole.op[i])) {
            only.op[only.n] = whole.op[i];
            only.op[only.n++].is_layer = false;
        }
    grid_of(&l->chip, b->requests->tokens, &p, &q);
    graph_place(&only, alone, p, q);
    only.slots = slots;
    return only;
}

static enum exit_code run_lengths(const struct llm *l, const struct batch *b, uint64_t slots,
                                  struct lengths_take *out)
{
    struct shape alone;
    struct graph only = only_lengths(l, b, slots, &alone);
    struct iteration it;
    enum exit_code code = run_graph(l->cli, &l->chip, &only, &alone, NULL, &it);

    *out = (struct lengths_take){0, 0, 0};
    for (size_t i = 1; i < only.n && !code; i++) {
        enum llm_kind kind = only.op[i].kind;
        bool is_layer = kind == LLM_ROPE || kind == LLM_ATTENTION;

        *(is_layer ? &out->layer_fs : &out->head_fs) += it.op[i].fs;
        out->attention_fs += kind == LLM_ATTENTION ? it.op[i].fs : 0;
    }
    return code;
}

/* -- of a program ----------------------------------------------------------------------------- */

/* Iterations of so many new tokens and heads, with as many PEs that join what attention gives. */
struct size_known {
    int64_t tokens, heads, joined;
    int64_t rest_fs; /* without the operations that ask for lengths */
    uint64_t slots;  /* graph.slots, which depend on no length */
};

/* What is known of iterations before. */
struct memo {
    bool adds_up; /* until it does not */
    int checked;
    int64_t n_whole;
    struct size_known *size; /* owned */
    size_t n, room;
};

/* PEs of a unit, if some request has one new token; else none have messages for each other. */
static int64_t joined_in(const struct llm *l, const struct batch *b)
{
    bool has_single = false;

    for (int64_t i = 0; i < b->requests->n; i++)
        has_single = has_single || b->requests->request[i].q == 1;
    for (size_t i = 0; i < b->graph.n && has_single; i++)
        if (b->graph.op[i].kind == LLM_ATTENTION)
            return llm_pes_of_unit(&b->graph.op[i], l->chip.unit_pes);
    return 1;
}

static const struct size_known *find_size(const struct memo *m, const struct llm *l,
                                          const struct batch *b)
{
    const struct llm_requests *r = b->requests;
    int64_t joined = joined_in(l, b);

    for (size_t i = 0; i < m->n; i++)
        if (m->size[i].tokens == r->tokens && m->size[i].heads == r->heads &&
            m->size[i].joined == joined)
            return &m->size[i];
    return NULL;
}

static void keep_size(struct memo *m, const struct llm *l, const struct batch *b, int64_t rest_fs)
{
    if (m->n == m->room)
        m->size = memory_room(m->size, m->n, &m->room, sizeof *m->size);
    m->size[m->n++] = (struct size_known){b->requests->tokens, b->requests->heads, joined_in(l, b),
                                          rest_fs, b->graph.slots};
}

/* Have the operations that ask for lengths taken in all layers what they take alone? */
static bool are_as_alone(const struct graph *g, const struct iteration *it,
                         const struct lengths_take *alone)
{
    int64_t layer_fs = 0, head_fs = 0;

    for (size_t i = 0; i < g->n; i++) {
        if (!asks_for_lengths(&g->op[i]))
            continue;
        if (it->op[i].all_fs != it->op[i].fs * it->op[i].count)
            return false;
        *(g->op[i].is_layer ? &layer_fs : &head_fs) += it->op[i].fs;
    }
    return layer_fs == alone->layer_fs && head_fs == alone->head_fs;
}

/* The whole; all ranks must be alike, if others of its size are to be added up. */
static enum exit_code run_whole(struct llm *l, struct batch *b, struct memo *m, int64_t *fs)
{
    struct llm_known known = {0};
    struct lengths_take alone;
    struct iteration it;
    const struct llm_routing *routing;
    struct found found[GRAPH_OPS_MAX];
    enum exit_code code = route(l, b, &routing);

    graph_route(&b->graph, routing);
    if (!code)
        code = search_tiles(l->cli, &l->chip, &b->graph, &b->shape, tries_of(&l->cli->opts),
                            &l->known, found);
    if (!code)
        code = run_rehearsal(l->cli, &l->chip, &b->graph, &b->shape);
    if (!code)
        code = run_alone(l->cli, &l->chip, &b->graph, &b->shape, NULL, &known);
    m->adds_up = m->adds_up && known.ranks == 1;
    if (!code)
        code = run_graph(l->cli, &l->chip, &b->graph, &b->shape, &known, &it);
    m->adds_up = m->adds_up && known.ranks == 1; /* what was wrong is forgotten */
    run_forget(&known);
    if (!code && m->adds_up && !find_size(m, l, b)) {
        code = run_lengths(l, b, b->graph.slots, &alone);
        m->adds_up = !code && are_as_alone(&b->graph, &it, &alone);
        keep_size(m, l, b, it.fs - b->graph.layers * alone.layer_fs - alone.head_fs);
    }
    *fs = code ? 0 : it.fs;
    return code;
}

static enum exit_code add_up(const struct llm *l, const struct batch *b,
                             const struct size_known *size, int64_t *fs)
{
    struct lengths_take alone;
    enum exit_code code = run_lengths(l, b, size->slots, &alone);

    *fs = size->rest_fs + b->graph.layers * alone.layer_fs + alone.head_fs;
    return code;
}

static enum exit_code attention_alone(const struct llm *l, const struct batch *b, int64_t *fs)
{
    struct lengths_take alone;
    enum exit_code code = run_lengths(l, b, 0, &alone);

    *fs = alone.attention_fs;
    return code;
}

static enum exit_code time_of(struct llm *l, struct batch *b, struct memo *m, int64_t *fs)
{
    const struct size_known *size = m->adds_up ? find_size(m, l, b) : NULL;
    int64_t sum_fs = 0;
    enum exit_code code = size ? add_up(l, b, size, &sum_fs) : EXIT_OK;

    *fs = sum_fs;
    if (code || (size && m->checked == CHECKED))
        return code;
    code = run_whole(l, b, m, fs);
    m->n_whole++;
    if (size && !code && *fs != sum_fs)
        m->adds_up = false;
    m->checked += size != NULL;
    return code;
}

/* What is left for keys and values beside weights and the activations of the largest iteration. */
static enum exit_code room_left(const struct llm *l, struct batch *b,
                                const struct kb_llm_limits *limits, struct kb_llm_answer *out)
{
    struct llm_requests *r = iterations_largest(limits, heads_here(l));

    lay(l, r, b);
    uint64_t bytes = b->graph.kv_at * l->chip.unit_pes;
    out->room_bytes = (int64_t)l->chip.unit_bytes - (int64_t)bytes;
    out->token_bytes =
        model_kv_bytes(&l->model, b->shape.kv_dtype) / l->model.kv_heads * heads_here(l);
    enum exit_code code = out->room_bytes > 0 ? EXIT_OK : refuse(l, r->n, bytes);
    llm_requests_free(r);
    return code;
}

enum exit_code batches_of_program(struct llm *l, struct session *session)
{
    struct batch *b = memory_new(1, sizeof *b);
    struct memo memo = {.adds_up = l->chip.forgets && !l->cli->opts.no_repeat};
    struct kb_llm_answer answer = {.fs = 0};
    const struct kb_llm_batch *batch;
    enum exit_code code = room_left(l, b, session->limits, &answer);

    while (!code && (batch = session_batch(session, &answer))) {
        struct llm_requests *r = iterations_of_program(batch, heads_here(l));
        uint64_t bytes = lay(l, r, b);

        if (bytes > l->chip.unit_bytes)
            code = refuse(l, r->n, bytes);
        else if (batch->only_attention)
            code = attention_alone(l, b, &answer.fs);
        else
            code = time_of(l, b, &memo, &answer.fs);
        answer.n_whole = memo.n_whole;
        llm_requests_free(r);
    }
    free(memo.size);
    free(b);
    return code ? code : stop_asked() ? EXIT_INTERRUPTED : EXIT_OK;
}
