#!/usr/bin/env bash
# kbgen_bad.sh -- what kbgen says of mistakes: each file of tests/bad, the command line, huge files.
# TAP on stdout. KBGEN names the program.
. "$(dirname "$0")/../support/tap.sh"
at_top
kbgen=${KBGEN:-$B/kbgen}

# run ARG...: kbgen; nothing may take long.
run()
{
    call timeout 20 "$kbgen" "$@"
}

# fails NAME CODE MESSAGE ARG...: that exit code, just that on stderr, no output.
fails()
{
    name=$1 want=$2
    printf '%s\n' "$3" >"$work/want"
    shift 3
    run "$@"
    [ "$code" -eq "$want" ] && [ ! -s "$work/out" ] && same "$work/want" "$work/err"
    ok "$name"
}

# begins NAME CODE TEXT ARG...: the same, for messages that end in words of the C library.
begins()
{
    name=$1 want=$2 text=$3
    shift 3
    run "$@"
    [ "$code" -eq "$want" ] && [ ! -s "$work/out" ] && case $(cat "$work/err") in
    "$text"*) true ;;
    *) false ;;
    esac
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
        messages=$(sed -n 's/^# expect: //p' "$f" | sed "s|^\([0-9]\)|$f:\1|")
        fails "$(basename "$f" .yaml)" 3 "$messages" "$f"
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
        "a cube without PEs needs 'cube.hbm.slices', 1 to 64 of them"
    bad_set "set: a missing PE that is none" 'missing=[c0.pe8]' \
        "'c0.pe8' in 'missing' matches no PE"
    bad_set "set: a key of a cube twice" 'cubes={c3: {pes: 4, pes: 5}}' "duplicate key 'cube.pes'"
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
        run --config "$work/first.yaml"
        [ "$code" -eq 0 ] && [ -s "$work/out" ] && cmp -s "$work/first.yaml" "$work/out"
        ok "the resolved YAML of $f resolves to itself"
    done
    run --name topologies/tray32.yaml
    echo tray32 | cmp -s - "$work/out"
    ok "--name"
    run --hash tests/machines/cube8.yaml
    echo db513632d7f7f2c1 | cmp -s - "$work/out"
    ok "--hash, of version 1 as ever"
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
}

each_bad_file
all_keys
command_line
bad_sets
good_sets
resolved
huge_files
aliases
plan
