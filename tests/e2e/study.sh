#!/usr/bin/env bash
# study.sh -- variants of a machine, one command, one table: `make study`. Prints TAP.
#
# B is the build; the variants are built with its compiler and flags.
. "$(dirname "$0")/../support/tap.sh"
at_top
trap 'rm -rf "$work" "$B"/cube8_study_* "$B"/study/study_*.csv' EXIT

flags=$(cat "$B/_o/flags")
as_built

# study NAME LINE...: a study of these lines; stdout to out, stderr to err, exit code to $code
study()
{
    file=$work/study_$1.study
    shift
    printf '%s\n' "$@" >"$file"
    call tools/study.sh "$file"
}

# says_line TEXT: all of a line on stderr
says_line()
{
    grep -qxF -- "$1" "$work/err"
}

[ -x "$B/cube8/cube8" ] && [[ $flags != *-DKB_NO_* ]] || none "$B has no whole simulator of cube8"

study two 'probe --case pe-local-hbm --bytes 64K' base 'study_fast: cube.hbm.bw_gbs=512 cube.xbar.pe_gbs=512' \
    '' '# the crossbar alone' 'study_xbar:  cube.xbar.pe_gbs=512'
[ $code -eq 0 ] && says_line "with all digits: $B/study/study_two.csv" && [ "$(wc -l <"$work/err")" -eq 2 ] && cut -d, -f1-7,8 "$B/study/study_two.csv" | diff - <(
    echo 'variant,cube.hbm.bw_gbs,cube.xbar.pe_gbs,case,src,dst,nbytes,actual_ns'
    echo 'base,256.0,256.0,pe-local-hbm,c0.pe0,c0.slice0,65536,258.085000'
    echo 'study_fast,512.0,512.0,pe-local-hbm,c0.pe0,c0.slice0,65536,130.085000'
    echo 'study_xbar,256.0,512.0,pe-local-hbm,c0.pe0,c0.slice0,65536,258.085000'
)
ok "rows of all variants, with the value of each key in each of them"
says_line "warning: variants base and study_xbar have the same result: what differs between them has no effect on 'probe --case pe-local-hbm --bytes 64K'"
ok "the same result for two variants is warned of, both are named"
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
call tools/study.sh "$file"
[ $code -eq 0 ] && [ "$(cut -d, -f1-3 "$B/study/study_list.csv" | xargs -d '\n')" = \
    'variant,cube.size_mm,case a,"[15.0, 11.0]" study_wide,"[20.0, 11.0]"' ] &&
    grep -q '^study_wide  \[20.0, 11.0\]  h2d ' "$work/out"
ok "lists, CRLF"

cp "$B/study/study_two.csv" "$work/before.csv"
study two '# mistakes' 'probe --case "x" -o y' 'a: x' 'b k=1' 'A' 'c' 'c: sips=2' 'd: name=x'
[ $code -eq 3 ] && [ ! -s "$work/out" ] && says_line "$file:3: 'x' is not KEY=VALUE" &&
    says_line "$file:2: a command without quotes: it is cut at blanks, and nothing else is done to it" &&
    says_line "$file:2: without '-o': the study sees to its output" &&
    says_line "$file:4: variants are 'NAME', or 'NAME: KEY=VALUE ...'" &&
    says_line "$file:5: 'A' is no name of a variant: a to z, digits and _" &&
    says_line "$file:7: variant 'c' again, see line 6" && says_line "$file:8: 'name' is what variants are named by"
ok "all mistakes of a file, with their lines"
study two 'probe' 'a: cube.hbm.bw=1' 'study_x: sips=2' 'c: sips=0 cube.pes=65'
[ $code -eq 3 ] && [ ! -s "$work/out" ] && says "$file:2: --set cube.hbm.bw=1: unknown key" &&
    says "$file:4: --set sips=0: 'sips' must be 1..256, not '0'" &&
    says "$file:4: --set cube.pes=65: " && [ ! -e "$B/cube8_study_x" ]
ok "all mistakes of keys, and nothing is built"
study two 'probe --case nowhere' 'a' 'study_b: sips=2'
[ $code -eq 2 ] && [ ! -s "$work/out" ] && says "unknown case 'nowhere'" &&
    says_line "$file:1: 'probe --case nowhere' ended with 2 on variant 'a' of line 2"
ok "a command that fails: its message and its exit code"
cmp "$B/study/study_two.csv" "$work/before.csv" && [ -z "$(find "$B/study" -name '.study_*')" ]
ok "what was there before stays after a failure"
study two '' '# nothing'
[ $code -eq 3 ] && says_line "$file:3: no command, like: probe --bytes 4K"
ok "no command"
study two 'probe'
[ $code -eq 3 ] && says_line "$file:2: no variants below the command"
ok "no variants"
call tools/study.sh "$work/nowhere.study"
[ $code -eq 3 ] && says_line "study: cannot read $work/nowhere.study"
ok "no file"
call make -s study STUDY=
[ $code -eq 2 ] && says_line 'study: which one? make study STUDY=benches/hbm.study'
ok "make study without a name"

ls >"$work/c0.pe0"
study glob 'route c*.pe0 c0.slice0' a
[ $code -eq 2 ] && says "'c*.pe0'"
ok "no names of files for a star"
make -s --no-print-directory study STUDY=benches/hbm.study >"$work/out" 2>"$work/err" && [ "$(wc -l <"$work/out")" = 25 ] &&
    [ "$(awk '{ print $1, $2, $3 }' "$work/out" | tail -n 1)" = 'hbm512_xbar512 512.0 512.0' ]
ok "the study in benches/"

plan
