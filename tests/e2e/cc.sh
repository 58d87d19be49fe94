#!/usr/bin/env bash
# cc.sh -- benches of shared objects: `cc` compiles them, and every command takes FILE.so:NAME.
#
# TAP on stdout. B names the build, SIM the simulator of cube8.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
grep -q -e '-fsanitize' -e '--coverage' "$B/_o/flags" && none "a shared object would need what instruments the program"
grep -q -e ' -static' "$B/_o/flags" && none "a static program loads no shared object"
cp "$root/examples/moe.c" .

# -- the way of a good one ---------------------------------------------------------------------

call "$SIM" cc moe.c && [ -x moe.so ] && [ ! -s err ] && [ "$(echo moe.*)" = "moe.c moe.so" ]
ok "cc makes moe.so of moe.c, and leaves nothing else"
call "$SIM" list ./moe.so --format csv && grep -q '^moe,tokens,int,128,1..65536,' out && ! grep -q '^gemm' out
ok "list of a file has its benches"
cp out whole && call "$SIM" list ./moe.so:moe --format csv && same whole out && call "$SIM" list gemm --format csv &&
    grep -q '^gemm,M,' out && ! grep -q '^copy' out
ok "list of one bench, of a file or not"
call "$SIM" run ./moe.so:moe --verify --format csv && grep -q '^moe,moe,64,.*,pass,' out
ok "run, verified against its reference"
cp out whole && call "$SIM" run moe.so --verify --format csv && same whole out
ok "a file with one bench is enough, also without a folder"
call "$SIM" run ./moe.so:moe --verify --engine hop --format csv && same whole out
ok "the same by the hop engine"
# a PE with several experts, whose rows come mixed; an expert with 301 rows, more than one product takes
for experts in 150 2; do
    call "$SIM" run ./moe.so:moe how=dispatch tokens=301 experts=$experts D=33 N=17 --verify --dump sent --quiet --format csv &&
        grep -q '^moe,moe_dispatch,64,.*,pass,' out &&
        call "$SIM" run ./moe.so:moe tokens=301 experts=$experts D=33 N=17 --dump fetched --quiet &&
        cmp -s sent/out.y.npy fetched/out.y.npy && cmp -s sent/out.expert.npy fetched/out.expert.npy
    ok "rows that go to $experts experts by collectives have the results of experts that come to rows, bit by bit"
    rm -rf sent fetched
done
call "$SIM" run ./moe.so:moe how=dispatch tokens=50 --race && says 'no races: '
ok "and are not raced for"
refused "tables of too many PEs" 2 "moe: how=dispatch is for 256 PEs at most: each has a table of all pairs" \
    run ./moe.so:moe how=dispatch --set sip.cube_mesh.w=20
call "$SIM" run ./moe.so:moe --inspect last && grep -q 'dma_write' out && call "$SIM" run ./moe.so:moe --breakdown &&
    grep -q 'tl_load moe.c:' out && call "$SIM" run ./moe.so:moe --race && says 'no races: ' && call "$SIM" run ./moe.so:moe --trace t.json &&
    [ -s t.json ]
ok "--inspect, --breakdown, --race, --trace"
call "$SIM" why ./moe.so:moe tokens=16 && grep -q '^none ' out && call "$SIM" report run ./moe.so:moe -o moe.html && grep -q moe moe.html
ok "why and report"
printf '%s\n' 'commands: [run ./moe.so:moe tokens=16]' 'vary: {cube.noc.bw_gbs: [128, 256]}' >study.yaml
call "$SIM" study study.yaml --quiet && grep -q '256' out
ok "a study"
call "$SIM" --complete run ./moe.so:moe to && grep -q '^tokens=' out
ok "its arguments are completed"
call env CC="${CC:-cc}" "$SIM" cc moe.c -o other.so -- -O0 -DNOTHING && call "$SIM" run ./other.so --verify --format csv && same whole out
ok "FLAGs of one's own behind --, and the same results"

# -- crashes -----------------------------------------------------------------------------------

sed 's/    int64_t tokens = x.shape.dim\[0\]/    *(volatile int *)16 = 1;\n&/' moe.c >crash.c
call "$SIM" cc crash.c && call "$SIM" run ./crash.so
[ $code = 7 ] && says 'kernel moe on c0.pe0: crashed by an access to address 0x10 (SIGSEGV)'
ok "a crash in it is told as that of a shipped kernel"

call "$B/kernbench" run ./crash.so --machine "$root/tests/machines/cube8.yaml" --vary cube.hbm.bw_gbs=128,256 -j1
[ $code = 7 ] && says 'cube.hbm.bw_gbs=128: kernel moe on c0.pe0: crashed by an access to address 0x10 (SIGSEGV)'
ok "the same on one of several machines"
sed '/^static void setup/,/^{/s/^{/&\n    *(volatile int *)16 = 1;/' moe.c >crash.c
call "$SIM" cc crash.c && call "$SIM" run ./crash.so
[ $code = 7 ] && says "cube8: setup() of bench moe: crashed by an access to address 0x10 (SIGSEGV)"
ok "a crash in its setup()"
sed '/^static void reference/,/^{/s/^{/&\n    abort();/; s/^#include/#include <stdlib.h>\n&/' moe.c >crash.c
call "$SIM" cc crash.c && call "$SIM" run ./crash.so --verify
[ $code = 7 ] && says "cube8: reference() of bench moe: crashed by abort() (SIGABRT)"
ok "a crash in its reference()"

# -- what is refused ---------------------------------------------------------------------------

refused "'./no.so' cannot be loaded: cannot open shared object file: No such file or directory" 3 "'./no.so' cannot be loaded: cannot open shared object file: No such file or directory" run ./no.so:moe
cp moe.c text.so
refused "'text.so' cannot be loaded: " 3 "'text.so' cannot be loaded: " run text.so
echo 'int x;' >none.c && "$SIM" cc none.c
refused "'./none.so' has no benches: its source needs KB_BENCHES(&bench_name);" 3 "'./none.so' has no benches: its source needs KB_BENCHES(&bench_name);" run ./none.so
refused "unknown bench './moe.so:mo', did you mean './moe.so:moe'?" 2 "unknown bench './moe.so:mo', did you mean './moe.so:moe'?" run ./moe.so:mo
sed 's/KB_BENCHES(&bench_moe)/const kb_bench bench_two = {.name = "two"};\nKB_BENCHES(\&bench_moe, \&bench_two)/' moe.c >two.c
"$SIM" cc two.c
refused "'./two.so' has 2 benches: name one as ./two.so:moe" 2 "'./two.so' has 2 benches: name one as ./two.so:moe" run ./two.so
sed 's/#include <tl.h>/&\n#undef KB_ABI\n#define KB_ABI 77/' moe.c >abi.c && "$SIM" cc abi.c
refused "'./abi.so' was compiled for another interface (77, release 0.2.0); this is 0, release 0.2.0: compile it again" 3 "'./abi.so' was compiled for another interface (77, release 0.2.0); this is 0, release 0.2.0: compile it again" run ./abi.so
sed 's/^static void moe(/void tl_of_tomorrow(tl_ctx *tl);\n&/; s/    if (tokens == 0)/    tl_of_tomorrow(tl);\n&/' moe.c >lacks.c &&
    "$SIM" cc lacks.c
refused "'./lacks.so' cannot be loaded: undefined symbol: tl_of_tomorrow" 3 "'./lacks.so' cannot be loaded: undefined symbol: tl_of_tomorrow" run ./lacks.so
sed 's/    if (tokens == 0)/    tl_of_yesterday(tl);\n&/' moe.c >calls.c
call "$SIM" cc calls.c
[ $code != 0 ] && says 'tl_of_yesterday' && [ ! -e calls.so ]
ok "a call of what nothing declares is an error of the compiler's"
refused "an object of another name" 2 "'./noext' is no bench: one of a file is FILE.so:NAME" run ./noext
head -c 5000 moe.so >cut.so
refused "a file that was copied in part" 3 "'./cut.so' cannot be loaded: the file ends too early, as one that was copied in part" run ./cut.so
refused "a source in place of an object" 2 "'moe.c' is a source: 'kernbench cc' compiles it" run moe.c
refused "unknown argument 'toke' of moe, did you mean 'tokens'?" 2 "unknown argument 'toke' of moe, did you mean 'tokens'?" run ./moe.so toke=3
refused "cannot read nowhere.c: No such file or directory" 3 "cannot read nowhere.c: No such file or directory" cc nowhere.c
echo 'int x = ;' >wrong.c
call "$SIM" cc wrong.c
[ $code = 3 ] && says "cube8: 'wrong.c' does not compile: see the messages of " && grep -q '^wrong.c:1:9: ' err && [ ! -e wrong.so ]
ok "what does not compile: the compiler's message, then ours, and no file"
cp moe.so before.so && cp wrong.c moe2.c && call "$SIM" cc moe2.c -o moe.so
[ $code = 3 ] && cmp moe.so before.so
ok "a good object stays when its successor does not compile"
call env CC=/no/compiler "$SIM" cc moe.c
[ $code = 5 ] && says "cube8: cannot run the compiler '/no/compiler': No such file or directory"
ok "no compiler"
plan
