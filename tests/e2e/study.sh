#!/usr/bin/env bash
# study.sh -- variants of a machine, one command, one table: `make study`. Prints TAP.
#
# B is the build, whose compiler and flags the variants are built with.
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
export B
work=$(mktemp -d) && trap 'rm -rf "$work" "$B"/cube8_study_* "$B"/study/study_*.csv' EXIT
n=0
failed=0

# The build as it is: other flags than those that it was made with would make all of it anew.
flags=$(cat "$B/_o/flags")
export CC=${flags%% *}
SAN=$(sed -nE 's/.* (-fsanitize|--coverage)/\1/p' <<<"$flags")
CFLAGS=${flags##*-Wmissing-prototypes } CFLAGS=$(xargs <<<"${CFLAGS%"$SAN"*}")
export SAN CFLAGS
MAKEFLAGS=$(sed -E 's/ ?(-j[0-9]*|--jobserver-[a-z]+=[^ ]*)//g' <<<"${MAKEFLAGS-}")
export MAKEFLAGS

ok()
{
    status=$?
    n=$((n + 1))
    if [ $status -eq 0 ]; then
        echo "ok $n - $1"
        return
    fi
    failed=$((failed + 1))
    echo "not ok $n - $1"
    sed 's/^/# stderr: /' "$work/err" | head -8
    sed 's/^/# stdout: /' "$work/out" | head -8
}

# study NAME LINE...: a study of these lines; stdout to out, stderr to err, exit code to $code
study()
{
    file=$work/study_$1.study
    shift
    printf '%s\n' "$@" >"$file"
    code=0
    gen/study.sh "$file" >"$work/out" 2>"$work/err" || code=$?
}

says()
{
    grep -qxF -- "$1" "$work/err"
}

if [ ! -x "$B/cube8/cube8" ] || [[ $flags == *-DKB_NO_* ]]; then
    echo "1..0 # SKIP $B has no whole simulator of cube8"
    exit 0
fi

study two 'probe --case pe-local-hbm --bytes 64K' base 'study_fast: cube.hbm.bw_gbs=512 cube.xbar.pe_gbs=512' \
    '' '# the crossbar alone' 'study_xbar:  cube.xbar.pe_gbs=512'
[ $code -eq 0 ] && [ "$(cat "$work/err")" = "with all digits: $B/study/study_two.csv" ] && cut -d, -f1-7,8 "$B/study/study_two.csv" | diff - <(
    echo 'variant,cube.hbm.bw_gbs,cube.xbar.pe_gbs,case,src,dst,nbytes,actual_ns'
    echo 'base,256.0,256.0,pe-local-hbm,c0.pe0,c0.slice0,65536,258.085000'
    echo 'study_fast,512.0,512.0,pe-local-hbm,c0.pe0,c0.slice0,65536,130.085000'
    echo 'study_xbar,256.0,512.0,pe-local-hbm,c0.pe0,c0.slice0,65536,258.085000'
)
ok "rows of all variants, with the value of each key in each of them"
[ "$(awk '{ print $1, $2, $8 }' "$work/out" | xargs)" = \
    'variant cube.hbm.bw_gbs actual_ns base 256.0 258.09 study_fast 512.0 130.09 study_xbar 256.0 258.09' ] &&
    [ "$(awk '{ print length }' "$work/out" | sort -u | wc -l)" = 1 ]
ok "a table, rounded as the simulators round"
"$B/cube8_study_fast/cube8_study_fast" probe --case pe-local-hbm --bytes 64K --format csv | tail -n 1 |
    grep -qxF "$(sed -n 's/^study_fast,512.0,512.0,//p' "$B/study/study_two.csv")"
ok "a variant is a simulator in a folder of its own"
cp "$B/study/study_two.csv" "$work/before.csv"
study two 'probe --case pe-local-hbm --bytes 64K' base 'study_fast: cube.hbm.bw_gbs=512 cube.xbar.pe_gbs=512' \
    'study_xbar: cube.xbar.pe_gbs=512'
cmp "$B/study/study_two.csv" "$work/before.csv"
ok "again, the same bytes"

study list 'probe --case h2d' a 'study_wide: cube.size_mm=[20,11]' && sed -i 's/$/\r/' "$file"
code=0
gen/study.sh "$file" >"$work/out" 2>"$work/err" || code=$?
[ $code -eq 0 ] && [ "$(cut -d, -f1-3 "$B/study/study_list.csv" | xargs -d '\n')" = \
    'variant,cube.size_mm,case a,"[15.0, 11.0]" study_wide,"[20.0, 11.0]"' ] &&
    grep -q '^study_wide  \[20.0, 11.0\]  h2d ' "$work/out"
ok "lists, CRLF"

cp "$B/study/study_two.csv" "$work/before.csv"
study two '# mistakes' 'probe --case "x" -o y' 'a: x' 'b k=1' 'A' 'c' 'c: sips=2' 'd: name=x'
[ $code -eq 3 ] && [ ! -s "$work/out" ] && says "$file:3: 'x' is not KEY=VALUE" &&
    says "$file:2: a command without quotes: it is cut at blanks, and nothing else is done to it" &&
    says "$file:2: without '-o': the study sees to its output" &&
    says "$file:4: variants are 'NAME', or 'NAME: KEY=VALUE ...'" &&
    says "$file:5: 'A' is no name of a variant: a to z, digits and _" &&
    says "$file:7: variant 'c' again, see line 6" && says "$file:8: 'name' is what variants are named by"
ok "all mistakes of a file, with their lines"
study two 'probe' 'a: cube.hbm.bw=1' 'study_x: sips=2' 'c: sips=0 cube.pes=3'
[ $code -eq 3 ] && [ ! -s "$work/out" ] && grep -qF "$file:2: --set cube.hbm.bw=1: unknown key" "$work/err" &&
    grep -qF "$file:4: --set sips=0: 'sips' must be 1..256, not '0'" "$work/err" &&
    grep -qF "$file:4: --set cube.pes=3: " "$work/err" && [ ! -e "$B/cube8_study_x" ]
ok "all mistakes of keys, and nothing is built"
study two 'probe --case nowhere' 'a' 'study_b: sips=2'
[ $code -eq 2 ] && [ ! -s "$work/out" ] && grep -qF "unknown case 'nowhere'" "$work/err" &&
    says "$file:1: 'probe --case nowhere' ended with 2 on variant 'a' of line 2"
ok "a command that fails: its message and its exit code"
cmp "$B/study/study_two.csv" "$work/before.csv" && [ -z "$(find "$B/study" -name '.study_*')" ]
ok "what was there before stays after a failure"
study two '' '# nothing'
[ $code -eq 3 ] && says "$file:3: no command, like: probe --bytes 4K"
ok "no command"
study two 'probe'
[ $code -eq 3 ] && says "$file:2: no variants below the command"
ok "no variants"
code=0
gen/study.sh "$work/nowhere.study" >"$work/out" 2>"$work/err" || code=$?
[ $code -eq 3 ] && says "study: cannot read $work/nowhere.study"
ok "no file"
make -s study STUDY= >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && says 'study: which one? make study STUDY=benches/hbm.study'
ok "make study without a name"

ls >"$work/c0.pe0"
study glob 'route c*.pe0 c0.slice0' a
[ $code -eq 2 ] && grep -qF "'c*.pe0'" "$work/err"
ok "no names of files for a star"
make -s study STUDY=benches/hbm.study >"$work/out" 2>"$work/err" && [ "$(wc -l <"$work/out")" = 25 ] &&
    [ "$(awk '{ print $1, $2, $3 }' "$work/out" | tail -n 1)" = 'hbm512_xbar512 512.0 512.0' ]
ok "the study in benches/"

echo "1..$n"
[ $failed -eq 0 ]
