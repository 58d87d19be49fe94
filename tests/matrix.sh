#!/usr/bin/env bash
# matrix.sh -- the same bytes from all compilers, flags, sanitizers, machines, threads, locales. Prints TAP.
#
# usage: matrix.sh [PATTERN]: the cells whose names match, like gcc-O2-plain; all of them take an hour.
# Each cell is a build of its own, in $B/matrix/CELL. It runs a list of commands, in every format, with
# -j 1, 2 and 8, in two locales, with and without address space layout randomization. All sums of what is
# printed and written are kept in $B/matrix/CELL.sums, and compared with those of the first cell. A cell
# whose sums are there for the sources as they are is not run again.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
pattern=${1:-.}
top=$PWD
matrix=$B/matrix
mkdir -p "$matrix"
n=0 failed=0
sources=$(find gen runtime benches templates topologies tests/matrix.sh Makefile -type f | sort | xargs cksum | cksum)

ok()
{
    local status=$?

    n=$((n + 1))
    [ $status = 0 ] && echo "ok $n - $1" || { echo "not ok $n - $1"; failed=1; }
}

# -- what is run --------------------------------------------------------------------------------

# Two locales: one writes 1,5 for 1.5. It is made here, as a system may have none.
export LOCPATH=$top/$matrix/locale
[ -d "$LOCPATH/de_DE.UTF-8" ] || { mkdir -p "$LOCPATH" && localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8"; } ||
    { echo "Bail out! no localedef: install locales"; exit 1; }

# Each line: a name, and a command; files that it writes are summed, too. JOBS stands for -j N.
in_all_formats="probe probe
route route c0.pe1 c5.slice3
replay replay $top/tests/vectors/cube8_mixed.csv --fingerprint
hop replay $top/tests/vectors/cube8_mixed.csv --engine hop --fingerprint
parts replay $top/benches/one_slice.csv --breakdown
sweep sweep --src c0.pe0 --dst c*.slice* --inflight 1:4 JOBS
load load --pattern uniform --rate 0.1:0.5:0.2 --txns 3000 --seeds 2 JOBS
load.stats load --pattern uniform --rate 0.3 --txns 3000 --seeds 1 JOBS --stats stats.csv
why why gemm M=48 N=40 K=72 JOBS
lacks.banks load --pattern random --rate 0.3 --txns 2000 --seeds 1 --set cube.hbm.model=banks JOBS
lacks.routers load --pattern uniform --rate 0.2 --txns 1000 --seeds 1 --set contention.links=router JOBS
lacks.vary sweep --src c0.pe0 --dst c*.slice0 --vary cube.hbm.bw_gbs=128,256 --vary cube.noc.bw_gbs=100:300:100 JOBS
lacks.bykey why gemm M=48 N=40 K=72 --by key JOBS
lacks.study study $top/benches/noc_or_d2d.yaml JOBS
diff diff $top/tests/vectors/cube8_mixed.expected.csv $top/tests/vectors/cube8_remote.expected.csv
list list
run run gemm M=48 N=40 K=72 --verify JOBS --fingerprint
race run attention_ring --race JOBS"

# Of "lacks" other machines lack the library.
commands()
{
    local bench

    for format in table csv json jsonl md; do
        sed "s/ /.$format /; s/\$/ --format $format/" <<<"$in_all_formats"
    done
    for bench in $(basename -s .c benches/*.c); do
        echo "bench.$bench run $bench JOBS --fingerprint --quiet"
        echo "parts.$bench run $bench --breakdown JOBS --quiet --format json"
    done
    for bench in "gemm M=48 N=40 K=72" "softmax M=20 N=30" "attention H=2 S=48 T=40 D=24" "layernorm M=20 N=30"; do
        echo "files.${bench%% *} run $bench --oplog ops.csv --dump dump --trace t.json --stats stats.csv JOBS --verify"
        echo "inspect.${bench%% *} run $bench --oplog ops.jsonl --inspect last JOBS --format json"
        echo "report.${bench%% *} report run $bench JOBS -o page.html"
    done
    echo "trace.replay replay $top/benches/one_slice.csv --trace t.json"
    echo "view.system view system"
    echo "view.pe view pe --at c1.pe2"
    echo "view.cube view cube"
    echo "lacks.view view system --set contention.links=router"
    echo "lacks.banks.seen replay $top/benches/one_slice.csv --set cube.hbm.model=banks --trace t.json --stats stats.csv --breakdown"
    echo "lacks.routers.seen replay $top/benches/one_slice.csv --set contention.links=router --trace t.json --stats stats.csv --breakdown"
    echo "lacks.kernel.banks run gemm M=48 N=40 K=72 --set cube.hbm.model=banks --fingerprint JOBS"
    echo "lacks.kernel.routers run gemm M=48 N=40 K=72 --set contention.links=router --fingerprint JOBS"
    echo "lacks.loaded.replay replay $top/tests/vectors/cube8_mixed.csv --set cube.noc.bw_gbs=300 --fingerprint"
    echo "lacks.config info --config --set cube.noc.bw_gbs=300"
    echo "view.sip view sip"
    echo "lacks.trace replay $top/benches/one_slice.csv --trace t.pftrace"
    echo "lacks.sqlite probe --sqlite t.db"
}

# sums SIMULATOR RUNNER...: of all commands in this setting, a line "NAME FILE SUM SIZE"
sums()
{
    local name command code expected sim=$1 work

    shift
    work=$(mktemp -d)
    while read -r name command; do
        rm -rf "$work/out" && mkdir "$work/out"
        set -f
        # shellcheck disable=SC2086
        (cd "$work/out" && "$@" "$sim" ${command//JOBS/-j $jobs} >stdout 2>stderr </dev/null; echo $? >code)
        set +f
        read -r code <"$work/out/code"
        [[ $name = diff.* ]] && expected=1 || expected=0
        [ "$code" = $expected ] || echo "$name: exit $code, $(head -n 1 "$work/out/stderr")" >>"$matrix/fails"
        [ ! -f "$work/out/t.db" ] || {
            python3 -c 'import sqlite3, sys; print("\n".join(sqlite3.connect(sys.argv[1]).iterdump()))' \
                "$work/out/t.db" >"$work/out/sql" && rm "$work/out/t.db"
        }
        (cd "$work/out" && find . -type f -exec cksum {} +) | awk -v n="$name" '{ print n, $3, $1, $2 }' | sort
    done < <(commands)
    rm -rf "$work"
}

# -- cells --------------------------------------------------------------------------------------

# unexpected CELL: tells which commands failed; fails if any did that does not lack a library
unexpected()
{
    ! sort -u "$matrix/fails" | { [[ $1 = aarch64* ]] && grep -v '^lacks' || cat; } | sed 's/^/# /' | grep ''
}

# settings CELL SIMULATOR RUNNER...: the sums in each setting are the same; then they are those of the cell
settings()
{
    local cell=$1 sim=$2 setting wrong=0

    shift 2
    rm -f "$matrix/$cell.first" "$matrix/fails"
    for setting in on,1,C on,2,C on,8,C on,2,de_DE.UTF-8 off,2,C off,8,de_DE.UTF-8; do
        IFS=, read -r random jobs locale <<<"$setting"
        LC_ALL=$locale sums "$sim" $([ "$random" = on ] || echo setarch -R) "$@" >"$matrix/$cell.now"
        [ -f "$matrix/$cell.first" ] || cp "$matrix/$cell.now" "$matrix/$cell.first"
        diff "$matrix/$cell.first" "$matrix/$cell.now" >"$matrix/$cell.diff" || {
            echo "# $cell: -j $jobs, $locale, randomization $random:"
            sed 's/^/# /' "$matrix/$cell.diff" | head -10
            wrong=1
        }
    done
    [ ! -f "$matrix/fails" ] || unexpected "$cell" || wrong=1
    { echo "$sources"; cat "$matrix/$cell.first"; } >"$matrix/$cell.new"
    rm -f "$matrix/$cell".{now,diff,first}
    [ $wrong = 0 ] && mv "$matrix/$cell.new" "$matrix/$cell.sums"
}

# cell NAME RUNNER VARIABLE=VALUE...: builds it, unless its sums are there, and compares
cell()
{
    local name=$1 runner=$2

    shift 2
    [[ $name =~ $pattern ]] || return
    if [ "$(head -n 1 "$matrix/$name.sums" 2>/dev/null)" != "$sources" ]; then
        make -s -j"${JOBS:-$(nproc)}" B="$matrix/$name" KBGEN="$B/kbgen" SET= NAME= "$@" topology TOPO=cube8 \
            >"$matrix/$name.log" 2>&1 || { tail -n 5 "$matrix/$name.log" | sed 's/^/# /'; false; ok "$name builds"; return; }
        # shellcheck disable=SC2086
        settings "$name" "$top/$matrix/$name/cube8/cube8" env ASAN_OPTIONS=detect_leaks=0 $runner
        ok "$name: the same with any -j, locale, and layout of memory"
        rm -rf "${matrix:?}/$name/_o"
    fi
    [ -f "$matrix/$name.sums" ] || return
    [ "${base:-}" ] || base=$name
    files=$(($(wc -l <"$matrix/$name.sums") - 1))
    compare "$base" "$name"
    ok "$name: the same bytes as $base: $files files"
}

# compare A B: all but what B lacks because it is built without libraries
compare()
{
    local without='^$'

    [[ $2 != aarch64* ]] || without='^lacks'
    diff <(tail -n +2 "$matrix/$1.sums" | grep -v "$without") <(tail -n +2 "$matrix/$2.sums" | grep -v "$without") \
        >"$matrix/diff" || { sed 's/^/# /' "$matrix/diff" | head -40; false; }
}

asan='-fsanitize=address -fno-sanitize-recover=all'
ubsan='-fsanitize=undefined -fno-sanitize-recover=all'
make -s "$B/kbgen" || exit
for level in -O2 -O0 -O3 '-O2 -march=native'; do
    for compiler in gcc clang; do
        name=$compiler${level/-O2 -/-} name=${name/=/-}
        cell "$name-plain" '' CC=$compiler CFLAGS="$level -g1" SAN=
        cell "$name-asan" '' CC=$compiler CFLAGS="$level -g1" SAN="$asan"
        cell "$name-ubsan" '' CC=$compiler CFLAGS="$level -g1" SAN="$ubsan"
    done
done
cell aarch64-O2 qemu-aarch64 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar CFLAGS='-O2 -g1' SAN=-static BLIS=no YAML=no CLI_LIBS=
echo "1..$n"
[ $failed = 0 ]
