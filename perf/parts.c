/*
 * parts.c -- what the parts of a replay on cube8 take.
 *
 * Reading the file (and adding each row), adding alone, sorting, running, asking for results;
 * what the whole process takes beyond that is writing the rows, and the start. In processor time.
 *
 * usage: parts FILE NAME ROUND; samples go to stdout (bench.h)
 */
#include "bench.h"
#include "cube8.h"
#include "cli/in/transactions.h"
#include <stdlib.h>

static void must(kb_status status)
{
    if (status == KB_OK)
        return;
    fprintf(stderr, "parts: status %d\n", status);
    exit(1);
}

/* Its requests; their offsets are not kept by a simulation, and have no effect. */
static kb_transaction *requests_of(const kb_sim *sim)
{
    uint64_t n = kb_sim_count(sim);
    kb_transaction *rows = malloc((n ? n : 1) * sizeof *rows);

    if (!rows)
        exit(5);
    for (uint64_t i = 0; i < n; i++)
        must(kb_sim_request(sim, i, &rows[i]));
    return rows;
}

static double add(kb_sim *sim, const kb_transaction *rows, uint64_t n)
{
    double begin = bench_processor_ns();

    for (uint64_t i = 0; i < n; i++)
        must(kb_sim_add(sim, &rows[i], NULL));
    return bench_processor_ns() - begin;
}

/* The rows of `*read` in a new simulation, which takes its place: added, but not read. */
static double add_again(kb_sim **read)
{
    uint64_t n = kb_sim_count(*read);
    kb_transaction *rows = requests_of(*read);
    double ns;

    kb_sim_free(*read);
    must(kb_sim_new(&cube8_topology, NULL, read));
    ns = add(*read, rows, n);
    free(rows);
    return ns;
}

/* As the command line does, in slices of so many events. */
static double run(kb_sim *sim)
{
    double begin = bench_processor_ns();
    kb_status status;

    while ((status = kb_sim_run(sim, 50000, NULL)) == KB_AGAIN)
        ;
    must(status);
    return bench_processor_ns() - begin;
}

/* The first step sorts rows that are in no order; one event more does not count. */
static double sort(kb_sim *sim)
{
    double begin = bench_processor_ns();

    kb_sim_run(sim, 1, NULL);
    return bench_processor_ns() - begin;
}

static double results(const kb_sim *sim)
{
    double begin = bench_processor_ns();
    kb_result r;

    for (uint64_t i = 0; i < kb_sim_count(sim); i++)
        must(kb_sim_result(sim, i, &r));
    return bench_processor_ns() - begin;
}

int main(int argc, char **argv)
{
    kb_sim *sim;
    double begin, read_ns, add_ns;
    int round;

    if (argc != 4) {
        fprintf(stderr, "usage: parts FILE NAME ROUND\n");
        return 2;
    }
    round = atoi(argv[3]);
    must(kb_sim_new(&cube8_topology, NULL, &sim));
    begin = bench_processor_ns();
    if (transactions_read(&cube8_topology, "parts", argv[1], true, sim, NULL, NULL) != EXIT_OK)
        return 3;
    read_ns = bench_processor_ns() - begin;
    add_ns = add_again(&sim);
    bench_sample(argv[2], "read", "ms", round, read_ns / 1e6);
    bench_sample(argv[2], "add", "ms", round, add_ns / 1e6);
    bench_sample(argv[2], "sort", "ms", round, sort(sim) / 1e6);
    bench_sample(argv[2], "run", "ms", round, run(sim) / 1e6);
    bench_sample(argv[2], "result", "ms", round, results(sim) / 1e6);
    kb_sim_free(sim);
    return 0;
}
