#!/usr/bin/env bash
# docs.sh -- the examples of the documents print what the documents say, byte for byte.
#
# TAP on stdout. Runs the commands of each ```console block, of the documents named or of all; their
# stderr is shown after their stdout. A ```c block that begins with "/* NAME.c -- " is a file that a
# command may compile, /tmp/NAME.c. Commands of make are left out. B names the build, KBGEN a program
# in it.
. "$(dirname "$0")/../support/tap.sh"
at_top
KBGEN=${KBGEN:-$B/kbgen}
compiler=$(cut -d' ' -f1 "$B/_o/flags") # and what the libraries need beside it
instruments=$(grep -o -e '-fsanitize=[^ ]*' -e '--coverage' "$B/_o/flags" | xargs)

# here COMMAND: with this build's programs, and files in a folder of its own
here()
{
    local command=$1

    command=${command//\/tmp\//$work/}
    command=${command//build\//<B>/} # first all, as $B may hold a build/ of its own
    command=${command//<B>\/kbgen/$KBGEN}
    command=${command//<B>\//$B/}
    case $command in
    gcc\ *)
        command=${command/#gcc/$compiler $instruments}
        command=$(sed -E "s,-o ,-o $work/,; s, ([a-z_]+\.c), $work/\1," <<<"$command")
        ;;
    ./*) command=$work/${command#./} ;;
    esac
    printf '%s\n' "$command"
}

# once COMMAND: with the output of its first program in that one's place, where a line of a document before
# ran the same and printed it; what reads files that lines make is run again
once()
{
    local first=${1%% | *} kept

    if [[ $1 != *' | '* || $first != build/*' why '* || $first = */tmp/* ]]; then
        printf '%s\n' "$1"
        return
    fi
    kept=kept.$(printf '%s' "$first" | md5sum | cut -d' ' -f1)
    if [ -e "$work/$kept" ]; then
        printf '%s\n' "cat /tmp/$kept${1#"$first"}"
    else
        printf '%s\n' "$first | tee /tmp/$kept${1#"$first"}"
    fi
}

# compare PLACE COMMAND: does it print what "expected" has?
compare()
{
    case $2 in
    make\ *) return ;;
    *cube8_fast*) return ;; # not built by the tests
    esac
    here "$(once "$2")" >"$work/command"
    bash "$work/command" >"$work/out" 2>"$work/err"
    grep -v '^note: this has worked for' "$work/err" >>"$work/out" # depends on the machine's speed
    sed -i "s,$work/,/tmp/,g" "$work/out"
    same "$work/expected" "$work/out" || { sed 's/^/# /' "$work/command"; false; }
    ok "$1"
}

# examples FILE: a command is a line "$ ...", with lines "> ..." and a here-document up to END
examples()
{
    local line number=0 place='' command='' state=text name=''

    while IFS= read -r line; do
        number=$((number + 1))
        case $state:$line in
        text:'```console') state=block ;;
        text:'```c') state=source name='' ;;
        text:*) ;;
        source:'```') state=text ;;
        source:'/* '*'.c -- '*)
            name=${line#'/* '}
            name=${name%%' -- '*}
            printf '%s\n' "$line" >"$work/$name"
            ;;
        source:*) [ -z "$name" ] || printf '%s\n' "$line" >>"$work/$name" ;;
        here:*)
            command+=$'\n'$line
            [ "$line" != END ] || state=block
            ;;
        block:'```' | block:'$ '*)
            [ -z "$command" ] || compare "$place" "$command"
            command=''
            : >"$work/expected"
            state=text
            [ "$line" != '```' ] || continue
            state=block place=$1:$number command=${line#'$ '}
            [[ $line != *"<<'END'" ]] || state=here
            ;;
        block:'> '*) command+=$'\n'${line#'> '} ;;
        block:*) printf '%s\n' "$line" >>"$work/expected" ;;
        esac
    done <"$1"
}

for file in ${*:-*.md docs/*.md docs/tutorial/*.md}; do
    examples "$file"
done
python3 tests/support/links.py links *.md docs/*.md docs/tutorial/*.md examples/*.md tests/*.md >"$work/out"
: >"$work/expected" >"$work/err"
same "$work/expected" "$work/out"
ok "every link of the documents leads to a file, and to a heading in it"
python3 tests/support/links.py cites gen perf runtime templates tests tools topologies Makefile >"$work/out"
same "$work/expected" "$work/out"
ok "every document that a comment names has that heading"
plan
