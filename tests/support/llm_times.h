/* llm_times.h -- times of small models, with leaps over what ranks do alone, as `llm` takes them.
 */
#ifndef LLM_TIMES_H
#define LLM_TIMES_H
#include "support/any_limits.h"
#include "support/rig.h"

#include "cli/llm/routing.h"
#include "cli/llm/llm_search.h"
#include <string.h>

/* Small, with 4 layers; every kind of operation. */
static inline struct model small_model(enum model_family family)
{
    bool falcon = family == MODEL_FALCON, experts = family >= MODEL_MIXTRAL;

    return (struct model){.name = "small",
                          .family = family,
                          .hidden = 512,
                          .layers = 4,
                          .heads = 8,
                          .kv_heads = 8,
                          .head_dim = 64,
                          .inter = 1024,
                          .vocab = 2048,
                          .layernorm = falcon,
                          .parallel = falcon,
                          .norms = 2,
                          .qk_norm = family == MODEL_QWEN3,
                          .experts = experts ? 8 : 0,
                          .chosen = experts ? 2 : 0,
                          .expert_inter = experts ? 1024 : 0,
                          .dtype = KB_BF16};
}

/* With a tile for each product; `g` becomes what was simulated. Experts are chosen as `routes`
 * says.
 */
static inline struct iteration time_routed(const struct cli *cli, const struct model *m,
                                           const struct shape *s, struct routes *routes,
                                           struct graph *g)
{
    struct found found[GRAPH_OPS_MAX] = {{0}};
    const struct llm_routing *routing = NULL;
    const struct route_extents x = {shape_copies(s) * s->batch * s->q, m->experts, m->chosen,
                                    m->layers, shape_copies(s)};
    struct searched known = {0};
    struct llm_known times;
    struct iteration it = {.fs = 0};
    struct chip chip;
    uint32_t p, q;

    assert_int_equal(chip_of(cli, &chip), EXIT_OK);
    graph_of_model(m, s, g);
    g->round = chip.round;
    grid_of(&chip, s->batch * s->q, &p, &q);
    graph_place(g, s, p, q);
    if (m->experts > 0)
        assert_int_equal(routes_of(cli, routes, &x, &routing), EXIT_OK);
    graph_route(g, routing);
    assert_int_equal(search_tiles(cli, &chip, g, s, 1, &known, found), EXIT_OK);
    assert_int_equal(run_alone(cli, &chip, g, s, NULL, &times), EXIT_OK);
    assert_int_equal(run_graph(cli, &chip, g, s, &times, &it), EXIT_OK);
    run_forget(&times);
    for (size_t i = 0; i < g->n; i++)
        assert_true(found[i].bound_fs <= it.op[i].fs);
    searched_free(&known);
    chip_free(&chip);
    return it;
}

/* Evenly; the table stays, as operations of `g` are asked for their work. */
static inline struct iteration time_by(const struct cli *cli, const struct model *m,
                                       const struct shape *s, struct graph *g)
{
    static struct routes routes;

    routes_free(&routes);
    return time_routed(cli, m, s, &routes, g);
}

static inline struct iteration time_of(const kb_topology *topo, kb_engine engine,
                                       enum model_family family, const struct shape *s,
                                       struct graph *g)
{
    const struct cli cli = cli_of(topo, engine);
    const struct model m = small_model(family);

    return time_by(&cli, &m, s, g);
}

/* A decode step in bf16 of `batch` requests of `kv` tokens, over `tp` ranks. */
static inline struct shape decode_of(int64_t tp, int64_t batch, int64_t kv)
{
    return (struct shape){.tp = tp,
                          .batch = batch,
                          .q = 1,
                          .kv = kv,
                          .page = 16,
                          .weights = KB_BF16,
                          .act = KB_BF16,
                          .kv_dtype = KB_BF16};
}

#endif
