#!/usr/bin/env bash
# llm.sh -- `llm` from outside: what its JSON has beside rows, and what iterations come to. Prints TAP. Needs jq.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# -- totals -------------------------------------------------------------------------------------

# total JQ: of the JSON in out
total()
{
    jq -r "$@" out
}

run llm llama-3.2-1b --batch 1,4 --decode 64 --tries 2 --format json --quiet
equal "the schema" kernbench.llm/1 "$(total .schema)"
equal "an object for each batch" "1 4" "$(total '[.totals[].batch] | join(" ")')"
equal "what was not run is null" "null null" "$(total '[.totals[].ttft_ms | tostring] | join(" ")')"
equal "4 tokens in 211.989 us" "0.211989 4717.23 18868.919" \
    "$(total '.totals[1] | "\(.tpot_ms) \(.tokens_per_s_user * 1000 | round / 1000) \(.tokens_per_s * 1000 | round / 1000)"')"
equal "the time of a token is the total of its rows" 0 \
    "$(total '[.rows[] | select(.op == "total") | .us / 1000] as $us | [.totals[].tpot_ms] as $ms |
        [range(2) | select(($us[.] - $ms[.] | fabs) > 0.000001)] | length')"

equal "roofs of a rank: 8 PEs of 16^3 and 64 lanes, 8 slices, two links of 128" "65536 512 2048 256" \
    "$(total '.totals[1] | "\(.peak_gops) \(.math_gops) \(.memory_gbs) \(.fabric_gbs)"')"
roof() { "$SIM" llm llama-3.2-1b --decode 16 --tries 1 --format json --quiet "$@" | jq '.totals[0].fabric_gbs'; }
equal "links of two ranks, of one, of ranks behind a switch" "128 null 64 64" \
    "$(roof --tp 2) $(roof --tp 1) $(roof --set sips=2) $(roof --set sips=4 --set fabric.bw_gbs=64)"
times() { "$SIM" llm llama-3.2-1b --decode 16 --tries 1 --quiet --columns "$1" | awk '$2 ~ /^[0-9.]+$/ {print $1, $2}'; }
equal "without causes, which take a simulation of their own, the same times" "$(times op,us,cause)" "$(times op,us)"
run llm llama-3.2-1b --prefill 16 --tries 1 --format jsonl --quiet
equal "jsonl: on the first line; a prefill has no time of a token" "true null null null" \
    "$(head -1 out | jq -r '.totals[0] | "\(.ttft_ms > 0) \(.tpot_ms) \(.tokens_per_s_user) \(.tokens_per_s)"')"

# -- keys of cubes ------------------------------------------------------------------------------

# A machine all of whose cubes have keys of their own is the machine with these keys: peak_pct and tiles, too.
own='pe: {pe_gemm: {mac: [32, 32, 32], clock_ghz: 0.5}, pe_dma: {read_channels: 8}}, hbm: {bw_gbs: 512.0, latency_ns: 80.0}'
call "$B/kernbench" llm llama-3.2-1b --machine "$root/topologies/cube8.yaml" --decode 64 --tries 2 --format csv --quiet --set 'cube.pe.pe_gemm.mac=[32, 32, 32]' \
    --set cube.pe.pe_gemm.clock_ghz=0.5 --set cube.pe.pe_dma.read_channels=8 --set cube.hbm.bw_gbs=512 --set cube.hbm.latency_ns=80
[ $code -eq 0 ]
ok "keys of the machine"
cp out keys
call "$B/kernbench" llm llama-3.2-1b --machine "$root/topologies/cube8.yaml" --decode 64 --tries 2 --format csv --quiet --set "kinds={own: {$own}}" --set 'cubes={"c*": own}'
[ $code -eq 0 ] && same keys out
ok "keys of a kind are keys"

# -- prompts in pieces --------------------------------------------------------------------------

run llm llama-3.2-1b --prefill 40 --chunk 16 --tries 1 --format json --quiet
equal "a piece each" "16 32 40" "$(total '[.rows[] | select(.op == "total") | .kv] | join(" ")')"
equal "the head is in the last" "40" "$(total '[.rows[] | select(.op == "topk") | .kv] | join(" ")')"
equal "the time to the first token is their sum" 0 \
    "$(total '([.rows[] | select(.op == "total") | .us] | add / 1000) as $ms |
        [.totals[] | select((.ttft_ms - $ms | fabs) > 0.000001)] | length')"
run llm llama-3.2-1b --prefill 40 --chunk 64 --tries 1 --format csv --quiet
cp out one
run llm llama-3.2-1b --prefill 40 --tries 1 --format csv --quiet
same one out
ok "a piece that is the prompt"
refused "no prompt" 2 "--chunk is of a prompt, and --decode alone has none" llm llama-3.2-1b --chunk 2 --decode 2

# -- tokens behind a prompt ---------------------------------------------------------------------

# us KV: of the decode step with that many tokens, by itself
us()
{
    "$SIM" llm llama-3.2-1b --decode "$1" --tries 2 --format json --quiet | jq '.rows[] | select(.op == "total") | .us'
}

run llm llama-3.2-1b --prefill 16 --tokens 40 --tries 2 --format json --quiet
equal "a simulation for each page" "prefill 16, decode 32, decode 48, decode 64" \
    "$(total '[.rows[] | select(.op == "total") | "\(.phase) \(.kv)"] | join(", ")')"
equal "as long as by itself" "$(us 32) $(us 48) $(us 64)" \
    "$(jq '.rows[] | select(.op == "total" and .phase == "decode") | .us' out | xargs)"
equal "the mean over 17 .. 55 tokens" 0 \
    "$(total '([.rows[] | select(.op == "total" and .phase == "decode") | .us] | (16 * .[0] + 16 * .[1] + 7 * .[2]) / 39000) as $ms |
        [.totals[] | select((.tpot_ms - $ms | fabs) > 0.000001)] | length')"
equal "the first token is of the prompt" 0 \
    "$(total '[.rows[] | select(.op == "total" and .phase == "prefill") | .us / 1000 - $t | select(fabs > 0.000001)] | length' \
        --argjson t "$(total '.totals[0].ttft_ms')")"
run llm llama-3.2-1b --prefill 16 --tokens 1 --tries 1 --format json --quiet
equal "one token has no time of the next" "true null" "$(total '.totals[0] | "\(.ttft_ms > 0) \(.tpot_ms)"')"
refused "a step and tokens" 2 "--tokens are behind a prompt, and --decode is one step" llm llama-3.2-1b --tokens 2 --decode 2

# -- lists, causes, tiles -----------------------------------------------------------------------

run llm llama-3.2-1b --tp 4,8 --batch 1,2 --decode 16,32 --tries 1 --format json --quiet
equal "lists multiply" "4/1/16 4/1/32 4/2/16 4/2/32 8/1/16 8/1/32 8/2/16 8/2/32" \
    "$(total '[.totals[] | "\(.tp)/\(.batch)/\(.kv)"] | join(" ")')"
equal "each operation has a cause" 0 "$(total '[.rows[] | select(.bytes != null and .cause == null)] | length')"
run llm llama-3.2-1b --prefill 16 --tp 4 --decode 16,32 --tries 1 --format json --quiet
equal "one prefill for all steps" "prefill 16, decode 16, decode 32" \
    "$(total '[.rows[] | select(.op == "total") | "\(.phase) \(.kv)"] | join(", ")')"
run llm llama-3.2-1b --decode 16 --tries 1 --quiet
equal "no empty line behind a table" "batch 1" "$(tail -1 out | cut -d: -f1)"
refused "a list that is none" 2 "--tp: " llm llama-3.2-1b --tp 4,x
refused "too many tokens" 2 "--decode: 1048577 is more than 1048576" llm llama-3.2-1b --decode 1048577

run llm llama-3.2-1b --decode 16 --tries 2 --map-out tiles.yaml --format csv --quiet
cp out found
run llm llama-3.2-1b --decode 16 --tries 2 --map tiles.yaml --map-out again.yaml --format csv --quiet
same tiles.yaml again.yaml
ok "tiles come back as they were"
equal "and take as long" "$(cut -d, -f10-12 found)" "$(cut -d, -f10-12 out)"
equal "a tile of a map is told beside the one that was found" 5 "$(grep -c 'given, +0.0 % over M' out)"
sed -i '/op: down/s/tile: .*]/tile: [1, 16, 16]/' again.yaml
run llm llama-3.2-1b --decode 16 --tries 2 --map again.yaml --format csv --quiet
equal "a tile that was edited is taken" "true 1" \
    "$(awk -F, '$10 == "down" {us[FILENAME] = $12} END {print (us["out"] > us["found"] ? "true" : "false")}' found out) $(grep -c 'M 1 N 16 K 16 given, +[1-9]' out)"
sed 's/^machine: .*/machine: 0123456789abcdef/' tiles.yaml > other.yaml
refused "of another machine" 3 "other.yaml:3:10: a map of another machine" llm llama-3.2-1b --map other.yaml
printf 'kernbench_map: 1\nmachine: x\nproducts:\n- {op: a, m: 0, k: 1, n: 1, x: bf16, w: b, grid: 3x1, tile: [1]}\n- {foo: 1}\n' > bad.yaml
refused "each mistake has its place" 3 "bad.yaml:4:61: a tile is [m, k, n]" llm llama-3.2-1b --map bad.yaml
refused "no such map" 3 "cannot read none.yaml" llm llama-3.2-1b --map none.yaml
sed -i '/op: down/s/tile: .*]/tile: [4096, 4096, 4096]/' again.yaml
refused "a tile that has no room" 3 "the tile does not fit" llm llama-3.2-1b --decode 16 --tries 1 --map again.yaml

# gate_up over 8 ranks has the extents of down over 4.
run llm llama-3.2-1b --tp 8,4 --decode 16 --tries 2 --map-out lists.yaml --format csv --quiet
cut -d, -f10-12 out > found
run llm llama-3.2-1b --tp 8,4 --decode 16 --tries 2 --map lists.yaml --format csv --quiet
[ $code -eq 0 ] && same found <(cut -d, -f10-12 out)
ok "products with the same extents come back"
sed -i '/op: down/s/unit: 1, //' tiles.yaml
run llm llama-3.2-1b --decode 16 --tries 2 --map tiles.yaml --format csv --quiet
equal "a map without units is of any" 5 "$(grep -c 'given, +0.0 % over M' out)"
cat > types.yaml <<'END'
kernbench_graph: 1
ranks: 1
nodes:
- {id: in, op: embed, rows: 64, width: 512, dtype: f32, table: 1K}
- {id: half, op: embed, rows: 64, width: 512, dtype: bf16, table: 1K}
- {id: a, op: gemm, m: 64, n: 1024, k: 512, a: bf16, b: bf16, out: bf16, x: half}
- {id: b, op: gemm, m: 64, n: 1024, k: 512, a: f32, b: bf16, out: f32, x: in}
END
run llm types.yaml --tries 4 --map-out types_map.yaml --quiet
equal "products of other types have tiles of their own" "a bf16 b f32" "$(sed -n 's/.*op: \(.\), .* x: \([a-z0-9]*\),.*/\1 \2/p' types_map.yaml | xargs)"

run llm llama-3.2-1b --decode 16 --prove --format csv --quiet
equal "all is proven" 5 "$(grep -c ', proven)' out)"
run llm llama-3.2-1b --decode 16 --batch 2 --grid 2x4 --tries 1 --map-out grid.yaml --format csv --quiet
equal "a grid that was asked for" 5 "$(grep -c 'grid: 2x4' grid.yaml)"
refused "a grid of other PEs" 2 "--grid '3x3' is not PxQ with the 8 PEs of a rank" llm llama-3.2-1b --grid 3x3
refused "more rows than tokens" 2 "an iteration of 1 tokens has not 2 rows" llm llama-3.2-1b --decode 16 --grid 2x4

# -- iterations of unlike requests --------------------------------------------------------------

printf 'iteration,request,q,kv,head\n3,0,1,64,1\n3,1,1,64,1\n7,0,24,64,1\n8,5,40,40,0\n' > its.csv
run llm llama-3.2-1b --iterations its.csv --tries 1 --format csv --quiet
cp out its
column() { awk -F, -v phase="$2" '$8 == phase {print $10, $12}' "$1"; }
run llm llama-3.2-1b --decode 64 --batch 2 --tries 1 --format csv --quiet
equal "requests that are alike are a batch" "$(column out decode)" "$(column its 'iteration 3')"
run llm llama-3.2-1b --prefill 64 --chunk 40 --tries 1 --format csv --quiet
equal "pieces of a prompt, without a head and with one" "$(column out prefill)" "$(column its 'iteration 8'; column its 'iteration 7')"
printf 'iteration,request,q,kv\n0,0,1,64\n0,1,1,640\n' > its.csv
run llm llama-3.2-1b --iterations its.csv --tries 1 --format csv --quiet
cp out its
run llm llama-3.2-1b --decode 64,640 --batch 2 --tries 1 --format csv --quiet
equal "unlike ones take more than the short and less than the long" "true true" \
    "$(awk -F, '$10 == "attention" {us[FILENAME $9] = $12} END {print (us["out64"] < us["its640"] ? "true" : "false"), (us["its640"] <= us["out640"] ? "true" : "false")}' its out)"
printf 'iteration,request,q,kv\n1,0,1,4\n0,0,1,4\n' > its.csv
refused "iterations out of order" 3 "its.csv:3:1: iteration 0 is behind 1: they come in order" llm llama-3.2-1b --iterations its.csv
printf 'iteration,request,q,kv\n1,0,1,4\n1,0,1,4\n1,1,5,4\n' > its.csv
refused "a request twice" 3 "its.csv:3:3: iteration 1 has request 0 twice: line 2" llm llama-3.2-1b --iterations its.csv
refused "more new tokens than tokens" 3 "its.csv:4:7: kv '4' is not a whole number from 5" llm llama-3.2-1b --iterations its.csv
{ echo iteration,request,q,kv; for i in 0 1; do seq 3000 -1 1 | sed "s/.*/$i,&,1,64/"; done; echo 1,2999,1,64; } >its.csv
refused "a request twice among many, which an iteration before has, too" 3 "its.csv:6002:3: iteration 1 has request 2999 twice: line 3003" llm llama-3.2-1b --iterations its.csv
refused "iterations and a batch" 2 "--iterations says what --prefill" llm llama-3.2-1b --iterations its.csv --batch 2
refused "iterations and copies, before what these divide" 2 "--iterations: --tp is one number, and --pp and --dp are 1" \
    llm mixtral-8x7b --iterations its.csv --tp 1 --dp 4 --ep 8
refused "queues that fit into no TCM" 2 "llm needs queues between PEs: 'cube.pe.pe_ipcq' has 64 slots of 1048576 bytes, more than the 16777216 bytes of a TCM" \
    llm llama-3.2-1b --decode 16 --tries 1 --set cube.pe.pe_ipcq.slots=64 --set cube.pe.pe_ipcq.slot_bytes=1048576
refused "accumulators smaller than a row" 2 "attention: a row of all heads of a group needs accumulators of 1280 bytes, 'cube.pe.pe_gemm.acc_kb' has 1024" \
    llm llama-3.2-1b --decode 16 --tries 1 --set cube.pe.pe_gemm.acc_kb=1
run llm llama-3.2-1b --decode 16 --tries 1 --set cube.pe.pe_gemm.acc_kb=2 --quiet
equal "... and such that have room for one" 0 "$code"
refused "iterations of latents" 2 "requests must be alike" llm deepseek-v3 --iterations its.csv --tp 1
printf 'iteration,request,q,kv\n' > its.csv
refused "no iterations" 3 "its.csv has no iterations" llm llama-3.2-1b --iterations its.csv

# -- graphs -------------------------------------------------------------------------------------

# comes_back NAME ARGUMENTS: the graph of a model takes what the model takes, and is written again as it was
comes_back()
{
    local name=$1

    shift
    run llm "$@" --tries 2 --graph graph.yaml --map-out a.yaml --format csv --quiet
    cut -d, -f2- out > model
    run llm graph.yaml --tries 2 --map-out b.yaml --format csv --quiet
    cut -d, -f2- out > graph
    same model graph && same a.yaml b.yaml
    ok "a graph takes what its model takes: $name"
}

comes_back llama llama-3.2-1b --decode 16 --batch 2
comes_back falcon falcon-7b --prefill 24 --tp 1
comes_back qwen qwen-3-32b --decode 16 --weights i8 --kv i8
cat > small.yaml <<'END'
kernbench_graph: 1
ranks: 2
repeat: {layer: 3}
nodes:
- {id: in, op: embed, rows: 4, width: 256, table: 1K}
- {begin: layer}
- {id: qkv, op: gemm, m: 4, n: 384, k: 256}
- {id: att, op: attention, q: [1x3, 1], kv: [100x4], heads: 1, kv_heads: 1, dim: 128, stream: main}
- {id: o, op: gemm, m: 4, n: 256, k: 128, deps: [att]}
- {id: sum, op: all_reduce, bytes: 2K, group: tp}
- {end: layer}
END
run llm small.yaml --tries 1 --format csv
equal "one by hand" "in 1 qkv 3 att 3 o 3 sum 3 layer 3 head  total  " \
    "$(sed 1d out | cut -d, -f10,11 | tr ',\n' '  ')"
equal "streams are not read" 1 "$(grep -c 'streams are not read' err)"
refused "a graph has its own ranks" 2 "--tp is of models" llm small.yaml --tp 2
refused "and one iteration" 2 "--prefill is of models; a graph has its own" llm small.yaml --prefill 2
refused "the option that was given is the one that is named" 2 "--ep is of models; a graph has its own" llm small.yaml --ep 8
sed 's/ranks: 2/ranks: 9/' small.yaml > nine.yaml
refused "more ranks than the machine has" 2 "nine.yaml has 9 ranks, the machine 8 units" llm nine.yaml
refused "a map and a graph in one file" 2 "--graph and --map-out name the same file" llm llama-3.2-1b --map-out m.yaml --graph m.yaml
refused "a graph over what is read" 2 "--graph names the file that is read" llm small.yaml --graph ./small.yaml
refused "activations of integers" 2 "--act 'i8' is no float" llm llama-3.2-1b --act i8
for option in weights kv; do
    refused "two of a byte: --$option" 2 "--$option 'i4' has less than a byte" llm llama-3.2-1b --$option i4
done
refused "more requests than there are" 2 "--batch: 18446744073709551615 is more than 1048576" llm llama-3.2-1b --batch 18446744073709551615
refused "a map of several machines" 2 "--map-out, --graph and --chakra write what one machine has found" llm llama-3.2-1b --map-out m.yaml --vary cube.hbm.bw_gbs=128,256
refused "of two iterations" 2 "--graph is of one iteration" llm llama-3.2-1b --graph two.yaml
refused "of two copies" 2 "--graph is of one copy, without --dp" llm llama-3.2-1b --decode 16 --dp 2 --graph two.yaml
refused "a prompt in stages that is a decode step" 2 "it is a decode step: --decode 1" llm llama-3.2-1b --prefill 1 --pp 2 --graph two.yaml

# -- models by hand -----------------------------------------------------------------------------

cat > narrow.json <<'END'
{"model_type": "qwen3", "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 8, "vocab_size": 24,
 "intermediate_size": 40, "num_key_value_heads": 2}
END
for engine in fused hop; do
    run llm narrow.json --tp 1 --decode 20 --tries 1 --format csv --quiet --engine $engine --set cube.pes=64
    cut -d, -f2- out > $engine
done
run llm narrow.json --tp 1 --decode 20 --tries 1 --format csv --quiet --no-repeat --set cube.pes=64
cut -d, -f2- out > all
equal "PEs without a column of a narrow model" "0 3 3" "$code $(awk -F, '$10 ~ /^(act|o)$/ {print $11}' out | xargs)"
same fused hop && same fused all
ok "the same digits by each engine, and with all layers"
sed 's/: 48/: 1099511627776/; s/: 24/: 1099511627776/' narrow.json > wide.json
refused "a matrix of more columns than 64 bits count" 3 "wide.json: a matrix has more than 2^20 columns" llm wide.json --decode 16
sed 's/_layers": 3/_layers": 1099511627776/' narrow.json > deep.json
refused "more layers than 64 bits count" 3 "deep.json: num_hidden_layers is too many" llm deep.json --dry-run
refused "no such model" 3 "unable to open ./none.json: No such file" llm ./none.json

# -- experts ------------------------------------------------------------------------------------

cat > moe.json <<'END'
{"model_type": "mixtral", "hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 8, "vocab_size": 512,
 "intermediate_size": 128, "num_local_experts": 8, "num_experts_per_tok": 2}
END
run llm moe.json --dry-run --format csv
equal "parameters, and those of a token" "3415808 1515264" "$(sed 1d out | cut -d, -f4,6 | tr , ' ')"
run llm moe.json --batch 10 --decode 16 --tries 1 --format csv --quiet
equal "operations of experts" "gate route experts_up experts_act experts_down combine all_reduce2" \
    "$(cut -d, -f10 out | sed -n '/gate/,/all_reduce2/p' | xargs)"
run llm moe.json --batch 10 --decode 16 --ep 4 --tries 1 --format csv --quiet
equal "divided among ranks" "gate route dispatch experts_up experts_act experts_down collect combine all_reduce2" \
    "$(cut -d, -f10 out | sed -n '/gate/,/all_reduce2/p' | xargs)"
equal "its column, and bytes of three tokens of a rank" "8 4 2304" "$(awk -F, '$10 == "dispatch" {print $2, $5, $NF}' out)"
comes_back experts moe.json --decode 16 --batch 10 --tp 4
comes_back "rows to experts and back" moe.json --decode 16 --batch 10 --ep 4
comes_back "a rank for each expert" moe.json --decode 16 --batch 10 --ep 8
refused "nor layers that are not alike" 2 "--graph: layers are not alike with --routing uniform:1" llm moe.json --decode 16 --routing uniform:1 --graph g.yaml
refused "a number that does not divide" 2 "moe.json: --ep 3 does not divide 8 experts over 8 ranks; possible are 1 2 4 8" llm moe.json --ep 3
columns="op,bytes,flops,link_bytes"
copies="llm moe.json --batch 5 --decode 16 --tp 2 --dp 2 --ep 4 --tries 1 --quiet"
run $copies --columns $columns
rows=$(grep -E 'dispatch|experts|collect' out | xargs)
run llm moe.json --batch 10 --decode 16 --tp 4 --ep 4 --tries 1 --quiet --columns $columns
equal "experts of two copies have the rows of both" "$(grep -E 'dispatch|experts|collect' out | xargs)" "$rows"
run $copies
mv out copies
run $copies --no-repeat
equal "and take the same when all layers are simulated" 0 "$(cmp -s copies out; echo $?)"
links() { "$SIM" llm moe.json --batch 8 --decode 16 --tries 1 --format json --quiet "$@" | jq '.totals[0].fabric_gbs'; }
equal "links of ranks of several copies are those of as many of one" "256 256 null" \
    "$(links --tp 1 --dp 8 --ep 8) $(links --tp 2 --dp 4 --ep 8) $(links --tp 1 --dp 8 --ep 1)"
refused "more copies than there are" 2 "--ep 8 does not divide 8 experts over 4 ranks; possible are 1 2 4" llm moe.json --tp 2 --dp 2 --ep 8
refused "a trace of ranks of several copies" 2 "--chakra is of one copy" llm moe.json --decode 16 --tp 2 --dp 4 --ep 8 --chakra x.%d.et
refused "experts of a model that has none" 2 "--ep is of experts, and llama-3.2-1b has none" llm llama-3.2-1b --ep 2
run llm llama-3.2-1b --ep 1 --decode 16 --tries 1 --quiet
equal "one part of experts, of a model that has none" 0 "$code"
refused "the same of their choice" 2 "--routing is of experts, and llama-3.2-1b has none" llm llama-3.2-1b --routing even
for word in odd zipf zipf:1 zipf:5:1 zipf:x:1 uniform: uniform:x file:; do
    refused "--routing $word" 2 "--routing '$word' is not even, uniform:SEED, zipf:S:SEED" llm moe.json --routing $word
done
run llm moe.json --batch 10 --decode 16 --tries 1 --format csv --quiet
cut -d, -f10-14 out > even
{ echo layer,expert,tokens; for l in 0 1 2; do for e in 0 1 2 3; do echo "$l,$e,3"; done; for e in 4 5 6 7; do echo "$l,$e,2"; done; done; } > even.csv
run llm moe.json --batch 10 --decode 16 --tries 1 --format csv --quiet --routing file:even.csv
cut -d, -f10-14 out > file
same even file
ok "a file of even rows is even"
sed 's/^1,4,2/1,4,3/' even.csv > sum.csv
refused "a file with a row too many" 3 "sum.csv: layer 1 has 21 rows, and 10 tokens take 2 each" llm moe.json --batch 10 --decode 16 --routing file:sum.csv
sed 's/^1,4,2/1,5,2/' even.csv > twice.csv
refused "an expert twice" 3 "twice.csv: layer 1 has expert 5 twice" llm moe.json --batch 10 --decode 16 --routing file:twice.csv
sed 's/^1,4,2/1,8,2/' even.csv > nine.csv
refused "an expert that is not there" 3 "nine.csv: layer 1, expert 8, tokens 2: there are 3 layers of 8 experts, and 10 tokens" llm moe.json --batch 10 --decode 16 --routing file:nine.csv
sed 's/^1,4,2/1,4,x/' even.csv > word.csv
refused "a number that is a word" 3 "word.csv:14:5: tokens 'x' is not a whole number" llm moe.json --batch 10 --decode 16 --routing file:word.csv
refused "no such file" 3 "none.csv" llm moe.json --decode 16 --routing file:none.csv
sed 's/, "num_experts_per_tok": 2//' moe.json > few.json
refused "a key that is missing" 3 "few.json: num_experts_per_tok is missing" llm few.json --dry-run
refused "all experts in one rank" 2 "mixtral-8x7b needs 93.408 GB of 51.540 a rank, 41.868 too many; what would fit: 1.9 times the memory" llm mixtral-8x7b --tp 1 --decode 16
refused "latents and experts in few ranks" 2 "deepseek-v3 needs 85.129 GB of 51.540 a rank, 33.589 too many; what would fit: 1.7 times the memory" llm deepseek-v3 --decode 16
cat > latent.json <<'END'
{"model_type": "deepseek_v3", "hidden_size": 256, "intermediate_size": 512, "moe_intermediate_size": 64, "num_hidden_layers": 8,
 "num_attention_heads": 16, "num_key_value_heads": 16, "n_routed_experts": 16, "num_experts_per_tok": 4, "n_shared_experts": 1,
 "first_k_dense_replace": 1, "q_lora_rank": 96, "kv_lora_rank": 64, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32,
 "vocab_size": 512}
END
run llm latent.json --decode 40 --batch 3 --ep 8 --tries 1 --format csv --quiet
equal "a layer without experts" "norm1 q_down q_norm q_up q_rope kv_down kv_norm kv_rope absorb attention expand o all_reduce1 norm2 gate_up act down all_reduce2" \
    "$(cut -d, -f10 out | sed -n 's/^0\.//p' | xargs)"
equal "the others" "norm1 q_down q_norm q_up q_rope kv_down kv_norm kv_rope absorb attention expand o all_reduce1 norm2 gate route \
shared_up shared_act shared_down dispatch experts_up experts_act experts_down collect combine all_reduce2" \
    "$(awk -F, '$11 == 7 && $10 != "layer" {print $10}' out | xargs)"
cut -d, -f10-14 out > few
run llm latent.json --decode 40 --batch 3 --ep 8 --tries 1 --format csv --quiet --no-repeat
cut -d, -f10-14 out > all
same few all
ok "the same digits with all layers"
run llm latent.json --prefill 40 --batch 3 --tries 1 --format csv --quiet
equal "a prompt: keys and values of each head are made" "q_down q_norm q_up q_rope kv_down kv_norm kv_rope kv_read kv_up attention o" \
    "$(awk -F, '$11 == 7 && $10 ~ /^(q_|kv_|att|o$)/ {print $10}' out | xargs)"
equal "work of kv_up: 2 x 120 tokens x 2 heads x (32 + 32) x 64; of attention 2 x 2 x (48 + 32) x 3 x 820 pairs" "1966080 787200" \
    "$(awk -F, '$11 == 7 && $10 ~ /^(kv_up|attention)$/ {print $(NF - 1)}' out | xargs)"
run llm latent.json --prefill 40 --chunk 24 --batch 3 --tries 1 --format csv --quiet
equal "in pieces: all 40 tokens are read again for the last 16" "24 40" "$(awk -F, '$10 == "kv_read" {print $9}' out | xargs)"
equal "and made again" "1179648 1966080" "$(awk -F, '$10 == "kv_up" {print $(NF - 1)}' out | xargs)"
comes_back "latents, decode" latent.json --decode 40 --batch 3
mv graph.yaml absorbed.yaml
comes_back "latents, decode, experts that are divided" latent.json --decode 40 --batch 3 --ep 8 --kv f8e4m3
comes_back "latents, a prompt" latent.json --prefill 40 --batch 3 --tp 4
mv graph.yaml made.yaml
comes_back "latents in stages" latent.json --decode 40 --batch 4 --tp 2 --pp 2
sed 's/"q_lora_rank": 96, //; s/"first_k_dense_replace": 1/"first_k_dense_replace": 2/' latent.json > plain.json
comes_back "latents, queries without one, in stages" plain.json --prefill 24 --tp 4 --pp 2
sed 's/"first_k_dense_replace": 1/"first_k_dense_replace": 8/' latent.json > dense.json
refused "no layer with experts" 3 "dense.json: first_k_dense_replace leaves no layer with experts" llm dense.json --dry-run
sed 's/"kv_lora_rank": 64, //' latent.json > rank.json
refused "no latent" 3 "rank.json: kv_lora_rank is missing" llm rank.json --dry-run

# The same keys as YAML: a line each, numbers, lists and words as JSON has them.
jq -r 'to_entries[] | "\(.key): \(.value | tojson)"' latent.json > latent.yaml
echo 'sliding_window: ~ # nothing' >> latent.yaml
run llm latent.json --dry-run --format csv
cut -d, -f2- out > json
run llm latent.yaml --dry-run --format csv
same json <(cut -d, -f2- out)
ok "a config as YAML"
sed 's/vocab_size: 512/vocab_size: "512"/' latent.yaml > quotes.yaml
refused "a number in quotes" 3 "quotes.yaml: vocab_size is not a whole number from 1" llm quotes.yaml --dry-run
sed '/vocab_size/p' latent.yaml > twice.yaml
refused "a key twice" 3 "twice.yaml:$(grep -n vocab twice.yaml | tail -1 | cut -d: -f1):1: 'vocab_size' is there twice" llm twice.yaml --dry-run
echo 'a: &a [*a]' > circle.yaml
refused "a list in itself" 3 "circle.yaml:1:4: more than 10000 values" llm circle.yaml --dry-run
echo 'nodes: []' > none.yaml
refused "no graph, and no model" 3 "none.yaml: model_type is missing (a graph has kernbench_graph)" llm none.yaml
echo '{"model_type": "mamba"}' > mamba.json
refused "a family that is not known" 3 "mamba.json: model_type is mamba, not llama, mistral," llm mamba.json
echo '{"model_type": 7}' > seven.json
refused "a family that is a number" 3 "seven.json: model_type is no text" llm seven.json
echo '- 1' > list.yaml
refused "a list as a model" 3 "list.yaml: the text is not a mapping" llm list.yaml
mkdir folder
refused "a folder" 3 "folder is a folder: a MODEL is the config.json in it" llm folder
refused "a folder by its way" 3 "./folder is a folder" llm ./folder
refused "no such YAML" 3 "cannot read nothing.yaml" llm nothing.yaml

# 32 rows of 512: one command where they lie in one PE; else maximum, difference, power, sum and quotient of each, and
# two sums over the columns' PEs, of a number a row.
cat > soft.yaml <<'END'
kernbench_graph: 1
ranks: 1
nodes:
- {id: in, op: embed, rows: 32, width: 512, table: 1K}
- {id: soft, op: softmax, rows: 32, width: 512}
END
elements() { "$SIM" llm soft.yaml --grid "$1" --set energy.math_pj=1000000 --format json --quiet | jq '.rows[1].energy_mj * 1000 | round'; }
equal "elements of a softmax" "16384 $((5 * 16384 + 2 * 32)) $((5 * 16384 + 2 * 32 * 7))" "$(elements 8x1) $(elements 4x2) $(elements 1x8)"
soft_ns() { "$SIM" llm soft.yaml --grid 8x1 --set cube.pe.pe_math.lanes="$1" --format json --quiet | jq '.rows[1].us * 1000 | round'; }
equal "11 cycles for each 64 elements of a PE's 2048" $((11 * 32 - 11 * 16)) $(($(soft_ns 64) - $(soft_ns 128)))

# What is not simulated takes as long as is said; a barrier of all ranks, the way of its words. Both leave what was written.
cat > pause.yaml <<'END'
kernbench_graph: 1
ranks: 8
nodes:
- {id: in, op: embed, rows: 32, width: 512, table: 1K}
- {id: host, op: time, ns: 1500.5}
- {id: meet, op: barrier}
- {id: soft, op: softmax, rows: 32, width: 512}
END
pause_ns() { sed "s/1500.5/$1/" pause.yaml > paused.yaml; "$SIM" llm paused.yaml --format json --quiet | jq -c '[.rows[1:4][].us * 1000 | round]'; }
equal "a pause" "$(pause_ns 0.5 | jq -c '[.[0] + 1500, .[1], .[2]]')" "$(pause_ns 1500.5)"
printf 'kernbench_graph: 1\nnodes:\n- {id: a, op: time, ns: 5}\n' > only.yaml
equal "nothing but a pause" 5 "$("$SIM" llm only.yaml --set cube.pes=1 --set cube.hbm.slices=1 --format json --quiet | jq '.rows[0].us * 1000')"
equal "a barrier of all ranks takes longer than that of one" true "$(pause_ns 0 | jq '.[1] > .[0]')"

# Collectives, messages and memories by what memories and edges carry: 1000 pJ a bit are 8 nJ a byte. What is reduced by 8 ranks of 32 KB
# is read whole and written in part, and goes 7 steps of a part round the ring; a message is read once, written once, and passes one edge.
cat > moves.yaml <<'END'
kernbench_graph: 1
ranks: 8
nodes:
- {id: in, op: embed, rows: 32, width: 512, table: 1K}
- {id: rs, op: reduce_scatter, bytes: 32K, y: part}
- {id: soft, op: softmax, rows: 4, width: 512}
- {id: ag, op: all_gather, bytes: 32K}
- {id: bc, op: broadcast, bytes: 32K, root: 3}
- {id: give, op: send, bytes: 32K, ranks: [0], peer: 1}
- {id: take, op: recv, bytes: 32K, ranks: [1], peer: 0}
- {id: load, op: mem, bytes: 1M, dir: load, at: hbm}
- {id: store, op: mem, bytes: 1M, dir: store, at: hbm}
- {id: h2d, op: mem, bytes: 1M, dir: load, at: host}
- {id: last, op: softmax, rows: 32, width: 512}
END
carried() { "$SIM" llm moves.yaml --set energy."$1"=1000 --format json --quiet | jq -c '[.rows[1], .rows[3:9][] | .energy_mj * 1e6 / 8 / 1024 | round]'; }
equal "KB of memories: scattered, gathered, broadcast, sent, taken, loaded, stored" "[288,288,256,64,0,8192,8192]" "$(carried hbm_pj_bit)"
equal "KB over edges between chiplets" "[224,224,32]" "$(carried d2d_pj_bit | jq -c '[.[0, 1, 3]]')"
moves() { sed "s/1M/$1/" moves.yaml > moved.yaml; "$SIM" llm moved.yaml --format json --quiet | jq -c '[.rows[7:10][].us * 1000 | round]'; }
equal "a MB more: a share for each PE's slice at 256 GB/s, all by the host's way at 128" "[512,512,8192]" \
    "$(jq -cn --argjson one "$(moves 1M)" --argjson two "$(moves 2M)" '[range(3) | $two[.] - $one[.]]')"
equal "what is gathered is as many rows as were scattered" "28672 28672 32768" \
    "$("$SIM" llm moves.yaml --format json --quiet | jq -r '[.rows[1, 3, 4].link_bytes] | join(" ")')"
run llm moves.yaml --chakra 'moves.%d.et' --quiet
run llm 'moves.%d.et' --quiet
[ $code -eq 0 ] && [ "$(awk '$8 ~ /^(rs|ag|bc|give|h2d)$/' out | wc -l)" -eq 5 ]
ok "and a trace of them is replayed"

cat > moe.yaml <<'END'
kernbench_graph: 1
ranks: 1
nodes:
- {id: in, op: embed, rows: 4, width: 64, table: 1K}
- {id: gate, op: gemm, m: 4, n: 3, k: 64, x: in}
- {id: choose, op: topk, rows: 4, width: 3, k: 2, x: gate}
- {id: up, op: grouped_gemm, rows: [4, 2x2], each: 2, n: 32, k: 64, x: in}
- {id: down, op: grouped_gemm, rows: [4, 2x2], each: 2, n: 64, k: 32, x: up}
- {id: sum, op: combine, rows: 4, width: 64, each: 2, x: down}
END
run llm moe.yaml --tries 1 --format csv
equal "experts by hand: flops of their rows" "up 32768 down 32768" "$(awk -F, '$10 ~ /up|down/ {print $10, $(NF - 1)}' out | xargs)"

# wrong NAME LINE:COLUMN-AND-TEXT SED [GRAPH]: small.yaml, or another, with a mistake
wrong()
{
    sed "$3" "${4:-small.yaml}" > wrong.yaml
    refused "$1" 3 "wrong.yaml:$2" llm wrong.yaml
}

wrong "another version" "1:18: only version 1 is known" 's/graph: 1/graph: 2/'
wrong "no op" "5:16: there is no op 'embd'" 's/embed/embd/'
wrong "bytes of another matrix than is scattered" "5:3: bytes is 16384, and what it reads has 32768" 's/32K, y: part/16K, y: part/' moves.yaml
wrong "what is scattered over what it is of" "5:3: y must be another matrix than x" 's/y: part/y: in/' moves.yaml
wrong "rows that ranks cannot share" "5:3: x has 32 rows, which 3 ranks cannot share" 's/ranks: 8/ranks: 3/' moves.yaml
wrong "no such rank" "8:45: '8' is no rank of 0 to 7" 's/root: 3/root: 8/' moves.yaml
wrong "a message to itself" "9:54: a rank sends nothing to itself" 's/peer: 1/peer: 0/' moves.yaml
wrong "a message of two ranks" "9:43: ranks must be a list of one rank" 's/ranks: .0./ranks: [0, 2]/' moves.yaml
wrong "a message that no rank takes" "4:1: rank 0 sends to rank 1 1 times, which takes 0" '/id: take/d' moves.yaml
wrong "a memory that is none" "12:51: at is hbm or host, not 'sram'" 's/store, at: hbm/store, at: sram/' moves.yaml
wrong "a key too many" "9:56: there is no key 'foo' here" 's/deps: .att./deps: [att], foo: 1/'
wrong "a key too few" "7:3: 'k' is missing" 's/, k: 256//'
wrong "a number that is none" "7:32: '0' is not a whole number" 's/n: 384/n: 0/'
wrong "another extent than was written" "9:3: x is 4 x 64 of bf16, and 4 x 128 of bf16 was written" 's/k: 128/k: 64/'
wrong "a time that is none" "5:28: '1.5.1' is not a number of ns" 's/1500.5/1.5.1/' pause.yaml
wrong "a node twice" "9:8: 'att' is there twice" 's/id: o,/id: att,/'
wrong "no end" "5:1: 'layer' has no end" '/end:/d'
wrong "no such group" "10:47: only groups tp and all" 's/group: tp/group: dp/'
wrong "unlike requests" "8:37: requests of unlike lengths" 's/1x3, 1/1x3, 2/'
wrong "heads that do not divide" "8:3: kv_heads must divide heads" 's/kv_heads: 1/kv_heads: 3/'
wrong "new tokens that are not kept" "8:3: q and kv must be of as many requests, q at most kv" 's/kv: .[^]]*./kv: [1]/; s/q: .[^]]*./q: [2]/'
wrong "a type that the kernel cannot take" "8:3: a must be a float, not i8" 's/dim: 128/dim: 128, a: i8/; s/k: 256/k: 256, out: i8/'
wrong "bytes of another matrix" "10:3: bytes is 4096, and what it reads has 2048" 's/bytes: 2K/bytes: 4K/'
wrong "bytes of one rank in place of all that is gathered" "10:3: bytes is 2048, and what it reads has 4096" 's/all_reduce/all_gather/'
wrong "a weight of less than a byte" "7:48: 'i4' has less than a byte" 's/k: 256/k: 256, b: i4/'
wrong "a weight of truths" "7:48: 'bool' is no type of numbers" 's/k: 256/k: 256, b: bool/'
wrong "more bytes than 64 bits count" "7:3: it has more than 2^55 bytes" 's/n: 384/n: 1024G/; s/layer: 3/layer: 1M/'
wrong "more columns than 64 bits count" "8:3: heads x dim has more than 2^40 columns" 's/dim: 128/dim: 1024G/'
wrong "more ranks than any machine has" "2:8: more than 65536 ranks" 's/ranks: 2/ranks: 1M/'
wrong "a dependency of nothing, in a repetition" "9:50: no node before it is 'atta'" 's/deps: .att./deps: [atta]/'
wrong "what nothing writes" "7:48: nothing writes 'y'" 's/k: 256/k: 256, x: y/'
wrong "rows that are not a whole number of each token" "7:3: 9 rows are not 2 of each token" 's/4, 2x2/5, 2x2/' moe.yaml
wrong "an expert with more rows than tokens" "7:3: expert 0 has 6 rows, and there are 4 tokens" 's/4, 2x2/6, 1x2/' moe.yaml
wrong "rows of other experts" "7:36: there are as many rows as the topk with k before it is wide" 's/4, 2x2/2x4/' moe.yaml
wrong "other rows than before" "8:39: rows are others than those before" '8s/4, 2x2/2, 4, 2/' moe.yaml
wrong "rows without a choice" "5:36: there are as many rows as the topk" '/choose/s/, k: 2//; /gate/d; s/x: gate/x: in/; s/width: 3/width: 64/' moe.yaml
wrong "another choice" "7:3: no topk before it has k 1 for 8 tokens" 's/each: 2/each: 1/; s/4, 2x2/4, 2x2/' moe.yaml
wrong "more choices than there are" "6:48: k must be at most the width" 's/k: 2,/k: 4,/' moe.yaml
wrong "a choice that no one takes" "4:1: no grouped_gemm has the rows" '/grouped/d; /combine/d' moe.yaml
wrong "a sum of what are no rows" "9:3: x must be what a grouped_gemm" 's/x: down/x: in/' moe.yaml
# wrong_latent NAME OP TEXT SED [GRAPH]: the first node of this op with a mistake, of new tokens or of a prompt
wrong_latent()
{
    line=$(grep -n "op: $2," "${5:-absorbed.yaml}" | head -1 | cut -d: -f1)
    sed "${line}$4" "${5:-absorbed.yaml}" > wrong.yaml
    refused "$1" 3 "wrong.yaml:$line:$3" llm wrong.yaml
}

wrong_latent "a head of x without so many columns" "gemm, m: 3, n: 128, k: 32" "3: heads must divide n and the columns of x" 's/k: 32/k: 64/'
wrong_latent "heads that x has not" "gemm, m: 3, n: 128, k: 32" "3: heads must divide n and the columns of x" 's/heads: 2/heads: 5/'
wrong_latent "a product of heads of other rows" "gemm, m: 3, n: 128, k: 32" "3: x must be a matrix of m rows" 's/m: 3/m: 4/'
wrong_latent "more turned columns than a head has" q_rope "3: heads must divide width" 's/turned: 16/turned: 64/'
wrong_latent "latents that are no part of keys" kv_rope "3: v_dim must be less than dim" 's/v_dim: 64/v_dim: 80/'
wrong_latent "a norm of latents of other units" "norm,.*wide: 80" "3: x must have a unit, of \`wide\`, for each unit" 's/unit: 4/unit: 8/'
wrong_latent "latents that were not normed" kv_rope "106: z must be a matrix of 3 rows of bf16" 's/latent_normed/latents/'
wrong_latent "another matrix of latents" kv_rope "3: z must have v_dim columns" 's/latent_normed/normed/'
wrong_latent "two heads of latents" attention "3: latents are of one new token" 's/kv_heads: 1/kv_heads: 2/'
wrong_latent "values of no width" attention "3: 'v_dim' is missing" 's/, v_dim: 64//'
wrong_latent "keys of latents that are made" attention "3: keys are made, or latents" 's/}/, keys: latent}/'
wrong_latent "keys that are not there" attention "143: keys must be a matrix of 120 rows" 's/keys: kept/keys: keps/' made.yaml
wrong_latent "made keys as wide as those of all heads" attention "3: kv_heads must be heads" 's/z: made/z: kept/' made.yaml
wrong_latent "fewer heads of keys than were made" attention "3: kv_heads must be heads" 's/kv_heads: 4/kv_heads: 2/' made.yaml
{ sed '/^nodes/q' small.yaml; for i in {1..30}; do echo "- {id: n$i, op: none}"; done; } > many.yaml
refused "many mistakes" 3 "many.yaml:5:16: there is no op 'none'" llm many.yaml
equal "20 of them" 20 "$(grep -c many.yaml err)"

# -- stages -------------------------------------------------------------------------------------

run llm llama-3.2-1b --pp 4 --decode 16 --batch 4 --tries 1 --format csv --quiet
equal "ranks, of which a stage has two" "8 2 4 1" "$(awk -F, '$10 == "send" {print $2, $3, $4, $6}' out)"
equal "four parts of the batch through three sends" "embed 4 qkv 64 send 12 topk 4 layer 64 stage.0 4 stage.1 4 stage.2 4 stage.3 4" \
    "$(awk -F, '$10 ~ /^(embed|qkv|send|topk|layer|stage.*)$/ {print $10, $11}' out | xargs)"
equal "a token takes the slowest stage four times" 0 \
    "$(awk -F, '$10 ~ /^stage/ && $12 > most {most = $12} $10 == "total" {print (($12 - 4 * most) ^ 2 > 1e-6)}' out)"
equal "what stages do and what they wait is all of their time" 0 \
    "$(awk -F, '$10 ~ /^(stage|bubble)/ {sum += $13} END {print ((sum - 100) ^ 2 > 1e-6)}' out)"
equal "and so it is of operations" 0 \
    "$(awk -F, '$18 != "" || $10 == "bubble" {sum += $13} END {print ((sum - 100) ^ 2 > 1e-6)}' out)"
equal "a rank sends a request of 2048 numbers" 4096 "$(awk -F, '$10 == "send" {print $NF}' out)"
cp out few
run llm llama-3.2-1b --pp 4 --decode 16 --batch 4 --tries 1 --format csv --quiet --no-repeat
same few out
ok "the same digits with all layers of each stage"

# DMAs that still keep their time when a stage begins, not all of them: PEs find out one by one that a leap was wrong.
cat > slow.yaml <<'END'
kernbench: 3
name: slow
links: {l: {bw_gbs: 1.0, latency_ns: 125.0}}
cube: {pes: 4, hbm: {slices: 8, bw_gbs: 16.0, latency_ns: 0.0}, pe: {
  pe_dma: {read_channels: 1, write_channels: 1, overhead_ns: 5.0, issue_ns: 26.7}, pe_ipcq: {slots: 1, slot_bytes: 1024}, pe_tcm: {read_gbs: 8.0}}}
sip: {cubes: 4, net: [{mesh: [2, 2], link: l}]}
software: {launch_ns: 10.0, call_ns: 5.0}
END
cat > heads24.json <<'END'
{"model_type": "llama", "hidden_size": 192, "num_hidden_layers": 5, "num_attention_heads": 24, "num_key_value_heads": 24, "vocab_size": 960,
 "intermediate_size": 48}
END
set -- llm heads24.json --machine slow.yaml --batch 3 --tp 1 --pp 4 --decode 10 --tries 1 --format csv --quiet
run "$@"
cut -d, -f10-14 out > few
run "$@" --no-repeat
cut -d, -f10-14 out > all
[ -s few ] && same few all
ok "the same digits where a DMA has not kept its time when a leap begins"
run llm llama-3.2-1b --tp 2 --pp 2 --dp 2 --decode 16 --batch 4 --microbatches 4 --tries 1 --format json --quiet
equal "copies multiply tokens, not their time" "8 2 2 2" "$(total '.rows[0] | "\(.ranks) \(.tp) \(.pp) \(.dp)"')"
equal "8 requests in the time of a token of each" 0 \
    "$(total '.totals[] | select((.tokens_per_s * .tpot_ms / 8000 - 1 | fabs) > 0.000001)' | wc -l)"
run llm llama-3.2-1b --pp 2 --prefill 16 --batch 2 --tries 1 --format csv --quiet
equal "a prompt takes both stages, and the slowest again" 0 \
    "$(awk -F, '$10 ~ /^stage/ {sum += $12; if ($12 > most) most = $12} $10 == "total" {print (($12 - sum - most) ^ 2 > 1e-6)}' out)"
run llm moe.json --pp 3 --tp 2 --ep 2 --batch 3 --decode 16 --routing uniform:1 --tries 1 --format csv --quiet
equal "experts in stages of a layer each" "0 2 3 2" "$code $(awk -F, '$10 == "dispatch" {print $3, $4, $5}' out)"
run llm latent.json --pp 2 --tp 4 --decode 40 --batch 2 --tries 1 --format csv --quiet
equal "layers without experts are in the first" "0 2 14" "$code $(awk -F, '$10 == "0.qkv" || $10 == "0.q_up" || $10 == "gate" {print $11}' out | xargs)"
comes_back stages llama-3.2-1b --decode 16 --batch 4 --pp 4
comes_back "stages of experts that are divided" moe.json --prefill 24 --batch 2 --ep 2 --pp 3 --tp 2
equal "what a graph of stages says first" "ranks: 6 pp: 3 microbatches: 2 ep: 2" "$(sed -n 2,5p graph.yaml | xargs)"
mv graph.yaml stages.yaml
refused "a type that is none" 2 "--weights 'f8' is no type; types are f16, bf16, f32" llm llama-3.2-1b --weights f8
refused "truth" 2 "--kv 'bool' is no type of numbers; types are f16, bf16, f32" llm llama-3.2-1b --kv bool
for option in "--search foo" "--grid 8" "--kv i4" "--decode 9:1" "--pp 17" "--routing even"; do
    # shellcheck disable=SC2086
    refused "--dry-run $option" 2 "${option% *}" llm llama-3.2-1b --dry-run $option
done
run llm llama-3.2-1b --dry-run --kv i8 --format csv
equal "bytes of keys and values of another type" 16384 "$(tail -1 out | cut -d, -f5)"
refused "more stages than layers" 2 "llama-3.2-1b has 16 layers, and --pp 17; possible are 1 to 16" llm llama-3.2-1b --pp 17
refused "layers that no stage may cut" 2 "latent.json has 8 layers, and --pp 8; the first 1 must be in a stage with one more; possible are 1 to 7" \
    llm latent.json --decode 16 --pp 8
refused "more ranks than units" 2 "--tp 4, --pp 3 and --dp 1 are 12 ranks, and the machine has 8 units (cube)" llm llama-3.2-1b --tp 4 --pp 3
refused "and as many stages" 2 "--tp 1, --pp 9 and --dp 1 are 9 ranks" llm llama-3.2-1b --pp 9
refused "parts that do not divide" 2 "--microbatches 3 does not divide a batch of 4" llm llama-3.2-1b --pp 2 --microbatches 3 --batch 4 --decode 16
refused "parts without stages" 2 "--microbatches are of stages (--pp)" llm llama-3.2-1b --microbatches 2
refused "a stage that is too large" 2 "llama-3.1-405b needs 106.211 GB of 51.540 a rank" llm llama-3.1-405b --pp 8 --decode 16

run llm llama-3.2-1b --decode 16 --batch 4 --search parallel --tries 1 --format json --quiet
equal "all divisions of 8 ranks and 4 requests" "1/2/4 1/4/2 1/8/1 2/1/4 2/2/2 2/4/1 4/1/2 4/2/1 8/1/1" \
    "$(total '[.totals[] | "\(.tp)/\(.pp)/\(.dp)"] | sort | join(" ")')"
equal "the best is first, and has the rows" "0 true" \
    "$(total '[.totals[].tpot_ms] as $t | ([range(1; $t | length) | select($t[.] < $t[. - 1])] | length | tostring) + " " +
        ([.rows[] | select(.op == "total") | .us / 1000 - $t[0] | fabs < 0.000001] == [true] | tostring)')"
equal "what is not there is null" "null null" "$(total '"\([.rows[] | select(.op != ("qkv", "o", "gate_up", "down") and .bytes != null) | .mapping] | unique[0]) \(.totals[0].grid)"')"
equal "each says what its time is for" 0 "$(total '[.totals[] | select(.why | test("^(hbm|bubble) [0-9.]* %") | not)] | length')"
cp out all
run llm llama-3.2-1b --decode 16 --batch 4 --search parallel --tp 4 --tries 1 --format json --quiet
equal "what is given stays" "4/1/2 4/2/1" "$(total '[.totals[] | "\(.tp)/\(.pp)/\(.dp)"] | sort | join(" ")')"
run llm llama-3.2-1b --decode 16 --batch 2 --dp 2 --tp 4 --tries 1 --format json --quiet
equal "as long as by itself" "$(jq '.totals[] | select(.tp == 4 and .dp == 2) | .batch, .tpot_ms' all | xargs)" \
    "$(total '.totals[] | .batch, .tpot_ms' | xargs)"
run llm moe.json --decode 16 --batch 1 --search parallel --tries 1 --format json --quiet
equal "experts are divided in all ways" "1 2 4 8" "$(total '[.totals[] | select(.tp == 8) | .ep] | sort | join(" ")')"
run llm moe.json --decode 16 --batch 2 --search parallel --tp 8,4 --tries 1 --format json --quiet
equal "the best is not the first that is tried, and the rows are its own" "4 4 2" \
    "$(total '"\(.totals[0].tp) \([.rows[].tp] | unique | map(tostring) | join(","))\(" ")\([.rows[].dp] | unique | map(tostring) | join(","))"')"
run llm llama-3.1-405b --weights i8 --decode 16 --search parallel --tries 1 --format json --quiet
equal "what does not fit is last, and says so" "0 null needs 55.208 GB of 51.540 a rank" "$code $(total '.totals[-1] | "\(.tpot_ms) \(.why)"')"
run llm llama-3.2-1b --decode 16 --batch 4 --search parallel --pp 2 --microbatches 4 --tries 1 --format json --quiet
equal "parts that a copy's requests cannot have are left out" "0 4/2/1" "$code $(total '[.totals[] | "\(.tp)/\(.pp)/\(.dp)"] | join(" ")')"
run llm llama-3.2-1b --decode 16 --batch 5 --search grid --tries 1 --format json --quiet
equal "as many rows as an iteration has tokens" "8: 1x8 2x4 4x2" \
    "$(total '"\(.totals[0].tp): \([.totals[].grid] | sort | join(" "))"')"
cp out all
for grid in 1x8 2x4 4x2; do
    run llm llama-3.2-1b --decode 16 --batch 5 --grid $grid --tries 1 --format json --quiet
    equal "$grid takes as long as by itself" "$(jq --arg g $grid '.totals[] | select(.grid == $g) | .tpot_ms' all)" "$(total '.totals[].tpot_ms')"
    cp out $grid
done
equal "the best grid is first, and has the rows" "$(jq -c '[.totals[0].tpot_ms, .rows]' "$(jq -r '.totals[0].grid' all)")" \
    "$(jq -c '[.totals[0].tpot_ms, .rows]' all)"
run llm llama-3.2-1b --prefill 33 --chunk 16 --batch 2 --search grid --tries 1 --format json --quiet
equal "the last piece of a prompt has one token of each request" "1x8 2x4" "$(total '[.totals[].grid] | sort | join(" ")')"
run llm llama-3.2-1b --decode 16 --batch 4 --search grid --grid 2x4 --tp 4,2 --tries 1 --format json --quiet
equal "a grid that is given stays" "4/2x4 2/2x4" "$(total '[.totals[] | "\(.tp)/\(.grid)"] | join(" ")')"
run llm llama-3.2-1b --decode 16 --batch 4 --search grid,parallel --pp 2 --tries 1 --format json --quiet
equal "grids of all divisions, by the tokens of a part" "1/4/1x8 2/2/1x8 4/1/1x8 4/1/2x4" "$(total '[.totals[] | "\(.tp)/\(.dp)/\(.grid)"] | sort | join(" ")')"
refused "none fits" 2 "llama-3.1-405b: none of 4 divisions of 8 ranks fits" llm llama-3.1-405b --decode 16 --search parallel
refused "none is possible" 2 "llama-3.2-1b: with these options no division of 8 ranks is possible" llm llama-3.2-1b --decode 16 --search parallel --pp 3
run llm llama-3.2-1b --decode 16 --batch 4 --search parallel --grid 2x4 --tries 1 --format json --quiet
equal "divisions that have too few tokens for a grid are left out" "0 4/1/2 4/2/1 8/1/1" "$code $(total '[.totals[] | "\(.tp)/\(.pp)/\(.dp)"] | sort | join(" ")')"
refused "a search of two batches" 2 "--search parallel is of one --batch and --decode" llm llama-3.2-1b --search parallel --batch 1,2
for search in all parallel, ,grid grids; do
    refused "--search $search" 2 "--search '$search' is not parallel, grid or parallel,grid" llm llama-3.2-1b --search $search
done
refused "a grid of another number of parts" 2 "--microbatches 3 does not divide a batch of 4" \
    llm llama-3.2-1b --decode 16 --batch 4 --pp 2 --microbatches 3 --search grid

# wrong_stages NAME TEXT SED: stages.yaml with a mistake
wrong_stages()
{
    sed "$3" stages.yaml > wrong.yaml
    refused "$1" 3 "wrong.yaml:$2" llm wrong.yaml
}

line_of_send=$(grep -n 'op: send' stages.yaml | cut -d: -f1)
wrong_stages "stages that do not divide ranks" "3:5: 4 does not divide 6 ranks" 's/^pp: 3/pp: 4/'
wrong_stages "ranks that exchange and do not divide those of a stage" "5:5: 3 does not divide 2 ranks" 's/^ep: 2/ep: 3/'
wrong_stages "parts without stages" "3:15: microbatches are of stages (pp)" '/^pp/d; s/^ranks: 6/ranks: 2/'
wrong_stages "stages without a send" "8:1: a graph of 3 stages has one send, not 0" '/op: send/d'
wrong_stages "fewer layers than stages" "8:1: its layers are not enough for 3 stages; possible are 1 to 2" 's/layer: 3/layer: 2/'
wrong_stages "a send of other bytes" "$line_of_send:3: bytes is 12289, and what it reads has 12288" '/op: send/s/bytes: 12288/bytes: 12289/'
wrong_stages "a send to another group" "$line_of_send:45: only group pp is simulated" '/op: send/s/group: pp/group: tp/'
wrong_stages "an exchange of other bytes" "$(grep -n 'id: dispatch' stages.yaml | cut -d: -f1):3: bytes is 1, and what it reads has 12288" '/dispatch/s/bytes: [0-9]*/bytes: 1/'
wrong_stages "experts that do not divide" "$(grep -n 'id: route' stages.yaml | cut -d: -f1):3: ep, 2, does not divide 7 experts" 's/width: 8/width: 7/; s/n: 8,/n: 7,/'
wrong_stages "rows that were not sent" "$(grep -n 'id: experts_up' stages.yaml | cut -d: -f1):3: x must be what an all_to_all has sent: ep is 2" '/experts_up/s/x: received/x: normed/'

# -- what does not fit, or takes long -----------------------------------------------------------

# layers N SIZE: a graph of N products of SIZE x 64K, 8.59 GB for 64K
layers()
{
    printf '%s\n' 'kernbench_graph: 1' 'ranks: 1' "repeat: {layer: $1}" 'nodes:' '- {begin: layer}' \
        "- {id: up, op: gemm, m: 1, n: $2, k: 64K, deps: []}" '- {end: layer}' >big.yaml
}

layers 10 64K
refused "a graph that is too large" 2 \
    "needs 85.899 GB of 51.540 a rank, 34.360 too many; what would fit: its layer 5 times, or 1.7 times the memory" llm big.yaml
layers 6 64K
refused "once more than fits" 2 "51.540 a rank, 0.000 too many; what would fit: its layer 5 times" llm big.yaml
layers 5 64K
run llm big.yaml --tries 1 --quiet --format csv
equal "as often as fits" "0 5" "$code $(grep ',up,' out | cut -d, -f11)"
layers 1 1024K
refused "of which not even one layer fits" 2 "85.901 too many; what would fit: 2.7 times the memory" llm big.yaml
refused "a model of which not even one request fits" 2 "49.939 too many; what would fit: 2.0 times the memory" \
    llm llama-3.1-405b --decode 16
refused "and one of which some do" 2 "largest batch 12032" llm llama-3.2-1b --decode 1024 --batch 100000

# A PE has as many bytes as any: 4 GiB of 8, where 4 of 8 slices are no PE's; 8 / 4 where 2 of 5 PEs share one of 4; and what a cube
# lacks, the others do not have either.
one_cube='--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1 --set cube.hbm.size_gb=8 --decode 1024 --batch 100000'
refused "slices without a PE have nothing of it" 2 "of 4.295 a rank" llm llama-3.2-1b $one_cube --set cube.pes=4 --set cube.hbm.slices=8
refused "nor has what is left of others" 2 "of 5.369 a rank" llm llama-3.2-1b $one_cube --set cube.pes=5 --set cube.hbm.slices=4
batch=$(sed 's/.*largest batch //' err)
run llm llama-3.2-1b $one_cube --set cube.pes=5 --set cube.hbm.slices=4 --batch "$batch" --tries 1 --limit-s 5 --quiet
[ $code -eq 0 ] || [ $code -eq 8 ]
ok "the largest batch fits"
refused "nor what the smallest memory has not" 2 "of 2.147 a rank" llm llama-3.2-1b --set 'cubes={c3: {hbm: {size_gb: 2}}}' --decode 1024 --batch 100000

run llm llama-3.2-1b --decode 16 --batch 100000 --tries 1 --limit-s 2 --format csv
[ $code -eq 8 ] && [ "$(wc -l <out)" = 1 ] && says "stopped by --limit-s: 0 of 1 iterations complete"
ok "a batch of 100,000 ends when it must, and says what is complete"

run llm llama-3.2-1b --decode 65536 --tries 1 --set cube.pe.pe_tcm.size_mb=1 --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "keys and values of a long request leave room for what its PEs send each other"

run llm llama-3.2-1b --decode 16 --tries 1 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2 --set 'missing=[c3.pe4]' --format csv --quiet
equal "cubes of which one lacks a PE are one rank" "0 1 machine" "$code $(sed -n 2p out | cut -d, -f2) $("$SIM" llm llama-3.2-1b --tp 2 --set sip.cube_mesh.w=2 --set 'missing=[c3.pe4]' 2>&1 | sed 's/.*(\(.*\))/\1/')"

run llm llama-3.2-1b --decode 16 --tries 1 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2 --set 'missing=[c3.pe4]' --chakra lacks.%d.et --quiet
run llm lacks.%d.et --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2 --set 'missing=[c3.pe4]' --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "and a trace of it is replayed"

# Ranks that share slices meet in all they do: a rank that is ahead of the last layer begins with the head, behind others with a layer.
cat > shared.json <<'END'
{"model_type": "qwen3", "hidden_size": 256, "num_hidden_layers": 9, "num_attention_heads": 8, "head_dim": 32, "num_key_value_heads": 2,
 "intermediate_size": 768, "vocab_size": 1000}
END
for more in '' --no-repeat; do
    # shellcheck disable=SC2086
    run llm shared.json --machine "$root/topologies/cube8.yaml" --batch 3 --prefill 40 --tries 1 --format csv --quiet --set sip.cube_mesh.w=2 \
        --set addressing.granule=256 --set addressing.over=sip --set cube.pe.pe_tcm.size_mb=2 --set software.call_ns=500 --set cube.xbar.pe_gbs=512 $more
    cut -d, -f10-14 out > "all$more"
done
[ -s all ] && same all all--no-repeat
ok "the same digits with all layers, where the last one is not as the others"

# Slots of queues take room that loads would run ahead into: from the first layer to the last, and in a rank that is alone.
cat > wide.json <<'END'
{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 3, "num_attention_heads": 16, "num_key_value_heads": 8,
 "vocab_size": 2048, "intermediate_size": 16384}
END
# crowded NAME SLOT_BYTES REQUESTS
crowded()
{
    set -- "$1" --set cube.pe.pe_ipcq.slot_bytes="$2" --batch "$3" --decode 64 --tries 1 --format csv --quiet --set sip.cube_mesh.w=2 \
        --set cube.pe.pe_tcm.size_mb=2 --set cube.hbm.latency_ns=20000 --set cube.pe.pe_dma.read_channels=64
    run llm wide.json "${@:2}"
    cut -d, -f10-14 out > few
    run llm wide.json "${@:2}" --no-repeat
    cut -d, -f10-14 out > all
    [ -s few ] && same few all
    ok "the same digits with all layers, where a TCM has little room beside $1"
}

crowded "queues of PEs that join what attention gives" 49152 2
crowded "queues of collectives" 98304 4
equal "of which the first is as the others" 0 "$(awk -F, '$2 == 3 && $1 != "layer" {sum += 3 * $3} $1 == "layer" {print ((sum - 3 * $3) ^ 2 > 1e-6)}' all)"
run llm llama-3.1-8b --prefill 512 --tp 8 --tries 1 --machine "$root/topologies/tpu_v5e.yaml" --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "loads that run ahead leave room for the first message"

# -- causes -------------------------------------------------------------------------------------

# causes ARGUMENTS: of the all_reduces of a prefill
causes()
{
    "$SIM" llm llama-3.2-1b --prefill 16 --tries 1 --quiet --format csv "$@" | grep ,all_reduce | cut -d, -f16 | xargs
}

equal "a collective over links of 8 GB/s is of the link" "link link link" "$(causes --set sip.d2d.bw_gbs=8)"
run llm llama-3.2-1b --prefill 16 --tries 1 --format csv --set cube.pe.pe_dma.issue_ns=200
equal "commands that may not be issued yet wait for a channel" channel "$(grep ,o, out | cut -d, -f16)"
equal "over links as fast as its slices, of the memory" "hbm hbm hbm" \
    "$(causes --set sip.d2d.bw_gbs=128 --set cube.hbm.bw_gbs=4)"

plan
