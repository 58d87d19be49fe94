#!/usr/bin/env bash
# shapes.sh -- commands on machines with parts that are missing, broken or different. Prints TAP.
#
# B names the build. Needs $B/_t/any_simulator, which reads the YAML of its machine.
. "$(dirname "$0")/../support/tap.sh"
SIM=$B/_t/any_simulator
[ -x "$SIM" ] || none "there is no $SIM"

# machine TEXT: the YAML of what on() runs
machine()
{
    printf 'kernbench: 2\nname: it\n%s\n' "$1" >it.yaml
}

on()
{
    run it.yaml "$@"
}

# -- docs/model.md "Machines of any shape" --------------------------------------------------------

# row KEYS OP SRC DST NS: 4096 bytes alone
row()
{
    local offset=0 cube8='sip: {cube_mesh: {w: 4, h: 2}}'

    case $1 in *cube_mesh*) cube8= ;; esac
    printf 'kernbench: 1\nname: it\n%s\n%s\n' "$cube8" "$(grep -o '`[^`]*`' <<<"$1" | tr -d '`')" >it.yaml
    case $4 in 0x*) offset= ;; esac
    printf 'issue_ns,op,src,dst,offset,nbytes\n0,%s,%s,%s,%s,4096\n' "$2" "$3" "$4" "$offset" >in.csv
    on replay in.csv --quiet
    [ "$(field actual_ns 1)" = "$5" ] || { echo "# $*" && false; }
}

bad=0 rows=0
while IFS='|' read -r _ _ keys transaction ns _; do
    read -r op src dst <<<"${transaction//\`/}"
    row "$keys" "$op" "$src" "$dst" "${ns// /}" || bad=$((bad + 1))
    rows=$((rows + 1))
done < <(sed -n '/^## Machines of any shape/,/^## Addresses/{/| `\(read\|write\|h2d\) /p}' "$root/docs/model.md")
[ $bad -eq 0 ] && [ $rows -ge 34 ]
ok "each rule of the table takes what it says"

# -- no way -------------------------------------------------------------------------------------

machine 'sip: {cube_mesh: {w: 3, h: 1}}
broken: ["c0-c1"]'
on probe --format csv
[ $code -eq 0 ] && says "pe-cross-cube-best left out: " && says "pe-cross-cube-worst left out: " &&
    ! grep -q pe-cross-cube out && grep -q ^pe-sram, out && grep -q ^saturation, out
ok "a case of probe that has no way is left out, and that is said"
on probe --quiet --format csv
[ $code -eq 0 ] && [ ! -s err ]
ok "but not with --quiet"
on probe --case pe-cross-cube-best --format csv
[ $code -ne 0 ] && [ ! -s out ] && says "no way"
ok "if it alone was asked for, that is an error"
on report probe -o page.html
[ $code -eq 0 ] && grep -q pe-sram page.html &&
    grep -q "pe-cross-cube-best left out: there is no way from c0.pe0 to c1.slice0" page.html
ok "report probe leaves it out too, and says so"

machine 'sip: {cube_mesh: {w: 3, h: 1}}
broken: ["c1>c0"]'
on probe --case pe-cross-cube-worst --format csv
[ $code -ne 0 ] && says "no way"
ok "a read needs the way of its data"

machine 'sip: {cube_mesh: {w: 2, h: 2}, planes: [{name: a}, {name: b, dirs: [E]}, {name: c}]}'
on run copy --verify --format csv
[ $code -eq 0 ] && [ "$(field verify 1)" = pass ]
ok "kernels do not need the ways of a plane that they do not take"
machine 'sip: {cube_mesh: {w: 2, h: 2}, plane: hash, planes: [{name: a}, {name: b, dirs: [E]}, {name: c}]}'
on run copy --verify --format csv
[ $code -ne 0 ] && says "there is none from c1 to c0 on plane b"
ok "with sip.plane: hash they take all"
machine 'sip: {cube_mesh: {w: 2, h: 2}, io_chiplets: [W, E]}
broken: [c1.noc-c1.ucie-E, c3.noc-c3.ucie-E]'
on run copy --verify --format csv
[ $code -eq 0 ] && [ "$(field verify 1)" = pass ]
ok "nor the ways to another IO chiplet than host0's"

machine 'sip: {cube_mesh: {w: 2, h: 2}}
broken: [c0-c3]'
KBGEN=${KBGEN:-$B/kbgen}
case $KBGEN in /*) ;; *) KBGEN=$root/$KBGEN ;; esac
call "$KBGEN" --config it.yaml
[ $code -eq 3 ] && [ ! -s out ] && says "'broken': 'c0-c3' matches no link between neighbours"
ok "kbgen --config finds mistakes of broken"

# -- two links between two SIPs --------------------------------------------------------------------

machine 'sips: 2
sip: {cube_mesh: {w: 1, h: 1}}
fabric: {shape: grid, grid: {w: 2, h: 1}, wrap: x}'
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,write,c0.pe0,s1.c0.slice0,0,4K 0,write,s1.c0.pe0,c0.slice0,0,4K >in.csv
on replay in.csv --quiet --stats s.csv
equal "the link that closes a ring of two has a name of its own" \
    "sip0.io0.pcie_ep -> sip1.io0.pcie_ep sip1.io0.pcie_ep -> sip0.io0.pcie_ep (wrap)" \
    "$(grep -o '^edge,sip[01].io0.pcie_ep -> sip[01].io0.pcie_ep[^,]*' s.csv | cut -d, -f2 | xargs)"

# -- what is offered ----------------------------------------------------------------------------

# offered LINE: the words that bash offers, in a line
offered()
{
    (
        eval "$("$SIM" it.yaml --completion bash)"
        COMP_LINE=$1 COMP_POINT=${#1}
        it() { "$SIM" it.yaml "$@"; }
        "_kernbench_it"
        printf '%s ' "${COMPREPLY[@]}" | xargs
    )
}

machine 'sip: {cube_mesh: {w: 3, h: 1}}
cubes: {c1: {pes: 3, hbm: {slices: 5}}}
missing: [c2, c0.pe0]'
equal "completion offers the slices of a cube" "c1.slice0 c1.slice1 c1.slice2 c1.slice3 c1.slice4 c1.sram" \
    "$(offered 'it route c1.pe0 c1.s')"
equal "and the PEs that are there" "c0.pe1 c0.pe2 c0.pe3 c0.pe4 c0.pe5 c0.pe6 c0.pe7" "$(offered 'it route c0.pe')"
equal "of a cube that is missing, none" "" "$(offered 'it route c2.')"

# -- kinds --------------------------------------------------------------------------------------

{
    printf 'kernbench: 2\nname: many\nsip: {cube_mesh: {w: 20, h: 20}}\ncubes:\n'
    for i in $(seq 0 299); do echo "  c$i: {hbm: {bw_gbs: $((300 + i)).0}}"; done
    echo '  "c*": {hbm: {bw_gbs: 256.0}}'
} >it.yaml
on info
[ $code -eq 0 ]
ok "what counts is how many kinds there are in the end"
sed -i '$d' it.yaml
on info
[ $code -eq 3 ] && says "cubes of more than 256 kinds"
ok "300 are too many"

# The only link to the IO chiplet is broken: PEs reach all memories, and the host none.
machine 'sip: {cube_mesh: {w: 2, h: 1}}
broken: ["c0.noc-c0.ucie-W"]'
on route c1.pe0 c0.slice0
[ $code -eq 0 ]
ok "without a shore: from cube to cube"
refused "without a shore: from the host" 2 "there is no way from host to c0.slice0" it.yaml route host c0.slice0
refused "without a shore: kernels" 2 "kernels need ways from PEs to all PEs, memories and their host, and back: there is none from host to c0" it.yaml run copy

machine 'sip: {cube_mesh: {w: 2, h: 1}, io_chiplets: [W, E]}
broken: ["c1.noc-c1.ucie-E"]'
on run copy --verify --format csv --quiet
[ $code -eq 0 ] && [ "$(field verify 1)" = pass ]
ok "without the shore of another chiplet than io0: kernels"

# Nothing passes c2 and c3, so c0 and c1, which have memories alone, do not reach each other.
cat >it.yaml <<'END'
kernbench: 3
name: dies
kinds: {base: {pes: 0, hbm: {slices: 4}}, core: {pes: 4, hbm: {slices: 0}, transit: none}}
sip: {cubes: 4, net: [{list: [c0-c2, c0-c3, c1-c2, c1-c3]}]}
cubes: {"c[0-1]": base, "c[2-3]": core}
END
on run gemm --verify --format csv --quiet
[ $code -eq 0 ] && [ "$(field verify 1)" = pass ]
ok "memories without a way between them: kernels"
refused "memories without a way between them: the host of the other" 2 "there is no way from host to c1.slice0" it.yaml route host c1.slice0
sed -i 's/c1-c3\]/c1>c3]/' it.yaml
refused "a PE without a way to a memory" 2 "kernels need ways from PEs to all PEs, memories and their host, and back: there is none from c3 to c1" it.yaml run gemm

# -- routers, banks -------------------------------------------------------------------------------

while IFS= read -r keys; do
    machine "sip: {cube_mesh: {w: 2, h: 1}}
$(tr ';' '\n' <<<"$keys")"
    for bench in gemm_composite all_reduce; do
        on run $bench --verify --format csv --quiet
        [ $code -eq 0 ] && [ "$(field verify 1)" = pass ]
        ok "$keys: $bench"
    done
    on sweep --src c0.pe0 --dst 'c*.slice0' --op read,write --inflight 1,5 --format csv --quiet
    cp out five
    on sweep --src c0.pe0 --dst 'c*.slice0' --op read,write --inflight 5 --format csv --quiet
    [ $code -eq 0 ] && [ "$(wc -l <out)" = 5 ] && same <(grep ,5, five) <(grep ,5, out)
    ok "$keys: a point is the same behind others"
done <<END
contention: {links: router}
contention: {links: router};addressing: {granule: 4096}
cube: {hbm: {model: banks}}
cube: {hbm: {model: banks}};cubes: {c1: {hbm: {model: server}}}
END

# -- cubes without PEs, or without slices ---------------------------------------------------------

cat >it.yaml <<'END'
kernbench: 3
name: it
links: {l: {bw_gbs: 64.0}}
kinds: {iod: {pes: 0, hbm: {slices: 4}}, xcd: {hbm: {slices: 0}}}
sip: {cubes: 4, net: [{all: "c[0-3]", link: l}]}
cubes: {"c[0-1]": iod, "c[2-3]": xcd}
END
refused "the picture of a PE" 2 "c0.pe0: c0 has no PEs; see --at" it.yaml view pe --at c0.pe0
refused "one source" 2 "--src: c1.pe0: c1 has no PEs" it.yaml sweep --src c1.pe0 --dst c0.slice0
refused "several sources" 2 "--src: c[0-1].pe0: nothing of it is there, the first: c0.pe0: c0 has no PEs" it.yaml sweep --src 'c[0-1].pe0' --dst c0.slice0
refused "all targets of a cube" 2 "--dst: c3.slice*: nothing of it is there, the first: c3.slice0: c3 has no slices" it.yaml sweep --src c2.pe0 --dst 'c3.slice*'
refused "a case of probe" 2 "no place for case 'pe-local-hbm': the cube of its first PE has no slices" it.yaml probe --case pe-local-hbm
refused "a case of another SIP" 2 "no place for case 'pe-cross-sip': there is no SIP 1 with slices" it.yaml probe --case pe-cross-sip
on info --format csv
equal "the cubes of a net have no width and height" "cubes_per_sip,4" "$(grep -E '^(mesh_|cubes_per)' out)"
machine 'sip: {cube_mesh: {w: 2, h: 3}}'
on info --format csv
equal "those of a mesh have" "mesh_w,2 mesh_h,3 cubes_per_sip,6" "$(grep -E '^(mesh_|cubes_per)' out | xargs)"
plan
