/* routing.h -- which experts tokens go to: evenly, by chance, or as a file says. */
#ifndef ROUTING_H
#define ROUTING_H
#include "benches/llm/llm_route.h"
#include "cli/command.h"

enum route_how { ROUTE_EVEN, ROUTE_UNIFORM, ROUTE_ZIPF, ROUTE_FILE };

/* What --routing asks for, and all tables that were made. All 0: evenly. */
struct routes {
    enum route_how how;
    double slope;
    uint64_t seed;
    const char *file;          /* borrowed */
    struct route_count *count; /* owned: rows of the file */
    size_t n_counts, counts_room;
    struct llm_routing **table; /* owned, and what they point to: one for each number of tokens */
    size_t n, room;
};

/* Experts of a layer, of a token, and layers that have them. */
struct route_extents {
    int64_t tokens, experts, chosen, layers;
    int64_t copies; /* of the model, which have the tokens together */
};

/* even, uniform:SEED, zipf:S:SEED or file:CSV. EXIT_USAGE, EXIT_INPUT after a message. */
enum exit_code routes_read(const struct cli *cli, const char *text, struct routes *out);

/* *out: the table, which `r` keeps. EXIT_USAGE, EXIT_INPUT after a message. */
enum exit_code routes_of(const struct cli *cli, struct routes *r, const struct route_extents *x,
                         const struct llm_routing **out);

/* The table in which expert e has rows[e] slots in each layer; rows are at most tokens, and chosen
 * * tokens together. */
const struct llm_routing *routes_of_rows(struct routes *r, const struct route_extents *x,
                                         const int64_t *rows);

void routes_free(struct routes *r);

#endif
