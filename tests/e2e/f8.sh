#!/usr/bin/env bash
# f8.sh -- floats of 8 bits in a bench: its results, rate, files. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
cd "$work" || exit

cat >f8.c <<'C'
#include <math.h>
#include <tl.h>

/* c = a b in f32, e = exp(a) by way of the other type; each PE its own copies. */
static void f8(tl_ctx *tl, const kb_args *args)
{
    kb_shard a = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard b = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard c = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    kb_shard e = kb_tensor_shard(args->tensors[3], tl_pe(tl));
    tl_tensor *x = tl_load(tl, a.address, KB_F8E4M3, a.shape);
    tl_tensor *y = tl_load(tl, b.address, KB_F8E4M3, b.shape);

    tl_store(tl, c.address, tl_dot(tl, x, y, .dtype_out = KB_F32));
    tl_store(tl, e.address, tl_exp(tl, tl_cast(tl, x, KB_F8E5M2)));
}

static void reference(const kb_bench_run *run, double *const *t)
{
    (void)run;
    kb_reference_product(t[0], t[1], t[2], 32, 32, 64);
    for (int i = 0; i < 32 * 64; i++) {
        unsigned char bits;

        kb_element_set(KB_F8E5M2, &bits, 0, t[0][i]);
        t[3][i] = exp(kb_element(KB_F8E5M2, &bits, 0));
    }
}

static void setup(kb_bench_run *run)
{
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};

    kb_bench_input(run, "a", KB_F8E4M3, KB_SHAPE(32, 64), copies, 4);
    kb_bench_input(run, "b", KB_F8E4M3, KB_SHAPE(64, 32), copies, 1);
    kb_bench_output(run, "c", KB_F32, KB_SHAPE(32, 32), copies);
    kb_bench_output(run, "e", KB_F8E5M2, KB_SHAPE(32, 64), copies);
    kb_bench_launch(run, "f8", f8, NULL, 0);
}

const kb_bench bench_f8 = {.name = "f8", .summary = "8 bits", .setup = setup, .reference = reference};
KB_BENCHES(&bench_f8);
C
"$SIM" cc f8.c
call "$SIM" run ./f8.so --verify --columns verify --quiet
equal "results are those of the reference" "verify pass" "$(paste -sd ' ' out)"
call "$SIM" run ./f8.so --verify=ops --columns verify --quiet
equal "and each operation is right" "verify pass" "$(paste -sd ' ' out)"
time_of()
{
    "$SIM" run ./f8.so "$@" --format csv --quiet | tail -1 | cut -d, -f5
}
# GEMM takes 2 * 4 * 2 = 16 cycles
equal "rate.f8: half of it takes 16 ns more" 16.000000 \
    "$(awk -v a="$(time_of --set cube.pe.pe_gemm.rate.f8=0.5)" -v b="$(time_of)" 'BEGIN { printf "%.6f", a - b }')"
equal "that of others is none of its" "$(time_of)" "$(time_of --set cube.pe.pe_gemm.rate.f16=0.5)"
call "$SIM" run ./f8.so --set cube.pe.pe_gemm.rate.f8=2 --format csv --quiet
awk -v m="$(field gemm_macs 1)" -v k="$(field kernel_ns 1)" -v p="$(field peak_pct 1)" \
    'BEGIN { d = p - 100 * m / (k * 64 * 4096 * 2); exit !(m > 0 && d < 1e-5 && d > -1e-5) }'
ok "the peak is twice that of f16, where rate.f8 is 2"
"$SIM" run ./f8.so --dump d --quiet -o /dev/null
equal "files have the type in their names" "in.a.f8e4m3.npy in.b.f8e4m3.npy out.c.npy out.e.f8e5m2.npy" "$(ls d | paste -sd ' ')"
head -c 128 d/in.a.f8e4m3.npy | grep -aq "'descr': '|u1'"
ok "and have the bits"
call "$SIM" run ./f8.so a=@d/in.a.f8e4m3.npy --verify --columns verify --quiet
equal "and are read" "verify pass" "$(paste -sd ' ' out)"
"$SIM" run ./f8.so a=@d/in.a.f8e4m3.npy --seed 7 --dump again --quiet -o /dev/null
cmp -s d/in.a.f8e4m3.npy again/in.a.f8e4m3.npy
ok "as bits, not as numbers"
plan
