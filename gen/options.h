/* options.h -- kbgen's command line, read, and what it tells of itself. */
#ifndef OPTIONS_H
#define OPTIONS_H
#include "arena.h"
#include "diag.h"

/* What is asked for besides --set. */
enum output { OUTPUT_TABLES, OUTPUT_CONFIG, OUTPUT_KEYS, OUTPUT_NAME, OUTPUT_HASH };

/* The command line. Strings are borrowed from argv. */
struct options {
    enum output output;
    const char *file;
    const char **sets; /* in the order given */
    size_t n_sets;
};

/* Reads it; --help and the like are answered, and mistakes named, and then the program ends. */
void options_read(struct options *o, struct arena *arena, int argc, char **argv);

/* Flushes stdout; what could not be written is not a success. */
enum exit_code options_finish(enum exit_code code);

#endif
