/*
 * sobol.c -- points that fill a cube of few dimensions evenly, however many are taken.
 *
 * The sequence of Sobol, in the order of Gray codes (Antonov and Saleev), without point 0 left out
 * and without scrambling: of the first 2^m points each interval of length 2^-m of a coordinate has
 * one. Primitive polynomials and the first direction numbers are those of S. Joe and F. Y. Kuo,
 * "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30
 * (2008), file new-joe-kuo-6.21201.
 *
 * Example: coordinate 0 of the first points is 0, 0.5, 0.75, 0.25; coordinate 1 is 0, 0.5, 0.25,
 * 0.75.
 */
#include "cli/vary/sobol.h"

/* Degree and inner coefficients of the polynomial, and its direction numbers. */
static const struct {
    uint8_t s, a, m[6];
} directions[SOBOL_DIMENSIONS] = {
    {0, 0, {0}}, /* all direction numbers are 1 */
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
};

/* v[0] to v[31] of a dimension, in 2^-32. */
static void make_directions(size_t k, uint32_t v[32])
{
    unsigned s = directions[k].s, a = directions[k].a;

    for (unsigned i = 0; i < 32; i++) {
        if (s == 0 || i < s) {
            v[i] = (s == 0 ? 1u : directions[k].m[i]) << (31 - i);
            continue;
        }
        v[i] = v[i - s] ^ v[i - s] >> s;
        for (unsigned j = 1; j < s; j++)
            if (a >> (s - 1 - j) & 1)
                v[i] ^= v[i - j];
    }
}

uint32_t sobol_at(uint64_t i, size_t k)
{
    uint64_t gray = i ^ i >> 1;
    uint32_t v[32], x = 0;

    make_directions(k, v);
    for (unsigned bit = 0; bit < 32; bit++)
        if (gray >> bit & 1)
            x ^= v[bit];
    return x;
}
