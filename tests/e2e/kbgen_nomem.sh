#!/usr/bin/env bash
# kbgen_nomem.sh -- whichever allocation fails, kbgen says so, prints nothing, and exits with 5.
# TAP on stdout. KBGEN names the program, CC the compiler.
# Of many allocations each of the first hundred fails, then about one in eight, others in each test.
# Not for sanitizers, which bring an allocator of their own, nor for --coverage, which allocates at exit.
. "$(dirname "$0")/../support/tap.sh"
at_top
kbgen=${KBGEN:-$B/kbgen}

# without NTH ARG...: run kbgen without its NTH allocation and all after it.
without()
{
    nth=$1
    shift
    NOMEM=$nth LD_PRELOAD=$work/nomem.so call "$kbgen" "$@"
}

# each NAME ARG...: allocations fail, one after the other, until kbgen needs no more of them.
each()
{
    name=$1 nth=1 next=1 as_it_should=0
    shift
    without 1 "$@"
    while [ $code -eq 5 ] && [ $nth -lt 5000 ]; do
        [ ! -s "$work/out" ] && [ "$(<"$work/err")" = "kbgen: out of memory" ] || as_it_should=1
        next=$((nth < 100 ? nth + 1 : nth + 1 + nth * 7 % 15))
        without $next "$@"
    done
    echo "# $name: about $((nth - 1)) allocations"
    [ $code -eq 0 ] && [ $nth -gt 20 ] && [ $as_it_should -eq 0 ]
    ok "$name"
}

if nm "$kbgen" | grep -q '__\(asan_init\|tsan_init\|ubsan_handle\|gcov_\)'; then
    skip "without memory" "a sanitizer or --coverage allocates, too"
    plan
    exit
fi
${CC:-cc} -shared -fPIC -O1 -o "$work/nomem.so" tests/support/nomem.c
ok "the allocator that fails builds"
each "a file" topologies/cube8.yaml
each "a file and an option" --set 'cube.size_mm=[20, 20]' topologies/cube1.yaml
plan
