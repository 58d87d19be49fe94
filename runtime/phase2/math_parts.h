/* math_parts.h -- what the files of math operations share: their operands. */
#ifndef PHASE2_MATH_PARTS_H
#define PHASE2_MATH_PARTS_H
#include "phase2/math_op.h"
#include <math.h>
#include "data/cast.h"

/* Elements that are converted, computed and rounded at a time, in buffers on the stack. */
enum { CHUNK = 256 };

union chunk {
    float f32[CHUNK];
    double f64[CHUNK];
    int64_t i64[CHUNK];
    uint64_t u64[CHUNK];
    uint8_t bytes[CHUNK * 8];
};

size_t math_at_most(uint64_t n, size_t most);

#define BY_SIZE(SIZE, X)                                                                           \
    switch (SIZE) {                                                                                \
    case 1:                                                                                        \
        X(uint8_t) break;                                                                          \
    case 2:                                                                                        \
        X(uint16_t) break;                                                                         \
    case 4:                                                                                        \
        X(uint32_t) break;                                                                         \
    default:                                                                                       \
        X(uint64_t) break;                                                                         \
    }

/*
 * The same in another type: elements [i, i + n) as the computation takes them. If they are
 * contiguous and of that type, they are used where they lie; else they are gathered into one
 * buffer and converted into another, 4 KiB of stack together.
 */
const void *math_loaded(const struct math_lane *lane, uint64_t i, size_t n, kb_dtype dtype,
                        union chunk *buffer);

/* A division by 0 follows IEEE 754; it is no mistake. */
#define DIVIDES __attribute__((no_sanitize("float-divide-by-zero")))

void math_run_acc_store(const struct op *op, unsigned char *out);

/* The values, and behind them the indices, if it has some. False: no memory. */
bool math_run_order(const struct op *op, unsigned char *out);

/* All results, and zeros between them; `run` computes a step, as math_run(). False: no memory. */
typedef bool math_runner(const struct op *op, unsigned char *out);
bool math_run_fused(const struct op *op, unsigned char *out, math_runner *run);

void math_run_random(const struct op *op, unsigned char *out);

/* Along the lines of math_lines(). */
void math_run_reduce(const struct op *op, unsigned char *out);
void math_run_softmax(const struct op *op, unsigned char *out);
void math_run_scan(const struct op *op, unsigned char *out);

void math_run_elements(const struct op *op, unsigned char *out);

#endif
