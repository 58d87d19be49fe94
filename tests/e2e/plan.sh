#!/usr/bin/env bash
# plan.sh -- many runs: killed at any moment and resumed they have the bytes of a run in one piece; and what goes
# with what.
#
# TAP on stdout. B names the build, SIM the simulator of cube8 in it.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/parts.sh"
needs_cube8

printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4K\n5,write,c0.pe1,c0.slice0,0,64\n' >rows.csv
cat >s.yaml <<'END_OF_STUDY'
commands: [run gemm M=64 N=64 K=64, load --pattern uniform --rate 0.02 --seeds 1 --txns 3000]
variants: {noc_x2: {cube.noc.bw_gbs: 256}, small: {cube.pe.pe_tcm.size_mb: 1}}
vary: {cube.noc.bw_gbs: "100:140", cube.pes: [8, 99]}
cost: {cube.noc.bw_gbs: 0.5}
END_OF_STUDY

# -- killed and resumed ---------------------------------------------------------------------------

# lives NAME ARGUMENT...: killed after 5, 11, 19, ... ms, until it ends by itself: the bytes of a run in one piece
lives()
{
    local name=$1 kills=0 ms=5 whole

    shift
    rm -f p.csv* w.csv last
    call "$SIM" "$@" --quiet -o w.csv
    whole=$code
    code=137
    while [ $code -eq 137 ] && [ $kills -lt 40 ]; do
        code=0
        { timeout -s KILL $((ms / 1000)).$(printf %03d $((ms % 1000))) "$SIM" "$@" --quiet -o p.csv --resume >out 2>err || code=$?; } 2>killed
        kills=$((kills + (code == 137))) ms=$((ms + ms / 3 + 5)) # a fast machine is done in 40
        [ -e p.csv.journal ] && cp p.csv.journal last
    done
    [ $code -eq $whole ] && [ $kills -gt 0 ] && same w.csv p.csv && [ ! -e p.csv.journal ]
    ok "$name, killed and resumed"
    # a record that a death has cut in two
    [ -s last ] && head -c -5 last >p.csv.journal
    rm -f p.csv
    call "$SIM" "$@" --quiet -o p.csv --resume -j 1
    [ $code -eq $whole ] && same w.csv p.csv && [ ! -e p.csv.journal ]
    ok "$name, from a journal that is cut, with another -j"
}
lives "a study" study s.yaml --format csv
lives "machines" run gemm M=64 N=64 K=64 --vary cube.noc.bw_gbs=100:200 --vary cube.pes=8,99 --format csv
lives "machines as JSON" replay rows.csv --vary cube.noc.bw_gbs=100:1500 --vary cube.pes=8,99 --format json
lives "a sweep" sweep --src 'c*.pe*' --dst 'c*.slice*' --inflight 1,30 --format csv
lives "rates" load --pattern uniform --rate 0.02:0.1:0.01 --seeds 2 --txns 20000 --format csv
lives "rates, as a table" load --pattern uniform --rate 0.02:0.1:0.01 --seeds 2 --txns 20000 --format table
lives "limits" why gemm M=512 N=512 K=256 --format csv
lives "keys" why copy L=16384 --by key --format csv

# a journal is of what it says
"$SIM" study s.yaml --quiet -o p.csv --shard 1/1 2>err
mv p.csv.1of1 part && { head -c -5 part && printf '\377\377\377\377\377'; } >p.csv.journal
"$SIM" study s.yaml --quiet --format csv -o w.csv 2>err
call "$SIM" study s.yaml --quiet --format csv -o p.csv --resume
[ $code -eq 3 ] && same w.csv p.csv
ok "a record that is spoilt is made again"
cp part p.csv.journal
sed -i 's/0.5}/0.6}/' s.yaml
refused "results of another study" 3 "p.csv.journal has results that are not of the same inputs: remove it to begin again" study s.yaml -o p.csv --resume
sed -i 's/0.6}/0.5}/' s.yaml
echo mine >p.csv.journal
refused "a file that is no journal" 3 "p.csv.journal is no journal of results" study s.yaml -o p.csv --resume
[ "$(cat p.csv.journal)" = mine ] && rm p.csv.journal
ok "and it stays"
flock p.csv.journal sleep 2 & # as workers of a killed run hold it until they are ended
sleep 0.5
call "$SIM" study s.yaml --quiet --format csv -o p.csv --resume
[ $code -eq 3 ] && same w.csv p.csv
ok "a run waits for what is left of a killed one"
flock -F p.csv.journal sleep 120 &
sleep 0.5
refused "and not for one that goes on" 5 "p.csv.journal is in use by another run" study s.yaml -o p.csv --resume
kill $! && wait 2>err
rm p.csv.journal
refused "no output" 2 "--resume needs --output, which is not given" study s.yaml --resume

# -- parts ------------------------------------------------------------------------------------------

parted "a study" 0 study s.yaml
parted "rates" 0 load --pattern uniform --rate 0.02:0.06:0.01 --seeds 2 --txns 5000
parted "runs of tune, behind their weights," 12 tune softmax M=64 arg.N=640,448,576,448,320,64:1024:192 --verify
refused "merge of parts that are no rows" 2 "p.csv.1of3 has results, and no rows: the same command joins them, with --resume in place of --shard" merge p.csv

# -- what goes with what --------------------------------------------------------------------------------

: >none
rate="--pattern local --rate 0.05,0.1 --seeds 1 --txns 500"
cat >few.yaml <<'END_OF_STUDY'
command: replay rows.csv
vary: {cube.hbm.bw_gbs: [128, 256]}
END_OF_STUDY
tune="tune softmax M=64 arg.N=64,128,192"
llm="llm llama-3.2-1b --decode 64 --batch 1 --tries 1"
declare -A line=([vary]="replay rows.csv --vary sips=1,2" [study]="study few.yaml" [why]="why copy L=1024" [load]="load $rate" [run]="run copy L=1024"
    [sweep]="sweep --src c0.pe* --dst c0.slice0" [tune]="$tune" [llm]="$llm" [tune-vary]="$tune --vary cube.hbm.bw_gbs=128,256"
    [llm-vary]="$llm --vary cube.hbm.bw_gbs=128,256")
declare -A with=([breakdown]=--breakdown [stats]="--stats u.csv" [shard]="--shard 1/2 -o x.csv" [sqlite]="--sqlite d.db"
    [resume]="--resume -o x.csv" [fail-if]="--fail-if time_ns>1e9 --fail-if queue_channel_ns<0")
declare -A no=([why/shard]="--shard of why needs --vary: parts are machines, points of sweep, rates of load, runs of tune and study"
    [run/shard]="--shard of run needs --vary" [run/resume]="--resume needs --vary" [llm/shard]="--shard of llm needs --vary" [llm/resume]="--resume needs --vary")
for what in sweep tune llm tune-vary llm-vary; do
    for option in breakdown stats; do no[$what/$option]="${what%-*} takes no --$option, it is an option of replay, load, run, why, study"; done
done
for what in vary study why load run sweep tune llm tune-vary llm-vary; do
    for option in breakdown stats shard sqlite resume fail-if; do
        rm -f x.csv* u.csv d.db
        words=${with[$option]}
        [ $option != fail-if ] || case $what in
            vary) words="--fail-if actual_ns<0" ;;
            study) words="--fail-if time_ns<0" ;;
            why) words="--fail-if kernel_ns<0" ;;
            load) words="--fail-if mean_ns<0" ;;
            run) words="--fail-if kernel_ns<0" ;;
            tune*) words="--fail-if arg.N<0" ;; # runs that were stopped have no time
            llm*) words="--fail-if us<0" ;;
            sweep) words="--fail-if mean_ns<0" ;;
        esac
        # shellcheck disable=SC2086
        run ${line[$what]} $words --quiet --format csv
        if [ -n "${no[$what/$option]-}" ]; then
            [ $code -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && says "${no[$what/$option]}"
            ok "$what and $option: makes no sense, and a line says so"
            continue
        fi
        case $option in
            breakdown) [ $code -eq 0 ] && grep -q ',drain,\|,engine' out ;;
            stats) [ $code -eq 0 ] && [ "$(wc -l <u.csv)" -gt 10 ] ;;
            shard) [ $code -eq 0 ] && [ -s x.csv.1of2 ] ;;
            sqlite) [ $code -eq 0 ] && [ -s d.db ] ;;
            resume) [ $code -eq 0 ] && [ -s x.csv ] && [ ! -e x.csv.journal ] ;;
            fail-if)
                # shellcheck disable=SC2086
                [ $code -eq 0 ] && run ${line[$what]} ${words/</>} --quiet --format csv && [ $code -eq 1 ] && says "failed by --fail-if"
                ;;
        esac
        ok "$what and $option"
    done
done
plan
