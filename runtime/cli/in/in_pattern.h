/* in_pattern.h -- the traffic that --pattern, --rate and their like ask for. */
#ifndef PATTERN_H
#define PATTERN_H
#include "cli/in/in_lists.h"
#include "cli/in/matrix.h"

struct pattern {
    kb_traffic traffic; /* without rate and seed */
    char op[24];        /* "read", "write", "70% read" */
    struct matrix matrix;
    struct list rates; /* list_rate() of each */
};

/*
 * Reads the options of `cli`; give back with pattern_free(), also after a failure.
 *
 * returns  EXIT_OK, or another after a message
 */
enum exit_code pattern_read(struct pattern *p, const struct cli *cli);
void pattern_free(struct pattern *p);

#endif
