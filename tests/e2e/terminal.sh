#!/usr/bin/env bash
# terminal.sh -- what stderr says when it is a terminal: progress and the closing line. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs python3, which provides the terminal (pty),
# and gcc for a clock that makes short runs appear long.
. "$(dirname "$0")/../support/tap.sh"
command -v python3 >where || none "no python3"
python3 -c 'import pty; pty.openpty()' 2>where || none "no terminal can be made: $(tail -n 1 where)"

gcc -shared -fPIC -o clock.so "$root/tests/support/clock.c" || none "no gcc"

cat >kept.py <<'END'
import os


def keep_what_comes(ours, theirs, name):
    """Writes to a file what a child prints on its terminal, until it has closed its end."""
    os.close(theirs)
    said = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:
            break
        if not more:
            break
        said += more
    open(name, "wb").write(said.replace(b"\r\n", b"\n"))
END
cat >terminal.py <<'END'
import os, pty, subprocess, sys
from kept import keep_what_comes
ours, theirs = pty.openpty()
env = dict(os.environ)
if sys.argv[1] == "long":
    env.update(LD_PRELOAD="./clock.so", ASAN_OPTIONS="verify_asan_link_order=0")
run = subprocess.Popen(sys.argv[2:], stderr=theirs, stdout=open("out", "wb"), env=env)
keep_what_comes(ours, theirs, "err")
sys.exit(run.wait())
END

# on_terminal ARGUMENT...: stderr, a terminal, to $work/err
on_terminal()
{
    code=0
    python3 terminal.py "${clock:-real}" "$SIM" "$@" || code=$?
}

# long_on_terminal ARGUMENT...: the same, and the run takes long
long_on_terminal()
{
    clock=long on_terminal "$@"
}

# closes NAME COUNT THINGS: the last line is the closing line
closes()
{
    number='[0-9.e+-]*'
    [ $code -eq 0 ] && tail -n 1 err | grep -qE \
        "^$2 $3 in $number (ns|us|ms|s): $number( thousand| million| billion)? $3/s; simulated $number (ns|us|ms|s), simulated/host time $number; peak memory [1-9][0-9]* MB\$"
    ok "$1"
}

# -- what is not for a terminal -----------------------------------------------------------------

# to_terminal COLUMNS ARGUMENT...: stdout, a terminal of that width, to $work/out, and its exit code
cat >stdout.py <<'END'
import fcntl, pty, struct, subprocess, sys, termios
from kept import keep_what_comes
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
run = subprocess.Popen(sys.argv[2:], stdout=theirs, stderr=open("err", "wb"))
keep_what_comes(ours, theirs, "out")
sys.exit(run.wait())
END
to_terminal()
{
    code=0
    python3 stdout.py "$1" "$SIM" "${@:2}" || code=$?
}

to_terminal 100 view cube
[ $code -eq 2 ] && [ ! -s out ] && grep -qx "cube8: view writes SVG, and this is a terminal: name a file, such as -o cube8.svg" err
ok "view prints no SVG on a terminal"
to_terminal 100 report probe
[ $code -eq 2 ] && [ ! -s out ] && says "report writes HTML, and this is a terminal: name a file, such as -o cube8.html"
ok "report prints no HTML there"
to_terminal 100 view cube -o cube.svg
[ $code -eq 0 ] && [ -s cube.svg ]
ok "a file is fine"
for width in 60 100 200; do
    to_terminal $width probe
    [ $code -eq 0 ] && [ "$(awk '{ print length }' out | sort -n | tail -1)" -le $width ] &&
        [ "$(head -1 out | wc -w)" -gt $((width / 15)) ]
    ok "a table fits a terminal of $width columns"
done

# -- the closing line ---------------------------------------------------------------------------

many 200000
mv many.csv large.csv
many 1000
on_terminal replay many.csv
closes "replay" 1000 transactions
equal "... simulated time is that of the last end" "$(tail -n +2 out | cut -d, -f11 | sort -n | tail -1 |
    awk '{printf "%.3g", $1 / 1000}')" "$(sed -n 's/.*simulated \([0-9.]*\) us.*/\1/p' err | awk '{printf "%.3g", $1}')"
on_terminal sweep --src c0.pe0 --dst 'c0.slice*' --inflight 1:3
closes "sweep" 48 transactions
on_terminal load --pattern local --rate 0.3 --txns 1000 --seeds 2
closes "load" '[12][0-9]{3}' transactions
on_terminal run softmax M=64 N=16 --verify
closes "run" "$("$SIM" run softmax M=64 N=16 --format csv --quiet >out; field ops 1)" operations
for command in 'replay many.csv' 'sweep --src c0.pe0 --dst c0.slice0' 'run softmax' 'load --pattern local --rate 0.1 --txns 20000'; do
    on_terminal $command --quiet
    [ $code -eq 0 ] && [ ! -s err ]
    ok "--quiet: none after ${command%% *}"
    run $command
    [ $code -eq 0 ] && ! says host
    ok "no terminal: none after ${command%% *}"
done
for command in 'replay many.csv' 'run softmax'; do
    on_terminal $command --fingerprint
    [ $code -eq 0 ] && [ "$(wc -l <err)" -eq 1 ] && grep -qx 'fingerprint [0-9a-f]*' err
    ok "--fingerprint stands alone after ${command%% *}"
done
for command in 'replay large.csv -o out' 'load --pattern local --rate 0.3 --txns 100000 --seeds 1 -o out'; do
    code=0
    LD_PRELOAD=./clock.so ASAN_OPTIONS=verify_asan_link_order=0 "$SIM" $command 2>err || code=$?
    [ $code -eq 0 ] && ! says transactions
    ok "no terminal: none after ${command%% *}, however long it takes"
done
on_terminal probe
[ $code -eq 0 ] && [ ! -s err ]
ok "commands that answer at once say nothing"

# -- progress -----------------------------------------------------------------------------------

cat >lines.py <<'END'
import re, sys
things = sys.argv[1]
said = open("err", newline="").read()
shown = said[:said.rindex("\r") + 1].split("\r")[1:]
last, before = 0.0, None  # what is counted before: reading is the first, running the second
lines = [s for s in shown if "%" in s]
assert len(lines) >= 2, "two lines or more"
for line in lines:
    m = re.fullmatch(r" *([0-9.]+) % of ([0-9]+) (?P<things>" + things + r")(, (?P<time>[0-9.]+ (s|min|h) (left|so far)))? *", line)
    assert m, line
    part = float(m[1])
    if m["things"] != before:
        last, before = 0.0, m["things"]
    assert last <= part <= 100, line
    assert part < 0.1 or m["time"].endswith("left"), line
    last = part
assert shown[-2].strip() == "" and len(shown[-2]) >= max(map(len, lines)), "wiped"
END

# long NAME THINGS ARGUMENT...: a run of more than two seconds, by its clock
long()
{
    local name=$1 things=$2

    shift 2
    long_on_terminal "$@"
    [ $code -eq 0 ] && python3 lines.py "$things" 2>why
    ok "$name" || sed 's/^/# /' why
}

long "load: progress, and what is left of it when it has ended" transactions \
    load --pattern uniform --rate 0.5 --engine hop -j 1 --txns 100000
long "sweep" points sweep --src c0.pe0 --dst 'c*.slice*' -j 1 --engine hop --inflight 1:100
long "replay" '(transactions|MiB read)' replay large.csv --engine hop
closes "... and the closing line behind it" 200000 transactions
long "run, Phase 2" '(launches|operations computed)' run gemm M=256 N=256 K=256 --verify=ops -j 1

# A reference does not say how far it is.
long_on_terminal run attention S=128 D=100 T=1024 --verify
[ $code -eq 0 ] && [ "$(tr '\r' '\n' <err | grep -c '^verifying, [0-9]* s so far')" -ge 2 ] &&
    tr '\r' '\n' <err | grep -A1 '^verifying' | tail -n 1 | grep -q '^ *$'
ok "run, verification: the time that it takes, wiped"
long_on_terminal load --pattern uniform --rate 0.5 --engine hop -j 1 --txns 100000 --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "--quiet: no progress"
call env LD_PRELOAD=./clock.so ASAN_OPTIONS=verify_asan_link_order=0 "$SIM" \
    load --pattern uniform --rate 0.5 --engine hop -j 1 --txns 100000
! grep -q -e % -e "$(printf '\r')" <(sed '/links are ideal/d' err)
ok "no terminal: no progress"
plan
