/*
 * windows.c -- a closed loop in C: windows of reads, added and run and read as columns, as
 * python_windows.py does.
 *
 * usage: windows MACHINE.yaml ROUNDS WINDOWS; samples go to stdout (bench.h), of the thread's own
 * processor time, and to stderr of each round the sum of the ends, which the loop in Python must
 * have, too.
 */
#include "bench.h"
#include "kernbench.h"
#include <inttypes.h>
#include <stdlib.h>

enum { WINDOW = 2000, PES = 64, WINDOW_FS = 1 << 30 };

static struct {
    kb_endpoint ends[2 * PES];
    size_t n_ends;
    uint32_t src[WINDOW], dst[WINDOW];
    uint64_t nbytes[WINDOW];
    int64_t issue_fs[WINDOW], end_fs[WINDOW];
    uint8_t status[WINDOW];
} rows;

static void keep(void *arg, const kb_endpoint *end)
{
    (void)arg;
    rows.ends[rows.n_ends++] = *end;
}

/* A window of reads from `now_fs` on, of which those that have completed behind it are summed. */
static kb_status window(kb_sim *sim, uint64_t number, int64_t now_fs, uint64_t *sum)
{
    const kb_transaction_columns in = {.ends = rows.ends,
                                       .n_ends = rows.n_ends,
                                       .src = rows.src,
                                       .dst = rows.dst,
                                       .nbytes = rows.nbytes,
                                       .issue_fs = rows.issue_fs};
    const kb_result_columns out = {.status = rows.status, .end_fs = rows.end_fs};
    kb_status status;

    for (uint32_t i = 0; i < WINDOW; i++) {
        rows.src[i] = i % PES;
        rows.dst[i] = (uint32_t)(PES + (i * 7 + number) % PES);
        rows.nbytes[i] = 256;
        rows.issue_fs[i] = now_fs + (int64_t)i * (WINDOW_FS / WINDOW / 2);
    }
    status = kb_sim_add_many(sim, &in, WINDOW, NULL, NULL);
    if (status == KB_OK)
        status = kb_sim_run_to(sim, now_fs + WINDOW_FS, false, NULL, NULL);
    if (status == KB_OK || status == KB_AGAIN)
        status = kb_sim_results(sim, number * WINDOW, WINDOW, &out);
    for (size_t i = 0; i < WINDOW; i++)
        *sum += rows.status[i] == KB_OK ? (uint64_t)rows.end_fs[i] : 0;
    return status == KB_PENDING ? KB_OK : status;
}

static bool run_round(const kb_topology *topo, int round, uint64_t windows)
{
    kb_sim *sim;
    uint64_t sum = 0;
    double begin = bench_processor_ns();
    kb_status status = kb_sim_new(topo, &(kb_options){.live = true}, &sim);

    for (uint64_t w = 0; w < windows && status == KB_OK; w++)
        status = window(sim, w, (int64_t)w * WINDOW_FS, &sum);
    bench_sample("closed loop", "C", "ns a transaction", round,
                 (bench_processor_ns() - begin) / (WINDOW * (double)windows));
    fprintf(stderr, "%" PRIu64 "\n", sum);
    kb_sim_free(sim);
    return status == KB_OK;
}

int main(int argc, char **argv)
{
    const kb_topology *topo;
    char *messages = NULL;
    bool ok = argc == 4 &&
              kb_topology_load(&(kb_topology_source){.file = argv[1]}, &topo, &messages) == KB_OK;

    if (!ok) {
        fprintf(stderr, "usage: windows MACHINE.yaml ROUNDS WINDOWS\n%s", messages ? messages : "");
        return 2;
    }
    ok = kb_endpoint_select(topo, "c*.pe*", 6, keep, NULL, NULL) == KB_OK &&
         kb_endpoint_select(topo, "c*.slice*", 9, keep, NULL, NULL) == KB_OK &&
         rows.n_ends == 2 * PES;
    for (int round = 1; ok && round <= atoi(argv[2]); round++)
        ok = run_round(topo, round, strtoull(argv[3], NULL, 10));
    kb_topology_free(topo);
    return ok ? 0 : 1;
}
