#!/usr/bin/env bash
# killed_make.sh -- a make that is killed leaves nothing that the next one takes for made. Prints TAP.
#
# B is the build; a variant of cube8 is built with its compiler and flags, and killed at each step.
. "$(dirname "$0")/../support/tap.sh"
at_top
as_built
trap 'rm -rf "$work" "$B"/killed "$B"/_topo/*+killed.*' EXIT

# Each tool of the build is replaced by one that kills make when its turn comes.
export KILLING=$work
mkdir "$work/bin" "$work/really"
for tool in "$CC" "$AR" m4; do
    ln -s "$(command -v "$tool")" "$work/really/${tool##*/}"
    ln -s "$PWD/tests/support/killing" "$work/bin/${tool##*/}"
done
ln -s "$PWD/$B/kbgen" "$work/really/kbgen"
ln -s "$PWD/tests/support/killing" "$work/bin/kbgen"

# build STEP: makes the variant, and is killed at this step of it; 0: at none
build()
{
    echo "$1" >"$work/at"
    echo 0 >"$work/count"
    PATH=$work/bin:$PATH setsid -w make -s -j1 topology TOPO=cube8 NAME=killed SET=sips=2 B="$B" \
        KBGEN="$work/bin/kbgen" >"$work/out" 2>"$work/err"
}

# made: what the programs and libraries of the variant are
made()
{
    cd "$B/killed" && cksum killed ./*.a ./*.so ./*.o ./*.c ./*.h defs.m4 2>&1
    cd "$root" || exit
}

build 0 && rm -r "$B/killed" "$B"/_topo/*+killed.* && build 0 # the second one of the variant alone
ok "a build with the tools of this test" || { plan; exit; }
steps=$(cat "$work/count")
[ "$steps" -ge 10 ]
ok "has ten steps or more"
made >"$work/whole"
for step in $(seq "$steps"); do
    rm -rf "$B/killed" "$B"/_topo/*+killed.*
    : >"$work/killed"
    { build "$step"; } 2>/dev/null # the shell tells of it
    code=$?
    what=$(cut -c1-40 "$work/killed")
    [ $code = 137 ] && [ "$what" ] && build 0 && made | same "$work/whole" -
    ok "killed at step $step of $steps: $what"
done
nothing "$(find "$B/killed" -size 0 ! -name '*.new*')"
ok "what is half-made has .new and a number behind its name"
plan
