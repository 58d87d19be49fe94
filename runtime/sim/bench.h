/* bench.h -- a run of a bench, as the sim/bench*.c share it. */
#ifndef BENCH_H
#define BENCH_H
#include "kernbench.h"

enum { VALUE_BYTES = 32, SHOWN_BYTES = 64, ALL_BYTES = 256 };

/* The value of an argument. */
struct value {
    bool given;
    int64_t integer; /* INT; DTYPE: kb_dtype; CHOICE: its place */
    double real;
    char text[VALUE_BYTES];
};

/* "x=@file.npy": an input that is read from a file. */
struct input_file {
    char *word;      /* owned */
    size_t name_len; /* the path is 2 bytes behind */
    bool used;
};

struct kb_bench_run {
    const kb_bench *bench;    /* borrowed */
    const kb_topology *topo;  /* borrowed */
    kb_sim *sim;              /* owned */
    struct value *values;     /* owned; bench->n_args */
    struct input_file *files; /* owned */
    size_t n_files;
    kb_tensor *tensors[KB_BENCH_TENSORS_MAX];
    kb_bench_role roles[KB_BENCH_TENSORS_MAX];
    size_t n_tensors;
    uint64_t seed, random;
    size_t stack_bytes; /* of the options */
    char *notes;        /* owned; NULL: none */
    kb_status status;   /* of the first call of setup() that failed */
    kb_error why;
    struct kb_bench_run *self; /* to note that in */
};

/* Reads "name=value" words into run->values; arguments without a word get their initial value.
 * "name=@path" of what is no argument goes into run->files. */
kb_status bench_read_words(kb_bench_run *run, const char *const *words, size_t n_words,
                           kb_error *why);

/* Reads the value of one argument, as it would stand behind its "name=". */
kb_status bench_read_value(const kb_bench_arg *arg, const char *text, struct value *out,
                           kb_error *why);

/* The place of the argument called `name` (`len` bytes) among those of `bench`, or -1. */
int bench_find_argument(const kb_bench *bench, const char *name, size_t len);

/* Runs code of the bench, `name` of it; KB_KERNEL_CRASHED with a text if that crashes. */
kb_status bench_call(const kb_bench_run *run, const char *name, void (*call)(void *arg), void *arg,
                     kb_error *why);

static inline uint64_t bench_n_elements(kb_shape shape)
{
    uint64_t n = 1;

    for (int64_t i = 0; i < shape.rank; i++)
        n *= (uint64_t)shape.dim[i];
    return n;
}

#endif
