#!/usr/bin/env bash
# inspect.sh -- `run --inspect` and --verify=ops: against the op log, and against numpy. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs Debian's python3-numpy.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
/usr/bin/python3 -c 'import numpy' 2>err || none "no numpy"
BROKEN=$B/_t/broken

# -- against the op log -------------------------------------------------------------------------

cat >judge.py <<'END'
"""judge.py LOG REPORT: is what --inspect told of operations what the log says of them?"""
import json
import sys

log = {r["op_id"]: r for r in map(json.loads, open(sys.argv[1])) if "op_id" in r}
told = {}
for row in json.load(open(sys.argv[2]))["rows"]:
    told.setdefault(row["op_id"], {}).setdefault(row["of"], {})[row["field"]] = row["value"]
bad = 0


def check(op, what, found, expected):
    global bad
    if found != expected:
        bad += 1
        print(f"# op {op}: {what} is {found}, the log has {expected}")


def brief(r):
    return f"{r['op_name']} {r['component_id']} {r['t_start']:.6f}..{r['t_end']:.6f} ns"


def tensors(r):
    """role: (address, space, shape, dtype, maker)"""
    p = r["params"]
    if "src_addr" in p:
        maker = p.get("snapshot")
        return {"src": (p["src_addr"], p["src_space"], p["shape"], p["dtype"], maker),
                "dst": (p["dst_addr"], p["dst_space"], p["shape"], p["dtype"], None)}
    if "src_a_addr" in p:
        return {"a": (p["src_a_addr"], p["src_a_space"], p["shape_a"], p["dtype_in"], None),
                "b": (p["src_b_addr"], p["src_b_space"], p["shape_b"], p["dtype_in"], None),
                "out": (p["dst_addr"], p["dst_space"], p["shape_out"], p["dtype_out"], None)}
    out = {"out": (p["dst_addr"], p["dst_space"], p["shape_out"], p["dtype"], None)}
    if "acc" in p:
        last = log[r["dependency_ids"][0]]
        out["in0"] = (p["acc"], "acc", p["shape_out"], last["params"]["dtype_out"], last["op_id"])
        return out
    for i, a in enumerate(p["input_addrs"]):
        if a is not None:
            out[f"in{i}"] = (a, p["input_spaces"][i], p["input_shapes"][i], p["input_dtypes"][i],
                             p["input_snapshots"][i])
    return out


SPACES = {"slice": "hbm", "sram": "sram", "tcm": "tcm", "acc": "acc"}
for op, t in told.items():
    r = log[op]
    check(op, "name", t["op"]["name"], r["op_name"])
    check(op, "component", t["op"]["component"], r["component_id"])
    check(op, "issue", t["op"]["issue_ns"], r["params"]["t_issue"])
    check(op, "start", t["op"]["start_ns"], r["t_start"])
    check(op, "end", t["op"]["end_ns"], r["t_end"])
    for key, value in t.get("param", {}).items():
        found = value if isinstance(value, (int, float)) else value
        want = r["params"][key]
        want = want if isinstance(want, (int, float, str)) and not isinstance(want, bool) \
            else json.dumps(want, separators=(",", ":"))
        check(op, key, found, want)
    for role, (address, space, shape, dtype, maker) in tensors(r).items():
        x = t[role]
        check(op, role + " address", x["address"], address)
        check(op, role + " shape", json.loads(x["shape"]), shape)
        check(op, role + " dtype", x["dtype"], dtype)
        check(op, role + " space", SPACES[x["memory"].split(".")[-1].rstrip("0123456789")], space)
        if maker is not None:
            check(op, role + " made_by", x["made_by"], maker)
        elif role == "src":
            ids = r["dependency_ids"]
            check(op, role + " made_by", x["made_by"],
                  ids[0] if len(ids) == 1 else "several" if ids else "host")
        elif role in ("a", "b") and r["op_name"].startswith("gemm"):
            check(op, role + " made_by", x["made_by"] in r["dependency_ids"], True)
    producers = {k: v.split(" from ")[0].split(" to ")[0] for k, v in t.get("producer", {}).items()}
    check(op, "producers", producers, {str(i): brief(log[i]) for i in r["dependency_ids"]})
    consumers = {k: v.split(" from ")[0].split(" to ")[0] for k, v in t.get("consumer", {}).items()}
    check(op, "consumers", consumers,
          {str(i): brief(c) for i, c in log.items() if op in c["dependency_ids"]})
sys.exit(bad > 0 or not told)
END

# asked LOG: --inspect for 50 commands from everywhere in the log, in $ids
asked()
{
    ids=$(jq -r 'select(.op_id != null and (.op_name | startswith("TileToken") | not)) | .op_id' "$1" |
        sort -n | awk '{ id[NR] = $1 } END { for (i = 1; i <= 50; i++) print id[int((NR - 1) * (i - 1) / 49) + 1] }' |
        uniq | sed 's/^/--inspect /' | xargs)
}

for bench in 'attention H=2 S=33 T=50 D=17' 'copy L=1009' 'gather M=31 L=17 D=9' 'gemm M=67 N=41 K=130' \
    'gemm_composite M=67 N=41 K=130' 'layernorm M=67 N=33' 'list_walk N=101 L=23' 'mlp M=17 N=41 K=33' \
    'qkv_gemm M=17 N=41 K=33' 'softmax M=67 N=33' 'threshold M=67 N=33'; do
    run run $bench --oplog log.jsonl --quiet
    asked log.jsonl
    run run $bench --format json --quiet $ids
    [ $code -eq 0 ] && jq -e '.schema == "kernbench.inspect/1"' out >found && cp out report &&
        /usr/bin/python3 judge.py log.jsonl report
    ok "${bench%% *}: what is told is in the op log"
done
run run gemm_composite M=64 N=32 K=96 --oplog log.jsonl --quiet
token=$(jq -r 'select(.op_name == "TileToken/GEMM") | "\(.op_id) \(.params.parent)"' log.jsonl | tail -1)
run run gemm_composite M=64 N=32 K=96 --inspect "${token% *}" --format csv --quiet
equal "the stage of a tile is looked at as its command" "${token#* },op,stage,${token% *}" "$(sed -n 2p out)"
run run softmax M=8 N=16 --inspect last --format csv --quiet
equal "last is the last command" "$("$SIM" run softmax M=8 N=16 --quiet --oplog log.csv >out.2
    grep -v TileToken log.csv | cut -d, -f1 | sort -n | tail -1)" "$(sed -n 2p out | cut -d, -f1)"

# -- against numpy ------------------------------------------------------------------------------

cat >values.py <<'END'
"""values.py LOG REPORT FOLDER: values of loads, stores and products of overlap, by what was dumped."""
import json
import sys
import numpy as np

log = {r["op_id"]: r for r in map(json.loads, open(sys.argv[1])) if "op_id" in r}
rows = json.load(open(sys.argv[2]))["rows"]
whole = {n: np.load(f"{sys.argv[3]}/{w}.{n}.npy").astype(float)
         for n, w in (("a", "in"), ("b", "in"), ("c", "out"))}
told = {}
for row in rows:
    told.setdefault(row["op_id"], {}).setdefault(row["of"], {})[row["field"]] = row["value"]


def part(x):
    name, index = x["tensor"].rstrip("]").split("[")
    at = [int(i) for i in index.split(",")]
    return whole[name][tuple(slice(i, i + n) for i, n in zip(at, json.loads(x["shape"])))]


def same(op, x, want, tol):
    first = np.array([float(v) for v in x["first"].split()])
    found = np.array([x["min"], x["max"], x["mean"]])
    expected = np.array([want.min(), want.max(), want.mean()])
    assert np.allclose(found, expected, rtol=tol, atol=tol), (op, found, expected)
    assert np.allclose(first, want.ravel()[:8], rtol=tol, atol=tol), (op, first, want.ravel()[:8])
    assert x["nans"] == 0 and x["infs"] == 0


moved, counts = {}, {"dma_read": 0, "dma_write": 0, "gemm": 0}
for op, t in told.items():
    name = log[op]["op_name"]
    if name == "dma_read":
        moved[op] = part(t["src"])
        same(op, t["src"], moved[op], 1e-15)
        same(op, t["dst"], moved[op], 1e-15)
        counts[name] += 1
    elif name == "dma_write":
        same(op, t["src"], part(t["dst"]), 1e-15)
        counts[name] += 1
for op, t in told.items():
    if log[op]["op_name"].startswith("gemm"):
        a, b = (moved.get(t[r]["made_by"]) for r in "ab")
        if a is not None and b is not None:
            same(op, t["a"], a, 1e-15)
            same(op, t["b"], b, 1e-15)
            same(op, t["out"], a @ b, 2e-3)
            counts["gemm"] += 1
assert all(counts.values()), counts
END

bench='overlap M=64 N=32 K=96'
run run $bench --oplog log.jsonl --dump dumped --quiet
ids=$(jq -rs '[.[] | select(.op_id != null)] as $all | ($all[] | select(.op_name == "gemm_f16") | [.op_id] + .dependency_ids)
    | .[]' log.jsonl | head -45 | sort -nu | xargs)
ids="$ids $(jq -r 'select(.op_name == "dma_write") | .op_id' log.jsonl | sort -n | tail -9 | xargs)"
run run $bench --format json --quiet $(for id in $ids; do echo "--inspect $id"; done)
[ $code -eq 0 ] && /usr/bin/python3 values.py log.jsonl out dumped 2>why
ok "values: what loads, products and stores had, as numpy has it" || sed 's/^/# /' why
cp out whole
run run $bench --format json --quiet -j 4 --engine hop --oplog-limit 4K --verify $(for id in $ids; do echo "--inspect $id"; done)
jq -c .rows whole >rows.1 && jq -c .rows out | cmp -s - rows.1
ok "the same by another engine, with threads, from a log in a file"
call "$BROKEN" run nan --inspect last --format csv --quiet
grep -q '^[0-9]*,src,nans,5$' out && grep -q '^[0-9]*,src,infs,0$' out &&
    grep -q '^[0-9]*,src,first,-\{0,1\}nan ' out && ! grep -q ',min,' out
ok "NaN are counted, and are neither the least nor the mean"

# -- what is printed, what is refused -----------------------------------------------------------

run run softmax M=8 N=16 --inspect last --quiet
sed -n 1p out | grep -qx 'op_id  of  *field  *value' && grep -q ' op  *source  *benches/softmax.c:[0-9]*$' out &&
    grep -q ' op  *kernel  *softmax$' out && grep -q ' dst  *tensor  *y\[' out
ok "a table; kernel and source"
run run softmax M=8 N=16 --inspect 0 --format jsonl --quiet --sqlite runs.db
[ $code -eq 0 ] && [ "$(sed -n 1p out | jq -r .schema)" = kernbench.inspect/1 ] && [ -s runs.db ]
ok "JSON lines; --sqlite"
refused "an id that is not there" 2 "no operation has id 999999: ids are 0.." run softmax --inspect 999999
refused "and no file" 2 "no operation" run softmax --inspect 999999 -o none.csv
[ ! -e none.csv ]
ok "... is left of it"
for id in x -1 '' 4294967295 1.5; do
    refused "--inspect '$id'" 2 "is not the op_id of an operation, or 'last'" run softmax --inspect "$id"
done
refused "an option of run" 2 "it is an option of run" probe --inspect 3
refused "too many" 2 "more than 64 times" run softmax $(for i in $(seq 65); do echo "--inspect $i"; done)
run run gemm --until 30 --inspect 0 --quiet --format csv
[ $code -eq 0 ] && [ "$(wc -l <out)" -eq 1 ]
ok "--until: nothing of a run that did not end"
run run softmax M=8 N=16 --fingerprint --quiet
cp err before
run run softmax M=8 N=16 --fingerprint --inspect last --quiet
cmp -s err before
ok "looking changes no event"

# -- the first wrong operation ------------------------------------------------------------------

# Every mul and every add of this bench is spoiled; the first in order of ids is a mul.
call "$BROKEN" run spoiled --quiet --oplog log.jsonl
first=$(jq -r 'select(.op_name == "mul" or .op_name == "add") | .op_id' log.jsonl | sort -n | head -1)
component=$(jq -r "select(.op_id == $first) | .component_id" log.jsonl)
line=$(grep -n 'tl_mul(tl, negative' "$root/tests/support/broken.c" | cut -d: -f1)
for j in 1 2 4; do
    for round in 1 2 3 4 5; do
        call "$BROKEN" run spoiled --verify=ops -j $j --format csv --quiet
        [ $code -eq 1 ] && says "verification failed: mul, op $first of $component, kernel twice, tests/support/broken.c:$line: element 2 [0,2] is " &&
            [ "$(field verify 1)" = fail ] || echo "# -j $j"
    done
done >missing
nothing "$(cat missing)"
ok "--verify=ops names the first wrong operation, for any -j: id, PE, kernel, line, index"
call "$BROKEN" run spoiled --verify=ops --inspect "$first" --format csv --quiet
x=$(sed -n "s/^$first,in0,first,\([^ ]*\) \([^ ]*\) \([^ ]*\) .*/\3/p" out)
[ $code -eq 1 ] && ! grep -q "^$first,out,first" out &&
    awk -v x="$x" -v text="$(cat err)" 'BEGIN {
        sub(/.* is /, "", text); split(text, v, ", by plain loops ")
        d = v[2] - x * x; e = v[1] - v[2] - 0.5
        exit !(d < 1e-6 && d > -1e-6 && e < 1e-6 && e > -1e-6) }'
ok "both values, and what the operation had read; its result is not kept"
call "$BROKEN" run spoiled --phase2 on --quiet
[ $code -eq 0 ]
ok "nothing is wrong without --verify=ops"
plan
