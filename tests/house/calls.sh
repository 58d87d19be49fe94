#!/usr/bin/env bash
# calls.sh -- no function calls one of a folder to the right, and few files call each other. Prints TAP.
#
# B names the build. Builds cube8 once more without optimisation, in $B/house, where each call is seen
# by nm; and each source by itself, also those that kernels.c includes. By clang, which takes half as
# long for that as gcc; `make check-debug` does it with gcc.
. "$(dirname "$0")/../support/tap.sh"
at_top
house=tests/house/house.py
objects=$B/house/_o

# make_debug GOAL...: as `make debug` does, but for -g
make_debug()
{
    call env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u SAN make -s -k B="$B/house" CFLAGS=-O0 CC=clang "$@"
    [ "$code" -eq 0 ]
}

make_debug SET= NAME= TOPO=cube8 topology && "$B/house/cube8/cube8" probe >"$work/probe" && "$B/cube8/cube8" probe | same "$work/probe" -
ok "without optimisation a simulator links, and prints the same"
make_debug alone && nothing "$(grep -E 'warning:|error:' "$work/err")"
ok "each source compiles alone, without a warning"
nothing "$(python3 $house calls "$objects" 2>&1)"
ok "no file calls a folder to its right"
nothing "$(python3 $house circles "$objects" 2>"$work/longest")"
ok "no more than two files call each other, all of one folder"
cat "$work/longest"

# -- planted ----------------------------------------------------------------------------------

# plant PATH CODE: an object of this source
plant()
{
    mkdir -p "$work/planted/$(dirname "$1")"
    echo "$2" | ${CC:-gcc} -x c -O0 -w -c -o "$work/planted/${1%.c}.o" -
}

plant runtime/base/a.c 'void a(void) { b(); }'
plant runtime/sim/b.c 'void b(void) { a(); }'
python3 $house calls "$work/planted" | grep -qx 'runtime/base/a.c: calls b() of runtime/sim/b.c: sim is not to the left of base'
ok "a call to the right is found"
python3 $house circles "$work/planted" 2>&1 | grep -q '^2 files of 2 folders call each other: runtime/base/a.c runtime/sim/b.c'
ok "two files of two folders that call each other are found"
rm -r "$work/planted"
plant runtime/sim/a.c 'void a(void) { b(); }'
plant runtime/sim/b.c 'static void c(void) {} void b(void) { a(); c(); }'
[ -z "$(python3 $house circles "$work/planted" 2>/dev/null)" ]
ok "two of one folder may"
plant runtime/sim/b.c 'void b(void) { c(); }'
plant runtime/sim/c.c 'void c(void) { a(); }'
python3 $house circles "$work/planted" 2>&1 | grep -q '^3 files of 1 folders'
ok "a circle of three is found"
plant runtime/engine/d.c 'void d(void) { e(); }'
plant runtime/data/e.c 'void e(void) {}'
plant runtime/network/f.c 'void f(void) { d(); }'
equal "engine and network are one room, data another" 'runtime/engine/d.c: calls e() of runtime/data/e.c' \
    "$(python3 $house calls "$work/planted" | sed 's/: data is.*//')"
plan
