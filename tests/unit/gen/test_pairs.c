/* test_pairs.c -- the proof against deadlock walks few pairs of cubes: all that packets of any
 * other pair may wait for must be in its graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen/build.h"
#include "gen/circle.h"
#include "machine/vcs.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };

/* An edge of a route, and the VCs that its packets may own there. */
struct step {
    size_t link;
    struct vc_range vcs;
};

static void print(void *to, const char *line)
{
    (void)to;
    fprintf(stderr, "%s\n", line);
}

static uint32_t edge_of(const struct graph *g, size_t link)
{
    uint32_t edge = 0;

    while (edge < g->n_edges && g->edges[edge].link != link)
        edge++;
    return edge;
}

static bool has_arc(const struct graph *g, uint32_t from, uint32_t to)
{
    uint32_t at = g->first[from];

    while (at && g->arcs[at - 1].to != to)
        at = g->arcs[at - 1].next;
    return at != 0;
}

/* May packets own a VC of `a`, and then want one of `b`, for all that the graph knows? */
static void assert_waits(const struct graph *g, const struct step *a, const struct step *b)
{
    uint32_t from = edge_of(g, a->link), to = edge_of(g, b->link);

    assert_true(from < g->n_edges && to < g->n_edges);
    for (uint32_t i = a->vcs.first; i < a->vcs.end; i++)
        for (uint32_t k = b->vcs.first; k < b->vcs.end; k++)
            if (!has_arc(g, from * g->n_vcs + i, to * g->n_vcs + k))
                fail_msg("c%u %s > %s VC %u, and %s > %s VC %u", g->edges[from].from_cube,
                         g->edges[from].from, g->edges[from].to, i, g->edges[to].from,
                         g->edges[to].to, k);
}

/* The steps of a request, in a machine whose graph has as many VCs as its packets. */
static uint32_t walk(const struct kb_topology *t, const struct trip *trip, struct step *steps)
{
    struct route_place places[MOST] = {{.before = 0}};
    struct route_at at = walk_begin(t, trip);
    uint32_t n = 0, n_steps = 0;

    for (; n < MOST; at = walk_next(t, trip, at)) {
        places[n++].at = at;
        if (walk_segment(t, at)->exit == EXIT_END)
            break;
    }
    vcs_find_links(t, places, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct segment_row *seg = walk_segment(t, places[i].at);

        for (uint32_t k = 0; k < seg->n_hops; k++) {
            const struct hop_row *hop = &t->hops[seg->first_hop + k];
            uint8_t share = t->vcs_vary ? t->request_shares[seg->first_hop + k] : 0;

            if (hop->owner == LINK_NONE)
                continue;
            steps[n_steps].link = walk_link(t, (struct walk_edge){hop->owner, hop->back, hop->link},
                                            places[i].at.cube, trip);
            steps[n_steps++].vcs = vcs_range(
                t, share, t->request_vcs, 1, 0,
                share & VCS_BY_LINKS ? vcs_part_of_links(t, places, n, i, k, false) : 0, false);
        }
    }
    return n_steps;
}

/* All pairs of a cube with PEs and a slice; returns how many routes there are. */
static uint32_t check_pairs(const struct kb_topology *t, const struct graph *g)
{
    struct step steps[MOST];
    uint32_t routes = 0;

    for (uint32_t from = 0; from < sip_cubes(t); from++)
        for (uint32_t to = 0; to < sip_cubes(t); to++)
            for (uint32_t pe = 0; pe < kind_at(t, from)->pes; pe++) {
                struct trip trip =
                    walk_trip(t, src_pack(t, from, pe), dst_pack(t, to, 0), 0, false, 0, false);
                uint32_t n = walk(t, &trip, steps);

                for (uint32_t i = 0; i + 1 < n; i++)
                    assert_waits(g, &steps[i], &steps[i + 1]);
                routes++;
            }
    return routes;
}

static void check_machine(const char *yaml, enum routes_by by, uint32_t routes)
{
    struct build *b = calloc(1, sizeof *b);
    struct source source = {.file = "t", .text = yaml, .len = strlen(yaml)};

    assert_non_null(b);
    b->diag = (struct diag){.say = print, .program = "kbgen"};
    assert_true(build_read(b, &source) && build_tables(b));
    assert_int_equal(b->routes.topo.routes_by, by);
    assert_int_equal(b->routes.requests->n_vcs, b->routes.topo.request_vcs);
    assert_int_equal(check_pairs(&b->routes.topo, b->routes.requests), routes);
    arena_release(&b->arena);
    free(b);
}

#define ROUTERS(n) "kernbench: 3\nname: t\ncontention: {links: router, vcs: [" #n ", " #n "]}\n"
#define RING       "[{list: [c0-c1, c1-c2, c2-c3, c3-c4, c4-c0]}]\n"

/* What leaves a SIP behind one link has other parts of VCs in the next one than what does behind
 * none, or two: from each number of links ashore a route must be walked to every cube. */
static void each_number_of_links_ashore(void **state)
{
    (void)state;
    check_machine(ROUTERS(4) "sips: 2\ncube: {pes: 1}\nsip:\n  cubes: 5\n  net: " RING, ROUTES_HOPS,
                  100);
    check_machine(ROUTERS(4) "sips: 3\ncube: {pes: 1}\nfabric: {shape: grid, grid: {w: 3, h: 1}}\n"
                             "sip:\n  cubes: 5\n  net: " RING,
                  ROUTES_HOPS, 225);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_of_links_ashore),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
