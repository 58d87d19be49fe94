/* machine.h -- the machine that a command line simulates: compiled, or made of --machine and --set.
 */
#ifndef MACHINE_H
#define MACHINE_H
#include "cli/command.h"

/*
 * Makes the machine that the options name, if it is another than the compiled one, and lets
 * cli->topo and cli->info be that. Give it back with machine_close(), also after a failure.
 *
 * returns  EXIT_OK; after messages EXIT_USAGE (--set), EXIT_INPUT (the YAML) or EXIT_SYSTEM
 */
enum exit_code machine_open(struct cli *cli);
void machine_close(struct cli *cli);

#endif
