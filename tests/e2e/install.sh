#!/usr/bin/env bash
# install.sh -- kernbench as others use it: what is installed, what it exports, examples built on it.
#
# TAP on stdout. B names the build, CC its compiler; run from the top of the tree. The programs are
# those of examples/README.md, by the commands and with the output that stand there.
set -u
B=${B:-build}
CC=${CC:-gcc}
if grep -q -e '-fsanitize' -e '--coverage' "$B/_o/flags"; then
    echo "ok 1 - installed libraries # SKIP a program would need what instruments them"
    echo 1..1
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
prefix=$dir/prefix
lib=$prefix/lib
n=0 failed=0
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib

# report NAME: the exit code of the command before says whether it holds
report()
{
    local code=$?

    n=$((n + 1))
    if [ $code = 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        failed=1
    fi
    return $code
}

skip()
{
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# put VARIABLE=VALUE...: by the make that runs the tests, with its variables, or alone
put()
{
    make -s B="$B" SET= NAME= "$@" install >"$dir/log" 2>&1 || { cat "$dir/log"; false; }
}

# nothing LINES: true if there are none; else it shows them
nothing()
{
    [ -z "$1" ] || { sed 's/^/# /' <<<"$1"; false; }
}

# -- what is installed ------------------------------------------------------------------------

put PREFIX="$prefix" DESTDIR="$dir/stage" TOPO=cube8
report "make install PREFIX= DESTDIR=" || { echo 1..1; exit 1; }
nothing "$(grep -r "$dir/stage" "$dir/stage$lib/pkgconfig")" && [ ! -e "$prefix" ] &&
    mv "$dir/stage$prefix" "$prefix" && "$prefix/bin/cube8" probe | grep -q '^pe-local-hbm .* 18.09 '
report "what DESTDIR holds is put in its place, and knows nothing of DESTDIR"
put PREFIX="$prefix" TOPO=tray32 && [ -x "$prefix/bin/tray32" ] && [ -x "$prefix/bin/cube8" ]
report "a second topology beside the first"
put PREFIX="$prefix" TOPO=tray32 NAME=tray_wide SET='cube.hbm.bw_gbs=512 cube.xbar.pe_gbs=512' &&
    [ "$(pkg-config --libs-only-l tray_wide | xargs)" = '-ltray_wide -lkernbench' ]
report "a variant by SET and NAME"

version=$(sed -n 's/.*KB_VERSION *"\(.*\)"/\1/p' "$prefix/include/kernbench.h")
for l in kernbench cube8 tray32 tray_wide; do
    [ "$(pkg-config --modversion $l)" = "$version" ] && [ -f "$lib/lib$l.a" ] &&
        [ "$(readlink "$lib/lib$l.so")" = "lib$l.so.0" ] &&
        [ "$(readlink "$lib/lib$l.so.0")" = "lib$l.so.0.$version" ] && [ ! -h "$lib/lib$l.so.0.$version" ] &&
        readelf -d "$lib/lib$l.so" | grep -q "SONAME.*\[lib$l.so.0\]"
    report "lib$l: version, links and soname"
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
    names --defined-only -g "$lib/lib$l.a" | sort >"$dir/static"
    names --defined-only -D "$lib/lib$l.so" | sort >"$dir/shared"
    nothing "$(grep -Ev "$mine" "$dir/static" "$dir/shared")" && [ -s "$dir/static" ] &&
        nothing "$(diff "$dir/static" "$dir/shared")"
    report "lib$l exports its own names, the same in both kinds"
done

grep -ohE '\<(kb|tl)_[a-z0-9_]+\(' "$prefix"/include/{kernbench,tl}.h | tr -d '(' | sort -u >"$dir/header"
names --defined-only -D "$lib/libkernbench.so" | grep -E '^(kb|tl)_' | sort >"$dir/shared"
nothing "$(comm -13 "$dir/header" "$dir/shared" | grep -v '^kb_rt_')"
report "what libkernbench exports is in its headers, but for kb_rt_"
nothing "$(names -u "$lib/libcube8.a" | grep '^kb_' | grep -v '^kb_rt_')"
report "a topology needs kb_rt_ of libkernbench"

# The handler of overflows is the process's, and whose stack is running the thread's (co.c).
nothing "$(objdump -t "$lib/libkernbench.a" "$lib/libcube8.a" |
    awk '/ \.t?(data|bss)[ .\t]/ && !/ \.data\.rel\.ro/ && $NF !~ /^\./ {print $NF}' |
    grep -vx -e old_segv -e old_bus -e set_up_lock -e has_key -e signal_stack -e resumed)"
report "no state but that of kb_catch_overflow()"

# Whatever ends the program or prints. raise() is that of a fault which is not ours.
nothing "$(names -u "$lib/libkernbench.a" "$lib/libcube8.a" |
    grep -xE '_*(abort|exit|_exit|_Exit|quick_exit|assert|assert_fail|kill|system|v?[fdw]?printf(_chk)?)|errx?|warnx?|perror|f?puts?c?|putw|putchar|stdout|stderr|v?syslog')"
report "nothing in it exits, aborts or prints"

# -- examples ---------------------------------------------------------------------------------

cp examples/* "$dir/"

# examples KIND SED: the console blocks of examples/README.md, the commands changed by SED
examples()
{
    local line command='' wanted=

    while IFS= read -r line; do
        case $wanted$line in
        '```console') wanted=: command='' ;;
        ':```' | ':$ '*)
            [ -z "$command" ] || try "$1" "$2" "$command"
            : >"$dir/expected"
            command=${line#'$ '}
            [ "$line" != '```' ] || wanted='' command=''
            ;;
        :*) printf '%s\n' "$line" >>"$dir/expected" ;;
        esac
    done <examples/README.md
}

# try KIND SED COMMAND: prints what "expected" has
try()
{
    local command

    command=$(sed -E "$2" <<<"$3")
    (cd "$dir" && bash -c "$command" </dev/null) >"$dir/out" 2>&1 && cmp -s "$dir/expected" "$dir/out"
    report "$1: $3" || diff "$dir/expected" "$dir/out" | sed 's/^/# /'
}

strict='-Wall -Wextra -Wpedantic -Wconversion -Werror'
examples "shared" "s/^gcc/$CC -std=c11 $strict/; s/^g\+\+/g++ -std=c++11 $strict/"
nothing "$(ldd "$dir/two_topologies" "$dir/embed" | grep -E 'lib(kernbench|cube8|tray32)' | grep -v "\.so\.0 => $lib/")" &&
    [ "$(ldd "$dir/two_topologies" | grep -c "\.so\.0 => $lib/")" = 3 ]
report "programs ask for sonames"
examples "static" "s/^(gcc|g\+\+)/\1 -static/; s/--libs/--static --libs/"
nothing "$(readelf -d "$dir/two_topologies" "$dir/embed" | grep NEEDED)"
report "static programs need nothing"
$CC -o "$dir/mixed" examples/own_bench.c $(pkg-config --cflags cube8) "$lib"/lib{cube8,kernbench}.a -lm -lpthread &&
    "$dir/mixed" | grep -q 'all 16384 elements' && nothing "$(ldd "$dir/mixed" | grep -E 'kernbench|cube8|blis')"
report "only these static"
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
    examples "clang" "s/^gcc/clang -std=c11 $strict/; s/^g\+\+/clang++ -std=c++20 $strict/"
else
    skip "clang" "no clang"
fi

{
    printf '#include <kernbench.h>\n#include <stdio.h>\nint main(void)\n{\n'
    python3 "$dir/latency.py" --sizes | sed 's/\([a-z_]*\) .*/    printf("%s %zu\\n", "\1", sizeof(\1));/'
    echo '}'
} >"$dir/sizes.c"
$CC -o "$dir/sizes" "$dir/sizes.c" $(pkg-config --cflags kernbench) &&
    "$dir/sizes" | diff - <(python3 "$dir/latency.py" --sizes) && [ "$("$dir/sizes" | wc -l)" -ge 5 ]
report "latency.py has the structs of kernbench.h"

sed 's/tray32/tray_wide/g' examples/two_topologies.c >"$dir/wide.c"
$CC -o "$dir/wide" "$dir/wide.c" $(pkg-config --cflags --libs cube8 tray_wide) &&
    "$dir/wide" | grep -A1 '^tray_wide' | grep -q ' 10.085000 ns'
report "a variant has its own numbers"

# Names that are global inside the library, and BLIS's, are the program's to use.
{
    cat examples/own_bench.c
    nm --quiet --defined-only -g "$B/libkernbench.a" | awk '$2 == "T" && $3 !~ /^(kb|tl)_/ {print $3}' | sort -u |
        sed 's/.*/int &(void);\nint &(void) { return 7; }/'
    echo 'int bli_dgemm_haswell_asm_6x8(void);'
    echo 'int bli_dgemm_haswell_asm_6x8(void) { return 7; }'
} >"$dir/clash.c"
[ "$(grep -c 'return 7' "$dir/clash.c")" -gt 50 ] &&
    $CC -fno-builtin -o "$dir/clash" "$dir/clash.c" -static $(pkg-config --static --cflags --libs cube8) &&
    "$dir/clash" | grep -q 'all 16384 elements'
report "a program may have functions named as ours"

# A topology of one release and a library of another: not started, rather than something wrong.
mkdir "$dir/other"
sed "s/KERNBENCH_PRIVATE_$version/KERNBENCH_PRIVATE_9.9.9/" "$lib/libkernbench.so" >"$dir/other/libkernbench.so.0"
LD_LIBRARY_PATH=$dir/other:$lib "$dir/wide" >"$dir/out" 2>&1
[ $? != 0 ] && grep -q "KERNBENCH_PRIVATE_$version' not found (required by .*libcube8.so.0" "$dir/out"
report "libraries of two releases are not mixed"

echo "1..$n"
exit $failed
