#!/usr/bin/env bash
# generated.sh -- generated C: golden, without leftovers of m4, the same in every folder and run.
#
# B names the build, KBGEN the generator.
set -u
B=${B:-build}
kbgen=${KBGEN:-$B/kbgen}
unset KBGEN
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

report() { # NAME; the exit code of the command before says whether it holds
    if [ $? = 0 ]; then result=ok; else result="not ok"; fi
    n=$((n + 1))
    echo "$result $n - $1"
}

# generate YAML FOLDER: topo.h, topo.c, main.c, api.h
generate() {
    mkdir -p "$2"
    "$kbgen" "$1" >"$2/defs.m4" || return
    for template in topo.h topo.c main.c api.h; do
        LC_ALL=C m4 -P -E -E templates/base.m4 "$2/defs.m4" "templates/$template.m4" \
            >"$2/$template" || return
    done
}

generate tests/golden/two_cubes.yaml "$dir/golden"
mv "$dir/golden/api.h" "$dir/golden/two_cubes.h"
for file in topo.h topo.c two_cubes.h; do
    diff -u "tests/golden/$file" "$dir/golden/$file"
    report "golden: $file (make golden writes it anew)"
done

for yaml in topologies/*.yaml tests/vectors/*.yaml; do
    generate "$yaml" "$dir/one" && ! grep -n 'gen_' "$dir"/one/*.[ch]
    report "no macro is left over in what $yaml becomes"
done

mkdir -p "$dir/elsewhere"
cp topologies/tray32.yaml "$dir/elsewhere/"
generate topologies/tray32.yaml "$dir/a" && generate "$dir/elsewhere/tray32.yaml" "$dir/b" &&
    diff -r "$dir/a" "$dir/b"
report "the same bytes from another folder"

! grep -rn "$PWD" "$dir/a"
report "no folder of the build in it"

# Two whole builds in two folders: simulator, libraries and generator are equal byte for byte.
# Without SAN: --coverage writes the folder into the program.
for copy in x y; do
    mkdir "$dir/$copy"
    cp -r Makefile gen templates runtime benches topologies .ci "$dir/$copy/"
    (cd "$dir/$copy" && env -u MAKEFLAGS -u MAKELEVEL -u SAN make -s B=build TOPO=cube8) >"$dir/log" 2>&1 ||
        cat "$dir/log"
done
for file in kbgen libkernbench.a libkernbench.so cube8/cube8 cube8/libcube8.a cube8/libcube8.so cube8/topo.c; do
    cmp "$dir/x/build/$file" "$dir/y/build/$file"
    report "two builds in two folders: $file"
done

# An edit rebuilds just what it must: a YAML no runtime, nothing without an edit.
cd "$dir/x" || exit 1
env -u MAKEFLAGS -u SAN make -s B=build TOPO=cube8 >/dev/null
touch stamp
env -u MAKEFLAGS -u SAN make -s B=build TOPO=cube8 >/dev/null
[ -z "$(find build -newer stamp -type f)" ]
report "nothing to do makes nothing"
sed -i 's/cube_mesh: {w: 4/cube_mesh: {w: 5/' topologies/cube8.yaml
env -u MAKEFLAGS -u SAN make -s B=build TOPO=cube8 >/dev/null
[ -n "$(find build/cube8 -name topo.o -newer stamp)" ] &&
    [ -z "$(find build/_o build/kbgen build/libkernbench.* -newer stamp -type f)" ]
report "a new YAML makes the topology alone"
build/cube8/cube8 info --format csv | grep -qx 'cubes,10'
report "and the simulator is the new one"
env -u MAKEFLAGS -u SAN make -s B=build TOPO=cube8 SET="cube.hbm.bw_gbs=512 cube.ucie.overhead_ns=8" NAME=fast &&
    build/fast/fast info --config | grep -qx '    bw_gbs: 512.0'
report "SET and NAME make a variant beside it"
env -u MAKEFLAGS -u SAN make -s B=build TOPO=nosuch >"$dir/log" 2>&1
[ $? = 2 ] && grep -q "there is no topology 'topologies/nosuch.yaml'" "$dir/log"
report "an unknown topology is said to be one"
env -u MAKEFLAGS -u SAN make -s B=build install PREFIX="$dir/prefix" >/dev/null &&
    [ -x "$dir/prefix/bin/cube8" ] && [ -f "$dir/prefix/include/cube8.h" ]
report "make install"
echo "1..$n"
