#!/usr/bin/env bash
# i4.sh -- integers of 4 bits in a bench: its results, parts, rate, files. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
cd "$work" || exit

cat >i4.c <<'C'
#include <tl.h>

/* Each PE: c = x w, x its rows in f16 and w of i4; and its columns of v, to and fro. */
static void i4(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard w = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard c = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    kb_shard v = kb_tensor_shard(args->tensors[3], tl_pe(tl));
    kb_shard u = kb_tensor_shard(args->tensors[4], tl_pe(tl));
    tl_tensor *y = tl_load(tl, w.address, KB_I4, w.shape);

    tl_store(tl, c.address, tl_dot(tl, tl_load(tl, x.address, KB_F16, x.shape), y, .dtype_out = KB_F32));
    if (v.address == UINT64_MAX)
        return;
    y = tl_cast(tl, tl_load(tl, v.address, KB_I4, v.shape), KB_I8);
    tl_store(tl, u.address, tl_cast(tl, tl_add(tl, y, y), KB_I4)); /* wraps */
}

static void reference(const kb_bench_run *run, double *const *t)
{
    (void)run;
    kb_reference_product(t[0], t[1], t[2], 64, 38, 50);
    for (int i = 0; i < 3 * 130; i++) {
        double twice = 2 * t[3][i];

        t[4][i] = twice < -8 ? twice + 16 : twice > 7 ? twice - 16 : twice;
    }
}

static void setup(kb_bench_run *run)
{
    kb_placement rows = {KB_ROW_WISE, KB_ROW_WISE}, columns = {KB_COLUMN_WISE, KB_COLUMN_WISE};
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};

    kb_bench_input(run, "x", KB_F16, KB_SHAPE(64, 50), rows, 1);
    kb_bench_input(run, "w", KB_I4, KB_SHAPE(50, 38), copies, 1);
    kb_bench_output(run, "c", KB_F32, KB_SHAPE(64, 38), rows);
    kb_bench_input(run, "v", KB_I4, KB_SHAPE(3, 130), columns, 1);
    kb_bench_output(run, "u", KB_I4, KB_SHAPE(3, 130), columns);
    kb_bench_launch(run, "i4", i4, NULL, 0);
}

const kb_bench bench_i4 = {.name = "i4", .summary = "4 bits", .setup = setup, .reference = reference};
KB_BENCHES(&bench_i4);
C
"$SIM" cc i4.c
i4()
{
    "$SIM" run ./i4.so --set cube.pe.pe_fetch_store.convert=true --quiet "$@"
}
call i4 --verify --columns verify
equal "results are those of the reference, 65 bytes of columns over 64 PEs" "verify pass" "$(paste -sd ' ' out)"
call i4 --verify=ops --columns verify
equal "and each operation is right" "verify pass" "$(paste -sd ' ' out)"
call i4 --verify -j1 --engine hop --columns verify
equal "by the other engine, too" "verify pass" "$(paste -sd ' ' out)"
# 64 x 50 x 38: a row, ceil(50 / 16) * ceil(38 / 16) = 12 cycles; f16 is wider
equal "rate.i4 of a product with f16 changes nothing" "$(i4 --columns kernel_ns | tail -1)" \
    "$(i4 --set cube.pe.pe_gemm.rate.i4=0.5 --columns kernel_ns | tail -1)"
i4 --dump d -o /dev/null
equal "files have the type in their names" "in.v.i4.npy in.w.i4.npy in.x.npy out.c.npy out.u.i4.npy" "$(ls d | paste -sd ' ')"
head -c 128 d/in.w.i4.npy | grep -aq "'descr': '|u1'.*'shape': (50, 19)"
ok "and have bytes, two elements in each"
equal "128 bytes of a header and 50 * 19" 1078 "$(stat -c %s d/in.w.i4.npy)"
i4 w=@d/in.w.i4.npy v=@d/in.v.i4.npy --seed 7 --verify --dump again -o /dev/null
cmp -s d/in.w.i4.npy again/in.w.i4.npy && cmp -s d/in.v.i4.npy again/in.v.i4.npy
ok "which are read as they are"

# a file of one element a byte, [3, 130] of i8: NAME VALUE
numbers()
{
    python3 - "$1" "$2" <<'PY'
import sys
head = "{'descr': '|i1', 'fortran_order': False, 'shape': (3, 130), }".ljust(117) + "\n"
x = bytearray(390)
x[132:134] = 0xf8, int(sys.argv[2])
open(sys.argv[1], "wb").write(b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + x)
PY
}
numbers full.npy 7
i4 v=@full.npy --verify --dump full -o /dev/null
equal "a file of integers that fit is read, too: -8 and 7" "78" \
    "$(od -An -tx1 -j $((128 + 66)) -N 1 full/in.v.i4.npy | tr -d ' ')"
numbers large.npy 8
refused "an integer that is none of i4 is refused" 2 "large.npy: its element 133 is 8, which is no i4 of tensor 'v'" \
    run ./i4.so v=@large.npy
refused "bytes of another shape are" 2 "its shape (50, 19) is not that of tensor 'v', (3, 130)" \
    run ./i4.so v=@d/in.w.i4.npy

sed -i 's/KB_SHAPE(3, 130)/KB_SHAPE(3, 131)/' i4.c
"$SIM" cc i4.c
refused "rows of an odd number of elements are" 2 "tensor 'v' has rows of 131 elements: the last extent of i4 is even" \
    run ./i4.so
plan
