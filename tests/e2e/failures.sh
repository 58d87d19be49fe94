#!/usr/bin/env bash
# failures.sh -- calls of the system that fail, and what an input or a user can do to a simulator:
# the right exit code, a message, nothing half done. TAP on stdout. SAMPLE is how many calls of each
# kind and command fail; all: every one. `make check-failures` does that.
# Not for sanitizers, which bring an allocator of their own, nor for --coverage, which allocates at exit.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
KBGEN=${KBGEN:-$B/kbgen}
case $KBGEN in /*) ;; *) KBGEN=$root/$KBGEN ;; esac
SAMPLE=${SAMPLE:-1}

# fails KIND NTH COMMAND...: runs it with that call failing
fails()
{
    local kind=$1 nth=$2
    shift 2
    FAIL_KIND=$kind FAIL_AT=$nth LD_PRELOAD=$work/failures.so call "$@"
}

if nm "$SIM" | grep -q '__\(asan_init\|tsan_init\|ubsan_handle\|gcov_\)'; then
    skip "calls that fail" "a sanitizer or --coverage allocates, too"
else
    ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -O1 -o failures.so "$root/tests/support/failures.c"
    ok "the calls that fail build"
    [ "$SAMPLE" = all ] || sample="--sample $SAMPLE"
    # shellcheck disable=SC2086
    python3 "$root/tests/failures/failures.py" "$SIM" failures.so ${sample:-} -j "${JOBS:-2}" >table
    status=$?
    lines=$(grep -c '^ok\|^not ok' table)
    sed -n 's/^not ok/# &/; /^#/p' table
    [ $status -eq 0 ]
    ok "whichever call fails, over $lines command lines: exit 5 and a message, or the same output"
    for kind in open read; do
        fails $kind 1 "$KBGEN" "$root/topologies/cube1.yaml"
        [ $code -eq 5 ] && says "cannot be read" && [ ! -s out ]
        ok "kbgen: $kind fails: exit 5"
    done
fi

# -- what is read --------------------------------------------------------------------------------

for file in /dev/zero -; do
    call timeout 60 "$SIM" replay $file --quiet </dev/zero
    [ $code -eq 3 ] && says ":1:1: the line is longer than 64 MiB, and not read to its end"
    ok "replay $file: a first line without an end"
done
name=$(printf 'a\033[31mb\nc\302\233d\377')
refused "a name with control characters is shown without them" 3 'cannot read a\x1b[31mb\x0ac\xc2\x9bd\xff: No such file' \
    replay "$name"
printf '%s\n' x >"$name"
for command in "diff $name $name" "view --stats $name" "replay $name" "load --rate 0.1 --pattern matrix:$name" \
    "sweep --src $name --dst c0.slice0" "run $name" "run gemm $name=1" "route $name c0.slice0" "probe --case $name" \
    "--$name" "$name" "replay rows.csv -o no/$name" "run softmax --dump $name/$name --quiet" "replay rows.csv --sqlite no/$name" \
    "run softmax --oplog no/$name" "replay rows.csv --trace $name/t.json" "replay rows.csv --stats no/$name.csv"; do
    IFS=' ' read -rd '' -a words <<<"$command"
    words[-1]=${words[-1]%$'\n'}
    run "${words[@]}"
    [ $code -ne 0 ] && [ -s err ] && ! LC_ALL=C grep -q $'[\001-\010\013-\037\177-\377]' err || echo "$command: $code"
done >raw
nothing "$(cat -v raw)"
ok "nor in any other message"
call "$KBGEN" "$name"
[ $code -ne 0 ] && ! LC_ALL=C grep -q $'[\001-\010\013-\037\177-\377]' err && [ "$(wc -l <err)" -eq 1 ]
ok "nor in those of kbgen"

# -- a file system that has no files without a name ---------------------------------------------

cat >named.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if ((flags & O_TMPFILE) != O_TMPFILE)
        return openat(AT_FDCWD, path, flags, mode);
    errno = EOPNOTSUPP;
    return -1;
}
END
if nm "$SIM" | grep -q '__\(asan_init\|tsan_init\|ubsan_handle\)'; then
    skip "files with a name until they are whole" "a sanitizer opens files, too"
else
    ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -O1 -o named.so named.c
    mkdir tmp with without
    log="run gemm M=64 N=64 K=64 --oplog-limit 4K --quiet -o r.csv --oplog ops.jsonl"
    # shellcheck disable=SC2086
    (cd without && TMPDIR=$work/tmp call "$SIM" $log && [ $code -eq 0 ]) &&
        (cd with && LD_PRELOAD=$work/named.so TMPDIR=$work/tmp call "$SIM" $log && [ $code -eq 0 ]) &&
        same -r without with && [ "$(ls -A with | wc -l)" -eq 2 ] && [ -z "$(ls -A tmp)" ]
    ok "files with a name until they are whole: the same files, and no other"
fi

# -- limits --------------------------------------------------------------------------------------

for kib in 32 64 128 256; do
    for command in "replay $root/benches/one_slice.csv" "run softmax M=8 N=32 --verify" "report probe" list; do
        # shellcheck disable=SC2086
        code=$(ulimit -s $kib && "$SIM" $command >out 2>err; echo $?) 2>/dev/null
        [ "$code" = 0 ] || { [ "$code" = 5 ] && says "the stack is too small"; } || echo "$kib $command: $code"
    done
done >small
nothing "$(cat small)"
ok "a small stack: as always, or a message"
touch o.csv && chmod 6755 o.csv
run probe --case h2d --format csv -o o.csv
equal "a file that is replaced does not keep the right to run as its owner" 755 "$(stat -c %a o.csv)"
plan
