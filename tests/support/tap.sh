# tap.sh -- what scripts of tests/e2e share: TAP, one run of a program, comparisons. To be sourced.
#
# B names the build, M the folder of the tests' own machines in it, SIM the simulator of cube8. Leaves the script in $work, a folder of its own.
set -u
# What our parent ignores (`make check &`, nohup) a shell cannot take back: begin again without it.
[ -z "$(trap -p INT HUP QUIT TERM PIPE)" ] || exec env --default-signal bash "$0" "$@"
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${B:-$root/build}
case $B in /*) ;; *) B=$(pwd)/$B ;; esac
M=$B/_m
SIM=${SIM:-$M/cube8/cube8}
case $SIM in /*) ;; *) SIM=$(pwd)/$SIM ;; esac
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export KB_TRUST=$root # the tree may be of another user
n=0
failed=0

# at_top: for what works from the top of the tree, where B is as make has it
at_top()
{
    cd "$root" || exit 1
    B=${B#"$root/"}
    M=$B/_m
}

# as_built: CC, CFLAGS, SAN and AR for make as B is built, or all would be built again; one job at a time
as_built()
{
    local flags

    flags=$(cat "$B/_o/flags")
    CC=${flags%% *} AR=${AR:-ar}
    SAN=$(sed -nE 's/.* (-fsanitize|--coverage)/\1/p' <<<"$flags")
    CFLAGS=${flags##*-Wmissing-prototypes } CFLAGS=$(xargs <<<"${CFLAGS%"$SAN"*}")
    MAKEFLAGS=$(sed -E 's/ ?(-j[0-9]*|--jobserver-[a-z]+=[^ ]*)//g' <<<"${MAKEFLAGS-}")
    export B CC AR SAN CFLAGS MAKEFLAGS
}

# -- tests --------------------------------------------------------------------------------------

# ok NAME: by the status of the command before, which it returns; prints what the last call() left
# if that is not 0.
ok()
{
    status=$?
    n=$((n + 1))
    if [ $status -eq 0 ]; then
        echo "ok $n - $1"
        return
    fi
    failed=$((failed + 1))
    echo "not ok $n - $1"
    [ -f "$work/err" ] && sed 's/^/# stderr: /' "$work/err" | head -8
    [ -f "$work/out" ] && sed 's/^/# stdout: /' "$work/out" | head -8
    return $status
}

skip()
{
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# none WHY: the end of a script that cannot test
none()
{
    echo "1..0 # SKIP $1"
    exit 0
}

# needs_cube8: else there is nothing to test
needs_cube8()
{
    [ -x "$SIM" ] && [ "$("$SIM" info --format csv | sed -n 's/^name,//p' | tail -1)" = cube8 ] ||
        none "$SIM is no simulator of cube8"
}

plan()
{
    echo "1..$n"
    [ $failed -eq 0 ]
}

# -- runs ---------------------------------------------------------------------------------------

# call COMMAND...: stdout to $work/out, stderr to $work/err, exit code to $code
call()
{
    code=0
    "$@" >"$work/out" 2>"$work/err" || code=$?
}

# run ARGUMENT...: the program that is tested; scripts may have another one
run()
{
    call "$SIM" "$@"
}

# page_data FILE FILTER...: what jq finds in the data of a page of `report`
page_data()
{
    sed -n '/<script type="application\/json" id=data>/,/<\/script>/p' "$1" |
        sed '1s/^<script[^>]*>//;$s/<.script>$//' | jq -c "${@:2}"
}

# says TEXT: stderr has it; without a process, as there are a thousand of these
says()
{
    local text

    IFS= read -r -d '' text <"$work/err"
    [[ $text == *"$1"* ]]
}

# signalled SIGNAL BYTES ARGUMENT...: sends it the signal once it has written so much; $code as of call
signalled()
{
    local signal=$1 bytes=$2 pid written

    shift 2
    env --default-signal "$SIM" "$@" >"$work/out" 2>"$work/err" & # else it would ignore SIGINT
    pid=$!
    while written=$(sed -n 's/^wchar: //p' /proc/$pid/io 2>/dev/null) && [ -n "$written" ] &&
        [ "$written" -lt "$bytes" ] && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    kill -"$signal" $pid 2>/dev/null
    code=0
    wait $pid || code=$?
}

# cpu FIELD PID: what it has used of a processor, in ms, by two fields of /proc/PID/stat from this one on;
# nothing once it has ended
cpu()
{
    local stat

    read -r stat 2>/dev/null <"/proc/$2/stat" || return
    read -ra stat <<<"${stat##*) }"
    [ "${stat[0]}" = Z ] || echo $(((stat[$1 - 3] + stat[$1 - 2]) * 10))
}

# worked MS PID: waits until it has worked so long: a machine under load makes no difference
worked()
{
    local used

    while used=$(cpu 14 "$2") && [ -n "$used" ] && [ "$used" -lt "$1" ]; do
        sleep 0.03
    done
}

# waits_for_more PID: until it listens for SIGINT and sleeps, so that it has read all there is, however busy the machine
waits_for_more()
{
    until [ ! -e "/proc/$1" ] || awk '/^State:/ { sleeps = $2 == "S" || $2 == "Z" }
        /^SigCgt:/ { listens = substr($2, length($2)) ~ /[2367abef]/ } END { exit !(sleeps && listens) }' "/proc/$1/status"; do
        sleep 0.02
    done 2>/dev/null
}

# while_reading FILE SIGNALS ARGUMENT...: the signals come, 10 ms apart, when it has read FILE on stdin and waits for
# more; $code as of call
while_reading()
{
    local file=$1 signals=$2 signal pid

    shift 2
    rm -f "$work/input" && mkfifo "$work/input"
    env --default-signal "$SIM" "$@" <"$work/input" >"$work/out" 2>"$work/err" &
    pid=$!
    exec 9>"$work/input"
    cat "$file" >&9
    waits_for_more $pid
    for signal in $signals; do
        kill -"$signal" $pid 2>/dev/null
        sleep 0.01
    done
    code=0
    wait $pid 2>/dev/null || code=$?
    exec 9>&-
}

# refused NAME CODE TEXT ARGUMENT...: this exit code, the text on stderr, nothing on stdout.
refused()
{
    name=$1 expected=$2 text=$3
    shift 3
    run "$@"
    [ $code -eq "$expected" ] && says "$text" && [ ! -s "$work/out" ]
    ok "$name"
}

# small BENCH: arguments that make it quick, and not a multiple of anything
small()
{
    case $1 in
    all_reduce) echo count=131 over=cubes ;;
    reduce_scatter | all_gather | all_to_all | broadcast) echo count=3 over=cubes ;;
    attention) echo H=3 S=33 T=150 D=17 ;;
    attention_ring) echo H=2 S=5 T=66 D=9 ;;
    copy) echo L=1009 ;;
    mlp_tp) echo M=7 N=41 K=33 ;;
    flash) echo H=3 S=77 D=41 BM=16 BT=24 ;;
    gather) echo M=101 L=67 D=9 ;;
    list_walk) echo N=101 L=23 ;;
    softmax | layernorm | threshold) echo M=67 N=33 ;;
    *) echo M=67 N=41 K=130 ;;
    esac
}

# many COUNT: a replay file of so many rows in many.csv.
many()
{
    awk -v n="$1" 'BEGIN {
        print "issue_ns,op,src,dst,offset,nbytes"
        for (i = 0; i < n; i++)
            printf "%d.%03d,%s,c%d.pe%d,c%d.slice%d,0,4K\n", i, i % 1000,
                i % 3 ? "read" : "write", i % 8, i * 7 % 8, int(i / 8) * 5 % 8, i * 3 % 8
    }' >many.csv
}

# -- comparisons --------------------------------------------------------------------------------

# field NAME ROW: a field of the CSV in $work/out, by the name of its column; row 1 is the first.
field()
{
    awk -F, -v name="$1" -v row="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == row + 1 && column { print $column }' "$work/out"
}

# equal NAME EXPECTED FOUND
equal()
{
    if [ "$2" != "$3" ]; then
        echo "# expected $2, found $3"
        false
    fi
    ok "$1"
}

# near NAME EXPECTED FOUND PART: within this part of the expected number
near()
{
    awk -v want="$2" -v got="$3" -v part="$4" 'BEGIN {
        d = got - want; exit !(got != "" && d <= part * want && -d <= part * want) }' ||
        { echo "# expected $2, found $3"; false; }
    ok "$1"
}

# same EXPECTED FOUND: two files (or what else diff takes); else shows how they differ
same()
{
    diff "$@" >"$work/diff" || { sed 's/^/# /' "$work/diff" | head -60; false; }
}

# nothing LINES: true if there are none; else shows them
nothing()
{
    [ -z "$1" ] || { echo "$1" | sed 's/^/# /'; false; }
}
