#!/usr/bin/env bash
# study.sh -- study: variants of a machine, what each gains, what binds it, what it costs. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs python3, for SQLite.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
command -v python3 >where || none "no python3"

# study ARGUMENT...: of s.yaml
study()
{
    run study s.yaml "$@"
}

sql()
{
    python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for row in db.execute(sys.argv[2]): print(*row, sep="|")
db.commit()' "$@"
}

cat >s.yaml <<'END'
set: {contention.links: fifo}
commands:
  - run gemm M=256 N=256 K=256
  - load --pattern uniform --rate 0.05 --txns 2000
variants:
  d2d_x2: {sip.d2d.bw_gbs: 256}
  noc_x2: {cube.noc.bw_gbs: 256}
  both:
    sip.d2d.bw_gbs: 256
    cube.noc.bw_gbs: 256
  hbm_x2: {cube.hbm.bw_gbs: 512}
cost: {sip.d2d.bw_gbs: 0.5, cube.noc.bw_gbs: 0.25, hbm_x2: 20}
END

# -- the table ----------------------------------------------------------------------------------

study --format csv
cp out all.csv
[ $code -eq 0 ] && [ ! -s err.none ] && [ "$(wc -l <out)" -eq 11 ] && [ "$(head -1 out)" = \
    "variant,command,sip.d2d.bw_gbs,cube.noc.bw_gbs,cube.hbm.bw_gbs,metric,time_ns,gain_pct,bound,bound_pct,algorithm,cost,on_front,state" ]
ok "a row for each variant and command, with the keys that any of them changes"
fifo="--set contention.links=fifo"
# shellcheck disable=SC2086
equal "the time of a bench is that of run on the same machine" \
    "$("$SIM" run gemm M=256 N=256 K=256 $fifo --set sip.d2d.bw_gbs=256 --set cube.noc.bw_gbs=256 --format csv --quiet |
        awk -F, 'NR == 2 { print $5 }')" "$(awk -F, '$1 == "both" && /gemm/ { print $7 }' out)"
# shellcheck disable=SC2086
equal "that of traffic is its mean latency" \
    "$("$SIM" load --pattern uniform --rate 0.05 --txns 2000 $fifo --set cube.hbm.bw_gbs=512 --format csv --quiet |
        awk -F, 'NR == 2 { print $8 }')" "$(awk -F, '$1 == "hbm_x2" && /load/ { print $7 }' out)"
# shellcheck disable=SC2086
"$SIM" run gemm M=256 N=256 K=256 $fifo --stats use.csv --quiet >use.out
equal "what binds is what --stats has as the busiest" \
    "$(awk -F, 'NR > 1 && $10 > most { most = $10 } END { print most }' use.csv)" \
    "$(awk -F, '$1 == "base" && /gemm/ { print $10 }' out)"
"$SIM" study s.yaml --format csv --stats all.use.csv >/dev/null 2>&1
same use.csv <(sed -n '1s/^variant,command,//p;s/^base,run gemm M=256 N=256 K=256,//p' all.use.csv) && grep -q '^both,load' all.use.csv
ok "--stats: of each run, behind variant and command"
equal "what binds has its name" c4.pe4.pe_dma.write "$(awk -F, '$1 == "noc_x2" && /gemm/ { print $9 }' out)"
awk -F, 'NR > 1 && $1 == "base" { base[$2] = $7 } NR > 1 { time[$2, $1] = $7; gain[$2, $1] = $8; n[$2]++
        if (n[$2] > 1 && $7 + 0 < last) exit 1; last = $7 + 0; name[++rows] = $2 SUBSEP $1; c[$2, $1] = $2 }
    END { for (i = 1; i <= rows; i++) { b = base[c[name[i]]]; d = gain[name[i]] - 100 * (b - time[name[i]]) / b
        if (d > 1e-5 || d < -1e-5) exit 1 } }' out
ok "gains against the base machine in per cent, the best of each command first"
equal "costs: of keys for each unit more, of variants as they are" "0 64 32 96 20" "$(for v in base d2d_x2 noc_x2 both hbm_x2; do
    awk -F, -v v=$v '$1 == v && /gemm/ { print $12 + 0 }' out; done | xargs)"
python3 - out <<'END' >front && [ "$(cat front)" = same ]
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows:
    beaten = any(o["command"] == row["command"] and float(o["cost"]) <= float(row["cost"])
                 and float(o["time_ns"]) <= float(row["time_ns"])
                 and (float(o["cost"]) < float(row["cost"]) or float(o["time_ns"]) < float(row["time_ns"])) for o in rows)
    assert row["on_front"] == str(int(not beaten)), row
print("same")
END
ok "the Pareto front: none that another one beats, and all others"
study --columns all
[ "$(tail -2 out | head -1)" = "run gemm M=256 N=256 K=256: best: both, $(awk -F, '$1 == "both" && /gemm/ {
    printf "%.1f", $8 }' all.csv) % less time than base" ]
ok "a line says which is best"
for jobs in 1 3; do
    study --format csv -j $jobs
    same out all.csv
    ok "the same bytes with -j $jobs"
done
study --format json --engine hop 2>err
[ $code -eq 2 ]
ok "the engine is the command's to choose"

# -- vary ---------------------------------------------------------------------------------------

cat >s.yaml <<'END'
command: sweep --src c0.pe0 --dst c5.slice0
vary:
  cube.noc.bw_gbs: [64:128:32, 256]
  cube.hbm.bw_gbs: 128:512:x2
  contention.links: [ideal, fifo]
END
study --format csv
python3 - out <<'END'
import csv, itertools, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert all(not row["cost"] and not row["on_front"] and row["metric"] == "mean_ns" for row in rows)
keys = ["cube.noc.bw_gbs", "cube.hbm.bw_gbs", "contention.links"]
made = {row["variant"]: tuple(float(row[k]) if k != keys[2] else row[k] for k in keys) for row in rows}
wanted = list(itertools.product([64.0, 96.0, 128.0, 256.0], [128.0, 256.0, 512.0], ["ideal", "fifo"]))
assert made.pop("base") == (128.0, 256.0, "ideal") and sorted(made.values()) == sorted(wanted), made
assert all(name == ",".join("%g" % v if v not in ("ideal", "fifo") else v for v in at) for name, at in made.items())
same = [made[row["variant"]] for row in rows if row["variant"] != "base" and row["gain_pct"] == "0.000000"]
assert same == [w for w in wanted if w in same], same
END
ok "vary: every combination, with ranges; equal ones in their order, the last key fastest"
for list in 64,128:256:64 0.25:1:0.25 "1:16:x4,5"; do
    printf 'command: probe --case pe-local-hbm\nvary:\n  cube.hbm.bw_gbs: %s\n' "$list" >list.yaml
    equal "the same list as --vary: $list" "$("$SIM" probe --case pe-local-hbm --vary "cube.hbm.bw_gbs=$list" --format csv --quiet | tail -n +2 | cut -d, -f1,6 | sort -n)" \
        "$("$SIM" study list.yaml --format csv --quiet | sed -n '/^base/d; 2,$p' | cut -d, -f1,5 | sort -n)"
done
for list in 0.25:1 1:2000000:1 64,,128; do
    printf 'command: probe --case pe-local-hbm\nvary:\n  cube.hbm.bw_gbs: %s\n' "$list" >list.yaml
    refused "and the same mistakes: $list" 3 "list.yaml:3:20: $("$SIM" probe --vary "cube.hbm.bw_gbs=$list" 2>&1 | sed 's/[^:]*: [^:]*: //')" study list.yaml
done

# -- results are kept ---------------------------------------------------------------------------

cat >s.yaml <<'END'
commands: [replay rows.csv, probe --bytes 64]
variants: {noc_x2: {cube.noc.bw_gbs: 256}}
END
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,read,c0.pe0,c5.slice0,0,4K >rows.csv
study --format csv --sqlite kept.db && cp out first.csv
equal "--sqlite: results by machine and command" 4 "$(sql kept.db 'SELECT count(*) FROM kept')"
equal "and the table itself" "4|ok" "$(sql kept.db "SELECT count(*), max(state) FROM study_result")"
study --format csv --sqlite kept.db
same out first.csv
ok "again: the same bytes"
sql kept.db "UPDATE kept SET result = replace(result, 'mean_ns', 'kept') WHERE command LIKE 'probe%'"
sed -i 's/}}/}, hbm_x2: {cube.hbm.bw_gbs: 512}}/' s.yaml
study --format csv --sqlite kept.db
equal "what is there is taken, a new variant runs" "kept kept mean_ns" \
    "$(for v in base noc_x2 hbm_x2; do awk -F, -v v=$v '$1 == v && /probe/ { print $5 }' out; done | xargs)"
sql kept.db "UPDATE kept SET result = replace(result, 'mean_ns', 'old')"
echo 5,read,c0.pe0,c5.slice0,0,4K >>rows.csv
study --format csv --sqlite kept.db
equal "a file that has changed is another command" 3 "$(grep -c '^[^,]*,replay.*,mean_ns,' out)"

# -- failures -----------------------------------------------------------------------------------

cat >s.yaml <<'END'
commands: [run layernorm M=64 N=65536 dtype=f64, probe]
variants:
  small: {cube.pe.pe_tcm.size_mb: 1}
  fast: {cube.hbm.bw_gbs: 512}
END
study --format csv -o kept.csv
[ $code -eq 7 ] && grep -q '^s.yaml:3:3: variant small: cube8: .*TCM' err &&
    grep -qx "s.yaml:3:3: variant small: 'run layernorm M=64 N=65536 dtype=f64' ended with 7" err && [ "$(wc -l <err)" -eq 2 ]
ok "a variant that fails: which, why, and its exit code"
equal "what ran stays" "base ok fast ok small failed base ok fast ok small ok" \
    "$(sed 1d kept.csv | awk -F, '{ print $2, $1, $13 }' | sort -k1,1r -k2 | awk '{ print $(NF - 1), $NF }' | xargs)"
grep -q '^small,run .*,failed,.*TCM' kept.csv
ok "its row says why"

cat >s.yaml <<'END'
machne: x
commands: [run gemm, "run gemm 'x'"]
variants:
  a b: {x.y: 1}
  c: {}
  c: {}
  base: {name: x}
vary: {sip.d2d.bw_gbs: "5:1"}
cost: {zz: 1, c: x}
END
study
[ $code -eq 3 ] && [ ! -s out ] && diff err - <<'END'
s.yaml:1:1: unknown key 'machne', did you mean 'machine'?
s.yaml:2:22: a command without quotes: it is cut at blanks, and nothing else is done to it
s.yaml:4:3: 'a b' is no name of a variant: letters, digits, _, - and +, at most 63
s.yaml:6:3: 'c' again, see line 5
s.yaml:7:3: 'base' is the machine without changes, it is always there
s.yaml:7:10: variants have names of their own: 'name' cannot be changed
s.yaml:8:24: '5:1' is a range that ends before it begins
s.yaml:9:8: there is no variant 'zz', and no key of that name
s.yaml:9:18: cost 'x' is not a number from -1e15 to 1e15
END
ok "mistakes of the file: all of them, with their places"
cat >s.yaml <<'END'
commands: [run gemmm, probe -o x, info, load --rate]
variants:
  c: {cube.noc.bw_gbz: 3, cube.noc.bw_gbs: -1}
  d: {cube.noc.bw_gbs: 256}
cost: {contention.links: 1}
END
study
[ $code -eq 3 ] && [ ! -s out ] && diff err - <<'END'
s.yaml:5:8: 'contention.links' is no number: give the variants costs of their own
cube8: unknown bench 'gemmm', did you mean 'gemm'?
s.yaml:1:12: 'run gemmm' is no command line
s.yaml:1:23: 'probe -o x': a study takes no -o
s.yaml:1:35: 'info' is none of run, load, replay, sweep and probe
cube8: --rate needs an argument
s.yaml:1:41: 'load --rate' is no command line
s.yaml:3:3: variant c: --set cube.noc.bw_gbz=3: unknown key 'cube.noc.bw_gbz', did you mean 'cube.noc.bw_gbs'?
s.yaml:3:3: variant c: --set cube.noc.bw_gbs=-1: 'cube.noc.bw_gbs' must be 0.01..1000000, not '-1'
END
ok "mistakes of commands and machines: before anything runs"
# bad NAME TEXT YAML...: exit 3, and TEXT
bad()
{
    printf '%s\n' "${@:3}" >s.yaml
    study
    [ $code -eq 3 ] && [ ! -s out ] && grep -qxF "$2" err
    ok "$1"
}
bad "no commands" "s.yaml:1:1: a study needs commands, as 'commands: [run gemm]'" 'variants: {a: {sips: 2}}'
bad "no variants" "s.yaml:1:1: a study needs variants, as 'variants: {noc_x2: {cube.noc.bw_gbs: 256}}', or 'vary'" 'command: probe'
bad "no mapping" "s.yaml:1:1: a study is a mapping: machine, commands, variants, cost" '- probe'
bad "no YAML" "s.yaml:2:1: did not find expected ',' or ']'" 'commands: [probe'
bad "an empty list" "s.yaml:2:24: 'sip.d2d.bw_gbs' has no values" 'command: probe' 'vary: {sip.d2d.bw_gbs: []}'
bad "too many" "s.yaml:3:3: 1000000000 combinations; a study runs at most 100000000 of them, see 'sample'" 'command: probe' 'vary:' \
    '  {sip.d2d.bw_gbs: "1:1000", cube.noc.bw_gbs: "1:1000", cube.hbm.bw_gbs: "1:1000"}'
bad "no such machine" "s.yaml: none.yaml: cannot be read: No such file or directory" 'machine: none.yaml' 'command: probe' 'variants: {a: {sips: 2}}'
bad "--vary in a command" "s.yaml:1:10: 'probe --vary sips=1,2': a study takes no --vary: it has 'vary' for that" \
    'command: probe --vary sips=1,2' 'variants: {a: {sips: 2}}'
bad "standard input" "s.yaml:1:10: 'replay -': a study takes no standard input: every variant reads the file" \
    'command: replay -' 'variants: {a: {sips: 2}}'
bad "a mapping as a value" "s.yaml:2:23: 'cubes' must be one value: in quotes, as \"{c1: {pes: 4}}\"" \
    'command: probe' 'variants: {a: {cubes: {c1: {pes: 4}}}}'
bad "a cost of what is not there" "s.yaml:3:8: 'cube.x' is no key of this machine, and no variant has that name" \
    'command: probe' 'variants: {a: {sips: 2}}' 'cost: {cube.x: 1}'
bad "a cost beyond all sums" "s.yaml:3:11: cost '1e308' is not a number from -1e15 to 1e15" \
    'command: probe' 'variants: {a: {sips: 2}}' 'cost: {a: 1e308}'
bad "a key of vary that there is not" "s.yaml:2:8: --set cube.hbm.bw_gbz=1: unknown key 'cube.hbm.bw_gbz', did you mean 'cube.hbm.bw_gbs'?" \
    'command: probe' 'vary: {cube.hbm.bw_gbz: [1, 2]}'
bad "the version of the file" "s.yaml:2:16: 'kernbench' is the version of the machine's file, and cannot be changed" \
    'command: probe' 'variants: {a: {kernbench: 2}}'
printf '%s\n' 'command: probe' "variants: {a: {$(seq -f 'key%g: 1' -s ', ' 18)}}" >s.yaml
study
[ $code -eq 3 ] && [ "$(grep -c "a study changes at most 16 keys" err)" = 1 ]
ok "too many keys: once"
printf '%s\n' 'machine: m.yaml' 'command: probe' 'variants: {a: {sips: 2}}' >s.yaml
refused "--set for a machine of its own" 2 "s.yaml has a machine of its own: leave out --machine and --set" study s.yaml --set sips=3
mkdir folder
refused "a folder" 3 "cannot read folder: Is a directory" study folder
cat >s.yaml <<END
command: probe --case pe-local-hbm
variants:
  tile: {cube.pe.pe_scheduler.tile: [32, 64, 32]}
  holes: {missing: ["c1.pe[4-7]", c2.pe0]}
  many: {missing: [$(for c in {1..7}; do printf "\"c$c.pe%d\", " {1..7} {1..7} {1..7}; done) c1.pe1]}
  cubes: {cubes: "{c1: {pes: 4}}"}
  wires: {ns_per_mm: 0.02}
vary: {cube.pe.pe_gemm.mac: [[16, 16, 16], [32, 16, 16]]}
cost: {ns_per_mm: 100}
END
study --format csv
equal "lists as values, long ones and of words in quotes; a key without a point has a cost" \
    '"[16, 16, 16]"0 "[32, 16, 16]"0 base0 cubes0 holes0 many0 tile0 wires1' \
    "$(sed 's/,probe .*,\([0-9]*\)\.000000,[01],ok$/\1/; 1d' out | sort | paste -sd ' ')"
printf '%s\n' 'command: probe --case pe-local-hbm' 'cost: {"cube.pe.pe_gemm.mac[1]": 2, "cube.size_mm[0]": 0.5}' \
    'variants: {wires: {ns_per_mm: 0.0000002}, a: {"cube.pe.pe_gemm.mac[1]": 32, "cube.size_mm[0]": 20}}' \
    'vary: {"cube.pe.pe_gemm.mac[1]": [8]}' >s.yaml
study --format csv
equal "an item of a list: its value in the base machine, and the cost of its change" \
    "16,15.000000,0.000000 16,15.000000,0.000000 32,20.000000,34.500000 8,15.000000,-16.000000" \
    "$(tail -n +2 out | awk -F, '{ print $4 "," $5 "," $(NF - 2) }' | sort | paste -sd ' ')"
equal "a number that six decimals do not hold" wires,2e-07 "$(awk -F, -v OFS=, '$1 == "wires" { print $1, $3 }' out)"
printf '%s\n' 'command: replay /dev/zero' 'variants: {a: {sips: 2}}' >s.yaml
timeout 20 "$SIM" study s.yaml >out 2>err
code=$?
[ $code -eq 3 ] && says "the line is longer than 64 MiB"
ok "a device without an end"
rm s.yaml
refused "no file" 3 "cannot read s.yaml: No such file or directory" study s.yaml
refused "no name" 2 "study needs FILE" study

# -- Ctrl-C -------------------------------------------------------------------------------------

cat >s.yaml <<'END'
command: load --pattern uniform --rate 0.02 --seeds 1 --txns 1000000
vary: {cube.noc.bw_gbs: "100:116"}
END
env --default-signal=INT "$SIM" study s.yaml -j 1 --quiet --format csv --sqlite cut.db -o cut.csv 2>cut.err &
pid=$!
until [ "$(sql cut.db 'SELECT count(*) FROM kept' 2>/dev/null || echo 0)" -ge 2 ] || ! kill -0 $pid; do sleep 0.02; done
kill -INT $pid
code=0
wait $pid || code=$?
kept=$(sql cut.db 'SELECT count(*) FROM kept')
[ $code -eq 130 ] && [ "$kept" -lt 18 ] && grep -qx "interrupted: $kept of 18 runs complete" cut.err &&
    [ "$(sed 1d cut.csv.partial | wc -l)" -eq "$kept" ]
ok "Ctrl-C: the complete rows, exit 130"
study --format csv --sqlite cut.db --quiet && cp out whole.csv && study --format csv --quiet
same out whole.csv
ok "and a study that continues prints what one in a piece does"

printf '%s\n' 'command: probe --case pe-local-hbm' 'vary: {cube.noc.bw_gbs: "100:159"}' >s.yaml
"$SIM" study s.yaml --sqlite both.db --format csv >both.csv 2>both.err &
study --sqlite both.db --format csv
wait $! && [ $code -eq 0 ] && same both.csv out && [ ! -s both.err ] &&
    [ "$(sql both.db 'SELECT count(*), (SELECT count(*) FROM run) FROM kept')" = "60|2" ]
ok "two studies at once in one database wait for each other"

# -- arguments of benches ---------------------------------------------------------------------

cat >s.yaml <<'END'
commands: [run gemm N=64 M=256, run gemm N=32]
vary: {arg.K: [32, 64], cube.noc.bw_gbs: [128, 256]}
variants: {small: {arg.M: 64, arg.K: 16}}
END
# time_of M N K BANDWIDTH: of that GEMM
time_of()
{
    "$SIM" run gemm M=$1 N=$2 K=$3 --set cube.noc.bw_gbs=$4 --format csv --quiet | awk -F, 'NR == 2 { print $5 }'
}
{
    for n in 64 32; do
        echo "small,run gemm N=$n,64,16,128,$(time_of 64 $n 16 128)"
        m=256
        for k in 32 64; do for bw in 128 256; do echo "$k;$bw,run gemm N=$n,,$k,$bw,$(time_of $m $n $k $bw)"; done; done
    done
} | sort >want
study --format json --sqlite a.db
jq -r '.rows[] | select(.variant != "base") | [(.variant | gsub(","; ";")), (.command | sub(" M=256"; "")),
    (if .variant == "small" then ."arg.M" else "" end), ."arg.K", ."cube.noc.bw_gbs", .time_ns] | @csv' out | tr -d '"' |
    awk -F, -v OFS=, '{ $6 = sprintf("%.6f", $6) } { print }' | sort >have
[ $code -eq 0 ] && [ "$(wc -l <want)" -eq 10 ] && same want have
ok "arguments of benches: times as of runs that have them"
cp out first
study --format json --sqlite a.db
same out first && [ "$(python3 -c 'import sqlite3
print(sqlite3.connect("a.db").execute("select count(distinct command) from kept").fetchone()[0])')" -eq 8 ]
ok "results that are kept know their arguments"
printf '%s\n' 'command: run softmax M=64 N=64' 'vary: {arg.M: [32, 64], cube.pe.pe_dma.read_channels: [2], cube.hbm.bw_gbs: [64, 128.5]}' >i.yaml
run study i.yaml --format csv --quiet
[ "$(sed 1d out | grep -o '",[^"]*,kernel_ns' | cut -d, -f3-5 | sort -u | xargs)" = "32,2,128.500000 32,2,64.000000 64,2,128.500000 64,2,64.000000" ]
ok "keys and arguments that take integers only are integers in every format"
printf '%s\n' 'command: run softmax M=64 N=64' 'vary: {arg.M: [32, 0]}' >i.yaml
run study i.yaml --sqlite p.db --quiet
[ $code -eq 2 ] && [ "$(sql p.db 'SELECT partial FROM run')" = 0 ]
ok "a study whose variants have all run is no part of one, though one has failed"
printf 'commands: [run gemm M=64 N=64, run softmax M=64, probe --case h2d]\nvary: {arg.K: [32, 64], arg.N: [64, 128]}\n' >s.yaml
study --format json
for k in 32 64; do
    for n in 64 128; do
        echo "$k,$n,run gemm M=64 N=64,$(time_of 64 $n $k 128)"
        echo "$k,$n,run softmax M=64,$("$SIM" run softmax M=64 N=$n --format csv --quiet | awk -F, 'NR == 2 { print $5 }')"
        echo "$k,$n,probe --case h2d,$("$SIM" probe --case h2d --format csv | awk -F, 'NR == 2 { print $5 }')"
    done
done | sort >want
jq -r '.rows[] | select(.variant != "base") | [.variant, .command, .time_ns] | @csv' out | tr -d '"' |
    awk -F, -v OFS=, '{ $4 = sprintf("%.6f", $4) } { print }' | sort >have
[ $code -eq 0 ] && same want have
ok "a command whose bench does not have an argument runs without it"
printf 'commands: [run gemm, load --pattern uniform --rate 0.1]\nvary: {arg.Q: [32, 64]}\n' >s.yaml
study
[ $code -eq 3 ] && says "s.yaml:2:8: 'arg.Q' is no argument of a bench of these commands"
ok "an argument that no bench has"

# -- causes ---------------------------------------------------------------------------------------

printf 'command: run gemm M=64\nvary: {cube.hbm.bw_gbs: [128, 512]}\n' >s.yaml
study --breakdown --format csv
"$SIM" run gemm M=64 --set cube.hbm.bw_gbs=512 --breakdown --format csv --quiet >one
[ $code -eq 0 ] && same one <(sed -n '1s/^variant,command,//p;s/^512,run gemm M=64,//p' out) && [ "$(cut -d, -f1 out | uniq | xargs)" = "variant base 128 512" ]
ok "--breakdown: of each run, behind variant and command"
printf 'commands: [run gemm, probe]\nvary: {cube.hbm.bw_gbs: [128, 512]}\n' >s.yaml
study --breakdown
[ $code -eq 3 ] && says "s.yaml:1:22: 'probe' has no --breakdown here: run and replay have"
ok "--breakdown: a command that has none"

# docs/model.md "Packets": 66.085 whole, or in two packets, 93.085 in four
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,16K\n' >cut.csv
cat >s.yaml <<'END'
set: {cube.pe.pe_dma.issue_ns: 25}
command: replay cut.csv
variants: {four: {cube.pe.pe_dma.packet_bytes: 4096}, two: {cube.pe.pe_dma.packet_bytes: 8192}}
END
study --format csv
equal "sizes of packets" "base 66.085000 four 93.085000 two 66.085000" \
    "$(sed 1d out | cut -d, -f1,5 | sort | tr , ' ' | paste -sd ' ')"

# -- report, other machines ---------------------------------------------------------------------

cat >s.yaml <<'END'
set: {contention.links: fifo}
command: run gemm M=128
vary: {cube.noc.bw_gbs: [128, 256, 512], sip.d2d.bw_gbs: [128, 256]}
cost: {sip.d2d.bw_gbs: 0.5, cube.noc.bw_gbs: 0.25}
END
run report study s.yaml -o page.html
[ $code -eq 0 ] && grep -q 'links fifo</dd>' page.html
ok "report: the base machine"
equal "report: a row for each variant, with keys, gain, cost" '7 [["cube.noc.bw_gbs","sip.d2d.bw_gbs","metric","time_ns","gain_pct"],["algorithm","cost","on_front"]]' \
    "$(page_data page.html '.rows | (.rows | length), [.columns[2:7], .columns[9:12]]' | paste -sd ' ')"
# a page, though all has failed
printf 'commands: [run gemm M=64 K=0]\nvary: {cube.noc.bw_gbs: [128, 256, 512]}\n' >failing.yaml
run report study failing.yaml -o failed.html
[ $code -eq 2 ] && ! grep -q 'runtime error' err && page_data failed.html -e '[.rows.rows[] | .[11]] == ["failed", "failed", "failed", "failed"]' >out
ok "report: all runs have failed"
"$SIM" info --config >own.yaml
sed -i '1i machine: own.yaml' s.yaml
study --format csv && cp out own.csv
call "$B/kernbench" study s.yaml --format csv
[ $code -eq 0 ] && same out own.csv
ok "machine: FILE, also for a program without a machine"
# -- kinds, links, routers ------------------------------------------------------------------------

printf '%s\n' 'kernbench: 3' 'name: k' 'links: {eth: {bw_gbs: 64.0, latency_ns: 8.0}}' 'kinds: {x: {hbm: {latency_ns: 100.0}}}' \
    'sip: {cubes: 2, net: [{list: [c0.E-c1.W], link: eth}]}' 'cubes: {c0: x, c1: x}' >k.yaml
cat >s.yaml <<'END'
machine: k.yaml
command: probe --case pe-local-hbm
variants: {same: {kinds.x.hbm.latency_ns: 100}, better: {kinds.x.hbm.latency_ns: 50}, twice: {links.eth.bw_gbs: 128},
    wide: {kinds.x.noc.bw_gbs: 129}}
cost: {kinds.x.hbm.latency_ns: -1, links.eth.bw_gbs: 0.5, kinds.x.noc.bw_gbs: 10}
END
call "$B/kernbench" study s.yaml --format csv
equal "costs of keys of kinds and links are those of the change, also where the kind had none" \
    "base 100.000000 64.000000 128.000000 0.000000 better 50.000000 64.000000 128.000000 50.000000 same 100.000000 64.000000 128.000000 0.000000 twice 100.000000 128.000000 128.000000 32.000000 wide 100.000000 64.000000 129.000000 10.000000" \
    "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $1, $at["kinds.x.hbm.latency_ns"], $at["links.eth.bw_gbs"], $at["kinds.x.noc.bw_gbs"], $at["cost"] }' out | sort | xargs)"
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c5.slice0,0,4K\n' >row.csv
printf 'set: {contention.links: router}\ncommand: replay row.csv\nvariants: {x: {cube.noc.bw_gbs: 64}}\n' >s.yaml
study --format csv --stats use.csv
cp out with.csv
"$SIM" replay row.csv --set contention.links=router --stats alone.csv --quiet >alone
grep -q '^vc,' alone.csv && same <(sed -n 's/^base,replay row.csv,//p' use.csv) <(sed 1d alone.csv)
ok "--stats: rows of buffers, too"
study --format csv
same out with.csv
ok "which change nothing else"
plan
