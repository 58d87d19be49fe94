/* sips.c -- which SIPs are alike: what holds for one of them holds for the others. */
#include "sips.h"
#include "cubes.h"
#include "machine/mesh.h"
#include <string.h>

/* Do `n` cubes of two SIPs have the same keys and parts? */
static bool same_cubes(const struct cubes *c, size_t a, size_t b, size_t n)
{
    return memcmp(&c->there[a], &c->there[b], n * sizeof *c->there) == 0 &&
           memcmp(&c->pes[a], &c->pes[b], n * sizeof *c->pes) == 0 &&
           memcmp(&c->kind[a], &c->kind[b], n * sizeof *c->kind) == 0;
}

static bool are_alike(const struct routes *r, uint32_t a, uint32_t b)
{
    const struct kb_topology *t = &r->topo;
    size_t letters = (size_t)t->cubes * t->planes * N_EDGE_LETTERS;

    if (t->port_rows && memcmp(&t->port_rows[(size_t)a * t->cubes * t->ports],
                               &t->port_rows[(size_t)b * t->cubes * t->ports],
                               (size_t)t->cubes * t->ports * sizeof *t->port_rows) != 0)
        return false;
    return same_cubes(r->found, (size_t)a * t->cubes, (size_t)b * t->cubes, t->cubes) &&
           (!t->has_gaps ||
            memcmp(&r->cube_edges[a * letters], &r->cube_edges[b * letters], letters) == 0);
}

uint32_t *find_alike_sips(const struct routes *r)
{
    uint32_t n = r->topo.sips, *first = arena_alloc(r->arena, n * sizeof *first);

    for (uint32_t sip = 0; sip < n; sip++)
        while (first[sip] < sip &&
               (first[first[sip]] < first[sip] || !are_alike(r, first[sip], sip)))
            first[sip]++;
    return first;
}
