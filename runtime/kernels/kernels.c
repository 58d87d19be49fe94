/*
 * kernels.c -- engines and kernels as one unit of translation.
 *
 * A load passes through all of these files, in steps of a few instructions: compiled apart, a
 * quarter of its time goes into calls between them.
 */
#define KERNELS_UNIT
#include "kernels/engine.c"
#include "kernels/pool.c"
#include "kernels/record.c"
#include "pe/pe.c"
#include "pe/pe_ipcq.c"
#include "kernels/deadlock.c"
#include "kernels/launch.c"
#include "kernels/tl.c"
#include "kernels/accesses.c"
