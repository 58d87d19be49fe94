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
#include "cli/llm/llm_iterate.h"
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

    l->told.iterations = l->tps.n * l->batches.n * llm_iterations_of_batch(l);
    progress_begin(&l->told.progress, l->cli->opts.quiet);

    for (size_t i = 0; i < l->tps.n * l->batches.n && (!code || l->too_large); i++) {
        l->too_large = false;
        s.tp = (int64_t)l->tps.value[i / l->batches.n];
        code = llm_split(l, (int64_t)l->batches.value[i % l->batches.n], &s);
        if (!code)
            code = llm_batch(l, &s);
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

/* All divisions, one after the other; the best one's rows are printed. */
static enum exit_code run_divisions(void *arg, struct sink *out)
{
    struct llm *l = arg;
    struct division *d;
    size_t n = divisions_of(l, llm_least_tokens(l), &d), fit = 0;
    enum exit_code code = EXIT_OK;

    l->rows.searches = true;
    l->told.iterations = n * llm_iterations_of_batch(l);
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
            code = llm_batch(l, &s);
        if (l->too_large)
            llm_rows_too_large(&l->rows, &s, l->needs_bytes);
        else if (!code)
            llm_rows_divided(&l->rows, first);
        fit += !code;
    }
    free(d);
    if (fit > 0)
        llm_rows_sort(&l->rows);
    else if (n == 0)
        code = cmd_say(l->cli, EXIT_USAGE,
                       "%s: with these options no division of %u ranks is possible", l->rows.model,
                       l->chip.units);
    else if (l->too_large)
        code = cmd_say(l->cli, EXIT_USAGE, "%s: none of %zu divisions of %u ranks fits",
                       l->rows.model, n, l->chip.units);
    return end_here(l, out, fit > 0 && l->too_large ? EXIT_OK : code);
}

/* -- graphs ----------------------------------------------------------------------------------- */

/* Files of what is done are of one iteration. */
static enum exit_code check_one(const struct llm *l)
{
    const struct opts *o = &l->cli->opts;
    struct llm_asked asked = llm_asked_of(l, 0);

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
    struct llm_asked asked = llm_asked_of(l, 0);
    struct piece p = {0};
    struct shape s = l->shape;
    struct graph g;

    if (!llm_next_decode(&asked, s.page, &p))
        piece_of_prompt(asked.prompt, 0, &p);
    s = llm_shape_of(&s, &p);
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
    code = llm_route_tokens(l, &s, g.layers, &routing);
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
    enum exit_code code = llm_iterate(l, s, s->q == 1 ? "decode" : "prefill", &fs);
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
    enum exit_code code = llm_read_model(l);

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

/* --dry-run: options must be right all the same. */
static enum exit_code print_model(struct llm *l)
{
    enum exit_code code = llm_read_words(l);

    llm_close(l);
    return code ? code : print_facts(l->cli, l->shape.kv_dtype);
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
    enum exit_code code = llm_open(l, &map);

    if (!code)
        code = from == FROM_TRACE   ? chakra_run(l->cli, &l->chip, &l->rows)
               : from == FROM_GRAPH ? run_given(l)
                                    : run_model(l);
    if (!code && o->map_out)
        code = searched_write(l->cli, o->map_out, &l->known);
    tile_map_free(&map);
    llm_close(l);
    return code;
}

enum exit_code cmd_llm(const struct cli *cli)
{
    struct llm l = {.cli = cli};
    enum exit_code code = EXIT_OK;

    if (cli->opts.n_operands == 0)
        return print_facts(cli, KB_DEFAULT);
    l.rows.model = cli->opts.operand[0];
    enum source from = source_of(l.rows.model);
    if (cli->opts.recorded && from != FROM_TRACE)
        return cmd_say(cli, EXIT_USAGE, "--compute recorded is of traces");
    if (from == FROM_MODEL)
        code = model_read(cli->program, l.rows.model, cli->opts.quiet, &l.model);
    if (code)
        return code;
    return cli->opts.dry_run && from == FROM_MODEL ? print_model(&l) : run_machine(&l, from);
}
