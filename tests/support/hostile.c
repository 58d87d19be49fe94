/* hostile.c -- a simulator of cube8 whose benches have names full of signs: for e2e/hostile.sh. */
#include "cli/benches.h"
#include "cli/cli_main.h"
#include "cube8.h"
#include "tl.h"

/* tests/hostile/hostile.py has the same text, with a letter behind it for what it names. */
#define SIGNS                                                                                      \
    "\"it's\" "                                                                                    \
    "</title><script>&amp;]]>--\\%n%s,;|\n\r\t\033[31m\302\233\303\244\360\237\230\200\377"

enum { N = 8 };

static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

static void declare(kb_bench_run *run, kb_kernel kernel)
{
    kb_bench_input(run, "x", KB_F32, KB_SHAPE(2, N), by_rows, 1);
    kb_bench_output(run, "y", KB_F32, KB_SHAPE(2, N), by_rows);
    kb_bench_launch(run, SIGNS "k", kernel, NULL, 0);
}

/* y = x, by the PEs that have a row. The call has the line of a source named by signs. */
#line 1 "\"<b>'&%n\\ \033[31m.c"
static void copy(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));

    if (x.shape.dim[0] > 0)
        tl_store(
            tl, y.address,
            tl_add(tl, tl_load(tl, x.address, KB_F32, x.shape), tl_full(tl, KB_F32, x.shape, 0)));
}

/* PEs 0 and 1 write the first row of y. */
static void race_on(tl_ctx *tl, const kb_args *args)
{
    uint32_t owner = 0;

    while (kb_tensor_shard(args->tensors[1], owner).shape.dim[0] == 0)
        owner++;
    if (tl_pe(tl) < 2)
        tl_store(tl, kb_tensor_shard(args->tensors[1], owner).address,
                 tl_full(tl, KB_F32, KB_SHAPE(1, N), 1));
}

/* PE 0 waits for a message that no PE sends. */
static void wait_on(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        tl_recv(tl, 1, 0, KB_F32, KB_SHAPE(N));
}

static void give_up(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        tl_fail(tl, SIGNS "w");
}

static void setup_copy(kb_bench_run *run)
{
    declare(run, copy);
}

static void setup_race(kb_bench_run *run)
{
    declare(run, race_on);
}

static void setup_wait(kb_bench_run *run)
{
    declare(run, wait_on);
}

static void setup_fail(kb_bench_run *run)
{
    declare(run, give_up);
}

static void same(const kb_bench_run *run, double *const *t)
{
    (void)run;
    for (int i = 0; i < 2 * N; i++)
        t[1][i] = t[0][i];
}

static const kb_bench_arg args[] = {
    {.name = SIGNS "a", .type = KB_ARG_INT, .initial = "1", .min = 1, .max = 9, .help = SIGNS "h"},
};

#define BENCH(word)                                                                                \
    {                                                                                              \
        .name = #word, .summary = SIGNS "s", .args = args, .n_args = 1, .setup = setup_##word,     \
        .reference = same                                                                          \
    }

static const kb_bench bench_copy = BENCH(copy), bench_race = BENCH(race), bench_wait = BENCH(wait),
                      bench_fail = BENCH(fail);
const kb_bench *const benches[] = {&bench_copy, &bench_race, &bench_wait, &bench_fail};
const size_t n_benches = sizeof benches / sizeof *benches;

int main(int argc, char **argv)
{
    return kb_cli_main(&cube8_topology, argc, argv);
}
