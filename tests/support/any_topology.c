/* any_topology.c -- what kbgen does with a YAML, without writing it. */
#include "any_topology.h"
#include <stdlib.h>
#include <string.h>
#include "gen/check.h"
#include "gen/load.h"
#include "gen/routes.h"

/* The topology first: a pointer to it is one to the whole. */
struct any {
    struct kb_topology topo;
    struct arena arena;
    struct diag diag;
    struct spec spec;
    struct routes routes;
};

const kb_topology *any_topology(const char *yaml)
{
    struct any *any = calloc(1, sizeof *any);
    const char *text;

    if (!any)
        return NULL;
    any->diag.out = stderr;
    text = arena_copy(&any->arena, yaml, strlen(yaml));
    spec_init(&any->spec, &any->arena, &any->diag);
    load_text(&any->spec, "topology", text, strlen(text));
    if (!check(&any->spec) || !make_routes(&any->routes, &any->spec, &any->arena)) {
        any_topology_free(&any->topo);
        return NULL;
    }
    any->topo = any->routes.topo;
    return &any->topo;
}

void any_topology_free(const kb_topology *topo)
{
    struct any *any = (struct any *)topo;

    if (!any)
        return;
    arena_release(&any->arena);
    free(any);
}
