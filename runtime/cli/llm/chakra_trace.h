/* chakra_trace.h -- Chakra files as what ranks of a machine do. */
#ifndef CHAKRA_TRACE_H
#define CHAKRA_TRACE_H
#include "benches/llm/replay.h"
#include "cli/llm/chakra.h"

/* Ranks that belong together, by the name that nodes have for them. */
struct chakra_group {
    int64_t name;
    uint32_t *ranks; /* owned */
    uint32_t n;
};

struct chakra_groups {
    struct chakra_group *group; /* owned */
    size_t n, room;
};

/* Adds those of comm_group.json in the folder of `pattern`, if there is one. EXIT_INPUT. */
enum exit_code chakra_groups_read(const struct cli *cli, const char *pattern,
                                  struct chakra_groups *out);

/* Adds those that a node of a trace of PyTorch names in its values; others have none. */
void chakra_groups_of_values(const char *values, struct chakra_groups *out);

/* NULL: none has this name. */
const struct chakra_group *chakra_group_find(const struct chakra_groups *groups, int64_t name);
void chakra_groups_free(struct chakra_groups *groups);

/* What a trace is replayed with. */
struct chakra_rates {
    double ops_per_ns, bytes_per_ns; /* of a rank */
    bool recorded;                   /* durations as they stand */
    const struct chip *chip;
};

struct chakra_trace {
    struct chakra_file *file; /* owned: one of all ranks, or one each */
    size_t n_files;
    struct chakra_groups groups;
    struct replay replay; /* lists of its ranks are owned */
};

/* EXIT_OK; EXIT_INPUT or EXIT_SYSTEM after a message. Give back with chakra_trace_free(). */
enum exit_code chakra_trace_read(const struct cli *cli, const char *pattern, uint32_t ranks,
                                 const struct chakra_rates *rates, struct chakra_trace *out);
void chakra_trace_free(struct chakra_trace *t);

#endif
