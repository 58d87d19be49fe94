#!/usr/bin/env bash
# shells.sh -- what programs tell of themselves: completions, manual pages, examples. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it, KBGEN the generator. Needs bash; what zsh,
# fish and groff say is skipped where they are not.
. "$(dirname "$0")/../support/tap.sh"
KBGEN=${KBGEN:-$B/kbgen}
case $KBGEN in /*) ;; *) KBGEN=$root/$KBGEN ;; esac
TRAY=$M/tray32/tray32

# -- completion ---------------------------------------------------------------------------------

# typed PROGRAM LINE: what bash makes of the line up to its end, one a line
typed()
{
    (
        eval "$("$1" --completion bash)"
        COMP_LINE=$2
        COMP_POINT=${#2}
        name=$(basename "$1")
        PATH=$(dirname "$1"):$PATH
        "_kernbench_$name"
        [ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
    )
}

# completes LINE EXPECTED: by cube8
completes()
{
    equal "completes '$1'" "$2" "$(typed "$SIM" "$1" | xargs)"
}

completes 'cube8 pr' probe
completes 'cube8 pro --qu' --quiet
completes 'cube8 probe --fo' --format
completes 'cube8 probe --format ' 'table csv json jsonl ndjson md'
completes 'cube8 probe --format j' 'json jsonl'
completes 'cube8 view --format ' 'svg dot'
completes 'cube8 view ' 'system sip cube pe'
completes 'cube8 view sip --at ' s0
completes 'cube8 view pe --at c' 'c0. c1. c2. c3. c4. c5. c6. c7.'
completes 'cube8 view pe --at c1.pe' 'c1.pe0 c1.pe1 c1.pe2 c1.pe3 c1.pe4 c1.pe5 c1.pe6 c1.pe7'
completes 'cube8 view cube --at c1' c1
completes 'cube8 report ' 'probe replay sweep load run why llm study'
completes 'cube8 report run gem' 'gemm gemm_composite'
completes 'cube8 report run gemm ' 'M= N= K= dtype= GRID= BM= BN= BK= b_by= send='
completes 'cube8 report run gemm --verif' --verify
completes 'cube8 report load --pa' --pattern
completes 'cube8 load --trace-filter ' ''
completes 'cube8 why ge' 'gemm gemm_composite'
completes 'cube8 why lo' load
completes 'cube8 probe --format=j' 'json jsonl'
completes 'cube8 --format csv ro' route
completes 'cube8 probe --engine ' 'fused hop'
completes 'cube8 probe --case pe-s' 'pe-same-half-hbm pe-sram'
completes 'cube8 route ho' host
completes 'cube8 route c1' c1.
completes 'cube8 route c1.pe' 'c1.pe0 c1.pe1 c1.pe2 c1.pe3 c1.pe4 c1.pe5 c1.pe6 c1.pe7'
completes 'cube8 route host c1.s' 'c1.slice0 c1.slice1 c1.slice2 c1.slice3 c1.slice4 c1.slice5 c1.slice6 c1.slice7 c1.sram'
completes 'cube8 route host c7.pe7' c7.pe7.tcm
completes 'cube8 sweep --src c0.pe0,h' c0.pe0,host
completes 'cube8 sweep --op read,h' read,h2d
completes 'cube8 load --pattern ho' hotspot:
completes 'cube8 run gem' 'gemm gemm_composite'
completes 'cube8 run gemm ' 'M= N= K= dtype= GRID= BM= BN= BK= b_by= send='
completes 'cube8 run gemm M=3 ' 'N= K= dtype= GRID= BM= BN= BK= b_by= send='
completes 'cube8 run gemm M=3 dtype=f' 'f16 f32 f64'
completes 'cube8 run --quiet mlp act=' 'relu sigmoid tanh'
completes 'cube8 run softmax --verify=' ops
completes 'cube8 run softmax --phase2 ' 'on off'
completes 'cube8 --completion ' 'bash zsh fish'
completes 'cube8 nonsense ' ''
touch rows.csv other
mkdir folder
completes 'cube8 replay ro' rows.csv
completes 'cube8 view cube ro' ''
completes 'cube8 replay rows.csv -o ot' other
completes 'cube8 replay rows.csv --output=ot' other
completes 'cube8 run gemm --dump ' folder
nothing "$(typed "$SIM" 'cube8 info --' | grep -e --verify -e --bytes)"
ok "options are those of the command"
equal "tray32 knows its other SIPs" "s1.c0. s1.c1. s1.host" \
    "$(typed "$TRAY" 'tray32 route s1.' | grep -e host -e 'c[01]\.$' | sort | xargs)"
equal "tray32: places of pictures" "s1.c0 s1.c1" \
    "$(typed "$TRAY" 'tray32 view cube --at s1.c' | grep -e 'c[01]$' | xargs)"
equal "kbgen: keys" "cube.hbm.bw_gbs=" "$(typed "$KBGEN" 'kbgen --set cube.hbm.bw')"
equal "kbgen: their words" "ideal fifo router" "$(typed "$KBGEN" 'kbgen --set contention.links=' | xargs)"
equal "kbgen: a default" 256.0 "$(typed "$KBGEN" 'kbgen --set cube.hbm.bw_gbs=' | xargs)"
equal "kbgen: a key that has none" "" "$(typed "$KBGEN" 'kbgen --set sip.cube_mesh.w=' | xargs)"
equal "kbgen: an option with words of its own" "bash zsh fish" "$(typed "$KBGEN" 'kbgen --completion ' | xargs)"
equal "kbgen: files" rows.csv "$(typed "$KBGEN" 'kbgen rows' | xargs)"

# The words of the table are those that are taken.
for word in $("$SIM" --complete probe --case ''); do
    "$SIM" probe --case "$word" >out 2>err || says 'no place' || echo "$word"
done >wrong
"$SIM" load --pattern none --rate 1 2>&1 | sed 's/.*one of //; s/,//g' | xargs -n1 | sort >patterns
"$SIM" --complete load --pattern '' | tr -d : | sort | same patterns - && nothing "$(cat wrong)"
ok "cases and patterns that are offered are all there are"

# -- scripts ------------------------------------------------------------------------------------

for shell in bash zsh fish; do
    command -v $shell >where || { skip "$shell reads the scripts" "no $shell"; continue; }
    for program in "$SIM" "$TRAY" "$KBGEN"; do
        "$program" --completion $shell >script && $shell -n script && grep -q "$(basename "$program")" script
        ok "$shell reads the script of $(basename "$program")"
    done
done
refused "a shell that is none" 2 "unknown shell 'tcl': it is one of bash, zsh, fish" --completion tcl
if command -v fish >where; then
    "$SIM" --completion fish >script.fish
    PATH=$(dirname "$SIM"):$PATH fish -c 'source script.fish; complete -C "cube8 route host c1.sl"' 2>err |
        cut -f1 >out
    equal "fish: endpoints" 8 "$(grep -c '^c1.slice' out)"
else
    skip "fish: endpoints" "no fish"
fi

# -- manual pages -------------------------------------------------------------------------------

for program in "$SIM" "$TRAY" "$KBGEN"; do
    name=$(basename "$program")
    "$program" --man >$name.1
    for part in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
        grep -qx ".SH $part" $name.1 || echo "# $part"
    done >missing
    nothing "$(cat missing)"
    ok "the page of $name has its sections"
    if command -v groff >where; then
        groff -man -ww -Tutf8 $name.1 >page 2>err
        nothing "$(cat err)"
        ok "groff has no warnings for the page of $name"
    else
        skip "groff has no warnings for the page of $name" "no groff"
    fi
done
if command -v groff >where; then
    groff -man -Tascii -P-cbou cube8.1 >page
    grep -q "^       cube8 route SRC DST \[OPTION\]...$" page && grep -q '^       --max-events N$' page &&
        grep -q "^           cube8 sweep --src c0.pe0 --dst 'c\*.slice0' --bytes" page
    ok "the page reads as it should"
else
    skip "the page reads as it should" "no groff"
fi
"$SIM" --help | sed -n 's/^ .*  *\(--[a-z0-9-]*\).*/\1/p' | sort -u >options
sed 's/\\-/-/g' cube8.1 >plain
for option in $(cat options); do grep -q -e "\\\\fB$option\\\\fR" plain || echo "# $option"; done >missing
[ "$(wc -l <options)" -gt 25 ] && nothing "$(cat missing)"
ok "the page has every option"

# -- examples -----------------------------------------------------------------------------------

# examples PROGRAM: those of its --help, and of its commands'
examples()
{
    "$1" --help | sed -n '/^Examples:/,$p' | grep -v -e '^  #' -e '^Examples:' | sed 's/^  //'
}

for command in $("$SIM" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p'); do
    "$SIM" $command --help | sed -n '/^Examples:/,$p' >some
    grep -v -e '^  #' -e '^Examples:' some | sed 's/^  //' >lines
    [ -s lines ] && [ "$(wc -l <lines)" -le 4 ]
    ok "$command --help has examples" || cat lines
    cat lines >>all
done
PATH=$(dirname "$SIM"):$(dirname "$KBGEN"):$PATH
while IFS= read -r line; do
    call bash -c "$line"
    [ $code -eq 0 ]
    ok "example: $line"
done <all
cp "$root/topologies/cube8.yaml" .
examples "$KBGEN" >all
while IFS= read -r line; do
    call bash -c "$line"
    [ $code -eq 0 ]
    ok "example: $line"
done <all
plan
