#!/usr/bin/env bash
# validate.sh -- tests/validate/: a small trace of two NoCs, converted, replayed, compared. Prints TAP.
#
# B names the build, with the judge and the simulator of wormhole in it. Needs python3.
. "$(dirname "$0")/../support/tap.sh"
command -v python3 >/dev/null || none "there is no python3"
silicon=$root/tests/validate/silicon.py
judge="$B/_t/judge replay $root/topologies/wormhole.yaml"

# Core 0,0 reads 4096 bytes of core 1,0 by both NoCs at 100, and 2048 of its own 50 after a barrier.
# Its second processor comes to a barrier without reads 550 after its first one.
mkdir -p data/silicon
cat >data/silicon.csv <<'END_OF_FILE'
trace,barrier_end_cycles,kernel_cycles,tt_npe_cycles,tt_npe_no_congestion_cycles
small.json,1020,1020,1050,1000
END_OF_FILE
cat >data/silicon/small.json <<'END_OF_FILE'
[
  {"proc": "BRISC", "sx": 0, "sy": 0, "zone": "BRISC-KERNEL", "zone_phase": "begin", "timestamp": 1000},
  {"proc": "BRISC", "sx": 0, "sy": 0, "type": "READ", "noc": "NOC_0", "dx": 1, "dy": 0, "num_bytes": 4096, "timestamp": 1100},
  {"proc": "BRISC", "sx": 0, "sy": 0, "type": "READ_BARRIER_START", "noc": "NOC_0", "timestamp": 1200},
  {"proc": "NCRISC", "sx": 0, "sy": 0, "type": "READ", "noc": "NOC_1", "dx": 1, "dy": 0, "num_bytes": 4096, "timestamp": 1100},
  {"proc": "NCRISC", "sx": 0, "sy": 0, "type": "READ_BARRIER_START", "noc": "NOC_1", "timestamp": 1200},
  {"proc": "NCRISC", "sx": 0, "sy": 0, "type": "READ_BARRIER_END", "noc": "NOC_1", "timestamp": 1460},
  {"proc": "BRISC", "sx": 0, "sy": 0, "type": "READ_BARRIER_END", "noc": "NOC_0", "timestamp": 1440},
  {"proc": "BRISC", "sx": 0, "sy": 0, "type": "READ", "noc": "NOC_1", "dx": 0, "dy": 0, "num_bytes": 2048, "timestamp": 1490},
  {"proc": "BRISC", "sx": 0, "sy": 0, "type": "READ_BARRIER_START", "noc": "NOC_1", "timestamp": 1540},
  {"proc": "BRISC", "sx": 0, "sy": 0, "type": "READ_BARRIER_END", "noc": "NOC_1", "timestamp": 1660},
  {"proc": "NCRISC", "sx": 0, "sy": 0, "type": "READ_BARRIER_START", "noc": "NOC_1", "timestamp": 2010},
  {"proc": "NCRISC", "sx": 0, "sy": 0, "type": "READ_BARRIER_END", "noc": "NOC_1", "timestamp": 2020}
]
END_OF_FILE

# By hand: one way goes one link through 2 routers, the other 9 through 10: 83 + 12 * 9 + 4096/28.1, and 5
# or 3 fs for each way. The second one sets out 25 later. The own ones pass one router twice.
cat >expected <<'END_OF_FILE'
id,issue_ns,end_ns,actual_ns
0,100.000000,436.765140,336.765140
1,100.000000,461.765140,361.765140
2,486.765140,660.647706,173.882566
END_OF_FILE
printf '%s\n' 0,0,c0.pe0,c0.sram 1,0,c1.pe0,c1.sram >map
python3 "$root/examples/tt_npe_to_csv.py" --planes --after --map map data/silicon/small.json >in.csv 2>err
# replayed NAME COMMAND...: ends as by hand
replayed()
{
    local name=$1

    shift
    "$@" in.csv 2>err | cut -d, -f1,6,11,22 >out
    same expected out
    ok "$name"
}
# shellcheck disable=SC2086
replayed "two planes, a barrier, the own core: by the judge" $judge
replayed "the same by the simulator" "$B/wormhole/wormhole" replay --quiet

# At its times the run lasts until the second processor comes to its barrier, at 1010; closed loop it
# comes there 550 after 461.765. The other barriers: 361.8, 336.8 and 173.9 instead of 360, 340 and 170.
cat >expected <<'END_OF_FILE'
| small | 1020 | 1010 | -1.0 | 1012 | -0.8 | 1050 | +2.9 | 1.2 | 1.2 |
| **mean error** | | | **0.98** | | **0.81** | | **2.94** | 1.2 | 1.2 |
END_OF_FILE
KB_VALIDATE=data python3 "$silicon" "$judge" >out 2>err
[ $? -eq 1 ] && tail -1 out | grep -q '^docs/validation.md has other figures' &&
    grep -e small -e '\*\*' out >rows && same expected rows
ok "the table, and that docs/validation.md has others"

mkdir half && cp data/silicon.csv half
KB_VALIDATE=half python3 "$silicon" false >out 2>err
[ $? -eq 1 ] && grep -q '^half/silicon/small.json: .*No such file' err && ! grep -q Traceback err
ok "a trace that is missing is named"
KB_VALIDATE=data python3 "$silicon" false >out 2>err
[ $? -eq 1 ] && grep -q '^false .*small.times.csv: exit 1' err && ! grep -q Traceback err
ok "a simulator that fails is named"
for folder in '' absent; do
    KB_VALIDATE=$folder python3 "$silicon" false >out 2>err
    [ $? -eq 0 ] && grep -q '^not compared: KB_VALIDATE names no folder' out
    ok "no data (KB_VALIDATE='$folder'): that is said, and is no error"
done

# By hand: two reads of core 1,2 by core 1,1 pass 2 routers and 12, and follow one another in the ports:
# 83 + 14 * 9 + 2 * 2810/28.1 are 409.
latencies=$root/tests/validate/latencies.py
printf '%s\n' source,chip,axis,transactions,bytes,cycles here,wormhole_b0,same,2,2810,400 >data/noc.csv
KB_VALIDATE=data python3 "$latencies" wormhole_b0 "$B/wormhole/wormhole replay --quiet" >out 2>err
[ $? -eq 1 ] && grep -q '^| \*\*all 1\*\* .* | \*\*2.25\*\* | +2.3 |$' out
ok "reads of one core by one core: a point by hand"
KB_VALIDATE=absent python3 "$latencies" wormhole_b0 false >out 2>err
[ $? -eq 0 ] && grep -q '^not compared: KB_VALIDATE names no folder with noc.csv' out
ok "no reads: that is said, and is no error"

# One read of 64 bytes at a time, 150 of them: 32 open a row in each bank group of each of 8 channels,
# 14 + 14 + 2 + 3 ns; the others find it open, 14 + 2 + 3. Together 3298 ns, before the first refresh.
dram=$root/tests/validate/dram.py
cat >data/dram.csv <<'END_OF_FILE'
map,request_bytes,in_flight,pattern,reads_pct,stride_bytes,gbs,mean_latency_ns
low,64,1,seq,100,0,2.9,21.4
END_OF_FILE
KB_VALIDATE=data python3 "$dram" "$B/kernbench --machine MACHINE replay --quiet" >out 2>err
[ $? -eq 1 ] && grep -qxF '| low | 64 | 1 | seq | 100 | 2.9 | 2.9 | +0.4 | 21.4 | 22.0 | +2.7 |' out
ok "banks: a point by hand"
# The same as a pattern with a name: more than half find their row open, more than 5 % do not.
printf '%s\n' map,kind,pattern,bandwidth_gbs,mean_ns,p50_ns,p95_ns 'low,closed,"stride 64 B, 64 B",2.9,21.4,19,33' >data/dram_patterns.csv
KB_VALIDATE=data python3 "$dram" "$B/kernbench --machine MACHINE replay --quiet" >patterns 2>err
grep -qxF '| low | closed | stride 64 B, 64 B | 2.9 | 2.9 | +0.4 | 21.4 | 22.0 | +2.7 | 19.0 | 19.0 | +0.0 | 33.0 | 33.0 | +0.0 |' patterns
ok "banks: a pattern by hand"
[ "$(grep -c '| 0.920 | 0.93. | +1' out)" -eq 2 ]
ok "streams of HBM3 within two per cent"
KB_VALIDATE=data python3 "$dram" false >out 2>err
[ $? -eq 1 ] && grep -q '^false: exit 1' err && ! grep -q Traceback err
ok "a simulator that fails is named"
KB_VALIDATE=absent python3 "$dram" false >out 2>err
[ $? -eq 0 ] && grep -q '^not compared: KB_VALIDATE names no folder with dram.csv' out
ok "no data: that is said, and is no error"

# Packets of four flits, alone: 1 ns, 4 for each router, n - 1 for a channel of n cycles, and the flits. On the
# irregular network by c10, 0 -3- 10 -1- 19; the dragonfly c1 -10- c0 -100- c4 -10- c5; fat trees 3 and 5 routers.
cat >networks.py <<'END_OF_FILE'
import csv, pathlib, subprocess, sys
sys.path.insert(0, sys.argv[1])
from booksim import ROUTER
from graphs import GRAPHS
for name, (a, b) in {"irregular": (0, 31), "dragonfly": (2, 10), "fat tree, 2 levels": (0, 4),
                     "fat tree, 3 levels": (0, 63)}.items():
    net = GRAPHS[name]
    links = ROUTER.format(segment=16, buffer=512, vcs=net.groups, answers=net.groups, speedup=1)
    pathlib.Path("net.yaml").write_text(net.machine(links))
    row = ",".join(net.ends(a, b))
    pathlib.Path("net.csv").write_text(f"issue_ns,op,src,dst,offset,nbytes\n0,write,{row},0,64\n")
    out = subprocess.run([sys.argv[2], "replay", "--machine", "net.yaml", "net.csv", "--quiet"],
                         capture_output=True, text=True, check=True).stdout
    print(row, round(float(next(csv.DictReader(out.splitlines()))["actual_ns"])))
END_OF_FILE
printf '%s\n' 'c0.pe0,c19.slice0 19' 'c1.pe0,c5.slice0 138' 'c0.pe0,c1.slice0 17' 'c0.pe0,c15.slice3 25' >expected
python3 networks.py "$root/tests/validate" "$B/kernbench" >out 2>err
same expected out
ok "an irregular network, a dragonfly, fat trees: a packet of each by hand"
plan
