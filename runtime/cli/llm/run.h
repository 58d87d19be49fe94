/* run.h -- simulates the operations of a graph on the ranks of a machine. */
#ifndef RUN_H
#define RUN_H
#include "cli/llm/chip.h"
#include "cli/llm/llm_graph.h"

/* What an operation took. */
struct took {
    int64_t fs;    /* of one call, the first */
    int64_t count; /* how often it was done */
    int64_t all_fs;
};

struct iteration {
    struct took op[GRAPH_OPS_MAX];
    int64_t fs;       /* of all */
    int64_t start_fs; /* when the kernel has begun */
    int64_t layers;   /* that were simulated */
    bool gave_up;     /* it passes the limit of its graph, and was not simulated to its end */
};

/* Operations of a graph, those of all layers. */
size_t run_operations(const struct graph *g);

/* The grid of a rank's PEs for so many tokens. */
void grid_of(const struct chip *c, int64_t tokens, uint32_t *p, uint32_t *q);

/* What hears of the critical path, and where the ends of operations are written to. `leapt_fs`: how
 * much of a step is that of operations that were leapt over before its command was called. */
struct path_watch {
    void (*each)(void *arg, const kb_breakdown_step *step, int64_t leapt_fs);
    void *arg;
    int64_t *ended_fs; /* [operation of the graph] */
};

/*
 * Finds what slots of queues take of a TCM, and holds as much in all runs of `g`, which has its
 * places: so a queue finds room whenever its first message comes, loads run ahead as far in the
 * first layer as in the last, and as far in a rank that is alone.
 *
 * returns  as run_graph()
 */
enum exit_code run_rehearsal(const struct cli *cli, const struct chip *c, struct graph *g,
                             const struct shape *s);

/*
 * What ranks do between collectives, of one layer, if it takes the same in each layer and whatever
 * other ranks do; else `out` has 0 ranks. Give back with run_forget().
 *
 * returns  as run_graph()
 */
enum exit_code run_alone(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, const struct path_watch *watch,
                         struct llm_known *out);
void run_forget(struct llm_known *known);

/*
 * Runs all operations on `tp` ranks, layer by layer. `g` has its places, tiles are set. NULL or 0
 * ranks: nothing is known; what turns out to be wrong is forgotten.
 *
 * returns  EXIT_OK, or after a message EXIT_USAGE (memory), EXIT_KERNEL, ...
 */
enum exit_code run_graph(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, struct llm_known *known, struct iteration *out);

/* The same; each_fs[run_operations(g)], or NULL: becomes what each operation of each layer took. */
enum exit_code run_each(const struct cli *cli, const struct chip *c, const struct graph *g,
                        const struct shape *s, struct llm_known *known, int64_t *each_fs,
                        struct iteration *out);

/* The same of one layer, which takes longer; `each` is called when it has ended. */
enum exit_code run_watched(const struct cli *cli, const struct chip *c, const struct graph *g,
                           const struct shape *s, const struct llm_known *known,
                           const struct path_watch *watch);

/* What hears of transactions, and is told of stations and of the launch when it has ended. */
struct run_count {
    kb_observer observer;
    void (*station)(void *arg, const kb_utilization *use);
    void *arg;
    kb_launch_result *totals;
};

/* The same, counted. */
enum exit_code run_counted(const struct cli *cli, const struct chip *c, const struct graph *g,
                           const struct shape *s, const struct run_count *count);

#endif
