#!/usr/bin/env bash
# taps.sh -- what tests/run.sh says of programs that run other tests than they plan.
#
# TAP on stdout.
. "$(dirname "$0")/../support/tap.sh"

# judged NAME CODE LAST TEXT LINE...: a script of these lines
judged()
{
    local name=$1 want=$2 last=$3 text=$4

    shift 4
    printf '%s\n' "$@" >script.sh
    call bash "$root/tests/run.sh" script.sh
    [ $code = "$want" ] && [ "$(tail -n 1 out)" = "$last" ] && { [ -z "$text" ] || grep -qF -- "$text" out; }
    ok "$name"
}

judged "all tests that were planned" 0 "2 passed, 0 failed" '' 'echo ok 1; echo ok 2 - two; echo 1..2'
judged "the plan may come first" 0 "2 passed, 0 failed" '' 'echo 1..2; echo ok 1; echo ok 2'
judged "a script that ends early" 1 "1 passed, 1 failed" "not ok - script.sh planned 3 tests and ran 1" 'echo 1..3; echo ok 1'
judged "before it prints its plan" 1 "1 passed, 1 failed" "not ok - script.sh printed no plan: it ended early" 'echo ok 1' 'exit 0' 'echo 1..1'
judged "by a mistake of the shell" 1 "1 passed, 1 failed" "ended with 2, printed no plan" 'echo ok 1' 'if then' 'echo 1..1'
judged "more tests than planned" 1 "2 passed, 1 failed" "planned 1 tests and ran 2" 'echo 1..1; echo ok 1; echo ok 2'
judged "two plans" 1 "2 passed, 1 failed" "printed several plans: 1, 1" 'echo 1..1; echo ok 1; echo 1..1; echo ok 1'
judged "a test that fails is counted once" 1 "1 passed, 1 failed" "not ok 2" 'echo ok 1; echo not ok 2; echo 1..2; exit 1'
judged "and beside it what was not run" 1 "1 passed, 2 failed" "planned 3 tests and ran 2" 'echo ok 1; echo not ok 2; echo 1..3; exit 1'
judged "a test that is left out" 0 "1 passed, 0 failed" "1 skipped" 'echo ok 1; echo "ok 2 - b # SKIP no"; echo 1..2'
judged "a script that cannot test" 0 "0 passed, 0 failed" "1 skipped" 'echo "1..0 # SKIP no gdb"'
judged "that does not say why" 1 "0 passed, 1 failed" "ended with 0" 'echo 1..0'
judged "a script that prints nothing" 1 "0 passed, 1 failed" "ended with 0, printed no plan" 'exit 0'
judged "one that is killed behind its last test" 1 "1 passed, 1 failed" "ended with 137" 'echo ok 1; echo 1..1; kill -9 $$'
plan
