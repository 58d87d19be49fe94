/* benches.h -- the benches that `run` knows: the build makes the table from benches/. */
#ifndef BENCHES_H
#define BENCHES_H
#include "cli/command.h"

extern const kb_bench *const benches[];
extern const size_t n_benches;

/* The bench of that name; NULL after a message. */
const kb_bench *bench_find(const struct cli *cli, const char *name);

#endif
