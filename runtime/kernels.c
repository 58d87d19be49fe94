/*
 * kernels.c -- engines and kernels as one unit of translation.
 *
 * A load passes through all of these files, in steps of a few instructions: compiled apart, a
 * quarter of its time goes into calls between them.
 */
#define KERNELS_UNIT
#include "engine_kernels.c"
#include "pool.c"
#include "record.c"
#include "pe.c"
#include "ipcq.c"
#include "deadlock.c"
#include "launch.c"
#include "tl.c"
#include "touch.c"
