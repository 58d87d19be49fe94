/*
 * router.c -- what a network of routers costs: uniform traffic on a mesh of 4 x 4, packet by packet
 * and flit by flit, by the engine that is compiled for the machine and by the one for any machine.
 *
 * usage: router ROUNDS [CASE]; samples go to stdout (bench.h), what is wrong to stderr. CASE is
 * "packets", "flits", with "loaded" behind it: ns per packet of that run alone, for a profiler.
 */
#include "bench.h"
#include "bench_router_flits.h"
#include "bench_router_packets.h"
#include "kernbench.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 4, NODES = SIDE * SIDE, FLIT_BYTES = 16, FLITS = 20, PACKETS = 40000 };

/* Of flits a cycle and node: 70 % of what the mesh can carry with the buffers of either machine. */
static const double rate = 0.35;

static void must(kb_status status, const char *what)
{
    if (status == KB_OK)
        return;
    fprintf(stderr, "router: status %d: %s\n", (int)status, what);
    exit(1);
}

/* Adds packets in order of time, each from a node that sends in that cycle to any node. */
static void add_packets(kb_sim *sim)
{
    uint64_t seed = 7, odds = (uint64_t)(rate / FLITS * 18446744073709551615.0), n = 0;

    for (int64_t cycle = 0; n < PACKETS; cycle++)
        for (uint32_t node = 0; node < NODES; node++) {
            kb_transaction r = {.op = KB_WRITE, .issue_fs = cycle * 1000000};

            if (bench_random(&seed) > odds)
                continue;
            r.src = (kb_endpoint){KB_PE, 0, (uint32_t)node, 0};
            r.dst = (kb_endpoint){KB_SRAM, 0, (uint32_t)(bench_random(&seed) % NODES), 0};
            r.nbytes = FLITS * FLIT_BYTES;
            must(kb_sim_add(sim, &r, NULL), "a packet is refused");
            n++;
        }
}

/* Returns ns of processor time per packet. */
static double run(const kb_topology *topo)
{
    kb_sim *sim;
    double begin, ns;

    must(kb_sim_new(topo, NULL, &sim), "no simulation");
    add_packets(sim);
    begin = bench_processor_ns();
    must(kb_sim_run(sim, 0, NULL), "a run");
    ns = bench_processor_ns() - begin;
    kb_sim_free(sim);
    return ns / PACKETS;
}

struct machine {
    const char *name;
    const kb_topology *compiled, *loaded;
    double segments; /* of a packet */
};

/* The same machine, from its resolved keys, without a compiler. */
static const kb_topology *load(const kb_topology *compiled)
{
    kb_topology_source source = {.file = "machine"};
    kb_info info;
    const kb_topology *topo;

    kb_topology_info(compiled, &info);
    source.text = info.config;
    source.nbytes = strlen(source.text);
    must(kb_topology_load(&source, &topo, NULL), "the machine is not loaded");
    return topo;
}

static void sample(const struct machine *m, const char *of, const char *unit, int round,
                   double value)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", m->name, of);
    bench_sample("router", name, unit, round, value);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const char *wanted = argc > 2 ? argv[2] : NULL;
    struct machine machines[] = {
        {"packets", &bench_router_packets_topology, load(&bench_router_packets_topology), 1},
        {"flits", &bench_router_flits_topology, load(&bench_router_flits_topology), FLITS},
    };
    bool loaded = argc > 3;

    for (int i = 0; i < 2 && wanted; i++)
        if (strcmp(wanted, machines[i].name) == 0)
            printf("%.1f\n", run(loaded ? machines[i].loaded : machines[i].compiled));
    for (int round = 1; round <= rounds && !wanted; round++)
        for (int i = 0; i < 2; i++) {
            const struct machine *m = &machines[i];
            double compiled_ns = run(m->compiled), loaded_ns = run(m->loaded);

            sample(m, "", "ns", round, compiled_ns / m->segments);
            sample(m, " rate", "M/s", round, 1e3 * m->segments / compiled_ns);
            sample(m, " loaded", "ratio", round, loaded_ns / compiled_ns);
        }
    return 0;
}
