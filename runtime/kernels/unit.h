/* unit.h -- functions between the files that kernels.c compiles as one unit. */
#ifndef UNIT_H
#define UNIT_H

/*
 * Within that unit they are inline, so that a load, which passes through fifty of them, is a few
 * long functions: that takes a tenth of its instructions away. A file that is compiled alone sees
 * them as extern. No other file of the library calls them.
 */
#ifdef KERNELS_UNIT
#define KERNELS_OWN static inline
#else
#define KERNELS_OWN extern
#endif

/* One that is rarely called, and must not make its callers longer. */
#ifdef KERNELS_UNIT
#define KERNELS_RARE static __attribute__((noinline, cold))
#else
#define KERNELS_RARE extern
#endif

#endif
