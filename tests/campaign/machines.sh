#!/usr/bin/env bash
# machines.sh -- compiles random machines, and compares every command of each with kernbench --machine.
#
# usage: machines.sh BUILD FOLDER
# SEEDS (1-1000) says which machines, JOBS how many at a time. Machine N is the judge's: plain, of any shape, or
# either of these with what kernels need, by N modulo 4; every third has interleaved addresses. Compared are exit
# codes, stdout, stderr and each file that a command writes, byte by byte, except for how the program was called and
# for the row of info that tells a file from a compiled machine. FOLDER/done has a line for each machine that passed,
# which is not run again: remove it after a change of the sources. One that fails leaves its folder, and is run again
# by SEEDS=17.
#
# What takes long is left to some: the engine is inlined in every seventh machine, every fifth writes a report.
set -u
export LC_ALL=C CCACHE_DISABLE=1 # what is compiled once is not worth keeping
root=$(cd "$(dirname "$0")/../.." && pwd)
kinds=(plain any kernels any_kernels)
benches=("gemm M=32 N=32 K=64" "softmax M=16 N=64" "copy L=1024" "all_reduce over=cubes count=64"
    "gemm_composite M=32 N=32 K=64" "layernorm M=16 N=64" "broadcast over=cubes" "threshold M=16 N=32"
    "list_walk N=64 L=32" "reduce_scatter over=sips" "gather M=64 L=64 D=8" "all_gather over=cubes count=8")

# -- one machine --------------------------------------------------------------------------------

# draw N: its YAML; addresses are interleaved only where the generator takes that
draw()
{
    "$build/_t/judge" topo "$1" "${kinds[$1 % 4]}" >plain.yaml
    { cat plain.yaml && echo "addressing: {granule: 4096}"; } >machine.yaml
    [ $(($1 % 3)) = 0 ] && "$build/kbgen" --hash machine.yaml >/dev/null 2>&1 || cp plain.yaml machine.yaml
    rm plain.yaml
}

# compile: the simulator of machine.yaml, as the Makefile makes it; its name is in $name
compile()
{
    local file flags='-O0 -Dalways_inline=noinline'

    [ $((seed % 7)) != 0 ] || flags=-O1
    name=$("$build/kbgen" --name machine.yaml) && mkdir made && "$build/kbgen" machine.yaml >made/defs.m4 || return
    for file in topo.h topo.c main.c api.h; do
        m4 -P -E -E -I "$root/templates" "$root/templates/base.m4" made/defs.m4 "$root/templates/$file.m4" \
            >"made/${file/api/$name}" || return
    done
    eval "$(cat "$build/_o/flags") -w -g0 $flags -I '$root/runtime/include' -I '$root/runtime' -I '$root' -iquote made \
        -o 'made/$name' made/topo.c made/main.c '$build/libkernbench-cli.a' '$build/libkernbench.a' $(cat "$build/_t/libs")"
}

# alike ARGUMENT...: both programs do the same, each in a folder of its own; what differs is left there
alike()
{
    local code=0 loaded=0

    rm -rf compiled loaded && mkdir compiled loaded
    (cd compiled && exec "../made/$name" "$@" --quiet >stdout 2>stderr) || code=$?
    (cd loaded && exec "$build/kernbench" --machine ../machine.yaml "$@" --quiet >stdout 2>stderr) || loaded=$?
    sed -i "s/^$name: /kernbench: /; s/'$name /'kernbench /g" compiled/stderr
    grep -rlZ kernbench loaded | xargs -0r sed -i "s#kernbench --machine \.\./machine\.yaml #$name #g"
    [ "$1" != info ] || sed -i '/^machine[ ,]/d' compiled/stdout loaded/stdout
    runs=$((runs + 1))
    [ $code != 0 ] || good=$((good + 1))
    [ $code = $loaded ] && diff -r compiled loaded >differs && return
    echo "not ok - machine $seed: $* (exit $code and $loaded), see $PWD"
    head -n 4 differs | cut -c 1-300
    return 1
}

# commands: all of them; stops at the first that differs
commands()
{
    local bench other

    read -ra bench <<<"${benches[seed % ${#benches[@]}]}"
    read -ra other <<<"${benches[seed / 2 % ${#benches[@]}]}"
    "$build/_t/judge" rows "$seed" machine.yaml 60 >rows.csv
    alike info && alike info --format csv && alike info --config && alike list --format csv &&
        alike probe && alike probe --format json --bytes 100 &&
        alike sweep --src 'c*.pe0,host' --dst 'c*.slice0,c0.sram,s1.c0.slice0' --bytes 64,4K --inflight 1,3 &&
        alike replay ../rows.csv --fingerprint --stats stats.csv --trace trace.json &&
        alike replay ../rows.csv --fingerprint --engine hop &&
        alike replay ../rows.csv --breakdown --format csv &&
        alike load --pattern uniform --rate 0.1,0.7 --txns 300 --seeds 2 --stats stats.csv &&
        alike load --pattern stream --rate 0.3 --txns 200 --seeds 1 --breakdown --trace trace.perfetto &&
        alike run "${bench[@]}" --verify --fingerprint --stats stats.csv --oplog oplog.csv &&
        alike run "${bench[@]}" --breakdown --trace trace.json --trace-to 1000 &&
        alike run "${other[@]}" --race --engine hop &&
        alike why "${other[@]}" --format csv && alike why ../rows.csv &&
        alike why load --pattern neighbor --rate 0.3 --txns 100 --format csv &&
        { [ $((seed % 5)) != 0 ] || alike report probe -o page.html; } || return
    for level in system sip cube pe; do
        alike view $level || return
    done
    tail -n +2 rows.csv | cut -d, -f2-4 | grep -v -e 0x -e mwrite -e mread | head -n 3 | tr , ' ' >ends
    while read -r op src dst; do
        alike route "$src" "$dst" --op "$op" || return
    done <ends
}

# machine N
machine()
{
    local folder=$PWD/$1 seed=$1 runs=0 good=0 name

    rm -rf "$folder" && mkdir "$folder" && cd "$folder" || return
    draw "$seed"
    if ! compile >cc 2>&1; then
        echo "not ok - machine $seed is not compiled, see $folder/cc"
    elif commands; then
        cd .. && rm -rf "$folder"
        echo "machine $seed: $runs runs alike, $good of them without an error"
    fi
}

if [ "$1" = --machine ]; then
    build=$2
    cd "$3" || exit
    machine "$4"
    exit
fi

# -- all of them --------------------------------------------------------------------------------

build=$(cd "$1" && pwd) folder=$2 seeds=${SEEDS:-1-1000}
mkdir -p "$folder" && touch "$folder/done" && : >"$folder/failed" || exit
for ((seed = ${seeds%-*}; seed <= ${seeds#*-}; seed++)); do
    grep -q "^machine $seed:" "$folder/done" || echo "$seed"
done | xargs -r -n 1 -P "${JOBS:-$(nproc)}" bash "$0" --machine "$build" "$folder" |
    while IFS= read -r line; do
        case $line in
        "machine "*) echo "$line" >>"$folder/done" ;;
        *) echo "$line" | tee -a "$folder/failed" ;;
        esac
    done
awk '{ runs += $3; good += $6 } END {
    printf "%d machines, %d runs alike, %d of them without an error\n", NR, runs, good }' "$folder/done"
failed=$(grep -c '^not ok' "$folder/failed")
echo "$failed failed"
[ "$failed" = 0 ]
