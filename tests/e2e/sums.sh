#!/usr/bin/env bash
# sums.sh -- in which order a product of floats is summed, bit by bit: docs/kernels.md "Phase 2 in numbers". Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
cd "$work" || exit

cat >num.c <<'C'
#include <tl.h>

/* The product of all 600 of K; the sum of three products of 200, by adds and in an accumulator. */
static void num(tl_ctx *tl, const kb_args *args)
{
    kb_shard of[5];

    for (int i = 0; i < 5; i++)
        of[i] = kb_tensor_shard(args->tensors[i], tl_pe(tl));
    tl_tensor *x = tl_load(tl, of[0].address, KB_F16, KB_SHAPE(16, 600));
    tl_tensor *y = tl_load(tl, of[1].address, KB_F16, KB_SHAPE(600, 16)), *sum = NULL;
    tl_acc *acc = tl_acc_new(tl, KB_F32, 16, 16);

    tl_store(tl, of[2].address, tl_dot(tl, x, y, .dtype_out = KB_F32));
    for (int i = 0; i < 3; i++) {
        int64_t strides[] = {1200, 2};
        tl_tensor *u = tl_load_strided(tl, of[0].address + 400u * i, KB_F16, KB_SHAPE(16, 200), strides);
        tl_tensor *v = tl_load(tl, of[1].address + 6400u * i, KB_F16, KB_SHAPE(200, 16));
        tl_tensor *part = tl_dot(tl, u, v, .dtype_out = KB_F32);

        sum = sum ? tl_add(tl, sum, part) : part;
        tl_dot_acc(tl, acc, u, v);
    }
    tl_store(tl, of[3].address, sum);
    tl_store(tl, of[4].address, tl_acc_store(tl, acc, KB_F32));
}

static void setup(kb_bench_run *run)
{
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};

    kb_bench_input(run, "a", KB_F16, KB_SHAPE(16, 600), copies, 1);
    kb_bench_input(run, "b", KB_F16, KB_SHAPE(600, 16), copies, 1);
    kb_bench_output(run, "whole", KB_F32, KB_SHAPE(16, 16), copies);
    kb_bench_output(run, "sum", KB_F32, KB_SHAPE(16, 16), copies);
    kb_bench_output(run, "acc", KB_F32, KB_SHAPE(16, 16), copies);
    kb_bench_launch(run, "num", num, NULL, 0);
}

const kb_bench bench_num = {.name = "num", .summary = "sums", .setup = setup};
KB_BENCHES(&bench_num);
C
"$SIM" cc num.c
call "$SIM" run ./num.so --dump d --quiet -o /dev/null
ok "products of 600 and of three times 200"

# words NAME: its elements, as bits, a line each
words()
{
    tail -c 1024 "d/out.$1.npy" | od -An -v -tx4 -w4 | tr -d ' '
}
equal "one chain for each 256 of K" c0f27bb4 "$(words whole | head -1)"
equal "three products, added" c0f27bb1 "$(words sum | head -1)"
words acc >acc && words sum | same acc -
ok "an accumulator has the bits of products that are added"
equal "so many differ from the product as a whole" 224 "$(paste <(words whole) acc | awk '$1 != $2' | wc -l)"
plan
