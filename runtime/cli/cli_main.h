/* cli_main.h -- the command line of a simulator: what its generated main() calls. */
#ifndef MAIN_H
#define MAIN_H
#include "kernbench.h"

struct cli;

/*
 * Runs the command that `argv` asks for on `topo` (borrowed), or on the machine of its options;
 * `topo` may be NULL: then there must be one. Returns the exit code.
 */
int kb_cli_main(const kb_topology *topo, int argc, char **argv);

/*
 * Reads the words of a command line for `cli`, whose topo, info and program are set, and runs it;
 * returns the exit code. main_close() gives back what it took, unless a thread was left behind
 * (stop_leaves()).
 */
int main_line(struct cli *cli, int argc, char **argv);
void main_close(struct cli *cli);

#endif
