#!/usr/bin/env bash
# docs.sh -- the examples of the documents print what the documents say, byte for byte.
#
# TAP on stdout. Runs the commands of each ```console block; their stderr is shown after their
# stdout. A ```c block that begins with "/* NAME.c -- " is a file that a command may compile. Commands
# of make are left out. B names the build, KBGEN and SIM programs in it; run from the top of the tree.
set -u
B=${B:-build}
KBGEN=${KBGEN:-$B/kbgen}
SIM=${SIM:-$B/cube8/cube8}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
compiler=$(cut -d' ' -f1 "$B/_o/flags") # and what the libraries need beside it
instruments=$(grep -o -e '-fsanitize=[^ ]*' -e '--coverage' "$B/_o/flags" | xargs)
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
    case $command in
    gcc\ *)
        command=${command/#gcc/$compiler $instruments}
        command=$(sed -E "s,-o ,-o $dir/,; s, ([a-z_]+\.c), $dir/\1," <<<"$command")
        ;;
    ./*) command=$dir/${command#./} ;;
    esac
    printf '%s\n' "$command"
}

# compare PLACE COMMAND: does it print what "expected" has?
compare()
{
    case $2 in
    make\ *) return ;;
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
            printf '%s\n' "$line" >"$dir/$name"
            ;;
        source:*) [ -z "$name" ] || printf '%s\n' "$line" >>"$dir/$name" ;;
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
