/*
 * any_simulator.c -- the command line of a machine that is not compiled.
 *
 * usage: any_simulator [--unchecked] FILE.yaml COMMAND...
 *
 * --unchecked: of routers, packets own any VC of a class, requests the only one. kbgen has proved
 * that its machines need no more than they have; without that they can stall.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli_main.h"
#include "kernbench.h"
#include "machine/tables.h"

static void leave_unchecked(const kb_topology *topo)
{
    struct kb_topology *open = (struct kb_topology *)(uintptr_t)topo;

    open->vcs_vary = 0;
    open->request_vcs = 1;
}

int main(int argc, char **argv)
{
    bool unchecked = argc > 1 && strcmp(argv[1], "--unchecked") == 0;
    kb_topology_source source = {0};
    const kb_topology *topo;
    char *messages = NULL;

    argc -= unchecked;
    argv += unchecked;
    source.file = argc > 1 ? argv[1] : "";

    if (kb_topology_load(&source, &topo, &messages) != KB_OK) {
        fprintf(stderr, "%s", messages ? messages : "");
        return 3;
    }
    free(messages);
    if (unchecked)
        leave_unchecked(topo);
    return kb_cli_main(topo, argc - 1, argv + 1);
}
