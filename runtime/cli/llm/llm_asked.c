/* llm_asked.c -- options of `llm`: what is asked for is read, and refused where it cannot be. */
#include "cli/llm/llm_asked.h"
#include "cli/llm/chakra.h"
#include "cli/llm/graph_check.h"
#include "cli/out/columns.h"
#include "cli/out/session.h"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

enum { TYPES_BYTES = 256 };

/* "f16, f32, ..." of those that can be placed, in `to`, which is returned. */
static const char *all_types(char to[TYPES_BYTES])
{
    size_t at = 0;

    for (kb_dtype dtype = KB_F16; dtype <= KB_I4; dtype++)
        if (!graph_refuses_type(dtype) && at < TYPES_BYTES)
            at += (size_t)snprintf(to + at, TYPES_BYTES - at, "%s%s", at ? ", " : "",
                                   kb_dtype_name(dtype));
    return to;
}

static enum exit_code dtype_of(const struct cli *cli, const char *option, const char *word,
                               kb_dtype *out)
{
    kb_dtype dtype = word ? kb_dtype_parse(word) : *out;
    const char *why = graph_refuses_type(dtype);
    char types[TYPES_BYTES];

    if (why)
        return cmd_say(cli, EXIT_USAGE, "--%s '%s' %s; types are %s", option, word, why,
                       all_types(types));
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
    s->weights = l->model.weights;
    s->head_weights = s->act = s->kv_dtype = l->model.dtype;
    s->ep = o->ep > 0 ? (int64_t)o->ep : 1;
    s->pp = o->pp > 0 ? (int64_t)o->pp : 1;
    s->dp = o->dp > 0 ? (int64_t)o->dp : 1;
    if ((code = dtype_of(l->cli, "weights", o->weights, &s->weights)) ||
        (code = dtype_of(l->cli, "weights", o->weights, &s->head_weights)) ||
        (code = dtype_of(l->cli, "act", o->act, &s->act)) ||
        (code = dtype_of(l->cli, "kv", o->kv, &s->kv_dtype)))
        return code;
    if (!graph_floats(s->act))
        return cmd_say(l->cli, EXIT_USAGE, "--act '%s' is no float", o->act);
    return EXIT_OK;
}

/* Is there such a number of ranks? */
static enum exit_code check_ranks(const struct llm *l, uint64_t tp)
{
    const struct shape *s = &l->shape;
    char why[256];

    if (tp > l->chip.units)
        return cmd_say(l->cli, EXIT_USAGE, "--tp %llu: the machine has %u units (%s)",
                       (unsigned long long)tp, l->chip.units, l->chip.unit);
    if (tp * (uint64_t)s->pp * (uint64_t)s->dp > l->chip.units)
        return cmd_say(l->cli, EXIT_USAGE,
                       "--tp %llu, --pp %lld and --dp %lld are %llu ranks, and the machine has %u "
                       "units (%s)",
                       (unsigned long long)tp, (long long)s->pp, (long long)s->dp,
                       (unsigned long long)(tp * (uint64_t)s->pp * (uint64_t)s->dp), l->chip.units,
                       l->chip.unit);
    if (graph_refuse(&l->model, (int64_t)tp, l->chip.units / s->pp / s->dp, why))
        return cmd_say(l->cli, EXIT_USAGE, "%s cannot be cut into %llu ranks; %s", l->model.name,
                       (unsigned long long)tp, why);
    if (l->model.experts > 0 && graph_refuse_ep(&l->model, (int64_t)tp, s->dp, s->ep, why))
        return cmd_say(l->cli, EXIT_USAGE,
                       "%s: --ep %lld does not divide %lld experts over %llu ranks; %s",
                       l->model.name, (long long)s->ep, (long long)l->model.experts,
                       (unsigned long long)tp * (uint64_t)s->dp, why);
    return EXIT_OK;
}

/* Can the layers be cut into so many stages? */
static enum exit_code check_stages(const struct llm *l)
{
    const struct shape *s = &l->shape;
    char why[256];

    if (l->cli->opts.microbatches > 0 && s->pp == 1)
        return cmd_say(l->cli, EXIT_USAGE, "--microbatches are of stages (--pp)");
    if (stage_refuse(l->model.layers, l->model.dense_layers, s->pp, why))
        return cmd_say(l->cli, EXIT_USAGE, "%s has %lld layers, and --pp %lld; %s", l->model.name,
                       (long long)l->model.layers, (long long)s->pp, why);
    return EXIT_OK;
}

int64_t llm_parts(const struct llm *l, int64_t requests, int64_t stages)
{
    int64_t asked = (int64_t)l->cli->opts.microbatches, micro = asked > 0 ? asked : stages;

    while (asked == 0 && requests % micro)
        micro--;
    return micro;
}

enum exit_code llm_split(const struct llm *l, int64_t requests, struct shape *s)
{
    int64_t micro = llm_parts(l, requests, s->pp);

    if (requests % micro)
        return cmd_say(l->cli, EXIT_USAGE, "--microbatches %lld does not divide a batch of %lld",
                       (long long)micro, (long long)requests);
    s->micro = micro;
    s->batch = requests / micro;
    return EXIT_OK;
}

static enum exit_code read_experts(struct llm *l)
{
    const struct opts *o = &l->cli->opts;

    if (l->model.experts == 0 && (o->ep > 1 || o->routing))
        return cmd_say(l->cli, EXIT_USAGE, "--%s is of experts, and %s has none",
                       o->ep > 1 ? "ep" : "routing", l->model.name);
    return routes_read(l->cli, o->routing, &l->routes);
}

static enum exit_code refuse_latent(const struct llm *l)
{
    const struct opts *o = &l->cli->opts;

    if (!model_has_latent(&l->model))
        return EXIT_OK;
    if (o->iterations || session_here_asks())
        return cmd_say(l->cli, EXIT_USAGE,
                       "%s: of latent attention (kv_lora_rank) requests must be alike",
                       l->model.name);
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

bool llm_searches(const struct llm *l)
{
    return l->search.divisions || l->search.grids;
}

/* False: it is no word of a search. */
static bool search_word(struct llm *l, const char *word, size_t n)
{
    if (n == strlen("parallel") && strncmp(word, "parallel", n) == 0)
        l->search.divisions = true;
    else if (n == strlen("grid") && strncmp(word, "grid", n) == 0)
        l->search.grids = true;
    else
        return false;
    return true;
}

/* Words of a search, which is of one number of requests, and of one step. */
static enum exit_code read_search(struct llm *l)
{
    const struct opts *o = &l->cli->opts;
    const char *at = o->search;

    if (!at)
        return EXIT_OK;
    for (bool more = true; more;) {
        size_t n = strcspn(at, ",");

        if (!search_word(l, at, n))
            return cmd_say(l->cli, EXIT_USAGE,
                           "--search '%s' is not parallel, grid or parallel,grid", o->search);
        more = at[n] != '\0';
        at += n + more;
    }
    if (l->batches.n > 1 || l->decodes.n > 1 || o->graph)
        return cmd_say(l->cli, EXIT_USAGE,
                       "--search %s is of one --batch and --decode, without --graph", o->search);
    return EXIT_OK;
}

static enum exit_code read_lists(struct llm *l)
{
    enum { TOKENS_MAX = 1048576, RANKS_MAX = 65536, REQUESTS_MAX = 1048576 };
    const struct opts *o = &l->cli->opts;
    enum exit_code code;

    if ((code = check_stages(l)) || (code = read_list(l, "tp", o->tp, RANKS_MAX, &l->tps)) ||
        (code = read_list(l, "batch", o->batch, REQUESTS_MAX, &l->batches)) ||
        (code = read_list(l, "decode", o->decode, TOKENS_MAX, &l->decodes)))
        return code;
    l->rows.many_tps = l->tps.n > 1;
    l->rows.many_kvs = l->decodes.n > 1;
    return read_search(l);
}

/* "PxQ" */
static enum exit_code read_grid(const struct cli *cli, uint32_t *p, uint32_t *q)
{
    const char *grid = cli->opts.grid;
    char rest;

    if (!grid || (sscanf(grid, "%9ux%9u%c", p, q, &rest) == 2 && *p > 0 && *q > 0))
        return EXIT_OK;
    return cmd_say(cli, EXIT_USAGE, "--grid '%s' is not PxQ, rows and columns of a rank's PEs",
                   grid);
}

enum exit_code llm_read_words(struct llm *l)
{
    uint32_t p, q;
    enum exit_code code;

    if ((code = read_shape(l)) || (code = refuse_latent(l)) || (code = read_experts(l)) ||
        (code = read_grid(l->cli, &p, &q)))
        return code;
    return read_lists(l);
}

/* What cannot stand beside --iterations is refused before what does not fit the model or the
 * machine. */
static enum exit_code check_iterations(const struct llm *l)
{
    const struct opts *o = &l->cli->opts;

    if (!o->iterations && !session_here_asks())
        return EXIT_OK;
    if (o->prefill || o->tokens || o->chunk || o->decode || o->graph || o->chakra ||
        strcmp(o->batch, "1") != 0)
        return cmd_say(l->cli, EXIT_USAGE,
                       "--iterations says what --prefill, --decode, --tokens, --chunk and --batch "
                       "do, and has no --graph and no --chakra");
    if (llm_searches(l) || l->tps.n > 1 || l->shape.pp > 1 || l->shape.dp > 1)
        return cmd_say(l->cli, EXIT_USAGE,
                       "--iterations: --tp is one number, and --pp and --dp are 1");
    return EXIT_OK;
}

/* Without --tp the ranks are all that are left. */
static enum exit_code read_ranks(struct llm *l)
{
    int64_t each = l->chip.units / (l->shape.pp * l->shape.dp);
    char all[24];

    snprintf(all, sizeof all, "%lld", (long long)(each > 0 ? each : 1));
    enum exit_code code = l->tps.n > 0 ? EXIT_OK : read_list(l, "tp", all, UINT64_MAX, &l->tps);

    for (size_t i = 0; i < l->tps.n && !code && !l->search.divisions; i++)
        code = check_ranks(l, l->tps.value[i]);
    return code;
}

enum exit_code llm_read_model(struct llm *l)
{
    enum exit_code code = llm_read_words(l);

    if (!code)
        code = check_iterations(l);
    return code ? code : read_ranks(l);
}

enum exit_code llm_read_iterations(struct llm *l)
{
    const char *file = l->cli->opts.iterations;

    return file ? iterations_read(l->cli, file, &l->its) : EXIT_OK;
}

/* A name of files that has one %d at most. */
static enum exit_code check_pattern(const struct cli *cli, const char *pattern)
{
    char *path = pattern ? chakra_path(pattern, 0) : NULL;
    bool is_none = pattern && !path;

    free(path);
    return is_none ? cmd_say(cli, EXIT_USAGE, "--chakra '%s' has another %% than one %%d", pattern)
                   : EXIT_OK;
}

static enum exit_code read_mapping(struct llm *l, struct tile_map *map)
{
    const struct opts *o = &l->cli->opts;
    uint32_t q = 0;
    enum exit_code code = check_pattern(l->cli, o->chakra);

    if (!code)
        code = read_grid(l->cli, &l->chip.grid_p, &q);
    if (code)
        return code;
    if (o->grid && (uint64_t)l->chip.grid_p * q != l->chip.unit_pes)
        return cmd_say(l->cli, EXIT_USAGE, "--grid '%s' is not PxQ with the %u PEs of a rank",
                       o->grid, l->chip.unit_pes);
    if (!o->map)
        return EXIT_OK;
    l->known.map = map;
    return tile_map_read(l->cli, &l->chip, o->map, map);
}

enum exit_code llm_open(struct llm *l, struct tile_map *map)
{
    enum exit_code code = chip_of(l->cli, &l->chip);

    l->chip.told = &l->told;
    l->rows.chip = &l->chip;
    l->rows.tells_energy = llm_tells_energy(l);
    return code ? code : read_mapping(l, map);
}

void llm_close(struct llm *l)
{
    list_free(&l->tps);
    list_free(&l->decodes);
    list_free(&l->batches);
    chip_free(&l->chip);
    searched_free(&l->known);
    routes_free(&l->routes);
    iterations_free(&l->its);
    llm_rows_free(&l->rows);
}

bool llm_tells_causes(const struct opts *o)
{
    bool is_kept = o->search || o->sqlite || o->vary.n > 0;

    return is_kept || !o->columns || columns_listed(o->columns, "cause");
}

bool llm_tells_energy(const struct llm *l)
{
    const struct set_list *vary = &l->cli->opts.vary;
    bool has = l->chip.energy.is_known;

    for (size_t i = 0; i < vary->n; i++)
        has = has || strncmp(vary->word[i], "energy.", 7) == 0;
    return has;
}
