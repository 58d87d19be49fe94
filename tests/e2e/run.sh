#!/usr/bin/env bash
# run.sh -- benches on the command line: list and run, from outside. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs awk, sed and jq.
. "$(dirname "$0")/../support/tap.sh"
BROKEN=$B/_t/broken

# run ARGUMENT...
run()
{
    call "$SIM" run "$@"
}

broken()
{
    call "$BROKEN" run "$@"
}

all_benches='all_gather all_reduce all_to_all attention attention_ring broadcast copy flash gather gemm gemm_composite layernorm list_walk mlp mlp_tp overlap qkv_gemm reduce_scatter softmax threshold'

# -- list ---------------------------------------------------------------------------------------

"$SIM" list >out 2>err
for bench in $all_benches; do grep -q "^$bench  *- .*[a-z]" out || echo "# $bench"; done >missing
[ ! -s missing ] || { cat missing; false; }
ok "list: every bench has a line that says what it does"
"$SIM" list --format csv >out 2>err
[ "$(head -1 out)" = bench,argument,type,default,range,summary ] &&
    grep -qx 'gemm,M,int,256,1..65536,rows of a and c' out &&
    grep -q '^gemm,dtype,dtype,f16,f16|bf16|f32|f64|i8,' out &&
    grep -q '^mlp,act,choice,relu,relu|sigmoid|tanh,' out &&
    grep -q '^threshold,t,real,0.5,-1..1,' out
ok "list: arguments with type, default, range"
"$SIM" list --format json >out 2>err
equal "list: JSON" "$(echo $all_benches)" \
    "$(jq -r '.rows[] | select(.argument == null) | .bench' out | xargs)"

# -- what is refused ----------------------------------------------------------------------------

refused "no bench" 2 "run needs BENCH"
refused "unknown bench: the nearest one" 2 "unknown bench 'gem', did you mean 'gemm'?" gem
refused "unknown bench: all of them" 2 "it is one of all_gather, all_reduce" 7
refused "unknown argument: the nearest one" 2 "unknown argument 'dtypo' of gemm, did you mean 'dtype'?" \
    gemm dtypo=f16
refused "unknown argument: all of them" 2 "unknown argument 'Q' of gemm: it is one of M, N, K, dtype" \
    gemm Q=3
refused "unknown argument: upper and lower case" 2 "unknown argument 'k' of gemm, did you mean 'K'?" \
    gemm k=3
refused "an operand that is no argument" 2 "unknown argument 'fast' of gemm" gemm fast
refused "an argument without a value" 2 "'M' has no value, write M=256" gemm M
refused "size 0" 2 "M must be an integer in 1..65536, not '0'" gemm M=0
refused "size too large" 2 "M must be an integer in 1..65536, not '65537'" gemm M=65537
refused "size below 0" 2 "M must be an integer in 1..65536, not '-1'" gemm M=-1
refused "a size that is none" 2 "M must be an integer in 1..65536, not '1.5'" gemm M=1.5
refused "an empty size" 2 "M must be an integer in 1..65536, not ''" gemm M=
refused "a number out of range" 2 "eps must be a number in 1e-12..1, not '2'" layernorm eps=2
refused "a number that is none" 2 "eps must be a number in 1e-12..1, not 'nan'" layernorm eps=nan
refused "dtype" 2 "dtype must be one of 'f16 bf16 f32 f64', not 'f8'" softmax dtype=f8
refused "a choice: the nearest one" 2 "act must be one of 'relu sigmoid tanh', not 'rleu', did you mean 'relu'?" mlp act=rleu
refused "a choice" 2 "act must be one of 'relu sigmoid tanh', not 'gelu'" mlp act=gelu
refused "given twice" 2 "M is given twice" gemm M=3 K=4 M=3
refused "--verify" 2 "--verify 'all' is not 'ops'" gemm --verify=all
refused "--phase2" 2 "unknown value of --phase2 'yes': it is one of off, on" gemm --phase2 yes
refused "-j" 2 "--jobs '0' is not a number of threads" gemm -j 0
refused "--seed" 2 "--seed '-1' is not a number" gemm --seed=-1
refused "--oplog-limit" 2 "--oplog-limit '0' is not a size" gemm --oplog-limit 0
refused "-o in a folder that is not there" 5 "none/out" softmax -o none/out
refused "--oplog in a folder that is not there" 5 "none/log" softmax M=1 N=1 --oplog none/log
echo >file
refused "--dump into no folder" 2 "needs a name" softmax M=1 N=1 --dump ''
refused "--oplog and -o into one file" 2 "the same file" softmax M=1 N=1 --oplog same -o same
refused "--dump into a file" 5 "file" softmax M=1 N=1 --dump file
code=0
"$SIM" probe --verify >out 2>err || code=$?
[ $code -eq 2 ] && says "probe takes no --verify, it is an option of run"
ok "--verify is an option of run alone"
SIM=$BROKEN refused "a tensor that does not fit" 2 "large" large
SIM=$BROKEN refused "too many tensors" 2 "more than 16 tensors" many

# -- what is printed ----------------------------------------------------------------------------

columns=bench,kernel,pes,start_ns,kernel_ns,total_ns,ops,dma_read_bytes,dma_write_bytes,gemm_macs,math_elements,verify,max_abs_err,tflops,peak_pct,gbs,ops_per_byte,algorithm
run gemm M=64 N=64 K=64 --format csv
[ $code -eq 0 ] && [ ! -s err ] && [ "$(head -1 out)" = $columns ] && [ "$(wc -l <out)" -eq 2 ] &&
    [ "$(field bench 1),$(field kernel 1),$(field pes 1)" = gemm,gemm,64 ] &&
    [ "$(field gemm_macs 1)" -eq $((64 * 64 * 64)) ] &&
    [ "$(field dma_write_bytes 1)" -eq $((3 * 64 * 64 * 2)) ] && [ "$(field verify 1)" = off ] &&
    [ -z "$(field max_abs_err 1)" ]
ok "CSV: columns and counts of a GEMM"
awk -v m="$(field gemm_macs 1)" -v e="$(field math_elements 1)" -v k="$(field kernel_ns 1)" \
    -v b="$(($(field dma_read_bytes 1) + $(field dma_write_bytes 1)))" -v t="$(field tflops 1)" \
    -v p="$(field peak_pct 1)" -v g="$(field gbs 1)" -v i="$(field ops_per_byte 1)" 'function near(a, b) {
        return a - b < 1e-5 && b - a < 1e-5 }
    BEGIN { exit !(near(t, (2 * m + e) / k / 1000) && near(p, 100 * m / (k * 64 * 4096)) && near(g, b / k) &&
        near(i, (2 * m + e) / b)) }'
ok "rates follow from counts and kernel_ns; the peak is 64 PEs of 4096 macs a ns"
# peak_is RATE: of GEMM, whose PEs do 4096 * RATE macs a ns
peak_is()
{
    [ $code -eq 0 ] && awk -v m="$(field gemm_macs 1)" -v k="$(field kernel_ns 1)" -v p="$(field peak_pct 1)" -v rate="$1" \
        'BEGIN { d = p - 100 * m / (k * 64 * 4096 * rate); exit !(d < 1e-5 && d > -1e-5) }'
}
for type in f64=0.25 f32=0.5 f16=4 bf16=2 i8=8; do
    run gemm M=128 N=128 K=128 dtype=${type%=*} --set cube.pe.pe_gemm.rate.$type --format csv --quiet
    peak_is ${type#*=}
    ok "the peak is that of the type: rate.$type"
done
[ -z "$(field algorithm 1)" ] && run all_reduce count=64 --format csv --quiet && [ "$(field algorithm 1)" != auto ] &&
    [ -n "$(field algorithm 1)" ] && run all_reduce count=64 algorithm=ring --format csv --quiet &&
    [ "$(field algorithm 1)" = ring ]
ok "the algorithm that was taken"
run softmax M=64 N=64 --format csv --quiet
awk -v e="$(field math_elements 1)" -v k="$(field kernel_ns 1)" -v p="$(field peak_pct 1)" \
    'BEGIN { d = p - 100 * e / (k * 64 * 64); exit !(d < 1e-5 && d > -1e-5) }'
ok "without products the peak is that of MATH: 64 PEs of 64 elements a ns"
run gemm M=64 N=64 K=64 --format csv
equal "all kernels start together when the last host has called" 27.836250 "$(field start_ns 1)"
awk -v k="$(field kernel_ns 1)" -v t="$(field total_ns 1)" -v s="$(field start_ns 1)" \
    'BEGIN { exit !(k > 0 && t > s + k) }'
ok "total_ns contains call, kernel and response"
run attention H=2 S=33 T=150 D=17 --format csv --verify
equal "a row per launch" "attention_parts attention_merge" "$(echo $(field kernel 1) $(field kernel 2))"
awk -F, -v c="$columns" 'NR == 2 { end = $6 } NR == 3 { exit !($4 > end) }' out
ok "a launch begins when the one before is back"
run list_walk N=11 L=3 --format csv
equal "a launch on one PE" 1 "$(field pes 1)"

run layernorm M=5 N=7 eps=0.001 --verify --format json -j 2
jq -e '.schema == "kernbench.run/1" and .args == {M: 5, N: 7, dtype: "f16", eps: 0.001} and
    .command == "cube8 run layernorm M=5 N=7 eps=0.001 --verify --format json" and
    .rows[0].verify == "pass" and (.rows[0].max_abs_err | type) == "number"' out >/dev/null
ok "JSON: all arguments, numbers as numbers; the command line without -j"
run gemm M=3 --format jsonl
[ "$(sed -n 1p out | jq -c .args)" = '{"M":3,"N":256,"K":256,"dtype":"f16","GRID":1,"BM":3,"BN":4,"BK":256,"b_by":"columns","send":"multicast"}' ] &&
    [ "$(sed -n 2p out | jq -r .verify)" = off ]
ok "JSON lines: arguments in the first"
run softmax --verify=ops --format md
[ $code -eq 0 ] && sed -n 3p out | grep -q '| softmax | softmax |.*| pass |'
ok "md; --verify=ops"
run gather --set sip.d2d.bw_gbs=8 --format csv
[ $code -eq 0 ] && says "warning: links are ideal" && [ "$(wc -l <err | tr -d ' ')" -eq 1 ]
ok "links that are too few are warned of, once"
run gather --set sip.d2d.bw_gbs=8 --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "--quiet: no warning"
run softmax
[ $code -eq 0 ] && sed -n 1p out | grep -q '^bench  *kernel  *pes  *start_ns'
ok "a table by default"
run --seed 3 softmax --quiet M=3 -o out.csv --format csv N=4
[ $code -eq 0 ] && [ ! -s out ] && [ "$(sed 1d out.csv | cut -d, -f1)" = softmax ]
ok "options before, between and after; -o"

# -- values that a bench finds -------------------------------------------------------------------

run all_reduce count=131 over=cubes --format json
chosen=$(jq -r .args.algorithm out)
[ $code -eq 0 ] && grep -q "^all_reduce: ring about .* ns, .*$chosen takes .* ns.* (about: an estimate): $chosen\$" err &&
    cp out auto && run all_reduce count=131 over=cubes algorithm="$chosen" --format json &&
    [ ! -s err ] && [ "$(jq -c .rows out)" = "$(jq -c .rows auto)" ]
ok "auto: what was chosen is an argument of the results, stderr tells why"
run mlp_tp M=3 N=70 K=5 --format json
chosen=$(jq -r .args.algorithm out) ns=$(jq -r '.rows[0].kernel_ns' out)
[ $code -eq 0 ] && [ "$(grep -o ' takes ' err | wc -l)" -le 3 ] &&
    grep "^mlp_tp: ring .*: $chosen\$" err | grep -q "$chosen takes $(printf %.2f "$ns") ns"
ok "auto of mlp_tp: the times of all it tried"
run all_reduce over=sips --format json
[ $code -eq 0 ] && [ "$(jq -r .args.algorithm out)" = ring ] &&
    [ "$(cat err)" = "all_reduce: over=sips is one rank here, which sends nothing: y is x" ]
ok "auto of one rank: there is nothing to choose"
run all_to_all over=sips --verify
[ $code -eq 0 ] && grep -q "^all_to_all: over=sips is one rank here" err
ok "one rank of another collective"
run all_reduce count=131 over=cubes --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "auto, --quiet: nothing is told"
refused "a choice of how" 2 "algorithm must be one of 'auto ring one_way line direct axes halving hierarchical axes_halving tree double_tree', not 'rign', did you mean 'ring'?" \
    all_reduce algorithm=rign
call "$B/kernbench" run all_gather count=4096 algorithm=ring --machine "$root/topologies/cube8.yaml" \
    --set cube.pe.pe_ipcq.slots=1 --set cube.pe.pe_ipcq.slot_bytes=256
grep -q "^all_gather: sends wait for free slots [0-9.]* times as long as its kernels run: cube.pe.pe_ipcq.slots (twice as good: [0-9.]* % less time), cube.pe.pe_ipcq.slot_bytes (" err
ok "slots that bind are told, with the key"
refused "count 0" 2 "count must be an integer in 1..268435456, not '0'" all_gather count=0
for bench in all_gather all_reduce all_to_all attention_ring broadcast mlp_tp reduce_scatter; do
    refused "$bench: no queue fits into a TCM" 2 "$bench needs queues between PEs: 'cube.pe.pe_ipcq' has 65536 slots of 4096 bytes, more than the" \
        $bench --set cube.pe.pe_ipcq.slots=65536
done
refused "flash: accumulators smaller than a block" 2 "flash needs accumulators of 20480 bytes for BM=64 and D=64, 'cube.pe.pe_gemm.acc_kb' has 1024" \
    flash --set cube.pe.pe_gemm.acc_kb=1

# -- warnings -----------------------------------------------------------------------------------

broken unwritten --format csv
[ $code -eq 0 ] && [ "$(cat err)" = "warning: unwritten moved no byte" ]
ok "a bench that moves nothing is warned of"
broken half --format csv
[ $code -eq 0 ] && [ "$(cat err)" = \
    "warning: 3 of the 5 PEs of launch 0, copy_half, issued no command (the first: sip0.cube0.pe3)" ]
ok "PEs of a launch that issue nothing are warned of, and one is named"
broken half --quiet && [ ! -s err ] && broken unwritten --quiet && [ ! -s err ]
ok "--quiet: neither"
broken half --fingerprint && grep -qvx 'fingerprint [0-9a-f]*' err
[ $? -eq 1 ]
ok "--fingerprint: neither"
for bench in softmax layernorm list_walk gemm_composite; do
    run $bench
    [ $code -eq 0 ] && [ ! -s err ] || echo "# $bench"
done >missing
[ ! -s missing ] || { cat missing; false; }
ok "nothing is warned of in benches as they are"

# -- verification -------------------------------------------------------------------------------

for bench in $all_benches; do
    run $bench $(small $bench) --verify --format csv
    [ $code -eq 0 ] && [ "$(field verify 1)" = pass ] || echo "# $bench"
    run $bench $(small $bench) --verify=ops --format csv
    [ $code -eq 0 ] && [ "$(field verify 1)" = pass ] || echo "# $bench =ops"
    "$SIM" list $bench --format csv | grep -q '^[^,]*,dtype,.*f64' || continue # which has the narrowest tolerance
    run $bench $(small $bench) --verify --format csv dtype=f64
    [ $code -eq 0 ] && [ "$(field verify 1)" = pass ] || echo "# $bench f64"
done >missing
[ ! -s missing ] || { cat missing; false; }
ok "every bench passes --verify and --verify=ops"

broken good --verify --format csv
[ $code -eq 0 ] && [ "$(field verify 1)" = pass ]
ok "own benches in place of ours"
broken wrong --verify --format csv
[ $code -eq 1 ] && says "y[2,4] is 1, expected 1.5; 1 of 15 elements differ" &&
    [ "$(field verify 1)" = fail ] && [ "$(field max_abs_err 1)" = 0.5 ]
ok "a wrong result: exit 1, element and both values, and the rows"
broken wide --verify --format csv
[ $code -eq 1 ] && says "y[1,7] is 1, expected 1.5; 2 of 270000 elements differ" &&
    [ "$(field max_abs_err 1)" = 2 ]
ok "of differences in several blocks the first, their number, and the largest"
broken wrong --verify -o kept.csv --format csv
[ $code -eq 1 ] && [ "$(sed 1d kept.csv | cut -d, -f12)" = fail ]
ok "a wrong result: -o is kept, and says so"
broken wrong --phase2 on --format csv
[ $code -eq 0 ] && [ "$(field verify 1)" = off ]
ok "nothing is compared without --verify"
broken no_nan --verify
[ $code -eq 1 ] && says "y[1,1] is 1, expected nan"
ok "a number where NaN is expected"
broken nan --verify --format csv
[ $code -eq 0 ] && [ "$(field verify 1)" = pass ]
ok "NaN where NaN is expected"
broken unwritten --verify --format csv
[ $code -eq 1 ] && says "y" && [ "$(field verify 1)" = fail ] && [ -z "$(field max_abs_err 1)" ]
ok "an output that was not written, with no difference that could be told"
broken copies --verify --format csv
[ $code -eq 1 ] && [ "$(field verify 1)" = fail ] && [ "$(field max_abs_err 1)" = 0.5 ] &&
    says "y[0,0] is 1.5 in the copy of c1.pe5, expected 1; 6 of 6 elements differ"
ok "a wrong copy of a replicated output, which is not the first one"

# -- errors of kernels --------------------------------------------------------------------------

SIM=$BROKEN refused "data of a pending result: kernel, PE, call, line" 7 \
    "kernel peek on c" peek
grep -q "tl_data at .*broken.c:[0-9]*" err
ok "... with the place in the source"
SIM=$BROKEN refused "a kernel that gives up, after a launch that did not" 7 \
    "this is as far as it goes" give_up
says "c1.pe1"
ok "... by the number over all cubes"
SIM=$BROKEN refused "stack overflow" 7 "dig_deep" dig

# crashes NAME BENCH TEXT: exit 7, and the message has kernel, PE, what happened, last call and line
crashes()
{
    if [ "$sanitized" ]; then
        skip "$1" "a sanitizer ends the program itself"
        return
    fi
    broken "$2" -o rows.csv
    line=$(awk -v kernel="^static void $2\\(" '$0 ~ kernel { on = 1 } on && /tl_program_id/ { print NR; exit }' \
        "$root/tests/support/broken.c")
    [ $code -eq 7 ] && [ ! -s out ] && [ -z "$(ls | grep rows)" ] &&
        grep -v '^\(free(): double\|note:\)' err | cmp -s - <(echo "cube8: kernel $2 on c0.pe3: $3, last call tl_program_id at tests/support/broken.c:$line")
    ok "$1"
}
sanitized=$(nm "$BROKEN" | grep -o -m 1 '__\(asan_init\|tsan_init\)')
crashes "a write to an address without memory" write_nowhere "crashed by an access to address 0x10 (SIGSEGV)"
crashes "a division by zero" divide_by_none "crashed by a division without a result (SIGFPE)"
crashes "abort()" give_in "crashed by abort() (SIGABRT)"
crashes "free() twice, which the C library finds" free_twice "crashed by abort() (SIGABRT)"
crashes "an illegal instruction" reach_unreachable "crashed by an instruction that traps (SIGILL)"
crashes "a frame of 512 KiB" large_frame "stack overflow"
crashes "a frame of 900 KiB, written at its end" far_frame "stack overflow"
if [ "$sanitized" ]; then
    skip "a call by another thread" "a sanitizer ends the program itself"
else
    broken take_thread
    [ $code -eq 7 ] && says "kernel take_thread on c0.pe3: tl_num_programs at " &&
        says "it is called by another thread than the kernel's"
    ok "a call by another thread"
fi
refused "--max-events" 7 "10" gemm --max-events 10
run gemm --until 30 --format csv
[ $code -eq 0 ] && says "stopped at 30.000000 ns: 0 of 1 launches complete" && [ "$(wc -l <out)" -eq 1 ]
ok "--until: launches that are complete, none here"
run gemm --until 30 --format csv --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "--until, --quiet"

# -- the same, whatever ------------------------------------------------------------------------

for bench in $all_benches; do
    run $bench $(small $bench) --fingerprint --format csv
    cp out out.fused
    cp err err.fused
    run $bench $(small $bench) --fingerprint --format csv --engine hop
    cmp -s out out.fused && cmp -s err err.fused && grep -qx 'fingerprint [0-9a-f]\{16\}' err ||
        echo "# $bench: engines"
    run $bench $(small $bench) --format csv
    cmp -s out out.fused || echo "# $bench: without fingerprint"
    run $bench $(small $bench) --fingerprint --format csv --phase2 on -j 1
    cmp -s out out.fused && cmp -s err err.fused || echo "# $bench: Phase 2"
    run $bench $(small $bench) --fingerprint --format csv --oplog log.$bench
    cmp -s out out.fused && cmp -s err err.fused || echo "# $bench: log"
done >missing
[ ! -s missing ] || { cat missing; false; }
ok "engines, fingerprint, Phase 2, log: the same times and the same events"
for bench in $all_benches; do
    run $bench $(small $bench) --dump one.$bench -j 1
    run $bench $(small $bench) --dump four.$bench -j 4 --engine hop --oplog log.4.$bench --oplog-limit 4K
    diff -r one.$bench four.$bench >/dev/null || echo "# $bench: results"
    sed 1d log.$bench >log.a
    sed 1d log.4.$bench | cmp -s - log.a || echo "# $bench: log"
done >missing
[ ! -s missing ] || { cat missing; false; }
ok "-j 1 and -j 4: the same bytes; a log through a file: the same records"

# -- files --------------------------------------------------------------------------------------

run gemm M=3 N=4 K=5 dtype=bf16 --dump deep/down/here
equal "--dump makes folders and names bf16" "in.a.bf16.npy in.b.bf16.npy out.c.bf16.npy" \
    "$(ls deep/down/here | xargs)"
run attention $(small attention) --dump scratch
equal "--dump: inputs and outputs, nothing else" "in.k.npy in.q.npy in.v.npy out.o.npy" \
    "$(ls scratch | xargs)"
run softmax M=3 N=4 --dump seed0
run softmax M=3 N=4 --dump seed0b --seed 0
run softmax M=3 N=4 --dump seed1 --seed 1
diff -r seed0 seed0b >/dev/null && ! cmp -s seed0/in.x.npy seed1/in.x.npy
ok "--seed: another one, other inputs"
run softmax M=3 N=4 --dump fed x=@seed1/in.x.npy --verify --format json
diff -r seed1 fed >/dev/null && [ "$(jq -r .args.x out)" = "sha256:$(sha256sum <seed1/in.x.npy | cut -d' ' -f1)" ]
ok "an input from a file: its results, its hash"
echo text >log.none
for file in none.npy log.none; do
    for words in "run softmax" "why softmax" "run softmax --origin o.json"; do
        call "$SIM" $words M=3 N=4 x=@$file
        [ $code -eq 3 ] && [ ! -s out ] && says "$file"
        ok "$words: an input from $file"
    done
done
run gemm M=8 N=8 K=8 --oplog log.csv
[ $code -eq 0 ] && grep -q '^op_id,t_start,t_end,' log.csv
ok "--oplog: CSV by its name"
jq -es '.[0].schema == "kernbench.oplog/1" and (.[1:] | map(.op_id) | length > 0)' log.gemm >/dev/null
ok "--oplog: JSON lines else"

# -- Ctrl-C -------------------------------------------------------------------------------------

for seconds in 1 0.6 0.3; do # wherever that is in the second launch
    code=0
    timeout --preserve-status -s INT $seconds "$BROKEN" run load_on --format csv >out 2>err || code=$?
    [ $code -eq 130 ] && break
done
if [ $code -eq 0 ]; then # or a sanitizer keeps the signal back
    skip "Ctrl-C keeps the launches complete so far" "this machine is too fast"
else
    [ $code -eq 130 ] && says "interrupted: 1 of 2 launches complete" &&
        [ "$(field kernel 1)" = divide ]
    ok "Ctrl-C keeps the launches complete so far"
fi

"$SIM" info --format csv | grep -q '^phase2,.'
ok "info tells what computes Phase 2"

plan
