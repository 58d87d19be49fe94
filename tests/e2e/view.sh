#!/usr/bin/env bash
# view.sh -- pictures: what stands where, how busy it is coloured, plots, messages. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs python3; dot of Graphviz if it is there.
. "$(dirname "$0")/../support/tap.sh"
KBGEN=${KBGEN:-$B/kbgen}
case $KBGEN in /*) ;; *) KBGEN=$root/$KBGEN ;; esac
needs_cube8
judge=$root/tests/pictures/judge.py
cube8=$SIM

# -- pictures of topologies ---------------------------------------------------------------------

# judged TOPOLOGY YAML LEVEL SIP CUBE PE [ARGUMENT]...: by its keys
judged()
{
    local sim=$M/$1/$1
    [ "$1" = cube8 ] && sim=$cube8
    if [ ! -x "$sim" ]; then
        skip "$1 $3" "no $1"
        return
    fi
    "$KBGEN" --keys "$root/$2" >keys && call "$sim" view "$3" "${@:7}" && [ $code -eq 0 ] &&
        [ ! -s err ] && mv out picture && call python3 "$judge" picture keys "$3" "$4" "$5" "$6" &&
        [ $code -eq 0 ]
    ok "$1 $3 ${*:7}: all nodes and edges, once, in their places, with their bandwidths"
}

for level in system sip cube pe; do
    judged cube8 tests/machines/cube8.yaml $level 0 0 0
    judged tray32 tests/machines/tray32.yaml $level 0 0 0
    judged cube1 tests/machines/cube1.yaml $level 0 0 0
    for v in 0 1 2 3 4 5; do
        judged vec$v tests/vectors/vec$v.yaml $level 0 0 0
    done
done
judged tray32 tests/machines/tray32.yaml sip 1 0 0 --at s1
judged tray32 tests/machines/tray32.yaml cube 1 0 0 --at s1
judged tray32 tests/machines/tray32.yaml cube 1 13 0 --at s1.c13
judged tray32 tests/machines/tray32.yaml cube 0 15 0 --at c15
judged cube8 tests/machines/cube8.yaml pe 0 7 5 --at c7.pe5
judged tray32 tests/machines/tray32.yaml pe 1 3 2 --at s1.c3.pe2
judged cube8 tests/machines/cube8.yaml pe 0 3 0 --at c3

run view && cp out first && run view sip && same first out
ok "without a name it is the SIP, if there is one alone"
if [ -x "$M/tray32/tray32" ]; then
    "$M/tray32/tray32" view >first && "$M/tray32/tray32" view system >out && same first out
    ok "and the system of several"
else
    skip "and the system of several" "no tray32"
fi
for level in system sip cube pe; do
    run view $level && cp out first && run view $level --quiet && same first out
    ok "$level: the same bytes twice"
done
run view cube -o cube.svg && [ $code -eq 0 ] && [ ! -s out ] && run view cube && same cube.svg out
ok "-o writes what is printed else"

# ids: all begin with the picture's name, none comes twice, and what refers to one finds it
run view cube
python3 - out <<'END_PY'
import sys, xml.etree.ElementTree as xml
elements = list(xml.parse(sys.argv[1]).getroot().iter())
ids = [e.get("id") for e in elements if e.get("id")]
assert ids and len(ids) == len(set(ids)) and all(i.startswith("cube-") for i in ids), ids
assert elements[0].get("aria-labelledby") in ids
END_PY
ok "ids are the picture's own"
run view
grep -q '@media (prefers-color-scheme:dark)' out && grep -q 'fill:var(--kb-ink,' out
ok "colours for light and for dark pages"

# -- machines of any shape ------------------------------------------------------------------------

# shaped NAME LEVEL EXPRESSION [ARGUMENT]...: of tests/pictures/shapes.py, true of the picture
shaped()
{
    local sim=$M/shape_$1/shape_$1
    if [ ! -x "$sim" ]; then
        skip "$1 $2: $3" "no shape_$1"
        return
    fi
    call "$sim" view "$2" "${@:4}" && [ $code -eq 0 ] && [ ! -s err ] && mv out picture &&
        call python3 "$root/tests/pictures/shapes.py" picture "$3" && [ $code -eq 0 ]
    ok "$1 $2 ${*:4}: $3"
}

for shape in ring planes holes kinds shores grid; do
    for level in system sip cube pe; do
        shaped $shape $level 'len(nodes) > 3 and no_overlap()'
    done
    if [ -x "$M/shape_$shape/shape_$shape" ]; then
        call "$M/shape_$shape/shape_$shape" report probe -o page.html && [ $code -eq 0 ] && python3 - <<'END_PY'
import re, xml.etree.ElementTree as xml
pictures = re.findall(r"<svg.*?</svg>", open("page.html").read(), re.S)
levels = [g.get("data-level") for p in pictures for g in xml.fromstring(p).iter() if g.get("data-level")]
assert levels[-3:] == ["sip", "cube", "pe"], levels
END_PY
        ok "$shape: a report"
    else
        skip "$shape: a report" "no shape_$shape"
    fi
done
shaped ring sip 'len(d2d) == 24 and len(wraps) == 4 and not one_way and texts.count("c3") == 2'
shaped planes sip 'len(one_way) == len(d2d) == 24 and len(wraps) == 10'
shaped planes sip 'all(whole_heads(e) == (2 if e in wraps else 1) for e in one_way)'
shaped planes sip '("sip0.cube2.ucie-E.noc0", "sip0.cube0.ucie-W.noc0") in wraps'
shaped planes cube 'sum(".ucie-" in n for n in nodes) == 8 and sum(".noc.noc1" in a for a, b in edges) == 8 * 3 + 6'
shaped planes pe 'sum(".noc.noc" in a for a, b in edges) == 4'
shaped holes sip 'list(missing) == ["sip0.cube8"] and is_hatched(missing["sip0.cube8"]) and "sip0.cube8" not in nodes'
shaped holes sip 'not any("cube8" in end for e in edges for end in e) and "4 of 8 PEs" in texts and "7 of 8 PEs" in texts'
shaped holes sip 'one_way == {("sip0.cube2.ucie-W", "sip0.cube1.ucie-E")} and whole_heads(*one_way) == 1 and len(d2d) == 17'
shaped holes system 'list(missing) == ["sip0.cube8"] and is_hatched(missing["sip0.cube8"])'
shaped holes cube 'len(missing) == 4 and all(map(is_hatched, missing.values())) and "sip0.cube1.pe4" in missing' --at c1
shaped holes cube '"sip0.cube2.pe0.pe_dma" not in nodes and "sip0.cube2.xbar.pe0" in nodes' --at c2
shaped kinds sip '{t for t in texts if t.endswith("*")} == {"c1*", "c2*", "c5*"} and "4 slices" in texts and "5 PEs" in texts'
shaped shores sip 'box("sip0.io0.io_noc")[0] > box("sip0.cube2")[0] and box("sip0.io1.io_noc")[1] < box("sip0.cube0")[1]'
shaped ring system 'len(d2d) == 24 and len(wraps) == 4 and not one_way and texts.count("c3") == 2'
shaped planes system 'len(one_way) == len(d2d) == 24 and len(wraps) == 10'
shaped holes system 'one_way == {("sip0.cube2.ucie-W", "sip0.cube1.ucie-E")} and len(d2d) == 17'
shaped grid system '{a.split(".")[0] for a, b in d2d} == {f"sip{s}" for s in range(4)}'
shaped shores system '{b for a, b in edges if a == "sip0.io0.io_noc"} == {f"sip0.cube{c}.ucie-E" for c in (2, 5)}'
shaped shores system '{b for a, b in edges if a == "sip0.io1.io_noc"} == {f"sip0.cube{c}.ucie-N" for c in (0, 1, 2)}'
shaped grid system 'sum(a.endswith("pcie_ep") for a, b in edges) == 8 and box("sip3")[:2] == [box("sip1")[0], box("sip2")[1]]'
shaped grid system 'list(missing) == ["sip1.cube0"] and "fabric.switch0" not in nodes'
shaped grid sip '{n for n in nodes if n.endswith("pcie_ep")} == {f"sip{s}.io0.pcie_ep" for s in (0, 2, 3)}' --at s2

# -- nets -----------------------------------------------------------------------------------------

# net TITLE YAML LEVEL EXPRESSION [OPTION]...
net()
{
    call "$B/kernbench" view "$3" --machine "$2" --quiet "${@:5}" && [ $code -eq 0 ] && [ ! -s err ] && mv out picture &&
        call python3 "$root/tests/pictures/shapes.py" picture "$4" && [ $code -eq 0 ]
    ok "net, $3: $1"
}
topologies=$root/topologies
net "mi300x: 2 x 2 dies, the others beside what they are joined to" $topologies/mi300x.yaml sip 'len(d2d) == 24 and no_overlap() and
    middle(0)[1] == middle(1)[1] and middle(0)[0] == middle(2)[0] and all(middle(c)[0] < middle(0)[0] for c in (4, 5, 8, 9)) and
    all(middle(c)[0] > middle(1)[0] for c in (6, 7, 10, 11)) and middle(4)[1] < middle(5)[1] < middle(8)[1] < middle(9)[1]'
net "dgxh100: switches below, lanes in the legend" $topologies/dgxh100.yaml sip 'len(d2d) == 64 and no_overlap() and not wraps and
    len({middle(c)[1] for c in range(8)}) == 1 and all(middle(c)[1] > middle(0)[1] for c in range(8, 12)) and
    texts.count("switch") == 4 and any("5 \u00d7 25 GB/s" in t for t in texts) and any("4 \u00d7 25 GB/s" in t for t in texts)'
net "dojo: 5 x 5 dies between two columns" $topologies/dojo.yaml sip 'len(d2d) == 100 and no_overlap() and not wraps and
    all(middle(25 + r)[1] == middle(5 * r)[1] == middle(30 + r)[1] and middle(25 + r)[0] < middle(0)[0] for r in range(5))'
net "galaxy: links around are stubs" $topologies/galaxy.yaml sip 'len(d2d) == 128 and len(wraps) == 24 and no_overlap() and
    texts.count("c28") == 3'
net "v5p: four grids side by side" $topologies/v5p.yaml sip 'len(d2d) == 384 and len(wraps) == 192 and no_overlap() and
    middle(16)[0] > middle(3)[0] and middle(16)[1] == middle(0)[1]'
printf 'kernbench: 3\nname: two\nsip: {cubes: 8, net: [{torus: [2, 2, 2]}]}\n' >two.yaml
net "rings of two cubes: each link has a place of its own" two.yaml sip 'len(d2d) == 48 and len({edges[e].find(SVG + "path").get("d") for e in d2d}) == 48'
net "an L2, between the PEs and the NoC" $topologies/mi300x_caches.yaml cube '"sip0.cube4.l2" in nodes and
    {a for a, b in edges if b == "sip0.cube4.l2" and "pe" in a} == {f"sip0.cube4.pe{p}.pe_dma" for p in range(38)} and
    ("sip0.cube4.l2", "sip0.cube4.noc") in edges' --at c4
for pe in c4.pe7 c0.pe0; do
    yaml=$topologies/mi300x_caches.yaml l2='"sip0.cube4.l2" in nodes and ("sip0.cube4.pe7.pe_dma", "sip0.cube4.l2") in edges and
        not any("xbar" in name for name in nodes)'
    [ $pe = c4.pe7 ] || yaml=$topologies/cube8.yaml l2='not any("l2" in name for name in nodes) and ("sip0.cube0.pe0.pe_dma", "sip0.cube0.xbar.pe0") in edges'
    net "beside $pe stands what its slices are behind" $yaml pe "$l2" --at $pe
done
printf 'kernbench: 3\nname: own\nsip: {cube_mesh: {w: 2, h: 1}}
cubes: {c1: {pe: {pe_dma: {read_channels: 5}, pe_tcm: {size_mb: 3, read_gbs: 99}, pe_gemm: {mac: [4, 2, 8]}, pe_math: {lanes: 7}}}}\n' >own.yaml
net "a PE has the numbers of its cube" own.yaml pe '{"channels: 5 read, 1 write", "4 \u00d7 2 \u00d7 8 MAC, 1 GHz", "7 lanes, 1 GHz", "3 MiB, reads at 99 GB/s"} <= set(texts)' --at c1.pe0
printf 'kernbench: 3\nname: hole\nmissing: [c5]\nbroken: [c0-c1]
sip: {cubes: 16, net: [{mesh: [4, 4]}, {list: [c0-c3, c0-c2, c0-c2, c1-c13, c4-c11]}]}\n' >hole.yaml
net "a mesh with a hole and links beside: a grid, and links past cubes beside its rows" hole.yaml sip 'len(d2d) == 48 and no_overlap() and
    all(middle(c)[0] == middle(c % 4)[0] for c in range(16) if c != 5) and
    all(middle(c)[1] == middle(c // 4 * 4)[1] for c in range(16) if c != 5) and list(missing) == ["sip0.cube5"] and is_hatched(missing["sip0.cube5"]) and
    sum(g.find(SVG + "path").get("d").count("L") == 3 and not g.get("data-wrap") for g in edges.values()) == 8 and not wraps'
printf 'kernbench: 3\nname: grids\nsip: {cubes: 15, net: [{mesh: [3, 2], of: "c[0-5]"}, {torus: [4, 2], of: "c[6-13]"}, {list: [c5-c6, c0-c14]}]}\n' >grids.yaml
net "two grids" grids.yaml sip 'len(wraps) == 4 and no_overlap() and
    all(middle(3 * r)[1] == middle(3 * r + 2)[1] and middle(6 + 4 * r)[1] == middle(9 + 4 * r)[1] for r in (0, 1)) and
    all(middle(c)[0] == middle(c + 3)[0] for c in (0, 1, 2)) and all(middle(c)[0] == middle(c + 4)[0] for c in (6, 7, 8, 9))'
printf 'kernbench: 3\nname: ring\nmissing: [c2]\nsip: {cubes: 9, net: [{torus: [8], of: "c[0-7]"}, {list: [c0-c8]}]}\ncubes: {c8: {pes: 0, hbm: {slices: 0}}}\n' >ring.yaml
net "a torus of one dimension: a ring" ring.yaml sip 'len(d2d) == 14 and not wraps and no_overlap() and middle(0)[1] < middle(1)[1] < middle(3)[1] < middle(4)[1] and
    middle(0)[0] == middle(4)[0] == middle(8)[0] and "sip0.cube2" in missing'
printf 'kernbench: 3\nname: all\nsips: 2\nsip: {cubes: 5, net: [{all: "c[0-4]"}, {list: [c1-c3]}]}\n' >all.yaml
net "all with all: a ring, two links beside each other" all.yaml sip 'len(d2d) == 22 and no_overlap() and
    len({edges[e].find(SVG + "path").get("d") for e in d2d}) == 22 and
    middle(1)[0] > middle(0)[0] > middle(4)[0] and middle(2)[1] > middle(1)[1]'
net "of all SIPs" all.yaml system 'len(d2d) == 44'
printf 'kernbench: 3\nname: rails\nsips: 4\nsip: {cubes: 3, net: [{list: [c0-c1, c0-c2, c1-c2]}]}\nmissing: [sw1]
fabric: {shape: net, switches: 3, net: [{each: ["s*.c2", "sw*"]}, {list: [s0.c0-s1.c1]}]}\n' >rails.yaml
net "rails: switches above, lines to them" rails.yaml system 'sum("fabric.switch" in a + b for a, b in edges) == 16 and
    sum(a.split(".")[0] != b.split(".")[0] and "fabric" not in a + b for a, b in edges) == 2 and
    not any("switch1" in a + b for a, b in edges) and box("fabric.switch2")[1] < box("sip0.io0")[1]'
printf 'kernbench: 3\nname: far\nlinks: {near: {bw_gbs: 90, latency_ns: 20}, far: {bw_gbs: 90, latency_ns: 60.5}}
sip: {cubes: 3, net: [{list: [c0-c1], link: near}, {list: [c1-c2], link: far}]}\n' >far.yaml
net "links of two latencies: two colours, both in the legend" far.yaml sip '{e.get("class") for e in root.iter() if "wire l" in str(e.get("class"))} ==
    {"wire l1", "wire l2"} and any(t.endswith("90 GB/s, 20 ns") for t in texts) and any(t.endswith("90 GB/s, 60.5 ns") for t in texts)'
printf 'name,util_pct\nsip0.cube0.port0 -> sip0.cube1.port0,30\n' >far.csv
net "what is not used has no colour beside colours of use" far.yaml sip 'not any(" l" in str(e.get("class")) for e in root.iter()) and
    sum(e.get("class") == "wire u3" for e in root.iter()) == 1 and any(t.endswith("90 GB/s, 60.5 ns") for t in texts)' --stats far.csv
net "rails: not in that of a SIP" rails.yaml sip 'len(d2d) == 6 and not any("fabric" in a + b for a, b in edges)'

# -- how busy -----------------------------------------------------------------------------------

header=kind,name,from,to,gbs,servers,count,bytes,busy_ns,util_pct,queue_mean,queue_max
# row KIND NAME UTIL_PCT
row()
{
    case $1 in
    edge) echo "edge,$2,${2% -> *},${2#* -> },128.000000,,1,64,1.000000,$3,," ;;
    *) echo "$1,$2,,,,1,1,64,1.000000,$3,0.000000,1" ;;
    esac
}
{
    echo $header
    row edge 'sip0.cube0.pe0.pe_dma -> sip0.cube0.noc' 0.999999
    row edge 'sip0.cube0.noc -> sip0.cube0.pe0.pe_dma' 1
    row edge 'sip0.cube0.ucie-E -> sip0.cube1.ucie-W' 9.99
    row edge 'sip0.cube1.ucie-W -> sip0.cube0.ucie-E' 10
    row edge 'sip0.cube0.xbar.pe0 -> sip0.cube0.hbm_ctrl.slice0' 24.999
    row edge 'sip0.io0.io_noc -> sip0.cube0.ucie-W' 25
    row edge 'sip0.io0.pcie_ep -> sip0.io0.io_noc' 50
    row edge 'sip0.cube0.xbar.pe0 -> sip0.cube0.bridge.left' 75
    row edge 'sip0.cube0.pe0.pe_gemm -> sip0.cube0.pe0.pe_tcm' 100
    row edge 'sip0.cube0.pe0.pe_math -> sip0.cube0.pe0.pe_tcm' 100.01
    row edge 'sip0.cube0.xbar.pe1 -> sip0.cube0.pe1.pe_dma' 331.7
    row channel sip0.cube5.pe3.pe_dma.read 97
    row memory sip0.cube5.hbm_ctrl.slice2 3
    row channel sip0.cube0.pe0.pe_dma.read 12.5
    row channel sip0.cube0.pe0.pe_dma.write 62.5
    row engine sip0.cube0.m_cpu.read 74.99
    row memory sip0.cube0.hbm_ctrl.slice0 90
    row memory sip0.cube0.sram 0
    row port sip0.cube0.pe0.pe_tcm.write 50
    row port sip0.cube0.pe0.pe_gemm 99.5
    row node sip0.cube0.xbar.pe0 ''
} >use.csv
for level in system sip cube pe; do
    "$KBGEN" --keys "$root/tests/machines/cube8.yaml" >keys
    run view $level --stats use.csv && [ $code -eq 0 ] && cp out picture &&
        call python3 "$judge" picture keys $level 0 0 0 use.csv && [ $code -eq 0 ]
    ok "$level: coloured as the file says"
done
run view cube --stats use.csv && grep -q '>75 %</text>' out && grep -q '>332 %</text>' out &&
    grep -q '>75 %  sip0.cube0.xbar.pe0 → sip0.cube0.bridge.left</text>' out
ok "the busiest is labelled, and named below"
grep -q '>331.7 %  sip0.cube0.xbar.pe1 → sip0.cube0.pe1.pe_dma</text>' out &&
    grep -q '% busy: sip0.cube0.xbar.pe1 -&gt; sip0.cube0.pe1.pe_dma</title>' out
ok "the way back of reads is named as --stats has it"
run view system --stats use.csv && grep -q '>331.7 %  sip0.cube0.xbar.pe1 → sip0.cube0.pe1.pe_dma</text>' out &&
    grep -q 'DMA channels, held while transactions wait, do not count' out
ok "the system lists the busiest edges of all, and says what cubes are coloured by"
run load --pattern hotspot:20 --rate 0.06 --txns 20000 --seeds 1 --stats hot.csv --quiet && run view sip --stats hot.csv &&
    equal "the cube of the hot slice stands out" "u6 sip0.cube0" \
        "$(sed -n 's/.*<g class="\(u[4-7]\)" data-node="\(sip0.cube[0-9]*\)".*/\1 \2/p' out | xargs)"
if [ -x "$M/tray32/tray32" ]; then
    "$M/tray32/tray32" load --pattern uniform --rate 0.1 --txns 20000 --seeds 1 --stats tray.csv --quiet >rows &&
        "$KBGEN" --keys "$root/tests/machines/tray32.yaml" >keys &&
        "$M/tray32/tray32" view --stats tray.csv >picture &&
        nothing "$(python3 "$judge" picture keys system 0 0 0 tray.csv)" &&
        [ "$(grep -o '>[0-9]* %</text>' picture | grep -c '>2[0-9][0-9][0-9] %')" = 4 ]
    ok "tray32: no label is cut, each direction of a link to the switch has its own"
else
    skip "tray32: labels" "no tray32"
fi
# 41 columns: a cube is 24.46 px wide, 2 of which are its edges, and "c167" takes 22.3; 42 columns: 23.88
for columns in 41 42; do
    printf 'kernbench: 1\nname: wide\nsip: {cube_mesh: {w: %s, h: 4}}\n' $columns >wide.yaml
    "$B/kernbench" view system --machine wide.yaml --quiet | grep -c '>c[0-9]*<' || true
done >labels
equal "cubes have their names if the longest fits, else none has" "164 0" "$(xargs <labels)"
run view pe --stats - <use.csv && cp out picture && run view pe --stats use.csv && same picture out
ok "from standard input"

hash=$("$cube8" info --format csv | sed -n 's/^hash,//p')
python3 - use.csv "$hash" >use.json <<'END_PY'
import csv, json, sys
text = {"kind", "name", "from", "to"}
rows = [{k: v if k in text and v else float(v) if v else None for k, v in row.items()}
        for row in csv.DictReader(open(sys.argv[1]))]
print(json.dumps({"schema": "kernbench.stats/1", "topology": {"name": "cube8", "hash": sys.argv[2]}, "rows": rows}))
END_PY
run view cube --stats use.csv && cp out picture && run view cube --stats use.json && same picture out
ok "JSON, with nulls, is the same"
sed "s/$hash/0123456789abcdef/" use.json >other.json
refused "JSON of another topology" 3 "other.json is of another topology: cube8 0123456789abcdef, this is cube8 $hash" \
    view --stats other.json
{ cat use.csv && row memory sip0.cube9.sram 1; } >bad.csv
refused "a node that is not there" 3 "bad.csv:23: 'sip0.cube9.sram' is no node and no edge of this topology" \
    view --stats bad.csv
{ echo $header && row edge 'sip0.cube0.sram -> sip0.cube0.m_cpu' 1; } >bad.csv
refused "an edge that is not there" 3 "bad.csv:2: 'sip0.cube0.sram -> sip0.cube0.m_cpu' is no node" view --stats bad.csv
{ echo $header && echo && row edge 'sip0.cube0.sram -> sip0.cube0.noc' -1; } >bad.csv
refused "less than nothing" 3 "bad.csv:3: util_pct '-1' is not a number from 0 on" view --stats bad.csv
{ echo $header && row memory sip0.cube0.sram nan; } >bad.csv
refused "no number" 3 "bad.csv:2: util_pct 'nan' is not a number from 0 on" view --stats bad.csv
sed 's/sip0.cube0.m_cpu.read/sip00.cube0.m_cpu/' use.json >bad.json
refused "JSON in one line" 3 "bad.json: row 16: 'sip00.cube0.m_cpu' is no node" view --stats bad.json
"$cube8" probe --format csv >bad.csv
refused "no statistics" 3 "bad.csv has no column 'name': it is no result of --stats" view --stats bad.csv
refused "no file" 3 "cannot read none.csv" view --stats none.csv

run run gemm --format json -o gemm.json
sed "s/$hash/0123456789abcdef/" gemm.json >bad.json
refused "a result of another topology" 3 "bad.json is of another topology" view --stats bad.json

# -- Graphviz -----------------------------------------------------------------------------------

run view cube --format dot && cp out first && run view cube -o x.gv && same x.gv first &&
    run view cube -o x.dot && same x.dot first
ok "DOT by --format or by the name of the file"
run view cube --format dot --stats use.csv && grep -q 'pe_fetch_store" \[label="fetch_store", fontsize=' out &&
    grep -q 'slice0" \[label="slice0\\n90 %"' out && grep -q 'pe0.pe_gemm" \[label="pe_gemm\\n99.5 %"' out &&
    grep -q 'xbar.pe0" -> "sip0.cube0.bridge.left" \[label="128\\n75 %"' out &&
    grep -q 'pe1.pe_dma" -> "sip0.cube0.xbar.pe1" \[label="256\\n331.7 % back"' out
ok "DOT: every box has its name, and per cents stand in boxes and at edges"
for level in system sip cube pe; do
    if command -v dot >/dev/null; then
        run view $level --stats use.csv -o x.dot && run view $level && mv out picture &&
            call dot -Tsvg x.dot && [ $code -eq 0 ] &&
            call neato -n -Tjson x.dot && [ $code -eq 0 ] && python3 - out picture <<'END_PY'
import json, sys, xml.etree.ElementTree as xml
svg = "{http://www.w3.org/2000/svg}"
graph, root = json.load(open(sys.argv[1])), xml.parse(sys.argv[2]).getroot()
nodes = {n["name"]: n for n in graph["objects"]}
shown = {g.get("data-node"): g.find(svg + "rect") for g in root.iter() if g.get("data-node")}
assert set(nodes) == set(shown)
assert len(graph["edges"]) == sum(1 for g in root.iter() if g.get("data-from"))
def middle(rect):
    return [float(rect.get(a)) + float(rect.get(b)) / 2 for a, b in (("x", "width"), ("y", "height"))]
first = next(iter(shown))
x0, y0 = middle(shown[first])
gx0, gy0 = [float(v) for v in nodes[first]["pos"].rstrip("!").split(",")]
for name, rect in shown.items():
    x, y = middle(rect)
    gx, gy = [float(v) for v in nodes[name]["pos"].rstrip("!").split(",")]
    assert abs((x - x0) * 0.75 - (gx - gx0)) < 0.03 and abs((y - y0) * 0.75 + (gy - gy0)) < 0.03, name
    assert abs(float(rect.get("width")) / 96 - float(nodes[name]["width"])) < 0.008, name # it rounds to points
END_PY
        ok "$level: Graphviz takes it, with the same nodes in the same places"
    else
        skip "$level: Graphviz takes it" "no Graphviz"
    fi
done

# -- documents ----------------------------------------------------------------------------------

if [ -x "$B/cube8/cube8" ]; then
    mkdir drawn && call "$root/docs/pictures/draw.sh" "$B/cube8/cube8" drawn && [ $code -eq 0 ] &&
        call "$root/docs/pictures/back_pressure.py" "$B/kernbench" drawn/back_pressure.svg && [ $code -eq 0 ] &&
        mkdir kept && cp "$root"/docs/pictures/*.svg kept && same -rq kept drawn
    ok "docs/pictures are as make pictures draws them"
else
    skip "docs/pictures are as make pictures draws them" "no cube8 of topologies/"
fi

# -- messages -----------------------------------------------------------------------------------

refused "no such picture" 2 "unknown picture 'cubes', did you mean 'cube'?" view cubes
refused "two operands" 2 "view: 'x' is one operand too many" view cube x
refused "rows of a picture" 2 "view draws pictures, as svg or dot, not as csv" view --format csv
refused "a picture of rows" 2 "probe prints rows: svg is a format of view" probe --format svg
refused "no such format" 2 "unknown format 'png': it is one of table, csv, json, jsonl, ndjson, md, svg, dot" view --format png
for file in a.png a.pdf a.jpg a.jpeg a.webp; do
    refused "-o $file" 2 "-o $file: view writes .svg, .dot or .gv" view -o $file
    [ ! -e $file ]
    ok "there is no $file"
done
refused "SVG into a graph" 2 "-o x.dot is not the name of a file of --format svg" view --format svg -o x.dot
refused "a graph into an SVG" 2 "-o x.svg is not the name of a file of --format dot" view --format dot -o x.svg
refused "--at of the system" 2 "--at 'c0': this picture is of all SIPs, it has no --at" view system --at c0
refused "a cube of a SIP" 2 "--at 'c0': a SIP is written s1" view sip --at c0
refused "a PE of a cube" 2 "--at 'c0.pe1': a cube is written c3 or s1.c3" view cube --at c0.pe1
refused "no cube" 2 "--at 'c8': a SIP has cubes 0..7" view cube --at c8
refused "no SIP" 2 "--at 's1.c0': the tray has SIP 0 alone" view cube --at s1.c0
refused "no PE" 2 "--at 'c1.pe8': a cube has PEs 0..7" view pe --at c1.pe8
for at in '' c c01 c0. c0x c1.c2 pe0 s0.s0 c99999999999999999999999 0 c-1 c0.pe c0..pe1; do
    run view pe --at "$at"
    [ $code -eq 2 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ]
    ok "--at '$at'"
done
run view pe -o /nowhere/x.svg
[ $code -eq 5 ] && says "cannot write /nowhere/x.svg"
ok "a folder that is not there"
echo kept >x.svg
run view --stats bad.csv -o x.svg
[ $code -ne 0 ] && [ "$(cat x.svg)" = kept ]
ok "after a mistake the file is as it was"
run view --help && grep -q 'svg or dot (default svg)' out && grep -q -- '--at WHERE' out
ok "view --help"

plan
