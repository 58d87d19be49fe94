#!/usr/bin/env bash
# mpi.sh -- kernbench-mpi prints the bytes of one process, for any number of ranks, and ends when it should.
#
# TAP on stdout. B names the build, which has kernbench and kernbench-mpi.
. "$(dirname "$0")/../support/tap.sh"
command -v mpirun >/dev/null || none "there is no mpirun"
unset KB_MPI_COUNTS
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container there is no other user
export OMPI_MCA_btl_vader_single_copy_mechanism=none              # nor the system call that this would use
cp "$root/topologies/cube8.yaml" .

# ranks N ARGUMENT...: $work/out, $work/err, $code
ranks()
{
    local n=$1

    shift
    call timeout 120 mpirun -q --oversubscribe -np "$n" "$B/kernbench-mpi" "$@" --machine cube8.yaml --quiet
}

# alike NAME ARGUMENT...: on 1, 2 and 5 ranks as in one process with -j 1
alike()
{
    local name=$1 size

    shift
    "$B/kernbench" "$@" --machine cube8.yaml --quiet -j 1 >whole
    for size in 1 2 5; do
        ranks $size "$@" && [ $code = 0 ] && same whole out && [ ! -s err ]
        ok "$name on $size ranks"
    done
}

alike "a sweep" sweep --src c*.pe0 --dst c*.slice* --bytes 64:64K:x4 --inflight 1:9:4
alike "a sweep as a table" sweep --src c0.pe0 --dst c*.slice* --format table
alike "a sweep of points that last unequally long" sweep --src c0.pe0 --dst c7.slice7 --inflight 1,20000,1,1,20000,2:40 --format jsonl
alike "load: rates and seeds" load --pattern uniform --rate 0.02:0.06:0.02 --txns 3000 --seeds 3
alike "machines" run gemm M=64 N=64 K=64 --vary cube.hbm.bw_gbs=64:512:x2 --vary cube.pes=1:8
alike "machines as JSON" probe --vary cube.ucie.overhead_ns=0:8 --format json
cat >study.yaml <<'YAML'
commands:
  - run gemm M=64 N=64 K=64
  - load --pattern uniform --rate 0.02 --txns 500
variants:
  none: {cube.hbm.bw_gbs: 256}
vary:
  cube.hbm.bw_gbs: [128, 256, 512]
  cube.noc.bw_gbs: [128, 256]
YAML
alike "a study" study study.yaml
sed 's/K=64/K=0/' study.yaml >failing.yaml
call "$B/kernbench" study failing.yaml --machine cube8.yaml --quiet
mv out whole && mv err told
ranks 3 study failing.yaml
[ $code = 2 ] && same whole out && same told err
ok "a study whose runs fail, in other ranks too, says the same"

# -- what one process does, and what fails -------------------------------------------------------

ranks 3 probe && "$B/kernbench" probe --machine cube8.yaml | same - out
ok "a command that is not shared is run once"
ranks 3 sweep
[ $code = 2 ] && [ ! -s out ] && [ "$(grep -c '^kernbench: ' err)" = 1 ]
ok "a mistake is told once, with its exit code"
ranks 3 sweep --src c0.pe0 --dst c*.slice* --fail-if 'mean_ns>20'
[ $code = 1 ] && [ "$(grep -c 'failed by --fail-if' err)" = 1 ]
ok "--fail-if"
ranks 3 sweep --src c0.pe0 --dst c*.slice* --fail-if 'mean_ns>1e9'
[ $code = 0 ] && [ ! -s err ]
ok "that no row meets"
ranks 3 sweep --src c0.pe0 --dst c*.slice* --fail-if 'mean_ns>nan'
[ $code = 2 ] && [ "$(grep -c 'cannot be decided' err)" = 1 ]
ok "that cannot be decided"
ranks 3 run gemm M=64 --vary cube.hbm.bw_gbs=64,128,256 --until 30 --verify
[ $code = 2 ] && [ "$(grep -c 'cannot be decided' err)" = 1 ]
ok "a verification of runs that were ended, in other ranks too"
ranks 3 run gemm M=64 --vary cube.pes=1,99
[ $code = 2 ] && grep -q 'cube.pes' err
ok "a machine that cannot be made, in another rank"
KB_MPI_COUNTS=1 ranks 2 sweep --src c*.pe* --dst c*.slice* -o s.csv
grep -q '^kernbench-mpi: 2 ranks, [0-9]* messages, [0-9]* bytes$' err && [ "$(wc -l <s.csv)" = 4097 ]
ok "messages are counted"

# a rank that dies in the middle: the job ends, what is complete stays
timeout 120 mpirun -q --oversubscribe -np 3 "$B/kernbench-mpi" sweep --src c*.pe* --dst c*.slice* --inflight 1,2000:20000:x2 \
    --machine cube8.yaml -o dead.csv >out 2>err &
job=$!
for _ in $(seq 100); do
    sleep 0.1
    ranks_of=$(pgrep -P "$(pgrep -P $job mpirun || echo $job)" kernbench-mpi | sort -n)
    [ "$(wc -w <<<"$ranks_of")" = 3 ] && break
done
sleep 3
kill -9 "$(tail -1 <<<"$ranks_of")"
code=0
wait $job || code=$?
for _ in $(seq 100); do # the others end by themselves
    kill -0 $ranks_of 2>/dev/null || break
    sleep 0.1
done
[ $code != 0 ] && [ $code != 124 ] && [ ! -e dead.csv ] && ! kill -0 $ranks_of 2>where
ok "a rank that is killed ends the job, and no partial file has the name of a whole one"
grep -q '^interrupted: [0-9]* of [0-9]* points complete$' err && [ "$(wc -l <dead.csv.partial)" -gt 1 ]
ok "what was complete is kept, and said"

# a rank that fails by itself: its cause is told, in each of many runs, with its exit code
"$B/kernbench" cc "$root/tests/mpi/failing.c" -o failing.so >where 2>&1
causes=("" "crashed by an access to address 0x0 (SIGSEGV)" "crashed by abort() (SIGABRT)" "out of memory")
for how in 1 2 3; do
    for rank in 0 1 2; do
        lost=0
        for _ in 1 2 3 4 5; do
            FAIL_RANK=$rank ranks 3 run ./failing.so:failing how=$how --vary cube.hbm.bw_gbs=100:120:1 -o failed.csv
            wanted=$([ $how = 3 ] && echo 5 || echo 7)
            [ $code = "$wanted" ] && [ "$(grep -cF "${causes[how]}" err)" = 1 ] && [ ! -e failed.csv ] || lost=$((lost + 1))
        done
        [ $lost = 0 ]
        ok "rank $rank fails, way $how: its cause is told"
    done
done

# a study that was killed goes on: what is in the database is not run again
"$B/kernbench" study study.yaml --machine cube8.yaml --quiet >whole
"$B/kernbench" study study.yaml --machine cube8.yaml --quiet --sqlite kept.db >where
sqlite3 kept.db "DELETE FROM kept WHERE command LIKE 'load%'"
left=$(sqlite3 kept.db "SELECT count(*) FROM kept")
KB_MPI_COUNTS=1 ranks 2 study study.yaml --sqlite kept.db
same whole out && [ "$(sqlite3 kept.db "SELECT count(*) FROM kept")" -gt "$left" ]
ok "a study goes on where its database ends"

# two jobs, one database: both are in it, whole
for i in 1 2; do
    timeout 120 mpirun -q --oversubscribe -np 2 "$B/kernbench-mpi" sweep --src c0.pe0 --dst c*.slice* --machine cube8.yaml --quiet \
        --sqlite both.db -o both.$i &
done
wait
[ "$(sqlite3 both.db "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM result GROUP BY run)")" = 64,64 ]
ok "two jobs write one database"

# a host that does not answer: the launcher says so, and nothing is written
printf 'localhost slots=1\ndead.invalid slots=1\n' >hosts
call timeout 120 mpirun --hostfile hosts -np 2 "$B/kernbench-mpi" sweep --src c0.pe0 --dst c*.slice* --machine cube8.yaml -o hosts.csv
[ $code != 0 ] && [ $code != 124 ] && [ -s err ] && [ ! -e hosts.csv ] && [ ! -e hosts.csv.partial ]
ok "a dead host in the host file"
plan
