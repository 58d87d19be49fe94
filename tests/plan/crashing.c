/* crashing.c -- the bench gemm, whose process dies on one machine of a hundred. */
#include "../../benches/gemm.c"
#include <signal.h>
#include <string.h>

static void find(void *arg, const kb_key *key)
{
    if (strcmp(key->path, "cube.noc.bw_gbs") == 0)
        *(double *)arg = key->value;
}

static void setup_crashing(kb_bench_run *run)
{
    double gbs = 0;

    kb_topology_keys(kb_bench_topology(run), find, &gbs);
    if ((long)gbs % 100 == 50)
        raise(SIGABRT);
    bench_gemm.setup(run);
}

const kb_bench bench_crashing = {.name = "crashing",
                                 .summary = "gemm, and a crash where cube.noc.bw_gbs ends in 50",
                                 .args = args_of_gemm,
                                 .n_args = sizeof args_of_gemm / sizeof *args_of_gemm,
                                 .setup = setup_crashing};
KB_BENCHES(&bench_crashing);
