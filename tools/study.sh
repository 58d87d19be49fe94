#!/bin/sh
# study.sh -- builds the variants that a study names and runs its command on each: one table, one CSV.
#
# usage: study.sh FILE, from the top of the tree; B, TOPO, TOPO_FILE, KBGEN and MAKE as in the
# Makefile: its target study calls this. Prints the table, writes $B/study/NAME.csv, and says so on
# stderr. Exit: 0 ok, 2 no FILE, 3 mistakes in FILE, 5 it cannot be written, or what build and
# command say.
set -uf # no file names: c*.slice0 is for the simulator
LC_ALL=C
: "${B:=build}" "${TOPO:=cube8}" "${TOPO_FILE:=topologies/$TOPO.yaml}" "${KBGEN:=$B/kbgen}" "${MAKE:=make}"
export LC_ALL B TOPO TOPO_FILE KBGEN MAKE

fail()
{
    code=$1
    shift
    echo "study: $*" >&2
    exit "$code"
}

study=${1:-}
[ -n "$study" ] || fail 2 "which one? make study STUDY=benches/hbm.study"
[ -f "$study" ] && [ -r "$study" ] || fail 3 "cannot read $study"
work=$(mktemp -d) || exit 5
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
export work

# Into $work/command, and $work/variants: LINE VARIANT KEY=VALUE...; every mistake is named.
awk -v file="$study" -v work="$work" '
function bad(text) { printf "%s:%d: %s\n", file, FNR, text >"/dev/stderr"; failed = 1 }
{ sub(/\r$/, "") }
NF == 0 || $1 ~ /^#/ { next }
line == 0 {
    line = FNR
    if ($0 ~ /["\047\\$`]/)
        bad("a command without quotes: it is cut at blanks, and nothing else is done to it")
    for (i = 1; i <= NF; i++)
        if ($i ~ /^(-o|--ou|--fo)/)
            bad("without \047" $i "\047: the study sees to its output")
    print line >(work "/line")
    print >(work "/command")
    next
}
{
    n++
    name = $1
    if (!sub(/:$/, "", name) && NF > 1)
        bad("variants are \047NAME\047, or \047NAME: KEY=VALUE ...\047")
    else if (name !~ /^[a-z][a-z0-9_]*$/)
        bad("\047" name "\047 is no name of a variant: a to z, digits and _")
    else if (name in seen)
        bad("variant \047" name "\047 again, see line " seen[name])
    seen[name] = FNR
    out = FNR " " name
    for (i = 2; i <= NF; i++) {
        if ($i !~ /^[a-z0-9_.]+=[]A-Za-z0-9_.,+[-]+$/)
            bad("\047" $i "\047 is not KEY=VALUE")
        else if ($i ~ /^name=/)
            bad("\047name\047 is what variants are named by")
        out = out " " $i
    }
    print out >(work "/variants")
}
END {
    FNR++
    if (line == 0)
        bad("no command, like: probe --bytes 4K")
    else if (n == 0 && !failed)
        bad("no variants below the command")
    exit failed ? 3 : 0
}' "$study" || exit

line=$(cat "$work/line") command=$(cat "$work/command")

# -- the variants -------------------------------------------------------------------------------

# What all of them share is built first, so that they do not do it at the same time.
# shellcheck disable=SC2086
$MAKE -s --no-print-directory topology "TOPO=$TOPO" SET= NAME= || exit
base=$("$KBGEN" --name "$TOPO_FILE") || exit

# kbgen_sets KEY=VALUE...: each after --set; $name is the name if there are any
kbgen_sets()
{
    output=$1
    shift
    n=$#
    while [ "$n" -gt 0 ]; do
        set -- "$@" --set "$1"
        shift
        n=$((n - 1))
    done
    [ $# = 0 ] || set -- "$@" --set "name=$name"
    "$KBGEN" "$output" "$@" "$TOPO_FILE"
}

: >"$work/builds"
code=0
while read -r at variant sets; do
    name=$base
    [ -z "$sets" ] || name=${base}_$variant
    # shellcheck disable=SC2086
    if kbgen_sets --keys $sets >"$work/$variant.keys" 2>"$work/err"; then
        echo "$variant $name $at" >>"$work/runs"
        [ -z "$sets" ] || echo "$name $sets" >>"$work/builds"
    else
        awk -v at="$study:$at: " '{ print at $0 }' "$work/err" >&2
        code=3
    fi
done <"$work/variants"
[ $code = 0 ] || exit $code

# shellcheck disable=SC2016
[ ! -s "$work/builds" ] ||
    xargs -L 1 -P "$(getconf _NPROCESSORS_ONLN)" sh -c '
        name=$1
        shift
        $MAKE -s --no-print-directory topology "TOPO=$TOPO" "NAME=$name" "SET=$*" \
            >"$work/$name.log" 2>&1 && exit
        cat "$work/$name.log" >&2
        exit 1' build <"$work/builds" || fail 2 "$study: a variant could not be built"

while read -r variant name at; do
    # shellcheck disable=SC2086
    "$B/$name/$name" $command --format csv </dev/null >"$work/$variant.csv" && continue
    code=$?
    echo "$study:$line: '$command' ended with $code on variant '$variant' of line $at" >&2
    exit "$code"
done <"$work/runs"

# -- one table ----------------------------------------------------------------------------------

awk -v file="$study" -v work="$work" -v command="$command" '
function quoted(text) { return text ~ /,/ ? "\"" text "\"" : text }
FNR == NR { # variants
    variant[++n] = $2
    for (i = 3; i <= NF; i++) {
        key = substr($i, 1, index($i, "=") - 1)
        if (!(key in known)) {
            known[key]
            keys[++n_keys] = key
        }
    }
    next
}
END {
    for (v = 1; v <= n; v++) {
        while ((getline text <(work "/" variant[v] ".keys")) > 0) {
            i = index(text, "=")
            value[substr(text, 1, i - 1)] = substr(text, i + 1)
        }
        first = variant[v]
        names = "variant"
        for (k = 1; k <= n_keys; k++) {
            first = first "," quoted(value[keys[k]])
            names = names "," keys[k]
        }
        rows = work "/" variant[v] ".csv"
        if ((getline text <rows) > 0 && v == 1)
            print names "," (header = text)
        if (text != header) {
            printf "study: %s: variant %s has other columns\n", file, variant[v] >"/dev/stderr"
            exit 6
        }
        all = ""
        while ((getline text <rows) > 0) {
            print first "," text
            all = all text "\n"
        }
        if (all in same)
            printf "warning: variants %s and %s have the same result: what differs between them has no effect on \047%s\047\n",
                same[all], variant[v], command >"/dev/stderr"
        else
            same[all] = variant[v]
    }
}' "$work/variants" /dev/null >"$work/all.csv" || exit

name=${study##*/}
name=${name%.study}
mkdir -p "$B/study" && cp "$work/all.csv" "$B/study/.$name.$$" &&
    mv "$B/study/.$name.$$" "$B/study/$name.csv" || {
    rm -f "$B/study/.$name.$$"
    fail 5 "cannot write $B/study/$name.csv"
}

# Rounded and aligned for people, as the simulators do it.
awk '
function short(text) { sub(/\.?0+$/, "", text); return text } # after a point
# halves away from zero, by the digits themselves
function rounded(text, decimals,    part, n, rest) {
    split(text, part, ".")
    n = part[1] substr(part[2], 1, decimals)
    negative = sub(/^-/, "", n)
    n += substr(part[2], decimals + 1, 1) >= 5
    rest = n % 10 ^ decimals
    return (negative ? "-" : "") sprintf("%.0f.%0" decimals "d", (n - rest) / 10 ^ decimals, rest)
}
{
    n_fields = 0
    for (left = $0 ","; left != ""; ) {
        if (left ~ /^"/) {
            match(left, /^"([^"]|"")*",/)
            text = substr(left, 2, RLENGTH - 3)
            gsub(/""/, "\"", text)
        } else {
            match(left, /^[^,]*,/)
            text = substr(left, 1, RLENGTH - 1)
        }
        left = substr(left, RLENGTH + 1)
        c = ++n_fields
        if (NR == 1)
            name[c] = text
        else if (text == "")
            text = "-"
        else if (text ~ /^-?[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9]$/)
            text = name[c] == "rate" ? short(text) : rounded(text, name[c] ~ /_pct$/ ? 1 : 2)
        else if (text !~ /^(-?[0-9][-0-9.e+]*|-?inf|-?nan)$/)
            left_aligned[c] = 1
        cell[NR, c] = text
        if (length(text) > width[c])
            width[c] = length(text)
    }
}
END {
    for (r = 1; r <= NR; r++) {
        line = ""
        for (c = 1; c <= n_fields; c++)
            line = line (c > 1 ? "  " : "") sprintf("%" (left_aligned[c] ? "-" : "") width[c] "s", cell[r, c])
        sub(/ +$/, "", line)
        print line
    }
}' "$work/all.csv" || exit
echo "with all digits: $B/study/$name.csv" >&2
