#!/usr/bin/env bash
# switches.sh -- a value that is added to an enum is asked for at each switch over it, as none has a default for it. Prints TAP.
. "$(dirname "$0")/../support/tap.sh"
at_top
compiler=$(cut -d' ' -f1 "$B/_o/flags")

# warned TREE FLAG FILE...: "FILE FUNCTION VALUE" of each value that a switch in it forgets
warned()
{
    local tree=$1 flag=$2

    shift 2
    (cd "$tree" && for file; do
        "$compiler" -std=c11 -D_GNU_SOURCE -fopenmp-simd -Iruntime/include -Iruntime -I. -fsyntax-only \
            -fno-diagnostics-color -Wall "$flag" "$file" 2>&1
    done) | awk -F"[‘’']" '
        / In function / { split($1, at, ":"); function_name = $2 }
        /enumeration value/ { split($1, at, ":"); print at[1], function_name, $2 }' | sort -u
}

# -- the tree ----------------------------------------------------------------------------------

make -n -B B="$B" "$B/_o/runtime/phase2/math.o" "$B/_o/gen/lists.o" 2>&1 | grep -c -e '-Werror=switch .*-Werror=switch-enum' >"$work/asked"
equal "a value that a switch of the library or the generator forgets, or leaves to a default, ends the build" 2 "$(cat "$work/asked")"

# -- planted -----------------------------------------------------------------------------------

# plant NAME FILE SED: a copy of the sources, with one edit
plant()
{
    rm -rf "$work/tree"
    mkdir "$work/tree"
    cp -r runtime gen "$work/tree"
    sed -i "$3" "$work/tree/$2"
    ! cmp -s "$2" "$work/tree/$2"
    ok "$1: planted"
}

# asked NAME FUNCTION... -- FILE...: the compiler names these functions, and no other
asked()
{
    local name=$1 functions=()

    shift
    while [ "$1" != -- ]; do
        functions+=("$1")
        shift
    done
    shift
    equal "$name" "${functions[*]}" "$(warned "$work/tree" -Wswitch "$@" | cut -d' ' -f2 | sort -u | xargs)"
}

plant "an operation" runtime/include/tl.h 's/^    TL_ERF,/    TL_ERF,\n    TL_CUBE,/'
sed -i 's/^MATH(ERF.*/&\nMATH(CUBE, cube, 1, ELEMENT, FLOAT, SPECIAL)/' "$work/tree/runtime/data/ops.def"
asked "Phase 2 is asked how it computes a new operation" \
    arithmetic_{f32,f64,i16,i32,i64,i8,u16,u32,u64,u8} compare_{f32,f64,i16,i32,i64,i8,u16,u32,u64,u8} \
    reduce special step_of -- runtime/phase2/math.c runtime/phase2/math_elements.c runtime/phase2/math_lines.c
asked "and so is the reference" compares float_value integer_value reduced step_between -- runtime/phase2/reference.c runtime/phase2/reference_math.c
plant "a group of operations" runtime/data/op.h 's/^    MATH_SOURCE,/    MATH_SOURCE,\n    MATH_TREE,/'
asked "both are asked about it" math_run math_wanted -- runtime/phase2/math.c runtime/phase2/reference.c runtime/phase2/reference_math.c
plant "a type" runtime/include/kernbench.h 's/^    KB_BOOL,/    KB_BOOL,\n    KB_I4,/'
asked "all are asked that tell types apart" \
    arithmetic compare digits dtype_tolerance integers_narrow integers_widen kb_element kb_element_set random_element -- runtime/{data,phase2}/*.c
plant "a stage" runtime/data/op.h 's/^    STAGE_STORE,/    STAGE_STORE,\n    STAGE_CACHE,/'
asked "its box and its record are asked" composite_stage_done set_moved -- runtime/pe/pe_scheduler.c runtime/kernels/service.c
plant "a type of key" gen/spec.h 's/^    KEY_NET$/    KEY_NET,\n    KEY_TREE/'
[ "$(warned "$work/tree" -Wswitch gen/lists.c gen/resolve.c gen/keys.c | wc -l)" = 4 ]
ok "lists, the resolved text and kb_key are asked"
plant "a pattern" runtime/include/kernbench.h 's/^    KB_MATRIX, .*/&\n    KB_TORNADO,/'
asked "traffic is asked where it goes" target_of -- runtime/engine/traffic.c
plan
