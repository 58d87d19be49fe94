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

/* The time between two instants of one clock in whole us, so that roundings do not add up. */
uint64_t chakra_micros(int64_t begin_fs, int64_t end_fs);

/* `pattern` with a rank in place of %d; NULL: it has another % in it. To be freed. */
char *chakra_path(const char *pattern, int64_t rank);

/* The path of comm_group.json in the folder of `pattern`; to be freed. */
char *chakra_groups_path(const char *pattern);

#endif
