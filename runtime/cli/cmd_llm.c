/*
 * cmd_llm.c -- `llm`: times of a language model's operations, and tokens per second.
 *
 * Reads the model, checks that it can be cut into as many ranks as there are and that it fits,
 * searches a tile for each product, and simulates iterations for each batch and phase: a prefill
 * of all prompts, whole or in pieces, and a decode step of one token of each request, or as many as
 * --tokens asks for. A row for each operation, then the layer, the head and the total.
 */
#include "cli/command.h"
#include "cli/llm/batches.h"
#include "cli/llm/chakra.h"
#include "cli/llm/chakra_run.h"
#include "cli/llm/facts.h"
#include "cli/llm/divide.h"
#include "cli/llm/llm_pieces.h"
#include "cli/llm/graph_check.h"
#include "cli/llm/graph_yaml.h"
#include "cli/llm/llm_asked.h"
#include "cli/llm/llm_fits.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TOKENS = 1024 };

/* -- iterations ------------------------------------------------------------------------------- */

/* `s` with tokens of a piece. */
static struct shape shape_of(const struct shape *s, const struct piece *p)
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

/* A grid that was asked for must have a row of tokens for each of its rows. */
static enum exit_code check_grid(const struct llm *l, const struct shape *s)
{
    if (s->batch * s->q >= l->chip.grid_p)
        return EXIT_OK;
    return cmd_say(l->cli, EXIT_USAGE, "--grid %s: an iteration of %lld tokens has not %u rows",
                   l->cli->opts.grid, (long long)(s->batch * s->q), l->chip.grid_p);
}

/* Which experts the tokens of `layers` layers go to; *routing: NULL if there are none. */
static enum exit_code route(struct llm *l, const struct shape *s, int64_t layers,
                            const struct llm_routing **routing)
{
    const struct model *m = &l->model;

    *routing = NULL;
    if (l->given && l->given->rows)
        *routing = routes_of_rows(&l->routes,
                                  &(struct route_extents){.tokens = l->given->tokens,
                                                          .experts = l->given->experts,
                                                          .chosen = l->given->chosen},
                                  l->given->rows);
    if (l->given || m->experts == 0)
        return EXIT_OK;
    return routes_of(l->cli, &l->routes,
                     &(struct route_extents){.tokens = s->batch * s->q,
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

/* One that fits. */
static enum exit_code iterate(struct llm *l, const struct shape *s, const char *phase, int64_t *fs)
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

    enum exit_code code = check_grid(l, s);
    if (!code && sim.chakra && (count_of(s->pp) > 1 || count_of(s->micro) > 1))
        code = cmd_say(l->cli, EXIT_USAGE, "--chakra: stages (--pp) have no trace");
    llm_make_graph(l, s, &g);
    l->told.operations = operations_of(l, &g);
    l->told.done = 0;
    pipeline_begin(p, s);
    if (!code)
        code = route(l, s, g.layers, &routing);
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

/* What is asked of each batch; 0: not this. */
struct asked {
    int64_t prompt, chunk, tokens, kv;
};

static struct asked asked_of(const struct llm *l, size_t decode)
{
    const struct opts *o = &l->cli->opts;
    bool none = o->prefill == 0 && l->decodes.n == 0;

    return (struct asked){.prompt = none ? DEFAULT_TOKENS : (int64_t)o->prefill,
                          .chunk = (int64_t)o->chunk,
                          .tokens = (int64_t)o->tokens,
                          .kv = l->decodes.n > 0         ? (int64_t)l->decodes.value[decode]
                                : none && o->tokens == 0 ? DEFAULT_TOKENS
                                                         : 0};
}

/* The next of the decode steps: those of all tokens, or the one that was asked for. */
static bool next_decode(const struct asked *a, int64_t page, struct piece *p)
{
    if (a->tokens > 0)
        return piece_of_tokens(a->prompt, a->tokens, page, p);
    if (a->kv == 0 || p->times > 0)
        return false;
    *p = (struct piece){.q = 1, .kv = a->kv, .times = 1};
    return true;
}

/* All pieces of the prompts. */
static enum exit_code prefill(struct llm *l, const struct shape *s, const struct asked *a,
                              int64_t *sum_fs)
{
    struct piece p = {0};
    int64_t fs = 0;
    enum exit_code code = EXIT_OK;

    while (!code && piece_of_prompt(a->prompt, a->chunk, &p)) {
        struct shape with = shape_of(s, &p);

        with.has_more = p.kv < a->prompt;
        code = iterate(l, &with, "prefill", &fs);
        *sum_fs += fs;
    }
    return code;
}

/* The mean of decode steps, rounded half away; 0: there is none. */
static enum exit_code decode(struct llm *l, const struct shape *s, const struct asked *a,
                             int64_t *mean_fs)
{
    struct piece p = {0};
    int64_t n = 0, sum_fs = 0, fs = 0;
    enum exit_code code = EXIT_OK;

    while (!code && next_decode(a, s->page, &p)) {
        struct shape with = shape_of(s, &p);

        code = iterate(l, &with, "decode", &fs);
        sum_fs += p.times * fs;
        n += p.times;
    }
    *mean_fs = n > 0 ? sum_fs / n + (2 * (sum_fs % n) >= n) : 0;
    return code;
}

/* Do the largest piece of the prompt, behind all others, and the last token fit? */
static enum exit_code check_sizes(struct llm *l, const struct shape *s, const struct asked *a)
{
    struct piece largest = {0}, last = {0};

    piece_of_prompt(a->prompt, a->chunk, &largest);
    largest.kv = a->prompt;
    struct shape with = shape_of(s, &largest);
    enum exit_code code = a->prompt > 0 ? llm_check_size(l, &with) : EXIT_OK;

    while (next_decode(a, s->page, &last))
        ;
    with = shape_of(s, &last);
    return !code && last.times > 0 ? llm_check_size(l, &with) : code;
}

static uint64_t iterations_of_batch(const struct llm *l)
{
    struct asked a = asked_of(l, 0);
    struct piece prompt = {0}, token = {0};
    uint64_t n = 0, steps = 0;

    while (piece_of_prompt(a.prompt, a.chunk, &prompt))
        n++;
    while (next_decode(&a, l->shape.page, &token))
        steps++;
    return n + steps * (l->decodes.n > 0 ? l->decodes.n : 1);
}

/* The prompts, then each of the decode steps that are asked for. */
static enum exit_code batch(struct llm *l, const struct shape *s)
{
    size_t n = l->decodes.n > 0 ? l->decodes.n : 1;
    int64_t ttft_fs = 0, tpot_fs = 0;
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < n && !code; i++) {
        struct asked asked = asked_of(l, i);

        code = check_sizes(l, s, &asked);
        if (!code && i == 0)
            code = prefill(l, s, &asked, &ttft_fs);
        if (!code)
            code = decode(l, s, &asked, &tpot_fs);
        if (!code)
            llm_rows_total(&l->rows, s, asked.kv, ttft_fs, tpot_fs);
    }
    return code;
}

/* -- batches ---------------------------------------------------------------------------------- */

/* Prints what is complete. */
static enum exit_code end_here(struct llm *l, struct sink *out, enum exit_code code)
{
    progress_end(&l->told.progress);
    stop_heard();
    if (code && code != EXIT_INTERRUPTED)
        return code;
    llm_rows_print(l->cli, &l->rows, out);
    if (!code)
        return EXIT_OK;
    sink_flush(out);
    cmd_note(l->cli, "%s: %llu of %llu iterations complete", stop_word(),
             (unsigned long long)l->told.complete, (unsigned long long)l->told.iterations);
    return EXIT_INTERRUPTED;
}

/* What does not fit is left out, after a message, if other batches do. */
static enum exit_code run_batches(void *arg, struct sink *out)
{
    struct llm *l = arg;
    struct shape s = l->shape;
    enum exit_code code = EXIT_OK;

    l->told.iterations = l->tps.n * l->batches.n * iterations_of_batch(l);
    progress_begin(&l->told.progress, l->cli->opts.quiet);

    for (size_t i = 0; i < l->tps.n * l->batches.n && (!code || l->too_large); i++) {
        l->too_large = false;
        s.tp = (int64_t)l->tps.value[i / l->batches.n];
        code = llm_split(l, (int64_t)l->batches.value[i % l->batches.n], &s);
        if (!code)
            code = batch(l, &s);
    }
    return end_here(l, out, l->too_large && l->rows.n > 0 ? EXIT_OK : code);
}

/* Those of --iterations. */
static enum exit_code run_file(void *arg, struct sink *out)
{
    struct llm *l = arg;

    l->told.iterations = l->its.of_iterations;
    progress_begin(&l->told.progress, l->cli->opts.quiet);
    return end_here(l, out, batches_of_file(l));
}

/* The fewest tokens of a request in the iterations that are asked for. */
static int64_t least_tokens(const struct llm *l)
{
    struct asked a = asked_of(l, 0);
    struct piece prompt = {0}, token = {0};
    int64_t least = next_decode(&a, l->shape.page, &token) ? 1 : a.prompt;

    while (piece_of_prompt(a.prompt, a.chunk, &prompt))
        least = prompt.q < least ? prompt.q : least;
    return least;
}

/* All divisions, one after the other; the best one's rows are printed. */
static enum exit_code run_divisions(void *arg, struct sink *out)
{
    struct llm *l = arg;
    struct division *d;
    size_t n = divisions_of(l, least_tokens(l), &d), fit = 0;
    enum exit_code code = EXIT_OK;

    l->rows.searches = true;
    l->told.iterations = n * iterations_of_batch(l);
    progress_begin(&l->told.progress, l->cli->opts.quiet);
    for (size_t i = 0; i < n && (!code || l->too_large); i++) {
        struct shape s = l->shape;
        size_t first = l->rows.n;

        l->too_large = false;
        s.tp = d[i].tp;
        s.pp = d[i].pp;
        s.ep = d[i].ep;
        s.dp = d[i].dp;
        l->chip.grid_p = d[i].grid_p;
        code = llm_split(l, d[i].batch, &s);
        if (!code)
            code = batch(l, &s);
        if (l->too_large)
            llm_rows_too_large(&l->rows, &s, l->needs_bytes);
        else if (!code)
            llm_rows_divided(&l->rows, first);
        fit += !code;
    }
    free(d);
    if (fit > 0)
        llm_rows_sort(&l->rows);
    else if (!code || l->too_large)
        code = cmd_say(l->cli, EXIT_USAGE, "%s: none of %zu divisions of %u ranks %s",
                       l->rows.model, n, l->chip.units, n > 0 ? "fits" : "is possible");
    return end_here(l, out, fit > 0 && l->too_large ? EXIT_OK : code);
}

/* -- graphs ----------------------------------------------------------------------------------- */

/* Files of what is done are of one iteration. */
static enum exit_code check_one(const struct llm *l)
{
    const struct opts *o = &l->cli->opts;
    struct asked asked = asked_of(l, 0);

    if (l->tps.n * l->batches.n == 1 && l->decodes.n <= 1 && o->tokens == 0 && o->chunk == 0 &&
        !o->search && (asked.prompt > 0) != (asked.kv > 0))
        return EXIT_OK;
    return cmd_say(l->cli, EXIT_USAGE,
                   "--%s is of one iteration: one --prefill or --decode, --tp and --batch",
                   o->graph ? "graph" : "chakra");
}

/* The one iteration that is asked for, as a file. */
static enum exit_code write_graph(struct llm *l)
{
    const struct opts *o = &l->cli->opts;
    struct asked asked = asked_of(l, 0);
    struct piece p = {0};
    struct shape s = l->shape;
    struct graph g;

    if (!next_decode(&asked, s.page, &p))
        piece_of_prompt(asked.prompt, 0, &p);
    s = shape_of(&s, &p);
    s.tp = (int64_t)l->tps.value[0];
    enum exit_code code = llm_split(l, (int64_t)l->batches.value[0], &s);
    if (code)
        return code;
    if (s.dp > 1)
        return cmd_say(l->cli, EXIT_USAGE, "--graph is of one copy, without --dp");
    if (s.pp > 1 && asked.prompt == 1)
        return cmd_say(l->cli, EXIT_USAGE,
                       "--graph: of one token each it is a decode step: --decode 1, or no --pp");
    if (l->routes.how != ROUTE_EVEN)
        return cmd_say(l->cli, EXIT_USAGE,
                       "--graph: layers are not alike with --routing %s, and a graph repeats one",
                       o->routing);
    llm_make_graph(l, &s, &g);
    const struct llm_routing *routing;
    code = route(l, &s, g.layers, &routing);
    if (code)
        return code;
    graph_route(&g, routing);
    return graph_yaml_write(l->cli->program, o->graph, &g, &s);
}

/* Options that say what a graph says itself. */
static enum exit_code refuse_options(const struct cli *cli)
{
    const struct opts *o = &cli->opts;
    const struct {
        const char *name;
        bool is_there;
    } options[] = {
        {"iterations", o->iterations},
        {"tp", o->tp},
        {"pp", o->pp},
        {"dp", o->dp},
        {"microbatches", o->microbatches},
        {"ep", o->ep},
        {"routing", o->routing},
        {"search", o->search},
        {"batch", strcmp(o->batch, "1") != 0},
        {"prefill", o->prefill},
        {"chunk", o->chunk},
        {"decode", o->decode},
        {"tokens", o->tokens},
        {"weights", o->weights},
        {"act", o->act},
        {"kv", o->kv},
        {"graph", o->graph},
        {"dry-run", o->dry_run},
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].is_there)
            return cmd_say(cli, EXIT_USAGE, "--%s is of models; a graph has its own",
                           options[i].name);
    return EXIT_OK;
}

static enum exit_code run_one(void *arg, struct sink *out)
{
    struct llm *l = arg;
    const struct shape *s = &l->given->shape;
    int64_t fs = 0;

    l->told.iterations = 1;
    progress_begin(&l->told.progress, l->cli->opts.quiet);
    enum exit_code code = iterate(l, s, s->q == 1 ? "decode" : "prefill", &fs);
    if (!code)
        llm_rows_total(&l->rows, s, s->kv, s->q == 1 ? 0 : fs, s->q == 1 ? fs : 0);
    return end_here(l, out, code);
}

/* What is moved to and from hosts takes what the longest way to a rank takes alone. */
static enum exit_code time_hosts(const struct llm *l, struct llm_op *op, int64_t ranks)
{
    const struct chip *c = &l->chip;
    kb_error why = {""};
    int64_t fs;

    for (int64_t rank = 0; rank < ranks; rank++) {
        if (chip_host_fs(c, c->order[(size_t)rank * c->unit_pes], !op->stores, (uint64_t)op->bytes,
                         &fs, &why))
            return cmd_say(l->cli, EXIT_USAGE, "%s: %s cannot be moved: %s", l->rows.model, op->id,
                           why.text);
        op->idle_fs = fs > op->idle_fs ? fs : op->idle_fs;
    }
    return EXIT_OK;
}

/* A graph from a file is one iteration. */
static enum exit_code run_given(struct llm *l)
{
    struct graph_file *f = memory_new(1, sizeof *f);
    struct shape *s = &f->shape;
    enum exit_code code = refuse_options(l->cli);

    if (!code)
        code = graph_yaml_read(l->cli->program, l->rows.model, f);
    if (!code && s->tp * s->pp > l->chip.units)
        code = cmd_say(l->cli, EXIT_USAGE, "%s has %lld ranks, the machine %u units (%s)",
                       l->rows.model, (long long)(s->tp * s->pp), l->chip.units, l->chip.unit);
    for (size_t i = 0; i < f->graph.n && !code; i++)
        if (f->graph.op[i].kind == LLM_MOVE && f->graph.op[i].of_host)
            code = time_hosts(l, &f->graph.op[i], s->tp * s->pp);
    l->given = f;
    s->page = (int64_t)l->cli->opts.page;
    if (!code)
        code = llm_check_size(l, s);
    if (!code)
        code = cmd_output(l->cli, run_one, l);
    graph_file_free(f);
    return code;
}

/* -- the command ------------------------------------------------------------------------------ */

static enum exit_code run_model(struct llm *l)
{
    enum exit_code code = llm_read_shape(l);

    if (!code)
        code = llm_refuse_latent(l);
    if (!code)
        code = llm_read_experts(l);
    if (!code)
        code = llm_read_lists(l);
    if (!code && (l->cli->opts.iterations || session_here_asks()))
        code = llm_read_iterations(l);
    if (!code && session_here_asks())
        return batches_of_program(l, session_here());
    if (!code && l->its.n > 0)
        return cmd_output(l->cli, run_file, l);
    if (!code && (l->cli->opts.graph || l->cli->opts.chakra))
        code = check_one(l);
    if (!code && l->cli->opts.graph)
        code = write_graph(l);
    return code ? code : cmd_output(l->cli, llm_searches(l) ? run_divisions : run_batches, l);
}

/* What MODEL is. */
enum source { FROM_MODEL, FROM_GRAPH, FROM_TRACE };

static enum source source_of(const char *name)
{
    return chakra_is_trace(name) ? FROM_TRACE : graph_yaml_is(name) ? FROM_GRAPH : FROM_MODEL;
}

static enum exit_code run_machine(struct llm *l, enum source from)
{
    const struct opts *o = &l->cli->opts;
    struct tile_map map = {.n = 0};
    enum exit_code code = chip_of(l->cli, &l->chip);

    l->chip.told = &l->told;
    l->rows.chip = &l->chip;
    l->rows.tells_energy = llm_tells_energy(l);
    if (!code)
        code = llm_read_mapping(l, &map);
    if (!code)
        code = from == FROM_TRACE   ? chakra_run(l->cli, &l->chip, &l->rows)
               : from == FROM_GRAPH ? run_given(l)
                                    : run_model(l);
    if (!code && o->map_out)
        code = searched_write(l->cli, o->map_out, &l->known);
    tile_map_free(&map);
    list_free(&l->tps);
    list_free(&l->decodes);
    list_free(&l->batches);
    chip_free(&l->chip);
    searched_free(&l->known);
    routes_free(&l->routes);
    iterations_free(&l->its);
    llm_rows_free(&l->rows);
    return code;
}

enum exit_code cmd_llm(const struct cli *cli)
{
    struct llm l = {.cli = cli};
    enum exit_code code = EXIT_OK;

    if (cli->opts.n_operands == 0)
        return print_facts(cli);
    l.rows.model = cli->opts.operand[0];
    enum source from = source_of(l.rows.model);
    if (cli->opts.recorded && from != FROM_TRACE)
        return cmd_say(cli, EXIT_USAGE, "--compute recorded is of traces");
    if (from == FROM_MODEL)
        code = model_read(cli->program, l.rows.model, cli->opts.quiet, &l.model);
    if (code || (cli->opts.dry_run && from == FROM_MODEL))
        return code ? code : print_facts(cli);
    return run_machine(&l, from);
}
