#!/usr/bin/env bash
# locale.sh -- in a locale with a comma, programs that have called setlocale() read and write the same bytes.
#
# B names the build, SIM the simulator of cube8 in it, KBGEN the generator, CC the compiler. The
# locale is made here, from what Debian's package locales has.
. "$(dirname "$0")/../support/tap.sh"
at_top
kbgen=$(realpath "${KBGEN:-$B/kbgen}")

if nm "$SIM" | grep -q '__\(asan_init\|tsan_init\)'; then
    none "a sanitizer must be loaded first"
fi
mkdir "$work/locales"
localedef -i de_DE -f UTF-8 "$work/locales/de_DE.UTF-8" >"$work/out" 2>"$work/err" &&
    ${CC:-cc} -shared -fPIC -O1 -o "$work/comma.so" tests/support/comma.c
ok "a locale with a comma" || { plan; exit; }

# in_comma COMMAND...: in a program that has called setlocale(LC_ALL, "")
in_comma()
{
    LOCPATH=$work/locales LC_ALL=de_DE.UTF-8 LD_PRELOAD=$work/comma.so "$@"
}

# without SPEED: the closing line and progress depend on the clock
still()
{
    grep -v 'simulated/host time' "$1"
}

# both NAME CODE COMMAND...: in a folder of its own each: output, messages, exit code and files are the same
both()
{
    local name=$1 wanted=$2 one two

    shift 2
    rm -rf "$work/c" "$work/de"
    mkdir "$work/c" "$work/de"
    (cd "$work/c" && "$@" >out 2>err)
    one=$?
    (cd "$work/de" && in_comma "$@" >out 2>err)
    two=$?
    for at in c de; do
        still "$work/$at/err" >"$work/$at/messages"
        rm "$work/$at/err"
        for db in "$work/$at"/*.db; do
            [ ! -f "$db" ] || python3 -c 'import sqlite3, sys
for line in sqlite3.connect(sys.argv[1]).iterdump(): print(line)' "$db" | grep -v INSERT.*[0-9][0-9]:[0-9][0-9]: >"$db.text"
        done
        rm -f "$work/$at"/*.db
    done
    [ $one = "$wanted" ] && [ $two = "$wanted" ] && same -r "$work/c" "$work/de"
    ok "$name"
}

if [ "$(in_comma "$SIM" --version 2>&1)" = "comma.so: the locale has no comma" ]; then
    false
    ok "the locale has a comma"
fi
for yaml in cube8 cube1 tray32; do
    both "kbgen $yaml" 0 "$kbgen" "$root/topologies/$yaml.yaml"
done
both "kbgen --set" 0 "$kbgen" --set 'cube.hbm.bw_gbs=512.125' --set 'cube.xbar.overhead_ns=0.5' "$root/topologies/cube1.yaml"
both "kbgen refuses a number" 2 "$kbgen" --set 'cube.hbm.efficiency=1.5' "$root/topologies/cube1.yaml"
both "kbgen refuses a comma" 2 "$kbgen" --set 'cube.hbm.efficiency=0,5' "$root/topologies/cube1.yaml"
both "kbgen --man" 0 "$kbgen" --man

talking=$(realpath "$B/_t/talking")
csv=$root/benches/one_slice.csv
for format in table csv json jsonl md; do
    for command in info probe "route c0.pe0 c7.slice4" "replay $csv" \
        "sweep --src c0.pe0 --dst c0.slice0 --bytes 64,4K --inflight 1,4" \
        "load --pattern uniform --rate 0.1,0.45 --txns 3000" list \
        "run softmax M=16 N=64 --verify" "run layernorm M=16 N=64 eps=0.0625" \
        "run softmax M=16 N=64 --breakdown" "run softmax M=16 N=64 --inspect last" "run softmax --race" \
        "replay $csv --breakdown" "why softmax M=16 N=64"; do
        # shellcheck disable=SC2086
        both "$command, $format" 0 "$SIM" $command --format $format
    done
done
both "--stats" 0 "$SIM" replay "$csv" --stats s.csv --sqlite r.db -o rows.csv
both "--stats as JSON" 0 "$SIM" run softmax M=16 N=64 --stats s.json --sqlite r.db -o rows.jsonl
both "op logs" 0 "$SIM" run attention S=64 --oplog ops.jsonl --dump d
both "op logs as CSV" 0 "$SIM" run layernorm M=16 N=64 eps=1e-3 --oplog ops.csv
both "timelines" 0 "$SIM" run softmax M=16 N=64 --trace t.json
both "timelines for Perfetto" 0 "$SIM" replay "$csv" --trace t.pftrace
for command in probe "replay $csv" "sweep --src c0.pe* --dst c0.slice0 --bytes 64,4K --inflight 1,4" \
    "load --pattern uniform --rate 0.1,0.45 --txns 3000" "run softmax M=16 N=64"; do
    # shellcheck disable=SC2086
    both "report ${command%% *}" 0 "$SIM" report $command -o page.html
done
both "view" 0 "$SIM" view --format svg
both "view --format dot" 0 "$SIM" view --format dot
"$SIM" replay "$csv" --stats "$work/s.csv" -o "$work/a.csv"
"$SIM" probe --bytes 64 --format json -o "$work/a.json"
"$SIM" probe --bytes 4K --format json -o "$work/b.json"
"$SIM" load --pattern uniform --rate 0.1:0.4:0.1 --txns 2000 -o "$work/load.csv" 2>/dev/null
both "view --stats" 0 "$SIM" view --stats "$work/s.csv"
both "diff" 1 "$SIM" diff "$work/a.json" "$work/b.json" --format json
both "diff, a bound" 1 "$SIM" diff "$work/a.json" "$work/b.json" --bound 0.5
printf 'src,dst,weight\nc0.pe0,c1.slice0,0.5\nc0.pe1,c1.slice3,2.5e-1\n' >"$work/m.csv"
both "a matrix" 0 "$SIM" load --pattern "matrix:$work/m.csv" --rate 0.5 --txns 2000
both "a list of rates" 2 "$SIM" load --pattern uniform --rate 0.1:0.7
both "a number that is none" 2 "$SIM" run layernorm eps=0,5
both "a number out of its range" 2 "$SIM" run layernorm eps=1e9
both "a deadlock" 4 "$talking" run circle
both "links that are too full" 0 "$SIM" load --pattern uniform --rate 0.6 --txns 3000
both "manual page" 0 "$SIM" --man
plan
