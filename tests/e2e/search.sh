#!/usr/bin/env bash
# search.sh -- which runs of many: samples of points, the search of the front, and what tune leaves out, in parts.
#
# TAP on stdout. B names the build, SIM the simulator of cube8 in it.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/parts.sh"
needs_cube8

# -- points -------------------------------------------------------------------------------------------

# drawn SAMPLE: the values of the points of a sample of 16 x 16
drawn()
{
    printf '%s\n' 'command: probe --case pe-local-hbm' 'vary: {cube.hbm.bw_gbs: "101:116", cube.noc.bw_gbs: "101:116"}' "sample: $1" >d.yaml
    run study d.yaml --format csv
    sed -n 's/^"\([^"]*\)".*/\1/p' out | sort
}
drawn '{sobol: 16}' >points
equal "of 16 points of Sobol each value of each key has one" "16 16 16" \
    "$(wc -l <points) $(cut -d, -f1 points | sort -u | wc -l) $(cut -d, -f2 points | sort -u | wc -l)"
equal "the first are those of Joe and Kuo: 0 0, 1/2 1/2, 3/4 1/4, 1/4 3/4" "101,101 105,113 109,109 113,105" "$(drawn '{sobol: 4}' | xargs)"
drawn '{random: 50, seed: 1}' >one && drawn '{random: 50, seed: 1}' >again && drawn '{random: 50, seed: 2}' >other
[ "$(wc -l <one)" -eq 50 ] && same one again && ! cmp -s one other
ok "random points, by their seed"

cat >f.yaml <<'END_OF_STUDY'
command: run gemm M=64 N=128 K=64
vary: {cube.noc.bw_gbs: "64:512:16", sip.d2d.bw_gbs: "64:512:16", cube.hbm.bw_gbs: [128, 256]}
cost: {cube.noc.bw_gbs: 0.5, sip.d2d.bw_gbs: 1, cube.hbm.bw_gbs: 0.1}
END_OF_STUDY
"$SIM" study f.yaml --quiet --format csv >grid.csv
echo 'search: {front: 400}' >>f.yaml
run study f.yaml --quiet --format csv
python3 - grid.csv out <<'PYTHON'
import csv, sys
grid, found = ([(float(r["cost"]), float(r["time_ns"])) for r in csv.DictReader(open(f)) if r["on_front"] == "1"] for f in sys.argv[1:])
n = sum(1 for _ in open(sys.argv[2])) - 1
assert n <= 402, n
missed = [p for p in set(grid) if p not in found]
assert len(missed) <= len(set(grid)) // 10, (len(set(grid)), missed)
PYTHON
ok "a search of 400 of 1,682 points finds nine tenths of the front, or more"
cp out one && run study f.yaml --quiet --format csv -j 1 && same one out
ok "it is the same with another -j"

# -- runs that are weighed --------------------------------------------------------------------------------

# With a million commands those that could be fastest come first, and some do not run.
parted "runs of tune that are weighed" 10 tune flash S=2048 H=8 D=64 arg.BM=32,64,128 arg.BT=16,64,128
plan
