# tap.sh -- what scripts of tests/e2e share: TAP, and one run of a simulator. To be sourced.
#
# B names the build, SIM the simulator of cube8 in it. Leaves the script in a folder of its own.
set -u
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${B:-$root/build}
case $B in /*) ;; *) B=$(pwd)/$B ;; esac
SIM=${SIM:-$B/cube8/cube8}
case $SIM in /*) ;; *) SIM=$(pwd)/$SIM ;; esac
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n=0
failed=0

# ok NAME: by the status of the command before; prints what the last run() left if it is not 0.
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
    [ -f err ] && sed 's/^/# stderr: /' err | head -5
    [ -f out ] && sed 's/^/# stdout: /' out | head -5
}

skip()
{
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# run ARGUMENT...: stdout to out, stderr to err, exit code to $code.
run()
{
    code=0
    "$SIM" "$@" >out 2>err || code=$?
}

says()
{
    grep -qF -- "$1" err
}

# refused NAME CODE TEXT ARGUMENT...: this exit code, the text on stderr, nothing on stdout.
refused()
{
    name=$1 expected=$2 text=$3
    shift 3
    run "$@"
    [ $code -eq "$expected" ] && says "$text" && [ ! -s out ]
    ok "$name"
}

# field NAME ROW: a field of the CSV in out, by the name of its column; row 1 is the first.
field()
{
    awk -F, -v name="$1" -v row="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == row + 1 { print $column }' out
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

plan()
{
    echo "1..$n"
    [ $failed -eq 0 ]
}
