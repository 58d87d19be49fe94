#!/usr/bin/env bash
# docs.sh -- the examples of the documents print what the documents say, byte for byte.
#
# TAP on stdout. Runs the commands of each ```console block; their stderr is shown after their
# stdout. Commands that build something are left out. B names the build, KBGEN and SIM programs in
# it; run from the top of the tree.
set -u
B=${B:-build}
KBGEN=${KBGEN:-$B/kbgen}
SIM=${SIM:-$B/cube8/cube8}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 failed=0

# here COMMAND: with this build's programs, files in a folder of its own, and the variant with
# fifo links that the tests build
here()
{
    local command=$1

    command=${command//\/tmp\//$dir/}
    command=${command//cube8_queues/cube8_fifo}
    command=${command//build\//@/} # first all, as $B may hold a build/ of its own
    command=${command//@\/cube8\/cube8/$SIM}
    command=${command//@\/kbgen/$KBGEN}
    command=${command//@\//$B/}
    printf '%s\n' "$command"
}

# compare PLACE COMMAND: does it print what "expected" has?
compare()
{
    case $2 in
    make\ * | gcc\ * | ./*) return ;;
    *cube8_fast*) return ;; # nobody has built it
    esac
    here "$2" >"$dir/command"
    bash "$dir/command" >"$dir/out" 2>"$dir/err"
    cat "$dir/err" >>"$dir/out"
    n=$((n + 1))
    if diff "$dir/expected" "$dir/out" >"$dir/diff"; then
        echo "ok $n - $1"
    else
        failed=1
        echo "not ok $n - $1: $2"
        sed 's/^/# /' "$dir/diff"
    fi
}

# examples FILE: a command is a line "$ ...", with lines "> ..." and a here-document up to END
examples()
{
    local line number=0 place='' command='' state=text

    while IFS= read -r line; do
        number=$((number + 1))
        case $state:$line in
        text:'```console') state=block ;;
        text:*) ;;
        here:*)
            command+=$'\n'$line
            [ "$line" != END ] || state=block
            ;;
        block:'```' | block:'$ '*)
            [ -z "$command" ] || compare "$place" "$command"
            command=''
            : >"$dir/expected"
            state=text
            [ "$line" != '```' ] || continue
            state=block place=$1:$number command=${line#'$ '}
            [[ $line != *"<<'END'" ]] || state=here
            ;;
        block:'> '*) command+=$'\n'${line#'> '} ;;
        block:*) printf '%s\n' "$line" >>"$dir/expected" ;;
        esac
    done <"$1"
}

for file in *.md docs/*.md; do
    examples "$file"
done
echo "1..$n"
exit $failed
