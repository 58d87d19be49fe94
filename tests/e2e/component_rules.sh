#!/usr/bin/env bash
# component_rules.sh -- what a component keeps, calls and includes, however it is written; whose it may be.
. "$(dirname "$0")/../support/tap.sh"
at_top
KBGEN=${KBGEN:-$B/kbgen}
export XDG_CACHE_HOME=$work/cache TMPDIR=$work/tmp
mkdir -p "$work/components" "$work/tmp"
printf 'nothing' >"$work/bytes"
echo '#define NOW 7' >"$work/macros.h"
echo 'static int foreign;' >"$work/lines.h"

# component NAME HEAD EXPRESSION: memory NAME, which takes so many fs more
component()
{
    printf '/* kernbench component: memory %s */\n%s\nstruct %s {\n    int64_t last_fs;\n};\n\n' "$1" "$2" "$1"
    printf 'static inline void %s_init(struct %s *s)\n{\n    s->last_fs = 0;\n}\n\n' "$1" "$1"
    printf 'static inline struct kb_served %s_serve(struct %s *s, const struct kb_request *r, int64_t now_fs)\n{\n' "$1" "$1"
    printf '    int64_t more = (%s);\n\n    (void)s;\n    return (struct kb_served){r->own_fs, now_fs + r->own_fs + r->drain_fs + more};\n}\n' "$3"
}
# machine NAME: a YAML whose slices are that component
machine()
{
    printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: {impl: %s}}\n' "$1" >"$work/bad.yaml"
}
probes()
{
    call "$B/kernbench" info --machine "$work/bad.yaml" --quiet
}
prints()
{
    call "$KBGEN" --component-code "$work/bad.yaml"
}
# A case is compiled to be loaded, or for topo.c, by gcc or by clang: what is refused in one of the four ways, in turns,
# as one file refuses it in all; what is taken in two.
other=gcc
if command -v clang >/dev/null; then other=clang; fi
turns=0
# one_way CHECK: calls CHECK with CC and $way set
one_way()
{
    local compilers=(gcc $other) ways=(probes prints) k=$((turns++ % 4))

    CC=${compilers[k / 2]} way=${ways[k % 2]}
    "$@"
}
# both_ways CHECK: calls CHECK for each way, with CC and $way set
both_ways()
{
    local compilers=(gcc $other) k=$((turns++ % 2))

    CC=${compilers[k]} way=probes
    "$@"
    CC=${compilers[1 - k]} way=prints
    "$@"
}

is_refused()
{
    CC=$CC $way
    [ $code -eq 3 ] && [ ! -s "$work/out" ] && grep -qE "$text" "$work/err" && [ -z "$(ls "$work/tmp")" ] &&
        [ -z "$(ls "$work/cache/kernbench" 2>/dev/null)" ]
    ok "$name, $CC, $way: $text"
}

# refuses NAME TEXT HEAD EXPRESSION: refused with that, and nothing is left
refuses()
{
    local name=$1 text=$2
    component "$name" "$3" "$4" >"$work/components/$name.c"
    machine "$name"
    one_way is_refused
}

# -- what is kept from one call to the next -----------------------------------------------------

data="is data that can be written: a component keeps its state in struct"
poison="error: attempt to use a? ?poisoned"
refuses counts "counts.c: 'n' $data counts; cube.hbm.impl asks for it" 'static int n;' 'n++'
refuses underline "underline.c: '_n' $data" 'static int _n;' '_n++'
refuses begun "'_n' $data" 'static int64_t _n = 9;' '_n++'
refuses global "'__counter' $data" 'int64_t __counter;' '__counter++'
refuses inside "'_n' $data" '' '__extension__({ static int64_t _n; _n++; })'
refuses thread "'_n' $data" 'static _Thread_local int64_t _n;' '_n++'
refuses thread_begun "'_n' $data" 'static _Thread_local int64_t _n = 1;' '_n++'
refuses by_macro "'_n' $data" '#define KEEP(n) static int64_t n
KEEP(_n);' '_n++'
refuses by_pasting "'_n' $data" '#define P(a, b) a##b
P(sta, tic) int64_t _n;' '_n++'
refuses spliced "'_n' $data" 'sta\
tic int64_t _n;' '_n++'
refuses pointed "'_p' $data" 'static int64_t one_fs(void) { return 1; }
static int64_t (*_p)(void) = one_fs;' '__extension__({ int64_t t = _p ? _p() : 0; _p = 0; t; })'
refuses weak "'_n' $data" '__attribute__((weak)) int64_t _n;' '_n++'
refuses own_section "$poison" '__attribute__((section("mine"))) static int64_t _n = 1;' '_n++'
refuses own_section_ "$poison" '__attribute__((__section__(".data.rel.ro.mine"))) static int64_t _n = 1;' '_n++'
refuses pasted_section "$poison" '#define P(a, b) a##b
__attribute__((P(sec, tion)("mine"))) static int64_t _n = 1;' '_n++'

# -- what runs by itself, and what is called ----------------------------------------------------

refuses constructs "it has a section '\.(init_array|ctors)" '__attribute__((constructor)) static void at_once(void) { __builtin_trap(); }' 0
refuses destructs "it has a section '\.(init_array|fini_array|dtors)" '__attribute__((destructor)) static void in_the_end(void) { __builtin_trap(); }' 0
if [ "$(uname -m)" = x86_64 ]; then
    refuses ifunc "is chosen when the program is loaded" 'static int one(void) { return 1; }
static void *choose(void) { return (void *)one; }
__attribute__((ifunc("choose"))) int chosen(void);' 'chosen()'
fi
refuses calls "it calls 'rand'" 'int rand(void);' 'rand()'
refuses undeclared "it calls 'random'" '' 'random()'
refuses calls_builtin "it calls 'malloc'" '' '(int64_t)(uintptr_t)__builtin_malloc(r->bytes + 1)'
refuses calls_library "it calls '__errno_location'" 'int *__errno_location(void);' '*__errno_location()'
refuses calls_us "it calls 'kb_rt_" 'void kb_rt_push(void);' '(kb_rt_push(), 0)'
refuses weakly "it calls '_time'" '__attribute__((weak)) int _time(void);' '(_time ? _time() : 0)'
refuses foreign_data "it calls 'environ'" 'extern char **environ;' '(int64_t)(uintptr_t)environ'
refuses redefined "line 2: '#pragma redefine_extname" '#pragma redefine_extname mine rand
int mine(void);' 'mine()'
refuses weak_pragma "line 2: '#pragma weak" '_Pragma("weak mine") int mine(void);' '(mine ? mine() : 0)'
refuses optimized "line 2: '#pragma GCC optimize" '%:pragma GCC optimize "fast-math"' 0
for word in asm __asm __asm__; do
    refuses by_$word "$poison" '' "__extension__({ int64_t t; $word volatile(\"nop\" : \"=r\"(t)); t; })"
done
refuses reads_bytes "$poison" "__asm__(\".section .rodata\\nbytes: .incbin \\\"$work/bytes\\\"\\n.text\");" 0
refuses reads_spliced "$poison" "__a\\
sm__(\".section .rodata\\n.inc\" \"bin \\\"$work/bytes\\\"\\n.text\");" 0
refuses names_it "$poison" 'static int64_t foreign __asm__("mine") = 1;' 'foreign++'
refuses dates "$poison" '' '__DATE__[4]'
refuses timed "$poison" '' '__TIME__[7]'
printf '#define A(t) t##a\\\nsm\nA(__)(".byte 1");\n' >"$work/hidden"
refuses by_anything "error" "$(cat "$work/hidden")" 0

# -- what is included ---------------------------------------------------------------------------

only="a component includes nothing but component.h, <stdint.h>, <stdbool.h> and <stddef.h>, and has no pragma"
refuses includes "includes.c: line 2: '[^ ]*time.h': $only" '#include <time.h>' 0
refuses digraph "line 2: '[^ ]*time.h': $only" '%:include <time.h>' 0
refuses digraph_lines "line 2: '[^ ]*lines.h': $only" "%:include \"$work/lines.h\"" 'foreign++'
refuses commented "line 2: '[^ ]*lines.h': $only" "#/**/include/**/\"$work/lines.h\"" 'foreign++'
refuses comment_before "line [23]: '[^ ]*lines.h': $only" "/* */ # /*
*/ include \"$work/lines.h\"" 'foreign++'
refuses spliced_include "line [23]: '[^ ]*macros.h': $only" "#inc\\
lude \"$work/macros.h\"" NOW
refuses computed "line 3: '[^ ]*macros.h': $only" "#define FILE \"$work/macros.h\"
#include FILE" NOW
refuses next "line 2: '[^ ]*time.h': $only" '#include_next <time.h>' 0
refuses imports "line 2: '[^ ]*macros.h': $only" "#import \"$work/macros.h\"" NOW
refuses trigraph "line 2: '[^ ]*macros.h': $only" "??=include \"$work/macros.h\"" NOW
refuses pretends "line [0-9]*: '[^ ]*macros.h': $only" "# 1 \"/usr/include/stdint.h\" 1
#include \"$work/macros.h\"" NOW
refuses pretends_lines "line [0-9]*: '/usr/include/stdint.h': $only" '# 1 "/usr/include/stdint.h" 1
static int64_t n_of_nothing(void) { return 0; }
# 4 "pretends_lines.c" 2' 0
refuses its_folder "error|$only" '#include "counts.c"' 0

# -- what it may have ---------------------------------------------------------------------------

is_taken()
{
    CC=$CC $way
    [ $code -eq 0 ] && [ -z "$(ls "$work/tmp")" ]
    ok "$name, $CC, $way"
}

# takes NAME HEAD EXPRESSION: loaded and for topo.c
takes()
{
    local name=$1

    component "$1" "$2" "$3" >"$work/components/$1.c"
    machine "$1"
    both_ways is_taken
}
takes includes_all '#include "component.h"
#include <stddef.h>
#include <stdint.h>
%:include <stdbool.h>
#include "component.h"' 'INT64_C(1) + (int64_t)offsetof(struct kb_request, op)'
takes tables 'static const double of[4] = {0.5, 1.5, 2.5, 3.5};
static const char *const names[] = {"one", "two", "three"};' '(int64_t)of[r->bytes % 4] + names[r->bytes % 3][1]'
takes functions 'static int64_t one(int64_t x) { return x + 1; }
static int64_t two(int64_t x) { return 2 * x; }
static int64_t (*const all[])(int64_t) = {one, two};' 'all[r->bytes % 2](3)'
takes wide '' '(int64_t)((unsigned __int128)r->bytes * 1000003 / (r->own_fs + 1) % 7)'
takes copies 'struct big { int64_t of[64]; };' '__extension__({ struct big b, c; __builtin_memset(&b, 1, sizeof b); c = b; c.of[r->bytes % 64] & 1; })'
takes switches '' '__extension__({ int64_t t; switch (r->bytes % 9) { case 0: t = 9; break; case 1: t = 4; break; case 2: t = 77; break; case 3: t = 5; break; case 4: t = 12; break; default: t = 1; } t; })'
takes cold '__attribute__((cold, noinline)) static int64_t rarely(int64_t x) { return x / 3; }' 'r->bytes == 77 ? rarely(now_fs) : 0'
mkdir "$work/a\"b"
cp "$work/components/wide.c" "$work/a\"b/quoted.c" && sed -i 's/wide/quoted/g' "$work/a\"b/quoted.c"
machine quoted
KB_COMPONENTS=$work/a\"b probes
[ $code -eq 0 ]
ok "a quote in the name of its folder"
# what is loaded, and what is compiled, are the same
machine wide
call env CC="env gcc" "$B/kernbench" info --machine "$work/bad.yaml" --quiet
[ $code -eq 0 ]
ok "a compiler of two words"

# of several the one that is to blame is named
printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: {impl: wide}, sram: {impl: underline}}\n' >"$work/bad.yaml"
for way in probes prints; do
    $way
    [ $code -eq 3 ] && grep -q "underline.c: '_n' $data struct underline; cube.sram.impl asks for it" "$work/err" || grep -q "underline.c: '_n' $data underline; cube.sram.impl asks for it" "$work/err"
    ok "two components, $way: the second is to blame"
done

# two that compile alone, and not together
takes clash_a 'static int64_t helper(void) { return 1; }' 'helper()'
takes clash_b 'static int64_t helper(void) { return 2; }' 'helper()'
printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: {impl: clash_a}, sram: {impl: clash_b}}\n' >"$work/bad.yaml"
for way in probes prints; do
    $way
    [ $code -eq 3 ] && grep -q "clash_[ab].c:2:[0-9]*: error: redefinition of .helper" "$work/err" && grep -q 'does not compile, see above' "$work/err"
    ok "two components with one name, $way"
done

# what the system lacks
machine wide
call env TMPDIR=/nowhere "$KBGEN" --component-code "$work/bad.yaml"
[ $code -eq 3 ] && grep -qF "which cannot be built: no folder can be made in \$TMPDIR: No such file or directory" "$work/err"
ok "no folder to build in: the reason"
call env CC=/nowhere/cc "$KBGEN" --component-code "$work/bad.yaml"
[ $code -eq 3 ] && grep -qF "is a component, which a compiler builds, and '/nowhere/cc' cannot be run: CC names another" "$work/err"
ok "no compiler: refused"
call env CC="/nowhere/cc -x" "$KBGEN" --component-code "$work/bad.yaml"
[ $code -eq 3 ] && grep -qF "'/nowhere/cc -x' cannot be run" "$work/err"
ok "no compiler of two words: refused"
printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1}\n' >"$work/bad.yaml"
prints
[ $code -eq 0 ] && [ ! -s "$work/out" ]
ok "no components: no text"

# make: no table of a machine is compiled with it
machine underline
(
    as_built
    call make -s B="$B" TOPO="$work/bad.yaml" PLACE="$work/made" topology
    [ $code -ne 0 ] && grep -q "underline.c: '_n' $data" "$work/err" && [ ! -e "$work/made/bad/topo.o" ]
)
ok "make: a component that keeps data"
rm -f "$B"/_topo/"$(echo "$work/bad.yaml" | tr / _)".*

# -- whose it is --------------------------------------------------------------------------------

trusted()
{
    for way in probes prints; do
        $way
        [ $code -eq 0 ]
        ok "$1, $way"
    done
}
# foreign WHAT: refused, with the folder that KB_TRUST is to have
foreign()
{
    for way in probes prints; do
        KB_TRUST='' $way
        [ $code -eq 3 ] && [ ! -s "$work/out" ] &&
            grep -qF "components/wide.c: a component is C code that runs with your rights, and $1: if you trust what is there, set KB_TRUST=$(realpath "$work/components")" "$work/err"
        ok "$1, $way: refused"
        KB_TRUST=/nowhere:$work/components/ $way
        [ $code -eq 0 ]
        ok "$1, $way: trusted"
        KB_TRUST=$work/comp:$work/components/below $way
        [ $code -eq 3 ]
        ok "$1, $way: not by another folder"
    done
}
machine wide
KB_TRUST='' trusted "one's own"
chmod 777 "$work/components"
foreign "other users can write to its folder"
chmod 755 "$work/components" && chmod o+w "$work/components/wide.c"
foreign "other users can write to it"
chmod 644 "$work/components/wide.c"
if [ "$(id -u)" = 0 ]; then
    chown 65534 "$work/components/wide.c"
    foreign "it belongs to another user (65534)"
    chown 0 "$work/components/wide.c" && chown 65534 "$work/components"
    foreign "its folder belongs to another user (65534)"
    chown 0 "$work/components" && chgrp 65534 "$work/components" && chmod 775 "$work/components"
    foreign "other users can write to its folder"
    chgrp 0 "$work/components"
fi
KB_TRUST=$work trusted "a folder above is trusted"

# -- what cannot be opened ----------------------------------------------------------------------

ln -sf loop.c "$work/components/loop.c"
machine loop
probes
[ $code -eq 3 ] && grep -qF "components/loop.c: the component 'loop' cannot be opened: Too many levels of symbolic links" "$work/err"
ok "a component that cannot be opened: the reason"
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/failures.so" "$root/tests/support/failures.c"
machine wide
if nm "$KBGEN" | grep -q '__\(asan_init\|tsan_init\|ubsan_handle\|gcov_\)'; then
    skip "a component is not opened, as too many files are" "a sanitizer or --coverage opens files, too"
else # the YAML is opened first
    call env FAIL_KIND=open FAIL_AT=2 LD_PRELOAD="$work/failures.so" "$KBGEN" --name "$work/bad.yaml"
    [ $code -eq 5 ] && grep -qF "components/wide.c: the component 'wide' cannot be opened: Too many open files" "$work/err"
    ok "a component is not opened, as too many files are: the reason"
    opens=2 # at least, and then as many as any run had; some files are looked at only if they are there
    for ((nth = 2; nth <= opens; nth++)); do
        rm -rf "$work/cache"
        call env FAIL_ONLY=kernbench FAIL_KIND=open FAIL_AT=$nth FAIL_COUNTS="$work/counts" \
            LD_PRELOAD="$work/failures.so" "$B/kernbench" info --machine "$work/bad.yaml" --quiet
        [ $code -eq 0 ] || echo "$code $(tail -n 1 "$work/err")"
        counted=$(sed -n 's/^open //p' "$work/counts")
        [ "$counted" -le $opens ] || opens=$counted
    done >"$work/told"
    ! grep -v "^[35] .*: Too many open files$" "$work/told" && [ "$(wc -l <"$work/told")" -ge 8 ] &&
        grep -q "^5 .*'wide' cannot be opened" "$work/told"
    ok "whichever open fails of a machine that is made while it runs: the reason"
fi
if [ "$(id -u)" != 0 ]; then
    machine wide
    chmod 0 "$work/components/wide.c"
    probes
    [ $code -eq 3 ] && grep -qF "cannot be opened: Permission denied" "$work/err"
    ok "a component that may not be read: the reason"
fi
plan
