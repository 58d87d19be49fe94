/*
 * gate.h -- gates: what a command line asks of its results, and the exit code of the answer.
 *
 * --fail-if, --verify, --race and `diff` are gates. Each has three outcomes: met, which is a
 * failure (exit 1), not met (exit 0), and not decidable (exit 2), so that no gate is open because
 * its question has no answer. Of many answers one that is met decides; else one that is not
 * decidable.
 */
#ifndef GATE_H
#define GATE_H
#include "cli/exit.h"
#include <stdint.h>

struct cli;
struct number;

enum gate { GATE_NOT_MET, GATE_MET, GATE_UNDECIDED };

/* The operators of a comparison: a set of these. */
enum { GATE_LESS = 1, GATE_EQUAL = 2, GATE_GREATER = 4 };

enum { GATE_TEXT_BYTES = 512 };

/* What the gates of one command line have found. All zero is nothing. */
struct gates {
    uint64_t n_rows; /* that --fail-if was asked of */
    uint64_t n_met, n_undecided;
    char met[GATE_TEXT_BYTES];       /* the first: "kernel_ns is 70.255 in row 1" */
    char undecided[GATE_TEXT_BYTES]; /* the first: which gate, and why */
};

/* Is `value` less, equal or greater, as `ops` says, than `bound`? What is no number has no answer.
 */
enum gate gate_compare(const struct number *value, unsigned ops, const struct number *bound);

/* Counts an answer; the text is kept of the first of its kind. */
void gate_count(struct gates *gates, enum gate answer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds what the gates of one of many runs have found. */
void gate_add(struct gates *gates, const struct gates *of_one);

/* The run was ended early: what the gates of the command line ask of its rest has no answer. */
void gate_cut(const struct cli *cli, const char *things, uint64_t done, uint64_t total);

/* The exit code of a command that ended with `code`, after a message if a gate is not open. */
enum exit_code gate_end(const struct cli *cli, enum exit_code code);

#endif
