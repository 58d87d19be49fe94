#!/usr/bin/env bash
# terminal.sh -- what stderr says when it is a terminal: progress and the closing line. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs python3, which provides the terminal (pty).
. "$(dirname "$0")/../support/tap.sh"
command -v python3 >where || none "no python3"
python3 -c 'import pty; pty.openpty()' 2>where || none "no terminal can be made: $(tail -n 1 where)"

cat >terminal.py <<'END'
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
run = subprocess.Popen(sys.argv[1:], stderr=theirs, stdout=open("out", "wb"))
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
open("err", "wb").write(said.replace(b"\r\n", b"\n"))
sys.exit(run.wait())
END

# on_terminal ARGUMENT...: stderr, a terminal, to $work/err
on_terminal()
{
    code=0
    python3 terminal.py "$SIM" "$@" || code=$?
}

# closes NAME COUNT THINGS: the last line is the closing line
closes()
{
    number='[0-9.e+-]*'
    [ $code -eq 0 ] && tail -n 1 err | grep -qE \
        "^$2 $3 in $number (ns|us|ms|s): $number( thousand| million| billion)? $3/s; simulated $number (ns|us|ms|s), simulated/host time $number; peak memory [1-9][0-9]* MB\$"
    ok "$1"
}

# -- the closing line ---------------------------------------------------------------------------

many 4000000
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
# Held up for longer than a second, however fast the machine is.
"$SIM" load --pattern local --rate 0.3 --txns 20000000 --seeds 1 -o out 2>err &
held=$!
sleep 0.1
kill -STOP $held
sleep 1.2
kill -CONT $held
wait $held
grep -q '^[0-9]* transactions in .*; simulated .* peak memory' err
ok "no terminal: a run of more than a second closes with it"
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

# long NAME THINGS COMMAND SIZE...: with the first size that takes longer than two seconds
long()
{
    local name=$1 things=$2 command=$3 size
    shift 3
    for size in "$@"; do
        on_terminal ${command//SIZE/$size}
        [ "$(tr '\r' '\n' <err | grep -c %)" -lt 3 ] || break
    done
    [ "$(tr '\r' '\n' <err | grep -c %)" -ge 3 ] || { skip "$name" "this machine is too fast"; return; }
    [ $code -eq 0 ] && python3 lines.py "$things" 2>why
    ok "$name" || sed 's/^/# /' why
}

long "load: progress, and what is left of it when it has ended" transactions \
    'load --pattern uniform --rate 0.5 --engine hop -j 1 --txns SIZE' 1000000 4000000 16000000
long "sweep" points "sweep --src c0.pe0 --dst c*.slice* -j 1 --engine hop --inflight 1:SIZE" 500 1500 4000
long "replay" '(transactions|MiB read)' 'replay large.csv --engine hop' 1
closes "... and the closing line behind it" 4000000 transactions
long "run, Phase 2" '(launches|operations computed)' 'run gemm M=512 N=512 K=SIZE --verify=ops -j 1' 1024 4096 16384

# A reference does not say how far it is.
verifies()
{
    local size
    for size in 1024 4096 16384; do
        on_terminal run attention S=512 D=100 T=$size --verify
        [ "$(tr '\r' '\n' <err | grep -c '^verifying, [0-9]* s so far')" -lt 2 ] || break
    done
    [ "$(tr '\r' '\n' <err | grep -c '^verifying, [0-9]* s so far')" -ge 2 ] || { skip "$1" "this machine is too fast"; return; }
    [ $code -eq 0 ] && tr '\r' '\n' <err | grep -A1 '^verifying' | tail -n 1 | grep -q '^ *$'
    ok "$1"
}

verifies "run, verification: the time that it takes, wiped"
on_terminal load --pattern uniform --rate 0.5 --engine hop -j 1 --txns 1000000 --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "--quiet: no progress"
run load --pattern uniform --rate 0.5 --engine hop -j 1 --txns 1000000
! grep -q -e % -e "$(printf '\r')" <(sed '/links are ideal/d' err)
ok "no terminal: no progress"
plan
