/*
 * banks.c -- ns per read of slices with banks: small and large ones, at random places, of idle and
 * of busy slices; in processor time.
 *
 * All PEs of cube8 read their own slices. idle: the one before has ended; half: at half of
 * what the banks can do; full: all at time 0, of which each PE has 64 in flight.
 *
 * usage: banks ROWS ROUNDS [CASE]   samples to stdout (bench.h); what is wrong to stderr
 */
#include "bench.h"
#include "bench_banks.h"
#include <stdlib.h>
#include <string.h>

enum { PES = BENCH_BANKS_CUBES_PER_SIP * BENCH_BANKS_PES_PER_CUBE };

/* `gap_fs`: of the reads of one PE, on average. */
static const struct bench_case {
    const char *name;
    uint64_t nbytes;
    int64_t gap_fs;
} cases[] = {
    {"64 B idle", 64, INT64_C(400000000)},
    {"64 B half", 64, INT64_C(2000000)},
    {"64 B full", 64, 0},
    {"4 KB idle", 4096, INT64_C(400000000)},
    {"4 KB half", 4096, INT64_C(66000000)},
    {"4 KB full", 4096, 0},
};

static _Noreturn void fail(const struct bench_case *c, const char *what)
{
    fprintf(stderr, "banks: %s: %s\n", c->name, what);
    exit(1);
}

/* Places are multiples of the size, in the first GiB of a slice. */
static void add_rows(const struct bench_case *c, kb_sim *sim, size_t n)
{
    uint64_t seed = 7;
    int64_t t = 0;
    kb_error why;

    for (size_t i = 0; i < n; i++) {
        uint32_t pe = (uint32_t)(i % PES);
        kb_transaction r = {.issue_fs = t, .op = KB_READ, .nbytes = c->nbytes};

        r.src =
            (kb_endpoint){KB_PE, 0, pe / BENCH_BANKS_PES_PER_CUBE, pe % BENCH_BANKS_PES_PER_CUBE};
        r.dst = r.src;
        r.dst.kind = KB_SLICE;
        r.offset = bench_random(&seed) % ((UINT64_C(1) << 30) / c->nbytes) * c->nbytes;
        if (kb_sim_add(sim, &r, &why) != KB_OK)
            fail(c, why.text);
        if (c->gap_fs)
            t += (int64_t)(bench_random(&seed) % (uint64_t)(2 * c->gap_fs / PES + 1));
    }
}

static void run(const struct bench_case *c, size_t n, int round)
{
    kb_sim *sim;
    kb_error why = {""};
    double begin_ns;

    if (kb_sim_new(&bench_banks_topology, NULL, &sim) != KB_OK)
        fail(c, "no memory");
    add_rows(c, sim, n);
    begin_ns = bench_processor_ns();
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail(c, why.text);
    bench_sample(c->name, "read", "ns", round, (bench_processor_ns() - begin_ns) / (double)n);
    if (kb_sim_done(sim) != n)
        fail(c, "not all have ended");
    kb_sim_free(sim);
}

int main(int argc, char **argv)
{
    size_t rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    int rounds = argc > 2 ? atoi(argv[2]) : 0;

    if (!rows || !rounds) {
        fputs("usage: banks ROWS ROUNDS [CASE]\n", stderr);
        return 2;
    }
    for (int round = 1; round <= rounds; round++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (argc < 4 || strcmp(argv[3], cases[i].name) == 0)
                run(&cases[i], rows, round);
    return 0;
}
