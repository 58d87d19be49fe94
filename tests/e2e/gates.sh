#!/usr/bin/env bash
# gates.sh -- gates have three outcomes: met is exit 1, not met is 0, and what no one can decide is exit 2 and says why.
#
# TAP on stdout. B names the build, SIM the simulator of cube8.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
BROKEN=$B/_t/broken

# undecided NAME TEXT ARGUMENT...: exit 2 and one line with the text on stderr, the rows all the same
undecided()
{
    local name=$1 text=$2

    shift 2
    run "$@" --quiet
    [ $code = 2 ] && says "$text" && [ "$(grep -c . err)" = 1 ] && [ -s out ]
    ok "$name"
}

# decided NAME CODE ARGUMENT...
decided()
{
    local name=$1 want=$2

    shift 2
    run "$@" --quiet
    [ $code = "$want" ]
    ok "$name"
}

# -- --fail-if ---------------------------------------------------------------------------------

gemm='run gemm M=64 N=64 K=64 --format csv'
for bound in nan NAN -nan inf -inf infinity 1e400 -1e400 4a; do
    for op in '<' '<=' '>' '>=' '==' '!='; do
        undecided "kernel_ns$op$bound" "cube8: --fail-if 'kernel_ns$op$bound' cannot be decided: kernel_ns is a number, and the value is no finite one in row 1" \
            $gemm --fail-if "kernel_ns$op$bound"
    done
done
undecided "an empty cell" "--fail-if 'max_abs_err>0' cannot be decided: max_abs_err is empty in row 1; it needs --verify" $gemm --fail-if 'max_abs_err>0'
undecided "no verification, of which one asks whether it failed" "verify is off in row 1; it needs --verify" $gemm --fail-if 'verify==fail'
undecided "or whether it did not pass" "verify is off in row 1; it needs --verify" $gemm --fail-if 'verify!=pass'
decided "whether there was one can be decided" 1 $gemm --fail-if 'verify==off'
decided "max_abs_err of a verification" 0 $gemm --verify --fail-if 'max_abs_err>1' --fail-if 'verify!=pass'
undecided "no such column" "--fail-if 'p99_ns>1' cannot be decided: these results have no column 'p99_ns'" $gemm --fail-if 'p99_ns>1'
undecided "the order of a text" "bench is a text, which takes == or != in row 1" $gemm --fail-if 'bench>a'
undecided "the order of words of --vary" "contention.links is a text, which takes == or != in row 1" \
    $gemm --vary contention.links=fifo,ideal --fail-if 'contention.links>a'
undecided "a number, and a key that is a word" "contention.links is a text, which takes == or != in row 1" \
    $gemm --vary contention.links=fifo,ideal --fail-if 'contention.links<1'
decided "one row that meets it decides" 1 $gemm --fail-if 'max_abs_err>0' --fail-if 'ops>1'
run $gemm --fail-if 'kernel_ns>0x10' --quiet
[ $code = 1 ] && says "failed by --fail-if: kernel_ns is 73.295000 in row 1"
ok "a bound that is written otherwise is one"

# Femtoseconds of a long run are more than a double holds.
printf 'issue_ns,op,src,dst,offset,nbytes\n8999999999000.000001,read,c0.pe0,c0.slice0,0,4096\n' >late.csv
run replay late.csv --format csv --quiet
end=$(field end_ns 1)
decided "a time is compared to the femtosecond" 0 replay late.csv --fail-if "end_ns>$end"
decided "of which one less is another" 1 replay late.csv --fail-if "end_ns>${end%?}$((${end: -1} - 1))"

printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4096\n50,read,c0.pe0,c0.slice0,0,4096\n' >rows.csv
printf 'issue_ns,op,src,dst,offset,nbytes\n' >none.csv
run replay none.csv --format csv --quiet --fail-if 'actual_ns>18'
[ $code = 2 ] || [ $code = 3 ]
ok "no transactions"
undecided "a replay that was ended early" "--fail-if cannot be decided: the run was ended with 1 of 2 transactions complete" \
    replay rows.csv --until 40 --fail-if 'actual_ns>100'
decided "whose first row decides" 1 replay rows.csv --until 40 --fail-if 'actual_ns>1'
decided "and one that --until did not end" 0 replay rows.csv --until 400 --fail-if 'actual_ns>100'
undecided "a run that was ended early has no row" "--fail-if cannot be decided: the run was ended with 0 of 1 launches complete" \
    $gemm --until 30 --fail-if 'kernel_ns>1'
undecided "each machine of --vary" "max_abs_err is empty in row 1; it needs --verify" \
    $gemm --vary cube.hbm.bw_gbs=128,256 --fail-if 'max_abs_err>0'
undecided "a sweep" "--fail-if 'ops>nan' cannot be decided: these results have no column 'ops'" \
    sweep --src c0.pe0 --dst c0.slice[0-3] --format csv --fail-if 'ops>nan'
undecided "all rows of a sweep" "--fail-if 'mean_ns>inf' cannot be decided: mean_ns is a number" \
    sweep --src c0.pe0 --dst c0.slice[0-3] --format csv --fail-if 'mean_ns>inf'
run $gemm --fail-if 'kernel_ns>inf' -o kept.csv --quiet
[ $code = 2 ] && [ -s kept.csv ]
ok "the rows are kept"
"$SIM" sweep --src c0.pe0 --dst c0.slice0 --format csv -o p.csv --shard 2/2 --fail-if 'mean_ns>1e9' --quiet
ok "a part without rows has nothing to decide"

# -- --verify and --race -----------------------------------------------------------------------

undecided "a run that was ended early is not verified" "--verify cannot be decided: the run was ended with 0 of 1 launches complete" \
    $gemm --until 30 --verify
undecided "nor is its machine of --vary" "--verify cannot be decided: the run was ended with 0 of 1 launches complete" \
    $gemm --until 30 --verify --vary cube.hbm.bw_gbs=128,256
undecided "nor are data races looked for in its rest" "--race cannot be decided: the run was ended with 0 of 1 launches complete" \
    $gemm --until 30 --race
call "$BROKEN" run no_output --verify --format csv --quiet
[ $code = 2 ] && says "--verify cannot be decided: bench no_output has no output to verify" && [ "$(field verify 1)" = off ]
ok "a bench without an output verifies nothing"
call "$BROKEN" run no_output --verify=ops --format csv --quiet
[ $code = 2 ]
ok "by operations neither"

# -- diff --------------------------------------------------------------------------------------

# compares NAME CODE TEXT OPTION...: a.csv with b.csv
compares()
{
    local name=$1 want=$2 text=$3

    shift 3
    run diff a.csv b.csv "$@"
    [ $code = "$want" ] && { [ -z "$text" ] || says "$text"; }
    ok "$name"
}

for pair in nan,nan nan,1 1,nan -nan,nan; do
    printf 'case,mean_ns\nnear,%s\n' "${pair%,*}" >a.csv
    printf 'case,mean_ns\nnear,%s\n' "${pair#*,}" >b.csv
    compares "$pair: by how much it moved" 2 "cube8: --bound cannot be decided: mean_ns is nan in row 0" --bound 5
done
printf 'case,mean_ns\nnear,1\nfar,nan\n' >a.csv && printf 'case,mean_ns\nnear,2\nfar,nan\n' >b.csv
compares "one number that moved decides" 1 '' --bound 5
cp a.csv b.csv
compares "without a bound nan is nan" 0 ''
printf 'case,mean_ns\nnear,inf\n' >a.csv && cp a.csv b.csv
compares "what is infinite did not move" 0 '' --bound 5
printf 'bench,mean_ns,verify\ngemm,1,pass\n' >a.csv && printf 'bench,mean_ns,verify\ngemm,1,off\n' >b.csv
compares "a verification that no longer takes place" 2 "--bound cannot be decided: verify is off in row 0" --bound 5
compares "is another text" 1 ''
printf 'case,mean_ns\n' >a.csv && cp a.csv b.csv
compares "no rows" 2 "--bound cannot be decided: there was nothing to compare" --bound 5
compares "without a bound they are the same" 0 ''
printf 'case,mean_ns\nnear,\n' >a.csv && cp a.csv b.csv
compares "empty cells" 2 "--bound cannot be decided: there was nothing to compare" --bound 5
for bound in nan inf 1e400 -1 ''; do
    for option in bound tolerance atol; do
        refused "--$option '$bound'" 2 "--$option '$bound' is not " diff a.csv b.csv --$option="$bound"
    done
done

# -- study -------------------------------------------------------------------------------------

printf 'commands: [run gemm M=64 N=64 K=64 --fail-if kernel_ns>nan]\nvary: {cube.hbm.bw_gbs: [128]}\n' >study.yaml
run study study.yaml
[ $code = 2 ] && says "--fail-if 'kernel_ns>nan' cannot be decided"
ok "a gate of a study's command"
plan
