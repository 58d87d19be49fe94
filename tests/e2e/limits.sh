#!/usr/bin/env bash
# limits.sh -- --limit-s and --limit-mb end any command with what is complete; what lasts says so; and small
# inputs that took minutes take a second of processor time. TAP on stdout.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
KBGEN=${KBGEN:-$B/kbgen}
case $KBGEN in /*) ;; *) KBGEN=$root/$KBGEN ;; esac
ANY=${ANY:-$B/kernbench}

# Two points, of which the second has millions of transactions.
long="sweep --src c0.pe0 --dst c7.slice4 --inflight 4,8000000 --engine hop -j 1"

# -- limits ---------------------------------------------------------------------------------------

echo "as it was" >o.csv
run $long --limit-s 3 -o o.csv
[ $code -eq 8 ] && [ "$(cat o.csv)" = "as it was" ] && grep -q 'c7.slice4' o.csv.partial &&
    says "stopped by --limit-s: 1 of 2 points complete" && says "what is complete is in o.csv.partial"
ok "--limit-s: the point that is complete is in another file, exit 8"
run $long --limit-s 3 --format json
[ $code -eq 8 ] && [ "$(jq '.rows | length' out)" = 1 ]
ok "and on stdout as JSON that parses"
many 1000
for command in "replay many.csv" "load --pattern uniform --rate 0.05 --txns 1000" "run softmax M=64 N=64" "probe" \
    "why gemm M=64 N=64 K=64" "probe --vary cube.noc.bw_gbs=128,256" "info" "view cube" "route c0.pe0 c1.slice0"; do
    run $command --limit-s 1000 --limit-mb 100000 --quiet
    cp out limited
    run $command --quiet
    [ $code -eq 0 ] && cmp -s limited out || echo "$command"
done >differ
nothing "$(cat differ)"
ok "limits that are not reached change no byte"
for bad in "--limit-s 0" "--limit-s -1" "--limit-s x" "--limit-mb 0" "--limit-mb 1.5" "--limit-mb 99999999999999999999"; do
    run info $bad
    [ $code -eq 2 ] && says "${bad%% *} '${bad##* }' is not" || echo "$bad: $code"
done >differ
nothing "$(cat differ)"
ok "limits that are none: exit 2"
if nm "$SIM" | grep -q '__\(asan_init\|tsan_init\)'; then
    skip "--limit-mb" "a sanitizer has memory of its own"
else
    run $long --limit-mb 60
    [ $code -eq 8 ] && says "stopped by --limit-mb"
    ok "--limit-mb: exit 8"
fi

# -- machines in the making -----------------------------------------------------------------------

machine()
{
    printf '%s\n' "kernbench: 2" "name: t" "${@:2}" >"$1.yaml"
}

machine gaps "sip: {cube_mesh: {w: 60, h: 60}}" "contention: {links: router}" "missing: [c1830, c67, c185]"
call "$ANY" info --machine gaps.yaml --limit-s 0.3
[ $code -eq 8 ] && says "stopped by --limit-s; nothing is kept" && [ ! -s out ]
ok "a machine in the making: --limit-s"
call "$KBGEN" --limit-s 0.3 gaps.yaml
[ $code -eq 8 ] && says "kbgen: stopped by --limit-s"
ok "the same of kbgen"
machine pes "sips: 32" "sip: {cube_mesh: {w: 16, h: 16}}" "cube: {pes: 64}"
call "$ANY" load --machine pes.yaml --pattern uniform --rate 0.1 --txns 10 --limit-mb 1000
[ $code -eq 8 ] && grep -qE "a simulation of this machine takes 12[0-9][0-9] MB of memory, more than --limit-mb" err
ok "524,288 PEs: what a simulation takes is known before it begins"

# -- a word ---------------------------------------------------------------------------------------

# until_word COMMAND...: until there is a word about time on stderr, or the end
until_word()
{
    : >err
    set -m
    "$@" >out 2>err &
    pid=$!
    set +m
    for ((i = 0; i < 3000; i++)); do
        ! grep -q worked err && kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    kill -INT $pid 2>/dev/null
    wait $pid 2>/dev/null
}

if nm "$SIM" | grep -q '__\(asan_init\|tsan_init\)'; then
    skip "a word" "a sanitizer takes many times as long"
else
    until_word "$SIM" $long -o w.csv
    grep -q '^note: this has worked for 1 s so far, about [0-9]* s in all: 50.0 % of 2 points are done; --limit-s ends it with what is complete$' err &&
        [ "$(grep -c '^note: this has worked' err)" = 1 ]
    ok "what lasts says so, and how long it will"
    until_word "$ANY" info --machine gaps.yaml
    grep -q '^note: this has worked for 1 s so far; --limit-s ends it$' err
    ok "also while a machine is made"
    until_word "$KBGEN" gaps.yaml
    grep -q '^kbgen: note: this has worked for 1 s so far' err
    ok "and kbgen"
fi
call bash -c 'ulimit -t 2 && exec "$@"' - "$SIM" $long --quiet
! grep -q note err
ok "--quiet: not a word"

# -- small inputs ---------------------------------------------------------------------------------

# within SECONDS COMMAND...: of processor time, so that it does not matter what else runs; a sanitizer takes more
factor=1
nm "$SIM" | grep -q '__\(asan_init\|tsan_init\|ubsan_handle\|gcov_\)' && factor=20
within()
{
    local s=$1

    shift
    call bash -c "ulimit -t $((s * factor)) && exec \"\$@\"" - "$@"
}

machine trays "sips: 256" "sip: {cube_mesh: {w: 16, h: 16}}" "contention: {links: router}"
[ "$(wc -c <trays.yaml)" -lt 100 ]
within 2 "$ANY" info --machine trays.yaml
[ $code -eq 0 ] && grep -q '^pes  *524288' out
ok "256 packages of 16 x 16 cubes with routers: one proof for all"
machine grid "sips: 256" "sip: {cube_mesh: {w: 16, h: 16}}" "fabric: {shape: grid, grid: {w: 16, h: 16}}" "contention: {links: router}"
within 4 "$ANY" info --machine grid.yaml
[ $code -eq 0 ]
ok "the same as a grid of packages"
machine ring "sips: 256" "sip: {cube_mesh: {w: 16, h: 16}}" "fabric: {shape: grid, grid: {w: 16, h: 16}, wrap: x}" \
    "contention: {links: router, vcs: [1, 1]}"
within 2 "$ANY" info --machine ring.yaml
[ $code -eq 3 ] && says "contention.vcs"
ok "and what is refused, is refused"
machine holes "sip: {cube_mesh: {w: 100, h: 100}}" "missing: [c5050, c1234, c7777]"
within 3 "$ANY" route --machine holes.yaml c0.pe0 c9999.slice0
[ $code -eq 0 ]
ok "100 x 100 cubes, three of them missing"
printf 'commands: %s\n' "$(printf '%20000s' | tr ' ' '[')" >open.yaml
within 1 "$SIM" study open.yaml
[ $code -eq 3 ] && says "open.yaml:1:74: nested more than 64 deep"
ok "20,000 open brackets in a study"
plan
