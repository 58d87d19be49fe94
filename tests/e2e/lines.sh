#!/usr/bin/env bash
# lines.sh -- a call of a kernel has the line of its name, with gcc and clang, however it is laid out.
#
# B names the build, which has a simulator with its kernels compiled by the other compiler.
. "$(dirname "$0")/../support/tap.sh"
at_top
other=$B/_t/other/cube8

# Every call of tl.h and tl_math.h: on one line, with each argument on a line of its own, inside of another call
# and around one, in parentheses, and with its name apart. Each line begins with the lines it has.
python3 - runtime/include/tl.h runtime/include/tl_math.h >"$work/calls.c" <<'END'
import re, sys

text = "".join(open(f).read() for f in sys.argv[1:]).replace("\\\n", "")
macros = {}
for name, arguments in re.findall(r"^#define (tl_\w+)\(tl(.*?)\)", text, re.M):
    n = arguments.count(",")
    macros[name] = ["tl"] + [f"(a{i}, {i})" for i in range(n)]
    if name in ("tl_dot", "tl_composite"): # their last ones are designated
        macros[name][-1:] = [".x = 1", ".y = {1, 2}"]
lines = ['#include "tl.h"']

def call(*shape):
    """Adds lines; those in which a call's name is are marked by @."""
    first = len(lines) + 1
    named = [first + i for i, line in enumerate(shape) for _ in range(line.count("@"))]
    lines.append(f"=={','.join(map(str, named))}: " + shape[0].replace("@", ""))
    lines.extend(line.replace("@", "") for line in shape[1:])

for name, given in macros.items():
    call(f"@{name}({', '.join(given)})")
    call(f"@{name}(", *(a + "," for a in given[:-1]), given[-1], ")")
    call(f"f((@{name}({given[0]}", *(", " + a for a in given[1:]), ")", "+ g(")
    call(f"@{name}", "(" + ", ".join(given), ")")
    call("@tl_add(tl,", f" @{name}(", f"  {', '.join(given)}),", " (@tl_neg(tl,", "  y)))")
    if len(given) > 1:
        call(f"@{name}({', '.join(given[:-1])},", " @tl_get(tl,", "  x,", f"  @{name}({', '.join(given)}", " ) ))")
print("\n".join(lines))
print(f"// {len(macros)} calls")
END

# expanded COMPILER...: what the calls become, one a line, without blanks
expanded()
{
    "$@" -E -P -Iruntime/include "$work/calls.c" | tr -d ' \n' | sed 's/==/\n==/g' | tail -n +2
    echo
}

# right FILE: are the lines in each call those that it begins with, in order?
right()
{
    sed "s|\"$work/calls.c\",|@|g" "$1" | awk -F '[=:]' '/^==/ {
        wanted = $3; found = ""; rest = $0
        while (match(rest, /@[0-9]+/)) {
            found = found (found == "" ? "" : ",") substr(rest, RSTART + 1, RLENGTH - 1)
            rest = substr(rest, RSTART + RLENGTH)
        }
        if (found != wanted) { print "# " $0; bad = 1 }
        calls++
    } END { exit bad || calls < 300 }'
}

for c in gcc clang; do
    for language in 'c -std=c11' 'c++ -std=c++20'; do
        # shellcheck disable=SC2086
        expanded $c -x $language >"$work/$c"
        right "$work/$c" >"$work/wrong" || { head -5 "$work/wrong"; false; }
        ok "$c, $language: a call has the line of its name"
        mv "$work/$c" "$work/$c.${language%% *}"
    done
done
for language in c c++; do
    same "$work/gcc.$language" "$work/clang.$language"
    ok "$language: both compilers see the same calls"
done

# -- what is printed of shipped benches ---------------------------------------------------------

# differs BENCH OPTION...: does the other simulator print something else? Lines do not depend on sizes.
differs()
{
    local bench=$1

    shift
    # shellcheck disable=SC2046
    "$SIM" run "$bench" $(small "$bench") "$@" >"$work/this" 2>"$work/err"
    # shellcheck disable=SC2046
    "$other" run "$bench" $(small "$bench") "$@" >"$work/that" 2>"$work/err"
    ! cmp -s "$work/this" "$work/that"
}

if [ ! -x "$other" ]; then
    skip "what is printed of benches" "sanitizers of two compilers do not mix"
    plan
    exit
fi
for bench in $("$SIM" list --format csv | tail -n +2 | cut -d , -f 1 | sort -u); do
    bad=
    differs "$bench" --breakdown --format csv && bad="$bad breakdown"
    differs "$bench" --race --format csv && bad="$bad race"
    differs "$bench" --inspect last --format json && bad="$bad inspect"
    for s in "$SIM" "$other"; do
        # shellcheck disable=SC2046
        "$s" run "$bench" $(small "$bench") --trace "$work/trace.json" >"$work/out" 2>&1
        mv "$work/trace.json" "$work/trace.$([ "$s" = "$SIM" ] && echo this || echo that)"
    done
    cmp -s "$work/trace.this" "$work/trace.that" || bad="$bad trace"
    nothing "$bad"
    ok "$bench, compiled by gcc and by clang: the same breakdown, races, operation, timeline"
done
plan
