#!/usr/bin/env bash
# stale.sh -- what is kept is not taken once anything that it was made of has changed.
#
# For each kind of input: a study with --sqlite, an edit of that input, the study again. It must have
# the rows of a cold run, without database and cache, which must not be those from before; and a
# third run takes them all from the database. A sweep in two parts, one before the edit and one after
# it, is not joined. tests/python/test_stale.py does the same for what Python keeps.
#
# TAP on stdout. B names the build, SIM the simulator of cube8.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
any=$B/kernbench
program=$any
unset CC CPATH C_INCLUDE_PATH KB_COMPONENTS
own_path=$PATH

# study ARGUMENT...: out, err, $code
study()
{
    call "$program" study s.yaml --format csv --quiet "$@"
}

# cold: the same in an empty cache
cold()
{
    rm -rf "$work/empty" && mkdir "$work/empty"
    XDG_CACHE_HOME=$work/empty study "$@"
}

# kind NAME WHAT: an edit() of the input NAME; stderr says that it is not the same WHAT, or nothing if that is ""
kind()
{
    local name=$1 what=$2

    rm -rf "$work/kind" "$work/cache" && mkdir "$work/kind" "$work/cache" && cd "$work/kind" || exit 1
    export XDG_CACHE_HOME=$work/cache
    program=$any
    before
    study --sqlite kept.db
    [ $code -eq 0 ] && mv "$work/out" first && [ ! -s "$work/err" ]
    ok "$name: as it was"
    parts 1
    edit
    cold && mv "$work/out" wanted
    study --sqlite kept.db
    [ $code -eq 0 ] && cmp "$work/out" wanted && ! cmp -s first wanted &&
        if [ "$what" ]; then says "not of the same $what: base, x"; else [ ! -s "$work/err" ]; fi
    ok "$name: done again${what:+, as the $what differs}"
    study --sqlite kept.db
    [ $code -eq 0 ] && cmp "$work/out" wanted && [ ! -s "$work/err" ]
    ok "$name: and then kept"
    joined "$name"
    cd "$work" || exit 1
    PATH=$own_path
    unset CC CPATH C_INCLUDE_PATH KB_COMPONENTS
}

# A kind may have a command that makes parts.
sweep=()
parts()
{
    [ ${#sweep[@]} -eq 0 ] || call "$program" "${sweep[@]}" --format csv --quiet -o part.csv --shard "$1/2"
}
joined()
{
    [ ${#sweep[@]} -eq 0 ] && return
    parts 2
    call "$any" merge part.csv
    [ $code -eq 3 ] && says "as part 1: they are parts of two runs" && [ ! -e part.csv ]
    ok "$1: parts from before and after are not joined"
}

# object FILE ELEMENTS: a bench that stores so many
object()
{
    "$any" cc -o "$1" own.c -- -DELEMENTS="$2" 2>/dev/null
}

# commands LINE...: a study of them on cube8, or on m.yaml
commands()
{
    {
        printf 'commands:\n'
        printf -- '  - %s\n' "$@"
        echo "machine: $root/topologies/cube8.yaml"
        echo 'variants: {x: {cube.xbar.pe_gbs: 64}}'
    } >s.yaml
}

# -- objects of benches ---------------------------------------------------------------------------

bench()
{
    cat >own.c <<'END'
#include <tl.h>
static void own(tl_ctx *tl, const kb_args *args) { (void)args; tl_store(tl, 0, tl_full(tl, KB_F16, KB_SHAPE(ELEMENTS), 1)); }
static void setup(kb_bench_run *run) { kb_bench_launch(run, "own", own, NULL, 0); }
const kb_bench bench_own = {.name = "own", .summary = "a store", .setup = setup};
KB_BENCHES(&bench_own);
END
    object own.so 64
    object new.so 6400
}
sweep=(run ./own.so:own --machine "$root/topologies/cube8.yaml" --vary cube.hbm.bw_gbs=64,128)
before() { bench && commands 'run ./own.so:own'; }
edit() { mv new.so own.so; }
kind "an object, ./own.so:own, that is compiled again" bench
edit() { cat new.so >own.so; }
kind "one that is written over" bench
sweep=()
before() { bench && commands 'run own.so'; }
edit() { mv new.so own.so; }
kind "one without the name of its bench" bench
before() { bench && mkdir b && mv new.so b/own.so && commands 'run ./own.so:own'; }
edit() { mv kept.db first s.yaml b && cd b || exit 1; }
kind "the same command in another folder" bench

# -- files of a command -----------------------------------------------------------------------------

rows() { printf '%s\n' issue_ns,op,src,dst,offset,nbytes "0,read,c0.pe0,c5.slice0,0,$1" >rows.csv; }
sweep=(replay rows.csv --machine "$root/topologies/cube8.yaml" --vary cube.hbm.bw_gbs=64,128)
before() { rows 4096 && commands 'replay rows.csv'; }
edit() { rows 8192; }
kind "a file of transactions" inputs
before() { rows 4096 && mv rows.csv a.csv && rows 8192 && mv rows.csv b.csv && ln -s a.csv rows.csv && commands 'replay rows.csv'; }
edit() { ln -sf b.csv rows.csv; }
kind "a link to another file" inputs
matrix() { printf 'src,dst,weight\nc0.pe0,%s,1\n' "$1" >matrix.csv; }
sweep=(load --pattern matrix:matrix.csv --rate 0.1 --txns 100 --seeds 1 --machine "$root/topologies/cube8.yaml" --vary cube.hbm.bw_gbs=64,128)
before() { matrix c0.slice0 && commands 'load --pattern matrix:matrix.csv --rate 0.1 --txns 100 --seeds 1'; }
edit() { matrix c5.slice3; }
kind "a matrix" inputs
sweep=()

# -- the study itself, its machine: these are other results, not the same ones again ----------------------

before() { commands 'probe --case pe-local-hbm --bytes 64'; }
edit() { commands 'probe --case pe-local-hbm --bytes 128'; }
kind "an argument of the command" ""
edit() { sed -i 's/pe_gbs: 64/pe_gbs: 32/' s.yaml; }
kind "a value of a variant" ""
edit() { echo 'set: {cube.hbm.overhead_ns: 77}' >>s.yaml; }
kind "a key that is set" ""
one()
{
    cat >m.yaml <<END
kernbench: 2
name: m
sip: {cube_mesh: {w: 1, h: 1}}
cube: {pes: 1, hbm: {${1:-bw_gbs: 256}}}
END
    commands 'probe --case pe-local-hbm' && sed -i 's/^machine: .*/machine: m.yaml/' s.yaml
}
sweep=(sweep --src c0.pe0 --dst c0.slice0 --bytes 64,128 --machine m.yaml)
before() { one; }
edit() { one 'bw_gbs: 64'; }
kind "the machine's YAML" ""

# -- components ------------------------------------------------------------------------------------

# server FOLDER FS: a memory that takes so long
server()
{
    mkdir -p "$1" && cat >"$1/slow.c" <<END
/* kernbench component: memory slow
 * wait_ns  number  ${3:-1.0}  0..1e6  for each request
 */
struct slow { int64_t n; };
static inline void slow_init(struct slow *s) { s->n = 0; }
static inline struct kb_served slow_serve(struct slow *s, const struct kb_request *r, int64_t now)
{
    int64_t fs = r->drain_fs + SLOW_WAIT_FS + INT64_C($2);
    s->n++;
    return (struct kb_served){.hold_fs = fs, .done_fs = now + fs};
}
END
}
before() { server components 1000 && one 'impl: slow'; }
edit() { server components 9000000; }
kind "a component's code" ""
edit() { server components 1000 9.0; }
kind "the header of a component: a default" ""
edit() { one 'impl: slow, slow: {wait_ns: 5.0}'; }
kind "a key of a component" ""
before() { server a 1000 && server b 9000000 && export KB_COMPONENTS=$PWD/a && one 'impl: slow'; }
edit() { export KB_COMPONENTS=$PWD/b; }
kind "KB_COMPONENTS" ""
edit() { server components 9000000; }
kind "a component that appears in a folder that comes first" ""

# cc ELEMENTS FILE: a compiler by which INT64_C(1000) is more
compiler() { printf '#!/bin/sh\nexec /usr/bin/cc -DMORE=%s "$@"\n' "$1" >"$2" && chmod +x "$2"; }
more() { server components MORE && sed -i 's/INT64_C(MORE)/MORE/' components/slow.c && one 'impl: slow'; }
before() { compiler 1000 a && compiler 9000000 b && export CC=$PWD/a && more; }
edit() { export CC=$PWD/b; }
kind "the variable CC" compiler
edit() { compiler 9000000 a; }
kind "the compiler itself" compiler
before() { mkdir a b && compiler 1000 a/cc && compiler 9000000 b/cc && PATH=$PWD/a:$PATH && more; }
edit() { PATH=$PWD/b:$PATH; }
kind "the compiler that PATH finds" compiler
shadow() { mkdir -p "$1" && printf '#include_next <stdint.h>\n#define MORE %s\n' "$2" >"$1/stdint.h"; }
before() { shadow a 1000 && shadow b 9000000 && export CPATH=$PWD/a && more; }
edit() { export CPATH=$PWD/b; }
kind "CPATH" compiler
edit() { shadow a 9000000; }
kind "a file in a folder of CPATH" compiler
before() { shadow a 1000 && mkdir b && export CPATH=$PWD/b:$PWD/a && more; }
edit() { shadow b 9000000; }
kind "a header that appears earlier in CPATH" compiler
before() { shadow a 1000 && shadow b 9000000 && export C_INCLUDE_PATH=$PWD/a && more; }
edit() { export C_INCLUDE_PATH=$PWD/b; }
kind "C_INCLUDE_PATH" compiler

# -- the program -------------------------------------------------------------------------------------

# other ROWS PROGRAM: a program whose softmax has so many by default; its object comes before the archive's
other()
(
    cd "$root" && as_built
    sed "s/\"M\", \"256\"/\"M\", \"$1\"/" benches/softmax.c >"$work/softmax.c"
    $CC -std=gnu11 -D_GNU_SOURCE $CFLAGS $SAN -Iruntime/include -Iruntime -I. -Ibenches -c "$work/softmax.c" -o "$work/softmax.o" &&
        $CC $CFLAGS $SAN -o "$2" "$B/_o/runtime/cli/kernbench.o" "$work/softmax.o" "$B/libkernbench-cli.a" \
            -Wl,--whole-archive "$B/libkernbench.a" -Wl,--no-whole-archive $(cat "$B/_t/libs")
)
sweep=(run softmax --machine "$root/topologies/cube8.yaml" --vary cube.hbm.bw_gbs=64,128)
before() { commands 'run softmax'; }
edit() { other 64 "$work/other" && program=$work/other; }
kind "a bench of the program" program
plan
