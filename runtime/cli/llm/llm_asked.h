/* llm_asked.h -- what `llm` is asked for, of which model and machine. */
#ifndef LLM_ASKED_H
#define LLM_ASKED_H
#include "cli/command.h"
#include "cli/in/in_lists.h"
#include "cli/llm/graph_yaml.h"
#include "cli/llm/iterations.h"
#include "cli/llm/llm_rows.h"
#include "cli/llm/routing.h"
#include "cli/llm/pipeline.h"
#include "cli/llm/told.h"

struct llm {
    const struct cli *cli;
    struct model model;
    struct chip chip;
    struct shape shape; /* of all iterations, except batch, q and kv */
    struct list tps, decodes, batches;
    struct iterations its; /* of --iterations */
    struct searched known;
    struct routes routes;
    struct llm_rows rows;
    struct told told;
    struct {
        int64_t ttft_fs, tpot_fs; /* 0: not asked for */
    } last;                       /* batch */
    bool too_large;               /* the last batch */
    struct {
        bool divisions, grids; /* what is too large is told among the others */
    } search;
    uint64_t needs_bytes;           /* of a rank, by what was too large */
    const struct graph_file *given; /* instead of the model's graph; NULL: none */
};

/* The machine, and the grid and the tiles that are given, which are kept in `map`; give back with
 * llm_close(), also after a failure. */
enum exit_code llm_open(struct llm *l, struct tile_map *map);
void llm_close(struct llm *l);

/* What options ask of a model: types, pages, divisions, experts, and lists of numbers, all of which
 * multiply. The words can be read without a machine. */
enum exit_code llm_read_words(struct llm *l);
enum exit_code llm_read_model(struct llm *l);

/* The file of iterations, which nothing else says. */
enum exit_code llm_read_iterations(struct llm *l);

/* Of how many parts a batch is in as many stages: as asked, or as many as stages, or fewer that
 * divide it. */
int64_t llm_parts(const struct llm *l, int64_t requests, int64_t stages);

/* Are several ways to divide the machine simulated? */
bool llm_searches(const struct llm *l);

/* Requests in parts that go through the stages one behind the other. EXIT_USAGE. */
enum exit_code llm_split(const struct llm *l, int64_t requests, struct shape *s);

/* Has the machine keys of energy, or may another of --vary have some? */
bool llm_tells_energy(const struct llm *l);

/* Are causes printed or kept? They take a simulation more. */
bool llm_tells_causes(const struct opts *o);

#endif
