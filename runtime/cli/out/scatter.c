/* scatter.c -- an order that soon has some of everywhere, for runs that may not reach the end. */
#include "cli/out/scatter.h"

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

uint64_t scatter_stride(uint64_t n)
{
    uint64_t stride = (uint64_t)((double)n * 0.6180339887498949);

    while (stride > 1 && common_divisor(stride, n) > 1)
        stride--;
    return stride > 0 ? stride : 1;
}
