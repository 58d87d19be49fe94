#!/usr/bin/env bash
# waits.sh -- what a note of a launch says about waits: the key that it names makes the run shorter. Prints TAP.
#
# B names the build. Needs awk, sed and jq.
. "$(dirname "$0")/../support/tap.sh"

# timed TOPOLOGY ARGUMENT...: nanoseconds of the kernels in $ns
timed()
{
    local topology=$1
    shift
    call "$B/kernbench" run "$@" --machine "$root/topologies/$topology.yaml" --format json
    ns=$(jq -r '.rows[0].kernel_ns' out)
}

# helps NOTE KEY=VALUE TOPOLOGY ARGUMENT...: a note says "NOTE R times as long as its kernels run: ... KEY ...", and with that
# value, twice of what it was, or half, the run is shorter by two fifths of R at least, or of a half where R is more.
helps()
{
    local note=$1 set=$2 share before
    shift 2
    timed "$@"
    before=$ns
    share=$(sed -n "s/^[a-z_]*: $note \([0-9.]*\) times as long as its kernels run: .*${set%%=*} (twice as good: .*/\1/p" err)
    timed "$@" --set "$set"
    awk -v share="$share" -v before="$before" -v now="$ns" 'BEGIN {
        most = share > 0.5 ? 0.5 : share
        fell = (before - now) / before
        if (share < 0.1 || fell < 0.4 * most) { print "# told " share ", and " before " became " now; exit 1 } }'
    ok "$1: $note, and $set helps"
}

helps "sends wait for free slots" cube.pe.pe_ipcq.slots=8 v5p all_reduce count=65536 algorithm=halving
helps "sends wait for free slots" cube.pe.pe_ipcq.slot_bytes=8192 v5p all_reduce count=65536 algorithm=halving
helps "messages wait for a channel" cube.pe.pe_dma.write_channels=2 t3k all_reduce count=65536 over=cubes algorithm=ring inputs=same
helps "messages wait for a channel" cube.pe.pe_dma.write_channels=2 cube8 all_gather count=4096 algorithm=ring
helps "kernels pay for collectives" software.call_ns=2000 t3k all_gather count=64 over=cubes algorithm=line inputs=same \
    --set software.unit=cube --set software.call_ns=4000
helps "kernels pay for collectives" software.step_ns=500 t3k all_gather count=64 over=cubes algorithm=line inputs=same \
    --set software.unit=cube --set software.step_ns=1000

# Channels and slots that are waited for, behind links that are as busy: twice as many are worth nothing.
timed mi300x all_gather count=4096
before=$ns
! grep -q "times as long as" err
ok "mi300x: waits that end no sooner with more channels are not told of"
timed mi300x all_gather count=4096 --set cube.pe.pe_dma.write_channels=2
awk -v before="$before" -v now="$ns" 'BEGIN { exit !(before - now < 0.02 * before) }'
ok "and with two of them it takes as long"

# 782336 commands: what was waited for is known, what a key gains is not.
timed cube8 all_gather count=262144 algorithm=ring
grep -q "whether cube.pe.pe_ipcq.slots or cube.pe.pe_ipcq.slot_bytes binds is not tried in runs of more than 400000 commands" err &&
    ! grep -q "twice as good" err
ok "a long run: nothing is said of what a key gains"

# Links that are wide, slots and channels that suffice: there is nothing to tell.
timed v5p all_reduce count=65536 algorithm=ring
! grep -q "times as long as" err
ok "v5p: a ring that waits for neither is not told of"

plan
