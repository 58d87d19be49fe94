/*
 * run.c -- one launch for one iteration: all layers are simulated.
 *
 * Each PE has one room in its home slice, with its parts of weights, of keys and values and of what
 * operations hand on. No value is computed. The time of an operation is from the barrier before it
 * to its own, each the latest over all PEs, so that the operations add up to the iteration.
 */
#include "cli/llm/run.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include <stdlib.h>

enum { EVENTS_AT_ONCE = 200000 };

void grid_of(const struct chip *c, int64_t tokens, uint32_t *p, uint32_t *q)
{
    uint32_t n = c->unit_pes;

    *p = 1;
    for (uint32_t d = 2; d * d <= n; d++)
        if (n % d == 0 && (double)tokens / d >= 4 * c->mac[0])
            *p = d;
    *q = n / *p;
}

struct work {
    struct llm_step step;
    kb_tensor *room;
    kb_sim *sim;
    uint32_t *pes; /* owned: ascending, for the launch */
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static size_t done_in_all(const struct graph *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        n += g->op[i].is_layer ? (size_t)g->layers : 1;
    return n;
}

static kb_status launch(const struct chip *c, const struct graph *g, struct work *w, kb_error *why)
{
    static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};
    size_t n = (size_t)w->step.tp * w->step.pes;
    kb_status status =
        kb_tensor_new(w->sim, "room", KB_U8, KB_SHAPE(kb_pe_count(c->topo), (int64_t)g->room),
                      by_rows, &w->room, why);

    if (!status)
        status = kb_tensor_fill_arange(w->room, 0, 0, why); /* made when it is read: never */
    if (status)
        return status;
    w->step.room = w->room;
    w->pes = memory_new(n, sizeof *w->pes);
    for (size_t i = 0; i < n; i++)
        w->pes[i] = c->order[i];
    qsort(w->pes, n, sizeof *w->pes, by_number);
    kb_launch_request request = {.name = "llm",
                                 .kernel = llm_kernel,
                                 .args = {.tensors = &w->room, .n_tensors = 1, .user = &w->step},
                                 .pes = w->pes,
                                 .n_pes = n};
    return kb_launch(w->sim, &request, why);
}

/* Times of operations from when each has ended. */
static void take_times(const struct graph *g, const int64_t *end_fs, int64_t start_fs,
                       struct iteration *out)
{
    int64_t before = start_fs;
    size_t done = 0;

    *out = (struct iteration){0};
    for (size_t i = 0, first; i < g->n;) {
        bool is_layer = g->op[first = i].is_layer;

        for (int64_t l = 0; l < (is_layer ? g->layers : 1); l++)
            for (i = first; i < g->n && g->op[i].is_layer == is_layer; i++) {
                struct took *t = &out->op[i];
                int64_t fs = end_fs[done] - before;

                t->fs = t->count == 0 ? fs : t->fs;
                t->all_fs += fs;
                t->count++;
                before = end_fs[done++];
            }
    }
    out->fs = before - start_fs;
}

static enum exit_code run_work(const struct cli *cli, const struct graph *g, struct work *w,
                               struct iteration *out)
{
    kb_error why = {""};
    kb_launch_result r;
    kb_status status = KB_AGAIN;

    while (status == KB_AGAIN && !stop_asked())
        status = kb_sim_run(w->sim, EVENTS_AT_ONCE, &why);
    if (status == KB_AGAIN)
        return EXIT_INTERRUPTED;
    if (status)
        return cmd_fail(cli, status, &why);
    status = kb_launch_get(w->sim, 0, &r);
    if (status)
        return cmd_fail(cli, status, &why);
    take_times(g, w->step.end_fs, r.start_fs, out);
    return EXIT_OK;
}

enum exit_code run_graph(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, struct iteration *out)
{
    struct work w = {.step = {.op = g->op,
                              .n_ops = g->n,
                              .layers = g->layers,
                              .tp = (uint32_t)s->tp,
                              .pes = c->unit_pes,
                              .pe_of = c->order,
                              .kv_at = g->kv_at,
                              .kv_bytes = g->kv_bytes,
                              .scratch = g->scratch,
                              .page = s->page,
                              .kv_dtype = s->kv_dtype,
                              .acc_bytes = c->acc_bytes,
                              .tcm_bytes = c->tcm_bytes}};
    kb_options options = {.engine = cli->opts.engine};
    kb_error why = {""};
    enum exit_code code;

    grid_of(c, s->batch * s->q, &w.step.p, &w.step.q);
    w.step.end_fs = memory_new(done_in_all(g), sizeof *w.step.end_fs);
    kb_status status = kb_sim_new(c->topo, &options, &w.sim);
    if (!status)
        status = launch(c, g, &w, &why);
    code = status ? cmd_fail(cli, status, &why) : run_work(cli, g, &w, out);
    kb_sim_free(w.sim);
    free(w.step.end_fs);
    free(w.pes);
    return code;
}
