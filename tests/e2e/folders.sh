#!/usr/bin/env bash
# folders.sh -- builds in two folders are equal byte by byte; an edit rebuilds only what it must. Prints TAP.
#
# B names the build, FIRST the one that is built again elsewhere. What could name a folder is there without
# optimisation, too, so this is $B/house, which takes a fifth of the time; and flags are the same for all
# sources, so every sixth is compiled again, and those with assertions. `make check-folders` takes B, whole.
. "$(dirname "$0")/../support/tap.sh"
at_top
unset KBGEN
first=${FIRST:-$B/house}
if [ "$first" = "$B/house" ]; then
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s B="$B" house >/dev/null 2>&1
fi
B=$first as_built
unset MAKEFLAGS MAKELEVEL MFLAGS
# An absolute name is not that of the same build elsewhere.
case $first in /*) B=build ;; *) B=$first ;; esac

# borrow FOLDER: the objects of the first build, except those that are to be compiled again, as if just made
borrow()
{
    (cd "$1" && make -s "$B/_o/flags") || return
    (cd "$first/_o" && find . -name '*.o' | sort | awk 'NR % 6' && find . -name '*.d') |
        grep -vxFf <(grep -rl --include='*.c' '\<assert(' gen runtime | sed 's,^,./,; s,c$,o,') |
        tar -C "$first/_o" -cT - | (cd "$1/$B/_o" && tar -xm)
}

# build_in FOLDER: a build of the sources in it
build_in()
{
    mkdir "$1"
    cp -r Makefile gen templates runtime benches topologies share tools docs .ci *.md LICENSE "$1/"
    [ -n "${FIRST-}" ] || borrow "$1"
    (cd "$1" && make -s TOPO=cube8) >"$work/log" 2>&1 || cat "$work/log"
}

# Two whole builds in two folders: simulator, libraries and generator are equal byte for byte.
# All is odd in the name of the other.
odd='it'"'"'s "50 %" $HOME, a=b: #1; {\n} [*?] `c` (d) & <e> | f! ~ä'
# Clang takes the first = of -ffile-prefix-map for the end of a name.
case $CC in *clang*) odd=${odd/=/} ;; esac
build_in "$work/$odd"
if [ "$B" != "$first" ]; then
    build_in "$work/x"
    first=$work/x/$B
fi
for file in kbgen libkernbench.a libkernbench.so cube8/cube8 cube8/libcube8.a cube8/libcube8.so cube8/topo.c; do
    cmp "$first/$file" "$work/$odd/$B/$file"
    ok "two builds in two folders: $file"
done
cd "$work/$odd" || exit 1
make -s install PREFIX="$work/${odd//\$/\$\$}/in" >"$work/log" 2>&1 &&
    "$work/$odd/in/bin/cube8" probe --case h2d | cmp - <("$B/cube8/cube8" probe --case h2d) &&
    gcc -o latency "$root/examples/latency.c" in/lib/lib{cube8,kernbench}.a -Iin/include -lyaml -lm -lpthread
ok "make install in it, and into it"

# An edit rebuilds just what it must: a YAML no runtime, nothing without an edit.
make -s TOPO=cube8 >/dev/null
touch stamp
make -s TOPO=cube8 >/dev/null
[ -z "$(find "$B" -newer stamp -type f)" ]
ok "nothing to do makes nothing"
sed -i 's/cube_mesh: {w: 4/cube_mesh: {w: 5/' topologies/cube8.yaml
make -s TOPO=cube8 >/dev/null
[ -n "$(find "$B/cube8" -name topo.o -newer stamp)" ] &&
    [ -z "$(find "$B/_o" "$B/kbgen" "$B"/libkernbench.* -newer stamp -type f)" ]
ok "a new YAML makes the topology alone"
"$B/cube8/cube8" info --format csv | grep -qx 'cubes,10'
ok "and the simulator is the new one"
make -s TOPO=cube8 SET="cube.hbm.bw_gbs=512 cube.ucie.overhead_ns=8" NAME=fast &&
    "$B/fast/fast" info --config | grep -qx '    bw_gbs: 512.0'
ok "SET and NAME make a variant beside it"
make -s TOPO=nosuch >"$work/log" 2>&1
[ $? = 2 ] && grep -q "there is no topology 'topologies/nosuch.yaml'" "$work/log"
ok "an unknown topology is said to be one"
make -s install PREFIX="$work/prefix" >/dev/null &&
    [ -x "$work/prefix/bin/cube8" ] && [ -f "$work/prefix/include/cube8.h" ]
ok "make install"
plan
