#!/usr/bin/env bash
# failures.sh -- runs a simulator and kbgen with calls of the system failing, for the lines that run then.
#
# usage: failures.sh BUILD [SAMPLE]; a build with --coverage, which allocates itself: nothing is judged
# here. Counts go to BUILD/failing, so that a file of them that a failure spoils is no other one's.
set -u
build=$1 sample=${2:-12}
${CC:-gcc} -D_GNU_SOURCE -shared -fPIC -O1 -o "$build/failures.so" tests/support/failures.c || exit
rm -rf "$build/failing"
export GCOV_PREFIX=$PWD/$build/failing
{
    python3 tests/failures/failures.py "$build/_m/cube8/cube8" "$build/failures.so" --sample "$sample" -j "${JOBS:-1}"
    for kind in open read alloc; do
        for nth in 1 2 3 5 8 13 21 34 55 89 144 233 377; do
            FAIL_KIND=$kind FAIL_AT=$nth LD_PRELOAD=$build/failures.so "$build/kbgen" topologies/cube1.yaml
        done
    done
    "$build/kbgen" topologies/cube1.yaml >/dev/full
    "$build/kbgen" --config topologies/cube1.yaml >/dev/full
} >"$build/failures.log" 2>&1
# gcov reads what the compiler wrote from beside the counts; a failure may have spoiled a file of counts
find "$build/failing" -name '*.gcda' | while read -r counts; do
    notes=${counts#"$build/failing"}
    cp "${notes%.gcda}.gcno" "${counts%.gcda}.gcno" && gcov --stdout "$counts" >/dev/null 2>&1 || rm "$counts"
done
exit 0
