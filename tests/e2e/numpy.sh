#!/usr/bin/env bash
# numpy.sh -- what the benches compute is what numpy computes from the same inputs. Prints TAP.
#
# B names the build; needs Debian's python3-numpy. tests/numpy/judge.py judges.
set -u
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd)
M=${B:-$root/build}/_m
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP there is no numpy"
    exit 0
fi
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
list=$work/list
n=0 failed=0

# one TOPOLOGY BENCH NAME=VALUE...: runs it; the judge sees its folder later.
one()
{
    local topology=$1

    shift
    n=$((n + 1))
    if "$M/$topology/$topology" run "$@" --dump "$work/$n" --seed "$n" >"$work/out" 2>"$work/err"; then
        echo "$work/$n $* on=$topology" >>"$list"
    else
        failed=$((failed + 1))
        echo "not ok - $topology run $*"
        sed 's/^/# /' "$work/err"
    fi
}

# Three shapes at least of each bench: ordinary ones, odd ones, and those with less than a PE's work.
for dtype in f16 bf16 f32 f64 i8; do
    for bench in gemm gemm_composite qkv_gemm; do
        one cube8 $bench M=64 N=48 K=160 dtype=$dtype
        one cube1 $bench M=37 N=53 K=111 dtype=$dtype
    done
    one cube8 gather M=300 L=300 D=17 dtype=$dtype
    one cube1 copy L=4099 dtype=$dtype
done
for dtype in f16 bf16 f32 f64; do
    for act in relu sigmoid tanh; do
        one cube8 mlp M=65 N=70 K=130 act=$act dtype=$dtype
    done
    for act in relu sigmoid tanh gelu; do
        one cube8 mlp_tp M=5 N=131 K=37 act=$act dtype=$dtype
        one cube1 mlp_tp M=67 N=233 K=41 act=$act dtype=$dtype
    done
    one cube8 softmax M=67 N=131 dtype=$dtype
    one cube1 softmax M=5 N=1000 dtype=$dtype
    one cube8 layernorm M=67 N=131 dtype=$dtype
    one cube1 layernorm M=3 N=1000 eps=0.125 dtype=$dtype
    one cube8 attention H=3 S=37 T=150 D=19 dtype=$dtype
    one cube1 attention H=2 S=33 T=129 D=64 dtype=$dtype
    one cube8 attention_ring H=1 S=37 T=150 D=19 dtype=$dtype
    one cube1 attention_ring H=2 S=67 T=131 D=33 dtype=$dtype
    one cube8 threshold M=101 N=33 dtype=$dtype
    one cube1 threshold M=31 N=5 t=-0.25 dtype=$dtype
done
one cube8 flash H=3 S=77 D=41 BM=16 BT=24
one cube1 flash H=2 S=131 D=33 BM=64 BT=48
one cube8 overlap M=67 N=41 K=130
one cube1 overlap M=100 N=77 K=99 BM=17 BN=9
for variant in load_ref load_load; do
    one cube8 gemm_composite M=64 N=96 K=160 variant=$variant
    one cube1 gemm_composite M=41 N=43 K=47 dtype=f32 variant=$variant
done
one cube8 list_walk N=1009 L=100
one cube1 list_walk N=7 L=30
one cube8 all_reduce count=131 dtype=i32 op=max over=pes algorithm=ring
one cube8 all_reduce count=131 dtype=f32 op=min over=cubes algorithm=halving
one cube8 copy L=65536 dtype=i64
one tray32 gemm M=300 N=200 K=257
one tray32 qkv_gemm M=300 N=33 K=257 dtype=f32
one tray32 gemm_composite M=100 N=100 K=100 variant=load_ref
one tray32 mlp M=33 N=257 K=65 act=sigmoid
one tray32 softmax M=300 N=65
one tray32 layernorm M=300 N=65 dtype=f32
one tray32 attention H=5 S=64 T=257 D=32
one tray32 attention_ring H=1 S=5 T=273 D=5
one tray32 attention_ring H=2 S=1 T=300 D=8 dtype=f32
one tray32 attention_ring H=1 S=300 T=3 D=8 dtype=f32
one odd attention_ring H=1 S=33 T=101 D=9
for algorithm in auto ring one_way line axes halving hierarchical axes_halving tree double_tree; do
    one tray32 mlp_tp M=3 N=271 K=67 algorithm=$algorithm
    one tray32 mlp_tp M=2 N=100 K=7 dtype=f32 algorithm=$algorithm
    one odd mlp_tp M=7 N=200 K=11 dtype=f32 act=gelu algorithm=$algorithm
done
one tray32 gather M=513 L=700 D=9
one tray32 threshold M=300 N=3
one tray32 list_walk N=2000 L=64
one tray32 copy L=5003 dtype=u16

# a single element of everything, and one long side
for bench in gemm gemm_composite qkv_gemm mlp; do
    one cube8 $bench M=1 N=1 K=1 dtype=f32
    one cube8 $bench M=1 N=1 K=1009
    one cube8 $bench M=1 N=521 K=3
    one cube8 $bench M=521 N=1 K=3
done
one cube8 mlp_tp M=1 N=1 K=1
one cube8 mlp_tp M=1 N=1 K=1 dtype=f64 act=gelu
one cube1 mlp_tp M=1 N=3 K=1009
one cube1 mlp_tp M=521 N=1 K=3 dtype=f32
for bench in softmax layernorm threshold; do
    one cube8 $bench M=1 N=1
    one cube8 $bench M=1 N=65536
    one cube8 $bench M=1021 N=1 dtype=f32
done
one cube8 attention H=1 S=1 T=1 D=1
one cube8 attention H=1 S=1 T=1031 D=2
one cube8 attention H=1 S=67 T=1 D=1 dtype=f64
one cube8 attention_ring H=1 S=1 T=1 D=1
one cube8 attention_ring H=3 S=1 T=67 D=2 dtype=f64
one cube1 attention_ring H=1 S=1031 T=1 D=1 dtype=f32
one cube8 copy L=1
one cube8 copy L=67 dtype=u8
one cube8 gather M=1 L=1 D=1
one cube8 gather M=3 L=67 D=1 dtype=i32
one cube8 list_walk N=1 L=1

# collectives: more and fewer elements than ranks, every type, every way
dtypes=(f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64)
i=0
for algorithm in ring one_way line direct axes halving hierarchical axes_halving tree double_tree; do
    for over in pes cubes sips; do
        for on in cube1 cube8 tray32 odd; do
            count=$((1 + i * i * 37 % 509))
            one $on all_reduce count=$count dtype="${dtypes[i % 12]}" over=$over algorithm=$algorithm
            i=$((i + 1))
        done
        one cube8 all_reduce count=1 dtype=f32 over=$over algorithm=$algorithm
        one odd all_reduce count=83 dtype="${dtypes[i % 4]}" over=$over algorithm=$algorithm
        one odd all_reduce count=1009 dtype="${dtypes[i % 12]}" op=max over=$over algorithm=$algorithm
        one cube8 all_reduce count=67 dtype="${dtypes[(i + 7) % 12]}" op=min over=$over \
            algorithm=$algorithm inputs=same
    done
done
for over in pes cubes sips; do
    for on in cube1 cube8 odd; do
        i=$((i + 5))
        one $on reduce_scatter count=$((i % 7 + 1)) dtype="${dtypes[i % 12]}" over=$over
        one $on reduce_scatter count=5 dtype="${dtypes[i % 4]}" over=$over
        one $on all_gather count=$((i % 11 + 1)) dtype="${dtypes[(i + 1) % 12]}" over=$over
        one $on all_to_all count=$((i % 5 + 1)) dtype="${dtypes[(i + 2) % 12]}" over=$over
        for algorithm in ring one_way line tree; do
            one $on broadcast count=$((i % 97 + 1)) dtype="${dtypes[(i + 3) % 12]}" over=$over \
                algorithm=$algorithm
        done
    done
done
for bench in reduce_scatter all_gather all_to_all broadcast; do
    one odd $bench count=11 dtype=i64 over=cubes inputs=same
    one cube8 $bench count=3 dtype=f16 inputs=same
done
# longer than what is moved at once
one cube1 all_reduce count=1200007 dtype=f64 algorithm=ring over=cubes
one odd all_reduce count=70001 dtype=f64 algorithm=halving over=cubes
one odd all_reduce count=50021 dtype=f32 algorithm=hierarchical over=cubes

/usr/bin/python3 "$root/tests/numpy/judge.py" <"$list" || failed=$((failed + 1))
[ $failed -eq 0 ]
