#!/usr/bin/env bash
# kbgen_bad.sh -- what kbgen says of mistakes: each file of tests/bad, the command line, huge files.
# TAP on stdout. KBGEN names the program.
. "$(dirname "$0")/../support/tap.sh"
at_top
kbgen=${KBGEN:-$B/kbgen}

ulimit -t 60 # nothing may take long

run()
{
    call "$kbgen" "$@"
}

# text FILE: all of it, in $text; without a process, as there are hundreds of these. The note that kbgen takes long
# depends on the machine's speed.
text()
{
    IFS= read -r -d '' text <"$1"
    [[ $text =~ ^"kbgen: note: this has worked for "[^$'\n']*$'\n' ]] && text=${text#"${BASH_REMATCH[0]}"}
    return 0
}

# fails NAME CODE MESSAGE ARG...: that exit code, just that on stderr, no output.
fails()
{
    name=$1 want=$2 expected=$3
    shift 3
    run "$@"
    text "$work/err"
    [ "$code" -eq "$want" ] && [ ! -s "$work/out" ] && [ "$text" = "$expected"$'\n' ]
    ok "$name" || echo "# expected: $expected"
}

# begins NAME CODE TEXT ARG...: the same, for messages that end in words of the C library.
begins()
{
    name=$1 want=$2 expected=$3
    shift 3
    run "$@"
    text "$work/err"
    [ "$code" -eq "$want" ] && [ ! -s "$work/out" ] && [[ $text == "$expected"* ]]
    ok "$name"
}

# sets NAME LINE ARG...: succeeds, and the resolved YAML has that line.
sets()
{
    name=$1 line=$2
    shift 2
    run --config "$@"
    [ "$code" -eq 0 ] && [ ! -s "$work/err" ] && grep -qxF -- "$line" "$work/out"
    ok "$name"
}

# bad_set NAME ASSIGNMENT MESSAGE: exit 2 and that message, placed at the option.
bad_set()
{
    fails "$1" 2 "--set $2: $3" --set "$2" topologies/cube8.yaml
}

each_bad_file()
{
    for f in tests/bad/*.yaml; do
        messages=
        while IFS= read -r line; do
            case $line in
            '# expect: '[0-9]*) messages+=$f:${line#'# expect: '}$'\n' ;;
            '# expect: '*) messages+=${line#'# expect: '}$'\n' ;;
            esac
        done <"$f"
        name=${f##*/}
        fails "${name%.yaml}" 3 "${messages%$'\n'}" "$f"
    done
}

command_line()
{
    try="
Try 'kbgen --help'."
    begins "no file" 2 "kbgen: no topology file$try"
    begins "two files" 2 "kbgen: one topology file, not also b$try" a b
    begins "unknown option" 2 "kbgen: unknown option --frob" --frob topologies/cube8.yaml
    begins "unknown short option" 2 "kbgen: unknown option -x$try" -x topologies/cube8.yaml
    begins "--set without assignment" 2 "kbgen: an argument is needed by --set" --set
    begins "--name with an argument" 2 "kbgen: no argument is taken by --name" --name=x topologies/cube8.yaml
    begins "an option that is nearly one" 2 "kbgen: unknown option '--confg', did you mean '--config'?" --confg x
    begins "a name that is not typed in full" 2 "kbgen: unknown option '--conf', did you mean '--config'?" --conf topologies/cube8.yaml
    begins "the same with an argument" 2 "kbgen: unknown option '--completio', did you mean '--completion'?" topologies/cube8.yaml --completio bash
    begins "a shell that is none" 2 "kbgen: --completion is for bash, zsh or fish, not csh" --completion csh
    begins "an option without an argument" 2 "kbgen: an argument is needed by --completion$try" --completion
    begins "no such file" 3 "$work/none.yaml: cannot be read: " "$work/none.yaml"
    begins "directory" 3 "$work: cannot be read: " "$work"
    run --version
    [ "$code" -eq 0 ] && grep -q '^kbgen [0-9]' "$work/out"
    ok "--version"
    run --help
    [ "$code" -eq 0 ] && grep -q -e '--set KEY=VALUE' "$work/out"
    ok "--help"
    "$kbgen" --config topologies/cube8.yaml 2>"$work/err" >/dev/full
    [ $? -eq 5 ] && grep -q 'cannot be written' "$work/err"
    ok "output cannot be written: exit 5"
}

bad_sets()
{
    bad_set "set: not a number" cube.hbm.bw_gbs=abc "'cube.hbm.bw_gbs' must be a number, not 'abc'"
    bad_set "set: out of range" sips=300 "'sips' must be 1..256, not '300'"
    bad_set "set: quoted" 'sips="2"' "'sips' must be an integer, not the string '2'"
    bad_set "set: misspelt" cube.hbm.bw_gb=1 \
        "unknown key 'cube.hbm.bw_gb', did you mean 'cube.hbm.bw_gbs'?"
    bad_set "set: last words" pes=4 "unknown key 'pes', did you mean 'cube.pes'?"
    bad_set "set: unlike any key" zzz=4 "unknown key 'zzz'"
    bad_set "set: last words of many" bw_gbs=4 "unknown key 'bw_gbs'"
    bad_set "set: no key" =4 "unknown key ''"
    bad_set "set: mapping" 'cube.hbm={bw_gbs: 1}' "'cube.hbm' is a mapping, set its keys one by one"
    bad_set "set: no equals sign" sips "expected KEY=VALUE"
    bad_set "set: no value" sips= "'sips' has no value"
    bad_set "set: null" 'sips=~' "'sips' has no value"
    bad_set "set: comment" 'sips=# 2' "empty"
    bad_set "set: short list" 'cube.size_mm=[15]' \
        "'cube.size_mm' must be a list of 2 numbers, not a list of 1"
    bad_set "set: bad item" 'cube.size_mm=[15, x]' "'cube.size_mm' must be a number, not 'x'"
    bad_set "set: tag" 'sips=!!int 2' "tags ('!') are not used here, the key decides the type"
    bad_set "set: not YAML" 'cube.size_mm=[15, 1' \
        "did not find expected ',' or ']' while parsing a flow sequence"
    bad_set "set: position" 'cube.sram.pos_mm=[16, 1]' \
        "'cube.sram.pos_mm' [16.0, 1.0] lies outside 'cube.size_mm' [15.0, 11.0]"
    bad_set "set: size laid to the option, not to the file" 'cube.size_mm=[15, 8]' \
        "'cube.sram.pos_mm' [1.5, 9.0] lies outside 'cube.size_mm' [15.0, 8.0]"
    bad_set "set: neither PEs nor slices" cube.pes=0 \
        "a cube without PEs and slices is a switch, which needs 'sip.net'"
    bad_set "set: a missing PE that is none" 'missing=[c0.pe8]' \
        "'c0.pe8' in 'missing' matches no PE"
    bad_set "set: a key of a cube twice" 'cubes={c3: {pes: 4, pes: 5}}' "duplicate key 'cube.pes'"
    bad_set "set: one cube" cubes.c1.pes=4 "unknown key 'cubes.c1.pes': 'cubes' is one value, as {c1: {pes: 4}}"
    bad_set "set: cubes" sip.cube_mesh.w=16384 "'sip.cube_mesh' has 32768 cubes, more than 16384"
    fails "set: a value with a message is not checked further" 2 \
        "--set cube.size_mm=[x, 1]: 'cube.size_mm' must be a number, not 'x'" \
        --set 'cube.size_mm=[x, 1]' --set 'cube.sram.pos_mm=[16, 1]' topologies/cube8.yaml
    fails "set: nor is the file's value in its place" 2 \
        "--set cube.pes=x: 'cube.pes' must be an integer, not 'x'" \
        --set cube.pes=x tests/bad/pes_none.yaml
    fails "set: every mistake of file and options" 3 \
        "tests/bad/sips_over.yaml:5:7: 'sips' must be 1..256, not '257'
--set cube.pes=x: 'cube.pes' must be an integer, not 'x'
--set frob=1: unknown key 'frob'" --set cube.pes=x --set frob=1 tests/bad/sips_over.yaml
}

# Lists with words of their own: planes, chiplets, cubes and PEs by patterns, links that are broken.
bad_lists()
{
    local patterns=": c3, c[4-7], c1.pe0 or c*.pe[0-3], with s1. before it on SIP 1"
    local no_link=" is no link, write c1-c2, c1>c2 for one direction, PLANE:c1>c2 for one plane, or c0.noc-c0.ucie-E"

    bad_set 'set: sip.planes=[{name: A}]' 'sip.planes=[{name: A}]' \
        "'sip.planes.name' must be [a-z][a-z0-9_]*, not 'A'"
    bad_set 'set: sip.planes=[{name: aB}]' 'sip.planes=[{name: aB}]' \
        "'sip.planes.name' must be [a-z][a-z0-9_]*, not 'aB'"
    bad_set 'set: sip.planes=[{name: aaaaaaaaaaaaaaaaaaaa}]' 'sip.planes=[{name: aaaaaaaaaaaaaaaaaaaa}]' \
        "'sip.planes.name' must be at most 16 characters, not 'aaaaaaaaaaaaaaaaaaaa'"
    bad_set 'set: sip.planes=[{name: a, bw_gbs: x}]' 'sip.planes=[{name: a, bw_gbs: x}]' \
        "'sip.planes.bw_gbs' must be a number, not 'x'"
    bad_set 'set: sip.planes=[{name: a, bw_gbs: 0.001}]' 'sip.planes=[{name: a, bw_gbs: 0.001}]' \
        "'sip.planes.bw_gbs' must be 0 or 0.01..1000000, not '0.001'"
    bad_set 'set: sip.planes=[{name: a, name: b}]' 'sip.planes=[{name: a, name: b}]' \
        "duplicate key 'name'"
    bad_set 'set: sip.planes=[x]' 'sip.planes=[x]' \
        "'sip.planes' must be a list of mappings {name, dirs, order, bw_gbs}, not 'x'"
    bad_set 'set: sip.planes=x' sip.planes=x \
        "'sip.planes' must be a list of at most 8 planes, not 'x'"
    bad_set 'set: sip.planes=[{name: a, order: zz}]' 'sip.planes=[{name: a, order: zz}]' \
        "'sip.planes.order' must be xy or yx, not 'zz'"
    bad_set 'set: sip.planes=[{[x]: a}]' 'sip.planes=[{[x]: a}]' \
        "unknown key '' in 'sip.planes', known here: name, dirs, order, bw_gbs"
    bad_set 'set: sip.planes=[{name: [x]}]' 'sip.planes=[{name: [x]}]' \
        "'sip.planes.name' must be [a-z][a-z0-9_]*, not a list of 1"
    bad_set 'set: sip.planes=[{order: xy}]' 'sip.planes=[{order: xy}]' \
        "a plane needs a name"
    bad_set 'set: sip.io_chiplets=[Q]' 'sip.io_chiplets=[Q]' \
        "'sip.io_chiplets' must be N, E, S or W, not 'Q'"
    bad_set 'set: sip.io_chiplets=[[x]]' 'sip.io_chiplets=[[x]]' \
        "'sip.io_chiplets' must be N, E, S or W, not a list of 1"
    bad_set 'set: sip.io_chiplets=[EE]' 'sip.io_chiplets=[EE]' \
        "'sip.io_chiplets' must be N, E, S or W, not 'EE'"
    bad_set 'set: missing=[[x]]' 'missing=[[x]]' \
        "'missing' must be a list of names, not a list of 1"
    bad_set 'set: missing=[]' 'missing=[""]' \
        "'missing' must be a list of names, not the string ''"
    bad_set 'set: missing=[c0.pe1-]' 'missing=[c0.pe1-]' \
        "'c0.pe1-' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[c[0,1]' 'missing=["c[0,1"]' \
        "'c[0,1' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[c[0,x]]' 'missing=["c[0,x]"]' \
        "'c[0,x]' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[c[0.1]]' 'missing=["c[0.1]"]' \
        "'c[0.1]' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[s0]' 'missing=[s0]' \
        "'s0' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[s0c1]' 'missing=[s0c1]' \
        "'s0c1' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[c00]' 'missing=[c00]' \
        "'c00' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[c9999999999]' 'missing=[c9999999999]' \
        "'c9999999999' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[c[3-1]]' 'missing=["c[3-1]"]' \
        "'c[3-1]' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[c[3-x]]' 'missing=["c[3-x]"]' \
        "'c[3-x]' in 'missing' is no cube and no PE$patterns"
    bad_set 'set: missing=[c*]' 'missing=["c*"]' \
        "'missing' leaves no cube"
    bad_set 'set: broken=[c0>c1, c0.pe0>c1]' 'broken=["c0>c1", "c0.pe0>c1"]' \
        "'broken': 'c0.pe0>c1'$no_link"
    bad_set 'set: broken=[ucie-E>c0]' 'broken=["ucie-E>c0"]' \
        "'broken': 'ucie-E>c0'$no_link"
    bad_set 'set: broken=[c0-c1.pe0]' 'broken=["c0-c1.pe0"]' \
        "'broken': 'c0-c1.pe0'$no_link"
    bad_set 'set: broken=[a:c0>c1]' 'broken=["a:c0>c1"]' \
        "'broken': 'a:c0>c1' begins with a plane that sip.planes does not have"
    bad_set 'set: broken=[c0.ucie-E>c0.ucie-W]' 'broken=["c0.ucie-E>c0.ucie-W"]' \
        "'broken': 'c0.ucie-E>c0.ucie-W' must join two cubes, or a cube's noc and one of its ucie"
    bad_set 'set: broken=[c0-c0]' 'broken=["c0-c0"]' \
        "'broken': 'c0-c0' matches no link between neighbours"
    bad_set 'set: broken=[c[0,5]-c[0,5]]' 'broken=["c[0,5]-c[0,5]"]' \
        "'broken': 'c[0,5]-c[0,5]' matches no link between neighbours"
    bad_set 'set: cubes={[a]: {pes: 4}}' 'cubes={[a]: {pes: 4}}' \
        "'cubes' has names of cubes as keys"
    bad_set 'set: cubes={~: {pes: 4}}' 'cubes={~: {pes: 4}}' \
        "'cubes' has names of cubes as keys"
    bad_set 'set: cubes={c0.pe0: {pes: 4}}' 'cubes={c0.pe0: {pes: 4}}' \
        "'c0.pe0' in 'cubes' is no cube: c3, c[4-7], s1.c0 or s*.c*"
    bad_set 'set: cubes={c99: {pes: 4}}' 'cubes={c99: {pes: 4}}' \
        "'c99' in 'cubes' matches no cube"
}

# Keys that must fit each other.
bad_pairs()
{
    fails 'sets: sip.planes=[{name: a}, {name: b}] broken=[a:c0.noc>c0.ucie-E]' 2 \
        '--set broken=["a:c0.noc>c0.ucie-E"]: '"'"'broken'"'"': '"'"'a:c0.noc>c0.ucie-E'"'"': between a noc and its ucie all planes are broken, leave out the plane' \
        --set 'sip.planes=[{name: a}, {name: b}]' --set 'broken=["a:c0.noc>c0.ucie-E"]' topologies/cube8.yaml
    fails 'sets: sip.planes=[{name: a}, {name: b}] broken=[x:c0>c1]' 2 \
        '--set broken=["x:c0>c1"]: '"'"'broken'"'"': '"'"'x:c0>c1'"'"' begins with a plane that sip.planes does not have' \
        --set 'sip.planes=[{name: a}, {name: b}]' --set 'broken=["x:c0>c1"]' topologies/cube8.yaml
    fails 'sets: broken=[c0.noc>c1.ucie-E]' 2 \
        '--set broken=["c0.noc>c1.ucie-E"]: '"'"'broken'"'"': '"'"'c0.noc>c1.ucie-E'"'"' matches no cube' \
        --set 'broken=["c0.noc>c1.ucie-E"]' topologies/cube8.yaml
    fails 'sets: broken=[c0.ucie-E>c1]' 2 \
        '--set broken=["c0.ucie-E>c1"]: '"'"'broken'"'"': '"'"'c0.ucie-E>c1'"'"' must join two cubes, or a cube'"'"'s noc and one of its ucie' \
        --set 'broken=["c0.ucie-E>c1"]' topologies/cube8.yaml
    fails 'sets: broken=[c0>c1.noc]' 2 \
        '--set broken=["c0>c1.noc"]: '"'"'broken'"'"': '"'"'c0>c1.noc'"'"' must join two cubes, or a cube'"'"'s noc and one of its ucie' \
        --set 'broken=["c0>c1.noc"]' topologies/cube8.yaml
    fails 'sets: addressing.granule=4096 cube.pe.pe_ipcq.space=hbm' 2 \
        '--set cube.pe.pe_ipcq.space=hbm: '"'"'cube.pe.pe_ipcq.space: hbm'"'"' needs slices of their own, but '"'"'addressing.granule'"'"' interleaves them: tcm or sram is possible' \
        --set addressing.granule=4096 --set cube.pe.pe_ipcq.space=hbm topologies/cube8.yaml
    fails 'sets: addressing.granule=3 addressing.hash=xor' 2 \
        '--set addressing.granule=3: '"'"'addressing.granule'"'"' must be 0 or a power of two from 64, not '"'"'3'"'"'' \
        --set addressing.granule=3 --set addressing.hash=xor topologies/cube8.yaml
    fails 'sets: addressing.granule=x addressing.hash=xor' 2 \
        '--set addressing.granule=x: '"'"'addressing.granule'"'"' must be an integer, not '"'"'x'"'"'' \
        --set addressing.granule=x --set addressing.hash=xor topologies/cube8.yaml
    fails 'sets: addressing.granule=4096 addressing.hash=zzz' 2 \
        '--set addressing.hash=zzz: '"'"'addressing.hash'"'"' must be none or xor, not '"'"'zzz'"'"'' \
        --set addressing.granule=4096 --set addressing.hash=zzz topologies/cube8.yaml
    fails 'sets: addressing.granule=4096 cube.pe.pe_ipcq.space=zzz' 2 \
        '--set cube.pe.pe_ipcq.space=zzz: '"'"'cube.pe.pe_ipcq.space'"'"' must be tcm, sram or hbm, not '"'"'zzz'"'"'' \
        --set addressing.granule=4096 --set cube.pe.pe_ipcq.space=zzz topologies/cube8.yaml
    fails 'sets: fabric.shape=x fabric.grid.w=2' 2 \
        '--set fabric.shape=x: '"'"'fabric.shape'"'"' must be switch, grid or net, not '"'"'x'"'"'' \
        --set fabric.shape=x --set fabric.grid.w=2 topologies/cube8.yaml
    fails 'sets: fabric.grid.w=x' 2 \
        '--set fabric.grid.w=x: '"'"'fabric.grid.w'"'"' must be an integer, not '"'"'x'"'"'' \
        --set fabric.grid.w=x topologies/cube8.yaml
    fails 'sets: addressing.granule=4096 addressing.over=sip cubes={c0: {hbm: {size_gb: 24}}}' 2 \
        '--set addressing.over=sip: '"'"'addressing.over: sip'"'"' needs equal slices and '"'"'cube.hbm.size_gb'"'"' in all cubes that have slices' \
        --set addressing.granule=4096 --set addressing.over=sip --set 'cubes={c0: {hbm: {size_gb: 24}}}' topologies/cube8.yaml
    fails 'sets: addressing.granule=4096 addressing.over=sip cubes={c0: {hbm: {slices: 4}}}' 2 \
        '--set addressing.over=sip: '"'"'addressing.over: sip'"'"' needs equal slices and '"'"'cube.hbm.size_gb'"'"' in all cubes that have slices' \
        --set addressing.granule=4096 --set addressing.over=sip --set 'cubes={c0: {hbm: {slices: 4}}}' topologies/cube8.yaml
    fails 'sets: addressing.granule=1073741824 cube.hbm.size_gb=1' 2 \
        '--set addressing.granule=1073741824: '"'"'addressing.granule'"'"' 1073741824 is larger than a slice, which has 134217728 bytes' \
        --set addressing.granule=1073741824 --set cube.hbm.size_gb=1 topologies/cube8.yaml
    fails 'sets: addressing.granule=4096 cube.pes=0 cube.hbm.slices=0' 2 \
        '--set cube.hbm.slices=0: a cube without PEs and slices is a switch, which needs '"'"'sip.net'"'"'' \
        --set addressing.granule=4096 --set cube.pes=0 --set cube.hbm.slices=0 topologies/cube8.yaml
    fails 'sets: cubes={c0.pe1: {pes: 1}, c1: {pes: 2}}' 2 \
        '--set cubes={c0.pe1: {pes: 1}, c1: {pes: 2}}: '"'"'c0.pe1'"'"' in '"'"'cubes'"'"' is no cube: c3, c[4-7], s1.c0 or s*.c*' \
        --set 'cubes={c0.pe1: {pes: 1}, c1: {pes: 2}}' topologies/cube8.yaml
    fails 'sets: missing=[c9.pe0, c0.pe0]' 2 \
        '--set missing=["c9.pe0", "c0.pe0"]: '"'"'c9.pe0'"'"' in '"'"'missing'"'"' matches no PE' \
        --set 'missing=["c9.pe0", "c0.pe0"]' topologies/cube8.yaml
    fails 'sets: broken=[c9>c1, c0>c1]' 2 \
        '--set broken=["c9>c1", "c0>c1"]: '"'"'broken'"'"': '"'"'c9>c1'"'"' matches no link between neighbours' \
        --set 'broken=["c9>c1", "c0>c1"]' topologies/cube8.yaml
}

# tables NAME ARG...: they are printed, and nothing is said.
tables()
{
    name=$1
    shift
    run "$@" topologies/cube8.yaml
    [ "$code" -eq 0 ] && [ -s "$work/out" ] && [ ! -s "$work/err" ]
    ok "$name"
}

broken_and_planes()
{
    tables 'sets: sip.planes=[{name: a}, {name: b}] broken=[a:c0>c1]' --set 'sip.planes=[{name: a}, {name: b}]' --set 'broken=["a:c0>c1"]'
    tables 'sets: sip.planes=[{name: a}, {name: bcd}] broken=[bcd:c0-c1]' --set 'sip.planes=[{name: a}, {name: bcd}]' --set 'broken=["bcd:c0-c1"]'
    tables 'sets: broken=[c0.ucie-E>c0.noc]' --set 'broken=["c0.ucie-E>c0.noc"]'
    tables 'sets: broken=[c0.noc-c0.ucie-E]' --set 'broken=["c0.noc-c0.ucie-E"]'
    tables 'sets: cubes={c0: {pes: 1}, c1: {pes: 2}, c2: {pes: 4}, c3: {pes: 6}, c4: {hbm: {size_gb: 2' --set 'cubes={c0: {pes: 1}, c1: {pes: 2}, c2: {pes: 4}, c3: {pes: 6}, c4: {hbm: {size_gb: 2}}, c5: {hbm: {size_gb: 3}}, c6: {hbm: {size_gb: 4}}, c7: {hbm: {size_gb: 5}}}'
}

good_sets()
{
    sets "set: number" "    bw_gbs: 512.0" --set cube.hbm.bw_gbs=512 topologies/cube8.yaml
    sets "set: list" "  size_mm: [16.0, 12.5]" --set 'cube.size_mm=[16, 12.5]' topologies/cube8.yaml
    sets "set: word" "  links: fifo" --set contention.links=fifo topologies/cube8.yaml
    sets "set: the last one counts" "sips: 3" --set sips=2 --set sips=3 topologies/cube8.yaml
    sets "set: over the file" "name: other" --set name=other topologies/cube8.yaml
    sets "set: after the file" "name: other" topologies/cube8.yaml --set name=other
    sets "set: a key the file lacks" "name: t" --set name=t tests/bad/missing_name.yaml
    sets "set: a mapping the file lacks" "    w: 3" \
        --set sip.cube_mesh.w=3 --set sip.cube_mesh.h=1 tests/bad/missing_sip.yaml
    sets "set: checked once all are set" "  size_mm: [15.0, 8.0]" \
        --set 'cube.size_mm=[15, 8]' --set 'cube.sram.pos_mm=[1, 1]' topologies/cube8.yaml
    fails "set: half of a missing mapping" 3 \
        "tests/bad/missing_sip.yaml:2:1: missing key 'sip.cube_mesh.h'" \
        --set sip.cube_mesh.w=3 tests/bad/missing_sip.yaml
}

resolved()
{
    for f in topologies/*.yaml tests/machines/*.yaml tests/vectors/*.yaml; do
        run --config "$f"
        mv "$work/out" "$work/first.yaml"
        KB_COMPONENTS=$(dirname "$f")/components run --config "$work/first.yaml"
        [ "$code" -eq 0 ] && [ -s "$work/out" ] && cmp -s "$work/first.yaml" "$work/out"
        ok "the resolved YAML of $f resolves to itself"
    done
    run --name topologies/tray32.yaml
    echo tray32 | cmp -s - "$work/out"
    ok "--name"
    run --hash tests/machines/cube8.yaml
    echo db513632d7f7f2c1 | cmp -s - "$work/out"
    ok "--hash, of version 1 as ever"
    for f in topologies/*.yaml; do
        run --config "$f"
        head -n 1 "$work/out" | grep -qx 'kernbench: 2' || { echo "# $f"; break; }
    done
    ok "all shipped topologies are of version 2"
}

# huge NAME CODE TEXT: $work/huge.yaml ends in time, with a first message that has TEXT.
huge()
{
    run "$work/huge.yaml"
    [ "$code" -eq "$2" ] && head -n 1 "$work/err" | grep -qF -- "$3"
    ok "$1"
}

start='kernbench: 1
name: t
sip: {cube_mesh: {w: 2, h: 2}}'

# rows N FORMAT: N lines, each numbered by the format's %d.
rows()
{
    awk -v n="$1" -v fmt="$2" 'BEGIN { for (i = 0; i < n; i++) printf fmt "\n", i }'
}

# repeat N TEXT: TEXT N times, on one line.
repeat()
{
    awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text; print "" }'
}

huge_files()
{
    rows 100000 'k%d: 1' >"$work/huge.yaml"
    huge "a hundred thousand unknown keys" 3 ":1:1: unknown key 'k0'"
    rows 30 'k%d: 1' >"$work/huge.yaml"
    run --set frob=1 --set cube.pes=x "$work/huge.yaml"
    [ "$code" -eq 3 ] && [ "$(tail -n 1 "$work/err")" = "kbgen: further errors not shown" ]
    ok "thirty unknown keys, and two mistakes of options that are not shown"
    { echo "$start"; rows 100000 'sips: 1'; } >"$work/huge.yaml"
    huge "a hundred thousand times one key" 3 ":5:1: duplicate key 'sips', given on line 4"
    { echo "x:"; rows 60000 ' - &a%d 1'; } >"$work/huge.yaml"
    huge "sixty thousand anchors" 3 ":1002:4: more than 1000 anchors"
    rows 20000 '%%TAG !a%d! tag:example.com,2000:' >"$work/huge.yaml"
    huge "twenty thousand directives" 3 ":1:1: directives"
    repeat 1000000 '[' >"$work/huge.yaml"
    huge "a million brackets" 3 ":1:65: nested more than 64 deep"
    repeat 500000 '- ' >"$work/huge.yaml"
    huge "half a million dashes" 3 ":1:129: nested more than 64 deep"
    { printf 'name: '; repeat 1000000 'a'; } >"$work/huge.yaml"
    huge "a long name" 3 ":1:7: 'name' must be at most 48 characters"
    { printf 'sips: '; repeat 1000000 '9'; } >"$work/huge.yaml"
    huge "a long number" 3 ":1:7: 'sips' must be 1..256"
    { echo "$start"; rows 30000 '# another comment that says nothing %d'; } >"$work/huge.yaml"
    huge "more than a mebibyte" 3 "huge.yaml:1:1: larger than 1 MiB"
    begins "a device without end" 3 "/dev/zero:1:1: larger than 1 MiB" /dev/zero
}

aliases()
{
    printf '%s\n' "$start" 'fabric: {bw_gbs: &bw 77, distance_mm: 3}' 'cube: {noc: {bw_gbs: *bw}}' \
        >"$work/alias.yaml"
    sets "alias: a value" "    bw_gbs: 77.0" "$work/alias.yaml"
    printf '%s\n' "$start" 'fabric: &f {bw_gbs: 77, distance_mm: 3}' 'cube: {bridge: *f}' \
        >"$work/alias.yaml"
    sets "alias: a mapping" "    distance_mm: 3.0" "$work/alias.yaml"
    {
        echo 'a0: &a0 [x, x]'
        awk 'BEGIN { for (i = 1; i < 60; i++) printf "a%d: &a%d [*a%d]\n", i, i, i - 1 }' |
            sed 's/\[\(.*\)\]/[\1, \1]/'
    } >"$work/huge.yaml"
    huge "alias: doubled sixty times" 3 ":1:1: unknown key 'a0'"
    { echo "$start"; echo 'cube: &c {size_mm: &l [*l, *c]}'; } >"$work/huge.yaml"
    huge "alias: of itself" 3 ":4:20: 'cube.size_mm' must be a number, not a list of 2"
}

# Every line of --keys is what --set takes: all of one machine make another the same.
all_keys()
{
    local line sets=()

    "$kbgen" --keys "$root/topologies/tray32.yaml" >"$work/keys"
    while read -r line; do
        sets+=(--set "$line")
    done <"$work/keys"
    "$kbgen" "${sets[@]}" --config "$root/topologies/cube1.yaml" >"$work/other"
    "$kbgen" --config "$root/topologies/tray32.yaml" | same - "$work/other" && [ ${#sets[@]} -gt 100 ]
    ok "--keys prints what --set takes"
    sets=()
    "$kbgen" --keys "$root/topologies/v5p.yaml" >"$work/keys"
    while read -r line; do
        sets+=(--set "$line")
    done <"$work/keys"
    "$kbgen" "${sets[@]}" --config "$root/topologies/v5p.yaml" >"$work/other"
    "$kbgen" --config "$root/topologies/v5p.yaml" | same - "$work/other" && [ ${#sets[@]} -gt 100 ]
    ok "--keys of a net, too"
}

each_bad_file
all_keys
command_line
bad_sets
bad_lists
bad_pairs
broken_and_planes
good_sets
resolved
huge_files
aliases
plan
