/* fail_if.h -- --fail-if: conditions on results under which a command ends with exit code 1. */
#ifndef FAIL_IF_H
#define FAIL_IF_H
#include "cli/command.h"

/* Holds rows `from` to `to` against the conditions of the command line; answers go to its gates. */
void fail_if_judge(const struct cli *cli, const struct rows *rows, uint64_t from, uint64_t to);

#endif
