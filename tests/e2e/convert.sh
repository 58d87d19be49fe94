#!/usr/bin/env bash
# convert.sh -- examples/tt_npe_to_csv.py: rows from tt-npe's JSON, and their replay. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs python3.
. "$(dirname "$0")/../support/tap.sh"
command -v python3 >/dev/null || none "there is no python3"
cp "$root"/examples/tt_npe_*.json .

# run ARGUMENT...: a traceback is a failure, not a refusal
run()
{
    call python3 "$root/examples/tt_npe_to_csv.py" "$@"
    ! says Traceback || code=99
}

# converted NAME ARGUMENT...: the output is that on stdin.
converted()
{
    local name=$1

    shift
    cat >expected
    run "$@"
    [ $code -eq 0 ] && same expected out
    ok "$name"
}

# replayed NAME: the CSV in out, to the columns id,issue_ns,end_ns,actual_ns on stdin.
replayed()
{
    cat >expected
    cp out in.csv
    "$SIM" replay in.csv --quiet 2>err | cut -d, -f1,6,11,21 >out
    same expected out
    ok "$1"
}

converted "a workload: packets, a read, a multicast, 1.25 GHz" --ghz 1.25 tt_npe_workload.json <<'END'
issue_ns,op,src,dst,offset,nbytes
0,write,c0.pe0,c0.slice0,0,4096
100,read,c0.pe1,c0.slice0,0,4096
200,write,c0.pe1,c0.slice2,0,64
200,write,c0.pe1,c0.slice3,0,64
END
# docs/model.md "Stations and queues": 4096 B, pe0->slice0 18.085, pe1->slice0 36.095
replayed "and its replay" <<'END'
id,issue_ns,end_ns,actual_ns
0,0.000000,18.085000,18.085000
1,100.000000,136.095000,36.095000
2,200.000000,204.595000,4.595000
3,200.000000,211.200000,11.200000
END
printf '%s\n' 1,1,c0.pe0,c0.slice0 2,1,c0.pe1,c0.slice1 1,2,c0.pe2,c0.slice2 2,2,c0.pe3,c0.slice3 >map
converted "planes, and of a multicast the last core on NOC_1" --planes --multicast last --map map tt_npe_workload.json <<'END'
issue_ns,op,src,dst,offset,nbytes,plane
0,write,c0.pe0,c0.slice0,0,4096,noc0
125,read,c0.pe1,c0.slice0,0,4096,noc0
250,write,c0.pe1,c0.slice2,0,64,noc1
END
sed 's/NOC_1/NOC_0/; /"packet_size": 4096/{n;s/"noc_type": "NOC_0",$//}' tt_npe_workload.json >south.json
converted "on NOC_0; no plane where none is named" --planes --multicast last --map map south.json <<'END'
issue_ns,op,src,dst,offset,nbytes,plane
0,write,c0.pe0,c0.slice0,0,4096,noc0
125,read,c0.pe1,c0.slice0,0,4096,
250,write,c0.pe1,c0.slice3,0,64,noc0
END
converted "a trace: state, barriers, by time" tt_npe_trace.json <<'END'
issue_ns,op,src,dst,offset,nbytes
5,read,c0.pe1,c0.slice0,0,4096
5,read,c0.pe2,c0.slice2,0,256
110,write,c0.pe1,c0.slice2,0,4096
END
[ "$(cat err)" = "left out: 1 SEMAPHORE_INC
left out: 1 zones and the like" ]
ok "what is left out is said"
converted "a trace with barriers to wait for" --after tt_npe_trace.json <<'END'
issue_ns,op,src,dst,offset,nbytes,after,think_ns
5,read,c0.pe1,c0.slice0,0,4096,,0
5,read,c0.pe2,c0.slice2,0,256,,0
0,write,c0.pe1,c0.slice2,0,4096,0,5
END
replayed "and its replay: 36.095, 5 of thinking, 36.095" <<'END'
id,issue_ns,end_ns,actual_ns
0,5.000000,41.095000,36.095000
1,5.000000,8.085000,3.085000
2,46.095000,82.190000,36.095000
END
converted "barriers and planes" --after --planes tt_npe_trace.json <<'END'
issue_ns,op,src,dst,offset,nbytes,after,think_ns,plane
5,read,c0.pe1,c0.slice0,0,4096,,0,noc0
5,read,c0.pe2,c0.slice2,0,256,,0,noc0
0,write,c0.pe1,c0.slice2,0,4096,0,5,noc1
END
printf '%s\n' '# x,y,pe,memory' '' 0,0,,c3.sram 1,1,c5.pe6,c5.slice6 '2, 1, c5.pe7, c5.slice7' >map
converted "a map" --map map tt_npe_trace.json <<'END'
issue_ns,op,src,dst,offset,nbytes
5,read,c5.pe6,c3.sram,0,4096
5,read,c5.pe7,c5.slice7,0,256
110,write,c5.pe6,c5.slice7,0,4096
END
sed '2,$s/"proc"/"src_device_id": 4, "proc"/; $!b' tt_npe_trace.json >devices.json
sed -i 's/"src_device_id": 4, "proc": "BRISC"/"src_device_id": 9, "proc": "BRISC"/' devices.json
converted "devices are SIPs; one PE a cube" --pes 1 devices.json <<'END'
issue_ns,op,src,dst,offset,nbytes
5,read,c1.pe0,c0.slice0,0,4096
5,read,s1.c2.pe0,s1.c2.slice0,0,256
110,write,c1.pe0,c2.slice0,0,4096
END
echo '[]' >none.json
converted "no events" none.json <<'END'
issue_ns,op,src,dst,offset,nbytes
END
run -o made.csv tt_npe_trace.json
[ $code -eq 0 ] && [ ! -s out ] && [ "$(wc -l <made.csv)" -eq 4 ]
ok "-o"

refused "a file that is not there" 3 "cannot read absent: No such file" absent
refused "a folder" 3 "cannot read .: Is a directory" .
printf '{"phases": [\n  {]}' >bad.json
refused "no JSON: the place is named" 3 "bad.json:2:4: " bad.json
printf '\377' >bad.json
refused "no UTF-8" 3 "bad.json: " bad.json
echo 7 >bad.json
refused "another kind of JSON" 3 "bad.json: neither a workload with 'phases' nor a list of events" bad.json
echo '{"phases": {}}' >bad.json
refused "phases that are no list" 3 "bad.json: phases is not a list" bad.json
echo '{"phases": [{"transfers": [3]}]}' >bad.json
refused "a transfer that is none" 3 "bad.json: phases[0]: transfers[0] is not an object" bad.json
sed 's/"src_x": 1,//' tt_npe_workload.json >bad.json
refused "a key that is missing" 3 "transfers[0]: 'src_x' is missing" bad.json
sed 's/"num_bytes": 256/"num_bytes": -1/' tt_npe_trace.json >bad.json
refused "bytes below 0" 3 "event[7]: 'num_bytes' is -1, not a whole number from 0" bad.json
sed 's/"noc": "NOC_1"/"noc": "#1"/' tt_npe_trace.json >bad.json
refused "a NoC without a name" 3 "event[5]: 'noc' is \"#1\", not the name of a NoC" --planes bad.json
sed '/SET_STATE/d' tt_npe_trace.json >bad.json
refused "state that was never set" 3 "WRITE_WITH_STATE without WRITE_SET_STATE before it" bad.json
refused "more cores than PEs" 3 "3 cores, but the machine has 1 * 2 PEs" --pes 2 --cubes 1 tt_npe_trace.json
echo 1,2,c0.pe0 >map
refused "a map with a field too few" 3 "map:1: not x,y,pe,memory" --map map tt_npe_trace.json
echo 1,1,c0.pe0,c0.slice0 >map
refused "a core that the map lacks" 3 "core 0,0 has no memory in the map" --map map tt_npe_trace.json
refused "a clock of nothing" 2 "'0' is not a number above 0" --ghz 0 tt_npe_trace.json
refused "an output that cannot be" 5 "cannot write absent/x" -o absent/x tt_npe_trace.json

# A file may end anywhere, and have any mistake: there is a message, never a traceback.
for file in tt_npe_trace.json tt_npe_workload.json; do
    for ((i = 0; i < $(wc -c <$file); i += 97)); do
        head -c $i $file >cut.json
        run cut.json
        [ $code -eq 3 ] && [ ! -s out ] || break 2
    done
done
[ $code -eq 3 ]
ok "files that end too early"

plan
