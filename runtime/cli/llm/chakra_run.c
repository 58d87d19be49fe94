/*
 * chakra_run.c -- a Chakra trace on the ranks of a machine: one launch, and a row for each name of
 * a node.
 *
 * Rows are the nodes of rank 0: the time of the first of a name, how many there are, and the share
 * of all of them in the whole, which is when the last rank has ended. Nodes overlap, so shares need
 * not add up to 100.
 */
#include "cli/llm/chakra_run.h"
#include "cli/llm/chakra_trace.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_AT_ONCE = 50000 };

bool chakra_is_trace(const char *name)
{
    size_t n = strlen(name);

    return n > 3 && strcmp(name + n - 3, ".et") == 0;
}

/* -- one run ---------------------------------------------------------------------------------- */

/* The largest part of an array that a PE has, in bytes. */
static uint64_t largest_part(const struct replay *r)
{
    int64_t most = 1;

    for (uint32_t k = 0; k < r->ranks; k++)
        for (uint32_t i = 0; i < r->rank[k].n; i++)
            if (r->rank[k].node[i].what != REPLAY_TIME &&
                replay_part(r, &r->rank[k].node[i]) > most)
                most = replay_part(r, &r->rank[k].node[i]);
    return ((uint64_t)most * kb_dtype_bytes(r->dtype) + 255) / 256 * 256;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static kb_status launch(const struct chip *c, kb_sim *sim, struct replay *r, kb_error *why)
{
    static const kb_placement each = {KB_REPLICATE, KB_REPLICATE};
    size_t n = (size_t)r->ranks * r->pes;
    kb_tensor *room = NULL;
    kb_status status =
        kb_tensor_new(sim, "room", KB_U8, KB_SHAPE((int64_t)(2 * r->half)), each, &room, why);

    if (!status)
        status = kb_tensor_fill_arange(room, 0, 0, why); /* made when it is read: never */
    if (status)
        return status;
    r->room = room;
    uint32_t *pes = memory_new(n, sizeof *pes);
    memcpy(pes, c->order, n * sizeof *pes);
    qsort(pes, n, sizeof *pes, by_number);
    status = kb_launch(sim,
                       &(kb_launch_request){.name = "trace",
                                            .kernel = replay_kernel,
                                            .args = {.tensors = &room, .n_tensors = 1, .user = r},
                                            .pes = pes,
                                            .n_pes = n},
                       why);
    free(pes);
    return status;
}

static enum exit_code simulate(const struct cli *cli, const struct chip *c, struct replay *r)
{
    const kb_options options = {.engine = cli->opts.engine, .no_values = true};
    kb_error why = {""};
    kb_sim *sim = NULL;

    r->pes = c->unit_pes;
    r->pe_of = c->order;
    r->dtype = KB_BF16;
    r->half = largest_part(r);
    kb_status status = kb_sim_new(c->topo, &options, &sim);
    if (!status)
        status = launch(c, sim, r, &why);
    if (!status)
        do
            status = kb_sim_run(sim, EVENTS_AT_ONCE, &why);
        while (status == KB_AGAIN && !stop_asked());
    kb_sim_free(sim);
    if (status == KB_AGAIN)
        return EXIT_INTERRUPTED;
    return status ? cmd_fail(cli, status, &why) : EXIT_OK;
}

/* -- rows ------------------------------------------------------------------------------------- */

/* Bytes that a rank sends over links, at least. */
static uint64_t link_bytes(const struct replay_node *n)
{
    uint64_t bytes = (uint64_t)n->bytes, ranks = n->n_ranks;

    switch (n->what) {
    case REPLAY_ALL_REDUCE:
        return 2 * bytes / ranks * (ranks - 1);
    case REPLAY_ALL_GATHER:
    case REPLAY_REDUCE_SCATTER:
    case REPLAY_ALL_TO_ALL:
        return bytes / ranks * (ranks - 1);
    case REPLAY_BROADCAST:
    case REPLAY_REDUCE:
    case REPLAY_SEND:
        return bytes;
    default:
        return 0;
    }
}

/* Adds node `i` of rank 0 to the row of its name. */
static void add_node(const struct chakra_trace *t, uint32_t i, struct llm_traced *rows, size_t *n)
{
    const struct chakra_node *from = &t->file[0].node[i];
    const struct replay_rank *rank = &t->replay.rank[0];
    int64_t fs = rank->end_fs[i] - rank->begin_fs[i];
    size_t k = 0;

    while (k < *n && strcmp(rows[k].op, from->name) != 0)
        k++;
    if (k == *n)
        rows[(*n)++] = (struct llm_traced){
            .op = from->name,
            .fs = fs,
            .bytes = (uint64_t)from->value[CHAKRA_SIZE],
            .flops = (uint64_t)from->value[CHAKRA_OPS],
            .link_bytes = rank->node[i].slot == REPLAY_NONE ? 0 : link_bytes(&rank->node[i])};
    rows[k].count++;
    rows[k].all_fs += fs;
}

static int64_t end_of_all(const struct replay *r)
{
    int64_t end = 0;

    for (uint32_t k = 0; k < r->ranks; k++)
        end = r->rank[k].now_fs > end ? r->rank[k].now_fs : end;
    return end;
}

static void add_rows(struct llm_rows *rows, const struct chakra_trace *t)
{
    uint32_t all = t->replay.rank[0].n;
    struct llm_traced *row = memory_new((size_t)all + 1, sizeof *row);
    size_t n = 0;

    for (uint32_t i = 0; i < all; i++)
        if (t->file[0].node[i].type > CHAKRA_METADATA)
            add_node(t, i, row, &n);
    llm_rows_traced(rows, t->replay.ranks, row, n, end_of_all(&t->replay));
    free(row);
}

/* -- the command ------------------------------------------------------------------------------ */

static struct chakra_rates rates_of(const struct cli *cli, const struct chip *c)
{
    return (struct chakra_rates){.ops_per_ns = chip_flops_per_ns(c),
                                 .bytes_per_ns = c->slice_gbs * kb_slice_count(c->topo) / c->units,
                                 .recorded = cli->opts.recorded,
                                 .chip = c};
}

/* All that is of a model. */
static enum exit_code refuse_options(const struct cli *cli)
{
    const struct opts *o = &cli->opts;
    const struct {
        bool is_given;
        const char *name;
    } refused[] = {{o->decode != NULL, "decode"},
                   {o->prefill > 0, "prefill"},
                   {o->tokens > 0, "tokens"},
                   {o->chunk > 0, "chunk"},
                   {o->pp > 0, "pp"},
                   {o->dp > 0, "dp"},
                   {o->microbatches > 0, "microbatches"},
                   {o->ep > 0, "ep"},
                   {o->search != NULL, "search"},
                   {o->iterations != NULL, "iterations"},
                   {o->routing != NULL, "routing"},
                   {o->weights != NULL, "weights"},
                   {o->act != NULL, "act"},
                   {o->kv != NULL, "kv"},
                   {o->map != NULL, "map"},
                   {o->map_out != NULL, "map-out"},
                   {o->graph != NULL, "graph"},
                   {o->chakra != NULL, "chakra"},
                   {o->grid != NULL, "grid"},
                   {o->dry_run, "dry-run"},
                   {o->prove, "prove"},
                   {o->no_repeat, "no-repeat"},
                   {strcmp(o->batch, "1") != 0, "batch"}};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].is_given)
            return cmd_say(cli, EXIT_USAGE, "--%s is of models; a trace has its own",
                           refused[i].name);
    return EXIT_OK;
}

static enum exit_code read_ranks(const struct cli *cli, const struct chip *c, uint32_t *out)
{
    char rest;

    *out = c->units;
    if (!cli->opts.tp)
        return EXIT_OK;
    if (sscanf(cli->opts.tp, "%9u%c", out, &rest) != 1 || *out == 0 || *out > c->units)
        return cmd_say(cli, EXIT_USAGE, "--tp %s: a trace is of a number of ranks, 1 to %u (%s)",
                       cli->opts.tp, c->units, c->unit);
    return EXIT_OK;
}

struct asked {
    const struct cli *cli;
    struct llm_rows *rows;
};

static enum exit_code print(void *arg, struct sink *out)
{
    const struct asked *a = arg;

    llm_rows_print(a->cli, a->rows, out);
    return EXIT_OK;
}

enum exit_code chakra_run(const struct cli *cli, const struct chip *c, struct llm_rows *rows)
{
    const struct chakra_rates rates = rates_of(cli, c);
    struct chakra_trace t = {.n_files = 0};
    uint32_t ranks = 0;
    enum exit_code code = refuse_options(cli);

    if (!code)
        code = read_ranks(cli, c, &ranks);
    if (!code)
        code = chakra_trace_read(cli, rows->model, ranks, &rates, &t);
    if (!code)
        code = simulate(cli, c, &t.replay);
    for (uint32_t i = 0; i < ranks && !code; i++)
        if (!replay_is_done(&t.replay.rank[i]))
            code = cmd_say(cli, EXIT_INTERNAL, "rank %u has not ended", i);
    if (!code) {
        add_rows(rows, &t);
        code = cmd_output(cli, print, &(struct asked){cli, rows});
    }
    chakra_trace_free(&t);
    return code;
}
