/* binding.h -- notes about numbers of the machine that kernels wait for. */
#ifndef BINDING_H
#define BINDING_H
#include "kernbench.h"

struct cli;

/* Says which key a launch waits for, with what it gains if that is twice as good. Runs the bench
 * again for each key, so it is for runs that are complete. */
void binding_notes(const struct cli *cli, const kb_bench *bench, const kb_bench_run *run);

#endif
