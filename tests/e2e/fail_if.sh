#!/usr/bin/env bash
# fail_if.sh -- --fail-if: exit 1 with one line if a row meets a condition; rows are the same without it.
#
# TAP on stdout. B names the build, SIM the simulator of cube8.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# budget NAME CODE TEXT CONDITION ARGUMENT...: the exit code, the text on stderr, and the rows as without
budget()
{
    local name=$1 want=$2 text=$3 condition=$4

    shift 4
    call "$SIM" "$@" --quiet
    cp out rows
    call "$SIM" "$@" --quiet --fail-if "$condition"
    [ $code = "$want" ] && same rows out &&
        if [ -n "$text" ]; then says "cube8: $text" && [ "$(wc -l <err)" = 1 ]; else [ ! -s err ]; fi
    ok "$name"
}

gemm='run gemm M=64 N=64 K=64 --verify'
# the figure of the row itself, so that one more digit decides
ns=$("$SIM" $gemm --format csv --quiet | tail -1 | cut -d, -f5)
budget "above, by nothing" 0 '' "kernel_ns>$ns" $gemm
budget "at least, by nothing" 1 "failed by --fail-if: kernel_ns is $ns in row 1" "kernel_ns>=$ns" $gemm
budget "below" 1 "failed by --fail-if: kernel_ns is $ns in row 1" "kernel_ns<1e6" $gemm
budget "at most" 1 "failed by --fail-if: kernel_ns is $ns in row 1" "kernel_ns<=$ns" $gemm
budget "equal" 1 "failed by --fail-if: kernel_ns is $ns in row 1" "kernel_ns==$ns" $gemm
budget "not equal" 0 '' "kernel_ns!=$ns" $gemm
budget "a text" 1 "failed by --fail-if: verify is pass in row 1" "verify==pass" $gemm --format csv
budget "a text that differs" 0 '' "verify!=pass" $gemm --format json
budget "a count" 1 "failed by --fail-if: ops is " "ops>10" $gemm --format jsonl
budget "an empty cell decides nothing" 2 "--fail-if 'max_abs_err!=7' cannot be decided: max_abs_err is empty in row 1" "max_abs_err!=7" run gemm M=64 N=64 K=64 --format csv
sweep='sweep --src c0.pe0 --dst c0.slice[0-3] --inflight 1:3'
for format in csv json table; do
    budget "a sweep as $format counts all rows" 1 "failed by --fail-if: count is 2 in row 2, and 7 more" 'count>1' $sweep --format $format
done
budget "one row at a time, whatever -j" 1 "failed by --fail-if: count is 2 in row 2, and 7 more" 'count>1' $sweep -j 8
budget "a key of --vary" 1 "failed by --fail-if: cube.hbm.bw_gbs is 256 in row 2" 'cube.hbm.bw_gbs>200' \
    $gemm --vary cube.hbm.bw_gbs=128,256 --format csv
budget "the same as a table" 1 "failed by --fail-if: cube.hbm.bw_gbs is 256 in row 2" 'cube.hbm.bw_gbs>200' \
    $gemm --vary cube.hbm.bw_gbs=128,256
budget "a column of other results" 2 "--fail-if 'p99_ns>1' cannot be decided: these results have no column 'p99_ns'" 'p99_ns>1' $gemm
budget "a number that is none" 2 "--fail-if 'kernel_ns>4a' cannot be decided: kernel_ns is a number, and the value is no finite one" 'kernel_ns>4a' $gemm
budget "the order of a text" 2 "--fail-if 'bench>a' cannot be decided: bench is a text, which takes == or !=" 'bench>a' $gemm
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4096\n' >rows.csv
budget "replay" 1 "failed by --fail-if: " 'actual_ns>18' replay rows.csv
budget "probe" 1 "failed by --fail-if: " 'actual_ns>18' probe
budget "load" 1 "failed by --fail-if: " 'p99_ns>1' load --pattern local --rate 0.1 --txns 1000 --seeds 1
call "$SIM" $gemm --quiet --fail-if 'kernel_ns<1' --fail-if 'ops>1' --fail-if 'verify==pass'
[ $code = 1 ] && says 'cube8: failed by --fail-if: ops is ' && says ', and 1 more'
ok "several conditions"
call "$SIM" $gemm --fail-if 'ops>1' --format csv -o kept.csv
[ $code = 1 ] && [ -s kept.csv ]
ok "the rows are kept"
for wrong in kernel_ns 'kernel_ns > 4' 'kernel_ns>' '>4' 'kernel_ns=4' 'kernel_ns<>4' 'kernel_ns=>4'; do
    refused "'$wrong' is no condition" 2 "--fail-if '$wrong' is not a condition without blanks, as 'kernel_ns>4000' or 'verify!=pass'" \
        $gemm --fail-if "$wrong"
done
for other in --race "--inspect last" --breakdown; do
    budget "rows of $other" 2 "--fail-if cannot be decided: it is of the rows without ${other% *}" 'kernel_ns>4' $gemm $other
done
budget "a key without a point" 1 "failed by --fail-if: sips is 2 in row 2" 'sips==2' $gemm --vary sips=1,2
refused "which does not vary" 2 "unknown column 'sips': 'describe columns' has all" $gemm --fail-if 'sips==2'
refused "the name of a column, misspelt" 2 "unknown column 'kernl_ns', did you mean 'kernel_ns'?" $gemm --fail-if 'kernl_ns>4'
plan
