/* broken.c -- a simulator of cube8 whose benches do what they must not: for e2e/run.sh. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "cli/benches.h"
#include "cli/cli_main.h"
#include "cube8.h"
#include "phase2/math_op.h"
#include "tl.h"

enum { M = 3, N = 5, WIDE = 90000, DEEP = 1 << 20 };

static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

/* y = x / x, by the PEs that have a row. */
static void divide(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));

    if (x.shape.dim[0] == 0)
        return;
    tl_tensor *rows = tl_load(tl, x.address, KB_F32, x.shape);
    tl_store(tl, y.address, tl_div(tl, rows, rows));
}

/* Computes by itself, without a call, until the process ends. */
static void forever(void)
{
    for (volatile unsigned n = 0;; n = n + 1)
        ;
}

static void busy_kernel(tl_ctx *tl, const kb_args *args)
{
    (void)tl, (void)args;
    forever();
}

static void busy_reference(const kb_bench_run *run, double *const *t)
{
    (void)run, (void)t;
    forever();
}

static void declare(kb_bench_run *run)
{
    kb_bench_input(run, "x", KB_F32, KB_SHAPE(M, N), by_rows, 1);
    kb_bench_output(run, "y", KB_F32, KB_SHAPE(M, N), by_rows);
}

static void setup_divide(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "divide", divide, NULL, 0);
}

static void setup_busy(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "divide", divide, NULL, 0);
    kb_bench_launch(run, "busy", busy_kernel, NULL, 0);
}

static void all_ones(const kb_bench_run *run, double *const *t)
{
    (void)run;
    for (int i = 0; i < M * N; i++)
        t[1][i] = 1;
}

static void but_one(const kb_bench_run *run, double *const *t)
{
    all_ones(run, t);
    t[1][2 * N + 4] = 1.5;
}

/* The same of tensors so wide that several threads compare them, each its blocks. */
static void setup_wide(kb_bench_run *run)
{
    kb_bench_input(run, "x", KB_F32, KB_SHAPE(M, WIDE), by_rows, 1);
    kb_bench_output(run, "y", KB_F32, KB_SHAPE(M, WIDE), by_rows);
    kb_bench_launch(run, "divide", divide, NULL, 0);
}

static void but_two(const kb_bench_run *run, double *const *t)
{
    (void)run;
    for (int i = 0; i < M * WIDE; i++)
        t[1][i] = 1;
    t[1][WIDE + 7] = 1.5;
    t[1][2 * WIDE + 7] = 3;
}

static void but_nan(const kb_bench_run *run, double *const *t)
{
    all_ones(run, t);
    t[1][N + 1] = NAN;
}

static void zeros(kb_bench_run *run, double *values, uint64_t n)
{
    (void)run, (void)values, (void)n;
}

static void setup_zeros(kb_bench_run *run)
{
    kb_bench_input_by(run, "x", KB_F32, KB_SHAPE(M, N), by_rows, zeros);
    kb_bench_output(run, "y", KB_F32, KB_SHAPE(M, N), by_rows);
    kb_bench_launch(run, "divide", divide, NULL, 0);
}

static void all_nan(const kb_bench_run *run, double *const *t)
{
    (void)run;
    for (int i = 0; i < M * N; i++)
        t[1][i] = NAN;
}

/* -- a library that computes wrong ---------------------------------------------------------- */

bool __real_math_run(const struct op *op, unsigned char *out);
bool __wrap_math_run(const struct op *op, unsigned char *out);

/* The linker puts this in the place of math_run(): element 2 of every product and sum is spoiled.
 */
bool __wrap_math_run(const struct op *op, unsigned char *out)
{
    bool ok = __real_math_run(op, out);

    if (ok && (op->math == TL_MUL || op->math == TL_ADD))
        kb_element_set((kb_dtype)op->out.dtype, out, 2,
                       kb_element((kb_dtype)op->out.dtype, out, 2) + 0.5);
    return ok;
}

/* y = x * x + x * x, by the PEs that have a row. */
static void twice(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));

    if (x.shape.dim[0] == 0)
        return;
    tl_tensor *rows = tl_load(tl, x.address, KB_F32, x.shape);
    tl_tensor *negative = tl_neg(tl, rows);
    tl_tensor *square = tl_mul(tl, negative, negative);
    tl_store(tl, y.address, tl_add(tl, square, square));
}

static void setup_twice(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "twice", twice, NULL, 0);
}

/* -- kernels that fail ---------------------------------------------------------------------- */

static void idle(tl_ctx *tl, const kb_args *args)
{
    (void)tl, (void)args;
}

/* Every second PE has something to do: it reads the first row. */
static void copy_half(tl_ctx *tl, const kb_args *args)
{
    uint32_t owner = 0;

    while (kb_tensor_shard(args->tensors[0], owner).shape.dim[0] == 0)
        owner++;
    kb_shard x = kb_tensor_shard(args->tensors[0], owner);
    if (tl_pe(tl) % 2 == 0)
        tl_free(tl, tl_load(tl, x.address, KB_F32, x.shape));
}

static void peek(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));

    if (x.shape.dim[0] > 0) {
        tl_tensor *rows = tl_load(tl, x.address, KB_F32, x.shape);
        tl_data(tl, tl_neg(tl, rows));
    }
}

static void give_up(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 9)
        tl_fail(tl, "this is as far as it goes");
}

static int dig(volatile char *above, int depth)
{
    volatile char here[4096];

    here[0] = above[0];
    return depth == 0 ? here[0] : dig(here, depth - 1) + here[0];
}

static void dig_deep(tl_ctx *tl, const kb_args *args)
{
    volatile char top[1] = {1};

    (void)args;
    if (tl_pe(tl) == 3 && dig(top, DEEP) == 0)
        tl_fail(tl, "not deep enough");
}

/* Each PE writes its copy of the result, PE 13 a wrong one. */
static void write_copy(tl_ctx *tl, const kb_args *args)
{
    kb_shard y = kb_tensor_shard(args->tensors[0], tl_pe(tl));

    tl_store(tl, y.address, tl_full(tl, KB_F32, y.shape, tl_pe(tl) == 13 ? 1.5 : 1));
}

static void setup_copies(kb_bench_run *run)
{
    static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};

    kb_bench_output(run, "y", KB_F32, KB_SHAPE(2, 3), everywhere);
    kb_bench_launch(run, "write_copy", write_copy, NULL, 0);
}

static void ones(const kb_bench_run *run, double *const *t)
{
    (void)run;
    for (int i = 0; i < 6; i++)
        t[0][i] = 1;
}

/* -- kernels that crash: PE 3 does, after a call that goes well ------------------------------ */

static int *volatile nowhere = (int *)16;
static volatile int none;

static void write_nowhere(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_program_id(tl, 0) == 3)
        *nowhere = 1;
}

static void divide_by_none(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_program_id(tl, 0) == 3)
        none = 100 / none;
}

static void give_in(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_program_id(tl, 0) == 3)
        abort();
}

static void free_twice(tl_ctx *tl, const kb_args *args)
{
    void *volatile text = malloc(24);
    void *volatile same = text;

    (void)args;
    free(text);
    if (tl_program_id(tl, 0) == 3)
        free(same);
}

static void reach_unreachable(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_program_id(tl, 0) == 3)
        __builtin_trap();
}

/* Only the lowest byte of it is written: beyond the stack, and beyond the guard. */
static __attribute__((noinline)) int touch_far(void)
{
    volatile char frame[900 << 10];

    __asm__ volatile("" : : "r"(frame));
    frame[0] = 1;
    return frame[0];
}

static void far_frame(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_program_id(tl, 0) == 3 && touch_far() == 0)
        tl_fail(tl, "not there");
}

static __attribute__((noinline)) int touch_all(void)
{
    volatile char frame[512 << 10];
    int sum = 0;

    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (char)i;
    for (size_t i = 0; i < sizeof frame; i++)
        sum += frame[i];
    return sum;
}

static void large_frame(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_program_id(tl, 0) == 3 && touch_all() == 1)
        tl_fail(tl, "not there");
}

static void *call_elsewhere(void *tl)
{
    tl_num_programs((tl_ctx *)tl, 0);
    return tl;
}

static void take_thread(tl_ctx *tl, const kb_args *args)
{
    pthread_t thread;

    (void)args;
    if (tl_program_id(tl, 0) == 3 && pthread_create(&thread, NULL, call_elsewhere, tl) == 0)
        pthread_join(thread, NULL);
}

/* PE 0 writes all rows; PE 1 a part of the first once more, which it then reads. */
static void both_write(tl_ctx *tl, const kb_args *args, bool meet)
{
    kb_shard y, first = {0};

    for (uint32_t pe = 0; pe < 64; pe++) {
        y = kb_tensor_shard(args->tensors[1], pe);
        if (y.shape.dim[0] == 0)
            continue;
        if (first.shape.rank == 0)
            first = y;
        if (tl_pe(tl) == 0)
            tl_store(tl, y.address, tl_full(tl, KB_F32, y.shape, 1));
    }
    if (meet)
        tl_barrier(tl, ((tl_group){.n = 2}));
    if (tl_pe(tl) == 1) {
        tl_store(tl, first.address + 8, tl_full(tl, KB_F32, KB_SHAPE(3), 1));
        tl_load(tl, first.address + 8, KB_F32, KB_SHAPE(2));
    }
}

static void race_on(tl_ctx *tl, const kb_args *args)
{
    both_write(tl, args, false);
}

static void take_turns(tl_ctx *tl, const kb_args *args)
{
    both_write(tl, args, true);
}

/* Where the first PE that has a part of a tensor has it. */
static uint64_t first_part(const kb_tensor *x)
{
    uint32_t pe = 0;

    while (kb_tensor_shard(x, pe).shape.dim[0] == 0)
        pe++;
    return kb_tensor_shard(x, pe).address;
}

/* Behind a row of x, of 256 bytes, lies one of y: 8 bytes of that, and 4 by a stride of 32. */
static void reach_beyond(tl_ctx *tl, const kb_args *args)
{
    uint64_t x = first_part(args->tensors[0]);
    tl_tensor *column;

    for (int i = 0; i < 2; i++)
        tl_free(tl, tl_load(tl, x, KB_F32, KB_SHAPE(66)));
    column = tl_load_strided(tl, x, KB_F32, KB_SHAPE(9), ((int64_t[]){32}));
    tl_store_strided(tl, x, column, ((int64_t[]){32}));
}

/* Behind a row of x, of 20 bytes, lies padding, of 236, and there is some behind y. */
static void fill_padding(tl_ctx *tl, const kb_args *args)
{
    uint64_t x = first_part(args->tensors[0]);

    tl_store(tl, x, tl_full(tl, KB_F32, KB_SHAPE(64), 1));
    tl_store_strided(tl, x, tl_full(tl, KB_F32, KB_SHAPE(8), 1), ((int64_t[]){32}));
    tl_store_strided(tl, x, tl_full(tl, KB_F32, KB_SHAPE(2), 1), ((int64_t[]){512}));
}

/* Long enough for Ctrl-C. */
static void load_on(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));

    for (int i = 0; x.shape.dim[0] > 0 && i < 3 * 1000 * 1000; i++)
        tl_free(tl, tl_load(tl, x.address, KB_F32, x.shape));
}

#define CRASHES(kernel)                                                                            \
    static void setup_##kernel(kb_bench_run *run)                                                  \
    {                                                                                              \
        declare(run);                                                                              \
        kb_bench_launch(run, #kernel, kernel, NULL, 0);                                            \
    }

CRASHES(write_nowhere)
CRASHES(divide_by_none)
CRASHES(give_in)
CRASHES(free_twice)
CRASHES(reach_unreachable)
CRASHES(far_frame)
CRASHES(large_frame)
CRASHES(take_thread)

static void setup_idle(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "idle", idle, NULL, 0);
}

static void setup_half(kb_bench_run *run)
{
    static const uint32_t pes[] = {3, 4, 5, 6, 9};

    declare(run);
    kb_bench_launch(run, "copy_half", copy_half, pes, 5);
}

/* It has nothing that could be verified. */
static void setup_no_output(kb_bench_run *run)
{
    kb_bench_input(run, "x", KB_F32, KB_SHAPE(M, N), by_rows, 1);
    kb_bench_launch(run, "copy_half", copy_half, NULL, 0);
}

static void expect_nothing(const kb_bench_run *run, double *const *t)
{
    (void)run, (void)t;
}

static void setup_peek(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "peek", peek, NULL, 0);
}

static void setup_give_up(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "divide", divide, NULL, 0);
    kb_bench_launch(run, "give_up", give_up, NULL, 0);
}

static void setup_dig(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "dig_deep", dig_deep, NULL, 0);
}

static void setup_load_on(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "divide", divide, NULL, 0);
    kb_bench_launch(run, "load_on", load_on, NULL, 0);
}

static const uint32_t first_two[] = {0, 1};

static void setup_racy(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "race_on", race_on, first_two, 2);
}

static void setup_turns(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "take_turns", take_turns, first_two, 2);
}

static void setup_beyond(kb_bench_run *run)
{
    kb_bench_input(run, "x", KB_F32, KB_SHAPE(M, 64), by_rows, 1);
    kb_bench_input(run, "y", KB_F32, KB_SHAPE(M, 64), by_rows, 2);
    kb_bench_launch(run, "reach_beyond", reach_beyond, first_two, 1);
}

static void setup_padding(kb_bench_run *run)
{
    declare(run);
    kb_bench_launch(run, "fill_padding", fill_padding, first_two, 1);
}

static void setup_large(kb_bench_run *run)
{
    kb_bench_output(run, "large", KB_F64, KB_SHAPE(65536, 65536, 65536), by_rows);
    setup_divide(run);
}

static void setup_many(kb_bench_run *run)
{
    for (int i = 0; i <= KB_BENCH_TENSORS_MAX; i++)
        kb_bench_output(run, "one", KB_F32, KB_SHAPE(1), by_rows);
}

/* Chooses by trying, which it tells. */
static void setup_choosy(kb_bench_run *run)
{
    kb_error why;
    int64_t fs;

    if (kb_bench_choice(run, "way") == 0) {
        fputs("chosen once\n", stderr);
        kb_bench_try(run, "way", "all", &fs, &why);
        kb_bench_set(run, "way", "first");
    }
    declare(run);
    kb_bench_launch(run, "divide", divide, first_two, kb_bench_choice(run, "way") == 1);
}

#define BENCH(id, how, what)                                                                       \
    static const kb_bench bench_##id = {                                                           \
        .name = #id, .summary = "broken", .setup = how, .reference = what};

BENCH(good, setup_divide, all_ones)
BENCH(wrong, setup_divide, but_one)
BENCH(wide, setup_wide, but_two)
BENCH(busy, setup_busy, all_ones)
BENCH(busy_ref, setup_divide, busy_reference)
BENCH(no_nan, setup_divide, but_nan)
BENCH(nan, setup_zeros, all_nan)
BENCH(unwritten, setup_idle, all_ones)
BENCH(half, setup_half, all_ones)
BENCH(no_output, setup_no_output, expect_nothing)
BENCH(peek, setup_peek, all_ones)
BENCH(give_up, setup_give_up, all_ones)
BENCH(dig, setup_dig, all_ones)
BENCH(load_on, setup_load_on, all_ones)
BENCH(racy, setup_racy, all_ones)
BENCH(turns, setup_turns, all_ones)
BENCH(beyond, setup_beyond, expect_nothing)
BENCH(padding, setup_padding, all_ones)
BENCH(large, setup_large, all_ones)
BENCH(many, setup_many, all_ones)
BENCH(spoiled, setup_twice, all_ones)
BENCH(copies, setup_copies, ones)
BENCH(write_nowhere, setup_write_nowhere, all_ones)
BENCH(divide_by_none, setup_divide_by_none, all_ones)
BENCH(give_in, setup_give_in, all_ones)
BENCH(free_twice, setup_free_twice, all_ones)
BENCH(reach_unreachable, setup_reach_unreachable, all_ones)
BENCH(far_frame, setup_far_frame, all_ones)
BENCH(large_frame, setup_large_frame, all_ones)
BENCH(take_thread, setup_take_thread, all_ones)

static const kb_bench_arg args_of_choosy[] = {
    {"way", KB_ARG_CHOICE, "auto", 0, 0, "auto first all", "which PEs"},
};

static const kb_bench bench_choosy = {.name = "choosy",
                                      .summary = "broken",
                                      .args = args_of_choosy,
                                      .n_args = 1,
                                      .setup = setup_choosy,
                                      .reference = all_ones};

const kb_bench *const benches[] = {
    &bench_choosy,    &bench_good,          &bench_wrong,
    &bench_no_nan,    &bench_nan,           &bench_unwritten,
    &bench_no_output, &bench_peek,          &bench_give_up,
    &bench_dig,       &bench_load_on,       &bench_large,
    &bench_many,      &bench_half,          &bench_spoiled,
    &bench_racy,      &bench_turns,         &bench_wide,
    &bench_copies,    &bench_write_nowhere, &bench_divide_by_none,
    &bench_give_in,   &bench_free_twice,    &bench_reach_unreachable,
    &bench_far_frame, &bench_large_frame,   &bench_take_thread,
    &bench_busy,      &bench_busy_ref,      &bench_beyond,
    &bench_padding,
};
const size_t n_benches = sizeof benches / sizeof *benches;

int main(int argc, char **argv)
{
    return kb_cli_main(&cube8_topology, argc, argv);
}
