/*
 * tile_map.c -- the tiles of products as YAML, a line each.
 *
 *     kernbench_map: 1
 *     machine: 961f6c22d6abdc53
 *     products:
 *     - {op: qkv, m: 4, k: 2048, n: 384, unit: 64, x: bf16, w: bf16, grid: 1x8, tile: [1, 64, 128]}
 *
 * A product is known by its extents in a rank, the columns that stay together, its types, its
 * experts if it is of these, and its grid; `op` says for people where it was met first. Of several
 * that are the same by these, as of experts with other rows in each stage, the first is written. A
 * tile is m, k, n. Tiles that are good on one machine say nothing of another,
 * so the file names the machine by its hash, and is refused for others.
 */
#include "cli/llm/tile_map.h"
#include "cli/llm/yaml_read.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/sink.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tile_map_free(struct tile_map *map)
{
    free(map->entry);
}

static bool is_of(const struct tile_map_entry *e, const struct llm_op *op, uint32_t p, uint32_t q)
{
    return e->m == op->y.rows && e->k == op->x.cols && e->n == op->y.cols && e->x == op->x.dtype &&
           e->w == op->weight_dtype && e->experts == op->experts && e->p == p && e->q == q &&
           (e->unit == 0 || e->unit == op->y.unit);
}

const struct tile_map_entry *tile_map_find(const struct tile_map *map, const struct llm_op *op,
                                           uint32_t p, uint32_t q)
{
    for (size_t i = 0; map && i < map->n; i++)
        if (is_of(&map->entry[i], op, p, q))
            return &map->entry[i];
    return NULL;
}

#ifdef KB_NO_YAML
enum exit_code tile_map_read(const struct cli *cli, const struct chip *c, const char *file,
                             struct tile_map *out)
{
    (void)c, (void)out;
    return cmd_say(cli, EXIT_SYSTEM, "cannot read %s: this build has no libyaml", file);
}
#else

static void read_grid(struct yaml_read *r, const struct chip *c, const yaml_node_t *at,
                      struct tile_map_entry *e)
{
    const char *word = yaml_word(r, at);
    char rest;

    if (sscanf(word, "%9ux%9u%c", &e->p, &e->q, &rest) != 2 || e->p == 0 ||
        (uint64_t)e->p * e->q != c->unit_pes)
        yaml_bad(r, at, "'%s' is not PxQ with %u PEs", word, c->unit_pes);
}

static void read_tile(struct yaml_read *r, const yaml_node_t *at, struct llm_tile *tile)
{
    int64_t *const of[] = {&tile->m, &tile->k, &tile->n};

    for (size_t i = 0; i < 3; i++) {
        const yaml_node_t *item = yaml_item(r, at, i);

        if (!item || (i == 2 && yaml_item(r, at, 3))) {
            yaml_bad(r, at, "a tile is [m, k, n]");
            return;
        }
        *of[i] = yaml_count(r, item);
    }
}

static void read_entry(struct yaml_read *r, const struct chip *c, const yaml_node_t *at,
                       struct tile_map_entry *e)
{
    static const char *const keys[] = {"op",   "m",    "k",       "n",    "x", "w",
                                       "grid", "tile", "experts", "unit", NULL};
    const yaml_node_t *value[8], *experts = yaml_value(r, at, "experts");
    const yaml_node_t *unit = yaml_value(r, at, "unit");
    bool has_all = at->type == YAML_MAPPING_NODE;

    yaml_check_keys(r, at, keys);
    for (size_t i = 1; i < 8 && at->type == YAML_MAPPING_NODE; i++) {
        value[i] = yaml_needed(r, at, keys[i]);
        has_all = has_all && value[i];
    }
    if (!has_all)
        return;
    *e = (struct tile_map_entry){.m = yaml_count(r, value[1]),
                                 .k = yaml_count(r, value[2]),
                                 .n = yaml_count(r, value[3]),
                                 .x = yaml_dtype(r, value[4]),
                                 .w = yaml_dtype(r, value[5]),
                                 .experts = experts ? yaml_count(r, experts) : 0,
                                 .unit = unit ? yaml_count(r, unit) : 0,
                                 .line = at->start_mark.line + 1,
                                 .column = at->start_mark.column + 1};
    read_grid(r, c, value[6], e);
    read_tile(r, value[7], &e->tile);
}

static bool is_same(const struct tile_map_entry *a, const struct tile_map_entry *b)
{
    return a->m == b->m && a->k == b->k && a->n == b->n && a->x == b->x && a->w == b->w &&
           a->experts == b->experts && a->unit == b->unit && a->p == b->p && a->q == b->q;
}

static void add_entry(struct yaml_read *r, struct tile_map *map, const yaml_node_t *at,
                      const struct tile_map_entry *e)
{
    for (size_t i = 0; i < map->n; i++)
        if (is_same(&map->entry[i], e))
            yaml_bad(r, at, "line %zu has the same product", map->entry[i].line);
    if (map->n == map->room)
        map->entry = memory_room(map->entry, map->n, &map->room, sizeof *map->entry);
    map->entry[map->n++] = *e;
}

static void read_map(struct yaml_read *r, const struct cli *cli, const struct chip *c,
                     struct tile_map *out)
{
    static const char *const keys[] = {"kernbench_map", "machine", "products", NULL};
    const yaml_node_t *root = yaml_document_get_root_node(&r->doc), *at;

    if (!root || root->type != YAML_MAPPING_NODE || !yaml_value(r, root, "kernbench_map")) {
        yaml_bad(r, root, "a map begins with kernbench_map: 1");
        return;
    }
    yaml_check_keys(r, root, keys);
    at = yaml_value(r, root, "kernbench_map");
    if (strcmp(yaml_word(r, at), "1") != 0)
        yaml_bad(r, at, "only version 1 is known");
    at = yaml_needed(r, root, "machine");
    if (at && strcmp(yaml_word(r, at), cli->info.hash) != 0)
        yaml_bad(r, at, "a map of another machine: this one is %s", cli->info.hash);
    const yaml_node_t *products = yaml_needed(r, root, "products");
    if (products && products->type != YAML_SEQUENCE_NODE)
        yaml_bad(r, products, "products must be a list");
    for (size_t i = 0; (at = yaml_item(r, products, i)); i++) {
        struct tile_map_entry e = {0};
        size_t before = r->n_bad;

        read_entry(r, c, at, &e);
        if (r->n_bad == before)
            add_entry(r, out, at, &e);
    }
}

enum exit_code tile_map_read(const struct cli *cli, const struct chip *c, const char *file,
                             struct tile_map *out)
{
    struct yaml_read r;
    enum exit_code code = yaml_read_open(&r, cli->program, file);

    *out = (struct tile_map){.file = file};
    if (!code)
        read_map(&r, cli, c, out);
    if (!code && r.n_bad > 0)
        code = EXIT_INPUT;
    yaml_read_close(&r);
    return code;
}
#endif

/* Has it been written? */
static bool is_among(const struct mapped *of, size_t n, const struct mapped *product)
{
    const struct llm_op *op = product->op;
    bool found = false;

    for (size_t i = 0; i < n && !found; i++) {
        const struct llm_op *a = of[i].op;
        const struct tile_map_entry e = {.m = a->y.rows,
                                         .k = a->x.cols,
                                         .n = a->y.cols,
                                         .unit = a->y.unit,
                                         .experts = a->experts,
                                         .x = a->x.dtype,
                                         .w = a->weight_dtype,
                                         .p = of[i].p,
                                         .q = of[i].q};

        found = is_of(&e, op, product->p, product->q);
    }
    return found;
}

enum exit_code tile_map_write(const struct cli *cli, const char *file, const struct mapped *of,
                              size_t n)
{
    struct sink sink;
    enum exit_code code = sink_open(&sink, cli->program, file);

    if (code)
        return code;
    sink_text(&sink, "# Tiles of products; kernbench llm --map reads them again.\n"
                     "kernbench_map: 1\nmachine: ");
    sink_text(&sink, cli->info.hash);
    sink_text(&sink, "\nproducts:\n");
    for (size_t i = 0; i < n; i++) {
        const struct llm_op *op = of[i].op;
        char line[320], experts[32] = "";

        if (is_among(of, i, &of[i]))
            continue;
        if (op->experts > 0)
            snprintf(experts, sizeof experts, "experts: %lld, ", (long long)op->experts);
        snprintf(line, sizeof line,
                 "- {op: %s, m: %lld, k: %lld, n: %lld, unit: %lld, x: %s, w: %s, %sgrid: %ux%u, "
                 "tile: [%lld, %lld, %lld]}\n",
                 op->id, (long long)op->y.rows, (long long)op->x.cols, (long long)op->y.cols,
                 (long long)op->y.unit, kb_dtype_name(op->x.dtype), kb_dtype_name(op->weight_dtype),
                 experts, of[i].p, of[i].q, (long long)op->tile.m, (long long)op->tile.k,
                 (long long)op->tile.n);
        sink_text(&sink, line);
    }
    return sink_close(&sink, cli->program, SINK_KEEP);
}
