#!/usr/bin/env bash
# generated.sh -- generated C: golden, without leftovers of m4, the same in every folder and run.
#
# B names the build, KBGEN the generator.
. "$(dirname "$0")/../support/tap.sh"
at_top
kbgen=${KBGEN:-$B/kbgen}
unset KBGEN

# generate YAML FOLDER: topo.h, topo.c, main.c, api.h
generate() {
    mkdir -p "$2"
    "$kbgen" "$1" >"$2/defs.m4" || return
    for template in topo.h topo.c main.c api.h; do
        m4 -P -E -E templates/base.m4 "$2/defs.m4" "templates/$template.m4" \
            >"$2/$template" || return
    done
}

generate tests/golden/two_cubes.yaml "$work/golden"
mv "$work/golden/api.h" "$work/golden/two_cubes.h"
for file in topo.h topo.c two_cubes.h; do
    diff -u "tests/golden/$file" "$work/golden/$file"
    ok "golden: $file (make golden writes it again)"
done

for yaml in topologies/*.yaml tests/machines/tray32.yaml tests/vectors/*.yaml; do
    generate "$yaml" "$work/one" && ! grep -n 'gen_' "$work"/one/*.[ch]
    ok "no macro is left over in what $yaml becomes"
done

# Tables that no code of the topology uses would be warnings: missing cubes that nothing goes round.
printf '%s\n' 'kernbench: 2' 'name: gaps' 'sips: 2' 'sip: {cube_mesh: {w: 2, h: 1}}' 'missing: [s1.c1]' >"$work/gaps.yaml"
generate "$work/gaps.yaml" "$work/gaps" && mv "$work/gaps/api.h" "$work/gaps/gaps.h" &&
    ${CC:-gcc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -DNDEBUG -Iruntime/include -Iruntime \
        -c -o "$work/gaps/topo.o" "$work/gaps/topo.c"
ok "what is generated of a machine with gaps compiles without a warning"

mkdir -p "$work/elsewhere"
cp topologies/tray32.yaml "$work/elsewhere/"
generate topologies/tray32.yaml "$work/a" && generate "$work/elsewhere/tray32.yaml" "$work/b" &&
    diff -r "$work/a" "$work/b"
ok "the same bytes from another folder"

! grep -rn "$PWD" "$work/a"
ok "no folder of the build in it"

# build_in FOLDER: a whole build of the sources in it
build_in() {
    mkdir "$1"
    cp -r Makefile gen templates runtime benches topologies tools .ci "$1/"
    (cd "$1" && env -u MAKEFLAGS -u MAKELEVEL -u SAN make -s B=build TOPO=cube8) >"$work/log" 2>&1 || cat "$work/log"
}

# flags_of BUILD: compiler and flags, without the folder
flags_of() {
    sed 's/ -ffile-prefix-map=.*=\. / /' "$1/_o/flags"
}

# Two whole builds in two folders: simulator, libraries and generator are equal byte for byte. The first
# is the one that is tested, if it is an ordinary one: --coverage writes the folder into the program.
# All is odd in the name of the other.
odd='it'"'"'s "50 %" $HOME, a=b: #1; {\n} [*?] `c` (d) & <e> | f! ~ä'
build_in "$work/$odd"
first=$B
if [ "$B" != build ] || [ "$(flags_of "$B")" != "$(flags_of "$work/$odd/build")" ]; then
    build_in "$work/x"
    first=$work/x/build
fi
for file in kbgen libkernbench.a libkernbench.so cube8/cube8 cube8/libcube8.a cube8/libcube8.so cube8/topo.c; do
    cmp "$first/$file" "$work/$odd/build/$file"
    ok "two builds in two folders: $file"
done
put_odd() {
    (cd "$work/$odd" && env -u MAKEFLAGS -u SAN make -s B=build install PREFIX="$work/${odd//\$/\$\$}/in" >"$work/log" 2>&1)
}
put_odd && "$work/$odd/in/bin/cube8" probe --case h2d | cmp - <("$first/cube8/cube8" probe --case h2d) &&
    gcc -o "$work/$odd/latency" examples/latency.c "$work/$odd"/in/lib/lib{cube8,kernbench}.a -I"$work/$odd/in/include" -lm -lpthread
ok "make install in it, and into it"

# An edit rebuilds just what it must: a YAML no runtime, nothing without an edit.
cd "$work/$odd" || exit 1
env -u MAKEFLAGS -u SAN make -s B=build TOPO=cube8 >/dev/null
touch stamp
env -u MAKEFLAGS -u SAN make -s B=build TOPO=cube8 >/dev/null
[ -z "$(find build -newer stamp -type f)" ]
ok "nothing to do makes nothing"
sed -i 's/cube_mesh: {w: 4/cube_mesh: {w: 5/' topologies/cube8.yaml
env -u MAKEFLAGS -u SAN make -s B=build TOPO=cube8 >/dev/null
[ -n "$(find build/cube8 -name topo.o -newer stamp)" ] &&
    [ -z "$(find build/_o build/kbgen build/libkernbench.* -newer stamp -type f)" ]
ok "a new YAML makes the topology alone"
build/cube8/cube8 info --format csv | grep -qx 'cubes,10'
ok "and the simulator is the new one"
env -u MAKEFLAGS -u SAN make -s B=build TOPO=cube8 SET="cube.hbm.bw_gbs=512 cube.ucie.overhead_ns=8" NAME=fast &&
    build/fast/fast info --config | grep -qx '    bw_gbs: 512.0'
ok "SET and NAME make a variant beside it"
env -u MAKEFLAGS -u SAN make -s B=build TOPO=nosuch >"$work/log" 2>&1
[ $? = 2 ] && grep -q "there is no topology 'topologies/nosuch.yaml'" "$work/log"
ok "an unknown topology is said to be one"
env -u MAKEFLAGS -u SAN make -s B=build install PREFIX="$work/prefix" >/dev/null &&
    [ -x "$work/prefix/bin/cube8" ] && [ -f "$work/prefix/include/cube8.h" ]
ok "make install"
plan
