/* any_topology.c -- what kbgen does with a YAML, without writing it. */
#include "any_topology.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const kb_topology *any_topology(const char *yaml)
{
    kb_topology_source source = {.file = "topology", .text = yaml, .nbytes = strlen(yaml)};
    const kb_topology *topo;
    char *messages;

    kb_topology_load(&source, &topo, &messages);
    if (messages)
        fputs(messages, stderr);
    free(messages);
    return topo;
}

void any_topology_free(const kb_topology *topo)
{
    kb_topology_free(topo);
}
