/* benches.h -- the benches that `run` knows: those of benches/, and of shared objects. */
#ifndef BENCHES_H
#define BENCHES_H
#include "cli/command.h"

extern const kb_bench *const benches[];
extern const size_t n_benches;

/* The length of FILE.so in FILE.so:NAME or FILE.so; 0: `name` is no shared object's bench. */
size_t bench_file_length(const char *name);

/* The bench of that name, or FILE.so:NAME; NULL after a message, with *code. */
const kb_bench *bench_find(const struct cli *cli, const char *name, enum exit_code *code);

/*
 * A bench that a program has of its own is found by its name from now on, until it is taken back:
 * then its row is the caller's again; NULL: there is none.
 */
struct bench_given {
    const kb_bench *bench; /* borrowed */
    struct bench_given *next;
};
void bench_give(struct bench_given *row);
struct bench_given *bench_take_back(const kb_bench *bench);

/* The benches of the program, or those of `file` if that is not NULL. */
enum exit_code bench_table(const struct cli *cli, const char *file, const kb_bench *const **table,
                           size_t *n);

/* The same bench without messages, for completion; NULL: there is none. */
const kb_bench *bench_known(const char *name);

#endif
