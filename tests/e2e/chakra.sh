#!/usr/bin/env bash
# chakra.sh -- traces of `llm`, written and replayed: beside files made by tests/chakra/files.py, collectives of `run`, and arithmetic.
# Prints TAP. Needs python3, jq.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
files() { python3 "$root/tests/chakra/files.py" "$@"; }
two="--set sip.cube_mesh.w=2 --set sip.cube_mesh.h=1" # two ranks, of 8 PEs each

# -- written ------------------------------------------------------------------------------------

alike="--set contention.links=ideal"
run llm llama-3.2-1b --decode 64 --batch 3 --tries 1 $alike --chakra 't.%d.et' --format json --quiet
mv out rows.json
equal "a file for each rank" "t.0.et t.1.et t.2.et t.3.et t.4.et t.5.et t.6.et t.7.et" "$(ls *.et | xargs)"
files dump t.3.et >nodes
equal "the version" '{"version": "0.0.4"}' "$(head -1 nodes)"
files micros rows.json >expected
tail -n +2 nodes | jq -c '{name, micros}' >got
jq -c . expected >wanted
same wanted got
ok "each operation of each layer, in whole us on one clock"
equal "a chain" "" "$(tail -n +2 nodes | jq -c 'select(.id > 1 and .data != [.id - 1]) | .id')"
equal "products have operations and bytes" "$(jq -c '.rows[] | select(.op == "gate_up") | [.flops, .bytes]' rows.json)" \
    "$(jq -c 'select(.name == "gate_up") | [.attr.num_ops[1], .attr.tensor_size[1]]' nodes | sort -u)"
equal "others have bytes" '["is_cpu_op","tensor_size"]' "$(jq -c 'select(.name == "norm1") | .attr | keys' nodes | sort -u)"
equal "types of attributes" '["bool","int64","uint64"]' \
    "$(jq -c 'select(.name == "down") | [.attr.is_cpu_op[0], .attr.num_ops[0], .attr.tensor_size[0]]' nodes | sort -u)"
equal "an all_reduce of the array of a rank: 3 tokens of 2048 in bf16" '[7,0,12288,null]' \
    "$(jq -c 'select(.name == "all_reduce1") | [.type, .attr.comm_type[1], .attr.comm_size[1], .attr.pg_name]' nodes | sort -u)"
equal "an all_gather of the part of a rank: 8 bytes of each request" '[7,2,24]' \
    "$(jq -c 'select(.name == "all_gather") | [.type, .attr.comm_type[1], .attr.comm_size[1]]' nodes)"
equal "all ranks: no groups" "" "$(ls comm_group.json 2>/dev/null)"

run llm llama-3.2-1b --decode 64 --tp 1 --tries 1 --chakra one.et --quiet
equal "one rank has no collectives" 4 "$(files dump one.et | tail -n +2 | jq .type | sort -u)"

cat >moe.json <<'MODEL'
{"model_type": "mixtral", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 8,
 "intermediate_size": 512, "vocab_size": 1024, "num_local_experts": 8, "num_experts_per_tok": 2, "torch_dtype": "bfloat16"}
MODEL
run llm moe.json --decode 16 --batch 8 --tp 4 --ep 2 --tries 1 --chakra 'moe.%d.et' --quiet
equal "experts: groups of neighbours" '{"1":[0,1],"2":[2,3]}' "$(jq -c . comm_group.json)"
equal "and their names" "6 1 6 1 6 2 6 2" "$(for r in 0 1 2 3; do files dump "moe.$r.et" |
    jq -r 'select(.name == "dispatch") | .attr | .comm_type[1], .pg_name[1]' | head -2; done | xargs)"
mv comm_group.json groups.json

refused "a file for all of ranks that differ" 2 "--chakra x.et: each rank has a trace of its own, so it needs %d" \
    llm moe.json --decode 16 --batch 8 --tp 4 --ep 2 --tries 1 --chakra x.et
run llm moe.json --decode 16 --batch 8 --tp 4 --ep 4 --tries 1 --chakra x.et --quiet
equal "one of ranks that are alike" "0 x.et" "$code $(ls x.et)"
refused "two iterations" 2 "--chakra is of one iteration" llm llama-3.2-1b --chakra 'x.%d.et'
refused "stages" 2 "--chakra: stages (--pp) have no trace" llm llama-3.2-1b --decode 16 --pp 2 --chakra 'x.%d.et'
refused "another %" 2 "another % than one %d" llm llama-3.2-1b --decode 16 --chakra 'x.%s.et'
refused "two of them" 2 "another % than one %d" llm llama-3.2-1b --decode 16 --chakra '%d.%d.et'
refused "several machines" 2 "--map-out, --graph and --chakra write" llm llama-3.2-1b --decode 16 --chakra x.et --vary cube.hbm.bw_gbs=128,256
refused "a folder that is not there" 5 "none/x.0.et" llm llama-3.2-1b --decode 16 --tries 1 --chakra 'none/x.%d.et'

# -- times --------------------------------------------------------------------------------------

# us FILE OPTIONS: of the whole trace on two ranks
us()
{
    # shellcheck disable=SC2086
    "$SIM" llm "$@" $two --format json --quiet | jq '.rows[] | select(.op == "total") | .us'
}

# made FILE NODE...: a trace of these nodes
made()
{
    local file=$1
    shift
    { echo '{"version": "0.0.4"}'; printf '%s\n' "$@"; } | files make "$file"
}

comp() { echo "{\"id\": $1, \"name\": \"c$1\", \"type\": 4, \"micros\": $2, \"data\": [${3-}], \"attr\": {${4-}}}"; }
coll() { echo "{\"id\": $1, \"name\": \"x$1\", \"type\": 7, \"data\": [${4-}], \"attr\": {\"comm_type\": [\"int64\", $2], \"comm_size\": [\"int64\", $3]${5-}}}"; }

# a rank: 16 * 16 * 16 * 2 * 8 = 65536 operations and 8 * 256 = 2048 bytes a ns
made a.et "$(comp 1 5 '' '"num_ops": ["int64", 65536000], "tensor_size": ["uint64", 1000]')"
equal "operations at the peak" 1 "$(us a.et)"
equal "or as recorded" 5 "$(us a.et --compute recorded)"
made a.et "$(comp 1 5 '' '"num_ops": ["int64", 1000], "tensor_size": ["uint64", 4096000]')"
equal "bytes at the memories" 2 "$(us a.et)"
made a.et "$(comp 1 5 '' '"num_ops": ["int64", 131072000]')"
equal "no bytes: operations" 2 "$(us a.et)"
made a.et "$(comp 1 5 '' '"tensor_size": ["uint64", 4096000]')"
equal "no operations: as recorded" 5 "$(us a.et)"
for type in int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 double float string; do
    value=65536000
    [ $type != string ] || value='"65536000"'
    made a.et "$(comp 1 5 '' "\"num_ops\": [\"$type\", $value]")"
    equal "a number as $type" 1 "$(us a.et)"
done
for value in '["bool", true]' '["int32", 1]' '["uint64", 1]'; do
    made a.et "$(comp 1 5 '' "\"num_ops\": [\"int64\", 65536000], \"is_cpu_op\": $value")" "$(comp 2 5 '' '"num_ops": ["int64", 65536000]')"
    equal "of the host, beside the engine: $value" 5 "$(us a.et)"
done
made a.et "$(comp 3 5 1)" "$(comp 2 7)" "$(comp 1 4)"
equal "one at a time, the lowest first, in any order in the file" 16 "$(us a.et)"
made a.et "$(comp 1 4)" "$(comp 2 7)" "$(comp 3 5 2 '"is_cpu_op": ["bool", true]')" "$(comp 4 1)"
equal "what waits for 2 runs beside 4" 16 "$(us a.et)"
made a.et '{"id": 1, "name": "m", "type": 1}' '{"id": 2, "name": "i", "type": 0, "ctrl": [1]}' "$(comp 3 4 2)" "$(comp 0 2)"
equal "metadata takes no time; an id may be 0" 6 "$(us a.et)"

# -- collectives --------------------------------------------------------------------------------

# ns BENCH ARGUMENTS: of its kernels, on the same ranks
ns()
{
    # shellcheck disable=SC2086
    "$SIM" run "$@" over=cubes dtype=bf16 $two --format json --quiet | jq '.rows[0].kernel_ns'
}

# like NAME WANTED_NS GOT_US: as printed, whose last digit is a ps
like()
{
    equal "$1" "" "$(jq -rn "($2) as \$wanted | ($3 * 1000) as \$got | if (\$wanted - \$got | fabs) < 0.02 then empty else \"\\(\$wanted) ns, \\(\$got)\" end" || echo "no numbers: $2, $3")"
}

for count in 1000 100000; do
    made a.et "$(coll 1 0 $((2 * count)))"
    like "all_reduce of $count" "$(ns all_reduce count=$count algorithm=line)" "$(us a.et)"
    made a.et "$(coll 1 2 $((2 * count)))"
    like "all_gather of $count of each rank" "$(ns all_gather count=$count)" "$(us a.et)"
    made a.et "$(coll 1 6 $((4 * count)))"
    like "all_to_all of $count" "$(ns all_to_all count=$count)" "$(us a.et)"
done
made a.et "$(coll 1 7 16000)"
like "reduce_scatter" "$(ns reduce_scatter count=4000)" "$(us a.et)"
made a.et "$(coll 1 5 16000)"
like "broadcast" "$(ns broadcast count=8000 algorithm=line)" "$(us a.et)"

made a.et "$(comp 1 10)" "$(coll 2 0 200000)" "$(comp 3 5 1)" "$(comp 4 1 2)" "$(comp 5 1 '' '"is_cpu_op": ["bool", true]')"
like "nodes overlap: 1 and 3 beside 2, 4 behind both" 16000 "$(us a.et)"
alone=$(ns all_reduce count=100000 algorithm=line)
made a.et "$(comp 1 1)" "$(coll 2 0 200000 1)" "$(comp 3 1)" "$(comp 4 1 2)"
like "one behind the other" "([1000 + $alone, 2000] | max) + 1000" "$(us a.et)"
made a.et "$(comp 1 1)" "$(coll 2 0 200000)" "$(comp 3 1 2)" "$(comp 4 3)"
like "what is ready while ranks exchange begins then" "4000 + 1000" "$(us a.et)"
# shellcheck disable=SC2086
run llm a.et $two --format json --quiet
equal "rows, of which one overlaps" "c1 1 1 x2 1 $(jq -n "$alone | round / 1000") c3 1 1 c4 1 3 total null 5" \
    "$(jq -r '.rows[] | "\(.op) \(.count) \(.us * 1000 | round / 1000)"' out | xargs)"
made a.et "$(coll 1 0 200000 '' ', "pg_name": ["string", "7"]')" "$(comp 2 1 1)"
echo '{"7": [1]}' >comm_group.json
equal "a group of one, and of others, takes no time" 1 "$(us a.et)"
made a.et "$(coll 1 6 200000 '' ', "pg_name": ["string", "7"]')" "$(comp 2 1 1)"
equal "nor does what others send each other" 1 "$(us a.et)"
made a.et "$(coll 1 0 200000 '' ', "pg_name": ["string", "7"]')" "$(comp 2 1 1)"
echo '{"7": [1, 0, 1]}' >comm_group.json
# shellcheck disable=SC2086
refused "a rank twice in a group" 3 "comm_group.json: '7' is not a number with a list of ranks, each once" llm a.et $two
echo '{"7": [0, 1]}' >comm_group.json
like "of both ranks" "$alone + 1000" "$(us a.et)"
made a.et "$(coll 1 0 200000 '' ', "comm_group": ["int32", 7]')" "$(comp 2 1 1)"
like "by its number" "$alone + 1000" "$(us a.et)"
rm comm_group.json
made a.et '{"id": 0, "name": "g", "type": 1, "values": "[\"[{\\\"pg_name\\\": \\\"7\\\", \\\"ranks\\\": [0, 1]}]\"]"}' \
    "$(coll 1 0 200000 '' ', "pg_name": ["string", "7"]')" "$(comp 2 1 1)"
like "as PyTorch names it" "$alone + 1000" "$(us a.et)"
made a.et "$(coll 1 0 200000 '' ', "pg_name": ["string", "0"], "involved_dim": ["int64_list", [1]]')" "$(comp 2 1 1)"
like "0 is all ranks" "$alone + 1000" "$(us a.et)"
# shellcheck disable=SC2086
run llm a.et $two
says "a.et: 1 attributes of nodes are not read"
ok "attributes that are not read are told"

# -- messages, and memory of the host -----------------------------------------------------------

send() { echo "{\"id\": $1, \"name\": \"s$1\", \"type\": 5, \"data\": [${4-}], \"attr\": {\"comm_dst\": [\"int32\", $2], \"comm_size\": [\"int64\", $3], \"comm_tag\": [\"int32\", ${5-0}]}}"; }
recv() { echo "{\"id\": $1, \"name\": \"r$1\", \"type\": 6, \"data\": [${4-}], \"attr\": {\"comm_src\": [\"int32\", $2], \"comm_size\": [\"int64\", $3], \"comm_tag\": [\"int32\", ${5-0}]}}"; }
made m.0.et "$(comp 1 1)" "$(send 2 1 20000 1)"
made m.1.et "$(recv 1 0 20000)" "$(comp 2 5 1)"
way=$(us 'm.%d.et')
made m.0.et "$(comp 1 4)" "$(send 2 1 20000 1)"
like "a message waits for its sender" "$way * 1000 + 3000" "$(us 'm.%d.et')"
equal "and takes its way" true "$(jq -n "$way > 6 and $way < 7")"
made m.1.et "$(recv 1 0 20000)" "$(comp 2 5 1)" "$(comp 3 3)"
like "beside the engine" "$way * 1000 + 3000" "$(us 'm.%d.et')"
made m.0.et "$(send 1 1 20000 '' 4)" "$(send 2 1 40000 1 5)"
made m.1.et "$(recv 1 0 40000 '' 5)" "$(recv 2 0 20000 '' 4)"
run llm 'm.%d.et' --tp 2 --quiet
[ $code -eq 0 ]
ok "what comes first is taken first, by its tag"
made m.0.et "$(recv 1 1 2)" "$(send 2 1 2 1)"
made m.1.et "$(recv 1 0 2)" "$(send 2 0 2 1)"
refused "ranks that wait for each other" 4 "deadlock" llm 'm.%d.et' --tp 2
made a.et '{"id": 1, "name": "l", "type": 2, "attr": {"tensor_size": ["uint64", 65536]}}' "$(comp 2 1 1)"
# shellcheck disable=SC2086
like "a load from the host takes what the way to the farther rank takes" \
    "$("$SIM" route host c1.slice0 --op h2d --bytes 65536 $two --quiet | sed -n 's/.*formula \([0-9.]*\) ns.*/\1/p') + 1000" "$(us a.et)"

# -- mistakes -----------------------------------------------------------------------------------

# wrong NAME TEXT NODE...: such a trace is refused
wrong()
{
    local name=$1 text=$2

    shift 2
    made w.et "$@"
    refused "$name" 3 "$text" llm w.et
}

wrong "a circle" "waits for itself, in a circle" "$(comp 1 1)" "$(comp 2 1 3)" "$(comp 3 1 2)"
wrong "two of an id" "two nodes have the id 4" "$(comp 4 1)" "$(comp 4 2)"
wrong "a node that is not there" "node 1 'c1' waits for a node that is not there" "$(comp 1 1 9)"
wrong "a scatter" "node 1 'x1' is a gather, a scatter" "$(coll 1 4 100)"
wrong "no size" "node 1 'x' has no comm_size" '{"id": 1, "name": "x", "type": 7, "attr": {"comm_type": ["int64", 0]}}'
wrong "no kind" "node 1 'x' has no comm_type" '{"id": 1, "name": "x", "type": 7, "attr": {"comm_size": ["int64", 8]}}'
wrong "a message without a target" "node 1 's' has no comm_dst" '{"id": 1, "name": "s", "type": 5, "attr": {"comm_size": ["int64", 8]}}'
wrong "a message without a source" "node 1 's' has no comm_src" '{"id": 1, "name": "s", "type": 6, "attr": {"comm_size": ["int64", 8]}}'
wrong "a rank that is not there" "is between ranks that are not there: comm_dst" "$(send 1 8 100)"
wrong "a negative size" "has a negative comm_size" "$(coll 1 0 -5)"
wrong "a group that is not there" "is of a group that comm_group.json lacks: 3" "$(coll 1 0 8 '' ', "pg_name": ["string", "3"]')"
wrong "a name of a group" "has a pg_name that is no number: tp" "$(coll 1 0 8 '' ', "pg_name": ["string", "tp"]')"
wrong "a type" "node 1 's' is of a type that is not known" '{"id": 1, "name": "s", "type": 12}'
made m.0.et "$(comp 1 1)"
refused "another number of files" 3 "there are 2 files from rank 0 on, and 8 ranks" llm 'm.%d.et'
refused "more ranks than there are" 2 "--tp 9: a trace is of a number of ranks, 1 to 8" llm w.et --tp 9
refused "no file" 3 "cannot read none.et: " llm none.et
printf '\7\12\0050.0.4\5\1' >cut.et
refused "a file that is cut off" 3 "cut.et: ends within the node that begins at byte 8" llm cut.et
echo text >text.et
refused "no trace" 3 "text.et: is no Chakra trace" llm text.et
{ echo '{"version": "0.1"}'; comp 1 1; } | files make v.et
run llm v.et --columns us
says "v.et: is of Chakra '0.1'; 0.0.4 and 1.0.0 are known" && [ $code -eq 0 ]
ok "another version is told"
refused "options of models" 2 "--decode is of models; a trace has its own" llm w.et --decode 5
for option in "--search grid" "--pp 2" "--dp 2" "--microbatches 2" "--iterations its.csv"; do
    # shellcheck disable=SC2086
    refused "$option" 2 "${option% *} is of models; a trace has its own" llm w.et $option
done
run llm w.et --columns us --quiet
equal "no line is empty" 0 "$(grep -c '^$' out)"
refused "times of a model" 2 "--compute recorded is of traces" llm llama-3.2-1b --compute recorded

# -- there and back -----------------------------------------------------------------------------

run llm 't.%d.et' $alike --compute recorded --format json --quiet
equal "collectives take what they took, nearly" true "$(jq -s '[.[] | [.rows[] | select(.op == "all_reduce1")][0].us] | .[0] / .[1] | . > 0.9 and . < 1.1' rows.json out)"
like "the whole is the recorded times, and those of collectives" \
    "$(tail -n +2 nodes | jq -s '[.[] | select(.type == 4) | .micros] | add') * 1000 + $(jq '[.rows[] | select(.link_bytes) | .us * .count] | add * 1000' out)" \
    "$(jq '.rows[] | select(.op == "total") | .us' out)"
plan
