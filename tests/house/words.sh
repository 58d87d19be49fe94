#!/usr/bin/env bash
# words.sh -- plain English: words that are wrong for things, and how much of the code is comments. Prints TAP.
#
# tests/house/words.allow lists places where such a word is right: "PATH: TEXT OF THE LINE".
. "$(dirname "$0")/../support/tap.sh"
at_top
house=tests/house/house.py

# ours PATTERN...: our files, whether git knows them or not, but not what is generated or copied
ours()
{
    git ls-files -co --exclude-standard -- "$@" | grep -v -e '^tests/golden/' -e '^tests/house/' -e '^LICENSE' | while read -r f; do
        [ -f "$f" ] && echo "$f"
    done
}

if ! git rev-parse --git-dir >"$work/out" 2>&1; then
    none "not a clone of the repository"
fi
# shellcheck disable=SC2046
nothing "$(python3 $house words tests/house/words.allow \
    $(ours '*.c' '*.h' '*.cpp' '*.def' '*.m4' '*.md' '*.sh' '*.mk' '*.py' '*.S' '*.js' '*.css' '*.awk' '*.yaml' Makefile .ci/run .ci/install) 2>&1)"
ok "a thing is an it"
# shellcheck disable=SC2046
nothing "$(python3 $house comments 10 20 $(ours 'runtime/*.c' 'gen/*.c') 2>"$work/share")"
ok "10 to 20 per cent of the lines are comments"
cat "$work/share"

# -- planted ----------------------------------------------------------------------------------

: >"$work/allow"
cat >"$work/a.c" <<'END'
/* The memory tells whom it serves. */
int he = 1; /* waits for
               ever */
const char *text = "nobody listens";
END
equal "in comments and messages, not in code" "1 2 4" \
    "$(python3 $house words "$work/allow" "$work/a.c" | cut -d : -f 2 | xargs)"
echo "$work/a.c: nobody listens" >"$work/allow"
equal "an exception" "1 2" "$(python3 $house words "$work/allow" "$work/a.c" | cut -d : -f 2 | xargs)"
echo "$work/a.c: somebody" >"$work/allow"
python3 $house words "$work/allow" "$work/a.c" | grep -qF "'somebody' is no longer in $work/a.c"
ok "an exception that is none any more"
equal "a file of too many comments" "75.0 % of the lines of 1 files are comments, not 10 to 20 %" \
    "$(printf '/* a\n b\n */\nint c;\n' >"$work/b.c"; python3 $house comments 10 20 "$work/b.c" 2>"$work/share")"
plan
