#!/usr/bin/env bash
# llm_table.sh -- processor seconds that `llm` takes for models on machines of up to 64 ranks; `make bench-llm` builds what it runs.
#
# usage: perf/llm_table.sh [MODEL]... ; without words all shipped ones. B names the build. MACHINES (topologies/*.yaml) are
# what they run on (those of more than 128 units are left out), PHASES (prefill decode) of 1024 tokens, LIMIT (120) the seconds of a processor after which a run is ended, ARGS more
# arguments. A row is printed as soon as its run has ended: all, the search for tiles, ranks alone, the iteration, causes.
# Ranks are as many as the model can be cut into, 64 at most. One at a time, so that others are not in its way.
set -euo pipefail

B=${B:-build}
MACHINES=${MACHINES:-topologies/*.yaml}
PHASES=${PHASES:-prefill decode}
LIMIT=${LIMIT:-120}
LARGEST=64
program=$B/_p/llm_parts
said=$(mktemp)
trap 'rm -f "$said"' EXIT

llm() {
    { (ulimit -t "$LIMIT" && exec "$program" --machine "$machine" llm "$@" --quiet -o /dev/null ${ARGS:-}) 2>"$said"; } 2>/dev/null
}

# The units of the machine; more than there are, are refused with their number.
units() {
    llm llama-3.1-405b --tp 65536 || true
    sed -n 's/.*the machine has \([0-9]*\) units.*/\1/p' "$said"
}

# The most ranks, up to $tp, that the model can be cut into, if it said so.
fewer() {
    sed -n 's/.*possible are//p' "$said" | tr ' ' '\n' | awk -v tp="$tp" '$1 > most && $1 <= tp { most = $1 } END { print most }'
}

run() {
    local code=0 parts
    llm "$model" "--$phase" 1024 --tp "$tp" || code=$?
    if [ -n "$(fewer)" ]; then
        tp=$(fewer) code=0
        llm "$model" "--$phase" 1024 --tp "$tp" || code=$?
    fi
    printf '%-16s %-15s %-7s %5s ' "$name" "$model" "$phase" "$tp"
    parts=$(sed -n 's/^llm_parts: //p' "$said")
    case $code in
    0) printf '%7.2f %7.2f %7.2f %7.2f %7.2f\n' $(awk '{ print $5, $1, $2, $3, $4 }' <<<"$parts") ;;
    137 | 152) echo "over $LIMIT s" ;;
    *) grep -v ^llm_parts "$said" | tail -n 1 | cut -c 1-70 ;;
    esac
}

[ $# -gt 0 ] || set -- $(basename -s .json -a share/models/*.json)
printf '%-16s %-15s %-7s %5s %7s %7s %7s %7s %7s\n' machine model phase ranks all search alone run causes
for model in "$@"; do
    for machine in $MACHINES; do
        name=$(basename -s .yaml "$machine")
        of=$(units)
        [ "$of" -le $((2 * LARGEST)) ] || continue
        tp=$((of < LARGEST ? of : LARGEST))
        for phase in $PHASES; do
            run
        done
    done
done
