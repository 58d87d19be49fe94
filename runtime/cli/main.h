/* main.h -- the command line of a simulator: what its generated main() calls. */
#ifndef MAIN_H
#define MAIN_H
#include "kernbench.h"

/*
 * Runs the command that `argv` asks for on `topo` (borrowed), or on the machine of its options;
 * `topo` may be NULL: then there must be one. Returns the exit code.
 */
int kb_cli_main(const kb_topology *topo, int argc, char **argv);

#endif
