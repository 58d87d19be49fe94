#!/usr/bin/env bash
# machine.sh -- machines made at run time: --machine and --set give the bytes of compiled machines.
#
# TAP on stdout. B names the build.
. "$(dirname "$0")/../support/tap.sh"
at_top
any=$B/kernbench

# alike NAME ARG...: the compiled machine $sim and the YAML $yaml print the same
alike()
{
    local name=$1

    shift
    "$sim" "$@" --quiet >"$work/compiled" 2>"$work/compiled.err"
    compiled=$?
    call "$any" --machine "$yaml" "$@" --quiet
    sed "s/^$(basename "$sim"):/kernbench:/" "$work/compiled.err" >"$work/compiled.said"
    [ $code -eq $compiled ] && cmp "$work/out" "$work/compiled" && cmp "$work/err" "$work/compiled.said"
    ok "$(basename "$sim"): $name"
}

# -- every command ------------------------------------------------------------------------------

for yaml in tests/machines/cube8.yaml tests/machines/tray32.yaml topologies/wormhole.yaml tests/vectors/cube8_fifo.yaml \
    tests/support/odd.yaml tests/support/interleaved.yaml tests/support/shapes/*.yaml; do
    name=$(sed -n 's/^name: *//p' "$yaml" | head -1)
    sim=$B/_m/$name/$name
    [ -x "$sim" ] || sim=$B/$name/$name
    alike info info --config
    alike probe probe --format csv
    cubes='*' rates=0.1,0.4 seeds=2
    [ "$name" != wormhole ] || cubes='[0-2]' rates=0.02 seeds=1 # 120 cubes with routers
    alike load load --pattern uniform --rate $rates --txns 800 --seeds $seeds
    case $yaml in */shapes/*) continue ;; esac # what the others show of an odd shape, probe and load do
    alike route route host c0.slice0
    alike sweep sweep --src "c$cubes.pe0" --dst "c$cubes.slice0,c0.sram" --bytes 64,4K --inflight 1,3
    alike run run gemm M=64 N=64 K=64
    alike view view
done
sim=$B/_m/cube8/cube8 yaml=tests/machines/cube8.yaml
alike "run --verify" run softmax M=64 N=256 --verify
alike "run --breakdown" run gemm M=64 N=64 K=64 --breakdown
alike why why gemm M=64 N=64 K=64
alike "load --breakdown" load --pattern uniform --rate 0.2 --txns 2000 --breakdown
alike list list

# -- keys at their defaults ---------------------------------------------------------------------

printf 'kernbench: 3\nname: plain\nsip: {cube_mesh: {w: 2, h: 1}}\n' >"$work/plain.yaml"
{
    cat "$work/plain.yaml"
    echo 'cube: {sram: {size_mb: 32, size_kb: 0}, hbm: {timing_ns: {rcd: 14.0, cl: 14.0}, bank_queue: 0, ranks: 1}}'
} >"$work/full.yaml"
printf 'cubes: {c1: {hbm: {model: banks, preset: ddr4_3200}}}\n' | tee "$work/kinds" | cat "$work/plain.yaml" - >"$work/plain_kinds.yaml"
cat "$work/full.yaml" "$work/kinds" >"$work/full_kinds.yaml"
config() { "$any" info --config --machine "$@" 2>&1; }
for set in cube.sram.size_kb=512 cube.hbm.preset=hbm2_dramsim3 cube.hbm.preset=hbm3_ramulator2 cube.hbm.preset=ddr4_3200; do
    for sets in "--set $set" "--set cube.hbm.model=banks --set $set" "--set cube.hbm.model=banks --set $set --set cube.hbm.timing_ns.rcd=14"; do
        # shellcheck disable=SC2086
        equal "a key that a file gives its default is as one that it leaves out: $sets" \
            "$(config "$work/plain.yaml" $sets)" "$(config "$work/full.yaml" $sets)"
        # shellcheck disable=SC2086
        config "$work/full.yaml" $sets >"$work/resolved.yaml"
        equal "... and the resolved YAML is the same machine" "$(cat "$work/resolved.yaml")" "$(config "$work/resolved.yaml")"
    done
done
read_of_banks() { "$any" sweep --machine "$1" --src c0.pe0 --dst c1.slice0 --format csv --quiet; }
equal "so it is beside the preset of a cube" "$(read_of_banks "$work/plain_kinds.yaml")" "$(read_of_banks "$work/full_kinds.yaml")"
config "$work/full_kinds.yaml" >"$work/resolved.yaml"
equal "... and the resolved YAML reads as fast" "$(read_of_banks "$work/full_kinds.yaml")" "$(read_of_banks "$work/resolved.yaml")"
printf 'cube: {sram: {size_kb: 512}}\n' | cat "$work/plain.yaml" - >"$work/small.yaml"
compiled=$SIM SIM=$any
refused "two sizes of an SRAM" 2 "--set cube.sram.size_mb=32: 'cube.sram.size_kb' cannot stand beside 'cube.sram.size_mb'" \
    probe --machine "$work/small.yaml" --set cube.sram.size_mb=32
refused "a row of a grid that is none" 2 "--set fabric.grid.h=2: 'fabric.grid.h' needs 'fabric.shape: grid'" \
    probe --machine topologies/cube8.yaml --set fabric.grid.h=2
SIM=$compiled

# -- PEs that differ ----------------------------------------------------------------------------

# The same machine twice: what its dies of PEs have is said of all cubes, or of their kind alone.
dies() { printf 'kernbench: 3\nname: dies\nlinks: {l: {bw_gbs: 100.0}}\nsip: {cubes: 2, net: [{list: [c0-c1], link: l}]}
kinds: {iod: {pes: 0, hbm: {slices: 4, bw_gbs: 500.0}}, xcd: {pes: 4, hbm: {slices: 0}%s}}
cubes: {c0: %s, c1: %s}\n%s' "$@"; }
pe='pe: {pe_gemm: {mac: [32, 32, 32]}, pe_math: {lanes: 16}}'
dies '' iod xcd "cube: {$pe}" >"$work/all.yaml"
dies ", $pe" iod xcd '' >"$work/own.yaml"
dies ", $pe" xcd iod '' >"$work/first.yaml"
rates() { "$any" run "$1" M=64 --machine "$work/$2.yaml" --format csv --quiet | cut -d, -f1-3,5,7-; }
for bench in softmax gemm; do
    for yaml in own first; do
        equal "peaks are those of the kind of the PEs: $bench, $yaml" "$(rates $bench all)" "$(rates $bench $yaml)"
    done
done
printf 'cubes: {c1: {pe: {pe_math: {lanes: 192}}}}\n' | cat "$work/plain.yaml" - >"$work/mixed.yaml"
peak() { "$any" run softmax M=16 N=64 --machine "$@" --format json --quiet | jq '.rows[0] | .math_elements / .kernel_ns / .peak_pct * 100 | round'; }
equal "... of PEs that differ their sum: 8 of 64 elements and 8 of 192" "$((8 * 64 + 8 * 192))" "$(peak "$work/mixed.yaml")"
equal "... and where all are alike" "$((16 * 64))" "$(peak "$work/plain.yaml")"

# -- vectors ------------------------------------------------------------------------------------

for rows in tests/vectors/*.csv; do
    case $rows in *.expected.csv) continue ;; esac
    base=${rows%.csv}
    case $base in
    */cube8_fifo_*) yaml=tests/vectors/cube8_fifo.yaml ;;
    *) yaml=${base%_*}.yaml ;;
    esac
    for engine in fused hop; do
        call "$any" --machine "$yaml" replay "$rows" --engine $engine --fingerprint
        [ $code -eq 0 ] && cmp "$work/out" "$base.expected.csv" && cmp "$work/err" "$base.fingerprint"
        ok "$(basename "$base") $engine"
    done
done

# -- random machines ----------------------------------------------------------------------------

if [ -z "${SAN-}" ] && grep -q -- '-O2' "$B/_o/flags"; then
    SEEDS=1-2 call bash tests/campaign/machines.sh "$B" "$work/machines"
    [ $code -eq 0 ] && grep -q '^2 machines' "$work/out"
    ok "two random machines, by all commands"
else
    skip "random machines" "they take long in this build"
fi

# -- keys that are set --------------------------------------------------------------------------

"$any" --machine tests/machines/cube8.yaml probe --set cube.hbm.bw_gbs=100 --format csv >"$work/a"
"$SIM" --set cube.hbm.bw_gbs=100 probe --format csv >"$work/b"
cmp "$work/a" "$work/b" && ! cmp -s "$work/a" <("$SIM" probe --format csv)
ok "--set changes the compiled machine"
equal "the hash is kbgen's" "$("$B/kbgen" --set cube.hbm.bw_gbs=512 --set cube.pes=4 --hash tests/machines/cube8.yaml)" \
    "$("$SIM" info --set cube.hbm.bw_gbs=512 --set cube.pes=4 --format csv | sed -n 's/^hash,//p')"
call "$SIM" info --set cube.pes=4 --set cube.pes=2 --format csv
[ "$(tail -2 "$work/out")" = "machine,\"compiled, other values set\"
set,cube.pes=2 (was 8)" ]
ok "info says what was set"
printf '%s\n' 'kernbench: 3' 'name: k' 'links: {eth: {bw_gbs: 64.0}}' 'kinds: {x: {pes: 4}}' 'sip: {cubes: 2, net: [{list: [c0.E-c1.W], link: eth}]}' \
    'cubes: {c0: x}' >"$work/k.yaml"
call "$B/kernbench" info --machine "$work/k.yaml" --set kinds.x.pes=2 --set links.eth.lanes=2 --set kinds.x.hbm.bw_gbs=64 --format csv
[ "$(sed -n 's/^set,//p' "$work/out" | xargs)" = "kinds.x.pes=2 (was 4) kinds.x.hbm.bw_gbs=64.0 (was 256.0) links.eth.lanes=2 (was 1)" ]
ok "keys of kinds and links, too"
call "$SIM" probe --set cube.pes=4 --set sips=2 --sqlite "$work/a.db"
[ "$(python3 -c "import sqlite3; print(sqlite3.connect('$work/a.db').execute('SELECT name, value FROM param WHERE name IN (\'sips\', \'cube.pes\') ORDER BY name').fetchall())")" = \
    "[('cube.pes', '4'), ('sips', '2')]" ]
ok "each key is a parameter in the database"

# -- mistakes -----------------------------------------------------------------------------------

refused "the version of the file that was compiled" 2 "--set kernbench=2: what the YAML leaves out is compiled already, it needs --machine" \
    probe --set kernbench=2
equal "that of another file decides what it leaves out" "$("$B/kbgen" --set kernbench=2 --hash tests/machines/cube8.yaml)" \
    "$("$any" --machine tests/machines/cube8.yaml info --set kernbench=2 --format csv | sed -n 's/^hash,//p')"
# a file of keys
cat >"$work/keys.yaml" <<'END'
# a memory, and an engine
cube:
  hbm: {bw_gbs: 512, efficiency: 0.9}
  pe:
    pe_gemm: {mac: [32, 16, 16]}
contention: {links: 'ideal'}
END
equal "a file of keys is each of them by itself" \
    "$("$SIM" info --set cube.hbm.bw_gbs=512 --set cube.hbm.efficiency=0.9 --set cube.pe.pe_gemm.mac=[32,16,16] --set contention.links=ideal --format csv | sed -n 's/^hash,//p')" \
    "$("$SIM" info --set "@$work/keys.yaml" --format csv | sed -n 's/^hash,//p')"
equal "and kbgen's" "$("$B/kbgen" --set "@$work/keys.yaml" --hash "$root/tests/machines/cube8.yaml")" \
    "$("$any" --machine "$root/tests/machines/cube8.yaml" info --set "@$work/keys.yaml" --format csv | sed -n 's/^hash,//p')"
equal "the last one counts" "$("$SIM" info --set "@$work/keys.yaml" --set cube.hbm.bw_gbs=64 --format csv | sed -n 's/^set,//p')" \
    "@$work/keys.yaml
cube.hbm.bw_gbs=64.0 (was 256.0)"
# wrong_keys NAME MESSAGE TEXT: a file of keys with a mistake
wrong_keys()
{
    printf '%b' "$3" >"$work/wrong.yaml"
    refused "$1" 3 "$work/$2" probe --set "@$work/wrong.yaml"
}
wrong_keys "a key that there is not, in a file" "wrong.yaml:2:17: unknown key 'cube.hbm.bw_gbz', did you mean 'cube.hbm.bw_gbs'?" 'cube:\n  hbm: {bw_gbz: 3}\n'
wrong_keys "a value out of its range" "wrong.yaml:2:8: 'cube.pes' must be 0..256, not '-3'" 'cube:\n  pes: -3\n'
wrong_keys "a key twice" "wrong.yaml:1:25: duplicate key 'cube.hbm.bw_gbs'" 'cube: {hbm: {bw_gbs: 3, bw_gbs: 4}}\n'
wrong_keys "a whole machine" "wrong.yaml:1:1: 'kernbench' is of a whole machine, which --machine takes" 'kernbench: 3\n'
wrong_keys "no keys" "wrong.yaml: a file of --set has keys and their values" '- 3\n'
wrong_keys "a list of more than words" "wrong.yaml:1:9: a list of a file of --set has words only" 'links: [{a: 3}]\n'
wrong_keys "an alias that holds itself" "wrong.yaml:1:11: keys of more than 1 MiB: does an alias hold itself?" 'cube: &x {hbm: *x}\n'
printf 'a0: &a0 {x: 1, y: 2}\n' >"$work/wrong.yaml"
for i in $(seq 30); do printf 'a%d: &a%d {p: *a%d, q: *a%d}\n' "$i" "$i" $((i - 1)) $((i - 1)); done >>"$work/wrong.yaml"
refused "aliases of aliases" 3 "keys of more than 1 MiB: does an alias hold itself?" probe --set "@$work/wrong.yaml"
wrong_keys "no YAML" "wrong.yaml:2:1: did not find expected node content" 'cube: {hbm: \n'
refused "a file that is not there" 3 "none.yaml: cannot be read" probe --set @none.yaml
refused "no name" 2 "--set '@' is not a key and its value, as cube.hbm.bw_gbs=512, or @FILE with many" probe --set @
refused "a key that there is not" 2 "--set cube.hbm.bw_gbz=1: unknown key 'cube.hbm.bw_gbz', did you mean 'cube.hbm.bw_gbs'?" \
    probe --set cube.hbm.bw_gbz=1
refused "a key of one cube" 2 "--set cubes.c1.pes=4: unknown key 'cubes.c1.pes': 'cubes' is one value, as {c1: {pes: 4}}" \
    probe --set cubes.c1.pes=4
refused "a value out of range" 2 "--set cube.pes=99: 'cube.pes' must be 0..64, not '99'" probe --set cube.pes=99
refused "no value" 2 "--set 'cube.pes' is not a key and its value, as cube.hbm.bw_gbs=512" probe --set cube.pes
SIM=$any
refused "no machine" 2 "it has no machine of its own: --machine FILE.yaml names one" probe
refused "no such file" 3 "cannot read $work/no.yaml: No such file or directory" probe --machine "$work/no.yaml"
printf 'kernbench: 1\nname: m\nsip:\n  cube_mesh: {w: 0, h: 1}\ncube: {pez: 2}\n' >"$work/bad.yaml"
refused "all mistakes of a file" 3 "bad.yaml:5:8: unknown key 'pez' in 'cube', did you mean 'pes'?" \
    probe --machine "$work/bad.yaml"
grep -q "bad.yaml:4:18: 'sip.cube_mesh.w' must be 1..16384, not '0'" "$work/err"
ok "... with their places"

call "$SIM" --version
[ $code -eq 0 ] && [ "$(cat "$work/out")" = "kernbench $(sed -n 's/.*KB_VERSION *"\(.*\)"/\1/p' runtime/include/kernbench.h)" ]
ok "it has a version, but no topology"
[ "$("$B/cube8/cube8" --complete probe --set contention.links=)" = "contention.links=ideal
contention.links=fifo
contention.links=router" ]
ok "keys and words are completed"
plan
