#!/usr/bin/env bash
# run.sh -- runs test programs and scripts that print TAP, and counts every test of them.
#
# usage: run.sh PROGRAM...; prints failures, in the order of the programs, and last "N passed, N failed".
# JOBS programs run at a time (as many as there are processors). In a build with --coverage COUNTS names a
# folder for what each program counts, below its name.
set -u

jobs=${JOBS:-$(nproc)}
export CMOCKA_MESSAGE_OUTPUT=TAP
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The system's python3, where another one comes first: that may be the script of a version manager, or begin with the
# packages of a user, which takes longer than most of our tests.
mkdir "$work/bin"
[ ! -x /usr/bin/python3 ] || ln -s /usr/bin/python3 "$work/bin/python3"
PATH=$work/bin:$PATH

# Of the programs in PERTURBED what they get of malloc(), and what they give back, is full of this byte (of glibc).
fill=165

# one NUMBER PROGRAM: runs it; leaves its output, then a line "code seconds user system"
one() {
    local TIMEFORMAT='%R %U %S' code

    [ -z "${COUNTS-}" ] || export GCOV_PREFIX=$COUNTS/$(basename "$2")
    {
        time case $2 in
        *.sh) bash "$2" >"$work/out.$1" 2>&1 ;;
        *)
            case " ${PERTURBED-} " in *" $(basename "$2") "*) export MALLOC_PERTURB_=$fill ;; esac
            ${RUNNER:-} "$2" >"$work/out.$1" 2>&1
            ;;
        esac
    } 2>"$work/time.$1"
    code=$?
    sed '$d' "$work/time.$1" >>"$work/out.$1" # what the shell says of a crash
    echo "$code $(tail -n 1 "$work/time.$1")" >"$work/new.$1"
    mv "$work/new.$1" "$work/code.$1"
}

passed=0 failed=0 skipped=0 shown=0

# unplanned FILE: what is wrong with the plan in it, "1..N" for N tests, before or behind them; nothing: all is well
unplanned() {
    local plans tests

    plans=$(sed -nE 's/^1\.\.([0-9]+)( *#.*)?$/\1/p' "$1")
    tests=$(grep -cE '^(not )?ok\b' "$1")
    case $plans in
    '') echo "printed no plan: it ended early" ;;
    *$'\n'*) echo "printed several plans: ${plans//$'\n'/, }" ;;
    "$tests") ;;
    *) echo "planned $plans tests and ran $tests" ;;
    esac
}

# show PROGRAM: counts and prints the tests of the next program in order
show() {
    local out=$work/out.$shown code seconds user system skip ok bad wrong

    read -r code seconds user system <"$work/code.$shown"
    skip=$(grep -c -e '^\(not \)\?ok .*# SKIP' -e '^1\.\.0 # SKIP' "$out")
    ok=$(grep '^ok ' "$out" | grep -vc '# SKIP')
    bad=$(grep '^not ok ' "$out" | grep -vc '# SKIP')
    wrong=$(unplanned "$out")
    # a program that ended badly, or tested nothing, without saying so is a failure of its own
    if [ "$bad" = 0 ] && { [ "$code" != 0 ] || [ $((ok + skip)) = 0 ]; }; then
        wrong="ended with $code${wrong:+, $wrong}"
    fi
    # so is one that ran other tests than it planned: whether those that lack would pass is not known
    if [ -n "$wrong" ]; then
        bad=$((bad + 1))
        echo "not ok - $1 $wrong" >>"$out"
    fi
    printf '%-28s %5d passed %3d failed %4.0f s, processor %5.1f s\n' "$(basename "$1")" "$ok" "$bad" \
        "${seconds//[!0-9]/}e-3" "$((10#${user//[!0-9]/} + 10#${system//[!0-9]/}))e-3"
    [ "$bad" = 0 ] || grep -v '^ok ' "$out" | tail -n 60
    rm "$out"
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    shown=$((shown + 1))
}

show_finished() {
    while [ -f "$work/code.$shown" ]; do
        show "${programs[shown]}"
    done
}

programs=("$@")
for number in "${!programs[@]}"; do
    [ "$number" -lt "$jobs" ] || wait -n
    show_finished
    one "$number" "${programs[number]}" &
done
while [ $shown -lt ${#programs[@]} ]; do
    wait -n || [ $? != 127 ] || break
    show_finished
done
[ "$skipped" = 0 ] || echo "$skipped skipped: this build lacks what they test"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
