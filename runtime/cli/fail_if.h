/* fail_if.h -- --fail-if: conditions on results under which a command ends with exit code 1. */
#ifndef FAIL_IF_H
#define FAIL_IF_H
#include "cli/command.h"

enum { FAIL_IF_TEXT_BYTES = 512 };

/* What the conditions of one command line have found. All zero is nothing. */
struct fail_if {
    uint64_t n_rows;                /* that were judged */
    uint64_t n_met;                 /* conditions, counted in each row */
    char first[FAIL_IF_TEXT_BYTES]; /* the first of them: "kernel_ns is 70.255, row 1" */
    char wrong[FAIL_IF_TEXT_BYTES]; /* a condition that no row can be held against, and why */
};

/* Holds rows `from` to `to` against the conditions of the command line. */
void fail_if_judge(const struct cli *cli, const struct rows *rows, uint64_t from, uint64_t to);

/* The exit code of a command that ended with `code`, after a message if a condition was met. */
enum exit_code fail_if_end(const struct cli *cli, enum exit_code code);

#endif
