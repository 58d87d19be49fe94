/* tile_map.h -- the tiles of products as a file: to be read, edited and given back. */
#ifndef TILE_MAP_H
#define TILE_MAP_H
#include "cli/llm/llm_graph.h"
#include "cli/llm/chip.h"

/* The tile of a product on a grid of PEs. */
struct tile_map_entry {
    int64_t m, k, n, experts; /* of a rank */
    int64_t unit;             /* columns that stay together; 0: any */
    kb_dtype x, w;
    uint32_t p, q;
    struct llm_tile tile;
    size_t line, column; /* in the file */
};

struct tile_map {
    const char *file;             /* borrowed */
    struct tile_map_entry *entry; /* owned */
    size_t n, room;
};

/*
 * Reads a map that tile_map_write() has written on this machine. `out` may be given to
 * tile_map_free() also after a failure.
 *
 * returns  EXIT_OK; after messages EXIT_INPUT, EXIT_SYSTEM
 */
enum exit_code tile_map_read(const struct cli *cli, const struct chip *c, const char *file,
                             struct tile_map *out);
void tile_map_free(struct tile_map *map);

/* The entry of a product, or NULL. */
const struct tile_map_entry *tile_map_find(const struct tile_map *map, const struct llm_op *op,
                                           uint32_t p, uint32_t q);

/* Writes the tiles of `n` products, each the op of that number with its grid. */
struct mapped {
    const struct llm_op *op;
    uint32_t p, q;
};
enum exit_code tile_map_write(const struct cli *cli, const char *file, const struct mapped *of,
                              size_t n);

#endif
