/* Generated from two_cubes.yaml by kbgen 0.2.0; edit that file, not this. */
/* two_cubes.h -- the topology two_cubes, to be used with kernbench.h. */
#ifndef TWO_CUBES_H
#define TWO_CUBES_H
#include <kernbench.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    TWO_CUBES_SIPS = 2,
    TWO_CUBES_CUBES_PER_SIP = 2 * 1,
    TWO_CUBES_PES_PER_CUBE = 2,
};

/* Const and shared by all simulations of it; from libtwo_cubes. */
extern const kb_topology two_cubes_topology;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
