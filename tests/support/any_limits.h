/* any_limits.h -- machines of chance for products, and a command line for a machine. */
#ifndef ANY_LIMITS_H
#define ANY_LIMITS_H
#include "base/rng.h"
#include "cli/command.h"
#include "support/any_topology.h"
#include <stdio.h>

static inline int64_t any(struct rng *r, int64_t least, int64_t most)
{
    return least + (int64_t)(rng_next(r) % (uint64_t)(most - least + 1));
}

/* A machine whose limits are any: which of them holds a product back differs. */
static inline const kb_topology *any_limits(struct rng *r)
{
    char yaml[512];

    snprintf(
        yaml, sizeof yaml,
        "kernbench: 2\nname: limits\nsip: {cube_mesh: {w: 1, h: 1}}\n"
        "cube: {pes: %lld, hbm: {latency_ns: %lld, bw_gbs: %lld}, pe: {pe_cpu: {overhead_ns: "
        "%lld},\n"
        "       pe_dma: {read_channels: %lld, issue_ns: %lld}, pe_gemm: {mac: [%lld, 16, 8]}}}\n",
        (long long)any(r, 1, 8), (long long)any(r, 0, 300), (long long)any(r, 16, 512),
        (long long)any(r, 0, 20), (long long)any(r, 1, 16), (long long)any(r, 0, 30),
        (long long)any(r, 1, 32));
    return any_topology(yaml);
}

/* A command line for a machine. */
static inline struct cli cli_of(const kb_topology *topo, kb_engine engine)
{
    struct cli cli = {.topo = topo, .program = "test"};

    kb_topology_info(topo, &cli.info);
    cli.opts.engine = engine;
    cli.opts.quiet = true;
    return cli;
}

#endif
