#!/usr/bin/env bash
# draw.sh -- the pictures of the documents: draw.sh SIMULATOR-OF-CUBE8 FOLDER
set -eu -o pipefail
sim=$1
folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for picture in sip cube pe; do
    "$sim" view $picture -o "$folder/$picture.svg"
done
"$sim" load --pattern hotspot:20 --rate 0.02 --quiet --stats "$work/busy.csv" -o "$work/load.csv"
"$sim" view sip --stats "$work/busy.csv" -o "$folder/busy.svg"
