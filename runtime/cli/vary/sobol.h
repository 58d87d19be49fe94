/* sobol.h -- points that fill a cube of few dimensions evenly, however many are taken. */
#ifndef SOBOL_H
#define SOBOL_H
#include <stddef.h>
#include <stdint.h>

enum { SOBOL_DIMENSIONS = 16 };

/* Coordinate `k` of point `i`, in 2^-32. */
uint32_t sobol_at(uint64_t i, size_t k);

#endif
