/*
 * homes.c -- where PEs have a slice of their own whose cube has none.
 *
 * It is in the nearest cube of their SIP that has slices: by the weight of the route of a write,
 * that is, of its steps from cube to cube (net_routes.c); of as near ones in the lowest. The PEs
 * that share such a cube take its slices in turn, in the order of their numbers, so that of each
 * cube only the cube and the rank of its first PE have to be kept.
 *
 * Example: c4 and c5 of 38 PEs each, nearest to c0, which has two slices: c4.pe0 has c0.slice0,
 * c4.pe1 c0.slice1, ..., c5.pe0, of rank 38, c0.slice0.
 */
#include "homes.h"
#include "nodes.h"
#include "machine/walk.h"

/* The overhead of the NoC of a cube. */
static int64_t noc_fs(const struct routes *r, uint32_t cube)
{
    return fs_of_ns(r->found->kinds[r->found->kind[cube]]->cube_noc_overhead_ns);
}

static int64_t wire_of_step(const struct routes *r, uint32_t cube, uint32_t exit)
{
    const struct kb_topology *t = &r->topo;

    return t->port_rows ? walk_cube_link(t, cube, walk_first_d2d(t) + exit)->wire_fs
                        : t->d2d_wire_fs + mesh_extra_fs(t, cube, exit);
}

/* The weight of the route of a write from a cube to another one. */
static int64_t weight_of(const struct routes *r, uint32_t from, uint32_t to)
{
    const struct kb_topology *t = &r->topo;
    int64_t weight = 0;
    uint32_t exit, next;

    for (uint32_t cube = from; cube != to; cube = next) {
        exit = mesh_step(t, 0, cube_is_odd(t, from), cube, from, to);
        next = walk_neighbour(t, cube, exit);
        weight += walk_port_fs(t, 0, cube, exit) + wire_of_step(r, cube, exit) +
                  walk_port_fs(t, 0, next, walk_far_side(t, cube, exit)) + noc_fs(r, next);
    }
    return weight;
}

static uint32_t nearest_with_slices(const struct routes *r, uint32_t from)
{
    const struct kb_topology *t = &r->topo;
    uint32_t first = from - from % t->cubes, best = NO_WHERE;
    int64_t least = 0;

    for (uint32_t to = first; to < first + t->cubes; to++) {
        int64_t weight;

        if (!r->found->there[to] || !r->kinds[r->found->kind[to]].slices ||
            !mesh_has_way(t, 0, from, to))
            continue;
        weight = weight_of(r, from, to);
        if (best == NO_WHERE || weight < least) {
            best = to;
            least = weight;
        }
    }
    return best;
}

void find_homes(struct routes *r)
{
    uint32_t cubes = r->n_cube_rows ? sim_cubes(&r->topo) : 0;
    uint32_t *shared = arena_alloc(r->arena, (cubes + 1) * sizeof *shared);

    for (uint32_t cube = 0; cube < cubes; cube++) {
        struct cube_row *row = &r->cube_rows[cube];
        bool own = !row->there || r->kinds[row->kind].slices || !pe_set_count(&row->pes);

        row->home = own ? NO_WHERE : nearest_with_slices(r, cube);
        if (row->home == NO_WHERE)
            continue;
        row->home_rank = shared[row->home];
        shared[row->home] += pe_set_count(&row->pes);
    }
}
