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

/* Is it the same link in both SIPs, or one that leads out of both? */
static bool same_port(const struct kb_topology *t, uint32_t a, uint32_t b, size_t port)
{
    const struct port_row *x = &t->port_rows[(size_t)a * t->cubes * t->ports + port];
    const struct port_row *y = &t->port_rows[(size_t)b * t->cubes * t->ports + port];
    uint32_t to_x = x->cube - a * t->cubes, to_y = y->cube - b * t->cubes;

    if (x->flags != y->flags || x->ring != y->ring)
        return false;
    if (x->cube == NO_WHERE || y->cube == NO_WHERE || to_x >= t->cubes || to_y >= t->cubes)
        return (x->cube == NO_WHERE) == (y->cube == NO_WHERE) &&
               (to_x >= t->cubes) == (to_y >= t->cubes);
    return to_x == to_y && x->port == y->port;
}

static bool same_ports(const struct kb_topology *t, uint32_t a, uint32_t b)
{
    for (size_t port = 0; t->port_rows && port < (size_t)t->cubes * t->ports; port++)
        if (!same_port(t, a, b, port))
            return false;
    return true;
}

/* What leads out of a SIP does not matter: routes over rails have a table of their own. */
static bool are_alike(const struct routes *r, uint32_t a, uint32_t b)
{
    const struct kb_topology *t = &r->topo;
    size_t letters = (size_t)t->cubes * t->planes * N_EDGE_LETTERS;

    if (!same_ports(t, a, b))
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
