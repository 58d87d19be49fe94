/*
 * llm_search.c -- candidates in the order of an estimate; those whose bound is not below the best
 * time are left out.
 *
 * A tile has powers of two times the engine's own size, or the whole extent; two pairs of tiles
 * must fit into half a TCM, and a tile of y into the accumulators. The bound counts what cannot be
 * avoided on one PE: cycles of its tiles, the issue of its commands, channels for its loads, and
 * its weights at the rate of its own slice. When no candidate with a smaller bound is left, the
 * best is proven.
 */
#include "cli/llm/llm_search.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDED = 1e-6;

enum { POWERS = 7, SIZES = POWERS + 1, CANDIDATES_MAX = SIZES * SIZES * SIZES };

struct candidate {
    struct llm_tile tile;
    double estimate_ns, bound_ns, loads;
    uint32_t index;
};

/* Rows of experts of which `experts` have as many. */
struct crowd {
    double rows, experts;
};

/* The parts of a product that are the largest, which the PE of one row and one column has. Of
 * experts those of the first row, and m is the largest of theirs. */
struct product {
    struct crowd *crowd; /* owned: all w, by how many rows are multiplied by each */
    size_t n_crowds;
    double m, k, n, x_bytes, w_bytes;
    double rows, weights; /* of the rank; weights: bytes, 0: of experts */
    double parts;         /* of k: products do not join them, */
    double whole;         /* or only these, if a tile is deeper than the parts of x are wide: */
    double width;
    bool casts; /* weights are of another type */
};

static double ceil_of(double n, double size)
{
    return ceil(n / size);
}

static int by_rows(const void *a, const void *b)
{
    double x = ((const struct crowd *)a)->rows, y = ((const struct crowd *)b)->rows;

    return x > y ? -1 : x < y;
}

/* Joins those with as many rows; the largest comes first. */
static size_t join_crowds(struct crowd *crowd, size_t n)
{
    size_t joined = 0;

    qsort(crowd, n, sizeof *crowd, by_rows);
    for (size_t i = 0; i < n; i++)
        if (joined > 0 && crowd[joined - 1].rows <= crowd[i].rows)
            crowd[joined - 1].experts += crowd[i].experts;
        else
            crowd[joined++] = crowd[i];
    return joined;
}

/* Rows of the experts of a rank that the first row of the grid has, in a layer. */
static struct crowd *crowds_of(const struct llm_op *op, uint32_t p, size_t *n)
{
    const struct llm_routing *r = op->routing;
    int64_t of_copy = llm_copy_tokens(r), own = r->experts / op->ep;
    int64_t first = op->from_rank * own;
    const uint16_t *expert = r->expert + (size_t)op->from_layer * r->stride;
    struct crowd *crowd = memory_new((size_t)own, sizeof *crowd);

    for (int64_t e = 0; e < own; e++)
        crowd[e].experts = 1;
    for (int64_t s = 0; s < r->tokens * r->chosen; s++)
        if (s / r->chosen % of_copy < of_copy / p && expert[s] >= first && expert[s] < first + own)
            crowd[expert[s] - first].rows++;
    *n = join_crowds(crowd, (size_t)own);
    return crowd;
}

/* Of k at least. Columns of a head may all lie in one PE. */
static double parts_of(const struct llm_op *op, uint32_t p, uint32_t q)
{
    return op->depth > 0 ? 1 : q > p ? q : p;
}

static struct product product_of(const struct llm_op *op, uint32_t p, uint32_t q)
{
    struct product a = {.k = (double)(op->depth > 0 ? op->depth : op->x.cols),
                        .n = (double)op->y.unit * ceil_of((double)(op->y.cols / op->y.unit), q),
                        .x_bytes = (double)kb_dtype_bytes(op->x.dtype),
                        .w_bytes = (double)kb_dtype_bytes(op->weight_dtype),
                        .parts = parts_of(op, p, q),
                        .whole = p,
                        .width = (double)llm_x_width(op, q),
                        .casts = op->weight_dtype != op->x.dtype};

    if (op->experts > 0) {
        a.crowd = crowds_of(op, p, &a.n_crowds);
    } else {
        a.rows = (double)op->y.rows;
        a.weights = a.k * (double)op->y.cols * a.w_bytes;
        a.crowd = memory_new(1, sizeof *a.crowd);
        a.crowd[0] = (struct crowd){ceil_of((double)op->y.rows, p), 1};
        a.n_crowds = 1;
    }
    a.m = fmax(a.crowd[0].rows, 1);
    return a;
}

/* Blocks of `mac` in `n` cut into tiles of `tile`: each tile has whole ones. */
static double blocks(double n, double tile, double mac)
{
    double whole = floor(n / tile), rest = n - whole * tile;

    return whole * ceil_of(tile, mac) + ceil_of(rest, mac);
}

/* Pieces of k, and blocks in them, at least; at their sizes where parts are equal. */
static double pieces_of_k(const struct product *a, double parts, double tile, double mac)
{
    return parts * blocks(floor(a->k / parts), tile, mac);
}

/* What a tile takes of each thing that serves one at a time. */
struct needs {
    double x, w;     /* bytes that are read */
    double loads;    /* as many of x as of w */
    double commands; /* that are issued */
    double cycles;   /* of the engine */
};

static void add_needs(const struct chip *c, const struct product *a, const struct llm_tile *t,
                      const struct crowd *of, struct needs *sum)
{
    double over_m = ceil_of(of->rows, (double)t->m), over_n = ceil_of(a->n, (double)t->n);
    double k = (double)t->k, parts = k > a->width ? a->whole : a->parts;
    double pairs = over_m * over_n * pieces_of_k(a, parts, k, k);

    sum->x += of->experts * of->rows * a->k * over_n * a->x_bytes;
    sum->w += of->experts * a->k * a->n * over_m * a->w_bytes;
    sum->loads += of->experts * 2 * pairs;
    sum->commands += of->experts * (pairs * (a->casts ? 4 : 3) + 2 * over_m * over_n);
    sum->cycles += of->experts * blocks(of->rows, (double)t->m, c->mac[0]) *
                   blocks(a->n, (double)t->n, c->mac[2]) * pieces_of_k(a, parts, k, c->mac[1]);
}

static struct needs needs_of(const struct chip *c, const struct product *a,
                             const struct llm_tile *t)
{
    struct needs n = {0};

    for (size_t i = 0; i < a->n_crowds; i++)
        add_needs(c, a, t, &a->crowd[i], &n);
    return n;
}

/* What no order of work can be faster than in a PE: its engine, the call of each command, */
static double pe_ns(const struct chip *c, const struct needs *n)
{
    double issue = fmax(n->commands * c->command_ns, n->loads * c->issue_ns);

    return fmax(n->cycles / c->clock_ghz / c->rate, issue);
}

/* and a channel for each load as long as it takes: what comes of several slices, comes at once. */
static double serial_ns(const struct chip *c, const struct needs *n)
{
    double bytes_ns = c->has_plain_memory ? (n->x + n->w) / c->slice_gbs : 0;

    return fmax(pe_ns(c, n), (n->loads * c->lat_ns + bytes_ns) / c->channels);
}

/* All slices of the unit have what its PEs read: the weights once for each row of tiles. */
static double slices_ns(const struct chip *c, const struct product *a, const struct llm_tile *t,
                        uint32_t p)
{
    double m = (double)t->m, rows = floor(a->rows / p);
    double over_m = fmax(p * ceil_of(rows, m), ceil_of(a->rows, m));

    return a->weights * over_m / (c->slice_gbs * c->unit_slices) + c->lat_ns;
}

/*
 * Of the largest part: what serves one at a time, and its weights once for each row of tiles, if
 * they are all in the own slice: as far as PEs are alike, and memories plain. Of all parts: their
 * weights. The simulator rounds each tile and each transaction to a femtosecond, which is less than
 * ROUNDED of it.
 */
static double bound_ns(const struct chip *c, const struct product *a, const struct llm_tile *t,
                       uint32_t p)
{
    struct needs n = needs_of(c, a, t);
    double own = p == 1 && c->has_plain_memory ? n.w / c->slice_gbs + c->lat_ns : 0;
    double all = c->has_flat_memory ? slices_ns(c, a, t, p) : 0;
    double serial = !c->has_plain_pes ? 0 : c->has_flat_memory ? serial_ns(c, &n) : pe_ns(c, &n);

    return fmax(fmax(own, all), serial) * (1 - ROUNDED);
}

double search_bound_ns(const struct chip *c, const struct llm_op *op, uint32_t p, uint32_t q)
{
    struct product a = product_of(op, p, q);
    double ns = bound_ns(c, &a, &op->tile, p);

    free(a.crowd);
    return ns;
}

/* How many PEs read a slice at once, if all read as many bytes. */
static double sharing(const struct chip *c)
{
    return fmax(1, (double)c->unit_pes / c->unit_slices);
}

/*
 * Most of x lies in slices of other PEs; w, too, if rows are cut. What a load gathers comes of all
 * slices at once. Where several PEs share a slice, it serves the others while one waits for the
 * first bytes of its loads.
 */
static double estimate_ns(const struct chip *c, const struct product *a, const struct llm_tile *t,
                          uint32_t p, uint32_t q)
{
    const struct way *x = q > 1 ? &c->other : &c->own, *w = p > 1 ? &c->other : &c->own;
    struct needs n = needs_of(c, a, t);
    double pair =
        (double)t->k * ((double)t->m * a->x_bytes / x->gbs + (double)t->n * a->w_bytes / w->gbs);
    double bytes = n.x + n.w, tcm = c->tcm_gbs * c->tcm_ports, sharers = sharing(c);
    double waits = n.loads / 2 * (x->ns + w->ns) / c->channels;
    double channels = waits + (n.x / x->gbs + n.w / w->gbs) / c->channels;
    double slice = bytes * sharers / c->slice_gbs + (sharers > 1 ? waits / sharers : 0);
    double most = fmax(fmax(serial_ns(c, &n), bytes / tcm), fmax(slice, channels));

    return most + pair / sharers + x->ns + 2 * (double)(t->m * t->n) / tcm;
}

static bool fits(const struct chip *c, const struct llm_op *op, const struct llm_tile *t)
{
    int64_t x = (int64_t)kb_dtype_bytes(op->x.dtype), w = (int64_t)kb_dtype_bytes(op->weight_dtype);
    int64_t own = w == x ? w : w + x; /* one of another type is converted */

    return t->m * t->n * 4 <= c->acc_bytes &&
           2 * t->k * (t->m * x + t->n * own) + 4 * t->m * t->n <= c->tcm_bytes / 2;
}

/* mac, 2 mac, ... below `n`, and n. */
static size_t sizes_of(double mac, double n, int64_t out[SIZES])
{
    size_t count = 0;

    for (int i = 0; i < POWERS && mac * (1 << i) < n; i++)
        out[count++] = (int64_t)mac * (1 << i);
    out[count++] = (int64_t)n;
    return count;
}

static int by_estimate(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->estimate_ns < y->estimate_ns || x->estimate_ns > y->estimate_ns)
        return x->estimate_ns < y->estimate_ns ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* A part of k; all of it, where parts are narrower than two depths of the engine: their products
 * would be so small that they are nothing but loads and commands. */
static double deepest(const struct chip *c, const struct llm_op *op, const struct product *a)
{
    double part = ceil_of(a->k, a->parts);

    return op->depth == 0 && part < 2 * c->mac[1] ? a->k : part;
}

static size_t candidates_of(const struct chip *c, const struct llm_op *op, uint32_t p, uint32_t q,
                            struct candidate *out)
{
    struct product a = product_of(op, p, q);
    int64_t m[SIZES], k[SIZES], n[SIZES];
    size_t of_m = sizes_of(c->mac[0], a.m, m), of_n = sizes_of(c->mac[2], a.n, n);
    size_t of_k = sizes_of(c->mac[1], deepest(c, op, &a), k), count = 0;

    for (size_t i = 0; i < of_m * of_k * of_n; i++) {
        struct llm_tile t = {m[i / of_n / of_k], k[i / of_n % of_k], n[i % of_n]};

        if (!fits(c, op, &t))
            continue;
        out[count] = (struct candidate){t, estimate_ns(c, &a, &t, p, q), bound_ns(c, &a, &t, p),
                                        needs_of(c, &a, &t).loads, (uint32_t)count};
        count++;
    }
    free(a.crowd);
    qsort(out, count, sizeof *out, by_estimate);
    return count;
}

/* The rank and the layer in which an expert has the most rows: a tile that is good there is not bad
 * where there are less, but one for few rows loads weights again and again for many. */
static void look_at_fullest(struct llm_op *op, int64_t layers)
{
    const struct llm_routing *r = op->routing;
    int64_t own = r->experts / op->ep, most = 0, n;

    for (int64_t l = 0; l < (r->stride > 0 ? layers : 1); l++)
        for (int64_t e = 0; e < r->experts; e++)
            if ((n = llm_slots_of(r, l, e, 1)) > most) {
                most = n;
                op->from_layer = l;
                op->from_rank = e / own;
            }
}

/* The least bound of any rank in the first layer: the operation takes no less than that rank does
 * that begins last. */
static int64_t bound_of_first_fs(const struct chip *c, const struct llm_op *op, uint32_t p,
                                 uint32_t q)
{
    struct llm_op at = *op;
    double least_ns = INFINITY;

    at.from_layer = 0;
    for (at.from_rank = 0; at.from_rank < (op->ep > 1 ? op->ep : 1); at.from_rank++)
        least_ns = fmin(least_ns, search_bound_ns(c, &at, p, q));
    return (int64_t)(least_ns * 1e6);
}

/* Until `fs`, if it is not 0. What a PE needs is known where PEs are alike; that it reads its
 * weights from its own slice, where memories are plain and rows are not cut. */
static struct llm_limit limit_of(const struct chip *c, const struct llm_op *op, uint32_t p,
                                 int64_t fs)
{
    struct llm_limit limit = {.fs = fs, .mac = {c->mac[0], c->mac[1], c->mac[2]}};
    double commands = op->weight_dtype != op->x.dtype ? 4 : 3;

    if (c->has_plain_pes) {
        limit.pair_fs = fmax(commands * c->command_ns, 2 * c->issue_ns) * 1e6;
        limit.cycle_fs = op->x.dtype == KB_BF16 ? 1e6 / c->clock_ghz / c->rate : 0;
    }
    if (c->has_plain_memory && p == 1)
        limit.byte_fs = 1e6 / c->slice_gbs;
    return limit;
}

/* The operation alone, from 0, on one rank. One that takes longer than `best_fs` is not simulated
 * to its end, and *fs is any time that is longer. *start_fs, when its kernel begins, is the same
 * for all tiles, and 0 before the first. */
static enum exit_code try_tile(const struct cli *cli, const struct chip *c, const struct graph *g,
                               const struct shape *s, const struct llm_op *op, int64_t best_fs,
                               int64_t *start_fs, int64_t *fs)
{
    struct graph one = *g;
    struct shape alone = *s;
    struct iteration took;
    uint32_t p, q;

    grid_of(c, shape_tokens(s), &p, &q);
    one.n = 1;
    one.layers = 1;
    one.limit = limit_of(c, op, p, best_fs);
    if (best_fs > 0 && *start_fs > 0)
        one.limit.until_fs = *start_fs + best_fs;
    one.op[0] = *op;
    one.op[0].is_layer = false;
    alone.tp = alone.ep = 1;
    alone.first_rank = 0;
    enum exit_code code = run_graph(cli, c, &one, &alone, NULL, &took);
    *fs = took.gave_up ? INT64_MAX : took.fs;
    if (!took.gave_up)
        *start_fs = took.start_fs;
    return code;
}

/* One that comes behind the best so far by its estimate, and does the same with more than twice the
 * loads, is hardly ever better, and takes longest to simulate. `make llm-search` holds what is
 * found without these against all tiles. */
static bool is_worth(const struct candidate *c, const struct candidate *best)
{
    return c->loads <= 2 * best->loads;
}

static enum exit_code search(const struct cli *cli, const struct chip *c, const struct graph *g,
                             const struct shape *s, uint64_t tries, struct llm_op *op,
                             struct found *found)
{
    struct candidate *all = memory_new(CANDIDATES_MAX, sizeof *all);
    uint32_t p, q, best = 0;
    int64_t best_fs = INT64_MAX, start_fs = 0, fs;
    double left_ns = INFINITY;
    enum exit_code code = EXIT_OK;

    grid_of(c, shape_tokens(s), &p, &q);
    size_t n = candidates_of(c, op, p, q, all);
    *found = (struct found){.candidates = (uint32_t)n};
    for (uint32_t i = 0; i < n && !code; i++) {
        if (all[i].bound_ns > 0 && all[i].bound_ns * 1e6 >= (double)best_fs)
            continue;
        if (found->tried >= tries ||
            (tries < UINT64_MAX && found->tried > 0 && !is_worth(&all[i], &all[best]))) {
            left_ns = fmin(left_ns, all[i].bound_ns);
            continue;
        }
        op->tile = all[i].tile;
        code = try_tile(cli, c, g, s, op, best_fs == INT64_MAX ? 0 : best_fs, &start_fs, &fs);
        found->tried++;
        if (!code && fs < best_fs) {
            best_fs = fs;
            best = i;
        }
    }
    if (n == 0)
        code =
            cmd_say(cli, EXIT_USAGE, "%s: no tile fits into the TCM and the accumulators", op->id);
    op->tile = all[best].tile;
    found->best = op->tile;
    found->best_fs = best_fs;
    found->bound_fs = bound_of_first_fs(c, op, p, q);
    found->proven = !(left_ns * 1e6 < (double)best_fs);
    found->within =
        left_ns > 0 ? (int64_t)ceil(1000 * ((double)best_fs / (left_ns * 1e6) - 1)) : -1;
    free(all);
    return code;
}

/* The tile of a map instead of the one that was found. */
static enum exit_code take_given(const struct cli *cli, const struct chip *c, const struct graph *g,
                                 const struct shape *s, const struct tile_map *map,
                                 struct llm_op *op, struct found *found)
{
    enum exit_code code;
    int64_t start_fs = 0;
    uint32_t p, q;

    grid_of(c, shape_tokens(s), &p, &q);
    const struct tile_map_entry *e = tile_map_find(map, op, p, q);
    if (!e)
        return EXIT_OK;
    if (!fits(c, op, &e->tile)) {
        say_line("%s:%zu:%zu: the tile does not fit into the TCM and the accumulators", map->file,
                 e->line, e->column);
        return EXIT_INPUT;
    }
    op->tile = e->tile;
    code = try_tile(cli, c, g, s, op, 0, &start_fs, &found->given_fs);
    found->bound_fs = bound_of_first_fs(c, op, p, q);
    return code;
}

/* What is looked for in `known`. A table of a stage is a part of another, and gone when it is
 * done. */
static struct searched_product key_of(const struct llm_op *op, int64_t layers, uint32_t p,
                                      uint32_t q)
{
    const struct llm_routing *r = op->experts > 0 ? op->routing : NULL;

    return (struct searched_product){.op = *op,
                                     .p = p,
                                     .q = q,
                                     .expert = r ? r->expert : NULL,
                                     .layers = r && r->stride > 0 ? layers : 0};
}

static bool same_product(const struct searched_product *a, const struct searched_product *key)
{
    const struct llm_op *b = &key->op;

    return a->p == key->p && a->q == key->q && a->op.x.rows == b->x.rows &&
           a->op.x.cols == b->x.cols && a->op.y.cols == b->y.cols && a->op.y.unit == b->y.unit &&
           a->op.x.dtype == b->x.dtype && a->op.weight_dtype == b->weight_dtype &&
           a->op.depth == b->depth && a->op.experts == b->experts && a->op.ep == b->ep &&
           a->expert == key->expert && a->layers == key->layers;
}

static const struct searched_product *find(const struct searched *known,
                                           const struct searched_product *key)
{
    for (size_t i = 0; i < known->n; i++)
        if (same_product(&known->product[i], key))
            return &known->product[i];
    return NULL;
}

static void keep(struct searched *known, const struct searched_product *one)
{
    if (known->n == known->room)
        known->product =
            memory_room(known->product, known->n, &known->room, sizeof *known->product);
    known->product[known->n++] = *one;
}

enum exit_code searched_write(const struct cli *cli, const char *file, const struct searched *known)
{
    struct mapped *of = memory_new(known->n + 1, sizeof *of);

    for (size_t i = 0; i < known->n; i++)
        of[i] = (struct mapped){&known->product[i].op, known->product[i].p, known->product[i].q};
    enum exit_code code = tile_map_write(cli, file, of, known->n);
    free(of);
    return code;
}

void searched_free(struct searched *known)
{
    free(known->product);
}

enum exit_code search_tiles(const struct cli *cli, const struct chip *c, struct graph *g,
                            const struct shape *s, uint64_t tries, struct searched *known,
                            struct found *found)
{
    enum exit_code code = EXIT_OK;
    uint32_t p, q;

    grid_of(c, shape_tokens(s), &p, &q);
    if (!c->forgets)
        known->n = 0;
    for (size_t i = 0; i < g->n && !code; i++) {
        struct llm_op *op = &g->op[i];

        if (op->kind != LLM_GEMM)
            continue;
        struct searched_product key = key_of(op, g->layers, p, q);
        const struct searched_product *before = find(known, &key);
        if (before) {
            op->tile = before->op.tile;
            found[i] = before->found;
            continue;
        }
        if (op->experts > 0)
            look_at_fullest(op, g->layers);
        code = search(cli, c, g, s, tries, op, &found[i]);
        if (!code)
            code = take_given(cli, c, g, s, known->map, op, &found[i]);
        op->from_rank = op->from_layer = 0;
        key.op = *op;
        key.found = found[i];
        keep(known, &key);
    }
    return code;
}
