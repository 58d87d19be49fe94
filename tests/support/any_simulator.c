/*
 * any_simulator.c -- the command line of a machine that is not compiled.
 *
 * usage: any_simulator FILE.yaml COMMAND...
 */
#include <stdio.h>
#include <stdlib.h>
#include "cli/main.h"
#include "kernbench.h"

int main(int argc, char **argv)
{
    kb_topology_source source = {.file = argc > 1 ? argv[1] : ""};
    const kb_topology *topo;
    char *messages = NULL;

    if (kb_topology_load(&source, &topo, &messages) != KB_OK) {
        fprintf(stderr, "%s", messages ? messages : "");
        return 3;
    }
    free(messages);
    return kb_cli_main(topo, argc - 1, argv + 1);
}
