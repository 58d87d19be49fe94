/* math_random.c -- random numbers of Phase 2: Philox 4x32-10, by counters.
 *
 * Element i of a tl_random() is the first of the four words that ten rounds make of the counter
 * (offset + i, 0) under the key `seed`: it depends on nothing else, so a tensor may be made in
 * parts, and again. The words are those of Random123, and of Triton's tl.randint(). Seed 42, offset
 * 0: 9ceaf053 fcdb2127 d36c0225 bac70475.
 */
#include "phase2/math_parts.h"

enum { ROUNDS = 10 };

static uint32_t philox(uint64_t counter, uint64_t seed)
{
    uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t even = UINT64_C(0xD2511F53) * c[0], odd = UINT64_C(0xCD9E8D57) * c[2];
        uint32_t next[4] = {(uint32_t)(odd >> 32) ^ c[1] ^ key[0], (uint32_t)odd,
                            (uint32_t)(even >> 32) ^ c[3] ^ key[1], (uint32_t)even};

        for (int i = 0; i < 4; i++)
            c[i] = next[i];
        key[0] += UINT32_C(0x9E3779B9);
        key[1] += UINT32_C(0xBB67AE85);
    }
    return c[0];
}

/* Bits of a float from 0 to below 1: as many as it holds exactly. */
static int bits_of(kb_dtype dtype)
{
    return dtype == KB_F32 ? 24 : dtype == KB_F16 ? 11 : 8;
}

void math_run_random(const struct op *op, unsigned char *out)
{
    kb_dtype dtype = (kb_dtype)op->out.dtype;
    uint64_t seed = (uint64_t)op->in[1].scalar << 32 | (uint64_t)op->in[0].scalar;
    uint64_t offset = (uint64_t)op->in[2].scalar, n = dims_elements(&op->out.shape);
    int bits = bits_of(dtype);

    for (uint64_t i = 0; i < n; i++, out += kb_dtype_bytes(dtype)) {
        uint32_t word = philox(offset + i, seed);
        double part = ldexp((double)(word >> (32 - bits)), -bits);

        if (dtype == KB_U32)
            cast_elements(dtype, out, KB_U32, &word, 1);
        else
            cast_elements(dtype, out, KB_F64, &part, 1);
    }
}
