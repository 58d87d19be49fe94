/* chakra.h -- traces as MLCommons Chakra has them: a file for each rank, a node for each operation.
 */
#ifndef CHAKRA_H
#define CHAKRA_H
#include "cli/llm/run.h"

/*
 * Writes what each operation of each layer took, as a chain of nodes: compute with its operations,
 * bytes and duration, and collectives with their bytes. Of `pattern` %d becomes the rank; without
 * it there is one file for all. Groups that are not all ranks go into comm_group.json beside it.
 *
 * each_fs  of run_each()
 * returns  EXIT_OK, or EXIT_SYSTEM after a message
 */
enum exit_code chakra_write(const struct cli *cli, const char *pattern, const struct graph *g,
                            const struct shape *s, const int64_t *each_fs);

/* A node as a file has it. */
enum chakra_type {
    CHAKRA_INVALID,
    CHAKRA_METADATA,
    CHAKRA_LOAD,
    CHAKRA_STORE,
    CHAKRA_COMPUTE,
    CHAKRA_SEND,
    CHAKRA_RECV,
    CHAKRA_COLLECTIVE
};

/* Attributes that are read. */
enum chakra_key {
    CHAKRA_IS_CPU,
    CHAKRA_OPS,
    CHAKRA_SIZE, /* bytes of tensors */
    CHAKRA_COMM_TYPE,
    CHAKRA_COMM_SIZE,
    CHAKRA_SRC,
    CHAKRA_DST,
    CHAKRA_TAG,
    CHAKRA_GROUP, /* a number, where pg_name is a name */
    CHAKRA_KEYS
};

struct chakra_node {
    uint64_t id, micros;
    char *name; /* owned, as all below */
    int type;
    uint64_t *deps;
    size_t n_deps;
    char *group, *values; /* pg_name, inputs.values; NULL: none */
    int64_t value[CHAKRA_KEYS];
    bool has[CHAKRA_KEYS];
};

/* What a rank's file has, in order of ids. */
struct chakra_file {
    char *name; /* owned */
    struct chakra_node *node;
    size_t n, room;
    uint64_t unread; /* attributes */
};
void chakra_file_free(struct chakra_file *f);

/* EXIT_OK; EXIT_INPUT or EXIT_SYSTEM after a message. `name` is taken. A version that is none of
 * those known is told. Give back with chakra_file_free(), also then. */
enum exit_code chakra_read(const struct cli *cli, char *name, struct chakra_file *out);

/* The name of an attribute. */
const char *chakra_key_name(enum chakra_key key);

/* The time between two instants of one clock in whole us, so that roundings do not add up. */
uint64_t chakra_micros(int64_t begin_fs, int64_t end_fs);

/* `pattern` with a rank in place of %d; NULL: it has another % in it. To be freed. */
char *chakra_path(const char *pattern, int64_t rank);

/* The path of comm_group.json in the folder of `pattern`; to be freed. */
char *chakra_groups_path(const char *pattern);

#endif
