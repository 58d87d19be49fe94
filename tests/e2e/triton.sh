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

cat >k/b.py <<'PY'
import triton
import triton.language as tl

@triton.jit
def either(a, b):
    return a or b

@triton.jit
def product(a, b):
    return a * b

@triton.jit
def larger(a, b):
    return tl.maximum(a, b)

@triton.jit
def other(a, b):
    return a - b

@triton.jit
def six(x):
    return tl.reduce(x, 0, either) + tl.associative_scan(x, axis=0, combine_fn=larger)

@triton.jit
def seven(x):
    return tl.reduce(x, axis=0, combine_fn=product) + tl.reduce(x, 0, other)
PY
"$count" --uses k | grep '^b' >uses
printf '%s\n' 'b.py six associative_scan(max) maximum reduce(or)' 'b.py seven reduce reduce(mul)' >want
same want uses
ok "a reduction has the word of its function"

table=$top/tests/triton/kernels.csv
cat >t.csv <<'CSV'
repo,commit,path,kernel,role,operations,masks,pointers,decides,dtypes
a/a,0,x.py,one,kernel,load reduce(or),-,-,-,-
a/a,0,x.py,two,pointwise,-,-,-,-,-
a/a,0,y.py,three,helper,cumprod,-,-,-,-
b/b,0,x.py,four,kernel,"load reduce(max,last)",-,-,-,-
CSV
"$count" t.csv >out
equal "a table counts as sources do, helpers left out, by repository and in all" \
    "a/a: 1 files, 2 kernels, 2 can be written (100.0 %) b/b: 1 files, 1 kernels, 0 can be written (0.0 %) \
  reduce(max,last): missed by 1, alone by 1 all: 2 files, 3 kernels, 2 can be written (66.7 %)   reduce(max,last): missed by 1, alone by 1" \
    "$(paste -sd' ' out)"
equal "and its uses, each once" "x.py one load reduce(or);x.py two;x.py four load reduce(max,last)" "$("$count" --uses t.csv | paste -sd';')"
equal "a kernel of libraries has a row, and only one" "" "$(cut -d, -f1,3,4 "$table" | grep -v generated | sort | uniq -d)"
"$count" --uses "$table" | cut -d' ' -f3- | tr ' ' '\n' | grep . | sort -u >used
grep -v '^#' "$top/tools/triton_ops.txt" | cut -d: -f2- | tr ' ' '\n' | sed 's/^libdevice\.//' | sort -u >listed
equal "and its operations are all in the list" "" "$(sed 's/^libdevice\.//' used | sort -u | comm -23 - listed)"
python3 - "$table" "$top/tools" >figures <<'PY'
import csv, sys

sys.path.insert(0, sys.argv[2])
import triton

calls = triton.read_list()
rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["role"] in triton.KERNELS]
written = [row for row in rows if not triton.missed_by(set(row["operations"].split()) - {"-"}, calls)]
def has(*wanted): return len([row for row in written if all(any(w in row[c] for w in words) for c, words in wanted)])
print(len(rows), len(written), len([row for row in written if row["decides"] != "-"]), has(("pointers", ("gather", "scatter"))),
      has(("operations", ("atomic",)), ("pointers", ("scatter",))))
PY
equal "the figures of docs/triton.md" "477 442 70 56 7" "$(cat figures)"
for text in '442 of 477' '^- 70 use' '^- 56 gather' '^- 7 add'; do grep -q -e "$text" "$top/docs/triton.md" || echo "$text"; done >lacking
equal "are in it" "" "$(cat lacking)"

call "$count" nowhere
equal "a folder that is not there" "1 nowhere: no such folder" "$code $(cat err)"
plan
