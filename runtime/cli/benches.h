/* benches.h -- the benches that `run` knows: the build makes the table from benches/. */
#ifndef BENCHES_H
#define BENCHES_H
#include "kernbench.h"

extern const kb_bench *const benches[];
extern const size_t n_benches;

#endif
