#!/usr/bin/env bash
# install.sh -- kernbench as others use it: what is installed, what it exports, examples built on it.
#
# TAP on stdout. B names the build, CC its compiler. The programs are those of
# examples/README.md, by the commands and with the output that stand there.
. "$(dirname "$0")/../support/tap.sh"
at_top
CC=${CC:-gcc}
if grep -q -e '-fsanitize' -e '--coverage' "$B/_o/flags"; then
    skip "installed libraries" "a program would need what instruments them"
    plan
    exit
fi
prefix=$work/prefix
lib=$prefix/lib
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib PATH=$prefix/bin:$PATH

# put VARIABLE=VALUE...: by the make that runs the tests, with its variables, or alone
put()
{
    make -s B="$B" SET= NAME= "$@" install >"$work/out" 2>"$work/err"
}

# put_quick VARIABLE=VALUE...: the same of a machine that is compiled here
put_quick()
{
    put MACHINE_CFLAGS=-Og "$@"
}

# -- what is installed ------------------------------------------------------------------------

put PREFIX="$prefix" DESTDIR="$work/stage" TOPO=cube8
ok "make install PREFIX= DESTDIR=" || { plan; exit; }
nothing "$(grep -r "$work/stage" "$work/stage$lib/pkgconfig")" && [ ! -e "$prefix" ] &&
    mv "$work/stage$prefix" "$prefix" && "$prefix/bin/cube8" probe | grep -q '^pe-local-hbm .* 18.09 '
ok "what DESTDIR holds is put in its place, and knows nothing of DESTDIR"
put_quick PREFIX="$prefix" TOPO=tray32 && [ -x "$prefix/bin/tray32" ] && [ -x "$prefix/bin/cube8" ]
ok "a second topology beside the first"
# pages NAME: its manual page and completions are where they belong, and are what it prints
pages()
{
    local share=$prefix/share program=$prefix/bin/$1

    "$program" --man | cmp - "$share/man/man1/$1.1" &&
        "$program" --completion bash | cmp - "$share/bash-completion/completions/$1" &&
        "$program" --completion zsh | cmp - "$share/zsh/site-functions/_$1" &&
        "$program" --completion fish | cmp - "$share/fish/vendor_completions.d/$1.fish"
}

# The commands of docs/library.md "Linking" link a program that calls all of the library, which runs.
cat >"$work/program.c" <<'C'
#include <cube8.h>
#include <kernbench.h>
#include <stdio.h>

int main(void)
{
    kb_topology_source source = {.file = "topologies/cube1.yaml"};
    const kb_topology *one;
    kb_info info;

    kb_topology_info(&cube8_topology, &info);
    if (kb_topology_load(&source, &one, NULL) != KB_OK)
        return 1;
    puts(info.name);
    kb_topology_info(one, &info);
    puts(info.name);
    kb_topology_free(one);
    return 0;
}
C
ways=$(sed -n '/^## Linking/,/^## /p' docs/library.md | sed -n '/^```sh/,/^```/p' | sed '/^```/d' | sed -z 's/\\\n *//g')
[ "$(grep -c '^cc ' <<<"$ways")" = 3 ]
ok "docs/library.md has three ways to link"
while read -r way; do
    call env PREFIX="$prefix" CC="$CC" bash -c "cc() { \$CC -std=gnu11 \"\$@\"; }; ${way//program/$work/program}"
    [ $code = 0 ] && [ "$("$work/program" | xargs)" = "cube8 cube1" ]
    ok "linked as docs/library.md has it: ${way#*program.c }"
done <<<"$ways"

# an installed simulator builds components, from headers of its own
printf 'kernbench: 2\nname: m\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: {impl: closed_page}}\n' >"$work/m.yaml"
[ -f "$prefix/include/component.h" ] && (cd "$work" && KB_COMPONENTS=$root/examples/components XDG_CACHE_HOME=$work/cache \
    "$prefix/bin/kernbench" probe --machine m.yaml) | grep -q '^pe-local-hbm .* 46.09 '
ok "a component by an installed kernbench"
pages cube8 && pages tray32 && pages kbgen && grep -q '^.TH TRAY32 1 ' "$prefix/share/man/man1/tray32.1"
ok "manual pages and completions"
put_quick PREFIX="$prefix" TOPO=tray32 NAME=tray_wide SET='cube.hbm.bw_gbs=512 cube.xbar.pe_gbs=512' &&
    [ "$(pkg-config --libs-only-l tray_wide | xargs)" = '-ltray_wide -lkernbench' ]
ok "a variant by SET and NAME"

for y in topologies/*.yaml; do cmp "$y" "$prefix/share/kernbench/$y" || break; done &&
    cmp "$prefix/share/doc/kernbench/docs/python.md" docs/python.md && cmp LICENSE "$prefix/share/doc/kernbench/LICENSE" &&
    "$prefix/bin/kernbench" probe --machine "$prefix/share/kernbench/topologies/cube1.yaml" >"$work/out"
ok "machines, documents and licence"
mkdir "$work/gone" && cp -a "$prefix/." "$work/gone" && echo 'of others' >"$work/gone/include/others.h"
for topo in cube8 tray32; do make -s B="$B" TOPO=$topo PREFIX="$work/gone" uninstall || break; done
[ -x "$work/gone/bin/tray_wide" ] && [ -f "$work/gone/include/kernbench.h" ] && [ ! -e "$work/gone/bin/cube8" ] &&
    make -s B="$B" SET='cube.hbm.bw_gbs=512 cube.xbar.pe_gbs=512' TOPO=tray32 NAME=tray_wide PREFIX="$work/gone" uninstall
equal "make uninstall takes away a machine, with the last one all, and nothing of others" ". ./include ./include/others.h" \
    "$(cd "$work/gone" && find . | sort | xargs)"

# -- names that something else has ------------------------------------------------------------

# taken NAME TEXT: is refused, and this is said
taken()
{
    call env CC="$CC" tools/taken.sh "$1" "$prefix"
    [ $code -eq 2 ] && says "make: a topology '$1' cannot be installed: $2"
    ok "a topology named $1 is not installed"
}

find "$prefix" | sort >"$work/before"
put_quick PREFIX="$prefix" TOPO=cube8 NAME=m
[ $? = 2 ] && says "/libm.so is not of this topology; NAME=... gives it another name" &&
    find "$prefix" | sort | same "$work/before" -
ok "a topology named as a library of the system: one line, and nothing is installed"
rm -r "$B/m"
taken c ''
taken stdio "/usr/include/stdio.h is not of this topology"
taken test "'test' is a command of the shell"
taken sed "$(command -v sed) is not of this topology"
echo 'of others' >"$prefix/bin/others"
taken others "$prefix/bin/others is not of this topology"
[ "$(cat "$prefix/bin/others")" = 'of others' ] && put_quick PREFIX="$prefix" TOPO=tray32 &&
    PATH=$prefix/bin:$PATH CPATH=$prefix/include LIBRARY_PATH=$lib put_quick PREFIX="$prefix" TOPO=tray32
ok "what is of the same topology is no obstacle, in PREFIX or in the system"

version=$(sed -n 's/.*KB_VERSION *"\(.*\)"/\1/p' "$prefix/include/kernbench.h")
for l in kernbench cube8 tray32 tray_wide; do
    [ "$(pkg-config --modversion $l)" = "$version" ] && [ -f "$lib/lib$l.a" ] &&
        [ "$(readlink "$lib/lib$l.so")" = "lib$l.so.0" ] &&
        [ "$(readlink "$lib/lib$l.so.0")" = "lib$l.so.0.$version" ] && [ ! -h "$lib/lib$l.so.0.$version" ] &&
        readelf -d "$lib/lib$l.so" | grep -q "SONAME.*\[lib$l.so.0\]"
    ok "lib$l: version, links and soname"
done

# -- what they show, keep and need ------------------------------------------------------------

# names NM-OPTION... FILE, without versions, and without those that every library has
names()
{
    nm -P --quiet "$@" | awk 'NF > 1 {sub(/@.*/, "", $1); print $1}' |
        grep -vx -e 'KERNBENCH_.*' -e '_GLOBAL_OFFSET_TABLE_' -e '__tls_get_addr'
}

for l in kernbench cube8 tray32; do
    mine="^${l}_topology\$"
    [ $l = kernbench ] && mine='^(kb|tl)_'
    names --defined-only -g "$lib/lib$l.a" | sort >"$work/static"
    names --defined-only -D "$lib/lib$l.so" | sort >"$work/shared"
    nothing "$(grep -Ev "$mine" "$work/static" "$work/shared")" && [ -s "$work/static" ] &&
        same "$work/static" "$work/shared"
    ok "lib$l exports its own names, the same in both kinds"
done

grep -ohE '\<(kb|tl)_[a-z0-9_]+\(' "$prefix"/include/{kernbench,tl,tl_math,kb_coll}.h | tr -d '(' | sort -u >"$work/header"
names --defined-only -D "$lib/libkernbench.so" | grep -E '^(kb|tl)_' | sort >"$work/shared"
nothing "$(comm -13 "$work/header" "$work/shared" | grep -v '^kb_rt_')"
ok "all that libkernbench exports is in its headers, except kb_rt_"
nothing "$(names -u "$lib/libcube8.a" | grep '^kb_' | grep -v '^kb_rt_')"
ok "a topology needs kb_rt_ of libkernbench"

# The handler of faults belongs to the process; which stack is running, and which call of a bench is
# guarded, to the thread (co.c, guard.c); what is loaded, to the process (bench_file.c, component_open.c).
nothing "$(objdump -t "$lib/libkernbench.a" "$lib/libcube8.a" |
    awk '/ \.t?(data|bss)[ .\t]/ && !/ \.data\.rel\.ro/ && $NF !~ /^\./ {print $NF}' |
    grep -vx -e old_handlers -e set_up_lock -e has_key -e signal_stack -e resumed -e catches_crashes -e innermost -e objects -e objects_lock -e shelf -e shelf_lock \
        -e kept_mappings -e n_kept_mappings -e kept_mapping_bytes -e kept_mappings_lock)"
ok "no state but that of kb_catch_overflow() and kb_catch_crashes(), of objects that are loaded, and stacks and mappings that are kept"

# Whatever ends the program or prints. raise() is that of a fault which is not ours.
nothing "$(names -u "$lib/libkernbench.a" "$lib/libcube8.a" |
    grep -xE '_*(abort|exit|_exit|_Exit|quick_exit|assert|assert_fail|kill|system|v?[fdw]?printf(_chk)?)|errx?|warnx?|perror|f?puts?c?|putw|putchar|stdout|stderr|v?syslog')"
ok "nothing in it exits, aborts or prints"

# -- examples ---------------------------------------------------------------------------------

cp -r examples/* "$work/"

# examples KIND SED: the console blocks of examples/README.md, the commands changed by SED
examples()
{
    local line command='' wanted=

    while IFS= read -r line; do
        case $wanted$line in
        '```console') wanted=: command='' ;;
        ':```' | ':$ '*)
            [ -z "$command" ] || try "$1" "$2" "$command"
            : >"$work/expected"
            command=${line#'$ '}
            [ "$line" != '```' ] || wanted='' command=''
            ;;
        :*) printf '%s\n' "$line" >>"$work/expected" ;;
        esac
    done <examples/README.md
}

# try KIND SED COMMAND: prints what "expected" has
try()
{
    local command

    command=$(sed -E "$2" <<<"$3")
    (cd "$work" && bash -c "$command" </dev/null) >"$work/out" 2>&1 && same "$work/expected" "$work/out"
    ok "$1: $3"
}

strict='-Wall -Wextra -Wpedantic -Wconversion -Werror'
examples "shared" "s|^gcc|$CC -std=c11 $strict|; s|^g\+\+|g++ -std=c++11 $strict|"
nothing "$(ldd "$work/two_topologies" "$work/embed" | grep -E 'lib(kernbench|cube8|tray32)' | grep -v "\.so\.0 => $lib/")" &&
    [ "$(ldd "$work/two_topologies" | grep -c "\.so\.0 => $lib/")" = 3 ]
ok "programs ask for sonames"
examples "static" "s/^(gcc|g\+\+)/\1 -static/; s/--libs/--static --libs/"
nothing "$(readelf -d "$work/two_topologies" "$work/embed" | grep NEEDED)"
ok "static programs need nothing"
$CC -o "$work/mixed" examples/own_bench.c $(pkg-config --cflags cube8) "$lib"/lib{cube8,kernbench}.a -lyaml -lm -lpthread &&
    "$work/mixed" | grep -q 'all 16384 elements' && nothing "$(ldd "$work/mixed" | grep -E 'kernbench|cube8|blis')"
ok "only these static"
cat >"$work/loads.c" <<'END'
#include <kernbench.h>
#include <stdio.h>
int main(int n, char **files)
{
    kb_topology_source source = {.file = n > 1 ? files[1] : ""};
    const kb_topology *topo = NULL;
    char *messages = NULL;

    if (kb_topology_load(&source, &topo, &messages) != KB_OK)
        return fputs(messages ? messages : "", stderr), 1;
    return printf("%zu signs\n", __builtin_strlen(kb_topology_compiler(topo))), 0;
}
END
$CC -o "$work/loads" "$work/loads.c" -I"$prefix/include" -Wl,-u,kb_rt_components_open "$lib/libkernbench.a" -lyaml -lm -lpthread &&
    (cd examples && XDG_CACHE_HOME=$work "$work/loads" "$work/m.yaml") | grep -qx '64 signs'
ok "a program linked to the archive loads components"
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
    examples "clang" "s/^gcc/clang -std=c11 $strict/; s/^g\+\+/clang++ -std=c++20 $strict/"
else
    skip "clang" "no clang"
fi

{
    printf '#include <kernbench.h>\n#include <stdio.h>\nint main(void)\n{\n'
    python3 "$work/latency.py" --sizes | sed 's/\([a-z_]*\) .*/    printf("%s %zu\\n", "\1", sizeof(\1));/'
    echo '}'
} >"$work/sizes.c"
$CC -o "$work/sizes" "$work/sizes.c" $(pkg-config --cflags kernbench) &&
    "$work/sizes" | same - <(python3 "$work/latency.py" --sizes) && [ "$("$work/sizes" | wc -l)" -ge 5 ]
ok "latency.py has the structs of kernbench.h"

sed 's/tray32/tray_wide/g' examples/two_topologies.c >"$work/wide.c"
$CC -o "$work/wide" "$work/wide.c" $(pkg-config --cflags --libs cube8 tray_wide) &&
    "$work/wide" | grep -A1 '^tray_wide' | grep -q ' 10.085000 ns'
ok "a variant has its own numbers"

# Names that are global inside the library, and BLIS's, are the program's to use.
{
    cat examples/own_bench.c
    nm --quiet --defined-only -g "$B/libkernbench.a" | awk '$2 == "T" && $3 !~ /^(kb|tl)_/ {print $3}' | sort -u |
        sed 's/.*/int &(void);\nint &(void) { return 7; }/'
    echo 'int bli_dgemm_haswell_asm_6x8(void);'
    echo 'int bli_dgemm_haswell_asm_6x8(void) { return 7; }'
} >"$work/clash.c"
[ "$(grep -c 'return 7' "$work/clash.c")" -gt 50 ] &&
    $CC -fno-builtin -o "$work/clash" "$work/clash.c" -static $(pkg-config --static --cflags --libs cube8) &&
    "$work/clash" | grep -q 'all 16384 elements'
ok "a program may have functions named as ours"

# A topology of one release and a library of another: not started, rather than something wrong.
mkdir "$work/other"
sed "s/KERNBENCH_PRIVATE_$version/KERNBENCH_PRIVATE_9.9.9/" "$lib/libkernbench.so" >"$work/other/libkernbench.so.0"
LD_LIBRARY_PATH=$work/other:$lib "$work/wide" >"$work/out" 2>&1
[ $? != 0 ] && grep -q "KERNBENCH_PRIVATE_$version' not found (required by .*libcube8.so.0" "$work/out"
ok "libraries of two releases are not mixed"

plan
