/* options.h -- reads kbgen's command line; prints help, manual page and completions. */
#ifndef OPTIONS_H
#define OPTIONS_H
#include "arena.h"
#include "diag.h"
#include <stdint.h>

/* What kbgen prints. */
enum output {
    OUTPUT_TABLES,
    OUTPUT_CONFIG,
    OUTPUT_KEYS,
    OUTPUT_NAME,
    OUTPUT_HASH,
    OUTPUT_COMPONENTS,
    OUTPUT_COMPONENT_CODE
};

/* The command line. Strings are borrowed from argv. */
struct options {
    enum output output;
    const char *file;
    const char **sets; /* in the order given */
    size_t n_sets;
    double limit_s;       /* 0: none */
    uint64_t limit_bytes; /* 0: none */
};

/* A `say` for which `to` is a FILE: see diag.h. */
void options_print(void *to, const char *line);

/* Says that memory is exhausted; returns the exit code. */
enum exit_code options_no_memory(void);

/* Reads it. After --help and the like, and after a mistake, the program ends here. */
void options_read(struct options *o, struct arena *arena, int argc, char **argv);

/* Flushes stdout. Returns `code`, or EXIT_SYSTEM if not all could be written. */
enum exit_code options_finish(enum exit_code code);

#endif
