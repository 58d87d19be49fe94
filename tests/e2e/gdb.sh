#!/usr/bin/env bash
# gdb.sh -- gdb shows tensors: tools/gdb.py. Prints TAP.
#
# B names the build, CC its compiler. Needs gdb, and leave to trace a process.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
cd "$work" || exit

cat >look.c <<'C'
#include <tl.h>

__attribute__((noinline)) static void stop_in_look(tl_tensor *x, tl_tensor *y, tl_tensor *none)
{
    __asm__ volatile("" : : "r"(x), "r"(y), "r"(none) : "memory");
}

static void look(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, kb_tensor_shard(args->tensors[0], 0).address, KB_I32, KB_SHAPE(2, 3));

    stop_in_look(x, tl_add(tl, x, x), NULL);
    stop_in_look(tl_scalar(tl, 0.5), tl_alloc(tl, KB_BF16, KB_SHAPE(4)), x);
    tl_tensor *kinds[] = {tl_load(tl, kb_tensor_shard(args->tensors[1], 0).address, KB_F8E4M3, KB_SHAPE(5)),
                          tl_load(tl, kb_tensor_shard(args->tensors[2], 0).address, KB_F8E5M2, KB_SHAPE(5)),
                          tl_load(tl, kb_tensor_shard(args->tensors[3], 0).address, KB_I4, KB_SHAPE(2, 2)),
                          tl_load(tl, kb_tensor_shard(args->tensors[4], 0).address, KB_F64, KB_SHAPE(2))};
    for (int i = 0; i < 4; i++)
        tl_print(tl, kinds[i]);
    stop_in_look(kinds[0], kinds[1], kinds[2]);
    stop_in_look(kinds[3], NULL, NULL);
}

static void fill_wide(kb_bench_run *run, double *values, uint64_t n)
{
    const double of[] = {-7, 1.0 / 3, 6, -0.001, 1e6};

    (void)run;
    for (uint64_t i = 0; i < n; i++)
        values[i] = of[i];
}

static void fill(kb_bench_run *run, double *values, uint64_t n)
{
    (void)run;
    for (uint64_t i = 0; i < n; i++)
        values[i] = (double)i;
}

static void setup(kb_bench_run *run)
{
    static const uint32_t one[] = {0};
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};

    kb_bench_input_by(run, "x", KB_I32, KB_SHAPE(2, 3), copies, fill);
    kb_bench_input_by(run, "e4m3", KB_F8E4M3, KB_SHAPE(5), copies, fill_wide);
    kb_bench_input_by(run, "e5m2", KB_F8E5M2, KB_SHAPE(5), copies, fill_wide);
    kb_bench_input_by(run, "i4", KB_I4, KB_SHAPE(2, 2), copies, fill_wide);
    kb_bench_input_by(run, "f64", KB_F64, KB_SHAPE(2), copies, fill_wide);
    kb_bench_launch(run, "look", look, one, 1);
}

const kb_bench bench_look = {.name = "look", .summary = "a place to stop at", .setup = setup};
KB_BENCHES(&bench_look);
C
if grep -q -e '-fsanitize' "$B/_o/flags" || ! command -v gdb >/dev/null; then
    skip "gdb shows tensors" "no gdb, or a program that it cannot follow"
    plan
    exit
fi
"$SIM" cc look.c -- -g -O1
timeout 120 gdb -nx -batch -ex 'set debuginfod enabled off' -ex "source $root/tools/gdb.py" -ex 'set breakpoint pending on' \
    -ex 'break stop_in_look' -ex run -ex 'print x' -ex 'print y' -ex 'print none' -ex 'print (tl_tensor *)4096' -ex 'frame' -ex continue \
    -ex 'print x' -ex 'print y' -ex continue -ex 'print x' -ex 'print y' -ex 'print none' -ex continue -ex 'print x' -ex continue \
    --args "$SIM" run ./look.so --quiet -o rows >out 2>err
if ! grep -q 'Breakpoint 1, ' out; then
    skip "gdb shows tensors" "no gdb that can run a program"
    plan
    exit
fi
equal "a loaded tensor has its values" 1 "$(grep -cE '^\$1 = \(tl_tensor \*\) 0x[0-9a-f]+ i32 \[2, 3\]: 0 1 2; 3 4 5$' out)"
equal "a result is pending" 1 "$(grep -cE '^\$2 = \(tl_tensor \*\) 0x[0-9a-f]+ i32 \[2, 3\]: pending$' out)"
equal "none" '$3 = (tl_tensor *) NULL' "$(grep '^\$3' out)"
equal "what is no tensor" '$4 = (tl_tensor *) 0x1000 no tensor' "$(grep '^\$4' out)"
equal "a scalar" 1 "$(grep -cE '^\$5 = \(tl_tensor \*\) 0x[0-9a-f]+ 0.5$' out)"
equal "a place" 1 "$(grep -cE '^\$6 = \(tl_tensor \*\) 0x[0-9a-f]+ bf16 \[4\]: what its address holds$' out)"
grep -qE '^#0 .*stop_in_look \(x=(x@entry=)?\(tl_tensor \*\) 0x[0-9a-f]+ i32 \[2, 3\]: 0 1 2; 3 4 5' out
ok "arguments of a frame"
# The last four of each: what gdb and tl_print() say of the same tensors.
sed -n 's/^kernel look .*: \([a-z0-9]* \[.*\]: .*\)/\1/p' out err | sort >printed
equal "types of 8 and 4 bits, and of 64, as tl_print() shows them" "4 $(cat printed)" \
    "$(grep -c . printed) $(sed -nE 's/^\$(7|8|9|10) = \(tl_tensor \*\) 0x[0-9a-f]+ //p' out | sort)"
"$SIM" run ./look.so --quiet -o alone 2>/dev/null && same alone rows
ok "the run goes on as without"
plan
