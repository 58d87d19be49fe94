/*
 * cmd_llm.c -- `llm`: times of a language model's operations, and tokens per second.
 *
 * Reads the model, checks that it can be cut into as many ranks as there are and that it fits,
 * searches a tile for each product, and simulates iterations for each batch and phase: a prefill
 * of all prompts, whole or in pieces, and a decode step of one token of each request, or as many as
 * --tokens asks for. A row for each operation, then the layer, the head and the total.
 */
#include "cli/command.h"
#include "cli/in/in_lists.h"
#include "cli/llm/cause.h"
#include "cli/llm/pieces.h"
#include "cli/llm/search.h"
#include "cli/out/memory.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TOKENS = 1024 };

/* One printed row. */
struct llm_row {
    const char *model, *phase, *cause;
    char op[24], mapping[64];
    uint64_t ranks, tp, pp, ep, dp, batch, kv, count, bytes, flops, link_bytes;
    double us, pct, bound_us, peak_pct;
    bool has_bound, has_flops, has_link;
    bool is_op; /* not a sum */
};

static const struct column columns[] = {
    COLUMN("model", CELL_TEXT, struct llm_row, model),
    COLUMN("ranks", CELL_COUNT, struct llm_row, ranks),
    COLUMN("tp", CELL_COUNT, struct llm_row, tp),
    COLUMN("pp", CELL_COUNT, struct llm_row, pp),
    COLUMN("ep", CELL_COUNT, struct llm_row, ep),
    COLUMN("dp", CELL_COUNT, struct llm_row, dp),
    COLUMN("batch", CELL_COUNT, struct llm_row, batch),
    COLUMN("phase", CELL_TEXT, struct llm_row, phase),
    COLUMN("kv", CELL_COUNT, struct llm_row, kv),
    COLUMN("op", CELL_TEXT, struct llm_row, op),
    COLUMN_IF("count", CELL_COUNT, struct llm_row, count, count),
    COLUMN("us", CELL_FRACTION, struct llm_row, us),
    COLUMN("pct", CELL_PERCENT, struct llm_row, pct),
    COLUMN_IF("bound_us", CELL_FRACTION, struct llm_row, bound_us, has_bound),
    COLUMN_IF("peak_pct", CELL_PERCENT, struct llm_row, peak_pct, has_flops),
    COLUMN("cause", CELL_TEXT, struct llm_row, cause),
    COLUMN("mapping", CELL_TEXT, struct llm_row, mapping),
    COLUMN_IF("bytes", CELL_COUNT, struct llm_row, bytes, is_op),
    COLUMN_IF("flops", CELL_COUNT, struct llm_row, flops, has_flops),
    COLUMN_IF("link_bytes", CELL_COUNT, struct llm_row, link_bytes, has_link),
};

/* What a batch comes to. */
struct llm_total {
    uint64_t batch, tp, kv;
    double ttft_ms, tpot_ms, user_per_s, per_s;
    bool has_ttft, has_tpot;
};

static const struct column total_columns[] = {
    COLUMN("batch", CELL_COUNT, struct llm_total, batch),
    COLUMN_IF("ttft_ms", CELL_FRACTION, struct llm_total, ttft_ms, has_ttft),
    COLUMN_IF("tpot_ms", CELL_FRACTION, struct llm_total, tpot_ms, has_tpot),
    COLUMN_IF("tokens_per_s_user", CELL_FRACTION, struct llm_total, user_per_s, has_tpot),
    COLUMN_IF("tokens_per_s", CELL_FRACTION, struct llm_total, per_s, has_tpot),
    COLUMN("tp", CELL_COUNT, struct llm_total, tp),
    COLUMN_IF("kv", CELL_COUNT, struct llm_total, kv, kv),
};

struct llm {
    const struct cli *cli;
    struct model model;
    struct chip chip;
    struct shape shape; /* of all iterations, except batch, q and kv */
    struct list tps, decodes, batches;
    struct searched known;
    struct llm_row *row; /* owned */
    size_t n, room;
    bool too_large;          /* the last batch */
    struct llm_total *total; /* owned: a batch each */
    size_t n_totals, totals_room;
};

/* -- rows ------------------------------------------------------------------------------------- */

static struct llm_row *new_row(struct llm *l, const struct shape *s, const char *phase,
                               const char *op)
{
    if (l->n == l->room)
        l->row = memory_room(l->row, l->n, &l->room, sizeof *l->row);
    struct llm_row *row = &l->row[l->n++];

    *row = (struct llm_row){.model = l->model.name,
                            .ranks = (uint64_t)s->tp,
                            .tp = (uint64_t)s->tp,
                            .pp = 1,
                            .ep = 1,
                            .dp = 1,
                            .batch = (uint64_t)s->batch,
                            .phase = phase,
                            .kv = (uint64_t)s->kv};
    snprintf(row->op, sizeof row->op, "%s", op);
    return row;
}

static void set_time(struct llm_row *row, int64_t fs, int64_t of_fs, int64_t all_fs)
{
    row->us = (double)fs / 1e9;
    row->pct = all_fs > 0 ? 100 * (double)of_fs / (double)all_fs : 0;
}

static void set_mapping(struct llm_row *row, const struct llm_op *op, const struct found *found)
{
    char proof[32] = "";

    if (found->proven)
        snprintf(proof, sizeof proof, ", proven");
    else if (found->within >= 0)
        text_format(proof, sizeof proof, ", within %.1f %%", (double)found->within / 10);
    snprintf(row->mapping, sizeof row->mapping, "M %lld N %lld K %lld (%u of %u%s)",
             (long long)op->tile.m, (long long)op->tile.n, (long long)op->tile.k, found->tried,
             found->candidates, proof);
    row->has_bound = found->bound_fs > 0;
    row->bound_us = (double)found->bound_fs / 1e9;
}

static double peak_flops_per_ns(const struct chip *c)
{
    return 2 * c->mac[0] * c->mac[1] * c->mac[2] * c->clock_ghz * c->rate * c->unit_pes;
}

static void op_row(struct llm *l, const struct shape *s, const char *phase, const struct llm_op *op,
                   const struct took *t, const struct found *found, const char *cause,
                   int64_t all_fs)
{
    struct llm_row *row = new_row(l, s, phase, op->id);

    set_time(row, t->fs, t->all_fs, all_fs);
    row->count = (uint64_t)t->count;
    row->is_op = true;
    row->cause = cause;
    row->bytes = op_read_bytes(op, s) + op_written_bytes(op, s);
    row->flops = op_flops(op);
    row->has_flops = row->flops > 0;
    row->link_bytes = op_link_bytes(op, s);
    row->has_link = row->link_bytes > 0;
    if (row->has_flops && t->fs > 0)
        row->peak_pct =
            100 * (double)row->flops / (peak_flops_per_ns(&l->chip) * (double)t->fs / 1e6);
    if (op->kind == LLM_GEMM)
        set_mapping(row, op, found);
}

/* Rows of an iteration; the layer is the first one, the head what comes after the layers. */
static void add_rows(struct llm *l, const struct graph *g, const struct shape *s, const char *phase,
                     const struct iteration *it, const struct found *found,
                     const char *const *cause)
{
    int64_t layer_fs = 0, layers_fs = 0, head_fs = 0;

    for (size_t i = 0; i < g->n; i++) {
        op_row(l, s, phase, &g->op[i], &it->op[i], &found[i], cause[i], it->fs);
        layer_fs += g->op[i].is_layer ? it->op[i].fs : 0;
        layers_fs += g->op[i].is_layer ? it->op[i].all_fs : 0;
        head_fs += !g->op[i].is_layer && layers_fs > 0 ? it->op[i].fs : 0;
    }
    struct llm_row *row = new_row(l, s, phase, "layer");
    set_time(row, layer_fs, layers_fs, it->fs);
    row->count = (uint64_t)g->layers;
    set_time(new_row(l, s, phase, "head"), head_fs, head_fs, it->fs);
    set_time(new_row(l, s, phase, "total"), it->fs, it->fs, it->fs);
}

/* -- iterations ------------------------------------------------------------------------------- */

/* Bytes that a unit's slices must have for so many requests of `kv` tokens. */
static uint64_t unit_bytes(const struct llm *l, const struct shape *s, struct graph *g)
{
    uint32_t p, q;

    graph_of_model(&l->model, s, g);
    grid_of(&l->chip, s->batch * s->q, &p, &q);
    graph_place(g, s, p, q);
    return g->room * l->chip.unit_pes;
}

/* By how much, and what would fit. */
static enum exit_code refuse_size(struct llm *l, const struct shape *s, uint64_t bytes)
{
    struct graph g;
    struct shape less = *s;
    int64_t low = 0, high = s->batch;

    while (high - low > 1) {
        less.batch = (low + high) / 2;
        if (unit_bytes(l, &less, &g) <= l->chip.unit_bytes)
            low = less.batch;
        else
            high = less.batch;
    }
    l->too_large = true;
    return cmd_say(l->cli, EXIT_USAGE,
                   "%s with batch %lld needs %.3f GB of %.3f a rank; largest batch %lld",
                   l->model.name, (long long)s->batch, (double)bytes / 1e9,
                   (double)l->chip.unit_bytes / 1e9, (long long)low);
}

/* `s` with tokens of a piece. */
static struct shape shape_of(const struct shape *s, const struct piece *p)
{
    struct shape with = *s;

    with.q = p->q;
    with.kv = p->kv;
    return with;
}

static enum exit_code check_size(struct llm *l, const struct shape *s)
{
    struct graph g;
    uint64_t bytes = unit_bytes(l, s, &g);

    return bytes > l->chip.unit_bytes ? refuse_size(l, s, bytes) : EXIT_OK;
}

/* One that fits. */
static enum exit_code iterate(struct llm *l, const struct shape *s, const char *phase, int64_t *fs)
{
    struct graph g;
    struct found found[GRAPH_OPS_MAX] = {{0}};
    const char *cause[GRAPH_OPS_MAX] = {NULL};
    struct iteration it;

    unit_bytes(l, s, &g);
    enum exit_code code =
        search_tiles(l->cli, &l->chip, &g, s, l->cli->opts.tries, &l->known, found);
    if (!code)
        code = run_graph(l->cli, &l->chip, &g, s, &it);
    if (!code)
        code = causes_of(l->cli, &l->chip, &g, s, cause);
    if (code)
        return code;
    add_rows(l, &g, s, phase, &it, found, cause);
    *fs = it.fs;
    return EXIT_OK;
}

static void add_total(struct llm *l, const struct shape *s, int64_t kv, int64_t ttft_fs,
                      int64_t tpot_fs)
{
    if (l->n_totals == l->totals_room)
        l->total = memory_room(l->total, l->n_totals, &l->totals_room, sizeof *l->total);
    l->total[l->n_totals++] =
        (struct llm_total){.batch = (uint64_t)s->batch,
                           .tp = (uint64_t)s->tp,
                           .kv = (uint64_t)kv,
                           .ttft_ms = (double)ttft_fs / 1e12,
                           .has_ttft = ttft_fs > 0,
                           .tpot_ms = (double)tpot_fs / 1e12,
                           .has_tpot = tpot_fs > 0,
                           .user_per_s = 1e15 / (double)tpot_fs,
                           .per_s = (double)s->batch * 1e15 / (double)tpot_fs};
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
                          .kv = l->decodes.n > 0             ? (int64_t)l->decodes.value[decode]
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
    enum exit_code code = a->prompt > 0 ? check_size(l, &with) : EXIT_OK;

    while (next_decode(a, s->page, &last))
        ;
    with = shape_of(s, &last);
    return !code && last.times > 0 ? check_size(l, &with) : code;
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
            add_total(l, s, asked.kv, ttft_fs, tpot_fs);
    }
    return code;
}

/* -- the command ------------------------------------------------------------------------------ */

static enum exit_code dtype_of(const struct cli *cli, const char *option, const char *word,
                               kb_dtype *out)
{
    kb_dtype dtype = word ? kb_dtype_parse(word) : *out;

    if (dtype == KB_DEFAULT)
        return cmd_say(cli, EXIT_USAGE, "--%s '%s' is no type", option, word);
    *out = dtype;
    return EXIT_OK;
}

static enum exit_code read_shape(struct llm *l)
{
    const struct opts *o = &l->cli->opts;
    struct shape *s = &l->shape;
    enum exit_code code;

    if (o->tokens > 0 && o->decode)
        return cmd_say(l->cli, EXIT_USAGE,
                       "--tokens are behind a prompt, and --decode is one step");
    if (o->chunk > 0 && o->decode && o->prefill == 0)
        return cmd_say(l->cli, EXIT_USAGE, "--chunk is of a prompt, and --decode alone has none");
    *s = (struct shape){.page = (int64_t)o->page};
    s->weights = s->act = s->kv_dtype = l->model.dtype;
    if ((code = dtype_of(l->cli, "weights", o->weights, &s->weights)) ||
        (code = dtype_of(l->cli, "act", o->act, &s->act)) ||
        (code = dtype_of(l->cli, "kv", o->kv, &s->kv_dtype)))
        return code;
    return EXIT_OK;
}

/* Is there such a number of ranks? */
static enum exit_code check_ranks(const struct llm *l, uint64_t tp)
{
    char why[256];

    if (tp > l->chip.units)
        return cmd_say(l->cli, EXIT_USAGE, "--tp %llu: the machine has %u units (%s)",
                       (unsigned long long)tp, l->chip.units, l->chip.unit);
    if (graph_refuse(&l->model, (int64_t)tp, why))
        return cmd_say(l->cli, EXIT_USAGE, "%s cannot be cut into %llu ranks; %s", l->model.name,
                       (unsigned long long)tp, why);
    return EXIT_OK;
}

static enum exit_code read_list(const struct llm *l, const char *option, const char *text,
                                uint64_t most, struct list *out)
{
    char why[LIST_WHY_BYTES];

    if (!text)
        return EXIT_OK;
    if (!list_read(out, LIST_COUNTS, text, why))
        return cmd_say(l->cli, EXIT_USAGE, "--%s: %s", option, why);
    for (size_t i = 0; i < out->n; i++)
        if (out->value[i] > most)
            return cmd_say(l->cli, EXIT_USAGE, "--%s: %llu is more than %llu", option,
                           (unsigned long long)out->value[i], (unsigned long long)most);
    return EXIT_OK;
}

/* All of them multiply. */
static enum exit_code read_lists(struct llm *l)
{
    enum { TOKENS_MAX = 1048576, RANKS_MAX = 65536 };
    const struct opts *o = &l->cli->opts;
    char all[24];
    enum exit_code code;

    snprintf(all, sizeof all, "%u", l->chip.units);
    if ((code = read_list(l, "tp", o->tp ? o->tp : all, RANKS_MAX, &l->tps)) ||
        (code = read_list(l, "batch", o->batch, UINT64_MAX, &l->batches)) ||
        (code = read_list(l, "decode", o->decode, TOKENS_MAX, &l->decodes)))
        return code;
    for (size_t i = 0; i < l->tps.n && !code; i++)
        code = check_ranks(l, l->tps.value[i]);
    return code;
}

/* -- what is printed -------------------------------------------------------------------------- */

static bool llm_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct llm *l = arg;

    record_cells(columns, sizeof columns / sizeof *columns, &l->row[i], cells);
    return true;
}

static bool total_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct llm *l = arg;

    record_cells(total_columns, sizeof total_columns / sizeof *total_columns, &l->total[i], cells);
    return true;
}

/* Lines for people, one for each batch; to be freed. */
static char *lines_of_totals(const struct llm *l)
{
    enum { LINE_ROOM = 512 };
    char *lines = memory_new(l->n_totals + 1, LINE_ROOM), *at = lines;

    for (size_t i = 0; i < l->n_totals; i++) {
        const struct llm_total *t = &l->total[i];

        at += text_format(at, LINE_ROOM / 4, "%s", i > 0 ? "\n" : "");
        if (l->tps.n > 1)
            at += text_format(at, LINE_ROOM / 4, "tp %llu, ", (unsigned long long)t->tp);
        at += text_format(at, LINE_ROOM / 4, "batch %llu", (unsigned long long)t->batch);
        if (l->decodes.n > 1)
            at += text_format(at, LINE_ROOM / 4, ", decode %llu", (unsigned long long)t->kv);
        at += text_format(at, LINE_ROOM / 4, ":");
        if (t->has_ttft)
            at += text_format(at, LINE_ROOM / 4, " ttft %.6f ms%s", t->ttft_ms,
                              t->has_tpot ? "," : "");
        if (t->has_tpot)
            at += text_format(at, LINE_ROOM / 4, " tpot %.6f ms, %.3f tokens/s/user, %.3f tokens/s",
                              t->tpot_ms, t->user_per_s, t->per_s);
    }
    return lines;
}

static enum exit_code print(struct llm *l)
{
    char *lines = lines_of_totals(l);
    struct rows totals = {ROWS_COLUMNS(total_columns), .n_rows = l->n_totals, .row = total_row,
                          .arg = l};
    struct rows rows = {ROWS_COLUMNS(columns), .n_rows = l->n,   .row = llm_row, .arg = l,
                        .note = lines,         .totals = &totals};
    enum exit_code code = cmd_print(l->cli, &rows);

    free(lines);
    return code;
}

/* What does not fit is left out, after a message, if other batches do. */
static enum exit_code run_batches(struct llm *l)
{
    struct shape s = l->shape;
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < l->tps.n * l->batches.n && (!code || l->too_large); i++) {
        l->too_large = false;
        s.tp = (int64_t)l->tps.value[i / l->batches.n];
        s.batch = (int64_t)l->batches.value[i % l->batches.n];
        code = batch(l, &s);
    }
    if (code && !(l->too_large && l->n > 0))
        return code;
    return print(l);
}

/* -- models, without a simulation ------------------------------------------------------------- */

struct fact_row {
    const char *model, *family;
    uint64_t layers, parameters, kv_token_bytes;
};

static const struct column fact_columns[] = {
    COLUMN("model", CELL_TEXT, struct fact_row, model),
    COLUMN("family", CELL_TEXT, struct fact_row, family),
    COLUMN("layers", CELL_COUNT, struct fact_row, layers),
    COLUMN("parameters", CELL_COUNT, struct fact_row, parameters),
    COLUMN("kv_token_bytes", CELL_COUNT, struct fact_row, kv_token_bytes),
};

/* The model that was named, or all shipped ones. */
struct facts {
    const struct cli *cli;
    const char *one;
    struct fact_row row;
};

static bool fact_row(void *arg, uint64_t i, struct cell *cells)
{
    struct facts *f = arg;
    struct model m;

    if (model_read(f->cli->program, f->one ? f->one : model_files[i].name, true, &m))
        return false;
    f->row =
        (struct fact_row){m.name, model_family_name(&m), (uint64_t)m.layers,
                          (uint64_t)model_parameters(&m), (uint64_t)model_kv_bytes(&m, m.dtype)};
    record_cells(fact_columns, sizeof fact_columns / sizeof *fact_columns, &f->row, cells);
    return true;
}

static enum exit_code print_facts(const struct cli *cli)
{
    struct facts f = {.cli = cli, .one = cli->opts.n_operands ? cli->opts.operand[0] : NULL};
    struct rows rows = {ROWS_COLUMNS(fact_columns), .n_rows = 1, .row = fact_row, .arg = &f};

    while (!f.one && model_files[rows.n_rows].name)
        rows.n_rows++;
    return cmd_print(cli, &rows);
}

enum exit_code cmd_llm(const struct cli *cli)
{
    struct llm l = {.cli = cli};
    enum exit_code code;

    if (cli->opts.n_operands == 0)
        return print_facts(cli);
    code = model_read(cli->program, cli->opts.operand[0], cli->opts.quiet, &l.model);
    if (code || cli->opts.dry_run)
        return code ? code : print_facts(cli);
    code = chip_of(cli, &l.chip);
    if (!code)
        code = read_shape(&l);
    if (!code)
        code = read_lists(&l);
    if (!code)
        code = run_batches(&l);
    list_free(&l.tps);
    list_free(&l.decodes);
    list_free(&l.batches);
    chip_free(&l.chip);
    free(l.total);
    searched_free(&l.known);
    free(l.row);
    return code;
}
