/* llm_search.h -- the tile of a product: candidates by estimate, simulated, and what a bound
 * proves. */
#ifndef LLM_SEARCH_H
#define LLM_SEARCH_H
#include "cli/llm/tile_map.h"
#include "cli/llm/run.h"

/* What a search has found for an operation. */
struct found {
    int64_t best_fs;  /* of the best tile, alone on one rank */
    int64_t bound_fs; /* of the tile that was taken; 0: the machine has no bound here */
    uint32_t tried, candidates;
    bool proven;    /* no other of the set can be faster */
    int64_t within; /* else: at most so many tenths of a per cent; -1: not known */
    struct llm_tile best;
    int64_t given_fs; /* of the tile of a map, which was taken instead; 0: none */
};

/* A product on a grid, and what was found. */
struct searched_product {
    struct llm_op op; /* with its tile */
    uint32_t p, q;
    const uint16_t *expert; /* borrowed: of its first layer's tokens; NULL: no experts */
    int64_t layers;         /* that its rows were looked at in; 0: all are alike */
    struct found found;
};

/* Products whose tiles are known, all else than the map is 0 at first. */
struct searched {
    const struct tile_map *map;       /* borrowed: tiles that are taken; NULL: none */
    struct searched_product *product; /* owned */
    size_t n, room;
};

/*
 * Chooses the tile of each GEMM of `g`: at most `tries` are simulated, alone on one rank. Equal
 * products are searched once: also those of graphs before it, unless the machine asks where bytes
 * lie.
 *
 * returns  EXIT_OK, or a code after a message: EXIT_USAGE: no tile fits into the TCM
 */
enum exit_code search_tiles(const struct cli *cli, const struct chip *c, struct graph *g,
                            const struct shape *s, uint64_t tries, struct searched *known,
                            struct found *found);
enum exit_code searched_write(const struct cli *cli, const char *file,
                              const struct searched *known);
void searched_free(struct searched *known);

/* The least time of a GEMM with its tile on one PE, in ns; 0 if the machine has none. */
double search_bound_ns(const struct chip *c, const struct llm_op *op, uint32_t p, uint32_t q);

#endif
