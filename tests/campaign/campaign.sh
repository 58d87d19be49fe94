#!/usr/bin/env bash
# campaign.sh -- runs campaign in pieces, and goes on where it was ended.
#
# usage: campaign.sh PROGRAM FOLDER
# KINDS, SEEDS (of machines, from 1) and LOADS (0 is every pair) say what: see campaign.c. First the pairs of all
# machines, then 50 loads of each machine, then the next 50. FOLDER/done has a line for each piece that passed, which
# is not run again: remove it after a change of the engines. FOLDER/failed has the loads that failed.
set -u
program=$1 folder=$2
kinds=${KINDS:-plain any banks caches plain_split any_split banks_split} machines=${SEEDS:-1-1000} loads=${LOADS:-0-3000}
at_a_time=20 step=50
mkdir -p "$folder"
touch "$folder/done"
: >"$folder/failed"

# least A B
least() { echo $(($1 < $2 ? $1 : $2)); }

# piece KIND SEEDS LOADS
piece() {
    grep -qF "$1 machines $2 loads $3:" "$folder/done" && return
    if "$program" "$1" "$2" "$3" >"$folder/piece.$$" 2>"$folder/messages.$$"; then
        cat "$folder/piece.$$" >>"$folder/done"
    else
        grep -v warning: "$folder/messages.$$" | cat "$folder/piece.$$" - | tee -a "$folder/failed"
    fi
}

# block FIRST LAST: these loads of all machines of all kinds
block() {
    local kind first

    for kind in $kinds; do
        for ((first = ${machines%-*}; first <= ${machines#*-}; first += at_a_time)); do
            piece "$kind" "$first-$(least $((first + at_a_time - 1)) "${machines#*-}")" "$1-$2"
        done
    done
}

first=${loads%-*} last=${loads#*-}
if [ "$first" = 0 ]; then
    block 0 0
    first=1
fi
for (( ; first <= last; first += step)); do
    block "$first" "$(least $((first + step - 1)) "$last")"
done

awk '{ l += $6; t += $9; p += $12 } END { printf "%d loads of %d transactions and %d pairs passed\n", l, t, p }' \
    "$folder/done"
failed=$(grep -c '^not ok' "$folder/failed")
echo "$failed failed"
[ "$failed" = 0 ]
