#!/usr/bin/env bash
# sizes.sh -- how much code the engine is, and in how many places: a table, not a test.
#
# usage: sizes.sh [COMMIT]...    the present tree, behind the commits that are named
# A place is a line that asks in the middle of a step how the run is, instead of a choice made once.
# A combination refused is a message of the generator about components that something else excludes:
# routers (one message, of queueing memories and of nodes), banks, cubes that differ. Functions run of
# a loop over events are those that are compiled of one text with another constant.
set -euo pipefail
cd "$(dirname "$0")/.."

trees=$(mktemp -d)
trap 'rm -rf "$trees"' EXIT

# of_files FOLDER...: lines and files
of_files() {
    local files=0 n=0 file
    for file in $(find "$@" -name '*.[ch]' 2>/dev/null); do
        files=$((files + 1))
        n=$((n + $(wc -l <"$file")))
    done
    echo "$n lines, $files files"
}

# named FOLDER NAME...: the same of files whose names begin so
named() {
    local folder=$1 name files=()
    shift
    for name; do
        for file in "$folder/$name"*.[ch]; do
            [ -f "$file" ] && files+=("$file")
        done
    done
    echo "$(cat /dev/null "${files[@]}" | wc -l) lines, ${#files[@]} files"
}

# places REGEX FOLDER...: lines of code that match
places() {
    local regex=$1
    shift
    { grep -rhE --include='*.[ch]' "$regex" "$@" 2>/dev/null || true; } | grep -vcE '^ ?\*|^/\*' || true
}

# What a tree comes to, a value a line.
measure() {
    of_files runtime/engine runtime/network
    named runtime/machine alone bank_alone bank_behind component_cost component_packets queueing_alone
    named runtime/explain bank_ router_ stations
    places 'how &' runtime/engine runtime/network runtime/pe
    places '(T|t|topo)->links [!=]=' runtime/engine runtime/network runtime/pe
    places '(T|t|topo)->impls' runtime/engine runtime/network runtime/pe
    places 'is_told\(' runtime/engine runtime/network runtime/pe
    places "do not go together|a component is a memory of its own|impl' is the same for all cubes" gen
    places '^RUN\(|^ +X\(|^ +return run\(s, ' runtime/engine runtime/pe
}

column() {
    if [ "$1" = now ]; then
        measure
    else
        mkdir "$trees/$1"
        git archive "$1" runtime gen | tar x -C "$trees/$1"
        (cd "$trees/$1" && measure)
    fi
}

labels='engine/ and network/
formula makers besides the tables
waits in explain/
asked in a step: how &
asked in a step: links ==
asked in a step: impls
asked in a step: is_told
combinations refused by name
functions run of a loop over events'
table=$labels heading=
for commit in "$@" now; do
    table=$(paste -d '|' <(echo "$table") <(column "$commit"))
    heading="$heading|$commit"
done
{ echo "$heading" && echo "$table"; } |
    awk -F '|' '{ printf "%-36s", $1; for (i = 2; i <= NF; i++) printf "%24s", $i; print "" }'
