#!/usr/bin/env bash
# run.sh -- runs test programs and scripts that print TAP, and counts every test of them.
#
# usage: run.sh PROGRAM...; prints what failed, and last "N passed, N failed".
set -u

passed=0 failed=0 skipped=0
export CMOCKA_MESSAGE_OUTPUT=TAP
out=$(mktemp)
trap 'rm -f "$out"' EXIT

for program in "$@"; do
    start=$(date +%s)
    case $program in
    *.sh) bash "$program" >"$out" 2>&1 ;;
    *) ${RUNNER:-} "$program" >"$out" 2>&1 ;;
    esac
    code=$?
    skip=$(grep -c '^\(not \)\?ok .*# SKIP' "$out")
    ok=$(grep '^ok ' "$out" | grep -vc '# SKIP')
    bad=$(grep '^not ok ' "$out" | grep -vc '# SKIP')
    # a program that ended badly, or tested nothing, without saying so is a failure of its own
    if [ "$bad" = 0 ] && { [ "$code" != 0 ] || [ $((ok + skip)) = 0 ]; }; then
        bad=1
        echo "not ok - $program ended with $code" >>"$out"
    fi
    printf '%-28s %5d passed %3d failed %4d s\n' "$(basename "$program")" "$ok" "$bad" \
        $(($(date +%s) - start))
    [ "$bad" = 0 ] || grep -v '^ok ' "$out" | tail -n 60
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
done
[ "$skipped" = 0 ] || echo "$skipped skipped: what they test cannot be had in this build"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
