/* pe_gemm.c -- pe_gemm: the engine for products of matrices.
 *
 * What it holds   the engine, PORT_GEMM, for one product or one tile at a time
 * For how long    overhead + ceil(M / mac[0]) * ceil(K / mac[1]) * ceil(N / mac[2]) cycles over the
 *                 rate of the operands' wider type, rounded up: a partial block of the array takes
 *                 a whole cycle. A batch takes as many times the cycles, and one overhead
 * Lets in first   first come, first served: dots and tiles of composites alike
 * Wait counted    engine_wait of --breakdown
 * Golden number   docs/kernels.md "Worked: four commands": 32x64x32 with mac [16, 16, 16] at 1 GHz
 *                 takes 2 * 4 * 2 = 16 cycles, 16 ns
 *
 * Only time is spent here. The values are computed in Phase 2, if they are asked for.
 */
#include "pe/boxes.h"
#include <math.h>

static double rate_of(const struct pe_row *pe, uint8_t dtype)
{
    switch ((kb_dtype)dtype) {
    case KB_F16:
        return pe->rate_f16;
    case KB_BF16:
        return pe->rate_bf16;
    case KB_F8E4M3:
    case KB_F8E5M2:
        return pe->rate_f8;
    case KB_F32:
        return pe->rate_f32;
    case KB_F64:
        return pe->rate_f64;
    case KB_I4:
        return pe->rate_i4;
    case KB_I8:
    case KB_U8:
        return pe->rate_i8;
    case KB_I16:
    case KB_U16:
        return pe->rate_i16;
    case KB_I32:
    case KB_U32:
        return pe->rate_i32;
    case KB_I64:
    case KB_U64:
        return pe->rate_i64;
    case KB_BOOL: /* not of products */
    case KB_DEFAULT:
        break;
    }
    return 1;
}

/* Of two types that of the wider one; if they have as many bits, the lower rate. */
static double rate_of_product(const struct pe_row *pe, const struct op *op)
{
    uint8_t a = op->in[0].dtype, b = op->in[1].dtype;

    if (dtype_bytes(a) == dtype_bytes(b))
        return fmin(rate_of(pe, a), rate_of(pe, b));
    return rate_of(pe, dtype_bytes(a) > dtype_bytes(b) ? a : b);
}

void pe_gemm_count(const struct tl_ctx *of, const struct op *op, uint64_t macs)
{
    struct kb_launch_result *sum = pe_result(of);

    sum->gemm_macs += macs;
    sum->gemm_rated_macs += (double)macs / rate_of_product(&pe_kind(of)->pe, op);
}

struct engine_work pe_gemm_work(const struct tl_ctx *of, const struct op *op, uint64_t m,
                                uint64_t k, uint64_t n)
{
    const struct pe_row *pe = &pe_kind(of)->pe;
    const struct cost_mask *mask = &of->sim->mask;
    uint64_t cycles = parts_of(m, pe->mac[0]) * parts_of(k, pe->mac[1]) * parts_of(n, pe->mac[2]);
    double rate = rate_of_product(pe, op);

    if (rate != 1)
        cycles = (uint64_t)ceil((double)cycles / rate);
    cycles *= op_batch(op);
    return (struct engine_work){
        .overhead_fs = pe->gemm_overhead_fs & mask->overhead,
        .cycles_fs = drain_fs(cycles, pe->gemm_clock_ghz) & mask->compute,
        .cycles = cycles,
        .m = (uint32_t)m,
        .k = (uint32_t)k,
        .n = (uint32_t)n,
        .dtype_a = op->in[0].dtype,
        .dtype_b = op->in[1].dtype,
        .dtype_acc = op->dtype_acc,
    };
}
