/*
 * llm_iterate.c -- the iterations of a batch: prompts, whole or in pieces, and decode steps of a
 * token of each request.
 *
 * Each is a graph, whose tokens go to experts as --routing says, and a pipeline of one stage or
 * more: its rows are kept, and its time is added to that of the prompt or to the mean of a token.
 */
#include "cli/llm/llm_iterate.h"
#include "cli/llm/llm_fits.h"
#include "cli/out/memory.h"
#include "benches/llm/queue_room.h"
#include <stdlib.h>
#include <string.h>

/* `s` with tokens of a piece. */
struct shape llm_shape_of(const struct shape *s, const struct piece *p)
{
    struct shape with = *s;

    with.q = p->q;
    with.kv = p->kv;
    return with;
}

static uint64_t tries_of(const struct opts *o)
{
    return o->prove ? UINT64_MAX : o->tries;
}

enum exit_code llm_check_grid(const struct llm *l, int64_t tokens)
{
    if (tokens >= l->chip.grid_p)
        return EXIT_OK;
    return cmd_say(l->cli, EXIT_USAGE, "--grid %s: an iteration of %lld tokens has not %u rows",
                   l->cli->opts.grid, (long long)tokens, l->chip.grid_p);
}

enum exit_code llm_check_room(const struct llm *l, const struct graph *g)
{
    char text[QUEUE_TEXT_BYTES];

    if (!queue_has_room(l->chip.topo, text))
        return cmd_say(l->cli, EXIT_USAGE, "llm %s", text);
    for (size_t i = 0; i < g->n; i++)
        if (g->op[i].kind == LLM_ATTENTION && llm_acc_bytes(&g->op[i]) > l->chip.acc_bytes)
            return cmd_say(l->cli, EXIT_USAGE,
                           "%s: a row of all heads of a group needs accumulators of %lld bytes, "
                           "'cube.pe.pe_gemm.acc_kb' has %lld",
                           g->op[i].id, (long long)llm_acc_bytes(&g->op[i]),
                           (long long)l->chip.acc_bytes);
    return EXIT_OK;
}

/* Which experts the tokens of `layers` layers go to; *routing: NULL if there are none. */
enum exit_code llm_route_tokens(struct llm *l, const struct shape *s, int64_t layers,
                                const struct llm_routing **routing)
{
    const struct model *m = &l->model;

    *routing = NULL;
    if (l->given && l->given->rows)
        *routing = routes_of_rows(&l->routes,
                                  &(struct route_extents){.tokens = l->given->tokens,
                                                          .experts = l->given->experts,
                                                          .chosen = l->given->chosen,
                                                          .copies = 1},
                                  l->given->rows);
    if (l->given || m->experts == 0)
        return EXIT_OK;
    return routes_of(l->cli, &l->routes,
                     &(struct route_extents){.tokens = s->batch * s->q * shape_copies(s),
                                             .copies = shape_copies(s),
                                             .experts = m->experts,
                                             .chosen = m->chosen,
                                             .layers = layers},
                     routing);
}

/* Of its search, where each try is one, of the run, and of the layers that ranks do alone and that
 * causes are found in. */
static uint64_t operations_of(const struct llm *l, const struct graph *g)
{
    struct graph one = *g;
    uint64_t n = run_operations(g);

    one.layers = 1;
    n += 2 * run_operations(&one);
    for (size_t i = 0; i < g->n; i++)
        n += (g->op[i].kind == LLM_GEMM ? l->cli->opts.tries : 0) + l->chip.energy.is_known;
    return n;
}

/* Has a rank groups of its own, or messages? Then its trace is none of another rank. */
static bool ranks_differ(const struct graph *g, const struct shape *s)
{
    bool differ = false;

    for (size_t i = 0; i < g->n; i++)
        differ = differ || g->op[i].kind == LLM_GIVE || g->op[i].kind == LLM_TAKE ||
                 (g->op[i].kind == LLM_DISPATCH && g->op[i].ep < s->tp);
    return differ;
}

static enum exit_code check_chakra(const struct cli *cli, const struct graph *g,
                                   const struct shape *s)
{
    const char *pattern = cli->opts.chakra;

    if (count_of(s->pp) > 1 || count_of(s->micro) > 1)
        return cmd_say(cli, EXIT_USAGE, "--chakra: stages (--pp) have no trace");
    if (shape_copies(s) > 1)
        return cmd_say(cli, EXIT_USAGE,
                       "--chakra is of one copy, without experts that several share: --ep %lld",
                       (long long)s->ep);
    if (ranks_differ(g, s) && !strchr(pattern, '%'))
        return cmd_say(cli, EXIT_USAGE,
                       "--chakra %s: each rank has a trace of its own, so it needs %%d", pattern);
    return EXIT_OK;
}

/* One that fits. */
enum exit_code llm_iterate(struct llm *l, const struct shape *s, const char *phase, int64_t *fs)
{
    struct pipeline *p = memory_new(1, sizeof *p);
    struct simulator sim = {l->cli,
                            &l->chip,
                            &l->known,
                            tries_of(&l->cli->opts),
                            l->cli->opts.chakra,
                            !llm_tells_causes(&l->cli->opts)};
    const struct llm_routing *routing;
    struct graph g;

    enum exit_code code = llm_check_grid(l, s->batch * s->q);
    llm_make_graph(l, s, &g);
    if (!code)
        code = llm_check_room(l, &g);
    if (!code && sim.chakra)
        code = check_chakra(l->cli, &g, s);
    l->told.operations = operations_of(l, &g);
    l->told.done = 0;
    pipeline_begin(p, s);
    if (!code)
        code = llm_route_tokens(l, s, g.layers, &routing);
    if (!code)
        code = pipeline_run(&sim, &g, s, routing, p);
    if (!code) {
        pipeline_end(p, strcmp(phase, "decode") == 0);
        llm_rows_add(&l->rows, &(struct simulated){s, p, phase});
        l->told.complete++;
        *fs = p->all.fs;
    }
    pipeline_free(p);
    free(p);
    return code;
}

struct llm_asked llm_asked_of(const struct llm *l, size_t decode)
{
    const struct opts *o = &l->cli->opts;
    bool none = o->prefill == 0 && l->decodes.n == 0;

    return (struct llm_asked){.prompt = none ? DEFAULT_TOKENS : (int64_t)o->prefill,
                              .chunk = (int64_t)o->chunk,
                              .tokens = (int64_t)o->tokens,
                              .kv = l->decodes.n > 0         ? (int64_t)l->decodes.value[decode]
                                    : none && o->tokens == 0 ? DEFAULT_TOKENS
                                                             : 0};
}

/* The next of the decode steps: those of all tokens, or the one that was asked for. */
bool llm_next_decode(const struct llm_asked *a, int64_t page, struct piece *p)
{
    if (a->tokens > 0)
        return piece_of_tokens(a->prompt, a->tokens, page, p);
    if (a->kv == 0 || p->times > 0)
        return false;
    *p = (struct piece){.q = 1, .kv = a->kv, .times = 1};
    return true;
}

/* All pieces of the prompts. */
static enum exit_code prefill(struct llm *l, const struct shape *s, const struct llm_asked *a,
                              int64_t *sum_fs)
{
    struct piece p = {0};
    int64_t fs = 0;
    enum exit_code code = EXIT_OK;

    while (!code && piece_of_prompt(a->prompt, a->chunk, &p)) {
        struct shape with = llm_shape_of(s, &p);

        with.has_more = p.kv < a->prompt;
        code = llm_iterate(l, &with, "prefill", &fs);
        *sum_fs += fs;
    }
    return code;
}

/* The mean of decode steps, rounded half away; 0: there is none. */
static enum exit_code decode(struct llm *l, const struct shape *s, const struct llm_asked *a,
                             int64_t *mean_fs)
{
    struct piece p = {0};
    int64_t n = 0, sum_fs = 0, fs = 0;
    enum exit_code code = EXIT_OK;

    while (!code && llm_next_decode(a, s->page, &p)) {
        struct shape with = llm_shape_of(s, &p);

        code = llm_iterate(l, &with, "decode", &fs);
        sum_fs += p.times * fs;
        n += p.times;
    }
    *mean_fs = n > 0 ? sum_fs / n + (2 * (sum_fs % n) >= n) : 0;
    return code;
}

/* Do the largest piece of the prompt, behind all others, and the last token fit? */
static enum exit_code check_sizes(struct llm *l, const struct shape *s, const struct llm_asked *a)
{
    struct piece largest = {0}, last = {0};

    piece_of_prompt(a->prompt, a->chunk, &largest);
    largest.kv = a->prompt;
    struct shape with = llm_shape_of(s, &largest);
    enum exit_code code = a->prompt > 0 ? llm_check_size(l, &with) : EXIT_OK;

    while (llm_next_decode(a, s->page, &last))
        ;
    with = llm_shape_of(s, &last);
    return !code && last.times > 0 ? llm_check_size(l, &with) : code;
}

uint64_t llm_iterations_of_batch(const struct llm *l)
{
    struct llm_asked a = llm_asked_of(l, 0);
    struct piece prompt = {0}, token = {0};
    uint64_t n = 0, steps = 0;

    while (piece_of_prompt(a.prompt, a.chunk, &prompt))
        n++;
    while (llm_next_decode(&a, l->shape.page, &token))
        steps++;
    return n + steps * (l->decodes.n > 0 ? l->decodes.n : 1);
}

/* The prompts, then each of the decode steps that are asked for. */
enum exit_code llm_batch(struct llm *l, const struct shape *s)
{
    size_t n = l->decodes.n > 0 ? l->decodes.n : 1;
    int64_t ttft_fs = 0, tpot_fs = 0;
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < n && !code; i++) {
        struct llm_asked asked = llm_asked_of(l, i);

        code = check_sizes(l, s, &asked);
        if (!code && i == 0)
            code = prefill(l, s, &asked, &ttft_fs);
        if (!code)
            code = decode(l, s, &asked, &tpot_fs);
        if (!code)
            llm_rows_total(&l->rows, s, asked.kv, ttft_fs, tpot_fs);
    }
    l->last.ttft_fs = ttft_fs;
    l->last.tpot_fs = tpot_fs;
    return code;
}

/* The fewest tokens of a request in the iterations that are asked for. */
int64_t llm_least_tokens(const struct llm *l)
{
    struct llm_asked a = llm_asked_of(l, 0);
    struct piece prompt = {0}, token = {0};
    int64_t least = llm_next_decode(&a, l->shape.page, &token) ? 1 : a.prompt;

    while (piece_of_prompt(a.prompt, a.chunk, &prompt))
        least = prompt.q < least ? prompt.q : least;
    return least;
}
