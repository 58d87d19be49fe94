#!/bin/sh
# kbgen_nomem.sh -- whichever allocation fails, kbgen says so, prints nothing, and exits with 5.
# TAP on stdout. KBGEN names the program, CC the compiler; run from the top of the tree.
# Not for sanitizers, which bring an allocator of their own, nor for --coverage, which allocates at exit.
LC_ALL=C
export LC_ALL
kbgen=${KBGEN:-build/kbgen}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

report()
{
    outcome=$?
    n=$((n + 1))
    if [ $outcome -eq 0 ]; then
        echo "ok $n - $1"
    else
        failed=1
        echo "not ok $n - $1"
    fi
}

# without NTH ARG...: run kbgen without its NTH allocation and all after it.
without()
{
    nth=$1
    shift
    NOMEM=$nth LD_PRELOAD=$dir/nomem.so "$kbgen" "$@" >"$dir/out" 2>"$dir/err"
    code=$?
}

# each NAME ARG...: every allocation fails in turn, until kbgen needs no more of them.
each()
{
    name=$1 nth=1 as_it_should=0
    shift
    without 1 "$@"
    while [ $code -eq 5 ] && [ $nth -lt 5000 ]; do
        [ ! -s "$dir/out" ] && [ "$(cat "$dir/err")" = "kbgen: out of memory" ] || as_it_should=1
        without $((nth + 1)) "$@"
    done
    echo "# $name: $((nth - 1)) allocations"
    [ $code -eq 0 ] && [ $nth -gt 20 ] && [ $as_it_should -eq 0 ]
    report "$name"
}

if nm "$kbgen" | grep -q '__\(asan_init\|tsan_init\|ubsan_handle\|gcov_\)'; then
    echo "1..1"
    echo "ok 1 - # SKIP a sanitizer or --coverage allocates, too"
    exit 0
fi
${CC:-cc} -shared -fPIC -O1 -o "$dir/nomem.so" tests/nomem.c
report "the allocator that fails builds"
each "a file" topologies/cube8.yaml
each "a file and an option" --set 'cube.size_mm=[20, 20]' topologies/cube1.yaml
echo "1..$n"
exit $failed
