#!/usr/bin/env bash
# triton.sh -- operations of Triton: the list, its table in docs/triton.md, and kernels that are counted. Prints TAP.
. "$(dirname "$0")/../support/tap.sh"
top=$root
count="$top/tools/triton.py"
cd "$work" || exit

"$count" --table >table
awk '/^\| here \| operations/ { on = 1 } on && !/^\|/ { exit } on' "$top/docs/triton.md" | cmp -s - table
ok "the table of docs/triton.md is that of the list"
equal "each operation is listed once" "" "$(grep -v '^#' "$top/tools/triton_ops.txt" | cut -d: -f2 | tr ' ' '\n' | grep . | sort | uniq -d)"
cut -d: -f1 "$top/tools/triton_ops.txt" | grep -o '^tl_.*' | tr ' ' '\n' | sort -u | while read -r call; do
    grep -qE "(\b|define )$call\b" "$top"/runtime/include/tl.h "$top"/runtime/include/tl_math.h || echo "$call"
done >lacking
equal "each call is one of tl.h" "" "$(cat lacking)"

mkdir -p k
cat >k/a.py <<'PY'
import triton
import triton.language as tl
from triton.language.extra.libdevice import rsqrt
try:
    from triton.language.extra.cuda.libdevice import tanh as th
except ImportError:
    from triton.language.math import tanh as th
from somewhere import tl_extra_shim
atan = tl_extra_shim.atan

@triton.jit
def helper(a, b):
    return tl.cumprod(a) + b

@libentry()
@triton.autotune(configs=[], key=[])
@triton.jit
def one(x, n: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(x + i, th(rsqrt(tl.load(x + i, mask=i < n).to(tl.float32))))

@triton.jit
def two(x):
    return atan(x) * tl.math.exp(x)

@triton.jit
def three(x):
    return helper(x, x) + tl.sum(x) + tl.nonsense(x)

@triton.jit
def four(x):
    return tl.extra.cuda.libdevice.pow(tl.zeros((4,), tl.float32), 2).sum(0) + triton.cdiv(3, 2)

@triton.jit
def five(x):
    return x.to(tl.int32, bitcast=True)

def no_kernel(x):
    return tl.histogram(x)
PY
"$count" --uses k >uses
cat >want <<'TEXT'
a.py one arange libdevice.rsqrt libdevice.tanh load program_id store to
a.py two exp libdevice.atan
a.py three cumprod nonsense sum
a.py four cdiv libdevice.pow sum zeros
a.py five .to(bitcast)
TEXT
# of two imports of one name the last counts
sed 's/libdevice.tanh/tanh/' want >other
cmp -s uses want || cmp -s <(tr ' ' '\n' <uses | sort) <(tr ' ' '\n' <other | sort)
ok "operations by any name, of what is called, too"
"$count" k >out
equal "and the count" "k: 1 files, 5 kernels, 2 can be written (40.0 %)" "$(head -1 out)"
equal "with what is missed, the largest gain first" ".to(bitcast): libdevice.atan: cumprod: nonsense:" "$(sed 1d out | awk '{ print $1 }' | xargs)"
call "$count" nowhere
equal "a folder that is not there" "1 nowhere: no such folder" "$code $(cat err)"
plan
