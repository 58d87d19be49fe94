#!/usr/bin/env bash
# merge.sh -- puts what each test has counted, in a folder of its own, beside the objects, as one sum.
#
# usage: merge.sh COUNTS, which is removed
set -eu
counts=$1 all=$1.all
rm -rf "$all" "$all".new
for test in "$counts"/*/; do
    if [ -e "$all" ]; then
        gcov-tool merge -o "$all.new" "$all" "$test" 2>"$counts.log"
        rm -rf "$all"
        mv "$all.new" "$all"
    else
        cp -r "$test" "$all"
    fi
done
(cd "$all" && find . -name '*.gcda') | while read -r file; do
    cp "$all/$file" "/$file"
done
rm -rf "$all" "$counts"
