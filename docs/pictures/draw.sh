#!/usr/bin/env bash
# draw.sh -- the pictures of the documents: draw.sh SIMULATOR-OF-CUBE8 FOLDER
set -eu -o pipefail
sim=$1
folder=$2

for picture in sip cube pe; do
    "$sim" view $picture -o "$folder/$picture.svg"
done
"$sim" load --pattern uniform --rate 0.05:0.4:0.05 --txns 20000 --quiet |
    "$sim" view latency - -o "$folder/latency.svg"
for bench in attention gemm gemm_composite layernorm mlp qkv_gemm softmax threshold; do
    "$sim" run $bench --format csv --quiet
done | awk 'NR == 1 || !/^bench,/' | "$sim" view roofline - -o "$folder/roofline.svg"
