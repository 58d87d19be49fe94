#!/usr/bin/env bash
# co_gdb.sh -- a debugger in a coroutine sees its frames, and the end of them. Prints TAP.
#
# B is the build (default build). Needs gdb, and leave to trace a process.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
program=${B:-$root/build}/_t/test_co_arch

echo 1..1
out=$(timeout 60 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'handle SIGSEGV nostop noprint pass' \
    -ex 'break backtrace_here' -ex run -ex backtrace -ex kill "$program" 2>&1)
case $out in
*'hit Breakpoint 1'* | *'Breakpoint 1, '*) ;;
*)
    echo "ok 1 # SKIP no gdb that can run $program"
    exit 0
    ;;
esac
frames=$(grep '^#[0-9]' <<<"$out" | sed 's/^#[0-9]* *\(0x[0-9a-f]* in \)\?\([a-z_]*\).*/\2/' | tr '\n' ' ')
case $frames in
'backtrace_here run co_start ' | 'backtrace_here run run_halves '*)
    grep -qi 'backtrace stopped' <<<"$out" || { echo "ok 1 - gdb sees where a coroutine began"; exit 0; }
    ;;
esac
echo "not ok 1 - gdb sees where a coroutine began"
sed 's/^/# /' <<<"$out"
exit 1
