/* llm_rows.c -- columns of llm, and how its rows come of a simulation. */
#include "cli/llm/llm_rows.h"
#include "base/text.h"
#include "cli/llm/roofs.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One printed row. */
struct llm_row {
    const char *model, *phase, *cause;
    char op[64], mapping[160];
    uint64_t ranks, tp, pp, ep, dp, batch, kv, count, bytes, flops, link_bytes;
    double us, pct, bound_us, peak_pct, energy_mj;
    bool has_energy, has_bound, has_flops, has_link;
    bool is_op; /* not a sum */
};

static const struct column columns[] = {
    COLUMN("model", CELL_TEXT, struct llm_row, model),
    COLUMN("ranks", CELL_COUNT, struct llm_row, ranks),
    COLUMN("tp", CELL_COUNT, struct llm_row, tp),
    COLUMN("pp", CELL_COUNT, struct llm_row, pp),
    COLUMN("ep", CELL_COUNT, struct llm_row, ep),
    COLUMN("dp", CELL_COUNT, struct llm_row, dp),
    COLUMN_IF("batch", CELL_COUNT, struct llm_row, batch, batch),
    COLUMN("phase", CELL_TEXT, struct llm_row, phase),
    COLUMN_IF("kv", CELL_COUNT, struct llm_row, kv, batch),
    COLUMN("op", CELL_TEXT, struct llm_row, op),
    COLUMN_IF("count", CELL_COUNT, struct llm_row, count, count),
    COLUMN("us", CELL_FRACTION, struct llm_row, us),
    COLUMN("pct", CELL_PERCENT, struct llm_row, pct),
    COLUMN_IF("bound_us", CELL_FRACTION, struct llm_row, bound_us, has_bound),
    COLUMN_IF("peak_pct", CELL_PERCENT, struct llm_row, peak_pct, has_flops),
    COLUMN("cause", CELL_TEXT, struct llm_row, cause),
    COLUMN_IF("mapping", CELL_TEXT, struct llm_row, mapping, mapping),
    COLUMN_IF("bytes", CELL_COUNT, struct llm_row, bytes, is_op),
    COLUMN_IF("flops", CELL_COUNT, struct llm_row, flops, has_flops),
    COLUMN_IF("link_bytes", CELL_COUNT, struct llm_row, link_bytes, has_link),
    COLUMN_IF("energy_mj", CELL_FRACTION, struct llm_row, energy_mj, has_energy), /* the last */
};

/* What a batch comes to. */
struct llm_total {
    uint64_t batch, tp, kv, pp, ep, dp, needs_bytes;
    size_t first, n; /* its rows, in a search */
    size_t number;   /* in the order of simulation */
    char why[96];    /* what most of its time is for, in a search */
    char grid[24];   /* that was asked for or is searched; empty: by the number of tokens */
    double ttft_ms, tpot_ms, user_per_s, per_s;
    struct roofs roofs;
    bool has_fabric, has_ttft, has_tpot;
};

static const struct column total_columns[] = {
    COLUMN("batch", CELL_COUNT, struct llm_total, batch),
    COLUMN_IF("ttft_ms", CELL_FRACTION, struct llm_total, ttft_ms, has_ttft),
    COLUMN_IF("tpot_ms", CELL_FRACTION, struct llm_total, tpot_ms, has_tpot),
    COLUMN_IF("tokens_per_s_user", CELL_FRACTION, struct llm_total, user_per_s, has_tpot),
    COLUMN_IF("tokens_per_s", CELL_FRACTION, struct llm_total, per_s, has_tpot),
    COLUMN("tp", CELL_COUNT, struct llm_total, tp),
    COLUMN_IF("kv", CELL_COUNT, struct llm_total, kv, kv),
    COLUMN("pp", CELL_COUNT, struct llm_total, pp),
    COLUMN("ep", CELL_COUNT, struct llm_total, ep),
    COLUMN("dp", CELL_COUNT, struct llm_total, dp),
    COLUMN_IF("grid", CELL_TEXT, struct llm_total, grid, grid),
    COLUMN_IF("why", CELL_TEXT, struct llm_total, why, why),
    COLUMN("peak_gops", CELL_FRACTION, struct llm_total, roofs.peak),
    COLUMN("math_gops", CELL_FRACTION, struct llm_total, roofs.math),
    COLUMN("memory_gbs", CELL_FRACTION, struct llm_total, roofs.memory),
    COLUMN_IF("fabric_gbs", CELL_FRACTION, struct llm_total, roofs.fabric, has_fabric),
};

/* -- rows ------------------------------------------------------------------------------------- */

static struct llm_row *new_row(struct llm_rows *l, const struct simulated *it, const char *op)
{
    const struct shape *s = it->shape;

    if (l->n == l->room)
        l->row = memory_room(l->row, l->n, &l->room, sizeof *l->row);
    struct llm_row *row = &l->row[l->n++];

    *row = (struct llm_row){.model = l->model,
                            .ranks = (uint64_t)(s->tp * count_of(s->pp) * count_of(s->dp)),
                            .tp = (uint64_t)s->tp,
                            .pp = (uint64_t)count_of(s->pp),
                            .ep = (uint64_t)count_of(s->ep),
                            .dp = (uint64_t)count_of(s->dp),
                            .batch = (uint64_t)(s->batch * count_of(s->micro)),
                            .phase = it->phase,
                            .kv = (uint64_t)s->kv};
    snprintf(row->op, sizeof row->op, "%s", op);
    return row;
}

/* `of_fs` in all, of what all stages have. */
static void set_time(struct llm_row *row, int64_t fs, int64_t of_fs, const struct pipeline *p)
{
    double all_fs = (double)p->stages * (double)p->all.fs;

    row->us = (double)fs / 1e9;
    row->pct = all_fs > 0 ? 100 * (double)of_fs / all_fs : 0;
}

static void set_mapping(struct llm_row *row, const struct llm_op *op, const struct found *found)
{
    char proof[32] = "", given[64] = "";

    if (found->proven)
        snprintf(proof, sizeof proof, ", proven");
    else if (found->within >= 0)
        text_format(proof, sizeof proof, ", within %.1f %%", (double)found->within / 10);
    if (found->given_fs > 0)
        text_format(given, sizeof given, "M %lld N %lld K %lld given, %+.1f %% over ",
                    (long long)op->tile.m, (long long)op->tile.n, (long long)op->tile.k,
                    100 * ((double)found->given_fs / (double)found->best_fs - 1));
    snprintf(row->mapping, sizeof row->mapping, "%sM %lld N %lld K %lld (%u of %u%s)", given,
             (long long)found->best.m, (long long)found->best.n, (long long)found->best.k,
             found->tried, found->candidates, proof);
    row->has_bound = found->bound_fs > 0;
    row->bound_us = (double)found->bound_fs / 1e9;
}

static void set_peak(struct llm_row *row, const struct chip *c, int64_t fs)
{
    if (row->has_flops && fs > 0)
        row->peak_pct = 100 * (double)row->flops / (chip_flops_per_ns(c) * (double)fs / 1e6);
}

static void set_energy(struct llm_row *row, const struct simulated *it, double pj)
{
    row->has_energy = it->took->counts != NULL;
    row->energy_mj = pj / 1e9;
}

/* Of the whole machine, whatever it does. */
static double static_pj(const struct llm_rows *l, int64_t fs)
{
    return l->chip->energy.static_w * (double)fs / 1e3;
}

/* Of one call, in all copies of the model, some of which may be simulated together; it takes `fs`.
 */
static double op_pj(const struct llm_rows *l, const struct simulated *it, size_t i, int64_t fs)
{
    const struct pipeline *p = it->took;

    if (!p->counts)
        return 0;
    return (double)(count_of(it->shape->dp) / shape_copies(it->shape)) *
               energy_pj(&l->chip->energy, &p->graph.op[i], &p->counts[i]) +
           static_pj(l, fs);
}

static void op_row(struct llm_rows *l, const struct simulated *it, size_t i)
{
    const struct llm_op *op = &it->took->graph.op[i];
    const struct took *t = &it->took->all.op[i];
    struct llm_row *row = new_row(l, it, op->id);

    set_time(row, t->fs, t->all_fs, it->took);
    row->count = (uint64_t)t->count;
    row->is_op = true;
    row->cause = it->took->cause[i];
    row->bytes = op_read_bytes(op, it->shape) + op_written_bytes(op, it->shape);
    row->flops = op_flops(op);
    row->has_flops = row->flops > 0;
    row->link_bytes = op_link_bytes(op, it->shape);
    row->has_link = row->link_bytes > 0;
    set_peak(row, l->chip, t->fs);
    if (op->kind == LLM_GEMM)
        set_mapping(row, op, &it->took->found[i]);
    set_energy(row, it, op_pj(l, it, i, t->fs));
}

/* Of one part of the requests, which takes `fs`; `calls`: of each operation. */
static double calls_pj(const struct llm_rows *l, const struct simulated *it, const int64_t *calls,
                       int64_t fs)
{
    double pj = static_pj(l, fs);

    for (size_t i = 0; i < it->took->graph.n; i++)
        pj += (double)calls[i] * op_pj(l, it, i, 0);
    return pj;
}

/* How long each takes for one part of the requests, and how long they wait in the mean. */
static void stage_rows(struct llm_rows *l, const struct simulated *it)
{
    const struct pipeline *p = it->took;
    char name[24];

    for (int64_t i = 0; i < p->stages; i++) {
        snprintf(name, sizeof name, "stage.%d", (int)i);
        struct llm_row *row = new_row(l, it, name);
        set_time(row, p->stage_fs[i], p->micro * p->stage_fs[i], p);
        row->count = (uint64_t)p->micro;
        set_energy(row, it, calls_pj(l, it, p->calls + i * GRAPH_OPS_MAX, p->stage_fs[i]));
    }
    set_time(new_row(l, it, "bubble"), pipeline_bubble_fs(p) / p->stages, pipeline_bubble_fs(p), p);
}

/* Sums: of the layer at row `layer` and the head behind it what they take, of the total, which is
 * the last, all calls and all time. */
static void add_sums(struct llm_rows *l, const struct simulated *it, size_t layer)
{
    double layer_pj = 0, head_pj = 0, pj = static_pj(l, it->took->all.fs);
    bool behind = false;

    for (size_t i = 0; i < it->took->graph.n; i++) {
        const struct took *t = &it->took->all.op[i];
        const struct llm_op *op = &it->took->graph.op[i];

        layer_pj += op->is_layer ? op_pj(l, it, i, t->fs) : 0;
        behind = behind || op->is_layer;
        head_pj += behind && !op->is_layer && op->kind != LLM_SEND ? op_pj(l, it, i, t->fs) : 0;
        pj += (double)t->count * op_pj(l, it, i, 0);
    }
    set_energy(&l->row[layer], it, layer_pj);
    set_energy(&l->row[layer + 1], it, head_pj);
    set_energy(&l->row[l->n - 1], it, pj);
}

/* The layer is the first one, the head what comes after the layers. */
void llm_rows_add(struct llm_rows *l, const struct simulated *it)
{
    int64_t layer_fs = 0, layers_fs = 0, head_fs = 0, heads_fs = 0, all_fs = it->took->all.fs;
    const struct graph *g = &it->took->graph;

    for (size_t i = 0; i < g->n; i++) {
        const struct took *t = &it->took->all.op[i];
        bool is_head = !g->op[i].is_layer && layers_fs > 0 && g->op[i].kind != LLM_SEND;

        op_row(l, it, i);
        layer_fs += g->op[i].is_layer ? t->fs : 0;
        layers_fs += g->op[i].is_layer ? t->all_fs : 0;
        head_fs += is_head ? t->fs : 0;
        heads_fs += is_head ? t->all_fs : 0;
    }
    size_t layer = l->n;
    struct llm_row *row = new_row(l, it, "layer");
    set_time(row, layer_fs, layers_fs, it->took);
    row->count = (uint64_t)(g->layers * it->took->micro);
    set_time(new_row(l, it, "head"), head_fs, heads_fs, it->took);
    if (it->took->stages > 1)
        stage_rows(l, it);
    set_time(new_row(l, it, "total"), all_fs, it->took->stages * all_fs, it->took);
    add_sums(l, it, layer);
}

void llm_rows_traced(struct llm_rows *l, uint32_t ranks, const struct llm_traced *op, size_t n,
                     int64_t total_fs)
{
    const struct shape s = {.tp = ranks};
    const struct pipeline took = {.stages = 1, .all = {.fs = total_fs}};
    const struct simulated it = {&s, &took, "trace"};

    for (size_t i = 0; i < n; i++) {
        struct llm_row *row = new_row(l, &it, op[i].op);

        set_time(row, op[i].fs, op[i].all_fs, &took);
        row->count = op[i].count;
        row->is_op = op[i].bytes > 0;
        row->bytes = op[i].bytes;
        row->flops = op[i].flops;
        row->has_flops = row->flops > 0;
        row->link_bytes = op[i].link_bytes;
        row->has_link = row->link_bytes > 0;
        set_peak(row, l->chip, op[i].fs);
    }
    set_time(new_row(l, &it, "total"), total_fs, total_fs, &took);
}

const char *llm_rows_phase(struct llm_rows *l, int64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "iteration %lld", (long long)number);
    if (l->n_phases == l->phases_room)
        l->phase = memory_room(l->phase, l->n_phases, &l->phases_room, sizeof *l->phase);
    return l->phase[l->n_phases++] = memory_text(text);
}

void llm_rows_total(struct llm_rows *l, const struct shape *s, int64_t kv, int64_t ttft_fs,
                    int64_t tpot_fs)
{
    if (l->n_totals == l->totals_room)
        l->total = memory_room(l->total, l->n_totals, &l->totals_room, sizeof *l->total);
    const struct roofs roofs = roofs_of(l->chip, (uint32_t)shape_ranks(s));

    struct llm_total *t = &l->total[l->n_totals];

    *t = (struct llm_total){.number = l->n_totals++,
                            .roofs = roofs,
                            .has_fabric = roofs.fabric > 0,
                            .batch = (uint64_t)(s->batch * count_of(s->micro)),
                            .tp = (uint64_t)s->tp,
                            .pp = (uint64_t)count_of(s->pp),
                            .ep = (uint64_t)count_of(s->ep),
                            .dp = (uint64_t)count_of(s->dp),
                            .kv = (uint64_t)kv,
                            .ttft_ms = (double)ttft_fs / 1e12,
                            .has_ttft = ttft_fs > 0,
                            .tpot_ms = (double)tpot_fs / 1e12,
                            .has_tpot = tpot_fs > 0,
                            .user_per_s = 1e15 / (double)tpot_fs,
                            .per_s = (double)(s->batch * count_of(s->micro) * count_of(s->dp)) *
                                     1e15 / (double)tpot_fs};
    if (l->chip->grid_p > 0)
        snprintf(t->grid, sizeof t->grid, "%ux%u", l->chip->grid_p,
                 l->chip->unit_pes / l->chip->grid_p);
}

/* -- divisions -------------------------------------------------------------------------------- */

enum { REASONS = 10 };

struct reason {
    const char *word;
    double pct;
};

static int by_share(const void *a, const void *b)
{
    double x = ((const struct reason *)a)->pct, y = ((const struct reason *)b)->pct;

    return x > y ? -1 : x < y;
}

/* What the times of rows are for: causes, and waits of stages. */
static size_t reasons_of(const struct llm_row *row, size_t n, struct reason *out)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        const char *word = strcmp(row[i].op, "bubble") == 0 ? "bubble" : row[i].cause;
        size_t k = 0;

        if (!word)
            continue;
        while (k < count && strcmp(out[k].word, word) != 0)
            k++;
        if (k == count && count < REASONS)
            out[count++] = (struct reason){word, 0};
        if (k < REASONS)
            out[k].pct += row[i].pct;
    }
    qsort(out, count, sizeof *out, by_share);
    return count;
}

void llm_rows_divided(struct llm_rows *l, size_t first)
{
    enum { TOLD = 3 };
    struct llm_total *t = &l->total[l->n_totals - 1];
    struct reason reason[REASONS];
    double sums = 0;
    char *at = t->why;

    t->first = first;
    t->n = l->n - first;
    for (size_t i = first; i < l->n; i++)
        sums += strcmp(l->row[i].op, "total") == 0;
    size_t n = reasons_of(l->row + first, t->n, reason);
    for (size_t i = 0; i < n && i < TOLD; i++)
        at += text_format(at, 32, "%s%s %.1f %%", i > 0 ? ", " : "", reason[i].word,
                          reason[i].pct / sums);
}

void llm_rows_too_large(struct llm_rows *l, const struct shape *s, uint64_t bytes)
{
    llm_rows_total(l, s, 0, 0, 0);
    struct llm_total *t = &l->total[l->n_totals - 1];
    t->needs_bytes = bytes;
    text_format(t->why, sizeof t->why, "needs %.3f GB of %.3f a rank", (double)bytes / 1e9,
                (double)l->chip->unit_bytes / 1e9);
}

/* Of a token, or of a prompt if there are no tokens; what does not fit is last. */
static double time_of(const struct llm_total *t)
{
    return t->needs_bytes > 0 ? HUGE_VAL : t->has_tpot ? t->tpot_ms : t->ttft_ms;
}

static int by_time(const void *a, const void *b)
{
    const struct llm_total *s = a, *t = b;
    double x = time_of(s), y = time_of(t);

    return x < y ? -1 : x > y ? 1 : s->number < t->number ? -1 : 1;
}

void llm_rows_sort(struct llm_rows *l)
{
    qsort(l->total, l->n_totals, sizeof *l->total, by_time);
    memmove(l->row, l->row + l->total[0].first, l->total[0].n * sizeof *l->row);
    l->n = l->total[0].n;
}

/* -- what is printed -------------------------------------------------------------------------- */

/* Energy is told where a machine has keys for it, or one of several may have. */
static size_t n_columns(const struct llm_rows *l)
{
    return sizeof columns / sizeof *columns - !l->tells_energy;
}

/* Lines for people, one for each batch; to be freed. */
static char *lines_of_totals(const struct llm_rows *l)
{
    enum { LINE_ROOM = 512 };
    char *lines = memory_new(l->n_totals + 1, LINE_ROOM), *at = lines;

    for (size_t i = 0; i < l->n_totals; i++) {
        const struct llm_total *t = &l->total[i];

        at += text_format(at, LINE_ROOM / 4, "%s", i > 0 ? "\n" : "");
        if (l->searches)
            at += text_format(at, LINE_ROOM / 4, "tp %llu, pp %llu, ep %llu, dp %llu, ",
                              (unsigned long long)t->tp, (unsigned long long)t->pp,
                              (unsigned long long)t->ep, (unsigned long long)t->dp);
        else if (l->many_tps)
            at += text_format(at, LINE_ROOM / 4, "tp %llu, ", (unsigned long long)t->tp);
        if (l->searches && *t->grid)
            at += text_format(at, LINE_ROOM / 4, "grid %s, ", t->grid);
        at += text_format(at, LINE_ROOM / 4, "batch %llu", (unsigned long long)t->batch);
        if (l->many_kvs)
            at += text_format(at, LINE_ROOM / 4, ", decode %llu", (unsigned long long)t->kv);
        at += text_format(at, LINE_ROOM / 4, ":");
        if (t->has_ttft)
            at += text_format(at, LINE_ROOM / 4, " ttft %.6f ms%s", t->ttft_ms,
                              t->has_tpot ? "," : "");
        if (t->has_tpot)
            at += text_format(at, LINE_ROOM / 4, " tpot %.6f ms, %.3f tokens/s/user, %.3f tokens/s",
                              t->tpot_ms, t->user_per_s, t->per_s);
        if (l->searches)
            at += text_format(at, LINE_ROOM / 4, "%s%s", t->needs_bytes > 0 ? " " : "; ", t->why);
    }
    return lines;
}

void llm_rows_print(const struct cli *cli, struct llm_rows *l, struct sink *out)
{
    char *lines = lines_of_totals(l);
    struct rows totals = {ROWS_COLUMNS(total_columns), ROWS_ARRAY(l->total, l->n_totals)};
    struct rows rows = {.columns = columns,
                        .n_columns = n_columns(l),
                        ROWS_ARRAY(l->row, l->n),
                        .note = *lines ? lines : NULL,
                        .totals = &totals};

    cmd_write(cli, &rows, out);
    free(lines);
}

void llm_rows_free(struct llm_rows *l)
{
    for (size_t i = 0; i < l->n_phases; i++)
        free(l->phase[i]);
    free(l->phase);
    free(l->row);
    free(l->total);
}
