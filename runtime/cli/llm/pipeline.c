/*
 * pipeline.c -- the time of an iteration in stages.
 *
 * Requests go through in `micro` parts, one behind the other, and each stage is simulated alone,
 * with one part and its send.
 *
 * Stages go in step: a decode step of a request is over when its part has been in all stages, each
 * for as long as the slowest takes, and it waits for the other parts if there are more parts than
 * stages. A prompt is over when its last part has left the last stage: each part before it held the
 * slowest stage once.
 *
 * Example: two stages of 10 and 12 ms, one part: a token each 2 * 12 = 24 ms, of which stages wait
 * 14 and 12. Parts of a half that take 6 and 7: 2 * 7 = 14 ms, and stages wait 2 and 0. Four parts
 * of 4 and 5: 4 * 5 = 20 ms. Prompts in four such parts: 4 + 5 + 3 * 5 = 24 ms.
 */
#include "cli/llm/pipeline.h"
#include "cli/llm/cause.h"
#include "cli/llm/chakra.h"
#include "cli/out/memory.h"
#include <stdlib.h>

void pipeline_begin(struct pipeline *p, const struct shape *s)
{
    *p = (struct pipeline){.stages = count_of(s->pp), .micro = count_of(s->micro)};
    p->stage_fs = memory_new((size_t)p->stages, sizeof *p->stage_fs);
    p->calls = memory_new((size_t)p->stages * GRAPH_OPS_MAX, sizeof *p->calls);
}

void pipeline_add(struct pipeline *p, const struct stage *stage, const struct iteration *took)
{
    p->stage_fs[stage->number] = took->fs;
    p->sum_fs += took->fs;
    p->slowest_fs = took->fs > p->slowest_fs ? took->fs : p->slowest_fs;
    p->all.layers += took->layers;
    for (size_t i = 0; i < stage->graph.n; i++) {
        struct took *all = &p->all.op[stage->from[i]];

        p->calls[stage->number * GRAPH_OPS_MAX + (int64_t)stage->from[i]] = took->op[i].count;
        all->fs = all->count == 0 ? took->op[i].fs : all->fs;
        all->count += p->micro * took->op[i].count;
        all->all_fs += p->micro * took->op[i].all_fs;
    }
}

void pipeline_end(struct pipeline *p, bool is_decode)
{
    int64_t times = p->micro > p->stages ? p->micro : p->stages;

    p->all.fs = is_decode ? times * p->slowest_fs : p->sum_fs + (p->micro - 1) * p->slowest_fs;
}

int64_t pipeline_bubble_fs(const struct pipeline *p)
{
    return p->stages * p->all.fs - p->micro * p->sum_fs;
}

void pipeline_free(struct pipeline *p)
{
    free(p->stage_fs);
    free(p->calls);
    free(p->counts);
}

/* -- simulation ------------------------------------------------------------------------------- */

/* Has it operations that no stage before had? */
static bool has_new(const struct stage *stage, const struct pipeline *p)
{
    for (size_t i = 0; i < stage->graph.n; i++)
        if (p->all.op[stage->from[i]].count == 0)
            return true;
    return false;
}

/* What is known of those. */
static void learn(const struct stage *stage, const struct found *found, const char *const *cause,
                  const struct energy_counts *counts, struct pipeline *p)
{
    for (size_t i = 0; i < stage->graph.n; i++) {
        size_t k = stage->from[i];

        if (p->all.op[k].count > 0)
            continue;
        p->graph.op[k] = stage->graph.op[i];
        p->found[k] = found[i];
        p->cause[k] = cause[i];
        if (p->counts)
            p->counts[k] = counts[i];
    }
}

/* Runs it, and writes it as a trace if that is asked for. */
static enum exit_code run_and_write(const struct simulator *sim, const struct shape *s,
                                    const struct graph *g, struct llm_known *known,
                                    struct iteration *took)
{
    int64_t *each_fs = memory_new(run_operations(g), sizeof *each_fs);
    enum exit_code code = run_each(sim->cli, sim->chip, g, s, known, each_fs, took);

    if (!code && sim->chakra)
        code = chakra_write(sim->cli, sim->chakra, g, s, each_fs);
    free(each_fs);
    return code;
}

/* Its times, and causes if any is new. */
static enum exit_code time_stage(const struct simulator *sim, const struct shape *s,
                                 const struct graph *g, const char **cause, struct iteration *took)
{
    struct llm_known known = {0};
    enum exit_code code = cause ? causes_alone(sim->cli, sim->chip, g, s, &known, cause)
                                : run_alone(sim->cli, sim->chip, g, s, NULL, &known);

    if (!code)
        code = run_and_write(sim, s, g, &known, took);
    if (!code && cause)
        code = causes_of(sim->cli, sim->chip, g, s, &known, cause);
    run_forget(&known);
    return code;
}

static enum exit_code run_stage(struct simulator *sim, const struct shape *s, struct stage *stage,
                                struct pipeline *p)
{
    struct found found[GRAPH_OPS_MAX] = {{0}};
    const char *cause[GRAPH_OPS_MAX] = {NULL};
    struct energy_counts counts[GRAPH_OPS_MAX];
    struct shape at = *s;
    struct iteration took;
    uint32_t rows, columns;

    at.first_rank = stage->number * shape_ranks(s);
    grid_of(sim->chip, shape_tokens(s), &rows, &columns);
    graph_place(&stage->graph, s, rows, columns);
    enum exit_code code =
        search_tiles(sim->cli, sim->chip, &stage->graph, s, sim->tries, sim->known, found);
    if (!code)
        code = run_rehearsal(sim->cli, sim->chip, &stage->graph, &at);
    if (!code)
        code = time_stage(sim, &at, &stage->graph,
                          !sim->skips_causes && has_new(stage, p) ? cause : NULL, &took);
    if (!code && p->counts && has_new(stage, p))
        code = energy_count(sim->cli, sim->chip, &stage->graph, &at, counts);
    if (code)
        return code;
    learn(stage, found, cause, counts, p);
    pipeline_add(p, stage, &took);
    return EXIT_OK;
}

enum exit_code pipeline_run(struct simulator *sim, const struct graph *given, const struct shape *s,
                            const struct llm_routing *routing, struct pipeline *p)
{
    struct stage *stage = memory_new(1, sizeof *stage);
    enum exit_code code = EXIT_OK;

    p->graph = *given;
    if (sim->chip->energy.is_known)
        p->counts = memory_new(GRAPH_OPS_MAX, sizeof *p->counts);
    for (int64_t i = 0; i < p->stages && !code; i++) {
        stage_of(given, p->stages, i, stage);
        stage_route(stage, given, routing);
        code = run_stage(sim, s, stage, p);
    }
    free(stage);
    return code;
}
